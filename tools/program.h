/* SPDX-License-Identifier: GPL-2.0-only */
/* The process that is counted: started, or only looked at; signals; its end. */
#ifndef TOOLS_PROGRAM_H
#define TOOLS_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include "session.h"

#define ALSO 4

struct program {
	pid_t pid;		/* of the child, or 0 */
	int signals;		/* a signalfd */
	int also[ALSO];		/* what else ends a program_wait() when it can be read, or -1 */
	int io[3];		/* what the child has for standard input, output, error, or -1 */
	bool ended;
	bool empty;		/* the session has no member any more */
	bool left;		/* the user did not want to wait any longer */
	bool stopped;		/* by a signal that ends programs, which it was given as well */
	int cut;		/* the signal that ended the reading of names, or 0 */
	double interrupted;	/* when Ctrl-C was pressed last, or 0 */
	int status;		/* of wait(), if it has ended */
	struct rusage usage;	/* likewise */
};

/* From here on signals come to program_wait(), and those that end programs end reader_run(). */
void program_init(struct program *program);

/*
 * Starts a program as a member of the session, if it is not NULL, or ends with 125, 126 or
 * 127.  Another one may be started when it has ended.
 */
void program_start(struct program *program, struct session *session, char **argv);

/* Makes a process a member that nobody here has started, or ends with 125. */
void program_attach(struct session *session, pid_t pid);

/*
 * Waits for the end of the child, and if @all, or without a child, until the session has
 * no member any more, but at most for so many seconds, if it is not negative.  Returns
 * false when that time is over, or one of @also can be read, and may be called again then.
 */
bool program_wait(struct program *program, struct session *session, bool all, double most);

/* Whether the user wants no more runs. */
bool program_stopped(struct program *program);

/* After names were read: whether a signal ended that. */
void program_read(struct program *program);

/* What the kernel charged the child, once it has ended. */
void program_charged(const struct program *program, uint64_t *user_ns, uint64_t *system_ns);

/* What a shell would say of how it ended, or of the signal that ended the reading of names. */
int program_exit_status(const struct program *program);

#endif /* TOOLS_PROGRAM_H */
