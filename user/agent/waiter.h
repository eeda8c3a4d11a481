/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Waits for programs, in a thread of its own: that takes up to some 10 ms, and heartbeats and asks
 * have no such time.
 */
#ifndef RINGFENCE_AGENT_WAITER_H
#define RINGFENCE_AGENT_WAITER_H

#include <pthread.h>
#include <stdbool.h>

#include "base/error.h"
#include "base/loop.h"

struct rf_waiter {
	pthread_t thread;
	bool runs;
	int begin_fd; /* of an event; -1: none */
	struct rf_loop *loop;
	struct rf_loop_source done;
};

#define RF_WAITER_NONE ((struct rf_waiter){.begin_fd = -1, .done = {.fd = -1}})

/*
 * `waiter` is RF_WAITER_NONE before, but for done.ready and done.context: that is called once a
 * wait is over. End it even after an error.
 */
int rf_waiter_start(struct rf_waiter *waiter, struct rf_loop *loop, struct rf_error *error);
void rf_waiter_end(struct rf_waiter *waiter);
/* Begins to wait until no program runs any more that runs now. False: it cannot. */
bool rf_waiter_begin(struct rf_waiter *waiter);
/* 0 or -errno of the wait that is over; -EAGAIN: it goes on. */
int rf_waiter_result(struct rf_waiter *waiter);

#endif /* RINGFENCE_AGENT_WAITER_H */
