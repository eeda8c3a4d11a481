// SPDX-License-Identifier: GPL-2.0
#include <time.h>

#include "attach/carrier.h"
#include "base/time.h"
#include "base/units.h"

#define PAUSE_NS (5 * RF_NS_PER_MS)

void rf_carrier_begin(struct rf_carrier *carrier, unsigned int index)
{
	struct rf_link_state state;

	*carrier = (struct rf_carrier){.index = index, .began_ns = rf_time_awake()};
	if (rf_netlink_state(index, &state))
		return;
	carrier->had_carrier = state.has_carrier;
	carrier->changes = state.carrier_changes;
}

static uint64_t since_ms(const struct rf_carrier *carrier)
{
	return (rf_time_awake() - carrier->began_ns) / RF_NS_PER_MS;
}

struct rf_link_down rf_carrier_wait(const struct rf_carrier *carrier)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	struct rf_link_down down = {};
	struct rf_link_state state;

	if (!carrier->had_carrier)
		return down;
	while (!rf_netlink_state(carrier->index, &state) &&
	       state.carrier_changes != carrier->changes) {
		down.ms = since_ms(carrier);
		down.is_down = !state.has_carrier;
		if (state.has_carrier || down.ms >= RF_CARRIER_WAIT_MS)
			break;
		nanosleep(&pause, NULL);
	}
	return down;
}
