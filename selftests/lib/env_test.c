// SPDX-License-Identifier: GPL-2.0-only
/* What PROFIL_RATE and PROFIL_SOURCE make of profil() and sprofil(). */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <profil.h>
#include "mock.h"
#include "tap.h"

#define MISSING	"cannot open /dev/profil: No such file or directory; " \
		"load the module (sudo modprobe profil)"

#define TICK	PROFIL_SOURCE_TICK
#define TIMER	PROFIL_SOURCE_TIMER

static unsigned short bins[16];
static struct prof range = { bins, sizeof(bins), 0x1000, 65536 };

/* What the next START has to bring. */
static struct {
	__u32 rate, source;
} want;

static bool is_wanted(void *arg)
{
	struct profil_ioc_start *start = arg;

	TAP_CHECK(start->size == sizeof(*start));
	TAP_CHECK(start->flags == 0 && !start->__reserved);
	TAP_CHECK(start->region_num == 1);
	if (start->rate != want.rate || start->source != want.source)
		return tap_fail("rate %u of source %u instead of %u of %u", start->rate,
				start->source, want.rate, want.source);
	TAP_CHECK(start->jitter == (want.source == TIMER ? 100 : 0));
	return true;
}

static int start(void)
{
	return profil(bins, sizeof(bins), 0x1234, 65536);
}

static void set(const char *name, const char *value)
{
	if (value)
		setenv(name, value, 1);
	else
		unsetenv(name);
}

/* NULL: not in the environment. */
static void ask(const char *rate, const char *source)
{
	set("PROFIL_RATE", rate);
	set("PROFIL_SOURCE", source);
}

/* profil() at 250 Hz: one QUERY, and a START with that. */
static bool gives(const char *rate, const char *source, __u32 want_rate, __u32 want_source)
{
	ask(rate, source);
	want.rate = want_rate;
	want.source = want_source;
	EXPECT(QUERY(250), START(is_wanted));
	errno = 77;
	TAP_CHECK(!start());
	TAP_CHECK(errno == 77);
	TAP_CHECK(!*mock_stderr());
	return mock_done();
}

static bool nothing_asked(void)
{
	ask(NULL, NULL);
	want.rate = 100;
	EXPECT(START(is_wanted));
	TAP_CHECK(!start());
	return mock_done();
}

static bool up_to_the_tick(void)
{
	return gives("1", NULL, 1, TICK) && gives("50", NULL, 50, TICK) &&
	       gives("249", NULL, 249, TICK) && gives("250", NULL, 250, TICK);
}

static bool above_the_tick(void)
{
	return gives("251", NULL, 251, TIMER) && gives("1000", NULL, 1000, TIMER) &&
	       gives("10000", NULL, 10000, TIMER);
}

static bool timer(void)
{
	return gives(NULL, "timer", 100, TIMER) && gives("1", "timer", 1, TIMER) &&
	       gives("250", "timer", 250, TIMER) && gives("10000", "timer", 10000, TIMER);
}

static bool tick(void)
{
	return gives(NULL, "tick", 100, TICK) && gives("1", "tick", 1, TICK) &&
	       gives("250", "tick", 250, TICK);
}

static bool query_without_timer(void *arg)
{
	struct profil_ioc_query *query = arg;

	mock_query_250(arg);
	query->out_timer_rate_max = 0;
	return true;
}

static bool query_slow_timer(void *arg)
{
	struct profil_ioc_query *query = arg;

	mock_query_250(arg);
	query->out_timer_rate_max = 50;
	return true;
}

/* What cannot be had: the line, and the default for all the rest. */
static const struct wrong {
	const char *rate, *source;
	bool (*query)(void *arg);
	const char *line;
} too_high[] = {
	{ "1000", "tick", mock_query_250,
	  "PROFIL_RATE=1000 is above the tick's 250 a second; "
	  "PROFIL_SOURCE=timer gives up to 10000" },
	{ "251", "tick", mock_query_250,
	  "PROFIL_RATE=251 is above the tick's 250 a second; "
	  "PROFIL_SOURCE=timer gives up to 10000" },
	{ "10001", "tick", mock_query_250,
	  "PROFIL_RATE=10001 is above the tick's 250 a second; "
	  "PROFIL_SOURCE=timer gives up to 10000" },
	{ "251", "tick", query_slow_timer,
	  "PROFIL_RATE=251 is above the tick's 250 a second; PROFIL_RATE=250 is the most" },
	{ "10001", NULL, mock_query_250,
	  "PROFIL_RATE=10001 is above the timer's 10000 a second; PROFIL_RATE=10000 is the most" },
	{ "4294967295", "timer", mock_query_1000,
	  "PROFIL_RATE=4294967295 is above the timer's 10000 a second; "
	  "PROFIL_RATE=10000 is the most" },
	{ "51", "timer", query_slow_timer,
	  "PROFIL_RATE=51 is above the timer's 50 a second; PROFIL_RATE=50 is the most" },
	{ NULL, "timer", query_slow_timer,
	  "the default of 100 is above the timer's 50 a second; PROFIL_RATE=50 is the most" },
	/* The timer would be no better. */
	{ "251", NULL, query_slow_timer,
	  "PROFIL_RATE=251 is above the tick's 250 a second; PROFIL_RATE=250 is the most" },
}, without_timer[] = {
	{ "1000", NULL, query_without_timer,
	  "PROFIL_RATE=1000 is above the tick's 250 a second; "
	  "PROFIL_RATE=250 is the most without a timer" },
	{ "1000", "tick", query_without_timer,
	  "PROFIL_RATE=1000 is above the tick's 250 a second; "
	  "PROFIL_RATE=250 is the most without a timer" },
	{ NULL, "timer", query_without_timer,
	  "PROFIL_SOURCE=timer is not possible here, for there is no such timer; "
	  "PROFIL_SOURCE=tick gives up to 250 a second" },
	{ "50", "timer", query_without_timer,
	  "PROFIL_SOURCE=timer is not possible here, for there is no such timer; "
	  "PROFIL_SOURCE=tick gives up to 250 a second" },
};

static bool is_said(const char *line)
{
	char whole[256];
	const char *said = mock_stderr();

	snprintf(whole, sizeof(whole), "profil: %s\n", line);
	return !strcmp(said, whole) || tap_fail("said is: %s# and not: %s", said, whole);
}

/* The second call does the same and says nothing. */
static bool is_wrong(const struct wrong *wrong)
{
	const struct mock_step steps[] = {
		{ PROFIL_IOC_QUERY, wrong->query, 0 }, START(is_wanted),
		{ PROFIL_IOC_QUERY, wrong->query, 0 }, START(is_wanted),
	};

	ask(wrong->rate, wrong->source);
	want.rate = 100;
	want.source = TICK;
	mock_expect(steps, ARRAY_SIZE(steps));
	errno = 77;
	TAP_CHECK(!start());
	TAP_CHECK(is_said(wrong->line));
	TAP_CHECK(!start());
	TAP_CHECK(errno == 77);
	TAP_CHECK(!*mock_stderr());
	return mock_done();
}

/* Each in a process of its own, for each says it once. */
static bool are_wrong(const struct wrong *wrong, size_t num)
{
	for (size_t i = 0; i < num; i++) {
		pid_t pid = fork();
		int status;

		if (!pid) {
			bool ok = is_wrong(&wrong[i]);

			fflush(stdout);
			_exit(!ok);
		}
		TAP_CHECK(waitpid(pid, &status, 0) == pid);
		TAP_CHECK(status == 0);
	}
	return true;
}

static bool rates_too_high(void)
{
	return are_wrong(too_high, ARRAY_SIZE(too_high));
}

static bool timer_is_missing(void)
{
	return are_wrong(without_timer, ARRAY_SIZE(without_timer));
}

/* Without a timer, what the tick can give is given. */
static bool timer_not_needed(void)
{
	ask("250", NULL);
	want.rate = 250;
	EXPECT({ PROFIL_IOC_QUERY, query_without_timer, 0 }, START(is_wanted));
	TAP_CHECK(!start());
	TAP_CHECK(!*mock_stderr());
	return mock_done();
}

/* What the other one asks for is not done either. */
static bool rates_not_understood(void)
{
	static const char *const words[] = {
		"0", "00", "-1", "-100", "+100", "", " ", " 100", "100 ", "100x", "1e3",
		"0x100", "100.0", "many", "4294967296", "4294967396", "18446744073709551716",
		"99999999999999999999999999999999999999999",
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		char line[160];
		struct wrong wrong = { words[i], i % 2 ? "timer" : NULL, mock_query_250, line };

		snprintf(line, sizeof(line), "cannot understand PROFIL_RATE=%s; "
			 "type the samples of a second, as in PROFIL_RATE=1000", words[i]);
		TAP_CHECK(are_wrong(&wrong, 1));
	}
	return true;
}

static bool sources_not_understood(void)
{
	static const char *const words[] = {
		"", " ", "Timer", "timer ", "ticks", "1", "tick,timer",
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		char line[160];
		struct wrong wrong = { i % 2 ? "50" : NULL, words[i], mock_query_250, line };

		snprintf(line, sizeof(line), "cannot understand PROFIL_SOURCE=%s; "
			 "type PROFIL_SOURCE=tick or PROFIL_SOURCE=timer", words[i]);
		TAP_CHECK(are_wrong(&wrong, 1));
	}
	return true;
}

static bool quiet(void)
{
	setenv("PROFIL_QUIET", "1", 1);
	return gives("1000", "tick", 100, TICK) && gives("much", NULL, 100, TICK);
}

/* One line is about the rate, another one may be about the device. */
static bool device_is_said_too(void)
{
	ask("much", NULL);
	want.rate = 100;
	EXPECT(QUERY(250), START(is_wanted), OPEN_FAILS(ENOENT));
	TAP_CHECK(!start());
	TAP_CHECK(strstr(mock_stderr(), "much"));
	mock_close_all();
	TAP_CHECK(start() == -1);
	TAP_CHECK(errno == ENOENT);
	TAP_CHECK(strstr(mock_stderr(), "load the module"));
	return mock_done();
}

static bool no_device(void)
{
	ask("much", "more");
	EXPECT(OPEN_FAILS(ENOENT), QUERY(250), OPEN_FAILS(EMFILE));
	TAP_CHECK(start() == -1);
	TAP_CHECK(errno == ENOENT);
	TAP_CHECK(is_said(MISSING));
	ask("50", NULL);
	TAP_CHECK(start() == -1);
	TAP_CHECK(errno == EMFILE);
	return mock_done();
}

static bool query_fails(void)
{
	ask("50", NULL);
	EXPECT(QUERY_FAILS(ENOTTY));
	TAP_CHECK(start() == -1);
	TAP_CHECK(errno == ENOTTY);
	TAP_CHECK(!*mock_stderr());
	return mock_done();
}

static bool set_user_id(void)
{
	ask("1000", "timer");
	mock_set_user_id();
	want.rate = 100;
	EXPECT(START(is_wanted), QUERY(250), START(is_wanted));
	TAP_CHECK(!start());
	TAP_CHECK(!sprofil(&range, 1, NULL, PROF_USHORT));
	return mock_done();
}

static struct profil_ioc_start whole_command = { .region_num = 1 };

static bool is_whole_command(void *arg)
{
	TAP_CHECK(arg == &whole_command);
	TAP_CHECK(!whole_command.rate && !whole_command.source);
	return true;
}

static bool not_for_profil_start(void)
{
	ask("1000", "timer");
	EXPECT(START(is_whole_command), STOP);
	TAP_CHECK(!profil_start(&whole_command));
	TAP_CHECK(!profil_stop());
	return mock_done();
}

static bool end_asks_nothing(void)
{
	TAP_CHECK(gives("1000", NULL, 1000, TIMER));
	EXPECT(STOP);
	TAP_CHECK(!profil(bins, sizeof(bins), 0, 0));
	TAP_CHECK(!profil_stop());
	TAP_CHECK(!sprofil(NULL, 0, NULL, PROF_USHORT));
	return mock_done();
}

static void *start_thread(void *unused)
{
	start();
	return unused;
}

static bool threads_say_it_once(void)
{
	pthread_t thread[8];
	const char *said;

	ask("1000", "tick");
	mock_expect_any();
	for (size_t i = 0; i < ARRAY_SIZE(thread); i++)
		TAP_CHECK(!pthread_create(&thread[i], NULL, start_thread, NULL));
	for (size_t i = 0; i < ARRAY_SIZE(thread); i++)
		pthread_join(thread[i], NULL);
	said = mock_stderr();
	TAP_CHECK(*said && strchr(said, '\n') == said + strlen(said) - 1);
	return mock_done();
}

static bool period_is(const struct timeval *tv, long us)
{
	if (tv->tv_sec == us / 1000000 && tv->tv_usec == us % 1000000)
		return true;
	return tap_fail("%ld.%06ld seconds instead of %ld microseconds",
			(long)tv->tv_sec, (long)tv->tv_usec, us);
}

/* sprofil() at 250 Hz: no other command than without the environment. */
static bool periods(const char *rate, const char *source, unsigned int flags,
		    __u32 want_rate, __u32 want_source, long us)
{
	struct timeval tv = { -1, -1 };

	ask(rate, source);
	want.rate = want_rate;
	want.source = want_source;
	EXPECT(QUERY(250), START(is_wanted), STOP, QUERY(250));
	TAP_CHECK(!sprofil(&range, 1, &tv, flags));
	TAP_CHECK(period_is(&tv, us));
	/* The end of it says the same. */
	tv.tv_sec = -1;
	TAP_CHECK(!sprofil(NULL, 0, &tv, flags));
	TAP_CHECK(period_is(&tv, us));
	return mock_done();
}

static bool sprofil_periods(void)
{
	TAP_CHECK(periods("50", NULL, PROF_USHORT, 50, TICK, 20000));
	TAP_CHECK(periods("1", NULL, PROF_USHORT, 1, TICK, 1000000));
	TAP_CHECK(periods("3", "tick", PROF_USHORT, 3, TICK, 333333));
	TAP_CHECK(periods("600", NULL, PROF_USHORT, 600, TIMER, 1667));
	TAP_CHECK(periods("10000", NULL, PROF_USHORT, 10000, TIMER, 100));
	TAP_CHECK(periods(NULL, "timer", PROF_USHORT, 100, TIMER, 10000));
	TAP_CHECK(periods(NULL, "tick", PROF_USHORT, 100, TICK, 10000));
	TAP_CHECK(!*mock_stderr());
	return true;
}

static bool fast_periods(void)
{
	TAP_CHECK(periods(NULL, "timer", PROF_FAST, 250, TIMER, 4000));
	TAP_CHECK(periods(NULL, "tick", PROF_FAST, 0, TICK, 4000));
	TAP_CHECK(periods("50", NULL, PROF_FAST, 50, TICK, 20000));
	TAP_CHECK(periods("1000", NULL, PROF_FAST, 1000, TIMER, 1000));
	TAP_CHECK(periods("200", "timer", PROF_FAST, 200, TIMER, 5000));
	TAP_CHECK(!*mock_stderr());
	return true;
}

static bool sprofil_goes_on(void)
{
	TAP_CHECK(periods("1000", "tick", PROF_USHORT, 100, TICK, 10000));
	TAP_CHECK(is_said(too_high[0].line));
	TAP_CHECK(periods("1000", "tick", PROF_FAST, 0, TICK, 4000));
	TAP_CHECK(periods("10001", NULL, PROF_FAST, 0, TICK, 4000));
	TAP_CHECK(periods("0", "timer", PROF_USHORT, 100, TICK, 10000));
	TAP_CHECK(!*mock_stderr());
	return true;
}

/* Of the fast one, the default is the tick's rate. */
static bool fast_default_too_high(void)
{
	ask(NULL, "timer");
	want.rate = 0;
	EXPECT({ PROFIL_IOC_QUERY, query_slow_timer, 0 }, START(is_wanted));
	TAP_CHECK(!sprofil(&range, 1, NULL, PROF_FAST));
	TAP_CHECK(is_said("the default of 250 is above the timer's 50 a second; "
			  "PROFIL_RATE=50 is the most"));
	return mock_done();
}

static bool sprofil_without_device(void)
{
	struct timeval tv = { -1, -1 };

	ask("1000", NULL);
	EXPECT(OPEN_FAILS(ENOENT));
	TAP_CHECK(!sprofil(NULL, 0, NULL, PROF_USHORT));
	TAP_CHECK(sprofil(NULL, 0, &tv, PROF_USHORT) == -1);
	TAP_CHECK(errno == ENOENT);
	TAP_CHECK(tv.tv_sec == -1);
	return mock_done();
}

int main(void)
{
	tap_fork(nothing_asked, "no variable: 100 samples of the tick, and no QUERY");
	tap_fork(up_to_the_tick, "PROFIL_RATE up to the tick's rate is of the tick");
	tap_fork(above_the_tick, "PROFIL_RATE above it is of the timer");
	tap_fork(timer, "PROFIL_SOURCE=timer is of the timer, 100 times or PROFIL_RATE");
	tap_fork(tick, "PROFIL_SOURCE=tick is of the tick, 100 times or PROFIL_RATE");
	tap_fork(rates_too_high, "a rate that is too high is told, and the default taken");
	tap_fork(timer_is_missing, "a timer that is missing is told, and the default taken");
	tap_fork(timer_not_needed, "a timer that is missing is not told where none is needed");
	tap_fork(rates_not_understood, "a PROFIL_RATE that is no number is told");
	tap_fork(sources_not_understood, "a PROFIL_SOURCE that is no source is told");
	tap_fork(quiet, "PROFIL_QUIET=1 tells nothing of these");
	tap_fork(device_is_said_too, "what is told of the rate hides nothing else");
	tap_fork(threads_say_it_once, "eight threads tell it once");
	tap_fork(no_device, "without the device nothing is told of the rate");
	tap_fork(query_fails, "an error of QUERY is handed on, nothing starts");
	tap_fork(set_user_id, "a set-user-ID program does not look at them");
	tap_fork(not_for_profil_start, "profil_start() does not look at them");
	tap_fork(end_asks_nothing, "an end needs no QUERY");
	tap_fork(sprofil_periods, "sprofil() has the rate, and tvp the true period");
	tap_fork(fast_periods, "PROF_FAST too; of the timer its default is the tick's rate");
	tap_fork(sprofil_goes_on, "sprofil() tells the same, and tvp the default's period");
	tap_fork(fast_default_too_high, "the default of PROF_FAST may be too high for the timer");
	tap_fork(sprofil_without_device, "an end fails if the period cannot be found out");
	return tap_plan();
}
