// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <ctype.h>
#include <curl/curl.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "command.h"
#include "http.h"
#include "say.h"

#undef curl_easy_setopt
#undef curl_easy_getinfo

#define CONNECT_SECONDS 10L
#define SECONDS 60L

/* Also with GnuTLS: what is used of it is the same. */
static const char *const libraries[] = { "libcurl.so.4", "libcurl-gnutls.so.4" };

static struct {
	__typeof__(curl_easy_init) *init;
	__typeof__(curl_easy_setopt) *set;
	__typeof__(curl_easy_perform) *perform;
	__typeof__(curl_easy_getinfo) *get;
	__typeof__(curl_easy_strerror) *error;
	__typeof__(curl_easy_cleanup) *cleanup;
	__typeof__(curl_slist_append) *append;
	__typeof__(curl_slist_free_all) *free_all;
} curl;

static bool find(void *library)
{
	curl.init = (__typeof__(curl.init))dlsym(library, "curl_easy_init");
	curl.set = (__typeof__(curl.set))dlsym(library, "curl_easy_setopt");
	curl.perform = (__typeof__(curl.perform))dlsym(library, "curl_easy_perform");
	curl.get = (__typeof__(curl.get))dlsym(library, "curl_easy_getinfo");
	curl.error = (__typeof__(curl.error))dlsym(library, "curl_easy_strerror");
	curl.cleanup = (__typeof__(curl.cleanup))dlsym(library, "curl_easy_cleanup");
	curl.append = (__typeof__(curl.append))dlsym(library, "curl_slist_append");
	curl.free_all = (__typeof__(curl.free_all))dlsym(library, "curl_slist_free_all");
	return curl.init && curl.set && curl.perform && curl.get && curl.error && curl.cleanup &&
		curl.append && curl.free_all;
}

const char *http_missing(void)
{
	void *library = NULL;

	if (curl.init)
		return NULL;
	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]) && !library; i++)
		library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return "libcurl.so.4 is not installed; it is in a package like libcurl4";
	return find(library) ? NULL : "libcurl.so.4 is not as it should be; install it again";
}

static size_t take(char *bytes, size_t size, size_t num, void *data)
{
	struct http_answer *answer = data;
	size_t have = strlen(answer->error), length = size * num;
	size_t room = sizeof(answer->error) - 1 - have;

	for (size_t i = 0; i < length && i < room && bytes[i] && bytes[i] != '\n'; i++)
		answer->error[have++] = bytes[i];
	return length;
}

/* What libcurl says goes through here: its functions take a type for each option. */
static void set_options(CURL *handle, const char *url, const void *bytes, size_t length,
			struct http_answer *answer)
{
	curl.set(handle, CURLOPT_URL, url);
	curl.set(handle, CURLOPT_POST, 1L);
	curl.set(handle, CURLOPT_POSTFIELDS, bytes);
	curl.set(handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)length);
	curl.set(handle, CURLOPT_FOLLOWLOCATION, 0L);
	curl.set(handle, CURLOPT_SSL_VERIFYPEER, 1L);
	curl.set(handle, CURLOPT_SSL_VERIFYHOST, 2L);
	curl.set(handle, CURLOPT_CONNECTTIMEOUT, CONNECT_SECONDS);
	curl.set(handle, CURLOPT_TIMEOUT, SECONDS);
	curl.set(handle, CURLOPT_NOSIGNAL, 1L);
	curl.set(handle, CURLOPT_USERAGENT, "profil/" VERSION);
	curl.set(handle, CURLOPT_WRITEFUNCTION, take);
	curl.set(handle, CURLOPT_WRITEDATA, answer);
}

/* A token has no colon.  Without TLS they go to this machine alone: a proxy could read them. */
static struct curl_slist *set_credentials(CURL *handle, const char *url, const char *credentials,
					  struct curl_slist *headers)
{
	struct curl_slist *longer;
	char *header;

	if (!credentials)
		return headers;
	if (strncmp(url, "https:", strlen("https:")))
		curl.set(handle, CURLOPT_PROXY, "");
	if (strchr(credentials, ':')) {
		curl.set(handle, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
		curl.set(handle, CURLOPT_USERPWD, credentials);
		return headers;
	}
	if (asprintf(&header, "Authorization: Bearer %s", credentials) < 0)
		allocated(NULL);
	longer = allocated(curl.append(headers, header));
	free(header);
	return longer;
}

void http_post(const char *url, const char *credentials, const void *bytes, size_t length,
	       struct http_answer *answer)
{
	const char *missing = http_missing();
	struct curl_slist *headers;
	curl_off_t retry_after = 0;
	CURLcode code;
	CURL *handle;

	*answer = (struct http_answer) { 0 };
	if (missing) {
		snprintf(answer->error, sizeof(answer->error), "%s", missing);
		return;
	}
	handle = allocated(curl.init());
	set_options(handle, url, bytes, length, answer);
	headers = allocated(curl.append(NULL, "Content-Type: application/octet-stream"));
	/* nothing is to be waited for before the body */
	headers = allocated(curl.append(headers, "Expect:"));
	headers = set_credentials(handle, url, credentials, headers);
	curl.set(handle, CURLOPT_HTTPHEADER, headers);
	code = curl.perform(handle);
	if (code == CURLE_OK) {
		curl.get(handle, CURLINFO_RESPONSE_CODE, &answer->status);
		curl.get(handle, CURLINFO_RETRY_AFTER, &retry_after);
		answer->retry_after = retry_after;
	} else {
		snprintf(answer->error, sizeof(answer->error), "%s", curl.error(code));
	}
	curl.free_all(headers);
	curl.cleanup(handle);
}

char *http_escape(const char *text)
{
	char *escaped = allocated(malloc(3 * strlen(text) + 1)), *p = escaped;

	for (; *text; text++)
		if (isalnum((unsigned char)*text) || strchr("-._~", *text))
			*p++ = *text;
		else
			p += sprintf(p, "%%%02X", (unsigned char)*text);
	*p = '\0';
	return escaped;
}
