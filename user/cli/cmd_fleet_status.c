// SPDX-License-Identifier: GPL-2.0
/* fleet status, fleet show, fleet top: reports of the agent of a fence */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/prefix.h"
#include "base/text.h"
#include "base/time.h"
#include "base/units.h"
#include "cli/fleet_agent.h"
#include "cli/out.h"
#include "cli/view.h"
#include "fence/fence.h"
#include "rules/grammar_option.h"

/*
 * Objects in the replies of the agent are printed unchanged: the records of their fields are in
 * agent/replies.c, agent/news.c and agent/status.c.
 */

/* ---- status ---- */

#define ENGINE_SIZE 300

struct node {
	char engine[ENGINE_SIZE];
	json_int_t buckets;
};

struct shared_limit {
	const char *name, *definition;
};

struct status {
	const char *fence, *trouble; /* `trouble` NULL: none */
	char engine[ENGINE_SIZE];
	json_int_t hosts, slot, buckets, alone, learning, claims, grace_ms;
	json_int_t alone_ms; /* for how long; -1: it is not offline */
	json_int_t alone_times, alone_ns;
	json_t *parts; /* of each bucket, for how long it was offline */
	size_t members;
	int attached;
	struct rf_fleet_bans_seen bans;
	struct node *node; /* of the fleet server, each with its buckets */
	size_t nodes;
	json_t *key;
	struct shared_limit *limit;
	size_t limits;
	json_t *others; /* all hosts, as they report; NULL: no reply */
};

static void format_engine(const json_t *node, char engine[ENGINE_SIZE])
{
	char host[256], port[8];

	rf_fleet_text(node, "host", host, sizeof(host));
	rf_fleet_text(node, "port", port, sizeof(port));
	snprintf(engine, ENGINE_SIZE, "%s:%s", host, port);
}

static int read_lists(const json_t *nodes, const json_t *limits, struct status *status,
		      struct rf_error *error)
{
	json_t *each;
	size_t i;

	status->nodes = json_array_size(nodes);
	status->limits = json_array_size(limits);
	status->node = calloc(status->nodes + 1, sizeof(*status->node));
	status->limit = calloc(status->limits + 1, sizeof(*status->limit));
	if (!status->node || !status->limit)
		return rf_error_failed(error, -ENOMEM, "%s", strerror(ENOMEM));
	json_array_foreach (nodes, i, each) {
		format_engine(each, status->node[i].engine);
		status->node[i].buckets = rf_fleet_number(each, "buckets");
	}
	json_array_foreach (limits, i, each) {
		status->limit[i].name = json_string_value(json_object_get(each, "name"));
		status->limit[i].definition =
			json_string_value(json_object_get(each, "definition"));
	}
	return 0;
}

static int read_status(json_t *answer, struct status *status, struct rf_error *error)
{
	json_t *members = NULL, *trouble = NULL, *alone_ms = NULL, *nodes, *limits;

	if (json_unpack(answer,
			"{s:s, s:b, s:I, s:I, s:{s:o, s:{s:o}}, s:{s:I, s:I, s:I, s:I, s:o, "
			"s:o}, s:I, s:I, s:o, s:o, s:{s:I}}",
			"fence", &status->fence, "attached", &status->attached, "hosts",
			&status->hosts, "grace_ms", &status->grace_ms, "server", "nodes", &nodes,
			"heartbeats", "last_error", &trouble, "membership", "slot", &status->slot,
			"buckets", &status->buckets, "offline", &status->alone, "learning",
			&status->learning, "offline_ms", &alone_ms, "members", &members,
			"offline_count", &status->alone_times, "offline_ns", &status->alone_ns,
			"buckets", &status->parts, "limits", &limits, "counts", "claims",
			&status->claims))
		return rf_error_failed(error, -EPROTO,
				       "the agent is of another version; restart it, by "
				       "'systemctl restart ringfence-fleet@FENCE'");
	format_engine(json_object_get(answer, "server"), status->engine);
	status->members = json_array_size(members);
	status->trouble = json_string_value(trouble);
	status->key = json_object_get(answer, "key");
	rf_fleet_read_bans(answer, &status->bans);
	status->alone_ms = json_is_integer(alone_ms) ? json_integer_value(alone_ms) : -1;
	return read_lists(nodes, limits, status, error);
}

static const char *state_of(const struct status *status)
{
	if (!status->attached)
		return "waiting";
	if (!status->alone)
		return "shared";
	if (status->learning)
		return "learning";
	return status->alone == status->buckets ? "offline" : "partly offline";
}

static void print_alone(const struct status *status)
{
	char since[RF_DURATION_TEXT_SIZE];

	rf_format_ms(status->alone_ms < 0 ? 0 : status->alone_ms, since);
	rf_out_text("fence '%s': %s for %s; the fleet server is %s\n", status->fence,
		    state_of(status), since, status->engine);
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
			    "by the fleet server %s\n",
			    status->fence, status->members, (long long)status->hosts,
			    (long long)status->slot, status->engine);
	else
		print_alone(status);
	if (!status->trouble)
		return;
	snprintf(trouble, sizeof(trouble), "%s", status->trouble);
	rf_hide_controls(trouble, false);
	rf_out_text("%s\n", trouble);
}

/* Unless the state already reports all of this time. */
static void print_time_alone(const struct status *status)
{
	char time[RF_DURATION_TEXT_SIZE];

	if (status->alone_times <= (status->alone != 0))
		return;
	rf_format_ms(status->alone_ns / RF_NS_PER_MS, time);
	rf_out_text("offline since the agent started: %lld time%s, %s in total\n",
		    (long long)status->alone_times, status->alone_times == 1 ? "" : "s", time);
}

/* Of a cluster. */
static void print_nodes(const struct status *status)
{
	for (size_t i = 0; i < status->nodes && status->nodes > 1; i++)
		rf_out_text("node %s: %lld of %lld buckets\n", status->node[i].engine,
			    (long long)status->node[i].buckets, (long long)status->buckets);
}

static void print_no_limit(void)
{
	rf_out_text(
		"no limit has the word 'fleet'; 'ringfence limit add NAME rate COUNT/TIME fleet' "
		"adds one\n");
}

static void print_limits(const struct status *status)
{
	for (size_t i = 0; i < status->limits; i++) {
		char name[RF_NAME_SIZE];

		snprintf(name, sizeof(name), "%s", status->limit[i].name);
		rf_hide_controls(name, false);
		rf_out_text("limit '%s': definition %s\n", name, status->limit[i].definition);
	}
	if (!status->limits && status->attached)
		print_no_limit();
	rf_out_text("sources with a claim here: %lld\n", (long long)status->claims);
}

static void print_bans(const struct rf_fleet_bans_seen *bans)
{
	if (bans->takes)
		rf_out_text("bans: %lld of other hosts accepted; %lld reported since the agent "
			    "started\n",
			    (long long)bans->taken, (long long)bans->told);
	else if (bans->is_known)
		rf_out_text(
			"bans: bans of other hosts are not accepted; %lld reported since the agent "
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
		rf_out_text("limit '%s': a different definition on %s\n", limit, hosts);
	else
		rf_out_text("limit '%s': missing %s %s\n", limit,
			    strcmp(how, "missing here") == 0 ? "here, and there on" : "on", hosts);
}

static void print_others(const struct status *status)
{
	char list[RF_HOST_LIST_SIZE];

	rf_fleet_each_difference(status->others, print_difference, NULL);
	if (rf_fleet_others(status->others, "hosts", status->hosts, list))
		rf_out_text("a different number of hosts than here on %s\n", list);
	if (rf_fleet_others(status->others, "grace_ms", status->grace_ms, list))
		rf_out_text("a different grace than here on %s\n", list);
}

/* ---- status: for programs ---- */

static json_t *make_state(const void *of)
{
	return json_string(state_of(of));
}

static bool is_alone(const void *of)
{
	return ((const struct status *)of)->alone_ms >= 0;
}

static const struct rf_field node_fields[] = {
	RF_FIELD("server", struct node, engine, "HOST:PORT"),
	RF_FIELD("buckets", struct node, buckets, "of 16, those whose claims it has"),
	{},
};

static const struct rf_field shared_limit_fields[] = {
	RF_FIELD("name", struct shared_limit, name, "the limit"),
	RF_FIELD("definition", struct shared_limit, definition,
		 "the same on all hosts that share the limit"),
	{},
};

static const struct rf_field bans_fields[] = {
	RF_FIELD("accepts", struct rf_fleet_bans_seen, takes, "bans of other hosts are accepted"),
	RF_FIELD("accepted", struct rf_fleet_bans_seen, taken,
		 "bans of other hosts, enforced here"),
	RF_FIELD("reported", struct rf_fleet_bans_seen, told,
		 "bans reported to them since the agent started"),
	RF_FIELD("refused", struct rf_fleet_bans_seen, refused,
		 "bans of other hosts that are not enforced"),
	RF_FIELD("last_error", struct rf_fleet_bans_seen, trouble,
		 "why bans are not sent or accepted", .if_any = true, .or_null = true),
	{},
};

static const struct rf_field status_fields[] = {
	RF_FIELD("fence", struct status, fence, "its name"),
	RF_FIELD_MADE("state", RF_FIELD_TEXT, make_state,
		      "shared, offline, partly offline, learning, or waiting for the fence"),
	RF_FIELD("offline_ms", struct status, alone_ms, "offline for that long; null: not offline",
		 .has = is_alone, .or_null = true),
	RF_FIELD("offline_count", struct status, alone_times, "number of times it was offline"),
	RF_FIELD("offline_ns", struct status, alone_ns,
		 "total time offline since the agent started"),
	RF_FIELD_READ("buckets", struct status, parts, RF_FIELD_LIST, NULL,
		      "the 16 buckets of sources, each online or offline separately"),
	RF_FIELD("server", struct status, engine, "HOST:PORT, the first server of the settings"),
	RF_FIELD_OBJECTS("nodes", struct status, node, nodes, node_fields,
			 "servers with keys of the fleet; of a cluster, several"),
	RF_FIELD("last_error", struct status, trouble, "the last error of the fleet server",
		 .or_null = true),
	RF_FIELD_READ("key", struct status, key, RF_FIELD_OBJECT, NULL, "the bucket key"),
	RF_FIELD("hosts", struct status, hosts, "hosts that the fleet can have"),
	RF_FIELD("grace_ms", struct status, grace_ms,
		 "time without a reply after which the host is offline"),
	RF_FIELD("members", struct status, members, "hosts that are members"),
	RF_FIELD("slot", struct status, slot, "of this host"),
	RF_FIELD("claims", struct status, claims, "sources with a claim on this host"),
	RF_FIELD_OBJECTS("limits", struct status, limit, limits, shared_limit_fields,
			 "enforced limits of the fleet"),
	RF_FIELD_IN("bans", struct status, bans, bans_fields, "as the agent reports them"),
	RF_FIELD_READ("others", struct status, others, RF_FIELD_LIST, NULL,
		      "all members; null: the fleet server did not reply", .or_null = true),
	{},
};

RF_RECORD(fleet_status, status_fields);

/* Without a reply of the fleet server, the status has the error. */
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
		return rf_out_record(status_fields, status, error);
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
	free(status.node);
	free(status.limit);
	json_decref(answer);
	json_decref(others);
	return err;
}

/* ---- show: the bans of a source on this host ---- */

/* An entry of the deny list by its owner, or a ban by a limit. */
struct source_ban {
	struct rf_prefix prefix;
	uint64_t left_ns;	  /* RF_FOREVER: permanent */
	char by[RF_OWNER_SIZE];	  /* "": a limit */
	int64_t host;		  /* of the fleet's; below 0: not known */
	char limit[RF_NAME_SIZE]; /* "": the deny list */
};

struct shown {
	const char *fence, *address;
	json_t *limits; /* as the agent answered */
	bool is_allowed;
	struct source_ban *ban;
	size_t bans, room;
};

static bool knows_host(const void *of)
{
	return ((const struct source_ban *)of)->host >= 0;
}

static const struct rf_field source_ban_fields[] = {
	RF_FIELD_OF_PREFIX("prefix", struct source_ban, prefix, "the banned prefix"),
	RF_FIELD_LEFT_OF("left_ms", struct source_ban, left_ns, "until it expires; null: never",
			 .or_null = true),
	RF_FIELD("by", struct source_ban, by,
		 "the owner of the entry of the deny list; null: a limit", .if_any = true,
		 .or_null = true),
	RF_FIELD("host", struct source_ban, host,
		 "with the owner \"fleet\", its host; null: not known", .has = knows_host,
		 .or_null = true),
	RF_FIELD("limit", struct source_ban, limit,
		 "the limit that bans it; null: the deny list does", .if_any = true,
		 .or_null = true),
	{},
};

static const struct rf_field shown_fields[] = {
	RF_FIELD("fence", struct shown, fence, "its name"),
	RF_FIELD("address", struct shown, address, "as given"),
	RF_FIELD_READ("limits", struct shown, limits, RF_FIELD_LIST, NULL,
		      "enforced limits of the fleet"),
	RF_FIELD("allowed", struct shown, is_allowed,
		 "it is on the allow list, so its bans do not apply"),
	RF_FIELD_OBJECTS("bans", struct shown, ban, bans, source_ban_fields,
			 "what bans it on this host"),
	{},
};

RF_RECORD(fleet_show, shown_fields);

#define BANS_LEAST 8

/* A further ban, which the caller fills in; NULL: no memory. */
static struct source_ban *add_ban(struct shown *shown, const struct rf_prefix *prefix,
				  uint64_t left_ns)
{
	struct source_ban *ban =
		rf_grow(shown->ban, shown->bans, &shown->room, sizeof(*ban), BANS_LEAST);

	if (!ban)
		return NULL;
	shown->ban = ban;
	ban += shown->bans++;
	*ban = (struct source_ban){.prefix = *prefix, .left_ns = left_ns, .host = -1};
	return ban;
}

/* Adds a ban for each owner of an entry. */
static void add_entry(const struct rf_list_entry *entry, const json_t *bans, struct shown *shown)
{
	char prefix[RF_PREFIX_TEXT_SIZE];

	rf_format_prefix(&entry->prefix, prefix);
	for (int i = 0; i < entry->owners; i++) {
		const struct rf_entry_owner *owner = &entry->owner[i];
		struct source_ban *ban = add_ban(shown, &entry->prefix, owner->left_ns);

		if (!ban)
			return;
		snprintf(ban->by, sizeof(ban->by), "%s", owner->name);
		if (owner->number == RF_OWNER_FLEET)
			ban->host = rf_fleet_ban_host(bans, prefix);
	}
}

static void add_denied(const struct rf_fence_rules *rules, const struct rf_prefix *source,
		       const json_t *bans, struct shown *shown)
{
	for (size_t i = 0; i < rules->set.listed_count; i++) {
		const struct rf_listed *listed = &rules->set.listed[i];
		struct rf_list_entry entry;

		if (!rf_prefix_contains(&listed->prefix, source))
			continue;
		shown->is_allowed |= rf_listed_until(listed, RF_ALLOW) != 0;
		if (rf_list_entry_of(rules, listed, RF_DENY, &RF_OWNERS_ALL, &entry))
			add_entry(&entry, bans, shown);
	}
}

static int add_banned(const struct rf_fence *fence, const struct rf_prefix *source,
		      struct shown *shown, struct rf_error *error)
{
	struct rf_bans bans = {};
	int err = rf_fence_bans(fence, &bans, error);

	for (size_t i = 0; i < bans.count && !err; i++) {
		const struct rf_ban_row *row = &bans.row[i];
		const struct rf_prefix prefix = rf_ban_prefix(row);
		struct source_ban *ban;

		if (!rf_prefix_contains(&prefix, source))
			continue;
		ban = add_ban(shown, &prefix, row->left_ns);
		if (ban)
			snprintf(ban->limit, sizeof(ban->limit), "%s", row->limit->name);
	}
	rf_bans_free(&bans);
	return err;
}

/* ---- show: the bans, for people ---- */

static void print_ban(const struct source_ban *ban)
{
	char prefix[RF_PREFIX_TEXT_SIZE], time[RF_DURATION_TEXT_SIZE] = "";

	rf_format_prefix(&ban->prefix, prefix);
	if (ban->left_ns != RF_FOREVER)
		rf_format_left(ban->left_ns / RF_NS_PER_MS * RF_NS_PER_MS, time);
	rf_out_text("%s: %s%s%s", *ban->limit ? "banned" : "denied", prefix,
		    *time ? " for another " : "", time);
	if (*ban->limit)
		rf_out_text(" by limit '%s'", ban->limit);
	else
		rf_out_text(" by %s", ban->by);
	if (ban->host >= 0)
		rf_out_text(", of host %lld", (long long)ban->host);
	rf_out_text("\n");
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
		 json_is_true(json_object_get(host, "self")) ? " (this host)" : "");
	snprintf(cells->text[1], RF_CELL_SIZE, "%lld", (long long)rf_fleet_number(host, "claim"));
	snprintf(cells->text[2], RF_CELL_SIZE, "%s",
		 json_is_true(json_object_get(host, "unsatisfied")) ? "yes" : "no");
	print_ago(rf_fleet_number(host, "silent_ms"), cells->text[3], RF_CELL_SIZE);
}

static void print_hosts(const json_t *hosts)
{
	static const struct rf_column columns[] = {{"host", false, 12},
						   {"claim", true, 8},
						   {"wants more", false, 0},
						   {"last heartbeat", true, 0}};
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
		rf_out_text("  here: no window\n");
		return;
	}
	rf_out_text("  here: %lld used, share %lld, claim %lld",
		    (long long)json_integer_value(used), (long long)rf_fleet_number(here, "share"),
		    (long long)rf_fleet_number(here, "claim"));
	if (json_is_integer(since)) {
		rf_format_ms(json_integer_value(since), time);
		rf_out_text(", since %s", time);
	}
	rf_out_text("%s\n", json_is_true(json_object_get(here, "unsatisfied"))
				    ? "; it requests more than is left"
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
	print_here(json_object_get(limit, "local"));
	if (!json_is_object(ledger)) {
		rf_out_text("  cannot read the claims from the fleet server\n");
		return;
	}
	rf_out_text("  all hosts: claims of %lld out of %lld%s%s\n",
		    (long long)rf_fleet_number(ledger, "claimed"),
		    (long long)rf_fleet_number(limit, "pool"),
		    rf_fleet_number(ledger, "contested_ms") ? "; contested, so all hosts get less"
							    : "",
		    json_is_true(json_object_get(ledger, "learning"))
			    ? "; the fleet server is learning, and grants nothing"
			    : "");
	print_hosts(json_object_get(ledger, "hosts"));
}

/*
 * What bans the source on this host, and whether the allow list comes before that. Of the fleet's
 * bans the agent knows the hosts.
 */
static int read_bans(const char *name, const struct rf_address *source, struct shown *shown,
		     struct rf_error *error)
{
	const struct rf_prefix prefix = rf_prefix_of_address(source);
	struct rf_view view = RF_VIEW_NONE;
	struct rf_error ignored = {};
	json_t *bans = NULL;
	char word[RF_FLEET_WORD_SIZE];
	int err = rf_view_open(&view, rf_fleet_word(name, word), RF_RULES_IN_FORCE, error);

	if (!err && rf_agent_ask(name, "bans", &bans, &ignored))
		bans = NULL;
	if (!err)
		add_denied(&view.rules, &prefix, bans, shown);
	if (!err)
		err = add_banned(&view.fence, &prefix, shown, error);
	json_decref(bans);
	rf_view_close(&view);
	return err;
}

static void print_source(const struct shown *shown)
{
	json_t *limit;
	size_t i;

	for (i = 0; i < shown->bans; i++)
		print_ban(&shown->ban[i]);
	if (shown->bans && shown->is_allowed)
		rf_out_text("it passes nevertheless: it is on the allow list\n");
	json_array_foreach (shown->limits, i, limit)
		print_limit(limit);
	if (!i)
		print_no_limit();
}

int rf_cmd_fleet_show(const struct rf_options *options, struct rf_words *words,
		      struct rf_error *error)
{
	const char *address = rf_take_operand(RF_CMD_FLEET_SHOW, words, error);
	char fence[RF_NAME_SIZE], question[96];
	struct rf_address parsed;
	json_t *answer = NULL;
	struct shown shown = {.fence = fence, .address = address};
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
		err = read_bans(fence, &parsed, &shown, error);
	shown.limits = json_object_get(answer, "limits");
	if (!err && options->json)
		err = rf_out_record(shown_fields, &shown, error);
	else if (!err)
		print_source(&shown);
	free(shown.ban);
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
		rf_out_text("no host reports a source near a limit of the fleet\n");
}

struct top {
	const char *fence;
	json_int_t members, told;
	json_t *sources;
};

static const struct rf_field top_fields[] = {
	RF_FIELD("fence", struct top, fence, "its name"),
	RF_FIELD("members", struct top, members, "hosts of the fleet"),
	RF_FIELD("reported", struct top, told, "hosts that reported"),
	RF_FIELD_READ("sources", struct top, sources, RF_FIELD_LIST, NULL, "the first N"),
	{},
};

RF_RECORD(fleet_top, top_fields);

static int print_top(const struct rf_options *options, const char *fence, const json_t *answer,
		     struct rf_error *error)
{
	const struct top top = {fence, rf_fleet_number(answer, "members"),
				rf_fleet_number(answer, "reported"),
				json_object_get(answer, "sources")};

	if (options->json)
		return rf_out_record(top_fields, &top, error);
	print_sources(top.sources);
	rf_out_text("reported by %lld of %lld hosts\n", (long long)top.told,
		    (long long)top.members);
	return 0;
}

int rf_cmd_fleet_top(const struct rf_options *options, struct rf_words *words,
		     struct rf_error *error)
{
	char fence[RF_NAME_SIZE], question[32];
	struct rf_fleet_top top;
	json_t *answer = NULL;
	int err = rf_parse_arguments(RF_CMD_FLEET_TOP, words, &top, error);

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
