// SPDX-License-Identifier: GPL-2.0
/* The rows of `top` without a window: what becomes of samples from one second to the next. */
#include "made_scan.h"

#include "screen/model.h"
#include "screen/paint.h"

static const struct rf_top asked = {.order = RF_BY_DROPS};

struct made {
	struct rf_snapshot scan;
	struct rf_source_row row[2];
	struct rf_unseen_row sampled[300];
	struct rf_unseen unseen;
	struct rf_model model;
};

/* A source under a limit, of which 500 packets a second are dropped, and one of which none is. */
static void begin(struct made *made)
{
	*made = (struct made){};
	made_scan(&made->scan);
	rf_model_start(&made->model, &asked);
	made_second(&made->scan);
	made->row[0] = made_row(&made->scan, 1, 0, 0);
	made->row[1] = made_row(&made->scan, 2, 0, 500);
	made->scan.sources = (struct rf_source_rows){made->row, 2, 2};
	assert_int_equal(rf_model_take(&made->model, &made->scan), 0);
	made->unseen = (struct rf_unseen){.row = made->sampled, .one_in = 7};
}

static void sample(struct made *made, uint32_t source, enum rf_reason reason, double per_s)
{
	made->sampled[made->unseen.count++] =
		(struct rf_unseen_row){made_source(source), reason, per_s / 7 + 1, per_s};
}

/* The samples of a second, which are then removed. */
static void take(struct made *made, uint64_t awake_ns)
{
	assert_int_equal(rf_model_estimate(&made->model, &made->unseen, awake_ns), 0);
	made->unseen.count = 0;
}

static void is_at(const struct made *made, int place, uint32_t source, const char *limit)
{
	const struct rf_row *row = rf_model_shown(&made->model, place);
	const struct rf_prefix want = made_source(source);

	assert_int_equal(rf_prefix_compare(&row->key.source, &want), 0);
	assert_string_equal(row->limit, limit);
}

static void samples_stand_among_the_rows(void **state)
{
	struct made made;

	(void)state;
	begin(&made);
	sample(&made, 66, RF_DENIED, 4000);
	sample(&made, 68, RF_NO_LIMIT, 90);
	sample(&made, 69, RF_NEWCOMER_DROP, 20);
	take(&made, made.scan.awake_ns);
	assert_int_equal(made.model.shown, 5);
	is_at(&made, 0, 66, "denied");
	is_at(&made, 1, 2, "any");
	is_at(&made, 2, 69, "newcomer_drop");
	is_at(&made, 3, 68, "no_limit");
	is_at(&made, 4, 1, "any");
	assert_true(rf_model_shown(&made.model, 0)->drop == 4000);
	assert_true(rf_model_shown(&made.model, 3)->pass == 90);
	rf_model_free(&made.model);
}

static void a_scan_leaves_samples_alone(void **state)
{
	struct rf_model copy;
	struct made made;

	(void)state;
	begin(&made);
	sample(&made, 66, RF_DENIED, 4000);
	take(&made, made.scan.awake_ns);
	made_second(&made.scan);
	assert_int_equal(rf_model_copy(&copy, &made.model), 0);
	assert_int_equal(rf_model_take(&copy, &made.scan), 0);
	rf_model_adopt(&made.model, &copy);
	rf_model_free(&copy);
	assert_int_equal(made.model.shown, 3);
	is_at(&made, 0, 66, "denied");
	rf_model_free(&made.model);
}

static void a_rate_is_smoothed_and_a_row_goes_after_10_s(void **state)
{
	uint64_t awake_ns;
	struct made made;

	(void)state;
	begin(&made);
	awake_ns = made.scan.awake_ns;
	sample(&made, 66, RF_DENIED, 3000);
	take(&made, awake_ns);
	sample(&made, 66, RF_DENIED, 6000);
	take(&made, awake_ns += SECOND);
	assert_true(rf_model_shown(&made.model, 0)->drop == 4000);
	take(&made, awake_ns += 10 * SECOND);
	assert_int_equal(made.model.shown, 3);
	take(&made, awake_ns += SECOND);
	assert_int_equal(made.model.shown, 2);
	rf_model_free(&made.model);
}

static void the_cursor_keeps_its_row(void **state)
{
	const struct rf_prefix source = made_source(68);
	uint64_t awake_ns;
	struct made made;

	(void)state;
	begin(&made);
	awake_ns = made.scan.awake_ns;
	sample(&made, 66, RF_DENIED, 4000);
	sample(&made, 68, RF_DENIED, 3000);
	take(&made, awake_ns);
	rf_model_move(&made.model, 1, awake_ns);
	for (int i = 0; i < 15; i++) {
		sample(&made, 66, RF_DENIED, 4000);
		take(&made, awake_ns += SECOND);
	}
	assert_int_equal(rf_prefix_compare(&rf_model_cursor(&made.model)->key.source, &source), 0);
	assert_int_equal(made.model.shown, 4);
	rf_model_free(&made.model);
}

static void only_the_first_256_are_shown_and_the_others_counted(void **state)
{
	struct made made;

	(void)state;
	begin(&made);
	for (int i = 0; i < 300; i++)
		sample(&made, 4 * (100 + i), RF_DENIED, 4000 - i);
	take(&made, made.scan.awake_ns);
	assert_int_equal(made.model.estimates, 256);
	assert_int_equal(made.model.other_estimates, 44);
	assert_int_equal(made.model.shown, 258);
	is_at(&made, 0, 400, "denied");
	rf_model_free(&made.model);
}

static void a_filter_takes_samples_as_well(void **state)
{
	struct made made;

	(void)state;
	begin(&made);
	sample(&made, 66, RF_DENIED, 4000);
	take(&made, made.scan.awake_ns);
	rf_model_filter(&made.model, "denied");
	assert_int_equal(made.model.shown, 1);
	rf_model_filter(&made.model, "10.0.0.1");
	assert_int_equal(made.model.shown, 1);
	is_at(&made, 0, 1, "any");
	rf_model_filter(&made.model, "");
	rf_model_forget_estimates(&made.model);
	rf_model_order(&made.model, made.scan.awake_ns);
	assert_int_equal(made.model.shown, 2);
	rf_model_free(&made.model);
}

/* The canvas of the list. Free the canvas. */
struct screen {
	struct rf_canvas canvas;
	struct rf_view view;
};

static void begin_screen(struct screen *screen, struct made *made, int columns)
{
	begin(made);
	*screen = (struct screen){
		.canvas.is_utf8 = true,
		.view = {.fence = "eth0", .mode = "native", .message = "", .model = &made->model},
	};
	assert_int_equal(rf_canvas_resize(&screen->canvas, 12, columns), 0);
}

static char *painted(struct screen *screen)
{
	rf_paint_list(&screen->canvas, &screen->view);
	return rf_canvas_text(&screen->canvas);
}

static void a_row_without_a_window_is_marked(void **state)
{
	struct screen screen;
	struct made made;
	char *text;

	(void)state;
	begin_screen(&screen, &made, 80);
	screen.view.can_change = true;
	made.model.head.reason[RF_DENIED].rate = made.model.head.dropped.rate = 4000;
	text = painted(&screen);
	assert_non_null(
		strstr(text, "\n  4k/s dropped of sources without a window; ~ shows them\n"));
	free(text);
	screen.view.is_sampling = true;
	text = painted(&screen);
	assert_non_null(strstr(text, "\n  sampling: rows marked ~ come soon\n"));
	free(text);
	sample(&made, 66, RF_DENIED, 4000);
	take(&made, made.scan.awake_ns);
	text = painted(&screen);
	assert_non_null(strstr(text, "\n>~10.0.0.66        denied                  ~4k       0 "));
	assert_non_null(strstr(text, "\n  ~: by one in 7 packets\n"));
	free(text);
	rf_canvas_free(&screen.canvas);
	rf_model_free(&made.model);
}

/* Samples are evaluated between two scans, so a row can start after the last one. */
static void a_row_that_begins_after_the_scan_has_no_age_yet(void **state)
{
	struct screen screen;
	struct made made;
	char *text;

	(void)state;
	begin_screen(&screen, &made, 120);
	sample(&made, 66, RF_DENIED, 4000);
	take(&made, made.model.head.awake_ns + SECOND / 2);
	text = painted(&screen);
	assert_non_null(strstr(text, "~10.0.0.66 "));
	assert_null(strstr(text, "213503d"));
	assert_non_null(strstr(text, " 0s\n"));
	free(text);
	rf_canvas_free(&screen.canvas);
	rf_model_free(&made.model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_stand_among_the_rows),
		cmocka_unit_test(a_scan_leaves_samples_alone),
		cmocka_unit_test(a_rate_is_smoothed_and_a_row_goes_after_10_s),
		cmocka_unit_test(the_cursor_keeps_its_row),
		cmocka_unit_test(only_the_first_256_are_shown_and_the_others_counted),
		cmocka_unit_test(a_filter_takes_samples_as_well),
		cmocka_unit_test(a_row_without_a_window_is_marked),
		cmocka_unit_test(a_row_that_begins_after_the_scan_has_no_age_yet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
