// SPDX-License-Identifier: GPL-2.0-only
/*
 * In the place of tools/session.c: a session whose tables are what a file says, for tests
 * without the module.  PROFIL_FAKE names the file, one entry a line:
 *
 *   object INDEX PATH
 *   process PID PARENT IMAGES USER SYSTEM COMM
 *   slot OBJECT PLACE PROCESS USER SYSTEM
 *   exec N, full N, full_objects N, full_kernel N, not_due N, execs_denied N,
 *   forks_missed N, tick_ns N
 *   again N		so often ATTACH fails with EAGAIN
 *
 * PROFIL_FAKE_ERROR is the error of JOIN and ATTACH; with PROFIL_FAKE_OLD, the module says
 * that it has no sessions.
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
#include "say.h"
#include "session.h"

#define OBJECTS 256

const char *const session_device = "/dev/profil";

struct session {
	struct session_table table;
	size_t room_slots, room_processes;
	char *paths[OBJECTS];
	unsigned long long tick_ns;
	int members[2];		/* a pipe: who joined has its writing end */
	unsigned int *again;	/* ATTACHes to fail; shared with the processes that try */
};

int session_query(struct profil_ioc_query *query)
{
	*query = (struct profil_ioc_query) {
		.out_abi = PROFIL_ABI,
		.out_tick_hz = 250,
		.out_session_flags = getenv("PROFIL_FAKE_OLD") ? 0 : PROFIL_SESSION_F_USER_ONLY,
	};
	return 0;
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

static void read_process(struct session *session, const char *line)
{
	struct session_table *table = &session->table;
	struct profil_process process = { 0 };

	if (sscanf(line, "process %u %u %u %" SCNu64 " %" SCNu64 " %15[^\n]", &process.pid,
		   &process.parent, &process.images, (uint64_t *)&process.user,
		   (uint64_t *)&process.system, process.comm) != 6)
		die("PROFIL_FAKE: %s", line);
	table->processes = more(table->processes, &session->room_processes,
				table->num_processes, sizeof(process));
	table->processes[table->num_processes++] = process;
}

static void read_slot(struct session *session, const char *line)
{
	struct session_table *table = &session->table;
	struct profil_slot slot = { 0 };

	if (sscanf(line, "slot %u %" SCNx64 " %u %" SCNu64 " %" SCNu64, &slot.object,
		   (uint64_t *)&slot.place, &slot.process, (uint64_t *)&slot.user,
		   (uint64_t *)&slot.system) != 5)
		die("PROFIL_FAKE: %s", line);
	table->slots = more(table->slots, &session->room_slots, table->num_slots, sizeof(slot));
	table->slots[table->num_slots++] = slot;
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
	else if (!strcmp(name, "not_due"))
		page->not_due = value;
	else if (!strcmp(name, "execs_denied"))
		page->execs_denied = value;
	else if (!strcmp(name, "forks_missed"))
		page->forks_missed = value;
	else if (!strcmp(name, "again"))
		*session->again = value;
	else if (!strcmp(name, "tick_ns"))
		session->tick_ns = value;
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
	session->tick_ns = wish->rate ? 1000000000 / wish->rate : 4000000;
	while (getline(&line, &room, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "object ", 7))
			read_object(session, line);
		else if (!strncmp(line, "process ", 8))
			read_process(session, line);
		else if (!strncmp(line, "slot ", 5))
			read_slot(session, line);
		else
			read_count(session, line);
	}
	free(line);
	fclose(file);
	return session;
}

int session_fd(const struct session *session)
{
	close(session->members[1]);
	return session->members[0];
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

const char *session_error(int error)
{
	return strerror(error);
}

void session_stop(struct session *session)
{
	(void)session;
}

void session_read(struct session *session, struct session_table *table)
{
	*table = session->table;
}

char *session_object(struct session *session, unsigned int object, int *fd)
{
	const char *path = object < OBJECTS && session->paths[object] ? session->paths[object] : "";

	*fd = open(path, O_RDONLY | O_CLOEXEC);
	return allocated(strdup(path));
}

void session_close(struct session *session)
{
	for (int i = 0; i < OBJECTS; i++)
		free(session->paths[i]);
	close(session->members[0]);
	free(session);
}
