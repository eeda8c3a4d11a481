// SPDX-License-Identifier: GPL-2.0
/* Hosts of a fleet by name. Names come from the wire: they never reach a terminal as they are. */
#include <stdio.h>
#include <string.h>

#include "base/printable.h"
#include "cli/fleet_agent.h"

#define NAMED_MOST 4

void rf_fleet_text(const json_t *object, const char *key, char *text, size_t size)
{
	const char *value = json_string_value(json_object_get(object, key));

	snprintf(text, size, "%s", value ? value : "");
	rf_hide_controls(text, false);
}

void rf_fleet_label(const json_t *host, char label[RF_HOST_LABEL_SIZE])
{
	rf_fleet_text(host, "name", label, RF_HOST_LABEL_SIZE);
	if (!*label)
		snprintf(label, RF_HOST_LABEL_SIZE, "host %lld",
			 (long long)json_integer_value(json_object_get(host, "slot")));
}

void rf_fleet_add_label(char list[RF_HOST_LIST_SIZE], int count, const json_t *host)
{
	char label[RF_HOST_LABEL_SIZE];
	const size_t length = strlen(list);

	rf_fleet_label(host, label);
	if (count <= NAMED_MOST)
		snprintf(list + length, RF_HOST_LIST_SIZE - length, "%s%.40s",
			 count > 1 ? ", " : "", label);
	else if (count == NAMED_MOST + 1)
		snprintf(list + length, RF_HOST_LIST_SIZE - length, " and others");
}

int rf_fleet_others(const json_t *hosts, const char *key, json_int_t wanted,
		    char list[RF_HOST_LIST_SIZE])
{
	const json_t *host;
	int count = 0;
	size_t i;

	*list = '\0';
	json_array_foreach (hosts, i, host) {
		const json_t *number = json_object_get(host, key);

		if (json_is_true(json_object_get(host, "this")) || !json_is_integer(number) ||
		    json_integer_value(number) == wanted)
			continue;
		rf_fleet_add_label(list, ++count, host);
	}
	return count;
}

/* ---- differences, by limit ---- */

static bool differs_so(const json_t *host, const char *limit, const char *how)
{
	const json_t *difference;
	size_t i;

	json_array_foreach (json_object_get(host, "differs"), i, difference) {
		const char *name = json_string_value(json_object_get(difference, "name"));
		const char *is = json_string_value(json_object_get(difference, "how"));

		if (name && is && strcmp(name, limit) == 0 && strcmp(is, how) == 0)
			return true;
	}
	return false;
}

/* The hosts from `from` on that differ so. False: a host before them did, so it was told. */
static bool list_hosts(const json_t *hosts, size_t from, const char *limit, const char *how,
		       char list[RF_HOST_LIST_SIZE])
{
	const json_t *host;
	int count = 0;
	size_t i;

	*list = '\0';
	json_array_foreach (hosts, i, host) {
		if (!differs_so(host, limit, how))
			continue;
		if (i < from)
			return false;
		rf_fleet_add_label(list, ++count, host);
	}
	return true;
}

void rf_fleet_each_difference(const json_t *hosts, rf_fleet_difference visit, void *context)
{
	const json_t *host, *difference;
	size_t i, j;

	json_array_foreach (hosts, i, host)
		json_array_foreach (json_object_get(host, "differs"), j, difference) {
			const char *name = json_string_value(json_object_get(difference, "name"));
			const char *how = json_string_value(json_object_get(difference, "how"));
			char list[RF_HOST_LIST_SIZE], limit[RF_NAME_SIZE];

			if (!name || !how || !list_hosts(hosts, i, name, how, list))
				continue;
			snprintf(limit, sizeof(limit), "%s", name);
			rf_hide_controls(limit, false);
			visit(context, limit, how, list);
		}
}
