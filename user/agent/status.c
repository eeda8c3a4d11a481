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
#include "schema/record.h"

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

/* Fingerprints; "": there is none. */
struct told_key {
	char own[RF_FINGERPRINT_SIZE], fleet[RF_FINGERPRINT_SIZE];
	bool is_refused;
};

static const struct rf_field key_fields[] = {
	RF_FIELD("fingerprint", struct told_key, own, "of the key of this host; null: it has none",
		 .if_any = true, .or_null = true),
	RF_FIELD("refused", struct told_key, is_refused,
		 "the members have another key, so the host is alone"),
	RF_FIELD("fleet", struct told_key, fleet,
		 "of the members' key, if the host is refused; null: they have none",
		 .if_any = true, .or_null = true),
	{},
};

static json_t *key_json(const struct rf_claims *claims)
{
	struct told_key key = {.is_refused = claims->foreign};

	if (claims->fingerprint)
		rf_fleet_key_format(claims->fingerprint, key.own);
	if (claims->foreign && claims->fleet_key)
		rf_fleet_key_format(claims->fleet_key, key.fleet);
	return rf_record_json(key_fields, &key);
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
		view->calls->hosts && view->calls->refusals >= view->calls->hosts, "deadline_ms",
		(json_int_t)(least_ns > now ? (least_ns - now) / RF_NS_PER_MS : 0), "alone_ms",
		view->alone_ns ? json_integer((now - view->alone_ns) / RF_NS_PER_MS) : json_null(),
		"members", members_json(view->claims), "heard", heard_json(view->roll, now));
}

/* ---- time alone ---- */

static const struct rf_field bucket_fields[] = {
	RF_FIELD("heard_until_ns", struct rf_alone_bucket, heard_until_ns,
		 "alone from then on; null: nothing was heard yet", .if_any = true,
		 .or_null = true),
	RF_FIELD("alone_times", struct rf_alone_bucket, time.times, "how often that was"),
	RF_FIELD("alone_ns", struct rf_alone_bucket, time.ns,
		 "the time alone since the agent started"),
	RF_FIELD("alone_since_ns", struct rf_alone_bucket, time.since_ns,
		 "CLOCK_MONOTONIC when it went alone last; null: never", .if_any = true,
		 .or_null = true),
	RF_FIELD("alone_until_ns", struct rf_alone_bucket, time.until_ns,
		 "the end of that; null: it lasts, or never was", .if_any = true, .or_null = true),
	{},
};

static json_t *buckets_json(const struct rf_alone *alone)
{
	json_t *buckets = json_array();

	for (int i = 0; i < RF_BUCKETS; i++)
		json_array_append_new(buckets, rf_record_json(bucket_fields, &alone->bucket[i]));
	return buckets;
}

/* ---- what 'fleet status' prints as it is ---- */

static const struct rf_field printed_fields[] = {
	RF_FIELD_MADE("key", RF_FIELD_OBJECT, NULL, "the bucket key", .fields = key_fields),
	RF_FIELD_MADE("buckets", RF_FIELD_LIST, NULL,
		      "the 16 parts of the sources, each heard or alone by itself",
		      .fields = bucket_fields),
	{},
};
RF_RECORD(fleet_status, printed_fields);

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
			json_array_append_new(
				limits, limit_json(&view->claims->limit[i], view->calls->hosts));
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

static const struct rf_field counts_fields[] = {
	RF_FIELD("claims", struct rf_claims, table.count, "sources with a claim here"),
	RF_FIELD("asks", struct rf_claims, counts.asks, "of sources, for a larger share"),
	RF_FIELD("asks_sent", struct rf_claims, counts.asks_sent, "that became reports"),
	RF_FIELD("asks_put_off", struct rf_claims, counts.asks_put_off,
		 "more than the agent may send"),
	RF_FIELD("asks_no_room", struct rf_claims, counts.asks_no_room, "the table was full"),
	RF_FIELD("reports", struct rf_claims, counts.reports, "claims that were reported"),
	RF_FIELD("answers", struct rf_claims, counts.answers, "to them"),
	RF_FIELD("failed", struct rf_claims, counts.failed, "reports without an answer"),
	RF_FIELD("in_vain", struct rf_claims, counts.in_vain,
		 "answers that gave less than was wanted"),
	RF_FIELD("given_back", struct rf_claims, counts.given_back, "shares"),
	RF_FIELD("lost", struct rf_claims, counts.lost,
		 "windows that are gone while they had a claim"),
	{},
};

static json_t *status_json(const struct rf_status_view *view)
{
	const struct rf_alone *alone = &view->site->alone;
	const uint64_t now = rf_time_awake();

	rf_site_look_whether_alone(view->site);
	return json_pack(
		"{s:o, s:I, s:I, s:s, s:s, s:b, s:i, s:I, s:o, s:o, s:o, s:I, s:I, s:o, s:o, "
		"s:o, s:o, s:o}",
		"fence", rf_json_text(view->settings->name), "started_ns",
		(json_int_t)view->started_ns, "written_ns", (json_int_t)now, "host", view->name,
		"version", RINGFENCE_VERSION, "attached", view->site->is_open, "hosts",
		(int)view->calls->hosts, "grace_ms",
		(json_int_t)(view->settings->grace_ns / RF_NS_PER_MS), "engine", engine_json(view),
		"key", key_json(view->claims), "membership", membership_json(view, now),
		"alone_times", (json_int_t)alone->any.times, "alone_ns", (json_int_t)alone->any.ns,
		"buckets", buckets_json(alone), "limits", limits_json(view), "sources",
		claims_json(view->claims, now), "counts",
		rf_record_json(counts_fields, view->claims), "bans",
		rf_fleet_bans_status(view->bans));
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
		return rf_status_error(error.text);
	limits = json_array();
	for (int i = 0; i < RF_FLEET_LIMITS_MAX; i++)
		if (view->claims->limit[i].in_force)
			json_array_append_new(limits, claim_json(view, i, &address));
	return json_pack("{s:o, s:o}", "address", rf_json_text(text), "limits", limits);
}

json_t *rf_status_error(const char *text)
{
	return json_pack("{s:o}", "error", rf_json_text(text));
}

char *rf_status_text(json_t *answer)
{
	json_t *all = json_pack("{s:i}", "schema", 1);
	char *text = NULL;

	if (answer && !json_object_update(all, answer))
		text = json_dumps(all, JSON_COMPACT);
	json_decref(answer);
	json_decref(all);
	return text;
}

char *rf_status_answer(const struct rf_status_view *view, const char *question)
{
	json_t *answer;

	if (strncmp(question, "show ", 5) == 0)
		answer = show_json(view, question + 5);
	else if (strcmp(question, "status") == 0)
		answer = status_json(view);
	else
		answer = rf_fleet_bans_answer(view->bans, question);
	return rf_status_text(answer ? answer : rf_status_error("no such question"));
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
