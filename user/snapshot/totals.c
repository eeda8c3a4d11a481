// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fence/pending.h"
#include "rules/policy.h"
#include "schema/reasons.h"
#include "snapshot/totals.h"

static void add_count(struct rf_count *sum, const struct rf_count *count)
{
	sum->packets += count->packets;
	sum->bytes += count->bytes;
}

void rf_counters_sum(const struct rf_counters *counters, struct rf_count *passed,
		     struct rf_count *dropped)
{
	for (int i = 0; i < RF_REASON_COUNT; i++)
		add_count(rf_reason_is_drop(i) ? dropped : passed, &counters->reason[i]);
}

static void sum_up(struct rf_fence_sums *sums)
{
	sums->passed = sums->dropped = (struct rf_count){};
	sums->map_errors = 0;
	rf_counters_sum(&sums->counters, &sums->passed, &sums->dropped);
	for (int i = 0; i < RF_MAP_ERROR_COUNT; i++)
		sums->map_errors += sums->counters.map_error[i];
	sums->would_drop = sums->counters.reason[RF_SHADOW_OVER];
}

int rf_fence_sums_read(const struct rf_fence *fence, const struct rf_bank *rules,
		       struct rf_fence_sums *sums, struct rf_leases *leases, struct rf_error *error)
{
	int err;

	*sums = (struct rf_fence_sums){};
	err = rf_fence_all_counters(fence, rules, &sums->counters, sums->limit, leases, error);
	if (!err)
		err = rf_fence_by_interface(fence, &sums->interfaces, error);
	if (err)
		return err;
	sum_up(sums);
	for (int family = 0; family < 2; family++) {
		sums->used[family] = rf_counters_windows(&sums->counters, family);
		sums->residents[family] = rf_fence_residents(fence, family);
	}
	sums->residents_max = rf_fence_residents_max(fence);
	return 0;
}

static int read_all(struct rf_totals *totals, struct rf_error *error)
{
	struct rf_leases leases = {};
	int err = rf_fence_bank(totals->fence, &totals->rules, error);

	if (!err)
		err = rf_fence_sums_read(totals->fence, &totals->rules, &totals->all, &leases,
					 error);
	rf_leases_free(&leases);
	return err;
}

static void subtract_baseline(struct rf_totals *totals)
{
	struct rf_fence_sums *since = &totals->since;

	*since = totals->all;
	rf_baseline_subtract(&totals->base, &since->counters);
	rf_baseline_subtract_interfaces(&totals->base, &since->interfaces);
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		rf_baseline_subtract_limit(&totals->base, &totals->rules.policy[slot],
					   &since->limit[slot]);
	sum_up(since);
}

static void take_limits(struct rf_totals *totals)
{
	int slots[RF_LIMITS_MAX];

	totals->limits = rf_bank_slots(&totals->rules, slots);
	for (int i = 0; i < totals->limits; i++)
		totals->limit[i] = (struct rf_limit_totals){&totals->rules.limit[slots[i]],
							    totals->since.limit[slots[i]]};
}

static void take_windows(struct rf_totals *totals)
{
	for (int family = 0; family < 2; family++)
		totals->windows[family] = (struct rf_window_totals){
			.made = totals->since.counters.inserts[family],
			.evicted = totals->since.counters.evictions[family],
			.used = totals->all.used[family],
			.residents = totals->all.residents[family],
		};
}

static int take_interfaces(struct rf_totals *totals, struct rf_error *error)
{
	const struct rf_fence *fence = totals->fence;
	const struct rf_interface_counters sums = {totals->since.passed, totals->since.dropped};
	const struct rf_by_interface *apart = &totals->since.interfaces;

	totals->interface = calloc(fence->interfaces + 1, sizeof(*totals->interface));
	if (!totals->interface)
		return rf_error_failed(error, -ENOMEM, "fence '%s': %s", fence->name,
				       strerror(ENOMEM));
	for (int i = 0; i < fence->interfaces; i++)
		totals->interface[i] = (struct rf_interface_totals){
			&fence->interface[i],
			rf_by_interface_of(fence, apart, fence->interface[i].index)};
	totals->is_apart = apart->is_counted;
	totals->rest = rf_by_interface_rest(fence, apart, &sums);
	return 0;
}

int rf_totals_read(const struct rf_fence *fence, bool from_attach, struct rf_totals *totals,
		   struct rf_error *error)
{
	int err;

	*totals = (struct rf_totals){.fence = fence};
	err = read_all(totals, error);
	if (err)
		return err;
	if (!from_attach)
		rf_fence_baseline(fence, &totals->base);
	subtract_baseline(totals);
	take_windows(totals);
	take_limits(totals);
	return take_interfaces(totals, error);
}

void rf_totals_free(struct rf_totals *totals)
{
	free(totals->interface);
	totals->interface = NULL;
}

/* ---- rates ---- */

/*
 * The later reading can be lower: packets that a lease is handing over to a counter can be missing
 * in it.
 */
static double rate(uint64_t before, uint64_t now, double seconds)
{
	return now > before ? (now - before) / seconds : 0;
}

static double packet_rate(const struct rf_count *before, const struct rf_count *now, double seconds)
{
	return rate(before->packets, now->packets, seconds);
}

static double bit_rate(const struct rf_count *before, const struct rf_count *now, double seconds)
{
	return rate(before->bytes, now->bytes, seconds) * 8;
}

/* From the attach on: a reset between the readings is no matter. */
static void add_interface(const struct rf_totals *before, const struct rf_totals *now,
			  const struct rf_interface *interface, struct rf_rates *rates)
{
	const struct rf_interface_counters *then =
		rf_by_interface_of(now->fence, &before->all.interfaces, interface->index);
	const struct rf_interface_counters *here =
		rf_by_interface_of(now->fence, &now->all.interfaces, interface->index);
	struct rf_interface_rates *to = &rates->interface[rates->interfaces];
	const double seconds = rates->seconds;

	if (!then || !here || rates->interfaces == RF_INTERFACE_PLACES)
		return;
	to->interface = interface;
	to->packets.passed = packet_rate(&then->passed, &here->passed, seconds);
	to->packets.dropped = packet_rate(&then->dropped, &here->dropped, seconds);
	to->bits.passed = bit_rate(&then->passed, &here->passed, seconds);
	to->bits.dropped = bit_rate(&then->dropped, &here->dropped, seconds);
	rates->interfaces++;
}

void rf_rates_between(const struct rf_totals *before, const struct rf_totals *now, double seconds,
		      struct rf_rates *rates)
{
	const struct rf_fence_sums *then = &before->all, *here = &now->all;

	*rates = (struct rf_rates){
		.seconds = seconds,
		.packets = {packet_rate(&then->passed, &here->passed, seconds),
			    packet_rate(&then->dropped, &here->dropped, seconds),
			    packet_rate(&then->would_drop, &here->would_drop, seconds)},
		.bits = {bit_rate(&then->passed, &here->passed, seconds),
			 bit_rate(&then->dropped, &here->dropped, seconds),
			 bit_rate(&then->would_drop, &here->would_drop, seconds)},
		.is_apart = here->interfaces.is_counted,
		.map_errors = here->map_errors - then->map_errors,
	};
	for (int i = 0; i < RF_REASON_COUNT; i++)
		rates->reason[i] =
			packet_rate(&then->counters.reason[i], &here->counters.reason[i], seconds);
	for (int i = 0; i < now->fence->interfaces && rates->is_apart; i++)
		add_interface(before, now, &now->fence->interface[i], rates);
}
