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

/* What a report is about, and what was found. */
struct subject {
	const char *fence;
	char id[RF_EVENT_ID_SIZE];	  /* "": a time */
	struct rf_recorded_attack attack; /* with this id; of a time only its range */
	struct rf_prefix source;
	bool has_source;
	struct rf_recorded recorded;
	struct rf_recorded_sources sources;
	struct rf_recorded_most peak;
	uint64_t rules_since_ns;
	char *rules;
};

/* ---- which one ---- */

/* The last attack; a flood before what is a part of one. */
static void find_last(struct rf_reader *reader, struct subject *subject)
{
	struct rf_recorded_event event;
	struct rf_error unused;
	struct rf_cursor cursor;

	rf_ask(&cursor, reader, RF_ASK_LAST_ATTACK, NULL);
	if (rf_cursor_next(&cursor, &event))
		snprintf(subject->id, sizeof(subject->id), "%s", event.id);
	rf_cursor_end(&cursor, &unused);
}

static int find_event(struct rf_reader *reader, const char *fence, const char *id,
		      struct subject *subject, struct rf_error *error)
{
	const struct rf_asked asked = {.id = subject->id};
	struct rf_recorded_attack *attack = &subject->attack;
	struct rf_error unused;
	char text[96];
	int found;

	if (id)
		snprintf(subject->id, sizeof(subject->id), "%s", id);
	else
		find_last(reader, subject);
	if (!*subject->id)
		return rf_error_failed(
			error, -ENOENT,
			"no attack on fence '%s' is in its history; 'ringfence report "
			"since -1h' reports the last hour",
			fence);
	found = rf_ask_one(reader, RF_ASK_ATTACK, &asked, attack, error);
	if (found) {
		rf_hide_controls(attack->source, false);
		rf_hide_controls(attack->limit, false);
		subject->has_source =
			*attack->of && !rf_parse_prefix(attack->of, &subject->source, &unused);
		return found < 0 ? found : 0;
	}
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
	struct rf_recorded_attack *attack = &subject->attack;

	subject->fence = fence;
	if (asked->since_ns) {
		attack->from_ns = asked->since_ns;
		attack->to_ns = asked->until_ns ?: rf_time_wall();
		attack->is_over = true;
		return 0;
	}
	if (find_event(reader, fence, asked->id, subject, error))
		return -ENOENT;
	if (!attack->is_over)
		attack->to_ns = rf_time_wall();
	return 0;
}

/* ---- what happened ---- */

/* Its range, and the events in it: all of a time, those with the id of an attack. */
static struct rf_asked range_of(const struct subject *subject)
{
	return (struct rf_asked){
		.from_ns = subject->attack.from_ns,
		.to_ns = subject->attack.to_ns,
		.id = *subject->id ? subject->id : NULL,
	};
}

static enum rf_question events_of(const struct subject *subject)
{
	return *subject->id ? RF_ASK_EVENTS_OF_ID : RF_ASK_EVENTS;
}

static int read_subject(struct rf_reader *reader, struct subject *subject, struct rf_error *error)
{
	const struct rf_asked range = range_of(subject);
	const uint64_t from_ns = range.from_ns, to_ns = range.to_ns;
	const struct rf_prefix *of = subject->has_source ? &subject->source : NULL;
	struct rf_extent extent;
	int err = rf_ask_one(reader, RF_ASK_EXTENT, NULL, &extent, error);

	err = err < 0 ? err : 0;
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
	if (!err)
		err = rf_ask_one(reader, RF_ASK_PEAK, &range, &subject->peak, error);
	if (err < 0)
		return err;
	subject->rules = rf_reader_rules(reader, from_ns, &subject->rules_since_ns);
	return 0;
}

/* ---- text ---- */

static void print_when(const struct subject *subject)
{
	char from[RF_TIME_TEXT_SIZE], to[RF_TIME_TEXT_SIZE], length[RF_DURATION_TEXT_SIZE];

	rf_format_local(subject->attack.from_ns, from);
	rf_format_local(subject->attack.to_ns, to);
	rf_format_left(subject->attack.to_ns - subject->attack.from_ns, length);
	if (*subject->id)
		rf_out("fence %s, %s, id %s\n", subject->fence, subject->attack.type, subject->id);
	else
		rf_out("fence %s\n", subject->fence);
	rf_out("from %s to %s, %s%s\n", from, to, length, subject->attack.is_over ? "" : " so far");
}

static void print_peak(const struct subject *subject)
{
	char rate[RF_SHORT_TEXT_SIZE], time[RF_TIME_TEXT_SIZE];

	if (subject->peak.rate <= 0)
		return;
	rf_format_short(subject->peak.rate, rate);
	rf_format_local(subject->peak.time_ns, time);
	rf_out("%sat most %s packets dropped in a second, at %s\n",
	       subject->attack.is_of_source ? "the whole fence: " : "", rate, time);
}

/* What its events tell is exact; what the history has of it began and ended some seconds off. */
static void print_own(const struct subject *subject)
{
	const struct rf_recorded_attack *own = &subject->attack;

	if (!subject->attack.is_of_source)
		return;
	rf_out("source %s, limit %s: %" PRIu64 " packets passed, %" PRIu64 " were dropped%s\n",
	       *own->source ? own->source : "(not told)", *own->limit ? own->limit : "-",
	       own->passed, own->dropped, subject->attack.is_over ? "" : " when it began");
}

static int print_gaps(struct rf_reader *reader, const struct subject *subject,
		      struct rf_error *error)
{
	const struct rf_asked range = range_of(subject);
	char from[RF_TIME_TEXT_SIZE], to[RF_TIME_TEXT_SIZE];
	struct rf_recorded_gap gap;
	struct rf_cursor cursor;
	int listed = 0;

	rf_ask(&cursor, reader, RF_ASK_GAPS, &range);
	while (rf_cursor_next(&cursor, &gap)) {
		rf_format_local(gap.start_ns, from);
		rf_format_local(gap.end_ns, to);
		if (!listed++)
			rf_out("\nnot recorded\n");
		rf_out_text("  %s to %s: %s; meanwhile %" PRIu64 " packets passed, %" PRIu64
			    " were dropped\n",
			    from, to, rf_gap_text(gap.why), gap.passed, gap.dropped);
	}
	return rf_cursor_end(&cursor, error);
}

static int print_event(void *context, const struct rf_recorded_event *event)
{
	int *listed = context;

	if (!*listed)
		rf_out("\nevents\n");
	if ((*listed)++ < EVENTS)
		rf_recorded_event_print(event);
	return 0;
}

static void print_sources(const struct subject *subject)
{
	const struct rf_recorded_sources *sources = &subject->sources;

	if (!sources->count)
		return;
	rf_out("\n%s\n", subject->attack.is_of_source
				 ? "the source, as it was recorded every 10 s"
				 : "sources with the most drops, of those recorded");
	rf_recorded_sources_print(sources, sources->count, 0);
}

static void print_counts(const struct subject *subject)
{
	rf_out("\n%-44s %15s %18s\n",
	       subject->attack.is_of_source ? "the whole fence, in that time" : "", "packets",
	       "bytes");
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
	const struct rf_asked range = range_of(subject);
	int err, listed = 0;

	print_when(subject);
	print_own(subject);
	print_peak(subject);
	if (subject->attack.is_of_source)
		print_sources(subject);
	print_counts(subject);
	if (!subject->attack.is_of_source)
		print_sources(subject);
	err = rf_reader_events(reader, events_of(subject), &range, print_event, &listed, error);
	if (listed > EVENTS)
		rf_out("  … and %d more\n", listed - EVENTS);
	if (!err)
		err = print_gaps(reader, subject, error);
	print_rules(subject);
	return err;
}

/* ---- JSON ---- */

static json_t *own_json(const struct subject *subject)
{
	const struct rf_recorded_attack *own = &subject->attack;

	if (!subject->attack.is_of_source)
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
	const char *id = *subject->id ? subject->id : NULL, *type = subject->attack.type;
	const struct rf_asked range = range_of(subject);
	struct rf_asked events = range;
	int err;

	events.most = EVENTS;
	*json = json_pack("{s:o, s:o, s:o, s:o, s:b, s:o, s:o}", "fence",
			  rf_json_text(subject->fence), "id", id ? rf_json_text(id) : json_null(),
			  "type", *type ? rf_json_text(type) : json_null(), "own",
			  own_json(subject), "over", subject->attack.is_over, "peak",
			  rf_row_json(RF_ASK_PEAK, &subject->peak), "sources",
			  rf_recorded_sources_json(sources, sources->count));
	err = rf_recorded_list(*json, "events", reader, events_of(subject), &events, error);
	if (!err)
		err = rf_recorded_list(*json, "gaps", reader, RF_ASK_GAPS, &range, error);
	json_object_set_new(*json, "rules",
			    subject->rules ? rf_json_text(subject->rules) : json_null());
	*json = rf_view_merged(*json, rf_recorded_json(&subject->recorded));
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
