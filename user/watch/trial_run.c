// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rules/policy.h"
#include "watch/trial_run.h"

#define BUFFER_CELLS 512 /* rows of one network may come so much out of order */

/*
 * The cells of a network, added up until all its sources have told theirs. Where too many networks
 * send at a time, the one that sent the longest ago is taken to have told all; cells of it that
 * come later all the same make it an estimate.
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

/* ---- sources ---- */

/* The source under the new limit, which may group more coarsely. */
static struct rf_prefix group(const struct rf_trial_run *run, const struct rf_prefix *source)
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

static bool is_asked(const struct rf_trial_run *run, const struct rf_prefix *source)
{
	for (size_t i = 0; run->from && i < run->from->count; i++)
		if (rf_prefix_contains(&run->from->prefix[i], source))
			return true;
	return !run->from;
}

/* Does the new limit make one source of several? */
static bool is_coarser(const struct rf_trial_run *run)
{
	return run->limit.per4 < run->recorded.per4 || run->limit.per6 < run->recorded.per6;
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

/*
 * What tells the sources of one network apart. Where the new limit makes one source of several, a
 * network that was told is one, or tells too little.
 */
static uint32_t who_of(const struct rf_trial_run *run, const struct rf_cells_row *row,
		       bool *is_vague)
{
	const unsigned int length = rf_limit_length(&run->limit, &row->source);

	if (length >= rf_limit_length(&run->recorded, &row->source))
		return row->who;
	*is_vague = row->who && length > row->source.length;
	return 0;
}

/* -ENOSPC: there are too many. */
static int find_tried(struct rf_trial_run *run, const struct rf_cells_row *row,
		      struct rf_tried **tried)
{
	const struct rf_prefix grouped = group(run, &row->source);
	bool is_vague = false;
	const uint32_t who = who_of(run, row, &is_vague);
	size_t index = rf_source_map_find(&run->tried_map, &grouped, who);

	if (index == RF_NO_INDEX && run->tried_map.count >= RF_TRIED_MAX)
		return -ENOSPC;
	if (index == RF_NO_INDEX)
		index = rf_source_map_add(&run->tried_map, &grouped, who);
	if (index == RF_NO_INDEX ||
	    rf_source_map_add(&run->network_map, &grouped, 0) == RF_NO_INDEX ||
	    !make_room((void **)&run->tried, &run->tried_room, index, sizeof(*run->tried)))
		return -ENOMEM;
	if (!run->tried[index])
		run->tried[index] = calloc(1, sizeof(**run->tried));
	*tried = run->tried[index];
	if (*tried)
		(*tried)->replayed.is_mixed |= is_vague;
	return *tried ? 0 : -ENOMEM;
}

/* ---- adding up a network ---- */

/* Replays the first cells of the buffer. */
static void flush(const struct rf_trial_run *run, struct rf_tried *tried, unsigned int count)
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

static void end_sum(struct rf_trial_run *run, struct rf_tried *tried)
{
	flush(run, tried, tried->buffer->count);
	TAILQ_REMOVE(&run->summed, tried, place);
	run->summed_count--;
	free(tried->buffer);
	tried->buffer = NULL;
}

/* The buffer of a network, which is the last one in use then. */
static struct buffer *begin_sum(struct rf_trial_run *run, struct rf_tried *tried)
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

static int add_to_buffer(struct rf_trial_run *run, struct rf_tried *tried,
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

/* ---- rows ---- */

int rf_trial_run_row(struct rf_trial_run *run, const struct rf_cells_row *row,
		     struct rf_error *error)
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
	if (!err) {
		tried->is_difference |= row->is_difference;
		tried->is_incomplete |= row->is_incomplete && row->first_ns > run->since_ns;
	}
	if (!err && is_coarser(run))
		err = add_to_buffer(run, tried, row);
	else if (!err)
		rf_replay_row(&run->replay, &tried->replayed, row, run->since_ns, run->until_ns);
	return err ? rf_error_failed(error, err, "%s", strerror(-err)) : 0;
}

/* ---- the others ---- */

/* What is over COUNT for sure, of what came in some TIMEs. */
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

int rf_trial_run_other(struct rf_trial_run *run, const struct rf_prefix *source, uint64_t share,
		       double used, uint64_t came, uint64_t length_ns)
{
	const struct rf_prefix grouped = group(run, source);
	struct rf_other *other;
	size_t index;

	if (!is_asked(run, source) ||
	    rf_source_map_find(&run->network_map, &grouped, 0) != RF_NO_INDEX)
		return 0;
	index = rf_source_map_find(&run->other_map, &grouped, 0);
	if (index == RF_NO_INDEX && run->other_map.count >= RF_OTHERS_MAX)
		return run->skipped++, 0;
	if (index == RF_NO_INDEX)
		index = rf_source_map_add(&run->other_map, &grouped, 0);
	if (index == RF_NO_INDEX ||
	    !make_room((void **)&run->other, &run->other_room, index, sizeof(*run->other)))
		return -ENOMEM;
	other = &run->other[index];
	if (!other->share || share < other->share)
		other->share = share;
	other->dropped += over(&run->limit, used, came, length_ns);
	return 0;
}

static void add_others(const struct rf_trial_run *run, struct rf_trial_result *result)
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

/* ---- the end ---- */

void rf_trial_run_end(struct rf_trial_run *run, struct rf_trial_result *result)
{
	*result = (struct rf_trial_result){
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
		result->is_estimate |=
			tried->replayed.is_mixed || tried->is_difference || tried->is_incomplete;
	}
	add_others(run, result);
}

void rf_trial_run_free(struct rf_trial_run *run)
{
	for (size_t i = 0; i < run->tried_map.count && i < run->tried_room; i++) {
		if (run->tried[i])
			free(run->tried[i]->buffer);
		free(run->tried[i]);
	}
	free(run->tried);
	free(run->other);
	rf_source_map_free(&run->tried_map);
	rf_source_map_free(&run->network_map);
	rf_source_map_free(&run->other_map);
}
