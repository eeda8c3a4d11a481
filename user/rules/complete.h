/* SPDX-License-Identifier: GPL-2.0 */
/* What may come next on a command line, by the table of the grammar. Pure. */
#ifndef RINGFENCE_COMPLETE_H
#define RINGFENCE_COMPLETE_H

#include "rules/grammar.h"
#include "rules/grammar_table.h"

/* Told each word that may come next; or, where `word` is NULL, what kind of value may. */
struct rf_suggestions {
	void (*suggest)(void *context, const char *word, const char *summary, enum rf_kind kind);
	void *context;
};

/* `words` are those before the one that is asked for. `dev` is the one behind `dev`, or NULL. */
void rf_complete(struct rf_words *words, const struct rf_suggestions *suggestions,
		 const char **dev);

#endif /* RINGFENCE_COMPLETE_H */
