/* SPDX-License-Identifier: GPL-2.0 */
/* Reads the addresses of a set of nftables, as `nft -j list set` prints it. Pure. */
#ifndef RINGFENCE_NFT_SET_H
#define RINGFENCE_NFT_SET_H

#include <stdbool.h>

#include "base/error.h"
#include "base/prefix.h"

/* Does the text begin like JSON? No list of prefixes does. */
bool rf_nft_set_is(const char *text);
/*
 * Adds the elements of the one set in `text`: addresses, prefixes, and ranges, which become the
 * fewest prefixes. An element with a timeout is an error, since a prefix has none.
 * `name` names the text in errors. On failure `prefixes` may hold some of them.
 */
int rf_nft_set_prefixes(const char *name, const char *text, struct rf_prefixes *prefixes,
			struct rf_error *error);

#endif /* RINGFENCE_NFT_SET_H */
