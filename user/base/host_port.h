/* SPDX-License-Identifier: GPL-2.0 */
/* HOST:PORT, as people write it and as servers name each other. Pure. */
#ifndef RINGFENCE_HOST_PORT_H
#define RINGFENCE_HOST_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rf_host_port {
	const char *host; /* in the text, without brackets; may be empty */
	size_t length;
	bool in_brackets; /* as an address with colons is */
	const char *port; /* what comes after the last colon */
};

/* False: the text has no colon. Whether host and port make sense is the caller's to say. */
bool rf_host_port_split(const char *text, struct rf_host_port *parts);
/* False: it has no room for the host. */
bool rf_host_port_copy(const struct rf_host_port *parts, char *host, size_t size);
/* A port from 1, without a sign, a blank or a leading zero. 0: it is none. */
uint16_t rf_port_of(const char *text);

#endif /* RINGFENCE_HOST_PORT_H */
