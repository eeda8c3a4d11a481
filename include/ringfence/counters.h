/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reasons and counters, a part of the contract in abi.h. Counters are per CPU, and exact once
 * traffic stops.
 */
#ifndef RINGFENCE_COUNTERS_H
#define RINGFENCE_COUNTERS_H

#include <linux/types.h>

/*
 * Why a packet was passed or dropped: every packet has exactly one reason. The reasons that a lease
 * may repeat are among the first eight to pass and the first eight to drop.
 */
enum rf_reason {
	RF_UNDER_LIMIT,	    /* passed: charged, and there was room */
	RF_SHADOW_OVER,	    /* passed: over a shadow limit */
	RF_NO_LIMIT,	    /* passed: no limit applies */
	RF_ALLOWED,	    /* passed: its source is on the allow list */
	RF_NON_IP,	    /* passed: ARP, LACP, LLDP … */
	RF_NEIGHBOUR,	    /* passed: IPv6 neighbour discovery and router messages */
	RF_NEWCOMER_OPEN,   /* passed: a new source, over the newcomers rate */
	RF_UNCONFIRMED,	    /* passed: the fence was attached on trial, and not confirmed */
	RF_PAUSED,	    /* passed: would be dropped, but for a pause */
	RF_MAP_ERROR,	    /* passed: no window could be made, see enum rf_map_error */
	RF_OVER_LIMIT,	    /* dropped */
	RF_BANNED,	    /* dropped: its source was over a limit that bans */
	RF_DENIED,	    /* dropped: its source is on the deny list */
	RF_CONTENDED,	    /* dropped: too many lost races for its window */
	RF_NEWCOMER_CLOSED, /* dropped: a new source, over the newcomers rate */
	RF_NO_WINDOW,	    /* dropped: no window could be made */
	RF_UNCLASSED,	    /* dropped: which limits apply cannot be told */
	RF_DEEP_VLAN,	    /* dropped: more VLAN tags than the parser follows */
	RF_MALFORMED,	    /* dropped: no whole IP header, so no source to charge */
	RF_REASON_COUNT,
	RF_FIRST_DROP = RF_OVER_LIMIT,
	/* Answers instead of a reason: what comes next. None of them is ever counted. */
	RF_HAS_SOURCE = RF_REASON_COUNT,      /* parser: the frame has a source to charge */
	RF_ASK_LEASES = RF_REASON_COUNT,      /* rules in force: ask the leases */
	RF_ASK_LIMITS = RF_REASON_COUNT,      /* lists: no list decides */
	RF_ASK_SEVERAL = RF_REASON_COUNT,     /* more than one limit applies */
	RF_ASK_AGGREGATE = RF_REASON_COUNT,   /* guard: charge the window of the prefix */
	RF_WINDOWS_MISSING = RF_REASON_COUNT, /* not all limits have a window of the source */
	RF_PEEKED_FULL = RF_REASON_COUNT,     /* peek: no room, and nothing was charged */
	RF_COUNTED = RF_REASON_COUNT,	      /* the packet is counted already */
	RF_REFUSED_KNOWN,		      /* refuse_known tells the reason */
};

#define RF_REASON_NAME_SIZE 16

/* Each reason, its name in JSON and in pins, and its text for people. */
#define RF_REASONS(ROW)                                                            \
	ROW(RF_UNDER_LIMIT, "under_limit", "under the limit")                      \
	ROW(RF_SHADOW_OVER, "shadow_over", "over a shadow limit")                  \
	ROW(RF_NO_LIMIT, "no_limit", "no limit applies")                           \
	ROW(RF_ALLOWED, "allowed", "on the allow list")                            \
	ROW(RF_NON_IP, "non_ip", "not IP (ARP, LLDP …)")                           \
	ROW(RF_NEIGHBOUR, "neighbour", "IPv6 neighbour discovery")                 \
	ROW(RF_NEWCOMER_OPEN, "newcomer_open", "new, over the newcomers rate")     \
	ROW(RF_UNCONFIRMED, "unconfirmed", "the attach was not confirmed")         \
	ROW(RF_PAUSED, "paused", "to be dropped, but paused")                      \
	ROW(RF_MAP_ERROR, "map_error", "could not allocate a window")              \
	ROW(RF_OVER_LIMIT, "over_limit", "over the limit")                         \
	ROW(RF_BANNED, "banned", "banned by a limit")                              \
	ROW(RF_DENIED, "denied", "on the deny list")                               \
	ROW(RF_CONTENDED, "contended", "lost too many races for a window")         \
	ROW(RF_NEWCOMER_CLOSED, "newcomer_closed", "new, over the newcomers rate") \
	ROW(RF_NO_WINDOW, "no_window", "could not allocate a window")              \
	ROW(RF_UNCLASSED, "unclassed", "cannot tell which limits apply")           \
	ROW(RF_DEEP_VLAN, "deep_vlan", "more than eight VLAN tags")                \
	ROW(RF_MALFORMED, "malformed", "malformed, no source to charge")

#define RF_REASON_BIT(reason, ...) | 1U << (reason)
#define RF_REASON_NAME(reason, name, ...) [reason] = name,
#define RF_REASON_NAMES                    \
	{                                  \
		RF_REASONS(RF_REASON_NAME) \
	}

_Static_assert((0 RF_REASONS(RF_REASON_BIT)) == (1U << RF_REASON_COUNT) - 1,
	       "RF_REASONS has a row for each reason");

/* Why a source got no window. */
enum rf_map_error {
	RF_INSERT_BUSY,	 /* -EBUSY */
	RF_INSERT_NOMEM, /* -ENOMEM */
	RF_INSERT_FULL,	 /* -E2BIG */
	RF_INSERT_OTHER, /* any other error of an insert */
	RF_WINDOW_LOST,	 /* inserted, and evicted before it was looked up again */
	RF_NONE_IDLE,	 /* no insert: all slots that were looked at are of active sources */
	RF_DELETE_BUSY,	 /* no insert: the old window could not be deleted */
	RF_MAP_ERROR_COUNT,
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

/* Entries for the limits of both banks, so that no two limits share an index. */
#define RF_LIMIT_COUNTERS_MAX (2 * RF_LIMITS_MAX)

/* Value of `limit_counters`, indexed by rf_policy.counters. */
struct rf_limit_counters {
	struct rf_count passed;
	struct rf_count dropped;
	struct rf_count would_drop; /* passed, by a shadow limit or a pause */
	/* Charged to this limit, and dropped by another one that lost its room meanwhile. */
	struct rf_count forfeited;
};

/* Value of `interfaces`, indexed by the interface's place in rf_config.interface. */
struct rf_interface_counters {
	struct rf_count passed;
	struct rf_count dropped;
};

#endif /* RINGFENCE_COUNTERS_H */
