/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packet classes, and the tables that determine the class of a packet: a part of the contract in
 * abi.h.
 */
#ifndef RINGFENCE_PACKET_CLASS_H
#define RINGFENCE_PACKET_CLASS_H

#include <linux/types.h>

#define RF_PACKET_CLASSES_MAX 256 /* kinds of packets, by the limits that can match them */
#define RF_PORTS 65536
#define RF_LENGTHS 65536 /* of frames; a longer one counts as the longest */
#define RF_TO_MAX 8	 /* prefixes of `to` in a bank, of each family */
#define RF_TO_ENTRIES 16 /* room for them and for one that matches all, a power of two */
#define RF_TO_HASH_LOG 8
#define RF_TCP_FLAGS_CUT 256 /* in place of TCP flags that are cut off: as a SYN */
#define RF_TCP_FLAGS 257
#define RF_SHAPE_HASH_LOG 12

/* Packets that the same limits can match, as far as protocol and port determine. */
struct rf_packet_class {
	__u32 limits;	 /* bit set of slots */
	__u8 unit;	 /* enum rf_unit of all of these; RF_BYTES if they differ */
	__u8 unit_shift; /* the same */
	__u8 is_mixed;	 /* they differ in unit or unit_shift: no credits */
	__u8 by_shape;	 /* RF_SHAPE_…: if not 0, `limits` is 0, and these determine the class */
};

/* Parts of a packet's shape, see struct rf_shapes. */
#define RF_SHAPE_SPORT (1U << 0)
#define RF_SHAPE_TO (1U << 1)
#define RF_SHAPE_LENGTH (1U << 2)
#define RF_SHAPE_FLAGS (1U << 3)

/* Classes of packets that have a destination port. */
enum rf_ports_of {
	RF_PORTS_TCP, /* except for RF_PORTS_SYN */
	RF_PORTS_SYN,
	RF_PORTS_UDP,
	RF_PORTS_OF_COUNT,
	RF_PORTS_OF_MASK = 3, /* bits that hold one of them */
};

/*
 * Value of `ports`, one for each bank: the class by the destination port, which is read only if
 * RF_BANK_PORTS is set.
 */
struct rf_ports {
	__u8 packet_class[RF_PORTS_OF_COUNT][RF_PORTS];
};

/* Indexes into tables of rf_shapes, one for each bank. Read only if RF_BANK_SHAPES is set. */
struct rf_shape_tables {
	__u8 sport[RF_PORTS];	 /* into sport_limits */
	__u8 length[RF_LENGTHS]; /* into length_limits */
};

/* A prefix that limits name by `to`. */
struct rf_to4 {
	__be32 address;
	__be32 mask;
	__u32 limits; /* bit set of slots: the limits that can match packets to this prefix */
	__u32 own;    /* the same: the limits that name it; 0: the entry is free */
};

struct rf_to6 {
	__u64 address[2]; /* two __be32 in each, the first in the low half */
	__u64 mask[2];
	__u32 limits;
	__u32 own;
};

/*
 * How a destination finds its prefix: a few of its bits, which distinguish prefixes that do not
 * contain each other, select the longest that can match; `next` is the enclosing one. RF_TO_MAX
 * matches all. Words as in rf_to6; IPv4 uses only the first.
 */
struct rf_to_search {
	__u64 bits[2];
	__u64 factor[2]; /* the index is their products' sum >> (64 - RF_TO_HASH_LOG) */
	__u8 first[1 << RF_TO_HASH_LOG];
	__u8 next[RF_TO_ENTRIES];
};

/*
 * A packet's shape: source port, destination address, length and TCP flags. If protocol and
 * destination port select a class with `by_shape`, each part of the shape yields a bit set of
 * limits, which includes all limits that do not match this part. The remaining `candidates` name
 * the class.
 */
struct rf_shapes {
	__u32 candidates[RF_PACKET_CLASSES_MAX]; /* of the classes with by_shape; else 0 */
	__u32 with_sport;			 /* limits that match it, as a bit set of slots */
	__u32 with_to;
	__u32 with_length;
	__u32 with_flags;
	__u32 sport_limits[256];
	__u32 length_limits[256];
	__u32 flags_limits[RF_TCP_FLAGS];
	__u32 reserved;
	struct rf_to4 to4[RF_TO_ENTRIES]; /* the longest first */
	struct rf_to6 to6[RF_TO_ENTRIES];
	struct rf_to_search search4;
	struct rf_to_search search6;
	/* No two sets that occur share the index (set * factor) >> (64 - RF_SHAPE_HASH_LOG). */
	__u64 factor;
	__u8 packet_class[1 << RF_SHAPE_HASH_LOG];
};

#endif /* RINGFENCE_PACKET_CLASS_H */
