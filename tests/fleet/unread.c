// SPDX-License-Identifier: GPL-2.0
/* Stored state that no rule reads any more: part of the normal form. */
#include <string.h>

#include "world.h"

static int slot_of(int host)
{
	return host % world_slots();
}

/* A membership that the ledger does not have now never returns: each name is used once. */
static bool is_open(const struct world *world, int host, uint64_t joined)
{
	return joined && joined == world->ledger.host[slot_of(host)].joined;
}

/* Does the ledger still have to learn that all claims of that membership are known? */
static bool awaits(const struct world *world, int host, uint64_t joined)
{
	return is_open(world, host, joined) && !world->ledger.host[slot_of(host)].is_complete;
}

/*
 * Does the host have nothing to report until it is granted a share? If it can go offline and pass
 * more than `first`, or a packet by an earlier limit, it might still.
 */
static bool has_nothing(const struct host *host)
{
	const struct rf_claim *claim = &host->claim;
	int used = 0;

	for (int i = 0; i < row->window; i++)
		used += host->window.admitted[i];
	return (row->strict || row->steady) && !host->window.pending && used <= row->first &&
	       !claim->covers && !claim->has && !claim->held;
}

/* Does it matter whether its claims are known? */
bool world_tells(const struct world *world, int host, uint64_t joined)
{
	return awaits(world, host, joined) && !has_nothing(&world->host[host]);
}

/* A report of a different membership changes nothing, for any contents. */
static void unread_message(const struct world *world, struct message *message)
{
	if (message->kind == REPORT && !is_open(world, message->host, message->joined)) {
		message->joined = 0;
		message->report = (struct rf_ledger_report){.seq = message->report.seq};
	}
	if (message->kind != BEAT)
		return;
	if (!awaits(world, message->host, message->joined))
		message->says.is_complete = false;
	if (!message->says.is_complete)
		message->joined = 0;
}

/* Does any host know that membership, or can one learn of it? */
static bool is_named(const struct world *world, int slot, uint64_t joined)
{
	for (int i = slot; i < HOSTS; i += world_slots()) {
		const struct host *host = &world->host[i];

		if (host->member.joined == joined || host->claim.known_in == joined ||
		    host->claim.asked_in == joined)
			return true;
	}
	for (int i = 0; i < NET; i++) {
		const struct message *message = &world->net[i];

		if (message->kind == NOTHING || slot_of(message->host) != slot)
			continue;
		if (message->joined == joined ||
		    (message->kind == HEARD && message->heard.joined == joined))
			return true;
	}
	return false;
}

/* An unknown one is equivalent to the next one. */
static void unread_membership(struct world *world, int slot)
{
	struct rf_ledger_host *host = &world->ledger.host[slot];

	if (host->joined && !host->is_complete && !is_named(world, slot, host->joined))
		host->joined = 0;
}

static void clear_slot(struct rf_ledger_slots *slots, int slot)
{
	slots->word[0] &= ~(1ULL << slot);
}

/*
 * A ledger that has a host waits for it, whichever others know that host: and it retains that host,
 * or a different one in its slot, unless it forgets.
 */
static void unread_known(struct world *world, int slot)
{
	if (!world->ledger.host[slot].nonce)
		return;
	world->ledger.host[slot].is_expected = false;
	for (int i = 0; i < HOSTS; i++)
		clear_slot(&world->host[i].member.members, slot);
	for (int i = 0; i < NET; i++) {
		if (world->net[i].kind == BEAT)
			clear_slot(&world->net[i].says.known, slot);
		else if (world->net[i].kind == HEARD)
			clear_slot(&world->net[i].heard.members, slot);
	}
}

/* Can a report arrive for that source? If no limit is redefined any more, possibly none. */
static bool is_asked_for(const struct world *world, int source)
{
	if (world->changes < row->changes)
		return true;
	for (int i = 0; i < HOSTS; i++)
		if (world->host[i].tag % 2 == source)
			return true;
	for (int i = 0; i < NET; i++)
		if (world->net[i].kind == REPORT && world->net[i].tag % 2 == source)
			return true;
	return false;
}

static void unread_source(struct world *world, int source)
{
	struct rf_ledger_source *sources[] = {&world->source[source],
					      &world->replica.source[source]};

	for (int i = 0; i < 2 && !is_asked_for(world, source); i++)
		memset(sources[i], 0, sizeof(*sources[i]));
}

void world_unread(struct world *world)
{
	const bool forgets = world->forgets < row->forgets || world->losses < row->losses;

	for (int i = 0; i < HOSTS; i++) {
		struct rf_claim *claim = &world->host[i].claim;

		if (!world_tells(world, i, claim->known_in))
			claim->known_in = 0;
		if (!claim->seq)
			claim->asked_in = 0;
	}
	for (int i = 0; i < NET; i++)
		unread_message(world, &world->net[i]);
	for (int i = 0; i < 2; i++)
		unread_source(world, i);
	for (int i = 0; i < world_slots(); i++) {
		unread_membership(world, i);
		if (!forgets)
			unread_known(world, i);
	}
}
