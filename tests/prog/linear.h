/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Frames in several buffers, of which a program can directly read only the first, the linear part.
 */
#ifndef RINGFENCE_TESTS_LINEAR_H
#define RINGFENCE_TESTS_LINEAR_H

#include <linux/bpf.h>
#include <stdio.h>
#include <sys/utsname.h>

#include "program.h"

/* Does this kernel run a program with a short linear part? From 6.18 on it has to. */
static inline bool kernel_takes_linear(const struct program *program)
{
	static const unsigned char bytes[64];
	struct xdp_md ctx = {.data_end = 0};
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = bytes, .data_size_in = sizeof(bytes),
		    .ctx_in = &ctx, .ctx_size_in = sizeof(ctx), .repeat = 1);
	const int fd = bpf_program__fd(program->object->progs.ringfence_frags);
	int major = 0, minor = 0;
	struct utsname kernel;

	if (!bpf_prog_test_run_opts(fd, &run))
		return true;
	assert_int_equal(uname(&kernel), 0);
	assert_int_equal(sscanf(kernel.release, "%d.%d", &major, &minor), 2);
	assert_true(major < 6 || (major == 6 && minor < 18));
	printf("# Linux %s runs no program with a short linear part\n", kernel.release);
	return false;
}

#endif /* RINGFENCE_TESTS_LINEAR_H */
