// SPDX-License-Identifier: GPL-2.0-only
/* What profil watch takes itself, as its newest profile has it. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "causes.h"
#include "profile.h"
#include "spool.h"
#include "store.h"

#define NS 1000000000ULL
#define LATE 900	/* seconds, and another interval: then there should have been another one */

static void read_newest(struct cause *cause, const struct spool_file *file)
{
	struct profile profile;
	uint64_t own_ns = 0;
	char path[sizeof(SPOOL_FOLDER) + SPOOL_NAME], until[32];
	time_t end = file->end_ns / NS;
	struct tm tm;

	strcpy(path, SPOOL_FOLDER "/");
	strcat(path, file->name);
	/* it may just have become too old */
	if (access(path, R_OK))
		return;
	profile_init(&profile);
	store_read(&profile, path);
	for (size_t i = 0; i < profile.num_samples; i++)
		if (!strcmp(profile.samples[i].program, "profil"))
			add(&own_ns, profile.samples[i].cpu_ns);
	localtime_r(&end, &tm);
	strftime(until, sizeof(until), "%Y-%m-%d %H:%M:%S", &tm);
	cause->text = cause_text("profil watch took %.3f s of CPU in the %.0f s until %s",
				 own_ns / 1e9, profile.duration_ns / 1e9, until);
	if (time(NULL) - end > LATE + (time_t)(profile.duration_ns / NS)) {
		cause->state = CAUSE_NOTE;
		cause->mend = cause_text("there is no newer profile: systemctl status profil-watch");
	}
	profile_free(&profile);
}

void cause_watch(struct cause *cause)
{
	int fd = open(SPOOL_FOLDER, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct spool_list list = { 0 };

	if (fd < 0 && errno == EACCES) {
		cause->state = CAUSE_NOTE;
		cause->text = cause_text("profil watch has profiles of this machine, for root alone");
		cause->mend = cause_text("sudo profil check says what it takes itself");
	}
	if (fd < 0)
		return;
	if (spool_read(fd, &list) && list.num)
		read_newest(cause, &list.files[list.num - 1]);
	free(list.files);
	close(fd);
}
