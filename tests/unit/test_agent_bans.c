// SPDX-License-Identifier: GPL-2.0
/* An agent's requests and reports of bans, with a simulated link and fence. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/bans.h"
#include "agent/inquiry.h"

static const struct rf_agent_settings settings = {.takes_bans = true};
static struct rf_cluster cluster = {
	.node[0] = {.id = 1, .server.address = "203.0.113.1"},
	.node[1] = {.id = 2, .server.address = "198.51.100.77"}, /* that MOVED has named */
	.node[2] = {.server.address = "192.0.2.1"},		 /* is not used any more */
};
static struct rf_line line = {.cluster = &cluster};
static struct rf_loop loop = RF_LOOP_NONE;
static struct rf_fleet_bans bans;
static struct {
	uint32_t count;
	bool fails, is_late;
	rf_link_answer answer; /* of the latest */
	void *data;
} sent;

bool rf_line_call(struct rf_line *to, uint32_t tag, int count, const char *const *words,
		  const size_t *lengths, rf_link_answer answer, void *data)
{
	(void)to, (void)tag, (void)count, (void)words, (void)lengths;
	sent.count += !sent.fails;
	sent.answer = answer;
	sent.data = data;
	return !sent.fails;
}

bool rf_line_is_ready(const struct rf_line *to, uint32_t tag, uint64_t now)
{
	(void)to, (void)tag, (void)now;
	return !sent.fails;
}

const struct rf_link *rf_line_worst(const struct rf_line *of)
{
	return &of->link[0];
}

const char *rf_line_trouble(const struct rf_line *of)
{
	(void)of;
	return "";
}

int rf_fleet_bans_write(const struct rf_fleet_bans *of, struct rf_error *left_out,
			struct rf_error *error)
{
	(void)of, (void)left_out, (void)error;
	return 0;
}

bool rf_fleet_bans_are_there(struct rf_fleet_bans *of, const struct rf_fence *fence)
{
	(void)of, (void)fence;
	return true;
}

static struct rf_kept_bans file;   /* next to the socket */
static struct rf_kept_bans stored; /* where it survives a reboot */

void rf_kept_bans_read(struct rf_kept_bans *kept, const char *fence)
{
	(void)fence;
	*kept = file;
}

void rf_kept_bans_write(const struct rf_kept_bans *kept, const char *fence)
{
	(void)fence;
	file = *kept;
}

void rf_kept_bans_store(const struct rf_kept_bans *kept, const char *fence)
{
	(void)fence;
	stored = *kept;
}

static uint64_t now;

/* The linker puts it in the place of the clock. */
uint64_t __wrap_rf_time_awake(void);
uint64_t __wrap_rf_time_awake(void)
{
	return now;
}

static int start(void **state)
{
	(void)state;
	memset(&sent, 0, sizeof(sent));
	file = (struct rf_kept_bans){};
	rf_fleet_bans_start(&bans, &settings, &line, &loop);
	return 0;
}

static void turn(uint32_t slot)
{
	now += RF_BANS_ASK_NS;
	rf_fleet_bans_turn(&bans, NULL, slot, sent.is_late ? UINT64_MAX : now);
}

static void answer(const uint8_t *bytes, size_t size)
{
	const redisReply reply = {.type = REDIS_REPLY_STRING, .str = (char *)bytes, .len = size};

	sent.answer(&bans, &reply);
}

/* Each ban has 1 s left. */
static const uint8_t of_two_hosts[] = {
	9, 0, 0, 0, 0, 0, 0, 0,						  /* the latest stamp */
	8, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0xe8, 3, 0, 0, 4, 32, 192, 0, 2, 1, /* a ban of slot 2 */
	9, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0xe8, 3, 0, 0, 4, 32, 192, 0, 2, 2, /* and of 3 */
};

static void none_is_asked_for_before_there_is_a_slot(void **state)
{
	(void)state;
	turn(RF_BANS_NO_SLOT);
	turn(RF_BANS_NO_SLOT);
	assert_int_equal(sent.count, 0);
	turn(3);
	assert_int_equal(sent.count, 1);
	answer(of_two_hosts, sizeof(of_two_hosts));
	assert_int_equal(bans.count, 1);
	assert_int_equal(bans.taken[0].slot, 2);
}

static void what_was_asked_for_with_a_slot_is_judged_with_it(void **state)
{
	(void)state;
	turn(3);
	turn(RF_BANS_NO_SLOT);
	answer(of_two_hosts, sizeof(of_two_hosts));
	assert_int_equal(bans.count, 1);
	assert_int_equal(bans.taken[0].slot, 2);
}

static void start_anew(void)
{
	rf_fleet_bans_start(&bans, &settings, &line, &loop);
}

static void own_bans_are_not_taken_under_another_number(void **state)
{
	uint8_t again[sizeof(of_two_hosts)];

	(void)state;
	turn(3);
	answer(of_two_hosts, sizeof(of_two_hosts));
	start_anew();
	turn(5);
	answer(of_two_hosts, sizeof(of_two_hosts));
	assert_int_equal(bans.count, 1);
	assert_int_equal(bans.taken[0].slot, 2);
	/* A different host now has that number: its report is newer. */
	memcpy(again, of_two_hosts, sizeof(again));
	again[0] = again[sizeof(again) - 20] = 10;
	turn(5);
	answer(again, sizeof(again));
	assert_int_equal(bans.count, 2);
	assert_int_equal(bans.taken[1].slot, 3);
}

/* The same bans of an engine that counts from the beginning again. */
static void tell_as_forgotten(uint8_t again[sizeof(of_two_hosts)])
{
	memcpy(again, of_two_hosts, sizeof(of_two_hosts));
	again[0] = again[8] = again[sizeof(of_two_hosts) - 20] = 7;
}

static void an_engine_that_has_forgotten_knows_no_own_bans(void **state)
{
	uint8_t again[sizeof(of_two_hosts)];

	(void)state;
	turn(3);
	answer(of_two_hosts, sizeof(of_two_hosts));
	tell_as_forgotten(again);
	turn(5);
	answer(again, sizeof(again));
	turn(5);
	answer(again, sizeof(again));
	assert_int_equal(bans.count, 2);
}

static void so_is_one_that_has_forgotten_while_no_agent_ran(void **state)
{
	uint8_t again[sizeof(of_two_hosts)];

	(void)state;
	turn(3);
	answer(of_two_hosts, sizeof(of_two_hosts));
	start_anew();
	tell_as_forgotten(again);
	turn(5);
	answer(again, sizeof(again));
	turn(5);
	answer(again, sizeof(again));
	assert_int_equal(bans.count, 2); /* slot 3 belongs to a different host */
}

static void an_agent_that_ends_stores_which_bans_were_its_own(void **state)
{
	(void)state;
	stored = (struct rf_kept_bans){};
	turn(3);
	answer(of_two_hosts, sizeof(of_two_hosts));
	rf_fleet_bans_end(&bans);
	assert_int_equal(stored.own[0].slot, 3);
	assert_int_equal(stored.own[0].newest, 9);
}

static void numbers_are_remembered_four_at_most(void **state)
{
	struct rf_kept_bans kept = {};

	(void)state;
	for (uint32_t slot = 1; slot <= 6; slot++)
		assert_true(rf_kept_bans_note(&kept, slot, 10 + slot));
	assert_false(rf_kept_bans_note(&kept, 4, 14));
	assert_true(rf_kept_bans_note(&kept, 4, 20));
	assert_int_equal(kept.own[0].slot, 4);
	assert_int_equal(kept.own[0].newest, 20);
	assert_int_equal(kept.own[1].slot, 6);
	assert_int_equal(kept.own[2].slot, 5);
	assert_int_equal(kept.own[3].slot, 3);
}

/* ---- a command that reports a ban ---- */

static struct rf_claims claims;
static const struct rf_status_view view = {.claims = &claims, .bans = &bans, .news = &line};
static struct {
	uint64_t ticket; /* 0: no reply yet */
	char text[256];
} reply;

void rf_desk_reply(struct rf_desk *desk, uint64_t ticket, const char *text)
{
	(void)desk;
	reply.ticket = ticket;
	snprintf(reply.text, sizeof(reply.text), "%s", text);
}

/* The reply that comes immediately, if any; else `sent` has the call. */
static void command(uint64_t ticket, const char *question)
{
	bool later = false;
	char *text = rf_inquire(NULL, ticket, question, &view, &later);

	memset(&reply, 0, sizeof(reply));
	assert_int_equal(!text, later);
	if (text)
		rf_desk_reply(NULL, ticket, text);
	free(text);
}

#define NO_ANSWER (-1)

static void take_reply(int result)
{
	char bytes[] = {(char)result, '\0'}; /* as hiredis terminates each string */
	const redisReply of_server = {.type = REDIS_REPLY_STRING, .str = bytes, .len = 1};

	sent.answer(sent.data, result == NO_ANSWER ? NULL : &of_server);
}

static void a_ban_is_answered_once_the_fleet_has_it(void **state)
{
	const uint64_t told = bans.told;

	(void)state;
	command(7, "ban 1000 192.0.2.1");
	assert_int_equal(reply.ticket, 0);
	take_reply(RF_BAN_DONE);
	assert_int_equal(reply.ticket, 7);
	assert_string_equal(reply.text, "{\"schema\":2}");
	assert_int_equal(bans.told, told + 1);
	command(8, "ban 0 192.0.2.1"); /* its end */
	take_reply(RF_BAN_DONE);
	assert_int_equal(reply.ticket, 8);
	assert_int_equal(bans.told, told + 1);
}

static void a_ban_that_is_refused_has_the_reason(void **state)
{
	(void)state;
	command(7, "ban 1000 192.0.2.1");
	take_reply(RF_BAN_HOST_IS_FULL);
	assert_non_null(strstr(reply.text, "as many bans in the fleet as it may"));
	command(8, "ban 1000 192.0.2.1");
	take_reply(NO_ANSWER);
	assert_non_null(strstr(reply.text, "did not reply in time"));
	command(9, "ban 1000 192.0.2.1/8"); /* wider than any that hosts take */
	assert_non_null(strstr(reply.text, "the fleet takes no such ban"));
	command(9, "ban 1000");
	assert_non_null(strstr(reply.text, "the fleet takes no such ban"));
	sent.fails = true;
	command(9, "ban 1000 192.0.2.1");
	assert_non_null(strstr(reply.text, "not connected to the fleet server: "));
}

/* Another node has them, or the functions were missing: see link.h. */
static void refuse(void)
{
	const redisReply refusal = {.type = REDIS_REPLY_ERROR,
				    .str = (char *)"MOVED 1 192.0.2.9:1"};

	sent.answer(sent.data, &refusal);
}

static void what_is_refused_for_now_is_sent_again(void **state)
{
	uint32_t count;

	(void)state;
	command(7, "ban 1000 192.0.2.1");
	count = sent.count;
	sent.fails = true;
	refuse();
	rf_inquiries_turn(now);
	assert_int_equal(reply.ticket, 0);
	assert_int_equal(sent.count, count);
	sent.fails = false;
	rf_inquiries_turn(now);
	assert_int_equal(sent.count, count + 1);
	take_reply(RF_BAN_DONE);
	assert_string_equal(reply.text, "{\"schema\":2}");
}

static void but_not_forever(void **state)
{
	(void)state;
	command(7, "ban 1000 192.0.2.1");
	refuse();
	rf_inquiries_turn(UINT64_MAX);
	assert_int_equal(reply.ticket, 7);
	assert_non_null(strstr(reply.text, "did not reply in time"));
}

static void no_ban_has_a_node_of_the_engine_in_it(void **state)
{
	/* 203.0.113.1/32, 198.51.100.0/24 and 192.0.2.1/32, of slot 2 */
	static const uint8_t of_nodes[] = {
		9, 0,	 0, 0, 0,    0, 0,  0,	  7, 0,	  0,   0,  0,	0,   0, 0, 2,
		0, 0xe8, 3, 0, 0,    4, 32, 203,  0, 113, 1,   8,  0,	0,   0, 0, 0,
		0, 0,	 2, 0, 0xe8, 3, 0,  0,	  4, 24,  198, 51, 100, 0,   9, 0, 0,
		0, 0,	 0, 0, 0,    2, 0,  0xe8, 3, 0,	  0,   4,  32,	192, 0, 2, 1,
	};

	(void)state;
	turn(3);
	answer(of_nodes, sizeof(of_nodes));
	assert_int_equal(bans.refused[RF_BAN_OF_ENGINE], 2);
	assert_int_equal(bans.count, 1);
	assert_int_not_equal(bans.taken[0].until_ns, 0);
	cluster.node[2].id = ++cluster.ids; /* MOVED names it */
	turn(3);
	assert_int_equal(bans.refused[RF_BAN_OF_ENGINE], 3);
	assert_int_equal(bans.taken[0].until_ns, 0);
	assert_true(bans.is_dirty);
	cluster.node[2].id = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(none_is_asked_for_before_there_is_a_slot, start),
		cmocka_unit_test_setup(what_was_asked_for_with_a_slot_is_judged_with_it, start),
		cmocka_unit_test_setup(a_ban_is_answered_once_the_fleet_has_it, start),
		cmocka_unit_test_setup(a_ban_that_is_refused_has_the_reason, start),
		cmocka_unit_test_setup(what_is_refused_for_now_is_sent_again, start),
		cmocka_unit_test_setup(but_not_forever, start),
		cmocka_unit_test_setup(no_ban_has_a_node_of_the_engine_in_it, start),
		cmocka_unit_test_setup(own_bans_are_not_taken_under_another_number, start),
		cmocka_unit_test_setup(an_engine_that_has_forgotten_knows_no_own_bans, start),
		cmocka_unit_test_setup(so_is_one_that_has_forgotten_while_no_agent_ran, start),
		cmocka_unit_test_setup(an_agent_that_ends_stores_which_bans_were_its_own, start),
		cmocka_unit_test_setup(numbers_are_remembered_four_at_most, start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
