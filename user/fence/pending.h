/* SPDX-License-Identifier: GPL-2.0 */
/* The pending packets in leases, which no counter has yet. */
#ifndef RINGFENCE_PENDING_H
#define RINGFENCE_PENDING_H

#include "fence/fence.h"
#include "ringfence/lease.h"

/* The leases that hold packets, as they were at one moment. Free them even after an error. */
struct rf_leases {
	struct rf_lease *of;
	size_t count;
	size_t capacity;
};

/*
 * In the order of the map. The counters that are added to are read before. -ENOMEM, or the error of
 * the map.
 */
int rf_leases_read(const struct rf_fence *fence, struct rf_leases *leases);
void rf_leases_free(struct rf_leases *leases);

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

void rf_leases_add_counters(const struct rf_leases *leases, struct rf_counters *sum);
void rf_leases_add_limits(const struct rf_leases *leases, const struct rf_bank *bank,
			  struct rf_limit_counters sum[RF_LIMITS_MAX]);
int rf_leases_list(const struct rf_fence *fence, const struct rf_leases *leases,
		   const struct rf_bank *bank, struct rf_pending *pending);
/* Both steps together. */
int rf_leases_snapshot(const struct rf_fence *fence, const struct rf_bank *bank,
		       struct rf_pending *pending);
/* All counters, with leases that are read once, after them: those are handed over. */
int rf_fence_all_counters(const struct rf_fence *fence, const struct rf_bank *bank,
			  struct rf_counters *sum, struct rf_limit_counters limit[RF_LIMITS_MAX],
			  struct rf_leases *leases, struct rf_error *error);

#endif /* RINGFENCE_PENDING_H */
