/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Instructions, by capstone.  It is larger than all else together, so it is loaded only when
 * it is wanted, and may be missing.
 */
#ifndef TOOLS_CODE_H
#define TOOLS_CODE_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code;

struct instruction {
	uint64_t address;
	uint64_t target;	/* of a jump or a call; 0 if the text does not say it */
	char text[256];
	bool jumps;		/* and no call */
};

/* A disassembler for such files; where there is none, NULL and a sentence in @missing. */
struct code *code_open(Elf *elf, const char **missing);

/*
 * The instruction at *@bytes, of which there are *@length, and where it ends.  What is no
 * instruction is ".byte".
 */
bool code_next(struct code *code, const uint8_t **bytes, size_t *length, uint64_t *address,
	       struct instruction *instruction);

void code_close(struct code *code);

#endif /* TOOLS_CODE_H */
