// SPDX-License-Identifier: GPL-2.0
/* Windows as a watcher sees them each second: by the pinned iterators, or one by one. */
#include <errno.h>
#include <string.h>

#include "fence/private.h"
#include "ringfence/window_read.h"
#include "ringfence/window_record.h"

static const enum rf_iterator iterators[RF_WINDOW_AGES][2] = {
	[RF_WINDOWS_4S] = {RF_SHOW_ACTIVE4, RF_SHOW_ACTIVE6},
	[RF_WINDOWS_64S] = {RF_SHOW_ACTIVE64_4, RF_SHOW_ACTIVE64_6},
	[RF_WINDOWS_ALL] = {RF_SHOW_WINDOWS4, RF_SHOW_WINDOWS6},
};

uint32_t rf_record_parts(uint32_t slots)
{
	return (slots + RF_PART_SLOTS - 1) / RF_PART_SLOTS;
}

uint32_t rf_lease_parts(uint32_t sets)
{
	return (sets + RF_PART_SETS - 1) / RF_PART_SETS;
}

struct visiting {
	int family;
	rf_window_visit visit;
	void *context;
};

static int visit_record(const void *printed, void *context)
{
	const struct rf_window_record *record = printed;
	const struct visiting *visiting = context;
	struct rf_window_sight sight = {
		.source.version = visiting->family ? 6 : 4,
		.limit_id = record->limit_id,
		.stay = record->stay,
		.used = record->used,
		.passed = record->passed,
		.dropped = record->dropped,
		.would_drop = record->would_drop,
		.is_short = true,
	};

	memcpy(sight.source.word, record->source, sizeof(sight.source.word));
	return visiting->visit(&sight, visiting->context);
}

int rf_fence_each_record(const struct rf_fence *fence, enum rf_window_age age,
			 rf_window_visit visit, void *context, struct rf_error *error)
{
	int err = 0;

	for (int family = 0; family < 2 && !err; family++) {
		struct visiting visiting = {family, visit, context};

		err = rf_iterator_each(fence, iterators[age][family],
				       sizeof(struct rf_window_record), visit_record, &visiting);
		if (err && err != -ENOENT)
			rf_error_failed(error, err, "cannot read the pin '%s': %s",
					rf_iterator_pins[iterators[age][family]], strerror(-err));
	}
	return err;
}

int rf_fence_window(const struct rf_fence *fence, const struct rf_policy *policy,
		    const struct rf_address *source, struct rf_source *state)
{
	const struct rf_key4 key4 = {source->word[0], policy->id};
	struct rf_key6 key6 = {.limit_id = policy->id};
	const bool is_ipv4 = source->version == 4;

	memcpy(key6.source, source->word, sizeof(key6.source));
	return rf_fence_look_up(fence, is_ipv4 ? RF_MAP_WINDOWS4 : RF_MAP_WINDOWS6,
				is_ipv4 ? (const void *)&key4 : &key6, state);
}

void rf_window_sight(const struct rf_fence *fence, const struct rf_policy *policy,
		     const struct rf_address *source, const struct rf_source *state,
		     struct rf_window_sight *sight)
{
	*sight = (struct rf_window_sight){
		.source = *source,
		.limit_id = policy->id,
		.stay = rf_window_stay(state->seat),
		.used = rf_used(&state->window, policy, rf_fence_time(fence, policy)),
		.passed = state->passed,
		.dropped = state->dropped,
		.would_drop = policy->ban ? 0 : state->would_drop,
	};
}
