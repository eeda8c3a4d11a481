// SPDX-License-Identifier: GPL-2.0
/* fleet run, fleet check: run the agent, and check a fleet from one of its hosts */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/time.h"
#include "cli/fleet_agent.h"
#include "cli/out.h"
#include "cli/view.h"
#include "doctor/diagnose.h"
#include "fleet/library.h"
#include "fleet/socket.h"
#include "ringfence/fleet.h"
#include "rules/grammar_option.h"
#include "rules/policy.h"

/* The facts of a fleet; NULL if unknown. */
struct facts {
	const char *fence;
	const char *settings_file; /* NULL: no file */
	const struct rf_fence *open;
	const char *open_error; /* why it could not be opened */
	const struct rf_bank *bank;
	const json_t *probe;	  /* of 'ringfence-fleet probe' */
	const char *probe_error;  /* why the probe failed */
	const json_t *status;	  /* reply of the agent */
	const char *status_error; /* why the agent did not reply */
	const json_t *hosts;	  /* the same of all hosts */
};

#define SETTINGS "settings"
#define FENCE "fence"
#define LIMITS "limits"
#define AGENT "agent"
#define HOSTS "hosts"
#define BANS "bans"
#define ENGINE "server"

/* ---- settings ---- */

static void fleet_check_settings(const struct facts *facts, struct rf_findings *findings)
{
	char wrong[256];

	rf_fleet_text(facts->probe, "settings", wrong, sizeof(wrong));
	if (!facts->settings_file) {
		rf_findings_add(findings, RF_PROBLEM, SETTINGS, "this host is in no fleet");
		rf_findings_remedy(findings, "ringfence fleet join %s redis HOST:PORT hosts N",
				   facts->fence);
	} else if (facts->probe_error)
		rf_findings_add(findings, RF_PROBLEM, SETTINGS, "%.250s", facts->probe_error);
	else if (*wrong) /* with its fix; 'fleet join' would lose the file's other lines */
		rf_findings_add(findings, RF_PROBLEM, SETTINGS, "%s", wrong);
	else
		rf_findings_add(findings, RF_OK, SETTINGS, "%s", facts->settings_file);
}

/* ---- limits ---- */

static void check_limit(const struct rf_bank *bank, int slot, struct rf_findings *findings)
{
	const struct rf_limit *limit = &bank->limit[slot];
	const uint64_t first = rf_bank_first(bank, limit);

	if (!(limit->flags & RF_FLEET)) {
		const char *why = rf_policy_no_fleet(limit, &bank->policy[slot]);

		rf_findings_add(findings, RF_NOTE, LIMITS, "'%s' is local to this host%s%.200s",
				limit->name, why ? ", and has to be: " : "", why ? why : "");
		if (!why)
			rf_findings_remedy(findings, "ringfence limit change %s fleet",
					   limit->name);
	} else if (bank->hosts && rf_fleet_is_loose(limit->rate, bank->hosts, first)) {
		rf_findings_add(findings, RF_NOTE, LIMITS,
				"'%s': all hosts together pass up to %" PRIu64 " of its %" PRIu64
				", by its 'initial'",
				limit->name,
				(uint64_t)rf_fleet_bound(limit->rate, bank->hosts, first),
				(uint64_t)limit->rate);
		rf_findings_remedy(findings, "ringfence limit change %s initial 0", limit->name);
	}
}

static void check_limits(const struct rf_bank *bank, struct rf_findings *findings)
{
	int slots[RF_LIMITS_MAX];
	const int count = rf_bank_slots(bank, slots);
	const int shared = __builtin_popcount(rf_bank_fleet(bank));

	if (shared)
		rf_findings_add(findings, RF_OK, LIMITS, "%d of %d shared", shared, count);
	else {
		rf_findings_add(findings, RF_PROBLEM, LIMITS, "no limit has the word 'fleet'");
		rf_findings_remedy(findings, "ringfence limit add any rate 20k/1s fleet");
	}
	for (int i = 0; i < count; i++)
		check_limit(bank, slots[i], findings);
}

/* ---- the fence ---- */

static void fleet_check_fence(const struct facts *facts, struct rf_findings *findings)
{
	if (!facts->open) {
		rf_findings_add(findings, RF_PROBLEM, FENCE, "%.300s", facts->open_error);
		rf_findings_remedy(findings, "ringfence attach IF fence %s fleet", facts->fence);
		return;
	}
	if (!rf_fence_has_shares(facts->open)) {
		rf_findings_add(findings, RF_PROBLEM, FENCE,
				"it was attached without the word 'fleet'; save its rules, detach "
				"it, and attach it with 'fleet'");
		rf_findings_remedy(findings, "ringfence save dev %s > rules", facts->fence);
		return;
	}
	if (!facts->bank->hosts) {
		rf_findings_add(findings, RF_PROBLEM, FENCE,
				"it does not know how many hosts share its limits");
		rf_findings_remedy(findings, "ringfence fleet hosts N dev %s", facts->fence);
	} else
		rf_findings_add(findings, RF_OK, FENCE, "has shares, for %" PRIu32 " hosts",
				facts->bank->hosts);
	check_limits(facts->bank, findings);
}

/* ---- the agent ---- */

static void check_membership(const struct facts *facts, struct rf_findings *findings)
{
	const json_t *membership = json_object_get(facts->status, "membership");
	const json_t *engine = json_object_get(facts->status, "server");
	const json_int_t alone_ms = rf_fleet_number(membership, "offline_ms");
	const json_int_t hosts = rf_fleet_number(facts->status, "hosts");
	char trouble[RF_FLEET_TROUBLE_SIZE], since[RF_DURATION_TEXT_SIZE];

	rf_fleet_text(json_object_get(engine, "heartbeats"), "last_error", trouble,
		      sizeof(trouble));
	rf_format_ms(alone_ms, since);
	if (json_is_true(json_object_get(json_object_get(facts->status, "key"), "refused"))) {
		rf_findings_add(findings, RF_PROBLEM, AGENT, "offline for %s: %s", since, trouble);
		rf_findings_remedy(findings, "systemctl restart ringfence-fleet@%s", facts->fence);
	} else if (json_is_true(json_object_get(membership, "full"))) {
		rf_findings_add(
			findings, RF_PROBLEM, AGENT,
			"offline for %s: all %lld slots of the fleet are in use; raise 'hosts' "
			"on each host",
			since, (long long)hosts);
		rf_findings_remedy(findings, "ringfence fleet hosts %lld", (long long)hosts + 1);
	} else if (rf_fleet_number(membership, "learning"))
		rf_findings_add(
			findings, RF_NOTE, AGENT,
			"offline for %s: the fleet server lost its data and is learning the "
			"claims again; wait",
			since);
	else
		rf_findings_add(findings, RF_PROBLEM, AGENT, "offline for %s: %s", since,
				*trouble ? trouble : "not yet connected to the fleet server; wait");
}

static void fleet_check_agent(const struct facts *facts, struct rf_findings *findings)
{
	char version[64];

	if (!facts->status) {
		rf_findings_add(findings, RF_PROBLEM, AGENT, "%.300s", facts->status_error);
		return;
	}
	rf_fleet_text(facts->status, "version", version, sizeof(version));
	if (strcmp(version, RINGFENCE_VERSION) != 0) {
		rf_findings_add(findings, RF_NOTE, AGENT,
				"it is of version %s, this program of " RINGFENCE_VERSION, version);
		rf_findings_remedy(findings, "systemctl restart ringfence-fleet@%s", facts->fence);
	}
	if (!json_is_true(json_object_get(facts->status, "attached")))
		rf_findings_add(findings, RF_PROBLEM, AGENT, "it waits for the fence");
	else if (json_is_null(json_object_get(json_object_get(facts->status, "membership"),
					      "offline_ms")))
		rf_findings_add(findings, RF_OK, AGENT, "connected to the fleet server");
	else
		check_membership(facts, findings);
}

/* ---- bans, as the agent reports them ---- */

static void fleet_check_bans(const struct facts *facts, struct rf_findings *findings)
{
	const int before = findings->count;
	const json_t *membership = json_object_get(facts->status, "membership");
	struct rf_fleet_bans_seen seen;

	rf_fleet_read_bans(facts->status, &seen);
	if (!seen.is_known)
		return;
	if (*seen.trouble && json_is_null(json_object_get(membership, "offline_ms")))
		rf_findings_add(findings, RF_PROBLEM, BANS, "%s", seen.trouble);
	if (seen.refused)
		rf_findings_add(findings, RF_NOTE, BANS,
				"%lld of other hosts were refused: too long, too wide, too many, "
				"or with the fleet server's address",
				(long long)seen.refused);
	if (findings->count != before)
		return;
	if (seen.takes)
		rf_findings_add(
			findings, RF_OK, BANS,
			"%lld of other hosts accepted; %lld reported since the agent started",
			(long long)seen.taken, (long long)seen.told);
	else
		rf_findings_add(findings, RF_OK, BANS,
				"bans of other hosts are not accepted; %lld reported since the "
				"agent started",
				(long long)seen.told);
}

/* ---- the nodes of the fleet server, as probed ---- */

#define LEAST_VERSION 7

struct node {
	const json_t *facts;
	char host[256], port[8], trouble[RF_FLEET_TROUBLE_SIZE];
	char version[32], role[16], policy[32], library[16];
	json_int_t buckets; /* whose keys it has */
	bool is_in_cluster;
	char client[288];     /* how to call it */
	char name[272];	      /* prefix of its messages; "": the only server */
	char replica_of[272]; /* its master; "": not probed as a replica */
};

static void read_node(const json_t *facts, bool has_others, struct node *node)
{
	char in_cluster[4];

	node->facts = facts;
	rf_fleet_text(facts, "host", node->host, sizeof(node->host));
	rf_fleet_text(facts, "port", node->port, sizeof(node->port));
	rf_fleet_text(facts, "last_error", node->trouble, sizeof(node->trouble));
	rf_fleet_text(facts, "version", node->version, sizeof(node->version));
	rf_fleet_text(facts, "role", node->role, sizeof(node->role));
	rf_fleet_text(facts, "policy", node->policy, sizeof(node->policy));
	rf_fleet_text(facts, "library", node->library, sizeof(node->library));
	rf_fleet_text(facts, "replica_of", node->replica_of, sizeof(node->replica_of));
	rf_fleet_text(facts, "in_cluster", in_cluster, sizeof(in_cluster));
	node->is_in_cluster = strcmp(in_cluster, "1") == 0;
	node->buckets = rf_fleet_number(facts, "buckets");
	snprintf(node->client, sizeof(node->client), "redis-cli -h %.255s -p %s", node->host,
		 node->port);
	*node->name = '\0';
	if (has_others)
		snprintf(node->name, sizeof(node->name), "%.255s:%s: ", node->host, node->port);
}

/* In a cluster, a replica sends on to its master. */
static void check_role(const struct facts *facts, const struct node *node,
		       struct rf_findings *findings)
{
	char host[256], port[8];

	if (node->is_in_cluster ||
	    (strcmp(node->role, "slave") != 0 && strcmp(node->role, "replica") != 0))
		return;
	rf_fleet_text(node->facts, "master_host", host, sizeof(host));
	rf_fleet_text(node->facts, "master_port", port, sizeof(port));
	rf_findings_add(findings, RF_PROBLEM, ENGINE, "%sit is a replica; name its master",
			node->name);
	rf_findings_remedy(findings, "ringfence fleet join %s redis %s:%s hosts N", facts->fence,
			   host, port);
}

/*
 * True: a redirection to its address reaches a different node than the cluster means. This also
 * concerns nodes without keys, as they can get some later.
 */
static bool check_place(const struct node *node, struct rf_findings *findings)
{
	char by[272], at[272];

	rf_fleet_text(node->facts, "announced_by", by, sizeof(by));
	rf_fleet_text(node->facts, "leads_to", at, sizeof(at));
	if (!*by)
		return false;
	if (*at)
		rf_findings_add(findings, RF_PROBLEM, ENGINE,
				"%sit is the node that its cluster announces as %s, not the node "
				"announced here; behind a tunnel, check the target of that port",
				node->name, at);
	else
		rf_findings_add(findings, RF_PROBLEM, ENGINE,
				"%sit is not a node that %s knows, and not the node announced "
				"here; behind a tunnel, check the target of that port",
				node->name, by);
	return true;
}

/* A separate server would have separate claims. */
static void check_cluster(const struct node *node, struct rf_findings *findings)
{
	if (*node->name && *node->role && !node->is_in_cluster)
		rf_findings_add(findings, RF_PROBLEM, ENGINE,
				"%sit is no node of a cluster; 'redis' names one server, or nodes "
				"of one cluster",
				node->name);
}

static void check_policy(const struct node *node, struct rf_findings *findings)
{
	if (!*node->policy || strcmp(node->policy, "noeviction") == 0)
		return;
	rf_findings_add(findings, RF_PROBLEM, ENGINE,
			"%sits maxmemory-policy is %s, so it may forget claims", node->name,
			node->policy);
	rf_findings_remedy(findings, "%s CONFIG SET maxmemory-policy noeviction", node->client);
}

static void check_library(const struct node *node, struct rf_findings *findings)
{
	if (strcmp(node->library, "missing") == 0) {
		rf_findings_add(
			findings, RF_PROBLEM, ENGINE,
			"%sits functions are missing; a running agent loads them, if its user "
			"has the right; otherwise load them",
			node->name);
		rf_findings_remedy(findings, "%s -x FUNCTION LOAD <" RF_FLEET_LIBRARY,
				   node->client);
	}
	if (strcmp(node->library, "other") == 0) {
		rf_findings_add(
			findings, RF_NOTE, ENGINE,
			"%sit has functions of another version of ringfence; once all hosts "
			"have this one, replace them; the fleet then learns its claims again",
			node->name);
		rf_findings_remedy(findings, "%s -x FUNCTION LOAD REPLACE <" RF_FLEET_LIBRARY,
				   node->client);
	}
}

/* Commands that the user of a member is not permitted to run. */
static void check_rights(const struct node *node, struct rf_findings *findings)
{
	if (json_is_true(json_object_get(node->facts, "info_denied")))
		rf_findings_add(findings, RF_NOTE, ENGINE,
				"%sits role, memory and replicas are not checked: this user needs "
				"the right '+info'",
				node->name);
	if (json_is_true(json_object_get(node->facts, "list_denied")))
		rf_findings_add(findings, RF_NOTE, ENGINE,
				"%sits functions are not checked: this user needs the right "
				"'+function|list'",
				node->name);
	if (json_is_true(json_object_get(node->facts, "place_denied")))
		rf_findings_add(findings, RF_NOTE, ENGINE,
				"%sits identity in the cluster is not "
				"checked: this user needs the rights '+cluster|myid' and "
				"'+cluster|slots'",
				node->name);
}

static void check_answers(const struct node *node, struct rf_findings *findings)
{
	char loading[4];

	rf_fleet_text(node->facts, "loading", loading, sizeof(loading));
	if (strcmp(loading, "1") == 0)
		rf_findings_add(findings, RF_PROBLEM, ENGINE,
				"%sit is still loading its data; wait, or start it without any, by "
				"'save \"\"': the fleet needs none",
				node->name);
	else if (*node->trouble)
		rf_findings_add(findings, RF_PROBLEM, ENGINE, "%s:%s: %s", node->host, node->port,
				node->trouble);
	if (*node->version && strtoul(node->version, NULL, 10) < LEAST_VERSION)
		rf_findings_add(findings, RF_PROBLEM, ENGINE,
				"%sit is version %s, which knows no functions; it takes Redis 7 or "
				"Valkey",
				node->name, node->version);
}

static void say_well(const struct node *node, struct rf_findings *findings)
{
	char buckets[32] = "";

	if (*node->name)
		snprintf(buckets, sizeof(buckets), ", with %lld buckets", (long long)node->buckets);
	rf_findings_add(findings, RF_OK, ENGINE, "%s:%s, version %s%s", node->host, node->port,
			node->version, buckets);
}

/* A node without keys only has to be reachable. */
static void check_idle(const struct node *node, struct rf_findings *findings)
{
	if (*node->trouble)
		rf_findings_add(findings, RF_NOTE, ENGINE, "%s%s", node->name, node->trouble);
	check_cluster(node, findings);
	check_place(node, findings);
}

/* It has to be reachable before a failover. */
static void check_replica(const struct node *node, struct rf_findings *findings)
{
	if (*node->trouble)
		rf_findings_add(findings, RF_PROBLEM, ENGINE,
				"%s%s; it is a replica of %s, so this host could not reach it "
				"after a failover",
				node->name, node->trouble, node->replica_of);
	else if (check_place(node, findings))
		return;
	else if (strcmp(node->role, "master") == 0)
		rf_findings_add(findings, RF_PROBLEM, ENGINE,
				"%sit is a master, not the announced replica of %s; "
				"behind a tunnel, check the target of that port",
				node->name, node->replica_of);
}

static void check_node(const struct facts *facts, const struct node *node,
		       struct rf_findings *findings)
{
	const int before = findings->count;

	if (*node->replica_of) {
		check_replica(node, findings);
		return;
	}
	if (*node->name && !node->buckets) {
		check_idle(node, findings);
		return;
	}
	check_answers(node, findings);
	check_cluster(node, findings);
	check_place(node, findings);
	check_role(facts, node, findings);
	check_policy(node, findings);
	check_library(node, findings);
	check_rights(node, findings);
	if (findings->count == before)
		say_well(node, findings);
}

/* Nodes share the sources by their buckets. */
static void check_key(const struct facts *facts, struct rf_findings *findings)
{
	const json_t *node;
	int shared = 0;
	size_t i;

	json_array_foreach (json_object_get(facts->probe, "nodes"), i, node)
		shared += rf_fleet_number(node, "buckets") > 0;
	if (shared < 2 || json_is_true(json_object_get(facts->probe, "has_key")))
		return;
	rf_findings_add(
		findings, RF_NOTE, "key",
		"without a bucket key, senders can choose which of its %d masters has their "
		"claims; configure the same 'key file' on all hosts",
		shared);
	rf_findings_remedy(findings, "openssl rand -hex 16");
}

static void fleet_check_engine(const struct facts *facts, struct rf_findings *findings)
{
	const json_t *nodes = json_object_get(facts->probe, "nodes");
	char trouble[RF_FLEET_TROUBLE_SIZE];
	json_t *each;
	size_t i;

	rf_fleet_text(facts->probe, "last_error", trouble, sizeof(trouble));
	if (*trouble)
		rf_findings_add(findings, RF_PROBLEM, ENGINE, "%s", trouble);
	json_array_foreach (nodes, i, each) {
		struct node node;

		read_node(each, json_array_size(nodes) > 1, &node);
		check_node(facts, &node, findings);
	}
	check_key(facts, findings);
}

/* ---- the other hosts, as they report ---- */

#define SILENT_MOST 8 /* findings of silent hosts */

static void add_difference(void *context, const char *limit, const char *how, const char *hosts)
{
	struct rf_findings *findings = context;

	if (strcmp(how, "other") == 0)
		rf_findings_add(
			findings, RF_PROBLEM, HOSTS,
			"limit '%s' differs on %.200s: the hosts do not share it, and pass the "
			"sum",
			limit, hosts);
	else
		rf_findings_add(findings, RF_PROBLEM, HOSTS, "limit '%s' is %s %.200s", limit,
				strcmp(how, "missing here") == 0 ? "missing here, and there on"
								 : "missing on",
				hosts);
	rf_findings_remedy(findings, "ringfence limit list");
}

static void check_figures(const json_t *status, const json_t *hosts, struct rf_findings *findings)
{
	char list[RF_HOST_LIST_SIZE], grace[RF_DURATION_TEXT_SIZE];

	if (rf_fleet_others(hosts, "hosts", rf_fleet_number(status, "hosts"), list)) {
		rf_findings_add(
			findings, RF_PROBLEM, HOSTS,
			"a different number of hosts than here, %lld, on %.200s: their limits "
			"are not shared with this host",
			(long long)rf_fleet_number(status, "hosts"), list);
		rf_findings_remedy(findings, "ringfence fleet hosts %lld",
				   (long long)rf_fleet_number(status, "hosts"));
	}
	rf_format_ms(rf_fleet_number(status, "grace_ms"), grace);
	if (rf_fleet_others(hosts, "grace_ms", rf_fleet_number(status, "grace_ms"), list))
		rf_findings_add(
			findings, RF_PROBLEM, HOSTS,
			"a different grace than here, %s, on %.180s: it must be the same; 'fleet "
			"join' sets it",
			grace, list);
}

/* Versions that differ are as usual while hosts are upgraded. */
static void check_versions(const json_t *status, const json_t *hosts, struct rf_findings *findings)
{
	char list[RF_HOST_LIST_SIZE] = "", here[64], there[64];
	const json_t *host;
	int count = 0;
	size_t i;

	rf_fleet_text(status, "version", here, sizeof(here));
	json_array_foreach (hosts, i, host) {
		rf_fleet_text(host, "version", there, sizeof(there));
		if (*there && strcmp(here, there) != 0)
			rf_fleet_add_label(list, ++count, host);
	}
	if (count)
		rf_findings_add(findings, RF_NOTE, HOSTS,
				"a different version than here, %s, on %.200s", here, list);
}

static void check_silence(const json_t *host, json_int_t grace_ms, json_int_t void_ms,
			  struct rf_findings *findings)
{
	const json_int_t silent_ms = rf_fleet_number(host, "silent_ms");
	char label[RF_HOST_LABEL_SIZE], since[RF_DURATION_TEXT_SIZE];

	if (silent_ms <= grace_ms)
		return;
	rf_fleet_label(host, label);
	rf_format_ms(silent_ms, since);
	rf_findings_add(findings, RF_NOTE, HOSTS, "%s is silent for %s%s", label, since,
			silent_ms >= void_ms ? "; if it will not come back, remove it"
					     : ": its claims still count");
	if (silent_ms >= void_ms)
		rf_findings_remedy(findings, "ringfence fleet gone %lld",
				   (long long)rf_fleet_number(host, "slot"));
}

static void check_spare(const json_t *status, size_t members, struct rf_findings *findings)
{
	const json_int_t hosts = rf_fleet_number(status, "hosts");

	if (hosts < 2 || (json_int_t)members < hosts)
		return;
	rf_findings_add(findings, RF_NOTE, HOSTS,
			"all %lld slots are in use: a host that reboots is offline until its old "
			"claims have expired; configure a spare slot",
			(long long)hosts);
	rf_findings_remedy(findings, "ringfence fleet hosts %lld", (long long)hosts + 1);
}

static void fleet_check_hosts(const struct facts *facts, struct rf_findings *findings)
{
	const json_t *hosts = json_object_get(facts->hosts, "hosts"), *host;
	const int before = findings->count;
	size_t i;

	if (!hosts)
		return;
	rf_fleet_each_difference(hosts, add_difference, findings);
	check_figures(facts->status, hosts, findings);
	check_versions(facts->status, hosts, findings);
	json_array_foreach (hosts, i, host)
		if (findings->count < before + SILENT_MOST)
			check_silence(host, rf_fleet_number(facts->status, "grace_ms"),
				      rf_fleet_number(facts->hosts, "expires_after_ms"), findings);
	check_spare(facts->status, json_array_size(hosts), findings);
	if (findings->count == before)
		rf_findings_add(findings, RF_OK, HOSTS, "%zu, with the same limits",
				json_array_size(hosts));
}

/* ---- the program of the agent: in the folder of this one, or in the path ---- */

#define PROGRAM "ringfence-fleet"
#define WORDS_MOST 32

/* In the folder of this program; "": unknown. */
static void find_beside(char path[512])
{
	const ssize_t length = readlink("/proc/self/exe", path, 512 - sizeof(PROGRAM));
	char *slash;

	path[length > 0 ? length : 0] = '\0';
	slash = strrchr(path, '/');
	strcpy(slash ? slash + 1 : path, slash ? PROGRAM : "");
}

/* Returns only on errors. */
static int execute(const char *const *words)
{
	const char *argv[WORDS_MOST + 2] = {PROGRAM};
	char path[512];

	for (int i = 0; i < WORDS_MOST && words[i]; i++)
		argv[i + 1] = words[i];
	find_beside(path);
	if (*path)
		execv(path, (char *const *)argv);
	execvp(PROGRAM, (char *const *)argv);
	return -errno;
}

static int fail(int err, struct rf_error *error)
{
	if (err == -ENOENT)
		return rf_error_failed(
			error, err, PROGRAM ": no such program; install the package '" PROGRAM "'");
	return rf_error_failed(error, err, PROGRAM ": cannot run it: %s", strerror(-err));
}

/* ---- output of the program ---- */

/* In the child. Its exit status is the errno. */
static void become(int to, const char *const *words)
{
	int err;

	if (dup2(to, STDOUT_FILENO) < 0)
		_exit(EIO);
	err = execute(words);
	_exit(-err);
}

static char *read_all(int from)
{
	char *text = malloc(RF_AGENT_ANSWER_SIZE + 1);
	size_t size = 0;
	ssize_t length = 1;

	while (text && size < RF_AGENT_ANSWER_SIZE && length > 0) {
		length = read(from, text + size, RF_AGENT_ANSWER_SIZE - size);
		if (length > 0)
			size += length;
		else if (length < 0 && errno == EINTR)
			length = 1;
	}
	if (text)
		text[size] = '\0';
	return text;
}

static int run(const char *const *words, char **text)
{
	int ends[2], status = 0;
	pid_t child;

	if (pipe(ends))
		return -errno;
	child = fork();
	if (!child)
		become(ends[1], words);
	close(ends[1]);
	*text = child > 0 ? read_all(ends[0]) : NULL;
	close(ends[0]);
	if (child < 0)
		return -EAGAIN;
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		continue;
	if (!*text)
		return -ENOMEM;
	return **text ? 0 : WIFEXITED(status) && WEXITSTATUS(status) ? -WEXITSTATUS(status) : -EIO;
}

static int probe_engine(const char *fence, json_t **answer, struct rf_error *error)
{
	const char *const words[] = {"probe", fence, NULL};
	char *text = NULL;
	int err = run(words, &text);

	*answer = err ? NULL : json_loads(text, 0, NULL);
	free(text);
	if (!err && !*answer)
		err = -EPROTO;
	return err ? fail(err, error) : 0;
}

/* ---- run ---- */

int rf_cmd_fleet_run(const struct rf_options *options, struct rf_words *words,
		     struct rf_error *error)
{
	const char *fence = rf_take_operand(RF_CMD_FLEET_RUN, words, error);
	char name[RF_NAME_SIZE];
	int err = fence ? rf_words_end(words, error) : -EINVAL;

	if (!err)
		err = rf_fleet_fence(options, fence, name, error);
	if (err)
		return err;
	return fail(execute((const char *const[]){"run", name, NULL}), error);
}

/* ---- check ---- */

/* All inputs of the checks, and the errors of reading them. */
struct look {
	char file[RF_FLEET_FILE_SIZE];
	struct rf_fence fence;
	struct rf_bank bank;
	json_t *probe, *status, *hosts;
	struct rf_error fence_error, probe_error, status_error, hosts_error;
};

static void look_at_fence(const char *fence, struct look *look, struct facts *facts)
{
	char word[RF_FLEET_WORD_SIZE];
	int err = rf_fence_open(&look->fence, rf_fleet_word(fence, word), &look->fence_error);

	if (!err)
		err = rf_fence_bank(&look->fence, &look->bank, &look->fence_error);
	facts->open = err ? NULL : &look->fence;
	facts->open_error = look->fence_error.text;
	facts->bank = &look->bank;
}

/* Without settings no server is contacted. */
static void look_at_all(const char *fence, struct look *look, struct facts *facts)
{
	rf_fleet_file_path(fence, look->file);
	facts->fence = fence;
	facts->settings_file = access(look->file, F_OK) ? NULL : look->file;
	look_at_fence(fence, look, facts);
	if (facts->settings_file && probe_engine(fence, &look->probe, &look->probe_error))
		facts->probe_error = look->probe_error.text;
	facts->probe = look->probe;
	if (rf_fleet_ask(fence, "status", &look->status, &look->status_error))
		facts->status_error = look->status_error.text;
	else
		rf_fleet_ask(fence, "hosts", &look->hosts, &look->hosts_error);
	facts->status = look->status;
	facts->hosts = look->hosts;
}

struct checked {
	const char *fence;
	int problems;
	struct rf_findings findings;
};

static const struct rf_field checked_fields[] = {
	RF_FIELD("fence", struct checked, fence, "its name"),
	RF_FIELD("problems", struct checked, problems, "of the checks"),
	RF_FIELDS_OF(struct checked, findings, rf_findings_fields),
	{},
};

RF_RECORD(fleet_check, checked_fields);

static int print_checked(const struct rf_options *options, struct checked *checked,
			 struct rf_error *error)
{
	char title[RF_NAME_SIZE + 16];
	int err = 0;

	checked->problems = rf_findings_count(&checked->findings, RF_PROBLEM);
	snprintf(title, sizeof(title), "fence '%s'", checked->fence);
	if (options->json)
		err = rf_out_record(checked_fields, checked, error);
	else
		rf_findings_print(title, &checked->findings);
	if (err || !checked->problems)
		return err;
	return rf_error_failed(error, -ENOEXEC, "fence '%s': %d problem%s", checked->fence,
			       checked->problems,
			       checked->problems == 1 ? "; see the fix in its line"
						      : "s; see the fixes in their lines");
}

int rf_cmd_fleet_check(const struct rf_options *options, struct rf_words *words,
		       struct rf_error *error)
{
	const char *given = rf_words_peek(words) ? rf_words_next(words) : NULL;
	struct look look = {.fence = RF_FENCE_NONE};
	struct facts facts = {};
	char fence[RF_NAME_SIZE];
	struct checked checked = {.fence = fence};
	struct rf_findings *findings = &checked.findings;
	int err = rf_words_end(words, error);

	if (!err)
		err = rf_fleet_fence(options, given, fence, error);
	if (err)
		return err;
	look_at_all(fence, &look, &facts);
	fleet_check_settings(&facts, findings);
	fleet_check_fence(&facts, findings);
	fleet_check_agent(&facts, findings);
	fleet_check_engine(&facts, findings);
	fleet_check_hosts(&facts, findings);
	fleet_check_bans(&facts, findings);
	err = print_checked(options, &checked, error);
	json_decref(look.probe);
	json_decref(look.status);
	json_decref(look.hosts);
	rf_fence_close(&look.fence);
	return err;
}
