/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Debug files from a server.  Who asks it needs the network and a folder to keep files in, and
 * reads none of them; the reader, which has neither, sends it build ids.
 */
#ifndef TOOLS_FETCH_H
#define TOOLS_FETCH_H

#include <stddef.h>

/* Answers until nobody can ask any more. */
void fetch_serve(int socket);

/* A descriptor of the debug file with this build id; -1: there is none. */
int fetch_file(int socket, const void *id, size_t length);

#endif /* TOOLS_FETCH_H */
