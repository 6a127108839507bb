// SPDX-License-Identifier: GPL-2.0-only
/* Whose code a tick is: other programs', and the kernel's own threads'. */
#include <sys/stat.h>
#include <linux/io_uring.h>

#include "session.h"
#include "ticks.h"

#define USER	1000

FIXTURE_WITH_PAGE(process)

/* What runs with other rights after exec: 0 if no profile came along. */
static int executed_image(void)
{
	struct profil_ioc_stats stats;
	int fd = profil_open();

	if (fd < 0)
		return 11;
	if (geteuid() || getuid() != USER)
		return 12;
	if (profil_stats(fd, &stats) != -ENOENT || find_anchor(NULL))
		return 13;
	burn_uncounted(fd, hot_a, 10);
	return profil_stats(fd, &stats) == -ENOENT ? 0 : 14;
}

TEST_F(process, setuid_program_is_not_profiled)
{
	char path[] = "/tmp/profil_setuid_XXXXXX";
	struct burner burners[2];
	pid_t pid;
	size_t j;
	int i, fd;

	if (geteuid())
		SKIP(return, "only root can make a program that is root's");
	ASSERT_EQ(0, make_setuid(path));
	/* Alone, and with other threads in the middle of their ticks. */
	for (i = 0; i < 6; i++) {
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid) {
			if (become(USER))
				_exit(1);
			fd = profil_open();
			if (fd < 0 ||
			    profil_start_page(fd, hot_a, self->counter))
				_exit(2);
			for (j = 0; i & 1 && j < ARRAY_SIZE(burners); j++)
				if (burner_start(&burners[j], hot_a))
					_exit(3);
			if (!burn(fd, hot_a, 5))
				_exit(4);
			execl(path, path, "--executed", NULL);
			_exit(5);
		}
		EXPECT_EQ(0, wait_for(pid));
	}
	unlink(path);
}

/*
 * One io_uring by its bare system calls: submission and completion queue, in
 * memory that the kernel shares.
 */
struct ring {
	int fd;
	unsigned int *sq_tail, *sq_mask, *sq_array;
	unsigned int *cq_head, *cq_tail;
	struct io_uring_sqe *sqes;
};

static int ring_init(struct ring *ring)
{
	struct io_uring_params params = { 0 };
	char *sq, *cq;

	ring->fd = syscall(__NR_io_uring_setup, 4, &params);
	if (ring->fd < 0)
		return -errno;
	sq = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd,
		  IORING_OFF_SQ_RING);
	cq = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd,
		  IORING_OFF_CQ_RING);
	ring->sqes = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
			  ring->fd, IORING_OFF_SQES);
	if (sq == MAP_FAILED || cq == MAP_FAILED || ring->sqes == MAP_FAILED)
		return -ENOMEM;
	ring->sq_tail = (void *)(sq + params.sq_off.tail);
	ring->sq_mask = (void *)(sq + params.sq_off.ring_mask);
	ring->sq_array = (void *)(sq + params.sq_off.array);
	ring->cq_head = (void *)(cq + params.cq_off.head);
	ring->cq_tail = (void *)(cq + params.cq_off.tail);
	return 0;
}

/* Has a worker of the kernel read, and sleeps until it has. */
static bool ring_read(struct ring *ring, int file, void *buf, size_t len)
{
	unsigned int tail = *ring->sq_tail, index = tail & *ring->sq_mask;
	unsigned int head = *ring->cq_head;
	bool done;

	ring->sqes[index] = (struct io_uring_sqe){
		.opcode = IORING_OP_READ,
		.flags = IOSQE_ASYNC,
		.fd = file,
		.addr = UPTR(buf),
		.len = len,
	};
	ring->sq_array[index] = index;
	__atomic_store_n(ring->sq_tail, tail + 1, __ATOMIC_RELEASE);
	if (syscall(__NR_io_uring_enter, ring->fd, 1, 1,
		    IORING_ENTER_GETEVENTS, NULL, 0) != 1)
		return false;
	done = __atomic_load_n(ring->cq_tail, __ATOMIC_ACQUIRE) == head + 1;
	__atomic_store_n(ring->cq_head, head + 1, __ATOMIC_RELEASE);
	return done;
}

/*
 * The worker has the memory of the process, and registers that look as if it
 * had come from user mode.
 */
TEST_F(process, workers_of_io_uring_are_borrowed_and_nobodys_code)
{
	struct profil_region region = any_region(self->counter);
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC), ret, reads = 0;
	const size_t len = 16UL << 20;
	struct profil_ioc_session args = session_args();
	__u64 events_first, events_last;
	struct profil_ioc_stats first;
	struct instance instance;
	pid_t tid = getpid();
	struct view view;
	struct ring ring;
	void *sink;

	ASSERT_LE(0, zero);
	ASSERT_EQ(0, view_open(&view, &args));
	ASSERT_EQ(0, session_join(view.fd));
	sink = mmap(NULL, len, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, sink);
	ret = ring_init(&ring);
	if (ret)
		SKIP(return, "no io_uring: %s", strerror(-ret));
	ASSERT_EQ(0, event_create());
	ASSERT_EQ(0, instance_create(&instance));
	/* Every address is in the region, so that all that counts is seen. */
	ASSERT_EQ(0, instance_watch(&instance, &tid, 1, ALL_TICKS));
	ASSERT_EQ(0, profil_start(self->fd, &region, 1));
	ASSERT_TRUE(take_pair(&instance, self->fd, &events_first, &first));
	do {
		ASSERT_TRUE(ring_read(&ring, zero, sink, len));
		ASSERT_EQ(0, madvise(sink, len, MADV_DONTNEED));
		ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
		EXPECT_TRUE(check_identity(&self->stats));
	} while (self->stats.out_borrowed < 30 && reads++ < 300);
	EXPECT_LE(30, self->stats.out_borrowed);
	/* A session knows of as many. */
	EXPECT_LE(30, view.page->borrowed);
	view_close(&view);
	ASSERT_TRUE(take_pair(&instance, self->fd, &events_last, &self->stats));
	/* All its ticks are its own, and none of the worker's is among them. */
	EXPECT_EQ(events_last - events_first,
		  self->stats.out_ticks - first.out_ticks);
	ASSERT_TRUE(profil_finish(self->fd, &self->stats));
	EXPECT_EQ(self->stats.out_in_range, *self->counter);
	EXPECT_EQ(self->stats.out_in_range,
		  self->stats.out_ticks - self->stats.out_lost_stopped);
	instance_destroy(&instance);
	event_remove();
	close(ring.fd);
	close(zero);
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--executed"))
		return executed_image();
	return test_harness_run(argc, argv);
}
