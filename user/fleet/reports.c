// SPDX-License-Identifier: GPL-2.0
/* Output: visits windows, reports claims, and grants, lowers and releases shares. */
#include "fleet/claims.h"

#include <string.h>

#include "base/units.h"
#include "fleet/private.h"
#include "fleet/wire.h"
#include "ringfence/share.h"

#define AGAIN_NS 100000000ULL /* retry interval */
#define PATIENCE_NS 50000000ULL
#define ASKED_LATELY_NS 1000000000ULL
#define ASKED_NOW_NS (2 * RF_ASK_NS)	/* interval of requests at the maximum */
#define LOWERED_BATCHES 8		/* before a wait for programs */
#define YIELD_NS (2 * RF_CLAIM_REST_NS) /* the others look within half of that */
#define SUMS_COLLECT_NS 50000000ULL	/* received units are collected for that long */

/* ---- visits of windows ---- */

/* Operations on windows, in addition to reading. */
enum visit_kind {
	VISIT_READS,
	VISIT_WRITES, /* they get their shares as they are now */
	VISIT_BANS,   /* their sources are over L, and are banned */
};

/* What came of a visit to the windows of some claims. */
struct visit {
	uint32_t used[RF_FLEET_BATCH];
	uint8_t result[RF_FLEET_BATCH]; /* enum rf_share_result */
};

static void fill_record(const struct rf_claims *claims, const struct rf_claimant *claimant,
			enum visit_kind kind, struct rf_fleet_record *record)
{
	const struct rf_fleet_limit *limit = &claims->limit[claimant->key.limit];

	*record = (struct rf_fleet_record){
		.source = {claimant->key.source[0], claimant->key.source[1]},
		.limit_id = limit->limit_id,
		.tag = limit->tag,
		.incarnation = claimant->incarnation,
		.share = claimant->claim.share,
		.is_ipv6 = claimant->key.is_ipv6,
		.writes = kind == VISIT_WRITES,
		.bans = kind == VISIT_BANS,
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

/*
 * Visits the windows of claims. It can lose windows. If a share could not be written, as the window
 * had a share of an older definition, the result has this. `now`: before the call.
 */
static int visit_windows(struct rf_claims *claims, struct rf_claimant *const *claimant,
			 uint32_t count, enum visit_kind kind, uint64_t now, struct visit *visit)
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

/* ---- reports ---- */

struct sending {
	struct rf_claims *claims;
	uint64_t now;
	struct rf_report_batch *open[RF_BUCKETS];
};

static void put_back(struct rf_claims *claims, struct rf_report_batch *batch, uint64_t now);

static void send_batch(struct sending *sending, uint32_t bucket)
{
	struct rf_claims *claims = sending->claims;
	struct rf_report_batch *batch = sending->open[bucket];

	sending->open[bucket] = NULL;
	if (!batch)
		return;
	claims->counts.reports += batch->count;
	if (!claims->ports.report(claims->ports.context, batch))
		put_back(claims, batch, sending->now); /* no engine has seen it */
}

static void send_batches(struct sending *sending)
{
	for (uint32_t i = 0; i < RF_BUCKETS; i++)
		send_batch(sending, i);
}

/* Of all batches, the part of a node. */
static uint32_t part_of(const struct rf_claims *claims, uint32_t node, uint32_t batches)
{
	uint32_t buckets = 0;

	for (uint32_t i = 0; i < RF_BUCKETS; i++)
		buckets += claims->table.node[i] == node;
	return batches * buckets / RF_BUCKETS;
}

static struct rf_report_batch *open_batch(struct sending *sending, uint32_t bucket)
{
	struct rf_claims *claims = sending->claims;
	const uint32_t node = claims->table.node[bucket];

	if (sending->open[bucket] ||
	    claims->under_way[node].count >= part_of(claims, node, RF_REPORTS_MAX))
		return sending->open[bucket];
	for (int i = 0; i < RF_REPORTS_MAX && !sending->open[bucket]; i++)
		if (!claims->batch[i].count)
			sending->open[bucket] = &claims->batch[i];
	if (sending->open[bucket]) {
		sending->open[bucket]->bucket = bucket;
		sending->open[bucket]->node = node;
		claims->under_way[node].count++;
	}
	return sending->open[bucket];
}

/*
 * An overloaded server replies to accepted calls too late. A host that then sends all of them again
 * immediately would never get a reply in time.
 */
static void send_fewer(struct rf_reports_under_way *under_way, uint64_t now)
{
	if (under_way->cut_ns && now - under_way->cut_ns < RF_REPORTS_CUT_NS)
		return;
	under_way->cut_ns = now;
	under_way->most /= 2;
	if (under_way->most < RF_REPORTS_LEAST)
		under_way->most = RF_REPORTS_LEAST;
}

static void send_more(struct rf_reports_under_way *under_way)
{
	if (under_way->most == RF_REPORTS_MAX || ++under_way->grows < RF_REPORTS_GROW)
		return;
	under_way->grows = 0;
	under_way->most++;
}

/* How many claims a turn can report to a node. Each of its buckets can have a partial batch. */
static uint32_t room_of(const struct rf_claims *claims, uint32_t node)
{
	const struct rf_reports_under_way *under_way = &claims->under_way[node];
	const uint32_t most = part_of(claims, node, under_way->most);
	const uint32_t taken = under_way->count + part_of(claims, node, RF_BUCKETS);

	_Static_assert(RF_REPORTS_LEAST >= 2 * RF_BUCKETS,
		       "a node with one bucket has room where nothing is under way");
	return taken < most ? (most - taken) * RF_REPORT_ITEMS : 0;
}

/* Its requested share: at most the current one after the last request; less while it releases. */
static uint32_t wants_now(const struct rf_claims *claims, const struct rf_claimant *claimant,
			  uint64_t now)
{
	const bool asks = !claims->is_leaving && now - claimant->asked_ns < ASKED_LATELY_NS;
	const uint32_t wants = rf_claims_may_want(claimant, now);

	return asks && wants > claimant->claim.has ? wants : claimant->claim.has;
}

static void report(struct sending *sending, struct rf_claimant *claimant, uint32_t used)
{
	struct rf_claims *claims = sending->claims;
	struct rf_member *member = &claims->member[claimant->bucket];
	struct rf_report_batch *batch =
		member->joined ? open_batch(sending, claimant->bucket) : NULL;

	if (!batch) {
		rf_claims_wait(claims, claimant, sending->now + AGAIN_NS);
		return;
	}
	batch->item[batch->count++] = (struct rf_report_item){
		.claimant = claimant,
		.report = rf_claim_report(&claimant->claim, member, sending->now,
					  claims->limit[claimant->key.limit].first, used,
					  wants_now(claims, claimant, sending->now)),
	};
	claimant->again = false;
	rf_claim_table_move(&claims->table, claimant, RF_CLAIM_REPORTED);
	if (batch->count == RF_REPORT_ITEMS)
		send_batch(sending, claimant->bucket);
}

static uint32_t take(const struct rf_claimants *list, struct rf_claimant **taken, uint32_t most)
{
	struct rf_claimant *claimant;
	uint32_t count = 0;

	TAILQ_FOREACH(claimant, list, place)
	{
		if (count == most)
			break;
		taken[count++] = claimant;
	}
	return count;
}

/* As many as there is room for, of each node. */
static uint32_t take_ready(const struct rf_claims *claims,
			   struct rf_claimant *taken[RF_FLEET_BATCH])
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < RF_BUCKETS; i++) {
		const uint32_t room = room_of(claims, i), left = RF_FLEET_BATCH - count;

		count += take(&claims->table.ready[i], taken + count, room < left ? room : left);
	}
	return count;
}

/* The server can expire its claim soon: no report was answered for most of that time. */
static bool is_forgotten_soon(const struct rf_claimant *claimant,
			      const struct rf_fleet_limit *limit, uint64_t now)
{
	const uint64_t kept_ns = rf_wire_kept_ms(limit->window_ns / RF_NS_PER_MS) * RF_NS_PER_MS;

	return now - claimant->answered_ns > kept_ns * 2 / 3;
}

/* Does the use of a window fall fast? `seen`: at the previous reading. */
static bool falls_fast(const struct rf_fleet_limit *limit, uint32_t seen, uint32_t used)
{
	return seen > used && seen - used > seen / 8 && seen - used > limit->limit / 16;
}

/*
 * The value a share can be lowered to, after this use in W. Used units remain claimed as long as
 * they are in the window, so a share of that size costs other hosts nothing.
 */
static uint32_t needs_of(const struct rf_fleet_limit *limit, uint32_t used, bool falls)
{
	const uint64_t spare = limit->limit / 64 + 1;

	if (used <= limit->first / 2)
		return 0;
	if (falls)
		return rf_claims_capped((used > limit->first ? used - limit->first : 0) + spare,
					limit);
	return rf_claims_capped(used + used / 2 + spare, limit);
}

/*
 * Has the use fallen, so it releases before it reports? If it falls fast, the source is leaving,
 * possibly to a different host: earlier requests are ignored. A source with a current request is
 * active: in bursts its use falls whenever a cell of its window expires.
 */
static bool gives_back(struct rf_claims *claims, struct rf_claimant *claimant, uint32_t used,
		       uint64_t now)
{
	const struct rf_fleet_limit *limit = &claims->limit[claimant->key.limit];
	const bool is_there = now - claimant->asked_ns < ASKED_NOW_NS;
	const bool falls = !is_there && falls_fast(limit, claimant->seen_used, used);
	const uint32_t needs = needs_of(limit, used, falls);
	const uint32_t share = claimant->claim.share;
	const uint32_t least = falls ? limit->limit / 16 : share / 4;

	if (share && is_forgotten_soon(claimant, limit, now)) {
		rf_claims_take_back(claims, claimant, 0);
		return true;
	}
	if (falls)
		claimant->asked_ns = claimant->vain_since_ns = 0;
	if (used > claimant->seen_used || now - claimant->seen_ns >= limit->window_ns / 4) {
		claimant->seen_used = used;
		claimant->seen_ns = now;
	}
	if (now - claimant->asked_ns < limit->window_ns / 4 || needs + least >= share)
		return false;
	rf_claims_take_back(claims, claimant, needs);
	return true;
}

static void report_ready(struct rf_claims *claims, uint64_t now)
{
	struct sending sending = {.claims = claims, .now = now};
	struct rf_claimant *claimant[RF_FLEET_BATCH] = {0};
	struct visit visit;
	const uint32_t count = take_ready(claims, claimant);
	const int err = visit_windows(claims, claimant, count, VISIT_WRITES, now, &visit);

	claims->reported_ns = now;
	for (uint32_t i = 0; i < count; i++) {
		if (err)
			rf_claims_wait(claims, claimant[i], now + AGAIN_NS);
		else if (gives_back(claims, claimant[i], visit.used[i], now))
			continue;
		else if (now < claimant[i]->report_ns)
			rf_claims_look_later(claims, claimant[i], now);
		else
			report(&sending, claimant[i], visit.used[i]);
	}
	send_batches(&sending);
}

/* ---- giving back: lower, write, wait for all programs, read, report ---- */

static void move_all(struct rf_claims *claims, struct rf_claimants *from, enum rf_claim_state to)
{
	struct rf_claimant *claimant;

	while ((claimant = TAILQ_FIRST(from)))
		rf_claim_table_move(&claims->table, claimant, to);
}

/* A share that was not lowered, or could not be written, remains in its place. */
static int lower_batch(struct rf_claims *claims, uint64_t now)
{
	struct rf_claimant *claimant[RF_FLEET_BATCH] = {0}, *lowered[RF_FLEET_BATCH] = {0};
	const uint32_t count = take(&claims->table.lowers, claimant, RF_FLEET_BATCH);
	struct visit visit;
	uint32_t written = 0;
	int err;

	for (uint32_t i = 0; i < count; i++) {
		rf_claim_table_move(&claims->table, claimant[i], RF_CLAIM_SETTLES);
		if (!claimant[i]->gives_back)
			continue;
		rf_claim_lower(&claimant[i]->claim, claimant[i]->lower_to);
		lowered[written++] = claimant[i];
	}
	err = visit_windows(claims, lowered, written, VISIT_WRITES, now, &visit);
	for (uint32_t i = 0; i < written; i++)
		if (err || visit.result[i] == RF_SHARE_BUSY)
			rf_claim_table_move(&claims->table, lowered[i], RF_CLAIM_LOWERS);
	return err;
}

static void begin_settling(struct rf_claims *claims, uint64_t now)
{
	int err = 0;

	claims->settled_ns = now;
	for (int i = 0; i < LOWERED_BATCHES && !TAILQ_EMPTY(&claims->table.lowers) && !err; i++)
		err = lower_batch(claims, now);
	if (TAILQ_EMPTY(&claims->table.settles))
		return;
	claims->is_settling = claims->ports.settle(claims->ports.context);
	if (!claims->is_settling)
		move_all(claims, &claims->table.settles, RF_CLAIM_LOWERS);
}

/* Concurrently its window can be lost, or more has to be released. */
static void place_settled(struct sending *sending, struct rf_claimant *claimant, uint32_t used)
{
	struct rf_claims *claims = sending->claims;

	claimant->was_retagged = false;
	if (!claimant->gives_back) {
		rf_claim_table_move(&claims->table, claimant, RF_CLAIM_READY);
		return;
	}
	rf_claim_waited(&claimant->claim);
	if (claimant->lower_to >= claimant->claim.share)
		claimant->gives_back = false;
	if (claimant->gives_back || gives_back(claims, claimant, used, sending->now)) {
		rf_claim_table_move(&claims->table, claimant, RF_CLAIM_LOWERS);
		return;
	}
	claims->counts.given_back++;
	report(sending, claimant, used);
}

static int report_settled(struct rf_claims *claims, uint64_t now)
{
	struct sending sending = {.claims = claims, .now = now};
	struct rf_claimant *claimant[RF_FLEET_BATCH] = {0};
	const uint32_t count = take(&claims->table.settles, claimant, RF_FLEET_BATCH);
	struct visit visit;
	const int err = visit_windows(claims, claimant, count, VISIT_READS, now, &visit);

	for (uint32_t i = 0; i < count && !err; i++)
		place_settled(&sending, claimant[i], visit.used[i]);
	send_batches(&sending);
	return err;
}

void rf_claims_settled(struct rf_claims *claims, bool is_known, uint64_t now)
{
	int err = is_known ? 0 : -1;

	claims->is_settling = false;
	while (!TAILQ_EMPTY(&claims->table.settles) && !err)
		err = report_settled(claims, now);
	move_all(claims, &claims->table.settles, RF_CLAIM_LOWERS); /* again, from the start */
}

/* ---- replies ---- */

/*
 * An unsatisfied source requests again after a quarter of its waiting time. After a large grant
 * more can follow soon: the source comes from a host that releases it step by step. A source that
 * leaves units to others is unsatisfied from the start.
 */
static void be_patient(struct rf_claims *claims, struct rf_claimant *claimant,
		       const struct rf_report_item *item, const struct rf_ledger_answer *answer,
		       uint64_t now)
{
	const uint64_t much = claims->limit[claimant->key.limit].limit / 16;
	uint64_t patience_ns;

	if (answer->share >= item->report.wants) {
		if (!rf_claims_yields(claimant, now))
			claimant->vain_since_ns = 0;
		return;
	}
	claims->counts.in_vain++;
	if (!claimant->vain_since_ns || answer->share > item->report.has + much)
		claimant->vain_since_ns = now;
	patience_ns = (now - claimant->vain_since_ns) / 4;
	if (patience_ns < PATIENCE_NS)
		patience_ns = PATIENCE_NS;
	if (patience_ns > RF_CLAIM_PATIENCE_NS)
		patience_ns = RF_CLAIM_PATIENCE_NS;
	claimant->patient_until_ns = now + patience_ns;
}

static void rest(struct rf_claims *claims, struct rf_claimant *claimant, bool has_grown,
		 uint64_t now)
{
	const uint64_t least = claims->limit[claimant->key.limit].window_ns / 4;
	const uint64_t most = least > RF_CLAIM_REST_NS ? least : RF_CLAIM_REST_NS;
	const struct rf_claim *claim = &claimant->claim;
	uint64_t until_ns;

	claimant->rest_ns = has_grown || claims->is_leaving || !claimant->rest_ns
				    ? least
				    : 2 * claimant->rest_ns;
	if (claimant->rest_ns > most)
		claimant->rest_ns = most;
	until_ns = now + claimant->rest_ns;
	if (claim->held && !claim->has && !claimant->incarnation && claim->held_until > until_ns)
		until_ns = claim->held_until;
	if (until_ns > now + RF_CLAIM_RENEW_NS)
		until_ns = now + RF_CLAIM_RENEW_NS;
	claimant->report_ns = until_ns;
	rf_claims_look_later(claims, claimant, now);
}

/* The next state after a report, independent of its outcome. */
static void place_after(struct rf_claims *claims, struct rf_claimant *claimant,
			const struct rf_report_item *item, bool has_grown, uint64_t now)
{
	const struct rf_claim *claim = &claimant->claim;

	claimant->state = RF_CLAIM_REPORTED;
	if (claimant->again || claimant->gives_back || claimant->was_retagged) {
		claimant->again = false;
		rf_claims_queue(claims, claimant);
	} else if (!claim->has && !claim->covers && !claim->held && !item->report.wants) {
		rf_claim_table_remove(&claims->table, claimant);
	} else {
		rest(claims, claimant, has_grown, now);
	}
}

/* A damaged reply can grant more than the limit. */
static struct rf_ledger_answer cap_answer(const struct rf_claims *claims,
					  const struct rf_claimant *claimant,
					  const struct rf_ledger_answer *answer)
{
	const struct rf_fleet_limit *limit = &claims->limit[claimant->key.limit];
	const uint64_t most = (uint64_t)claimant->claim.held + rf_claims_capped(UINT32_MAX, limit);
	struct rf_ledger_answer capped = *answer;

	if (capped.share > most)
		capped.share = most;
	return capped;
}

/* Processes a reply; true: its share has grown and is to be written. */
static bool take_answer(struct rf_claims *claims, const struct rf_report_item *item,
			const struct rf_ledger_answer *answer, uint64_t now)
{
	struct rf_claimant *claimant = item->claimant;
	const struct rf_member *member = &claims->member[claimant->bucket];
	struct rf_claim *claim = &claimant->claim;
	const bool is_mine = claim->seq == answer->seq && claim->asked_in == member->joined;
	const struct rf_ledger_answer capped = cap_answer(claims, claimant, answer);
	const bool has_grown = rf_claim_answered(claim, member, &capped);
	uint32_t lower_to;

	claims->counts.answers++;
	if (!is_mine || answer->status != RF_LEDGER_DONE)
		return false;
	claimant->answered_ns = now;
	if (member->is_complete)
		be_patient(claims, claimant, item, answer, now);
	lower_to = answer->lower_to > claim->held ? answer->lower_to - claim->held : 0;
	if (lower_to < claim->share) {
		claimant->lower_to = claimant->yields_to = lower_to;
		claimant->gives_back = true;
		claimant->yields_until_ns = now + YIELD_NS;
		if (!claimant->vain_since_ns)
			claimant->vain_since_ns = now;
	}
	return has_grown;
}

/* A share of an older definition has to be revoked first: it is written after a wait. */
static void write_shares(struct rf_claims *claims, struct rf_claimant *const *grown, uint32_t count,
			 uint64_t now)
{
	struct visit visit;

	/* After an error smaller shares remain enforced; the next reading writes them again. */
	if (!count || visit_windows(claims, grown, count, VISIT_WRITES, now, &visit))
		return;
	for (uint32_t i = 0; i < count; i++)
		grown[i]->was_retagged =
			visit.result[i] == RF_SHARE_RETAGGED || visit.result[i] == RF_SHARE_BUSY;
}

void rf_claims_answered(struct rf_claims *claims, struct rf_report_batch *batch,
			const struct rf_ledger_answer *answer, uint64_t now)
{
	struct rf_claimant *grown[RF_REPORT_ITEMS];
	bool has_grown[RF_REPORT_ITEMS];
	uint32_t count = 0;

	for (uint32_t i = 0; i < batch->count; i++) {
		has_grown[i] = take_answer(claims, &batch->item[i], &answer[i], now);
		if (has_grown[i])
			grown[count++] = batch->item[i].claimant;
	}
	write_shares(claims, grown, count, now);
	for (uint32_t i = 0; i < batch->count; i++)
		place_after(claims, batch->item[i].claimant, &batch->item[i], has_grown[i], now);
	batch->count = 0;
	claims->under_way[batch->node].count--;
	send_more(&claims->under_way[batch->node]);
}

/* Its reports are made again. */
static void put_back(struct rf_claims *claims, struct rf_report_batch *batch, uint64_t now)
{
	claims->counts.failed += batch->count;
	for (uint32_t i = 0; i < batch->count; i++) {
		struct rf_claimant *claimant = batch->item[i].claimant;

		claimant->claim.seq = 0; /* late replies are ignored */
		if (claimant->again)
			place_after(claims, claimant, &batch->item[i], false, now);
		else
			rf_claims_wait(claims, claimant, now + AGAIN_NS);
	}
	batch->count = 0;
	claims->under_way[batch->node].count--;
}

void rf_claims_unanswered(struct rf_claims *claims, struct rf_report_batch *batch, uint64_t now)
{
	put_back(claims, batch, now);
	send_fewer(&claims->under_way[batch->node], now);
}

/* ---- what all hosts received together ---- */

static void send_sums(struct rf_claims *claims, uint64_t now)
{
	for (uint32_t i = 0; i < RF_BUCKETS; i++) {
		struct rf_sum_batch *batch = &claims->sums[i];

		if (!batch->count || batch->is_under_way || now < batch->since_ns + SUMS_COLLECT_NS)
			continue;
		batch->bucket = i;
		batch->joined = claims->member[i].joined;
		batch->is_under_way = true;
		if (!claims->member[i].joined || !claims->ports.sums(claims->ports.context, batch))
			rf_claims_unsummed(batch);
	}
}

static uint64_t sums_due_ns(const struct rf_claims *claims)
{
	uint64_t due_ns = UINT64_MAX;

	for (uint32_t i = 0; i < RF_BUCKETS; i++)
		if (claims->sums[i].count && !claims->sums[i].is_under_way &&
		    claims->sums[i].since_ns + SUMS_COLLECT_NS < due_ns)
			due_ns = claims->sums[i].since_ns + SUMS_COLLECT_NS;
	return due_ns;
}

static bool is_still_meant(const struct rf_claims *claims, const struct rf_sum_item *item)
{
	const struct rf_fleet_limit *limit = &claims->limit[item->key.limit];

	return limit->in_force && limit->tag == item->tag;
}

struct rf_sum_report rf_claims_sum_report(const struct rf_claims *claims,
					  const struct rf_sum_batch *batch, uint32_t i)
{
	const struct rf_sum_item *item = &batch->item[i];
	const uint64_t window_ms = claims->limit[item->key.limit].window_ns / RF_NS_PER_MS;

	return (struct rf_sum_report){
		.from_ms = rf_sum_clock_ms(&claims->clock[batch->bucket],
					   claims->member[batch->bucket].joined, item->from_ns),
		.units = is_still_meant(claims, item) ? item->units : 0,
		.window_ms = window_ms ? window_ms : 1,
	};
}

/* The claim of an item whose source is over L on all hosts together. */
static struct rf_claimant *claimant_over(const struct rf_claims *claims,
					 const struct rf_sum_item *item,
					 const struct rf_sum_answer *answer)
{
	if (answer->status != RF_LEDGER_DONE || !is_still_meant(claims, item) ||
	    answer->sum <= claims->limit[item->key.limit].limit)
		return NULL;
	return rf_claim_table_find(&claims->table, &item->key);
}

void rf_claims_summed(struct rf_claims *claims, struct rf_sum_batch *batch,
		      const struct rf_sum_answer *answer, uint64_t now)
{
	struct rf_claimant *over[RF_REPORT_ITEMS];
	struct visit visit;
	uint32_t count = 0;

	for (uint32_t i = 0; i < batch->count; i++) {
		struct rf_claimant *claimant = claimant_over(claims, &batch->item[i], &answer[i]);

		if (claimant)
			over[count++] = claimant;
		if (answer[i].status == RF_LEDGER_DONE)
			claims->clock[batch->bucket] = (struct rf_sum_clock){
				.joined = batch->joined,
				.ledger_ms = answer[i].now_ms,
				.heard_ns = now,
			};
	}
	rf_claims_unsummed(batch);
	claims->counts.over += count;
	if (count) /* on failure, the source is over the limit again soon */
		visit_windows(claims, over, count, VISIT_BANS, now, &visit);
}

/* Not sent again, since the ledger can have it. */
void rf_claims_unsummed(struct rf_sum_batch *batch)
{
	batch->count = 0;
	batch->is_under_way = false;
}

/* ---- time ---- */

static bool is_any_ready(const struct rf_claims *claims)
{
	for (uint32_t i = 0; i < RF_BUCKETS; i++)
		if (!TAILQ_EMPTY(&claims->table.ready[i]) && room_of(claims, i))
			return true;
	return false;
}

/* Only if the result can be applied. */
static bool may_take_back(const struct rf_claims *claims)
{
	bool any = false;

	for (uint32_t i = 0; i < RF_BUCKETS; i++)
		any = any || room_of(claims, i);
	return any && !TAILQ_EMPTY(&claims->table.lowers) && !claims->is_settling;
}

void rf_claims_turn(struct rf_claims *claims, uint64_t now)
{
	rf_claim_table_turn(&claims->table, now);
	if (is_any_ready(claims) && now - claims->reported_ns >= RF_CLAIM_COLLECT_NS)
		report_ready(claims, now);
	if (may_take_back(claims) && now - claims->settled_ns >= RF_CLAIM_SETTLE_NS)
		begin_settling(claims, now);
	send_sums(claims, now);
}

uint64_t rf_claims_due_ns(const struct rf_claims *claims)
{
	const uint64_t looks_ns = rf_claim_table_due_ns(&claims->table);
	const uint64_t sums_ns = sums_due_ns(claims);
	uint64_t due_ns = looks_ns < sums_ns ? looks_ns : sums_ns;
	const uint64_t ready_ns = claims->reported_ns + RF_CLAIM_COLLECT_NS;
	const uint64_t lowers_ns = claims->settled_ns + RF_CLAIM_SETTLE_NS;

	if (ready_ns < due_ns && is_any_ready(claims))
		due_ns = ready_ns;
	if (lowers_ns < due_ns && may_take_back(claims))
		due_ns = lowers_ns;
	return due_ns;
}
