/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What iterators need of the kernel's types and of the rules; and windows by their age, a record
 * each, for readers who read many of them each second. A window is left out only if its seat
 * excludes that it was charged since: a packet that looks it up touches the seat, a resident's at
 * intervals, and a lease may charge it for as long as it may hide it. What a lease still holds
 * after that, its reader knows from the lease.
 */
#ifndef RINGFENCE_SHOW_WINDOWS_H
#define RINGFENCE_SHOW_WINDOWS_H

#include "count.h"
#include "ringfence/slot.h"
#include "ringfence/window_read.h"
#include "ringfence/window_record.h"

/* The parts of the kernel's types that are used here. */
struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
} __attribute__((preserve_access_index));

struct bpf_iter__bpf_map_elem {
	struct bpf_iter_meta *meta;
	void *key;
	void *value;
} __attribute__((preserve_access_index));

#define ANY_AGE 0
#define TICKS_AHEAD 256 /* a seat may be as much ahead of a reader's clock, never by a wrap */

/* The bank in force, as the data path sees it. */
static __always_inline __u32 bank_in_force(void)
{
	const __u32 bank = config.active & 1;

	if (config.bank[bank].deadline - 1 < read_jiffies() &&
	    config.bank[bank].fallback == RF_FALL_BACK)
		return bank ^ 1;
	return bank;
}

static __always_inline __u32 ticks_of(__u32 seconds)
{
	const __u64 tick_ns = (__u64)config.tick_ns << (config.times.tick_shift & 31);

	return tick_ns ? seconds * 1000000000ULL / tick_ns + 1 : RF_SEAT_TICKS;
}

/* Is it sure that nothing was charged in the last `seconds`? */
static __always_inline int is_older(__u64 seat, __u32 seconds)
{
	const struct rf_slot_times *times = &config.times;
	const __u32 ago =
		((__u32)(read_jiffies() >> (config.times.tick_shift & 31)) - (__u32)seat) &
		RF_SEAT_TICKS;
	__u32 hidden = 1;

	if (seconds == ANY_AGE || ago > RF_SEAT_TICKS - TICKS_AHEAD)
		return 0;
	if (rf_seat_is_resident(seat))
		hidden += times->resident_touch;
	if (config.lease_shift)
		hidden += rf_seat_is_resident(seat) ? times->resident_lease : times->young_lease;
	return ago > hidden + ticks_of(seconds);
}

/* The policy of that limit; NULL: it is not in force. */
static __always_inline const struct rf_policy *policy_in_force(__u32 limit_id)
{
	const struct rf_bank *bank = &config.bank[bank_in_force() & 1];

	for (__u32 slot = 0; slot < RF_LIMITS_MAX; slot++)
		if (bank->policy[slot].id == limit_id)
			return &bank->policy[slot];
	return NULL;
}

/*
 * As rf_used(), but that the weighted estimate misses the head's cell while it is on the edge and
 * nothing has come since. Global, so that the verifier checks it once for all programs.
 */
__noinline __u64 used_of(const struct rf_window *window, const struct rf_policy *policy)
{
	__u64 time, now, head, used;
	__u32 epoch;

	if (!window || !policy)
		return 0;
	time = read_clock(policy, read_jiffies());
	if (rf_is_log(policy))
		return rf_log_read(window, policy, time).used;
	head = window->head;
	if (rf_is_bucket(policy)) {
		used = rf_bucket_level(policy, head, rf_bucket_time(time));
		return rf_bucket_units(policy, policy->depth - used);
	}
	now = rf_epoch(policy, time);
	used = rf_window_used(window, policy, now);
	epoch = rf_head_is_present(window, policy, head, now) ? rf_word_epoch(head) : now;
	if (rf_is_weighted(policy))
		used += rf_edge_part(window, policy, epoch, time);
	return used;
}

static __always_inline int show_window(struct bpf_iter__bpf_map_elem *ctx, __u32 seconds,
				       int is_ipv6)
{
	const struct rf_source *source = ctx->value;
	const struct rf_key4 *key4 = ctx->key;
	const struct rf_key6 *key6 = ctx->key;
	struct rf_window_record record = {};
	const struct rf_policy *policy;
	struct rf_window window;
	__u64 seat, used;

	if (!key4 || !source)
		return 0;
	seat = rf_load(&source->seat);
	if (is_older(seat, seconds))
		return 0;
	record.limit_id = is_ipv6 ? key6->limit_id : key4->limit_id;
	policy = policy_in_force(record.limit_id);
	if (!policy)
		return 0;
	if (is_ipv6)
		__builtin_memcpy(record.source, key6->source, sizeof(record.source));
	else
		record.source[0] = key4->source;
	window = source->window; /* the kernel's buffer allows no index that varies */
	used = used_of(&window, policy);
	record.stay = rf_window_stay(seat);
	record.used = used < 0xffffffffU ? used : 0xffffffffU;
	record.passed = source->passed;
	record.dropped = source->dropped;
	record.would_drop = policy->ban ? 0 : source->would_drop;
	bpf_seq_write(ctx->meta->seq, &record, sizeof(record));
	return 0;
}

#endif /* RINGFENCE_SHOW_WINDOWS_H */
