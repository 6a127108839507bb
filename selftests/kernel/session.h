/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A session as its reader sees it, for the programs that test sessions.
 */
#ifndef SESSION_H
#define SESSION_H

#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "profil_common.h"

#define TICKS	20	/* enough of them to see where they are */

static inline struct profil_ioc_session session_args(void)
{
	return (struct profil_ioc_session){
		.size = sizeof(struct profil_ioc_session),
		.slots = 8192,
		.processes = 256,
		.objects = 64,
	};
}

/* A session as its reader has it. */
struct view {
	int fd;
	size_t bytes;
	const struct profil_session_page *page;
};

/* The flags that sessions can have; 0: there are none. */
static inline __u32 query_flags(void)
{
	struct profil_ioc_query query = { .size = sizeof(query) };
	int device = profil_open();
	int ret = profil_ioctl(device, PROFIL_IOC_QUERY, &query);

	close(device);
	return ret ? 0 : query.out_session_flags;
}

/* What is on the tick now. */
static inline __u32 query_hook(void)
{
	struct profil_ioc_query query = { .size = sizeof(query) };
	int device = profil_open();
	int ret = profil_ioctl(device, PROFIL_IOC_QUERY, &query);

	close(device);
	return ret ? 0 : query.out_hook;
}

/* @fd is the device, or a session of the machine that the new one follows. */
static inline int view_open_by(int fd, struct view *view, struct profil_ioc_session *args)
{
	int err = profil_ioctl(fd, PROFIL_IOC_SESSION, args);

	if (err)
		return err;
	view->fd = args->out_fd;
	view->bytes = args->out_bytes;
	view->page = mmap(NULL, view->bytes, PROT_READ, MAP_SHARED, view->fd, 0);
	return view->page == MAP_FAILED ? -errno : 0;
}

static inline int view_open(struct view *view, struct profil_ioc_session *args)
{
	int device = profil_open(), err;

	if (device < 0)
		return -errno;
	err = view_open_by(device, view, args);
	close(device);
	return err;
}

static inline void view_close(struct view *view)
{
	munmap((void *)view->page, view->bytes);
	close(view->fd);
}

static inline const struct profil_slot *view_slot(const struct view *view, __u32 i)
{
	return (const void *)((const char *)view->page + view->page->slots_offset +
			      (size_t)i * view->page->slot_len);
}

static inline const struct profil_process *view_row(const struct view *view, __u32 i)
{
	return (const void *)((const char *)view->page + view->page->processes_offset +
			      (size_t)i * view->page->process_len);
}

static inline const struct profil_object_entry *view_object(const struct view *view, __u32 i)
{
	return (const void *)((const char *)view->page + view->page->objects_offset +
			      (size_t)i * view->page->object_len);
}

/* Two file systems may have the same number for an inode. */
static inline bool view_is_file(const struct view *view, __u32 object, const struct stat *stat)
{
	const struct profil_object_entry *entry = view_object(view, object);

	return entry->ino == stat->st_ino &&
		entry->dev == ((__u64)major(stat->st_dev) << 20 | minor(stat->st_dev));
}

/* Ticks by row, at least as many as are in the classes when it returns. */
static inline __u64 view_ticks(const struct view *view)
{
	__u32 i, used = __atomic_load_n(&view->page->processes_used, __ATOMIC_ACQUIRE);
	__u64 sum = 0;

	for (i = 0; i < used; i++)
		sum += view_row(view, i)->user + view_row(view, i)->system;
	return sum;
}

static inline void wait_ticks(const struct view *view, __u64 ticks)
{
	__u64 end = view_ticks(view) + ticks;

	while (view_ticks(view) < end)
		usleep(5000);
}

/* Where hot_a() is in its file. */
static inline __u64 hot_place(void)
{
	unsigned long start, end, offset;
	FILE *maps = fopen("/proc/self/maps", "re");
	__u64 place = ~0ULL;
	char line[512];

	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) == 3 &&
		    UPTR(hot_a) - start < end - start)
			place = UPTR(hot_a) - start + offset;
	if (maps)
		fclose(maps);
	return place;
}

/* Ticks in the page of hot_a(), of this program or of one that has it at the same place. */
static inline __u64 view_hot(const struct view *view)
{
	const struct profil_slot *slot;
	__u64 hot = hot_place(), sum = 0;
	__u32 i;

	for (i = 0; i < view->page->slots; i++) {
		slot = view_slot(view, i);
		if (__atomic_load_n(&slot->object, __ATOMIC_ACQUIRE) >= PROFIL_OBJECT_FILES &&
		    slot->place - hot < PAGE)
			sum += slot->user + slot->system;
	}
	return sum;
}

/* Most ticks of a slow kernel may be elsewhere. */
static inline void wait_hot(const struct view *view, __u64 ticks)
{
	while (view_hot(view) < ticks)
		usleep(5000);
}

static inline int session_stop(const struct view *view)
{
	struct profil_ioc_stop stop = { .size = sizeof(stop) };

	return profil_ioctl(view->fd, PROFIL_IOC_STOP, &stop);
}

static inline int session_join(int fd)
{
	struct profil_ioc_join join = { .size = sizeof(join) };

	return profil_ioctl(fd, PROFIL_IOC_JOIN, &join);
}

static inline int session_attach(int fd, pid_t pid)
{
	struct profil_ioc_attach attach = { .size = sizeof(attach), .pid = pid };

	return profil_ioctl(fd, PROFIL_IOC_ATTACH, &attach);
}

/* Until there is no member any more. */
static inline void wait_none(const struct view *view)
{
	struct pollfd pollfd = { .fd = view->fd };

	while (poll(&pollfd, 1, -1) != 1 || !(pollfd.revents & POLLHUP))
		;
}

/* Everything that was counted, once nothing changes any more. */
struct sums {
	__u64 ticks, user, system;	/* by row */
	__u64 slots;			/* in slots, and of these: */
	__u64 files, objects[PROFIL_OBJECT_FILES];
	__u64 hot;			/* in the page of hot_a() of this program */
};

static inline void view_sum(const struct view *view, struct sums *sums)
{
	const struct profil_session_page *page = view->page;
	const struct profil_slot *slot;
	__u64 ticks;
	__u32 i;

	memset(sums, 0, sizeof(*sums));
	for (i = 0; i < page->processes_used; i++) {
		sums->user += view_row(view, i)->user;
		sums->system += view_row(view, i)->system;
	}
	sums->ticks = sums->user + sums->system;
	for (i = 0; i < page->slots; i++) {
		slot = view_slot(view, i);
		ticks = slot->user + slot->system;
		/* Those are counted once more where the kernel was. */
		sums->slots += slot->object == PROFIL_OBJECT_KERNEL ? 0 : ticks;
		if (slot->object < PROFIL_OBJECT_FILES) {
			sums->objects[slot->object] += ticks;
			continue;
		}
		sums->files += ticks;
	}
	sums->hot = view_hot(view);
}

/* Stops, and has the sums; whether each tick is in exactly one class. */
static inline bool view_finish(const struct view *view, struct sums *sums)
{
	const struct profil_session_page *page = view->page;

	if (session_stop(view) || page->state != PROFIL_SESSION_STOPPED || page->members)
		return false;
	view_sum(view, sums);
	printf("# ticks %llu (%llu, %llu): not_due %llu exec %llu full %llu slots %llu\n",
	       sums->ticks, sums->user, sums->system, page->not_due, page->exec, page->full,
	       sums->slots);
	printf("# files %llu (hot %llu) address %llu anon %llu none %llu vdso %llu; hinted %llu\n",
	       sums->files, sums->hot, sums->objects[PROFIL_OBJECT_ADDRESS],
	       sums->objects[PROFIL_OBJECT_ANONYMOUS], sums->objects[PROFIL_OBJECT_NONE],
	       sums->objects[PROFIL_OBJECT_VDSO], page->hinted);
	if (page->idle)
		printf("# idle %llu kthreads %llu interrupts %llu\n", page->idle, page->kthreads,
		       page->interrupts);
	/* Who is idle has no row. */
	return sums->ticks == page->not_due + sums->slots + page->exec + page->full +
			      page->kthreads + page->interrupts &&
	       !sums->objects[PROFIL_OBJECT_FREE];
}

/* The row of @pid, or -1. */
static inline int view_find(const struct view *view, pid_t pid)
{
	__u32 i;

	for (i = 1; i < view->page->processes_used; i++)
		if (view_row(view, i)->pid == (__u32)pid)
			return i;
	return -1;
}

/* Ticks of the row, of a session that tells them apart, in what is hot_a() in its program. */
static inline __u64 row_hot(const struct view *view, __u32 row)
{
	const struct profil_slot *slot;
	__u64 hot = hot_place(), sum = 0;
	__u32 i;

	for (i = 0; i < view->page->slots; i++) {
		slot = view_slot(view, i);
		if (slot->object >= PROFIL_OBJECT_FILES && slot->process == row &&
		    slot->place - hot < PAGE)
			sum += slot->user + slot->system;
	}
	return sum;
}

static inline __u64 row_ticks(const struct view *view, int row)
{
	return view_row(view, row)->user + view_row(view, row)->system;
}

/* Ticks of all rows of that name, and of a group if that is not 0. */
static inline __u64 name_ticks(const struct view *view, const char *comm, __u64 cgroup)
{
	__u64 sum = 0;
	__u32 i;

	for (i = 0; i < view->page->processes_used; i++)
		if (!strcmp(view_row(view, i)->comm, comm) &&
		    (!cgroup || view_row(view, i)->cgroup == cgroup))
			sum += row_ticks(view, i);
	return sum;
}

/* The clock of began_ns and ended_ns. */
static inline __u64 clock_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* Spends CPU time of this process, in ms. */
static inline void burn_ms(unsigned int ms)
{
	struct timespec ts;
	__u64 now, end = 0;

	do {
		hot_a(HOT_ROUNDS);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
		now = ts.tv_sec * 1000ULL + ts.tv_nsec / 1000000;
		if (!end)
			end = now + ms;
	} while (now < end);
}

static inline void burn_for_ever(void)
{
	for (;;)
		hot_a(HOT_ROUNDS);
}

/* A child that joins, and then does it. */
#define CHILD(view, pid)						\
	(pid) = fork();							\
	ASSERT_LE(0, (pid));						\
	if (!(pid) && session_join((view).fd))				\
		_exit(100);						\
	if (!(pid))

#endif /* SESSION_H */
