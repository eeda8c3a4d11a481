// SPDX-License-Identifier: GPL-2.0
/*
 * Loans: the units that a window counts as lent and can lend, by its word, also across the wrap of
 * its periods; the state after a lost race; the frames of a lease.
 */
static void yield(void);
#define RF_ATOMIC_YIELD() yield()
#include "lease.h"

#define FRAME 4	 /* log2 of jiffies */
#define PERIOD 6 /* four frames */
#define FRAME_LEN (1LL << FRAME)
#define PERIOD_LEN (1LL << PERIOD)
#define RATE 1600 /* L; lends 100 in a period */

static struct rf_policy lending(uint32_t limit)
{
	return (struct rf_policy){
		.id = 1,
		.flags = RF_LENDS,
		.algorithm = RF_FIXED,
		.limit = limit,
		.clip = limit,
		.cell = FRAME_LEN,
		.cells = 1,
		.clock = RF_JIFFIES,
		.loan_frame = FRAME,
		.loan_period = PERIOD,
	};
}

/* ---- another CPU, before one operation ---- */

static void (*yield_hook)(void);
static int yield_countdown;

static void yield(void)
{
	void (*hook)(void) = yield_hook;

	if (!hook || yield_countdown--)
		return;
	yield_hook = NULL; /* the operations of the hook are not interrupted */
	hook();
}

/* ---- the word of a window ---- */

/* Periods of words: the word holds them modulo 2^24. */
static const uint64_t periods[] = {
	0, 1, 7, RF_LOAN_PERIODS - 1, RF_LOAN_PERIODS, 3ULL * RF_LOAN_PERIODS + RF_LOAN_AHEAD + 5};

struct loans {
	int64_t period; /* since that of the row's word */
	uint32_t before, now;
};

struct word_row {
	int64_t at; /* jiffies since the start of the word's period */
	struct loans word;
	uint32_t used;	     /* in the head */
	uint32_t limit;	     /* 0: RATE */
	uint32_t lent, room; /* expected */
	struct loans raised; /* by 8 units */
};

static uint64_t word_of(uint64_t period, struct loans loans)
{
	return rf_loans(period + loans.period, loans.before, loans.now);
}

static void word_row(void **state)
{
	const struct word_row *row = *state;
	const struct rf_policy policy = lending(row->limit ? row->limit : RATE);
	int tried = 0;

	for (size_t i = 0; i < UNIT_ARRAY_SIZE(periods); i++) {
		const int64_t jiffies = (int64_t)periods[i] * PERIOD_LEN + row->at;
		const uint64_t word = word_of(periods[i], row->word);
		const struct rf_window window = {.head = rf_word(1, row->used), .loans = word};

		if (jiffies < 0)
			continue;
		tried++;
		assert_int_equal(rf_lent_by(word, &policy, jiffies), row->lent);
		assert_int_equal(rf_lent(&window, &policy, jiffies), row->lent);
		assert_int_equal(rf_loan_room_of(&window, &policy, jiffies), row->room);
		assert_int_equal(rf_loans_raised(word, &policy, jiffies, 8),
				 word_of(periods[i], row->raised));
	}
	assert_true(tried > 0);
}

#define STALL ((int64_t)RF_STALL_TICKS >> 10) /* in periods, of 2^10 ticks at least */
#define AHEAD (STALL * PERIOD_LEN)
#define LAP ((int64_t)RF_LOAN_PERIODS * PERIOD_LEN)

#define WORD(title, ...) UNIT_ROW_OF("word, " title, word_row, (&(struct word_row){__VA_ARGS__}))

/* ---- a window that is created again ---- */

struct again_row {
	uint64_t evicted, jiffies; /* evicted 0: never */
	bool may_outlast;
};

static void again_row(void **state)
{
	const struct again_row *row = *state;
	const struct rf_policy policy = lending(RATE);

	assert_int_equal(rf_loans_may_outlast(&policy, row->evicted, row->jiffies),
			 row->may_outlast);
}

#define AGAIN(title, ...) \
	UNIT_ROW_OF("created again, " title, again_row, (&(struct again_row){__VA_ARGS__}))

static void a_window_that_is_created_again_has_lent_all(void **state)
{
	const struct rf_policy policy = lending(RATE);
	struct rf_policy exact = policy;

	(void)state;
	exact.flags = RF_EXACT;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(periods); i++) {
		const uint64_t start = periods[i] * PERIOD_LEN, next = start + PERIOD_LEN;
		const uint64_t word = rf_loans_all(&policy, next - 1);

		assert_int_equal(rf_lent_by(word, &policy, next + FRAME_LEN - 1), 100);
		assert_int_equal(rf_lent_by(word, &policy, next + FRAME_LEN), 0);
		assert_int_equal(rf_loan_room(&policy, word, 10, next - 1), 0);
		assert_int_not_equal(rf_loan_room(&policy, word, 10, next), 0);
		assert_int_equal(rf_loans_all(&exact, start), 0);
	}
}

/* ---- races: another CPU comes before one operation ---- */

#define RACE_PERIOD 5
#define RACE_TIME (RACE_PERIOD * PERIOD_LEN)
#define RACE_CELL (RACE_TIME / FRAME_LEN)
#define USED 100
#define NO_LOANS                   \
	{                          \
		-RACE_PERIOD, 0, 0 \
	}

static struct rf_window raced;
static struct rf_policy raced_policy;

static void no_other(void)
{
}

static void admit(uint32_t cost, enum rf_verdict verdict)
{
	assert_int_equal(rf_take(&raced, &raced_policy, RACE_TIME, cost), verdict);
}

static void fill(void)
{
	admit(RATE - USED, RF_UNDER);
}

/* All but the 8 units of the grant, which is counted. */
static void fill_the_rest(void)
{
	admit(RATE - USED, RF_OVER);
	admit(RATE - USED - 8, RF_UNDER);
}

static void grant(void)
{
	assert_true(rf_lend(&raced, &raced_policy, RACE_TIME, 8));
}

static void grant_in_the_next_period(void)
{
	assert_true(rf_lend(&raced, &raced_policy, RACE_TIME + PERIOD_LEN, 8));
}

static void grant_without_room(void)
{
	assert_false(rf_lend(&raced, &raced_policy, RACE_TIME, 8));
}

struct race_row {
	void (*other)(void); /* CPU */
	int operation;	     /* before which it comes, from 0 */
	bool moves;	     /* the head is in the cell before */
	uint32_t cost;	     /* of the packet; 0: the CPU borrows 8 units */
	bool done;	     /* expected: it has the loan, or the packet passes */
	struct loans word;
	uint32_t head; /* its use */
};

static void race_row(void **state)
{
	const struct race_row *row = *state;
	bool done;

	raced_policy = lending(RATE);
	rf_window_open(&raced, RACE_CELL - row->moves);
	raced.head += USED;
	yield_countdown = row->operation;
	yield_hook = row->other;
	if (row->cost)
		done = rf_take(&raced, &raced_policy, RACE_TIME, row->cost) == RF_UNDER;
	else
		done = rf_lend(&raced, &raced_policy, RACE_TIME, 8);
	assert_null(yield_hook); /* it came */
	assert_int_equal(done, row->done);
	assert_int_equal(raced.loans, word_of(RACE_PERIOD, row->word));
	assert_int_equal(raced.head, rf_word(RACE_CELL, row->head));
}

#define RACE(title, ...) UNIT_ROW_OF(title, race_row, (&(struct race_row){__VA_ARGS__}))

/* ---- the lease of a CPU ---- */

struct frame_row {
	uint32_t room;
	uint8_t frame, period; /* log2 of jiffies */
	int64_t borrows;       /* jiffies since the start of the period */
	int64_t at;	       /* its next packet */
	uint32_t left;	       /* at that time, in a frame of `credits` */
	uint32_t credits;
	int64_t until; /* 0: the loan has expired */
};

static void frame_row(void **state)
{
	const struct frame_row *row = *state;
	const struct rf_loan_terms terms = {
		.room = row->room, .frame = row->frame, .period = row->period};

	for (size_t i = 0; i < UNIT_ARRAY_SIZE(periods); i++) {
		const uint64_t start = periods[i] << row->period;
		const uint64_t jiffies = start + row->at;
		struct rf_lease lease = {0};

		rf_lease_set_loan(&lease, terms, start + row->borrows, 1);
		assert_int_equal(lease.credits, row->credits);
		lease.credits = 1;
		assert_int_equal(rf_lease_next_frame(&lease, jiffies), row->left > 1);
		assert_int_equal(rf_lease_has_loan(&lease, jiffies), row->left > 0);
		if (row->left) {
			assert_int_equal(lease.credits, row->left);
			assert_int_equal(lease.until, start + row->until);
		}
	}
}

#define FRAMES(title, ...) \
	UNIT_ROW_OF("lease, " title, frame_row, (&(struct frame_row){__VA_ARGS__}))

struct wants_row {
	uint32_t had;  /* the room when it borrowed in period 1; 0: it has no loan */
	uint32_t left; /* of that loan in the frame */
	struct rf_loan_terms terms;
	int64_t at;
	uint32_t cost;
	uint32_t units; /* expected */
};

static void wants_row(void **state)
{
	const struct wants_row *row = *state;
	const struct rf_loan_terms had = {.room = row->had, .frame = FRAME, .period = PERIOD};
	struct rf_lease lease = {0};

	if (row->had)
		rf_lease_set_loan(&lease, had, PERIOD_LEN, 1);
	lease.credits = row->left;
	assert_int_equal(rf_lease_wants_loan(&lease, row->terms, row->at, row->cost), row->units);
}

#define TERMS(least_room, log_frame, log_period) \
	.terms = {.room = least_room, .frame = log_frame, .period = log_period}
#define WANTS(title, ...) \
	UNIT_ROW_OF("borrowed, " title, wants_row, (&(struct wants_row){__VA_ARGS__}))

static void the_size_of_a_loan_is_at_most_an_eighth_less_than_its_units(void **state)
{
	(void)state;
	for (uint32_t units = 1; units <= RF_LOAN_OF_LEASE_MAX; units++) {
		const uint32_t rounded = rf_loan_units(rf_loan_size(units));

		assert_in_range(rounded, units - units / 8, units);
		assert_int_equal(rf_loan_units(rf_loan_size(rounded)), rounded);
	}
}

static void a_loan_that_grows_passes_only_what_is_new_in_its_frame(void **state)
{
	struct rf_loan_terms terms = {.room = 100, .frame = FRAME, .period = PERIOD};
	struct rf_lease lease = {0};

	(void)state;
	rf_lease_set_loan(&lease, terms, PERIOD_LEN, 1);
	assert_int_equal(lease.credits, 48 / 2);
	lease.credits = 0;
	terms.room = 100 - 48;
	assert_int_equal(rf_lease_wants_loan(&lease, terms, PERIOD_LEN + 1, 1), 72 - 48);
	rf_lease_set_loan(&lease, terms, PERIOD_LEN + 1, 1);
	assert_int_equal(lease.credits, (72 - 48) / 2);
	assert_int_equal(lease.until, PERIOD_LEN + FRAME_LEN);
	assert_true(rf_lease_next_frame(&lease, PERIOD_LEN + FRAME_LEN));
	assert_int_equal(lease.credits, 72 / 2);
}

static void several_windows_lend_the_least_room_for_the_longest_frame(void **state)
{
	const struct rf_loan_terms one = {.room = 50, .frame = 3, .period = 7, .is_busy = 1};
	const struct rf_loan_terms other = {.room = 20, .frame = 5, .period = 6};
	const struct rf_loan_terms joined[] = {rf_loan_terms_join(one, other),
					       rf_loan_terms_join(other, one)};

	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(joined); i++) {
		assert_int_equal(joined[i].room, 20);
		assert_int_equal(joined[i].frame, 5);
		assert_int_equal(joined[i].period, 6);
		assert_false(joined[i].is_busy);
	}
}

/* ---- rows ---- */

static const struct CMUnitTest tests[] = {
	WORD("nothing is lent", .used = 100, .room = 100, .raised = {0, 0, 8}),
	WORD("the period before counts in the first frame", .word = {0, 5, 40}, .used = 100,
	     .lent = 45, .room = 60, .raised = {0, 5, 48}),
	WORD("its last jiffy", .word = {0, 5, 40}, .at = FRAME_LEN - 1, .used = 100, .lent = 45,
	     .room = 60, .raised = {0, 5, 48}),
	WORD("no longer in the second frame", .word = {0, 5, 40}, .at = FRAME_LEN, .used = 100,
	     .lent = 40, .room = 60, .raised = {0, 5, 48}),
	WORD("the last jiffy of the period", .word = {0, 5, 40}, .at = PERIOD_LEN - 1, .used = 100,
	     .lent = 40, .room = 60, .raised = {0, 5, 48}),
	WORD("the next period", .word = {0, 5, 40}, .at = PERIOD_LEN, .used = 100, .lent = 40,
	     .room = 100, .raised = {1, 40, 8}),
	WORD("the last jiffy of its first frame", .word = {0, 5, 40},
	     .at = PERIOD_LEN + FRAME_LEN - 1, .used = 100, .lent = 40, .room = 100,
	     .raised = {1, 40, 8}),
	WORD("its second frame", .word = {0, 5, 40}, .at = PERIOD_LEN + FRAME_LEN, .used = 100,
	     .lent = 0, .room = 100, .raised = {1, 40, 8}),
	WORD("two periods later", .word = {0, 5, 40}, .at = 2 * PERIOD_LEN, .used = 100, .lent = 0,
	     .room = 100, .raised = {2, 0, 8}),
	WORD("a lap later, it counts again", .word = {0, 5, 40}, .at = LAP, .used = 100, .lent = 45,
	     .room = 60, .raised = {0, 5, 48}),

	/* The word no longer has the loans of that CPU's period. The program never raises here. */
	WORD("read a jiffy before the period, all counts", .word = {0, 0, 1}, .at = -1, .used = 100,
	     .lent = 200, .room = 0, .raised = {-1, 0, 8}),
	WORD("read a stall before, all counts", .word = {0, 0, 1}, .at = -AHEAD, .used = 100,
	     .lent = 200, .room = 0, .raised = {-STALL, 0, 8}),
	/* By a late write. */
	WORD("ahead by more than a stall, nothing counts", .word = {0, 3, 4}, .at = -AHEAD - 1,
	     .used = 100, .lent = 0, .room = 100, .raised = {-STALL - 1, 0, 8}),

	WORD("a sixteenth of L in a period", .word = {0, 0, 100}, .used = 100, .lent = 100,
	     .room = 0, .raised = {0, 0, 108}),
	WORD("four times the use", .used = 3, .room = 12, .raised = {0, 0, 8}),
	WORD("four times the use, with loans", .word = {0, 0, 8}, .used = 3, .lent = 8, .room = 44,
	     .raised = {0, 0, 16}),
	WORD("an idle source", .used = 0, .room = 0, .raised = {0, 0, 8}),
	WORD("up to half of L", .used = 770, .room = 30, .raised = {0, 0, 8}),
	WORD("up to half of L, with loans", .word = {0, 7, 20}, .used = 770, .lent = 27, .room = 3,
	     .raised = {0, 7, 28}),
	WORD("half of L is used", .used = 800, .room = 0, .raised = {0, 0, 8}),
	WORD("up to the field's maximum", .used = 1U << 30, .limit = RF_LIMIT_MAX, .lent = 0,
	     .room = RF_LOAN_MAX < (RF_LIMIT_MAX / 2 - (1U << 30)) ? RF_LOAN_MAX : 0,
	     .raised = {0, 0, 8}),
	WORD("a lowered L, an eighth counts", .word = {0, 50, 100}, .used = 10, .limit = 160,
	     .lent = 20, .room = 0, .raised = {0, 50, 108}),
	WORD("a lowered L, the next period", .word = {0, 50, 100}, .at = PERIOD_LEN + FRAME_LEN,
	     .used = 10, .limit = 160, .lent = 0, .room = 10, .raised = {1, 100, 8}),
	WORD("too small an L", .used = 3, .limit = 15, .room = 0, .raised = {0, 0, 8}),

	AGAIN("none was evicted", 0, PERIOD_LEN, false),
	AGAIN("at that time", PERIOD_LEN + 1, PERIOD_LEN + 1, true),
	AGAIN("read before the eviction", 2 * PERIOD_LEN, 2 * PERIOD_LEN - 1, true),
	AGAIN("a period later", PERIOD_LEN, 3 * PERIOD_LEN - 1, true),
	AGAIN("two periods later", 2 * PERIOD_LEN - 1, 3 * PERIOD_LEN, false),
	cmocka_unit_test(a_window_that_is_created_again_has_lent_all),

	RACE("grant, undisturbed", no_other, .done = true, .word = {0, 0, 8}, .head = USED),
	RACE("grant, another one comes before the raise", grant, 2, .done = false,
	     .word = {0, 0, 8}, .head = USED),
	RACE("grant, one of a later period comes before the raise", grant_in_the_next_period, 2,
	     .done = false, .word = {1, 0, 8}, .head = USED),
	RACE("grant, another one comes before the head is read again", grant, 3, .done = true,
	     .word = {0, 0, 16}, .head = USED),
	RACE("grant, packets fill the window before the raise: no loan, the units stay", fill, 2,
	     .done = false, .word = {0, 0, 8}, .head = RATE),
	RACE("grant, packets fill the window after the raise: they leave 8 units", fill_the_rest, 3,
	     .done = true, .word = {0, 0, 8}, .head = RATE - 8),

	RACE("admission, undisturbed", no_other, .cost = RATE - USED, .done = true,
	     .word = NO_LOANS, .head = RATE),
	RACE("admission, a grant comes before the loans are read: no charge", grant, 1,
	     .cost = RATE - USED, .done = false, .word = {0, 0, 8}, .head = USED),
	RACE("admission, a grant comes before the addition: refused, the cost stays", grant, 2,
	     .cost = RATE - USED, .done = false, .word = {0, 0, 8}, .head = RATE),
	RACE("admission, a grant comes after the addition: no loan", grant_without_room, 3,
	     .cost = RATE - USED, .done = true, .word = NO_LOANS, .head = RATE),
	RACE("new cell, a grant comes before the loans are read: no charge", grant, 3,
	     .moves = true, .cost = RATE, .done = false, .word = {0, 0, 8}, .head = 0),
	RACE("new cell, a grant comes before the head moves: refused, the cost stays", grant, 4,
	     .moves = true, .cost = RATE, .done = false, .word = {0, 0, 8}, .head = RATE),
	RACE("new cell, a grant comes after the head has moved: no loan", grant_without_room, 5,
	     .moves = true, .cost = RATE, .done = true, .word = NO_LOANS, .head = RATE),

	FRAMES("half of the loan in the first frame", 100, FRAME, PERIOD, .borrows = 5,
	       .at = FRAME_LEN - 1, .credits = 24, .left = 1, .until = FRAME_LEN),
	FRAMES("half of it in the next frame", 100, FRAME, PERIOD, .borrows = 5, .at = FRAME_LEN,
	       .credits = 24, .left = 24, .until = 2 * FRAME_LEN),
	FRAMES("a frame without packets", 100, FRAME, PERIOD, .borrows = 5, .at = 2 * FRAME_LEN + 3,
	       .credits = 24, .left = 24, .until = 3 * FRAME_LEN),
	FRAMES("the last jiffy of the period", 100, FRAME, PERIOD, .borrows = 5,
	       .at = PERIOD_LEN - 1, .credits = 24, .left = 24, .until = PERIOD_LEN),
	FRAMES("the period has ended", 100, FRAME, PERIOD, .borrows = 5, .at = PERIOD_LEN,
	       .credits = 24),
	FRAMES("borrowed in the last frame", 100, FRAME, PERIOD, .borrows = PERIOD_LEN - 1,
	       .at = PERIOD_LEN, .credits = 24),
	FRAMES("a clock that goes back", 100, FRAME, PERIOD, .borrows = FRAME_LEN + 1, .at = 0,
	       .credits = 24, .left = 1, .until = 2 * FRAME_LEN),
	FRAMES("a period of one frame", 100, PERIOD, PERIOD, .borrows = 5, .at = PERIOD_LEN - 1,
	       .credits = 48, .left = 1, .until = PERIOD_LEN),
	FRAMES("a period of one frame has ended", 100, PERIOD, PERIOD, .borrows = 5,
	       .at = PERIOD_LEN, .credits = 48),
	FRAMES("a loan of one unit in a period of one frame", 1, PERIOD, PERIOD, .at = 1,
	       .credits = 1, .left = 1, .until = PERIOD_LEN),
	FRAMES("the largest loan", RF_LOAN_MAX, PERIOD, PERIOD, .at = 1, .credits = 15 << 12,
	       .left = 1, .until = PERIOD_LEN),

	WANTS("half of the room, rounded to eighths of a power of two", 0, 0,
	      TERMS(100, FRAME, PERIOD), PERIOD_LEN, 1, .units = 48),
	WANTS("no room", 0, 0, TERMS(0, FRAME, PERIOD), PERIOD_LEN, 1, .units = 0),
	WANTS("all of the room, as half is too little for a packet", 0, 0, TERMS(8, FRAME, PERIOD),
	      PERIOD_LEN, 4, .units = 8),
	WANTS("a packet that costs more than a frame", 0, 0, TERMS(8, FRAME, PERIOD), PERIOD_LEN, 5,
	      .units = 0),
	WANTS("a unit in a period of two frames", 0, 0, TERMS(1, FRAME, PERIOD), PERIOD_LEN, 1,
	      .units = 0),
	WANTS("a frame longer than the period", 0, 0, TERMS(100, PERIOD, FRAME), PERIOD_LEN, 1,
	      .units = 0),
	WANTS("a loan grows by half of the room", 16, 0, TERMS(31, FRAME, PERIOD), PERIOD_LEN, 1,
	      .units = 16),
	WANTS("a loan is left for a packet", 16, 2, TERMS(31, FRAME, PERIOD), PERIOD_LEN, 2,
	      .units = 0),
	WANTS("a loan is left, but not for that packet", 16, 2, TERMS(31, FRAME, PERIOD),
	      PERIOD_LEN, 3, .units = 16),
	WANTS("the room is too little to grow", 16, 0, TERMS(1, FRAME, PERIOD), PERIOD_LEN, 1,
	      .units = 0),
	WANTS("a loan for longer frames replaces it", 16, 2, TERMS(32, FRAME + 1, PERIOD),
	      PERIOD_LEN, 1, .units = 16),
	WANTS("a loan for a shorter period replaces it", 16, 2, TERMS(32, FRAME, PERIOD - 1),
	      PERIOD_LEN, 1, .units = 16),
	WANTS("a smaller one after the period", 16, 2, TERMS(4, FRAME, PERIOD), 2 * PERIOD_LEN, 1,
	      .units = 2),
	cmocka_unit_test(the_size_of_a_loan_is_at_most_an_eighth_less_than_its_units),
	cmocka_unit_test(a_loan_that_grows_passes_only_what_is_new_in_its_frame),
	cmocka_unit_test(several_windows_lend_the_least_room_for_the_longest_frame),
};

int main(void)
{
	return cmocka_run_group_tests_name("loans", tests, NULL, NULL);
}
