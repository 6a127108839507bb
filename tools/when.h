/* SPDX-License-Identifier: GPL-2.0-only */
/* Times as people write them. */
#ifndef TOOLS_WHEN_H
#define TOOLS_WHEN_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define WHEN_FORMS "'2026-11-28 02:00', '02:00', 'today', 'yesterday 14:30', '2 hours ago', -90m or now"

/*
 * A time, in nanoseconds since 1970, of a text in one of these forms; what has no zone is
 * local time.  False if it is none.
 */
bool when_parse(const char *text, time_t now, uint64_t *time_ns);

/* A length like 60s, 90m, 24h, 2d or 1w; a number alone is seconds.  False if it is none. */
bool when_parse_length(const char *text, uint64_t *length_ns);

#endif /* TOOLS_WHEN_H */
