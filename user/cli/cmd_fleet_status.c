// SPDX-License-Identifier: GPL-2.0
/* fleet status: what the agent of a fence says */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "cli/agent.h"
#include "cli/command.h"
#include "cli/out.h"
#include "ringfence/abi.h"
#include "rules/grammar_option.h"

/* ---- status ---- */

struct status {
	const char *fence, *host, *port, *trouble; /* `trouble` NULL: none */
	json_int_t hosts, slot, buckets, alone, learning, claims;
	size_t members;
	int attached;
	json_t *limits;
};

static int read_status(json_t *answer, struct status *status, struct rf_error *error)
{
	json_t *members = NULL, *trouble = NULL;

	if (json_unpack(answer,
			"{s:s, s:b, s:I, s:{s:s, s:s, s:{s:o}}, s:{s:I, s:I, s:I, s:I, s:o}, s:o, "
			"s:{s:I}}",
			"fence", &status->fence, "attached", &status->attached, "hosts",
			&status->hosts, "engine", "host", &status->host, "port", &status->port,
			"heartbeats", "trouble", &trouble, "membership", "slot", &status->slot,
			"buckets", &status->buckets, "alone", &status->alone, "learning",
			&status->learning, "members", &members, "limits", &status->limits, "counts",
			"claims", &status->claims))
		return rf_error_failed(error, -EPROTO,
				       "the agent is of another version; restart it, by "
				       "'systemctl restart ringfence-fleet@FENCE'");
	status->members = json_array_size(members);
	status->trouble = json_string_value(trouble);
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

static void print_state(const struct status *status)
{
	char trouble[320];

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
		rf_out_text("fence '%s': %s; the engine is %s:%s\n", status->fence,
			    state_of(status), status->host, status->port);
	if (!status->trouble)
		return;
	snprintf(trouble, sizeof(trouble), "%s", status->trouble);
	rf_hide_controls(trouble, false);
	rf_out_text("%s\n", trouble);
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

static int print_json(const struct status *status, struct rf_error *error)
{
	char engine[300];

	snprintf(engine, sizeof(engine), "%s:%s", status->host, status->port);
	return rf_out_json(
		json_pack("{s:o, s:s, s:s, s:o, s:I, s:I, s:I, s:I, s:o}", "fence",
			  rf_json_text(status->fence), "state", state_of(status), "engine", engine,
			  "trouble", status->trouble ? rf_json_text(status->trouble) : json_null(),
			  "hosts", status->hosts, "members", (json_int_t)status->members, "slot",
			  status->slot, "claims", status->claims, "limits", limits_json(status)),
		false, error);
}

int rf_cmd_fleet_status(const struct rf_options *options, struct rf_words *words,
			struct rf_error *error)
{
	const char *fence = rf_take_operand(RF_CMD_FLEET_STATUS, words, error);
	struct status status = {};
	json_t *answer = NULL;
	int err = fence ? rf_words_end(words, error) : -EINVAL;

	if (!err && options->dev)
		err = rf_error_usage(error, "'dev': the fence is '%s'; leave 'dev' out", fence);
	if (!err && (!*fence || strchr(fence, '/') || strlen(fence) >= RF_NAME_SIZE))
		err = rf_error_usage(error, "'%s': no fence has such a name", fence);
	if (!err)
		err = rf_agent_ask(fence, "status", &answer, error);
	if (!err)
		err = read_status(answer, &status, error);
	if (!err && options->json)
		err = print_json(&status, error);
	else if (!err) {
		print_state(&status);
		print_limits(&status);
	}
	json_decref(answer);
	return err;
}
