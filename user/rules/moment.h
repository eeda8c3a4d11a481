/* SPDX-License-Identifier: GPL-2.0 */
/* The times of `at`, `since` and `until`. */
#ifndef RINGFENCE_MOMENT_H
#define RINGFENCE_MOMENT_H

#include <stdint.h>

#include "base/error.h"

/*
 * 14:02, 14:02:11, 2026-11-22T14:02, or a time back from `now_ns`: -2h. Of local time, or of UTC
 * with a Z at the end, as in JSON. A time without a date is the last such time before now. A time
 * that the clock shows twice, when summer time ends, is the later one that is not in the future.
 * All are ns since 1970. Fails without a change of `time_ns`.
 */
int rf_parse_moment(const char *text, uint64_t now_ns, uint64_t *time_ns, struct rf_error *error);

#endif /* RINGFENCE_MOMENT_H */
