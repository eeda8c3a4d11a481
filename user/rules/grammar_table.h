/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The table of commands and options. It has each word of the grammar once, with the words that
 * follow it and its text in help. Parsers, usage, help, completion and the check of the manual read
 * it. It has only data: a parser is in the file that knows the values.
 */
#ifndef RINGFENCE_GRAMMAR_TABLE_H
#define RINGFENCE_GRAMMAR_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The kind of a value. */
enum rf_kind {
	RF_KIND_NONE, /* no value follows */
	RF_KIND_WORD, /* one of the option's words */
	RF_KIND_NUMBER,
	RF_KIND_COUNT,
	RF_KIND_RATE,
	RF_KIND_TIME,
	RF_KIND_LENGTH, /* of a prefix, with its slash */
	RF_KIND_PORTS,
	RF_KIND_SIZES,
	RF_KIND_FLAGS,
	RF_KIND_PREFIX,
	RF_KIND_ADDRESS,
	RF_KIND_FILE,
	RF_KIND_COMMAND,
	RF_KIND_INTERFACE,
	RF_KIND_DEV,	 /* an interface, or the name of a fence that exists */
	RF_KIND_NAME,	 /* of a limit that does not exist yet */
	RF_KIND_LIMIT,	 /* of a limit that exists */
	RF_KIND_FENCE,	 /* the name of a fence, new or not */
	RF_KIND_ALLOWED, /* a prefix on the allow list */
	RF_KIND_DENIED,	 /* a prefix on the deny list */
	RF_KIND_BANNED,	 /* a source with a ban, or a prefix */
	RF_KIND_OWNER,	 /* of entries of a list */
	RF_KIND_MOMENT,	 /* a time of the clock, or a time back */
	RF_KIND_UNTIL,	 /* the same, which ends a span */
	RF_KIND_ID,	 /* of an event */
	RF_KIND_TYPES,	 /* of events */
	RF_KIND_REASON,	 /* of a verdict */
	RF_KIND_ENGINE,	 /* HOST:PORT */
	RF_KIND_USER,	 /* of an engine */
	RF_KIND_HOST,	 /* of a fleet */
	RF_KIND_COUNT_OF,
};

#define RF_OPTION_MUST (1U << 0)    /* must be given, before the options that may be left out */
#define RF_OPTION_INSTEAD (1U << 1) /* replaces all other options */
#define RF_OPTION_SHOWN (1U << 2)   /* is in the usage line, even of a command with many options */
#define RF_OPTION_MAY (1U << 3)	    /* the operand, or the value, may be left out */
#define RF_OPTION_MANY (1U << 4)    /* may be given again */
#define RF_OPTION_NAMES (1U << 5)   /* the word may be a name as well */
/* Of an option: for such commands only. Of a command: it changes parts, so no option must be given.
 */
#define RF_OPTION_CHANGE (1U << 6)

/* An option, an operand, or a word that is the value of one. */
struct rf_option {
	const char *word;	       /* as it is typed; "" in an operand */
	enum rf_kind kind;	       /* of the value that follows, or of the operand */
	const char *value;	       /* how usage and help call the value: TIME */
	const char *summary;	       /* for help, which wraps it */
	const struct rf_option *words; /* that may be the value; an empty row ends them */
	const struct rf_option *then;  /* that may follow the value; an empty row ends them */
	const char *heading;	       /* of the options from here on; NULL: the one before */
	unsigned int flags;
	/* Where the value goes, in what the command fills; `size` 0: a parser puts it there. */
	size_t at, size;
	uint32_t bit;	   /* is set there; 0: the value itself goes there */
	uint32_t min, max; /* of a number or a length; of a time, in seconds */
	const char *what;  /* what messages call it */
	const char *range; /* of a time, as messages write it: 1s-24h */
};

#define INTO(type, member) .at = offsetof(type, member), .size = sizeof(((type *)0)->member)
#define INTO_ALL(type) .size = sizeof(type) /* of a command that has nothing else */

struct rf_syntax {
	const char *words; /* one or two */
	const char *summary;
	struct rf_option operand;	 /* `word` is NULL where there is none */
	const struct rf_option *options; /* an empty row ends them; NULL: none */
	unsigned int flags;
};

/* The commands, as rows of rf_syntax. */
enum rf_command_id {
#define COMMAND(id, ...) RF_CMD_##id,
#include "rules/commands.def"
#undef COMMAND
	RF_CMD_COUNT,
};

extern const struct rf_syntax rf_syntax[RF_CMD_COUNT];
/* The options of every command: `dev IF|FENCE`, --json, --verbose. */
extern const struct rf_option rf_common_options[];

/* Rows of the options that have a parser of their own. */
enum rf_limit_option {
#define PART(id, ...) RF_OPT_##id,
#define HEAD(id, ...) RF_OPT_##id,
#define WORD(id, ...) RF_OPT_##id,
#include "rules/limit.def"
#undef PART
#undef HEAD
#undef WORD
	RF_LIMIT_OPTIONS,
};

enum rf_attach_option {
	RF_OPT_DEV,
	RF_OPT_FENCE,
	RF_OPT_MODE,
	RF_OPT_SOURCES,
	RF_OPT_LEASES,
	RF_OPT_FLEET,
	RF_OPT_CONFIRM,
	RF_OPT_CHAIN,
	RF_OPT_REPLACE,
	RF_ATTACH_OPTIONS,
};

enum rf_stats_option {
	RF_OPT_WATCH,
	RF_OPT_REASONS,
	RF_OPT_TOTAL,
	RF_OPT_RESET,
	RF_OPT_STATS_AT,
	RF_STATS_OPTIONS,
};

enum rf_top_option {
	RF_OPT_BY,
	RF_OPT_TOP_LIMIT,
	RF_OPT_WITHIN,
	RF_OPT_SAMPLE,
	RF_OPT_TOP_AT,
	RF_TOP_OPTIONS,
};

enum rf_newcomers_option {
	RF_OPT_NEW_RATE,
	RF_OPT_NEW_THEN,
	RF_OPT_NEW_OFF,
	RF_NEWCOMERS_OPTIONS,
};

/* What a limit that is tried may differ in, and when. */
enum rf_try_option {
	RF_OPT_TRY_RATE,
	RF_OPT_TRY_FROM,
	RF_OPT_TRY_PER,
	RF_OPT_TRY_PER6,
	RF_OPT_TRY_ALGORITHM,
	RF_OPT_TRY_BURST,
	RF_OPT_TRY_CELLS,
	RF_OPT_TRY_EDGE,
	RF_OPT_TRY_SINCE,
	RF_OPT_TRY_UNTIL,
	RF_TRY_OPTIONS,
};

enum rf_join_option {
	RF_OPT_REDIS,
	RF_OPT_HOSTS,
	RF_OPT_USER,
	RF_OPT_PASSWORD,
	RF_OPT_GRACE,
	RF_OPT_ASKS,
	RF_OPT_BANS,
	RF_OPT_KEY,
	RF_JOIN_OPTIONS,
};

enum rf_fleet_top_option {
	RF_OPT_FLEET_BY,
	RF_FLEET_TOP_OPTIONS,
};

enum rf_suggest_option {
	RF_OPT_SUGGEST_LIMIT,
	RF_OPT_SUGGEST_PER,
	RF_OPT_SUGGEST_SINCE,
	RF_OPT_SUGGEST_FOR,
	RF_SUGGEST_OPTIONS,
};

enum rf_events_option {
	RF_OPT_EVENTS_WATCH,
	RF_OPT_SINCE,
	RF_OPT_UNTIL,
	RF_OPT_OF,
	RF_OPT_EVENTS_FROM,
	RF_EVENTS_OPTIONS,
};

enum rf_capture_option {
	RF_OPT_DROPPED,
	RF_OPT_PASSED,
	RF_OPT_REASON,
	RF_OPT_CAPTURE_LIMIT,
	RF_OPT_CAPTURE_FROM,
	RF_OPT_ONE,
	RF_OPT_MOST,
	RF_OPT_PACKETS_COUNT,
	RF_OPT_CAPTURE_FOR,
	RF_OPT_WRITE,
	RF_CAPTURE_OPTIONS,
};

extern const struct rf_option rf_limit_options[RF_LIMIT_OPTIONS + 1];
extern const struct rf_option rf_attach_options[RF_ATTACH_OPTIONS + 1];
extern const struct rf_option rf_newcomers_options[RF_NEWCOMERS_OPTIONS + 1];
extern const struct rf_option rf_pause_options[];   /* for TIME */
extern const struct rf_option rf_allow_options[];   /* for TIME, by NAME */
extern const struct rf_option rf_deny_options[];    /* those, and fleet, force, confirm TIME */
extern const struct rf_option rf_unallow_options[]; /* by NAME, force */
extern const struct rf_option rf_undeny_options[];  /* by NAME, fleet */
extern const struct rf_option rf_fleet_bans_words[];
/* replace, skip-invalid, by NAME, force, confirm TIME */
extern const struct rf_option rf_load_options[];
extern const struct rf_option rf_flush_options[];	/* by NAME */
extern const struct rf_option rf_allow_flush_options[]; /* by NAME, force */
extern const struct rf_option rf_trial_options[];	/* confirm TIME, of `apply` */
extern const struct rf_option rf_arm_options[];		/* confirm TIME, force */
extern const struct rf_option rf_batch_options[];	/* skip-refused, confirm TIME */
extern const struct rf_option rf_save_options[];	/* confirmed */
extern const struct rf_option rf_diff_options[];	/* all */
extern const struct rf_option rf_stats_options[RF_STATS_OPTIONS + 1];
extern const struct rf_option rf_top_options[];	 /* by drops|rate */
extern const struct rf_option rf_show_options[]; /* at TIME */
extern const struct rf_option rf_events_options[RF_EVENTS_OPTIONS + 1];
extern const struct rf_option rf_capture_options[RF_CAPTURE_OPTIONS + 1];
extern const struct rf_option rf_report_options[];  /* since TIME, until TIME */
extern const struct rf_option rf_metrics_options[]; /* file PATH */
extern const struct rf_option rf_try_options[RF_TRY_OPTIONS + 1];
extern const struct rf_option rf_join_options[RF_JOIN_OPTIONS + 1];
extern const struct rf_option rf_fleet_top_options[RF_FLEET_TOP_OPTIONS + 1];
extern const struct rf_option rf_suggest_options[RF_SUGGEST_OPTIONS + 1];

/* Words that are values, by the number that stands for them. */
extern const struct rf_option rf_algorithm_words[]; /* enum rf_algorithm */
extern const struct rf_option rf_edge_words[];	    /* enum rf_edge */
extern const struct rf_option rf_match_words[];	    /* enum rf_match */
extern const struct rf_option rf_mode_words[];	    /* enum rf_mode, except RF_OFFLOAD */
extern const struct rf_option rf_then_words[];	    /* enum rf_newcomers_then, from open on */
extern const struct rf_option rf_order_words[];	    /* enum rf_order */
extern const struct rf_option rf_event_words[];	    /* types of events */
extern const struct rf_option rf_reason_words[];    /* enum rf_reason */

/* The row of `word` in a table that may be NULL; -1: none. No row with a blank in it is found. */
int rf_option_find(const struct rf_option *table, const char *word);
/* Is the value an interface, whose name may be any word? */
bool rf_is_interface(const struct rf_option *option);
/* Is its value a list, which commas divide? */
bool rf_option_is_list(const struct rf_option *option);
/* Does the command take this option of its table? Must it be given? */
bool rf_option_is_of(const struct rf_syntax *command, const struct rf_option *option);
bool rf_option_is_must(const struct rf_syntax *command, const struct rf_option *option);
/* Takes the words of a command, which come next, and returns the command; -1: none. */
struct rf_words;
int rf_command_find(struct rf_words *words);
/* Is it a word of the grammar that may stand in the place of a name? */
bool rf_word_is_reserved(const char *word);

#endif /* RINGFENCE_GRAMMAR_TABLE_H */
