// SPDX-License-Identifier: GPL-2.0
/* Words that are values of options, in the order of the numbers that they stand for. */
#include "rules/grammar.h"
#include "rules/grammar_table.h"

/* What a row leaves out is zero on purpose; clang minds that of plain rows, gcc does not. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#define NAMES .flags = RF_OPTION_NAMES

const struct rf_option rf_algorithm_words[] = {
	[RF_SLIDING] = {"sliding", .summary = "COUNT in any interval of TIME (default of packets, "
					      "and of a fleet)"},
	[RF_FIXED] = {"fixed", .summary = "aligned windows: up to twice COUNT across an edge"},
	[RF_LOG] = {"log", .summary = "exactly COUNT in any interval of TIME: 1-16 packets"},
	[RF_TOKEN] =
		{"token",
		 .summary = "token bucket: COUNT in TIME flow in, 'burst' is its size (default of "
			    "bytes)"},
	[RF_LEAKY] = {"leaky",
		      .summary = "even spacing: COUNT in TIME flow out, 'burst' is its size"},
	{},
};

const struct rf_option rf_edge_words[] = {
	[RF_EDGE_STRICT] = {"strict", .summary = "the oldest cell counts in full (default)"},
	[RF_EDGE_COARSE] = {"coarse",
			    .summary = "the oldest cell does not count: COUNT in TIME less a cell"},
	[RF_EDGE_WEIGHTED] = {"weighted",
			      .summary = "the oldest cell counts by its part within TIME"},
	{},
};

const struct rf_option rf_match_words[] = {
	[RF_MATCH_ANY] = {"any", .summary = "every packet (default)", NAMES},
	[RF_MATCH_TCP] = {"tcp", .summary = "TCP", NAMES},
	[RF_MATCH_SYN] = {"tcp syn", .summary = "SYNs without ACK: attempts to connect", NAMES},
	[RF_MATCH_UDP] = {"udp", .summary = "UDP", NAMES},
	[RF_MATCH_ICMP] = {"icmp", .summary = "ICMP and ICMPv6", NAMES},
	[RF_MATCH_PROTOCOL] = {"proto", RF_KIND_NUMBER, "N",
			       .summary = "an IP protocol by its number"},
	[RF_MATCH_OTHER] = {"other",
			    .summary = "packets that are not IP, and IPv6 neighbour discovery. No "
				       "other limit drops these packets. They share one window, "
				       "and only one limit may match them",
			    NAMES},
	{},
};

/* sparse: attach cannot offload. */
const struct rf_option rf_mode_words[] = {
	[RF_NATIVE] = {"native", .summary = "in the driver (default)"},
	[RF_GENERIC] = {"generic", .summary = "in the network stack: slow, and packets that the "
					      "kernel has merged (GRO) count as one"},
	{},
};

const struct rf_option rf_then_words[] = {
	{"open", .summary = "they pass, and are charged to nothing"},
	{"closed", .summary = "they are dropped"},
	{"aggregate", .summary = "they are charged to a window that their /24 or /48 shares"},
	{},
};
