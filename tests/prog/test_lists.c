// SPDX-License-Identifier: GPL-2.0
/*
 * Lists, `from` and switches of rules: which sources pass or are dropped, by which rule, until
 * when; and that no lease outlives an entry or a rule.
 */
#include "program.h"

#include <linux/bpf.h>
#include <stdio.h>

#include "ringfence/limiter.h"
#include "tests/unit/unit.h"

#define MANY 10000

/* How many of `count` pass. */
static int burst(const struct program *program, const char *source, int count)
{
	int passed = 0;

	for (int i = 0; i < count; i++) {
		if (strchr(source, ':')) {
			struct frame6 frame = frame6_from(source);

			passed += program_run(program->object->progs.ringfence, &frame,
					      sizeof(frame)) == XDP_PASS;
		} else {
			struct frame4 frame = frame4_from(inet_addr(source));

			passed += program_run(program->object->progs.ringfence, &frame,
					      sizeof(frame)) == XDP_PASS;
		}
	}
	return passed;
}

static uint64_t reason_of(const struct program *program, enum rf_reason reason)
{
	return program_counters(program).reason[reason].packets;
}

/* The single reason of three packets: the lists or a limit decide first, then a lease. */
static enum rf_reason reason_for(const struct program *program, const char *source)
{
	const struct rf_counters before = program_counters(program);
	enum rf_reason reason = RF_REASON_COUNT;
	struct rf_counters after;
	int passed = burst(program, source, 3);

	after = program_counters(program);
	for (int i = 0; i < RF_REASON_COUNT; i++) {
		if (after.reason[i].packets == before.reason[i].packets)
			continue;
		assert_int_equal(after.reason[i].packets, before.reason[i].packets + 3);
		reason = i;
	}
	assert_int_equal(passed, reason >= RF_FIRST_DROP ? 0 : 3);
	return reason;
}

/* ---- allow and deny ---- */

static void allow_wins_at_any_length(void **state)
{
	struct program *program = *state;

	program_apply(program, "allow add 10.0.0.0/8\n"
			       "deny add 10.1.0.0/16\n"
			       "deny add 192.0.2.0/24\n"
			       "allow add 192.0.2.7\n"
			       "allow add 203.0.113.9\n"
			       "deny add 203.0.113.9\n");
	assert_int_equal(reason_for(program, "10.1.2.3"), RF_ALLOWED);
	assert_int_equal(reason_for(program, "10.2.0.1"), RF_ALLOWED);
	assert_int_equal(reason_for(program, "192.0.2.8"), RF_DENIED);
	assert_int_equal(reason_for(program, "192.0.2.7"), RF_ALLOWED);
	assert_int_equal(reason_for(program, "203.0.113.9"), RF_ALLOWED);
	assert_int_equal(reason_for(program, "203.0.113.8"), RF_NO_LIMIT);
	assert_int_equal(reason_for(program, "2001:db8::1"), RF_NO_LIMIT);
}

static void lists_apply_to_ipv6(void **state)
{
	struct program *program = *state;

	program_apply(program, "deny add 2001:db8::/32\n"
			       "allow add 2001:db8:1::/48\n"
			       "deny add 2001:db8:1:2::/64\n"
			       "deny add ::1\n");
	assert_int_equal(reason_for(program, "2001:db8:7::1"), RF_DENIED);
	assert_int_equal(reason_for(program, "2001:db8:1:2::1"), RF_ALLOWED);
	assert_int_equal(reason_for(program, "2001:db9::1"), RF_NO_LIMIT);
	assert_int_equal(reason_for(program, "::1"), RF_DENIED);
	assert_int_equal(reason_for(program, "::2"), RF_NO_LIMIT);
	assert_int_equal(reason_for(program, "192.0.2.1"), RF_NO_LIMIT);
}

static void a_prefix_of_length_0_matches_every_source(void **state)
{
	struct program *program = *state;

	program_apply(program, "deny add 0.0.0.0/0\nallow add 192.0.2.1\n");
	assert_int_equal(reason_for(program, "192.0.2.2"), RF_DENIED);
	assert_int_equal(reason_for(program, "255.255.255.255"), RF_DENIED);
	assert_int_equal(reason_for(program, "192.0.2.1"), RF_ALLOWED);
	assert_int_equal(reason_for(program, "2001:db8::1"), RF_NO_LIMIT);
	program_apply(program, "deny add ::/0\n");
	assert_int_equal(reason_for(program, "2001:db8::1"), RF_DENIED);
	assert_int_equal(reason_for(program, "192.0.2.2"), RF_NO_LIMIT);
}

/* Lists are evaluated first, and their verdicts are charged to no limit. */
static void a_listed_source_is_charged_to_no_limit(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add any rate 5/10s\n"
			       "allow add 192.0.2.1\ndeny add 192.0.2.2\n");
	assert_int_equal(burst(program, "192.0.2.1", 20), 20);
	assert_int_equal(burst(program, "192.0.2.2", 20), 0);
	assert_int_equal(burst(program, "192.0.2.3", 20), 5);
	assert_int_equal(program_limit_counters(program).passed.packets, 5);
	assert_int_equal(program_limit_counters(program).dropped.packets, 15);
	assert_int_equal(reason_of(program, RF_ALLOWED), 20);
	assert_int_equal(reason_of(program, RF_DENIED), 20);
	assert_int_equal(program_source(program, "any", "192.0.2.1").passed, 0);
}

/* ---- expiry ---- */

static void assert_ends(struct program *program, const char *source, enum rf_reason before,
			enum rf_reason after, uint64_t end_jiffies)
{
	program_set_time(program, end_jiffies * TICK_NS - 1);
	assert_int_equal(reason_for(program, source), before);
	program_set_time(program, end_jiffies * TICK_NS);
	assert_int_equal(reason_for(program, source), after);
}

/* Rounded up, to the jiffy after. */
static uint64_t end_of(uint64_t seconds)
{
	return (START_NS + seconds * NS_PER_S) / TICK_NS + 1;
}

static void an_entry_ends_on_time_and_no_lease_outlives_it(void **state)
{
	struct program *program = *state;

	program_apply(program, "deny add 192.0.2.1 for 10s\n"
			       "allow add 192.0.2.2 for 20s\n"
			       "deny add 2001:db8::/64 for 30s\n");
	assert_int_equal(burst(program, "192.0.2.1", 5), 0);
	assert_int_equal(reason_for(program, "192.0.2.2"), RF_ALLOWED);
	assert_int_equal(reason_for(program, "2001:db8::1"), RF_DENIED);
	assert_ends(program, "192.0.2.1", RF_DENIED, RF_NO_LIMIT, end_of(10));
	assert_int_equal(reason_for(program, "192.0.2.2"), RF_ALLOWED);
	assert_ends(program, "192.0.2.2", RF_ALLOWED, RF_NO_LIMIT, end_of(20));
	assert_ends(program, "2001:db8::1", RF_DENIED, RF_NO_LIMIT, end_of(30));
}

/* A prefix that an entry hid, longer or shorter, applies again when the entry expires. */
static void nested_entries_end_each_at_its_time(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add any rate 1k/10s\n"
			       "deny add 10.0.0.0/8 for 30s\n"
			       "allow add 10.1.0.0/16 for 20s\n"
			       "deny add 10.1.1.0/24 for 10s\n"
			       "allow add 10.1.1.1 for 10s\n"
			       "deny add 172.16.0.0/12 for 10s\n"
			       "allow add 172.16.1.0/24 for 20s\n");
	assert_int_equal(reason_for(program, "10.1.1.1"), RF_ALLOWED);
	assert_int_equal(reason_for(program, "172.16.1.1"), RF_ALLOWED);
	assert_int_equal(reason_for(program, "172.16.2.1"), RF_DENIED);
	assert_ends(program, "172.16.2.1", RF_DENIED, RF_UNDER_LIMIT, end_of(10));
	assert_int_equal(reason_for(program, "10.1.1.1"), RF_ALLOWED);
	assert_ends(program, "10.1.1.1", RF_ALLOWED, RF_DENIED, end_of(20));
	assert_int_equal(reason_for(program, "172.16.1.1"), RF_UNDER_LIMIT);
	assert_int_equal(reason_for(program, "10.1.0.1"), RF_DENIED);
	assert_ends(program, "10.1.1.1", RF_DENIED, RF_UNDER_LIMIT, end_of(30));
}

/* A denied flood is handled by leases, which expire with the entry to the jiffy. */
static void packets_denied_by_a_lease_are_all_counted(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add any rate 5/10s\ndeny add 192.0.2.0/24 for 1s\n");
	for (int i = 0; i < 300; i++) {
		program_set_time(program, START_NS + i * TICK_NS);
		burst(program, "192.0.2.1", 7);
	}
	assert_int_equal(reason_of(program, RF_DENIED), 251 * 7);
	assert_int_equal(reason_of(program, RF_UNDER_LIMIT), 5);
	assert_int_equal(reason_of(program, RF_OVER_LIMIT), 49 * 7 - 5);
	assert_int_equal(program_packets(program), 300 * 7);
}

/* ---- within a /64 ---- */

/* A lease covers a whole /64, so a /64 whose addresses differ gets no lease. */
static void one_address_of_a_64_is_told_from_the_others(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add any rate 1k/10s\n"
			       "deny add 2001:db8::7\n"
			       "allow add 2001:db8:0:1::/65\n"
			       "limit add one rate 3/10s from 2001:db8:0:2::9\n");
	for (int round = 0; round < 3; round++) {
		assert_int_equal(reason_for(program, "2001:db8::7"), RF_DENIED);
		assert_int_equal(reason_for(program, "2001:db8::8"), RF_UNDER_LIMIT);
		assert_int_equal(reason_for(program, "2001:db8:0:1::1"), RF_ALLOWED);
		assert_int_equal(reason_for(program, "2001:db8:0:1:8000::1"), RF_UNDER_LIMIT);
		assert_int_equal(reason_for(program, "2001:db8:0:2::8"), RF_UNDER_LIMIT);
		assert_int_equal(burst(program, "2001:db8:0:2::9", 4), round ? 0 : 3);
	}
	assert_int_equal(program_limit_counters_of(program, "one").dropped.packets, 9);
	assert_int_equal(program_limit_counters_of(program, "any").passed.packets, 27);
}

/* ---- from ---- */

static void the_limit_with_the_longest_from_applies(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add any rate 2/10s\n"
			       "limit add wide rate 4/10s from 10.0.0.0/8,2001:db8::/32\n"
			       "limit add near rate 6/10s from 10.1.0.0/16,2001:db8:1::/48\n"
			       "limit add one rate 8/10s from 10.1.1.1,10.2.2.2\n"
			       "limit add net rate 9/10s per /24\n");
	assert_int_equal(burst(program, "192.0.2.1", 20), 2);
	assert_int_equal(burst(program, "10.9.9.9", 20), 4);
	assert_int_equal(burst(program, "10.1.9.9", 20), 6);
	assert_int_equal(burst(program, "10.1.1.1", 20), 8);
	assert_int_equal(burst(program, "10.2.2.2", 20), 8);
	assert_int_equal(burst(program, "2001:db8::1", 20), 4);
	assert_int_equal(burst(program, "2001:db8:1::1", 20), 6);
	assert_int_equal(burst(program, "2001:db9::1", 20), 2);
	assert_int_equal(program_limit_counters_of(program, "wide").passed.packets, 8);
	assert_int_equal(program_limit_counters_of(program, "one").passed.packets, 16);
	/* A limit with another grouping is another kind of limit, so it also applies. */
	assert_int_equal(program_limit_counters_of(program, "net").passed.packets, 40);
}

/* Every other address of about a /15 from 10.0.0.0 on, as single addresses. */
static char *many_from(const char *head, const char *tail)
{
	char *text = malloc(MANY * 20 + 1024), *at = text;

	assert_non_null(text);
	at += sprintf(at, "%s", head);
	for (int i = 0; i < MANY; i++)
		at += sprintf(at, "%s10.%d.%d.%d", i ? "," : "", i * 2 >> 16, i * 2 >> 8 & 255,
			      i * 2 & 255);
	sprintf(at, "%s", tail);
	return text;
}

static void a_limit_applies_to_ten_thousand_prefixes(void **state)
{
	char *text = many_from("limit add any rate 2/10s\nlimit add some rate 3/10s from ", "\n");
	struct program *program = *state;
	uint64_t random = unit_seed();

	program_apply(program, text);
	free(text);
	for (int i = 0; i < 500; i++) {
		uint32_t number = i < 4 ? (uint32_t[]){0, 1, 2 * MANY - 1, 2 * MANY}[i]
					: 5 + unit_below(&random, 4 * MANY);
		struct in_addr address = {htonl(0x0a000000 + number)};
		bool is_named = number % 2 == 0 && number < 2 * MANY;
		int passed = burst(program, inet_ntoa(address), 4);

		/* It might have been requested before. */
		if (passed)
			assert_int_equal(passed, is_named ? 3 : 2);
	}
}

/* ---- a switch ---- */

static void leases_end_with_the_rules_they_followed_from(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add any rate 5/10s\n");
	assert_int_equal(burst(program, "192.0.2.1", 50), 5);
	assert_int_equal(burst(program, "192.0.2.2", 50), 5);
	program_apply(program, "limit add any rate 5/10s\nallow add 192.0.2.1\n");
	assert_int_equal(burst(program, "192.0.2.1", 50), 50);
	assert_int_equal(burst(program, "192.0.2.2", 50), 0);
	program_apply(program, "limit add any rate 5/10s\ndeny add 192.0.2.1\n");
	assert_int_equal(reason_for(program, "192.0.2.1"), RF_DENIED);
	program_apply(program, "limit add any rate 5/10s\n");
	assert_int_equal(reason_for(program, "192.0.2.1"), RF_OVER_LIMIT);
	program_apply(program, "newcomers off\n");
	assert_int_equal(reason_for(program, "192.0.2.1"), RF_NO_LIMIT);
	assert_int_equal(reason_of(program, RF_OVER_LIMIT), 45 + 45 + 50 + 3);
	assert_int_equal(reason_of(program, RF_ALLOWED), 50);
	assert_int_equal(program_packets(program), 100 + 100 + 9);
}

/* ---- deadlines ---- */

/* Pending counts go to the limits that they belong to, regardless of the active rules. */
static void unconfirmed_rules_are_reverted_in_time(void **state)
{
	struct program *program = *state;
	uint64_t deadline;

	program_apply(program, "limit add any rate 10/1h\nlimit add udp rate 100/1h match udp\n");
	assert_int_equal(burst(program, "192.0.2.1", 4), 4);
	program_apply_unconfirmed(program,
				  "limit add any rate 20/1h\nlimit add other rate 1k/1h match udp\n"
				  "deny add 192.0.2.9\n",
				  60 * NS_PER_S);
	deadline = program->config->bank[program->config->active & 1].deadline;
	assert_int_equal(deadline, end_of(60));
	assert_int_equal(burst(program, "192.0.2.1", 50), 16);
	assert_int_equal(reason_for(program, "192.0.2.9"), RF_DENIED);
	program_set_time(program, deadline * TICK_NS - 1);
	assert_int_equal(reason_for(program, "192.0.2.9"), RF_DENIED);
	assert_int_equal(burst(program, "192.0.2.1", 5), 0);
	assert_int_equal(program_limit_counters_of(program, "any").passed.packets, 20);
	assert_int_equal(program_limit_counters_of(program, "any").dropped.packets, 39);
	assert_int_equal(program_limit_counters_of(program, "other").passed.packets, 16);
	program_set_time(program, deadline * TICK_NS);
	assert_int_equal(rf_fence_standing(&program->fence).state, RF_REVERTED);
	assert_int_equal(reason_for(program, "192.0.2.9"), RF_UNDER_LIMIT);
	assert_int_equal(burst(program, "192.0.2.1", 5), 0); /* its window is retained */
	assert_int_equal(program_limit_counters_of(program, "any").passed.packets, 23);
	assert_int_equal(program_limit_counters_of(program, "any").dropped.packets, 44);
	assert_int_equal(program_limit_counters_of(program, "udp").passed.packets, 7);
	assert_int_equal(program_limit_counters_of(program, "udp").dropped.packets, 0);
	assert_int_equal(program_source(program, "any", "192.0.2.1").passed, 20);
	assert_int_equal(program_packets(program), 4 + 50 + 3 + 3 + 5 + 3 + 5);
	/* The next commit settles the revert, and changes none of these counts. */
	program_apply(program, "limit add any rate 10/1h\nlimit add udp rate 100/1h match udp\n");
	assert_int_equal(program_limit_counters_of(program, "any").dropped.packets, 44);
	assert_int_equal(program_limit_counters_of(program, "udp").passed.packets, 7);
	assert_int_equal(burst(program, "192.0.2.1", 1), 0);
}

/* Credits of unconfirmed rules are void; packets that passed on them are not lost. */
static void credits_end_at_the_deadline_of_a_revert(void **state)
{
	struct program *program = *state;
	uint64_t deadline;

	program_apply(program, "limit add any rate 100k/1s\n");
	program_apply_unconfirmed(program, "limit add any rate 100k/1s\nlimit add two rate 1M/1s\n",
				  10 * NS_PER_S);
	deadline = program->config->bank[program->config->active & 1].deadline;
	program_set_time(program, (deadline - 1) * TICK_NS);
	assert_int_equal(burst(program, "192.0.2.1", 5000), 5000);
	program_set_time(program, deadline * TICK_NS);
	assert_int_equal(program_limit_counters_of(program, "any").passed.packets, 5000);
	assert_int_equal(burst(program, "192.0.2.1", 5000), 5000);
	assert_int_equal(program_limit_counters_of(program, "any").passed.packets, 10000);
	assert_int_equal(program_source(program, "any", "192.0.2.1").passed, 10000);
	assert_int_equal(reason_of(program, RF_UNDER_LIMIT), 10000);
}

/*
 * Under unconfirmed rules the limit has other windows; their refusals do not reach the old windows.
 */
static void windows_of_a_revert_leave_the_old_ones_alone(void **state)
{
	struct program *program = *state;
	uint64_t deadline;

	program_apply(program, "limit add any rate 10/1h\n");
	assert_int_equal(burst(program, "192.0.2.1", 4), 4);
	program_apply_unconfirmed(program, "limit add any rate 20/2h\n", 60 * NS_PER_S);
	deadline = program->config->bank[program->config->active & 1].deadline;
	assert_int_equal(burst(program, "192.0.2.1", 50), 20);
	assert_int_equal(program_source(program, "any", "192.0.2.1").dropped, 30);
	program_set_time(program, deadline * TICK_NS);
	assert_int_equal(program_source(program, "any", "192.0.2.1").passed, 4);
	assert_int_equal(program_source(program, "any", "192.0.2.1").dropped, 0);
	assert_int_equal(burst(program, "192.0.2.1", 50), 6);
	assert_int_equal(program_source(program, "any", "192.0.2.1").passed, 10);
	assert_int_equal(program_source(program, "any", "192.0.2.1").dropped, 44);
	assert_int_equal(program_limit_counters_of(program, "any").passed.packets, 30);
	assert_int_equal(program_limit_counters_of(program, "any").dropped.packets, 74);
	assert_int_equal(reason_of(program, RF_OVER_LIMIT), 74);
}

static uint64_t deadline_of(const struct program *program)
{
	return program->config->bank[program->config->active & 1].deadline * TICK_NS;
}

/* The same after the next command has settled the revert. */
static void windows_of_a_revert_are_not_used_by_later_rules(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add any rate 10/1h\n");
	assert_int_equal(burst(program, "192.0.2.1", 4), 4);
	program_apply_unconfirmed(program, "limit add any rate 20/2h\n", 60 * NS_PER_S);
	assert_int_equal(burst(program, "192.0.2.1", 50), 20);
	program_set_time(program, deadline_of(program));
	program_apply(program, "limit add any rate 10/1h\n");
	assert_int_equal(program_source(program, "any", "192.0.2.1").dropped, 0);
}

/* The pending counts of an unconfirmed shadow share a word with the ban of the restored limit. */
static void unconfirmed_rules_do_not_prolong_a_ban(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add any rate 3/1s ban 10s\n");
	assert_int_equal(burst(program, "192.0.2.1", 5), 3);
	program_apply_unconfirmed(program, "limit add any rate 3/1m shadow\n", 2 * NS_PER_S);
	assert_int_equal(burst(program, "192.0.2.1", 3000), 3000);
	program_set_time(program, deadline_of(program));
	program_apply(program, "limit add any rate 3/1s ban 10s\n");
	for (int i = 11; i < 19; i++) {
		program_set_time(program, START_NS + i * NS_PER_S);
		assert_int_equal(burst(program, "192.0.2.1", 1), 1);
	}
}

static void a_limit_that_a_revert_lacks_keeps_its_pending_counts(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add any rate 1k/1h\nlimit add udp rate 10/1h match udp\n");
	assert_int_equal(burst(program, "192.0.2.1", 50), 10);
	assert_int_equal(program_limit_counters_of(program, "udp").dropped.packets, 40);
	program_apply_unconfirmed(program, "limit add any rate 1k/1h\n", 2 * NS_PER_S);
	assert_int_equal(burst(program, "192.0.2.1", 1), 1);
	program_set_time(program, deadline_of(program));
	assert_int_equal(program_limit_counters_of(program, "udp").dropped.packets, 40);
}

static void confirmed_rules_stay(void **state)
{
	struct program *program = *state;
	struct rf_standing before;
	struct rf_error error = {};

	program_apply(program, "limit add any rate 10/1h\n");
	program_apply_unconfirmed(program, "limit add any rate 5/1h\n", 10 * NS_PER_S);
	assert_int_equal(burst(program, "192.0.2.1", 20), 5);
	assert_done(rf_fence_confirm(&program->fence, &before, &error), &error);
	assert_int_equal(before.state, RF_PENDING);
	program_set_time(program, START_NS + 100 * NS_PER_S);
	assert_int_equal(burst(program, "192.0.2.1", 20), 0);
}

static void a_revert_takes_effect_immediately(void **state)
{
	struct program *program = *state;
	struct rf_error error = {};

	program_apply(program, "limit add any rate 10/1h\n");
	assert_int_equal(rf_fence_revert(&program->fence, &error), -ENOENT);
	program_apply_unconfirmed(program, "limit add any rate 5/1h\n", 10 * NS_PER_S);
	assert_int_equal(burst(program, "192.0.2.1", 20), 5);
	assert_done(rf_fence_revert(&program->fence, &error), &error);
	assert_int_equal(rf_fence_standing(&program->fence).state, RF_REVERTED);
	assert_int_equal(burst(program, "192.0.2.2", 20), 10);
	assert_int_equal(rf_fence_revert(&program->fence, &error), -ENOENT);
	program_apply(program, "limit add any rate 7/1h\n");
	assert_int_equal(burst(program, "192.0.2.3", 20), 7);
}

/* As after 'attach … confirm': until the deadline the rules apply, and then everything passes. */
static void an_attach_that_is_not_confirmed_passes_everything(void **state)
{
	struct program *program = *state;
	const uint64_t deadline = end_of(60);
	struct rf_error error = {};

	program->config->bank[0].deadline = deadline;
	program->config->bank[0].fallback = RF_FALL_OPEN;
	program_apply(program, "limit add any rate 5/1h\ndeny add 192.0.2.2\n");
	assert_int_equal(burst(program, "192.0.2.1", 20), 5);
	assert_int_equal(reason_for(program, "192.0.2.2"), RF_DENIED);
	assert_int_equal(rf_fence_revert(&program->fence, &error), -ENOENT);
	assert_non_null(strstr(error.text, "'ringfence detach "));
	program_set_time(program, deadline * TICK_NS - 1);
	assert_int_equal(burst(program, "192.0.2.1", 20), 0);
	program_set_time(program, deadline * TICK_NS);
	assert_int_equal(reason_for(program, "192.0.2.1"), RF_UNCONFIRMED);
	assert_int_equal(reason_for(program, "192.0.2.2"), RF_UNCONFIRMED);
	assert_int_equal(reason_for(program, "2001:db8::1"), RF_UNCONFIRMED);
	assert_int_equal(rf_fence_standing(&program->fence).state, RF_EXPIRED);
	assert_int_equal(program_limit_counters(program).dropped.packets, 35);
	assert_int_equal(program_limit_counters(program).passed.packets, 5);
	assert_int_equal(reason_of(program, RF_OVER_LIMIT), 35);
}

#define TEST(function) \
	cmocka_unit_test_setup_teardown(function, program_setup_at_start, program_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(allow_wins_at_any_length),
		TEST(lists_apply_to_ipv6),
		TEST(a_prefix_of_length_0_matches_every_source),
		TEST(a_listed_source_is_charged_to_no_limit),
		TEST(an_entry_ends_on_time_and_no_lease_outlives_it),
		TEST(nested_entries_end_each_at_its_time),
		TEST(packets_denied_by_a_lease_are_all_counted),
		TEST(one_address_of_a_64_is_told_from_the_others),
		TEST(the_limit_with_the_longest_from_applies),
		TEST(a_limit_applies_to_ten_thousand_prefixes),
		TEST(leases_end_with_the_rules_they_followed_from),
		TEST(unconfirmed_rules_are_reverted_in_time),
		TEST(credits_end_at_the_deadline_of_a_revert),
		TEST(windows_of_a_revert_leave_the_old_ones_alone),
		TEST(windows_of_a_revert_are_not_used_by_later_rules),
		TEST(unconfirmed_rules_do_not_prolong_a_ban),
		TEST(a_limit_that_a_revert_lacks_keeps_its_pending_counts),
		TEST(confirmed_rules_stay),
		TEST(a_revert_takes_effect_immediately),
		TEST(an_attach_that_is_not_confirmed_passes_everything),
	};

	return cmocka_run_group_tests_name("lists", tests, NULL, NULL);
}
