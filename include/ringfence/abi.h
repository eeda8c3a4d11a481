/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The contract between the XDP program and everything that reads or sets its maps: keys, values,
 * names, version. Plain data in fixed-width types, UAPI headers only, no code: it is included by
 * BPF and by user space alike. Integers are in host order, except for addresses (__be32).
 *
 * Whoever changes the size or the meaning of anything here raises RF_ABI_VERSION: a command line
 * of another version then refuses to touch the fence.
 */
#ifndef RINGFENCE_ABI_H
#define RINGFENCE_ABI_H

#include <linux/types.h>

#define RF_ABI_MAGIC 0x46474e52U /* "RNGF" */
#define RF_ABI_VERSION 3

#define RF_CELLS 16		 /* slots of the ring; a limit may use fewer, never more */
#define RF_LIMITS_MAX 32	 /* slots for limits in one fence */
#define RF_LIMIT_MAX (1U << 31)	 /* largest L: `used` has 32 bits and must not wrap */
#define RF_COST_MAX (1U << 20)	 /* of one packet; no frame is that long */
#define RF_LOG_MAX RF_CELLS	 /* largest L of RF_LOG: a slot for the time of each */
#define RF_UNIT_SHIFT_MAX 6	 /* a unit of RF_BYTES is 64 bytes at most, the shortest frame */
#define RF_NAME_SIZE 32		 /* bytes of a limit's or a fence's name, with the final NUL */
#define RF_SOURCES_DEFAULT 65536 /* windows per address family */
#define RF_JIFFIES_CELL_MIN 16	 /* a shorter cell, in ticks, is timed in ns instead */
#define RF_LEASES_DEFAULT 131072 /* of all CPUs together */

/*
 * First thing in the program's read-only data, so that it is found at offset 0 of that map. The
 * compiled-in values must be right, since `ip` cannot set them.
 */
struct rf_rodata {
	__u32 magic;
	__u32 abi;
	__u32 injected_clock; /* tests only: time comes from rf_config.injected_ns */
	__u32 reserved;
};

/* What `bpf/clock.bpf.c` returns: both clocks of the data path, read one after the other. */
struct rf_clock_reading {
	__u64 jiffies;
	__u64 ktime_ns;
};

/* ---- windows: one per source and limit ---- */

/* What its words mean is the algorithm's; limiter.h is their only reader and writer. */
struct rf_window {
	__u64 head;
	__u64 newest; /* windows of cells: an epoch in full, which tells the laps of tags apart */
	__u64 cell[RF_CELLS];
};

struct rf_key4 {
	__be32 source; /* masked by the limit's grouping */
	__u32 limit_id;
};

struct rf_key6 {
	__be32 source[4];
	__u32 limit_id;
};

/* Value of `windows4` and `windows6`. The counters stand beside the head: one line when hot. */
struct rf_source {
	__u64 passed; /* packets, under the limit */
	__u64 dropped;
	__u64 would_drop; /* passed, over a shadow limit */
	struct rf_window window;
};

/* ---- leases: what a CPU may answer by itself ---- */

/* Whose packets, judged by which limit of which rules. */
struct rf_who {
	__u64 source[2]; /* masked, two __be32 in each, the first in the low half */
	__u32 rules;	 /* {generation:26 | slot:5 | is IPv6:1}, so a generation counts mod 2^26 */
	__u32 reserved;	 /* 0, not padding: before Linux 6.3 a program may pass on no byte unset */
};

/*
 * Half a cache line, written by its own CPU alone. bpf/lease.h says when it may answer for its
 * source; until then, and after, it only counts. As small as it can be: with many sources the price
 * of a packet is a cache miss, and the more of them fit a cache the fewer there are. What a packet
 * that it answers writes has words of its own, since a CPU waits for a word that was stored in
 * parts.
 */
struct rf_lease {
	__u64 source;		/* rf_who.source[0]; one whose source[1] is not 0 goes without */
	__u32 rules;		/* rf_who.rules */
	__u32 room : 20;	/* credits; of a refusal: what costs more is refused */
	__u32 inserts : 8;	/* rf_config.inserts, when it was made */
	__u32 spent_before : 4; /* log2 of what it passed in the cell before, see lease.h */
	__u32 packets : 31;	/* pending: not yet in any other counter */
	__u32 wanted : 1;	/* by another source, since it last answered */
	__u32 bytes;		/* pending */
	__u64 taken : 20;	/* what this CPU was charged for in its cell; as high as it goes */
	__u64 reason : 4;	/* enum rf_reason of the packets that it answers */
	__u64 until : 40;	/* in jiffies; of credits: where the cell ends that was charged */
};

#define RF_LEASE_WAYS 8

/* Value of `leases`: where a source's may be, in four cache lines. */
struct rf_lease_set {
	struct rf_lease way[RF_LEASE_WAYS];
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
#define RF_COUNT_REJECTED (1U << 1) /* what is refused uses up the window as well */
#define RF_EXACT (1U << 2)	    /* no credits: each packet that passes is charged by itself */

/* A limit as the user wrote it. Cold: the data path reads none of it but, seldom, `born`. */
struct rf_limit {
	char name[RF_NAME_SIZE];
	__u64 rate;	 /* L, in `unit` */
	__u64 window_ns; /* W */
	__u64 burst;	 /* of RF_TOKEN and RF_LEAKY, in `unit`; 0 for the others */
	__u32 flags;	 /* RF_SHADOW | RF_COUNT_REJECTED | RF_EXACT */
	__u8 algorithm;	 /* enum rf_algorithm */
	__u8 edge;	 /* enum rf_edge */
	__u8 unit;	 /* enum rf_unit */
	__u8 cells;
	__u8 per4; /* prefix lengths that group the sources */
	__u8 per6;
	__u8 reserved[2];
	__u32 born; /* the generation in which its slot, with its counters, became its own */
};

/* The same limit as the data path wants it: masks for lengths, clock units for nanoseconds. */
struct rf_policy {
	__u32 id;    /* never used again once given; 0: the slot is free */
	__u32 limit; /* L in units, at most RF_LIMIT_MAX; RF_TOKEN and RF_LEAKY: burst */
	/*
	 * Largest L under which any window of this id may have admitted. A lost race leaves `used`
	 * above what was admitted, so a closing cell is clipped; to clip by a lowered L would
	 * forget what was admitted under the old one. ~0 with RF_COUNT_REJECTED, which means it.
	 */
	__u32 clip;
	__u32 flags; /* RF_SHADOW | RF_COUNT_REJECTED | RF_EXACT */
	/*
	 * Length of a cell in units of `clock`, at least 1. RF_LOG: W. RF_TOKEN and RF_LEAKY: what
	 * one unit takes to flow, in 2^-(RF_BUCKET_SHIFT + scale) ns.
	 */
	__u64 cell;
	__u64 depth; /* RF_TOKEN and RF_LEAKY: what `burst` takes to flow, in 1/16 ns */
	__u8 algorithm;
	__u8 edge;
	__u8 cells; /* that count in full: N, N - 1 if weighted, 1 for RF_FIXED */
	__u8 clock; /* enum rf_clock */
	__u8 unit;
	__u8 unit_shift; /* RF_BYTES: log2 of the bytes in a unit of L */
	/*
	 * Binary places, so that a product fits 64 bits. RF_EDGE_WEIGHTED: how many of `cell` and
	 * of a time are left out; RF_TOKEN and RF_LEAKY: how many `cell` has beyond 1/16 ns.
	 */
	__u8 scale;
	__u8 reserved;
	__u32 born; /* the generation in which `id` was new, for what is pending of older windows */
	__be32 mask4;
	__be32 mask6[4];
};

/* One whole set of rules. While it is active nobody writes it. */
struct rf_bank {
	__u64 match_any; /* bit set of the slots whose limit fits every packet */
	struct rf_policy policy[RF_LIMITS_MAX];
	struct rf_limit limit[RF_LIMITS_MAX];
};

/*
 * Value of `config`, mapped into the command line's memory. `active` is the switch: its lowest bit
 * names the bank in force, the whole of it is the generation. It is the one word that changes
 * under the data path, so a packet sees the old rules or the new ones and never a mixture.
 */
struct rf_config {
	__u64 active;
	__u64 injected_ns; /* see rf_rodata.injected_clock */
	__u32 next_limit_id;
	__u32 tick_ns; /* length of a jiffy; 0: not measured, no limit was ever set */
	struct rf_clock_reading base; /* both clocks at the start of one jiffy */
	char name[RF_NAME_SIZE];      /* the fence's; empty: it is called after its interface */
	/*
	 * Where a source's lease is: its hash by a key that nobody outside knows, shifted right, is
	 * its first place of this CPU's 2^(64 - lease_shift). Then come the other one of the same
	 * line, and the others of the same set. 0: no leases yet.
	 */
	__u64 lease_key[3];
	__u32 lease_shift;
	__u32 lease_inserts; /* a lease ends when `inserts` has grown by so much */
	__u32 inserts_mask;  /* windows that a CPU inserts until it adds one to that, less 1 */
	__u32 reserved;
	struct rf_bank bank[2];
	/* Of windows, by all CPUs. Written under a flood: its own line. */
	__u64 inserts __attribute__((aligned(64)));
} __attribute__((aligned(64)));

/* ---- counters: per CPU, exact once traffic stops ---- */

/* Why a packet was passed or dropped. Every packet has exactly one reason. */
enum rf_reason {
	RF_UNDER_LIMIT, /* passed: charged, and there was room */
	RF_SHADOW_OVER, /* passed: over the limit, which is only a shadow */
	RF_NO_LIMIT,	/* passed: no limit is set */
	RF_NON_IP,	/* passed: ARP, LACP, LLDP … */
	RF_NEIGHBOUR,	/* passed: IPv6 neighbour discovery and router messages */
	RF_MALFORMED,	/* passed: no whole IP header, so no source to charge */
	RF_DEEP_VLAN,	/* passed: more than two VLAN tags */
	RF_MAP_ERROR,	/* passed: its window could not be had (see enum rf_map_error) */
	RF_OVER_LIMIT,	/* dropped */
	RF_CONTENDED,	/* dropped: too many lost races for its window */
	RF_REASON_COUNT,
	RF_FIRST_DROP = RF_OVER_LIMIT,
};

/* What the windows map answered to an insert, or failed to. */
enum rf_map_error {
	RF_INSERT_BUSY,	 /* -EBUSY */
	RF_INSERT_NOMEM, /* -ENOMEM */
	RF_INSERT_FULL,	 /* -E2BIG */
	RF_INSERT_OTHER, /* any other error of an insert */
	RF_WINDOW_LOST,	 /* inserted, and evicted before it was looked up again */
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
	__u64 inserts; /* windows of newcomers */
};

/* Value of `limit_counters`, indexed by the limit's slot. */
struct rf_limit_counters {
	struct rf_count passed;
	struct rf_count dropped;
	struct rf_count would_drop; /* passed, by a shadow limit */
};

#endif /* RINGFENCE_ABI_H */
