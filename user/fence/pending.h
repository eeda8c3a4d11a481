/* SPDX-License-Identifier: GPL-2.0 */
/* The pending packets in leases, which no counter has yet. */
#ifndef RINGFENCE_PENDING_H
#define RINGFENCE_PENDING_H

#include "fence/fence.h"

/* The pending packets that a lease holds for one window. */
struct rf_pending_row {
	uint64_t source; /* masked as the limit groups, in the form of rf_lease */
	uint32_t packets;
	uint8_t slot;
	uint8_t is_ipv6;
	uint8_t reason; /* RF_UNDER_LIMIT, RF_SHADOW_OVER, or a reason to drop */
};

/* The rows are sorted by source, slot and family. The caller frees `row`. */
struct rf_pending {
	struct rf_pending_row *row;
	size_t count;
	size_t capacity;
};

/* Add the pending packets to sums that the caller read before. */
void rf_leases_add_counters(const struct rf_fence *fence, struct rf_counters *sum);
void rf_leases_add_limits(const struct rf_fence *fence, const struct rf_bank *bank,
			  struct rf_limit_counters sum[RF_LIMITS_MAX]);
int rf_leases_snapshot(const struct rf_fence *fence, const struct rf_bank *bank,
		       struct rf_pending *pending);
void rf_leases_add_source(const struct rf_pending *pending, const struct rf_address *source,
			  const struct rf_bank *bank, int slot, struct rf_source *state);

#endif /* RINGFENCE_PENDING_H */
