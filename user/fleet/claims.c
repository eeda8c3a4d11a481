// SPDX-License-Identifier: GPL-2.0
/* Input: limits, replies to heartbeats, and requests of sources, with their effects on claims. */
#include "fleet/claims.h"

#include <string.h>

#include "base/units.h"
#include "fleet/private.h"
#include "ringfence/share.h"

#define COUNT_NS 1000000ULL   /* a rate is measured over at least this time */
#define UNIT_SHIFT 4	      /* of rf_claimant.unit_used */
#define LEAST_NS 100000000ULL /* between two readings that are reported */
#define CLAIMS_MAX 4096	      /* with more claims, windows are not read only for sums */

int rf_claims_make(struct rf_claims *claims, uint32_t size, const uint64_t hash_key[2],
		   uint64_t now)
{
	*claims = (struct rf_claims){.asks_each_s = 5000};
	for (uint32_t i = 0; i < RF_BUCKETS; i++)
		claims->under_way[i].most = RF_REPORTS_MAX;
	return rf_claim_table_make(&claims->table, size, hash_key, now);
}

void rf_claims_free(struct rf_claims *claims)
{
	rf_claim_table_free(&claims->table);
}

/* ---- received packets, for the sum over all hosts: library/sums.lua ---- */

static uint64_t claims_reads_each_ns(const struct rf_claims *claims,
				     const struct rf_fleet_limit *limit)
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
 * If the batch is full, the next call counts from the same reading. A request can arrive after a
 * later reading of the window: detected by its time or, as the time of a reading is from before it,
 * by its count.
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

/* ---- single claims: the next state ---- */

/*
 * Other hosts wait for units of a source that moves to them. So its window is read more often if it
 * has most of the pool, or has begun to leave. For a sum over all hosts, received packets are
 * always needed.
 */
void rf_claims_look_later(struct rf_claims *claims, struct rf_claimant *claimant, uint64_t now)
{
	const struct rf_fleet_limit *limit = &claims->limit[claimant->key.limit];
	const bool is_awaited = claimant->claim.share > limit->pool / 2 || !claimant->asked_ns;
	const uint64_t each_ns = limit->window_ns / (is_awaited ? 8 : 4);
	const uint64_t reads_ns = claims_reads_each_ns(claims, limit);
	const uint64_t look_ns = now + (each_ns < reads_ns ? each_ns : reads_ns);
	const bool looks = claimant->claim.share && look_ns < claimant->report_ns;

	rf_claims_wait(claims, claimant, looks ? look_ns : claimant->report_ns);
}

void rf_claims_queue(struct rf_claims *claims, struct rf_claimant *claimant)
{
	const bool settles = claimant->gives_back || claimant->was_retagged;

	claimant->report_ns = 0;
	rf_claim_table_move(&claims->table, claimant, settles ? RF_CLAIM_LOWERS : RF_CLAIM_READY);
}

/* Queues it for a report, after its share is lowered if required. */
static void claims_touch(struct rf_claims *claims, struct rf_claimant *claimant)
{
	if (claimant->state == RF_CLAIM_REPORTED)
		claimant->again = true;
	else if (claimant->state != RF_CLAIM_SETTLES) /* it is reported after that */
		rf_claims_queue(claims, claimant);
}

void rf_claims_take_back(struct rf_claims *claims, struct rf_claimant *claimant, uint32_t to)
{
	if (!claimant->gives_back || to < claimant->lower_to)
		claimant->lower_to = to;
	claimant->gives_back = true;
	claims_touch(claims, claimant);
}

void rf_claims_lose(struct rf_claims *claims, struct rf_claimant *claimant, uint64_t now)
{
	const struct rf_fleet_limit *limit = &claims->limit[claimant->key.limit];

	if (!claimant->incarnation)
		return;
	claims->counts.lost += claimant->claim.covers != 0;
	rf_claim_lost(&claimant->claim, now, limit->window_ns);
	claimant->incarnation = 0;
	claimant->gives_back = false;
	claimant->counted_ns = claimant->received_ns = 0;
}

void rf_claims_lose_all(struct rf_claims *claims, uint64_t now)
{
	struct rf_claimant *claimant = NULL;

	while ((claimant = rf_claim_table_next(&claims->table, claimant))) {
		rf_claims_lose(claims, claimant, now);
		claims_touch(claims, claimant);
	}
}

void rf_claims_leave(struct rf_claims *claims)
{
	struct rf_claimant *claimant = NULL;

	claims->is_leaving = true;
	while ((claimant = rf_claim_table_next(&claims->table, claimant)))
		rf_claims_take_back(claims, claimant, 0);
}

/* ---- how large a share a source would like, and how small a one is enough, in units ---- */

/* Units expected in W, at the rate since the previous request. */
static uint64_t demand(const struct rf_claimant *claimant, const struct rf_fleet_limit *limit,
		       const struct rf_fleet_ask *ask)
{
	const uint64_t packets = ask->passed + ask->dropped - claimant->passed - claimant->dropped;
	const uint64_t time_ns = ask->time_ns - claimant->counted_ns;
	const double units = (double)packets * claimant->unit_used / (1 << UNIT_SHIFT) *
			     limit->window_ns / (time_ns ? time_ns : 1);

	if (!claimant->counted_ns || (int64_t)time_ns <= 0)
		return 0;
	return units < RF_LIMIT_MAX ? (uint64_t)units : RF_LIMIT_MAX;
}

/* The first request of a window shows the units per packet: all used units have passed. */
static void note_counts(struct rf_claimant *claimant, const struct rf_fleet_ask *ask)
{
	if (claimant->counted_ns && ask->time_ns < claimant->counted_ns + COUNT_NS)
		return;
	if (!claimant->counted_ns)
		claimant->unit_used = 1 << UNIT_SHIFT;
	if (!claimant->counted_ns && ask->passed && ask->used / ask->passed)
		claimant->unit_used = (uint64_t)ask->used * (1 << UNIT_SHIFT) / ask->passed;
	claimant->counted_ns = ask->time_ns;
	claimant->passed = ask->passed;
	claimant->dropped = ask->dropped;
}

/*
 * 1.5 times its rate, so a source of constant rate requests once. Without a known rate: a part of
 * the limit, or twice its use.
 */
static uint32_t claims_wants(struct rf_claimant *claimant, const struct rf_fleet_limit *limit,
			     const struct rf_fleet_ask *ask)
{
	const uint64_t rate = demand(claimant, limit, ask);
	uint64_t wants = limit->limit / 16 + 1;

	note_counts(claimant, ask);
	if (wants < 2ULL * ask->used)
		wants = 2ULL * ask->used;
	if (wants < rate + rate / 2)
		wants = rate + rate / 2;
	return rf_claims_capped(wants, limit);
}

void rf_claims_show(struct rf_claimant *claimant, uint64_t passed, uint64_t dropped, uint64_t now)
{
	if (!claimant->since_ns)
		claimant->since_ns = now;
	claimant->shown_ns = now;
	claimant->shown_passed = passed;
	claimant->shown_dropped = dropped;
}

/* ---- limits ---- */

static bool is_same(const struct rf_fleet_limit *limit, const struct rf_fleet_limit *other)
{
	return limit->definition == other->definition && strcmp(limit->name, other->name) == 0;
}

static bool has_claims(const struct rf_claims *claims, uint32_t number)
{
	struct rf_claimant *claimant = NULL;

	while ((claimant = rf_claim_table_next(&claims->table, claimant)))
		if (claimant->key.limit == number)
			return true;
	return false;
}

/* Its shares count no more: the windows have another definition now. */
static void end_claims(struct rf_claims *claims, uint32_t number, uint64_t now)
{
	struct rf_claimant *claimant = NULL;

	while ((claimant = rf_claim_table_next(&claims->table, claimant)))
		if (claimant->key.limit == number) {
			rf_claims_lose(claims, claimant, now);
			claims_touch(claims, claimant);
		}
}

static struct rf_fleet_limit *place_for(struct rf_claims *claims,
					const struct rf_fleet_limit *limit)
{
	struct rf_fleet_limit *free = NULL;

	for (uint32_t i = 0; i < RF_FLEET_LIMITS_MAX; i++)
		if (*claims->limit[i].name && is_same(&claims->limit[i], limit))
			return &claims->limit[i];
	for (uint32_t i = 0; i < RF_FLEET_LIMITS_MAX && !free; i++)
		if (!*claims->limit[i].name ||
		    (!claims->limit[i].in_force && !has_claims(claims, i)))
			free = &claims->limit[i];
	if (free)
		*free = (struct rf_fleet_limit){};
	return free;
}

static bool is_among(const struct rf_fleet_limit *limit, const struct rf_fleet_limit *limits,
		     uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (is_same(limit, &limits[i]) && limit->limit_id == limits[i].limit_id &&
		    limit->tag == limits[i].tag)
			return true;
	return false;
}

void rf_claims_take_limits(struct rf_claims *claims, uint64_t now,
			   const struct rf_fleet_limit *limits, uint32_t count)
{
	struct rf_fleet_limit *place;

	for (uint32_t i = 0; i < RF_FLEET_LIMITS_MAX; i++) {
		if (!claims->limit[i].in_force || is_among(&claims->limit[i], limits, count))
			continue;
		claims->limit[i].in_force = false;
		end_claims(claims, i, now);
	}
	for (uint32_t i = 0; i < count; i++) {
		place = place_for(claims, &limits[i]);
		if (!place)
			continue; /* not requested until claims of others have expired */
		*place = limits[i];
		place->in_force = true;
	}
}

static int claims_limit_of(const struct rf_claims *claims, uint32_t limit_id, uint32_t tag)
{
	for (int i = 0; i < RF_FLEET_LIMITS_MAX; i++)
		if (claims->limit[i].in_force && claims->limit[i].limit_id == limit_id &&
		    claims->limit[i].tag == tag)
			return i;
	return -1;
}

uint64_t rf_claims_window_ns(const struct rf_claims *claims)
{
	uint64_t longest = 0;

	for (int i = 0; i < RF_FLEET_LIMITS_MAX; i++)
		if (*claims->limit[i].name && claims->limit[i].window_ns > longest)
			longest = claims->limit[i].window_ns;
	return longest;
}

/* ---- one membership for each bucket, and the effects of a new one on claims ---- */

/*
 * Shares remain enforced until the deadline of the old membership, which holds their claims. The
 * new one is unknown, so it does not reclaim a slot from other hosts: it resumes nothing.
 */
void rf_claims_take_slot(struct rf_claims *claims, uint32_t slot, uint64_t nonce, uint64_t grace)
{
	for (int i = 0; i < RF_BUCKETS; i++) {
		claims->member[i].slot = slot;
		claims->member[i].nonce = nonce;
		claims->member[i].grace = grace;
		claims->member[i].joined = 0;
		claims->member[i].is_complete = false;
	}
}

bool rf_claims_are_alone(const struct rf_claims *claims, uint64_t now)
{
	for (int i = 0; i < RF_BUCKETS; i++)
		if (!rf_member_is_alone(&claims->member[i], now))
			return false;
	return true;
}

static bool all_are_known(const struct rf_claims *claims, uint32_t bucket, uint64_t now)
{
	const struct rf_member *member = &claims->member[bucket];
	struct rf_claimant *claimant = NULL;

	if (now < claims->blind_until_ns)
		return false;
	if (member->is_complete)
		return true;
	while ((claimant = rf_claim_table_next(&claims->table, claimant)))
		if (claimant->bucket == bucket &&
		    (claimant->gives_back || !rf_claim_is_known(&claimant->claim, member)))
			return false;
	return true;
}

struct rf_ledger_beat rf_claims_beat(struct rf_claims *claims, uint32_t bucket, uint64_t now)
{
	struct rf_ledger_beat beat =
		rf_member_beat(&claims->member[bucket], now, all_are_known(claims, bucket, now));

	beat.key = claims->fingerprint;
	return beat;
}

static void tell_again(struct rf_claims *claims, uint32_t bucket, bool emptied)
{
	struct rf_claimant *claimant = NULL;

	while ((claimant = rf_claim_table_next(&claims->table, claimant))) {
		if (claimant->bucket != bucket)
			continue;
		claimant->vain_since_ns = claimant->patient_until_ns = 0;
		if (emptied && claimant->claim.has)
			rf_claims_take_back(claims, claimant, 0);
		else
			claims_touch(claims, claimant);
	}
}

/*
 * With a different key the same source is in a different bucket. So if one bucket belongs to hosts
 * with a different key, this host is offline in all buckets: it ignores replies until its deadlines
 * pass.
 */
static void note_key(struct rf_claims *claims, uint32_t bucket, const struct rf_ledger_heard *heard)
{
	const uint32_t bit = 1U << bucket;

	if (heard->status == RF_LEDGER_FOREIGN) {
		if (!bucket || !claims->foreign)
			claims->fleet_key = heard->key;
		claims->foreign |= bit;
	} else {
		claims->foreign &= ~bit;
	}
}

/* The first bucket decides which key is the fleet's: a foreign host there leaves the others. */
bool rf_claims_may_beat(const struct rf_claims *claims, uint32_t bucket)
{
	return !bucket || !(claims->foreign & 1);
}

enum rf_member_news rf_claims_heard(struct rf_claims *claims, uint32_t bucket, uint64_t now,
				    uint32_t beat, uint64_t sent,
				    const struct rf_ledger_heard *heard)
{
	enum rf_member_news news;

	note_key(claims, bucket, heard);
	if (claims->foreign)
		return heard->status == RF_LEDGER_FOREIGN ? RF_MEMBER_FOREIGN : RF_MEMBER_SAME;
	news = rf_member_heard(&claims->member[bucket], now, beat, sent, heard);
	if (news == RF_MEMBER_EMPTIED)
		claims->ended |= 1U << bucket;
	if (news == RF_MEMBER_REJOINED || news == RF_MEMBER_EMPTIED)
		tell_again(claims, bucket, news == RF_MEMBER_EMPTIED);
	return news;
}

/* ---- requests, and windows found with a share ---- */

static bool may_send_ask(struct rf_claims *claims, uint64_t now)
{
	const uint64_t most = claims->asks_each_s; /* a burst of one second */
	const uint64_t more = (now - claims->asks_left_ns) * claims->asks_each_s / RF_NS_PER_S;

	if (now - claims->asks_left_ns >= RF_NS_PER_S)
		claims->asks_left = most;
	else if (claims->asks_left + more < most)
		claims->asks_left += more;
	else
		claims->asks_left = most;
	if (more)
		claims->asks_left_ns = now;
	if (!claims->asks_left)
		return false;
	claims->asks_left--;
	return true;
}

uint32_t rf_claims_bucket(const struct rf_claims *claims, uint64_t first, uint64_t second)
{
	const __u64 key[2] = {claims->key[0], claims->key[1]};

	return rf_bucket_by(key, first, second);
}

static struct rf_claimant *claimant_of(struct rf_claims *claims, int limit,
				       const struct rf_fleet_ask *ask)
{
	const struct rf_claim_key key = {
		.source = {ask->source[0], ask->source[1]},
		.limit = limit,
		.is_ipv6 = ask->is_ipv6,
	};
	struct rf_claimant *claimant = rf_claim_table_find(&claims->table, &key);

	if (!claimant)
		claimant = rf_claim_table_add(
			&claims->table, &key,
			rf_claims_bucket(claims, ask->source[0], ask->source[1]));
	if (!claimant)
		claims->counts.asks_no_room++;
	return claimant;
}

/* Incarnations count up. False: the request is of a window known to be removed. */
static bool note_incarnation(struct rf_claims *claims, struct rf_claimant *claimant,
			     uint32_t incarnation, uint64_t now)
{
	if (claimant->incarnation && (int32_t)(incarnation - claimant->incarnation) < 0)
		return false;
	if (claimant->incarnation != incarnation)
		rf_claims_lose(claims, claimant, now);
	claimant->incarnation = incarnation;
	return true;
}

/* Is it patient, and will be reported as soon as it no longer is? */
static bool is_patient(const struct rf_claimant *claimant, uint64_t now)
{
	return now < claimant->patient_until_ns &&
	       claimant->report_ns <= claimant->patient_until_ns;
}

/* Requested early: it is reported then. */
static void report_later(struct rf_claims *claims, struct rf_claimant *claimant, uint64_t now)
{
	claimant->report_ns = claimant->patient_until_ns;
	rf_claims_look_later(claims, claimant, now);
}

bool rf_claims_ask(struct rf_claims *claims, uint64_t now, const struct rf_fleet_ask *ask)
{
	const int limit = claims_limit_of(claims, ask->limit_id, ask->tag);
	struct rf_claimant *claimant;

	claims->counts.asks++;
	if (limit < 0)
		return false;
	/* Cannot be granted yet; it requests again. */
	if (claims->is_leaving ||
	    !claims->member[rf_claims_bucket(claims, ask->source[0], ask->source[1])].is_complete)
		return true;
	claimant = claimant_of(claims, limit, ask);
	if (!claimant || !note_incarnation(claims, claimant, ask->incarnation, now))
		return true;
	claimant->wants = claims_wants(claimant, &claims->limit[limit], ask);
	claimant->asked_ns = now;
	rf_claims_show(claimant, ask->passed, ask->dropped, now);
	rf_claims_received(claims, claimant, ask->received, ask->time_ns);
	if (claimant->state != RF_CLAIM_WAITS || is_patient(claimant, now) ||
	    rf_claims_may_want(claimant, now) <= claimant->claim.has)
		return true;
	if (!may_send_ask(claims, now)) {
		claims->counts.asks_put_off++;
		return true;
	}
	claims->counts.asks_sent++;
	if (now < claimant->patient_until_ns)
		report_later(claims, claimant, now);
	else
		claims_touch(claims, claimant);
	return true;
}

void rf_claims_found(struct rf_claims *claims, uint64_t now, const struct rf_fleet_ask *window)
{
	const int limit = claims_limit_of(claims, window->limit_id, window->tag);
	struct rf_claimant *claimant = limit < 0 ? NULL : claimant_of(claims, limit, window);

	if (!claimant) {
		claims->blind_until_ns = now + rf_claims_window_ns(claims);
		return;
	}
	if (claimant->incarnation != window->incarnation)
		claimant->received_ns = 0;
	claimant->incarnation = window->incarnation;
	claimant->claim.covers = 1; /* until its use is read: not known to the ledger */
	claims_touch(claims, claimant);
}
