// SPDX-License-Identifier: GPL-2.0
/*
 * Random rulesets against an oracle that compiles nothing: it evaluates limits and lists from
 * scratch for each packet. The text of a ruleset is also read back as the same set.
 */
#include "charged.h"
#include "random_prefix.h"

#include <arpa/inet.h>
#include <stdio.h>

#define RULESETS 400
#define SOURCES 60 /* for each of them */
#define LIMITS_MOST 9
#define ENTRIES_MOST 24

/* ---- random limits ---- */

struct entry {
	enum rf_list list;
	struct rf_prefix prefix;
	uint64_t until;
};

/* The rules that the random text describes. */
struct asked {
	struct rf_definition limit[RF_LIMITS_MAX];
	bool has_limit[RF_LIMITS_MAX];
	struct entry entry[ENTRIES_MOST];
	int entries;
};

static void random_limit(uint64_t *random, int number, char text[1024])
{
	const char *match = UNIT_PICK(random, "", "", " match tcp", " match tcp syn", " match udp",
				      " match icmp", " match proto 6", " match proto 47");
	const bool may_have_ports = !strstr(match, "icmp") && !strstr(match, "47");
	size_t length;

	length = sprintf(
		text, "l%d rate %s%s%s", number,
		UNIT_PICK(random, "1k/1s", "1k/1s", "2k/2s", "5k/10s", "10mbit", "3000M/1s bytes",
			  "1k/1s algorithm token", "5k/10s algorithm token burst 100",
			  "900/1s algorithm leaky burst 1k"),
		match,
		may_have_ports ? UNIT_PICK(random, "", "", " dport 1", " dport 1,3-5,65535",
					   " dport 0-65535", " dport 4")
			       : "");
	length += sprintf(text + length, "%s%s%s",
			  UNIT_PICK(random, "", "", "", " per /24", " per /8"),
			  UNIT_PICK(random, "", "", "", " per6 /48", " per6 /128"),
			  UNIT_PICK(random, "", "", "", " shadow"));
	if (unit_below(random, 3) == 0)
		return;
	length += sprintf(text + length, " from ");
	for (int i = unit_below(random, 4); i >= 0; i--) {
		struct rf_prefix prefix = random_prefix(random);
		char written[RF_PREFIX_TEXT_SIZE];

		rf_format_prefix(&prefix, written);
		length += sprintf(text + length, "%s%s", written, i ? "," : "");
	}
}

static void ask_limits(uint64_t *random, struct asked *asked, struct rules *rules)
{
	for (int i = unit_below(random, LIMITS_MOST); i >= 0; i--) {
		int slot = unit_below(random, RF_LIMITS_MAX);
		char text[1024];

		random_limit(random, i, text);
		if (asked->has_limit[slot])
			rf_definition_free(&asked->limit[slot]);
		assert_accepted(definition_of(text, &asked->limit[slot], &rules->error),
				&rules->error);
		asked->has_limit[slot] = true;
		rules_put(rules, slot, text);
	}
}

static void ask_lists(uint64_t *random, struct asked *asked, struct rules *rules)
{
	for (int i = unit_below(random, ENTRIES_MOST); i > 0; i--) {
		struct entry *entry = &asked->entry[asked->entries++];
		char text[RF_PREFIX_TEXT_SIZE];

		*entry = (struct entry){.list = unit_below(random, 2),
					.prefix = random_prefix(random),
					.until = 1 + unit_below(random, 1000)};
		rf_format_prefix(&entry->prefix, text);
		rules_list(rules, entry->list, text, entry->until);
	}
}

/* ---- the oracle ---- */

struct kind {
	int protocol;
	bool is_syn;
	int port;
};

static const struct kind kinds[] = {
	{0, false, NO_PORT},   {ICMP, false, NO_PORT}, {ICMPV6, false, NO_PORT},
	{47, false, NO_PORT},  {255, false, NO_PORT},  {TCP, false, NO_PORT},
	{UDP, false, NO_PORT}, {TCP, false, 0},	       {TCP, false, 1},
	{TCP, false, 2},       {TCP, false, 3},	       {TCP, false, 4},
	{TCP, false, 5},       {TCP, false, 6},	       {TCP, false, 65535},
	{TCP, true, 0},	       {TCP, true, 1},	       {TCP, true, 2},
	{TCP, true, 3},	       {TCP, true, 4},	       {TCP, true, 5},
	{TCP, true, 6},	       {TCP, true, 65535},     {UDP, false, 0},
	{UDP, false, 1},       {UDP, false, 2},	       {UDP, false, 3},
	{UDP, false, 4},       {UDP, false, 5},	       {UDP, false, 6},
	{UDP, false, 65535},
};

static bool kind_fits(const struct rf_definition *limit, const struct kind *kind)
{
	const int protocol = kind->protocol, match = limit->limit.match;

	if (match == RF_MATCH_TCP && protocol != TCP)
		return false;
	if (match == RF_MATCH_SYN && !kind->is_syn)
		return false;
	if (match == RF_MATCH_UDP && protocol != UDP)
		return false;
	if (match == RF_MATCH_ICMP && protocol != ICMP && protocol != ICMPV6)
		return false;
	if (match == RF_MATCH_PROTOCOL && protocol != limit->limit.protocol)
		return false;
	if (!limit->limit.has_ports)
		return true;
	return kind->port != NO_PORT && limit->ports[kind->port / 64] >> kind->port % 64 & 1;
}

/*
 * The length of the limit's longest prefix that contains the source: -1 without `from`, -2 if none
 * does.
 */
static int from_length(const struct rf_definition *limit, const struct rf_prefix *source)
{
	int longest = -2;

	if (!limit->limit.has_from)
		return -1;
	for (size_t i = 0; i < limit->from.count; i++)
		if (rf_prefix_contains(&limit->from.prefix[i], source) &&
		    (int)limit->from.prefix[i].length > longest)
			longest = limit->from.prefix[i].length;
	return longest;
}

static bool differ_in_from_alone(const struct rf_definition *a, const struct rf_definition *b)
{
	if (a->limit.match != b->limit.match || a->limit.protocol != b->limit.protocol ||
	    a->limit.per4 != b->limit.per4 || a->limit.per6 != b->limit.per6 ||
	    a->limit.has_ports != b->limit.has_ports)
		return false;
	return !a->limit.has_ports || memcmp(a->ports, b->ports, RF_PORTS / 8) == 0;
}

/* Would every packet that passes `b` immediately, and over a long time, also pass `a`? */
static bool allows_as_much(const struct rf_limit *a, const struct rf_limit *b)
{
	const uint64_t a_ms = a->window_ns / RF_NS_PER_MS, b_ms = b->window_ns / RF_NS_PER_MS;
	const uint64_t a_once = a->algorithm >= RF_TOKEN ? a->burst : a->rate;
	const uint64_t b_once = b->algorithm >= RF_TOKEN ? b->burst : b->rate;

	return a->unit == b->unit && a_once >= b_once && a->rate * b_ms >= b->rate * a_ms;
}

static bool hides(const struct rf_definition *a, int a_length, const struct rf_definition *b,
		  int b_length)
{
	if (!differ_in_from_alone(a, b) || a_length <= b_length)
		return false;
	if (!(a->limit.flags & RF_SHADOW))
		return true;
	if (a_length == 0) /* it is as wide as one without `from` */
		return false;
	return allows_as_much(&a->limit, &b->limit);
}

/* Does a limit apply to a source? It does unless a narrower one that applies hides it. */
static bool applies(const struct asked *asked, int slot, const struct rf_prefix *source)
{
	const struct rf_definition *limit = &asked->limit[slot];
	const int length = from_length(limit, source);

	if (length == -2)
		return false;
	for (int other = 0; other < RF_LIMITS_MAX; other++)
		if (asked->has_limit[other] &&
		    hides(&asked->limit[other], from_length(&asked->limit[other], source), limit,
			  length) &&
		    applies(asked, other, source))
			return false;
	return true;
}

static uint32_t expect_charged(const struct asked *asked, const struct rf_prefix *source,
			       const struct kind *kind)
{
	uint32_t charged = 0;

	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		if (asked->has_limit[slot] && kind_fits(&asked->limit[slot], kind) &&
		    applies(asked, slot, source))
			charged |= 1U << slot;
	return charged;
}

/* The last entry for each prefix; later entries replace earlier ones. */
static uint64_t expect_until(const struct asked *asked, enum rf_list list,
			     const struct rf_prefix *source)
{
	uint64_t until = 0;

	for (int i = 0; i < asked->entries; i++) {
		const struct entry *entry = &asked->entry[i];
		bool is_last = true;

		for (int j = i + 1; j < asked->entries; j++)
			is_last &= asked->entry[j].list != list ||
				   rf_prefix_compare(&asked->entry[j].prefix, &entry->prefix) != 0;
		if (entry->list == list && is_last && rf_prefix_contains(&entry->prefix, source) &&
		    entry->until > until)
			until = entry->until;
	}
	return until;
}

static bool divides(const struct rf_prefix *prefix, const struct rf_prefix *source)
{
	return prefix->version == 6 && source->version == 6 && prefix->length > 64 &&
	       memcmp(prefix->word, source->word, 8) == 0;
}

static bool expect_divided(const struct asked *asked, const struct rf_prefix *source)
{
	for (int i = 0; i < asked->entries; i++)
		if (divides(&asked->entry[i].prefix, source))
			return true;
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		for (size_t i = 0; asked->has_limit[slot] && i < asked->limit[slot].from.count; i++)
			if (divides(&asked->limit[slot].from.prefix[i], source))
				return true;
	return false;
}

/* ---- comparison ---- */

static void check_source(const struct asked *asked, const struct rules *rules,
			 const struct rf_prefix *source)
{
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(kinds); i++) {
		const struct kind *kind = &kinds[i];
		int class = class_of(rules, kind->protocol, kind->is_syn, kind->port);
		struct answer answer = answer_for(rules, source, class);

		assert_int_equal(answer.limits, expect_charged(asked, source, kind));
		assert_int_equal(answer.is_divided, expect_divided(asked, source));
		for (int list = 0; list < RF_LIST_COUNT; list++)
			assert_int_equal(answer.until[list], expect_until(asked, list, source));
		assert_true(__builtin_popcount(answer.limits) <= RF_CHARGED_MAX);
	}
}

/* A different source that would share the lease of the first source. */
static struct rf_prefix share_lease(uint64_t *random, const struct rf_bank *bank,
				    const struct rf_prefix *source)
{
	struct rf_prefix other = *source;
	__be32 mask[4] = {};

	mask[0] = source->version == 4 ? bank->lease_mask4 : (__be32)bank->lease_mask6;
	mask[1] = source->version == 4 ? 0 : (__be32)(bank->lease_mask6 >> 32);
	for (int i = 0; i < (source->version == 4 ? 1 : 4); i++)
		other.word[i] ^= (__be32)unit_random(random) & ~mask[i];
	return other;
}

static bool same_window(const struct rf_policy *policy, const struct rf_prefix *a,
			const struct rf_prefix *b)
{
	if (a->version == 4)
		return !((a->word[0] ^ b->word[0]) & policy->mask4);
	for (int i = 0; i < 4; i++)
		if ((a->word[i] ^ b->word[i]) & policy->mask6[i])
			return false;
	return true;
}

/* Sources that share a lease get the same verdict, and are charged to the same windows. */
static void check_lease(uint64_t *random, const struct rules *rules, const struct rf_prefix *source)
{
	const struct rf_bank *bank = &rules->ruleset.bank;
	const struct rf_prefix other = share_lease(random, bank, source);

	for (size_t i = 0; i < UNIT_ARRAY_SIZE(kinds); i++) {
		const struct kind *kind = &kinds[i];
		int class = class_of(rules, kind->protocol, kind->is_syn, kind->port);
		struct answer one = answer_for(rules, source, class);
		struct answer two = answer_for(rules, &other, class);

		assert_int_equal(one.is_divided, two.is_divided);
		if (one.is_divided || (source->version == 6 && bank->flags & RF_BANK_NO_LEASE6))
			continue;
		assert_int_equal(one.limits, two.limits);
		assert_memory_equal(one.until, two.until, sizeof(one.until));
		for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
			if (one.limits >> slot & 1)
				assert_true(same_window(&bank->policy[slot], source, &other));
	}
}

/* Is a source whose longest prefix is `place` charged to too many limits? */
static bool is_over(const struct asked *asked, const struct rf_prefix *place)
{
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(kinds); i++)
		if (__builtin_popcount(expect_charged(asked, place, &kinds[i])) > RF_CHARGED_MAX)
			return true;
	return false;
}

/* Where an enforced limit narrower than `wide` applies, a shadow makes no difference to `wide`. */
static bool is_overridden(const struct asked *asked, int wide, const struct rf_prefix *place)
{
	const int length = from_length(&asked->limit[wide], place);

	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		if (asked->has_limit[slot] && !(asked->limit[slot].limit.flags & RF_SHADOW) &&
		    hides(&asked->limit[slot], from_length(&asked->limit[slot], place),
			  &asked->limit[wide], length) &&
		    applies(asked, slot, place))
			return true;
	return false;
}

/* Adds the shadow's effect, in this place, to a wider enforced limit. */
static void expect_pair(const struct asked *asked, int shadow, int wide,
			const struct rf_prefix *place, struct rf_pairs *pairs)
{
	const struct rf_definition *a = &asked->limit[shadow], *b = &asked->limit[wide];
	const int a_length = from_length(a, place), b_length = from_length(b, place);

	if (!(a->limit.flags & RF_SHADOW) || b->limit.flags & RF_SHADOW || b_length == -2 ||
	    a_length <= b_length || !differ_in_from_alone(a, b) || !applies(asked, shadow, place) ||
	    is_overridden(asked, wide, place))
		return;
	if (hides(a, a_length, b, b_length))
		pairs->exempts[shadow] |= 1U << wide;
	else if (applies(asked, wide, place) && !allows_as_much(&b->limit, &a->limit))
		pairs->leaves[shadow] |= 1U << wide;
}

static void check_pairs(const struct asked *asked, const struct rf_ruleset *ruleset)
{
	struct rf_pairs pairs, expected = {};

	for (size_t i = 0; i < ruleset->listed_count; i++)
		for (int j = 0; j < RF_LIMITS_MAX * RF_LIMITS_MAX; j++)
			if (ruleset->listed[i].from && asked->has_limit[j / RF_LIMITS_MAX] &&
			    asked->has_limit[j % RF_LIMITS_MAX])
				expect_pair(asked, j / RF_LIMITS_MAX, j % RF_LIMITS_MAX,
					    &ruleset->listed[i].prefix, &expected);
	rf_ruleset_find_pairs(ruleset, &pairs);
	assert_memory_equal(&pairs, &expected, sizeof(pairs));
}

/* Enforcing a limit is never refused: it leaves other limits fewer packets, never more. */
static void check_enforcing(struct rules *rules)
{
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++) {
		struct rf_limit *limit = &rules->ruleset.bank.limit[slot];

		if (!(limit->flags & RF_SHADOW))
			continue;
		limit->flags &= ~RF_SHADOW;
		rules_compile(rules);
		limit->flags |= RF_SHADOW;
	}
}

static bool expect_refusal(const struct asked *asked, const struct rf_ruleset *ruleset)
{
	const struct rf_prefix nowhere = {.version = 0};

	if (is_over(asked, &nowhere))
		return true;
	for (size_t i = 0; i < ruleset->listed_count; i++)
		if (is_over(asked, &ruleset->listed[i].prefix))
			return true;
	return false;
}

/* Reads the text of the ruleset into a second one, which must be the same. */
static void check_text(const struct rules *rules)
{
	const struct rf_ruleset *ruleset = &rules->ruleset;
	struct rules again = RULES_NEW;

	for (int slot = 0; slot < RF_LIMITS_MAX; slot++) {
		char *text;

		if (!ruleset->bank.policy[slot].id)
			continue;
		text = rf_ruleset_format_limit(ruleset, slot);
		assert_non_null(text);
		assert_memory_equal(text, "limit add ", 10);
		rules_put(&again, slot, text + 10);
		free(text);
		/* Given by slots here, and in any order there. */
		again.ruleset.bank.limit[slot].order = ruleset->bank.limit[slot].order;
		assert_memory_equal(&again.ruleset.bank.limit[slot], &ruleset->bank.limit[slot],
				    sizeof(struct rf_limit));
		assert_int_equal(!again.ruleset.ports[slot], !ruleset->ports[slot]);
		if (ruleset->ports[slot])
			assert_memory_equal(again.ruleset.ports[slot], ruleset->ports[slot],
					    RF_PORTS / 8);
	}
	for (size_t i = 0; i < ruleset->listed_count; i++) {
		const struct rf_listed *listed = &ruleset->listed[i];
		const struct rf_listed *found = rf_ruleset_find(&again.ruleset, &listed->prefix);

		assert_int_equal(found ? found->from : 0, listed->from);
	}
	rules_free(&again);
}

static void check_sorted(const struct rf_ruleset *ruleset)
{
	for (size_t i = 1; i < ruleset->listed_count; i++)
		assert_true(rf_prefix_compare(&ruleset->listed[i - 1].prefix,
					      &ruleset->listed[i].prefix) < 0);
}

/* Returns true if the text was not refused. */
static bool check_ruleset(uint64_t *random)
{
	struct asked asked = {};
	struct rules rules = RULES_NEW;
	bool is_refused;

	ask_limits(random, &asked, &rules);
	ask_lists(random, &asked, &rules);
	check_sorted(&rules.ruleset);
	is_refused = rules_try_compile(&rules) != 0;
	check_sorted(&rules.ruleset);
	assert_int_equal(is_refused, expect_refusal(&asked, &rules.ruleset));
	for (int i = 0; !is_refused && i < SOURCES; i++) {
		struct rf_prefix source = random_source(random);

		check_source(&asked, &rules, &source);
		check_lease(random, &rules, &source);
	}
	check_pairs(&asked, &rules.ruleset);
	if (!is_refused)
		check_enforcing(&rules);
	check_text(&rules);
	rules_free(&rules);
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		rf_definition_free(&asked.limit[slot]);
	return !is_refused;
}

static void random_rulesets_agree_with_the_oracle(void **state)
{
	uint64_t random = unit_seed();
	int accepted = 0;

	(void)state;
	for (int i = 0; i < RULESETS; i++)
		accepted += check_ruleset(&random);
	assert_true(accepted > RULESETS / 4 && accepted < RULESETS);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(random_rulesets_agree_with_the_oracle),
};

int main(void)
{
	return cmocka_run_group_tests_name("ruleset, random", tests, NULL, NULL);
}
