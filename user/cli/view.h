/* SPDX-License-Identifier: GPL-2.0 */
/* Parts of a fence that several reading commands print. */
#ifndef RINGFENCE_VIEW_H
#define RINGFENCE_VIEW_H

#include <jansson.h>

#include "rules/ruleset.h"
#include "schema/record.h"

#define RF_MEMORY_TEXT_SIZE 32

/* "46.4 MiB" */
void rf_view_memory(uint64_t bytes, char text[RF_MEMORY_TEXT_SIZE]);

/* A bit set of RF_PORTS as ["53", "1000-2000"]; null for NULL. */
json_t *rf_view_ports(const uint64_t *ports);
/* The same for people; ranges that do not fit are left out. */
#define RF_PORTS_TEXT_SIZE 64
void rf_view_ports_text(const uint64_t *ports, char text[RF_PORTS_TEXT_SIZE]);
/* What a limit names by `to`: PREFIX,…, which the caller frees; NULL: nothing. */
char *rf_view_to_text(const struct rf_ruleset *rules, int slot);
/* A limit of rules, for records. */
struct rf_limit_view {
	const struct rf_ruleset *rules;
	const struct rf_limit *limit;
	int slot;
};

struct rf_limit_view rf_limit_view(const struct rf_ruleset *rules, int slot);
/* Its name, and to which packets of which sources it applies, without `from`. */
extern const struct rf_field rf_limit_match_fields[];

/* `object` with the keys of `more`, which is freed; NULL where there is no memory. */
json_t *rf_view_merged(json_t *object, json_t *more);
/* How many prefixes a list has by this host, by other hosts, and how many a `from` names. */
size_t rf_view_count_list(const struct rf_ruleset *rules, enum rf_list list);
size_t rf_view_count_fleet(const struct rf_ruleset *rules);
size_t rf_view_count_from(const struct rf_ruleset *rules, int slot);

#endif /* RINGFENCE_VIEW_H */
