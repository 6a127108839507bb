// SPDX-License-Identifier: GPL-2.0-only
/* What a program is: genes, made from its name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

static const struct op ops[] = {
	/* What is cheap is done more often. */
	{ "start", 53, op_start },
	{ "other command", 50, op_other_command },
	{ "mmap", 12, op_mmap },
	{ "munmap", 8, op_munmap },
	{ "mprotect", 10, op_mprotect },
	{ "madvise", 10, op_madvise },
	{ "mremap", 8, op_mremap },
	{ "touch", 6, op_touch },
	{ "truncate", 2, op_truncate },
	{ "anchor", 8, op_anchor },
	{ "descriptor", 4, op_descriptor },
	{ "pass", 4, op_pass },
	{ "userfault", 2, op_userfault },
	{ "timer", 2, op_timer },
	{ "signal", 3, op_signal },
	{ "move", 2, op_move },
	{ "burn", 3, op_burn },
	{ "fork", 3, op_fork },
	{ "birth", 2, op_birth },
	{ "session", 10, op_session },
	{ "join", 10, op_join },
	{ "attach", 12, op_attach },
	{ "object", 10, op_object },
	{ "table", 10, op_table },
	{ "other of session", 8, op_other_of_session },
	{ "member", 4, op_member },
};

#define WEIGHTS	256	/* at most the sum; a gene's lowest byte chooses */

const struct op *op_of(u64 gene)
{
	unsigned int i, at = gene % WEIGHTS;

	for (i = 0; at >= ops[i].weight; i++)
		at -= ops[i].weight;
	return &ops[i];
}

/* How a program comes from its name. */
static void mutate(struct program *p, u64 number)
{
	u64 rng = scatter(number);
	int i, n = 1 + next(&rng) % 4;

	for (i = 0; i < n; i++) {
		int thread = next(&rng) % p->threads;
		int *genes = &p->genes[thread];
		u64 *gene = &p->gene[thread][next(&rng) % *genes];
		u64 *last = &p->gene[thread][*genes - 1];

		switch (next(&rng) >> 32 & 7) {
		case 0:	/* another operation */
			*gene = (*gene & ~0xffULL) | (next(&rng) & 0xff);
			break;
		case 1:	/* the same, done otherwise */
		case 2:
			*gene = (*gene & 0xff) | (next(&rng) & ~0xffULL);
			break;
		case 3:	/* one more */
			if (*genes < GENES)
				p->gene[thread][(*genes)++] = next(&rng);
			break;
		case 4:	/* one less */
			if (*genes > 1) {
				*gene = *last;
				--*genes;
			}
			break;
		case 5:	/* what another thread does */
			*gene = p->gene[next(&rng) % p->threads][0];
			break;
		default:
			*gene = next(&rng);
		}
	}
}

void make_program(struct program *p, const struct name *name)
{
	u64 rng = scatter(name->part[0]);
	int i, j;

	memset(p, 0, sizeof(*p));
	p->threads = 1 + next(&rng) % THREADS;
	p->rounds = 1 + next(&rng) % 12;
	for (i = 0; i < p->threads; i++) {
		p->genes[i] = 4 + next(&rng) % (GENES - 3);
		for (j = 0; j < p->genes[i]; j++)
			p->gene[i][j] = next(&rng);
	}
	for (i = 1; i < name->parts; i++)
		mutate(p, name->part[i]);
}

void print_name(char *text, const struct name *name)
{
	int i, len = 0;

	for (i = 0; i < name->parts; i++)
		len += sprintf(text + len, "%s%llx", i ? "." : "", name->part[i]);
}

bool parse_name(struct name *name, const char *text)
{
	char *stop;

	for (name->parts = 0; name->parts < NAME_PARTS; text = stop + 1) {
		name->part[name->parts++] = strtoull(text, &stop, 16);
		if (stop == text)
			return false;
		if (!*stop)
			return true;
		if (*stop != '.')
			return false;
	}
	return false;
}
