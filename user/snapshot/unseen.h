/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sources without a window: listed ones, newcomers over the newcomers rate, and those that no limit
 * matches. Nothing counts them one by one, so their rates are estimated from samples of packets.
 */
#ifndef RINGFENCE_UNSEEN_H
#define RINGFENCE_UNSEEN_H

#include "base/prefix.h"
#include "fence/fence.h"

#define RF_UNSEEN_PASSED \
	(1U << RF_NO_LIMIT | 1U << RF_ALLOWED | 1U << RF_NEWCOMER_OPEN | 1U << RF_MAP_ERROR)
#define RF_UNSEEN_DROPPED \
	(1U << RF_DENIED | 1U << RF_NEWCOMER_CLOSED | 1U << RF_NO_WINDOW | 1U << RF_UNCLASSED)

struct rf_unseen_row {
	struct rf_prefix source; /* an IPv4 address, an IPv6 /64, or a link-local address */
	enum rf_reason reason;
	uint64_t samples;
	double per_s; /* packets a second, estimated */
};

struct rf_unseen {
	struct rf_unseen_row *row; /* by rate, the highest first */
	size_t count, capacity;
	uint32_t one_in;  /* of the packets with one of the wanted verdicts, one was taken */
	uint64_t time_ns; /* over that time */
	uint64_t samples; /* that were read, of any reason */
	uint64_t missed;
};

/* Does somebody take samples of such packets now? */
bool rf_unseen_is_sampled(const struct rf_fence *fence);
struct rf_unseen_asked {
	uint64_t time_ns;
	const struct rf_prefix *within; /* NULL: all sources */
	const bool *ends;		/* set by another thread: ends early; NULL: never */
};

/*
 * Takes that long: reads what others sample, or samples by itself, which needs a fence that may be
 * changed. Free `unseen` even after an error.
 */
int rf_unseen_read(const struct rf_fence *fence, const struct rf_unseen_asked *asked,
		   struct rf_unseen *unseen, struct rf_error *error);
void rf_unseen_free(struct rf_unseen *unseen);

#endif /* RINGFENCE_UNSEEN_H */
