// SPDX-License-Identifier: GPL-2.0
/* limit try: what another limit would have dropped */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "cli/limit_edit.h"
#include "cli/out.h"
#include "cli/recorded.h"
#include "rules/policy.h"
#include "watch/suggest.h"

#define HOUR_NS (3600 * RF_NS_PER_S)
#define INTERVAL_NS (10 * RF_NS_PER_S) /* of the history's sources */

/* The request, and its result. */
struct trying {
	const char *fence;
	struct rf_ruleset rules;
	struct rf_definition recorded, tried;
	struct rf_try_run run;
	struct rf_try_result result;
	uint64_t rules_since_ns;
	uint64_t dropped; /* by the recorded limit itself */
	char *command;	  /* that adds the limit as a shadow */
	struct rf_error *error;
};

static void free_trying(struct trying *trying)
{
	rf_try_run_free(&trying->run);
	rf_definition_free(&trying->recorded);
	rf_definition_free(&trying->tried);
	rf_ruleset_free(&trying->rules);
	free(trying->command);
}

/* ---- which results can be derived ---- */

static bool same_ports(const uint64_t *a, const uint64_t *b)
{
	return (!a && !b) || (a && b && !memcmp(a, b, RF_PORTS / 8));
}

static bool same_prefixes(const struct rf_prefixes *a, const struct rf_prefixes *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (rf_prefix_compare(&a->prefix[i], &b->prefix[i]))
			return false;
	return true;
}

/* Do both count the same packets, wherever they come from? */
static bool same_packets(const struct rf_definition *a, const struct rf_definition *b)
{
	return a->limit.match == b->limit.match && a->limit.protocol == b->limit.protocol &&
	       a->limit.length_min == b->limit.length_min &&
	       a->limit.length_max == b->limit.length_max &&
	       a->limit.tcp_flags == b->limit.tcp_flags && a->limit.tcp_mask == b->limit.tcp_mask &&
	       same_ports(a->ports, b->ports) && same_ports(a->sports, b->sports) &&
	       same_prefixes(&a->to, &b->to);
}

/* Does each of these networks consist of whole sources of the limit, and lie within its match? */
static bool is_narrower(const struct rf_definition *tried, const struct rf_definition *recorded)
{
	if (!tried->limit.has_from)
		return !recorded->limit.has_from;
	for (size_t i = 0; i < tried->from.count; i++) {
		const struct rf_prefix *prefix = &tried->from.prefix[i];
		const unsigned int longest = rf_limit_length(&recorded->limit, prefix);
		bool is_within = !recorded->limit.has_from;

		for (size_t j = 0; j < recorded->from.count; j++)
			is_within |= rf_prefix_contains(&recorded->from.prefix[j], prefix);
		if (!is_within || prefix->length > longest)
			return false;
	}
	return !tried->from_file;
}

static bool is_derived(const struct rf_definition *tried, const struct rf_definition *recorded)
{
	return same_packets(tried, recorded) && is_narrower(tried, recorded) &&
	       tried->limit.per4 <= recorded->limit.per4 &&
	       tried->limit.per6 <= recorded->limit.per6 &&
	       tried->limit.unit == recorded->limit.unit &&
	       !(tried->limit.flags & RF_COUNT_REJECTED) && !tried->limit.ban_ns;
}

static int fail_not_recorded(struct trying *trying, const char *why, struct rf_error *error)
{
	return rf_error_failed(error, -ENODATA,
			       "not recorded%s%s; add this as a shadow: ringfence %s",
			       *why ? ": " : "", why, trying->command);
}

/* ---- reading ---- */

static int read_limits(struct rf_reader *reader, const struct rf_try *asked, struct trying *trying,
		       struct rf_error *error)
{
	const uint64_t until_ns = asked->until_ns ?: rf_time_wall();
	int err = rf_recorded_limits(reader, until_ns, &trying->rules, &trying->rules_since_ns,
				     error);

	if (!err)
		err = rf_limit_edit_read(&trying->rules, &asked->change, &trying->tried, error);
	if (!err)
		err = rf_limit_definition(&trying->rules,
					  rf_bank_find(&trying->rules.bank, asked->change.name),
					  &trying->recorded, error);
	if (err)
		return err;
	/* Bans of the recorded limit do not apply to the tried limit, unless requested. */
	if (!(asked->change.parts >> RF_OPT_BAN & 1))
		trying->tried.limit.ban_ns = 0;
	trying->command = rf_shadow_command(&trying->rules, &trying->tried, asked->change.name);
	if (!trying->command)
		return rf_error_failed(error, -ENOMEM, "%s", strerror(ENOMEM));
	if (!trying->tried.limit.rate || !trying->recorded.limit.rate)
		return fail_not_recorded(trying, "a limit of rate 0 has no windows", error);
	if (!is_derived(&trying->tried, &trying->recorded))
		return fail_not_recorded(trying, "", error);
	trying->run = (struct rf_try_run){
		.limit = trying->tried.limit,
		.recorded = trying->recorded.limit,
		.from = trying->tried.limit.has_from ? &trying->tried.from : NULL,
		.since_ns = asked->since_ns ?: until_ns - HOUR_NS,
		.until_ns = until_ns,
	};
	return 0;
}

/* The limit might have had a different definition at the start: then the last one counts. */
static int check_rules(struct rf_reader *reader, const char *name, struct trying *trying,
		       struct rf_error *error)
{
	struct rf_try_run *run = &trying->run;
	const int slot = rf_bank_find(&trying->rules.bank, name);
	struct rf_ruleset before = RF_RULESET_NONE;
	uint64_t since_ns;
	int then;

	if (trying->rules_since_ns <= run->since_ns)
		return 0;
	if (rf_recorded_limits(reader, run->since_ns, &before, &since_ns, error))
		then = -1;
	else
		then = rf_bank_find(&before.bank, name);
	if (then >= 0) {
		char *was = rf_ruleset_format_limit(&before, then);
		char *is = rf_ruleset_format_limit(&trying->rules, slot);

		if (!was || !is || strcmp(was, is) != 0)
			then = -1;
		free(was);
		free(is);
	}
	if (then < 0)
		run->since_ns = trying->rules_since_ns;
	rf_ruleset_free(&before);
	return 0;
}

static int visit_row(void *context, const struct rf_cells_row *row)
{
	struct trying *trying = context;

	return rf_try_run_row(&trying->run, row, trying->error);
}

static int visit_peak(void *context, const struct rf_recorded_peak *peak)
{
	struct trying *trying = context;
	const struct rf_limit *limit = &trying->recorded.limit;
	const uint64_t all = rf_has_burst(limit) ? limit->burst : limit->rate;

	return rf_try_run_other(&trying->run, &peak->source, peak->share, peak->used * all,
				peak->packets * trying->run.length, INTERVAL_NS);
}

static int note_any(void *context, const struct rf_recorded_peak *peak)
{
	(void)peak;
	*(bool *)context = true;
	return 1;
}

static bool has_sources(struct rf_reader *reader, const struct rf_try_run *run, const char *name)
{
	struct rf_error unused;
	bool has_any = false;

	rf_reader_each_peak(reader, name, run->since_ns, run->until_ns, note_any, &has_any,
			    &unused);
	return has_any;
}

static int read_cells(struct rf_reader *reader, const char *fence, struct trying *trying,
		      struct rf_error *error)
{
	const struct rf_try_run *run = &trying->run;
	const char *name = trying->recorded.limit.name;
	struct rf_error reason = {};
	char since[RF_TIME_TEXT_SIZE];
	int err;

	trying->error = &reason;
	err = rf_reader_each_cells(reader, name, run->since_ns, run->until_ns, visit_row, trying,
				   error);
	if (err == -EINVAL)
		return fail_not_recorded(trying, reason.text, error);
	if (err)
		return err;
	if (!run->tried_map.count && !run->skipped && !has_sources(reader, run, name))
		err = rf_check_sources_kept(reader, name, run->since_ns, run->until_ns, error);
	if (err)
		return err;
	if (!run->tried_map.count) {
		rf_format_local(run->since_ns, since);
		return rf_error_failed(
			error, -ENODATA,
			"the history of fence '%s' has no cells of limit '%s' from %s on; "
			"ringfence-watch records them for 2 hours",
			fence, name, since);
	}
	return 0;
}

static int read_others(struct rf_reader *reader, struct trying *trying, struct rf_error *error)
{
	const struct rf_try_run *run = &trying->run;

	return rf_reader_each_peak(reader, trying->recorded.limit.name, run->since_ns,
				   run->until_ns, visit_peak, trying, error);
}

/* Peaks and differences count packets; their bytes are estimated by the average of the limit. */
static double average_length(const struct rf_recorded *recorded, const struct rf_limit *limit)
{
	struct rf_count all = {};

	for (int i = 0; i < recorded->counts; i++) {
		const struct rf_recorded_count *count = &recorded->count[i];

		if (strcmp(count->kind, "limit") != 0 || strcmp(count->name, limit->name) != 0 ||
		    !strcmp(count->outcome, "forfeited") || !strcmp(count->outcome, "truncated"))
			continue;
		all.packets += count->packets;
		all.bytes += count->bytes;
	}
	return limit->unit == RF_BYTES && all.packets ? (double)all.bytes / all.packets : 1;
}

static int read_counts(struct rf_reader *reader, struct trying *trying, struct rf_error *error)
{
	const char *name = trying->recorded.limit.name;
	struct rf_recorded recorded;
	int err = rf_reader_between(reader, trying->run.since_ns, trying->run.until_ns, &recorded,
				    error);

	if (!err) {
		trying->dropped = rf_recorded_packets(&recorded, "limit", name, "dropped") +
				  rf_recorded_packets(&recorded, "limit", name, "would_drop");
		trying->run.length = average_length(&recorded, &trying->recorded.limit);
	}
	rf_recorded_free(&recorded);
	return err;
}

/* ---- text ---- */

static const char *unit_of(const struct trying *trying)
{
	return rf_unit_name(trying->tried.limit.unit);
}

/* 5, or 5 to 7 */
static void format_range(uint64_t least, uint64_t most, char text[2 * RF_GROUPED_TEXT_SIZE + 8])
{
	char from[RF_GROUPED_TEXT_SIZE], to[RF_GROUPED_TEXT_SIZE];

	rf_format_grouped(least, from);
	rf_format_grouped(most, to);
	snprintf(text, 2 * RF_GROUPED_TEXT_SIZE + 8, "%s%s%s", from, least < most ? " to " : "",
		 least < most ? to : "");
}

static void print_recorded(const struct trying *trying)
{
	const struct rf_try_result *result = &trying->result;
	char dropped[2 * RF_GROUPED_TEXT_SIZE + 8], over[2 * RF_GROUPED_TEXT_SIZE + 8];
	const char *about = result->is_estimate ? "~" : "";
	char all[RF_GROUPED_TEXT_SIZE], sources[RF_GROUPED_TEXT_SIZE];

	format_range(result->least, result->most, dropped);
	format_range(result->over_least, result->over_most, over);
	rf_format_grouped(result->charged, all);
	rf_format_grouped(result->sources, sources);
	if (!result->most)
		rf_out_text("would have dropped %snone of %s %s of %s recorded sources\n", about,
			    all, unit_of(trying), sources);
	else
		rf_out_text("would have dropped %s%s of %s %s, of %s of %s recorded sources\n",
			    about, dropped, all, unit_of(trying), over, sources);
	if (result->incomplete)
		rf_out_text("%" PRIu64 " of them have missing cells, which the daemon did not read "
			    "in time; the true number can be higher\n",
			    result->incomplete);
	if (result->differences)
		rf_out_text("%" PRIu64
			    " of them have counters instead of cells, as for packets that "
			    "pass by loans; their packets are assumed to be spread evenly\n",
			    result->differences);
}

static void print_others(const struct trying *trying)
{
	const struct rf_try_result *result = &trying->result;
	char others[RF_GROUPED_TEXT_SIZE], over[RF_GROUPED_TEXT_SIZE];
	char dropped[RF_GROUPED_TEXT_SIZE], error[RF_GROUPED_TEXT_SIZE];

	rf_format_grouped(result->others, others);
	rf_format_grouped(result->others_over, over);
	rf_format_grouped(result->others_dropped, dropped);
	rf_format_grouped(result->others_error, error);
	if (result->others_dropped > 0)
		rf_out_text("of about %s others ~%s (± %s) %s of ~%s\n", others, dropped, error,
			    unit_of(trying), over);
	else if (result->others > 0)
		rf_out_text("of about %s others ~none\n", others);
}

static void print_text(const struct trying *trying)
{
	char since[RF_TIME_TEXT_SIZE], until[RF_TIME_TEXT_SIZE], dropped[RF_GROUPED_TEXT_SIZE];

	rf_format_local(trying->run.since_ns, since);
	rf_format_local(trying->run.until_ns, until);
	rf_out("from %s to %s\n", since, until);
	print_recorded(trying);
	print_others(trying);
	rf_format_grouped(trying->dropped, dropped);
	if (trying->dropped)
		rf_out_text("packets over limit '%s' are not included: %s packets\n",
			    trying->recorded.limit.name, dropped);
	if (trying->run.skipped)
		rf_out_text("%" PRIu64 " recorded rows were left out: the limit had other cells "
			    "then, or there are too many sources\n",
			    trying->run.skipped);
	rf_out("first:  ringfence %s\n", trying->command);
}

/* ---- for programs ---- */

static json_t *make_unit(const void *of)
{
	return json_string(unit_of(of));
}

static json_t *make_exact(const void *of)
{
	const struct rf_try_result *result = of;

	return json_boolean(result->is_exact && !result->is_estimate);
}

static const struct rf_field others_fields[] = {
	RF_FIELD("sources", struct rf_try_result, others, "without recorded cells, estimated"),
	RF_FIELD("over", struct rf_try_result, others_over, "sources over the limit, estimated"),
	RF_FIELD("dropped", struct rf_try_result, others_dropped, "estimated"),
	RF_FIELD("dropped_error", struct rf_try_result, others_error, "standard error of it"),
	{},
};

static const struct rf_field result_fields[] = {
	RF_FIELD("charged", struct rf_try_result, charged,
		 "packets of the recorded sources, or bytes"),
	RF_FIELD("dropped_min", struct rf_try_result, least,
		 "the least that would have been dropped"),
	RF_FIELD("dropped_max", struct rf_try_result, most, "at most this many"),
	RF_FIELD_MADE("exact", RF_FIELD_BOOL, make_exact, "both are the true number"),
	RF_FIELD("estimate", struct rf_try_result, is_estimate, "the interval is not proven"),
	RF_FIELD("sources", struct rf_try_result, sources, "with recorded cells"),
	RF_FIELD("sources_incomplete", struct rf_try_result, incomplete,
		 "recorded, with missing cells"),
	RF_FIELD("sources_estimated", struct rf_try_result, differences,
		 "recorded, with differences of counters instead of cells"),
	RF_FIELD("sources_min", struct rf_try_result, over_least, "over the limit, at least"),
	RF_FIELD("sources_max", struct rf_try_result, over_most, "over the limit, at most"),
	RF_FIELD_GROUP("others", others_fields, "from the sample"),
	{},
};

static const struct rf_field try_fields[] = {
	RF_FIELD("fence", struct trying, fence, "its name"),
	RF_FIELD("limit", struct trying, recorded.limit.name, "whose cells were replayed"),
	RF_FIELD("command", struct trying, command, "adds the limit as a shadow"),
	RF_FIELD_OF_TIME("from", struct trying, run.since_ns, "the first time, UTC",
			 .or_null = true),
	RF_FIELD_OF_TIME("until", struct trying, run.until_ns, "the last time, UTC",
			 .or_null = true),
	RF_FIELD_MADE("unit", RF_FIELD_TEXT, make_unit, "packets or bytes"),
	RF_FIELDS_OF(struct trying, result, result_fields),
	RF_FIELD("not_in_cells", struct trying, dropped, "packets over that limit itself"),
	{},
};

RF_RECORD(limit_try, try_fields);

/* ---- the command ---- */

static int try_limit(struct rf_reader *reader, const char *fence, const struct rf_try *asked,
		     bool json, struct rf_error *error)
{
	struct trying trying = {.fence = fence};
	int err = read_limits(reader, asked, &trying, error);

	if (!err)
		err = check_rules(reader, asked->change.name, &trying, error);
	if (!err)
		err = read_counts(reader, &trying, error);
	if (!err)
		err = read_cells(reader, fence, &trying, error);
	if (!err)
		err = read_others(reader, &trying, error);
	if (!err)
		rf_try_run_end(&trying.run, &trying.result);
	if (!err && json)
		err = rf_out_record(try_fields, &trying, error);
	else if (!err)
		print_text(&trying);
	free_trying(&trying);
	return err;
}

int rf_cmd_limit_try(const struct rf_options *options, struct rf_words *words,
		     struct rf_error *error)
{
	struct rf_try asked;
	struct rf_reader *reader;
	char fence[RF_NAME_SIZE];
	int err = rf_parse_try(words, &asked, error);

	if (err)
		return err;
	err = rf_recorded_open(options, &reader, fence, error);
	if (!err)
		err = try_limit(reader, fence, &asked, options->json, error);
	rf_reader_close(reader);
	return err;
}
