/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The cells of sources, as history packs them: sources of one limit, whose cells are equally long.
 * Pure. What unpacks them trusts no byte.
 */
#ifndef RINGFENCE_CELLS_H
#define RINGFENCE_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/prefix.h"
#include "ringfence/abi.h"

#define RF_CELLS_ROW_MAX 64

/* What one source was charged under one limit, cell by cell, the oldest first. */
struct rf_cells_row {
	struct rf_prefix source;
	/* Which source of the network: see rf_tell_who(). 0: it is not known, or `source` is it. */
	uint32_t who;
	char limit[RF_NAME_SIZE];
	uint64_t first_ns; /* start of the first cell, since 1970 */
	uint64_t cell_ns;  /* the length of a cell */
	uint64_t weight;   /* importance of the source: if there is no room, less is omitted */
	/*
	 * Of counters, in packets: the limit's windows have no cells, or this one had lent units;
	 * then they are spread evenly over its cells.
	 */
	bool is_difference;
	bool counts_refused; /* packets that were refused are in the cells as well */
	bool is_incomplete;  /* cells before the first one were missed */
	unsigned int count;
	uint64_t cell[RF_CELLS_ROW_MAX]; /* in the limit's unit, if no difference */
};

struct rf_cells_pack {
	uint8_t *data;
	size_t size, capacity;
	uint64_t base_ns, cell_ns;
	bool has_who;
};

/* May both be in one pack? They are if their cells are equally long, and count the same. */
bool rf_cells_same_pack(const struct rf_cells_row *a, const struct rf_cells_row *b);
/*
 * `row` is the first one: the others can be in its pack. Without `has_who`, their identity is
 * omitted. -ENOMEM.
 */
int rf_cells_pack_begin(struct rf_cells_pack *pack, const struct rf_cells_row *row, bool has_who);
int rf_cells_pack_add(struct rf_cells_pack *pack, const struct rf_cells_row *row);
void rf_cells_pack_free(struct rf_cells_pack *pack);

struct rf_cells_unpack {
	const uint8_t *at, *end;
	uint64_t base_ns, cell_ns;
	bool is_difference, counts_refused, has_who;
};

/* -EINVAL: damaged, or of a later version. */
int rf_cells_unpack_begin(struct rf_cells_unpack *unpack, const void *data, size_t size);
/* 1: a row, without the name of its limit. 0: no more. -EINVAL: damaged. */
int rf_cells_unpack_next(struct rf_cells_unpack *unpack, struct rf_cells_row *row);

#endif /* RINGFENCE_CELLS_H */
