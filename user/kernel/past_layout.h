/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What has been the same in all past map ABIs that are read. A file past_abiN.c includes this file,
 * defines `struct past_limit`, `past_policy`, `past_ports`, `past_bank` and `past_config` as they
 * were, and past_read_limit(), and then uses PAST_LAYOUT. What no reader of rules needs is
 * `unread`.
 */
#ifndef RINGFENCE_PAST_LAYOUT_H
#define RINGFENCE_PAST_LAYOUT_H

#include <stddef.h>
#include <string.h>

#include "kernel/past.h"

#define PAST_LIMITS 32
#define PAST_CLASSES 256
#define PAST_PORTS 65536
#define PAST_PORT_TABLES 3 /* of TCP, of SYNs, of UDP */

/* The first part of a limit. */
struct past_limit_head {
	char name[32];
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
	__u8 order; /* since ABI 8, as the next */
	__u8 has_sports;
};

struct past_class {
	__u32 limits;
	__u8 unread[4];
};

/* The policy of the newcomers follows. */
struct past_newcomers {
	__u64 rate;
	__u64 window_ns;
	__u32 then;
	__u8 unread[4];
};

struct past_prefix {
	__u64 unread1[2];
	__u64 own_allow_until;
	__u64 own_deny_until;
	__u32 own_from;
	__u8 unread2[4];
};

struct past_pinned {
	__u32 unread[16];
};

/* The numbers of algorithms, edges, units, flags and matches have not changed since. */
static struct rf_limit past_limit_of(const struct past_limit_head *from)
{
	struct rf_limit limit = {
		.rate = from->rate,
		.window_ns = from->window_ns,
		.burst = from->burst,
		.ban_ns = from->ban_ns,
		.flags = from->flags,
		.algorithm = from->algorithm,
		.edge = from->edge,
		.unit = from->unit,
		.cells = from->cells,
		.per4 = from->per4,
		.per6 = from->per6,
		.match = from->match,
		.protocol = from->protocol,
		.has_ports = from->has_ports,
		.has_from = from->has_from,
	};

	memcpy(limit.name, from->name, sizeof(from->name));
	return limit;
}

static void past_read_newcomers(const void *past, struct rf_newcomers *newcomers)
{
	const struct past_newcomers *from = past;

	*newcomers = (struct rf_newcomers){
		.rate = from->rate,
		.window_ns = from->window_ns,
		.then = from->then,
	};
}

/* The fields of struct rf_past_layout that every ABI has. */
#define PAST_LAYOUT(number)                                                                      \
	.abi = number, .config_size = sizeof(struct past_config),                                \
	.ports_size = sizeof(struct past_ports), .prefix_size = sizeof(struct past_prefix),      \
	.active = offsetof(struct past_config, active),                                          \
	.tick_ns = offsetof(struct past_config, tick_ns),                                        \
	.base = offsetof(struct past_config, base), .name = offsetof(struct past_config, name),  \
	.bank = offsetof(struct past_config, bank), .bank_size = sizeof(struct past_bank),       \
	.deadline = offsetof(struct past_bank, deadline),                                        \
	.fallback = offsetof(struct past_bank, fallback),                                        \
	.packet_class = offsetof(struct past_bank, class),                                       \
	.newcomers = offsetof(struct past_bank, newcomers),                                      \
	.policy = offsetof(struct past_bank, policy), .policy_size = sizeof(struct past_policy), \
	.limit = offsetof(struct past_bank, limit), .limit_size = sizeof(struct past_limit),     \
	.port_tables = PAST_PORT_TABLES, .class_size = sizeof(struct past_class),                \
	.own_allow_until = offsetof(struct past_prefix, own_allow_until),                        \
	.own_deny_until = offsetof(struct past_prefix, own_deny_until),                          \
	.own_from = offsetof(struct past_prefix, own_from), .read_limit = past_read_limit,       \
	.read_newcomers = past_read_newcomers

#endif /* RINGFENCE_PAST_LAYOUT_H */
