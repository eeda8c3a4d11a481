/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The common part of the tests of rule sets: rule sets made of lines, and what happens to a packet
 * under them, looked up as the data path does it.
 */
#ifndef RINGFENCE_UNIT_CHARGED_H
#define RINGFENCE_UNIT_CHARGED_H

#include "listing.h"
#include "refusal.h"

#include "rules/policy.h"
#include "rules/ruleset.h"

#define NO_PORT (-1)
#define ICMP 1
#define TCP 6
#define UDP 17
#define ICMPV6 58

struct rules {
	struct rf_ruleset ruleset;
	struct rf_compiled compiled;
	uint32_t next_id;
	struct rf_error error;
};

struct packet {
	const char *source;
	int protocol;
	int port;
	bool is_syn;
};

/* The data path's knowledge of a packet before it reads any window. */
struct answer {
	uint32_t limits;
	uint64_t until[RF_LIST_COUNT];
	bool is_divided;
};

#define RULES_NEW ((struct rules){.next_id = 1})

static inline void rules_free(struct rules *rules)
{
	rf_ruleset_free(&rules->ruleset);
	rf_compiled_free(&rules->compiled);
}

/* NAME rate … in its words; for any length of the line. */
static inline int definition_of(const char *text, struct rf_definition *definition,
				struct rf_error *error)
{
	char *line = strdup(text);
	const char *word[64];
	struct rf_words words;
	int err;

	assert_non_null(line);
	assert_accepted(rf_split_line(line, word, 64, &words, error), error);
	err = rf_parse_limit(&words, definition, error);
	free(line);
	definition->from_file = NULL;
	return err;
}

static inline int rules_try_put(struct rules *rules, int slot, const char *line,
				const struct rf_bank *other)
{
	struct rf_definition definition;
	int err;

	assert_accepted(definition_of(line, &definition, &rules->error), &rules->error);
	err = rf_ruleset_put_limit(&rules->ruleset, slot, &definition, other, HZ250,
				   &rules->next_id, &rules->error);
	rf_definition_free(&definition);
	return err;
}

static inline void rules_put(struct rules *rules, int slot, const char *line)
{
	assert_accepted(rules_try_put(rules, slot, line, NULL), &rules->error);
}

static inline void rules_add(struct rules *rules, const char *line)
{
	rules_put(rules, rf_bank_free_slot(&rules->ruleset.bank), line);
}

static inline struct rf_prefix prefix_of(const char *text)
{
	struct rf_prefix prefix;
	struct rf_error error = {};

	assert_accepted(rf_parse_prefix(text, &prefix, &error), &error);
	return prefix;
}

static inline void rules_list(struct rules *rules, enum rf_list list, const char *text,
			      uint64_t until)
{
	struct rf_prefixes prefixes = {};

	assert_accepted(rf_parse_prefixes(text, &prefixes, &rules->error), &rules->error);
	list_prefixes(&rules->ruleset, list, RF_OWNER_MANUAL, &prefixes, until);
	rf_prefixes_free(&prefixes);
}

/* Removes the entry of an owner. Returns why that was refused. */
static inline enum rf_list_refusal rules_unlist(struct rules *rules, enum rf_list list,
						unsigned int owner, const struct rf_prefix *prefix)
{
	struct rf_list_change change = {
		.prefix = *prefix, .list = list, .owner = owner, .must_be_there = true};

	return change_list(&rules->ruleset, &change);
}

static inline int rules_try_compile(struct rules *rules)
{
	rf_compiled_free(&rules->compiled);
	return rf_ruleset_compile(&rules->ruleset, &rules->compiled, &rules->error);
}

static inline void rules_compile(struct rules *rules)
{
	assert_accepted(rules_try_compile(rules), &rules->error);
}

/* ---- the data path ---- */

static inline int class_of(const struct rules *rules, int protocol, bool is_syn, int port)
{
	const struct rf_bank *bank = &rules->ruleset.bank;
	enum rf_ports_of of = is_syn ? RF_PORTS_SYN : RF_PORTS_TCP;

	assert_int_equal(!rules->compiled.ports, !(bank->flags & RF_BANK_PORTS));
	assert_int_equal(!rules->compiled.tables, !(bank->flags & RF_BANK_SHAPES));
	if (bank->flags & RF_BANK_PORTS && port != NO_PORT && (protocol == TCP || protocol == UDP))
		return rules->compiled.ports
			->packet_class[protocol == UDP ? RF_PORTS_UDP : of][port];
	if (port == NO_PORT || (protocol != TCP && protocol != UDP))
		return bank->class_of_protocol[protocol];
	return bank->class_of_ports[protocol == UDP ? RF_PORTS_UDP : of];
}

/* The number of the longest prefix that contains a source, or -1. */
static inline long longest_of(const struct rf_ruleset *ruleset, const struct rf_prefix *source)
{
	long longest = -1;

	for (size_t i = 0; i < ruleset->listed_count; i++) {
		const struct rf_prefix *prefix = &ruleset->listed[i].prefix;

		if (rf_prefix_contains(prefix, source) &&
		    (longest < 0 || prefix->length > ruleset->listed[longest].prefix.length))
			longest = i;
	}
	return longest;
}

static inline struct answer answer_for(const struct rules *rules, const struct rf_prefix *source,
				       int class)
{
	const struct rf_bank *bank = &rules->ruleset.bank;
	const struct rf_prefix_value *value;
	struct answer answer = {.limits = bank->packet_class[class].limits & bank->prefix_class[0]};
	long longest = longest_of(&rules->ruleset, source);

	if (longest < 0)
		return answer;
	assert_true(bank->flags & (source->version == 4 ? RF_BANK_PREFIXES4 : RF_BANK_PREFIXES6));
	value = &rules->compiled.value[longest];
	return (struct answer){
		.limits =
			bank->packet_class[class].limits & bank->prefix_class[value->prefix_class],
		.until = {value->allow_until, value->deny_until},
		.is_divided = value->is_divided,
	};
}

static inline struct answer answer_of(const struct rules *rules, const struct packet *packet)
{
	const struct rf_prefix source = prefix_of(packet->source);

	return answer_for(rules, &source,
			  class_of(rules, packet->protocol, packet->is_syn, packet->port));
}

#endif /* RINGFENCE_UNIT_CHARGED_H */
