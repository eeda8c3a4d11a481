// SPDX-License-Identifier: GPL-2.0
/* fleet status, fleet show, fleet top: what the agent of a fence says */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/prefix.h"
#include "base/text.h"
#include "base/time.h"
#include "base/units.h"
#include "cli/fleet_agent.h"
#include "cli/out.h"
#include "cli/view.h"
#include "fence/fence.h"
#include "rules/grammar_option.h"

/* ---- status ---- */

struct status {
	const char *fence, *host, *port, *trouble; /* `trouble` NULL: none */
	json_int_t hosts, slot, buckets, alone, learning, claims, grace_ms;
	json_int_t alone_ms; /* since when; -1: it is not */
	json_int_t alone_times, alone_ns;
	json_t *parts; /* of the sources, one for each bucket: how long it was alone */
	size_t members;
	int attached;
	struct rf_fleet_bans_seen bans;
	json_t *nodes; /* of the engine, each with its buckets */
	json_t *key;
	json_t *limits;
	json_t *others; /* all hosts, as they say of themselves; NULL: the engine did not answer */
};

static int read_status(json_t *answer, struct status *status, struct rf_error *error)
{
	json_t *members = NULL, *trouble = NULL, *alone_ms = NULL;

	if (json_unpack(
		    answer,
		    "{s:s, s:b, s:I, s:I, s:{s:s, s:s, s:o, s:{s:o}}, s:{s:I, s:I, s:I, s:I, s:o, "
		    "s:o}, s:I, s:I, s:o, s:o, s:{s:I}}",
		    "fence", &status->fence, "attached", &status->attached, "hosts", &status->hosts,
		    "grace_ms", &status->grace_ms, "engine", "host", &status->host, "port",
		    &status->port, "nodes", &status->nodes, "heartbeats", "trouble", &trouble,
		    "membership", "slot", &status->slot, "buckets", &status->buckets, "alone",
		    &status->alone, "learning", &status->learning, "alone_ms", &alone_ms, "members",
		    &members, "alone_times", &status->alone_times, "alone_ns", &status->alone_ns,
		    "buckets", &status->parts, "limits", &status->limits, "counts", "claims",
		    &status->claims))
		return rf_error_failed(error, -EPROTO,
				       "the agent is of another version; restart it, by "
				       "'systemctl restart ringfence-fleet@FENCE'");
	status->members = json_array_size(members);
	status->trouble = json_string_value(trouble);
	status->key = json_object_get(answer, "key");
	rf_fleet_read_bans(answer, &status->bans);
	status->alone_ms = json_is_integer(alone_ms) ? json_integer_value(alone_ms) : -1;
	return 0;
}

static const char *state_of(const struct status *status)
{
	if (!status->attached)
		return "waiting";
	if (!status->alone)
		return "shared";
	if (status->learning)
		return "learning";
	return status->alone == status->buckets ? "alone" : "partly alone";
}

static void print_alone(const struct status *status)
{
	char since[RF_DURATION_TEXT_SIZE];

	rf_format_ms(status->alone_ms < 0 ? 0 : status->alone_ms, since);
	rf_out_text("fence '%s': %s for %s; the engine is %s:%s\n", status->fence, state_of(status),
		    since, status->host, status->port);
}

static void print_state(const struct status *status)
{
	char trouble[RF_FLEET_TROUBLE_SIZE];

	if (!status->attached)
		rf_out_text("fence '%s': its agent waits for the fence; 'ringfence attach' with "
			    "the word 'fleet' attaches it\n",
			    status->fence);
	else if (!status->alone)
		rf_out_text("fence '%s': shares its limits with %zu of %lld hosts, as number %lld, "
			    "by the engine %s:%s\n",
			    status->fence, status->members, (long long)status->hosts,
			    (long long)status->slot, status->host, status->port);
	else
		print_alone(status);
	if (!status->trouble)
		return;
	snprintf(trouble, sizeof(trouble), "%s", status->trouble);
	rf_hide_controls(trouble, false);
	rf_out_text("%s\n", trouble);
}

/* Unless all of it is the time that the state tells. */
static void print_time_alone(const struct status *status)
{
	char time[RF_DURATION_TEXT_SIZE];

	if (status->alone_times <= (status->alone != 0))
		return;
	rf_format_ms(status->alone_ns / RF_NS_PER_MS, time);
	rf_out_text("alone since the agent started: %lld time%s, for %s together\n",
		    (long long)status->alone_times, status->alone_times == 1 ? "" : "s", time);
}

/* Of a cluster. */
static void print_nodes(const struct status *status)
{
	size_t i;
	json_t *node;

	if (json_array_size(status->nodes) < 2)
		return;
	json_array_foreach (status->nodes, i, node) {
		char host[256], port[8];

		rf_fleet_text(node, "host", host, sizeof(host));
		rf_fleet_text(node, "port", port, sizeof(port));
		rf_out_text("node %s:%s: %lld of %lld buckets\n", host, port,
			    (long long)rf_fleet_number(node, "buckets"),
			    (long long)status->buckets);
	}
}

static void print_no_limit(void)
{
	rf_out_text(
		"no limit has the word 'fleet'; 'ringfence limit add NAME rate COUNT/TIME fleet' "
		"adds one\n");
}

static void print_limits(const struct status *status)
{
	size_t i;
	json_t *limit;

	json_array_foreach (status->limits, i, limit) {
		char name[RF_NAME_SIZE];

		snprintf(name, sizeof(name), "%s",
			 json_string_value(json_object_get(limit, "name")));
		rf_hide_controls(name, false);
		rf_out_text("limit '%s': definition %s\n", name,
			    json_string_value(json_object_get(limit, "definition")));
	}
	if (!i && status->attached)
		print_no_limit();
	rf_out_text("sources with a claim here: %lld\n", (long long)status->claims);
}

static void print_bans(const struct rf_fleet_bans_seen *bans)
{
	if (bans->takes)
		rf_out_text("bans: %lld of other hosts are taken; %lld were told since the agent "
			    "started\n",
			    (long long)bans->taken, (long long)bans->told);
	else if (bans->is_known)
		rf_out_text(
			"bans: no bans of other hosts are taken; %lld were told since the agent "
			"started\n",
			(long long)bans->told);
	if (*bans->trouble)
		rf_out_text("bans: %s\n", bans->trouble);
}

/* ---- status: the other hosts ---- */

static void print_difference(void *context, const char *limit, const char *how, const char *hosts)
{
	(void)context;
	if (strcmp(how, "other") == 0)
		rf_out_text("limit '%s': another definition on %s\n", limit, hosts);
	else
		rf_out_text("limit '%s': missing %s %s\n", limit,
			    strcmp(how, "missing here") == 0 ? "here, and there on" : "on", hosts);
}

static void print_others(const struct status *status)
{
	char list[RF_HOST_LIST_SIZE];

	rf_fleet_each_difference(status->others, print_difference, NULL);
	if (rf_fleet_others(status->others, "hosts", status->hosts, list))
		rf_out_text("another number of hosts than here on %s\n", list);
	if (rf_fleet_others(status->others, "grace_ms", status->grace_ms, list))
		rf_out_text("another grace than here on %s\n", list);
}

static json_t *limits_json(const struct status *status)
{
	json_t *limits = json_array(), *limit;
	size_t i;

	json_array_foreach (status->limits, i, limit)
		json_array_append_new(
			limits, json_pack("{s:O, s:O}", "name", json_object_get(limit, "name"),
					  "definition", json_object_get(limit, "definition")));
	return limits;
}

static json_t *bans_json(const struct rf_fleet_bans_seen *bans)
{
	return json_pack("{s:b, s:I, s:I, s:I, s:o}", "takes", bans->takes, "taken", bans->taken,
			 "told", bans->told, "refused", bans->refused, "trouble",
			 *bans->trouble ? rf_json_text(bans->trouble) : json_null());
}

static json_t *nodes_json(const struct status *status)
{
	json_t *nodes = json_array(), *node;
	size_t i;

	json_array_foreach (status->nodes, i, node) {
		char host[256], port[8], engine[300];

		rf_fleet_text(node, "host", host, sizeof(host));
		rf_fleet_text(node, "port", port, sizeof(port));
		snprintf(engine, sizeof(engine), "%s:%s", host, port);
		json_array_append_new(nodes,
				      json_pack("{s:o, s:I}", "engine", rf_json_text(engine),
						"buckets", rf_fleet_number(node, "buckets")));
	}
	return nodes;
}

static int print_json(const struct status *status, struct rf_error *error)
{
	char engine[300];

	snprintf(engine, sizeof(engine), "%s:%s", status->host, status->port);
	return rf_out_json(
		json_pack(
			"{s:o, s:s, s:o, s:I, s:I, s:O, s:s, s:o, s:o, s:o, s:I, s:I, s:I, s:I, "
			"s:I, s:o, s:o, s:o}",
			"fence", rf_json_text(status->fence), "state", state_of(status), "alone_ms",
			status->alone_ms < 0 ? json_null() : json_integer(status->alone_ms),
			"alone_times", status->alone_times, "alone_ns", status->alone_ns, "buckets",
			status->parts, "engine", engine, "nodes", nodes_json(status), "trouble",
			status->trouble ? rf_json_text(status->trouble) : json_null(), "key",
			status->key ? json_incref(status->key) : json_null(), "hosts",
			status->hosts, "grace_ms", status->grace_ms, "members",
			(json_int_t)status->members, "slot", status->slot, "claims", status->claims,
			"limits", limits_json(status), "bans", bans_json(&status->bans), "others",
			status->others ? json_incref(status->others) : json_null()),
		false, error);
}

/* Where the engine does not answer, the status says why. */
static void ask_for_others(const char *fence, struct status *status, json_t **answer)
{
	struct rf_error error = {};

	if (!rf_fleet_ask(fence, "hosts", answer, &error))
		status->others = json_object_get(*answer, "hosts");
}

static int print_status(const struct rf_options *options, const struct status *status,
			struct rf_error *error)
{
	if (options->json)
		return print_json(status, error);
	print_state(status);
	print_time_alone(status);
	print_nodes(status);
	print_limits(status);
	print_bans(&status->bans);
	print_others(status);
	return 0;
}

int rf_cmd_fleet_status(const struct rf_options *options, struct rf_words *words,
			struct rf_error *error)
{
	const char *given = rf_words_peek(words) ? rf_words_next(words) : NULL;
	json_t *answer = NULL, *others = NULL;
	struct status status = {};
	char fence[RF_NAME_SIZE];
	int err = rf_words_end(words, error);

	if (!err)
		err = rf_fleet_fence(options, given, fence, error);
	if (!err)
		err = rf_fleet_ask(fence, "status", &answer, error);
	if (!err)
		err = read_status(answer, &status, error);
	if (!err) {
		ask_for_others(fence, &status, &others);
		err = print_status(options, &status, error);
	}
	json_decref(answer);
	json_decref(others);
	return err;
}

/* ---- show: the bans of a source on this host ---- */

/* Adds an object for each owner of an entry. */
static void add_entry(const struct rf_fence *fence, const struct rf_ruleset *rules,
		      const struct rf_listed *listed, uint64_t now, const json_t *bans,
		      json_t *list)
{
	uint8_t owner[RF_LIST_CLAIMS];
	const int owners = rf_listed_owners(listed, RF_DENY, &RF_OWNERS_ALL, owner);
	char prefix[RF_PREFIX_TEXT_SIZE];

	rf_format_prefix(&listed->prefix, prefix);
	for (int i = 0; i < owners; i++) {
		const uint64_t until = rf_listed_until_by(listed, RF_DENY, owner[i]);
		const json_int_t host =
			owner[i] == RF_OWNER_FLEET ? rf_fleet_ban_host(bans, prefix) : -1;

		json_array_append_new(
			list, json_pack("{s:s, s:o, s:s, s:o, s:n}", "prefix", prefix, "left_ms",
					rf_view_left(fence, now, until), "by",
					rf_owner_name(&rules->owners, owner[i]), "host",
					host < 0 ? json_null() : json_integer(host), "limit"));
	}
}

static int add_denied(const struct rf_fence *fence, const struct rf_prefix *source,
		      const json_t *bans, json_t *list, bool *allowed, struct rf_error *error)
{
	const uint64_t now = rf_fence_jiffies(fence);
	struct rf_ruleset rules = RF_RULESET_NONE;
	int err = rf_fence_ruleset(fence, &rules, error);

	if (!err)
		rf_ruleset_expire(&rules, now);
	for (size_t i = 0; i < rules.listed_count && !err; i++) {
		const struct rf_listed *listed = &rules.listed[i];

		if (!rf_prefix_contains(&listed->prefix, source))
			continue;
		*allowed |= rf_listed_until(listed, RF_ALLOW) != 0;
		add_entry(fence, &rules, listed, now, bans, list);
	}
	rf_ruleset_free(&rules);
	return err;
}

static int add_banned(const struct rf_fence *fence, const struct rf_prefix *source, json_t *list,
		      struct rf_error *error)
{
	struct rf_bans bans = {};
	int err = rf_fence_bans(fence, &bans, error);

	for (size_t i = 0; i < bans.count && !err; i++) {
		const struct rf_ban_row *ban = &bans.row[i];
		const struct rf_prefix prefix = rf_ban_prefix(ban);
		char text[RF_PREFIX_TEXT_SIZE];

		if (!rf_prefix_contains(&prefix, source))
			continue;
		rf_format_prefix(&prefix, text);
		json_array_append_new(list, json_pack("{s:s, s:o, s:n, s:n, s:s}", "prefix", text,
						      "left_ms",
						      rf_view_left(fence, bans.now, ban->until),
						      "by", "host", "limit", ban->limit->name));
	}
	rf_bans_free(&bans);
	return err;
}

/*
 * Adds to `into`: "allowed", whether the allow list comes before the bans, and "bans", a list of
 * {"prefix","left_ms","by","host","limit"}: of an entry of the deny list its owner, and of the
 * fleet's the number of the host, by the agent's `bans`; of a ban by a limit that limit; else null.
 */
static int source_bans_read(const struct rf_fence *fence, const struct rf_address *source,
			    const json_t *bans, json_t *into, struct rf_error *error)
{
	struct rf_prefix prefix = {.version = source->version,
				   .length = source->version == 4 ? 32 : 128};
	json_t *list = json_array();
	bool allowed = false;
	int err;

	memcpy(prefix.word, source->word, sizeof(prefix.word));
	err = add_denied(fence, &prefix, bans, list, &allowed, error);
	if (!err)
		err = add_banned(fence, &prefix, list, error);
	json_object_set_new(into, "allowed", json_boolean(allowed));
	json_object_set_new(into, "bans", list);
	return err;
}

/* ---- show: the bans, for people ---- */

static void print_one(const json_t *ban)
{
	const json_t *left = json_object_get(ban, "left_ms"), *host = json_object_get(ban, "host");
	const char *limit = json_string_value(json_object_get(ban, "limit"));
	char time[RF_DURATION_TEXT_SIZE] = "";

	if (json_is_integer(left))
		rf_format_left(json_integer_value(left) * RF_NS_PER_MS, time);
	rf_out_text("%s: %s%s%s", limit ? "banned" : "denied",
		    json_string_value(json_object_get(ban, "prefix")), *time ? " for another " : "",
		    time);
	if (limit)
		rf_out_text(" by limit '%s'", limit);
	else
		rf_out_text(" by %s", json_string_value(json_object_get(ban, "by")));
	if (json_is_integer(host))
		rf_out_text(", of host %lld", (long long)json_integer_value(host));
	rf_out_text("\n");
}

/* Prints them for people; nothing where there is none. */
static void source_bans_print(const json_t *from)
{
	const json_t *bans = json_object_get(from, "bans"), *ban;
	size_t i;

	json_array_foreach (bans, i, ban)
		print_one(ban);
	if (i && json_is_true(json_object_get(from, "allowed")))
		rf_out_text("it passes all the same: it is on the allow list\n");
}

/* ---- show: the hosts with a claim ---- */

static void print_ago(json_int_t ms, char *text, size_t size)
{
	char time[RF_DURATION_TEXT_SIZE];

	rf_format_ms(ms, time);
	snprintf(text, size, "%s", time);
}

static void fill_host(const void *context, size_t row, struct rf_cells *cells)
{
	const json_t *host = json_array_get(context, row);
	char label[RF_HOST_LABEL_SIZE];

	rf_fleet_label(host, label);
	snprintf(cells->text[0], RF_CELL_SIZE, "%s%s", label,
		 json_is_true(json_object_get(host, "this")) ? " (this host)" : "");
	snprintf(cells->text[1], RF_CELL_SIZE, "%lld", (long long)rf_fleet_number(host, "claim"));
	snprintf(cells->text[2], RF_CELL_SIZE, "%s",
		 json_is_true(json_object_get(host, "in_vain")) ? "yes" : "no");
	print_ago(rf_fleet_number(host, "silent_ms"), cells->text[3], RF_CELL_SIZE);
}

static void print_hosts(const json_t *hosts)
{
	static const struct rf_column columns[] = {{"host", false, 12},
						   {"claim", true, 8},
						   {"wants more", false, 0},
						   {"heard ago", true, 0}};
	const struct rf_table table = {columns, 4, 1, json_array_size(hosts), hosts, fill_host};

	if (table.rows)
		rf_table_print(&table);
}

/* ---- show: a limit ---- */

static void print_here(const json_t *here)
{
	const json_t *used = json_object_get(here, "used"),
		     *since = json_object_get(here, "since_ms");
	char time[RF_DURATION_TEXT_SIZE];

	if (!json_is_integer(used)) {
		rf_out_text("  here: the source has no window\n");
		return;
	}
	rf_out_text("  here: %lld used, share %lld, claim %lld",
		    (long long)json_integer_value(used), (long long)rf_fleet_number(here, "share"),
		    (long long)rf_fleet_number(here, "claim"));
	if (json_is_integer(since)) {
		rf_format_ms(json_integer_value(since), time);
		rf_out_text(", since %s", time);
	}
	rf_out_text("%s\n", json_is_true(json_object_get(here, "in_vain"))
				    ? "; it wants more than there is"
				    : "");
}

static void print_limit(const json_t *limit)
{
	const json_t *ledger = json_object_get(limit, "ledger");
	char name[RF_NAME_SIZE], source[RF_PREFIX_TEXT_SIZE], time[RF_DURATION_TEXT_SIZE];

	rf_fleet_text(limit, "name", name, sizeof(name));
	rf_fleet_text(limit, "source", source, sizeof(source));
	rf_format_ms(rf_fleet_number(limit, "window_ms"), time);
	rf_out_text("limit '%s', %lld/%s: source %s\n", name,
		    (long long)rf_fleet_number(limit, "count"), time, source);
	print_here(json_object_get(limit, "here"));
	if (!json_is_object(ledger)) {
		rf_out_text("  the engine's claims could not be read\n");
		return;
	}
	rf_out_text("  all hosts: claims of %lld out of %lld%s%s\n",
		    (long long)rf_fleet_number(ledger, "claimed"),
		    (long long)rf_fleet_number(limit, "pool"),
		    rf_fleet_number(ledger, "contested_ms") ? "; contested, so all get less" : "",
		    json_is_true(json_object_get(ledger, "learning"))
			    ? "; the engine learns, and gives nothing"
			    : "");
	print_hosts(json_object_get(ledger, "hosts"));
}

/* What the fence on this host has of its bans is added to the answer. */
static int add_bans(const char *name, const struct rf_address *source, json_t *answer,
		    struct rf_error *error)
{
	struct rf_fence fence = RF_FENCE_NONE;
	struct rf_error ignored = {};
	json_t *bans = NULL;
	int err = rf_fleet_open(name, &fence, error);

	if (!err && rf_agent_ask(name, "bans", &bans, &ignored))
		bans = NULL;
	if (!err)
		err = source_bans_read(&fence, source, bans, answer, error);
	json_decref(bans);
	rf_fence_close(&fence);
	return err;
}

static int print_source(const struct rf_options *options, const char *fence, const char *address,
			const json_t *answer, struct rf_error *error)
{
	json_t *limits = json_object_get(answer, "limits");
	size_t i;
	json_t *limit;

	if (options->json)
		return rf_out_json(json_pack("{s:o, s:s, s:O, s:O, s:O}", "fence",
					     rf_json_text(fence), "address", address, "limits",
					     limits, "allowed", json_object_get(answer, "allowed"),
					     "bans", json_object_get(answer, "bans")),
				   false, error);
	source_bans_print(answer);
	json_array_foreach (limits, i, limit)
		print_limit(limit);
	if (!i)
		print_no_limit();
	return 0;
}

int rf_cmd_fleet_show(const struct rf_options *options, struct rf_words *words,
		      struct rf_error *error)
{
	const char *address = rf_take_operand(RF_CMD_FLEET_SHOW, words, error);
	char fence[RF_NAME_SIZE], question[96];
	struct rf_address parsed;
	json_t *answer = NULL;
	int err = address ? rf_words_end(words, error) : -EINVAL;

	if (!err)
		err = rf_parse_address(address, &parsed, error);
	if (!err)
		err = rf_fleet_fence(options, NULL, fence, error);
	if (err)
		return err;
	snprintf(question, sizeof(question), "source %s", address);
	err = rf_fleet_ask(fence, question, &answer, error);
	if (!err)
		err = add_bans(fence, &parsed, answer, error);
	if (!err)
		err = print_source(options, fence, address, answer, error);
	json_decref(answer);
	return err;
}

/* ---- top ---- */

static void fill_source(const void *context, size_t row, struct rf_cells *cells)
{
	static const char *const keys[] = {"dropped", "passed", "rate", "hosts"};
	const json_t *source = json_array_get(context, row);

	rf_fleet_text(source, "source", cells->text[0], RF_CELL_SIZE);
	rf_fleet_text(source, "limit", cells->text[1], RF_CELL_SIZE);
	for (int i = 0; i < 4; i++)
		snprintf(cells->text[2 + i], RF_CELL_SIZE, "%lld%s",
			 (long long)json_integer_value(json_object_get(source, keys[i])),
			 i == 2 ? "/s" : "");
}

static void print_sources(const json_t *sources)
{
	static const struct rf_column columns[] = {{"source", false, 15}, {"limit", false, 5},
						   {"dropped", true, 10}, {"passed", true, 10},
						   {"rate", true, 8},	  {"hosts", true, 0}};
	const struct rf_table table = {columns, 6,	    1, json_array_size(sources),
				       sources, fill_source};

	if (table.rows)
		rf_table_print(&table);
	else
		rf_out_text("no host tells of a source that is near a limit of the fleet\n");
}

static int print_top(const struct rf_options *options, const char *fence, const json_t *answer,
		     struct rf_error *error)
{
	const json_t *sources = json_object_get(answer, "sources");
	const long long told = rf_fleet_number(answer, "told");
	const long long members = rf_fleet_number(answer, "members");

	if (options->json)
		return rf_out_json(json_pack("{s:o, s:I, s:I, s:O}", "fence", rf_json_text(fence),
					     "members", (json_int_t)members, "told",
					     (json_int_t)told, "sources", sources),
				   false, error);
	print_sources(sources);
	rf_out_text("told by %lld of %lld hosts\n", told, members);
	return 0;
}

int rf_cmd_fleet_top(const struct rf_options *options, struct rf_words *words,
		     struct rf_error *error)
{
	char fence[RF_NAME_SIZE], question[32];
	struct rf_fleet_top top;
	json_t *answer = NULL;
	int err = rf_parse_fleet_top(words, &top, error);

	if (!err)
		err = rf_fleet_fence(options, NULL, fence, error);
	if (err)
		return err;
	snprintf(question, sizeof(question), "top %" PRIu32 " %s", top.rows, top.by);
	err = rf_fleet_ask(fence, question, &answer, error);
	if (!err)
		err = print_top(options, fence, answer, error);
	json_decref(answer);
	return err;
}
