/* SPDX-License-Identifier: GPL-2.0 */
/* The sockets on which the page process serves. The scanner opens them, and hands them over. */
#ifndef RINGFENCE_DAEMON_LISTEN_H
#define RINGFENCE_DAEMON_LISTEN_H

#include "daemon/settings.h"

/* Both return a descriptor that does not block, or a negative errno with the reason. */
int rf_listen_open(const struct rf_listen *listen, struct rf_error *error);
/* Replaces a socket that nobody listens on any more. Its group may connect, and nobody else. */
int rf_listen_open_unix(const char *path, struct rf_error *error);

#endif /* RINGFENCE_DAEMON_LISTEN_H */
