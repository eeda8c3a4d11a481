// SPDX-License-Identifier: GPL-2.0
/*
 * The sampler: which packets it takes, that reason and limit belong to the packet, whether a lease
 * handled it or not, and that readers notice missed samples. Frames come from the loopback
 * interface.
 */
#include "program.h"

#include <linux/bpf.h>
#include <linux/udp.h>

#include "fence/sampler.h"
#include "schema/reasons.h"

#define LO 1
#define EVERY UINT32_MAX
#define RARELY 100000000 /* the first packet, and then none for long */
#define LAST_OF_SOURCE (ETH_HLEN + offsetof(struct iphdr, saddr) + 3)
#define BOTH (RF_SAMPLE_PASSED | RF_SAMPLE_DROPPED)

static struct rf_sample_reader reader;

static void renew(struct program *program, const struct rf_sampled *wanted)
{
	struct rf_error error = {};

	assert_done(rf_fence_sample(&program->fence, wanted, &error), &error);
}

static void begin(struct program *program, uint32_t one_in, uint32_t verdicts, uint32_t reasons)
{
	renew(program,
	      &(struct rf_sampled){.one_in = one_in, .verdicts = verdicts, .reasons = reasons});
}

static int read_samples(struct program *program)
{
	struct rf_error error = {};
	const int count = rf_sample_reader_read(&reader, &program->fence, &error);

	if (count < 0)
		fail_msg("%s", error.text);
	return count;
}

static int setup(void **state)
{
	struct rf_error error = {};
	struct program *program;

	program_run_on(0);
	program_setup_both(state);
	program = *state;
	program_set_time(program, START_NS);
	assert_done(rf_sample_reader_open(&reader, &program->fence, &error), &error);
	return 0;
}

static int teardown(void **state)
{
	rf_sample_reader_close(&reader);
	return program_teardown(state);
}

/* A UDP packet to port 53, with bytes that identify the packet. */
static struct frame4 frame_of(const char *source, int protocol, unsigned char mark)
{
	struct frame4 frame = frame4_from(inet_addr(source));
	struct udphdr *udp = (struct udphdr *)frame.payload;

	frame.ip.protocol = protocol;
	frame.ip.tot_len = htons(sizeof(frame) - sizeof(frame.eth));
	udp->dest = htons(53);
	udp->len = htons(sizeof(frame.payload));
	frame.payload[sizeof(frame.payload) - 1] = mark;
	return frame;
}

static unsigned int send_one(struct program *program, const char *source, int protocol)
{
	static unsigned char mark;
	struct frame4 frame = frame_of(source, protocol, ++mark);

	return program_run(program->object->progs.ringfence, &frame, sizeof(frame));
}

static void flood(struct program *program, const char *source, int count)
{
	for (int i = 0; i < count; i++)
		send_one(program, source, IPPROTO_UDP);
}

static void assert_sample(const struct rf_sample *sample, enum rf_reason reason, uint32_t limits)
{
	if (sample->reason != reason || sample->limits != limits)
		fail_msg("%s of limits %x, not %s of %x", rf_reason_name(sample->reason),
			 sample->limits, rf_reason_name(reason), limits);
}

static uint32_t slot(const struct program *program, const char *name)
{
	return 1U << program_slot(program, name);
}

/* All packets are taken, and each sample matches the counters. */
static void assert_flood(struct program *program, const char *source, int count,
			 enum rf_reason reason, uint32_t limits)
{
	const uint64_t before = program_counters(program).reason[reason].packets;
	const uint64_t missed = reader.missed;

	flood(program, source, count);
	assert_int_equal(read_samples(program), count);
	for (int i = 0; i < count; i++)
		assert_sample(&reader.sample[i], reason, limits);
	assert_int_equal(program_counters(program).reason[reason].packets, before + count);
	assert_int_equal(reader.missed, missed);
}

static void nothing_is_taken_unless_asked_for(void **state)
{
	struct program *program = *state;

	program_apply(program, "deny add 192.0.2.1\n");
	flood(program, "192.0.2.1", 10);
	assert_int_equal(read_samples(program), 0);
	begin(program, 1, RF_SAMPLE_DROPPED, EVERY);
	assert_int_equal(read_samples(program), 0);
	assert_true(rf_fence_is_sampling(&program->fence));
	rf_fence_stop_sampling(&program->fence);
	flood(program, "192.0.2.1", 10);
	assert_int_equal(read_samples(program), 0);
}

static void a_sample_has_the_packet(void **state)
{
	struct program *program = *state;
	unsigned char frame[300];
	static const size_t lengths[] = {60, 61, 127, 128, 129, 300};
	struct frame4 head = frame_of("192.0.2.1", IPPROTO_UDP, 0);

	for (size_t i = 0; i < sizeof(frame); i++)
		frame[i] = i * 7;
	memcpy(frame, &head, 14 + 20);
	program_apply(program, "deny add 192.0.2.1\n");
	begin(program, 1, RF_SAMPLE_DROPPED, EVERY);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		const struct rf_sample *sample = &reader.sample[0];
		const size_t length = lengths[i];

		program_run(i % 2 ? program->object->progs.ringfence_frags
				  : program->object->progs.ringfence,
			    frame, length);
		assert_int_equal(read_samples(program), 1);
		assert_int_equal(sample->len_bytes, length);
		assert_int_equal(sample->interface, LO);
		assert_int_equal(sample->time_ns, START_NS);
		assert_int_equal(sample->captured,
				 length < RF_SAMPLE_BYTES ? length : RF_SAMPLE_BYTES);
		assert_memory_equal(sample->frame, frame, sample->captured);
	}
}

/* The first packets are decided by the rules, and the following ones by a lease. */
static void reasons_of_one_limit_are_right(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add other rate 1M/1s match tcp\n"
			       "limit add dns rate 20/1h match udp dport 53 exact\n"
			       "limit add spy rate 30/1h match icmp shadow\n");
	begin(program, 1, BOTH, EVERY);
	assert_flood(program, "192.0.2.1", 20, RF_UNDER_LIMIT, slot(program, "dns"));
	assert_flood(program, "192.0.2.1", 60, RF_OVER_LIMIT, slot(program, "dns"));
	for (int i = 0; i < 40; i++)
		send_one(program, "192.0.2.2", IPPROTO_ICMP);
	assert_int_equal(read_samples(program), 40);
	assert_sample(&reader.sample[29], RF_UNDER_LIMIT, slot(program, "spy"));
	assert_sample(&reader.sample[30], RF_SHADOW_OVER, slot(program, "spy"));
	assert_sample(&reader.sample[39], RF_SHADOW_OVER, slot(program, "spy"));
}

static void a_lease_with_credits_tells_the_limits(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add any rate 1M/1s\nlimit add dns rate 500k/1s match udp\n");
	begin(program, 1, BOTH, EVERY);
	for (int i = 0; i < 200; i++) {
		flood(program, "192.0.2.1", 10);
		assert_int_equal(read_samples(program), 10);
		for (int j = 0; j < 10; j++)
			assert_sample(&reader.sample[j], RF_UNDER_LIMIT,
				      slot(program, "any") | slot(program, "dns"));
	}
	assert_int_equal(reader.missed, 0);
}

static void of_several_limits_the_one_that_refuses_is_named(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add any rate 1M/1h\n"
			       "limit add dns rate 20/1h match udp dport 53 exact\n"
			       "limit add spy rate 5/1h shadow\n");
	begin(program, 1, RF_SAMPLE_DROPPED, EVERY);
	flood(program, "192.0.2.1", 20);
	assert_int_equal(read_samples(program), 0);
	assert_flood(program, "192.0.2.1", 60, RF_OVER_LIMIT, slot(program, "dns"));
}

static void bans_and_lists_are_told(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add dns rate 20/1h match udp ban 1h exact\n"
			       "limit add web rate 20/1h match tcp ban 1h all\n"
			       "limit add other rate 1M/1s\n"
			       "deny add 198.51.100.0/24\n"
			       "allow add 203.0.113.0/24\n");
	begin(program, 1, BOTH, EVERY);
	flood(program, "192.0.2.1", 21);
	read_samples(program);
	assert_sample(&reader.sample[20], RF_OVER_LIMIT, slot(program, "dns"));
	assert_flood(program, "192.0.2.1", 60, RF_BANNED, slot(program, "dns"));
	for (int i = 0; i < 21; i++)
		send_one(program, "192.0.2.2", IPPROTO_TCP);
	read_samples(program);
	assert_flood(program, "192.0.2.2", 60, RF_BANNED, slot(program, "web"));
	assert_flood(program, "198.51.100.1", 60, RF_DENIED, 0);
	assert_flood(program, "203.0.113.1", 60, RF_ALLOWED, 0);
}

static void newcomers_and_frames_without_a_source_are_told(void **state)
{
	struct program *program = *state;
	struct frame4 frame = frame_of("192.0.2.1", IPPROTO_UDP, 0);
	struct frame6 frame6 = frame6_from("2001:db8::1");
	char source[32];

	program_apply(program, "limit add any rate 1k/1s\nnewcomers rate 10/1h then drop\n");
	begin(program, 1, RF_SAMPLE_DROPPED, EVERY);
	for (int i = 1; i <= 40; i++) {
		snprintf(source, sizeof(source), "10.0.0.%d", i);
		send_one(program, source, IPPROTO_UDP);
	}
	assert_int_equal(read_samples(program), 30);
	for (int i = 0; i < 30; i++)
		assert_sample(&reader.sample[i], RF_NEWCOMER_DROP, 0);
	program_run(program->object->progs.ringfence, &frame, 30);
	frame.ip.version = 7;
	program_run(program->object->progs.ringfence, &frame, sizeof(frame));
	program_run(program->object->progs.ringfence_frags, &frame6, sizeof(frame6));
	assert_int_equal(read_samples(program), 3);
	assert_sample(&reader.sample[0], RF_MALFORMED, 0);
	assert_int_equal(reader.sample[0].captured, 30);
	assert_sample(&reader.sample[1], RF_MALFORMED, 0);
	assert_sample(&reader.sample[2], RF_NEWCOMER_DROP, 0);
}

/*
 * Ten sources send in turn, every other one is denied, and one in ten of the drops is taken. A
 * fixed interval of ten packets would take all from one source. The interval between two samples
 * has a mean of 9 and a deviation of 5.5: 2,000 packets of a source yield 200 samples, within 14,
 * and the drops 1,000, within 31. The bounds are five times as wide.
 */
static void all_packets_have_the_same_chance(void **state)
{
	struct program *program = *state;
	int taken[10] = {}, all = 0;
	char source[32];

	program_apply(program, "deny add 10.0.0.0/24\n");
	begin(program, 10, RF_SAMPLE_DROPPED, EVERY);
	for (int i = 0; i < 20000; i++) {
		snprintf(source, sizeof(source), "10.0.%d.%d", i % 2, i % 10);
		send_one(program, source, IPPROTO_UDP);
		if (i % 200 != 199)
			continue;
		for (int j = read_samples(program) - 1; j >= 0; j--, all++) {
			assert_sample(&reader.sample[j], RF_DENIED, 0);
			taken[reader.sample[j].frame[LAST_OF_SOURCE] % 10]++;
		}
	}
	assert_int_equal(reader.missed, 0);
	assert_in_range(all, 1000 - 155, 1000 + 155);
	for (int i = 0; i < 10; i += 2)
		assert_in_range(taken[i], 200 - 70, 200 + 70);
}

/*
 * One slice of four is sampled, with one in 16 of its packets: 400 slices of 32 packets yield 200
 * samples. Without correction for the slices, a quarter, or four times as many, would be taken. The
 * deviation is at most 14; the bounds are five times as wide.
 */
static void slices_take_as_many(void **state)
{
	const struct rf_sampled wanted = {
		.one_in = 64, .verdicts = RF_SAMPLE_DROPPED, .reasons = EVERY, .slices = RF_SLICES};
	struct program *program = *state;
	struct rf_slices slices = {};
	int all = 0, on = 0, first = 0;

	program_apply(program, "deny add 192.0.2.1\n");
	for (int i = 0; i < 400; i++) {
		if (i % 100 == 0) /* as is done each half a second */
			renew(program, &wanted);
		rf_fence_next_slice(&program->fence, &wanted, &slices);
		assert_true(rf_fence_is_sampling(&program->fence));
		assert_int_equal(program->config->is_sampling != 0, slices.is_on);
		flood(program, "192.0.2.1", 32);
		const int taken = read_samples(program);

		assert_true(slices.is_on || !taken);
		all += taken;
		on += slices.is_on;
		first += slices.is_on && i % RF_SLICES == 0;
	}
	assert_int_equal(on, 400 / RF_SLICES);
	assert_in_range(first, 5, 50); /* of 100 groups 25, within 4.3 */
	assert_in_range(all, 200 - 70, 200 + 70);
	rf_fence_stop_sampling(&program->fence);
	assert_false(rf_fence_is_sampling(&program->fence));
}

static void other_reasons_are_not_written(void **state)
{
	struct program *program = *state;

	program_apply(program, "deny add 192.0.2.1\nlimit add dns rate 10/1h match udp exact\n");
	flood(program, "203.0.113.1", 10);
	begin(program, 1, RF_SAMPLE_DROPPED, 1U << RF_OVER_LIMIT);
	flood(program, "192.0.2.1", 10);
	flood(program, "203.0.113.1", 10);
	assert_int_equal(read_samples(program), 10);
	for (int i = 0; i < 10; i++)
		assert_sample(&reader.sample[i], RF_OVER_LIMIT, slot(program, "dns"));
}

/* Each CPU has a separate count and samples. */
static void every_cpu_takes_its_own(void **state)
{
	struct program *program = *state;

	program_apply(program, "deny add 192.0.2.1\n");
	begin(program, RARELY, RF_SAMPLE_DROPPED, EVERY);
	flood(program, "192.0.2.1", 5);
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		skip();
	program_run_on(1);
	flood(program, "192.0.2.1", 15);
	program_run_on(0);
	flood(program, "192.0.2.1", 10);
	assert_int_equal(read_samples(program), 2);
	assert_int_equal(reader.read[0], 1);
	assert_int_equal(reader.read[1], 1);
}

static void what_is_overwritten_counts_as_missed(void **state)
{
	struct program *program = *state;

	program_apply(program, "deny add 192.0.2.1\n");
	begin(program, 1, RF_SAMPLE_DROPPED, EVERY);
	flood(program, "192.0.2.1", RF_SAMPLES + 9);
	assert_int_equal(read_samples(program), RF_SAMPLES);
	assert_int_equal(reader.missed, 9);
	for (int i = 0; i < RF_SAMPLES; i++)
		assert_int_equal(reader.sample[i].done, 9 + 1 + i);
	flood(program, "192.0.2.1", 3);
	assert_int_equal(read_samples(program), 3);
	assert_int_equal(reader.missed, 9);
}

/* A sample that is being written while it is copied, and one that no CPU can have written. */
static void a_torn_sample_counts_as_missed(void **state)
{
	struct program *program = *state;
	const int fd = program->fence.map_fd[RF_MAP_SAMPLES];
	struct rf_sampler *values = calloc(reader.cpus, sizeof(*values));
	const uint32_t first = 0;

	assert_non_null(values);
	program_apply(program, "deny add 192.0.2.1\n");
	begin(program, 1, RF_SAMPLE_DROPPED, EVERY);
	flood(program, "192.0.2.1", 5);
	assert_int_equal(bpf_map_lookup_elem(fd, &first, values), 0);
	values[0].sample[1].begun += RF_SAMPLES;
	values[0].sample[2].captured = RF_SAMPLE_BYTES + 1;
	values[0].sample[3].reason = RF_REASON_COUNT;
	assert_int_equal(bpf_map_update_elem(fd, &first, values, BPF_EXIST), 0);
	free(values);
	assert_int_equal(read_samples(program), 2);
	assert_int_equal(reader.sample[1].done, 5);
	assert_int_equal(reader.missed, 3);
}

static void it_ends_by_itself(void **state)
{
	struct program *program = *state;

	program_apply(program, "deny add 192.0.2.1\n");
	begin(program, 1, RF_SAMPLE_DROPPED, EVERY);
	program_set_time(program, START_NS + RF_SAMPLING_NS - TICK_NS);
	assert_flood(program, "192.0.2.1", 5, RF_DENIED, 0);
	begin(program, 1, RF_SAMPLE_DROPPED, EVERY);
	program_set_time(program, START_NS + 2 * RF_SAMPLING_NS - 2 * TICK_NS);
	assert_flood(program, "192.0.2.1", 5, RF_DENIED, 0);
	program_set_time(program, START_NS + 2 * RF_SAMPLING_NS + TICK_NS);
	flood(program, "192.0.2.1", 5);
	assert_int_equal(read_samples(program), 0);
	assert_false(rf_fence_is_sampling(&program->fence));
	assert_int_equal(program->config->after_verdict, 0);
}

/*
 * The distance to the next sample belongs to the present request; and no CPU samples past the
 * deadline.
 */
static void who_begins_begins_anew(void **state)
{
	struct program *program = *state;

	program_apply(program, "deny add 192.0.2.1\nlimit add any rate 5/1h exact\n");
	begin(program, RARELY, RF_SAMPLE_DROPPED, EVERY);
	flood(program, "192.0.2.1", 20);
	assert_int_equal(read_samples(program), 1);
	rf_fence_stop_sampling(&program->fence);
	begin(program, RARELY / 2, RF_SAMPLE_DROPPED | RF_SAMPLE_PASSED, EVERY);
	flood(program, "192.0.2.1", 10);
	assert_int_equal(read_samples(program), 1);
	rf_fence_stop_sampling(&program->fence);
	flood(program, "192.0.2.1", 5);
	begin(program, 1, RF_SAMPLE_PASSED, EVERY);
	flood(program, "192.0.2.1", 5); /* noted, and not taken */
	assert_flood(program, "203.0.113.1", 5, RF_UNDER_LIMIT, slot(program, "any"));
	program_set_time(program, START_NS + RF_SAMPLING_NS + TICK_NS);
	assert_false(rf_fence_is_sampling(&program->fence));
}

static void two_share_it_only_with_the_same_words(void **state)
{
	const struct rf_sampled other = {
		.one_in = 8, .verdicts = RF_SAMPLE_PASSED, .reasons = EVERY};
	struct program *program = *state;
	struct rf_error error = {};

	program_apply(program, "deny add 192.0.2.1\n");
	begin(program, 1, RF_SAMPLE_DROPPED, EVERY);
	begin(program, 1, RF_SAMPLE_DROPPED, EVERY);
	assert_int_equal(rf_fence_sample(&program->fence, &other, &error), -EBUSY);
	assert_non_null(strstr(error.text, "one in 1 dropped packets"));
	/* The request was not renewed. */
	program_set_time(program, START_NS + RF_SAMPLING_NS + TICK_NS);
	renew(program, &other);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nothing_is_taken_unless_asked_for),
		TEST(a_sample_has_the_packet),
		TEST(reasons_of_one_limit_are_right),
		TEST(a_lease_with_credits_tells_the_limits),
		TEST(of_several_limits_the_one_that_refuses_is_named),
		TEST(bans_and_lists_are_told),
		TEST(newcomers_and_frames_without_a_source_are_told),
		TEST(all_packets_have_the_same_chance),
		TEST(slices_take_as_many),
		TEST(other_reasons_are_not_written),
		TEST(every_cpu_takes_its_own),
		TEST(what_is_overwritten_counts_as_missed),
		TEST(a_torn_sample_counts_as_missed),
		TEST(it_ends_by_itself),
		TEST(who_begins_begins_anew),
		TEST(two_share_it_only_with_the_same_words),
	};

	return cmocka_run_group_tests_name("sampler", tests, NULL, NULL);
}
