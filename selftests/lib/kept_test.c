// SPDX-License-Identifier: GPL-2.0-only
/*
 * A tick reads a kept range while another CPU replaces it, in every order that the barriers
 * allow: what it takes for its place is that of one mapping, or none.  And no guard is there
 * for nothing: without any one of them some order gives the place of no mapping.
 *
 * The writer runs first, and its stores are written down.  Each order in which they may become
 * visible is tried: those between two barriers in any.  Then the reader runs, again and again:
 * each of its loads is of any moment that is not before what a barrier says, and of each value
 * that its address has in these moments one is taken.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "kernel.h"
#include "tap.h"

/* What may be taken away of module/kept.h and kept.c. */
enum guard {
	NONE, MARK, SECOND_LOOK, WMB, RELEASE, ACQUIRE, RMB, GUARDS
};

static const char *const guard_names[GUARDS] = {
	"nothing", "the mark of a change", "the second look at the stamp",
	"smp_wmb() behind the mark", "smp_store_release() of the stamp",
	"smp_load_acquire() of the stamp", "smp_rmb() before the second look",
};

static enum guard without;
static unsigned int epoch;	/* barriers that the writer has passed */

static u64 store(const void *place, u64 before, u64 after);
static u64 load(const void *place, u64 now);
static u64 load_acquire(const void *place, u64 now);
static void loads_wait(void);

#define READ_ONCE(place) ((__typeof__(place))load(&(place), (u64)(place)))
#define WRITE_ONCE(place, value)						\
	((place) = (__typeof__(place))store(&(place), (u64)(place), (u64)(value)))
/* It parts the stores before it from those behind it. */
#define smp_wmb() ((void)(epoch += without != WMB))
/* Loads behind it see no earlier moment than loads before it. */
#define smp_rmb() loads_wait()
/* Loads behind it see no earlier moment than it does. */
#define smp_load_acquire(place) load_acquire(place, *(place))
/* What follows may become visible before it. */
#define smp_store_release(place, value)						\
	(epoch += without != RELEASE, WRITE_ONCE(*(place), value))
#define raw_spinlock_t struct raw_spinlock
#define raw_spin_lock(lock) ((void)(lock))
#define raw_spin_unlock(lock) ((void)(lock))
#define raw_spin_lock_irqsave(lock, flags) ((void)(lock), (flags) = 0)
#define raw_spin_unlock_irqrestore(lock, flags) ((void)(lock), (void)(flags))

struct raw_spinlock {
	char unused;
};

#include "../../module/kept.h"
#include "../../module/kept.c"

#define PLACES_MAX	(PROFIL_KEPT * 6)
#define STORES_MAX	32
#define CHOICES_MAX	64

static struct profil_kept kept;

/* Only addresses of it matter. */
static struct mm_struct {
	char unused;
} mms[2];

static struct mm_struct *owner = &mms[0];

/* In the order of the program. */
static struct {
	const void *place;
	u64 before, after;
	unsigned int epoch;
	unsigned int moment;	/* when it is visible; 0 is before all, or not yet */
} stores[STORES_MAX];

static unsigned int num_stores;

static bool is_stamp(const void *place)
{
	return !(((const char *)place - (const char *)kept.range) % sizeof(kept.range[0]));
}

static u64 store(const void *place, u64 before, u64 after)
{
	if (without == MARK && is_stamp(place) && (u32)after == PROFIL_KEPT_CHANGES)
		return before;
	if (num_stores == STORES_MAX)
		abort();
	stores[num_stores].place = place;
	stores[num_stores].before = before;
	stores[num_stores].after = after;
	stores[num_stores].moment = 0;
	stores[num_stores++].epoch = epoch;
	return after;
}

/* What the reader has chosen: the next run has the same, but for the last that has another. */
static unsigned int chosen[CHOICES_MAX], choices[CHOICES_MAX], num_chosen, num_given;

static unsigned int choose(unsigned int among)
{
	if (num_chosen == CHOICES_MAX)
		abort();
	if (num_chosen >= num_given)
		chosen[num_chosen] = 0;
	choices[num_chosen] = among;
	return chosen[num_chosen++];
}

static bool another_choice(void)
{
	while (num_chosen && chosen[num_chosen - 1] + 1 == choices[num_chosen - 1])
		num_chosen--;
	num_given = num_chosen;
	if (num_chosen)
		chosen[num_chosen - 1]++;
	return num_chosen;
}

/* Of one run of the reader: moments of its loads. */
static struct {
	unsigned int not_before;	/* by a barrier */
	unsigned int last, latest;
	unsigned int looks;		/* at a stamp */
	u64 first_look;
	unsigned int seen[STORES_MAX];	/* by the first store to that address, never back */
} reader;

/*
 * A load of an address that was stored to: of its values, each that it has in a moment from
 * @least on, the first moment is tried; a later one allows those that follow no more.
 */
static u64 load_of(unsigned int first, unsigned int least)
{
	unsigned int num = 0, moments[STORES_MAX + 1], begin = 0;
	u64 values[STORES_MAX + 1], value = stores[first].before;

	for (unsigned int i = first; i <= num_stores; i++) {
		if (i < num_stores && stores[i].place != stores[first].place)
			continue;
		if (i == num_stores || least < stores[i].moment) {
			values[num] = value;
			moments[num++] = max(begin, least);
		}
		if (i < num_stores) {
			begin = stores[i].moment;
			value = stores[i].after;
		}
	}
	num = choose(num);
	reader.seen[first] = moments[num];
	reader.last = moments[num];
	reader.latest = max(reader.latest, reader.last);
	return values[num];
}

static u64 load(const void *place, u64 now)
{
	unsigned int first = 0;

	reader.last = 0;
	while (first < num_stores && stores[first].place != place)
		first++;
	if (first < num_stores)
		now = load_of(first, max(reader.not_before, reader.seen[first]));
	if (!is_stamp(place))
		return now;
	if (reader.looks++ && without == SECOND_LOOK)
		return reader.first_look;
	return reader.first_look = now;
}

static u64 load_acquire(const void *place, u64 now)
{
	now = load(place, now);
	if (without != ACQUIRE)
		reader.not_before = max(reader.not_before, reader.last);
	return now;
}

static void loads_wait(void)
{
	if (without != RMB)
		reader.not_before = reader.latest;
}

/* A mapping, as ticks find it while the sequence is @seq. */
struct mapping {
	struct profil_kept_range range;
	u32 seq;
};

#define MAPPING(from, n, to, what, at)						\
	{ { .start = (from), .bytes = (n), .base = (to), .object = (what),	\
	    .inode = (const struct inode *)(uintptr_t)(0x100 * (what)) }, (at) }

/* What is kept at first, of which the first is the oldest, and what comes instead. */
static const struct mapping kept_first[PROFIL_KEPT] = {
	MAPPING(0x10000, 0x4000, 0x1000, 1, 4), MAPPING(0x20000, 0x4000, 0x2000, 2, 4),
	MAPPING(0x30000, 0x4000, 0x3000, 3, 4), MAPPING(0x40000, 0x4000, 0x4000, 4, 4),
};

static const struct scenario {
	const char *name;
	bool forget;
	struct mapping next[2];		/* no bytes: none */
} scenarios[] = {
	{ "the oldest one goes", false, { MAPPING(0x50000, 0x4000, 0x9000, 5, 4) } },
	{ "another file is mapped there", false, { MAPPING(0x10000, 0x4000, 0x7000, 6, 6) } },
	{ "a mapping is split", false, { MAPPING(0x10000, 0x1000, 0x1000, 1, 6) } },
	{ "another place of the file", false, { MAPPING(0x11000, 0x2000, 0x6000, 1, 6) } },
	{ "two become one", false, { MAPPING(0x12000, 0x10000, 0x5000, 7, 6) } },
	{ "one comes and goes", false, { MAPPING(0x10000, 0x4000, 0x7000, 6, 6),
					 MAPPING(0x10000, 0x4000, 0x8000, 7, 8) } },
	{ "all is forgotten", true, { MAPPING(0x10000, 0x4000, 0x7000, 6, 4) } },
};

static const struct scenario *scenario;
static unsigned long runs, wrong;

static bool is_at(const struct mapping *mapping, u64 pc, u32 seq, u64 place, u32 object)
{
	const struct profil_kept_range *range = &mapping->range;

	return mapping->seq == seq && pc - range->start < range->bytes &&
	       object == range->object && place == pc - range->start + range->base;
}

static bool is_right(u64 pc, u32 seq, u64 place, u32 object)
{
	for (unsigned int i = 0; i < PROFIL_KEPT; i++)
		if (is_at(&kept_first[i], pc, seq, place, object))
			return true;
	return is_at(&scenario->next[0], pc, seq, place, object) ||
	       is_at(&scenario->next[1], pc, seq, place, object);
}

static void begin_reader(void)
{
	memset(&reader, 0, sizeof(reader));
	num_chosen = 0;
	runs++;
}

static void read_place(u64 pc, u32 seq)
{
	u64 place;
	u32 object;

	num_given = 0;
	do {
		begin_reader();
		place = profil_kept_place(&kept, pc, seq, &object);
		wrong += object && !is_right(pc, seq, place, object);
	} while (another_choice());
}

static void read_object(const struct profil_kept_range *range, u32 seq)
{
	u32 object;

	num_given = 0;
	do {
		begin_reader();
		object = profil_kept_object(&kept, range->start, range->bytes, range->base,
					    range->inode, seq);
		wrong += object && !is_right(range->start, seq, range->base, object);
	} while (another_choice());
}

static void read_all(void)
{
	static const u64 pcs[] = { 0x11800, 0x10000, 0x13fff, 0x20000, 0x50010 };

	for (u32 seq = 4; seq <= 6; seq += 2) {
		read_place(pcs[0], seq);
		/* Two changes have thousands of orders. */
		if (scenario->next[1].range.bytes)
			continue;
		for (unsigned int i = 1; i < sizeof(pcs) / sizeof(pcs[0]); i++)
			read_place(pcs[i], seq);
		read_object(&kept_first[0].range, seq);
		read_object(&scenario->next[0].range, seq);
	}
}

/* Whether store @i may be the next one that is visible. */
static bool may_be_next(unsigned int i)
{
	if (stores[i].moment)
		return false;
	for (unsigned int j = 0; j < num_stores; j++)
		if (!stores[j].moment && (stores[j].epoch < stores[i].epoch ||
					  (j < i && stores[j].place == stores[i].place)))
			return false;
	return true;
}

static void read_in_all_orders(unsigned int moment)
{
	if (moment > num_stores)
		read_all();
	for (unsigned int i = 0; i < num_stores; i++) {
		if (!may_be_next(i))
			continue;
		stores[i].moment = moment;
		read_in_all_orders(moment + 1);
		stores[i].moment = 0;
	}
}

static void keep(const struct mapping *mapping)
{
	if (mapping->range.bytes)
		profil_kept_write(&kept, &mapping->range, mapping->seq, &owner, &mms[0]);
}

static void try_scenario(const struct scenario *which)
{
	scenario = which;
	num_stores = 0;
	memset(&kept, 0, sizeof(kept));
	for (unsigned int i = 0; i < PROFIL_KEPT; i++)
		keep(&kept_first[i]);
	/* That is long ago. */
	num_stores = 0;
	epoch = 0;
	if (scenario->forget)
		profil_kept_forget(&kept);
	keep(&scenario->next[0]);
	keep(&scenario->next[1]);
	read_in_all_orders(1);
}

/* The number of runs in which a place was that of no mapping. */
static unsigned long wrong_without(enum guard guard)
{
	without = guard;
	runs = 0;
	wrong = 0;
	for (unsigned int i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
		unsigned long before = wrong;

		try_scenario(&scenarios[i]);
		if (wrong > before)
			printf("# without %s, %s: %lu\n", guard_names[guard], scenarios[i].name,
			       wrong - before);
		/* one is enough to say that it is needed */
		if (wrong && guard != NONE)
			break;
	}
	printf("# without %s: %lu of %lu runs\n", guard_names[guard], wrong, runs);
	return wrong;
}

static bool a_place_is_of_one_mapping(void)
{
	return !wrong_without(NONE);
}

static bool each_guard_is_needed(void)
{
	for (enum guard guard = NONE + 1; guard < GUARDS; guard++)
		TAP_CHECK(wrong_without(guard));
	return true;
}

/* A look that comes so late that the member is another process, or image, keeps nothing. */
static bool a_range_of_another_mm_is_not_kept(void)
{
	const struct profil_kept_range range = { .start = 1, .bytes = 1, .object = 4 };
	struct profil_kept_range found;

	profil_kept_write(&kept, &range, 2, &owner, &mms[1]);
	profil_kept_find(&kept, 1, &found);
	TAP_CHECK(!found.bytes);
	profil_kept_write(&kept, &range, 2, &owner, &mms[0]);
	profil_kept_find(&kept, 1, &found);
	TAP_CHECK(found.bytes == 1 && found.object == 4);
	return true;
}

/* Ticks look for a mapping by where it begins: there only what is still kept is to be found. */
static bool a_range_that_is_gone_hides_none(void)
{
	const struct profil_kept_range half[] = {
		{ .start = 0x10000, .bytes = 0x1000, .base = 0x10000, .object = 2 },
		{ .start = 0x11000, .bytes = 0x1000, .base = 0x11000, .object = 2 },
	}, whole = { .start = 0x10000, .bytes = 0x2000, .base = 0x10000, .object = 2 };

	profil_kept_write(&kept, &half[0], 2, &owner, &mms[0]);
	profil_kept_write(&kept, &half[1], 2, &owner, &mms[0]);
	profil_kept_write(&kept, &whole, 4, &owner, &mms[0]);
	TAP_CHECK(profil_kept_object(&kept, whole.start, whole.bytes, whole.base, NULL, 4) == 2);
	return true;
}

int main(void)
{
	tap_fork(a_place_is_of_one_mapping, "a kept place is of one mapping, in each order");
	tap_fork(each_guard_is_needed, "and without any guard it is not");
	tap_fork(a_range_of_another_mm_is_not_kept, "a range of another address space is not kept");
	tap_fork(a_range_that_is_gone_hides_none, "a range that is gone hides none that is kept");
	return tap_plan();
}
