/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fleet in the data path: one limit over many hosts. A source that has nearly used its limit on
 * this host requests more; an agent grants a share, see ringfence/share.h. No packet waits for it.
 * Without RF_WITH_SHARES none of this is in the program.
 */
#ifndef RINGFENCE_BPF_FLEET_H
#define RINGFENCE_BPF_FLEET_H

#include "windows.h"

#ifdef RF_WITH_SHARES

#include "ringfence/fleet_call.h"
#include "ringfence/share_ban.h"

static __always_inline struct rf_hearing *rf_hearing_of(__u32 incarnation)
{
	return &config.fleet.bucket[incarnation % RF_BUCKETS];
}

static __always_inline __u64 rf_hearing_now(void)
{
	return read_jiffies();
}

__noinline __u32 limit_to_lease(const struct rf_window *window, const struct rf_policy *policy)
{
	return window && policy ? rf_limit_of(window, policy) : 0;
}

__noinline __u32 limit_by_words(const struct rf_policy *policy, __u64 whose, __u64 given, __u64 now)
{
	return policy ? rf_limit_by_words(policy, whose, given, now) : 0;
}

/*
 * Requests for shares. Writer: the program. Reader: the agent of the fleet. When full: the request
 * is lost, the loss is counted, and the source repeats its request.
 */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RF_ASKS_BYTES);
} asks SEC(".maps");

#define HAS_SHARES 1

/* Once for each new window, so a call costs nothing that could be measured. */
__noinline __u32 bucket_of(__u64 first, __u64 second)
{
	return rf_bucket_by(config.fleet.key, first, second);
}

static __always_inline __u32 next_incarnation(__u32 bucket)
{
	return rf_incarnation(rf_fetch_add(&config.fleet.incarnations, 1), bucket);
}

/* A new window has no share, and a number that is unique within this fence. */
static __always_inline void start_share(struct rf_window *window, const struct question *question,
					const struct rf_policy *policy, int is_ipv6)
{
	__u64 masked[2];

	mask_source(masked, question->source, policy->mask4, policy->mask6, is_ipv6);
	window->share.given = rf_given(next_incarnation(bucket_of(masked[0], masked[1])), 0);
	window->share.whose = rf_whose(policy->tag, policy->first);
	window->share.lowered = 0;
	window->share.asked = 0;
	window->share.refused = 0;
}

__noinline int ask_for_more(const struct question *question, struct rf_source *source, __u32 slot)
{
	const struct rf_policy *policy;
	struct rf_fleet_ask *ask;
	__u64 given;
	int is_ipv6;

	if (!question || !source || !rf_may_ask(&source->window, question->jiffies, config.tick_ns))
		return 0;
	ask = bpf_ringbuf_reserve(&asks, sizeof(*ask), 0);
	if (!ask) {
		rf_fetch_add(&config.fleet.asks_lost, 1);
		return 0;
	}
	policy = &bank_of(question)->policy[slot % RF_LIMITS_MAX];
	is_ipv6 = rf_rules_are_ipv6(question->who.rules);
	given = rf_load(&source->window.share.given);
	mask_source(ask->source, question->source, policy->mask4, policy->mask6, is_ipv6);
	ask->time_ns = read_ns();
	ask->limit_id = policy->id;
	ask->tag = policy->tag;
	ask->incarnation = rf_given_incarnation(given);
	ask->used = rf_word_used(rf_load(&source->window.head));
	ask->share = rf_given_share(given);
	ask->is_ipv6 = is_ipv6;
	ask->passed = source->passed;
	ask->dropped = source->dropped;
	ask->received = rf_load(&source->received);
	bpf_ringbuf_submit(ask, 0);
	rf_fetch_add(&config.fleet.asks, 1);
	return 0;
}

/* As rf_take_present(). A call, as few packets come that near to the limit. */
__noinline int take_near(struct rf_window *window, const struct rf_policy *policy, __u64 head,
			 __u64 now, __u32 cost)
{
	return window && policy ? rf_take_present(window, policy, head, now, cost, 0) : RF_UNDER;
}

/* Takes from a window whose `head`, as read, is present. `is_near`: it might need more. */
static __always_inline int take_present(struct rf_window *window, const struct rf_policy *policy,
					__u64 head, __u64 now, const struct rf_ask *ask,
					int *is_near)
{
	const int verdict =
		rf_take_at_once(window, policy, now, (__u64)rf_word_used(head) + ask->cost,
				ask->cost, ask->jiffies);

	*is_near = verdict == RF_LATER;
	return *is_near ? take_near(window, policy, head, now, ask->cost) : verdict;
}

/* After the window has answered a packet of that source. */
static __always_inline void consider_asking(const struct question *question,
					    struct rf_source *source,
					    const struct rf_policy *policy, __u32 slot,
					    int is_refused)
{
	if (policy->flags & RF_FLEET &&
	    rf_wants_more(&source->window, policy,
			  is_refused ? ~0ULL : rf_word_used(rf_load(&source->window.head))))
		ask_for_more(question, source, slot);
}

/* The same of the limit in a place, see charge.h. */
static __always_inline void consider_asking_at(const struct question *question,
					       struct rf_source *source, int place, int is_refused)
{
	const __u32 slot = question->slot[place] % RF_LIMITS_MAX;

	consider_asking(question, source, &bank_of(question)->policy[slot], slot, is_refused);
}

__noinline int add_received(const struct question *question, struct rf_source *source,
			    const struct rf_policy *policy)
{
	if (question && source && policy)
		rf_received_count(&source->received, rf_cost(policy, question->len_bytes));
	return 0;
}

/* The window, not a lease, decided about a packet. To be called once for each packet. */
static __always_inline void count_received(const struct question *question,
					   struct rf_source *source, const struct rf_policy *policy)
{
	if (rf_bans_by_sum(policy))
		add_received(question, source, policy);
}

/* Can this packet, which the limit refused, start a ban? To be called once for each packet. */
__noinline int may_ban(const struct question *question, struct rf_source *source,
		       const struct rf_policy *policy)
{
	if (!question || !source || !policy || !rf_bans_by_sum(policy))
		return 1;
	return rf_share_is_over(&source->window, policy, question->jiffies,
				rf_cost(policy, question->len_bytes));
}

#else /* RF_WITH_SHARES */

#define HAS_SHARES 0

static __always_inline int take_present(struct rf_window *window, const struct rf_policy *policy,
					__u64 head, __u64 now, const struct rf_ask *ask,
					int *is_near)
{
	*is_near = 0;
	return rf_take_present(window, policy, head, now, ask->cost, ask->jiffies);
}

static __always_inline void start_share(struct rf_window *window, const struct question *question,
					const struct rf_policy *policy, int is_ipv6)
{
	(void)window, (void)question, (void)policy, (void)is_ipv6;
}

static __always_inline void consider_asking(const struct question *question,
					    struct rf_source *source,
					    const struct rf_policy *policy, __u32 slot,
					    int is_refused)
{
	(void)question, (void)source, (void)policy, (void)slot, (void)is_refused;
}

static __always_inline void consider_asking_at(const struct question *question,
					       struct rf_source *source, int place, int is_refused)
{
	(void)question, (void)source, (void)place, (void)is_refused;
}

static __always_inline void count_received(const struct question *question,
					   struct rf_source *source, const struct rf_policy *policy)
{
	(void)question, (void)source, (void)policy;
}

static __always_inline int may_ban(const struct question *question, struct rf_source *source,
				   const struct rf_policy *policy)
{
	(void)question, (void)source, (void)policy;
	return 1;
}

#endif /* RF_WITH_SHARES */

#endif /* RINGFENCE_BPF_FLEET_H */
