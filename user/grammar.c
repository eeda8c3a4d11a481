// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
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

int rf_parse_count(const char *text, uint64_t *count, struct rf_error *error)
{
	if (!parse_scaled(text, count_suffixes, ARRAY_SIZE(count_suffixes), count))
		return rf_error_usage(error, "'%s': invalid count; write it like 100, 20k or 1.5M",
				      text);
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

int rf_parse_rate(const char *text, uint64_t *count, uint64_t *window_ns, struct rf_error *error)
{
	const char *slash = strchr(text, '/');
	uint64_t parsed_count = 0, parsed_ns = 0;
	char count_text[32];

	if (!slash || (size_t)(slash - text) >= sizeof(count_text))
		return rf_error_usage(
			error, "'%s': invalid rate; write COUNT/TIME, like 20k/1s or 100/10s",
			text);
	memcpy(count_text, text, slash - text);
	count_text[slash - text] = '\0';
	if (rf_parse_count(count_text, &parsed_count, error))
		return rf_error_usage(
			error,
			"'%s': invalid rate: '%s' is no count; write it like 100, 20k or 1.5M",
			text, count_text);
	if (rf_parse_time(slash + 1, &parsed_ns, error))
		return rf_error_usage(
			error,
			"'%s': invalid rate: '%s' is no time; write it like 500ms, 10s, 5m or 1h",
			text, slash + 1);
	if (parsed_count < 1 || parsed_count > RF_LIMIT_MAX)
		return rf_error_usage(error, "'%s': invalid rate: the count must be 1-%u", text,
				      RF_LIMIT_MAX);
	if (parsed_ns < RF_WINDOW_MIN_NS || parsed_ns > RF_WINDOW_MAX_NS)
		return rf_error_usage(error, "'%s': invalid rate: the time must be 1ms-8784h",
				      text);
	*count = parsed_count;
	*window_ns = parsed_ns;
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

/* The words that this version has behind an option, and what they put into the limit. */
struct choice {
	const char *option;
	const char *words; /* for the message */
	const char *word;
	size_t offset; /* of the byte in struct rf_limit */
	uint8_t value;
};

static const struct choice choices[] = {
	{"algorithm", "sliding or fixed", "sliding", offsetof(struct rf_limit, algorithm),
	 RF_SLIDING},
	{"algorithm", "sliding or fixed", "fixed", offsetof(struct rf_limit, algorithm), RF_FIXED},
	{"edge", "strict or coarse", "strict", offsetof(struct rf_limit, edge), RF_EDGE_STRICT},
	{"edge", "strict or coarse", "coarse", offsetof(struct rf_limit, edge), RF_EDGE_COARSE},
	{"match", "any", "any", offsetof(struct rf_limit, reserved), 0},
	{"per", "/32", "/32", offsetof(struct rf_limit, per4), 32},
	{"per6", "/64", "/64", offsetof(struct rf_limit, per6), 64},
};

/* Options of the grammar that this version does not have at all. */
static const char *const later_limit_options[] = {"bytes", "burst", "dport", "from",
						  "count", "exact", "ban"};

/* The option's first choice, or NULL if it is no option with choices. */
static const struct choice *find_choices(const char *option)
{
	for (size_t i = 0; i < ARRAY_SIZE(choices); i++)
		if (strcmp(option, choices[i].option) == 0)
			return &choices[i];
	return NULL;
}

static int parse_choice(struct rf_words *words, const struct choice *choice, struct rf_limit *limit,
			struct rf_error *error)
{
	const struct choice *end = choices + ARRAY_SIZE(choices), *first = choice;
	const char *word = rf_words_next(words);

	if (!word)
		return rf_error_usage(error, "'%s': a word is missing behind it", first->option);
	for (; choice < end && strcmp(choice->option, first->option) == 0; choice++) {
		if (strcmp(word, choice->word) != 0)
			continue;
		*((uint8_t *)limit + choice->offset) = choice->value;
		return 0;
	}
	return rf_error_usage(error, "'%s %s': not in this version, which has %s", first->option,
			      word, first->words);
}

static int parse_cells(struct rf_words *words, struct rf_limit *limit, struct rf_error *error)
{
	const char *word = rf_words_next(words);
	uint32_t cells;
	int err;

	if (!word)
		return rf_error_usage(error, "'cells': a number is missing behind it");
	err = rf_parse_number(word, "number of cells", 2, RF_CELLS, &cells, error);
	if (!err)
		limit->cells = cells;
	return err;
}

static int parse_limit_option(struct rf_words *words, struct rf_limit *limit,
			      struct rf_error *error)
{
	const char *option = rf_words_next(words);
	const struct choice *choice = find_choices(option);

	if (choice)
		return parse_choice(words, choice, limit, error);
	if (strcmp(option, "cells") == 0)
		return parse_cells(words, limit, error);
	if (strcmp(option, "shadow") == 0) {
		limit->flags |= RF_SHADOW;
		return 0;
	}
	if (strcmp(option, "packets") == 0)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(later_limit_options); i++)
		if (strcmp(option, later_limit_options[i]) == 0)
			return rf_error_usage(error, "'%s': not in this version", option);
	return rf_error_usage(
		error, "'%s': unknown word in a limit; see 'ringfence help limit add'", option);
}

/* A fixed window has neither cells nor an edge. */
static int check_limit(const struct rf_limit *limit, struct rf_error *error)
{
	if (limit->algorithm == RF_FIXED && (limit->cells || limit->edge != RF_EDGE_STRICT))
		return rf_error_usage(error,
				      "'%s': 'algorithm fixed' goes without 'cells' and 'edge'",
				      limit->name);
	return 0;
}

int rf_parse_limit(struct rf_words *words, struct rf_limit *limit, struct rf_error *error)
{
	struct rf_limit parsed = {.per4 = 32, .per6 = 64};
	const char *name = rf_words_next(words);
	uint64_t count, window_ns;
	const char *rate;
	int err;

	if (!name)
		return rf_error_usage(error,
				      "the limit's name is missing; write NAME rate COUNT/TIME");
	err = rf_parse_name(name, "name of a limit", parsed.name, error);
	if (err)
		return err;
	if (!rf_words_take(words, "rate"))
		return rf_error_usage(error, "'%s': its rate is missing; write %s rate COUNT/TIME",
				      name, name);
	rate = rf_words_next(words);
	if (!rate)
		return rf_error_usage(error, "'rate': a rate is missing behind it, like 20k/1s");
	err = rf_parse_rate(rate, &count, &window_ns, error);
	while (!err && rf_words_peek(words))
		err = parse_limit_option(words, &parsed, error);
	if (!err)
		err = check_limit(&parsed, error);
	if (err)
		return err;
	parsed.rate = count;
	parsed.window_ns = window_ns;
	if (!parsed.cells)
		parsed.cells = parsed.algorithm == RF_FIXED ? 1 : RF_CELLS;
	*limit = parsed;
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
	return strcmp(word, "leases") == 0 || strcmp(word, "chain") == 0 ||
	       strcmp(word, "replace") == 0 || strcmp(word, "confirm") == 0;
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
	attach->fence = value;
	return rf_parse_name(value, "name of a fence", name, error);
}

static int parse_attach_word(struct rf_words *words, struct rf_attach *attach, unsigned int *seen,
			     struct rf_error *error)
{
	static const char *const options[] = {"fence", "mode", "sources"};
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
	struct rf_attach parsed = {.mode = RF_NATIVE};
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

const char *rf_algorithm_name(enum rf_algorithm algorithm)
{
	return algorithm == RF_FIXED ? "fixed" : "sliding";
}

const char *rf_edge_name(enum rf_edge edge)
{
	return edge == RF_EDGE_COARSE ? "coarse" : "strict";
}

void rf_format_limit(const struct rf_limit *limit, char text[RF_LIMIT_TEXT_SIZE])
{
	char rate[RF_RATE_TEXT_SIZE], cells[16] = "";

	rf_format_rate(limit->rate, limit->window_ns, rate);
	if (limit->algorithm == RF_SLIDING && limit->cells != RF_CELLS)
		snprintf(cells, sizeof(cells), " cells %d", limit->cells);
	snprintf(text, RF_LIMIT_TEXT_SIZE, "%s rate %s%s%s%s%s", limit->name, rate,
		 limit->algorithm == RF_FIXED ? " algorithm fixed" : "", cells,
		 limit->edge == RF_EDGE_COARSE ? " edge coarse" : "",
		 limit->flags & RF_SHADOW ? " shadow" : "");
}

const char *rf_mode_name(enum rf_mode mode)
{
	return mode_names[mode];
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

void rf_format_rate(uint64_t count, uint64_t window_ns, char text[RF_RATE_TEXT_SIZE])
{
	char count_text[RF_RATE_TEXT_SIZE / 2 - 1], time_text[RF_RATE_TEXT_SIZE / 2 - 1];

	format_scaled(count, count_suffixes, ARRAY_SIZE(count_suffixes), count_text,
		      sizeof(count_text));
	format_scaled(window_ns / RF_NS_PER_MS, time_suffixes, ARRAY_SIZE(time_suffixes), time_text,
		      sizeof(time_text));
	snprintf(text, RF_RATE_TEXT_SIZE, "%s/%s", count_text, time_text);
}
