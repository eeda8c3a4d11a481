// SPDX-License-Identifier: GPL-2.0
#include "snapshot/records.h"
#include "base/hardware.h"
#include "base/json.h"
#include "base/time.h"
#include "rules/grammar.h"
#include "schema/reasons.h"
#include "snapshot/totals.h"

/* ---- counts ---- */

static const struct rf_field count_fields[] = {
	RF_FIELD("packets", struct rf_count, packets, "packets"),
	RF_FIELD("bytes", struct rf_count, bytes, "bytes of their frames"),
	{},
};

/* ---- interfaces ---- */

static const struct rf_field interface_packets[] = {
	RF_FIELD("passed", struct rf_interface_counters, passed.packets, "passed on the interface"),
	RF_FIELD("dropped", struct rf_interface_counters, dropped.packets,
		 "dropped on the interface"),
	{},
};

static const struct rf_field interface_bytes[] = {
	RF_FIELD("passed", struct rf_interface_counters, passed.bytes,
		 "bytes of those that passed"),
	RF_FIELD("dropped", struct rf_interface_counters, dropped.bytes, "bytes of those dropped"),
	{},
};

static const struct rf_field rest_fields[] = {
	RF_FIELD_GROUP("packets", interface_packets, "packets"),
	RF_FIELD_GROUP("bytes", interface_bytes, "the same in bytes"),
	{},
};

static json_t *make_ethernet(const void *of)
{
	return json_boolean(rf_has_ethernet(((const struct rf_interface *)of)->hardware));
}

static json_t *make_mode(const void *of)
{
	return json_string(rf_mode_name(((const struct rf_interface *)of)->mode));
}

const char *rf_attached_by(const struct rf_interface *interface)
{
	return interface->by_link || interface->chain.dispatcher_id ? "ringfence" : "ip";
}

static json_t *make_attached_by(const void *of)
{
	return json_string(rf_attached_by(of));
}

static bool has_chain(const void *of)
{
	return ((const struct rf_interface *)of)->chain.dispatcher_id;
}

/* The names of a chain's programs, in their order. */
static json_t *make_chain(const void *of)
{
	const struct rf_chain *chain = &((const struct rf_interface *)of)->chain;
	json_t *list = json_array();

	for (int i = 0; i < chain->count; i++)
		json_array_append_new(list, rf_json_text(chain->component[i].name));
	return list;
}

static const struct rf_field attached_fields[] = {
	RF_FIELD("name", struct rf_interface, name, "of the interface"),
	RF_FIELD_MADE("mode", RF_FIELD_TEXT, make_mode, "native, generic or offload"),
	RF_FIELD_MADE("attached_by", RF_FIELD_TEXT, make_attached_by, "ringfence or ip"),
	RF_FIELD_MADE("chain", RF_FIELD_LIST, make_chain, "programs of a chain, in order",
		      .has = has_chain, .or_null = true),
	RF_FIELD_MADE("ethernet", RF_FIELD_BOOL, make_ethernet,
		      "its frames have an Ethernet header"),
	{},
};

const struct rf_field rf_interface_fields[] = {
	RF_FIELDS_VIA(struct rf_interface_totals, interface, attached_fields),
	RF_FIELD_LINK("packets", struct rf_interface_totals, counted, interface_packets,
		      "of a fence that has had several", .or_null = true),
	RF_FIELD_LINK("bytes", struct rf_interface_totals, counted, interface_bytes,
		      "the same in bytes", .or_null = true),
	{},
};

static const void *interface_at(const void *of, size_t i)
{
	const struct rf_totals *totals = of;

	return i < (size_t)totals->fence->interfaces ? &totals->interface[i] : NULL;
}

static bool is_apart(const void *of)
{
	return ((const struct rf_totals *)of)->is_apart;
}

/* ---- stats ---- */

static const struct rf_field packets_fields[] = {
	RF_FIELD("passed", struct rf_sums, passed.packets, "those that passed"),
	RF_FIELD("dropped", struct rf_sums, dropped.packets, "those that were dropped"),
	RF_FIELD("would_drop", struct rf_sums, would_drop.packets,
		 "over a shadow limit, and passed"),
	{},
};

static const struct rf_field bytes_fields[] = {
	RF_FIELD("passed", struct rf_sums, passed.bytes, "bytes of those that passed"),
	RF_FIELD("dropped", struct rf_sums, dropped.bytes, "bytes of those dropped"),
	RF_FIELD("would_drop", struct rf_sums, would_drop.bytes, "bytes over a shadow limit"),
	{},
};

static const struct rf_field limit_bytes[] = {
	RF_FIELD("passed", struct rf_limit_totals, counted.passed.bytes, "bytes that it let pass"),
	RF_FIELD("dropped", struct rf_limit_totals, counted.dropped.bytes, "bytes that it dropped"),
	RF_FIELD("would_drop", struct rf_limit_totals, counted.would_drop.bytes,
		 "over it, as a shadow or in a pause"),
	RF_FIELD("forfeited", struct rf_limit_totals, counted.forfeited.bytes,
		 "bytes charged in vain"),
	{},
};

static const struct rf_field named_limit_fields[] = {
	RF_FIELD("name", struct rf_limit, name, "of the limit"),
	{},
};

static const struct rf_field limit_fields[] = {
	RF_FIELDS_VIA(struct rf_limit_totals, limit, named_limit_fields),
	RF_FIELD("passed", struct rf_limit_totals, counted.passed.packets,
		 "packets that it let pass"),
	RF_FIELD("dropped", struct rf_limit_totals, counted.dropped.packets,
		 "packets that it dropped"),
	RF_FIELD("would_drop", struct rf_limit_totals, counted.would_drop.packets,
		 "over it, as a shadow or in a pause"),
	RF_FIELD("forfeited", struct rf_limit_totals, counted.forfeited.packets,
		 "charged, and dropped by another"),
	RF_FIELD_GROUP("bytes", limit_bytes, "the same in bytes"),
	{},
};

static const void *limit_at(const void *of, size_t i)
{
	const struct rf_totals *totals = of;

	return i < (size_t)totals->limits ? &totals->limit[i] : NULL;
}

/* ---- counters of the whole fence ---- */

static const void *reason_at(const void *of, size_t i)
{
	const struct rf_totals *totals = of;

	return i < RF_REASON_COUNT ? &totals->since.counters.reason[i] : NULL;
}

static const char *reason_name(size_t i)
{
	return rf_reason_name(i);
}

static const void *map_error_at(const void *of, size_t i)
{
	const struct rf_totals *totals = of;

	return i < RF_MAP_ERROR_COUNT ? &totals->since.counters.map_error[i] : NULL;
}

static const char *map_error_name(size_t i)
{
	return rf_map_error_name(i);
}

static json_t *make_then(const void *of)
{
	const struct rf_totals *totals = of;

	return json_string(rf_newcomers_then_name(totals->rules.newcomers.then));
}

#define COUNTED(key, member, meaning) \
	RF_FIELD(key, struct rf_totals, since.counters.member, meaning)

const struct rf_field rf_newcomers_fields[] = {
	RF_FIELD("rate", struct rf_totals, rules.newcomers.rate, "packets in window_ms"),
	RF_FIELD_OF_NS("window_ms", struct rf_totals, rules.newcomers.window_ns,
		       "TIME of the rate"),
	RF_FIELD_MADE("then", RF_FIELD_TEXT, make_then, "off, open, closed or aggregate"),
	COUNTED("admitted", newcomers_admitted, "got a window"),
	COUNTED("aggregated", newcomers_aggregated, "charged to their network"),
	COUNTED("passed", reason[RF_NEWCOMER_OPEN].packets, "over the rate, and passed"),
	COUNTED("dropped", reason[RF_NEWCOMER_CLOSED].packets, "over the rate, and dropped"),
	COUNTED("known", newcomers_known, "known by another window"),
	COUNTED("unnoted", shadow_newcomers, "of shadow limits alone"),
	{},
};

static const struct rf_field family_fields[] = {
	RF_FIELD("inserts", struct rf_window_totals, made, "new windows so far"),
	RF_FIELD("evictions", struct rf_window_totals, evicted, "idle windows that made room"),
	RF_FIELD("used", struct rf_window_totals, used, "windows in use"),
	RF_FIELD("resident", struct rf_window_totals, residents, "of sources known for a while"),
	{},
};

const struct rf_field rf_windows_fields[] = {
	RF_FIELD_IN("ipv4", struct rf_totals, windows[0], family_fields, "of IPv4"),
	RF_FIELD_IN("ipv6", struct rf_totals, windows[1], family_fields, "of IPv6"),
	{},
};

/* ---- stats ---- */

static bool was_reset(const void *of)
{
	return ((const struct rf_totals *)of)->base.time_ns;
}

static json_t *make_reset(const void *of)
{
	char text[RF_TIME_TEXT_SIZE];

	rf_format_utc(((const struct rf_totals *)of)->base.time_ns, text);
	return json_string(text);
}

static const struct rf_field named_fence_fields[] = {
	RF_FIELD("fence", struct rf_fence, name, "its name"),
	{},
};

static const struct rf_field opened_fields[] = {
	RF_FIELD("fence", struct rf_fence, name, "its name"),
	RF_FIELD("program_id", struct rf_fence, program_id, "of the kernel's program"),
	RF_FIELD("sources", struct rf_fence, sources, "windows of each family"),
	{},
};

const struct rf_field rf_fence_fields[] = {
	RF_FIELDS_VIA(struct rf_totals, fence, opened_fields),
	{},
};

const struct rf_field rf_reset_fields[] = {
	RF_FIELDS_VIA(struct rf_totals, fence, named_fence_fields),
	RF_FIELD_MADE("reset", RF_FIELD_TEXT, make_reset, "when its counters began at 0, UTC",
		      .has = was_reset, .or_null = true),
	{},
};

const struct rf_field rf_stats_fields[] = {
	RF_FIELDS_ALSO(rf_reset_fields),
	RF_FIELD_IN("packets", struct rf_totals, since, packets_fields, "all packets"),
	RF_FIELD_IN("bytes", struct rf_totals, since, bytes_fields, "the same in bytes"),
	RF_FIELD_BY_NAME("reasons", reason_at, reason_name, RF_FIELD_OBJECT, count_fields,
			 "by reason"),
	RF_FIELD_LIST_OF("interfaces", interface_at, rf_interface_fields, "those attached"),
	RF_FIELD_IN("rest", struct rf_totals, rest, rest_fields,
		    "packets of no interface that is listed", .has = is_apart),
	RF_FIELD_LIST_OF("limits", limit_at, limit_fields, "by limit"),
	RF_FIELD_GROUP("newcomers", rf_newcomers_fields, "sources without a window"),
	RF_FIELD_GROUP("windows", rf_windows_fields, "by family"),
	RF_FIELD_BY_NAME("map_errors", map_error_at, map_error_name, RF_FIELD_U64, NULL,
			 "failures of maps"),
	{},
};

/* ---- rates ---- */

static const struct rf_field flow_fields[] = {
	RF_FIELD("passed", struct rf_flow_rates, passed, "that passed"),
	RF_FIELD("dropped", struct rf_flow_rates, dropped, "that were dropped"),
	{},
};

static const struct rf_field flows_fields[] = {
	RF_FIELDS_ALSO(flow_fields),
	RF_FIELD("would_drop", struct rf_flow_rates, would_drop, "over a shadow limit, and passed"),
	{},
};

static const struct rf_field named_interface_fields[] = {
	RF_FIELD("name", struct rf_interface, name, "of the interface"),
	{},
};

static const struct rf_field interface_rates_fields[] = {
	RF_FIELDS_VIA(struct rf_interface_rates, interface, named_interface_fields),
	RF_FIELD_IN("packets", struct rf_interface_rates, packets, flow_fields, "packets"),
	RF_FIELD_IN("bits", struct rf_interface_rates, bits, flow_fields, "bits"),
	{},
};

static const void *interface_rates_at(const void *of, size_t i)
{
	const struct rf_rates *rates = of;

	return i < (size_t)rates->interfaces ? &rates->interface[i] : NULL;
}

static bool rates_are_apart(const void *of)
{
	return ((const struct rf_rates *)of)->is_apart;
}

static const void *reason_rate_at(const void *of, size_t i)
{
	return i < RF_REASON_COUNT ? &((const struct rf_rates *)of)->reason[i] : NULL;
}

static const struct rf_field rates_fields[] = {
	RF_FIELD_IN("packets", struct rf_rates, packets, flows_fields, "packets"),
	RF_FIELD_IN("bits", struct rf_rates, bits, flows_fields, "bits"),
	RF_FIELD_BY_NAME("reasons", reason_rate_at, reason_name, RF_FIELD_REAL, NULL,
			 "packets by reason"),
	RF_FIELD_LIST_OF("interfaces", interface_rates_at, interface_rates_fields,
			 "of a fence that has had several", .has = rates_are_apart),
	{},
};

static json_t *make_time(const void *of)
{
	char text[RF_TIME_TEXT_SIZE];

	rf_format_utc(((const struct rf_stats_line *)of)->time_ns, text);
	return json_string(text);
}

const struct rf_field rf_stats_line_fields[] = {
	RF_FIELD_MADE("time", RF_FIELD_TEXT, make_time, "of a line of watch, UTC"),
	RF_FIELD("seconds", struct rf_stats_line, rates.seconds, "since the line before"),
	RF_FIELD_IN("rates", struct rf_stats_line, rates, rates_fields,
		    "in a second, of a line of watch"),
	{},
};
