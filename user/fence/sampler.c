// SPDX-License-Identifier: GPL-2.0
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/sort.h"
#include "base/units.h"
#include "fence/private.h"
#include "fence/sampler.h"
#include "ringfence/packet.h"

/* ---- on and off ---- */

/* The program stops it with a sample that is due: without packets, past the deadline. */
bool rf_fence_is_sampling(const struct rf_fence *fence)
{
	rf_map_refresh(fence, RF_MAP_CONFIG);
	return __atomic_load_n(&fence->config->sampling.deadline, __ATOMIC_ACQUIRE) >
	       rf_fence_jiffies(fence);
}

static bool is_same(const struct rf_sampling *sampling, const struct rf_sampled *wanted)
{
	return sampling->one_in == wanted->one_in && sampling->verdicts == wanted->verdicts &&
	       sampling->reasons == wanted->reasons && sampling->slices == wanted->slices;
}

static const char *verdicts_text(uint32_t verdicts)
{
	if (verdicts == RF_SAMPLE_PASSED)
		return "passed packets";
	return verdicts == RF_SAMPLE_DROPPED ? "dropped packets" : "packets";
}

/*
 * The next packet of each CPU can be sampled immediately, if its remaining distance cannot have
 * been drawn for the present N. (A CPU that counts at the same time can undo it: therefore each
 * renewal does this.)
 */
static void shorten_gaps(const struct rf_fence *fence, uint64_t most)
{
	for (size_t i = 0; i < RF_SAMPLING_CPUS; i++) {
		uint32_t *left = &fence->config->sampling_count[i].left;

		if (__atomic_load_n(left, __ATOMIC_RELAXED) > most)
			__atomic_store_n(left, 0, __ATOMIC_RELAXED);
	}
}

static void set_sampling(const struct rf_fence *fence, bool on)
{
	const struct rf_sampling *sampling = &fence->config->sampling;

	__atomic_store_n(&fence->config->is_sampling,
			 on ? sampling->round << RF_SAMPLING_ROUND_SHIFT | sampling->verdicts : 0,
			 __ATOMIC_RELEASE);
}

int rf_fence_sample(const struct rf_fence *fence, const struct rf_sampled *wanted,
		    struct rf_error *error)
{
	struct rf_sampling *sampling = &fence->config->sampling;
	const uint64_t now = rf_fence_jiffies(fence);
	const bool goes_on = rf_fence_is_sampling(fence);

	if (goes_on && !is_same(sampling, wanted))
		return rf_error_failed(error, -EBUSY,
				       "fence '%s': another capture runs, of one in %u %s%s; wait "
				       "until it stops, or use the same words",
				       fence->name, sampling->one_in,
				       verdicts_text(sampling->verdicts),
				       sampling->reasons == UINT32_MAX ? "" : " of some reasons");
	sampling->one_in = wanted->one_in;
	sampling->verdicts = wanted->verdicts;
	sampling->reasons = wanted->reasons;
	sampling->slices = wanted->slices;
	__atomic_store_n(&sampling->deadline, now + RF_SAMPLING_NS / rf_tick_or_kernels(fence) + 1,
			 __ATOMIC_RELEASE);
	if (!goes_on)
		sampling->round++;
	shorten_gaps(fence, goes_on ? 2ULL * wanted->one_in : 0);
	set_sampling(fence, true);
	return 0;
}

void rf_fence_next_slice(const struct rf_fence *fence, const struct rf_sampled *sampled,
			 struct rf_slices *slices)
{
	uint32_t chance;

	slices->is_on = true;
	if (!sampled->slices)
		return;
	/* One in every four: the share of the time is right, but unpredictable. */
	if (slices->next == 0 && getrandom(&chance, sizeof(chance), 0) == sizeof(chance))
		slices->sampled = chance % sampled->slices;
	slices->is_on = slices->next == slices->sampled;
	slices->next = (slices->next + 1) % sampled->slices;
	set_sampling(fence, slices->is_on);
}

void rf_fence_stop_sampling(const struct rf_fence *fence)
{
	__atomic_store_n(&fence->config->sampling.deadline, 0, __ATOMIC_RELEASE);
	set_sampling(fence, false);
}

/* ---- reading ---- */

static int read_now(struct rf_sample_reader *reader, const struct rf_fence *fence,
		    struct rf_error *error)
{
	const uint32_t first = 0;

	if (bpf_map_lookup_elem(fence->map_fd[RF_MAP_SAMPLES], &first, reader->now))
		return rf_fence_fail_map(error, RF_MAP_SAMPLES, -errno);
	return 0;
}

int rf_sample_reader_open(struct rf_sample_reader *reader, const struct rf_fence *fence,
			  struct rf_error *error)
{
	const int cpus = libbpf_num_possible_cpus();
	int err;

	*reader = (struct rf_sample_reader){};
	if (cpus < 0)
		return rf_error_failed(error, cpus, "cannot count the CPUs: %s", strerror(-cpus));
	reader->cpus = cpus;
	reader->now = calloc(cpus, sizeof(*reader->now));
	reader->read = calloc(cpus, sizeof(*reader->read));
	reader->sample = calloc((size_t)cpus * RF_SAMPLES, sizeof(*reader->sample));
	if (!reader->now || !reader->read || !reader->sample)
		return rf_fence_fail_map(error, RF_MAP_SAMPLES, -ENOMEM);
	err = read_now(reader, fence, error);
	for (int i = 0; i < cpus && !err; i++)
		reader->read[i] = reader->now[i].taken;
	return err;
}

void rf_sample_reader_close(struct rf_sample_reader *reader)
{
	free(reader->now);
	free(reader->read);
	free(reader->sample);
	*reader = (struct rf_sample_reader){};
}

static int by_time(const void *a, const void *b)
{
	const struct rf_sample *one = a, *other = b;

	return (one->time_ns > other->time_ns) - (one->time_ns < other->time_ns);
}

/* A map that others can write may hold anything. */
static bool is_sound(const struct rf_sample *sample)
{
	return sample->reason < RF_REASON_COUNT && sample->captured <= RF_SAMPLE_BYTES &&
	       sample->captured <= sample->len_bytes;
}

/* The samples of one CPU that are new; `count` is how many there are of the CPUs before. */
static int take_new(struct rf_sample_reader *reader, int cpu, int count)
{
	const struct rf_sampler *now = &reader->now[cpu];
	const uint64_t unread = now->taken - reader->read[cpu];

	if (unread > RF_SAMPLES) {
		reader->missed += unread - RF_SAMPLES;
		reader->read[cpu] = now->taken - RF_SAMPLES;
	}
	while (reader->read[cpu] != now->taken) {
		const uint64_t number = ++reader->read[cpu];
		const struct rf_sample *sample = &now->sample[(number - 1) % RF_SAMPLES];

		if (sample->done == number && sample->begun == number && is_sound(sample))
			reader->sample[count++] = *sample;
		else
			reader->missed++;
	}
	return count;
}

int rf_sample_reader_read(struct rf_sample_reader *reader, const struct rf_fence *fence,
			  struct rf_error *error)
{
	int count = 0, err = read_now(reader, fence, error);

	for (int i = 0; i < reader->cpus && !err; i++)
		count = take_new(reader, i, count);
	if (!err && count)
		rf_sort(reader->sample, count, sizeof(*reader->sample), by_time);
	return err ? err : count;
}

/* ---- one sample ---- */

bool rf_sample_source(const struct rf_sample *sample, struct rf_prefix *source)
{
	struct rf_packet packet;
	const enum rf_parsed found =
		rf_packet_parse(sample->frame, sample->frame + sample->captured, &packet);

	if (found != RF_PARSED_SOURCE && found != RF_PARSED_NEIGHBOUR)
		return false;
	*source = (struct rf_prefix){packet.version, rf_prefix_length_max(packet.version), {}};
	memcpy(source->word, packet.source, sizeof(packet.source));
	return true;
}

/*
 * Does the bank have the limits of that generation? The bank of a later one can have the same
 * lowest bit.
 */
static bool is_of(uint64_t active, uint32_t generation)
{
	const uint32_t later = ((uint32_t)active - generation) << 9;

	return later == 0 || later == 1U << 9;
}

/* Of packets without a source, the limit that matches them is noted nowhere. */
static uint32_t limits_without_source(const struct rf_bank *bank, const struct rf_sample *sample)
{
	const bool is_limited = sample->reason == RF_OVER_LIMIT || sample->reason == RF_UNDER_LIMIT;

	return is_limited && bank->other ? 1U << (bank->other - 1) % RF_LIMITS_MAX : 0;
}

int rf_sample_limits(const struct rf_fence *fence, const struct rf_sample *sample,
		     char name[RF_LIMITS_MAX][RF_NAME_SIZE])
{
	const uint64_t active = __atomic_load_n(&fence->config->active, __ATOMIC_ACQUIRE);
	const uint32_t generation = sample->limits ? sample->generation : active;
	const struct rf_bank *bank = &fence->config->bank[generation & 1];
	const uint32_t limits = sample->limits ?: limits_without_source(bank, sample);
	int count = 0;

	for (int slot = 0; slot < RF_LIMITS_MAX && is_of(active, generation); slot++) {
		const struct rf_limit *limit = &bank->limit[slot];

		if (!(limits & 1U << slot) ||
		    (int32_t)((generation - limit->since_generation) << 9) < 0)
			continue;
		memcpy(name[count], limit->name, RF_NAME_SIZE);
		count += rf_name_is_valid(name[count]);
	}
	return count;
}
