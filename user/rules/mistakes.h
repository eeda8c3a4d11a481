/* SPDX-License-Identifier: GPL-2.0 */
/* The mistakes of a file, all of them, so that they can be corrected in one go. */
#ifndef RINGFENCE_MISTAKES_H
#define RINGFENCE_MISTAKES_H

#include <stddef.h>

#include "base/error.h"
#include "rules/ruleset.h"

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
/* Which of the limits in `slots` to leave out, and the line that it is from; -1: none. */
typedef int (*rf_mistakes_blame)(const void *context, const struct rf_bank *bank, uint32_t slots,
				 size_t *line);
/*
 * Adds the mistakes that only all rules together show: without the limit of one, the next
 * compilation finds the next. `rules` lack those limits then.
 */
int rf_ruleset_mistakes(struct rf_ruleset *rules, rf_mistakes_blame blame, const void *context,
			struct rf_mistakes *mistakes, struct rf_error *error);
void rf_mistakes_free(struct rf_mistakes *mistakes);

#endif /* RINGFENCE_MISTAKES_H */
