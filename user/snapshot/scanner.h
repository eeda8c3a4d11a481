/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of the scanner share; nobody else includes this. */
#ifndef RINGFENCE_SCANNER_H
#define RINGFENCE_SCANNER_H

#include "snapshot/follow.h"
#include "snapshot/known.h"
#include "snapshot/snapshot.h"

/* An interface, as the scan before saw it. */
struct rf_interface_watch {
	struct rf_interface_look look; /* index 0: none */
	uint64_t counted;	       /* packets that the program had counted */
	uint64_t rx_packets;	       /* of this scan, read before its counters */
};

struct rf_scanner {
	struct rf_fence fence;
	char identity[RF_IDENTITY_SIZE];
	uint64_t scanned_ns; /* by rf_time_awake(); 0: never */
	uint64_t whole_ns;   /* when all windows were read last */
	struct rf_known_list known;
	struct rf_follow follow;
	bool has_followers; /* somebody takes the cells */
	struct rf_interface_watch interface[RF_SNAPSHOT_INTERFACES];
	/* What the windows that newcomers share had, by their places. */
	struct rf_aggregate_told *aggregate; /* RF_AGGREGATE_SETS of RF_AGGREGATES; NULL: not yet */
};

struct rf_aggregate_told {
	uint32_t limit_id;
	uint64_t count[RF_KINDS];
};

/*
 * Reads the sources and what is new of each since the scan before, and how long ago that was
 * (scan_sources.c). The snapshot has its time and the bans.
 */
int rf_scan_sources(struct rf_scanner *scanner, struct rf_snapshot *snapshot,
		    struct rf_error *error);

/*
 * Do the packets of each interface meet the program (scan_interfaces.c)? What they received is read
 * before the counters of the fence, and compared after.
 */
void rf_scan_received(struct rf_scanner *scanner);
void rf_scan_interfaces(struct rf_scanner *scanner, struct rf_snapshot *snapshot);

#endif /* RINGFENCE_SCANNER_H */
