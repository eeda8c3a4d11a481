// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/units.h"
#include "snapshot/snapshot.h"
#include "watch/monotonic.h"

#define FIRST_CAPACITY 64
#define MOST (1LL << 60) /* that anybody counts: more is damage */

struct counter {
	char key[RF_MONOTONIC_KEY_SIZE];
	uint64_t base; /* of fences and limits that ended */
	uint64_t most; /* of what goes on */
	uint64_t seen; /* in which reading */
};

struct rf_monotonic {
	char identity[RF_IDENTITY_SIZE];
	uint32_t generation;	  /* the newest that was seen in the readings before this one */
	uint32_t next_generation; /* and in this one */
	uint64_t readings;
	struct counter *counter;
	size_t count, capacity;
	size_t next;	       /* where a look-up begins: readings have one order */
	struct counter unkept; /* where there is no memory for another one */
};

struct rf_monotonic *rf_monotonic_new(void)
{
	return calloc(1, sizeof(struct rf_monotonic));
}

void rf_monotonic_free(struct rf_monotonic *counters)
{
	if (!counters)
		return;
	free(counters->counter);
	free(counters);
}

/* ---- looking up ---- */

static struct counter *find(const struct rf_monotonic *counters, const char *key)
{
	for (size_t i = 0; i < counters->count; i++) {
		const size_t at = (counters->next + i) % counters->count;

		if (strcmp(counters->counter[at].key, key) == 0)
			return &counters->counter[at];
	}
	return NULL;
}

static struct counter *longest_unseen(const struct rf_monotonic *counters)
{
	struct counter *oldest = counters->counter;

	for (size_t i = 1; i < counters->count; i++)
		if (counters->counter[i].seen < oldest->seen)
			oldest = &counters->counter[i];
	return oldest;
}

static struct counter *make_room(struct rf_monotonic *counters)
{
	const size_t capacity = counters->capacity ? counters->capacity * 2 : FIRST_CAPACITY;
	struct counter *larger;

	if (counters->count == RF_MONOTONIC_MAX)
		return longest_unseen(counters);
	if (counters->count == counters->capacity) {
		larger = reallocarray(counters->counter, capacity, sizeof(*larger));
		if (!larger)
			return &counters->unkept;
		counters->counter = larger;
		counters->capacity = capacity;
	}
	return &counters->counter[counters->count++];
}

static struct counter *get(struct rf_monotonic *counters, const char *key)
{
	struct counter *counter = find(counters, key);

	if (!counter) {
		counter = make_room(counters);
		*counter = (struct counter){};
		snprintf(counter->key, sizeof(counter->key), "%s", key);
	}
	counter->seen = counters->readings;
	if (counter != &counters->unkept)
		counters->next = counter - counters->counter + 1;
	return counter;
}

/* ---- readings ---- */

/* What was counted so far has ended. */
static void settle(struct counter *counter)
{
	counter->base += counter->most;
	counter->most = 0;
}

static bool is_later(uint32_t generation, uint32_t than)
{
	return (int32_t)(generation - than) > 0;
}

void rf_monotonic_begin(struct rf_monotonic *counters, const char *identity, uint32_t generation)
{
	const bool is_same = strcmp(counters->identity, identity) == 0;

	counters->readings++;
	counters->generation = counters->next_generation;
	if (!is_same || is_later(generation, counters->next_generation))
		counters->next_generation = generation;
	if (is_same)
		return;
	counters->generation = generation;
	snprintf(counters->identity, sizeof(counters->identity), "%s", identity);
	for (size_t i = 0; i < counters->count; i++)
		settle(&counters->counter[i]);
}

static uint64_t grow(struct counter *counter, uint64_t now)
{
	if (now > counter->most)
		counter->most = now;
	return counter->base + counter->most;
}

uint64_t rf_monotonic_see(struct rf_monotonic *counters, const char *key, uint64_t now)
{
	return grow(get(counters, key), now);
}

uint64_t rf_monotonic_see_since(struct rf_monotonic *counters, const char *key, uint32_t since,
				uint64_t now)
{
	struct counter *counter = get(counters, key);

	if (is_later(since, counters->generation))
		settle(counter);
	/* The rules were read after their generation was. */
	if (is_later(since, counters->next_generation))
		counters->next_generation = since;
	return grow(counter, now);
}

uint64_t rf_monotonic_add(struct rf_monotonic *counters, const char *key, uint64_t more)
{
	struct counter *counter = get(counters, key);

	counter->base += more;
	return counter->base + counter->most;
}

uint64_t rf_monotonic_told(const struct rf_monotonic *counters, const char *key)
{
	const struct counter *counter = find(counters, key);

	return counter ? counter->base + counter->most : 0;
}

/* ---- text ---- */

char *rf_monotonic_save(const struct rf_monotonic *counters)
{
	json_t *list = json_object();
	json_t *all = json_pack("{s:s, s:I, s:o}", "identity", counters->identity, "generation",
				(json_int_t)counters->next_generation, "counters", list);
	char *text;

	for (size_t i = 0; i < counters->count; i++) {
		const struct counter *counter = &counters->counter[i];

		/* A key that is not UTF-8 cannot be kept. Only ringfence names limits, in ASCII. */
		if (counter->base || counter->most)
			json_object_set_new(list, counter->key,
					    json_pack("[I, I]", (json_int_t)counter->base,
						      (json_int_t)counter->most));
	}
	text = rf_json_line(all);
	json_decref(all);
	return text;
}

static int read_counter(struct rf_monotonic *into, const char *key, json_t *value)
{
	json_int_t base, most;
	struct counter *counter;

	if (!*key || strlen(key) >= RF_MONOTONIC_KEY_SIZE || into->count == RF_MONOTONIC_MAX ||
	    json_unpack(value, "[I, I !]", &base, &most) || base < 0 || most < 0 || base > MOST ||
	    most > MOST)
		return -EINVAL;
	counter = get(into, key);
	if (counter == &into->unkept)
		return -ENOMEM;
	counter->base = base;
	counter->most = most;
	return 0;
}

static int read_all(struct rf_monotonic *into, json_t *all)
{
	const char *identity, *key;
	json_int_t generation;
	json_t *list, *value;

	if (json_unpack(all, "{s:s, s:I, s:o}", "identity", &identity, "generation", &generation,
			"counters", &list) ||
	    !json_is_object(list) || strlen(identity) >= sizeof(into->identity) || generation < 0 ||
	    generation > UINT32_MAX)
		return -EINVAL;
	snprintf(into->identity, sizeof(into->identity), "%s", identity);
	into->generation = into->next_generation = generation;
	json_object_foreach (list, key, value) {
		const int err = read_counter(into, key, value);

		if (err)
			return err;
	}
	return 0;
}

/* Both have seen the same fence: which of them has seen more of it is told by the count. */
static void merge_counter(struct counter *into, const struct counter *from, bool is_same)
{
	into->base += from->base;
	if (!is_same)
		into->base += from->most;
	else if (from->most > into->most)
		into->most = from->most;
}

static void merge(struct rf_monotonic *into, const struct rf_monotonic *from)
{
	const bool is_same = strcmp(into->identity, from->identity) == 0;

	for (size_t i = 0; i < from->count; i++)
		merge_counter(get(into, from->counter[i].key), &from->counter[i], is_same);
}

static void take_over(struct rf_monotonic *into, struct rf_monotonic *from)
{
	const struct rf_monotonic before = *into;

	*into = *from;
	*from = before;
}

int rf_monotonic_restore(struct rf_monotonic *counters, const char *text)
{
	json_t *all = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	struct rf_monotonic *saved = rf_monotonic_new();
	int err = saved ? -EINVAL : -ENOMEM;

	if (all && saved)
		err = read_all(saved, all);
	if (!err && !counters->readings && !counters->count)
		take_over(counters, saved);
	else if (!err)
		merge(counters, saved);
	rf_monotonic_free(saved);
	json_decref(all);
	return err;
}
