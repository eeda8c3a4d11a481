// SPDX-License-Identifier: GPL-2.0
/*
 * Nothing gets past a limit by the shape of its frame: packets whose class is hidden, or cannot be
 * told at all, through the loaded program.
 */
#include "program.h"

#include <linux/bpf.h>

#include "tests/frames.h"

#define SENT 200

/* How many of SENT such frames pass. */
static int pass(const struct program *program, const struct frame_part *part)
{
	struct frame frame;
	int passed = 0;

	frame_build(&frame, part);
	for (int i = 0; i < SENT; i++)
		passed += program_run(program->object->progs.ringfence, frame.bytes,
				      frame.length) == XDP_PASS;
	return passed;
}

#define PASS(program, ...) \
	pass(program, (const struct frame_part[]){__VA_ARGS__, {FRAME_END, 0, 0}})

static int open_program(void **state)
{
	program_setup(state);
	program_set_time(*state, 1000 * NS_PER_S);
	return 0;
}

/* ---- what the frame has behind the packet ---- */

/* A server puts these two together and answers. Of those that are padded the zeros are no flags. */
static void a_syn_in_two_fragments_is_a_syn(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add syn rate 3/1h match tcp syn\n");
	assert_int_equal(PASS(program, ETH, IP4_FRAGMENT(0x2000), TCP(443, SYN), SHORTEN(12)), 3);
	assert_int_equal(
		PASS(program, ETH, IP4_FRAGMENT(0x2000), TCP(443, SYN), SHORTEN(12), PAD(18)), 0);
	assert_int_equal(PASS(program, ETH, IP6, FRAGMENT(1), TCP(443, SYN), SHORTEN(12), PAD(64)),
			 3);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, open_program, program_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_syn_in_two_fragments_is_a_syn),
	};

	return cmocka_run_group_tests_name("classes", tests, NULL, NULL);
}
