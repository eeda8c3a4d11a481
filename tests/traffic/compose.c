/* SPDX-License-Identifier: GPL-2.0 */
/*
 * `compose`: a frame of any headers, one behind the other, as listed by PART, sent N times:
 *
 *   q | ad                            a tag of 802.1Q, of 802.1ad
 *   ip4=SOURCE[,ihl=N][,frag=FIELD]   FIELD: flags and offset, as in the header
 *   ip6=SOURCE[,hops=N]
 *   hop | route | dest | auth         extension headers; AH behind IPv4 as well
 *   frag=FIELD                        for IPv6
 *   tcp=PORT[,flags=N] | udp=PORT | icmp=TYPE | icmp6=TYPE | gre
 *   type=N | proto=N                  an unknown ethertype or protocol
 *   zeros=N | trim=N                  add N bytes; cut N bytes off the end
 *   short=N | pad=N                   N bytes less, with matching lengths; padded to N
 *
 * Each header is named by the one before it, if that has such a field. Lengths are right, unless
 * the frame is cut, and do not count padding; checksums are 0.
 */
#include <arpa/inet.h>
#include <netinet/ether.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traffic.h"

#define IP_MOST 4
#define ETHERTYPE_NONE 0
#define PROTOCOL_NONE 255

struct draft {
	struct frame frame;
	size_t link_at; /* of the field that names what comes next; 0: nothing does */
	size_t link_bytes;
	size_t ip_at[IP_MOST];
	size_t ip_n;
};

/* A kind of header, with its name and its plain form. */
struct kind {
	const char *name;
	uint16_t ethertype;
	uint8_t protocol;
	size_t bytes;
	size_t next_at, next_bytes; /* of the field that names the next; 0 bytes: no such field */
	void (*set)(struct draft *draft, uint8_t *header, char *values);
};

static uint8_t *grow(struct draft *draft, size_t bytes)
{
	uint8_t *at = draft->frame.bytes + draft->frame.used;

	if (bytes > FRAME_BYTES_MOST - draft->frame.used)
		die(2, "frame: too long: at most %d bytes", FRAME_BYTES_MOST);
	memset(at, 0, bytes);
	draft->frame.used += bytes;
	return at;
}

static void cut(struct draft *draft, size_t bytes)
{
	if (bytes > draft->frame.used)
		die(2, "part: cannot cut %zu bytes: the frame has %zu", bytes, draft->frame.used);
	draft->frame.used -= bytes;
}

static void put16(uint8_t *at, uint16_t value)
{
	at[0] = value >> 8;
	at[1] = value;
}

static void link_to(struct draft *draft, uint16_t ethertype, uint8_t protocol)
{
	uint8_t *at = draft->frame.bytes + draft->link_at;

	if (draft->link_bytes == 2)
		put16(at, ethertype);
	else if (draft->link_bytes == 1)
		*at = protocol;
}

static unsigned long number(const char *text)
{
	char *end;
	unsigned long value = text ? strtoul(text, &end, 0) : 0;

	if (!text || !*text || *end || value > UINT16_MAX)
		die(2, "part '%s': invalid number: must be 0-65535", text ? text : "");
	return value;
}

/* The value of `key` among "key=value,…", or the default if the key is missing. */
static unsigned long value_of(char *values, const char *key, unsigned long otherwise)
{
	for (char *pair; (pair = strsep(&values, ","));) {
		const char *name = strsep(&pair, "=");

		if (strcmp(name, key) != 0)
			die(2, "part: '%s': unknown key: '%s' was expected", name, key);
		return number(pair);
	}
	return otherwise;
}

static void note_ip(struct draft *draft, const uint8_t *header)
{
	if (draft->ip_n == IP_MOST)
		die(2, "frame: too many IP headers: at most %d", IP_MOST);
	draft->ip_at[draft->ip_n++] = header - draft->frame.bytes;
}

static void set_address(uint8_t *at, char **values, int family)
{
	const char *text = strsep(values, ",");

	if (!text || inet_pton(family, text, at) != 1)
		die(2, "part: '%s': invalid address", text ? text : "");
}

static void set_ip4(struct draft *draft, uint8_t *header, char *values)
{
	unsigned long ihl = 5;

	note_ip(draft, header);
	set_address(header + 12, &values, AF_INET);
	inet_pton(AF_INET, "198.51.100.1", header + 16);
	header[8] = 64;
	if (values && !strncmp(values, "frag=", 5))
		put16(header + 6, value_of(values, "frag", 0));
	else
		ihl = value_of(values, "ihl", 5);
	header[0] = 0x40 | (ihl & 15);
	grow(draft, ihl > 5 ? (ihl - 5) * 4 : 0);
}

static void set_ip6(struct draft *draft, uint8_t *header, char *values)
{
	note_ip(draft, header);
	header[0] = 0x60;
	set_address(header + 8, &values, AF_INET6);
	inet_pton(AF_INET6, "2001:db8:ffff::1", header + 24);
	header[7] = value_of(values, "hops", 64);
}

/* 16 bytes, as IPv6 wants a multiple of 8: its unit is 4 bytes, and 8 are not counted. */
static void set_auth(struct draft *draft, uint8_t *header, char *values)
{
	(void)draft;
	(void)values;
	header[1] = 2;
}

static void set_fragment(struct draft *draft, uint8_t *header, char *values)
{
	(void)draft;
	put16(header + 2, number(values));
}

static void set_ports(struct draft *draft, uint8_t *header, char *values)
{
	(void)draft;
	put16(header, 4242);
	put16(header + 2, number(strsep(&values, ",")));
	if (draft->frame.used - (header - draft->frame.bytes) < 20) {
		put16(header + 4, 8);
		return;
	}
	header[12] = 5 << 4;
	header[13] = value_of(values, "flags", 0x10);
}

static void set_type(struct draft *draft, uint8_t *header, char *values)
{
	(void)draft;
	*header = number(values);
}

static const struct kind kinds[] = {
	{"q", 0x8100, PROTOCOL_NONE, 4, 2, 2, NULL},
	{"ad", 0x88a8, PROTOCOL_NONE, 4, 2, 2, NULL},
	{"ip4", 0x0800, 4, 20, 9, 1, set_ip4},
	{"ip6", 0x86dd, 41, 40, 6, 1, set_ip6},
	{"hop", ETHERTYPE_NONE, 0, 8, 0, 1, NULL},
	{"route", ETHERTYPE_NONE, 43, 8, 0, 1, NULL},
	{"frag", ETHERTYPE_NONE, 44, 8, 0, 1, set_fragment},
	{"auth", ETHERTYPE_NONE, 51, 16, 0, 1, set_auth},
	{"dest", ETHERTYPE_NONE, 60, 8, 0, 1, NULL},
	{"tcp", ETHERTYPE_NONE, 6, 20, 0, 0, set_ports},
	{"udp", ETHERTYPE_NONE, 17, 8, 0, 0, set_ports},
	{"icmp", ETHERTYPE_NONE, 1, 8, 0, 0, set_type},
	{"icmp6", ETHERTYPE_NONE, 58, 8, 0, 0, set_type},
	{"gre", ETHERTYPE_NONE, 47, 4, 2, 2, NULL},
};

static void append_kind(struct draft *draft, const struct kind *kind, char *values)
{
	size_t at = draft->frame.used;
	uint8_t *header;

	link_to(draft, kind->ethertype, kind->protocol);
	header = grow(draft, kind->bytes);
	if (kind->set)
		kind->set(draft, header, values);
	draft->link_at = at + kind->next_at;
	draft->link_bytes = kind->next_bytes;
}

static void append(struct draft *draft, char *text)
{
	const char *name = strsep(&text, "=");

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(name, kinds[i].name)) {
			append_kind(draft, &kinds[i], text);
			return;
		}
	if (!strcmp(name, "type"))
		link_to(draft, number(text), PROTOCOL_NONE);
	else if (!strcmp(name, "proto"))
		link_to(draft, ETHERTYPE_NONE, number(text));
	else if (!strcmp(name, "zeros"))
		grow(draft, number(text));
	else if (!strcmp(name, "short"))
		cut(draft, number(text));
	else
		die(2, "part '%s': unknown word: no such header", name);
}

static void set_lengths(struct draft *draft)
{
	for (size_t i = 0; i < draft->ip_n; i++) {
		uint8_t *header = draft->frame.bytes + draft->ip_at[i];
		size_t bytes = draft->frame.used - draft->ip_at[i];

		if (header[0] >> 4 == 4)
			put16(header + 2, bytes);
		else
			put16(header + 4, bytes - 40);
	}
}

/*
 * Runs after the lengths are set: they count bytes that are cut off, and not bytes that are added.
 */
static void trim_and_pad(struct draft *draft, char **parts)
{
	for (; *parts; parts++) {
		size_t least = strncmp(*parts, "pad=", 4) ? 0 : number(*parts + 4);

		if (!strncmp(*parts, "trim=", 5))
			cut(draft, number(*parts + 5));
		if (least > draft->frame.used)
			grow(draft, least - draft->frame.used);
	}
}

static void compose(struct draft *draft, const struct ether_addr *to, char **parts)
{
	static const uint8_t from[ETH_ALEN] = {2, 0, 0, 0, 0, 1};

	memcpy(grow(draft, ETH_ALEN), to, ETH_ALEN);
	memcpy(grow(draft, ETH_ALEN), from, ETH_ALEN);
	grow(draft, 2);
	draft->link_at = 2 * ETH_ALEN;
	draft->link_bytes = 2;
	for (char **part = parts; *part; part++)
		if (strncmp(*part, "trim=", 5) != 0 && strncmp(*part, "pad=", 4) != 0)
			append(draft, *part);
	set_lengths(draft);
	trim_and_pad(draft, parts);
}

/* "sent PACKETS BYTES" */
int command_compose(char **words)
{
	static struct draft draft;
	const struct ether_addr *to;
	uint64_t count;
	int fd;

	for (int i = 0; i < 6; i++)
		if (!words[i])
			die_of_usage();
	if (strcmp(words[0], "dev") || strcmp(words[2], "to") || strcmp(words[4], "count"))
		die_of_usage();
	to = ether_aton(words[3]);
	if (!to)
		die(2, "to '%s': invalid MAC: must be 00:11:22:33:44:55", words[3]);
	count = parse_number("count", words[5], 1, UINT32_MAX);
	compose(&draft, to, words + 6);
	fd = socket_open(words[1], 0);
	for (uint64_t i = 0; i < count; i++)
		if (send(fd, draft.frame.bytes, draft.frame.used, 0) < 0)
			die(1, "%s: cannot send %zu bytes: %m", words[1], draft.frame.used);
	printf("sent %ju %ju\n", (uintmax_t)count, (uintmax_t)(count * draft.frame.used));
	return 0;
}
