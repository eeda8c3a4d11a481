// SPDX-License-Identifier: GPL-2.0
#include "fleet/alone.h"

static uint64_t later(uint64_t one, uint64_t other)
{
	return one > other ? one : other;
}

static bool lasts(const struct rf_alone_time *time)
{
	return time->since_ns && !time->until_ns;
}

static void count(const struct rf_alone *alone, struct rf_alone_time *time, uint64_t since_ns,
		  uint64_t now, bool goes_on)
{
	if (!lasts(time)) {
		time->times++;
		time->since_ns = since_ns;
		time->counted_ns = later(since_ns, alone->began_ns);
	}
	time->ns += later(now, time->counted_ns) - time->counted_ns;
	time->counted_ns = now;
	time->until_ns = goes_on ? 0 : now;
}

static uint64_t since(const struct rf_alone *alone, const struct rf_alone_bucket *bucket)
{
	return bucket->heard_until_ns ? bucket->heard_until_ns : alone->began_ns;
}

/* The earliest possible time, as a jiffy can be about to end. */
static void take_deadline(struct rf_alone_bucket *bucket, const struct rf_alone_seen *seen)
{
	const int64_t ticks = bucket->seen.deadline - seen->jiffies - 1;
	const int64_t until_ns = seen->before_ns + ticks * seen->tick_ns;

	bucket->heard_until_ns = 0;
	if (bucket->seen.deadline)
		bucket->heard_until_ns = until_ns > 0 ? until_ns : 1;
}

/* Returns since when it is offline, or was until this check; 0: neither. */
static uint64_t look_at(struct rf_alone *alone, int number, const struct rf_alone_seen *seen)
{
	struct rf_alone_bucket *bucket = &alone->bucket[number];
	const struct rf_hearing *hearing = &seen->bucket[number];
	const bool was_alone = hearing->alone_until != bucket->seen.alone_until;
	const bool is_new = hearing->deadline != bucket->seen.deadline;
	uint64_t first = 0;

	if (was_alone) {
		first = since(alone, bucket);
		count(alone, &bucket->time, first, seen->now, false);
	}
	bucket->seen = *hearing;
	if (is_new)
		take_deadline(bucket, seen);
	if (seen->jiffies < hearing->deadline)
		return first;
	count(alone, &bucket->time, since(alone, bucket), seen->now, true);
	return first ? first : since(alone, bucket);
}

void rf_alone_look(struct rf_alone *alone, const struct rf_alone_seen *seen)
{
	uint64_t earliest = UINT64_MAX;
	bool goes_on = false;

	for (int i = 0; i < RF_BUCKETS; i++) {
		const uint64_t first = look_at(alone, i, seen);

		if (first && first < earliest)
			earliest = first;
		goes_on = goes_on || lasts(&alone->bucket[i].time);
	}
	if (earliest != UINT64_MAX)
		count(alone, &alone->any, earliest, seen->now, goes_on);
}

void rf_alone_begin(struct rf_alone *alone, const struct rf_alone_seen *seen)
{
	alone->began_ns = seen->now;
	for (int i = 0; i < RF_BUCKETS; i++) {
		alone->bucket[i].seen = seen->bucket[i];
		take_deadline(&alone->bucket[i], seen);
	}
	rf_alone_look(alone, seen);
}

static void end(const struct rf_alone *alone, struct rf_alone_time *time, uint64_t now)
{
	if (lasts(time))
		count(alone, time, 0, now, false);
}

void rf_alone_end(struct rf_alone *alone, uint64_t now)
{
	for (int i = 0; i < RF_BUCKETS; i++)
		end(alone, &alone->bucket[i].time, now);
	end(alone, &alone->any, now);
	alone->began_ns = 0;
}
