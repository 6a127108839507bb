// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a session has counted, by slices of time: at the end of each slice the table is read
 * where it is mapped, and what has grown is kept.  The program that is counted notices
 * nothing.
 */
#include <stdlib.h>
#include <time.h>
#include "clock.h"
#include "counts.h"
#include "order.h"
#include "profile.h"
#include "say.h"
#include "slices.h"

#define PART 200		/* of the time may go into reading the table, */
#define ALLOWED_NS 5000000	/* and this beside it */

/* What of a slot is of one slice. */
struct piece {
	uint32_t slot;
	uint32_t slice;
	uint64_t user, system;
};

struct seen {
	uint64_t user, system;
};

struct slices {
	struct session *session;
	uint64_t length_ns;	/* 0: there is one */
	uint64_t ticks;		/* of all slots, when the table was last read */
	uint64_t now_ns;	/* when it was */
	struct seen *seen;	/* of each slot */
	struct piece *pieces;
	size_t num, room, most;
	uint64_t cost_ns;	/* CPU time of all readings */
};

struct slices *slices_make(struct session *session, uint64_t length_ns, size_t most)
{
	struct slices *slices = allocated(calloc(1, sizeof(*slices)));

	slices->session = session;
	slices->length_ns = length_ns;
	slices->most = most;
	slices->seen = allocated(calloc(counts_slots(session), sizeof(*slices->seen)));
	return slices;
}

void slices_free(struct slices *slices)
{
	free(slices->seen);
	free(slices->pieces);
	free(slices);
}

uint64_t slices_length(const struct slices *slices)
{
	return slices->length_ns;
}

uint64_t slices_due(const struct slices *slices)
{
	uint64_t length = slices->length_ns;

	return length ? (slices->now_ns / length + 1) * length : UINT64_MAX;
}

static int by_slice(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	return compare_numbers(x->slice, y->slice) ?: compare_numbers(x->slot, y->slot);
}

/* Two slices become one. */
static void merge(struct slices *slices)
{
	struct piece *pieces = slices->pieces;
	size_t num = 0;

	for (size_t i = 0; i < slices->num; i++)
		pieces[i].slice /= 2;
	if (slices->num)
		qsort(pieces, slices->num, sizeof(*pieces), by_slice);
	for (size_t i = 0; i < slices->num; i++) {
		if (!num || by_slice(&pieces[num - 1], &pieces[i])) {
			pieces[num++] = pieces[i];
			continue;
		}
		pieces[num - 1].user += pieces[i].user;
		pieces[num - 1].system += pieces[i].system;
	}
	slices->num = num;
	slices->length_ns *= 2;
}

static void take_slots(struct slices *slices, uint32_t slice)
{
	struct session *session = slices->session;
	uint32_t num = counts_slots(session);
	struct profil_slot slot;

	for (uint32_t i = 0; (i = counts_next_slot(session, i, &slot)) < num; i++) {
		struct seen *seen = &slices->seen[i];

		if (slot.user == seen->user && slot.system == seen->system)
			continue;
		slices->pieces = more(slices->pieces, &slices->room, slices->num,
				      sizeof(*slices->pieces));
		slices->pieces[slices->num++] = (struct piece) {
			.slot = i, .slice = slice, .user = slot.user - seen->user,
			.system = slot.system - seen->system,
		};
		*seen = (struct seen) { slot.user, slot.system };
	}
}

/* Does it take more than its part of the time, and more than nobody would notice? */
static bool is_dear(const struct slices *slices, uint64_t cost)
{
	return slices->cost_ns > ALLOWED_NS + slices->now_ns / PART &&
		cost > slices->length_ns / PART;
}

void slices_take(struct slices *slices, uint64_t now_ns, bool last)
{
	uint64_t began = clock_ns(CLOCK_PROCESS_CPUTIME_ID), cost;
	uint64_t ticks = counts_ticks(slices->session);

	while (slices->length_ns && now_ns > SLICES_MAX * slices->length_ns)
		merge(slices);
	/* where nothing was counted, a large table need not be read */
	if (last || ticks != slices->ticks)
		take_slots(slices, slices->length_ns ? slices->now_ns / slices->length_ns : 0);
	slices->ticks = ticks;
	slices->now_ns = now_ns;
	cost = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - began;
	slices->cost_ns += cost;
	if (!slices->length_ns || last)
		return;
	if (is_dear(slices, cost))
		merge(slices);
	while (now_ns >= SLICES_MAX * slices->length_ns ||
	       (slices->num > slices->most && slices->length_ns <= now_ns))
		merge(slices);
}

struct part *slices_parts(const struct slices *slices, size_t *num)
{
	struct part *parts = allocated(calloc(slices->num + 1, sizeof(*parts)));

	for (size_t i = 0; i < slices->num; i++) {
		const struct piece *piece = &slices->pieces[i];

		counts_next_slot(slices->session, piece->slot, &parts[i].slot);
		parts[i].slot.user = piece->user;
		parts[i].slot.system = piece->system;
		parts[i].at_ns = (piece->slice + 1) * slices->length_ns;
	}
	*num = slices->num;
	return parts;
}
