// SPDX-License-Identifier: GPL-2.0
/* The known answers, through the limiter itself, at the ticks of HZ 100, 250 and 1000. */
#include "limiter.h"

#include "tests/cases.h"

struct asked {
	struct rf_window window;
	struct rf_policy policy;
	uint64_t unit_ns;
	bool opened;
};

static bool ask(void *context, uint64_t time_ns)
{
	struct asked *asked = context;
	uint64_t time = time_ns / asked->unit_ns;

	if (!asked->opened)
		rf_window_open(&asked->window, rf_epoch(&asked->policy, time));
	asked->opened = true;
	return rf_take(&asked->window, &asked->policy, time, 1) == RF_UNDER;
}

static void known_answer(void **state)
{
	static const uint32_t ticks_ns[] = {HZ100, HZ250, HZ1000};
	const struct rf_case *row = *state;

	for (size_t i = 0; i < UNIT_ARRAY_SIZE(ticks_ns); i++) {
		struct asked asked = {.opened = false};

		rf_policy_compile(&row->limit, 1, ticks_ns[i], &asked.policy);
		asked.unit_ns = policy_unit_ns(&asked.policy, ticks_ns[i]);
		rf_case_run(row, ask, &asked);
	}
}

int main(void)
{
	static struct CMUnitTest tests[RF_CASE_COUNT];

	rf_case_tests(tests, known_answer);
	return cmocka_run_group_tests_name("known answers", tests, NULL, NULL);
}
