// SPDX-License-Identifier: GPL-2.0-only
/* What the formats of other programs have in common, and the least of them. */
#include <inttypes.h>
#include "formats.h"
#include "order.h"
#include "say.h"
#include "table.h"

struct sample next_place(const struct profile *profile, size_t *i)
{
	struct sample sum = profile->samples[*i];

	while (++*i < profile->num_samples && profile->samples[*i].place == sum.place) {
		const struct sample *sample = &profile->samples[*i];

		add(&sum.samples, sample->samples);
		add(&sum.cpu_ns, sample->cpu_ns);
		add(&sum.user_ns, sample->user_ns);
		add(&sum.system_ns, sample->system_ns);
	}
	return sum;
}

uint64_t one_period(const struct profile *profile, const char *format)
{
	if (!profile->period_ns)
		die("the files were made at different rates, and %s has one; export them one by one",
		    format);
	return profile->period_ns;
}

/* A semicolon ends a level. */
static void put_level(const char *name, char end, FILE *out)
{
	for (; *name; name++)
		putc(*name == ';' ? ':' : *name, out);
	putc(end, out);
}

void collapsed_write(struct profile *profile, FILE *out)
{
	struct table table;

	table_make(profile, BY_FUNCTION, &table);
	for (size_t i = 0; i < table.num; i++) {
		put_level(table.rows[i].object, ';', out);
		put_level(table.rows[i].name, ' ', out);
		fprintf(out, "%" PRIu64 "\n", table.rows[i].samples);
	}
	table_free(&table);
}
