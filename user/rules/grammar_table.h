/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The table of commands and options. It has each word of the grammar once, with the words that
 * follow it, the field for its value in the arguments of the command, and its text in help. The
 * parser, usage, help, completion and the check of the manual read it.
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
	RF_KIND_SHARE,
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
	RF_KIND_UNTIL,	 /* the same, as the end of a span */
	RF_KIND_ID,	 /* of an event */
	RF_KIND_TYPES,	 /* of events */
	RF_KIND_REASON,	 /* of a verdict */
	RF_KIND_ENGINE,	 /* HOST:PORT */
	RF_KIND_USER,	 /* of an engine */
	RF_KIND_HOST,	 /* of a fleet */
	RF_KIND_COUNT_OF,
};

#define RF_OPTION_MUST (1U << 0)    /* required, before the optional ones */
#define RF_OPTION_INSTEAD (1U << 1) /* replaces all other options */
#define RF_OPTION_SHOWN (1U << 2)   /* is in the usage line, even of a command with many options */
#define RF_OPTION_MAY (1U << 3)	    /* the operand, or the value, is optional */
#define RF_OPTION_MANY (1U << 4)    /* can be repeated */
#define RF_OPTION_NAMES (1U << 5)   /* the word can be a name as well */
/*
 * Of an option: only for such commands. Of a command: it changes parts, which makes no option
 * required.
 */
#define RF_OPTION_CHANGE (1U << 6)

struct rf_error;

/* An option, an operand, or a word that is the value of one. */
struct rf_option {
	const char *word;	       /* as it is typed; "" in an operand */
	enum rf_kind kind;	       /* of the value that follows, or of the operand */
	const char *value;	       /* how usage and help call the value: TIME */
	const char *summary;	       /* for help, which wraps it */
	const struct rf_option *words; /* possible values; an empty row terminates them */
	const struct rf_option
		*then;	     /* possible words after the value; an empty row terminates them */
	const char *heading; /* of the options from here on; NULL: the one before */
	unsigned int flags;
	/* The field for the value, in the arguments of the command; `size` 0: nowhere. */
	size_t at, size;
	uint32_t bit;	   /* is set there; 0: the value itself goes there */
	uint32_t min, max; /* of a number or a length. Of a word, `min` is the value of the first */
	const char *least, *most; /* of a time, as it is written */
	uint64_t initial;	  /* the value if the option is absent */
	uint32_t bare;		  /* the same if its value is left out */
	const char *what;	  /* what messages call it */
	/* Stores the value, if its kind is not sufficient; NULL: the kind is. */
	int (*parse)(const struct rf_option *option, const char *value, void *into,
		     struct rf_error *error);
};

#define INTO(type, member) .at = offsetof(type, member), .size = sizeof(((type *)0)->member)
#define TIMES(shortest, longest) .least = shortest, .most = longest
#define INTO_ALL(type) .size = sizeof(type) /* of a command without other arguments */

struct rf_syntax {
	const char *words; /* one or two */
	const char *summary;
	struct rf_option operand;	 /* `word` is NULL without an operand */
	const struct rf_option *options; /* an empty row terminates them; NULL: none */
	unsigned int flags;
	size_t size; /* of what rf_parse_arguments() fills; 0: a parser of the command's own */
	/* An error where the arguments do not agree; completes them. `now_ns`: since 1970. */
	int (*check)(void *arguments, uint64_t now_ns, struct rf_error *error);
};

/* The commands, as rows of rf_syntax. */
enum rf_command_id {
#define COMMAND(id, ...) RF_CMD_##id,
#include "schema/commands.def"
#undef COMMAND
	RF_CMD_COUNT,
};

extern const struct rf_syntax rf_syntax[RF_CMD_COUNT];
/* The options of every command: `dev IF|FENCE`, --json, --verbose. */
extern const struct rf_option rf_common_options[];

enum rf_limit_option {
#define PART(id, ...) RF_OPT_##id,
#define HEAD(id, ...) RF_OPT_##id,
#define WORD(id, ...) RF_OPT_##id,
#include "schema/limit.def"
#undef PART
#undef HEAD
#undef WORD
	RF_LIMIT_OPTIONS,
};

enum rf_newcomers_option {
	RF_OPT_NEW_RATE,
	RF_OPT_NEW_THEN,
	RF_OPT_NEW_EXCEPT,
	RF_OPT_NEW_ANSWERS,
	RF_OPT_NEW_DNS,
	RF_OPT_NEW_OFF,
	RF_NEWCOMERS_OPTIONS,
};

extern const struct rf_option rf_limit_options[RF_LIMIT_OPTIONS + 1];
extern const struct rf_option rf_newcomers_options[RF_NEWCOMERS_OPTIONS + 1];

/* Words that are values, indexed by their number. */
extern const struct rf_option rf_algorithm_words[]; /* enum rf_algorithm */
extern const struct rf_option rf_edge_words[];	    /* enum rf_edge */
extern const struct rf_option rf_match_words[];	    /* enum rf_match */
extern const struct rf_option rf_mode_words[];	    /* enum rf_mode, except RF_OFFLOAD */
extern const struct rf_option rf_then_words[];	    /* enum rf_newcomers_then, from pass on */
extern const struct rf_option rf_event_words[];	    /* types of events */
extern const struct rf_option rf_reason_words[];    /* enum rf_reason */

/* The row of `word` in a table, which can be NULL; -1: none. No row with a blank in it is found. */
int rf_option_find(const struct rf_option *table, const char *word);
/* Is the value an interface, which can have any name? */
bool rf_is_interface(const struct rf_option *option);
/* Is its value a list, which commas divide? */
bool rf_option_is_list(const struct rf_option *option);
/* Does the command accept this option of its table? Is it required? */
bool rf_option_is_of(const struct rf_syntax *command, const struct rf_option *option);
bool rf_option_is_must(const struct rf_syntax *command, const struct rf_option *option);
/* Takes the words of a command, which come next, and returns the command; -1: none. */
struct rf_words;
int rf_command_find(struct rf_words *words);
/*
 * An error that names the new word if the next words were renamed (schema/renamed.def) and `has`
 * finds the new word in `table`; else 0. `what` is the noun in the message. Takes no word.
 */
typedef bool rf_has_word(const void *table, const char *word);
int rf_fail_renamed(const struct rf_words *words, rf_has_word *has, const void *table,
		    const char *what, struct rf_error *error);
int rf_fail_renamed_command(const struct rf_words *words, struct rf_error *error);
/* Is it a word of the grammar that can be used as a name? */
bool rf_word_is_reserved(const char *word);

#endif /* RINGFENCE_GRAMMAR_TABLE_H */
