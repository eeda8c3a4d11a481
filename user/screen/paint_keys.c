// SPDX-License-Identifier: GPL-2.0
/* The last lines: which keys there are. Those that the user may not use are dim. */
#include "base/units.h"
#include "screen/paint.h"

struct key {
	const char *text;
	bool is_dim;
};

/* Puts keys in as few lines as they need, at most `lines`; the last one is always there. */
static void put_keys(struct rf_canvas *canvas, int row, int lines, const struct key *keys,
		     int count)
{
	const int last_width = rf_text_columns(keys[count - 1].text);
	int column = 0, line = 0;

	for (int i = 0; i < count; i++) {
		const int width = rf_text_columns(keys[i].text);
		const bool is_last_line = line == lines - 1, is_last = i == count - 1;
		const int room = canvas->columns -
				 (is_last_line && !is_last && i < count - 1 ? last_width + 2 : 0);

		if (column + width > room && !is_last_line) {
			line++;
			column = 0;
		} else if (column + width > room && !is_last) {
			continue;
		}
		column = rf_canvas_put(canvas, row + line, column,
				       keys[i].is_dim ? RF_DIM : RF_NORMAL, keys[i].text) +
			 2;
	}
}

void rf_paint_keys(struct rf_canvas *canvas, const struct rf_view *view, int row, int lines)
{
	const bool is_dim = !view->can_change;
	const struct key keys[] = {
		{"Enter window", false},   {"d deny", is_dim},
		{"a allow", is_dim},	   {"r raise", is_dim},
		{"w try", !view->has_try}, {"s sort", false},
		{"/ filter", false},	   {"p pause", false},
		{"~ sample", is_dim},	   {canvas->is_utf8 ? "←→ time" : "<- -> time", false},
		{"e export", false},	   {"u undo", is_dim},
		{"q quit", false},	   {"? help", false},
	};

	put_keys(canvas, row, lines, keys, ARRAY_SIZE(keys));
}

void rf_paint_source_keys(struct rf_canvas *canvas, const struct rf_view *view, int row)
{
	const bool is_dim = !view->can_change;
	const struct key keys[] = {
		{"Esc back", false}, {"d deny", is_dim}, {"a allow", is_dim},
		{"r raise", is_dim}, {"u undo", is_dim}, {"q quit", false},
	};

	put_keys(canvas, row, 1, keys, ARRAY_SIZE(keys));
}
