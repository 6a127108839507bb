// SPDX-License-Identifier: GPL-2.0-only
/*
 * In the place of tools/session.c and of tools/counts.c: a session whose tables are what a
 * file says, for tests without the module.  PROFIL_FAKE names the file, one entry a line:
 *
 *   object INDEX PATH
 *   process PID PARENT IMAGES USER SYSTEM COMM
 *   row CGROUP PID USER SYSTEM COMM	of a session of the whole machine; - is no name
 *   slot OBJECT PLACE PROCESS USER SYSTEM
 *   exec N, full N, full_objects N, full_kernel N, not_due N, execs_denied N,
 *   forks_missed N, tick_ns N, idle N, kthreads N, interrupts N
 *   again N		so often ATTACH fails with EAGAIN
 *   until MS		what is above was counted when the table was read for the first time;
 *			what follows, only then, or until the next such line.  MS is for
 *			who plants profiles, and says when that was
 *   stays 1		there is a member until the end
 *   grow SLOT FROM USER SYSTEM	what a slot, and process 1, gets each time that somebody looks,
 *			from so many looks on
 *
 * PROFIL_FAKE_ERROR is the error of JOIN, ATTACH and session_possible(); PROFIL_FAKE_FLAGS are
 * those of sessions that the module says it has.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "clock.h"
#include "counts.h"
#include "say.h"

#define OBJECTS 512

const char *const session_device = "/dev/profil";

/* What was counted of a slot until the table is read for the time of this number. */
struct counted {
	size_t slot, reading;
	uint64_t user, system;
};

struct growth {
	size_t counted;
	unsigned long from;
	uint64_t user, system;
};

struct session {
	struct counts table;
	struct profil_slot *slots;
	struct counted *counted;
	size_t num_slots, room_slots, num_counted, room_counted, room_processes;
	size_t reading, readings;	/* how often it was read; how many times there are */
	char *paths[OBJECTS];
	unsigned long long tick_ns;
	int members[2];		/* a pipe: who joined has its writing end */
	bool stays;
	uint64_t began_ns;
	unsigned int *again;	/* ATTACHes to fail; shared with the processes that try */
	struct growth *growths;
	size_t room_growths, num_growths;
	unsigned long looks;
	int fd;			/* stands for the one of a true session */
	struct session *next;
};

static struct session *sessions;

int session_query(struct profil_ioc_query *query)
{
	*query = (struct profil_ioc_query) {
		.out_abi = PROFIL_ABI,
		.out_tick_hz = 250,
		.out_session_flags = getenv("PROFIL_FAKE_FLAGS") ?
			strtoul(getenv("PROFIL_FAKE_FLAGS"), NULL, 0) : 0x1f,
	};
	return 0;
}

int session_possible(const struct session_wish *wish)
{
	const char *error = getenv("PROFIL_FAKE_ERROR");

	(void)wish;
	return error ? atoi(error) : 0;
}

static void read_object(struct session *session, const char *line)
{
	unsigned int index;
	int path = 0;

	if (sscanf(line, "object %u %n", &index, &path) == 1 && path && index < OBJECTS)
		session->paths[index] = strdup(line + path);
	else
		die("PROFIL_FAKE: %s", line);
}

static void add_process(struct session *session, struct profil_process process)
{
	struct counts *table = &session->table;

	table->processes = more(table->processes, &session->room_processes,
				table->num_processes, sizeof(process));
	table->processes[table->num_processes++] = process;
}

static void read_row(struct session *session, const char *line)
{
	struct profil_process row = { .state = PROFIL_PROCESS_MEMBER };

	if (sscanf(line, "row %" SCNu64 " %u %" SCNu64 " %" SCNu64 " %15[^\n]",
		   (uint64_t *)&row.cgroup, &row.pid, (uint64_t *)&row.user,
		   (uint64_t *)&row.system, row.comm) != 5)
		die("PROFIL_FAKE: %s", line);
	if (!strcmp(row.comm, "-"))
		row.comm[0] = '\0';
	add_process(session, row);
}

static void read_process(struct session *session, const char *line)
{
	struct profil_process process = { 0 };

	if (sscanf(line, "process %u %u %u %" SCNu64 " %" SCNu64 " %15[^\n]", &process.pid,
		   &process.parent, &process.images, (uint64_t *)&process.user,
		   (uint64_t *)&process.system, process.comm) != 6)
		die("PROFIL_FAKE: %s", line);
	add_process(session, process);
}

/* The slot of this place, which is new before the first line "until". */
static size_t slot_of(struct session *session, const struct profil_slot *slot)
{
	for (size_t i = 0; i < session->num_slots && session->readings; i++)
		if (session->slots[i].object == slot->object &&
		    session->slots[i].place == slot->place &&
		    session->slots[i].process == slot->process)
			return i;
	session->slots = more(session->slots, &session->room_slots, session->num_slots,
			      sizeof(*slot));
	session->slots[session->num_slots] = *slot;
	return session->num_slots++;
}

static void read_slot(struct session *session, const char *line)
{
	struct profil_slot slot = { 0 };
	struct counted counted = { .reading = session->readings };

	if (sscanf(line, "slot %u %" SCNx64 " %u %" SCNu64 " %" SCNu64, &slot.object,
		   (uint64_t *)&slot.place, &slot.process, &counted.user, &counted.system) != 5)
		die("PROFIL_FAKE: %s", line);
	counted.slot = slot_of(session, &slot);
	session->counted = more(session->counted, &session->room_counted, session->num_counted,
				sizeof(counted));
	session->counted[session->num_counted++] = counted;
}

static void read_growth(struct session *session, const char *line)
{
	struct growth growth = { .counted = session->num_counted };
	struct counted counted = { 0 };

	if (sscanf(line, "grow %zu %lu %" SCNu64 " %" SCNu64, &counted.slot, &growth.from,
		   &growth.user, &growth.system) != 4 ||
	    counted.slot >= session->num_slots || session->table.num_processes < 2)
		die("PROFIL_FAKE: %s", line);
	session->counted = more(session->counted, &session->room_counted, session->num_counted,
				sizeof(counted));
	session->counted[session->num_counted++] = counted;
	session->growths = more(session->growths, &session->room_growths, session->num_growths,
				sizeof(growth));
	session->growths[session->num_growths++] = growth;
}

static void read_count(struct session *session, const char *line)
{
	struct profil_session_page *page = &session->table.page;
	unsigned long long value;
	char name[32];

	if (sscanf(line, "%31s %llu", name, &value) != 2)
		die("PROFIL_FAKE: %s", line);
	if (!strcmp(name, "exec"))
		page->exec = value;
	else if (!strcmp(name, "full"))
		page->full = value;
	else if (!strcmp(name, "full_objects"))
		page->full_objects = value;
	else if (!strcmp(name, "full_kernel"))
		page->full_kernel = value;
	else if (!strcmp(name, "idle"))
		page->idle = value;
	else if (!strcmp(name, "kthreads"))
		page->kthreads = value;
	else if (!strcmp(name, "interrupts"))
		page->interrupts = value;
	else if (!strcmp(name, "not_due"))
		page->not_due = value;
	else if (!strcmp(name, "execs_denied"))
		page->execs_denied = value;
	else if (!strcmp(name, "forks_missed"))
		page->forks_missed = value;
	else if (!strcmp(name, "again"))
		*session->again = value;
	else if (!strcmp(name, "stays"))
		session->stays = value;
	else if (!strcmp(name, "tick_ns"))
		session->tick_ns = value;
	else if (!strcmp(name, "until"))
		session->readings++;
	else
		die("PROFIL_FAKE: %s", line);
}

struct session *session_open(const struct session_wish *wish)
{
	struct session *session = allocated(calloc(1, sizeof(*session)));
	const char *path = getenv("PROFIL_FAKE");
	FILE *file = path ? fopen(path, "re") : NULL;
	char *line = NULL;
	size_t room = 0;

	session->again = mmap(NULL, sizeof(*session->again), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!file || session->again == MAP_FAILED || pipe2(session->members, O_CLOEXEC))
		die("PROFIL_FAKE: %m");
	session->fd = memfd_create("session", MFD_CLOEXEC);
	session->next = sessions;
	sessions = session;
	session->stays = wish->system;
	session->began_ns = clock_ns(CLOCK_MONOTONIC);
	session->tick_ns = wish->rate ? 1000000000 / wish->rate : 4000000;
	while (getline(&line, &room, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "object ", 7))
			read_object(session, line);
		else if (!strncmp(line, "process ", 8))
			read_process(session, line);
		else if (!strncmp(line, "row ", 4))
			read_row(session, line);
		else if (!strncmp(line, "slot ", 5))
			read_slot(session, line);
		else if (!strncmp(line, "grow ", 5))
			read_growth(session, line);
		else
			read_count(session, line);
	}
	free(line);
	fclose(file);
	return session;
}

void session_leave(const struct session *kept)
{
	for (struct session *session = sessions; session; session = session->next)
		if (session != kept)
			close(session->fd);
}

int session_inherit(struct session *session)
{
	(void)session;
	return 0;
}

/* PROFIL_FAKE_REFUSED: while there is a file of this name, no session follows. */
struct session *session_follow(struct session *former, const struct session_wish *wish)
{
	const char *refused = getenv("PROFIL_FAKE_REFUSED");

	(void)former;
	errno = ENOSPC;
	return refused && !access(refused, F_OK) ? NULL : session_open(wish);
}

static void close_writer(const struct session *session)
{
	int *writer = (int *)&session->members[1];

	if (*writer >= 0)
		close(*writer);
	*writer = -1;
}

int session_fd(const struct session *session)
{
	if (!session->stays)
		close_writer(session);
	return session->members[0];
}

uint64_t session_began_ns(const struct session *session)
{
	return session->began_ns;
}

uint64_t session_length_ns(const struct session *session)
{
	return clock_ns(CLOCK_MONOTONIC) - session->began_ns;
}

unsigned long long session_period_ns(const struct session *session)
{
	return session->tick_ns;
}

int session_join(struct session *session)
{
	const char *error = getenv("PROFIL_FAKE_ERROR");

	/* whoever has it is a member, over fork and exec */
	fcntl(session->members[1], F_SETFD, 0);
	return error ? atoi(error) : 0;
}

int session_attach(struct session *session, pid_t pid)
{
	bool again = *session->again;

	*session->again -= again;
	return again ? EAGAIN : kill(pid, 0) ? errno : getenv("PROFIL_FAKE_ERROR") ?
		atoi(getenv("PROFIL_FAKE_ERROR")) : 0;
}

void session_stop(struct session *session)
{
	if (session->reading < session->readings)
		session->reading = session->readings;
}

uint32_t counts_slots(const struct session *session)
{
	return session->num_slots;
}

size_t counts_num_processes(const struct session *session)
{
	return session->table.num_processes;
}

uint32_t counts_next_slot(const struct session *session, uint32_t i, struct profil_slot *slot)
{
	for (; i < session->num_slots; i++) {
		*slot = session->slots[i];
		if (slot->user || slot->system)
			break;
	}
	return i;
}

void counts_process(const struct session *session, size_t i, struct profil_process *process)
{
	*process = session->table.processes[i];
}

/* What the slots have by now; returns all of it. */
static uint64_t count_slots(struct session *session)
{
	uint64_t ticks = 0;

	for (size_t i = 0; i < session->num_slots; i++) {
		session->slots[i].user = 0;
		session->slots[i].system = 0;
	}
	for (size_t i = 0; i < session->num_counted; i++) {
		const struct counted *counted = &session->counted[i];

		if (counted->reading > session->reading)
			continue;
		session->slots[counted->slot].user += counted->user;
		session->slots[counted->slot].system += counted->system;
		ticks += counted->user + counted->system;
	}
	return ticks;
}

/* Who looks at a session that runs asks this first. */
void counts_page(const struct session *constant, struct profil_session_page *page)
{
	struct session *session = (struct session *)constant;

	for (size_t i = 0; i < session->num_growths; i++) {
		const struct growth *growth = &session->growths[i];

		if (session->looks < growth->from)
			continue;
		session->counted[growth->counted].user += growth->user;
		session->counted[growth->counted].system += growth->system;
		session->table.processes[1].user += growth->user;
		session->table.processes[1].system += growth->system;
	}
	session->looks++;
	count_slots(session);
	*page = session->table.page;
}

/* Who reads the table asks this first. */
uint64_t counts_ticks(const struct session *constant)
{
	struct session *session = (struct session *)constant;
	uint64_t ticks = count_slots(session);

	session->reading++;
	return ticks;
}

/* Who reads it all frees it, and may do that in a process of its own. */
void counts_read(struct session *session, struct counts *table)
{
	*table = session->table;
	session->table.processes = NULL;
}

char *session_object(struct session *session, unsigned int object, int *fd)
{
	const char *path = object < OBJECTS && session->paths[object] ? session->paths[object] : "";

	*fd = open(path, O_RDONLY | O_CLOEXEC);
	return allocated(strdup(path));
}

void session_close(struct session *session)
{
	struct session **at = &sessions;

	while (*at != session)
		at = &(*at)->next;
	*at = session->next;
	close(session->fd);
	for (int i = 0; i < OBJECTS; i++)
		free(session->paths[i]);
	close_writer(session);
	close(session->members[0]);
	free(session->table.processes);
	free(session->slots);
	free(session->counted);
	free(session->growths);
	free(session);
}
