/* SPDX-License-Identifier: GPL-2.0 */
/* How long a request took the link down: most drivers of hardware restart it. */
#ifndef RINGFENCE_CARRIER_H
#define RINGFENCE_CARRIER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/netlink.h"

#define RF_CARRIER_WAIT_MS 10000 /* for a link that comes back; negotiation takes 2 to 5 s */

struct rf_carrier {
	unsigned int index;
	bool had_carrier;
	uint32_t changes;
	uint64_t began_ns;
};

/* What a request did to the link; all 0: nothing. */
struct rf_link_down {
	uint64_t ms;  /* from the request until the carrier was back, or until the wait ended */
	bool is_down; /* the carrier was not back by then */
};

void rf_carrier_begin(struct rf_carrier *carrier, unsigned int index);
/* Waits for a link that the request took down, for RF_CARRIER_WAIT_MS at most. */
struct rf_link_down rf_carrier_wait(const struct rf_carrier *carrier);

#endif /* RINGFENCE_CARRIER_H */
