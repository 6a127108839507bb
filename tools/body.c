// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>
#include "body.h"
#include "function.h"
#include "order.h"
#include "say.h"

bool row_has(struct profile *profile, const struct row *row, const struct place *place)
{
	const struct object *object = &profile->objects[place->object];

	return object->file == row->object && object->build_id == row->build_id &&
		place_name(profile, place) == row->name;
}

void cost_add(struct cost *sum, const struct cost *cost)
{
	add(&sum->samples, cost->samples);
	add(&sum->cpu_ns, cost->cpu_ns);
	add(&sum->user_ns, cost->user_ns);
	add(&sum->system_ns, cost->system_ns);
}

static int by_number(const void *a, const void *b)
{
	return compare_numbers(*(const uint64_t *)a, *(const uint64_t *)b);
}

/* The addresses of the function that have samples, ascending. */
static uint64_t *find_addresses(struct profile *profile, const struct row *row, size_t *num)
{
	uint64_t *addresses = allocated(calloc(profile->num_places + 1, sizeof(*addresses)));

	*num = 0;
	for (size_t i = 0; i < profile->num_places; i++)
		if (row_has(profile, row, &profile->places[i]))
			addresses[(*num)++] = profile->places[i].address;
	if (*num)
		qsort(addresses, *num, sizeof(*addresses), by_number);
	return addresses;
}

static bool take_range(struct profile *profile, struct told *told, struct body *body)
{
	struct range range = { .first = body->num_steps };

	if (!told_string(told, profile, &range.name) || !told_number(told, &range.start) ||
	    !told_number(told, &range.end) || !told_string(told, profile, &range.source) ||
	    !told_number(told, &range.line) || range.end <= range.start ||
	    (body->num_ranges && body->ranges[body->num_ranges - 1].end > range.start))
		return false;
	body->ranges = more(body->ranges, &body->room_ranges, body->num_ranges, sizeof(range));
	body->ranges[body->num_ranges++] = range;
	return true;
}

static bool take_step(struct profile *profile, struct told *told, struct body *body)
{
	const struct range *range = body->num_ranges ? &body->ranges[body->num_ranges - 1] : NULL;
	struct step step = { 0 };

	if (!told_number(told, &step.address) || !told_string(told, profile, &step.text) ||
	    !told_number(told, &step.target) || !told_number(told, &step.jumps) ||
	    !told_string(told, profile, &step.source) || !told_number(told, &step.line) ||
	    !told_string(told, profile, &step.inlined) || !range ||
	    step.address < range->start || step.address >= range->end ||
	    (body->num_steps > range->first &&
	     body->steps[body->num_steps - 1].address >= step.address))
		return false;
	body->steps = more(body->steps, &body->room_steps, body->num_steps, sizeof(step));
	body->steps[body->num_steps++] = step;
	return true;
}

bool body_take(struct profile *profile, struct told *told, struct body *body)
{
	const char *none = profile_string(profile, "");
	bool good;

	*body = (struct body) { .build_id = none, .missing = none };
	good = told_string(told, profile, &body->build_id) &&
		told_string(told, profile, &body->missing);
	while (good) {
		const char *kind = told_text(told);

		if (kind && !strcmp(kind, "end"))
			break;
		good = kind && (!strcmp(kind, "range") ? take_range(profile, told, body) :
				!strcmp(kind, "code") && take_step(profile, told, body));
	}
	return good;
}

/* The last range that begins at the address or below, if it reaches so far. */
static const struct range *find_range(const struct body *body, uint64_t address)
{
	size_t num = UP_TO(body->ranges, body->num_ranges, start, address);

	return num && body->ranges[num - 1].end > address ? &body->ranges[num - 1] : NULL;
}

/* The instruction that has the address, which need not be its first byte. */
static struct step *find_step(const struct body *body, uint64_t address)
{
	const struct range *range = find_range(body, address);
	size_t num = UP_TO(body->steps, body->num_steps, address, address);

	return range && num > range->first ? &body->steps[num - 1] : NULL;
}

static void add_samples(struct profile *profile, const struct row *row, struct body *body)
{
	for (size_t i = 0; i < profile->num_samples; i++) {
		const struct sample *sample = &profile->samples[i];
		const struct place *place = &profile->places[sample->place];
		struct cost cost = {
			sample->samples, sample->cpu_ns, sample->user_ns, sample->system_ns,
		};
		struct step *step;

		if (!row_has(profile, row, place))
			continue;
		step = find_step(body, place->address);
		cost_add(step ? &step->cost : &body->elsewhere, &cost);
		cost_add(&body->sum, &cost);
	}
}

bool body_read(struct profile *profile, const struct row *row, int fd, const char *path,
	       struct body *body)
{
	struct function_wish wish = { .path = path };
	uint64_t *addresses = find_addresses(profile, row, &wish.num);
	struct told told;
	bool good;

	wish.addresses = addresses;
	reader_run(fd, (struct reader_how) { .fetch = true }, function_tell, &wish, &told);
	good = body_take(profile, &told, body);
	if (good)
		add_samples(profile, row, body);
	else
		say("%s could not be read (%s); profil report --by address shows its addresses",
		    path, told.failure ? told.failure : "its reader failed");
	free(told.texts);
	free(addresses);
	return good;
}

bool body_has(const struct body *body, uint64_t address)
{
	return find_range(body, address);
}

void body_free(struct body *body)
{
	free(body->ranges);
	free(body->steps);
}
