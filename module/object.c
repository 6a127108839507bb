// SPDX-License-Identifier: GPL-2.0-only
/*
 * The files of a session's places, for who reads it.  Task context.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/dcache.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/limits.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "command.h"
#include "profil.h"
#include "table.h"

/* The file of @path, opened by the caller's own right; or an ERR_PTR(). */
static struct file *profil_object_open(const struct path *path)
{
	int err;

	/* To open a device may do anything. */
	if (!d_is_reg(path->dentry))
		return ERR_PTR(-EACCES);
	err = path_permission(path, MAY_READ);
	if (err)
		return ERR_PTR(err);
	return dentry_open(path, O_RDONLY | O_LARGEFILE, current_cred());
}

/*
 * The file may be in a folder or in a namespace that the caller cannot come to.  Who may trace
 * all members has what they can come to.
 */
static bool profil_object_may(const struct profil_table *table)
{
	if (!(table->flags & PROFIL_SESSION_F_SYSTEM) && !READ_ONCE(table->had_others) &&
	    profil_table_allowed(table))
		return true;
	return capable(CAP_DAC_READ_SEARCH);
}

static int profil_object_path(const struct path *path, struct profil_ioc_object *object)
{
	char *buf = kmalloc(PATH_MAX, GFP_KERNEL), *name;
	int err = 0;

	if (!buf)
		return -ENOMEM;
	object->out_path_len = 0;
	name = d_path(path, buf, PATH_MAX);
	if (!IS_ERR(name)) {
		object->out_path_len = buf + PATH_MAX - name;
		if (object->out_path_len <= object->path_len &&
		    copy_to_user(u64_to_user_ptr(object->path_uptr), name, object->out_path_len))
			err = -EFAULT;
	}
	kfree(buf);
	return err;
}

/* PROFIL_IOC_OBJECT: 0, or an error of the user interface.  May sleep. */
int profil_object(struct file *file, struct profil_args *args)
{
	struct profil_table *table = file->private_data;
	struct path path;
	int err;

	if (args->object.flags)
		return -EOPNOTSUPP;
	err = profil_table_path(table, args->object.object, &path);
	if (!err)
		err = profil_object_path(&path, &args->object);
	if (!err)
		args->object.out_fd = profil_command_open(args, profil_object_may(table) ?
							  profil_object_open(&path) :
							  ERR_PTR(-EACCES));
	return err;
}

/* The descriptor is the caller's, if it was told. */
void profil_object_end(struct profil_args *args, bool told)
{
	profil_command_close(args, args->object.out_fd, told);
}
