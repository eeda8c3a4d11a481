// SPDX-License-Identifier: GPL-2.0
/* The table of metrics, and how they are written. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "schema/reasons.h"
#include "watch/metrics_write.h"

enum type { COUNTER, GAUGE, HISTOGRAM, INFO };

struct family {
	const char *name; /* without the _total or _info of its samples */
	enum type type;
	const char *help;
	/* Writes the samples of a fence; those of the daemon once, without a fence. */
	void (*write)(struct rf_writer *writer, const struct rf_metrics *metrics);
};

/* ---- samples ---- */

/* Ends a sample with the worst source, where that may be told. */
static void end_with_worst(struct rf_writer *writer, uint64_t value, const struct rf_worst *worst)
{
	const struct rf_metrics_page *page = writer->page;
	char text[RF_PREFIX_TEXT_SIZE];
	struct rf_prefix source;

	rf_put(writer->out, "} %" PRIu64, value);
	if (page->is_open && page->has_exemplars && worst && worst->packets &&
	    rf_tell(page->told, &worst->source, &source)) {
		rf_format_prefix(&source, text);
		rf_put(writer->out, " # {");
		rf_put_label(writer->out, "source", text);
		rf_put(writer->out, "} %" PRIu64 " %.3f", worst->packets,
		       (double)worst->time_ns / RF_NS_PER_S);
	}
	fputc('\n', writer->out);
}

static const char *const families[] = {"ipv4", "ipv6"};

/* ---- of the fence ---- */

static void write_reasons(struct rf_writer *writer, const struct rf_metrics *metrics, bool bytes)
{
	for (int i = 0; i < RF_REASON_COUNT; i++) {
		const struct rf_count *count = &metrics->counters.reason[i];

		rf_sample_begin(writer, "_total", metrics->fence);
		rf_sample_label(writer, "verdict", rf_reason_verdict(i));
		rf_sample_label(writer, "reason", rf_reason_name(i));
		rf_sample_count(writer, bytes ? count->bytes : count->packets);
	}
}

static void write_packets(struct rf_writer *writer, const struct rf_metrics *metrics)
{
	write_reasons(writer, metrics, false);
}

static void write_bytes(struct rf_writer *writer, const struct rf_metrics *metrics)
{
	write_reasons(writer, metrics, true);
}

static void write_family(struct rf_writer *writer, const struct rf_metrics *metrics,
			 const char *suffix, const __u64 value[2])
{
	for (int i = 0; i < 2; i++) {
		rf_sample_begin(writer, suffix, metrics->fence);
		rf_sample_label(writer, "family", families[i]);
		rf_sample_count(writer, value[i]);
	}
}

static void write_windows(struct rf_writer *writer, const struct rf_metrics *metrics)
{
	const __u64 windows[] = {metrics->windows[0], metrics->windows[1]};

	write_family(writer, metrics, "", windows);
}

static void write_capacity(struct rf_writer *writer, const struct rf_metrics *metrics)
{
	const __u64 capacity[] = {metrics->capacity, metrics->capacity};

	write_family(writer, metrics, "", capacity);
}

static void write_inserted(struct rf_writer *writer, const struct rf_metrics *metrics)
{
	write_family(writer, metrics, "_total", metrics->counters.inserts);
}

static void write_evicted(struct rf_writer *writer, const struct rf_metrics *metrics)
{
	write_family(writer, metrics, "_total", metrics->counters.evictions);
}

static void write_newcomers(struct rf_writer *writer, const struct rf_metrics *metrics)
{
	const struct rf_counters *counters = &metrics->counters;
	const struct {
		const char *outcome;
		uint64_t count;
	} rows[] = {
		{"admitted", counters->newcomers_admitted},
		{"aggregated", counters->newcomers_aggregated},
		{"passed", counters->reason[RF_NEWCOMER_OPEN].packets},
		{"dropped", counters->reason[RF_NEWCOMER_CLOSED].packets},
		{"known", counters->newcomers_known},
		{"unnoted", counters->shadow_newcomers},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		rf_sample_begin(writer, "_total", metrics->fence);
		rf_sample_label(writer, "outcome", rows[i].outcome);
		rf_sample_count(writer, rows[i].count);
	}
}

static void write_map_errors(struct rf_writer *writer, const struct rf_metrics *metrics)
{
	for (int i = 0; i < RF_MAP_ERROR_COUNT; i++) {
		rf_sample_begin(writer, "_total", metrics->fence);
		rf_sample_label(writer, "error", rf_map_error_name(i));
		rf_sample_count(writer, metrics->counters.map_error[i]);
	}
}

static void write_bans_refused(struct rf_writer *writer, const struct rf_metrics *metrics)
{
	rf_sample_begin(writer, "_total", metrics->fence);
	rf_sample_count(writer, metrics->counters.bans_refused);
}

static void write_lists(struct rf_writer *writer, const struct rf_metrics *metrics)
{
	static const char *const lists[] = {[RF_ALLOW] = "allow", [RF_DENY] = "deny"};

	for (int i = 0; i < 2; i++) {
		rf_sample_begin(writer, "", metrics->fence);
		rf_sample_label(writer, "list", lists[i]);
		rf_sample_count(writer, metrics->listed[i]);
	}
}

static void write_trial(struct rf_writer *writer, const struct rf_metrics *metrics)
{
	rf_sample_begin(writer, "", metrics->fence);
	rf_sample_seconds(writer, metrics->trial_ns);
}

static void write_pause(struct rf_writer *writer, const struct rf_metrics *metrics)
{
	rf_sample_begin(writer, "", metrics->fence);
	rf_sample_seconds(writer, metrics->paused_ns);
}

static void write_bypassed(struct rf_writer *writer, const struct rf_metrics *metrics)
{
	for (int i = 0; i < metrics->interfaces; i++) {
		rf_sample_begin(writer, "", metrics->fence);
		rf_sample_label(writer, "interface", metrics->interface[i].name);
		rf_sample_count(writer, metrics->interface[i].bypass.met == RF_BYPASSED);
	}
}

/* ---- of limits ---- */

typedef void (*write_limit)(struct rf_writer *writer, const struct rf_metrics *metrics,
			    const struct rf_limit_metrics *limit);

static void each_limit(struct rf_writer *writer, const struct rf_metrics *metrics,
		       write_limit write)
{
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		if (*metrics->limit[slot].name)
			write(writer, metrics, &metrics->limit[slot]);
}

static void begin_limit(struct rf_writer *writer, const char *suffix,
			const struct rf_metrics *metrics, const struct rf_limit_metrics *limit)
{
	rf_sample_begin(writer, suffix, metrics->fence);
	rf_sample_label(writer, "limit", limit->name);
}

static void write_outcomes(struct rf_writer *writer, const struct rf_metrics *metrics,
			   const struct rf_limit_metrics *limit, bool bytes)
{
	const struct {
		const char *outcome;
		const struct rf_count *count;
		const struct rf_worst *worst;
	} rows[] = {
		{"passed", &limit->counters.passed, NULL},
		{"dropped", &limit->counters.dropped, &limit->dropped},
		{"would_drop", &limit->counters.would_drop, &limit->would_drop},
		{"forfeited", &limit->counters.forfeited, NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct rf_count *count = rows[i].count;

		begin_limit(writer, "_total", metrics, limit);
		rf_sample_label(writer, "outcome", rows[i].outcome);
		end_with_worst(writer, bytes ? count->bytes : count->packets,
			       bytes ? NULL : rows[i].worst);
	}
}

static void one_packets(struct rf_writer *writer, const struct rf_metrics *metrics,
			const struct rf_limit_metrics *limit)
{
	write_outcomes(writer, metrics, limit, false);
}

static void write_limit_packets(struct rf_writer *writer, const struct rf_metrics *metrics)
{
	each_limit(writer, metrics, one_packets);
}

static void one_bytes(struct rf_writer *writer, const struct rf_metrics *metrics,
		      const struct rf_limit_metrics *limit)
{
	write_outcomes(writer, metrics, limit, true);
}

static void write_limit_bytes(struct rf_writer *writer, const struct rf_metrics *metrics)
{
	each_limit(writer, metrics, one_bytes);
}

static void one_allowed(struct rf_writer *writer, const struct rf_metrics *metrics,
			const struct rf_limit_metrics *limit)
{
	begin_limit(writer, "", metrics, limit);
	rf_sample_label(writer, "unit", limit->is_bytes ? "bytes" : "packets");
	rf_sample_count(writer, limit->count);
}

static void write_limit_allowed(struct rf_writer *writer, const struct rf_metrics *metrics)
{
	each_limit(writer, metrics, one_allowed);
}

static void one_window(struct rf_writer *writer, const struct rf_metrics *metrics,
		       const struct rf_limit_metrics *limit)
{
	begin_limit(writer, "", metrics, limit);
	rf_sample_seconds(writer, limit->window_ns);
}

static void write_limit_window(struct rf_writer *writer, const struct rf_metrics *metrics)
{
	each_limit(writer, metrics, one_window);
}

static void one_sources(struct rf_writer *writer, const struct rf_metrics *metrics,
			const struct rf_limit_metrics *limit)
{
	static const char *const state[] = {"active", "over", "banned"};
	const uint64_t count[] = {limit->active, limit->over, limit->banned};

	for (size_t i = 0; i < ARRAY_SIZE(count); i++) {
		begin_limit(writer, "", metrics, limit);
		rf_sample_label(writer, "state", state[i]);
		rf_sample_count(writer, count[i]);
	}
}

static void write_limit_sources(struct rf_writer *writer, const struct rf_metrics *metrics)
{
	each_limit(writer, metrics, one_sources);
}

static void one_histogram(struct rf_writer *writer, const struct rf_metrics *metrics,
			  const struct rf_limit_metrics *limit)
{
	uint64_t sum = 0;

	for (int i = 0; i < RF_USE_BUCKETS; i++) {
		sum += limit->use[i];
		begin_limit(writer, "_bucket", metrics, limit);
		rf_sample_label(writer, "le", i < RF_USE_BOUNDS ? rf_use_bounds[i].label : "+Inf");
		rf_sample_count(writer, sum);
	}
	begin_limit(writer, "_sum", metrics, limit);
	rf_put(writer->out, "} %.15g\n", (double)limit->use_sum / 1000);
	begin_limit(writer, "_count", metrics, limit);
	rf_sample_count(writer, sum);
}

static void write_use(struct rf_writer *writer, const struct rf_metrics *metrics)
{
	if (!writer->page->has_no_use)
		each_limit(writer, metrics, one_histogram);
}

/* ---- of the daemon ---- */

static void write_up(struct rf_writer *writer, const struct rf_metrics *metrics)
{
	rf_sample_begin(writer, "", metrics->fence);
	rf_sample_count(writer, metrics->is_up);
}

static void write_age(struct rf_writer *writer, const struct rf_metrics *metrics)
{
	if (writer->page->is_once || !metrics->awake_ns)
		return;
	rf_sample_begin(writer, "", metrics->fence);
	rf_sample_seconds(writer, writer->page->awake_ns - metrics->awake_ns);
}

static void write_interval(struct rf_writer *writer, const struct rf_metrics *metrics)
{
	(void)metrics;
	if (!writer->page->is_once)
		rf_put(writer->out, "%s %.9g\n", writer->name,
		       (double)writer->page->interval_ns / RF_NS_PER_S);
}

static void write_by_type(struct rf_writer *writer, const struct rf_metrics *metrics,
			  const uint64_t count[RF_EVENT_TYPES])
{
	for (int i = 0; i < RF_EVENT_TYPES && !writer->page->is_once; i++) {
		rf_sample_begin(writer, "_total", metrics->fence);
		rf_sample_label(writer, "type", rf_event_type_name(i));
		rf_sample_count(writer, count[i]);
	}
}

static void write_events(struct rf_writer *writer, const struct rf_metrics *metrics)
{
	write_by_type(writer, metrics, metrics->events);
}

static void write_suppressed(struct rf_writer *writer, const struct rf_metrics *metrics)
{
	write_by_type(writer, metrics, metrics->suppressed);
}

static void write_history_bytes(struct rf_writer *writer, const struct rf_metrics *metrics)
{
	if (!metrics->has_history)
		return;
	rf_sample_begin(writer, "", metrics->fence);
	rf_sample_count(writer, metrics->history_bytes);
}

static void write_history_errors(struct rf_writer *writer, const struct rf_metrics *metrics)
{
	if (!metrics->has_history)
		return;
	rf_sample_begin(writer, "_total", metrics->fence);
	rf_sample_count(writer, metrics->history_errors);
}

static void write_build(struct rf_writer *writer, const struct rf_metrics *metrics)
{
	(void)metrics;
	rf_sample_begin(writer, "_info", NULL);
	rf_put_label(writer->out, "version", RINGFENCE_VERSION);
	rf_put(writer->out, ",abi=\"%d\"} 1\n", RF_ABI_VERSION);
}

/* ---- the table ---- */

#define NAME(name) "ringfence_" name

static const struct family table[] = {
	{NAME("up"), GAUGE, "Whether the last scan of the fence succeeded.", write_up},
	{NAME("packets"), COUNTER, "Packets by verdict and reason.", write_packets},
	{NAME("bytes"), COUNTER, "Bytes of frames by verdict and reason.", write_bytes},
	{NAME("limit_packets"), COUNTER, "Packets that matched the limit, by outcome.",
	 write_limit_packets},
	{NAME("limit_bytes"), COUNTER, "Bytes of frames that matched the limit, by outcome.",
	 write_limit_bytes},
	{NAME("limit_use_ratio"), HISTOGRAM,
	 "Most of the limit that a source used in a minute; one observation per source and minute.",
	 write_use},
	{NAME("limit_sources"), GAUGE, "Sources with a window under the limit, by state.",
	 write_limit_sources},
	{NAME("limit_allowed"), GAUGE, "COUNT of the limit.", write_limit_allowed},
	{NAME("limit_window_seconds"), GAUGE, "TIME of the limit.", write_limit_window},
	{NAME("windows"), GAUGE, "Windows in the table, those of idle sources included.",
	 write_windows},
	{NAME("windows_capacity"), GAUGE, "Windows that the table has room for.", write_capacity},
	{NAME("windows_inserted"), COUNTER, "Windows made.", write_inserted},
	{NAME("windows_evicted"), COUNTER, "Windows deleted for others.", write_evicted},
	{NAME("newcomers"), COUNTER, "Packets of newcomers, by what happened to them.",
	 write_newcomers},
	{NAME("map_errors"), COUNTER, "Sources that got no window, by error.", write_map_errors},
	{NAME("bans_refused"), COUNTER, "Bans that were not made for lack of room.",
	 write_bans_refused},
	{NAME("list_entries"), GAUGE,
	 "Prefixes on the list, those that expired and were not removed yet included.",
	 write_lists},
	{NAME("trial_seconds"), GAUGE, "Time until the rules on trial end; 0: none are on trial.",
	 write_trial},
	{NAME("pause_seconds"), GAUGE, "Time until a pause ends; 0: the fence is not paused.",
	 write_pause},
	{NAME("interface_bypassed"), GAUGE,
	 "1: the interface receives packets that the program of the fence does not count.",
	 write_bypassed},
	{NAME("fleet_alone"), GAUGE,
	 "1: nothing is heard of the fleet about some sources, so limits hold for this host alone.",
	 rf_write_fleet_alone},
	{NAME("fleet_alone_times"), COUNTER,
	 "How often limits came to hold for this host alone while an agent ran, or did when it "
	 "started.",
	 rf_write_fleet_alone_times},
	{NAME("fleet_alone_seconds"), COUNTER,
	 "Time in which limits held for this host alone, while an agent ran.",
	 rf_write_fleet_alone_seconds},
	{NAME("fleet_heard_seconds"), GAUGE, "Time since the fleet was heard about all sources.",
	 rf_write_fleet_heard},
	{NAME("fleet_agent_up"), GAUGE, "Whether an agent of the fleet serves the fence.",
	 rf_write_fleet_agent},
	{NAME("fleet_hosts"), GAUGE, "Hosts that the fleet has room for.", rf_write_fleet_hosts},
	{NAME("fleet_members"), GAUGE, "Hosts that the engine hears, this one included.",
	 rf_write_fleet_members},
	{NAME("fleet_shares"), GAUGE, "Sources with a share of a limit on this host.",
	 rf_write_fleet_shares},
	{NAME("fleet_contested"), GAUGE, "Sources that want more of a limit than is left.",
	 rf_write_fleet_contested},
	{NAME("fleet_asks"), COUNTER, "Asks for a larger share, by what became of them.",
	 rf_write_fleet_asks},
	{NAME("scan_age_seconds"), GAUGE, "Time since the last scan began.", write_age},
	{NAME("scan_interval_seconds"), GAUGE, "Time between two scans.", write_interval},
	{NAME("events"), COUNTER, "Events of the fence.", write_events},
	{NAME("events_suppressed"), COUNTER, "Events that were counted, and not told.",
	 write_suppressed},
	{NAME("history_bytes"), GAUGE, "Size of the history.", write_history_bytes},
	{NAME("history_write_errors"), COUNTER, "Scans that could not be recorded.",
	 write_history_errors},
	{NAME("build"), INFO, "Version of ringfence, and of its maps.", write_build},
};

/* In the text format, the name has what OpenMetrics leaves to the samples. */
static const char *suffix_of(const struct rf_writer *writer, enum type type)
{
	if (writer->page->is_open)
		return "";
	return type == COUNTER ? "_total" : type == INFO ? "_info" : "";
}

static const char *type_name(const struct rf_writer *writer, enum type type)
{
	static const char *const names[] = {"counter", "gauge", "histogram", "info"};

	return names[type == INFO && !writer->page->is_open ? GAUGE : type];
}

/* Has a fence before this one the same name? Prometheus would refuse all of it. */
static bool is_repeated(const struct rf_metrics_page *page, int i)
{
	for (int before = 0; before < i; before++)
		if (strcmp(page->fence[before]->fence, page->fence[i]->fence) == 0)
			return true;
	return false;
}

static void write_one_family(struct rf_writer *writer, const struct family *family)
{
	const struct rf_metrics_page *page = writer->page;
	const char *suffix = suffix_of(writer, family->type);

	rf_put(writer->out, "# HELP %s%s %s\n# TYPE %s%s %s\n", family->name, suffix, family->help,
	       family->name, suffix, type_name(writer, family->type));
	if (family->write == write_interval || family->write == write_build) {
		family->write(writer, NULL);
		return;
	}
	for (int i = 0; i < page->fences; i++) {
		const struct rf_metrics *metrics = page->fence[i];
		const bool is_told = metrics->is_up ||
				     (metrics->is_known &&
				      (family->write == write_up || family->write == write_age));

		if (is_told && !is_repeated(page, i))
			family->write(writer, metrics);
	}
}

char *rf_metrics_write(const struct rf_metrics_page *page, size_t *length)
{
	char *text = NULL;
	struct rf_writer writer = {.page = page, .out = open_memstream(&text, length)};

	if (!writer.out)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		writer.name = table[i].name;
		write_one_family(&writer, &table[i]);
	}
	if (page->is_open)
		rf_put(writer.out, "# EOF\n");
	if (!fclose(writer.out))
		return text;
	free(text);
	return NULL;
}
