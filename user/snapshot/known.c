// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "ringfence/known_filter.h"
#include "snapshot/known.h"

#define LEAST 1024

static uint32_t hash_of(const struct rf_known_list *list, const struct rf_address *source,
			uint32_t limit_id)
{
	__u64 words[2];

	memcpy(words, source->word, sizeof(words));
	words[1] ^= (uint64_t)limit_id << 32 | limit_id;
	return rf_known_filter_hash(words, source->version == 6, list->key) >> 20;
}

static bool is_it(const struct rf_known *known, const struct rf_address *source, uint32_t limit_id)
{
	return known->limit_id == limit_id && known->source.version == source->version &&
	       !memcmp(known->source.word, source->word, sizeof(source->word));
}

static struct rf_known *find(struct rf_known_list *list, const struct rf_address *source,
			     uint32_t limit_id, uint32_t hash)
{
	const uint32_t mask = list->places - 1;

	for (uint32_t at = hash & mask; list->place[at]; at = (at + 1) & mask)
		if (is_it(&list->of[list->place[at] - 1], source, limit_id))
			return &list->of[list->place[at] - 1];
	return NULL;
}

struct rf_known *rf_known_find(struct rf_known_list *list, const struct rf_address *source,
			       uint32_t limit_id)
{
	return list->places ? find(list, source, limit_id, hash_of(list, source, limit_id)) : NULL;
}

static void put(struct rf_known_list *list, uint32_t index)
{
	const uint32_t mask = list->places - 1;
	uint32_t at = list->of[index].hash & mask;

	while (list->place[at])
		at = (at + 1) & mask;
	list->place[at] = index + 1;
}

static void put_all(struct rf_known_list *list)
{
	memset(list->place, 0, list->places * sizeof(*list->place));
	for (uint32_t i = 0; i < list->count; i++)
		put(list, i);
}

static int make_room(struct rf_known_list *list)
{
	const uint32_t capacity = list->capacity ? 2 * list->capacity : LEAST;
	struct rf_known *of;
	uint32_t *place;

	if (list->count < list->capacity)
		return 0;
	of = reallocarray(list->of, capacity, sizeof(*of));
	if (of)
		list->of = of;
	place = of ? reallocarray(list->place, 2 * (size_t)capacity, sizeof(*place)) : NULL;
	if (!place)
		return -ENOMEM;
	list->place = place;
	list->capacity = capacity;
	list->places = 2 * capacity;
	put_all(list);
	return 0;
}

int rf_known_begin(struct rf_known_list *list)
{
	if (!list->key[0] && getrandom(list->key, sizeof(list->key), 0) != sizeof(list->key))
		return -errno;
	for (int i = 0; i < 3; i++)
		list->key[i] |= 1;
	list->scan++;
	list->next = 0;
	list->touched_count = 0;
	return 0;
}

void rf_known_free(struct rf_known_list *list)
{
	free(list->of);
	free(list->place);
	free(list->touched);
	free(list->lent);
	*list = (struct rf_known_list){};
}

/* Notes that this scan knows something of it. */
static int touch(struct rf_known_list *list, struct rf_known *known)
{
	if (known->touched == list->scan)
		return 0;
	if (list->touched_count == list->touched_capacity) {
		const uint32_t capacity =
			list->touched_capacity ? 2 * list->touched_capacity : LEAST;
		uint32_t *touched = reallocarray(list->touched, capacity, sizeof(*touched));

		if (!touched)
			return -ENOMEM;
		list->touched = touched;
		list->touched_capacity = capacity;
	}
	list->touched[list->touched_count++] = known - list->of;
	known->touched = list->scan;
	known->is_shown = false;
	memset(known->pending, 0, sizeof(known->pending));
	memset(known->fresh, 0, sizeof(known->fresh));
	return 0;
}

static bool is_back(const struct rf_known *known, const struct rf_window_sight *sight, int kind,
		    uint64_t count)
{
	if (sight->is_short)
		return (int32_t)((uint32_t)count - (uint32_t)known->count[kind]) < 0;
	return count < known->count[kind];
}

/* Another stay, or a count that stepped back: the window was made anew, with counts of 0. */
static bool is_anew(const struct rf_known *known, const struct rf_window_sight *sight,
		    const uint64_t count[RF_KINDS])
{
	return known->stay != sight->stay || is_back(known, sight, RF_PASSED, count[RF_PASSED]) ||
	       is_back(known, sight, RF_DROPPED, count[RF_DROPPED]);
}

static void take(struct rf_known *known, const struct rf_window_sight *sight, bool anew)
{
	const uint64_t count[RF_KINDS] = {sight->passed, sight->dropped, sight->would_drop};

	anew = anew || is_anew(known, sight, count);
	for (int i = 0; i < RF_KINDS; i++) {
		if (anew)
			known->told[i] = 0;
		/* What would be dropped steps back also where the limit gets a ban. */
		if (anew || !sight->is_short || is_back(known, sight, i, count[i]))
			known->count[i] = count[i];
		else
			known->count[i] += (uint32_t)count[i] - (uint32_t)known->count[i];
	}
}

/* Each scan finds windows in nearly the same order, so the next one needs no search. */
static struct rf_known *find_next(struct rf_known_list *list, const struct rf_window_sight *sight)
{
	struct rf_known *known = list->next < list->count ? &list->of[list->next] : NULL;

	if (known && is_it(known, &sight->source, sight->limit_id))
		return known;
	return rf_known_find(list, &sight->source, sight->limit_id);
}

static struct rf_known *add(struct rf_known_list *list, const struct rf_window_sight *sight)
{
	struct rf_known *known;

	if (make_room(list))
		return NULL;
	known = &list->of[list->count++];
	*known = (struct rf_known){
		.source = sight->source,
		.limit_id = sight->limit_id,
		.hash = hash_of(list, &sight->source, sight->limit_id),
		.made = list->scan,
	};
	put(list, list->count - 1);
	return known;
}

int rf_known_see(struct rf_known_list *list, const struct rf_window_sight *sight)
{
	struct rf_known *known = find_next(list, sight);
	const bool is_new = !known;

	if (is_new)
		known = add(list, sight);
	if (!known)
		return -ENOMEM;
	list->next = known - list->of + 1;
	if (touch(list, known))
		return -ENOMEM;
	take(known, sight, is_new);
	known->stay = sight->stay;
	known->read = list->scan;
	known->used = sight->used < UINT32_MAX ? sight->used : UINT32_MAX;
	known->was_missed = false;
	return 0;
}

int rf_known_lend(struct rf_known_list *list, struct rf_known *known, enum rf_told_kind kind,
		  uint32_t packets)
{
	if (touch(list, known))
		return -ENOMEM;
	known->pending[kind] += packets;
	return 0;
}

bool rf_known_must_be_read(const struct rf_known_list *list, const struct rf_known_lent *lent)
{
	const struct rf_known *known = &list->of[lent->at];

	if (known->read == list->scan)
		return false;
	for (int i = 0; i < RF_KINDS; i++)
		if ((known->touched == list->scan ? known->pending[i] : 0) < lent->pending[i])
			return true;
	return false;
}

static bool has_pending(const struct rf_known *known)
{
	return known->pending[RF_PASSED] || known->pending[RF_DROPPED] ||
	       known->pending[RF_WOULD_DROP];
}

static void tell(struct rf_known *known, uint64_t now_ns)
{
	for (int i = 0; i < RF_KINDS; i++) {
		const uint64_t sum = known->count[i] + known->pending[i];

		if (sum <= known->told[i])
			continue; /* a lease handed packets over between two readings */
		known->fresh[i] = sum - known->told[i];
		known->told[i] = sum;
		known->grew_ns = now_ns;
	}
}

int rf_known_tell(struct rf_known_list *list, uint64_t now_ns)
{
	struct rf_known_lent *lent;
	uint32_t count = 0;

	for (uint32_t i = 0; i < list->touched_count; i++) {
		tell(&list->of[list->touched[i]], now_ns);
		count += has_pending(&list->of[list->touched[i]]);
	}
	lent = reallocarray(list->lent, count + 1, sizeof(*lent));
	if (!lent)
		return -ENOMEM;
	list->lent = lent;
	list->lent_count = 0;
	for (uint32_t i = 0; i < list->touched_count; i++) {
		const struct rf_known *known = &list->of[list->touched[i]];
		struct rf_known_lent *one = &lent[list->lent_count];

		if (!has_pending(known))
			continue;
		one->at = list->touched[i];
		memcpy(one->pending, known->pending, sizeof(one->pending));
		list->lent_count++;
	}
	return 0;
}

void rf_known_sweep(struct rf_known_list *list)
{
	uint32_t kept = 0, lent = 0;

	for (uint32_t i = 0; i < list->lent_count; i++)
		list->of[list->lent[i].at].lent = i + 1;
	for (uint32_t i = 0; i < list->count; i++) {
		struct rf_known *known = &list->of[i];
		const bool was_missed = known->was_missed;

		known->was_missed = known->read != list->scan;
		if (known->lent)
			list->lent[known->lent - 1].at =
				was_missed && known->was_missed ? UINT32_MAX : kept;
		known->lent = 0;
		if (!was_missed || !known->was_missed)
			list->of[kept++] = *known;
	}
	for (uint32_t i = 0; i < list->lent_count; i++)
		if (list->lent[i].at != UINT32_MAX)
			list->lent[lent++] = list->lent[i];
	list->count = kept;
	list->lent_count = lent;
	list->touched_count = 0;
	put_all(list);
}
