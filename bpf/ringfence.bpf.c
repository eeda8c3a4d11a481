// SPDX-License-Identifier: GPL-2.0
/*
 * The data path: frame → source → window → verdict. It passes whatever it cannot charge to a
 * source, counts every packet under one reason, and never answers XDP_ABORTED, which is a slow
 * path. Without a limit it observes: counts, and passes everything.
 */
#include <linux/bpf.h>
#include <linux/errno.h>

#include <bpf/bpf_helpers.h>

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

static __always_inline void count(struct rf_count *sum, __u64 len_bytes)
{
	sum->packets++;
	sum->bytes += len_bytes;
}

static __always_inline __u64 read_clock(const struct rf_config *config,
					const struct rf_policy *policy)
{
	if (rf_rodata.injected_clock) {
		if (policy->clock == RF_JIFFIES && config->tick_ns)
			return config->injected_ns / config->tick_ns;
		return config->injected_ns;
	}
	return policy->clock == RF_JIFFIES ? bpf_jiffies64() : bpf_ktime_get_ns();
}

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

/* A newcomer's window: the one that was inserted first, by whatever CPU. NULL: counted as error. */
static __always_inline struct rf_source *insert_source(void *windows, const void *key,
						       const struct rf_policy *policy, __u64 time,
						       struct rf_counters *counters)
{
	struct rf_source fresh = {};
	struct rf_source *source;
	long err;

	rf_window_start(&fresh.window, policy, time);
	err = bpf_map_update_elem(windows, key, &fresh, BPF_NOEXIST);
	if (err && err != -EEXIST)
		counters->map_error[insert_error(err)]++;
	source = bpf_map_lookup_elem(windows, key);
	if (!source && (!err || err == -EEXIST))
		counters->map_error[RF_WINDOW_LOST]++;
	return source;
}

static __always_inline struct rf_source *find_source(const struct rf_packet *packet,
						     const struct rf_policy *policy, __u64 time,
						     struct rf_counters *counters)
{
	struct rf_key6 key6 = {.limit_id = policy->id};
	struct rf_key4 key4 = {.limit_id = policy->id};
	struct rf_source *source;

	if (packet->version == 4) {
		key4.source = packet->source[0] & policy->mask4;
		source = bpf_map_lookup_elem(&windows4, &key4);
		if (source)
			return source;
		return insert_source(&windows4, &key4, policy, time, counters);
	}
	for (int i = 0; i < 4; i++)
		key6.source[i] = packet->source[i] & policy->mask6[i];
	source = bpf_map_lookup_elem(&windows6, &key6);
	if (source)
		return source;
	return insert_source(&windows6, &key6, policy, time, counters);
}

/*
 * The limiter's question, once for each algorithm, as global functions: these the verifier checks
 * on their own, and not along every path that leads here. Inlined, it would walk far over a million
 * instructions.
 */
#define TAKE(algorithm)                                                                           \
	__attribute__((noinline)) int take_##algorithm(                                           \
		struct rf_window *window, const struct rf_policy *policy, __u64 time, __u32 cost) \
	{                                                                                         \
		if (!window || !policy)                                                           \
			return RF_UNDER; /* cannot be, but the verifier has to be told */         \
		return rf_take_##algorithm(window, policy, time, cost);                           \
	}

TAKE(sliding)
TAKE(weighted)
TAKE(bucket)
TAKE(log)

static __always_inline int take(struct rf_window *window, const struct rf_policy *policy,
				__u64 time, __u32 cost)
{
	if (rf_is_log(policy))
		return take_log(window, policy, time, cost);
	if (rf_is_bucket(policy))
		return take_bucket(window, policy, time, cost);
	if (rf_is_weighted(policy))
		return take_weighted(window, policy, time, cost);
	return take_sliding(window, policy, time, cost);
}

/*
 * Counts the verdict for the source and for the limit. The source's counters share a line with its
 * head, so that a flood from one source is not free of shared writes here.
 */
static __always_inline enum rf_reason settle(struct rf_source *source, __u32 slot, int verdict,
					     int shadow, __u64 len_bytes)
{
	struct rf_limit_counters *limit = bpf_map_lookup_elem(&limit_counters, &slot);

	if (!limit)
		return RF_MAP_ERROR;
	if (verdict == RF_UNDER) {
		__sync_fetch_and_add(&source->passed, 1);
		count(&limit->passed, len_bytes);
		return RF_UNDER_LIMIT;
	}
	if (shadow) {
		__sync_fetch_and_add(&source->would_drop, 1);
		count(&limit->would_drop, len_bytes);
		return RF_SHADOW_OVER;
	}
	__sync_fetch_and_add(&source->dropped, 1);
	count(&limit->dropped, len_bytes);
	return verdict == RF_OVER ? RF_OVER_LIMIT : RF_CONTENDED;
}

static __always_inline enum rf_reason charge(const struct rf_packet *packet,
					     struct rf_counters *counters, __u64 len_bytes)
{
	__u32 slot = 0;
	const struct rf_config *rules = bpf_map_lookup_elem(&config, &slot);
	const struct rf_policy *policy;
	const struct rf_bank *bank;
	struct rf_source *source;
	__u64 time;

	if (!rules)
		return RF_MAP_ERROR;
	/* Read once: this packet keeps to the bank that is active now, whatever is switched. */
	bank = &rules->bank[rf_load(&rules->active) & 1];
	if (!bank->match_any)
		return RF_NO_LIMIT;
	for (; slot < RF_LIMITS_MAX; slot++)
		if (bank->match_any >> slot & 1)
			break;
	if (slot == RF_LIMITS_MAX)
		return RF_NO_LIMIT;
	policy = &bank->policy[slot];
	time = read_clock(rules, policy);
	source = find_source(packet, policy, time, counters);
	if (!source)
		return RF_MAP_ERROR;
	return settle(source, slot, take(&source->window, policy, time, rf_cost(policy, len_bytes)),
		      policy->flags & RF_SHADOW, len_bytes);
}

static __always_inline int handle_frame(struct xdp_md *ctx, __u64 len_bytes)
{
	__u32 first = 0;
	struct rf_counters *sums = bpf_map_lookup_elem(&counters, &first);
	struct rf_packet packet;
	enum rf_reason reason;

	if (!sums)
		return XDP_PASS;
	reason = rf_packet_parse((void *)(long)ctx->data, (void *)(long)ctx->data_end, &packet);
	if (reason == RF_HAS_SOURCE)
		reason = charge(&packet, sums, len_bytes);
	if (reason >= RF_REASON_COUNT)
		return XDP_PASS; /* cannot be, but the verifier has to be told */
	count(&sums->reason[reason], len_bytes);
	return reason >= RF_FIRST_DROP ? XDP_DROP : XDP_PASS;
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
