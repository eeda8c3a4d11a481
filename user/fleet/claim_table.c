// SPDX-License-Identifier: GPL-2.0
#include "fleet/claim_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/siphash.h"

int rf_claim_table_make(struct rf_claim_table *table, uint32_t size, const uint64_t hash_key[2],
			uint64_t now)
{
	*table = (struct rf_claim_table){.size = size, .tick = now / RF_CLAIM_TICK_NS};
	memcpy(table->hash_key, hash_key, sizeof(table->hash_key));
	TAILQ_INIT(&table->free);
	TAILQ_INIT(&table->lowers);
	TAILQ_INIT(&table->settles);
	for (int i = 0; i < RF_BUCKETS; i++)
		TAILQ_INIT(&table->ready[i]);
	for (int i = 0; i < RF_CLAIM_TICKS; i++)
		TAILQ_INIT(&table->wheel[i]);
	table->all = calloc(size, sizeof(*table->all));
	table->chain = calloc(size, sizeof(*table->chain));
	return table->all && table->chain ? 0 : -ENOMEM;
}

void rf_claim_table_free(struct rf_claim_table *table)
{
	free(table->all);
	free(table->chain);
	*table = (struct rf_claim_table){};
}

static struct rf_claim_chain *chain_of(const struct rf_claim_table *table,
				       const struct rf_claim_key *key)
{
	return &table->chain[rf_siphash(table->hash_key, key, sizeof(*key)) % table->size];
}

struct rf_claimant *rf_claim_table_find(const struct rf_claim_table *table,
					const struct rf_claim_key *key)
{
	struct rf_claimant *claimant;

	LIST_FOREACH(claimant, chain_of(table, key), same_hash)
	if (memcmp(&claimant->key, key, sizeof(*key)) == 0)
		return claimant;
	return NULL;
}

/* ---- places ---- */

/* For a waiting claim: not in the past, and within the range of the wheel. */
static struct rf_claimants *spoke_of(struct rf_claim_table *table,
				     const struct rf_claimant *claimant)
{
	uint64_t tick = claimant->due_ns / RF_CLAIM_TICK_NS;

	if (tick < table->tick)
		tick = table->tick;
	/* One less: an entry that is moved on never returns to the spoke being emptied. */
	if (tick > table->tick + RF_CLAIM_TICKS - 2)
		tick = table->tick + RF_CLAIM_TICKS - 2;
	return &table->wheel[tick % RF_CLAIM_TICKS];
}

static struct rf_claimants *place_of(struct rf_claim_table *table, struct rf_claimant *claimant)
{
	switch (claimant->state) {
	case RF_CLAIM_READY:
		return &table->ready[claimant->node];
	case RF_CLAIM_LOWERS:
		return &table->lowers;
	case RF_CLAIM_SETTLES:
		return &table->settles;
	default:
		return NULL;
	}
}

static void take_out(struct rf_claim_table *table, struct rf_claimant *claimant)
{
	struct rf_claimants *place = place_of(table, claimant);

	if (claimant->state == RF_CLAIM_WAITS)
		place = &table->wheel[claimant->spoke];
	if (place)
		TAILQ_REMOVE(place, claimant, place);
}

static void put_in(struct rf_claim_table *table, struct rf_claimant *claimant)
{
	struct rf_claimants *place;

	claimant->node = table->node[claimant->bucket];
	place = place_of(table, claimant);
	if (claimant->state == RF_CLAIM_WAITS) {
		place = spoke_of(table, claimant);
		claimant->spoke = place - table->wheel;
	}
	if (place)
		TAILQ_INSERT_TAIL(place, claimant, place);
}

void rf_claim_table_move(struct rf_claim_table *table, struct rf_claimant *claimant,
			 enum rf_claim_state state)
{
	take_out(table, claimant);
	claimant->state = state;
	put_in(table, claimant);
}

void rf_claim_table_take_nodes(struct rf_claim_table *table, const uint32_t node[RF_BUCKETS])
{
	struct rf_claimants moved = TAILQ_HEAD_INITIALIZER(moved);
	struct rf_claimant *claimant;
	bool has_changed = false;

	for (uint32_t i = 0; i < RF_BUCKETS; i++) {
		uint32_t first = 0;

		while (node[first] != node[i])
			first++;
		has_changed = has_changed || table->node[i] != first;
		table->node[i] = first;
	}
	for (uint32_t i = 0; i < RF_BUCKETS && has_changed; i++)
		TAILQ_CONCAT(&moved, &table->ready[i], place);
	while ((claimant = TAILQ_FIRST(&moved))) {
		TAILQ_REMOVE(&moved, claimant, place);
		put_in(table, claimant);
	}
}

/* ---- adding and removing ---- */

static struct rf_claimant *take_unused(struct rf_claim_table *table)
{
	struct rf_claimant *claimant = TAILQ_FIRST(&table->free);

	if (claimant)
		TAILQ_REMOVE(&table->free, claimant, place);
	else if (table->untouched < table->size)
		claimant = &table->all[table->untouched++];
	return claimant;
}

struct rf_claimant *rf_claim_table_add(struct rf_claim_table *table, const struct rf_claim_key *key,
				       uint32_t bucket)
{
	struct rf_claimant *claimant = take_unused(table);

	if (!claimant)
		return NULL;
	*claimant = (struct rf_claimant){
		.key = *key,
		.bucket = bucket,
		.is_used = true,
		.state = RF_CLAIM_WAITS,
		.due_ns = UINT64_MAX,
	};
	LIST_INSERT_HEAD(chain_of(table, key), claimant, same_hash);
	put_in(table, claimant);
	table->count++;
	return claimant;
}

void rf_claim_table_remove(struct rf_claim_table *table, struct rf_claimant *claimant)
{
	take_out(table, claimant);
	LIST_REMOVE(claimant, same_hash);
	claimant->is_used = false;
	TAILQ_INSERT_TAIL(&table->free, claimant, place);
	table->count--;
}

struct rf_claimant *rf_claim_table_next(const struct rf_claim_table *table,
					struct rf_claimant *claimant)
{
	struct rf_claimant *next = claimant ? claimant + 1 : table->all;

	while (next < table->all + table->untouched && !next->is_used)
		next++;
	return next < table->all + table->untouched ? next : NULL;
}

/* ---- time ---- */

/* Entries of a spoke that are due; the others wait for another turn. */
static void take_due(struct rf_claim_table *table, struct rf_claimants *spoke, uint64_t now)
{
	struct rf_claimant *claimant = TAILQ_FIRST(spoke), *next;

	for (; claimant; claimant = next) {
		next = TAILQ_NEXT(claimant, place);
		if (claimant->due_ns <= now)
			rf_claim_table_move(table, claimant, RF_CLAIM_READY);
		else
			rf_claim_table_move(table, claimant, RF_CLAIM_WAITS);
	}
}

void rf_claim_table_turn(struct rf_claim_table *table, uint64_t now)
{
	const uint64_t tick = now / RF_CLAIM_TICK_NS;

	if (tick > table->tick + RF_CLAIM_TICKS)
		table->tick = tick - RF_CLAIM_TICKS;
	while (table->tick < tick) {
		struct rf_claimants *spoke = &table->wheel[table->tick % RF_CLAIM_TICKS];

		table->tick++; /* first: remaining entries go to a different spoke */
		take_due(table, spoke, now);
	}
}

uint64_t rf_claim_table_due_ns(const struct rf_claim_table *table)
{
	for (uint64_t tick = table->tick; tick < table->tick + RF_CLAIM_TICKS; tick++)
		if (!TAILQ_EMPTY(&table->wheel[tick % RF_CLAIM_TICKS]))
			return (tick + 1) * RF_CLAIM_TICK_NS;
	return UINT64_MAX;
}
