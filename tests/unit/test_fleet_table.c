// SPDX-License-Identifier: GPL-2.0
/* The table of claims: a fixed size, places, and a wheel that forgets nobody and is never early. */
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

/* Whoever becomes ready is put back for another time, up to a minute, at random. */
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
		while ((claimant = TAILQ_FIRST(&table.ready))) {
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		UNIT_ROW("no more than its size, and places are used again", holds_its_size),
		UNIT_ROW("nobody is ready too early, or two ticks late", wheel_turns),
	};

	return cmocka_run_group_tests_name("fleet_table", tests, NULL, NULL);
}
