// SPDX-License-Identifier: GPL-2.0
/*
 * Every frame of the table, whole and cut at every length, through both entries of the loaded
 * program: its reason, its verdict, and that only its own source gets a window.
 */
#include "program.h"

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <stdio.h>

#include "tests/frames.h"

#define LEASES 256 /* few, because each reading of the counters reads all of them */

static struct program program;

static int load(void **state)
{
	const struct rf_limit limit = limit_of(1000000, 3600 * NS_PER_S);

	(void)state;
	program_open_both(&program);
	program_set_leases(&program, LEASES);
	program_load(&program);
	program_set_time(&program, 1000 * NS_PER_S);
	program_set_limit(&program, &limit);
	return 0;
}

static int unload(void **state)
{
	(void)state;
	program_close(&program);
	return 0;
}

/* Another window length needs another limit id: no earlier window interferes. */
static void start_afresh(void)
{
	static uint64_t window_ns = 3600 * NS_PER_S;
	struct rf_limit limit = limit_of(1000000, window_ns += NS_PER_S);

	limit.flags = RF_EXACT; /* passed packets are then in the window, and not pending */
	program_set_limit(&program, &limit);
}

/* The single reason that was counted since `before`; packets and bytes must fit one frame. */
static enum rf_reason reason_since(const struct rf_counters *before, size_t length)
{
	struct rf_counters now = program_counters(&program);
	enum rf_reason reason = RF_REASON_COUNT;

	for (int i = 0; i < RF_REASON_COUNT; i++) {
		if (now.reason[i].packets == before->reason[i].packets)
			continue;
		assert_int_equal(reason, RF_REASON_COUNT);
		assert_int_equal(now.reason[i].packets, before->reason[i].packets + 1);
		assert_int_equal(now.reason[i].bytes, before->reason[i].bytes + length);
		reason = i;
	}
	return reason;
}

/* Counts the windows of the enforced limit; `passed` is the count of the window of `source`. */
static int count_windows(int version, const unsigned char *source, uint64_t *passed)
{
	const struct bpf_map *map =
		version == 4 ? program.object->maps.windows4 : program.object->maps.windows6;
	size_t address_size = version == 4 ? 4 : 16;
	unsigned char key[20], *previous = NULL;
	int count = 0;

	while (!bpf_map_get_next_key(bpf_map__fd(map), previous, key)) {
		struct rf_source state;
		__u32 id;

		previous = key;
		memcpy(&id, key + address_size, sizeof(id));
		if (id != program_policy(&program)->id)
			continue;
		count++;
		assert_int_equal(bpf_map_lookup_elem(bpf_map__fd(map), key, &state), 0);
		if (memcmp(key, source, address_size) == 0)
			*passed = state.passed;
	}
	return count;
}

/* Checks that the only window belongs to the frame's own source, and holds the charge. */
static void assert_only_source(const struct frame *frame, uint64_t charged)
{
	int version = frame_is_ipv4(frame) ? 4 : 6;
	unsigned char source[16] = {};
	uint64_t passed = 0;
	int windows;

	if (version == 4)
		memcpy(source, frame->bytes + frame->ip_at + 12, 4);
	else
		memcpy(source, frame->bytes + frame->ip_at + 8, 8); /* grouped by /64 */
	windows = count_windows(version, source, &passed);
	assert_int_equal(windows, charged > 0);
	assert_int_equal(passed, charged);
	assert_int_equal(count_windows(version == 4 ? 6 : 4, source, &passed), 0);
}

/* The parser's result for the frame's first `length` bytes; the parser has separate tests. */
static enum rf_reason parse_cut(const struct frame *frame, size_t length)
{
	unsigned char *block = malloc(2 + length);
	struct rf_packet packet;
	enum rf_parsed parsed;

	assert_non_null(block);
	memcpy(block + 2, frame->bytes, length);
	parsed = rf_packet_parse(block + 2, block + 2 + length, &packet);
	free(block);
	if (parsed != RF_PARSED_SOURCE)
		return rf_parsed_reason(parsed);
	return packet.flags & RF_CLASS_UNKNOWN ? RF_UNCLASSIFIED : RF_UNDER_LIMIT;
}

static enum rf_reason reason_of(const struct rf_frame *row)
{
	if (row->parsed != RF_PARSED_SOURCE)
		return rf_parsed_reason(row->parsed);
	return row->flags & RF_CLASS_UNKNOWN ? RF_UNCLASSIFIED : RF_UNDER_LIMIT;
}

static void frame_through(const struct bpf_program *entry, const struct rf_frame *expected)
{
	struct frame frame;
	uint64_t charged = 0;

	start_afresh();
	frame_build(&frame, expected->part);
	for (size_t length = frame.length; length >= ETH_HLEN; length--) {
		struct rf_counters before = program_counters(&program);
		unsigned int verdict;
		enum rf_reason reason;

		verdict = program_run(entry, frame.bytes, length);
		reason = reason_since(&before, length);
		assert_int_equal(reason, parse_cut(&frame, length));
		assert_int_equal(verdict, reason < RF_FIRST_DROP ? XDP_PASS : XDP_DROP);
		if (length == frame.length)
			assert_int_equal(reason, reason_of(expected));
		charged += reason == RF_UNDER_LIMIT;
	}
	assert_only_source(&frame, charged);
}

/* Pads to the shortest and the longest Ethernet frame; bytes behind the packet do not count. */
static void padded_frame_through(const struct rf_frame *expected, size_t length)
{
	struct rf_counters before = program_counters(&program);
	struct frame frame;

	enum rf_reason reason;

	frame_build(&frame, expected->part);
	if (expected->parsed != RF_PARSED_SOURCE && expected->parsed != RF_PARSED_NEIGHBOUR)
		return;
	if (frame_packet_end(&frame) > frame.length)
		frame_pad(&frame, frame_packet_end(&frame) - frame.length);
	reason = parse_cut(&frame, frame.length);
	if (frame.length < length)
		frame_pad(&frame, length - frame.length);
	assert_int_equal(program_run(program.object->progs.ringfence, frame.bytes, frame.length),
			 reason < RF_FIRST_DROP ? XDP_PASS : XDP_DROP);
	assert_int_equal(reason_since(&before, frame.length), reason);
}

/* In a pause a frame passes, and counts as one that would be dropped. */
static void paused_frame_through(const struct bpf_program *entry, const struct rf_frame *expected)
{
	const enum rf_reason reason = reason_of(expected);
	struct rf_counters before = program_counters(&program);
	struct frame frame;

	frame_build(&frame, expected->part);
	rf_fence_pause(&program.fence, NS_PER_S);
	assert_int_equal(program_run(entry, frame.bytes, frame.length), XDP_PASS);
	rf_fence_pause(&program.fence, 0);
	assert_int_equal(reason_since(&before, frame.length),
			 reason < RF_FIRST_DROP ? reason : RF_PAUSED);
}

static void frame_is_judged_right(void **state)
{
	const struct rf_frame *expected = *state;

	frame_through(program.object->progs.ringfence, expected);
	frame_through(program.object->progs.ringfence_frags, expected);
	padded_frame_through(expected, ETH_ZLEN);
	padded_frame_through(expected, ETH_FRAME_LEN);
	paused_frame_through(program.object->progs.ringfence, expected);
	paused_frame_through(program.object->progs.ringfence_frags, expected);
}

int main(void)
{
	static struct CMUnitTest tests[RF_FRAME_COUNT];
	static char names[RF_FRAME_COUNT][96];
	size_t count = 0;

	for (size_t i = 0; i < RF_FRAME_COUNT; i++) {
		struct frame frame;

		snprintf(names[i], sizeof(names[i]), "frame '%s' is judged by its class",
			 rf_frames[i].name);
		frame_build(&frame, rf_frames[i].part);
		if (frame.length < ETH_HLEN) /* BPF_PROG_TEST_RUN takes none; the unit tests do */
			continue;
		tests[count++] = (struct CMUnitTest){
			.name = names[i],
			.test_func = frame_is_judged_right,
			.initial_state = (void *)&rf_frames[i],
		};
	}
	return _cmocka_run_group_tests("frames", tests, count, load, unload);
}
