// SPDX-License-Identifier: GPL-2.0
/* Numbers and names by their order: part of the normal form. */
#include "world.h"

/*
 * Numbers of which only the order matters, or only equality. 0 remains 0. Set only `count` to
 * start: clearing all of it each time makes a search a tenth longer.
 */
struct numbers {
	uint64_t *at[24];
	int count;
};

static void add(struct numbers *numbers, uint64_t *number)
{
	if (*number)
		numbers->at[numbers->count++] = number;
}

/* Leaves the smallest that are possible; returns the largest of them. */
static uint64_t renumber(struct numbers *numbers)
{
	uint64_t given = 0;

	for (int left = numbers->count; left;) {
		uint64_t least = UINT64_MAX;
		int kept = 0;

		for (int i = 0; i < left; i++)
			least = *numbers->at[i] < least ? *numbers->at[i] : least;
		given++;
		for (int i = 0; i < left; i++) {
			if (*numbers->at[i] == least)
				*numbers->at[i] = given;
			else
				numbers->at[kept++] = numbers->at[i];
		}
		left = kept;
	}
	return given;
}

static uint32_t *seq_of(struct message *message)
{
	return message->kind == REPORT ? &message->report.seq : &message->answer.seq;
}

/* Of the claims of a slot; returns how many there are then. */
static int add_kept(struct rf_ledger_source *source, int slot, uint32_t **seq, int count)
{
	for (int i = 0; i < 2; i++)
		for (int j = 0; j < source[i].count; j++)
			if (source[i].claim[j].slot == slot)
				seq[count++] = &source[i].claim[j].seq;
	return count;
}

/* Numbers of the reports that one start of an agent made: those of two are never compared. */
static void normal_reports(struct world *world, int host, uint64_t nonce)
{
	struct rf_claim *claim = &world->host[host].claim;
	const int slot = host % world_slots();
	struct numbers numbers;
	uint64_t wide[24];
	uint32_t *seq[24];
	int count = 0;

	numbers.count = 0;
	if (world->host[host].member.nonce == nonce)
		seq[count++] = &claim->seq;
	if (world->ledger.host[slot].nonce == nonce)
		count = add_kept(world->source, slot, seq, count);
	if (world->replica.ledger.host[slot].nonce == nonce)
		count = add_kept(world->replica.source, slot, seq, count);
	for (int i = 0; i < NET; i++) {
		struct message *message = &world->net[i];

		if (message->host == host && message->nonce == nonce &&
		    (message->kind == REPORT || message->kind == ANSWER))
			seq[count++] = seq_of(message);
	}
	for (int i = 0; i < count; i++) {
		wide[i] = *seq[i];
		add(&numbers, &wide[i]);
	}
	if (world->host[host].member.nonce == nonce)
		world->host[host].member.seq = renumber(&numbers) + 1;
	else
		renumber(&numbers);
	for (int i = 0; i < count; i++)
		*seq[i] = wide[i];
}

static void normal_beats(struct world *world, int host)
{
	struct rf_member *member = &world->host[host].member;
	struct numbers numbers;
	uint64_t heard = member->heard_beat, wide[NET];
	bool is_least = true;

	numbers.count = 0;
	for (int i = 0; i < NET; i++) {
		const struct message *message = &world->net[i];

		wide[i] = message->beat;
		if (message->host != host || message->nonce != member->nonce ||
		    !world_is_beat(message))
			continue;
		add(&numbers, &wide[i]);
		is_least = is_least && wide[i] > heard;
	}
	if (is_least)
		heard = 0;
	add(&numbers, &heard);
	member->beat = renumber(&numbers);
	member->heard_beat = heard;
	for (int i = 0; i < NET; i++) {
		struct message *message = &world->net[i];

		if (message->host == host && world_is_beat(message))
			message->beat = message->nonce == member->nonce ? wide[i] : 0;
	}
}

static uint64_t renumber_names(struct numbers *numbers, uint64_t most)
{
	const uint64_t largest = renumber(numbers);

	return largest > most ? largest : most;
}

static void add_names(struct world *world, int host, struct numbers *joined, struct numbers *nonces)
{
	add(nonces, &world->host[host].member.nonce);
	add(joined, &world->host[host].member.joined);
	add(joined, &world->host[host].claim.asked_in);
	add(joined, &world->host[host].claim.known_in);
	for (int i = 0; i < NET; i++) {
		if (world->net[i].host != host)
			continue;
		add(nonces, &world->net[i].nonce);
		add(joined, &world->net[i].joined);
		if (world->net[i].kind == HEARD)
			add(joined, &world->net[i].heard.joined);
	}
}

/* Only those of one slot are ever compared. */
static void normal_names(struct world *world)
{
	world->stamp = world->nonces = 0;
	for (int slot = 0; slot < world_slots(); slot++) {
		struct numbers joined, nonces;

		joined.count = nonces.count = 0;
		add(&nonces, &world->ledger.host[slot].nonce);
		add(&nonces, &world->replica.ledger.host[slot].nonce);
		add(&joined, &world->ledger.host[slot].joined);
		for (int i = slot; i < HOSTS; i += world_slots())
			add_names(world, i, &joined, &nonces);
		world->stamp = renumber_names(&joined, world->stamp);
		world->nonces = renumber_names(&nonces, world->nonces);
	}
}

/* Is that the name of another host that wants the same slot? */
static bool is_of_rival(const struct world *world, int host, uint64_t nonce)
{
	for (int i = host % world_slots(); i < HOSTS; i += world_slots())
		if (i != host && world->host[i].member.nonce == nonce)
			return true;
	return false;
}

void world_rename(struct world *world)
{
	normal_names(world);
	for (int i = 0; i < HOSTS; i++) {
		normal_beats(world, i);
		for (uint64_t nonce = 1; nonce <= world->nonces; nonce++)
			if (!is_of_rival(world, i, nonce))
				normal_reports(world, i, nonce);
	}
}
