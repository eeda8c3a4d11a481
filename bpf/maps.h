/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The maps of a fence. None is pinned by name: a fence that `ip` attached is found through its
 * program, and pins by name would be shared by every interface that loads the object.
 */
#ifndef RINGFENCE_MAPS_H
#define RINGFENCE_MAPS_H

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "ringfence/abi.h"

/*
 * The windows of IPv4 and IPv6 sources. Writer: the program; it inserts with BPF_NOEXIST and then
 * only changes words in place by atomics. Reader: the command line. When full: the least recently
 * used window goes, and its source is a newcomer when it comes back.
 *
 * What remains: the kernel may give an evicted window's memory to another source while a CPU still
 * holds its pointer. Then that one packet is charged to, or counted for, the other source: each
 * such packet takes its cost from it, and credits of at most 1/16 of its room, and its own source
 * is a newcomer anyway.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, RF_SOURCES_DEFAULT);
	__type(key, struct rf_key4);
	__type(value, struct rf_source);
} windows4 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, RF_SOURCES_DEFAULT);
	__type(key, struct rf_key6);
	__type(value, struct rf_source);
} windows6 SEC(".maps");

/*
 * What each CPU may answer without a window, in front of the windows, which stay the truth. Writer:
 * the program, each CPU its own part. Reader: the command line, through shared memory, for what is
 * pending there. Never full: a source whose places others use goes without. An array and not a
 * per-CPU one, which costs a second cache line a look-up, and whose values straddle lines.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, RF_LEASES_DEFAULT / RF_LEASE_WAYS);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct rf_lease_set);
} leases SEC(".maps");

/*
 * Writer: the command line, through shared memory, since an update by system call could tear; the
 * program writes `inserts`. Reader: the program. The only global, so a map of one entry by the name
 * of its section: a look-up, even one that is inlined, would wait for its key on the stack.
 */
struct rf_config config;

/* Writer: the program, each CPU its own copy. Reader: the command line. Never full: one entry. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct rf_counters);
} counters SEC(".maps");

/*
 * Indexed by the limit's slot. Writer: the program, each CPU its own copy; the command line clears
 * a slot before it gives it to another limit. Reader: the command line. Never full: an entry a
 * slot.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, RF_LIMITS_MAX);
	__type(key, __u32);
	__type(value, struct rf_limit_counters);
} limit_counters SEC(".maps");

#endif /* RINGFENCE_MAPS_H */
