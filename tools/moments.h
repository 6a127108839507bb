/* SPDX-License-Identifier: GPL-2.0-only */
/* The slices of time that a profile has, as columns of a picture. */
#ifndef TOOLS_MOMENTS_H
#define TOOLS_MOMENTS_H

#include "profile.h"

#define MOMENTS_MAX 200

struct column {
	uint64_t from_ms, to_ms;
};

struct moments {
	struct column list[MOMENTS_MAX];
	size_t num;		/* 1, as long as all is, if times are not known */
	bool known;
};

/* Of a profile whose samples all have a time; else, and with one slice, not known. */
void moments_find(const struct profile *profile, struct moments *moments);

/* In which one a sample is; @last: where the one before it was, which is looked at first. */
size_t moment_of(const struct moments *moments, const struct sample *sample, size_t last);

#endif /* TOOLS_MOMENTS_H */
