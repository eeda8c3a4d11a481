// SPDX-License-Identifier: GPL-2.0
#include "fence/reasons.h"

static const char *const reason_names[RF_REASON_COUNT] = RF_REASON_NAMES;

#define REASON_TEXT(reason, name, text) [reason] = text,

static const char *const reason_texts[RF_REASON_COUNT] = {RF_REASONS(REASON_TEXT)};

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
