/* SPDX-License-Identifier: GPL-2.0 */
/* Map ABI 8 as it was: the structures of the rules, and what lies around them. Never changed. */
#ifndef RINGFENCE_TESTS_PAST_ABI_H
#define RINGFENCE_TESTS_PAST_ABI_H

#include <linux/types.h>

#define RF_ABI_MAGIC 0x46474e52U
#define RF_ABI_VERSION 8

#define RF_CELLS 16
#define RF_LIMITS_MAX 32
#define RF_PACKET_CLASSES_MAX 256
#define RF_PREFIX_CLASSES_MAX 256
#define RF_PORTS 65536
#define RF_LENGTHS 65536
#define RF_TO_MAX 8
#define RF_TCP_FLAGS_CUT 256
#define RF_TCP_FLAGS 257
#define RF_SHAPE_HASH_LOG 12
#define RF_FOREVER (~0ULL)
#define RF_NAME_SIZE 32
#define RF_PORTS_OF_COUNT 3
#define RF_PINNED_PROGRAMS 14
#define RF_KIN_MAX 128
#define RF_GROUPINGS_MAX 4
#define RF_REASON_COUNT 18
#define RF_MAP_ERROR_COUNT 7
#define RF_LIMIT_COUNTERS_MAX (2 * RF_LIMITS_MAX)

#define RF_BANK_PORTS (1U << 0)
#define RF_BANK_SHAPES (1U << 8)

struct rf_rodata {
	__u32 magic;
	__u32 abi;
	__u32 injected_clock;
	__u32 reserved;
};

struct rf_clock_reading {
	__u64 jiffies;
	__u64 ktime_ns;
};

struct rf_window {
	__u64 head;
	__u64 newest;
	__u64 cell[RF_CELLS];
};

struct rf_slot_times {
	__u32 tick_shift;
	__u32 young_for;
	__u32 young_idle;
	__u32 resident_idle;
	__u32 young_lease;
	__u32 resident_lease;
	__u32 resident_touch;
	__u64 residents_max;
};

struct rf_prefix_key4 {
	__u32 length;
	__be32 address;
};

struct rf_prefix_key6 {
	__u32 length;
	__be32 address[4];
};

struct rf_prefix_value {
	__u64 allow_until;
	__u64 deny_until;
	__u64 own_allow_until;
	__u64 own_deny_until;
	__u32 own_from;
	__u8 prefix_class;
	__u8 is_divided;
	__u8 length;
	__u8 reserved;
};

struct rf_limit {
	char name[RF_NAME_SIZE];
	__u64 rate;
	__u64 window_ns;
	__u64 burst;
	__u64 ban_ns;
	__u32 flags;
	__u8 algorithm;
	__u8 edge;
	__u8 unit;
	__u8 cells;
	__u8 per4;
	__u8 per6;
	__u8 match;
	__u8 protocol;
	__u8 has_ports;
	__u8 has_from;
	__u8 order;
	__u8 has_sports;
	__u32 since_generation;
	__u16 length_min;
	__u16 length_max;
	__u8 tcp_flags;
	__u8 tcp_mask;
	__u8 has_to;
	__u8 reserved[5];
};

struct rf_policy {
	__u32 id;
	__u32 limit;
	__u32 clip;
	__u32 flags;
	__u64 cell;
	__u64 depth;
	__u64 ban;
	__u8 algorithm;
	__u8 edge;
	__u8 cells;
	__u8 clock;
	__u8 unit;
	__u8 unit_shift;
	__u8 scale;
	__u8 counters;
	__u8 time_shift;
	__u8 used_shift;
	__u8 reserved[2];
	__u32 since_generation;
	__be32 mask4;
	__be32 mask6[4];
	__u32 reserved2;
};

struct rf_packet_class {
	__u32 limits;
	__u8 unit;
	__u8 unit_shift;
	__u8 is_mixed;
	__u8 by_shape;
};

struct rf_ports {
	__u8 packet_class[RF_PORTS_OF_COUNT][RF_PORTS];
	__u8 sport[RF_PORTS];
	__u8 length[RF_LENGTHS];
};

struct rf_to4 {
	__be32 address;
	__be32 mask;
	__u32 limits;
	__u32 own;
};

struct rf_to6 {
	__u64 address[2];
	__u64 mask[2];
	__u32 limits;
	__u32 own;
};

struct rf_shapes {
	__u32 candidates[RF_PACKET_CLASSES_MAX];
	__u32 with_sport;
	__u32 with_to;
	__u32 with_length;
	__u32 with_flags;
	__u32 sport_limits[256];
	__u32 length_limits[256];
	__u32 flags_limits[RF_TCP_FLAGS];
	__u32 reserved;
	struct rf_to4 to4[RF_TO_MAX];
	struct rf_to6 to6[RF_TO_MAX];
	__u64 factor;
	__u8 packet_class[1 << RF_SHAPE_HASH_LOG];
};

struct rf_newcomers {
	__u64 rate;
	__u64 window_ns;
	__u32 then;
	__u8 guard;
	__u8 reserved[3];
	struct rf_policy policy;
};

struct rf_grouping {
	__be32 mask4;
	__be32 mask6[4];
};

struct rf_kin {
	__u64 until;
	__u32 limit_id;
	__u32 is_over;
	struct rf_grouping grouping;
	__u32 reserved;
};

struct rf_bank {
	__u64 deadline;
	__u32 fallback;
	__u32 flags;
	__u64 lease_mask6;
	__be32 lease_mask4;
	__u8 class_of_syn;
	__u8 other;
	__u8 ban_lease;
	__u8 lease_span;
	__u8 class_of_protocol[256];
	struct rf_packet_class packet_class[RF_PACKET_CLASSES_MAX];
	__u32 prefix_class[RF_PREFIX_CLASSES_MAX];
	__u32 shadows;
	__u32 bans;
	__u32 bans_all;
	__u32 since_generation;
	__u32 listed[2];
	struct rf_newcomers newcomers;
	struct rf_policy policy[RF_LIMITS_MAX];
	struct rf_limit limit[RF_LIMITS_MAX];
	struct rf_shapes shapes;
};

struct rf_count {
	__u64 packets;
	__u64 bytes;
};

struct rf_counters {
	struct rf_count reason[RF_REASON_COUNT];
	__u64 map_error[RF_MAP_ERROR_COUNT];
	__u64 inserts[2];
	__u64 evictions[2];
	__u64 newcomers_admitted;
	__u64 newcomers_known;
	__u64 newcomers_aggregated;
	__u64 shadow_newcomers;
	__u64 bans_refused;
};

struct rf_limit_counters {
	struct rf_count passed;
	struct rf_count dropped;
	struct rf_count would_drop;
	struct rf_count forfeited;
};

struct rf_baseline {
	__u64 time_ns;
	struct rf_counters counters;
	struct rf_limit_counters limit[RF_LIMIT_COUNTERS_MAX];
};

struct rf_pinned {
	__u32 magic;
	__u32 abi;
	__u32 program_id[RF_PINNED_PROGRAMS];
};

struct rf_config {
	struct rf_pinned pinned;
	__u64 active;
	__u64 injected_ns;
	__u64 lease_key[3];
	__u32 lease_shift;
	__u32 known_filter_shift;
	struct rf_slot_times times;
	__u32 slots;
	__u32 slot_stride;
	__u32 next_limit_id;
	__u32 tick_ns;
	struct rf_clock_reading base;
	char name[RF_NAME_SIZE];
	struct rf_bank bank[2];
	__u32 kin_count;
	__u32 groupings;
	struct rf_grouping grouping[RF_GROUPINGS_MAX];
	struct rf_kin kin[RF_KIN_MAX];
	struct {
		__u64 hand;
		__u64 residents;
	} __attribute__((aligned(64))) room[2];
	struct {
		struct rf_window limits __attribute__((aligned(64)));
		struct rf_window shadows __attribute__((aligned(64)));
	} guard[2];
	__u64 resets;
	struct rf_baseline baseline[2];
} __attribute__((aligned(64)));

#endif /* RINGFENCE_TESTS_PAST_ABI_H */
