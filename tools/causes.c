// SPDX-License-Identifier: GPL-2.0-only
/* What profil run needs, from the kernel to the names. */
#define _GNU_SOURCE
#include <glob.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include "causes.h"
#include "command.h"
#include "debuginfod.h"
#include "say.h"

char *cause_text(const char *format, ...)
{
	va_list args;
	char *made;

	va_start(args, format);
	if (vasprintf(&made, format, args) < 0)
		allocated(NULL);
	va_end(args);
	return made;
}

static const char *release(void)
{
	static struct utsname machine;

	return uname(&machine) ? "" : machine.release;
}

/* The first line of a file, or "". */
const char *first_line(const char *path)
{
	static char line[256];
	FILE *file = fopen(path, "re");

	line[0] = '\0';
	if (!file)
		return line;
	if (!fgets(line, sizeof(line), file))
		line[0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	fclose(file);
	return line;
}

static bool exists(const char *format, const char *argument)
{
	char *pattern = cause_text(format, argument);
	glob_t found;
	bool any = !glob(pattern, GLOB_NOSORT, NULL, &found);

	if (any)
		globfree(&found);
	free(pattern);
	return any;
}

bool module_is_loaded(void)
{
	return exists("/sys/module/%s", "profil");
}

static void kernel(struct cause *cause)
{
	struct utsname machine;
	int major = 0, minor = 0;

	if (uname(&machine))
		return;
	cause->text = cause_text("%s %s, %s", machine.sysname, machine.release, machine.machine);
	if (strcmp(machine.machine, "x86_64") && strcmp(machine.machine, "aarch64")) {
		cause->state = CAUSE_FAIL;
		cause->mend = cause_text("the module is for x86_64 and aarch64");
	} else if (sscanf(machine.release, "%d.%d", &major, &minor) == 2 &&
		   (major < 5 || (major == 5 && minor < 10))) {
		cause->state = CAUSE_FAIL;
		cause->mend = cause_text("the module needs Linux 5.10 or newer");
	}
}

/* The commands that get the module; dkms, its source and the kernel's headers may be there. */
static char *installation(bool headers)
{
	bool dkms = exists("%s", "/usr/*bin/dkms");
	char *source = cause_text(exists("/usr/src/profil-%s/dkms.conf", VERSION) ? "%s%s" :
				  "in profil's source: sudo make install-dkms && %s%s; or install the package profil-dkms",
				  "sudo dkms install profil/", VERSION);
	char *all;

	if (headers && dkms)
		return source;
	all = cause_text("sudo apt-get install%s%s%s, then %s", headers ? "" : " linux-headers-",
			 headers ? "" : release(), dkms ? "" : " dkms", source);
	free(source);
	return all;
}

static void module(struct cause *cause)
{
	bool headers = exists("/lib/modules/%s/build/Makefile", release());

	if (module_is_loaded()) {
		cause->text = cause_text("profil is loaded");
		return;
	}
	cause->state = CAUSE_FAIL;
	if (exists("/lib/modules/%s/*/profil.ko*", release()) ||
	    exists("/lib/modules/%s/*/*/profil.ko*", release())) {
		cause->text = cause_text("profil is installed, and not loaded");
		cause->mend = cause_text("sudo modprobe profil");
		return;
	}
	cause->text = cause_text(headers ? "profil is not installed for this kernel" :
				 "profil is not installed, nor what it is built with");
	cause->mend = installation(headers);
}

/* Only where the module is not loaded: then this may be why. */
static void signature(struct cause *cause)
{
	static const char lockdown[] = "/sys/kernel/security/lockdown";
	FILE *variable = NULL;
	glob_t found;
	int byte = 0;

	if (module_is_loaded())
		return;
	if (!glob("/sys/firmware/efi/efivars/SecureBoot-*", GLOB_NOSORT, NULL, &found)) {
		variable = fopen(found.gl_pathv[0], "re");
		globfree(&found);
	}
	/* four bytes of attributes, then the value */
	for (int i = 0; variable && i < 5; i++)
		byte = getc(variable);
	if (variable)
		fclose(variable);
	if (byte != 1 && !strstr(first_line(lockdown), "[integrity]") &&
	    !strstr(first_line(lockdown), "[confidentiality]"))
		return;
	cause->state = CAUSE_NOTE;
	cause->text = cause_text("%s: only signed modules are loaded",
				 byte == 1 ? "Secure Boot is on" : "the kernel is locked down");
	cause->mend = cause_text("if modprobe says \"Key was rejected\": sudo mokutil --import /var/lib/dkms/mok.pub, and reboot");
}

static void names(struct cause *cause)
{
	const char *install = debuginfod_is_there() ? "" : "sudo apt-get install libdebuginfod1";

	if (!debuginfod_servers()) {
		cause->text = cause_text("DEBUGINFOD_URLS is %s: stripped programs have no names",
					 getenv("DEBUGINFOD_URLS") ? "empty" : "not set");
		cause->mend = cause_text("%s%sexport DEBUGINFOD_URLS=%s", install,
					 install[0] ? " && " : "", debuginfod_server());
	} else if (install[0]) {
		cause->text = cause_text("DEBUGINFOD_URLS is set, and libdebuginfod is not installed");
		cause->mend = cause_text("%s", install);
	} else {
		cause->text = cause_text("debuginfod is asked for those of stripped programs");
	}
	cause->state = cause->mend ? CAUSE_NOTE : CAUSE_OK;
}

const struct probe probes[] = {
	{ "kernel", kernel }, { "module", module }, { "signature", signature },
	{ "device", cause_device }, { "sessions", cause_sessions }, { "machine", cause_machine },
	{ "tick", cause_tick }, { "cpus", cause_cpus }, { "names", names },
	{ "watch", cause_watch }, { "test", cause_itself }, { NULL, NULL }
};
