/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages of protobuf, field by field.  Nearly all of a profile are its samples, and to have
 * each of them as objects of libprotobuf-c took more time than all else that is done with them.
 */
#ifndef TOOLS_WIRE_H
#define TOOLS_WIRE_H

#include <stdbool.h>
#include <stdint.h>

/* What is left of a message. */
struct wire {
	const unsigned char *next, *end;
};

enum wire_type { WIRE_NUMBER, WIRE_8_BYTES, WIRE_BYTES, WIRE_4_BYTES = 5 };

struct field {
	uint64_t key;		/* its number in the message, and its type: WIRE_KEY() */
	uint64_t number;	/* of a WIRE_NUMBER */
	struct wire bytes;	/* of a WIRE_BYTES: a message, a text, or several numbers */
};

#define WIRE_KEY(number, type) ((uint64_t)(number) << 3 | (type))

/* The next field of a message that has one.  False: these are not the bytes of a field. */
bool wire_field(struct wire *wire, struct field *field);

static inline bool wire_left(const struct wire *wire)
{
	return wire->next < wire->end;
}

bool wire_long_number(struct wire *wire, uint64_t *number);

/* The next number of several.  False: there is none, or the end of it is missing. */
static inline bool wire_number(struct wire *wire, uint64_t *number)
{
	if (!wire_left(wire) || *wire->next & 0x80)
		return wire_long_number(wire, number);
	*number = *wire->next++;
	return true;
}

#endif /* TOOLS_WIRE_H */
