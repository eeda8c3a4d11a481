/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How a limit groups IPv6 sources: by a prefix, except for link-local addresses (fe80::/10). All
 * hosts of a link have their link-local addresses in the same /64. Grouped by a prefix, one
 * neighbour would use up the window in which the router sends its MLD queries, DHCPv6 and VRRP.
 * Each link-local address is therefore a separate source, for any `per6` except /0, where one
 * window counts all sources.
 */
#ifndef RINGFENCE_GROUPING_H
#define RINGFENCE_GROUPING_H

#include <linux/types.h>

#include "atomic.h"

/* fe80::/10, in the first word of an address. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define RF_LINK_LOCAL_MASK 0x0000c0ffU
#define RF_LINK_LOCAL 0x000080feU
#else
#define RF_LINK_LOCAL_MASK 0xffc00000U
#define RF_LINK_LOCAL 0xfe800000U
#endif

/* Takes the first word of an IPv6 address. */
RF_INLINE int rf_is_link_local(__be32 first)
{
	return (first & RF_LINK_LOCAL_MASK) == RF_LINK_LOCAL;
}

/*
 * The bits by which an address is grouped in addition to the mask: all for a link-local address,
 * else none. `first` and `mask` are the first words of the address and of the mask. Without a
 * branch: the verifier would walk all that follows twice.
 */
RF_INLINE __u64 rf_whole_address(__be32 first, __be32 mask)
{
	__u64 differs = (first & RF_LINK_LOCAL_MASK) ^ RF_LINK_LOCAL;

	RF_OPAQUE(differs); /* otherwise the compiler makes a branch of it */
	return -(((differs - 1) & -(__u64)mask) >> 63);
}

#endif /* RINGFENCE_GROUPING_H */
