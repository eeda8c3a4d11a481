// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzzer of the packet parser: the input is the frame. The frame is at the very end of a separate
 * allocation, which lets AddressSanitizer detect any read behind it, and starts 2 bytes off a
 * multiple of 4, as in the kernel. The result is compared with a second, simpler walk over the same
 * bytes: the result must agree, and the source must be a copy of the right bytes. Padding must
 * change nothing: the frame is parsed again with bytes behind its IP packet that would matter if
 * the parser read them.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ringfence/packet.h"

#include "tests/fuzz/require.h"

#define OLD_BYTES 96 /* behind a copy, together with bytes of longer frames before */

/* The expected result; if `maybe_neighbour`, RF_PARSED_NEIGHBOUR can replace RF_PARSED_SOURCE. */
struct expected {
	enum rf_parsed parsed;
	bool maybe_neighbour;
	size_t version;
	size_t source_at;
	size_t source_len;
};

static unsigned int get16(const uint8_t *bytes)
{
	return bytes[0] << 8 | bytes[1];
}

static struct expected expect_ipv4(const uint8_t *bytes, size_t length, size_t at)
{
	if (length < at + 20 || bytes[at] >> 4 != 4 || (bytes[at] & 15) < 5)
		return (struct expected){.parsed = RF_PARSED_MALFORMED};
	return (struct expected){
		.parsed = RF_PARSED_SOURCE, .version = 4, .source_at = at + 12, .source_len = 4};
}

static struct expected expect_ipv6(const uint8_t *bytes, size_t length, size_t at)
{
	if (length < at + 40 || bytes[at] >> 4 != 6)
		return (struct expected){.parsed = RF_PARSED_MALFORMED};
	return (struct expected){.parsed = RF_PARSED_SOURCE,
				 .maybe_neighbour = bytes[at + 7] == 255,
				 .version = 6,
				 .source_at = at + 8,
				 .source_len = 16};
}

static struct expected expect(const uint8_t *bytes, size_t length)
{
	size_t at = 14;
	unsigned int type;

	if (length < at)
		return (struct expected){.parsed = RF_PARSED_MALFORMED};
	type = get16(bytes + 12);
	for (int tags = 0; type == 0x8100 || type == 0x88a8; tags++, at += 4) {
		if (tags == 8)
			return (struct expected){.parsed = RF_PARSED_DEEP_VLAN};
		if (length < at + 4)
			return (struct expected){.parsed = RF_PARSED_MALFORMED};
		type = get16(bytes + at + 2);
	}
	if (type == 0x0800)
		return expect_ipv4(bytes, length, at);
	if (type == 0x86dd)
		return expect_ipv6(bytes, length, at);
	return (struct expected){.parsed = RF_PARSED_NON_IP};
}

/* Is the port two bytes from behind the fixed IP header? */
static bool has_port(const uint8_t *bytes, size_t length, size_t at, unsigned int dport)
{
	for (; at + 2 <= length; at++)
		if (get16(bytes + at) == dport)
			return true;
	return false;
}

static void check_class(const struct rf_packet *packet, const uint8_t *bytes, size_t length,
			size_t behind_ip)
{
	REQUIRE(!(packet->flags &
		  ~(RF_HAS_DPORT | RF_SYN | RF_UDP_PORT | RF_CLASS_UNKNOWN | RF_TCP_CUT)));
	REQUIRE(!(packet->flags & RF_UDP_PORT) ==
		!(packet->protocol == IPPROTO_UDP && packet->flags & RF_HAS_DPORT));
	REQUIRE(!(packet->flags & RF_TCP_CUT) || packet->flags & RF_SYN);
	if (packet->flags & RF_CLASS_UNKNOWN)
		REQUIRE(packet->flags == RF_CLASS_UNKNOWN);
	if (packet->flags & RF_SYN)
		REQUIRE(packet->protocol == IPPROTO_TCP && packet->flags & RF_HAS_DPORT);
	if (!(packet->flags & RF_HAS_DPORT)) {
		REQUIRE(packet->dport == 0);
		return;
	}
	REQUIRE(packet->protocol == IPPROTO_TCP || packet->protocol == IPPROTO_UDP);
	REQUIRE(has_port(bytes, length, behind_ip, packet->dport));
}

/* The shape is read at the places where the parser found the headers. */
static void check_shape(const struct rf_packet *packet, const uint8_t *bytes, size_t length)
{
	const struct expected expected = expect(bytes, length);
	const void *end = bytes + length;
	const size_t at = packet->transport;
	struct rf_headers headers;
	__u64 dest[2];

	REQUIRE(rf_packet_headers(bytes, end, packet, packet->version, &headers));
	REQUIRE(packet->network == expected.source_at - (expected.version == 4 ? 12 : 8));
	if (packet->version == 4) {
		const uint32_t dest4 = rf_headers_dest4(&headers);

		REQUIRE(memcmp(&dest4, bytes + expected.source_at + 4, sizeof(dest4)) == 0);
	} else {
		rf_headers_dest6(&headers, dest);
		for (int i = 0; i < 16; i++)
			REQUIRE((dest[i / 8] >> i % 8 * 8 & 0xff) ==
				bytes[expected.source_at + 16 + i]);
	}
	if (!(packet->flags & RF_HAS_DPORT))
		return;
	REQUIRE(at >= packet->network + 20U && at + 4 <= length);
	REQUIRE(get16(bytes + at + 2) == packet->dport);
	REQUIRE(rf_headers_sport(&headers) == get16(bytes + at));
	if (packet->protocol == IPPROTO_TCP)
		REQUIRE(rf_headers_tcp_flags(&headers, end, packet) ==
			(packet->flags & RF_TCP_CUT ? RF_TCP_FLAGS_CUT : bytes[at + 13]));
}

static void check(const struct rf_packet *packet, enum rf_parsed parsed, const uint8_t *bytes,
		  size_t length)
{
	const struct expected expected = expect(bytes, length);
	uint8_t source[16] = {0};

	if (parsed == RF_PARSED_NEIGHBOUR) {
		REQUIRE(expected.maybe_neighbour);
		return;
	}
	REQUIRE(parsed == expected.parsed);
	if (parsed != RF_PARSED_SOURCE)
		return;
	memcpy(source, bytes + expected.source_at, expected.source_len);
	REQUIRE(packet->version == expected.version);
	REQUIRE(memcmp(packet->source, source, sizeof(source)) == 0);
	check_class(packet, bytes, length, expected.source_at + expected.source_len);
}

/* The end of the IP packet by its own length field; 0 without a packet or such a field. */
static size_t packet_end(const uint8_t *bytes, const struct expected *expected)
{
	size_t at, length;

	if (expected->parsed != RF_PARSED_SOURCE)
		return 0;
	at = expected->source_at - (expected->version == 4 ? 12 : 8);
	length = get16(bytes + at + (expected->version == 4 ? 2 : 4));
	if (expected->version == 4)
		return length < 20 ? 0 : at + length;
	return length ? at + 40 + length : 0;
}

/* A frame that is called plain must get the same result from the parser. */
static void check_plain(const void *bytes, const void *end, enum rf_parsed parsed,
			const struct rf_packet *packet)
{
	struct rf_packet plain;

	if (!rf_packet_is_plain4(bytes, end, &plain) && !rf_packet_is_plain6(bytes, end, &plain))
		return;
	REQUIRE(parsed == RF_PARSED_SOURCE);
	REQUIRE(plain.version == packet->version);
	REQUIRE(memcmp(plain.source, packet->source, sizeof(plain.source)) == 0);
	REQUIRE(plain.protocol == packet->protocol);
	REQUIRE(plain.flags == packet->flags);
	REQUIRE(plain.dport == packet->dport);
	REQUIRE(plain.network == packet->network);
	REQUIRE(plain.transport == packet->transport);
}

/* The frame at the end of a separate allocation, with `padding` bytes of `filler` behind it. */
static enum rf_parsed parse(const uint8_t *bytes, size_t length, size_t padding, uint8_t filler,
			    struct rf_packet *packet)
{
	const size_t whole = length + padding;
	uint8_t *block = malloc(2 + whole);
	enum rf_parsed parsed;

	REQUIRE(block);
	if (length) /* an empty input can be a null pointer */
		memcpy(block + 2, bytes, length);
	memset(block + 2 + length, filler, padding);
	memset(packet, 0xa5, sizeof(*packet));
	parsed = rf_packet_parse(block + 2, block + 2 + whole, packet);
	check_plain(block + 2, block + 2 + whole, parsed, packet);
	if (parsed == RF_PARSED_SOURCE)
		check_shape(packet, block + 2, whole);
	REQUIRE(!length || memcmp(block + 2, bytes, length) == 0);
	free(block);
	return parsed;
}

/*
 * The first `length` bytes in memory of the size that the program has for a copy, with old bytes
 * behind: the same result, and where the rest would change it, the parser wants to see it.
 */
static void check_copied(const uint8_t *bytes, size_t length, size_t whole_length)
{
	static const uint8_t old_bytes[] = {0, IPPROTO_TCP, IPPROTO_DSTOPTS, 135, 0xff};
	static uint8_t block[2 + RF_HEADERS_MAX + OLD_BYTES];
	struct rf_packet packet, copied;
	enum rf_parsed parsed = parse(bytes, length, 0, 0, &packet);

	if (length)
		memcpy(block + 2, bytes, length);
	for (size_t i = 0; i < sizeof(old_bytes); i++) {
		memset(block + 2 + length, old_bytes[i], OLD_BYTES);
		REQUIRE(rf_packet_parse(block + 2, block + 2 + length, &copied) == parsed);
		REQUIRE(parsed != RF_PARSED_SOURCE || !memcmp(&packet, &copied, sizeof(packet)));
	}
	if (rf_packet_reaches(parsed, &packet, length))
		return;
	REQUIRE(parse(bytes, whole_length, 0, 0, &copied) == parsed);
	REQUIRE(parsed != RF_PARSED_SOURCE || !memcmp(&packet, &copied, sizeof(packet)));
}

static void check_padded(const uint8_t *bytes, size_t length)
{
	static const uint8_t fillers[] = {0, IPPROTO_TCP, IPPROTO_DSTOPTS, 135, 0xff};
	const struct expected expected = expect(bytes, length);
	const size_t end = packet_end(bytes, &expected);
	struct rf_packet packet, padded;
	enum rf_parsed parsed;

	if (!end || length < end)
		return;
	parsed = parse(bytes, end, 0, 0, &packet);
	for (size_t i = 0; i < sizeof(fillers); i++) {
		REQUIRE(parse(bytes, end, 64, fillers[i], &padded) == parsed);
		REQUIRE(memcmp(&packet, &padded, sizeof(packet)) == 0);
	}
	REQUIRE(parse(bytes, length, 0, 0, &padded) == parsed);
	REQUIRE(memcmp(&packet, &padded, sizeof(packet)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct rf_packet packet;
	enum rf_parsed parsed = parse(bytes, length, 0, 0, &packet);

	check(&packet, parsed, bytes, length);
	check_padded(bytes, length);
	/* Cut at a place that the input chooses, among others. */
	if (length && length <= RF_HEADERS_MAX) {
		check_copied(bytes, length, length);
		check_copied(bytes, bytes[0] % (length + 1), length);
		check_copied(bytes, length / 2, length);
	}
	return 0;
}
