// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/time.h"
#include "cli/out.h"
#include "cli/table.h"
#include "cli/top_unseen.h"
#include "snapshot/records.h"
#include "snapshot/totals.h"
#include "snapshot/unseen.h"

#define TIME_WITH_OTHERS_NS RF_NS_PER_S /* where others take the samples */
#define MANY_DROPS 1000			/* and a tenth of all drops */

static size_t shown(const struct rf_unseen *unseen, const struct rf_top *top)
{
	return unseen->count < top->rows ? unseen->count : top->rows;
}

static void fill(const void *context, size_t i, struct rf_cells *cells)
{
	const struct rf_unseen_row *row = &((const struct rf_unseen *)context)->row[i];
	char source[RF_PREFIX_TEXT_SIZE];

	rf_format_prefix(&row->source, source);
	snprintf(cells->text[0], RF_CELL_SIZE, "~ %s", source);
	snprintf(cells->text[1], RF_CELL_SIZE, "~%.*f", row->per_s < 10 ? 1 : 0, row->per_s);
	snprintf(cells->text[2], RF_CELL_SIZE, "%" PRIu64, row->samples);
	snprintf(cells->text[3], RF_CELL_SIZE, "%s: %s", rf_reason_verdict(row->reason),
		 rf_reason_text(row->reason));
}

static void print_text(const struct rf_unseen *unseen, const struct rf_top *top)
{
	static const struct rf_column columns[] = {
		{"  source", false, 0},
		{"packets/s", true, 0},
		{"samples", true, 0},
		{"why", false, 0},
	};
	const struct rf_table table = {columns, 4, 1, shown(unseen, top), unseen, fill};
	char time[RF_DURATION_TEXT_SIZE], share[32] = "each packet";

	if (unseen->one_in > 1)
		snprintf(share, sizeof(share), "one in %u packets", unseen->one_in);
	rf_format_ms(unseen->time_ns / RF_NS_PER_MS / 100 * 100, time);
	if (!unseen->count) {
		rf_out_text("\nno source without a window in samples of %s, over %s\n", share,
			    time);
		return;
	}
	rf_out_text("\nsources without a window, estimated from samples of %s, over %s:\n", share,
		    time);
	rf_table_print(&table);
	if (shown(unseen, top) < unseen->count)
		rf_out("… and %zu more; 'top N' shows N\n", unseen->count - shown(unseen, top));
}

/* ---- what to do ---- */

/* Many drops of sources that have no row: says which words show them. */
static int hint(const struct rf_fence *fence, struct rf_error *error)
{
	struct rf_totals totals;
	uint64_t unseen = 0;
	int err = rf_totals_read(fence, false, &totals, error);

	for (int i = 0; i < RF_REASON_COUNT && !err; i++)
		if (RF_UNSEEN_DROPPED >> i & 1)
			unseen += totals.since.counters.reason[i].packets;
	if (!err && unseen >= MANY_DROPS && unseen >= totals.since.dropped.packets / 10)
		rf_out_text("%" PRIu64 " packets of sources without a window were dropped; "
			    "'ringfence top sample 2s' estimates which sources these are\n",
			    unseen);
	rf_totals_free(&totals);
	return err;
}

static json_t *unseen_json(const struct rf_unseen *unseen, const struct rf_top *top)
{
	struct rf_unseen first = *unseen;

	first.count = shown(unseen, top);
	return rf_record_json(rf_unseen_fields, &first);
}

int rf_top_unseen(const struct rf_fence *fence, const struct rf_top *top, json_t *json,
		  struct rf_error *error)
{
	const struct rf_unseen_asked asked = {
		.time_ns = top->sample_ns ?: TIME_WITH_OTHERS_NS,
		.within = top->is_within ? &top->within : NULL,
	};
	struct rf_unseen unseen = {};
	int err;

	if (top->limit || (!top->sample_ns && !rf_unseen_is_sampled(fence))) {
		if (json)
			json_object_set_new(json, "unseen", json_null());
		return json || top->limit ? 0 : hint(fence, error);
	}
	err = rf_unseen_read(fence, &asked, &unseen, error);
	if (!err && json)
		json_object_set_new(json, "unseen", unseen_json(&unseen, top));
	else if (!err)
		print_text(&unseen, top);
	rf_unseen_free(&unseen);
	return err;
}
