/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TOOLS_UNPACK_H
#define TOOLS_UNPACK_H

#include "profile.h"

/*
 * Adds what the bytes of a file say, after they are uncompressed.  Returns NULL, or why
 * they are no profile.
 */
const char *profile_unpack(struct profile *profile, const unsigned char *bytes, size_t length);

#endif /* TOOLS_UNPACK_H */
