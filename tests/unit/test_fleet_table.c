// SPDX-License-Identifier: GPL-2.0
/*
 * The table of claims: a fixed size, places, and a wheel that forgets no entry and is never early.
 */
#include "unit.h"

#include "fleet/claim_table.h"

#define SIZE 200

static const uint64_t hash_key[2] = {3, 5};

static struct rf_claim_key key_of(uint64_t source)
{
	return (struct rf_claim_key){.source = {source}};
}

static struct rf_claimant *add(struct rf_claim_table *table, uint64_t source)
{
	const struct rf_claim_key key = key_of(source);

	return rf_claim_table_add(table, &key, 0);
}

static void holds_its_size(void **state)
{
	struct rf_claim_table table;
	struct rf_claim_key key = key_of(7);
	struct rf_claimant *claimant = NULL;
	int count = 0;

	(void)state;
	assert_int_equal(rf_claim_table_make(&table, SIZE, hash_key, 0), 0);
	for (int i = 0; i < SIZE; i++)
		assert_non_null(add(&table, i));
	assert_null(add(&table, SIZE));
	rf_claim_table_remove(&table, rf_claim_table_find(&table, &key));
	assert_null(rf_claim_table_find(&table, &key));
	while ((claimant = rf_claim_table_next(&table, claimant)))
		count++;
	assert_int_equal(count, SIZE - 1);
	assert_non_null(add(&table, SIZE));
	assert_null(add(&table, SIZE + 1));
	rf_claim_table_free(&table);
}

/* Every entry that becomes ready is postponed to a random time, up to a minute. */
static void wheel_turns(void **state)
{
	uint64_t random = unit_seed(), now = 77 * SECOND, turns = 0;
	struct rf_claim_table table;
	struct rf_claimant *claimant;

	(void)state;
	assert_int_equal(rf_claim_table_make(&table, SIZE, hash_key, now), 0);
	for (int i = 0; i < SIZE; i++) {
		claimant = add(&table, i);
		claimant->due_ns = now;
		rf_claim_table_move(&table, claimant, RF_CLAIM_WAITS);
	}
	while (turns < 50000) {
		const uint64_t due_ns = rf_claim_table_due_ns(&table);

		assert_true(due_ns != UINT64_MAX);
		now = due_ns + unit_below(&random, 100) * (unit_below(&random, 20) ? 0 : SECOND);
		rf_claim_table_turn(&table, now);
		while ((claimant = TAILQ_FIRST(&table.ready[0]))) {
			assert_true(claimant->due_ns <= now);
			claimant->due_ns = now + unit_below(&random, 60 * SECOND);
			rf_claim_table_move(&table, claimant, RF_CLAIM_WAITS);
			turns++;
		}
		claimant = NULL;
		while ((claimant = rf_claim_table_next(&table, claimant)))
			assert_true(claimant->due_ns + 2 * RF_CLAIM_TICK_NS > now);
	}
	rf_claim_table_free(&table);
}

static uint32_t ready_of(const struct rf_claim_table *table, uint32_t node)
{
	struct rf_claimant *claimant;
	uint32_t count = 0;

	TAILQ_FOREACH(claimant, &table->ready[node], place)
	{
		assert_int_equal(table->node[claimant->bucket], node);
		count++;
	}
	return count;
}

/* In a cluster, buckets come and go; no ready entry remains behind. */
static void buckets_move(void **state)
{
	uint32_t node[RF_BUCKETS];
	struct rf_claim_table table;

	(void)state;
	assert_int_equal(rf_claim_table_make(&table, 2 * RF_BUCKETS, hash_key, 0), 0);
	for (uint32_t i = 0; i < 2 * RF_BUCKETS; i++) {
		const struct rf_claim_key key = key_of(i);

		rf_claim_table_move(&table, rf_claim_table_add(&table, &key, i % RF_BUCKETS),
				    RF_CLAIM_READY);
	}
	assert_int_equal(ready_of(&table, 0), 2 * RF_BUCKETS);
	for (uint32_t i = 0; i < RF_BUCKETS; i++)
		node[i] = i < 3 ? 30 : 7;
	rf_claim_table_take_nodes(&table, node);
	assert_int_equal(ready_of(&table, 0), 2 * 3);
	assert_int_equal(ready_of(&table, 3), 2 * (RF_BUCKETS - 3));
	node[0] = 7;
	rf_claim_table_take_nodes(&table, node);
	assert_int_equal(ready_of(&table, 0), 2 * (RF_BUCKETS - 2));
	assert_int_equal(ready_of(&table, 1), 2 * 2);
	assert_int_equal(ready_of(&table, 3), 0);
	rf_claim_table_free(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		UNIT_ROW("no more than its size, and places are used again", holds_its_size),
		UNIT_ROW("nobody is ready too early, or two ticks late", wheel_turns),
		UNIT_ROW("whoever is ready goes with its bucket to another node", buckets_move),
	};

	return cmocka_run_group_tests_name("fleet_table", tests, NULL, NULL);
}
