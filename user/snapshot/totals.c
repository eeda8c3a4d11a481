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
	rf_counters_sum(&sums->counters, &sums->passed, &sums->dropped);
	for (int i = 0; i < RF_MAP_ERROR_COUNT; i++)
		sums->map_errors += sums->counters.map_error[i];
	sums->would_drop = sums->counters.reason[RF_SHADOW_OVER];
}

/* Counters first, then leases: these are read once, for the reasons and for the limits. */
static int read_counters(struct rf_totals *totals, struct rf_limit_counters counted[RF_LIMITS_MAX],
			 struct rf_error *error)
{
	struct rf_leases leases = {};
	int err = rf_fence_bank(totals->fence, &totals->rules, error);

	if (!err)
		err = rf_fence_all_counters(totals->fence, &totals->rules, &totals->all.counters,
					    counted, &leases, error);
	rf_leases_free(&leases);
	return err;
}

static void take_limits(struct rf_totals *totals,
			const struct rf_limit_counters counted[RF_LIMITS_MAX])
{
	int slots[RF_LIMITS_MAX];

	totals->limits = rf_bank_slots(&totals->rules, slots);
	for (int i = 0; i < totals->limits; i++) {
		struct rf_limit_totals *one = &totals->limit[i];

		one->limit = &totals->rules.limit[slots[i]];
		one->counted = counted[slots[i]];
		rf_baseline_subtract_limit(&totals->base, &totals->rules.policy[slots[i]],
					   &one->counted);
	}
}

static void take_windows(struct rf_totals *totals, int family)
{
	const uint64_t made = totals->all.counters.inserts[family];
	const uint64_t evicted = totals->all.counters.evictions[family];

	totals->windows[family] = (struct rf_window_totals){
		.made = totals->since.counters.inserts[family],
		.evicted = totals->since.counters.evictions[family],
		/* Counters are not read at one moment: evictions may exceed inserts. */
		.used = made > evicted ? made - evicted : 0,
		.residents = rf_fence_residents(totals->fence, family),
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
	struct rf_limit_counters counted[RF_LIMITS_MAX];
	int err;

	*totals = (struct rf_totals){.fence = fence};
	err = read_counters(totals, counted, error);
	if (!err)
		err = rf_fence_by_interface(fence, &totals->all.interfaces, error);
	if (err)
		return err;
	if (!from_attach)
		rf_fence_baseline(fence, &totals->base);
	totals->since = totals->all;
	rf_baseline_subtract(&totals->base, &totals->since.counters);
	rf_baseline_subtract_interfaces(&totals->base, &totals->since.interfaces);
	sum_up(&totals->all);
	sum_up(&totals->since);
	take_windows(totals, 0);
	take_windows(totals, 1);
	take_limits(totals, counted);
	return take_interfaces(totals, error);
}

void rf_totals_free(struct rf_totals *totals)
{
	free(totals->interface);
	totals->interface = NULL;
}

/* ---- rates ---- */

/*
 * The later reading may be the smaller one: packets on their way from a lease into a counter may be
 * missing in it.
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
