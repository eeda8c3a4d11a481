/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The class of a packet that limits tell apart by more than its protocol and destination port.
 * Whatever no limit asks for is not read, so packets of other protocols and ports cost nothing.
 */
#ifndef RINGFENCE_SHAPE_H
#define RINGFENCE_SHAPE_H

#include "maps.h"
#include "ringfence/packet.h"

/* A frame, and what the parser has found in it. */
struct view {
	const void *data;
	const void *end;
	const struct rf_packet *packet;
	__u32 len_bytes;
};

static __always_inline __u32 limits_of_sport(const struct rf_shapes *shapes,
					     const struct rf_ports *table, const struct view *view)
{
	__u32 port = rf_packet_sport(view->data, view->end, view->packet);

	RF_OPAQUE(port); /* keeps the mask, as of the destination port */
	return shapes->sport_limits[table->sport[port % RF_PORTS]];
}

static __always_inline __u32 limits_of_length(const struct rf_shapes *shapes,
					      const struct rf_ports *table, const struct view *view)
{
	__u32 length = view->len_bytes;

	if (length >= RF_LENGTHS)
		length = RF_LENGTHS - 1;
	RF_OPAQUE(length);
	return shapes->length_limits[table->length[length % RF_LENGTHS]];
}

static __always_inline __u32 limits_of_flags(const struct rf_shapes *shapes,
					     const struct view *view)
{
	__u32 flags = rf_packet_tcp_flags(view->data, view->end, view->packet);

	return shapes->flags_limits[flags];
}

/* The first prefix that contains the destination is the longest. */
static __always_inline __u32 limits_of_dest4(const struct rf_shapes *shapes,
					     const struct view *view)
{
	const __be32 dest = rf_packet_dest4(view->data, view->end, view->packet);

	RF_UNROLL
	for (int i = 0; i < RF_TO_MAX; i++) {
		const struct rf_to4 *to = &shapes->to4[i];

		if (!to->own)
			break;
		if ((dest & to->mask) == to->address)
			return to->limits;
	}
	return ~shapes->with_to;
}

static __always_inline __u32 limits_of_dest6(const struct rf_shapes *shapes,
					     const struct view *view)
{
	__u64 dest[2];

	rf_packet_dest6(view->data, view->end, view->packet, dest);
	RF_UNROLL
	for (int i = 0; i < RF_TO_MAX; i++) {
		const struct rf_to6 *to = &shapes->to6[i];

		if (!to->own)
			break;
		if ((dest[0] & to->mask[0]) == to->address[0] &&
		    (dest[1] & to->mask[1]) == to->address[1])
			return to->limits;
	}
	return ~shapes->with_to;
}

/* `limits` without those that the source port, or the length, excludes. */
static __always_inline __u32 keep_by_tables(const struct rf_shapes *shapes, __u32 limits,
					    __u32 bank, const struct view *view)
{
	const struct rf_ports *table = bpf_map_lookup_elem(&ports, &bank);

	if (!table)
		return limits; /* cannot happen; for the verifier */
	if (limits & shapes->with_sport)
		limits &= limits_of_sport(shapes, table, view);
	if (limits & shapes->with_length)
		limits &= limits_of_length(shapes, table, view);
	return limits;
}

/* The class of a packet whose protocol and destination port give the class `base`. */
static __always_inline __u32 class_of_shape(const struct rf_shapes *shapes, __u32 base, __u32 bank,
					    const struct view *view, int version)
{
	__u32 limits = shapes->candidates[base % RF_PACKET_CLASSES_MAX];

	if (!(view->packet->flags & RF_HAS_DPORT))
		limits &= ~(shapes->with_sport | shapes->with_flags);
	else if (limits & shapes->with_flags)
		limits &= limits_of_flags(shapes, view);
	if (limits & shapes->with_to)
		limits &= version == 4 ? limits_of_dest4(shapes, view)
				       : limits_of_dest6(shapes, view);
	if (limits & (shapes->with_sport | shapes->with_length))
		limits = keep_by_tables(shapes, limits, bank, view);
	return shapes->packet_class[limits * shapes->factor >> (64 - RF_SHAPE_HASH_LOG)];
}

#endif /* RINGFENCE_SHAPE_H */
