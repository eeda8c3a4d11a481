// SPDX-License-Identifier: GPL-2.0
/*
 * Scans of sources: the sum of the new packets in each scan equals the packets that the source
 * sent, once traffic stops; regardless of leases, and of whether its window was idle or evicted.
 */
#include "pinned.h"

#include "tests/unit/unit.h"

#include "base/sort.h"
#include "base/time.h"
#include "fence/pending.h"
#include "snapshot/scanner.h"
#include "snapshot/state.h"

#define SENDERS 200

static struct rf_scanner scanner;

static int setup(void **state)
{
	pinned_setup(state, SOURCES);
	program_run_on(0); /* leases are a CPU's own */
	scanner = (struct rf_scanner){.fence = ((struct program *)*state)->fence};
	return 0;
}

static int teardown(void **state)
{
	rf_known_free(&scanner.known);
	rf_follow_free(&scanner.follow);
	free(scanner.aggregate);
	return pinned_teardown(state);
}

/* A scan that starts `later_ns` from now; the caller frees it. */
static struct rf_snapshot scan_later(uint64_t later_ns)
{
	struct rf_snapshot snapshot = {.awake_ns = rf_time_awake() + later_ns};
	struct rf_error error = {};

	assert_done(rf_fence_bans(&scanner.fence, &snapshot.bans, &error), &error);
	assert_done(rf_scan_sources(&scanner, &snapshot, &error), &error);
	scanner.scanned_ns = snapshot.awake_ns;
	return snapshot;
}

static struct rf_snapshot scan(void)
{
	return scan_later(0);
}

static void scan_and_forget(void)
{
	struct rf_snapshot snapshot = scan();

	rf_snapshot_free(&snapshot);
}

/* The row of a source under a limit; NULL if not found. */
static const struct rf_source_row *find(const struct rf_snapshot *snapshot,
					const struct rf_prefix *source, uint32_t limit_id)
{
	const struct rf_source_row key = {.source = *source, .limit_id = limit_id};

	return rf_search(&key, snapshot->sources.row, snapshot->sources.count, sizeof(key),
			 rf_source_row_compare);
}

static uint64_t new_of(const struct rf_source_row *row)
{
	return row->new_passed + row->new_dropped + row->new_would_drop;
}

/* The new packets of one IPv4 source in the next scan. */
static uint64_t scan_new(const struct program *program, const char *source)
{
	struct rf_prefix prefix = {.version = 4, .length = 32, .word = {inet_addr(source)}};
	struct rf_snapshot snapshot = scan();
	const struct rf_source_row *row = find(&snapshot, &prefix, program_policy(program)->id);
	const uint64_t fresh = row ? new_of(row) : 0;

	rf_snapshot_free(&snapshot);
	return fresh;
}

/* ---- sums ---- */

static void add_news(uint64_t told[2][SENDERS], const struct program *program)
{
	struct rf_snapshot snapshot = scan();

	for (size_t i = 0; i < snapshot.sources.count; i++) {
		const struct rf_source_row *row = &snapshot.sources.row[i];
		const bool is_ipv4 = row->source.version == 4;
		const uint32_t word = ntohl(row->source.word[is_ipv4 ? 0 : 1]);

		assert_true(i == 0 || rf_source_row_compare(row - 1, row) < 0);
		if (row->limit_id == program_policy_of(program, "any")->id)
			told[!is_ipv4][word & 0xff] += new_of(row);
	}
	rf_snapshot_free(&snapshot);
}

static void send_one(struct program *program, int sender, int is_ipv6, int packets)
{
	char text[32];

	snprintf(text, sizeof(text), is_ipv6 ? "2001:db8:0:%x::1" : "192.0.2.%d", sender);
	if (is_ipv6)
		pinned_send6(program, text, packets);
	else
		pinned_send4(program, text, packets);
}

static void sums_are_what_was_sent(struct program *program, const char *rules)
{
	static uint64_t sent[2][SENDERS], told[2][SENDERS];

	memset(sent, 0, sizeof(sent));
	memset(told, 0, sizeof(told));
	program_apply(program, "");
	program_apply(program, rules);
	scan_and_forget();
	for (int round = 0; round < 40; round++) {
		for (int i = 0; i < 60; i++) {
			const int sender = rand() % (round % 2 ? SENDERS : 5);
			const int is_ipv6 = rand() % 2, packets = rand() % 40;

			send_one(program, sender, is_ipv6, packets);
			sent[is_ipv6][sender] += packets;
		}
		add_news(told, program);
	}
	add_news(told, program);
	assert_memory_equal(sent, told, sizeof(sent));
}

static void sums_over_scans_are_what_was_sent(void **state)
{
	sums_are_what_was_sent(*state, "limit add any rate 1k/1s\n");
	sums_are_what_was_sent(*state, "limit add any rate 100/1h\n");
	sums_are_what_was_sent(*state, "limit add any rate 100/1h shadow\n");
	sums_are_what_was_sent(*state, "limit add udp rate 90k/10s match udp\n"
				       "limit add any rate 100k/10s\n");
}

static void without_iterators_sums_are_the_same(void **state)
{
	struct program *program = *state;

	*scanner.fence.pins = '\0';
	sums_are_what_was_sent(program, "limit add any rate 1k/1s\n");
}

/* As a reader, who does not share the memory of leases; without pins as well. */
static void readers_get_the_same_sums(void **state)
{
	struct program *program = *state;

	scanner.fence.lease = NULL;
	sums_are_what_was_sent(program, "limit add any rate 1k/1s\n");
	sums_are_what_was_sent(program, "limit add udp rate 90k/10s match udp\n"
					"limit add any rate 100k/10s\n");
	*scanner.fence.pins = '\0';
	sums_are_what_was_sent(program, "limit add any rate 1k/1s\n");
}

static uint64_t limit_packets(const struct rf_limit_counters *sum)
{
	return sum->passed.packets + sum->dropped.packets;
}

/* Leases hold packets of both limits. */
static void one_reading_counts_every_limit(void **state)
{
	struct program *program = *state;
	struct rf_limit_counters sum[RF_LIMITS_MAX];
	struct rf_error error = {};
	int udp, all;

	program_apply(program, "limit add udp rate 4/1h match udp\n"
			       "limit add any rate 100k/1h\n");
	pinned_send4(program, "192.0.2.1", 500);
	pinned_send6(program, "2001:db8::1", 300);
	assert_done(rf_fence_limits_counters(&program->fence, program_bank(program), sum, &error),
		    &error);
	udp = program_slot(program, "udp");
	all = program_slot(program, "any");
	assert_int_equal(limit_packets(&sum[udp]), 800);
	assert_int_equal(sum[udp].passed.packets, 8);
	assert_int_equal(sum[all].passed.packets, 8);
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++) {
		const struct rf_limit_counters one = slot == udp || slot == all
							     ? program_slot_counters(program, slot)
							     : (struct rf_limit_counters){};

		assert_memory_equal(&one, &sum[slot], sizeof(one));
	}
}

/* A scan reads leases once, for all counters and for the sources. */
static void a_scan_has_all_counters(void **state)
{
	struct program *program = *state;
	struct rf_limit_counters sum[RF_LIMITS_MAX];
	struct rf_counters counters = {};
	struct rf_snapshot snapshot;
	struct rf_error error = {};

	program_apply(program, "limit add udp rate 4/1h match udp\n"
			       "limit add any rate 100k/1h\n");
	pinned_send4(program, "192.0.2.1", 500);
	pinned_send6(program, "2001:db8::1", 300);
	snapshot = scan();
	assert_done(rf_fence_counters(&program->fence, &counters, &error), &error);
	assert_done(rf_fence_limits_counters(&program->fence, program_bank(program), sum, &error),
		    &error);
	assert_int_equal(counters.reason[RF_OVER_LIMIT].packets, 792);
	assert_memory_equal(&snapshot.sums.counters, &counters, sizeof(counters));
	assert_memory_equal(snapshot.sums.limit, sum, sizeof(sum));
	assert_int_equal(snapshot.sums.passed.packets, 8);
	assert_int_equal(snapshot.sums.dropped.packets, 792);
	assert_int_equal(snapshot.sums.used[0], 2);
	assert_int_equal(snapshot.sums.used[1], 2);
	rf_snapshot_free(&snapshot);
}

/* The daemon and `stats` report the same numbers; of `stats`, those since the attach. */
static void a_scan_and_totals_count_the_same(void **state)
{
	struct program *program = *state;
	struct rf_snapshot snapshot;
	struct rf_error error = {};
	struct rf_totals totals;

	program_apply(program, "limit add udp rate 4/1h match udp\n");
	pinned_send4(program, "192.0.2.1", 500);
	assert_done(rf_fence_reset(&program->fence, &error), &error);
	pinned_send4(program, "192.0.2.1", 30);
	snapshot = scan();
	assert_done(rf_totals_read(&program->fence, false, &totals, &error), &error);
	assert_memory_equal(&snapshot.sums, &totals.all, sizeof(totals.all));
	assert_int_equal(totals.all.dropped.packets, 526);
	assert_int_equal(totals.since.dropped.packets, 30);
	assert_int_equal(totals.limit[0].counted.dropped.packets, 30);
	rf_totals_free(&totals);
	rf_snapshot_free(&snapshot);
}

/* `status` prints from one reading. */
static void a_state_has_every_section(void **state)
{
	struct rf_fence_state read = RF_FENCE_STATE_NONE;
	struct program *program = *state;
	struct rf_error error = {};

	program_apply(program, "limit add udp rate 4/1h exact match udp\n"
			       "newcomers rate 7/1s then aggregate\n");
	pinned_send4(program, "192.0.2.1", 10);
	assert_done(rf_fence_state_read(&program->fence, &read, &error), &error);
	assert_ptr_equal(read.fence, &program->fence);
	assert_int_equal(rf_bank_count(&read.rules.set.bank), 1);
	assert_int_equal(read.rules.set.bank.newcomers.rate, 7);
	assert_int_equal(read.rules.standing.state, RF_CONFIRMED);
	assert_int_equal(read.totals.since.passed.packets, 4);
	assert_int_equal(read.totals.since.residents_max, SOURCES - SOURCES / 8);
	assert_int_equal(rf_bank_count(&read.bans.rules), 1);
	assert_true(read.memory.bytes > SOURCES);
	rf_fence_state_free(&read);
}

/* ---- what happens to a window ---- */

static void a_window_that_was_made_anew_counts_from_0(void **state)
{
	struct program *program = *state;
	const int fd = program->fence.map_fd[RF_MAP_WINDOWS4];
	struct rf_key4 key;

	program_apply(program, "limit add any rate 1k/1h exact\n");
	scan_and_forget();
	pinned_send4(program, "192.0.2.1", 10);
	assert_int_equal(scan_new(program, "192.0.2.1"), 10);
	for (int packets = 5; packets < 40; packets += 20) { /* fewer than before, then more */
		key = (struct rf_key4){inet_addr("192.0.2.1"), program_policy(program)->id};
		assert_int_equal(bpf_map_delete_elem(fd, &key), 0);
		pinned_send4(program, "192.0.2.1", packets);
		assert_int_equal(scan_new(program, "192.0.2.1"), packets);
	}
}

static void a_source_that_was_idle_is_not_lost(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add any rate 1k/1h exact\n");
	pinned_send4(program, "192.0.2.1", 10);
	scan_and_forget();
	for (int i = 0; i < 3; i++) {
		pinned_age(program, "192.0.2.1", true, 200);
		assert_int_equal(scan_new(program, "192.0.2.1"), 0);
		pinned_send4(program, "192.0.2.1", 3);
		assert_int_equal(scan_new(program, "192.0.2.1"), 3);
	}
	assert_int_equal(scanner.known.count, 1);
}

/* Hands over what leases hold, and 7 packets more, to a window that no packet has touched since. */
static void hand_over(struct program *program, const char *source)
{
	const struct rf_key4 key = {inet_addr(source), program_policy(program)->id};
	const int fd = program->fence.map_fd[RF_MAP_WINDOWS4];
	const int leases = program->fence.map_fd[RF_MAP_LEASES];
	struct rf_source window;

	assert_int_equal(bpf_map_lookup_elem(fd, &key, &window), 0);
	for (uint32_t i = 0; i < program->fence.leases; i++) {
		const uint32_t set = i / RF_LEASE_WAYS;
		struct rf_lease_set ways;

		if (!program->fence.lease[i].packets)
			continue;
		assert_int_equal(bpf_map_lookup_elem(leases, &set, &ways), 0);
		window.dropped += ways.way[i % RF_LEASE_WAYS].packets + 7;
		ways.way[i % RF_LEASE_WAYS].packets = 0;
		assert_int_equal(bpf_map_update_elem(leases, &set, &ways, BPF_EXIST), 0);
	}
	assert_int_equal(bpf_map_update_elem(fd, &key, &window, BPF_EXIST), 0);
	pinned_age(program, source, true, 200);
}

static void what_leases_hand_over_is_told_once(void **state)
{
	struct program *program = *state;
	struct rf_pending pending;
	uint64_t held = 0;

	program_apply(program, "limit add any rate 4/1h\n");
	scan_and_forget();
	pinned_send4(program, "192.0.2.1", 500);
	assert_int_equal(scan_new(program, "192.0.2.1"), 500);
	assert_int_equal(rf_leases_snapshot(&program->fence, program_bank(program), &pending), 0);
	for (size_t i = 0; i < pending.count; i++)
		held += pending.row[i].packets;
	free(pending.row);
	assert_true(held > 0);
	hand_over(program, "192.0.2.1");
	assert_int_equal(scan_new(program, "192.0.2.1"), 7);
	assert_int_equal(scan_new(program, "192.0.2.1"), 0);
}

/* It sent after one scan, and long before the next one. */
static void a_late_scan_misses_nothing(void **state)
{
	struct program *program = *state;
	const struct rf_prefix prefix = {4, 32, {inet_addr("192.0.2.1")}};
	const struct rf_source_row *row;
	struct rf_snapshot snapshot;

	program_apply(program, "limit add any rate 1k/1h exact\n");
	pinned_send4(program, "192.0.2.1", 10);
	scan_and_forget();
	pinned_send4(program, "192.0.2.1", 3);
	pinned_age(program, "192.0.2.1", false, 20);
	snapshot = scan_later(30 * NS_PER_S);
	row = find(&snapshot, &prefix, program_policy(program)->id);
	assert_non_null(row);
	assert_int_equal(new_of(row), 3);
	rf_snapshot_free(&snapshot);
}

static void evicted_windows_are_forgotten(void **state)
{
	struct program *program = *state;
	struct rf_snapshot snapshot;
	struct rf_key4 key;

	program_apply(program, "limit add any rate 1k/1h exact\n");
	pinned_send4(program, "192.0.2.1", 1);
	pinned_send4(program, "192.0.2.2", 1);
	scan_and_forget();
	key = (struct rf_key4){inet_addr("192.0.2.1"), program_policy(program)->id};
	assert_int_equal(bpf_map_delete_elem(program->fence.map_fd[RF_MAP_WINDOWS4], &key), 0);
	for (int i = 1; i < 4; i++) {
		snapshot = scan_later(i * 61 * NS_PER_S);
		rf_snapshot_free(&snapshot);
	}
	assert_int_equal(scanner.known.count, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(sums_over_scans_are_what_was_sent, setup, teardown),
		cmocka_unit_test_setup_teardown(without_iterators_sums_are_the_same, setup,
						teardown),
		cmocka_unit_test_setup_teardown(readers_get_the_same_sums, setup, teardown),
		cmocka_unit_test_setup_teardown(one_reading_counts_every_limit, setup, teardown),
		cmocka_unit_test_setup_teardown(a_scan_has_all_counters, setup, teardown),
		cmocka_unit_test_setup_teardown(a_scan_and_totals_count_the_same, setup, teardown),
		cmocka_unit_test_setup_teardown(a_state_has_every_section, setup, teardown),
		cmocka_unit_test_setup_teardown(a_window_that_was_made_anew_counts_from_0, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_source_that_was_idle_is_not_lost, setup,
						teardown),
		cmocka_unit_test_setup_teardown(what_leases_hand_over_is_told_once, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_late_scan_misses_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(evicted_windows_are_forgotten, setup, teardown),
	};

	return cmocka_run_group_tests_name("scan", tests, NULL, NULL);
}
