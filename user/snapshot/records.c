// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "base/json.h"
#include "base/netlink.h"
#include "base/time.h"
#include "rules/grammar.h"
#include "schema/reasons.h"
#include "snapshot/records.h"
#include "snapshot/shown.h"
#include "snapshot/sources.h"
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

static const struct rf_field named_interface_fields[] = {
	RF_FIELD("name", struct rf_interface, name, "of the interface"),
	{},
};

static const struct rf_field attached_fields[] = {
	RF_FIELDS_ALSO(named_interface_fields),
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

const char *rf_confirm_state_word(enum rf_confirm_state state)
{
	static const char *const words[] = {
		[RF_CONFIRMED] = "confirmed",
		[RF_PENDING] = "pending",
		[RF_REVERTED] = "reverted",
		[RF_EXPIRED] = "expired",
	};

	return words[state];
}

/* ---- sums, and limits ---- */

static const struct rf_field packets_fields[] = {
	RF_FIELD("passed", struct rf_fence_sums, passed.packets, "those that passed"),
	RF_FIELD("dropped", struct rf_fence_sums, dropped.packets, "those that were dropped"),
	RF_FIELD("would_drop", struct rf_fence_sums, would_drop.packets,
		 "over a shadow limit, and passed"),
	{},
};

static const struct rf_field bytes_fields[] = {
	RF_FIELD("passed", struct rf_fence_sums, passed.bytes, "bytes of those that passed"),
	RF_FIELD("dropped", struct rf_fence_sums, dropped.bytes, "bytes of those dropped"),
	RF_FIELD("would_drop", struct rf_fence_sums, would_drop.bytes, "bytes over a shadow limit"),
	{},
};

static const struct rf_field limit_bytes[] = {
	RF_FIELD("passed", struct rf_limit_totals, counted.passed.bytes, "bytes that it let pass"),
	RF_FIELD("dropped", struct rf_limit_totals, counted.dropped.bytes, "bytes that it dropped"),
	RF_FIELD("would_drop", struct rf_limit_totals, counted.would_drop.bytes,
		 "over it, as a shadow or in a pause"),
	RF_FIELD("forfeited", struct rf_limit_totals, counted.forfeited.bytes,
		 "bytes charged although the packet was dropped"),
	RF_FIELD("truncated", struct rf_limit_totals, counted.truncated.bytes,
		 "bytes of those answered with TC=1"),
	{},
};

const struct rf_field rf_limit_name_fields[] = {
	RF_FIELD("name", struct rf_limit, name, "of the limit"),
	{},
};

static const struct rf_field limit_fields[] = {
	RF_FIELDS_VIA(struct rf_limit_totals, limit, rf_limit_name_fields),
	RF_FIELD("passed", struct rf_limit_totals, counted.passed.packets,
		 "packets that it let pass"),
	RF_FIELD("dropped", struct rf_limit_totals, counted.dropped.packets,
		 "packets that it dropped"),
	RF_FIELD("would_drop", struct rf_limit_totals, counted.would_drop.packets,
		 "over it, as a shadow or in a pause"),
	RF_FIELD("forfeited", struct rf_limit_totals, counted.forfeited.packets,
		 "charged, and dropped by another"),
	RF_FIELD("truncated", struct rf_limit_totals, counted.truncated.packets,
		 "dropped, and answered with TC=1"),
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

static const char *reason_name(const void *item, size_t i)
{
	(void)item;
	return rf_reason_name(i);
}

static const void *map_error_at(const void *of, size_t i)
{
	const struct rf_totals *totals = of;

	return i < RF_MAP_ERROR_COUNT ? &totals->since.counters.map_error[i] : NULL;
}

static const char *map_error_name(const void *item, size_t i)
{
	(void)item;
	return rf_map_error_name(i);
}

static json_t *make_then(const void *of)
{
	const struct rf_totals *totals = of;

	return json_string(rf_newcomers_then_name(totals->rules.newcomers.then));
}

static bool challenges(const void *of)
{
	return ((const struct rf_totals *)of)->rules.newcomers.then == RF_NEWCOMERS_CHALLENGE;
}

static json_t *make_dns_ports(const void *of)
{
	const struct rf_newcomers *newcomers = &((const struct rf_totals *)of)->rules.newcomers;
	json_t *ports = json_array();

	for (int i = 0; i < newcomers->dns_ports && i < RF_DNS_PORTS_MAX; i++)
		json_array_append_new(ports, json_integer(newcomers->dns_port[i]));
	return ports;
}

static json_t *make_except_established(const void *of)
{
	return json_boolean(((const struct rf_totals *)of)->rules.newcomers.except_established);
}

#define COUNTED(key, member, meaning) \
	RF_FIELD(key, struct rf_totals, since.counters.member, meaning)

const struct rf_field rf_newcomers_fields[] = {
	RF_FIELD("rate", struct rf_totals, rules.newcomers.rate, "packets in window_ms"),
	RF_FIELD_OF_NS("window_ms", struct rf_totals, rules.newcomers.window_ns,
		       "TIME of the rate"),
	RF_FIELD_MADE("then", RF_FIELD_TEXT, make_then, "off, pass, drop, aggregate or challenge"),
	RF_FIELD_MADE("except_established", RF_FIELD_BOOL, make_except_established,
		      "packets of open connections pass"),
	RF_FIELD("answers", struct rf_totals, rules.newcomers.answers, "challenges in answers_ms",
		 .has = challenges, .or_null = true),
	RF_FIELD_OF_NS("answers_ms", struct rf_totals, rules.newcomers.answers_ns,
		       "TIME of the answers", .has = challenges, .or_null = true),
	RF_FIELD_MADE("dns", RF_FIELD_LIST, make_dns_ports, "ports of challenged queries",
		      .element = RF_FIELD_INT, .has = challenges, .or_null = true),
	COUNTED("admitted", newcomers_admitted, "got a window"),
	COUNTED("aggregated", newcomers_aggregated, "charged to their network"),
	COUNTED("passed", reason[RF_NEWCOMER_PASS].packets, "over the rate, and passed"),
	COUNTED("dropped", reason[RF_NEWCOMER_DROP].packets, "over the rate, and dropped"),
	COUNTED("established", reason[RF_ESTABLISHED].packets, "over the rate, passed as open"),
	COUNTED("challenged", reason[RF_CHALLENGED].packets, "over the rate, answered, dropped"),
	COUNTED("proven", reason[RF_PROVEN].packets, "over the rate, passed with a proof"),
	COUNTED("known", newcomers_known, "known by another window"),
	COUNTED("shadow_only", shadow_newcomers, "of shadow limits only"),
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

const struct rf_field rf_fence_name_fields[] = {
	RF_FIELD("fence", struct rf_fence, name, "its name"),
	{},
};

static const struct rf_field opened_fields[] = {
	RF_FIELDS_ALSO(rf_fence_name_fields),
	RF_FIELD("program_id", struct rf_fence, program_id, "of the kernel's program"),
	RF_FIELD("sources", struct rf_fence, sources, "windows of each family"),
	{},
};

const struct rf_field rf_fence_fields[] = {
	RF_FIELDS_VIA(struct rf_totals, fence, opened_fields),
	{},
};

const struct rf_field rf_reset_fields[] = {
	RF_FIELDS_VIA(struct rf_totals, fence, rf_fence_name_fields),
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

/* ---- sources ---- */

static json_t *make_unit(const void *of)
{
	return json_string(rf_unit_name(((const struct rf_limit *)of)->unit));
}

static bool has_burst(const void *of)
{
	return rf_has_burst(of);
}

static json_t *make_shadow(const void *of)
{
	return json_boolean(((const struct rf_limit *)of)->flags & RF_SHADOW);
}

/* Where a record names its limit. */
static const struct rf_field of_limit_fields[] = {
	RF_FIELD("limit", struct rf_limit, name, "name of the limit"),
	{},
};

const struct rf_field rf_limit_rate_fields[] = {
	RF_FIELD("rate", struct rf_limit, rate, "COUNT, in unit"),
	RF_FIELD_OF_NS("window_ms", struct rf_limit, window_ns, "TIME of the rate"),
	RF_FIELD_MADE("unit", RF_FIELD_TEXT, make_unit, "packets or bytes"),
	RF_FIELD("burst", struct rf_limit, burst, "of token and leaky, in unit", .has = has_burst,
		 .or_null = true),
	RF_FIELD_MADE("shadow", RF_FIELD_BOOL, make_shadow, "the limit drops nothing"),
	{},
};

static json_t *make_used_per_s(const void *of)
{
	return json_real(rf_source_row_rate(of));
}

static const struct rf_field source_fields[] = {
	RF_FIELD_OF_PREFIX("source", struct rf_source_row, source,
			   "address, or prefix of the group"),
	RF_FIELDS_VIA(struct rf_source_row, limit, of_limit_fields),
	RF_FIELDS_VIA(struct rf_source_row, limit, rf_limit_rate_fields),
	RF_FIELD("passed", struct rf_source_row, passed, "packets that passed"),
	RF_FIELD("dropped", struct rf_source_row, dropped, "packets that were dropped"),
	RF_FIELD("would_drop", struct rf_source_row, would_drop,
		 "passed by a shadow limit or a pause"),
	RF_FIELD("used", struct rf_source_row, used, "of the rate, in unit"),
	RF_FIELD("lent", struct rf_source_row, lent, "of used: lent to CPUs"),
	RF_FIELD_MADE("used_per_s", RF_FIELD_REAL, make_used_per_s,
		      "used, divided by TIME in seconds"),
	RF_FIELD_OF_NS("banned_ms", struct rf_source_row, banned_ns, "left of a ban; 0: none"),
	RF_FIELD("aggregate", struct rf_source_row, is_aggregate, "a window that newcomers share"),
	{},
};

static const void *source_row_at(const void *of, size_t i)
{
	const struct rf_source_rows *rows = of;

	return i < rows->count ? &rows->row[i] : NULL;
}

const struct rf_field rf_sources_fields[] = {
	RF_FIELD_LIST_OF("sources", source_row_at, source_fields, "the first N"),
	{},
};

const struct rf_field rf_windows_within_fields[] = {
	RF_FIELD_LIST_OF("windows", source_row_at, source_fields,
			 "of a network: the windows within it"),
	{},
};

/* ---- sources without a window ---- */

static json_t *make_reason(const void *of)
{
	return json_string(rf_reason_name(((const struct rf_unseen_row *)of)->reason));
}

static const struct rf_field unseen_row_fields[] = {
	RF_FIELD_OF_PREFIX("source", struct rf_unseen_row, source, "address, or /64 of IPv6"),
	RF_FIELD_MADE("reason", RF_FIELD_TEXT, make_reason, "of the verdict, as in stats"),
	RF_FIELD("packets_per_s", struct rf_unseen_row, per_s, "estimated"),
	RF_FIELD("samples", struct rf_unseen_row, samples, "the estimate is made from these"),
	{},
};

static const void *unseen_at(const void *of, size_t i)
{
	const struct rf_unseen *unseen = of;

	return i < unseen->count ? &unseen->row[i] : NULL;
}

static json_t *make_seconds(const void *of)
{
	return json_real(((const struct rf_unseen *)of)->time_ns / 1e9);
}

const struct rf_field rf_unseen_fields[] = {
	RF_FIELD("one_in", struct rf_unseen, one_in, "of so many packets, one was taken"),
	RF_FIELD_MADE("seconds", RF_FIELD_REAL, make_seconds, "how long samples were read"),
	RF_FIELD("samples", struct rf_unseen, samples, "samples that were read"),
	RF_FIELD("missed", struct rf_unseen, missed, "samples overwritten before they were read"),
	RF_FIELD_LIST_OF("sources", unseen_at, unseen_row_fields, "the first N"),
	{},
};

/* ---- bans ---- */

static json_t *make_banned(const void *of)
{
	const struct rf_prefix prefix = rf_ban_prefix(of);
	char text[RF_PREFIX_TEXT_SIZE];

	rf_format_prefix(&prefix, text);
	return json_string(text);
}

static json_t *make_ban_all(const void *of)
{
	return json_boolean(((const struct rf_ban_row *)of)->limit->flags & RF_BAN_ALL);
}

static const struct rf_field ban_fields[] = {
	RF_FIELD_MADE("source", RF_FIELD_TEXT, make_banned, "the banned source"),
	RF_FIELDS_VIA(struct rf_ban_row, limit, of_limit_fields),
	RF_FIELD_MADE("all", RF_FIELD_BOOL, make_ban_all, "every packet of the source is dropped"),
	RF_FIELD_OF_NS("left_ms", struct rf_ban_row, left_ns, "until the ban ends"),
	RF_FIELD_OF_NS("since_ms", struct rf_ban_row, lasted_ns, "since the ban began"),
	{},
};

static const void *ban_at(const void *of, size_t i)
{
	const struct rf_bans *bans = of;

	return i < bans->count ? &bans->row[i] : NULL;
}

const struct rf_field rf_bans_fields[] = {
	RF_FIELD_LIST_OF("bans", ban_at, ban_fields, "those that go on"),
	{},
};

/* ---- one source ---- */

static bool is_limited_in_time(const void *of)
{
	return ((const struct rf_list_answer *)of)->left_ns != RF_FOREVER;
}

const struct rf_field rf_list_answer_fields[] = {
	RF_FIELD("prefix", struct rf_list_answer, prefix, "the prefix of the list"),
	RF_FIELD_OF_NS("left_ms", struct rf_list_answer, left_ns,
		       "left of its time; null: for good", .has = is_limited_in_time,
		       .or_null = true),
	{},
};

static const struct rf_shown_limit *shown_limit(const void *of)
{
	return of;
}

static json_t *make_cells(const void *of)
{
	json_t *cells = json_array();

	for (int i = 0; i < shown_limit(of)->cells; i++)
		json_array_append_new(cells, json_integer(shown_limit(of)->cell[i]));
	return cells;
}

static json_t *make_would_drop(const void *of)
{
	return json_integer(rf_shown_would_drop(of));
}

static bool passes_again(const void *of)
{
	return shown_limit(of)->wait_ms != RF_WAIT_FOREVER;
}

static bool would_pass_again(const void *of)
{
	return shown_limit(of)->limit->flags & RF_SHADOW &&
	       shown_limit(of)->passes_again_ms != RF_WAIT_FOREVER;
}

static bool has_room_of_fleet(const void *of)
{
	return shown_limit(of)->limit->flags & RF_FLEET && !shown_limit(of)->newcomer;
}

static bool has_recent(const void *of)
{
	const struct rf_case *its = shown_limit(of)->its;

	return its->recent_ms && rf_verdict_wants_recent(its) &&
	       rf_answer_has_dropped(shown_limit(of)->answer);
}

static const struct rf_field over_fields[] = {
	RF_FIELD("interval_ms", struct rf_case, recent_ms, "about a second"),
	{},
};

static const struct rf_field charged_fields[] = {
	RF_FIELD("passed", struct rf_limit_answer, recent.passed,
		 "packets passed in the same time"),
	RF_FIELD("dropped", struct rf_limit_answer, recent.dropped,
		 "packets dropped in the last interval_ms"),
	{},
};

static const struct rf_field recent_fields[] = {
	RF_FIELDS_VIA(struct rf_shown_limit, its, over_fields),
	RF_FIELDS_VIA(struct rf_shown_limit, answer, charged_fields),
	{},
};

static const struct rf_field shown_limit_fields[] = {
	RF_FIELDS_VIA(struct rf_shown_limit, limit, of_limit_fields),
	RF_FIELDS_VIA(struct rf_shown_limit, limit, rf_limit_rate_fields),
	RF_FIELD("source", struct rf_shown_limit, source, "address, or prefix of the group"),
	RF_FIELD("newcomer", struct rf_shown_limit, newcomer, "the source has no window there"),
	RF_FIELD("passed", struct rf_shown_limit, state.passed, "packets that passed"),
	RF_FIELD("dropped", struct rf_shown_limit, state.dropped, "packets that were dropped"),
	RF_FIELD_MADE("would_drop", RF_FIELD_U64, make_would_drop,
		      "passed by a shadow limit or a pause"),
	RF_FIELD("used", struct rf_shown_limit, used, "of the rate, in unit"),
	RF_FIELD("lent", struct rf_shown_limit, lent, "of used: lent to CPUs"),
	RF_FIELD_MADE("cells", RF_FIELD_LIST, make_cells, "used in each cell, the oldest first"),
	RF_FIELD("remaining", struct rf_shown_limit, room,
		 "of a fleet limit: what this host can still pass", .has = has_room_of_fleet,
		 .or_null = true),
	RF_FIELD_OF_NS("banned_ms", struct rf_shown_limit, banned_ns, "left of a ban; 0: none"),
	RF_FIELD("retry_after_ms", struct rf_shown_limit, wait_ms, "until this limit has room",
		 .has = passes_again, .or_null = true),
	RF_FIELD("shadow_retry_after_ms", struct rf_shown_limit, passes_again_ms,
		 "the same of a shadow limit", .has = would_pass_again, .or_null = true),
	RF_FIELD_GROUP("recent", recent_fields, "where it dropped some, and a packet passes now",
		       .has = has_recent, .or_null = true),
	{},
};

static const void *shown_limit_at(const void *of, size_t i)
{
	const struct rf_shown *shown = of;

	return i < (size_t)shown->its.answers ? &shown->limit[i] : NULL;
}

static bool is_allowed(const void *of)
{
	return ((const struct rf_shown *)of)->its.list[RF_ALLOW].is_listed;
}

static bool is_denied(const void *of)
{
	return ((const struct rf_shown *)of)->its.list[RF_DENY].is_listed;
}

static const struct rf_decision *verdict_of(const void *of)
{
	return &((const struct rf_shown *)of)->decision;
}

static bool is_decided(const void *of)
{
	return verdict_of(of)->kind;
}

static bool has_wait(const void *of)
{
	return verdict_of(of)->wait_ms != RF_WAIT_FOREVER;
}

static json_t *make_summary(const void *of)
{
	char *text = rf_verdict_text(&((const struct rf_shown *)of)->its);
	json_t *json = text ? rf_json_text(text) : NULL;

	free(text);
	return json;
}

static const struct rf_field by_fields[] = {
	RF_FIELD("kind", struct rf_decision, kind, "limit, deny, allow, ban, pause \\&..."),
	RF_FIELD("limit", struct rf_decision, limit, "the limit that decides", .or_null = true),
	RF_FIELD("prefix", struct rf_decision, prefix, "the prefix of the list", .or_null = true),
	{},
};

const struct rf_field rf_shown_fields[] = {
	RF_FIELD("source", struct rf_shown, source, "the address that was asked for"),
	RF_FIELD("verdict", struct rf_shown, decision.outcome,
		 "passes, dropped, partly or depends"),
	RF_FIELD_IN("by", struct rf_shown, decision, by_fields, "what decides; null: no rule does",
		    .has = is_decided, .or_null = true),
	RF_FIELD("retry_after_ms", struct rf_shown, decision.wait_ms,
		 "until a packet passes; 0: now", .has = has_wait, .or_null = true),
	RF_FIELD_MADE("summary", RF_FIELD_TEXT, make_summary,
		      "the verdict in words, in one line or several"),
	RF_FIELD_IN("allowed", struct rf_shown, its.list[RF_ALLOW], rf_list_answer_fields,
		    "its entry of the list", .has = is_allowed, .or_null = true),
	RF_FIELD_IN("denied", struct rf_shown, its.list[RF_DENY], rf_list_answer_fields,
		    "the same of the deny list", .has = is_denied, .or_null = true),
	RF_FIELD_LIST_OF("limits", shown_limit_at, shown_limit_fields, "those that may apply"),
	{},
};
