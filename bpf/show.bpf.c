// SPDX-License-Identifier: GPL-2.0
/*
 * What `cat` prints of a fence's pins `stats`, `sources` and `sources6`: iterators over its maps,
 * for whoever has a shell and nothing else. They change nothing. An object of its own, since none
 * of this may keep the data path from loading: it takes Linux 5.19, the JIT, and the kernel's BTF.
 *
 * `stats`: a line of packets and bytes for each reason and limit, with what is pending in leases.
 * `sources`, `sources6`: a line for each window; what leases hold of it is missing here.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "count.h"
#include "lease.h"
#include "maps.h"

char gpl[] SEC("license") = "GPL";

/* Of the kernel, as far as it is used here. */
struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
} __attribute__((preserve_access_index));

struct bpf_iter__bpf_map_elem {
	struct bpf_iter_meta *meta;
	void *key;
	void *value;
} __attribute__((preserve_access_index));

static const char reason_names[RF_REASON_COUNT][RF_REASON_NAME_SIZE] = RF_REASON_NAMES;

/* How many CPUs there may be. Writer: the command line, before it loads this. */
const volatile __u32 possible_cpus = 1;

/* ---- sums ---- */

struct reason_sums {
	struct rf_count reason[RF_REASON_COUNT];
};

static long add_cpu_reasons(__u32 cpu, void *context)
{
	struct reason_sums *sum = context;
	__u32 first = 0;
	struct rf_counters *sums = bpf_map_lookup_percpu_elem(&counters, &first, cpu);

	for (int i = 0; sums && i < RF_REASON_COUNT; i++)
		count(&sum->reason[i], sums->reason[i].packets, sums->reason[i].bytes);
	return 0;
}

struct limit_sum {
	__u32 slot;
	__u32 index;
	__u32 bank;
	__u32 reserved;
	struct rf_limit_counters counters;
};

static long add_cpu_limit(__u32 cpu, void *context)
{
	struct limit_sum *sum = context;
	__u32 index = sum->index;
	struct rf_limit_counters *each = bpf_map_lookup_percpu_elem(&limit_counters, &index, cpu);

	if (!each)
		return 0;
	count(&sum->counters.passed, each->passed.packets, each->passed.bytes);
	count(&sum->counters.dropped, each->dropped.packets, each->dropped.bytes);
	count(&sum->counters.would_drop, each->would_drop.packets, each->would_drop.bytes);
	count(&sum->counters.forfeited, each->forfeited.packets, each->forfeited.bytes);
	return 0;
}

/* ---- what leases have not handed over yet ---- */

static long add_pending_reasons(void *map __attribute__((unused)),
				__u32 *key __attribute__((unused)), struct rf_lease_set *set,
				struct reason_sums *sum)
{
	for (int i = 0; i < RF_LEASE_WAYS; i++) {
		__u32 reason = rf_answer_reason(set->way[i].answer);

		if (reason < RF_REASON_COUNT)
			count(&sum->reason[reason], set->way[i].packets, set->way[i].bytes);
	}
	return 0;
}

/* Global, so that the verifier reads it by itself: within the loops it is beyond what 7.3 reads. */
int add_pending_limit_of(const struct rf_lease *lease, struct limit_sum *sum)
{
	const struct rf_limit *limit;
	__u32 slot[RF_CHARGED_MAX];
	int slots;

	if (!lease || !sum)
		return 0;
	limit = &config.bank[sum->bank & 1].limit[sum->slot % RF_LIMITS_MAX];
	slots = rf_lease_slots(lease, slot);
	if (!lease->packets || !rf_rules_are_since(lease->rules, limit->born))
		return 0;
	for (int i = 0; i < RF_CHARGED_MAX; i++) {
		enum rf_reason reason;

		if (i >= slots || slot[i] != sum->slot)
			continue;
		reason = rf_lease_reason(lease, i);
		if (reason >= RF_FIRST_DROP)
			count(&sum->counters.dropped, lease->packets, lease->bytes);
		else if (reason == RF_SHADOW_OVER)
			count(&sum->counters.would_drop, lease->packets, lease->bytes);
		else
			count(&sum->counters.passed, lease->packets, lease->bytes);
	}
	return 0;
}

static long add_pending_limit(void *map __attribute__((unused)), __u32 *key __attribute__((unused)),
			      struct rf_lease_set *set, struct limit_sum *sum)
{
	for (int i = 0; i < RF_LEASE_WAYS; i++)
		add_pending_limit_of(&set->way[i], sum);
	return 0;
}

/* ---- stats ---- */

/* The bank in force, as the data path sees it. */
static __always_inline __u32 bank_in_force(void)
{
	const __u32 bank = config.active & 1;

	if (config.bank[bank].deadline - 1 < read_jiffies() &&
	    config.bank[bank].fallback == RF_FALL_BACK)
		return bank ^ 1;
	return bank;
}

/*
 * Each is shown by bpf_loop, so that the verifier reads its code once, and not for each limit
 * again, and so that only one's sums are on the stack at a time.
 */
struct show {
	struct seq_file *seq;
	__u32 bank;
	__u32 reserved;
};

static long show_reasons(__u32 index __attribute__((unused)), void *context)
{
	struct seq_file *seq = ((struct show *)context)->seq;
	struct reason_sums sum = {};

	bpf_loop(possible_cpus, add_cpu_reasons, &sum, 0);
	bpf_for_each_map_elem(&leases, add_pending_reasons, &sum, 0);
	for (int i = 0; i < RF_REASON_COUNT; i++)
		BPF_SEQ_PRINTF(seq, "reason %s %llu %llu\n", reason_names[i], sum.reason[i].packets,
			       sum.reason[i].bytes);
	return 0;
}

static long show_limit(__u32 slot, void *context)
{
	const struct show *show = context;
	struct seq_file *seq = show->seq;
	const __u32 bank = show->bank & 1;
	const struct rf_limit *limit = &config.bank[bank].limit[slot % RF_LIMITS_MAX];
	const struct rf_policy *policy = &config.bank[bank].policy[slot % RF_LIMITS_MAX];
	struct limit_sum sum = {.slot = slot, .bank = bank};
	const struct rf_limit_counters *counters = &sum.counters;

	if (!policy->id)
		return 0;
	sum.index = policy->counters;
	bpf_loop(possible_cpus, add_cpu_limit, &sum, 0);
	bpf_for_each_map_elem(&leases, add_pending_limit, &sum, 0);
	BPF_SEQ_PRINTF(seq, "limit %s passed %llu %llu\n", limit->name, counters->passed.packets,
		       counters->passed.bytes);
	BPF_SEQ_PRINTF(seq, "limit %s dropped %llu %llu\n", limit->name, counters->dropped.packets,
		       counters->dropped.bytes);
	BPF_SEQ_PRINTF(seq, "limit %s would_drop %llu %llu\n", limit->name,
		       counters->would_drop.packets, counters->would_drop.bytes);
	return 0;
}

/* Of `counters`, which has one entry; without a value after it, when all of it is done. */
SEC("iter/bpf_map_elem")
int show_stats(struct bpf_iter__bpf_map_elem *ctx)
{
	struct show show = {.seq = ctx->meta->seq, .bank = bank_in_force()};

	if (!ctx->value)
		return 0;
	bpf_loop(1, show_reasons, &show, 0);
	bpf_loop(RF_LIMITS_MAX, show_limit, &show, 0);
	return 0;
}

/* ---- sources ---- */

struct name_search {
	__u32 limit_id;
	__u32 slot; /* of both banks, one after the other */
};

static long find_limit(__u32 index, void *context)
{
	struct name_search *search = context;

	search->slot = index;
	return config.bank[index / RF_LIMITS_MAX & 1].policy[index % RF_LIMITS_MAX].id ==
	       search->limit_id;
}

/* NULL: it is of a limit that is no more. */
static __always_inline const char *name_of(__u32 limit_id)
{
	struct name_search search = {.limit_id = limit_id};
	__u32 slot;

	bpf_loop(2 * RF_LIMITS_MAX, find_limit, &search, 0);
	slot = search.slot;
	if (config.bank[slot / RF_LIMITS_MAX & 1].policy[slot % RF_LIMITS_MAX].id != limit_id)
		return NULL;
	return config.bank[slot / RF_LIMITS_MAX & 1].limit[slot % RF_LIMITS_MAX].name;
}

SEC("iter/bpf_map_elem")
int show_sources4(struct bpf_iter__bpf_map_elem *ctx)
{
	const struct rf_source *source = ctx->value;
	struct seq_file *seq = ctx->meta->seq;
	const struct rf_key4 *key = ctx->key;
	const char *name;

	if (!key || !source)
		return 0;
	name = name_of(key->limit_id);
	if (name)
		BPF_SEQ_PRINTF(seq, "%pI4 limit %s passed %llu dropped %llu\n", &key->source, name,
			       source->passed, source->dropped);
	return 0;
}

SEC("iter/bpf_map_elem")
int show_sources6(struct bpf_iter__bpf_map_elem *ctx)
{
	const struct rf_source *source = ctx->value;
	struct seq_file *seq = ctx->meta->seq;
	const struct rf_key6 *key = ctx->key;
	const char *name;

	if (!key || !source)
		return 0;
	name = name_of(key->limit_id);
	if (name)
		BPF_SEQ_PRINTF(seq, "%pI6c limit %s passed %llu dropped %llu\n", key->source, name,
			       source->passed, source->dropped);
	return 0;
}
