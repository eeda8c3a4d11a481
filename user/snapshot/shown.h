/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A fence's data on one source at this time: its lists, bans and windows, and the resulting
 * verdict. The single reading behind `show`, `top` and the page of the daemon.
 */
#ifndef RINGFENCE_SHOWN_H
#define RINGFENCE_SHOWN_H

#include "fence/fence.h"
#include "rules/ruleset.h"

/*
 * ---- the verdict ----
 *
 * What happens to the next packet of a source, and why: the program's order of evaluation, applied
 * to externally readable state. Lists come first, then bans of all packets, then the limits. If the
 * next packet passes, also the earlier drops of the limits.
 */

#define RF_WAIT_FOREVER (-1) /* no such packet ever passes */

struct rf_charged {
	uint64_t passed, dropped; /* packets */
};

/* The result of one limit for the next packet that it applies to. */
struct rf_limit_answer {
	const struct rf_limit *limit;
	bool is_new;		  /* to get a window, the source must pass the guard */
	int64_t wait_ms;	  /* until a frame of RF_FRAME_BYTES has room; 0: now */
	uint64_t lent;		  /* to CPUs, where only that leaves it no room; else 0 */
	bool shorter_pass;	  /* of bytes: such a frame has no room, but the shortest one has */
	uint64_t banned_ns;	  /* until its ban expires; 0: not banned */
	const char *network;	  /* of the sources that share the window; NULL: no other does */
	struct rf_charged all;	  /* since the window was made */
	struct rf_charged recent; /* in the last `recent_ms` of the case */
};

/* A list's entry for the source. */
struct rf_list_answer {
	bool is_listed;
	uint64_t left_ns; /* RF_FOREVER: for good */
	char prefix[RF_PREFIX_TEXT_SIZE];
};

struct rf_case {
	const char *source;
	bool is_unconfirmed; /* the attach was not confirmed in time: everything passes */
	uint64_t paused_ns;  /* how long a pause passes everything; 0: the fence is not paused */
	struct rf_list_answer list[RF_LIST_COUNT];
	struct rf_limit_answer answer[RF_LIMITS_MAX];
	int answers;
	enum rf_newcomers_then then;
	int64_t guard_wait_ms;	      /* until the guard admits a newcomer; 0: now */
	uint64_t recent_ms;	      /* 0: not measured */
	const struct rf_limit *finer; /* of a network: an enforced limit that counts parts of it */
};

/*
 * The verdict for people, in one line and one more for each further limit that drops, without the
 * final newline. The caller frees it. NULL: no memory.
 */
char *rf_verdict_text(const struct rf_case *its);
/* Does the next packet pass, though an enforced limit has dropped some? Then `recent` matters. */
bool rf_verdict_wants_recent(const struct rf_case *its);
/* Did this limit? */
bool rf_answer_has_dropped(const struct rf_limit_answer *answer);
/*
 * Is the decision made before any limit is evaluated: by a list, a ban of all packets, an attach
 * that was not confirmed?
 */
bool rf_verdict_is_early(const struct rf_case *its);
/* The verdict for programs. */
struct rf_decision {
	const char *outcome; /* passes, dropped, partly, depends */
	const char *kind;    /* of what decides; NULL: no rule does */
	const char *limit;   /* that decides; NULL: none does */
	const char *prefix;  /* of the list that decides; NULL: none does */
	int64_t wait_ms;     /* until a packet passes; RF_WAIT_FOREVER: never, or not known */
};

/* ---- all data ---- */

/* One source under one limit. */
struct rf_shown_limit {
	const struct rf_limit *limit;
	bool newcomer;			  /* no window */
	char source[RF_PREFIX_TEXT_SIZE]; /* masked as the limit groups */
	bool is_shared;			  /* with other sources */
	struct rf_source state;
	uint64_t used;		     /* in the limit's unit, as the cells are */
	uint64_t lent;		     /* of `used`, to CPUs: in no cell */
	int cells;		     /* 0: the algorithm has none */
	uint64_t cell[RF_CELLS_MAX]; /* the oldest first, the present one last */
	uint64_t room;		     /* its maximum on this host, if the fleet sets it */
	bool shorter_pass;	     /* of bytes: the shortest frame has room now */
	int64_t passes_again_ms;     /* a frame of RF_FRAME_BYTES; or RF_WAIT_FOREVER */
	bool is_full_by_loans;	     /* such a frame has no room, but would if nothing were lent */
	uint64_t banned_ns;	     /* remaining time; 0: not banned */
	const struct rf_case *its;
	const struct rf_limit_answer *answer; /* of `its` */
	int64_t wait_ms; /* until a packet passes that only this limit applies to */
};

struct rf_shown {
	char source[RF_PREFIX_TEXT_SIZE];
	struct rf_case its;
	struct rf_decision decision;
	struct rf_shown_limit limit[RF_LIMITS_MAX]; /* of its.answer */
	struct rf_bans bans;			    /* with the rules that all of this is under */
};

/*
 * Reads everything under one set of rules. `source` is an address, as a prefix of full length, or a
 * network: parts of it that limits count separately are not read. Free it even after an error.
 */
int rf_shown_read(const struct rf_fence *fence, const struct rf_prefix *source,
		  struct rf_shown **shown, struct rf_error *error);
/* The charges in the `ms` since `before`, an earlier reading of the same source. */
void rf_shown_since(struct rf_shown *shown, const struct rf_shown *before, uint64_t ms);
void rf_shown_free(struct rf_shown *shown);

/* A limit with a ban has no such counter: its word holds the ban's expiry. */
uint64_t rf_shown_would_drop(const struct rf_shown_limit *one);

#endif /* RINGFENCE_SHOWN_H */
