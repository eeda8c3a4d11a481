/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RINGFENCE_RECEIVED_H
#define RINGFENCE_RECEIVED_H

#include <net/if.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What an interface has received, as `ip -s link` prints it. */
struct rf_received {
	char name[IF_NAMESIZE];
	uint64_t packets; /* as before where the interface is not listed */
};

/*
 * Fills in the packets of each. It reads /proc/net/dev: an answer by netlink waits for the lock
 * that changes of network devices take, which a driver holds while it sets up its rings anew.
 */
void rf_received_read(struct rf_received *received, size_t count);
/* The same of such a list. */
void rf_received_parse(FILE *list, struct rf_received *received, size_t count);

#endif /* RINGFENCE_RECEIVED_H */
