// SPDX-License-Identifier: GPL-2.0
/* Packed cells: packing and unpacking is lossless, and damaged packs are refused. */
#include "unit.h"

#include <errno.h>

#include "snapshot/cells.h"

#define ROWS 40

static void make_cells(uint64_t *random, struct rf_cells_row *row)
{
	const unsigned int kind = unit_below(random, 4);

	row->count = unit_below(random, RF_CELLS_ROW_MAX + 1);
	for (unsigned int i = 0; i < row->count; i++)
		row->cell[i] = kind == 0   ? 0
			       : kind == 1 ? 645
			       : kind == 2 ? unit_below(random, 3)
					   : unit_random(random) >> unit_below(random, 64);
}

static void make_row(uint64_t *random, uint64_t cell_ns, struct rf_cells_row *row)
{
	*row = (struct rf_cells_row){.cell_ns = cell_ns};
	row->source.version = unit_below(random, 2) ? 4 : 6;
	row->source.length = unit_below(random, row->source.version == 4 ? 33 : 129);
	for (unsigned int i = 0; i < 4; i++)
		row->source.word[i] =
			(uint32_t)unit_random(random) & rf_prefix_mask(row->source.length, i);
	row->first_ns = 1764000000 * SECOND + cell_ns * (unit_below(random, 100)) - 50 * cell_ns;
	row->is_incomplete = unit_below(random, 2);
	make_cells(random, row);
}

static void assert_same(const struct rf_cells_row *a, const struct rf_cells_row *b)
{
	assert_int_equal(rf_prefix_compare(&a->source, &b->source), 0);
	assert_int_equal(a->who, b->who);
	assert_int_equal(a->first_ns, b->first_ns);
	assert_int_equal(a->cell_ns, b->cell_ns);
	assert_int_equal(a->is_incomplete, b->is_incomplete);
	assert_int_equal(a->is_difference, b->is_difference);
	assert_int_equal(a->counts_refused, b->counts_refused);
	assert_int_equal(a->count, b->count);
	assert_memory_equal(a->cell, b->cell, a->count * sizeof(a->cell[0]));
}

static void pack_rows(struct rf_cells_pack *pack, struct rf_cells_row *row, uint64_t *random)
{
	const uint64_t cell_ns = 1 + unit_below(random, 60 * SECOND);
	const bool is_difference = unit_below(random, 2), counts_refused = unit_below(random, 2);
	const bool has_who = unit_below(random, 2);

	for (int i = 0; i < ROWS; i++) {
		make_row(random, cell_ns, &row[i]);
		row[i].is_difference = is_difference;
		row[i].counts_refused = counts_refused;
		row[i].who = has_who ? unit_random(random) >> unit_below(random, 64) : 0;
	}
	assert_int_equal(rf_cells_pack_begin(pack, &row[0], has_who), 0);
	for (int i = 0; i < ROWS; i++)
		assert_int_equal(rf_cells_pack_add(pack, &row[i]), 0);
}

static void round_trip(void **state)
{
	uint64_t random = unit_seed();

	(void)state;
	for (int n = 0; n < 500; n++) {
		struct rf_cells_pack pack = {};
		struct rf_cells_row row[ROWS], read;
		struct rf_cells_unpack unpack;

		pack_rows(&pack, row, &random);
		assert_int_equal(rf_cells_unpack_begin(&unpack, pack.data, pack.size), 0);
		for (int i = 0; i < ROWS; i++) {
			assert_int_equal(rf_cells_unpack_next(&unpack, &read), 1);
			assert_same(&row[i], &read);
		}
		assert_int_equal(rf_cells_unpack_next(&unpack, &read), 0);
		rf_cells_pack_free(&pack);
	}
}

/*
 * Each truncation, and damaged bytes: an error or different rows, and never a read past the buffer.
 */
static void survive_damage(void **state)
{
	uint64_t random = unit_seed();
	struct rf_cells_pack pack = {};
	struct rf_cells_row row[ROWS], read;

	(void)state;
	pack_rows(&pack, row, &random);
	for (int n = 0; n < 20000; n++) {
		const size_t size = unit_below(&random, pack.size + 1);
		uint8_t *copy = malloc(size + 1);
		struct rf_cells_unpack unpack;

		memcpy(copy, pack.data, size);
		if (size && n % 2)
			copy[unit_below(&random, size)] ^= 1 << unit_below(&random, 8);
		copy = realloc(copy, size ?: 1);
		if (!rf_cells_unpack_begin(&unpack, copy, size))
			while (rf_cells_unpack_next(&unpack, &read) == 1)
				assert_true(read.count <= RF_CELLS_ROW_MAX);
		free(copy);
	}
	rf_cells_pack_free(&pack);
}

/* An attacker's cells, and those of an even sender, need few bytes. */
static void pack_small(void **state)
{
	struct rf_cells_row attack = {.cell_ns = 33 * MS, .count = 30, .cell = {20000}};
	struct rf_cells_row even = attack;
	struct rf_cells_pack pack = {};
	size_t head;

	(void)state;
	attack.source = even.source = (struct rf_prefix){.version = 4, .length = 32};
	for (int i = 0; i < 30; i++)
		even.cell[i] = 64 + i % 2;
	assert_int_equal(rf_cells_pack_begin(&pack, &attack, false), 0);
	head = pack.size;
	assert_int_equal(rf_cells_pack_add(&pack, &attack), 0);
	assert_in_range(pack.size - head, 1, 16);
	head = pack.size;
	assert_int_equal(rf_cells_pack_add(&pack, &even), 0);
	assert_in_range(pack.size - head, 1, 40);
	rf_cells_pack_free(&pack);
}

/* By hand: see the head of cells.c. */
static void refuse(void **state)
{
	static const struct {
		const char *data;
		size_t size;
		int begin, next;
	} rows[] = {
		{"", 0, -EINVAL, 0},
		{"\2\0\1\1", 4, -EINVAL, 0},			       /* a later version */
		{"\1\10\1\1", 4, -EINVAL, 0},			       /* an unknown flag */
		{"\1\4\1\1\0\5\0\0", 8, 0, 1},			       /* who is 5 */
		{"\1\4\1\1\0\377\377\377\377\37\0\0", 12, 0, -EINVAL}, /* who: too large */
		{"\1\0\0\1", 4, -EINVAL, 0},			       /* cells without length */
		{"\1\0\1\1", 4, 0, 0},				       /* no source */
		{"\1\0\1\1\0\0\0", 7, 0, 1},			       /* 0.0.0.0/0 without cells */
		{"\1\0\1\1\41\0\0", 7, 0, -EINVAL},		       /* /33 */
		{"\1\0\1\1\10\12\0\1\2", 9, 0, 1},		       /* 10.0.0.0/8: 1 */
		{"\1\0\1\1\7\377\0\0", 8, 0, -EINVAL},		       /* a bit behind the length */
		{"\1\0\1\1\0\0\101", 7, 0, -EINVAL},		       /* 65 cells */
		{"\1\0\1\1\0\0\2\0\3", 9, 0, -EINVAL},		       /* three of two cells */
		{"\1\0\1\1\0\0\2\0\0", 9, 0, -EINVAL},		       /* a run of none */
		{"\1\0\1\1\0\0\1\200\200\200\200\200\200\200\200\200\2", 17, 0, -EINVAL},
	};
	struct rf_cells_unpack unpack;
	struct rf_cells_row row;

	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(rows); i++) {
		assert_int_equal(rf_cells_unpack_begin(&unpack, rows[i].data, rows[i].size),
				 rows[i].begin);
		if (!rows[i].begin)
			assert_int_equal(rf_cells_unpack_next(&unpack, &row), rows[i].next);
	}
}

static const struct CMUnitTest tests[] = {
	UNIT_ROW("what is packed is unpacked", round_trip),
	UNIT_ROW("damaged packs are read no further than they go", survive_damage),
	UNIT_ROW("usual cells take few bytes", pack_small),
	UNIT_ROW("what no pack has is refused", refuse),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
