// SPDX-License-Identifier: GPL-2.0
/* The pages of `top` as text, and the commands of its keys. */
#include "made_scan.h"

#include "rules/policy.h"
#include "screen/act.h"
#include "screen/paint.h"

static const struct rf_top asked = {.order = RF_BY_DROPS};

struct page {
	struct rf_canvas canvas;
	struct rf_model model;
	struct rf_view view;
};

/* A minute: a source that floods, and one that does not. */
static void begin_with(struct page *page, int rows, int columns, bool is_utf8,
		       const struct rf_newcomers *newcomers)
{
	struct rf_source_row row[2];
	struct rf_snapshot scan;

	setenv("TZ", "UTC", 1);
	*page = (struct page){.canvas.is_utf8 = is_utf8};
	made_scan(&scan);
	for (int i = 0; i < MADE_LIMITS; i++)
		scan.bans.rules.limit[i].order = i;
	scan.awake_ns = 1000 * SECOND;
	if (newcomers)
		scan.bans.rules.newcomers = *newcomers;
	rf_model_start(&page->model, &asked);
	for (int i = 0; i < 12; i++) {
		scan.time_ns += 5 * SECOND;
		scan.awake_ns += 5 * SECOND;
		scan.since_ns = 5 * SECOND;
		row[0] = made_row(&scan, 2, 1, 0);
		row[0].new_passed = 105;
		row[0].used = 21;
		row[1] = made_row(&scan, 66, 0, i > 5 ? 4055000 : 0);
		row[1].new_passed = 100000;
		row[1].used = i > 5 ? 20000 : 5000;
		scan.sums.counters.reason[RF_UNDER_LIMIT].packets += 100105;
		scan.sums.counters.reason[RF_OVER_LIMIT].packets += row[1].new_dropped;
		if (newcomers) {
			scan.sums.counters.reason[RF_CHALLENGED].packets += 5 * 790000;
			scan.sums.counters.reason[RF_PROVEN].packets += 5 * 31;
			scan.sums.counters.reason[RF_ESTABLISHED].packets += 5 * 210000;
		}
		scan.sources = (struct rf_source_rows){row, 2, 2};
		assert_int_equal(rf_model_take(&page->model, &scan), 0);
	}
	page->view = (struct rf_view){.fence = "eth0",
				      .mode = "native",
				      .model = &page->model,
				      .message = "",
				      .can_change = true};
	assert_int_equal(rf_canvas_resize(&page->canvas, rows, columns), 0);
}

static void begin(struct page *page, int rows, int columns, bool is_utf8)
{
	begin_with(page, rows, columns, is_utf8, NULL);
}

/* Ends the page. */
static void shows(struct page *page, const char *want)
{
	char *text = rf_canvas_text(&page->canvas);

	assert_string_equal(text, want);
	free(text);
	rf_canvas_free(&page->canvas);
	rf_model_free(&page->model);
}

static void the_list_in_80_columns(void **state)
{
	struct page page;

	(void)state;
	begin(&page, 16, 80, true);
	rf_paint_list(&page.canvas, &page.view);
	shows(&page, "eth0 native     LIVE 22:14:20    1 over  0 banned\n"
		     "in 831k/s ▁▁▁▁▁▁██████        dropped 811k/s 97.6%\n"
		     "over_limit 811k/s ▁▁▁▁▁▁██████\n"
		     "[any 20k/1s: 1]  syn 100/1s: 0\n"
		     "  source           limit  use          drop/s  pass/s  60 s          since\n"
		     "> 10.0.0.66        any    ██████ 100%    811k     20k  ▂▂▂▂▂▂██████  25s\n"
		     "  10.0.0.2         syn    █▎      21%       0      21  ▂▂▂▂▂▂▂▂▂▂▂▂\n"
		     "\n\n\n\n\n\n\n"
		     "Enter window  d deny  a allow  r raise  w try  s sort  / filter  p pause\n"
		     "~ sample  ←→ time  e export  u undo  q quit  ? help\n");
}

static void the_list_in_ascii_and_40_columns(void **state)
{
	struct page page;

	(void)state;
	begin(&page, 10, 40, false);
	rf_paint_list(&page.canvas, &page.view);
	shows(&page, "eth0 native  LIVE 22:14:20  1 over\n"
		     "in 831k/s ......######  drop 811k/s 98%\n"
		     "  source            use  drop/s  pass/s\n"
		     "> 10.0.0.66        100%    811k     20k\n"
		     "  10.0.0.2          21%       0      21\n"
		     "\n\n\n\n"
		     "Enter window  d deny  a allow  ? help\n");
}

/* A line for them, if the rules use them. */
static void challenges_are_shown_in_80_columns(void **state)
{
	const struct rf_newcomers newcomers = {.rate = 5000,
					       .window_ns = SECOND,
					       .then = RF_NEWCOMERS_CHALLENGE,
					       .except_established = 1};
	struct page page;
	char *text;

	(void)state;
	begin_with(&page, 16, 80, true, &newcomers);
	rf_paint_list(&page.canvas, &page.view);
	shows(&page, "eth0 native     LIVE 22:14:20    1 over  0 banned  newcomers: challenge\n"
		     "in 1.83M/s ▄▄▄▄▄▄██████       dropped 1.6M/s 87.4%\n"
		     "over_limit 811k/s ▁▁▁▁▁▁██████        challenged 790k/s ████████████\n"
		     "newcomers  challenged 790k/s  proven 31/s  established 210k/s  dropped 0/s\n"
		     "[any 20k/1s: 1]  syn 100/1s: 0\n"
		     "  source           limit  use          drop/s  pass/s  60 s          since\n"
		     "> 10.0.0.66        any    ██████ 100%    811k     20k  ▂▂▂▂▂▂██████  25s\n"
		     "  10.0.0.2         syn    █▎      21%       0      21  ▂▂▂▂▂▂▂▂▂▂▂▂\n"
		     "\n\n\n\n\n"
		     "  790k/s dropped of sources without a window; ~ shows them\n"
		     "Enter window  d deny  a allow  r raise  w try  s sort  / filter  p pause\n"
		     "~ sample  ←→ time  e export  u undo  q quit  ? help\n");
	begin_with(&page, 16, 50, true, &newcomers);
	rf_paint_list(&page.canvas, &page.view);
	text = rf_canvas_text(&page.canvas);
	assert_non_null(strstr(text, "\nnewcomers  challenged 790k/s  proven 31/s\n"));
	free(text);
	rf_canvas_free(&page.canvas);
	rf_model_free(&page.model);
}

/* By its longest unit, to cut no digit off. */
static void a_ban_is_shown_with_its_rest(void **state)
{
	struct page page;
	char *text;

	(void)state;
	begin(&page, 16, 80, true);
	page.model.row[1].banned_ns = 3541 * SECOND;
	rf_paint_list(&page.canvas, &page.view);
	text = rf_canvas_text(&page.canvas);
	assert_non_null(strstr(text, "██████  ban 59m\n"));
	free(text);
	rf_canvas_free(&page.canvas);
	rf_model_free(&page.model);
}

/* An empty list is one of its reasons, also where the terminal is small. */
static void an_empty_list_says_why(void **state)
{
	struct page page;
	char *text;

	(void)state;
	begin(&page, 10, 40, false);
	rf_model_filter(&page.model, "192.0.2.9");
	rf_paint_list(&page.canvas, &page.view);
	text = rf_canvas_text(&page.canvas);
	assert_non_null(strstr(text, "  no source matches the filter\n"
				     "  '192.0.2.9'; / changes it, and an\n"
				     "  empty one shows all sources\n"));
	free(text);
	rf_model_filter(&page.model, "");
	page.model.rows = page.model.shown = page.model.head.limits = 0;
	rf_paint_list(&page.canvas, &page.view);
	text = rf_canvas_text(&page.canvas);
	assert_non_null(strstr(text, "  no source has a window, since there is\n"
				     "  no limit; 'ringfence limit add probe\n"
				     "  rate 50k/1s shadow' drops nothing, and\n"
				     "  shows the sources; until then ~ shows\n"
				     "  them by samples\n"));
	free(text);
	rf_model_forget(&page.model);
	rf_paint_list(&page.canvas, &page.view);
	text = rf_canvas_text(&page.canvas);
	assert_non_null(strstr(text, "  the first scan is under way\n"));
	free(text);
	rf_canvas_free(&page.canvas);
	rf_model_free(&page.model);
}

static void columns_give_way_to_the_source(void **state)
{
	const int widths[] = {200, 80, 60, 40, 30, 10};
	const struct {
		bool limit, bar, pass, spark, since;
	} want[] = {
		{1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}, {1, 1, 1, 0, 0},
		{0, 0, 1, 0, 0}, {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(widths); i++) {
		const struct rf_columns columns = rf_columns_for(widths[i], 15, 5);

		assert_int_equal(columns.limit > 0, want[i].limit);
		assert_int_equal(columns.bar > 0, want[i].bar);
		assert_int_equal(columns.pass > 0, want[i].pass);
		assert_int_equal(columns.spark > 0, want[i].spark);
		assert_int_equal(columns.since > 0, want[i].since);
		assert_true(columns.source && columns.drop && columns.percent);
	}
}

/* For any size, painting remains within it: the sanitizers check. */
static void every_size_is_painted(void **state)
{
	static const struct rf_dialog dialog = {"Deny 192.0.2.66", "deny add 192.0.2.66 for 1h",
						"It is on the list already.", "Enter, Esc"};
	struct page page;

	(void)state;
	begin(&page, 2, 2, true);
	for (int rows = 2; rows < 30; rows += 3) {
		for (int columns = 2; columns < 130; columns += 9) {
			assert_int_equal(rf_canvas_resize(&page.canvas, rows, columns), 0);
			rf_paint_help(&page.canvas, rows % 5);
			rf_paint_source(&page.canvas, &page.view, "192.0.2.66", "a note", NULL,
					"one\ntwo");
			page.view.message = rows % 2 ? "" : "a message of several words, or more";
			rf_paint_list(&page.canvas, &page.view);
			rf_paint_dialog(&page.canvas, &dialog);
		}
	}
	rf_canvas_free(&page.canvas);
	rf_model_free(&page.model);
}

/* A limit of 20k/1s that is used up, by a source that the page shows. */
static struct rf_limit any = {.name = "any", .rate = 20000, .window_ns = SECOND};

static void paint_source(struct page *page, const char *source, struct rf_shown *shown)
{
	shown->limit[0].limit = &any;
	shown->limit[0].used = shown->limit[0].state.passed = any.rate;
	shown->its.answers = 1;
	rf_paint_source(&page->canvas, &page->view, source, NULL, shown, NULL);
}

/* Words that do not fit into a line go to the next one; no word is cut. */
static void a_source_fits_into_40_columns(void **state)
{
	static struct rf_shown shown = {
		.decision = {"dropped", "deny", NULL, "198.51.100.0/24", RF_WAIT_FOREVER},
		.its.list[RF_DENY] = {true, 3600 * SECOND, "198.51.100.0/24"},
		.limit[0] = {.cells = 1, .passes_again_ms = 504, .wait_ms = RF_WAIT_FOREVER},
	};
	struct page page;

	(void)state;
	any.flags = RF_SHADOW;
	shown.limit[0].state.would_drop = 1200000;
	begin(&page, 12, 40, true);
	paint_source(&page, "198.51.100.66", &shown);
	any.flags = 0;
	shows(&page, "198.51.100.66  LIVE 22:14:20  1 over\n"
		     "next packet: dropped\n"
		     "by deny 198.51.100.0/24\n"
		     "never passes again\n"
		     "on the deny list (198.51.100.0/24), for\n"
		     "another 1h\n"
		     "any 20k/1s shadow     ██████████ 100%\n"
		     "  20000 of 20000\n"
		     "  passed 20k  would have dropped 1.2M\n"
		     "  would pass again in 504ms\n"
		     "\n"
		     "Esc back  d deny  a allow  q quit\n");
}

static void the_end_of_what_is_typed_is_shown(void **state)
{
	struct page page;
	char *text;

	(void)state;
	begin(&page, 10, 40, false);
	page.view.prompt = "export to: ringfence-top-20261124-004857.csv";
	rf_paint_list(&page.canvas, &page.view);
	text = rf_canvas_text(&page.canvas);
	assert_non_null(strstr(text, "\nt to: ringfence-top-20261124-004857.csv"));
	free(text);
	rf_canvas_free(&page.canvas);
	rf_model_free(&page.model);
}

static void cells_stand_against_count(void **state)
{
	static struct rf_shown shown = {
		.decision = {"dropped", "limit", "any", NULL, 504},
		.limit[0] = {.cells = 4, .cell = {0, 5000, 10000, 5000}, .wait_ms = 504},
	};
	struct page page;

	(void)state;
	shown.limit[0].state.dropped = 1200000;
	begin(&page, 12, 60, true);
	paint_source(&page, "192.0.2.66", &shown);
	shows(&page, "192.0.2.66  LIVE 22:14:20  1 over  0 banned\n"
		     "next packet: dropped, by limit any; passes again in 504ms\n"
		     "any 20k/1s            ██████████ 100%  20000 of 20000\n"
		     "    COUNT\n"
		     "\n"
		     "              ██\n"
		     "    cells   ██████\n"
		     "  passed 20k  dropped 1.2M  passes again in 504ms\n"
		     "\n\n\n"
		     "Esc back  d deny  a allow  r raise  u undo  q quit\n");
}

/* ---- commands ---- */

static void lists_get_the_source_for_an_hour(void **state)
{
	static const struct rf_list_answer before[] = {{false, 0, ""},
						       {true, RF_FOREVER, "10.0.0.0/24"},
						       {true, RF_FOREVER, "10.0.0.2"},
						       {true, 90 * SECOND, "10.0.0.2"}};
	static const char *const undo[] = {
		"deny del 10.0.0.2 dev eth0", "deny del 10.0.0.2 dev eth0",
		"deny add 10.0.0.2 dev eth0", "deny add 10.0.0.2 for 90s dev eth0"};
	const struct rf_prefix source = made_source(2), wide = made_source(3);
	struct rf_error error;
	struct rf_act act;

	(void)state;
	for (int i = 0; i < 4; i++) {
		assert_int_equal(rf_act_list(&act, RF_DENY, &source, &before[i], "eth0", &error),
				 0);
		assert_string_equal(act.command, "deny add 10.0.0.2 for 1h dev eth0");
		assert_string_equal(act.undo, undo[i]);
		assert_int_equal(*act.warning != 0, i > 1);
		rf_act_free(&act);
	}
	assert_int_equal(rf_act_list(&act, RF_ALLOW, &wide, &before[0], "eth0", &error), 0);
	assert_string_equal(act.command, "allow add 2001:db8:0:3::/64 for 1h dev eth0");
	rf_act_free(&act);
}

static void everybody_is_no_source(void **state)
{
	static const struct rf_prefix all = {.version = 4};
	static const struct rf_list_answer none;
	struct rf_error error;
	struct rf_act act;

	(void)state;
	assert_true(rf_act_list(&act, RF_DENY, &all, &none, "eth0", &error) < 0);
	assert_string_equal(error.text, "this row is of all sources together, not of one");
	rf_act_free(&act);
}

static bool warns(struct rf_act *act, const struct rf_prefix *source, const char *text)
{
	struct rf_prefix peer;
	struct rf_error error;

	assert_int_equal(rf_parse_prefix(text, &peer, &error), 0);
	return rf_act_warn(act, source, &peer);
}

static void the_peer_of_ssh_is_warned_of(void **state)
{
	const struct rf_prefix source = made_source(2), wide = made_source(3);
	struct rf_act act = {.command = strdup("deny add 10.0.0.2 for 1h dev eth0")};

	(void)state;
	assert_false(warns(&act, &source, "10.0.0.3"));
	assert_false(rf_act_warn(&act, &source, NULL));
	assert_string_equal(act.command, "deny add 10.0.0.2 for 1h dev eth0");
	assert_true(warns(&act, &source, "10.0.0.2"));
	assert_string_equal(act.warning,
			    "10.0.0.2 is where your own SSH session comes from: it would end.");
	assert_string_equal(act.command, "deny add 10.0.0.2 for 1h dev eth0 force");
	assert_true(warns(&act, &wide, "2001:db8:0:3::17"));
	rf_act_free(&act);
}

/* The limit as it is, except for its name, COUNT and source; the rules are unchanged. */
static void raise_copies_the_limit(void **state)
{
	static struct rf_ruleset rules;
	const struct rf_prefix source = made_source(2);
	struct rf_limit *limit = &rules.bank.limit[0];
	struct rf_error error;
	struct rf_act act;

	(void)state;
	rules.bank.policy[0].id = 1;
	rules.bank.policy[1].id = 2;
	*limit = (struct rf_limit){.name = "syn",
				   .rate = 100,
				   .window_ns = 10 * SECOND,
				   .match = RF_MATCH_SYN,
				   .has_from = 1,
				   .per4 = 32,
				   .per6 = 64};
	limit->cells = rf_default_cells(limit);
	strcpy(rules.bank.limit[1].name, "raise1");
	assert_int_equal(rf_act_raise(&act, &rules, 0, &source, 4, "eth0", &error), 0);
	assert_string_equal(act.command, "limit add raise2 rate 400/10s match tcp syn from "
					 "10.0.0.2 confirm 60s dev eth0");
	assert_string_equal(act.undo, "limit del raise2 dev eth0");
	assert_string_equal(limit->name, "syn");
	assert_int_equal(limit->rate, 100);
	assert_int_equal(limit->has_from, 1);
	rf_act_free(&act);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_list_in_80_columns),
		cmocka_unit_test(the_list_in_ascii_and_40_columns),
		cmocka_unit_test(challenges_are_shown_in_80_columns),
		cmocka_unit_test(a_ban_is_shown_with_its_rest),
		cmocka_unit_test(an_empty_list_says_why),
		cmocka_unit_test(columns_give_way_to_the_source),
		cmocka_unit_test(every_size_is_painted),
		cmocka_unit_test(a_source_fits_into_40_columns),
		cmocka_unit_test(the_end_of_what_is_typed_is_shown),
		cmocka_unit_test(cells_stand_against_count),
		cmocka_unit_test(lists_get_the_source_for_an_hour),
		cmocka_unit_test(everybody_is_no_source),
		cmocka_unit_test(the_peer_of_ssh_is_warned_of),
		cmocka_unit_test(raise_copies_the_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
