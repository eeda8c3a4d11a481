/* SPDX-License-Identifier: GPL-2.0 */
/* Which words may come next on a command line, by the table of the grammar. Pure. */
#ifndef RINGFENCE_COMPLETE_H
#define RINGFENCE_COMPLETE_H

#include "rules/grammar.h"
#include "rules/grammar_table.h"

/* Receives each word that may come next or, where `word` is NULL, the kind of value that may. */
struct rf_suggestions {
	void (*suggest)(void *context, const char *word, const char *summary, enum rf_kind kind);
	void *context;
};

/*
 * `words` are the words before the one to complete. `*dev` becomes the word after `dev`, or NULL.
 */
void rf_complete(struct rf_words *words, const struct rf_suggestions *suggestions,
		 const char **dev);

#endif /* RINGFENCE_COMPLETE_H */
