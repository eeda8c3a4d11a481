// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "grammar.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* A suffix and what it multiplies by. The empty one stands for the number itself. */
struct suffix {
	const char *text;
	uint64_t factor;
};

static const struct suffix count_suffixes[] = {{"", 1}, {"k", 1000}, {"M", 1000000}};

/* In bytes. */
static const struct suffix bit_suffixes[] = {
	{"kbit", 1000 / 8}, {"mbit", 1000000 / 8}, {"gbit", 1000000000 / 8}};

/* In milliseconds, the finest that is written. */
static const struct suffix time_suffixes[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}};

/*
 * Words of the grammar, which no limit and no fence may be called. Without those of `match`, which
 * make good names (`limit add syn …`) and never stand where a name could.
 */
static const char *const keywords[] = {
	"limit",     "add",	 "set",	    "del",    "list",	"rate",	    "packets", "bytes",
	"algorithm", "sliding",	 "fixed",   "log",    "token",	"leaky",    "cells",   "edge",
	"strict",    "weighted", "coarse",  "burst",  "match",	"proto",    "dport",   "from",
	"file",	     "per",	 "per6",    "shadow", "count",	"rejected", "exact",   "ban",
	"allow",     "deny",	 "for",	    "load",   "then",	"open",	    "closed",  "aggregate",
	"off",	     "attach",	 "fence",   "mode",   "native", "generic",  "sources", "leases",
	"chain",     "replace",	 "confirm", "detach", "adopt",	"status",   "stats",   "watch",
	"top",	     "show",	 "save",    "apply",  "check",	"doctor",   "help",    "dev",
	"newcomers", "by",	 "drops",
};

static const char *const algorithm_names[] = {
	[RF_SLIDING] = "sliding", [RF_FIXED] = "fixed", [RF_LOG] = "log",
	[RF_TOKEN] = "token",	  [RF_LEAKY] = "leaky",
};

static const char *const edge_names[] = {
	[RF_EDGE_STRICT] = "strict",
	[RF_EDGE_COARSE] = "coarse",
	[RF_EDGE_WEIGHTED] = "weighted",
};

static const char *const unit_names[] = {
	[RF_PACKETS] = "packets",
	[RF_BYTES] = "bytes",
};

const char *rf_words_peek(const struct rf_words *words)
{
	return words->at < words->count ? words->word[words->at] : NULL;
}

const char *rf_words_next(struct rf_words *words)
{
	const char *word = rf_words_peek(words);

	if (word)
		words->at++;
	return word;
}

bool rf_words_take(struct rf_words *words, const char *word)
{
	const char *next = rf_words_peek(words);

	if (!next || strcmp(next, word) != 0)
		return false;
	words->at++;
	return true;
}

int rf_words_end(const struct rf_words *words, struct rf_error *error)
{
	const char *left = rf_words_peek(words);

	if (left)
		return rf_error_usage(error, "'%s': unexpected word", left);
	return 0;
}

/* Splits `12.5ms` at the first character that no decimal has. NULL without digits. */
static const char *find_suffix(const char *text)
{
	size_t whole = strspn(text, "0123456789");
	size_t fraction = 0;

	if (!whole)
		return NULL;
	if (text[whole] == '.') {
		fraction = strspn(text + whole + 1, "0123456789");
		if (!fraction)
			return NULL;
		fraction++;
	}
	return text + whole + fraction;
}

/* digits[.digits] × factor, exactly: false where the result is no whole number or too large. */
static bool scale_decimal(const char *digits, const char *end, uint64_t factor, uint64_t *result)
{
	uint64_t value = 0, divisor = 1;
	unsigned __int128 product;
	bool point = memchr(digits, '.', end - digits);

	while (point && end[-1] == '0') /* says nothing behind a point */
		end--;
	point = false;
	for (const char *p = digits; p < end; p++) {
		if (*p == '.') {
			point = true;
			continue;
		}
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, *p - '0', &value) ||
		    (point && __builtin_mul_overflow(divisor, 10, &divisor)))
			return false;
	}
	product = (unsigned __int128)value * factor;
	if (product % divisor || product / divisor > UINT64_MAX)
		return false;
	*result = product / divisor;
	return true;
}

static bool parse_scaled(const char *text, const struct suffix *suffixes, size_t count,
			 uint64_t *result)
{
	const char *end = find_suffix(text);

	for (size_t i = 0; end && i < count; i++)
		if (strcmp(end, suffixes[i].text) == 0)
			return scale_decimal(text, end, suffixes[i].factor, result);
	return false;
}

#define COUNT_FORM "write it like 100, 20k, 1.5M or 10mbit, in whole packets or bytes"

int rf_parse_count(const char *text, uint64_t *count, bool *in_bits, struct rf_error *error)
{
	bool bits = parse_scaled(text, bit_suffixes, ARRAY_SIZE(bit_suffixes), count);

	if (!bits && !parse_scaled(text, count_suffixes, ARRAY_SIZE(count_suffixes), count))
		return rf_error_usage(error, "'%s': invalid count; " COUNT_FORM, text);
	*in_bits = bits;
	return 0;
}

int rf_parse_time(const char *text, uint64_t *time_ns, struct rf_error *error)
{
	uint64_t time_ms, parsed_ns;

	if (!parse_scaled(text, time_suffixes, ARRAY_SIZE(time_suffixes), &time_ms) ||
	    __builtin_mul_overflow(time_ms, RF_NS_PER_MS, &parsed_ns))
		return rf_error_usage(
			error, "'%s': invalid time; write it like 500ms, 10s, 5m or 1h", text);
	*time_ns = parsed_ns;
	return 0;
}

static int fail_rate(const char *text, struct rf_error *error)
{
	return rf_error_usage(
		error, "'%s': invalid rate; write COUNT/TIME, like 20k/1s or 100/10s, or 10mbit",
		text);
}

int rf_parse_rate(const char *text, struct rf_rate *rate, struct rf_error *error)
{
	size_t length = strcspn(text, "/");
	const char *time = text[length] ? text + length + 1 : "1s";
	struct rf_rate parsed = {};
	char count[32];
	int err;

	if (length >= sizeof(count))
		return fail_rate(text, error);
	memcpy(count, text, length);
	count[length] = '\0';
	err = rf_parse_count(count, &parsed.count, &parsed.in_bits, error);
	if (!text[length] && !parsed.in_bits) /* only bits are always per second */
		return fail_rate(text, error);
	if (err)
		return rf_error_usage(error, "'%s': invalid rate: '%s' is no count; " COUNT_FORM,
				      text, count);
	if (rf_parse_time(time, &parsed.window_ns, error))
		return rf_error_usage(
			error,
			"'%s': invalid rate: '%s' is no time; write it like 500ms, 10s, 5m or 1h",
			text, time);
	if (parsed.window_ns < RF_WINDOW_MIN_NS || parsed.window_ns > RF_WINDOW_MAX_NS)
		return rf_error_usage(error, "'%s': invalid rate: the time must be 1ms-8784h",
				      text);
	*rate = parsed;
	return 0;
}

static bool is_keyword(const char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(keywords); i++)
		if (strcmp(text, keywords[i]) == 0)
			return true;
	return false;
}

int rf_parse_name(const char *text, const char *what, char name[RF_NAME_SIZE],
		  struct rf_error *error)
{
	size_t length = strlen(text);
	bool valid = length > 0 && length < RF_NAME_SIZE && isalpha((unsigned char)text[0]);

	for (size_t i = 0; valid && i < length; i++)
		valid = isalnum((unsigned char)text[i]) || text[i] == '_' || text[i] == '-';
	if (!valid)
		return rf_error_usage(
			error,
			"'%s': invalid %s: a letter, then letters, digits, '_' and '-', "
			"%d at most",
			text, what, RF_NAME_SIZE - 1);
	if (is_keyword(text))
		return rf_error_usage(error,
				      "'%s': invalid %s: it is a keyword; choose another name",
				      text, what);
	memset(name, 0, RF_NAME_SIZE);
	memcpy(name, text, length);
	return 0;
}

int rf_parse_address(const char *text, struct rf_address *address, struct rf_error *error)
{
	struct rf_address parsed = {.version = 4};

	if (inet_pton(AF_INET, text, parsed.word) != 1) {
		parsed.version = 6;
		if (inet_pton(AF_INET6, text, parsed.word) != 1)
			return rf_error_usage(error,
					      "'%s': invalid address; write it like 192.0.2.1 or "
					      "2001:db8::1",
					      text);
	}
	*address = parsed;
	return 0;
}

int rf_parse_number(const char *text, const char *what, uint32_t min, uint32_t max,
		    uint32_t *number, struct rf_error *error)
{
	uint64_t value;
	const char *end = find_suffix(text);

	if (!end || *end || strchr(text, '.') || !scale_decimal(text, end, 1, &value) ||
	    value < min || value > max)
		return rf_error_usage(error, "'%s': invalid %s: it must be %" PRIu32 "-%" PRIu32,
				      text, what, min, max);
	*number = value;
	return 0;
}

/* ---- limit ---- */

enum option_id {
	OPTION_UNIT,
	OPTION_ALGORITHM,
	OPTION_CELLS,
	OPTION_EDGE,
	OPTION_BURST,
	OPTION_MATCH,
	OPTION_PER,
	OPTION_PER6,
	OPTION_SHADOW,
	OPTION_COUNT,
	OPTION_EXACT,
};

/* A limit whose words are still being read. What one of them says may depend on a later one. */
struct draft {
	struct rf_limit limit;
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

/* The number of `word` among `names`; `count` if it is not there. */
static size_t find_name(const char *word, const char *const *names, size_t count)
{
	size_t i = 0;

	while (i < count && strcmp(word, names[i]) != 0)
		i++;
	return i;
}

static int parse_unit(const char *value, struct draft *draft, struct rf_error *error)
{
	(void)error;
	draft->limit.unit = find_name(value, unit_names, ARRAY_SIZE(unit_names));
	return 0;
}

static int parse_algorithm(const char *value, struct draft *draft, struct rf_error *error)
{
	size_t algorithm = find_name(value, algorithm_names, ARRAY_SIZE(algorithm_names));

	if (algorithm == ARRAY_SIZE(algorithm_names))
		return rf_error_usage(
			error, "'%s': unknown algorithm; it is sliding, fixed, log, token or leaky",
			value);
	draft->limit.algorithm = algorithm;
	return 0;
}

static int parse_cells(const char *value, struct draft *draft, struct rf_error *error)
{
	uint32_t cells = 0;
	int err = rf_parse_number(value, "number of cells", 2, RF_CELLS, &cells, error);

	draft->limit.cells = cells;
	return err;
}

static int parse_edge(const char *value, struct draft *draft, struct rf_error *error)
{
	size_t edge = find_name(value, edge_names, ARRAY_SIZE(edge_names));

	if (edge == ARRAY_SIZE(edge_names))
		return rf_error_usage(error, "'%s': unknown edge; it is strict, weighted or coarse",
				      value);
	draft->limit.edge = edge;
	return 0;
}

static int parse_burst(const char *value, struct draft *draft, struct rf_error *error)
{
	uint64_t burst = 0;

	if (rf_parse_count(value, &burst, &draft->burst_in_bits, error))
		return rf_error_usage(error, "'%s': invalid burst; " COUNT_FORM, value);
	draft->limit.burst = burst;
	draft->burst = value;
	return 0;
}

/* An option of which this version has one value only, and the limit has that already. */
static int parse_only(const char *option, const char *value, const char *only,
		      struct rf_error *error)
{
	if (strcmp(value, only) == 0)
		return 0;
	return rf_error_usage(error, "'%s %s': not in this version, which has %s", option, value,
			      only);
}

static int parse_match(const char *value, struct draft *draft, struct rf_error *error)
{
	(void)draft;
	return parse_only("match", value, "any", error);
}

static int parse_per(const char *value, struct draft *draft, struct rf_error *error)
{
	(void)draft;
	return parse_only("per", value, "/32", error);
}

static int parse_per6(const char *value, struct draft *draft, struct rf_error *error)
{
	(void)draft;
	return parse_only("per6", value, "/64", error);
}

static int parse_shadow(const char *value, struct draft *draft, struct rf_error *error)
{
	(void)value, (void)error;
	draft->limit.flags |= RF_SHADOW;
	return 0;
}

static int parse_count_rejected(const char *value, struct draft *draft, struct rf_error *error)
{
	if (strcmp(value, "rejected") != 0)
		return rf_error_usage(error, "'count %s': 'rejected' must follow 'count'", value);
	draft->limit.flags |= RF_COUNT_REJECTED;
	return 0;
}

static int parse_exact(const char *value, struct draft *draft, struct rf_error *error)
{
	(void)value, (void)error;
	draft->limit.flags |= RF_EXACT;
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
	{"per", OPTION_PER, "a word", parse_per},
	{"per6", OPTION_PER6, "a word", parse_per6},
	{"shadow", OPTION_SHADOW, NULL, parse_shadow},
	{"count", OPTION_COUNT, "'rejected'", parse_count_rejected},
	{"exact", OPTION_EXACT, NULL, parse_exact},
};

/* Options of the grammar that this version does not have at all. */
static const char *const later_limit_options[] = {"dport", "from", "ban"};

static const struct limit_option *find_limit_option(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(limit_options); i++)
		if (strcmp(word, limit_options[i].word) == 0)
			return &limit_options[i];
	return NULL;
}

static int fail_limit_option(const char *word, struct rf_error *error)
{
	if (find_name(word, later_limit_options, ARRAY_SIZE(later_limit_options)) <
	    ARRAY_SIZE(later_limit_options))
		return rf_error_usage(error, "'%s': not in this version", word);
	return rf_error_usage(
		error, "'%s': unknown word in a limit; see 'ringfence help limit add'", word);
}

static int parse_limit_option(struct rf_words *words, struct draft *draft, struct rf_error *error)
{
	const char *word = rf_words_next(words), *value = word;
	const struct limit_option *option = find_limit_option(word);

	if (!option)
		return fail_limit_option(word, error);
	if (option->id == OPTION_UNIT && has_said(draft, OPTION_UNIT) &&
	    strcmp(word, unit_names[draft->limit.unit]) != 0)
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

bool rf_has_burst(const struct rf_limit *limit)
{
	return limit->algorithm == RF_TOKEN || limit->algorithm == RF_LEAKY;
}

/* Without the word; 0 where there is none. */
static uint64_t default_burst(const struct rf_limit *limit)
{
	if (limit->algorithm == RF_TOKEN)
		return limit->rate;
	return limit->algorithm == RF_LEAKY ? 1 : 0;
}

static int check_unit(struct draft *draft, struct rf_error *error)
{
	if (draft->rate_in_bits && has_said(draft, OPTION_UNIT) && draft->limit.unit == RF_PACKETS)
		return rf_error_usage(
			error, "'%s': invalid rate: bits are counted as bytes; leave out 'packets'",
			draft->rate);
	if (draft->rate_in_bits)
		draft->limit.unit = RF_BYTES;
	if (draft->burst_in_bits && draft->limit.unit == RF_PACKETS)
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
	const struct rf_limit *limit = &draft->limit;
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
	const struct rf_limit *limit = &draft->limit;
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
	const struct rf_limit *limit = &draft->limit;

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
	struct rf_limit *limit = &draft->limit;
	int err;

	if (!draft->burst) {
		limit->burst = default_burst(limit);
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

/* The limit's name and rate, which come first. */
static int parse_limit_head(struct rf_words *words, struct draft *draft, struct rf_error *error)
{
	const char *name = rf_words_next(words);
	struct rf_rate rate;
	int err;

	if (!name)
		return rf_error_usage(error,
				      "the limit's name is missing; write NAME rate COUNT/TIME");
	err = rf_parse_name(name, "name of a limit", draft->limit.name, error);
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
	draft->limit.rate = rate.count;
	draft->limit.window_ns = rate.window_ns;
	draft->rate_in_bits = rate.in_bits;
	return 0;
}

int rf_parse_limit(struct rf_words *words, struct rf_limit *limit, struct rf_error *error)
{
	struct draft draft = {.limit = {.per4 = 32, .per6 = 64}};
	int err = parse_limit_head(words, &draft, error);

	while (!err && rf_words_peek(words))
		err = parse_limit_option(words, &draft, error);
	if (!err)
		err = check_unit(&draft, error);
	if (!err)
		err = check_algorithm(&draft, error);
	if (!err)
		err = check_rate(&draft, error);
	if (!err)
		err = check_burst(&draft, error);
	if (err)
		return err;
	if (!draft.limit.cells)
		draft.limit.cells = draft.limit.algorithm == RF_SLIDING ? RF_CELLS : 1;
	*limit = draft.limit;
	return 0;
}

/* ---- attach ---- */

static int parse_mode(const char *word, enum rf_mode *mode, struct rf_error *error)
{
	if (strcmp(word, "native") == 0)
		*mode = RF_NATIVE;
	else if (strcmp(word, "generic") == 0)
		*mode = RF_GENERIC;
	else
		return rf_error_usage(error, "'%s': unknown mode; it is native or generic", word);
	return 0;
}

static bool is_later_attach_option(const char *word)
{
	return strcmp(word, "chain") == 0 || strcmp(word, "replace") == 0 ||
	       strcmp(word, "confirm") == 0;
}

static int parse_attach_option(const char *option, const char *value, struct rf_attach *attach,
			       struct rf_error *error)
{
	char name[RF_NAME_SIZE];

	if (strcmp(option, "mode") == 0)
		return parse_mode(value, &attach->mode, error);
	if (strcmp(option, "sources") == 0)
		return rf_parse_number(value, "number of sources", 1, 1U << 26, &attach->sources,
				       error);
	if (strcmp(option, "leases") == 0)
		return rf_parse_number(value, "number of leases", 0, 1U << 24, &attach->leases,
				       error);
	attach->fence = value;
	return rf_parse_name(value, "name of a fence", name, error);
}

static int parse_attach_word(struct rf_words *words, struct rf_attach *attach, unsigned int *seen,
			     struct rf_error *error)
{
	static const char *const options[] = {"fence", "mode", "sources", "leases"};
	const char *word = rf_words_next(words);
	const char *value;

	if (is_later_attach_option(word))
		return rf_error_usage(error, "'%s': not in this version", word);
	if (!*word)
		return rf_error_usage(error, "'': no interface has an empty name");
	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		if (strcmp(word, options[i]) != 0)
			continue;
		if (*seen & 1U << i)
			return rf_error_usage(error, "'%s': said twice", word);
		*seen |= 1U << i;
		value = rf_words_next(words);
		if (!value)
			return rf_error_usage(error, "'%s': a word is missing behind it", word);
		return parse_attach_option(word, value, attach, error);
	}
	if (attach->interfaces == RF_INTERFACES_MAX)
		return rf_error_usage(error, "'%s': too many interfaces; %d at most", word,
				      RF_INTERFACES_MAX);
	attach->interface[attach->interfaces++] = word;
	return 0;
}

int rf_parse_attach(struct rf_words *words, struct rf_attach *attach, struct rf_error *error)
{
	struct rf_attach parsed = {.mode = RF_NATIVE, .leases = RF_LEASES_UNSAID};
	unsigned int seen = 0;
	int err = 0;

	while (!err && rf_words_peek(words))
		err = parse_attach_word(words, &parsed, &seen, error);
	if (!err && !parsed.interfaces)
		err = rf_error_usage(error, "the interface is missing; write attach IF");
	if (!err)
		*attach = parsed;
	return err;
}

/* ---- formatting ---- */

static const char *const mode_names[] = {
	[RF_NATIVE] = "native",
	[RF_GENERIC] = "generic",
	[RF_OFFLOAD] = "offload",
};

/* Out of range is what only a map can hold that this build did not write. */
static const char *name_of(unsigned int value, const char *const *names, size_t count)
{
	return value < count ? names[value] : "unknown";
}

const char *rf_mode_name(enum rf_mode mode)
{
	return mode_names[mode];
}

const char *rf_algorithm_name(enum rf_algorithm algorithm)
{
	return name_of(algorithm, algorithm_names, ARRAY_SIZE(algorithm_names));
}

const char *rf_edge_name(enum rf_edge edge)
{
	return name_of(edge, edge_names, ARRAY_SIZE(edge_names));
}

const char *rf_unit_name(enum rf_unit unit)
{
	return name_of(unit, unit_names, ARRAY_SIZE(unit_names));
}

/* `value` with the largest suffix that leaves it whole; 0 has none. */
static void format_scaled(uint64_t value, const struct suffix *suffixes, size_t count, char *text,
			  size_t size)
{
	const struct suffix *best = &suffixes[0];

	for (size_t i = 1; i < count; i++)
		if (value && value % suffixes[i].factor == 0)
			best = &suffixes[i];
	snprintf(text, size, "%" PRIu64 "%s", value / best->factor, best->text);
}

void rf_format_count(uint64_t count, char text[RF_COUNT_TEXT_SIZE])
{
	format_scaled(count, count_suffixes, ARRAY_SIZE(count_suffixes), text, RF_COUNT_TEXT_SIZE);
}

static void format_rate(uint64_t count, uint64_t window_ns, const char *unit,
			char text[RF_RATE_TEXT_SIZE])
{
	char count_text[RF_COUNT_TEXT_SIZE], time_text[RF_COUNT_TEXT_SIZE];

	rf_format_count(count, count_text);
	format_scaled(window_ns / RF_NS_PER_MS, time_suffixes, ARRAY_SIZE(time_suffixes), time_text,
		      sizeof(time_text));
	snprintf(text, RF_RATE_TEXT_SIZE, "%s/%s%s", count_text, time_text, unit);
}

void rf_format_rate(uint64_t count, uint64_t window_ns, char text[RF_RATE_TEXT_SIZE])
{
	format_rate(count, window_ns, "", text);
}

void rf_format_limit_rate(const struct rf_limit *limit, char text[RF_RATE_TEXT_SIZE])
{
	format_rate(limit->rate, limit->window_ns, limit->unit == RF_BYTES ? " bytes" : "", text);
}

/* Adds to what `text` holds already. */
__attribute__((format(printf, 2, 3))) static void append(char text[RF_LIMIT_TEXT_SIZE],
							 const char *format, ...)
{
	size_t length = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + length, RF_LIMIT_TEXT_SIZE - length, format, args);
	va_end(args);
}

void rf_format_limit(const struct rf_limit *limit, char text[RF_LIMIT_TEXT_SIZE])
{
	char rate[RF_RATE_TEXT_SIZE], burst[RF_COUNT_TEXT_SIZE];

	rf_format_limit_rate(limit, rate);
	rf_format_count(limit->burst, burst);
	snprintf(text, RF_LIMIT_TEXT_SIZE, "%s rate %s", limit->name, rate);
	if (limit->algorithm != RF_SLIDING)
		append(text, " algorithm %s", rf_algorithm_name(limit->algorithm));
	if (limit->algorithm == RF_SLIDING && limit->cells != RF_CELLS)
		append(text, " cells %d", limit->cells);
	if (limit->edge != RF_EDGE_STRICT)
		append(text, " edge %s", rf_edge_name(limit->edge));
	if (limit->burst != default_burst(limit))
		append(text, " burst %s", burst);
	if (limit->flags & RF_SHADOW)
		append(text, " shadow");
	if (limit->flags & RF_COUNT_REJECTED)
		append(text, " count rejected");
	if (limit->flags & RF_EXACT)
		append(text, " exact");
}
