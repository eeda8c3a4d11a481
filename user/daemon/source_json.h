/* SPDX-License-Identifier: GPL-2.0 */
/* All that is known of one source: what `show` has of it now, recorded cells, and events. */
#ifndef RINGFENCE_DAEMON_SOURCE_JSON_H
#define RINGFENCE_DAEMON_SOURCE_JSON_H

#include <jansson.h>

#include "daemon/fences.h"
#include "daemon/query.h"
#include "watch/reader.h"

/* `reader` may be NULL: there is no history. NULL: `error` says why. */
json_t *rf_source_json(const struct rf_watched *one, struct rf_reader *reader,
		       const struct rf_query *query, enum rf_told told, struct rf_error *error);

#endif /* RINGFENCE_DAEMON_SOURCE_JSON_H */
