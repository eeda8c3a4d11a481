// SPDX-License-Identifier: GPL-2.0
/*
 * The calls of a fleet's agent: a program that BPF_PROG_RUN runs over a batch in shared memory, and
 * that is never attached. It writes shares, reads usage, and records the state of the fleet server.
 * A map update by system call would replace the window and lose the counts that CPUs add
 * concurrently.
 */
#define RF_WITH_SHARES
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "ban_sets.h"
#include "fleet.h"
#include "ringfence/share_write.h"

char gpl[] SEC("license") = "GPL";

#define NS_PER_TICK_MIN 1000000 /* no kernel has more than 1000 ticks a second */

/* Writer and reader: the agent, through shared memory, and its calls. Never full: one entry. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct rf_fleet_batch);
} fleet_batch SEC(".maps");

/* The slot of the fleet's limit of that id in the active bank; RF_LIMITS_MAX: no such limit. */
__noinline __u32 slot_of(__u32 limit_id, __u32 generation)
{
	const struct rf_bank *bank = &config.bank[generation & 1];

	for (__u32 i = 0; i < RF_LIMITS_MAX; i++)
		if (bank->policy[i].id == limit_id && bank->policy[i].flags & RF_FLEET)
			return i;
	return RF_LIMITS_MAX;
}

/* The window is in the bucket of its source, so no share is valid in another bucket. */
static __always_inline int is_in_bucket(struct rf_source *source,
					const struct rf_fleet_record *record, __u64 jiffies)
{
	const __u32 incarnation = rf_given_incarnation(rf_load(&source->window.share.given));
	const __u32 bucket = bucket_of(record->source[0], record->source[1]);

	return !incarnation || incarnation % RF_BUCKETS == bucket ||
	       rf_share_move(&source->window, next_incarnation(bucket), jiffies);
}

/*
 * All hosts together received more than L from the source of that window, under the definition of
 * that tag, which might have been replaced by now.
 */
__noinline int ban_source(struct rf_source *source, const struct rf_fleet_record *record,
			  const struct rf_policy *policy)
{
	struct rf_ban whom;

	if (!source || !record || !policy || record->tag != policy->tag || !rf_bans_by_sum(policy))
		return 0;
	mask_source(whom.source, record->source, policy->mask4, policy->mask6, record->is_ipv6);
	whom.whose = rf_ban_whose(policy->id, record->is_ipv6);
	whom.since = read_jiffies();
	if (!read_pause(whom.since))
		ban_in_set(&whom, policy->ban, source);
	return 0;
}

/* Writes the share of a window, if requested, and reads the window. */
__noinline __u32 serve_window(struct rf_source *source, struct rf_fleet_record *record,
			      const struct rf_policy *policy)
{
	enum rf_share_result result = RF_SHARE_DONE;
	__u64 jiffies = read_jiffies();

	if (!source || !record || !policy)
		return RF_SHARE_GONE; /* cannot happen; for the verifier */
	if (!is_in_bucket(source, record, jiffies))
		return RF_SHARE_BUSY;
	if (record->incarnation &&
	    record->incarnation != rf_given_incarnation(rf_load(&source->window.share.given)))
		return RF_SHARE_OTHER;
	if (record->writes)
		result = rf_share_write(&source->window, policy, record->incarnation, record->tag,
					record->share, jiffies);
	if (result == RF_SHARE_OTHER)
		return result;
	if (record->bans)
		ban_source(source, record, policy);
	record->used = rf_share_used(&source->window, policy, read_jiffies());
	record->given = rf_load(&source->window.share.given);
	record->passed = rf_load(&source->passed);
	record->dropped = rf_load(&source->dropped);
	record->received = rf_load(&source->received);
	return result;
}

static __always_inline __u32 serve(struct rf_fleet_record *record, __u32 generation)
{
	const __u64 address[2] = {record->source[0], record->source[1]};
	const __u32 slot = slot_of(record->limit_id, generation);
	const struct rf_policy *policy;
	struct rf_source *source;

	if (slot >= RF_LIMITS_MAX)
		return RF_SHARE_NO_LIMIT;
	policy = &config.bank[generation & 1].policy[slot % RF_LIMITS_MAX];
	source =
		record->is_ipv6 ? find_source(address, policy, 1) : find_source(address, policy, 0);
	return source ? serve_window(source, record, policy) : RF_SHARE_GONE;
}

__noinline int serve_record(__u32 index, __u32 generation)
{
	struct rf_fleet_batch *batch;
	struct rf_fleet_record *record;
	__u32 first = 0;

	batch = bpf_map_lookup_elem(&fleet_batch, &first);
	if (!batch)
		return 0;
	record = &batch->record[index % RF_FLEET_BATCH];
	record->result = serve(record, generation);
	return 0;
}

/* In jiffies, rounded down: the host goes offline too early, never too late. */
static __always_inline __u64 ticks_of(__u64 ns)
{
	return config.tick_ns ? ns / config.tick_ns : 0;
}

__noinline int note_heard(__u32 bucket)
{
	struct rf_fleet_batch *batch;
	struct rf_fleet_heard *heard;
	__u64 jiffies, now_ns;
	__u32 first = 0;

	batch = bpf_map_lookup_elem(&fleet_batch, &first);
	if (!batch)
		return 0;
	bucket %= RF_BUCKETS;
	heard = &batch->heard[bucket];
	if (heard->ends)
		rf_end_shares(&config.fleet.bucket[bucket]);
	heard->ends = 0;
	jiffies = read_jiffies(); /* before the other clock: a deadline is rather too early */
	now_ns = read_ns();
	if (heard->until_ns > now_ns)
		rf_hear(&config.fleet.bucket[bucket], jiffies + ticks_of(heard->until_ns - now_ns),
			2 * ticks_of(heard->window_ns) + 4);
	heard->until_ns = 0;
	return 0;
}

/* Windows created concurrently are in any bucket: the agent examines all windows afterwards. */
static __always_inline void take_key(struct rf_fleet_batch *batch)
{
	if (batch->sets_key) {
		rf_store(&config.fleet.key[0], batch->key[0]);
		rf_store(&config.fleet.key[1], batch->key[1]);
	}
	batch->sets_key = 0;
}

SEC("syscall")
int fleet_call(void *ignored)
{
	(void)ignored;
	struct rf_fleet_batch *batch;
	__u32 first = 0, generation, count;

	batch = bpf_map_lookup_elem(&fleet_batch, &first);
	if (!batch)
		return 1; /* cannot happen; for the verifier */
	take_key(batch);
	for (__u32 i = 0; i < RF_BUCKETS; i++)
		note_heard(i);
	generation = generation_in_force();
	count = batch->count;
	for (__u32 i = 0; i < RF_FLEET_BATCH; i++) {
		if (i >= count)
			break;
		serve_record(i, generation);
	}
	return 0;
}
