/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Replies on the control socket, one JSON message for each request:
 *
 *   status          the server, the membership, limits and counters
 *   show ADDRESS    the claims on a source here, under each limit of the fleet
 *   bans            accepted bans of other hosts: [PREFIX, SLOT] each
 *   flush           forgets accepted bans and ignores them from now on
 *
 * inquiry.h has the requests that need the fleet server.
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
	struct rf_line *news; /* used to send requests */
	const struct rf_calls *calls;
	const struct rf_roll *roll;
	struct rf_fleet_bans *bans;
	const char *name;  /* of this host */
	uint64_t alone_ns; /* since when a bucket is offline; 0: none is */
	uint64_t started_ns;
};

#define RF_KEY_TROUBLE_SIZE 192

/* The error of the bucket key; "": none. */
void rf_status_key_trouble(const struct rf_claims *claims, char text[RF_KEY_TROUBLE_SIZE]);
/* A reply with an error. */
json_t *rf_status_error(const char *text);
/* The text of a reply, on the heap, and frees the reply; NULL: no memory. */
char *rf_status_text(json_t *answer);
/* The reply, on the heap; NULL: no memory. `question` is untrusted. */
char *rf_status_answer(const struct rf_status_view *view, const char *question);

/* ---- the file ---- */

/*
 * The reply to `status` in a file for members of the group, written once per second: readers and
 * the agent never wait for each other.
 */
struct rf_publisher {
	char path[108], next[112];
	uint64_t at_ns; /* time of the next write */
	struct rf_said said;
};

void rf_publisher_start(struct rf_publisher *publisher, const char *name);
/* Removes the file. */
void rf_publisher_end(struct rf_publisher *publisher);
/* Writes the file, once a second. */
void rf_publisher_turn(struct rf_publisher *publisher, const struct rf_status_view *view,
		       uint64_t now);

#endif /* RINGFENCE_AGENT_STATUS_H */
