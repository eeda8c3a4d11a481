// SPDX-License-Identifier: GPL-2.0
/* Parses what tells which packets a limit matches: ports, lengths, TCP flags. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "rules/attribute.h"
#include "rules/private.h"

#define TCP 6
#define UDP 17

/* ---- ports ---- */

/* The port at `*text`, which moves past it; -1 if there is none. */
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
		return rf_error_usage(error,
				      "'%.*s': invalid range of ports: it ends before it begins; "
				      "write %ld-%ld",
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
		return rf_error_usage(error,
				      "'%s': invalid range of lengths: it ends before it begins; "
				      "write %ld-%ld",
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
		return rf_error_usage(
			error,
			"'%s': invalid flags: no flag is asked for; write NONE/ALL for "
			"packets without any flag",
			value);
	if (flags & ~mask)
		return rf_error_usage(error,
				      "'%s': invalid flags: those before the slash must also stand "
				      "behind it, or no packet would match",
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
				"'%s': 'match other' does not take it, since packets that are not "
				"IP have no source and no port; leave out one of them",
				rf_limit_options[i].word);
	return 0;
}

/* `what` is 'dport' or 'sport'. */
static int check_ports(const struct rf_limit *limit, const char *what, struct rf_error *error)
{
	if (match_has_ports(limit))
		return 0;
	if (limit->match == RF_MATCH_ICMP)
		return rf_error_usage(
			error,
			"'%s': 'match icmp' does not take it, since ICMP has no ports; "
			"leave out one of them",
			what);
	return rf_error_usage(
		error,
		"'%s': 'match proto %d' does not take it; only any, tcp, tcp syn, udp, "
		"proto 6 and proto 17 have ports",
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
		return rf_error_usage(
			error,
			"'flags': 'match %s' does not take it, since only TCP has these "
			"flags; write 'match tcp' or leave out 'flags'",
			match);
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
					    "nobody; leave out 'ban' or 'shadow'");
	return err;
}
