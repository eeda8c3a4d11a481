/* SPDX-License-Identifier: GPL-2.0 */
/* The limits of a history: as they were in force, and others made of them. */
#ifndef RINGFENCE_CLI_RECORDED_RULES_H
#define RINGFENCE_CLI_RECORDED_RULES_H

#include "rules/ruleset.h"
#include "watch/reader.h"

/* The limits that were in force at a time; no lists. `since_ns`: from when on. Free it anyway. */
int rf_recorded_limits(struct rf_reader *reader, uint64_t time_ns, struct rf_ruleset *rules,
		       uint64_t *since_ns, struct rf_error *error);
/*
 * The command that adds the definition as a shadow, under a name that no limit of `rules` has: the
 * first of `name`, name-2, name-3 … The caller frees it; NULL: no memory.
 */
char *rf_shadow_command(const struct rf_ruleset *rules, const struct rf_definition *definition,
			const char *name);
/* The definition of a limit; free it even after an error. */
int rf_limit_definition(const struct rf_ruleset *rules, int slot, struct rf_definition *definition,
			struct rf_error *error);

#endif /* RINGFENCE_CLI_RECORDED_RULES_H */
