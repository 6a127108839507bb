// SPDX-License-Identifier: GPL-2.0-only
/* From the tables of a session to a profile with names. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "counts.h"
#include "facts.h"
#include "gather.h"
#include "jit.h"
#include "kernel.h"
#include "names.h"
#include "objects.h"
#include "order.h"
#include "owners.h"
#include "reader.h"
#include "say.h"

#define LINES_FROM 10	/* samples, which are worth a long look for their lines */

/* Parts of slots of one object; of one process as well where the places are addresses. */
struct group {
	const struct part *parts;
	size_t num;
	uint64_t samples;
};

struct gathering {
	struct session *session;
	struct profile *profile;
	struct units *units;	/* or NULL */
	struct counts table;
	struct owner *owners;	/* of the rows */
	struct part *parts;
	size_t num_parts;
	struct group *groups;
	size_t num, room;
	uint64_t samples;
	uint64_t placed;	/* of these, as in enum count */
	size_t looks;		/* that owners.h has left */
	time_t began;
};

static int by_place(const void *a, const void *b)
{
	const struct profil_slot *x = &((const struct part *)a)->slot;
	const struct profil_slot *y = &((const struct part *)b)->slot;

	return compare_numbers(x->object, y->object) ?:
		compare_numbers(counts_own_process(x), counts_own_process(y)) ?:
		compare_numbers(x->place, y->place) ?:
		compare_numbers(x->process, y->process);
}

/* The hottest first: who waits for names gets the ones that matter. */
static int by_heat(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	return compare_numbers(y->samples, x->samples) ?: by_place(x->parts, y->parts);
}

static void make_groups(struct gathering *gathering)
{
	struct part *parts = gathering->parts;
	struct group *group = NULL;

	if (gathering->num_parts)
		qsort(parts, gathering->num_parts, sizeof(*parts), by_place);
	for (size_t i = 0; i < gathering->num_parts; i++) {
		const struct profil_slot *slot = &parts[i].slot;

		if (!group || group->parts->slot.object != slot->object ||
		    counts_own_process(&group->parts->slot) != counts_own_process(slot)) {
			gathering->groups = more(gathering->groups, &gathering->room,
						 gathering->num, sizeof(*group));
			group = &gathering->groups[gathering->num++];
			*group = (struct group) { .parts = &parts[i] };
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
		if (!i || group->parts[i].slot.place != group->parts[i - 1].slot.place)
			places[(*num)++] = (struct place) {
				.address = group->parts[i].slot.place,
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

/* What samples of a row are labelled with; row 0 is that of no process. */
static const struct owner *owner_of(const struct gathering *gathering, uint32_t index)
{
	return &gathering->owners[index < gathering->table.num_processes ? index : 0];
}

static void add_samples(struct gathering *gathering, const struct group *group, size_t place)
{
	struct profile *profile = gathering->profile;

	for (size_t i = 0; i < group->num; i++) {
		const struct profil_slot *slot = &group->parts[i].slot;
		const struct owner *owner = owner_of(gathering, slot->process);

		if (i && slot->place != group->parts[i - 1].slot.place)
			place++;
		profile_add_sample(profile, (struct sample) {
			.place = place,
			.pid = owner->pid,
			.program = owner->program,
			.unit = owner->unit,
			.container = owner->container,
			.run = profile->num_runs - 1,
			.at_ns = group->parts[i].at_ns,
			.samples = slot->user + slot->system,
			.cpu_ns = (slot->user + slot->system) * profile->period_ns,
			.user_ns = slot->user * profile->period_ns,
			.system_ns = slot->system * profile->period_ns,
		});
	}
}

/* The last place may be that of all for which there was no room: it has no address. */
static size_t without_others(const struct place *places, size_t num)
{
	return num && places[num - 1].address == PROFIL_PLACE_OTHERS ? num - 1 : num;
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
	const struct profil_slot *slot = &group->parts->slot;
	const struct profil_process *process = process_of(gathering, counts_own_process(slot));
	struct object object = { .build_id = profile_string(profile, "") };
	size_t num, first = profile->num_places, index, known;
	struct place *places = make_places(profile, group, &num);
	bool fetch = names_fetched(group->samples, gathering->samples);
	bool few = group->samples < LINES_FROM;
	int fd;
	char *path = object_open(gathering->session, slot->object, &fd);

	object.file = profile_string(profile, path);
	if (time(NULL) > gathering->began + 1)
		progress("names of %s, the rest has %zu objects", object.file,
			 gathering->groups + gathering->num - group);
	known = without_others(places, num);
	if (fd >= 0)
		names_find(profile, fd, path, fetch, few, &object, places, known);
	else if (process->pid && (!gathering->units ||
				  owner_is_alone(gathering->units, process, &gathering->looks)))
		jit_find(profile, process->pid, places, known);
	if (known < num) {
		places[known].address = 0;
		places[known].function = profile_elsewhere(profile, object.file);
	}
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
				.pid = i ? gathering->owners[i].pid : process->pid,
				.parent = process_of(gathering, process->parent)->pid,
				.images = process->images,
				.samples = process->user + process->system,
				.user_ns = process->user * profile->period_ns,
				.system_ns = process->system * profile->period_ns,
				.program = i || gathering->units ? gathering->owners[i].program :
					profile_string(profile, "others"),
				.unit = gathering->owners[i].unit,
				.container = gathering->owners[i].container,
			});
	}
}

static void add_counts(struct gathering *gathering)
{
	const struct profil_session_page *page = &gathering->table.page;
	uint64_t *counts = gathering->profile->counts;

	add(&counts[COUNT_IN_SLOTS], gathering->samples - gathering->placed);
	add(&counts[COUNT_EXEC], page->exec);
	add(&counts[COUNT_FULL], page->full);
	add(&counts[COUNT_NOT_DUE], page->not_due);
	add(&counts[COUNT_FULL_OBJECTS], page->full_objects);
	add(&counts[COUNT_HINTED], page->hinted);
	add(&counts[COUNT_BORROWED], page->borrowed);
	add(&counts[COUNT_EXECS_DENIED], page->execs_denied);
	add(&counts[COUNT_FORKS_MISSED], page->forks_missed);
	add(&counts[COUNT_TICKS], page->idle);
	add(&counts[COUNT_IDLE], page->idle);
	add(&counts[COUNT_KTHREADS], page->kthreads);
	add(&counts[COUNT_INTERRUPTS], page->interrupts);
	add(&counts[COUNT_PLACED], gathering->placed);
}

/* Of which nobody used what is in no other class. */
static void add_cpus(struct profile *profile)
{
	const struct run *run = &profile->runs[profile->num_runs - 1];
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	add(&profile->counts[COUNT_CPUS_NS], (run->to_ns - run->from_ns) * (cpus > 0 ? cpus : 1));
}

void gather(struct session *session, const struct slices *slices, bool kernel,
	    struct units *units, struct profile *profile)
{
	struct gathering gathering = {
		.session = session, .profile = profile, .units = units, .began = time(NULL),
		.looks = OWNERS_LOOKS,
	};

	profile->period_ns = session_period_ns(session);
	if (!profile->files)
		facts_add(profile);
	profile->files = 1;
	if (units)
		units_read(units, session);
	counts_read(session, &gathering.table);
	gathering.owners = owners_make(profile, &gathering.table, units);
	gathering.parts = slices_parts(slices, &gathering.num_parts);
	if (kernel)
		gathering.placed = kernel_keep(&gathering.table.page, gathering.parts,
					       &gathering.num_parts);
	make_groups(&gathering);
	for (size_t i = 0; i < gathering.num; i++)
		if (gathering.groups[i].parts->slot.object == PROFIL_OBJECT_KERNEL)
			add_kernel(&gathering, &gathering.groups[i]);
		else
			add_group(&gathering, &gathering.groups[i]);
	progress(NULL);
	if (reader_ended())
		say("a signal ended the reading of names; profil report --names=/ looks for those that are missing");
	add_counts(&gathering);
	add_processes(&gathering);
	if (units)
		add_cpus(profile);
	free(gathering.owners);
	free(gathering.groups);
	free(gathering.parts);
	free(gathering.table.processes);
}
