// SPDX-License-Identifier: GPL-2.0
#include "world.h"

#include <stdio.h>
#include <string.h>

const struct row *row;
const char *const act_names[ACTS] = {
	"tick",	   "admits",   "reads limit", "charges",       "lowers",   "waited",
	"reports", "beats",    "message",     "message again", "keeps",	   "keeps again",
	"emptied", "restarts", "clock steps", "copied",	       "promoted", "expires",
	"reboots", "evicts",   "changes",     "loses"};

static int least(int one, int other)
{
	return one < other ? one : other;
}

/* ---- the data path ---- */

static int limit_of(const struct world *world, const struct host *host)
{
	const struct window *window = &host->window;
	bool counts = window->generation == host->member.generation && window->tag == host->tag;

	if (rf_member_is_alone(&host->member, world->now))
		return world_limit_alone();
	return rf_fleet_room(row->limit, row->first, counts ? window->share : 0);
}

/* A tick longer than W: a packet might have read its limit in the tick before. */
static int clip_of(const struct window *window)
{
	int most = 0;

	for (int i = 0; i <= row->window; i++)
		most = window->most[i] > most ? window->most[i] : most;
	return most;
}

static int used_of(const struct window *window)
{
	int used = 0;

	for (int i = 0; i < row->window; i++)
		used += least(window->admitted[i], clip_of(window));
	return used;
}

static void note_most(struct world *world, struct host *host)
{
	const int limit = limit_of(world, host);

	if (limit > host->window.most[0])
		host->window.most[0] = limit;
}

void world_note_states(struct world *world)
{
	for (int i = 0; i < HOSTS; i++) {
		if (rf_member_is_alone(&world->host[i].member, world->now))
			world->books.alone[i][0] = 1;
		note_most(world, &world->host[i]);
		if (world->host[i].tag != world->host[0].tag)
			world->books.differs[0] = 1;
	}
}

static bool admit(struct world *world, int which, int limit)
{
	struct window *window = &world->host[which].window;

	const int room = limit - used_of(window);

	if (room <= 0)
		return false;
	window->admitted[0]++;
	world->books.admitted[which][0]++;
	return true;
}

/* ---- the network ---- */

static int places(void)
{
	return row->net ? row->net : NET;
}

static struct message *send(struct world *world, enum kind kind, int host)
{
	for (int i = 0; i < places(); i++) {
		struct message *message = &world->net[i];

		if (message->kind != NOTHING)
			continue;
		message->kind = kind;
		message->host = host;
		message->tag = world->host[host].tag;
		message->nonce = world->host[host].member.nonce;
		message->joined = world->host[host].member.joined;
		message->sent = world->now;
		return message;
	}
	return NULL;
}

static struct rf_ledger_call call_of(struct world *world, const struct message *message)
{
	return (struct rf_ledger_call){
		.now = world->now + world->skew,
		.run = world->run,
		.stamp = world->stamp + 1,
		.grace = row->grace,
		.window = row->window,
		.nonce = message->nonce,
		.joined = message->joined,
		.slot = message->host % world_slots(),
	};
}

static void serve(struct world *world, const struct message *message, struct message *reply)
{
	const struct rf_ledger_call call = call_of(world, message);
	const struct rf_ledger_limit limit = {
		.pool = rf_fleet_pool(row->limit, world_slots(), row->first),
		.first = row->first,
		.window = row->window,
	};

	*reply = *message;
	reply->kind = message->kind == BEAT ? HEARD : ANSWER;
	memset(&reply->heard, 0, sizeof(reply->heard));
	if (message->kind == BEAT)
		reply->heard = rf_ledger_beat(&world->ledger, &call, &message->says);
	else
		reply->answer = rf_ledger_report(&world->ledger, &world->source[message->tag % 2],
						 &call, &limit, &message->report);
	/* In a contest less is granted, as if less were free or requested: few rows check it. */
	if (!row->contests)
		world->source[message->tag % 2].contested_until = 0;
	if (world->ledger.host[call.slot].joined == call.stamp)
		world->stamp++;
}

static void lose_claim(struct world *world, struct host *host)
{
	rf_claim_lost(&host->claim, world->now, row->window);
	host->incarnation = host->window.incarnation;
}

static void write_share(struct host *host)
{
	host->window.share = host->claim.share;
	host->window.tag = host->tag;
	host->window.generation = host->member.generation;
}

static void lower(struct host *host, int share)
{
	rf_claim_lower(&host->claim, share);
	host->window.is_old = host->window.pending != 0;
	if (host->incarnation == host->window.incarnation)
		write_share(host);
}

static void take_heard(struct world *world, const struct message *message)
{
	struct host *host = &world->host[message->host];

	if (rf_member_heard(&host->member, world->now, message->beat, message->sent,
			    &message->heard) == RF_MEMBER_EMPTIED)
		lower(host, 0);
}

static void take_answer(struct world *world, const struct message *message)
{
	struct host *host = &world->host[message->host];

	if (message->tag != host->tag)
		return;
	if (!rf_claim_answered(&host->claim, &host->member, &message->answer))
		return;
	if (host->incarnation != host->window.incarnation)
		lose_claim(world, host);
	else
		write_share(host);
}

/* `keeps`: a report that requests no more than the present share. */
static void deliver(struct world *world, int place, bool stays, bool keeps)
{
	struct message message = world->net[place];
	struct message reply;

	if (keeps)
		message.report.wants = message.report.has;

	if (!stays)
		memset(&world->net[place], 0, sizeof(world->net[place]));
	if (message.kind == BEAT || message.kind == REPORT) {
		serve(world, &message, &reply);
		for (int i = 0; i < places(); i++) {
			if (world->net[i].kind == NOTHING) {
				world->net[i] = reply;
				break;
			}
		}
	} else if (message.nonce == world->host[message.host].member.nonce) {
		if (message.kind == HEARD)
			take_heard(world, &message);
		else
			take_answer(world, &message);
	}
}

/* ---- what happens ---- */

static bool tick(struct world *world)
{
	if (world->now >= (uint64_t)row->ticks)
		return false;
	for (int i = 0; i < HOSTS; i++)
		if (world->host[i].window.is_late)
			return false;
	world->now++;
	memmove(&world->books.lost[1], &world->books.lost[0], WINDOW_MAX - 1);
	memmove(&world->books.differs[1], &world->books.differs[0], WINDOW_MAX - 1);
	world->books.lost[0] = world->books.differs[0] = 0;
	for (int i = 0; i < HOSTS; i++) {
		struct window *window = &world->host[i].window;

		memmove(&world->books.admitted[i][1], world->books.admitted[i], WINDOW_MAX - 1);
		memmove(&world->books.alone[i][1], world->books.alone[i], WINDOW_MAX - 1);
		memmove(&window->admitted[1], window->admitted, WINDOW_MAX - 1);
		memmove(&window->most[1], window->most, WINDOW_MAX - 1);
		world->books.admitted[i][0] = world->books.alone[i][0] = 0;
		window->admitted[0] = window->most[0] = 0;
		window->is_late = window->pending != 0;
	}
	return true;
}

/* The request is chosen when the ledger receives it, because nothing reads it before. */
static bool report(struct world *world, int which)
{
	struct host *host = &world->host[which];
	struct message *message;

	if (host->reports >= row->reports || !host->member.joined)
		return false;
	message = send(world, REPORT, which);
	if (!message)
		return false;
	if (host->incarnation != host->window.incarnation)
		lose_claim(world, host);
	host->reports++;
	message->report = rf_claim_report(&host->claim, &host->member, world->now, row->first,
					  used_of(&host->window), row->limit - row->first);
	return true;
}

/* Only the reply can be late, or lost if the network has no room. */
static void hear_at_once(struct world *world, const struct message *message)
{
	struct rf_member *member = &world->host[message->host].member;
	struct message reply, *late;

	serve(world, message, &reply);
	if (row->slow) {
		late = send(world, HEARD, message->host);
		if (late)
			*late = reply;
		return;
	}
	take_heard(world, &reply);
	member->beat = member->heard_beat = 0;
}

static bool beat(struct world *world, int which)
{
	struct host *host = &world->host[which];
	bool known = rf_claim_is_known(&host->claim, &host->member);
	struct message message, *sent = &message;

	memset(&message, 0, sizeof(message));
	if (row->beats && host->beats >= row->beats)
		return false;
	if (row->beats) {
		sent = send(world, BEAT, which);
		if (!sent)
			return false;
		host->beats++;
	}
	*sent = (struct message){.kind = BEAT,
				 .host = which,
				 .tag = host->tag,
				 .nonce = host->member.nonce,
				 .joined = host->member.joined,
				 .sent = world->now};
	sent->says = rf_member_beat(&host->member, world->now, known);
	sent->beat = host->member.beat;
	if (!row->beats)
		hear_at_once(world, sent);
	return true;
}

/* Without faults between hosts and server, all are connected in each tick. */
static bool beat_all(struct world *world)
{
	for (int i = 0; i < HOSTS && row->steady; i++)
		beat(world, i);
	return true;
}

static bool start_packet(struct world *world, int which)
{
	struct window *window = &world->host[which].window;

	if (!row->packets || window->pending)
		return false;
	window->pending = 1 + limit_of(world, &world->host[which]);
	window->is_old = false;
	return true;
}

static bool finish_packet(struct world *world, int which)
{
	struct window *window = &world->host[which].window;
	const int limit = window->pending - 1;

	if (!window->pending)
		return false;
	window->pending = 0;
	window->is_old = window->is_late = false;
	admit(world, which, limit);
	return true;
}

static bool give_back(struct host *host)
{
	if (!host->claim.share)
		return false;
	lower(host, row->contests ? host->claim.share - 1 : 0);
	return true;
}

static bool wait_for_programs(struct host *host)
{
	if (host->claim.share >= host->claim.has || host->window.is_old)
		return false;
	rf_claim_waited(&host->claim);
	return true;
}

static bool is_owner(const struct world *world, int which, int slot)
{
	return which % world_slots() == slot &&
	       world->host[which].member.nonce == world->ledger.host[slot].nonce;
}

static bool is_known(const struct world *world, int slot)
{
	for (int i = 0; i < HOSTS; i++)
		if (!is_owner(world, i, slot) &&
		    rf_ledger_slots_has(&world->host[i].member.members, slot))
			return true;
	return false;
}

/* An engine that forgets a member whom no other host knows is one of the exceptions. */
static bool is_excepted(const struct world *world)
{
	for (int i = 0; i < HOSTS; i++)
		if (world->ledger.host[i].nonce && !is_known(world, i))
			return row->strict;
	return false;
}

static bool forget(struct world *world, bool restarts)
{
	if (world->forgets >= row->forgets || is_excepted(world))
		return false;
	world->forgets++;
	world->run += restarts;
	memset(&world->ledger, 0, sizeof(world->ledger));
	memset(world->source, 0, sizeof(world->source));
	return true;
}

static bool step_clock(struct world *world)
{
	if (world->steps >= row->steps)
		return false;
	world->steps++;
	world->skew += row->grace + row->window;
	return true;
}

static bool copy(struct world *world)
{
	if (world->copies >= row->losses)
		return false;
	world->copies++;
	world->replica.ledger = world->ledger;
	memcpy(world->replica.source, world->source, sizeof(world->source));
	return true;
}

static bool promote(struct world *world)
{
	if (world->losses >= world->copies)
		return false;
	world->losses++;
	world->ledger = world->replica.ledger;
	world->ledger.run = world->run++;
	memcpy(world->source, world->replica.source, sizeof(world->source));
	memset(&world->replica, 0, sizeof(world->replica));
	return true;
}

static bool expire(struct rf_ledger_source *source)
{
	for (int i = 0; i < source->count; i++)
		if (source->claim[i].claim)
			return false;
	if (!row->expires || !source->count)
		return false;
	memset(source, 0, sizeof(*source));
	return true;
}

void world_start_host(struct host *host, uint64_t nonce, int slot)
{
	memset(host, 0, sizeof(*host));
	host->member.nonce = nonce;
	host->member.slot = slot;
	host->member.grace = row->grace;
}

/*
 * A new window passes again the amount without a share: `first`, or L if it was recently offline.
 */
static void note_lost(struct world *world, int which)
{
	bool alone = false;

	for (int i = 0; i < row->window; i++)
		alone |= world->books.alone[which][i];
	world->books.lost[0] += alone ? world_limit_alone() : row->first;
}

static bool reboot(struct world *world, int which)
{
	const struct host old = world->host[which];

	if (world->reboots >= row->reboots)
		return false;
	world->reboots++;
	note_lost(world, which);
	world_start_host(&world->host[which], ++world->nonces, which);
	world->host[which].tag = old.tag;
	world->host[which].reports = old.reports;
	world->host[which].beats = old.beats;
	return true;
}

static bool evict(struct world *world, int which)
{
	struct window *window = &world->host[which].window;

	if (world->evictions >= row->evictions || window->pending)
		return false;
	world->evictions++;
	note_lost(world, which);
	*window = (struct window){.incarnation = window->incarnation + 1};
	return true;
}

/* A limit that is redefined: the agent starts without a claim. */
static bool change(struct world *world, int which)
{
	struct host *host = &world->host[which];

	if (world->changes >= row->changes)
		return false;
	world->changes++;
	world->books.differs[0] = 1;
	host->tag++;
	memset(&host->claim, 0, sizeof(host->claim));
	return true;
}

static bool act_host(struct world *world, enum act act, int which)
{
	struct host *host = &world->host[which];

	switch (act) {
	case ADMIT:
		return admit(world, which, limit_of(world, host));
	case START:
		return start_packet(world, which);
	case FINISH:
		return finish_packet(world, which);
	case LOWER:
		return give_back(host);
	case WAITED:
		return wait_for_programs(host);
	case ASK:
		return report(world, which);
	case SAY:
		return beat(world, which);
	case REBOOT:
		return reboot(world, which);
	case EVICT:
		return evict(world, which);
	default:
		return change(world, which);
	}
}

static bool act_net(struct world *world, enum act act, int place)
{
	const bool stays = act == REPEAT || act == KEEP_REPEAT;
	const bool keeps = act == KEEP || act == KEEP_REPEAT;

	if (world->net[place].kind == NOTHING || (keeps && world->net[place].kind != REPORT))
		return false;
	if (stays && world->twice >= row->twice)
		return false;
	world->twice += stays;
	if (act == LOSE)
		memset(&world->net[place], 0, sizeof(world->net[place]));
	else
		deliver(world, place, stays, keeps);
	return true;
}

static bool is_of_net(enum act act)
{
	return (act >= DELIVER && act <= KEEP_REPEAT) || act == LOSE;
}

bool world_act(struct world *world, enum act act, int which)
{
	bool done;

	if (act == SAY && row->steady)
		return false;
	if (is_of_net(act))
		done = act_net(world, act, which);
	else if (act == TICK)
		done = !which && tick(world) && beat_all(world);
	else if (act == EMPTY || act == RESTART)
		done = !which && forget(world, act == RESTART);
	else if (act == STEP)
		done = !which && step_clock(world);
	else if (act == COPY || act == PROMOTE)
		done = !which && (act == COPY ? copy(world) : promote(world));
	else if (act == EXPIRE)
		done = which < 2 && expire(&world->source[which]);
	else
		done = which < HOSTS && act_host(world, act, which);
	if (done)
		world_note_states(world);
	return done;
}

void world_print_act(enum act act, int which)
{
	printf(" %s", act_names[act]);
	if (is_of_net(act))
		printf("(%d)", which);
	else if (act != TICK && (act < EMPTY || act > EXPIRE))
		printf("(%c)", 'A' + which);
}
