/* SPDX-License-Identifier: GPL-2.0 */
/* What a new definition changes about a limit, for people. */
#ifndef RINGFENCE_LIMIT_CHANGE_H
#define RINGFENCE_LIMIT_CHANGE_H

#include <jansson.h>

#include "rules/grammar_table.h"
#include "rules/ruleset.h"

#define RF_LIMIT_PART_SIZE 128

/* A limit in words: its attributes, by their rows. */
struct rf_limit_parts {
	uint32_t id;			 /* of its windows */
	uint32_t is_default;		 /* bit set of rows whose default goes with the algorithm */
	uint64_t hash[RF_LIMIT_OPTIONS]; /* of the whole text: what is shown may leave out some */
	char text[RF_LIMIT_OPTIONS][RF_LIMIT_PART_SIZE];
};

void rf_limit_parts_read(const struct rf_ruleset *rules, int slot, struct rf_limit_parts *parts);
bool rf_limit_parts_differ(const struct rf_limit_parts *before, const struct rf_limit_parts *after);
/*
 * Prints "limit 'dns': rate 100/1s → 200/1s; from 192.0.2.0/24 → any", and whether windows start
 * afresh.
 */
void rf_limit_parts_print_change(const char *name, const struct rf_limit_parts *before,
				 const struct rf_limit_parts *after);
/* {"limit","changes": [{"what","before","after"}],"windows_kept"} */
json_t *rf_limit_parts_json(const char *name, const struct rf_limit_parts *before,
			    const struct rf_limit_parts *after);

#endif /* RINGFENCE_LIMIT_CHANGE_H */
