/* SPDX-License-Identifier: GPL-2.0-only */
/* What a session has counted. */
#ifndef TOOLS_COUNTS_H
#define TOOLS_COUNTS_H

#include "session.h"

/* What was counted, once the session is stopped, but for its slots. */
struct counts {
	struct profil_session_page page;
	struct profil_process *processes;
	size_t num_processes;
};

/*
 * For who looks while it counts: how many slots and rows there may be, and what they are now.
 * A slot stays that of its place.
 */
uint32_t counts_slots(const struct session *session);
size_t counts_num_processes(const struct session *session);

/* The first slot from @i on that is not free, and its number; counts_slots(): there is none. */
uint32_t counts_next_slot(const struct session *session, uint32_t i, struct profil_slot *slot);

/* Whose addresses the places of a slot are: a row, or 0 where they are no addresses. */
static inline uint32_t counts_own_process(const struct profil_slot *slot)
{
	return slot->object < PROFIL_OBJECT_VDSO ? slot->process : 0;
}

void counts_process(const struct session *session, size_t i, struct profil_process *process);
void counts_object(const struct session *session, size_t i, struct profil_object_entry *entry);
void counts_page(const struct session *session, struct profil_session_page *page);

/* Ticks of all processes; as long as it is the same, so are the slots. */
uint64_t counts_ticks(const struct session *session);

void counts_read(struct session *session, struct counts *counts);

#endif /* TOOLS_COUNTS_H */
