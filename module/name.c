// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rows of a session of the whole machine: one for each control group and name of a
 * program in it.  Hardirq.
 */
#include <linux/cgroup.h>
#include <linux/ctype.h>
#include <linux/pid.h>
#include <linux/sched.h>
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

/* A kernel thread is one of many of that name: of all CPUs, devices, processes. */
static void profil_name_shorten(struct profil_name *name)
{
	char *c = name->comm, *end = name->comm + sizeof(name->comm);

	while (*c && *c != '/' && !(*c == '-' && isdigit(c[1])))
		c++;
	memset(c, 0, end - c);
}

static void profil_name_read(struct profil_name *name)
{
	name->cgroup = profil_cgroup_id(current);
	/* Other threads of it may be changing the name: what is read then is nobody's. */
	data_race(memcpy(name->comm, current->comm, sizeof(name->comm)));
	/* As in profil_tick_rest(). */
	if (data_race(current->flags) & PROFIL_PF_BORROWERS)
		profil_name_shorten(name);
}

/* A new row, or 0.  Names leave a quarter of the rows to the groups themselves. */
static u32 profil_name_add(struct profil_table *table, const struct profil_name *name)
{
	u32 used = table->page->processes_used, most = table->page->processes;

	lockdep_assert_held(&table->lock);
	if (name->comm[0])
		most -= most / 4;
	if (used >= most)
		return 0;
	return profil_table_row(table, 0, pid_nr_ns(task_tgid(current), table->pids), name->comm,
				name->cgroup);
}

/* The index of the row of that name, or 0. */
static u32 profil_name_find(struct profil_table *table, const struct profil_name *name)
{
	u64 key = name->cgroup ^ name->half[0] ^ name->half[1] << 17;
	u32 begin = key * table->secret >> table->row_shift, mask = U32_MAX, index, i, *bucket;
	const struct profil_process *row;

	mask >>= table->row_shift - 32;
	for (i = 0; i < PROFIL_PROBES; i++) {
		bucket = &table->rows[(begin + i) & mask];
		if (!smp_load_acquire(bucket)) {	/* (T) */
			profil_race(PROFIL_RACE_FREE);
			raw_spin_lock(&table->lock);
			if (!*bucket)
				smp_store_release(bucket, profil_name_add(table, name)); /* (T) */
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
