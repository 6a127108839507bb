// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of a live profile.  A child has a copy of it, asks for the places that have not
 * been asked for, object by object, and says what it learns: texts of place, object and
 * function, each with a NUL byte at its end.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "clock.h"
#include "jit.h"
#include "kernel.h"
#include "names.h"
#include "naming.h"
#include "objects.h"
#include "order.h"
#include "say.h"

#define PAUSE 4		/* times as long as it took: at most a fifth of a CPU */

/* Places of one object, in the order of their addresses. */
struct group {
	const size_t *places;
	size_t num;
	uint64_t samples;
};

struct question {
	struct live *live;
	size_t asked;
};

static const struct live *compared;

static int by_address(const void *a, const void *b)
{
	const struct place *x = &compared->profile.places[*(const size_t *)a];
	const struct place *y = &compared->profile.places[*(const size_t *)b];

	return compare_numbers(x->object, y->object) ?: compare_numbers(x->address, y->address);
}

static int by_heat(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	return compare_numbers(y->samples, x->samples) ?: by_address(x->places, y->places);
}

/* Code that is made at run time may get its name later. */
static bool to_be_asked(const struct question *question, size_t i)
{
	const struct place *place = &question->live->profile.places[i];
	uint32_t object = question->live->origins[place->object].object;

	if (place->address == PROFIL_PLACE_OTHERS)
		return false;
	return i >= question->asked ||
		(object == PROFIL_OBJECT_ANONYMOUS && !place->function[0]);
}

static void find(struct live *live, const struct group *group, struct place *places)
{
	struct profile *profile = &live->profile;
	const struct origin *origin = &live->origins[places->object];
	struct object object = profile->objects[places->object];
	bool fetch = names_fetched(group->samples, live->samples);
	pid_t maker = live_maker(live, places->object);
	char *path;
	int fd;

	if (origin->object == PROFIL_OBJECT_KERNEL) {
		kernel_find(profile, places, group->num);
		return;
	}
	path = object_open(live->session, origin->object, &fd);
	if (fd >= 0)
		names_find_functions(profile, fd, path, fetch, &object, places, group->num);
	else if (maker)
		jit_find(profile, maker, places, group->num);
	free(path);
}

static void answer(struct live *live, const struct group *group, FILE *out)
{
	struct place *places = allocated(calloc(group->num, sizeof(*places)));

	for (size_t i = 0; i < group->num; i++)
		places[i] = live->profile.places[group->places[i]];
	find(live, group, places);
	for (size_t i = 0; i < group->num; i++)
		fprintf(out, "%zu%c%s%c%s%c", group->places[i], 0,
			live->profile.objects[places[i].object].file, 0, places[i].function, 0);
	fflush(out);
	free(places);
}

/* The child's. */
static void work(void *data, FILE *out)
{
	const struct question *question = data;
	struct live *live = question->live;
	const struct profile *profile = &live->profile;
	size_t *places = allocated(calloc(profile->num_places + 1, sizeof(*places)));
	struct group *groups = allocated(calloc(profile->num_objects + 1, sizeof(*groups)));
	size_t num = 0, num_groups = 0;

	for (size_t i = 0; i < profile->num_places; i++)
		if (to_be_asked(question, i))
			places[num++] = i;
	compared = live;
	qsort(places, num, sizeof(*places), by_address);
	for (size_t i = 0; i < num; i++) {
		size_t object = profile->places[places[i]].object;

		if (!i || object != profile->places[places[i - 1]].object)
			groups[num_groups++].places = &places[i];
		groups[num_groups - 1].num++;
		groups[num_groups - 1].samples += profile->samples[places[i]].samples;
	}
	qsort(groups, num_groups, sizeof(*groups), by_heat);
	for (size_t i = 0; i < num_groups; i++)
		answer(live, &groups[i], out);
	free(groups);
	free(places);
}

void naming_init(struct naming *naming)
{
	*naming = (struct naming) { .helper.fd = -1 };
}

void naming_start(struct naming *naming, struct live *live)
{
	struct question question = { live, naming->asked };

	if (naming->helper.pid || naming->asked == live->profile.num_places ||
	    clock_now() < naming->pause)
		return;
	naming->asking = live->profile.num_places;
	naming->taken = 0;
	naming->began = clock_now();
	helper_start(&naming->helper, work, &question, false);
}

/* One text, or NULL if its end has not come yet. */
static const char *next(struct naming *naming)
{
	const struct helper *helper = &naming->helper;
	const char *text = helper->text + naming->taken;
	const char *nul = memchr(text, '\0', helper->length - naming->taken);

	naming->taken = nul ? (size_t)(nul + 1 - helper->text) : helper->length;
	return nul ? text : NULL;
}

static bool take_one(struct naming *naming, struct live *live)
{
	struct profile *profile = &live->profile;
	size_t before = naming->taken;
	const char *index = next(naming), *object = next(naming), *function = next(naming);
	struct place *place;
	size_t i;

	if (!index || !object || !function) {
		naming->taken = before;
		return false;
	}
	i = strtoull(index, NULL, 10);
	if (i >= profile->num_places)
		return true;
	place = &profile->places[i];
	if (strcmp(object, profile->objects[place->object].file))
		place->object = live_object(live, object);
	place->function = profile_string(profile, function);
	return true;
}

bool naming_take(struct naming *naming, struct live *live)
{
	bool ended, any = false;

	if (!naming->helper.pid)
		return false;
	ended = helper_read(&naming->helper);
	while (take_one(naming, live))
		any = true;
	if (ended) {
		helper_end(&naming->helper);
		/* what it could not find is not asked for again */
		naming->asked = naming->asking;
		naming->pause = clock_now() + PAUSE * (clock_now() - naming->began);
	}
	return any;
}

void naming_end(struct naming *naming)
{
	if (naming->helper.pid)
		helper_end(&naming->helper);
}
