// SPDX-License-Identifier: GPL-2.0
/* status */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/attach.h"
#include "attach/build.h"
#include "base/hardware.h"
#include "base/time.h"
#include "cli/fences.h"
#include "cli/out.h"
#include "cli/view.h"
#include "fence/bypass.h"
#include "fence/fence.h"
#include "kernel/needs.h"
#include "rules/policy.h"

#define NEARLY_FULL 90 /* of 100 */
#define FULL 99	       /* of 100; two CPUs that meet one source at once leave a slot free */

/* Everything that status prints. */
struct status {
	const struct rf_fence *fence;
	struct rf_ruleset rules;
	struct rf_standing standing;
	struct rf_counters all;		     /* since the attach */
	struct rf_counters counters;	     /* since the last `stats reset` */
	struct rf_by_interface by_interface; /* likewise */
	struct rf_memory memory;
	struct rf_bans bans;
	struct rf_build build;
	struct rf_bypass *bypass; /* of each interface */
};

static int read_counters(struct status *status, struct rf_error *error)
{
	int err = rf_fence_counters(status->fence, &status->all, error);
	struct rf_baseline base;

	if (!err)
		err = rf_fence_by_interface(status->fence, &status->by_interface, error);
	rf_fence_baseline(status->fence, &base);
	status->counters = status->all;
	rf_baseline_subtract(&base, &status->counters);
	rf_baseline_subtract_interfaces(&base, &status->by_interface);
	return err;
}

static int read_status(struct status *status, struct rf_error *error)
{
	const struct rf_fence *fence = status->fence;
	int err = rf_fence_ruleset(fence, &status->rules, error);

	if (!err)
		err = read_counters(status, error);
	if (!err)
		err = rf_fence_bans(fence, &status->bans, error);
	if (err)
		return err;
	status->bypass = calloc(fence->interfaces + 1, sizeof(*status->bypass));
	if (!status->bypass)
		return rf_error_failed(error, -ENOMEM, "not enough memory");
	for (int i = 0; i < fence->interfaces; i++)
		rf_bypass_look(fence, &fence->interface[i], &status->bypass[i]);
	rf_build_read(&status->build); /* where that fails, `build` says so */
	rf_fence_memory(fence, &status->memory);
	status->standing = rf_fence_standing(fence);
	if (status->rules.listed_count)
		rf_ruleset_expire(&status->rules, rf_fence_jiffies(fence));
	return 0;
}

/* Windows in use by a family. Counters are not read at one moment: evictions may exceed inserts. */
static uint64_t windows_used(const struct status *status, int family)
{
	const uint64_t inserts = status->all.inserts[family];
	const uint64_t evictions = status->all.evictions[family];

	return inserts > evictions ? inserts - evictions : 0;
}

static uint64_t count_residents(const struct status *status, int family)
{
	return rf_fence_residents(status->fence, family);
}

/* Was the attach not confirmed in time? */
static bool is_unconfirmed(const struct status *status)
{
	return status->standing.state == RF_FELL_OPEN;
}

/* Does every interface have the program of this build? */
static enum rf_answer has_this_build(const struct status *status)
{
	enum rf_answer all = RF_YES;

	for (int i = 0; i < status->fence->interfaces && all != RF_NO; i++) {
		enum rf_answer one = rf_build_is_on(&status->build, &status->fence->interface[i]);

		all = one == RF_YES ? all : one;
	}
	return all;
}

/* ---- JSON ---- */

static json_t *answer_json(enum rf_answer answer)
{
	return answer == RF_NOT_KNOWN ? json_null() : json_boolean(answer == RF_YES);
}

static json_t *bypass_json(const struct rf_bypass *bypass)
{
	if (bypass->met != RF_BYPASSED)
		return json_null();
	return json_pack("{s:I, s:I}", "packets", (json_int_t)bypass->packets, "for_ms",
			 (json_int_t)(bypass->for_ns / RF_NS_PER_MS));
}

static json_t *interfaces_json(const struct status *status)
{
	json_t *list = rf_view_interfaces(status->fence, &status->by_interface);

	for (int i = 0; i < status->fence->interfaces; i++) {
		const struct rf_interface *interface = &status->fence->interface[i];
		json_t *one = json_array_get(list, i);

		json_object_set_new(one, "this_build",
				    answer_json(rf_build_is_on(&status->build, interface)));
		json_object_set_new(one, "bypassed", bypass_json(&status->bypass[i]));
		json_object_set_new(one, "suits_mtu", answer_json(rf_entry_suits(interface)));
	}
	return list;
}

static json_t *trial_json(const struct status *status)
{
	/* sparse: settled rules have no trial. */
	static const char *const states[] = {
		[RF_ON_TRIAL] = "on_trial",
		[RF_FELL_BACK] = "fell_back",
		[RF_FELL_OPEN] = "fell_open",
	};
	const struct rf_standing *standing = &status->standing;

	if (standing->state == RF_SETTLED)
		return json_null();
	return json_pack("{s:s, s:s, s:I}", "state", states[standing->state], "of",
			 standing->fallback == RF_FALL_BACK ? "apply" : "attach",
			 standing->state == RF_ON_TRIAL ? "left_ms" : "over_ms",
			 (json_int_t)(standing->trial_ns / RF_NS_PER_MS));
}

static json_t *newcomers_json(const struct status *status)
{
	const struct rf_newcomers *newcomers = &status->rules.bank.newcomers;

	return rf_view_merged(json_pack("{s:s, s:I, s:I}", "then",
					rf_newcomers_then_name(newcomers->then), "rate",
					(json_int_t)newcomers->rate, "window_ms",
					(json_int_t)(newcomers->window_ns / RF_NS_PER_MS)),
			      rf_view_newcomers(&status->counters));
}

static json_t *bans_json(const struct status *status)
{
	return json_pack("{s:I, s:i, s:I}", "standing", (json_int_t)status->bans.count, "room",
			 (int)RF_BANS_MAX, "refused", (json_int_t)status->counters.bans_refused);
}

static json_t *windows_json(const struct status *status, int family)
{
	return rf_view_merged(json_pack("{s:I, s:I}", "used",
					(json_int_t)windows_used(status, family), "resident",
					(json_int_t)count_residents(status, family)),
			      rf_view_windows(&status->counters, family));
}

static json_t *memory_json(const struct rf_memory *memory)
{
	json_t *maps = json_object();

	for (int i = 0; i < RF_MAP_COUNT; i++)
		json_object_set_new(maps, rf_map_names[i], json_integer(memory->map[i]));
	return json_pack("{s:I, s:o}", "bytes", (json_int_t)memory->bytes, "maps", maps);
}

static json_t *limits_json(const struct rf_ruleset *rules)
{
	json_t *list = json_array();
	int slots[RF_LIMITS_MAX];
	const int count = rf_bank_slots(&rules->bank, slots);

	for (int i = 0; i < count; i++) {
		const int slot = slots[i];
		const struct rf_limit *limit = &rules->bank.limit[slot];
		char match[RF_MATCH_TEXT_SIZE];

		rf_format_match(limit, match);
		json_array_append_new(
			list,
			rf_view_with_shape(
				json_pack("{s:s, s:s, s:o, s:o, s:i, s:i, s:b}", "name",
					  limit->name, "match", match, "dport",
					  rf_view_ports(rules->ports[slot]), "from",
					  limit->has_from
						  ? json_integer(rf_view_count_from(rules, slot))
						  : json_null(),
					  "per", limit->per4, "per6", limit->per6, "shadow",
					  (limit->flags & RF_SHADOW) != 0),
				rules, slot));
	}
	return list;
}

static json_t *status_json(const struct status *status)
{
	const struct rf_fence *fence = status->fence;
	const struct rf_ruleset *rules = &status->rules;
	int limits = rf_bank_count(&rules->bank);

	return json_pack(
		"{s:o, s:s, s:i, s:i, s:o, s:i, s:o, s:i, s:b, s:o, s:{s:I, s:I, s:I}, s:o, s:o, "
		"s:{s:o, s:o}, s:o, s:o, s:I}",
		"fence", rf_json_text(fence->name), "version", RINGFENCE_VERSION, "abi",
		RF_ABI_VERSION, "program_id", (int)fence->program_id, "this_build",
		answer_json(has_this_build(status)), "sources", (int)fence->sources, "interfaces",
		interfaces_json(status), "limits", limits, "armed",
		limits > 0 && !is_unconfirmed(status) && !status->standing.paused_ns, "limit",
		limits_json(rules), "lists", "allow",
		(json_int_t)rf_view_count_list(rules, RF_ALLOW), "deny",
		(json_int_t)rf_view_count_list(rules, RF_DENY), "fleet",
		(json_int_t)rf_view_count_fleet(rules), "newcomers", newcomers_json(status),
		"trial", trial_json(status), "windows", "ipv4", windows_json(status, 0), "ipv6",
		windows_json(status, 1), "memory", memory_json(&status->memory), "bans",
		bans_json(status), "paused_ms",
		(json_int_t)(status->standing.paused_ns / RF_NS_PER_MS));
}

/* ---- text ---- */

/* The programs in the order in which they run, ringfence among them. */
static void print_chain(const struct rf_chain *chain)
{
	for (int i = 0; i < chain->count; i++)
		rf_out_text("%s'%s'", i ? ", " : ", in a chain: ", chain->component[i].name);
}

/* What passed the interface and what was dropped there, of a fence that has had several. */
static void print_counted(const struct status *status, const struct rf_interface *interface)
{
	const struct rf_interface_counters *counters =
		rf_by_interface_of(status->fence, &status->by_interface, interface->index);

	if (counters)
		rf_out_text("; %" PRIu64 " packets passed, %" PRIu64 " dropped",
			    (uint64_t)counters->passed.packets,
			    (uint64_t)counters->dropped.packets);
}

/* The operator types the command as it is printed, so a fence with several interfaces has several.
 */
static void print_other_builds(const struct status *status)
{
	for (int i = 0; i < status->fence->interfaces; i++) {
		const struct rf_interface *interface = &status->fence->interface[i];

		if (rf_build_is_on(&status->build, interface) == RF_NO)
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
		rf_out_text("  %s: NOT PROTECTED: %s; the driver may have lost it: 'ringfence "
			    "attach %s' repairs that in place\n",
			    interface->name, text, interface->name);
	if (rf_entry_suits(interface) == RF_NO)
		rf_out_text("  %s: frames larger than %d bytes are lost: its MTU was raised after "
			    "the attach; 'ringfence attach %s' repairs that in place\n",
			    interface->name, RF_PLAIN_MTU_MAX, interface->name);
}

static void print_interfaces(const struct status *status)
{
	static const char *const whose[] = {
		[RF_NOT_KNOWN] = "", [RF_NO] = " of another build", [RF_YES] = " of this build"};
	const struct rf_fence *fence = status->fence;
	char memory[RF_MEMORY_TEXT_SIZE];
	bool generic = false;

	rf_view_memory(status->memory.bytes, memory);
	rf_out_text(
		"fence %s: program id %u%s, map ABI %d, room for %u sources of each family, %s of "
		"memory\n",
		fence->name, fence->program_id, whose[has_this_build(status)], RF_ABI_VERSION,
		fence->sources, memory);
	for (int i = 0; i < fence->interfaces; i++) {
		const struct rf_interface *interface = &fence->interface[i];

		rf_out_text("  %s: %s mode, attached by %s", interface->name,
			    rf_mode_name(interface->mode), rf_view_attached_by(interface));
		print_chain(&interface->chain);
		print_counted(status, interface);
		rf_out_text("\n");
		print_lost(interface, &status->bypass[i]);
		if (!rf_has_ethernet(interface->hardware))
			rf_out_text(
				"  %s: nothing is limited here: its frames have no Ethernet header "
				"(hardware type %u: %s); attach to the Ethernet interface that "
				"carries its traffic\n",
				interface->name, interface->hardware,
				rf_hardware_name(interface->hardware));
		generic = generic || interface->mode == RF_GENERIC;
	}
	print_other_builds(status);
	if (generic)
		rf_out_text(
			"  generic mode counts what the kernel has merged (GRO) as one packet, and "
			"is slow\n");
}

static void print_pause(const struct status *status)
{
	const uint64_t passed = status->counters.reason[RF_PAUSED].packets;
	char time[RF_DURATION_TEXT_SIZE];

	rf_format_left(status->standing.paused_ns, time);
	if (status->standing.paused_ns)
		rf_out_text("PAUSED for another %s: nothing is dropped; 'ringfence resume' ends "
			    "that\n",
			    time);
	if (passed)
		rf_out_text("%" PRIu64 " packets passed in a pause that would have been dropped\n",
			    passed);
}

static void print_trial(const struct rf_standing *standing)
{
	char time[RF_DURATION_TEXT_SIZE];

	rf_format_left(standing->trial_ns, time);
	if (standing->state == RF_ON_TRIAL && standing->fallback == RF_FALL_BACK)
		rf_out_text(
			"on trial: in %s the old rules are back, unless 'ringfence confirm' keeps "
			"the new ones\n",
			time);
	else if (standing->state == RF_ON_TRIAL)
		rf_out_text(
			"on trial: in %s everything passes, unless 'ringfence confirm' keeps the "
			"fence\n",
			time);
	else if (standing->state == RF_FELL_BACK)
		rf_out_text(
			"the rules on trial were not confirmed: the old rules came back %s ago\n",
			time);
	else if (standing->state == RF_FELL_OPEN)
		rf_out_text(
			"the attach was not confirmed: everything has passed for %s; 'ringfence "
			"confirm' puts the rules in force\n",
			time);
}

static void print_shape(const struct rf_ruleset *rules, int slot)
{
	const struct rf_limit *limit = &rules->bank.limit[slot];
	char ports[RF_PORTS_TEXT_SIZE], length[RF_LENGTH_TEXT_SIZE], flags[RF_FLAGS_TEXT_SIZE];
	char *to = rf_view_to_text(rules, slot);

	rf_view_ports_text(rules->sports[slot], ports);
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
	size_t from = rf_view_count_from(rules, slot);

	rf_format_match(limit, match);
	rf_view_ports_text(rules->ports[slot], ports);
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
	rf_out_text("%s\n",
		    limit->flags & RF_SHADOW ? " (shadow: only counts what it would drop)" : "");
}

static void print_lists(const struct rf_ruleset *rules)
{
	const size_t allowed = rf_view_count_list(rules, RF_ALLOW);
	const size_t denied = rf_view_count_list(rules, RF_DENY);
	const size_t banned = rf_view_count_fleet(rules);

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
	const uint64_t refused = status->counters.bans_refused;
	const size_t standing = status->bans.count;

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
	const struct rf_newcomers *newcomers = &status->rules.bank.newcomers;
	const struct rf_counters *counters = &status->counters;
	const uint64_t passed = counters->reason[RF_NEWCOMER_OPEN].packets;
	const uint64_t dropped = counters->reason[RF_NEWCOMER_CLOSED].packets;
	const uint64_t aggregated = counters->newcomers_aggregated;
	char rate[RF_RATE_TEXT_SIZE];

	rf_format_rate(newcomers->rate, newcomers->window_ns, rate);
	if (newcomers->then != RF_NEWCOMERS_OFF)
		rf_out_text("newcomers: %s, then %s\n", rate,
			    rf_newcomers_then_name(newcomers->then));
	if (passed || dropped || aggregated)
		rf_out_text("newcomers over the rate: %" PRIu64 " packets passed, %" PRIu64
			    " dropped, %" PRIu64 " charged to their networks\n",
			    passed, dropped, aggregated);
}

/* Is the maximum of residents reached? Then no new source becomes a resident. */
static bool is_full_of_active(const struct status *status, int family)
{
	const uint64_t max = rf_fence_residents_max(status->fence);

	return max && count_residents(status, family) >= max;
}

/* How to get more windows, and how to bear a flood of new sources. */
static void print_remedy(const struct status *status)
{
	const struct rf_fence *fence = status->fence;
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
	if (status->rules.bank.newcomers.then == RF_NEWCOMERS_OFF)
		rf_out_text("  against a flood of new sources: 'ringfence newcomers rate 10k/1s "
			    "then aggregate dev %s'\n",
			    fence->name);
}

/* Returns whether they are full, or nearly. */
static bool print_windows(const struct status *status, int family)
{
	const uint64_t used = windows_used(status, family);
	const uint64_t residents = count_residents(status, family);
	const uint32_t room = status->fence->sources;
	const char *name = family ? "IPv6" : "IPv4";

	if (used)
		rf_out_text("windows of %s: %" PRIu64 " of %u in use, %" PRIu64 " of residents",
			    name, used, room, residents);
	if (is_full_of_active(status, family))
		rf_out_text(
			"; full of active sources: newcomers share what is left, and do not stay");
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
	const struct rf_ruleset *rules = &status->rules;
	int slots[RF_LIMITS_MAX];
	const int count = rf_bank_slots(&rules->bank, slots);
	bool is_full;

	print_interfaces(status);
	print_pause(status);
	print_trial(&status->standing);
	if (!count)
		rf_out_text("no limit is set: the fence observes, and drops nothing%s; "
			    "'ringfence limit add any rate 20k/1s' arms it\n",
			    rf_view_count_list(rules, RF_DENY) || rf_view_count_fleet(rules)
				    ? " but what is denied"
				    : "");
	for (int i = 0; i < count; i++)
		print_limit(rules, slots[i]);
	print_lists(rules);
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
	struct status status = {.fence = fence};
	int err = read_status(&status, error);

	(void)context;
	if (!err && json)
		*json = status_json(&status);
	else if (!err)
		print_status(&status);
	free(status.bypass);
	rf_bans_free(&status.bans);
	rf_ruleset_free(&status.rules);
	return err;
}

/* ---- fences without an interface ---- */

static json_t *strays_json(const struct rf_stray *stray, int count)
{
	json_t *list = json_array();

	for (int i = 0; i < count; i++)
		json_array_append_new(list,
				      json_pack("{s:o, s:I}", "fence", rf_json_text(stray[i].name),
						"bytes", (json_int_t)stray[i].memory));
	return json_pack("{s:o}", "without_interface", list);
}

static void print_strays(const struct rf_stray *stray, int count)
{
	char text[RF_STRAY_TEXT_SIZE];

	for (int i = 0; i < count; i++) {
		rf_stray_format(&stray[i], text);
		rf_out_text("%s\n", text);
	}
}

int rf_cmd_status(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	struct rf_stray stray[RF_STRAYS_MAX];
	int err = rf_words_end(words, error), strays;

	if (err)
		return err;
	strays = options->dev ? 0 : rf_strays_find(stray, RF_STRAYS_MAX);
	err = rf_show_fences_with(options, show_status, true, NULL,
				  options->json ? strays_json(stray, strays) : NULL, error);
	if (!options->json)
		print_strays(stray, strays);
	return err;
}
