// SPDX-License-Identifier: GPL-2.0
/*
 * A peek while another CPU takes: a whole take runs between two steps of the peek, at each step in
 * turn. If the window has room both before and after the take, the peek finds room, too.
 */
#include <linux/types.h>

static void between_steps(void);
#define RF_ATOMIC_YIELD() between_steps()

#include "ringfence/limiter.h"
#include "tests/peek.h"
#include "unit.h"

#define LIMIT_OF 100
#define USED 60 /* more than half: counting it twice exceeds the limit */
#define CELL 10
#define START 1000
#define STEPS_MAX 100

static struct rf_window window;
static struct rf_policy policy;
static int is_armed, step, interrupted;

static void between_steps(void)
{
	if (!is_armed || step++ != interrupted)
		return;
	is_armed = 0;
	assert_int_equal(rf_take(&window, &policy, START + CELL, 1), RF_UNDER);
}

static void a_cell_that_is_closed_meanwhile_counts_once(void **state)
{
	policy = *(const struct rf_policy *)*state;
	for (interrupted = 0; interrupted < STEPS_MAX; interrupted++) {
		is_armed = 0;
		rf_window_open(&window, START / CELL);
		for (int i = 0; i < USED; i++)
			assert_int_equal(rf_take(&window, &policy, START + 5, 1), RF_UNDER);
		step = 0;
		is_armed = 1;
		assert_true(rf_peek(&window, &policy, START + CELL, 1));
		is_armed = 0;
	}
}

static const struct rf_policy strict = {
	.id = 1, .limit = LIMIT_OF, .clip = LIMIT_OF, .cell = CELL, .cells = RF_CELLS};
static const struct rf_policy weighted = {.id = 1,
					  .limit = LIMIT_OF,
					  .clip = LIMIT_OF,
					  .cell = CELL,
					  .cells = RF_CELLS - 1,
					  .edge = RF_EDGE_WEIGHTED};

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"a_cell_that_is_closed_meanwhile_counts_once, strict",
		 a_cell_that_is_closed_meanwhile_counts_once, NULL, NULL, (void *)&strict},
		{"a_cell_that_is_closed_meanwhile_counts_once, weighted",
		 a_cell_that_is_closed_meanwhile_counts_once, NULL, NULL, (void *)&weighted},
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
