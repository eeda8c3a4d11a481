// SPDX-License-Identifier: GPL-2.0
/*
 * Several limits on one packet, against a model that evaluates all of them and then charges all:
 * random limits of every algorithm, and the same traffic through a fence with leases and one
 * without.
 */
#include "program.h"

#include <linux/bpf.h>
#include <stdio.h>

#include "model.h"
#include "ringfence/lease.h"
#include "ringfence/limiter.h"
#include "ringfence/window_read.h"
#include "tests/frames.h"

#undef ICMP /* of frames.h, which has made its table of them */
#undef TCP
#undef UDP
#include "tests/unit/charged.h"

#define RULESETS 60
#define PACKETS 600 /* for each of them */

/* ---- programs ---- */

static struct program with_leases, without_leases;

static void load_program(struct program *program, uint32_t leases)
{
	program_open(program);
	program_set_leases(program, leases);
	program_load(program);
}

static int load(void **state)
{
	(void)state;
	program_run_on(0);
	load_program(&with_leases, 64);
	load_program(&without_leases, 0);
	assert_int_not_equal(with_leases.config->lease_shift, 0);
	assert_int_equal(without_leases.config->lease_shift, 0);
	return 0;
}

static int unload(void **state)
{
	(void)state;
	program_close(&with_leases);
	program_close(&without_leases);
	return 0;
}

static bool passes(const struct program *program, const struct sent *sent)
{
	return program_run(program->object->progs.ringfence, sent->frame.bytes,
			   sent->frame.length) == XDP_PASS;
}

static uint64_t start_afresh(const char *text, struct rules *rules, struct model *model)
{
	static uint64_t start_ns = START_NS;
	uint32_t next_id;

	start_ns += 1000 * NS_PER_S;
	program_set_time(&with_leases, start_ns);
	program_set_time(&without_leases, start_ns);
	program_apply(&with_leases, "");
	program_apply(&without_leases, "");
	*rules = RULES_NEW;
	rules->ruleset = program_rules_of(&without_leases, text, false, &next_id);
	rules_compile(rules);
	program_apply(&with_leases, text);
	program_apply(&without_leases, text);
	*model = (struct model){
		.bank = *program_bank(&without_leases), .now_ns = start_ns, .tick_ns = TICK_NS};
	return start_ns;
}

static void set_time(struct model *model, uint64_t now_ns)
{
	model->now_ns = now_ns;
	program_set_time(&with_leases, now_ns);
	program_set_time(&without_leases, now_ns);
}

/* ---- packets ---- */

static struct sent packet_from(const struct rules *rules, const char *address, int protocol,
			       bool is_syn, int port, size_t length)
{
	const int family = strchr(address, ':') ? AF_INET6 : AF_INET;
	struct rf_prefix source = {.version = family == AF_INET ? 4 : 6};
	struct answer answer;
	struct sent sent = {};

	assert_int_equal(inet_pton(family, address, source.word), 1);
	source.length = family == AF_INET ? 32 : 128;
	frame_ethernet(&sent.frame);
	if (family == AF_INET)
		frame_ipv4(&sent.frame, 5, 0);
	else
		frame_ipv6(&sent.frame, 64);
	frame_set_source(&sent.frame, (const unsigned char *)source.word);
	if (protocol == UDP)
		frame_udp(&sent.frame, port);
	else
		frame_tcp(&sent.frame, port, is_syn ? SYN : ACK);
	if (length > sent.frame.length)
		frame_pad(&sent.frame, length - sent.frame.length);
	sent.source.version = source.version;
	memcpy(sent.source.word, source.word, sizeof(source.word));
	answer = answer_for(rules, &source, class_of(rules, protocol, is_syn, port));
	sent.limits = answer.limits;
	return sent;
}

static struct sent random_packet(uint64_t *random, const struct rules *rules, bool varied)
{
	const char *source = UNIT_PICK(random, "10.0.0.1", "10.0.0.2", "10.0.1.1", "2001:db8::1",
				       "2001:db8::2", "2001:db8:0:1::1", "fe80::1", "fe80::2");
	const size_t length = varied ? 60 + unit_below(random, 1400) : 400;

	switch (varied ? unit_below(random, 4) : 0) {
	case 0:
		return packet_from(rules, source, UDP, false, 53, length);
	case 1:
		return packet_from(rules, source, UDP, false, 7, length);
	case 2:
		return packet_from(rules, source, TCP, true, 80, length);
	default:
		return packet_from(rules, source, TCP, false, 80, length);
	}
}

/* ---- random limits ---- */

static const char *random_algorithm(uint64_t *random)
{
	return UNIT_PICK(random, "5/1s", "20/1s", "7/10s", "20/200ms", "30/3s edge coarse cells 10",
			 "12/2s edge weighted cells 4", "9/1s edge weighted cells 2",
			 "8/1s algorithm fixed", "5/1s algorithm log", "16/5s algorithm log",
			 "20/1s algorithm token burst 5", "10/1s algorithm leaky",
			 "10/1s algorithm leaky burst 3", "5000/1s bytes", "20k/3s bytes",
			 "9000/1s bytes edge weighted cells 8",
			 "4000/1s bytes algorithm token burst 3000", "3000M/1s bytes",
			 "6k/1s bytes algorithm fixed");
}

/*
 * `varied`: limits differ in class, in grouping or in length. With leases, another of several
 * limits may then refuse a packet first, so no check may depend on that.
 */
static void random_rules(uint64_t *random, bool varied, char *text)
{
	const int count = 1 + unit_below(random, RF_CHARGED_MAX);

	for (int i = 0; i < count; i++)
		text += sprintf(
			text, "limit add l%d rate %s exact%s%s%s\n", i,
			varied && unit_below(random, 6) == 0 ? "0" : random_algorithm(random),
			varied ? UNIT_PICK(random, "", "", " match udp", " match udp dport 53",
					   " match tcp", " match tcp syn")
			       : "",
			varied ? UNIT_PICK(random, "", "", " per /24", " per /0 per6 /48",
					   " per6 /128", " per6 /0")
			       : "",
			varied ? UNIT_PICK(random, "", "", " shadow")
			       : UNIT_PICK(random, "", "", "", " shadow", " count rejected",
					   " ban 3s", " ban 1s count rejected"));
}

/* ---- comparison ---- */

static void assert_counted(const struct rf_count *found, const struct rf_count *expected)
{
	assert_int_equal(found->packets, expected->packets);
	assert_int_equal(found->bytes, expected->bytes);
}

static struct rf_source source_of(const struct program *program, const struct model *model,
				  const struct model_window *window)
{
	struct rf_address source = window->source;
	struct rf_source state = {};
	struct rf_error error = {};

	assert_done(rf_fence_source(&program->fence, &program_bank(program)->policy[window->slot],
				    &source, &state, &error),
		    &error);
	(void)model;
	return state;
}

/* Compares every bit. */
static void check_without_leases(const struct model *model)
{
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++) {
		struct rf_limit_counters found;

		if (!model->bank.policy[slot].id)
			continue;
		found = program_slot_counters(&without_leases, slot);
		assert_memory_equal(&found, &model->limit[slot], sizeof(found));
	}
	for (int i = 0; i < model->windows; i++) {
		struct rf_source found = source_of(&without_leases, model, &model->window[i]);

		found.slot_ref = 0; /* its position, not its contents */
		assert_memory_equal(&found, &model->window[i].state, sizeof(found));
	}
}

/*
 * Compares everything except which of several limits dropped a packet; `by_limit` compares that,
 * too.
 */
static void check_with_leases(const struct model *model, bool by_limit)
{
	uint64_t dropped = 0, expected = 0;

	for (int slot = 0; slot < RF_LIMITS_MAX; slot++) {
		struct rf_limit_counters found;

		if (!model->bank.policy[slot].id)
			continue;
		found = program_slot_counters(&with_leases, slot);
		assert_counted(&found.passed, &model->limit[slot].passed);
		assert_counted(&found.would_drop, &model->limit[slot].would_drop);
		assert_int_equal(found.forfeited.packets, 0);
		if (by_limit)
			assert_counted(&found.dropped, &model->limit[slot].dropped);
		dropped += found.dropped.packets;
		expected += model->limit[slot].dropped.packets;
	}
	assert_int_equal(dropped, expected);
	dropped = expected = 0;
	for (int i = 0; i < model->windows; i++) {
		const struct rf_source *state = &model->window[i].state;
		struct rf_source found = source_of(&with_leases, model, &model->window[i]);
		const struct rf_policy *policy = &model->bank.policy[model->window[i].slot];
		const uint64_t time = model_time(model, policy);

		assert_int_equal(found.passed, state->passed);
		assert_int_equal(found.would_drop, state->would_drop);
		if (by_limit)
			assert_int_equal(found.dropped, state->dropped);
		assert_int_equal(rf_used(&found.window, policy, time),
				 rf_used(&state->window, policy, time));
		dropped += found.dropped;
		expected += state->dropped;
	}
	assert_int_equal(dropped, expected);
}

static void check_reasons(const struct program *program, const struct model *model,
			  const struct rf_counters *before)
{
	const struct rf_counters now = program_counters(program);

	for (int i = 0; i < RF_REASON_COUNT; i++) {
		const struct rf_count since = {now.reason[i].packets - before->reason[i].packets,
					       now.reason[i].bytes - before->reason[i].bytes};

		assert_counted(&since, &model->reason[i]);
	}
}

static void run_rules(uint64_t *random, const char *text, bool varied)
{
	struct rf_counters before = program_counters(&with_leases);
	struct rf_counters before_without = program_counters(&without_leases);
	struct rules rules;
	struct model model;
	uint64_t now_ns = start_afresh(text, &rules, &model);

	for (int i = 0; i < PACKETS; i++) {
		const struct sent sent = random_packet(random, &rules, varied);
		bool expected;

		if (unit_below(random, 8) == 0)
			now_ns += unit_below(random, NS_PER_S / 2);
		else
			now_ns += unit_below(random, 8 * NS_PER_MS);
		set_time(&model, now_ns);
		expected = model_send(&model, &sent);
		if (passes(&without_leases, &sent) != expected)
			fail_msg("packet %d without leases: not %d; rules:\n%s", i, expected, text);
		if (passes(&with_leases, &sent) != expected)
			fail_msg("packet %d with leases: not %d; rules:\n%s", i, expected, text);
	}
	check_without_leases(&model);
	check_with_leases(&model, !varied);
	check_reasons(&without_leases, &model, &before_without);
	check_reasons(&with_leases, &model, &before);
	rules_free(&rules);
}

static void random_limits_are_as_the_model_says(uint64_t random, bool varied)
{
	char text[1024];

	for (int i = 0; i < RULESETS; i++) {
		random_rules(&random, varied, text);
		run_rules(&random, text, varied);
	}
}

static void limits_of_one_class_agree_with_the_model_to_the_last_counter(void **state)
{
	(void)state;
	random_limits_are_as_the_model_says(unit_seed(), false);
}

static void limits_of_random_classes_agree_with_the_model(void **state)
{
	(void)state;
	random_limits_are_as_the_model_says(unit_seed() + 1, true);
}

static void each_algorithm_works_beside_each_other(void **state)
{
	static const char *const algorithms[] = {
		"8/1s",
		"8/1s edge coarse cells 10",
		"8/1s edge weighted cells 4",
		"8/1s algorithm fixed",
		"8/1s algorithm log",
		"10/1s algorithm token burst 5",
		"10/1s algorithm leaky",
		"4000/1s bytes",
	};
	uint64_t random = unit_seed();
	char text[256];

	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(algorithms); i++)
		for (size_t j = 0; j < UNIT_ARRAY_SIZE(algorithms); j++) {
			sprintf(text, "limit add one rate %s exact\nlimit add two rate %s exact\n",
				algorithms[i], algorithms[j]);
			run_rules(&random, text, false);
		}
}

/* ---- credits ---- */

/* Three packets each ms, for twenty seconds. */
static void credits_of_several_limits_strand_little(void **state)
{
	const char *const text = "limit add one rate 1k/1s\n"
				 "limit add two rate 2k/3s algorithm fixed per /24\n";
	uint64_t passed = 0, passed_without = 0, now_ns;
	struct rules rules;
	struct model model;

	(void)state;
	now_ns = start_afresh(text, &rules, &model);
	for (int i = 0; i < 60000; i++) {
		const struct sent sent =
			packet_from(&rules, i % 4 ? "10.0.0.1" : "10.0.0.2", UDP, false, 7, 60);

		set_time(&model, now_ns + i * NS_PER_MS / 3);
		passed += passes(&with_leases, &sent);
		passed_without += passes(&without_leases, &sent);
	}
	/* Each of the two limits can strand this much. */
	assert_in_range(passed, passed_without / 32 * 30, passed_without + passed_without / 32);
	assert_int_equal(program_limit_counters_of(&with_leases, "one").passed.packets, passed);
	assert_int_equal(program_limit_counters_of(&with_leases, "two").passed.packets, passed);
	assert_int_equal(program_limit_counters_of(&with_leases, "one").dropped.packets +
				 program_limit_counters_of(&with_leases, "two").dropped.packets,
			 60000 - passed);
	rules_free(&rules);
}

/* Both windows are charged for a lease's credits before these are spent. */
static void credits_are_charged_to_all_before_they_are_spent(void **state)
{
	struct rf_source one, two;
	struct rules rules;
	struct model model;
	struct sent sent;
	struct rf_key4 key = {.source = htonl(0x0a000001)};

	(void)state;
	start_afresh("limit add one rate 100k/1s\nlimit add two rate 200k/1s per /24\n", &rules,
		     &model);
	sent = packet_from(&rules, "10.0.0.1", UDP, false, 7, 60);
	for (int i = 0; i < 5000; i++)
		assert_true(passes(&with_leases, &sent));
	key.limit_id = program_policy_of(&with_leases, "one")->id;
	assert_int_equal(bpf_map_lookup_elem(with_leases.fence.map_fd[RF_MAP_WINDOWS4], &key, &one),
			 0);
	key.limit_id = program_policy_of(&with_leases, "two")->id;
	key.source = htonl(0x0a000000);
	assert_int_equal(bpf_map_lookup_elem(with_leases.fence.map_fd[RF_MAP_WINDOWS4], &key, &two),
			 0);
	assert_in_range(rf_word_used(one.window.head), 5000, 5000 + 5000 / RF_CREDITS_PER_SPENT);
	assert_int_equal(rf_word_used(two.window.head), rf_word_used(one.window.head));
	assert_true(one.passed < 5000);
	assert_int_equal(one.passed, two.passed);
	assert_int_equal(program_source(&with_leases, "one", "10.0.0.1").passed, 5000);
	assert_int_equal(program_source(&with_leases, "two", "10.0.0.1").passed, 5000);
	rules_free(&rules);
}

/*
 * Packets that one CPU handled by a lease are counted under each of four limits, and as lease
 * verdicts.
 */
static void credits_are_counted_for_each_of_four_limits(void **state)
{
	static const char *const names[] = {"a", "b", "c", "d"};
	struct rules rules;
	struct model model;
	struct sent sent;

	(void)state;
	start_afresh("limit add a rate 100k/1s\nlimit add b rate 200k/1s per /24\n"
		     "limit add c rate 10/10s shadow\nlimit add d rate 300k/1s match udp\n",
		     &rules, &model);
	sent = packet_from(&rules, "10.0.0.1", UDP, false, 7, 60);
	for (int i = 0; i < 5000; i++)
		assert_true(passes(&with_leases, &sent));
	for (int i = 0; i < 4; i++) {
		const struct rf_limit_counters limit =
			program_limit_counters_of(&with_leases, names[i]);
		const struct rf_source source = program_source(&with_leases, names[i], "10.0.0.1");
		const uint64_t passed = *names[i] == 'c' ? 10 : 5000;

		assert_int_equal(limit.passed.packets, passed);
		assert_int_equal(limit.would_drop.packets, 5000 - passed);
		assert_int_equal(source.passed, passed);
		assert_int_equal(source.would_drop, 5000 - passed);
	}
	rules_free(&rules);
}

static bool has_credits(const struct program *program)
{
	for (uint32_t i = 0; i < program->fence.leases; i++)
		if (program->fence.lease[i].has_credits && program->fence.lease[i].credits)
			return true;
	return false;
}

/* The credits expire with the first charged cell, of either limit. */
static void credits_end_with_the_shortest_cell(void **state)
{
	static const char *const texts[] = {
		"limit add short rate 100k/1s\nlimit add long rate 100k/10s\n",
		"limit add long rate 100k/10s\nlimit add short rate 100k/1s\n",
	};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct rules rules;
		struct model model;
		uint64_t now_ns = start_afresh(texts[i], &rules, &model), epoch;
		const struct sent sent = packet_from(&rules, "10.0.0.1", UDP, false, 7, 60);
		const struct rf_policy *policy;
		struct rf_source source;

		policy = program_policy_of(&with_leases, "short");
		epoch = program_epoch_at(policy, now_ns);
		for (int j = 0; j < 5000 || !has_credits(&with_leases); j++)
			assert_true(passes(&with_leases, &sent));
		set_time(&model, program_epoch_ns(policy, epoch + 1));
		assert_true(passes(&with_leases, &sent));
		source = program_source(&with_leases, "short", "10.0.0.1");
		assert_int_equal(rf_word_epoch(source.window.head), epoch + 1);
		rules_free(&rules);
	}
}

/*
 * A shadow over its limit is evaluated again when it reopens, while an enforced limit has credits.
 */
static void credits_end_when_a_shadow_reopens(void **state)
{
	struct rf_limit_counters with, without;
	struct rules rules;
	struct model model;
	uint64_t now_ns;

	(void)state;
	now_ns = start_afresh("limit add any rate 100k/60s\n"
			      "limit add quiet rate 10/1s algorithm fixed shadow\n",
			      &rules, &model);
	for (int i = 0; i < 10000; i++) {
		const struct sent sent = packet_from(&rules, "10.0.0.1", UDP, false, 7, 60);

		set_time(&model, now_ns + i * NS_PER_MS);
		assert_true(passes(&with_leases, &sent));
		assert_true(passes(&without_leases, &sent));
		if (i % 1000 == 5) /* it has just reopened */
			assert_int_equal(
				program_limit_counters_of(&with_leases, "quiet").passed.packets,
				i / 1000 * 10 + 6);
	}
	with = program_limit_counters_of(&with_leases, "quiet");
	without = program_limit_counters_of(&without_leases, "quiet");
	assert_memory_equal(&with, &without, sizeof(with));
	assert_int_equal(with.passed.packets, 100);
	rules_free(&rules);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(limits_of_one_class_agree_with_the_model_to_the_last_counter),
		cmocka_unit_test(limits_of_random_classes_agree_with_the_model),
		cmocka_unit_test(each_algorithm_works_beside_each_other),
		cmocka_unit_test(credits_of_several_limits_strand_little),
		cmocka_unit_test(credits_are_charged_to_all_before_they_are_spent),
		cmocka_unit_test(credits_are_counted_for_each_of_four_limits),
		cmocka_unit_test(credits_end_with_the_shortest_cell),
		cmocka_unit_test(credits_end_when_a_shadow_reopens),
	};

	return cmocka_run_group_tests_name("stacked", tests, load, unload);
}
