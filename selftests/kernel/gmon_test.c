// SPDX-License-Identifier: GPL-2.0-only
/*
 * The files of a program of gcc -pg hold what the kernel counted, sample for
 * sample, and each call.
 */
#include <glob.h>
#include <libgen.h>
#include <sys/mount.h>
#include <sys/sysmacros.h>

#include "profil_common.h"

#define CHILDREN	3
#define TICKS		30

/* What is known of a process, and what its files say. */
struct run {
	int pid;
	unsigned long long samples, file_samples;
	unsigned long calls, file_calls, leaf;
	unsigned int rate;
};

FIXTURE(gmon) {
	int fd, num;
	char dir[32];
	struct run runs[CHILDREN + 1];
};

/* The program lies beside this one. */
static void helper_path(char *path, size_t bytes)
{
	ssize_t len = readlink("/proc/self/exe", path, bytes - 1);

	path[len < 0 ? 0 : len] = 0;
	dirname(path);
	strncat(path, "/gmon_helper", bytes - strlen(path) - 1);
}

static int run_helper(FIXTURE_DATA(gmon) *self, const char *environment, int children)
{
	char path[256], command[384];
	FILE *out;

	helper_path(path, sizeof(path));
	snprintf(command, sizeof(command), "cd %s && %s %s %d %d", self->dir,
		 environment, path, TICKS, children);
	out = popen(command, "r");
	while (out && self->num < CHILDREN + 1) {
		struct run *run = &self->runs[self->num];

		if (fscanf(out, "%d %llu %lu %li", &run->pid, &run->samples,
			   &run->calls, (long *)&run->leaf) != 4)
			break;
		self->num++;
	}
	return out ? pclose(out) : -1;
}

/* Records of @file, added to what is known of @run; false if there is an odd one. */
static bool read_gmon(struct run *run, const char *file)
{
	unsigned char header[20], kind, text[16];
	struct { __u64 from, self; } arc;
	struct { __u64 low, high; } range;
	__u32 bins, rate, count;
	__u16 bin;
	FILE *in = fopen(file, "r");
	bool ok = in && fread(header, sizeof(header), 1, in) == 1 &&
		  !memcmp(header, "gmon\1\0\0\0", 8);

	while (ok && fread(&kind, 1, 1, in) == 1) {
		if (kind == 1) {
			ok = fread(&arc, sizeof(arc), 1, in) == 1 &&
			     fread(&count, sizeof(count), 1, in) == 1;
			if (arc.self > run->leaf && arc.self < run->leaf + 24)
				run->file_calls += count;
			continue;
		}
		ok = kind == 0 && fread(&range, sizeof(range), 1, in) == 1 &&
		     fread(&bins, sizeof(bins), 1, in) == 1 &&
		     fread(&rate, sizeof(rate), 1, in) == 1 &&
		     fread(text, sizeof(text), 1, in) == 1 &&
		     !memcmp(text, "seconds\0\0\0\0\0\0\0\0s", 16) &&
		     bins && range.high > range.low && !((range.high - range.low) % bins);
		run->rate = rate;
		while (ok && bins--) {
			ok = fread(&bin, sizeof(bin), 1, in) == 1;
			run->file_samples += bin;
		}
	}
	if (in)
		fclose(in);
	return ok;
}

static bool read_glob(struct run *run, const char *pattern)
{
	glob_t files;
	bool ok = true;
	size_t i;

	if (glob(pattern, 0, NULL, &files))
		return true;
	for (i = 0; ok && i < files.gl_pathc; i++)
		ok = read_gmon(run, files.gl_pathv[i]);
	globfree(&files);
	return ok;
}

/* All files of a process: "gmon.out", its @suffix, and those of other objects. */
static bool read_files(struct run *run, const char *dir, const char *suffix)
{
	char pattern[64];

	snprintf(pattern, sizeof(pattern), "%s/gmon.out%s", dir, suffix);
	if (!read_gmon(run, pattern))
		return false;
	strcat(pattern, ".[!0-9]*");
	return read_glob(run, pattern);
}

FIXTURE_SETUP(gmon)
{
	strcpy(self->dir, "/tmp/gmon.XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->dir));
	self->fd = profil_open();
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(gmon)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", self->dir);
	EXPECT_EQ(0, system(command));
	close(self->fd);
}

static void check_run(struct __test_metadata *_metadata, FIXTURE_DATA(gmon) *self,
		      struct run *run, const char *suffix)
{
	struct profil_ioc_query query;

	ASSERT_EQ(0, profil_query(self->fd, &query));
	ASSERT_TRUE(read_files(run, self->dir, suffix));
	EXPECT_EQ(run->samples, run->file_samples);
	EXPECT_EQ(run->calls, run->file_calls);
	EXPECT_EQ(query.out_tick_hz, run->rate);
	EXPECT_LT(TICKS / 2, run->samples);
}

TEST_F(gmon, samples_and_calls_are_the_kernels_and_all)
{
	ASSERT_EQ(0, run_helper(self, "", 0));
	ASSERT_EQ(1, self->num);
	check_run(_metadata, self, &self->runs[0], "");
}

/* moncontrol() and the end of the program need no device any more. */
TEST_F(gmon, goes_on_where_there_is_no_device)
{
	ASSERT_EQ(0, run_helper(self, "AWAY=1", 0));
	ASSERT_EQ(1, self->num);
	check_run(_metadata, self, &self->runs[0], "");
}

TEST_F(gmon, children_have_files_and_counts_of_their_own)
{
	char suffix[16];
	int i;

	ASSERT_EQ(0, run_helper(self, "", CHILDREN));
	ASSERT_EQ(CHILDREN + 1, self->num);
	for (i = 0; i < CHILDREN; i++) {
		snprintf(suffix, sizeof(suffix), ".%d", self->runs[i].pid);
		check_run(_metadata, self, &self->runs[i], suffix);
	}
	check_run(_metadata, self, &self->runs[CHILDREN], "");
}

/* The header has the true rate, and the files all samples. */
static void check_rate(struct __test_metadata *_metadata, FIXTURE_DATA(gmon) *self,
		       const char *environment, unsigned int rate)
{
	struct run *run = &self->runs[0];

	self->num = 0;
	memset(run, 0, sizeof(*run));
	ASSERT_EQ(0, run_helper(self, environment, 0));
	ASSERT_EQ(1, self->num);
	ASSERT_TRUE(read_files(run, self->dir, ""));
	EXPECT_EQ(rate, run->rate);
	EXPECT_EQ(run->samples, run->file_samples);
	EXPECT_LT(0, run->samples);
}

TEST_F(gmon, the_environment_asks_for_a_rate_and_a_source)
{
	struct profil_ioc_query query;

	ASSERT_EQ(0, profil_query(self->fd, &query));
	check_rate(_metadata, self, "PROFIL_RATE=50", 50);
	if (query.out_timer_rate_max) {
		check_rate(_metadata, self, "PROFIL_RATE=2000", 2000);
		check_rate(_metadata, self, "PROFIL_SOURCE=timer", query.out_tick_hz);
	}
}

/* Files are written, and counts begin anew, while the kernel counts. */
TEST_F(gmon, no_sample_is_lost_between_two_files)
{
	struct run *run = &self->runs[0];
	char pattern[64];

	ASSERT_EQ(0, run_helper(self, "PROFIL_INTERVAL=0.005 PROFIL_RESET=1", 0));
	ASSERT_EQ(1, self->num);
	snprintf(pattern, sizeof(pattern), "%s/gmon.out.%d.1", self->dir, run->pid);
	EXPECT_EQ(0, access(pattern, R_OK));
	snprintf(pattern, sizeof(pattern), "%s/gmon.out*", self->dir);
	ASSERT_TRUE(read_glob(run, pattern));
	EXPECT_EQ(run->samples, run->file_samples);
	EXPECT_EQ(run->calls, run->file_calls);
}

/* Where memory is short, a counter is of more code, and of one file all the same. */
TEST_F(gmon, no_sample_is_lost_where_memory_is_short)
{
	struct run *run = &self->runs[0];
	char file[64], said[16] = "";
	FILE *in;

	ASSERT_EQ(0, run_helper(self, "exec 2>said; ulimit -v 4000;", 0));
	ASSERT_EQ(1, self->num);
	ASSERT_TRUE(read_files(run, self->dir, ""));
	EXPECT_EQ(run->samples, run->file_samples);
	EXPECT_EQ(run->calls, run->file_calls);
	snprintf(file, sizeof(file), "%s/said", self->dir);
	in = fopen(file, "r");
	ASSERT_NE(NULL, in);
	EXPECT_NE(NULL, fgets(said, sizeof(said), in));
	EXPECT_STREQ("profil: samples", said);
	fclose(in);
}

TEST_F(gmon, a_device_is_written_and_not_replaced)
{
	struct stat stat;
	char file[64];

	snprintf(file, sizeof(file), "%s/gmon.out", self->dir);
	ASSERT_EQ(0, mknod(file, S_IFCHR | 0666, makedev(1, 3)));
	ASSERT_EQ(0, run_helper(self, "", 0));
	ASSERT_EQ(0, lstat(file, &stat));
	EXPECT_TRUE(S_ISCHR(stat.st_mode));
}

TEST_F(gmon, a_file_that_is_mounted_is_written)
{
	struct run *run = &self->runs[0];
	char file[64], outside[64];

	snprintf(file, sizeof(file), "%s/gmon.out", self->dir);
	snprintf(outside, sizeof(outside), "%s/outside", self->dir);
	ASSERT_EQ(0, mknod(file, S_IFREG | 0666, 0));
	ASSERT_EQ(0, mknod(outside, S_IFREG | 0666, 0));
	ASSERT_EQ(0, mount(outside, file, NULL, MS_BIND, NULL));
	EXPECT_EQ(0, run_helper(self, "", 0));
	EXPECT_EQ(0, umount(file));
	ASSERT_TRUE(read_gmon(run, outside));
	EXPECT_EQ(run->calls, run->file_calls);
}

TEST_F(gmon, samples_in_no_object_are_told)
{
	unsigned long long all = 0, in_files = 0, in_none = 0, lost = 0;
	char file[64];
	FILE *in;
	int num;

	ASSERT_EQ(0, run_helper(self, "exec 2>said; PROFIL_VERBOSE=1", 0));
	ASSERT_EQ(1, self->num);
	snprintf(file, sizeof(file), "%s/said", self->dir);
	in = fopen(file, "r");
	ASSERT_NE(NULL, in);
	num = fscanf(in, "profil: of %llu samples %llu are in files, %llu in no object, %llu",
		     &all, &in_files, &in_none, &lost);
	fclose(in);
	EXPECT_EQ(4, num);
	EXPECT_EQ(self->runs[0].samples, in_files);
	EXPECT_EQ(all, in_files + in_none + lost);
	EXPECT_LE(TICKS, all);
}

TEST_F(gmon, samples_are_told_on_request_alone)
{
	char file[64];
	FILE *in;

	ASSERT_EQ(0, run_helper(self, "exec 2>said; PROFIL_VERBOSE=0", 0));
	snprintf(file, sizeof(file), "%s/said", self->dir);
	in = fopen(file, "r");
	ASSERT_NE(NULL, in);
	EXPECT_EQ(EOF, getc(in));
	fclose(in);
}

TEST_HARNESS_MAIN
