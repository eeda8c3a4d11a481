/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The reasons of verdicts and the errors of maps, as rows. Both are defined in
 * ringfence/counters.h, where the program reads them as well.
 */
#ifndef RINGFENCE_REASONS_H
#define RINGFENCE_REASONS_H

#include <stdbool.h>

#include "ringfence/abi.h"

struct rf_reason_row {
	bool is_drop;
	const char *name; /* for JSON and metrics: under_limit */
	const char *text; /* for people, a label: under the limit */
	const char *help; /* a line without its verdict */
};

struct rf_map_error_row {
	const char *name;
	const char *help;
};

extern const struct rf_reason_row rf_reasons[RF_REASON_COUNT];
extern const struct rf_map_error_row rf_map_errors[RF_MAP_ERROR_COUNT];

/* The verdict as a word: ROW's third argument is PASS or DROP. */
#define RF_VERDICT_PASS "passed"
#define RF_VERDICT_DROP "dropped"

const char *rf_reason_name(enum rf_reason reason);
const char *rf_reason_text(enum rf_reason reason);
const char *rf_reason_verdict(enum rf_reason reason); /* "passed" or "dropped" */
bool rf_reason_is_drop(enum rf_reason reason);
const char *rf_map_error_name(enum rf_map_error error);

#endif /* RINGFENCE_REASONS_H */
