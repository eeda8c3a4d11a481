/* SPDX-License-Identifier: GPL-2.0 */
/* The mistakes of a file, all of them, so that they can be corrected in one go. */
#ifndef RINGFENCE_MISTAKES_H
#define RINGFENCE_MISTAKES_H

#include <stddef.h>

#include "base/error.h"

struct rf_mistake {
	size_t line; /* 0: of the file as a whole */
	char *text;
};

/* In the order in which they were found. The caller frees them. */
struct rf_mistakes {
	struct rf_mistake *mistake;
	size_t count;
	size_t capacity;
};

/* Copies `text`. Returns -ENOMEM where there is no memory. */
int rf_mistakes_add(struct rf_mistakes *mistakes, size_t line, const char *text,
		    struct rf_error *error);
void rf_mistakes_free(struct rf_mistakes *mistakes);

#endif /* RINGFENCE_MISTAKES_H */
