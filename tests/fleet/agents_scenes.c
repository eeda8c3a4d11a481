// SPDX-License-Identifier: GPL-2.0
/*
 * What goes wrong in the walks of agents: by dice in most scenes, by a script in those to which
 * dice seldom come.
 */
#include "agents.h"

#define TWO .hosts = 2, .slots = 2
#define TWO_OF_3 .hosts = 2, .slots = 3
#define THREE .hosts = 3, .slots = 3
#define THREE_OF_4 .hosts = 3, .slots = 4
/* Longer than G: usage outlives learning. */
#define LONG_W .window_ms = 300, .grace_ms = 100
#define SHORT_W .window_ms = 60, .grace_ms = 200
#define MORE .step_ms = 4, .steps = 3000, .claims = 16
/* Realistic times: a record expires 160 s after its last report. */
#define HOURS .window_ms = 20000, .grace_ms = 60000, .step_ms = 10000, .steps = 3000, .claims = 16

#define SHAKY [LATE] = 30, [LOST] = 30
#define SCRIPT(number) \
	.step_ms = 4, .steps = (number), .claims = 16, .limit = 12, .alone_first = true

/* ---- scripts: A is host 0, B is host 1 ---- */

#define A 0
#define B 1

/*
 * B has just used the pool when it is cut off. A is connected between two losses, so after the
 * second one B is in no reply since. A must not be granted B's usage, though B is silent.
 */
static const struct event forgets_twice[] = {
	{1000, SENDS, B, 600, 1000},
	{1560, CUT, B, 500},
	{1562, EMPTIED},
	{1622, EMPTIED},
	{1700, SENDS, A, 300, 1000},
	{0},
};

/*
 * B has used the pool. The server forgets, and B reports its claim only once it was offline, when
 * its share has expired and its claim is its usage. The server forgets that, and B cannot report it
 * again.
 */
static const struct event has_only_used[] = {
	{1000, SENDS, B, 1590, 1000},
	{2475, LOST_REPORTS, B, 75, 1},
	{2480, EMPTIED},
	{2600, SENDS, A, 600, 1000},
	{2700, EMPTIED},
	{2705, LOST_REPORTS, B, 500, 1},
	{0},
};

/* The server grants A more and forgets that; A has joined again when the reply arrives. */
static const struct event answers_of_before[] = {
	{950, SENDS, A, 5, 1000},
	{1000, SENDS, A, 1000, 1000},
	{1000, LATE_ANSWERS, A, 20, 40},
	{1010, EMPTIED},
	{1012, LOST_REPORTS, A, 900, 1},
	{1100, SENDS, B, 500, 1000},
	{0},
};

/*
 * A reports a share, releases it, as its source has left, and reports that; the first reply arrives
 * now, in place of the second. B gets the share.
 */
static const struct event late_answer[] = {
	{1000, SENDS, A, 8, 1000},
	{1015, LATE_ANSWERS, A, 400, 190},
	{1150, SENDS, B, 400, 1000},
	{1200, SENDS, A, 300, 1000},
	{0},
};

/* The agent of A stops while A has a share. B requests it when that expires, and then the claim. */
static const struct event ends_with_a_share[] = {
	{0, PACE, 0, 75000, 200},	{70000, SENDS, A, 7000, 700},
	{75000, PACE, 0, 2000, 4}, /* in which A is last connected */
	{77000, KILLED, A, 100000},	{77000, PACE, 0, 57000, 2000},
	{134000, PACE, 0, 4000, 8},	{134000, SENDS, A, 4000, 700},
	{135400, SENDS, B, 3000, 1000}, {0},
};

const struct scene scenes[] = {
	{"all is well", TWO, SHORT_W, MORE, .limit = 12, .first = 1},
	{"reports and heartbeats late, lost and twice", TWO, SHORT_W, MORE, .limit = 12, .first = 1,
	 .often = {SHAKY, [TWICE] = 50, [ASTRAY] = 500}},
	{"three hosts, reports and heartbeats late, lost and twice", THREE, LONG_W, MORE,
	 .limit = 24, .first = 0, .often = {SHAKY, [TWICE] = 50, [ASTRAY] = 500}},
	{"calls of windows fail, and waits for programs", TWO, SHORT_W, MORE, .limit = 24,
	 .first = 0, .often = {[UNWRITTEN] = 30, [BUSY] = 100, [UNSETTLED] = 200}},
	{"hosts are cut off", THREE, SHORT_W, MORE, .limit = 12, .first = 0, .alone_first = true,
	 .often = {[LATE] = 200, [LOST] = 30, [CUT] = 3}},
	{"the engine forgets all", TWO, LONG_W, MORE, .limit = 12, .first = 0, .alone_first = true,
	 .often = {[LATE] = 200, [LOST] = 30, [EMPTIED] = 4, [RESTARTED] = 4}},
	{"the engine forgets all, stands still, and its clock steps", THREE, SHORT_W, MORE,
	 .limit = 12, .first = 1,
	 .often = {SHAKY, [EMPTIED] = 1, [RELOADED] = 1, [STILL] = 2, [STEPPED] = 2}},
	{"a replica that lost writes takes over", THREE, LONG_W, MORE, .limit = 12, .first = 0,
	 .alone_first = true, .often = {SHAKY, [PROMOTED] = 3}},
	{"a replica takes over for a moment", THREE, LONG_W, MORE, .limit = 12, .first = 0,
	 .alone_first = true, .often = {SHAKY, [CUT] = 2, [DEMOTED] = 5}},
	{"agents are killed, end as planned, and start again", THREE, LONG_W, MORE, .limit = 12,
	 .first = 0, .alone_first = true, .often = {[KILLED] = 2, [ENDED] = 2, [RESTARTED] = 1}},
	{"the same, with a slot to spare", TWO_OF_3, LONG_W, MORE, .limit = 12, .first = 0,
	 .alone_first = true, .often = {[KILLED] = 2, [ENDED] = 2, [RESTARTED] = 1}},
	{"hosts reboot, windows are evicted", TWO_OF_3, SHORT_W, MORE, .limit = 24, .first = 0,
	 .alone_first = true, .often = {SHAKY, [REBOOTED] = 2, [EVICTED] = 20}},
	{"a limit is defined anew, and back", TWO, SHORT_W, MORE, .limit = 12, .first = 1,
	 .often = {SHAKY, [REDEFINED] = 10, [BUSY] = 30}},
	{"records end, since reports are lost for long", TWO, HOURS, .limit = 12, .first = 0,
	 .alone_first = true, .often = {[CUT_REPORTS] = 2}},
	{"whatever may go wrong", THREE_OF_4, SHORT_W, MORE, .limit = 12, .first = 1,
	 .often = {SHAKY, [TWICE] = 20, [ASTRAY] = 300, [EMPTIED] = 1, [RELOADED] = 1,
		   [PROMOTED] = 1, [DEMOTED] = 1, [STILL] = 1, [STEPPED] = 1, [CUT] = 1,
		   [KILLED] = 1, [ENDED] = 1, [REBOOTED] = 1, [EVICTED] = 3, [REDEFINED] = 3,
		   [UNWRITTEN] = 10, [BUSY] = 10, [UNSETTLED] = 30}},
	{"the engine forgets twice, and a host is not heard in between", TWO, LONG_W, SCRIPT(900),
	 .script = forgets_twice},
	{"the engine forgets what was used, of a host that has no share", TWO, .window_ms = 500,
	 .grace_ms = 100, SCRIPT(1400), .script = has_only_used},
	{"an answer of before the engine forgot", TWO, LONG_W, SCRIPT(900),
	 .script = answers_of_before},
	{"an answer of before a share was given back", TWO, .window_ms = 120, .grace_ms = 100,
	 SCRIPT(900), .often = {[ASTRAY] = 1000}, .script = late_answer},
	{"clocks run too fast or too slow, an agent ends", TWO, .window_ms = 100, .grace_ms = 60000,
	 SCRIPT(2300), .drift_ppm = 3800, .script = ends_with_a_share},
};

const int scene_count = sizeof(scenes) / sizeof(scenes[0]);
