// SPDX-License-Identifier: GPL-2.0
#include <errno.h>

#include "rules/classes.h"

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
