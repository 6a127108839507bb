// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sessions: a file that counts other processes, its commands and its mapping.  Task
 * context throughout.
 */
#include <linux/anon_inodes.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pid_namespace.h>
#include <linux/poll.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "command.h"
#include "limits.h"
#include "look.h"
#include "member.h"
#include "profil.h"
#include "table.h"

static_assert(sizeof(struct profil_ioc_session) == 48);
static_assert(sizeof(struct profil_ioc_join) == 8);
static_assert(sizeof(struct profil_ioc_attach) == 16);
static_assert(sizeof(struct profil_ioc_object) == 32);
static_assert(sizeof(struct profil_session_page) == 184);
static_assert(sizeof(struct profil_slot) == 32);
static_assert(sizeof(struct profil_process) == 56);
static_assert(sizeof(struct profil_object_entry) == 24);

#define PROFIL_SESSION_FLAGS	(PROFIL_SESSION_F_NOINHERIT | PROFIL_SESSION_F_PER_PROCESS | \
				 PROFIL_SESSION_F_USER_ONLY | PROFIL_SESSION_F_KERNEL | \
				 PROFIL_SESSION_F_SYSTEM)
/* Those that a session of the whole machine may have. */
#define PROFIL_SYSTEM_FLAGS	(PROFIL_SESSION_F_SYSTEM | PROFIL_SESSION_F_KERNEL)

/* Only its credentials are of use, and it keeps the module loaded until the end. */
static const struct file_operations profil_authority_fops = {
	.owner	= THIS_MODULE,
};

static void profil_session_work(struct work_struct *work)
{
	struct profil_table *table = container_of(work, struct profil_table, work);

	profil_table_settle(table);
	wake_up_all(&table->wait);
}

static void profil_session_free(struct profil_table *table)
{
	profil_look_free(table);
	kvfree(table->pool);
	free_percpu(table->seen);
	profil_table_free(table);
}

/* The descriptor and all members are gone, and no tick can see the session. */
static void profil_session_end(struct work_struct *work)
{
	struct profil_table *table = container_of(work, struct profil_table, end);
	const struct profil_session_page *page = table->page;
	const u32 charged[] = { 1, page->slots, page->processes, page->objects };
	struct profil_user *user = table->user;
	struct file *authority = table->authority;

	profil_look_end(table);	/* it may queue this: */
	cancel_work_sync(&table->work);
	put_pid_ns(table->pids);
	profil_session_free(table);
	profil_limit_refund_all(user, PROFIL_LIMIT_SESSIONS, charged, ARRAY_SIZE(charged));
	profil_user_put(user);
	profil_hook_put();
	/* The module may be unloaded from here on, but waits for this work. */
	fput(authority);
}

/* Takes the members out, or the whole machine.  Ticks that saw them are over when this returns. */
static void profil_session_stop(struct profil_table *table)
{
	profil_member_stop(table);
	profil_system_stop(table);
	synchronize_rcu();
	profil_look_wait(table);
	WRITE_ONCE(table->page->state, PROFIL_SESSION_STOPPED);
	wake_up_all(&table->wait);
}

static int profil_session_ioctl_stop(struct file *file, struct profil_args *args)
{
	if (args->stop.flags)
		return -EOPNOTSUPP;
	if (args->stop.cookie)
		return -EINVAL;
	profil_session_stop(file->private_data);
	return 0;
}

static int profil_session_follow(struct file *file, struct profil_args *args);

static const struct profil_command profil_session_commands[] = {
	PROFIL_COMMAND(PROFIL_IOC_STOP, profil_ioc_stop, cookie, false,
		       profil_session_ioctl_stop, NULL),
	PROFIL_COMMAND(PROFIL_IOC_SESSION, profil_ioc_session, __reserved, true,
		       profil_session_follow, profil_session_told),
	PROFIL_COMMAND(PROFIL_IOC_JOIN, profil_ioc_join, flags, false,
		       profil_join, NULL),
	PROFIL_COMMAND(PROFIL_IOC_ATTACH, profil_ioc_attach, __reserved, false,
		       profil_join_other, NULL),
	PROFIL_COMMAND(PROFIL_IOC_OBJECT, profil_ioc_object, out_path_len, true,
		       profil_object, profil_object_end),
};

static long profil_session_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	return profil_command(profil_session_commands, ARRAY_SIZE(profil_session_commands),
			      file, cmd, arg);
}

/* To be read only, now and later.  Not for children: they have no use for it. */
static int profil_session_mmap(struct file *file, struct vm_area_struct *vma)
{
	if (vma->vm_flags & VM_WRITE)
		return -EACCES;
	vm_flags_clear(vma, VM_MAYWRITE | VM_MAYEXEC);
	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP | VM_DONTCOPY);
	return profil_table_map(file->private_data, vma);
}

static __poll_t profil_session_poll(struct file *file, poll_table *wait)
{
	struct profil_table *table = file->private_data;

	poll_wait(file, &table->wait, wait);
	return profil_table_over(table) ? EPOLLHUP : 0;
}

static int profil_session_release(struct inode *inode, struct file *file)
{
	struct profil_table *table = file->private_data;

	profil_member_stop(table);
	profil_system_stop(table);
	profil_member_put(table);
	return 0;
}

static const struct file_operations profil_session_fops = {
	.owner		= THIS_MODULE,
	.release	= profil_session_release,
	.mmap		= profil_session_mmap,
	.poll		= profil_session_poll,
	.unlocked_ioctl	= profil_session_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
	.llseek		= noop_llseek,
};

/* The rest of a session, whose tables there are; its end undoes all of it. */
static int profil_session_fill(struct profil_table *table, struct profil_user *user)
{
	bool system = table->flags & PROFIL_SESSION_F_SYSTEM;
	struct file *authority;
	int err;

	err = system ? profil_system_pool(table) : profil_member_pool(table);
	err = err ?: profil_look_init(table);
	if (err)
		return err;
	authority = anon_inode_getfile("[profil_authority]", &profil_authority_fops, NULL,
				       O_RDONLY);
	if (IS_ERR(authority))
		return PTR_ERR(authority);
	err = profil_hook_get((system ? 0 : PROFIL_HOOK_FOLLOW) |
			      (table->timer ? PROFIL_HOOK_TIMER : 0));
	if (err) {
		fput(authority);
		return err;
	}
	table->late = table->timer ? profil_timer_run_sessions : NULL;
	table->authority = authority;
	table->pids = get_pid_ns(task_active_pid_ns(current));
	table->user = user;
	init_waitqueue_head(&table->wait);
	INIT_WORK(&table->work, profil_session_work);
	INIT_WORK(&table->end, profil_session_end);
	refcount_set(&table->refs, 1);
	return 0;
}

/* A session that is charged to @user, who goes with it on success; or an ERR_PTR(). */
static struct profil_table *profil_session_make(const struct profil_ioc_session *args,
						struct profil_user *user)
{
	const u32 charged[] = { 1, args->slots, args->processes, args->objects };
	struct profil_table *table;
	int err;

	err = profil_limit_charge_all(user, PROFIL_LIMIT_SESSIONS, charged, ARRAY_SIZE(charged));
	if (err)
		return ERR_PTR(err);
	table = profil_table_create(args);
	err = table ? profil_session_fill(table, user) : -ENOMEM;
	if (!err)
		return table;
	if (table)
		profil_session_free(table);
	profil_limit_refund_all(user, PROFIL_LIMIT_SESSIONS, charged, ARRAY_SIZE(charged));
	return ERR_PTR(err);
}

/* As with START: only the timer source takes a jitter, and it needs a rate. */
static bool profil_session_source_valid(const struct profil_ioc_session *args)
{
	return args->source == PROFIL_SOURCE_TIMER ? args->rate && args->jitter <= 100 :
						     !args->jitter;
}

static int profil_session_check(const struct profil_ioc_session *args)
{
	u32 rate_max = args->source == PROFIL_SOURCE_TIMER ? profil_timer_rate_max() : HZ;

	if (args->__reserved || !profil_session_source_valid(args) ||
	    (args->flags & PROFIL_SESSION_F_USER_ONLY && args->flags & PROFIL_SESSION_F_KERNEL) ||
	    (args->flags & PROFIL_SESSION_F_SYSTEM &&
	     args->flags & PROFIL_SESSION_FLAGS & ~PROFIL_SYSTEM_FLAGS) ||
	    !profil_table_sizes_valid(args))
		return -EINVAL;
	if (args->flags & ~PROFIL_SESSION_FLAGS || args->source > PROFIL_SOURCE_TIMER ||
	    args->rate > rate_max || !profil_follow_possible() ||
	    (args->flags & PROFIL_SESSION_F_SYSTEM && (args->rate || args->source)))
		return -EOPNOTSUPP;
	/* Of what others do; and where the kernel is tells where it lies in memory. */
	return args->flags & PROFIL_SYSTEM_FLAGS && !perfmon_capable() ? -EPERM : 0;
}

/* The flags that sessions can have, or 0: there are none. */
u32 profil_session_flags(void)
{
	return profil_follow_possible() && profil_limit_any(PROFIL_LIMIT_SESSIONS) ?
	       PROFIL_SESSION_FLAGS : 0;
}

/* A session, which follows @former if that is not NULL.  May sleep. */
static int profil_session_open(struct profil_args *args, struct profil_table *former)
{
	struct profil_table *table;
	struct profil_user *user;
	struct file *file;
	int err = profil_session_check(&args->session);

	if (err)
		return err;
	user = profil_user_get(current_uid());
	if (!user)
		return -ENOMEM;
	table = profil_session_make(&args->session, user);
	if (IS_ERR(table)) {
		profil_user_put(user);
		return PTR_ERR(table);
	}
	args->session.out_bytes = table->bytes;
	file = anon_inode_getfile("[profil]", &profil_session_fops, table, O_RDONLY);
	if (IS_ERR(file))
		profil_member_put(table);
	args->session.out_fd = profil_command_open(args, file);
	if (args->session.out_fd < 0)
		return args->session.out_fd;
	if (args->session.flags & PROFIL_SESSION_F_SYSTEM)
		err = profil_system_start(table, former);
	if (err)
		profil_command_close(args, args->session.out_fd, false);
	else if (former)
		profil_session_stop(former);
	return err;
}

/* PROFIL_IOC_SESSION of the device: 0, or an error of the user interface.  May sleep. */
int profil_session_create(struct file *device, struct profil_args *args)
{
	return profil_session_open(args, NULL);
}

/* PROFIL_IOC_SESSION of a session, which the new one follows. */
static int profil_session_follow(struct file *file, struct profil_args *args)
{
	struct profil_table *former = file->private_data;

	if (!(former->flags & args->session.flags & PROFIL_SESSION_F_SYSTEM))
		return -EINVAL;
	return profil_session_open(args, former);
}

/* Who cannot be told of a session cannot have one. */
void profil_session_told(struct profil_args *args, bool told)
{
	profil_command_close(args, args->session.out_fd, told);
}
