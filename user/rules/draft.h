/* SPDX-License-Identifier: GPL-2.0 */
/* A limit whose words are being read, and what only all of them together show. */
#ifndef RINGFENCE_DRAFT_H
#define RINGFENCE_DRAFT_H

#include "rules/private.h"

/* The meaning of a word may depend on a later one. */
struct rf_draft {
	struct rf_definition made;
	struct rf_words *words;
	const char *rate;  /* as they were written */
	const char *burst; /* NULL: not given */
	const char *first; /* the same */
	const char *alone;
	struct rf_rate alone_rate;
	bool rate_in_bits;
	bool burst_in_bits;
	bool first_in_bits;
	unsigned int given;   /* bit set of enum rf_limit_option */
	unsigned int dropped; /* by `no`; the same */
	bool is_change;
};

static inline bool rf_has_given(const struct rf_draft *draft, enum rf_limit_option option)
{
	return draft->given & 1U << option;
}

/* Completes the limit by what it leaves to defaults; an error where its words do not agree. */
int rf_draft_check(struct rf_draft *draft, struct rf_error *error);

#endif /* RINGFENCE_DRAFT_H */
