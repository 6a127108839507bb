// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <curses.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <wchar.h>
#include "screen.h"

#define ESCAPE_KEY 27
#define LAST_LINES 4	/* that a message takes */
#define ESCAPE 25	/* milliseconds in which the rest of a key's sequence has to come */

static SCREEN *screen;
static FILE *keyboard;
static bool shown, utf8;
static int events = -1, sizes = -1;

static const int crashes[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };

void screen_end(void)
{
	if (!shown)
		return;
	shown = false;
	endwin();
}

/* It is not safe there; but what follows is the end, and without it a terminal of no use. */
static void crashed(int number)
{
	screen_end();
	raise(number);
}

/* Keys come from the terminal, also where standard input is something else. */
static FILE *open_keyboard(void)
{
	int fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);

	if (fd < 0 && isatty(STDIN_FILENO))
		fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	return fd < 0 ? NULL : fdopen(fd, "r");
}

/* Sizes come as other events do, not in the middle of something. */
static bool open_events(void)
{
	struct epoll_event event = { .events = EPOLLIN };
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGWINCH);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	sizes = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	events = epoll_create1(EPOLL_CLOEXEC);
	return sizes >= 0 && events >= 0 && !epoll_ctl(events, EPOLL_CTL_ADD, sizes, &event) &&
		!epoll_ctl(events, EPOLL_CTL_ADD, fileno(keyboard), &event);
}

bool screen_start(void)
{
	const char *type = getenv("TERM");

	if (!isatty(STDOUT_FILENO) || !type)
		return false;
	keyboard = open_keyboard();
	if (!keyboard || !open_events())
		return false;
	setlocale(LC_CTYPE, "");
	utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	screen = newterm(type, stdout, keyboard);
	if (!screen)
		return false;
	shown = true;
	atexit(screen_end);
	for (size_t i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++)
		sigaction(crashes[i], &(struct sigaction) {
			.sa_handler = crashed, .sa_flags = SA_RESETHAND | SA_NODEFER,
		}, NULL);
	/* such a terminal has lines, and no screen */
	if (!tigetstr("cup")) {
		screen_end();
		return false;
	}
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(ESCAPE);
	curs_set(0);
	return true;
}

int screen_fd(void)
{
	return events;
}

size_t screen_rows(void)
{
	return LINES;
}

size_t screen_columns(void)
{
	return COLS;
}

static void take_size(void)
{
	struct signalfd_siginfo signal;
	struct winsize size;
	bool any = false;

	while (read(sizes, &signal, sizeof(signal)) == sizeof(signal))
		any = true;
	if (any && !ioctl(fileno(keyboard), TIOCGWINSZ, &size) && size.ws_row && size.ws_col)
		resizeterm(size.ws_row, size.ws_col);
}

/* A terminal that has gone could be read for ever. */
static bool is_gone(void)
{
	struct epoll_event found[2];
	int num = epoll_wait(events, found, 2, 0);

	for (int i = 0; i < num; i++)
		if (found[i].events & (EPOLLHUP | EPOLLERR))
			return !epoll_ctl(events, EPOLL_CTL_DEL, fileno(keyboard), NULL);
	return false;
}

enum key screen_key(void)
{
	static const struct { int code; enum key key; } keys[] = {
		{ 'q', PRESS_QUIT }, { 'f', PRESS_FUNCTION }, { 'o', PRESS_OBJECT },
		{ 'p', PRESS_PROCESS }, { 'u', PRESS_UNIT }, { 'c', PRESS_CONTAINER },
		{ 's', PRESS_SORT }, { ' ', PRESS_FREEZE },
		{ 'a', PRESS_ANNOTATE }, { '\r', PRESS_ANNOTATE }, { KEY_ENTER, PRESS_ANNOTATE },
		{ 'i', PRESS_INSTRUCTIONS }, { ESCAPE_KEY, PRESS_BACK },
		{ 'z', PRESS_ZERO }, { 'w', PRESS_WRITE },
		{ 'h', PRESS_HELP }, { '?', PRESS_HELP }, { KEY_F(1), PRESS_HELP },
		{ KEY_UP, PRESS_UP }, { 'k', PRESS_UP },
		{ KEY_DOWN, PRESS_DOWN }, { 'j', PRESS_DOWN },
		{ KEY_PPAGE, PRESS_PAGE_UP }, { KEY_NPAGE, PRESS_PAGE_DOWN },
		{ KEY_HOME, PRESS_FIRST }, { 'g', PRESS_FIRST },
		{ KEY_END, PRESS_LAST }, { 'G', PRESS_LAST },
	};
	int code;

	take_size();
	code = getch();
	if (code == ERR)
		return is_gone() ? PRESS_GONE : PRESS_NONE;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (keys[i].code == code)
			return keys[i].key;
	return PRESS_OTHER;
}

void screen_clear(void)
{
	erase();
}

/* Where there is no UTF-8: of what has several bytes, and bars and arrows are made of two kinds. */
static wchar_t plain(const char *text)
{
	if (!(*text & 0x80))
		return *text;
	return !strncmp(text, "\xe2\x96", 2) ? '#' : !strncmp(text, "\xe2\x94", 2) ? '|' : '?';
}

/* Whatever a name has in it, it takes its own line, and no column more than there is. */
void screen_put(size_t row, const char *text, enum look look)
{
	static const attr_t looks[] = { A_NORMAL, A_BOLD, A_REVERSE };
	mbstate_t state = { 0 };
	size_t length = strlen(text);
	int column = 0;

	if (row >= screen_rows())
		return;
	move(row, 0);
	attrset(looks[look]);
	while (length) {
		wchar_t wide[2] = { 0 };
		size_t bytes = utf8 ? mbrtowc(wide, text, length, &state) : 1;
		int width;

		if (!utf8)
			wide[0] = plain(text);
		if (bytes == 0 || bytes > length)
			break;
		text += bytes;
		length -= bytes;
		/* of what has several bytes there is one mark */
		if (!utf8 && (text[-1] & 0xc0) == 0x80)
			continue;
		width = wcwidth(wide[0]);
		if (width < 0)
			wide[0] = '?';
		width = width < 0 ? 1 : width;
		if (!width)
			continue;
		if (column + width > COLS)
			break;
		addnwstr(wide, 1);
		column += width;
	}
	if (look == LOOK_MARKED)
		while (column++ < COLS)
			addch(' ');
	else if (column < COLS)
		clrtoeol();
	attrset(A_NORMAL);
}

/* The bytes of a text that one line has room for, to the last word that is whole in it. */
static size_t fitting(const char *text)
{
	size_t column = 0, word = 0, i;

	for (i = 0; text[i]; i++) {
		if (text[i] == ' ')
			word = i;
		if ((text[i] & 0xc0) != 0x80 && ++column > screen_columns())
			return word ? word : i;
	}
	return i;
}

void screen_put_last(const char *text, enum look look)
{
	const char *lines[LAST_LINES];
	size_t num = 0;

	for (; *text && num < LAST_LINES; num++) {
		lines[num] = text;
		text += fitting(text);
		text += strspn(text, " ");
	}
	for (size_t i = 0; i < num && num - i <= screen_rows(); i++) {
		char *line = strndup(lines[i], fitting(lines[i]));

		screen_put(screen_rows() - num + i, line ? line : "", look);
		free(line);
	}
}

void screen_show(void)
{
	refresh();
}
