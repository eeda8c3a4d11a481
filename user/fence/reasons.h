/* SPDX-License-Identifier: GPL-2.0 */
/* The names of reasons and of map errors, for programs and for people. */
#ifndef RINGFENCE_REASONS_H
#define RINGFENCE_REASONS_H

#include "ringfence/abi.h"

const char *rf_reason_name(enum rf_reason reason); /* for JSON and metrics: under_limit */
const char *rf_reason_text(enum rf_reason reason); /* for people: under the limit */
const char *rf_map_error_name(enum rf_map_error error);

#endif /* RINGFENCE_REASONS_H */
