/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Part of the contract that abi.h is: reasons and counters. Counters are per CPU, and exact once
 * traffic stops.
 */
#ifndef RINGFENCE_COUNTERS_H
#define RINGFENCE_COUNTERS_H

#include <linux/types.h>

/*
 * Why a packet was passed or dropped. Every packet has exactly one reason. Those that a lease may
 * repeat are among the first eight of the passed ones and among the first eight of the dropped.
 */
enum rf_reason {
	RF_UNDER_LIMIT,	    /* passed: charged, and there was room */
	RF_SHADOW_OVER,	    /* passed: over a limit, which is only a shadow */
	RF_NO_LIMIT,	    /* passed: no limit is for it */
	RF_ALLOWED,	    /* passed: its source is on the allow list */
	RF_NON_IP,	    /* passed: ARP, LACP, LLDP … */
	RF_NEIGHBOUR,	    /* passed: IPv6 neighbour discovery and router messages */
	RF_NEWCOMER_OPEN,   /* passed: a newcomer beyond the guard */
	RF_UNCONFIRMED,	    /* passed: the fence was attached on trial, and not confirmed */
	RF_MAP_ERROR,	    /* passed: its window could not be had (see enum rf_map_error) */
	RF_OVER_LIMIT,	    /* dropped */
	RF_BANNED,	    /* dropped: its source was over a limit that bans */
	RF_DENIED,	    /* dropped: its source is on the deny list */
	RF_CONTENDED,	    /* dropped: too many lost races for its window */
	RF_NEWCOMER_CLOSED, /* dropped: a newcomer beyond the guard */
	RF_NO_WINDOW,	    /* dropped: its window could not be had */
	RF_UNCLASSED,	    /* dropped: nobody can tell which limits are for it */
	RF_DEEP_VLAN,	    /* dropped: more VLAN tags than are followed */
	RF_MALFORMED,	    /* dropped: no whole IP header, so no source to charge */
	RF_REASON_COUNT,
	RF_FIRST_DROP = RF_OVER_LIMIT,
	/* Answers in place of a reason: who is to be asked next. None of them is ever counted. */
	RF_HAS_SOURCE = RF_REASON_COUNT,      /* the parser: the frame has a source to charge */
	RF_ASK_LEASES = RF_REASON_COUNT,      /* the rules: nothing but a lease may answer yet */
	RF_ASK_LIMITS = RF_REASON_COUNT,      /* the lists: no list decides */
	RF_ASK_SEVERAL = RF_REASON_COUNT,     /* the limits: more than one applies */
	RF_ASK_AGGREGATE = RF_REASON_COUNT,   /* the guard: charge the window of its prefix */
	RF_WINDOWS_MISSING = RF_REASON_COUNT, /* several limits: not all have a window of it */
	RF_PEEKED_FULL = RF_REASON_COUNT,     /* a peek: no room, and nothing was charged */
	RF_COUNTED = RF_REASON_COUNT,	      /* nobody: the packet is counted */
	RF_REFUSED_KNOWN,		      /* several limits: refuse_known says why */
};

#define RF_REASON_NAME_SIZE 16

/* As machines read them; one initializer for whoever prints them. */
#define RF_REASON_NAMES                                                                           \
	{                                                                                         \
		[RF_UNDER_LIMIT] = "under_limit", [RF_SHADOW_OVER] = "shadow_over",               \
		[RF_NO_LIMIT] = "no_limit", [RF_NON_IP] = "non_ip", [RF_NEIGHBOUR] = "neighbour", \
		[RF_MALFORMED] = "malformed", [RF_DEEP_VLAN] = "deep_vlan",                       \
		[RF_MAP_ERROR] = "map_error", [RF_ALLOWED] = "allowed",                           \
		[RF_NEWCOMER_OPEN] = "newcomer_open", [RF_UNCONFIRMED] = "unconfirmed",           \
		[RF_OVER_LIMIT] = "over_limit", [RF_CONTENDED] = "contended",                     \
		[RF_BANNED] = "banned", [RF_DENIED] = "denied",                                   \
		[RF_NEWCOMER_CLOSED] = "newcomer_closed", [RF_NO_WINDOW] = "no_window",           \
		[RF_UNCLASSED] = "unclassed",                                                     \
	}

/* What the windows map answered to an insert, or failed to. */
enum rf_map_error {
	RF_INSERT_BUSY,	 /* -EBUSY */
	RF_INSERT_NOMEM, /* -ENOMEM */
	RF_INSERT_FULL,	 /* -E2BIG */
	RF_INSERT_OTHER, /* any other error of an insert */
	RF_WINDOW_LOST,	 /* inserted, and evicted before it was looked up again */
	RF_NONE_IDLE, /* no insert: the windows it might have replaced are all of active sources */
	RF_DELETE_BUSY, /* no insert: the old window could not be deleted */
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
	__u64 evictions[2];	    /* … that gave way to others */
	__u64 newcomers_admitted;   /* packets: the guard had room */
	__u64 newcomers_known;	    /* windows that the guard was not asked for */
	__u64 newcomers_aggregated; /* packets: charged to windows of their prefixes */
	__u64 shadow_newcomers; /* packets beyond the guard of which only shadow limits took no note
				 */
	__u64 bans_refused;	/* how often there was no room for a ban */
};

/* Counters of a limit: as many as two banks may have limits, so that an index is nobody else's. */
#define RF_LIMIT_COUNTERS_MAX (2 * RF_LIMITS_MAX)

/* Value of `limit_counters`, indexed by rf_policy.counters. */
struct rf_limit_counters {
	struct rf_count passed;
	struct rf_count dropped;
	struct rf_count would_drop; /* passed, by a shadow limit */
	/* Charged to it, and dropped by another limit that lost its room meanwhile. */
	struct rf_count forfeited;
};

#endif /* RINGFENCE_COUNTERS_H */
