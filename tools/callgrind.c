// SPDX-License-Identifier: GPL-2.0-only
/* A profile as callgrind writes one: costs of addresses and lines, below their function. */
#include <inttypes.h>
#include "command.h"
#include "formats.h"

/* What the lines that follow are about; NULL: not yet said.  Equal texts have one address. */
struct about {
	size_t object;
	const char *source, *function;
};

static void put_about(struct profile *profile, const struct place *place, struct about *said,
		      FILE *out)
{
	const char *function = place_name(profile, place);
	bool new = !said->function || said->object != place->object;

	if (new)
		fprintf(out, "ob=%s\n", profile->objects[place->object].file);
	new |= said->source != place->source;
	if (new)
		fprintf(out, "fl=%s\n", place->source[0] ? place->source : "???");
	if (new || said->function != function)
		fprintf(out, "fn=%s\n", function);
	*said = (struct about) { place->object, place->source, function };
}

void callgrind_write(struct profile *profile, FILE *out)
{
	struct about said = { 0 };
	struct sample sum = { 0 };

	fprintf(out, "# callgrind format\nversion: 1\ncreator: profil %s\ncmd: %s\n"
		"positions: instr line\n"
		"event: User : user mode, ns\nevent: System : in the kernel, ns\n"
		"events: Samples User System\n\n", VERSION, profile->command);
	for (size_t i = 0; i < profile->num_samples;) {
		struct sample sample = next_place(profile, &i);
		const struct place *place = &profile->places[sample.place];

		put_about(profile, place, &said, out);
		fprintf(out, "0x%" PRIx64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
			place->address, place->line, sample.samples, sample.user_ns,
			sample.system_ns);
		add(&sum.samples, sample.samples);
		add(&sum.user_ns, sample.user_ns);
		add(&sum.system_ns, sample.system_ns);
	}
	fprintf(out, "\ntotals: %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", sum.samples, sum.user_ns,
		sum.system_ns);
}
