/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A non-blocking connection to a node of the fleet server: requests are sent, and replies arrive
 * later, in order. A timeout closes the connection, so late replies are never seen. A closed
 * connection is retried after a pause.
 *
 * On "Function not found" it loads the functions and continues. A node of a cluster has to confirm
 * that it is one, since a separate server would be a second ledger.
 */
#ifndef RINGFENCE_AGENT_LINK_H
#define RINGFENCE_AGENT_LINK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <hiredis/async.h>

#include "agent/cluster.h"
#include "agent/guard.h"
#include "base/loop.h"
#include "base/say.h"

#define RF_ENGINE_TEXT_SIZE 896	       /* with the longest host name twice */
#define RF_ENGINE_RETRY_NS 50000000ULL /* at first; then twice as long, */
#define RF_ENGINE_RETRY_MOST_NS 1000000000ULL
#define RF_FUNCTION_SIZE 16		  /* of a name */
#define RF_TROUBLE_KEPT_NS 10000000000ULL /* of a connection that is up and idle */

enum rf_link_state {
	RF_LINK_DOWN,
	RF_LINK_CONNECTING,
	RF_LINK_LOADING, /* authenticates, identifies itself, or loads the functions */
	RF_LINK_READY,
};

/*
 * NULL: no reply, or an error. A reply with an error means that the call changed nothing and can be
 * sent again once the line is ready: its keys moved, or the functions were missing.
 */
typedef void (*rf_link_answer)(void *data, const redisReply *reply);

struct rf_request {
	TAILQ_ENTRY(rf_request) place;
	struct rf_link *link;
	rf_link_answer answer;
	void *data;
	uint32_t tag; /* of its keys; RF_TAGS: without keys */
	uint64_t until_ns;
	char function[RF_FUNCTION_SIZE]; /* it calls; "": none */
};

struct rf_link {
	const struct rf_engine *engine; /* credentials */
	struct rf_cluster *cluster;
	uint32_t node, id;   /* its index there; id 0: not in use */
	const char *purpose; /* for messages */
	struct rf_loop *loop;
	uint64_t patience_ns;	  /* of a reply */
	redisAsyncContext *redis; /* NULL: down */
	struct rf_guard guard;	  /* in it */
	enum rf_link_state state;
	struct rf_loop_source socket;
	uint32_t events; /* that the loop waits for; 0: it does not have the socket */
	/* It has a library of a different version: missing functions are not loaded until then; 0:
	 * no */
	uint64_t has_library_ns;
	char lacks[RF_FUNCTION_SIZE]; /* the function that it lacks, maybe; "": none */
	bool ends;		      /* it is to be ended as soon as no callback runs */
	bool has_failed;	      /* to connect or to reply; the line clears it */
	uint64_t retry_ns;	      /* when it is made again */
	uint64_t pause_ns;	      /* between two attempts */
	uint64_t connected_ns;
	TAILQ_HEAD(, rf_request) requests; /* the oldest first */
	char trouble[RF_ENGINE_TEXT_SIZE]; /* the latest; "": none */
	uint64_t trouble_ns;		   /* when it was set */
	struct rf_said said;		   /* the error logged last */
	uint64_t connections;
};

/* `link` has engine, cluster, node, purpose, loop, patience and is_urgent already. */
void rf_link_start(struct rf_link *link);
void rf_link_end(struct rf_link *link);
/* Not needed for now. Later it resumes with its pause and its last logged error. */
void rf_link_rest(struct rf_link *link);
/* Connects, handles timeouts, logs errors. */
void rf_link_turn(struct rf_link *link, uint64_t now);
uint64_t rf_link_due_ns(const struct rf_link *link);
/*
 * `lengths` NULL: all words are strings. False: cannot send now, and `answer` is not called.
 */
bool rf_link_call(struct rf_link *link, uint32_t tag, int count, const char *const *words,
		  const size_t *lengths, rf_link_answer answer, void *data);

/* ---- lines ---- */

#define RF_TAGS_OF_BUCKETS ((1U << RF_BUCKETS) - 1)
#define RF_TAGS_ALL ((1U << RF_TAGS) - 1)

/*
 * The connections of one purpose, such as heartbeats: one to each node that has keys of its calls.
 * They are made on demand, and closed once the node has no keys.
 */
struct rf_line {
	const struct rf_engine *engine;
	struct rf_cluster *cluster; /* of all lines */
	const char *purpose;	    /* for messages */
	uint32_t tags;		    /* of the keys of its calls, one bit each */
	struct rf_loop *loop;
	bool is_urgent;	      /* served before all other events */
	uint64_t patience_ns; /* of a reply */
	struct rf_link link[RF_NODES_MOST];
};

void rf_line_end(struct rf_line *line);
void rf_line_turn(struct rf_line *line, uint64_t now);
uint64_t rf_line_due_ns(const struct rf_line *line, uint64_t now);
/* Can a call with keys of that tag be sent? */
bool rf_line_is_ready(const struct rf_line *line, uint32_t tag, uint64_t now);
/* See rf_link_call(). */
bool rf_line_call(struct rf_line *line, uint32_t tag, int count, const char *const *words,
		  const size_t *lengths, rf_link_answer answer, void *data);
/* The most relevant connection: with an error, else not ready. */
const struct rf_link *rf_line_worst(const struct rf_line *line);
/* The error of the line or of the cluster; "": none. */
const char *rf_line_trouble(const struct rf_line *line);

/* ---- error messages of the server, and how to fix them ---- */

/* A message for an error of the server, with its fix. */
void rf_engine_explain(const char *error, char *text, size_t size);

#endif /* RINGFENCE_AGENT_LINK_H */
