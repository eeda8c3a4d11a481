/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A fence with shares, as its agent uses it: the calls by their pins, and the requests of sources.
 */
#ifndef PROG_SHARES_H
#define PROG_SHARES_H

#define TEST_SHARES
#include "program.h"

#include <linux/bpf.h>

#include "fence/shares.h"
#include "kernel/program.h"
#include "ringfence/share.h"

#include "build/fleet_calls.skel.h"

#define SOURCE "192.0.2.1"
#define FIRST 4
#define LIMIT 100
#define TAG 7
#define GRACE_NS (2 * NS_PER_S)
#define ASKS_MAX 64

static struct fleet_calls_bpf *calls;
static struct rf_shares shares;
static struct ring_buffer *ring;
static struct rf_fleet_ask asks[ASKS_MAX];
static int asks_count;
static uint64_t now_ns;

/* ---- a fence with shares ---- */

static inline int note_ask(void *context, void *data, size_t size)
{
	(void)context;
	assert_true(size >= sizeof(asks[0]));
	assert_true(asks_count < ASKS_MAX);
	memcpy(&asks[asks_count++], data, sizeof(asks[0]));
	return 0;
}

/* The requests since the last call. */
static inline int read_asks(void)
{
	asks_count = 0;
	assert_true(ring_buffer__consume(ring) >= 0);
	return asks_count;
}

static inline void set_time(struct program *program, uint64_t time_ns)
{
	now_ns = time_ns;
	program_set_time(program, time_ns);
}

static inline void pass_time(struct program *program, uint64_t ns)
{
	set_time(program, now_ns + ns);
}

/* As attach does it, with a clock that tests set; by pins, as the agent has it. */
static inline void load_calls(const struct program *program)
{
	struct rf_pin_path directory;
	struct rf_error error = {};
	int fd[RF_SHARE_PIN_COUNT];

	calls = fleet_calls_bpf__open();
	assert_non_null(calls);
	calls->rodata->rf_rodata.injected_clock = 1;
	assert_int_equal(rf_maps_reuse(calls->obj, program->fence.map_fd), 0);
	assert_int_equal(bpf_map__set_autocreate(calls->maps.fresh_source, false), 0);
	assert_int_equal(bpf_map__set_autocreate(calls->maps.asks, false), 0);
	assert_int_equal(fleet_calls_bpf__load(calls), 0);
	fd[RF_SHARE_CALL] = bpf_program__fd(calls->progs.fleet_call);
	fd[RF_SHARE_BATCH] = bpf_map__fd(calls->maps.fleet_batch);
	fd[RF_SHARE_ASKS] = bpf_map__fd(program->object->maps.asks);
	snprintf(directory.text, sizeof(directory.text), RF_BPFFS "/rf_shares_%d", getpid());
	assert_done(rf_pins_make_directory(&directory, &error), &error);
	shares = RF_SHARES_NONE;
	assert_int_equal(rf_shares_open(&shares, &directory, &error), -ENOENT);
	for (int i = 0; i < RF_SHARE_PIN_COUNT; i++)
		assert_done(rf_pins_put(&directory, rf_share_pins[i], fd[i], &error), &error);
	shares = RF_SHARES_NONE;
	assert_done(rf_shares_open(&shares, &directory, &error), &error);
	rf_pins_remove(&directory);
	assert_int_not_equal(access(directory.text, F_OK), 0);
}

static inline int setup(void **state)
{
	program_setup_at_start(state);
	now_ns = START_NS;
	load_calls(*state);
	ring = ring_buffer__new(shares.asks_fd, note_ask, NULL, NULL);
	assert_non_null(ring);
	return 0;
}

static inline int teardown(void **state)
{
	ring_buffer__free(ring);
	rf_shares_close(&shares);
	fleet_calls_bpf__destroy(calls);
	return program_teardown(state);
}

/* Makes the limit of that name one of the fleet, in the active bank. */
static inline struct rf_policy *join(struct program *program, const char *name)
{
	struct rf_policy *policy = (struct rf_policy *)program_policy_of(program, name);

	policy->first = FIRST;
	policy->alone = policy->limit;
	policy->tag = TAG;
	policy->flags |= RF_FLEET | (policy->ban ? RF_BANS_BY_SUM | RF_EXACT : 0);
	return policy;
}

/* No message has arrived for long, unless the test sets one. */
static inline void hear_until(uint64_t until_ns)
{
	struct rf_error error = {};

	for (int i = 0; i < RF_BUCKETS; i++)
		shares.batch->heard[i] =
			(struct rf_fleet_heard){.until_ns = until_ns, .window_ns = NS_PER_S};
	shares.batch->count = 0;
	assert_done(rf_shares_call(&shares, &error), &error);
}

static inline struct rf_policy *start(struct program *program, const char *rules)
{
	struct rf_policy *policy;

	program_apply(program, rules);
	policy = join(program, "any");
	hear_until(now_ns + 1000 * NS_PER_S);
	return policy;
}

/* ---- packets ---- */

static inline bool passes_as(const struct program *program, const char *source, int protocol)
{
	struct frame4 frame = frame4_from(inet_addr(source));

	frame.ip.protocol = protocol;
	return program_run(program->object->progs.ringfence, &frame, sizeof(frame)) == XDP_PASS;
}

static inline int burst(const struct program *program, const char *source, int count)
{
	int passed = 0;

	for (int i = 0; i < count; i++)
		passed += passes_as(program, source, IPPROTO_UDP);
	return passed;
}

static inline int burst6(const struct program *program, const char *source, int count)
{
	struct frame6 frame = frame6_from(source);
	int passed = 0;

	for (int i = 0; i < count; i++)
		passed += program_run(program->object->progs.ringfence, &frame, sizeof(frame)) ==
			  XDP_PASS;
	return passed;
}

/* ---- calls ---- */

/*
 * The share is granted to the window of the last request, or taken back from it, as an agent does:
 * the window is read once more when no program uses an older share.
 */
static inline struct rf_fleet_record *give(const struct rf_fleet_ask *ask, uint32_t share)
{
	struct rf_fleet_record *record = &shares.batch->record[0];
	struct rf_error error = {};
	enum rf_share_result written;

	*record = (struct rf_fleet_record){
		.source = {ask->source[0], ask->source[1]},
		.limit_id = ask->limit_id,
		.tag = ask->tag,
		.incarnation = ask->incarnation,
		.share = share,
		.is_ipv6 = ask->is_ipv6,
		.writes = 1,
	};
	shares.batch->count = 1;
	assert_done(rf_shares_call(&shares, &error), &error);
	written = record->result;
	assert_done(rf_wait_for_programs(&error), &error);
	record->writes = 0;
	assert_done(rf_shares_call(&shares, &error), &error);
	if (record->result == RF_SHARE_DONE)
		record->result = written;
	return record;
}

/* Fills a window up to `first`, and returns its source's request. */
static inline struct rf_fleet_ask ask_of(const struct program *program, const char *source)
{
	read_asks();
	assert_int_equal(burst(program, source, LIMIT), FIRST);
	assert_true(read_asks() > 0);
	return asks[asks_count - 1];
}

/* The shares of the buckets expire. */
static inline void end_shares(void)
{
	struct rf_error error = {};

	for (int i = 0; i < RF_BUCKETS; i++)
		shares.batch->heard[i].ends = 1;
	shares.batch->count = 0;
	assert_done(rf_shares_call(&shares, &error), &error);
}

#endif /* PROG_SHARES_H */
