// SPDX-License-Identifier: GPL-2.0
/* Limits → the rules that the data path reads: slots, ids and clips. */
#include "unit.h"

#include <errno.h>

#include "rules/policy.h"

#include "tests/limits.h"

static struct rf_limit limit_of(const char *name, uint64_t rate)
{
	struct rf_limit limit = LIMIT(rate, 10 * SECOND, STRICT(16));

	strcpy(limit.name, name);
	return limit;
}

/* ---- slots ---- */

struct fixture {
	struct rf_bank bank;
	uint32_t next_id;
};

static int bank_setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	if (!fixture)
		return -1;
	fixture->next_id = 1;
	*state = fixture;
	return 0;
}

static int bank_teardown(void **state)
{
	free(*state);
	return 0;
}

static void put(struct fixture *fixture, int slot, const struct rf_limit *limit)
{
	rf_bank_put(&fixture->bank, slot, limit, HZ250, &fixture->next_id);
}

static void an_empty_bank(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(rf_bank_count(&fixture->bank), 0);
	assert_int_equal(rf_bank_free_slot(&fixture->bank), 0);
	assert_int_equal(rf_bank_find(&fixture->bank, "any"), -ENOENT);
	assert_int_equal(rf_bank_find(&fixture->bank, ""), -ENOENT);
}

static void put_find_del(void **state)
{
	struct fixture *fixture = *state;
	struct rf_limit syn = limit_of("syn", 10), dns = limit_of("dns", 20);

	put(fixture, 3, &syn);
	put(fixture, 0, &dns);
	assert_int_equal(rf_bank_find(&fixture->bank, "syn"), 3);
	assert_int_equal(rf_bank_find(&fixture->bank, "dns"), 0);
	assert_int_equal(rf_bank_find(&fixture->bank, "sy"), -ENOENT);
	assert_int_equal(rf_bank_find(&fixture->bank, "SYN"), -ENOENT);
	assert_int_equal(rf_bank_count(&fixture->bank), 2);
	assert_int_equal(rf_bank_free_slot(&fixture->bank), 1);
	assert_memory_equal(&fixture->bank.limit[3], &syn, sizeof(syn));
	assert_int_equal(fixture->bank.policy[3].limit, 10);

	rf_bank_del(&fixture->bank, 0);
	assert_int_equal(rf_bank_find(&fixture->bank, "dns"), -ENOENT);
	assert_int_equal(rf_bank_find(&fixture->bank, "syn"), 3);
	assert_int_equal(rf_bank_count(&fixture->bank), 1);
	assert_int_equal(rf_bank_free_slot(&fixture->bank), 0);
	assert_int_equal(fixture->bank.policy[0].id, 0);
}

/* The names of the limits, in their order. */
static void assert_order(const struct rf_bank *bank, const char *names)
{
	char found[RF_LIMITS_MAX * RF_NAME_SIZE] = "";
	int slots[RF_LIMITS_MAX];
	const int count = rf_bank_slots(bank, slots);

	for (int i = 0; i < count; i++)
		strcat(strcat(found, bank->limit[slots[i]].name), " ");
	assert_string_equal(found, names);
}

static void the_order_is_that_of_the_commands(void **state)
{
	struct fixture *fixture = *state;
	struct rf_limit a = limit_of("a", 1), b = limit_of("b", 2), c = limit_of("c", 3);

	put(fixture, 2, &a);
	put(fixture, 1, &b);
	put(fixture, 0, &c);
	assert_order(&fixture->bank, "a b c ");
	a.rate = 5;
	put(fixture, 2, &a);
	assert_order(&fixture->bank, "a b c ");
	rf_bank_del(&fixture->bank, 2);
	put(fixture, 2, &a);
	assert_order(&fixture->bank, "b c a ");
	for (int i = 0; i < 1000; i++) { /* more than a byte can number */
		rf_bank_del(&fixture->bank, i % 3);
		put(fixture, i % 3, i % 3 == 0 ? &c : i % 3 == 1 ? &b : &a);
	}
	assert_order(&fixture->bank, "b a c ");
}

/* A fence of an older build has no order. */
static void limits_without_an_order_are_in_that_of_their_slots(void **state)
{
	struct fixture *fixture = *state;
	struct rf_limit a = limit_of("a", 1), b = limit_of("b", 2), c = limit_of("c", 3);

	put(fixture, 5, &a);
	put(fixture, 3, &b);
	fixture->bank.limit[5].order = fixture->bank.limit[3].order = 0;
	assert_order(&fixture->bank, "b a ");
	put(fixture, 0, &c);
	assert_order(&fixture->bank, "b a c ");
}

static void a_full_bank(void **state)
{
	struct fixture *fixture = *state;
	struct rf_limit limit = limit_of("", 10);

	for (int slot = 0; slot < RF_LIMITS_MAX; slot++) {
		assert_int_equal(rf_bank_free_slot(&fixture->bank), slot);
		limit.name[0] = 'A' + slot;
		put(fixture, slot, &limit);
	}
	assert_int_equal(rf_bank_count(&fixture->bank), RF_LIMITS_MAX);
	assert_int_equal(rf_bank_free_slot(&fixture->bank), -ENOSPC);
	limit.name[0] = 'A' + RF_LIMITS_MAX - 1;
	assert_int_equal(rf_bank_find(&fixture->bank, limit.name), RF_LIMITS_MAX - 1);
	rf_bank_del(&fixture->bank, 17);
	assert_int_equal(rf_bank_free_slot(&fixture->bank), 17);
}

/* ---- ids ---- */

enum change {
	CHANGE_NOTHING,
	CHANGE_RATE,
	CHANGE_TO_0,
	CHANGE_BURST,
	CHANGE_SHADOW,
	CHANGE_WINDOW,
	CHANGE_ALGORITHM,
	CHANGE_EDGE,
	CHANGE_UNIT,
	CHANGE_CELLS,
	CHANGE_PER4,
	CHANGE_PER6,
	CHANGE_REJECTED,
	CHANGE_BAN,
	CHANGE_MATCH,
	CHANGE_PORTS,
	CHANGE_FROM,
};

static void change_limit(struct rf_limit *limit, enum change change)
{
	limit->rate += change == CHANGE_RATE;
	limit->rate *= change != CHANGE_TO_0;
	limit->burst += change == CHANGE_BURST;
	limit->flags ^= change == CHANGE_SHADOW ? RF_SHADOW : 0;
	limit->flags ^= change == CHANGE_REJECTED ? RF_COUNT_REJECTED : 0;
	limit->window_ns += change == CHANGE_WINDOW;
	limit->algorithm += change == CHANGE_ALGORITHM;
	limit->edge += change == CHANGE_EDGE;
	limit->unit += change == CHANGE_UNIT;
	limit->cells -= change == CHANGE_CELLS;
	limit->per4 -= change == CHANGE_PER4;
	limit->per6 -= change == CHANGE_PER6;
	limit->ban_ns ^= change == CHANGE_BAN ? SECOND : 0;
	limit->match += change == CHANGE_MATCH;
	limit->has_ports ^= change == CHANGE_PORTS;
	limit->has_from ^= change == CHANGE_FROM;
}

struct id_row {
	enum change change;
	uint32_t id; /* after the change; it was 2 before, and 3 is the next one */
	struct rf_limit limit;
};

/* Everything but the clip belongs to the limit as it is written now. */
static void assert_policy_of(const struct rf_policy *policy, const struct rf_limit *limit)
{
	struct rf_policy expected;

	rf_policy_compile(limit, policy->id, HZ250, &expected);
	expected.clip = policy->clip;
	assert_memory_equal(policy, &expected, sizeof(expected));
}

static void set_a_limit(void **state)
{
	const struct id_row *row = *state;
	struct rf_limit other = limit_of("other", 5), limit = row->limit;
	struct fixture fixture = {.next_id = 1};

	put(&fixture, 0, &other);
	put(&fixture, 1, &limit);
	assert_int_equal(fixture.bank.policy[1].id, 2);

	change_limit(&limit, row->change);
	put(&fixture, 1, &limit);
	assert_int_equal(fixture.bank.policy[1].id, row->id);
	assert_int_equal(fixture.next_id, row->id == 2 ? 3 : 4);
	limit.order = 1; /* as before */
	assert_memory_equal(&fixture.bank.limit[1], &limit, sizeof(limit));
	assert_policy_of(&fixture.bank.policy[1], &limit);
	assert_int_equal(fixture.bank.policy[0].id, 1);
}

#define SET_OF(title, what, number, ...)              \
	UNIT_ROW_OF("limit set: " title, set_a_limit, \
		    (&(struct id_row){.change = what, .id = number, .limit = __VA_ARGS__}))
#define SET(title, what, number) SET_OF(title, what, number, LIMIT(10, 10 * SECOND, STRICT(16)))

static void an_id_is_never_used_again(void **state)
{
	struct fixture *fixture = *state;
	struct rf_limit limit = limit_of("any", 10);

	for (uint32_t id = 1; id <= 100; id++) {
		put(fixture, id % 3, &limit);
		assert_int_equal(fixture->bank.policy[id % 3].id, id);
		assert_int_equal(fixture->next_id, id + 1);
		rf_bank_del(&fixture->bank, id % 3);
	}
}

static void a_changed_limit_does_not_get_its_old_id_back(void **state)
{
	struct fixture *fixture = *state;
	struct rf_limit wide = limit_of("any", 10), narrow = limit_of("any", 10);

	narrow.per4 = 24;
	for (uint32_t id = 1; id <= 20; id++) {
		put(fixture, 0, id % 2 ? &wide : &narrow);
		assert_int_equal(fixture->bank.policy[0].id, id);
	}
}

static void counters_stay_with_the_slot(void **state)
{
	struct fixture *fixture = *state;
	struct rf_limit limit = limit_of("any", 10);

	fixture->bank.policy[3].counters = 7;
	put(fixture, 3, &limit);
	assert_int_equal(fixture->bank.policy[3].counters, 7);
	limit.per4 = 24;
	put(fixture, 3, &limit);
	assert_int_equal(fixture->bank.policy[3].counters, 7);
	rf_bank_del(&fixture->bank, 3);
	assert_int_equal(fixture->bank.policy[3].counters, 0);
}

/* ---- clips ---- */

static void clip_is_the_largest_limit_of_the_id(void **state)
{
	static const struct {
		uint64_t rate, clip;
	} rows[] = {{100, 100}, {10, 100}, {50, 100}, {200, 200}, {1, 200}, {200, 200}};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < UNIT_ARRAY_SIZE(rows); i++) {
		struct rf_limit limit = limit_of("any", rows[i].rate);

		put(fixture, 0, &limit);
		assert_int_equal(fixture->bank.policy[0].limit, rows[i].rate);
		assert_int_equal(fixture->bank.policy[0].clip, rows[i].clip);
	}
}

static void clip_where_rejected_packets_count(void **state)
{
	struct fixture *fixture = *state;
	struct rf_limit limit = LIMIT(100, SECOND, STRICT(16), COUNT_REJECTED);

	for (int rate = 100; rate > 0; rate -= 33) {
		limit.rate = rate;
		put(fixture, 0, &limit);
		assert_int_equal(fixture->bank.policy[0].limit, rate);
		assert_int_equal(fixture->bank.policy[0].clip, UINT32_MAX);
	}
}

static void a_new_id_starts_with_its_own_clip(void **state)
{
	struct fixture *fixture = *state;
	struct rf_limit limit = limit_of("any", 100);

	put(fixture, 0, &limit);
	limit.rate = 10;
	limit.per4 = 24;
	put(fixture, 0, &limit);
	assert_int_equal(fixture->bank.policy[0].clip, 10);

	rf_bank_del(&fixture->bank, 0);
	limit.rate = 5;
	put(fixture, 0, &limit);
	assert_int_equal(fixture->bank.policy[0].clip, 5);
}

static void raise_clips(void **state)
{
	static const struct {
		uint32_t id, clip, next_id, next_clip, raised;
	} rows[] = {
		{1, 10, 1, 20, 20}, /* the limit grows */
		{2, 20, 2, 10, 20}, /* a clip is never lowered */
		{3, 10, 4, 20, 10}, /* another limit in the same slot */
		{5, 10, 0, 0, 10},  /* a limit that goes */
		{0, 0, 6, 20, 0},   /* a limit that comes */
		{0, 0, 0, 20, 0},   /* free slots have the same id */
		{7, 30, 7, 30, 30},
	};
	struct fixture *fixture = *state;
	struct rf_bank next = {}, expected;

	for (size_t i = 0; i < UNIT_ARRAY_SIZE(rows); i++) {
		fixture->bank.policy[i] = (struct rf_policy){
			.id = rows[i].id, .limit = 9, .clip = rows[i].clip, .cell = 1};
		next.policy[i] = (struct rf_policy){
			.id = rows[i].next_id, .limit = 8, .clip = rows[i].next_clip, .cell = 2};
	}
	expected = fixture->bank;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(rows); i++)
		expected.policy[i].clip = rows[i].raised;

	assert_true(rf_bank_raise_clips(&fixture->bank, &next));
	assert_memory_equal(&fixture->bank, &expected, sizeof(expected));
	assert_false(rf_bank_raise_clips(&fixture->bank, &next));
	assert_memory_equal(&fixture->bank, &expected, sizeof(expected));
}

static void raise_the_last_clip(void **state)
{
	struct fixture *fixture = *state;
	struct rf_bank next = {};
	const int last = RF_LIMITS_MAX - 1;

	fixture->bank.policy[last] = (struct rf_policy){.id = 1, .clip = 10};
	next.policy[last] = (struct rf_policy){.id = 1, .clip = 11};
	assert_true(rf_bank_raise_clips(&fixture->bank, &next));
	assert_int_equal(fixture->bank.policy[last].clip, 11);
}

#define BANK_ROW(title, function)                                               \
	{                                                                       \
		.name = title, .test_func = function, .setup_func = bank_setup, \
		.teardown_func = bank_teardown                                  \
	}

static const struct CMUnitTest tests[] = {
	BANK_ROW("an empty bank has no limit, and its slot 0 is free", an_empty_bank),
	BANK_ROW("a slot is free again after put, find and delete", put_find_del),
	BANK_ROW("the order of limits is that of the commands, after deletions as well",
		 the_order_is_that_of_the_commands),
	BANK_ROW("limits without an order are in that of their slots",
		 limits_without_an_order_are_in_that_of_their_slots),
	BANK_ROW("a full bank has no free slot, and its last limit is found", a_full_bank),

	SET("the same again keeps the id", CHANGE_NOTHING, 2),
	SET("another rate keeps the id", CHANGE_RATE, 2),
	SET_OF("another rate of bytes keeps the id", CHANGE_RATE, 2,
	       LIMIT(RF_LIMIT_MAX - 1, SECOND, STRICT(16), BYTES)),
	SET_OF("another rate of a bucket keeps the id", CHANGE_RATE, 2,
	       LIMIT(10, SECOND, TOKEN(5))),
	SET_OF("another rate of a bucket of bytes keeps the id, whatever its places", CHANGE_RATE,
	       2, LIMIT(488281, SECOND, TOKEN(RF_LIMIT_MAX), BYTES)),
	SET_OF("another burst keeps the id", CHANGE_BURST, 2, LIMIT(10, SECOND, TOKEN(5))),
	SET_OF("another rate of a log keeps the id", CHANGE_RATE, 2, LIMIT(10, SECOND, LOG)),
	SET("shadow keeps the id", CHANGE_SHADOW, 2),
	SET("another window takes a new id", CHANGE_WINDOW, 3),
	SET_OF("another window of a bucket takes a new id", CHANGE_WINDOW, 3,
	       LIMIT(10, SECOND, TOKEN(5))),
	SET("another algorithm takes a new id", CHANGE_ALGORITHM, 3),
	SET_OF("leaky for token takes a new id", CHANGE_ALGORITHM, 3, LIMIT(10, SECOND, TOKEN(5))),
	SET("another edge takes a new id", CHANGE_EDGE, 3),
	SET_OF("weighted for coarse takes a new id", CHANGE_EDGE, 3, LIMIT(10, SECOND, COARSE(16))),
	SET("another unit takes a new id", CHANGE_UNIT, 3),
	SET_OF("a rate that takes larger units takes a new id", CHANGE_RATE, 3,
	       LIMIT(RF_LIMIT_MAX, SECOND, STRICT(16), BYTES)),
	SET("rate 0, which has no windows, takes a new id", CHANGE_TO_0, 3),
	SET_OF("a rate after rate 0 takes a new id", CHANGE_RATE, 3,
	       LIMIT(0, 10 * SECOND, STRICT(16))),
	SET_OF("another part of a limit of rate 0 keeps the id", CHANGE_SHADOW, 2,
	       LIMIT(0, 10 * SECOND, STRICT(16))),
	SET("another number of cells takes a new id", CHANGE_CELLS, 3),
	SET("another per takes a new id", CHANGE_PER4, 3),
	SET("another per6 takes a new id", CHANGE_PER6, 3),
	SET("count rejected takes a new id", CHANGE_REJECTED, 3),
	SET_OF("no longer count rejected takes a new id", CHANGE_REJECTED, 3,
	       LIMIT(10, SECOND, TOKEN(5), COUNT_REJECTED)),
	SET("a ban where there was none takes a new id", CHANGE_BAN, 3),
	SET_OF("another ban keeps the id", CHANGE_BAN, 2,
	       LIMIT(10, SECOND, STRICT(16), .ban_ns = 2 * SECOND)),
	SET_OF("no ban any more takes a new id", CHANGE_BAN, 3,
	       LIMIT(10, SECOND, STRICT(16), .ban_ns = SECOND)),
	SET("another match keeps the id", CHANGE_MATCH, 2),
	SET("ports keep the id", CHANGE_PORTS, 2),
	SET("a from keeps the id", CHANGE_FROM, 2),
	BANK_ROW("a limit that is deleted and put again never gets an old id",
		 an_id_is_never_used_again),
	BANK_ROW("a limit that changes there and back never gets an old id",
		 a_changed_limit_does_not_get_its_old_id_back),

	BANK_ROW("counters of a limit stay with its slot", counters_stay_with_the_slot),

	BANK_ROW("the clip of a limit is the largest L of its id",
		 clip_is_the_largest_limit_of_the_id),
	BANK_ROW("a limit that counts rejected packets has no clip",
		 clip_where_rejected_packets_count),
	BANK_ROW("the clip of a new id starts with its own L", a_new_id_starts_with_its_own_clip),
	BANK_ROW("clips are raised for the same id and a larger L only", raise_clips),
	BANK_ROW("clips are raised in the last slot too", raise_the_last_clip),
};

int main(void)
{
	return cmocka_run_group_tests_name("rules", tests, NULL, NULL);
}
