/* SPDX-License-Identifier: GPL-2.0 */
/* Parts of a fence that several reading commands print. */
#ifndef RINGFENCE_VIEW_H
#define RINGFENCE_VIEW_H

#include <jansson.h>

#include "fence/by_interface.h"
#include "fence/fence.h"

/*
 * [{"name","ethernet","mode","attached_by","chain"}], and where interfaces are counted apart
 * "packets" and "bytes" as well, null for one that is not.
 */
json_t *rf_view_interfaces(const struct rf_fence *fence, const struct rf_by_interface *sums);
/* {"packets":{"passed","dropped"},"bytes":{"passed","dropped"}} */
json_t *rf_view_interface_counters(const struct rf_interface_counters *counters);
#define RF_MEMORY_TEXT_SIZE 32

/* "46.4 MiB" */
void rf_view_memory(uint64_t bytes, char text[RF_MEMORY_TEXT_SIZE]);
const char *rf_view_attached_by(const struct rf_interface *interface);

/* A bit set of RF_PORTS as ["53", "1000-2000"]; null for NULL. */
json_t *rf_view_ports(const uint64_t *ports);
/* The same for people; ranges that do not fit are left out. */
#define RF_PORTS_TEXT_SIZE 64
void rf_view_ports_text(const uint64_t *ports, char text[RF_PORTS_TEXT_SIZE]);
/* What a limit names by `to`: PREFIX,…, which the caller frees; NULL: nothing. */
char *rf_view_to_text(const struct rf_ruleset *rules, int slot);
/* Adds to the JSON of a limit what it asks of packets beyond protocol and destination port. */
json_t *rf_view_with_shape(json_t *limit, const struct rf_ruleset *rules, int slot);
/* {"admitted","aggregated","passed","dropped"} */
json_t *rf_view_newcomers(const struct rf_counters *counters);
/* {"inserts","evictions"} of a family, 0 or 1. */
json_t *rf_view_windows(const struct rf_counters *counters, int family);
/* `object` with the keys of `more`, which is freed; NULL where there is no memory. */
json_t *rf_view_merged(json_t *object, json_t *more);
/* How many prefixes a list has by this host, by other hosts, and how many a `from` names. */
size_t rf_view_count_list(const struct rf_ruleset *rules, enum rf_list list);
size_t rf_view_count_fleet(const struct rf_ruleset *rules);
size_t rf_view_count_from(const struct rf_ruleset *rules, int slot);

#endif /* RINGFENCE_VIEW_H */
