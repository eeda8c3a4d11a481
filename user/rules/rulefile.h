/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rule files: commands, one a line, that together say all that shall hold: `limit add`, `allow` and
 * `deny` with `add` or `load`, `newcomers`. Text → a set of rules. Silent, and touches no file:
 * what a line names is read by the caller's function.
 */
#ifndef RINGFENCE_RULEFILE_H
#define RINGFENCE_RULEFILE_H

#include "rules/grammar.h"
#include "rules/ruleset.h"

/*
 * How `save` begins. It ends with `newcomers`, and without that a file that begins so is not taken:
 * a disk that was full has kept a part of it.
 */
#define RF_RULEFILE_SAVED "# rules of the fence '"

/* A prefix on a list, as it was written. */
struct rf_rulefile_entry {
	struct rf_prefix prefix;
	enum rf_list list;
	uint64_t time_ns; /* 0: for good */
	size_t order;	  /* of two for the same prefix the later one holds */
};

/* What a rule file says. Free it, whether it could be read or not. */
struct rf_rulefile {
	struct rf_definition limit[RF_LIMITS_MAX];
	int limits;
	struct rf_rulefile_entry *entry;
	size_t entries;
	size_t capacity;
	struct rf_newcomers_text newcomers; /* off where it says nothing */
	bool has_newcomers;
};

/* Adds the prefixes in the file `path`. */
typedef int (*rf_prefixes_reader)(const char *path, struct rf_prefixes *prefixes,
				  struct rf_error *error);

/* `text` is changed; `name` is for messages, which begin with it and the line's number. */
int rf_rulefile_parse(char *text, const char *name, rf_prefixes_reader read,
		      struct rf_rulefile *file, struct rf_error *error);
void rf_rulefile_free(struct rf_rulefile *file);

/* Where the rules of a file shall hold. */
struct rf_rulefile_place {
	const struct rf_bank *present; /* the bank in force; zero: none */
	const struct rf_bank *other;   /* the one before; NULL: none */
	bool on_trial;		       /* the present limits keep their slots meanwhile */
	uint64_t now;		       /* jiffies */
	uint32_t tick_ns;
	uint32_t next_id; /* counts up */
};

/*
 * The rules of a file in place of the present ones; a limit of the same name keeps its slot, and so
 * its counters and, unless they would mean something else, its windows. Not compiled. `ruleset` is
 * the caller's to free, in any case.
 */
int rf_rulefile_rules(const struct rf_rulefile *file, struct rf_rulefile_place *place,
		      struct rf_ruleset *ruleset, struct rf_error *error);

/* A slot for a new limit: free now and, if there is such a one, before as well; -ENOSPC. */
int rf_rulefile_slot(const struct rf_bank *present, const struct rf_bank *other);

#endif /* RINGFENCE_RULEFILE_H */
