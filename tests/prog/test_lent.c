// SPDX-License-Identifier: GPL-2.0
/*
 * Units that a window has lent to CPUs, as readers show them: they count as used, and never make a
 * source look over its limit. In real time, because the iterators' clock is not injected.
 */
#include "pinned.h"

#include "base/time.h"
#include "snapshot/scanner.h"
#include "snapshot/shown.h"
#include "snapshot/sources.h"

static int setup(void **state)
{
	return pinned_setup(state, SOURCES);
}

static int take_used(const struct rf_window_sight *sight, void *context)
{
	uint64_t *used = context;

	*used = sight->used;
	return 0;
}

/* As if the window of 192.0.2.1 had lent these units to CPUs, in a period this far ahead. */
static void lend_units(struct program *program, uint32_t units, uint64_t ahead)
{
	const struct rf_policy *policy = program_policy_of(program, "any");
	const struct rf_key4 key = {inet_addr("192.0.2.1"), policy->id};
	const int fd = program->fence.map_fd[RF_MAP_WINDOWS4];
	const uint64_t period = (rf_fence_jiffies(&program->fence) >> policy->loan_period) + ahead;
	struct rf_source window;

	assert_int_equal(bpf_map_lookup_elem(fd, &key, &window), 0);
	window.window.loans = rf_loans(period, 0, units);
	assert_int_equal(bpf_map_update_elem(fd, &key, &window, BPF_EXIST), 0);
}

static struct rf_source_row read_row(const struct program *program)
{
	const struct rf_source_filter filter = {};
	struct rf_source_rows rows = {};
	struct rf_error error = {};
	struct rf_bans bans = {};
	struct rf_source_row row;

	assert_done(rf_fence_bans(&program->fence, &bans, &error), &error);
	assert_done(rf_source_rows_read(&program->fence, &bans, &filter, &rows, &error), &error);
	assert_int_equal(rows.count, 1);
	row = rows.row[0];
	rf_source_rows_free(&rows);
	rf_bans_free(&bans);
	return row;
}

/*
 * Every reader counts lent units as used, and does not show a window as over its limit because of
 * them; a reader whose clock is behind the clock of the lending CPU does not, either.
 */
static void lent_units_count_as_used(void **state)
{
	static const struct {
		const char *limit;
		int sent;
		uint32_t lent;
		uint64_t ahead, used;
		const char *verdict, *text;
	} rows[] = {
		{"100/10s", 50, 6, 0, 56, "passes", "192.0.2.1: passes"},
		{"100/10s", 50, 6, 1, 56, "passes", "192.0.2.1: passes"},
		{"100/10s", 92, 6, 1, 98, "passes", "192.0.2.1: passes"},
		{"100/10s", 95, 6, 0, 100, "depends",
		 "192.0.2.1: passes on CPUs that have borrowed from limit 'any' (lent to CPUs: 6), "
		 "on others in "},
		{"100/10s", 100, 6, 0, 100, "dropped",
		 "192.0.2.1: dropped by limit 'any'; the next packet passes in "},
		{"100/10s shadow", 95, 6, 0, 100, "passes", "192.0.2.1: passes"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct program *program = *state;
		struct rf_error error = {};
		struct rf_prefix source;
		struct rf_shown *shown;
		struct rf_source_row row;
		char text[128], *verdict;
		uint64_t used = 0;

		snprintf(text, sizeof(text), "limit add any rate %s\n", rows[i].limit);
		program_apply(program, "");
		program_apply(program, text);
		pinned_send4(program, "192.0.2.1", rows[i].sent);
		lend_units(program, rows[i].lent, rows[i].ahead);
		row = read_row(program);
		assert_int_equal(row.used, rows[i].used);
		assert_int_equal(row.lent, rows[i].lent);
		assert_done(rf_parse_prefix("192.0.2.1", &source, &error), &error);
		assert_done(rf_shown_read(&program->fence, &source, &shown, &error), &error);
		assert_int_equal(shown->limit[0].used, rows[i].used);
		assert_int_equal(shown->limit[0].lent, rows[i].lent);
		assert_string_equal(shown->decision.outcome, rows[i].verdict);
		verdict = rf_verdict_text(&shown->its);
		assert_memory_equal(verdict, rows[i].text, strlen(rows[i].text));
		free(verdict);
		rf_shown_free(shown);
		if (!pinned_may_iterate())
			continue;
		assert_done(rf_fence_each_record(&program->fence, RF_WINDOWS_4S, take_used, &used,
						 &error),
			    &error);
		assert_int_equal(used, rows[i].used);
	}
}

/* No window has the packets of loans: a scan counts lent units as far as the counters show. */
static void a_scan_counts_what_was_used(void **state)
{
	struct program *program = *state;
	struct rf_scanner scanner = {.fence = program->fence};
	uint64_t used[2] = {};

	program_apply(program, "limit add any rate 1k/10s\n");
	for (int i = 0; i < 2; i++) {
		struct rf_snapshot snapshot = {
			.awake_ns = rf_time_awake(),
			.time_ns = rf_time_wall(),
		};
		struct rf_error error = {};

		assert_done(rf_fence_bans(&scanner.fence, &snapshot.bans, &error), &error);
		assert_done(rf_scan_sources(&scanner, &snapshot, &error), &error);
		scanner.scanned_ns = snapshot.awake_ns;
		if (snapshot.sources.count)
			used[i] = snapshot.sources.row[0].used;
		rf_snapshot_free(&snapshot);
		if (!i) {
			pinned_send4(program, "192.0.2.1", 10);
			lend_units(program, 60, 0);
		}
	}
	assert_int_equal(used[0], 0);
	assert_int_equal(used[1], 10);
	assert_int_equal(read_row(program).used, 70);
	rf_known_free(&scanner.known);
	free(scanner.aggregate);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(lent_units_count_as_used, setup, pinned_teardown),
		cmocka_unit_test_setup_teardown(a_scan_counts_what_was_used, setup,
						pinned_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
