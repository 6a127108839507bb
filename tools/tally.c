// SPDX-License-Identifier: GPL-2.0-only
#include "tally.h"

const char *const tally_names[TALLIES] = {
	[TALLY_INTERVALS] = "intervals", [TALLY_LOST] = "lost", [TALLY_DROPPED] = "dropped",
	[TALLY_PUSHED] = "pushed", [TALLY_REFUSED] = "refused",
};
