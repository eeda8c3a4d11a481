// SPDX-License-Identifier: GPL-2.0
/*
 * Attributes of a limit: the text of each, the destinations, and the attributes that select
 * packets.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/sort.h"
#include "rules/attribute.h"
#include "rules/private.h"

/* ---- destinations ---- */

/*
 * The destinations that limits name by `to`: a few prefixes of each family, in the bank itself,
 * since the data path compares a packet with one after the other.
 */

static unsigned int bits_of(const __be32 *word, int words)
{
	unsigned int bits = 0;

	for (int i = 0; i < words; i++)
		bits += __builtin_popcount(word[i]);
	return bits;
}

/* ---- entries as prefixes ---- */

struct entry {
	struct rf_prefix prefix;
	uint32_t own;
};

static __be32 word_of(const __u64 pair[2], int i)
{
	return pair[i / 2] >> i % 2 * 32;
}

/* Entry `i` of both families, IPv4 first. */
static struct entry read_entry(const struct rf_shapes *shapes, int i)
{
	const struct rf_to6 *to6 = &shapes->to6[i % RF_TO_MAX];
	struct entry entry = {.prefix.version = i < RF_TO_MAX ? 4 : 6};
	__be32 mask[4] = {};

	if (i < RF_TO_MAX) {
		entry.own = shapes->to4[i].own;
		entry.prefix.word[0] = shapes->to4[i].address;
		mask[0] = shapes->to4[i].mask;
	} else {
		entry.own = to6->own;
		for (int j = 0; j < 4; j++) {
			entry.prefix.word[j] = word_of(to6->address, j);
			mask[j] = word_of(to6->mask, j);
		}
	}
	entry.prefix.length = bits_of(mask, 4);
	return entry;
}

static void write_entry(struct rf_shapes *shapes, int i, const struct entry *entry)
{
	const struct rf_prefix *prefix = &entry->prefix;
	struct rf_to6 *to6 = &shapes->to6[i % RF_TO_MAX];

	if (i < RF_TO_MAX) {
		shapes->to4[i] = (struct rf_to4){.address = prefix->word[0],
						 .mask = rf_prefix_mask(prefix->length, 0),
						 .own = entry->own};
		return;
	}
	*to6 = (struct rf_to6){.own = entry->own};
	for (unsigned int j = 0; j < 4; j++) {
		to6->address[j / 2] |= (uint64_t)prefix->word[j] << j % 2 * 32;
		to6->mask[j / 2] |= (uint64_t)rf_prefix_mask(prefix->length, j) << j % 2 * 32;
	}
}

/* ---- tables ---- */

/* The entries of one family, the longest prefix first; free ones last. */
struct table {
	struct entry entry[RF_TO_MAX + 1];
	int count;
};

static int compare_entries(const void *a, const void *b)
{
	const struct entry *one = a, *other = b;

	if (one->prefix.length != other->prefix.length)
		return one->prefix.length > other->prefix.length ? -1 : 1;
	return rf_prefix_compare(&one->prefix, &other->prefix);
}

/* The entries of a family, without what `slot` names. */
static void read_table(const struct rf_shapes *shapes, int family, int slot, struct table *table)
{
	table->count = 0;
	for (int i = 0; i < RF_TO_MAX; i++) {
		struct entry entry = read_entry(shapes, family * RF_TO_MAX + i);

		entry.own &= ~(1U << slot);
		if (entry.own)
			table->entry[table->count++] = entry;
	}
}

static void write_table(struct rf_shapes *shapes, int family, struct table *table)
{
	static const struct entry none;

	rf_sort(table->entry, table->count, sizeof(*table->entry), compare_entries);
	for (int i = 0; i < RF_TO_MAX; i++)
		write_entry(shapes, family * RF_TO_MAX + i,
			    i < table->count ? &table->entry[i] : &none);
}

static void add_prefix(struct table *table, const struct rf_prefix *prefix, int slot)
{
	int i = 0;

	while (i < table->count && rf_prefix_compare(&table->entry[i].prefix, prefix) != 0)
		i++;
	if (i > RF_TO_MAX)
		return;
	if (i == table->count)
		table->entry[table->count++] = (struct entry){.prefix = *prefix};
	table->entry[i].own |= 1U << slot;
}

/* ---- destinations of a limit ---- */

int rf_to_put(struct rf_shapes *shapes, int slot, const struct rf_prefixes *prefixes,
	      const char *name, struct rf_error *error)
{
	struct table table[2];

	for (int family = 0; family < 2; family++)
		read_table(shapes, family, slot, &table[family]);
	for (size_t i = 0; i < prefixes->count; i++)
		add_prefix(&table[prefixes->prefix[i].version == 6], &prefixes->prefix[i], slot);
	for (int family = 0; family < 2; family++)
		if (table[family].count > RF_TO_MAX)
			return rf_error_failed(
				error, -ENOSPC,
				"limit '%s': all limits together may name %d %s prefixes by 'to'; "
				"name fewer, or a prefix that contains several",
				name, RF_TO_MAX, family ? "IPv6" : "IPv4");
	for (int family = 0; family < 2; family++)
		write_table(shapes, family, &table[family]);
	return 0;
}

bool rf_to_next(const struct rf_shapes *shapes, int slot, int *at, struct rf_prefix *prefix)
{
	while (*at < 2 * RF_TO_MAX) {
		const struct entry entry = read_entry(shapes, (*at)++);

		if (entry.own >> slot & 1) {
			*prefix = entry.prefix;
			return true;
		}
	}
	return false;
}

/* ---- items ---- */

/* Writes an item of a value, with what comes before it. */
static void write_item(struct rf_writing *to, const char *item)
{
	fputs(to->before, to->stream);
	fputs(item, to->stream);
	to->before = to->between;
}

static void write_text(struct rf_writing *to, const char *text)
{
	if (*text)
		write_item(to, text);
}

static void write_rate(struct rf_writing *to)
{
	char text[RF_RATE_TEXT_SIZE];

	rf_format_limit_rate(to->limit, text);
	write_item(to, text);
}

static void write_match(struct rf_writing *to)
{
	char text[RF_MATCH_TEXT_SIZE];

	rf_format_match(to->limit, text);
	write_item(to, text);
}

static void write_ports(struct rf_writing *to, const uint64_t *ports)
{
	char range[RF_PORT_RANGE_TEXT_SIZE];

	for (int first = 0; ports && rf_format_port_range(ports, &first, range);)
		write_item(to, range);
}

static void write_dport(struct rf_writing *to)
{
	if (to->ruleset)
		write_ports(to, to->ruleset->ports[to->slot]);
}

static void write_sport(struct rf_writing *to)
{
	if (to->ruleset)
		write_ports(to, to->ruleset->sports[to->slot]);
}

static void write_prefix(struct rf_writing *to, const struct rf_prefix *prefix)
{
	char text[RF_PREFIX_TEXT_SIZE];

	rf_format_prefix(prefix, text);
	write_item(to, text);
}

static void write_to(struct rf_writing *to)
{
	struct rf_prefix prefix;

	for (int at = 0;
	     to->ruleset && rf_to_next(&to->ruleset->bank.shapes, to->slot, &at, &prefix);)
		write_prefix(to, &prefix);
}

static void write_from(struct rf_writing *to)
{
	for (size_t i = 0; to->ruleset && i < to->ruleset->listed_count; i++)
		if (to->ruleset->listed[i].from >> to->slot & 1)
			write_prefix(to, &to->ruleset->listed[i].prefix);
}

static void write_length(struct rf_writing *to)
{
	char text[RF_LENGTH_TEXT_SIZE];

	rf_format_length(to->limit, text);
	write_text(to, text);
}

static void write_tcp_flags(struct rf_writing *to)
{
	char text[RF_FLAGS_TEXT_SIZE];

	rf_format_tcp_flags(to->limit, text);
	write_text(to, text);
}

static void write_number(struct rf_writing *to)
{
	char text[RF_COUNT_TEXT_SIZE];

	snprintf(text, sizeof(text), "%" PRIu64, rf_attribute_value(to->part, to->limit));
	write_item(to, text);
}

static void write_prefix_length(struct rf_writing *to)
{
	char text[RF_COUNT_TEXT_SIZE];

	snprintf(text, sizeof(text), "/%" PRIu64, rf_attribute_value(to->part, to->limit));
	write_item(to, text);
}

/* Only a map that another program wrote can hold a value out of range. */
static void write_word(struct rf_writing *to)
{
	const struct rf_option *words = rf_limit_options[to->part].words;
	uint64_t left = rf_attribute_value(to->part, to->limit);

	for (; left && words->word; left--)
		words++;
	write_item(to, words->word ?: "unknown");
}

static void write_flag(struct rf_writing *to)
{
	if (rf_attribute_value(to->part, to->limit))
		write_item(to, rf_limit_options[to->part].word);
}

/* The only word that may follow the option's. */
static void write_only_word(struct rf_writing *to)
{
	if (rf_attribute_value(to->part, to->limit))
		write_item(to, rf_limit_options[to->part].words[0].word);
}

static void write_burst(struct rf_writing *to)
{
	char text[RF_COUNT_TEXT_SIZE];

	rf_format_burst(to->limit, text);
	if (rf_has_burst(to->limit))
		write_item(to, text);
}

static void write_ban(struct rf_writing *to)
{
	const char *all = rf_limit_options[RF_OPT_BAN].then[0].word;
	char time[RF_COUNT_TEXT_SIZE], text[2 * RF_COUNT_TEXT_SIZE];
	const bool has_all = to->limit->flags & RF_BAN_ALL;

	rf_format_time(to->limit->ban_ns, time);
	snprintf(text, sizeof(text), "%s%s%s", time, has_all ? " " : "", has_all ? all : "");
	if (to->limit->ban_ns)
		write_item(to, text);
}

static void write_over(struct rf_writing *to)
{
	const unsigned int one_in = to->limit->truncate_one_in;
	char text[RF_COUNT_TEXT_SIZE];

	snprintf(text, sizeof(text), "%s 1/%u", rf_limit_options[RF_OPT_OVER].words[0].word,
		 one_in);
	if (one_in)
		write_item(to, text);
}

static void write_initial(struct rf_writing *to)
{
	char text[RF_COUNT_TEXT_SIZE];

	rf_format_count(to->limit->first, text);
	if (to->limit->flags & RF_INITIAL_GIVEN)
		write_item(to, text);
}

static void write_offline(struct rf_writing *to)
{
	struct rf_limit alone = *to->limit;
	char text[RF_RATE_TEXT_SIZE];

	alone.rate = alone.alone;
	alone.unit = RF_PACKETS; /* the unit is already written with the rate */
	rf_format_limit_rate(&alone, text);
	if (alone.flags & RF_OFFLINE_INITIAL)
		write_item(to, rf_limit_options[RF_OPT_OFFLINE].words[0].word);
	else if (alone.alone)
		write_item(to, text);
}

/* ---- the rows ---- */

static uint64_t default_algorithm(const struct rf_limit *limit)
{
	return rf_default_algorithm(limit);
}

static uint64_t default_cells(const struct rf_limit *limit)
{
	return rf_default_cells(limit);
}

/* Only a limit of the fleet has these two. */
static bool has_no_initial(const struct rf_limit *limit)
{
	return !(limit->flags & RF_FLEET) || !(limit->flags & RF_INITIAL_GIVEN);
}

static bool has_no_offline(const struct rf_limit *limit)
{
	return !(limit->flags & RF_FLEET) || !(limit->alone || limit->flags & RF_OFFLINE_INITIAL);
}

#define AT(member) \
	.at = offsetof(struct rf_limit, member), .size = sizeof(((struct rf_limit *)0)->member)
#define TEXT(function, word) .write = function, .none = word
#define PART(id, word, option, store, no, text, json, define, ...) \
	[RF_OPT_##id] = {text, __VA_ARGS__},
#define HEAD(id, word, option, store, text, json, define, ...) [RF_OPT_##id] = {text, __VA_ARGS__},
#define WORD(...)

const struct rf_attribute rf_attributes[RF_LIMIT_OPTIONS] = {
#include "schema/limit.def"
};

uint64_t rf_attribute_value(enum rf_limit_option part, const struct rf_limit *limit)
{
	const struct rf_attribute *attribute = &rf_attributes[part];
	const uint32_t bit = rf_limit_options[part].bit;

	if (bit)
		return (limit->flags & bit) != 0;
	return rf_field_read((const char *)limit + attribute->at, attribute->size);
}

bool rf_attribute_is_default(enum rf_limit_option part, const struct rf_limit *limit)
{
	const struct rf_attribute *attribute = &rf_attributes[part];

	if (attribute->is_default)
		return attribute->is_default(limit);
	if (!rf_limit_options[part].bit && !attribute->size)
		return false;
	return rf_attribute_value(part, limit) ==
	       (attribute->default_of ? attribute->default_of(limit) : attribute->initial);
}

void rf_limit_set_defaults(struct rf_limit *limit)
{
	for (int i = 0; i < RF_LIMIT_OPTIONS; i++)
		if (rf_attributes[i].initial)
			rf_field_write((char *)limit + rf_attributes[i].at, rf_attributes[i].size,
				       rf_attributes[i].initial);
}

/* ---- text ---- */

/* Closes the stream, and returns its text; NULL if out of memory. */
static char *end_text(FILE *stream, char **text)
{
	const bool failed = ferror(stream);

	if (!fclose(stream) && !failed)
		return *text;
	free(*text);
	return NULL;
}

char *rf_attribute_text(enum rf_limit_option part, const struct rf_ruleset *ruleset, int slot)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);
	struct rf_writing to = {stream, part, &ruleset->bank.limit[slot], ruleset, slot, "", ","};

	if (!stream)
		return NULL;
	rf_attributes[part].write(&to);
	return end_text(stream, &text);
}

/* An attribute with its word, unless it is as by default. */
static void write_part(struct rf_writing *to)
{
	const struct rf_option *option = &rf_limit_options[to->part];
	const bool is_flag = option->kind == RF_KIND_NONE;
	char before[RF_NAME_SIZE];

	if (!rf_attributes[to->part].write || rf_attribute_is_default(to->part, to->limit))
		return;
	snprintf(before, sizeof(before), " %s%s", is_flag ? "" : option->word, is_flag ? "" : " ");
	to->before = before;
	rf_attributes[to->part].write(to);
}

/* NAME, the rate with its way of counting, and then the others. */
static void write_limit(struct rf_writing *to)
{
	fputs(to->limit->name, to->stream);
	for (int i = 0; i < 2 * RF_LIMIT_OPTIONS; i++) {
		to->part = i % RF_LIMIT_OPTIONS;
		if ((rf_attributes[to->part].place < 0) == (i < RF_LIMIT_OPTIONS))
			write_part(to);
	}
}

void rf_format_limit(const struct rf_limit *limit, char text[RF_LIMIT_TEXT_SIZE])
{
	char *written = NULL;
	size_t size;
	FILE *stream = open_memstream(&written, &size);
	struct rf_writing to = {.stream = stream, .limit = limit, .between = ","};

	*text = '\0';
	if (!stream)
		return;
	write_limit(&to);
	written = end_text(stream, &written);
	snprintf(text, RF_LIMIT_TEXT_SIZE, "%s", written ?: "");
	free(written);
}

char *rf_ruleset_format_limit(const struct rf_ruleset *ruleset, int slot)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);
	struct rf_writing to = {.stream = stream,
				.limit = &ruleset->bank.limit[slot],
				.ruleset = ruleset,
				.slot = slot,
				.between = ","};

	if (!stream)
		return NULL;
	fputs("limit add ", stream);
	write_limit(&to);
	return end_text(stream, &text);
}

#define TCP 6
#define UDP 17

/* ---- which packets a limit matches: ports ---- */

/* The port at `*text`, which moves past it; -1 without a port. */
static long take_port(const char **text)
{
	size_t length = strspn(*text, "0123456789");
	long port = 0;

	for (size_t i = 0; i < length && port < RF_PORTS; i++)
		port = port * 10 + (*text)[i] - '0';
	*text += length;
	return length ? port : -1;
}

/* P or P-Q at `*text`, which moves past it. */
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
		return rf_error_usage(
			error,
			"'%.*s': invalid range of ports: the end is below the start; write %ld-%ld",
			length, start, last, first);
	for (long port = first; port <= last; port++)
		ports[port / 64] |= 1ULL << port % 64;
	return 0;
}

int rf_parse_ports(const char *value, uint64_t **ports, struct rf_error *error)
{
	int err;

	*ports = calloc(RF_PORTS / 64, sizeof(**ports));
	if (!*ports)
		return rf_error_failed(error, -ENOMEM, "'%s': out of memory", value);
	err = parse_port_range(&value, *ports, error);
	while (!err && *value++ == ',')
		err = parse_port_range(&value, *ports, error);
	return err;
}

/* ---- lengths ---- */

int rf_parse_lengths(const char *value, struct rf_limit *limit, struct rf_error *error)
{
	const char *text = value;
	long first = take_port(&text), last = first;

	if (*text == '-') {
		text++;
		last = take_port(&text);
	}
	if (first < 0 || last < 0 || *text)
		return rf_error_usage(error,
				      "'%s': invalid length; write it like 482 or 1000-1514, in "
				      "bytes of the frame with its Ethernet header",
				      value);
	if (first < RF_LENGTH_MIN || last < RF_LENGTH_MIN || first >= RF_LENGTHS ||
	    last >= RF_LENGTHS)
		return rf_error_usage(
			error,
			"'%s': invalid length: it must be %d-%d, in bytes of the frame "
			"with its Ethernet header",
			value, RF_LENGTH_MIN, RF_LENGTHS - 1);
	if (first > last)
		return rf_error_usage(
			error,
			"'%s': invalid range of lengths: the end is below the start; write %ld-%ld",
			value, last, first);
	limit->length_min = first;
	limit->length_max = last;
	return 0;
}

/* ---- TCP flags ---- */

/* The flags in the `length` characters at `text`; -1: some word is no flag. */
static int read_flags(const char *text, size_t length)
{
	int flags = 0;

	for (const char *end = text + length; text <= end;) {
		const size_t word = strcspn(text, ",/");
		int i = 0;

		while (i < RF_TCP_FLAG_WORDS && (strlen(rf_tcp_flags[i].word) != word ||
						 strncasecmp(rf_tcp_flags[i].word, text, word)))
			i++;
		if (i == RF_TCP_FLAG_WORDS)
			return -1;
		flags |= rf_tcp_flags[i].bits;
		text += word + 1;
	}
	return flags;
}

int rf_parse_tcp_flags(const char *value, struct rf_limit *limit, struct rf_error *error)
{
	const size_t length = strcspn(value, "/");
	const char *after = value[length] ? value + length + 1 : value;
	const int flags = read_flags(value, length);
	const int mask =
		strchr(after, '/') && after != value ? -1 : read_flags(after, strlen(after));

	if (flags < 0 || mask < 0)
		return rf_error_usage(
			error,
			"'%s': invalid flags; write them like SYN/SYN,ACK: of the flags "
			"behind the slash, those before it are set and no others; the "
			"flags are SYN, ACK, FIN, RST, PSH, URG, ECE, CWR, NONE and ALL",
			value);
	if (!mask)
		return rf_error_usage(error,
				      "'%s': invalid flags: the mask is empty; write NONE/ALL for "
				      "packets without any flag",
				      value);
	if (flags & ~mask)
		return rf_error_usage(error,
				      "'%s': invalid flags: flags before the slash must also be "
				      "after it, or no packet would match",
				      value);
	limit->tcp_flags = flags;
	limit->tcp_mask = mask;
	return 0;
}

/* ---- what fits together ---- */

static bool match_has_ports(const struct rf_limit *limit)
{
	if (limit->match == RF_MATCH_PROTOCOL)
		return limit->protocol == TCP || limit->protocol == UDP;
	return limit->match != RF_MATCH_ICMP;
}

/* `match other` has one window for all its packets: they have no source and no port. */
static int check_other(unsigned int given, struct rf_error *error)
{
	for (int i = 0; i < RF_LIMIT_OPTIONS; i++)
		if (rf_attributes[i].of_source && given & 1U << i)
			return rf_error_usage(
				error,
				"'%s': 'match other' does not accept it, because packets that are "
				"not IP have no source and no port; leave out one of them",
				rf_limit_options[i].word);
	return 0;
}

/* `what` is 'dport' or 'sport'. */
static int check_ports(const struct rf_limit *limit, const char *what, struct rf_error *error)
{
	if (match_has_ports(limit))
		return 0;
	if (limit->match == RF_MATCH_ICMP)
		return rf_error_usage(error,
				      "'%s': 'match icmp' does not accept it, because ICMP has no "
				      "ports; leave out one of them",
				      what);
	return rf_error_usage(error,
			      "'%s': 'match proto %d' does not accept it; only any, tcp, tcp syn, "
			      "udp, proto 6 and proto 17 have ports",
			      what, limit->protocol);
}

static int check_flags(const struct rf_limit *limit, struct rf_error *error)
{
	char match[RF_MATCH_TEXT_SIZE];

	rf_format_match(limit, match);
	if (limit->match == RF_MATCH_SYN)
		return rf_error_usage(error,
				      "'flags': 'match tcp syn' names the flags already; write "
				      "'match tcp' or leave out 'flags'");
	if (limit->match != RF_MATCH_ANY && limit->match != RF_MATCH_TCP &&
	    (limit->match != RF_MATCH_PROTOCOL || limit->protocol != TCP))
		return rf_error_usage(error,
				      "'flags': 'match %s' does not accept it, because only TCP "
				      "has these flags; write 'match tcp' or leave out 'flags'",
				      match);
	return 0;
}

/* The data path does not compare the port: it regards all ports of the limit as DNS. */
static int check_truncate(const struct rf_limit *limit, struct rf_error *error)
{
	const bool is_udp = limit->match == RF_MATCH_UDP ||
			    (limit->match == RF_MATCH_PROTOCOL && limit->protocol == UDP);

	if (!limit->truncate_one_in)
		return 0;
	if (!is_udp || !limit->has_ports)
		return rf_error_usage(error, "'over truncate': only for DNS over UDP; add 'match "
					     "udp dport 53', or leave it out");
	if (limit->ban_ns)
		return rf_error_usage(error, "'over truncate': a ban drops the queries of the "
					     "source instead; leave out 'ban' or 'over'");
	return 0;
}

int rf_check_match(const struct rf_definition *made, unsigned int given, struct rf_error *error)
{
	const struct rf_limit *limit = &made->limit;
	int err = 0;

	if (limit->match == RF_MATCH_OTHER)
		return check_other(given, error);
	if (limit->has_ports)
		err = check_ports(limit, "dport", error);
	if (!err && limit->has_sports)
		err = check_ports(limit, "sport", error);
	if (!err && limit->tcp_mask)
		err = check_flags(limit, error);
	if (!err && limit->ban_ns && limit->flags & RF_SHADOW)
		err = rf_error_usage(error, "'ban': a shadow limit drops nothing, so it bans "
					    "no source; leave out 'ban' or 'shadow'");
	return err ? err : check_truncate(limit, error);
}
