// SPDX-License-Identifier: GPL-2.0
/*
 * Limits → the rules that the data path reads: lengths of cells and their clock, masks, slots, ids
 * and clips. The expected numbers are worked out by hand, not by the code under test.
 */
#include "unit.h"

#include <arpa/inet.h>
#include <errno.h>

#include "rules.h"

static struct rf_limit limit_of(const char *name, uint64_t rate)
{
	struct rf_limit limit = {
		.rate = rate,
		.window_ns = 10 * SECOND,
		.algorithm = RF_SLIDING,
		.edge = RF_EDGE_STRICT,
		.unit = RF_PACKETS,
		.cells = RF_CELLS,
		.per4 = 32,
		.per6 = 64,
	};

	strcpy(limit.name, name);
	return limit;
}

/* ---- cells ---- */

struct cell_row {
	uint64_t window_ns;
	uint32_t tick_ns;
	uint8_t cells;
	enum rf_clock clock;
	uint64_t cell;
};

static void compile_cell(void **state)
{
	const struct cell_row *row = *state;
	struct rf_limit limit = limit_of("all", 10);
	struct rf_policy policy;

	limit.window_ns = row->window_ns;
	limit.cells = row->cells;
	rf_policy_compile(&limit, 1, row->tick_ns, &policy);
	assert_int_equal(policy.clock, row->clock);
	assert_int_equal(policy.cell, row->cell);
	assert_int_equal(policy.cells, row->cells);
}

#define CELL(title, ...) \
	UNIT_ROW_OF("a cell of " title, compile_cell, (&(struct cell_row){__VA_ARGS__}))

struct shape_row {
	struct rf_limit limit;
	uint8_t cells;
	enum rf_clock clock;
	uint64_t cell; /* with a tick of 4 ms */
};

static void compile_shape(void **state)
{
	const struct shape_row *row = *state;
	struct rf_policy policy;

	rf_policy_compile(&row->limit, 1, HZ250, &policy);
	assert_int_equal(policy.cells, row->cells);
	assert_int_equal(policy.clock, row->clock);
	assert_int_equal(policy.cell, row->cell);
}

#define SHAPE(title, window, options, ...)       \
	UNIT_ROW_OF(                             \
		"a cell, " title, compile_shape, \
		(&(struct shape_row){{.rate = 10, .window_ns = window, options}, __VA_ARGS__}))
#define ALIGNED .algorithm = RF_FIXED, .cells = 1
#define COARSE(n) .edge = RF_EDGE_COARSE, .cells = n

/* ---- masks ---- */

struct mask_row {
	int length;
	uint32_t mask[4]; /* host order; an IPv4 mask is the first */
};

static const struct mask_row masks4[] = {
	{0, {0}}, {1, {0x80000000}}, {24, {0xffffff00}}, {31, {0xfffffffe}}, {32, {0xffffffff}},
};

static const struct mask_row masks6[] = {
	{0, {0, 0, 0, 0}},
	{1, {0x80000000, 0, 0, 0}},
	{32, {0xffffffff, 0, 0, 0}},
	{48, {0xffffffff, 0xffff0000, 0, 0}},
	{64, {0xffffffff, 0xffffffff, 0, 0}},
	{65, {0xffffffff, 0xffffffff, 0x80000000, 0}},
	{127, {0xffffffff, 0xffffffff, 0xffffffff, 0xfffffffe}},
	{128, {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}},
};

static void compile_mask4(void **state)
{
	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(masks4); i++) {
		struct rf_limit limit = limit_of("all", 10);
		struct rf_policy policy;

		limit.per4 = masks4[i].length;
		rf_policy_compile(&limit, 1, HZ250, &policy);
		assert_int_equal(ntohl(policy.mask4), masks4[i].mask[0]);
		assert_int_equal(ntohl(policy.mask6[1]), 0xffffffff);
		assert_int_equal(ntohl(policy.mask6[2]), 0);
	}
}

static void compile_mask6(void **state)
{
	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(masks6); i++) {
		struct rf_limit limit = limit_of("all", 10);
		struct rf_policy policy;

		limit.per6 = masks6[i].length;
		rf_policy_compile(&limit, 1, HZ250, &policy);
		for (int word = 0; word < 4; word++)
			assert_int_equal(ntohl(policy.mask6[word]), masks6[i].mask[word]);
		assert_int_equal(ntohl(policy.mask4), 0xffffffff);
	}
}

static void compile_keeps_the_rest(void **state)
{
	struct rf_limit limit = limit_of("all", RF_LIMIT_MAX);
	struct rf_policy policy;

	(void)state;
	limit.flags = RF_SHADOW;
	memset(&policy, 0xff, sizeof(policy));
	rf_policy_compile(&limit, 77, HZ250, &policy);
	assert_int_equal(policy.id, 77);
	assert_int_equal(policy.limit, RF_LIMIT_MAX);
	assert_int_equal(policy.clip, RF_LIMIT_MAX);
	assert_int_equal(policy.flags, RF_SHADOW);
	assert_int_equal(policy.algorithm, RF_SLIDING);
	assert_int_equal(policy.edge, RF_EDGE_STRICT);
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
	rf_rules_put(&fixture->bank, slot, limit, HZ250, &fixture->next_id);
}

static void an_empty_bank(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(rf_rules_count(&fixture->bank), 0);
	assert_int_equal(rf_rules_free_slot(&fixture->bank), 0);
	assert_int_equal(rf_rules_find(&fixture->bank, "all"), -ENOENT);
	assert_int_equal(rf_rules_find(&fixture->bank, ""), -ENOENT);
}

static void put_find_del(void **state)
{
	struct fixture *fixture = *state;
	struct rf_limit syn = limit_of("syn", 10), dns = limit_of("dns", 20);

	put(fixture, 3, &syn);
	put(fixture, 0, &dns);
	assert_int_equal(rf_rules_find(&fixture->bank, "syn"), 3);
	assert_int_equal(rf_rules_find(&fixture->bank, "dns"), 0);
	assert_int_equal(rf_rules_find(&fixture->bank, "sy"), -ENOENT);
	assert_int_equal(rf_rules_find(&fixture->bank, "SYN"), -ENOENT);
	assert_int_equal(rf_rules_count(&fixture->bank), 2);
	assert_int_equal(rf_rules_free_slot(&fixture->bank), 1);
	assert_int_equal(fixture->bank.match_any, 1 << 3 | 1 << 0);
	assert_memory_equal(&fixture->bank.limit[3], &syn, sizeof(syn));
	assert_int_equal(fixture->bank.policy[3].limit, 10);

	rf_rules_del(&fixture->bank, 0);
	assert_int_equal(rf_rules_find(&fixture->bank, "dns"), -ENOENT);
	assert_int_equal(rf_rules_find(&fixture->bank, "syn"), 3);
	assert_int_equal(rf_rules_count(&fixture->bank), 1);
	assert_int_equal(rf_rules_free_slot(&fixture->bank), 0);
	assert_int_equal(fixture->bank.match_any, 1 << 3);
	assert_int_equal(fixture->bank.policy[0].id, 0);
}

static void a_full_bank(void **state)
{
	struct fixture *fixture = *state;
	struct rf_limit limit = limit_of("", 10);

	for (int slot = 0; slot < RF_LIMITS_MAX; slot++) {
		assert_int_equal(rf_rules_free_slot(&fixture->bank), slot);
		limit.name[0] = 'A' + slot;
		put(fixture, slot, &limit);
	}
	assert_int_equal(rf_rules_count(&fixture->bank), RF_LIMITS_MAX);
	assert_int_equal(rf_rules_free_slot(&fixture->bank), -ENOSPC);
	limit.name[0] = 'A' + RF_LIMITS_MAX - 1;
	assert_int_equal(rf_rules_find(&fixture->bank, limit.name), RF_LIMITS_MAX - 1);
	assert_int_equal(fixture->bank.match_any, (1ULL << RF_LIMITS_MAX) - 1);
	rf_rules_del(&fixture->bank, 17);
	assert_int_equal(rf_rules_free_slot(&fixture->bank), 17);
}

/* ---- ids ---- */

enum change {
	CHANGE_NOTHING,
	CHANGE_RATE,
	CHANGE_SHADOW,
	CHANGE_WINDOW,
	CHANGE_ALGORITHM,
	CHANGE_EDGE,
	CHANGE_UNIT,
	CHANGE_CELLS,
	CHANGE_PER4,
	CHANGE_PER6,
};

static void change_limit(struct rf_limit *limit, enum change change)
{
	limit->rate += change == CHANGE_RATE;
	limit->flags ^= change == CHANGE_SHADOW ? RF_SHADOW : 0;
	limit->window_ns += change == CHANGE_WINDOW;
	limit->algorithm += change == CHANGE_ALGORITHM;
	limit->edge += change == CHANGE_EDGE;
	limit->unit += change == CHANGE_UNIT;
	limit->cells -= change == CHANGE_CELLS;
	limit->per4 -= change == CHANGE_PER4;
	limit->per6 -= change == CHANGE_PER6;
}

struct id_row {
	enum change change;
	uint32_t id; /* after the change; it was 2 before, and 3 is the next one */
};

static void set_a_limit(void **state)
{
	const struct id_row *row = *state;
	struct rf_limit other = limit_of("other", 5), limit = limit_of("all", 10);
	struct fixture fixture = {.next_id = 1};

	put(&fixture, 0, &other);
	put(&fixture, 1, &limit);
	assert_int_equal(fixture.bank.policy[1].id, 2);

	change_limit(&limit, row->change);
	put(&fixture, 1, &limit);
	assert_int_equal(fixture.bank.policy[1].id, row->id);
	assert_int_equal(fixture.next_id, row->id == 2 ? 3 : 4);
	assert_memory_equal(&fixture.bank.limit[1], &limit, sizeof(limit));
	assert_int_equal(fixture.bank.policy[1].limit, limit.rate);
	assert_int_equal(fixture.bank.policy[1].flags, limit.flags);
	assert_int_equal(fixture.bank.policy[0].id, 1);
}

#define SET(title, ...) UNIT_ROW_OF("set: " title, set_a_limit, (&(struct id_row){__VA_ARGS__}))

static void an_id_is_never_used_again(void **state)
{
	struct fixture *fixture = *state;
	struct rf_limit limit = limit_of("all", 10);

	for (uint32_t id = 1; id <= 100; id++) {
		put(fixture, id % 3, &limit);
		assert_int_equal(fixture->bank.policy[id % 3].id, id);
		assert_int_equal(fixture->next_id, id + 1);
		rf_rules_del(&fixture->bank, id % 3);
	}
}

static void a_changed_limit_does_not_get_its_old_id_back(void **state)
{
	struct fixture *fixture = *state;
	struct rf_limit wide = limit_of("all", 10), narrow = limit_of("all", 10);

	narrow.per4 = 24;
	for (uint32_t id = 1; id <= 20; id++) {
		put(fixture, 0, id % 2 ? &wide : &narrow);
		assert_int_equal(fixture->bank.policy[0].id, id);
	}
}

/* ---- clips ---- */

static void clip_is_the_largest_limit_of_the_id(void **state)
{
	static const struct {
		uint64_t rate, clip;
	} rows[] = {{100, 100}, {10, 100}, {50, 100}, {200, 200}, {1, 200}, {200, 200}};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < UNIT_ARRAY_SIZE(rows); i++) {
		struct rf_limit limit = limit_of("all", rows[i].rate);

		put(fixture, 0, &limit);
		assert_int_equal(fixture->bank.policy[0].limit, rows[i].rate);
		assert_int_equal(fixture->bank.policy[0].clip, rows[i].clip);
	}
}

static void a_new_id_starts_with_its_own_clip(void **state)
{
	struct fixture *fixture = *state;
	struct rf_limit limit = limit_of("all", 100);

	put(fixture, 0, &limit);
	limit.rate = 10;
	limit.per4 = 24;
	put(fixture, 0, &limit);
	assert_int_equal(fixture->bank.policy[0].clip, 10);

	rf_rules_del(&fixture->bank, 0);
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

	assert_true(rf_rules_raise_clips(&fixture->bank, &next));
	assert_memory_equal(&fixture->bank, &expected, sizeof(expected));
	assert_false(rf_rules_raise_clips(&fixture->bank, &next));
	assert_memory_equal(&fixture->bank, &expected, sizeof(expected));
}

static void raise_the_last_clip(void **state)
{
	struct fixture *fixture = *state;
	struct rf_bank next = {};
	const int last = RF_LIMITS_MAX - 1;

	fixture->bank.policy[last] = (struct rf_policy){.id = 1, .clip = 10};
	next.policy[last] = (struct rf_policy){.id = 1, .clip = 11};
	assert_true(rf_rules_raise_clips(&fixture->bank, &next));
	assert_int_equal(fixture->bank.policy[last].clip, 11);
}

#define BANK_ROW(title, function)                                               \
	{                                                                       \
		.name = title, .test_func = function, .setup_func = bank_setup, \
		.teardown_func = bank_teardown                                  \
	}

static const struct CMUnitTest tests[] = {
	CELL("1ms at HZ 100", 1 * MS, HZ100, 16, RF_KTIME, 66667),
	CELL("1ms at HZ 250", 1 * MS, HZ250, 16, RF_KTIME, 66667),
	CELL("1ms at HZ 300", 1 * MS, HZ300, 16, RF_KTIME, 66667),
	CELL("1ms at HZ 1000", 1 * MS, HZ1000, 16, RF_KTIME, 66667),
	CELL("500ms at HZ 100", 500 * MS, HZ100, 16, RF_KTIME, 33333334),
	CELL("500ms at HZ 250", 500 * MS, HZ250, 16, RF_KTIME, 33333334),
	CELL("500ms at HZ 300", 500 * MS, HZ300, 16, RF_KTIME, 33333334),
	CELL("500ms at HZ 1000", 500 * MS, HZ1000, 16, RF_JIFFIES, 34),
	CELL("1s at HZ 100", 1 * SECOND, HZ100, 16, RF_KTIME, 66666667),
	CELL("1s at HZ 250", 1 * SECOND, HZ250, 16, RF_JIFFIES, 17),
	CELL("1s at HZ 300", 1 * SECOND, HZ300, 16, RF_JIFFIES, 21),
	CELL("1s at HZ 1000", 1 * SECOND, HZ1000, 16, RF_JIFFIES, 67),
	CELL("10s at HZ 100", 10 * SECOND, HZ100, 16, RF_JIFFIES, 67),
	CELL("10s at HZ 250", 10 * SECOND, HZ250, 16, RF_JIFFIES, 167),
	CELL("10s at HZ 300", 10 * SECOND, HZ300, 16, RF_JIFFIES, 201),
	CELL("10s at HZ 1000", 10 * SECOND, HZ1000, 16, RF_JIFFIES, 667),
	CELL("60s at HZ 100", 60 * SECOND, HZ100, 16, RF_JIFFIES, 401),
	CELL("60s at HZ 250", 60 * SECOND, HZ250, 16, RF_JIFFIES, 1001),
	CELL("60s at HZ 300", 60 * SECOND, HZ300, 16, RF_JIFFIES, 1201),
	CELL("60s at HZ 1000", 60 * SECOND, HZ1000, 16, RF_JIFFIES, 4001),
	CELL("1h at HZ 100", 3600 * SECOND, HZ100, 16, RF_JIFFIES, 24001),
	CELL("1h at HZ 250", 3600 * SECOND, HZ250, 16, RF_JIFFIES, 60001),
	CELL("1h at HZ 300", 3600 * SECOND, HZ300, 16, RF_JIFFIES, 72001),
	CELL("1h at HZ 1000", 3600 * SECOND, HZ1000, 16, RF_JIFFIES, 240001),
	CELL("15 ticks is timed in ns", 224 * MS, HZ1000, 16, RF_KTIME, 14933334),
	CELL("16 ticks is timed in jiffies", 225 * MS, HZ1000, 16, RF_JIFFIES, 16),
	CELL("one in 1, 15 ticks", 14 * MS, HZ1000, 2, RF_KTIME, 14000001),
	CELL("one in 1, 16 ticks", 15 * MS, HZ1000, 2, RF_JIFFIES, 16),
	CELL("one in 4 of 10s at HZ 250", 10 * SECOND, HZ250, 5, RF_JIFFIES, 626),

	SHAPE("fixed: W", SECOND, ALIGNED, 1, RF_JIFFIES, 250),
	SHAPE("fixed, of 63 ms: W, in jiffies", 63 * MS, ALIGNED, 1, RF_JIFFIES, 16),
	SHAPE("fixed, of 60 ms: W, in ns", 60 * MS, ALIGNED, 1, RF_KTIME, 60 * MS),
	SHAPE("coarse: W / 10", 10 * SECOND, COARSE(10), 10, RF_JIFFIES, 250),
	SHAPE("coarse: W / 16, rounded up", 10 * SECOND, COARSE(16), 16, RF_JIFFIES, 157),
	SHAPE("coarse, of 500 ms: W / 16, in ns", 500 * MS, COARSE(16), 16, RF_KTIME, 31250000),
	SHAPE("coarse, two cells: W / 2", SECOND, COARSE(2), 2, RF_JIFFIES, 125),
	UNIT_ROW("per /N: the mask of IPv4 alone", compile_mask4),
	UNIT_ROW("per6 /N: the mask of IPv6 alone", compile_mask6),
	UNIT_ROW("compile: id, L, clip and flags, whatever stood there", compile_keeps_the_rest),

	BANK_ROW("an empty bank: nothing found, slot 0 free", an_empty_bank),
	BANK_ROW("put, find, delete: the slot is free again", put_find_del),
	BANK_ROW("a full bank: no free slot, the last one found", a_full_bank),

	SET("the same again keeps the id", CHANGE_NOTHING, 2),
	SET("another rate keeps the id", CHANGE_RATE, 2),
	SET("shadow keeps the id", CHANGE_SHADOW, 2),
	SET("another window takes a new id", CHANGE_WINDOW, 3),
	SET("another algorithm takes a new id", CHANGE_ALGORITHM, 3),
	SET("another edge takes a new id", CHANGE_EDGE, 3),
	SET("another unit takes a new id", CHANGE_UNIT, 3),
	SET("another number of cells takes a new id", CHANGE_CELLS, 3),
	SET("another per takes a new id", CHANGE_PER4, 3),
	SET("another per6 takes a new id", CHANGE_PER6, 3),
	BANK_ROW("delete and put again: never an old id", an_id_is_never_used_again),
	BANK_ROW("there and back: never an old id", a_changed_limit_does_not_get_its_old_id_back),

	BANK_ROW("clip: the largest L of the id", clip_is_the_largest_limit_of_the_id),
	BANK_ROW("clip: a new id starts with its own L", a_new_id_starts_with_its_own_clip),
	BANK_ROW("raise clips: same id and larger, nothing else", raise_clips),
	BANK_ROW("raise clips: the last slot too", raise_the_last_clip),
};

int main(void)
{
	return cmocka_run_group_tests_name("rules", tests, NULL, NULL);
}
