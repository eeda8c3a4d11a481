/* SPDX-License-Identifier: GPL-2.0 */
/* Gives each source, or each source in each hour, an index, from 0 on. Pure. */
#ifndef RINGFENCE_SOURCE_MAP_H
#define RINGFENCE_SOURCE_MAP_H

#include <stdint.h>

#include "base/prefix.h"

#define RF_NO_INDEX SIZE_MAX

struct rf_source_key {
	struct rf_prefix source;
	uint64_t of; /* an hour, or whatever else tells apart */
};

/* All zeros: empty. */
struct rf_source_map {
	struct rf_source_key *key; /* by index */
	size_t count, capacity;
	uint32_t *place; /* open addressing: an index and 1; 0: free */
	size_t places;	 /* a power of two */
};

/* The index of the key, which is added where it is new. RF_NO_INDEX: no memory. */
size_t rf_source_map_add(struct rf_source_map *map, const struct rf_prefix *source, uint64_t of);
/* RF_NO_INDEX: it is not in the map. */
size_t rf_source_map_find(const struct rf_source_map *map, const struct rf_prefix *source,
			  uint64_t of);
void rf_source_map_free(struct rf_source_map *map);

#endif /* RINGFENCE_SOURCE_MAP_H */
