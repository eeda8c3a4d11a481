/* SPDX-License-Identifier: GPL-2.0 */
/* Suggests a replacement for a word, and the possible next words. Pure. */
#ifndef RINGFENCE_ADVICE_H
#define RINGFENCE_ADVICE_H

#include <stddef.h>

#include "base/error.h"
#include "ringfence/abi.h"
#include "rules/grammar.h"
#include "rules/grammar_table.h"

#define RF_NEAR_SIZE 32 /* longer words are near nothing */

/* The nearest word so far. */
struct rf_near {
	const char *typed;
	char word[RF_NEAR_SIZE]; /* "": none is near */
	size_t mistakes;
};

struct rf_near rf_near_begin(const char *typed);
/* Considers the first `length` bytes of a word. Of short words, more letters than half must be
 * right. */
void rf_near_consider(struct rf_near *near, const char *word, size_t length);
/* The same for all words of a table; one with a blank is two words, and is left out. */
void rf_near_consider_table(struct rf_near *near, const struct rf_option *table);

/*
 * An error: no limit has the name; it suggests a similar name, or how to find the names and `more`.
 */
int rf_fail_no_limit(const struct rf_bank *bank, const char *name, const char *more,
		     struct rf_error *error);

/* ---- the next words ---- */

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

#endif /* RINGFENCE_ADVICE_H */
