/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A connection to a node of the engine, a redis-server or what speaks like one. It never blocks:
 * requests are sent, and answered later, in order. A request that has no answer in time ends the
 * connection, so what comes late is never seen. A connection that has ended is made again, after a
 * moment.
 *
 * On "Function not found" it loads ringfence's functions, and is ready again. A node of a cluster
 * is asked whether it is one, since anything else would be a second ledger.
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
#define RF_TROUBLE_KEPT_NS 10000000000ULL /* of a connection that stands and is not used */

enum rf_link_state {
	RF_LINK_DOWN,
	RF_LINK_CONNECTING,
	RF_LINK_LOADING, /* logs in, says what it is, or loads the functions */
	RF_LINK_READY,
};

/*
 * NULL: there was no answer, or an error. An error is given only where the call has changed nothing
 * and may be sent again, as soon as the line is ready for it: its keys are on another node, or the
 * functions were missing.
 */
typedef void (*rf_link_answer)(void *data, const redisReply *reply);

struct rf_request {
	TAILQ_ENTRY(rf_request) place;
	struct rf_link *link;
	rf_link_answer answer;
	void *data;
	uint32_t tag; /* of its keys; RF_TAGS: it has none */
	uint64_t until_ns;
	char function[RF_FUNCTION_SIZE]; /* that it calls; "": none */
};

struct rf_link {
	const struct rf_engine *engine; /* how to log in */
	struct rf_cluster *cluster;
	uint32_t node, id;   /* its number there; id 0: the link is not in use */
	const char *purpose; /* for messages */
	struct rf_loop *loop;
	uint64_t patience_ns;	  /* for an answer */
	redisAsyncContext *redis; /* NULL: down */
	struct rf_guard guard;	  /* in it */
	enum rf_link_state state;
	struct rf_loop_source socket;
	uint32_t events; /* that the loop waits for; 0: it does not have the socket */
	/* It has a library of another version, so until then what it lacks is not loaded; 0: not.
	 */
	uint64_t has_library_ns;
	char lacks[RF_FUNCTION_SIZE]; /* the function that it lacks, maybe; "": none */
	bool ends;		      /* it is to be ended as soon as no callback runs */
	bool has_failed;	      /* to connect or to answer; the line clears it */
	uint64_t retry_ns;	      /* when it is made again */
	uint64_t pause_ns;	      /* between two attempts */
	uint64_t connected_ns;
	TAILQ_HEAD(, rf_request) requests; /* the oldest first */
	char trouble[RF_ENGINE_TEXT_SIZE]; /* the newest; "": none */
	uint64_t trouble_ns;		   /* when it was noted */
	struct rf_said said;		   /* the error logged last */
	uint64_t connections;
};

/* All that is said of it is by `link`, which has engine, cluster, node, purpose, loop, patience,
 * and whether its socket is urgent. */
void rf_link_start(struct rf_link *link);
void rf_link_end(struct rf_link *link);
/* It is not needed for now. When it is again, it goes on with its pause, and with what it said. */
void rf_link_rest(struct rf_link *link);
/* Connects, ends what has lasted too long, says what is wrong. */
void rf_link_turn(struct rf_link *link, uint64_t now);
uint64_t rf_link_due_ns(const struct rf_link *link);
/*
 * `lengths` NULL: all words are texts. False: nothing can be sent now, and `answer` is not called.
 */
bool rf_link_call(struct rf_link *link, uint32_t tag, int count, const char *const *words,
		  const size_t *lengths, rf_link_answer answer, void *data);

/* ---- lines ---- */

#define RF_TAGS_OF_BUCKETS ((1U << RF_BUCKETS) - 1)
#define RF_TAGS_ALL ((1U << RF_TAGS) - 1)

/*
 * The connections of one purpose, such as heartbeats: one to each node of the engine that has the
 * keys of its calls. They are made on need, and ended when no keys are there any more.
 */
struct rf_line {
	const struct rf_engine *engine;
	struct rf_cluster *cluster; /* of all lines */
	const char *purpose;	    /* for messages */
	uint32_t tags;		    /* of the keys of its calls, a bit each */
	struct rf_loop *loop;
	bool is_urgent;	      /* what comes of it is served before all else */
	uint64_t patience_ns; /* for an answer */
	struct rf_link link[RF_NODES_MOST];
};

void rf_line_end(struct rf_line *line);
void rf_line_turn(struct rf_line *line, uint64_t now);
uint64_t rf_line_due_ns(const struct rf_line *line, uint64_t now);
/* May a call with keys of that tag be sent? */
bool rf_line_is_ready(const struct rf_line *line, uint32_t tag, uint64_t now);
/* See rf_link_call(). */
bool rf_line_call(struct rf_line *line, uint32_t tag, int count, const char *const *words,
		  const size_t *lengths, rf_link_answer answer, void *data);
/* The connection that says the most of how the line is: one in trouble, else one that is not ready.
 */
const struct rf_link *rf_line_worst(const struct rf_line *line);
/* What is wrong with it, or with the cluster; "": nothing. */
const char *rf_line_trouble(const struct rf_line *line);

/* ---- what the engine's errors mean, and what to do ---- */

/* A sentence for an error of the engine. */
void rf_engine_explain(const char *error, char *text, size_t size);

#endif /* RINGFENCE_AGENT_LINK_H */
