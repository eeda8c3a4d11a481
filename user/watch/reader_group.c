// SPDX-License-Identifier: GPL-2.0
/*
 * Rows of sources, summed up by source and limit. SQLite would sort the rows by their text before,
 * which takes longer than reading them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/siphash.h"
#include "base/sort.h"
#include "watch/reading.h"

#define PLACES_LEAST 4096 /* a power of two */

struct group {
	char source[RF_PREFIX_TEXT_SIZE];
	int64_t number; /* of the limit */
	int64_t passed, dropped, would_drop, used, banned;
};

struct groups {
	struct group *of;
	size_t count;
	uint32_t *place; /* of each group by its hash: its index, plus 1; 0: free */
	size_t places;	 /* a power of two; half of them are free at least */
	uint64_t key[2]; /* senders choose the sources, so no hash may be known */
};

/* Where the group is, or would be. */
static uint32_t *find(const struct groups *groups, const char *source, size_t length,
		      int64_t number)
{
	size_t at = rf_siphash(groups->key, source, length) + number;

	for (;; at++) {
		uint32_t *place = &groups->place[at & (groups->places - 1)];
		const struct group *group = *place ? &groups->of[*place - 1] : NULL;

		if (!group || (group->number == number && !strcmp(group->source, source)))
			return place;
	}
}

static int grow(struct groups *groups)
{
	const size_t places = groups->places ? 2 * groups->places : PLACES_LEAST;
	struct group *of = reallocarray(groups->of, places / 2, sizeof(*of));
	uint32_t *place = calloc(places, sizeof(*place));

	if (of)
		groups->of = of;
	if (!of || !place) {
		free(place);
		return -ENOMEM;
	}
	free(groups->place);
	groups->place = place;
	groups->places = places;
	for (size_t i = 0; i < groups->count; i++)
		*find(groups, of[i].source, strlen(of[i].source), of[i].number) = i + 1;
	return 0;
}

/* The group of a row of source and number; NULL: no memory. */
static struct group *group_of(struct groups *groups, sqlite3_stmt *stmt)
{
	const char *source = rf_db_text(stmt, 0);
	const size_t length = strnlen(source, RF_PREFIX_TEXT_SIZE - 1);
	const int64_t number = sqlite3_column_int64(stmt, 1);
	uint32_t *place;

	if (groups->count == groups->places / 2 && grow(groups))
		return NULL;
	place = find(groups, source, length, number);
	if (!*place) {
		struct group *group = &groups->of[groups->count];

		*group = (struct group){.number = number};
		memcpy(group->source, source, length);
		*place = ++groups->count;
	}
	return &groups->of[*place - 1];
}

static int64_t greater(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int sum_up(struct rf_reader *reader, sqlite3_stmt *stmt, struct groups *groups)
{
	while (rf_db_row(&reader->db, stmt)) {
		struct group *group = group_of(groups, stmt);

		if (!group) {
			rf_db_end(stmt);
			return -ENOMEM;
		}
		group->passed += sqlite3_column_int64(stmt, 2);
		group->dropped += sqlite3_column_int64(stmt, 3);
		group->would_drop += sqlite3_column_int64(stmt, 4);
		group->used = greater(group->used, sqlite3_column_int64(stmt, 5));
		group->banned = greater(group->banned, sqlite3_column_int64(stmt, 6));
	}
	return 0;
}

/* Most drops first, then most packets. */
static int compare(const void *a, const void *b)
{
	const struct group *left = a, *right = b;
	const int64_t l = left->dropped + left->would_drop, r = right->dropped + right->would_drop;
	const int order = strcmp(left->source, right->source);

	if (l != r)
		return l < r ? 1 : -1;
	if (left->passed != right->passed)
		return left->passed < right->passed ? 1 : -1;
	if (order)
		return order;
	return (left->number > right->number) - (left->number < right->number);
}

/* Is it the source, or a network of one with the other? */
static bool is_of(const struct group *group, const struct rf_prefix *of)
{
	struct rf_error unused;
	struct rf_prefix prefix;

	return !rf_parse_prefix(group->source, &prefix, &unused) &&
	       (rf_prefix_contains(&prefix, of) || rf_prefix_contains(of, &prefix));
}

static void keep(struct groups *groups, const struct rf_prefix *of)
{
	size_t left = 0;

	for (size_t i = 0; i < groups->count; i++)
		if (is_of(&groups->of[i], of))
			groups->of[left++] = groups->of[i];
	groups->count = left;
}

/* False: there is no such limit, or that is no source. */
static bool take(struct rf_reader *reader, const struct group *group,
		 struct rf_recorded_source *row)
{
	sqlite3_stmt *stmt = rf_db_begin(&reader->db, "SELECT name FROM limits WHERE number = ?",
					 "i", group->number);
	struct rf_error unused;

	*row = (struct rf_recorded_source){
		.passed = group->passed,
		.dropped = group->dropped,
		.would_drop = group->would_drop,
		.used = group->used / RF_USED_THOUSANDTH,
		.is_banned = group->banned,
	};
	if (!rf_db_row(&reader->db, stmt))
		return false;
	snprintf(row->limit, sizeof(row->limit), "%s", rf_db_text(stmt, 0));
	rf_db_end(stmt);
	return !rf_parse_prefix(group->source, &row->source, &unused);
}

static int take_all(struct rf_reader *reader, const struct groups *groups, size_t most,
		    struct rf_recorded_sources *sources)
{
	const size_t room = groups->count < most ? groups->count : most;

	sources->row = calloc(room + 1, sizeof(*sources->row));
	if (!sources->row)
		return -ENOMEM;
	for (size_t i = 0; i < groups->count && sources->count < room; i++)
		sources->count += take(reader, &groups->of[i], &sources->row[sources->count]);
	return 0;
}

int rf_reader_group_sources(struct rf_reader *reader, sqlite3_stmt *stmt,
			    const struct rf_prefix *of, size_t most,
			    struct rf_recorded_sources *sources, struct rf_error *error)
{
	struct groups groups = {};
	int err = 0;

	if (getrandom(groups.key, sizeof(groups.key), 0) < 0) {
		err = -errno;
		rf_db_end(stmt);
	}
	if (!err)
		err = sum_up(reader, stmt, &groups);
	if (!err && of)
		keep(&groups, of);
	if (!err && groups.count)
		rf_sort(groups.of, groups.count, sizeof(*groups.of), compare);
	if (!err)
		err = take_all(reader, &groups, most, sources);
	free(groups.of);
	free(groups.place);
	if (err)
		return rf_error_failed(error, err, "%s", strerror(-err));
	return reader->db.failed ? rf_reader_fail(reader, error) : 0;
}
