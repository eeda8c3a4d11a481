// SPDX-License-Identifier: GPL-2.0
/* Painting on a canvas: clipped and sanitized text, bars and sparklines. */
#include "unit.h"

#include "screen/canvas.h"

static struct rf_canvas made(int rows, int columns, bool is_utf8)
{
	struct rf_canvas canvas = {.is_utf8 = is_utf8};

	assert_int_equal(rf_canvas_resize(&canvas, rows, columns), 0);
	return canvas;
}

/* Terminates the canvas. */
static void shows(struct rf_canvas *canvas, const char *want)
{
	char *text = rf_canvas_text(canvas);

	assert_string_equal(text, want);
	free(text);
	rf_canvas_free(canvas);
}

static void text_is_clipped(void **state)
{
	struct rf_canvas canvas = made(2, 5, true);

	(void)state;
	assert_int_equal(rf_canvas_put(&canvas, 0, 2, RF_NORMAL, "abcdef"), 8);
	rf_canvas_put(&canvas, 7, 0, RF_NORMAL, "below");
	rf_canvas_put(&canvas, -1, 0, RF_NORMAL, "above");
	rf_canvas_put(&canvas, 1, -2, RF_NORMAL, "left");
	shows(&canvas, "  abc\nft\n");
}

static void no_name_is_a_command_to_the_terminal(void **state)
{
	struct rf_canvas canvas = made(3, 12, true);

	(void)state;
	rf_canvas_put(&canvas, 0, 0, RF_NORMAL, "a\033[2Jb\a");
	rf_canvas_put(&canvas, 1, 0, RF_NORMAL,
		      "\xc2\x9b"
		      "31m \xff");
	rf_canvas_put(&canvas, 2, 0, RF_NORMAL,
		      "\xe2\x80\xae"
		      "x \xe6\xbc\xa2");
	shows(&canvas, "a?[2Jb?\n?31m ?\n?x ?\n");
}

static void ascii_terminals_get_ascii(void **state)
{
	struct rf_canvas canvas = made(1, 8, false);

	(void)state;
	rf_canvas_put(&canvas, 0, 0, RF_NORMAL, "b\xc3\xbcro\xe2\x80\xa6");
	shows(&canvas, "b?ro?\n");
}

static void words_are_wrapped_between_columns(void **state)
{
	struct rf_canvas canvas = made(4, 12, true);

	(void)state;
	assert_int_equal(
		rf_canvas_put_wrapped(&canvas, 0, 2, 10, RF_NORMAL, "deny add 192.0.2.66 for 1h"),
		3);
	shows(&canvas, "  deny add\n  192.0.2.66\n  for 1h\n\n");
}

static void a_ring_keeps_the_most_of_each_slot(void **state)
{
	struct rf_ring ring = {};

	(void)state;
	assert_true(rf_ring_at(&ring, 5, 0) < 0);
	rf_ring_note(&ring, 100, 3);
	rf_ring_note(&ring, 100, 2);
	rf_ring_note(&ring, 103, 1);
	assert_true(rf_ring_at(&ring, 103, 0) == 1);
	assert_true(rf_ring_at(&ring, 103, 1) == 0);
	assert_true(rf_ring_at(&ring, 103, 3) == 3);
	assert_true(rf_ring_at(&ring, 103, 4) < 0); /* before the first one */
	assert_true(rf_ring_at(&ring, 105, 0) == 0);
	assert_true(rf_ring_at(&ring, 105, 2) == 1);
	assert_true(rf_ring_most(&ring, 105) == 3);
	rf_ring_note(&ring, 103 + RF_RING_SLOTS, 7);
	assert_true(rf_ring_most(&ring, 103 + RF_RING_SLOTS) == 7);
	rf_ring_note(&ring, 2, 5); /* a clock that starts again */
	assert_true(rf_ring_at(&ring, 2, 0) == 5 && rf_ring_at(&ring, 2, 1) < 0);
	assert_true(rf_ring_at(&ring, 2, 3) < 0); /* before slot 0 */
	rf_ring_fill(&ring, 2, 6, 4);
	assert_true(rf_ring_at(&ring, 6, 4) == 5); /* slot 2 is as it was */
	for (int back = 0; back < 4; back++)
		assert_true(rf_ring_at(&ring, 6, back) == 4);
	rf_ring_fill(&ring, 6, 1000000, 3);
	assert_true(rf_ring_at(&ring, 1000000, RF_RING_SLOTS - 1) == 3);
}

static void sparklines_have_eight_heights(void **state)
{
	struct rf_canvas canvas = made(2, 12, true);
	struct rf_ring ring = {};

	(void)state;
	for (int i = 0; i <= 8; i++)
		rf_ring_note(&ring, i, i);
	rf_put_spark(&canvas, 0, 0, 11, RF_NORMAL, &ring, 8, 8);
	rf_put_spark(&canvas, 1, 0, 3, RF_NORMAL, &ring, 8, 800); /* little is not nothing */
	shows(&canvas, "  ▁▁▂▃▄▅▆▇█\n▁▁▁\n");
	canvas = made(1, 12, false);
	rf_put_spark(&canvas, 0, 0, 11, RF_NORMAL, &ring, 8, 8);
	shows(&canvas, "   .:-==+*#\n");
}

static void bars_are_as_long_as_their_share(void **state)
{
	struct rf_canvas canvas = made(5, 6, true);

	(void)state;
	rf_put_bar(&canvas, 0, 0, 6, RF_NORMAL, 0);
	rf_put_bar(&canvas, 1, 0, 6, RF_NORMAL, 0.001);
	rf_put_bar(&canvas, 2, 0, 6, RF_NORMAL, 0.21);
	rf_put_bar(&canvas, 3, 0, 6, RF_NORMAL, 1);
	rf_put_bar(&canvas, 4, 0, 6, RF_NORMAL, 17);
	shows(&canvas, "\n▏\n█▎\n██████\n██████\n");
	canvas = made(2, 6, false);
	rf_put_bar(&canvas, 0, 0, 6, RF_NORMAL, 0.21);
	rf_put_bar(&canvas, 1, 0, 6, RF_NORMAL, 1);
	shows(&canvas, "#:\n######\n");
}

static void columns_grow_from_below(void **state)
{
	struct rf_canvas canvas = made(3, 4, true);

	(void)state;
	rf_put_column(&canvas, 0, 0, 3, RF_NORMAL, 0);
	rf_put_column(&canvas, 0, 1, 3, RF_NORMAL, 0.01);
	rf_put_column(&canvas, 0, 2, 3, RF_NORMAL, 0.5);
	rf_put_column(&canvas, 0, 3, 3, RF_NORMAL, 1);
	shows(&canvas, "   █\n  ▄█\n ▁██\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_clipped),
		cmocka_unit_test(no_name_is_a_command_to_the_terminal),
		cmocka_unit_test(ascii_terminals_get_ascii),
		cmocka_unit_test(words_are_wrapped_between_columns),
		cmocka_unit_test(a_ring_keeps_the_most_of_each_slot),
		cmocka_unit_test(sparklines_have_eight_heights),
		cmocka_unit_test(bars_are_as_long_as_their_share),
		cmocka_unit_test(columns_grow_from_below),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
