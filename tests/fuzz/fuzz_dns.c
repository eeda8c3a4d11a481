// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzzer of truncated DNS responses: the input is the query. It has a separate allocation of its
 * exact size, which lets AddressSanitizer detect any access behind it. The result is compared with
 * a second, simpler walk over the same bytes.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ringfence/dns.h"

#include "tests/fuzz/require.h"

#define HEADER 12
#define OPT 11
#define LABELS_MAX 127

static unsigned int get16(const uint8_t *bytes)
{
	return bytes[0] << 8 | bytes[1];
}

/* The offset after the question of a query that must get a response; else 0. */
static size_t question_end(const uint8_t *bytes, size_t length)
{
	size_t at = HEADER;

	if (length < HEADER || length > RF_DNS_QUERY_MAX || bytes[2] & 0xf8 ||
	    get16(bytes + 4) != 1 || get16(bytes + 6) || get16(bytes + 8) || get16(bytes + 10) > 1)
		return 0;
	for (int labels = 0; at < length && bytes[at]; labels++) {
		if (bytes[at] > 63 || labels == LABELS_MAX)
			return 0;
		at += 1 + bytes[at];
	}
	at += 1 + 4;
	if (at > length)
		return 0;
	if (!bytes[11])
		return at == length ? at : 0;
	if (at + OPT > length || bytes[at] || get16(bytes + at + 1) != 41)
		return 0;
	return at + OPT + get16(bytes + at + 9) == length ? at : 0;
}

static void check_response(const uint8_t *query, size_t end, const uint8_t *response, size_t length)
{
	const bool has_opt = query[11];

	REQUIRE(length == end + (has_opt ? OPT : 0));
	REQUIRE(get16(response) == get16(query));
	REQUIRE(response[2] == (0x82 | (query[2] & 1))); /* QR, TC, RD as in the query */
	REQUIRE(response[3] == (query[3] & 0x10));	 /* no error, CD as in the query */
	REQUIRE(memcmp(response + 4, query + 4, end - 4) == 0);
	if (!has_opt)
		return;
	REQUIRE(response[end] == 0 && get16(response + end + 1) == 41);
	REQUIRE(get16(response + end + 3) == 1232);
	REQUIRE(get16(response + end + 5) == 0); /* extended RCODE and version */
	REQUIRE(get16(response + end + 7) == get16(query + end + 7));
	REQUIRE(get16(response + end + 9) == 0); /* no options, and thus no cookie */
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	const size_t end = question_end(bytes, length);
	uint8_t *message = malloc(length ? length : 1);
	__u32 left;

	REQUIRE(message);
	if (length) /* an empty input can be a null pointer */
		memcpy(message, bytes, length);
	left = rf_dns_truncate(message, length);
	REQUIRE(left <= length);
	REQUIRE(!left == !end);
	if (left) {
		check_response(bytes, end, message, left);
		/* Two hosts do not respond to each other's responses. */
		REQUIRE(!rf_dns_truncate(message, left));
	} else {
		REQUIRE(!length || memcmp(message, bytes, length) == 0);
	}
	free(message);
	return 0;
}
