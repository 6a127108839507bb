// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rows of a session of the whole machine: one for each control group and name of a
 * program in it.  Hardirq.
 */
#include <linux/cgroup.h>
#include <linux/ctype.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/siphash.h>
#include <linux/string.h>
#include <linux/profil.h>

#include "profil.h"
#include "race.h"
#include "table.h"

/* Who runs: the keys of a row. */
struct profil_name {
	u64	cgroup;
	union {
		char	comm[TASK_COMM_LEN];
		u64	half[2];
	};
};

/* Where the name ends: that of a kernel thread is of all CPUs, devices and processes. */
static char *profil_name_end(struct profil_name *name, bool kernel)
{
	char *c = name->comm;

	while (*c && !(kernel && (*c == '/' || (*c == '-' && isdigit(c[1])))))
		c++;
	return c;
}

static void profil_name_read(struct profil_name *name)
{
	char *end;

	name->cgroup = profil_cgroup_id(current);
	/* Other threads of it may be changing the name: what is read then is nobody's. */
	data_race(memcpy(name->comm, current->comm, sizeof(name->comm)));
	name->comm[sizeof(name->comm) - 1] = '\0';
	/* As in profil_tick_rest(). */
	end = profil_name_end(name, data_race(current->flags) & PROFIL_PF_BORROWERS);
	/* Behind it may be what is left of a former one. */
	memset(end, 0, name->comm + sizeof(name->comm) - end);
}

/* Whether a name may make a row: a quarter of them is left to the groups themselves. */
static bool profil_name_room(const struct profil_table *table, const struct profil_name *name)
{
	u32 most = table->page->processes;

	if (name->comm[0])
		most -= most / 4;
	return READ_ONCE(table->page->processes_used) < most;
}

/* Where to begin to look.  Programs choose their names, and must not choose this. */
static u32 profil_name_begin(const struct profil_table *table, const struct profil_name *name)
{
	return siphash_3u64(name->cgroup, name->half[0], name->half[1], &table->name_key) >>
	       table->row_shift;
}

/* The index of the row of that name, or 0. */
static u32 profil_name_find(struct profil_table *table, const struct profil_name *name)
{
	u32 begin = profil_name_begin(table, name), mask = U32_MAX, index, i, *bucket;
	const struct profil_process *row;

	mask >>= table->row_shift - 32;
	for (i = 0; i < PROFIL_PROBES; i++) {
		bucket = &table->rows[(begin + i) & mask];
		if (!smp_load_acquire(bucket)) {	/* (T) */
			if (!profil_name_room(table, name))
				return 0;
			profil_race(PROFIL_RACE_FREE);
			raw_spin_lock(&table->lock);
			if (!*bucket && profil_name_room(table, name)) {
				index = profil_table_row(table, 0,
							 pid_nr_ns(task_tgid(current),
								   table->pids),
							 name->comm, name->cgroup);
				smp_store_release(bucket, index);	/* (T) */
			}
			raw_spin_unlock(&table->lock);
		}
		index = smp_load_acquire(bucket);	/* (T) */
		row = &table->processes[index];
		if (!index || (row->cgroup == name->cgroup &&
			       !memcmp(row->comm, name->comm, sizeof(row->comm))))
			return index;
	}
	return 0;
}

/* The index of the row of current's name, or else of its group, or else 0: that of all. */
u32 profil_name_row(struct profil_table *table)
{
	struct profil_name name;
	u32 index;

	profil_name_read(&name);
	index = profil_name_find(table, &name);
	if (index)
		return index;
	memset(name.comm, 0, sizeof(name.comm));
	return profil_name_find(table, &name);
}
