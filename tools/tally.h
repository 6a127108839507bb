/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TOOLS_TALLY_H
#define TOOLS_TALLY_H

/* What a profil watch has done, which its metrics say. */
enum tally {
	TALLY_INTERVALS, TALLY_LOST, TALLY_DROPPED, TALLY_PUSHED, TALLY_REFUSED,
	TALLIES
};

extern const char *const tally_names[TALLIES];

#endif /* TOOLS_TALLY_H */
