// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "out.h"

static const char *const reason_names[RF_REASON_COUNT][2] = {
	[RF_UNDER_LIMIT] = {"under_limit", "under the limit"},
	[RF_SHADOW_OVER] = {"shadow_over", "over a shadow limit"},
	[RF_NO_LIMIT] = {"no_limit", "no limit set"},
	[RF_NON_IP] = {"non_ip", "not IP (ARP, LLDP …)"},
	[RF_NEIGHBOUR] = {"neighbour", "IPv6 neighbour discovery"},
	[RF_MALFORMED] = {"malformed", "malformed, no source to charge"},
	[RF_DEEP_VLAN] = {"deep_vlan", "more than two VLAN tags"},
	[RF_MAP_ERROR] = {"map_error", "no window to be had"},
	[RF_OVER_LIMIT] = {"over_limit", "over the limit"},
	[RF_CONTENDED] = {"contended", "lost too many races for a window"},
};

static const char *const map_error_names[RF_MAP_ERROR_COUNT] = {
	[RF_INSERT_BUSY] = "insert_busy", [RF_INSERT_NOMEM] = "insert_nomem",
	[RF_INSERT_FULL] = "insert_full", [RF_INSERT_OTHER] = "insert_other",
	[RF_WINDOW_LOST] = "window_lost",
};

const char *rf_reason_name(enum rf_reason reason)
{
	return reason_names[reason][0];
}

const char *rf_reason_text(enum rf_reason reason)
{
	return reason_names[reason][1];
}

const char *rf_map_error_name(enum rf_map_error error)
{
	return map_error_names[error];
}

void rf_out_error(const struct rf_error *error)
{
	fprintf(stderr, "ringfence: %s\n", error->text);
}

void rf_out_log(const char *log)
{
	size_t length = strlen(log);

	fprintf(stderr, "%s%s", log, length && log[length - 1] != '\n' ? "\n" : "");
}

void rf_out(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vprintf(format, args);
	va_end(args);
}

int rf_out_json(json_t *root, bool compact, struct rf_error *error)
{
	if (!root || json_dumpf(root, stdout, compact ? JSON_COMPACT : JSON_INDENT(2))) {
		json_decref(root);
		return rf_error_failed(error, -ENOMEM, "cannot print it as JSON");
	}
	putchar('\n');
	rf_out_flush();
	json_decref(root);
	return 0;
}

json_t *rf_json_text(const char *text)
{
	json_t *string = json_string(text);
	char copy[256];

	if (string)
		return string;
	snprintf(copy, sizeof(copy), "%s", text);
	for (char *p = copy; *p; p++)
		if ((unsigned char)*p > 0x7e)
			*p = '?';
	return json_string(copy);
}

int rf_out_flush(void)
{
	static int first_err; /* errno is of the latest call, whatever that was */

	if (fflush(stdout) && !first_err)
		first_err = -errno;
	return first_err;
}

void rf_format_source(const struct rf_address *source, const struct rf_limit *limit,
		      char text[RF_SOURCE_TEXT_SIZE])
{
	bool v4 = source->version == 4;
	int length = v4 ? limit->per4 : limit->per6;
	char address[INET6_ADDRSTRLEN] = "?";

	inet_ntop(v4 ? AF_INET : AF_INET6, source->word, address, sizeof(address));
	if (length == (v4 ? 32 : 128))
		snprintf(text, RF_SOURCE_TEXT_SIZE, "%s", address);
	else
		snprintf(text, RF_SOURCE_TEXT_SIZE, "%s/%d", address, length);
}

void rf_format_ms(uint64_t ms, char text[RF_DURATION_TEXT_SIZE])
{
	if (ms < 1000)
		snprintf(text, RF_DURATION_TEXT_SIZE, "%" PRIu64 " ms", ms);
	else if (ms < 120000)
		snprintf(text, RF_DURATION_TEXT_SIZE, "%" PRIu64 ".%" PRIu64 " s", ms / 1000,
			 ms % 1000 / 100);
	else
		snprintf(text, RF_DURATION_TEXT_SIZE, "%" PRIu64 " min", ms / 60000);
}
