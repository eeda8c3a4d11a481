/* SPDX-License-Identifier: GPL-2.0 */
/* A line of words for the tests of the grammar, and the limit that it makes. */
#ifndef RINGFENCE_UNIT_LINE_H
#define RINGFENCE_UNIT_LINE_H

#include "refusal.h"

#define TIME_FORM "time; write it like 500ms, 10s, 5m or 1h"

#define LINE_WORDS_MAX (RF_INTERFACES_MAX + 8)

/*
 * A command line, split at its spaces; '' is an empty word. It must remain in place while its words
 * are used.
 */
struct line {
	char text[LINE_WORDS_MAX * 8];
	const char *word[LINE_WORDS_MAX];
	struct rf_words words;
};

static inline void line_split(struct line *line, const char *text)
{
	char *rest = NULL;

	assert_true(strlen(text) < sizeof(line->text));
	strcpy(line->text, text);
	line->words = (struct rf_words){.word = line->word};
	for (char *word = strtok_r(line->text, " ", &rest); word;
	     word = strtok_r(NULL, " ", &rest)) {
		assert_true(line->words.count < LINE_WORDS_MAX);
		line->word[line->words.count++] = strcmp(word, "''") ? word : "";
	}
}

/* A line that must be refused, and the complete sentence of the error. */
struct refusal_row {
	const char *line;
	const char *sentence;
};

/* The parser must always write its result, which can therefore be freed. */
static inline int parse_definition(const char *text, struct line *line,
				   struct rf_definition *definition, struct rf_error *error)
{
	line_split(line, text);
	memset(definition, LEFT_ALONE, sizeof(*definition));
	return rf_parse_limit(&line->words, definition, error);
}

static inline void assert_no_definition(const struct rf_definition *definition)
{
	static const struct rf_definition none;

	assert_memory_equal(definition, &none, sizeof(none));
}

/* Checks that the definition matches all ports and all sources. */
static inline void assert_only_limit(const struct rf_definition *definition)
{
	struct rf_definition rest = *definition;

	memset(&rest.limit, 0, sizeof(rest.limit));
	assert_no_definition(&rest);
}

/* Checks that reading the text again loses nothing. */
static inline void check_written(const struct rf_limit *limit, char text[RF_LIMIT_TEXT_SIZE])
{
	char again_text[RF_LIMIT_TEXT_SIZE];
	struct rf_error error = {};
	struct rf_definition again;
	struct line line;

	rf_format_limit(limit, text);
	assert_accepted(parse_definition(text, &line, &again, &error), &error);
	assert_memory_equal(&again.limit, limit, sizeof(*limit));
	assert_only_limit(&again);
	rf_format_limit(&again.limit, again_text);
	assert_string_equal(again_text, text);
}

#endif /* RINGFENCE_UNIT_LINE_H */
