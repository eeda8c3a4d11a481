/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The terminal: shows a canvas, reads keys, and leaves everything as it was. The only file that
 * knows ncurses. There is one terminal.
 */
#ifndef RINGFENCE_TERMINAL_H
#define RINGFENCE_TERMINAL_H

#include "base/error.h"
#include "screen/canvas.h"

/* Characters are themselves. */
enum rf_press {
	RF_PRESS_NONE = -1,
	RF_PRESS_ENTER = '\n',
	RF_PRESS_ESCAPE = 27,
	RF_PRESS_ERASE = 127,
	RF_PRESS_UP = 0x100,
	RF_PRESS_DOWN,
	RF_PRESS_LEFT,
	RF_PRESS_RIGHT,
	RF_PRESS_PAGE_UP,
	RF_PRESS_PAGE_DOWN,
	RF_PRESS_HOME,
	RF_PRESS_END,
	RF_PRESS_OTHER,
};

/* Can standard input and output be a screen? Not in a pipe, nor with TERM=dumb. */
bool rf_terminal_is_fit(void);
/* May a line of output have block characters? Takes the locale of the environment. */
bool rf_terminal_is_utf8(void);
/* The columns of standard output; 0: it is no terminal that shows block characters. */
int rf_terminal_columns(void);
/* Makes the terminal a screen, of `canvas`. */
int rf_terminal_open(struct rf_canvas *canvas, struct rf_error *error);
/* The terminal is as it was before. */
void rf_terminal_close(void);
/* Restores the terminal while the process is stopped, and takes it again. */
void rf_terminal_suspend(void);
/* The canvas gets the size of the terminal; the next rf_terminal_show() writes all of it. */
int rf_terminal_resize(struct rf_canvas *canvas);
void rf_terminal_show(const struct rf_canvas *canvas);
/* The next key that was pressed; RF_PRESS_NONE: none. Does not wait. */
int rf_terminal_key(void);

#endif /* RINGFENCE_TERMINAL_H */
