// SPDX-License-Identifier: GPL-2.0
/* The sources of a range of the past, each with bars over time. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "watch/graph.h"
#include "watch/reading.h"

#define INTERVALS_MAX 240 /* that are read of a range */
#define PLACES 65536	  /* a power of two: of a hash table that is at most half full */

/* The sums of a source, as they are read. */
struct sum {
	char source[RF_PREFIX_TEXT_SIZE];
	int64_t number; /* of its limit; 0: the place is free */
	struct rf_graph_source row;
};

struct summing {
	struct rf_reader *reader;
	int64_t from, to; /* ms */
	int64_t interval[INTERVALS_MAX], ends[INTERVALS_MAX];
	int intervals;
	uint64_t one_in;
	struct sum *of; /* `count` of them */
	int count, capacity;
	int place[PLACES]; /* an index in `of` and 1 */
};

/* Bounds the intervals: of a long range every second one, every third one … */
static void choose_intervals(struct summing *summing)
{
	struct rf_db *db = &summing->reader->db;
	const int64_t all =
		rf_db_int(db, 0, "SELECT count(*) FROM samples WHERE time > ? AND time - ms < ?",
			  "ii", summing->from, summing->to);
	sqlite3_stmt *stmt = rf_db_begin(
		db, "SELECT scan, time FROM samples WHERE time > ? AND time - ms < ? ORDER BY time",
		"ii", summing->from, summing->to);
	uint64_t row = 0;

	summing->one_in = (all + INTERVALS_MAX - 1) / INTERVALS_MAX;
	summing->one_in += !summing->one_in;
	while (rf_db_row(db, stmt)) {
		if (row++ % summing->one_in || summing->intervals == INTERVALS_MAX)
			continue;
		summing->interval[summing->intervals] = sqlite3_column_int64(stmt, 0);
		summing->ends[summing->intervals++] = sqlite3_column_int64(stmt, 1);
	}
}

/* What the file has is known to the writer alone, so the hash needs no key. */
static uint32_t hash_of(const char *source, int64_t number)
{
	uint32_t hash = 2166136261U ^ (uint32_t)number;

	while (*source)
		hash = (hash ^ (unsigned char)*source++) * 16777619U;
	return hash ^ hash >> 15;
}

static struct sum *add_sum(struct summing *summing, int *place, const char *source, int64_t number)
{
	struct sum *of;

	if (summing->count >= PLACES / 2)
		return NULL;
	if (summing->count == summing->capacity) {
		summing->capacity = 2 * summing->capacity + 256;
		of = reallocarray(summing->of, summing->capacity, sizeof(*of));
		if (!of) {
			summing->capacity = summing->count;
			return NULL;
		}
		summing->of = of;
	}
	of = &summing->of[summing->count++];
	*of = (struct sum){.number = number};
	snprintf(of->source, sizeof(of->source), "%s", source);
	*place = summing->count;
	return of;
}

/* NULL: there is no room for one more. */
static struct sum *find_sum(struct summing *summing, const char *source, int64_t number)
{
	for (uint32_t at = hash_of(source, number);; at++) {
		int *place = &summing->place[at % PLACES];
		struct sum *sum = *place ? &summing->of[*place - 1] : NULL;

		if (!sum)
			return add_sum(summing, place, source, number);
		if (sum->number == number && strcmp(sum->source, source) == 0)
			return sum;
	}
}

static void add_row(struct summing *summing, sqlite3_stmt *stmt, int bar)
{
	struct sum *sum = find_sum(summing, rf_db_text(stmt, 0), sqlite3_column_int64(stmt, 1));
	const uint64_t passed = sqlite3_column_int64(stmt, 2);
	const uint64_t dropped = sqlite3_column_int64(stmt, 3);
	const uint32_t used = sqlite3_column_int64(stmt, 5) / RF_USED_THOUSANDTH;
	struct rf_recorded_source *row;

	if (!sum)
		return;
	row = &sum->row.sum;
	row->passed += passed;
	row->dropped += dropped;
	row->would_drop += sqlite3_column_int64(stmt, 4);
	row->used = used > row->used ? used : row->used;
	row->is_banned = row->is_banned || sqlite3_column_int64(stmt, 6);
	sum->row.bar[bar] += passed + dropped;
}

static void add_interval(struct summing *summing, int interval)
{
	struct rf_db *db = &summing->reader->db;
	const int64_t scan = summing->interval[interval], span = summing->to - summing->from;
	const int64_t at = (summing->ends[interval] - 1 - summing->from) * RF_GRAPH_BARS / span;
	const int bar = at < RF_GRAPH_BARS ? at : RF_GRAPH_BARS - 1; /* it ends behind the range */
	sqlite3_stmt *stmt = rf_db_begin(
		db,
		"SELECT source, number, passed, dropped, would_drop, used, banned FROM sources "
		"WHERE id >= ? AND id < ?",
		"ii", scan << RF_SCAN_SHIFT, (scan + 1) << RF_SCAN_SHIFT);

	while (rf_db_row(db, stmt))
		add_row(summing, stmt, bar);
}

static int compare_sums(const void *a, const void *b)
{
	const struct rf_recorded_source *left = &((const struct sum *)a)->row.sum;
	const struct rf_recorded_source *right = &((const struct sum *)b)->row.sum;
	const uint64_t lost = left->dropped + left->would_drop;
	const uint64_t also = right->dropped + right->would_drop;

	if (lost != also)
		return lost > also ? -1 : 1;
	return left->passed == right->passed ? 0 : left->passed > right->passed ? -1 : 1;
}

static void name_limit(struct rf_reader *reader, int64_t number, char name[RF_NAME_SIZE])
{
	struct rf_db *db = &reader->db;
	sqlite3_stmt *stmt =
		rf_db_begin(db, "SELECT name FROM limits WHERE number = ?", "i", number);

	if (!rf_db_row(db, stmt))
		return;
	snprintf(name, RF_NAME_SIZE, "%s", rf_db_text(stmt, 0));
	rf_db_end(stmt);
}

static int take_most(struct summing *summing, int most, struct rf_graph_sources *sources)
{
	struct rf_error ignored;

	if (summing->count)
		rf_sort(summing->of, summing->count, sizeof(*summing->of), compare_sums);
	sources->one_in = summing->one_in;
	sources->row = calloc(most, sizeof(*sources->row));
	if (!sources->row)
		return -ENOMEM;
	for (int i = 0; i < summing->count && sources->count < most; i++) {
		struct rf_graph_source *row = &sources->row[sources->count];

		*row = summing->of[i].row;
		name_limit(summing->reader, summing->of[i].number, row->sum.limit);
		if (!rf_parse_prefix(summing->of[i].source, &row->sum.source, &ignored))
			sources->count++;
	}
	return 0;
}

int rf_reader_graph_sources(struct rf_reader *reader, uint64_t from_ns, uint64_t to_ns, int most,
			    struct rf_graph_sources *sources, struct rf_error *error)
{
	struct summing *summing = calloc(1, sizeof(*summing));
	int err = 0;

	*sources = (struct rf_graph_sources){};
	if (!summing)
		return rf_error_failed(error, -ENOMEM, "%s", strerror(ENOMEM));
	summing->reader = reader;
	summing->from = rf_to_ms(from_ns);
	summing->to = rf_to_ms(to_ns);
	choose_intervals(summing);
	for (int i = 0; i < summing->intervals; i++)
		add_interval(summing, i);
	if (reader->db.failed)
		err = rf_reader_fail(reader, error);
	else if (take_most(summing, most, sources))
		err = rf_error_failed(error, -ENOMEM, "%s", strerror(ENOMEM));
	free(summing->of);
	free(summing);
	return err;
}

void rf_graph_sources_free(struct rf_graph_sources *sources)
{
	free(sources->row);
	*sources = (struct rf_graph_sources){};
}
