// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the path of a control group says.  Its parts are what systemd and those who start
 * containers call them; inside a container there may be units again.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "unit.h"

#define ID 64		/* digits of a container's id, */
#define ID_SHOWN 12	/* and what engines list of it */
#define DIGITS "0123456789abcdef"
#define UID 36		/* characters of a pod's, */
#define HASH 32		/* or of one whose description is a file */

/* A part of the path. */
struct part {
	const char *at;
	size_t length;
};

/* At the end of a name. */
static void append(char *name, const char *text, size_t length)
{
	size_t end = strlen(name);

	if (length > UNIT_MAX - 1 - end)
		length = UNIT_MAX - 1 - end;
	memcpy(name + end, text, length);
	name[end + length] = '\0';
}

static void set(char *name, const char *text, size_t length)
{
	name[0] = '\0';
	append(name, text, length);
}

static bool begins(const struct part *part, const char *with)
{
	size_t length = strlen(with);

	return part->length > length && !memcmp(part->at, with, length);
}

static bool ends(const struct part *part, const char *with)
{
	size_t length = strlen(with);

	return part->length > length && !memcmp(part->at + part->length - length, with, length);
}

static bool is_id(const char *text, size_t length)
{
	return length == ID && strspn(text, DIGITS) >= ID;
}

void unit_shorten(char *name)
{
	size_t length;

	for (; *name; name += length + !length) {
		length = strspn(name, DIGITS);
		if (length != ID)
			continue;
		memmove(name + ID_SHOWN, name + ID, strlen(name + ID) + 1);
		length = ID_SHOWN;
	}
}

/*
 * ID, ENGINE-ID, ENGINE-ID.scope, and POD:ENGINE:ID, which containerd makes where it was not
 * told of systemd.  What watches over a container is none.
 */
static bool take_id(const struct part *part, struct unit *unit)
{
	size_t length = part->length - (ends(part, ".scope") ? strlen(".scope") : 0);
	const char *id = part->at + length - ID;

	if (length < ID || !is_id(id, ID))
		return false;
	if (length > ID && id[-1] != '-' && id[-1] != ':')
		return false;
	if (length > ID && memmem(part->at, length - ID, "conmon", strlen("conmon")))
		return false;
	set(unit->container, id, ID_SHOWN);
	return true;
}

/* systemd has \x2d for what would mean something in the name of a unit. */
static void unescape(char *name)
{
	char *to = name;
	unsigned int byte;

	for (const char *from = name; *from; from++) {
		if (from[0] == '\\' && from[1] == 'x' && isxdigit((unsigned char)from[2]) &&
		    sscanf(from + 2, "%2x", &byte) == 1 && byte > ' ') {
			*to++ = byte;
			from += 3;
			continue;
		}
		*to++ = *from;
	}
	*to = '\0';
}

/* What comes after a word, and before another one or the end. */
static bool take_name(const struct part *part, const char *first, const char *last,
		      struct unit *unit)
{
	size_t skipped = strlen(first);

	if (!begins(part, first) || (last[0] && !ends(part, last)) ||
	    part->length <= skipped + strlen(last))
		return false;
	set(unit->container, part->at + skipped, part->length - skipped - strlen(last));
	unescape(unit->container);
	return true;
}

/* Those of LXC, of Incus, which is alike, and of systemd-nspawn and machinectl. */
static bool take_container(const struct part *part, struct unit *unit)
{
	return take_id(part, unit) || take_name(part, "lxc.payload.", "", unit) ||
		take_name(part, "systemd-nspawn@", ".service", unit) ||
		take_name(part, "machine-", ".scope", unit);
}

static bool is_uid(const char *uid, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (length == UID && (i == 8 || i == 13 || i == 18 || i == 23) ?
		    uid[i] != '_' && uid[i] != '-' : !isxdigit((unsigned char)uid[i]))
			return false;
	return true;
}

/* podUID, or kubepods-…-podUID.slice with another character for each minus sign. */
static bool take_pod(const struct part *part, struct unit *unit)
{
	const char *pod = memmem(part->at, part->length, "pod", 3), *colon;
	struct part name = *part;
	size_t length;

	/* the last one: kubepods has it, too */
	for (const char *next = pod; next; next = memmem(next + 1, part->at + part->length -
							 next - 1, "pod", 3))
		pod = next;
	if (!pod || (pod > part->at && pod[-1] != '-'))
		return false;
	colon = memchr(part->at, ':', part->length);
	name.length = colon ? (size_t)(colon - part->at) : part->length;
	length = part->at + name.length - pod - strlen("pod") -
		(ends(&name, ".slice") ? strlen(".slice") : 0);
	if ((length != UID && length != HASH) || !is_uid(pod + strlen("pod"), length))
		return false;
	set(unit->unit, pod, length + strlen("pod"));
	for (char *c = unit->unit; *c; c++)
		if (*c == '_')
			*c = '-';
	return true;
}

/* Users have units of the same names as the system. */
static void take_unit(const struct part *part, struct part *manager, struct unit *unit)
{
	set(unit->unit, manager->at, manager->length);
	if (manager->length)
		append(unit->unit, "/", 1);
	append(unit->unit, part->at, part->length);
	if (begins(part, "user@") && ends(part, ".service"))
		*manager = *part;
}

/* What the parts up to here have said. */
struct reading {
	struct part manager;	/* of a user's units */
	bool unit;		/* it is a service, a scope, or a pod, and no slice only */
	bool pod;
};

static void take(const struct part *part, struct reading *reading, struct unit *unit)
{
	bool container = take_container(part, unit);

	if (take_pod(part, unit)) {
		reading->pod = true;
		reading->unit = true;
		take_id(part, unit);
		return;
	}
	if (ends(part, ".slice") && !reading->unit)
		set(unit->unit, part->at, part->length);
	if (!ends(part, ".service") && !ends(part, ".scope"))
		return;
	/* the scopes of its containers, and of what watches over them, are known by the pod */
	if (reading->pod && (container || !unit->container[0]))
		return;
	take_unit(part, &reading->manager, unit);
	reading->unit = true;
	reading->pod = false;
}

void unit_of(const char *path, struct unit *unit)
{
	struct reading reading = { .manager.at = "" };
	const char *rest = path;

	memset(unit, 0, sizeof(*unit));
	while (*rest) {
		struct part part = { rest, strcspn(rest, "/") };

		if (part.length)
			take(&part, &reading, unit);
		rest += part.length + (rest[part.length] == '/');
	}
	if (!unit->unit[0])
		set(unit->unit, path + (path[0] == '/' && path[1]), strlen(path));
	unit_shorten(unit->unit);
}
