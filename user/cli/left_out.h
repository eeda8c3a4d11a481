/* SPDX-License-Identifier: GPL-2.0 */
/* Reports the changes that a command leaves out: the first ones each, of the others the number. */
#ifndef RINGFENCE_LEFT_OUT_H
#define RINGFENCE_LEFT_OUT_H

#include <stddef.h>

#include "base/error.h"

struct rf_left_out {
	const char *name; /* of the file that has the changes */
	size_t count;
};

/* Counts a change, and prints why it is left out; `line` 0: of no line. */
void rf_left_out_add(struct rf_left_out *left_out, size_t line, const struct rf_error *reason);
/* Prints how many were not printed. */
void rf_left_out_end(const struct rf_left_out *left_out);

#endif /* RINGFENCE_LEFT_OUT_H */
