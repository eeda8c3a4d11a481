/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The socket where the agent answers questions: a few clients at once, none of whom it waits for.
 * A client asks once. Whoever asks more, or is there when many others come, is hung up on.
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
	 * The answer, of the heap; NULL: no memory, or it comes later, by rf_desk_reply(), and then
	 * `*later` is set. `question` is anybody's text.
	 */
	char *(*answer)(void *context, const char *question, uint64_t ticket, bool *later);
};

struct rf_desk {
	struct rf_loop *loop;
	struct rf_loop_source listens; /* fd -1: it does not */
	char path[108];
	struct rf_desk_port port;
	struct rf_desk_client client[RF_DESK_CLIENTS];
	int next; /* the place of the next client: the oldest gives way */
	uint64_t tickets;
};

/* An error names the path. Another agent that answers there is one. */
int rf_desk_open(struct rf_desk *desk, const char *name, struct rf_loop *loop,
		 const struct rf_desk_port *port, struct rf_error *error);
void rf_desk_close(struct rf_desk *desk);
/* Answers the client with that ticket, if it is still there. */
void rf_desk_reply(struct rf_desk *desk, uint64_t ticket, const char *answer);

#endif /* RINGFENCE_AGENT_DESK_H */
