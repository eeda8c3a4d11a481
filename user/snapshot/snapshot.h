/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What one scan of a fence found. Plain data: history, events, metrics and the page are made from
 * it alone.
 */
#ifndef RINGFENCE_SNAPSHOT_H
#define RINGFENCE_SNAPSHOT_H

#include "fence/bypass.h"
#include "fence/fence.h"
#include "ringfence/fleet.h"
#include "snapshot/cells.h"
#include "snapshot/sources.h"

/*
 * ---- the fleet ----
 *
 * What a scan sees of the fleet that a fence is in. Whether the fence hears it is read from the
 * fence itself, so it is true also where the agent is dead or stuck. All else is what the agent
 * tells in its file, which members of the group may read.
 */

#define RF_AGENT_STALE_NS 5000000000ULL /* an agent that has told nothing for so long is none */
#define RF_TROUBLE_SIZE 160

struct rf_agent_seen {
	bool is_up;	      /* it has told this lately */
	bool is_settled;      /* it hears the engine, which has learned: it knows all members */
	uint64_t started_ns;  /* by rf_time_awake(): another one is another agent */
	uint64_t grace_ns;    /* silence after which the host is alone */
	uint32_t hosts, slot; /* of the fleet; of this host */
	uint64_t member[RF_FLEET_HOSTS_MAX / 64]; /* a bit for each slot */
	uint64_t shares, contested;		  /* sources */
	uint64_t asks_sent, asks_put_off;
	uint64_t alone_times, alone_ns;
	char trouble[RF_TROUBLE_SIZE]; /* with the engine; "": none */
};

struct rf_fleet_seen {
	uint32_t limits; /* of the fleet, in force; 0: all below means nothing */
	struct rf_fleet_standing standing;
	struct rf_agent_seen agent;
};

/* `text`, anybody's, is what the agent has told. Where it makes no sense, it is not up. Pure. */
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
	/* Another one: the fence was made anew, and its counters began at 0. */
	char identity[RF_IDENTITY_SIZE];
	uint64_t time_ns;  /* since 1970, when the scan began */
	uint64_t awake_ns; /* the same moment by rf_time_awake() */
	uint64_t since_ns; /* since the scan before; 0: this is the first one */
	struct rf_standing standing;
	struct rf_bans bans;	     /* with the rules in force */
	struct rf_counters counters; /* since the fence was made, whatever `stats reset` did */
	struct rf_limit_counters limit[RF_LIMITS_MAX]; /* by slot, of limits in force */
	/* Those that were used in the last seconds, or are banned; the first scan has all. Sorted
	 * by rf_source_row_compare(). */
	struct rf_source_rows sources;
	struct rf_cells_row *cells; /* that were read since the scan before, see below */
	size_t cells_count;
	uint32_t capacity; /* windows of a family */
	struct rf_fleet_seen fleet;
	uint64_t residents[2]; /* sources that are known, by family */
	struct rf_interface_seen interface[RF_SNAPSHOT_INTERFACES];
	int interfaces;
};

/* A scan after the other, of one fence. */
struct rf_scanner;

/* Opens the fence on an interface. NULL: `error` says why. */
struct rf_scanner *rf_scanner_open(const char *interface, struct rf_error *error);
void rf_scanner_close(struct rf_scanner *scanner);
const struct rf_fence *rf_scanner_fence(const struct rf_scanner *scanner);

/* -ENODEV: the fence is gone. Free the snapshot even after an error. */
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
 * Reads them. Returns whether there are so many that they must be taken now: the caller frees them.
 * Otherwise the next scan has them.
 */
bool rf_scanner_read_cells(struct rf_scanner *scanner, struct rf_cells_row **cells, size_t *count);

#endif /* RINGFENCE_SNAPSHOT_H */
