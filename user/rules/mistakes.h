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

/*
 * In the order of their lines, then as they were found; those of the file as a whole are last. The
 * caller frees them.
 */
struct rf_mistakes {
	struct rf_mistake *mistake;
	size_t count;
	size_t capacity;
	size_t left_out; /* more of them, of which the text was not kept */
};

/* Copies `text`. Returns -ENOMEM where there is no memory. */
int rf_mistakes_add(struct rf_mistakes *mistakes, size_t line, const char *text,
		    struct rf_error *error);
/* Adds the mistakes of a file that `line` names, each with its own line. */
int rf_mistakes_add_file(struct rf_mistakes *mistakes, size_t line, const char *path,
			 const struct rf_mistakes *file, struct rf_error *error);
void rf_mistakes_free(struct rf_mistakes *mistakes);

#endif /* RINGFENCE_MISTAKES_H */
