// SPDX-License-Identifier: GPL-2.0
/* The answer about one source: what the ledger has of it, and what this host has. */
#include <stdlib.h>
#include <string.h>

#include "agent/inquiry.h"
#include "agent/site.h"
#include "base/json.h"
#include "base/time.h"
#include "base/units.h"
#include "fleet/wire.h"
#include "ringfence/share.h"

/* The ledger's bucket, and the claims of the source in it. */
struct kept {
	struct rf_ledger ledger;
	struct rf_ledger_source source;
};

static bool read_kept(const struct rf_inquiry *inquiry, int limit, uint32_t bucket,
		      struct kept *kept)
{
	const struct rf_piece *hosts = rf_inquiry_piece(inquiry, RF_PIECE_HOSTS, bucket);
	const struct rf_piece *record = rf_inquiry_piece(inquiry, RF_PIECE_RECORD, limit);

	return hosts && record && rf_wire_unpack_hosts(&kept->ledger, hosts->bytes, hosts->size) &&
	       rf_wire_unpack_record(&kept->source, record->bytes, record->size);
}

/* ---- the claims of all hosts ---- */

static bool is_void(const struct kept *kept, const struct rf_ledger_claim *claim, uint64_t life_ms)
{
	const struct rf_ledger_host *host = &kept->ledger.host[claim->slot % RF_LEDGER_SLOTS];

	return !host->nonce || host->generation != claim->generation ||
	       kept->ledger.newest - host->heard >= life_ms;
}

static json_t *claim_json(const struct rf_inquiry *inquiry, const struct kept *kept,
			  const struct rf_ledger_claim *claim)
{
	const uint32_t slot = claim->slot % RF_LEDGER_SLOTS;
	const struct rf_ledger_host *of = &kept->ledger.host[slot];
	json_t *host = rf_inquiry_host(inquiry, slot);
	json_t *json = json_pack("{s:I, s:o, s:b, s:I, s:b, s:I}", "slot", (json_int_t)slot, "name",
				 rf_inquiry_host_name(host), "this",
				 slot == inquiry->view->claims->member[0].slot, "claim",
				 (json_int_t)claim->claim, "in_vain", claim->in_vain, "silent_ms",
				 (json_int_t)(kept->ledger.newest - of->heard));

	json_decref(host);
	return json;
}

/* Null where nothing of it could be read. */
static json_t *ledger_json(const struct rf_inquiry *inquiry, const struct rf_fleet_limit *limit,
			   int number, uint32_t bucket)
{
	const uint64_t life_ms =
		(inquiry->view->settings->grace_ns + limit->window_ns) / RF_NS_PER_MS;
	struct kept *kept = calloc(1, sizeof(*kept));
	json_t *hosts, *json;
	uint64_t claimed = 0, contested_ms = 0;

	if (!kept || !read_kept(inquiry, number, bucket, kept)) {
		free(kept);
		return json_null();
	}
	hosts = json_array();
	for (uint32_t i = 0; i < kept->source.count; i++) {
		if (is_void(kept, &kept->source.claim[i], life_ms))
			continue;
		claimed += kept->source.claim[i].claim;
		json_array_append_new(hosts, claim_json(inquiry, kept, &kept->source.claim[i]));
	}
	if (kept->source.contested_until > kept->ledger.newest)
		contested_ms = kept->source.contested_until - kept->ledger.newest;
	json = json_pack("{s:I, s:I, s:b, s:o}", "claimed", (json_int_t)claimed, "contested_ms",
			 (json_int_t)contested_ms, "learning", kept->ledger.is_learning, "hosts",
			 hosts);
	free(kept);
	return json;
}

/* ---- this host ---- */

/* What its window has used in W; -1: it has no window. */
static json_int_t read_used(const struct rf_status_view *view, const struct rf_claim_key *key,
			    const struct rf_fleet_limit *limit)
{
	struct rf_fleet_record record = {
		.source = {key->source[0], key->source[1]},
		.limit_id = limit->limit_id,
		.tag = limit->tag,
		.is_ipv6 = key->is_ipv6,
	};

	if (rf_site_windows(view->site, &record, 1) || record.result == RF_SHARE_GONE ||
	    record.result == RF_SHARE_NO_LIMIT)
		return -1;
	return record.used;
}

static json_t *here_json(const struct rf_status_view *view, const struct rf_claim_key *key,
			 const struct rf_fleet_limit *limit)
{
	const struct rf_claimant *claimant = rf_claim_table_find(&view->claims->table, key);
	const struct rf_claim none = {}, *claim = claimant ? &claimant->claim : &none;
	const json_int_t used = read_used(view, key, limit);

	return json_pack(
		"{s:o, s:I, s:I, s:I, s:b, s:o}", "used",
		used < 0 ? json_null() : json_integer(used), "share", (json_int_t)claim->share,
		"claim", (json_int_t)((uint64_t)claim->covers + claim->held), "wants",
		(json_int_t)(claimant ? claimant->wants : 0), "in_vain",
		claimant && claimant->vain_since_ns, "since_ms",
		claimant && claimant->since_ns
			? json_integer((rf_time_awake() - claimant->since_ns) / RF_NS_PER_MS)
			: json_null());
}

/* ---- the answer ---- */

static json_t *limit_json(const struct rf_inquiry *inquiry, int number)
{
	const struct rf_status_view *view = inquiry->view;
	const struct rf_fleet_limit *limit = &view->claims->limit[number];
	const struct rf_claim_key key =
		rf_status_key(view->claims, number, &inquiry->question.address);
	char source[RF_CALLS_SOURCE_SIZE];

	rf_calls_format_source(&key, limit, source);
	return json_pack(
		"{s:o, s:s, s:I, s:I, s:I, s:I, s:o, s:o}", "name", rf_json_text(limit->name),
		"source", source, "count", (json_int_t)limit->limit, "window_ms",
		(json_int_t)(limit->window_ns / RF_NS_PER_MS), "first", (json_int_t)limit->first,
		"pool", (json_int_t)limit->pool, "here", here_json(view, &key, limit), "ledger",
		ledger_json(inquiry, limit, number,
			    rf_claims_bucket(view->claims, key.source[0], key.source[1])));
}

char *rf_inquiry_source(const struct rf_inquiry *inquiry, const struct rf_status_view *view)
{
	json_t *limits = json_array(), *answer;
	char *text;

	for (int i = 0; i < RF_FLEET_LIMITS_MAX; i++)
		if (view->claims->limit[i].in_force)
			json_array_append_new(limits, limit_json(inquiry, i));
	answer = json_pack("{s:i, s:o}", "schema", 1, "limits", limits);
	text = answer ? json_dumps(answer, JSON_COMPACT) : NULL;
	json_decref(answer);
	return text;
}
