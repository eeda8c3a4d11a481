// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "watch/suggest.h"

#define ROOM_TIMES 2 /* an honest peak has so much room */
#define HOURLY 0.999

struct rf_suggest_peak {
	double used;
	uint64_t share;
};

const double rf_suggest_quantiles[RF_SUGGEST_QUANTILES] = {0.5, 0.9, 0.99, HOURLY};

/* 1, 2, 5, 10, … */
static uint64_t step_rate(int step)
{
	static const uint64_t first[] = {1, 2, 5};
	uint64_t rate = first[step % 3];

	for (int i = 0; i < step / 3; i++)
		rate *= 10;
	return rate;
}

/* ---- rows ---- */

static bool make_room(struct rf_suggest *suggest, size_t index)
{
	const size_t room = 2 * index + 256;
	struct rf_suggest_peak *peak;

	if (index < suggest->room)
		return true;
	peak = reallocarray(suggest->peak, room, sizeof(*peak));
	if (!peak)
		return false;
	memset(peak + suggest->room, 0, (room - suggest->room) * sizeof(*peak));
	suggest->peak = peak;
	suggest->room = room;
	return true;
}

static void add_over(struct rf_suggest *suggest, const struct rf_suggest_row *row)
{
	suggest->packets += (double)row->share * row->packets;
	for (int step = 0; step < RF_SUGGEST_STEPS; step++) {
		const double rate = step_rate(step);
		const double all = row->packets - rate * row->times256 / 256;
		const double once = row->used - rate;
		const double over = all > once ? all : once;

		if (over <= 0)
			return; /* nor at any higher rate */
		suggest->over[step] += row->share * (over < row->packets ? over : row->packets);
	}
}

int rf_suggest_note(struct rf_suggest *suggest, const struct rf_suggest_row *row)
{
	const size_t index = rf_source_map_add(&suggest->map, &row->source, row->hour);
	struct rf_suggest_peak *peak;

	if (index == RF_NO_INDEX || !make_room(suggest, index))
		return -ENOMEM;
	peak = &suggest->peak[index];
	if (row->used > peak->used)
		peak->used = row->used;
	if (!peak->share || row->share < peak->share)
		peak->share = row->share;
	add_over(suggest, row);
	return 0;
}

/* ---- the distribution ---- */

/* A source in an hour, or in all hours. */
struct entry {
	const struct rf_source_key *key;
	double used;
	uint64_t share;
};

static int compare_used(const void *a, const void *b)
{
	const struct entry *left = a, *right = b;

	return (left->used > right->used) - (left->used < right->used);
}

static int compare_hour(const void *a, const void *b)
{
	const struct entry *left = a, *right = b;

	if (left->key->of != right->key->of)
		return left->key->of < right->key->of ? -1 : 1;
	return compare_used(a, b);
}

static int compare_source(const void *a, const void *b)
{
	const struct entry *left = a, *right = b;

	return rf_prefix_compare(&left->key->source, &right->key->source);
}

static double sources_of(const struct entry *entry, size_t count)
{
	double sources = 0;

	for (size_t i = 0; i < count; i++)
		sources += entry[i].share;
	return sources;
}

/* Of entries in the order of what they used: what so large a part of the sources stays within. */
static double quantile(const struct entry *entry, size_t count, double part)
{
	const double wanted = part * sources_of(entry, count);
	double sources = 0;

	for (size_t i = 0; i < count; i++) {
		sources += entry[i].share;
		if (sources >= wanted)
			return entry[i].used;
	}
	return count ? entry[count - 1].used : 0;
}

/* One entry for each source: its hours follow each other. */
static size_t merge_hours(struct entry *entry, size_t count)
{
	size_t left = 0;

	rf_sort(entry, count, sizeof(*entry), compare_source);
	for (size_t i = 0; i < count; i++) {
		struct entry *into = left ? &entry[left - 1] : NULL;

		if (!into || compare_source(into, &entry[i])) {
			entry[left++] = entry[i];
			continue;
		}
		if (entry[i].used > into->used)
			into->used = entry[i].used;
		if (entry[i].share < into->share)
			into->share = entry[i].share;
	}
	rf_sort(entry, left, sizeof(*entry), compare_used);
	return left;
}

/* ---- the suggestion ---- */

static int compare_double(const void *a, const void *b)
{
	const double *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

/* The median of the hours. `entry` is sorted by hour; `hourly` has room for all of them. */
static double median_of_hours(const struct entry *entry, size_t count, double *hourly, int *hours)
{
	*hours = 0;
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i; end < count && entry[end].key->of == entry[i].key->of;)
			end++;
		hourly[(*hours)++] = quantile(entry + i, end - i, HOURLY);
	}
	rf_sort(hourly, *hours, sizeof(*hourly), compare_double);
	if (!*hours)
		return 0;
	return (hourly[(*hours - 1) / 2] + hourly[*hours / 2]) / 2;
}

static int step_of(double rate)
{
	int step = 0;

	while (step < RF_SUGGEST_STEPS - 1 && step_rate(step) < rate)
		step++;
	return step;
}

static void describe(const struct rf_suggest *suggest, const struct entry *entry, size_t count,
		     int step, struct rf_suggest_rate *row)
{
	size_t first = count;

	*row = (struct rf_suggest_rate){.rate = step_rate(step)};
	while (first && entry[first - 1].used > row->rate)
		first--;
	row->sources = sources_of(entry + first, count - first);
	if (suggest->packets > 0)
		row->packets_ratio = suggest->over[step] / suggest->packets;
	if (row->sources > RF_SUGGEST_NAMED)
		return;
	for (size_t i = count; i > first && row->named < RF_SUGGEST_NAMED; i--)
		row->worst[row->named++] = entry[i - 1].key->source;
}

static void fill(const struct rf_suggest *suggest, struct entry *entry, size_t count,
		 double *hourly, struct rf_suggestion *suggestion)
{
	int step;

	rf_sort(entry, count, sizeof(*entry), compare_hour);
	suggestion->before_rounding =
		ROOM_TIMES * median_of_hours(entry, count, hourly, &suggestion->hours);
	count = merge_hours(entry, count);
	suggestion->sources = sources_of(entry, count);
	for (int i = 0; i < RF_SUGGEST_QUANTILES; i++)
		suggestion->quantile[i] = quantile(entry, count, rf_suggest_quantiles[i]);
	suggestion->most = count ? entry[count - 1].used : 0;
	step = step_of(suggestion->before_rounding);
	suggestion->rate = step_rate(step);
	describe(suggest, entry, count, step ? step - 1 : 0, &suggestion->row[0]);
	describe(suggest, entry, count, step ? step : 1, &suggestion->row[1]);
}

int rf_suggest_finish(const struct rf_suggest *suggest, struct rf_suggestion *suggestion)
{
	const size_t count = suggest->map.count;
	struct entry *entry = calloc(count + 1, sizeof(*entry));
	double *hourly = calloc(count + 1, sizeof(*hourly));
	const bool ok = entry && hourly;

	*suggestion = (struct rf_suggestion){};
	for (size_t i = 0; ok && i < count; i++)
		entry[i] = (struct entry){&suggest->map.key[i], suggest->peak[i].used,
					  suggest->peak[i].share};
	if (ok)
		fill(suggest, entry, count, hourly, suggestion);
	free(entry);
	free(hourly);
	return ok ? 0 : -ENOMEM;
}

void rf_suggest_free(struct rf_suggest *suggest)
{
	rf_source_map_free(&suggest->map);
	free(suggest->peak);
	*suggest = (struct rf_suggest){};
}
