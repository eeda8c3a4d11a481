/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sampler: writes the start of one packet in many, with the reason of its verdict, for
 * captures. It is off unless a command enables it, and stops automatically.
 *
 * A packet's reason is recorded when it is counted, for this CPU, if the packet could be sampled. A
 * lease records nothing, because that would cost each packet; without a record, a lease handled the
 * packet, and is looked up again.
 */
#ifndef RINGFENCE_SAMPLE_H
#define RINGFENCE_SAMPLE_H

#include "lease_table.h"

/* The record: {slots of limits:32 | generation of the rules:23 | 0 | reason + 1:8}; 0: empty. */
static __always_inline __u64 note_of(__u32 reason, __u32 limits, __u32 generation)
{
	return (__u64)limits << 32 | (generation & 0x7fffff) << 9 | (reason + 1);
}

static __always_inline __u32 noted_reason(__u64 noted)
{
	return (noted & 0xff) - 1;
}

static __always_inline struct rf_sampler *find_sampler(void)
{
	__u32 first = 0;

	return bpf_map_lookup_elem(&samples, &first);
}

/* Did limits decide? */
static __always_inline int is_by_limits(__u32 reason)
{
	return reason == RF_UNDER_LIMIT || reason == RF_SHADOW_OVER || reason == RF_OVER_LIMIT ||
	       reason == RF_BANNED || reason == RF_CONTENDED || reason == RF_PAUSED ||
	       reason == RF_ESTABLISHED || reason == RF_PROVEN;
}

/* Of this CPU. NULL: it takes no samples. */
static __always_inline struct rf_sampling_count *find_count(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	if (cpu >= RF_SAMPLING_CPUS)
		return NULL;
	/* Else the address is computed before the comparison, which Linux 6.1 does not follow. */
	RF_OPAQUE(cpu);
	return &config.sampling_count[cpu];
}

/* Records the reason of the present packet's verdict, if that packet can be sampled. */
static __always_inline void note(__u64 noted)
{
	const struct rf_sampling_count *count = find_count();
	struct rf_sampler *sampler;

	if (!count || count->left)
		return;
	sampler = find_sampler();
	if (!sampler)
		return;
	sampler->noted = noted;
	sampler->asked = config.is_sampling;
}

/* Returns `reason`, to save the caller a register. */
__noinline int note_reason(__u32 reason)
{
	note(note_of(reason, 0, 0));
	return reason;
}

__noinline int note_answer(const struct question *question, __u32 reason)
{
	if (question)
		note(note_of(reason, is_by_limits(reason) ? question->limits : 0,
			     rf_rules_generation(question->who.rules)));
	return reason;
}

/* The limits for which a lease counts: the refusing limit, or all that were charged. */
static __always_inline __u32 limits_of_lease(const struct rf_lease *lease, __u32 reason)
{
	if (!is_by_limits(reason))
		return 0;
	return 1U << lease->slot0 | 1U << lease->slot1 | 1U << lease->slot2 | 1U << lease->slot3;
}

static __always_inline __u64 note_by_lease(const struct rf_who *who)
{
	struct rf_lease_set *set;
	struct rf_lease *lease;
	struct spot spot;
	__u32 reason;

	if (!find_spot(who, &spot))
		return 0;
	set = set_at(spot.place);
	if (!set)
		return 0;
	lease = lease_at(set, spot.place);
	if (!rf_lease_is_for(lease, who))
		lease = find_by_tags(who, set, &spot);
	if (!lease || !lease_is_live(lease, read_jiffies()))
		return 0;
	reason = lease->reason;
	return note_of(reason, limits_of_lease(lease, reason), rf_rules_generation(who->rules));
}

/*
 * Should this packet be sampled? Inlined, because a call for each packet would cost more than all
 * of this. Packets of any verdict are counted, without evaluating the verdict: if the selected
 * packet has a verdict that was not requested, no packet is sampled, so all have the same chance.
 */
static __always_inline int is_due(void)
{
	struct rf_sampling_count *count = find_count();

	if (!count)
		return 0;
	if (!count->left)
		return 1;
	count->left--;
	return 0;
}

/*
 * How many packets to skip: random, up to twice the mean. A sender of packets at regular positions
 * can neither avoid sampling nor get more than its share.
 */
static __always_inline __u32 draw_gap(void)
{
	const __u32 one_in = config.sampling.one_in, slices = config.sampling.slices ?: 1;

	return ((2ULL * one_in - slices) * bpf_get_prandom_u32() >> 32) / slices;
}

#define NOT_ASKED_FOR (1 << 8) /* no note has this bit */

/*
 * Starts counting to the next sample. Returns the record, or NOT_ASKED_FOR. Past the deadline it
 * stops the sampling.
 */
__noinline __u64 count_again(__u32 verdict)
{
	struct rf_sampling_count *count = find_count();
	struct rf_sampler *sampler = find_sampler();
	const __u32 asked = config.is_sampling;
	__u64 noted;

	if (!sampler || !count)
		return NOT_ASKED_FOR;
	noted = sampler->asked == asked ? sampler->noted : 0;
	sampler->noted = 0;
	count->left = draw_gap();
	if (read_jiffies() >= rf_load(&config.sampling.deadline)) {
		config.is_sampling = 0;
		return NOT_ASKED_FOR;
	}
	return asked & (verdict == XDP_PASS ? RF_SAMPLE_PASSED : RF_SAMPLE_DROPPED) ? noted
										    : NOT_ASKED_FOR;
}

/*
 * Does the record belong to this packet? Otherwise it belongs to an earlier one, whose verdict was
 * not requested.
 */
static __always_inline int is_of_verdict(__u64 noted, int verdict)
{
	return noted && (noted_reason(noted) >= RF_FIRST_DROP) == (verdict != XDP_PASS);
}

static __always_inline int is_asked_for(__u64 noted)
{
	return config.sampling.reasons >> (noted_reason(noted) & 31) & 1;
}

/*
 * Returns the number of bytes. Copies two bytes at a time, the alignment of Ethernet frames. If it
 * knows `from`, a compiler can start the loop before the frame, which Linux 7.3 rejects.
 */
static __always_inline __u32 copy_frame(__u8 *to, struct xdp_md *ctx)
{
	const __u8 *from = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	__u32 at;

	for (at = 0; at < RF_SAMPLE_BYTES; at += 2) {
		RF_OPAQUE(from);
		if (from + 2 > end)
			break;
		*(__u16 *)&to[at] = *(const __u16 *)from;
		from += 2;
	}
	if (at >= RF_SAMPLE_BYTES || from + 1 > end)
		return at;
	to[at] = *from;
	return at + 1;
}

/* The same of a frame in several buffers. */
static __always_inline __u32 copy_frags(__u8 *to, struct xdp_md *ctx, __u32 len_bytes)
{
	__u64 last = (len_bytes < RF_SAMPLE_BYTES ? len_bytes : RF_SAMPLE_BYTES) - 1ULL;

	RF_OPAQUE(last);
	if (last >= RF_SAMPLE_BYTES)
		return 0; /* cannot happen; Linux 6.1 does not follow a comparison with 0 */
	RF_OPAQUE(last);
	return bpf_xdp_load_bytes(ctx, 0, to, last + 1) ? 0 : last + 1;
}

/* The CPU numbers its samples. A compare-and-swap orders the accesses before and after it. */
static __always_inline void write_sample(struct xdp_md *ctx, __u64 noted, __u32 len_bytes,
					 int is_in_frags)
{
	struct rf_sampler *sampler = find_sampler();
	struct rf_sample *sample;
	__u64 number;

	if (!sampler)
		return;
	number = sampler->taken + 1;
	sample = &sampler->sample[sampler->taken % RF_SAMPLES];
	rf_cas(&sample->begun, sample->begun, number);
	sample->time_ns = read_ns();
	sample->len_bytes = len_bytes;
	sample->interface = ctx->ingress_ifindex;
	sample->limits = noted >> 32;
	sample->generation = noted >> 9 & 0x7fffff;
	sample->reason = noted_reason(noted);
	sample->captured = is_in_frags ? copy_frags(sample->frame, ctx, len_bytes)
				       : copy_frame(sample->frame, ctx);
	rf_cas(&sample->done, sample->done, number);
	sampler->taken = number;
}

#endif /* RINGFENCE_SAMPLE_H */
