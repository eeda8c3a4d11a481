// SPDX-License-Identifier: GPL-2.0
#include "fence/reasons.h"

static const char *const reason_names[RF_REASON_COUNT] = RF_REASON_NAMES;

static const char *const reason_texts[RF_REASON_COUNT] = {
	[RF_UNDER_LIMIT] = "under the limit",
	[RF_SHADOW_OVER] = "over a shadow limit",
	[RF_NO_LIMIT] = "no limit applies",
	[RF_NON_IP] = "not IP (ARP, LLDP …)",
	[RF_NEIGHBOUR] = "IPv6 neighbour discovery",
	[RF_MALFORMED] = "malformed, no source to charge",
	[RF_DEEP_VLAN] = "more than eight VLAN tags",
	[RF_MAP_ERROR] = "could not allocate a window",
	[RF_ALLOWED] = "on the allow list",
	[RF_NEWCOMER_OPEN] = "new, over the newcomers rate",
	[RF_UNCONFIRMED] = "the attach was not confirmed",
	[RF_OVER_LIMIT] = "over the limit",
	[RF_CONTENDED] = "lost too many races for a window",
	[RF_BANNED] = "banned by a limit",
	[RF_DENIED] = "on the deny list",
	[RF_NEWCOMER_CLOSED] = "new, over the newcomers rate",
	[RF_NO_WINDOW] = "could not allocate a window",
	[RF_UNCLASSED] = "cannot tell which limits apply",
};

static const char *const map_error_names[RF_MAP_ERROR_COUNT] = {
	[RF_INSERT_BUSY] = "insert_busy", [RF_INSERT_NOMEM] = "insert_nomem",
	[RF_INSERT_FULL] = "insert_full", [RF_INSERT_OTHER] = "insert_other",
	[RF_WINDOW_LOST] = "window_lost", [RF_NONE_IDLE] = "none_idle",
	[RF_DELETE_BUSY] = "delete_busy",
};

const char *rf_reason_name(enum rf_reason reason)
{
	return reason_names[reason];
}

const char *rf_reason_text(enum rf_reason reason)
{
	return reason_texts[reason];
}

const char *rf_map_error_name(enum rf_map_error error)
{
	return map_error_names[error];
}
