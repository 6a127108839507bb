// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tables of a session: made, mapped, freed.  Task context.
 */
#include <linux/errno.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/path.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/time64.h>
#include <linux/vmalloc.h>

#include "limits.h"
#include "table.h"

static atomic64_t profil_table_timers = ATOMIC64_INIT(0);

static bool profil_table_size_valid(u32 nr, u32 least, u32 most, bool power)
{
	return nr >= least && nr <= most && (!power || is_power_of_2(nr));
}

/* Whether there can be tables of these sizes. */
bool profil_table_sizes_valid(const struct profil_ioc_session *args)
{
	return profil_table_size_valid(args->slots, PROFIL_SLOTS_MIN, PROFIL_SLOTS_MAX, true) &&
	       profil_table_size_valid(args->processes, PROFIL_PROCESSES_MIN,
				       PROFIL_PROCESSES_MAX, false) &&
	       profil_table_size_valid(args->objects, PROFIL_OBJECTS_MIN,
				       PROFIL_OBJECTS_MAX, true);
}

/* Lays the tables out behind the first page, and returns the size of it all. */
static size_t profil_table_layout(struct profil_session_page *page,
				  const struct profil_ioc_session *args)
{
	page->size = sizeof(*page);
	page->abi = PROFIL_ABI;
	page->slots = args->slots;
	page->slot_len = sizeof(struct profil_slot);
	page->slots_offset = PAGE_SIZE;
	page->processes = args->processes;
	page->process_len = sizeof(struct profil_process);
	page->processes_offset = page->slots_offset +
				 (u64)page->slots * page->slot_len;
	page->objects = args->objects;
	page->object_len = sizeof(struct profil_object_entry);
	page->objects_offset = page->processes_offset +
			       (u64)page->processes * page->process_len;
	page->state = PROFIL_SESSION_ON;
	/* Row 0, which is there from the beginning. */
	page->processes_used = 1;
	return PAGE_ALIGN(page->objects_offset + (u64)page->objects * page->object_len);
}

/* Which ticks are due, or the periods of the timer source. */
static void profil_table_rate(struct profil_table *table,
			      const struct profil_ioc_session *args)
{
	bool timer = args->source == PROFIL_SOURCE_TIMER;

	profil_due_rate(&table->due, timer ? 0 : args->rate);
	table->due.secret = profil_due_secret();
	table->picky = timer || table->due.take < table->due.window ||
		       args->flags & (PROFIL_SESSION_F_USER_ONLY | PROFIL_SESSION_F_KERNEL);
	if (!timer)
		return;
	table->timer = atomic64_inc_return(&profil_table_timers);
	table->period = NSEC_PER_SEC / args->rate;
	table->spread = (u64)table->period * args->jitter / 100;
}

/* Twice as many as rows, so that a name is found soon. */
static u32 profil_table_rows(const struct profil_ioc_session *args)
{
	return 2 * roundup_pow_of_two(args->processes);
}

/*
 * Makes the tables of a session, whose sizes are checked, or returns NULL.  What session.c
 * and member.c have in it is theirs to fill.  May sleep.
 */
struct profil_table *profil_table_create(const struct profil_ioc_session *args)
{
	struct profil_table *table = kzalloc(sizeof(*table), PROFIL_GFP);
	struct profil_session_page page = {};

	if (!table)
		return NULL;
	raw_spin_lock_init(&table->lock);
	mutex_init(&table->settle);
	table->bytes = profil_table_layout(&page, args);
	table->page = __vmalloc(table->bytes, PROFIL_GFP_TABLES | __GFP_ZERO);
	table->files = kvcalloc(args->objects, sizeof(*table->files), PROFIL_GFP);
	table->buckets = kvcalloc(args->objects, sizeof(*table->buckets), PROFIL_GFP);
	if (args->flags & PROFIL_SESSION_F_SYSTEM)
		table->rows = kvcalloc(profil_table_rows(args), sizeof(*table->rows), PROFIL_GFP);
	if (!table->page || !table->files || !table->buckets ||
	    (args->flags & PROFIL_SESSION_F_SYSTEM && !table->rows)) {
		profil_table_free(table);
		return NULL;
	}
	*table->page = page;
	table->slots = (void *)table->page + page.slots_offset;
	table->processes = (void *)table->page + page.processes_offset;
	table->objects = (void *)table->page + page.objects_offset;
	table->slot_shift = 64 - ilog2(args->slots);
	table->object_shift = 64 - ilog2(args->objects);
	table->row_shift = 64 - ilog2(profil_table_rows(args));
	table->slots_most = args->slots;
	if (args->flags & PROFIL_SESSION_F_SYSTEM)
		table->slots_most -= args->slots / 4;
	table->secret = get_random_u64() | 1;
	get_random_bytes(&table->name_key, sizeof(table->name_key));
	table->flags = args->flags;
	profil_table_rate(table, args);
	return table;
}

/* Maps what the reader may see: 0, or an error of mmap().  May sleep. */
int profil_table_map(const struct profil_table *table, struct vm_area_struct *vma)
{
	size_t length = vma->vm_end - vma->vm_start, i;
	int err = 0;

	if (vma->vm_pgoff || length > table->bytes)
		return -EINVAL;
	for (i = 0; !err && i < length; i += PAGE_SIZE)
		err = vm_insert_page(vma, vma->vm_start + i,
				     vmalloc_to_page((void *)table->page + i));
	return err;
}

/* Frees the tables, and lets go of all objects.  May sleep; nobody else has them. */
void profil_table_free(struct profil_table *table)
{
	u32 i;

	if (table->page && table->files) {
		profil_table_settle(table);
		for (i = 0; i < table->page->objects; i++)
			if (table->files[i].inode)
				path_put(&table->files[i].path);
	}
	kvfree(table->rows);
	kvfree(table->buckets);
	kvfree(table->files);
	vfree(table->page);
	kfree(table);
}
