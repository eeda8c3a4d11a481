// SPDX-License-Identifier: GPL-2.0
/*
 * The data path: frame → source → window → verdict. It passes whatever it cannot charge to a
 * source, counts every packet under one reason, and never answers XDP_ABORTED, which is a slow
 * path. Without a limit it observes: counts, and passes everything.
 */
#include <linux/bpf.h>
#include <linux/errno.h>

#include <bpf/bpf_helpers.h>

#include "lease.h"
#include "maps.h"
#include "ringfence/abi.h"
#include "ringfence/limiter.h"
#include "ringfence/packet.h"

/* The only read-only data there may be: readers look for it at offset 0. */
const volatile struct rf_rodata rf_rodata = {
	.magic = RF_ABI_MAGIC,
	.abi = RF_ABI_VERSION,
};

char gpl[] SEC("license") = "GPL";

/* What is stored before it is not stored after it by the compiler. */
#define BARRIER() __asm__ volatile("" : : : "memory")

/* A packet that the window is asked for. */
struct charge {
	const struct rf_who *who;
	struct rf_ask ask;
	const struct rf_policy *policy;
	struct rf_counters *sums;
};

static __always_inline __u64 read_jiffies(void)
{
	if (rf_rodata.injected_clock)
		return config.tick_ns ? config.injected_ns / config.tick_ns : 0;
	return bpf_jiffies64();
}

static __always_inline __u64 read_clock(const struct rf_policy *policy, __u64 jiffies)
{
	if (policy->clock == RF_JIFFIES)
		return jiffies;
	return rf_rodata.injected_clock ? config.injected_ns : bpf_ktime_get_ns();
}

/* ---- counters ---- */

static __always_inline void count(struct rf_count *sum, __u64 packets, __u64 bytes)
{
	sum->packets += packets;
	sum->bytes += bytes;
}

/* The counters stand beside the window's head, so they are in the same line. */
static __always_inline void count_source(struct rf_source *source, __u32 reason, __u64 packets)
{
	if (!source)
		return; /* evicted */
	if (reason == RF_UNDER_LIMIT)
		__sync_fetch_and_add(&source->passed, packets);
	else if (reason == RF_SHADOW_OVER)
		__sync_fetch_and_add(&source->would_drop, packets);
	else
		__sync_fetch_and_add(&source->dropped, packets);
}

static __always_inline void count_limit(__u32 slot, __u32 reason, __u64 packets, __u64 bytes)
{
	struct rf_limit_counters *limit = bpf_map_lookup_elem(&limit_counters, &slot);

	if (!limit)
		return;
	if (reason == RF_UNDER_LIMIT)
		count(&limit->passed, packets, bytes);
	else if (reason == RF_SHADOW_OVER)
		count(&limit->would_drop, packets, bytes);
	else
		count(&limit->dropped, packets, bytes);
}

/* ---- windows ---- */

static __always_inline enum rf_map_error insert_error(long err)
{
	switch (err) {
	case -EBUSY:
		return RF_INSERT_BUSY;
	case -ENOMEM:
		return RF_INSERT_NOMEM;
	case -E2BIG:
		return RF_INSERT_FULL;
	default:
		return RF_INSERT_OTHER;
	}
}

/* Leases are told of many inserts, not of each: that word is all CPUs'. */
static __always_inline void count_insert(const struct charge *charge)
{
	if ((++charge->sums->inserts & config.inserts_mask) == 0)
		__sync_fetch_and_add(&config.inserts, 1);
}

/* The key of a window, of either family. */
union key {
	struct rf_key4 v4;
	struct rf_key6 v6;
};

static __always_inline struct rf_source *find_source(const struct rf_who *who, __u32 id,
						     union key *key)
{
	struct rf_source *source;

	if (!rf_rules_are_ipv6(who->rules)) {
		key->v4.source = rf_who_word(who, 0);
		key->v4.limit_id = id;
		source = bpf_map_lookup_elem(&windows4, &key->v4);
		/* Else the compiler makes one look-up of both, in a map that it chooses before,
		 * and the kernel does not inline that, which costs 20 ns. */
		RF_OPAQUE(source);
		return source;
	}
	for (int i = 0; i < 4; i++)
		key->v6.source[i] = rf_who_word(who, i);
	key->v6.limit_id = id;
	return bpf_map_lookup_elem(&windows6, &key->v6);
}

/*
 * A newcomer's window, unless another CPU inserts one first; what goes wrong is counted. Not
 * inlined: a window on the stack is a third of what there is.
 */
static __attribute__((noinline)) int insert_source(const struct charge *charge, const void *key)
{
	struct rf_source fresh = {};
	long err;

	rf_window_start(&fresh.window, charge->policy, charge->ask.time);
	if (!rf_rules_are_ipv6(charge->who->rules))
		err = bpf_map_update_elem(&windows4, key, &fresh, BPF_NOEXIST);
	else
		err = bpf_map_update_elem(&windows6, key, &fresh, BPF_NOEXIST);
	if (!err)
		count_insert(charge);
	else if (err != -EEXIST)
		charge->sums->map_error[insert_error(err)]++;
	return !err || err == -EEXIST;
}

static __always_inline struct rf_source *find_or_insert(const struct charge *charge)
{
	union key key = {};
	struct rf_source *source = find_source(charge->who, charge->policy->id, &key);
	int stands;

	if (source)
		return source;
	stands = insert_source(charge, &key);
	source = find_source(charge->who, charge->policy->id, &key);
	if (!source && stands)
		charge->sums->map_error[RF_WINDOW_LOST]++;
	return source;
}

/*
 * The limiter's question, for all algorithms but the default one, as global functions: these the
 * verifier checks on their own, and not along every path that leads here. With all of them inlined
 * it would walk far over a million instructions; sliding is, since a call costs 8 to 12 ns.
 */
#define TAKE(algorithm)                                                                           \
	__attribute__((noinline)) int take_##algorithm(                                           \
		struct rf_window *window, const struct rf_policy *policy, __u64 time, __u32 cost) \
	{                                                                                         \
		if (!window || !policy)                                                           \
			return RF_UNDER; /* cannot be, but the verifier has to be told */         \
		return rf_take_##algorithm(window, policy, time, cost);                           \
	}

TAKE(weighted)
TAKE(bucket)

__attribute__((noinline)) int take_log(struct rf_window *window, const struct rf_policy *policy,
				       __u64 time)
{
	if (!window || !policy)
		return RF_UNDER;
	return rf_take_log(window, policy, time, 1);
}

static __always_inline int take(struct rf_window *window, const struct rf_policy *policy,
				const struct rf_ask *ask)
{
	if (rf_is_log(policy))
		return take_log(window, policy, ask->time);
	if (rf_is_bucket(policy))
		return take_bucket(window, policy, ask->time, ask->cost);
	if (rf_is_weighted(policy))
		return take_weighted(window, policy, ask->time, ask->cost);
	return rf_take_sliding(window, policy, ask->time, ask->cost);
}

/* ---- leases ---- */

/*
 * Where a lease of this CPU for that source may be; `place` tells where first. NULL: there are no
 * leases, or none for such a source.
 */
static __always_inline struct rf_lease_set *find_leases(const struct rf_who *who, __u32 cpu,
							__u32 *place)
{
	const __u32 shift = config.lease_shift;
	__u32 set;
	__u64 hash;

	if (!shift || who->source[1])
		return NULL;
	hash = rf_lease_hash(who->source[0], config.lease_key);
	*place = (cpu << (64 - shift & 63)) + (hash >> (shift & 63));
	set = *place / RF_LEASE_WAYS;
	return bpf_map_lookup_elem(&leases, &set);
}

/* The places of a set in the order in which they are tried: the two of a line one after the other.
 */
static __always_inline struct rf_lease *lease_at(struct rf_lease_set *set, __u32 place, int i)
{
	/* Masked last: the verifier of Linux 6.1 forgets all bounds at an XOR. */
	struct rf_lease *lease = &set->way[(place ^ i) % RF_LEASE_WAYS];

	RF_OPAQUE(lease); /* else it is reckoned again, from the index, where it is used */
	return lease;
}

/* Are its credits still those of a window that the LRU has not forgotten? */
static __always_inline int lease_is_live(const struct rf_lease *lease, __u64 jiffies)
{
	return rf_lease_is_live(lease, jiffies, config.inserts, config.lease_inserts);
}

/*
 * Adds what is pending to all counters, but for those that are another limit's or another window's
 * by now.
 */
static __always_inline void flush_lease(struct rf_lease *lease, __u32 generation)
{
	const struct rf_who who = {.source = {lease->source}, .rules = lease->rules};
	const struct rf_bank *bank = &config.bank[generation & 1];
	const __u32 slot = rf_rules_slot(who.rules);
	const struct rf_policy *policy = &bank->policy[slot];
	const __u32 packets = lease->packets, bytes = lease->bytes;
	__u32 reason = lease->reason, first = 0;
	struct rf_source *source = NULL;
	struct rf_counters *sums;
	union key key = {};

	RF_OPAQUE(reason); /* else it is loaded again, and the verifier has lost its bound */
	sums = bpf_map_lookup_elem(&counters, &first);
	if (!sums || reason >= RF_REASON_COUNT)
		return; /* cannot be, but the verifier has to be told */
	lease->packets = 0;
	lease->bytes = 0;
	BARRIER(); /* a reader misses them until they are counted, and never counts them twice */
	if (policy->id && rf_rules_are_since(who.rules, policy->born))
		source = find_source(&who, policy->id, &key);
	count(&sums->reason[reason], packets, bytes);
	count_source(source, reason, packets);
	if (policy->id && rf_rules_are_since(who.rules, bank->limit[slot].born))
		count_limit(slot, reason, packets, bytes);
}

/* Answers no more, and never again? */
static __always_inline int lease_is_over(const struct rf_lease *lease, __u32 generation,
					 __u64 jiffies)
{
	return !rf_rules_are_of(lease->rules, generation) || !lease_is_live(lease, jiffies);
}

/*
 * The lease for that source: its own, one that is over, or one that had its chance, since it has
 * answered nothing since another source wanted it; else NULL.
 */
static __always_inline struct rf_lease *choose_lease(const struct rf_who *who, __u32 generation,
						     __u64 jiffies)
{
	struct rf_lease *lease, *over = NULL;
	struct rf_lease_set *set;
	__u32 place;

	set = find_leases(who, bpf_get_smp_processor_id(), &place);
	if (!set)
		return NULL;
	for (int i = 0; i < RF_LEASE_WAYS; i++) {
		lease = lease_at(set, place, i);
		if (rf_lease_is_for(lease, who))
			return lease;
		if (!over && lease_is_over(lease, generation, jiffies))
			over = lease;
	}
	for (int i = 0; !over && i < RF_LEASE_WAYS; i++) {
		lease = lease_at(set, place, i);
		if (lease->wanted)
			over = lease;
		lease->wanted = 1;
	}
	return over;
}

/* Makes it that source's, with nothing pending. Credits of a window that may be gone are void. */
static __always_inline void clear_lease(struct rf_lease *lease, const struct rf_who *who,
					__u32 generation)
{
	const __u8 age = config.inserts - lease->inserts;

	if (lease->packets)
		flush_lease(lease, generation);
	if (!rf_lease_is_for(lease, who) || age >= config.lease_inserts) {
		lease->until = 0;
		BARRIER(); /* never another source's verdict under this one's name */
		*lease = (struct rf_lease){.source = who->source[0], .rules = who->rules};
	}
	lease->inserts = config.inserts;
}

/*
 * The window has answered: what the CPU may answer by itself from now on. Global for the verifier,
 * as above.
 */
__attribute__((noinline)) int lease_window(const struct rf_who *who, struct rf_window *window,
					   const struct rf_policy *policy, const struct rf_ask *ask,
					   int verdict)
{
	struct rf_lease *lease;
	__u32 generation;

	if (!who || !window || !policy || !ask)
		return 0;
	generation = who->rules >> 6;
	lease = choose_lease(who, generation, ask->jiffies);
	if (!lease)
		return 0;
	clear_lease(lease, who, generation);
	rf_lease_renew(lease, window, policy, ask, verdict);
	return 0;
}

/* ---- one packet ---- */

static __always_inline enum rf_reason reason_of(const struct rf_policy *policy, int verdict)
{
	if (verdict == RF_UNDER)
		return RF_UNDER_LIMIT;
	if (policy->flags & RF_SHADOW)
		return RF_SHADOW_OVER;
	return verdict == RF_OVER ? RF_OVER_LIMIT : RF_CONTENDED;
}

/*
 * The window's answer, counted. Not inlined: the path of a lease's answer stays short. Global for
 * the verifier, as above.
 */
__attribute__((noinline)) int ask_window(const struct rf_who *who, const struct rf_policy *policy,
					 __u64 jiffies, __u32 len_bytes)
{
	struct charge charge;
	struct rf_source *source;
	enum rf_reason reason = RF_MAP_ERROR;
	__u32 first = 0;
	int verdict;

	if (!who || !policy)
		return RF_MAP_ERROR;
	charge.sums = bpf_map_lookup_elem(&counters, &first);
	if (!charge.sums)
		return RF_MAP_ERROR;
	charge.who = who;
	charge.policy = policy;
	charge.ask.time = read_clock(policy, jiffies);
	charge.ask.jiffies = jiffies;
	charge.ask.tick_ns = config.tick_ns;
	charge.ask.cost = rf_cost(policy, len_bytes);
	source = find_or_insert(&charge);
	if (source) {
		verdict = take(&source->window, policy, &charge.ask);
		if (config.lease_shift && rf_lease_may_follow(policy, verdict))
			lease_window(who, &source->window, policy, &charge.ask, verdict);
		reason = reason_of(policy, verdict);
		count_source(source, reason, 1);
		count_limit(rf_rules_slot(who->rules), reason, 1, len_bytes);
	}
	count(&charge.sums->reason[reason], 1, len_bytes);
	return reason;
}

static __always_inline void set_source(struct rf_who *who, const struct rf_packet *packet,
				       int version, const struct rf_policy *policy)
{
	const __be32 *source = packet->source, *mask = policy->mask6;

	if (version == 4) {
		who->source[0] = source[0] & policy->mask4;
		who->source[1] = 0;
		return;
	}
	who->source[0] = (source[0] & mask[0]) | (__u64)(source[1] & mask[1]) << 32;
	who->source[1] = (source[2] & mask[2]) | (__u64)(source[3] & mask[3]) << 32;
}

/* Does a lease answer? Then it has counted the packet, and nothing but its line was touched. */
static __always_inline int lease_answers(const struct rf_who *who, __u32 cpu, __u64 jiffies,
					 __u32 cost, __u32 len_bytes, enum rf_reason *reason)
{
	struct rf_lease_set *set;
	struct rf_lease *lease;
	__u32 place;

	set = find_leases(who, cpu, &place);
	if (!set)
		return 0;
	for (int i = 0; i < RF_LEASE_WAYS; i++) {
		lease = lease_at(set, place, i);
		if (!rf_lease_is_for(lease, who))
			continue;
		if (!lease_is_live(lease, jiffies) || !rf_lease_answers(lease, cost, len_bytes))
			return 0;
		*reason = lease->reason;
		return 1;
	}
	return 0;
}

/* Charges the packet, and counts it. RF_REASON_COUNT: there is no limit to charge it to. */
static __always_inline enum rf_reason charge_packet(const struct rf_packet *packet, int version,
						    __u32 len_bytes)
{
	const struct rf_policy *policy;
	const struct rf_bank *bank;
	enum rf_reason reason;
	struct rf_who who;
	__u32 slot = 0, cpu;
	__u64 active, jiffies;

	/* First, since what is a call to the compiler costs it all its registers. */
	jiffies = read_jiffies();
	cpu = bpf_get_smp_processor_id();
	/* Read once: this packet keeps to the bank that is active now, whatever is switched. */
	active = rf_load(&config.active);
	bank = &config.bank[active & 1];
	if (!bank->match_any)
		return RF_REASON_COUNT;
	for (; slot < RF_LIMITS_MAX; slot++)
		if (bank->match_any >> slot & 1)
			break;
	if (slot == RF_LIMITS_MAX)
		return RF_REASON_COUNT;
	policy = &bank->policy[slot];
	set_source(&who, packet, version, policy);
	who.rules = rf_who_rules(active, slot, version == 6);
	who.reserved = 0;
	if (lease_answers(&who, cpu, jiffies, rf_cost(policy, len_bytes), len_bytes, &reason))
		return reason;
	return ask_window(&who, policy, jiffies, len_bytes);
}

static __always_inline int verdict_of(enum rf_reason reason)
{
	return reason >= RF_FIRST_DROP ? XDP_DROP : XDP_PASS;
}

static __always_inline int handle_frame(struct xdp_md *ctx, __u32 len_bytes)
{
	struct rf_counters *sums;
	struct rf_packet packet;
	enum rf_reason reason;
	__u32 first = 0;

	reason = rf_packet_parse((void *)(long)ctx->data, (void *)(long)ctx->data_end, &packet);
	if (reason == RF_HAS_SOURCE) {
		reason = packet.version == 4 ? charge_packet(&packet, 4, len_bytes)
					     : charge_packet(&packet, 6, len_bytes);
		if (reason != RF_REASON_COUNT)
			return verdict_of(reason);
		reason = RF_NO_LIMIT;
	}
	sums = bpf_map_lookup_elem(&counters, &first);
	if (!sums || reason >= RF_REASON_COUNT)
		return XDP_PASS; /* cannot be, but the verifier has to be told */
	count(&sums->reason[reason], 1, len_bytes);
	return verdict_of(reason);
}

SEC("xdp")
int ringfence(struct xdp_md *ctx)
{
	return handle_frame(ctx, ctx->data_end - ctx->data);
}

/* The same for frames in several buffers (jumbo MTU); its length helper came with it, in 5.18. */
SEC("xdp.frags")
int ringfence_frags(struct xdp_md *ctx)
{
	return handle_frame(ctx, bpf_xdp_get_buff_len(ctx));
}
