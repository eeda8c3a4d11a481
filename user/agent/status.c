// SPDX-License-Identifier: GPL-2.0
#include "agent/status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/prefix.h"
#include "base/say.h"
#include "base/time.h"
#include "base/units.h"
#include "fleet/socket.h"
#include "fleet/wire.h"
#include "ringfence/fleet.h"
#include "ringfence/share.h"
#include "rules/policy.h"

#define FILE_MODE 0640 /* the agent's group is that of those who may watch */

static const char *const link_states[] = {
	[RF_LINK_DOWN] = "down",
	[RF_LINK_CONNECTING] = "connecting",
	[RF_LINK_LOADING] = "logging in",
	[RF_LINK_READY] = "connected",
};

/* ---- the bucket key ---- */

void rf_status_key_trouble(const struct rf_claims *claims, char text[RF_KEY_TROUBLE_SIZE])
{
	char own[RF_FINGERPRINT_SIZE], other[RF_FINGERPRINT_SIZE];

	*text = '\0';
	if (!claims->foreign)
		return;
	rf_fleet_key_format(claims->fingerprint, own);
	rf_fleet_key_format(claims->fleet_key, other);
	snprintf(text, RF_KEY_TROUBLE_SIZE,
		 "its bucket key is %s, the fleet's is %s; give all hosts the same 'key file', and "
		 "restart the agent",
		 own, other);
}

static json_t *fingerprint_json(uint64_t fingerprint)
{
	char text[RF_FINGERPRINT_SIZE];

	rf_fleet_key_format(fingerprint, text);
	return fingerprint ? json_string(text) : json_null();
}

/* Fingerprints; `fleet` only where it is another one. */
static json_t *key_json(const struct rf_claims *claims)
{
	return json_pack("{s:o, s:b, s:o}", "fingerprint", fingerprint_json(claims->fingerprint),
			 "refused", claims->foreign != 0, "fleet",
			 fingerprint_json(claims->foreign ? claims->fleet_key : 0));
}

/* ---- the engine ---- */

/* Of its connections, the one that says the most; how often one was made, of all. */
static json_t *line_json(const struct rf_line *line, const char *trouble)
{
	json_int_t connections = 0;

	for (uint32_t i = 0; i < RF_NODES_MOST; i++)
		connections += line->link[i].connections;
	return json_pack("{s:s, s:o, s:I}", "state", link_states[rf_line_worst(line)->state],
			 "trouble", *trouble ? rf_json_text(trouble) : json_null(), "connections",
			 connections);
}

/* Those that have keys, and how many buckets each has. */
static json_t *nodes_json(const struct rf_cluster *cluster)
{
	json_t *nodes = json_array();

	for (uint32_t i = 0; i < RF_NODES_MOST; i++) {
		const struct rf_server *server = &cluster->node[i].server;
		json_int_t buckets = 0;

		for (uint32_t tag = 0; tag < RF_BUCKETS; tag++)
			buckets += cluster->route[tag].node == i;
		if (rf_cluster_uses(cluster, i, RF_TAGS_ALL))
			json_array_append_new(nodes, json_pack("{s:o, s:o, s:I}", "host",
							       rf_json_text(server->host), "port",
							       rf_json_text(server->port),
							       "buckets", buckets));
	}
	return nodes;
}

static json_t *engine_json(const struct rf_status_view *view)
{
	const struct rf_server *server = &view->settings->engine.server[0];
	const char *beats_trouble = rf_line_trouble(view->beats);
	char key_trouble[RF_KEY_TROUBLE_SIZE];

	rf_status_key_trouble(view->claims, key_trouble);
	if (!*beats_trouble)
		beats_trouble = key_trouble;
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "host", rf_json_text(server->host),
			 "port", rf_json_text(server->port), "nodes", nodes_json(view->cluster),
			 "heartbeats", line_json(view->beats, beats_trouble), "reports",
			 line_json(view->reports, rf_line_trouble(view->reports)), "news",
			 line_json(view->news, rf_line_trouble(view->news)));
}

/* ---- membership ---- */

static json_t *members_json(const struct rf_claims *claims)
{
	json_t *members = json_array();

	for (uint32_t slot = 0; slot < RF_FLEET_HOSTS_MAX; slot++) {
		bool is_member = false;

		for (int i = 0; i < RF_BUCKETS; i++)
			is_member =
				is_member || rf_ledger_slots_has(&claims->member[i].members, slot);
		if (is_member)
			json_array_append_new(members, json_integer(slot));
	}
	return members;
}

/* Those that the engine hears; null: not known. */
static json_t *heard_json(const struct rf_roll *roll, uint64_t now)
{
	json_t *heard;

	if (!rf_roll_is_known(roll, now))
		return json_null();
	heard = json_array();
	for (uint32_t slot = 0; slot < RF_FLEET_HOSTS_MAX; slot++)
		if (rf_ledger_slots_has(&roll->heard, slot))
			json_array_append_new(heard, json_integer(slot));
	return heard;
}

/* Of the buckets, how many hear the engine, and the least time that is left to one of them. */
static json_t *membership_json(const struct rf_status_view *view, uint64_t now)
{
	uint64_t least_ns = UINT64_MAX;
	int alone = 0, learning = 0, refused = 0;

	for (int i = 0; i < RF_BUCKETS; i++) {
		const uint64_t deadline = view->claims->member[i].deadline;

		alone += rf_member_is_alone(&view->claims->member[i], now);
		learning += view->calls->beating[i].is_learning;
		refused += view->calls->beating[i].is_refused;
		if (deadline < least_ns)
			least_ns = deadline;
	}
	return json_pack(
		"{s:i, s:i, s:i, s:i, s:i, s:b, s:I, s:o, s:o, s:o}", "slot",
		(int)view->claims->member[0].slot, "buckets", RF_BUCKETS, "alone", alone,
		"learning", learning, "refused", refused, "full",
		view->hosts && view->refusals >= view->hosts, "deadline_ms",
		(json_int_t)(least_ns > now ? (least_ns - now) / RF_NS_PER_MS : 0), "alone_ms",
		view->alone_ns ? json_integer((now - view->alone_ns) / RF_NS_PER_MS) : json_null(),
		"members", members_json(view->claims), "heard", heard_json(view->roll, now));
}

/* ---- time alone ---- */

static json_t *time_or_null(uint64_t time_ns)
{
	return time_ns ? json_integer(time_ns) : json_null();
}

static json_t *bucket_json(const struct rf_alone_bucket *bucket)
{
	const struct rf_alone_time *time = &bucket->time;

	return json_pack("{s:o, s:I, s:I, s:o, s:o}", "heard_until_ns",
			 time_or_null(bucket->heard_until_ns), "alone_times",
			 (json_int_t)time->times, "alone_ns", (json_int_t)time->ns,
			 "alone_since_ns", time_or_null(time->since_ns), "alone_until_ns",
			 time_or_null(time->until_ns));
}

static json_t *buckets_json(const struct rf_alone *alone)
{
	json_t *buckets = json_array();

	for (int i = 0; i < RF_BUCKETS; i++)
		json_array_append_new(buckets, bucket_json(&alone->bucket[i]));
	return buckets;
}

/* ---- limits ---- */

static json_t *limit_json(const struct rf_fleet_limit *limit, uint32_t hosts)
{
	char definition[RF_WIRE_DEFINITION_SIZE];

	rf_wire_format_definition(definition, limit->definition);
	return json_pack("{s:o, s:s, s:I, s:I, s:I, s:I, s:I}", "name", rf_json_text(limit->name),
			 "definition", definition, "limit", (json_int_t)limit->limit, "first",
			 (json_int_t)limit->first, "pool", (json_int_t)limit->pool, "bound",
			 (json_int_t)(limit->pool + (uint64_t)limit->first * hosts), "window_ms",
			 (json_int_t)(limit->window_ns / RF_NS_PER_MS));
}

static json_t *limits_json(const struct rf_status_view *view)
{
	json_t *limits = json_array();

	for (int i = 0; i < RF_FLEET_LIMITS_MAX; i++)
		if (view->claims->limit[i].in_force)
			json_array_append_new(limits,
					      limit_json(&view->claims->limit[i], view->hosts));
	return limits;
}

/* Of the claims, how many are a share, and how many want more in vain. */
static json_t *claims_json(const struct rf_claims *claims, uint64_t now)
{
	struct rf_claimant *claimant = NULL;
	json_int_t shares = 0, contested = 0;

	while ((claimant = rf_claim_table_next(&claims->table, claimant))) {
		shares += claimant->claim.share != 0;
		contested += claimant->patient_until_ns > now;
	}
	return json_pack("{s:I, s:I}", "shares", shares, "contested", contested);
}

static json_t *counts_json(const struct rf_claims *claims)
{
	const struct rf_claims_counts *counts = &claims->counts;

	return json_pack(
		"{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "claims",
		(json_int_t)claims->table.count, "asks", (json_int_t)counts->asks, "asks_sent",
		(json_int_t)counts->asks_sent, "asks_put_off", (json_int_t)counts->asks_put_off,
		"asks_no_room", (json_int_t)counts->asks_no_room, "reports",
		(json_int_t)counts->reports, "answers", (json_int_t)counts->answers, "failed",
		(json_int_t)counts->failed, "in_vain", (json_int_t)counts->in_vain, "given_back",
		(json_int_t)counts->given_back, "lost", (json_int_t)counts->lost);
}

static json_t *status_json(const struct rf_status_view *view)
{
	const struct rf_alone *alone = &view->site->alone;
	const uint64_t now = rf_time_awake();

	rf_site_look_whether_alone(view->site);
	return json_pack(
		"{s:i, s:o, s:I, s:I, s:s, s:s, s:b, s:i, s:I, s:o, s:o, s:o, s:I, s:I, s:o, s:o, "
		"s:o, s:o, s:o}",
		"schema", 1, "fence", rf_json_text(view->settings->name), "started_ns",
		(json_int_t)view->started_ns, "written_ns", (json_int_t)now, "host", view->name,
		"version", RINGFENCE_VERSION, "attached", view->site->is_open, "hosts",
		(int)view->hosts, "grace_ms", (json_int_t)(view->settings->grace_ns / RF_NS_PER_MS),
		"engine", engine_json(view), "key", key_json(view->claims), "membership",
		membership_json(view, now), "alone_times", (json_int_t)alone->any.times, "alone_ns",
		(json_int_t)alone->any.ns, "buckets", buckets_json(alone), "limits",
		limits_json(view), "sources", claims_json(view->claims, now), "counts",
		counts_json(view->claims), "bans", rf_fleet_bans_status(view->bans));
}

/* ---- one source ---- */

static json_t *claim_json(const struct rf_status_view *view, int number,
			  const struct rf_address *address)
{
	const struct rf_fleet_limit *limit = &view->claims->limit[number];
	const struct rf_claim_key key = rf_calls_key(view->claims, number, address);
	const struct rf_claimant *claimant = rf_claim_table_find(&view->claims->table, &key);
	const uint32_t bucket = rf_claims_bucket(view->claims, key.source[0], key.source[1]);
	const struct rf_claim none = {};
	const struct rf_claim *claim = claimant ? &claimant->claim : &none;

	return json_pack("{s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:b}", "name",
			 rf_json_text(limit->name), "bucket", (json_int_t)bucket, "first",
			 (json_int_t)limit->first, "share", (json_int_t)claim->share, "claim",
			 (json_int_t)rf_claim_total(claim), "held", (json_int_t)claim->held,
			 "wants", (json_int_t)(claimant ? claimant->wants : 0), "in_vain",
			 claimant && claimant->vain_since_ns);
}

static json_t *show_json(const struct rf_status_view *view, const char *text)
{
	struct rf_address address;
	struct rf_error error = {};
	json_t *limits;

	if (rf_parse_address(text, &address, &error))
		return json_pack("{s:i, s:o}", "schema", 1, "error", rf_json_text(error.text));
	limits = json_array();
	for (int i = 0; i < RF_FLEET_LIMITS_MAX; i++)
		if (view->claims->limit[i].in_force)
			json_array_append_new(limits, claim_json(view, i, &address));
	return json_pack("{s:i, s:o, s:o}", "schema", 1, "address", rf_json_text(text), "limits",
			 limits);
}

char *rf_status_answer(const struct rf_status_view *view, const char *question)
{
	json_t *answer;
	char *text;

	if (strncmp(question, "show ", 5) == 0)
		answer = show_json(view, question + 5);
	else if (strcmp(question, "status") == 0)
		answer = status_json(view);
	else
		answer = rf_fleet_bans_answer(view->bans, question);
	if (!answer)
		answer = json_pack("{s:i, s:s}", "schema", 1, "error", "no such question");
	text = answer ? json_dumps(answer, JSON_COMPACT) : NULL;
	json_decref(answer);
	return text;
}

/* ---- the file ---- */

void rf_publisher_start(struct rf_publisher *publisher, const char *name)
{
	*publisher = (struct rf_publisher){};
	snprintf(publisher->path, sizeof(publisher->path), RF_AGENT_STATUS, name);
	snprintf(publisher->next, sizeof(publisher->next), "%s.new", publisher->path);
}

void rf_publisher_end(struct rf_publisher *publisher)
{
	if (*publisher->path)
		unlink(publisher->path);
}

static int write_text(const struct rf_publisher *publisher, const char *text)
{
	const int fd = open(publisher->next, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
			    FILE_MODE);
	const ssize_t length = strlen(text);
	int err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, length) != length || fchmod(fd, FILE_MODE))
		err = errno ? -errno : -EIO;
	close(fd);
	if (!err && rename(publisher->next, publisher->path))
		err = -errno;
	return err;
}

void rf_publisher_turn(struct rf_publisher *publisher, const struct rf_status_view *view,
		       uint64_t now)
{
	char *text;
	int err;

	if (now < publisher->at_ns)
		return;
	publisher->at_ns = now + RF_NS_PER_S;
	text = rf_status_answer(view, "status");
	errno = 0;
	err = text ? write_text(publisher, text) : -ENOMEM;
	if (err && err != publisher->said)
		rf_warn("%s: cannot write it: %s; who watches sees no agent", publisher->path,
			strerror(-err));
	publisher->said = err;
	free(text);
}
