// SPDX-License-Identifier: GPL-2.0
#include "agent/guard.h"
#include "base/time.h"

#define TOO_LARGE "its reply is larger than 4 MiB; is it a Redis or Valkey server?"
#define UNASKED "it sent a reply that was not asked for; is it a Redis or Valkey server?"

/* ---- memory of a reply ---- */

/* False: the reader fails, and hiredis closes the connection. */
static bool may_take(const redisReadTask *task, size_t size)
{
	struct rf_guard *guard = task->privdata;

	if (!task->parent) {
		/* An error can come without a request: "max number of clients reached". hiredis
		 * then closes. */
		if (task->type != REDIS_REPLY_ERROR && guard->is_expected &&
		    !guard->is_expected(guard->link))
			guard->refused = UNASKED;
		guard->size = 0;
	}
	if (size > RF_REPLY_MOST - guard->size)
		guard->refused = TOO_LARGE;
	else
		guard->size += size;
	return !guard->refused;
}

static const redisReplyObjectFunctions *usual(const redisReadTask *task)
{
	return &((struct rf_guard *)task->privdata)->usual;
}

static void *create_string(const redisReadTask *task, char *text, size_t length)
{
	return may_take(task, sizeof(redisReply) + length)
		       ? usual(task)->createString(task, text, length)
		       : NULL;
}

static void *create_integer(const redisReadTask *task, long long value)
{
	return may_take(task, 0) ? usual(task)->createInteger(task, value) : NULL;
}

static void *create_nil(const redisReadTask *task)
{
	return may_take(task, 0) ? usual(task)->createNil(task) : NULL;
}

/* Each element takes at least a pointer and a reply: count them all here. */
#define ELEMENT_SIZE (sizeof(redisReply *) + sizeof(redisReply))

#if HIREDIS_MAJOR >= 1
static void *create_array(const redisReadTask *task, size_t elements)
#else
static void *create_array(const redisReadTask *task, int elements)
#endif
{
	return may_take(task, elements * ELEMENT_SIZE) ? usual(task)->createArray(task, elements)
						       : NULL;
}

#if HIREDIS_MAJOR >= 1
static void *create_double(const redisReadTask *task, double value, char *text, size_t length)
{
	return may_take(task, length) ? usual(task)->createDouble(task, value, text, length) : NULL;
}

static void *create_bool(const redisReadTask *task, int value)
{
	return may_take(task, 0) ? usual(task)->createBool(task, value) : NULL;
}
#endif

/* ---- the connection ---- */

void rf_guard_set(struct rf_guard *guard, redisContext *redis)
{
	guard->usual = *redis->reader->fn;
	guard->guarded = guard->usual;
	guard->guarded.createString = create_string;
	guard->guarded.createArray = create_array;
	guard->guarded.createInteger = create_integer;
	guard->guarded.createNil = create_nil;
#if HIREDIS_MAJOR >= 1
	guard->guarded.createDouble = create_double;
	guard->guarded.createBool = create_bool;
#endif
	guard->size = 0;
	guard->refused = NULL;
	redis->reader->fn = &guard->guarded;
	redis->reader->privdata = guard;
}

bool rf_guard_holds(struct rf_guard *guard, const redisContext *redis)
{
	if (redis->reader->len - redis->reader->pos > RF_REPLY_MOST)
		guard->refused = TOO_LARGE;
	return !guard->refused;
}

static bool send_all(redisContext *redis)
{
	int done = 0;

	while (!done)
		if (redisBufferWrite(redis, &done) != REDIS_OK)
			return false;
	return true;
}

redisReply *rf_guard_ask(struct rf_guard *guard, redisContext *redis, uint64_t patience_ns,
			 int count, const char **words)
{
	const uint64_t until_ns = rf_time_awake() + patience_ns;
	void *reply = NULL;

	if (redis->err || redisAppendCommandArgv(redis, count, words, NULL) != REDIS_OK ||
	    !send_all(redis))
		return NULL;
	while (redisGetReplyFromReader(redis, &reply) == REDIS_OK && !reply)
		if (rf_time_awake() >= until_ns || redisBufferRead(redis) != REDIS_OK ||
		    !rf_guard_holds(guard, redis))
			return NULL;
	return reply;
}
