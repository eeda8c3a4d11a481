// SPDX-License-Identifier: GPL-2.0
/*
 * Lines of lists of addresses, as their providers publish them, in rows of a line and the prefixes
 * that are expected. The addresses are examples; the formats are not.
 */
#include "refusal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "rules/file.h"

struct row {
	const char *line;
	const char *written; /* the prefixes, each followed by a blank; NULL: refused */
	const char *refusal;
	size_t cleared, mapped;
};

static void read_line(void **state)
{
	const struct row *row = *state;
	struct rf_prefixes prefixes = {};
	struct rf_error error = {};
	char written[512] = "", text[RF_PREFIX_TEXT_SIZE];
	char *line = strdup(row->line);
	int err;

	assert_non_null(line);
	err = rf_list_line_parse(line, &prefixes, &error);
	for (size_t i = 0; i < prefixes.count; i++) {
		rf_format_prefix(&prefixes.prefix[i], text);
		strcat(strcat(written, text), " ");
	}
	if (row->written) {
		assert_accepted(err, &error);
		assert_string_equal(written, row->written);
	} else {
		assert_int_equal(err, -EINVAL);
		assert_string_equal(error.text, row->refusal);
		assert_string_equal(written, "");
	}
	assert_int_equal(prefixes.cleared, row->cleared);
	assert_int_equal(prefixes.mapped, row->mapped);
	rf_prefixes_free(&prefixes);
	free(line);
}

#define READS(title, text, prefixes, ...)      \
	UNIT_ROW_OF("reads " title, read_line, \
		    (&(struct row){.line = text, .written = prefixes, __VA_ARGS__}))
#define REFUSES(title, text, reason) \
	UNIT_ROW_OF("refuses " title, read_line, (&(struct row){.line = text, .refusal = reason}))

static const struct CMUnitTest tests[] = {
	READS("nothing", "", ""),
	READS("blanks", " \t\r", ""),
	READS("a comment", "# all of it", ""),
	READS("an address (blocklist.de, CINS, GreenSnow, Tor)", "192.0.2.7", "192.0.2.7 "),
	READS("IPv6 (blocklist.de)", "2001:db8::7", "2001:db8::7 "),
	READS("a line that ends as on Windows (abuse.ch)", "192.0.2.7\r", "192.0.2.7 "),
	READS("a prefix (FireHOL, Team Cymru)", "192.0.2.0/24", "192.0.2.0/24 "),
	READS("a comment behind a prefix", "192.0.2.0/24 # why", "192.0.2.0/24 "),
	READS("a comment without a blank (AlienVault)", "192.0.2.7#4#2#Scanning Host#US##",
	      "192.0.2.7 "),
	READS("a header with ';' (Spamhaus)", "; Spamhaus DROP List 2026/01/02", ""),
	READS("a comment with ';' (Spamhaus)", "192.0.2.0/24 ; SBL000001", "192.0.2.0/24 "),
	READS("a JSON object (Spamhaus)",
	      "{\"cidr\":\"192.0.2.0/24\",\"sblid\":\"SBL000001\",\"rir\":\"arin\"}",
	      "192.0.2.0/24 "),
	READS("what such a list says of itself",
	      "{\"type\":\"metadata\",\"timestamp\":1767312000,\"size\":1}", ""),
	READS("an object with an address", "{\"ip\": \"2001:db8::7\"}", "2001:db8::7 "),
	READS("a count after a tab (ipsum)", "192.0.2.7\t12", "192.0.2.7 "),
	READS("columns after tabs (BruteForceBlocker)",
	      "192.0.2.7\t\t# 2026-01-02 03:04:05\t\t3\t1", "192.0.2.7 "),
	READS("a range with its length (DShield)",
	      "192.0.2.0\t192.0.2.255\t24\t2671\tEXAMPLE\tUS\ta@b.example", "192.0.2.0/24 "),
	READS("columns after commas", "192.0.2.7,22,2026-01-02", "192.0.2.7 "),
	READS("columns in quotes (StopForumSpam)", "\"192.0.2.7\",\"12\",\"2026-01-02 03:04:05\"",
	      "192.0.2.7 "),
	READS("columns with bars", "192.0.2.7 | EXAMPLE | 2026-01-02", "192.0.2.7 "),
	READS("a range", "192.0.2.0-192.0.2.255", "192.0.2.0/24 "),
	READS("a range with blanks", "192.0.2.1 - 192.0.2.2", "192.0.2.1 192.0.2.2 "),
	READS("bits after the length", "192.0.2.5/24", "192.0.2.0/24 ", .cleared = 1),
	READS("a mapped address", "::ffff:192.0.2.7", "192.0.2.7 ", .mapped = 1),

	REFUSES("a heading of columns", "ip,port,first_seen",
		"'ip': invalid prefix; write it like 192.0.2.0/24 or 2001:db8::/32"),
	REFUSES("an address in another column (Feodo Tracker)",
		"\"2026-01-02 03:04:05\",\"192.0.2.7\",\"443\"",
		"'2026-01-02 03:04:05': no address; '192.0.2.7' is one, but only the "
		"first column is read"),
	REFUSES("an address behind a word (Tor)", "ExitAddress 192.0.2.7 2026-01-02",
		"'ExitAddress': no address; '192.0.2.7' is one, but only the first column is read"),
	REFUSES("an address in the third column (DataPlane)",
		"64496  |  EXAMPLE, US  |  192.0.2.7  |  2026-01-02 03:04:05  |  sshclient",
		"'64496': no address; '192.0.2.7' is one, but only the first column is read"),
	REFUSES("two addresses", "192.0.2.1 192.0.2.9",
		"'192.0.2.1' and '192.0.2.9': two addresses in a line; a range is written "
		"as 192.0.2.1-192.0.2.9"),
	REFUSES("an entry for a time", "192.0.2.7 for 5m",
		"'for': entries in a file do not expire; 'ringfence batch' takes lines such as "
		"'deny add 192.0.2.7 for 1h'"),
	REFUSES("a range with another length", "192.0.2.0\t192.0.2.255\t25",
		"'192.0.2.0' and '192.0.2.255': two addresses in a line; a range is "
		"written as 192.0.2.0-192.0.2.255"),
	REFUSES("a range to a lower address", "192.0.2.2-192.0.2.1",
		"a range does not go from a lower address to a higher one"),
	REFUSES("a name", "example.com",
		"'example.com': invalid prefix; write it like "
		"192.0.2.0/24 or 2001:db8::/32"),
	REFUSES("a length that is none", "192.0.2.0/33",
		"'192.0.2.0/33': invalid prefix: its length must be 0-32"),
	REFUSES("another object", "{\"asn\": 64496}", "no JSON object with \"cidr\" or \"ip\""),
	REFUSES("no object", "{", "no JSON object with \"cidr\" or \"ip\""),
};

int main(void)
{
	return cmocka_run_group_tests_name("lines of lists", tests, NULL, NULL);
}
