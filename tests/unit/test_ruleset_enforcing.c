// SPDX-License-Identifier: GPL-2.0
/*
 * What a shadow run implies about enforcing, for random limits that differ only in `from`: whether
 * a limit applies does not depend on its own state; enforcing a different one makes it apply in
 * fewer places, never in more; and in a replay of random traffic, with any of the limits enforced,
 * so in every order of enforcing and undoing, each dropped packet was counted by the limit that
 * drops it while all were shadows.
 */
#include "charged.h"
#include "random_prefix.h"

#include <stdio.h>

#include "ringfence/limiter.h"
#include "tests/peek.h"

#define ROUNDS 1000
#define LIMITS 4
#define STATES (1 << LIMITS) /* bit sets of the limits that are enforced */
#define PREFIXES_MOST 3
#define SOURCES 24
#define PACKETS 1200

/* ---- limits ---- */

struct limits {
	const char *rate[LIMITS];
	char prefix[LIMITS][PREFIXES_MOST][RF_PREFIX_TEXT_SIZE]; /* none: without `from` */
	int prefixes[LIMITS];
	bool has_ties; /* two name the same prefix: both apply to its sources */
};

/* `prefix`: NULL selects a limit without `from`. */
static bool is_named(const struct limits *limits, int limit, const char *prefix)
{
	for (int i = 0; i < limits->prefixes[limit]; i++)
		if (prefix && strcmp(limits->prefix[limit][i], prefix) == 0)
			return true;
	return !prefix && !limits->prefixes[limit];
}

static bool find_ties(const struct limits *limits)
{
	bool has_ties = false;

	for (int a = 0; a < LIMITS; a++)
		for (int b = 0; b < a; b++) {
			has_ties |= !limits->prefixes[a] && is_named(limits, b, NULL);
			for (int i = 0; i < limits->prefixes[a]; i++)
				has_ties |= is_named(limits, b, limits->prefix[a][i]);
		}
	return has_ties;
}

static void random_limits(uint64_t *random, struct limits *limits)
{
	*limits = (struct limits){};
	for (int i = 0; i < LIMITS; i++) {
		limits->rate[i] = UNIT_PICK(
			random, "5/1s", "10/1s", "20/1s", "10/2s", "5/10s", "40/10s", "9k/1s bytes",
			"40k/1s bytes", "10/1s algorithm token", "10/1s algorithm token burst 3",
			"5/1s algorithm token burst 9", "20/1s algorithm leaky",
			"5/1s algorithm fixed", "6/2s algorithm log");
		limits->prefixes[i] = unit_below(random, PREFIXES_MOST + 1);
		for (int j = 0; j < limits->prefixes[i]; j++) {
			const struct rf_prefix prefix = random_prefix(random);

			rf_format_prefix(&prefix, limits->prefix[i][j]);
		}
	}
	limits->has_ties = find_ties(limits);
}

/* The rules in which the limits of `enforced` are enforced. */
static void rules_of(const struct limits *limits, int enforced, struct rules *rules)
{
	*rules = RULES_NEW;
	for (int i = 0; i < LIMITS; i++) {
		char line[600];
		int length = sprintf(line, "l%d rate %s per6 /128%s", i, limits->rate[i],
				     enforced >> i & 1 ? "" : " shadow");

		for (int j = 0; j < limits->prefixes[i]; j++)
			length += sprintf(line + length, "%s%s", j ? "," : " from ",
					  limits->prefix[i][j]);
		rules_put(rules, i, line);
	}
	rules_compile(rules);
}

static uint32_t applied_to(const struct rules *rules, const struct rf_prefix *source)
{
	return answer_for(rules, source, class_of(rules, UDP, false, NO_PORT)).limits;
}

/* ---- where a limit applies ---- */

static void check_places(const struct rules rules[STATES], const struct rf_prefix *source)
{
	uint32_t applied[STATES];

	for (int state = 0; state < STATES; state++)
		applied[state] = applied_to(&rules[state], source);
	for (int state = 0; state < STATES; state++)
		for (int limit = 0; limit < LIMITS; limit++) {
			const uint32_t bit = 1U << limit, enforced = applied[state | bit];

			assert_int_equal(enforced & bit, applied[state] & bit);
			assert_int_equal(enforced & ~applied[state], 0);
		}
}

/* ---- which packets a limit drops ---- */

struct packet_at {
	int source;
	uint32_t bytes;
	uint64_t now_ns;
};

struct replay {
	const struct rules *rules;
	uint32_t applied[SOURCES];
	struct rf_window window[SOURCES][LIMITS];
	bool has_window[SOURCES][LIMITS];
};

static uint64_t time_of(const struct rf_policy *policy, uint64_t now_ns)
{
	return policy->clock == RF_KTIME ? now_ns : now_ns / HZ250;
}

static struct rf_window *window_of(struct replay *replay, const struct packet_at *packet, int limit)
{
	const struct rf_policy *policy = &replay->rules->ruleset.bank.policy[limit];
	struct rf_window *window = &replay->window[packet->source][limit];

	if (!replay->has_window[packet->source][limit])
		rf_window_start(window, policy, time_of(policy, packet->now_ns));
	replay->has_window[packet->source][limit] = true;
	return window;
}

/*
 * Charges the limits if all enforced ones have room. Returns the exceeded ones: enforced, or else
 * shadows.
 */
static uint32_t offer(struct replay *replay, const struct packet_at *packet)
{
	const struct rf_bank *bank = &replay->rules->ruleset.bank;
	const uint32_t applied = replay->applied[packet->source];
	uint32_t over = 0;

	for (uint32_t left = applied; left; left &= left - 1) {
		const int limit = __builtin_ctz(left);
		const struct rf_policy *policy = &bank->policy[limit];

		if (!rf_peek(window_of(replay, packet, limit), policy,
			     time_of(policy, packet->now_ns), rf_cost(policy, packet->bytes)))
			over |= 1U << limit;
	}
	if (over & ~bank->shadows)
		return over & ~bank->shadows;
	for (uint32_t left = applied & ~over; left; left &= left - 1) {
		const int limit = __builtin_ctz(left);
		const struct rf_policy *policy = &bank->policy[limit];

		rf_take(window_of(replay, packet, limit), policy, time_of(policy, packet->now_ns),
			rf_cost(policy, packet->bytes));
	}
	return over;
}

static void random_packets(uint64_t *random, struct packet_at *packet)
{
	uint64_t now_ns = 1000 * SECOND;

	for (int i = 0; i < PACKETS; i++) {
		now_ns += unit_below(random, unit_below(random, 40) ? 4 * MS : SECOND);
		packet[i] = (struct packet_at){.source = unit_below(random, SOURCES / 4),
					       .bytes = 60 + unit_below(random, 1400),
					       .now_ns = now_ns};
		if (!unit_below(random, 3))
			packet[i].source = unit_below(random, SOURCES);
	}
}

static void replay_start(struct replay *replay, const struct rules *rules,
			 const struct rf_prefix *source)
{
	memset(replay, 0, sizeof(*replay));
	replay->rules = rules;
	for (int i = 0; i < SOURCES; i++)
		replay->applied[i] = applied_to(rules, &source[i]);
}

/* Returns how many packets were dropped. */
static int check_drops(const struct rules *rules, const struct rf_prefix *source,
		       const struct packet_at *packet, const uint32_t *counted)
{
	static struct replay replay;
	int dropped = 0;

	replay_start(&replay, rules, source);
	for (int i = 0; i < PACKETS; i++) {
		const uint32_t over = offer(&replay, &packet[i]) & ~rules->ruleset.bank.shadows;

		assert_int_equal(over & ~counted[i], 0);
		dropped += over != 0;
	}
	return dropped;
}

static int check_replay(uint64_t *random, const struct rules rules[STATES],
			const struct rf_prefix *source)
{
	static struct packet_at packet[PACKETS];
	static uint32_t counted[PACKETS];
	static struct replay shadows;
	int dropped = 0;

	random_packets(random, packet);
	replay_start(&shadows, &rules[0], source);
	for (int i = 0; i < PACKETS; i++)
		counted[i] = offer(&shadows, &packet[i]);
	for (int state = 1; state < STATES; state++)
		dropped += check_drops(&rules[state], source, packet, counted);
	return dropped;
}

/* ---- rounds ---- */

/* Returns how many packets were dropped. */
static int check_limits(uint64_t *random)
{
	struct rf_prefix source[SOURCES];
	struct rules rules[STATES];
	struct limits limits;
	int dropped = 0;

	random_limits(random, &limits);
	for (int state = 0; state < STATES; state++)
		rules_of(&limits, state, &rules[state]);
	for (int i = 0; i < SOURCES; i++) {
		source[i] = random_source(random);
		check_places(rules, &source[i]);
	}
	/* Two simultaneously enforced limits see less than all packets of the source. */
	if (!limits.has_ties)
		dropped = check_replay(random, rules, source);
	for (int state = 0; state < STATES; state++)
		rules_free(&rules[state]);
	return dropped;
}

static void arming_drops_what_the_shadow_run_counted(void **state)
{
	uint64_t random = unit_seed();
	long dropped = 0;

	(void)state;
	for (int i = 0; i < ROUNDS; i++)
		dropped += check_limits(&random);
	assert_true(dropped > ROUNDS * 100);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(arming_drops_what_the_shadow_run_counted),
};

int main(void)
{
	return cmocka_run_group_tests_name("ruleset, enforcing", tests, NULL, NULL);
}
