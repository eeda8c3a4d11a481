// SPDX-License-Identifier: GPL-2.0
/* Metrics, as Prometheus and parsers of OpenMetrics read them. */
#include "exposition.h"

#include <endian.h>
#include <errno.h>

#include "watch/metrics.h"

#define NOW_NS (1763800000 * SECOND)
#define SERIES_MAX 2000
#define TEXT_MAX (256 << 10)

/* A fence, second by second. */
struct fence {
	struct rf_snapshot snapshot;
	struct rf_metrics *metrics;
};

static void add_limit(struct fence *fence, int slot, const char *name, uint64_t rate)
{
	struct rf_bank *rules = &fence->snapshot.bans.rules;
	struct rf_limit *limit = &rules->limit[slot];

	*limit = (struct rf_limit){.rate = rate, .window_ns = 10 * SECOND, .since_generation = 1};
	snprintf(limit->name, sizeof(limit->name), "%s", name);
	rules->policy[slot].id = slot + 1;
}

static int setup(void **state)
{
	struct fence *fence = calloc(1, sizeof(*fence));

	fence->snapshot = (struct rf_snapshot){
		.fence = "eth0",
		.identity = "boot-1",
		.time_ns = NOW_NS,
		.awake_ns = 600 * SECOND,
		.standing = {.active = 1},
		.capacity = 65536,
	};
	add_limit(fence, 0, "any", 1000);
	fence->metrics = rf_metrics_new("eth0");
	*state = fence;
	return 0;
}

static int teardown(void **state)
{
	struct fence *fence = *state;

	free(fence->snapshot.sources.row);
	rf_metrics_free(fence->metrics);
	free(fence);
	return 0;
}

static void set_sources(struct fence *fence, size_t count)
{
	struct rf_source_rows *rows = &fence->snapshot.sources;

	free(rows->row);
	rows->row = calloc(count, sizeof(*rows->row));
	rows->count = rows->capacity = count;
	for (size_t i = 0; i < count; i++)
		rows->row[i] = (struct rf_source_row){
			.source = {.word = {htobe32(0xc0000200 + i)}, .version = 4, .length = 32},
			.limit = &fence->snapshot.bans.rules.limit[0],
			.limit_id = 1,
		};
}

static void scan(struct fence *fence)
{
	rf_metrics_take(fence->metrics, &fence->snapshot);
	fence->snapshot.time_ns += SECOND;
	fence->snapshot.awake_ns += SECOND;
}

static char *write_page(struct rf_metrics_page page, const struct rf_metrics *const *of, int count)
{
	size_t length;
	char *text;

	page.fence = of;
	page.fences = count;
	text = rf_metrics_write(&page, &length);
	assert_non_null(text);
	assert_int_equal(strlen(text), length);
	return text;
}

/* Both formats, parsed; they contain the same. */
static struct exposed *read_metrics(const struct fence *fence)
{
	const struct rf_metrics *const of[] = {fence->metrics};
	const struct rf_metrics_page page = {.awake_ns = fence->snapshot.awake_ns,
					     .interval_ns = SECOND},
				     open = {.is_open = true,
					     .awake_ns = fence->snapshot.awake_ns,
					     .interval_ns = SECOND};
	char *text = write_page(page, of, 1), *open_text = write_page(open, of, 1);
	struct exposed *exposed = expose(text, false), *openly = expose(open_text, true);

	assert_int_equal(exposed->count, openly->count);
	for (int i = 0; i < exposed->count; i++) {
		assert_string_equal(exposed->sample[i].key, openly->sample[i].key);
		assert_true(exposed->sample[i].value == openly->sample[i].value);
	}
	free(openly);
	free(open_text);
	free(text);
	return exposed;
}

static double value(const struct fence *fence, const char *key)
{
	struct exposed *exposed = read_metrics(fence);
	const double value = exposed_value(exposed, key);

	free(exposed);
	return value;
}

#define DROPPED "ringfence_packets_total{fence=eth0,verdict=dropped,reason=over_limit}"
#define LIMIT(name, rest) "ringfence_limit_" name "{fence=eth0,limit=any" rest "}"

static void everything_is_told(void **state)
{
	struct fence *fence = *state;
	struct rf_snapshot *now = &fence->snapshot;
	struct exposed *told;

	now->sums.counters.reason[RF_OVER_LIMIT] = (struct rf_count){7, 700};
	now->sums.counters.map_error[RF_NO_IDLE_SLOT] = 3;
	now->sums.counters.inserts[1] = 9;
	now->sums.counters.evictions[1] = 2;
	now->sums.used[1] = 7;
	now->sums.counters.newcomers_admitted = 11;
	now->sums.counters.reason[RF_CHALLENGED].packets = 12;
	now->sums.counters.reason[RF_PROVEN].packets = 13;
	now->sums.counters.reason[RF_ESTABLISHED].packets = 14;
	now->sums.limit[0].dropped = (struct rf_count){5, 500};
	now->bans.rules.listed[RF_DENY] = 4;
	now->standing.state = RF_PENDING;
	now->standing.confirm_ns = 2500 * MS;
	now->standing.paused_ns = 3500 * MS;
	scan(fence);
	rf_metrics_count_event(fence->metrics, RF_EVENT_FLOOD_STARTED);
	rf_metrics_count_suppressed(fence->metrics, RF_EVENT_SOURCE_LIMITED, 12);
	rf_metrics_note_history(fence->metrics, 4096, 2);
	told = read_metrics(fence);
#define IS(key, wanted) assert_true(exposed_value(told, key) == (wanted))
	IS("ringfence_up{fence=eth0}", 1);
	IS(DROPPED, 7);
	IS("ringfence_bytes_total{fence=eth0,verdict=dropped,reason=over_limit}", 700);
	IS("ringfence_packets_total{fence=eth0,verdict=passed,reason=under_limit}", 0);
	IS(LIMIT("packets_total", ",outcome=dropped"), 5);
	IS(LIMIT("bytes_total", ",outcome=dropped"), 500);
	IS(LIMIT("allowed", ",unit=packets"), 1000);
	IS(LIMIT("window_seconds", ""), 10);
	IS(LIMIT("sources", ",state=banned"), 0);
	IS("ringfence_windows{fence=eth0,family=ipv6}", 7);
	IS("ringfence_windows_capacity{fence=eth0,family=ipv4}", 65536);
	IS("ringfence_windows_inserted_total{fence=eth0,family=ipv6}", 9);
	IS("ringfence_windows_evicted_total{fence=eth0,family=ipv6}", 2);
	IS("ringfence_newcomers_total{fence=eth0,outcome=admitted}", 11);
	IS("ringfence_newcomers_total{fence=eth0,outcome=challenged}", 12);
	IS("ringfence_newcomers_total{fence=eth0,outcome=proven}", 13);
	IS("ringfence_newcomers_total{fence=eth0,outcome=established}", 14);
	IS("ringfence_packets_total{fence=eth0,verdict=dropped,reason=challenged}", 12);
	IS("ringfence_packets_total{fence=eth0,verdict=passed,reason=proven}", 13);
	IS("ringfence_packets_total{fence=eth0,verdict=passed,reason=established}", 14);
	IS("ringfence_map_errors_total{fence=eth0,error=no_idle_slot}", 3);
	IS("ringfence_list_entries{fence=eth0,list=deny}", 4);
	IS("ringfence_unconfirmed_seconds{fence=eth0}", 2.5);
	IS("ringfence_pause_seconds{fence=eth0}", 3.5);
	IS("ringfence_scan_age_seconds{fence=eth0}", 1);
	IS("ringfence_scan_interval_seconds", 1);
	IS("ringfence_events_total{fence=eth0,type=flood_started}", 1);
	IS("ringfence_events_suppressed_total{fence=eth0,type=source_limited}", 12);
	IS("ringfence_history_bytes{fence=eth0}", 4096);
	IS("ringfence_history_write_errors_total{fence=eth0}", 2);
	assert_true(strstr(told->sample[told->count - 1].key, "ringfence_build_info{version="));
	free(told);
}

static void counters_never_step_back(void **state)
{
	struct fence *fence = *state;
	struct rf_snapshot *now = &fence->snapshot;
	struct rf_metrics *next = rf_metrics_new("eth0");
	char *text;

	now->sums.counters.reason[RF_OVER_LIMIT].packets = 100;
	now->sums.limit[0].dropped.packets = 50;
	scan(fence);
	now->sums.counters.reason[RF_OVER_LIMIT].packets = 90;
	scan(fence);
	assert_true(value(fence, DROPPED) == 100);
	/* Deleted, and created again. */
	now->standing.active = 3;
	now->bans.rules.limit[0].since_generation = 3;
	now->sums.limit[0].dropped.packets = 60;
	scan(fence);
	assert_true(value(fence, LIMIT("packets_total", ",outcome=dropped")) == 110);
	/* Another fence, and another daemon. */
	text = rf_metrics_save(fence->metrics);
	assert_int_equal(rf_metrics_restore(next, "{}"), -EINVAL);
	assert_int_equal(rf_metrics_restore(next, text), 0);
	assert_int_equal(rf_metrics_restore(next, text), 0); /* once is enough */
	free(text);
	rf_metrics_free(fence->metrics);
	fence->metrics = next;
	strcpy(now->identity, "boot-2");
	now->sums.counters.reason[RF_OVER_LIMIT].packets = 1;
	scan(fence);
	assert_true(value(fence, DROPPED) == 101);
}

static void errors_of_each_history_are_counted(void **state)
{
	struct fence *fence = *state;

	scan(fence);
	rf_metrics_note_history(fence->metrics, 4096, 2);
	rf_metrics_note_history(fence->metrics, 4096, 3);
	rf_metrics_note_history(fence->metrics, 4096, 1); /* opened again */
	assert_true(value(fence, "ringfence_history_write_errors_total{fence=eth0}") == 4);
}

#define USE(le) LIMIT("use_ratio_bucket", ",le=" le)

static void a_source_has_one_observation_a_minute(void **state)
{
	struct fence *fence = *state;
	struct exposed *told;

	set_sources(fence, 3);
	for (int second = 0; second < 121; second++) {
		struct rf_source_row *row = fence->snapshot.sources.row;

		row[0].used = 40 + second % 11; /* 0.05 at most */
		row[1].used = second == 30 ? 1000 : 1;
		scan(fence);
	}
	told = read_metrics(fence);
	IS(USE("0.01"), 1); /* row 1 in its second minute */
	IS(USE("0.02"), 1);
	IS(USE("0.05"), 3);
	IS(USE("0.95"), 3);
	IS(USE("1.0"), 4);
	IS(USE("+Inf"), 4);
	IS(LIMIT("use_ratio_count", ""), 4);
	assert_true(exposed_value(told, LIMIT("use_ratio_sum", "")) > 1.1009 &&
		    exposed_value(told, LIMIT("use_ratio_sum", "")) < 1.1011);
	free(told);
}

/* A random part of many sources represents all of them. */
static void many_sources_are_sampled(void **state)
{
	struct fence *fence = *state;
	const size_t sources = 300000;
	double count;

	set_sources(fence, sources);
	for (size_t i = 0; i < sources; i++)
		fence->snapshot.sources.row[i].used = 100;
	scan(fence);
	rf_metrics_observe(fence->metrics);
	count = value(fence, LIMIT("use_ratio_count", ""));
	assert_true(count > sources * 0.97 && count < sources * 1.03);
	assert_true(value(fence, USE("0.05")) == 0);
}

static void sources_are_counted_by_state(void **state)
{
	struct fence *fence = *state;
	struct rf_source_row *row;
	struct exposed *told;

	set_sources(fence, 6);
	row = fence->snapshot.sources.row;
	row[0].used = 10;
	row[1].used = 1000;
	row[2].new_dropped = 1;
	row[3].new_would_drop = 1;
	row[4].banned_ns = SECOND;
	row[5].used = 500;
	row[5].is_aggregate = true;
	scan(fence);
	told = read_metrics(fence);
	IS(LIMIT("sources", ",state=active"), 4);
	IS(LIMIT("sources", ",state=over"), 3);
	IS(LIMIT("sources", ",state=banned"), 1);
	free(told);
}

static void check_worst(struct fence *fence, bool has, enum rf_told tells, const char *wanted)
{
	const struct rf_metrics *const of[] = {fence->metrics};
	const struct rf_metrics_page page = {
		.is_open = true, .has_exemplars = has, .told = tells, .is_once = true};
	char *text = write_page(page, of, 1);
	struct exposed *told = expose(text, true);
	int exemplars = 0;

	for (int i = 0; i < told->count; i++)
		exemplars += *told->sample[i].exemplar != '\0';
	assert_int_equal(exemplars, *wanted != '\0');
	assert_string_equal(
		exposed_find(told, LIMIT("packets_total", ",outcome=dropped"))->exemplar, wanted);
	if (!*wanted)
		assert_null(strstr(text, "192.0.2."));
	free(told);
	free(text);
}

static void the_worst_source_is_an_exemplar(void **state)
{
	struct fence *fence = *state;
	struct rf_source_row *row;

	set_sources(fence, 3);
	row = fence->snapshot.sources.row;
	row[0].new_dropped = 10;
	row[2].new_dropped = 9;
	scan(fence);
	check_worst(fence, true, RF_TELL_FULL, "{source=192.0.2.0}");
	row[0].new_dropped = 0;
	row[2].new_dropped = 11;
	scan(fence);
	check_worst(fence, true, RF_TELL_FULL, "{source=192.0.2.2}");
	/* For a minute it is the worst, then the next one is. */
	row[2].new_dropped = 0;
	row[1].new_dropped = 1;
	scan(fence);
	check_worst(fence, true, RF_TELL_FULL, "{source=192.0.2.2}");
	for (int second = 0; second < 60; second++)
		scan(fence);
	check_worst(fence, true, RF_TELL_FULL, "{source=192.0.2.1}");
	check_worst(fence, true, RF_TELL_PREFIX, "{source=192.0.2.0/24}");
	check_worst(fence, true, RF_TELL_NONE, "");
	check_worst(fence, false, RF_TELL_FULL, "");
}

/* Names of the maximum length, and everything that can be counted. */
static void a_flood_adds_no_series(void **state)
{
	struct fence *fence = *state;
	const struct rf_metrics *const of[] = {fence->metrics};
	struct rf_snapshot *now = &fence->snapshot;
	int series = 0;

	rf_metrics_note_history(fence->metrics, 1 << 20, 0);
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++) {
		char name[RF_NAME_SIZE];

		snprintf(name, sizeof(name), "limit-of-thirty-one-character%02d", slot % 100U);
		add_limit(fence, slot, name, 1000);
	}
	set_sources(fence, 50000);
	for (int second = 0; second < 62; second++) {
		struct exposed *told;
		char *text;

		for (size_t i = 0; second && i < now->sources.count; i++) {
			now->sources.row[i].limit_id = 1 + i % RF_LIMITS_MAX;
			now->sources.row[i].new_dropped = i;
			now->sources.row[i].used = i % 1001;
		}
		memset(&now->sums.counters, second ? 0x77 : 0, sizeof(now->sums.counters));
		memset(&now->sums.limit, second ? 0x77 : 0, sizeof(now->sums.limit));
		if (second > 2 && second < 60) {
			now->awake_ns += SECOND;
			continue;
		}
		scan(fence);
		told = read_metrics(fence);
		assert_true(!series || told->count == series);
		series = told->count;
		free(told);
		text = write_page((struct rf_metrics_page){.is_open = true,
							   .has_exemplars = true,
							   .told = RF_TELL_FULL},
				  of, 1);
		assert_true(strlen(text) <= TEXT_MAX);
		free(text);
	}
	assert_true(series <= SERIES_MAX);
}

static void a_fence_that_is_lost_keeps_its_age(void **state)
{
	struct fence *fence = *state;
	struct exposed *told;

	scan(fence);
	fence->snapshot.awake_ns += 30 * SECOND;
	rf_metrics_lose(fence->metrics);
	told = read_metrics(fence);
	IS("ringfence_up{fence=eth0}", 0);
	IS("ringfence_scan_age_seconds{fence=eth0}", 31);
	assert_null(exposed_find(told, DROPPED));
	free(told);
}

static void fences_share_families(void **state)
{
	struct fence *fence = *state;
	struct rf_metrics *other = rf_metrics_new("we\"ird\\\x1b\xff"),
			  *same = rf_metrics_new("eth0");
	const struct rf_metrics *const of[] = {fence->metrics, other, same};
	struct exposed *told;
	char *text;

	scan(fence);
	rf_metrics_take(other, &fence->snapshot);
	rf_metrics_take(same, &fence->snapshot);
	text = write_page((struct rf_metrics_page){}, of, 3);
	told = expose(text, false);
	IS("ringfence_up{fence=eth0}", 1);
	IS("ringfence_up{fence=we\"ird\\??}", 1);
	free(told);
	free(text);
	rf_metrics_free(other);
	rf_metrics_free(same);
}

static void without_a_fence_it_is_valid(void **state)
{
	char *text = write_page((struct rf_metrics_page){.is_open = true}, NULL, 0);

	(void)state;
	free(expose(text, true));
	free(text);
}

#define ROW(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

static const struct CMUnitTest tests[] = {
	ROW(everything_is_told),
	ROW(counters_never_step_back),
	ROW(errors_of_each_history_are_counted),
	ROW(a_source_has_one_observation_a_minute),
	ROW(many_sources_are_sampled),
	ROW(sources_are_counted_by_state),
	ROW(the_worst_source_is_an_exemplar),
	ROW(a_flood_adds_no_series),
	ROW(a_fence_that_is_lost_keeps_its_age),
	ROW(fences_share_families),
	ROW(without_a_fence_it_is_valid),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
