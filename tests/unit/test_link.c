// SPDX-License-Identifier: GPL-2.0
/*
 * The errors that a connection to the fleet server reports. hiredis and its server are simulated.
 */
#include "unit.h"

#include <string.h>
#include <sys/epoll.h>

#include "agent/link.h"
#include "base/time.h"

#define PATIENCE_NS 1000000000ULL

static const struct rf_engine engine = {
	.servers = 1,
	.server[0] = {"db1", "6379", "192.0.2.1", 6379},
};
static struct rf_cluster cluster;
static struct rf_link link_of;
static uint64_t now;

/* The linker puts it in the place of the clock. */
uint64_t __wrap_rf_time_awake(void);
uint64_t __wrap_rf_time_awake(void)
{
	return now;
}

/* ---- hiredis, of which each function is here that link.c calls ---- */

static redisAsyncContext context;
static redisConnectCallback *connected;
static redisDisconnectCallback *disconnected;
static redisCallbackFn *answered;
static void *request; /* the first request without a reply */

redisAsyncContext *redisAsyncConnect(const char *ip, int port)
{
	assert_string_equal(ip, "192.0.2.1");
	assert_int_equal(port, 6379);
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
	answered = call;
	request = data;
	return REDIS_OK;
}

void redisAsyncFree(redisAsyncContext *redis)
{
	void *left = request;

	request = NULL;
	if (left)
		answered(redis, NULL, left);
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

/* ---- the guard of its reads, which tests/e2e/test_fleet_hostile.sh also tests ---- */

void rf_guard_set(struct rf_guard *guard, redisContext *redis)
{
	(void)redis;
	guard->refused = NULL;
}

bool rf_guard_holds(struct rf_guard *guard, const redisContext *redis)
{
	(void)redis;
	return !guard->refused;
}

static void too_much_comes(void)
{
	link_of.guard.refused = "its reply is too large";
	link_of.socket.ready(link_of.socket.context, EPOLLIN);
}

/* ---- what happens ---- */

static int start(void **state)
{
	(void)state;
	now = 1000 * PATIENCE_NS;
	rf_cluster_start(&cluster, &engine);
	link_of = (struct rf_link){
		.engine = &engine,
		.cluster = &cluster,
		.id = cluster.node[0].id,
		.purpose = "reports",
		.patience_ns = PATIENCE_NS,
	};
	rf_link_start(&link_of);
	return 0;
}

static int end(void **state)
{
	(void)state;
	rf_link_end(&link_of);
	return 0;
}

static void turn(uint64_t after_ns)
{
	now += after_ns;
	rf_link_turn(&link_of, now);
}

static void connects(void)
{
	turn(RF_ENGINE_RETRY_MOST_NS);
	assert_int_equal(link_of.state, RF_LINK_CONNECTING);
	connected(&context, REDIS_OK);
	assert_int_equal(link_of.state, RF_LINK_READY);
	turn(0);
}

/* hiredis has freed it then. */
static void is_refused(void)
{
	turn(RF_ENGINE_RETRY_MOST_NS);
	strcpy(context.c.errstr, "Connection refused");
	context.errstr = context.c.errstr;
	connected(&context, REDIS_ERR);
	turn(0);
}

static void ignore(void *data, const redisReply *reply)
{
	(void)data, (void)reply;
}

static void is_called(void)
{
	static const char *const words[] = {"FCALL"};
	static const size_t lengths[] = {5};

	assert_true(rf_link_call(&link_of, 0, 1, words, lengths, ignore, NULL));
}

static void answers(int type, const char *text)
{
	redisReply reply = {.type = type, .str = (char *)text, .len = strlen(text)};
	void *of = request;

	request = NULL;
	answered(&context, &reply, of);
}

static void has_trouble(const char *what)
{
	char text[128];

	snprintf(text, sizeof(text), "fleet server db1:6379: %s", what);
	assert_string_equal(link_of.trouble, text);
	snprintf(text, sizeof(text), "fleet server db1:6379: %s (reports)", what);
	assert_string_equal(link_of.said.text, text);
}

static void has_no_trouble(void)
{
	assert_string_equal(link_of.trouble, "");
	assert_string_equal(link_of.said.text, ""); /* its end was logged */
}

#define REFUSED "nothing listens there; start it or its tunnel, or see its 'bind' and 'port'"

static void an_answer_ends_a_trouble(void **state)
{
	(void)state;
	is_refused();
	has_trouble(REFUSED);
	connects();
	has_trouble(REFUSED); /* behind a tunnel, a connection shows nothing about the server */
	is_called();
	answers(REDIS_REPLY_STRING, "");
	turn(0);
	has_no_trouble();
}

static void so_does_a_connection_that_stands_unused(void **state)
{
	(void)state;
	is_refused();
	connects();
	turn(RF_TROUBLE_KEPT_NS - RF_ENGINE_RETRY_MOST_NS);
	has_trouble(REFUSED);
	turn(PATIENCE_NS);
	has_no_trouble();
}

static void a_trouble_lasts_while_nothing_is_there(void **state)
{
	(void)state;
	for (int i = 0; i < 30; i++) {
		is_refused();
		has_trouble(REFUSED);
	}
}

static void a_call_without_an_answer_is_waited_for(void **state)
{
	(void)state;
	is_refused();
	connects();
	now += RF_TROUBLE_KEPT_NS + PATIENCE_NS;
	is_called();
	turn(PATIENCE_NS / 2);
	has_trouble(REFUSED);
	turn(PATIENCE_NS / 2);
	has_trouble("it does not answer in time");
}

/* Like a missing permission: it is logged again when it occurs again. */
static void a_refused_call_is_a_trouble_for_a_while(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		if (!link_of.redis)
			connects();
		is_called();
		answers(REDIS_REPLY_ERROR, "OOM command not allowed");
		turn(0);
		assert_string_not_equal(link_of.trouble, "");
		assert_memory_equal(link_of.said.text, link_of.trouble, strlen(link_of.trouble));
		turn(RF_TROUBLE_KEPT_NS + 2 * PATIENCE_NS);
		has_no_trouble();
	}
}

/* And the connection is made again. */
static void too_large_a_reply_ends_the_connection(void **state)
{
	(void)state;
	connects();
	too_much_comes();
	turn(0);
	has_trouble("its reply is too large");
	assert_int_equal(link_of.state, RF_LINK_DOWN);
	connects();
	is_called();
	answers(REDIS_REPLY_STRING, "");
	turn(0);
	has_no_trouble();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_answer_ends_a_trouble, start, end),
		cmocka_unit_test_setup_teardown(so_does_a_connection_that_stands_unused, start,
						end),
		cmocka_unit_test_setup_teardown(a_trouble_lasts_while_nothing_is_there, start, end),
		cmocka_unit_test_setup_teardown(a_call_without_an_answer_is_waited_for, start, end),
		cmocka_unit_test_setup_teardown(a_refused_call_is_a_trouble_for_a_while, start,
						end),
		cmocka_unit_test_setup_teardown(too_large_a_reply_ends_the_connection, start, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
