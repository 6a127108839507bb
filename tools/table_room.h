/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TOOLS_TABLE_ROOM_H
#define TOOLS_TABLE_ROOM_H

/* Removes the tables of a folder that were not used for the longest time, if there are too many. */
void table_room(int tables);

#endif /* TOOLS_TABLE_ROOM_H */
