// SPDX-License-Identifier: GPL-2.0-only
#include <capstone/capstone.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "code.h"
#include "say.h"

#define TEXT_OF(macro) #macro
#define TEXT(macro) TEXT_OF(macro)

/* The one whose headers this was compiled with: structures differ between versions. */
#define LIBRARY "libcapstone.so." TEXT(CS_API_MAJOR)

struct code {
	csh handle;
	cs_insn *insn;
	__typeof__(cs_disasm_iter) *next;
	__typeof__(cs_insn_group) *in_group;
	__typeof__(cs_free) *free;
	__typeof__(cs_close) *close;
};

static const struct machine {
	int elf;
	cs_arch arch;
	cs_mode mode;
} machines[] = {
	{ EM_X86_64, CS_ARCH_X86, CS_MODE_64 },
	{ EM_386, CS_ARCH_X86, CS_MODE_32 },
	{ EM_AARCH64, CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN },
};

static const struct machine *find_machine(Elf *elf)
{
	GElf_Ehdr header;

	if (!gelf_getehdr(elf, &header) || header.e_ident[EI_DATA] != ELFDATA2LSB)
		return NULL;
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (machines[i].elf == header.e_machine)
			return &machines[i];
	return NULL;
}

/* x86 as objdump and perf annotate show it; what is no instruction is skipped and shown. */
static bool start(struct code *code, void *library, const struct machine *machine)
{
	__typeof__(cs_open) *open = (__typeof__(open))dlsym(library, "cs_open");
	__typeof__(cs_option) *option = (__typeof__(option))dlsym(library, "cs_option");
	__typeof__(cs_malloc) *allocate = (__typeof__(allocate))dlsym(library, "cs_malloc");

	code->next = (__typeof__(code->next))dlsym(library, "cs_disasm_iter");
	code->in_group = (__typeof__(code->in_group))dlsym(library, "cs_insn_group");
	code->free = (__typeof__(code->free))dlsym(library, "cs_free");
	code->close = (__typeof__(code->close))dlsym(library, "cs_close");
	if (!open || !option || !allocate || !code->next || !code->in_group || !code->free ||
	    !code->close || open(machine->arch, machine->mode, &code->handle))
		return false;
	if (machine->arch == CS_ARCH_X86)
		option(code->handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	option(code->handle, CS_OPT_DETAIL, CS_OPT_ON);
	option(code->handle, CS_OPT_SKIPDATA, CS_OPT_ON);
	code->insn = allocate(code->handle);
	return code->insn;
}

struct code *code_open(Elf *elf, const char **missing)
{
	const struct machine *machine = find_machine(elf);
	struct code *code;
	void *library;

	*missing = "its machine is none that profil knows, x86-64 or arm64";
	if (!machine)
		return NULL;
	library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	*missing = LIBRARY " is not installed; it is in a package like libcapstone"
		TEXT(CS_API_MAJOR) " or capstone";
	if (!library)
		return NULL;
	code = allocated(calloc(1, sizeof(*code)));
	if (start(code, library, machine))
		return code;
	*missing = LIBRARY " is not as it should be; install it again";
	free(code);
	return NULL;
}

/* The number that a jump or a call ends with, unless it is of memory. */
static uint64_t target(const char *operands)
{
	const char *last = strrchr(operands, ',');
	uint64_t number;
	char *end;

	last = last ? last + 1 : operands;
	last += strspn(last, " #");
	number = strtoull(last, &end, 0);
	return end == last || *end ? 0 : number;
}

bool code_next(struct code *code, const uint8_t **bytes, size_t *length, uint64_t *address,
	       struct instruction *instruction)
{
	const cs_insn *insn = code->insn;
	bool call;

	if (!code->next(code->handle, bytes, length, address, code->insn))
		return false;
	call = insn->id && code->in_group(code->handle, insn, CS_GRP_CALL);
	instruction->jumps = insn->id && !call &&
		code->in_group(code->handle, insn, CS_GRP_JUMP);
	instruction->address = insn->address;
	instruction->target = call || instruction->jumps ? target(insn->op_str) : 0;
	snprintf(instruction->text, sizeof(instruction->text), insn->op_str[0] ? "%-7s %s" : "%s",
		 insn->mnemonic, insn->op_str);
	return true;
}

void code_close(struct code *code)
{
	if (!code)
		return;
	code->free(code->insn, 1);
	code->close(&code->handle);
	free(code);
}
