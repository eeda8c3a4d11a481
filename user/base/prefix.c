// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/prefix.h"

#define TEXT_MAX 64 /* longer than any prefix */

unsigned int rf_prefix_length_max(int version)
{
	return version == 4 ? 32 : 128;
}

struct rf_prefix rf_prefix_of_address(const struct rf_address *address)
{
	struct rf_prefix prefix = {
		.version = address->version,
		.length = rf_prefix_length_max(address->version),
	};

	memcpy(prefix.word, address->word, sizeof(prefix.word));
	return prefix;
}

__be32 rf_prefix_mask(unsigned int length, unsigned int word)
{
	unsigned int bits = length < 32 * word ? 0 : length - 32 * word;

	if (!bits)
		return 0;
	return htonl(~0U << (bits < 32 ? 32 - bits : 0));
}

static bool parse_address(const char *text, struct rf_address *address)
{
	*address = (struct rf_address){.version = 4};
	if (inet_pton(AF_INET, text, address->word) == 1)
		return true;
	address->version = 6;
	return inet_pton(AF_INET6, text, address->word) == 1;
}

/* ::ffff:0:0/96: how programs with IPv6 sockets write IPv4 addresses. No packet has them. */
static bool is_mapped(const __be32 word[4])
{
	return !word[0] && !word[1] && word[2] == htonl(0xffff);
}

int rf_parse_address(const char *text, struct rf_address *address, struct rf_error *error)
{
	struct rf_address parsed;

	if (!parse_address(text, &parsed))
		return rf_error_usage(error,
				      "'%s': invalid address; write it like 192.0.2.1 or "
				      "2001:db8::1",
				      text);
	if (parsed.version == 6 && is_mapped(parsed.word))
		parsed = (struct rf_address){.version = 4, .word = {parsed.word[3]}};
	*address = parsed;
	return 0;
}

/* Parses up to three digits, without a leading zero. */
static bool parse_length(const char *text, unsigned int *length)
{
	size_t digits = strspn(text, "0123456789");

	if (!digits || digits > 3 || text[digits] || (digits > 1 && *text == '0'))
		return false;
	*length = strtoul(text, NULL, 10);
	return true;
}

/* Clears the bits after the length. Returns whether one was set. */
static bool clear_behind_length(struct rf_prefix *prefix)
{
	bool cleared = false;

	for (unsigned int i = 0; i < 4; i++) {
		__be32 mask = rf_prefix_mask(prefix->length, i);

		cleared |= prefix->word[i] & ~mask;
		prefix->word[i] &= mask;
	}
	return cleared;
}

static int fail_prefix(const char *text, size_t size, struct rf_error *error)
{
	return rf_error_usage(error,
			      "'%.*s': invalid prefix; write it like 192.0.2.0/24 or 2001:db8::/32",
			      (int)size, text);
}

static int fail_host_bits(const char *text, const struct rf_prefix *written,
			  const struct rf_prefix *cleared, struct rf_error *error)
{
	struct rf_prefix whole = *written;
	char prefix[RF_PREFIX_TEXT_SIZE], address[RF_PREFIX_TEXT_SIZE];

	whole.length = rf_prefix_length_max(whole.version);
	rf_format_prefix(cleared, prefix);
	rf_format_prefix(&whole, address);
	return rf_error_usage(error, "'%s': bits behind the length are set; write %s or %s", text,
			      prefix, address);
}

/*
 * A prefix of mapped addresses becomes the IPv4 prefix. The complete range ::ffff:0:0/96 is listed
 * among addresses that no packet should have: it does not become all of IPv4.
 */
static void unmap(struct rf_prefix *prefix)
{
	if (prefix->version == 6 && prefix->length > 96 && is_mapped(prefix->word))
		*prefix = (struct rf_prefix){
			.version = 4, .length = prefix->length - 96, .word = {prefix->word[3]}};
}

/* Parses the `size` characters at `text`. `cleared`: NULL, or whether bits after the length were.
 */
static int parse_prefix(const char *text, size_t size, struct rf_prefix *prefix, bool *cleared,
			struct rf_error *error)
{
	bool was_set;
	struct rf_prefix parsed, written;
	struct rf_address host;
	char whole[TEXT_MAX], address[TEXT_MAX];
	char *slash;

	if (size >= sizeof(whole))
		return fail_prefix(text, size, error);
	memcpy(whole, text, size);
	whole[size] = '\0';
	strcpy(address, whole);
	slash = strchr(address, '/');
	if (slash)
		*slash = '\0';
	if (!parse_address(address, &host))
		return fail_prefix(text, size, error);
	parsed = (struct rf_prefix){.version = host.version,
				    .length = rf_prefix_length_max(host.version)};
	memcpy(parsed.word, host.word, sizeof(parsed.word));
	if (slash && (!parse_length(slash + 1, &parsed.length) ||
		      parsed.length > rf_prefix_length_max(parsed.version)))
		return rf_error_usage(error, "'%s': invalid prefix: its length must be 0-%u", whole,
				      rf_prefix_length_max(parsed.version));
	written = parsed;
	was_set = clear_behind_length(&parsed);
	if (was_set && !cleared)
		return fail_host_bits(whole, &written, &parsed, error);
	if (cleared)
		*cleared = was_set;
	unmap(&parsed);
	*prefix = parsed;
	return 0;
}

int rf_parse_prefix(const char *text, struct rf_prefix *prefix, struct rf_error *error)
{
	return parse_prefix(text, strlen(text), prefix, NULL, error);
}

bool rf_prefix_was_mapped(const char *text, const struct rf_prefix *prefix)
{
	return prefix->version == 4 && strchr(text, ':');
}

static int add_text(struct rf_prefixes *prefixes, const char *text, size_t size, bool *cleared,
		    struct rf_error *error)
{
	struct rf_prefix prefix;
	int err = parse_prefix(text, size, &prefix, cleared, error);

	if (!err)
		err = rf_prefixes_add(prefixes, &prefix, error);
	if (!err)
		prefixes->mapped += prefix.version == 4 && memchr(text, ':', size);
	return err;
}

int rf_prefixes_add_network(struct rf_prefixes *prefixes, const char *text, struct rf_error *error)
{
	bool cleared = false;
	int err = add_text(prefixes, text, strlen(text), &cleared, error);

	if (!err)
		prefixes->cleared += cleared;
	return err;
}

int rf_parse_prefixes(const char *text, struct rf_prefixes *prefixes, struct rf_error *error)
{
	const struct rf_prefixes before = *prefixes;
	int err;

	for (;; text++) {
		size_t size = strcspn(text, ",");

		err = add_text(prefixes, text, size, NULL, error);
		if (err)
			break;
		text += size;
		if (!*text)
			return 0;
	}
	prefixes->count = before.count;
	prefixes->mapped = before.mapped;
	return err;
}

void rf_format_prefix(const struct rf_prefix *prefix, char text[RF_PREFIX_TEXT_SIZE])
{
	size_t end;

	inet_ntop(prefix->version == 4 ? AF_INET : AF_INET6, prefix->word, text,
		  RF_PREFIX_TEXT_SIZE);
	end = strlen(text);
	if (prefix->length < rf_prefix_length_max(prefix->version))
		snprintf(text + end, RF_PREFIX_TEXT_SIZE - end, "/%u", prefix->length);
}

/* Half of an address, as a number. */
static uint64_t half(const struct rf_prefix *prefix, unsigned int at)
{
	return (uint64_t)ntohl(prefix->word[2 * at]) << 32 | ntohl(prefix->word[2 * at + 1]);
}

int rf_prefix_compare(const struct rf_prefix *a, const struct rf_prefix *b)
{
	if (a->version != b->version)
		return a->version < b->version ? -1 : 1;
	for (unsigned int at = 0; at < 2; at++)
		if (half(a, at) != half(b, at))
			return half(a, at) < half(b, at) ? -1 : 1;
	return (a->length > b->length) - (a->length < b->length);
}

bool rf_prefix_contains(const struct rf_prefix *outer, const struct rf_prefix *inner)
{
	if (outer->version != inner->version || outer->length > inner->length)
		return false;
	for (unsigned int i = 0; i < 4; i++)
		if ((outer->word[i] ^ inner->word[i]) & rf_prefix_mask(outer->length, i))
			return false;
	return true;
}

int rf_prefixes_add(struct rf_prefixes *prefixes, const struct rf_prefix *prefix,
		    struct rf_error *error)
{
	struct rf_prefix *grown =
		rf_grow(prefixes->prefix, prefixes->count, &prefixes->capacity, sizeof(*grown), 8);

	if (!grown)
		return rf_error_failed(error, -ENOMEM, "out of memory at %zu prefixes",
				       prefixes->count);
	prefixes->prefix = grown;
	prefixes->prefix[prefixes->count++] = *prefix;
	return 0;
}

void rf_prefixes_free(struct rf_prefixes *prefixes)
{
	free(prefixes->prefix);
	*prefixes = (struct rf_prefixes){};
}

/* ---- ranges ---- */

/* Ranges of addresses as the fewest prefixes. */

typedef unsigned __int128 wide;

static wide number_of(const struct rf_address *address)
{
	wide number = 0;

	for (unsigned int i = 0; i < rf_prefix_length_max(address->version) / 32; i++)
		number = number << 32 | ntohl(address->word[i]);
	return number;
}

static struct rf_prefix prefix_of(const struct rf_address *like, wide first, unsigned int length)
{
	struct rf_prefix prefix = {.version = like->version, .length = length};

	for (int i = rf_prefix_length_max(like->version) / 32 - 1; i >= 0; i--, first >>= 32)
		prefix.word[i] = htonl((__u32)first);
	return prefix;
}

/* The bits after the shortest prefix that starts at `first` and ends at `last` or before. */
static unsigned int free_bits(wide first, wide last, unsigned int bits)
{
	unsigned int free = 0;

	while (free < bits && !(first >> free & 1) &&
	       first + ((((wide)1 << free) << 1) - 1) <= last &&
	       first + ((((wide)1 << free) << 1) - 1) >= first)
		free++;
	return free;
}

int rf_prefixes_add_range(struct rf_prefixes *prefixes, const struct rf_address *from,
			  const struct rf_address *to, struct rf_error *error)
{
	const unsigned int bits = rf_prefix_length_max(from->version);
	const size_t count = prefixes->count;
	const wide last = number_of(to);
	wide first = number_of(from);
	int err = 0;

	if (from->version != to->version || first > last)
		return rf_error_usage(error,
				      "a range does not go from a lower address to a higher one");
	while (!err) {
		const unsigned int free = free_bits(first, last, bits);
		const struct rf_prefix prefix = prefix_of(from, first, bits - free);
		const wide end = first + (free < 128 ? ((wide)1 << free) - 1 : ~(wide)0);

		err = rf_prefixes_add(prefixes, &prefix, error);
		if (end >= last)
			break;
		first = end + 1;
	}
	if (err)
		prefixes->count = count;
	return err;
}

/* ---- HOST:PORT ---- */

bool rf_host_port_split(const char *text, struct rf_host_port *parts)
{
	const char *colon = strrchr(text, ':');

	if (!colon)
		return false;
	*parts = (struct rf_host_port){.host = text, .length = colon - text, .port = colon + 1};
	if (parts->length < 2 || text[0] != '[' || colon[-1] != ']')
		return true;
	parts->in_brackets = true;
	parts->host++;
	parts->length -= 2;
	return true;
}

bool rf_host_port_copy(const struct rf_host_port *parts, char *host, size_t size)
{
	if (parts->length >= size)
		return false;
	memcpy(host, parts->host, parts->length);
	host[parts->length] = '\0';
	return true;
}

uint16_t rf_port_of(const char *text)
{
	const size_t digits = strspn(text, "0123456789");
	const unsigned long port =
		digits && digits <= 5 && *text != '0' ? strtoul(text, NULL, 10) : 0;

	return text[digits] || port > UINT16_MAX ? 0 : port;
}
