// SPDX-License-Identifier: GPL-2.0
/*
 * The limiter while other CPUs use the same window: a hook before each atomic operation plays the
 * other CPUs. Only one packet is disturbed, and the disturbing operations run undisturbed, so this
 * is not every interleaving.
 */
static void yield(void);
#define RF_ATOMIC_YIELD() yield()
#include "limiter.h"

static void (*yield_hook)(void *context);
static void *yield_context;

static void yield(void)
{
	void (*hook)(void *context) = yield_hook;

	if (!hook)
		return;
	yield_hook = NULL; /* the hook's own operations are not interrupted */
	hook(yield_context);
	yield_hook = hook;
}

static enum rf_verdict take_disturbed(struct rf_window *window, const struct rf_policy *policy,
				      uint32_t now, void (*hook)(void *), void *context)
{
	enum rf_verdict verdict;

	yield_context = context;
	yield_hook = hook;
	verdict = rf_take(window, policy, now * policy->cell, 1);
	yield_hook = NULL;
	return verdict;
}

/* ---- a word that another CPU changes before every operation ---- */

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
	struct bumps bumps = {&window.cell[20 / 2 % RF_CELLS], 0};

	(void)state;
	rf_window_open(&window, 20);
	assert_int_equal(offer(&window, &policy, 20 * CELL, 4, 1), 4);
	*bumps.word = rf_word(4, 0);
	assert_int_equal(take_disturbed(&window, &policy, 21, bump, &bumps), RF_LOST_RACES);
	assert_int_equal(window.head, rf_word(20, 4));
	assert_int_equal(*bumps.word, rf_word(4, bumps.count));
	assert_int_equal(offer(&window, &policy, 21 * CELL, 10, 1), 6);
}

/* ---- packets of another CPU before one operation ---- */

#define VISITS_MAX 4
#define LEDGER_START 80 /* epochs of the races lie in LEDGER_START + [0, LEDGER_SIZE) */
#define LEDGER_SIZE 160

/* The charges by epoch: the later of the caller's epoch and the head's. */
struct ledger {
	struct rf_window window;
	struct rf_policy policy;
	uint32_t admitted[LEDGER_SIZE];
};

/* Another CPU's packets, which all come between two operations of this CPU. */
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
	uint64_t head; /* before its packets */
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
		charge(ledger, now,
		       rf_take(&ledger->window, &ledger->policy, now * ledger->policy.cell, 1));
}

static void intrude(void *context)
{
	struct intruder *intruder = context;

	if (intruder->countdown-- != 0)
		return;
	intruder->head = intruder->ledger->window.head;
	for (int i = 0; i < VISITS_MAX && intruder->race->visit[i]; i++)
		charge_packets(intruder->ledger, intruder->race->visit[i], 1);
	if (intruder->race->closed_epoch)
		rf_cell_raise(&intruder->ledger->window, intruder->race->closed_epoch,
			      intruder->race->closed_used);
}

/* Takes at `now` while the intruder comes between two operations. */
static void charge_disturbed(struct ledger *ledger, uint32_t now, struct intruder *intruder)
{
	const uint64_t head = ledger->window.head;
	const enum rf_verdict verdict =
		take_disturbed(&ledger->window, &ledger->policy, now, intrude, intruder);

	/* If this CPU had changed the head before the intruder came, it was charged there. */
	if (intruder->countdown < 0 && intruder->head != head && verdict == RF_UNDER)
		ledger->admitted[rf_word_epoch(intruder->head) - LEDGER_START]++;
	else
		charge(ledger, now, verdict);
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

/* One race, disturbed before operation number `point`; false if there is no such operation. */
static bool race_at(const struct race *race, int point)
{
	struct ledger ledger = {.policy = policy_of(6, CELL)};
	struct intruder intruder = {&ledger, race, point, 0};
	uint32_t late = 0;

	rf_window_open(&ledger.window, 100);
	charge_packets(&ledger, 100, 2);
	charge_packets(&ledger, 103, 2);
	charge_disturbed(&ledger, race->now, &intruder);

	/* If anything was forgotten, it shows when every cell is filled to the brim. */
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

#define RACE(title, epoch, ...)                                                   \
	UNIT_ROW_OF("a CPU stalls anywhere, and another " title, race_everywhere, \
		    (&(struct race){.now = epoch, __VA_ARGS__}))

static void last_permit(void **state)
{
	static const struct race race = {.now = 103, .visit = {103}};
	struct ledger ledger = {.policy = policy_of(6, CELL)};
	struct intruder intruder = {&ledger, &race, 1, 0}; /* between the load and the addition */

	(void)state;
	rf_window_open(&ledger.window, 103);
	charge_packets(&ledger, 103, 5);
	assert_int_equal(take_disturbed(&ledger.window, &ledger.policy, 103, intrude, &intruder),
			 RF_OVER);
	assert_int_equal(ledger.admitted[103 - LEDGER_START], 6);
	assert_int_equal(ledger.window.head, rf_word(103, 7));
	assert_int_equal(rf_window_used(&ledger.window, &ledger.policy, 103), 6);
}

/*
 * This CPU closes epoch 103 and stalls; another CPU closes it as well, and then 104, whose slot
 * held epoch 88. A sum that is read across that change misses epoch 88.
 */
static bool stall_at(int point)
{
	static const struct race race = {.visit = {104, 105, 105, 105}};
	struct ledger ledger = {.policy = policy_of(8, CELL)};
	struct intruder intruder = {&ledger, &race, point, 0};

	rf_window_open(&ledger.window, 88);
	charge_packets(&ledger, 88, 4);
	charge_packets(&ledger, 103, 1);
	charge_disturbed(&ledger, 104, &intruder);
	for (uint32_t epoch = 106; epoch < LEDGER_START + LEDGER_SIZE; epoch++)
		charge_packets(&ledger, epoch, 9);
	if (ledger_peak(&ledger) > 8)
		fail_msg("point %d: %u admitted in one window", point, ledger_peak(&ledger));
	return intruder.countdown < 0;
}

static void stalls_in_the_sum(void **state)
{
	int points = 0;

	(void)state;
	while (stall_at(points))
		points++;
	assert_true(points > RF_CELLS);
}

static const struct CMUnitTest tests[] = {
	UNIT_ROW("a CPU that loses all races for the head is contended, and charges nothing",
		 head_races_lost),
	UNIT_ROW("a CPU that loses all races for a cell is contended, and charges nothing",
		 cell_races_lost),
	UNIT_ROW("of two CPUs one passes with the last permit", last_permit),
	UNIT_ROW("a CPU that stalls in its sum while two cells are closed forgets nothing",
		 stalls_in_the_sum),
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
	RACE("closes cells of the next lap", 103, .visit = {104, 105, 119}),
};

int main(void)
{
	return cmocka_run_group_tests_name("limiter, races", tests, NULL, NULL);
}
