/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the agent tells of itself on its socket, one message for each question, as JSON:
 *
 *   status          the engine, the membership, limits and counters
 *   show ADDRESS    what a source has here, under each limit of the fleet
 *   bans            those of other hosts that were taken: [PREFIX, SLOT] each
 *   flush           forgets what was taken, and takes none of it again
 *
 * inquiry.h has the questions that the fleet server has to answer.
 */
#ifndef RINGFENCE_AGENT_STATUS_H
#define RINGFENCE_AGENT_STATUS_H

#include "agent/bans.h"
#include "agent/calls.h"
#include "agent/news.h"
#include "agent/run.h"
#include "agent/site.h"
#include "base/prefix.h"
#include "base/say.h"

struct rf_status_view {
	const struct rf_agent_settings *settings;
	const struct rf_claims *claims;
	struct rf_site *site; /* windows are read */
	const struct rf_cluster *cluster;
	const struct rf_line *beats, *reports;
	struct rf_line *news; /* questions are sent */
	const struct rf_calls *calls;
	const struct rf_roll *roll;
	struct rf_fleet_bans *bans;
	const char *name;  /* of this host */
	uint64_t alone_ns; /* since when some bucket is alone; 0: none is */
	uint64_t started_ns;
};

#define RF_KEY_TROUBLE_SIZE 192

/* What is wrong with the bucket key; "": nothing. */
void rf_status_key_trouble(const struct rf_claims *claims, char text[RF_KEY_TROUBLE_SIZE]);
/* Answers that other files have. */
json_t *rf_status_error(const char *text);
/* The text of an answer, of the heap, which is freed; NULL: no memory. */
char *rf_status_text(json_t *answer);
/* The answer, of the heap; NULL: no memory. `question` is anybody's text. */
char *rf_status_answer(const struct rf_status_view *view, const char *question);

/* ---- the file ---- */

/*
 * What members of the group may read of the agent: its answer to `status`, as a file that is
 * written anew each second. So whoever watches never makes the agent wait, nor waits for it.
 */
struct rf_publisher {
	char path[108], next[112];
	uint64_t at_ns; /* when it is written next */
	struct rf_said said;
};

void rf_publisher_start(struct rf_publisher *publisher, const char *name);
/* Removes the file. */
void rf_publisher_end(struct rf_publisher *publisher);
/* Writes the file, once a second. */
void rf_publisher_turn(struct rf_publisher *publisher, const struct rf_status_view *view,
		       uint64_t now);

#endif /* RINGFENCE_AGENT_STATUS_H */
