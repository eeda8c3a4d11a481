// SPDX-License-Identifier: GPL-2.0
/*
 * A late write: a CPU still holds the pointer of a window whose memory now belongs to a different
 * limit. For each pair of algorithms, the tests measure how the written word affects the new owner:
 * how long the source can be shut out, and how much it can pass beyond its limit. Both must match
 * the head comment of limiter.h.
 *
 * The writer has a separate window with a history. Each of its words can land in the other window,
 * separately or together; or the writer runs a whole packet there. That is more than it can really
 * do.
 */
#include <stdio.h>

#include "limiter.h"

#include "tests/limits.h"

#define HZ 250
#define TICK_NS HZ250
#define HOUR (3600 * SECOND)
#define DAY (24 * HOUR)
#define WORDS (sizeof(struct rf_window) / sizeof(__u64))
#define WRITES (WORDS + 2) /* each word, all words, a packet */
#define STEPS 512

struct kind {
	const char *name;
	struct rf_limit limit[3]; /* a short window, a medium one, a long one */
};

/* A limit with the row's algorithm, by three lengths of the window. */
#define KIND(title, ...)                                                                        \
	{                                                                                       \
		.name = title,                                                                  \
		.limit = {LIMIT(16, 10 * MS, __VA_ARGS__), LIMIT(10, 10 * SECOND, __VA_ARGS__), \
			  LIMIT(12, HOUR, __VA_ARGS__)},                                        \
	}

static const struct kind kinds[] = {
	KIND("strict", STRICT(16)),
	KIND("strict, 2 cells", STRICT(2)),
	KIND("coarse", COARSE(16)),
	KIND("weighted", WEIGHTED(8)),
	KIND("fixed", FIXED),
	KIND("strict, count rejected", STRICT(16), COUNT_REJECTED),
	KIND("weighted, count rejected", WEIGHTED(8), COUNT_REJECTED),
	KIND("log", LOG),
	KIND("log, count rejected", LOG, COUNT_REJECTED),
	KIND("token", TOKEN(10)),
	KIND("token, count rejected", TOKEN(10), COUNT_REJECTED),
	KIND("leaky", LEAKY(1)),
};

#define KINDS UNIT_ARRAY_SIZE(kinds)
#define LIMITS UNIT_ARRAY_SIZE(kinds[0].limit)

/* Time since boot. */
static const uint64_t uptimes_ns[] = {
	SECOND, 301 * SECOND, HOUR, 30 * DAY, 60 * DAY, 700 * DAY, 3000 * DAY,
};

struct pair {
	const struct kind *writer;
	const struct kind *owner;
};

struct limiter {
	const struct rf_limit *limit;
	struct rf_policy policy;
	struct rf_window window;
};

/* The kernel's jiffies start five minutes before they exceed 32 bits. */
static uint64_t clock_of(const struct rf_policy *policy, uint64_t time_ns)
{
	if (policy->clock == RF_JIFFIES)
		return EPOCHS - 300 * HZ + time_ns / TICK_NS;
	return time_ns;
}

static uint64_t cell_ns(const struct rf_policy *policy)
{
	return policy_cells_ns(policy, 1, TICK_NS);
}

/* For how long a source can be shut out after its first packet after the write. */
static uint64_t shut_ns(const struct limiter *owner)
{
	const struct rf_policy *policy = &owner->policy;
	const uint64_t stall_ns = (policy->clock == RF_JIFFIES ? RF_STALL_TICKS : RF_STALL_NS) *
				  policy_unit_ns(policy, TICK_NS);

	if (rf_is_log(policy))
		return stall_ns + owner->limit->window_ns;
	if (rf_is_bucket(policy))
		return stall_ns + policy->depth / (1 << RF_BUCKET_SHIFT) +
		       owner->limit->window_ns / owner->limit->rate + 1;
	return stall_ns + (RF_CELLS_AHEAD + policy->cells + 2) * cell_ns(policy);
}

/* How much can pass in one window's time after the window was full. */
static uint64_t passes_in_window(const struct limiter *owner)
{
	const struct rf_limit *limit = owner->limit;

	if (rf_is_bucket(&owner->policy))
		return limit->rate + 1;
	if (rf_is_log(&owner->policy) ||
	    (limit->algorithm == RF_SLIDING && limit->edge == RF_EDGE_STRICT))
		return limit->rate;
	return 2 * limit->rate;
}

static uint64_t window_holds(const struct limiter *owner)
{
	return rf_is_bucket(&owner->policy) ? owner->limit->burst : owner->limit->rate;
}

static bool takes(struct limiter *limiter, uint64_t time_ns)
{
	enum rf_verdict verdict =
		rf_take(&limiter->window, &limiter->policy, clock_of(&limiter->policy, time_ns), 1);

	assert_int_not_equal(verdict, RF_LOST_RACES);
	return verdict == RF_UNDER;
}

static void start(struct limiter *limiter, const struct rf_limit *limit, uint64_t time_ns)
{
	limiter->limit = limit;
	limiter->policy = policy_compiled(limit, TICK_NS);
	rf_window_start(&limiter->window, &limiter->policy, clock_of(&limiter->policy, time_ns));
}

/* A window with a history, full at `end_ns`. */
static void start_full(struct limiter *limiter, const struct rf_limit *limit, uint64_t end_ns)
{
	const uint64_t past_ns = end_ns < 2 * limit->window_ns ? end_ns : 2 * limit->window_ns;

	start(limiter, limit, end_ns - past_ns);
	for (int i = 0; i < 40; i++)
		takes(limiter, end_ns - past_ns + past_ns / 40 * i);
	for (int i = 0; i < 40; i++)
		takes(limiter, end_ns);
}

static void write_late(struct limiter *owner, const struct limiter *writer, size_t write,
		       uint64_t time_ns)
{
	__u64 *to = (__u64 *)&owner->window;
	const __u64 *from = (const __u64 *)&writer->window;

	if (write < WORDS)
		to[write] = from[write];
	else if (write == WORDS)
		owner->window = writer->window;
	else
		rf_take(&owner->window, &writer->policy, clock_of(&writer->policy, time_ns), 1);
}

#define PAIR_FAIL(owner, writer, write, time_ns, format, ...)                                    \
	fail_msg("%u/%" PRIu64 " ms, word %zu of %u/%" PRIu64 " ms, %" PRIu64                    \
		 " s after boot: " format,                                                       \
		 (unsigned int)(owner)->limit->rate, (uint64_t)((owner)->limit->window_ns / MS), \
		 write, (unsigned int)(writer)->limit->rate,                                     \
		 (uint64_t)((writer)->limit->window_ns / MS), (time_ns) / (uint64_t)SECOND,      \
		 __VA_ARGS__)

/*
 * A source that continues to send passes again in time, except under limits that count refused
 * packets, which refuse it anyway.
 */
static void check_shut(struct limiter owner, const struct limiter *writer, size_t write,
		       uint64_t time_ns)
{
	const uint64_t shut = shut_ns(&owner);

	if (rf_counts_rejected(&owner.policy))
		return;
	for (uint64_t i = 0; i <= STEPS; i++)
		if (takes(&owner, time_ns + shut / STEPS * i))
			return;
	if (!takes(&owner, time_ns + shut))
		PAIR_FAIL(&owner, writer, write, time_ns, "shut out for more than %" PRIu64 " ns",
			  shut);
}

static uint64_t passes(struct limiter *owner, uint64_t time_ns)
{
	uint64_t passed = 0;

	for (int i = 0; i < 100; i++)
		passed += takes(owner, time_ns);
	return passed;
}

/*
 * The same for a source that sends once, waits for that time, and sends again; then no more than L
 * passes. (A time in a log that is a little ahead counts when it has come.) Afterwards the window
 * is as before.
 */
static void check_shut_to_quiet(struct limiter owner, const struct limiter *writer, size_t write,
				uint64_t time_ns)
{
	const uint64_t window_ns = owner.limit->window_ns;
	const uint64_t wait = shut_ns(&owner) + 2 * window_ns, holds = window_holds(&owner);
	uint64_t passed, then;

	takes(&owner, time_ns);
	passed = passes(&owner, time_ns + wait);
	then = passes(&owner, time_ns + 2 * wait);
	if (!passed || passed > holds || then != holds)
		PAIR_FAIL(&owner, writer, write, time_ns,
			  "%" PRIu64 " pass after %" PRIu64 " ns, then %" PRIu64 ", not %" PRIu64,
			  passed, wait, then, holds);
}

/* The window was full. The write can make it forget at most its contents, and only once. */
static void check_open(struct limiter owner, const struct limiter *writer, size_t write,
		       uint64_t time_ns)
{
	const uint64_t window_ns = owner.limit->window_ns;
	const uint64_t most = passes_in_window(&owner) + window_holds(&owner);
	uint64_t passed = 0;

	for (uint64_t i = 0; i < STEPS; i++)
		passed += takes(&owner, time_ns + window_ns / STEPS * i);
	if (passed > most)
		PAIR_FAIL(&owner, writer, write, time_ns,
			  "%" PRIu64 " pass in a window, more than %" PRIu64, passed, most);
}

static void check_write(const struct rf_limit *written, const struct rf_limit *owned, size_t write,
			uint64_t time_ns)
{
	struct limiter writer, owner;

	start_full(&writer, written, time_ns);
	start_full(&owner, owned, time_ns);
	write_late(&owner, &writer, write, time_ns);
	check_shut(owner, &writer, write, time_ns);
	check_shut_to_quiet(owner, &writer, write, time_ns);
	check_open(owner, &writer, write, time_ns);
	start(&owner, owned, time_ns);
	write_late(&owner, &writer, write, time_ns);
	check_shut(owner, &writer, write, time_ns);
	check_open(owner, &writer, write, time_ns);
}

static void late_write(void **state)
{
	const struct pair *pair = *state;

	for (size_t i = 0; i < UNIT_ARRAY_SIZE(uptimes_ns); i++)
		for (size_t j = 0; j < LIMITS * LIMITS; j++)
			for (size_t write = 0; write < WRITES; write++)
				check_write(&pair->writer->limit[j / LIMITS],
					    &pair->owner->limit[j % LIMITS], write, uptimes_ns[i]);
}

int main(void)
{
	static struct CMUnitTest tests[KINDS * KINDS];
	static char names[KINDS * KINDS][128];
	static struct pair pairs[KINDS * KINDS];

	for (size_t i = 0; i < KINDS * KINDS; i++) {
		pairs[i] = (struct pair){&kinds[i / KINDS], &kinds[i % KINDS]};
		snprintf(names[i], sizeof(names[i]),
			 "a late write of '%s' into a window of '%s' keeps the documented bounds",
			 pairs[i].writer->name, pairs[i].owner->name);
		tests[i] = (struct CMUnitTest)UNIT_ROW_OF(names[i], late_write, &pairs[i]);
	}
	return cmocka_run_group_tests_name("limiter, reused", tests, NULL, NULL);
}
