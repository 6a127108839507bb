// SPDX-License-Identifier: GPL-2.0-only
/*
 * What profil annotate reads, many times, each time broken in another way: the file with the
 * code, in the process that may crash, and what this process tells, which must not harm who
 * listens.  Nothing here decides whether a crash was one of elfutils' or of ours.
 *
 *   mutate_code FILE TIMES SEED FUNCTION ADDRESS...
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "body.h"
#include "function.h"
#include "listing.h"
#include "mutate.h"
#include "order.h"
#include "records.h"
#include "say.h"
#include "sheet.h"

#define TOLD_AGAIN 20	/* so often is what was told broken as well */

static unsigned char bytes[BYTES_MAX];

/* Much of a file is zeros, which nobody reads. */
static size_t random_place(const unsigned char *all, size_t length)
{
	size_t at = 0, head = length < 1000 ? length : 1000;

	for (int i = 0; i < 20; i++) {
		at = random_below(random_below(3) ? length : head);
		if (all[at])
			break;
	}
	return at;
}

static size_t mutate(unsigned char *all, size_t length)
{
	for (unsigned int i = random_below(12) + 1; i && length > 8; i--) {
		size_t at = random_place(all, length), from = random_place(all, length);

		switch (random_below(8)) {
		case 0:
			all[at] = random_below(2) ? 0xff : 0x7f;
			break;
		case 1:
			all[at] = all[from];
			break;
		case 2:
			all[at] += random_below(2) ? 1 : -1;
			break;
		case 3:
			if (!random_below(20))
				length = at + 1;
			break;
		default:
			all[at] ^= 1 << random_below(8);
			break;
		}
	}
	return length;
}

/* All that is done with a body, in each of its forms. */
static void look(struct profile *profile, const struct row *row, const struct body *body)
{
	for (int way = 0; way < 3; way++) {
		struct sources sources = { 0 };
		struct listing listing = { 0 };

		if (way == 0)
			listing_source(profile, body, &sources, &listing);
		else
			listing_code(profile, body, way == 1 ? &sources : NULL, &listing);
		records_tsv(nowhere, row, body, &listing);
		records_json(nowhere, row, body, &listing);
		sheet_put(nowhere, body, &listing, 20 * way);
		listing_fold(&listing);
		sheet_put(nowhere, body, &listing, 20 * way);
		free(listing.lines);
		sources_free(&sources);
	}
}

/* Takes what is told out of memory of its own size: what is read behind it is found. */
static void listen(struct profile *profile, const struct row *row, const unsigned char *all,
		   size_t length)
{
	char *exact = allocated(malloc(length + !length));
	struct told told = { .next = exact, .end = exact + length };
	struct body body;

	memcpy(exact, all, length);
	body_take(profile, &told, &body);
	look(profile, row, &body);
	body_free(&body);
	free(exact);
}

/* What a reader that went astray might tell. */
static void tell_again(struct profile *profile, const struct row *row, int fd,
		       struct function_wish *wish)
{
	unsigned char *broken;
	struct told told;
	size_t length;

	reader_run(fd, (struct reader_how) { 0 }, function_tell, wish, &told);
	length = told.end - told.texts;
	broken = allocated(malloc(length + 1));
	for (int i = 0; i < TOLD_AGAIN && length; i++) {
		memcpy(broken, told.texts, length);
		listen(profile, row, broken, mutate(broken, length));
	}
	free(broken);
	free(told.texts);
}

/* Where @num texts end. */
static const char *skip_texts(const struct told *told, const char *text, size_t num)
{
	while (num-- && text < told->end)
		text += strlen(text) + 1;
	return text;
}

/* One text, or as many as a range has, left out at each place. */
static void leave_out(struct profile *profile, const struct row *row, int fd,
		      struct function_wish *wish)
{
	static const size_t nums[] = { 1, 6 };
	unsigned char *broken;
	struct told told;

	reader_run(fd, (struct reader_how) { 0 }, function_tell, wish, &told);
	broken = allocated(malloc(told.end - told.texts + 1));
	for (size_t i = 0; i < sizeof(nums) / sizeof(nums[0]); i++)
		for (const char *at = told.texts; at < told.end; at = skip_texts(&told, at, 1)) {
			const char *rest = skip_texts(&told, at, nums[i]);

			memcpy(broken, told.texts, at - told.texts);
			memcpy(broken + (at - told.texts), rest, told.end - rest);
			listen(profile, row, broken, (at - told.texts) + (told.end - rest));
		}
	free(broken);
	free(told.texts);
}

static int open_bytes(const unsigned char *all, size_t length)
{
	int fd = memfd_create("mutated", MFD_CLOEXEC);

	if (fd < 0 || write(fd, all, length) != (ssize_t)length || lseek(fd, 0, SEEK_SET))
		die("a file in memory: %m");
	return fd;
}

/* A profile with ten samples at each of the addresses. */
static void make_profile(struct profile *profile, const char *function, char **addresses, int num)
{
	const char *none = profile_string(profile, "");

	profile_add_object(profile, (struct object) {
		.file = profile_string(profile, "/mutated"), .build_id = none,
	});
	for (int i = 0; i < num; i++) {
		size_t place = profile_add_place(profile, (struct place) {
			.address = strtoull(addresses[i], NULL, 16), .symbol = none,
			.function = profile_string(profile, function), .source = none,
		});

		profile_add_sample(profile, (struct sample) {
			.place = place, .program = none, .samples = 10,
		});
	}
}

int main(int argc, char **argv)
{
	unsigned long times, read = 0;
	uint64_t addresses[16];
	struct function_wish wish = { .path = "/mutated", .addresses = addresses };
	struct profile profile;
	struct table table;
	size_t length;

	if (argc < 6 || argc > 5 + 16)
		die("mutate_code FILE TIMES SEED FUNCTION ADDRESS...");
	length = begin(argv[1], argv[3]);
	times = strtoul(argv[2], NULL, 10);
	profile_init(&profile);
	make_profile(&profile, argv[4], argv + 5, argc - 5);
	table_make(&profile, BY_FUNCTION, &table);
	for (; wish.num < (size_t)argc - 5; wish.num++)
		addresses[wish.num] = strtoull(argv[5 + wish.num], NULL, 16);
	/* each child would load the disassembler anew */
	function_tell(&wish, open_bytes(original, length), nowhere);
	leave_out(&profile, table.rows, open_bytes(original, length), &wish);
	for (unsigned long i = 0; i < times; i++) {
		struct body body;
		size_t mutated;

		memcpy(bytes, original, length);
		mutated = i ? mutate(bytes, length) : length;
		if (body_read(&profile, table.rows, open_bytes(bytes, mutated),
			      table.rows->object, &body)) {
			read += body.num_steps > 0;
			look(&profile, table.rows, &body);
		}
		body_free(&body);
		if (i % TOLD_AGAIN == 0)
			tell_again(&profile, table.rows, open_bytes(bytes, mutated), &wish);
	}
	table_free(&table);
	profile_free(&profile);
	fclose(nowhere);
	printf("%lu mutated files, of which %lu have code\n", times, read);
	return 0;
}
