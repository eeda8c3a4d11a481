// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/sort.h"
#include "base/time.h"
#include "base/units.h"
#include "fence/sampler.h"
#include "rules/policy.h"
#include "snapshot/unseen.h"

#define READ_EVERY_NS (20 * RF_NS_PER_MS)
#define LOOK_NS (100 * RF_NS_PER_MS) /* so long it looks how many packets come */
#define SAMPLES_PER_S 1000	     /* a share of what a reader can follow on one CPU */
#define ONE_IN_MOST 1024
#define ROWS_MOST (1U << 18) /* of sources before they are summed up; others count as missed */

/* The samples of one reading. `wanted` is renewed where it is ours. */
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

/* ---- rows ---- */

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

static int make_room(struct rf_unseen *unseen, struct rf_error *error)
{
	const size_t capacity = unseen->capacity ? unseen->capacity * 2 : 256;
	void *row;

	if (unseen->count < unseen->capacity)
		return 0;
	row = reallocarray(unseen->row, capacity, sizeof(*unseen->row));
	if (!row)
		return rf_error_failed(error, -ENOMEM, "cannot keep the samples: %s",
				       strerror(ENOMEM));
	unseen->row = row;
	unseen->capacity = capacity;
	return 0;
}

static int add(const struct sampling *sampling, const struct rf_sample *sample,
	       struct rf_error *error)
{
	struct rf_unseen *unseen = sampling->unseen;
	const struct rf_prefix *within = sampling->asked->within;
	struct rf_unseen_row row = {.reason = sample->reason, .samples = 1};
	int err;

	if (unseen->count == ROWS_MOST) {
		unseen->missed++;
		return 0;
	}
	unseen->samples++;
	if (!((RF_UNSEEN_PASSED | RF_UNSEEN_DROPPED) >> sample->reason & 1) ||
	    !has_source(sample, &row.source) ||
	    (within && !rf_prefix_contains(within, &row.source)))
		return 0;
	err = make_room(unseen, error);
	if (!err)
		unseen->row[unseen->count++] = row;
	return err;
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

/* ---- sampling ---- */

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
