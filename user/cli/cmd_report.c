// SPDX-License-Identifier: GPL-2.0
/* report: one attack, or a time, on one page */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "base/time.h"
#include "cli/out.h"
#include "cli/recorded.h"
#include "cli/view.h"

#define SOURCES 10
#define EVENTS 40

/* Of a source that was limited or banned: what its last event tells of it. */
struct own {
	char source[RF_PREFIX_TEXT_SIZE]; /* "": it is not told */
	char limit[RF_NAME_SIZE];
	uint64_t passed, dropped;
};

/* What a report is about, and what was found. */
struct subject {
	const char *fence;
	char id[RF_EVENT_ID_SIZE]; /* "": a time */
	char type[RF_WORD_SIZE];   /* of the first event with this id */
	struct rf_prefix source;
	bool has_source, is_over;
	bool is_of_source; /* whose address need not be told */
	struct own own;
	uint64_t from_ns, to_ns;
	struct rf_recorded recorded;
	struct rf_recorded_sources sources;
	double peak;
	uint64_t peak_ns, rules_since_ns;
	char *rules;
	json_t *events, *gaps; /* NULL: they are printed */
	int listed;
};

/* ---- which one ---- */

static bool begins_attack(const char *type)
{
	return !strcmp(type, "flood_started") || !strcmp(type, "source_limited") ||
	       !strcmp(type, "ban_started") || !strcmp(type, "newcomers_limited");
}

static bool ends_attack(const char *type)
{
	return !strcmp(type, "flood_ended") || !strcmp(type, "source_released") ||
	       !strcmp(type, "ban_ended") || !strcmp(type, "newcomers_released");
}

static bool is_of_source(const char *type)
{
	return !strncmp(type, "source_", 7) || !strncmp(type, "ban_", 4);
}

/* The last attack; a flood before what is a part of one. */
static int find_last(void *context, const struct rf_recorded_event *event)
{
	struct subject *subject = context;
	const bool is_flood = !strcmp(event->type, "flood_started");

	if (!*event->id || !begins_attack(event->type) ||
	    (!strcmp(subject->type, "flood_started") && !is_flood))
		return 0;
	snprintf(subject->id, sizeof(subject->id), "%s", event->id);
	snprintf(subject->type, sizeof(subject->type), "%s", event->type);
	return 0;
}

static void note_own(struct own *own, const struct rf_recorded_event *event)
{
	snprintf(own->source, sizeof(own->source), "%s", event->source);
	snprintf(own->limit, sizeof(own->limit), "%s", event->limit);
	rf_hide_controls(own->source, false);
	rf_hide_controls(own->limit, false);
	own->passed = event->passed;
	own->dropped = event->dropped;
}

static int note_event(void *context, const struct rf_recorded_event *event)
{
	struct subject *subject = context;
	const uint64_t first_ns = event->first_seen_ns ?: event->time_ns;
	struct rf_error unused;

	if (!subject->from_ns) {
		snprintf(subject->type, sizeof(subject->type), "%s", event->type);
		subject->from_ns = first_ns;
	}
	if (first_ns < subject->from_ns)
		subject->from_ns = first_ns;
	subject->to_ns = event->time_ns;
	subject->is_over |= ends_attack(event->type);
	subject->is_of_source = is_of_source(subject->type);
	if (subject->is_of_source)
		note_own(&subject->own, event);
	/* A flood is of many sources, whichever one its event names. */
	if (*event->source && !subject->has_source && subject->is_of_source)
		subject->has_source = !rf_parse_prefix(event->source, &subject->source, &unused);
	return 0;
}

static int find_event(struct rf_reader *reader, const char *fence, const char *id,
		      struct subject *subject, struct rf_error *error)
{
	char text[96];
	int err;

	if (id)
		snprintf(subject->id, sizeof(subject->id), "%s", id);
	else
		rf_reader_events(reader, 0, INT64_MAX, NULL, find_last, subject, error);
	if (!*subject->id)
		return rf_error_failed(
			error, -ENOENT,
			"no attack on fence '%s' is in its history; 'ringfence report "
			"since -1h' reports the last hour",
			fence);
	err = rf_reader_events(reader, 0, 0, subject->id, note_event, subject, error);
	if (err || subject->from_ns)
		return err;
	snprintf(text, sizeof(text), "%.64s", subject->id);
	rf_hide_controls(text, false);
	return rf_error_failed(
		error, -ENOENT,
		"'%s': no event of fence '%s' has this id; 'ringfence report' without "
		"one reports the last attack",
		text, fence);
}

static int find_subject(struct rf_reader *reader, const char *fence, const struct rf_report *asked,
			struct subject *subject, struct rf_error *error)
{
	subject->fence = fence;
	if (asked->since_ns) {
		subject->from_ns = asked->since_ns;
		subject->to_ns = asked->until_ns ?: rf_time_wall();
		subject->is_over = true;
		return 0;
	}
	if (find_event(reader, fence, asked->id, subject, error))
		return -ENOENT;
	if (!subject->is_over)
		subject->to_ns = rf_time_wall();
	return 0;
}

/* ---- what happened ---- */

static int read_subject(struct rf_reader *reader, struct subject *subject, struct rf_error *error)
{
	const uint64_t from_ns = subject->from_ns, to_ns = subject->to_ns;
	const struct rf_prefix *of = subject->has_source ? &subject->source : NULL;
	struct rf_extent extent;
	int err = rf_reader_extent(reader, &extent, error);

	if (!err && (!extent.first_ns || to_ns < extent.first_ns || from_ns > extent.last_ns))
		err = rf_error_failed(error, -ENODATA,
				      "nothing was recorded of fence '%s' in that time; 'ringfence "
				      "history list' shows what there is",
				      subject->fence);
	if (!err)
		err = rf_reader_between(reader, from_ns, to_ns, &subject->recorded, error);
	if (!err)
		err = rf_reader_sources_between(reader, from_ns, to_ns, of, SOURCES,
						&subject->sources, error);
	if (err)
		return err;
	subject->peak = rf_reader_peak(reader, from_ns, to_ns, &subject->peak_ns);
	subject->rules = rf_reader_rules(reader, from_ns, &subject->rules_since_ns);
	return 0;
}

/* ---- text ---- */

static void print_when(const struct subject *subject)
{
	char from[RF_TIME_TEXT_SIZE], to[RF_TIME_TEXT_SIZE], length[RF_DURATION_TEXT_SIZE];

	rf_format_local(subject->from_ns, from);
	rf_format_local(subject->to_ns, to);
	rf_format_left(subject->to_ns - subject->from_ns, length);
	if (*subject->id)
		rf_out("fence %s, %s, id %s\n", subject->fence, subject->type, subject->id);
	else
		rf_out("fence %s\n", subject->fence);
	rf_out("from %s to %s, %s%s\n", from, to, length, subject->is_over ? "" : " so far");
}

static void print_peak(const struct subject *subject)
{
	char rate[RF_SHORT_TEXT_SIZE], time[RF_TIME_TEXT_SIZE];

	if (subject->peak <= 0)
		return;
	rf_format_short(subject->peak, rate);
	rf_format_local(subject->peak_ns, time);
	rf_out("%sat most %s packets dropped in a second, at %s\n",
	       subject->is_of_source ? "the whole fence: " : "", rate, time);
}

/* What its events tell is exact; what the history has of it began and ended some seconds off. */
static void print_own(const struct subject *subject)
{
	const struct own *own = &subject->own;

	if (!subject->is_of_source)
		return;
	rf_out("source %s, limit %s: %" PRIu64 " packets passed, %" PRIu64 " were dropped%s\n",
	       *own->source ? own->source : "(not told)", *own->limit ? own->limit : "-",
	       own->passed, own->dropped, subject->is_over ? "" : " when it began");
}

static int print_gap(void *context, const struct rf_recorded_gap *gap)
{
	char from[RF_TIME_TEXT_SIZE], to[RF_TIME_TEXT_SIZE];
	struct subject *subject = context;

	rf_format_local(gap->start_ns, from);
	rf_format_local(gap->end_ns, to);
	if (!subject->listed++)
		rf_out("\nnot recorded\n");
	rf_out_text("  %s to %s: %s; meanwhile %" PRIu64 " packets passed, %" PRIu64
		    " were dropped\n",
		    from, to, rf_gap_text(gap->why), gap->passed, gap->dropped);
	return 0;
}

static int print_event(void *context, const struct rf_recorded_event *event)
{
	struct subject *subject = context;

	if (!subject->listed)
		rf_out("\nevents\n");
	if (subject->listed++ < EVENTS)
		rf_recorded_event_print(event);
	return 0;
}

static void print_sources(const struct subject *subject)
{
	const struct rf_recorded_sources *sources = &subject->sources;

	if (!sources->count)
		return;
	rf_out("\n%s\n", subject->is_of_source ? "the source, as it was recorded every 10 s"
					       : "sources with the most drops, of those recorded");
	rf_recorded_sources_print(sources, sources->count, 0);
}

static void print_counts(const struct subject *subject)
{
	rf_out("\n%-44s %15s %18s\n", subject->is_of_source ? "the whole fence, in that time" : "",
	       "packets", "bytes");
	rf_recorded_print(&subject->recorded, 0);
}

static void print_rules(struct subject *subject)
{
	char since[RF_TIME_TEXT_SIZE];

	if (!subject->rules)
		return;
	rf_format_local(subject->rules_since_ns, since);
	rf_hide_controls(subject->rules, true);
	rf_out("\nrules in force at the beginning, since %s\n%s", since, subject->rules);
}

static int print_report(struct rf_reader *reader, struct subject *subject, struct rf_error *error)
{
	const char *id = *subject->id ? subject->id : NULL;
	int err;

	print_when(subject);
	print_own(subject);
	print_peak(subject);
	if (subject->is_of_source)
		print_sources(subject);
	print_counts(subject);
	if (!subject->is_of_source)
		print_sources(subject);
	err = rf_reader_events(reader, subject->from_ns, subject->to_ns, id, print_event, subject,
			       error);
	if (subject->listed > EVENTS)
		rf_out("  … and %d more\n", subject->listed - EVENTS);
	subject->listed = 0;
	if (!err)
		err = rf_reader_gaps(reader, subject->from_ns, subject->to_ns, print_gap, subject,
				     error);
	print_rules(subject);
	return err;
}

/* ---- JSON ---- */

static int list_event(void *context, const struct rf_recorded_event *event)
{
	struct subject *subject = context;

	if (subject->listed++ < EVENTS)
		json_array_append_new(subject->events,
				      rf_recorded_event_json(subject->fence, event));
	return 0;
}

static int list_gap(void *context, const struct rf_recorded_gap *gap)
{
	struct subject *subject = context;

	json_array_append_new(
		subject->gaps,
		json_pack("{s:o, s:o, s:o, s:I, s:I}", "from", rf_json_time(gap->start_ns), "until",
			  rf_json_time(gap->end_ns), "why", rf_json_text(gap->why), "passed",
			  (json_int_t)gap->passed, "dropped", (json_int_t)gap->dropped));
	return 0;
}

static json_t *own_json(const struct subject *subject)
{
	const struct own *own = &subject->own;

	if (!subject->is_of_source)
		return json_null();
	return json_pack("{s:o, s:o, s:I, s:I}", "source",
			 *own->source ? rf_json_text(own->source) : json_null(), "limit",
			 *own->limit ? rf_json_text(own->limit) : json_null(), "passed",
			 (json_int_t)own->passed, "dropped", (json_int_t)own->dropped);
}

static int make_json(struct rf_reader *reader, struct subject *subject, json_t **json,
		     struct rf_error *error)
{
	const struct rf_recorded_sources *sources = &subject->sources;
	const char *id = *subject->id ? subject->id : NULL;
	int err;

	subject->events = json_array();
	subject->gaps = json_array();
	err = rf_reader_events(reader, subject->from_ns, subject->to_ns, id, list_event, subject,
			       error);
	if (!err)
		err = rf_reader_gaps(reader, subject->from_ns, subject->to_ns, list_gap, subject,
				     error);
	*json = rf_view_merged(
		json_pack("{s:o, s:o, s:o, s:o, s:b, s:{s:f, s:o}, s:o, s:o, s:o, s:o}", "fence",
			  rf_json_text(subject->fence), "id", id ? rf_json_text(id) : json_null(),
			  "type", *subject->type ? rf_json_text(subject->type) : json_null(), "own",
			  own_json(subject), "over", subject->is_over, "peak", "dropped_per_s",
			  subject->peak, "time", rf_json_time(subject->peak_ns), "sources",
			  rf_recorded_sources_json(sources, sources->count), "events",
			  subject->events, "gaps", subject->gaps, "rules",
			  subject->rules ? rf_json_text(subject->rules) : json_null()),
		rf_recorded_json(&subject->recorded));
	return err;
}

static int report_one(struct rf_reader *reader, const char *fence, const void *context,
		      json_t **json, struct rf_error *error)
{
	struct subject subject = {};
	int err = find_subject(reader, fence, context, &subject, error);

	if (!err)
		err = read_subject(reader, &subject, error);
	if (!err)
		err = json ? make_json(reader, &subject, json, error)
			   : print_report(reader, &subject, error);
	rf_recorded_free(&subject.recorded);
	rf_recorded_sources_free(&subject.sources);
	free(subject.rules);
	return err;
}

int rf_cmd_report(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	struct rf_report asked;
	struct rf_reader *reader;
	char fence[RF_NAME_SIZE];
	json_t *json = NULL;
	int err = rf_parse_report(words, &asked, error);

	if (err)
		return err;
	err = rf_recorded_open(options, &reader, fence, error);
	if (!err)
		err = report_one(reader, fence, &asked, options->json ? &json : NULL, error);
	if (!err && options->json)
		err = rf_out_json(json, false, error);
	rf_reader_close(reader);
	return err;
}
