/* SPDX-License-Identifier: GPL-2.0-only */
/* What the path of a control group says: which unit it is of, and which container. */
#ifndef TOOLS_UNIT_H
#define TOOLS_UNIT_H

#define UNIT_MAX 256	/* bytes of a name, with a NUL byte; what is longer loses its end */

struct unit {
	char unit[UNIT_MAX];
	char container[UNIT_MAX];	/* "" if it is none */
};

/*
 * @path begins with a slash, at the top of the hierarchy.  A unit is named as systemctl has
 * it; one of a user's as user@1000.service/NAME, and a pod of Kubernetes as podUID.  What is
 * of no unit is named as its path.  A container is named as its engine lists it: by the
 * first twelve digits of its id, which stand for it in names of units as well, or by its
 * name.
 */
void unit_of(const char *path, struct unit *unit);

/* As names of units have it: the ids of containers become shorter. */
void unit_shorten(char *name);

#endif /* TOOLS_UNIT_H */
