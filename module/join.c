// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who becomes a member by a command: the caller, or whom it traces.  Task context.
 */
#include <linux/cred.h>
#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/pid.h>
#include <linux/ptrace.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#include "command.h"
#include "member.h"
#include "profil.h"
#include "race.h"
#include "table.h"

/*
 * Before a process is a member, and there is an object of its: whether who made the session may
 * trace it, as the caller is it or @traces it.
 */
static void profil_join_by(struct profil_table *table, bool traces)
{
	if (!traces || !profil_table_covers(table, current_cred()))
		WRITE_ONCE(table->had_others, true);
}

/* PROFIL_IOC_JOIN: 0, or an error of the user interface. */
int profil_join(struct file *file, struct profil_args *args)
{
	struct profil_table *table = file->private_data;
	int err;

	if (args->join.flags)
		return -EOPNOTSUPP;
	if (table->flags & PROFIL_SESSION_F_SYSTEM)
		return -EINVAL;
	if (!profil_table_allowed(table))
		return -EPERM;
	profil_join_by(table, true);
	err = profil_member_add(table, current, current->self_exec_id);
	if (!err) {
		profil_timer_run_sessions();
		profil_table_had(table);
	}
	return err;
}

/*
 * Who traces a task has passed all the checks that there are.  While another one attaches or
 * detaches, the parent passes for the tracer, but the credentials are none, or not its own.
 */
static bool profil_join_traces(struct task_struct *task)
{
	struct task_struct *tracer;
	const struct cred *cred;
	bool traces;

	rcu_read_lock();
	/* Others change it, under a lock that modules have not. */
	tracer = data_race(ptrace_parent(task));
	/* And this one: what does not fit the tracer is nobody's. */
	cred = data_race(rcu_dereference(task->ptracer_cred));
	traces = tracer && same_thread_group(tracer, current) &&
		 cred && uid_eq(cred->euid, current_euid()) &&
		 cred->user_ns == current_user_ns() &&
		 cap_issubset(cred->cap_effective, current_cred()->cap_permitted);
	rcu_read_unlock();
	return traces;
}

/*
 * What is checked is the image that is counted.  If the task is executing another one, or
 * has done so when it is a member, nobody may have asked whether that one is to be counted.
 */
static int profil_join_task(struct profil_table *table, struct task_struct *task)
{
	u64 exec_id = READ_ONCE(task->self_exec_id);
	struct pid *tgid;
	bool traces, ended;
	int err;

	smp_rmb();	/* exec sets the flag before it changes the number */
	/* A bit among others, which change with it. */
	if (data_race((bool)task->in_execve))
		return -EAGAIN;
	traces = profil_join_traces(task);
	if (!traces && !perfmon_capable())
		return -EPERM;
	/* This flag does not change; of who exits, it is found out below. */
	if (data_race(task->flags & PF_KTHREAD || !task->mm))
		return -ESRCH;
	profil_join_by(table, traces);
	tgid = get_task_pid(task, PIDTYPE_TGID);
	profil_race(PROFIL_RACE_CHECK);
	err = profil_member_add(table, task, exec_id);
	if (err)
		goto out;
	/* Exec and exit look for members after they have changed these. */
	smp_mb();
	/* A thread that has ended since had no mm, or the number of an image of before. */
	ended = !data_race(READ_ONCE(task->mm));
	if (!atomic_read(&task->signal->live))
		err = -ESRCH;
	else if (ended || exec_id != READ_ONCE(task->self_exec_id))
		err = -EAGAIN;
	if (err)
		profil_member_remove(table, tgid);
	else
		profil_table_had(table);
out:
	put_pid(tgid);
	return err;
}

/* PROFIL_IOC_ATTACH: 0, or an error of the user interface.  May sleep. */
int profil_join_other(struct file *file, struct profil_args *args)
{
	struct profil_table *table = file->private_data;
	struct task_struct *task;
	struct pid *pid;
	int err;

	if (args->attach.__reserved || args->attach.pid <= 0 ||
	    table->flags & PROFIL_SESSION_F_SYSTEM)
		return -EINVAL;
	if (args->attach.flags)
		return -EOPNOTSUPP;
	if (!profil_table_allowed(table))
		return -EPERM;
	pid = find_get_pid(args->attach.pid);
	task = get_pid_task(pid, PIDTYPE_PID);
	put_pid(pid);
	if (!task)
		return -ESRCH;
	err = profil_join_task(table, task);
	put_task_struct(task);
	return err;
}
