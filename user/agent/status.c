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

#define FILE_MODE 0640 /* readable by the group of viewers */

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

/* Fingerprints; "": no key. */
struct key_status {
	char own[RF_FINGERPRINT_SIZE], fleet[RF_FINGERPRINT_SIZE];
	bool is_refused;
};

static const struct rf_field key_fields[] = {
	RF_FIELD("fingerprint", struct key_status, own, "of the key of this host; null: no key",
		 .if_any = true, .or_null = true),
	RF_FIELD("refused", struct key_status, is_refused,
		 "the members have a different key, so the host is offline"),
	RF_FIELD("fleet_fingerprint", struct key_status, fleet,
		 "of the members' key, if the host is refused; null: no key", .if_any = true,
		 .or_null = true),
	{},
};

static struct key_status read_key(const struct rf_claims *claims)
{
	struct key_status key = {.is_refused = claims->foreign};

	if (claims->fingerprint)
		rf_fleet_key_format(claims->fingerprint, key.own);
	if (claims->foreign && claims->fleet_key)
		rf_fleet_key_format(claims->fleet_key, key.fleet);
	return key;
}

/* ---- the fleet server ---- */

/* The connections of one purpose. */
struct line_status {
	const char *state, *trouble;
	uint64_t connections;
};

static const struct rf_field line_fields[] = {
	RF_FIELD("state", struct line_status, state, "down, connecting, logging in or connected"),
	RF_FIELD("last_error", struct line_status, trouble, "its last error", .if_any = true,
		 .or_null = true),
	RF_FIELD("connections", struct line_status, connections,
		 "connections established since the agent started"),
	{},
};

static struct line_status read_line(const struct rf_line *line)
{
	struct line_status status = {
		.state = link_states[rf_line_worst(line)->state],
		.trouble = rf_line_trouble(line),
	};

	for (uint32_t i = 0; i < RF_NODES_MOST; i++)
		status.connections += line->link[i].connections;
	return status;
}

struct node_status {
	const struct rf_server *server;
	uint64_t buckets;
};

static const struct rf_field server_fields[] = {
	RF_FIELD("host", struct rf_server, host, "as configured, or as the cluster announces it"),
	RF_FIELD("port", struct rf_server, port, "its port"),
	{},
};

static const struct rf_field node_fields[] = {
	RF_FIELDS_VIA(struct node_status, server, server_fields),
	RF_FIELD("buckets", struct node_status, buckets, "number of buckets whose claims it has"),
	{},
};

struct engine_status {
	const struct rf_server *server; /* the first one of the settings */
	struct node_status node[RF_NODES_MOST];
	uint32_t nodes; /* that have keys */
	struct line_status heartbeats, reports, news;
	char key_trouble[RF_KEY_TROUBLE_SIZE];
};

static const struct rf_field engine_fields[] = {
	RF_FIELDS_VIA(struct engine_status, server, server_fields),
	RF_FIELD_OBJECTS("nodes", struct engine_status, node, nodes, node_fields,
			 "servers with keys of the fleet"),
	RF_FIELD_IN("heartbeats", struct engine_status, heartbeats, line_fields,
		    "connections for heartbeats"),
	RF_FIELD_IN("reports", struct engine_status, reports, line_fields,
		    "connections for reports of claims"),
	RF_FIELD_IN("feed", struct engine_status, news, line_fields,
		    "connections for information between hosts"),
	{},
};

static uint64_t count_buckets(const struct rf_cluster *cluster, uint32_t node)
{
	uint64_t buckets = 0;

	for (uint32_t tag = 0; tag < RF_BUCKETS; tag++)
		buckets += cluster->route[tag].node == node;
	return buckets;
}

static void read_engine(const struct rf_status_view *view, struct engine_status *status)
{
	const struct rf_cluster *cluster = view->cluster;

	status->server = &view->settings->engine.server[0];
	for (uint32_t i = 0; i < RF_NODES_MOST; i++)
		if (rf_cluster_uses(cluster, i, RF_TAGS_ALL))
			status->node[status->nodes++] = (struct node_status){
				&cluster->node[i].server, count_buckets(cluster, i)};
	status->heartbeats = read_line(view->beats);
	status->reports = read_line(view->reports);
	status->news = read_line(view->news);
	rf_status_key_trouble(view->claims, status->key_trouble);
	if (!*status->heartbeats.trouble)
		status->heartbeats.trouble = status->key_trouble;
}

/* ---- membership ---- */

struct slot_list {
	uint32_t slot[RF_FLEET_HOSTS_MAX], count;
};

struct membership {
	uint32_t slot, buckets, alone, learning, refused;
	bool is_full, knows_heard;
	uint64_t left_ns, alone_since_ns, alone_ns;
	struct slot_list members, heard;
};

static bool is_alone(const void *of)
{
	return ((const struct membership *)of)->alone_since_ns;
}

static bool knows_heard(const void *of)
{
	return ((const struct membership *)of)->knows_heard;
}

static const struct rf_field membership_fields[] = {
	RF_FIELD("slot", struct membership, slot, "of this host"),
	RF_FIELD("buckets", struct membership, buckets, "number of buckets, 16"),
	RF_FIELD("offline", struct membership, alone, "number of buckets that are offline"),
	RF_FIELD("learning", struct membership, learning,
		 "buckets that grant nothing, since the server lost its data"),
	RF_FIELD("refused", struct membership, refused, "buckets that refuse the slot"),
	RF_FIELD("full", struct membership, is_full, "all slots of the fleet are in use"),
	RF_FIELD_OF_NS("deadline_ms", struct membership, left_ns,
		       "until the first bucket is offline, without replies"),
	RF_FIELD_OF_NS("offline_ms", struct membership, alone_ns,
		       "for how long a bucket is offline; null: none is", .has = is_alone,
		       .or_null = true),
	RF_FIELD_ARRAY("members", struct membership, members.slot, members.count, RF_FIELD_U32,
		       NULL, "slots of the members"),
	RF_FIELD_ARRAY("alive", struct membership, heard.slot, heard.count, RF_FIELD_U32, NULL,
		       "slots of the members that send heartbeats; null: unknown",
		       .has = knows_heard, .or_null = true),
	{},
};

static bool is_member(const struct rf_claims *claims, uint32_t slot)
{
	for (int i = 0; i < RF_BUCKETS; i++)
		if (rf_ledger_slots_has(&claims->member[i].members, slot))
			return true;
	return false;
}

static void list_slots(const struct rf_status_view *view, struct membership *membership)
{
	struct slot_list *members = &membership->members, *heard = &membership->heard;

	for (uint32_t slot = 0; slot < RF_FLEET_HOSTS_MAX; slot++) {
		if (is_member(view->claims, slot))
			members->slot[members->count++] = slot;
		if (rf_ledger_slots_has(&view->roll->heard, slot))
			heard->slot[heard->count++] = slot;
	}
}

static void read_membership(const struct rf_status_view *view, uint64_t now,
			    struct membership *membership)
{
	uint64_t first_ns = UINT64_MAX;

	for (int i = 0; i < RF_BUCKETS; i++) {
		const struct rf_member *member = &view->claims->member[i];

		membership->alone += rf_member_is_alone(member, now);
		membership->learning += view->calls->beating[i].is_learning;
		membership->refused += view->calls->beating[i].is_refused;
		first_ns = rf_earlier(first_ns, member->deadline);
	}
	membership->slot = view->claims->member[0].slot;
	membership->buckets = RF_BUCKETS;
	membership->is_full = view->calls->hosts && view->calls->refusals >= view->calls->hosts;
	membership->left_ns = first_ns > now ? first_ns - now : 0;
	membership->alone_since_ns = view->alone_ns;
	membership->alone_ns = now - view->alone_ns;
	membership->knows_heard = rf_roll_is_known(view->roll, now);
	list_slots(view, membership);
}

/* ---- time offline ---- */

static const struct rf_field bucket_fields[] = {
	RF_FIELD("online_until_ns", struct rf_alone_bucket, heard_until_ns,
		 "CLOCK_MONOTONIC when it goes offline; null: not online yet", .if_any = true,
		 .or_null = true),
	RF_FIELD("offline_count", struct rf_alone_bucket, time.times,
		 "number of times it went offline"),
	RF_FIELD("offline_ns", struct rf_alone_bucket, time.ns,
		 "total time offline since the agent started"),
	RF_FIELD("offline_since_ns", struct rf_alone_bucket, time.since_ns,
		 "CLOCK_MONOTONIC when it last went offline; null: never", .if_any = true,
		 .or_null = true),
	RF_FIELD("offline_until_ns", struct rf_alone_bucket, time.until_ns,
		 "when it was online again; null: still offline, or never", .if_any = true,
		 .or_null = true),
	{},
};

static const void *bucket_at(const void *of, size_t i)
{
	return i < RF_BUCKETS ? &((const struct rf_alone *)of)->bucket[i] : NULL;
}

static const struct rf_field alone_fields[] = {
	RF_FIELD("offline_count", struct rf_alone, any.times,
		 "number of times a bucket went offline"),
	RF_FIELD("offline_ns", struct rf_alone, any.ns,
		 "total time with a bucket offline, since the agent started"),
	RF_FIELD_LIST_OF("buckets", bucket_at, bucket_fields, "the 16 buckets"),
	{},
};

/* ---- the part that 'fleet status' prints unchanged ---- */

static const struct rf_field printed_fields[] = {
	RF_FIELD_MADE("key", RF_FIELD_OBJECT, NULL, "the bucket key", .fields = key_fields),
	RF_FIELD_LIST_OF("buckets", bucket_at, bucket_fields, NULL),
	{},
};
RF_RECORD(fleet_status, printed_fields);

/* ---- limits and sources ---- */

struct limit_status {
	const struct rf_fleet_limit *limit;
	char definition[RF_WIRE_DEFINITION_SIZE];
	uint64_t bound;
};

static const struct rf_field fleet_limit_fields[] = {
	RF_FIELD("name", struct rf_fleet_limit, name, "the limit"),
	RF_FIELD("count", struct rf_fleet_limit, limit, "COUNT"),
	RF_FIELD("initial", struct rf_fleet_limit, first, "what a host passes by default"),
	RF_FIELD("pool", struct rf_fleet_limit, pool, "the most that claims can hold"),
	RF_FIELD_OF_NS("window_ms", struct rf_fleet_limit, window_ns, "TIME"),
	{},
};

static const struct rf_field limit_fields[] = {
	RF_FIELDS_VIA(struct limit_status, limit, fleet_limit_fields),
	RF_FIELD("definition", struct limit_status, definition,
		 "the same on all hosts that share the limit"),
	RF_FIELD("bound", struct limit_status, bound, "the most that all hosts pass together"),
	{},
};

struct sources_status {
	uint64_t shares, contested;
};

static const struct rf_field sources_fields[] = {
	RF_FIELD("shares", struct sources_status, shares, "sources with a share"),
	RF_FIELD("contested", struct sources_status, contested,
		 "sources that request more than is left"),
	{},
};

static const struct rf_field counts_fields[] = {
	RF_FIELD("claims", struct rf_claims, table.count, "sources with a claim here"),
	RF_FIELD("requests", struct rf_claims, counts.asks,
		 "requests of sources for a larger share"),
	RF_FIELD("requests_sent", struct rf_claims, counts.asks_sent,
		 "requests that became reports"),
	RF_FIELD("requests_deferred", struct rf_claims, counts.asks_put_off,
		 "requests over the rate limit of the agent"),
	RF_FIELD("requests_rejected", struct rf_claims, counts.asks_no_room,
		 "requests without room in the table"),
	RF_FIELD("reports", struct rf_claims, counts.reports, "claims that were reported"),
	RF_FIELD("replies", struct rf_claims, counts.answers, "replies to these reports"),
	RF_FIELD("failed", struct rf_claims, counts.failed, "reports without a reply"),
	RF_FIELD("unsatisfied", struct rf_claims, counts.in_vain,
		 "replies that granted less than was requested"),
	RF_FIELD("released", struct rf_claims, counts.given_back, "shares that were released"),
	RF_FIELD("evicted", struct rf_claims, counts.lost,
		 "windows evicted while they had a claim"),
	{},
};

static uint32_t read_limits(const struct rf_status_view *view, struct limit_status *limits)
{
	uint32_t count = 0;

	for (int i = 0; i < RF_FLEET_LIMITS_MAX; i++) {
		const struct rf_fleet_limit *limit = &view->claims->limit[i];
		struct limit_status *status = &limits[count];

		if (!limit->in_force)
			continue;
		*status = (struct limit_status){
			.limit = limit,
			.bound = limit->pool + (uint64_t)limit->first * view->calls->hosts,
		};
		rf_wire_format_definition(status->definition, limit->definition);
		count++;
	}
	return count;
}

static struct sources_status read_sources(const struct rf_claims *claims, uint64_t now)
{
	struct sources_status sources = {};
	struct rf_claimant *claimant = NULL;

	while ((claimant = rf_claim_table_next(&claims->table, claimant))) {
		sources.shares += claimant->claim.share != 0;
		sources.contested += claimant->patient_until_ns > now;
	}
	return sources;
}

/* ---- status ---- */

struct agent_status {
	const char *fence, *host, *version;
	uint64_t started_ns, now, grace_ns;
	uint32_t hosts;
	bool is_attached;
	struct engine_status engine;
	struct key_status key;
	struct membership membership;
	const struct rf_alone *alone;
	struct limit_status limit[RF_FLEET_LIMITS_MAX];
	uint32_t limits;
	struct sources_status sources;
	const struct rf_claims *claims;
	const struct rf_fleet_bans *bans;
};

static const struct rf_field status_fields[] = {
	RF_FIELD("fence", struct agent_status, fence, "its name"),
	RF_FIELD("started_ns", struct agent_status, started_ns,
		 "CLOCK_MONOTONIC when the agent started"),
	RF_FIELD("written_ns", struct agent_status, now, "the same, when this was written"),
	RF_FIELD("host", struct agent_status, host, "name of this host"),
	RF_FIELD("version", struct agent_status, version, "of the agent"),
	RF_FIELD("attached", struct agent_status, is_attached, "the fence is attached"),
	RF_FIELD("hosts", struct agent_status, hosts, "hosts that the fleet can have"),
	RF_FIELD_OF_NS("grace_ms", struct agent_status, grace_ns,
		       "time without a reply after which the host is offline"),
	RF_FIELD_IN("server", struct agent_status, engine, engine_fields, "the fleet server"),
	RF_FIELD_IN("key", struct agent_status, key, key_fields, "the bucket key"),
	RF_FIELD_IN("membership", struct agent_status, membership, membership_fields,
		    "of this host in the fleet"),
	RF_FIELDS_VIA(struct agent_status, alone, alone_fields),
	RF_FIELD_OBJECTS("limits", struct agent_status, limit, limits, limit_fields,
			 "limits of the fleet that are enforced"),
	RF_FIELD_IN("sources", struct agent_status, sources, sources_fields,
		    "sources on this host"),
	RF_FIELD_LINK("counts", struct agent_status, claims, counts_fields,
		      "since the agent started"),
	RF_FIELD_LINK("bans", struct agent_status, bans, rf_fleet_bans_fields,
		      "bans shared with other hosts"),
	{},
};
RF_RECORD(fleet_agent, status_fields);

static json_t *status_json(const struct rf_status_view *view)
{
	const uint64_t now = rf_time_awake();
	struct agent_status status = {
		.fence = view->settings->name,
		.host = view->name,
		.version = RINGFENCE_VERSION,
		.started_ns = view->started_ns,
		.now = now,
		.grace_ns = view->settings->grace_ns,
		.hosts = view->calls->hosts,
		.is_attached = view->site->is_open,
		.key = read_key(view->claims),
		.alone = &view->site->alone,
		.sources = read_sources(view->claims, now),
		.claims = view->claims,
		.bans = view->bans,
	};

	rf_site_look_whether_alone(view->site);
	read_engine(view, &status.engine);
	read_membership(view, now, &status.membership);
	status.limits = read_limits(view, status.limit);
	return rf_record_json(status_fields, &status);
}

/* ---- one source ---- */

struct claim_status {
	const char *name;
	uint32_t bucket, first, share, held, wants;
	uint64_t claim;
	bool in_vain;
};

static const struct rf_field claim_fields[] = {
	RF_FIELD("name", struct claim_status, name, "the limit"),
	RF_FIELD("bucket", struct claim_status, bucket, "of the source"),
	RF_FIELD("initial", struct claim_status, first, "what a host passes by default"),
	RF_FIELD("share", struct claim_status, share, "what it passes beyond that"),
	RF_FIELD("claim", struct claim_status, claim, "its last claim"),
	RF_FIELD("held", struct claim_status, held, "of it, for windows that were evicted"),
	RF_FIELD("requested", struct claim_status, wants, "the share that it requests"),
	RF_FIELD("unsatisfied", struct claim_status, in_vain, "it requests more than is left"),
	{},
};

static json_t *claim_json(const struct rf_status_view *view, int number,
			  const struct rf_address *address)
{
	const struct rf_fleet_limit *limit = &view->claims->limit[number];
	const struct rf_claim_key key = rf_calls_key(view->claims, number, address);
	const struct rf_claimant *claimant = rf_claim_table_find(&view->claims->table, &key);
	struct claim_status status = {
		.name = limit->name,
		.bucket = rf_claims_bucket(view->claims, key.source[0], key.source[1]),
		.first = limit->first,
	};

	if (claimant) {
		status.share = claimant->claim.share;
		status.claim = rf_claim_total(&claimant->claim);
		status.held = claimant->claim.held;
		status.wants = claimant->wants;
		status.in_vain = claimant->vain_since_ns;
	}
	return rf_record_json(claim_fields, &status);
}

struct shown {
	const char *address;
	json_t *limits;
};

static const struct rf_field shown_fields[] = {
	RF_FIELD("address", struct shown, address, "as given"),
	RF_FIELD_READ("limits", struct shown, limits, RF_FIELD_LIST, claim_fields,
		      "limits of the fleet that are enforced"),
	{},
};

static json_t *show_json(const struct rf_status_view *view, const char *text)
{
	struct shown shown = {.address = text};
	struct rf_address address;
	struct rf_error error = {};
	json_t *json;

	if (rf_parse_address(text, &address, &error))
		return rf_status_error(error.text);
	shown.limits = json_array();
	for (int i = 0; i < RF_FLEET_LIMITS_MAX; i++)
		if (view->claims->limit[i].in_force)
			json_array_append_new(shown.limits, claim_json(view, i, &address));
	json = rf_record_json(shown_fields, &shown);
	json_decref(shown.limits);
	return json;
}

json_t *rf_status_error(const char *text)
{
	return json_pack("{s:o}", "error", rf_json_text(text));
}

char *rf_status_text(json_t *answer)
{
	json_t *all = json_pack("{s:i}", "schema", RF_JSON_SCHEMA);
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
	char *text, error[sizeof(publisher->path) + 128] = "", recovered[sizeof(error)];
	int err;

	if (now < publisher->at_ns)
		return;
	publisher->at_ns = now + RF_NS_PER_S;
	text = rf_status_answer(view, "status");
	errno = 0;
	err = text ? write_text(publisher, text) : -ENOMEM;
	if (err)
		snprintf(error, sizeof(error),
			 "%s: cannot write it: %s; ringfence-watch sees no agent", publisher->path,
			 strerror(-err));
	snprintf(recovered, sizeof(recovered), "%s: written again", publisher->path);
	rf_say_once(&publisher->said, "", error, recovered);
	free(text);
}
