/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TOOLS_JIT_H
#define TOOLS_JIT_H

#include "profile.h"

/*
 * Names for code that a process has made, by /tmp/perf-PID.map, where many a compiler at
 * run time says what it has made.  The places are sorted by address.
 */
void jit_find(struct profile *profile, int64_t pid, struct place *places, size_t num);

#endif /* TOOLS_JIT_H */
