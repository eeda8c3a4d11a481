/* SPDX-License-Identifier: GPL-2.0 */
/*
 * `top` on a terminal: scans once a second, paints, and handles keys until the user quits. It makes
 * no changes itself: each change by a key is a separate command, run as the user.
 */
#ifndef RINGFENCE_SCREEN_H
#define RINGFENCE_SCREEN_H

#include "base/error.h"
#include "rules/grammar.h"

struct rf_screen {
	const char *dev; /* NULL: every fence, one at a time */
	const struct rf_top *top;
};

/* An error is one that ended it: the fence was detached, or there is no terminal. */
int rf_screen_run(const struct rf_screen *asked, struct rf_error *error);

#endif /* RINGFENCE_SCREEN_H */
