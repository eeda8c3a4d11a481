/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rule files. A rule file has one command per line, and all commands together are the whole set of
 * rules: `limit add`, `allow` and `deny` with `add` or `load`, `newcomers`. Prints nothing and
 * opens no file: a function of the caller reads the files that lines name.
 */
#ifndef RINGFENCE_RULEFILE_H
#define RINGFENCE_RULEFILE_H

#include "rules/file.h"
#include "rules/grammar.h"
#include "rules/ruleset.h"

/*
 * The format of rules that a command wrote: it determines the defaults of omitted words. A changed
 * default gets a new number, and earlier files retain their meaning.
 */
#define RF_RULEFILE_FORMAT 1

/* The line that names it, before the number and whole. */
#define RF_RULEFILE_START "# rules (format "
#define RF_RULEFILE_NUMBERED(format) RF_RULEFILE_START #format ")"
#define RF_RULEFILE_LINE_OF(format) RF_RULEFILE_NUMBERED(format)
#define RF_RULEFILE_LINE RF_RULEFILE_LINE_OF(RF_RULEFILE_FORMAT)

/*
 * The first line of the output of `save`, whose last line is `newcomers`. A file with this line and
 * without `newcomers` is refused: it was truncated, for example by a full disk.
 */
#define RF_RULEFILE_SAVED RF_RULEFILE_LINE " of the fence '"

/* A prefix on a list, as it was written. */
struct rf_rulefile_entry {
	struct rf_prefix prefix;
	enum rf_list list;
	uint8_t owner;	  /* its number in the owners of the file */
	uint64_t time_ns; /* 0: for good */
	size_t order;	  /* of two entries of an owner for one prefix, the later one applies */
};

/* The content of a rule file. Free it, whether parsing succeeded or not. */
struct rf_rulefile {
	struct rf_definition limit[RF_LIMITS_MAX];
	size_t limit_line[RF_LIMITS_MAX];
	int limits;
	bool has_too_many;
	struct rf_rulefile_entry *entry;
	size_t entries;
	size_t capacity;
	struct rf_owners owners;
	struct rf_newcomers_text newcomers; /* off without such a line in the file */
	bool has_newcomers;
	uint32_t hosts; /* of the fleet; 0: not in the file, and the fence retains its number */
	unsigned int format;	/* whose defaults apply; RF_RULEFILE_FORMAT: written by hand */
	size_t cleared, mapped; /* of all prefixes, as in struct rf_prefixes */
	struct rf_mistakes mistakes;
};

/* Adds the prefixes in the file `path`, and the errors of its lines. */
typedef int (*rf_prefixes_reader)(const char *path, struct rf_prefixes *prefixes,
				  struct rf_mistakes *mistakes, struct rf_error *error);

/* The format that this line names; 0: it names none. */
unsigned int rf_rulefile_format(const char *line);
/* An error where this version does not know the format. */
int rf_rulefile_check_format(unsigned int format, struct rf_error *error);
/* `text` is changed. Errors in the file are no failure: `file` has them, and the valid lines. */
int rf_rulefile_parse(char *text, rf_prefixes_reader read, struct rf_rulefile *file,
		      struct rf_error *error);
/* Adds the errors that only the complete rules of the file show. */
int rf_rulefile_check(struct rf_rulefile *file, struct rf_error *error);
void rf_rulefile_free(struct rf_rulefile *file);

/* The fence that gets the rules of a file. */
struct rf_rulefile_place {
	const struct rf_bank *present; /* the active bank; zero: none */
	const struct rf_bank *other;   /* the one before; NULL: none */
	bool unconfirmed;	       /* the present limits retain their slots until then */
	uint64_t now;		       /* jiffies */
	uint32_t tick_ns;
	uint32_t next_id; /* counts up */
};

#define RF_NOMINAL_TICK_NS 4000000 /* for rules that are only checked */
#define RF_RULEFILE_NOWHERE(nothing) \
	((struct rf_rulefile_place){ \
		.present = (nothing), .tick_ns = RF_NOMINAL_TICK_NS, .next_id = 1})

/*
 * Makes the rules that replace the present ones by the rules of a file. A limit with an unchanged
 * name retains its slot and its counters, and its windows unless their meaning changes. The rules
 * are not compiled. The caller frees `ruleset` in any case.
 */
int rf_rulefile_rules(const struct rf_rulefile *file, struct rf_rulefile_place *place,
		      struct rf_ruleset *ruleset, struct rf_error *error);

/* A slot for a new limit: free in `present` and, where possible, in `other` as well; -ENOSPC. */
int rf_rulefile_slot(const struct rf_bank *present, const struct rf_bank *other);

#endif /* RINGFENCE_RULEFILE_H */
