/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files of the grammar: suffixes, and options by their table. */
#ifndef RINGFENCE_RULES_PRIVATE_H
#define RINGFENCE_RULES_PRIVATE_H

#include "base/units.h"
#include "rules/grammar.h"
#include "rules/grammar_table.h"
#include "rules/ruleset.h"

#define RF_COUNT_FORM "write it like 100, 20k, 1.5M or 10mbit, in whole packets or bytes"

/* A suffix and its multiplier. The empty one denotes the plain number. */
struct rf_suffix {
	const char *text;
	uint64_t factor;
};

#define RF_COUNT_SUFFIXES 4
#define RF_TIME_SUFFIXES 4
#define RF_BIT_SUFFIXES 3

extern const struct rf_suffix rf_count_suffixes[RF_COUNT_SUFFIXES];
/* In bytes. */
extern const struct rf_suffix rf_bit_suffixes[RF_BIT_SUFFIXES];
/* In milliseconds, the smallest unit. */
extern const struct rf_suffix rf_time_suffixes[RF_TIME_SUFFIXES];

/* Help of `force`, of limits. */
#define RF_FORCE_LIMIT                                                                        \
	"allow a limit of rate 0 that drops the peer of your SSH connection, or a subnet or " \
	"the gateway of an interface"

/* A number of `size` bytes. */
uint64_t rf_field_read(const void *from, size_t size);
void rf_field_write(void *to, size_t size, uint64_t value);

/*
 * Parses the next words as long as they are options of `table`; each can occur once, and its value
 * is stored in the field of its row. `given` is a bit set of the rows present.
 */
int rf_parse_options(const struct rf_option *table, struct rf_words *words, void *into,
		     unsigned int *given, struct rf_error *error);
/* The same for one option, which is the next word and row `row` of the table. */
int rf_parse_option(const struct rf_option *table, int row, struct rf_words *words, void *into,
		    unsigned int *given, struct rf_error *error);
/* Stores the defaults of absent options. */
void rf_options_start(const struct rf_option *table, void *into);
/* A TIME within the bounds of the option's row. */
int rf_parse_time_in(const struct rf_option *option, const char *value, uint64_t *time_ns,
		     struct rf_error *error);
/* `'ban': expects a time, like 10m`; `'soft': 'edge' expects …` where `value` is not NULL. */
int rf_fail_value(const struct rf_option *option, const char *value, struct rf_error *error);
/* An error if the next word, no option of the table, resembles one; else 0. (advice.c) */
int rf_fail_near(const struct rf_option *table, const struct rf_words *words,
		 struct rf_error *error);
/* An error if the next word was renamed to an option or value of the table; else 0. (advice.c) */
int rf_fail_renamed_word(const struct rf_option *table, const struct rf_words *words,
			 struct rf_error *error);
/* The word behind `word`, which comes later than it should; NULL: it does not come. (advice.c) */
const char *rf_words_later(const struct rf_words *words, const char *word);
/* Do they start with the words of this command? (advice.c) */
bool rf_words_are_of(const struct rf_words *words, enum rf_command_id command);
/* P|P-Q|P,Q,… into a bit set of RF_PORTS, which the caller frees in any case. */
int rf_parse_ports(const char *value, uint64_t **ports, struct rf_error *error);
#define RF_LENGTH_MIN 14 /* an Ethernet header */
/* A or A-B. */
int rf_parse_lengths(const char *value, struct rf_limit *limit, struct rf_error *error);

#define RF_TCP_FLAG_WORDS 10
struct rf_tcp_flag {
	const char *word;
	uint8_t bits;
};
extern const struct rf_tcp_flag rf_tcp_flags[RF_TCP_FLAG_WORDS]; /* the single flags first */
/* VALUE/MASK, or VALUE for VALUE/VALUE. */
int rf_parse_tcp_flags(const char *value, struct rf_limit *limit, struct rf_error *error);
/*
 * An error if an option can have no effect on the packets that the limit matches. `given`: bit set
 * of enum rf_limit_option.
 */
int rf_check_match(const struct rf_definition *made, unsigned int given, struct rf_error *error);

/* ---- divided /64s (ruleset.c) ---- */

/* Adds an empty entry for each /64 without one of which only a part is named. */
int rf_ruleset_add_divided(struct rf_ruleset *ruleset, struct rf_error *error);
/* Is entry `i` such a /64, or does it lie in one? */
bool rf_ruleset_is_divided(const struct rf_ruleset *ruleset, size_t i);

/* ---- a limit while its words are parsed, and checks of all its words together ---- */

/* A count or a rate, and how it was written. */
struct rf_written {
	const char *text; /* NULL: not set */
	struct rf_rate rate;
};

/* The meaning of a word may depend on a later one. */
struct rf_draft {
	struct rf_definition made;
	struct rf_written rate, burst, initial, offline;
	unsigned int given;   /* bit set of enum rf_limit_option */
	unsigned int dropped; /* by `no`; the same */
};

static inline bool rf_has_given(const struct rf_draft *draft, enum rf_limit_option option)
{
	return draft->given & 1U << option;
}

/* ---- newcomers, while their words are parsed ---- */

struct rf_newcomers_draft {
	struct rf_newcomers_text made;
	uint64_t *dns; /* bit set of RF_PORTS; NULL: not set */
	bool is_dns_none;
};

/* ---- fleet join (grammar_join.c) ---- */

extern const struct rf_option rf_join_options[];
/* Stores a setting of the agent's file as it was typed. */
int rf_store_setting(const struct rf_option *option, const char *value, void *into,
		     struct rf_error *error);
int rf_check_join(void *arguments, uint64_t now_ns, struct rf_error *error);

#endif /* RINGFENCE_RULES_PRIVATE_H */
