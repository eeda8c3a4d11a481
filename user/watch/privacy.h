/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which part of a source is disclosed. Addresses are personal data: everything the daemon writes or
 * serves passes through here. Pure.
 */
#ifndef RINGFENCE_PRIVACY_H
#define RINGFENCE_PRIVACY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/prefix.h"

/* The setting `sources`. */
enum rf_told {
	RF_TELL_NONE,
	RF_TELL_PREFIX, /* the network: /24 of IPv4, /48 of IPv6 */
	RF_TELL_FULL,
};

#define RF_TOLD_WORDS                                                                         \
	{                                                                                     \
		[RF_TELL_NONE] = "none", [RF_TELL_PREFIX] = "prefix", [RF_TELL_FULL] = "full" \
	}

/* The disclosed form of `in`; false: no part of it is disclosed. */
bool rf_tell(enum rf_told told, const struct rf_prefix *in, struct rf_prefix *out);

/*
 * Distinguishes the sources of a disclosed network: a number of at most 28 bits, and never 0. It
 * shows whether two records are of one source, but not of which one: that requires the key, which
 * is never written. 0: `told` is the source itself.
 */
uint32_t rf_tell_who(const uint64_t key[2], const struct rf_prefix *source,
		     const struct rf_prefix *told);

/* The text with each address in its disclosed form. The caller frees it. NULL: no memory. */
char *rf_tell_text(enum rf_told told, const char *text);

#endif /* RINGFENCE_PRIVACY_H */
