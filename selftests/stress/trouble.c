// SPDX-License-Identifier: GPL-2.0-only
/*
 * Beside soak.c: CPU 1 goes and comes, and memory of a control group, in which others run, is
 * so short that it is swapped out all the time.
 */
#include "beside.h"

#define CPU_FILE	"/sys/devices/system/cpu/cpu1/online"
#define PRESS_BYTES	(20UL << 20)	/* beyond what the group may have */
#define CPU_MS		1500	/* that it stays as it is, at most */

enum sum { SUM_CPU, SUM_BUSY, SUM_PRESSED, SUM_HIGH, SUM_SWAPPED, SUMS };

static const char *const sum_names[] = {
	"cpu_gone", "cpu_kept", "memory_pressed", "memory_high", "memory_swapped_out",
};

enum check { CHECK_CPU, CHECK_MEMORY, CHECK_KILLED, CHECKS };

static const char *const check_names[] = {
	"CPU 1 goes and comes",
	"memory is short, and swapped out",
	"nobody is killed for it",
};

/* A number of @file, after @name; or ~0. */
static __u64 number_in(const char *file, const char *name)
{
	char text[8192], path[256], *at;

	snprintf(path, sizeof(path), "%s", file);
	if (read_file(path, text, sizeof(text)))
		return ~0ULL;
	for (at = text; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
		if (!strncmp(at, name, strlen(name)) && at[strlen(name)] == ' ')
			return strtoull(at + strlen(name), NULL, 10);
	return ~0ULL;
}

static __u64 event_of_group(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/memory.events", beside_group);
	return number_in(path, name);
}

static void press(void)
{
	volatile char *memory = mmap(NULL, PRESS_BYTES, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t i;

	if (memory == MAP_FAILED || beside_enter()) {
		fail(CHECK_MEMORY, "who presses cannot be in the group %s", beside_group);
		_exit(1);
	}
	do {
		for (i = 0; i < PRESS_BYTES; i += PAGE)
			memory[i]++;
		add(SUM_PRESSED, 1);
	} while (!beside_over());
	_exit(0);
}

/* It may be refused for a moment, for what else goes on. */
static bool cpu_put(const char *online)
{
	int i, err = -EBUSY;

	for (i = 0; i < 1000 && err == -EBUSY; i++) {
		err = write_file(CPU_FILE, 0, online);
		if (err == -EBUSY) {
			add(SUM_BUSY, 1);
			usleep(10000);
		}
	}
	if (err)
		fail(CHECK_CPU, "%s to " CPU_FILE ": %s", online, strerror(-err));
	return !err;
}

int main(int argc, char **argv)
{
	__u64 high, swapped, killed;
	pid_t pid;

	if (!beside_begin(argc, argv))
		return 2;
	high = event_of_group("high");
	killed = event_of_group("oom_kill");
	swapped = number_in("/proc/vmstat", "pswpout");
	pid = fork();
	if (!pid)
		press();
	do {
		usleep(1000 * choose(CPU_MS));
		if (cpu_put("0"))
			add(SUM_CPU, 1);
		usleep(1000 * choose(CPU_MS));
		cpu_put("1");
	} while (!beside_over());
	if (wait_for(pid))
		fail(CHECK_MEMORY, "who presses has ended");
	add(SUM_HIGH, event_of_group("high") - high);
	add(SUM_SWAPPED, number_in("/proc/vmstat", "pswpout") - swapped);
	if (!beside->sums[SUM_HIGH] || !beside->sums[SUM_SWAPPED])
		fail(CHECK_MEMORY, "%llu times above what is high, %llu pages swapped out",
		     beside->sums[SUM_HIGH], beside->sums[SUM_SWAPPED]);
	if (event_of_group("oom_kill") != killed)
		fail(CHECK_KILLED, "%llu, and %llu before", event_of_group("oom_kill"), killed);
	return beside_report(sum_names, SUMS, check_names, CHECKS);
}
