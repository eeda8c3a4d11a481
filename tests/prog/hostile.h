/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A fence whose maps belong to a different user, for the tests of maps that this user has changed:
 * the command line opens the program of `program_id` for every interface.
 */
#ifndef RINGFENCE_TESTS_HOSTILE_H
#define RINGFENCE_TESTS_HOSTILE_H

#include "kernel/log.h"
#include "program.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

static struct program program;
static uint32_t program_id;

static const char rules[] = "limit add any rate 100/1h ban 5m\n"
			    "limit add dns rate 5k/1m match udp dport 53,1000-2000 shadow\n"
			    "limit add net rate 10mbit algorithm token per /24 from 10.0.0.0/8\n"
			    "limit add half rate 7/1s edge weighted match icmp per6 /56\n"
			    "allow add 203.0.113.0/24\n"
			    "deny add 2001:db8::/32\n"
			    "newcomers rate 100/1s then aggregate\n";

/* The fence is on no interface. */
int __wrap_rf_fence_open(struct rf_fence *fence, const char *dev, struct rf_error *error);

int __wrap_rf_fence_open(struct rf_fence *fence, const char *dev, struct rf_error *error)
{
	struct rf_program loaded = RF_PROGRAM_NONE;
	int err = rf_program_open(&loaded, program_id, error);

	(void)dev;
	if (!err)
		err = rf_program_check_abi(&loaded, "none", error);
	if (!err)
		err = rf_fence_from_program(fence, &loaded, error);
	rf_program_close(&loaded);
	return err;
}

static inline uint32_t id_of(int program_fd)
{
	struct bpf_prog_info info = {};
	__u32 length = sizeof(info);

	assert_int_equal(bpf_obj_get_info_by_fd(program_fd, &info, &length), 0);
	return info.id;
}

static inline int hostile_setup(void **state)
{
	const struct frame4 frame = frame4_from(inet_addr("192.0.2.1"));

	(void)state;
	program_open(&program);
	program.object->rodata->rf_rodata.injected_clock = 0;
	program_load(&program);
	program_apply(&program, rules);
	for (int i = 0; i < 200; i++)
		program_run(program.object->progs.ringfence, &frame, sizeof(frame));
	program_id = id_of(bpf_program__fd(program.object->progs.ringfence));
	return 0;
}

static inline int hostile_teardown(void **state)
{
	(void)state;
	program_close(&program);
	return 0;
}

#endif /* RINGFENCE_TESTS_HOSTILE_H */
