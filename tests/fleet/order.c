// SPDX-License-Identifier: GPL-2.0
/*
 * Hosts and messages are interchangeable except for their places: of all orders, the one with the
 * smallest bytes represents all.
 */
#include <string.h>

#include "world.h"

static uint64_t swap_bits(uint64_t word, int one, int other)
{
	const uint64_t differ = (word >> one ^ word >> other) & 1;

	return word ^ (differ << one | differ << other);
}

static void swap_slots(struct rf_ledger_slots *slots, int one, int other)
{
	slots->word[0] = swap_bits(slots->word[0], one, other);
}

static void swap_message(struct message *message, int one, int other)
{
	if (message->kind == NOTHING)
		return;
	if (message->host == one || message->host == other)
		message->host = one + other - message->host;
	if (message->kind == BEAT)
		swap_slots(&message->says.known, one, other);
	else if (message->kind == HEARD)
		swap_slots(&message->heard.members, one, other);
}

static void swap_source(struct rf_ledger_source *source, int one, int other)
{
	for (int i = 0; i < source->count; i++)
		if (source->claim[i].slot == one || source->claim[i].slot == other)
			source->claim[i].slot = one + other - source->claim[i].slot;
}

#define SWAP(type, one, other)           \
	do {                             \
		const type swap = (one); \
		(one) = (other);         \
		(other) = swap;          \
	} while (0)

static void swap_hosts(struct world *world, int one, int other)
{
	SWAP(struct host, world->host[one], world->host[other]);
	SWAP(struct rf_ledger_host, world->ledger.host[one], world->ledger.host[other]);
	SWAP(struct rf_ledger_host, world->replica.ledger.host[one],
	     world->replica.ledger.host[other]);
	for (int i = 0; i < WINDOW_MAX; i++)
		SWAP(uint8_t, world->books.alone[one][i], world->books.alone[other][i]);
	for (int i = 0; i < HOSTS; i++)
		swap_slots(&world->host[i].member.members, one, other);
	for (int i = 0; i < 2; i++) {
		swap_source(&world->source[i], one, other);
		swap_source(&world->replica.source[i], one, other);
	}
	for (int i = 0; i < NET; i++)
		swap_message(&world->net[i], one, other);
}

static void swap_nonce(uint64_t *nonce, uint64_t one, uint64_t other)
{
	if (*nonce == one || *nonce == other)
		*nonce = one + other - *nonce;
}

/* Two hosts that want the same slot: the ledger has it for one of them, by its nonce. */
static void swap_rivals(struct world *world, int one, int other)
{
	const uint64_t nonce[2] = {world->host[one].member.nonce, world->host[other].member.nonce};

	SWAP(struct host, world->host[one], world->host[other]);
	for (int i = 0; i < WINDOW_MAX; i++)
		SWAP(uint8_t, world->books.alone[one][i], world->books.alone[other][i]);
	for (int i = 0; i < NET; i++) {
		struct message *message = &world->net[i];

		if (message->kind != NOTHING && (message->host == one || message->host == other)) {
			message->host = one + other - message->host;
			swap_nonce(&message->nonce, nonce[0], nonce[1]);
		}
	}
	SWAP(uint64_t, world->host[one].member.nonce, world->host[other].member.nonce);
	swap_nonce(&world->ledger.host[one].nonce, nonce[0], nonce[1]);
	swap_nonce(&world->replica.ledger.host[one].nonce, nonce[0], nonce[1]);
}

static void sort_claims(struct rf_ledger_source *source)
{
	for (int i = 1; i < source->count; i++)
		for (int j = i; j > 0 && source->claim[j].slot < source->claim[j - 1].slot; j--)
			SWAP(struct rf_ledger_claim, source->claim[j], source->claim[j - 1]);
}

static void sort_messages(struct world *world)
{
	for (int i = 1; i < NET; i++)
		for (int j = i;
		     j > 0 && memcmp(&world->net[j], &world->net[j - 1], sizeof(world->net[j])) > 0;
		     j--)
			SWAP(struct message, world->net[j], world->net[j - 1]);
}

static void sort_all(struct world *world)
{
	for (int i = 0; i < HOSTS; i++)
		world->host[i].member.slot = i;
	for (int i = 0; i < 2; i++) {
		sort_claims(&world->source[i]);
		sort_claims(&world->replica.source[i]);
	}
	sort_messages(world);
}

/*
 * Of the worlds that differ only in which host is which, the one whose bytes are least. Where two
 * hosts want one slot, only these two are alike.
 */
void world_sort(struct world *world)
{
	struct world other = *world;
	int orders = 1;

	for (int i = 2; i <= HOSTS && !row->rival; i++)
		orders *= i;
	sort_all(world);
	for (int i = row->rival ? 0 : 1; i < orders; i++) {
		if (row->rival)
			swap_rivals(&other, 0, HOSTS - 1);
		else
			swap_hosts(&other, i % (HOSTS - 1), i % (HOSTS - 1) + 1);
		sort_all(&other);
		if (memcmp(&other, world, sizeof(other)) < 0)
			*world = other;
	}
}
