// SPDX-License-Identifier: GPL-2.0
/* A list without a row says why. */
#include <stdio.h>

#include "rules/probe_limit.h"
#include "screen/paint.h"

static void write_reason(const struct rf_view *view, char text[RF_LINE_SIZE])
{
	const struct rf_model *model = view->model;

	if (!model->head.time_ns)
		snprintf(text, RF_LINE_SIZE, "the first scan is under way");
	else if (!view->is_past && !model->head.limits)
		snprintf(text, RF_LINE_SIZE,
			 "no source has a window, since there is no limit; " RF_PROBE_ADVICE "%s",
			 view->can_change && !view->is_sampling
				 ? "; until then ~ shows them by samples"
				 : "");
	else if (*model->filter)
		snprintf(text, RF_LINE_SIZE,
			 "no source matches the filter '%s'; / changes it, and an empty one shows "
			 "all sources",
			 model->filter);
	else if (view->is_past)
		snprintf(text, RF_LINE_SIZE, "no source was recorded at that time");
	else
		snprintf(text, RF_LINE_SIZE, "no source %shas sent a packet in the last minute",
			 model->limit || model->is_within ? "of these " : "under a limit ");
}

void rf_paint_empty(struct rf_canvas *canvas, const struct rf_view *view, int row)
{
	char text[RF_LINE_SIZE];

	write_reason(view, text);
	rf_canvas_put_wrapped(canvas, row, 2, canvas->columns, RF_YELLOW, text);
}
