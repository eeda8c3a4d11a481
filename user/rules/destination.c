// SPDX-License-Identifier: GPL-2.0
/*
 * The destinations that limits name by `to`: a few prefixes of each family, in the bank itself,
 * since the data path compares a packet with one after the other.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "rules/destination.h"

static unsigned int bits_of(const __be32 *word, int words)
{
	unsigned int bits = 0;

	for (int i = 0; i < words; i++)
		bits += __builtin_popcount(word[i]);
	return bits;
}

/* ---- entries as prefixes ---- */

struct entry {
	struct rf_prefix prefix;
	uint32_t own;
};

static __be32 word_of(const __u64 pair[2], int i)
{
	return pair[i / 2] >> i % 2 * 32;
}

/* Entry `i` of both families, IPv4 first. */
static struct entry read_entry(const struct rf_shapes *shapes, int i)
{
	const struct rf_to6 *to6 = &shapes->to6[i % RF_TO_MAX];
	struct entry entry = {.prefix.version = i < RF_TO_MAX ? 4 : 6};
	__be32 mask[4] = {};

	if (i < RF_TO_MAX) {
		entry.own = shapes->to4[i].own;
		entry.prefix.word[0] = shapes->to4[i].address;
		mask[0] = shapes->to4[i].mask;
	} else {
		entry.own = to6->own;
		for (int j = 0; j < 4; j++) {
			entry.prefix.word[j] = word_of(to6->address, j);
			mask[j] = word_of(to6->mask, j);
		}
	}
	entry.prefix.length = bits_of(mask, 4);
	return entry;
}

static void write_entry(struct rf_shapes *shapes, int i, const struct entry *entry)
{
	const struct rf_prefix *prefix = &entry->prefix;
	struct rf_to6 *to6 = &shapes->to6[i % RF_TO_MAX];

	if (i < RF_TO_MAX) {
		shapes->to4[i] = (struct rf_to4){.address = prefix->word[0],
						 .mask = rf_prefix_mask(prefix->length, 0),
						 .own = entry->own};
		return;
	}
	*to6 = (struct rf_to6){.own = entry->own};
	for (unsigned int j = 0; j < 4; j++) {
		to6->address[j / 2] |= (uint64_t)prefix->word[j] << j % 2 * 32;
		to6->mask[j / 2] |= (uint64_t)rf_prefix_mask(prefix->length, j) << j % 2 * 32;
	}
}

/* ---- tables ---- */

/* The entries of one family, the longest prefix first; free ones last. */
struct table {
	struct entry entry[RF_TO_MAX + 1];
	int count;
};

static int compare_entries(const void *a, const void *b)
{
	const struct entry *one = a, *other = b;

	if (one->prefix.length != other->prefix.length)
		return one->prefix.length > other->prefix.length ? -1 : 1;
	return rf_prefix_compare(&one->prefix, &other->prefix);
}

/* The entries of a family, without what `slot` names. */
static void read_table(const struct rf_shapes *shapes, int family, int slot, struct table *table)
{
	table->count = 0;
	for (int i = 0; i < RF_TO_MAX; i++) {
		struct entry entry = read_entry(shapes, family * RF_TO_MAX + i);

		entry.own &= ~(1U << slot);
		if (entry.own)
			table->entry[table->count++] = entry;
	}
}

static void write_table(struct rf_shapes *shapes, int family, struct table *table)
{
	static const struct entry none;

	rf_sort(table->entry, table->count, sizeof(*table->entry), compare_entries);
	for (int i = 0; i < RF_TO_MAX; i++)
		write_entry(shapes, family * RF_TO_MAX + i,
			    i < table->count ? &table->entry[i] : &none);
}

static void add_prefix(struct table *table, const struct rf_prefix *prefix, int slot)
{
	int i = 0;

	while (i < table->count && rf_prefix_compare(&table->entry[i].prefix, prefix) != 0)
		i++;
	if (i > RF_TO_MAX)
		return;
	if (i == table->count)
		table->entry[table->count++] = (struct entry){.prefix = *prefix};
	table->entry[i].own |= 1U << slot;
}

/* ---- what a limit names ---- */

int rf_to_put(struct rf_shapes *shapes, int slot, const struct rf_prefixes *prefixes,
	      const char *name, struct rf_error *error)
{
	struct table table[2];

	for (int family = 0; family < 2; family++)
		read_table(shapes, family, slot, &table[family]);
	for (size_t i = 0; i < prefixes->count; i++)
		add_prefix(&table[prefixes->prefix[i].version == 6], &prefixes->prefix[i], slot);
	for (int family = 0; family < 2; family++)
		if (table[family].count > RF_TO_MAX)
			return rf_error_failed(
				error, -ENOSPC,
				"limit '%s': all limits together may name %d %s prefixes by 'to'; "
				"name fewer, or a prefix that contains several",
				name, RF_TO_MAX, family ? "IPv6" : "IPv4");
	for (int family = 0; family < 2; family++)
		write_table(shapes, family, &table[family]);
	return 0;
}

bool rf_to_next(const struct rf_shapes *shapes, int slot, int *at, struct rf_prefix *prefix)
{
	while (*at < 2 * RF_TO_MAX) {
		const struct entry entry = read_entry(shapes, (*at)++);

		if (entry.own >> slot & 1) {
			*prefix = entry.prefix;
			return true;
		}
	}
	return false;
}
