// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where functions begin, in files without symbols: .eh_frame_hdr, the sorted
 * table for unwinding, has all of them.  elfutils uses it and does not show it.
 */
#include <string.h>
#include "report.h"

/* As every linker writes it: encodings, then pairs of 32 bits from here. */
struct header {
	__u8 version;
	__u8 pointer_encoding;
	__u8 count_encoding;
	__u8 table_encoding;
	__s32 pointer;
	__u32 count;
	struct {
		__s32 function;
		__s32 unwinding;
	} table[];
};

#define UDATA4 0x03
#define DATAREL_SDATA4 0x3b
#define PCREL_SDATA4 0x1b

static const struct header *read_header(Elf *elf, const GElf_Phdr *segment)
{
	Elf_Data *data = elf_getdata_rawchunk(elf, segment->p_offset,
					      segment->p_filesz, ELF_T_WORD);
	const struct header *header;

	if (!data || !data->d_buf || data->d_size < sizeof(*header))
		return NULL;
	header = data->d_buf;
	if (header->version != 1 || header->pointer_encoding != PCREL_SDATA4 ||
	    header->count_encoding != UDATA4 || header->table_encoding != DATAREL_SDATA4)
		return NULL;
	if (header->count > (data->d_size - sizeof(*header)) / sizeof(header->table[0]))
		return NULL;
	return header;
}

bool function_start(Elf *elf, __u64 address, __u64 *start)
{
	const struct header *header = NULL;
	GElf_Phdr segment;
	size_t num = 0;
	size_t low = 0, high;

	elf_getphdrnum(elf, &num);
	for (size_t i = 0; i < num && !header; i++)
		if (gelf_getphdr(elf, i, &segment) && segment.p_type == PT_GNU_EH_FRAME)
			header = read_header(elf, &segment);
	if (!header)
		return false;

	/* The last function that begins at the address or below. */
	high = header->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (segment.p_vaddr + header->table[middle].function <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return false;
	*start = segment.p_vaddr + header->table[low - 1].function;
	return true;
}
