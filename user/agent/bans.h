/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bans of the fleet: reports bans of this host, and accepts bans of other hosts if configured. A
 * short-lived process puts accepted bans on the deny list, since that waits for the lock of all
 * commands; the agent does not wait for it.
 */
#ifndef RINGFENCE_AGENT_BANS_H
#define RINGFENCE_AGENT_BANS_H

#include <sys/types.h>

#include <jansson.h>

#include "agent/link.h"
#include "agent/settings.h"
#include "base/say.h"
#include "fence/fence.h"
#include "fleet/bans.h"
#include "schema/record.h"

#define RF_BANS_ASK_NS 500000000ULL

/* An accepted ban. */
struct rf_taken_ban {
	struct rf_prefix prefix;
	uint32_t slot;	   /* of its host */
	uint64_t until_ns; /* 0: expired, and to be removed from the list */
	bool is_told;	   /* its removal was passed to the running process */
};

/* In addition to enum rf_ban_fault. */
enum rf_ban_refusal {
	RF_BAN_OF_ENGINE = RF_BAN_FAULTS, /* covers the address of the fleet server */
	RF_BAN_TOO_MANY,
	RF_BAN_REFUSALS,
};

struct rf_fleet_bans {
	const struct rf_agent_settings *settings;
	struct rf_line *line;
	struct rf_loop *loop;
	uint32_t config_id; /* of the fence that has them; 0: none */
	struct rf_taken_ban taken[RF_FLEET_BANS_MAX];
	uint32_t count;
	uint32_t nodes;	 /* of the engine that were known, as rf_cluster counts them */
	uint64_t newest; /* the latest known stamp */
	struct rf_kept_bans kept;
	uint64_t ask_at_ns;
	bool is_asking;
	bool is_dirty; /* the fence differs from this list */
	uint64_t write_at_ns;
	/* When to remove expired bans from the fence, including bans of an earlier agent. */
	uint64_t sweep_at_ns;
	bool sweeps; /* in this run */
	uint64_t look_at_ns;
	uint32_t looked;	    /* the next of `taken` to check in the fence */
	uint32_t slot;		    /* of this host, the latest */
	pid_t writer;		    /* -1: not running */
	struct rf_loop_source said; /* its error */
	uint64_t refused[RF_BAN_REFUSALS];
	char trouble[512]; /* of the last writer; "": none */
	struct rf_said logged;
	uint64_t told; /* reported since the agent started */
};

void rf_fleet_bans_start(struct rf_fleet_bans *bans, const struct rf_agent_settings *settings,
			 struct rf_line *line, struct rf_loop *loop);
void rf_fleet_bans_end(struct rf_fleet_bans *bans);
#define RF_BANS_NO_SLOT UINT32_MAX

/*
 * `fence`: NULL if not open. `slot`: of this host; it requests no bans without one. An agent never
 * accepts bans that this host reported, also under an earlier slot.
 */
void rf_fleet_bans_turn(struct rf_fleet_bans *bans, const struct rf_fence *fence, uint32_t slot,
			uint64_t now);
uint64_t rf_fleet_bans_due_ns(const struct rf_fleet_bans *bans);

/*
 * Sends a ban of the host in `slot` to the fleet server; `time_ms` 0: removes the ban. False: not
 * possible now, and `answer` is not called.
 */
bool rf_fleet_bans_tell(const struct rf_fleet_bans *bans, uint32_t slot,
			const struct rf_prefix *prefix, uint32_t time_ms, rf_link_answer answer,
			void *data);
/* Evaluates the reply, of size 0 if missing. NULL: the fleet has the ban; otherwise an error. */
const char *rf_fleet_bans_told(struct rf_fleet_bans *bans, const void *bytes, size_t size,
			       bool is_end);

/* Of struct rf_fleet_bans: a part of the reply to `status`. */
extern const struct rf_field rf_fleet_bans_fields[];
/* NULL: not a request about bans. */
json_t *rf_fleet_bans_answer(struct rf_fleet_bans *bans, const char *question);

/* ---- bans_fence.c, for bans.c ---- */

/*
 * Puts the accepted bans on the fence's deny list and removes expired ones; when sweeping, all
 * expired entries of the fleet. Bans that the fence refuses are skipped: `left_out` has the reason,
 * or is empty.
 */
int rf_fleet_bans_write(const struct rf_fleet_bans *bans, struct rf_error *left_out,
			struct rf_error *error);

/*
 * Checks some of the accepted bans in the fence, different ones in each call. False: one is
 * missing, because the fence had no room or lost it.
 */
bool rf_fleet_bans_are_there(struct rf_fleet_bans *bans, const struct rf_fence *fence);

/* ---- bans_kept.c, for bans.c ---- */

/* As stored by an earlier agent; all 0 without one. */
void rf_kept_bans_read(struct rf_kept_bans *kept, const char *fence);
void rf_kept_bans_write(const struct rf_kept_bans *kept, const char *fence);
/* For an agent after a reboot. It may wait for a disk. */
void rf_kept_bans_store(const struct rf_kept_bans *kept, const char *fence);

#endif /* RINGFENCE_AGENT_BANS_H */
