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
 * only changes words in place by atomics. Reader: the command line. Never full: whoever inserts one
 * owns a slot, and has deleted the window that was in there. Preallocated: with BPF_F_NO_PREALLOC,
 * look-ups took 0.8 to 1.0 times as long, inserts into room 2.2 times and into a full map 1.2
 * times.
 *
 * What remains: the kernel may give a deleted window's memory to another source while a CPU still
 * holds its pointer. Then that one packet is charged to, or counted for, the other source: each
 * such packet takes its cost from it, and credits of at most 1/16 of its room, and its own source
 * is a newcomer anyway.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, RF_SOURCES_DEFAULT);
	__type(key, struct rf_key4);
	__type(value, struct rf_source);
} windows4 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, RF_SOURCES_DEFAULT);
	__type(key, struct rf_key6);
	__type(value, struct rf_source);
} windows6 SEC(".maps");

/*
 * As many slots as windows: who is in there, and whether he may be evicted. Writer: the program, by
 * atomics, see slot.h. Reader: nobody else. When full: a newcomer takes the slot of an idle source;
 * where none is idle it gets none.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, RF_SOURCES_DEFAULT);
	__type(key, __u32);
	__type(value, struct rf_slot4);
} slots4 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, RF_SOURCES_DEFAULT);
	__type(key, __u32);
	__type(value, struct rf_slot6);
} slots6 SEC(".maps");

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
 * The tags of each set of leases, see lease_place.h. Writer and reader: the program, each CPU its
 * own part.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, RF_LEASES_DEFAULT / RF_LEASE_WAYS);
	__type(key, __u32);
	__type(value, __u64);
} lease_tags SEC(".maps");

/*
 * Writer: the command line, through shared memory, since an update by system call could tear; the
 * program writes `room`. Reader: the program. The only global, so a map of one entry by the name
 * of its section: a look-up, even one that is inlined, would wait for its key on the stack.
 */
struct rf_config config;

/*
 * The class of a packet by its port, one entry for each bank, indexed as that. Writer: the command
 * line, through shared memory, that of the bank which is not active. Reader: the program. Never
 * full.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct rf_ports);
} ports SEC(".maps");

/*
 * Tries of the prefixes of lists and limits, one for each bank, indexed as that; none where there
 * are no prefixes. Writer: the command line, which makes a new one for each change, as large as it
 * has to be. Reader: the program. Never full.
 */
struct prefix_trie4 {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(key_size, sizeof(struct rf_prefix_key4)); /* of a type, only its name is kept here */
	__uint(value_size, sizeof(struct rf_prefix_value));
};

struct prefix_trie6 {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(key_size, sizeof(struct rf_prefix_key6)); /* of a type, only its name is kept here */
	__uint(value_size, sizeof(struct rf_prefix_value));
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 2);
	__type(key, __u32);
	__array(values, struct prefix_trie4);
} prefixes4 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 2);
	__type(key, __u32);
	__array(values, struct prefix_trie6);
} prefixes6 SEC(".maps");

/*
 * The known filter: which sources have a window. Writer and reader: the program, by atomics. Never
 * full: it counts the windows that exist. The map keeps its old name, which pins have.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, RF_KNOWN_FILTER_DEFAULT);
	__type(key, __u32);
	__type(value, struct rf_known_filter);
} presence SEC(".maps");

/*
 * Windows of prefixes, for newcomers beyond the guard: for each slot two sets of RF_AGGREGATES, of
 * which its policy says which one it charges. Writer: the program; the command line opens the other
 * set before it gives the slot to another limit. Never full: prefixes that meet in one share it.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, RF_AGGREGATE_SETS *RF_AGGREGATES);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct rf_source);
} aggregates SEC(".maps");

/*
 * Who is banned. Writers: the program, which replaces bans that are over, and the command line,
 * which ends some, through shared memory; each by atomics. Reader: both. When a set of it is full:
 * a new ban is not made, and counted.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, RF_BAN_SETS);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct rf_ban_set);
} bans SEC(".maps");

/* A window that is about to be inserted: on the stack, it would be a third of what there is. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct rf_source);
} fresh_source SEC(".maps");

/* Writer: the program, each CPU its own copy. Reader: the command line. Never full: one entry. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct rf_counters);
} counters SEC(".maps");

/*
 * Indexed by rf_policy.counters. Writer: the program, each CPU its own copy; the command line
 * clears an entry before it gives it to another limit. Reader: the command line. Never full.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, RF_LIMIT_COUNTERS_MAX);
	__type(key, __u32);
	__type(value, struct rf_limit_counters);
} limit_counters SEC(".maps");

#endif /* RINGFENCE_MAPS_H */
