/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The control socket of the agent, for a few concurrent clients. It never waits for them. A client
 * sends one request; a second request, or too many other clients, end the connection.
 */
#ifndef RINGFENCE_AGENT_DESK_H
#define RINGFENCE_AGENT_DESK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/loop.h"

#define RF_DESK_CLIENTS 8
#define RF_DESK_QUESTION_SIZE 128

struct rf_desk;

struct rf_desk_client {
	struct rf_desk *desk;
	struct rf_loop_source socket; /* fd -1: free */
	uint64_t ticket;	      /* no two clients have the same */
	bool has_asked;
};

struct rf_desk_port {
	void *context;
	/*
	 * The reply, on the heap; NULL: no memory, or `*later` is set and rf_desk_reply() sends it
	 * later. `question` is untrusted.
	 */
	char *(*answer)(void *context, const char *question, uint64_t ticket, bool *later);
};

struct rf_desk {
	struct rf_loop *loop;
	struct rf_loop_source listens; /* fd -1: it does not */
	char path[108];
	struct rf_desk_port port;
	struct rf_desk_client client[RF_DESK_CLIENTS];
	int next; /* the place of the next client, replacing the oldest */
	uint64_t tickets;
};

/* Errors name the path. Fails if a different agent serves it. */
int rf_desk_open(struct rf_desk *desk, const char *name, struct rf_loop *loop,
		 const struct rf_desk_port *port, struct rf_error *error);
void rf_desk_close(struct rf_desk *desk);
/* Replies to the client with that ticket, if it is still connected. */
void rf_desk_reply(struct rf_desk *desk, uint64_t ticket, const char *answer);

#endif /* RINGFENCE_AGENT_DESK_H */
