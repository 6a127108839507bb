/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parameters of the module that are one word of several.
 */
#ifndef _PROFIL_CHOICE_H
#define _PROFIL_CHOICE_H

#include <linux/moduleparam.h>

struct profil_choice {
	unsigned int		chosen;	/* index of the word */
	unsigned int		nr;
	const char *const	*words;
};

/* The first word is the default. */
#define PROFIL_CHOICE(_name, ...)						\
	struct profil_choice _name = {						\
		.nr = ARRAY_SIZE(((const char *const []){ __VA_ARGS__ })),	\
		.words = (const char *const []){ __VA_ARGS__ },			\
	}

extern const struct kernel_param_ops profil_choice_ops;

#endif /* _PROFIL_CHOICE_H */
