// SPDX-License-Identifier: GPL-2.0
/* Map ABI 5: windows in an LRU hash, no slots, no table of bans. */
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
	__u32 unread2;
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
	__u32 unread1[6];
	__u32 next_limit_id;
	__u32 tick_ns;
	struct rf_clock_reading base;
	char name[32];
	struct past_bank bank[2];
	__u64 inserts __attribute__((aligned(64)));
	__u64 family_inserts[2];
	struct {
		struct {
			__u64 word[18];
		} limits __attribute__((aligned(64))), shadows __attribute__((aligned(64)));
	} guard[2];
} __attribute__((aligned(64)));

const struct rf_past_layout rf_past_abi5 = {PAST_LAYOUT(5)};
