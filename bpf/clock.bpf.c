// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the clocks of the data path for the command line, which cannot read jiffies in any other
 * way. Run once by BPF_PROG_RUN, never attached.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "ringfence/abi.h"

char gpl[] SEC("license") = "GPL";

SEC("syscall")
int read_clocks(struct rf_clock_reading *reading)
{
	reading->jiffies = bpf_jiffies64();
	reading->ktime_ns = bpf_ktime_get_ns();
	return 0;
}
