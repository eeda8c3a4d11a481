/* SPDX-License-Identifier: GPL-2.0 */
/* Answers the question that the completion script of a shell asks. */
#ifndef RINGFENCE_COMPLETION_H
#define RINGFENCE_COMPLETION_H

#include "rules/grammar.h"

/* Are the words `completion words --` and at least one more? Then takes the first three. */
bool rf_completion_is_asked(struct rf_words *words);
/* Prints the words that may stand in the place of the last word. */
void rf_completion_words(struct rf_words *words);

#endif /* RINGFENCE_COMPLETION_H */
