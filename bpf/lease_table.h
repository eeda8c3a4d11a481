/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The leases of this CPU: how the lease of a source is found, which source gets one, and how
 * pending counts are flushed to the counters. ringfence/lease.h defines which packets a lease may
 * handle.
 */
#ifndef RINGFENCE_LEASE_TABLE_H
#define RINGFENCE_LEASE_TABLE_H

#include "fleet.h"
#include "ringfence/lease_place.h"

/* Where the lease of one source can be, on this CPU. */
struct spot {
	__u32 place; /* of the lease that is tried first */
	__u32 tag;
};

/* False: leases are disabled, or this source cannot have one. */
static __always_inline int find_spot(const struct rf_who *who, struct spot *spot)
{
	const __u32 shift = config.lease_shift;
	__u64 hash;

	if (!shift || who->source[1])
		return 0;
	hash = rf_lease_hash(who->source[0], config.lease_key);
	spot->place = (bpf_get_smp_processor_id() << (64 - shift)) + (hash >> shift);
	spot->tag = rf_lease_tag(hash);
	return 1;
}

/* The tags of the set that contains `place`. */
static __always_inline __u64 *tags_at(__u32 place)
{
	__u32 set = place / RF_LEASE_WAYS;

	return bpf_map_lookup_elem(&lease_tags, &set);
}

static __always_inline struct rf_lease_set *set_at(__u32 place)
{
	__u32 set = place / RF_LEASE_WAYS;

	return bpf_map_lookup_elem(&leases, &set);
}

static __always_inline struct rf_lease *lease_at(struct rf_lease_set *set, __u32 way)
{
	/* Masked last: the verifier of Linux 6.1 forgets all bounds at an XOR. */
	struct rf_lease *lease = &set->way[way % RF_LEASE_WAYS];

	RF_OPAQUE(lease); /* otherwise the compiler recomputes it at each use */
	return lease;
}

static __always_inline int lease_is_live(const struct rf_lease *lease, __u64 jiffies)
{
	return rf_lease_is_live(lease, jiffies, tick_of(jiffies));
}

#define NO_WAY RF_LEASE_WAYS

/*
 * The way of the set that holds the source's lease, or a lease that it got under other rules,
 * if `any_rules`; NO_WAY: no lease.
 */
static __always_inline __u32 find_way(const struct rf_who *who, struct rf_lease_set *set,
				      const struct spot *spot, int any_rules)
{
	const __u64 *tags = tags_at(spot->place);
	__u64 places = tags ? rf_tags_find(*tags, spot->tag) : 0;

	for (int i = 0; places && i < RF_LEASE_WAYS; i++) {
		const __u32 way = rf_tags_first(places);

		const struct rf_lease *lease = lease_at(set, way);

		if (any_rules ? rf_lease_is_of(lease, who) : rf_lease_is_for(lease, who))
			return way;
		places &= places - 1;
	}
	return NO_WAY;
}

/* The source's lease, if it is not in the first place. */
static __always_inline struct rf_lease *
find_by_tags(const struct rf_who *who, struct rf_lease_set *set, const struct spot *spot)
{
	const __u32 way = find_way(who, set, spot, 0);

	return way == NO_WAY ? NULL : lease_at(set, way);
}

/*
 * The same, on the fast path. The tag is computed again: otherwise the hash would occupy a
 * register for every packet.
 */
static __always_inline struct rf_lease *find_again(const struct rf_who *who,
						   struct rf_lease_set *set, __u32 place)
{
	__u64 source = who->source[0];
	struct spot spot = {.place = place};

	RF_OPAQUE(spot.place);
	RF_OPAQUE(source);
	spot.tag = rf_lease_tag(rf_lease_hash(source, config.lease_key));
	return find_by_tags(who, set, &spot);
}

/*
 * Fast path: does a lease handle this packet? If so, it has counted the packet and touched only its
 * own cache line. Most leases are in the first place, where the tags need not be read.
 */
static __always_inline int lease_answers(const struct rf_who *who, __u32 cost, __u32 len_bytes,
					 int *is_drop)
{
	struct rf_lease_set *set;
	struct rf_lease *lease;
	struct spot spot;
	__u64 jiffies;

	if (!find_spot(who, &spot))
		return 0;
	set = set_at(spot.place);
	if (!set)
		return 0;
	lease = lease_at(set, spot.place);
	if (unlikely(!rf_lease_is_for(lease, who)))
		lease = find_again(who, set, spot.place);
	if (!lease)
		return 0;
	jiffies = read_jiffies();
	if (unlikely(!lease_is_live(lease, jiffies)) &&
	    !(rf_lease_next_frame(lease, jiffies) && lease_is_live(lease, jiffies)))
		return 0;
	if (!lease->has_credits && unlikely(read_pause(jiffies)))
		return 0; /* it might refuse, and refusals are counted as drops */
	if (!rf_lease_answers(lease, cost, len_bytes))
		return 0;
	*is_drop = lease->reason >= RF_FIRST_DROP;
	return 1;
}

/* ---- pending counts ---- */

/*
 * Adds pending counts to the counters of one limit and of the source's window under it, unless a
 * different limit now uses the slot or the id. `bank_and_slot`: {bank | slot:5}.
 */
__noinline int flush_limit(const struct rf_lease *lease, __u32 bank_and_slot, __u32 reason,
			   __u32 packets, __u32 bytes)
{
	const __u32 slot = bank_and_slot % RF_LIMITS_MAX;
	const struct rf_bank *bank = &config.bank[bank_and_slot / RF_LIMITS_MAX & 1];
	const struct rf_policy *policy = &bank->policy[slot];
	struct rf_source *source = NULL;
	__u64 address[2] = {};

	if (!lease || !policy->id)
		return 0;
	address[0] = lease->source;
	if (rf_rules_are_since(lease->rules, policy->since_generation))
		source = rf_rules_are_ipv6(lease->rules) ? find_source(address, policy, 1)
							 : find_source(address, policy, 0);
	count_source(source, policy, reason, packets, NOT_PAUSED);
	if (rf_rules_are_since(lease->rules, bank->limit[slot].since_generation))
		count_limit(policy, reason, packets, bytes, NOT_PAUSED);
	return 0;
}

/* Unconfirmed rules: the other bank still holds the previous rules. */
static __always_inline int is_unconfirmed(__u32 generation)
{
	const struct rf_bank *bank = &config.bank[generation & 1];

	return bank->deadline && bank->fallback == RF_FALL_BACK;
}

/*
 * Was the lease created under the rules of the inactive bank, and are those still complete? They
 * are while the active rules are unconfirmed, and after unconfirmed rules were rolled back.
 */
static __always_inline int is_of_other_bank(const struct rf_lease *lease, __u32 generation)
{
	const struct rf_bank *other = &config.bank[~generation & 1];

	if (rf_rules_bank(lease->rules) == (generation & 1) ||
	    !rf_rules_are_since(lease->rules, other->since_generation))
		return 0;
	return is_unconfirmed(generation) ||
	       rf_rules_are_of((generation + 1) << 9, (__u32)rf_load(&config.active));
}

/*
 * Adds pending counts to all counters, under the active rules, which `generation` names. If
 * unconfirmed rules were activated or rolled back since the lease counted, the rules of the lease
 * apply, whose windows can differ.
 */
__noinline int flush_lease(struct rf_lease *lease, __u32 generation)
{
	__u32 first = 0, bank, reason, packets, bytes;
	struct rf_counters *sums = bpf_map_lookup_elem(&counters, &first);

	if (!lease || !sums)
		return 0;
	if (is_of_other_bank(lease, generation))
		generation++; /* its lowest bit names that bank */
	bank = (generation & 1) * RF_LIMITS_MAX;
	packets = lease->packets;
	bytes = lease->bytes;
	reason = lease->reason;
	RF_OPAQUE(reason); /* otherwise it is loaded again, without its bound */
	if (reason >= RF_REASON_COUNT)
		return 0; /* cannot happen; for the verifier */
	lease->packets = 0;
	lease->bytes = 0;
	barrier(); /* readers can briefly miss them, but never count them twice */
	count(&sums->reason[reason], packets, bytes);
	if (!rf_lease_has_slots(lease))
		return 0;
	flush_limit(lease, bank + lease->slot0, rf_lease_reason(lease, 0), packets, bytes);
	if (lease->slot1 == lease->slot0)
		return 0;
	flush_limit(lease, bank + lease->slot1, rf_lease_reason(lease, 1), packets, bytes);
	if (lease->slot2 == lease->slot0)
		return 0;
	flush_limit(lease, bank + lease->slot2, rf_lease_reason(lease, 2), packets, bytes);
	if (lease->slot3 != lease->slot0)
		flush_limit(lease, bank + lease->slot3, rf_lease_reason(lease, 3), packets, bytes);
	return 0;
}

/*
 * Has the lease a loan that has not expired? A loan outlasts changes of the lists: until the bank
 * gets other limits, the windows count it.
 */
static __always_inline int lease_keeps_loan(const struct rf_lease *lease,
					    const struct question *question)
{
	const __u32 rules = question->who.rules;

	return rf_lease_has_loan(lease, question->jiffies) &&
	       (__s8)(lease->ends - tick_of(question->jiffies)) > 0 &&
	       (lease->rules == rules ||
		(rf_rules_bank(lease->rules) == rf_rules_bank(rules) &&
		 rf_rules_are_since(lease->rules, bank_of(question)->since_generation)));
}

/* Has the lease expired for good? */
static __always_inline int lease_is_over(const struct rf_lease *lease,
					 const struct question *question)
{
	return !lease_keeps_loan(lease, question) &&
	       (!rf_rules_are_of(lease->rules, rf_rules_generation(question->who.rules)) ||
		!lease_is_live(lease, question->jiffies));
}

#define NO_LEASE (~0U)

/*
 * Finds a lease that has handled no packet since another source last wanted it. Marks all leases
 * that it examines as wanted.
 */
static __always_inline __u32 take_turns(struct rf_lease_set *set, __u32 place)
{
	__u32 idle = NO_LEASE;

	for (int i = 0; idle == NO_LEASE && i < RF_LEASE_WAYS; i++) {
		struct rf_lease *lease = lease_at(set, place ^ i);

		if (lease->wanted)
			idle = place ^ i;
		lease->wanted = 1;
	}
	return idle;
}

static __always_inline __u32 place_of_way(const struct spot *spot, __u32 way)
{
	return (spot->place & ~(RF_LEASE_WAYS - 1U)) + way % RF_LEASE_WAYS;
}

/*
 * The place for the source's lease: its current one, else an expired one, else one that has handled
 * no packet since another source wanted it, else NO_LEASE. Not inlined, because flushing needs the
 * stack.
 */
__noinline __u32 choose_lease(const struct question *question)
{
	struct rf_lease_set *set;
	struct rf_lease *lease;
	struct spot spot;
	__u32 way;

	if (!question)
		return NO_LEASE;
	if (!find_spot(&question->who, &spot))
		return NO_LEASE;
	set = set_at(spot.place);
	if (!set)
		return NO_LEASE;
	way = find_way(&question->who, set, &spot, 1);
	if (way != NO_WAY)
		return place_of_way(&spot, way);
	for (int i = 0; i < RF_LEASE_WAYS; i++) {
		lease = lease_at(set, spot.place ^ i);
		if (lease_is_over(lease, question))
			return spot.place ^ i;
	}
	return take_turns(set, spot.place);
}

/* Sets the tag of a lease that now belongs to a different source. */
__noinline int tag_lease(const struct question *question, __u32 place)
{
	struct spot spot;
	__u64 *tags;

	if (!question || !find_spot(&question->who, &spot))
		return 0;
	tags = tags_at(place);
	if (tags)
		*tags = rf_tags_set(*tags, place, spot.tag);
	return 0;
}

static __always_inline struct rf_lease *lease_in(__u32 place)
{
	struct rf_lease_set *set = set_at(place);

	return set ? lease_at(set, place) : NULL;
}

/*
 * Creates a lease for the source, without pending counts. Returns its place, or NO_LEASE. Credits
 * expire when their window might have been evicted. Not inlined: flushing needs the stack.
 */
__noinline __u32 take_lease(const struct question *question)
{
	const struct rf_who *who;
	struct rf_lease *lease;
	__u32 place, tick;

	if (!question)
		return NO_LEASE;
	who = &question->who;
	tick = tick_of(question->jiffies);
	place = choose_lease(question);
	if (place == NO_LEASE)
		return NO_LEASE;
	lease = lease_in(place);
	if (!lease)
		return NO_LEASE;
	if (lease->packets)
		flush_lease(lease, rf_rules_generation(who->rules));
	if (rf_lease_is_of(lease, who) && lease_keeps_loan(lease, question)) {
		lease->rules = who->rules;
	} else if (!rf_lease_is_for(lease, who) || !rf_lease_is_fresh(lease, tick)) {
		lease->until = 0;
		barrier(); /* no source may use the verdict of another source */
		*lease = (struct rf_lease){.source = who->source[0], .rules = who->rules};
		tag_lease(question, place);
	}
	lease->ends = tick + question->lease_life;
	return place;
}

/* ---- a loan after a change of the lists ---- */

/* Is the lease for exactly these limits, a bit set of slots? */
static __always_inline int lease_has_limits(const struct rf_lease *lease, __u32 limits)
{
	return (1U << lease->slot0 | 1U << lease->slot1 | 1U << lease->slot2 |
		1U << lease->slot3) == limits;
}

/*
 * The lists have decided nothing about the packet, and question->limits apply. Does a loan from
 * before a change of the lists answer it? Then the lease has counted the packet, and is for the
 * active rules again. Otherwise each ban would end all loans.
 */
__noinline int loan_answers(const struct question *question)
{
	struct rf_lease_set *set;
	struct rf_lease *lease;
	struct spot spot;
	__u32 way;

	if (!question || !find_spot(&question->who, &spot))
		return 0;
	set = set_at(spot.place);
	if (!set)
		return 0;
	way = find_way(&question->who, set, &spot, 1);
	if (way == NO_WAY)
		return 0;
	lease = lease_at(set, way);
	if (!lease_keeps_loan(lease, question) || !lease_has_limits(lease, question->limits))
		return 0;
	lease->rules = question->who.rules;
	rf_lease_next_frame(lease, question->jiffies);
	return rf_lease_answers(lease, question->cost, question->len_bytes);
}

/* The same, if the lists have changed since the bank got its limits. */
static __always_inline int loan_continues(const struct question *question)
{
	return config.lease_shift && !HAS_SHARES &&
	       !rf_rules_are_of(question->who.rules, bank_of(question)->since_generation) &&
	       loan_answers(question);
}

/* ---- filling a lease from a verdict ---- */

/*
 * Will the windows outlast a loan, and all have let the packet pass? Only residents' windows do. In
 * a bank that bans all packets of a source, no lease passes packets for that long.
 */
static __always_inline int may_borrow(const struct question *question)
{
	return !HAS_SHARES && question->lease_life >= config.times.resident_lease &&
	       !bank_of(question)->lease_span && !question->over;
}

static __always_inline const struct rf_policy *policy_at(const struct question *question,
							 __u32 place)
{
	const __u32 slot = question->slot[place % RF_CHARGED_MAX] % RF_LIMITS_MAX;

	return &bank_of(question)->policy[slot];
}

/* Adds the terms of the window in that place. The verifier checks this separately, once. */
__noinline int add_terms(struct question *question, const struct rf_window *window, __u32 place)
{
	if (question && window)
		question->loan = rf_loan_terms_join(
			question->loan, rf_loan_terms(window, policy_at(question, place),
						      question->jiffies, question->cost));
	return 0;
}

__noinline int lend(const struct question *question, struct rf_window *window, __u32 place,
		    __u32 units)
{
	return question && window
		       ? rf_lend(window, policy_at(question, place), question->jiffies, units)
		       : 0;
}

/* The units to borrow for the lease in who.place, by question->loan; 0: none. */
__noinline __u32 wants_loan(const struct question *question)
{
	struct rf_lease *lease;

	if (!question || HAS_SHARES)
		return 0;
	lease = lease_in(question->who.place);
	if (!lease)
		return 0;
	if (!lease_has_limits(lease, question->limits))
		rf_lease_end(lease); /* other windows have lent its loan */
	return rf_lease_wants_loan(lease, question->loan, question->jiffies, question->cost);
}

__noinline int set_loan(const struct question *question)
{
	struct rf_lease *lease;

	if (!question || HAS_SHARES)
		return 0;
	lease = lease_in(question->who.place);
	if (!lease)
		return 0;
	rf_lease_set_slots(lease, question->slot, question->count);
	rf_lease_set_loan(lease, question->loan, question->jiffies, question->cost);
	return 1;
}

/* Borrows from the windows that were charged. False: no new loan. */
static __always_inline int borrow(const struct question *question,
				  struct rf_window *const window[RF_CHARGED_MAX])
{
	const __u32 units = wants_loan(question);

	if (!units)
		return 0;
	RF_UNROLL
	for (int i = 0; i < RF_CHARGED_MAX; i++)
		if (window[i] && !lend(question, window[i], i, units))
			return 0;
	return set_loan(question);
}

/*
 * The limits in question->slot have passed the packet. Takes a lease, if it is worth its cache
 * lines, and borrows for it. A window is NULL beyond the last limit, and for an exceeded shadow.
 * True: the source sends enough for credits, which lease_windows takes.
 */
__noinline int lease_passed(struct question *question, struct rf_window *first,
			    struct rf_window *second, struct rf_window *third,
			    struct rf_window *fourth)
{
	struct rf_window *const window[] = {first, second, third, fourth};

	if (!question)
		return 0;
	question->loan = (struct rf_loan_terms){.room = RF_LOAN_MAX, .period = 31, .is_busy = 1};
	RF_UNROLL
	for (int i = 0; i < RF_CHARGED_MAX; i++)
		if (window[i])
			add_terms(question, window[i], i);
	if (!question->loan.is_busy &&
	    (question->loan.room < question->cost || !may_borrow(question)))
		return 0;
	question->who.place = take_lease(question);
	if (question->who.place == NO_LEASE)
		return 0;
	if (!question->loan.is_busy)
		borrow(question, window);
	return question->loan.is_busy;
}

static __always_inline void set_slot(struct rf_lease *lease, __u32 slot)
{
	lease->slot0 = lease->slot1 = lease->slot2 = lease->slot3 = slot;
}

/* The class of the packet. */
static __always_inline const struct rf_packet_class *class_asked(const struct question *question)
{
	return &bank_of(question)->packet_class[rf_rules_packet_class(question->who.rules)];
}

/*
 * Lets the lease in who.place repeat the refusal of the limit in `slot`: the only one, or the one
 * that refused.
 */
__noinline int lease_refusal(const struct question *question, struct rf_window *window, __u32 slot)
{
	const struct rf_policy *policy;
	struct rf_lease *lease;

	if (!question || !window)
		return 0;
	slot %= RF_LIMITS_MAX;
	lease = lease_in(question->who.place);
	if (!lease)
		return 0;
	if (is_paused(question))
		return 0; /* after the pause the next packet can start a ban */
	policy = &bank_of(question)->policy[slot];
	set_slot(lease, slot);
	rf_lease_renew(lease, window, policy, &question->ask, RF_OVER,
		       bank_of(question)->lease_span);
	if (class_asked(question)->is_mixed) /* then costs of leases are in bytes */
		lease->threshold =
			policy->unit == RF_BYTES ? lease->threshold << policy->unit_shift : 0;
	return 0;
}

/* Can the lease hold credits in one unit under all limits that had room? */
static __always_inline int may_share_credits(const struct question *question,
					     const struct rf_bank *bank)
{
	const struct rf_packet_class *class =
		&bank->packet_class[rf_rules_packet_class(question->who.rules)];
	int may = !class->is_mixed;

	/* A shadow limit that refused this length can have room for a shorter packet. */
	if (question->over && class->unit == RF_BYTES)
		may = 0;
	RF_UNROLL
	for (__u32 i = 0; i < RF_CHARGED_MAX; i++) {
		const struct rf_policy *policy = &bank->policy[question->slot[i] % RF_LIMITS_MAX];

		if (i < question->count && !(question->over >> i & 1) &&
		    !rf_lease_may_hold_credits(policy))
			may = 0;
	}
	return may;
}

static __always_inline int all_are_over(const struct question *question)
{
	return question->over == (1U << question->count % 8) - 1;
}

/*
 * Fills the lease after several limits have passed the packet. A window is NULL beyond the last
 * limit, and for a shadow limit that is exceeded.
 */
__noinline int lease_windows(const struct question *question, struct rf_window *first,
			     struct rf_window *second, struct rf_window *third,
			     struct rf_window *fourth)
{
	struct rf_charged charged = {.window = {first, second, third, fourth}};
	const struct rf_bank *bank;
	struct rf_lease *lease;

	if (!question)
		return 0;
	bank = bank_of(question);
	lease = lease_in(question->who.place);
	if (!lease)
		return 0;
	rf_lease_set_slots(lease, question->slot, question->count);
	RF_UNROLL
	for (int i = 0; i < RF_CHARGED_MAX; i++)
		charged.policy[i] = policy_at(question, i);
	lease->over = question->over;
	lease->reason = question->over ? RF_SHADOW_OVER : RF_UNDER_LIMIT;
	if (all_are_over(question))
		rf_lease_repeat(lease, RF_SHADOW_OVER, question->cost - 1, question->until);
	else
		rf_lease_take_credits(lease, &charged, question->jiffies, question->cost,
				      question->until, bank->lease_span);
	return 0;
}

/*
 * The lease applies one verdict to all packets until `until`, in jiffies. `slot`: of the limit that
 * decided.
 */
__noinline int lease_answer(__u32 place, __u32 reason, __u64 until, __u32 slot)
{
	struct rf_lease *lease = lease_in(place);
	const struct rf_bank *bank;
	__u64 latest = RF_UNTIL_MAX;

	if (!lease)
		return 0;
	bank = &config.bank[rf_rules_bank(lease->rules)];
	/*
	 * A ban can be lifted, and a ban can start without a limit that applies: both verdicts
	 * expire soon.
	 */
	if (reason == RF_BANNED)
		latest = read_jiffies() + bank->ban_lease;
	else if (reason == RF_NO_LIMIT)
		latest = rf_lease_end_by(read_jiffies(), bank->lease_span);
	if (latest > RF_UNTIL_MAX)
		latest = RF_UNTIL_MAX;
	set_slot(lease, slot);
	lease->over = 1;
	rf_lease_repeat(lease, reason, 0, until < latest ? until : latest);
	return 0;
}

static __always_inline void lease_same_answer(const struct question *question, __u32 reason,
					      __u64 until, __u32 slot)
{
	const __u32 place = config.lease_shift ? take_lease(question) : NO_LEASE;

	if (place != NO_LEASE)
		lease_answer(place, reason, until, slot);
}

#endif /* RINGFENCE_LEASE_TABLE_H */
