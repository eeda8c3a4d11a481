// SPDX-License-Identifier: GPL-2.0
/* Windows as a watcher sees them each second: by the pinned iterators, or one by one. */
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "fence/private.h"
#include "ringfence/window_read.h"
#include "ringfence/window_record.h"

#define RECORDS 1600	  /* in one read; the kernel gives 32 KiB at most */
#define IN_VAIN_MAX 10000 /* reads that looked at a million windows each, and printed none */

static const enum rf_iterator iterators[RF_WINDOW_AGES][2] = {
	[RF_WINDOWS_4S] = {RF_SHOW_ACTIVE4, RF_SHOW_ACTIVE6},
	[RF_WINDOWS_64S] = {RF_SHOW_ACTIVE64_4, RF_SHOW_ACTIVE64_6},
	[RF_WINDOWS_ALL] = {RF_SHOW_WINDOWS4, RF_SHOW_WINDOWS6},
};

uint32_t rf_record_parts(uint32_t slots)
{
	return (slots + RF_PART_SLOTS - 1) / RF_PART_SLOTS;
}

static int open_iterator(const struct rf_fence *fence, enum rf_window_age age, int family)
{
	const struct rf_pin_path pins = rf_fence_pins(fence);
	int fd;

	if (!*pins.text)
		return -ENOENT;
	fd = open(rf_pins_entry(&pins, rf_iterator_pins[iterators[age][family]]).text,
		  O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -ENOENT : fd;
}

/* A read gives up after a million windows of which it printed none: then it is read on. */
static ssize_t read_on(int fd, void *buffer, size_t size)
{
	ssize_t got = -1;

	for (int i = 0; i < IN_VAIN_MAX && got < 0; i++) {
		got = read(fd, buffer, size);
		if (got < 0 && errno != EAGAIN && errno != EINTR)
			break;
	}
	return got < 0 ? -errno : got;
}

static int visit_record(const struct rf_window_record *record, int family, rf_window_visit visit,
			void *context)
{
	struct rf_window_sight sight = {
		.source.version = family ? 6 : 4,
		.limit_id = record->limit_id,
		.stay = record->stay,
		.used = record->used,
		.passed = record->passed,
		.dropped = record->dropped,
		.would_drop = record->would_drop,
		.is_short = true,
	};

	memcpy(sight.source.word, record->source, sizeof(sight.source.word));
	return visit(&sight, context);
}

static int read_records(int fd, int family, rf_window_visit visit, void *context)
{
	struct rf_window_record record[RECORDS];
	size_t filled = 0;
	int err = 0;

	while (!err) {
		const ssize_t got = read_on(fd, (char *)record + filled, sizeof(record) - filled);
		size_t count;

		if (got <= 0)
			return got < 0 ? got : filled ? -EPROTO : 0;
		filled += got;
		count = filled / sizeof(*record);
		for (size_t i = 0; i < count && !err; i++)
			err = visit_record(&record[i], family, visit, context);
		filled -= count * sizeof(*record);
		memmove(record, &record[count], filled);
	}
	return err;
}

int rf_fence_each_record(const struct rf_fence *fence, enum rf_window_age age,
			 rf_window_visit visit, void *context, struct rf_error *error)
{
	int err = 0;

	for (int family = 0; family < 2 && !err; family++) {
		const int fd = open_iterator(fence, age, family);

		if (fd < 0)
			return fd;
		err = read_records(fd, family, visit, context);
		close(fd);
		if (err)
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
