/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The event loop of the daemon and of the fleet's agent: descriptors, signals and a deadline, by
 * epoll. A program has one loop. Its turns belong to the caller: wait, serve, run due work.
 */
#ifndef RINGFENCE_BASE_LOOP_H
#define RINGFENCE_BASE_LOOP_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

#define RF_LOOP_EVENTS 16 /* served in a turn; the others are, in the turns that follow */

/*
 * An event source of a loop. Unwatch it before `fd` is closed, because a child can still have that
 * open.
 */
struct rf_loop_source {
	void (*ready)(void *context, uint32_t events); /* EPOLLIN…; NULL: it only ends the wait */
	void *context;
	int fd;
	bool is_urgent; /* served before the other sources */
};

struct rf_loop {
	int epoll_fd;
	struct rf_loop_source signals; /* its fd is a signalfd */
	uint64_t came;		       /* signals that were not fetched yet, a bit each */
	struct epoll_event event[RF_LOOP_EVENTS];
	int count;
};

#define RF_LOOP_NONE ((struct rf_loop){.epoll_fd = -1, .signals = {.fd = -1}})

/*
 * From here on `signals`, a list terminated by 0, arrive only by the loop, also in threads that
 * start later. A child process has them blocked. Writing to a closed peer returns an error. Close
 * it even after an error. 0 or -errno. `loop` must not move.
 */
int rf_loop_open(struct rf_loop *loop, const int *signals);
void rf_loop_close(struct rf_loop *loop);

/* Waits for these events of the source, in place of the previous ones. 0 or -errno. */
int rf_loop_watch(struct rf_loop *loop, struct rf_loop_source *source, uint32_t events);
/* It is not served any more, also if something came of it in this turn. It need not be watched. */
void rf_loop_unwatch(struct rf_loop *loop, struct rf_loop_source *source);

/* The earlier of two deadlines. UINT64_MAX is none. */
static inline uint64_t rf_earlier(uint64_t one_ns, uint64_t other_ns)
{
	return one_ns < other_ns ? one_ns : other_ns;
}

/* Waits for a source or a signal until then, by rf_time_awake(), or a ms longer. */
void rf_loop_wait(struct rf_loop *loop, uint64_t until_ns);
/* Serves the urgent sources of which something came. False: of none. */
bool rf_loop_serve_urgent(struct rf_loop *loop);
/* Serves all others. */
void rf_loop_serve(struct rf_loop *loop);
/* Has that signal arrived since the last call? */
bool rf_loop_took(struct rf_loop *loop, int signal);

/* ---- threads ---- */

/* Starts a thread that takes no signal. 0 or -errno. */
int rf_thread_start(pthread_t *thread, void *(*run)(void *), void *context);

#endif /* RINGFENCE_BASE_LOOP_H */
