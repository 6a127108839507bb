/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The general format of a command: copied, checked, run, and copied back.
 */
#ifndef _PROFIL_COMMAND_H
#define _PROFIL_COMMAND_H

#include <linux/stddef.h>
#include <linux/profil.h>

struct file;

struct profil_args {
	union {		/* comes first: it is what is copied */
		struct profil_ioc_query	query;
		struct profil_ioc_start	start;
		struct profil_ioc_stop	stop;
		struct profil_ioc_stats	stats;
		struct profil_ioc_session	session;
		struct profil_ioc_join	join;
		struct profil_ioc_attach	attach;
		struct profil_ioc_object	object;
	};
	struct file	*opened;	/* for the descriptor that the caller is told of */
};

struct profil_command {
	size_t	size;		/* that the module knows */
	size_t	min_size;	/* of the first version */
	bool	out;		/* has fields to write back */
	int	(*run)(struct file *file, struct profil_args *args);
	/* After success: whether the caller could be told.  May be NULL. */
	void	(*end)(struct profil_args *args, bool told);
};

#define PROFIL_COMMAND(_nr, _struct, _last, _out, _run, _end)		\
	[_IOC_NR(_nr)] = {						\
		.size = sizeof(struct _struct),				\
		.min_size = offsetofend(struct _struct, _last),		\
		.out = _out,						\
		.run = _run,						\
		.end = _end,						\
	}

long profil_command(const struct profil_command *commands, unsigned int nr,
		    struct file *file, unsigned int cmd, unsigned long arg);
int profil_command_open(struct profil_args *args, struct file *opened);
void profil_command_close(struct profil_args *args, int fd, bool told);

#endif /* _PROFIL_COMMAND_H */
