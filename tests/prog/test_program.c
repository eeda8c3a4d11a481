// SPDX-License-Identifier: GPL-2.0
/*
 * The loaded program under BPF_PROG_TEST_RUN, with an injected clock: verdict, reason, counters and
 * the contents of windows. Each test loads a separate program.
 */
#include "program.h"

#include <linux/bpf.h>
#include <sched.h>
#include <stdio.h>

#include "ringfence/limiter.h"

static unsigned int send4(const struct program *program, const char *source)
{
	struct frame4 frame = frame4_from(inet_addr(source));

	return program_run(program->object->progs.ringfence, &frame, sizeof(frame));
}

static unsigned int send6(const struct program *program, const char *source)
{
	struct frame6 frame = frame6_from(source);

	return program_run(program->object->progs.ringfence, &frame, sizeof(frame));
}

/* How many of `count` packets from an IPv4 source pass. */
static int burst4(const struct program *program, const char *source, int count)
{
	int passed = 0;

	for (int i = 0; i < count; i++)
		passed += send4(program, source) == XDP_PASS;
	return passed;
}

static int find4(const struct program *program, const char *source, struct rf_source *state)
{
	struct rf_address address = {.version = 4, .word = {inet_addr(source)}};
	struct rf_error error = {};

	return rf_fence_source(&program->fence, program_policy(program), &address, state, &error);
}

static int setup(void **state)
{
	program_setup(state);
	program_set_time(*state, START_NS);
	return 0;
}

static int setup_both(void **state)
{
	program_setup_both(state);
	program_set_time(*state, START_NS);
	return 0;
}

/* ---- without a limit ---- */

static void without_a_limit_all_passes_and_is_counted(void **state)
{
	const struct program *program = *state;
	struct rf_counters counters;

	assert_int_equal(burst4(program, "192.0.2.1", 100), 100);
	counters = program_counters(program);
	assert_int_equal(counters.reason[RF_NO_LIMIT].packets, 100);
	assert_int_equal(counters.reason[RF_NO_LIMIT].bytes, 100 * sizeof(struct frame4));
}

static void the_compiled_in_defaults_are_those_of_production(void **state)
{
	struct ringfence_bpf *fresh = ringfence_bpf__open();
	const struct rf_rodata *first = (const struct rf_rodata *)fresh->rodata;

	(void)state;
	/*
	 * The variables start at offset 0, where the command line reads; `ip` cannot set any of
	 * them.
	 */
	assert_int_equal(first->magic, RF_ABI_MAGIC);
	assert_int_equal(first->abi, RF_ABI_VERSION);
	assert_int_equal(first->injected_clock, 0);
	assert_int_equal(bpf_map__max_entries(fresh->maps.windows4),
			 RF_WINDOWS_ENTRIES(RF_SOURCES_DEFAULT));
	assert_int_equal(bpf_map__max_entries(fresh->maps.windows6),
			 RF_WINDOWS_ENTRIES(RF_SOURCES_DEFAULT));
	assert_int_equal(bpf_map__max_entries(fresh->maps.slots4), RF_SOURCES_DEFAULT);
	assert_int_equal(bpf_map__max_entries(fresh->maps.slots6), RF_SOURCES_DEFAULT);
	ringfence_bpf__destroy(fresh);
}

/* ---- the limit ---- */

static void exactly_the_limit_passes_and_the_rest_is_dropped(void **state)
{
	struct program *program = *state;
	const struct rf_limit limit = limit_of(5, NS_PER_S);
	struct rf_limit_counters sums;
	struct rf_counters counters;

	program_set_limit(program, &limit);
	assert_int_equal(burst4(program, "192.0.2.1", 20), 5);
	assert_int_equal(burst4(program, "192.0.2.2", 3), 3);
	counters = program_counters(program);
	assert_int_equal(counters.reason[RF_UNDER_LIMIT].packets, 8);
	assert_int_equal(counters.reason[RF_OVER_LIMIT].packets, 15);
	assert_int_equal(counters.reason[RF_OVER_LIMIT].bytes, 15 * sizeof(struct frame4));
	sums = program_limit_counters(program);
	assert_int_equal(sums.passed.packets, 8);
	assert_int_equal(sums.passed.bytes, 8 * sizeof(struct frame4));
	assert_int_equal(sums.dropped.packets, 15);
	assert_int_equal(sums.would_drop.packets, 0);
}

static void a_window_holds_head_cells_and_counters(void **state)
{
	struct program *program = *state;
	const struct rf_limit limit = limit_of(5, NS_PER_S);
	const struct rf_policy *policy;
	struct rf_source source;
	uint32_t epoch;

	program_set_limit(program, &limit);
	policy = program_policy(program);
	assert_int_equal(policy->clock, RF_JIFFIES);
	epoch = program_epoch_at(policy, START_NS);
	assert_int_equal(burst4(program, "192.0.2.1", 3), 3);
	program_set_time(program, program_epoch_ns(policy, epoch + 2));
	assert_int_equal(burst4(program, "192.0.2.1", 4), 2);

	assert_int_equal(find4(program, "192.0.2.1", &source), 0);
	assert_int_equal(source.passed, 5);
	assert_int_equal(source.dropped, 2);
	assert_int_equal(source.window.head, rf_word(epoch + 2, 5));
	assert_int_equal(source.window.cell[rf_ring_index(epoch)], rf_word_with(0, epoch, 3));
	for (int i = 0; i < RF_CELLS; i++)
		if (i != (int)rf_ring_index(epoch))
			assert_int_equal(source.window.cell[i], 0);
}

static void a_full_window_reopens_when_its_oldest_cell_leaves(void **state)
{
	struct program *program = *state;
	const struct rf_limit limit = limit_of(5, NS_PER_S);
	const struct rf_policy *policy;
	uint64_t opens_ns;

	program_set_limit(program, &limit);
	policy = program_policy(program);
	opens_ns = program_epoch_ns(policy, program_epoch_at(policy, START_NS) + limit.cells);
	assert_int_equal(burst4(program, "192.0.2.1", 9), 5);
	program_set_time(program, opens_ns - 1);
	assert_int_equal(burst4(program, "192.0.2.1", 9), 0);
	program_set_time(program, opens_ns);
	assert_int_equal(burst4(program, "192.0.2.1", 9), 5);
}

static void of_bursts_on_both_sides_of_a_minutes_edge_one_passes(void **state)
{
	struct program *program = *state;
	const struct rf_limit limit = limit_of(10, 60 * NS_PER_S);
	uint64_t minute_ns = START_NS / (60 * NS_PER_S) * 60 * NS_PER_S;

	program_set_limit(program, &limit);
	program_set_time(program, minute_ns + 59 * NS_PER_S);
	assert_int_equal(burst4(program, "192.0.2.1", 10), 10);
	program_set_time(program, minute_ns + 61 * NS_PER_S);
	assert_int_equal(burst4(program, "192.0.2.1", 10), 0);
}

/* 5000 packets, a little less than `share` of L·W/(N·cell) a second, seven on each CPU in turn. */
static void send_evenly(struct program *program, uint32_t flags, double share, int cpus)
{
	struct rf_limit limit = limit_of(1600, NS_PER_S);
	cpu_set_t before;
	double step_ns;

	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	limit.flags = flags;
	program_set_limit(program, &limit);
	step_ns = (double)program_epoch_ns(program_policy(program), limit.cells) / limit.rate *
		  1.001 / share;
	for (int i = 0; i < 5000; i++) {
		program_run_on(i / 7 % cpus);
		program_set_time(program, START_NS + (uint64_t)(i * step_ns));
		assert_int_equal(send4(program, cpus > 1 ? "192.0.2.1" : "192.0.2.2"), XDP_PASS);
	}
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
}

static void an_even_sender_below_the_limit_loses_nothing(void **state)
{
	send_evenly(*state, RF_EXACT, 1, 1);
}

/* Credits that remain when a cell expires are at most 1/32 of L, on any number of CPUs. */
static void with_credits_an_even_sender_below_31_32_loses_nothing(void **state)
{
	send_evenly(*state, 0, 31 / 32., 1);
	send_evenly(*state, 0, 31 / 32., sysconf(_SC_NPROCESSORS_ONLN));
}

static void a_short_window_is_timed_in_ns(void **state)
{
	struct program *program = *state;
	const struct rf_limit limit = limit_of(5, 100 * NS_PER_MS);

	program_set_limit(program, &limit);
	assert_int_equal(program_policy(program)->clock, RF_KTIME);
	assert_int_equal(burst4(program, "192.0.2.1", 9), 5);
	program_set_time(program, START_NS + 100 * NS_PER_MS);
	assert_int_equal(burst4(program, "192.0.2.1", 9), 0);
	program_set_time(program, START_NS + limit.cells * program_policy(program)->cell);
	assert_int_equal(burst4(program, "192.0.2.1", 9), 5);
}

static void a_clock_that_goes_back_opens_nothing(void **state)
{
	struct program *program = *state;
	const struct rf_limit limit = limit_of(5, NS_PER_S);

	program_set_limit(program, &limit);
	assert_int_equal(burst4(program, "192.0.2.1", 9), 5);
	program_set_time(program, START_NS - 10 * NS_PER_S);
	assert_int_equal(burst4(program, "192.0.2.1", 9), 0);
}

static void two_addresses_of_one_ipv6_64_share_a_window(void **state)
{
	struct program *program = *state;
	const struct rf_limit limit = limit_of(5, NS_PER_S);
	struct rf_source source;
	struct rf_address address = {.version = 6};
	struct rf_error error = {};

	program_set_limit(program, &limit);
	for (int i = 0; i < 3; i++)
		assert_int_equal(send6(program, "2001:db8:1:2::1"), XDP_PASS);
	for (int i = 0; i < 4; i++)
		assert_int_equal(send6(program, "2001:db8:1:2:ffff::9"),
				 i < 2 ? XDP_PASS : XDP_DROP);
	assert_int_equal(send6(program, "2001:db8:1:3::1"), XDP_PASS);

	assert_int_equal(inet_pton(AF_INET6, "2001:db8:1:2::77", address.word), 1);
	assert_int_equal(rf_fence_source(&program->fence, program_policy(program), &address,
					 &source, &error),
			 0);
	assert_int_equal(source.passed, 5);
	assert_int_equal(source.dropped, 2);
}

static void a_shadow_limit_counts_and_passes(void **state)
{
	struct program *program = *state;
	struct rf_limit limit = limit_of(5, NS_PER_S);
	struct rf_limit_counters sums;
	struct rf_counters counters;
	struct rf_source source;

	limit.flags = RF_SHADOW;
	program_set_limit(program, &limit);
	assert_int_equal(burst4(program, "192.0.2.1", 20), 20);
	counters = program_counters(program);
	assert_int_equal(counters.reason[RF_UNDER_LIMIT].packets, 5);
	assert_int_equal(counters.reason[RF_SHADOW_OVER].packets, 15);
	sums = program_limit_counters(program);
	assert_int_equal(sums.would_drop.packets, 15);
	assert_int_equal(sums.would_drop.bytes, 15 * sizeof(struct frame4));
	assert_int_equal(sums.dropped.packets, 0);
	assert_int_equal(find4(program, "192.0.2.1", &source), 0);
	assert_int_equal(source.passed, 5);
	assert_int_equal(source.dropped, 0);
	assert_int_equal(source.would_drop, 15);
}

static void a_lowered_limit_forgets_nothing_it_admitted(void **state)
{
	struct program *program = *state;
	struct rf_limit limit = limit_of(100, NS_PER_S);
	const struct rf_policy *policy;
	uint64_t epoch;

	program_set_limit(program, &limit);
	policy = program_policy(program);
	epoch = program_epoch_at(policy, START_NS);
	assert_int_equal(burst4(program, "192.0.2.1", 90), 90);
	limit.rate = 10;
	program_set_limit(program, &limit);
	/* Moves on, cell after cell, until the cell of the 90 is out of the window. */
	for (int i = 1; i < limit.cells; i++) {
		program_set_time(program, program_epoch_ns(policy, epoch + i));
		assert_int_equal(burst4(program, "192.0.2.1", 3), 0);
	}
	program_set_time(program, program_epoch_ns(policy, epoch + limit.cells));
	assert_int_equal(burst4(program, "192.0.2.1", 20), 10);
}

/* ---- errors of maps ---- */

static void a_full_map_drops_newcomers_and_counts_the_error(void **state)
{
	const struct rf_limit limit = limit_of(5, NS_PER_S);
	struct rf_counters counters;
	struct program program;

	(void)state;
	program_open(&program);
	assert_int_equal(bpf_map__set_max_entries(program.object->maps.windows4, 1), 0);
	program_load(&program);
	program.config->slots = SOURCES; /* more than windows, to cause the error reliably */
	program_set_time(&program, START_NS);
	program_set_limit(&program, &limit);
	assert_int_equal(burst4(&program, "192.0.2.1", 9), 5);
	assert_int_equal(burst4(&program, "192.0.2.2", 9), 0);
	counters = program_counters(&program);
	assert_int_equal(counters.reason[RF_NO_WINDOW].packets, 9);
	assert_int_equal(counters.map_error[RF_INSERT_FULL], 9);
	assert_int_equal(counters.reason[RF_UNDER_LIMIT].packets, 5);
	assert_int_equal(counters.reason[RF_OVER_LIMIT].packets, 4);
	program_close(&program);
}

static void more_sources_than_windows_evicts_and_counts_every_packet(void **state)
{
	struct program *program = *state;
	const struct rf_limit limit = limit_of(5, NS_PER_S);
	struct rf_counters counters;
	uint64_t sum = 0;

	program_set_limit(program, &limit);
	for (int i = 0; i < 3 * SOURCES; i++) {
		struct frame4 frame = frame4_from(htonl(0x0a000000 + i));

		assert_int_equal(
			program_run(program->object->progs.ringfence, &frame, sizeof(frame)),
			XDP_PASS);
	}
	counters = program_counters(program);
	for (int i = 0; i < RF_REASON_COUNT; i++)
		sum += counters.reason[i].packets;
	assert_int_equal(sum, 3 * SOURCES);
	assert_int_equal(counters.reason[RF_UNDER_LIMIT].packets, 3 * SOURCES);
}

static unsigned long locked_bytes(int map)
{
	char path[64], line[128];
	unsigned long bytes = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", map);
	file = fopen(path, "r");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		sscanf(line, "memlock: %lu", &bytes);
	fclose(file);
	return bytes;
}

/* The memory for one source more in a map with `extra` entries more, without its fixed part. */
static unsigned long bytes_per_source(const struct bpf_map *map, __u32 extra)
{
	unsigned long bytes[2];

	for (int i = 0; i < 2; i++) {
		int fd = bpf_map_create(bpf_map__type(map), NULL, bpf_map__key_size(map),
					bpf_map__value_size(map), (RF_SOURCES_DEFAULT << i) + extra,
					NULL);

		assert_true(fd >= 0);
		bytes[i] = locked_bytes(fd);
		close(fd);
	}
	return (bytes[1] - bytes[0]) / RF_SOURCES_DEFAULT;
}

/* In the map, a key of IPv6 takes 16 bytes more. Each window also has a slot. */
static void a_window_takes_272_bytes_or_288_and_a_slot(void **state)
{
	const struct program *program = *state;
	const __u32 extra = RF_WINDOWS_ENTRIES(0);

	assert_in_range(bytes_per_source(program->object->maps.windows4, extra),
			sizeof(struct rf_source), 272);
	assert_in_range(bytes_per_source(program->object->maps.windows6, extra),
			sizeof(struct rf_source), 288);
	assert_in_range(bytes_per_source(program->object->maps.slots4, 0), 16, 16);
	assert_in_range(bytes_per_source(program->object->maps.slots6, 0), 32, 32);
}

/* ---- jumbo frames ---- */

static void a_jumbo_frame_is_charged_once_with_all_its_bytes(void **state)
{
	struct program *program = *state;
	const struct rf_limit limit = limit_of(2, NS_PER_S);
	static unsigned char frame[9014];
	const struct frame4 head = frame4_from(inet_addr("192.0.2.1"));
	struct rf_counters counters;

	memcpy(frame, &head, sizeof(head));
	program_set_limit(program, &limit);
	for (int i = 0; i < 3; i++)
		assert_int_equal(
			program_run(program->object->progs.ringfence_frags, frame, sizeof(frame)),
			i < 2 ? XDP_PASS : XDP_DROP);
	counters = program_counters(program);
	assert_int_equal(counters.reason[RF_UNDER_LIMIT].packets, 2);
	assert_int_equal(counters.reason[RF_UNDER_LIMIT].bytes, 2 * sizeof(frame));
	assert_int_equal(counters.reason[RF_OVER_LIMIT].bytes, sizeof(frame));
}

/* ---- programs that tests use again ---- */

static __u32 id_of(const struct program *program)
{
	struct bpf_prog_info info = {};
	__u32 length = sizeof(info);
	const int fd = bpf_program__fd(program->object->progs.ringfence);

	assert_int_equal(bpf_obj_get_info_by_fd(fd, &info, &length), 0);
	return info.id;
}

/* Something in each map that a packet or a rule may write. */
static void use_all(struct program *program)
{
	struct frame6 frame;
	char source[32];

	program_apply(program, "limit add any rate 5/1s\n"
			       "limit add udp rate 3/1s match udp ban 1h\n"
			       "limit add ring rate 9/1s match udp exact\n"
			       "allow add 203.0.113.0/24\n"
			       "deny add 2001:db8:1::/48\n"
			       "newcomers rate 40/1s then aggregate\n");
	for (int i = 1; i <= 100; i++) {
		snprintf(source, sizeof(source), "192.0.2.%d", i);
		burst4(program, source, 7);
		snprintf(source, sizeof(source), "2001:db8:0:%d::1", i);
		frame = frame6_from(source);
		for (int n = 0; n < 7; n++)
			program_run(program->object->progs.ringfence, &frame, sizeof(frame));
	}
}

static void assert_same_elements(const struct bpf_map *a, const struct bpf_map *b)
{
	const size_t each = (bpf_map__value_size(a) + 7) / 8 * 8 * libbpf_num_possible_cpus();
	char *value = calloc(2, each);

	assert_non_null(value);
	for (__u32 i = 0; i < bpf_map__max_entries(a); i++) {
		const int err = bpf_map_lookup_elem(bpf_map__fd(a), &i, value);

		assert_int_equal(bpf_map_lookup_elem(bpf_map__fd(b), &i, value + each), err);
		if (memcmp(value, value + each, each))
			fail_msg("%s: element %u differs", bpf_map__name(a), i);
	}
	free(value);
}

static int count_same_maps(const struct program *used, const struct program *fresh)
{
	const struct bpf_map *a, *b = NULL;
	int count = 0;

	bpf_object__for_each_map(a, used->object->obj)
	{
		char key[64];

		b = bpf_object__next_map(fresh->object->obj, b);
		assert_string_equal(bpf_map__name(a), bpf_map__name(b));
		if (bpf_map__type(a) == BPF_MAP_TYPE_HASH)
			assert_int_equal(bpf_map_get_next_key(bpf_map__fd(a), NULL, key), -ENOENT);
		else
			assert_same_elements(a, b);
		count++;
	}
	return count;
}

static void a_program_that_is_used_again_is_as_a_new_one(void **state)
{
	struct program *used = program_new(program_open), *fresh;
	const __u32 id = id_of(used);

	(void)state;
	use_all(used);
	program_close(used);
	program_open(used);
	program_load(used);
	fresh = program_new(program_open);
	assert_int_equal(id_of(used), id);
	assert_int_not_equal(id_of(fresh), id);
	program_fix_key(used);
	program_fix_key(fresh);
	assert_int_equal(count_same_maps(used, fresh), RF_MAP_COUNT + 5);
	program_teardown((void **)&used);
	program_teardown((void **)&fresh);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, program_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(without_a_limit_all_passes_and_is_counted),
		TEST(the_compiled_in_defaults_are_those_of_production),
		TEST(exactly_the_limit_passes_and_the_rest_is_dropped),
		TEST(a_window_holds_head_cells_and_counters),
		TEST(a_full_window_reopens_when_its_oldest_cell_leaves),
		TEST(of_bursts_on_both_sides_of_a_minutes_edge_one_passes),
		TEST(an_even_sender_below_the_limit_loses_nothing),
		TEST(with_credits_an_even_sender_below_31_32_loses_nothing),
		TEST(a_short_window_is_timed_in_ns),
		TEST(a_clock_that_goes_back_opens_nothing),
		TEST(two_addresses_of_one_ipv6_64_share_a_window),
		TEST(a_shadow_limit_counts_and_passes),
		TEST(a_lowered_limit_forgets_nothing_it_admitted),
		TEST(a_full_map_drops_newcomers_and_counts_the_error),
		TEST(more_sources_than_windows_evicts_and_counts_every_packet),
		TEST(a_window_takes_272_bytes_or_288_and_a_slot),
		cmocka_unit_test_setup_teardown(a_jumbo_frame_is_charged_once_with_all_its_bytes,
						setup_both, program_teardown),
		cmocka_unit_test(a_program_that_is_used_again_is_as_a_new_one),
	};

	return cmocka_run_group_tests_name("program", tests, NULL, NULL);
}
