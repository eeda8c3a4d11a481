/* SPDX-License-Identifier: GPL-2.0 */
/* Times of the data path: jiffies, `tick_ns` long. */
#ifndef RINGFENCE_TICKS_H
#define RINGFENCE_TICKS_H

#include <stdint.h>

#include "ringfence/abi.h"

/* The time `time_ns` from `now`, rounded up, plus a tick: the present jiffy may be nearly over. */
static inline uint64_t rf_ticks_after(uint64_t now, uint64_t time_ns, uint32_t tick_ns)
{
	if (!tick_ns) /* it may come from another user's memory */
		return RF_FOREVER;
	return now + time_ns / tick_ns + (time_ns % tick_ns != 0) + 1;
}

#endif /* RINGFENCE_TICKS_H */
