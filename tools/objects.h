/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TOOLS_OBJECTS_H
#define TOOLS_OBJECTS_H

#include "session.h"

/*
 * What a slot's object is called, to be freed, and a descriptor to read names from, or -1.
 * What is no file has a name in brackets.
 */
char *object_open(struct session *session, unsigned int object, int *fd);

#endif /* TOOLS_OBJECTS_H */
