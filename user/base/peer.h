/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RINGFENCE_PEER_H
#define RINGFENCE_PEER_H

#include <stdint.h>

#include "base/prefix.h"

/* An SSH connection, as its server sees it: from the client's address and port to its own. */
struct rf_peer {
	struct rf_prefix address, own; /* whole addresses */
	uint16_t port, own_port;       /* 0: not known */
	bool has_own;
};

/* Parses the value of SSH_CONNECTION: "192.0.2.1 51432 198.51.100.1 22". */
bool rf_peer_parse(const char *value, struct rf_peer *peer);
/*
 * Finds the SSH connection of this process by SSH_CONNECTION in its environment or, since sudo
 * removes the variable, in that of an ancestor. False: not found.
 */
bool rf_own_peer(struct rf_peer *peer);

#endif /* RINGFENCE_PEER_H */
