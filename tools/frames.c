// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where functions begin, in files without symbols: .eh_frame_hdr, the sorted
 * table for unwinding, has all of them.  elfutils uses it and does not show it.
 */
#include <stddef.h>
#include <stdint.h>
#include "frames.h"

/* As every linker writes it: encodings, then pairs of 32 bits from here. */
struct frame_table {
	uint8_t version;
	uint8_t pointer_encoding;
	uint8_t count_encoding;
	uint8_t table_encoding;
	int32_t pointer;
	uint32_t count;
	struct {
		int32_t function;
		int32_t unwinding;
	} entries[];
};

#define UDATA4 0x03
#define DATAREL_SDATA4 0x3b
#define PCREL_SDATA4 0x1b

static const struct frame_table *read_table(Elf *elf, const GElf_Phdr *segment)
{
	Elf_Data *data = elf_getdata_rawchunk(elf, segment->p_offset,
					      segment->p_filesz, ELF_T_WORD);
	const struct frame_table *table;

	if (!data || !data->d_buf || data->d_size < sizeof(*table))
		return NULL;
	table = data->d_buf;
	if (table->version != 1 || table->pointer_encoding != PCREL_SDATA4 ||
	    table->count_encoding != UDATA4 || table->table_encoding != DATAREL_SDATA4)
		return NULL;
	if (table->count > (data->d_size - sizeof(*table)) / sizeof(table->entries[0]))
		return NULL;
	return table;
}

void frames_find(Elf *elf, struct frames *frames)
{
	GElf_Phdr segment;
	size_t num = 0;

	frames->table = NULL;
	elf_getphdrnum(elf, &num);
	for (size_t i = 0; i < num && !frames->table; i++) {
		if (!gelf_getphdr(elf, i, &segment) || segment.p_type != PT_GNU_EH_FRAME)
			continue;
		frames->table = read_table(elf, &segment);
		frames->base = segment.p_vaddr;
	}
}

static GElf_Addr function(const struct frames *frames, size_t i)
{
	return frames->base + frames->table->entries[i].function;
}

/* How many functions begin at the address or below. */
static size_t find(const struct frames *frames, GElf_Addr address)
{
	size_t low = 0, high = frames->table ? frames->table->count : 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (function(frames, middle) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool frames_start(const struct frames *frames, GElf_Addr address, GElf_Addr *start)
{
	size_t num = find(frames, address);

	if (num)
		*start = function(frames, num - 1);
	return num;
}

GElf_Addr frames_next(const struct frames *frames, GElf_Addr address)
{
	size_t num = find(frames, address);

	return frames->table && num < frames->table->count ? function(frames, num) : 0;
}
