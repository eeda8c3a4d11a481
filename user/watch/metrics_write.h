/* SPDX-License-Identifier: GPL-2.0 */
/* How samples are written, for metrics_text.c and what it is divided into. */
#ifndef RINGFENCE_METRICS_WRITE_H
#define RINGFENCE_METRICS_WRITE_H

#include <stdio.h>

#include "watch/metrics_of.h"

struct rf_writer {
	const struct rf_metrics_page *page;
	const char *name; /* of the metric, without the _total or _info of its samples */
	FILE *out;
};

/* ---- metrics_write.c ---- */

__attribute__((format(printf, 2, 3))) void rf_put(FILE *out, const char *format, ...);
void rf_put_label(FILE *out, const char *name, const char *value);
/* Begins a sample with the label of its fence; NULL: it has none. */
void rf_sample_begin(struct rf_writer *writer, const char *suffix, const char *fence);
void rf_sample_label(struct rf_writer *writer, const char *name, const char *value);
void rf_sample_count(struct rf_writer *writer, uint64_t value);
void rf_sample_seconds(struct rf_writer *writer, uint64_t value_ns);

/* ---- metrics_fleet.c: samples of a fence that is in a fleet ---- */

void rf_write_fleet_alone(struct rf_writer *writer, const struct rf_metrics *metrics);
void rf_write_fleet_alone_times(struct rf_writer *writer, const struct rf_metrics *metrics);
void rf_write_fleet_alone_seconds(struct rf_writer *writer, const struct rf_metrics *metrics);
void rf_write_fleet_heard(struct rf_writer *writer, const struct rf_metrics *metrics);
void rf_write_fleet_agent(struct rf_writer *writer, const struct rf_metrics *metrics);
void rf_write_fleet_hosts(struct rf_writer *writer, const struct rf_metrics *metrics);
void rf_write_fleet_members(struct rf_writer *writer, const struct rf_metrics *metrics);
void rf_write_fleet_shares(struct rf_writer *writer, const struct rf_metrics *metrics);
void rf_write_fleet_contested(struct rf_writer *writer, const struct rf_metrics *metrics);
void rf_write_fleet_asks(struct rf_writer *writer, const struct rf_metrics *metrics);

#endif /* RINGFENCE_METRICS_WRITE_H */
