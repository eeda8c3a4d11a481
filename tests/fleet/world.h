/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two hosts, one source, one bucket of the ledger, and a network that delivers late, twice, in any
 * order or never. The rules are those of user/fleet; the rest is as small as possible. The judge
 * knows only which packets were admitted when, and which hosts were offline; it reads none of the
 * rules' state.
 */
#ifndef RINGFENCE_FLEET_WORLD_H
#define RINGFENCE_FLEET_WORLD_H

#include "fleet/member.h"
#include "tests/fleet/model/ledger.h"

#ifndef HOSTS
#define HOSTS 2
#endif
#define WINDOW_MAX 4 /* W is shorter by one */
#define NET 3
#define ANY 255 /* as often as it likes */

/* The explored behaviour, and how often each event can occur. */
struct row {
	const char *title;
	int limit, first, window, grace, ticks;
	int reports; /* of each host */
	int beats;   /* heartbeats are sent through the network, this many of each host; 0:
			immediately or never */
	bool slow; /* they are received immediately, and their replies are sent through the network
		    */
	int twice; /* messages delivered twice */
	int forgets; /* the server restarts, with a new run, or emptied */
	int steps;   /* its clock steps over G + W */
	int reboots, evictions, changes;
	int losses;    /* a replica takes over that has not all that was written */
	bool packets;  /* a packet may take its time between limit and charge */
	bool stranger; /* the second host joins only later */
	bool strict;   /* an offline host passes `first`, and the bound holds even then */
	bool expires;  /* the state of a source without claims expires at any time */
	bool contests; /* hosts contest the source, and release one packet at a time */
	bool rival;    /* the last host has no slot: it requests the slot of the first */
	int holds;     /* this many hosts have a share at the start, */
	bool late;     /* the last ones, which have joined since the others were connected, */
	bool forgot;   /* and the engine has just forgotten all */
	bool steady;   /* heartbeats are always received, once in a tick */
	int net;       /* at most this many messages are in flight; 0: NET */
	int within;   /* only this many steps from the start, if exploration was never completed; 0:
			 complete */
	bool is_part; /* of another row, from a start that is a few steps on: for mutants */
	bool is_quick; /* searched in less than a second */
};

struct window {
	uint8_t admitted[WINDOW_MAX]; /* this tick first */
	uint8_t most[WINDOW_MAX];     /* the largest share of each tick */
	uint8_t share, tag, incarnation;
	uint8_t pending; /* 1 + the limit that a packet under way has read; 0: none */
	bool is_old;	 /* it read a share that was lowered since */
	bool is_late;	 /* it read it in the tick before; no packet takes longer */
	uint32_t generation;
};

struct host {
	struct rf_member member;
	struct rf_claim claim;
	struct window window;
	uint8_t incarnation; /* that the agent knows */
	uint8_t tag, reports, beats;
};

enum kind { NOTHING, BEAT, HEARD, REPORT, ANSWER };

struct message {
	uint8_t kind, host, tag;
	uint32_t beat;
	uint64_t sent, nonce, joined;
	union {
		struct rf_ledger_beat says;
		struct rf_ledger_heard heard;
		struct rf_ledger_report report;
		struct rf_ledger_answer answer;
	};
};

/* The judge's records of each tick, this one first. */
struct books {
	uint8_t admitted[HOSTS][WINDOW_MAX];
	uint8_t alone[HOSTS][WINDOW_MAX];
	uint8_t lost[WINDOW_MAX]; /* what windows that were lost let pass once more */
	uint8_t differs[WINDOW_MAX];
};

/* The state of a replica: it lacks later writes. */
struct replica {
	struct rf_ledger ledger;
	struct rf_ledger_source source[2];
};

struct world {
	uint64_t now, skew, stamp, run;
	uint64_t nonces; /* that were granted */
	struct rf_ledger ledger;
	struct rf_ledger_source source[2];
	struct replica replica;
	struct host host[HOSTS];
	struct message net[NET];
	struct books books;
	uint8_t twice, forgets, steps, reboots, evictions, changes, copies, losses;
};

enum act {
	TICK,
	ADMIT,
	START,
	FINISH,
	LOWER,
	WAITED,
	ASK,
	SAY,
	DELIVER,
	REPEAT,
	KEEP,
	KEEP_REPEAT,
	EMPTY,
	RESTART,
	STEP,
	COPY,
	PROMOTE,
	EXPIRE,
	REBOOT,
	EVICT,
	CHANGE,
	LOSE,
	ACTS
};

extern const struct row *row;
extern const char *const act_names[ACTS];

void world_start(struct world *world);
/* Records which hosts are offline, and the largest shares: after every change of them. */
void world_note_states(struct world *world);
/* An agent that has just started, on a host without windows. */
void world_start_host(struct host *host, uint64_t nonce, int slot);
/*
 * False: it is impossible here, and nothing has changed. `which`: a host, or a place of the
 * network.
 */
bool world_act(struct world *world, enum act act, int which);
void world_print_act(enum act act, int which);
/* N: this many hosts have a slot at the same time. */
int world_slots(void);
/* The packets that an offline host passes in W. */
int world_limit_alone(void);
/* By how much more than the bound the window up to now has; 0: it holds. */
int world_excess(const struct world *world);

/* Takes away what makes no difference: two worlds that are alike become the same bytes. */
void world_normal(struct world *world);
/* Parts of that: state that no rule reads any more, */
void world_unread(struct world *world);
/* numbers and names, */
void world_rename(struct world *world);
/* and hosts and messages in a canonical order. */
void world_sort(struct world *world);
/* Does it matter whether the claims of that host are known in that membership? */
bool world_tells(const struct world *world, int host, uint64_t joined);
bool world_is_beat(const struct message *message);

#endif /* RINGFENCE_FLEET_WORLD_H */
