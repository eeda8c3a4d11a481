/* SPDX-License-Identifier: GPL-2.0 */
/* A page's request, parsed from the path and the arguments of its URL. Pure; it trusts no byte. */
#ifndef RINGFENCE_QUERY_H
#define RINGFENCE_QUERY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/prefix.h"
#include "ringfence/abi.h"

#define RF_QUERY_PATH "/api/"
#define RF_QUERY_ARGS_SIZE 512 /* the text after '?', with its NUL */
#define RF_QUERY_SPAN_MAX_MS (400ULL * 24 * 3600 * 1000)

enum rf_query_kind {
	RF_QUERY_LIVE,	  /* the last scan of a fence */
	RF_QUERY_RECENT,  /* the sources of the last minute */
	RF_QUERY_RANGE,	  /* counters over time */
	RF_QUERY_SOURCES, /* of a range */
	RF_QUERY_EVENTS,  /* likewise */
	RF_QUERY_SOURCE,  /* all that is known of one */
	RF_QUERY_KINDS,
};

/* Without padding: two queries are the same where their bytes are. */
struct rf_query {
	uint32_t kind;
	uint32_t has_source;		  /* 0 or 1 */
	uint64_t from_ms, to_ms;	  /* since 1970; 0: unset */
	char fence[RF_NAME_SIZE];	  /* "": the first one */
	char source[RF_PREFIX_TEXT_SIZE]; /* as rf_format_prefix() writes it */
};

/* The prefix of a reply's text. */
struct rf_answer_head {
	struct rf_query query;
	uint32_t status; /* of HTTP */
	uint32_t unused;
};

/* `args` can be NULL. Returns NULL, or a sentence that describes the error. */
const char *rf_query_parse(const char *path, const char *args, struct rf_query *query);
/* Could it be a result of rf_query_parse()? For a receiver in another process. */
bool rf_query_is_sound(const struct rf_query *query);
bool rf_query_equal(const struct rf_query *a, const struct rf_query *b);

#endif /* RINGFENCE_QUERY_H */
