/* SPDX-License-Identifier: GPL-2.0 */
/* The names of a fence's objects, in the kernel and as pins. A map is pinned under its name. */
#ifndef RINGFENCE_NAMES_H
#define RINGFENCE_NAMES_H

#include <stdint.h>

#include "base/mode.h"

#define RF_BPFFS "/sys/fs/bpf"
#define RF_PIN_ROOT "/sys/fs/bpf/ringfence"
#define RF_SHARE_ROOT "/run/ringfence" /* a bpffs of our own, which the group may search */
#define RF_GROUP "ringfence"	       /* its members may read fences */
#define RF_PROGRAM_TAG_SIZE 8

enum rf_map {
	RF_MAP_WINDOWS4,
	RF_MAP_WINDOWS6,
	RF_MAP_SLOTS4,
	RF_MAP_SLOTS6,
	RF_MAP_CONFIG,
	RF_MAP_LEASES,
	RF_MAP_LEASE_TAGS,
	RF_MAP_PORTS,
	RF_MAP_PREFIXES4,
	RF_MAP_PREFIXES6,
	RF_MAP_KNOWN_FILTER,
	RF_MAP_AGGREGATES,
	RF_MAP_ANSWERS,
	RF_MAP_BANS,
	RF_MAP_COUNTERS,
	RF_MAP_LIMIT_COUNTERS,
	RF_MAP_INTERFACES,
	RF_MAP_SAMPLES,
	RF_MAP_COUNT,
};

extern const char *const rf_map_names[RF_MAP_COUNT];
/* The name of a map in the object file. There the configuration has the name of its section. */
const char *rf_map_in_object(enum rf_map map);

enum rf_entry {
	RF_PLAIN, /* frames in one buffer */
	RF_FRAGS, /* frames in several buffers, for a jumbo MTU; Linux 5.18 */
	RF_ENTRY_COUNT,
};

/* The names of the entries in the object, and so in the kernel; and the names of their pins. */
extern const char *const rf_entry_names[RF_ENTRY_COUNT];
extern const char *const rf_entry_pins[RF_ENTRY_COUNT];

/* Iterators, by family, from whose pins live counters are read. */
enum rf_iterator {
	RF_SHOW_STATS, /* text */
	RF_SHOW_SOURCES4,
	RF_SHOW_SOURCES6,
	RF_SHOW_ACTIVE4, /* struct rf_window_record of windows possibly charged in the last 4 s */
	RF_SHOW_ACTIVE6,
	RF_SHOW_ACTIVE64_4, /* in 64 s */
	RF_SHOW_ACTIVE64_6,
	RF_SHOW_WINDOWS4, /* of all */
	RF_SHOW_WINDOWS6,
	RF_SHOW_PENDING, /* struct rf_lease of leases that hold packets */
	RF_ITERATOR_COUNT,
};

extern const char *const rf_iterator_pins[RF_ITERATOR_COUNT];

/* What only a fence with shares has, under these names in the object and as pins. */
enum rf_share_pin {
	RF_SHARE_CALL,	/* the program of include/ringfence/fleet_call.h */
	RF_SHARE_BATCH, /* its map */
	RF_SHARE_ASKS,	/* the ring buffer */
	RF_SHARE_PIN_COUNT,
};

extern const char *const rf_share_pins[RF_SHARE_PIN_COUNT];

/* The flags to attach a program in that mode. */
uint32_t rf_xdp_flags(enum rf_mode mode);

#endif /* RINGFENCE_NAMES_H */
