// SPDX-License-Identifier: GPL-2.0
/* The known answers, through the loaded program with an injected clock. */
#include "program.h"

#include <linux/bpf.h>

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

static bool ask(void *context, uint64_t time_ns)
{
	const __be32 *source = context;
	const struct frame4 frame = frame4_from(*source);

	program_set_time(&program, time_ns);
	return program_run(program.object->progs.ringfence, &frame, sizeof(frame)) == XDP_PASS;
}

/* Each row is a source of its own, so that none finds another one's window. */
static void known_answer(void **state)
{
	const struct rf_case *row = *state;
	__be32 source = htonl(0xc0000200 + (row - rf_cases));

	program_set_limit(&program, &row->limit);
	rf_case_run(row, ask, &source);
}

int main(void)
{
	static struct CMUnitTest tests[RF_CASE_COUNT];

	rf_case_tests(tests, known_answer);
	return cmocka_run_group_tests_name("known answers, loaded", tests, load, unload);
}
