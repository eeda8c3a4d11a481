/* SPDX-License-Identifier: GPL-2.0 */
/* The page process, as the scanner sees it: started, fed, and started again when it dies. */
#ifndef RINGFENCE_DAEMON_CHILD_H
#define RINGFENCE_DAEMON_CHILD_H

#include <sys/types.h>

#include "base/loop.h"
#include "daemon/feed.h"
#include "daemon/request.h"

/* The token that requests for the page show, and the file by which `ringfence page` finds it. */

struct rf_token_place {
	char directory[RF_SETTING_PATH_SIZE]; /* "": no writable one */
	char path[RF_SETTING_PATH_SIZE];      /* of the token; "": it is in no file */
};

/* Leaves the address for `ringfence page`. */
void rf_token_publish(const struct rf_token_place *place, const char *address);
/* Takes the address away. */
void rf_token_withdraw(const struct rf_token_place *place);

struct rf_child {
	struct rf_site site;
	struct rf_token_place token;
	int tcp_fd, unix_fd; /* sockets; -1: none */
	pid_t pid;	     /* 0: it does not run */
	struct rf_feed feed;
	int ask_fd;	      /* viewers' requests; -1: none */
	struct rf_loop *loop; /* NULL: neither pipe was ever watched */
	struct rf_loop_source feed_source, ask_source;
	uint64_t started_ns, start_at_ns; /* by rf_time_awake() */
	uint64_t delay_ns;		  /* before the next start */
};

#define RF_CHILD_NONE \
	((struct rf_child){.tcp_fd = -1, .unix_fd = -1, .ask_fd = -1, .feed = {.fd = -1}})

/* Opens the sockets that the settings name, and reads the token. Starts nothing yet. */
int rf_child_prepare(struct rf_child *child, const struct rf_settings *settings,
		     struct rf_error *error);
/*
 * Starts the process if it should run, does not, and its delay has elapsed. Returns whether it did.
 */
bool rf_child_start(struct rf_child *child);
/*
 * Ends the loop's wait when the feed has room, and when a viewer sends a request. `child` and
 * `loop` must not move.
 */
void rf_child_watch(struct rf_child *child, struct rf_loop *loop, bool is_feeding, bool is_asked);
/* Closes the pipe of questions: no process writes to it any more. */
void rf_child_stop_asking(struct rf_child *child);
/* Notes whether the process has ended. */
void rf_child_reap(struct rf_child *child);
/* Terminates the process, and closes the sockets. */
void rf_child_end(struct rf_child *child);

#endif /* RINGFENCE_DAEMON_CHILD_H */
