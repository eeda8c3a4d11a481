// SPDX-License-Identifier: GPL-2.0
/* A set of rules: limits with their ports, and the prefixes that lists and limits name. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/siphash.h"
#include "base/sort.h"
#include "ringfence/fleet.h"
#include "ringfence/share.h"
#include "rules/attribute.h"
#include "rules/policy.h"
#include "rules/private.h"
#include "rules/ruleset.h"

/* ---- entries of lists ---- */

/* ---- owners ---- */

static const char *const fixed_names[RF_OWNERS_FIXED] = {
	[RF_OWNER_MANUAL] = "manual",
	[RF_OWNER_FLEET] = "fleet",
	[RF_OWNER_LOAD] = "load",
};

const char *rf_owner_name(const struct rf_owners *owners, unsigned int owner)
{
	const char *name = owner < RF_OWNERS_FIXED ? fixed_names[owner]
						   : owners->name[owner - RF_OWNERS_FIXED];

	return *name ? name : "?";
}

void rf_format_by(const struct rf_owners *owners, unsigned int owner, char text[RF_BY_TEXT_SIZE])
{
	*text = '\0';
	if (owner != RF_OWNER_MANUAL)
		snprintf(text, RF_BY_TEXT_SIZE, " by %s", rf_owner_name(owners, owner));
}

int rf_owner_find(const struct rf_owners *owners, const char *name)
{
	for (int owner = 0; owner < RF_OWNERS_MAX; owner++)
		if (strcmp(rf_owner_name(owners, owner), name) == 0)
			return owner;
	return -1;
}

int rf_owner_add(struct rf_owners *owners, const char *name, struct rf_error *error)
{
	const int owner = rf_owner_find(owners, name);

	if (owner >= 0)
		return owner;
	for (int i = 0; i < RF_OWNERS_MAX - RF_OWNERS_FIXED; i++) {
		if (*owners->name[i])
			continue;
		strncpy(owners->name[i], name, RF_OWNER_SIZE - 1);
		return i + RF_OWNERS_FIXED;
	}
	return rf_error_failed(error, -ENOSPC,
			       "'by %s': the lists have %d owners already, the most there can be; "
			       "'deny flush by NAME' removes one",
			       name, RF_OWNERS_MAX);
}

int rf_owners_join(struct rf_owners *owners, const struct rf_owners *from,
		   uint8_t number[RF_OWNERS_MAX], struct rf_error *error)
{
	for (int i = 0; i < RF_OWNERS_MAX; i++) {
		const char *name = i < RF_OWNERS_FIXED ? "" : from->name[i - RF_OWNERS_FIXED];
		const int owner = *name ? rf_owner_add(owners, name, error) : i;

		if (owner < 0)
			return owner;
		number[i] = owner;
	}
	return 0;
}

/* ---- claims ---- */

static bool is_of(const struct rf_list_claim *claim, enum rf_list list)
{
	return claim->until && claim->is_deny == (list == RF_DENY);
}

static uint64_t until_of(const struct rf_list_claim *claim)
{
	return claim->until == RF_LIST_CLAIM_FOREVER ? RF_FOREVER : claim->until;
}

static uint64_t until_among(const struct rf_list_claim claim[RF_LIST_CLAIMS], enum rf_list list,
			    const struct rf_owner_set *owners)
{
	uint64_t until = 0;

	for (int i = 0; i < RF_LIST_CLAIMS; i++)
		if (is_of(&claim[i], list) && rf_owner_set_has(owners, claim[i].owner) &&
		    until_of(&claim[i]) > until)
			until = until_of(&claim[i]);
	return until;
}

uint64_t rf_list_claims_until(const struct rf_list_claim claim[RF_LIST_CLAIMS], enum rf_list list)
{
	return until_among(claim, list, &RF_OWNERS_ALL);
}

uint64_t rf_listed_until(const struct rf_listed *listed, enum rf_list list)
{
	return rf_list_claims_until(listed->claim, list);
}

uint64_t rf_listed_until_by(const struct rf_listed *listed, enum rf_list list, unsigned int owner)
{
	struct rf_owner_set one = {};

	rf_owner_set_add(&one, owner);
	return until_among(listed->claim, list, &one);
}

uint64_t rf_listed_local_until(const struct rf_listed *listed, enum rf_list list)
{
	return until_among(listed->claim, list, &RF_OWNERS_LOCAL);
}

int rf_listed_owners(const struct rf_listed *listed, enum rf_list list,
		     const struct rf_owner_set *among, uint8_t owner[RF_LIST_CLAIMS])
{
	int count = 0;

	for (int i = 0; i < RF_LIST_CLAIMS; i++)
		if (is_of(&listed->claim[i], list) &&
		    rf_owner_set_has(among, listed->claim[i].owner))
			owner[count++] = listed->claim[i].owner;
	return count;
}

size_t rf_ruleset_count_listed(const struct rf_ruleset *ruleset, enum rf_list list,
			       const struct rf_owner_set *of)
{
	size_t count = 0;

	for (size_t i = 0; i < ruleset->listed_count; i++)
		count += until_among(ruleset->listed[i].claim, list, of) != 0;
	return count;
}

/* The first claims are in use, which makes equal entries equal in memory. */
static void remove_claim(struct rf_list_claim *claim, int at)
{
	memmove(claim + at, claim + at + 1, (RF_LIST_CLAIMS - 1 - at) * sizeof(*claim));
	claim[RF_LIST_CLAIMS - 1] = (struct rf_list_claim){};
}

int rf_listed_claim(struct rf_listed *listed, enum rf_list list, unsigned int owner, uint64_t until)
{
	struct rf_list_claim *claim = listed->claim;
	int at = 0;

	while (at < RF_LIST_CLAIMS && claim[at].until &&
	       !(is_of(&claim[at], list) && claim[at].owner == owner))
		at++;
	if (!until) {
		if (at < RF_LIST_CLAIMS)
			remove_claim(claim, at);
		return 0;
	}
	if (at == RF_LIST_CLAIMS)
		return -ENOSPC;
	claim[at] = (struct rf_list_claim){
		.until = until >= RF_LIST_CLAIM_FOREVER ? RF_LIST_CLAIM_FOREVER : until,
		.owner = owner,
		.is_deny = list == RF_DENY,
	};
	return 0;
}

void rf_listed_release(struct rf_listed *listed, enum rf_list list,
		       const struct rf_owner_set *owners)
{
	for (int i = RF_LIST_CLAIMS - 1; i >= 0; i--)
		if (is_of(&listed->claim[i], list) &&
		    rf_owner_set_has(owners, listed->claim[i].owner))
			remove_claim(listed->claim, i);
}

/* Removes the claims that have expired at `jiffies`. Were there any? */
static bool listed_expire(struct rf_listed *listed, uint64_t jiffies)
{
	bool had_expired = false;

	for (int i = RF_LIST_CLAIMS - 1; i >= 0; i--)
		if (listed->claim[i].until && until_of(&listed->claim[i]) <= jiffies) {
			remove_claim(listed->claim, i);
			had_expired = true;
		}
	return had_expired;
}

bool rf_listed_is_empty(const struct rf_listed *listed)
{
	return !listed->claim[0].until && !listed->from;
}

/* ---- rules ---- */

/* A set of rules: limits with their ports, and the prefixes that lists and limits name. */

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

/* Ports can be NULL. */
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

/* Changes nothing on failure. */
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
		if (listed_expire(&ruleset->listed[i], jiffies))
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

/* ---- newcomers ---- */

bool rf_bank_answers(const struct rf_bank *bank)
{
	return bank->newcomers.then == RF_NEWCOMERS_CHALLENGE || bank->truncates;
}

void rf_bank_set_newcomers(struct rf_bank *bank, const struct rf_newcomers_text *text)
{
	struct rf_newcomers *newcomers = &bank->newcomers;

	newcomers->rate = text->rate.count;
	newcomers->window_ns = text->rate.window_ns;
	newcomers->then = text->then;
	newcomers->except_established = text->except_established;
	newcomers->answers = text->answers.count;
	newcomers->answers_ns = text->answers.window_ns;
	newcomers->dns_ports = text->dns_ports;
	memcpy(newcomers->dns_port, text->dns_port, sizeof(newcomers->dns_port));
}

/* ---- divided /64s ---- */

/* IPv6 /64s of which rules name only a part. */

/* Are both IPv6, at least 64 bits long, and in the same /64? */
static bool in_same_64(const struct rf_prefix *a, const struct rf_prefix *b)
{
	return a->version == 6 && b->version == 6 && a->length >= 64 && b->length >= 64 &&
	       a->word[0] == b->word[0] && a->word[1] == b->word[1];
}

/* Must an entry for the /64 be added before entry `i`? The first entry in a /64 is the shortest. */
static bool lacks_64(const struct rf_listed *listed, size_t i)
{
	const struct rf_prefix *prefix = &listed[i].prefix;

	return prefix->version == 6 && prefix->length > 64 &&
	       (!i || !in_same_64(&listed[i - 1].prefix, prefix));
}

static struct rf_listed entry_of_64(const struct rf_prefix *prefix)
{
	struct rf_listed entry = {.prefix = {.version = 6, .length = 64}};

	memcpy(entry.prefix.word, prefix->word, 2 * sizeof(prefix->word[0]));
	return entry;
}

/*
 * A lease covers a whole /64, therefore a /64 that contains a longer prefix must get no lease.
 * Sources in the rest of the /64 must find the mark, too: each such /64 has an entry, an empty one
 * if no rule names it. Empty entries of earlier rules are dropped first.
 */
int rf_ruleset_add_divided(struct rf_ruleset *ruleset, struct rf_error *error)
{
	size_t count, lacking = 0;
	struct rf_listed *listed;

	rf_ruleset_expire(ruleset, 0); /* drops empty entries */
	count = ruleset->listed_count;
	for (size_t i = 0; i < count; i++)
		lacking += lacks_64(ruleset->listed, i);
	if (!lacking)
		return 0;
	listed = reallocarray(NULL, count + lacking, sizeof(*listed));
	if (!listed)
		return rf_error_failed(error, -ENOMEM, "out of memory for %zu prefixes", count);
	ruleset->listed_count = 0;
	for (size_t i = 0; i < count; i++) {
		if (lacks_64(ruleset->listed, i))
			listed[ruleset->listed_count++] = entry_of_64(&ruleset->listed[i].prefix);
		listed[ruleset->listed_count++] = ruleset->listed[i];
	}
	free(ruleset->listed);
	ruleset->listed = listed;
	return 0;
}

/*
 * Is it a /64 that contains a longer prefix, or such a longer prefix? After
 * rf_ruleset_add_divided() each such /64 has an entry, and its longer prefixes follow.
 */
bool rf_ruleset_is_divided(const struct rf_ruleset *ruleset, size_t i)
{
	const struct rf_prefix *prefix = &ruleset->listed[i].prefix;

	if (prefix->version == 4 || prefix->length < 64)
		return false;
	return prefix->length > 64 || (i + 1 < ruleset->listed_count &&
				       in_same_64(prefix, &ruleset->listed[i + 1].prefix));
}

/* ---- definitions of a fleet ---- */

/* Not secret: all hosts have the same. The last digit is the version of the text. */
static const uint64_t key[2] = {0x72696e6766656e63, 0x6520666c65657401};

/* ---- the definition of each attribute, independent of its notation ---- */

__attribute__((format(printf, 2, 3))) static void append(struct rf_writing *to, const char *format,
							 ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(to->stream, format, args);
	va_end(args);
}

static void define_rate(struct rf_writing *to)
{
	append(to, "rate %" PRIu64 "/%" PRIu64 " unit %d", (uint64_t)to->limit->rate,
	       (uint64_t)to->limit->window_ns, to->limit->unit);
}

static void define_match(struct rf_writing *to)
{
	append(to, " match %d proto %d", to->limit->match,
	       to->limit->match == RF_MATCH_PROTOCOL ? to->limit->protocol : 0);
}

static void define_lengths(struct rf_writing *to)
{
	append(to, " length %d-%d", to->limit->length_min, to->limit->length_max);
}

static void define_flags(struct rf_writing *to)
{
	append(to, " flags %d/%d", to->limit->tcp_flags, to->limit->tcp_mask);
}

static void define_number(struct rf_writing *to)
{
	append(to, " %s %" PRIu64, rf_limit_options[to->part].word,
	       rf_attribute_value(to->part, to->limit));
}

static void define_initial(struct rf_writing *to)
{
	const struct rf_bank *bank = &to->ruleset->bank;

	append(to, " initial %" PRIu64 " hosts %" PRIu32, rf_bank_first(bank, to->limit),
	       bank->hosts);
}

/* Each item of a list separately, with the word. */
static void define_items(struct rf_writing *to)
{
	char before[RF_NAME_SIZE];

	snprintf(before, sizeof(before), " %s ", rf_limit_options[to->part].word);
	to->before = to->between = before;
	rf_attributes[to->part].write(to);
}

/* In the order of the prefixes, regardless of their order in the rules. */
static void define_to(struct rf_writing *to)
{
	const struct rf_shapes *shapes = &to->ruleset->bank.shapes;
	struct rf_prefix prefix, last, next = {};
	char text[RF_PREFIX_TEXT_SIZE];

	for (bool is_first = true;; is_first = false) {
		bool found = false;

		for (int at = 0; rf_to_next(shapes, to->slot, &at, &prefix);) {
			if (!is_first && rf_prefix_compare(&prefix, &last) <= 0)
				continue;
			if (!found || rf_prefix_compare(&prefix, &next) < 0)
				next = prefix;
			found = true;
		}
		if (!found)
			return;
		rf_format_prefix(&next, text);
		append(to, " to %s", text);
		last = next;
	}
}

/* ---- the complete rule set ---- */

#define DEFINED(by) by
#define EACH_HOST NULL
#define PART(id, word, option, store, no, text, json, define, ...) [RF_OPT_##id] = define,
#define HEAD(id, word, option, store, text, json, define, ...) [RF_OPT_##id] = define,
#define WORD(...)

/* NULL: each host decides it for itself. */
static void (*const definitions[RF_LIMIT_OPTIONS])(struct rf_writing *to) = {
#include "schema/limit.def"
};

/* Single values come first, then lists. */
static void write_text(FILE *stream, const struct rf_ruleset *ruleset, int slot)
{
	struct rf_writing to = {.stream = stream,
				.limit = &ruleset->bank.limit[slot],
				.ruleset = ruleset,
				.slot = slot};

	for (int i = 0; i < 2 * RF_LIMIT_OPTIONS; i++) {
		to.part = i % RF_LIMIT_OPTIONS;
		if (definitions[to.part] &&
		    rf_option_is_list(&rf_limit_options[to.part]) == (i >= RF_LIMIT_OPTIONS))
			definitions[to.part](&to);
	}
}

int rf_ruleset_definition(const struct rf_ruleset *ruleset, int slot, uint64_t *definition)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	bool failed;

	if (!stream)
		return -ENOMEM;
	write_text(stream, ruleset, slot);
	failed = ferror(stream);
	failed |= fclose(stream) != 0;
	if (!failed)
		*definition = rf_siphash(key, text, size);
	free(text);
	return failed ? -ENOMEM : 0;
}

int rf_ruleset_define(struct rf_ruleset *ruleset, uint32_t *next_id, struct rf_error *error)
{
	for (uint32_t slots = rf_bank_fleet(&ruleset->bank); slots; slots &= slots - 1) {
		const int slot = __builtin_ctz(slots);
		struct rf_limit *limit = &ruleset->bank.limit[slot];
		uint64_t definition;

		if (rf_ruleset_definition(ruleset, slot, &definition))
			return rf_error_failed(error, -ENOMEM, "limit '%s': out of memory",
					       limit->name);
		if (definition == limit->definition)
			continue;
		limit->definition = definition;
		ruleset->bank.policy[slot].tag = rf_tag_of((*next_id)++);
	}
	return 0;
}

/* ---- validation of a bank ---- */

/*
 * Checks whether ringfence can have written a bank of rules. The fence's owner has write access to
 * the memory of the bank, and can be another user than the reader. Each value that is an index, a
 * divisor or a shift, or is printed, is therefore checked against its bounds. Whether the rules
 * make sense is the owner's responsibility.
 */

/* The first fault of a policy; NULL: none. */
static const char *find_fault_of_policy(const struct rf_policy *policy)
{
	if (!policy->cell)
		return "the length of a cell";
	if (!policy->cells || policy->cells > RF_CELLS_MAX)
		return "the number of cells";
	if (policy->clock > RF_KTIME)
		return "the clock";
	if (policy->algorithm > RF_LEAKY || policy->edge > RF_EDGE_WEIGHTED)
		return "the algorithm";
	if (policy->unit > RF_BYTES || policy->unit_shift > RF_UNIT_SHIFT_MAX)
		return "the unit";
	if (policy->time_shift > RF_TIME_SHIFT || policy->used_shift > RF_USED_SHIFT_MAX)
		return "the length of a cell";
	if (policy->scale > 63)
		return "the scale";
	if (policy->loan_frame > policy->loan_period || policy->loan_period > RF_LOAN_PERIOD_MAX)
		return "the period of loans";
	if (policy->counters >= RF_LIMIT_COUNTERS_MAX)
		return "the counters";
	return policy->limit > RF_LIMIT_MAX ? "the rate" : NULL;
}

static const char *find_fault_of_limit(const struct rf_limit *limit)
{
	if (!rf_name_is_valid(limit->name))
		return "the name";
	if (!limit->rate &&
	    (limit->match == RF_MATCH_OTHER || limit->ban_ns || limit->flags & RF_FLEET))
		return "the rate";
	if (!limit->window_ns || limit->window_ns > RF_WINDOW_MAX_NS)
		return "the window";
	if (limit->algorithm > RF_LEAKY || limit->edge > RF_EDGE_WEIGHTED)
		return "the algorithm";
	if (limit->unit > RF_BYTES)
		return "the unit";
	if (!limit->cells || limit->cells > RF_CELLS_MAX)
		return "the number of cells";
	if (limit->per4 > 32 || limit->per6 > 128)
		return "the grouping";
	if (limit->match > RF_MATCH_OTHER || limit->has_ports > 1 || limit->has_from > 1 ||
	    limit->has_sports > 1 || limit->has_to > 1)
		return "the match";
	if (limit->length_min > limit->length_max)
		return "the lengths";
	if (limit->truncate_one_in > RF_TRUNCATE_ONE_IN_MAX)
		return "what happens over it";
	if (limit->first > limit->rate || limit->alone > limit->rate)
		return "its fleet options";
	return NULL;
}

static const char *find_fault_of_answers(const struct rf_newcomers *newcomers)
{
	if (!newcomers->answers || !newcomers->answers_ns ||
	    newcomers->answers_ns > RF_WINDOW_MAX_NS)
		return "the rate of answers";
	if (newcomers->dns_ports > RF_DNS_PORTS_MAX)
		return "the ports of DNS";
	return find_fault_of_policy(&newcomers->answers_policy);
}

static const char *find_fault_of_newcomers(const struct rf_bank *bank)
{
	const struct rf_newcomers *newcomers = &bank->newcomers;
	const char *fault = NULL;

	if (newcomers->then > RF_NEWCOMERS_CHALLENGE || newcomers->guard > 1 ||
	    newcomers->except_established > 1)
		return "what becomes of them";
	if (rf_bank_answers(bank))
		fault = find_fault_of_answers(newcomers);
	if (newcomers->then == RF_NEWCOMERS_OFF)
		return fault;
	if (!newcomers->rate || !newcomers->window_ns || newcomers->window_ns > RF_WINDOW_MAX_NS)
		return "the rate";
	return fault ? fault : find_fault_of_policy(&newcomers->policy);
}

int rf_bank_check(const struct rf_bank *bank, struct rf_error *error)
{
	const char *fault = find_fault_of_newcomers(bank);

	if (!fault && bank->hosts > RF_FLEET_HOSTS_MAX)
		return rf_error_failed(error, -EPROTO,
				       "the number of the fleet's hosts is not as ringfence writes "
				       "it; detach the fence, and attach it again");
	if (fault)
		return rf_error_failed(error, -EPROTO,
				       "the rules for newcomers are not as ringfence writes them "
				       "(%s); detach the fence, and attach it again",
				       fault);
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++) {
		if (!bank->policy[slot].id)
			continue;
		fault = find_fault_of_limit(&bank->limit[slot]);
		if (!fault)
			fault = find_fault_of_policy(&bank->policy[slot]);
		if (fault)
			return rf_error_failed(error, -EPROTO,
					       "the limit in slot %d is not as ringfence writes it "
					       "(%s); detach the fence, and attach it again",
					       slot, fault);
	}
	return 0;
}
