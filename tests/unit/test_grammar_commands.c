// SPDX-License-Identifier: GPL-2.0
/*
 * The grammar's commands, in rows of a line and what must come of it: what follows `limit add` and
 * `attach`, and the words that a line is made of.
 */
#include "refusal.h"

#include <stdio.h>

#define RANDOM_LIMITS 50000

/* ---- words ---- */

#define LINE_WORDS_MAX (RF_INTERFACES_MAX + 8)

/* A command line, split at its spaces. Must stay where it is while its words are used. */
struct line {
	char text[LINE_WORDS_MAX * 8];
	const char *word[LINE_WORDS_MAX];
	struct rf_words words;
};

static void line_split(struct line *line, const char *text)
{
	char *rest = NULL;

	assert_true(strlen(text) < sizeof(line->text));
	strcpy(line->text, text);
	line->words = (struct rf_words){.word = line->word};
	for (char *word = strtok_r(line->text, " ", &rest); word;
	     word = strtok_r(NULL, " ", &rest)) {
		assert_true(line->words.count < LINE_WORDS_MAX);
		line->word[line->words.count++] = word;
	}
}

static void words_are_read_one_by_one(void **state)
{
	struct rf_error error = {};
	struct line line;

	(void)state;
	line_split(&line, "one two");
	assert_string_equal(rf_words_peek(&line.words), "one");
	assert_string_equal(rf_words_next(&line.words), "one");
	assert_false(rf_words_take(&line.words, "one"));
	assert_false(rf_words_take(&line.words, "tw"));
	assert_false(rf_words_take(&line.words, "twofold"));
	assert_refused(rf_words_end(&line.words, &error), &error, "'two': unexpected word");
	assert_true(rf_words_take(&line.words, "two"));
	assert_null(rf_words_peek(&line.words));
	assert_null(rf_words_next(&line.words));
	assert_false(rf_words_take(&line.words, "two"));
	assert_int_equal(rf_words_end(&line.words, &error), 0);
}

/* The words of `match` are not here: they make good names. */
static void no_word_of_the_grammar_is_a_name(void **state)
{
	static const char words[] =
		"limit add set rate packets bytes algorithm sliding fixed log token leaky "
		"cells edge strict weighted coarse burst match proto dport by drops "
		"from file per per6 shadow count rejected exact ban del list allow deny for "
		"load newcomers then open closed aggregate off attach fence mode native "
		"generic sources leases chain replace confirm detach adopt status stats "
		"watch top show save apply check doctor help dev bans unban";
	char name[RF_NAME_SIZE];
	struct rf_error error;
	struct line line;
	const char *word;

	(void)state;
	line_split(&line, words);
	while ((word = rf_words_next(&line.words)))
		if (rf_parse_name(word, "name of a limit", name, &error) != -EINVAL)
			fail_msg("%s", word);
}

/* ---- limit ---- */

/* A line that must be refused, and the whole sentence that must say so. */
struct refusal_row {
	const char *line;
	const char *sentence;
};

struct limit_row {
	const char *line;
	const char *name;
	uint64_t rate;
	uint64_t window_ns;
	uint32_t flags;
	enum rf_unit unit;
	enum rf_algorithm algorithm;
	enum rf_edge edge;
	int cells; /* 0: as by default */
	uint64_t burst;
	enum rf_match match;
	int protocol;
	uint64_t ban_ns;
};

/* What is parsed into must be written in any case, so that it may be freed. */
static int parse_definition(const char *text, struct line *line, struct rf_definition *definition,
			    struct rf_error *error)
{
	line_split(line, text);
	memset(definition, LEFT_ALONE, sizeof(*definition));
	return rf_parse_limit(&line->words, definition, error);
}

static void assert_no_definition(const struct rf_definition *definition)
{
	static const struct rf_definition none;

	assert_memory_equal(definition, &none, sizeof(none));
}

/* One that is for all ports and all sources. */
static void assert_only_limit(const struct rf_definition *definition)
{
	struct rf_definition rest = *definition;

	memset(&rest.limit, 0, sizeof(rest.limit));
	assert_no_definition(&rest);
}

static void parse_limit(void **state)
{
	const struct limit_row *row = *state;
	struct rf_limit expected = {
		.rate = row->rate,
		.window_ns = row->window_ns,
		.flags = row->flags,
		.algorithm = row->algorithm,
		.edge = row->edge,
		.unit = row->unit,
		.cells = row->cells,
		.burst = row->burst,
		.match = row->match,
		.protocol = row->protocol,
		.ban_ns = row->ban_ns,
		.per4 = 32,
		.per6 = 64,
	};
	struct rf_definition definition;
	struct rf_error error = {};
	struct line line;

	if (!row->cells)
		expected.cells = row->algorithm == RF_SLIDING ? 16 : 1;
	strcpy(expected.name, row->name);
	assert_accepted(parse_definition(row->line, &line, &definition, &error), &error);
	assert_memory_equal(&definition.limit, &expected, sizeof(expected));
	assert_only_limit(&definition);
	assert_null(rf_words_peek(&line.words));
}

#define LIMIT(title, text, ...)                   \
	UNIT_ROW_OF("limit: " title, parse_limit, \
		    (&(struct limit_row){.line = text, .name = "all", __VA_ARGS__}))
#define NAMED_LIMIT(title, text, expected, ...)   \
	UNIT_ROW_OF("limit: " title, parse_limit, \
		    (&(struct limit_row){.line = text, .name = expected, __VA_ARGS__}))
#define OF(count, time) .rate = count, .window_ns = time

#define RATE_MISSING "'all': its rate is missing; write all rate COUNT/TIME"
#define UNKNOWN "unknown word in a limit; see 'ringfence help limit add'"
#define LATER(word) "'" word "': not in this version"
#define NOT_OTHER(word)                                                                      \
	"'" word "': 'match other' goes without it, since what is not IP has no source and " \
	"no port; leave one of them out"
#define MATCHES "unknown match; it is any, tcp, tcp syn, udp, icmp, proto N or other"
#define PORT_FORM "invalid port; write it like 53, 53,443 or 8000-8100"
#define PORT_RANGE "invalid port: it must be 0-65535"
#define TIME_FORM "time; write it like 500ms, 10s, 5m or 1h"
#define SHADOW_BAN \
	"'ban': a shadow limit drops nothing, so it bans nobody; leave out 'ban' or 'shadow'"
#define CELLS_RANGE "invalid number of cells: it must be 2-16"
#define MISSING(option) "'" option "': a word is missing behind it"
#define ONE_UNIT(word) "'" word "': 'packets' and 'bytes' exclude each other"
#define FRAME_RANGE(max)                                                                   \
	"the count must be 1514-" max " bytes; with less, no Ethernet frame of full size " \
	"would ever pass"
#define BYTES_RANGE "invalid rate: " FRAME_RANGE("137438953472")
#define BURST_RANGE "invalid burst: the count must be 1-2147483648"
#define BURST_BYTES_RANGE "invalid burst: " FRAME_RANGE("2147483648")
#define BURST_FORM \
	"invalid burst; write it like 100, 20k, 1.5M or 10mbit, in whole packets or bytes"
#define LOG_RANGE                                                                            \
	"invalid rate: the count must be 1-16, since 'algorithm log' keeps a time for each " \
	"packet; use 'algorithm sliding'"
#define LOG_BYTES                                                                        \
	"'algorithm log': it keeps the times of packets, and does not count bytes; use " \
	"'algorithm sliding'"
#define BITS_OF_PACKETS "invalid rate: bits are counted as bytes; leave out 'packets'"
#define BURST_BITS_OF_PACKETS                                                                     \
	"invalid burst: bits are counted as bytes, and the limit is in packets; add 'bytes', or " \
	"write it like 100 or 20k"
#define ONLY_SLIDING(option, algorithm)       \
	"'" option "': 'algorithm " algorithm \
	"' goes without it; only sliding has cells and an edge"
#define ONLY_BUCKETS(algorithm) \
	"'burst': 'algorithm " algorithm "' goes without it; only token and leaky have one"
#define LEAKY_BYTES                                                                           \
	"'algorithm leaky': in bytes it needs a burst of at least a frame, 1514; add 'burst " \
	"COUNT'"
#define TOKEN_BYTES(rate)                                                                       \
	"'algorithm token': its burst would be the count of '" rate "', and 2147483648 is the " \
	"most; add 'burst COUNT'"
#define TOO_SLOW(rate)                                                                            \
	"invalid burst: at the rate '" rate "' it takes longer than 8784h to flow; lower it, or " \
	"raise the rate"

static void refuse_limit(void **state)
{
	const struct refusal_row *row = *state;
	struct rf_error error = {};
	struct rf_definition definition;
	struct line line;
	int err = parse_definition(row->line, &line, &definition, &error);

	assert_refused(err, &error, row->sentence);
	assert_no_definition(&definition);
}

#define REFUSED_LIMIT(title, ...) \
	UNIT_ROW_OF("refused limit: " title, refuse_limit, (&(struct refusal_row){__VA_ARGS__}))

/* Whatever the order, as in `expected`, whose line is the beginning of each. */
static void check_order(const struct limit_row *expected, const char *const *options, int count)
{
	struct limit_row row = *expected;
	void *state = &row;
	char text[256];

	strcpy(text, expected->line);
	for (int i = 0; i < count; i++) {
		strcat(text, " ");
		strcat(text, options[i]);
	}
	row.line = text;
	parse_limit(&state);
}

/* Every order of the options from `first` on; returns how many. */
static int check_orders(const struct limit_row *expected, const char **options, int count,
			int first)
{
	int orders = 0;

	if (first == count) {
		check_order(expected, options, count);
		return 1;
	}
	for (int i = first; i < count; i++) {
		const char *swapped = options[first];

		options[first] = options[i];
		options[i] = swapped;
		orders += check_orders(expected, options, count, first + 1);
		options[i] = options[first];
		options[first] = swapped;
	}
	return orders;
}

static void options_of_a_window_come_in_any_order(void **state)
{
	const struct limit_row expected = {.line = "all rate 20k/1s",
					   .name = "all",
					   .rate = 20000,
					   .window_ns = SECOND,
					   .flags = RF_SHADOW | RF_COUNT_REJECTED,
					   .edge = RF_EDGE_WEIGHTED,
					   .cells = 4};
	const char *options[] = {"packets",   "algorithm sliding", "edge weighted",  "cells 4",
				 "match any", "per /32",	   "count rejected", "shadow"};

	(void)state;
	assert_int_equal(check_orders(&expected, options, UNIT_ARRAY_SIZE(options), 0), 40320);
}

static void options_of_a_bucket_come_in_any_order(void **state)
{
	const struct limit_row expected = {.line = "all rate 20k/1s",
					   .name = "all",
					   .rate = 20000,
					   .window_ns = SECOND,
					   .flags = RF_SHADOW | RF_COUNT_REJECTED,
					   .unit = RF_BYTES,
					   .algorithm = RF_TOKEN,
					   .burst = 2000};
	const char *options[] = {"bytes",   "algorithm token", "burst 16kbit",	 "match any",
				 "per /32", "per6 /64",	       "count rejected", "shadow"};

	(void)state;
	assert_int_equal(check_orders(&expected, options, UNIT_ARRAY_SIZE(options), 0), 40320);
}

/* Neither at once, nor after another, nor with another value. */
static void no_option_is_said_twice(void **state)
{
	static const char *const options[][3] = {
		{"packets", "", ""},
		{"bytes", "", ""},
		{"algorithm", " sliding", " token"},
		{"cells", " 4", " 5"},
		{"edge", " strict", " coarse"},
		{"burst", " 1", " 2"},
		{"match", " any", " tcp"},
		{"per", " /32", " /24"},
		{"per6", " /64", " /48"},
		{"count", " rejected", " rejected"},
		{"shadow", "", ""},
		{"exact", "", ""},
		{"dport", " 53", " 80"},
		{"from", " 192.0.2.0/24", " 192.0.2.0/24"},
		{"from", " file a", " file b"},
		{"ban", " 1s", " 2s"},
		{"ban", " 1s all", " 1s"},
	};
	static const char *const between[] = {" ", " shadow ", " count rejected "};
	char text[128], sentence[32];
	struct refusal_row row = {text, sentence};
	void *row_state = &row;

	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(options); i++) {
		const char *const *option = options[i];

		for (size_t j = 0; j < UNIT_ARRAY_SIZE(between); j++) {
			if (strstr(between[j], option[0]))
				continue;
			snprintf(text, sizeof(text), "all rate 20k/1s %s%s%s%s%s", option[0],
				 option[1], between[j], option[0], option[2]);
			snprintf(sentence, sizeof(sentence), "'%s': said twice", option[0]);
			refuse_limit(&row_state);
		}
	}
}

/* ---- limits, written ---- */

struct written_row {
	const char *line;
	const char *written;
};

/* As it is read again, nothing has been lost. */
static void check_written(const struct rf_limit *limit, char text[RF_LIMIT_TEXT_SIZE])
{
	char again_text[RF_LIMIT_TEXT_SIZE];
	struct rf_error error = {};
	struct rf_definition again;
	struct line line;

	rf_format_limit(limit, text);
	assert_accepted(parse_definition(text, &line, &again, &error), &error);
	assert_memory_equal(&again.limit, limit, sizeof(*limit));
	assert_only_limit(&again);
	rf_format_limit(&again.limit, again_text);
	assert_string_equal(again_text, text);
}

static void limit_is_written(void **state)
{
	const struct written_row *row = *state;
	char text[RF_LIMIT_TEXT_SIZE];
	struct rf_error error = {};
	struct rf_definition definition;
	struct line line;

	assert_accepted(parse_definition(row->line, &line, &definition, &error), &error);
	check_written(&definition.limit, text);
	assert_string_equal(text, row->written);
}

#define WRITTEN(title, ...) \
	UNIT_ROW_OF("written: " title, limit_is_written, (&(struct written_row){__VA_ARGS__}))

#define LONGEST                                                                               \
	THIRTY_ONE " rate 137438953471/31622399999ms bytes algorithm leaky burst 1073741823 " \
		   "match proto 254 per /31 per6 /128 count rejected exact ban 31622399999ms all"

/* ---- ports and prefixes of a limit ---- */

struct port_range {
	int first, last;
};

struct ports_row {
	const char *text;
	struct port_range range[4]; /* up to one that is empty */
};

static bool in_ranges(const struct port_range *range, int port)
{
	for (int i = 0; i < 4 && (!i || range[i].last); i++)
		if (port >= range[i].first && port <= range[i].last)
			return true;
	return false;
}

static void parse_ports(void **state)
{
	static const char *const matches[] = {
		"",	      " match any",	" match tcp",	  " match tcp syn",
		" match udp", " match proto 6", " match proto 17"};
	const struct ports_row *row = *state;

	for (size_t i = 0; i < UNIT_ARRAY_SIZE(matches); i++) {
		struct rf_definition definition;
		struct rf_error error = {};
		struct line line;
		char text[256];

		snprintf(text, sizeof(text), "all rate 20k/1s dport %s%s", row->text, matches[i]);
		assert_accepted(parse_definition(text, &line, &definition, &error), &error);
		assert_true(definition.limit.has_ports);
		assert_false(definition.limit.has_from);
		for (int port = 0; port < RF_PORTS; port++)
			assert_int_equal(definition.ports[port / 64] >> port % 64 & 1,
					 in_ranges(row->range, port));
		rf_definition_free(&definition);
		assert_no_definition(&definition);
	}
}

#define PORTS(title, ...) \
	UNIT_ROW_OF("ports: " title, parse_ports, (&(struct ports_row){__VA_ARGS__}))

struct from_row {
	const char *text;
	const char *prefix[4]; /* as they are written again */
	const char *file;
};

static void parse_from(void **state)
{
	const struct from_row *row = *state;
	struct rf_definition definition;
	struct rf_error error = {};
	struct line line;
	char text[256];
	size_t count = 0;

	snprintf(text, sizeof(text), "all rate 20k/1s from %s shadow", row->text);
	assert_accepted(parse_definition(text, &line, &definition, &error), &error);
	assert_true(definition.limit.has_from);
	assert_int_equal(definition.limit.flags, RF_SHADOW);
	assert_null(definition.ports);
	for (; count < 4 && row->prefix[count]; count++) {
		char written[RF_PREFIX_TEXT_SIZE];

		assert_true(count < definition.from.count);
		rf_format_prefix(&definition.from.prefix[count], written);
		assert_string_equal(written, row->prefix[count]);
	}
	assert_int_equal(definition.from.count, count);
	if (row->file)
		assert_string_equal(definition.from_file, row->file);
	else
		assert_null(definition.from_file);
	rf_definition_free(&definition);
	assert_no_definition(&definition);
}

#define FROM(title, ...) \
	UNIT_ROW_OF("from: " title, parse_from, (&(struct from_row){.text = __VA_ARGS__}))

/* ---- newcomers, for, confirm ---- */

struct newcomers_row {
	const char *line;
	struct rf_newcomers_text expected;
	const char *refusal;
};

static void parse_newcomers(void **state)
{
	const struct newcomers_row *row = *state;
	struct rf_newcomers_text newcomers;
	struct rf_error error = {};
	struct line line;
	int err;

	line_split(&line, row->line);
	memset(&newcomers, LEFT_ALONE, sizeof(newcomers));
	err = rf_parse_newcomers(&line.words, &newcomers, &error);
	if (row->refusal) {
		assert_refused(err, &error, row->refusal);
		assert_left_alone(&newcomers, sizeof(newcomers));
		return;
	}
	assert_accepted(err, &error);
	assert_int_equal(newcomers.rate, row->expected.rate);
	assert_int_equal(newcomers.window_ns, row->expected.window_ns);
	assert_int_equal(newcomers.then, row->expected.then);
}

#define NEWCOMERS(title, text, ...)                       \
	UNIT_ROW_OF("newcomers: " title, parse_newcomers, \
		    (&(struct newcomers_row){text, {__VA_ARGS__}, NULL}))
#define REFUSED_NEWCOMERS(title, text, sentence)                  \
	UNIT_ROW_OF("refused newcomers: " title, parse_newcomers, \
		    (&(struct newcomers_row){text, {}, sentence}))
#define NO_NEWCOMERS_RATE                                                         \
	"the rate of newcomers is missing; write newcomers rate COUNT/TIME then " \
	"open|closed|aggregate, or newcomers off"
#define NO_THEN                                                                              \
	"what becomes of the other newcomers is missing; add 'then open', 'then closed' or " \
	"'then aggregate'"

struct until_row {
	int (*parse)(struct rf_words *words, uint64_t *time_ns, struct rf_error *error);
	const char *line;
	uint64_t time_ns;
	const char *left; /* the next word, or none */
	const char *refusal;
};

static void parse_until(void **state)
{
	const struct until_row *row = *state;
	uint64_t time_ns;
	struct rf_error error = {};
	struct line line;
	int err;

	line_split(&line, row->line);
	memset(&time_ns, LEFT_ALONE, sizeof(time_ns));
	err = row->parse(&line.words, &time_ns, &error);
	if (row->refusal) {
		assert_refused(err, &error, row->refusal);
		assert_left_alone(&time_ns, sizeof(time_ns));
		return;
	}
	assert_accepted(err, &error);
	assert_int_equal(time_ns, row->time_ns);
	if (row->left)
		assert_string_equal(rf_words_peek(&line.words), row->left);
	else
		assert_null(rf_words_peek(&line.words));
}

#define FOR(title, ...)                         \
	UNIT_ROW_OF("for: " title, parse_until, \
		    (&(struct until_row){.parse = rf_parse_for, __VA_ARGS__}))
#define CONFIRM(title, ...)                         \
	UNIT_ROW_OF("confirm: " title, parse_until, \
		    (&(struct until_row){.parse = rf_parse_confirm, __VA_ARGS__}))
#define CONFIRM_RANGE "invalid time to confirm: the time must be 1s-24h"
#define FOR_RANGE "invalid time on a list: the time must be 1s-8784h"

/* ---- lines of a file ---- */

struct split_row {
	const char *line;
	const char *word[4]; /* up to NULL */
};

static void split_line(void **state)
{
	const struct split_row *row = *state;
	const char *array[3];
	struct rf_words words;
	struct rf_error error = {};
	char line[128];

	strcpy(line, row->line);
	assert_accepted(rf_split_line(line, array, 3, &words, &error), &error);
	for (int i = 0; row->word[i]; i++) {
		const char *word = rf_words_next(&words);

		assert_non_null(word);
		assert_string_equal(word, row->word[i]);
	}
	assert_null(rf_words_peek(&words));
}

#define SPLIT(title, ...) \
	UNIT_ROW_OF("line: " title, split_line, (&(struct split_row){.line = __VA_ARGS__}))

static void a_line_of_too_many_words_is_refused(void **state)
{
	char line[] = "one two three four # five";
	const char *array[3];
	struct rf_words words;
	struct rf_error error = {};
	int err;

	(void)state;
	memset(&words, LEFT_ALONE, sizeof(words));
	err = rf_split_line(line, array, 3, &words, &error);
	assert_refused(err, &error, "too many words in one line; 3 at most");
	assert_left_alone(&words, sizeof(words));
}

/* ---- limits, all of them ---- */

/* A count as it is written, and what it is. */
struct amount {
	const char *text;
	uint64_t count;
	bool in_bits;
};

/* What a line says; an empty word, and a text of NULL, is left out. */
struct wording {
	struct amount rate;
	uint64_t window_ms;
	const char *unit, *algorithm, *cells, *edge;
	struct amount burst;
	const char *shadow, *count;
};

static bool is_bucket(const struct rf_limit *limit)
{
	return limit->algorithm == RF_TOKEN || limit->algorithm == RF_LEAKY;
}

/* The limit that the words ask for, whether it may be or not. */
static struct rf_limit limit_of(const struct wording *said)
{
	static const char *const algorithms[] = {"", "fixed", "log", "token", "leaky"};
	static const char *const edges[] = {"", "coarse", "weighted"};
	struct rf_limit limit = {.name = "all", .rate = said->rate.count, .per4 = 32, .per6 = 64};

	limit.window_ns = said->window_ms * MS;
	for (int i = 1; i < 5; i++)
		if (strcmp(said->algorithm, algorithms[i]) == 0)
			limit.algorithm = i;
	for (int i = 1; i < 3; i++)
		if (strcmp(said->edge, edges[i]) == 0)
			limit.edge = i;
	limit.unit = said->rate.in_bits || strcmp(said->unit, "bytes") == 0;
	limit.cells = *said->cells ? atoi(said->cells) : limit.algorithm == RF_SLIDING ? 16 : 1;
	limit.flags = (*said->shadow ? RF_SHADOW : 0) | (*said->count ? RF_COUNT_REJECTED : 0);
	if (said->burst.text)
		limit.burst = said->burst.count;
	else if (is_bucket(&limit))
		limit.burst = limit.algorithm == RF_TOKEN ? limit.rate : 1;
	return limit;
}

static bool may_be(const struct wording *said, const struct rf_limit *limit)
{
	const uint64_t least = limit->unit == RF_BYTES ? 1514 : 1, most = 1ULL << 31;
	const uint64_t most_rate = limit->unit == RF_BYTES ? 1ULL << 37 : most;
	unsigned __int128 flow_ms;

	if (strcmp(said->unit, "packets") == 0 && said->rate.in_bits)
		return false;
	if ((*said->cells || *said->edge) && limit->algorithm != RF_SLIDING)
		return false;
	if (limit->rate < least || limit->rate > most_rate)
		return false;
	if (limit->algorithm == RF_LOG && (limit->unit == RF_BYTES || limit->rate > 16))
		return false;
	if (!is_bucket(limit))
		return !said->burst.text;
	if (said->burst.text && said->burst.in_bits && limit->unit == RF_PACKETS)
		return false;
	if (limit->burst < least || limit->burst > most)
		return false;
	flow_ms =
		((unsigned __int128)limit->burst * said->window_ms + limit->rate - 1) / limit->rate;
	return flow_ms <= 31622400000; /* 8784h */
}

static void say(char text[256], const char *option, const char *word)
{
	size_t length = strlen(text);

	if (*word)
		snprintf(text + length, 256 - length, " %s%s", option, word);
}

static void write_line(const struct wording *said, char text[256])
{
	snprintf(text, 256, "all rate %s/%" PRIu64 "ms", said->rate.text, said->window_ms);
	say(text, "", said->unit);
	say(text, "algorithm ", said->algorithm);
	say(text, "cells ", said->cells);
	say(text, "edge ", said->edge);
	say(text, "burst ", said->burst.text ? said->burst.text : "");
	say(text, "", said->shadow);
	say(text, "", said->count);
}

/* Accepted or not as it should be, read as it should be, and written so. True if accepted. */
static bool check_wording(const struct wording *said)
{
	const struct rf_limit expected = limit_of(said);
	const bool accepted = may_be(said, &expected);
	char text[256], written[RF_LIMIT_TEXT_SIZE];
	struct rf_error error = {};
	struct rf_definition definition;
	struct line line;

	write_line(said, text);
	if (!parse_definition(text, &line, &definition, &error) != accepted)
		fail_msg("%s: it is %s: %s", text, accepted ? "refused" : "accepted", error.text);
	if (!accepted) {
		assert_no_definition(&definition);
		return false;
	}
	assert_memory_equal(&definition.limit, &expected, sizeof(expected));
	assert_only_limit(&definition);
	check_written(&definition.limit, written);
	return true;
}

static const char *const units[] = {"", "packets", "bytes"};
static const char *const algorithms[] = {"", "sliding", "fixed", "log", "token", "leaky"};
static const char *const cell_counts[] = {"", "2", "16"};
static const char *const edges[] = {"", "strict", "weighted", "coarse"};
static const char *const shadows[] = {"", "shadow"};
static const char *const counts[] = {"", "count rejected"};
static const struct amount rates[] = {
	{"0", 0, false},
	{"1", 1, false},
	{"16", 16, false},
	{"1514", 1514, false},
	{"20k", 20000, false},
	{"2147483648", 2147483648, false},
	{"3000M", 3000000000, false},
	{"137438953472", 137438953472, false},
	{"8kbit", 1000, true},
	{"12.112kbit", 1514, true},
	{"100gbit", 12500000000, true},
};
static const struct amount bursts[] = {
	{NULL, 0, false},
	{"0", 0, false},
	{"1", 1, false},
	{"1514", 1514, false},
	{"20k", 20000, false},
	{"2147483648", 2147483648, false},
	{"3000M", 3000000000, false},
	{"16kbit", 2000, true},
};
static const uint64_t windows_ms[] = {1, 1000, 31622400000};

/* The `i`-th entry of `list`, and `i` without it. */
#define PICK(i, list)                                    \
	({                                               \
		size_t at = (i) % UNIT_ARRAY_SIZE(list); \
		(i) /= UNIT_ARRAY_SIZE(list);            \
		(list)[at];                              \
	})

static struct wording combination(uint64_t i)
{
	struct wording said;

	said.rate = PICK(i, rates);
	said.window_ms = PICK(i, windows_ms);
	said.unit = PICK(i, units);
	said.algorithm = PICK(i, algorithms);
	said.cells = PICK(i, cell_counts);
	said.edge = PICK(i, edges);
	said.burst = PICK(i, bursts);
	said.shadow = PICK(i, shadows);
	said.count = PICK(i, counts);
	return said;
}

static void every_combination_is_as_it_should_be(void **state)
{
	const uint64_t count = UNIT_ARRAY_SIZE(rates) * UNIT_ARRAY_SIZE(windows_ms) *
			       UNIT_ARRAY_SIZE(units) * UNIT_ARRAY_SIZE(algorithms) *
			       UNIT_ARRAY_SIZE(cell_counts) * UNIT_ARRAY_SIZE(edges) *
			       UNIT_ARRAY_SIZE(bursts) * UNIT_ARRAY_SIZE(shadows) *
			       UNIT_ARRAY_SIZE(counts);
	uint64_t accepted = 0;

	(void)state;
	for (uint64_t i = 0; i < count; i++) {
		struct wording said = combination(i);

		accepted += check_wording(&said);
	}
	assert_true(accepted > count / 50);
}

/* A count of any magnitude, some of them in bits. */
static void make_amount(uint64_t *random, char text[32], struct amount *amount)
{
	uint64_t number = unit_random(random) >> unit_below(random, 64);

	amount->text = text;
	amount->in_bits = unit_below(random, 4) == 0 && number < UINT64_MAX / 125;
	amount->count = amount->in_bits ? number * 125 : number;
	snprintf(text, 32, "%" PRIu64 "%s", number, amount->in_bits ? "kbit" : "");
}

static void any_counts_are_as_they_should_be(void **state)
{
	uint64_t random = unit_seed();
	char rate[32], burst[32];

	(void)state;
	for (int i = 0; i < RANDOM_LIMITS; i++) {
		struct wording said = combination(unit_random(&random));

		make_amount(&random, rate, &said.rate);
		if (said.burst.text)
			make_amount(&random, burst, &said.burst);
		said.window_ms =
			1 + (unit_random(&random) >> unit_below(&random, 64)) % 31622400000;
		check_wording(&said);
	}
}

/* ---- attach ---- */

struct attach_row {
	const char *line;
	const char *interfaces;
	const char *fence;
	enum rf_mode mode;
	uint32_t sources;
	uint32_t leases;
	uint64_t confirm_ns;
	bool chain, replace;
};

static void check_attach(const struct attach_row *row, const struct rf_attach *attach)
{
	struct line expected;

	line_split(&expected, row->interfaces);
	assert_int_equal(attach->interfaces, expected.words.count);
	for (int i = 0; i < attach->interfaces; i++)
		assert_string_equal(attach->interface[i], expected.word[i]);
	if (row->fence)
		assert_string_equal(attach->fence, row->fence);
	else
		assert_null(attach->fence);
	assert_int_equal(attach->mode, row->mode);
	assert_int_equal(attach->sources, row->sources);
	assert_int_equal(attach->leases, row->leases);
	assert_int_equal(attach->confirm_ns, row->confirm_ns);
	assert_int_equal(attach->chain, row->chain);
	assert_int_equal(attach->replace, row->replace);
}

static void parse_attach(void **state)
{
	const struct attach_row *row = *state;
	struct rf_attach attach;
	struct rf_error error = {};
	struct line line;

	line_split(&line, row->line);
	memset(&attach, LEFT_ALONE, sizeof(attach));
	assert_accepted(rf_parse_attach(&line.words, &attach, &error), &error);
	check_attach(row, &attach);
	assert_null(rf_words_peek(&line.words));
}

#define ATTACH_WITH(title, ...) \
	UNIT_ROW_OF("attach: " title, parse_attach, (&(struct attach_row){.line = __VA_ARGS__}))
#define ATTACH(title, ...) ATTACH_WITH(title, __VA_ARGS__, RF_LEASES_UNSAID, 0)

#define ONE_OF_THEM                                                                               \
	"'chain' and 'replace': only one of them; 'chain' runs beside other programs, 'replace' " \
	"takes them off"
#define NO_INTERFACE "the interface is missing; write attach IF"
#define NONE_BUT(word) NO_INTERFACE ", or 'attach dev " word "' if it is called so"
#define MODES "unknown mode; it is native or generic"
#define LEASES_RANGE "invalid number of leases: it must be 0-16777216"
#define SOURCES_RANGE "invalid number of sources: it must be 1-67108864"

static void refuse_attach(void **state)
{
	const struct refusal_row *row = *state;
	struct rf_attach attach;
	struct rf_error error = {};
	struct line line;
	int err;

	line_split(&line, row->line);
	memset(&attach, LEFT_ALONE, sizeof(attach));
	err = rf_parse_attach(&line.words, &attach, &error);
	assert_refused(err, &error, row->sentence);
	assert_left_alone(&attach, sizeof(attach));
}

#define REFUSED_ATTACH(title, ...) \
	UNIT_ROW_OF("refused attach: " title, refuse_attach, (&(struct refusal_row){__VA_ARGS__}))

static void no_more_interfaces_are_attached_than_fit(void **state)
{
	char text[RF_INTERFACES_MAX * 8] = "", sentence[64];
	struct attach_row most = {.line = text, .interfaces = text, .leases = RF_LEASES_UNSAID};
	struct refusal_row one_more = {text, sentence};
	void *most_state = &most, *one_more_state = &one_more;

	(void)state;
	snprintf(sentence, sizeof(sentence), "'more': too many interfaces; %d at most",
		 RF_INTERFACES_MAX);
	for (int i = 1; i <= RF_INTERFACES_MAX; i++)
		sprintf(text + strlen(text), "eth%d ", i);
	parse_attach(&most_state);
	strcat(text, "more");
	refuse_attach(&one_more_state);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(words_are_read_one_by_one),
	cmocka_unit_test(no_word_of_the_grammar_is_a_name),

	LIMIT("name and rate", "all rate 20k/1s", OF(20000, SECOND)),
	NAMED_LIMIT("a slow one", "slow rate 1/8784h", "slow", OF(1, 8784 * HOUR)),
	NAMED_LIMIT("a name of 31 characters", THIRTY_ONE " rate 20k/1s", THIRTY_ONE,
		    OF(20000, SECOND)),
	LIMIT("shadow", "all rate 20k/1s shadow", OF(20000, SECOND), .flags = RF_SHADOW),
	LIMIT("count rejected", "all rate 20k/1s count rejected", OF(20000, SECOND),
	      .flags = RF_COUNT_REJECTED),
	LIMIT("exact", "all rate 20k/1s exact", OF(20000, SECOND), .flags = RF_EXACT),
	LIMIT("all flags", "all rate 20k/1s exact count rejected shadow", OF(20000, SECOND),
	      .flags = RF_COUNT_REJECTED | RF_SHADOW | RF_EXACT),
	LIMIT("both flags", "all rate 20k/1s count rejected shadow", OF(20000, SECOND),
	      .flags = RF_COUNT_REJECTED | RF_SHADOW),
	LIMIT("match any", "all rate 20k/1s match any", OF(20000, SECOND)),
	LIMIT("match tcp", "all rate 20k/1s match tcp", OF(20000, SECOND), .match = RF_MATCH_TCP),
	LIMIT("match tcp syn", "all rate 20k/1s match tcp syn shadow", OF(20000, SECOND),
	      .match = RF_MATCH_SYN, .flags = RF_SHADOW),
	LIMIT("match udp", "all rate 20k/1s match udp", OF(20000, SECOND), .match = RF_MATCH_UDP),
	LIMIT("match icmp", "all rate 20k/1s match icmp", OF(20000, SECOND),
	      .match = RF_MATCH_ICMP),
	LIMIT("match proto 0", "all rate 20k/1s match proto 0", OF(20000, SECOND),
	      .match = RF_MATCH_PROTOCOL),
	LIMIT("match proto 254", "all rate 20k/1s match proto 254", OF(20000, SECOND),
	      .match = RF_MATCH_PROTOCOL, .protocol = 254),
	NAMED_LIMIT("words of match are names", "syn rate 20k/1s match tcp syn", "syn",
		    OF(20000, SECOND), .match = RF_MATCH_SYN),
	LIMIT("ban", "all rate 20k/1s ban 10m", OF(20000, SECOND), .ban_ns = 600 * SECOND),
	LIMIT("the shortest ban", "all rate 20k/1s ban 1s count rejected", OF(20000, SECOND),
	      .ban_ns = SECOND, .flags = RF_COUNT_REJECTED),
	LIMIT("ban all", "all rate 20k/1s ban 10m all", OF(20000, SECOND), .ban_ns = 600 * SECOND,
	      .flags = RF_BAN_ALL),
	LIMIT("ban all, and more", "all rate 20k/1s ban 10m all exact", OF(20000, SECOND),
	      .ban_ns = 600 * SECOND, .flags = RF_BAN_ALL | RF_EXACT),
	LIMIT("the longest ban", "all rate 20k/1s ban 8784h", OF(20000, SECOND),
	      .ban_ns = 8784 * HOUR),
	LIMIT("per /32", "all rate 20k/1s per /32", OF(20000, SECOND)),
	LIMIT("per6 /64", "all rate 20k/1s per6 /64", OF(20000, SECOND)),
	LIMIT("the fewest packets", "all rate 1/1s", OF(1, SECOND)),
	LIMIT("the most packets", "all rate 2147483648/1s", OF(2147483648, SECOND)),

	LIMIT("packets", "all rate 20k/1s packets", OF(20000, SECOND)),
	LIMIT("bytes", "all rate 20k/1s bytes", OF(20000, SECOND), .unit = RF_BYTES),
	LIMIT("bytes, said late", "all rate 10M/1s shadow bytes", OF(10000000, SECOND),
	      .unit = RF_BYTES, .flags = RF_SHADOW),
	LIMIT("the fewest bytes", "all rate 1514/1s bytes", OF(1514, SECOND), .unit = RF_BYTES),
	LIMIT("the most bytes", "all rate 137438953472/1s bytes", OF(137438953472, SECOND),
	      .unit = RF_BYTES),
	LIMIT("bits are bytes", "all rate 10mbit/1s", OF(1250000, SECOND), .unit = RF_BYTES),
	LIMIT("bits in bytes", "all rate 10mbit/1s bytes", OF(1250000, SECOND), .unit = RF_BYTES),
	LIMIT("bits of a second", "all rate 1gbit", OF(125000000, SECOND), .unit = RF_BYTES),
	LIMIT("bits of a minute", "all rate 80kbit/1m", OF(10000, 60 * SECOND), .unit = RF_BYTES),
	LIMIT("the fewest bits", "all rate 12.112kbit", OF(1514, SECOND), .unit = RF_BYTES),

	LIMIT("sliding", "all rate 20k/1s algorithm sliding", OF(20000, SECOND)),
	LIMIT("fixed", "all rate 20k/1s algorithm fixed", OF(20000, SECOND), .algorithm = RF_FIXED),
	LIMIT("fixed, bytes", "all rate 20k/1s algorithm fixed bytes", OF(20000, SECOND),
	      .algorithm = RF_FIXED, .unit = RF_BYTES),
	LIMIT("log", "all rate 5/1m algorithm log", OF(5, 60 * SECOND), .algorithm = RF_LOG),
	LIMIT("log, the fewest", "all rate 1/1ms algorithm log packets", OF(1, MS),
	      .algorithm = RF_LOG),
	LIMIT("log, the most", "all rate 16/8784h algorithm log", OF(16, 8784 * HOUR),
	      .algorithm = RF_LOG),
	LIMIT("two cells", "all rate 20k/1s cells 2", OF(20000, SECOND), .cells = 2),
	LIMIT("16 cells", "all rate 20k/1s cells 16", OF(20000, SECOND)),
	LIMIT("edge strict", "all rate 20k/1s edge strict", OF(20000, SECOND)),
	LIMIT("edge coarse", "all rate 20k/1s edge coarse cells 10", OF(20000, SECOND),
	      .edge = RF_EDGE_COARSE, .cells = 10),
	LIMIT("edge weighted", "all rate 20k/1s edge weighted", OF(20000, SECOND),
	      .edge = RF_EDGE_WEIGHTED),
	LIMIT("edge weighted, two cells", "all rate 20k/1s cells 2 edge weighted bytes",
	      OF(20000, SECOND), .edge = RF_EDGE_WEIGHTED, .cells = 2, .unit = RF_BYTES),

	LIMIT("token", "all rate 20k/1s algorithm token", OF(20000, SECOND), .algorithm = RF_TOKEN,
	      .burst = 20000),
	LIMIT("token, the fewest", "all rate 1/8784h algorithm token", OF(1, 8784 * HOUR),
	      .algorithm = RF_TOKEN, .burst = 1),
	LIMIT("token, the most", "all rate 2147483648/1ms algorithm token", OF(2147483648, MS),
	      .algorithm = RF_TOKEN, .burst = 2147483648),
	LIMIT("token, a burst", "all rate 20k/1s algorithm token burst 1.5k", OF(20000, SECOND),
	      .algorithm = RF_TOKEN, .burst = 1500),
	LIMIT("token, its burst said first", "all rate 20k/1s burst 50k algorithm token",
	      OF(20000, SECOND), .algorithm = RF_TOKEN, .burst = 50000),
	LIMIT("token, the least burst", "all rate 20k/1s algorithm token burst 1",
	      OF(20000, SECOND), .algorithm = RF_TOKEN, .burst = 1),
	LIMIT("token, the largest burst", "all rate 20k/1s algorithm token burst 2147483648",
	      OF(20000, SECOND), .algorithm = RF_TOKEN, .burst = 2147483648),
	LIMIT("token, as long to flow as may be", "all rate 2/1h algorithm token burst 17568",
	      OF(2, HOUR), .algorithm = RF_TOKEN, .burst = 17568),
	LIMIT("token, bytes", "all rate 10mbit algorithm token", OF(1250000, SECOND),
	      .algorithm = RF_TOKEN, .burst = 1250000, .unit = RF_BYTES),
	LIMIT("token, bytes, a burst in bits", "all rate 1M/1s bytes algorithm token burst 16kbit",
	      OF(1000000, SECOND), .algorithm = RF_TOKEN, .burst = 2000, .unit = RF_BYTES),
	LIMIT("token, a burst in bits, bytes said late",
	      "all rate 1M/1s algorithm token burst 16kbit bytes", OF(1000000, SECOND),
	      .algorithm = RF_TOKEN, .burst = 2000, .unit = RF_BYTES),
	LIMIT("token, the most bytes that are their own burst",
	      "all rate 2147483648/1s bytes algorithm token", OF(2147483648, SECOND),
	      .algorithm = RF_TOKEN, .burst = 2147483648, .unit = RF_BYTES),
	LIMIT("token, more bytes", "all rate 100gbit/10s algorithm token burst 1514",
	      OF(12500000000, 10 * SECOND), .algorithm = RF_TOKEN, .burst = 1514, .unit = RF_BYTES),
	LIMIT("leaky", "all rate 20k/1s algorithm leaky", OF(20000, SECOND), .algorithm = RF_LEAKY,
	      .burst = 1),
	LIMIT("leaky, a burst", "all rate 20k/1s algorithm leaky burst 20k", OF(20000, SECOND),
	      .algorithm = RF_LEAKY, .burst = 20000),
	LIMIT("leaky, bytes", "all rate 20k/1s algorithm leaky burst 1514 bytes", OF(20000, SECOND),
	      .algorithm = RF_LEAKY, .burst = 1514, .unit = RF_BYTES),

	PORTS("one", "53", {{53, 53}}),
	PORTS("the first", "0", {{0, 0}}),
	PORTS("the last", "65535", {{65535, 65535}}),
	PORTS("a range", "8000-8100", {{8000, 8100}}),
	PORTS("a range of one", "53-53", {{53, 53}}),
	PORTS("all", "0-65535", {{0, 65535}}),
	PORTS("a list", "53,443,8000-8100", {{53, 53}, {443, 443}, {8000, 8100}}),
	PORTS("a list that overlaps, in no order", "100-200,63,64,1-199", {{1, 200}}),
	PORTS("zeros in front", "00000000000000000000053", {{53, 53}}),

	FROM("a network", "192.0.2.0/24", {"192.0.2.0/24"}),
	FROM("an address", "192.0.2.1", {"192.0.2.1"}),
	FROM("everybody", "0.0.0.0/0,::/0", {"0.0.0.0/0", "::/0"}),
	FROM("both families", "2001:db8::/32,192.0.2.1,2001:db8::1",
	     {"2001:db8::/32", "192.0.2.1", "2001:db8::1"}),
	FROM("a file", "file /etc/ringfence/list", {}, "/etc/ringfence/list"),
	FROM("a file of any name", "file 192.0.2.0/24", {}, "192.0.2.0/24"),
	FROM("a file called file", "file file", {}, "file"),

	NEWCOMERS("off", "off", 0, 0, RF_NEWCOMERS_OFF),
	NEWCOMERS("open", "rate 10k/1s then open", 10000, SECOND, RF_NEWCOMERS_OPEN),
	NEWCOMERS("closed", "rate 1/1ms then closed", 1, MS, RF_NEWCOMERS_CLOSED),
	NEWCOMERS("aggregate", "rate 2147483648/8784h then aggregate", RF_LIMIT_MAX, 8784 * HOUR,
		  RF_NEWCOMERS_AGGREGATE),
	REFUSED_NEWCOMERS("nothing", "", NO_NEWCOMERS_RATE),
	REFUSED_NEWCOMERS("another word", "on", NO_NEWCOMERS_RATE),
	REFUSED_NEWCOMERS("no rate", "rate", "'rate': a rate is missing behind it, like 10k/1s"),
	REFUSED_NEWCOMERS("a bad rate", "rate fast then open", "'fast': " WRITE_RATE),
	REFUSED_NEWCOMERS("none", "rate 0/1s then open", "'0/1s': " COUNT_RANGE),
	REFUSED_NEWCOMERS("too many", "rate 2147483649/1s then open",
			  "'2147483649/1s': " COUNT_RANGE),
	REFUSED_NEWCOMERS("bits", "rate 10mbit then open",
			  "'10mbit': invalid rate: newcomers are counted in packets; write it like "
			  "10k/1s"),
	REFUSED_NEWCOMERS("no then", "rate 10k/1s", NO_THEN),
	REFUSED_NEWCOMERS("no then, but its word", "rate 10k/1s closed", NO_THEN),
	REFUSED_NEWCOMERS("nothing behind then", "rate 10k/1s then",
			  "'then': a word is missing behind it; it is open, closed or aggregate"),
	REFUSED_NEWCOMERS("then off", "rate 10k/1s then off",
			  "'off': unknown word behind 'then'; it is open, closed or aggregate"),
	REFUSED_NEWCOMERS("more words", "rate 10k/1s then open shadow",
			  "'shadow': unexpected word"),
	REFUSED_NEWCOMERS("more words behind off", "off rate", "'rate': unexpected word"),

	FOR("not said", "", 0),
	FOR("another word", "confirm 5m", 0, "confirm"),
	FOR("ten minutes", "for 10m dev", 600 * SECOND, "dev"),
	FOR("a second", "for 1s", SECOND),
	FOR("a year", "for 8784h", 8784 * HOUR),
	FOR("less than a second", "for 999ms", .refusal = "'999ms': " FOR_RANGE),
	FOR("more than a year", "for 8785h", .refusal = "'8785h': " FOR_RANGE),
	FOR("no time", "for", .refusal = "'for': a time is missing behind it, like 10m"),
	FOR("no good time", "for ever", .refusal = "'ever': invalid " TIME_FORM),
	CONFIRM("not said", "for 5m", 0, "for"),
	CONFIRM("five minutes", "confirm 5m", 300 * SECOND),
	CONFIRM("a second", "confirm 1s", SECOND),
	CONFIRM("a day", "confirm 24h", 24 * HOUR),
	CONFIRM("less than a second", "confirm 0s", .refusal = "'0s': " CONFIRM_RANGE),
	CONFIRM("more than a day", "confirm 25h", .refusal = "'25h': " CONFIRM_RANGE),
	CONFIRM("no time", "confirm", .refusal = "'confirm': a time is missing behind it, like 5m"),

	SPLIT("empty", ""),
	SPLIT("blanks", " \t \n"),
	SPLIT("a comment", "# limit add"),
	SPLIT("a comment behind blanks", "\t#"),
	SPLIT("words", "one two\tthree\n", {"one", "two", "three"}),
	SPLIT("words between blanks", "  one \t two  ", {"one", "two"}),
	SPLIT("the end of a line of DOS", "one\r\n", {"one"}),
	SPLIT("words and a comment", "one two # three four", {"one", "two"}),
	SPLIT("as many as fit, and a comment", "one two three #four", {"one", "two", "three"}),
	SPLIT("no comment within a word", "one#two", {"one#two"}),
	SPLIT("nothing is quoted", "'one two'", {"'one", "two'"}),
	cmocka_unit_test(a_line_of_too_many_words_is_refused),

	cmocka_unit_test(options_of_a_window_come_in_any_order),
	cmocka_unit_test(options_of_a_bucket_come_in_any_order),
	cmocka_unit_test(no_option_is_said_twice),
	cmocka_unit_test(every_combination_is_as_it_should_be),
	cmocka_unit_test(any_counts_are_as_they_should_be),

	WRITTEN("all", "all rate 20000/1000ms packets algorithm sliding cells 16 edge strict",
		"all rate 20k/1s"),
	WRITTEN("bytes", "all rate 10mbit", "all rate 1250k/1s bytes"),
	WRITTEN("fixed", "all rate 1k/1s algorithm fixed", "all rate 1k/1s algorithm fixed"),
	WRITTEN("log", "all rate 5/1m algorithm log shadow", "all rate 5/1m algorithm log shadow"),
	WRITTEN("cells and edge", "all rate 1k/1s edge weighted cells 2",
		"all rate 1k/1s cells 2 edge weighted"),
	WRITTEN("token", "all rate 1k/1s algorithm token burst 1000",
		"all rate 1k/1s algorithm token"),
	WRITTEN("token, a burst of 1", "all rate 1k/1s algorithm token burst 1",
		"all rate 1k/1s algorithm token burst 1"),
	WRITTEN("leaky", "all rate 1k/1s burst 1 algorithm leaky",
		"all rate 1k/1s algorithm leaky"),
	WRITTEN("leaky, a burst of COUNT", "all rate 1k/1s algorithm leaky burst 1k",
		"all rate 1k/1s algorithm leaky burst 1k"),
	WRITTEN("everything of a window",
		"all rate 1M/1s exact count rejected shadow edge coarse bytes cells 9",
		"all rate 1M/1s bytes cells 9 edge coarse shadow count rejected exact"),
	WRITTEN("everything of a bucket",
		"all rate 1mbit count rejected shadow burst 16kbit algorithm leaky",
		"all rate 125k/1s bytes algorithm leaky burst 2k shadow count rejected"),
	WRITTEN("matches", "all rate 1k/1s shadow match tcp syn",
		"all rate 1k/1s match tcp syn shadow"),
	WRITTEN("match any", "all rate 1k/1s match any per /32 per6 /64", "all rate 1k/1s"),
	WRITTEN("match tcp", "all rate 1k/1s match tcp", "all rate 1k/1s match tcp"),
	WRITTEN("match udp", "all rate 1k/1s match udp", "all rate 1k/1s match udp"),
	WRITTEN("match other", "all rate 1k/1s shadow match other",
		"all rate 1k/1s match other shadow"),
	WRITTEN("match icmp", "all rate 1k/1s match icmp", "all rate 1k/1s match icmp"),
	WRITTEN("match proto", "all rate 1k/1s match proto 0", "all rate 1k/1s match proto 0"),
	WRITTEN("groups", "all rate 1k/1s per6 /48 per /0", "all rate 1k/1s per /0 per6 /48"),
	WRITTEN("ban", "all rate 1k/1s ban 600s exact", "all rate 1k/1s exact ban 10m"),
	WRITTEN("ban all", "all rate 1k/1s ban 600s all exact", "all rate 1k/1s exact ban 10m all"),
	WRITTEN("the longest", LONGEST, LONGEST),

	REFUSED_LIMIT("syn alone", "all rate 20k/1s match syn", "'syn': " MATCHES),
	REFUSED_LIMIT("a match in capitals", "all rate 20k/1s match TCP", "'TCP': " MATCHES),
	REFUSED_LIMIT("udp syn", "all rate 20k/1s match udp syn", "'syn': " UNKNOWN),
	REFUSED_LIMIT("tcp ack", "all rate 20k/1s match tcp ack", "'ack': " UNKNOWN),
	REFUSED_LIMIT("no number after proto", "all rate 20k/1s match proto",
		      "'proto': a number is missing behind it"),
	REFUSED_LIMIT("protocol 255", "all rate 20k/1s match proto 255",
		      "'255': invalid protocol: it is reserved; it must be 0-254"),
	REFUSED_LIMIT("protocol 256", "all rate 20k/1s match proto 256",
		      "'256': invalid protocol: it must be 0-254"),
	REFUSED_LIMIT("a protocol by name", "all rate 20k/1s match proto gre",
		      "'gre': invalid protocol: it must be 0-254"),

	REFUSED_LIMIT("no port", "all rate 20k/1s dport", "'dport': a port is missing behind it"),
	REFUSED_LIMIT("a port by name", "all rate 20k/1s dport domain", "'domain': " PORT_FORM),
	REFUSED_LIMIT("an empty port", "all rate 20k/1s dport 53,,80", "'': " PORT_FORM),
	REFUSED_LIMIT("no port behind a comma", "all rate 20k/1s dport 53,", "'': " PORT_FORM),
	REFUSED_LIMIT("no port before a comma", "all rate 20k/1s dport ,53", "'': " PORT_FORM),
	REFUSED_LIMIT("half a range", "all rate 20k/1s dport 1,53-,80", "'53-': " PORT_FORM),
	REFUSED_LIMIT("another half a range", "all rate 20k/1s dport -53", "'-53': " PORT_FORM),
	REFUSED_LIMIT("a range of three", "all rate 20k/1s dport 1-2-3", "'1-2-3': " PORT_FORM),
	REFUSED_LIMIT("port 65536", "all rate 20k/1s dport 65536", "'65536': " PORT_RANGE),
	REFUSED_LIMIT("a range to port 65536", "all rate 20k/1s dport 1,2-65536",
		      "'2-65536': " PORT_RANGE),
	REFUSED_LIMIT("port 2^64 + 53", "all rate 20k/1s dport 18446744073709551669",
		      "'18446744073709551669': " PORT_RANGE),
	REFUSED_LIMIT("a range that ends before it begins", "all rate 20k/1s dport 53,90-80",
		      "'90-80': invalid range of ports: it ends before it begins; write 80-90"),
	REFUSED_LIMIT("ports of what is not IP", "all rate 20k/1s dport 53 match other",
		      NOT_OTHER("dport")),
	REFUSED_LIMIT("a source of what is not IP", "all rate 20k/1s match other from ::/0",
		      NOT_OTHER("from")),
	REFUSED_LIMIT("what is not IP, by networks", "all rate 20k/1s match other per /32",
		      NOT_OTHER("per")),
	REFUSED_LIMIT("what is not IP, by networks of IPv6", "all rate 20k/1s per6 /64 match other",
		      NOT_OTHER("per6")),
	REFUSED_LIMIT("a ban of what is not IP", "all rate 20k/1s match other ban 10s",
		      NOT_OTHER("ban")),
	REFUSED_LIMIT("ports of icmp", "all rate 20k/1s dport 53 match icmp",
		      "'dport': 'match icmp' goes without it, since icmp has no ports; leave one "
		      "of them out"),
	REFUSED_LIMIT("ports of GRE", "all rate 20k/1s match proto 47 dport 53",
		      "'dport': 'match proto 47' goes without it; only any, tcp, tcp syn, udp, "
		      "proto 6 and proto 17 have ports"),

	REFUSED_LIMIT("no prefix", "all rate 20k/1s from", "'from': a prefix is missing behind it"),
	REFUSED_LIMIT("no file", "all rate 20k/1s from file",
		      "'from file': the file's name is missing behind it"),
	REFUSED_LIMIT("a bad prefix among good ones",
		      "all rate 20k/1s from 192.0.2.0/24,198.51.100.0/33,::/0",
		      "'198.51.100.0/33': invalid prefix: its length must be 0-32"),

	REFUSED_LIMIT("no time to ban", "all rate 20k/1s ban",
		      "'ban': a time is missing behind it"),
	REFUSED_LIMIT("ban all without a time", "all rate 20k/1s ban all",
		      "'all': invalid time; write it like 500ms, 10s, 5m or 1h"),
	REFUSED_LIMIT("all of nothing", "all rate 20k/1s all", "'all': " UNKNOWN),
	REFUSED_LIMIT("all before its ban", "all rate 20k/1s all ban 1h", "'all': " UNKNOWN),
	REFUSED_LIMIT("all twice", "all rate 20k/1s ban 1h all all", "'all': " UNKNOWN),
	REFUSED_LIMIT("a shadow that bans all", "all rate 20k/1s shadow ban 10m all", SHADOW_BAN),
	REFUSED_LIMIT("a short ban", "all rate 20k/1s ban 999ms",
		      "'999ms': invalid ban: the time must be 1s-8784h"),
	REFUSED_LIMIT("a long ban", "all rate 20k/1s ban 8785h",
		      "'8785h': invalid ban: the time must be 1s-8784h"),
	REFUSED_LIMIT("a ban for good", "all rate 20k/1s ban forever",
		      "'forever': invalid " TIME_FORM),
	REFUSED_LIMIT("a shadow that bans", "all rate 20k/1s shadow ban 10m", SHADOW_BAN),
	REFUSED_LIMIT("a ban that is a shadow", "all rate 20k/1s ban 10m packets shadow",
		      SHADOW_BAN),
	REFUSED_LIMIT("an unknown algorithm", "all rate 20k/1s algorithm gcra",
		      "'gcra': unknown algorithm; it is sliding, fixed, log, token or leaky"),
	REFUSED_LIMIT("an algorithm in capitals", "all rate 20k/1s algorithm Token",
		      "'Token': unknown algorithm; it is sliding, fixed, log, token or leaky"),
	REFUSED_LIMIT("an unknown edge", "all rate 20k/1s edge soft",
		      "'soft': unknown edge; it is strict, weighted or coarse"),
	REFUSED_LIMIT("one cell", "all rate 20k/1s cells 1", "'1': " CELLS_RANGE),
	REFUSED_LIMIT("17 cells", "all rate 20k/1s cells 17", "'17': " CELLS_RANGE),
	REFUSED_LIMIT("per without its slash", "all rate 20k/1s per 32",
		      "'32': invalid prefix length; write it with a slash, like per /24"),
	REFUSED_LIMIT("per6 without its slash", "all rate 20k/1s per6 48",
		      "'48': invalid prefix length; write it with a slash, like per6 /48"),
	REFUSED_LIMIT("per /33", "all rate 20k/1s per /33",
		      "'/33': invalid prefix length: it must be /0-/32"),
	REFUSED_LIMIT("per6 /129", "all rate 20k/1s per6 /129",
		      "'/129': invalid prefix length: it must be /0-/128"),
	REFUSED_LIMIT("per of nothing", "all rate 20k/1s per /",
		      "'/': invalid prefix length: it must be /0-/32"),
	REFUSED_LIMIT("no word after algorithm", "all rate 20k/1s algorithm", MISSING("algorithm")),
	REFUSED_LIMIT("no word after edge", "all rate 20k/1s edge", MISSING("edge")),
	REFUSED_LIMIT("no word after cells", "all rate 20k/1s cells",
		      "'cells': a number is missing behind it"),
	REFUSED_LIMIT("no word after burst", "all rate 20k/1s algorithm token burst",
		      "'burst': a count is missing behind it"),
	REFUSED_LIMIT("no word after count", "all rate 20k/1s count",
		      "'count': 'rejected' is missing behind it"),
	REFUSED_LIMIT("another word after count", "all rate 20k/1s count accepted",
		      "'count accepted': 'rejected' must follow 'count'"),
	REFUSED_LIMIT("rejected alone", "all rate 20k/1s rejected", "'rejected': " UNKNOWN),
	REFUSED_LIMIT("no word after match", "all rate 20k/1s match", MISSING("match")),
	REFUSED_LIMIT("no word after per", "all rate 20k/1s per",
		      "'per': a prefix length is missing behind it"),
	REFUSED_LIMIT("no word after per6", "all rate 20k/1s shadow per6",
		      "'per6': a prefix length is missing behind it"),
	REFUSED_LIMIT("nothing", "", "the limit's name is missing; write NAME rate COUNT/TIME"),
	REFUSED_LIMIT("no rate", "all", RATE_MISSING),
	REFUSED_LIMIT("an option before the rate", "all shadow rate 20k/1s", RATE_MISSING),
	REFUSED_LIMIT("nothing after rate", "all rate",
		      "'rate': a rate is missing behind it, like 20k/1s"),
	REFUSED_LIMIT("a bad rate", "all rate fast", "'fast': " WRITE_RATE),
	REFUSED_LIMIT("a rate of 0", "all rate 0/1s shadow", "'0/1s': " COUNT_RANGE),
	REFUSED_LIMIT("too many packets", "all rate 2147483649/1s",
		      "'2147483649/1s': " COUNT_RANGE),
	REFUSED_LIMIT("packets of 32 bits and 1", "all rate 4294967297/1s",
		      "'4294967297/1s': " COUNT_RANGE),
	REFUSED_LIMIT("no bits at all", "all rate 20k", "'20k': " WRITE_RATE),

	REFUSED_LIMIT("fewer bytes than a frame", "all rate 1513/1s bytes",
		      "'1513/1s': " BYTES_RANGE),
	REFUSED_LIMIT("fewer bytes than a frame, said late", "all rate 100/1s shadow bytes",
		      "'100/1s': " BYTES_RANGE),
	REFUSED_LIMIT("0 bytes", "all rate 0/1s bytes", "'0/1s': " BYTES_RANGE),
	REFUSED_LIMIT("fewer bits than a frame", "all rate 12.104kbit",
		      "'12.104kbit': " BYTES_RANGE),
	REFUSED_LIMIT("too many bytes", "all rate 137438953473/1s bytes",
		      "'137438953473/1s': " BYTES_RANGE),
	REFUSED_LIMIT("too many bits", "all rate 2000gbit", "'2000gbit': " BYTES_RANGE),
	REFUSED_LIMIT("bits of packets", "all rate 10mbit packets", "'10mbit': " BITS_OF_PACKETS),
	REFUSED_LIMIT("bits of packets, with a time", "all rate 10mbit/1s shadow packets",
		      "'10mbit/1s': " BITS_OF_PACKETS),
	REFUSED_LIMIT("bytes after packets", "all rate 20k/1s packets bytes", ONE_UNIT("bytes")),
	REFUSED_LIMIT("packets after bytes", "all rate 20k/1s bytes shadow packets",
		      ONE_UNIT("packets")),

	REFUSED_LIMIT("log of 0", "all rate 0/1m algorithm log", "'0/1m': " LOG_RANGE),
	REFUSED_LIMIT("log of 17", "all rate 17/1m algorithm log", "'17/1m': " LOG_RANGE),
	REFUSED_LIMIT("log of 2^32 + 1", "all rate 4294967297/1m algorithm log",
		      "'4294967297/1m': " LOG_RANGE),
	REFUSED_LIMIT("log of bytes", "all rate 20k/1m bytes algorithm log", LOG_BYTES),
	REFUSED_LIMIT("log of few bytes", "all rate 16/1m algorithm log bytes", LOG_BYTES),
	REFUSED_LIMIT("log of bits", "all rate 10mbit algorithm log", LOG_BYTES),

	REFUSED_LIMIT("fixed with cells", "all rate 20k/1s cells 4 algorithm fixed",
		      ONLY_SLIDING("cells", "fixed")),
	REFUSED_LIMIT("fixed with an edge", "all rate 20k/1s algorithm fixed edge coarse",
		      ONLY_SLIDING("edge", "fixed")),
	REFUSED_LIMIT("fixed with the edge of sliding",
		      "all rate 20k/1s algorithm fixed edge strict", ONLY_SLIDING("edge", "fixed")),
	REFUSED_LIMIT("log with cells", "all rate 5/1s algorithm log cells 16",
		      ONLY_SLIDING("cells", "log")),
	REFUSED_LIMIT("token with cells and an edge",
		      "all rate 20k/1s algorithm token edge weighted cells 2",
		      ONLY_SLIDING("cells", "token")),
	REFUSED_LIMIT("leaky with an edge", "all rate 20k/1s algorithm leaky edge weighted",
		      ONLY_SLIDING("edge", "leaky")),
	REFUSED_LIMIT("burst without an algorithm", "all rate 20k/1s burst 10",
		      ONLY_BUCKETS("sliding")),
	REFUSED_LIMIT("sliding with burst", "all rate 20k/1s burst 10 algorithm sliding",
		      ONLY_BUCKETS("sliding")),
	REFUSED_LIMIT("fixed with burst", "all rate 20k/1s algorithm fixed burst 10",
		      ONLY_BUCKETS("fixed")),
	REFUSED_LIMIT("log with burst", "all rate 5/1s algorithm log burst 5", ONLY_BUCKETS("log")),

	REFUSED_LIMIT("a burst of 0", "all rate 20k/1s algorithm token burst 0",
		      "'0': " BURST_RANGE),
	REFUSED_LIMIT("too large a burst", "all rate 20k/1s algorithm leaky burst 2147483649",
		      "'2147483649': " BURST_RANGE),
	REFUSED_LIMIT("a burst of 2^64",
		      "all rate 20k/1s algorithm leaky burst 18446744073709551616",
		      "'18446744073709551616': " BURST_FORM),
	REFUSED_LIMIT("a burst that is no count", "all rate 20k/1s algorithm token burst big",
		      "'big': " BURST_FORM),
	REFUSED_LIMIT("a burst that is a rate", "all rate 20k/1s algorithm token burst 20k/1s",
		      "'20k/1s': " BURST_FORM),
	REFUSED_LIMIT("a burst in no whole bytes",
		      "all rate 20k/1s bytes algorithm token burst 0.001kbit",
		      "'0.001kbit': " BURST_FORM),
	REFUSED_LIMIT("a burst smaller than a frame",
		      "all rate 20k/1s burst 1513 algorithm token bytes",
		      "'1513': " BURST_BYTES_RANGE),
	REFUSED_LIMIT("a burst of bits smaller than a frame",
		      "all rate 10mbit algorithm leaky burst 8kbit", "'8kbit': " BURST_BYTES_RANGE),
	REFUSED_LIMIT("too large a burst of bytes",
		      "all rate 10mbit algorithm token burst 2147483649",
		      "'2147483649': " BURST_BYTES_RANGE),
	REFUSED_LIMIT("a burst of bits for packets", "all rate 20k/1s algorithm token burst 16kbit",
		      "'16kbit': " BURST_BITS_OF_PACKETS),
	REFUSED_LIMIT("a burst of bits for packets, said late",
		      "all rate 20k/1s algorithm token burst 16kbit packets",
		      "'16kbit': " BURST_BITS_OF_PACKETS),
	REFUSED_LIMIT("leaky of bytes without burst", "all rate 20k/1s bytes algorithm leaky",
		      LEAKY_BYTES),
	REFUSED_LIMIT("leaky of bits without burst", "all rate 10mbit algorithm leaky",
		      LEAKY_BYTES),
	REFUSED_LIMIT("token of more bytes than a burst holds",
		      "all rate 2147483649/1s bytes algorithm token", TOKEN_BYTES("2147483649/1s")),
	REFUSED_LIMIT("token of more bits than a burst holds", "all rate 100gbit algorithm token",
		      TOKEN_BYTES("100gbit")),
	REFUSED_LIMIT("a burst that flows for longer than a year",
		      "all rate 2/1h algorithm token burst 17569", "'17569': " TOO_SLOW("2/1h")),
	REFUSED_LIMIT("a burst that flows for an age",
		      "all rate 1/8784h burst 2147483648 algorithm leaky",
		      "'2147483648': " TOO_SLOW("1/8784h")),

	REFUSED_LIMIT("a bad name", "1st rate 20k/1s",
		      "'1st': invalid name of a limit: " NAME_RULE),
	REFUSED_LIMIT("a keyword for a name", "rate 20k/1s",
		      "'rate': invalid name of a limit: " IS_KEYWORD),
	REFUSED_LIMIT("an unknown word", "all rate 20k/1s soft", "'soft': " UNKNOWN),
	REFUSED_LIMIT("a second rate", "all rate 20k/1s rate 1/1s", "'rate': " UNKNOWN),
	REFUSED_LIMIT("an abbreviation", "all rate 20k/1s shad", "'shad': " UNKNOWN),
	REFUSED_LIMIT("a capital", "all rate 20k/1s Shadow", "'Shadow': " UNKNOWN),

	ATTACH("one interface", "eth0", "eth0", NULL, RF_NATIVE, 0),
	ATTACH("three interfaces", "eth0 eth1 bond0.7", "eth0 eth1 bond0.7", NULL, RF_NATIVE, 0),
	ATTACH("a fence", "eth0 eth1 fence edge1", "eth0 eth1", "edge1", RF_NATIVE, 0),
	ATTACH("mode native", "eth0 mode native", "eth0", NULL, RF_NATIVE, 0),
	ATTACH("mode generic", "eth0 mode generic", "eth0", NULL, RF_GENERIC, 0),
	ATTACH("sources", "eth0 sources 500000", "eth0", NULL, RF_NATIVE, 500000),
	ATTACH("the fewest sources", "eth0 sources 1", "eth0", NULL, RF_NATIVE, 1),
	ATTACH("the most sources", "eth0 sources 67108864", "eth0", NULL, RF_NATIVE, 67108864),
	ATTACH_WITH("leases", "eth0 leases 1024", "eth0", NULL, RF_NATIVE, 0, 1024, 0),
	ATTACH_WITH("no leases", "eth0 leases 0", "eth0", NULL, RF_NATIVE, 0, 0, 0),
	ATTACH_WITH("the most leases", "eth0 leases 16777216", "eth0", NULL, RF_NATIVE, 0,
		    16777216),
	ATTACH_WITH("everything", "eth0 fence f mode generic sources 9 leases 8 eth1", "eth0 eth1",
		    "f", RF_GENERIC, 9, 8, 0),
	ATTACH_WITH("another order", "leases 8 sources 9 mode generic fence f eth0 eth1",
		    "eth0 eth1", "f", RF_GENERIC, 9, 8, 0),

	ATTACH_WITH("on trial", "eth0 confirm 5m", "eth0", NULL, RF_NATIVE, 0, RF_LEASES_UNSAID,
		    300 * SECOND),
	ATTACH_WITH("in a chain", "eth0 chain", "eth0", NULL, RF_NATIVE, 0, RF_LEASES_UNSAID, 0,
		    .chain = true),
	ATTACH_WITH("in a chain, said first", "chain eth0 mode generic eth1", "eth0 eth1", NULL,
		    RF_GENERIC, 0, RF_LEASES_UNSAID, 0, .chain = true),
	ATTACH_WITH("instead of another", "eth0 replace fence f", "eth0", "f", RF_NATIVE, 0,
		    RF_LEASES_UNSAID, 0, .replace = true),

	ATTACH("an interface called mode", "dev mode", "mode", NULL, RF_NATIVE, 0),
	ATTACH("one called fence, in a fence", "dev fence fence f", "fence", "f", RF_NATIVE, 0),
	ATTACH("one called mode, in a mode", "dev mode mode generic", "mode", NULL, RF_GENERIC, 0),
	ATTACH("one called chain behind another", "eth0 dev chain", "eth0 chain", NULL, RF_NATIVE,
	       0),
	ATTACH("one called dev", "dev dev", "dev", NULL, RF_NATIVE, 0),
	ATTACH("one called dev, without the word", "dev", "dev", NULL, RF_NATIVE, 0),
	ATTACH("one behind dev like any other", "dev eth0 fence f", "eth0", "f", RF_NATIVE, 0),
	REFUSED_ATTACH("nothing", "", NO_INTERFACE),
	REFUSED_ATTACH("options alone", "mode generic fence f", NONE_BUT("mode")),
	REFUSED_ATTACH("fence alone", "fence", NONE_BUT("fence")),
	REFUSED_ATTACH("an option alone, behind another", "chain mode", NONE_BUT("mode")),
	REFUSED_ATTACH("no word after fence", "eth0 fence", MISSING("fence")),
	REFUSED_ATTACH("no word after mode", "eth0 mode", MISSING("mode")),
	REFUSED_ATTACH("no word after sources", "eth0 sources", MISSING("sources")),
	REFUSED_ATTACH("an unknown mode", "eth0 mode fast", "'fast': " MODES),
	REFUSED_ATTACH("offload is not for asking", "eth0 mode offload", "'offload': " MODES),
	REFUSED_ATTACH("a bad name of a fence", "eth0 fence 1st",
		       "'1st': invalid name of a fence: " NAME_RULE),
	REFUSED_ATTACH("a keyword for a fence", "eth0 fence mode generic",
		       "'mode': invalid name of a fence: " IS_KEYWORD),
	REFUSED_ATTACH("no sources", "eth0 sources 0", "'0': " SOURCES_RANGE),
	REFUSED_ATTACH("too many sources", "eth0 sources 67108865", "'67108865': " SOURCES_RANGE),
	REFUSED_ATTACH("sources with a suffix", "eth0 sources 500k", "'500k': " SOURCES_RANGE),
	REFUSED_ATTACH("no word after leases", "eth0 leases", MISSING("leases")),
	REFUSED_ATTACH("too many leases", "eth0 leases 16777217", "'16777217': " LEASES_RANGE),
	REFUSED_ATTACH("leases twice", "eth0 leases 8 leases 8", "'leases': said twice"),
	REFUSED_ATTACH("chain twice", "chain eth0 chain", "'chain': said twice"),
	REFUSED_ATTACH("replace twice", "eth0 replace replace", "'replace': said twice"),
	REFUSED_ATTACH("chain and replace", "eth0 chain replace", ONE_OF_THEM),
	REFUSED_ATTACH("replace and chain", "replace eth0 chain", ONE_OF_THEM),
	REFUSED_ATTACH("chain alone", "chain", NONE_BUT("chain")),
	REFUSED_ATTACH("chain with a value", "eth0 chain 50 chain", "'chain': said twice"),
	REFUSED_ATTACH("no time behind confirm", "eth0 confirm", MISSING("confirm")),
	REFUSED_ATTACH("confirm twice", "confirm 5m eth0 confirm 5m", "'confirm': said twice"),
	REFUSED_ATTACH("a long time to confirm", "eth0 confirm 25h", "'25h': " CONFIRM_RANGE),
	cmocka_unit_test(no_more_interfaces_are_attached_than_fit),
};

int main(void)
{
	return cmocka_run_group_tests_name("grammar, commands", tests, NULL, NULL);
}
