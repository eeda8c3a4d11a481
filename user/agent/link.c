// SPDX-License-Identifier: GPL-2.0
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "agent/engine_errors.h"
#include "agent/link.h"
#include "base/say.h"
#include "base/time.h"
#include "base/units.h"
#include "fleet/library.h"

#include "build/fleet_functions.h"

/* ---- epoll ---- */

static void wait_for(struct rf_link *link, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = link};

	if (events == link->events)
		return;
	epoll_ctl(link->epoll_fd,
		  !link->events ? EPOLL_CTL_ADD
		  : events	? EPOLL_CTL_MOD
				: EPOLL_CTL_DEL,
		  link->fd, &event);
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

void rf_link_events(struct rf_link *link, uint32_t events)
{
	if (link->redis && events & (EPOLLIN | EPOLLERR | EPOLLHUP))
		redisAsyncHandleRead(link->redis);
	if (link->redis && events & EPOLLOUT)
		redisAsyncHandleWrite(link->redis);
}

/* ---- trouble ---- */

static void note_trouble(struct rf_link *link, const char *what)
{
	snprintf(link->trouble, sizeof(link->trouble), "engine %s:%s: %s",
		 link->engine->server[0].host, link->engine->server[0].port, what);
}

static void note_error(struct rf_link *link, const char *error)
{
	char text[256];

	rf_engine_explain(error, text, sizeof(text));
	note_trouble(link, text);
}

/* Each trouble is said once; so is its end. */
static void say_trouble(struct rf_link *link)
{
	if (strcmp(link->trouble, link->said) == 0)
		return;
	if (*link->trouble)
		rf_warn("%s (%s)", link->trouble, link->purpose);
	else
		rf_say("engine %s:%s: connected (%s)", link->engine->server[0].host,
		       link->engine->server[0].port, link->purpose);
	memcpy(link->said, link->trouble, sizeof(link->said));
}

/* ---- requests ---- */

static void finish(struct rf_request *request, const redisReply *reply)
{
	TAILQ_REMOVE(&request->link->requests, request, place);
	request->answer(request->data, reply);
	free(request);
}

static void load_functions(struct rf_link *link);

/*
 * A library that is there and lacks a function is of an older version. Whoever replaces it makes
 * the fleet learn, so that is left to people; until then it is tried again each time.
 */
static void note_old_library(struct rf_link *link)
{
	char text[360];

	link->has_library = false;
	snprintf(text, sizeof(text),
		 "its functions are of an older version, and lack one; replace them: 'redis-cli -h "
		 "%.160s -p %s -x FUNCTION LOAD REPLACE <" RF_FLEET_LIBRARY "'",
		 link->engine->server[0].host, link->engine->server[0].port);
	note_trouble(link, text);
}

/* Several requests may find the functions missing: they are loaded once. */
static void take_error(struct rf_link *link, const char *error)
{
	if (!rf_engine_lacks_functions(error))
		note_error(link, error);
	else if (link->has_library)
		note_old_library(link);
	else if (link->state == RF_LINK_READY)
		load_functions(link);
}

/* NULL: the connection has ended. */
static void take_reply(redisAsyncContext *redis, void *answer, void *data)
{
	struct rf_request *request = data;
	struct rf_link *link = request->link;
	const redisReply *reply = answer;

	(void)redis;
	if (reply && reply->type == REDIS_REPLY_ERROR && link->state == RF_LINK_LOADING &&
	    rf_engine_has_functions(reply->str)) {
		link->has_library = true;
	} else if (reply && reply->type == REDIS_REPLY_ERROR) {
		take_error(link, reply->str);
		reply = NULL;
	} else if (reply && link->state == RF_LINK_READY) {
		*link->trouble = '\0';
		link->has_library = false;
		link->pause_ns = RF_ENGINE_RETRY_NS;
	}
	finish(request, reply);
}

static bool send_words(struct rf_link *link, int count, const char *const *words,
		       const size_t *lengths, rf_link_answer answer, void *data)
{
	struct rf_request *request = malloc(sizeof(*request));

	if (!request)
		return false;
	*request = (struct rf_request){
		.link = link,
		.answer = answer,
		.data = data,
		.until_ns = rf_time_awake() + link->patience_ns,
	};
	TAILQ_INSERT_TAIL(&link->requests, request, place);
	if (redisAsyncCommandArgv(link->redis, take_reply, request, count, (const char **)words,
				  lengths) == REDIS_OK)
		return true;
	TAILQ_REMOVE(&link->requests, request, place);
	free(request);
	return false;
}

bool rf_link_call(struct rf_link *link, int count, const char *const *words, const size_t *lengths,
		  rf_link_answer answer, void *data)
{
	if (link->state != RF_LINK_READY || link->ends)
		return false;
	return send_words(link, count, words, lengths, answer, data);
}

/* ---- logging in ---- */

/* Without it nothing can be done; the connection ends, and is made again later. */
static void take_step(void *data, const redisReply *reply)
{
	struct rf_link *link = data;

	if (reply)
		link->state = RF_LINK_READY;
	else
		link->ends = true;
}

/*
 * Not by REPLACE: another host may just have loaded them, and to load them again would make the
 * engine forget who is a member.
 */
static void load_functions(struct rf_link *link)
{
	static const char *const words[] = {"FUNCTION", "LOAD", rf_fleet_functions};
	const size_t lengths[] = {8, 4, strlen(rf_fleet_functions)};

	link->state = RF_LINK_LOADING;
	if (!send_words(link, ARRAY_SIZE(words), words, lengths, take_step, link))
		link->ends = true;
}

static void log_in(struct rf_link *link)
{
	const struct rf_engine *engine = link->engine;
	const char *words[] = {"AUTH", engine->user, engine->password};
	size_t lengths[] = {4, strlen(engine->user), strlen(engine->password)};
	int count = ARRAY_SIZE(words);

	if (!*engine->password) {
		link->state = RF_LINK_READY;
		return;
	}
	if (!*engine->user) {
		words[1] = words[2];
		lengths[1] = lengths[2];
		count--;
	}
	link->state = RF_LINK_LOADING;
	if (!send_words(link, count, words, lengths, take_step, link))
		link->ends = true;
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
		return;
	}
	setsockopt(redis->c.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	link->connections++;
	log_in(link);
}

static void take_disconnected(const redisAsyncContext *redis, int status)
{
	struct rf_link *link = redis->data;

	if (status != REDIS_OK)
		note_error(link, redis->errstr ? redis->errstr : "it hung up");
	link->redis = NULL;
	link->state = RF_LINK_DOWN;
}

static void set_hooks(struct rf_link *link)
{
	redisAsyncContext *redis = link->redis;

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
	link->ends = link->has_library = false;
	link->connected_ns = now;
	link->redis = redisAsyncConnect(link->engine->server[0].address,
					link->engine->server[0].port_number);
	retry_later(link, now);
	if (!link->redis || link->redis->err) {
		note_error(link, link->redis ? link->redis->errstr : "no memory is left");
		if (link->redis)
			redisAsyncFree(link->redis);
		link->redis = NULL;
		return;
	}
	link->state = RF_LINK_CONNECTING;
	link->fd = link->redis->c.fd;
	set_hooks(link);
}

/* All requests are answered by none. */
static void drop(struct rf_link *link)
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
		link->ends = true;
	}
	if (link->redis && link->ends)
		drop(link);
	if (!link->redis && now >= link->retry_ns)
		connect_to(link, now);
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

void rf_link_start(struct rf_link *link, const struct rf_engine *engine, const char *purpose,
		   int epoll_fd, uint64_t patience_ns)
{
	*link = (struct rf_link){
		.engine = engine,
		.purpose = purpose,
		.epoll_fd = epoll_fd,
		.patience_ns = patience_ns,
		.pause_ns = RF_ENGINE_RETRY_NS,
		.said = "not connected yet",
	};
	TAILQ_INIT(&link->requests);
}

void rf_link_end(struct rf_link *link)
{
	drop(link);
}
