/* SPDX-License-Identifier: GPL-2.0 */
/* Random prefixes, many of which contain each other, and sources in and around them. */
#ifndef RINGFENCE_UNIT_RANDOM_PREFIX_H
#define RINGFENCE_UNIT_RANDOM_PREFIX_H

#include "unit.h"

#include "base/prefix.h"

/* Few bits, in few places: many prefixes contain each other. */
static inline struct rf_prefix random_prefix(uint64_t *random)
{
	static const unsigned char lengths4[] = {0, 1, 8, 9, 16, 24, 31, 32};
	static const unsigned char lengths6[] = {0, 1, 32, 48, 63, 64, 65, 96, 127, 128};
	static const unsigned char bits4[] = {0, 7, 8, 23, 30, 31};
	static const unsigned char bits6[] = {0, 31, 47, 62, 63, 64, 95, 126, 127};
	struct rf_prefix prefix = {.version = unit_below(random, 2) ? 4 : 6};
	const bool is4 = prefix.version == 4;

	prefix.length = is4 ? lengths4[unit_below(random, sizeof(lengths4))]
			    : lengths6[unit_below(random, sizeof(lengths6))];
	for (int i = unit_below(random, 3); i > 0; i--) {
		unsigned int bit = is4 ? bits4[unit_below(random, sizeof(bits4))]
				       : bits6[unit_below(random, sizeof(bits6))];

		if (bit < prefix.length)
			((unsigned char *)prefix.word)[bit / 8] |= 0x80 >> bit % 8;
	}
	return prefix;
}

static inline struct rf_prefix random_source(uint64_t *random)
{
	struct rf_prefix source = random_prefix(random);

	source.length = source.version == 4 ? 32 : 128;
	if (unit_below(random, 2))
		((unsigned char *)source.word)[unit_below(random, source.length / 8)] ^=
			1 << unit_below(random, 8);
	return source;
}

#endif /* RINGFENCE_UNIT_RANDOM_PREFIX_H */
