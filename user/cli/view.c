// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cli/view.h"
#include "rules/destination.h"

void rf_view_memory(uint64_t bytes, char text[RF_MEMORY_TEXT_SIZE])
{
	snprintf(text, RF_MEMORY_TEXT_SIZE, "%.1f MiB", bytes / 1048576.0);
}

json_t *rf_view_ports(const uint64_t *ports)
{
	char range[RF_PORT_RANGE_TEXT_SIZE];
	json_t *list;

	if (!ports)
		return json_null();
	list = json_array();
	for (int first = 0; rf_format_port_range(ports, &first, range);)
		json_array_append_new(list, json_string(range));
	return list;
}

void rf_view_ports_text(const uint64_t *ports, char text[RF_PORTS_TEXT_SIZE])
{
	char range[RF_PORT_RANGE_TEXT_SIZE];

	*text = '\0';
	for (int first = 0; ports && rf_format_port_range(ports, &first, range);) {
		const size_t length = strlen(text);

		if (length + strlen(range) + sizeof(",…") > RF_PORTS_TEXT_SIZE) {
			snprintf(text + length, RF_PORTS_TEXT_SIZE - length, "…");
			return;
		}
		snprintf(text + length, RF_PORTS_TEXT_SIZE - length, "%s%s", length ? "," : "",
			 range);
	}
}

/* ---- a limit, for programs ---- */

struct rf_limit_view rf_limit_view(const struct rf_ruleset *rules, int slot)
{
	return (struct rf_limit_view){rules, &rules->bank.limit[slot], slot};
}

static json_t *make_name(const void *of)
{
	return rf_json_text(((const struct rf_limit_view *)of)->limit->name);
}

static json_t *make_match(const void *of)
{
	char text[RF_MATCH_TEXT_SIZE];

	rf_format_match(((const struct rf_limit_view *)of)->limit, text);
	return json_string(text);
}

static json_t *make_dport(const void *of)
{
	const struct rf_limit_view *view = of;

	return rf_view_ports(view->rules->ports[view->slot]);
}

static json_t *make_sport(const void *of)
{
	const struct rf_limit_view *view = of;

	return rf_view_ports(view->rules->sports[view->slot]);
}

static bool has_to(const void *of)
{
	return ((const struct rf_limit_view *)of)->limit->has_to;
}

static json_t *make_to(const void *of)
{
	const struct rf_limit_view *view = of;
	char text[RF_PREFIX_TEXT_SIZE];
	struct rf_prefix prefix;
	json_t *list = json_array();

	for (int at = 0; rf_to_next(&view->rules->bank.shapes, view->slot, &at, &prefix);) {
		rf_format_prefix(&prefix, text);
		json_array_append_new(list, json_string(text));
	}
	return list;
}

static json_t *text_or_null(const char *text)
{
	return *text ? json_string(text) : json_null();
}

static json_t *make_length(const void *of)
{
	char text[RF_LENGTH_TEXT_SIZE];

	rf_format_length(((const struct rf_limit_view *)of)->limit, text);
	return text_or_null(text);
}

static json_t *make_flags(const void *of)
{
	char text[RF_FLAGS_TEXT_SIZE];

	rf_format_tcp_flags(((const struct rf_limit_view *)of)->limit, text);
	return text_or_null(text);
}

static json_t *make_per4(const void *of)
{
	return json_integer(((const struct rf_limit_view *)of)->limit->per4);
}

static json_t *make_per6(const void *of)
{
	return json_integer(((const struct rf_limit_view *)of)->limit->per6);
}

static json_t *make_shadow(const void *of)
{
	return json_boolean(((const struct rf_limit_view *)of)->limit->flags & RF_SHADOW);
}

const struct rf_field rf_limit_match_fields[] = {
	RF_FIELD_MADE("name", RF_FIELD_TEXT, make_name, "its name"),
	RF_FIELD_MADE("match", RF_FIELD_TEXT, make_match, "any, tcp, tcp syn, udp \\&..."),
	RF_FIELD_MADE("dport", RF_FIELD_LIST, make_dport, "ports, or null: all", .or_null = true),
	RF_FIELD_MADE("sport", RF_FIELD_LIST, make_sport, "ports that it comes from, or null: all",
		      .or_null = true),
	RF_FIELD_MADE("to", RF_FIELD_LIST, make_to, "networks of the destination, or null: all",
		      .has = has_to, .or_null = true),
	RF_FIELD_MADE("length", RF_FIELD_TEXT, make_length, "lengths of frames, or null: all",
		      .or_null = true),
	RF_FIELD_MADE("flags", RF_FIELD_TEXT, make_flags,
		      "VALUE/MASK of the TCP flags, or null: all", .or_null = true),
	RF_FIELD_MADE("per", RF_FIELD_U8, make_per4, "prefix length of a source, IPv4"),
	RF_FIELD_MADE("per6", RF_FIELD_U8, make_per6, "the same of IPv6"),
	RF_FIELD_MADE("shadow", RF_FIELD_BOOL, make_shadow, "drops nothing"),
	{},
};

char *rf_view_to_text(const struct rf_ruleset *rules, int slot)
{
	char prefix_text[RF_PREFIX_TEXT_SIZE], *text = NULL;
	struct rf_prefix prefix;

	for (int at = 0; rf_to_next(&rules->bank.shapes, slot, &at, &prefix);) {
		char *longer;

		rf_format_prefix(&prefix, prefix_text);
		if (asprintf(&longer, "%s%s%s", text ? text : "", text ? "," : "", prefix_text) < 0)
			break;
		free(text);
		text = longer;
	}
	return text;
}

json_t *rf_view_merged(json_t *object, json_t *more)
{
	if (json_object_update(object, more)) {
		json_decref(object);
		object = NULL;
	}
	json_decref(more);
	return object;
}

size_t rf_view_count_list(const struct rf_ruleset *rules, enum rf_list list)
{
	size_t count = 0;

	for (size_t i = 0; i < rules->listed_count; i++)
		count += rf_listed_local_until(&rules->listed[i], list) != 0;
	return count;
}

size_t rf_view_count_fleet(const struct rf_ruleset *rules)
{
	size_t count = 0;

	for (size_t i = 0; i < rules->listed_count; i++)
		count += rf_listed_until_by(&rules->listed[i], RF_DENY, RF_OWNER_FLEET) != 0;
	return count;
}

size_t rf_view_count_from(const struct rf_ruleset *rules, int slot)
{
	size_t count = 0;

	for (size_t i = 0; i < rules->listed_count; i++)
		count += rules->listed[i].from >> slot & 1;
	return count;
}
