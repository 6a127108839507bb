/* SPDX-License-Identifier: GPL-2.0-only */
/* Servers of symbols: who is asked, and what that needs. */
#ifndef TOOLS_DEBUGINFOD_H
#define TOOLS_DEBUGINFOD_H

#include <stdbool.h>

/* Those of the environment; NULL: nobody is to be asked. */
const char *debuginfod_servers(void);

/* Who serves names for the system that this is. */
const char *debuginfod_server(void);

/* The library that asks them is there. */
bool debuginfod_is_there(void);

#endif /* TOOLS_DEBUGINFOD_H */
