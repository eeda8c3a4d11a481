// SPDX-License-Identifier: GPL-2.0
/* Ranges of addresses as the fewest prefixes. */
#include <arpa/inet.h>
#include <errno.h>

#include "base/prefix.h"

typedef unsigned __int128 wide;

static unsigned int bits_of(const struct rf_address *address)
{
	return address->version == 4 ? 32 : 128;
}

static wide number_of(const struct rf_address *address)
{
	wide number = 0;

	for (unsigned int i = 0; i < bits_of(address) / 32; i++)
		number = number << 32 | ntohl(address->word[i]);
	return number;
}

static struct rf_prefix prefix_of(const struct rf_address *like, wide first, unsigned int length)
{
	struct rf_prefix prefix = {.version = like->version, .length = length};

	for (int i = bits_of(like) / 32 - 1; i >= 0; i--, first >>= 32)
		prefix.word[i] = htonl((__u32)first);
	return prefix;
}

/* The bits after the shortest prefix that begins at `first` and ends at `last` or before. */
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
	const unsigned int bits = bits_of(from);
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
