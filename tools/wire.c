// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>
#include "wire.h"

/* Seven bits a byte; the last one has no eighth. */
bool wire_long_number(struct wire *wire, uint64_t *number)
{
	*number = 0;
	for (int shift = 0; shift < 64 && wire_left(wire); shift += 7) {
		unsigned char byte = *wire->next++;

		*number |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

static bool take_bytes(struct wire *wire, uint64_t length, struct field *field)
{
	if (length > (size_t)(wire->end - wire->next))
		return false;
	field->bytes = (struct wire) { wire->next, wire->next + length };
	wire->next += length;
	return true;
}

bool wire_field(struct wire *wire, struct field *field)
{
	uint64_t length;

	if (!wire_number(wire, &field->key))
		return false;
	switch (field->key & 7) {
	case WIRE_NUMBER:
		return wire_number(wire, &field->number);
	case WIRE_BYTES:
		return wire_number(wire, &length) && take_bytes(wire, length, field);
	case WIRE_8_BYTES:
		return take_bytes(wire, 8, field);
	case WIRE_4_BYTES:
		return take_bytes(wire, 4, field);
	}
	return false;
}
