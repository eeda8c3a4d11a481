// SPDX-License-Identifier: GPL-2.0
/*
 * Worlds that differ only in unread state become the same one: times by their age, up to the age
 * that matters, names and numbers by their order. State that nothing in this world reads is
 * dropped. In rows without contests that includes `in_vain`. Otherwise it leads to a contest and to
 * advice, which a host can take or not, and each host can always do both.
 */
#include <string.h>

#include "world.h"

#define BASE 64 /* the time of a normal world: longer than G + W */
#define PAST 32 /* an expired deadline */

static int larger(int one, int other)
{
	return one > other ? one : other;
}

/* ---- times ---- */

static uint64_t since(uint64_t now, uint64_t then, uint64_t most)
{
	const uint64_t ago = now > then ? now - then : 0;

	return BASE - (ago < most ? ago : most);
}

static uint64_t until(uint64_t now, uint64_t then)
{
	return then > now ? then - now + BASE : 0;
}

/* The next call, whichever and whenever it comes, makes the ledger learn. */
static void normal_stale(struct world *world)
{
	struct rf_ledger *ledger = &world->ledger;

	ledger->run = world->run;
	ledger->newest = ledger->learns_from = 0;
	ledger->is_learning = true;
	for (int i = 0; i < HOSTS; i++) {
		ledger->host[i].joined = ledger->host[i].heard = 0;
		ledger->host[i].is_complete = false;
	}
}

static void normal_ledger_times(struct world *world)
{
	struct rf_ledger *ledger = &world->ledger;
	const uint64_t now = world->now + world->skew;
	const int most = row->grace + row->window;

	/* An empty ledger starts to learn, at any time. */
	if (!ledger->run)
		return;
	if (ledger->run != world->run || now > ledger->newest + row->grace / 2) {
		normal_stale(world);
		return;
	}
	ledger->newest = since(now, ledger->newest, row->grace / 2 + 1);
	ledger->learns_from = ledger->is_learning ? since(now, ledger->learns_from, most) : 0;
	for (int i = 0; i < HOSTS; i++)
		ledger->host[i].heard =
			ledger->host[i].nonce ? since(now, ledger->host[i].heard, most) : 0;
}

bool world_is_beat(const struct message *message)
{
	return message->kind == BEAT || message->kind == HEARD;
}

/*
 * The deadline that a reply to that message sets for its host; 0: none later than its present one.
 */
static uint64_t later_deadline(const struct world *world, const struct message *message)
{
	const struct rf_member *member = &world->host[message->host].member;
	const uint64_t deadline = message->sent + row->grace;

	if (!world_is_beat(message) || message->nonce != member->nonce ||
	    deadline <= member->deadline)
		return 0;
	return deadline;
}

/* Of deadlines that are over only the order matters: how many are there up to that one? */
static int past_rank(const uint64_t *deadlines, int host, const struct world *world, uint64_t most)
{
	int rank = 0;

	for (int i = 0; i < NET; i++) {
		bool counts = deadlines[i] && deadlines[i] <= most && world->net[i].host == host;

		for (int j = 0; j < i; j++)
			counts &= deadlines[j] != deadlines[i] || world->net[j].host != host;
		rank += counts;
	}
	return rank;
}

static void normal_deadlines(struct world *world)
{
	uint64_t later[NET];

	for (int i = 0; i < NET; i++)
		later[i] = later_deadline(world, &world->net[i]);
	for (int i = 0; i < NET; i++) {
		struct message *message = &world->net[i];
		uint64_t deadline = until(world->now, later[i]);

		if (!deadline)
			deadline = PAST + past_rank(later, message->host, world, later[i]);
		message->sent = world_is_beat(message) ? deadline - row->grace : 0;
	}
	for (int i = 0; i < HOSTS; i++) {
		uint64_t *deadline = &world->host[i].member.deadline;

		*deadline = larger(PAST, until(world->now, *deadline));
	}
}

/* Another run makes it learn once it takes over. */
static void normal_replica_times(struct rf_ledger *ledger)
{
	ledger->run = ledger->newest = ledger->learns_from = 0;
	ledger->is_learning = false;
	for (int i = 0; i < HOSTS; i++) {
		ledger->host[i].joined = ledger->host[i].heard = 0;
		ledger->host[i].is_complete = false;
	}
}

static void normal_contest(const struct world *world, struct rf_ledger_source *source)
{
	source->contested_until = until(world->now + world->skew, source->contested_until);
}

static void normal_times(struct world *world)
{
	for (int i = 0; i < 2; i++) {
		normal_contest(world, &world->source[i]);
		normal_contest(world, &world->replica.source[i]);
	}
	normal_deadlines(world);
	for (int i = 0; i < HOSTS; i++) {
		struct host *host = &world->host[i];

		host->claim.held_until = until(world->now, host->claim.held_until);
		if (!host->claim.held)
			host->claim.held_until = 0;
	}
	world->now = BASE;
	world->skew = 0;
}

/* ---- claims ---- */

static bool is_dropped(const struct rf_ledger *ledger, const struct rf_ledger_claim *claim)
{
	const struct rf_ledger_host *host = &ledger->host[claim->slot];

	return !host->nonce || host->generation != claim->generation;
}

/* Can that claim still decide whether a report is an old one? */
static bool has_old_reports(const struct world *world, const struct rf_ledger *ledger,
			    const struct rf_ledger_claim *claim)
{
	for (int i = 0; i < NET; i++) {
		const struct message *message = &world->net[i];

		if (message->kind == REPORT && message->host % world_slots() == claim->slot &&
		    message->nonce == ledger->host[claim->slot].nonce &&
		    message->report.seq <= claim->seq)
			return true;
	}
	return false;
}

static void normal_source(const struct world *world, const struct rf_ledger *ledger,
			  struct rf_ledger_source *source)
{
	int kept = 0;

	for (int i = 0; i < source->count; i++) {
		struct rf_ledger_claim claim = source->claim[i];

		if (is_dropped(ledger, &claim))
			continue;
		claim.in_vain = claim.in_vain && row->contests;
		if (!claim.claim && !claim.in_vain && !has_old_reports(world, ledger, &claim))
			continue;
		claim.generation = 0;
		source->claim[kept++] = claim;
	}
	memset(&source->claim[kept], 0, (source->count - kept) * sizeof(source->claim[0]));
	source->count = kept;
}

static void normal_claims(struct world *world)
{
	struct replica *replica = &world->replica;

	for (int i = 0; i < 2; i++) {
		normal_source(world, &world->ledger, &world->source[i]);
		normal_source(world, &replica->ledger, &replica->source[i]);
	}
	for (int i = 0; i < HOSTS; i++)
		world->ledger.host[i].generation = replica->ledger.host[i].generation = 0;
}

/* ---- the network ---- */

/* Is there another message of that host and start, of that report or of an older heartbeat? */
static bool has_company(const struct world *world, const struct message *message)
{
	for (int i = 0; i < NET; i++) {
		const struct message *other = &world->net[i];

		if (other == message || other->host != message->host ||
		    other->nonce != message->nonce)
			continue;
		if (message->kind == HEARD && world_is_beat(other) && other->beat <= message->beat)
			return true;
		if (message->kind == ANSWER && other->kind == REPORT &&
		    other->report.seq == message->answer.seq)
			return true;
	}
	return false;
}

/* Does that reply to a report grant a share, or announce a claim that must be known? */
static bool tells_something(const struct world *world, const struct message *message)
{
	const struct rf_claim *claim = &world->host[message->host].claim;

	if (message->answer.status != RF_LEDGER_DONE)
		return false;
	return message->answer.share > claim->has + claim->held ||
	       world_tells(world, message->host, claim->asked_in);
}

/*
 * A reply to a report other than the latest, or to an agent that stopped, changes nothing. One
 * without a grant can only make others void, which is equivalent to their loss.
 */
static bool is_dead(const struct world *world, const struct message *message)
{
	const struct host *host = &world->host[message->host];

	if (message->kind != HEARD && message->kind != ANSWER)
		return false;
	if (message->nonce != host->member.nonce)
		return true;
	if (message->kind == HEARD)
		return (int32_t)(message->beat - host->member.heard_beat) <= 0 ||
		       (message->heard.status != RF_LEDGER_DONE && !has_company(world, message));
	if (!host->claim.seq || message->answer.seq != host->claim.seq || message->tag != host->tag)
		return true;
	return !tells_something(world, message) && !has_company(world, message);
}

/* May the host be in that membership now or later? Heartbeats out of order bring one back. */
static bool may_return(const struct world *world, int host, uint64_t joined)
{
	if (joined == world->host[host].member.joined ||
	    joined == world->ledger.host[host % world_slots()].joined)
		return true;
	for (int i = 0; i < NET; i++) {
		const struct message *message = &world->net[i];

		if (message->kind == HEARD && message->host == host &&
		    message->nonce == world->host[host].member.nonce &&
		    message->heard.joined == joined)
			return true;
	}
	return false;
}

static void normal_memberships(struct world *world)
{
	for (int i = 0; i < HOSTS; i++) {
		struct rf_claim *claim = &world->host[i].claim;

		if (!may_return(world, i, claim->known_in))
			claim->known_in = 0;
		if (!may_return(world, i, claim->asked_in))
			claim->asked_in = claim->seq = 0;
	}
}

/* Bytes between fields can be anything. */
static void clear_says(struct rf_ledger_beat *says)
{
	const struct rf_ledger_beat was = *says;

	memset(says, 0, sizeof(*says));
	says->is_complete = was.is_complete;
	says->resumes = was.resumes;
	says->key = was.key;
	says->known = was.known;
}

static void clear_heard(struct rf_ledger_heard *heard)
{
	const struct rf_ledger_heard was = *heard;

	memset(heard, 0, sizeof(*heard));
	heard->status = was.status;
	heard->joined = was.joined;
	heard->is_complete = was.is_complete;
	heard->is_learning = was.is_learning;
	heard->members = was.members;
}

/* It can lead to the claim that `has` and `used` imply at least, and to the additional request. */
static void normal_report(struct rf_ledger_report *report)
{
	if (report->used < row->first + report->has)
		report->used = row->first + report->has;
	if (report->wants < report->has)
		report->wants = report->has;
}

/* Can the host's latest report still be answered? */
static bool is_under_way(const struct world *world, int host)
{
	for (int i = 0; i < NET; i++) {
		const struct message *message = &world->net[i];

		if (message->host != host || message->nonce != world->host[host].member.nonce)
			continue;
		if (message->kind == REPORT && message->report.seq == world->host[host].claim.seq)
			return true;
		if (message->kind == ANSWER)
			return true;
	}
	return false;
}

/* Repeatedly, because a dead one keeps another alive. */
static void drop_dead(struct world *world)
{
	for (int i = 0; i < NET * NET; i++)
		if (world->net[i % NET].kind != NOTHING && is_dead(world, &world->net[i % NET]))
			memset(&world->net[i % NET], 0, sizeof(world->net[0]));
}

static void normal_messages(struct world *world)
{
	drop_dead(world);
	normal_memberships(world);
	drop_dead(world);
	for (int i = 0; i < NET; i++) {
		struct message *message = &world->net[i];

		if (world_is_beat(message))
			message->tag = 0;
		if (message->kind == HEARD || message->kind == ANSWER)
			message->joined = 0;
		if (message->kind == REPORT)
			normal_report(&message->report);
		else if (message->kind == ANSWER)
			message->answer.lower_to = 0;
		else if (message->kind == HEARD)
			clear_heard(&message->heard);
		else if (message->kind == BEAT)
			clear_says(&message->says);
	}
	for (int i = 0; i < HOSTS; i++)
		if (!is_under_way(world, i))
			world->host[i].claim.seq = 0;
}

/* ---- windows and books ---- */

/* Is it by the clip of that tick that a packet under way will count whole? */
static bool is_for_packet(const struct window *window, int tick)
{
	return tick == 0 || (tick == 1 && window->is_late && window->most[0] < window->pending - 1);
}

/*
 * Entries older than W do not count. Nor does the clip of a tick, as long as it cuts nothing: the
 * largest of any later W is then at least the admissions of each of its ticks, under a limit of
 * that tick or of the one before, and the possible addition of a packet in flight.
 */
static void normal_window(struct host *host)
{
	struct window *window = &host->window;

	for (int i = row->window; i < WINDOW_MAX; i++)
		window->admitted[i] = 0;
	for (int i = 0; i < WINDOW_MAX; i++) {
		int enough = window->admitted[i];

		if (i && window->admitted[i - 1] > larger(enough, window->most[i - 1]))
			enough = window->admitted[i - 1];
		if (window->pending > enough + 1 && is_for_packet(window, i))
			enough = window->pending - 1;
		if (i > row->window)
			enough = 0;
		if (window->most[i] > enough)
			window->most[i] = enough;
	}
	if (window->generation != host->member.generation || window->tag != host->tag)
		window->share = 0, window->tag = host->tag;
	window->generation = host->member.generation = 1;
	host->incarnation = window->incarnation == host->incarnation;
	window->incarnation = 1;
}

/* The judge checks whether a host was offline at any time in W, and the sum over the hosts. */
static void keep_newest(uint8_t *ticks)
{
	bool seen = false;

	for (int i = 0; i < WINDOW_MAX; i++) {
		ticks[i] = ticks[i] && !seen && i < row->window;
		seen |= ticks[i];
	}
}

static void normal_books(struct books *books)
{
	/* Under `offline initial` an offline host passes the same amount as without a share. */
	for (int i = 0; i < HOSTS; i++) {
		if (row->strict && !row->rival)
			memset(books->alone[i], 0, WINDOW_MAX);
		keep_newest(books->alone[i]);
	}
	keep_newest(books->differs);
	for (int i = 0; i < WINDOW_MAX; i++) {
		for (int j = 1; j < HOSTS; j++) {
			books->admitted[0][i] += books->admitted[j][i];
			books->admitted[j][i] = 0;
		}
		if (i >= row->window)
			books->admitted[0][i] = books->lost[i] = 0;
	}
}

static void normal_host(struct host *host)
{
	normal_window(host);
	host->claim.asked_in = host->claim.seq ? host->claim.asked_in : 0;
	if (!row->evictions)
		host->claim.covers = host->claim.covers && !row->steady;
	host->reports = host->beats = 0;
}

static void normal_count(uint8_t *count, int most)
{
	if (most == ANY)
		*count = 0;
}

void world_normal(struct world *world)
{
	normal_count(&world->twice, row->twice);
	normal_count(&world->forgets, row->forgets);
	normal_count(&world->steps, row->steps);
	normal_count(&world->reboots, row->reboots);
	normal_count(&world->evictions, row->evictions);
	normal_ledger_times(world);
	normal_replica_times(&world->replica.ledger);
	normal_messages(world);
	normal_times(world);
	normal_claims(world);
	world_unread(world);
	normal_books(&world->books);
	for (int i = 0; i < HOSTS; i++)
		normal_host(&world->host[i]);
	world_rename(world);
	world_sort(world);
}
