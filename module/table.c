// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tables of a session: places, objects and processes.
 */
#include <linux/cred.h>
#include <linux/errno.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/nospec.h>
#include <linux/string.h>

#include "limits.h"
#include "race.h"
#include "spread.h"
#include "table.h"

struct workqueue_struct *profil_table_wq;

/* Whether a place that has no slot yet may have a free one; for good only under the lock. */
static bool profil_table_room(const struct profil_table *table, u64 place)
{
	return READ_ONCE(table->slots_used) < table->slots_most || place == PROFIL_PLACE_OTHERS;
}

/*
 * The slot of a place, among @probes from index @begin on; or NULL if there is none and the
 * table is full, as far as that.  Hardirq.
 */
static struct profil_slot *profil_table_search(struct profil_table *table, u32 begin,
					       u32 probes, u64 place, u32 object, u32 process)
{
	u32 mask = table->page->slots - 1, i;
	struct profil_slot *slot;

	for (i = 0; i < probes; i++) {
		slot = &table->slots[(begin + i) & mask];
		if (!smp_load_acquire(&slot->object)) {	/* (T) */
			/* Slots are never freed: it has none, and a full table needs no lock. */
			if (!profil_table_room(table, place))
				return NULL;
			profil_race(PROFIL_RACE_FREE);
			raw_spin_lock(&table->lock);
			if (!slot->object && profil_table_room(table, place)) {
				WRITE_ONCE(table->slots_used, table->slots_used + 1);
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

/* The same; of the whole machine, also the slot of all places of @object that have none. */
struct profil_slot *profil_table_slot(struct profil_table *table, u32 begin, u64 place,
				      u32 object, u32 process)
{
	struct profil_slot *slot;

	slot = profil_table_search(table, begin, PROFIL_PROBES, place, object, process);
	if (slot || !(table->flags & PROFIL_SESSION_F_SYSTEM))
		return slot;
	begin = profil_table_begin(table, PROFIL_PLACE_OTHERS, object, process);
	return profil_table_search(table, begin, PROFIL_PROBES_OTHERS, PROFIL_PLACE_OTHERS,
				   object, process);
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

	begin = profil_spread((unsigned long)inode, table->secret) >> table->object_shift;
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
 * Under profil_member_lock or, of the whole machine, the table's.
 */
u32 profil_table_row(struct profil_table *table, u32 parent, u32 pid, const char *comm,
		     u64 cgroup)
{
	u32 index = table->page->processes_used;
	struct profil_process *row = &table->processes[index];

	if (index == table->page->processes)
		return 0;
	row->pid = pid;
	row->parent = parent;
	row->cgroup = cgroup;
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

/*
 * Whether who made the session has the identity of these credentials, and each capability, and
 * so may trace them.
 */
bool profil_table_covers(const struct profil_table *table, const struct cred *cred)
{
	const struct cred *maker = table->authority->f_cred;

	return uid_eq(cred->uid, maker->uid) && uid_eq(cred->euid, maker->uid) &&
	       uid_eq(cred->suid, maker->uid) && gid_eq(cred->gid, maker->gid) &&
	       gid_eq(cred->egid, maker->gid) && gid_eq(cred->sgid, maker->gid) &&
	       cred->user_ns == maker->user_ns &&
	       cap_issubset(cred->cap_permitted, maker->cap_permitted);
}

/*
 * Whether the caller has the rights of who made the session.  Members are followed with these,
 * so that no other may bring any in, nor come to their files.  Task context.
 */
bool profil_table_allowed(const struct profil_table *table)
{
	const struct cred *maker = table->authority->f_cred, *cred = current_cred();

	return uid_eq(cred->uid, maker->uid) && uid_eq(cred->euid, maker->euid) &&
	       gid_eq(cred->gid, maker->gid) && gid_eq(cred->egid, maker->egid) &&
	       cred->user_ns == maker->user_ns &&
	       cap_issubset(maker->cap_permitted, cred->cap_permitted);
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
