/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The class of a packet, if limits distinguish packets by more than protocol and destination port.
 * Only fields that some limit matches are read, so packets of other protocols and ports cost
 * nothing.
 */
#ifndef RINGFENCE_SHAPE_H
#define RINGFENCE_SHAPE_H

#include "maps.h"
#include "ringfence/packet.h"

/* A frame, and the parser's results. */
struct view {
	const void *data;
	const void *end;
	const struct rf_packet *packet;
	__u32 len_bytes;
	int is_plain; /* by rf_packet_is_plain4() or rf_packet_is_plain6() */
};

static __always_inline int find_headers(const struct view *view, int version,
					struct rf_headers *headers)
{
	if (view->is_plain)
		return rf_packet_plain_headers(view->data, view->end, version, headers);
	return rf_packet_headers(view->data, view->end, view->packet, version, headers);
}

static __always_inline __u32 limits_of_sport(const struct rf_shapes *shapes,
					     const struct rf_shape_tables *tables,
					     const struct rf_headers *headers)
{
	__u32 port = rf_headers_sport(headers);

	RF_OPAQUE(port); /* preserves the mask, as for the destination port */
	return shapes->sport_limits[tables->sport[port % RF_PORTS]];
}

static __always_inline __u32 limits_of_length(const struct rf_shapes *shapes,
					      const struct rf_shape_tables *tables, __u32 length)
{
	if (length >= RF_LENGTHS)
		length = RF_LENGTHS - 1;
	RF_OPAQUE(length);
	return shapes->length_limits[tables->length[length % RF_LENGTHS]];
}

/* The longest prefix that contains the destination, or the entry that matches all. */
static __always_inline __u32 limits_of_dest4(const struct rf_shapes *shapes,
					     const struct rf_headers *headers)
{
	const __be32 dest = rf_headers_dest4(headers);
	const struct rf_to_search *search = &shapes->search4;
	__u32 at = search->first[(dest & search->bits[0]) * search->factor[0] >>
				 (64 - RF_TO_HASH_LOG)];

	RF_UNROLL
	for (int i = 0; i < RF_TO_MAX; i++) {
		const struct rf_to4 *to = &shapes->to4[at % RF_TO_ENTRIES];

		RF_OPAQUE(to);
		if ((dest & to->mask) == to->address)
			return to->limits;
		at = search->next[at % RF_TO_ENTRIES];
	}
	return ~shapes->with_to;
}

static __always_inline __u32 limits_of_dest6(const struct rf_shapes *shapes,
					     const struct rf_headers *headers)
{
	const struct rf_to_search *search = &shapes->search6;
	__u64 dest[2], hash;
	__u32 at;

	rf_headers_dest6(headers, dest);
	hash = (dest[0] & search->bits[0]) * search->factor[0] +
	       (dest[1] & search->bits[1]) * search->factor[1];
	at = search->first[hash >> (64 - RF_TO_HASH_LOG)];
	RF_UNROLL
	for (int i = 0; i < RF_TO_MAX; i++) {
		const struct rf_to6 *to = &shapes->to6[at % RF_TO_ENTRIES];

		RF_OPAQUE(to);
		if ((dest[0] & to->mask[0]) == to->address[0] &&
		    (dest[1] & to->mask[1]) == to->address[1])
			return to->limits;
		at = search->next[at % RF_TO_ENTRIES];
	}
	return ~shapes->with_to;
}

/*
 * Refines the class `base`, which protocol and destination port select, by these parts of the
 * packet's shape.
 */
static __always_inline __u32 class_of_shape(const struct rf_shapes *shapes,
					    const struct rf_shape_tables *tables, __u32 base,
					    __u32 parts, const struct view *view, int version)
{
	struct rf_headers headers;
	__u32 limits;

	RF_OPAQUE(shapes); /* otherwise the compiler recomputes it at each use */
	if (!find_headers(view, version, &headers))
		return base; /* cannot happen; for the verifier */
	limits = shapes->candidates[base % RF_PACKET_CLASSES_MAX];
	if (!(view->packet->flags & RF_HAS_DPORT)) {
		limits &= ~(shapes->with_sport | shapes->with_flags);
		parts &= ~(RF_SHAPE_SPORT | RF_SHAPE_FLAGS);
	}
	if (parts & RF_SHAPE_FLAGS)
		limits &= shapes->flags_limits[rf_headers_tcp_flags(&headers, view->end,
								    view->packet)];
	if (parts & RF_SHAPE_TO)
		limits &= version == 4 ? limits_of_dest4(shapes, &headers)
				       : limits_of_dest6(shapes, &headers);
	if (parts & RF_SHAPE_SPORT)
		limits &= limits_of_sport(shapes, tables, &headers);
	if (parts & RF_SHAPE_LENGTH)
		limits &= limits_of_length(shapes, tables, view->len_bytes);
	return shapes->packet_class[limits * shapes->factor >> (64 - RF_SHAPE_HASH_LOG)];
}

#endif /* RINGFENCE_SHAPE_H */
