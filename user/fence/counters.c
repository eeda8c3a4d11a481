// SPDX-License-Identifier: GPL-2.0
/* Typed access to the counters and the windows in a fence's maps. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fence/by_interface.h"
#include "fence/pending.h"
#include "fence/private.h"
#include "rules/grouping.h"
#include "rules/policy.h"

#define READS_MAX 4 /* tries to read what is reset meanwhile */

static int sum_reasons(const struct rf_fence *fence, struct rf_counters *sum,
		       struct rf_error *error)
{
	return rf_fence_sum_cpus(fence, RF_MAP_COUNTERS, 0, sizeof(*sum), sum, error);
}

static int sum_limits(const struct rf_fence *fence, const struct rf_bank *bank,
		      struct rf_limit_counters sum[RF_LIMITS_MAX], struct rf_error *error)
{
	int err = 0;

	memset(sum, 0, RF_LIMITS_MAX * sizeof(*sum));
	for (int slot = 0; slot < RF_LIMITS_MAX && !err; slot++)
		if (bank->policy[slot].id)
			err = rf_fence_sum_cpus(fence, RF_MAP_LIMIT_COUNTERS,
						bank->policy[slot].counters, sizeof(*sum),
						&sum[slot], error);
	return err;
}

static int read_leases(const struct rf_fence *fence, struct rf_leases *leases,
		       struct rf_error *error)
{
	const int err = rf_leases_read(fence, leases);

	return err ? rf_fence_fail_map(error, RF_MAP_LEASES, err) : 0;
}

int rf_fence_counters(const struct rf_fence *fence, struct rf_counters *sum, struct rf_error *error)
{
	struct rf_leases leases = {};
	int err = sum_reasons(fence, sum, error);

	if (!err)
		err = read_leases(fence, &leases, error);
	if (!err)
		rf_leases_add_counters(&leases, sum);
	rf_leases_free(&leases);
	return err;
}

int rf_fence_limits_counters(const struct rf_fence *fence, const struct rf_bank *bank,
			     struct rf_limit_counters sum[RF_LIMITS_MAX], struct rf_error *error)
{
	struct rf_leases leases = {};
	int err = sum_limits(fence, bank, sum, error);

	if (!err)
		err = read_leases(fence, &leases, error);
	if (!err)
		rf_leases_add_limits(&leases, bank, sum);
	rf_leases_free(&leases);
	return err;
}

int rf_fence_all_counters(const struct rf_fence *fence, const struct rf_bank *bank,
			  struct rf_counters *sum, struct rf_limit_counters limit[RF_LIMITS_MAX],
			  struct rf_leases *leases, struct rf_error *error)
{
	int err = sum_reasons(fence, sum, error);

	*leases = (struct rf_leases){};
	if (!err)
		err = sum_limits(fence, bank, limit, error);
	if (!err)
		err = read_leases(fence, leases, error);
	if (!err)
		rf_leases_add_counters(leases, sum);
	if (!err)
		rf_leases_add_limits(leases, bank, limit);
	return err;
}

int rf_fence_limit_counters(const struct rf_fence *fence, int slot, struct rf_limit_counters *sum,
			    struct rf_error *error)
{
	struct rf_limit_counters all[RF_LIMITS_MAX];
	struct rf_bank bank = {};
	int err = rf_fence_bank(fence, &bank, error);

	for (int other = 0; other < RF_LIMITS_MAX; other++)
		if (other != slot)
			bank.policy[other].id = 0; /* of the copy: that one limit is left */
	if (!err)
		err = rf_fence_limits_counters(fence, &bank, all, error);
	if (!err)
		*sum = all[slot];
	return err;
}

int rf_fence_clear_limit_counters(struct rf_fence *fence, int index, struct rf_error *error)
{
	int cpus = libbpf_num_possible_cpus();
	void *zeros = cpus > 0 ? calloc(cpus, sizeof(struct rf_limit_counters)) : NULL;
	uint32_t key = index;
	int err = 0;

	if (!zeros)
		return rf_fence_fail_map(error, RF_MAP_LIMIT_COUNTERS, -ENOMEM);
	if (bpf_map_update_elem(fence->map_fd[RF_MAP_LIMIT_COUNTERS], &key, zeros, BPF_EXIST))
		err = rf_fence_fail_map(error, RF_MAP_LIMIT_COUNTERS, -errno);
	for (int i = 0; i < 2 && !err; i++)
		fence->config->baseline[i].limit[index] = (struct rf_limit_counters){};
	free(zeros);
	return err;
}

/* ---- reset ---- */

void rf_fence_baseline(const struct rf_fence *fence, struct rf_baseline *baseline)
{
	const struct rf_config *config = fence->config;
	uint64_t resets;

	/* The one in use is written only after another reset. */
	for (int i = 0; i < READS_MAX; i++) {
		rf_map_refresh(fence, RF_MAP_CONFIG);
		resets = __atomic_load_n(&config->resets, __ATOMIC_ACQUIRE);
		memcpy(baseline, &config->baseline[resets & 1], sizeof(*baseline));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (__atomic_load_n(&config->resets, __ATOMIC_RELAXED) == resets)
			return;
	}
}

/* Of counters that consist of 64-bit words only. */
static void subtract(const void *baseline, void *result, size_t size)
{
	const __u64 *before = baseline;
	__u64 *sum = result;

	for (size_t i = 0; i < size / sizeof(*sum); i++)
		sum[i] = sum[i] > before[i] ? sum[i] - before[i] : 0;
}

void rf_baseline_subtract(const struct rf_baseline *baseline, struct rf_counters *sum)
{
	subtract(&baseline->counters, sum, sizeof(*sum));
}

void rf_baseline_subtract_limit(const struct rf_baseline *baseline, const struct rf_policy *policy,
				struct rf_limit_counters *sum)
{
	subtract(&baseline->limit[policy->counters % RF_LIMIT_COUNTERS_MAX], sum, sizeof(*sum));
}

void rf_baseline_subtract_interfaces(const struct rf_baseline *baseline,
				     struct rf_by_interface *sums)
{
	subtract(baseline->interface, sums->place, sizeof(sums->place));
}

/* The limits of a bank whose counters are not in the baseline yet. */
static int note_limits(const struct rf_fence *fence, const struct rf_bank *bank,
		       struct rf_baseline *baseline, uint64_t *noted, struct rf_error *error)
{
	struct rf_limit_counters sum[RF_LIMITS_MAX];
	const int err = rf_fence_limits_counters(fence, bank, sum, error);

	for (int slot = 0; slot < RF_LIMITS_MAX && !err; slot++) {
		const uint32_t index = bank->policy[slot].counters % RF_LIMIT_COUNTERS_MAX;

		if (!bank->policy[slot].id || *noted >> index & 1)
			continue;
		*noted |= 1ULL << index;
		baseline->limit[index] = sum[slot];
	}
	return err;
}

/*
 * Rules on trial and the rules before them have counters of their own: both are noted. The baseline
 * in use stays whole, whenever this command is killed.
 */
int rf_fence_reset(struct rf_fence *fence, struct rf_error *error)
{
	struct rf_config *config = fence->config;
	struct rf_baseline *baseline = &config->baseline[~config->resets & 1];
	struct rf_by_interface interfaces = {};
	struct rf_bank bank, other;
	struct timespec now;
	uint64_t noted = 0;
	int err = rf_fence_bank(fence, &bank, error);

	if (err)
		return err;
	rf_fence_other_bank(fence, rf_fence_standing(fence).in_force, &other);
	*baseline = (struct rf_baseline){};
	err = rf_fence_counters(fence, &baseline->counters, error);
	if (!err)
		err = note_limits(fence, &bank, baseline, &noted, error);
	if (!err)
		err = note_limits(fence, &other, baseline, &noted, error);
	if (!err)
		err = rf_fence_by_interface(fence, &interfaces, error);
	if (err)
		return err;
	memcpy(baseline->interface, interfaces.place, sizeof(baseline->interface));
	clock_gettime(CLOCK_REALTIME, &now);
	baseline->time_ns = now.tv_sec * RF_NS_PER_S + now.tv_nsec;
	__atomic_store_n(&config->resets, config->resets + 1, __ATOMIC_RELEASE);
	return 0;
}

/* ---- sources ---- */

/* How windows are visited: the callback, and the pending packets that are added to each window. */
struct visitor {
	struct rf_bank rules;
	struct rf_pending pending;
	rf_source_visit visit;
	void *context;
	bool without_leases;
};

/*
 * Reads the pending packets after the windows were read. A packet that a lease hands over in
 * between is missing from the sum, rather than counted twice.
 */
static int read_pending(struct visitor *visitor, const struct rf_fence *fence)
{
	struct rf_error ignored;
	int err;

	if (visitor->without_leases)
		return 0;
	err = rf_fence_bank(fence, &visitor->rules, &ignored);
	if (err)
		return err;
	free(visitor->pending.row);
	return rf_leases_snapshot(fence, &visitor->rules, &visitor->pending);
}

static void add_pending(const struct visitor *visitor, const struct rf_address *source,
			uint32_t limit_id, struct rf_source *state)
{
	int slot = visitor->without_leases ? -1 : rf_bank_find_id(&visitor->rules, limit_id);

	if (slot >= 0)
		rf_leases_add_source(&visitor->pending, source, &visitor->rules, slot, state);
}

int rf_fence_source(const struct rf_fence *fence, const struct rf_policy *policy,
		    struct rf_address *source, struct rf_source *state, struct rf_error *error)
{
	enum rf_map map = source->version == 4 ? RF_MAP_WINDOWS4 : RF_MAP_WINDOWS6;
	struct rf_key4 key4 = {.limit_id = policy->id};
	struct rf_key6 key6 = {.limit_id = policy->id};
	void *key = source->version == 4 ? (void *)&key4 : (void *)&key6;
	struct visitor visitor = {};
	int err;

	rf_policy_mask(policy, source);
	key4.source = source->word[0];
	memcpy(key6.source, source->word, sizeof(key6.source));
	err = rf_fence_look_up(fence, map, key, state);
	if (err)
		return err == -ENOENT ? err : rf_fence_fail_map(error, map, err);
	err = read_pending(&visitor, fence);
	if (!err)
		add_pending(&visitor, source, policy->id, state);
	free(visitor.pending.row);
	return err ? rf_fence_fail_map(error, RF_MAP_LEASES, err) : 0;
}

/*
 * A walk over one windows map, in batches. Batches are large, since all leases are read for each.
 */
#define BATCH 65536

struct walk {
	enum rf_map map;
	size_t key_size;
	__u32 capacity; /* entries of a batch */
	unsigned char *keys;
	size_t value_size;
	unsigned char *values;
};

/* A batch must hold the largest bucket of the hash; the kernel answers ENOSPC until it does. */
static int resize_walk(struct walk *walk, __u32 capacity)
{
	free(walk->keys);
	free(walk->values);
	walk->capacity = capacity;
	walk->keys = calloc(capacity, walk->key_size);
	walk->values = calloc(capacity, walk->value_size);
	return walk->keys && walk->values ? 0 : -ENOMEM;
}

static int visit_batch(const struct walk *walk, __u32 count, const struct visitor *visitor)
{
	int err = 0;

	for (__u32 i = 0; i < count && !err; i++) {
		const unsigned char *key = walk->keys + i * walk->key_size;
		struct rf_source *state = (void *)(walk->values + i * walk->value_size);
		struct rf_address source = {.version = walk->map == RF_MAP_WINDOWS4 ? 4 : 6};
		size_t length = source.version == 4 ? sizeof(__be32) : sizeof(source.word);
		__u32 limit_id;

		memcpy(source.word, key, length);
		memcpy(&limit_id, key + length, sizeof(limit_id));
		add_pending(visitor, &source, limit_id, state);
		err = visitor->visit(&source, limit_id, state, visitor->context);
	}
	return err < 0 ? err : 0;
}

static int walk_map(const struct rf_fence *fence, struct walk *walk, struct visitor *visitor)
{
	const int fd = fence->map_fd[walk->map];
	__u32 in, out;
	bool first = true, last = false;
	int err;

	walk->value_size = fence->source_size;
	err = resize_walk(walk, BATCH);

	while (!err && !last) {
		__u32 count = walk->capacity;

		err = bpf_map_lookup_batch(fd, first ? NULL : &in, &out, walk->keys, walk->values,
					   &count, NULL)
			      ? -errno
			      : 0;
		if (err == -ENOSPC) {
			err = resize_walk(walk, walk->capacity * 2);
			continue;
		}
		if (err && err != -ENOENT)
			return err;
		last = err == -ENOENT; /* ENOENT comes with the last entries */
		err = read_pending(visitor, fence);
		if (!err)
			err = visit_batch(walk, count, visitor);
		in = out;
		first = false;
	}
	return err;
}

static int walk_all(const struct rf_fence *fence, struct visitor *visitor, struct rf_error *error)
{
	struct walk walks[] = {{.map = RF_MAP_WINDOWS4, .key_size = sizeof(struct rf_key4)},
			       {.map = RF_MAP_WINDOWS6, .key_size = sizeof(struct rf_key6)}};
	int err = 0;

	for (int i = 0; i < 2 && !err; i++) {
		err = walk_map(fence, &walks[i], visitor);
		free(walks[i].keys);
		free(walks[i].values);
		if (err)
			rf_fence_fail_map(error, walks[i].map, err);
	}
	free(visitor->pending.row);
	return err;
}

int rf_fence_each_source(const struct rf_fence *fence, rf_source_visit visit, void *context,
			 struct rf_error *error)
{
	struct visitor visitor = {.visit = visit, .context = context};

	return walk_all(fence, &visitor, error);
}

/* A walk that shows windows without what leases hold. */
struct sighting {
	const struct rf_fence *fence;
	const struct rf_bank *rules;
	rf_window_visit visit;
	void *context;
};

static int visit_sight(const struct rf_address *source, uint32_t limit_id,
		       const struct rf_source *state, void *context)
{
	const struct sighting *sighting = context;
	const int slot = rf_bank_find_id(sighting->rules, limit_id);
	struct rf_window_sight sight;

	if (slot < 0)
		return 0;
	rf_window_sight(sighting->fence, &sighting->rules->policy[slot], source, state, &sight);
	return sighting->visit(&sight, sighting->context);
}

int rf_fence_each_window(const struct rf_fence *fence, const struct rf_bank *rules,
			 rf_window_visit visit, void *context, struct rf_error *error)
{
	struct sighting sighting = {fence, rules, visit, context};
	struct visitor visitor = {
		.visit = visit_sight,
		.context = &sighting,
		.without_leases = true,
	};

	return walk_all(fence, &visitor, error);
}
