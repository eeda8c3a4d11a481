// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/sort.h"
#include "rules/policy.h"
#include "watch/suggest.h"

/* ---- an index of sources ---- */

#define NO_INDEX SIZE_MAX
#define PLACES_FIRST 1024
#define COUNT_MAX (1U << 30)

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15;
	return hash ^ hash >> 29;
}

static uint64_t hash_of(const struct rf_prefix *source, uint64_t of)
{
	uint64_t hash = mix(of, source->length << 8 | source->version);

	hash = mix(hash, (uint64_t)source->word[0] << 32 | source->word[1]);
	return mix(hash, (uint64_t)source->word[2] << 32 | source->word[3]);
}

static bool is_key(const struct rf_source_key *key, const struct rf_prefix *source, uint64_t of)
{
	return key->of == of && !rf_prefix_compare(&key->source, source);
}

/* The place of the key, or the free place for it. */
static uint32_t *find_place(const struct rf_source_map *map, const struct rf_prefix *source,
			    uint64_t of)
{
	for (uint64_t at = hash_of(source, of) >> 16;; at++) {
		uint32_t *place = &map->place[at & (map->places - 1)];

		if (!*place || is_key(&map->key[*place - 1], source, of))
			return place;
	}
}

static bool grow_places(struct rf_source_map *map)
{
	const size_t places = map->places ? 2 * map->places : PLACES_FIRST;
	uint32_t *place = calloc(places, sizeof(*place));

	if (!place)
		return false;
	free(map->place);
	map->place = place;
	map->places = places;
	for (size_t i = 0; i < map->count; i++)
		*find_place(map, &map->key[i].source, map->key[i].of) = i + 1;
	return true;
}

static bool make_key_room(struct rf_source_map *map)
{
	struct rf_source_key *key;

	if (map->count >= COUNT_MAX)
		return false;
	if (2 * map->count >= map->places && !grow_places(map))
		return false;
	key = rf_grow(map->key, map->count, &map->capacity, sizeof(*key), 64);
	if (key)
		map->key = key;
	return key;
}

/* The index of the key, which is added if new. NO_INDEX: no memory. */
static size_t map_add(struct rf_source_map *map, const struct rf_prefix *source, uint64_t of)
{
	uint32_t *place;

	if (!make_key_room(map))
		return NO_INDEX;
	place = find_place(map, source, of);
	if (!*place) {
		map->key[map->count] = (struct rf_source_key){*source, of};
		*place = ++map->count;
	}
	return *place - 1;
}

/* NO_INDEX: it is not in the map. */
static size_t map_find(const struct rf_source_map *map, const struct rf_prefix *source, uint64_t of)
{
	const uint32_t *place = map->places ? find_place(map, source, of) : NULL;

	return place && *place ? *place - 1 : NO_INDEX;
}

static void map_free(struct rf_source_map *map)
{
	free(map->key);
	free(map->place);
	*map = (struct rf_source_map){};
}

/* Grows an array to hold `index`. */
static bool make_room(void **array, size_t *room, size_t index, size_t size)
{
	const size_t wanted = 2 * index + 64;
	void *grown;

	if (index < *room)
		return true;
	grown = reallocarray(*array, wanted, size);
	if (!grown)
		return false;
	memset((char *)grown + *room * size, 0, (wanted - *room) * size);
	*array = grown;
	*room = wanted;
	return true;
}

/* ---- the right COUNT ---- */

#define ROOM_TIMES 2 /* headroom over a legitimate peak */
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

/* ---- the right COUNT: rows ---- */

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
	const size_t index = map_add(&suggest->map, &row->source, row->hour);
	struct rf_suggest_peak *peak;

	if (index == NO_INDEX ||
	    !make_room((void **)&suggest->peak, &suggest->room, index, sizeof(*suggest->peak)))
		return -ENOMEM;
	peak = &suggest->peak[index];
	if (row->used > peak->used)
		peak->used = row->used;
	if (!peak->share || row->share < peak->share)
		peak->share = row->share;
	add_over(suggest, row);
	return 0;
}

/* ---- the right COUNT: the distribution ---- */

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

/* Of entries in the order of their use: the use that this part of the sources does not exceed. */
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

/* ---- the right COUNT: the suggestion ---- */

static int compare_double(const void *a, const void *b)
{
	const double *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

/* The median of the hours. `entry` is sorted by hour; `hourly` has room for all hours. */
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
	map_free(&suggest->map);
	free(suggest->peak);
	*suggest = (struct rf_suggest){};
}

/* ---- how much a limit would have dropped ---- */

#define BUFFER_CELLS 512 /* rows of one network can be out of order by this */

/*
 * The cells of a network, added up until all its sources have reported. If too many networks send
 * at a time, the least recent one is considered complete; if cells of it arrive later nevertheless,
 * the result is an estimate.
 */
struct buffer {
	uint64_t first_ns; /* of the first cell */
	unsigned int count;
	uint64_t cell[BUFFER_CELLS];
};

struct rf_tried {
	struct rf_replayed replayed;
	TAILQ_ENTRY(rf_tried) place; /* among those with a buffer */
	struct buffer *buffer;	     /* NULL: of one source, or all was replayed */
	bool is_difference, is_incomplete;
};

struct rf_other {
	uint64_t share;
	double dropped;
};

/* ---- a limit: its sources ---- */

/* The source under the new limit, which may group more coarsely. */
static struct rf_prefix group(const struct rf_try_run *run, const struct rf_prefix *source)
{
	const unsigned int length = rf_limit_length(&run->limit, source);
	struct rf_prefix grouped = *source;

	if (length >= source->length)
		return grouped;
	grouped.length = length;
	for (unsigned int i = 0; i < 4; i++)
		grouped.word[i] &= rf_prefix_mask(length, i);
	return grouped;
}

static bool is_asked(const struct rf_try_run *run, const struct rf_prefix *source)
{
	for (size_t i = 0; run->from && i < run->from->count; i++)
		if (rf_prefix_contains(&run->from->prefix[i], source))
			return true;
	return !run->from;
}

/* Does the new limit make one source of several? */
static bool is_coarser(const struct rf_try_run *run)
{
	return run->limit.per4 < run->recorded.per4 || run->limit.per6 < run->recorded.per6;
}

/*
 * Distinguishes the sources of one network. If the new limit combines several sources into one, a
 * disclosed network is one source, or is too coarse.
 */
static uint32_t who_of(const struct rf_try_run *run, const struct rf_cells_row *row, bool *is_vague)
{
	const unsigned int length = rf_limit_length(&run->limit, &row->source);

	if (length >= rf_limit_length(&run->recorded, &row->source))
		return row->who;
	*is_vague = row->who && length > row->source.length;
	return 0;
}

/* -ENOSPC: there are too many. */
static int find_tried(struct rf_try_run *run, const struct rf_cells_row *row,
		      struct rf_tried **tried)
{
	const struct rf_prefix grouped = group(run, &row->source);
	bool is_vague = false;
	const uint32_t who = who_of(run, row, &is_vague);
	size_t index = map_find(&run->tried_map, &grouped, who);

	if (index == NO_INDEX && run->tried_map.count >= RF_TRIED_MAX)
		return -ENOSPC;
	if (index == NO_INDEX)
		index = map_add(&run->tried_map, &grouped, who);
	if (index == NO_INDEX || map_add(&run->network_map, &grouped, 0) == NO_INDEX ||
	    !make_room((void **)&run->tried, &run->tried_room, index, sizeof(*run->tried)))
		return -ENOMEM;
	if (!run->tried[index])
		run->tried[index] = calloc(1, sizeof(**run->tried));
	*tried = run->tried[index];
	if (*tried)
		(*tried)->replayed.is_mixed |= is_vague;
	return *tried ? 0 : -ENOMEM;
}

/* ---- a limit: adding up a network ---- */

/* Replays the first cells of the buffer. */
static void flush(const struct rf_try_run *run, struct rf_tried *tried, unsigned int count)
{
	struct buffer *buffer = tried->buffer;
	struct rf_cells_row row = {.cell_ns = run->replay.cell_ns};

	for (unsigned int done = 0; done < count; done += row.count) {
		row.first_ns = buffer->first_ns + done * row.cell_ns;
		row.count = count - done < RF_CELLS_ROW_MAX ? count - done : RF_CELLS_ROW_MAX;
		memcpy(row.cell, buffer->cell + done, row.count * sizeof(*row.cell));
		rf_replay_row(&run->replay, &tried->replayed, &row, run->since_ns, run->until_ns);
	}
	memmove(buffer->cell, buffer->cell + count, (BUFFER_CELLS - count) * sizeof(*buffer->cell));
	memset(buffer->cell + BUFFER_CELLS - count, 0, count * sizeof(*buffer->cell));
	buffer->first_ns += count * row.cell_ns;
	buffer->count -= count;
}

static void end_sum(struct rf_try_run *run, struct rf_tried *tried)
{
	flush(run, tried, tried->buffer->count);
	TAILQ_REMOVE(&run->summed, tried, place);
	run->summed_count--;
	free(tried->buffer);
	tried->buffer = NULL;
}

/* The buffer of a network, which is the last one in use then. */
static struct buffer *begin_sum(struct rf_try_run *run, struct rf_tried *tried)
{
	if (tried->buffer) {
		TAILQ_REMOVE(&run->summed, tried, place);
	} else {
		if (run->summed_count >= RF_SUMMED_MAX)
			end_sum(run, TAILQ_FIRST(&run->summed));
		tried->buffer = calloc(1, sizeof(*tried->buffer));
		if (!tried->buffer)
			return NULL;
		run->summed_count++;
	}
	TAILQ_INSERT_TAIL(&run->summed, tried, place);
	return tried->buffer;
}

static int add_to_buffer(struct rf_try_run *run, struct rf_tried *tried,
			 const struct rf_cells_row *row)
{
	const int64_t cell_ns = (int64_t)row->cell_ns;
	struct buffer *buffer = begin_sum(run, tried);
	int64_t at;

	if (!buffer)
		return -ENOMEM;
	if (!buffer->count)
		buffer->first_ns = row->first_ns;
	at = ((int64_t)(row->first_ns - buffer->first_ns) + cell_ns / 2) / cell_ns;
	if (row->first_ns < buffer->first_ns && row->first_ns + row->cell_ns / 2 < buffer->first_ns)
		at = 0, tried->replayed.is_mixed = true;
	if (at + row->count > BUFFER_CELLS) {
		const int64_t over = at + row->count - BUFFER_CELLS;

		flush(run, tried, over < buffer->count ? over : buffer->count);
		if (!buffer->count)
			buffer->first_ns = row->first_ns;
		at = buffer->count ? at - over : 0;
	}
	for (unsigned int i = 0; i < row->count; i++)
		buffer->cell[at + i] += row->cell[i];
	if (at + row->count > buffer->count)
		buffer->count = at + row->count;
	return 0;
}

/* ---- a limit: rows ---- */

/* Differences count packets, in the cells of a limit that can count bytes. */
static struct rf_cells_row in_units(const struct rf_try_run *run, const struct rf_cells_row *row)
{
	struct rf_cells_row its = *row;

	for (unsigned int i = 0; row->is_difference && i < row->count; i++)
		its.cell[i] = row->cell[i] * run->length + 0.5;
	return its;
}

/* Adds the cells to those of their network, or replays them. */
static int take_row(struct rf_try_run *run, struct rf_tried *tried, const struct rf_cells_row *row)
{
	const struct rf_cells_row its = in_units(run, row);

	tried->is_difference |= row->is_difference;
	tried->is_incomplete |= row->is_incomplete && row->first_ns > run->since_ns;
	if (is_coarser(run))
		return add_to_buffer(run, tried, &its);
	rf_replay_row(&run->replay, &tried->replayed, &its, run->since_ns, run->until_ns);
	return 0;
}

int rf_try_run_row(struct rf_try_run *run, const struct rf_cells_row *row, struct rf_error *error)
{
	struct rf_tried *tried;
	int err = 0;

	if (row->first_ns >= run->until_ns ||
	    row->first_ns + row->count * row->cell_ns <= run->since_ns ||
	    !is_asked(run, &row->source))
		return 0;
	if (!run->replay.cell_ns)
		TAILQ_INIT(&run->summed);
	if (!run->replay.cell_ns)
		err = rf_replay_begin(&run->replay, &run->limit, &run->recorded, row->cell_ns,
				      error);
	if (err)
		return err;
	if (row->cell_ns != run->replay.cell_ns)
		return run->skipped++, 0;
	err = find_tried(run, row, &tried);
	if (err == -ENOSPC)
		return run->skipped++, 0;
	if (!err)
		err = take_row(run, tried, row);
	return err ? rf_error_failed(error, err, "%s", strerror(-err)) : 0;
}

/* ---- a limit: the others ---- */

/* The part certainly over COUNT, of the packets in several TIMEs. */
static double over(const struct rf_limit *limit, double used, uint64_t came, uint64_t length_ns)
{
	const double times =
		length_ns > limit->window_ns ? (double)length_ns / limit->window_ns : 1;
	const double allowed = limit->rate * times + limit->burst;
	const double peak = used - limit->rate, all = came - allowed;

	if (peak <= 0 && all <= 0)
		return 0;
	return peak > all ? peak : all;
}

int rf_try_run_other(struct rf_try_run *run, const struct rf_prefix *source, uint64_t share,
		     double used, uint64_t came, uint64_t length_ns)
{
	const struct rf_prefix grouped = group(run, source);
	struct rf_other *other;
	size_t index;

	if (!is_asked(run, source) || map_find(&run->network_map, &grouped, 0) != NO_INDEX)
		return 0;
	index = map_find(&run->other_map, &grouped, 0);
	if (index == NO_INDEX && run->other_map.count >= RF_OTHERS_MAX)
		return run->skipped++, 0;
	if (index == NO_INDEX)
		index = map_add(&run->other_map, &grouped, 0);
	if (index == NO_INDEX ||
	    !make_room((void **)&run->other, &run->other_room, index, sizeof(*run->other)))
		return -ENOMEM;
	other = &run->other[index];
	if (!other->share || share < other->share)
		other->share = share;
	other->dropped += over(&run->limit, used, came, length_ns);
	return 0;
}

static void add_others(const struct rf_try_run *run, struct rf_try_result *result)
{
	double variance = 0;

	for (size_t i = 0; i < run->other_map.count; i++) {
		const struct rf_other *other = &run->other[i];
		const double share = other->share;

		result->others += share;
		result->others_over += other->dropped > 0 ? share : 0;
		result->others_dropped += share * other->dropped;
		variance += share * (share - 1) * other->dropped * other->dropped;
	}
	/* A square root by halving: no library for one number. */
	for (double step = variance + 1; step > 0.5; step /= 2)
		if ((result->others_error + step) * (result->others_error + step) <= variance)
			result->others_error += step;
}

/* ---- a limit: the result ---- */

void rf_try_run_end(struct rf_try_run *run, struct rf_try_result *result)
{
	*result = (struct rf_try_result){
		.sources = run->tried_map.count,
		.is_exact = run->replay.is_exact,
	};
	while (run->summed_count)
		end_sum(run, TAILQ_FIRST(&run->summed));
	for (size_t i = 0; i < run->tried_map.count; i++) {
		struct rf_tried *tried = run->tried[i];
		uint64_t least, most;

		least = rf_replay_least(&tried->replayed);
		most = rf_replay_most(&tried->replayed);
		result->charged += tried->replayed.charged[RF_STRICT];
		result->least += least;
		result->most += most;
		result->over_least += least > 0;
		result->over_most += most > 0;
		result->incomplete += tried->is_incomplete;
		result->differences += tried->is_difference;
		result->is_estimate |=
			tried->replayed.is_mixed || tried->is_difference || tried->is_incomplete;
	}
	add_others(run, result);
}

void rf_try_run_free(struct rf_try_run *run)
{
	for (size_t i = 0; i < run->tried_map.count && i < run->tried_room; i++) {
		if (run->tried[i])
			free(run->tried[i]->buffer);
		free(run->tried[i]);
	}
	free(run->tried);
	free(run->other);
	map_free(&run->tried_map);
	map_free(&run->network_map);
	map_free(&run->other_map);
}
