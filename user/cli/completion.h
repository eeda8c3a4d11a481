/* SPDX-License-Identifier: GPL-2.0 */
/* The question that the completion of a shell asks. */
#ifndef RINGFENCE_COMPLETION_H
#define RINGFENCE_COMPLETION_H

#include "rules/grammar.h"

/* Are these `completion words --` and one more at least? Then takes them. */
bool rf_completion_is_asked(struct rf_words *words);
/* Prints what may come in the place of the last word. */
void rf_completion_words(struct rf_words *words);

#endif /* RINGFENCE_COMPLETION_H */
