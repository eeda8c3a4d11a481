// SPDX-License-Identifier: GPL-2.0
/* Packed cells: any bytes, and unpacked rows can be packed again. */
#include <stdlib.h>

#include "require.h"
#include "snapshot/cells.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void pack_again(const struct rf_cells_row *row)
{
	struct rf_cells_unpack unpack;
	struct rf_cells_pack pack = {};
	struct rf_cells_row again;

	REQUIRE(!rf_cells_pack_begin(&pack, row, true));
	REQUIRE(!rf_cells_pack_add(&pack, row));
	REQUIRE(!rf_cells_unpack_begin(&unpack, pack.data, pack.size));
	REQUIRE(rf_cells_unpack_next(&unpack, &again) == 1);
	REQUIRE(!rf_prefix_compare(&row->source, &again.source));
	REQUIRE(row->who == again.who);
	REQUIRE(row->first_ns == again.first_ns && row->count == again.count);
	for (unsigned int i = 0; i < row->count; i++)
		REQUIRE(row->cell[i] == again.cell[i]);
	REQUIRE(!rf_cells_unpack_next(&unpack, &again));
	rf_cells_pack_free(&pack);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rf_cells_unpack unpack;
	struct rf_cells_row row;

	if (rf_cells_unpack_begin(&unpack, data, size))
		return 0;
	while (rf_cells_unpack_next(&unpack, &row) == 1)
		pack_again(&row);
	return 0;
}
