// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "watch/source_map.h"

#define PLACES_FIRST 1024
#define COUNT_MAX (1U << 30)

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15;
	return hash ^ hash >> 29;
}

static uint64_t hash_of(const struct rf_prefix *source, uint64_t of)
{
	uint64_t hash = mix(of, source->length << 8 | source->version);

	hash = mix(hash, (uint64_t)source->word[0] << 32 | source->word[1]);
	return mix(hash, (uint64_t)source->word[2] << 32 | source->word[3]);
}

static bool is_key(const struct rf_source_key *key, const struct rf_prefix *source, uint64_t of)
{
	return key->of == of && !rf_prefix_compare(&key->source, source);
}

/* The place of the key, or the free one where it belongs. */
static uint32_t *find_place(const struct rf_source_map *map, const struct rf_prefix *source,
			    uint64_t of)
{
	for (uint64_t at = hash_of(source, of) >> 16;; at++) {
		uint32_t *place = &map->place[at & (map->places - 1)];

		if (!*place || is_key(&map->key[*place - 1], source, of))
			return place;
	}
}

static bool grow_places(struct rf_source_map *map)
{
	const size_t places = map->places ? 2 * map->places : PLACES_FIRST;
	uint32_t *place = calloc(places, sizeof(*place));

	if (!place)
		return false;
	free(map->place);
	map->place = place;
	map->places = places;
	for (size_t i = 0; i < map->count; i++)
		*find_place(map, &map->key[i].source, map->key[i].of) = i + 1;
	return true;
}

static bool make_room(struct rf_source_map *map)
{
	struct rf_source_key *key;

	if (map->count >= COUNT_MAX)
		return false;
	if (2 * map->count >= map->places && !grow_places(map))
		return false;
	if (map->count < map->capacity)
		return true;
	key = reallocarray(map->key, 2 * map->capacity + 64, sizeof(*key));
	if (!key)
		return false;
	map->key = key;
	map->capacity = 2 * map->capacity + 64;
	return true;
}

size_t rf_source_map_add(struct rf_source_map *map, const struct rf_prefix *source, uint64_t of)
{
	uint32_t *place;

	if (!make_room(map))
		return RF_NO_INDEX;
	place = find_place(map, source, of);
	if (!*place) {
		map->key[map->count] = (struct rf_source_key){*source, of};
		*place = ++map->count;
	}
	return *place - 1;
}

size_t rf_source_map_find(const struct rf_source_map *map, const struct rf_prefix *source,
			  uint64_t of)
{
	const uint32_t *place = map->places ? find_place(map, source, of) : NULL;

	return place && *place ? *place - 1 : RF_NO_INDEX;
}

void rf_source_map_free(struct rf_source_map *map)
{
	free(map->key);
	free(map->place);
	*map = (struct rf_source_map){};
}
