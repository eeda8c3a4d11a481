// SPDX-License-Identifier: GPL-2.0
#include "agent/link.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/say.h"
#include "base/time.h"
#include "base/units.h"
#include "fleet/library.h"

#include "build/fleet_functions.h"

/* ---- error messages of the server, and how to fix them ---- */

struct meaning {
	const char *begins; /* the engine's error */
	const char *means;
};

static const struct meaning meanings[] = {
	{"NOAUTH", "it wants a password; name a file with it by 'password file PATH'"},
	{"WRONGPASS", "it refuses this user and password; see 'user' and 'password file'"},
	{"ERR AUTH", "it has no password set, but 'password file' names one; leave it out"},
	{"NOPERM", "this user may not do that there; it needs '+fcall +function|load ~rf:*'"},
	{"OOM", "it has no memory left; raise its 'maxmemory'"},
	{"LOADING", "it is still loading its data"},
	{"READONLY", "it is a replica; name the master"},
	{"MASTERDOWN", "it is a replica, and its master is down; name the master"},
	{"NOREPLICAS", "it has too few replicas to write; see its 'min-replicas-to-write'"},
	{"MISCONF", "it cannot save to its disk; the fleet needs no persistence: 'save \"\"'"},
	{"BUSY", "it is busy with another script or function"},
	{"CLUSTERDOWN", "its cluster is down; see 'redis-cli --cluster check'"},
	{"DENIED", "it is in protected mode; give it a password, or 'bind' it to an address"},
	{"ERR max number of clients", "it has too many clients; raise its 'maxclients'"},
	{"RINGFENCE this is no heartbeat",
	 "it has functions of another version; 'ringfence fleet check' prints what loads them"},
	{"Connection refused",
	 "nothing listens there; start it or its tunnel, or see its 'bind' and 'port'"},
	{"Connection reset", "it closed the connection; behind a tunnel, see its log"},
	{"Server closed", "it closed the connection; behind a tunnel, see its log"},
	{"No route to host", "there is no route to it"},
	{"Network is unreachable", "there is no route to it"},
	{"ERR unknown command", "it knows no functions; it takes Redis 7 or Valkey"},
};

/* Has the engine none of ringfence's functions? */
static bool lacks_functions(const char *error)
{
	return strncmp(error, "ERR Function not found", 22) == 0;
}

/* Did a different host load them concurrently? */
static bool has_functions(const char *error)
{
	return strncmp(error, "ERR Library 'ringfence' already exists", 38) == 0;
}

void rf_engine_explain(const char *error, char *text, size_t size)
{
	for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++) {
		if (strncmp(error, meanings[i].begins, strlen(meanings[i].begins)) != 0)
			continue;
		snprintf(text, size, "%s", meanings[i].means);
		return;
	}
	snprintf(text, size, "it says '%.200s'", error);
}

/* ---- the loop ---- */

static void wait_for(struct rf_link *link, uint32_t events)
{
	if (events == link->events)
		return;
	if (events)
		rf_loop_watch(link->loop, &link->socket, events);
	else
		rf_loop_unwatch(link->loop, &link->socket);
	link->events = events;
}

static void add_read(void *data)
{
	struct rf_link *link = data;

	wait_for(link, link->events | EPOLLIN);
}

static void del_read(void *data)
{
	struct rf_link *link = data;

	wait_for(link, link->events & ~EPOLLIN);
}

static void add_write(void *data)
{
	struct rf_link *link = data;

	wait_for(link, link->events | EPOLLOUT);
}

static void del_write(void *data)
{
	struct rf_link *link = data;

	wait_for(link, link->events & ~EPOLLOUT);
}

static void clean_up(void *data)
{
	wait_for(data, 0);
}

/* ---- errors ---- */

static const struct rf_server *server_of(const struct rf_link *link)
{
	return &link->cluster->node[link->node].server;
}

static void note_trouble(struct rf_link *link, const char *what)
{
	link->trouble_ns = rf_time_awake();
	snprintf(link->trouble, sizeof(link->trouble), "fleet server %s:%s: %s",
		 server_of(link)->host, server_of(link)->port, what);
}

static void note_error(struct rf_link *link, const char *error)
{
	char text[256];

	rf_engine_explain(error, text, sizeof(text));
	note_trouble(link, text);
}

static void say_trouble(struct rf_link *link)
{
	char error[RF_ENGINE_TEXT_SIZE + 32] = "", connected[320];

	if (*link->trouble)
		snprintf(error, sizeof(error), "%s (%s)", link->trouble, link->purpose);
	snprintf(connected, sizeof(connected), "fleet server %s:%s: connected (%s)",
		 server_of(link)->host, server_of(link)->port, link->purpose);
	rf_say_once(&link->said, "", error, connected);
}

/*
 * A reply clears the error, but reports, bans and requests can be rare. So the error is also
 * cleared once the connection is up for a while without a failure.
 */
static void forget_trouble(struct rf_link *link, uint64_t now)
{
	if (link->state == RF_LINK_READY && !link->ends && TAILQ_EMPTY(&link->requests) &&
	    now >= link->trouble_ns + RF_TROUBLE_KEPT_NS + link->patience_ns)
		*link->trouble = '\0';
	if (now >= link->has_library_ns + RF_TROUBLE_KEPT_NS)
		*link->lacks = '\0';
}

static void give_up(struct rf_link *link)
{
	link->ends = link->has_failed = true;
}

static void take_events(void *context, uint32_t events)
{
	struct rf_link *link = context;

	if (link->redis && events & (EPOLLIN | EPOLLERR | EPOLLHUP))
		redisAsyncHandleRead(link->redis);
	if (link->redis && !rf_guard_holds(&link->guard, &link->redis->c)) {
		note_trouble(link, link->guard.refused);
		give_up(link);
	}
	if (link->redis && events & EPOLLOUT)
		redisAsyncHandleWrite(link->redis);
}

/* ---- requests ---- */

static void finish_request(struct rf_request *request, const redisReply *reply)
{
	TAILQ_REMOVE(&request->link->requests, request, place);
	request->answer(request->data, reply);
	free(request);
}

static void load_functions(struct rf_link *link);

/*
 * A library without one of the functions is an older version. Replacing it makes the fleet learn,
 * so the operator decides; until then the call is retried now and then.
 */
static void note_old_library(struct rf_link *link)
{
	char text[512];

	snprintf(text, sizeof(text),
		 "its functions are of an older version, and lack one; replace them: 'redis-cli -h "
		 "%s -p %s -x FUNCTION LOAD REPLACE <" RF_FLEET_LIBRARY "'",
		 server_of(link)->host, server_of(link)->port);
	note_trouble(link, text);
}

/* True: the functions are on their way. */
static bool load_what_lacks(struct rf_link *link, const char *function)
{
	const bool may_load = rf_time_awake() >= link->has_library_ns;

	if (!may_load || strcmp(link->lacks, function) == 0)
		note_old_library(link);
	memcpy(link->lacks, function, sizeof(link->lacks));
	if (may_load)
		load_functions(link);
	return may_load;
}

/*
 * True: the call can be sent again. Several requests can find the functions missing: they are
 * loaded once.
 */
static bool take_error(struct rf_link *link, uint32_t tag, const char *function, const char *error)
{
	if (tag < RF_TAGS &&
	    rf_cluster_refused(link->cluster, tag, link->node, error, rf_time_awake()))
		return true;
	if (tag == RF_TAGS || !lacks_functions(error)) {
		note_error(link, error);
		return false;
	}
	return link->state == RF_LINK_READY ? load_what_lacks(link, function)
					    : link->state == RF_LINK_LOADING;
}

/* An older library has only some functions: a reply from one of them does not clear the error. */
static void take_success(struct rf_link *link, const struct rf_request *request)
{
	if (*link->lacks && strcmp(link->lacks, request->function) != 0)
		return;
	*link->trouble = *link->lacks = '\0';
	link->has_library_ns = 0;
}

/* NULL: the connection has ended. */
static void take_reply(redisAsyncContext *redis, void *answer, void *data)
{
	struct rf_request *request = data;
	struct rf_link *link = request->link;
	const redisReply *reply = answer;

	(void)redis;
	if (reply && reply->type == REDIS_REPLY_ERROR && link->state == RF_LINK_LOADING &&
	    has_functions(reply->str)) {
		link->has_library_ns = rf_time_awake() + RF_ENGINE_RETRY_MOST_NS;
	} else if (reply && reply->type == REDIS_REPLY_ERROR) {
		if (!take_error(link, request->tag, request->function, reply->str))
			reply = NULL;
	} else if (reply && link->state == RF_LINK_READY) {
		if (request->tag < RF_TAGS)
			rf_cluster_answered(link->cluster, request->tag, link->node,
					    rf_time_awake());
		link->pause_ns = RF_ENGINE_RETRY_NS;
		take_success(link, request);
	}
	finish_request(request, reply);
}

static bool send_words(struct rf_link *link, uint32_t tag, int count, const char *const *words,
		       const size_t *lengths, rf_link_answer answer, void *data)
{
	struct rf_request *request = malloc(sizeof(*request));

	if (!request)
		return false;
	*request = (struct rf_request){
		.link = link,
		.answer = answer,
		.data = data,
		.tag = tag,
		.until_ns = rf_time_awake() + link->patience_ns,
	};
	if (count > 1 && strcmp(words[0], "FCALL") == 0)
		snprintf(request->function, sizeof(request->function), "%s", words[1]);
	TAILQ_INSERT_TAIL(&link->requests, request, place);
	if (redisAsyncCommandArgv(link->redis, take_reply, request, count, (const char **)words,
				  lengths) == REDIS_OK)
		return true;
	TAILQ_REMOVE(&link->requests, request, place);
	free(request);
	return false;
}

bool rf_link_call(struct rf_link *link, uint32_t tag, int count, const char *const *words,
		  const size_t *lengths, rf_link_answer answer, void *data)
{
	if (link->state != RF_LINK_READY || link->ends)
		return false;
	return send_words(link, tag, count, words, lengths, answer, data);
}

/* ---- logging in ---- */

/* Required: on failure the connection is closed and retried later. */
static void take_step(void *data, const redisReply *reply)
{
	struct rf_link *link = data;

	if (reply)
		link->state = RF_LINK_READY;
	else
		give_up(link);
}

/* Of the functions. An error: a library is there, and may lack one. */
static void take_loaded(void *data, const redisReply *reply)
{
	struct rf_link *link = data;

	if (reply && reply->type != REDIS_REPLY_ERROR)
		*link->lacks = '\0';
	take_step(link, reply);
}

static void send_step(struct rf_link *link, int count, const char *const *words,
		      rf_link_answer answer)
{
	link->state = RF_LINK_LOADING;
	if (!send_words(link, RF_TAGS, count, words, NULL, answer, link))
		give_up(link);
}

/*
 * Not by REPLACE: another host may just have loaded them, and to load them again would make the
 * engine forget who is a member.
 */
static void load_functions(struct rf_link *link)
{
	static const char *const words[] = {"FUNCTION", "LOAD", rf_fleet_functions};

	send_step(link, ARRAY_SIZE(words), words, take_loaded);
}

/* Names and values, one after the other. */
static bool is_of_cluster(const redisReply *reply)
{
	for (size_t i = 0; reply->type == REDIS_REPLY_ARRAY && i + 1 < reply->elements; i += 2) {
		const redisReply *name = reply->element[i], *value = reply->element[i + 1];

		if (name->type == REDIS_REPLY_STRING && value->type == REDIS_REPLY_STRING &&
		    strcmp(name->str, "mode") == 0)
			return strcmp(value->str, "cluster") == 0;
	}
	return false;
}

static void take_mode(void *data, const redisReply *reply)
{
	struct rf_link *link = data;

	if (reply && !is_of_cluster(reply)) {
		note_trouble(link, "it is no node of a cluster, so it would have claims of its "
				   "own; 'redis' names one server, or nodes of one cluster");
		reply = NULL;
	}
	take_step(link, reply);
}

/* For all nodes except a single known one. Every user has the right to this command. */
static void ask_mode(struct rf_link *link)
{
	static const char *const words[] = {"HELLO"};

	if (link->cluster->is_cluster)
		send_step(link, ARRAY_SIZE(words), words, take_mode);
	else
		link->state = RF_LINK_READY;
}

static void take_login(void *data, const redisReply *reply)
{
	struct rf_link *link = data;

	if (reply)
		ask_mode(link);
	else
		give_up(link);
}

static void log_in(struct rf_link *link)
{
	const struct rf_engine *engine = link->engine;
	const char *words[] = {"AUTH", engine->user, engine->password};
	int count = ARRAY_SIZE(words);

	if (!*engine->password) {
		ask_mode(link);
		return;
	}
	if (!*engine->user) {
		words[1] = words[2];
		count--;
	}
	send_step(link, count, words, take_login);
}

/* ---- connecting ---- */

static void take_connected(const redisAsyncContext *redis, int status)
{
	struct rf_link *link = redis->data;
	const int on = 1;

	if (status != REDIS_OK) {
		note_error(link, redis->errstr ? redis->errstr : "cannot connect");
		link->redis = NULL; /* hiredis frees it */
		link->state = RF_LINK_DOWN;
		link->has_failed = true;
		return;
	}
	setsockopt(redis->c.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	link->connections++;
	log_in(link);
}

static void take_disconnected(const redisAsyncContext *redis, int status)
{
	struct rf_link *link = redis->data;

	if (link->guard.refused)
		note_trouble(link, link->guard.refused);
	else if (status != REDIS_OK)
		note_error(link, redis->errstr ? redis->errstr : "it hung up");
	link->redis = NULL;
	link->state = RF_LINK_DOWN;
}

static bool is_expected(const void *link)
{
	return !TAILQ_EMPTY(&((const struct rf_link *)link)->requests);
}

static void set_hooks(struct rf_link *link)
{
	redisAsyncContext *redis = link->redis;

	link->guard.is_expected = is_expected;
	link->guard.link = link;
	rf_guard_set(&link->guard, &redis->c);
	redis->data = link;
	redis->ev.data = link;
	redis->ev.addRead = add_read;
	redis->ev.delRead = del_read;
	redis->ev.addWrite = add_write;
	redis->ev.delWrite = del_write;
	redis->ev.cleanup = clean_up;
	redisAsyncSetConnectCallback(redis, take_connected);
	redisAsyncSetDisconnectCallback(redis, take_disconnected);
}

static void retry_later(struct rf_link *link, uint64_t now)
{
	link->retry_ns = now + link->pause_ns;
	link->pause_ns *= 2;
	if (link->pause_ns > RF_ENGINE_RETRY_MOST_NS)
		link->pause_ns = RF_ENGINE_RETRY_MOST_NS;
}

static void connect_to(struct rf_link *link, uint64_t now)
{
	link->events = 0;
	link->ends = false;
	link->has_library_ns = 0;
	*link->lacks = '\0';
	link->connected_ns = now;
	link->redis = redisAsyncConnect(server_of(link)->address, server_of(link)->port_number);
	retry_later(link, now);
	if (!link->redis || link->redis->err) {
		note_error(link, link->redis ? link->redis->errstr : "no memory is left");
		if (link->redis)
			redisAsyncFree(link->redis);
		link->redis = NULL;
		link->has_failed = true;
		return;
	}
	link->state = RF_LINK_CONNECTING;
	link->socket.fd = link->redis->c.fd;
	set_hooks(link);
}

/* All requests are answered by none. */
static void drop_link(struct rf_link *link)
{
	redisAsyncContext *redis = link->redis;

	link->redis = NULL;
	link->state = RF_LINK_DOWN;
	link->ends = false;
	if (redis)
		redisAsyncFree(redis);
}

/* ---- time ---- */

static bool is_late(const struct rf_link *link, uint64_t now)
{
	const struct rf_request *oldest = TAILQ_FIRST(&link->requests);

	if (link->state == RF_LINK_CONNECTING)
		return now >= link->connected_ns + link->patience_ns;
	return oldest && now >= oldest->until_ns;
}

void rf_link_turn(struct rf_link *link, uint64_t now)
{
	if (link->redis && !link->ends && is_late(link, now)) {
		note_trouble(link, link->state == RF_LINK_CONNECTING
					   ? "no answer; is it there, and does a firewall pass it?"
					   : "it does not answer in time");
		give_up(link);
	}
	if (link->redis && link->ends)
		drop_link(link);
	if (!link->redis && now >= link->retry_ns)
		connect_to(link, now);
	forget_trouble(link, now);
	if (link->state == RF_LINK_READY || *link->trouble)
		say_trouble(link);
}

uint64_t rf_link_due_ns(const struct rf_link *link)
{
	const struct rf_request *oldest = TAILQ_FIRST(&link->requests);

	if (!link->redis)
		return link->retry_ns;
	if (link->ends)
		return 0;
	if (link->state == RF_LINK_CONNECTING)
		return link->connected_ns + link->patience_ns;
	return oldest ? oldest->until_ns : UINT64_MAX;
}

void rf_link_start(struct rf_link *link)
{
	link->socket.ready = take_events;
	link->socket.context = link;
	link->pause_ns = RF_ENGINE_RETRY_NS;
	link->said = (struct rf_said){"not connected yet"};
	TAILQ_INIT(&link->requests);
}

void rf_link_rest(struct rf_link *link)
{
	drop_link(link);
	*link->trouble = '\0';
}

void rf_link_end(struct rf_link *link)
{
	drop_link(link);
	*link = (struct rf_link){};
}

/* ---- lines: the connections of one purpose ---- */

static bool is_in_use(const struct rf_line *line, uint32_t node)
{
	return line->link[node].id && line->link[node].id == line->cluster->node[node].id;
}

static void start_link(struct rf_line *line, uint32_t node)
{
	struct rf_link *link = &line->link[node];

	*link = (struct rf_link){
		.engine = line->engine,
		.cluster = line->cluster,
		.node = node,
		.id = line->cluster->node[node].id,
		.purpose = line->purpose,
		.loop = line->loop,
		.socket = {.is_urgent = line->is_urgent},
		.patience_ns = line->patience_ns,
	};
	rf_link_start(link);
}

void rf_line_end(struct rf_line *line)
{
	for (uint32_t i = 0; i < RF_NODES_MOST; i++)
		if (line->link[i].id)
			rf_link_end(&line->link[i]);
}

void rf_line_turn(struct rf_line *line, uint64_t now)
{
	for (uint32_t i = 0; i < line->cluster->nodes; i++) {
		const bool is_needed = rf_cluster_uses(line->cluster, i, line->tags);
		struct rf_link *link = &line->link[i];

		if (link->id && !is_in_use(line, i))
			rf_link_end(link);
		else if (link->redis && !is_needed)
			rf_link_rest(link);
		if (!is_needed)
			continue;
		if (!link->id)
			start_link(line, i);
		rf_link_turn(link, now);
		if (link->has_failed)
			rf_cluster_failed(line->cluster, i, line->patience_ns, now);
		link->has_failed = false;
	}
}

/* When the first of its routes has rested. */
static uint64_t rested_ns(const struct rf_line *line, uint64_t now)
{
	uint64_t due_ns = UINT64_MAX;

	for (uint32_t i = 0; i < RF_TAGS && line->cluster->is_cluster; i++)
		if (line->tags & 1U << i && line->cluster->route[i].rests_until_ns > now)
			due_ns = rf_earlier(due_ns, line->cluster->route[i].rests_until_ns);
	return due_ns;
}

uint64_t rf_line_due_ns(const struct rf_line *line, uint64_t now)
{
	uint64_t due_ns = rested_ns(line, now);

	for (uint32_t i = 0; i < line->cluster->nodes; i++) {
		if (!rf_cluster_uses(line->cluster, i, line->tags))
			continue;
		if (!is_in_use(line, i))
			return 0;
		due_ns = rf_earlier(due_ns, rf_link_due_ns(&line->link[i]));
	}
	return due_ns;
}

bool rf_line_is_ready(const struct rf_line *line, uint32_t tag, uint64_t now)
{
	const struct rf_route *route = &line->cluster->route[tag];
	const struct rf_link *link = &line->link[route->node];

	return is_in_use(line, route->node) && link->state == RF_LINK_READY && !link->ends &&
	       now >= route->rests_until_ns;
}

bool rf_line_call(struct rf_line *line, uint32_t tag, int count, const char *const *words,
		  const size_t *lengths, rf_link_answer answer, void *data)
{
	const uint32_t node = line->cluster->route[tag].node;

	return is_in_use(line, node) &&
	       rf_link_call(&line->link[node], tag, count, words, lengths, answer, data);
}

const struct rf_link *rf_line_worst(const struct rf_line *line)
{
	const struct rf_link *worst = &line->link[line->cluster->route[0].node];

	for (uint32_t i = 0; i < RF_NODES_MOST; i++) {
		const struct rf_link *link = &line->link[i];

		if (!link->id || !rf_cluster_uses(line->cluster, i, line->tags))
			continue;
		if (!worst->id || (*link->trouble && !*worst->trouble) ||
		    (!*worst->trouble && link->state < worst->state))
			worst = link;
	}
	return worst;
}

const char *rf_line_trouble(const struct rf_line *line)
{
	const struct rf_link *worst = rf_line_worst(line);

	return *worst->trouble ? worst->trouble : line->cluster->trouble;
}
