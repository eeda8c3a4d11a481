// SPDX-License-Identifier: GPL-2.0
/* Visits of the windows that claims are of. */
#include "fleet/private.h"

static void fill_record(const struct rf_claims *claims, const struct rf_claimant *claimant,
			enum rf_visit_kind kind, struct rf_fleet_record *record)
{
	const struct rf_fleet_limit *limit = &claims->limit[claimant->key.limit];

	*record = (struct rf_fleet_record){
		.source = {claimant->key.source[0], claimant->key.source[1]},
		.limit_id = limit->limit_id,
		.tag = limit->tag,
		.incarnation = claimant->incarnation,
		.share = claimant->claim.share,
		.is_ipv6 = claimant->key.is_ipv6,
		.writes = kind == RF_VISIT_WRITES,
		.bans = kind == RF_VISIT_BANS,
	};
}

static bool has_window(const struct rf_claims *claims, const struct rf_claimant *claimant)
{
	return claimant->incarnation && claims->limit[claimant->key.limit].in_force;
}

static void take_record(struct rf_claims *claims, struct rf_claimant *claimant,
			const struct rf_fleet_record *record, uint64_t now, uint32_t *used)
{
	if (record->result == RF_SHARE_GONE || record->result == RF_SHARE_OTHER ||
	    record->result == RF_SHARE_NO_LIMIT)
		rf_claims_lose(claims, claimant, now);
	else
		*used = record->used;
	if (record->result != RF_SHARE_DONE)
		return;
	rf_claims_show(claimant, record->passed, record->dropped, now);
	rf_claims_received(claims, claimant, record->received, now);
}

int rf_claims_visit(struct rf_claims *claims, struct rf_claimant *const *claimant, uint32_t count,
		    enum rf_visit_kind kind, uint64_t now, struct rf_visit *visit)
{
	struct rf_fleet_record record[RF_FLEET_BATCH];
	uint32_t place[RF_FLEET_BATCH], records = 0;
	int err = 0;

	for (uint32_t i = 0; i < count; i++) {
		visit->used[i] = 0;
		visit->result[i] = RF_SHARE_DONE;
		if (!has_window(claims, claimant[i]))
			continue;
		fill_record(claims, claimant[i], kind, &record[records]);
		place[records++] = i;
	}
	if (records)
		err = claims->ports.windows(claims->ports.context, record, records);
	for (uint32_t i = 0; i < records && !err; i++) {
		visit->result[place[i]] = record[i].result;
		take_record(claims, claimant[place[i]], &record[i], now, &visit->used[place[i]]);
	}
	return err;
}
