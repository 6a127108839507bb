// SPDX-License-Identifier: GPL-2.0-only
/* From the tables of a session to a profile with names. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <time.h>
#include "command.h"
#include "gather.h"
#include "jit.h"
#include "kernel.h"
#include "names.h"
#include "objects.h"
#include "order.h"
#include "say.h"

/* An object with fewer samples than this part of all is not worth a download. */
#define FETCH_FROM 100

/* Slots of one object; of one process as well where the places are addresses. */
struct group {
	const struct profil_slot *slots;
	size_t num;
	uint64_t samples;
};

struct gathering {
	struct session *session;
	struct profile *profile;
	struct session_table table;
	struct group *groups;
	size_t num, room;
	uint64_t samples;
	time_t began;
};

/* Addresses mean something in their process alone. */
static uint32_t own_process(const struct profil_slot *slot)
{
	return slot->object < PROFIL_OBJECT_VDSO ? slot->process : 0;
}

static int by_place(const void *a, const void *b)
{
	const struct profil_slot *x = a, *y = b;

	return compare_numbers(x->object, y->object) ?:
		compare_numbers(own_process(x), own_process(y)) ?:
		compare_numbers(x->place, y->place) ?:
		compare_numbers(x->process, y->process);
}

/* The hottest first: who waits for names gets the ones that matter. */
static int by_heat(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	return compare_numbers(y->samples, x->samples) ?: by_place(x->slots, y->slots);
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * Ticks in the kernel are in two slots: that of the place which the kernel returns to, and
 * that of the place where it was.  The second one keeps them, also those that had no first
 * one, because they were in exec, or the table was full.
 */
static void keep_kernel(struct session_table *table)
{
	struct profil_session_page *page = &table->page;
	uint64_t moved = 0, found = 0, rest;
	size_t num = 0;

	for (size_t i = 0; i < table->num_slots; i++) {
		struct profil_slot slot = table->slots[i];

		if (slot.object == PROFIL_OBJECT_KERNEL) {
			found += slot.system;
		} else {
			moved += slot.system;
			slot.system = 0;
		}
		if (slot.user || slot.system)
			table->slots[num++] = slot;
	}
	table->num_slots = num;
	rest = moved + page->exec + page->full - found;
	page->full = page->full_kernel + smaller(page->full, rest - page->full_kernel);
	page->full_objects = smaller(page->full_objects, page->full - page->full_kernel);
	page->exec = rest - page->full;
}

static void make_groups(struct gathering *gathering)
{
	struct session_table *table = &gathering->table;
	struct group *group = NULL;

	if (table->num_slots)
		qsort(table->slots, table->num_slots, sizeof(*table->slots), by_place);
	for (size_t i = 0; i < table->num_slots; i++) {
		const struct profil_slot *slot = &table->slots[i];

		if (!group || group->slots->object != slot->object ||
		    own_process(group->slots) != own_process(slot)) {
			gathering->groups = more(gathering->groups, &gathering->room,
						 gathering->num, sizeof(*group));
			group = &gathering->groups[gathering->num++];
			*group = (struct group) { .slots = slot };
		}
		group->num++;
		group->samples += slot->user + slot->system;
		gathering->samples += slot->user + slot->system;
	}
	if (gathering->num)
		qsort(gathering->groups, gathering->num, sizeof(*group), by_heat);
}

/* One place of each address, in this order. */
static struct place *make_places(struct profile *profile, const struct group *group, size_t *num)
{
	struct place *places = allocated(calloc(group->num, sizeof(*places)));
	const char *none = profile_string(profile, "");

	*num = 0;
	for (size_t i = 0; i < group->num; i++)
		if (!i || group->slots[i].place != group->slots[i - 1].place)
			places[(*num)++] = (struct place) {
				.address = group->slots[i].place,
				.function = none, .symbol = none, .source = none,
			};
	return places;
}

static const struct profil_process *process_of(const struct gathering *gathering, uint32_t index)
{
	static const struct profil_process nobody;

	if (index >= gathering->table.num_processes)
		return &nobody;
	return &gathering->table.processes[index];
}

static void add_samples(struct gathering *gathering, const struct group *group, size_t place)
{
	struct profile *profile = gathering->profile;

	for (size_t i = 0; i < group->num; i++) {
		const struct profil_slot *slot = &group->slots[i];
		const struct profil_process *process = process_of(gathering, slot->process);

		if (i && slot->place != slot[-1].place)
			place++;
		profile_add_sample(profile, (struct sample) {
			.place = place,
			.pid = slot->process ? process->pid : 0,
			.program = profile_string(profile, slot->process ? process->comm : ""),
			.samples = slot->user + slot->system,
			.cpu_ns = (slot->user + slot->system) * profile->period_ns,
			.user_ns = slot->user * profile->period_ns,
			.system_ns = slot->system * profile->period_ns,
		});
	}
}

static void add_kernel(struct gathering *gathering, const struct group *group)
{
	struct profile *profile = gathering->profile;
	size_t num, first = profile->num_places;
	struct place *places = make_places(profile, group, &num);

	kernel_find(profile, places, num);
	for (size_t i = 0; i < num; i++)
		profile_add_place(profile, places[i]);
	add_samples(gathering, group, first);
	free(places);
}

static void add_group(struct gathering *gathering, const struct group *group)
{
	struct profile *profile = gathering->profile;
	const struct profil_process *process = process_of(gathering, own_process(group->slots));
	struct object object = { .build_id = profile_string(profile, "") };
	size_t num, first = profile->num_places, index;
	struct place *places = make_places(profile, group, &num);
	bool fetch = group->samples >= gathering->samples / FETCH_FROM;
	int fd;
	char *path = object_open(gathering->session, group->slots->object, &fd);

	object.file = profile_string(profile, path);
	if (time(NULL) > gathering->began + 1)
		progress("names of %s, the rest has %zu objects", object.file,
			 gathering->groups + gathering->num - group);
	if (fd >= 0)
		names_find(profile, fd, path, fetch, &object, places, num);
	else if (process->pid)
		jit_find(profile, process->pid, places, num);
	index = profile_add_object(profile, object);
	for (size_t i = 0; i < num; i++) {
		/* pprof would make a name of its own */
		if (!places[i].function[0] && object.file[0] == '[')
			places[i].function = object.file;
		places[i].object = index;
		profile_add_place(profile, places[i]);
	}
	add_samples(gathering, group, first);
	free(places);
	free(path);
}

static void add_processes(struct gathering *gathering)
{
	struct profile *profile = gathering->profile;

	for (size_t i = 0; i < gathering->table.num_processes; i++) {
		const struct profil_process *process = &gathering->table.processes[i];

		add(&profile->counts[COUNT_TICKS], process->user + process->system);
		if (i || process->user || process->system)
			profile_add_process(profile, (struct process) {
				.pid = process->pid,
				.parent = process_of(gathering, process->parent)->pid,
				.images = process->images,
				.samples = process->user + process->system,
				.user_ns = process->user * profile->period_ns,
				.system_ns = process->system * profile->period_ns,
				.program = profile_string(profile, i ? process->comm : "others"),
			});
	}
}

static void add_facts(struct profile *profile)
{
	struct utsname machine;
	char *fact;

	profile_add_fact(profile, "profil " VERSION);
	if (uname(&machine))
		return;
	if (asprintf(&fact, "host %s, %s %s, %s", machine.nodename, machine.sysname,
		     machine.release, machine.machine) < 0)
		allocated(NULL);
	profile_add_fact(profile, fact);
	free(fact);
}

void gather(struct session *session, bool kernel, struct profile *profile)
{
	struct gathering gathering = {
		.session = session, .profile = profile, .began = time(NULL),
	};
	const struct profil_session_page *page = &gathering.table.page;

	profile->period_ns = session_period_ns(session);
	profile->files = 1;
	session_read(session, &gathering.table);
	if (kernel)
		keep_kernel(&gathering.table);
	make_groups(&gathering);
	for (size_t i = 0; i < gathering.num; i++)
		if (gathering.groups[i].slots->object == PROFIL_OBJECT_KERNEL)
			add_kernel(&gathering, &gathering.groups[i]);
		else
			add_group(&gathering, &gathering.groups[i]);
	progress(NULL);
	profile->counts[COUNT_IN_SLOTS] = gathering.samples;
	profile->counts[COUNT_EXEC] = page->exec;
	profile->counts[COUNT_FULL] = page->full;
	profile->counts[COUNT_NOT_DUE] = page->not_due;
	profile->counts[COUNT_FULL_OBJECTS] = page->full_objects;
	profile->counts[COUNT_HINTED] = page->hinted;
	profile->counts[COUNT_BORROWED] = page->borrowed;
	profile->counts[COUNT_EXECS_DENIED] = page->execs_denied;
	profile->counts[COUNT_FORKS_MISSED] = page->forks_missed;
	add_processes(&gathering);
	add_facts(profile);
	free(gathering.groups);
	free(gathering.table.slots);
	free(gathering.table.processes);
}
