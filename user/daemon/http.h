/* SPDX-License-Identifier: GPL-2.0 */
/* The HTTP server of the page process. */
#ifndef RINGFENCE_HTTP_H
#define RINGFENCE_HTTP_H

#include "daemon/feed.h"
#include "daemon/request.h"

struct rf_http;

/* Serves on a socket that listens. NULL: it cannot. */
struct rf_http *rf_http_start(int fd, bool is_unix, const struct rf_site *site);
/* The descriptor to wait on, and how long to wait at most, in ms. */
int rf_http_fd(const struct rf_http *http);
int rf_http_timeout(struct rf_http *http);
/* Does what there is to do, and closes connections whose time is over. */
void rf_http_turn(struct rf_http *http);

/* The scanner has answered: who waits for it is looked at again. */
void rf_http_wake(struct rf_http *http);

#endif /* RINGFENCE_HTTP_H */
