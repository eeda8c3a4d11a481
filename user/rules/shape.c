// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "rules/classes.h"

/* ---- sets of limits ---- */

int rf_sets_number(struct rf_sets *sets, uint32_t set)
{
	int i = 0;

	if (sets->count && sets->set[sets->last] == set)
		return sets->last;
	while (i < sets->count && sets->set[i] != set)
		i++;
	if (i == sets->count) {
		if (i == RF_SETS_MAX)
			return -ENOSPC;
		sets->set[sets->count++] = set;
	}
	sets->last = i;
	return i;
}

/* ---- the search among destinations ---- */

/*
 * How the data path finds the prefix of `to` that a destination is in. It must not compare with one
 * prefix after the other: that took 3 ns more for the eighth. Two prefixes of which none contains
 * the other differ in a bit that both fix. A few such bits of a destination leave only prefixes
 * that contain each other; they select the longest of these, and each prefix names the next one
 * around it.
 */

#define BITS_MAX 8 /* that select: 7 distinguish 8 prefixes, if they are chosen well */
#define TO_FACTORS_MAX 10000

/* A prefix of either family; of IPv4 in the first word. */
struct place {
	__u64 address[2], mask[2];
	bool is_used;
};

/* ---- which bits ---- */

static __u64 differ_in(const struct place *one, const struct place *other, int word)
{
	return (one->address[word] ^ other->address[word]) & one->mask[word] & other->mask[word];
}

/* Do these two still need a bit that distinguishes them, besides the chosen `bits`? */
static bool are_alike(const struct place *one, const struct place *other, const __u64 bits[2])
{
	if (!one->is_used || !other->is_used)
		return false;
	return (differ_in(one, other, 0) || differ_in(one, other, 1)) &&
	       !(differ_in(one, other, 0) & bits[0]) && !(differ_in(one, other, 1) & bits[1]);
}

/*
 * The number of indistinct pairs that a bit distinguishes; `left`: the number of indistinct pairs.
 */
static int count_told_apart(const struct place *place, const __u64 bits[2], int bit, int *left)
{
	int count = 0;

	*left = 0;
	for (int i = 0; i < RF_TO_MAX; i++) {
		for (int j = 0; j < i; j++) {
			if (!are_alike(&place[i], &place[j], bits))
				continue;
			++*left;
			count += differ_in(&place[i], &place[j], bit / 64) >> bit % 64 & 1;
		}
	}
	return count;
}

/* Chooses the bits, those first that distinguish the most; false: there would be too many. */
static bool choose_bits(const struct place *place, __u64 bits[2])
{
	int left = 0;

	bits[0] = bits[1] = 0;
	for (int chosen = 0; chosen <= BITS_MAX; chosen++) {
		int most = 0, best = 0;

		for (int bit = 0; bit < 128; bit++) {
			const int count = count_told_apart(place, bits, bit, &left);

			if (count > most) {
				most = count;
				best = bit;
			}
		}
		if (!left)
			return true;
		bits[best / 64] |= 1ULL << best % 64;
	}
	return false;
}

/* ---- from these bits to a prefix ---- */

/* A destination that has the chosen bits of `number`, and no others. */
static void spread(const __u64 bits[2], unsigned int number, __u64 dest[2])
{
	for (int i = 0; i < 2; i++) {
		dest[i] = 0;
		for (__u64 left = bits[i]; left; left &= left - 1, number >>= 1)
			if (number & 1)
				dest[i] |= left & -left;
	}
}

/* The longest prefix that can contain a destination with these bits. */
static unsigned int longest_of(const struct place *place, const __u64 bits[2], const __u64 dest[2])
{
	for (int i = 0; i < RF_TO_MAX; i++)
		if (place[i].is_used &&
		    !((dest[0] ^ place[i].address[0]) & place[i].mask[0] & bits[0]) &&
		    !((dest[1] ^ place[i].address[1]) & place[i].mask[1] & bits[1]))
			return i;
	return RF_TO_MAX;
}

static unsigned int hash_to(const struct rf_to_search *search, const __u64 dest[2])
{
	return (dest[0] * search->factor[0] + dest[1] * search->factor[1]) >> (64 - RF_TO_HASH_LOG);
}

/* False: two destinations of possibly different prefixes have the same index. */
static bool fill_first(const struct place *place, struct rf_to_search *search)
{
	const __u64 bits[2] = {search->bits[0], search->bits[1]};
	const int count = __builtin_popcountll(bits[0]) + __builtin_popcountll(bits[1]);

	memset(search->first, RF_TO_MAX, sizeof(search->first));
	for (unsigned int number = 0; number < 1U << count; number++) {
		__u64 dest[2];
		unsigned int longest;
		__u8 *first;

		spread(bits, number, dest);
		longest = longest_of(place, bits, dest);
		first = &search->first[hash_to(search, dest)];
		if (longest == RF_TO_MAX)
			continue; /* whichever prefix it is compared with, it is in none */
		if (*first != RF_TO_MAX && *first != longest)
			return false;
		*first = longest;
	}
	return true;
}

static bool find_factors(const struct place *place, struct rf_to_search *search)
{
	__u64 state = 0x9e3779b97f4a7c15;

	for (int i = 0; i < TO_FACTORS_MAX; i++) {
		for (int word = 0; word < 2; word++) {
			state ^= state << 13;
			state ^= state >> 7;
			state ^= state << 17;
			search->factor[word] = state;
		}
		if (fill_first(place, search))
			return true;
	}
	return false;
}

/* ---- both families ---- */

static bool contains(const struct place *outer, const struct place *inner)
{
	for (int i = 0; i < 2; i++)
		if ((outer->mask[i] & ~inner->mask[i]) ||
		    ((outer->address[i] ^ inner->address[i]) & outer->mask[i]))
			return false;
	return outer->is_used;
}

/* From each prefix to the longest around it. They are sorted, the longest first. */
static void link_nested(const struct place *place, struct rf_to_search *search)
{
	memset(search->next, RF_TO_MAX, sizeof(search->next));
	for (int i = 0; i < RF_TO_MAX; i++)
		for (int j = RF_TO_MAX - 1; j > i; j--)
			if (contains(&place[j], &place[i]))
				search->next[i] = j;
}

/* One after the other, which is right for any prefixes. */
static void link_all(struct rf_to_search *search)
{
	memset(search, 0, sizeof(*search));
	for (int i = 0; i < RF_TO_ENTRIES; i++)
		search->next[i] = i < RF_TO_MAX ? i + 1 : RF_TO_MAX;
}

static void compile(const struct place *place, struct rf_to_search *search)
{
	if (choose_bits(place, search->bits) && find_factors(place, search))
		link_nested(place, search);
	else
		link_all(search);
}

/* Fills the search among the entries of `to`. */
static void to_search_compile(const struct rf_shapes *shapes, struct rf_to_search *search4,
			      struct rf_to_search *search6)
{
	struct place four[RF_TO_MAX] = {}, six[RF_TO_MAX] = {};

	for (int i = 0; i < RF_TO_MAX; i++) {
		const struct rf_to4 *to4 = &shapes->to4[i];
		const struct rf_to6 *to6 = &shapes->to6[i];

		four[i] = (struct place){{to4->address}, {to4->mask}, to4->own != 0};
		six[i] = (struct place){{to6->address[0], to6->address[1]},
					{to6->mask[0], to6->mask[1]},
					to6->own != 0};
	}
	compile(four, search4);
	compile(six, search6);
}

/* ---- shapes ---- */

/*
 * The shape of packets: the properties that limits match beyond protocol and destination port. Each
 * part of a shape excludes limits; this code computes the sets of limits that can remain for all
 * shapes.
 */

#define SYN 0x02
#define ACK 0x10
#define SHAPE_FACTORS_MAX 1000000

/* ---- properties that limits match ---- */

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
 * A header that is cut off before its flags counts as a SYN, here as in the parser. Its receiver
 * never accepts it with other flags: it discards it, or waits for the fragment that starts at the
 * flags, which is dropped as RF_CLASS_UNKNOWN.
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
	to_search_compile(shapes, &shapes->search4, &shapes->search6);
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

/* The sets that remain after a table; all limits if no limit matches by it. */
static void sets_of_table(const __u32 limits[RF_SETS_MAX], uint32_t with, struct rf_sets *sets)
{
	*sets = (struct rf_sets){};
	if (!with)
		rf_sets_number(sets, ~0U);
	/* Only limits of `with` are excluded: a set of 0 is behind the last one, or real. */
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

static uint32_t hash_set(uint32_t set, uint64_t factor)
{
	return set * factor >> (64 - RF_SHAPE_HASH_LOG);
}

static bool is_free_of_collisions(const struct rf_sets *sets, uint64_t factor)
{
	uint8_t is_taken[1 << RF_SHAPE_HASH_LOG] = {};

	for (int i = 0; i < sets->count; i++) {
		uint8_t *taken = &is_taken[hash_set(sets->set[i], factor)];

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

	for (int i = 0; i < SHAPE_FACTORS_MAX; i++) {
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
				       "cannot distinguish the kinds of packets; use fewer limits "
				       "with 'sport', 'to', 'length' or 'flags'");
	shapes->factor = factor;
	for (int i = 0; i < left->count; i++)
		shapes->packet_class[hash_set(left->set[i], factor)] =
			rf_sets_number(classes, left->set[i]);
	return 0;
}
