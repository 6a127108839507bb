/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TOOLS_PACK_H
#define TOOLS_PACK_H

#include "profile.h"

/* The profile as the bytes of a file, before they are compressed; to be freed. */
unsigned char *profile_pack(struct profile *profile, size_t *length);

#endif /* TOOLS_PACK_H */
