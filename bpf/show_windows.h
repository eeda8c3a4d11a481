/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Kernel types and rules for the iterators; and windows by their age, a record each, for readers
 * that poll many of them each second. A window is skipped only if its slot reference proves that it
 * was not charged since: a packet that looks it up touches the slot reference (a resident's at
 * intervals), and a lease can charge it for as long as it can hide it. A reader learns from the
 * lease about counts that the lease still holds after that.
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
#define TICKS_AHEAD \
	256 /* how far a slot reference can be ahead of a reader's clock, never by a wrap */

/* The active bank, as the data path sees it. */
static __always_inline __u32 bank_in_force(void)
{
	return generation_in_force() & 1;
}

static __always_inline __u32 ticks_of(__u32 seconds)
{
	const __u64 tick_ns = (__u64)config.tick_ns << (config.times.tick_shift & 31);

	return tick_ns ? seconds * 1000000000ULL / tick_ns + 1 : RF_SLOT_REF_TICKS;
}

/* Ticks from then to now, of which only the bits in `mask` are known; 0: it is ahead. */
static __always_inline __u32 ticks_since(__u32 then, __u32 mask)
{
	const __u32 now = read_jiffies() >> (config.times.tick_shift & 31);
	const __u32 ago = (now - then) & mask;

	return ago > mask - TICKS_AHEAD ? 0 : ago;
}

/* How many ticks after a touch a source can be charged without a further touch. */
static __always_inline __u32 hidden_ticks(int is_resident)
{
	const struct rf_slot_times *times = &config.times;
	__u32 hidden = 1;

	if (is_resident)
		hidden += times->resident_touch;
	if (config.lease_shift)
		hidden += is_resident ? times->resident_lease : times->probation_lease;
	return hidden;
}

/* Is it certain that there was no charge in the last `seconds`? */
static __always_inline int is_older(__u64 slot_ref, __u32 seconds)
{
	return seconds != ANY_AGE &&
	       ticks_since(slot_ref, RF_SLOT_REF_TICKS) >
		       hidden_ticks(rf_slot_ref_is_resident(slot_ref)) + ticks_of(seconds);
}

/*
 * The same by the slot, which is touched before the slot reference. A resting slot was a
 * resident's, so each one is treated as a resident: the slot reference decides.
 */
static __always_inline int is_slot_older(__u64 word, __u32 seconds)
{
	return seconds != ANY_AGE &&
	       ticks_since(rf_slot_last(word), ~0U) > hidden_ticks(1) + ticks_of(seconds);
}

/* The policy of that limit; NULL: it is not active. */
static __always_inline const struct rf_policy *policy_in_force(__u32 limit_id)
{
	const struct rf_bank *bank = &config.bank[bank_in_force() & 1];

	for (__u32 slot = 0; slot < RF_LIMITS_MAX; slot++)
		if (bank->policy[slot].id == limit_id)
			return &bank->policy[slot];
	return NULL;
}

/*
 * As rf_used(), except that the weighted estimate omits the head's cell while it is on the edge and
 * no packet has arrived since. Global: the verifier checks it once for all programs.
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
		return used + rf_edge_part(window, policy, epoch, time);
	return rf_used_with_lent(policy, used, rf_lent_read(window, policy, time));
}

/* A slot of either family. */
struct sitter {
	__u64 word;
	struct rf_key6 key; /* IPv4: only the first word of the address */
};

/* A different source can take the slot concurrently: then it is read as a slot without a window. */
static __always_inline int read_slot(__u32 index, int is_ipv6, struct sitter *sitter)
{
	__u64 after;

	if (is_ipv6) {
		const struct rf_slot6 *slot = bpf_map_lookup_elem(&slots6, &index);

		if (!slot)
			return 0;
		sitter->word = rf_load(&slot->word);
		sitter->key = slot->key;
		after = rf_load(&slot->word);
	} else {
		const struct rf_slot4 *slot = bpf_map_lookup_elem(&slots4, &index);

		if (!slot)
			return 0;
		sitter->word = rf_load(&slot->word);
		sitter->key = (struct rf_key6){{slot->key.source}, slot->key.limit_id};
		after = rf_load(&slot->word);
	}
	return rf_slot_state(sitter->word) >= RF_SLOT_NEW &&
	       rf_slot_generation(after) == rf_slot_generation(sitter->word);
}

static __always_inline const struct rf_source *look_up_window(const struct sitter *sitter,
							      int is_ipv6)
{
	const struct rf_key4 key4 = {sitter->key.source[0], sitter->key.limit_id};

	if (is_ipv6)
		return bpf_map_lookup_elem(&windows6, &sitter->key);
	return bpf_map_lookup_elem(&windows4, &key4);
}

/*
 * The window in that slot, if it could have been charged; NULL: it could not. Not inlined, for its
 * stack: a global function could not return a window.
 */
static __noinline const struct rf_source *find_wanted(__u32 index, __u32 seconds, __u32 is_ipv6)
{
	struct sitter sitter = {};

	if (!read_slot(index, is_ipv6, &sitter) || is_slot_older(sitter.word, seconds))
		return NULL;
	return look_up_window(&sitter, is_ipv6);
}

/* All but the source and the limit, which the record has already. */
static __always_inline int fill(struct rf_window_record *record, const struct rf_source *source)
{
	const struct rf_policy *policy = policy_in_force(record->limit_id);
	struct rf_window window;
	__u64 used;

	if (!policy)
		return 0;
	window = source->window;
	used = used_of(&window, policy);
	record->used = used < 0xffffffffU ? used : 0xffffffffU;
	record->passed = source->passed;
	record->dropped = source->dropped;
	record->would_drop = policy->ban ? 0 : source->would_drop;
	record->lent = rf_lent_read(&window, policy, read_jiffies());
	return 1;
}

/* Whether the slot reference is in that slot, as it was read; then the record has source and limit.
 */
static __always_inline int is_slot_ref_of(__u64 slot_ref, __u32 index, __u32 is_ipv6,
					  struct rf_window_record *record)
{
	struct sitter sitter = {};

	if (!read_slot(index, is_ipv6, &sitter))
		return 0;
	__builtin_memcpy(record->source, sitter.key.source, sizeof(record->source));
	record->limit_id = sitter.key.limit_id;
	return rf_slot_ref_slot(slot_ref) == index &&
	       rf_slot_ref_generation(slot_ref) == rf_slot_generation(sitter.word);
}

/*
 * Reads the window that was found in the slot. Its memory can be reused for a different source at
 * any time: then its slot reference names a different slot or generation. Returns whether to print
 * it. Global: the verifier checks it once.
 */
__noinline int read_window(struct rf_window_record *record, const struct rf_source *source,
			   __u32 index, __u32 seconds, __u32 is_ipv6)
{
	__u64 slot_ref;

	if (!record || !source)
		return 0;
	slot_ref = rf_load(&source->slot_ref);
	if (!is_slot_ref_of(slot_ref, index, is_ipv6, record) || is_older(slot_ref, seconds))
		return 0;
	record->stay = rf_window_stay(slot_ref);
	return fill(record, source) && rf_window_stay(rf_load(&source->slot_ref)) == record->stay;
}

/* ---- iterating ---- */

#define AT_ONCE 4 /* windows whose memory the CPU waits for at the same time */

struct show_part {
	struct seq_file *seq;
	__u32 first; /* slot */
	__u32 seconds;
	__u32 is_ipv6;
	__u32 reserved;
};

static long show_some(__u32 number, void *context)
{
	const struct show_part *part = context;
	const __u32 first = part->first + number * AT_ONCE;
	const struct rf_source *source[AT_ONCE];
	struct rf_window_record record;

	RF_UNROLL
	for (__u32 i = 0; i < AT_ONCE; i++)
		source[i] = find_wanted(first + i, part->seconds, part->is_ipv6);
	RF_UNROLL
	for (__u32 i = 0; i < AT_ONCE; i++) {
		record = (struct rf_window_record){};
		if (source[i] &&
		    read_window(&record, source[i], first + i, part->seconds, part->is_ipv6))
			bpf_seq_write(part->seq, &record, sizeof(record));
	}
	return 0;
}

/*
 * Iterates over parts of the slots. Slots are contiguous in memory, and show which windows to read:
 * idle ones are not touched.
 */
static __always_inline int show_windows(struct bpf_iter__bpf_map_elem *ctx, __u32 seconds,
					int is_ipv6)
{
	struct show_part part = {.seq = ctx->meta->seq, .seconds = seconds, .is_ipv6 = is_ipv6};
	const __u32 *number = ctx->key;

	if (!number)
		return 0;
	part.first = *number * RF_PART_SLOTS;
	bpf_loop(RF_PART_SLOTS / AT_ONCE, show_some, &part, 0);
	return 0;
}

#endif /* RINGFENCE_SHOW_WINDOWS_H */
