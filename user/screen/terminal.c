// SPDX-License-Identifier: GPL-2.0
#include <curses.h>
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/units.h"
#include "screen/terminal.h"

#define ESCAPE_MS 25   /* a key that starts with Escape has arrived by then */
#define SIZE_LEAST 2   /* rows and columns */
#define SIZE_MOST 1000 /* a terminal may claim anything */

static SCREEN *screen;
static bool has_colors_to_show;

static bool is_smart(void)
{
	const char *term = getenv("TERM");

	return term && *term && strcmp(term, "dumb");
}

bool rf_terminal_is_fit(void)
{
	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && is_smart();
}

bool rf_terminal_is_utf8(void)
{
	setlocale(LC_CTYPE, "");
	return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

int rf_terminal_columns(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO) || !is_smart() || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		return 0;
	return size.ws_col;
}

/* NO_COLOR: see no-color.org. */
static void start_colors(void)
{
	const char *no_color = getenv("NO_COLOR");

	has_colors_to_show = !(no_color && *no_color) && has_colors() && start_color() == OK;
	if (!has_colors_to_show)
		return;
	use_default_colors();
	init_pair(1, COLOR_RED, -1);
	init_pair(2, COLOR_YELLOW, -1);
	init_pair(3, COLOR_GREEN, -1);
}

static int within(int size)
{
	return size < SIZE_LEAST ? SIZE_LEAST : size > SIZE_MOST ? SIZE_MOST : size;
}

int rf_terminal_open(struct rf_canvas *canvas, struct rf_error *error)
{
	canvas->is_utf8 = rf_terminal_is_utf8();
	screen = newterm(NULL, stdout, stdin);
	if (!screen)
		return rf_error_failed(error, -ENOTTY,
				       "TERM '%.32s': no such terminal is known here; 'top 10' "
				       "prints once",
				       getenv("TERM"));
	set_term(screen);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(ESCAPE_MS);
	curs_set(0);
	start_colors();
	return rf_terminal_resize(canvas);
}

void rf_terminal_close(void)
{
	if (!screen)
		return;
	/* A terminal with only one screen continues in the last line. */
	move(LINES - 1, 0);
	clrtoeol();
	refresh();
	endwin();
	delscreen(screen);
	screen = NULL;
}

void rf_terminal_suspend(void)
{
	const struct sigaction stop = {.sa_handler = SIG_DFL};
	struct sigaction ours;
	sigset_t stopping, mask;

	endwin();
	sigaction(SIGTSTP, &stop, &ours);
	sigemptyset(&stopping);
	sigaddset(&stopping, SIGTSTP);
	raise(SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &stopping, &mask); /* here the process stops */
	sigprocmask(SIG_SETMASK, &mask, NULL);
	sigaction(SIGTSTP, &ours, NULL);
	refresh();
}

int rf_terminal_resize(struct rf_canvas *canvas)
{
	struct winsize size;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col)
		resizeterm(within(size.ws_row), within(size.ws_col));
	clearok(curscr, TRUE);
	return rf_canvas_resize(canvas, within(LINES), within(COLS));
}

static attr_t attribute_of(int style)
{
	attr_t attribute = A_NORMAL;

	attribute |= style & RF_DIM ? A_DIM : 0;
	attribute |= style & RF_STRONG ? A_BOLD : 0;
	attribute |= style & RF_REVERSED ? A_REVERSE : 0;
	return attribute;
}

static short pair_of(int style)
{
	if (!has_colors_to_show)
		return 0;
	return style & RF_RED ? 1 : style & RF_YELLOW ? 2 : style & RF_GREEN ? 3 : 0;
}

void rf_terminal_show(const struct rf_canvas *canvas)
{
	for (int row = 0; row < canvas->rows; row++) {
		const struct rf_glyph *line = &canvas->at[(size_t)row * canvas->columns];

		for (int i = 0; i < canvas->columns; i++) {
			const wchar_t text[2] = {line[i].character};
			cchar_t glyph;

			setcchar(&glyph, text, attribute_of(line[i].style), pair_of(line[i].style),
				 NULL);
			mvadd_wch(row, i, &glyph);
		}
	}
	refresh();
}

int rf_terminal_key(void)
{
	static const struct {
		int curses, press;
	} keys[] = {
		{KEY_UP, RF_PRESS_UP},		 {KEY_DOWN, RF_PRESS_DOWN},
		{KEY_LEFT, RF_PRESS_LEFT},	 {KEY_RIGHT, RF_PRESS_RIGHT},
		{KEY_PPAGE, RF_PRESS_PAGE_UP},	 {KEY_NPAGE, RF_PRESS_PAGE_DOWN},
		{KEY_HOME, RF_PRESS_HOME},	 {KEY_END, RF_PRESS_END},
		{KEY_ENTER, RF_PRESS_ENTER},	 {'\r', RF_PRESS_ENTER},
		{KEY_BACKSPACE, RF_PRESS_ERASE}, {'\b', RF_PRESS_ERASE},
	};
	const int key = getch();

	if (key == ERR)
		return RF_PRESS_NONE;
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (keys[i].curses == key)
			return keys[i].press;
	return key < 0x80 ? key : RF_PRESS_OTHER;
}
