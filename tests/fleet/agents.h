/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A few hosts with the claims of user/fleet/claims.h, managed like by their agents, and one fleet
 * server with the rules of tests/fleet/model/. Windows, network, clocks and traffic are simulated
 * here, and fail as the scene specifies, by repeatable dice.
 *
 * The judge records each admitted packet, and when. It does not read the state of claims or of the
 * ledger.
 *
 * Times are in ms from the start; each host and the server also has a clock, which can be too slow
 * or too fast.
 */
#ifndef RINGFENCE_FLEET_AGENTS_H
#define RINGFENCE_FLEET_AGENTS_H

#include "fleet/claims.h"

#define HOSTS_MAX 3
#define SOURCES 3     /* the first two are in one bucket */
#define DEFINITIONS 2 /* by turns */
#define LOG 1024      /* packets of a source in W: more than can be admitted, even offline */

/* Possible faults, and how often in 1,000 steps: of the server, or of each host or message. */
enum fault {
	NO_FAULT,
	/* Of messages. */
	LATE, /* for up to G and W */
	LOST,
	TWICE,	/* the engine gets it twice */
	ASTRAY, /* a reply is taken as the reply to a later call, for the same bucket */
	/* Of the engine. */
	EMPTIED,   /* it forgets all */
	RESTARTED, /* and is another run */
	RELOADED,  /* it is another run and has all records */
	PROMOTED,  /* another run has them as they were some time ago */
	DEMOTED,   /* another run has them for less than G/2, then this one again */
	STILL,	   /* it replies later */
	STEPPED,   /* its clock does */
	/* Of hosts. */
	CUT,	     /* it neither receives nor sends for a while */
	CUT_REPORTS, /* its reports are lost, for up to 20 minutes */
	KILLED,	     /* its agent, which starts again later */
	ENDED,	     /* its agent, as planned */
	REBOOTED,
	EVICTED,   /* a window */
	REDEFINED, /* the limit */
	UNWRITTEN, /* a call of windows fails */
	BUSY,	   /* a window is not written */
	UNSETTLED, /* it is unknown whether old programs have finished */
	/* In scripts only. */
	SENDS,	      /* the first source sends to a host, in `value` of 1,000 steps */
	LOST_REPORTS, /* of a host; their replies arrive */
	LATE_ANSWERS, /* to reports of a host, by `value` ms */
	PACE,	      /* a step takes `value` ms at most */
	FAULTS
};

/* Of a script: what strikes when, in ms from the start of a world, and for how long. */
struct event {
	uint32_t at_ms;
	enum fault fault;
	int host; /* of the engine: 0 */
	uint32_t for_ms, value;
};

struct scene {
	const char *title;
	uint32_t hosts, slots, limit, first;
	uint32_t window_ms, grace_ms;
	uint32_t step_ms; /* a step takes that at most */
	uint32_t steps;	  /* of one world */
	uint32_t claims;  /* room in an agent's table */
	bool alone_first; /* an offline host passes `first`: no W is exempt for it */
	int drift_ppm;	  /* clocks are too slow or too fast by this much */
	uint16_t often[FAULTS];
	const struct event
		*script; /* ends with one without a fault; NULL: dice decide everything */
};

/* Times of packets, the oldest first, without packets that have left W. */
struct log {
	uint64_t at[LOG];
	uint32_t first, count;
};

extern const struct scene scenes[];
extern const int scene_count;

/* ---- dice and the world (agents_walk.c) ---- */

extern const struct scene *scene;
extern uint64_t now_ms;
extern bool tells; /* each thing that happens is printed */

uint32_t dice(uint32_t sides);
/* By how much a clock is too fast, at the start of a world. */
int drift_ppm(void);
bool happens(enum fault fault);
/* Does it strike that host, or the engine, by the dice or by the script? */
bool strikes(enum fault fault, int host);
/* For how long, by the script, or up to `most_ms`. */
uint32_t lasts_ms(enum fault fault, int host, uint32_t most_ms);
/* The script's value for a lasting fault; 0: none. */
uint32_t scripted(enum fault fault, int host);
void tell(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The address of a source, and the bucket that it is in. */
uint64_t source_key(int source);
uint32_t bucket_of(int source);

/* ---- the judge (agents_judge.c) ---- */

/* W by a clock that is too fast by this much, in ms, rounded up. */
uint32_t window_ms(int ppm);
void log_add(struct log *log, uint64_t at_ms);
uint32_t log_count(struct log *log, uint64_t at_ms, uint32_t window_ms);

void judge_start(void);
void judge_admitted(int host, int source, bool was_alone);
/* The window was lost: the amount that a host passes without a share can pass once more. */
void judge_lost(int host, int source);
/*
 * The server has forgotten the packets that the host has passed, which remain unreported until
 * then.
 */
void judge_vanished(int host, uint64_t until_ms);
/* Hosts have the limit by different definitions now, or one of them has changed its own. */
void judge_differs(void);
/* By how many packets a W that ends now exceeds the bound, for the worst source. */
uint32_t judge_excess(void);

/* ---- engine and network (agents_engine.c) ---- */

void engine_start(void);
void engine_step(void);
/* Sends a heartbeat, or a report; the number of the expected reply. */
uint64_t engine_beat(int host, uint32_t bucket, const struct rf_ledger_call *call,
		     const struct rf_ledger_beat *beat);
uint64_t engine_report(int host, const struct rf_ledger_call *call, const struct rf_claims *claims,
		       const struct rf_report_batch *batch);

/* ---- hosts and their agents (agents_host.c) ---- */

void hosts_start(void);
void hosts_end(void);
void hosts_step(void);
/* Does nothing pass between the host and the engine? */
bool host_is_cut(int host, bool is_report);
/* The engine has lost something. */
void hosts_note_loss(void);
/* How often its agent was started. */
uint32_t host_starts(int host);
/* Replies of the server, as they arrive. */
void host_heard(int host, uint32_t bucket, uint64_t number, const struct rf_ledger_heard *heard);
void host_answered(int host, uint32_t bucket, uint32_t place, uint64_t number,
		   const struct rf_ledger_answer *answer, uint32_t count);

/* ---- windows of a fence (agents_fence.c) ---- */

/* By the clock of the host; and back, 0 remains 0. */
uint64_t host_ns(int host);
uint64_t host_ms(int host, uint64_t ns);
/* W by the clock of the host. */
uint32_t host_window_ms(int host);

void fence_make(int host);
/* Again, without any window: the host has rebooted. */
void fence_start(int host);
void fence_step(int host);
bool fence_is_alone(int host, uint32_t bucket);
uint32_t fence_definition(int host);
void fence_redefine(int host);
void fence_evict(int host, int source);
/* The calls of an agent: received state, written shares, read windows. */
int fence_call(int host, struct rf_claims *claims, struct rf_fleet_record *record, uint32_t count);
/* A request that the agent has not taken yet; false: none. */
bool fence_ask(int host, struct rf_fleet_ask *ask);
/* All packets that had read their limit by the time of the mark are through. */
void fence_mark(int host);
void fence_wait(int host);

#endif /* RINGFENCE_FLEET_AGENTS_H */
