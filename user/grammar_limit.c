// SPDX-License-Identifier: GPL-2.0
/* What follows `limit add` and `limit set`. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "grammar_internal.h"

#define BAN_MIN_NS 1000000000ULL
#define TCP 6
#define UDP 17

enum option_id {
	OPTION_UNIT,
	OPTION_ALGORITHM,
	OPTION_CELLS,
	OPTION_EDGE,
	OPTION_BURST,
	OPTION_MATCH,
	OPTION_DPORT,
	OPTION_FROM,
	OPTION_PER,
	OPTION_PER6,
	OPTION_SHADOW,
	OPTION_COUNT,
	OPTION_EXACT,
	OPTION_BAN,
};

/* A limit whose words are still being read. What one of them says may depend on a later one. */
struct draft {
	struct rf_definition made;
	struct rf_words *words;
	const char *rate;  /* as they were written */
	const char *burst; /* NULL: not at all */
	bool rate_in_bits;
	bool burst_in_bits;
	unsigned int said; /* bit set of option_id */
};

struct limit_option {
	const char *word;
	enum option_id id;
	const char *takes; /* what must follow; NULL: nothing */
	/* `value` is the word that follows, or that of the option itself. */
	int (*parse)(const char *value, struct draft *draft, struct rf_error *error);
};

static bool has_said(const struct draft *draft, enum option_id id)
{
	return draft->said & 1U << id;
}

static int parse_unit(const char *value, struct draft *draft, struct rf_error *error)
{
	(void)error;
	draft->made.limit.unit = rf_find_name(value, rf_unit_names, ARRAY_SIZE(rf_unit_names));
	return 0;
}

static int parse_algorithm(const char *value, struct draft *draft, struct rf_error *error)
{
	size_t algorithm = rf_find_name(value, rf_algorithm_names, ARRAY_SIZE(rf_algorithm_names));

	if (algorithm == ARRAY_SIZE(rf_algorithm_names))
		return rf_error_usage(
			error, "'%s': unknown algorithm; it is sliding, fixed, log, token or leaky",
			value);
	draft->made.limit.algorithm = algorithm;
	return 0;
}

static int parse_cells(const char *value, struct draft *draft, struct rf_error *error)
{
	uint32_t cells = 0;
	int err = rf_parse_number(value, "number of cells", 2, RF_CELLS, &cells, error);

	draft->made.limit.cells = cells;
	return err;
}

static int parse_edge(const char *value, struct draft *draft, struct rf_error *error)
{
	size_t edge = rf_find_name(value, rf_edge_names, ARRAY_SIZE(rf_edge_names));

	if (edge == ARRAY_SIZE(rf_edge_names))
		return rf_error_usage(error, "'%s': unknown edge; it is strict, weighted or coarse",
				      value);
	draft->made.limit.edge = edge;
	return 0;
}

static int parse_burst(const char *value, struct draft *draft, struct rf_error *error)
{
	uint64_t burst = 0;

	if (rf_parse_count(value, &burst, &draft->burst_in_bits, error))
		return rf_error_usage(error, "'%s': invalid burst; " RF_COUNT_FORM, value);
	draft->made.limit.burst = burst;
	draft->burst = value;
	return 0;
}

/* Behind `match proto`. */
static int parse_protocol(struct draft *draft, struct rf_error *error)
{
	const char *word = rf_words_next(draft->words);
	uint32_t protocol = 0;
	int err;

	if (!word)
		return rf_error_usage(error, "'proto': a number is missing behind it");
	if (strcmp(word, "255") == 0)
		return rf_error_usage(error,
				      "'255': invalid protocol: it is reserved; it must be 0-254");
	err = rf_parse_number(word, "protocol", 0, 254, &protocol, error);
	draft->made.limit.match = RF_MATCH_PROTOCOL;
	draft->made.limit.protocol = protocol;
	return err;
}

static int parse_match(const char *value, struct draft *draft, struct rf_error *error)
{
	static const char *const words[] = {
		[RF_MATCH_ANY] = "any",	    [RF_MATCH_TCP] = "tcp",   [RF_MATCH_SYN] = "",
		[RF_MATCH_UDP] = "udp",	    [RF_MATCH_ICMP] = "icmp", [RF_MATCH_PROTOCOL] = "proto",
		[RF_MATCH_OTHER] = "other",
	};
	size_t match = rf_find_name(value, words, ARRAY_SIZE(words));

	if (match == RF_MATCH_SYN || match == ARRAY_SIZE(words))
		return rf_error_usage(
			error,
			"'%s': unknown match; it is any, tcp, tcp syn, udp, icmp, proto N or other",
			value);
	if (match == RF_MATCH_PROTOCOL)
		return parse_protocol(draft, error);
	if (match == RF_MATCH_TCP && rf_words_take(draft->words, "syn"))
		match = RF_MATCH_SYN;
	draft->made.limit.match = match;
	return 0;
}

/* The port at `*text`, which moves on behind it; -1 where there is none. */
static long take_port(const char **text)
{
	size_t length = strspn(*text, "0123456789");
	long port = 0;

	for (size_t i = 0; i < length && port < RF_PORTS; i++)
		port = port * 10 + (*text)[i] - '0';
	*text += length;
	return length ? port : -1;
}

/* P or P-Q at `*text`, which moves on behind it. */
static int parse_port_range(const char **text, uint64_t *ports, struct rf_error *error)
{
	const char *start = *text;
	long first = take_port(text), last = first;
	int length;

	if (**text == '-') {
		++*text;
		last = take_port(text);
	}
	length = *text - start + strcspn(*text, ",");
	if (first < 0 || last < 0 || (**text && **text != ','))
		return rf_error_usage(error,
				      "'%.*s': invalid port; write it like 53, 53,443 or 8000-8100",
				      length, start);
	if (first >= RF_PORTS || last >= RF_PORTS)
		return rf_error_usage(error, "'%.*s': invalid port: it must be 0-%d", length, start,
				      RF_PORTS - 1);
	if (first > last)
		return rf_error_usage(error,
				      "'%.*s': invalid range of ports: it ends before it begins; "
				      "write %ld-%ld",
				      length, start, last, first);
	for (long port = first; port <= last; port++)
		ports[port / 64] |= 1ULL << port % 64;
	return 0;
}

static int parse_dport(const char *value, struct draft *draft, struct rf_error *error)
{
	uint64_t *ports = calloc(RF_PORTS / 64, sizeof(*ports));
	int err;

	if (!ports)
		return rf_error_failed(error, -ENOMEM, "'dport': out of memory");
	draft->made.ports = ports;
	draft->made.limit.has_ports = 1;
	err = parse_port_range(&value, ports, error);
	while (!err && *value++ == ',')
		err = parse_port_range(&value, ports, error);
	return err;
}

static int parse_from(const char *value, struct draft *draft, struct rf_error *error)
{
	draft->made.limit.has_from = 1;
	if (strcmp(value, "file") != 0)
		return rf_parse_prefixes(value, &draft->made.from, error);
	draft->made.from_file = rf_words_next(draft->words);
	if (!draft->made.from_file)
		return rf_error_usage(error, "'from file': the file's name is missing behind it");
	return 0;
}

/* A prefix length with its slash. */
static int parse_length(const char *value, const char *option, uint32_t max, uint8_t *length,
			struct rf_error *error)
{
	uint32_t number = 0;

	if (*value != '/')
		return rf_error_usage(
			error, "'%s': invalid prefix length; write it with a slash, like %s /%d",
			value, option, max == 32 ? 24 : 48);
	if (rf_parse_number(value + 1, "prefix length", 0, max, &number, error))
		return rf_error_usage(error, "'%s': invalid prefix length: it must be /0-/%" PRIu32,
				      value, max);
	*length = number;
	return 0;
}

static int parse_per(const char *value, struct draft *draft, struct rf_error *error)
{
	return parse_length(value, "per", 32, &draft->made.limit.per4, error);
}

static int parse_per6(const char *value, struct draft *draft, struct rf_error *error)
{
	return parse_length(value, "per6", 128, &draft->made.limit.per6, error);
}

static int parse_ban(const char *value, struct draft *draft, struct rf_error *error)
{
	uint64_t ban_ns = 0;
	int err = rf_parse_time_in(value, "ban", BAN_MIN_NS, RF_WINDOW_MAX_NS, "1s-8784h", &ban_ns,
				   error);

	draft->made.limit.ban_ns = ban_ns;
	if (!err && rf_words_take(draft->words, "all"))
		draft->made.limit.flags |= RF_BAN_ALL;
	return err;
}

static int parse_shadow(const char *value, struct draft *draft, struct rf_error *error)
{
	(void)value, (void)error;
	draft->made.limit.flags |= RF_SHADOW;
	return 0;
}

static int parse_count_rejected(const char *value, struct draft *draft, struct rf_error *error)
{
	if (strcmp(value, "rejected") != 0)
		return rf_error_usage(error, "'count %s': 'rejected' must follow 'count'", value);
	draft->made.limit.flags |= RF_COUNT_REJECTED;
	return 0;
}

static int parse_exact(const char *value, struct draft *draft, struct rf_error *error)
{
	(void)value, (void)error;
	draft->made.limit.flags |= RF_EXACT;
	return 0;
}

static const struct limit_option limit_options[] = {
	{"packets", OPTION_UNIT, NULL, parse_unit},
	{"bytes", OPTION_UNIT, NULL, parse_unit},
	{"algorithm", OPTION_ALGORITHM, "a word", parse_algorithm},
	{"cells", OPTION_CELLS, "a number", parse_cells},
	{"edge", OPTION_EDGE, "a word", parse_edge},
	{"burst", OPTION_BURST, "a count", parse_burst},
	{"match", OPTION_MATCH, "a word", parse_match},
	{"dport", OPTION_DPORT, "a port", parse_dport},
	{"from", OPTION_FROM, "a prefix", parse_from},
	{"per", OPTION_PER, "a prefix length", parse_per},
	{"per6", OPTION_PER6, "a prefix length", parse_per6},
	{"shadow", OPTION_SHADOW, NULL, parse_shadow},
	{"count", OPTION_COUNT, "'rejected'", parse_count_rejected},
	{"exact", OPTION_EXACT, NULL, parse_exact},
	{"ban", OPTION_BAN, "a time", parse_ban},
};

static const struct limit_option *find_limit_option(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(limit_options); i++)
		if (strcmp(word, limit_options[i].word) == 0)
			return &limit_options[i];
	return NULL;
}

static int parse_limit_option(struct rf_words *words, struct draft *draft, struct rf_error *error)
{
	const char *word = rf_words_next(words), *value = word;
	const struct limit_option *option = find_limit_option(word);

	if (!option)
		return rf_error_usage(
			error, "'%s': unknown word in a limit; see 'ringfence help limit add'",
			word);
	if (option->id == OPTION_UNIT && has_said(draft, OPTION_UNIT) &&
	    strcmp(word, rf_unit_names[draft->made.limit.unit]) != 0)
		return rf_error_usage(error, "'%s': 'packets' and 'bytes' exclude each other",
				      word);
	if (has_said(draft, option->id))
		return rf_error_usage(error, "'%s': said twice", word);
	draft->said |= 1U << option->id;
	if (option->takes)
		value = rf_words_next(words);
	if (!value)
		return rf_error_usage(error, "'%s': %s is missing behind it", word, option->takes);
	return option->parse(value, draft, error);
}

static int check_unit(struct draft *draft, struct rf_error *error)
{
	if (draft->rate_in_bits && has_said(draft, OPTION_UNIT) &&
	    draft->made.limit.unit == RF_PACKETS)
		return rf_error_usage(
			error, "'%s': invalid rate: bits are counted as bytes; leave out 'packets'",
			draft->rate);
	if (draft->rate_in_bits)
		draft->made.limit.unit = RF_BYTES;
	if (draft->burst_in_bits && draft->made.limit.unit == RF_PACKETS)
		return rf_error_usage(
			error,
			"'%s': invalid burst: bits are counted as bytes, and the limit "
			"is in packets; add 'bytes', or write it like 100 or 20k",
			draft->burst);
	return 0;
}

/* An option that the algorithm has no use for was meant for another one. */
static int check_algorithm(const struct draft *draft, struct rf_error *error)
{
	const struct rf_limit *limit = &draft->made.limit;
	const char *name = rf_algorithm_name(limit->algorithm);
	bool has_cells = has_said(draft, OPTION_CELLS);

	if (limit->algorithm != RF_SLIDING && (has_cells || has_said(draft, OPTION_EDGE)))
		return rf_error_usage(error,
				      "'%s': 'algorithm %s' goes without it; only sliding has "
				      "cells and an edge",
				      has_cells ? "cells" : "edge", name);
	if (!rf_has_burst(limit) && has_said(draft, OPTION_BURST))
		return rf_error_usage(error,
				      "'burst': 'algorithm %s' goes without it; only token and "
				      "leaky have one",
				      name);
	if (limit->algorithm == RF_LOG && limit->unit == RF_BYTES)
		return rf_error_usage(error,
				      "'algorithm log': it keeps the times of packets, and does "
				      "not count bytes; use 'algorithm sliding'");
	return 0;
}

/* `text` is how the count was written, `what` is for the message. */
static int check_range(const char *text, const char *what, const struct rf_limit *limit,
		       uint64_t count, uint64_t max, struct rf_error *error)
{
	if (limit->unit == RF_PACKETS && (count < 1 || count > max))
		return rf_error_usage(error, "'%s': invalid %s: the count must be 1-%" PRIu64, text,
				      what, max);
	if (limit->unit == RF_BYTES && (count < RF_FRAME_BYTES || count > max))
		return rf_error_usage(error,
				      "'%s': invalid %s: the count must be %d-%" PRIu64 " bytes; "
				      "with less, no Ethernet frame of full size would ever pass",
				      text, what, RF_FRAME_BYTES, max);
	return 0;
}

static int check_rate(const struct draft *draft, struct rf_error *error)
{
	const struct rf_limit *limit = &draft->made.limit;
	uint64_t max = RF_LIMIT_MAX;

	if (limit->algorithm == RF_LOG && (limit->rate < 1 || limit->rate > RF_LOG_MAX))
		return rf_error_usage(error,
				      "'%s': invalid rate: the count must be 1-%d, since "
				      "'algorithm log' keeps a time for each packet; use "
				      "'algorithm sliding'",
				      draft->rate, RF_LOG_MAX);
	if (limit->unit == RF_BYTES)
		max <<= RF_UNIT_SHIFT_MAX;
	return check_range(draft->rate, "rate", limit, limit->rate, max, error);
}

/* Not every limit can do with the burst that it has without the word. */
static int check_default_burst(const struct draft *draft, struct rf_error *error)
{
	const struct rf_limit *limit = &draft->made.limit;

	if (limit->algorithm == RF_LEAKY && limit->unit == RF_BYTES)
		return rf_error_usage(error,
				      "'algorithm leaky': in bytes it needs a burst of at least a "
				      "frame, %d; add 'burst COUNT'",
				      RF_FRAME_BYTES);
	if (limit->algorithm == RF_TOKEN && limit->rate > RF_LIMIT_MAX)
		return rf_error_usage(error,
				      "'algorithm token': its burst would be the count of '%s', "
				      "and %u is the most; add 'burst COUNT'",
				      draft->rate, RF_LIMIT_MAX);
	return 0;
}

static int check_burst(struct draft *draft, struct rf_error *error)
{
	struct rf_limit *limit = &draft->made.limit;
	int err;

	if (!draft->burst) {
		limit->burst = rf_default_burst(limit);
		return check_default_burst(draft, error);
	}
	err = check_range(draft->burst, "burst", limit, limit->burst, RF_LIMIT_MAX, error);
	if (err)
		return err;
	/* burst * TIME / COUNT, without what a division would round away */
	if ((unsigned __int128)limit->burst * limit->window_ns >
	    (unsigned __int128)limit->rate * RF_WINDOW_MAX_NS)
		return rf_error_usage(error,
				      "'%s': invalid burst: at the rate '%s' it takes longer than "
				      "8784h to flow; lower it, or raise the rate",
				      draft->burst, draft->rate);
	return 0;
}

static bool match_has_ports(const struct rf_limit *limit)
{
	if (limit->match == RF_MATCH_PROTOCOL)
		return limit->protocol == TCP || limit->protocol == UDP;
	return limit->match != RF_MATCH_ICMP;
}

/* One window for all that it is for: nothing of that has a source, or a port. */
static int check_other(const struct draft *draft, struct rf_error *error)
{
	static const enum option_id without[] = {OPTION_DPORT, OPTION_FROM, OPTION_PER, OPTION_PER6,
						 OPTION_BAN};

	for (size_t i = 0; i < ARRAY_SIZE(without); i++)
		for (size_t j = 0; j < ARRAY_SIZE(limit_options); j++)
			if (limit_options[j].id == without[i] && has_said(draft, without[i]))
				return rf_error_usage(
					error,
					"'%s': 'match other' goes without it, since what is not IP "
					"has no source and no port; leave one of them out",
					limit_options[j].word);
	return 0;
}

/* Whether what the limit is for, and what it does, go together. */
static int check_match(const struct draft *draft, struct rf_error *error)
{
	const struct rf_limit *limit = &draft->made.limit;

	if (limit->match == RF_MATCH_OTHER)
		return check_other(draft, error);
	if (limit->has_ports && !match_has_ports(limit) && limit->match == RF_MATCH_ICMP)
		return rf_error_usage(error, "'dport': 'match icmp' goes without it, since icmp "
					     "has no ports; leave one of them out");
	if (limit->has_ports && !match_has_ports(limit))
		return rf_error_usage(error,
				      "'dport': 'match proto %d' goes without it; only any, tcp, "
				      "tcp syn, udp, proto 6 and proto 17 have ports",
				      limit->protocol);
	if (limit->ban_ns && limit->flags & RF_SHADOW)
		return rf_error_usage(error, "'ban': a shadow limit drops nothing, so it bans "
					     "nobody; leave out 'ban' or 'shadow'");
	return 0;
}

/* The limit's name and rate, which come first. */
static int parse_limit_head(struct rf_words *words, struct draft *draft, struct rf_error *error)
{
	const char *name = rf_words_next(words);
	struct rf_rate rate;
	int err;

	if (!name)
		return rf_error_usage(error,
				      "the limit's name is missing; write NAME rate COUNT/TIME");
	err = rf_parse_name(name, "name of a limit", draft->made.limit.name, error);
	if (err)
		return err;
	if (!rf_words_take(words, "rate"))
		return rf_error_usage(error, "'%s': its rate is missing; write %s rate COUNT/TIME",
				      name, name);
	draft->rate = rf_words_next(words);
	if (!draft->rate)
		return rf_error_usage(error, "'rate': a rate is missing behind it, like 20k/1s");
	err = rf_parse_rate(draft->rate, &rate, error);
	if (err)
		return err;
	draft->made.limit.rate = rate.count;
	draft->made.limit.window_ns = rate.window_ns;
	draft->rate_in_bits = rate.in_bits;
	return 0;
}

static int parse_limit(struct rf_words *words, struct draft *draft, struct rf_error *error)
{
	int err = parse_limit_head(words, draft, error);

	while (!err && rf_words_peek(words))
		err = parse_limit_option(words, draft, error);
	if (!err)
		err = check_unit(draft, error);
	if (!err)
		err = check_algorithm(draft, error);
	if (!err)
		err = check_rate(draft, error);
	if (!err)
		err = check_burst(draft, error);
	if (!err)
		err = check_match(draft, error);
	return err;
}

int rf_parse_limit(struct rf_words *words, struct rf_definition *definition, struct rf_error *error)
{
	struct draft draft = {.words = words};
	struct rf_limit *limit = &draft.made.limit;
	int err;

	limit->per4 = RF_PER4_DEFAULT;
	limit->per6 = RF_PER6_DEFAULT;
	err = parse_limit(words, &draft, error);
	if (err)
		rf_definition_free(&draft.made);
	else if (!limit->cells)
		limit->cells = limit->algorithm == RF_SLIDING ? RF_CELLS : 1;
	*definition = draft.made;
	return err;
}

void rf_definition_free(struct rf_definition *definition)
{
	free(definition->ports);
	rf_prefixes_free(&definition->from);
	*definition = (struct rf_definition){};
}
