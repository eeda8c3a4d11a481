// SPDX-License-Identifier: GPL-2.0
/*
 * The recorded cells of the most important sources: in which cell each packet is, that none is
 * missing between two readings, and that the data marks possible gaps.
 */
#include "pinned.h"

#include <time.h>

#include "tests/unit/unit.h"

#include "base/time.h"
#include "ringfence/lease.h"
#include "ringfence/limiter.h"
#include "snapshot/scanner.h"

#define SOURCE "192.0.2.1"
#define CELLS 512
#define TRIES 30

static struct rf_scanner scanner;

/* The packets sent by one source, and the recorded ones, by cell. */
struct cells {
	uint64_t first; /* number of the first one */
	uint64_t least[CELLS], most[CELLS], told[CELLS];
	uint64_t sent;
	bool is_told[CELLS];
	int rows, incomplete, differences;
};

static struct cells cells;

/*
 * When the last reading started, and the longest time from there to the completion of the next one.
 */
static uint64_t reading_ns, longest_ns;

static const __u64 sample_key[3] = {0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, 0x94d049bb133111eb};

static int setup(void **state)
{
	pinned_setup(state, SOURCES);
	program_run_on(0); /* leases are a CPU's own */
	scanner = (struct rf_scanner){.fence = ((struct program *)*state)->fence};
	rf_scanner_follow(&scanner, sample_key);
	memset(&cells, 0, sizeof(cells));
	reading_ns = longest_ns = 0;
	return 0;
}

static int teardown(void **state)
{
	rf_known_free(&scanner.known);
	rf_follow_free(&scanner.follow);
	free(scanner.aggregate);
	return pinned_teardown(state);
}

static void note_reading(uint64_t began_ns)
{
	const uint64_t gap_ns = reading_ns ? rf_time_awake() - reading_ns : 0;

	if (gap_ns > longest_ns)
		longest_ns = gap_ns;
	reading_ns = began_ns;
}

/*
 * Repeats a part of a row until no reading was later than a ring's cells last: a busy machine can
 * delay this process for seconds. The records of the last attempt remain.
 */
static void until_in_time(void **state, uint64_t kept_ms, void (*part)(struct program *program))
{
	for (int i = 0; i < TRIES; i++) {
		if (i) {
			teardown(state);
			setup(state);
		}
		part(*state);
		if (longest_ns < kept_ms * NS_PER_MS)
			return;
	}
	fail_msg("this machine is too busy to read cells in time");
}

/* ---- recorded ---- */

static uint64_t cell_at(const struct rf_policy *policy, uint64_t wall_ns)
{
	const int64_t ns = wall_ns - rf_time_offset();
	const struct rf_config *config = scanner.fence.config;

	if (policy->clock == RF_KTIME)
		return rf_epoch(policy, ns);
	return rf_epoch(policy, config->base.jiffies + (ns - (int64_t)config->base.ktime_ns) /
							       (int64_t)config->tick_ns);
}

static void take_row(const struct rf_policy *policy, const struct rf_cells_row *row)
{
	const uint64_t first = cell_at(policy, row->first_ns + row->cell_ns / 2) - cells.first;

	cells.rows++;
	cells.incomplete += row->is_incomplete;
	cells.differences += row->is_difference;
	for (unsigned int i = 0; i < row->count; i++) {
		if (first + i >= CELLS)
			continue; /* before the test */
		assert_false(cells.is_told[first + i]);
		cells.is_told[first + i] = true;
		cells.told[first + i] = row->cell[i];
	}
}

static void take_rows(const struct program *program, const struct rf_cells_row *row, size_t count)
{
	const struct rf_prefix source = {4, 32, {inet_addr(SOURCE)}};

	for (size_t i = 0; i < count; i++)
		if (!rf_prefix_compare(&row[i].source, &source))
			take_row(program_policy(program), &row[i]);
}

static struct rf_snapshot scan(void)
{
	struct rf_snapshot snapshot = {
		.awake_ns = rf_time_awake(),
		.time_ns = rf_time_wall(),
	};
	struct rf_error error = {};

	assert_done(rf_fence_bans(&scanner.fence, &snapshot.bans, &error), &error);
	assert_done(rf_scan_sources(&scanner, &snapshot, &error), &error);
	scanner.scanned_ns = snapshot.awake_ns;
	return snapshot;
}

static void scan_and_take(const struct program *program)
{
	const uint64_t began_ns = rf_time_awake();
	struct rf_snapshot snapshot = scan();

	take_rows(program, snapshot.cells, snapshot.cells_count);
	rf_snapshot_free(&snapshot);
	note_reading(began_ns);
}

static void read_and_take(const struct program *program)
{
	const uint64_t began_ns = rf_time_awake();
	struct rf_cells_row *row;
	size_t count;

	if (rf_scanner_read_cells(&scanner, &row, &count)) {
		take_rows(program, row, count);
		free(row);
	}
	note_reading(began_ns);
}

/* ---- sent ---- */

static void begin(struct program *program, const char *rules)
{
	const struct rf_policy *policy;

	program_apply(program, rules);
	policy = program_policy(program);
	scan_and_take(program);
	cells.first = rf_epoch(policy, rf_fence_time(&program->fence, policy)) - 1;
}

/*
 * The data path's jiffies can lag behind the computed ones, or be a tick ahead, if these were
 * measured under load. A cell can also expire concurrently: then either cell can have the packets.
 */
static void send_packets(struct program *program, int packets)
{
	const struct rf_policy *policy = program_policy(program);
	const uint64_t late = policy->clock == RF_KTIME ? 0 : RF_JIFFIES_LAG;
	const uint64_t before = rf_fence_time(&program->fence, policy) - late;
	const uint64_t ahead = policy->clock == RF_KTIME ? 0 : 1;
	uint64_t first, last;

	pinned_send4(program, SOURCE, packets);
	first = rf_epoch(policy, before) - cells.first;
	last = rf_epoch(policy, rf_fence_time(&program->fence, policy) + ahead) - cells.first;
	assert_true(last < CELLS);
	if (first == last)
		cells.least[first] += packets;
	for (uint64_t cell = first; cell <= last; cell++)
		cells.most[cell] += packets;
	cells.sent += packets;
}

static void sleep_ms(int ms)
{
	const struct timespec time = {ms / 1000, ms % 1000 * 1000000L};

	nanosleep(&time, NULL);
}

/* Each packet is in its cell, and none is missing. */
static void assert_cells(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < CELLS; i++) {
		sum += cells.told[i];
		if (cells.told[i] < cells.least[i] || cells.told[i] > cells.most[i])
			fail_msg("cell %d: %llu packets were recorded, %llu to %llu were sent", i,
				 (unsigned long long)cells.told[i],
				 (unsigned long long)cells.least[i],
				 (unsigned long long)cells.most[i]);
	}
	assert_int_equal(sum, cells.sent);
}

/* ---- the rows ---- */

/* Ten packets each 100 ms and a burst, with readings as the daemon makes them. */
static void send_and_scan(struct program *program)
{
	uint64_t scan_ns = rf_time_awake();

	begin(program, "limit add any rate 1k/1s exact cells 16\n");
	for (int i = 0; i < 40; i++) {
		send_packets(program, i == 17 ? 300 : i > 30 ? 0 : 10);
		sleep_ms(100);
		if (rf_time_awake() - scan_ns >= RF_NS_PER_S) {
			scan_ns = rf_time_awake();
			scan_and_take(program);
		} else if (rf_time_awake() >= rf_scanner_cells_due_ns(&scanner)) {
			read_and_take(program);
		}
	}
	scan_and_take(program);
}

static void each_packet_is_in_its_cell(void **state)
{
	until_in_time(state, 1800, send_and_scan);
	assert_true(cells.rows > 1);
	assert_int_equal(cells.incomplete, 0);
	assert_cells();
}

/* Scans are late, so cells are read in between, and taken before a row is full. */
static void scan_late(struct program *program)
{
	begin(program, "limit add any rate 1k/1s exact cells 31\n");
	send_packets(program, 10);
	sleep_ms(300);
	scan_and_take(program);
	for (int i = 0; i < 45; i++) {
		send_packets(program, 7);
		sleep_ms(100);
		if (rf_time_awake() >= rf_scanner_cells_due_ns(&scanner))
			read_and_take(program);
	}
	sleep_ms(300);
	scan_and_take(program);
}

static void late_scans_leave_no_gap(void **state)
{
	until_in_time(state, 900, scan_late);
	assert_true(cells.rows > 2);
	assert_int_equal(cells.incomplete, 0);
	assert_cells();
}

static void refused_packets_are_counted_where_the_limit_counts_them(void **state)
{
	struct program *program = *state;
	struct rf_snapshot snapshot;

	begin(program, "limit add any rate 5/1s exact count rejected\n");
	send_packets(program, 40);
	sleep_ms(300);
	snapshot = scan();
	assert_int_equal(snapshot.cells_count, 1);
	assert_true(snapshot.cells[0].counts_refused);
	assert_false(snapshot.cells[0].is_difference);
	take_rows(program, snapshot.cells, snapshot.cells_count);
	rf_snapshot_free(&snapshot);
	assert_cells();
}

static void other_windows_give_differences(void **state)
{
	static const char *const rules[] = {
		"limit add any rate 5/1s algorithm fixed\n",
		"limit add any rate 5/1s algorithm token\n",
		"limit add any rate 100k/1s algorithm leaky\n",
	};
	struct program *program = *state;

	for (int i = 0; i < 3; i++) {
		uint64_t sum = 0;

		program_apply(program, rules[i]);
		scan_and_take(program);
		for (int k = 0; k < 3; k++) {
			struct rf_snapshot snapshot;

			pinned_send4(program, SOURCE, 30);
			snapshot = scan();
			assert_int_equal(snapshot.cells_count, 1);
			assert_true(snapshot.cells[0].is_difference);
			assert_true(snapshot.cells[0].counts_refused);
			assert_int_equal(snapshot.cells[0].count, 1);
			sum += snapshot.cells[0].cell[0];
			rf_snapshot_free(&snapshot);
		}
		assert_int_equal(sum, 90);
		program_apply(program, "");
	}
}

static void scan_soon(struct program *program)
{
	begin(program, "limit add any rate 1k/1s exact\n");
	send_packets(program, 10);
	scan_and_take(program);
	sleep_ms(50);
	scanner.follow.due_ns[0] = 1;
	scan_and_take(program);
}

/* A resident, which CPUs grant loans, with scans and readings as the daemon makes them. */
static void send_by_loans(struct program *program)
{
	begin(program, "limit add any rate 1k/1s\n");
	send_packets(program, 2);
	pinned_age(program, SOURCE, true, 0);
	for (int i = 0; i < 50; i++) {
		send_packets(program, 2);
		sleep_ms(100);
		if (i % 10 == 9)
			scan_and_take(program);
		else if (rf_time_awake() >= rf_scanner_cells_due_ns(&scanner))
			read_and_take(program);
	}
}

/* They are in no cell of the window, so the counters give their number, marked as differences. */
static void packets_by_loans_are_differences(void **state)
{
	uint64_t sum = 0, most = 0;

	until_in_time(state, 1800, send_by_loans);
	for (int i = 0; i < CELLS; i++) {
		sum += cells.told[i];
		most = cells.told[i] > most ? cells.told[i] : most;
	}
	/* The packets of half a second can be in cells that were read, and in a difference. */
	assert_in_range(sum, cells.sent, cells.sent + 12);
	assert_in_range(most, 1, 12); /* 20 in the 30 cells of a second */
	assert_true(cells.differences > 2);
	assert_int_equal(cells.incomplete, 0);
}

/* Two readings with a distance that misses cells: the data marks it. */
static void what_is_missing_is_said(void **state)
{
	struct program *program;

	until_in_time(state, 1800, scan_soon);
	program = *state;
	assert_int_equal(cells.incomplete, 0);
	sleep_ms(2500);
	send_packets(program, 10);
	scanner.follow.due_ns[0] = 1;
	scan_and_take(program);
	assert_int_equal(cells.incomplete, 1);
}

static void send_and_scan_once(struct program *program)
{
	begin(program, "limit add any rate 1k/1s exact\n");
	send_packets(program, 10);
	sleep_ms(200);
	scan_and_take(program);
}

/* The window's counts since the last reading were lost with it. */
static void an_evicted_window_leaves_a_gap(void **state)
{
	struct program *program;
	struct rf_key4 key;
	int fd;

	until_in_time(state, 1800, send_and_scan_once);
	program = *state;
	fd = program->fence.map_fd[RF_MAP_WINDOWS4];
	assert_int_equal(cells.incomplete, 0);
	key = (struct rf_key4){inet_addr(SOURCE), program_policy(program)->id};
	assert_int_equal(bpf_map_delete_elem(fd, &key), 0);
	send_packets(program, 10);
	sleep_ms(200);
	scanner.follow.due_ns[0] = 1;
	scan_and_take(program);
	assert_int_equal(cells.incomplete, 1);
}

static void reading_changes_no_window(void **state)
{
	struct program *program = *state;
	const int fd = program->fence.map_fd[RF_MAP_WINDOWS4];
	struct rf_source before, after;
	struct rf_key4 key;

	begin(program, "limit add any rate 1k/1s exact\n");
	send_packets(program, 10);
	key = (struct rf_key4){inet_addr(SOURCE), program_policy(program)->id};
	pinned_age(program, SOURCE, false, 30);
	assert_int_equal(bpf_map_lookup_elem(fd, &key, &before), 0);
	for (int i = 0; i < 5; i++) {
		sleep_ms(100);
		scanner.follow.due_ns[0] = 1;
		scan_and_take(program);
		read_and_take(program);
	}
	assert_int_equal(bpf_map_lookup_elem(fd, &key, &after), 0);
	assert_memory_equal(&before, &after, sizeof(before));
}

/* ---- whom to follow ---- */

static bool is_followed(const char *network, int host)
{
	char text[32];

	snprintf(text, sizeof(text), "%s.%d", network, host);
	for (size_t i = 0; i < scanner.follow.list.count; i++)
		if (scanner.follow.list.of[i].source.word[0] == inet_addr(text))
			return true;
	return false;
}

static void send_all(struct program *program, const char *network, int sources, int packets)
{
	char text[32];

	for (int i = 0; i < sources; i++) {
		snprintf(text, sizeof(text), "%s.%d", network, i);
		pinned_send4(program, text, packets);
	}
}

static void the_worst_are_followed_and_a_sample(void **state)
{
	struct program *program = *state;
	size_t sampled = 0;

	program_apply(program, "limit add any rate 10/1h exact\n");
	scan_and_take(program);
	for (int round = 0; round < 2; round++) {
		send_all(program, "192.0.2", 200, 20); /* half are dropped */
		send_all(program, "198.51.100", 250, 1);
		send_all(program, "203.0.113", 250, 1);
		send_all(program, "100.64.0", 250, 1);
		scan_and_take(program);
	}
	for (int i = 0; i < 200; i++)
		assert_true(is_followed("192.0.2", i));
	for (size_t i = 0; i < scanner.follow.list.count; i++)
		sampled += scanner.follow.list.of[i].is_sampled;
	assert_true(sampled > 0 && sampled <= RF_FOLLOW_SAMPLE);
	assert_true(scanner.follow.list.count <= sampled + RF_FOLLOW_WORST);
	assert_true(scanner.follow.share_bits > 0);
	program_apply(program, "");
	scan_and_take(program);
	assert_int_equal(scanner.follow.list.count, 0);
}

#define CROWD 750 /* sources, of which not all fit the sample */

/* Which of them are sampled, after another start with that key. */
static size_t sample_after_start(struct program *program, const __u64 key[3], bool in[CROWD])
{
	static const char *const networks[] = {"198.51.100", "203.0.113", "100.64.0"};
	size_t sampled = 0;

	rf_known_free(&scanner.known);
	rf_follow_free(&scanner.follow);
	scanner.scanned_ns = scanner.whole_ns = 0;
	rf_scanner_follow(&scanner, key);
	scan_and_take(program);
	for (size_t i = 0; i < ARRAY_SIZE(networks); i++)
		send_all(program, networks[i], CROWD / 3, 1);
	scan_and_take(program);
	for (size_t i = 0; i < CROWD; i++)
		in[i] = false;
	for (size_t i = 0; i < scanner.follow.list.count; i++) {
		const struct rf_followed *one = &scanner.follow.list.of[i];
		const uint32_t address = ntohl(one->source.word[0]);

		for (size_t j = 0; j < ARRAY_SIZE(networks) && one->is_sampled; j++)
			if (address >> 8 == inet_network(networks[j]))
				in[j * CROWD / 3 + (address & 0xff)] = true;
		sampled += one->is_sampled;
	}
	return sampled;
}

static void another_start_draws_the_same_sample(void **state)
{
	static const __u64 other_key[3] = {3, 5, 0x94d049bb133111eb};
	static bool first[CROWD], second[CROWD], other[CROWD];
	struct program *program = *state;

	program_apply(program, "limit add any rate 1k/1h exact\n");
	assert_in_range(sample_after_start(program, sample_key, first), 64, RF_FOLLOW_SAMPLE);
	assert_in_range(sample_after_start(program, sample_key, second), 64, RF_FOLLOW_SAMPLE);
	assert_memory_equal(first, second, sizeof(first));
	sample_after_start(program, other_key, other);
	assert_memory_not_equal(first, other, sizeof(first));
}

#define ROW(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROW(each_packet_is_in_its_cell),
		ROW(late_scans_leave_no_gap),
		ROW(refused_packets_are_counted_where_the_limit_counts_them),
		ROW(other_windows_give_differences),
		ROW(packets_by_loans_are_differences),
		ROW(what_is_missing_is_said),
		ROW(an_evicted_window_leaves_a_gap),
		ROW(reading_changes_no_window),
		ROW(the_worst_are_followed_and_a_sample),
		ROW(another_start_draws_the_same_sample),
	};

	return cmocka_run_group_tests_name("follow", tests, NULL, NULL);
}
