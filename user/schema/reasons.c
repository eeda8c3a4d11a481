// SPDX-License-Identifier: GPL-2.0
#include "schema/reasons.h"

#define IS_DROP_PASS false
#define IS_DROP_DROP true
#define REASON_ROW(reason, verdict, name, text, help) \
	[reason] = {IS_DROP_##verdict, name, text, help},
#define MAP_ERROR_ROW(error, name, help) [error] = {name, help},

const struct rf_reason_row rf_reasons[RF_REASON_COUNT] = {RF_REASONS(REASON_ROW)};

const struct rf_map_error_row rf_map_errors[RF_MAP_ERROR_COUNT] = {RF_MAP_ERRORS(MAP_ERROR_ROW)};

/* The program and its leases derive the verdict from the position of the reason. */
#define IS_IN_PLACE(reason, verdict, ...) &&((reason) >= RF_FIRST_DROP) == IS_DROP_##verdict
_Static_assert(true RF_REASONS(IS_IN_PLACE), "reasons that drop follow reasons that pass");

const char *rf_reason_name(enum rf_reason reason)
{
	return rf_reasons[reason].name;
}

const char *rf_reason_text(enum rf_reason reason)
{
	return rf_reasons[reason].text;
}

const char *rf_reason_verdict(enum rf_reason reason)
{
	return rf_reasons[reason].is_drop ? RF_VERDICT_DROP : RF_VERDICT_PASS;
}

bool rf_reason_is_drop(enum rf_reason reason)
{
	return rf_reasons[reason].is_drop;
}

const char *rf_map_error_name(enum rf_map_error error)
{
	return rf_map_errors[error].name;
}
