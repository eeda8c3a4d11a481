/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bans of the fleet: what this host tells the others, and what it takes of theirs if it was told
 * to. Taken bans are put on the deny list by a process of their own, a moment each, since that
 * waits for the lock of all commands; nothing else waits for it.
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

/* A ban that was taken. */
struct rf_taken_ban {
	struct rf_prefix prefix;
	uint32_t slot;	   /* whose it is */
	uint64_t until_ns; /* 0: it has ended, and is to be taken off the list */
	bool is_told;	   /* its end, to the process that is under way */
};

/* Beyond those of enum rf_ban_fault. */
enum rf_ban_refusal {
	RF_BAN_OF_ENGINE = RF_BAN_FAULTS, /* it would cut this host off from the engine */
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
	uint64_t newest; /* the stamp up to which they are known */
	struct rf_kept_bans kept;
	uint64_t ask_at_ns;
	bool is_asking;
	bool is_dirty; /* the fence does not have them as they are here */
	uint64_t write_at_ns;
	/* The fence's expired bans, also those of an agent before, are taken off it then. */
	uint64_t sweep_at_ns;
	bool sweeps; /* the writer does so */
	uint64_t look_at_ns;
	uint32_t looked;	    /* the next of `taken` to be looked for in the fence */
	uint32_t slot;		    /* of this host, the newest */
	pid_t writer;		    /* -1: none is under way */
	struct rf_loop_source said; /* by it */
	uint64_t refused[RF_BAN_REFUSALS];
	char trouble[512]; /* of the last writer; "": none */
	struct rf_said logged;
	uint64_t told; /* bans, since the agent's start */
};

void rf_fleet_bans_start(struct rf_fleet_bans *bans, const struct rf_agent_settings *settings,
			 struct rf_line *line, struct rf_loop *loop);
void rf_fleet_bans_end(struct rf_fleet_bans *bans);
#define RF_BANS_NO_SLOT UINT32_MAX

/*
 * `fence`: that is open; NULL: none is. `slot`: of this host, which asks for no bans before it has
 * one. An agent takes none of the bans that this host told, also under another number before.
 */
void rf_fleet_bans_turn(struct rf_fleet_bans *bans, const struct rf_fence *fence, uint32_t slot,
			uint64_t now);
uint64_t rf_fleet_bans_due_ns(const struct rf_fleet_bans *bans);

/*
 * Sends a ban of the host in `slot` to the fleet server; `time_ms` 0: the ban ends. False: not now,
 * and `answer` is not called.
 */
bool rf_fleet_bans_tell(const struct rf_fleet_bans *bans, uint32_t slot,
			const struct rf_prefix *prefix, uint32_t time_ms, rf_link_answer answer,
			void *data);
/* Evaluates the reply, of size 0 if there is none. NULL: the fleet has the ban; else an error. */
const char *rf_fleet_bans_told(struct rf_fleet_bans *bans, const void *bytes, size_t size,
			       bool is_end);

/* Of struct rf_fleet_bans: a part of the reply to `status`. */
extern const struct rf_field rf_fleet_bans_fields[];
/* NULL: it is no question about bans. */
json_t *rf_fleet_bans_answer(struct rf_fleet_bans *bans, const char *question);

/* ---- bans_fence.c, for bans.c ---- */

/*
 * Puts the taken bans on the fence's deny list, and takes those that have ended off it; if it
 * sweeps, also all that have expired there. Bans that the fence refuses are left out: `left_out`
 * says why; it is empty if there are none.
 */
int rf_fleet_bans_write(const struct rf_fleet_bans *bans, struct rf_error *left_out,
			struct rf_error *error);

/*
 * Looks for some of the taken bans in the fence, other ones each time. False: one is not in force:
 * the fence had no room for it before, or has lost it.
 */
bool rf_fleet_bans_are_there(struct rf_fleet_bans *bans, const struct rf_fence *fence);

/* ---- bans_kept.c, for bans.c ---- */

/* As an agent before has left it; all 0 where there was none. */
void rf_kept_bans_read(struct rf_kept_bans *kept, const char *fence);
void rf_kept_bans_write(const struct rf_kept_bans *kept, const char *fence);
/* For an agent after a reboot. It may wait for a disk. */
void rf_kept_bans_store(const struct rf_kept_bans *kept, const char *fence);

#endif /* RINGFENCE_AGENT_BANS_H */
