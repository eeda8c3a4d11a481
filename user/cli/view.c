// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hardware.h"
#include "cli/out.h"
#include "cli/view.h"
#include "rules/destination.h"

void rf_view_memory(uint64_t bytes, char text[RF_MEMORY_TEXT_SIZE])
{
	snprintf(text, RF_MEMORY_TEXT_SIZE, "%.1f MiB", bytes / 1048576.0);
}

const char *rf_view_attached_by(const struct rf_interface *interface)
{
	return interface->by_link || interface->chain.dispatcher_id ? "ringfence" : "ip";
}

/* The names of a chain's programs, in their order; null without a chain. */
static json_t *view_chain(const struct rf_chain *chain)
{
	json_t *list = chain->dispatcher_id ? json_array() : json_null();

	for (int i = 0; i < chain->count; i++)
		json_array_append_new(list, rf_json_text(chain->component[i].name));
	return list;
}

static json_t *view_passed_dropped(uint64_t passed, uint64_t dropped)
{
	return json_pack("{s:I, s:I}", "passed", (json_int_t)passed, "dropped",
			 (json_int_t)dropped);
}

json_t *rf_view_interface_counters(const struct rf_interface_counters *counters)
{
	if (!counters)
		return json_pack("{s:n, s:n}", "packets", "bytes");
	return json_pack("{s:o, s:o}", "packets",
			 view_passed_dropped(counters->passed.packets, counters->dropped.packets),
			 "bytes",
			 view_passed_dropped(counters->passed.bytes, counters->dropped.bytes));
}

static json_t *view_interface(const struct rf_interface *interface)
{
	return json_pack("{s:o, s:b, s:s, s:s, s:o}", "name", rf_json_text(interface->name),
			 "ethernet", rf_has_ethernet(interface->hardware), "mode",
			 rf_mode_name(interface->mode), "attached_by",
			 rf_view_attached_by(interface), "chain", view_chain(&interface->chain));
}

json_t *rf_view_interfaces(const struct rf_fence *fence, const struct rf_by_interface *sums)
{
	json_t *list = json_array();

	for (int i = 0; i < fence->interfaces; i++) {
		const struct rf_interface *interface = &fence->interface[i];
		json_t *one = view_interface(interface);

		if (sums->is_counted)
			one = rf_view_merged(one, rf_view_interface_counters(rf_by_interface_of(
							  fence, sums, interface->index)));
		json_array_append_new(list, one);
	}
	return list;
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

static json_t *view_to(const struct rf_ruleset *rules, int slot)
{
	char text[RF_PREFIX_TEXT_SIZE];
	struct rf_prefix prefix;
	json_t *list;

	if (!rules->bank.limit[slot].has_to)
		return json_null();
	list = json_array();
	for (int at = 0; rf_to_next(&rules->bank.shapes, slot, &at, &prefix);) {
		rf_format_prefix(&prefix, text);
		json_array_append_new(list, json_string(text));
	}
	return list;
}

json_t *rf_view_with_shape(json_t *limit, const struct rf_ruleset *rules, int slot)
{
	const struct rf_limit *shape = &rules->bank.limit[slot];
	char length[RF_LENGTH_TEXT_SIZE], flags[RF_FLAGS_TEXT_SIZE];

	rf_format_length(shape, length);
	rf_format_tcp_flags(shape, flags);
	return rf_view_merged(limit, json_pack("{s:o, s:o, s:o, s:o}", "sport",
					       rf_view_ports(rules->sports[slot]), "to",
					       view_to(rules, slot), "length",
					       *length ? json_string(length) : json_null(), "flags",
					       *flags ? json_string(flags) : json_null()));
}

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

json_t *rf_view_newcomers(const struct rf_counters *counters)
{
	return json_pack("{s:I, s:I, s:I, s:I}", "admitted",
			 (json_int_t)counters->newcomers_admitted, "aggregated",
			 (json_int_t)counters->newcomers_aggregated, "passed",
			 (json_int_t)counters->reason[RF_NEWCOMER_OPEN].packets, "dropped",
			 (json_int_t)counters->reason[RF_NEWCOMER_CLOSED].packets);
}

json_t *rf_view_windows(const struct rf_counters *counters, int family)
{
	return json_pack("{s:I, s:I}", "inserts", (json_int_t)counters->inserts[family],
			 "evictions", (json_int_t)counters->evictions[family]);
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
