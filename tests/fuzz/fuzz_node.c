// SPDX-License-Identifier: GPL-2.0
/*
 * A node of a fleet server: a connection of the agent (the first byte is even), or the reader of
 * `fleet check` (odd). For any replies, each call completes once, routes lead to known nodes, and
 * one pass makes a bounded number of connections. hiredis is simulated.
 */
#include <jansson.h>

#include "agent/link.h"
#include "agent/probe.h"
#include "base/say.h"
#include "base/time.h"
#include "replies.h"

#define MS 1000000ULL
#define CALLS_MOST 64

static struct input input;
static uint64_t now;

uint64_t __wrap_rf_time_awake(void);
uint64_t __wrap_rf_time_awake(void)
{
	return now;
}

/* The agent's own hide control characters. */
void rf_warn(const char *format, ...)
{
	(void)format;
}

void rf_say_once(struct rf_said *said, const char *before, const char *error, const char *recovered)
{
	(void)before, (void)recovered;
	snprintf(said->text, sizeof(said->text), "%s", error);
}

void rf_say(const char *format, ...)
{
	(void)format;
}

static struct rf_cluster cluster;
static bool is_behind_tunnel; /* no server but of the loopback is named */

static void check_text(const char *text, size_t size)
{
	REQUIRE(strnlen(text, size) < size);
	for (; *text; text++)
		REQUIRE((unsigned char)*text >= ' ' && *text != 0x7f);
}

static void check_cluster(void)
{
	REQUIRE(cluster.nodes <= RF_NODES_MOST);
	for (uint32_t tag = 0; tag < RF_TAGS; tag++) {
		REQUIRE(cluster.route[tag].node < RF_NODES_MOST);
		REQUIRE(rf_cluster_knows(&cluster, cluster.route[tag].node));
	}
	for (uint32_t i = 0; i < RF_NODES_MOST; i++) {
		const struct rf_server *server = &cluster.node[i].server;

		if (!cluster.node[i].id)
			continue;
		REQUIRE(*server->address && server->port_number);
		REQUIRE(!is_behind_tunnel || rf_address_is_loopback(server->address));
	}
	check_text(cluster.why, sizeof(cluster.why));
	check_text(cluster.trouble, sizeof(cluster.trouble));
}

/* ---- hiredis, of which each function is here that link.c calls ---- */

static redisAsyncContext context;
static redisConnectCallback *connected;
static redisDisconnectCallback *disconnected;
static redisCallbackFn *answered;
static void *request[4 * CALLS_MOST]; /* without a reply yet */
static int requests;
static struct rf_link link_of;

redisAsyncContext *redisAsyncConnect(const char *ip, int port)
{
	(void)ip, (void)port;
	memset(&context, 0, sizeof(context));
	return &context;
}

int redisAsyncSetConnectCallback(redisAsyncContext *redis, redisConnectCallback *call)
{
	(void)redis;
	connected = call;
	return REDIS_OK;
}

int redisAsyncSetDisconnectCallback(redisAsyncContext *redis, redisDisconnectCallback *call)
{
	(void)redis;
	disconnected = call;
	return REDIS_OK;
}

int redisAsyncCommandArgv(redisAsyncContext *redis, redisCallbackFn *call, void *data, int count,
			  const char **words, const size_t *lengths)
{
	(void)redis, (void)count, (void)words, (void)lengths;
	REQUIRE(requests < 4 * CALLS_MOST);
	answered = call;
	request[requests++] = data;
	return REDIS_OK;
}

/* The guard of its reads, which does not depend on the contents of replies. */
void rf_guard_set(struct rf_guard *guard, redisContext *redis)
{
	(void)guard, (void)redis;
}

bool rf_guard_holds(struct rf_guard *guard, const redisContext *redis)
{
	(void)guard, (void)redis;
	return true;
}

static void reply_to_first(redisReply *reply)
{
	void *first = request[0];

	memmove(request, request + 1, --requests * sizeof(request[0]));
	answered(&context, reply, first);
}

void redisAsyncFree(redisAsyncContext *redis)
{
	while (requests)
		reply_to_first(NULL);
	disconnected(redis, REDIS_OK);
}

void redisAsyncHandleRead(redisAsyncContext *redis)
{
	(void)redis;
}

void redisAsyncHandleWrite(redisAsyncContext *redis)
{
	(void)redis;
}

/* ---- a connection ---- */

static int calls, replies; /* all in all */

static void count_reply(void *data, const redisReply *reply)
{
	(void)data;
	REQUIRE(!reply || link_of.state != RF_LINK_DOWN);
	replies++;
}

static void call(uint32_t tag)
{
	static const char *const words[] = {"GET", "key"};
	static const size_t lengths[] = {3, 3};

	if (calls < CALLS_MOST && rf_link_call(&link_of, tag, 2, words, lengths, count_reply, NULL))
		calls++;
}

static void connect_ends(bool well)
{
	if (link_of.state != RF_LINK_CONNECTING)
		return;
	snprintf(context.c.errstr, sizeof(context.c.errstr), "Connection refused");
	context.errstr = context.c.errstr;
	connected(&context, well ? REDIS_OK : REDIS_ERR);
}

static void reply_next(void)
{
	redisReply *reply;

	if (!requests || !link_of.redis)
		return;
	reply = input_reply(&input, 0);
	reply_to_first(reply);
	freeReplyObject(reply);
}

static void hang_up(void)
{
	if (!link_of.redis || link_of.state == RF_LINK_CONNECTING)
		return;
	while (requests)
		reply_to_first(NULL);
	disconnected(&context, REDIS_ERR);
}

static void step(void)
{
	const uint32_t byte = input_byte(&input);

	switch (byte & 7) {
	case 0:
		connect_ends(byte >> 3);
		break;
	case 1:
		call((byte >> 3) % RF_TAGS);
		break;
	case 2:
		hang_up();
		break;
	case 3:
		now += (byte >> 3) * 10 * MS;
		rf_link_turn(&link_of, now);
		if (link_of.has_failed)
			rf_cluster_failed(&cluster, 0, 100 * MS, now);
		link_of.has_failed = false;
		rf_cluster_turn(&cluster, now);
		break;
	default:
		reply_next();
	}
	REQUIRE(strnlen(link_of.trouble, sizeof(link_of.trouble)) < sizeof(link_of.trouble));
	check_cluster();
}

static void fuzz_link(void)
{
	struct rf_engine engine = {
		.servers = 1 + input_byte(&input) % 2,
		.server = {{"db1", "6379", "192.0.2.1", 6379, NULL},
			   {"db2", "6379", "127.0.0.1", 6379, NULL}},
		.password = "secret",
	};

	const uint32_t options = input_byte(&input);

	if (options & 1)
		*engine.password = '\0';
	is_behind_tunnel = options & 2;
	if (is_behind_tunnel)
		strcpy(engine.server[0].address, "127.0.0.2");
	now = 1000000 * MS;
	calls = replies = requests = 0;
	rf_cluster_start(&cluster, &engine);
	link_of = (struct rf_link){.engine = &engine,
				   .cluster = &cluster,
				   .id = cluster.node[0].id,
				   .purpose = "reports",
				   .patience_ns = 100 * MS};
	rf_link_start(&link_of);
	rf_link_turn(&link_of, now);
	while (!input_is_over(&input))
		step();
	rf_link_end(&link_of);
	REQUIRE(calls == replies && !requests);
}

/* ---- fleet check ---- */

#define CONNECTIONS_MOST (RF_NODES_MOST * (1 + RF_REPLICAS_MOST))

static redisContext one;
static int connections;

redisContext *redisConnectWithTimeout(const char *ip, int port, const struct timeval patience)
{
	(void)patience;
	REQUIRE(*ip && port > 0 && port <= 65535);
	REQUIRE(++connections <= CONNECTIONS_MOST);
	one = (redisContext){};
	return &one;
}

int redisSetTimeout(redisContext *redis, const struct timeval patience)
{
	(void)redis, (void)patience;
	return REDIS_OK;
}

void redisFree(redisContext *redis)
{
	(void)redis;
}

redisReply *rf_guard_ask(struct rf_guard *guard, redisContext *redis, uint64_t patience_ns,
			 int count, const char **words)
{
	(void)guard, (void)redis, (void)patience_ns, (void)count, (void)words;
	if (input_is_over(&input))
		return NULL;
	return input_reply(&input, 0);
}

uint32_t rf_engine_resolve(struct rf_engine *engine)
{
	return engine->servers;
}

/* The replicas of a node follow it. */
void rf_say_text(const char *text)
{
	json_t *json = json_loads(text, 0, NULL), *node;
	size_t i, replicas_of_one = 0;

	REQUIRE(json);
	json_array_foreach (json_object_get(json, "nodes"), i, node) {
		replicas_of_one = json_object_get(node, "replica_of") ? replicas_of_one + 1 : 0;
		REQUIRE(replicas_of_one <= RF_REPLICAS_MOST);
	}
	json_decref(json);
}

static void fuzz_probe(void)
{
	struct rf_agent_settings settings = {
		.engine = {.servers = 1 + input_byte(&input) % 2,
			   .server = {{"db1", "6379", "192.0.2.1", 6379, NULL},
				      {"db2", "6379", "192.0.2.2", 6379, NULL}}},
		.grace_ns = 2 * RF_NS_PER_S,
	};
	struct rf_error error = {};

	connections = 0;
	REQUIRE(!rf_agent_probe(&settings, 0, NULL, &error));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	input = (struct input){data, data + size};
	if (input_byte(&input) & 1)
		fuzz_probe();
	else
		fuzz_link();
	return 0;
}
