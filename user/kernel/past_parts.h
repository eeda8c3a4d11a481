/* SPDX-License-Identifier: GPL-2.0 */
/* Structures that were the same in the map ABIs 5 to 7, as they were. */
#ifndef RINGFENCE_PAST_PARTS_H
#define RINGFENCE_PAST_PARTS_H

#include "kernel/past_layout.h"

struct past_limit {
	struct past_limit_head head;
	__u32 since_generation;
};

struct past_policy {
	__u32 id;
	__u32 unread1[3];
	__u64 unread2[3];
	__u8 unread3[8];
	__u32 unread4[6];
};

struct past_ports {
	__u8 class[PAST_PORT_TABLES][PAST_PORTS];
};

/* The default of then becomes that of now: nobody can tell whether it was given. */
static __u8 past_cells(const struct past_limit_head *from)
{
	const int is_default =
		from->algorithm == RF_SLIDING && from->edge == RF_EDGE_STRICT && from->cells == 16;

	return is_default ? RF_CELLS_MAX : from->cells;
}

static void past_read_limit(const void *past, struct rf_limit *limit)
{
	const struct past_limit *from = past;

	*limit = past_limit_of(&from->head);
	limit->cells = past_cells(&from->head);
}

#endif /* RINGFENCE_PAST_PARTS_H */
