/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What happens to the next packet of a source, and why: the program's order of questions, asked of
 * what can be read from outside. Lists come first, then bans of all packets, then the limits. Where
 * the next packet passes, also what the limits dropped before.
 */
#ifndef RINGFENCE_VERDICT_H
#define RINGFENCE_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/prefix.h"
#include "ringfence/abi.h"
#include "rules/ruleset.h"

#define RF_WAIT_FOREVER (-1) /* no such packet ever passes */

struct rf_charged {
	uint64_t passed, dropped; /* packets */
};

/* What one limit says of the next packet that it applies to. */
struct rf_answer {
	const struct rf_limit *limit;
	bool is_new;		  /* to get a window, the source must pass the guard */
	int64_t wait_ms;	  /* until a frame of RF_FRAME_BYTES has room; 0: now */
	bool shorter_pass;	  /* of bytes: such a frame has no room, and the shortest has */
	uint64_t banned_ns;	  /* until its ban ends; 0: not banned */
	const char *network;	  /* of the sources that share the window; NULL: no other does */
	struct rf_charged all;	  /* since the window was made */
	struct rf_charged recent; /* in the last `recent_ms` of the case */
};

/* What a list says of the source. */
struct rf_list_answer {
	bool is_listed;
	uint64_t left_ns; /* RF_FOREVER: for good */
	char prefix[RF_PREFIX_TEXT_SIZE];
};

struct rf_case {
	const char *source;
	bool is_unconfirmed; /* the attach on trial has run out: everything passes */
	uint64_t paused_ns;  /* so long everything passes by a pause; 0: the fence is not paused */
	struct rf_list_answer list[RF_LIST_COUNT];
	struct rf_answer answer[RF_LIMITS_MAX];
	int answers;
	enum rf_newcomers_then then;
	int64_t guard_wait_ms;	      /* until the guard admits a newcomer; 0: now */
	uint64_t recent_ms;	      /* 0: not measured */
	const struct rf_limit *finer; /* of a network: a limit in force that counts parts of it */
};

/*
 * The verdict for people, in one line and one more for each further limit that drops, without the
 * newline at the end. The caller frees it. NULL: no memory.
 */
char *rf_verdict_text(const struct rf_case *its);
/* Does the next packet pass, though a limit in force has dropped some? Then `recent` matters. */
bool rf_verdict_wants_recent(const struct rf_case *its);
/* Did this limit? */
bool rf_answer_has_dropped(const struct rf_answer *answer);
/* Does something decide before any limit is asked: a list, a ban of all packets, a trial? */
bool rf_verdict_is_early(const struct rf_case *its);
/* The same for programs. */
struct rf_decision {
	const char *outcome; /* passes, dropped, partly, depends */
	const char *kind;    /* of what decides; NULL: no rule does */
	const char *limit;   /* that decides; NULL: none does */
	const char *prefix;  /* of the list that decides; NULL: none does */
	int64_t wait_ms;     /* until a packet passes; RF_WAIT_FOREVER: never, or not known */
};

void rf_decide(const struct rf_case *its, struct rf_decision *verdict);
/*
 * When a packet passes that only this limit applies to, in ms: its lists, bans and window together.
 */
int64_t rf_verdict_wait_ms(const struct rf_case *its, const struct rf_answer *answer);

#endif /* RINGFENCE_VERDICT_H */
