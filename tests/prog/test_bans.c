// SPDX-License-Identifier: GPL-2.0
/* Bans: which events they outlive, which packets they drop, and what lifts them. */
#include "program.h"

#include <linux/bpf.h>

#include "tests/unit/unit.h"

#define NET(a, b, c, d) ((uint32_t)(a) << 24 | (b) << 16 | (c) << 8 | (d))
#define BANNED NET(192, 0, 2, 1)
#define OTHERS NET(10, 0, 0, 0)
#define ROOM 512 /* for windows of each family: quickly full */
#define FLOOD (10 * ROOM + ROOM / 8)

static int setup(void **state)
{
	struct program *program = calloc(1, sizeof(*program));

	program_run_on(0);
	assert_non_null(program);
	program_open(program);
	program_set_room(program->object, ROOM, ROOM);
	program_load(program);
	program_set_time(program, START_NS);
	*state = program;
	return 0;
}

static bool passes(const struct program *program, uint32_t source, int protocol)
{
	struct frame4 frame = frame4_from(htonl(source));

	frame.ip.protocol = protocol;
	return program_run(program->object->progs.ringfence, &frame, sizeof(frame)) == XDP_PASS;
}

/* How many of `count` packets pass. */
static int burst(const struct program *program, uint32_t source, int protocol, int count)
{
	int passed = 0;

	for (int i = 0; i < count; i++)
		passed += passes(program, source, protocol);
	return passed;
}

static uint64_t reason_of(const struct program *program, enum rf_reason reason)
{
	return program_counters(program).reason[reason].packets;
}

/* Sends from enough other sources that only windows and leases in use remain. */
static void fill_windows(struct program *program, uint64_t now_ns)
{
	program_set_time(program, now_ns);
	for (int i = 0; i < FLOOD; i++)
		passes(program, OTHERS + i, IPPROTO_UDP);
}

static void fill_windows6(struct program *program, uint64_t now_ns)
{
	struct frame6 frame = frame6_from("2001:db8:ffff::1");

	program_set_time(program, now_ns);
	for (int i = 0; i < FLOOD; i++) {
		frame.ip.saddr.s6_addr32[0] = htonl(0x30000000 + i);
		program_run(program->object->progs.ringfence, &frame, sizeof(frame));
	}
}

static bool passes6(const struct program *program, const char *source, int protocol)
{
	struct frame6 frame = frame6_from(source);

	frame.ip.nexthdr = protocol;
	return program_run(program->object->progs.ringfence, &frame, sizeof(frame)) == XDP_PASS;
}

static int burst6(const struct program *program, const char *source, int protocol, int count)
{
	int passed = 0;

	for (int i = 0; i < count; i++)
		passed += passes6(program, source, protocol);
	return passed;
}

/* Lifts bans like 'ringfence unban', and returns how many. */
static int unban(const struct program *program, const char *text)
{
	struct rf_unban unban = {.all = strcmp(text, "all") == 0};
	struct rf_error error = {};

	if (!unban.all)
		assert_done(rf_parse_prefix(text, &unban.prefix, &error), &error);
	assert_done(rf_fence_unban(&program->fence, &unban, 1, true, &error), &error);
	return unban.bans;
}

static size_t count_bans(const struct program *program)
{
	struct rf_error error = {};
	struct rf_bans bans;
	size_t count;

	assert_done(rf_fence_bans(&program->fence, &bans, &error), &error);
	count = bans.count;
	rf_bans_free(&bans);
	return count;
}

/* Words of the table that are not free, with any contents. */
static int count_words(const struct program *program)
{
	int count = 0;

	for (unsigned int i = 0; i < RF_BANS_MAX; i++)
		count += program->fence.ban[i / RF_BAN_WAYS].word[i % RF_BAN_WAYS] >> 24 != 0;
	return count;
}

/* ---- events that a ban outlives ---- */

static void an_evicted_source_is_still_banned(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add any rate 5/1s ban 1h\n");
	assert_int_equal(burst(program, BANNED, IPPROTO_UDP, 20), 5);
	fill_windows(program, START_NS + 120 * NS_PER_S);
	assert_int_equal(program_source(program, "any", "192.0.2.1").dropped, 0);
	assert_int_equal(burst(program, BANNED, IPPROTO_UDP, 20), 0);
	assert_int_equal(reason_of(program, RF_BANNED), 14 + 20);
}

static void an_evicted_source_is_still_banned_by_one_of_two_limits(void **state)
{
	struct program *program = *state;
	const uint64_t inserts = 2 * FLOOD + 2;

	program_apply(program, "limit add udp rate 5/1s match udp ban 1h\n"
			       "limit add any rate 100/1s\n");
	assert_int_equal(burst(program, BANNED, IPPROTO_UDP, 20), 5);
	fill_windows(program, START_NS + 120 * NS_PER_S);
	assert_int_equal(program_source(program, "udp", "192.0.2.1").dropped, 0);
	assert_int_equal(burst(program, BANNED, IPPROTO_UDP, 20), 0);
	assert_int_equal(program_limit_counters_of(program, "udp").dropped.packets, 15 + 20);
	/* The flood made no windows for that source. */
	assert_int_equal(program_counters(program).inserts[0], inserts);
	assert_int_equal(burst(program, BANNED, IPPROTO_TCP, 20), 20);
}

static void an_evicted_network_is_still_banned(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add any rate 5/1s per6 /48 ban 1h\n");
	assert_int_equal(burst6(program, "2001:db8:1::1", IPPROTO_UDP, 20), 5);
	fill_windows6(program, START_NS + 120 * NS_PER_S);
	assert_int_equal(program_source(program, "any", "2001:db8:1::1").dropped, 0);
	assert_int_equal(burst6(program, "2001:db8:1:77::2", IPPROTO_UDP, 20), 0);
	assert_int_equal(burst6(program, "2001:db8:2::1", IPPROTO_UDP, 20), 5);
}

/* A source beyond the guard would pass. */
static void a_banned_source_is_no_newcomer(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add any rate 5/1s ban 1h\n");
	assert_int_equal(burst(program, BANNED, IPPROTO_UDP, 20), 5);
	fill_windows(program, START_NS + 120 * NS_PER_S);
	program_set_time(program, START_NS + 130 * NS_PER_S); /* they are idle now */
	program_apply(program, "limit add any rate 5/1s ban 1h\nnewcomers rate 1/10s then pass\n");
	assert_true(passes(program, NET(11, 0, 0, 1), IPPROTO_UDP));
	assert_int_equal(burst(program, BANNED, IPPROTO_UDP, 20), 0);
	assert_int_equal(reason_of(program, RF_NEWCOMER_PASS), 0);
	assert_int_equal(burst(program, NET(11, 0, 0, 2), IPPROTO_UDP, 20), 20);
	assert_int_equal(program_counters(program).newcomers_admitted, 1);
}

/* ---- all of a source's packets ---- */

static void ban_all_drops_every_packet_of_its_source(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add udp rate 5/1s match udp ban 10s all\n"
			       "limit add tcp rate 100/1s match tcp\n");
	assert_int_equal(burst(program, BANNED, IPPROTO_TCP, 3), 3);
	assert_int_equal(burst(program, BANNED, IPPROTO_ICMP, 3), 3);
	assert_int_equal(burst(program, BANNED, IPPROTO_UDP, 20), 5);
	program_set_time(program, START_NS + 50 * NS_PER_MS);
	assert_int_equal(burst(program, BANNED, IPPROTO_TCP, 20), 0);
	assert_int_equal(burst(program, BANNED, IPPROTO_ICMP, 20), 0);
	assert_int_equal(burst(program, BANNED + 1, IPPROTO_TCP, 20), 20);
	assert_int_equal(burst(program, BANNED + 1, IPPROTO_ICMP, 20), 20);
	assert_int_equal(reason_of(program, RF_BANNED), 14 + 40);
	assert_int_equal(program_limit_counters_of(program, "udp").dropped.packets, 15 + 40);
	assert_int_equal(program_source(program, "udp", "192.0.2.1").dropped, 15 + 40);
	program_set_time(program, START_NS + 11 * NS_PER_S);
	assert_int_equal(burst(program, BANNED, IPPROTO_TCP, 20), 20);
	assert_int_equal(burst(program, BANNED, IPPROTO_ICMP, 20), 20);
}

/* Even packets to which no limit applies are dropped, and the ban needs no window. */
static void ban_all_of_ipv6_outlives_its_window(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add udp rate 5/1s match udp ban 1h all\n");
	assert_int_equal(burst6(program, "2001:db8:1::1", IPPROTO_UDP, 20), 5);
	fill_windows6(program, START_NS + 120 * NS_PER_S);
	assert_int_equal(burst6(program, "2001:db8:1::2", IPPROTO_TCP, 20), 0);
	assert_int_equal(burst6(program, "2001:db8:1:1::2", IPPROTO_TCP, 20), 20);
}

/* Only sources to which the limit applies are banned. */
static void ban_all_bans_no_source_outside_from(void **state)
{
	struct program *program = *state;

	program_apply(program,
		      "limit add udp rate 5/1s match udp from 192.0.2.0/28 per /24 ban 1h all\n");
	assert_int_equal(burst(program, BANNED, IPPROTO_UDP, 20), 5);
	program_set_time(program, START_NS + NS_PER_S);
	assert_int_equal(burst(program, BANNED + 1, IPPROTO_TCP, 20), 0);
	assert_int_equal(burst(program, BANNED + 15, IPPROTO_TCP, 20), 20);
}

/* More limits than one packet can be charged to. */
static void each_of_many_limits_bans_all(void **state)
{
	struct program *program = *state;
	char rules[2048] = "";

	for (int i = 0; i < 12; i++)
		sprintf(rules + strlen(rules),
			"limit add p%d rate 5/1s match proto %d ban 1h all\n", i, 200 + i);
	program_apply(program, rules);
	for (int i = 0; i < 12; i++)
		assert_int_equal(burst(program, BANNED + i, 200 + i, 20), 5);
	program_set_time(program, START_NS + NS_PER_S);
	for (int i = 0; i < 12; i++) {
		assert_false(passes(program, BANNED + i, 200 + (i + 5) % 12));
		assert_false(passes(program, BANNED + i, IPPROTO_TCP));
	}
	assert_true(passes(program, BANNED + 12, IPPROTO_TCP));
	assert_int_equal(count_bans(program), 12);
}

static void allow_wins_over_all_bans(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add udp rate 5/1s match udp ban 1h all\n");
	assert_int_equal(burst(program, BANNED, IPPROTO_UDP, 20), 5);
	program_apply(program, "limit add udp rate 5/1s match udp ban 1h all\n"
			       "allow add 192.0.2.1\n");
	assert_int_equal(burst(program, BANNED, IPPROTO_UDP, 20), 20);
	assert_int_equal(burst(program, BANNED, IPPROTO_TCP, 20), 20);
	assert_int_equal(reason_of(program, RF_ALLOWED), 40);
	program_apply(program, "limit add udp rate 5/1s match udp ban 1h all\n");
	assert_int_equal(burst(program, BANNED, IPPROTO_TCP, 20), 0);
}

/* ---- within 50 ms, on every CPU, regardless of its leases ---- */

#define SOON_NS (50 * NS_PER_MS)

/* Rules under which TCP passes by a lease, of one kind or another. */
static void ban_all_ends_leases(struct program *program, const char *rules, int packets,
				bool of_credits)
{
	struct rf_source before;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		skip();
	program_apply(program, rules);
	program_run_on(1);
	assert_int_equal(burst(program, BANNED, IPPROTO_TCP, packets), packets);
	if (of_credits) { /* it holds some: spending them charges nothing */
		before = program_source(program, "tcp", "192.0.2.1");
		assert_int_not_equal(before.window.head % (1ULL << 32), packets);
	}
	program_run_on(0);
	assert_int_equal(burst(program, BANNED, IPPROTO_UDP, 20), 5);
	program_set_time(program, program->config->injected_ns + SOON_NS);
	program_run_on(1);
	assert_int_equal(burst(program, BANNED, IPPROTO_TCP, 20), 0);
	program_run_on(0);
	assert_int_equal(burst(program, BANNED, IPPROTO_TCP, 20), 0);
}

static void ban_all_ends_leases_of_no_limit(void **state)
{
	ban_all_ends_leases(*state, "limit add udp rate 5/1s match udp ban 1h all\n", 20, false);
}

static void ban_all_ends_credits(void **state)
{
	ban_all_ends_leases(*state,
			    "limit add udp rate 5/1s match udp ban 1h all\n"
			    "limit add tcp rate 1M/100s match tcp\n",
			    5003, true);
}

static void ban_all_ends_credits_of_several(void **state)
{
	ban_all_ends_leases(*state,
			    "limit add udp rate 5/1s match udp ban 1h all\n"
			    "limit add tcp rate 1M/100s match tcp\n"
			    "limit add any rate 10M/100s\n",
			    5000, true);
}

static void ban_all_ends_leases_of_shadows(void **state)
{
	ban_all_ends_leases(*state,
			    "limit add udp rate 5/1s match udp ban 1h all\n"
			    "limit add tcp rate 3/1h match tcp shadow\n",
			    20, false);
}

static void ban_all_ends_leases_of_several_shadows(void **state)
{
	ban_all_ends_leases(*state,
			    "limit add udp rate 5/1s match udp ban 1h all\n"
			    "limit add tcp rate 3/1h match tcp shadow\n"
			    "limit add any rate 3/1h shadow\n",
			    20, false);
}

/* The source's excess is long over: only the ban still refuses it. */
static void unban_holds_everywhere(struct program *program, const char *rules, const char *whom)
{
	const int cpus = sysconf(_SC_NPROCESSORS_ONLN) > 1 ? 2 : 1;

	program_apply(program, rules);
	assert_int_equal(burst(program, BANNED, IPPROTO_UDP, 20), 5);
	assert_int_equal(burst(program, BANNED + 256, IPPROTO_UDP, 20), 5);
	assert_int_equal(burst6(program, "2001:db8:1::1", IPPROTO_UDP, 20), 5);
	program_set_time(program, START_NS + 10 * NS_PER_S);
	for (int cpu = 0; cpu < cpus; cpu++) {
		program_run_on(cpu);
		assert_int_equal(burst(program, BANNED, IPPROTO_UDP, 20), 0);
		assert_int_equal(burst(program, BANNED + 256, IPPROTO_UDP, 20), 0);
		assert_int_equal(burst6(program, "2001:db8:1::1", IPPROTO_UDP, 20), 0);
	}
	assert_int_equal(count_bans(program), 3);
	assert_int_equal(unban(program, whom), strcmp(whom, "all") ? 1 : 3);
	assert_int_equal(count_bans(program), strcmp(whom, "all") ? 2 : 0);
	program_set_time(program, START_NS + 10 * NS_PER_S + SOON_NS);
	for (int cpu = 0; cpu < cpus; cpu++) {
		program_run_on(cpu);
		assert_int_equal(burst(program, BANNED, IPPROTO_UDP, 2), 2);
		assert_int_equal(burst(program, BANNED + 256, IPPROTO_UDP, 2),
				 strcmp(whom, "all") ? 0 : 2);
	}
	/* And again. */
	assert_int_equal(burst(program, BANNED, IPPROTO_UDP, 20), 5 - 2 * cpus);
	program_set_time(program, START_NS + 20 * NS_PER_S);
	assert_int_equal(burst(program, BANNED, IPPROTO_UDP, 20), 0);
}

static void unban_holds_on_every_cpu(void **state)
{
	unban_holds_everywhere(*state, "limit add udp rate 5/1s match udp ban 1h\n", "192.0.2.1");
}

static void unban_holds_for_a_network(void **state)
{
	unban_holds_everywhere(*state, "limit add udp rate 5/1s match udp ban 1h all\n",
			       "192.0.2.0/24");
}

static void unban_of_an_address_holds_for_its_banned_network(void **state)
{
	unban_holds_everywhere(*state,
			       "limit add udp rate 5/1s match udp per /24 ban 1h\n"
			       "limit add any rate 1k/1s\n",
			       "192.0.2.77");
}

static void unban_holds_for_all(void **state)
{
	unban_holds_everywhere(*state, "limit add udp rate 5/1s match udp ban 1h all\n", "all");
}

static void unban_of_a_source_without_ban_ends_nothing(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add any rate 5/1s ban 1h\n");
	assert_int_equal(unban(program, "all"), 0);
	assert_int_equal(burst(program, BANNED, IPPROTO_UDP, 20), 5);
	assert_int_equal(unban(program, "192.0.2.2"), 0);
	assert_int_equal(unban(program, "2001:db8::/32"), 0);
	program_set_time(program, START_NS + 10 * NS_PER_S);
	assert_int_equal(burst(program, BANNED, IPPROTO_UDP, 20), 0);
}

/* ---- the table ---- */

/* Fills every place with other sources' bans, until a time in jiffies. */
static void fill_table(struct program *program, uint64_t until)
{
	for (unsigned int i = 0; i < RF_BANS_MAX; i++) {
		struct rf_ban_set *set = &program->fence.ban[i / RF_BAN_WAYS];

		set->ban[i % RF_BAN_WAYS] =
			(struct rf_ban){.source = {i}, .whose = (__u64)0xffffff << 1};
		set->word[i % RF_BAN_WAYS] = until << 24 | (__u64)(i & 0xff) << 16;
	}
}

static void a_full_table_makes_no_new_ban_and_counts_it(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add any rate 5/1s ban 1h\n");
	fill_table(program, (START_NS + 100 * NS_PER_S) / TICK_NS);
	assert_int_equal(burst(program, BANNED, IPPROTO_UDP, 20), 5);
	/* The source remains over its limit, but is not refused for longer. */
	assert_int_equal(reason_of(program, RF_OVER_LIMIT), 15);
	assert_int_equal(reason_of(program, RF_BANNED), 0);
	assert_int_equal(program_counters(program).bans_refused, 1); /* the others by its lease */
	program_set_time(program, START_NS + 10 * NS_PER_S);
	assert_int_equal(burst(program, BANNED, IPPROTO_UDP, 20), 5);
	assert_int_equal(program_counters(program).bans_refused, 2);
	/* No other source's ban was evicted for it. */
	assert_int_equal(count_words(program), RF_BANS_MAX);
}

static void bans_that_are_over_make_room(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add any rate 5/1s ban 1h\n");
	fill_table(program, (START_NS + 100 * NS_PER_S) / TICK_NS);
	program_set_time(program, START_NS + 100 * NS_PER_S);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(burst(program, BANNED + i, IPPROTO_UDP, 7), 5);
	assert_int_equal(program_counters(program).bans_refused, 0);
	assert_int_equal(count_bans(program), 1000);
	program_set_time(program, START_NS + 200 * NS_PER_S);
	for (int i = 0; i < 1000; i++)
		assert_false(passes(program, BANNED + i, IPPROTO_UDP));
}

static void bans_of_deleted_limits_make_room(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add any rate 5/1s ban 1h\n");
	for (int i = 0; i < 100; i++)
		burst(program, BANNED + i, IPPROTO_UDP, 7);
	assert_int_equal(count_words(program), 100);
	program_apply(program, "limit add any rate 6/1s ban 2h\n"); /* the same one */
	assert_int_equal(count_words(program), 100);
	program_apply_unconfirmed(program, "limit add any rate 6/1s\n", 10 * NS_PER_S);
	assert_int_equal(count_words(program), 100); /* they may yet be back */
	program_set_time(program, START_NS + 20 * NS_PER_S);
	assert_int_equal(burst(program, BANNED, IPPROTO_UDP, 7), 0);
	program_apply(program, "limit add any rate 6/1s\n");
	assert_int_equal(count_words(program), 0);
	assert_int_equal(burst(program, BANNED, IPPROTO_UDP, 7), 6);
}

static void bans_are_listed(void **state)
{
	struct program *program = *state;
	struct rf_error error = {};
	const struct rf_ban_row *row;
	struct rf_bans bans;

	program_apply(program, "limit add udp rate 5/1s match udp ban 10s\n"
			       "limit add tcp rate 5/1s match tcp per /24 ban 1h all\n");
	burst6(program, "2001:db8::1", IPPROTO_UDP, 20);
	burst(program, BANNED + 1, IPPROTO_UDP, 20);
	program_set_time(program, START_NS + 2 * NS_PER_S);
	burst(program, BANNED, IPPROTO_TCP, 20);
	program_set_time(program, START_NS + 4 * NS_PER_S);
	assert_done(rf_fence_bans(&program->fence, &bans, &error), &error);
	assert_int_equal(bans.count, 3);
	row = &bans.row[0];
	assert_int_equal(row->source.word[0], htonl(NET(192, 0, 2, 0)));
	assert_string_equal(row->limit->name, "tcp");
	assert_int_equal(row->since, (START_NS + 2 * NS_PER_S) / TICK_NS);
	assert_int_equal(row->until, row->since + program_policy_of(program, "tcp")->ban);
	row = &bans.row[1];
	assert_int_equal(row->source.word[0], htonl(BANNED + 1));
	assert_string_equal(row->limit->name, "udp");
	assert_int_equal(row->since, START_NS / TICK_NS);
	assert_int_equal(bans.row[2].source.version, 6);
	rf_bans_free(&bans);
	program_set_time(program, START_NS + 12 * NS_PER_S);
	assert_int_equal(count_bans(program), 1);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, program_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_evicted_source_is_still_banned),
		TEST(an_evicted_source_is_still_banned_by_one_of_two_limits),
		TEST(an_evicted_network_is_still_banned),
		TEST(a_banned_source_is_no_newcomer),
		TEST(ban_all_drops_every_packet_of_its_source),
		TEST(ban_all_of_ipv6_outlives_its_window),
		TEST(ban_all_bans_no_source_outside_from),
		TEST(each_of_many_limits_bans_all),
		TEST(allow_wins_over_all_bans),
		TEST(ban_all_ends_leases_of_no_limit),
		TEST(ban_all_ends_credits),
		TEST(ban_all_ends_credits_of_several),
		TEST(ban_all_ends_leases_of_shadows),
		TEST(ban_all_ends_leases_of_several_shadows),
		TEST(unban_holds_on_every_cpu),
		TEST(unban_holds_for_a_network),
		TEST(unban_of_an_address_holds_for_its_banned_network),
		TEST(unban_holds_for_all),
		TEST(unban_of_a_source_without_ban_ends_nothing),
		TEST(a_full_table_makes_no_new_ban_and_counts_it),
		TEST(bans_that_are_over_make_room),
		TEST(bans_of_deleted_limits_make_room),
		TEST(bans_are_listed),
	};

	return cmocka_run_group_tests_name("bans", tests, NULL, NULL);
}
