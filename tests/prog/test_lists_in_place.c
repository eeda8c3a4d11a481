// SPDX-License-Identifier: GPL-2.0
/*
 * Changes of the lists in place: the entries of the tries equal the entries after compiling all
 * rules from scratch, few of them are written, no packet sees less than one list, and no count is
 * lost.
 */
#include "in_place.h"

#include <pthread.h>

/* ---- as compiled from scratch ---- */

static void entries_are_those_of_all_rules_compiled_anew(void **state)
{
	struct program *program = *state;
	uint64_t random = unit_seed();
	struct rf_ruleset model;
	int in_place = 0;

	program_apply(program, LIMITS "deny add 192.0.2.1\nallow add 2001:db9::/32\n");
	model = program_rules(program);
	for (int round = 0; round < ROUNDS; round++) {
		struct rf_list_change change[8];
		struct rf_list_changes changes = {.change = change,
						  .count = 1 + unit_below(&random, 8)};
		struct rf_lists_outcome outcome;
		struct rf_error error = {};

		for (size_t i = 0; i < changes.count; i++) {
			change[i] = random_change(&random);
			change_model(&model, &change[i]);
		}
		assert_done(
			rf_fence_change_lists(&program->fence, &changes, NULL, &outcome, &error),
			&error);
		in_place += outcome.in_place;
		assert_as_compiled(program, program->config->active & 1, &model);
	}
	assert_true(in_place > ROUNDS * 9 / 10);
	rf_ruleset_free(&model);
}

/* ---- writes ---- */

static char *many(const char *line, int count)
{
	char *text = malloc(count * 64 + 64), *at = text;

	assert_non_null(text);
	at += sprintf(at, "limit add any rate 5/10s\n");
	for (int i = 0; i < count; i++)
		at += sprintf(at, line, i / 250, i % 250);
	return text;
}

static void a_change_writes_its_prefix_and_those_within(void **state)
{
	struct program *program = *state;
	char *text = many("deny add 10.0.%d.%d\n", 20000);
	uint64_t active;

	program_apply(program, text);
	free(text);
	active = program->config->active;
	assert_int_equal(change(program, RF_DENY, "192.0.2.1", RF_FOREVER).writes, 1);
	assert_int_equal(program->config->active, active + 2);
	assert_int_equal(change(program, RF_DENY, "192.0.2.1", RF_FOREVER).writes, 0);
	assert_int_equal(change(program, RF_DENY, "192.0.2.1", 0).writes, 1);
	assert_int_equal(change(program, RF_DENY, "192.0.2.0/24", RF_FOREVER).writes, 1);
	/* Those within are denied for good already. */
	assert_int_equal(change(program, RF_DENY, "10.0.7.0/26", RF_FOREVER).writes, 1);
	assert_int_equal(change(program, RF_ALLOW, "10.0.7.0/26", RF_FOREVER).writes, 65);
	assert_int_equal(change(program, RF_ALLOW, "10.0.7.0/26", 0).writes, 65);
	assert_int_equal(change(program, RF_ALLOW, "10.0.7.0/27", 1000000).writes, 33);
	assert_true(change(program, RF_ALLOW, "10.0.8.0/26", 1000000).in_place);
	assert_false(change(program, RF_ALLOW, "10.0.9.0/24", 1000000).in_place);
	assert_true(change(program, RF_ALLOW, "10.0.9.7", 1000000).in_place);
}

/* A hundred prefixes within, and one more. */
static void a_prefix_that_contains_many_takes_new_tries(void **state)
{
	struct program *program = *state;
	char *text = many("deny add 10.0.%d.%d\n", 100);

	program_apply(program, text);
	free(text);
	assert_int_equal(change(program, RF_ALLOW, "10.0.0.0/24", RF_FOREVER).writes, 101);
	assert_int_equal(change(program, RF_ALLOW, "10.0.0.0/24", 0).writes, 101);
	assert_true(change(program, RF_DENY, "10.0.0.200", RF_FOREVER).in_place);
	assert_false(change(program, RF_ALLOW, "10.0.0.0/24", RF_FOREVER).in_place);
	assert_true(passes(program, "10.0.0.1"));
	assert_true(passes(program, "10.0.0.200"));
}

static void ten_thousand_changes_are_one(void **state)
{
	struct rf_list_change *change = calloc(10000, sizeof(*change));
	struct rf_list_changes changes = {.change = change, .count = 10000};
	struct program *program = *state;
	struct rf_lists_outcome outcome;
	struct rf_error error = {};
	uint64_t active;

	assert_non_null(change);
	program_apply(program, "limit add any rate 5/10s\ndeny add 192.0.2.1\n");
	for (int i = 0; i < 10000; i++)
		change[i] = (struct rf_list_change){
			.prefix = {4, 32, {htonl(0x0a000000 + 3 * i)}},
			.list = RF_DENY,
			.until = RF_FOREVER,
		};
	active = program->config->active;
	for (int times = 0; times < 2; times++) {
		assert_done(
			rf_fence_change_lists(&program->fence, &changes, NULL, &outcome, &error),
			&error);
		assert_int_equal(outcome.writes, times ? 0 : 10000);
		assert_int_equal(outcome.listed[RF_DENY], 10001);
		assert_int_equal(program->config->active, active + 2);
	}
	free(change);
}

/* A commit would switch the banks, and wait for the data path. */
static void a_list_that_is_the_same_leaves_the_rules_in_force(void **state)
{
	struct rf_list_change one = change_of(RF_DENY, "10.0.0.1", RF_FOREVER);
	struct rf_list_changes same = {.change = &one, .count = 1};
	struct program *program = *state;
	struct rf_lists_outcome outcome;
	struct rf_error error = {};
	uint64_t active;

	program_apply(program, "limit add any rate 1M/10s\ndeny add 10.0.0.1\n"
			       "allow add 10.0.0.2\n");
	active = program->config->active;
	/*
	 * As 'deny load replace': all entries of the list are removed, and the file's entries
	 * added.
	 */
	assert_done(rf_list_changes_release_by(&same, RF_DENY, "", &error), &error);
	same.release[0].at = 0;
	assert_done(rf_fence_change_lists(&program->fence, &same, NULL, &outcome, &error), &error);
	assert_int_equal(program->config->active, active);
	assert_int_equal(outcome.listed[RF_DENY], 1);
	assert_false(passes(program, "10.0.0.1"));

	one = change_of(RF_DENY, "10.0.0.3", RF_FOREVER);
	assert_done(rf_fence_change_lists(&program->fence, &same, NULL, &outcome, &error), &error);
	assert_int_not_equal(program->config->active, active);
	assert_true(passes(program, "10.0.0.1"));
	assert_false(passes(program, "10.0.0.3"));
	free(same.release);
}

static void the_same_list_finishes_a_change_that_was_killed(void **state)
{
	struct rf_list_change one = change_of(RF_DENY, "10.0.0.1", RF_FOREVER);
	struct rf_list_changes same = {.change = &one, .count = 1};
	struct program *program = *state;
	struct rf_lists_outcome outcome;
	struct rf_error error = {};

	program_apply(program, "limit add any rate 1M/10s\ndeny add 10.0.0.1\n");
	program->config->bank[program->config->active & 1].flags |= RF_BANK_IN_DOUBT;
	assert_done(rf_fence_change_lists(&program->fence, &same, NULL, &outcome, &error), &error);
	assert_false(program->config->bank[program->config->active & 1].flags & RF_BANK_IN_DOUBT);
}

/* Old tries can be as large as the active ones. */
static void a_commit_leaves_no_old_tries(void **state)
{
	struct program *program = *state;
	struct rf_tries tries;
	struct rf_standing before;
	struct rf_error error = {};

	program_apply(program, "deny add 10.0.0.1\nallow add 2001:db8::/32\n");
	program_apply(program, "deny add 10.0.0.2\n");
	program_apply_unconfirmed(program, "deny add 10.0.0.3\n", 60 * NS_PER_S);
	for (int confirmed = 0; confirmed < 2; confirmed++) {
		assert_done(rf_tries_open(&program->fence, ~program->config->active & 1, &tries,
					  &error),
			    &error);
		assert_true(confirmed ? tries.fd[0] < 0 : tries.fd[0] >= 0);
		assert_true(tries.fd[1] < 0);
		rf_tries_close(&tries);
		if (!confirmed)
			assert_done(rf_fence_confirm(&program->fence, &before, &error), &error);
	}
	assert_false(passes(program, "10.0.0.3"));
	assert_true(passes(program, "10.0.0.2"));
}

static void a_missing_prefix_changes_nothing(void **state)
{
	struct program *program = *state;
	struct rf_list_change change[] = {
		change_of(RF_DENY, "10.0.0.1", RF_FOREVER),
		change_of(RF_DENY, "10.0.0.1", 0),
		change_of(RF_DENY, "10.0.0.1", 0),
		change_of(RF_DENY, "10.0.0.2", RF_FOREVER),
	};
	struct rf_list_changes changes = {.change = change, .count = 4};
	struct rf_lists_outcome outcome;
	struct rf_error error = {};
	uint64_t active;

	program_apply(program, "limit add any rate 5/10s\ndeny add 192.0.2.1\n");
	active = program->config->active;
	assert_int_equal(rf_fence_change_lists(&program->fence, &changes, NULL, &outcome, &error),
			 -ENOENT);
	assert_string_equal(error.text, "'10.0.0.1': not on the deny list; 'deny list' shows its "
					"prefixes as they were added");
	assert_int_equal(program->config->active, active);
	assert_true(passes(program, "10.0.0.2"));
}

/* ---- bans of other hosts ---- */

static size_t listed_of_fleet(struct program *program)
{
	struct rf_ruleset rules = program_rules(program);
	size_t count = 0;

	for (size_t i = 0; i < rules.listed_count; i++)
		count += rf_listed_until_by(&rules.listed[i], RF_DENY, RF_OWNER_FLEET) != 0;
	rf_ruleset_free(&rules);
	return count;
}

static struct rf_lists_outcome ban(struct program *program, const char *prefix, uint64_t until)
{
	struct rf_list_change one = change_of(RF_DENY, prefix, until);
	struct rf_list_changes changes = {.change = &one, .count = 1};
	struct rf_lists_outcome outcome;
	struct rf_error error = {};

	one.owner = RF_OWNER_FLEET;
	one.must_be_there = false;
	assert_done(rf_fence_change_lists(&program->fence, &changes, NULL, &outcome, &error),
		    &error);
	return outcome;
}

static const struct rf_owner_set of_fleet = {.bits = {1U << RF_OWNER_FLEET}};

static void a_host_takes_off_no_ban_of_the_fleet(void **state)
{
	struct rf_list_changes empty = {};
	struct program *program = *state;
	struct rf_list_change del = change_of(RF_DENY, "10.0.0.1", 0);
	struct rf_list_changes changes = {.change = &del, .count = 1};
	struct rf_lists_outcome outcome;
	struct rf_error error = {};

	program_apply(program, "limit add any rate 1M/10s\ndeny add 192.0.2.1\n");
	assert_int_equal(ban(program, "10.0.0.1", 1000000).writes, 1);
	assert_false(passes(program, "10.0.0.1"));
	assert_int_equal(rf_fence_change_lists(&program->fence, &changes, NULL, &outcome, &error),
			 -ENOENT);
	assert_done(rf_list_changes_release_by(&empty, RF_DENY, "", &error), &error);
	assert_done(rf_fence_change_lists(&program->fence, &empty, NULL, &outcome, &error), &error);
	assert_false(passes(program, "10.0.0.1"));
	assert_true(passes(program, "192.0.2.1"));
	assert_done(rf_list_changes_release(&empty, RF_DENY, &of_fleet, &error), &error);
	assert_done(rf_fence_change_lists(&program->fence, &empty, NULL, &outcome, &error), &error);
	assert_true(passes(program, "10.0.0.1"));
}

static void an_entry_of_the_host_and_a_ban_of_the_fleet_stand_together(void **state)
{
	struct rf_list_changes empty = {};
	struct program *program = *state;
	struct rf_lists_outcome outcome;
	struct rf_error error = {};

	program_apply(program, "limit add any rate 1M/10s\nallow add 10.0.1.0/24\n"
			       "deny add 10.0.0.1\n");
	assert_int_equal(ban(program, "10.0.0.1", 1000000).writes, 1);
	assert_int_equal(ban(program, "10.0.0.2", 1000000).writes, 1);
	change(program, RF_DENY, "10.0.0.2", RF_FOREVER);
	assert_int_equal(listed_of_fleet(program), 2);
	change(program, RF_DENY, "10.0.0.3", RF_FOREVER);
	assert_int_equal(ban(program, "10.0.0.3", 1000000).writes, 1);
	change(program, RF_DENY, "10.0.0.3", 0);
	assert_false(passes(program, "10.0.0.3"));
	ban(program, "10.0.1.0/24", 1000000);
	assert_true(passes(program, "10.0.1.1"));
	assert_int_equal(listed_of_fleet(program), 4);
	assert_done(rf_list_changes_release(&empty, RF_DENY, &of_fleet, &error), &error);
	assert_done(rf_fence_change_lists(&program->fence, &empty, NULL, &outcome, &error), &error);
	assert_int_equal(listed_of_fleet(program), 0);
	assert_false(passes(program, "10.0.0.1"));
	assert_false(passes(program, "10.0.0.2"));
	assert_true(passes(program, "10.0.0.3"));
}

/* ---- packets ---- */

struct watch {
	struct program *program;
	const char *source;
	bool passed, dropped;
	bool done;
};

static void *watch_source(void *context)
{
	struct watch *watch = context;

	do {
		if (passes(watch->program, watch->source))
			watch->passed = true;
		else
			watch->dropped = true;
	} while (!__atomic_load_n(&watch->done, __ATOMIC_ACQUIRE));
	return NULL;
}

static struct watch watch_while(struct program *program, const char *source, enum rf_list list,
				const char *const prefix[], int count)
{
	struct watch watch = {.program = program, .source = source};
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, watch_source, &watch), 0);
	for (int i = 0; i < 300; i++) {
		assert_true(change(program, list, prefix[i % count], RF_FOREVER).in_place);
		assert_true(change(program, list, prefix[i % count], 0).in_place);
	}
	__atomic_store_n(&watch.done, true, __ATOMIC_RELEASE);
	assert_int_equal(pthread_join(thread, NULL), 0);
	return watch;
}

/* The source is denied by one prefix or by two, and never by none. */
static void a_source_under_two_entries_is_never_judged_by_neither(void **state)
{
	static const char *const prefix4[] = {"10.0.0.0/16", "10.0.0.1", "10.0.0.0/24", "0.0.0.0/0",
					      "10.0.0.0/31"};
	static const char *const prefix6[] = {"2001:db8::/48", "2001:db8::1", "2001:db8::/64",
					      "2001:db8::/65"};
	struct program *program = *state;
	struct watch watch;

	program_apply(program, "limit add any rate 1G/10s\nallow add 192.0.2.1\n"
			       "deny add 10.0.0.0/8\ndeny add 2001:db8::/32\n");
	watch = watch_while(program, "10.0.0.1", RF_DENY, prefix4, 5);
	assert_true(watch.dropped && !watch.passed);
	watch = watch_while(program, "2001:db8::1", RF_DENY, prefix6, 4);
	assert_true(watch.dropped && !watch.passed);
	/* Its neighbours come and go. */
	watch = watch_while(program, "192.0.2.1", RF_DENY,
			    (const char *const[]){"192.0.2.0/31", "192.0.2.0", "192.0.2.0/24"}, 3);
	assert_true(watch.passed && !watch.dropped);
}

/* Leases of the source, and of its whole /64, expire with the change. */
static void no_lease_answers_by_the_old_lists(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add any rate 1M/10s\ndeny add 192.0.2.1\n"
			       "deny add 2001:db9::/48\n");
	for (int round = 0; round < 3; round++) {
		assert_int_equal(burst(program, "10.0.0.1", 5000), 5000);
		assert_int_equal(burst(program, "2001:db8::1", 5000), 5000);
		assert_true(change(program, RF_DENY, "10.0.0.1", RF_FOREVER).in_place);
		assert_true(change(program, RF_DENY, "2001:db8::1", RF_FOREVER).in_place);
		assert_int_equal(burst(program, "10.0.0.1", 100), 0);
		assert_int_equal(burst(program, "2001:db8::1", 100), 0);
		assert_int_equal(burst(program, "2001:db8::2", 5000), 5000);
		assert_int_equal(burst(program, "2001:db8::1", 100), 0);
		assert_true(change(program, RF_DENY, "10.0.0.1", 0).in_place);
		assert_true(change(program, RF_DENY, "2001:db8::1", 0).in_place);
	}
	assert_int_equal(program_limit_counters_of(program, "any").passed.packets, 3 * 15000);
}

/* ---- killed ---- */

static void a_change_that_was_killed_is_made_good(void **state)
{
	struct program *program = *state;
	struct rf_prefix_key4 key = {32, inet_addr("10.0.0.1")};
	struct rf_prefix_value value;
	struct rf_tries tries;
	struct rf_error error = {};

	program_apply(program, "limit add any rate 5/10s\nallow add 10.0.0.0/8\n"
			       "deny add 10.0.0.1\nallow add 192.0.2.0/24\n");
	assert_true(passes(program, "10.0.0.1"));
	assert_done(rf_tries_open(&program->fence, program->config->active & 1, &tries, &error),
		    &error);
	/* As if 10.0.0.0/8 were about to be taken off the allow list, and this entry was first. */
	assert_int_equal(bpf_map_lookup_elem(tries.fd[0], &key, &value), 0);
	value.allow_until = 0;
	assert_int_equal(bpf_map_update_elem(tries.fd[0], &key, &value, BPF_ANY), 0);
	program->config->bank[program->config->active & 1].flags |= RF_BANK_IN_DOUBT;
	rf_tries_close(&tries);
	assert_false(change(program, RF_DENY, "203.0.113.1", RF_FOREVER).in_place);
	assert_int_equal(burst(program, "10.0.0.1", 20), 20);
	assert_int_equal(burst(program, "203.0.113.1", 20), 0);
	assert_true(change(program, RF_DENY, "203.0.113.2", RF_FOREVER).in_place);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(entries_are_those_of_all_rules_compiled_anew),
		TEST(a_change_writes_its_prefix_and_those_within),
		TEST(a_prefix_that_contains_many_takes_new_tries),
		TEST(ten_thousand_changes_are_one),
		TEST(a_list_that_is_the_same_leaves_the_rules_in_force),
		TEST(the_same_list_finishes_a_change_that_was_killed),
		TEST(a_commit_leaves_no_old_tries),
		TEST(a_missing_prefix_changes_nothing),
		TEST(a_host_takes_off_no_ban_of_the_fleet),
		TEST(an_entry_of_the_host_and_a_ban_of_the_fleet_stand_together),
		TEST(a_source_under_two_entries_is_never_judged_by_neither),
		TEST(no_lease_answers_by_the_old_lists),
		TEST(a_change_that_was_killed_is_made_good),
	};

	return cmocka_run_group_tests_name("lists in place", tests, NULL, NULL);
}
