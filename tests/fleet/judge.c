// SPDX-License-Identifier: GPL-2.0
/* The packets that all hosts together have passed in W, and their bound. */
#include "world.h"

int world_slots(void)
{
	return HOSTS - row->rival;
}

int world_limit_alone(void)
{
	return row->strict ? row->first : row->limit;
}

int world_excess(const struct world *world)
{
	const struct books *books = &world->books;
	int sum = 0, differs = 0, heard = 0;
	int may = rf_fleet_pool(row->limit, world_slots(), row->first);

	for (int i = 0; i < HOSTS; i++) {
		int alone = 0;

		for (int j = 0; j < row->window; j++) {
			sum += books->admitted[i][j];
			alone |= books->alone[i][j];
		}
		heard += !alone;
		may += alone ? world_limit_alone() : 0;
	}
	may += (heard < world_slots() ? heard : world_slots()) * row->first;
	for (int j = 0; j < row->window; j++) {
		may += books->lost[j];
		differs |= books->differs[j];
	}
	may += differs ? rf_fleet_bound(row->limit, world_slots(), row->first) : 0;
	return sum > may ? sum - may : 0;
}
