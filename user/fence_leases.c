// SPDX-License-Identifier: GPL-2.0
/*
 * What is pending in the leases: packets that a CPU has answered by itself, and not yet added to
 * any counter. Readers add them in. A lease that is flushed between a reading of the counters and
 * one of the leases is missing from that reading, and back in the next; so the sums are exact once
 * traffic stops, and never too high.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "bpf/lease.h"
#include "fence_internal.h"

#define LEASES_MAX (1ULL << 31)		 /* of all CPUs, so that their number has 32 bits */
#define LEASES_LEAST (2 * RF_LEASE_WAYS) /* of a CPU */
#define READS_MAX 4			 /* of a lease that changes its source meanwhile */
#define MAP_SHARE 8	/* no lease outlives so many inserts as are this part of the windows */
#define INSERTS_OF 64	/* into how many steps the half of that is divided, on few CPUs */
#define INSERTS_MAX 192 /* of 256 that rf_lease.inserts can tell apart */

/* ---- their memory ---- */

static size_t leases_size(const struct rf_fence *fence)
{
	size_t page = sysconf(_SC_PAGESIZE);

	return (fence->leases * sizeof(struct rf_lease) + page - 1) / page * page;
}

uint32_t rf_leases_wanted(const struct rf_attach *attach)
{
	uint64_t cpus = libbpf_num_possible_cpus(), each = LEASES_LEAST;

	if (attach->leases == RF_LEASES_UNSAID)
		return RF_LEASES_DEFAULT;
	if (!attach->leases)
		return RF_LEASE_WAYS; /* no map is smaller; nobody gets them */
	while (each < attach->leases && 2 * each * cpus <= LEASES_MAX)
		each *= 2;
	return each * cpus;
}

int rf_leases_map(struct rf_fence *fence, struct rf_error *error)
{
	int fd = fence->map_fd[RF_MAP_LEASES];
	struct bpf_map_info info = {};
	__u32 length = sizeof(info);
	void *memory;

	if (bpf_obj_get_info_by_fd(fd, &info, &length))
		return rf_error_failed(error, -errno, "cannot read the fence's leases: %s",
				       strerror(errno));
	if (info.value_size != sizeof(struct rf_lease_set))
		return rf_error_failed(error, -EPROTO, "the fence's leases have another format");
	fence->leases = info.max_entries * RF_LEASE_WAYS;
	memory = mmap(NULL, leases_size(fence), PROT_READ, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		return rf_error_failed(error, -errno, "cannot map the fence's leases: %s",
				       strerror(errno));
	fence->lease = memory;
	return 0;
}

void rf_leases_unmap(struct rf_fence *fence)
{
	if (fence->lease)
		munmap((void *)fence->lease, leases_size(fence));
	fence->lease = NULL;
}

/* log2 of the leases of one CPU; 0: none. */
static unsigned int leases_bits(const struct rf_fence *fence)
{
	int cpus = libbpf_num_possible_cpus();
	unsigned int bits = 0;

	if (cpus <= 0 || fence->leases / cpus < LEASES_LEAST)
		return 0;
	while (2ULL << bits <= fence->leases / cpus)
		bits++;
	return bits;
}

/*
 * When leases end because of inserts. Each CPU tells of them by the step, so that many steps may go
 * untold; half of what is allowed is for those.
 */
static void set_inserts(struct rf_config *config, uint32_t sources)
{
	int cpus = libbpf_num_possible_cpus();
	uint32_t half = sources / MAP_SHARE / 2, step = 1, inserts;

	while (2 * step <= half / (cpus > INSERTS_OF ? cpus : INSERTS_OF))
		step *= 2;
	inserts = half / step;
	config->inserts_mask = step - 1;
	config->lease_inserts = inserts < 1 ? 1 : inserts < INSERTS_MAX ? inserts : INSERTS_MAX;
}

int rf_fence_make_leases(struct rf_fence *fence, struct rf_error *error)
{
	struct rf_config *config = fence->config;
	unsigned int bits = leases_bits(fence);
	__u64 key[3];

	if (config->lease_shift || !bits)
		return 0;
	if (getrandom(key, sizeof(key), 0) != sizeof(key))
		return rf_error_failed(error, -errno, "cannot get a random key: %s",
				       strerror(errno));
	for (int i = 0; i < 3; i++)
		config->lease_key[i] = key[i] | 1; /* a key of 0 would be none */
	set_inserts(config, fence->sources);
	__atomic_store_n(&config->lease_shift, 64 - bits, __ATOMIC_RELEASE);
	return 0;
}

/* ---- reading ---- */

static void copy_lease(struct rf_lease *lease, const struct rf_lease *shared)
{
	memcpy(lease, shared, sizeof(*lease));
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
}

static bool is_same(const struct rf_lease *one, const struct rf_lease *other)
{
	return one->source == other->source && one->rules == other->rules &&
	       one->reason == other->reason;
}

/* False: nothing is pending there. Another source may take the place while it is read. */
static bool read_lease(const struct rf_lease *shared, struct rf_lease *lease)
{
	struct rf_lease before, after;

	for (int i = 0; i < READS_MAX; i++) {
		copy_lease(&before, shared);
		copy_lease(lease, shared);
		copy_lease(&after, shared);
		if (is_same(&before, lease) && is_same(lease, &after))
			return lease->packets && lease->reason < RF_REASON_COUNT;
	}
	return false;
}

/* As flush_lease() in the program: another limit's counters, and another window's, are not its. */
static bool is_of_limit(const struct rf_lease *lease, const struct rf_bank *rules, uint32_t slot)
{
	return rf_rules_slot(lease->rules) == slot && rules->policy[slot].id &&
	       rf_rules_are_since(lease->rules, rules->limit[slot].born);
}

static bool is_of_windows(const struct rf_lease *lease, const struct rf_bank *rules)
{
	uint32_t slot = rf_rules_slot(lease->rules);

	return rules->policy[slot].id && rf_rules_are_since(lease->rules, rules->policy[slot].born);
}

static void add(struct rf_count *sum, const struct rf_lease *lease)
{
	sum->packets += lease->packets;
	sum->bytes += lease->bytes;
}

void rf_leases_add_counters(const struct rf_fence *fence, struct rf_counters *sum)
{
	struct rf_lease lease;

	for (uint32_t i = 0; i < fence->leases; i++)
		if (read_lease(&fence->lease[i], &lease))
			add(&sum->reason[lease.reason], &lease);
}

void rf_leases_add_limit(const struct rf_fence *fence, const struct rf_bank *rules, int slot,
			 struct rf_limit_counters *sum)
{
	struct rf_lease lease;

	for (uint32_t i = 0; i < fence->leases; i++) {
		if (!read_lease(&fence->lease[i], &lease) || !is_of_limit(&lease, rules, slot))
			continue;
		if (lease.reason == RF_UNDER_LIMIT)
			add(&sum->passed, &lease);
		else if (lease.reason == RF_SHADOW_OVER)
			add(&sum->would_drop, &lease);
		else
			add(&sum->dropped, &lease);
	}
}

/* ---- by source ---- */

/* The same source under the same limit, whatever generation a lease was made in. */
static int compare_source(const void *a, const void *b)
{
	const struct rf_lease *left = a, *right = b;

	if (left->source != right->source)
		return left->source < right->source ? -1 : 1;
	return (int)(left->rules & 63) - (int)(right->rules & 63);
}

int rf_leases_snapshot(const struct rf_fence *fence, const struct rf_bank *rules,
		       struct rf_pending *pending)
{
	struct rf_lease lease;
	size_t capacity = 0;

	*pending = (struct rf_pending){};
	for (uint32_t i = 0; i < fence->leases; i++) {
		if (!read_lease(&fence->lease[i], &lease) || !is_of_windows(&lease, rules))
			continue;
		if (pending->count == capacity) {
			struct rf_lease *grown;

			capacity = capacity ? capacity * 2 : 1024;
			grown = reallocarray(pending->lease, capacity, sizeof(lease));
			if (!grown)
				return -ENOMEM;
			pending->lease = grown;
		}
		pending->lease[pending->count++] = lease;
	}
	if (pending->count)
		qsort(pending->lease, pending->count, sizeof(lease), compare_source);
	return 0;
}

void rf_leases_add_source(const struct rf_pending *pending, const struct rf_address *source,
			  int slot, struct rf_source *state)
{
	const struct rf_lease key = {
		.source = source->word[0] | (uint64_t)source->word[1] << 32,
		.rules = rf_who_rules(0, slot, source->version == 6),
	};
	const struct rf_lease *end = pending->lease + pending->count, *found;

	if (!pending->count || source->word[2] || source->word[3])
		return;
	found = bsearch(&key, pending->lease, pending->count, sizeof(key), compare_source);
	while (found && found > pending->lease && !compare_source(found - 1, &key))
		found--;
	for (; found && found < end && !compare_source(found, &key); found++) {
		if (found->reason == RF_UNDER_LIMIT)
			state->passed += found->packets;
		else if (found->reason == RF_SHADOW_OVER)
			state->would_drop += found->packets;
		else
			state->dropped += found->packets;
	}
}
