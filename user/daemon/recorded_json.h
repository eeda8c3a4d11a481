/* SPDX-License-Identifier: GPL-2.0 */
/* Ranges of a history for the page, with sources as they may be told today. */
#ifndef RINGFENCE_DAEMON_RECORDED_JSON_H
#define RINGFENCE_DAEMON_RECORDED_JSON_H

#include <jansson.h>

#include "daemon/query.h"
#include "watch/privacy.h"
#include "watch/reader.h"

/* NULL: `error` says why. */
json_t *rf_range_json(struct rf_reader *reader, const struct rf_query *query,
		      struct rf_error *error);
json_t *rf_sources_json(struct rf_reader *reader, const struct rf_query *query, enum rf_told told,
			struct rf_error *error);
/* With a source in the query: its events alone. */
json_t *rf_events_json(struct rf_reader *reader, const struct rf_query *query, enum rf_told told,
		       struct rf_error *error);

#endif /* RINGFENCE_DAEMON_RECORDED_JSON_H */
