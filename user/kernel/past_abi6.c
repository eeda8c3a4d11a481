// SPDX-License-Identifier: GPL-2.0
/*
 * Map ABIs 6 and 7: slots, kin and a table of bans. A fence of 6 also knows when a window was last
 * evicted, in what 7 pads, so all else is in the same places.
 */
#include "kernel/past_parts.h"

struct past_bank {
	__u64 deadline;
	__u32 fallback;
	__u32 flags;
	__u64 lease_mask6;
	__be32 lease_mask4;
	__u8 unread1[4];
	__u8 class_of[256];
	struct past_class class[PAST_CLASSES];
	__u32 origin[256];
	__u32 shadows;
	__u32 unread2[3];
	struct past_newcomers newcomers;
	struct past_policy newcomers_policy;
	struct past_policy policy[PAST_LIMITS];
	struct past_limit limit[PAST_LIMITS];
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
} __attribute__((aligned(64)));

const struct rf_past_layout rf_past_abi6 = {PAST_LAYOUT(6)};
const struct rf_past_layout rf_past_abi7 = {PAST_LAYOUT(7)};
