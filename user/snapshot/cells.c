// SPDX-License-Identifier: GPL-2.0
/*
 * A pack: version, flags, length of a cell, time of the base; then for each source the length of
 * its prefix, the bytes of the prefix, its identity if such a flag is set, how many cells after the
 * base it starts, how many cells it has, and the cells. A cell is its difference to the previous
 * one; 0 is followed by its number of repetitions. Numbers have 7 bits a byte, the lowest first.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "snapshot/cells.h"

#define VERSION 1
#define IS_DIFFERENCE 1
#define COUNTS_REFUSED 2
#define HAS_WHO 4
#define FLAGS (IS_DIFFERENCE | COUNTS_REFUSED | HAS_WHO)
#define VERSION6 64 /* added to the length of a prefix */
#define NUMBER_BYTES 10

static int put_bytes(struct rf_cells_pack *pack, const void *data, size_t size)
{
	if (pack->size + size > pack->capacity) {
		const size_t capacity = 2 * pack->capacity + size + 256;
		uint8_t *grown = realloc(pack->data, capacity);

		if (!grown)
			return -ENOMEM;
		pack->data = grown;
		pack->capacity = capacity;
	}
	memcpy(pack->data + pack->size, data, size);
	pack->size += size;
	return 0;
}

static int put_byte(struct rf_cells_pack *pack, uint8_t byte)
{
	return put_bytes(pack, &byte, 1);
}

static int put_number(struct rf_cells_pack *pack, uint64_t number)
{
	uint8_t bytes[NUMBER_BYTES];
	size_t size = 0;

	for (; number >= 0x80; number >>= 7)
		bytes[size++] = number | 0x80;
	bytes[size++] = number;
	return put_bytes(pack, bytes, size);
}

/* 0, -1, 1, -2 … become 0, 1, 2, 3 … */
static uint64_t fold(uint64_t difference)
{
	return difference << 1 ^ (uint64_t)((int64_t)difference >> 63);
}

static uint64_t unfold(uint64_t folded)
{
	return folded >> 1 ^ -(folded & 1);
}

/* ---- packing ---- */

static uint8_t flags_of(const struct rf_cells_row *row)
{
	return (row->is_difference ? IS_DIFFERENCE : 0) |
	       (row->counts_refused ? COUNTS_REFUSED : 0);
}

bool rf_cells_same_pack(const struct rf_cells_row *a, const struct rf_cells_row *b)
{
	return a->cell_ns == b->cell_ns && flags_of(a) == flags_of(b);
}

int rf_cells_pack_begin(struct rf_cells_pack *pack, const struct rf_cells_row *row, bool has_who)
{
	int err;

	pack->size = 0;
	pack->base_ns = row->first_ns;
	pack->cell_ns = row->cell_ns ?: 1;
	pack->has_who = has_who;
	err = put_byte(pack, VERSION);
	if (!err)
		err = put_byte(pack, flags_of(row) | (has_who ? HAS_WHO : 0));
	if (!err)
		err = put_number(pack, pack->cell_ns);
	return err ? err : put_number(pack, pack->base_ns);
}

static int put_prefix(struct rf_cells_pack *pack, const struct rf_prefix *prefix)
{
	int err = put_byte(pack, prefix->length + (prefix->version == 6 ? VERSION6 : 0));

	return err ? err : put_bytes(pack, prefix->word, (prefix->length + 7) / 8);
}

static int put_cells(struct rf_cells_pack *pack, const struct rf_cells_row *row)
{
	uint64_t before = 0;
	int err = 0;

	for (unsigned int i = 0; i < row->count && !err;) {
		unsigned int same = 0;

		while (i + same < row->count && row->cell[i + same] == before)
			same++;
		if (same) {
			err = put_byte(pack, 0);
			err = err ? err : put_number(pack, same);
			i += same;
			continue;
		}
		err = put_number(pack, fold(row->cell[i] - before));
		before = row->cell[i++];
	}
	return err;
}

/* Whole cells from the base to a time, to the nearest one. */
static int64_t cells_between(const struct rf_cells_pack *pack, uint64_t time_ns)
{
	const int64_t cell_ns = (int64_t)pack->cell_ns, after = (int64_t)(time_ns - pack->base_ns);
	const int64_t rest = after % cell_ns;

	return after / cell_ns + (rest > cell_ns / 2) - (rest < -(cell_ns / 2));
}

int rf_cells_pack_add(struct rf_cells_pack *pack, const struct rf_cells_row *row)
{
	const uint64_t where = fold(cells_between(pack, row->first_ns)) << 1;
	int err = put_prefix(pack, &row->source);

	if (!err && pack->has_who)
		err = put_number(pack, row->who);
	if (!err)
		err = put_number(pack, where | row->is_incomplete);
	if (!err)
		err = put_number(pack, row->count);
	return err ? err : put_cells(pack, row);
}

void rf_cells_pack_free(struct rf_cells_pack *pack)
{
	free(pack->data);
	*pack = (struct rf_cells_pack){};
}

/* ---- unpacking ---- */

static bool get_byte(struct rf_cells_unpack *unpack, uint8_t *byte)
{
	if (unpack->at == unpack->end)
		return false;
	*byte = *unpack->at++;
	return true;
}

static bool get_number(struct rf_cells_unpack *unpack, uint64_t *number)
{
	*number = 0;
	for (int i = 0; i < NUMBER_BYTES; i++) {
		uint8_t byte;

		if (!get_byte(unpack, &byte))
			return false;
		*number |= (uint64_t)(byte & 0x7f) << 7 * i;
		if (!(byte & 0x80))
			return i < NUMBER_BYTES - 1 || byte <= 1;
	}
	return false;
}

int rf_cells_unpack_begin(struct rf_cells_unpack *unpack, const void *data, size_t size)
{
	uint8_t version, flags;

	*unpack = (struct rf_cells_unpack){.at = data, .end = (const uint8_t *)data + size};
	if (!get_byte(unpack, &version) || version != VERSION || !get_byte(unpack, &flags) ||
	    flags > FLAGS || !get_number(unpack, &unpack->cell_ns) ||
	    !get_number(unpack, &unpack->base_ns))
		return -EINVAL;
	unpack->is_difference = flags & IS_DIFFERENCE;
	unpack->counts_refused = flags & COUNTS_REFUSED;
	unpack->has_who = flags & HAS_WHO;
	return unpack->cell_ns && unpack->cell_ns <= INT64_MAX ? 0 : -EINVAL;
}

static bool get_prefix(struct rf_cells_unpack *unpack, struct rf_prefix *prefix)
{
	size_t size;
	uint8_t byte;

	*prefix = (struct rf_prefix){};
	if (!get_byte(unpack, &byte))
		return false;
	prefix->version = byte < VERSION6 ? 4 : 6;
	prefix->length = byte < VERSION6 ? byte : byte - VERSION6;
	if (prefix->length > rf_prefix_length_max(prefix->version))
		return false;
	size = (prefix->length + 7) / 8;
	if ((size_t)(unpack->end - unpack->at) < size)
		return false;
	memcpy(prefix->word, unpack->at, size);
	unpack->at += size;
	for (unsigned int i = 0; i < 4; i++)
		if (prefix->word[i] & ~rf_prefix_mask(prefix->length, i))
			return false;
	return true;
}

static bool get_cells(struct rf_cells_unpack *unpack, struct rf_cells_row *row)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < row->count;) {
		uint64_t folded, same = 1;

		if (!get_number(unpack, &folded))
			return false;
		if (!folded && !get_number(unpack, &same))
			return false;
		if (!same || same > row->count - i)
			return false;
		value += unfold(folded);
		while (same--)
			row->cell[i++] = value;
	}
	return true;
}

int rf_cells_unpack_next(struct rf_cells_unpack *unpack, struct rf_cells_row *row)
{
	uint64_t who = 0, where, count;

	if (unpack->at == unpack->end)
		return 0;
	*row = (struct rf_cells_row){
		.cell_ns = unpack->cell_ns,
		.is_difference = unpack->is_difference,
		.counts_refused = unpack->counts_refused,
	};
	if (!get_prefix(unpack, &row->source) ||
	    (unpack->has_who && (!get_number(unpack, &who) || who > UINT32_MAX)) ||
	    !get_number(unpack, &where) || !get_number(unpack, &count) || count > RF_CELLS_ROW_MAX)
		return -EINVAL;
	row->who = who;
	row->count = count;
	row->is_incomplete = where & 1;
	row->first_ns = unpack->base_ns + unfold(where >> 1) * unpack->cell_ns;
	return get_cells(unpack, row) ? 1 : -EINVAL;
}
