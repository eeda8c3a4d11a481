// SPDX-License-Identifier: GPL-2.0
/* show, top: single sources, the sources of a network, and the busiest sources */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/prefix.h"
#include "base/sort.h"
#include "base/time.h"
#include "cli/command.h"
#include "cli/out.h"
#include "cli/recorded.h"
#include "cli/view.h"
#include "fence/fence.h"
#include "rules/advice.h"
#include "rules/grammar.h"
#include "rules/policy.h"
#include "rules/ruleset.h"
#include "screen/screen.h"
#include "screen/terminal.h"
#include "snapshot/records.h"
#include "snapshot/shown.h"
#include "snapshot/sources.h"
#include "snapshot/totals.h"

enum source_columns {
	SOURCES_PLAIN,
	SOURCES_OF_LIMIT, /* with the rate of each limit, and bans */
	SOURCES_BY_RATE,  /* and with the rate of each source */
};

/* ---- a table of sources ---- */

/* "3/1h", or "burst 5, 100/1s": `used` of a bucket counts against the burst. */
static void format_of(const struct rf_source_row *row, char text[RF_CELL_SIZE])
{
	char rate[RF_RATE_TEXT_SIZE], count[RF_COUNT_TEXT_SIZE], ban[RF_DURATION_TEXT_SIZE];
	char more[32] = "";
	const bool has_burst = rf_has_burst(row->limit);

	rf_format_limit_rate(row->limit, rate);
	rf_format_burst(row->limit, count);
	rf_format_left(row->banned_ns, ban);
	if (row->banned_ns)
		snprintf(more, sizeof(more), ", banned %.20s", ban);
	else if (row->is_aggregate)
		snprintf(more, sizeof(more), ", shared");
	else if (row->lent)
		snprintf(more, sizeof(more), ", lent %" PRIu64, row->lent);
	snprintf(text, RF_CELL_SIZE, "%s%.20s%s%.30s%s", has_burst ? "burst " : "",
		 has_burst ? count : "", has_burst ? ", " : "", rate, more);
}

/* 100, 0.5, 8.1mbit: in a second. */
static void format_rate(const struct rf_source_row *row, char text[RF_CELL_SIZE])
{
	static const char *const units[] = {"bit", "kbit", "mbit", "gbit"};
	double rate = rf_source_row_rate(row);
	int unit = 0;

	if (row->limit->unit == RF_BYTES)
		for (rate *= 8; rate >= 1000 && unit < 3; rate /= 1000)
			unit++;
	snprintf(text, RF_CELL_SIZE, "%.*f%s", rate > 0 && rate < 10 ? 1 : 0, rate,
		 row->limit->unit == RF_BYTES ? units[unit] : "");
}

/* The printed part of the rows. */
struct printed {
	const struct rf_source_rows *rows;
	bool has_rate;
};

static void fill_source(const void *context, size_t i, struct rf_cells *cells)
{
	const struct printed *printed = context;
	const struct rf_source_row *row = &printed->rows->row[i];
	const uint64_t number[] = {row->passed, row->dropped, row->would_drop, row->used};
	int column = 2;

	rf_format_prefix(&row->source, cells->text[0]);
	snprintf(cells->text[1], RF_CELL_SIZE, "%s", row->limit->name);
	if (printed->has_rate)
		format_rate(row, cells->text[column++]);
	for (int k = 0; k < 4; k++)
		snprintf(cells->text[column++], RF_CELL_SIZE, "%" PRIu64, number[k]);
	format_of(row, cells->text[column]);
}

/* Prints the first `count` rows. */
static void source_rows_print(const struct rf_source_rows *rows, size_t count,
			      enum source_columns columns)
{
	static const struct rf_column plain[] = {
		{"source", false, 0}, {"limit", false, 0},     {"passed", true, 0},
		{"dropped", true, 0}, {"would drop", true, 0}, {"used", true, 0},
		{"of", false, 0},
	};
	static const struct rf_column with_rate[] = {
		{"source", false, 0}, {"limit", false, 0},  {"rate/s", true, 0},
		{"passed", true, 0},  {"dropped", true, 0}, {"would drop", true, 0},
		{"used", true, 0},    {"of", false, 0},
	};
	static const int counts[] = {
		[SOURCES_PLAIN] = 6, [SOURCES_OF_LIMIT] = 7, [SOURCES_BY_RATE] = 8};
	const struct printed printed = {rows, columns == SOURCES_BY_RATE};
	const struct rf_table table = {printed.has_rate ? with_rate : plain,
				       counts[columns],
				       2,
				       count,
				       &printed,
				       fill_source};

	rf_table_print(&table);
}

/* A list's prefixes within the network, or around it. */
struct listed {
	struct rf_list_answer *of;
	size_t count;
};

struct network {
	const struct rf_fence *fence;
	const struct rf_prefix *prefix;
	struct listed list[RF_LIST_COUNT];
	struct rf_bans bans;	       /* of sources within the network */
	struct rf_source_rows sources; /* sorted by source */
};

/* ---- show PREFIX: reading ---- */

/* Does the prefix lie in the network, or contain it? */
static bool overlaps(const struct network *network, const struct rf_prefix *prefix)
{
	return rf_prefix_contains(network->prefix, prefix) ||
	       rf_prefix_contains(prefix, network->prefix);
}

static int compare_rows(const void *a, const void *b)
{
	const struct rf_source_row *left = a, *right = b;
	const int order = rf_prefix_compare(&left->source, &right->source);

	return order ? order : strcmp(left->limit->name, right->limit->name);
}

static int take_list(struct network *network, const struct rf_fence_rules *rules, enum rf_list list,
		     struct rf_error *error)
{
	struct listed *to = &network->list[list];

	to->of = calloc(rules->set.listed_count + 1, sizeof(*to->of));
	if (!to->of)
		return rf_error_failed(error, -ENOMEM, "not enough memory");
	for (size_t i = 0; i < rules->set.listed_count; i++) {
		const struct rf_listed *listed = &rules->set.listed[i];
		struct rf_list_answer *one = &to->of[to->count];
		struct rf_list_entry entry;

		if (!overlaps(network, &listed->prefix) ||
		    !rf_list_entry_of(rules, listed, list, &RF_OWNERS_ALL, &entry))
			continue;
		one->left_ns = entry.left_ns;
		rf_format_prefix(&entry.prefix, one->prefix);
		to->count++;
	}
	return 0;
}

static void keep_bans_here(struct network *network)
{
	struct rf_bans *bans = &network->bans;
	size_t kept = 0;

	for (size_t i = 0; i < bans->count; i++) {
		const struct rf_prefix source = rf_ban_prefix(&bans->row[i]);

		if (overlaps(network, &source))
			bans->row[kept++] = bans->row[i];
	}
	bans->count = kept;
}

static int read_network(struct network *network, struct rf_error *error)
{
	const struct rf_source_filter filter = {NULL, network->prefix, true, false};
	struct rf_source_rows *sources = &network->sources;
	struct rf_fence_rules rules = RF_FENCE_RULES_NONE;
	int err = rf_fence_rules_read(network->fence, RF_RULES_IN_FORCE, &rules, error);

	if (!err)
		err = rf_fence_bans(network->fence, &network->bans, error);
	if (!err)
		err = take_list(network, &rules, RF_ALLOW, error);
	if (!err)
		err = take_list(network, &rules, RF_DENY, error);
	if (!err)
		err = rf_source_rows_read(network->fence, &network->bans, &filter, sources, error);
	if (!err && sources->count)
		rf_sort(sources->row, sources->count, sizeof(*sources->row), compare_rows);
	keep_bans_here(network);
	rf_fence_rules_free(&rules);
	return err;
}

/* ---- show PREFIX: for programs ---- */

static json_t *make_prefix(const void *of)
{
	char text[RF_PREFIX_TEXT_SIZE];

	rf_format_prefix(((const struct network *)of)->prefix, text);
	return json_string(text);
}

static const struct rf_field network_fields[] = {
	RF_FIELD_MADE("prefix", RF_FIELD_TEXT, make_prefix, "the requested network"),
	RF_FIELD_OBJECTS("allowed", struct network, list[RF_ALLOW].of, list[RF_ALLOW].count,
			 rf_list_answer_fields, "of a network: all entries"),
	RF_FIELD_OBJECTS("denied", struct network, list[RF_DENY].of, list[RF_DENY].count,
			 rf_list_answer_fields, "the same of the deny list"),
	RF_FIELDS_OF(struct network, bans, rf_bans_fields),
	RF_FIELDS_OF(struct network, sources, rf_windows_within_fields),
	{},
};

RF_RECORD(show, rf_shown_fields, network_fields);

/* ---- show PREFIX: for people ---- */

static size_t print_list(const struct network *network, enum rf_list list)
{
	const struct listed *listed = &network->list[list];

	for (size_t i = 0; i < listed->count; i++) {
		const struct rf_list_answer *one = &listed->of[i];
		const bool for_good = one->left_ns == RF_FOREVER;
		char left[RF_DURATION_TEXT_SIZE] = "";

		if (!for_good)
			rf_format_left(one->left_ns, left);
		rf_out_text("%s list: %s%s%s\n", rf_view_list_names[list], one->prefix,
			    for_good ? "" : ", for another ", left);
	}
	return listed->count;
}

static size_t print_bans(const struct rf_bans *bans)
{
	for (size_t i = 0; i < bans->count; i++) {
		const struct rf_ban_row *ban = &bans->row[i];
		const struct rf_prefix prefix = rf_ban_prefix(ban);
		char source[RF_PREFIX_TEXT_SIZE], left[RF_DURATION_TEXT_SIZE];

		rf_format_prefix(&prefix, source);
		rf_format_left(ban->left_ns, left);
		rf_out_text("banned: %s by limit '%s', for another %s\n", source, ban->limit->name,
			    left);
	}
	return bans->count;
}

static void print_network(const struct network *network)
{
	char prefix[RF_PREFIX_TEXT_SIZE];
	size_t printed = print_list(network, RF_ALLOW) + print_list(network, RF_DENY);

	printed += print_bans(&network->bans);
	rf_format_prefix(network->prefix, prefix);
	if (network->sources.count)
		source_rows_print(&network->sources, network->sources.count, SOURCES_PLAIN);
	if (!printed && !network->sources.count)
		rf_out_text("%s: no records: no source in it has a window or a ban, and no list "
			    "has it\n",
			    prefix);
}

/*
 * Prints the prefixes of both lists that lie in `prefix` or contain it, and the bans and windows of
 * sources in it.
 */
static int show_network(const struct rf_fence *fence, const struct rf_prefix *prefix, bool json,
			struct rf_error *error)
{
	struct network network = {.fence = fence, .prefix = prefix};
	int err = read_network(&network, error);

	if (!err && json)
		err = rf_out_json(rf_record_json(network_fields, &network), false, error);
	else if (!err)
		print_network(&network);
	rf_source_rows_free(&network.sources);
	rf_bans_free(&network.bans);
	for (int list = 0; list < RF_LIST_COUNT; list++)
		free(network.list[list].of);
	return err;
}

/* ---- show ADDRESS ---- */

#define RECENT_MS 1000

/*
 * When this limit would let a packet pass if it were the only one; for a shadow limit, when it
 * would if enforced.
 */
static void print_passes_again(const struct rf_shown_limit *one)
{
	const char *what = one->limit->flags & RF_SHADOW ? "would pass  " : "passes again";
	char wait[RF_DURATION_TEXT_SIZE], frame[32] = "";

	if (one->limit->unit == RF_BYTES) /* a shorter frame may pass earlier */
		snprintf(frame, sizeof(frame), ", a frame of %d bytes", RF_FRAME_BYTES);
	rf_format_ms(one->passes_again_ms, wait);
	rf_out_text("  %s  %s%s%s\n", what, one->passes_again_ms > 0 ? "in " : "",
		    one->passes_again_ms == RF_WAIT_FOREVER ? "never"
		    : one->passes_again_ms		    ? wait
							    : "now",
		    frame);
}

static void print_used(const struct rf_shown_limit *one)
{
	const struct rf_limit *limit = one->limit;
	bool bucket = rf_has_burst(limit);

	rf_out_text("  used          %" PRIu64 " of %s%" PRIu64 "%s", one->used,
		    bucket ? "burst " : "", (uint64_t)(bucket ? limit->burst : limit->rate),
		    limit->unit == RF_BYTES ? " bytes" : "");
	if (one->lent)
		rf_out_text(", lent to CPUs: %" PRIu64, one->lent);
	rf_out_text("\n");
}

static void print_cells(const struct rf_shown_limit *one)
{
	if (!one->cells)
		return;
	rf_out_text("  cells        ");
	for (int i = 0; i < one->cells; i++)
		rf_out_text(" %" PRIu64, one->cell[i]);
	rf_out_text(" (oldest first)\n");
}

static void print_ban(const struct rf_shown_limit *one)
{
	char ban[RF_DURATION_TEXT_SIZE];

	if (!one->banned_ns)
		return;
	rf_format_left(one->banned_ns, ban);
	rf_out_text("  banned        for another %s%s\n", ban,
		    one->limit->flags & RF_BAN_ALL ? ", all its packets" : "");
}

static void print_limit(const struct rf_shown_limit *one, bool limits_decide)
{
	char rate[RF_RATE_TEXT_SIZE];

	rf_format_limit_rate(one->limit, rate);
	if (!one->limit->rate) {
		rf_out_text("limit %s (%s): %s all that it matches\n", one->limit->name, rate,
			    one->limit->flags & RF_SHADOW ? "would drop" : "drops");
		return;
	}
	rf_out_text("source %s, limit %s (%s)%s\n", one->source, one->limit->name, rate,
		    one->newcomer ? ": no window" : "");
	if (one->newcomer) {
		print_ban(one);
		return;
	}
	print_used(one);
	if (one->limit->flags & RF_FLEET)
		rf_out_text("  on this host  %" PRIu64 ", as the fleet has it\n", one->room);
	print_cells(one);
	rf_out_text("  passed        %" PRIu64 "\n", (uint64_t)one->state.passed);
	rf_out_text("  dropped       %" PRIu64 "\n", (uint64_t)one->state.dropped);
	if (one->limit->flags & RF_SHADOW || rf_shown_would_drop(one))
		rf_out_text("  would drop    %" PRIu64 "\n", rf_shown_would_drop(one));
	print_ban(one);
	if (limits_decide && !one->banned_ns)
		print_passes_again(one);
}

static void print_verdict(const struct rf_case *its)
{
	char *text = rf_verdict_text(its);

	rf_out_text("%s\n", text ? text : strerror(ENOMEM));
	free(text);
}

static void print_shown(const struct rf_shown *shown)
{
	const struct rf_case *its = &shown->its;
	const bool limits_decide = !rf_verdict_is_early(its);

	print_verdict(its);
	for (int i = 0; i < its->answers; i++)
		print_limit(&shown->limit[i], limits_decide);
}

/* Reads the source again after a second if that shows whether packets are being dropped. */
static int read_recent(const struct rf_fence *fence, const struct rf_prefix *source,
		       struct rf_shown **shown, struct rf_error *error)
{
	struct rf_shown *const before = *shown;
	const uint64_t start = rf_time_awake();
	int err;

	if (!rf_verdict_wants_recent(&before->its))
		return 0;
	poll(NULL, 0, RECENT_MS);
	err = rf_shown_read(fence, source, shown, error);
	if (!err)
		rf_shown_since(*shown, before, (rf_time_awake() - start) / RF_NS_PER_MS);
	rf_shown_free(before);
	return err;
}

static int show_address(const struct rf_fence *fence, const struct rf_address *asked,
			const struct rf_options *options, struct rf_error *error)
{
	const struct rf_prefix source = rf_prefix_of_address(asked);
	struct rf_shown *shown = NULL;
	int err = rf_shown_read(fence, &source, &shown, error);

	if (!err)
		err = read_recent(fence, &source, &shown, error);
	if (!err && options->json)
		err = rf_out_json(rf_record_json(rf_shown_fields, shown), false, error);
	else if (!err)
		print_shown(shown);
	rf_shown_free(shown);
	return err;
}

int rf_cmd_show(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	struct rf_fence fence = RF_FENCE_NONE;
	const char *text = rf_take_operand(RF_CMD_SHOW, words, error);
	const bool is_network = text && strchr(text, '/');
	struct rf_address source;
	struct rf_prefix prefix;
	uint64_t at_ns = 0;
	int err;

	if (!text)
		return -EINVAL;
	err = is_network ? rf_parse_prefix(text, &prefix, error)
			 : rf_parse_address(text, &source, error);
	if (!err)
		err = rf_parse_arguments(RF_CMD_SHOW, words, &at_ns, error);
	if (!err && at_ns && !is_network)
		err = rf_parse_prefix(text, &prefix, error);
	if (!err && at_ns)
		return rf_show_at(options, &prefix, at_ns, error);
	if (!err)
		err = rf_fence_open(&fence, options->dev, error);
	if (!err)
		err = is_network ? show_network(&fence, &prefix, options->json, error)
				 : show_address(&fence, &source, options, error);
	rf_fence_close(&fence);
	return err;
}

/* ---- top: sources without a window ---- */

#define TIME_WITH_OTHERS_NS RF_NS_PER_S /* where others take the samples */
#define MANY_DROPS 1000			/* and a tenth of all drops */

static void fill_unseen(const void *context, size_t i, struct rf_cells *cells)
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

/* What `top` shows of a fence: the first rows. */
struct shown_top {
	const struct rf_fence *fence;
	struct rf_source_rows rows;
	size_t all_rows;
	struct rf_unseen *unseen; /* NULL: no samples */
	size_t all_unseen;
};

static const struct rf_field top_fields[] = {
	RF_FIELDS_VIA(struct shown_top, fence, rf_fence_name_fields),
	RF_FIELDS_OF(struct shown_top, rows, rf_sources_fields),
	RF_FIELD_LINK("unseen", struct shown_top, unseen, rf_unseen_fields,
		      "sources without a window; null: no samples", .or_null = true),
	{},
};

RF_RECORD(top, top_fields);

/* Rows marked `~`. */
static void print_unseen(const struct shown_top *shown)
{
	static const struct rf_column columns[] = {
		{"  source", false, 0},
		{"packets/s", true, 0},
		{"samples", true, 0},
		{"why", false, 0},
	};
	const struct rf_unseen *unseen = shown->unseen;
	const struct rf_table table = {columns, 4, 1, unseen->count, unseen, fill_unseen};
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
	if (unseen->count < shown->all_unseen)
		rf_out("… and %zu more; 'top N' shows N\n", shown->all_unseen - unseen->count);
}

/* ---- top: what to do ---- */

/* Many drops of sources without a row: prints which words show them. */
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

/* Without `sample TIME`, only where another process takes samples: else leaves `unseen` out. */
static int read_unseen(const struct rf_fence *fence, const struct rf_top *top,
		       struct rf_unseen *unseen, struct shown_top *shown, struct rf_error *error)
{
	const struct rf_unseen_asked asked = {
		.time_ns = top->sample_ns ?: TIME_WITH_OTHERS_NS,
		.within = top->within.version ? &top->within : NULL,
	};
	int err;

	if (top->limit || (!top->sample_ns && !rf_unseen_is_sampled(fence)))
		return 0;
	err = rf_unseen_read(fence, &asked, unseen, error);
	if (err)
		return err;
	shown->all_unseen = unseen->count;
	if (unseen->count > top->rows)
		unseen->count = top->rows;
	shown->unseen = unseen;
	return 0;
}

/* ---- top ---- */

static int check_limit(const struct rf_bank *rules, const char *name, struct rf_error *error)
{
	if (!name || rf_bank_find(rules, name) >= 0)
		return 0;
	return rf_fail_no_limit(rules, name, "", error);
}

static int compare(double a, double b)
{
	return a < b ? 1 : a > b ? -1 : 0;
}

static int compare_by_rate(const void *a, const void *b)
{
	const struct rf_source_row *left = a, *right = b;

	return compare(rf_source_row_rate(left), rf_source_row_rate(right));
}

/* Of L, or of the burst of a bucket. */
static double used_share(const struct rf_source_row *row)
{
	return (double)row->used /
	       (rf_has_burst(row->limit) ? row->limit->burst : row->limit->rate);
}

static int compare_by_used(const void *a, const void *b)
{
	const struct rf_source_row *left = a, *right = b;

	return compare(used_share(left), used_share(right));
}

static int compare_by_drops(const void *a, const void *b)
{
	const struct rf_source_row *left = a, *right = b;
	int order = compare(left->dropped + left->would_drop, right->dropped + right->would_drop);

	if (!order)
		order = compare(left->banned_ns, right->banned_ns);
	return order ? order : compare_by_rate(a, b);
}

/* Without a limit no source has a window, so no source can be seen. */
static void print_none(const struct rf_bank *rules, const struct rf_top *asked)
{
	if (!rf_bank_count(rules))
		rf_out_text("no source has a window, since there is no limit; " RF_PROBE_ADVICE
			    "\n");
	else
		rf_out_text("no source %shas a window\n",
			    asked->limit || asked->within.version ? "of these " : "");
}

static int (*const orders[])(const void *, const void *) = {
	[RF_BY_DROPS] = compare_by_drops,
	[RF_BY_RATE] = compare_by_rate,
	[RF_BY_USED] = compare_by_used,
};

/* Sampling can take a minute: the rows are printed before it. */
static void print_rows(const struct shown_top *shown, const struct rf_bank *rules,
		       const struct rf_top *top)
{
	source_rows_print(&shown->rows, shown->rows.count,
			  top->order == RF_BY_RATE ? SOURCES_BY_RATE : SOURCES_OF_LIMIT);
	if (shown->rows.count < shown->all_rows)
		rf_out("… and %zu more; 'top N' shows N\n", shown->all_rows - shown->rows.count);
	if (!shown->all_rows)
		print_none(rules, top);
	rf_out_flush();
}

static int print_others(const struct shown_top *shown, const struct rf_top *top,
			struct rf_error *error)
{
	if (shown->unseen)
		print_unseen(shown);
	return shown->unseen || top->limit ? 0 : hint(shown->fence, error);
}

static int show_top(const struct rf_fence *fence, const void *context, json_t **json,
		    struct rf_error *error)
{
	const struct rf_top *top = context;
	const struct rf_source_filter filter = {
		top->limit, top->within.version ? &top->within : NULL, false, true};
	struct shown_top shown = {.fence = fence};
	struct rf_source_rows *rows = &shown.rows;
	struct rf_unseen unseen = {};
	struct rf_bans bans = {};
	int err = rf_fence_bans(fence, &bans, error);

	if (!err)
		err = check_limit(&bans.rules, top->limit, error);
	if (!err)
		err = rf_source_rows_read(fence, &bans, &filter, rows, error);
	if (!err && rows->count)
		rf_sort(rows->row, rows->count, sizeof(*rows->row), orders[top->order]);
	shown.all_rows = rows->count;
	if (rows->count > top->rows)
		rows->count = top->rows;
	if (!err && !json)
		print_rows(&shown, &bans.rules, top);
	if (!err)
		err = read_unseen(fence, top, &unseen, &shown, error);
	if (!err && json)
		*json = rf_record_json(top_fields, &shown);
	else if (!err)
		err = print_others(&shown, top, error);
	rf_bans_free(&bans);
	rf_source_rows_free(rows);
	rf_unseen_free(&unseen);
	return err;
}

/* On a terminal, unless printing is requested. */
static bool is_screen(const struct rf_options *options, const struct rf_top *top)
{
	return !top->has_rows && !top->at_ns && !top->sample_ns && !options->json &&
	       rf_terminal_is_fit();
}

int rf_cmd_top(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	struct rf_top top;
	int err = rf_parse_arguments(RF_CMD_TOP, words, &top, error);

	if (!err && top.at_ns)
		return rf_top_at(options, &top, error);
	if (!err && is_screen(options, &top))
		return rf_screen_run(&(struct rf_screen){options->dev, &top}, error);
	return err ? err : rf_show_fences(options, show_top, false, &top, NULL, error);
}
