/* SPDX-License-Identifier: GPL-2.0-only */
/* HTTP by libcurl, which is opened when it is needed: the command does not depend on it. */
#ifndef TOOLS_HTTP_H
#define TOOLS_HTTP_H

#include <stdbool.h>
#include <stddef.h>

struct http_answer {
	long status;		/* 0: there was none */
	long retry_after;	/* seconds; 0: it does not say */
	char error[256];	/* why there was none, or the begin of what it says */
};

/*
 * Posts bytes.  @credentials: "USER:PASSWORD" or a token, or NULL.  A certificate that is
 * not valid is an error, and a redirection an answer like others: it is not followed.
 */
void http_post(const char *url, const char *credentials, const void *bytes, size_t length,
	       struct http_answer *answer);

/* NULL, or why there is no HTTP. */
const char *http_missing(void);

/* A text as it may stand in a query; to be freed. */
char *http_escape(const char *text);

#endif /* TOOLS_HTTP_H */
