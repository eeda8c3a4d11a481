/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The common part of the tests of the grammar. A refusal is checked whole: -EINVAL, a usage error,
 * the exact sentence, and an unchanged result.
 */
#ifndef RINGFENCE_UNIT_REFUSAL_H
#define RINGFENCE_UNIT_REFUSAL_H

#include "unit.h"

#include <errno.h>

#include "rules/grammar.h"

#define LEFT_ALONE 0xa5 /* in each byte of a result, before it is parsed */

#define HOUR (3600 * SECOND)
#define TEN "aaaaaaaaaa"
#define THIRTY_ONE "a" TEN TEN TEN

/* The last part of the sentence that refuses more than one kind of text. */
#define WRITE_RATE "invalid rate; write COUNT/TIME, like 20k/1s or 100/10s, or 10mbit"
#define COUNT_RANGE "invalid rate: the count must be 1-2147483648"
#define NAME_RULE "a letter, then letters, digits, '_' and '-', 31 at most"
#define IS_KEYWORD "it is a keyword; choose another name"
#define KEYWORD_ALONE "it is a keyword; write NAME rate COUNT/TIME"

static inline void assert_accepted(int err, const struct rf_error *error)
{
	if (err)
		fail_msg("%d: %s", err, error->text);
}

static inline void assert_refused(int err, const struct rf_error *error, const char *sentence)
{
	assert_int_equal(err, -EINVAL);
	assert_string_equal(error->text, sentence);
	assert_true(error->usage);
}

static inline void assert_left_alone(const void *result, size_t size)
{
	const unsigned char *byte = result;

	for (size_t i = 0; i < size; i++)
		assert_int_equal(byte[i], LEFT_ALONE);
}

#endif /* RINGFENCE_UNIT_REFUSAL_H */
