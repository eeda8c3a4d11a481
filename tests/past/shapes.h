/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Limits by the shape of packets, which ABI 8 brought, with the tables that are read back. They
 * were given before those of fill.c, though their slots are behind: their `order` tells it.
 */
#ifndef RINGFENCE_TESTS_PAST_SHAPES_H
#define RINGFENCE_TESTS_PAST_SHAPES_H

#include <arpa/inet.h>
#include <string.h>

#define RATE_IN_BITS (1U << 30)
#define FIRST 6 /* slot */

enum { WEB, NTP, RESETS, NOFLAGS, STRAY, SHAPES };

static const struct rf_limit shaped[SHAPES] = {
	[WEB] = {.name = "web", .match = TCP, .has_ports = 1, .has_to = 1, .order = 1},
	[NTP] = {.name = "ntp",
		 .match = UDP,
		 .has_sports = 1,
		 .length_min = 468,
		 .length_max = 65535,
		 .order = 0},
	[RESETS] = {.name = "resets", .tcp_flags = 4, .tcp_mask = 4, .order = 2},
	[NOFLAGS] = {.name = "noflags",
		     .match = TCP,
		     .has_ports = 1,
		     .has_sports = 1,
		     .has_to = 1,
		     .length_min = 60,
		     .length_max = 100,
		     .tcp_mask = 0xff,
		     .order = 3},
	[STRAY] =
		{.name = "stray", .match = OTHER, .unit = BYTES, .flags = RATE_IN_BITS, .order = 3},
};

/* Classes that shapes divide are counted from the last one on. */
static void shape_ports(struct rf_ports *ports)
{
	ports->packet_class[0][443] = 255;
	ports->packet_class[1][443] = 254;
	ports->packet_class[0][8000] = 253;
	ports->sport[123] = ports->sport[11211] = 1;
	ports->sport[53] = 2;
}

static __u32 slots_of(int one, int other)
{
	return 1U << (FIRST + one) | 1U << (FIRST + other);
}

static void shape_destinations(struct rf_shapes *shapes)
{
	shapes->to4[0].address = inet_addr("192.0.2.80");
	shapes->to4[0].mask = ~0U;
	shapes->to4[0].own = slots_of(NOFLAGS, NOFLAGS);
	shapes->to4[1].address = inet_addr("192.0.2.0");
	shapes->to4[1].mask = htonl(0xffffff00);
	shapes->to4[1].own = slots_of(WEB, WEB);
	inet_pton(AF_INET6, "2001:db8:2::", shapes->to6[0].address);
	memset(shapes->to6[0].mask, 0xff, 6);
	shapes->to6[0].own = slots_of(WEB, NOFLAGS);
}

static void shape_bank(struct rf_bank *bank)
{
	struct rf_shapes *shapes = &bank->shapes;

	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		bank->limit[slot].order = SHAPES; /* those of fill.c are behind these, by slot */
	for (int i = 0; i < SHAPES; i++) {
		struct rf_limit *limit = &bank->limit[FIRST + i];

		*limit = shaped[i];
		limit->rate = 250000;
		limit->window_ns = 1000000000;
		limit->cells = 16; /* fewer than the default of this ABI */
		limit->per4 = 32;
		limit->per6 = 64;
		bank->policy[FIRST + i].id = 117 + i;
	}
	bank->flags |= RF_BANK_PORTS | RF_BANK_SHAPES;
	shapes->candidates[255] = slots_of(WEB, RESETS);
	shapes->candidates[254] = slots_of(WEB, RESETS) | 1 << 3;
	shapes->candidates[253] = slots_of(NOFLAGS, RESETS);
	bank->packet_class[255].by_shape = bank->packet_class[254].by_shape = 1;
	bank->packet_class[253].by_shape = 1;
	shapes->sport_limits[0] = ~slots_of(NTP, NOFLAGS);
	shapes->sport_limits[1] = ~slots_of(NOFLAGS, NOFLAGS);
	shapes->sport_limits[2] = ~slots_of(NTP, NTP);
	shape_destinations(shapes);
}

#endif /* RINGFENCE_TESTS_PAST_SHAPES_H */
