/* SPDX-License-Identifier: GPL-2.0-only */
/* Why the module makes no session, in one sentence, with what to do about it. */
#ifndef TOOLS_REFUSAL_H
#define TOOLS_REFUSAL_H

#include "session.h"

/* Ends the program if the module cannot take so many samples a second. */
void refuse_rate(const struct profil_ioc_query *query, unsigned int rate);

/* Ends the program: the device said no, to @ask for what was wished, or to QUERY. */
_Noreturn void refuse_session(int device, const struct session_wish *wish,
			      const struct profil_ioc_query *query,
			      struct profil_ioc_session *ask, int error);
_Noreturn void refuse(int error);

/* What an errno of JOIN or ATTACH means, and what to do. */
const char *refusal_to_count(int error);

#endif /* TOOLS_REFUSAL_H */
