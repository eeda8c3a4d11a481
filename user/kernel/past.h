/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Past map ABIs: where the rules are in the maps of a fence that an older build attached. A file
 * past_abiN.c has the structures of ABI N as they were, and serves later ABIs of the same layout;
 * past.c has the table of all of them. When RF_ABI_VERSION rises, the ABI before is added, as its
 * release had it; all but the last two may go.
 */
#ifndef RINGFENCE_PAST_H
#define RINGFENCE_PAST_H

#include <stdbool.h>
#include <stdint.h>

#include "ringfence/abi.h"

/* Places and sizes, in bytes. */
struct rf_past_layout {
	uint32_t abi;
	/* Sizes of values. */
	uint32_t config_size, ports_size, prefix_size;
	/* In the configuration. */
	uint32_t active, tick_ns, base, name, bank, bank_size;
	/* In a bank. */
	uint32_t deadline, fallback, packet_class, newcomers;
	uint32_t policy, policy_size, limit, limit_size;
	/*
	 * In a value of `ports`: tables of 65536 bytes, which hold classes; and the size of a
	 * class, which begins with the bit set of its limits.
	 */
	uint32_t port_tables, class_size;
	/*
	 * Since ABI 8, of packets' shapes: in a bank, the limits of each class that shapes divide;
	 * in a value of `ports`, a table by source port, of indexes into the bit sets of limits
	 * that are in a bank; and the destinations, in a bank. 0: no limit asks for shapes.
	 */
	uint32_t candidates, sports, sport_limits, to;
	/* In a value of a trie. */
	uint32_t own_allow_until, own_deny_until, own_from;
	/* Convert a limit and the newcomers of that ABI, without `policy`. */
	void (*read_limit)(const void *past, struct rf_limit *limit);
	void (*read_newcomers)(const void *past, struct rf_newcomers *newcomers);
	/* Converts the destinations, without what follows from them. NULL: there are none. */
	void (*read_to)(const void *past, struct rf_shapes *shapes);
};

extern const struct rf_past_layout rf_past_abi5, rf_past_abi6, rf_past_abi7, rf_past_abi8;

/* The layout of a past ABI, or NULL: this build cannot read it. */
const struct rf_past_layout *rf_past_find(uint32_t abi);

#endif /* RINGFENCE_PAST_H */
