/* SPDX-License-Identifier: GPL-2.0 */
/* Changes of the lists in place, and a model of them: the rules compiled as a whole. */
#ifndef RINGFENCE_TESTS_IN_PLACE_H
#define RINGFENCE_TESTS_IN_PLACE_H

#include "program.h"

#include <linux/bpf.h>
#include <stdio.h>

#include "fence/lists.h"
#include "fence/tries.h"
#include "tests/unit/unit.h"

#define ROUNDS 400

static inline bool passes(const struct program *program, const char *source)
{
	if (strchr(source, ':')) {
		struct frame6 frame = frame6_from(source);

		return program_run(program->object->progs.ringfence, &frame, sizeof(frame)) ==
		       XDP_PASS;
	} else {
		struct frame4 frame = frame4_from(inet_addr(source));

		return program_run(program->object->progs.ringfence, &frame, sizeof(frame)) ==
		       XDP_PASS;
	}
}

static inline int burst(const struct program *program, const char *source, int count)
{
	int passed = 0;

	for (int i = 0; i < count; i++)
		passed += passes(program, source);
	return passed;
}

static inline struct rf_list_change change_of(enum rf_list list, const char *prefix, uint64_t until)
{
	struct rf_list_change change = {.list = list, .until = until, .must_be_there = true};
	struct rf_error error = {};

	assert_done(rf_parse_prefix(prefix, &change.prefix, &error), &error);
	return change;
}

/* Makes one change. Returns its cost. */
static inline struct rf_lists_outcome change(struct program *program, enum rf_list list,
					     const char *prefix, uint64_t until)
{
	struct rf_list_change one = change_of(list, prefix, until);
	struct rf_list_changes changes = {.change = &one, .count = 1};
	struct rf_lists_outcome outcome = {};
	struct rf_error error = {};

	assert_done(rf_fence_change_lists(&program->fence, &changes, NULL, &outcome, &error),
		    &error);
	return outcome;
}

/* ---- as compiled from scratch ---- */

/* A prefix out of few, to make prefixes nest and change repeatedly. */
static inline struct rf_prefix random_prefix(uint64_t *random)
{
	static const unsigned int lengths4[] = {8, 15, 16, 22, 24, 30, 31, 32, 32, 32};
	static const unsigned int lengths6[] = {32, 47, 48, 63, 64, 65, 96, 127, 128, 128};
	struct rf_prefix prefix = {.version = unit_below(random, 2) ? 4 : 6};

	if (prefix.version == 4) {
		prefix.length = lengths4[unit_below(random, 10)];
		prefix.word[0] = htonl(0x0a000000 + unit_below(random, 2) * 0x10000 +
				       unit_below(random, 3) * 0x100 + unit_below(random, 4));
	} else {
		prefix.length = lengths6[unit_below(random, 10)];
		prefix.word[0] = htonl(0x20010db8);
		prefix.word[1] = htonl(unit_below(random, 2) * 0x10000 + unit_below(random, 2));
		prefix.word[2] = htonl(unit_below(random, 2) << 31);
		prefix.word[3] = htonl(unit_below(random, 3));
	}
	for (unsigned int i = 0; i < 4; i++)
		prefix.word[i] &= rf_prefix_mask(prefix.length, i);
	return prefix;
}

static inline struct rf_list_change random_change(uint64_t *random)
{
	const uint64_t untils[] = {0, 0, RF_FOREVER, 1000000, 2000000};

	struct rf_list_change change = {
		.prefix = random_prefix(random),
		.list = unit_below(random, 2) ? RF_ALLOW : RF_DENY,
		.until = untils[unit_below(random, 5)],
	};

	change.owner = unit_below(random, change.list == RF_DENY ? 3 : 1);
	return change;
}

static inline void insert(struct rf_ruleset *model, const struct rf_prefix *prefix)
{
	size_t at = model->listed_count++;

	model->listed = reallocarray(model->listed, model->listed_count, sizeof(*model->listed));
	assert_non_null(model->listed);
	for (; at && rf_prefix_compare(&model->listed[at - 1].prefix, prefix) > 0; at--)
		model->listed[at] = model->listed[at - 1];
	model->listed[at] = (struct rf_listed){.prefix = *prefix};
}

/* The same in a set of rules, by the functions for one entry. */
static inline void change_model(struct rf_ruleset *model, const struct rf_list_change *change)
{
	struct rf_listed *entry;

	if (!rf_ruleset_find(model, &change->prefix))
		insert(model, &change->prefix);
	entry = rf_ruleset_find(model, &change->prefix);
	assert_int_equal(rf_listed_claim(entry, change->list, change->owner, change->until), 0);
	rf_ruleset_expire(model, 0); /* drops empty entries */
}

/* Compares the tries of a bank with rules that are compiled as a whole. */
static inline void assert_as_compiled(const struct program *program, int bank,
				      struct rf_ruleset *model)
{
	struct rf_trie_content content[RF_FAMILIES] = {};
	struct rf_compiled compiled = {};
	struct rf_tries tries;
	struct rf_error error = {};
	size_t at = 0;

	assert_done(rf_ruleset_compile(model, &compiled, &error), &error);
	assert_done(rf_tries_open(&program->fence, bank, &tries, &error), &error);
	for (int family = 0; family < RF_FAMILIES; family++) {
		assert_done(rf_trie_read(tries.fd[family], family, &content[family], &error),
			    &error);
		for (size_t i = 0; i < content[family].count; i++, at++) {
			assert_true(at < model->listed_count);
			assert_memory_equal(&content[family].entry[i].prefix,
					    &model->listed[at].prefix, sizeof(struct rf_prefix));
			assert_memory_equal(&content[family].entry[i].value, &compiled.value[at],
					    sizeof(struct rf_prefix_value));
		}
		free(content[family].entry);
	}
	assert_int_equal(at, model->listed_count);
	assert_memory_equal(program->config->bank[bank].listed, model->bank.listed,
			    sizeof(model->bank.listed));
	assert_int_equal(program->config->bank[bank].flags, model->bank.flags);
	rf_tries_close(&tries);
	rf_compiled_free(&compiled);
}

#define LIMITS                                                          \
	"limit add any rate 5/10s\n"                                    \
	"limit add wide rate 6/10s from 10.0.0.0/15,2001:db8::/32\n"    \
	"limit add near rate 7/10s from 10.1.0.0/22,2001:db8::/64\n"    \
	"limit add one rate 8/10s from 10.0.1.2,2001:db8:1::1\n"        \
	"limit add net rate 9/10s per /24 match tcp from 10.0.0.0/16\n" \
	"limit add more rate 90/10s from 10.0.0.0/24,2001:db8::/48 shadow\n"

#define TEST(function) \
	cmocka_unit_test_setup_teardown(function, program_setup_at_start, program_teardown)

#endif /* RINGFENCE_TESTS_IN_PLACE_H */
