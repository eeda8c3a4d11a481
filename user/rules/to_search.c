// SPDX-License-Identifier: GPL-2.0
/*
 * How the data path finds the prefix of `to` that a destination is in. It must not compare with one
 * prefix after the other: that took 3 ns more for the eighth. Two prefixes of which none contains
 * the other differ in a bit that both fix. A few such bits of a destination leave only prefixes
 * that contain each other; they select the longest of these, and each prefix names the next one
 * around it.
 */
#include <stdbool.h>
#include <string.h>

#include "rules/classes.h"

#define BITS_MAX 8 /* that select: 7 tell 8 prefixes apart, if they are chosen well */
#define FACTORS_MAX 10000

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

/* Does some bit that `bits` has not chosen yet have to tell these two apart? */
static bool are_alike(const struct place *one, const struct place *other, const __u64 bits[2])
{
	if (!one->is_used || !other->is_used)
		return false;
	return (differ_in(one, other, 0) || differ_in(one, other, 1)) &&
	       !(differ_in(one, other, 0) & bits[0]) && !(differ_in(one, other, 1) & bits[1]);
}

/* How many pairs that are still alike a bit tells apart; `left`: how many are alike. */
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

/* Chooses the bits, those first that tell most apart; false: there would be too many. */
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

/* The longest prefix that a destination with these bits may be in. */
static unsigned int longest_of(const struct place *place, const __u64 bits[2], const __u64 dest[2])
{
	for (int i = 0; i < RF_TO_MAX; i++)
		if (place[i].is_used &&
		    !((dest[0] ^ place[i].address[0]) & place[i].mask[0] & bits[0]) &&
		    !((dest[1] ^ place[i].address[1]) & place[i].mask[1] & bits[1]))
			return i;
	return RF_TO_MAX;
}

static unsigned int hash_of(const struct rf_to_search *search, const __u64 dest[2])
{
	return (dest[0] * search->factor[0] + dest[1] * search->factor[1]) >> (64 - RF_TO_HASH_LOG);
}

/* False: two that may be in different prefixes have the same index. */
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
		first = &search->first[hash_of(search, dest)];
		if (longest == RF_TO_MAX)
			continue; /* whatever it is compared with, it is in none */
		if (*first != RF_TO_MAX && *first != longest)
			return false;
		*first = longest;
	}
	return true;
}

static bool find_factors(const struct place *place, struct rf_to_search *search)
{
	__u64 state = 0x9e3779b97f4a7c15;

	for (int i = 0; i < FACTORS_MAX; i++) {
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

void rf_to_search_compile(const struct rf_shapes *shapes, struct rf_to_search *search4,
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
