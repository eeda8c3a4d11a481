// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "rules/classes.h"
#include "rules/places.h"

/* ---- groups ---- */

/* Do both limits match and group packets in the same way, apart from their `from`? */
static bool match_alike(const struct rf_ruleset *ruleset, int a, int b)
{
	const struct rf_limit *one = &ruleset->bank.limit[a], *other = &ruleset->bank.limit[b];

	if (one->match != other->match || one->protocol != other->protocol ||
	    one->per4 != other->per4 || one->per6 != other->per6 ||
	    one->has_ports != other->has_ports || !rf_shapes_are_alike(ruleset, a, b))
		return false;
	return !one->has_ports || memcmp(ruleset->ports[a], ruleset->ports[b], RF_PORTS / 8) == 0;
}

/* What passes at once: a bucket's burst, or all that fits in a window. */
static uint64_t at_once(const struct rf_limit *limit)
{
	return rf_has_burst(limit) ? limit->burst : limit->rate;
}

/* Is it no stricter than `other`, neither in what passes at once nor in the long run? */
static bool allows_at_least(const struct rf_limit *limit, const struct rf_limit *other)
{
	if (!other->rate)
		return true;
	return limit->unit == other->unit && at_once(limit) >= at_once(other) &&
	       (unsigned __int128)limit->rate * other->window_ns >=
		       (unsigned __int128)other->rate * limit->window_ns;
}

/* Compares the limits of two slots. */
static void find_pair(const struct rf_ruleset *ruleset, int a, int b, struct rf_places *places)
{
	const struct rf_limit *one = &ruleset->bank.limit[a], *other = &ruleset->bank.limit[b];

	if (a == b || !ruleset->bank.policy[b].id || !match_alike(ruleset, a, b))
		return;
	places->group[a] |= 1U << b;
	if (!(one->flags & RF_SHADOW) || allows_at_least(one, other))
		places->hides[a] |= 1U << b;
	if (allows_at_least(other, one))
		places->at_most[a] |= 1U << b;
}

void rf_places_start(struct rf_places *places, const struct rf_ruleset *ruleset)
{
	const struct rf_bank *bank = &ruleset->bank;
	uint32_t everywhere = 0;

	*places = (struct rf_places){.depth = 1};
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++) {
		if (!bank->policy[slot].id)
			continue;
		if (bank->limit[slot].flags & RF_SHADOW)
			places->shadows |= 1U << slot;
		if (!bank->limit[slot].has_from && bank->limit[slot].match != RF_MATCH_OTHER)
			everywhere |= 1U << slot;
		for (int other = 0; other < RF_LIMITS_MAX; other++)
			find_pair(ruleset, slot, other, places);
	}
	places->place[0].from = places->place[0].limits = everywhere;
}

/* ---- places ---- */

/* A walk from the narrowest limits of a place to the widest; bit sets of slots. */
struct walk {
	uint32_t seen;	     /* limits that name a prefix around the place */
	uint32_t applied;    /* those among them that apply */
	uint32_t hidden;     /* by one that applies */
	uint32_t overridden; /* by one that applies and is in force */
	uint32_t whole;	     /* shadows whose prefix is the whole family: as wide as no `from` */
};

/* The limits that the limit in `slot` hides if they are wider. */
static uint32_t hidden_by(const struct rf_places *places, const struct walk *walk, int slot)
{
	const uint32_t hides = places->hides[slot];

	return walk->whole >> slot & 1 ? hides & ~places->place[0].from : hides;
}

/* Notes what the shadows so far do to a limit in force that is wider. */
static void note_pairs(struct rf_places *places, const struct walk *walk, int in_force)
{
	const uint32_t shadows = walk->applied & places->shadows & places->group[in_force];
	const uint32_t bit = 1U << in_force;

	for (uint32_t left = shadows; left; left &= left - 1) {
		const int shadow = __builtin_ctz(left);

		if (hidden_by(places, walk, shadow) & bit)
			places->pairs.exempts[shadow] |= bit;
		else if (!(walk->hidden & bit) && !(places->at_most[shadow] & bit))
			places->pairs.leaves[shadow] |= bit;
	}
}

/* Limits that name the same prefix: they hide none of each other. */
static void walk_on(struct rf_places *places, struct walk *walk, const struct rf_place *place)
{
	const uint32_t layer = place->from & ~walk->seen, now = layer & ~walk->hidden;
	const uint32_t in_force = layer & ~places->shadows & ~walk->overridden;

	for (uint32_t left = in_force; left; left &= left - 1)
		note_pairs(places, walk, __builtin_ctz(left));
	if (place->prefix && !place->prefix->length)
		walk->whole = now & places->shadows;
	for (uint32_t left = now; left; left &= left - 1) {
		const int slot = __builtin_ctz(left);

		walk->hidden |= hidden_by(places, walk, slot);
		if (!(places->shadows >> slot & 1))
			walk->overridden |= places->group[slot];
	}
	walk->seen |= layer;
	walk->applied |= now;
}

const struct rf_place *rf_places_enter(struct rf_places *places, const struct rf_listed *listed)
{
	struct rf_place *place;
	struct walk walk = {};

	while (places->depth > 1 &&
	       !rf_prefix_contains(places->place[places->depth - 1].prefix, &listed->prefix))
		places->depth--;
	place = &places->place[places->depth++];
	*place = place[-1];
	place->prefix = &listed->prefix;
	place->from = listed->from;
	for (int list = 0; list < RF_LIST_COUNT; list++)
		if (rf_listed_until(listed, list) > place->until[list])
			place->until[list] = rf_listed_until(listed, list);
	if (!listed->from)
		return place;
	for (int i = places->depth - 1; i >= 0; i--)
		if (places->place[i].from)
			walk_on(places, &walk, &places->place[i]);
	place->limits = walk.applied;
	return place;
}

struct rf_place rf_place_of(const struct rf_ruleset *ruleset, const struct rf_prefix *prefix)
{
	struct rf_places places;

	rf_places_start(&places, ruleset);
	for (unsigned int length = 0; length <= prefix->length; length++) {
		struct rf_prefix outer = {.version = prefix->version, .length = length};
		const struct rf_listed *listed;

		for (unsigned int i = 0; i < 4; i++)
			outer.word[i] = prefix->word[i] & rf_prefix_mask(length, i);
		listed = rf_ruleset_find(ruleset, &outer);
		if (listed)
			rf_places_enter(&places, listed);
	}
	return places.place[places.depth - 1];
}

void rf_ruleset_find_pairs(const struct rf_ruleset *ruleset, struct rf_pairs *pairs)
{
	struct rf_places places;

	rf_places_start(&places, ruleset);
	for (size_t i = 0; i < ruleset->listed_count; i++)
		rf_places_enter(&places, &ruleset->listed[i]);
	*pairs = places.pairs;
}
