// SPDX-License-Identifier: GPL-2.0
/* Map ABI 8: shapes of packets, and the order of limits; no table of `to` by hash. */
#include "kernel/past_layout.h"

#define PAST_TO 8
#define PAST_SETS 256

struct past_limit {
	struct past_limit_head head;
	__u32 since_generation;
	__u16 length_min;
	__u16 length_max;
	__u8 tcp_flags;
	__u8 tcp_mask;
	__u8 has_to;
	__u8 unread[5];
};

struct past_policy {
	__u32 id;
	__u32 unread1[3];
	__u64 unread2[3];
	__u8 unread3[12];
	__u32 unread4[7];
};

struct past_ports {
	__u8 class[PAST_PORT_TABLES][PAST_PORTS];
	__u8 sport[PAST_PORTS]; /* into sport_limits */
	__u8 unread[PAST_PORTS];
};

struct past_to4 {
	__be32 address;
	__be32 mask;
	__u32 unread;
	__u32 own;
};

struct past_to6 {
	__u64 address[2];
	__u64 mask[2];
	__u32 unread;
	__u32 own;
};

struct past_shapes {
	__u32 candidates[PAST_CLASSES];
	__u32 unread1[4];
	__u32 sport_limits[PAST_SETS];
	__u32 unread2[PAST_SETS + 257 + 1];
	struct past_to4 to4[PAST_TO];
	struct past_to6 to6[PAST_TO];
	__u64 unread3;
	__u8 unread4[4096];
};

struct past_bank {
	__u64 deadline;
	__u32 fallback;
	__u32 flags;
	__u64 lease_mask6;
	__be32 lease_mask4;
	__u8 unread1[4];
	__u8 class_of[256];
	struct past_class class[PAST_CLASSES];
	__u32 prefix_class[256];
	__u32 shadows;
	__u32 unread2[5];
	struct past_newcomers newcomers;
	struct past_policy newcomers_policy;
	struct past_policy policy[PAST_LIMITS];
	struct past_limit limit[PAST_LIMITS];
	struct past_shapes shapes;
};

struct past_count {
	__u64 packets, bytes;
};

struct past_config {
	struct past_pinned pinned;
	__u64 active;
	__u64 injected_ns;
	__u64 lease_key[3];
	__u32 unread1[2];
	__u64 times[5];
	__u32 unread2[2];
	__u32 next_limit_id;
	__u32 tick_ns;
	struct rf_clock_reading base;
	char name[32];
	struct past_bank bank[2];
	__u32 unread3[2];
	__u32 grouping[4][5];
	struct {
		__u64 until;
		__u32 unread[8];
	} kin[128];
	struct {
		__u64 word[2];
	} __attribute__((aligned(64))) room[2];
	struct {
		struct {
			__u64 word[18];
		} limits __attribute__((aligned(64))), shadows __attribute__((aligned(64)));
	} guard[2];
	__u64 resets;
	struct {
		__u64 time_ns;
		struct past_count reason[18];
		__u64 unread[16];
		struct past_count limit[64][4];
	} baseline[2];
} __attribute__((aligned(64)));

static void past_read_limit(const void *past, struct rf_limit *limit)
{
	const struct past_limit *from = past;

	*limit = past_limit_of(&from->head);
	limit->order = from->head.order;
	limit->has_sports = from->head.has_sports;
	limit->length_min = from->length_min;
	limit->length_max = from->length_max;
	limit->tcp_flags = from->tcp_flags;
	limit->tcp_mask = from->tcp_mask;
	limit->has_to = from->has_to;
}

static void past_read_to(const void *past, struct rf_shapes *shapes)
{
	const struct past_shapes *from = past;

	for (int i = 0; i < PAST_TO; i++) {
		const struct past_to4 *to4 = &from->to4[i];
		const struct past_to6 *to6 = &from->to6[i];

		shapes->to4[i] = (struct rf_to4){
			.address = to4->address, .mask = to4->mask, .own = to4->own};
		shapes->to6[i] = (struct rf_to6){.address = {to6->address[0], to6->address[1]},
						 .mask = {to6->mask[0], to6->mask[1]},
						 .own = to6->own};
	}
}

const struct rf_past_layout rf_past_abi8 = {
	PAST_LAYOUT(8),
	.candidates = offsetof(struct past_bank, shapes.candidates),
	.sports = offsetof(struct past_ports, sport),
	.sport_limits = offsetof(struct past_bank, shapes.sport_limits),
	.to = offsetof(struct past_bank, shapes),
	.read_to = past_read_to,
};
