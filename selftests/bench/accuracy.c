// SPDX-License-Identifier: GPL-2.0-only
/*
 * How near the samples are to the truth.
 *
 *   accuracy split PARTS		one part of so many is spent in burst_too():
 *				its share of the samples, and what it may be off
 *   accuracy total THREADS	the CPU time that all samples say, by us, by glibc
 *				and by perf at the same time
 *   accuracy step BEGIN LENGTH [TIMES]	the same of a program that runs at a fixed
 *				distance from the tick, both in percent of a period;
 *				by our other source, with so many samples in it
 *
 * Shares and times are in millionths of the true one.
 */
#include <math.h>
#include <pthread.h>

#include "who.h"

#define CPUS		2
#define RING_PAGES	256
#define RECORD		24	/* bytes in the ring */

static int threads = 1;
static volatile uint16_t counters[2] __attribute__((aligned(4)));
static struct perf_event_mmap_page *rings[CPUS];

static uint64_t cpu_ns(void)
{
	struct timespec now;

	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now))
		fail("clock_gettime");
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static void run(void (*work)(void), uint64_t length)
{
	uint64_t bursts = length / BURST;

	while (bursts--)
		work();
}

static void split(unsigned int parts)
{
	struct profil_region region = burst_region(counters);
	double share, sigma, samples;
	int fd = device();

	region.bytes = sizeof(counters);
	start(fd, &region, 1, 0);
	/* So short that the tick is nowhere near in step with it. */
	while (counters[0] + counters[1] < 3000) {
		run(burst, 31337 * (parts - 1));
		run(burst_too, 31337);
	}
	stop(fd);
	samples = counters[0] + counters[1];
	share = 1.0 / parts;
	/* Of 1000 runs one is farther off, if each sample were by chance. */
	sigma = sqrt(share * (1 - share) / samples);
	printf("%.0f %.0f %.0f\n", 1e6 * counters[1] / samples, samples, 1e6 * 3.29 * sigma);
}

static void begin_perf_on(int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = tick_ns(),
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID,
		.inherit = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, 0, cpu, -1, 0);

	if (fd < 0)
		fail("perf_event_open");
	rings[cpu] = mmap(NULL, (1 + RING_PAGES) * 4096, PROT_READ | PROT_WRITE,
			  MAP_SHARED, fd, 0);
	if (rings[cpu] == MAP_FAILED)
		fail("mmap");
}

static uint64_t perf_samples(void)
{
	uint64_t sum = 0;
	int cpu;

	for (cpu = 0; cpu < CPUS; cpu++)
		if (rings[cpu])
			sum += rings[cpu]->data_head / RECORD;
	return sum;
}

static void *spend(void *arg __attribute__((unused)))
{
	run(burst, 4000 * tick_ns() / 4 / threads);
	return NULL;
}

static void all_threads(void)
{
	pthread_t thread[64];
	int i;

	for (i = 1; i < threads; i++)
		if (pthread_create(&thread[i], NULL, spend, NULL))
			fail("pthread_create");
	spend(NULL);
	for (i = 1; i < threads; i++)
		pthread_join(thread[i], NULL);
}

/* When there was a tick, while nobody is profiled. */
static uint64_t find_tick(void)
{
	uint64_t tick, now = instructions();

	do {
		tick = now;
		burst();
		now = instructions();
	} while (now - tick < BURST + 1500);
	return tick;
}

/* Runs from BEGIN hundredths of a period after a tick for LENGTH of these. */
static void in_step(uint64_t tick, unsigned int begin, unsigned int length)
{
	uint64_t period = tick_ns(), now;
	struct timespec until = { };
	int i;

	for (i = 0; i < 500; i++) {
		now = instructions();
		tick += ((now - tick) / period + 1) * period;
		until.tv_nsec = tick + period * begin / 100 - now;
		clock_nanosleep(CLOCK_MONOTONIC, 0, &until, NULL);
		run(burst, period * length / 100);
	}
}

static void total(unsigned int begin, unsigned int length, unsigned int times)
{
	struct profil_region region = any_region(&counter);
	uint64_t tick = find_tick();
	unsigned int cpu;
	double ns, us;
	int fd = device();

	for (cpu = 0; cpu < sysconf(_SC_NPROCESSORS_ONLN); cpu++)
		begin_perf_on(cpu);
	if (times)
		start_timer(fd, &region, times, 50);
	else
		start(fd, &region, 1, 0);
	begin_glibc();
	ns = cpu_ns();
	us = stats(fd).out_ticks;
	if (length)
		in_step(tick, begin, length);
	else
		all_threads();
	ns = cpu_ns() - ns;
	us = stats(fd).out_ticks - us;
	printf("%.0f %.0f %.0f %.0f\n", us * tick_ns() / (times ? times : 1) / ns * 1e6, us,
	       samples_bins() * 1e7 / ns * 1e6, perf_samples() * tick_ns() / ns * 1e6);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int first = argc > 2 ? atoi(argv[2]) : 0;

	if (!strcmp(what, "total"))
		threads = first;
	memset(bins, 0, sizeof(bins));
	if (!strcmp(what, "split"))
		split(first);
	else if (!strcmp(what, "total"))
		total(0, 0, 0);
	else if (!strcmp(what, "step") && argc > 3)
		total(first, atoi(argv[3]), argc > 4 ? atoi(argv[4]) : 0);
	return 0;
}
