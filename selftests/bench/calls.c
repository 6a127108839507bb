// SPDX-License-Identifier: GPL-2.0-only
/*
 * What calls of a program take, in instructions, and how it grows.
 *
 *   calls start			the first START, in which the tick is hooked
 *   calls again			the longest of many START and STOP after it
 *   calls stop THREADS		the longest STOP beside so many running threads, in
 *				CPU time: another's turn is no matter of STOP
 *   calls fork WHO		fork, until the child has ended; WHO profiles it is
 *				nobody, profil, or member: a session
 *   calls exec WHO RATE	the same with exec, so many times a second
 *   calls threads NUM		so many threads have one counter: samples that
 *				were missed, and samples
 *   calls tries NUM		the same, of the test build of the module: how often
 *				the counter had to be tried once more, samples, and
 *				how many of these were missed
 *
 * Prints the value and of how many it is.
 */
#include <pthread.h>
#include <stdbool.h>
#include <sys/wait.h>

#define PROFIL_TEST	/* a prototype: its names are all that is needed */
#include "../../module/race.h"
#include "event.h"
#include "who.h"

#define MANY		300
#define BURSTS		(1600000000 / BURST)

static volatile uint16_t counter;
static unsigned int bursts_left = BURSTS;
static bool done;

static void print(uint64_t value, unsigned int of)
{
	printf("%llu %u\n", (unsigned long long)value, of);
}

static uint64_t time_of_start(int fd)
{
	struct profil_region region = burst_region(&counter);
	uint64_t before = instructions();

	start(fd, &region, 1, 0);
	return instructions() - before;
}

static uint64_t time_of_stop(int fd)
{
	uint64_t before = instructions();

	stop(fd);
	return instructions() - before;
}

static uint64_t thread_ns(void)
{
	struct timespec now;

	if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now))
		fail("clock_gettime");
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static void calls_start(void)
{
	print(time_of_start(device()), 1);
}

static void calls_again(void)
{
	uint64_t taken, most = 0;
	int i, fd = device();

	time_of_start(fd);
	time_of_stop(fd);
	for (i = 0; i < MANY; i++) {
		taken = time_of_start(fd);
		taken += time_of_stop(fd);
		if (taken > most)
			most = taken;
	}
	print(most, MANY);
}

static void *burn(void *arg __attribute__((unused)))
{
	while (!__atomic_load_n(&done, __ATOMIC_RELAXED))
		burst();
	return NULL;
}

static void calls_stop(int num)
{
	uint64_t taken, most = 0;
	int i, fd = device();
	pthread_t thread;

	for (i = 0; i < num; i++)
		if (pthread_create(&thread, NULL, burn, NULL))
			fail("pthread_create");
	for (i = 0; i < 50; i++) {
		time_of_start(fd);
		usleep(20000);
		taken = thread_ns();
		stop(fd);
		taken = thread_ns() - taken;
		if (taken > most)
			most = taken;
	}
	print(most, 50);
}

/* With @rate 0 there is no exec, and no pause. */
static uint64_t time_of_fork(char *self, unsigned int rate)
{
	uint64_t before = instructions();
	pid_t pid = fork();
	int status;

	if (pid < 0)
		fail("fork");
	if (!pid) {
		if (!rate)
			_exit(0);
		execl(self, self, "nothing", NULL);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		fail("exec");
	return instructions() - before;
}

static void calls_fork(char *self, const char *who, unsigned int rate)
{
	unsigned int i, num = rate ? 40 : MANY;
	uint64_t taken[MANY];

	number = 1;
	find_who(who)->begin();
	for (i = 0; i < num; i++) {
		taken[i] = time_of_fork(self, rate);
		if (rate)
			usleep(1000000 / rate);
	}
	print(median(taken, num), num);
}

/* Takes its share of the work, of which there is as much for any number. */
static void *work(void *arg __attribute__((unused)))
{
	while (__atomic_fetch_sub(&bursts_left, 1, __ATOMIC_RELAXED) - 1 < BURSTS)
		burst();
	return NULL;
}

/* Profiles the threads at their work; all ticks have the one counter. */
static struct profil_ioc_stats run_threads(int num, uint32_t flags)
{
	struct profil_region regions[] = {
		burst_region(&counter), any_region(&counter),
	};
	pthread_t threads[64];
	int i, fd = device();

	start(fd, regions, 2, flags);
	for (i = 0; i < num; i++)
		if (pthread_create(&threads[i], NULL, work, NULL))
			fail("pthread_create");
	for (i = 0; i < num; i++)
		pthread_join(threads[i], NULL);
	stop(fd);
	return stats(fd);
}

/* A tick may find the process in the call that ends the profile, or a thread in its end. */
static uint64_t missed(const struct profil_ioc_stats *result)
{
	return result->out_ticks - result->out_system - result->out_lost_stopped -
	       result->out_lost_exit - counter;
}

static void calls_threads(int num)
{
	struct profil_ioc_stats result = run_threads(num, 0);

	print(missed(&result), result.out_ticks);
}

/*
 * Of ticks in user mode: others are counted in a time of their own, where
 * several are one try.
 */
static void calls_tries(int num)
{
	struct profil_ioc_stats result;
	char filter[32];
	int fd;

	snprintf(filter, sizeof(filter), "point == %d", PROFIL_RACE_BUMP);
	fd = event_open("kprobes/try", filter);
	event_enable(fd);
	result = run_threads(num, PROFIL_START_F_USER_ONLY);
	printf("%llu %llu %llu\n", (unsigned long long)event_count(fd) - counter,
	       result.out_in_range, (unsigned long long)missed(&result));
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	const char *who = argc > 2 ? argv[2] : "";
	int given = atoi(who);
	int other = argc > 3 ? atoi(argv[3]) : 0;

	if (!strcmp(what, "start"))
		calls_start();
	else if (!strcmp(what, "again"))
		calls_again();
	else if (!strcmp(what, "stop"))
		calls_stop(given);
	else if (!strcmp(what, "fork") || !strcmp(what, "exec"))
		calls_fork(argv[0], who, other);
	else if (!strcmp(what, "threads"))
		calls_threads(given);
	else if (!strcmp(what, "tries"))
		calls_tries(given);
	return 0;
}
