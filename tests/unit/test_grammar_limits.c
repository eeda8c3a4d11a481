// SPDX-License-Identifier: GPL-2.0
/*
 * The words after `limit add`, in rows of a line and the expected result: read with the options in
 * any order, and written again.
 */
#include "line.h"

#include <stdio.h>

/* ---- limit ---- */

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
	uint64_t first, alone;
};

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
		.first = row->first,
		.alone = row->alone,
		.per4 = 32,
		.per6 = 64,
	};
	struct rf_definition definition;
	struct rf_error error = {};
	struct line line;

	if (!row->cells)
		expected.cells = row->algorithm != RF_SLIDING  ? 1
				 : row->edge == RF_EDGE_STRICT ? 31
							       : 16;
	strcpy(expected.name, row->name);
	assert_accepted(parse_definition(row->line, &line, &definition, &error), &error);
	assert_memory_equal(&definition.limit, &expected, sizeof(expected));
	assert_only_limit(&definition);
	assert_null(rf_words_peek(&line.words));
}

#define LIMIT(title, text, ...)                            \
	UNIT_ROW_OF("parses a limit: " title, parse_limit, \
		    (&(struct limit_row){.line = text, .name = "any", __VA_ARGS__}))
#define NAMED_LIMIT(title, text, expected, ...)            \
	UNIT_ROW_OF("parses a limit: " title, parse_limit, \
		    (&(struct limit_row){.line = text, .name = expected, __VA_ARGS__}))
#define OF(count, time) .rate = count, .window_ns = time
/* Of bytes, with the default algorithm. */
#define OF_BYTES(count, time) \
	OF(count, time), .unit = RF_BYTES, .algorithm = RF_TOKEN, .burst = count

/* Checks any order of the options against `expected`, whose line is the beginning of each. */
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

/* Tries every order of the options from `first` on; returns how many orders there are. */
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
	const struct limit_row expected = {.line = "any rate 20k/1s",
					   .name = "any",
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
	const struct limit_row expected = {.line = "any rate 20k/1s",
					   .name = "any",
					   .rate = 20000,
					   .window_ns = SECOND,
					   .flags =
						   RF_SHADOW | RF_COUNT_REJECTED | RF_BURST_IN_BITS,
					   .unit = RF_BYTES,
					   .algorithm = RF_TOKEN,
					   .burst = 2000};
	const char *options[] = {"bytes",   "algorithm token", "burst 16kbit",	 "match any",
				 "per /32", "per6 /64",	       "count rejected", "shadow"};

	(void)state;
	assert_int_equal(check_orders(&expected, options, UNIT_ARRAY_SIZE(options), 0), 40320);
}

/* ---- limits, written ---- */

struct written_row {
	const char *line;
	const char *written;
};

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

#define WRITTEN(title, ...)                                     \
	UNIT_ROW_OF("writes a limit: " title, limit_is_written, \
		    (&(struct written_row){__VA_ARGS__}))

#define LONGEST                                                                               \
	THIRTY_ONE " rate 137438953471/31622399999ms bytes algorithm leaky burst 1073741823 " \
		   "match proto 254 per /31 per6 /128 count rejected exact ban 31622399999ms all"

#define LONGEST_WINDOW                                                                       \
	THIRTY_ONE " rate 137438953471/31622399999ms bytes algorithm sliding cells 15 edge " \
		   "weighted match proto 254 per /31 per6 /128 count rejected exact ban "    \
		   "31622399999ms all"

/* ---- ports and prefixes of a limit ---- */

struct port_range {
	int first, last;
};

struct ports_row {
	const char *text;
	struct port_range range[5]; /* terminated by an empty one */
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

		snprintf(text, sizeof(text), "any rate 20k/1s dport %s%s", row->text, matches[i]);
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
	UNIT_ROW_OF("parses dport: " title, parse_ports, (&(struct ports_row){__VA_ARGS__}))

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

	snprintf(text, sizeof(text), "any rate 20k/1s from %s shadow", row->text);
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
	UNIT_ROW_OF("parses from: " title, parse_from, (&(struct from_row){.text = __VA_ARGS__}))

static const struct CMUnitTest tests[] = {
	LIMIT("name and rate", "any rate 20k/1s", OF(20000, SECOND)),
	NAMED_LIMIT("a slow rate", "slow rate 1/8784h", "slow", OF(1, 8784 * HOUR)),
	NAMED_LIMIT("a name of 31 characters", THIRTY_ONE " rate 20k/1s", THIRTY_ONE,
		    OF(20000, SECOND)),
	LIMIT("shadow", "any rate 20k/1s shadow", OF(20000, SECOND), .flags = RF_SHADOW),
	LIMIT("count rejected", "any rate 20k/1s count rejected", OF(20000, SECOND),
	      .flags = RF_COUNT_REJECTED),
	LIMIT("exact", "any rate 20k/1s exact", OF(20000, SECOND), .flags = RF_EXACT),
	LIMIT("all flags", "any rate 20k/1s exact count rejected shadow", OF(20000, SECOND),
	      .flags = RF_COUNT_REJECTED | RF_SHADOW | RF_EXACT),
	LIMIT("both flags", "any rate 20k/1s count rejected shadow", OF(20000, SECOND),
	      .flags = RF_COUNT_REJECTED | RF_SHADOW),
	LIMIT("fleet", "any rate 20k/1s fleet", OF(20000, SECOND), .flags = RF_FLEET),
	LIMIT("initial", "any rate 20k/1s fleet initial 2", OF(20000, SECOND),
	      .flags = RF_FLEET | RF_INITIAL_GIVEN, .first = 2),
	LIMIT("initial 0", "any rate 20k/1s fleet initial 0", OF(20000, SECOND),
	      .flags = RF_FLEET | RF_INITIAL_GIVEN),
	LIMIT("offline", "any rate 20k/1s fleet offline 5k/1s", OF(20000, SECOND),
	      .flags = RF_FLEET, .alone = 5000),
	LIMIT("offline at the whole rate is the default", "any rate 20k/1s offline 20k/1s fleet",
	      OF(20000, SECOND), .flags = RF_FLEET),
	LIMIT("offline initial", "any rate 20k/1s fleet initial 3 offline initial",
	      OF(20000, SECOND), .flags = RF_FLEET | RF_INITIAL_GIVEN | RF_OFFLINE_INITIAL,
	      .first = 3),
	LIMIT("offline in bits", "any rate 10mbit fleet initial 8kbit offline 1mbit",
	      OF(1250000, SECOND), .unit = RF_BYTES,
	      .flags = RF_FLEET | RF_INITIAL_GIVEN | RF_RATE_IN_BITS, .first = 1000,
	      .alone = 125000),
	NAMED_LIMIT("words of the fleet are names", "initial rate 20k/1s fleet", "initial",
		    OF(20000, SECOND), .flags = RF_FLEET),
	LIMIT("match any", "any rate 20k/1s match any", OF(20000, SECOND)),
	LIMIT("match tcp", "any rate 20k/1s match tcp", OF(20000, SECOND), .match = RF_MATCH_TCP),
	LIMIT("match tcp syn", "any rate 20k/1s match tcp syn shadow", OF(20000, SECOND),
	      .match = RF_MATCH_SYN, .flags = RF_SHADOW),
	LIMIT("match udp", "any rate 20k/1s match udp", OF(20000, SECOND), .match = RF_MATCH_UDP),
	LIMIT("match icmp", "any rate 20k/1s match icmp", OF(20000, SECOND),
	      .match = RF_MATCH_ICMP),
	LIMIT("match proto 0", "any rate 20k/1s match proto 0", OF(20000, SECOND),
	      .match = RF_MATCH_PROTOCOL),
	LIMIT("match proto 254", "any rate 20k/1s match proto 254", OF(20000, SECOND),
	      .match = RF_MATCH_PROTOCOL, .protocol = 254),
	NAMED_LIMIT("words of match are names", "syn rate 20k/1s match tcp syn", "syn",
		    OF(20000, SECOND), .match = RF_MATCH_SYN),
	LIMIT("ban", "any rate 20k/1s ban 10m", OF(20000, SECOND), .ban_ns = 600 * SECOND),
	LIMIT("the shortest ban", "any rate 20k/1s ban 1s count rejected", OF(20000, SECOND),
	      .ban_ns = SECOND, .flags = RF_COUNT_REJECTED),
	LIMIT("ban all", "any rate 20k/1s ban 10m all", OF(20000, SECOND), .ban_ns = 600 * SECOND,
	      .flags = RF_BAN_ALL),
	LIMIT("ban all before another option", "any rate 20k/1s ban 10m all exact",
	      OF(20000, SECOND), .ban_ns = 600 * SECOND, .flags = RF_BAN_ALL | RF_EXACT),
	LIMIT("the longest ban", "any rate 20k/1s ban 8784h", OF(20000, SECOND),
	      .ban_ns = 8784 * HOUR),
	LIMIT("per /32", "any rate 20k/1s per /32", OF(20000, SECOND)),
	LIMIT("per6 /64", "any rate 20k/1s per6 /64", OF(20000, SECOND)),
	LIMIT("the fewest packets", "any rate 1/1s", OF(1, SECOND)),
	LIMIT("the most packets", "any rate 2147483648/1s", OF(2147483648, SECOND)),

	LIMIT("packets", "any rate 20k/1s packets", OF(20000, SECOND)),
	LIMIT("bytes", "any rate 20k/1s bytes", OF_BYTES(20000, SECOND)),
	LIMIT("bytes after other options", "any rate 10M/1s shadow bytes",
	      OF_BYTES(10000000, SECOND), .flags = RF_SHADOW),
	LIMIT("the fewest bytes", "any rate 1514/1s bytes", OF_BYTES(1514, SECOND)),
	LIMIT("the most bytes, with the largest burst", "any rate 137438953472/1s bytes",
	      OF(137438953472, SECOND), .unit = RF_BYTES, .algorithm = RF_TOKEN,
	      .burst = 2147483648),
	LIMIT("bits are bytes", "any rate 10mbit/1s", OF_BYTES(1250000, SECOND),
	      .flags = RF_RATE_IN_BITS),
	LIMIT("bits in bytes", "any rate 10mbit/1s bytes", OF_BYTES(1250000, SECOND),
	      .flags = RF_RATE_IN_BITS),
	LIMIT("bits of a second", "any rate 1gbit", OF_BYTES(125000000, SECOND),
	      .flags = RF_RATE_IN_BITS),
	LIMIT("bits of a minute", "any rate 80kbit/1m", OF_BYTES(10000, 60 * SECOND),
	      .flags = RF_RATE_IN_BITS),
	LIMIT("the fewest bits", "any rate 12.112kbit", OF_BYTES(1514, SECOND),
	      .flags = RF_RATE_IN_BITS),

	LIMIT("sliding", "any rate 20k/1s algorithm sliding", OF(20000, SECOND)),
	LIMIT("fixed", "any rate 20k/1s algorithm fixed", OF(20000, SECOND), .algorithm = RF_FIXED),
	LIMIT("fixed, bytes", "any rate 20k/1s algorithm fixed bytes", OF(20000, SECOND),
	      .algorithm = RF_FIXED, .unit = RF_BYTES),
	LIMIT("log", "any rate 5/1m algorithm log", OF(5, 60 * SECOND), .algorithm = RF_LOG),
	LIMIT("log, the fewest", "any rate 1/1ms algorithm log packets", OF(1, MS),
	      .algorithm = RF_LOG),
	LIMIT("log, the most", "any rate 16/8784h algorithm log", OF(16, 8784 * HOUR),
	      .algorithm = RF_LOG),
	LIMIT("two cells", "any rate 20k/1s cells 2", OF(20000, SECOND), .cells = 2),
	LIMIT("31 cells", "any rate 20k/1s cells 31", OF(20000, SECOND)),
	LIMIT("edge strict", "any rate 20k/1s edge strict", OF(20000, SECOND)),
	LIMIT("edge coarse", "any rate 20k/1s edge coarse cells 10", OF(20000, SECOND),
	      .edge = RF_EDGE_COARSE, .cells = 10),
	LIMIT("edge weighted", "any rate 20k/1s edge weighted", OF(20000, SECOND),
	      .edge = RF_EDGE_WEIGHTED),
	LIMIT("edge weighted, two cells", "any rate 20k/1s cells 2 edge weighted bytes",
	      OF(20000, SECOND), .edge = RF_EDGE_WEIGHTED, .cells = 2, .unit = RF_BYTES),

	LIMIT("token", "any rate 20k/1s algorithm token", OF(20000, SECOND), .algorithm = RF_TOKEN,
	      .burst = 20000),
	LIMIT("token, the fewest", "any rate 1/8784h algorithm token", OF(1, 8784 * HOUR),
	      .algorithm = RF_TOKEN, .burst = 1),
	LIMIT("token, the most", "any rate 2147483648/1ms algorithm token", OF(2147483648, MS),
	      .algorithm = RF_TOKEN, .burst = 2147483648),
	LIMIT("token, a burst", "any rate 20k/1s algorithm token burst 1.5k", OF(20000, SECOND),
	      .algorithm = RF_TOKEN, .burst = 1500),
	LIMIT("token, the burst before the algorithm", "any rate 20k/1s burst 50k algorithm token",
	      OF(20000, SECOND), .algorithm = RF_TOKEN, .burst = 50000),
	LIMIT("token, the least burst", "any rate 20k/1s algorithm token burst 1",
	      OF(20000, SECOND), .algorithm = RF_TOKEN, .burst = 1),
	LIMIT("token, the largest burst", "any rate 20k/1s algorithm token burst 2147483648",
	      OF(20000, SECOND), .algorithm = RF_TOKEN, .burst = 2147483648),
	LIMIT("token, as long to flow as may be", "any rate 2/1h algorithm token burst 17568",
	      OF(2, HOUR), .algorithm = RF_TOKEN, .burst = 17568),
	LIMIT("token, bytes", "any rate 10mbit algorithm token", OF(1250000, SECOND),
	      .algorithm = RF_TOKEN, .burst = 1250000, .unit = RF_BYTES, .flags = RF_RATE_IN_BITS),
	LIMIT("token, bytes, a burst in bits", "any rate 1M/1s bytes algorithm token burst 16kbit",
	      OF(1000000, SECOND), .algorithm = RF_TOKEN, .burst = 2000, .unit = RF_BYTES,
	      .flags = RF_BURST_IN_BITS),
	LIMIT("token, a burst in bits, bytes after other options",
	      "any rate 1M/1s algorithm token burst 16kbit bytes", OF(1000000, SECOND),
	      .algorithm = RF_TOKEN, .burst = 2000, .unit = RF_BYTES, .flags = RF_BURST_IN_BITS),
	LIMIT("token, the most bytes that are their own burst",
	      "any rate 2147483648/1s bytes algorithm token", OF(2147483648, SECOND),
	      .algorithm = RF_TOKEN, .burst = 2147483648, .unit = RF_BYTES),
	LIMIT("token, more bytes", "any rate 100gbit/10s algorithm token burst 1514",
	      OF(12500000000, 10 * SECOND), .algorithm = RF_TOKEN, .burst = 1514, .unit = RF_BYTES,
	      .flags = RF_RATE_IN_BITS),
	LIMIT("token, more bytes than a burst holds",
	      "any rate 2147483649/1s bytes algorithm token", OF(2147483649, SECOND),
	      .algorithm = RF_TOKEN, .burst = 2147483648, .unit = RF_BYTES),
	LIMIT("bytes, a burst", "any rate 10mbit burst 1M", OF(1250000, SECOND),
	      .algorithm = RF_TOKEN, .burst = 1000000, .unit = RF_BYTES, .flags = RF_RATE_IN_BITS),
	LIMIT("sliding, bytes", "any rate 20k/1s bytes algorithm sliding", OF(20000, SECOND),
	      .unit = RF_BYTES),
	LIMIT("cells say that bytes are sliding", "any rate 20k/1s cells 8 bytes",
	      OF(20000, SECOND), .unit = RF_BYTES, .cells = 8),
	LIMIT("an edge says that bytes are sliding", "any rate 20k/1s bytes edge strict",
	      OF(20000, SECOND), .unit = RF_BYTES),
	LIMIT("bytes of a fleet are sliding", "any rate 20k/1s fleet bytes", OF(20000, SECOND),
	      .unit = RF_BYTES, .flags = RF_FLEET),
	LIMIT("leaky", "any rate 20k/1s algorithm leaky", OF(20000, SECOND), .algorithm = RF_LEAKY,
	      .burst = 1),
	LIMIT("leaky, a burst", "any rate 20k/1s algorithm leaky burst 20k", OF(20000, SECOND),
	      .algorithm = RF_LEAKY, .burst = 20000),
	LIMIT("leaky, bytes", "any rate 20k/1s algorithm leaky burst 1514 bytes", OF(20000, SECOND),
	      .algorithm = RF_LEAKY, .burst = 1514, .unit = RF_BYTES),

	PORTS("one port", "53", {{53, 53}}),
	PORTS("blanks at commas", "53, 80 ,443 , 1-2", {{1, 2}, {53, 53}, {80, 80}, {443, 443}}),
	PORTS("the first port", "0", {{0, 0}}),
	PORTS("the last port", "65535", {{65535, 65535}}),
	PORTS("a range of ports", "8000-8100", {{8000, 8100}}),
	PORTS("a range of one port", "53-53", {{53, 53}}),
	PORTS("all ports", "0-65535", {{0, 65535}}),
	PORTS("a list of ports", "53,443,8000-8100", {{53, 53}, {443, 443}, {8000, 8100}}),
	PORTS("an unordered list of ports that overlaps", "100-200,63,64,1-199", {{1, 200}}),
	PORTS("zeros in front", "00000000000000000000053", {{53, 53}}),

	FROM("a network", "192.0.2.0/24", {"192.0.2.0/24"}),
	FROM("an address", "192.0.2.1", {"192.0.2.1"}),
	FROM("blanks at commas", "192.0.2.1, 2001:db8::1 ,192.0.2.3",
	     {"192.0.2.1", "2001:db8::1", "192.0.2.3"}),
	FROM("every source of one family", "0.0.0.0/0,::/0", {"0.0.0.0/0", "::/0"}),
	FROM("prefixes of both families", "2001:db8::/32,192.0.2.1,2001:db8::1",
	     {"2001:db8::/32", "192.0.2.1", "2001:db8::1"}),
	FROM("a file", "file /etc/ringfence/list", {}, "/etc/ringfence/list"),
	FROM("a file with a keyword for a name", "file 192.0.2.0/24", {}, "192.0.2.0/24"),
	FROM("a file called file", "file file", {}, "file"),

	cmocka_unit_test(options_of_a_window_come_in_any_order),
	cmocka_unit_test(options_of_a_bucket_come_in_any_order),

	WRITTEN("defaults are left out",
		"any rate 20000/1000ms packets algorithm sliding cells 31 edge strict",
		"any rate 20k/1s"),
	WRITTEN("a fleet", "any rate 20000/1s offline 5000/1s initial 2 fleet per /24",
		"any rate 20k/1s per /24 fleet initial 2 offline 5k/1s"),
	WRITTEN("a fleet in bits", "any rate 10mbit offline initial fleet initial 1000",
		"any rate 10mbit fleet initial 1k offline initial"),
	WRITTEN("a fleet in bytes", "any rate 1M/10s bytes offline 500k/10s fleet",
		"any rate 1M/10s bytes fleet offline 500k/10s"),
	WRITTEN("rate 0", "any rate 0 match tcp", "any rate 0 match tcp"),
	WRITTEN("rate 0 in any time", "any rate 0/10s shadow", "any rate 0 shadow"),
	WRITTEN("rate 0 of bits", "any rate 0mbit", "any rate 0"),
	WRITTEN("rate 0 of bits in a time", "any rate 0kbit/1m", "any rate 0"),
	WRITTEN("rate 0 of bytes", "any rate 0/1s bytes", "any rate 0 bytes"),
	WRITTEN("rate 0 of a bucket", "any rate 0 algorithm token burst 5 per /24",
		"any rate 0 algorithm token burst 5 per /24"),
	WRITTEN("rate 0 of a bucket with the default burst", "any rate 0 algorithm leaky",
		"any rate 0 algorithm leaky"),
	WRITTEN("rate 0 of a log", "any rate 0/1m algorithm log", "any rate 0 algorithm log"),
	WRITTEN("bits", "any rate 10mbit", "any rate 10mbit"),
	WRITTEN("bits with a time", "any rate 10Mbit/10s bytes", "any rate 10mbit/10s"),
	WRITTEN("1.5 mbit", "any rate 1500kbit/s", "any rate 1.5mbit"),
	WRITTEN("1.544 mbit", "any rate 1.544mbit", "any rate 1544kbit"),
	WRITTEN("a gbit", "any rate 1000mbit", "any rate 1gbit"),
	WRITTEN("the fewest bits", "any rate 12.112kbit", "any rate 12.112kbit"),
	WRITTEN("bytes", "any rate 1250k/1s bytes", "any rate 1250k/1s bytes"),
	WRITTEN("G", "any rate 2000M/1s bytes", "any rate 2G/1s bytes"),
	WRITTEN("fixed", "any rate 1k/1s algorithm fixed", "any rate 1k/1s algorithm fixed"),
	WRITTEN("log", "any rate 5/1m algorithm log shadow", "any rate 5/1m algorithm log shadow"),
	WRITTEN("cells and edge of sliding", "any rate 1k/1s edge weighted cells 2",
		"any rate 1k/1s cells 2 edge weighted"),
	WRITTEN("token", "any rate 1k/1s algorithm token burst 1000",
		"any rate 1k/1s algorithm token"),
	WRITTEN("token, a burst of 1", "any rate 1k/1s algorithm token burst 1",
		"any rate 1k/1s algorithm token burst 1"),
	WRITTEN("leaky", "any rate 1k/1s burst 1 algorithm leaky",
		"any rate 1k/1s algorithm leaky"),
	WRITTEN("leaky, a burst of COUNT", "any rate 1k/1s algorithm leaky burst 1k",
		"any rate 1k/1s algorithm leaky burst 1k"),
	WRITTEN("every option of a window",
		"any rate 1M/1s exact count rejected shadow edge coarse bytes cells 9",
		"any rate 1M/1s bytes algorithm sliding cells 9 edge coarse shadow count rejected "
		"exact"),
	WRITTEN("every option of a bucket",
		"any rate 1mbit count rejected shadow burst 16kbit algorithm leaky",
		"any rate 1mbit algorithm leaky burst 16kbit shadow count rejected"),
	WRITTEN("a burst in bytes of a rate in bits", "any rate 1mbit algorithm token burst 2k",
		"any rate 1mbit burst 2k"),
	WRITTEN("a burst in bits of a rate in bytes",
		"any rate 1M/1s bytes algorithm token burst 16kbit",
		"any rate 1M/1s bytes burst 16kbit"),
	WRITTEN("the default burst, in bits", "any rate 1mbit algorithm token burst 1mbit",
		"any rate 1mbit"),
	WRITTEN("a window of bytes", "any rate 1mbit algorithm sliding cells 31",
		"any rate 1mbit algorithm sliding"),
	WRITTEN("the largest burst as the default", "any rate 3G/1s bytes burst 2147483648",
		"any rate 3G/1s bytes"),
	WRITTEN("a token bucket of packets", "any rate 1k/1s algorithm token",
		"any rate 1k/1s algorithm token"),
	WRITTEN("match, ports and from", "any rate 1k/1s shadow match tcp syn",
		"any rate 1k/1s match tcp syn shadow"),
	WRITTEN("match any", "any rate 1k/1s match any per /32 per6 /64", "any rate 1k/1s"),
	WRITTEN("match tcp", "any rate 1k/1s match tcp", "any rate 1k/1s match tcp"),
	WRITTEN("match udp", "any rate 1k/1s match udp", "any rate 1k/1s match udp"),
	WRITTEN("match other", "any rate 1k/1s shadow match other",
		"any rate 1k/1s match other shadow"),
	WRITTEN("match icmp", "any rate 1k/1s match icmp", "any rate 1k/1s match icmp"),
	WRITTEN("match proto", "any rate 1k/1s match proto 0", "any rate 1k/1s match proto 0"),
	WRITTEN("per and per6", "any rate 1k/1s per6 /48 per /0", "any rate 1k/1s per /0 per6 /48"),
	WRITTEN("ban", "any rate 1k/1s ban 600s exact", "any rate 1k/1s exact ban 10m"),
	WRITTEN("ban all", "any rate 1k/1s ban 600s all exact", "any rate 1k/1s exact ban 10m all"),
	WRITTEN("the longest limit", LONGEST, LONGEST),
	WRITTEN("the longest window", LONGEST_WINDOW, LONGEST_WINDOW),
};

int main(void)
{
	return cmocka_run_group_tests_name("grammar, limits", tests, NULL, NULL);
}
