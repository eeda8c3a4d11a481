// SPDX-License-Identifier: GPL-2.0
/*
 * Works out in advance which limits a packet is charged to. The protocol and port of a packet give
 * its packet class; its source address gives its prefix class. Each class is a bit set of limits,
 * and the packet is charged to the limits in both: the data path needs one `and`.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/classes.h"
#include "rules/places.h"
#include "rules/policy.h"
#include "rules/private.h"
#include "rules/ruleset.h"

#define LEASE6_BITS 64

#define PAIR_SIZE 160

/* ---- prefix classes ---- */

struct prefix_classes {
	struct rf_sets sets;
	struct rf_places places;
};

static int compile_value(const struct rf_ruleset *ruleset, size_t i,
			 struct prefix_classes *prefix_classes, struct rf_prefix_value *value,
			 struct rf_error *error)
{
	const struct rf_listed *listed = &ruleset->listed[i];
	const struct rf_place *place = rf_places_enter(&prefix_classes->places, listed);
	int prefix_class = rf_sets_number(&prefix_classes->sets, place->limits);

	if (prefix_class < 0)
		return rf_error_failed(error, -ENOSPC,
				       "there are more than %d kinds of sources that differ in "
				       "their limits; use fewer limits with 'from', or fewer "
				       "prefixes of theirs that overlap",
				       RF_PREFIX_CLASSES_MAX);
	*value = (struct rf_prefix_value){
		.allow_until = place->until[RF_ALLOW],
		.deny_until = place->until[RF_DENY],
		.own_from = listed->from,
		.prefix_class = prefix_class,
		.is_divided = rf_ruleset_is_divided(ruleset, i),
		.length = listed->prefix.length,
	};
	memcpy(value->own_claim, listed->claim, sizeof(value->own_claim));
	return 0;
}

static int compile_prefix_classes(struct rf_ruleset *ruleset, struct rf_compiled *compiled,
				  struct prefix_classes *prefix_classes, struct rf_error *error)
{
	struct rf_bank *bank = &ruleset->bank;
	int err = rf_ruleset_add_divided(ruleset, error);

	if (err)
		return err;
	rf_places_start(&prefix_classes->places, ruleset);
	rf_sets_number(&prefix_classes->sets, prefix_classes->places.place[0].limits);
	compiled->value = calloc(ruleset->listed_count + 1, sizeof(*compiled->value));
	if (!compiled->value)
		return rf_error_failed(error, -ENOMEM, "out of memory for %zu prefixes",
				       ruleset->listed_count);
	for (size_t i = 0; !err && i < ruleset->listed_count; i++)
		err = compile_value(ruleset, i, prefix_classes, &compiled->value[i], error);
	memcpy(bank->prefix_class, prefix_classes->sets.set, sizeof(bank->prefix_class));
	return err;
}

/* ---- all limits together ---- */

static bool share_prefix(const struct rf_ruleset *ruleset, uint32_t pair)
{
	for (size_t i = 0; i < ruleset->listed_count; i++)
		if ((ruleset->listed[i].from & pair) == pair)
			return true;
	return false;
}

/*
 * Of two limits that differ in `from` alone and apply to one packet, the narrower is a shadow. In
 * force it would hide the other, unless both name the same prefix.
 */
static void name_pair(const struct rf_ruleset *ruleset, const struct rf_places *places,
		      uint32_t limits, char text[PAIR_SIZE])
{
	const struct rf_limit *limit = ruleset->bank.limit;

	*text = '\0';
	for (int i = 0; i < RF_LIMITS_MAX * RF_LIMITS_MAX && !*text; i++) {
		const int a = i / RF_LIMITS_MAX, b = i % RF_LIMITS_MAX;
		const uint32_t pair = 1U << a | 1U << b;

		if ((limits & pair) == pair && places->group[a] >> b & 1 &&
		    limit[a].has_from + limit[b].has_from && !share_prefix(ruleset, pair))
			snprintf(text, PAIR_SIZE,
				 ", or put the narrower of '%s' and '%s' in force, so that it "
				 "replaces the other",
				 limit[a].name, limit[b].name);
	}
}

/* Names one limit more than the maximum: these alone are too many. */
static int fail_charged(const struct rf_ruleset *ruleset, const struct rf_places *places,
			uint32_t limits, uint32_t *refused, struct rf_error *error)
{
	char pair[PAIR_SIZE];
	char names[(RF_CHARGED_MAX + 1) * (RF_NAME_SIZE + 8)] = "";
	const char *before = "";
	size_t length = 0;

	name_pair(ruleset, places, limits, pair);
	for (int named = 0; named <= RF_CHARGED_MAX; named++) {
		length += snprintf(names + length, sizeof(names) - length, "%s'%s'", before,
				   ruleset->bank.limit[__builtin_ctz(limits)].name);
		before = named + 1 < RF_CHARGED_MAX ? ", " : " and ";
		*refused |= limits & -limits;
		limits &= limits - 1;
	}
	return rf_error_failed(
		error, -ENOSPC,
		"limits %s: at most %d limits may apply to a packet, but all of these apply to "
		"some packets; delete one, or narrow what it matches%s",
		names, RF_CHARGED_MAX, pair);
}

static int check_charged(const struct rf_ruleset *ruleset, const struct rf_sets *classes,
			 const struct prefix_classes *prefix_classes, uint32_t *refused,
			 struct rf_error *error)
{
	for (int i = 0; i < classes->count; i++)
		for (int j = 0; j < prefix_classes->sets.count; j++) {
			uint32_t limits = classes->set[i] & prefix_classes->sets.set[j];

			if (__builtin_popcount(limits) > RF_CHARGED_MAX)
				return fail_charged(ruleset, &prefix_classes->places, limits,
						    refused, error);
		}
	return 0;
}

static void raise_length(unsigned int *length, unsigned int other)
{
	if (other > *length)
		*length = other;
}

/* A lease answers for sources that no limit and no prefix tells apart. */
static void compile_lease_masks(struct rf_ruleset *ruleset)
{
	struct rf_bank *bank = &ruleset->bank;
	unsigned int length4 = 0, length6 = 0;

	for (int slot = 0; slot < RF_LIMITS_MAX; slot++) {
		if (!bank->policy[slot].id || bank->limit[slot].match == RF_MATCH_OTHER ||
		    !bank->limit[slot].rate)
			continue;
		raise_length(&length4, bank->limit[slot].per4);
		raise_length(&length6, bank->limit[slot].per6);
		if (bank->limit[slot].per6 > LEASE6_BITS)
			bank->flags |= RF_BANK_NO_LEASE6;
	}
	for (size_t i = 0; i < ruleset->listed_count; i++) {
		const struct rf_prefix *prefix = &ruleset->listed[i].prefix;

		raise_length(prefix->version == 4 ? &length4 : &length6, prefix->length);
		bank->flags |= prefix->version == 4 ? RF_BANK_PREFIXES4 : RF_BANK_PREFIXES6;
	}
	if (length6 > LEASE6_BITS)
		length6 = LEASE6_BITS;
	bank->lease_mask4 = rf_prefix_mask(length4, 0);
	bank->lease_mask6 = rf_prefix_mask(length6, 0) | (__u64)rf_prefix_mask(length6, 1) << 32;
}

static void compile_shadows(struct rf_bank *bank)
{
	bank->shadows = bank->rate0 = 0;
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++) {
		if (!bank->policy[slot].id)
			continue;
		if (bank->limit[slot].flags & RF_SHADOW)
			bank->shadows |= 1U << slot;
		if (!bank->limit[slot].rate)
			bank->rate0 |= 1U << slot;
	}
}

/* A packet without a source is charged to one limit at most. */
static int compile_other(struct rf_bank *bank, uint32_t *refused, struct rf_error *error)
{
	bank->other = 0;
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++) {
		if (!bank->policy[slot].id || bank->limit[slot].match != RF_MATCH_OTHER)
			continue;
		*refused = bank->other ? 1U << slot : 0;
		if (*refused)
			return rf_error_failed(error, -EEXIST,
					       "limits '%s' and '%s': only one limit may have "
					       "'match other'; delete one",
					       bank->limit[bank->other - 1].name,
					       bank->limit[slot].name);
		bank->other = slot + 1;
	}
	return 0;
}

/* Can a limit or the deny list drop packets? Then packets of unknown limits are dropped, too. */
static void compile_in_force(struct rf_ruleset *ruleset)
{
	struct rf_bank *bank = &ruleset->bank;

	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		if (bank->policy[slot].id && !(bank->limit[slot].flags & RF_SHADOW))
			bank->flags |= RF_BANK_IN_FORCE;
	if (bank->listed[RF_DENY])
		bank->flags |= RF_BANK_IN_FORCE;
}

static void count_listed(struct rf_ruleset *ruleset)
{
	for (int list = 0; list < RF_LIST_COUNT; list++) {
		ruleset->bank.listed[list] = 0;
		for (size_t i = 0; i < ruleset->listed_count; i++)
			ruleset->bank.listed[list] +=
				rf_listed_until(&ruleset->listed[i], list) != 0;
	}
}

static void compile_bans(struct rf_bank *bank)
{
	bank->bans = bank->bans_all = 0;
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++) {
		const struct rf_limit *limit = &bank->limit[slot];

		if (!bank->policy[slot].id || !limit->ban_ns)
			continue;
		bank->bans |= 1U << slot;
		if (limit->flags & RF_BAN_ALL)
			bank->bans_all |= 1U << slot;
	}
	if (bank->bans_all)
		bank->flags |= RF_BANK_BANS_ALL;
}

int rf_ruleset_compile(struct rf_ruleset *ruleset, struct rf_compiled *compiled,
		       struct rf_error *error)
{
	struct rf_bank *bank = &ruleset->bank;
	struct rf_sets classes = {};
	struct prefix_classes prefix_classes = {};
	int err;

	*compiled = (struct rf_compiled){};
	bank->flags = 0;
	err = rf_packet_classes_compile(ruleset, compiled, &classes, error);
	if (!err)
		err = compile_prefix_classes(ruleset, compiled, &prefix_classes, error);
	if (!err)
		err = check_charged(ruleset, &classes, &prefix_classes, &compiled->refused, error);
	if (!err)
		err = compile_other(bank, &compiled->refused, error);
	if (!err)
		err = rf_bank_check_fleet(bank, &compiled->refused, error);
	if (err)
		return err;
	compile_lease_masks(ruleset);
	compile_shadows(bank);
	count_listed(ruleset);
	compile_in_force(ruleset);
	compile_bans(bank);
	return 0;
}

void rf_compiled_free(struct rf_compiled *compiled)
{
	free(compiled->ports);
	free(compiled->tables);
	free(compiled->value);
	*compiled = (struct rf_compiled){};
}
