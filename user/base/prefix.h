/* SPDX-License-Identifier: GPL-2.0 */
/* Address prefixes: text to values and back, and lists of them. Pure. */
#ifndef RINGFENCE_PREFIX_H
#define RINGFENCE_PREFIX_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define RF_PREFIX_TEXT_SIZE 64

struct rf_address {
	int version;	/* 4 or 6 */
	__be32 word[4]; /* IPv4: the first, the others 0 */
};

struct rf_prefix {
	int version;	     /* 4 or 6 */
	unsigned int length; /* 0-32 or 0-128 */
	__be32 word[4];	     /* IPv4: the first, the others 0; no bit is set after the length */
};

struct rf_prefixes {
	struct rf_prefix *prefix;
	size_t count;
	size_t capacity;
	size_t cleared; /* of them, read from a text with bits after the length: 192.0.2.5/24 */
	size_t mapped;	/* of them, read from a text of IPv4-mapped addresses */
};

/* Of whole addresses: 32 or 128. */
unsigned int rf_prefix_length_max(int version);
struct rf_prefix rf_prefix_of_address(const struct rf_address *address);
/* An IPv4 or IPv6 address without a prefix length. An IPv4-mapped address is the IPv4 address. */
int rf_parse_address(const char *text, struct rf_address *address, struct rf_error *error);
/*
 * ADDRESS or ADDRESS/LENGTH; without a length the whole address. A bit that is set after the length
 * is an error, which suggests the prefix that was probably meant. ::ffff:192.0.2.0/120 is the IPv4
 * prefix 192.0.2.0/24.
 */
int rf_parse_prefix(const char *text, struct rf_prefix *prefix, struct rf_error *error);
/* Is that text of an IPv4-mapped address, where `prefix` was parsed from it? */
bool rf_prefix_was_mapped(const char *text, const struct rf_prefix *prefix);
/* PREFIX[,PREFIX…]: adds them to `prefixes`; on failure adds nothing. */
int rf_parse_prefixes(const char *text, struct rf_prefixes *prefixes, struct rf_error *error);
/* The length is omitted for a whole address. */
void rf_format_prefix(const struct rf_prefix *prefix, char text[RF_PREFIX_TEXT_SIZE]);

/* IPv4 first, then by address, then by length: a prefix follows the prefixes that contain it. */
int rf_prefix_compare(const struct rf_prefix *a, const struct rf_prefix *b);
/* The bits of an address's word, 0-3, that a prefix of that length covers. */
__be32 rf_prefix_mask(unsigned int length, unsigned int word);
/* Does `inner` lie in `outer`, or is it the same? */
bool rf_prefix_contains(const struct rf_prefix *outer, const struct rf_prefix *inner);

int rf_prefixes_add(struct rf_prefixes *prefixes, const struct rf_prefix *prefix,
		    struct rf_error *error);
/* As rf_parse_prefix(), but bits after the length are cleared. */
int rf_prefixes_add_network(struct rf_prefixes *prefixes, const char *text, struct rf_error *error);
/* From one address to another of the same version; on failure adds nothing. -EINVAL: no range. */
int rf_prefixes_add_range(struct rf_prefixes *prefixes, const struct rf_address *from,
			  const struct rf_address *to, struct rf_error *error);
void rf_prefixes_free(struct rf_prefixes *prefixes);

/* ---- HOST:PORT ---- */

/* HOST:PORT, as people write it and as servers name each other. Pure. */

struct rf_host_port {
	const char *host; /* in the text, without brackets; can be empty */
	size_t length;
	bool in_brackets; /* as an address with colons is */
	const char *port; /* what comes after the last colon */
};

/* False: the text has no colon. The caller validates host and port. */
bool rf_host_port_split(const char *text, struct rf_host_port *parts);
/* False: the host does not fit. */
bool rf_host_port_copy(const struct rf_host_port *parts, char *host, size_t size);
/* A port from 1, without a sign, a blank or a leading zero. 0: invalid. */
uint16_t rf_port_of(const char *text);

#endif /* RINGFENCE_PREFIX_H */
