/* SPDX-License-Identifier: GPL-2.0-only */
/* The subcommands; each has its own options, and returns the exit status. */
#ifndef TOOLS_COMMAND_H
#define TOOLS_COMMAND_H

#ifndef VERSION
#define VERSION "1.0.0"
#endif

int command_run(int argc, char **argv);
int command_top(int argc, char **argv);
int command_watch(int argc, char **argv);
int command_report(int argc, char **argv);
int command_annotate(int argc, char **argv);
int command_diff(int argc, char **argv);
int command_export(int argc, char **argv);
int command_check(int argc, char **argv);

#endif /* TOOLS_COMMAND_H */
