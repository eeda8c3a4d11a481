// SPDX-License-Identifier: GPL-2.0
/* The known answers, through the limiter itself, at the ticks of HZ 100, 250 and 1000. */
#include "limiter.h"

#include "tests/cases.h"

struct asked {
	struct rf_bank rules;
	uint32_t next_id;
	uint32_t tick_ns;
	struct rf_window window; /* shared by all callers, as is the clock */
	uint64_t time;
	bool opened;
};

static void set_limit(void *context, const struct rf_limit *limit, uint32_t tick_ns)
{
	struct asked *asked = context;
	uint32_t id = asked->rules.policy[0].id;

	rf_bank_put(&asked->rules, 0, limit, tick_ns, &asked->next_id);
	asked->tick_ns = tick_ns;
	if (asked->rules.policy[0].id != id)
		asked->opened = false;
}

static void set_time(void *context, uint64_t time_ns)
{
	struct asked *asked = context;
	const struct rf_policy *policy = &asked->rules.policy[0];
	uint64_t time = time_ns / policy_unit_ns(policy, asked->tick_ns);

	__atomic_store_n(&asked->time, time, __ATOMIC_RELAXED);
	if (asked->opened)
		return;
	rf_window_start(&asked->window, policy, time);
	asked->opened = true;
}

static int send_packet(void *context)
{
	struct asked *asked = context;
	uint64_t time = __atomic_load_n(&asked->time, __ATOMIC_RELAXED);

	return rf_take(&asked->window, &asked->rules.policy[0], time, 1) == RF_UNDER;
}

static const uint32_t ticks_ns[] = {HZ100, HZ250, HZ1000};

static void known_answer(void **state)
{
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(ticks_ns); i++) {
		struct asked asked = {.next_id = 1};
		struct rf_tested tested = {&asked, set_limit, set_time, send_packet};

		rf_case_run(*state, ticks_ns[i], &tested);
	}
}

static void known_answer_to_a_crowd(void **state)
{
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(ticks_ns); i++) {
		struct asked asked = {.next_id = 1};
		struct rf_tested tested = {&asked, set_limit, set_time, send_packet};

		rf_crowd_run(*state, ticks_ns[i], &tested);
	}
}

int main(void)
{
	static struct CMUnitTest tests[RF_CASE_TESTS];

	rf_case_tests(tests, known_answer, known_answer_to_a_crowd);
	return cmocka_run_group_tests_name("known answers", tests, NULL, NULL);
}
