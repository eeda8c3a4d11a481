// SPDX-License-Identifier: GPL-2.0
/* status */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/attach.h"
#include "attach/load.h"
#include "base/netlink.h"
#include "base/time.h"
#include "cli/out.h"
#include "cli/view.h"
#include "kernel/needs.h"
#include "rules/attribute.h"
#include "rules/policy.h"
#include "snapshot/records.h"
#include "snapshot/state.h"

#define NEARLY_FULL 90 /* of 100 */
#define FULL 99 /* of 100; two CPUs that add the same source concurrently leave a slot free */

/* An interface, and the facts that only the status prints. */
struct status_interface {
	struct rf_interface_totals totals;
	struct rf_bypass bypass;
	enum rf_answer this_build;
};

/* Everything that status prints. */
struct status {
	struct rf_fence_state state;
	struct status_interface *interface;
	struct rf_limit_view limit[RF_LIMITS_MAX];
	int limits;
	enum rf_answer this_build;		 /* on every interface */
	size_t allowed, denied, denied_by_fleet; /* prefixes */
	int syncookies;				 /* net.ipv4.tcp_syncookies; -1: not known */
};

static void view_ports_text(const uint64_t *ports, char text[RF_PORTS_TEXT_SIZE])
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

/* The values of `to` of a limit: PREFIX,…, which the caller frees; NULL: none. */
static char *view_to_text(const struct rf_ruleset *rules, int slot)
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

static size_t view_count_from(const struct rf_ruleset *rules, int slot)
{
	size_t count = 0;

	for (size_t i = 0; i < rules->listed_count; i++)
		count += rules->listed[i].from >> slot & 1;
	return count;
}

static int take_interfaces(struct status *status, struct rf_error *error)
{
	const struct rf_fence_state *state = &status->state;
	const int interfaces = state->fence->interfaces;
	struct rf_build build;

	status->interface = calloc(interfaces + 1, sizeof(*status->interface));
	if (!status->interface)
		return rf_error_failed(error, -ENOMEM, "not enough memory");
	rf_build_read(&build); /* if it fails, the result includes the reason */
	status->this_build = RF_YES;
	for (int i = 0; i < interfaces; i++) {
		struct status_interface *one = &status->interface[i];

		one->totals = state->totals.interface[i];
		one->bypass = state->bypass[i];
		one->this_build = rf_build_is_on(&build, one->totals.interface);
		if (one->this_build != RF_YES && status->this_build != RF_NO)
			status->this_build = one->this_build;
	}
	return 0;
}

static void take_rules(struct status *status)
{
	const struct rf_ruleset *rules = &status->state.rules.set;
	int slots[RF_LIMITS_MAX];

	status->limits = rf_bank_slots(&rules->bank, slots);
	for (int i = 0; i < status->limits; i++)
		status->limit[i] = rf_limit_view(rules, slots[i]);
	status->allowed = rf_ruleset_count_listed(rules, RF_ALLOW, &RF_OWNERS_LOCAL);
	status->denied = rf_ruleset_count_listed(rules, RF_DENY, &RF_OWNERS_LOCAL);
	status->denied_by_fleet = rf_ruleset_count_listed(rules, RF_DENY, &RF_OWNERS_FLEET);
}

/* Was the attach not confirmed in time? */
static bool is_unconfirmed(const struct status *status)
{
	return status->state.rules.standing.state == RF_EXPIRED;
}

/* ---- JSON ---- */

static bool knows_build(const void *of)
{
	return ((const struct status_interface *)of)->this_build != RF_NOT_KNOWN;
}

static json_t *make_build(const void *of)
{
	return json_boolean(((const struct status_interface *)of)->this_build == RF_YES);
}

static enum rf_answer suits_mtu(const void *of)
{
	return rf_entry_suits(((const struct status_interface *)of)->totals.interface);
}

static bool knows_mtu(const void *of)
{
	return suits_mtu(of) != RF_NOT_KNOWN;
}

static json_t *make_suits(const void *of)
{
	return json_boolean(suits_mtu(of) == RF_YES);
}

static bool is_bypassed(const void *of)
{
	return ((const struct status_interface *)of)->bypass.met == RF_BYPASSED;
}

static const struct rf_field bypass_fields[] = {
	RF_FIELD("packets", struct rf_bypass, packets, "received in that time"),
	RF_FIELD_OF_NS("since_ms", struct rf_bypass, for_ns, "since when none was counted"),
	{},
};

static const struct rf_field interface_fields[] = {
	RF_FIELDS_OF(struct status_interface, totals, rf_interface_fields),
	RF_FIELD_MADE("this_build", RF_FIELD_BOOL, make_build, "its program is of this build",
		      .has = knows_build, .or_null = true),
	RF_FIELD_IN("bypassed", struct status_interface, bypass, bypass_fields,
		    "packets do not meet the program", .has = is_bypassed, .or_null = true),
	RF_FIELD_MADE("mtu_ok", RF_FIELD_BOOL, make_suits, "false: large frames are lost",
		      .has = knows_mtu, .or_null = true),
	{},
};

static const void *interface_at(const void *of, size_t i)
{
	const struct status *status = of;

	return i < (size_t)status->state.fence->interfaces ? &status->interface[i] : NULL;
}

/* ---- the fence, for programs ---- */

static json_t *make_from(const void *of)
{
	const struct rf_limit_view *limit = of;

	return json_integer(view_count_from(limit->rules, limit->slot));
}

static bool has_from(const void *of)
{
	return ((const struct rf_limit_view *)of)->limit->has_from;
}

/* A bit set of RF_PORTS as ["53", "1000-2000"]; null for NULL. */
static json_t *view_ports(const uint64_t *ports)
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

static json_t *make_match(const void *of)
{
	char text[RF_MATCH_TEXT_SIZE];

	rf_format_match(((const struct rf_limit_view *)of)->limit, text);
	return json_string(text);
}

static json_t *make_dport(const void *of)
{
	const struct rf_limit_view *view = of;

	return view_ports(view->rules->ports[view->slot]);
}

static json_t *make_sport(const void *of)
{
	const struct rf_limit_view *view = of;

	return view_ports(view->rules->sports[view->slot]);
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

static const struct rf_field name_fields[] = {
	RF_FIELD("name", struct rf_limit, name, "its name"),
	{},
};

static const struct rf_field limit_fields[] = {
	RF_FIELDS_VIA(struct rf_limit_view, limit, name_fields),
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
	RF_FIELD_MADE("from", RF_FIELD_U64, make_from, "number of prefixes, or null: all",
		      .has = has_from, .or_null = true),
	{},
};

static json_t *make_enforced(const void *of)
{
	const struct status *status = of;

	return json_boolean(status->limits && !is_unconfirmed(status) &&
			    !status->state.rules.standing.paused_ns);
}

static bool knows_builds(const void *of)
{
	return ((const struct status *)of)->this_build != RF_NOT_KNOWN;
}

static json_t *make_builds(const void *of)
{
	return json_boolean(((const struct status *)of)->this_build == RF_YES);
}

static const struct rf_field list_fields[] = {
	RF_FIELD("allow", struct status, allowed, "on the allow list"),
	RF_FIELD("deny", struct status, denied, "on the deny list"),
	RF_FIELD("fleet", struct status, denied_by_fleet, "on the deny list by other hosts"),
	{},
};

static json_t *make_confirm_state(const void *of)
{
	return json_string(rf_confirm_state_word(((const struct rf_standing *)of)->state));
}

static json_t *make_confirm_of(const void *of)
{
	const struct rf_standing *standing = of;

	return json_string(standing->fallback == RF_FALL_BACK ? "apply" : "attach");
}

static bool is_pending(const void *of)
{
	return ((const struct rf_standing *)of)->state == RF_PENDING;
}

static bool is_over(const void *of)
{
	return !is_pending(of);
}

static const struct rf_field unconfirmed_fields[] = {
	RF_FIELD_MADE("state", RF_FIELD_TEXT, make_confirm_state, "pending, reverted or expired"),
	RF_FIELD_MADE("of", RF_FIELD_TEXT, make_confirm_of, "apply or attach"),
	RF_FIELD_OF_NS("left_ms", struct rf_standing, confirm_ns,
		       "until the old rules return, or everything passes", .has = is_pending),
	RF_FIELD_OF_NS("since_ms", struct rf_standing, confirm_ns, "since then", .has = is_over),
	{},
};

static bool has_unconfirmed(const void *of)
{
	return ((const struct status *)of)->state.rules.standing.state != RF_CONFIRMED;
}

static json_t *make_capacity(const void *of)
{
	(void)of;
	return json_integer(RF_BANS_MAX);
}

static const struct rf_field bans_fields[] = {
	RF_FIELD("active", struct status, state.bans.count, "active bans"),
	RF_FIELD_MADE("capacity", RF_FIELD_INT, make_capacity, "the most bans"),
	RF_FIELD("refused", struct status, state.totals.since.counters.bans_refused,
		 "bans refused because the table was full"),
	{},
};

static bool needs_syncookies(const void *of)
{
	const struct status *status = of;

	return status->state.rules.set.bank.newcomers.then == RF_NEWCOMERS_CHALLENGE &&
	       status->syncookies >= 0;
}

static json_t *make_syncookies(const void *of)
{
	return json_boolean(((const struct status *)of)->syncookies == RF_SYNCOOKIES_ALWAYS);
}

static const void *map_memory_at(const void *of, size_t i)
{
	return i < RF_MAP_COUNT ? &((const struct rf_memory *)of)->map[i] : NULL;
}

static const char *map_name(const void *item, size_t i)
{
	(void)item;
	return rf_map_names[i];
}

static const struct rf_field memory_fields[] = {
	RF_FIELD("bytes", struct rf_memory, bytes, "total"),
	RF_FIELD_BY_NAME("maps", map_memory_at, map_name, RF_FIELD_U64, NULL, "bytes by map"),
	{},
};

static json_t *make_version(const void *of)
{
	(void)of;
	return json_string(RINGFENCE_VERSION);
}

static json_t *make_abi(const void *of)
{
	(void)of;
	return json_integer(RF_ABI_VERSION);
}

static const struct rf_field status_fields[] = {
	RF_FIELDS_OF(struct status, state.totals, rf_fence_fields),
	RF_FIELD_MADE("version", RF_FIELD_TEXT, make_version, "of the running ringfence command"),
	RF_FIELD_MADE("abi", RF_FIELD_INT, make_abi, "number of the map ABI"),
	RF_FIELD_MADE("this_build", RF_FIELD_BOOL, make_builds,
		      "the program on each interface is of this build", .has = knows_builds,
		      .or_null = true),
	RF_FIELD_MADE("enforced", RF_FIELD_BOOL, make_enforced, "at least one limit drops packets"),
	RF_FIELD_OF_NS("paused_ms", struct status, state.rules.standing.paused_ns,
		       "until a pause expires; 0: not paused"),
	RF_FIELD_IN("unconfirmed", struct status, state.rules.standing, unconfirmed_fields,
		    "rules or an attach not yet confirmed; null: none", .has = has_unconfirmed,
		    .or_null = true),
	RF_FIELD_LIST_OF("interfaces", interface_at, interface_fields, "those attached"),
	RF_FIELD_OBJECTS("limits", struct status, limit, limits, limit_fields, "the limits"),
	RF_FIELD_GROUP("lists", list_fields, "entries of the lists"),
	RF_FIELD_GROUP("bans", bans_fields, "of all limits"),
	RF_FIELD_IN("newcomers", struct status, state.totals, rf_newcomers_fields,
		    "sources without a window"),
	RF_FIELD_MADE("syncookies_ok", RF_FIELD_BOOL, make_syncookies,
		      "false: newcomers are not challenged", .has = needs_syncookies,
		      .or_null = true),
	RF_FIELD_IN("windows", struct status, state.totals, rf_windows_fields, "by family"),
	RF_FIELD_IN("memory", struct status, state.memory, memory_fields,
		    "of the kernel, for the maps"),
	{},
};

/* ---- text ---- */

/* The programs in the order in which they run, ringfence among them. */
static void print_chain(const struct rf_chain *chain)
{
	for (int i = 0; i < chain->count; i++)
		rf_out_text("%s'%s'", i ? ", " : ", in a chain: ", chain->component[i].name);
}

/* The packets that the interface passed and dropped, for a fence that has had several. */
static void print_counted(const struct rf_interface_counters *counted)
{
	if (counted)
		rf_out_text("; %" PRIu64 " packets passed, %" PRIu64 " dropped",
			    (uint64_t)counted->passed.packets, (uint64_t)counted->dropped.packets);
}

/* The operator types the command as it is printed, so a fence with several interfaces has several.
 */
static void print_other_builds(const struct status *status)
{
	for (int i = 0; i < status->state.fence->interfaces; i++) {
		const struct rf_interface *interface = &status->state.fence->interface[i];

		if (status->interface[i].this_build == RF_NO)
			rf_out_text(
				"  %s: program of another build; 'ringfence attach %s' upgrades it "
				"in place\n",
				interface->name, interface->name);
	}
}

/* Frames that no longer meet the program, each with the command that repairs it. */
static void print_lost(const struct rf_interface *interface, const struct rf_bypass *bypass)
{
	char text[RF_BYPASS_TEXT_SIZE];

	rf_bypass_format(bypass, text);
	if (bypass->met == RF_BYPASSED)
		rf_out_text("  %s: NOT PROTECTED: %s; the driver might have lost it: 'ringfence "
			    "attach %s' repairs it in place\n",
			    interface->name, text, interface->name);
	if (rf_entry_suits(interface) == RF_NO)
		rf_out_text("  %s: frames larger than %d bytes are lost: its MTU was raised after "
			    "the attach; 'ringfence attach %s' repairs it in place\n",
			    interface->name, RF_PLAIN_MTU_MAX, interface->name);
}

static void print_interfaces(const struct status *status)
{
	static const char *const whose[] = {
		[RF_NOT_KNOWN] = "", [RF_NO] = " of another build", [RF_YES] = " of this build"};
	const struct rf_fence *fence = status->state.fence;
	char memory[RF_MEMORY_TEXT_SIZE];
	bool generic = false;

	rf_view_memory(status->state.memory.bytes, memory);
	rf_out_text(
		"fence %s: program id %u%s, map ABI %d, room for %u sources of each family, %s of "
		"memory\n",
		fence->name, fence->program_id, whose[status->this_build], RF_ABI_VERSION,
		fence->sources, memory);
	for (int i = 0; i < fence->interfaces; i++) {
		const struct rf_interface *interface = &fence->interface[i];

		rf_out_text("  %s: %s mode, attached by %s", interface->name,
			    rf_mode_name(interface->mode), rf_attached_by(interface));
		print_chain(&interface->chain);
		print_counted(status->interface[i].totals.counted);
		rf_out_text("\n");
		print_lost(interface, &status->interface[i].bypass);
		if (!rf_has_ethernet(interface->hardware))
			rf_out_text("  %s: no limit applies here: its frames have no Ethernet "
				    "header (hardware type %u: %s); attach to the Ethernet "
				    "interface that carries its traffic\n",
				    interface->name, interface->hardware,
				    rf_hardware_name(interface->hardware));
		generic = generic || interface->mode == RF_GENERIC;
	}
	print_other_builds(status);
	if (generic)
		rf_out_text("  generic mode counts packets merged by the kernel (GRO) as one "
			    "packet, and is slow\n");
}

static void print_pause(const struct status *status)
{
	const uint64_t passed = status->state.totals.since.counters.reason[RF_PAUSED].packets;
	char time[RF_DURATION_TEXT_SIZE];

	rf_format_left(status->state.rules.standing.paused_ns, time);
	if (status->state.rules.standing.paused_ns)
		rf_out_text("PAUSED for another %s: no packets are dropped; 'ringfence resume' "
			    "resumes it now\n",
			    time);
	if (passed)
		rf_out_text("%" PRIu64 " packets passed in a pause that would have been dropped\n",
			    passed);
}

static void print_unconfirmed(const struct rf_standing *standing)
{
	char time[RF_DURATION_TEXT_SIZE];

	rf_format_left(standing->confirm_ns, time);
	if (standing->state == RF_PENDING && standing->fallback == RF_FALL_BACK)
		rf_out_text(
			"unconfirmed: the old rules return in %s unless 'ringfence confirm' runs\n",
			time);
	else if (standing->state == RF_PENDING)
		rf_out_text(
			"unconfirmed: everything passes in %s unless 'ringfence confirm' runs\n",
			time);
	else if (standing->state == RF_REVERTED)
		rf_out_text("the new rules were not confirmed: the old rules returned %s ago\n",
			    time);
	else if (standing->state == RF_EXPIRED)
		rf_out_text("the attach was not confirmed: everything has passed for %s; "
			    "'ringfence confirm' activates the rules\n",
			    time);
}

static void print_shape(const struct rf_ruleset *rules, int slot)
{
	const struct rf_limit *limit = &rules->bank.limit[slot];
	char ports[RF_PORTS_TEXT_SIZE], length[RF_LENGTH_TEXT_SIZE], flags[RF_FLAGS_TEXT_SIZE];
	char *to = view_to_text(rules, slot);

	view_ports_text(rules->sports[slot], ports);
	rf_format_length(limit, length);
	rf_format_tcp_flags(limit, flags);
	if (limit->has_sports)
		rf_out_text(", sport %s", ports);
	if (limit->has_to && to)
		rf_out_text(", to %s", to);
	if (*length)
		rf_out_text(", length %s", length);
	if (*flags)
		rf_out_text(", flags %s", flags);
	free(to);
}

static void print_whose(const struct rf_ruleset *rules, int slot)
{
	const struct rf_limit *limit = &rules->bank.limit[slot];
	char match[RF_MATCH_TEXT_SIZE], ports[RF_PORTS_TEXT_SIZE];
	size_t from = view_count_from(rules, slot);

	rf_format_match(limit, match);
	view_ports_text(rules->ports[slot], ports);
	if (limit->match != RF_MATCH_ANY)
		rf_out_text(", match %s", match);
	if (limit->has_ports)
		rf_out_text(", dport %s", ports);
	print_shape(rules, slot);
	if (limit->has_from)
		rf_out_text(", from %zu prefix%s", from, from == 1 ? "" : "es");
}

static void print_rate(const struct rf_limit *limit)
{
	char rate[RF_RATE_TEXT_SIZE], burst[RF_COUNT_TEXT_SIZE];

	if (!limit->rate) {
		rf_out_text("limit %s: drops all", limit->name);
		return;
	}
	rf_format_limit_rate(limit, rate);
	rf_format_burst(limit, burst);
	rf_out_text("limit %s: at most %s ", limit->name, rate);
	if (limit->match == RF_MATCH_OTHER)
		rf_out_text("in all");
	else if (limit->per4 != RF_PER4_DEFAULT || limit->per6 != RF_PER6_DEFAULT)
		rf_out_text("of every /%d (IPv6: /%d)", limit->per4, limit->per6);
	else
		rf_out_text("of every source");
	if (rf_has_burst(limit))
		rf_out_text(", with a burst of %s", burst);
}

static void print_limit(const struct rf_ruleset *rules, int slot)
{
	const struct rf_limit *limit = &rules->bank.limit[slot];
	char ban[RF_DURATION_TEXT_SIZE];

	rf_format_left(limit->ban_ns, ban);
	print_rate(limit);
	print_whose(rules, slot);
	if (limit->ban_ns)
		rf_out_text(", ban %s%s", ban,
			    limit->flags & RF_BAN_ALL ? " of all its packets" : "");
	rf_out_text("%s\n", limit->flags & RF_SHADOW
				    ? " (shadow: only counts packets that it would drop)"
				    : "");
}

static void print_lists(const struct status *status)
{
	const size_t allowed = status->allowed, denied = status->denied;
	const size_t banned = status->denied_by_fleet;

	if (allowed || denied || banned)
		rf_out_text("lists: %zu prefix%s allowed, %zu denied", allowed,
			    allowed == 1 ? "" : "es", denied);
	if (banned)
		rf_out_text(", %zu banned by other hosts; 'ringfence fleet bans list' lists them",
			    banned);
	if (allowed || denied || banned)
		rf_out_text("\n");
}

static void print_bans(const struct status *status)
{
	const uint64_t refused = status->state.totals.since.counters.bans_refused;
	const size_t standing = status->state.bans.count;

	if (standing)
		rf_out_text("bans: %zu source%s banned; 'ringfence bans' lists them\n", standing,
			    standing == 1 ? " is" : "s are");
	if (refused)
		rf_out_text("bans: %" PRIu64
			    " times a ban was not made for lack of room; the source "
			    "stayed over its limit\n",
			    refused);
}

static void print_newcomers(const struct status *status)
{
	const struct rf_newcomers *newcomers = &status->state.rules.set.bank.newcomers;
	const struct rf_counters *counters = &status->state.totals.since.counters;
	const uint64_t passed = counters->reason[RF_NEWCOMER_PASS].packets;
	const uint64_t dropped = counters->reason[RF_NEWCOMER_DROP].packets;
	const uint64_t aggregated = counters->newcomers_aggregated;
	const uint64_t established = counters->reason[RF_ESTABLISHED].packets;
	const uint64_t proven = counters->reason[RF_PROVEN].packets;
	const uint64_t challenged = counters->reason[RF_CHALLENGED].packets;
	char rate[RF_RATE_TEXT_SIZE], then[RF_THEN_TEXT_SIZE];

	rf_format_rate(newcomers->rate, newcomers->window_ns, rate);
	rf_format_then(newcomers, then);
	if (newcomers->then != RF_NEWCOMERS_OFF)
		rf_out_text("newcomers: %s, then %s\n", rate, then);
	if (needs_syncookies(status) && status->syncookies != RF_SYNCOOKIES_ALWAYS)
		rf_out_text(
			"  NOT CHALLENGED: challenges require net.ipv4.tcp_syncookies=2, and it "
			"is %d: newcomers over the rate are dropped; "
			"'sysctl -w net.ipv4.tcp_syncookies=2' sets it\n",
			status->syncookies);
	if (passed || dropped || aggregated)
		rf_out_text("newcomers over the rate: %" PRIu64 " packets passed, %" PRIu64
			    " dropped, %" PRIu64 " charged to their networks\n",
			    passed, dropped, aggregated);
	if (established || proven || challenged)
		rf_out_text("newcomers over the rate: %" PRIu64 " packets challenged, %" PRIu64
			    " passed with a proof, %" PRIu64 " passed on open connections\n",
			    challenged, proven, established);
}

/* Is the maximum of residents reached? Then no new source becomes a resident. */
static bool is_full_of_active(const struct status *status, int family)
{
	const uint64_t max = status->state.totals.all.residents_max;

	return max && status->state.totals.windows[family].residents >= max;
}

/* How to get more windows, and how to bear a flood of new sources. */
static void print_remedy(const struct status *status)
{
	const struct rf_fence *fence = status->state.fence;
	const bool is_shared =
		fence->interfaces != 1 || strcmp(fence->interface[0].name, fence->name) != 0;

	rf_out_text("  to make room: 'ringfence save dev %s > FILE', 'ringfence detach %s', "
		    "'ringfence attach",
		    fence->name, fence->name);
	for (int i = 0; i < fence->interfaces; i++)
		rf_out_text(" %s", fence->interface[i].name);
	rf_out_text("%s%s sources %u', 'ringfence apply FILE dev %s'; windows and counters start "
		    "afresh\n",
		    is_shared ? " fence " : "", is_shared ? fence->name : "", fence->sources * 2,
		    fence->name);
	if (status->state.rules.set.bank.newcomers.then == RF_NEWCOMERS_OFF)
		rf_out_text("  against a flood of new sources: 'ringfence newcomers rate 10k/1s "
			    "then aggregate dev %s'\n",
			    fence->name);
}

/* Returns whether they are full, or nearly. */
static bool print_windows(const struct status *status, int family)
{
	const uint64_t used = status->state.totals.windows[family].used;
	const uint64_t residents = status->state.totals.windows[family].residents;
	const uint32_t room = status->state.fence->sources;
	const char *name = family ? "IPv6" : "IPv4";

	if (used)
		rf_out_text("windows of %s: %" PRIu64 " of %u in use, %" PRIu64 " of residents",
			    name, used, room, residents);
	if (is_full_of_active(status, family))
		rf_out_text("; full of active sources: newcomers share the remaining slots, and "
			    "are replaced soon");
	else if (used * 100 >= (uint64_t)room * FULL)
		rf_out_text("; full: each newcomer takes the place of an idle source");
	else if (used * 100 >= (uint64_t)room * NEARLY_FULL)
		rf_out_text("; nearly full: beyond that each newcomer takes the place of an idle "
			    "source");
	if (used)
		rf_out_text("\n");
	return is_full_of_active(status, family) || used * 100 >= (uint64_t)room * NEARLY_FULL;
}

static void print_status(const struct status *status)
{
	bool is_full;

	print_interfaces(status);
	print_pause(status);
	print_unconfirmed(&status->state.rules.standing);
	if (!status->limits)
		rf_out_text("no limit is set: the fence observes, and drops nothing%s; "
			    "'ringfence limit add any rate 20k/1s' adds one\n",
			    status->denied || status->denied_by_fleet ? " but denied sources" : "");
	for (int i = 0; i < status->limits; i++)
		print_limit(&status->state.rules.set, status->limit[i].slot);
	print_lists(status);
	print_bans(status);
	print_newcomers(status);
	is_full = print_windows(status, 0);
	is_full |= print_windows(status, 1);
	if (is_full)
		print_remedy(status);
}

static int show_status(const struct rf_fence *fence, const void *context, json_t **json,
		       struct rf_error *error)
{
	struct status status = {.state = RF_FENCE_STATE_NONE,
				.syncookies = rf_net_setting(RF_SYNCOOKIES)};
	int err = rf_fence_state_read(fence, &status.state, error);

	(void)context;
	if (!err)
		err = take_interfaces(&status, error);
	if (!err)
		take_rules(&status);
	if (!err && json)
		*json = rf_record_json(status_fields, &status);
	else if (!err)
		print_status(&status);
	free(status.interface);
	rf_fence_state_free(&status.state);
	return err;
}

/* ---- fences without an interface ---- */

struct strays {
	struct rf_stray one[RF_STRAYS_MAX];
	int count;
};

static const struct rf_field stray_fields[] = {
	RF_FIELD("fence", struct rf_stray, name, "its name"),
	RF_FIELD("bytes", struct rf_stray, memory, "memory of its maps"),
	{},
};

static const struct rf_field strays_fields[] = {
	RF_FIELD_OBJECTS("without_interface", struct strays, one, count, stray_fields,
			 "pinned fences on no interface; without dev"),
	{},
};

RF_RECORD(status, status_fields, strays_fields);

static void print_strays(const struct strays *strays)
{
	char text[RF_STRAY_TEXT_SIZE];

	for (int i = 0; i < strays->count; i++) {
		rf_stray_format(&strays->one[i], text);
		rf_out_text("%s\n", text);
	}
}

int rf_cmd_status(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	struct strays strays = {};
	int err = rf_words_end(words, error);

	if (err)
		return err;
	if (!options->dev)
		strays.count = rf_strays_find(strays.one, RF_STRAYS_MAX);
	err = rf_show_fences(options, show_status, true, NULL,
			     options->json ? rf_record_json(strays_fields, &strays) : NULL, error);
	if (!options->json)
		print_strays(&strays);
	return err;
}
