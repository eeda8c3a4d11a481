/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Text to values and back: the one grammar of the command line and of rule files. Prints nothing:
 * errors go into an rf_error. Uses no kernel object and no file. Words are exact, never
 * abbreviated. Every parser returns 0 or -EINVAL, and leaves its results unchanged when it fails.
 * rf_parse_limit() allocates: it may also return -ENOMEM, and leaves an empty definition when it
 * fails.
 */
#ifndef RINGFENCE_GRAMMAR_H
#define RINGFENCE_GRAMMAR_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "base/mode.h"
#include "base/prefix.h"
#include "base/units.h"
#include "ringfence/abi.h"

#define RF_WINDOW_MIN_NS RF_NS_PER_MS		     /* 1 ms */
#define RF_WINDOW_MAX_NS (8784 * 3600 * RF_NS_PER_S) /* a year */
#define RF_FRAME_BYTES 1514   /* an Ethernet frame of full size, with its header */
#define RF_INTERFACES_MAX 256 /* in one command */
#define RF_COUNT_TEXT_SIZE 24
#define RF_RATE_TEXT_SIZE 56
#define RF_LIMIT_TEXT_SIZE 384
#define RF_THEN_TEXT_SIZE 128
#define RF_NEWCOMERS_TEXT_SIZE (RF_RATE_TEXT_SIZE + RF_THEN_TEXT_SIZE + 24)
#define RF_LENGTH_TEXT_SIZE 16
#define RF_FLAGS_TEXT_SIZE 72
#define RF_MATCH_TEXT_SIZE 16
#define RF_PORT_RANGE_TEXT_SIZE 16
#define RF_PER4_DEFAULT 32
#define RF_PER6_DEFAULT 64

/* Words, of which those from `at` on are still to be read. */
struct rf_words {
	const char *const *word;
	int count;
	int at;
	uint64_t now_ns; /* since 1970: when they were typed; 0: now */
};

/* A COUNT/TIME. The bounds of the count depend on its unit, which rf_parse_limit knows. */
struct rf_rate {
	uint64_t count;
	uint64_t window_ns;
	bool in_bits; /* it was written in bits; `count` is bytes */
};

/* A limit as it was written. Free it, whether parsing succeeded or not. */
struct rf_definition {
	struct rf_limit limit;
	uint64_t *ports;	 /* bit set of RF_PORTS, where limit.has_ports; else NULL */
	uint64_t *sports;	 /* the same of source ports, where limit.has_sports */
	struct rf_prefixes to;	 /* where limit.has_to */
	struct rf_prefixes from; /* where limit.has_from, and not from a file */
	const char *from_file;	 /* one of the words; NULL: none. The caller adds its prefixes */
	uint64_t confirm_ns;	 /* of the change; 0: none. Never in a rule file */
	bool force;		 /* also if it cuts off an own network. Never in a rule file */
};

/* The words after `limit change`. */
struct rf_change {
	const char *name;
	struct rf_words words; /* after the name */
	unsigned int parts;    /* those named: bit set of enum rf_limit_option */
};

/* newcomers rate COUNT/TIME then WHAT [OPTION…], or off: all 0 */
struct rf_newcomers_text {
	struct rf_rate rate;
	struct rf_rate answers; /* where RF_NEWCOMERS_CHALLENGE */
	enum rf_newcomers_then then;
	bool except_established;
	uint8_t dns_ports; /* entries of `dns_port` in use, in ascending order */
	uint16_t dns_port[RF_DNS_PORTS_MAX];
};

#define RF_LEASES_NOT_GIVEN UINT32_MAX

struct rf_attach {
	const char *interface[RF_INTERFACES_MAX];
	int interfaces;
	const char *fence; /* NULL: each interface gets a fence of its name */
	enum rf_mode mode;
	bool mode_given;     /* otherwise an attached interface retains its mode */
	uint32_t sources;    /* windows per address family; 0: not set */
	uint32_t leases;     /* of each CPU; RF_LEASES_NOT_GIVEN: not set */
	uint64_t confirm_ns; /* 0: needs no confirmation */
	bool chain;	     /* run alongside other programs, by libxdp's dispatcher */
	bool replace;	     /* remove another program first */
	bool fleet;	     /* windows have shares of limits that other hosts hold, too */
};

/* top [N] [by drops|rate|used] [limit NAME] [within PREFIX] [sample TIME] [at TIME] */
enum rf_order {
	RF_BY_DROPS,
	RF_BY_RATE,
	RF_BY_USED,
};

struct rf_top {
	uint32_t rows;
	bool has_rows; /* N was specified */
	enum rf_order order;
	const char *limit;	 /* one of the words; NULL: every limit */
	struct rf_prefix within; /* version 0: not set */
	uint64_t at_ns;		 /* since 1970; 0: now */
	uint64_t sample_ns;	 /* take samples that long; 0: do not */
};

/* events [watch] [since TIME] [until TIME] [of TYPE,…] [from PREFIX] */
struct rf_events_asked {
	bool is_watch;
	uint64_t since_ns, until_ns; /* since 1970; 0: not set */
	const char *until;	     /* the word; NULL: not set */
	uint32_t types;		     /* bit set of rows of rf_event_words; 0: all */
	struct rf_prefix from;	     /* version 0: not set */
};

/* capture [dropped|passed] [reason WORD] [limit NAME] [from PREFIX] [one in N] … write FILE|- */
struct rf_capture {
	bool dropped, passed;  /* at least one */
	uint32_t reasons;      /* bit set of enum rf_reason */
	const char *limit;     /* one of the words; NULL: any, and none */
	struct rf_prefix from; /* version 0: not set */
	uint32_t one_in;
	uint32_t most;	  /* packets a second */
	uint32_t count;	  /* stops after this many packets; 0: does not stop */
	uint64_t time_ns; /* stops after that time; 0: does not stop */
	const char *path; /* one of the words; "-": standard output */
};

#define RF_ONE_IN_DEFAULT 1024
#define RF_ONE_IN_MAX (1U << 30)
#define RF_CAPTURE_MOST_DEFAULT 1000 /* packets a second */

/* suggest [limit NAME] [per TIME] [since TIME | for TIME] */
struct rf_suggest_asked {
	const char *limit;		   /* one of the words; NULL: not set */
	uint64_t per_ns, for_ns, since_ns; /* 0: not set */
};

/* The settings of an agent, by the rows of schema/fleet_settings.def. */
enum rf_fleet_setting {
#define SETTING(id, ...) RF_SET_##id,
#include "schema/fleet_settings.def"
#undef SETTING
	RF_FLEET_SETTINGS,
};

/* fleet join FENCE redis HOST:PORT hosts N [OPTION…] */
struct rf_join {
	const char *fence;
	const char *value[RF_FLEET_SETTINGS]; /* as typed; NULL: not set */
	uint32_t hosts;
};

/* fleet top [N] [by drops|rate|hosts] */
struct rf_fleet_top {
	uint32_t rows;
	uint32_t order;
	const char *by; /* its word */
};

#define RF_FLEET_TOP_MOST 100

#define RF_TRY_WORDS 64

/* limit try NAME … [since TIME [until TIME]] */
struct rf_try {
	const char *word[RF_TRY_WORDS]; /* what `change` has */
	struct rf_change change;
	uint64_t since_ns, until_ns; /* since 1970; 0: not set */
	const char *until;	     /* the word; NULL: not set */
};

/* report [ID | since TIME [until TIME]] */
struct rf_report {
	const char *id;		     /* one of the words; NULL: none */
	uint64_t since_ns, until_ns; /* since 1970; 0: not set */
	const char *until;	     /* the word; NULL: not set */
};

/* stats [watch [SECONDS] [reasons]] | total | reset | at TIME */
struct rf_stats {
	uint32_t seconds; /* between two lines; 0: no watch */
	bool reasons;	  /* a line for each reason as well */
	bool total;	  /* regardless of resets */
	bool reset;
	uint64_t at_ns; /* since 1970; 0: now */
};

#define RF_TOP_DEFAULT 10
#define RF_TOP_MAX 1000000

/* The next word, or NULL after the last. */
const char *rf_words_peek(const struct rf_words *words);
const char *rf_words_next(struct rf_words *words);
/* When the words were typed, in ns since 1970. */
uint64_t rf_words_now(const struct rf_words *words);
/* Takes the next word if it is `word`. */
bool rf_words_take(struct rf_words *words, const char *word);
/* The next word, or the one after `dev`: an interface with any name. */
const char *rf_words_interface(struct rf_words *words);
/* An error unless all words were read. */
int rf_words_end(const struct rf_words *words, struct rf_error *error);

/*
 * COUNT: 100, 20k, 1.5M; the product must be a whole number. With kbit, mbit or gbit, powers of
 * 1000 bits, the product must be whole bytes, and `count` is in bytes.
 */
int rf_parse_count(const char *text, uint64_t *count, bool *in_bits, struct rf_error *error);
/* TIME: 500ms, 1s, 10s, 5m, 1h, in nanoseconds. */
int rf_parse_time(const char *text, uint64_t *time_ns, struct rf_error *error);
/* COUNT/TIME, with TIME in RF_WINDOW_MIN_NS … RF_WINDOW_MAX_NS; bits without TIME: 1s. */
int rf_parse_rate(const char *text, struct rf_rate *rate, struct rf_error *error);
#define RF_ASKS_MOST 1000000 /* a second */
/* The N of N/s, as in `asks` of an agent. */
int rf_parse_asks(const char *text, uint32_t *each_s, struct rf_error *error);
/*
 * A letter, then letters, digits, `_` and `-`, 31 at most. It can be a keyword if its position
 * makes it a name. `what` names it in errors.
 */
int rf_parse_name(const char *text, const char *what, char name[RF_NAME_SIZE],
		  struct rf_error *error);
/* The same of the owner of entries of a list, RF_OWNER_SIZE - 1 at most. */
int rf_parse_owner(const char *text, char name[RF_OWNER_SIZE], struct rf_error *error);
/* Is a name that was read from a fence well formed and terminated? */
bool rf_name_is_valid(const char name[RF_NAME_SIZE]);
bool rf_owner_name_is_valid(const char name[RF_OWNER_SIZE]);
/* The word for every limit, which cannot be a limit's name. */
static inline bool rf_name_is_all(const char *name)
{
	return strcmp(name, "all") == 0;
}
/* A whole number from `min` to `max`. `what` names it in errors. */
int rf_parse_number(const char *text, const char *what, uint32_t min, uint32_t max,
		    uint32_t *number, struct rf_error *error);

/* Parses the words after `limit add` and `limit set`: NAME rate COUNT/TIME and its options. */
int rf_parse_limit(struct rf_words *words, struct rf_definition *definition,
		   struct rf_error *error);
void rf_definition_free(struct rf_definition *definition);
/* Parses the words after `limit change`: NAME and options, or `no` and the word of one. */
int rf_parse_change(struct rf_words *words, struct rf_change *change, struct rf_error *error);
/*
 * The definition after the change. `present` is the limit before it, and `text` its "limit add …".
 */
int rf_change_limit(const struct rf_change *change, const struct rf_limit *present,
		    const char *text, struct rf_definition *definition, struct rf_error *error);
/* Parses the words after `newcomers`. */
int rf_parse_newcomers(struct rf_words *words, struct rf_newcomers_text *newcomers,
		       struct rf_error *error);
/* Parses the words after `limit try`. `asked` must not move: it refers to itself. */
int rf_parse_try(struct rf_words *words, struct rf_try *asked, struct rf_error *error);
/* What follows the prefix or the file of a command of a list. */
struct rf_list_text {
	uint64_t time_ns; /* of `for`; 0: not set */
	bool in_fleet;	  /* `fleet` */
	bool replace;
	bool skip_invalid;	/* loads the other lines where some are wrong */
	bool force;		/* also if it cuts off an own network */
	uint64_t confirm_ns;	/* of `confirm`; 0: not set */
	char by[RF_OWNER_SIZE]; /* empty: not set */
};

/* An error where the line of a batch or, unless `is_batch`, of a rule file has another option. */
int rf_list_text_check_line(const struct rf_list_text *text, bool is_batch, struct rf_error *error);
/* Can a host make the fleet ban that prefix for that time? */
int rf_check_fleet_ban(const struct rf_prefix *prefix, uint64_t time_ns, struct rf_error *error);
/* The words after `unban`: PREFIX or all. */
int rf_parse_unban(struct rf_words *words, struct rf_prefix *prefix, bool *all,
		   struct rf_error *error);
/* [confirm TIME] [force], after `limit enforce NAME…`. */
struct rf_enforce_text {
	uint64_t confirm_ns; /* 0: not set */
	bool force;
};

/* [skip-refused] [confirm TIME], after `batch FILE`. */
struct rf_batch_text {
	bool skip_refused;
	uint64_t confirm_ns; /* 0: not set */
};

/*
 * Splits one line of a rule file into words, in place; `#` starts a comment. `words` refers to
 * `array`, which has room for `max` words; more words are -EINVAL.
 */
int rf_split_line(char *line, const char **array, int max, struct rf_words *words,
		  struct rf_error *error);
/* Parses the words after `attach`: IF… and its options. */
int rf_parse_attach(struct rf_words *words, struct rf_attach *attach, struct rf_error *error);

const char *rf_mode_name(enum rf_mode mode);
const char *rf_algorithm_name(enum rf_algorithm algorithm);
const char *rf_edge_name(enum rf_edge edge);
const char *rf_unit_name(enum rf_unit unit);
/*
 * The algorithm of a limit that does not name one: a token bucket for bytes, since TCP adapts to a
 * bucket, and loses a third of the rate under a window. A fleet shares only sliding windows.
 */
enum rf_algorithm rf_default_algorithm(const struct rf_limit *limit);
/* Does the limit's algorithm have a burst? RF_TOKEN and RF_LEAKY have one. */
bool rf_has_burst(const struct rf_limit *limit);
/* The default burst of a bucket; 0 for other algorithms. */
uint64_t rf_default_burst(const struct rf_limit *limit);
/* The default number of cells of a limit. */
uint8_t rf_default_cells(const struct rf_limit *limit);
/* any, tcp, tcp syn, udp, icmp, proto N or other. */
void rf_format_match(const struct rf_limit *limit, char text[RF_MATCH_TEXT_SIZE]);
/*
 * NAME rate COUNT/TIME, with all options that differ from their defaults, in the order of
 * ringfence-rules(5); without ports and prefixes, which rf_ruleset_format_limit() adds.
 * rf_parse_limit() reads it back.
 */
void rf_format_limit(const struct rf_limit *limit, char text[RF_LIMIT_TEXT_SIZE]);
/* A or A-B, the lengths of a limit; empty without lengths. */
void rf_format_length(const struct rf_limit *limit, char text[RF_LENGTH_TEXT_SIZE]);
/* VALUE/MASK, the TCP flags of a limit, like SYN/SYN,ACK; empty without flags. */
void rf_format_tcp_flags(const struct rf_limit *limit, char text[RF_FLAGS_TEXT_SIZE]);
/* The next range of ports from `*first` on, like 53 or 8000-8100; `*first` moves past it. */
bool rf_format_port_range(const uint64_t *ports, int *first, char text[RF_PORT_RANGE_TEXT_SIZE]);
const char *rf_newcomers_then_name(enum rf_newcomers_then then);
/* What happens to newcomers, with the options that differ from their defaults. */
void rf_format_then(const struct rf_newcomers *newcomers, char text[RF_THEN_TEXT_SIZE]);
/* "newcomers …", likewise. */
void rf_format_newcomers(const struct rf_newcomers *newcomers, char text[RF_NEWCOMERS_TEXT_SIZE]);
/* A count with the largest suffix that leaves it whole. */
void rf_format_count(uint64_t count, char text[RF_COUNT_TEXT_SIZE]);
/* A time with the largest suffix that leaves it whole. */
void rf_format_time(uint64_t time_ns, char text[RF_COUNT_TEXT_SIZE]);
/* The burst of a limit; in bits if it was written in bits. */
void rf_format_burst(const struct rf_limit *limit, char text[RF_COUNT_TEXT_SIZE]);
/* COUNT/TIME as it was written: with `bytes` if COUNT counts bytes, or in bits, like 10mbit. */
void rf_format_limit_rate(const struct rf_limit *limit, char text[RF_RATE_TEXT_SIZE]);
/* 192.0.2.1, or 2001:db8::/64, as the limit groups; a whole address has no length. */
void rf_format_source(const struct rf_address *source, const struct rf_limit *limit,
		      char text[RF_PREFIX_TEXT_SIZE]);
/* COUNT/TIME in whole numbers, with the largest suffixes that leave them whole. */
void rf_format_rate(uint64_t count, uint64_t window_ns, char text[RF_RATE_TEXT_SIZE]);

/* ---- moments ---- */

/* The times of `at`, `since` and `until`. */

/*
 * 14:02, 14:02:11, 2026-11-22T14:02, or a time back from `now_ns`: -2h. Of local time, or of UTC
 * with a trailing Z, as in JSON. A time without a date is the last such time before now. A time
 * that the clock shows twice, when summer time ends, is the later one that is not in the future.
 * All are ns since 1970. Fails without a change of `time_ns`.
 */
int rf_parse_moment(const char *text, uint64_t now_ns, uint64_t *time_ns, struct rf_error *error);
/*
 * The end of a span that starts at `since_ns`. A time without a date that is not later than the
 * start is the next such time after it, as in "since 13:00 until 14:00" at 13:30. An end in the
 * future is now.
 */
int rf_parse_until(const char *text, uint64_t since_ns, uint64_t now_ns, uint64_t *time_ns,
		   struct rf_error *error);

/* ---- the first limit ---- */

/*
 * The first command suggested for a fence without limits. A shadow drops nothing, and creates a
 * window for each source. Its COUNT is below 65535, because greater ones round the cells by which
 * `suggest` and `limit try` count small sources.
 */

#define RF_PROBE_COUNT 50000
#define RF_PROBE_COMMAND "limit add probe rate 50k/1s shadow"
#define RF_PROBE_ADVICE "'ringfence " RF_PROBE_COMMAND "' drops nothing, and shows the sources"

#endif /* RINGFENCE_GRAMMAR_H */
