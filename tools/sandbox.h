/* SPDX-License-Identifier: GPL-2.0-only */
/* What a process gives up before it reads what nobody vouches for. */
#ifndef TOOLS_SANDBOX_H
#define TOOLS_SANDBOX_H

/* From here on this process reads files, and writes to descriptors that it has; for ever. */
void sandbox_enter(void);

#endif /* TOOLS_SANDBOX_H */
