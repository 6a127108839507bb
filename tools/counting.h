/* SPDX-License-Identifier: GPL-2.0-only */
/* What run and top have in common: what is counted, how, and where the profile goes. */
#ifndef TOOLS_COUNTING_H
#define TOOLS_COUNTING_H

#include <argp.h>
#include "session.h"
#include "store.h"

struct counting {
	struct session_wish wish;
	pid_t pid;		/* a process that runs, or */
	char **argv;		/* a program with its arguments; or, with wish.system, neither */
	bool wait;		/* also for processes that the program leaves behind */
	const char *file;
	bool quiet;		/* nothing is printed at the end */
};

/* Where nothing else was asked for; the command is that which counts the whole machine. */
#define COUNTING_USUAL(name) { .file = STORE_FILE, .wish = { .slots = 65536, .command = name } }

/* A child of a command's parser, whose input is a struct counting. */
extern const struct argp counting_argp;

#endif /* TOOLS_COUNTING_H */
