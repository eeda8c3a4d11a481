// SPDX-License-Identifier: GPL-2.0
/*
 * Every combination of a limit's options, with many counts: each is accepted or refused as it
 * should be, and an accepted one is read and written correctly.
 */
#include "line.h"

#include <stdio.h>

#define RANDOM_LIMITS 50000

/* ---- all limits ---- */

/* A count as text, and its value. */
struct amount {
	const char *text;
	uint64_t count;
	bool in_bits;
};

/* The words of a line; an empty word and a NULL text are left out. */
struct wording {
	struct amount rate;
	uint64_t window_ms;
	const char *unit, *algorithm, *cells, *edge;
	struct amount burst;
	const char *shadow, *count;
};

static bool is_bucket(const struct rf_limit *limit)
{
	return limit->algorithm == RF_TOKEN || limit->algorithm == RF_LEAKY;
}

/* The limit that the words describe, whether or not it is allowed. */
static uint64_t default_burst(const struct rf_limit *limit)
{
	if (limit->algorithm != RF_TOKEN)
		return 1;
	return limit->rate < 1ULL << 31 ? limit->rate : 1ULL << 31;
}

static struct rf_limit limit_of(const struct wording *wording)
{
	static const char *const algorithms[] = {"", "fixed", "log", "token", "leaky"};
	static const char *const edges[] = {"", "coarse", "weighted"};
	struct rf_limit limit = {
		.name = "any", .rate = wording->rate.count, .per4 = 32, .per6 = 64};

	const bool in_bits = wording->rate.in_bits && wording->rate.count;

	limit.window_ns = wording->rate.count ? wording->window_ms * MS : SECOND;
	for (int i = 1; i < 5; i++)
		if (strcmp(wording->algorithm, algorithms[i]) == 0)
			limit.algorithm = i;
	for (int i = 1; i < 3; i++)
		if (strcmp(wording->edge, edges[i]) == 0)
			limit.edge = i;
	limit.unit = in_bits || strcmp(wording->unit, "bytes") == 0;
	if (limit.unit == RF_BYTES && !*wording->algorithm && !*wording->cells && !*wording->edge)
		limit.algorithm = RF_TOKEN;
	limit.cells = *wording->cells		      ? atoi(wording->cells)
		      : limit.algorithm != RF_SLIDING ? 1
		      : limit.edge == RF_EDGE_STRICT  ? 31
						      : 16;
	limit.flags = (*wording->shadow ? RF_SHADOW : 0) |
		      (*wording->count ? RF_COUNT_REJECTED : 0) | (in_bits ? RF_RATE_IN_BITS : 0);
	if (wording->burst.text)
		limit.burst = wording->burst.count;
	else if (is_bucket(&limit))
		limit.burst = default_burst(&limit);
	if (wording->burst.text && wording->burst.in_bits && limit.burst != default_burst(&limit))
		limit.flags |= RF_BURST_IN_BITS;
	return limit;
}

static bool may_be(const struct wording *wording, const struct rf_limit *limit)
{
	const uint64_t least = limit->unit == RF_BYTES ? 1514 : 1, most = 1ULL << 31;
	const uint64_t most_rate = limit->unit == RF_BYTES ? 1ULL << 37 : most;
	unsigned __int128 flow_ms;

	if (strcmp(wording->unit, "packets") == 0 && wording->rate.in_bits && limit->rate)
		return false;
	if ((*wording->cells || *wording->edge) && limit->algorithm != RF_SLIDING)
		return false;
	if (limit->rate && (limit->rate < least || limit->rate > most_rate))
		return false;
	if (limit->algorithm == RF_LOG && (limit->unit == RF_BYTES || limit->rate > 16))
		return false;
	if (!is_bucket(limit))
		return !wording->burst.text;
	if (wording->burst.text && wording->burst.in_bits && limit->unit == RF_PACKETS)
		return false;
	if (!limit->rate && limit->algorithm == RF_TOKEN && !wording->burst.text)
		return true;
	if (limit->burst < least || limit->burst > most)
		return false;
	if (!limit->rate)
		return true;
	flow_ms = ((unsigned __int128)limit->burst * wording->window_ms + limit->rate - 1) /
		  limit->rate;
	return flow_ms <= 31622400000; /* 8784h */
}

static void say(char text[256], const char *option, const char *word)
{
	size_t length = strlen(text);

	if (*word)
		snprintf(text + length, 256 - length, " %s%s", option, word);
}

static void write_line(const struct wording *wording, char text[256])
{
	snprintf(text, 256, "any rate %s/%" PRIu64 "ms", wording->rate.text, wording->window_ms);
	say(text, "", wording->unit);
	say(text, "algorithm ", wording->algorithm);
	say(text, "cells ", wording->cells);
	say(text, "edge ", wording->edge);
	say(text, "burst ", wording->burst.text ? wording->burst.text : "");
	say(text, "", wording->shadow);
	say(text, "", wording->count);
}

/*
 * Checks that the line is accepted or refused correctly, read correctly, and written again. Returns
 * true if it is accepted.
 */
static bool check_wording(const struct wording *wording)
{
	const struct rf_limit expected = limit_of(wording);
	const bool accepted = may_be(wording, &expected);
	char text[256], written[RF_LIMIT_TEXT_SIZE];
	struct rf_error error = {};
	struct rf_definition definition;
	struct line line;

	write_line(wording, text);
	if (!parse_definition(text, &line, &definition, &error) != accepted)
		fail_msg("%s: it is %s: %s", text, accepted ? "refused" : "accepted", error.text);
	if (!accepted) {
		assert_no_definition(&definition);
		return false;
	}
	assert_memory_equal(&definition.limit, &expected, sizeof(expected));
	assert_only_limit(&definition);
	check_written(&definition.limit, written);
	return true;
}

static const char *const units[] = {"", "packets", "bytes"};
static const char *const algorithms[] = {"", "sliding", "fixed", "log", "token", "leaky"};
static const char *const cell_counts[] = {"", "2", "16"};
static const char *const edges[] = {"", "strict", "weighted", "coarse"};
static const char *const shadows[] = {"", "shadow"};
static const char *const counts[] = {"", "count rejected"};
static const struct amount rates[] = {
	{"0", 0, false},
	{"1", 1, false},
	{"16", 16, false},
	{"1514", 1514, false},
	{"20k", 20000, false},
	{"2147483648", 2147483648, false},
	{"3000M", 3000000000, false},
	{"137438953472", 137438953472, false},
	{"8kbit", 1000, true},
	{"12.112kbit", 1514, true},
	{"100gbit", 12500000000, true},
};
static const struct amount bursts[] = {
	{NULL, 0, false},
	{"0", 0, false},
	{"1", 1, false},
	{"1514", 1514, false},
	{"20k", 20000, false},
	{"2147483648", 2147483648, false},
	{"3000M", 3000000000, false},
	{"16kbit", 2000, true},
};
static const uint64_t windows_ms[] = {1, 1000, 31622400000};

/* The `i`-th entry of `list`, and `i` without it. */
#define PICK(i, list)                                    \
	({                                               \
		size_t at = (i) % UNIT_ARRAY_SIZE(list); \
		(i) /= UNIT_ARRAY_SIZE(list);            \
		(list)[at];                              \
	})

static struct wording combination(uint64_t i)
{
	struct wording wording;

	wording.rate = PICK(i, rates);
	wording.window_ms = PICK(i, windows_ms);
	wording.unit = PICK(i, units);
	wording.algorithm = PICK(i, algorithms);
	wording.cells = PICK(i, cell_counts);
	wording.edge = PICK(i, edges);
	wording.burst = PICK(i, bursts);
	wording.shadow = PICK(i, shadows);
	wording.count = PICK(i, counts);
	return wording;
}

static void every_combination_of_options_is_accepted_or_refused_rightly(void **state)
{
	const uint64_t count = UNIT_ARRAY_SIZE(rates) * UNIT_ARRAY_SIZE(windows_ms) *
			       UNIT_ARRAY_SIZE(units) * UNIT_ARRAY_SIZE(algorithms) *
			       UNIT_ARRAY_SIZE(cell_counts) * UNIT_ARRAY_SIZE(edges) *
			       UNIT_ARRAY_SIZE(bursts) * UNIT_ARRAY_SIZE(shadows) *
			       UNIT_ARRAY_SIZE(counts);
	uint64_t accepted = 0;

	(void)state;
	for (uint64_t i = 0; i < count; i++) {
		struct wording wording = combination(i);

		accepted += check_wording(&wording);
	}
	assert_true(accepted > count / 50);
}

/* A count of any magnitude; some counts are in bits. */
static void make_amount(uint64_t *random, char text[32], struct amount *amount)
{
	uint64_t number = unit_random(random) >> unit_below(random, 64);

	amount->text = text;
	amount->in_bits = unit_below(random, 4) == 0 && number < UINT64_MAX / 125;
	amount->count = amount->in_bits ? number * 125 : number;
	snprintf(text, 32, "%" PRIu64 "%s", number, amount->in_bits ? "kbit" : "");
}

static void random_counts_are_accepted_or_refused_rightly(void **state)
{
	uint64_t random = unit_seed();
	char rate[32], burst[32];

	(void)state;
	for (int i = 0; i < RANDOM_LIMITS; i++) {
		struct wording wording = combination(unit_random(&random));

		make_amount(&random, rate, &wording.rate);
		if (wording.burst.text)
			make_amount(&random, burst, &wording.burst);
		wording.window_ms =
			1 + (unit_random(&random) >> unit_below(&random, 64)) % 31622400000;
		check_wording(&wording);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(every_combination_of_options_is_accepted_or_refused_rightly),
	cmocka_unit_test(random_counts_are_accepted_or_refused_rightly),
};

int main(void)
{
	return cmocka_run_group_tests_name("grammar, combinations", tests, NULL, NULL);
}
