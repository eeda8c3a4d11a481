// SPDX-License-Identifier: GPL-2.0
/*
 * Iterators over the maps of a fence, read through its pins; they change nothing. They need Linux
 * 5.19, the JIT and the kernel's BTF, and are in a separate object, so the data path loads without
 * these. Text, for a shell without the command line:
 *
 * `stats`: a line of packets and bytes for each reason and limit, including pending counts of
 * leases. `sources`, `sources6`: a line for each window, without the pending counts of leases.
 *
 * Records of struct rf_window_record, for readers that poll each second: `active`, `active64` and
 * `windows`, and the same for IPv6, also without pending counts.
 *
 * `pending`: struct rf_lease of each lease that holds packets.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "count.h"
#include "maps.h"
#include "ringfence/lease.h"
#include "show_leases.h"
#include "show_windows.h"

char gpl[] SEC("license") = "GPL";

static const char reason_names[RF_REASON_COUNT][RF_REASON_NAME_SIZE] = RF_REASON_NAMES;

/* The number of possible CPUs. Writer: the command line, before it loads this. */
const volatile __u32 possible_cpus = 1;

/* ---- sums ---- */

struct limit_sums {
	struct rf_count passed;
	struct rf_count dropped;
	struct rf_count would_drop;
};

/* The sums of one reader of `stats`. */
struct sums {
	__u64 is_taken;
	struct rf_count reason[RF_REASON_COUNT];
	struct limit_sums limit[RF_LIMITS_MAX];
};

#define READERS_MAX 8 /* at one moment */

/*
 * Sums are too large for the stack. Writer and reader: the program, which holds one entry while it
 * runs, to let concurrent readers use one each. When full: EAGAIN.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, READERS_MAX);
	__type(key, __u32);
	__type(value, struct sums);
} readers SEC(".maps");

/* Each step is a callback: the verifier reads its code once. */
struct show {
	struct seq_file *seq;
	struct sums *sums; /* NULL: none is free */
	__u32 bank;
	__u32 reserved;
};

static long take_sums(__u32 index, void *context)
{
	struct show *show = context;
	struct sums *sums = bpf_map_lookup_elem(&readers, &index);

	if (!sums || __sync_val_compare_and_swap(&sums->is_taken, 0, 1))
		return 0;
	show->sums = sums;
	return 1;
}

static long clear_limit(__u32 slot, void *context)
{
	struct sums *sums = ((struct show *)context)->sums;

	if (sums)
		sums->limit[slot % RF_LIMITS_MAX] = (struct limit_sums){};
	return 0;
}

static long add_cpu_reasons(__u32 cpu, void *context)
{
	struct sums *sums = ((struct show *)context)->sums;
	__u32 first = 0;
	struct rf_counters *each = bpf_map_lookup_percpu_elem(&counters, &first, cpu);

	for (int i = 0; sums && each && i < RF_REASON_COUNT; i++) {
		if (!cpu)
			sums->reason[i] = (struct rf_count){};
		count(&sums->reason[i], each->reason[i].packets, each->reason[i].bytes);
	}
	return 0;
}

/* By {CPU | slot:5}. */
static long add_cpu_limit(__u32 number, void *context)
{
	const struct show *show = context;
	const __u32 slot = number % RF_LIMITS_MAX;
	const struct rf_policy *policy = &config.bank[show->bank & 1].policy[slot];
	struct rf_limit_counters *each;
	struct sums *sums = show->sums;
	__u32 index = policy->counters;

	if (!policy->id || !sums)
		return 0;
	each = bpf_map_lookup_percpu_elem(&limit_counters, &index, number / RF_LIMITS_MAX);
	if (!each)
		return 0;
	count(&sums->limit[slot].passed, each->passed.packets, each->passed.bytes);
	count(&sums->limit[slot].dropped, each->dropped.packets, each->dropped.bytes);
	count(&sums->limit[slot].would_drop, each->would_drop.packets, each->would_drop.bytes);
	return 0;
}

/* ---- what leases have not handed over yet ---- */

/* Adds the pending counts of a lease to the limit in that slot. */
static __noinline int add_pending_to(const struct rf_lease *lease, struct sums *sums, __u32 slot,
				     __u32 reason, __u32 bank)
{
	struct limit_sums *limit = &sums->limit[slot % RF_LIMITS_MAX];

	if (!rf_rules_are_since(lease->rules,
				config.bank[bank & 1].limit[slot % RF_LIMITS_MAX].since_generation))
		return 0;
	if (reason >= RF_FIRST_DROP)
		count(&limit->dropped, lease->packets, lease->bytes);
	else if (reason == RF_SHADOW_OVER)
		count(&limit->would_drop, lease->packets, lease->bytes);
	else
		count(&limit->passed, lease->packets, lease->bytes);
	return 0;
}

/* Global: the verifier checks it once; inside the loops it exceeds what Linux 7.3 walks. */
int add_pending_of(const struct rf_lease *lease, struct sums *sums, __u32 bank)
{
	__u32 slot[RF_CHARGED_MAX], reason;
	int slots;

	if (!lease || !sums)
		return 0;
	reason = lease->reason;
	if (reason < RF_REASON_COUNT)
		count(&sums->reason[reason], lease->packets, lease->bytes);
	slots = rf_lease_slots(lease, slot);
	/* Unrolled: clang 14 compiles the loop to a back-edge that Linux 6.1 rejects. */
	RF_UNROLL
	for (int i = 0; i < RF_CHARGED_MAX; i++)
		if (i < slots)
			add_pending_to(lease, sums, slot[i], rf_lease_reason(lease, i), bank);
	return 0;
}

static long add_pending(void *map __attribute__((unused)), __u32 *key __attribute__((unused)),
			struct rf_lease_set *set, struct show *show)
{
	struct sums *sums = show->sums;

	for (int i = 0; i < RF_LEASE_WAYS; i++)
		if (set->way[i].packets && sums)
			add_pending_of(&set->way[i], sums, show->bank);
	return 0;
}

/* ---- stats ---- */

static long show_reason(__u32 reason, void *context)
{
	const struct show *show = context;
	const struct rf_count *sum;

	if (!show->sums || reason >= RF_REASON_COUNT)
		return 0;
	sum = &show->sums->reason[reason];
	BPF_SEQ_PRINTF(show->seq, "reason %s %llu %llu\n", reason_names[reason], sum->packets,
		       sum->bytes);
	return 0;
}

static long show_limit(__u32 slot, void *context)
{
	const struct show *show = context;
	struct seq_file *seq = show->seq;
	const struct rf_bank *bank = &config.bank[show->bank & 1];
	const char *name = bank->limit[slot % RF_LIMITS_MAX].name;
	const struct limit_sums *sums;

	if (!bank->policy[slot % RF_LIMITS_MAX].id || !show->sums)
		return 0;
	sums = &show->sums->limit[slot % RF_LIMITS_MAX];
	BPF_SEQ_PRINTF(seq, "limit %s passed %llu %llu\n", name, sums->passed.packets,
		       sums->passed.bytes);
	BPF_SEQ_PRINTF(seq, "limit %s dropped %llu %llu\n", name, sums->dropped.packets,
		       sums->dropped.bytes);
	BPF_SEQ_PRINTF(seq, "limit %s would_drop %llu %llu\n", name, sums->would_drop.packets,
		       sums->would_drop.bytes);
	return 0;
}

/*
 * Iterates over `counters`: one entry, then a last call without a value. The first call prints
 * everything. Counters are read before leases: counts that a lease flushes concurrently are missed
 * until the next read, and never counted twice.
 */
SEC("iter/bpf_map_elem")
int show_stats(struct bpf_iter__bpf_map_elem *ctx)
{
	struct show show = {.seq = ctx->meta->seq, .bank = bank_in_force()};

	if (!ctx->value)
		return 0;
	bpf_loop(READERS_MAX, take_sums, &show, 0);
	if (!show.sums)
		return 1;
	bpf_loop(RF_LIMITS_MAX, clear_limit, &show, 0);
	bpf_loop(possible_cpus, add_cpu_reasons, &show, 0);
	bpf_loop(possible_cpus * RF_LIMITS_MAX, add_cpu_limit, &show, 0);
	bpf_for_each_map_elem(&leases, add_pending, &show, 0);
	bpf_loop(RF_REASON_COUNT, show_reason, &show, 0);
	bpf_loop(RF_LIMITS_MAX, show_limit, &show, 0);
	__sync_lock_test_and_set(&show.sums->is_taken, 0);
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

/* NULL: the limit was deleted. */
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

/* ---- records ---- */

/*
 * The iterators of records iterate over this map: an entry without content for each part of the
 * slots. It is neither written nor read; the command line sets its size before it loads this.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} parts SEC(".maps");

/* The same for the sets of leases. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} lease_parts SEC(".maps");

#define SHOW_WINDOWS(name, seconds)                             \
	SEC("iter/bpf_map_elem")                                \
	int show_##name##4(struct bpf_iter__bpf_map_elem * ctx) \
	{                                                       \
		return show_windows(ctx, seconds, 0);           \
	}                                                       \
	SEC("iter/bpf_map_elem")                                \
	int show_##name##6(struct bpf_iter__bpf_map_elem * ctx) \
	{                                                       \
		return show_windows(ctx, seconds, 1);           \
	}

SHOW_WINDOWS(active, 4)
SHOW_WINDOWS(active64_, 64)
SHOW_WINDOWS(windows, ANY_AGE)

SEC("iter/bpf_map_elem")
int show_pending(struct bpf_iter__bpf_map_elem *ctx)
{
	return show_leases(ctx);
}
