// SPDX-License-Identifier: GPL-2.0-only
/* What a session has counted: its tables, which the kernel may write while they are read. */
#include <stdlib.h>
#include <string.h>
#include "counts.h"
#include "say.h"

static const void *entry_at(const struct session *session, __u64 offset, __u32 length, size_t i)
{
	return (const char *)session_mapping(session) + offset + i * length;
}

/*
 * As much of an entry as this program and the module know, word by word: the kernel counts.
 */
static void copy_entry(void *to, size_t size, const void *entry, __u32 length)
{
	memset(to, 0, size);
	for (size_t i = 0; i < size / 8 && i < length / 8; i++) {
		__u64 word = __atomic_load_n((const __u64 *)entry + i, __ATOMIC_RELAXED);

		memcpy((char *)to + i * 8, &word, 8);
	}
}

uint32_t counts_slots(const struct session *session)
{
	return session_mapping(session)->slots;
}

size_t counts_num_processes(const struct session *session)
{
	return __atomic_load_n(&session_mapping(session)->processes_used, __ATOMIC_ACQUIRE);
}

uint32_t counts_next_slot(const struct session *session, uint32_t i, struct profil_slot *slot)
{
	const struct profil_session_page *page = session_mapping(session);
	const uint32_t num = page->slots, length = page->slot_len;
	const struct profil_slot *entry = entry_at(session, page->slots_offset, length, i);

	/* the rest of it is written before the object */
	while (i < num && __atomic_load_n(&entry->object, __ATOMIC_ACQUIRE) == PROFIL_OBJECT_FREE) {
		entry = (const void *)((const char *)entry + length);
		i++;
	}
	if (i < num)
		copy_entry(slot, sizeof(*slot), entry, length);
	return i;
}

void counts_process(const struct session *session, size_t i, struct profil_process *process)
{
	const struct profil_session_page *page = session_mapping(session);

	copy_entry(process, sizeof(*process),
		   entry_at(session, page->processes_offset, page->process_len, i),
		   page->process_len);
	process->comm[sizeof(process->comm) - 1] = '\0';
}

void counts_object(const struct session *session, size_t i, struct profil_object_entry *entry)
{
	const struct profil_session_page *page = session_mapping(session);

	copy_entry(entry, sizeof(*entry),
		   entry_at(session, page->objects_offset, page->object_len, i), page->object_len);
}

void counts_page(const struct session *session, struct profil_session_page *page)
{
	copy_entry(page, sizeof(*page), session_mapping(session), session_mapping(session)->size);
}

uint64_t counts_ticks(const struct session *session)
{
	const struct profil_session_page *page = session_mapping(session);
	size_t num = counts_num_processes(session);
	uint64_t ticks = 0;

	for (size_t i = 0; i < num; i++) {
		const struct profil_process *row =
			entry_at(session, page->processes_offset, page->process_len, i);

		ticks += __atomic_load_n(&row->user, __ATOMIC_RELAXED) +
			__atomic_load_n(&row->system, __ATOMIC_RELAXED);
	}
	return ticks;
}

void counts_read(struct session *session, struct counts *counts)
{
	memset(counts, 0, sizeof(*counts));
	counts_page(session, &counts->page);
	counts->num_processes = counts_num_processes(session);
	counts->processes = allocated(calloc(counts->num_processes + 1,
					     sizeof(*counts->processes)));
	for (size_t i = 0; i < counts->num_processes; i++)
		counts_process(session, i, &counts->processes[i]);
}
