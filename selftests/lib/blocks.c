// SPDX-License-Identifier: GPL-2.0-only
/*
 * Blocks whose number is known.  No line has two, and no function two ways out,
 * so that a line has one count.
 *
 *	blocks lines		branches and loops of each kind
 *	blocks threads N M	N threads reach the block of turn() M times each
 *	blocks anew N M		as threads, until there are files of it; prints how
 *				often
 *	blocks signals N	a handler reaches it N times, amid others; prints how
 *				often all did
 *	blocks fork N M		M times in each of N children
 */
#include <glob.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static long number;
static volatile sig_atomic_t handled, other;

static void turn(void)
{
	other++;		/* the turn */
}

static int collatz(long n)
{
	int length = 0;

	while (n != 1) {
		if (n & 1)
			n = 3 * n + 1;
		else
			n = n / 2;
		length++;
	}
	return length;
}

static int kind(int n)
{
	int k = 0;

	switch (n % 5) {
	case 0:
		k = 7;
		break;
	case 1:
		k = n;
		break;
	case 9:
		k = -n;
		break;
	default:
		do {
			k += n;
		} while (k < 100);
	}
	return k;
}

static int lines(void)
{
	long sum = 0;
	int i = 1;

	while (i < 1000) {
		sum += collatz(i);
		if (i % 7 == 3)
			sum += kind(i);
		i++;
	}
	if (sum < 0)
		sum = -sum;
	return sum == 0;
}

static void *thread(void *arg)
{
	long i;

	for (i = 0; i < number; i++)
		turn();		/* a call */
	return arg;
}

static int threads(int num)
{
	pthread_t id[num];
	int i;

	for (i = 0; i < num; i++)
		if (pthread_create(&id[i], NULL, thread, NULL))
			return 1;
	for (i = 0; i < num; i++)
		pthread_join(id[i], NULL);
	return 0;
}

/* Until files were written of it; and says how often all have made their turns. */
static int threads_beside_files(int num)
{
	glob_t found = { 0 };
	int rounds = 0, bad = 0;

	do {
		bad |= threads(num);
		rounds++;
		globfree(&found);
		bad |= glob("gmon.out*", 0, NULL, &found) == GLOB_NOSPACE;
	} while (!bad && found.gl_pathc < 3 && rounds < 1000);
	printf("%d\n", rounds);
	return bad || found.gl_pathc < 3;
}

static void handler(int sig)
{
	(void)sig;
	turn();
	handled++;
}

static int signals(void)
{
	struct itimerval often = { { 0, 50 }, { 0, 50 } };
	long mine = 0;

	signal(SIGALRM, handler);
	setitimer(ITIMER_REAL, &often, NULL);
	while (handled < number) {
		turn();
		mine++;
	}
	setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
	printf("%ld\n", mine + handled);
	return 0;
}

static int forks(int num)
{
	int i, status, bad = 0;

	thread(NULL);
	for (i = 0; i < num; i++) {
		pid_t pid = fork();

		if (!pid) {
			thread(NULL);
			exit(0);
		}
		bad |= waitpid(pid, &status, 0) != pid || status;
	}
	return bad;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	long first = argc > 2 ? atol(argv[2]) : 0;

	number = argc > 3 ? atol(argv[3]) : first;
	if (!strcmp(what, "threads"))
		return threads(first);
	if (!strcmp(what, "anew"))
		return threads_beside_files(first);
	if (!strcmp(what, "signals"))
		return signals();
	if (!strcmp(what, "fork"))
		return forks(first);
	return lines();
}

__attribute__((constructor)) static void before(void)
{
	other += 2;		/* before all */
}

__attribute__((destructor)) static void after(void)
{
	other += 3;		/* after all */
}
