// SPDX-License-Identifier: GPL-2.0
/* history list, export, check, schema */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/time.h"
#include "cli/out.h"
#include "cli/recorded.h"
#include "cli/view.h"

/* ---- list ---- */

#define GAPS_SHOWN 5

/* The last gaps that are longer than a restart. */
struct gaps {
	struct {
		uint64_t start_ns, end_ns;
		const char *text;
	} last[GAPS_SHOWN];
	uint64_t count;
};

static int read_gaps(struct rf_reader *reader, struct gaps *gaps, struct rf_error *error)
{
	const struct rf_asked asked = {.to_ns = INT64_MAX};
	struct rf_recorded_gap gap;
	struct rf_cursor cursor;

	rf_ask(&cursor, reader, RF_ASK_GAPS, &asked);
	while (rf_cursor_next(&cursor, &gap)) {
		const int at = gaps->count++ % GAPS_SHOWN;

		gaps->last[at].start_ns = gap.start_ns;
		gaps->last[at].end_ns = gap.end_ns;
		gaps->last[at].text = rf_gap_text(gap.why);
	}
	return rf_cursor_end(&cursor, error);
}

static void print_time(const char *label, uint64_t time_ns)
{
	char text[RF_TIME_TEXT_SIZE];

	rf_format_local(time_ns, text);
	rf_out("  %-14s %s\n", label, time_ns ? text : "-");
}

static void print_gaps(const struct gaps *gaps)
{
	const uint64_t first = gaps->count > GAPS_SHOWN ? gaps->count - GAPS_SHOWN : 0;

	if (first)
		rf_out("  gaps           %" PRIu64 ", the last %d:\n", gaps->count, GAPS_SHOWN);
	for (uint64_t i = first; i < gaps->count; i++) {
		char from[RF_TIME_TEXT_SIZE], to[RF_TIME_TEXT_SIZE];

		rf_format_local(gaps->last[i % GAPS_SHOWN].start_ns, from);
		rf_format_local(gaps->last[i % GAPS_SHOWN].end_ns, to);
		rf_out_text("  gap            %s to %s: %s\n", from, to,
			    gaps->last[i % GAPS_SHOWN].text);
	}
}

static int print_extent(struct rf_reader *reader, const char *fence, const struct rf_extent *extent,
			struct rf_error *error)
{
	char bytes[RF_MEMORY_TEXT_SIZE];
	struct gaps gaps = {};
	int err = read_gaps(reader, &gaps, error);

	if (err)
		return err;
	rf_view_memory(extent->bytes, bytes);
	rf_out("fence %s, %s, %" PRIu64 " events\n", fence, bytes, extent->events);
	print_time("minutes from", extent->first_ns);
	print_time("seconds from", extent->first_second_ns);
	print_time("cells from", extent->first_cell_ns);
	print_time("until", extent->last_ns);
	print_gaps(&gaps);
	return 0;
}

static int list_one(struct rf_reader *reader, const char *fence, const void *context, json_t **json,
		    struct rf_error *error)
{
	const struct rf_asked always = {.to_ns = INT64_MAX};
	struct rf_extent extent;
	int err = rf_ask_one(reader, RF_ASK_EXTENT, NULL, &extent, error);

	(void)context;
	if (err < 0 || !json)
		return err < 0 ? err : print_extent(reader, fence, &extent, error);
	*json = rf_view_merged(json_pack("{s:o}", "fence", rf_json_text(fence)),
			       rf_row_json(RF_ASK_EXTENT, &extent));
	return rf_recorded_list(*json, "gaps", reader, RF_ASK_GAPS, &always, error);
}

int rf_cmd_history_list(const struct rf_options *options, struct rf_words *words,
			struct rf_error *error)
{
	int err = rf_words_end(words, error);

	return err ? err : rf_show_histories(options, list_one, true, NULL, error);
}

/* ---- export ---- */

int rf_cmd_history_export(const struct rf_options *options, struct rf_words *words,
			  struct rf_error *error)
{
	const char *path = rf_take_operand(RF_CMD_HISTORY_EXPORT, words, error);
	struct rf_reader *reader = NULL;
	char fence[RF_NAME_SIZE];
	int err = path ? rf_words_end(words, error) : -EINVAL;

	if (!err && !strcmp(path, "-"))
		err = rf_error_usage(error, "'-': a database cannot go to standard output; name a "
					    "file");
	if (!err)
		err = rf_recorded_open(options, &reader, fence, error);
	if (!err)
		err = rf_reader_export(reader, path, error);
	rf_reader_close(reader);
	if (err)
		return err;
	if (options->json)
		return rf_out_json(json_pack("{s:o, s:o}", "fence", rf_json_text(fence), "file",
					     rf_json_text(path)),
				   false, error);
	rf_out_text("the history of fence '%s' is in %s; 'sqlite3 %s' reads it, and 'ringfence "
		    "history schema' explains its tables\n",
		    fence, path, path);
	return 0;
}

/* ---- check ---- */

static int check_one(struct rf_reader *reader, const char *fence, const void *context,
		     json_t **json, struct rf_error *error)
{
	char complaint[256], remedy[256];
	int err = rf_reader_check(reader, complaint, remedy, error);

	(void)context;
	if (err)
		return err;
	if (*complaint && !json)
		return rf_error_failed(error, -EIO,
				       "the history of fence '%s' is damaged: %.200s; %s", fence,
				       complaint, remedy);
	if (json)
		*json = json_pack("{s:o, s:b, s:o}", "fence", rf_json_text(fence), "fine",
				  !*complaint, "complaint",
				  *complaint ? rf_json_text(complaint) : json_null());
	else
		rf_out("the history of fence '%s' is fine\n", fence);
	return 0;
}

int rf_cmd_history_check(const struct rf_options *options, struct rf_words *words,
			 struct rf_error *error)
{
	int err = rf_words_end(words, error);

	return err ? err : rf_show_histories(options, check_one, true, NULL, error);
}

/* ---- schema ---- */

int rf_cmd_history_schema(const struct rf_options *options, struct rf_words *words,
			  struct rf_error *error)
{
	int err = rf_words_end(words, error);

	(void)options;
	if (!err)
		rf_out("%s", rf_reader_schema());
	return err;
}
