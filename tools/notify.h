/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TOOLS_NOTIFY_H
#define TOOLS_NOTIFY_H

/* Tells systemd, as sd_notify() of its library does, if it is who started this program. */
void notify(const char *state);

#endif /* TOOLS_NOTIFY_H */
