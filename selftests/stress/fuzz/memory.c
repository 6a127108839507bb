// SPDX-License-Identifier: GPL-2.0-only
/* The memory under a profile, and its anchor. */
#include <string.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

#include "fuzz.h"

void op_mmap(struct thread *t)
{
	int prot = pick(t, PROT_READ | PROT_WRITE, PROT_READ | PROT_WRITE,
			PROT_READ | PROT_WRITE | PROT_EXEC, PROT_READ, PROT_NONE);
	/*
	 * None is locked: where mprotect() makes locked pages that a userfault is
	 * to make, a kernel with DEBUG_VM complains of itself, with a trace.
	 */
	int flags = MAP_FIXED | pick(t, 0, 0, 0, 0, 0, MAP_POPULATE, MAP_NORESERVE);
	void *at = arena_page(t);
	size_t len = arena_len(t, at);

	switch (below(t, 5)) {
	case 0:
		FAULTY(t, (long)mmap(at, len, prot, flags | MAP_SHARED, memfd,
				     below(t, ARENA_PAGES) * PAGE));
		break;
	case 1:
		FAULTY(t, (long)mmap(at, len, prot, flags | MAP_SHARED | MAP_ANONYMOUS,
				     -1, 0));
		break;
	case 2:
		/* The device has no mapping but the anchor. */
		FAULTY(t, (long)mmap(at, len, prot, MAP_FIXED |
				     pick(t, MAP_SHARED, MAP_PRIVATE),
				     any_descriptor(t), below(t, 2) * PAGE));
		break;
	default:
		FAULTY(t, (long)mmap(at, len, prot, flags | MAP_PRIVATE | MAP_ANONYMOUS,
				     -1, 0));
	}
}

void op_munmap(struct thread *t)
{
	void *at = arena_page(t);

	FAULTY(t, munmap(at, arena_len(t, at)));
}

void op_mprotect(struct thread *t)
{
	void *at = arena_page(t);
	int prot = pick(t, PROT_READ | PROT_WRITE, PROT_READ | PROT_WRITE, PROT_READ,
			PROT_NONE, PROT_READ | PROT_EXEC);
	int key = once_in(t, 8) ? pkey_alloc(0, pick(t, 0, PKEY_DISABLE_WRITE,
						     PKEY_DISABLE_ACCESS)) : -1;

	if (key < 0) {
		FAULTY(t, mprotect(at, arena_len(t, at), prot));
	} else {
		FAULTY(t, pkey_mprotect(at, arena_len(t, at), prot, key));
		if (once_in(t, 2))
			pkey_free(key);
	}
}

void op_madvise(struct thread *t)
{
	void *at = arena_page(t);
	int advice = pick(t, MADV_DONTNEED, MADV_DONTNEED, MADV_FREE, MADV_PAGEOUT,
			  MADV_COLD, MADV_WILLNEED, MADV_HUGEPAGE, MADV_NOHUGEPAGE,
			  MADV_DONTFORK, MADV_DOFORK, MADV_WIPEONFORK,
			  MADV_KEEPONFORK, MADV_MERGEABLE, MADV_UNMERGEABLE,
			  MADV_POPULATE_READ, MADV_POPULATE_WRITE, MADV_REMOVE);

	FAULTY(t, madvise(at, arena_len(t, at), advice));
}

void op_mremap(struct thread *t)
{
	void *from = arena_page(t), *to = arena_page(t);
	size_t len = arena_len(t, from);

	if (once_in(t, 3))
		FAULTY(t, (long)mremap(from, len, arena_len(t, from), 0));
	else
		FAULTY(t, (long)mremap(from, len, arena_len(t, to), MREMAP_MAYMOVE |
				       MREMAP_FIXED | pick(t, 0, 0, MREMAP_DONTUNMAP),
				       to));
}

/* Bytes in the histograms: counters that are full, words that others change. */
void op_touch(struct thread *t)
{
	unsigned char bytes[64];
	int i, n = once_in(t, 8) ? 20 : 1;

	memset(bytes, pick(t, 0, 0x7f, 0xff, 0xff), sizeof(bytes));
	for (i = 0; i < n; i++)
		touch((void *)(ARENA + (below(t, ARENA_BYTES - 64) & ~7UL)), bytes,
		      sizeof(bytes));
}

void op_truncate(struct thread *t)
{
	CALL(t, ftruncate(memfd, below(t, ARENA_PAGES + 1) * PAGE));
}

/* Of linux/fs.h since 6.11; a read of all mappings takes twenty times as long. */
struct procmap_query {
	u64 size;
	u64 query_flags;
	u64 query_addr;
	u64 vma_start;
	u64 vma_end;
	u64 vma_flags;
	u64 vma_page_size;
	u64 vma_offset;
	u64 inode;
	__u32 dev_major;
	__u32 dev_minor;
	__u32 vma_name_size;
	__u32 build_id_size;
	u64 vma_name_addr;
	u64 build_id_addr;
};

#define PROCMAP_QUERY	_IOWR('f', 17, struct procmap_query)
#define NEXT_OF_FILE	0x30	/* COVERING_OR_NEXT_VMA, FILE_BACKED_VMA */

/* Above the arena new mappings are the lowest, so this seldom asks twice. */
unsigned long find_anchor(void)
{
	struct procmap_query query;
	unsigned long at = ARENA + ARENA_BYTES;

	for (;; at = query.vma_end) {
		query = (struct procmap_query){
			.size = sizeof(query),
			.query_flags = NEXT_OF_FILE,
			.query_addr = at,
		};
		if (ioctl(maps, PROCMAP_QUERY, &query))
			return 0;
		if (query.inode == device.st_ino &&
		    makedev(query.dev_major, query.dev_minor) == device.st_dev)
			return query.vma_start;
	}
}

void op_anchor(struct thread *t)
{
	void *anchor = (void *)find_anchor();
	void *to = arena_page(t);

	if (!anchor)
		return;
	switch (below(t, 10)) {
	case 0:
	case 1:
		FAULTY(t, munmap(anchor, PAGE));
		break;
	case 2:
		FAULTY(t, (long)mmap(anchor, PAGE, PROT_READ | PROT_WRITE, MAP_FIXED |
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
		break;
	case 3:
		FAULTY(t, (long)mremap(anchor, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED |
				       pick(t, 0, MREMAP_DONTUNMAP), to));
		break;
	case 4:
		FAULTY(t, (long)mremap(anchor, pick(t, 0, PAGE), 2 * PAGE,
				       pick(t, 0, MREMAP_MAYMOVE)));
		break;
	case 5:
		FAULTY(t, mprotect(anchor, PAGE, pick(t, PROT_READ, PROT_WRITE,
						      PROT_EXEC, PROT_NONE)));
		break;
	case 6:
		FAULTY(t, madvise(anchor, PAGE, pick(t, MADV_DONTNEED, MADV_DONTFORK,
						     MADV_DOFORK, MADV_WIPEONFORK,
						     MADV_REMOVE, MADV_PAGEOUT)));
		break;
	case 7:
		FAULTY(t, mlock(anchor, PAGE));
		break;
	case 8:
		to = mmap((char *)anchor - PAGE, PAGE, PROT_NONE, MAP_FIXED_NOREPLACE |
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (to != MAP_FAILED)
			FAULTY(t, munmap(to, 2 * PAGE));
		break;
	default:
		touch(anchor, "x", 1);
	}
}
