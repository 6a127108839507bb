// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * What is loaded: by dl_iterate_phdr(), but not in a forked child.  Another thread of
 * its parent may have been in there, or this one in the callback, and the C library
 * renews all locks of a child but that one.  So the child asks the kernel.  And so does
 * the thread that this library makes: else a program that forks with one thread of its
 * own would have a child with that lock taken.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include "gmon.h"

/* <unistd.h> declares profil(), see internal.h. */
ssize_t read(int fd, void *buf, size_t num);
int close(int fd);
int gettid(void);

#define HEADER	4096	/* bytes of a file in which its segments are listed */

/* A line of /proc/self/maps. */
struct mapping {
	uintptr_t begin, end;
	char flags[5];
	unsigned long offset, inode;
	unsigned int major, minor;
	const char *name;
};

struct maps {
	char *text;
	size_t bytes;		/* mapped for the text */
};

/**
 * libprofil_read_own() - Read memory that may be gone by now
 * @to: Where what was read goes
 * @from: Where it is
 * @bytes: How much
 *
 * Of a call of the system that is a result, and no signal.  No descriptor is needed for it,
 * which a child that another thread forks meanwhile would have, of its parent's memory; and no
 * right, for the memory is the caller's own.  Where the call itself is denied, as by seccomp,
 * or is missing, nothing is known.
 *
 * Return: How much was read, from its beginning on.
 */
size_t libprofil_read_own(void *to, uintptr_t from, size_t bytes)
{
	struct iovec here = { to, bytes }, there = { (void *)from, bytes };
	/* By the thread: the first one may have ended, and has no memory then. */
	ssize_t num = process_vm_readv(gettid(), &here, 1, &there, 1, 0);

	return num > 0 ? num : 0;
}

static bool grow(struct maps *maps)
{
	char *more = mremap(maps->text, maps->bytes, 2 * maps->bytes, MREMAP_MAYMOVE);

	if (more == MAP_FAILED)
		return false;
	maps->text = more;
	maps->bytes *= 2;
	return true;
}

static bool read_all(struct maps *maps, int fd)
{
	size_t used = 0;
	ssize_t num;

	do {
		/* A zero ends it. */
		if (used + 1 == maps->bytes && !grow(maps))
			return false;
		num = read(fd, maps->text + used, maps->bytes - used - 1);
		used += num > 0 ? num : 0;
	} while (num > 0);
	return !num;
}

static bool read_maps(struct maps *maps)
{
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	bool done = fd >= 0 && read_all(maps, fd);

	if (fd >= 0)
		close(fd);
	return done;
}

static bool parse(const char *line, struct mapping *mapping)
{
	int name = 0;

	if (sscanf(line, "%lx-%lx %4s %lx %x:%x %lu %n", &mapping->begin, &mapping->end,
		   mapping->flags, &mapping->offset, &mapping->major, &mapping->minor,
		   &mapping->inode, &name) != 7)
		return false;
	mapping->name = line + name;
	if (!strcmp(mapping->name, "[vdso]"))
		mapping->name = "linux-vdso.so.1";
	else if (!mapping->inode)
		return false;
	return true;
}

static bool is_same_file(const struct mapping *a, const struct mapping *b)
{
	return a->inode == b->inode && a->major == b->major && a->minor == b->minor;
}

/* What dl_iterate_phdr() would tell of a file whose beginning is mapped there. */
static bool describe(const struct mapping *first, struct dl_phdr_info *info, void *header)
{
	const ElfW(Ehdr) *elf = header;
	size_t bytes = libprofil_read_own(header, first->begin, HEADER);

	if (bytes < sizeof(*elf) || memcmp(elf->e_ident, ELFMAG, SELFMAG) ||
	    elf->e_phoff > bytes ||
	    elf->e_phnum * sizeof(ElfW(Phdr)) > bytes - elf->e_phoff)
		return false;
	info->dlpi_phdr = (const void *)((const char *)header + elf->e_phoff);
	info->dlpi_phnum = elf->e_phnum;
	info->dlpi_name = first->begin + elf->e_phoff == getauxval(AT_PHDR) ? "" : first->name;
	for (int i = 0; i < elf->e_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD) {
			info->dlpi_addr = first->begin - (info->dlpi_phdr[i].p_vaddr &
							  -getauxval(AT_PAGESZ));
			return true;
		}
	return false;
}

/* Calls @each for the program, or for all others; what it returned is in @ret. */
static bool each_of(const struct maps *maps, bool program, libprofil_loaded_fn *each, void *arg,
		    int *ret)
{
	_Alignas(16) char header[HEADER];
	struct mapping first = { 0 }, mapping;
	bool any = false;

	for (const char *line = maps->text; *line && !*ret; line += strlen(line) + 1) {
		struct dl_phdr_info info = { 0 };

		if (!parse(line, &mapping))
			continue;
		if (!mapping.offset)
			first = mapping;
		/* It is no data, and of one that has more code, the first. */
		if (mapping.flags[2] != 'x' || !first.end || !is_same_file(&mapping, &first) ||
		    !describe(&first, &info, header))
			continue;
		first.end = 0;
		if (!*info.dlpi_name != program)
			continue;
		*ret = each(&info, sizeof(info), arg);
		any = true;
	}
	return any;
}

static void cut(char *text)
{
	for (; (text = strchr(text, '\n')); text++)
		*text = 0;
}

/**
 * libprofil_loaded_each_unlocked() - Do so without a lock of the C library
 * @each: As for libprofil_loaded_each(), but each object has the name of its file
 * @arg: For @each
 *
 * Context: Any thread, while others load.
 * Return: As libprofil_loaded_each() does.
 */
int libprofil_loaded_each_unlocked(libprofil_loaded_fn *each, void *arg)
{
	struct maps maps = { .bytes = 65536 };
	int ret = 0;

	maps.text = mmap(NULL, maps.bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (maps.text == MAP_FAILED)
		return 0;
	if (read_maps(&maps)) {
		cut(maps.text);
		/* Whoever is called first is called for the program: else, not at all. */
		if (each_of(&maps, true, each, arg, &ret))
			each_of(&maps, false, each, arg, &ret);
	}
	munmap(maps.text, maps.bytes);
	return ret;
}

/**
 * libprofil_loaded_each() - Do as dl_iterate_phdr() does
 * @each: Called for the program, then for each library, until it does not return 0
 * @arg: For @each
 *
 * Context: Any thread; without a lock that a callback of dl_iterate_phdr() takes.
 * Return: What @each returned last; 0 also if nothing can be known.
 */
int libprofil_loaded_each(libprofil_loaded_fn *each, void *arg)
{
	return libprofil_forked ? libprofil_loaded_each_unlocked(each, arg) :
				  dl_iterate_phdr(each, arg);
}
