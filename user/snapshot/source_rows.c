// SPDX-License-Identifier: GPL-2.0
/*
 * Rows of sources, and their order: that of rf_source_row_compare(). There may be a million, so the
 * first 64 bits of an address, which tell nearly all of them apart, are sorted by their digits, and
 * each row moves once. Rows with the same bits, of several limits or within a /64, are then sorted
 * by comparing.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "snapshot/snapshot.h"

static int make_room(struct rf_source_rows *rows)
{
	const size_t capacity = rows->capacity ? rows->capacity * 2 : 1024;
	struct rf_source_row *row;

	if (rows->count < rows->capacity)
		return 0;
	row = reallocarray(rows->row, capacity, sizeof(*row));
	if (!row)
		return -ENOMEM;
	rows->row = row;
	rows->capacity = capacity;
	return 0;
}

int rf_source_rows_append(struct rf_source_rows *rows, const struct rf_source_row *row)
{
	if (make_room(rows))
		return -ENOMEM;
	rows->row[rows->count++] = *row;
	return 0;
}

void rf_source_rows_free(struct rf_source_rows *rows)
{
	free(rows->row);
	*rows = (struct rf_source_rows){};
}

/* ---- sorting ---- */

#define DIGIT_BITS 11
#define DIGITS (1U << DIGIT_BITS)
#define KEY_BITS 64
#define FEW 64 /* for these, to compare takes no longer */

struct key {
	uint64_t bits;
	uint32_t row;
	uint32_t is_ipv6;
};

static struct key key_of(const struct rf_prefix *source, uint32_t row)
{
	const uint64_t high = ntohl(source->word[0]);

	return (struct key){
		.bits = source->version == 6 ? high << 32 | ntohl(source->word[1]) : high,
		.row = row,
		.is_ipv6 = source->version == 6,
	};
}

static uint32_t digit_of(const struct key *key, unsigned int shift)
{
	return shift < KEY_BITS ? key->bits >> shift & (DIGITS - 1) : key->is_ipv6;
}

/* Sorts by one digit; keys with the same one keep their order. False: all have the same. */
static bool sort_by_digit(const struct key *from, struct key *to, size_t count, unsigned int shift)
{
	uint32_t place[DIGITS] = {}, before = 0;

	for (size_t i = 0; i < count; i++)
		place[digit_of(&from[i], shift)]++;
	if (place[digit_of(&from[0], shift)] == count)
		return false;
	for (uint32_t digit = 0; digit < DIGITS; digit++) {
		const uint32_t here = place[digit];

		place[digit] = before;
		before += here;
	}
	for (size_t i = 0; i < count; i++)
		to[place[digit_of(&from[i], shift)]++] = from[i];
	return true;
}

/* The lowest digit first, the family last. Returns the one of both that has the result. */
static struct key *sort_keys(struct key *key, struct key *other, size_t count)
{
	for (unsigned int shift = 0; shift < KEY_BITS + DIGIT_BITS; shift += DIGIT_BITS) {
		struct key *const from = key;

		if (!sort_by_digit(from, other, count, shift))
			continue;
		key = other;
		other = from;
	}
	return key;
}

/* Moves the rows to where their keys are. */
static void take_order(const struct key *key, const struct rf_source_row *from,
		       struct rf_source_row *to, size_t count)
{
	for (size_t i = 0; i < count;) {
		size_t same = 0;

		for (; i + same < count && key[i + same].bits == key[i].bits &&
		       key[i + same].is_ipv6 == key[i].is_ipv6;
		     same++)
			to[i + same] = from[key[i + same].row];
		if (same > 1)
			rf_sort(&to[i], same, sizeof(*to), rf_source_row_compare);
		i += same;
	}
}

int rf_source_rows_sort(struct rf_source_rows *rows)
{
	const size_t count = rows->count;
	struct rf_source_row *sorted;
	struct key *key;

	if (count <= FEW) {
		if (count)
			rf_sort(rows->row, count, sizeof(*rows->row), rf_source_row_compare);
		return 0;
	}
	sorted = malloc(count * sizeof(*sorted));
	key = malloc(2 * count * sizeof(*key));
	if (!sorted || !key) {
		free(sorted);
		free(key);
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++)
		key[i] = key_of(&rows->row[i].source, i);
	take_order(sort_keys(key, key + count, count), rows->row, sorted, count);
	free(key);
	free(rows->row);
	rows->row = sorted;
	rows->capacity = count;
	return 0;
}
