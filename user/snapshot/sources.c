// SPDX-License-Identifier: GPL-2.0
/* The sources of a fence: rows of those with a window, and estimates of the others. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/grow.h"
#include "base/sort.h"
#include "base/time.h"
#include "base/units.h"
#include "fence/sampler.h"
#include "ringfence/limiter.h"
#include "ringfence/window_read.h"
#include "rules/policy.h"
#include "snapshot/sources.h"

/*
 * ---- rows, and their order ----
 *
 * The order is that of rf_source_row_compare(). There can be a million rows, so the first 64 bits
 * of an address, which distinguish nearly all of them, are sorted by their digits, and each row
 * moves once. Rows with the same bits, of several limits or within a /64, are then sorted by
 * comparing.
 */

int rf_source_rows_append(struct rf_source_rows *rows, const struct rf_source_row *row)
{
	struct rf_source_row *grown =
		rf_grow(rows->row, rows->count, &rows->capacity, sizeof(*grown), 1024);

	if (!grown)
		return -ENOMEM;
	rows->row = grown;
	rows->row[rows->count++] = *row;
	return 0;
}

void rf_source_rows_free(struct rf_source_rows *rows)
{
	free(rows->row);
	*rows = (struct rf_source_rows){};
}

/* ---- sorting ---- */

int rf_source_row_compare(const void *a, const void *b)
{
	const struct rf_source_row *left = a, *right = b;
	const int order = rf_prefix_compare(&left->source, &right->source);

	if (order)
		return order;
	if (left->limit_id != right->limit_id)
		return left->limit_id < right->limit_id ? -1 : 1;
	return left->is_aggregate - right->is_aggregate;
}

#define DIGIT_BITS 11
#define DIGITS (1U << DIGIT_BITS)
#define KEY_BITS 64
#define FEW 64 /* for these, to compare takes no longer */

struct key {
	uint64_t bits;
	uint32_t row;
	uint32_t is_ipv6;
};

static struct key key_of(const struct rf_prefix *source, uint32_t row)
{
	const uint64_t high = ntohl(source->word[0]);

	return (struct key){
		.bits = source->version == 6 ? high << 32 | ntohl(source->word[1]) : high,
		.row = row,
		.is_ipv6 = source->version == 6,
	};
}

static uint32_t digit_of(const struct key *key, unsigned int shift)
{
	return shift < KEY_BITS ? key->bits >> shift & (DIGITS - 1) : key->is_ipv6;
}

/* Sorts by one digit; a stable sort. False: all have the same digit. */
static bool sort_by_digit(const struct key *from, struct key *to, size_t count, unsigned int shift)
{
	uint32_t place[DIGITS] = {}, before = 0;

	for (size_t i = 0; i < count; i++)
		place[digit_of(&from[i], shift)]++;
	if (place[digit_of(&from[0], shift)] == count)
		return false;
	for (uint32_t digit = 0; digit < DIGITS; digit++) {
		const uint32_t here = place[digit];

		place[digit] = before;
		before += here;
	}
	for (size_t i = 0; i < count; i++)
		to[place[digit_of(&from[i], shift)]++] = from[i];
	return true;
}

/* The lowest digit first, the family last. Returns the one of both that has the result. */
static struct key *sort_keys(struct key *key, struct key *other, size_t count)
{
	for (unsigned int shift = 0; shift < KEY_BITS + DIGIT_BITS; shift += DIGIT_BITS) {
		struct key *const from = key;

		if (!sort_by_digit(from, other, count, shift))
			continue;
		key = other;
		other = from;
	}
	return key;
}

/* Moves the rows to where their keys are. */
static void take_order(const struct key *key, const struct rf_source_row *from,
		       struct rf_source_row *to, size_t count)
{
	for (size_t i = 0; i < count;) {
		size_t same = 0;

		for (; i + same < count && key[i + same].bits == key[i].bits &&
		       key[i + same].is_ipv6 == key[i].is_ipv6;
		     same++)
			to[i + same] = from[key[i + same].row];
		if (same > 1)
			rf_sort(&to[i], same, sizeof(*to), rf_source_row_compare);
		i += same;
	}
}

int rf_source_rows_sort(struct rf_source_rows *rows)
{
	const size_t count = rows->count;
	struct rf_source_row *sorted;
	struct key *key;

	if (count <= FEW) {
		if (count)
			rf_sort(rows->row, count, sizeof(*rows->row), rf_source_row_compare);
		return 0;
	}
	sorted = malloc(count * sizeof(*sorted));
	key = malloc(2 * count * sizeof(*key));
	if (!sorted || !key) {
		free(sorted);
		free(key);
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++)
		key[i] = key_of(&rows->row[i].source, i);
	take_order(sort_keys(key, key + count, count), rows->row, sorted, count);
	free(key);
	free(rows->row);
	rows->row = sorted;
	rows->capacity = count;
	return 0;
}

/* ---- which rows are read ---- */

/* A reading in progress. */
struct reading {
	const struct rf_fence *fence;
	const struct rf_bans *bans;
	const struct rf_source_filter *filter;
	struct rf_source_rows *rows;
	bool *has_window; /* of each ban; NULL: not needed */
};

static bool is_asked(const struct rf_source_filter *filter, const struct rf_prefix *source,
		     const struct rf_limit *limit)
{
	if (filter->limit && strcmp(filter->limit, limit->name) != 0)
		return false;
	return !filter->within || rf_prefix_contains(filter->within, source) ||
	       (filter->or_around && rf_prefix_contains(source, filter->within));
}

double rf_source_row_rate(const struct rf_source_row *row)
{
	return row->used * 1e9 / row->limit->window_ns;
}

/* Adds a window's counts, of the source or of a network. */
static int append_window(const struct reading *reading, struct rf_source_row *row, int slot,
			 const struct rf_source *state)
{
	const struct rf_policy *policy = &reading->bans->rules.policy[slot];
	const uint64_t time = rf_fence_time(reading->fence, policy);

	row->limit = &reading->bans->rules.limit[slot];
	row->limit_id = policy->id;
	row->passed = state->passed;
	row->dropped = state->dropped;
	row->would_drop = policy->ban ? 0 : state->would_drop;
	row->used = rf_used(&state->window, policy, time) << policy->unit_shift;
	row->lent = (uint64_t)rf_lent_read(&state->window, policy, time) << policy->unit_shift;
	return rf_source_rows_append(reading->rows, row);
}

static int add_row(const struct rf_address *source, uint32_t limit_id,
		   const struct rf_source *state, void *context)
{
	const struct reading *reading = context;
	const struct rf_bans *bans = reading->bans;
	const int slot = rf_bank_find_id(&bans->rules, limit_id);
	const struct rf_limit *limit = &bans->rules.limit[slot < 0 ? 0 : slot];
	struct rf_source_row row = {.source = rf_limit_source(limit, source)};
	const struct rf_ban_row *ban;

	if (slot < 0 || !is_asked(reading->filter, &row.source, limit))
		return 0; /* its limit was deleted, or it is a different one */
	ban = rf_bans_find(bans, source, limit_id);
	if (ban)
		row.banned_ns = ban->left_ns;
	if (ban && reading->has_window)
		reading->has_window[ban - bans->row] = true;
	return append_window(reading, &row, slot, state);
}

static int add_aggregate(const struct rf_prefix *prefix, int slot, int place,
			 const struct rf_source *state, void *context)
{
	const struct reading *reading = context;
	struct rf_source_row row = {.source = *prefix, .is_aggregate = true};

	(void)place;
	if (!is_asked(reading->filter, prefix, &reading->bans->rules.limit[slot]))
		return 0;
	return append_window(reading, &row, slot, state);
}

/* A ban outlives the window of its source. */
static int add_windowless(const struct reading *reading)
{
	const struct rf_bans *bans = reading->bans;
	int err = 0;

	for (size_t i = 0; i < bans->count && !err; i++) {
		const struct rf_ban_row *ban = &bans->row[i];
		const struct rf_source_row row = {
			.source = rf_ban_prefix(ban),
			.limit = ban->limit,
			.limit_id = ban->limit_id,
			.banned_ns = ban->left_ns,
		};

		if (!reading->has_window[i] && is_asked(reading->filter, &row.source, row.limit))
			err = rf_source_rows_append(reading->rows, &row);
	}
	return err;
}

/* Adds the rows that no window of a source has. */
static int read_others(struct reading *reading, struct rf_error *error)
{
	int err = add_windowless(reading);

	if (!err)
		err = rf_fence_each_aggregate(reading->fence, &reading->bans->rules, add_aggregate,
					      reading);
	return err ? rf_error_failed(error, err, "cannot list the sources: %s", strerror(-err)) : 0;
}

int rf_source_rows_read(const struct rf_fence *fence, const struct rf_bans *bans,
			const struct rf_source_filter *filter, struct rf_source_rows *rows,
			struct rf_error *error)
{
	struct reading reading = {fence, bans, filter, rows, NULL};
	int err;

	if (filter->or_windowless)
		reading.has_window = calloc(bans->count + 1, sizeof(*reading.has_window));
	if (filter->or_windowless && !reading.has_window)
		return rf_error_failed(error, -ENOMEM, "cannot list the sources: %s",
				       strerror(ENOMEM));
	err = rf_fence_each_source(fence, add_row, &reading, error);
	if (!err && reading.has_window)
		err = read_others(&reading, error);
	free(reading.has_window);
	return err;
}

/* ---- sources without a window ---- */

#define READ_EVERY_NS (20 * RF_NS_PER_MS)
#define LOOK_NS (100 * RF_NS_PER_MS) /* how long it measures the packet rate */
#define SAMPLES_PER_S 1000	     /* a share of the rate that a reader can follow on one CPU */
#define ONE_IN_MOST 1024
#define ROWS_MOST (1U << 18) /* of sources before they are summed up; others count as missed */

/* The samples of one reading. Renews its own request for `wanted`. */
struct sampling {
	const struct rf_fence *fence;
	const struct rf_unseen_asked *asked;
	struct rf_unseen *unseen;
	struct rf_sample_reader reader;
	struct rf_sampled wanted;
	bool is_ours;
	uint64_t renewed_ns;
};

static void pause_for(uint64_t ns)
{
	const struct timespec pause = {.tv_nsec = ns};

	nanosleep(&pause, NULL);
}

static bool must_end(const struct sampling *sampling)
{
	const bool *ends = sampling->asked->ends;

	return ends && __atomic_load_n(ends, __ATOMIC_RELAXED);
}

/* ---- their rows ---- */

/* The source as windows have it by default. */
static bool has_source(const struct rf_sample *sample, struct rf_prefix *source)
{
	static const struct rf_limit by_default = {.per4 = RF_PER4_DEFAULT,
						   .per6 = RF_PER6_DEFAULT};

	if (!rf_sample_source(sample, source))
		return false;
	source->length = rf_limit_length(&by_default, source);
	for (int i = 0; i < 4; i++)
		source->word[i] &= rf_prefix_mask(source->length, i);
	return true;
}

static int add(const struct sampling *sampling, const struct rf_sample *sample,
	       struct rf_error *error)
{
	struct rf_unseen *unseen = sampling->unseen;
	const struct rf_prefix *within = sampling->asked->within;
	struct rf_unseen_row row = {.reason = sample->reason, .samples = 1}, *grown;

	if (unseen->count == ROWS_MOST) {
		unseen->missed++;
		return 0;
	}
	unseen->samples++;
	if (!((RF_UNSEEN_PASSED | RF_UNSEEN_DROPPED) >> sample->reason & 1) ||
	    !has_source(sample, &row.source) ||
	    (within && !rf_prefix_contains(within, &row.source)))
		return 0;
	grown = rf_grow(unseen->row, unseen->count, &unseen->capacity, sizeof(row), 256);
	if (!grown)
		return rf_error_failed(error, -ENOMEM, "cannot keep the samples: %s",
				       strerror(ENOMEM));
	unseen->row = grown;
	unseen->row[unseen->count++] = row;
	return 0;
}

static int by_source(const void *a, const void *b)
{
	const struct rf_unseen_row *one = a, *other = b;

	return rf_prefix_compare(&one->source, &other->source)
		       ?: (int)one->reason - (int)other->reason;
}

static int by_samples(const void *a, const void *b)
{
	const struct rf_unseen_row *one = a, *other = b;
	const int order = (one->samples < other->samples) - (one->samples > other->samples);

	return order ? order : by_source(a, b);
}

/* A missed sample is one of any source. */
static void sum_up(struct rf_unseen *unseen)
{
	const double all = unseen->samples + unseen->missed;
	const double packets = unseen->samples ? all / unseen->samples * unseen->one_in : 0;
	size_t count = 0;

	if (!unseen->count)
		return;
	rf_sort(unseen->row, unseen->count, sizeof(*unseen->row), by_source);
	for (size_t i = 0; i < unseen->count; i++)
		if (count && by_source(&unseen->row[count - 1], &unseen->row[i]) == 0)
			unseen->row[count - 1].samples++;
		else
			unseen->row[count++] = unseen->row[i];
	unseen->count = count;
	for (size_t i = 0; i < count; i++)
		unseen->row[i].per_s =
			unseen->row[i].samples * packets * RF_NS_PER_S / unseen->time_ns;
	rf_sort(unseen->row, count, sizeof(*unseen->row), by_samples);
}

/* ---- their samples ---- */

bool rf_unseen_is_sampled(const struct rf_fence *fence)
{
	return rf_fence_is_sampling(fence) &&
	       fence->config->sampling.reasons & (RF_UNSEEN_PASSED | RF_UNSEEN_DROPPED);
}

static int count_packets(const struct rf_fence *fence, uint64_t *packets, struct rf_error *error)
{
	struct rf_counters counters;
	int err = rf_fence_counters(fence, &counters, error);

	*packets = 0;
	for (int i = 0; i < RF_REASON_COUNT && !err; i++)
		*packets += counters.reason[i].packets;
	return err;
}

/* Few of many packets, and all of a few. */
static int choose(struct sampling *sampling, struct rf_error *error)
{
	uint64_t before, after, one_in;
	int err = count_packets(sampling->fence, &before, error);

	for (uint64_t ns = 0; ns < LOOK_NS && !must_end(sampling); ns += READ_EVERY_NS)
		pause_for(READ_EVERY_NS);
	if (!err)
		err = count_packets(sampling->fence, &after, error);
	if (err)
		return err;
	one_in = (after - before) * (RF_NS_PER_S / LOOK_NS) / SAMPLES_PER_S;
	one_in = one_in < 1 ? 1 : one_in > ONE_IN_MOST ? ONE_IN_MOST : one_in;
	sampling->wanted = (struct rf_sampled){
		.one_in = one_in,
		.verdicts = RF_SAMPLE_PASSED | RF_SAMPLE_DROPPED,
		.reasons = RF_UNSEEN_PASSED | RF_UNSEEN_DROPPED,
	};
	return 0;
}

static int renew(struct sampling *sampling, struct rf_error *error)
{
	const uint64_t now = rf_time_awake();
	int err;

	if (now - sampling->renewed_ns < RF_SAMPLING_RENEW_NS &&
	    rf_fence_is_sampling(sampling->fence))
		return 0;
	err = rf_fence_sample(sampling->fence, &sampling->wanted, error);
	if (!err)
		sampling->renewed_ns = now;
	return err;
}

/* Others may sample already: their samples are read as well as ours. */
static int begin(struct sampling *sampling, struct rf_error *error)
{
	const struct rf_sampling *theirs = &sampling->fence->config->sampling;
	int err = 0;

	sampling->is_ours = !rf_unseen_is_sampled(sampling->fence);
	if (sampling->is_ours)
		err = rf_fence_check_may_change(sampling->fence, NULL, error);
	else
		sampling->wanted.one_in = theirs->one_in;
	if (!err && sampling->is_ours)
		err = choose(sampling, error);
	if (!err)
		err = rf_sample_reader_open(&sampling->reader, sampling->fence, error);
	if (!err && sampling->is_ours)
		err = renew(sampling, error);
	return err;
}

static int read_new(struct sampling *sampling, struct rf_error *error)
{
	const int count = rf_sample_reader_read(&sampling->reader, sampling->fence, error);
	int err = count < 0 ? count : 0;

	for (int i = 0; i < count && !err; i++)
		err = add(sampling, &sampling->reader.sample[i], error);
	return err;
}

static int gather(struct sampling *sampling, struct rf_error *error)
{
	const uint64_t began = rf_time_awake(), time_ns = sampling->asked->time_ns;
	bool goes_on = true;
	int err = 0;

	while (!err && goes_on && !must_end(sampling) && rf_time_awake() - began < time_ns) {
		pause_for(READ_EVERY_NS);
		err = read_new(sampling, error);
		if (!err && sampling->is_ours)
			err = renew(sampling, error);
		else if (!err)
			goes_on = rf_fence_is_sampling(sampling->fence);
	}
	sampling->unseen->time_ns = rf_time_awake() - began;
	return err;
}

int rf_unseen_read(const struct rf_fence *fence, const struct rf_unseen_asked *asked,
		   struct rf_unseen *unseen, struct rf_error *error)
{
	struct sampling sampling = {.fence = fence, .asked = asked, .unseen = unseen};
	int err;

	*unseen = (struct rf_unseen){};
	err = begin(&sampling, error);
	if (!err)
		err = gather(&sampling, error);
	if (sampling.renewed_ns)
		rf_fence_stop_sampling(fence);
	unseen->one_in = sampling.wanted.one_in;
	unseen->missed += sampling.reader.missed;
	if (!err)
		sum_up(unseen);
	rf_sample_reader_close(&sampling.reader);
	return err;
}

void rf_unseen_free(struct rf_unseen *unseen)
{
	free(unseen->row);
	*unseen = (struct rf_unseen){};
}
