/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The counters of a fence, read in one way: `stats`, `stats watch` and `status` print them, and
 * each scan of the daemon and of `top` includes them. records.h has the fields for programs.
 */
#ifndef RINGFENCE_TOTALS_H
#define RINGFENCE_TOTALS_H

#include "fence/by_interface.h"
#include "fence/fence.h"

struct rf_leases;

/* All counters of a fence, and their sums. */
struct rf_fence_sums {
	struct rf_count passed;
	struct rf_count dropped;
	struct rf_count would_drop;
	struct rf_counters counters;
	struct rf_limit_counters limit[RF_LIMITS_MAX]; /* by slot of the limit */
	struct rf_by_interface interfaces;
	uint64_t map_errors;
	/* Windows in use, and sources that are residents, by family. */
	uint64_t used[2], residents[2];
	uint64_t residents_max; /* of a family; 0: not limited */
};

/*
 * Reads the counters since the attach, by reason, by limit of `rules`, the active ones, and by
 * interface. The packets that leases hold are included; `leases` are read once, and handed over
 * even after an error.
 */
int rf_fence_sums_read(const struct rf_fence *fence, const struct rf_bank *rules,
		       struct rf_fence_sums *sums, struct rf_leases *leases,
		       struct rf_error *error);

/* Adds the counters of reasons to `passed` or `dropped`. */
void rf_counters_sum(const struct rf_counters *counters, struct rf_count *passed,
		     struct rf_count *dropped);

struct rf_limit_totals {
	const struct rf_limit *limit;
	struct rf_limit_counters counted;
};

struct rf_interface_totals {
	const struct rf_interface *interface;
	/* NULL: the fence never had several interfaces, or the rest includes its packets. */
	const struct rf_interface_counters *counted;
};

/* Windows of a family. */
struct rf_window_totals {
	uint64_t made, evicted; /* since the reset */
	uint64_t used;		/* now */
	uint64_t residents;	/* of them, of sources that are known for a while */
};

struct rf_totals {
	const struct rf_fence *fence;
	struct rf_fence_sums all;   /* since the attach */
	struct rf_fence_sums since; /* since the reset, if there was one */
	struct rf_baseline base;    /* of the reset; all 0: never reset, or `from_attach` */
	struct rf_bank rules;
	struct rf_limit_totals limit[RF_LIMITS_MAX]; /* in the order in which limits are listed */
	int limits;
	struct rf_interface_totals *interface; /* of each of the fence's */
	/* The sums without these interfaces, if each interface has its counters. */
	struct rf_interface_counters rest;
	bool is_apart;
	struct rf_window_totals windows[2]; /* of IPv4 and IPv6 */
};

/*
 * `from_attach`: ignores resets. Free it even after an error. The totals refer to the fence and its
 * interfaces.
 */
int rf_totals_read(const struct rf_fence *fence, bool from_attach, struct rf_totals *totals,
		   struct rf_error *error);
void rf_totals_free(struct rf_totals *totals);

/* A second of what two readings of a fence have between them. */
struct rf_flow_rates {
	double passed, dropped, would_drop;
};

struct rf_interface_rates {
	const struct rf_interface *interface;
	struct rf_flow_rates packets, bits;
};

struct rf_rates {
	double seconds; /* between the readings */
	struct rf_flow_rates packets, bits;
	double reason[RF_REASON_COUNT];
	bool is_apart;
	struct rf_interface_rates interface[RF_INTERFACE_PLACES]; /* those counted in both */
	int interfaces;
	uint64_t map_errors; /* in all that time */
};

/* The additional fields of a line of `stats watch`. */
struct rf_stats_line {
	uint64_t time_ns; /* since 1970 */
	struct rf_rates rates;
};

void rf_rates_between(const struct rf_totals *before, const struct rf_totals *now, double seconds,
		      struct rf_rates *rates);

#endif /* RINGFENCE_TOTALS_H */
