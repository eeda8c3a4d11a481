/* SPDX-License-Identifier: GPL-2.0 */
/* The socket where the agent answers questions: a few clients at once, none of whom it waits for.
 */
#ifndef RINGFENCE_AGENT_DESK_H
#define RINGFENCE_AGENT_DESK_H

#include "agent/status.h"
#include "base/error.h"

#define RF_DESK_CLIENTS 8

struct rf_desk {
	int epoll_fd;
	int fd; /* it listens; -1: not */
	char path[108];
	int client[RF_DESK_CLIENTS]; /* -1: free */
	int next;		     /* the place of the next client: the oldest gives way */
};

/* An error names the path. Another agent that answers there is one. */
int rf_desk_open(struct rf_desk *desk, const char *name, int epoll_fd, struct rf_error *error);
void rf_desk_close(struct rf_desk *desk);
/* Does data.ptr of an event belong to the desk? Then it is served. */
bool rf_desk_serve(struct rf_desk *desk, const void *of, const struct rf_status_view *view);

#endif /* RINGFENCE_AGENT_DESK_H */
