// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands, as far as they are alike.  Task context throughout.
 */
#include <linux/errno.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/minmax.h>
#include <linux/nospec.h>
#include <linux/uaccess.h>

#include "command.h"

/*
 * Runs the command @cmd of a table of @nr commands, whose empty entries are none.  @arg
 * points to the structure of the command.
 */
long profil_command(const struct profil_command *commands, unsigned int nr,
		    struct file *file, unsigned int cmd, unsigned long arg)
{
	void __user *uptr = (void __user *)arg;
	const struct profil_command *command;
	struct profil_args args = {};
	u32 size;
	int err;

	if (cmd != _IO(PROFIL_IOC_MAGIC, _IOC_NR(cmd)) || _IOC_NR(cmd) >= nr)
		return -ENOTTY;
	command = &commands[array_index_nospec(_IOC_NR(cmd), nr)];
	if (!command->run)
		return -ENOTTY;

	if (get_user(size, (u32 __user *)uptr))
		return -EFAULT;
	if (size < command->min_size)
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	err = copy_struct_from_user(&args, command->size, uptr, size);
	if (err)
		return err;
	err = command->run(file, &args);
	if (err)
		return err;
	if (command->out && copy_to_user(uptr, &args, min_t(size_t, size, command->size)))
		err = -EFAULT;
	if (command->end)
		command->end(&args, !err);
	return err;
}

/*
 * A descriptor for @opened, or its error if it is an ERR_PTR().  The caller of the command
 * has it once profil_command_close() was told so.
 */
int profil_command_open(struct profil_args *args, struct file *opened)
{
	int fd;

	if (IS_ERR(opened))
		return PTR_ERR(opened);
	fd = get_unused_fd_flags(O_CLOEXEC);
	if (fd < 0)
		fput(opened);
	else
		args->opened = opened;
	return fd;
}

/* Ends profil_command_open(), which returned @fd. */
void profil_command_close(struct profil_args *args, int fd, bool told)
{
	if (!args->opened)
		return;
	if (told) {
		fd_install(fd, args->opened);
		return;
	}
	put_unused_fd(fd);
	fput(args->opened);
}
