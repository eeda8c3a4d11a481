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
 * The windows of IPv4 and IPv6 sources. Writer: the program; it inserts with BPF_NOEXIST, and then
 * changes words in place by atomics only. Reader: the command line. Never full: an insert needs a
 * claimed slot, whose window was deleted first. Preallocated: with BPF_F_NO_PREALLOC, look-ups took
 * 0.8 to 1.0 times as long, inserts 2.2 times, and inserts into a full map 1.2 times.
 *
 * One flaw remains: the kernel can reuse a deleted window's memory for a different source while a
 * CPU still holds a pointer to it. Then one packet is charged to the other source: its cost, and
 * credits of at most 1/16 of the room. The packet's own source is a newcomer anyway.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, RF_WINDOWS_ENTRIES(RF_SOURCES_DEFAULT));
	__type(key, struct rf_key4);
	__type(value, struct rf_source);
} windows4 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, RF_WINDOWS_ENTRIES(RF_SOURCES_DEFAULT));
	__type(key, struct rf_key6);
	__type(value, struct rf_source);
} windows6 SEC(".maps");

/*
 * One slot for each window: its key, and whether it can be evicted. Writer and reader: the program,
 * by atomics, see ringfence/slot.h. When full: a newcomer takes the slot of an idle source, or
 * remains without a slot.
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
 * Leases: cached verdicts of each CPU, derived from the windows, which are authoritative. Writer:
 * the program, each CPU its own part. Reader: the command line, through shared memory, for pending
 * counts. Never full: if a source's places are in use, it gets no lease. Not a per-CPU array: that
 * costs a second cache line for each look-up, and its values straddle lines.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, RF_LEASES_DEFAULT / RF_LEASE_WAYS);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct rf_lease_set);
} leases SEC(".maps");

/*
 * The tags of each set of leases, see ringfence/lease_place.h. Writer and reader: the program, each
 * CPU its own part.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, RF_LEASES_DEFAULT / RF_LEASE_WAYS);
	__type(key, __u32);
	__type(value, __u64);
} lease_tags SEC(".maps");

/*
 * Rules and parameters. Writer: the command line, through shared memory, since an update by system
 * call could tear; the program writes `room` and `guard`. Reader: the program. The only global
 * variable, so it is the map of its section: a look-up in an array, though inlined, waits for its
 * key on the stack.
 */
struct rf_config config;

/*
 * The class of a packet by its port: one entry for each bank. Writer: the command line, through
 * shared memory, in the entry of the inactive bank. Reader: the program. Never full.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct rf_ports);
} ports SEC(".maps");

/*
 * The prefixes of lists and limits: one trie for each bank, or none without prefixes. Writer: the
 * command line, which changes a few entries in place, each atomically, and builds a new trie for
 * larger changes or when one is full. Reader: the program.
 */
struct prefix_trie4 {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(key_size, sizeof(struct rf_prefix_key4)); /* BTF stores only the type's name here */
	__uint(value_size, sizeof(struct rf_prefix_value));
};

struct prefix_trie6 {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(key_size, sizeof(struct rf_prefix_key6)); /* BTF stores only the type's name here */
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
 * full: it counts existing windows.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, RF_KNOWN_FILTER_DEFAULT);
	__type(key, __u32);
	__type(value, struct rf_known_filter);
} known_filter SEC(".maps");

/*
 * Windows that newcomers over the newcomers rate share, by prefix. Each limit's slot has two sets
 * of RF_AGGREGATES; its policy selects one. Writer: the program; the command line clears the other
 * set before it assigns the slot to a different limit. Never full: prefixes with the same index
 * share one window.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, RF_AGGREGATE_SETS *RF_AGGREGATES);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct rf_source);
} aggregates SEC(".maps");

/*
 * Answers to newcomers by prefix, see ringfence/answers.h. Writer and reader: the program, by
 * atomics. Never full: prefixes with the same place share its answers.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, RF_ANSWER_PLACES);
	__type(key, __u32);
	__type(value, __u64);
} answers SEC(".maps");

/*
 * Banned sources. Writers, by atomics: the program, which overwrites expired bans, and the command
 * line, which lifts bans through shared memory. Readers: both. When a set is full: the new ban does
 * not start, which is counted.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, RF_BAN_SETS);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct rf_ban_set);
} bans SEC(".maps");

/* A window before its insert: on the stack it would take a third of the space. One entry a CPU. */
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
 * Counters of limits, indexed by rf_policy.counters. Writer: the program, each CPU its own copy;
 * the command line clears an entry before it assigns it to a different limit. Reader: the command
 * line. Never full.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, RF_LIMIT_COUNTERS_MAX);
	__type(key, __u32);
	__type(value, struct rf_limit_counters);
} limit_counters SEC(".maps");

/*
 * Counters by interface, of a fence that has had several. Writer: the program, each CPU its own
 * copy. Reader: the command line. Never full: an interface without a place is counted in the totals
 * only.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, RF_INTERFACE_PLACES);
	__type(key, __u32);
	__type(value, struct rf_interface_counters);
} interfaces SEC(".maps");

/*
 * Samples of packets, while the command line requests them. Writer: the program, each CPU its own
 * copy. Reader: the command line, any number of processes. When full: the oldest sample is dropped.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct rf_sampler);
} samples SEC(".maps");

#endif /* RINGFENCE_MAPS_H */
