// SPDX-License-Identifier: GPL-2.0
/*
 * Words that must not follow `limit add`, in rows of a line and the whole sentence that refuses it.
 */
#include "line.h"

#include <stdio.h>

/* ---- sentences ---- */

#define RATE_MISSING "'any': the rate is missing; write any rate COUNT/TIME"
#define NAME_MISSING "the limit's name is missing before it; write NAME rate COUNT/TIME"
#define UNKNOWN "unknown word in a limit; see 'ringfence help limit add'"
#define NOT_OTHER(word)                                                                      \
	"'" word "': 'match other' does not take it, since packets that are not IP have no " \
	"source and no port; leave out one of them"
#define MATCHES "'match' expects any, tcp, tcp syn, udp, icmp, proto N or other"
#define PORT_FORM "invalid port; write it like 53, 53,443 or 8000-8100"
#define PORT_RANGE "invalid port: it must be 0-65535"
#define SHADOW_BAN \
	"'ban': a shadow limit drops nothing, so it bans nobody; leave out 'ban' or 'shadow'"
#define CELLS_RANGE "invalid number of cells: it must be 2-31"
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
	"' does not take it; only sliding has cells and an edge"
#define ONLY_BUCKETS(algorithm) \
	"'burst': 'algorithm " algorithm "' does not take it; only token and leaky have a burst"
#define LEAKY_BYTES                                                                          \
	"'algorithm leaky': in bytes the burst must hold a frame of 1514 bytes; add 'burst " \
	"COUNT'"
#define TOO_SLOW(rate)                                                                        \
	"invalid burst: at the rate '" rate "' the burst takes longer than 8784h; lower the " \
	"burst, or raise the rate"

/* ---- refusals ---- */

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
	UNIT_ROW_OF("refuses a limit: " title, refuse_limit, (&(struct refusal_row){__VA_ARGS__}))

/* An option may not repeat: neither at once, nor after another option, nor with another value. */
static void an_option_given_twice_is_refused(void **state)
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
			snprintf(text, sizeof(text), "any rate 20k/1s %s%s%s%s%s", option[0],
				 option[1], between[j], option[0], option[2]);
			snprintf(sentence, sizeof(sentence), "'%s': given twice", option[0]);
			refuse_limit(&row_state);
		}
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(an_option_given_twice_is_refused),

	REFUSED_LIMIT("syn alone", "any rate 20k/1s match syn", "'syn': " MATCHES),
	REFUSED_LIMIT("a match in capitals", "any rate 20k/1s match TCP", "'TCP': " MATCHES),
	REFUSED_LIMIT("udp syn", "any rate 20k/1s match udp syn", "'syn': " UNKNOWN),
	REFUSED_LIMIT("tcp ack", "any rate 20k/1s match tcp ack", "'ack': " UNKNOWN),
	REFUSED_LIMIT("no number after proto", "any rate 20k/1s match proto",
		      "'proto': expects a number"),
	REFUSED_LIMIT("protocol 255", "any rate 20k/1s match proto 255",
		      "'255': invalid protocol: it is reserved; it must be 0-254"),
	REFUSED_LIMIT("protocol 256", "any rate 20k/1s match proto 256",
		      "'256': invalid protocol: it must be 0-254"),
	REFUSED_LIMIT("a protocol by name", "any rate 20k/1s match proto gre",
		      "'gre': invalid protocol: it must be 0-254"),

	REFUSED_LIMIT("no port", "any rate 20k/1s dport",
		      "'dport': expects a port, like 53 or 8000-8100"),
	REFUSED_LIMIT("a port by name", "any rate 20k/1s dport domain", "'domain': " PORT_FORM),
	REFUSED_LIMIT("an empty port", "any rate 20k/1s dport 53,,80", "'': " PORT_FORM),
	REFUSED_LIMIT("no port behind a comma", "any rate 20k/1s dport 53,", "'': " PORT_FORM),
	REFUSED_LIMIT("no port before a comma", "any rate 20k/1s dport ,53", "'': " PORT_FORM),
	REFUSED_LIMIT("half a range", "any rate 20k/1s dport 1,53-,80", "'53-': " PORT_FORM),
	REFUSED_LIMIT("the other half of a range", "any rate 20k/1s dport -53",
		      "'-53': " PORT_FORM),
	REFUSED_LIMIT("a range of three", "any rate 20k/1s dport 1-2-3", "'1-2-3': " PORT_FORM),
	REFUSED_LIMIT("port 65536", "any rate 20k/1s dport 65536", "'65536': " PORT_RANGE),
	REFUSED_LIMIT("a range to port 65536", "any rate 20k/1s dport 1,2-65536",
		      "'2-65536': " PORT_RANGE),
	REFUSED_LIMIT("port 2^64 + 53", "any rate 20k/1s dport 18446744073709551669",
		      "'18446744073709551669': " PORT_RANGE),
	REFUSED_LIMIT("a range that ends before it begins", "any rate 20k/1s dport 53,90-80",
		      "'90-80': invalid range of ports: it ends before it begins; write 80-90"),
	REFUSED_LIMIT("ports with match other", "any rate 20k/1s dport 53 match other",
		      NOT_OTHER("dport")),
	REFUSED_LIMIT("from with match other", "any rate 20k/1s match other from ::/0",
		      NOT_OTHER("from")),
	REFUSED_LIMIT("per with match other", "any rate 20k/1s match other per /32",
		      NOT_OTHER("per")),
	REFUSED_LIMIT("per6 with match other", "any rate 20k/1s per6 /64 match other",
		      NOT_OTHER("per6")),
	REFUSED_LIMIT("a ban with match other", "any rate 20k/1s match other ban 10s",
		      NOT_OTHER("ban")),
	REFUSED_LIMIT("ports of icmp", "any rate 20k/1s dport 53 match icmp",
		      "'dport': 'match icmp' does not take it, since ICMP has no ports; leave out "
		      "one of them"),
	REFUSED_LIMIT("ports of GRE", "any rate 20k/1s match proto 47 dport 53",
		      "'dport': 'match proto 47' does not take it; only any, tcp, tcp syn, udp, "
		      "proto 6 and proto 17 have ports"),

	REFUSED_LIMIT("no prefix", "any rate 20k/1s from",
		      "'from': expects a prefix, like 192.0.2.0/24"),
	REFUSED_LIMIT("no file", "any rate 20k/1s from file", "'file': expects a file"),
	REFUSED_LIMIT("a bad prefix among good ones",
		      "any rate 20k/1s from 192.0.2.0/24,198.51.100.0/33,::/0",
		      "'198.51.100.0/33': invalid prefix: its length must be 0-32"),

	REFUSED_LIMIT("no time to ban", "any rate 20k/1s ban", "'ban': expects a time, like 10m"),
	REFUSED_LIMIT("ban all without a time", "any rate 20k/1s ban all",
		      "'all': invalid time; write it like 500ms, 10s, 5m or 1h"),
	REFUSED_LIMIT("all without a ban", "any rate 20k/1s all", "'all': " UNKNOWN),
	REFUSED_LIMIT("all before its ban", "any rate 20k/1s all ban 1h", "'all': " UNKNOWN),
	REFUSED_LIMIT("all twice", "any rate 20k/1s ban 1h all all", "'all': " UNKNOWN),
	REFUSED_LIMIT("a shadow that bans all", "any rate 20k/1s shadow ban 10m all", SHADOW_BAN),
	REFUSED_LIMIT("a short ban", "any rate 20k/1s ban 999ms",
		      "'999ms': invalid ban: the time must be 1s-8784h"),
	REFUSED_LIMIT("a long ban", "any rate 20k/1s ban 8785h",
		      "'8785h': invalid ban: the time must be 1s-8784h"),
	REFUSED_LIMIT("a ban for good", "any rate 20k/1s ban forever",
		      "'forever': invalid " TIME_FORM),
	REFUSED_LIMIT("a shadow that bans", "any rate 20k/1s shadow ban 10m", SHADOW_BAN),
	REFUSED_LIMIT("a ban that is a shadow", "any rate 20k/1s ban 10m packets shadow",
		      SHADOW_BAN),
	REFUSED_LIMIT("an unknown algorithm", "any rate 20k/1s algorithm gcra",
		      "'gcra': 'algorithm' expects sliding, fixed, log, token or leaky"),
	REFUSED_LIMIT("an algorithm in capitals", "any rate 20k/1s algorithm Token",
		      "'Token': not a word for 'algorithm'; did you mean 'token'?"),
	REFUSED_LIMIT("an unknown edge", "any rate 20k/1s edge soft",
		      "'soft': 'edge' expects strict, coarse or weighted"),
	REFUSED_LIMIT("one cell", "any rate 20k/1s cells 1", "'1': " CELLS_RANGE),
	REFUSED_LIMIT("32 cells", "any rate 20k/1s cells 32", "'32': " CELLS_RANGE),
	REFUSED_LIMIT("per without its slash", "any rate 20k/1s per 32",
		      "'32': invalid prefix length; write it with a slash, like per /24"),
	REFUSED_LIMIT("per6 without its slash", "any rate 20k/1s per6 48",
		      "'48': invalid prefix length; write it with a slash, like per6 /48"),
	REFUSED_LIMIT("per /33", "any rate 20k/1s per /33",
		      "'/33': invalid prefix length: it must be /0-/32"),
	REFUSED_LIMIT("per6 /129", "any rate 20k/1s per6 /129",
		      "'/129': invalid prefix length: it must be /0-/128"),
	REFUSED_LIMIT("per of nothing", "any rate 20k/1s per /",
		      "'/': invalid prefix length: it must be /0-/32"),
	REFUSED_LIMIT("no word after algorithm", "any rate 20k/1s algorithm",
		      "'algorithm': expects sliding, fixed, log, token or leaky"),
	REFUSED_LIMIT("no word after edge", "any rate 20k/1s edge",
		      "'edge': expects strict, coarse or weighted"),
	REFUSED_LIMIT("no word after cells", "any rate 20k/1s cells", "'cells': expects a number"),
	REFUSED_LIMIT("no word after burst", "any rate 20k/1s algorithm token burst",
		      "'burst': expects a count, like 100 or 20k"),
	REFUSED_LIMIT("no word after count", "any rate 20k/1s count", "'count': expects rejected"),
	REFUSED_LIMIT("another word after count", "any rate 20k/1s count accepted",
		      "'accepted': 'count' expects rejected"),
	REFUSED_LIMIT("rejected alone", "any rate 20k/1s rejected",
		      "'rejected': 'count' is missing before it; write count rejected"),
	REFUSED_LIMIT("no word after match", "any rate 20k/1s match",
		      "'match': expects any, tcp, tcp syn, udp, icmp, proto N or other"),
	REFUSED_LIMIT("no word after per", "any rate 20k/1s per",
		      "'per': expects a prefix length, like /24"),
	REFUSED_LIMIT("no word after per6", "any rate 20k/1s shadow per6",
		      "'per6': expects a prefix length, like /24"),
	REFUSED_LIMIT("nothing", "", "the limit's name is missing; write NAME rate COUNT/TIME"),
	REFUSED_LIMIT("no rate", "any", RATE_MISSING),
	REFUSED_LIMIT("an option before the rate", "any shadow rate 20k/1s",
		      "'shadow': the rate comes before it; write any rate 20k/1s shadow …"),
	REFUSED_LIMIT("a match before the rate", "m match udp rate 5/s",
		      "'match': the rate comes before it; write m rate 5/s match …"),
	REFUSED_LIMIT("no word before the rate", "any 5/s",
		      "'5/s': 'rate' is missing before it; write rate 5/s"),
	REFUSED_LIMIT("an equals sign", "any rate=5/s",
		      "'rate=5/s': two words, without '='; write rate 5/s"),
	REFUSED_LIMIT("an equals sign in an option", "any rate 5/s dport=53",
		      "'dport=53': two words, without '='; write dport 53"),
	REFUSED_LIMIT("an equals sign behind a word without value", "any rate 5/s shadow=no",
		      "'shadow=no': " UNKNOWN),
	REFUSED_LIMIT("a value without its word", "any rate 5/s udp",
		      "'udp': 'match' is missing before it; write match udp"),
	REFUSED_LIMIT("a list with blanks", "any rate 5/s dport 80 443",
		      "'443': a list is written with commas; write dport 80,443"),
	REFUSED_LIMIT("prefixes with blanks", "any rate 5/s from 192.0.2.1 192.0.2.2 shadow",
		      "'192.0.2.2': a list is written with commas; write from 192.0.2.1,192.0.2.2"),
	REFUSED_LIMIT("a word of another tool", "any rate 5/s saddr 192.0.2.1",
		      "'saddr': unknown word; did you mean 'from'?"),
	REFUSED_LIMIT("a rate for a name", "5/s match udp",
		      "'5/s': the limit's name is missing before it; write NAME rate 5/s"),
	REFUSED_LIMIT("nothing after rate", "any rate", "'rate': expects a rate, like 20k/1s"),
	REFUSED_LIMIT("a bad rate", "any rate fast", "'fast': " WRITE_RATE),
	REFUSED_LIMIT("rate 0 of packets that are not IP", "arp rate 0 match other",
		      "'match other': rate 0 would drop ARP and cut the machine off; write a rate "
		      "like 100/1s"),
	REFUSED_LIMIT("rate 0 with a ban", "trap rate 0 dport 23 ban 1h all",
		      "'ban': rate 0 drops all packets and bans nobody; leave out 'ban', or write "
		      "a rate like 1/1h"),
	REFUSED_LIMIT("rate 0 of a fleet", "any rate 0 fleet",
		      "'fleet': rate 0 passes nothing that hosts could share; leave out 'fleet'"),
	REFUSED_LIMIT("too many packets", "any rate 2147483649/1s",
		      "'2147483649/1s': " COUNT_RANGE),
	REFUSED_LIMIT("packets of 32 bits and 1", "any rate 4294967297/1s",
		      "'4294967297/1s': " COUNT_RANGE),
	REFUSED_LIMIT("no bits at all", "any rate 20k", "'20k': " WRITE_RATE),

	REFUSED_LIMIT("fewer bytes than a frame", "any rate 1513/1s bytes",
		      "'1513/1s': " BYTES_RANGE),
	REFUSED_LIMIT("fewer bytes than a frame, 'bytes' after other options",
		      "any rate 100/1s shadow bytes", "'100/1s': " BYTES_RANGE),
	REFUSED_LIMIT("fewer bits than a frame", "any rate 12.104kbit",
		      "'12.104kbit': " BYTES_RANGE),
	REFUSED_LIMIT("too many bytes", "any rate 137438953473/1s bytes",
		      "'137438953473/1s': " BYTES_RANGE),
	REFUSED_LIMIT("too many bits", "any rate 2000gbit", "'2000gbit': " BYTES_RANGE),
	REFUSED_LIMIT("bits of packets", "any rate 10mbit packets", "'10mbit': " BITS_OF_PACKETS),
	REFUSED_LIMIT("bits of packets, with a time", "any rate 10mbit/1s shadow packets",
		      "'10mbit/1s': " BITS_OF_PACKETS),
	REFUSED_LIMIT("bytes after packets", "any rate 20k/1s packets bytes", ONE_UNIT("bytes")),
	REFUSED_LIMIT("packets after bytes", "any rate 20k/1s bytes shadow packets",
		      ONE_UNIT("packets")),

	REFUSED_LIMIT("log of 17", "any rate 17/1m algorithm log", "'17/1m': " LOG_RANGE),
	REFUSED_LIMIT("log of 2^32 + 1", "any rate 4294967297/1m algorithm log",
		      "'4294967297/1m': " LOG_RANGE),
	REFUSED_LIMIT("log of bytes", "any rate 20k/1m bytes algorithm log", LOG_BYTES),
	REFUSED_LIMIT("log of few bytes", "any rate 16/1m algorithm log bytes", LOG_BYTES),
	REFUSED_LIMIT("log of bits", "any rate 10mbit algorithm log", LOG_BYTES),

	REFUSED_LIMIT("fixed with cells", "any rate 20k/1s cells 4 algorithm fixed",
		      ONLY_SLIDING("cells", "fixed")),
	REFUSED_LIMIT("fixed with an edge", "any rate 20k/1s algorithm fixed edge coarse",
		      ONLY_SLIDING("edge", "fixed")),
	REFUSED_LIMIT("fixed with the edge of sliding",
		      "any rate 20k/1s algorithm fixed edge strict", ONLY_SLIDING("edge", "fixed")),
	REFUSED_LIMIT("log with cells", "any rate 5/1s algorithm log cells 16",
		      ONLY_SLIDING("cells", "log")),
	REFUSED_LIMIT("token with cells and an edge",
		      "any rate 20k/1s algorithm token edge weighted cells 2",
		      ONLY_SLIDING("cells", "token")),
	REFUSED_LIMIT("leaky with an edge", "any rate 20k/1s algorithm leaky edge weighted",
		      ONLY_SLIDING("edge", "leaky")),
	REFUSED_LIMIT("burst without an algorithm", "any rate 20k/1s burst 10",
		      ONLY_BUCKETS("sliding")),
	REFUSED_LIMIT("sliding with burst", "any rate 20k/1s burst 10 algorithm sliding",
		      ONLY_BUCKETS("sliding")),
	REFUSED_LIMIT("fixed with burst", "any rate 20k/1s algorithm fixed burst 10",
		      ONLY_BUCKETS("fixed")),
	REFUSED_LIMIT("log with burst", "any rate 5/1s algorithm log burst 5", ONLY_BUCKETS("log")),

	REFUSED_LIMIT("a burst of 0", "any rate 20k/1s algorithm token burst 0",
		      "'0': " BURST_RANGE),
	REFUSED_LIMIT("too large a burst", "any rate 20k/1s algorithm leaky burst 2147483649",
		      "'2147483649': " BURST_RANGE),
	REFUSED_LIMIT("a burst of 2^64",
		      "any rate 20k/1s algorithm leaky burst 18446744073709551616",
		      "'18446744073709551616': " BURST_FORM),
	REFUSED_LIMIT("a burst that is no count", "any rate 20k/1s algorithm token burst big",
		      "'big': " BURST_FORM),
	REFUSED_LIMIT("a burst that is a rate", "any rate 20k/1s algorithm token burst 20k/1s",
		      "'20k/1s': " BURST_FORM),
	REFUSED_LIMIT("a burst in no whole bytes",
		      "any rate 20k/1s bytes algorithm token burst 0.001kbit",
		      "'0.001kbit': " BURST_FORM),
	REFUSED_LIMIT("a burst smaller than a frame",
		      "any rate 20k/1s burst 1513 algorithm token bytes",
		      "'1513': " BURST_BYTES_RANGE),
	REFUSED_LIMIT("a burst of bits smaller than a frame",
		      "any rate 10mbit algorithm leaky burst 8kbit", "'8kbit': " BURST_BYTES_RANGE),
	REFUSED_LIMIT("too large a burst of bytes",
		      "any rate 10mbit algorithm token burst 2147483649",
		      "'2147483649': " BURST_BYTES_RANGE),
	REFUSED_LIMIT("a burst of bits for packets", "any rate 20k/1s algorithm token burst 16kbit",
		      "'16kbit': " BURST_BITS_OF_PACKETS),
	REFUSED_LIMIT("a burst of bits for packets, 'packets' after other options",
		      "any rate 20k/1s algorithm token burst 16kbit packets",
		      "'16kbit': " BURST_BITS_OF_PACKETS),
	REFUSED_LIMIT("leaky of bytes without burst", "any rate 20k/1s bytes algorithm leaky",
		      LEAKY_BYTES),
	REFUSED_LIMIT("leaky of bits without burst", "any rate 10mbit algorithm leaky",
		      LEAKY_BYTES),
	REFUSED_LIMIT("a burst of bytes that are a window",
		      "any rate 10mbit algorithm sliding burst 1M", ONLY_BUCKETS("sliding")),
	REFUSED_LIMIT("a burst of bytes with cells", "any rate 10mbit cells 8 burst 1M",
		      ONLY_BUCKETS("sliding")),
	REFUSED_LIMIT("a burst of bytes of a fleet", "any rate 10mbit burst 1M fleet",
		      ONLY_BUCKETS("sliding")),
	REFUSED_LIMIT("a burst that flows for longer than a year",
		      "any rate 2/1h algorithm token burst 17569", "'17569': " TOO_SLOW("2/1h")),
	REFUSED_LIMIT("a burst that flows for an age",
		      "any rate 1/8784h burst 2147483648 algorithm leaky",
		      "'2147483648': " TOO_SLOW("1/8784h")),

	REFUSED_LIMIT("a bad name", "1st rate 20k/1s",
		      "'1st': invalid name of a limit: " NAME_RULE),
	REFUSED_LIMIT("a keyword for a name", "rate 20k/1s", "'rate': " NAME_MISSING),
	REFUSED_LIMIT("a keyword before an option", "shadow match udp", "'shadow': " NAME_MISSING),
	REFUSED_LIMIT("a keyword of another command", "for 10m",
		      "'for': invalid name of a limit: " KEYWORD_ALONE),
	REFUSED_LIMIT("the word for every limit", "all rate 1/1s",
		      "'all': invalid name of a limit: it means every limit; choose another name, "
		      "such as 'any'"),
	REFUSED_LIMIT("the name dev", "dev rate 1/1s",
		      "'dev': invalid name of a limit: " IS_KEYWORD),
	REFUSED_LIMIT("the name confirm", "confirm rate 1/1s",
		      "'confirm': invalid name of a limit: " IS_KEYWORD),
	REFUSED_LIMIT("an unknown word", "any rate 20k/1s gently", "'gently': " UNKNOWN),
	REFUSED_LIMIT("first without fleet", "any rate 100/1s first 2",
		      "'first': only a limit of the fleet takes it; add 'fleet', or leave it out"),
	REFUSED_LIMIT("alone without fleet", "any rate 100/1s alone first",
		      "'alone': only a limit of the fleet takes it; add 'fleet', or leave it out"),
	REFUSED_LIMIT("first over the rate", "any rate 100/1s fleet first 101",
		      "'101': invalid 'first': it must be 0-100, a part of the rate"),
	REFUSED_LIMIT("first in bits of packets", "any rate 100k/1s fleet first 1kbit",
		      "'1kbit': invalid 'first': the limit is in packets; write it like 100 or "
		      "20k"),
	REFUSED_LIMIT("no number as first", "any rate 100/1s fleet first few",
		      "'few': invalid 'first'; write it like 100, 20k, 1.5M or 10mbit, in whole "
		      "packets or bytes"),
	REFUSED_LIMIT("alone of another time", "any rate 100/1s fleet alone 100/10s",
		      "'100/10s': invalid 'alone': its TIME must be that of the rate, as in "
		      "100/1s"),
	REFUSED_LIMIT("alone over the rate", "any rate 100/1s fleet alone 101/1s",
		      "'101/1s': invalid 'alone': the count must be 1-100; for what passes "
		      "unasked, write 'alone first'"),
	REFUSED_LIMIT("alone of nothing", "any rate 100/1s fleet alone 0/1s",
		      "'0/1s': invalid 'alone': the count must be 1-100; for what passes unasked, "
		      "write 'alone first'"),
	REFUSED_LIMIT("alone below first", "any rate 100/1s fleet first 50 alone 20/1s",
		      "'20/1s': invalid 'alone': it is less than 'first 50'; write 'alone first'"),
	REFUSED_LIMIT("alone in bits of packets", "any rate 100/1s fleet alone 1kbit/1s",
		      "'1kbit/1s': invalid 'alone': the limit is in packets; write it like "
		      "100/1s"),
	REFUSED_LIMIT("a second rate", "any rate 20k/1s rate 1/1s", "'rate': given twice"),
	REFUSED_LIMIT("an abbreviation", "any rate 20k/1s shad",
		      "'shad': unknown word; did you mean 'shadow'?"),
	REFUSED_LIMIT("a capital", "any rate 20k/1s Shadow",
		      "'Shadow': unknown word; did you mean 'shadow'?"),
};

int main(void)
{
	return cmocka_run_group_tests_name("grammar, refused limits", tests, NULL, NULL);
}
