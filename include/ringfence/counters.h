/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reasons and counters, a part of the contract in abi.h. Counters are per CPU, and exact once
 * traffic stops.
 */
#ifndef RINGFENCE_COUNTERS_H
#define RINGFENCE_COUNTERS_H

#include <linux/types.h>

/*
 * Why a packet was passed or dropped: every packet has exactly one reason. A row has the reason,
 * its verdict, its name in JSON and in pins, its text for people, and one line of help. Everything
 * else that lists reasons is derived from these rows; the labels and tables outside of C by
 * user/schema/print.c. Reasons that drop come last.
 */
#define RF_REASONS(ROW)                                                                          \
	ROW(RF_UNDER_LIMIT, PASS, "under_limit", "under the limit",                              \
	    "every limit that matches has room")                                                 \
	ROW(RF_SHADOW_OVER, PASS, "shadow_over", "over a shadow limit",                          \
	    "over a limit that is in shadow mode")                                               \
	ROW(RF_NO_LIMIT, PASS, "no_limit", "no limit applies", "no limit matches it")            \
	ROW(RF_ALLOWED, PASS, "allowed", "on the allow list", "its source is on the allow list") \
	ROW(RF_NON_IP, PASS, "non_ip", "not IP (ARP, LLDP …)", "not IP, as ARP, LACP or LLDP")   \
	ROW(RF_NEIGHBOUR, PASS, "neighbour", "IPv6 neighbour discovery",                         \
	    "IPv6 neighbour discovery, or router")                                               \
	ROW(RF_NEWCOMER_PASS, PASS, "newcomer_pass", "new, over the newcomers rate",             \
	    "a new source, over the newcomers rate")                                             \
	ROW(RF_ESTABLISHED, PASS, "established", "new, of an open connection",                   \
	    "over the newcomers rate, of a TCP connection of this host")                         \
	ROW(RF_PROVEN, PASS, "proven", "new, with a proven address",                             \
	    "over the newcomers rate, after an answer to a challenge")                           \
	ROW(RF_UNCONFIRMED, PASS, "unconfirmed", "the attach was not confirmed",                 \
	    "the attach was not confirmed in time")                                              \
	ROW(RF_PAUSED, PASS, "paused", "to be dropped, but paused",                              \
	    "to be dropped, but the fence is paused")                                            \
	ROW(RF_MAP_ERROR, PASS, "map_error", "could not allocate a window",                      \
	    "no window, and only shadow limits")                                                 \
	ROW(RF_OVER_LIMIT, DROP, "over_limit", "over the limit",                                 \
	    "over a limit, or one of rate 0 matches")                                            \
	ROW(RF_BANNED, DROP, "banned", "banned by a limit",                                      \
	    "its source was over a limit that bans")                                             \
	ROW(RF_DENIED, DROP, "denied", "on the deny list", "its source is on the deny list")     \
	ROW(RF_CONTENDED, DROP, "contended", "lost too many races for a window",                 \
	    "lost too many races for its window")                                                \
	ROW(RF_NEWCOMER_DROP, DROP, "newcomer_drop", "new, over the newcomers rate",             \
	    "a new source, over the newcomers rate")                                             \
	ROW(RF_CHALLENGED, DROP, "challenged", "new, answered by a challenge",                   \
	    "over the newcomers rate, answered to prove its address")                            \
	ROW(RF_NO_WINDOW, DROP, "no_window", "could not allocate a window",                      \
	    "no window for its source")                                                          \
	ROW(RF_UNCLASSIFIED, DROP, "unclassified", "cannot tell which limits apply",             \
	    "headers do not show which limits match")                                            \
	ROW(RF_DEEP_VLAN, DROP, "deep_vlan", "more than eight VLAN tags",                        \
	    "more than eight VLAN tags")                                                         \
	ROW(RF_MALFORMED, DROP, "malformed", "malformed, no source to charge",                   \
	    "IP header cut or invalid: no source")

#define RF_REASON_MEMBER(reason, ...) reason,
#define RF_REASON_BIT(reason, ...) | 1U << (reason)
#define RF_REASON_NAME(reason, verdict, name, ...) [reason] = name,
#define RF_REASON_NAMES                    \
	{                                  \
		RF_REASONS(RF_REASON_NAME) \
	}
#define RF_REASON_NAME_SIZE 16

enum rf_reason {
	RF_REASONS(RF_REASON_MEMBER) RF_REASON_COUNT,
	RF_FIRST_DROP = RF_OVER_LIMIT,
};

_Static_assert((0 RF_REASONS(RF_REASON_BIT)) == (1U << RF_REASON_COUNT) - 1,
	       "RF_REASONS has a row for each reason");

/* Why a source got no window: its name in JSON, and one line of help. */
#define RF_MAP_ERRORS(ROW)                                                                       \
	ROW(RF_INSERT_BUSY, "insert_busy",                                                       \
	    "another CPU held the map (EBUSY); the packet's next try may succeed")               \
	ROW(RF_INSERT_NOMEM, "insert_nomem", "the kernel had no memory for a window (ENOMEM)")   \
	ROW(RF_INSERT_FULL, "insert_full", "the map was full (E2BIG)")                           \
	ROW(RF_INSERT_OTHER, "insert_other", "another error of an insert into the map")          \
	ROW(RF_WINDOW_LOST, "window_lost", "a window was evicted before it was looked up again") \
	ROW(RF_NO_IDLE_SLOT, "no_idle_slot",                                                     \
	    "no idle window could make room: no insert was tried")                               \
	ROW(RF_DELETE_BUSY, "delete_busy",                                                       \
	    "an idle window could not be removed: no insert was tried")

#define RF_MAP_ERROR_MEMBER(error, ...) error,

enum rf_map_error {
	RF_MAP_ERRORS(RF_MAP_ERROR_MEMBER) RF_MAP_ERROR_COUNT,
};

struct rf_count {
	__u64 packets;
	__u64 bytes; /* of the frames, with their Ethernet headers */
};

/* Value of `counters`. */
struct rf_counters {
	struct rf_count reason[RF_REASON_COUNT];
	__u64 map_error[RF_MAP_ERROR_COUNT];
	__u64 inserts[2];	    /* windows, of IPv4 and IPv6 */
	__u64 evictions[2];	    /* windows deleted for others */
	__u64 newcomers_admitted;   /* packets: the guard had room */
	__u64 newcomers_known;	    /* windows of known sources, without the guard */
	__u64 newcomers_aggregated; /* packets: charged to windows of their prefixes */
	__u64 shadow_newcomers;	    /* packets over the newcomers rate, of shadow limits only */
	__u64 bans_refused;	    /* bans not made: no room in the set */
};

/* Entries for the limits of both banks: no two limits share an index. */
#define RF_LIMIT_COUNTERS_MAX (2 * RF_LIMITS_MAX)

/* Value of `limit_counters`, indexed by rf_policy.counters. */
struct rf_limit_counters {
	struct rf_count passed;
	struct rf_count dropped;
	struct rf_count would_drop; /* passed, by a shadow limit or a pause */
	/* Charged to this limit, and dropped by a different one that lost its room concurrently. */
	struct rf_count forfeited;
	struct rf_count truncated; /* of the dropped ones: DNS queries that got a response */
};

/* Value of `interfaces`, indexed by the interface's place in rf_config.interface. */
struct rf_interface_counters {
	struct rf_count passed;
	struct rf_count dropped;
};

#endif /* RINGFENCE_COUNTERS_H */
