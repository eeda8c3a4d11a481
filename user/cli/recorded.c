// SPDX-License-Identifier: GPL-2.0
/* Which histories a command reads, and which part of them; history list, export, check, schema */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/time.h"
#include "cli/out.h"
#include "cli/recorded.h"
#include "cli/view.h"
#include "fence/find.h"
#include "rules/policy.h"
#include "rules/rulefile.h"
#include "schema/settings.h"

static int find_name(const struct rf_recorded_fences *fences, const char *name)
{
	for (int i = 0; i < fences->count; i++)
		if (!strcmp(fences->name[i], name))
			return i;
	return -1;
}

/* Appends the names of all fences that have a history. */
static int fail_unknown(const struct rf_recorded_fences *fences, const char *what,
			struct rf_error *error)
{
	char names[256] = "";

	for (int i = 0; i < fences->count; i++) {
		const size_t length = strlen(names);

		snprintf(names + length, sizeof(names) - length, "%s%s", i ? ", " : "",
			 fences->name[i]);
	}
	return rf_error_failed(error, -ENOENT, "%s; there are: %s", what, names);
}

/* The only attached fence that has a history; -1: none or several are attached. */
static int find_attached(const struct rf_recorded_fences *fences)
{
	struct rf_fences attached;
	struct rf_error unused;
	int found = -1, count = 0;

	if (!rf_fences_find(&attached, &unused))
		for (int i = 0; i < attached.count; i++) {
			const int one = find_name(fences, attached.fence[i].name);

			found = one < 0 ? found : one;
			count += one >= 0;
		}
	rf_fences_free(&attached);
	return count == 1 ? found : -1;
}

/* `dev` is the name of a fence, or of an interface that belongs to one now. */
static int find_dev(const struct rf_recorded_fences *fences, const char *dev,
		    struct rf_error *error)
{
	struct rf_fence fence = RF_FENCE_NONE;
	int found = find_name(fences, dev);
	struct rf_error unused;
	char what[128];

	if (found < 0 && !rf_fence_open(&fence, dev, &unused))
		found = find_name(fences, fence.name);
	rf_fence_close(&fence);
	if (found >= 0)
		return found;
	snprintf(what, sizeof(what), "'%.64s': no fence of that name has a history", dev);
	return fail_unknown(fences, what, error);
}

int rf_recorded_open(const struct rf_options *options, struct rf_reader **reader,
		     char fence[RF_NAME_SIZE], struct rf_error *error)
{
	struct rf_recorded_fences fences;
	int found = 0, err = rf_recorded_fences(&fences, error);

	*reader = NULL;
	if (err)
		return err;
	if (options->dev)
		found = find_dev(&fences, options->dev, error);
	else if (fences.count > 1)
		found = find_attached(&fences);
	if (found < 0 && !options->dev)
		found = fail_unknown(&fences, "several fences have a history; name one with 'dev'",
				     error);
	if (found < 0)
		return found;
	memcpy(fence, fences.name[found], RF_NAME_SIZE);
	return rf_reader_open(reader, fences.directory, fence, error);
}

static int show_one(const struct rf_options *options, rf_show_recorded show, const void *context,
		    struct rf_error *error)
{
	struct rf_reader *reader;
	char fence[RF_NAME_SIZE];
	json_t *json = NULL;
	int err = rf_recorded_open(options, &reader, fence, error);

	if (!err)
		err = show(reader, fence, context, options->json ? &json : NULL, error);
	if (!err && options->json)
		err = rf_out_json(json, false, error);
	else
		json_decref(json);
	rf_reader_close(reader);
	return err;
}

static int show_listed(const char *directory, const char *fence, rf_show_recorded show,
		       const void *context, json_t **json, struct rf_error *error)
{
	struct rf_reader *reader;
	int err = rf_reader_open(&reader, directory, fence, error);

	if (!err)
		err = show(reader, fence, context, json, error);
	rf_reader_close(reader);
	return err;
}

int rf_show_histories(const struct rf_options *options, rf_show_recorded show, bool has_heading,
		      const void *context, struct rf_error *error)
{
	struct rf_each each = {.error = error};
	struct rf_recorded_fences fences;
	int err;

	if (options->dev)
		return show_one(options, show, context, error);
	err = rf_recorded_fences(&fences, error);
	if (err)
		return err;
	each.list = options->json ? json_array() : NULL;
	for (int i = 0; i < fences.count; i++) {
		const char *fence = fences.name[i];
		struct rf_error failure = {};
		json_t *json = NULL;

		if (i && !each.list && !has_heading)
			rf_out("\n");
		if (!each.list && !has_heading && fences.count > 1)
			rf_out("fence %s\n", fence);
		err = show_listed(fences.directory, fence, show, context, each.list ? &json : NULL,
				  &failure);
		rf_each_add(&each, fence, json, err, &failure);
	}
	return rf_each_end(&each, NULL);
}

/* ---- parts of a history that several commands print ---- */

int rf_recorded_list(struct rf_reader *reader, enum rf_question question,
		     const struct rf_asked *asked, const struct rf_field *fields, json_t **list,
		     struct rf_error *error)
{
	uint64_t row[RF_ROW_MAX / sizeof(uint64_t)];
	struct rf_cursor cursor;

	*list = json_array();
	rf_ask(&cursor, reader, question, asked);
	while (rf_cursor_next(&cursor, row))
		json_array_append_new(*list, rf_record_json(fields, row));
	return rf_cursor_end(&cursor, error);
}

/* ": 812k dropped since 14:01:38", of a stop event; a start event has only its first second. */
static void format_dropped(const struct rf_recorded_event *event, char *text, size_t size)
{
	char dropped[RF_SHORT_TEXT_SIZE], time[RF_TIME_TEXT_SIZE], since[RF_TIME_TEXT_SIZE];
	const bool is_end = rf_event_is_end(event->type) && event->first_seen_ns;
	bool is_same_day;

	*text = '\0';
	if (!event->dropped)
		return;
	rf_format_short(event->dropped, dropped);
	rf_format_local(event->time_ns, time);
	rf_format_local(event->first_seen_ns, since);
	is_same_day = !strncmp(time, since, RF_DATE_LENGTH);
	snprintf(text, size, ": %s dropped%s%s", dropped, is_end ? " since " : "",
		 is_end ? since + (is_same_day ? RF_DATE_LENGTH + 1 : 0) : "");
}

void rf_recorded_event_text(const struct rf_recorded_event *event, const char *fence, bool has_id,
			    char text[RF_EVENT_TEXT_SIZE])
{
	const bool is_told = has_id && *event->id;
	char dropped[64];

	format_dropped(event, dropped, sizeof(dropped));
	snprintf(text, RF_EVENT_TEXT_SIZE, "%s%s%.32s%s%.64s%s%.32s%s%s%.255s%s%.64s%s", fence,
		 *fence ? " " : "", event->type, *event->source ? " " : "", event->source,
		 *event->limit ? " limit " : "", event->limit, dropped, *event->detail ? ": " : "",
		 event->detail, is_told ? " [" : "", is_told ? event->id : "", is_told ? "]" : "");
	rf_hide_controls(text, false);
}

/* ---- the limits active at a time, and limits derived from them ---- */

#define ANY_TICK_NS 1000000 /* the policies are not used */

/* Lists are of no use here. */
static int read_nothing(const char *path, struct rf_prefixes *prefixes,
			struct rf_mistakes *mistakes, struct rf_error *error)
{
	(void)path, (void)prefixes, (void)mistakes, (void)error;
	return 0;
}

static int put(struct rf_ruleset *rules, int slot, const struct rf_definition *definition,
	       struct rf_error *error)
{
	uint32_t next_id = slot + 1;

	return rf_ruleset_put_limit(rules, slot, definition, NULL, ANY_TICK_NS, &next_id, error);
}

int rf_recorded_limits(struct rf_reader *reader, uint64_t time_ns, struct rf_ruleset *rules,
		       uint64_t *since_ns, struct rf_error *error)
{
	char *text = rf_reader_rules(reader, time_ns, since_ns);
	struct rf_rulefile file = {};
	int err = 0;

	*rules = RF_RULESET_NONE;
	if (!text)
		return rf_error_failed(error, -ENODATA,
				       "the history has no rules of that time; 'ringfence history "
				       "list' shows how far it reaches back");
	err = rf_rulefile_parse(text, read_nothing, &file, error);
	/* Without this, a limit whose words this build does not know would be missing. */
	if (!err && file.mistakes.count)
		err = rf_error_failed(error, -EINVAL,
				      "cannot read the recorded rules of that time: line %zu: %s",
				      file.mistakes.mistake[0].line, file.mistakes.mistake[0].text);
	for (int i = 0; i < file.limits && i < RF_LIMITS_MAX && !err; i++)
		err = put(rules, i, &file.limit[i], error);
	rf_rulefile_free(&file);
	free(text);
	return err;
}

static void choose_name(const struct rf_ruleset *rules, const char *name, char chosen[RF_NAME_SIZE])
{
	snprintf(chosen, RF_NAME_SIZE, "%s", name);
	for (unsigned int i = 2; rf_bank_find(&rules->bank, chosen) >= 0; i++)
		snprintf(chosen, RF_NAME_SIZE, "%.28s-%u", name, i % 100);
}

char *rf_shadow_command(const struct rf_ruleset *rules, const struct rf_definition *definition,
			const char *name)
{
	struct rf_definition shadow = *definition;
	struct rf_ruleset alone = RF_RULESET_NONE;
	struct rf_error unused;
	char *text = NULL;

	choose_name(rules, name, shadow.limit.name);
	shadow.limit.flags |= RF_SHADOW;
	shadow.limit.ban_ns = 0;
	if (!put(&alone, 0, &shadow, &unused))
		text = rf_ruleset_format_limit(&alone, 0);
	rf_ruleset_free(&alone);
	return text;
}

int rf_limit_definition(const struct rf_ruleset *rules, int slot, struct rf_definition *definition,
			struct rf_error *error)
{
	char *text = rf_ruleset_format_limit(rules, slot), *line = text;
	const char **word = text ? calloc(strlen(text) + 1, sizeof(*word)) : NULL;
	struct rf_words words = {.word = word};
	int err = 0;

	*definition = (struct rf_definition){};
	if (!word)
		err = rf_error_failed(error, -ENOMEM, "%s", strerror(ENOMEM));
	for (char *next = strsep(&line, " "); word && next; next = strsep(&line, " "))
		word[words.count++] = next;
	words.at = 2; /* limit add */
	if (!err)
		err = rf_parse_limit(&words, definition, error);
	free(word);
	free(text);
	return err;
}

int rf_check_sources_kept(struct rf_reader *reader, const char *limit, uint64_t from_ns,
			  uint64_t to_ns, struct rf_error *error)
{
	static const char *const outcomes[] = {"passed", "dropped", "would_drop"};
	struct rf_recorded recorded;
	struct rf_error unused;
	uint64_t packets = 0;
	const int err = rf_reader_between(reader, from_ns, to_ns, &recorded, &unused);

	for (int i = 0; i < 3 && !err; i++)
		packets += rf_recorded_packets(&recorded, "limit", limit, outcomes[i]);
	rf_recorded_free(&recorded);
	if (!packets)
		return 0;
	return rf_error_failed(
		error, -ENODATA,
		"the history has %" PRIu64 " packets of limit '%s', but no source: "
		"sources are recorded every 10 s, and under 'sources none' never; "
		"write 'sources prefix' into " RF_SETTINGS_FILE " and run "
		"'systemctl reload ringfence-watch', or watch now: ringfence suggest "
		"for 10m",
		packets, limit);
}

/* ---- history list ---- */

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

/* The part of a history about its fence. */
struct kept {
	const char *fence;
	struct rf_extent extent;
	json_t *gaps;
};

static const struct rf_field kept_fields[] = {
	RF_FIELD("fence", struct kept, fence, "its name"),
	RF_FIELDS_OF(struct kept, extent, rf_extent_fields),
	RF_FIELD_READ("gaps", struct kept, gaps, RF_FIELD_LIST, rf_recorded_gap_fields,
		      "times that were not recorded"),
	{},
};

RF_RECORD(history_list, kept_fields);

static int print_kept(struct rf_reader *reader, const struct kept *kept, struct rf_error *error)
{
	char bytes[RF_MEMORY_TEXT_SIZE];
	struct gaps gaps = {};
	int err = read_gaps(reader, &gaps, error);

	if (err)
		return err;
	rf_view_memory(kept->extent.bytes, bytes);
	rf_out("fence %s, %s, %" PRIu64 " events\n", kept->fence, bytes, kept->extent.events);
	print_time("minutes from", kept->extent.first_ns);
	print_time("seconds from", kept->extent.first_second_ns);
	print_time("cells from", kept->extent.first_cell_ns);
	print_time("until", kept->extent.last_ns);
	print_gaps(&gaps);
	return 0;
}

static int list_one(struct rf_reader *reader, const char *fence, const void *context, json_t **json,
		    struct rf_error *error)
{
	const struct rf_asked always = {.to_ns = INT64_MAX};
	struct kept kept = {.fence = fence};
	int err = rf_ask_one(reader, RF_ASK_EXTENT, NULL, &kept.extent, error);

	(void)context;
	if (err < 0 || !json)
		return err < 0 ? err : print_kept(reader, &kept, error);
	err = rf_recorded_list(reader, RF_ASK_GAPS, &always, rf_recorded_gap_fields, &kept.gaps,
			       error);
	*json = rf_record_json(kept_fields, &kept);
	json_decref(kept.gaps);
	return err;
}

int rf_cmd_history_list(const struct rf_options *options, struct rf_words *words,
			struct rf_error *error)
{
	int err = rf_words_end(words, error);

	return err ? err : rf_show_histories(options, list_one, true, NULL, error);
}

/* ---- history export ---- */

struct exported {
	const char *fence, *file;
};

static const struct rf_field exported_fields[] = {
	RF_FIELD("fence", struct exported, fence, "its name"),
	RF_FIELD("file", struct exported, file, "the copy"),
	{},
};

RF_RECORD(history_export, exported_fields);

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
		return rf_out_record(exported_fields, &(struct exported){fence, path}, error);
	rf_out_text("the history of fence '%s' is in %s; 'sqlite3 %s' reads it, and 'ringfence "
		    "history schema' explains its tables\n",
		    fence, path, path);
	return 0;
}

/* ---- history check ---- */

struct checked {
	const char *fence;
	bool is_fine;
	char complaint[256], remedy[256];
};

static const struct rf_field checked_fields[] = {
	RF_FIELD("fence", struct checked, fence, "its name"),
	RF_FIELD("ok", struct checked, is_fine, "no damage was found"),
	RF_FIELD("damage", struct checked, complaint, "the first damage found", .if_any = true,
		 .or_null = true),
	{},
};

RF_RECORD(history_check, checked_fields);

static int check_one(struct rf_reader *reader, const char *fence, const void *context,
		     json_t **json, struct rf_error *error)
{
	struct checked checked = {.fence = fence};
	int err = rf_reader_check(reader, checked.complaint, checked.remedy, error);

	(void)context;
	if (err)
		return err;
	checked.is_fine = !*checked.complaint;
	if (json)
		*json = rf_record_json(checked_fields, &checked);
	else if (checked.is_fine)
		rf_out("the history of fence '%s' is fine\n", fence);
	else
		return rf_error_failed(error, -EIO,
				       "the history of fence '%s' is damaged: %.200s; %s", fence,
				       checked.complaint, checked.remedy);
	return 0;
}

int rf_cmd_history_check(const struct rf_options *options, struct rf_words *words,
			 struct rf_error *error)
{
	int err = rf_words_end(words, error);

	return err ? err : rf_show_histories(options, check_one, true, NULL, error);
}

/* ---- history schema ---- */

int rf_cmd_history_schema(const struct rf_options *options, struct rf_words *words,
			  struct rf_error *error)
{
	int err = rf_words_end(words, error);
	char *schema = err ? NULL : rf_reader_schema();

	(void)options;
	if (!err && !schema)
		err = rf_error_failed(error, -ENOMEM, "%s", strerror(ENOMEM));
	if (!err)
		rf_out("%s", schema);
	free(schema);
	return err;
}
