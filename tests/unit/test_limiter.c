// SPDX-License-Identifier: GPL-2.0
/*
 * The limiter against what it promises: rows of known answers, random traffic against an oracle
 * that is too simple to be wrong, and other CPUs played by a hook before each atomic operation
 * (every interleaving is the explorer's business, not this file's).
 *
 * Time is injected everywhere. Random runs print their seed when they fail; RF_TEST_SEED sets it.
 */
#include "unit.h"

static void yield(void);
#define RF_ATOMIC_YIELD() yield()
#include "ringfence/limiter.h"
#include "rules.h"

#define CELL 100 /* length of a cell in rows that need no particular one */
#define MS 1000000ULL
#define SECOND 1000000000ULL
#define TICK_HZ100 10000000U
#define TICK_HZ250 4000000U
#define TICK_HZ300 3333333U
#define TICK_HZ1000 1000000U
#define EPOCHS (1ULL << 32) /* an epoch wraps here */

static struct rf_policy policy_of(uint32_t limit, uint64_t cell)
{
	return (struct rf_policy){
		.id = 1,
		.limit = limit,
		.clip = limit,
		.cell = cell,
		.cells = RF_CELLS,
		.clock = RF_KTIME,
	};
}

static struct rf_policy policy_compiled(uint32_t limit, uint64_t window_ns, uint32_t tick_ns,
					uint8_t cells)
{
	const struct rf_limit as_written = {
		.rate = limit,
		.window_ns = window_ns,
		.cells = cells,
	};
	struct rf_policy policy;

	rf_policy_compile(&as_written, 1, tick_ns, &policy);
	return policy;
}

/* Nanoseconds in a unit of the policy's clock. */
static uint64_t unit_ns(const struct rf_policy *policy, uint32_t tick_ns)
{
	return policy->clock == RF_JIFFIES ? tick_ns : 1;
}

/*
 * Offers packets and counts those that pass. Alone, nobody loses a race; and in the present cell
 * whoever is over the limit only reads.
 */
static uint32_t offer(struct rf_window *window, const struct rf_policy *policy, uint64_t time,
		      uint32_t packets, uint32_t cost)
{
	uint32_t admitted = 0;

	for (uint32_t i = 0; i < packets; i++) {
		const struct rf_window before = *window;
		uint32_t head = rf_word_epoch(before.head);
		enum rf_verdict verdict = rf_take(window, policy, time, cost);

		assert_int_not_equal(verdict, RF_LOST_RACES);
		admitted += verdict == RF_UNDER;
		if (verdict == RF_OVER && rf_epoch_is_present(head, rf_epoch(policy, time)))
			assert_memory_equal(window, &before, sizeof(before));
	}
	return admitted;
}

/* ---- scripts: who offers what when, and what passes ---- */

struct step {
	uint64_t time;
	uint32_t offered;
	uint32_t admitted;
	uint32_t cost;
};

#define STEPS_MAX 24

struct script {
	uint32_t limit;
	uint8_t cells;
	struct step step[STEPS_MAX];
};

/* In cells from the clock's zero; many wrap the epochs in the middle of a script. */
static const uint64_t origins[] = {
	0,
	1,
	15,
	16,
	12345,
	EPOCHS / 2 - 3,
	EPOCHS - 1,
	EPOCHS - 9,
	EPOCHS - 16,
	EPOCHS - 17,
	EPOCHS - 60000,
	EPOCHS - 70000,
	EPOCHS,
	7 * EPOCHS + 5,
};

static void run_script_from(const struct script *script, uint64_t origin)
{
	struct rf_policy policy = policy_of(script->limit, CELL);
	struct rf_window window;

	policy.cells = script->cells;
	rf_window_open(&window, rf_epoch(&policy, origin * CELL + script->step[0].time));
	for (int i = 0; i < STEPS_MAX && script->step[i].offered; i++) {
		const struct step *step = &script->step[i];
		uint32_t admitted = offer(&window, &policy, origin * CELL + step->time,
					  step->offered, step->cost);

		if (admitted != step->admitted)
			fail_msg("origin %" PRIu64 ", step %d: %u admitted of %u, not %u", origin,
				 i, admitted, step->offered, step->admitted);
	}
}

static void run_script(void **state)
{
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(origins); i++)
		run_script_from(*state, origins[i]);
}

#define AT_COST(at, offers, passes, each)                                       \
	{                                                                       \
		.time = at, .offered = offers, .admitted = passes, .cost = each \
	}
#define AT(at, offers, passes) AT_COST(at, offers, passes, 1)
#define SCRIPT_CELLS(title, largest, number, ...) \
	UNIT_ROW_OF(title, run_script,            \
		    (&(struct script){.limit = largest, .cells = number, .step = {__VA_ARGS__}}))
#define SCRIPT(title, largest, ...) SCRIPT_CELLS(title, largest, RF_CELLS, __VA_ARGS__)

static void one_in_every_cell(void **state)
{
	struct rf_policy policy = policy_of(10, CELL);
	struct rf_window window;

	(void)state;
	rf_window_open(&window, 0);
	for (uint64_t epoch = 0; epoch < 100; epoch++)
		assert_int_equal(offer(&window, &policy, epoch * CELL + epoch, 1, 1),
				 epoch % RF_CELLS < 10);
}

static void over_only_reads(void **state)
{
	struct rf_policy policy = policy_of(10, CELL);
	struct rf_window window, full;

	(void)state;
	rf_window_open(&window, 5);
	assert_int_equal(offer(&window, &policy, 5 * CELL, 10, 1), 10);
	full = window;
	for (int i = 0; i < 1000; i++)
		assert_int_equal(rf_take(&window, &policy, 5 * CELL + i % CELL, 1 + i), RF_OVER);
	assert_memory_equal(&window, &full, sizeof(full));
}

static void a_policy_without_cell(void **state)
{
	struct rf_policy policy = policy_of(3, 0);
	struct rf_window window;

	(void)state;
	rf_window_open(&window, rf_epoch(&policy, 123456789));
	for (int i = 0; i < 10; i++)
		assert_int_equal(rf_take(&window, &policy, 123456789ULL * i, 1),
				 i < 3 ? RF_UNDER : RF_OVER);
	assert_int_equal(rf_window_passes_again(&window, &policy, 123456789, 4), ~0ULL);
}

/* ---- known answers ---- */

static void minute_edge_sliding(void **state)
{
	static const uint32_t ticks[] = {TICK_HZ1000, TICK_HZ300, TICK_HZ250, TICK_HZ100};

	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(ticks); i++) {
		struct rf_policy policy = policy_compiled(10, 60 * SECOND, ticks[i], RF_CELLS);
		uint64_t unit = unit_ns(&policy, ticks[i]);
		struct rf_window window;

		for (uint64_t lap = 0; lap < 40; lap++) {
			uint64_t boundary_ns = lap * policy.cell * unit;
			uint64_t first = (boundary_ns + 59 * SECOND) / unit;
			uint64_t second = (boundary_ns + 61 * SECOND) / unit;

			rf_window_open(&window, rf_epoch(&policy, first));
			assert_int_equal(offer(&window, &policy, first, 10, 1), 10);
			assert_int_equal(offer(&window, &policy, second, 10, 1), 0);
		}
	}
}

struct pace {
	uint32_t tick_ns;
	enum rf_clock clock;
	uint32_t rate_pps;
	bool loses;
};

/* How many of the packets of 20 s, one each 1/rate s, are over 1600/1s. */
static uint32_t even_sender_loses(const struct pace *pace, uint64_t start_ns)
{
	struct rf_policy policy = policy_compiled(1600, SECOND, pace->tick_ns, RF_CELLS);
	uint64_t unit = unit_ns(&policy, pace->tick_ns);
	struct rf_window window;
	uint32_t lost = 0;

	assert_int_equal(policy.clock, pace->clock);
	rf_window_open(&window, rf_epoch(&policy, start_ns / unit));
	for (uint64_t i = 0; i < 20ULL * pace->rate_pps; i++) {
		uint64_t time_ns = start_ns + i * SECOND / pace->rate_pps;

		lost += rf_take(&window, &policy, time_ns / unit, 1) != RF_UNDER;
	}
	return lost;
}

static void even_sender(void **state)
{
	const struct pace *pace = *state;

	for (uint64_t start_ns = 0; start_ns < 100 * MS; start_ns += 11 * MS + 1) {
		uint32_t lost = even_sender_loses(pace, start_ns);

		if (pace->loses != (lost > 0))
			fail_msg("start %" PRIu64 " ns: %u lost", start_ns, lost);
	}
}

#define PACE(title, ...) UNIT_ROW_OF(title, even_sender, (&(struct pace){__VA_ARGS__}))

/* A full burst anywhere in a cell, to the ns; then everything that lies within W of it. */
static void strong_form_from(const struct rf_policy *policy, uint64_t window_ns, uint64_t unit,
			     uint64_t burst_ns)
{
	const uint64_t reopened_ns = burst_ns + RF_CELLS * policy->cell * unit;
	struct rf_window window;

	rf_window_open(&window, rf_epoch(policy, burst_ns / unit));
	assert_int_equal(offer(&window, policy, burst_ns / unit, 7, 1), 5);
	for (uint64_t eighth = 0; eighth <= 8; eighth++) {
		uint64_t time_ns = burst_ns + window_ns / 8 * eighth;

		assert_int_equal(offer(&window, policy, time_ns / unit, 2, 1), 0);
	}
	assert_int_equal(offer(&window, policy, (burst_ns + window_ns) / unit, 2, 1), 0);
	assert_int_equal(offer(&window, policy, reopened_ns / unit, 7, 1), 5);
}

static void strong_form_edges(void **state)
{
	static const uint32_t ticks[] = {TICK_HZ1000, TICK_HZ300, TICK_HZ250, TICK_HZ100};
	static const uint64_t windows_ns[] = {1 * MS, 333333333, 1 * SECOND, 10 * SECOND};

	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(ticks) * UNIT_ARRAY_SIZE(windows_ns); i++) {
		uint32_t tick_ns = ticks[i / UNIT_ARRAY_SIZE(windows_ns)];
		uint64_t window_ns = windows_ns[i % UNIT_ARRAY_SIZE(windows_ns)];
		struct rf_policy policy = policy_compiled(5, window_ns, tick_ns, RF_CELLS);
		uint64_t unit = unit_ns(&policy, tick_ns);
		uint64_t cell_ns = policy.cell * unit;

		for (uint64_t part = 0; part < 64; part++) {
			uint64_t burst_ns = 20 * cell_ns + cell_ns * part / 64;

			strong_form_from(&policy, window_ns, unit, burst_ns);
			strong_form_from(&policy, window_ns, unit, burst_ns + 1);
			strong_form_from(&policy, window_ns, unit, burst_ns - 1);
		}
	}
}

/* ---- a limit that changes under a window, and numbers at their edge ---- */

static void lowered_limit_forgets_nothing(void **state)
{
	struct rf_policy policy = policy_of(100, CELL);
	struct rf_window window;

	(void)state;
	rf_window_open(&window, 20);
	assert_int_equal(offer(&window, &policy, 20 * CELL, 50, 1), 50);
	assert_int_equal(offer(&window, &policy, 22 * CELL, 60, 1), 50);
	policy.limit = 10; /* `clip` stays 100 */
	for (uint64_t epoch = 22; epoch < 38; epoch++)
		assert_int_equal(offer(&window, &policy, epoch * CELL, 5, 1), 0);
	assert_int_equal(offer(&window, &policy, 38 * CELL, 30, 1), 10);
	assert_int_equal(offer(&window, &policy, 53 * CELL, 30, 1), 0);
	assert_int_equal(offer(&window, &policy, 54 * CELL, 30, 1), 10);
}

static void lowered_and_raised_again(void **state)
{
	struct rf_policy policy = policy_of(100, CELL);
	struct rf_window window;

	(void)state;
	rf_window_open(&window, 20);
	assert_int_equal(offer(&window, &policy, 20 * CELL, 80, 1), 80);
	policy.limit = 10;
	assert_int_equal(offer(&window, &policy, 21 * CELL, 5, 1), 0);
	policy.limit = 100;
	assert_int_equal(offer(&window, &policy, 22 * CELL, 200, 1), 20);
	assert_int_equal(offer(&window, &policy, 36 * CELL, 200, 1), 80);
}

/* A clip that is too small does forget, but what it leaves over is never below zero. */
static void clip_below_the_window(void **state)
{
	struct rf_policy policy = policy_of(100, CELL);
	struct rf_window window;

	(void)state;
	rf_window_open(&window, 20);
	assert_int_equal(offer(&window, &policy, 20 * CELL, 50, 1), 50);
	assert_int_equal(offer(&window, &policy, 22 * CELL, 60, 1), 50);
	policy.limit = policy.clip = 10;
	assert_int_equal(offer(&window, &policy, 23 * CELL, 5, 1), 0);
	assert_in_range(rf_window_cell(&window, &policy, 22), 0, 50);
	assert_int_equal(offer(&window, &policy, 60 * CELL, 30, 1), 10);
}

static void raised_limit(void **state)
{
	struct rf_policy policy = policy_of(10, CELL);
	struct rf_window window;

	(void)state;
	rf_window_open(&window, 20);
	assert_int_equal(offer(&window, &policy, 20 * CELL, 30, 1), 10);
	policy.limit = policy.clip = 25;
	assert_int_equal(offer(&window, &policy, 20 * CELL, 30, 1), 15);
	assert_int_equal(offer(&window, &policy, 35 * CELL, 30, 1), 0);
	assert_int_equal(offer(&window, &policy, 36 * CELL, 30, 1), 25);
}

static void largest_limit(void **state)
{
	struct rf_policy policy = policy_of(RF_LIMIT_MAX, CELL);
	struct rf_window window;

	(void)state;
	rf_window_open(&window, 20);
	assert_int_equal(rf_take(&window, &policy, 20 * CELL, RF_LIMIT_MAX - 2), RF_UNDER);
	assert_int_equal(rf_take(&window, &policy, 20 * CELL, 3), RF_OVER);
	assert_int_equal(rf_take(&window, &policy, 20 * CELL, UINT32_MAX), RF_OVER);
	assert_int_equal(offer(&window, &policy, 20 * CELL, 5, 1), 2);
	assert_int_equal(window.head, rf_word(20, RF_LIMIT_MAX));
	assert_int_equal(rf_take(&window, &policy, 21 * CELL, RF_LIMIT_MAX), RF_OVER);
	assert_int_equal(rf_take(&window, &policy, 21 * CELL, UINT32_MAX), RF_OVER);
	assert_int_equal(rf_take(&window, &policy, 35 * CELL, 1), RF_OVER);
	assert_int_equal(rf_take(&window, &policy, 36 * CELL, RF_LIMIT_MAX), RF_UNDER);
	assert_int_equal(rf_take(&window, &policy, 36 * CELL, RF_LIMIT_MAX), RF_OVER);
}

/* No limiter wrote this: sixteen full cells, whose sum is a multiple of 2^32. */
static void sum_saturates(void **state)
{
	struct rf_policy policy = policy_of(RF_LIMIT_MAX, CELL);
	struct rf_window window = {.head = rf_word(35, RF_LIMIT_MAX)};

	(void)state;
	for (uint32_t epoch = 20; epoch < 36; epoch++)
		window.cell[epoch % RF_CELLS] = rf_word(epoch, RF_LIMIT_MAX);
	assert_int_equal(rf_window_sum(&window, 35, RF_CELLS), UINT32_MAX);
	assert_int_equal(rf_window_sum(&window, 22, 3), UINT32_MAX);
	assert_int_equal(rf_window_used(&window, &policy, 37), UINT32_MAX);
	for (uint32_t epoch = 36; epoch < 50; epoch++)
		assert_int_equal(rf_take(&window, &policy, epoch * CELL, 1), RF_OVER);
}

static void inflation_is_clipped(void **state)
{
	struct rf_policy policy = policy_of(10, CELL);
	struct rf_window window;

	(void)state;
	rf_window_open(&window, 20);
	assert_int_equal(offer(&window, &policy, 20 * CELL, 4, 1), 4);
	assert_int_equal(offer(&window, &policy, 23 * CELL, 9, 1), 6);
	window.head += 5; /* five CPUs lost the race for the last permit */
	assert_int_equal(rf_window_used(&window, &policy, 23), 10);
	assert_int_equal(rf_window_cell(&window, &policy, 23), 6);
	assert_int_equal(offer(&window, &policy, 24 * CELL, 9, 1), 0);
	assert_int_equal(rf_window_cell(&window, &policy, 23), 6);
	assert_int_equal(offer(&window, &policy, 36 * CELL, 9, 1), 4);
	assert_int_equal(offer(&window, &policy, 39 * CELL, 9, 1), 6);
}

/* ---- closing a cell ---- */

static void raise_keeps_the_larger(void **state)
{
	static const struct {
		uint64_t stands;
		uint32_t epoch, used;
		uint64_t expected;
	} rows[] = {
		{0, 20, 5, 20ULL << 32 | 5},
		{20ULL << 32 | 5, 20, 4, 20ULL << 32 | 5},
		{20ULL << 32 | 5, 20, 5, 20ULL << 32 | 5},
		{20ULL << 32 | 5, 20, 6, 20ULL << 32 | 6},
		{20ULL << 32 | 5, 20, 0, 20ULL << 32 | 5},
		{4ULL << 32 | 99, 20, 1, 20ULL << 32 | 1},	 /* a lap ago */
		{36ULL << 32 | 1, 20, 99, 36ULL << 32 | 1},	 /* the loser is a lap behind */
		{0xfffffff4ULL << 32 | 9, 4, 1, 4ULL << 32 | 1}, /* the same across the wrap */
		{4ULL << 32 | 1, 0xfffffff4, 9, 4ULL << 32 | 1},
	};

	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(rows); i++) {
		struct rf_window window = {}, expected = {};
		uint32_t slot = rows[i].epoch % RF_CELLS;

		window.cell[slot] = rows[i].stands;
		expected.cell[slot] = rows[i].expected;
		assert_true(rf_cell_raise(&window, rows[i].epoch, rows[i].used));
		assert_memory_equal(&window, &expected, sizeof(window));
	}
}

/* ---- other CPUs: a hook before each atomic operation ---- */

static void (*yield_hook)(void *context);
static void *yield_context;

static void yield(void)
{
	void (*hook)(void *context) = yield_hook;

	if (!hook)
		return;
	yield_hook = NULL; /* what the hook itself takes is not interrupted */
	hook(yield_context);
	yield_hook = hook;
}

static enum rf_verdict take_disturbed(struct rf_window *window, const struct rf_policy *policy,
				      uint32_t now, void (*hook)(void *), void *context)
{
	enum rf_verdict verdict;

	yield_context = context;
	yield_hook = hook;
	verdict = rf_take_sliding(window, policy, now, 1);
	yield_hook = NULL;
	return verdict;
}

/* Another CPU changes the word before every operation of this one. */
struct bumps {
	__u64 *word;
	uint32_t count;
};

static void bump(void *context)
{
	struct bumps *bumps = context;

	++*bumps->word;
	bumps->count++;
}

static void head_races_lost(void **state)
{
	struct rf_policy policy = policy_of(1000, CELL);
	struct rf_window window;
	struct bumps bumps = {&window.head, 0};

	(void)state;
	rf_window_open(&window, 20);
	assert_int_equal(take_disturbed(&window, &policy, 21, bump, &bumps), RF_LOST_RACES);
	assert_int_equal(window.head, rf_word(20, bumps.count));
	assert_in_range(bumps.count, RF_RETRIES, 999);
	assert_int_equal(offer(&window, &policy, 21 * CELL, 1000, 1), 1000 - bumps.count);
}

static void cell_races_lost(void **state)
{
	struct rf_policy policy = policy_of(10, CELL);
	struct rf_window window;
	struct bumps bumps = {&window.cell[20 % RF_CELLS], 0};

	(void)state;
	rf_window_open(&window, 20);
	assert_int_equal(offer(&window, &policy, 20 * CELL, 4, 1), 4);
	*bumps.word = rf_word(4, 0);
	assert_int_equal(take_disturbed(&window, &policy, 21, bump, &bumps), RF_LOST_RACES);
	assert_int_equal(window.head, rf_word(20, 4));
	assert_int_equal(*bumps.word, rf_word(4, bumps.count));
	assert_int_equal(offer(&window, &policy, 21 * CELL, 10, 1), 6);
}

#define VISITS_MAX 4
#define LEDGER_START 80 /* epochs of the races lie in LEDGER_START + [0, LEDGER_SIZE) */
#define LEDGER_SIZE 160

/* What was admitted in which epoch: the later of the caller's and the head's. */
struct ledger {
	struct rf_window window;
	struct rf_policy policy;
	uint32_t admitted[LEDGER_SIZE];
};

/* Another CPU's packets, all of them between two operations of this one. */
struct race {
	uint32_t now;		    /* of the packet that is disturbed */
	uint32_t visit[VISITS_MAX]; /* epochs of the other CPU's packets; 0: no more */
	uint32_t closed_epoch;	    /* it closes this cell, with a sum that is too small; 0: none */
	uint32_t closed_used;
};

struct intruder {
	struct ledger *ledger;
	const struct race *race;
	int countdown;
};

static void charge(struct ledger *ledger, uint32_t now, enum rf_verdict verdict)
{
	uint32_t head = rf_word_epoch(ledger->window.head);

	if (verdict == RF_UNDER)
		ledger->admitted[(head > now ? head : now) - LEDGER_START]++;
}

static void charge_packets(struct ledger *ledger, uint32_t now, uint32_t packets)
{
	while (packets--)
		charge(ledger, now, rf_take_sliding(&ledger->window, &ledger->policy, now, 1));
}

static void intrude(void *context)
{
	struct intruder *intruder = context;

	if (intruder->countdown-- != 0)
		return;
	for (int i = 0; i < VISITS_MAX && intruder->race->visit[i]; i++)
		charge_packets(intruder->ledger, intruder->race->visit[i], 1);
	if (intruder->race->closed_epoch)
		rf_cell_raise(&intruder->ledger->window, intruder->race->closed_epoch,
			      intruder->race->closed_used);
}

/* The largest of all sums of RF_CELLS consecutive epochs. */
static uint32_t ledger_peak(const struct ledger *ledger)
{
	uint32_t peak = 0;

	for (int first = 0; first + RF_CELLS <= LEDGER_SIZE; first++) {
		uint32_t sum = 0;

		for (int i = 0; i < RF_CELLS; i++)
			sum += ledger->admitted[first + i];
		peak = sum > peak ? sum : peak;
	}
	return peak;
}

/* One race, disturbed before operation number `point`; false when it has no such operation. */
static bool race_at(const struct race *race, int point)
{
	struct ledger ledger = {.policy = policy_of(6, CELL)};
	struct intruder intruder = {&ledger, race, point};
	uint32_t late = 0;

	rf_window_open(&ledger.window, 100);
	charge_packets(&ledger, 100, 2);
	charge_packets(&ledger, 103, 2);
	charge(&ledger, race->now,
	       take_disturbed(&ledger.window, &ledger.policy, race->now, intrude, &intruder));

	/* Whatever was forgotten shows when every cell is filled to the brim. */
	for (uint32_t epoch = 103; epoch < LEDGER_START + LEDGER_SIZE; epoch++)
		charge_packets(&ledger, epoch, 7);
	if (ledger_peak(&ledger) > 6)
		fail_msg("point %d: %u admitted in one window", point, ledger_peak(&ledger));
	for (int i = LEDGER_SIZE - RF_CELLS; i < LEDGER_SIZE; i++)
		late += ledger.admitted[i];
	assert_int_equal(late, 6);
	return intruder.countdown < 0;
}

static void race_everywhere(void **state)
{
	int points = 0;

	while (race_at(*state, points))
		points++;
	assert_true(points >= 2);
}

#define RACE(title, epoch, ...)                           \
	UNIT_ROW_OF("other CPU: " title, race_everywhere, \
		    (&(struct race){.now = epoch, __VA_ARGS__}))

static void last_permit(void **state)
{
	static const struct race race = {.now = 103, .visit = {103}};
	struct ledger ledger = {.policy = policy_of(6, CELL)};
	struct intruder intruder = {&ledger, &race, 1}; /* between the load and the addition */

	(void)state;
	rf_window_open(&ledger.window, 103);
	charge_packets(&ledger, 103, 5);
	assert_int_equal(take_disturbed(&ledger.window, &ledger.policy, 103, intrude, &intruder),
			 RF_OVER);
	assert_int_equal(ledger.admitted[103 - LEDGER_START], 6);
	assert_int_equal(ledger.window.head, rf_word(103, 7));
	assert_int_equal(rf_window_used(&ledger.window, &ledger.policy, 103), 6);
}

/* ---- the oracle: a list of all admissions ---- */

#define HISTORY_MAX 512 /* over every L of the random rows, so that a live entry is never lost */

struct admission {
	uint64_t when;
	uint32_t cost;
};

struct history {
	uint64_t first, end;
	struct admission admission[HISTORY_MAX];
};

struct source {
	struct rf_window window;
	bool known;
	uint64_t latest; /* a clock that goes back stands still */
	struct history history;
};

static uint64_t history_sum_since(struct history *history, uint64_t oldest)
{
	uint64_t sum = 0;

	while (history->first < history->end &&
	       history->admission[history->first % HISTORY_MAX].when < oldest)
		history->first++;
	for (uint64_t i = history->first; i < history->end; i++)
		sum += history->admission[i % HISTORY_MAX].cost;
	return sum;
}

static void history_add(struct history *history, uint64_t when, uint32_t cost)
{
	history->admission[history->end++ % HISTORY_MAX] = (struct admission){when, cost};
}

static void source_sees(struct source *source, const struct rf_policy *policy, uint64_t time,
			uint64_t when)
{
	if (!source->known)
		rf_window_open(&source->window, rf_epoch(policy, time));
	source->known = true;
	if (source->latest < when)
		source->latest = when;
}

/* What counts against L when the source's latest epoch is `epoch`. */
static uint64_t oracle_used(struct source *source, const struct rf_policy *policy, uint64_t epoch)
{
	return history_sum_since(&source->history,
				 epoch >= policy->cells ? epoch - policy->cells + 1 : 0);
}

static enum rf_verdict oracle_take(struct source *source, const struct rf_policy *policy,
				   uint32_t cost)
{
	if (oracle_used(source, policy, source->latest) + cost > policy->limit)
		return RF_OVER;
	history_add(&source->history, source->latest, cost);
	return RF_UNDER;
}

static bool take_agrees(struct source *source, const struct rf_policy *policy, uint64_t time,
			uint32_t cost)
{
	source_sees(source, policy, time, time / policy->cell);
	return rf_take(&source->window, policy, time, cost) == oracle_take(source, policy, cost);
}

/* ---- idle for very long ---- */

/*
 * Not here, since "less than 2^16 cells ahead is present" cannot tell them from a CPU that reads an
 * old clock: an idle time of 2^32 - 2^16 + 1 to 2^32 cells, and its multiples, is the present (who
 * was over the limit stays so until the clock catches up). And up to 15 cells more than 2^32 look
 * like 15 cells: the window counts again.
 */
static const uint64_t idles[] = {
	1,
	14,
	15,
	16,
	17,
	65535,
	65536,
	65537,
	EPOCHS / 2 - 1,
	EPOCHS / 2,
	EPOCHS / 2 + 5,
	EPOCHS - (1 << 17),
	EPOCHS + 16,
	EPOCHS + 17,
	EPOCHS + 40,
	3 * EPOCHS + EPOCHS / 2,
	99 * EPOCHS + 40,
};

/* Traffic in every cell, so that the ring is full of admissions. */
static bool fill_agrees(struct source *source, const struct rf_policy *policy, uint64_t epoch,
			uint64_t cells)
{
	for (uint64_t i = 0; i < cells; i++)
		for (uint32_t cost = 1; cost <= 3; cost++)
			if (!take_agrees(source, policy, (epoch + i) * CELL, cost))
				return false;
	return true;
}

static void idle_from(uint64_t origin, uint64_t idle)
{
	struct rf_policy policy = policy_of(40, CELL);
	struct source source = {};

	if (!fill_agrees(&source, &policy, origin, 37) ||
	    !fill_agrees(&source, &policy, origin + 36 + idle, 80))
		fail_msg("origin %" PRIu64 ", idle for %" PRIu64 " cells: not the oracle's verdict",
			 origin, idle);
}

static void idle_for_long(void **state)
{
	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(idles); i++)
		for (size_t j = 0; j < UNIT_ARRAY_SIZE(origins); j++)
			idle_from(origins[j], idles[i]);
}

/* A cell that was never written is all zero, and epoch 0 lies ahead of the last ones. */
static void newcomer_before_the_wrap(void **state)
{
	struct rf_policy policy = policy_of(10, CELL);

	(void)state;
	for (uint64_t before = 0; before < 70000; before += 911) {
		struct rf_window window;

		rf_window_open(&window, rf_epoch(&policy, (EPOCHS - before) * CELL));
		assert_int_equal(offer(&window, &policy, (EPOCHS - before) * CELL, 15, 1), 10);
		assert_int_equal(offer(&window, &policy, (EPOCHS - before + 1) * CELL, 15, 1), 0);
	}
}

/* To the head this is the past, as it should be; to the older cells of the ring it must be too. */
static void idle_just_outside_the_present(void **state)
{
	(void)state;
	for (uint64_t idle = EPOCHS - 65536 - 40; idle <= EPOCHS - 65536; idle++)
		idle_from(12345, idle);
}

/* The ring's cells were written at different times, so one of them may be that old alone. */
static void old_cell_hides_no_new_one(void **state)
{
	struct rf_policy policy = policy_of(40, CELL);
	struct source source = {};
	uint64_t back = 36 + EPOCHS - (1 << 17);

	(void)state;
	assert_true(fill_agrees(&source, &policy, 0, 37));
	assert_true(fill_agrees(&source, &policy, back, 1));
	assert_true(fill_agrees(&source, &policy, back + (1 << 17) - 1000, 80));
}

/* ---- random traffic ---- */

#define ORACLE_PACKETS 1000000
#define READER_PACKETS 100000
#define INTERVAL_PACKETS 400000
#define SOURCES_MAX 8

struct traffic {
	uint32_t limit;
	uint64_t window_ns;
	uint32_t tick_ns;
	uint32_t sources;
	uint32_t cost_max;
	uint8_t cells;	      /* 0 stands for RF_CELLS */
	bool limit_changes;   /* up to `limit` */
	uint64_t start_cells; /* from the clock's zero */
};

struct run {
	const struct traffic *traffic;
	struct rf_policy policy;
	uint64_t random;
	uint64_t unit_ns;
	uint64_t cell_ns;
	uint64_t clock_ns;
	uint32_t packet;
	uint32_t admitted;
};

static struct source sources[SOURCES_MAX]; /* of the row that runs */

static void run_start(struct run *run, const struct traffic *traffic)
{
	uint8_t cells = traffic->cells ? traffic->cells : RF_CELLS;

	*run = (struct run){.traffic = traffic, .random = unit_seed()};
	run->policy = policy_compiled(traffic->limit, traffic->window_ns, traffic->tick_ns, cells);
	run->unit_ns = unit_ns(&run->policy, traffic->tick_ns);
	run->cell_ns = run->policy.cell * run->unit_ns;
	run->clock_ns = (traffic->start_cells + 100) * run->cell_ns;
	memset(sources, 0, sizeof(sources));
}

/* Traffic that is nearly all let through, or nearly all refused, shows little. */
static void run_end(const struct run *run)
{
	assert_in_range(run->admitted, run->packet / 10, run->packet - run->packet / 10);
}

#define RUN_FAIL(run, format, ...)                                                           \
	fail_msg("RF_TEST_SEED=%" PRIu64 ", packet %u: " format, unit_seed(), (run)->packet, \
		 __VA_ARGS__)

/*
 * Bursts, and about twice what the limits allow; a few times per window a jump of up to a window
 * or a step back, at times a long silence, and one reading in 16 is an old one.
 */
static uint64_t next_time_ns(struct run *run)
{
	uint64_t window_packets = (uint64_t)run->traffic->limit * run->traffic->sources;
	uint64_t window_ns = run->policy.cells * run->cell_ns;
	uint64_t roll = unit_below(&run->random, 16 * window_packets + 64);
	uint64_t back_ns = 0;

	if (roll == 0)
		run->clock_ns += unit_below(&run->random, 4 * window_ns);
	else if (roll < 6)
		run->clock_ns += unit_below(&run->random, window_ns + run->cell_ns);
	else if (roll < 10)
		run->clock_ns -= unit_below(&run->random, 3 * run->cell_ns);
	else if (roll % 2)
		run->clock_ns += unit_below(&run->random, 2 * window_ns / window_packets);
	if (unit_below(&run->random, 16) == 0)
		back_ns = unit_below(&run->random, 3 * run->cell_ns);
	return run->clock_ns - back_ns;
}

static struct source *next_source(struct run *run)
{
	return &sources[unit_below(&run->random, run->traffic->sources)];
}

static uint32_t next_cost(struct run *run)
{
	return 1 + unit_below(&run->random, run->traffic->cost_max);
}

static void agrees_with_oracle(void **state)
{
	struct run run;

	run_start(&run, *state);
	for (; run.packet < ORACLE_PACKETS; run.packet++) {
		struct source *source = next_source(&run);
		uint64_t time = next_time_ns(&run) / run.unit_ns;
		uint64_t before = source->history.end;
		uint32_t cost = next_cost(&run);

		if (run.traffic->limit_changes && unit_below(&run.random, 1000) == 0)
			run.policy.limit = 1 + unit_below(&run.random, run.traffic->limit);
		if (!take_agrees(source, &run.policy, time, cost))
			RUN_FAIL(&run, "cost %u at %" PRIu64 ": not the oracle's verdict", cost,
				 time);
		run.admitted += source->history.end != before;
	}
	run_end(&run);
}

/* What one epoch admitted, by the oracle's list. */
static uint64_t oracle_cell(const struct source *source, uint64_t epoch)
{
	uint64_t sum = 0;

	for (uint64_t i = source->history.first; i < source->history.end; i++)
		if (source->history.admission[i % HISTORY_MAX].when == epoch)
			sum += source->history.admission[i % HISTORY_MAX].cost;
	return sum;
}

static void check_used(struct run *run, struct source *source, uint64_t time)
{
	const struct rf_policy *policy = &run->policy;
	uint64_t expected = oracle_used(source, policy, source->latest);
	uint32_t used = rf_window_used(&source->window, policy, rf_epoch(policy, time));

	if (used != expected)
		RUN_FAIL(run, "used %u, not %" PRIu64, used, expected);
	for (uint64_t age = 0; age < policy->cells; age++) {
		uint32_t cell = rf_window_cell(&source->window, policy, source->latest - age);

		expected = oracle_cell(source, source->latest - age);
		if (cell != expected)
			RUN_FAIL(run, "%" PRIu64 " cells ago: %u, not %" PRIu64, age, cell,
				 expected);
	}
}

static enum rf_verdict take_on_copy(const struct source *source, const struct rf_policy *policy,
				    uint64_t time, uint32_t cost)
{
	struct rf_window copy = source->window;

	return rf_take(&copy, policy, time, cost);
}

static void check_passes_again(struct run *run, struct source *source, uint64_t time, uint32_t cost)
{
	const struct rf_policy *policy = &run->policy;
	uint64_t wait = rf_window_passes_again(&source->window, policy, time, cost);

	if ((wait == ~0ULL) != (cost > policy->limit))
		RUN_FAIL(run, "cost %u of %u: passes in %" PRIu64, cost, policy->limit, wait);
	if (wait == ~0ULL)
		return;
	if (wait > 0 && take_on_copy(source, policy, time + wait - 1, cost) != RF_OVER)
		RUN_FAIL(run, "cost %u passes earlier than in %" PRIu64, cost, wait);
	if (take_on_copy(source, policy, time + wait, cost) != RF_UNDER)
		RUN_FAIL(run, "cost %u does not pass in %" PRIu64, cost, wait);
}

static void readers_agree(void **state)
{
	struct run run;

	run_start(&run, *state);
	for (; run.packet < READER_PACKETS; run.packet++) {
		struct source *source = next_source(&run);
		uint64_t time = next_time_ns(&run) / run.unit_ns;
		uint32_t cost = next_cost(&run);

		if (run.traffic->limit_changes && unit_below(&run.random, 1000) == 0)
			run.policy.limit = 1 + unit_below(&run.random, run.traffic->limit);
		source_sees(source, &run.policy, time, time / run.policy.cell);
		check_used(&run, source, time);
		check_passes_again(&run, source, time, cost);
		if (rf_take(&source->window, &run.policy, time, cost) != RF_UNDER)
			continue;
		history_add(&source->history, source->latest, cost);
		run.admitted++;
	}
	run_end(&run);
}

/* Sometimes the clock jumps to where W after the oldest admission ends, to the ns. */
static void jump_to_end(struct run *run, const struct source *source)
{
	const struct history *history = &source->history;
	uint64_t end_ns;

	if (history->first == history->end ||
	    unit_below(&run->random, run->traffic->limit * run->traffic->sources) != 0)
		return;
	end_ns = history->admission[history->first % HISTORY_MAX].when + run->traffic->window_ns;
	if (run->clock_ns < end_ns)
		run->clock_ns = end_ns;
}

/* Knows neither cells nor epochs: what was admitted in the last W, both ends included. */
static void interval_holds(void **state)
{
	struct run run;

	run_start(&run, *state);
	for (; run.packet < INTERVAL_PACKETS; run.packet++) {
		struct source *source = next_source(&run);
		uint64_t time_ns, sum;
		uint32_t cost = next_cost(&run);

		jump_to_end(&run, source);
		time_ns = next_time_ns(&run);
		source_sees(source, &run.policy, time_ns / run.unit_ns, time_ns);
		if (rf_take(&source->window, &run.policy, time_ns / run.unit_ns, cost) != RF_UNDER)
			continue;
		history_add(&source->history, source->latest, cost);
		sum = history_sum_since(&source->history, source->latest - run.traffic->window_ns);
		if (sum > run.policy.limit)
			RUN_FAIL(&run, "%" PRIu64 " in W before %" PRIu64 " ns", sum,
				 source->latest);
		run.admitted++;
	}
	run_end(&run);
}

#define TRAFFIC(title, function, rate, window, tick, senders, largest_cost, ...) \
	UNIT_ROW_OF(title, function,                                             \
		    (&(struct traffic){.limit = rate,                            \
				       .window_ns = window,                      \
				       .tick_ns = tick,                          \
				       .sources = senders,                       \
				       .cost_max = largest_cost,                 \
				       __VA_ARGS__}))

/* ---- hostile windows ---- */

static uint64_t hostile_word(uint64_t *random, uint32_t now)
{
	uint32_t used = unit_random(random) >> unit_below(random, 64);

	if (unit_below(random, 2))
		return unit_random(random);
	return rf_word(now + unit_below(random, 40) - 20, used);
}

static void hostile_fill(uint64_t *random, struct rf_window *window, struct rf_policy *policy,
			 uint64_t time)
{
	policy->limit = unit_random(random) >> unit_below(random, 64) & 0x7fffffff;
	policy->clip = unit_random(random) >> unit_below(random, 64);
	policy->cells = unit_random(random) >> unit_below(random, 64);
	policy->cell = unit_random(random) >> (24 + unit_below(random, 40));
	window->head = hostile_word(random, rf_epoch(policy, time));
	for (int i = 0; i < RF_CELLS; i++)
		window->cell[i] = hostile_word(random, rf_epoch(policy, time));
}

static void check_hostile(struct rf_window *window, const struct rf_policy *policy, uint64_t time,
			  uint32_t cost)
{
	uint32_t now = rf_epoch(policy, time);
	uint64_t wait = rf_window_passes_again(window, policy, time, cost);

	if (cost > policy->limit)
		assert_true(wait == ~0ULL);
	if (rf_window_used(window, policy, now) > policy->limit && policy->cell)
		assert_true(wait > 0);
	rf_window_cell(window, policy, now);
	if (offer(window, policy, time, 1, cost) == 0)
		return;
	assert_in_range(rf_word_used(window->head), cost, policy->limit);
	assert_true(rf_epoch_is_present(rf_word_epoch(window->head), now));
}

static void hostile_windows(void **state)
{
	uint64_t random = unit_seed();

	(void)state;
	for (int i = 0; i < 100000; i++) {
		struct rf_policy policy = {};
		struct rf_window window;
		uint64_t time = unit_random(&random) >> unit_below(&random, 64);

		hostile_fill(&random, &window, &policy, time);
		for (int j = 0; j < 4; j++)
			check_hostile(&window, &policy, time + j * policy.cell,
				      1 + (unit_random(&random) >> 33 >> unit_below(&random, 31)));
	}
}

/* ---- readers ---- */

static void readers_of_a_burst(void **state)
{
	struct rf_policy policy = policy_of(10, CELL);
	struct rf_window window;

	(void)state;
	rf_window_open(&window, 20);
	assert_int_equal(rf_window_used(&window, &policy, 20), 0);
	assert_int_equal(rf_window_passes_again(&window, &policy, 2000, 10), 0);
	assert_int_equal(rf_window_passes_again(&window, &policy, 2000, 11), ~0ULL);
	assert_int_equal(offer(&window, &policy, 2000, 3, 1), 3);
	assert_int_equal(offer(&window, &policy, 2250, 9, 1), 7);
	assert_int_equal(rf_window_cell(&window, &policy, 20), 3);
	assert_int_equal(rf_window_cell(&window, &policy, 21), 0);
	assert_int_equal(rf_window_cell(&window, &policy, 22), 7);
	assert_int_equal(rf_window_used(&window, &policy, 35), 10);
	assert_int_equal(rf_window_used(&window, &policy, 36), 7);
	assert_int_equal(rf_window_used(&window, &policy, 38), 0);
	assert_int_equal(rf_window_passes_again(&window, &policy, 2299, 3), 3600 - 2299);
	assert_int_equal(rf_window_passes_again(&window, &policy, 2299, 4), 3800 - 2299);
	assert_int_equal(rf_window_passes_again(&window, &policy, 1999, 1), 3600 - 1999);
	assert_int_equal(rf_window_passes_again(&window, &policy, 3600, 3), 0);
}

/* Another CPU has moved the head to a cell that this reader's clock has not reached. */
static void reader_with_an_old_clock(void **state)
{
	struct rf_policy policy = policy_of(10, CELL);
	struct rf_window window;

	(void)state;
	rf_window_open(&window, 20);
	assert_int_equal(offer(&window, &policy, 2000, 7, 1), 7);
	assert_int_equal(rf_window_used(&window, &policy, 17), 7);
	assert_int_equal(rf_window_passes_again(&window, &policy, 1750, 4), 3600 - 1750);
	assert_int_equal(rf_window_passes_again(&window, &policy, 1750, 3), 0);
	assert_int_equal(offer(&window, &policy, 1750, 1, 3), 1);
}

static const struct CMUnitTest tests[] = {
	SCRIPT("a newcomer's first packet passes", 1, AT(0, 1, 1)),
	SCRIPT("a burst: exactly L", 10, AT(0, 1000, 10), AT(99, 1000, 0)),
	SCRIPT("a burst over some cells: exactly L", 10, AT(0, 4, 4), AT(100, 4, 4), AT(250, 4, 2),
	       AT(300, 4, 0), AT(1599, 4, 0)),
	SCRIPT("burst, silence, then exactly one", 1, AT(0, 9, 1), AT(1600, 9, 1), AT(1699, 9, 0)),
	SCRIPT("burst, silence of a window, then L again", 10, AT(0, 15, 10), AT(1600, 15, 10),
	       AT(3200, 15, 10), AT(9999, 15, 10)),
	SCRIPT("burst at a cell's end: shut until the exact cell", 10, AT(99, 15, 10),
	       AT(100, 1, 0), AT(1499, 1, 0), AT(1598, 1, 0), AT(1599, 1, 0), AT(1600, 15, 10),
	       AT(3199, 1, 0), AT(3200, 15, 10)),
	SCRIPT("burst at a cell's start: shut until the exact cell", 10, AT(100, 15, 10),
	       AT(1600, 1, 0), AT(1699, 1, 0), AT(1700, 15, 10)),
	SCRIPT("each cell makes room for what it held, when it leaves", 10, AT(0, 3, 3),
	       AT(150, 5, 5), AT(1450, 9, 2), AT(1599, 9, 0), AT(1600, 9, 3), AT(1699, 9, 0),
	       AT(1700, 9, 5), AT(2999, 9, 0), AT(3000, 9, 2), AT(3200, 9, 3)),
	SCRIPT("asked in every cell while shut: opens no later", 2, AT(0, 9, 2), AT(100, 1, 0),
	       AT(300, 1, 0), AT(400, 1, 0), AT(700, 1, 0), AT(900, 1, 0), AT(1000, 1, 0),
	       AT(1300, 1, 0), AT(1400, 1, 0), AT(1500, 1, 0), AT(1600, 9, 2)),
	SCRIPT("what is rejected is not charged", 10, AT(0, 10, 10), AT(100, 99, 0), AT(900, 99, 0),
	       AT(1600, 6, 6), AT(1700, 99, 4)),
	SCRIPT("time that stands still opens nothing", 10, AT(777, 10, 10), AT(777, 99, 0),
	       AT(777, 99, 0)),
	SCRIPT("time that goes back opens nothing", 10, AT(5000, 10, 10), AT(4999, 9, 0),
	       AT(4000, 9, 0), AT(3300, 9, 0), AT(0, 9, 0), AT(6599, 9, 0), AT(6600, 15, 10)),
	SCRIPT("time that goes back is charged to the newest cell", 10, AT(5000, 4, 4),
	       AT(3000, 3, 3), AT(4899, 9, 3), AT(5000, 9, 0), AT(6599, 9, 0), AT(6600, 15, 10)),
	SCRIPT("a stalled CPU, its clock 2^16 - 1 cells old: present", 10, AT(7000000, 4, 4),
	       AT(7000000 - 6553500, 9, 6), AT(7000000 - 6553401, 9, 0), AT(7001599, 9, 0),
	       AT(7001600, 15, 10)),
	SCRIPT("a head 2^16 cells ahead is the past", 10, AT(7000000, 10, 10),
	       AT(7000000 - 6553501, 15, 10), AT(7000000 - 6553502, 9, 0)),
	SCRIPT("cost over 1: what does not fit leaves its room to less", 10, AT_COST(0, 5, 3, 3),
	       AT_COST(0, 1, 0, 2), AT_COST(0, 5, 1, 1), AT_COST(1599, 1, 0, 1),
	       AT_COST(1600, 1, 1, 10), AT_COST(1600, 1, 0, 1)),
	SCRIPT("cost over L never passes and charges nothing", 10, AT_COST(0, 9, 0, 11),
	       AT_COST(0, 9, 0, UINT32_MAX), AT_COST(100, 9, 0, 11), AT(100, 15, 10),
	       AT_COST(1700, 9, 0, 11), AT_COST(1700, 9, 0, UINT32_MAX), AT(1700, 15, 10)),
	SCRIPT_CELLS("two cells", 3, 2, AT(50, 9, 3), AT(199, 9, 0), AT(200, 2, 2), AT(300, 9, 1),
		     AT(400, 9, 2)),
	SCRIPT_CELLS("five cells", 3, 5, AT(50, 2, 2), AT(150, 9, 1), AT(499, 9, 0), AT(500, 9, 2),
		     AT(600, 9, 1)),
	UNIT_ROW("one in every cell: a cell that leaves makes room for one", one_in_every_cell),
	UNIT_ROW("over the limit, a packet only reads", over_only_reads),
	UNIT_ROW("a policy without a cell length: one cell, no division", a_policy_without_cell),

	UNIT_ROW("minute edge, sliding", minute_edge_sliding),
	PACE("even sender", TICK_HZ100, RF_KTIME, 1499, false),
	PACE("even sender, jiffies", TICK_HZ250, RF_JIFFIES, 1470, false),
	PACE("even sender over L*W/(N*cell) loses", TICK_HZ100, RF_KTIME, 1501, true),
	PACE("even sender over L*W/(N*cell) loses, jiffies", TICK_HZ250, RF_JIFFIES, 1471, true),
	UNIT_ROW("strong form: bursts at every place in a cell, both ends of W", strong_form_edges),

	UNIT_ROW("limit lowered under a full window: nothing forgotten, then recovers",
		 lowered_limit_forgets_nothing),
	UNIT_ROW("limit lowered and raised: the old admissions count", lowered_and_raised_again),
	UNIT_ROW("a clip below what the window holds: nothing underflows", clip_below_the_window),
	UNIT_ROW("limit raised: the rest at once, no more", raised_limit),
	UNIT_ROW("L = 2^31: used never wraps", largest_limit),
	UNIT_ROW("a sum over 2^32 saturates", sum_saturates),
	UNIT_ROW("a lost race's inflation goes when its cell closes", inflation_is_clipped),
	UNIT_ROW("closing a cell keeps the larger and the newer", raise_keeps_the_larger),
	UNIT_ROW("all races for the head lost: contended, nothing charged", head_races_lost),
	UNIT_ROW("all races for a cell lost: contended, nothing charged", cell_races_lost),
	UNIT_ROW("two CPUs, one last permit: one passes", last_permit),
	RACE("takes in the same cell", 103, .visit = {103}),
	RACE("takes three in the same cell", 103, .visit = {103, 103, 103}),
	RACE("takes in the old cell while it is closed", 104, .visit = {103}),
	RACE("takes two in the old cell while it is closed", 104, .visit = {103, 103}),
	RACE("closes the same cell", 104, .visit = {104}),
	RACE("takes in the old cell and closes it", 104, .visit = {103, 104}),
	RACE("closes two cells", 104, .visit = {104, 105}),
	RACE("takes, closes and is ahead", 104, .visit = {103, 104, 105}),
	RACE("is ahead", 104, .visit = {105}),
	RACE("is behind, and closes to an older cell", 105, .visit = {104}),
	RACE("is far behind, and closes to an older cell", 118, .visit = {104, 104}),
	RACE("takes, and closes to an older cell", 118, .visit = {103, 105}),
	RACE("goes round the ring", 104, .visit = {103, 104, 119, 120}),
	RACE("is a window ahead", 104, .visit = {103, 125}),
	RACE("closes the same cell with an older sum", 104, .closed_epoch = 103, .closed_used = 1),
	RACE("closes a cell of the lap before", 104, .closed_epoch = 87, .closed_used = 1),
	RACE("closes while this one is stalled", 103, .visit = {104, 105, 119}),

	UNIT_ROW("idle for up to 2^32 cells and more: neither let through nor shut out",
		 idle_for_long),
	UNIT_ROW("a newcomer before the epochs wrap: exactly L", newcomer_before_the_wrap),
	UNIT_ROW("idle for 2^32 - 2^16 cells: an old ring hides nothing new",
		 idle_just_outside_the_present),
	UNIT_ROW("a cell of 2^32 - 2^16 cells ago hides nothing new", old_cell_hides_no_new_one),

	TRAFFIC("oracle: 1/1s, HZ 250", agrees_with_oracle, 1, SECOND, TICK_HZ250, 3, 1),
	TRAFFIC("oracle: 5/10s, HZ 1000", agrees_with_oracle, 5, 10 * SECOND, TICK_HZ1000, 8, 3),
	TRAFFIC("oracle: 10/1s, HZ 100", agrees_with_oracle, 10, SECOND, TICK_HZ100, 3, 3),
	TRAFFIC("oracle: 64/1ms, across the wrap", agrees_with_oracle, 64, MS, TICK_HZ300, 4, 3,
		.start_cells = EPOCHS - 10000),
	TRAFFIC("oracle: 300/1s, across the wrap", agrees_with_oracle, 300, SECOND, TICK_HZ250, 2,
		3, .start_cells = EPOCHS - 1000),
	TRAFFIC("oracle: the limit changes, 40/1s", agrees_with_oracle, 40, SECOND, TICK_HZ1000, 3,
		3, .limit_changes = true, .start_cells = EPOCHS - 10000),
	TRAFFIC("oracle: 7 cells, 20/1s", agrees_with_oracle, 20, SECOND, TICK_HZ250, 3, 3,
		.cells = 7),
	TRAFFIC("oracle: 2 cells, 20/1s", agrees_with_oracle, 20, SECOND, TICK_HZ250, 3, 3,
		.cells = 2),

	TRAFFIC("readers: 1/1s", readers_agree, 1, SECOND, TICK_HZ250, 3, 1),
	TRAFFIC("readers: 2/1s, cost over L among them", readers_agree, 2, SECOND, TICK_HZ100, 3,
		3),
	TRAFFIC("readers: 64/1ms, across the wrap", readers_agree, 64, MS, TICK_HZ300, 4, 3,
		.start_cells = EPOCHS - 1000),
	TRAFFIC("readers: the limit changes, 40/1s", readers_agree, 40, SECOND, TICK_HZ1000, 3, 3,
		.limit_changes = true),
	TRAFFIC("readers: 5 cells, 20/1s", readers_agree, 20, SECOND, TICK_HZ250, 3, 3, .cells = 5),
	UNIT_ROW("readers of a burst: used, cells, and when it passes again", readers_of_a_burst),
	UNIT_ROW("a reader with an old clock: what passes, passes now", reader_with_an_old_clock),

	TRAFFIC("strong form: 5/1s, HZ 100", interval_holds, 5, SECOND, TICK_HZ100, 3, 1),
	TRAFFIC("strong form: 5/1s, HZ 250", interval_holds, 5, SECOND, TICK_HZ250, 3, 1),
	TRAFFIC("strong form: 5/1s, HZ 300", interval_holds, 5, SECOND, TICK_HZ300, 3, 1),
	TRAFFIC("strong form: 5/1s, HZ 1000", interval_holds, 5, SECOND, TICK_HZ1000, 3, 1),
	TRAFFIC("strong form: 50/10s, HZ 100", interval_holds, 50, 10 * SECOND, TICK_HZ100, 3, 3),
	TRAFFIC("strong form: 50/10s, HZ 250", interval_holds, 50, 10 * SECOND, TICK_HZ250, 3, 3),
	TRAFFIC("strong form: 50/10s, HZ 300", interval_holds, 50, 10 * SECOND, TICK_HZ300, 3, 3),
	TRAFFIC("strong form: 50/7ms, HZ 1000", interval_holds, 50, 7 * MS, TICK_HZ1000, 3, 3),

	UNIT_ROW("hostile windows: no crash, no pass over L", hostile_windows),
};

int main(void)
{
	return cmocka_run_group_tests_name("limiter", tests, NULL, NULL);
}
