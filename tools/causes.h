/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TOOLS_CAUSES_H
#define TOOLS_CAUSES_H

#include <stdbool.h>

enum cause_state { CAUSE_OK, CAUSE_NOTE, CAUSE_FAIL };

/* One line of profil check. */
struct cause {
	enum cause_state state;
	char *text;		/* what there is, or NULL: there is nothing to say */
	char *mend;		/* what to do, or NULL */
};

void cause_device(struct cause *cause);
void cause_sessions(struct cause *cause);
void cause_machine(struct cause *cause);
void cause_tick(struct cause *cause);
void cause_cpus(struct cause *cause);
void cause_watch(struct cause *cause);
void cause_itself(struct cause *cause);

/* For the text of a cause, which is freed. */
char *cause_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The first line of a file, or "", until the next call. */
const char *first_line(const char *path);
bool module_is_loaded(void);

/* In the order in which one explains the next; one without a name ends the list. */
extern const struct probe {
	const char *name;
	void (*look)(struct cause *cause);
} probes[];

#endif /* TOOLS_CAUSES_H */
