/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The contract between the XDP program and everything that reads or sets its maps: keys, values,
 * names, version. Plain data in fixed-width types, UAPI headers only, no code, for BPF and user
 * space. Integers are in host order, except for addresses (__be32).
 *
 * A change of the size or the meaning of anything here raises RF_ABI_VERSION and changes
 * RF_ABI_LAYOUT: a build of other numbers then refuses to touch the fence. tests/prog/test_layout
 * finds such a change, and prints the new RF_ABI_LAYOUT.
 */
#ifndef RINGFENCE_ABI_H
#define RINGFENCE_ABI_H

#include <linux/types.h>

#include "counters.h"
#include "packet_class.h"
#include "packet_sample.h"
#include "source.h"

#define RF_ABI_MAGIC 0x31474e52U /* "RNG1" */
#define RF_ABI_VERSION 1
/* "RNGF", of builds before the first release: their fences are recognized, and never read. */
#define RF_ABI_MAGIC_EARLY 0x46474e52U
/*
 * A hash of all that this header and the maps of a fence define. Builds between two releases can
 * have the same number, and maps of the same sizes with other contents. Maps that are not pinned
 * hold data of one packet, so no other build reads them, and they are not part of the hash.
 */
#define RF_ABI_LAYOUT 0x866b3a04042049c3ULL

#define RF_CELLS_OTHERS 16	  /* by default, where the edge is not strict */
#define RF_CELLS_MAX 31		  /* that may count: two in a word, less one; ringfence/ring.h */
#define RF_LIMITS_MAX 32	  /* slots for limits in one fence */
#define RF_CHARGED_MAX 4	  /* maximum limits that one packet is charged to */
#define RF_PREFIX_CLASSES_MAX 256 /* kinds of sources, by the limits that may match them */
#define RF_FOREVER (~0ULL)	  /* a deadline that never comes */
#define RF_LIMIT_MAX (1U << 31)	  /* largest L: `used` has 32 bits and must not wrap */
#define RF_COST_MAX (1U << 20)	  /* of one packet; no frame is that long */
#define RF_LOG_MAX RF_CELLS	  /* largest L of RF_LOG: a slot for the time of each */
#define RF_UNIT_SHIFT_MAX 6	  /* a unit of RF_BYTES is 64 bytes at most, the shortest frame */
#define RF_TRUNCATE_ONE_IN_MAX 1000
#define RF_NAME_SIZE 32		 /* bytes of a limit's or a fence's name, with the final NUL */
#define RF_SOURCES_DEFAULT 65536 /* windows per address family */
#define RF_JIFFIES_CELL_MIN 16	 /* a shorter cell, in ticks, is timed in ns instead, */
#define RF_JIFFIES_WINDOW_MIN \
	250		/* unless fractions of ticks count and all cells together last this long */
#define RF_TIME_SHIFT 8 /* then cells are measured in 1/256 tick */
#define RF_USED_SHIFT_MAX 16   /* RF_LIMIT_MAX in 16 bits */
#define RF_LEASES_PER_SOURCE 2 /* of all CPUs together; one each leaves 14 % without a place */
#define RF_LEASES_DEFAULT (RF_LEASES_PER_SOURCE * RF_SOURCES_DEFAULT)
#define RF_LEASE_LIFE_NS 17000000000ULL /* of a resident, since its window was looked up */
#define RF_LOAN_PERIOD_MAX 24		/* log2 of jiffies: in each of them, 17 s are fewer */
#define RF_KIN_MAX 128			/* limits whose windows make a source known */
#define RF_INTERFACE_PLACES 64		/* interfaces of a fence that are counted separately */
#define RF_INTERFACE_PROBES 32 /* candidate places of an interface: this many always find one */
#define RF_GROUPINGS_MAX 4     /* ways to group sources that one known filter serves */

/*
 * The entries of a windows map. At most `sources` of them are used, since each window has a slot.
 * One more, because the kernel gives a hash the next power of two of buckets: a power of two of
 * sources then has half a window per bucket, and look-ups read fewer elements.
 */
#define RF_WINDOWS_ENTRIES(sources) ((sources) + 1)

/*
 * At offset 0 of the program's read-only data, where readers expect it. The compiled-in values must
 * be right, because `ip` cannot set them.
 */
struct rf_rodata {
	__u32 magic;
	__u32 abi;
	__u32 injected_clock; /* tests only: time comes from rf_config.injected_ns */
	__u32 has_shares;     /* built with RF_WITH_SHARES: windows are rf_source as it is there */
	__u64 layout;	      /* RF_ABI_LAYOUT; builds of RF_ABI_MAGIC_EARLY may lack it */
};

/* The result of bpf/clock.bpf.c: both clocks of the data path, read one after the other. */
struct rf_clock_reading {
	__u64 jiffies;
	__u64 ktime_ns;
};

/* ---- slots: one per window, which decides whether it can be evicted; ringfence/slot.h ---- */

#define RF_SLOT_GENERATIONS 0xfffffU
#define RF_SLOT_REF_TICKS 0x1ffffU

/* Values of `slots4` and `slots6`. The CPU that has claimed a slot owns its key. */
struct rf_slot4 {
	struct rf_key4 key;
	__u64 word;
};

struct rf_slot6 {
	struct rf_key6 key;
	__u32 reserved;
	__u64 word;
};

/* Times in ticks of 2^tick_shift jiffies, about half a second; set when a fence is armed. */
struct rf_slot_times {
	__u32 tick_shift;
	__u32 probation_for;   /* then a source settles */
	__u32 probation_idle;  /* how long it can be idle until then, */
	__u32 resident_idle;   /* and from then on, since its slot was touched */
	__u32 probation_lease; /* how long a lease can hide it until then, */
	__u32 resident_lease;
	__u32 resident_touch; /* so often is its slot touched */
	__u64 residents_max;  /* 7/8 of the slots of a family */
};

/* ---- leases: cached verdicts of a CPU ---- */

/* Whose packets, of which class, evaluated under which rules. */
struct rf_who {
	__u64 source[2]; /* two __be32 in each, the first in the low half */
	__u32 rules;	 /* {generation:23 | class:8 | is IPv6:1}: a generation counts mod 2^23 */
	__u32 place;	 /* the program's own: of the lease. First 0, since before Linux 6.3 a
			  * program may pass on no byte unset. */
};

/*
 * Half a cache line, which only its own CPU writes. lease.h defines when a lease is valid; an
 * invalid one only holds pending counts. It is as small as possible, because a packet of many
 * sources costs a cache miss, and more small leases fit a cache. The fields that a packet changes
 * share whole words, which have names (see RF_CREDIT_ONE in lease.h): a CPU waits when it loads a
 * word that was stored in parts.
 *
 * The slots are the limits for which packets are counted, up to the first slot that repeats slot0.
 */
struct rf_lease {
	__u64 source; /* rf_who.source[0]; one whose source[1] is not 0 goes without */
	__u32 rules;  /* rf_who.rules */
	union {
		__u32 credits_word;
		struct {
			__u32 credits : 20; /* left, where has_credits is set */
			/* The tick from which on its window is to be looked up again. */
			__u32 ends : 8;
			/* log2 of what passed in the cell before, see lease.h. */
			__u32 spent_before : 4;
		};
		struct {
			/* Otherwise: the lease handles packets that cost more. */
			__u32 threshold : 20;
		};
	};
	union {
		__u32 packets_word;
		struct {
			__u32 packets : 16; /* pending: not yet in any other counter */
			__u32 wanted : 1;   /* by another source, since the last packet */
			/* Its packets spend credits or a loan; otherwise it repeats one verdict. */
			__u32 has_credits : 1;
			__u32 over : 4; /* bit set of the `slot`s that are over: i for slot i */
			__u32 slot0 : 5;
			__u32 slot1 : 5;
		};
	};
	union {
		__u32 bytes_word;
		struct {
			__u32 bytes : 21;  /* pending */
			__u32 is_loan : 1; /* its credits are of a loan */
			__u32 slot2 : 5;
			__u32 slot3 : 5;
		};
	};
	/* Charges of this CPU in the present cell; saturates. Of a loan: its terms, see lease.h. */
	__u64 taken : 20;
	__u64 reason : 5; /* of its verdict: enum rf_reason */
	/* In jiffies; for credits: the end of the first charged cell; for a loan: of the frame. */
	__u64 until : 39;
};

#define RF_LEASE_WAYS 8

/* Value of `leases`: the places for the lease of a source, in four cache lines. */
struct rf_lease_set {
	struct rf_lease way[RF_LEASE_WAYS];
};

/* ---- prefixes: the lists, and where the limits with a `from` apply ---- */

/* Keys of the tries that `prefixes4` and `prefixes6` hold. */
struct rf_prefix_key4 {
	__u32 length; /* of the prefix */
	__be32 address;
};

struct rf_prefix_key6 {
	__u32 length;
	__be32 address[4];
};

/*
 * That an owner put the prefix on a list, and until when. Owners are numbered: see struct
 * rf_owners.
 */
struct rf_list_claim {
	__u64 until : 56; /* jiffies; 0: no claim; RF_LIST_CLAIM_FOREVER */
	__u64 owner : 7;
	__u64 is_deny : 1; /* 0: of the allow list */
};

#define RF_LIST_CLAIM_FOREVER ((1ULL << 56) - 1)
#define RF_LIST_CLAIMS 6 /* of one prefix, on both lists together */

/*
 * Their value. A trie finds only the longest prefix. Each value therefore holds the result of all
 * prefixes that contain it; the `own` fields hold the entry of the prefix itself, for the command
 * line.
 */
struct rf_prefix_value {
	__u64 allow_until; /* jiffies: 0: not allowed, RF_FOREVER: for good */
	__u64 deny_until;
	__u8 prefix_class; /* index into rf_bank.prefix_class */
	__u8 is_divided;   /* IPv6: a longer prefix than /64 lies in the same /64: no leases */
	__u8 length;	   /* of the prefix itself, for the command line */
	__u8 reserved;
	__u32 own_from; /* bit set of slots: limits that name this prefix */
	struct rf_list_claim own_claim[RF_LIST_CLAIMS];
};

/*
 * The names of the owners of entries of the allow and deny lists. The first few numbers have a
 * fixed meaning; the others index `name`, where an empty name is free.
 */
enum rf_owner {
	RF_OWNER_MANUAL, /* the default of `allow add` and `deny add` */
	RF_OWNER_FLEET,	 /* a ban of another host of the fleet */
	RF_OWNER_LOAD,	 /* the default of `load` */
	RF_OWNERS_FIXED,
};

#define RF_OWNERS_MAX 128 /* what rf_list_claim.owner can number */
#define RF_OWNER_SIZE 48  /* bytes of a name, with the final NUL */

struct rf_owners {
	char name[RF_OWNERS_MAX - RF_OWNERS_FIXED][RF_OWNER_SIZE];
};

/* ---- bans ---- */

#define RF_BAN_SETS_LOG 10
#define RF_BAN_SETS (1U << RF_BAN_SETS_LOG)
#ifndef RF_BAN_WAYS /* the explorer has fewer */
#define RF_BAN_WAYS 16
#endif
#define RF_BANS_MAX (RF_BAN_SETS * RF_BAN_WAYS)
#define RF_BAN_LEASE_NS 50000000U /* how long a CPU can use old verdicts after a ban changes */

/* Whom, and by which limit. */
struct rf_ban {
	__u64 source[2]; /* as rf_who.source, masked by the limit's grouping */
	__u64 whose;	 /* {limit_id:32 | is IPv6:1} */
	__u64 since;	 /* jiffies */
};

/* Value of `bans`: ringfence/ban_table.h defines its words. */
struct rf_ban_set {
	__u64 word[RF_BAN_WAYS];
	struct rf_ban ban[RF_BAN_WAYS];
};

/* ---- newcomers: sources without a window ---- */

#define RF_KNOWN_FILTER_SHARE 8 /* sources for each line of it, of both families together */
#define RF_KNOWN_FILTER_DEFAULT (2 * RF_SOURCES_DEFAULT / RF_KNOWN_FILTER_SHARE)

enum rf_newcomers_then {
	RF_NEWCOMERS_OFF,	/* no guard: every newcomer gets a window */
	RF_NEWCOMERS_PASS,	/* over the newcomers rate they pass */
	RF_NEWCOMERS_DROP,	/* over it they are dropped */
	RF_NEWCOMERS_AGGREGATE, /* over it their /24 or /48 is charged */
	RF_NEWCOMERS_CHALLENGE, /* over it they are dropped, unless they can prove their address */
};

/*
 * Answers to newcomers. Besides the limit on all of them, each prefix, a /24 or /48, has a limit in
 * each period of 2^(tick_shift + 1) jiffies, about a second. A prefix shares its place with others:
 * a flood of 2M packets/s from random sources adds 128 answers per period to each.
 */
#define RF_ANSWER_PLACES_LOG 14
#define RF_ANSWER_PLACES (1U << RF_ANSWER_PLACES_LOG)
#define RF_ANSWERS_PER_PREFIX 256
#define RF_ANSWERS_DEFAULT 1000000 /* per second */
#define RF_DNS_PORTS_MAX 4	   /* at which queries are answered */
#define RF_DNS_PORT_DEFAULT 53
#define RF_OWN_MACS_MAX 64

#define RF_AGGREGATES 1000 /* windows of prefixes, in each set */
#define RF_AGGREGATE_SETS (2 * RF_LIMITS_MAX)
/* Their prefixes, /24 and /48, as masks of rf_who.source[0]. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define RF_AGGREGATE_MASK4 0x00ffffffULL
#define RF_AGGREGATE_MASK6 0x0000ffffffffffffULL
#define RF_AGGREGATE_IPV6 \
	0x8000000000000000ULL /* in the slot reference of their windows, see rf_source */
#else
#define RF_AGGREGATE_MASK4 0xffffff00ULL
#define RF_AGGREGATE_MASK6 0xffff0000ffffffffULL
#define RF_AGGREGATE_IPV6 0x0000800000000000ULL
#endif

/*
 * Value of `known_filter`: sources that have a window, as a Bloom filter of 64 counters, which
 * recognizes a newcomer without a look-up among the windows. ringfence/known_filter.h.
 */
struct rf_known_filter {
	__u64 count[8];
};

/* ---- configuration ---- */

enum rf_algorithm {
	RF_SLIDING,
	RF_FIXED, /* one cell: aligned windows */
	RF_LOG,	  /* the times of the last admissions */
	RF_TOKEN, /* token bucket */
	RF_LEAKY, /* leaky bucket as a meter: the same, by another name and another default burst */
};

/* Of RF_SLIDING: what happens to the cell that lies on the window's edge. */
enum rf_edge {
	RF_EDGE_STRICT,	  /* it counts in full: the cells reach over W by one */
	RF_EDGE_COARSE,	  /* it does not count: the cells are W */
	RF_EDGE_WEIGHTED, /* it counts by the part of it that is still inside W */
};

enum rf_unit {
	RF_PACKETS,
	RF_BYTES, /* of the frame, with its Ethernet header */
};

enum rf_clock {
	RF_JIFFIES,
	RF_KTIME,
};

#define RF_SHADOW (1U << 0)	    /* count what would be dropped, pass it */
#define RF_COUNT_REJECTED (1U << 1) /* refused packets use up the window as well */
#define RF_EXACT (1U << 2)	    /* no credits, no loans: each packet that passes is charged */
#define RF_OTHER_SET (1U << 3)	    /* of a policy: its slot's second set in `aggregates` */
#define RF_BAN_ALL (1U << 4)	    /* all packets of a banned source are dropped */
#define RF_FLEET (1U << 5)	    /* one limit over many hosts, see share.h */
/*
 * For a policy with RF_FLEET: windows of its id might have admitted under a different definition. A
 * closing cell is therefore clipped by the largest L, and not by the limit of this definition.
 */
#define RF_FLEET_CHANGED (1U << 6)
#define RF_BANS_BY_SUM (1U << 7) /* of a policy with RF_FLEET and a ban, see share_ban.h */
#define RF_LENDS (1U << 8)	 /* of a policy: its windows grant loans, see loan.h */
/* Only in a limit, with RF_FLEET: */
#define RF_INITIAL_GIVEN (1U << 28)   /* `first` was written; else it follows from `hosts` */
#define RF_OFFLINE_INITIAL (1U << 29) /* an offline host passes `first`; otherwise `alone` */
/* Only in a limit: how its figures were written, and so how they are printed. */
#define RF_RATE_IN_BITS (1U << 30)
#define RF_BURST_IN_BITS (1U << 31)

/* Which packets a limit matches. */
enum rf_match {
	RF_MATCH_ANY,
	RF_MATCH_TCP,
	RF_MATCH_SYN, /* TCP with SYN and without ACK */
	RF_MATCH_UDP,
	RF_MATCH_ICMP, /* ICMP and ICMPv6 */
	RF_MATCH_PROTOCOL,
	RF_MATCH_OTHER, /* packets without a source to charge: not IP, or RF_NEIGHBOUR */
};

/*
 * A limit as the user wrote it, except for its ports, which are in `ports`, and the prefixes of its
 * `from`, which are in the tries. Cold: the data path reads only `since_generation`, and that
 * seldom.
 */
struct rf_limit {
	char name[RF_NAME_SIZE];
	__u64 rate;	 /* L, in `unit`; 0: all that it matches is dropped */
	__u64 window_ns; /* W */
	__u64 burst;	 /* of RF_TOKEN and RF_LEAKY, in `unit`; 0 for the others */
	__u64 ban_ns;	 /* 0: none */
	/*
	 * RF_SHADOW | RF_COUNT_REJECTED | RF_EXACT | RF_BAN_ALL | RF_FLEET, and flags only of
	 * limits
	 */
	__u32 flags;
	__u8 algorithm; /* enum rf_algorithm */
	__u8 edge;	/* enum rf_edge */
	__u8 unit;	/* enum rf_unit */
	__u8 cells;
	__u8 per4; /* prefix lengths that group the sources */
	__u8 per6;
	__u8 match;		/* enum rf_match */
	__u8 protocol;		/* of RF_MATCH_PROTOCOL */
	__u8 has_ports;		/* only those destination ports that `ports` has for it */
	__u8 has_from;		/* only sources within prefixes that name it */
	__u8 order;		/* its position in configuration order; equal: by slot */
	__u8 has_sports;	/* only those source ports that `ports` has for it */
	__u32 since_generation; /* the generation in which its slot, with its counters, became its
				   own */
	__u16 length_min;	/* only frames of these lengths; */
	__u16 length_max;	/* 0: of any */
	__u8 tcp_flags;		/* only TCP with these flags out of tcp_mask; */
	__u8 tcp_mask;		/* 0: any packets */
	__u8 has_to;		/* only destinations within prefixes of rf_shapes that name it */
	__u8 reserved;
	/* N: of N packets over the limit, which are DNS queries, one is answered; 0: none is. */
	__u16 truncate_one_in;
	__u8 reserved_more[2];
	/* Of RF_FLEET, in `unit`: */
	__u64 first; /* with RF_INITIAL_GIVEN: the amount that a host passes without a share; else 0
		      */
	__u64 alone; /* L while the host is offline; 0: `rate`, or see RF_OFFLINE_INITIAL */
	__u64 definition; /* a hash that is the same on all hosts; set by the commit */
};

/* The same limit as the data path wants it: masks for lengths, clock units for nanoseconds. */
struct rf_policy {
	__u32 id;    /* never reused; 0: the slot is free */
	__u32 limit; /* L in units, at most RF_LIMIT_MAX; RF_TOKEN and RF_LEAKY: burst */
	/*
	 * Largest L under which any window of this id might have admitted. A lost race leaves
	 * `used` above the admitted amount, so a closing cell is clipped; clipping by a lowered L
	 * would forget admissions under the old one. ~0 with RF_COUNT_REJECTED, which counts them
	 * intentionally.
	 */
	__u32 clip;
	__u32 flags; /* RF_SHADOW to RF_LENDS */
	/*
	 * Length of a cell in 2^-time_shift units of `clock`, at least 1. RF_LOG: W. RF_TOKEN and
	 * RF_LEAKY: what one unit takes to flow, in 2^-(RF_BUCKET_SHIFT + scale) ns.
	 */
	__u64 cell;
	union {
		__u64 depth; /* RF_TOKEN and RF_LEAKY: what `burst` takes to flow, in 1/16 ns */
		struct {     /* RF_FLEET, in units: */
			__u32 first; /* what passes without a share */
			__u32 alone; /* L while the host is offline; `first` at least */
		};
	};
	__u64 ban; /* in jiffies; 0: none */
	__u8 algorithm;
	__u8 edge;
	__u8 cells; /* that count in full: N, N - 1 if weighted, 1 for RF_FIXED */
	__u8 clock; /* enum rf_clock */
	__u8 unit;
	__u8 unit_shift; /* RF_BYTES: log2 of the bytes in a unit of L */
	/*
	 * Binary places, to fit a product into 64 bits. RF_EDGE_WEIGHTED: how many of `cell` and of
	 * a time are dropped; RF_TOKEN and RF_LEAKY: how many `cell` has beyond 1/16 ns.
	 */
	__u8 scale;
	__u8 counters;	 /* its index in `limit_counters` */
	__u8 time_shift; /* of windows of cells; 0 if weighted */
	__u8 used_shift; /* of windows of cells: log2 of the units in which the ring counts */
	/* Log2 of jiffies, see loan.h: a frame of a loan, 0 if there are none; a period. */
	__u8 loan_frame;
	__u8 loan_period;
	__u32 since_generation; /* the generation in which `id` was new, for pending counts of older
				   windows */
	__be32 mask4;
	__be32 mask6[4];
	__u32 tag; /* RF_FLEET: of the definition, see rf_tag_of(); a share counts only under its */
};

/* Which parts of a bank are in use. */
#define RF_BANK_PORTS (1U << 0)	    /* some limit has ports */
#define RF_BANK_PREFIXES4 (1U << 1) /* the trie of IPv4 is not empty */
#define RF_BANK_PREFIXES6 (1U << 2)
#define RF_BANK_NO_LEASE6 (1U << 3)	  /* a limit groups by more than a lease's /64 */
#define RF_BANK_DROPS_NEWCOMERS (1U << 4) /* a refused newcomer can be dropped immediately */
#define RF_BANK_IN_FORCE (1U << 5)	  /* some limit is no shadow, or some prefix is denied */
#define RF_BANK_BANS_ALL (1U << 6)	  /* some limit bans with RF_BAN_ALL */
/*
 * Its tries are being changed in place, or such a change was killed: values of prefixes might not
 * match the surrounding ones. The next change builds new tries.
 */
#define RF_BANK_IN_DOUBT (1U << 7)
#define RF_BANK_SHAPES (1U << 8) /* some limit matches the source port or the length */

/* What applies once the deadline of a bank has come. */
enum rf_fallback {
	RF_FALL_BACK, /* the other bank's rules, the ones before */
	RF_FALL_OPEN, /* everything passes */
};

/* The guard: how many newcomers get a window, and what happens to the others. */
struct rf_newcomers {
	__u64 rate; /* as the user wrote it */
	__u64 window_ns;
	__u32 then; /* enum rf_newcomers_then */
	__u8 guard; /* index into rf_config.guard */
	/* With DROP or CHALLENGE: packets of a TCP connection of this host are not dropped. */
	__u8 except_established;
	/* Of RF_NEWCOMERS_CHALLENGE: */
	__u8 dns_ports; /* entries of `dns_port` in use */
	__u8 reserved;
	__u16 dns_port[RF_DNS_PORTS_MAX];
	__u64 answers; /* how many in `answers_ns`, as the user wrote it */
	__u64 answers_ns;
	struct rf_policy policy;
	struct rf_policy answers_policy;
};

/* The bits of a source that distinguish windows. */
struct rf_grouping {
	__be32 mask4;
	__be32 mask6[4];
};

enum rf_kin_state {
	RF_KIN_IN_FORCE,    /* or will be, if rules are reverted */
	RF_KIN_UNCONFIRMED, /* of unconfirmed rules only: over once these are reverted */
	RF_KIN_OVER,	    /* no longer active: the slots of its windows can be taken */
};

/*
 * A limit that is active, or recently was: a source with a window under it is no newcomer to a
 * limit that does not group sources more finely. Never a shadow limit.
 */
struct rf_kin {
	__u64 until; /* jiffies, RF_FOREVER while it is active; 0: unused, or being written */
	__u32 limit_id;
	__u32 state; /* enum rf_kin_state */
	struct rf_grouping grouping;
	__u32 reserved;
};

/*
 * One complete set of rules. While it can be active, only the deadline is written, and fields that
 * depend on the lists: flags, lease masks and `listed`, before the next generation of the bank.
 */
struct rf_bank {
	__u64 deadline; /* jiffies; 0: none, the rules are confirmed */
	__u32 fallback; /* enum rf_fallback */
	__u32 flags;	/* RF_BANK_… */
	/*
	 * The bits by which a lease distinguishes sources: as finely as the finest of limits and
	 * prefixes, but no finer than an IPv6 /64.
	 */
	__u64 lease_mask6; /* two __be32, the first in the low half */
	__be32 lease_mask4;
	/* Packet class of packets with a port, by enum rf_ports_of, if no limit has ports. */
	__u8 class_of_ports[RF_PORTS_OF_MASK + 1];
	__u8 other;	 /* slot of the limit of RF_MATCH_OTHER, plus 1; 0: no such limit */
	__u8 ban_lease;	 /* jiffies: no lease repeats `banned` for longer */
	__u8 lease_span; /* jiffies: with RF_BANK_BANS_ALL no lease passes packets for longer; else
			    0 */
	__u8 reserved;
	__u8 class_of_protocol[256]; /* packet class of packets without a port */
	struct rf_packet_class packet_class[RF_PACKET_CLASSES_MAX];
	/*
	 * Bit sets of slots: the limits that can apply to sources in a prefix of that class; class
	 * 0 is for sources without a prefix. Of enforced limits that differ only in `from`, the set
	 * has the one with the longest prefix.
	 */
	__u32 prefix_class[RF_PREFIX_CLASSES_MAX];
	__u32 shadows; /* bit set of slots, as the following: */
	__u32 bans;
	__u32 bans_all;		/* those among them with RF_BAN_ALL */
	__u32 since_generation; /* the generation in which the bank got its limits */
	/* Prefixes on the allow list and the deny list, including expired ones. */
	__u32 listed[2];
	__u32 hosts; /* of the fleet, including this one; 0: unset */
	/*
	 * Bit set of slots: limits of rate 0, which drop all packets that they match and have no
	 * windows.
	 */
	__u32 rate0;
	__u32 truncates; /* bit set of slots: limits with truncate_one_in that are enforced */
	__u32 reserved_slots;
	struct rf_newcomers newcomers;
	struct rf_policy policy[RF_LIMITS_MAX];
	struct rf_limit limit[RF_LIMITS_MAX];
	struct rf_shapes shapes;
};

/*
 * The counters' values when `stats reset` ran: readers subtract them. The counters themselves
 * continue, because no other process can set those of a CPU without losing packets.
 */
struct rf_baseline {
	__u64 time_ns; /* since 1970; 0: never reset */
	struct rf_counters counters;
	struct rf_limit_counters limit[RF_LIMIT_COUNTERS_MAX]; /* by rf_policy.counters */
	struct rf_interface_counters interface[RF_INTERFACE_PLACES];
};

/*
 * An interface that is counted separately. It has one of RF_INTERFACE_PROBES places, from the place
 * of its index modulo RF_INTERFACE_PLACES on. A detached interface retains its place until another
 * one needs it.
 */
struct rf_interface_place {
	__u32 index;	 /* of the interface; 0: the place is free */
	__u32 namespace; /* of the interface, its inode; 0: interfaces of several namespaces */
	/* The index of the interface whose packets these are: for a member of a bond, the bond. */
	__u32 counts_for;
	__u32 reserved;
	struct rf_interface_counters before; /* what `interfaces` had when it got the place */
};

/*
 * The last check whether an interface's packets reach the program. Written by the command line
 * only, without a lock: `check` differs if two commands wrote at the same time.
 */
struct rf_interface_look {
	__u32 index;	  /* of the interface; 0: the place is free */
	__u32 namespace;  /* of the interface, its inode */
	__u64 time_ns;	  /* CLOCK_MONOTONIC; 0: never */
	__u64 rx_packets; /* that the interface had received */
	__u64 counted;	  /* packets that the program had counted */
	__u32 is_settled; /* no driver can still be late with packets of before */
	__u32 check;
};

/*
 * Windows of the guard: of newcomers to enforced limits, and to shadow limits only; of newcomers
 * that have proved their address, by the same policy; of responses. The alignment makes them as
 * large in a fence with shares as in one without.
 */
struct rf_guard_windows {
	struct rf_window limits __attribute__((aligned(128)));
	struct rf_window shadows __attribute__((aligned(128)));
	struct rf_window proofs __attribute__((aligned(128)));
	struct rf_window answers __attribute__((aligned(128)));
};

#define RF_PINNED_PROGRAMS 12 /* a cache line, together with the preceding members */

/*
 * Whose configuration this is, for those who may open its pin and not a program by its id. Written
 * by the command line, of a fence that has pins. In its place for good.
 */
struct rf_pinned {
	__u32 magic; /* RF_ABI_MAGIC; 0: no pins */
	__u32 abi;
	__u64 layout;			      /* RF_ABI_LAYOUT */
	__u32 program_id[RF_PINNED_PROGRAMS]; /* its entries, and those before an upgrade; 0: none
					       */
};

/*
 * Value of `config`, mapped into the command line's memory. `active` is the switch: its lowest bit
 * selects the active bank, all of it is the generation. It is the only word that changes
 * concurrently with the data path, so a packet sees the old rules or the new ones and never a
 * mixture. Past the deadline of the active bank, if that is rolled back, the active generation is
 * `active` - 1.
 */
struct rf_config {
	struct rf_pinned pinned;
	__u64 active;
	__u64 injected_ns; /* see rf_rodata.injected_clock */
	/*
	 * Location of a source's lease: its hash by a secret key, shifted right, is its first place
	 * of this CPU's 2^(64 - lease_shift). The next candidates are the other place of the same
	 * line, and the others of the same set. 0: no leases yet. The same key selects its place in
	 * `known_filter`, of 2^(64 - known_filter_shift) lines, and in `aggregates`.
	 */
	__u64 lease_key[3];
	__u32 lease_shift;
	__u32 known_filter_shift; /* 0: no filter */
	/* Work after the verdict. */
	union {
		__u64 after_verdict; /* 0: nothing */
		struct {
			/* Packets are counted by interface as well; never cleared. */
			__u16 by_interface;
			__u16 is_sampling; /* 0: no; else see packet_sample.h */
			/* A bank examines newcomers instead of dropping them, see bpf/examine.h. */
			__u16 is_examining;
			/* The least rf_limit.truncate_one_in of its limits; 0: no limit truncates.
			 */
			__u16 truncate_one_in;
		};
	};
	__u64 paused_until; /* jiffies: no packet is dropped until then; 0: not paused */
	struct rf_slot_times times;
	__u32 slots;	   /* of a family */
	__u32 slot_stride; /* from one slot that is looked at to the next */
	__u32 next_limit_id;
	__u32 tick_ns; /* length of a jiffy; 0: not measured, no limit was ever set */
	struct rf_clock_reading base; /* both clocks at the start of one jiffy */
	char name[RF_NAME_SIZE];      /* the fence's; empty: it is called after its interface */
	struct rf_bank bank[2];
	/* Limits whose windows make a source known, and the groupings under which the known filter
	 * has it. */
	__u32 kin_count;
	__u32 groupings; /* 0: too many, so the filter is not sufficient */
	struct rf_grouping grouping[RF_GROUPINGS_MAX];
	struct rf_kin kin[RF_KIN_MAX];
	/* For IPv4 and IPv6, by all CPUs. Written under a flood: a separate line for each. */
	struct {
		__u64 hand; /* where the next slot is looked for */
		__u64 residents;
		/* Jiffies when a sibling, or a source with an open connection, was last left
		 * without a window; 0: never. */
		__u64 left_out;
		/* When a window that might have lent was last evicted, in jiffies; 0: never. */
		__u64 lenders_evicted;
	} __attribute__((aligned(64))) room[2];
	struct rf_guard_windows guard[2];
	/* The lowest bit of `resets`, their number, names the baseline in use. */
	__u64 resets;
	struct rf_baseline baseline[2];
	struct rf_interface_place interface[RF_INTERFACE_PLACES];
	struct rf_sampling sampling;
	struct rf_shape_tables shape_tables[2]; /* of each bank; not in it, which is often copied */
	struct rf_fleet fleet;
	struct rf_sampling_count sampling_count[RF_SAMPLING_CPUS];
	struct rf_interface_look look[RF_INTERFACE_PLACES];
	struct rf_owners owners; /* of both banks */
	/*
	 * The Ethernet addresses of the namespace's interfaces, in the low 48 bits, the first byte
	 * lowest: where forwarding is off, a packet to any other is not for this host.
	 */
	__u32 own_macs;
	__u32 reserved_macs;
	__u64 own_mac[RF_OWN_MACS_MAX];
} __attribute__((aligned(64)));

#endif /* RINGFENCE_ABI_H */
