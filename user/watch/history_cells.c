// SPDX-License-Identifier: GPL-2.0
/* The cells of sources: those that matter most, as many as there is room for. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "watch/recorder.h"

#define BYTES_PER_S (20 << 10)
#define BURST_S 10 /* a scan that is late may write as much as it would have */

static int compare_weight(const void *a, const void *b)
{
	const struct rf_cells_row *const *left = a, *const *right = b;
	const uint64_t l = (*left)->weight, r = (*right)->weight;

	return l < r ? 1 : l > r ? -1 : 0;
}

/* Rows that are one pack follow each other. */
static int compare_pack(const void *a, const void *b)
{
	const struct rf_cells_row *const *left = a, *const *right = b;
	const int order = strcmp((*left)->limit, (*right)->limit);

	if (order)
		return order;
	if ((*left)->cell_ns != (*right)->cell_ns)
		return (*left)->cell_ns < (*right)->cell_ns ? -1 : 1;
	if ((*left)->is_difference != (*right)->is_difference)
		return (*left)->is_difference - (*right)->is_difference;
	if ((*left)->counts_refused != (*right)->counts_refused)
		return (*left)->counts_refused - (*right)->counts_refused;
	return rf_prefix_compare(&(*left)->source, &(*right)->source)
		       ?: ((*left)->who > (*right)->who) - ((*left)->who < (*right)->who);
}

static bool is_same_pack(const struct rf_cells_row *a, const struct rf_cells_row *b)
{
	return !strcmp(a->limit, b->limit) && rf_cells_same_pack(a, b);
}

/* The end of the cells of the first `count` rows, which are one pack. */
static uint64_t end_of(const struct rf_cells_row **row, size_t count)
{
	uint64_t end_ns = 0;

	for (size_t i = 0; i < count; i++) {
		const uint64_t its_ns = row[i]->first_ns + row[i]->count * row[i]->cell_ns;

		if (its_ns > end_ns)
			end_ns = its_ns;
	}
	return end_ns;
}

/* Packs rows up to the end of their pack. */
static int pack_rows(const struct rf_history *history, const struct rf_cells_row **row,
		     size_t count, struct rf_cells_pack *pack, size_t *taken)
{
	const bool has_who = history->settings.told == RF_TELL_PREFIX;
	int err = rf_cells_pack_begin(pack, row[0], has_who);

	for (*taken = 0; !err && *taken < count && is_same_pack(row[0], row[*taken]); ++*taken)
		err = rf_cells_pack_add(pack, row[*taken]);
	return err;
}

static int write_pack(struct rf_history *history, const struct rf_cells_row **row, size_t count,
		      const struct rf_cells_pack *pack, int part)
{
	const int number = rf_history_limit_number(history, row[0]->limit);

	if (!number)
		return history->db.failed;
	return rf_db_insert(&history->db, "cells", "iiib", rf_scan_id(history->scan, part),
			    (int64_t)number, (int64_t)rf_ms(end_of(row, count)), pack->data,
			    (int)pack->size);
}

/* Packs all rows, and writes them if `is_writing`. Adds the bytes to `size`. */
static int pack_all(struct rf_history *history, const struct rf_cells_row **row, size_t count,
		    bool is_writing, size_t *size)
{
	struct rf_cells_pack pack = {};
	int code = SQLITE_OK, part = 0;

	rf_sort(row, count, sizeof(*row), compare_pack);
	for (size_t i = 0, taken; i < count && !code; i += taken) {
		if (pack_rows(history, row + i, count - i, &pack, &taken))
			code = SQLITE_NOMEM;
		*size += pack.size;
		if (!code && is_writing)
			code = write_pack(history, row + i, taken, &pack, part++);
	}
	rf_cells_pack_free(&pack);
	return code;
}

/* How many bytes this scan may take. */
static size_t room(struct rf_history *history)
{
	const uint64_t since_ns = history->now_ns - history->cells_ns;
	uint64_t seconds = since_ns / RF_NS_PER_S;

	if (!history->cells_ns || history->now_ns < history->cells_ns || seconds < 1)
		seconds = 1;
	if (seconds > BURST_S)
		seconds = BURST_S;
	history->cells_ns = history->now_ns;
	return seconds * BYTES_PER_S;
}

/* The rows that matter most, as many as may be recorded; then fewer, until they fit. */
static int choose(struct rf_history *history, const struct rf_cells_row **row, size_t count)
{
	const size_t most = RF_HISTORY_CELLS_MAX >> history->level, bytes = room(history);

	for (size_t fitting = count < most ? count : most; fitting;) {
		size_t size = 0;
		int code;

		rf_sort(row, count, sizeof(*row), compare_weight);
		code = pack_all(history, row, fitting, false, &size);
		if (code)
			return code;
		if (size <= bytes)
			return pack_all(history, row, fitting, true, &size);
		fitting = fitting * bytes / size;
	}
	return SQLITE_OK;
}

/*
 * The rows under the names that may be told. They are told before they are sorted: the order of
 * what is written tells nothing of the addresses. NULL: no memory.
 */
static struct rf_cells_row *tell_rows(const struct rf_history *history,
				      const struct rf_cells_row *row, size_t count)
{
	struct rf_cells_row *told = malloc(count * sizeof(*told));

	for (size_t i = 0; told && i < count; i++) {
		told[i] = row[i];
		rf_tell(history->settings.told, &row[i].source, &told[i].source);
		told[i].who = rf_tell_who(history->who_key, &row[i].source, &told[i].source);
	}
	return told;
}

int rf_history_add_cells(struct rf_history *history, const struct rf_cells_row *row, size_t count,
			 struct rf_error *error)
{
	const struct rf_cells_row **list;
	struct rf_cells_row *told;
	int code;

	if (!history->in_scan || history->has_failed || !count ||
	    history->settings.told == RF_TELL_NONE)
		return 0;
	list = calloc(count, sizeof(*list));
	told = tell_rows(history, row, count);
	for (size_t i = 0; list && told && i < count; i++)
		list[i] = &told[i];
	code = list && told ? choose(history, list, count) : SQLITE_NOMEM;
	free(told);
	free(list);
	history->has_failed = code;
	return code ? rf_db_fail(&history->db, history->path, error) : 0;
}
