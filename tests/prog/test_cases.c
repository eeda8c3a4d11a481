// SPDX-License-Identifier: GPL-2.0
/* The known answers, through the loaded program with an injected clock. */
#include "program.h"

#include <linux/bpf.h>
#include <stdio.h>

#include "tests/cases.h"

static struct program program;

static int load(void **state)
{
	(void)state;
	program_open(&program);
	program_load(&program);
	return 0;
}

static int unload(void **state)
{
	(void)state;
	program_close(&program);
	return 0;
}

static void set_limit(void *context, const struct rf_limit *limit, uint32_t tick_ns)
{
	(void)context;
	program.config->tick_ns = tick_ns;
	program_set_limit(&program, limit);
}

static void set_time(void *context, uint64_t time_ns)
{
	(void)context;
	program_set_time(&program, time_ns);
}

/* Each row has a different source, and so a different window. */
struct source {
	struct frame4 four;
	struct frame6 six;
	bool is_six;
};

static int send_packet(void *context)
{
	const struct bpf_program *entry = program.object->progs.ringfence;
	const struct source *source = context;
	int verdict;

	if (source->is_six)
		verdict = program_try(entry, &source->six, sizeof(source->six));
	else
		verdict = program_try(entry, &source->four, sizeof(source->four));
	return verdict < 0 ? verdict : verdict == XDP_PASS;
}

static struct source next_source(bool is_six)
{
	static uint32_t number;
	struct source source = {.four = frame4_from(htonl(0xc0000200 + ++number)),
				.six = frame6_from("2001:db8:1:2:3:4:5:6"),
				.is_six = is_six};

	source.six.ip.saddr.s6_addr32[1] = htonl(number);
	return source;
}

static void run_case(const struct rf_case *row, bool is_six)
{
	struct source source = next_source(is_six);
	struct rf_tested tested = {&source, set_limit, set_time, send_packet};

	rf_case_run(row, TICK_NS, &tested);
}

static void known_answer(void **state)
{
	run_case(*state, false);
}

static void known_answer6(void **state)
{
	run_case(*state, true);
}

static void known_answer_to_a_crowd(void **state)
{
	struct source source = next_source(false);
	struct rf_tested tested = {&source, set_limit, set_time, send_packet};

	rf_crowd_run(*state, TICK_NS, &tested);
}

/* Runs the cases again with sources of the other family. */
static void add_tests6(struct CMUnitTest tests[RF_CASE_COUNT])
{
	static char names[RF_CASE_COUNT][96];

	for (size_t i = 0; i < RF_CASE_COUNT; i++) {
		snprintf(names[i], sizeof(names[i]), "%s, from IPv6", rf_cases[i].name);
		tests[i] = (struct CMUnitTest)UNIT_ROW_OF(names[i], known_answer6, &rf_cases[i]);
	}
}

int main(void)
{
	static struct CMUnitTest tests[RF_CASE_TESTS + RF_CASE_COUNT];

	rf_case_tests(tests, known_answer, known_answer_to_a_crowd);
	add_tests6(tests + RF_CASE_TESTS);
	return cmocka_run_group_tests_name("known answers, loaded", tests, load, unload);
}
