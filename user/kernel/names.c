// SPDX-License-Identifier: GPL-2.0
#include <linux/if_link.h>

#include "kernel/names.h"

/* The configuration is the program's global data: its map is named after the section. */
#define CONFIG_SECTION ".bss"

const char *const rf_map_names[RF_MAP_COUNT] = {
	[RF_MAP_WINDOWS4] = "windows4",
	[RF_MAP_WINDOWS6] = "windows6",
	[RF_MAP_SLOTS4] = "slots4",
	[RF_MAP_SLOTS6] = "slots6",
	[RF_MAP_CONFIG] = "config",
	[RF_MAP_LEASES] = "leases",
	[RF_MAP_LEASE_TAGS] = "lease_tags",
	[RF_MAP_PORTS] = "ports",
	[RF_MAP_PREFIXES4] = "prefixes4",
	[RF_MAP_PREFIXES6] = "prefixes6",
	[RF_MAP_KNOWN_FILTER] = "presence",
	[RF_MAP_AGGREGATES] = "aggregates",
	[RF_MAP_BANS] = "bans",
	[RF_MAP_COUNTERS] = "counters",
	[RF_MAP_LIMIT_COUNTERS] = "limit_counters",
	[RF_MAP_INTERFACES] = "interfaces",
	[RF_MAP_SAMPLES] = "samples",
};

const char *rf_map_in_object(enum rf_map map)
{
	return map == RF_MAP_CONFIG ? CONFIG_SECTION : rf_map_names[map];
}

const char *const rf_entry_names[RF_ENTRY_COUNT] = {
	[RF_PLAIN] = "ringfence",
	[RF_FRAGS] = "ringfence_frags",
};

const char *const rf_entry_pins[RF_ENTRY_COUNT] = {
	[RF_PLAIN] = "xdp",
	[RF_FRAGS] = "frags",
};

const char *const rf_iterator_pins[RF_ITERATOR_COUNT] = {
	[RF_SHOW_STATS] = "stats",
	[RF_SHOW_SOURCES4] = "sources",
	[RF_SHOW_SOURCES6] = "sources6",
	[RF_SHOW_ACTIVE4] = "active",
	[RF_SHOW_ACTIVE6] = "active_v6",
	[RF_SHOW_ACTIVE64_4] = "active64",
	[RF_SHOW_ACTIVE64_6] = "active64_v6",
	[RF_SHOW_WINDOWS4] = "windows",
	[RF_SHOW_WINDOWS6] = "windows_v6",
	[RF_SHOW_PENDING] = "pending",
};

const char *const rf_share_pins[RF_SHARE_PIN_COUNT] = {
	[RF_SHARE_CALL] = "fleet_call",
	[RF_SHARE_BATCH] = "fleet_batch",
	[RF_SHARE_ASKS] = "asks",
};

uint32_t rf_xdp_flags(enum rf_mode mode)
{
	return mode == RF_GENERIC ? XDP_FLAGS_SKB_MODE : XDP_FLAGS_DRV_MODE;
}
