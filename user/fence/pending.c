// SPDX-License-Identifier: GPL-2.0
/*
 * The pending packets in leases: a CPU has answered these packets by itself, and has not added them
 * to any counter yet. Readers add them to the sums.
 *
 * A reader reads the counters first, and then the leases. Packets of a lease that is flushed in
 * between are missing from that sum, and included in the next one. So sums are never too high, and
 * they are exact once traffic stops.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/sort.h"
#include "base/units.h"
#include "fence/pending.h"
#include "fence/private.h"
#include "schema/reasons.h"

/* ---- the leases of a CPU ---- */

/* log2 of the leases of one CPU; 0: none. */
static unsigned int leases_bits(const struct rf_fence *fence)
{
	int cpus = libbpf_num_possible_cpus();
	unsigned int bits = 0;

	if (cpus <= 0 || fence->leases / cpus < RF_LEASES_LEAST)
		return 0;
	while (2ULL << bits <= fence->leases / cpus)
		bits++;
	return bits;
}

/* ---- slots ---- */

#define TICK_NS_LEAST 500000000ULL /* a slot's tick: the least power of two of jiffies over it */
#define YOUNG_FOR_NS (10 * RF_NS_PER_S)
#define YOUNG_IDLE_NS (2 * RF_NS_PER_S)
#define RESIDENT_IDLE_NS (60 * RF_NS_PER_S)
#define YOUNG_LEASE_NS RF_NS_PER_S
#define RESIDENT_LEASE_NS (16 * RF_NS_PER_S)
#define RESIDENT_TOUCH_NS (8 * RF_NS_PER_S)
#define RESIDENTS_SHARE 8 /* residents never take this part, 1/8, of the slots */

static uint32_t slot_ticks(uint64_t time_ns, uint64_t tick_ns)
{
	return time_ns / tick_ns + (time_ns % tick_ns > tick_ns / 2);
}

static void set_slot_times(struct rf_slot_times *times, uint32_t jiffy_ns, uint32_t slots)
{
	uint64_t tick_ns = jiffy_ns;

	*times = (struct rf_slot_times){.residents_max = slots - slots / RESIDENTS_SHARE};
	for (; tick_ns < TICK_NS_LEAST; tick_ns *= 2)
		times->tick_shift++;
	times->young_for = slot_ticks(YOUNG_FOR_NS, tick_ns);
	times->young_idle = slot_ticks(YOUNG_IDLE_NS, tick_ns);
	/* A resident's last touch may be so much older than its last packet. */
	times->resident_touch = slot_ticks(RESIDENT_TOUCH_NS, tick_ns);
	times->resident_idle = slot_ticks(RESIDENT_IDLE_NS, tick_ns) + times->resident_touch;
	times->young_lease = slot_ticks(YOUNG_LEASE_NS, tick_ns);
	times->resident_lease = slot_ticks(RESIDENT_LEASE_NS, tick_ns);
}

/* By the golden ratio, so that two slots that are looked at in turn are far apart. */
static uint32_t slot_stride(uint32_t slots)
{
	uint32_t stride = (uint32_t)(slots * 0.618) | 1;

	return stride < slots ? stride : 1;
}

static void set_slots(struct rf_config *config, const struct rf_fence *fence)
{
	const uint32_t lines = fence->known_filter_lines;

	set_slot_times(&config->times, config->tick_ns, fence->sources);
	config->slot_stride = slot_stride(fence->sources);
	/* A filter of one line would need a shift by 64 bits, so such a filter is not used. */
	if (lines > 1)
		config->known_filter_shift = 64 - (31 - __builtin_clz(lines));
	__atomic_store_n(&config->slots, fence->sources, __ATOMIC_RELEASE);
}

int rf_fence_make_leases(struct rf_fence *fence, struct rf_error *error)
{
	struct rf_config *config = fence->config;
	unsigned int bits = leases_bits(fence);
	__u64 key[3];

	if (config->slots) /* this function sets it last */
		return 0;
	if (getrandom(key, sizeof(key), 0) != sizeof(key))
		return rf_error_failed(error, -errno, "cannot get a random key: %s",
				       strerror(errno));
	for (int i = 0; i < 3; i++)
		config->lease_key[i] = key[i] | 1; /* odd, and so never 0, which would be no key */
	if (bits)
		__atomic_store_n(&config->lease_shift, 64 - bits, __ATOMIC_RELEASE);
	set_slots(config, fence);
	return 0;
}

/* ---- which limits they count for ---- */

/*
 * Does the lease count for the limit that has `slot` now? Not if another limit had the slot when
 * the lease was made. The program decides in the same way.
 */
static bool is_of_limit(const struct rf_lease *lease, const struct rf_bank *bank, uint32_t slot)
{
	return bank->policy[slot].id &&
	       rf_rules_are_since(lease->rules, bank->limit[slot].since_generation);
}

/*
 * The bank of a failed trial, if the lease was made under the trial's rules; else NULL. The trial
 * has later generations than the rules in force, but may have had other windows.
 */
static const struct rf_bank *fallen_rules(const struct rf_fence *fence,
					  const struct rf_standing *standing,
					  const struct rf_lease *lease)
{
	const struct rf_bank *trial = &fence->config->bank[standing->active & 1];

	if (standing->state != RF_FELL_BACK ||
	    rf_rules_bank(lease->rules) != (standing->active & 1) ||
	    !rf_rules_are_since(lease->rules, trial->since_generation))
		return NULL;
	return trial;
}

static bool is_of_windows(const struct rf_lease *lease, const struct rf_bank *bank,
			  const struct rf_bank *fallen, uint32_t slot)
{
	if (fallen && fallen->policy[slot].id != bank->policy[slot].id)
		return false;
	return bank->policy[slot].id &&
	       rf_rules_are_since(lease->rules, bank->policy[slot].since_generation);
}

static void add(struct rf_count *sum, const struct rf_lease *lease)
{
	sum->packets += lease->packets;
	sum->bytes += lease->bytes;
}

/* ---- counters ---- */

void rf_leases_add_counters(const struct rf_leases *leases, struct rf_counters *sum)
{
	for (size_t i = 0; i < leases->count; i++)
		add(&sum->reason[rf_answer_reason(leases->of[i].answer)], &leases->of[i]);
}

static void add_limit(const struct rf_lease *lease, enum rf_reason reason,
		      struct rf_limit_counters *sum)
{
	if (rf_reason_is_drop(reason))
		add(&sum->dropped, lease);
	else if (reason == RF_SHADOW_OVER)
		add(&sum->would_drop, lease);
	else
		add(&sum->passed, lease);
}

void rf_leases_add_limits(const struct rf_leases *leases, const struct rf_bank *bank,
			  struct rf_limit_counters sum[RF_LIMITS_MAX])
{
	__u32 slot[RF_CHARGED_MAX];

	for (size_t i = 0; i < leases->count; i++) {
		const struct rf_lease *lease = &leases->of[i];
		const int count = rf_lease_slots(lease, slot);

		for (int j = 0; j < count; j++)
			if (is_of_limit(lease, bank, slot[j]))
				add_limit(lease, rf_lease_reason(lease, j), &sum[slot[j]]);
	}
}

/* ---- by source ---- */

static void pack_address(const struct rf_address *address, __u64 source[2])
{
	for (int i = 0; i < 2; i++)
		source[i] = address->word[2 * i] | (uint64_t)address->word[2 * i + 1] << 32;
}

static uint64_t mask_source(uint64_t source, const struct rf_policy *policy, bool is_ipv6)
{
	if (!is_ipv6)
		return source & policy->mask4;
	return source & (policy->mask6[0] | (uint64_t)policy->mask6[1] << 32);
}

static int compare_rows(const void *a, const void *b)
{
	const struct rf_pending_row *left = a, *right = b;

	if (left->source != right->source)
		return left->source < right->source ? -1 : 1;
	if (left->slot != right->slot)
		return (int)left->slot - (int)right->slot;
	return (int)left->is_ipv6 - (int)right->is_ipv6;
}

static int add_row(struct rf_pending *pending, const struct rf_pending_row *row)
{
	if (pending->count == pending->capacity) {
		size_t capacity = pending->capacity ? pending->capacity * 2 : 1024;
		struct rf_pending_row *grown = reallocarray(pending->row, capacity, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		pending->row = grown;
		pending->capacity = capacity;
	}
	pending->row[pending->count++] = *row;
	return 0;
}

/* Adds a row for each limit of a lease, since the lease counts for one window of each. */
static int add_rows(struct rf_pending *pending, const struct rf_lease *lease,
		    const struct rf_bank *bank, const struct rf_bank *fallen)
{
	const bool is_ipv6 = rf_rules_are_ipv6(lease->rules);
	__u32 slots[RF_CHARGED_MAX];
	int count = rf_lease_slots(lease, slots), err = 0;

	for (int i = 0; i < count && !err; i++) {
		struct rf_pending_row row = {
			.source = mask_source(lease->source, &bank->policy[slots[i]], is_ipv6),
			.packets = lease->packets,
			.slot = slots[i],
			.is_ipv6 = is_ipv6,
			.reason = rf_lease_reason(lease, i),
		};

		if (is_of_windows(lease, bank, fallen, slots[i]))
			err = add_row(pending, &row);
	}
	return err;
}

int rf_leases_list(const struct rf_fence *fence, const struct rf_leases *leases,
		   const struct rf_bank *bank, struct rf_pending *pending)
{
	const struct rf_standing standing = rf_fence_standing(fence);
	int err = 0;

	*pending = (struct rf_pending){};
	for (size_t i = 0; i < leases->count && !err; i++)
		err = add_rows(pending, &leases->of[i], bank,
			       fallen_rules(fence, &standing, &leases->of[i]));
	if (!err && pending->count)
		rf_sort(pending->row, pending->count, sizeof(*pending->row), compare_rows);
	return err;
}

int rf_leases_snapshot(const struct rf_fence *fence, const struct rf_bank *bank,
		       struct rf_pending *pending)
{
	struct rf_leases leases;
	int err = rf_leases_read(fence, &leases);

	*pending = (struct rf_pending){};
	if (!err)
		err = rf_leases_list(fence, &leases, bank, pending);
	rf_leases_free(&leases);
	return err;
}

void rf_leases_add_source(const struct rf_pending *pending, const struct rf_address *source,
			  const struct rf_bank *bank, int slot, struct rf_source *state)
{
	struct rf_pending_row key = {.slot = slot, .is_ipv6 = source->version == 6};
	const struct rf_pending_row *end = pending->row + pending->count, *found;
	__u64 words[2];

	pack_address(source, words);
	key.source = words[0];
	/* A lease tells sources apart by a /64 at most: longer ones have no leases. */
	if (!pending->count || words[1])
		return;
	found = rf_search(&key, pending->row, pending->count, sizeof(key), compare_rows);
	while (found && found > pending->row && !compare_rows(found - 1, &key))
		found--;
	for (; found && found < end && !compare_rows(found, &key); found++) {
		if (rf_reason_is_drop(found->reason))
			state->dropped += found->packets;
		else if (found->reason != RF_SHADOW_OVER)
			state->passed += found->packets;
		else if (!bank->policy[slot].ban)
			state->would_drop += found->packets;
	}
}
