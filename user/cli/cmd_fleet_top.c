// SPDX-License-Identifier: GPL-2.0
/* fleet top: the worst sources over all hosts */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/printable.h"
#include "cli/fleet_agent.h"
#include "cli/out.h"
#include "cli/table.h"
#include "rules/grammar_option.h"

static void fill_source(const void *context, size_t row, struct rf_cells *cells)
{
	static const char *const keys[] = {"dropped", "passed", "rate", "hosts"};
	const json_t *source = json_array_get(context, row);

	rf_fleet_text(source, "source", cells->text[0], RF_CELL_SIZE);
	rf_fleet_text(source, "limit", cells->text[1], RF_CELL_SIZE);
	for (int i = 0; i < 4; i++)
		snprintf(cells->text[2 + i], RF_CELL_SIZE, "%lld%s",
			 (long long)json_integer_value(json_object_get(source, keys[i])),
			 i == 2 ? "/s" : "");
}

static void print_sources(const json_t *sources)
{
	static const struct rf_column columns[] = {{"source", false, 15}, {"limit", false, 5},
						   {"dropped", true, 10}, {"passed", true, 10},
						   {"rate", true, 8},	  {"hosts", true, 0}};
	const struct rf_table table = {columns, 6,	    1, json_array_size(sources),
				       sources, fill_source};

	if (table.rows)
		rf_table_print(&table);
	else
		rf_out_text("no host tells of a source that is near a limit of the fleet\n");
}

static int print_top(const struct rf_options *options, const char *fence, const json_t *answer,
		     struct rf_error *error)
{
	const json_t *sources = json_object_get(answer, "sources");
	const long long told = json_integer_value(json_object_get(answer, "told"));
	const long long members = json_integer_value(json_object_get(answer, "members"));

	if (options->json)
		return rf_out_json(json_pack("{s:o, s:I, s:I, s:O}", "fence", rf_json_text(fence),
					     "members", (json_int_t)members, "told",
					     (json_int_t)told, "sources", sources),
				   false, error);
	print_sources(sources);
	rf_out_text("told by %lld of %lld hosts\n", told, members);
	return 0;
}

int rf_cmd_fleet_top(const struct rf_options *options, struct rf_words *words,
		     struct rf_error *error)
{
	char fence[RF_NAME_SIZE], question[32];
	struct rf_fleet_top top;
	json_t *answer = NULL;
	int err = rf_parse_fleet_top(words, &top, error);

	if (!err)
		err = rf_fleet_fence(options, NULL, fence, error);
	if (err)
		return err;
	snprintf(question, sizeof(question), "top %" PRIu32 " %s", top.rows, top.by);
	err = rf_fleet_ask(fence, question, &answer, error);
	if (!err)
		err = print_top(options, fence, answer, error);
	json_decref(answer);
	return err;
}
