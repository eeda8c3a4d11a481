// SPDX-License-Identifier: GPL-2.0
/* A fence of a fleet as the daemon sees it: its agent's report, events, and metrics. */
#include "exposition.h"
#include "watch.h"

/* The output of user/agent/status.c, with other values if a test sets them. */
#define TOLD                                                                                       \
	"{\"schema\":1,\"fence\":\"eth0\",\"started_ns\":%llu,\"written_ns\":%llu,\"attached\":"   \
	"true,\"hosts\":4,\"grace_ms\":2000,\"server\":{\"host\":\"a\",\"port\":\"1\","            \
	"\"heartbeats\":{\"state\":\"down\",\"last_error\":%s,\"connections\":1}},\"membership\":" \
	"{"                                                                                        \
	"\"slot\":1,\"buckets\":16,\"offline\":%d,\"learning\":0,\"refused\":0,\"deadline_ms\":9," \
	"\"members\":[0,1,2],\"alive\":%s},\"offline_count\":%d,\"offline_ns\":2500000000,"        \
	"\"limits\":"                                                                              \
	"[],\"sources\":{\"shares\":5,\"contested\":"                                              \
	"2},\"counts\":{"                                                                          \
	"\"claims\":7,\"requests\":9,\"requests_sent\":%d,\"requests_deferred\":3}}"

struct told {
	unsigned long long started_ns, written_ns;
	const char *trouble, *members;
	int alone, sent, times;
};

static void tell_as_an_agent(char text[2000], struct told told)
{
	snprintf(text, 2000, TOLD, told.started_ns, told.written_ns,
		 told.trouble ? told.trouble : "null", told.alone,
		 told.members ? told.members : "[0,1]", told.times, told.sent);
}

static struct rf_agent_seen read_agent(struct told told, uint64_t now_ns)
{
	struct rf_agent_seen agent;
	char text[2000];

	tell_as_an_agent(text, told);
	rf_agent_read(&agent, text, now_ns);
	return agent;
}

#define AT (1000 * SECOND)
#define TOLD_NOW .started_ns = SECOND, .written_ns = AT

/* ---- the agent's file ---- */

static void what_an_agent_tells_is_read(void **state)
{
	const struct rf_agent_seen agent = read_agent(
		(struct told){TOLD_NOW, .sent = 6, .times = 3, .members = "[0,1,1023]"}, AT);

	(void)state;
	assert_true(agent.is_up);
	assert_true(agent.is_settled);
	assert_int_equal(rf_agent_members(&agent), 3);
	assert_true(agent.member[15] >> 63);
	assert_int_equal(agent.hosts, 4);
	assert_int_equal(agent.slot, 1);
	assert_int_equal(agent.grace_ns, 2 * SECOND);
	assert_int_equal(agent.shares, 5);
	assert_int_equal(agent.contested, 2);
	assert_int_equal(agent.asks_sent, 6);
	assert_int_equal(agent.asks_put_off, 3);
	assert_int_equal(agent.alone_times, 3);
	assert_int_equal(agent.alone_ns, 2500 * MS);
	assert_string_equal(agent.trouble, "");
}

/* During an upgrade, the daemon can be newer than the agent. */
static void an_agent_without_a_count_of_times_alone_is_read(void **state)
{
	struct rf_agent_seen agent;
	char text[2000], *from, *to;

	(void)state;
	tell_as_an_agent(text, (struct told){TOLD_NOW, .times = 3});
	from = strstr(text, "\"offline_count\"");
	to = strstr(text, "\"limits\"");
	assert_true(from && from < to);
	memmove(from, to, strlen(to) + 1);
	rf_agent_read(&agent, text, AT);
	assert_true(agent.is_up);
	assert_int_equal(agent.alone_times, 0);
}

static void an_agent_that_is_silent_is_not_up(void **state)
{
	(void)state;
	assert_true(read_agent((struct told){TOLD_NOW}, AT + 4 * SECOND).is_up);
	assert_false(read_agent((struct told){TOLD_NOW}, AT + 5 * SECOND).is_up);
	assert_int_equal(read_agent((struct told){TOLD_NOW}, AT + 5 * SECOND).grace_ns, 2 * SECOND);
}

static void an_agent_that_is_alone_does_not_know_its_members(void **state)
{
	(void)state;
	assert_false(read_agent((struct told){TOLD_NOW, .alone = 1}, AT).is_settled);
}

static void what_makes_no_sense_is_no_agent(void **state)
{
	static const char *const texts[] = {"", "{", "[]", "{}", "null", "{\"started_ns\":1}"};
	struct rf_agent_seen agent;

	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(texts); i++) {
		rf_agent_read(&agent, texts[i], AT);
		assert_false(agent.is_up);
		assert_int_equal(agent.grace_ns, 0);
	}
	assert_false(read_agent((struct told){TOLD_NOW, .members = "[1024]"}, AT).is_up);
	assert_false(read_agent((struct told){TOLD_NOW, .members = "[-1]"}, AT).is_up);
	assert_false(read_agent((struct told){TOLD_NOW, .times = -1}, AT).is_up);
	assert_false(read_agent((struct told){TOLD_NOW, .members = "[\"1\"]"}, AT).is_up);
	assert_false(read_agent((struct told){.started_ns = AT, .written_ns = 1}, AT).is_up);
}

static void no_trouble_smuggles_anything_in(void **state)
{
	const struct rf_agent_seen agent =
		read_agent((struct told){TOLD_NOW, .trouble = "\"a\\u001b[2Jb\""}, AT);

	(void)state;
	assert_string_equal(agent.trouble, "a?[2Jb");
}

/* ---- events ---- */

static int set_up(void **state)
{
	struct watch *watch = watch_begin();

	watch->scan.fleet = (struct rf_fleet_seen){
		.limits = 1,
		.standing.left_ns = 1500 * MS,
		.agent = read_agent((struct told){TOLD_NOW, .members = "[0,1,2]"}, AT),
	};
	watch->metrics = rf_metrics_new("eth0");
	*state = watch;
	watch_scan(watch);
	return 0;
}

/* This many parts of the sources are offline. */
static void be_alone(struct watch *watch, uint32_t parts, const char *trouble)
{
	watch->scan.fleet.standing.alone = parts;
	watch->scan.fleet.agent.is_settled = !parts;
	snprintf(watch->scan.fleet.agent.trouble, RF_TROUBLE_SIZE, "%s", trouble);
	feed(watch);
}

static void a_host_goes_alone_and_comes_back(void **state)
{
	struct watch *watch = *state;
	char id[RF_EVENT_ID_SIZE];

	be_alone(watch, RF_BUCKETS, "nothing listens there");
	be_alone(watch, RF_BUCKETS, "");
	expect(watch, RF_EVENT_FLEET_OFFLINE, 1);
	assert_string_equal(made_last(&watch->got, RF_EVENT_FLEET_OFFLINE)->detail,
			    "nothing listens there");
	snprintf(id, sizeof(id), "%s", made_last(&watch->got, RF_EVENT_FLEET_OFFLINE)->id);
	restart(watch, RF_TELL_NONE);
	be_alone(watch, 3, "");
	expect(watch, RF_EVENT_FLEET_ONLINE, 0);
	be_alone(watch, 0, "");
	expect(watch, RF_EVENT_FLEET_OFFLINE, 1);
	expect(watch, RF_EVENT_FLEET_ONLINE, 1);
	assert_string_equal(made_last(&watch->got, RF_EVENT_FLEET_ONLINE)->id, id);
	be_alone(watch, 3, "it does not answer");
	assert_string_equal(made_last(&watch->got, RF_EVENT_FLEET_OFFLINE)->detail,
			    "3 of 16 parts of the sources: it does not answer");
	assert_string_not_equal(made_last(&watch->got, RF_EVENT_FLEET_OFFLINE)->id, id);
}

static void a_host_without_an_agent_is_alone_by_the_fence(void **state)
{
	struct watch *watch = *state;

	watch->scan.fleet.agent = (struct rf_agent_seen){};
	be_alone(watch, RF_BUCKETS, "");
	assert_string_equal(made_last(&watch->got, RF_EVENT_FLEET_OFFLINE)->detail,
			    "no agent serves the fence");
}

static void what_was_alone_ends_with_its_limits_and_its_fence(void **state)
{
	struct watch *watch = *state;

	be_alone(watch, RF_BUCKETS, "");
	watch->scan.fleet.limits = 0;
	feed(watch);
	assert_string_equal(made_last(&watch->got, RF_EVENT_FLEET_ONLINE)->detail,
			    "no limit is of the fleet any more");
	feed(watch);
	expect(watch, RF_EVENT_FLEET_OFFLINE, 1);
	watch->scan.fleet.limits = 1;
	feed(watch);
	rf_events_gone(watch->events, watch->scan.time_ns, made_keep, &watch->got);
	expect(watch, RF_EVENT_FLEET_OFFLINE, 2);
	expect(watch, RF_EVENT_FLEET_ONLINE, 2);
}

static void set_members(struct watch *watch, const char *members)
{
	watch->scan.fleet.agent = read_agent((struct told){TOLD_NOW, .members = members}, AT);
	feed(watch);
}

static void a_member_that_is_silent_is_gone(void **state)
{
	struct watch *watch = *state;

	set_members(watch, "[0,1,2,3]");
	expect(watch, RF_EVENT_MEMBER_EXPIRED, 0);
	set_members(watch, "[0,1,3]");
	expect(watch, RF_EVENT_MEMBER_EXPIRED, 1);
	assert_string_equal(made_last(&watch->got, RF_EVENT_MEMBER_EXPIRED)->detail,
			    "number 2; 3 of 4 hosts are left");
	assert_string_not_equal(made_last(&watch->got, RF_EVENT_MEMBER_EXPIRED)->id, "");
	restart(watch, RF_TELL_NONE);
	set_members(watch, "[1]");
	expect(watch, RF_EVENT_MEMBER_EXPIRED, 2);
	assert_string_equal(made_last(&watch->got, RF_EVENT_MEMBER_EXPIRED)->detail,
			    "numbers 0, 3; 1 of 4 hosts are left");
	set_members(watch, "[0,1]");
	set_members(watch, "[0,1]");
	expect(watch, RF_EVENT_MEMBER_EXPIRED, 2);
}

static void nobody_is_gone_while_the_engine_is_not_heard(void **state)
{
	struct watch *watch = *state;

	watch->scan.fleet.agent =
		read_agent((struct told){TOLD_NOW, .members = "[1]", .alone = 2}, AT);
	feed(watch);
	watch->scan.fleet.agent.is_up = false;
	watch->scan.fleet.agent.is_settled = true;
	feed(watch);
	set_members(watch, "null");
	expect(watch, RF_EVENT_MEMBER_EXPIRED, 0);
	set_members(watch, "[0,1,2]");
	expect(watch, RF_EVENT_MEMBER_EXPIRED, 0);
}

/* ---- metrics ---- */

static struct exposed *tell(struct watch *watch)
{
	const struct rf_metrics *const of[] = {watch->metrics};
	const struct rf_metrics_page page = {.fence = of, .fences = 1};
	struct exposed *exposed;
	size_t length;
	char *text;

	made_second(&watch->scan);
	rf_metrics_take(watch->metrics, &watch->scan);
	text = rf_metrics_write(&page, &length);
	exposed = expose(text, false);
	free(text);
	return exposed;
}

#define FLEET(rest) "ringfence_fleet_" rest
#define IS(key, wanted) assert_true(exposed_value(told, FLEET(key)) == (wanted))

static void a_fleet_is_told(void **state)
{
	struct watch *watch = *state;
	struct exposed *told;

	watch->scan.fleet.standing.asks_lost = 4;
	watch->scan.fleet.agent.asks_sent = 6;
	watch->scan.fleet.agent.alone_times = 3;
	told = tell(watch);
	IS("offline{fence=eth0}", 0);
	IS("offline_periods_total{fence=eth0}", 3);
	IS("offline_seconds_total{fence=eth0}", 2.5);
	IS("last_reply_seconds{fence=eth0}", 0.5);
	IS("agent_up{fence=eth0}", 1);
	IS("hosts{fence=eth0}", 4);
	IS("members{fence=eth0}", 3);
	IS("shares{fence=eth0}", 5);
	IS("contested{fence=eth0}", 2);
	IS("requests_total{fence=eth0,outcome=sent}", 6);
	IS("requests_total{fence=eth0,outcome=deferred}", 3);
	IS("requests_total{fence=eth0,outcome=lost}", 4);
	free(told);
}

static void without_its_agent_a_fleet_is_heard_no_more(void **state)
{
	struct watch *watch = *state;
	struct exposed *told;

	watch->scan.fleet.agent.asks_sent = 6;
	free(tell(watch));
	watch->scan.fleet.agent.is_up = false;
	watch->scan.fleet.standing.alone = RF_BUCKETS;
	watch->scan.fleet.standing.left_ns = -5 * (int64_t)SECOND;
	told = tell(watch);
	IS("offline{fence=eth0}", 1);
	IS("last_reply_seconds{fence=eth0}", 7);
	IS("agent_up{fence=eth0}", 0);
	IS("requests_total{fence=eth0,outcome=sent}", 6);
	assert_null(exposed_find(told, FLEET("shares{fence=eth0}")));
	free(told);
	watch->scan.fleet.limits = 0;
	told = tell(watch);
	assert_null(exposed_find(told, FLEET("offline{fence=eth0}")));
	assert_null(exposed_find(told, FLEET("requests_total{fence=eth0,outcome=sent}")));
	free(told);
}

static uint64_t sent(struct watch *watch, uint64_t started_ns, uint64_t asks)
{
	struct exposed *told;
	uint64_t value;

	watch->scan.fleet.agent.started_ns = started_ns;
	watch->scan.fleet.agent.asks_sent = asks;
	told = tell(watch);
	value = exposed_value(told, FLEET("requests_total{fence=eth0,outcome=sent}"));
	free(told);
	return value;
}

static void asks_go_on_over_restarts(void **state)
{
	struct watch *watch = *state;
	char *text;

	assert_int_equal(sent(watch, 1, 6), 6);
	assert_int_equal(sent(watch, 2, 10), 16); /* another agent */
	assert_int_equal(sent(watch, 2, 11), 17);
	strcpy(watch->scan.identity, "boot-2"); /* another fence, the same agent */
	assert_int_equal(sent(watch, 2, 12), 18);
	text = rf_metrics_save(watch->metrics); /* another daemon */
	rf_metrics_free(watch->metrics);
	watch->metrics = rf_metrics_new("eth0");
	assert_int_equal(rf_metrics_restore(watch->metrics, text), 0);
	free(text);
	assert_int_equal(sent(watch, 2, 13), 19);
}

#define ROW(function) cmocka_unit_test_setup_teardown(function, set_up, watch_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_an_agent_tells_is_read),
		cmocka_unit_test(an_agent_without_a_count_of_times_alone_is_read),
		cmocka_unit_test(an_agent_that_is_silent_is_not_up),
		cmocka_unit_test(an_agent_that_is_alone_does_not_know_its_members),
		cmocka_unit_test(what_makes_no_sense_is_no_agent),
		cmocka_unit_test(no_trouble_smuggles_anything_in),
		ROW(a_host_goes_alone_and_comes_back),
		ROW(a_host_without_an_agent_is_alone_by_the_fence),
		ROW(what_was_alone_ends_with_its_limits_and_its_fence),
		ROW(a_member_that_is_silent_is_gone),
		ROW(nobody_is_gone_while_the_engine_is_not_heard),
		ROW(a_fleet_is_told),
		ROW(without_its_agent_a_fleet_is_heard_no_more),
		ROW(asks_go_on_over_restarts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
