// SPDX-License-Identifier: GPL-2.0
/* What windows received between two readings: see sums.h. */
#include "fleet/private.h"

#define LEAST_NS 100000000ULL /* between two readings that are reported */
#define CLAIMS_MAX 4096	      /* with more of them, windows are not read for sums alone */

uint64_t rf_claims_reads_each_ns(const struct rf_claims *claims, const struct rf_fleet_limit *limit)
{
	const uint64_t each_ns = limit->window_ns / RF_SUM_CELLS;

	if (!limit->bans || claims->table.count > CLAIMS_MAX)
		return UINT64_MAX;
	return each_ns > LEAST_NS ? each_ns : LEAST_NS;
}

static bool add_item(struct rf_claims *claims, const struct rf_claimant *claimant, uint64_t units,
		     uint64_t now)
{
	struct rf_sum_batch *batch = &claims->sums[claimant->bucket];

	if (batch->is_under_way || batch->count == RF_REPORT_ITEMS)
		return false;
	if (!batch->count)
		batch->since_ns = now;
	batch->item[batch->count++] = (struct rf_sum_item){
		.key = claimant->key,
		.from_ns = claimant->received_ns,
		.units = units < UINT32_MAX ? units : UINT32_MAX,
		.tag = claims->limit[claimant->key.limit].tag,
	};
	return true;
}

/*
 * Where there is no room it counts from the same reading on the next time. An ask may come behind a
 * later look at the window: by its time, or, as the time of a look is from before it, by its count.
 */
void rf_claims_received(struct rf_claims *claims, struct rf_claimant *claimant, uint64_t received,
			uint64_t read_ns)
{
	const struct rf_fleet_limit *limit = &claims->limit[claimant->key.limit];
	const uint64_t since_ns = read_ns - claimant->received_ns;
	const uint64_t units = received - claimant->received;

	if (!limit->bans || !claims->ports.sums)
		return;
	if (claimant->received_ns && ((int64_t)since_ns <= 0 || (int64_t)units < 0))
		return;
	if (claimant->received_ns && units && since_ns < limit->window_ns) {
		if (since_ns < LEAST_NS || since_ns < limit->window_ns / RF_SUM_CELLS ||
		    !add_item(claims, claimant, units, read_ns))
			return;
	}
	claimant->received_ns = read_ns;
	claimant->received = received;
}
