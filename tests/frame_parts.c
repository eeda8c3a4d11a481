// SPDX-License-Identifier: GPL-2.0
#include "frame_parts.h"

static void frame_append(struct frame *frame, const struct frame_part *part)
{
	switch (part->kind) {
	case FRAME_END:
		break;
	case FRAME_ETHERNET:
		frame_ethernet(frame);
		break;
	case FRAME_VLAN_TAG:
		frame_vlan_tag(frame, part->a);
		break;
	case FRAME_PAYLOAD:
		frame_payload(frame, part->a, part->b);
		break;
	case FRAME_IPV4:
		frame_ipv4(frame, part->a, part->b);
		break;
	case FRAME_IPV6:
		frame_ipv6(frame, part->a);
		break;
	case FRAME_EXTENSION:
		frame_extension(frame, part->a, part->b);
		break;
	case FRAME_FRAGMENT:
		frame_fragment(frame, part->a);
		break;
	case FRAME_TCP:
		frame_tcp(frame, part->a, part->b);
		break;
	case FRAME_UDP:
		frame_udp(frame, part->a);
		break;
	case FRAME_ICMP:
		frame_icmp(frame, part->a, part->b);
		break;
	case FRAME_VERSION:
		frame_set_version(frame, part->a);
		break;
	case FRAME_PAD:
		frame_pad(frame, part->a);
		break;
	case FRAME_TRIM:
		frame_trim(frame, part->a);
		break;
	case FRAME_SHORTEN:
		frame_shorten(frame, part->a);
		break;
	case FRAME_LENGTH:
		frame_set_length(frame, part->a);
		break;
	}
}

void frame_build(struct frame *frame, const struct frame_part *part)
{
	*frame = (struct frame){.length = 0};
	for (; part->kind != FRAME_END; part++)
		frame_append(frame, part);
}
