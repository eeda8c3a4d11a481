// SPDX-License-Identifier: GPL-2.0
/*
 * The shape of packets: what limits ask for beyond protocol and destination port. Each part of a
 * shape excludes limits; here it is worked out which sets of limits all shapes together may leave.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rules/classes.h"

#define SYN 0x02
#define ACK 0x10
#define FACTORS_MAX 1000000

/* ---- what the limits ask for ---- */

uint32_t rf_shapes_limits(const struct rf_bank *bank)
{
	uint32_t limits = 0;

	for (int slot = 0; slot < RF_LIMITS_MAX; slot++) {
		const struct rf_limit *limit = &bank->limit[slot];

		if (bank->policy[slot].id &&
		    (limit->has_sports || limit->has_to || limit->length_max || limit->tcp_mask))
			limits |= 1U << slot;
	}
	return limits;
}

static bool have_same_sports(const uint64_t *one, const uint64_t *other)
{
	return one == other || (one && other && memcmp(one, other, RF_PORTS / 8) == 0);
}

static bool have_same_to(const struct rf_shapes *shapes, int a, int b)
{
	for (int i = 0; i < RF_TO_MAX; i++)
		if ((shapes->to4[i].own >> a & 1) != (shapes->to4[i].own >> b & 1) ||
		    (shapes->to6[i].own >> a & 1) != (shapes->to6[i].own >> b & 1))
			return false;
	return true;
}

bool rf_shapes_are_alike(const struct rf_ruleset *ruleset, int a, int b)
{
	const struct rf_limit *one = &ruleset->bank.limit[a], *other = &ruleset->bank.limit[b];

	return one->length_min == other->length_min && one->length_max == other->length_max &&
	       one->tcp_flags == other->tcp_flags && one->tcp_mask == other->tcp_mask &&
	       have_same_to(&ruleset->bank.shapes, a, b) &&
	       have_same_sports(ruleset->sports[a], ruleset->sports[b]);
}

/* ---- tables ---- */

static void find_with(const struct rf_bank *bank, struct rf_shapes *shapes)
{
	shapes->with_sport = shapes->with_to = shapes->with_length = shapes->with_flags = 0;
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++) {
		const struct rf_limit *limit = &bank->limit[slot];

		if (!bank->policy[slot].id)
			continue;
		shapes->with_sport |= (uint32_t)limit->has_sports << slot;
		shapes->with_to |= (uint32_t)limit->has_to << slot;
		shapes->with_length |= (uint32_t) !!limit->length_max << slot;
		shapes->with_flags |= (uint32_t) !!limit->tcp_mask << slot;
	}
}

/* The limits that a source port leaves. */
static uint32_t limits_of_sport(const struct rf_ruleset *ruleset, uint32_t with, int port)
{
	uint32_t limits = ~with;

	for (; with; with &= with - 1) {
		const int slot = __builtin_ctz(with);

		if (ruleset->sports[slot][port / 64] >> port % 64 & 1)
			limits |= 1U << slot;
	}
	return limits;
}

static uint32_t limits_of_length(const struct rf_ruleset *ruleset, uint32_t with, int length)
{
	uint32_t limits = ~with;

	for (; with; with &= with - 1) {
		const int slot = __builtin_ctz(with);
		const struct rf_limit *limit = &ruleset->bank.limit[slot];

		if (length >= limit->length_min && length <= limit->length_max)
			limits |= 1U << slot;
	}
	return limits;
}

typedef uint32_t (*limits_of)(const struct rf_ruleset *ruleset, uint32_t with, int value);

/* Fills a table of indexes by the value, and the bit sets that they lead to. */
static int compile_table(const struct rf_ruleset *ruleset, limits_of limits_of, uint32_t with,
			 __u8 index[65536], __u32 limits[RF_SETS_MAX])
{
	struct rf_sets sets = {};

	memset(limits, 0, RF_SETS_MAX * sizeof(*limits));
	for (int value = 0; with && value < 65536; value++) {
		const int number = rf_sets_number(&sets, limits_of(ruleset, with, value));

		if (number < 0)
			return number;
		index[value] = number;
	}
	memcpy(limits, sets.set, sets.count * sizeof(*limits));
	return 0;
}

/*
 * A header that is cut off before its flags counts as a SYN, here as in the parser. Other flags it
 * never gets: its receiver discards it, or waits for the fragment that begins at the flags, which
 * is dropped as RF_CLASS_UNKNOWN.
 */
static void compile_flags(const struct rf_bank *bank, struct rf_shapes *shapes)
{
	for (unsigned int i = 0; i < RF_TCP_FLAGS; i++) {
		const unsigned int flags = i == RF_TCP_FLAGS_CUT ? SYN : i;

		shapes->flags_limits[i] = ~shapes->with_flags;
		for (uint32_t left = shapes->with_flags; left; left &= left - 1) {
			const struct rf_limit *limit = &bank->limit[__builtin_ctz(left)];

			if ((flags & limit->tcp_mask) == limit->tcp_flags)
				shapes->flags_limits[i] |= left & -left;
		}
	}
}

/* An entry has the limits of all prefixes that contain it. */
static void compile_to(struct rf_shapes *shapes)
{
	for (int i = 0; i < RF_TO_MAX; i++) {
		struct rf_to4 *four = &shapes->to4[i];
		struct rf_to6 *six = &shapes->to6[i];

		four->limits = six->limits = ~shapes->with_to;
		for (int j = 0; j < RF_TO_MAX; j++) {
			const struct rf_to4 *outer4 = &shapes->to4[j];
			const struct rf_to6 *outer6 = &shapes->to6[j];

			if ((four->address & outer4->mask) == outer4->address &&
			    (four->mask & outer4->mask) == outer4->mask)
				four->limits |= outer4->own;
			if ((six->address[0] & outer6->mask[0]) == outer6->address[0] &&
			    (six->address[1] & outer6->mask[1]) == outer6->address[1] &&
			    (six->mask[0] & outer6->mask[0]) == outer6->mask[0] &&
			    (six->mask[1] & outer6->mask[1]) == outer6->mask[1])
				six->limits |= outer6->own;
		}
	}
	shapes->to4[RF_TO_MAX].limits = shapes->to6[RF_TO_MAX].limits = ~shapes->with_to;
}

uint8_t rf_shapes_parts(const struct rf_shapes *shapes, uint32_t limits)
{
	return (limits & shapes->with_sport ? RF_SHAPE_SPORT : 0) |
	       (limits & shapes->with_to ? RF_SHAPE_TO : 0) |
	       (limits & shapes->with_length ? RF_SHAPE_LENGTH : 0) |
	       (limits & shapes->with_flags ? RF_SHAPE_FLAGS : 0);
}

int rf_shapes_compile(const struct rf_ruleset *ruleset, struct rf_shapes *shapes,
		      struct rf_shape_tables *tables, struct rf_error *error)
{
	int err = 0;

	memset(shapes->candidates, 0, sizeof(shapes->candidates));
	memset(shapes->packet_class, 0, sizeof(shapes->packet_class));
	find_with(&ruleset->bank, shapes);
	compile_flags(&ruleset->bank, shapes);
	compile_to(shapes);
	rf_to_search_compile(shapes, &shapes->search4, &shapes->search6);
	if (tables)
		err = compile_table(ruleset, limits_of_sport, shapes->with_sport, tables->sport,
				    shapes->sport_limits);
	if (tables && !err)
		err = compile_table(ruleset, limits_of_length, shapes->with_length, tables->length,
				    shapes->length_limits);
	if (err)
		return rf_error_failed(
			error, err,
			"there are more than %d kinds of source ports, or of lengths, "
			"that differ in their limits; use fewer limits with 'sport' or "
			"'length', or let them overlap less",
			RF_SETS_MAX);
	return 0;
}

/* ---- which sets shapes leave ---- */

/* Each set of `sets`, cut down to each of `with`, into `cut`. */
static int cut_sets(const struct rf_sets *sets, const struct rf_sets *with, struct rf_sets *cut)
{
	*cut = (struct rf_sets){};
	for (int i = 0; i < sets->count; i++)
		for (int j = 0; j < with->count; j++)
			if (rf_sets_number(cut, sets->set[i] & with->set[j]) < 0)
				return -ENOSPC;
	return 0;
}

/* What a table leaves; all limits where no limit asks for it. */
static void sets_of_table(const __u32 limits[RF_SETS_MAX], uint32_t with, struct rf_sets *sets)
{
	*sets = (struct rf_sets){};
	if (!with)
		rf_sets_number(sets, ~0U);
	/* No limit but those of `with` is excluded: a set of 0 is behind the last one, or real. */
	for (int i = 0; with && i < RF_SETS_MAX; i++)
		if (limits[i] || with == ~0U)
			rf_sets_number(sets, limits[i]);
}

static void sets_of_to(const struct rf_shapes *shapes, struct rf_sets *sets)
{
	*sets = (struct rf_sets){};
	rf_sets_number(sets, ~shapes->with_to);
	for (int i = 0; i < RF_TO_MAX; i++) {
		if (shapes->to4[i].own)
			rf_sets_number(sets, shapes->to4[i].limits);
		if (shapes->to6[i].own)
			rf_sets_number(sets, shapes->to6[i].limits);
	}
}

static void sets_of_flags(const struct rf_shapes *shapes, bool is_syn, struct rf_sets *sets)
{
	*sets = (struct rf_sets){};
	for (int flags = 0; flags < RF_TCP_FLAGS; flags++)
		if ((flags == RF_TCP_FLAGS_CUT || (flags & (SYN | ACK)) == SYN) == is_syn)
			rf_sets_number(sets, shapes->flags_limits[flags]);
}

/* What flags and source port leave of the candidates, by one of the looks. */
static int cut_by_transport(const struct rf_shapes *shapes, uint32_t candidates, unsigned int look,
			    struct rf_sets *cut)
{
	struct rf_sets sets = {.set = {candidates}, .count = 1}, with, cut_by_flags;
	int err = 0;

	if (look == RF_LOOK_BARE)
		sets.set[0] &= ~(shapes->with_sport | shapes->with_flags);
	if (look == RF_LOOK_TCP || look == RF_LOOK_SYN) {
		sets_of_flags(shapes, look == RF_LOOK_SYN, &with);
		err = cut_sets(&sets, &with, &cut_by_flags);
		sets = cut_by_flags;
	}
	if (look == RF_LOOK_BARE)
		*cut = sets;
	if (err || look == RF_LOOK_BARE)
		return err;
	sets_of_table(shapes->sport_limits, shapes->with_sport, &with);
	return cut_sets(&sets, &with, cut);
}

static int combine_look(const struct rf_shapes *shapes, uint32_t candidates, unsigned int look,
			struct rf_sets *found)
{
	struct rf_sets sets, cut, with;
	int err = cut_by_transport(shapes, candidates, look, &sets);

	if (err)
		return err;
	sets_of_to(shapes, &with);
	err = cut_sets(&sets, &with, &cut);
	if (err)
		return err;
	sets_of_table(shapes->length_limits, shapes->with_length, &with);
	err = cut_sets(&cut, &with, &sets);
	for (int i = 0; !err && i < sets.count; i++)
		if (rf_sets_number(found, sets.set[i]) < 0)
			err = -ENOSPC;
	return err;
}

int rf_shapes_combine(const struct rf_shapes *shapes, uint32_t candidates, unsigned int looks,
		      struct rf_sets *found)
{
	int err = 0;

	for (; looks && !err; looks &= looks - 1)
		err = combine_look(shapes, candidates, looks & -looks, found);
	return err;
}

/* ---- from a set to its class ---- */

static uint32_t hash_of(uint32_t set, uint64_t factor)
{
	return set * factor >> (64 - RF_SHAPE_HASH_LOG);
}

static bool is_free_of_collisions(const struct rf_sets *sets, uint64_t factor)
{
	uint8_t is_taken[1 << RF_SHAPE_HASH_LOG] = {};

	for (int i = 0; i < sets->count; i++) {
		uint8_t *taken = &is_taken[hash_of(sets->set[i], factor)];

		if (*taken)
			return false;
		*taken = 1;
	}
	return true;
}

/* Some thousand factors at most are tried for 256 sets, and few for as many as rules have. */
static bool find_factor(const struct rf_sets *sets, uint64_t *factor)
{
	uint64_t state = 0x9e3779b97f4a7c15;

	for (int i = 0; i < FACTORS_MAX; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		*factor = state | 1;
		if (is_free_of_collisions(sets, *factor))
			return true;
	}
	return false;
}

int rf_shapes_name(struct rf_shapes *shapes, const struct rf_sets *left, struct rf_sets *classes,
		   struct rf_error *error)
{
	uint64_t factor;

	if (!find_factor(left, &factor))
		return rf_error_failed(error, -ENOSPC,
				       "cannot tell the kinds of packets apart; use fewer limits "
				       "with 'sport', 'to', 'length' or 'flags'");
	shapes->factor = factor;
	for (int i = 0; i < left->count; i++)
		shapes->packet_class[hash_of(left->set[i], factor)] =
			rf_sets_number(classes, left->set[i]);
	return 0;
}
