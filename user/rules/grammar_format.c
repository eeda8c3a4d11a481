// SPDX-License-Identifier: GPL-2.0
/* Values to text, as the grammar reads it, and values to their words. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "rules/policy.h"
#include "rules/private.h"

#define RF_DNS_TEXT_SIZE (6 + 6 * RF_DNS_PORTS_MAX) /* " dns 65535,…" */

/* Only a map that another program wrote can hold a value out of range. */
static const char *name_of(unsigned int value, const struct rf_option *words, unsigned int last)
{
	return value <= last ? words[value].word : "unknown";
}

const char *rf_mode_name(enum rf_mode mode)
{
	return mode == RF_OFFLOAD ? "offload" : name_of(mode, rf_mode_words, RF_GENERIC);
}

const char *rf_algorithm_name(enum rf_algorithm algorithm)
{
	return name_of(algorithm, rf_algorithm_words, RF_LEAKY);
}

const char *rf_edge_name(enum rf_edge edge)
{
	return name_of(edge, rf_edge_words, RF_EDGE_WEIGHTED);
}

static const char *match_name(enum rf_match match)
{
	return name_of(match, rf_match_words, RF_MATCH_OTHER);
}

const char *rf_unit_name(enum rf_unit unit)
{
	return name_of(unit, &rf_limit_options[RF_OPT_PACKETS], RF_BYTES);
}

const char *rf_newcomers_then_name(enum rf_newcomers_then then)
{
	if (then == RF_NEWCOMERS_OFF)
		return rf_newcomers_options[RF_OPT_NEW_OFF].word;
	return name_of(then - RF_NEWCOMERS_PASS, rf_then_words,
		       RF_NEWCOMERS_CHALLENGE - RF_NEWCOMERS_PASS);
}

bool rf_has_burst(const struct rf_limit *limit)
{
	return limit->algorithm == RF_TOKEN || limit->algorithm == RF_LEAKY;
}

/* With a strict edge, more cells let more of even senders pass; other edges lose nothing of these.
 */
uint8_t rf_default_cells(const struct rf_limit *limit)
{
	if (limit->algorithm != RF_SLIDING)
		return 1;
	return limit->edge == RF_EDGE_STRICT ? RF_CELLS_MAX : RF_CELLS_OTHERS;
}

enum rf_algorithm rf_default_algorithm(const struct rf_limit *limit)
{
	return limit->unit == RF_BYTES && !(limit->flags & RF_FLEET) ? RF_TOKEN : RF_SLIDING;
}

uint64_t rf_default_burst(const struct rf_limit *limit)
{
	if (limit->algorithm == RF_TOKEN)
		return limit->rate < RF_LIMIT_MAX ? limit->rate : RF_LIMIT_MAX;
	return limit->algorithm == RF_LEAKY ? 1 : 0;
}

/* `value` with the largest suffix that leaves it whole; 0 has no suffix. */
static void format_scaled(uint64_t value, const struct rf_suffix *suffixes, size_t count,
			  char *text, size_t size)
{
	const struct rf_suffix *best = &suffixes[0];

	for (size_t i = 1; i < count; i++)
		if (value && value % suffixes[i].factor == 0)
			best = &suffixes[i];
	snprintf(text, size, "%" PRIu64 "%s", value / best->factor, best->text);
}

void rf_format_count(uint64_t count, char text[RF_COUNT_TEXT_SIZE])
{
	format_scaled(count, rf_count_suffixes, ARRAY_SIZE(rf_count_suffixes), text,
		      RF_COUNT_TEXT_SIZE);
}

/* Bytes as bits: with the largest suffix that leaves at most two decimals; kbit takes three. */
static void format_bits(uint64_t bytes, char text[RF_COUNT_TEXT_SIZE])
{
	const struct rf_suffix *best = &rf_bit_suffixes[0];
	uint64_t rest;
	int length;

	for (size_t i = 1; i < ARRAY_SIZE(rf_bit_suffixes); i++)
		if (bytes >= rf_bit_suffixes[i].factor &&
		    bytes % (rf_bit_suffixes[i].factor / 100) == 0)
			best = &rf_bit_suffixes[i];
	rest = bytes % best->factor * 1000 / best->factor;
	length = snprintf(text, RF_COUNT_TEXT_SIZE, "%" PRIu64 ".%03u", bytes / best->factor,
			  (unsigned int)rest);
	while (text[length - 1] == '0')
		length--;
	length -= text[length - 1] == '.';
	snprintf(text + length, RF_COUNT_TEXT_SIZE - length, "%s", best->text);
}

void rf_format_burst(const struct rf_limit *limit, char text[RF_COUNT_TEXT_SIZE])
{
	const bool is_default = limit->burst == rf_default_burst(limit);

	if (limit->flags & (is_default ? RF_RATE_IN_BITS : RF_BURST_IN_BITS))
		format_bits(limit->burst, text);
	else
		rf_format_count(limit->burst, text);
}

void rf_format_time(uint64_t time_ns, char text[RF_COUNT_TEXT_SIZE])
{
	format_scaled(time_ns / RF_NS_PER_MS, rf_time_suffixes, ARRAY_SIZE(rf_time_suffixes), text,
		      RF_COUNT_TEXT_SIZE);
}

static void format_rate(uint64_t count, uint64_t window_ns, const char *unit,
			char text[RF_RATE_TEXT_SIZE])
{
	char count_text[RF_COUNT_TEXT_SIZE], time_text[RF_COUNT_TEXT_SIZE];

	rf_format_count(count, count_text);
	rf_format_time(window_ns, time_text);
	snprintf(text, RF_RATE_TEXT_SIZE, "%s/%s%s", count_text, time_text, unit);
}

void rf_format_rate(uint64_t count, uint64_t window_ns, char text[RF_RATE_TEXT_SIZE])
{
	format_rate(count, window_ns, "", text);
}

/* The ports of DNS with their word; empty if they are the default. */
static void format_dns(const struct rf_newcomers *newcomers, char text[RF_DNS_TEXT_SIZE])
{
	size_t length;

	*text = '\0';
	if (newcomers->dns_ports == 1 && newcomers->dns_port[0] == RF_DNS_PORT_DEFAULT)
		return;
	length = snprintf(text, RF_DNS_TEXT_SIZE, newcomers->dns_ports ? " dns " : " dns none");
	for (int i = 0; i < newcomers->dns_ports && i < RF_DNS_PORTS_MAX; i++)
		length += snprintf(text + length, RF_DNS_TEXT_SIZE - length, "%s%d", i ? "," : "",
				   newcomers->dns_port[i]);
}

void rf_format_then(const struct rf_newcomers *newcomers, char text[RF_THEN_TEXT_SIZE])
{
	const char *word = rf_newcomers_then_name(newcomers->then);
	char answers[RF_RATE_TEXT_SIZE], dns[RF_DNS_TEXT_SIZE];
	bool is_default;

	if (newcomers->then != RF_NEWCOMERS_CHALLENGE) {
		snprintf(text, RF_THEN_TEXT_SIZE, "%s%s", word,
			 newcomers->except_established ? " except established" : "");
		return;
	}
	is_default =
		newcomers->answers == RF_ANSWERS_DEFAULT && newcomers->answers_ns == RF_NS_PER_S;
	rf_format_rate(newcomers->answers, newcomers->answers_ns, answers);
	format_dns(newcomers, dns);
	snprintf(text, RF_THEN_TEXT_SIZE, "%s%s%s%s", word, is_default ? "" : " answers ",
		 is_default ? "" : answers, dns);
}

void rf_format_newcomers(const struct rf_newcomers *newcomers, char text[RF_NEWCOMERS_TEXT_SIZE])
{
	char rate[RF_RATE_TEXT_SIZE], then[RF_THEN_TEXT_SIZE];

	rf_format_rate(newcomers->rate, newcomers->window_ns, rate);
	rf_format_then(newcomers, then);
	if (newcomers->then == RF_NEWCOMERS_OFF)
		snprintf(text, RF_NEWCOMERS_TEXT_SIZE, "newcomers off");
	else
		snprintf(text, RF_NEWCOMERS_TEXT_SIZE, "newcomers rate %s then %s", rate, then);
}

/* 10mbit is 10mbit/1s. */
static void format_rate_in_bits(const struct rf_limit *limit, char text[RF_RATE_TEXT_SIZE])
{
	char count[RF_COUNT_TEXT_SIZE], time[RF_COUNT_TEXT_SIZE];
	const bool is_second = limit->window_ns == RF_NS_PER_S;

	format_bits(limit->rate, count);
	rf_format_time(limit->window_ns, time);
	snprintf(text, RF_RATE_TEXT_SIZE, "%s%s%s", count, is_second ? "" : "/",
		 is_second ? "" : time);
}

void rf_format_limit_rate(const struct rf_limit *limit, char text[RF_RATE_TEXT_SIZE])
{
	const char *unit = limit->unit == RF_BYTES ? " bytes" : "";

	if (limit->flags & RF_RATE_IN_BITS) {
		format_rate_in_bits(limit, text);
		return;
	}
	if (!limit->rate)
		snprintf(text, RF_RATE_TEXT_SIZE, "0%s", unit);
	else
		format_rate(limit->rate, limit->window_ns, unit, text);
}

void rf_format_match(const struct rf_limit *limit, char text[RF_MATCH_TEXT_SIZE])
{
	const char *name = match_name(limit->match);

	if (limit->match == RF_MATCH_PROTOCOL)
		snprintf(text, RF_MATCH_TEXT_SIZE, "%s %d", name, limit->protocol);
	else
		snprintf(text, RF_MATCH_TEXT_SIZE, "%s", name);
}

static bool has_port(const uint64_t *ports, int port)
{
	return port < RF_PORTS && ports[port / 64] >> port % 64 & 1;
}

bool rf_format_port_range(const uint64_t *ports, int *first, char text[RF_PORT_RANGE_TEXT_SIZE])
{
	int from = *first, to;

	while (from < RF_PORTS && !has_port(ports, from))
		from++;
	to = from;
	while (has_port(ports, to + 1))
		to++;
	*first = to + 1;
	if (from == to)
		snprintf(text, RF_PORT_RANGE_TEXT_SIZE, "%d", from);
	else
		snprintf(text, RF_PORT_RANGE_TEXT_SIZE, "%d-%d", from, to);
	return from < RF_PORTS;
}

const struct rf_tcp_flag rf_tcp_flags[RF_TCP_FLAG_WORDS] = {
	{"SYN", 0x02}, {"ACK", 0x10}, {"FIN", 0x01}, {"RST", 0x04},  {"PSH", 0x08},
	{"URG", 0x20}, {"ECE", 0x40}, {"CWR", 0x80}, {"NONE", 0x00}, {"ALL", 0xff},
};

void rf_format_length(const struct rf_limit *limit, char text[RF_LENGTH_TEXT_SIZE])
{
	*text = '\0';
	if (limit->length_max && limit->length_min == limit->length_max)
		snprintf(text, RF_LENGTH_TEXT_SIZE, "%d", limit->length_min);
	else if (limit->length_max)
		snprintf(text, RF_LENGTH_TEXT_SIZE, "%d-%d", limit->length_min, limit->length_max);
}

/* The words of flags; of none or all of them, one word. */
static void append_tcp_flags(unsigned int flags, char text[RF_FLAGS_TEXT_SIZE])
{
	const char *before = "";

	for (int i = 0; i < RF_TCP_FLAG_WORDS; i++) {
		const struct rf_tcp_flag *flag = &rf_tcp_flags[i];
		const bool is_single = flag->bits && flag->bits != 0xff;
		const size_t length = strlen(text);

		if (is_single ? flags == 0xff || !(flags & flag->bits) : flags != flag->bits)
			continue;
		snprintf(text + length, RF_FLAGS_TEXT_SIZE - length, "%s%s", before, flag->word);
		before = ",";
	}
}

void rf_format_tcp_flags(const struct rf_limit *limit, char text[RF_FLAGS_TEXT_SIZE])
{
	*text = '\0';
	if (!limit->tcp_mask)
		return;
	append_tcp_flags(limit->tcp_flags, text);
	strcat(text, "/");
	append_tcp_flags(limit->tcp_mask, text);
}

void rf_format_source(const struct rf_address *source, const struct rf_limit *limit,
		      char text[RF_PREFIX_TEXT_SIZE])
{
	const struct rf_prefix prefix = rf_limit_source(limit, source);

	rf_format_prefix(&prefix, text);
}
