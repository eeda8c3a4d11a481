// SPDX-License-Identifier: GPL-2.0
#include "tests/fleet/model/ledger.h"

#include <string.h>

/* ---- time and learning ---- */

static bool has_missed(const struct rf_ledger *ledger, const struct rf_ledger_call *call)
{
	const uint64_t quiet = call->grace / 2;

	if (!ledger->run || ledger->run != call->run)
		return true;
	return call->now > ledger->newest + quiet || call->now + quiet < ledger->newest;
}

static void start_learning(struct rf_ledger *ledger, const struct rf_ledger_call *call)
{
	ledger->run = call->run;
	ledger->is_learning = true;
	ledger->learns_from = ledger->newest = call->now;
	for (int i = 0; i < RF_LEDGER_SLOTS; i++) {
		ledger->host[i].joined = 0;
		ledger->host[i].heard = call->now;
		ledger->host[i].is_complete = false;
	}
}

static bool all_are_complete(const struct rf_ledger *ledger)
{
	bool is_any = false;

	for (int i = 0; i < RF_LEDGER_SLOTS; i++) {
		const struct rf_ledger_host *host = &ledger->host[i];

		if ((host->nonce || host->is_expected) && !host->is_complete)
			return false;
		is_any = is_any || host->nonce;
	}
	return is_any;
}

static void end_learning(struct rf_ledger *ledger, const struct rf_ledger_call *call)
{
	const uint64_t learned = ledger->newest - ledger->learns_from;

	if (!ledger->is_learning || learned < call->grace)
		return;
	if (learned < call->grace + ledger->window && !all_are_complete(ledger))
		return;
	ledger->is_learning = false;
	for (int i = 0; i < RF_LEDGER_SLOTS; i++)
		ledger->host[i].is_expected = false;
}

void rf_ledger_open(struct rf_ledger *ledger, const struct rf_ledger_call *call)
{
	if (has_missed(ledger, call))
		start_learning(ledger, call);
	if (call->now > ledger->newest)
		ledger->newest = call->now;
	if (call->window > ledger->window)
		ledger->window = call->window;
	end_learning(ledger, call);
}

/* ---- members ---- */

static bool is_silent(const struct rf_ledger *ledger, const struct rf_ledger_host *host,
		      uint64_t grace, uint64_t window)
{
	return ledger->newest - host->heard >= grace + window;
}

/* May a host that is no member take this slot? */
static bool may_take(const struct rf_ledger *ledger, const struct rf_ledger_host *host,
		     const struct rf_ledger_call *call, const struct rf_ledger_beat *beat)
{
	if (!ledger->is_learning || beat->resumes)
		return true;
	return !host->is_expected && ledger->newest - ledger->learns_from >= call->grace;
}

static bool is_foreign(const struct rf_ledger *ledger, const struct rf_ledger_call *call,
		       const struct rf_ledger_beat *beat)
{
	for (int i = 0; i < RF_LEDGER_SLOTS && ledger->key != beat->key; i++)
		if (ledger->host[i].nonce &&
		    !is_silent(ledger, &ledger->host[i], call->grace, ledger->window))
			return true;
	return false;
}

static void take_key(struct rf_ledger *ledger, const struct rf_ledger_call *call, uint64_t key)
{
	if (ledger->key == key)
		return;
	ledger->key = key;
	for (int i = 0; i < RF_LEDGER_SLOTS; i++)
		ledger->host[i].nonce = 0;
	if (!ledger->is_learning)
		start_learning(ledger, call);
}

static bool join(struct rf_ledger *ledger, struct rf_ledger_host *host,
		 const struct rf_ledger_call *call, const struct rf_ledger_beat *beat)
{
	if (host->nonce && is_silent(ledger, host, call->grace, ledger->window))
		host->nonce = 0;
	if (host->nonce && host->nonce != call->nonce)
		return false;
	if (!host->nonce) {
		if (!may_take(ledger, host, call, beat))
			return false;
		take_key(ledger, call, beat->key);
		host->generation++;
		host->joined = 0;
	}
	if (!host->joined) {
		host->nonce = call->nonce;
		host->joined = call->stamp;
		host->is_complete = false;
	}
	return true;
}

static void expect(struct rf_ledger *ledger, const struct rf_ledger_slots *known)
{
	for (int i = 0; i < RF_LEDGER_SLOTS && ledger->is_learning; i++)
		if (rf_ledger_slots_has(known, i))
			ledger->host[i].is_expected = true;
}

static struct rf_ledger_slots members_of(const struct rf_ledger *ledger)
{
	struct rf_ledger_slots members = {{0}};

	for (int i = 0; i < RF_LEDGER_SLOTS; i++)
		if (ledger->host[i].nonce)
			rf_ledger_slots_add(&members, i);
	return members;
}

/*
 * A host reports that it is alive. `joined` in the reply is 0 if the slot belongs to a different
 * host.
 */
struct rf_ledger_heard rf_ledger_beat(struct rf_ledger *ledger, const struct rf_ledger_call *call,
				      const struct rf_ledger_beat *beat)
{
	struct rf_ledger_heard heard = {.status = RF_LEDGER_REFUSED};
	struct rf_ledger_host *host;

	rf_ledger_open(ledger, call);
	heard.is_learning = ledger->is_learning;
	if (call->slot >= RF_LEDGER_SLOTS || !call->nonce)
		return heard;
	if (is_foreign(ledger, call, beat)) {
		heard.status = RF_LEDGER_FOREIGN;
		heard.key = ledger->key;
		return heard;
	}
	expect(ledger, &beat->known);
	host = &ledger->host[call->slot];
	if (!join(ledger, host, call, beat))
		return heard;
	host->heard = ledger->newest;
	if (beat->is_complete && call->joined == host->joined)
		host->is_complete = true;
	end_learning(ledger, call);
	heard.status = RF_LEDGER_DONE;
	heard.joined = host->joined;
	heard.is_complete = host->is_complete;
	heard.is_learning = ledger->is_learning;
	heard.members = members_of(ledger);
	return heard;
}

/* Silent for this long, it could also lose the slot to a different host: see join(). */
struct rf_ledger_left rf_ledger_gone(struct rf_ledger *ledger, const struct rf_ledger_call *call,
				     uint32_t slot)
{
	struct rf_ledger_host *host = &ledger->host[slot % RF_LEDGER_SLOTS];

	rf_ledger_open(ledger, call);
	if (slot >= RF_LEDGER_SLOTS || !host->nonce)
		return (struct rf_ledger_left){.status = RF_LEDGER_DONE};
	if (!is_silent(ledger, host, call->grace, ledger->window))
		return (struct rf_ledger_left){
			.status = RF_LEDGER_REFUSED,
			.left = call->grace + ledger->window - (ledger->newest - host->heard),
		};
	host->nonce = 0;
	return (struct rf_ledger_left){.status = RF_LEDGER_DONE};
}

/* ---- claims ---- */

bool rf_ledger_is_member(const struct rf_ledger *ledger, const struct rf_ledger_call *call)
{
	const struct rf_ledger_host *host;

	if (call->slot >= RF_LEDGER_SLOTS || !call->nonce || !call->joined)
		return false;
	host = &ledger->host[call->slot];
	return host->nonce == call->nonce && host->joined == call->joined;
}

static bool is_void(const struct rf_ledger *ledger, const struct rf_ledger_claim *claim,
		    uint64_t grace, uint64_t window)
{
	const struct rf_ledger_host *host = &ledger->host[claim->slot];

	return !host->nonce || host->generation != claim->generation ||
	       is_silent(ledger, host, grace, window);
}

static void drop_void(const struct rf_ledger *ledger, struct rf_ledger_source *source,
		      uint64_t grace, uint64_t window)
{
	int kept = 0;

	for (int i = 0; i < source->count; i++)
		if (!is_void(ledger, &source->claim[i], grace, window))
			source->claim[kept++] = source->claim[i];
	memset(&source->claim[kept], 0, (source->count - kept) * sizeof(source->claim[0]));
	source->count = kept;
}

static struct rf_ledger_claim *find_claim(struct rf_ledger_source *source, uint32_t slot)
{
	for (int i = 0; i < source->count; i++)
		if (source->claim[i].slot == slot)
			return &source->claim[i];
	return NULL;
}

static struct rf_ledger_claim *add_claim(const struct rf_ledger *ledger,
					 struct rf_ledger_source *source, uint32_t slot)
{
	struct rf_ledger_claim *claim = &source->claim[source->count++];

	*claim = (struct rf_ledger_claim){
		.slot = slot,
		.generation = ledger->host[slot].generation,
	};
	return claim;
}

static uint64_t sum_of(const struct rf_ledger_source *source)
{
	uint64_t sum = 0;

	for (int i = 0; i < source->count; i++)
		sum += source->claim[i].claim;
	return sum;
}

uint64_t rf_ledger_claimed(const struct rf_ledger *ledger, const struct rf_ledger_source *source,
			   const struct rf_ledger_call *call, const struct rf_ledger_limit *limit)
{
	struct rf_ledger_source live = *source;

	drop_void(ledger, &live, call->grace, limit->window);
	return sum_of(&live);
}

/* The grant: `others` is the sum of other claims, `most` the maximum of any claim. */
static uint32_t give(const struct rf_ledger *ledger, const struct rf_ledger_call *call,
		     const struct rf_ledger_limit *limit, const struct rf_ledger_report *report,
		     uint64_t others, uint64_t most)
{
	const uint64_t free = limit->pool > others ? limit->pool - others : 0;
	uint64_t share = report->wants < free ? report->wants : free;

	if (ledger->is_learning || !ledger->host[call->slot].is_complete)
		return report->has;
	if (share > most)
		share = most;
	return share > report->has ? share : report->has;
}

static bool is_contested(const struct rf_ledger *ledger, const struct rf_ledger_source *source)
{
	return ledger->newest < source->contested_until;
}

/*
 * Among how many the pool would be shared: hosts with a claim, hosts that request one, and the
 * caller.
 */
static uint32_t count_sharers(const struct rf_ledger_source *source, uint32_t slot)
{
	uint32_t count = 0;

	for (int i = 0; i < source->count; i++)
		count += source->claim[i].claim || source->claim[i].in_vain ||
			 source->claim[i].slot == slot;
	return count;
}

/* Starts or ends a contest. `before`: its claim until now. */
static void contest(const struct rf_ledger *ledger, struct rf_ledger_source *source,
		    const struct rf_ledger_call *call, const struct rf_ledger_limit *limit,
		    const struct rf_ledger_claim *before, bool in_vain, uint32_t share,
		    uint32_t even)
{
	if (in_vain && !ledger->is_learning && share < even)
		source->contested_until = ledger->newest + call->grace + limit->window / 2;
	else if (before->in_vain && before->claim < even && share >= even)
		source->contested_until = 0;
}

static uint32_t lower_to(const struct rf_ledger *ledger, const struct rf_ledger_source *source,
			 uint32_t even, uint32_t share)
{
	if (!is_contested(ledger, source) || share <= even)
		return share;
	return even + (share - even) / 2;
}

static uint32_t larger(uint32_t one, uint32_t other)
{
	return one > other ? one : other;
}

/* The minimum of a claim while the host has admitted, or can admit, this much beyond `first`. */
static uint32_t claim_at_least(const struct rf_ledger_report *report,
			       const struct rf_ledger_limit *limit)
{
	return larger(report->has, report->used > limit->first ? report->used - limit->first : 0);
}

/* Records a host's state for a source, and grants its request as far as available. */
struct rf_ledger_answer rf_ledger_report(struct rf_ledger *ledger, struct rf_ledger_source *source,
					 const struct rf_ledger_call *call,
					 const struct rf_ledger_limit *limit,
					 const struct rf_ledger_report *report)
{
	struct rf_ledger_answer answer = {.status = RF_LEDGER_STRANGER, .seq = report->seq};
	struct rf_ledger_claim *claim, before;
	uint32_t even;

	rf_ledger_open(ledger, call);
	if (!rf_ledger_is_member(ledger, call))
		return answer;
	claim = find_claim(source, call->slot);
	if (claim && is_void(ledger, claim, call->grace, limit->window))
		claim = NULL;
	answer.status = RF_LEDGER_OLD;
	if (claim && (int32_t)(report->seq - claim->seq) <= 0)
		return answer;
	drop_void(ledger, source, call->grace, limit->window);
	claim = find_claim(source, call->slot);
	if (!claim)
		claim = add_claim(ledger, source, call->slot);
	before = *claim;
	claim->seq = report->seq;
	answer.status = RF_LEDGER_DONE;
	even = limit->pool / count_sharers(source, call->slot);
	answer.share = give(ledger, call, limit, report, sum_of(source) - claim->claim,
			    is_contested(ledger, source) ? even : limit->pool);
	claim->claim = larger(answer.share, claim_at_least(report, limit));
	claim->in_vain = report->wants > answer.share;
	contest(ledger, source, call, limit, &before, claim->in_vain, answer.share, even);
	answer.lower_to = lower_to(ledger, source, even, answer.share);
	return answer;
}
