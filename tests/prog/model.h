/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A model of several limits on one packet, too simple to be wrong: it evaluates all of them, and
 * then charges all. No leases, one CPU, a window for every source.
 */
#ifndef RINGFENCE_TESTS_MODEL_H
#define RINGFENCE_TESTS_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "ringfence/abi.h"
#include "rules/grammar.h"
#include "tests/frame_headers.h"

#define WINDOWS_MAX 256

struct model_window {
	struct rf_address source; /* masked as the limit has it */
	int slot;
	struct rf_source state;
};

struct model {
	struct rf_bank bank;
	struct model_window window[WINDOWS_MAX];
	int windows;
	struct rf_limit_counters limit[RF_LIMITS_MAX];
	struct rf_count reason[RF_REASON_COUNT];
	uint64_t now_ns;
	uint32_t tick_ns;
};

/* A packet, as a rule sees it. */
struct sent {
	struct frame frame;
	struct rf_address source;
	uint32_t limits; /* that it is charged to */
};

/* At the time of that limit's clock. */
uint64_t model_time(const struct model *model, const struct rf_policy *policy);

/* Returns whether the packet passes. */
bool model_send(struct model *model, const struct sent *sent);

#endif /* RINGFENCE_TESTS_MODEL_H */
