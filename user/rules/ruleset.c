// SPDX-License-Identifier: GPL-2.0
/* A set of rules: limits with their ports, and the prefixes that lists and limits name. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "rules/destination.h"
#include "rules/policy.h"
#include "rules/ruleset.h"

#define PORTS_SIZE (RF_PORTS / 8)

static int fail_memory(struct rf_error *error)
{
	return rf_error_failed(error, -ENOMEM, "out of memory for the rules");
}

void rf_ruleset_free(struct rf_ruleset *ruleset)
{
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		free(ruleset->ports[slot]);
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		free(ruleset->sports[slot]);
	free(ruleset->listed);
	*ruleset = RF_RULESET_NONE;
}

/* Ports may be NULL. */
static int copy_ports(const uint64_t *ports, uint64_t **copy)
{
	*copy = ports ? malloc(PORTS_SIZE) : NULL;
	if (*copy)
		memcpy(*copy, ports, PORTS_SIZE);
	return ports && !*copy ? -ENOMEM : 0;
}

static void put_ports(uint64_t **place, uint64_t *ports)
{
	free(*place);
	*place = ports;
}

/* ---- prefixes ---- */

static void drop_empty(struct rf_ruleset *ruleset)
{
	size_t count = 0;

	for (size_t i = 0; i < ruleset->listed_count; i++)
		if (!rf_listed_is_empty(&ruleset->listed[i]))
			ruleset->listed[count++] = ruleset->listed[i];
	ruleset->listed_count = count;
}

static int compare_prefixes(const void *a, const void *b)
{
	return rf_prefix_compare(a, b);
}

static int compare_listed(const void *prefix, const void *listed)
{
	return rf_prefix_compare(prefix, &((const struct rf_listed *)listed)->prefix);
}

struct rf_listed *rf_ruleset_find(const struct rf_ruleset *ruleset, const struct rf_prefix *prefix)
{
	if (!ruleset->listed_count)
		return NULL;
	return rf_search(prefix, ruleset->listed, ruleset->listed_count, sizeof(*ruleset->listed),
			 compare_listed);
}

static struct rf_prefix *sort_prefixes(const struct rf_prefixes *prefixes)
{
	struct rf_prefix *sorted = reallocarray(NULL, prefixes->count, sizeof(*sorted));

	if (!sorted)
		return NULL;
	memcpy(sorted, prefixes->prefix, prefixes->count * sizeof(*sorted));
	rf_sort(sorted, prefixes->count, sizeof(*sorted), compare_prefixes);
	return sorted;
}

/* Adds a limit to the sorted entries of its prefixes. `merged` has room for all. Returns how many.
 */
static size_t merge_sorted(const struct rf_ruleset *ruleset, const struct rf_prefix *sorted,
			   size_t count, uint32_t from, struct rf_listed *merged)
{
	size_t at = 0, to = 0;

	for (size_t i = 0; i < count; i++) {
		while (at < ruleset->listed_count &&
		       rf_prefix_compare(&ruleset->listed[at].prefix, &sorted[i]) <= 0)
			merged[to++] = ruleset->listed[at++];
		if (!to || rf_prefix_compare(&merged[to - 1].prefix, &sorted[i]) != 0)
			merged[to++] = (struct rf_listed){.prefix = sorted[i]};
		merged[to - 1].from |= from;
	}
	while (at < ruleset->listed_count)
		merged[to++] = ruleset->listed[at++];
	return to;
}

/* Changes nothing where it fails. */
static int add_from(struct rf_ruleset *ruleset, const struct rf_prefixes *prefixes, uint32_t from,
		    struct rf_error *error)
{
	const size_t capacity = ruleset->listed_count + prefixes->count;
	struct rf_prefix *sorted;
	struct rf_listed *merged;

	if (!prefixes->count)
		return 0;
	sorted = sort_prefixes(prefixes);
	merged = reallocarray(NULL, capacity, sizeof(*merged));
	if (!sorted || !merged) {
		free(sorted);
		free(merged);
		return fail_memory(error);
	}
	ruleset->listed_count = merge_sorted(ruleset, sorted, prefixes->count, from, merged);
	free(sorted);
	free(ruleset->listed);
	ruleset->listed = merged;
	return 0;
}

void rf_ruleset_expire(struct rf_ruleset *ruleset, uint64_t jiffies)
{
	for (size_t i = 0; i < ruleset->listed_count; i++)
		if (rf_listed_expire(&ruleset->listed[i], jiffies))
			ruleset->lists_changed = true;
	drop_empty(ruleset);
}

int rf_ruleset_join_owners(struct rf_ruleset *ruleset, struct rf_owners *owners,
			   struct rf_error *error)
{
	uint8_t number[RF_OWNERS_MAX];
	const int err = rf_owners_join(owners, &ruleset->owners, number, error);

	if (err)
		return err;
	for (size_t i = 0; i < ruleset->listed_count; i++)
		for (int j = 0; j < RF_LIST_CLAIMS; j++) {
			struct rf_list_claim *claim = &ruleset->listed[i].claim[j];

			claim->owner = number[claim->owner];
		}
	ruleset->owners = *owners;
	return 0;
}

/* ---- limits ---- */

static bool has_counters(const struct rf_bank *bank, int index)
{
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		if (bank->policy[slot].id && bank->policy[slot].counters == index)
			return true;
	return false;
}

/* One is always free: there are enough for all limits of two banks. */
static int free_counters(const struct rf_bank *bank, const struct rf_bank *other)
{
	int index = 0;

	while (has_counters(bank, index) || (other && has_counters(other, index)))
		index++;
	return index;
}

static void forget_from(struct rf_ruleset *ruleset, int slot)
{
	for (size_t i = 0; i < ruleset->listed_count; i++)
		ruleset->listed[i].from &= ~(1U << slot);
	drop_empty(ruleset);
}

/* Puts the policy. A limit of another name than before gets other counters. */
static void put_policy(struct rf_bank *bank, int slot, const struct rf_limit *limit,
		       const struct rf_bank *other, uint32_t tick_ns, uint32_t *next_id)
{
	bool is_new = !bank->policy[slot].id || strcmp(bank->limit[slot].name, limit->name) != 0;

	if (is_new) {
		rf_bank_del(bank, slot);
		bank->policy[slot].counters = free_counters(bank, other);
	}
	rf_bank_put(bank, slot, limit, tick_ns, next_id);
}

int rf_definition_check_from(const struct rf_definition *definition, struct rf_error *error)
{
	if (!definition->limit.has_from || definition->from.count)
		return 0;
	return rf_error_usage(error,
			      "limit '%s': 'from' has no prefix, so no packet would match; "
			      "add a prefix, or leave out 'from'",
			      definition->limit.name);
}

int rf_ruleset_put_limit(struct rf_ruleset *ruleset, int slot,
			 const struct rf_definition *definition, const struct rf_bank *other,
			 uint32_t tick_ns, uint32_t *next_id, struct rf_error *error)
{
	const struct rf_limit *limit = &definition->limit;
	const struct rf_shapes shapes = ruleset->bank.shapes;
	uint64_t *ports = NULL, *sports = NULL;
	int err = rf_definition_check_from(definition, error);

	if (!err)
		err = rf_to_put(&ruleset->bank.shapes, slot, &definition->to, limit->name, error);
	if (err)
		return err;
	if (copy_ports(definition->ports, &ports) || copy_ports(definition->sports, &sports))
		err = fail_memory(error);
	if (!err) {
		forget_from(ruleset, slot);
		err = add_from(ruleset, &definition->from, 1U << slot, error);
	}
	if (err) {
		ruleset->bank.shapes = shapes;
		free(ports);
		free(sports);
		return err;
	}
	put_ports(&ruleset->ports[slot], ports);
	put_ports(&ruleset->sports[slot], sports);
	put_policy(&ruleset->bank, slot, limit, other, tick_ns, next_id);
	return 0;
}

void rf_ruleset_del_limit(struct rf_ruleset *ruleset, int slot)
{
	static const struct rf_prefixes none;

	rf_bank_del(&ruleset->bank, slot);
	put_ports(&ruleset->ports[slot], NULL);
	put_ports(&ruleset->sports[slot], NULL);
	rf_to_put(&ruleset->bank.shapes, slot, &none, "", NULL); /* names less: cannot fail */
	forget_from(ruleset, slot);
}

/* ---- as text ---- */

char *rf_ruleset_format_newcomers(const struct rf_ruleset *ruleset)
{
	const struct rf_newcomers *newcomers = &ruleset->bank.newcomers;
	char rate[RF_RATE_TEXT_SIZE], *text;

	if (newcomers->then == RF_NEWCOMERS_OFF)
		return strdup("newcomers off");
	rf_format_rate(newcomers->rate, newcomers->window_ns, rate);
	if (asprintf(&text, "newcomers rate %s then %s", rate,
		     rf_newcomers_then_name(newcomers->then)) < 0)
		return NULL;
	return text;
}
