// SPDX-License-Identifier: GPL-2.0
/* fleet status: what the agent of a fence says */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/printable.h"
#include "base/time.h"
#include "base/units.h"
#include "cli/fleet_agent.h"
#include "cli/fleet_findings.h"
#include "cli/out.h"
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
			    (long long)json_integer_value(json_object_get(node, "buckets")),
			    (long long)status->buckets);
	}
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
		rf_out_text("no limit has the word 'fleet'; 'ringfence limit add NAME rate "
			    "COUNT/TIME fleet' adds one\n");
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

/* ---- the other hosts ---- */

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
		json_array_append_new(
			nodes, json_pack("{s:o, s:I}", "engine", rf_json_text(engine), "buckets",
					 json_integer_value(json_object_get(node, "buckets"))));
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
