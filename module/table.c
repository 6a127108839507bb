// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tables of a session: places, objects and processes.
 */
#include <linux/errno.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/vmalloc.h>

#include "limits.h"
#include "race.h"
#include "table.h"

struct workqueue_struct *profil_table_wq;

static atomic64_t profil_table_timers = ATOMIC64_INIT(0);

/*
 * The slot of a place, from index @begin on; or NULL if the table is full, as far as a
 * tick may look.  Hardirq.
 */
struct profil_slot *profil_table_slot(struct profil_table *table, u32 begin, u64 place,
				      u32 object, u32 process)
{
	u32 mask = table->page->slots - 1, i;
	struct profil_slot *slot;

	for (i = 0; i < PROFIL_PROBES; i++) {
		slot = &table->slots[(begin + i) & mask];
		if (!smp_load_acquire(&slot->object)) {	/* (T) */
			profil_race(PROFIL_RACE_FREE);
			raw_spin_lock(&table->lock);
			if (!slot->object) {
				slot->place = place;
				slot->process = process;
				profil_race(PROFIL_RACE_FILL);
				smp_store_release(&slot->object, object);	/* (T) */
			}
			raw_spin_unlock(&table->lock);
		}
		if (profil_table_is(slot, place, object, process))
			return slot;
	}
	return NULL;
}

/* Makes a free entry that of @file.  Its path is taken where one may sleep. */
static void profil_table_enter(struct profil_table *table, u32 index, struct file *file,
			       const struct inode *inode)
{
	struct profil_object_entry *entry = &table->objects[index];
	struct profil_object_file *kept = &table->files[index];

	lockdep_assert_held(&table->lock);
	kept->file = get_file(file);
	kept->next = table->unsettled;
	table->unsettled = index;
	entry->dev = inode->i_sb->s_dev;
	entry->ino = inode->i_ino;
	entry->generation = inode->i_generation;
	kept->inode = inode;
	WRITE_ONCE(table->page->objects_used, table->page->objects_used + 1);
	smp_store_release(&entry->kind, PROFIL_ENTRY_FILE);	/* (T) */
}

/*
 * The index of the object that @file is of, whose user's inode is @inode; 0 if the table is
 * full, as far as a tick may look.  The caller keeps @file open.  Hardirq.
 */
u32 profil_table_object(struct profil_table *table, struct file *file,
			const struct inode *inode)
{
	u32 mask = table->page->objects - 1, begin, i, index, *bucket;
	bool added = false;

	begin = (unsigned long)inode * table->secret >> table->object_shift;
	for (i = 0; i < PROFIL_PROBES; i++) {
		bucket = &table->buckets[(begin + i) & mask];
		if (!smp_load_acquire(bucket)) {	/* (T) */
			profil_race(PROFIL_RACE_FREE);
			raw_spin_lock(&table->lock);
			index = PROFIL_OBJECT_FILES + table->page->objects_used;
			if (!*bucket && index <= mask) {
				profil_table_enter(table, index, file, inode);
				smp_store_release(bucket, index);	/* (T) */
				added = true;
			}
			raw_spin_unlock(&table->lock);
		}
		index = smp_load_acquire(bucket);	/* (T) */
		if (!index)
			return 0;
		if (table->files[index].inode == inode) {
			if (added)
				queue_work(profil_table_wq, &table->work);
			return index;
		}
	}
	return 0;
}

/*
 * The index of a new row, or 0 if there is none: row 0 is that of all who found no other.
 * Under profil_member_lock.
 */
u32 profil_table_row(struct profil_table *table, u32 parent, u32 pid, const char *comm)
{
	u32 index = table->page->processes_used;
	struct profil_process *row = &table->processes[index];

	if (index == table->page->processes)
		return 0;
	row->pid = pid;
	row->parent = parent;
	row->state = PROFIL_PROCESS_MEMBER;
	strscpy_pad(row->comm, comm, sizeof(row->comm));
	smp_store_release(&table->page->processes_used, index + 1);	/* (T) */
	return index;
}

/*
 * Takes the paths of new objects and lets go of their files, so that no lock of a file
 * outlives its process.  May sleep.
 */
void profil_table_settle(struct profil_table *table)
{
	struct profil_object_file *kept;
	struct file *file;

	mutex_lock(&table->settle);
	for (;;) {
		raw_spin_lock_irq(&table->lock);
		kept = table->unsettled ? &table->files[table->unsettled] : NULL;
		if (kept)
			table->unsettled = kept->next;
		raw_spin_unlock_irq(&table->lock);
		if (!kept)
			break;
		file = kept->file;
		kept->path = *file_user_path(file);
		path_get(&kept->path);
		kept->file = NULL;
		fput(file);
	}
	mutex_unlock(&table->settle);
}

/* The path of an object, which is the table's: 0, or -ENOENT.  May sleep. */
int profil_table_path(struct profil_table *table, u32 object, struct path *path)
{
	if (object < PROFIL_OBJECT_FILES || object >= table->page->objects)
		return -ENOENT;
	object = array_index_nospec(object, table->page->objects);
	if (!smp_load_acquire(&table->objects[object].kind))	/* (T) */
		return -ENOENT;
	profil_table_settle(table);
	*path = table->files[object].path;
	return 0;
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

/*
 * Makes the tables of a session, whose sizes are checked, or returns NULL.  What session.c
 * and member.c have in it is theirs to fill.  May sleep.
 */
struct profil_table *profil_table_create(const struct profil_ioc_session *args)
{
	struct profil_table *table = kzalloc(sizeof(*table), GFP_KERNEL_ACCOUNT);
	struct profil_session_page page = {};

	if (!table)
		return NULL;
	raw_spin_lock_init(&table->lock);
	mutex_init(&table->settle);
	table->bytes = profil_table_layout(&page, args);
	table->page = __vmalloc(table->bytes, PROFIL_GFP_TABLES | __GFP_ZERO);
	table->files = kvcalloc(args->objects, sizeof(*table->files), PROFIL_GFP);
	table->buckets = kvcalloc(args->objects, sizeof(*table->buckets), PROFIL_GFP);
	if (!table->page || !table->files || !table->buckets) {
		profil_table_free(table);
		return NULL;
	}
	*table->page = page;
	table->slots = (void *)table->page + page.slots_offset;
	table->processes = (void *)table->page + page.processes_offset;
	table->objects = (void *)table->page + page.objects_offset;
	table->slot_shift = 64 - ilog2(args->slots);
	table->object_shift = 64 - ilog2(args->objects);
	table->secret = get_random_u64() | 1;
	table->flags = args->flags;
	profil_table_rate(table, args);
	return table;
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
	kvfree(table->buckets);
	kvfree(table->files);
	vfree(table->page);
	kfree(table);
}

int profil_table_init(void)
{
	profil_table_wq = alloc_workqueue("profil_session", WQ_UNBOUND, 0);
	return profil_table_wq ? 0 : -ENOMEM;
}

/* Also ends the sessions that nobody has any more. */
void profil_table_exit(void)
{
	if (profil_table_wq)
		destroy_workqueue(profil_table_wq);
}
