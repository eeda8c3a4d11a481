// SPDX-License-Identifier: GPL-2.0
/* Scans concurrent with the screen: keys during a scan, and a screen that does not wait for it. */
#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <unistd.h>

#include "made_scan.h"

#include "base/time.h"
#include "screen/scanning.h"

/* ---- a scanner whose scan takes as long as the test wants ---- */

struct rf_scanner {
	struct rf_snapshot next; /* the scan's result */
	struct rf_source_row row[4];
	int err;
	uint64_t busy_ns; /* of a CPU */
	unsigned int waits_us;
};

static struct rf_scanner made;
static sem_t began, goes_on, closed;

struct rf_scanner *rf_scanner_open(const char *interface, struct rf_error *error)
{
	(void)error;
	return strcmp(interface, "none") ? &made : NULL;
}

void rf_scanner_close(struct rf_scanner *scanner)
{
	if (scanner)
		sem_post(&closed);
}

int rf_scan(struct rf_scanner *scanner, struct rf_snapshot *snapshot, struct rf_error *error)
{
	const uint64_t before = rf_time_used();

	sem_post(&began);
	sem_wait(&goes_on);
	usleep(scanner->waits_us);
	while (rf_time_used() - before < scanner->busy_ns)
		;
	*snapshot = scanner->next;
	return scanner->err ? rf_error_failed(error, scanner->err, "it was detached") : 0;
}

void rf_snapshot_free(struct rf_snapshot *snapshot)
{
	snapshot->sources = (struct rf_source_rows){};
}

/* ---- the steps of the tests ---- */

static uint64_t cost_ns; /* of the scan taken last */

static const struct rf_top asked = {.order = RF_BY_DROPS};

/* The next scan, a second later: of each source, this many drops. */
static void next_scan(const uint64_t drops[][2], size_t count)
{
	made_second(&made.next);
	for (size_t i = 0; i < count; i++)
		made.row[i] = made_row(&made.next, drops[i][0], 0, drops[i][1]);
	made.next.sources = (struct rf_source_rows){made.row, count, count};
}

static void open_scanning(struct rf_scanning *scanning, struct rf_model *model)
{
	struct rf_error error;

	sem_init(&began, 0, 0);
	sem_init(&goes_on, 0, 0);
	sem_init(&closed, 0, 0);
	made.err = 0;
	made_scan(&made.next);
	rf_model_start(model, &asked);
	assert_int_equal(rf_scanning_open(scanning, "eth0", &error), 0);
}

/* A scan is under way when this returns. */
static void begin(struct rf_scanning *scanning, const struct rf_model *model)
{
	struct rf_error error;

	assert_int_equal(rf_scanning_begin(scanning, model, &error), 0);
	sem_wait(&began);
	assert_false(rf_scanning_is_done(scanning));
}

static int finish(struct rf_scanning *scanning, struct rf_model *model, struct rf_error *error)
{
	struct pollfd file = {.fd = rf_job_file(scanning->job), .events = POLLIN};

	assert_int_equal(poll(&file, 1, 0), 0);
	sem_post(&goes_on);
	assert_int_equal(poll(&file, 1, -1), 1);
	assert_true(rf_scanning_is_done(scanning));
	return rf_scanning_take(scanning, model, &cost_ns, error);
}

static void scan(struct rf_scanning *scanning, struct rf_model *model)
{
	struct rf_error error;

	begin(scanning, model);
	assert_int_equal(finish(scanning, model, &error), 0);
}

static void is_at(const struct rf_model *model, int place, uint32_t source)
{
	const struct rf_prefix want = made_source(source);

	assert_int_equal(rf_prefix_compare(&rf_model_shown(model, place)->key.source, &want), 0);
}

static const uint64_t before[][2] = {{1, 50}, {2, 4000}, {5, 300}};

static void a_scan_is_shown_when_it_is_done(void **state)
{
	struct rf_scanning scanning;
	struct rf_model model;

	(void)state;
	open_scanning(&scanning, &model);
	next_scan(before, 3);
	scan(&scanning, &model);
	assert_int_equal(model.shown, 3);
	is_at(&model, 0, 2);
	assert_int_equal(model.head.over, 3);
	rf_scanning_close(&scanning);
	sem_wait(&closed);
	rf_model_free(&model);
}

/* A scan that waits for a lock of the kernel does not make scans rarer. */
static void the_cost_of_a_scan_is_cpu_time(void **state)
{
	struct rf_scanning scanning;
	struct rf_model model;

	(void)state;
	open_scanning(&scanning, &model);
	next_scan(before, 3);
	made.waits_us = 200000;
	scan(&scanning, &model);
	assert_true(cost_ns < 200 * RF_NS_PER_MS);
	made.waits_us = 0;
	made.busy_ns = 50 * RF_NS_PER_MS;
	scan(&scanning, &model);
	assert_true(cost_ns >= made.busy_ns);
	made.busy_ns = 0;
	rf_scanning_close(&scanning);
	sem_wait(&closed);
	rf_model_free(&model);
}

/* Keys pressed while a scan is under way hold afterwards. */
static void the_cursor_moves_while_a_scan_is_under_way(void **state)
{
	static const uint64_t after[][2] = {{2, 10}, {5, 80000}, {6, 900}};
	struct rf_scanning scanning;
	struct rf_model model;

	(void)state;
	open_scanning(&scanning, &model);
	next_scan(before, 3);
	scan(&scanning, &model);
	next_scan(after, 3);
	begin(&scanning, &model);
	rf_model_move(&model, 2, model.head.awake_ns);
	is_at(&model, model.at, 1);
	finish(&scanning, &model, NULL);
	is_at(&model, model.at, 1);
	assert_true(model.is_bound);
	assert_int_equal(model.shown, 4);
	rf_scanning_close(&scanning);
	rf_model_free(&model);
}

/* The limit of the row under the cursor is deleted, and with it the row. */
static void a_row_that_is_gone_stays_under_the_cursor(void **state)
{
	static const uint64_t after[][2] = {{6, 900}};
	struct rf_scanning scanning;
	struct rf_model model;

	(void)state;
	open_scanning(&scanning, &model);
	next_scan(before, 3);
	scan(&scanning, &model);
	next_scan(after, 1);
	made.row[0].limit_id = 77;
	made.next.bans.rules.policy[0].id = 77;
	begin(&scanning, &model);
	rf_model_move(&model, 1, model.head.awake_ns);
	is_at(&model, model.at, 5);
	finish(&scanning, &model, NULL);
	is_at(&model, model.at, 5);
	assert_int_equal(model.shown, 2);
	rf_scanning_close(&scanning);
	rf_model_free(&model);
}

static void order_and_filter_hold_while_a_scan_is_under_way(void **state)
{
	static const uint64_t after[][2] = {{1, 90000}, {2, 1}, {5, 80000}, {6, 1000000}};
	struct rf_scanning scanning;
	struct rf_model model;

	(void)state;
	open_scanning(&scanning, &model);
	next_scan(before, 3);
	scan(&scanning, &model);
	next_scan(after, 4);
	begin(&scanning, &model);
	rf_model_sort(&model, RF_BY_RATE);
	rf_model_filter(&model, "10.0.0.5");
	finish(&scanning, &model, NULL);
	assert_int_equal(model.by, RF_BY_RATE);
	assert_int_equal(model.shown, 1);
	is_at(&model, 0, 5);
	assert_true(rf_model_shown(&model, 0)->drop == 80000);
	rf_scanning_close(&scanning);
	rf_model_free(&model);
}

static void a_new_fence_keeps_no_row(void **state)
{
	struct rf_scanning scanning;
	struct rf_model model;

	(void)state;
	open_scanning(&scanning, &model);
	next_scan(before, 3);
	scan(&scanning, &model);
	next_scan(before, 1);
	strcpy(made.next.identity, "boot-2");
	begin(&scanning, &model);
	rf_model_move(&model, 1, model.head.awake_ns);
	finish(&scanning, &model, NULL);
	assert_int_equal(model.shown, 1);
	assert_false(model.is_bound);
	is_at(&model, 0, 1);
	rf_scanning_close(&scanning);
	rf_model_free(&model);
}

static void a_screen_that_ends_waits_for_no_scan(void **state)
{
	struct rf_scanning scanning;
	struct rf_model model;

	(void)state;
	open_scanning(&scanning, &model);
	next_scan(before, 3);
	scan(&scanning, &model);
	begin(&scanning, &model);
	rf_scanning_close(&scanning);
	assert_int_equal(sem_trywait(&closed), -1);
	rf_model_free(&model);
	sem_post(&goes_on);
	sem_wait(&closed); /* by the thread, once its scan is complete */
}

/* The scan is complete, but its result was not fetched. */
static void a_scan_that_is_not_taken_is_freed(void **state)
{
	struct rf_scanning scanning;
	struct rf_model model;
	struct pollfd file = {.events = POLLIN};

	(void)state;
	open_scanning(&scanning, &model);
	next_scan(before, 3);
	begin(&scanning, &model);
	file.fd = rf_job_file(scanning.job);
	sem_post(&goes_on);
	assert_int_equal(poll(&file, 1, -1), 1);
	rf_scanning_close(&scanning);
	assert_int_equal(sem_trywait(&closed), 0);
	rf_model_free(&model);
}

static void a_scan_that_fails_says_why(void **state)
{
	struct rf_scanning scanning;
	struct rf_error error = {};
	struct rf_model model;

	(void)state;
	open_scanning(&scanning, &model);
	next_scan(before, 3);
	scan(&scanning, &model);
	made.err = -ENODEV;
	begin(&scanning, &model);
	assert_int_equal(finish(&scanning, &model, &error), -ENODEV);
	assert_string_equal(error.text, "it was detached");
	assert_int_equal(model.shown, 3);
	rf_scanning_close(&scanning);
	rf_model_free(&model);
	assert_int_equal(rf_scanning_open(&scanning, "none", &error), -ENODEV);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_scan_is_shown_when_it_is_done),
		cmocka_unit_test(the_cost_of_a_scan_is_cpu_time),
		cmocka_unit_test(the_cursor_moves_while_a_scan_is_under_way),
		cmocka_unit_test(a_row_that_is_gone_stays_under_the_cursor),
		cmocka_unit_test(order_and_filter_hold_while_a_scan_is_under_way),
		cmocka_unit_test(a_new_fence_keeps_no_row),
		cmocka_unit_test(a_screen_that_ends_waits_for_no_scan),
		cmocka_unit_test(a_scan_that_is_not_taken_is_freed),
		cmocka_unit_test(a_scan_that_fails_says_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
