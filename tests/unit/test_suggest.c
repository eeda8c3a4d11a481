// SPDX-License-Identifier: GPL-2.0
/* Suggestions, from made-up days, and the replay of all sources. */
#include <endian.h>

#include "unit.h"

#include "base/units.h"
#include "watch/suggest.h"

#define SOURCES 2000

/* 10.0.0.0 and this many networks of 24 bits after it, and a host of it. */
static struct rf_prefix host_of(uint32_t network, uint32_t host)
{
	return (struct rf_prefix){
		.version = 4, .length = 32, .word = {htobe32(0x0a000000 + (network << 8) + host)}};
}

static struct rf_prefix source_of(uint32_t number)
{
	return (struct rf_prefix){.version = 4, .length = 32, .word = {10 | number << 8}};
}

/* The maximum use of an honest source in an hour: mostly little, more by day. */
static double honest(uint64_t *random, int hour)
{
	const double small = 1 + unit_random(random) % 40;
	const double day = hour > 7 && hour < 20 ? 1.3 : 1;

	return unit_random(random) % 200 ? small * day : small * 20 * day;
}

static void note(struct rf_suggest *suggest, uint32_t source, int hour, uint64_t share, double used)
{
	const struct rf_suggest_row row = {
		.source = source_of(source),
		.hour = hour,
		.share = share,
		.used = used,
		.packets = used * 10,
		.times256 = 2560,
	};

	assert_int_equal(rf_suggest_note(suggest, &row), 0);
}

/* A day, of which an hour can be poisoned by that many sources. */
static struct rf_suggestion suggest_day(int poisoned, uint32_t attackers)
{
	struct rf_suggest suggest = {};
	struct rf_suggestion found;
	uint64_t random = unit_seed();

	for (int hour = 0; hour < 24; hour++)
		for (uint32_t source = 0; source < SOURCES; source++)
			note(&suggest, source, hour, 1, honest(&random, hour));
	for (uint32_t i = 0; i < attackers; i++)
		note(&suggest, 1000000 + i, poisoned, 1, 60000);
	assert_int_equal(rf_suggest_finish(&suggest, &found), 0);
	rf_suggest_free(&suggest);
	return found;
}

static void test_poisoned(void **state)
{
	const struct rf_suggestion clean = suggest_day(0, 0);

	(void)state;
	assert_int_equal(clean.hours, 24);
	assert_true(clean.before_rounding > 1000 && clean.before_rounding < 2500);
	for (int hour = 0; hour < 24; hour++) {
		const struct rf_suggestion found = suggest_day(hour, 5000);
		const double moved = found.before_rounding / clean.before_rounding;

		assert_true(found.most == 60000 && moved > 0.9 && moved < 1.1);
	}
}

static void test_rounding(void **state)
{
	struct rf_suggest suggest = {};
	struct rf_suggestion found;

	(void)state;
	for (uint32_t i = 0; i < 999; i++)
		note(&suggest, i, 0, 1, 38);
	note(&suggest, 5000, 0, 1, 100);
	assert_int_equal(rf_suggest_finish(&suggest, &found), 0);
	assert_true(found.before_rounding == 76);
	assert_int_equal(found.rate, 100);
	assert_int_equal(found.row[0].rate, 50);
	assert_int_equal(found.row[0].sources, 1);
	assert_int_equal(found.row[0].named, 1);
	/* 1000 packets in ten TIMEs, of which 50 pass in each; of 380 times 999 and 1000. */
	assert_true(found.row[0].packets_ratio > 500 / 380620.0 - 1e-9 &&
		    found.row[0].packets_ratio < 500 / 380620.0 + 1e-9);
	assert_int_equal(found.row[1].sources, 0);
	rf_suggest_free(&suggest);
}

static void test_share(void **state)
{
	struct rf_suggest suggest = {};
	struct rf_suggestion found;

	(void)state;
	/* Each represents 64, except one that was among the worst. */
	for (uint32_t i = 0; i < 100; i++)
		note(&suggest, i, 0, 64, 10);
	note(&suggest, 500, 0, 64, 2000);
	note(&suggest, 500, 0, 1, 1000);
	assert_int_equal(rf_suggest_finish(&suggest, &found), 0);
	assert_true(found.sources == 6401 && found.quantile[3] == 10 && found.most == 2000);
	rf_suggest_free(&suggest);
}

static void test_nothing(void **state)
{
	const struct rf_suggest suggest = {};
	struct rf_suggestion found;

	(void)state;
	assert_int_equal(rf_suggest_finish(&suggest, &found), 0);
	assert_true(found.sources == 0 && found.before_rounding == 0 && found.hours == 0);
}

/* ---- the replay of all sources ---- */

#define WALL (1700000000 * SECOND)
#define CELL_NS 33367187 /* of 31 cells in 1 s, at 1000 Hz */

static struct rf_try_run run_of(uint64_t rate)
{
	struct rf_try_run run = {
		.recorded = {.name = "any",
			     .rate = 50000,
			     .flags = RF_EXACT,
			     .window_ns = SECOND,
			     .cells = 31,
			     .per4 = 32,
			     .per6 = 64},
		.since_ns = WALL,
		.until_ns = UINT64_MAX / 2,
		.length = 1,
	};

	run.limit = run.recorded;
	run.limit.rate = rate;
	return run;
}

/* Ten seconds of `each` packets a cell. */
static void send(struct rf_try_run *run, uint32_t source, uint64_t each)
{
	struct rf_cells_row row = {.source = source_of(source), .cell_ns = CELL_NS, .count = 31};
	struct rf_error error = {};

	for (int i = 0; i < 31; i++)
		row.cell[i] = each;
	for (int i = 0; i < 10; i++) {
		row.first_ns = WALL + i * 31ULL * CELL_NS;
		assert_int_equal(rf_try_run_row(run, &row, &error), 0);
	}
}

static void test_sources(void **state)
{
	struct rf_try_run run = run_of(62);
	struct rf_try_result result;

	(void)state;
	send(&run, 1, 1);
	send(&run, 2, 3);
	send(&run, 300, 2);
	rf_try_run_end(&run, &result);
	assert_true(result.is_exact && !result.is_estimate);
	assert_int_equal(result.sources, 3);
	assert_int_equal(result.charged, 310 * 6);
	assert_int_equal(result.over_most, 1);
	assert_int_equal(result.least, 310);
	assert_int_equal(result.most, 310);
	rf_try_run_free(&run);
}

/* Differences of counters are packets, also under a limit in bytes, and prove no number. */
static void test_differences(void **state)
{
	struct rf_cells_row row = {.source = source_of(1),
				   .first_ns = WALL,
				   .cell_ns = CELL_NS,
				   .count = 31,
				   .is_difference = true};
	struct rf_error error = {};

	(void)state;
	for (int i = 0; i < 31; i++)
		row.cell[i] = 2;
	for (int is_bytes = 0; is_bytes < 2; is_bytes++) {
		struct rf_try_run run = run_of(is_bytes ? 31000 : 31);
		struct rf_try_result result;

		run.recorded.unit = run.limit.unit = is_bytes ? RF_BYTES : RF_PACKETS;
		run.length = is_bytes ? 1000 : 1;
		assert_int_equal(rf_try_run_row(&run, &row, &error), 0);
		rf_try_run_end(&run, &result);
		assert_true(result.is_estimate);
		assert_int_equal(result.incomplete, 0);
		assert_int_equal(result.charged, is_bytes ? 62000 : 62);
		assert_in_range(result.most, is_bytes ? 31000 : 31, result.charged);
		rf_try_run_free(&run);
	}
}

static void test_grouped(void **state)
{
	struct rf_try_run run = run_of(62);
	struct rf_try_result result;

	(void)state;
	run.limit.per4 = 16;
	send(&run, 1, 1);
	send(&run, 1 | 1 << 8, 1);
	send(&run, 2 | 1 << 8, 1);
	rf_try_run_end(&run, &result);
	assert_int_equal(result.sources, 2);
	assert_int_equal(result.charged, 930);
	assert_true(result.most == 0);
	rf_try_run_free(&run);
}

/*
 * A second of `count` networks of two sources each, which report their cells in turn or in rounds.
 */
static void send_networks(struct rf_try_run *run, uint32_t count, bool in_turn)
{
	struct rf_cells_row row = {.cell_ns = CELL_NS, .first_ns = WALL, .count = 31};
	struct rf_error error = {};

	for (int i = 0; i < 31; i++)
		row.cell[i] = 1;
	for (uint32_t i = 0; i < 2 * count; i++) {
		const uint32_t network = in_turn ? i / 2 : i % count;
		const uint32_t host = in_turn ? i % 2 : i / count;

		row.source = host_of(network, host);
		assert_int_equal(rf_try_run_row(run, &row, &error), 0);
	}
}

/*
 * More networks than are summed at a time: exact for networks that report in turn, and otherwise
 * not.
 */
static void test_networks(void **state)
{
	static const uint32_t counts[] = {RF_SUMMED_MAX, 3 * RF_SUMMED_MAX};

	(void)state;
	for (int late = 0; late < 2; late++) {
		for (size_t i = 0; i < UNIT_ARRAY_SIZE(counts); i++) {
			struct rf_try_run run = run_of(31);
			struct rf_try_result result;

			run.limit.per4 = 24;
			send_networks(&run, counts[i], !late);
			assert_true(run.summed_count <= RF_SUMMED_MAX);
			rf_try_run_end(&run, &result);
			assert_int_equal(result.sources, counts[i]);
			assert_int_equal(result.charged, counts[i] * 62);
			assert_int_equal(result.is_estimate, late && counts[i] > RF_SUMMED_MAX);
			if (!result.is_estimate)
				assert_true(result.least == counts[i] * 31 &&
					    result.most == result.least);
			rf_try_run_free(&run);
		}
	}
}

/* An endless stream of sources: those without room are counted, and cost no memory. */
static void test_too_many(void **state)
{
	struct rf_try_run run = run_of(31);
	struct rf_try_result result;

	(void)state;
	run.limit.per4 = 24;
	send_networks(&run, RF_TRIED_MAX + 100, true);
	assert_int_equal(run.skipped, 200);
	for (uint32_t i = 0; i < RF_OTHERS_MAX + 100; i++) {
		struct rf_prefix source = host_of(0x100000 + i, 0);

		source.length = 24;
		assert_int_equal(rf_try_run_other(&run, &source, 1, 0, 1, SECOND), 0);
	}
	assert_int_equal(run.skipped, 300);
	rf_try_run_end(&run, &result);
	assert_true(result.sources == RF_TRIED_MAX && result.others == RF_OTHERS_MAX);
	rf_try_run_free(&run);
}

/* `hosts` of one reported network, each of which sends `each` packets a cell in turn. */
static void send_of(struct rf_try_run *run, unsigned int hosts, bool has_who, uint64_t each)
{
	struct rf_cells_row row = {.source = source_of(1), .cell_ns = CELL_NS, .count = 31};
	struct rf_error error = {};

	row.source.length = 24;
	row.source.word[0] &= rf_prefix_mask(24, 0);
	for (int i = 0; i < 31; i++)
		row.cell[i] = each;
	for (unsigned int i = 0; i < 10 * hosts; i++) {
		row.first_ns = WALL + i / hosts * 31ULL * CELL_NS;
		row.who = has_who ? 1 + i % hosts : 0;
		assert_int_equal(rf_try_run_row(run, &row, &error), 0);
	}
}

static void test_who(void **state)
{
	static const struct {
		unsigned int per4;
		bool has_who, is_estimate;
		uint64_t sources, least;
	} rows[] = {
		{32, true, false, 3, 0},
		{32, false, true, 1, 0}, /* their number is unknown */
		{24, true, false, 1, 310},
		{28, true, true, 1, 310}, /* nor which of them would be one */
	};

	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(rows); i++) {
		struct rf_try_run run = run_of(62);
		struct rf_try_result result;

		run.limit.per4 = rows[i].per4;
		send_of(&run, 3, rows[i].has_who, 1);
		rf_try_run_end(&run, &result);
		assert_int_equal(result.sources, rows[i].sources);
		assert_int_equal(result.is_estimate, rows[i].is_estimate);
		assert_int_equal(result.charged, 930);
		if (!rows[i].is_estimate)
			assert_int_equal(result.least, rows[i].least);
		rf_try_run_free(&run);
	}
}

/* The sample has no more of a network whose cells are recorded, for any source. */
static void test_who_else(void **state)
{
	struct rf_try_run run = run_of(62);
	struct rf_try_result result;
	struct rf_prefix told = source_of(1);

	(void)state;
	told.length = 24;
	told.word[0] &= rf_prefix_mask(24, 0);
	send_of(&run, 3, true, 1);
	assert_int_equal(rf_try_run_other(&run, &told, 8, 1000, 1000, SECOND), 0);
	rf_try_run_end(&run, &result);
	assert_true(result.others == 0);
	rf_try_run_free(&run);
}

static void test_from(void **state)
{
	struct rf_prefix ten = {.version = 4, .length = 32, .word = {10 | 2 << 8}};
	struct rf_prefixes from = {.prefix = &ten, .count = 1, .capacity = 1};
	struct rf_try_run run = run_of(31);
	struct rf_try_result result;

	(void)state;
	run.from = &from;
	send(&run, 1, 5);
	send(&run, 2, 2);
	rf_try_run_end(&run, &result);
	assert_int_equal(result.charged, 620);
	assert_int_equal(result.least, 310);
	rf_try_run_free(&run);
}

static void test_others(void **state)
{
	struct rf_try_run run = run_of(100);
	struct rf_try_result result;
	struct rf_prefix source;

	(void)state;
	send(&run, 1, 1);
	for (uint32_t i = 0; i < 50; i++) {
		source = source_of(1 + i); /* the first one has cells */
		assert_int_equal(rf_try_run_other(&run, &source, 4, 20, 200, 10 * SECOND), 0);
	}
	source = source_of(900);
	assert_int_equal(rf_try_run_other(&run, &source, 4, 400, 2000, 10 * SECOND), 0);
	rf_try_run_end(&run, &result);
	assert_true(result.others == 200 && result.others_over == 4);
	assert_true(result.others_dropped == 4000); /* 2000 but for 100 a second, four times */
	assert_true(result.others_error > 3463 && result.others_error < 3465);
	rf_try_run_free(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		UNIT_ROW("an hour of attack moves a day's suggestion by a tenth at most",
			 test_poisoned),
		UNIT_ROW("a suggestion is rounded up to 1, 2 or 5", test_rounding),
		UNIT_ROW("a sampled source stands for its share", test_share),
		UNIT_ROW("without a packet nothing is suggested", test_nothing),
		UNIT_ROW("each source has a window of its own", test_sources),
		UNIT_ROW("differences of counters make an estimate, in packets or bytes",
			 test_differences),
		UNIT_ROW("a coarser limit adds up the sources of a network", test_grouped),
		UNIT_ROW("of more networks than are added up, late cells make an estimate",
			 test_networks),
		UNIT_ROW("sources without end take no more memory", test_too_many),
		UNIT_ROW("sources of a network that was told are told apart", test_who),
		UNIT_ROW("a network of which cells are recorded is none of the others",
			 test_who_else),
		UNIT_ROW("a narrower limit leaves the others out", test_from),
		UNIT_ROW("the sample tells of sources without cells", test_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
