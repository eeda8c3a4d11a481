// SPDX-License-Identifier: GPL-2.0
/* stats at TIME, top at TIME, report: what histories have of a time, or of an event */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/time.h"
#include "cli/out.h"
#include "cli/recorded.h"
#include "cli/view.h"

/* ---- counts ---- */

enum outcome {
	PASSED,
	DROPPED,
	WOULD_DROP,
	FORFEITED,
	TRUNCATED,
	OUTCOMES,
};

static const struct {
	const char *word, *text;
} outcomes[OUTCOMES] = {
	[PASSED] = {"passed", "passed"},
	[DROPPED] = {"dropped", "dropped"},
	[WOULD_DROP] = {"would_drop", "would drop, passed"},
	[FORFEITED] = {"forfeited", "charged, dropped by another limit"},
	[TRUNCATED] = {"truncated", "of the dropped: answered, truncated"},
};

/* The counts of a limit: of each outcome a row of the history. */
struct limit_counts {
	const char *name;
	struct rf_count of[OUTCOMES];
};

/* An interval of the history, its counts by reason and by limit. */
struct counts {
	struct rf_recorded recorded;
	uint64_t would_drop;
	struct rf_recorded_count *reason; /* passed reasons before dropped ones */
	size_t reasons;
	struct limit_counts *limit;
	size_t limits;
};

static void free_counts(struct counts *counts)
{
	rf_recorded_free(&counts->recorded);
	free(counts->reason);
	free(counts->limit);
}

static void take_reasons(struct counts *counts, const char *kind)
{
	for (int i = 0; i < counts->recorded.counts; i++)
		if (!strcmp(counts->recorded.count[i].kind, kind))
			counts->reason[counts->reasons++] = counts->recorded.count[i];
}

/* The counts of a limit, which are added at its first row. */
static struct limit_counts *limit_of(struct counts *counts, const char *name)
{
	for (size_t i = 0; i < counts->limits; i++)
		if (!strcmp(counts->limit[i].name, name))
			return &counts->limit[i];
	counts->limit[counts->limits].name = name;
	return &counts->limit[counts->limits++];
}

static void take_limits(struct counts *counts)
{
	for (int i = 0; i < counts->recorded.counts; i++) {
		const struct rf_recorded_count *row = &counts->recorded.count[i];

		for (int k = 0; k < OUTCOMES && !strcmp(row->kind, "limit"); k++)
			if (!strcmp(outcomes[k].word, row->outcome))
				limit_of(counts, row->name)->of[k] =
					(struct rf_count){row->packets, row->bytes};
	}
}

/* Sorts the counts into `recorded`. */
static int sort_counts(struct counts *counts, struct rf_error *error)
{
	const size_t most = counts->recorded.counts + 1;

	counts->reason = calloc(most, sizeof(*counts->reason));
	counts->limit = calloc(most, sizeof(*counts->limit));
	if (!counts->reason || !counts->limit)
		return rf_error_failed(error, -ENOMEM, "%s", strerror(ENOMEM));
	counts->would_drop = rf_recorded_packets(&counts->recorded, "passed", "shadow_over", "");
	take_reasons(counts, "passed");
	take_reasons(counts, "dropped");
	take_limits(counts);
	return 0;
}

static const struct rf_field packets_fields[] = {
	RF_FIELD("passed", struct counts, recorded.passed.packets, "passed packets"),
	RF_FIELD("dropped", struct counts, recorded.dropped.packets, "dropped packets"),
	RF_FIELD("would_drop", struct counts, would_drop, "passed, over a shadow limit"),
	{},
};

static const struct rf_field bytes_fields[] = {
	RF_FIELD("passed", struct counts, recorded.passed.bytes, "bytes of passed packets"),
	RF_FIELD("dropped", struct counts, recorded.dropped.bytes, "bytes of dropped packets"),
	{},
};

#define OUTCOME_FIELDS(unit, passed, dropped, would_drop, forfeited, truncated)                    \
	{                                                                                          \
		RF_FIELD("passed", struct limit_counts, of[PASSED].unit, passed),                  \
			RF_FIELD("dropped", struct limit_counts, of[DROPPED].unit, dropped),       \
			RF_FIELD("would_drop", struct limit_counts, of[WOULD_DROP].unit,           \
				 would_drop),                                                      \
			RF_FIELD("forfeited", struct limit_counts, of[FORFEITED].unit, forfeited), \
			RF_FIELD("truncated", struct limit_counts, of[TRUNCATED].unit, truncated), \
			{},                                                                        \
	}

static const struct rf_field limit_packets_fields[] =
	OUTCOME_FIELDS(packets, "packets that it let pass", "packets that it dropped",
		       "over it, as a shadow or in a pause", "charged, and dropped by another",
		       "dropped, and answered with TC=1");
static const struct rf_field limit_bytes_fields[] =
	OUTCOME_FIELDS(bytes, "bytes of these", "bytes of these", "bytes of these",
		       "bytes of these", "bytes of these");

static const struct rf_field limit_fields[] = {
	RF_FIELD("name", struct limit_counts, name, "of the limit"),
	RF_FIELDS_ALSO(limit_packets_fields),
	RF_FIELD_GROUP("bytes", limit_bytes_fields, "the same in bytes"),
	{},
};

static const void *reason_at(const void *of, size_t i)
{
	const struct counts *counts = of;

	return i < counts->reasons ? &counts->reason[i] : NULL;
}

static const char *reason_name(const void *item, size_t i)
{
	(void)i;
	return ((const struct rf_recorded_count *)item)->name;
}

static const struct rf_field counts_fields[] = {
	RF_FIELD_OF_TIME("from", struct counts, recorded.from_ns, "start of the interval, UTC"),
	RF_FIELD_OF_TIME("until", struct counts, recorded.to_ns, "end of the interval, UTC"),
	RF_FIELD("seconds", struct counts, recorded.seconds, "that were recorded of it"),
	RF_FIELD_GROUP("packets", packets_fields, "all packets of the interval"),
	RF_FIELD_GROUP("bytes", bytes_fields, "the same in bytes"),
	RF_FIELD_BY_NAME("reasons", reason_at, reason_name, RF_FIELD_OBJECT,
			 rf_recorded_count_fields, "by reason, without zeros"),
	RF_FIELD_OBJECTS("limits", struct counts, limit, limits, limit_fields, "by limit"),
	{},
};

/* Packets and bytes, or packets and bits per second. */
static void print_count(const char *label, struct rf_count count, double seconds)
{
	if (seconds > 0)
		rf_out("%-44s %15.0f %18.0f\n", label, count.packets / seconds,
		       count.bytes * 8 / seconds);
	else
		rf_out("%-44s %15" PRIu64 " %18" PRIu64 "\n", label, (uint64_t)count.packets,
		       (uint64_t)count.bytes);
}

/* A history can have a reason that this build does not know. */
static const char *reason_text(const char *name)
{
	for (int reason = 0; reason < RF_REASON_COUNT; reason++)
		if (!strcmp(rf_reason_name(reason), name))
			return rf_reason_text(reason);
	return name;
}

static void print_reason(const struct rf_recorded_count *count, double seconds)
{
	char label[128];

	snprintf(label, sizeof(label), "  %s: %s", count->kind, reason_text(count->name));
	print_count(label, (struct rf_count){count->packets, count->bytes}, seconds);
}

static void print_limit(const struct limit_counts *limit, double seconds)
{
	rf_out("limit %s\n", limit->name);
	for (int i = 0; i < OUTCOMES; i++) {
		char label[64];

		snprintf(label, sizeof(label), "  %s", outcomes[i].text);
		if (limit->of[i].packets || limit->of[i].bytes)
			print_count(label, limit->of[i], seconds);
	}
}

/* The reasons and limits of an interval; per second, if `seconds` is not 0. */
static void print_counts(const struct counts *counts, double seconds)
{
	print_count("passed", counts->recorded.passed, seconds);
	print_count("dropped", counts->recorded.dropped, seconds);
	for (size_t i = 0; i < counts->reasons; i++)
		print_reason(&counts->reason[i], seconds);
	for (size_t i = 0; i < counts->limits; i++)
		print_limit(&counts->limit[i], seconds);
}

/* ---- sources ---- */

struct shown_sources {
	const struct rf_recorded_sources *sources;
	double seconds;
};

static void fill_source(const void *context, size_t i, struct rf_cells *cells)
{
	const struct shown_sources *listing = context;
	const struct rf_recorded_source *row = &listing->sources->row[i];
	const uint64_t number[] = {row->passed, row->dropped, row->would_drop};

	rf_format_prefix(&row->source, cells->text[0]);
	snprintf(cells->text[1], RF_CELL_SIZE, "%s", row->limit);
	for (int k = 0; k < 3; k++) {
		if (listing->seconds > 0)
			rf_format_short(number[k] / listing->seconds, cells->text[2 + k]);
		else
			snprintf(cells->text[2 + k], RF_CELL_SIZE, "%" PRIu64, number[k]);
	}
	snprintf(cells->text[5], RF_CELL_SIZE, "%.*f%%%s", row->used < 100, row->used / 10.0,
		 row->is_banned ? " banned" : "");
}

void rf_recorded_sources_print(const struct rf_recorded_sources *sources, size_t count,
			       double seconds)
{
	static const struct rf_column totals[] = {
		{"source", false, 0},  {"limit", false, 0},	 {"passed", true, 10},
		{"dropped", true, 10}, {"would drop", true, 10}, {"used", true, 6},
	};
	static const struct rf_column rates[] = {
		{"source", false, 0},	 {"limit", false, 0},	     {"passed/s", true, 9},
		{"dropped/s", true, 10}, {"would drop/s", true, 13}, {"used", true, 6},
	};
	const struct shown_sources listing = {sources, seconds};
	const struct rf_table table = {
		seconds > 0 ? rates : totals, 6, 2, count, &listing, fill_source};

	rf_table_print(&table);
}

void rf_recorded_event_print(const struct rf_recorded_event *event)
{
	char time[RF_TIME_TEXT_SIZE], text[RF_EVENT_TEXT_SIZE];

	rf_format_local(event->time_ns, time);
	rf_recorded_event_text(event, "", false, text);
	rf_out_text("  %s  %s\n", time, text);
}

/* ---- at TIME: stats ---- */

struct stats_at {
	const char *fence;
	struct counts counts;
};

static const struct rf_field stats_at_fields[] = {
	RF_FIELD("fence", struct stats_at, fence, "its name"),
	RF_FIELDS_OF(struct stats_at, counts, counts_fields),
	{},
};

RF_RECORD(stats_at, stats_at_fields);

static void print_stats(const struct stats_at *stats)
{
	const struct rf_recorded *recorded = &stats->counts.recorded;
	char time[RF_TIME_TEXT_SIZE], label[96];

	rf_format_local(recorded->from_ns, time);
	snprintf(label, sizeof(label), "fence %s, %s, %.3g s", stats->fence, time,
		 recorded->seconds);
	rf_out("%-44s %15s %18s\n", label, "packets/s", "bit/s");
	print_counts(&stats->counts, recorded->seconds);
}

static int show_stats(struct rf_reader *reader, const char *fence, const void *context,
		      json_t **json, struct rf_error *error)
{
	const uint64_t *at_ns = context;
	struct stats_at stats = {.fence = fence};
	int err = rf_reader_at(reader, *at_ns, &stats.counts.recorded, error);

	if (!err)
		err = sort_counts(&stats.counts, error);
	if (!err && json)
		*json = rf_record_json(stats_at_fields, &stats);
	else if (!err)
		print_stats(&stats);
	free_counts(&stats.counts);
	return err;
}

int rf_stats_at(const struct rf_options *options, uint64_t at_ns, struct rf_error *error)
{
	return rf_show_histories(options, show_stats, true, &at_ns, error);
}

/* ---- at TIME: top ---- */

struct top_at {
	const char *fence;
	struct rf_recorded_sources sources;
	size_t shown;
	double seconds;
};

static const struct rf_field top_at_fields[] = {
	RF_FIELD("fence", struct top_at, fence, "its name"),
	RF_FIELD_OF_TIME("from", struct top_at, sources.from_ns, "start of the interval, UTC"),
	RF_FIELD_OF_TIME("until", struct top_at, sources.to_ns, "end of the interval, UTC"),
	RF_FIELD("seconds", struct top_at, seconds, "its length"),
	RF_FIELD_OBJECTS("sources", struct top_at, sources.row, shown, rf_recorded_source_fields,
			 "those recorded"),
	{},
};

RF_RECORD(top_at, top_at_fields);

double rf_recorded_sources_seconds(const struct rf_recorded_sources *sources)
{
	return (sources->to_ns - sources->from_ns) / 1e9;
}

static void print_top(const struct top_at *top)
{
	char time[RF_TIME_TEXT_SIZE];

	rf_format_local(top->sources.from_ns, time);
	rf_out("from %s, for %.3g s\n", time, top->seconds);
	if (top->shown)
		rf_recorded_sources_print(&top->sources, top->shown, top->seconds);
	else
		rf_out("no source of these sent packets then\n");
	if (top->shown < top->sources.count)
		rf_out("… and %zu more; 'top N' shows N\n", top->sources.count - top->shown);
}

static int show_top(struct rf_reader *reader, const char *fence, const void *context, json_t **json,
		    struct rf_error *error)
{
	const struct rf_top *asked_top = context;
	struct top_at top = {.fence = fence};
	const struct rf_asked asked = {
		.time_ns = asked_top->at_ns,
		.limit = asked_top->limit,
		.within = asked_top->within.version ? &asked_top->within : NULL,
		.order = asked_top->order + 1,
	};
	const int err = rf_reader_sources_at(reader, &asked, &top.sources, error);

	top.shown = top.sources.count < asked_top->rows ? top.sources.count : asked_top->rows;
	top.seconds = rf_recorded_sources_seconds(&top.sources);
	if (!err && json)
		*json = rf_record_json(top_at_fields, &top);
	else if (!err)
		print_top(&top);
	rf_recorded_sources_free(&top.sources);
	return err;
}

int rf_top_at(const struct rf_options *options, const struct rf_top *top, struct rf_error *error)
{
	return rf_show_histories(options, show_top, false, top, error);
}

#define SOURCES 10
#define EVENTS 40

/* The subject of a report, and its results. */
struct subject {
	const char *fence;
	char id[RF_EVENT_ID_SIZE];	  /* "": a time */
	struct rf_recorded_attack attack; /* with this id; of a time only its range */
	struct rf_prefix source;
	bool has_source;
	struct counts counts;
	struct rf_recorded_sources sources;
	struct rf_recorded_most peak;
	uint64_t rules_since_ns;
	char *rules;
	json_t *events, *gaps;
};

static bool is_of_source(const void *of)
{
	return ((const struct subject *)of)->attack.is_of_source;
}

static const struct rf_field own_fields[] = {
	RF_FIELD("source", struct rf_recorded_attack, source,
		 "address or network; null: not reported", .if_any = true, .or_null = true),
	RF_FIELD("limit", struct rf_recorded_attack, limit, "that it was over", .if_any = true,
		 .or_null = true),
	RF_FIELD("passed", struct rf_recorded_attack, passed,
		 "packets, as its last event has them"),
	RF_FIELD("dropped", struct rf_recorded_attack, dropped,
		 "packets, as its last event has them"),
	{},
};

static const struct rf_field report_fields[] = {
	RF_FIELD("fence", struct subject, fence, "its name"),
	RF_FIELD("id", struct subject, id, "of its events", .if_any = true, .or_null = true),
	RF_FIELD("type", struct subject, attack.type, "of its first event", .if_any = true,
		 .or_null = true),
	RF_FIELD_IN("own", struct subject, attack, own_fields, "of a source: its own packets",
		    .has = is_of_source, .or_null = true),
	RF_FIELD("ended", struct subject, attack.is_over, "it has ended"),
	RF_FIELD_IN("peak", struct subject, peak, rf_recorded_most_fields,
		    "of the fence: the second with the most drops"),
	RF_FIELD_OBJECTS("sources", struct subject, sources.row, sources.count,
			 rf_recorded_source_fields, "those recorded"),
	RF_FIELD_READ("events", struct subject, events, RF_FIELD_LIST, rf_recorded_event_fields,
		      "in their order"),
	RF_FIELD_READ("gaps", struct subject, gaps, RF_FIELD_LIST, rf_recorded_gap_fields,
		      "times that were not recorded"),
	RF_FIELD("rules", struct subject, rules, "format and commands, at its start",
		 .or_null = true),
	RF_FIELDS_OF(struct subject, counts, counts_fields),
	{},
};

RF_RECORD(report, report_fields);

/* ---- report: which one ---- */

/* The last attack; a flood takes precedence over an event that is part of it. */
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

/* ---- report: what happened ---- */

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
				      "the history of fence '%s' has no records of that time; "
				      "'ringfence history list' shows its range",
				      subject->fence);
	if (!err)
		err = rf_reader_between(reader, from_ns, to_ns, &subject->counts.recorded, error);
	if (!err)
		err = sort_counts(&subject->counts, error);
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

/* ---- report: text ---- */

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

/*
 * The values of its events are exact; in the history it started and stopped some seconds earlier or
 * later.
 */
static void print_own(const struct subject *subject)
{
	const struct rf_recorded_attack *own = &subject->attack;

	if (!subject->attack.is_of_source)
		return;
	rf_out("source %s, limit %s: %" PRIu64 " packets passed, %" PRIu64 " were dropped%s\n",
	       *own->source ? own->source : "(hidden)", *own->limit ? own->limit : "-", own->passed,
	       own->dropped, subject->attack.is_over ? "" : " at its start");
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
		rf_out_text("  %s to %s: %s; during that time %" PRIu64 " packets passed, %" PRIu64
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

static void print_whole_fence(const struct subject *subject)
{
	rf_out("\n%-44s %15s %18s\n",
	       subject->attack.is_of_source ? "the whole fence, in that time" : "", "packets",
	       "bytes");
	print_counts(&subject->counts, 0);
}

static void print_rules(struct subject *subject)
{
	char since[RF_TIME_TEXT_SIZE];

	if (!subject->rules)
		return;
	rf_format_local(subject->rules_since_ns, since);
	rf_hide_controls(subject->rules, true);
	rf_out("\nrules active at the start, since %s\n%s", since, subject->rules);
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
	print_whole_fence(subject);
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

static int make_json(struct rf_reader *reader, struct subject *subject, json_t **json,
		     struct rf_error *error)
{
	const struct rf_asked range = range_of(subject);
	struct rf_asked events = range;
	int err;

	events.most = EVENTS;
	err = rf_recorded_list(reader, events_of(subject), &events, rf_recorded_event_fields,
			       &subject->events, error);
	if (!err)
		err = rf_recorded_list(reader, RF_ASK_GAPS, &range, rf_recorded_gap_fields,
				       &subject->gaps, error);
	*json = rf_record_json(report_fields, subject);
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
	json_decref(subject.events);
	json_decref(subject.gaps);
	free_counts(&subject.counts);
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
	int err = rf_parse_arguments(RF_CMD_REPORT, words, &asked, error);

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
