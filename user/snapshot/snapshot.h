/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The result of a scan of a fence, as plain data: the only input of history, events, metrics and
 * the page.
 */
#ifndef RINGFENCE_SNAPSHOT_H
#define RINGFENCE_SNAPSHOT_H

#include "fence/bypass.h"
#include "fence/fence.h"
#include "ringfence/fleet.h"
#include "snapshot/cells.h"
#include "snapshot/sources.h"
#include "snapshot/totals.h"

/*
 * ---- the fleet ----
 *
 * The state of the fleet that a fence belongs to. Whether reports arrive is read from the fence, so
 * it is also correct if the agent is dead or hangs. All other fields are from the agent's status
 * file, which members of the group can read.
 */

#define RF_AGENT_STALE_NS 5000000000ULL /* after that long without a report, the agent is down */
#define RF_TROUBLE_SIZE 160

struct rf_agent_seen {
	bool is_up;	      /* its report is recent */
	bool is_settled;      /* connected, the fleet server has learned: it knows all members */
	uint64_t started_ns;  /* by rf_time_awake(): differs for each agent */
	uint64_t grace_ns;    /* silence after which the host is offline */
	uint32_t hosts, slot; /* of the fleet; of this host */
	uint64_t member[RF_FLEET_HOSTS_MAX / 64]; /* a bit for each slot */
	uint64_t shares, contested;		  /* sources */
	uint64_t asks_sent, asks_put_off;
	uint64_t alone_times, alone_ns;
	char trouble[RF_TROUBLE_SIZE]; /* with the engine; "": none */
};

struct rf_fleet_seen {
	uint32_t limits; /* of the fleet; 0: the fields below have no meaning */
	struct rf_fleet_standing standing;
	struct rf_agent_seen agent;
};

/* `text` is the agent's report, not trusted. If it is invalid, the agent is not up. Pure. */
void rf_agent_read(struct rf_agent_seen *agent, const char *text, uint64_t now_ns);
uint32_t rf_agent_members(const struct rf_agent_seen *agent);

/* ---- a snapshot ---- */

#define RF_IDENTITY_SIZE 64

#define RF_SNAPSHOT_INTERFACES RF_INTERFACE_PLACES

/* An interface of the fence, and whether its packets meet the program. */
struct rf_interface_seen {
	char name[IF_NAMESIZE];
	struct rf_bypass bypass;
};

struct rf_snapshot {
	char fence[RF_NAME_SIZE];
	/* Differs if the fence was created again, with counters of 0. */
	char identity[RF_IDENTITY_SIZE];
	uint64_t time_ns;  /* since 1970, at the start of the scan */
	uint64_t awake_ns; /* the same moment by rf_time_awake() */
	uint64_t since_ns; /* since the scan before; 0: this is the first one */
	struct rf_standing standing;
	struct rf_bans bans;	   /* with the active rules */
	struct rf_fence_sums sums; /* since the fence was made, regardless of `stats reset` */
	/* Sources used in the last seconds, and banned ones; the first scan has all. Sorted by
	 * rf_source_row_compare(). */
	struct rf_source_rows sources;
	struct rf_cells_row *cells; /* that were read since the scan before, see below */
	size_t cells_count;
	uint32_t capacity; /* windows of a family */
	struct rf_fleet_seen fleet;
	struct rf_interface_seen interface[RF_SNAPSHOT_INTERFACES];
	int interfaces;
};

/* A scan after the other, of one fence. */
struct rf_scanner;

/* Opens the fence on an interface. NULL after an error. */
struct rf_scanner *rf_scanner_open(const char *interface, struct rf_error *error);
void rf_scanner_close(struct rf_scanner *scanner);
const struct rf_fence *rf_scanner_fence(const struct rf_scanner *scanner);

/* -ENODEV: the fence was detached. Free the snapshot even after an error. */
int rf_scan(struct rf_scanner *scanner, struct rf_snapshot *snapshot, struct rf_error *error);
void rf_snapshot_free(struct rf_snapshot *snapshot);

/*
 * From now on, the cells of the sources that matter most are read, and of the sample that the key,
 * three odd words, draws; NULL: no longer.
 */
void rf_scanner_follow(struct rf_scanner *scanner, const __u64 *key);
/* When cells must be read before the next scan, by rf_time_awake(); UINT64_MAX: never. */
uint64_t rf_scanner_cells_due_ns(const struct rf_scanner *scanner);
/*
 * Reads them. If there are too many to wait for the next scan, returns true and hands them over:
 * the caller frees them.
 */
bool rf_scanner_read_cells(struct rf_scanner *scanner, struct rf_cells_row **cells, size_t *count);

#endif /* RINGFENCE_SNAPSHOT_H */
