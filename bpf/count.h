/* SPDX-License-Identifier: GPL-2.0 */
/* Clocks and counters of the data path. */
#ifndef RINGFENCE_COUNT_H
#define RINGFENCE_COUNT_H

#include "maps.h"
#include "ringfence/atomic.h"

/* The only read-only data: readers expect it at offset 0. */
const volatile struct rf_rodata rf_rodata = {
	.magic = RF_ABI_MAGIC,
	.abi = RF_ABI_VERSION,
	.layout = RF_ABI_LAYOUT,
};

/*
 * The verifier checks a non-static __noinline function separately and once, instead of along each
 * path that leads to it: with everything inlined it would walk far more than a million
 * instructions. A call costs 8 to 12 ns, so code that most packets need is still inlined.
 */

static __always_inline __u64 read_jiffies(void)
{
	if (unlikely(rf_rodata.injected_clock))
		return config.tick_ns ? config.injected_ns / config.tick_ns : 0;
	return bpf_jiffies64();
}

static __always_inline __u64 read_ns(void)
{
	return rf_rodata.injected_clock ? config.injected_ns : bpf_ktime_get_ns();
}

static __always_inline __u64 read_clock(const struct rf_policy *policy, __u64 jiffies)
{
	return policy->clock == RF_JIFFIES ? jiffies : read_ns();
}

/*
 * Is the fence paused at that time? Read once for each packet that no lease handles, and then
 * passed on. The command line starts and ends pauses while packets are in flight: a second read
 * could differ, and a packet counted as dropped by its limit would be counted as passed in the
 * totals by reason or in its window.
 */
static __always_inline int read_pause(__u64 jiffies)
{
	return rf_load(&config.paused_until) > jiffies;
}

/* Were these rules not confirmed before their deadline? */
static __always_inline int is_past_deadline(const struct rf_bank *bank)
{
	const __u64 deadline = rf_load(&bank->deadline); /* `confirm` can clear it concurrently */

	return deadline && deadline <= read_jiffies();
}

/*
 * The generation of the active rules, for readers. If all rules have expired and everything passes,
 * no bank is active: then the last one.
 */
static __always_inline __u64 generation_in_force(void)
{
	const __u64 generation = rf_load(&config.active);
	const struct rf_bank *bank = &config.bank[generation & 1];

	if (!is_past_deadline(bank) || bank->fallback == RF_FALL_OPEN)
		return generation;
	return generation - 1;
}

static __always_inline void count(struct rf_count *sum, __u64 packets, __u64 bytes)
{
	sum->packets += packets;
	sum->bytes += bytes;
}

#define NOT_PAUSED 0 /* packets that a lease has dropped: in a pause it drops none */

/* Counts in the window itself, where the counters share a cache line with the head. */
static __always_inline void count_source(struct rf_source *source, const struct rf_policy *policy,
					 __u32 reason, __u64 packets, int is_paused)
{
	if (!source)
		return; /* the window was evicted */
	if (reason == RF_UNDER_LIMIT)
		__sync_fetch_and_add(&source->passed, packets);
	else if (reason != RF_SHADOW_OVER && !is_paused)
		__sync_fetch_and_add(&source->dropped, packets);
	else if (reason == RF_SHADOW_OVER ||
		 !policy->ban) /* otherwise the word has a ban's expiry */
		__sync_fetch_and_add(&source->would_drop, packets);
}

static __always_inline struct rf_limit_counters *counters_of(const struct rf_policy *policy)
{
	__u32 index = policy->counters;

	return bpf_map_lookup_elem(&limit_counters, &index);
}

static __always_inline void count_limit(const struct rf_policy *policy, __u32 reason, __u64 packets,
					__u64 bytes, int is_paused)
{
	struct rf_limit_counters *limit = counters_of(policy);

	if (!limit)
		return;
	if (reason == RF_UNDER_LIMIT)
		count(&limit->passed, packets, bytes);
	else if (reason == RF_SHADOW_OVER || is_paused)
		count(&limit->would_drop, packets, bytes);
	else
		count(&limit->dropped, packets, bytes);
}

static __always_inline void count_forfeited(const struct rf_policy *policy, __u64 bytes)
{
	struct rf_limit_counters *limit = counters_of(policy);

	if (limit)
		count(&limit->forfeited, 1, bytes);
}

static __always_inline void count_truncated(const struct rf_policy *policy, __u64 bytes)
{
	struct rf_limit_counters *limit = counters_of(policy);

	if (limit)
		count(&limit->truncated, 1, bytes);
}

/*
 * Counts a packet for its interface. Without a place for the interface, only the totals include the
 * packet.
 */
static __always_inline int count_interface(__u32 index, __u32 len_bytes, int verdict)
{
	struct rf_interface_counters *sums;
	__u32 place = index;

	for (int i = 0; i < RF_INTERFACE_PROBES; i++) {
		place = (index + i) % RF_INTERFACE_PLACES;
		if (config.interface[place].index == index)
			break;
	}
	if (config.interface[place].index != index)
		return verdict;
	sums = bpf_map_lookup_elem(&interfaces, &place);
	if (sums)
		count(verdict == XDP_PASS ? &sums->passed : &sums->dropped, 1, len_bytes);
	return verdict;
}

#endif /* RINGFENCE_COUNT_H */
