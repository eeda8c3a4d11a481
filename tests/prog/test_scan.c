// SPDX-License-Identifier: GPL-2.0
/*
 * What scans tell of sources: the sum of what was new in each scan is what the source sent, once
 * traffic stops; whatever leases held meanwhile, and whether its window stood still or was evicted.
 */
#include "pinned.h"

#include "tests/unit/unit.h"

#include "base/time.h"
#include "watch/scanner.h"

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
	free(scanner.aggregate);
	return pinned_teardown(state);
}

/* A scan that begins `later_ns` from now; the caller frees it. */
static struct rf_snapshot scan_later(uint64_t later_ns)
{
	struct rf_snapshot snapshot = {.awake_ns = rf_time_awake() + later_ns};
	struct rf_error error = {};

	if (scanner.scanned_ns)
		snapshot.since_ns = snapshot.awake_ns - scanner.scanned_ns;
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

static uint64_t new_of(const struct rf_source_row *row)
{
	return row->new_passed + row->new_dropped + row->new_would_drop;
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
		if (row->limit_id == program_policy_of(program, "all")->id)
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
	sums_are_what_was_sent(*state, "limit add all rate 1k/1s\n");
	sums_are_what_was_sent(*state, "limit add all rate 100/1h\n");
	sums_are_what_was_sent(*state, "limit add all rate 100/1h shadow\n");
	sums_are_what_was_sent(*state, "limit add udp rate 90k/10s match udp\n"
				       "limit add all rate 100k/10s\n");
}

static void without_iterators_sums_are_the_same(void **state)
{
	struct program *program = *state;

	*scanner.fence.pins = '\0';
	sums_are_what_was_sent(program, "limit add all rate 1k/1s\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(sums_over_scans_are_what_was_sent, setup, teardown),
		cmocka_unit_test_setup_teardown(without_iterators_sums_are_the_same, setup,
						teardown),
	};

	return cmocka_run_group_tests_name("scan", tests, NULL, NULL);
}
