// SPDX-License-Identifier: GPL-2.0-only
/* A session while it counts.  The memory that this takes is bounded by its tables. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <unistd.h>
#include "clock.h"
#include "counts.h"
#include "live.h"
#include "objects.h"
#include "owners.h"
#include "say.h"

#define UNITS 1		/* seconds after which new units are looked for */

void live_init(struct live *live, struct session *session, bool kernel, struct units *units)
{
	*live = (struct live) { .session = session, .kernel = kernel, .units = units };
	live->cpus = units ? sysconf(_SC_NPROCESSORS_ONLN) : 1;
	profile_init(&live->profile);
	live->profile.period_ns = session_period_ns(session);
	live->profile.files = 1;
	live->known = allocated(calloc(counts_slots(session) + 1, sizeof(*live->known)));
	live->began = units ? session_began_ns(session) / 1e9 : clock_now();
	live->zero = live->began;
	live->read = live->began;
	live->before = live->began;
}

static size_t add_object(struct live *live, struct origin origin, const char *file)
{
	struct profile *profile = &live->profile;

	live->origins = more(live->origins, &live->room_origins, profile->num_objects,
			     sizeof(*live->origins));
	live->origins[profile->num_objects] = origin;
	return profile_add_object(profile, (struct object) {
		.file = file, .build_id = profile_string(profile, ""),
	});
}

static size_t find_object(struct live *live, const struct profil_slot *slot)
{
	struct origin origin = { slot->object, counts_own_process(slot) };
	size_t object;
	char *path;
	int fd;

	for (size_t i = 0; i < live->profile.num_objects; i++)
		if (live->origins[i].object == origin.object &&
		    live->origins[i].process == origin.process)
			return i;
	path = object_open(live->session, slot->object, &fd);
	if (fd >= 0)
		close(fd);
	object = add_object(live, origin, profile_string(&live->profile, path));
	free(path);
	return object;
}

size_t live_object(struct live *live, const char *file)
{
	const struct profile *profile = &live->profile;

	file = profile_string(&live->profile, file);
	for (size_t i = 0; i < profile->num_objects; i++)
		if (profile->objects[i].file == file)
			return i;
	return add_object(live, (struct origin) { PROFIL_OBJECT_FREE, 0 }, file);
}

/* A sample for a slot that had none, at a place of its own. */
static size_t add_sample(struct live *live, const struct profil_slot *slot)
{
	struct profile *profile = &live->profile;
	const char *none = profile_string(profile, "");
	size_t object = find_object(live, slot);

	profile_add_place(profile, (struct place) {
		.object = object, .address = slot->place,
		.function = slot->place == PROFIL_PLACE_OTHERS ?
			profile_elsewhere(profile, profile->objects[object].file) : none,
		.symbol = none, .source = none,
	});
	live->slots = more(live->slots, &live->room_slots, profile->num_samples,
			   sizeof(*live->slots));
	live->slots[profile->num_samples] = (struct counted) { 0 };
	profile_add_sample(profile, (struct sample) {
		.place = profile->num_places - 1, .program = none,
	});
	return profile->num_samples - 1;
}

/* Returns how much there is now that was not there when it was looked at before. */
static uint64_t count(struct counted *counted, uint64_t user, uint64_t system)
{
	uint64_t more = user - counted->user + (system - counted->system);

	counted->user = user;
	counted->system = system;
	return more;
}

static uint64_t since_zero(const struct counted *counted)
{
	return counted->user - counted->zero_user + (counted->system - counted->zero_system);
}

/* What is of the machine has a unit, whose name may come later. */
static void name_process(struct live *live, size_t i, const struct profil_process *now)
{
	struct process *process = &live->profile.processes[i];
	struct owner owner;

	if (!live->units) {
		process->program = profile_string(&live->profile, i ? now->comm : "others");
		return;
	}
	owner = owner_of_row(&live->profile, now, !i, live->units);
	process->pid = owner.pid;
	process->program = owner.program;
	process->unit = owner.unit;
	process->container = owner.container;
	live->rows = more(live->rows, &live->room_rows, i, sizeof(*live->rows));
	live->rows[i] = *now;
}

/* Returns all ticks that it has by now. */
static uint64_t read_process(struct live *live, size_t i)
{
	struct profile *profile = &live->profile;
	struct profil_process now;
	struct counted *counted;
	struct process *process;

	counts_process(live->session, i, &now);
	if (i == profile->num_processes) {
		live->processes = more(live->processes, &live->room_processes, i,
				       sizeof(*live->processes));
		live->processes[i] = (struct counted) { 0 };
		profile_add_process(profile, (struct process) { .pid = i ? now.pid : 0 });
	}
	counted = &live->processes[i];
	process = &profile->processes[i];
	name_process(live, i, &now);
	process->recent = count(counted, now.user, now.system);
	process->samples = since_zero(counted);
	process->user_ns = (now.user - counted->zero_user) * profile->period_ns;
	process->system_ns = (now.system - counted->zero_system) * profile->period_ns;
	return now.user + now.system;
}

static void read_slot(struct live *live, uint32_t i, struct profil_slot *slot)
{
	struct profile *profile = &live->profile;
	struct counted *counted;
	struct sample *sample;

	/* the slots of the kernel's functions have these */
	if (live->kernel && slot->object != PROFIL_OBJECT_KERNEL)
		slot->system = 0;
	if (!live->known[i]) {
		if (!slot->user && !slot->system)
			return;
		live->known[i] = add_sample(live, slot) + 1;
	}
	counted = &live->slots[live->known[i] - 1];
	sample = &profile->samples[live->known[i] - 1];
	sample->recent = count(counted, slot->user, slot->system);
	sample->samples = since_zero(counted);
	sample->user_ns = (slot->user - counted->zero_user) * profile->period_ns;
	sample->system_ns = (slot->system - counted->zero_system) * profile->period_ns;
	sample->cpu_ns = sample->user_ns + sample->system_ns;
	/* its row may have come after the others were read */
	if ((slot->process || live->units) && slot->process < profile->num_processes) {
		const struct process *process = &profile->processes[slot->process];

		sample->pid = process->pid;
		sample->program = process->program;
		sample->unit = process->unit;
		sample->container = process->container;
	}
}

static void read_units(struct live *live)
{
	if (!live->units || clock_now() < live->units_read + UNITS)
		return;
	units_read(live->units, live->session);
	live->units_read = clock_now();
}

void live_read(struct live *live)
{
	uint32_t num_slots = counts_slots(live->session);
	size_t num_processes = counts_num_processes(live->session);
	struct profil_session_page page;
	struct profil_slot slot;
	uint64_t all, of_rows = 0;

	read_units(live);
	counts_page(live->session, &page);
	all = page.exec + page.full;
	for (size_t i = 0; i < num_processes; i++)
		of_rows += read_process(live, i);
	for (uint32_t i = 0; (i = counts_next_slot(live->session, i, &slot)) < num_slots; i++) {
		if (slot.object != PROFIL_OBJECT_KERNEL)
			all += slot.user + slot.system;
		read_slot(live, i, &slot);
	}
	/* of the machine also what is of kernel threads and interrupts */
	live->recent = count(&live->all, live->units ? of_rows : all, 0);
	live->samples = since_zero(&live->all);
	live->before = live->read;
	live->read = clock_now();
}

static void zero(struct counted *counted, size_t num)
{
	for (size_t i = 0; i < num; i++) {
		counted[i].zero_user = counted[i].user;
		counted[i].zero_system = counted[i].system;
	}
}

void live_zero(struct live *live)
{
	zero(live->slots, live->profile.num_samples);
	zero(live->processes, live->profile.num_processes);
	zero(&live->all, 1);
	live_read(live);
	live->zero = live->read;
}

pid_t live_maker(const struct live *live, size_t object)
{
	const struct origin *origin = &live->origins[object];
	size_t looks = OWNERS_LOOKS;

	if (!origin->process || origin->process >= live->profile.num_processes)
		return 0;
	if (!live->units)
		return live->profile.processes[origin->process].pid;
	return owner_is_alone(live->units, &live->rows[origin->process], &looks) ?
		(pid_t)live->rows[origin->process].pid : 0;
}

void live_free(struct live *live)
{
	free(live->rows);
	profile_free(&live->profile);
	free(live->origins);
	free(live->slots);
	free(live->processes);
	free(live->known);
}
