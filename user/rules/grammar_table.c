// SPDX-License-Identifier: GPL-2.0
/*
 * The table of commands and options, and the words that are values; and properties beyond the kind
 * of a value: its parser, and mutually exclusive options.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ringfence/fleet.h"
#include "rules/grammar_option.h"
#include "rules/private.h"
#include "rules/settings.h"
#include "schema/reasons.h"

/*
 * Fields omitted from a row are intentionally zero; clang warns about that in plain rows, gcc does
 * not.
 */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#define NAMES .flags = RF_OPTION_NAMES

#define WITHIN(lowest, highest) .min = lowest, .max = highest
#define A_DAY TIMES("1s", "24h")
#define TO_CONFIRM A_DAY, .what = "time to confirm"

/* ---- words that are values ---- */

const struct rf_option rf_algorithm_words[] = {
	[RF_SLIDING] = {"sliding", .summary = "COUNT in any interval of TIME (default of packets, "
					      "and of a fleet)"},
	[RF_FIXED] = {"fixed", .summary = "aligned windows: up to twice COUNT across an edge"},
	[RF_LOG] = {"log", .summary = "exactly COUNT in any interval of TIME: 1-16 packets"},
	[RF_TOKEN] =
		{"token",
		 .summary = "token bucket: COUNT in TIME flow in, 'burst' is its size (default of "
			    "bytes)"},
	[RF_LEAKY] = {"leaky",
		      .summary = "even spacing: COUNT in TIME flow out, 'burst' is its size"},
	{},
};

const struct rf_option rf_edge_words[] = {
	[RF_EDGE_STRICT] = {"strict", .summary = "the oldest cell counts in full (default)"},
	[RF_EDGE_COARSE] = {"coarse",
			    .summary = "the oldest cell does not count: COUNT in TIME less a cell"},
	[RF_EDGE_WEIGHTED] = {"weighted",
			      .summary = "the oldest cell counts by its part within TIME"},
	{},
};

static int parse_protocol(const struct rf_option *option, const char *value, void *into,
			  struct rf_error *error)
{
	struct rf_draft *draft = into;
	uint32_t protocol;
	int err;

	(void)option;
	if (strcmp(value, "255") == 0)
		return rf_error_usage(error,
				      "'255': invalid protocol: it is reserved; it must be 0-254");
	err = rf_parse_number(value, "protocol", 0, 254, &protocol, error);
	if (!err)
		draft->made.limit.protocol = protocol;
	return err;
}

const struct rf_option rf_match_words[] = {
	[RF_MATCH_ANY] = {"any", .summary = "every packet except those of 'other' (default)",
			  NAMES},
	[RF_MATCH_TCP] = {"tcp", .summary = "TCP", NAMES},
	[RF_MATCH_SYN] = {"tcp syn", .summary = "SYNs without ACK: attempts to connect", NAMES},
	[RF_MATCH_UDP] = {"udp", .summary = "UDP", NAMES},
	[RF_MATCH_ICMP] = {"icmp", .summary = "ICMP and ICMPv6", NAMES},
	[RF_MATCH_PROTOCOL] = {"proto", RF_KIND_NUMBER, "N",
			       .summary = "an IP protocol by its number",
			       INTO(struct rf_draft, made.limit.protocol), .parse = parse_protocol},
	[RF_MATCH_OTHER] = {"other",
			    .summary = "packets that are not IP, and IPv6 neighbour discovery. No "
				       "other limit drops these packets. They share one window, "
				       "and only one limit may match them",
			    NAMES},
	{},
};

#define MODE_GIVEN INTO(struct rf_attach, mode_given)

/* sparse: attach cannot offload. */
const struct rf_option rf_mode_words[] = {
	[RF_NATIVE] = {"native", .summary = "in the driver (default)", MODE_GIVEN},
	[RF_GENERIC] = {"generic",
			.summary = "in the network stack: slow, and packets that the "
				   "kernel has merged (GRO) count as one",
			MODE_GIVEN},
	{},
};

const struct rf_option rf_then_words[] = {
	{"pass", .summary = "they pass, and are charged to nothing"},
	{"drop", .summary = "they are dropped"},
	{"aggregate", .summary = "they are charged to a window that their /24 or "
				 "/48 shares, at the rate of the limit"},
	{"challenge", .summary = "SYNs to listening sockets of this host are answered by a SYN "
				 "cookie, by which a genuine client connects; the others are "
				 "dropped, except for packets of open connections. Requires "
				 "'sysctl -w net.ipv4.tcp_syncookies=2'"},
	{},
};

/* ---- capture ---- */

#define REASON(reason, verdict, name, text, help) \
	[reason] = {name, .summary = RF_VERDICT_##verdict ": " help, NAMES},

const struct rf_option rf_reason_words[] = {RF_REASONS(REASON){}};

static const struct rf_option one_words[] = {
	{"in", RF_KIND_NUMBER, "N",
	 .summary = "sample one of every N packets, on each CPU (default: 1024); only sampled "
		    "packets incur the cost",
	 NAMES, INTO(struct rf_capture, one_in), WITHIN(1, RF_ONE_IN_MAX),
	 .what = "one in how many"},
	{},
};

#define PACKETS_MAX 1000000000

static const struct rf_option capture_options[] = {
	{"dropped", .summary = "packets that are dropped (default)", NAMES,
	 INTO(struct rf_capture, dropped)},
	{"passed", .summary = "packets that pass; with 'dropped': both", NAMES,
	 INTO(struct rf_capture, passed)},
	{"reason", RF_KIND_REASON, .words = rf_reason_words,
	 .flags = RF_OPTION_NAMES | RF_OPTION_MANY, INTO(struct rf_capture, reasons)},
	{"limit", RF_KIND_LIMIT, "NAME",
	 .summary = "only packets that this limit refused, or was charged for", NAMES,
	 INTO(struct rf_capture, limit)},
	{"from", RF_KIND_PREFIX, "PREFIX", .summary = "only packets from this network", NAMES,
	 INTO(struct rf_capture, from)},
	{"one", RF_KIND_WORD, .words = one_words, NAMES},
	{"most", RF_KIND_NUMBER, "N", .summary = "write N packets a second at most (default: 1000)",
	 NAMES, INTO(struct rf_capture, most), WITHIN(1, PACKETS_MAX),
	 .initial = RF_CAPTURE_MOST_DEFAULT, .what = "number of packets a second"},
	{"count", RF_KIND_NUMBER, "N", .summary = "stop after N packets", NAMES,
	 INTO(struct rf_capture, count), WITHIN(1, PACKETS_MAX), .what = "number of packets"},
	{"for", RF_KIND_TIME, "TIME", .summary = "stop after TIME (default: when interrupted)",
	 NAMES, INTO(struct rf_capture, time_ns), A_DAY, .what = "time to capture"},
	{"write", RF_KIND_FILE, "FILE|-",
	 .summary = "the file, which must not exist yet; -: standard output",
	 .flags = RF_OPTION_NAMES | RF_OPTION_MUST, INTO(struct rf_capture, path)},
	{},
};

/* Rejects reasons that the selected verdicts exclude; selects all by default. */
static int settle_reasons(struct rf_capture *capture, struct rf_error *error)
{
	const uint32_t given = capture->reasons;
	const bool is_open = !capture->dropped && !capture->passed;

	if (is_open && !given)
		capture->dropped = true;
	for (int i = 0; i < RF_REASON_COUNT; i++) {
		const bool is_drop = rf_reason_is_drop(i);
		bool *wanted = is_drop ? &capture->dropped : &capture->passed;

		if (!(given & 1U << i))
			continue;
		if (is_open)
			*wanted = true;
		if (!*wanted)
			return rf_error_usage(error,
					      "'reason %s': such packets are %s; leave out '%s'",
					      rf_reason_name(i), rf_reason_verdict(i),
					      is_drop ? RF_VERDICT_PASS : RF_VERDICT_DROP);
	}
	if (!given)
		capture->reasons = UINT32_MAX;
	return 0;
}

static int check_capture(void *arguments, uint64_t now_ns, struct rf_error *error)
{
	struct rf_capture *capture = arguments;

	(void)now_ns;
	if (!capture->path)
		return rf_error_usage(error, "the file is missing; write capture … write FILE, or "
					     "'write -' for standard output");
	if (!capture->one_in)
		capture->one_in = RF_ONE_IN_DEFAULT;
	return settle_reasons(capture, error);
}

/* ---- events ---- */

#define EVENT(type, name, part, priority, colour, message_id, help) {name, .summary = help},

const struct rf_option rf_event_words[] = {
#include "schema/events.def"
	{},
};

static const struct rf_option events_options[] = {
	{"watch",
	 .summary = "print the last events, or those since TIME, and then each "
		    "one as it happens, until interrupted",
	 INTO(struct rf_events_asked, is_watch)},
	{"since", RF_KIND_MOMENT, "TIME",
	 .summary = "no earlier than that (default: all). TIME: 14:02, "
		    "2026-11-22T14:02, or a time back: -2h",
	 INTO(struct rf_events_asked, since_ns)},
	{"until", RF_KIND_UNTIL, "TIME", .summary = "no later than that",
	 INTO(struct rf_events_asked, until)},
	{"of", RF_KIND_TYPES, "TYPE,…", .summary = "only events of these types:",
	 .words = rf_event_words, INTO(struct rf_events_asked, types)},
	{"from", RF_KIND_PREFIX, "PREFIX",
	 .summary = "only events of sources in this network; if the history has networks instead "
		    "of addresses, of networks that overlap it",
	 INTO(struct rf_events_asked, from)},
	{},
};

/* The time of `until`, if present. */
static int settle_until(const char *until, uint64_t since_ns, uint64_t now_ns, uint64_t *until_ns,
			struct rf_error *error)
{
	return until ? rf_parse_until(until, since_ns, now_ns, until_ns, error) : 0;
}

static int check_events(void *arguments, uint64_t now_ns, struct rf_error *error)
{
	struct rf_events_asked *asked = arguments;

	if (asked->is_watch && asked->until)
		return rf_error_usage(
			error,
			"'until': 'watch' runs until it is interrupted; leave out one of the two");
	return settle_until(asked->until, asked->since_ns, now_ns, &asked->until_ns, error);
}

/* ---- the fleet ---- */

static const struct rf_option fleet_bans_words[] = {
	{"list", .summary = "print them (default)"},
	{"flush", .summary = "remove them all on this host"},
	{},
};

static const struct rf_option fleet_by_words[] = {
	{"drops", .summary = "the packets that the hosts dropped"},
	{"rate", .summary = "the packets a second that come now, on all hosts together"},
	{"hosts", .summary = "the number of hosts that report the source"},
	{},
};

static const struct rf_option fleet_top_options[] = {
	{"by", RF_KIND_WORD, .words = fleet_by_words, INTO(struct rf_fleet_top, order)},
	{},
};

static int check_fleet_top(void *arguments, uint64_t now_ns, struct rf_error *error)
{
	struct rf_fleet_top *top = arguments;

	(void)now_ns;
	(void)error;
	top->by = fleet_by_words[top->order].word;
	if (!top->rows)
		top->rows = RF_TOP_DEFAULT;
	return 0;
}

/* ---- current and past counts ---- */

#define WATCH_SECONDS_MAX 86400

static const struct rf_option order_words[] = {
	{"drops", .summary = "the sources with the most drops (default)"},
	{"rate", .summary = "the sources with the highest rate over the limit's present window"},
	{"used", .summary = "the sources that have used up most of their limit"},
	{},
};

#define AT_SUMMARY \
	"from the history, as of TIME: 14:02, 14:02:11, 2026-11-22T14:02, or a time back: -2h"

static const struct rf_option stats_options[] = {
	{"watch", RF_KIND_NUMBER, "SECONDS",
	 .summary = "print a line of rates every SECONDS (default: 1) until interrupted",
	 .flags = RF_OPTION_MAY, INTO(struct rf_stats, seconds), WITHIN(1, WATCH_SECONDS_MAX),
	 .bare = 1, .what = "number of seconds"},
	{"reasons", .summary = "with watch: the rate of each reason as well",
	 INTO(struct rf_stats, reasons)},
	{"total", .summary = "count since the attach, regardless of resets",
	 INTO(struct rf_stats, total)},
	{"reset", .summary = "reset the counters of the fence and its limits to 0",
	 INTO(struct rf_stats, reset)},
	{"at", RF_KIND_MOMENT, "TIME", .summary = AT_SUMMARY, NAMES, INTO(struct rf_stats, at_ns)},
	{},
};

static int check_stats(void *arguments, uint64_t now_ns, struct rf_error *error)
{
	const struct rf_stats *stats = arguments;

	(void)now_ns;
	if (stats->reasons && !stats->seconds)
		return rf_error_usage(error, "'reasons': stats prints them; with rates, write "
					     "'stats watch reasons'");
	if ((stats->seconds != 0) + stats->total + stats->reset + (stats->at_ns != 0) > 1)
		return rf_error_usage(error,
				      "'watch', 'total', 'reset' and 'at' exclude each other");
	return 0;
}

static const struct rf_option metrics_options[] = {
	{"file", RF_KIND_FILE, "PATH",
	 .summary = "write them into this file, atomically, for node_exporter's textfile "
		    "collector, which reads files named *.prom. Counters continue from the values "
		    "in the file, even if a fence was replaced",
	 NAMES, INTO_ALL(const char *)},
	{},
};

static int check_metrics(void *arguments, uint64_t now_ns, struct rf_error *error)
{
	const char *const *path = arguments;

	(void)now_ns;
	if (*path && strcmp(*path, "-") == 0)
		return rf_error_usage(error,
				      "'file -': 'ringfence metrics' without 'file' prints them");
	return 0;
}

static const struct rf_option top_options[] = {
	{"by", RF_KIND_WORD, .words = order_words, INTO(struct rf_top, order)},
	{"limit", RF_KIND_LIMIT, "NAME", .summary = "only the sources of this limit",
	 INTO(struct rf_top, limit)},
	{"within", RF_KIND_PREFIX, "PREFIX", .summary = "only the sources in this network",
	 INTO(struct rf_top, within)},
	{"sample", RF_KIND_TIME, "TIME",
	 .summary = "also the sources without a window: listed, new, or matched by no limit. "
		    "Takes samples of packets for TIME, 1s-60s, and estimates their rates. "
		    "Needs the right to change the fence",
	 NAMES, INTO(struct rf_top, sample_ns), TIMES("1s", "60s"), .what = "time to take samples"},
	{"at", RF_KIND_MOMENT, "TIME", .summary = AT_SUMMARY, NAMES, INTO(struct rf_top, at_ns)},
	{},
};

/* The history has no samples, and every source of a limit has a window. */
static int check_top(void *arguments, uint64_t now_ns, struct rf_error *error)
{
	struct rf_top *top = arguments;

	(void)now_ns;
	if (top->sample_ns && top->at_ns)
		return rf_error_usage(error, "'sample': samples are of packets that come now; "
					     "leave out 'at'");
	if (top->sample_ns && top->limit)
		return rf_error_usage(error, "'sample': a source without a window is of no limit; "
					     "leave out 'limit'");
	top->has_rows = top->rows;
	if (!top->has_rows)
		top->rows = RF_TOP_DEFAULT;
	return 0;
}

static const struct rf_option show_options[] = {
	{"at", RF_KIND_MOMENT, "TIME", .summary = AT_SUMMARY, NAMES, INTO_ALL(uint64_t)},
	{},
};

/* `per /24` is a word of limits: what sources are, is up to the limit that saw them. */
static int parse_per(const struct rf_option *option, const char *value, void *into,
		     struct rf_error *error)
{
	struct rf_suggest_asked *asked = into;

	if (*value != '/')
		return rf_parse_time_in(option, value, &asked->per_ns, error);
	return rf_error_usage(error,
			      "'per %s': expects a TIME here, like 1s; sources are grouped as in a "
			      "limit; select such a limit with 'limit NAME', or add it: ringfence "
			      "limit add probe-net rate 50k/1s %s %s shadow",
			      value, atoi(value + 1) > 32 ? "per6" : "per", value);
}

static const struct rf_option suggest_options[] = {
	{"limit", RF_KIND_LIMIT, "NAME",
	 .summary = "for the sources of this limit (default: the first one "
		    "that sees every packet)",
	 NAMES, INTO(struct rf_suggest_asked, limit)},
	{"per", RF_KIND_TIME, "TIME",
	 .summary = "COUNT in this TIME, as in a limit (default: the TIME of the limit)", NAMES,
	 INTO(struct rf_suggest_asked, per_ns), TIMES("1ms", "8784h"), .what = "TIME of a limit",
	 .parse = parse_per},
	{"since", RF_KIND_MOMENT, "TIME",
	 .summary = "from the history, from then on (default: -24h). TIME: "
		    "14:02, 2026-11-22T14:02, or a time back: -2h",
	 NAMES, INTO(struct rf_suggest_asked, since_ns)},
	{"for", RF_KIND_TIME, "TIME",
	 .summary = "from current traffic, measured for this time; without a history", NAMES,
	 INTO(struct rf_suggest_asked, for_ns), TIMES("2s", "24h"), .what = "time to watch"},
	{},
};

static int check_suggest(void *arguments, uint64_t now_ns, struct rf_error *error)
{
	const struct rf_suggest_asked *asked = arguments;

	(void)now_ns;
	if (asked->since_ns && asked->for_ns)
		return rf_error_usage(error, "'since' reads the history, and 'for' what comes in "
					     "now; leave out one of them");
	return 0;
}

static const struct rf_option report_options[] = {
	{"since", RF_KIND_MOMENT, "TIME",
	 .summary = "all that happened since then. TIME: 14:02, 2026-11-22T14:02, or a time back: "
		    "-2h",
	 NAMES, INTO(struct rf_report, since_ns)},
	{"until", RF_KIND_UNTIL, "TIME", .summary = "no later than that (default: now)", NAMES,
	 INTO(struct rf_report, until)},
	{},
};

static int check_report(void *arguments, uint64_t now_ns, struct rf_error *error)
{
	struct rf_report *report = arguments;

	if (report->id && (report->since_ns || report->until))
		return rf_error_usage(error,
				      "'%s': an id has its own times; leave out 'since' "
				      "and 'until'",
				      report->id);
	if (report->until && !report->since_ns)
		return rf_error_usage(error, "'until': expects 'since TIME' as well");
	return settle_until(report->until, report->since_ns, now_ns, &report->until_ns, error);
}

/* ---- words that are values of the other options ---- */

static const struct rf_option from_words[] = {
	{"file", RF_KIND_FILE, "PATH",
	 .summary = "packets from the networks in a file, one prefix a line",
	 INTO(struct rf_draft, made.from_file)},
	{},
};

static const struct rf_option count_words[] = {
	{"rejected", .summary = "dropped packets use up the limit as well"},
	{},
};

static int parse_one_in(const struct rf_option *option, const char *value, void *into,
			struct rf_error *error)
{
	struct rf_draft *draft = into;
	uint32_t one_in;
	int err;

	(void)option;
	if (strncmp(value, "1/", 2) != 0)
		return rf_error_usage(error, "'%s': 'truncate' expects a share, like 1/2", value);
	err = rf_parse_number(value + 2, "share", 1, RF_TRUNCATE_ONE_IN_MAX, &one_in, error);
	if (!err)
		draft->made.limit.truncate_one_in = one_in;
	return err;
}

static const struct rf_option over_words[] = {
	{"truncate", RF_KIND_SHARE, "1/N",
	 .summary = "of N DNS queries over the limit, one gets a truncated response (TC=1), after "
		    "which a resolver asks again over TCP. With 'match udp' and 'dport'",
	 NAMES, INTO(struct rf_draft, made.limit.truncate_one_in), .parse = parse_one_in},
	{},
};

static const struct rf_option offline_words[] = {
	{"initial", .summary = "the part that passes by default", NAMES, .bit = RF_OFFLINE_INITIAL,
	 INTO(struct rf_draft, made.limit.flags)},
	{},
};

static const struct rf_option ban_then[] = {
	{"all",
	 .summary = "a source over the limit is dropped for TIME, including packets that the limit "
		    "does not match",
	 NAMES, .bit = RF_BAN_ALL, INTO(struct rf_draft, made.limit.flags)},
	{},
};

static const struct rf_option shell_words[] = {
	{"bash", .summary = "the completion of bash (default)"},
	{"zsh", .summary = "the completion of zsh"},
	{"fish", .summary = "the completion of fish"},
	{},
};

static const struct rf_option list_words[] = {
	{"list", .summary = "the same"},
	{},
};

static const struct rf_option limit_words[] = {
	{"all", .summary = "every limit", NAMES},
	{},
};

static const struct rf_option all_words[] = {
	{"all", .summary = "every ban", NAMES},
	{},
};

/* ---- options ---- */

const struct rf_option rf_common_options[] = {
	{"dev", RF_KIND_DEV, "IF|FENCE", .summary = "the fence on this interface, or of this name"},
	{"--json", .summary = "print JSON"},
	{"--verbose", .summary = "print messages of libbpf and the verifier"},
	{},
};

#define NO(meaning) meaning
#define PART(id, word, option, store, no, ...) \
	{word, .summary = no, .bit = 1U << RF_OPT_##id, INTO(struct rf_draft, dropped)},

#define HEAD(...)
#define WORD(...)

static const struct rf_option no_words[] = {
#include "schema/limit.def"
	{},
};

#undef PART
#undef HEAD
#undef WORD

static int parse_limit_rate(const struct rf_option *option, const char *value, void *into,
			    struct rf_error *error)
{
	struct rf_draft *draft = into;
	struct rf_rate *rate = &draft->rate.rate;
	int err = rf_parse_rate(strcmp(value, "0") ? value : "0/1s", rate, error);

	(void)option;
	draft->rate.text = value;
	if (!err && !rate->count) /* in any time and unit it is the same */
		*rate = (struct rf_rate){.window_ns = RF_NS_PER_S};
	return err;
}

#define OPTION(...) __VA_ARGS__
#define PARSED(by) .parse = by
#define NOWHERE .size = 0
#define STORED(member) INTO(struct rf_draft, member)
#define PART(id, word, option, store, ...) [RF_OPT_##id] = {word, option, store},
#define HEAD(id, word, option, store, ...) [RF_OPT_##id] = {word, option, store},
#define WORD(id, word, option, store) [RF_OPT_##id] = {word, option, store},

_Static_assert(RF_LIMIT_OPTIONS <= 32, "the options present are a bit set");

const struct rf_option rf_limit_options[RF_LIMIT_OPTIONS + 1] = {
#include "schema/limit.def"
	{},
};

#define CONFIRM_ATTACH                                                                      \
	"unless 'ringfence confirm' runs within TIME, a new fence stops dropping packets, " \
	"regardless of its rules"

static const struct rf_option attach_options[] = {
	{"dev", RF_KIND_INTERFACE, "IF",
	 .summary = "an interface whose name is a word of this command, such as 'mode'",
	 .flags = RF_OPTION_MANY},
	{"fence", RF_KIND_FENCE, "NAME",
	 .summary = "one fence for all these interfaces (default: one for each)",
	 .flags = RF_OPTION_SHOWN, INTO(struct rf_attach, fence)},
	{"mode", RF_KIND_WORD, .words = rf_mode_words, .flags = RF_OPTION_SHOWN,
	 INTO(struct rf_attach, mode)},
	{"sources", RF_KIND_NUMBER, "N",
	 .summary = "windows for each address family (default: 65536)",
	 INTO(struct rf_attach, sources), WITHIN(1, 1U << 26), .what = "number of sources"},
	{"leases", RF_KIND_NUMBER, "N",
	 .summary = "sources whose packets each CPU can decide on without their windows, 32 bytes "
		    "each; 0: none (default: of all CPUs together, twice the number of sources)",
	 INTO(struct rf_attach, leases), .max = 1U << 24, .initial = RF_LEASES_NOT_GIVEN,
	 .what = "number of leases"},
	{"fleet",
	 .summary = "a new fence may share limits with other hosts: its windows "
		    "have room for shares, 32 bytes each. Not in a chain",
	 INTO(struct rf_attach, fleet)},
	{"confirm", RF_KIND_TIME, "TIME", .summary = CONFIRM_ATTACH,
	 INTO(struct rf_attach, confirm_ns), TO_CONFIRM},
	{"chain",
	 .summary = "run alongside other programs, through libxdp's dispatcher: after programs of "
		    "a priority below 20, such as xdp-filter, before the others. Packets that an "
		    "earlier program drops are neither counted nor charged. During an upgrade in "
		    "place, the new and the old program run together briefly: packets are charged "
		    "twice, and none bypasses the fence",
	 .heading = "If another XDP program is attached, the command names it and fails, unless:",
	 INTO(struct rf_attach, chain)},
	{"replace",
	 .summary = "remove the other program first, or a fence of another map "
		    "ABI; between the two programs a packet may pass. A program "
		    "that a bpf_link holds is not removed",
	 INTO(struct rf_attach, replace)},
	{},
};

/* COUNT packets in TIME, into a struct rf_rate. */
static int parse_packet_rate(const struct rf_option *option, const char *value, void *into,
			     struct rf_error *error)
{
	struct rf_rate rate;
	int err = rf_parse_rate(value, &rate, error);

	if (err)
		return err;
	if (rate.in_bits)
		return rf_error_usage(error,
				      "'%s': invalid rate: %s are counted in packets; write it "
				      "like 10k/1s",
				      value, option->what);
	if (rate.count < 1 || rate.count > RF_LIMIT_MAX)
		return rf_error_usage(error, "'%s': invalid rate: the count must be 1-%u", value,
				      RF_LIMIT_MAX);
	*(struct rf_rate *)((char *)into + option->at) = rate;
	return 0;
}

static const struct rf_option except_words[] = {
	{"established",
	 .summary = "packets of this host's open TCP connections pass, and at most COUNT of their "
		    "sources in TIME get a window. 'challenge' implies it"},
	{},
};

static const struct rf_option dns_words[] = {
	{"none", .summary = "no query is answered", NAMES,
	 INTO(struct rf_newcomers_draft, is_dns_none)},
	{},
};

const struct rf_option rf_newcomers_options[] = {
	[RF_OPT_NEW_RATE] = {"rate", RF_KIND_RATE, "COUNT/TIME",
			     .summary =
				     "that many newcomers get a window in each TIME. A COUNT of "
				     "more than a quarter of the fence's 'sources' is spread over "
				     "TIME",
			     .flags = RF_OPTION_MUST, INTO(struct rf_newcomers_draft, made.rate),
			     .what = "newcomers", .parse = parse_packet_rate},
	[RF_OPT_NEW_THEN] = {"then", RF_KIND_WORD, .words = rf_then_words,
			     .heading = "What happens to packets of newcomers over the rate:",
			     .flags = RF_OPTION_MUST, INTO(struct rf_newcomers_draft, made.then),
			     .min = RF_NEWCOMERS_PASS},
	[RF_OPT_NEW_EXCEPT] = {"except", RF_KIND_WORD, .words = except_words,
			       .heading = "With 'drop':",
			       .flags = RF_OPTION_SHOWN | RF_OPTION_NAMES,
			       INTO(struct rf_newcomers_draft, made.except_established),
			       .min = true},
	[RF_OPT_NEW_ANSWERS] = {"answers", RF_KIND_RATE, "COUNT/TIME",
				.summary = "at most that many answers are sent in TIME (default: "
					   "1M/1s)",
				.heading = "With 'challenge':",
				.flags = RF_OPTION_SHOWN | RF_OPTION_NAMES,
				INTO(struct rf_newcomers_draft, made.answers), .what = "answers",
				.parse = parse_packet_rate},
	[RF_OPT_NEW_DNS] = {"dns", RF_KIND_PORTS, "PORT,…", .words = dns_words,
			    .summary = "DNS queries over UDP to these ports, 4 at most, are "
				       "answered with TC=1: a genuine resolver asks again over "
				       "TCP (default: 53)",
			    .flags = RF_OPTION_SHOWN | RF_OPTION_NAMES,
			    INTO(struct rf_newcomers_draft, dns)},
	[RF_OPT_NEW_OFF] = {"off", .summary = "every newcomer gets a window (default)",
			    .heading = "Or", .flags = RF_OPTION_INSTEAD},
	{},
};

static const struct rf_option pause_options[] = {
	{"for", RF_KIND_TIME, "TIME",
	 .summary = "resume automatically after TIME, 1s to 24h (default: 10m)", NAMES,
	 INTO_ALL(uint64_t), A_DAY, .initial = 10 * 60 * RF_NS_PER_S, .what = "time of a pause"},
	{},
};

#define LIST_FOR                                                                                 \
	"for", RF_KIND_TIME, "TIME", .summary = "the entry expires after TIME (default: never)", \
				     INTO(struct rf_list_text, time_ns), TIMES("1s", "8784h"),   \
				     .what = "time on a list"
#define LIST_OWNER "by", RF_KIND_OWNER, "NAME", INTO(struct rf_list_text, by)
#define LIST_BY(default)                                                                          \
	LIST_OWNER, .summary = "the owner of the entry; an entry with several owners is removed " \
			       "with the last (default: " default ")"
#define LIST_UNTIL_BY                  \
	LIST_OWNER, .words = by_words, \
		    .summary = "removes only the entry of that owner (default: of the only one)"

#define FORCE_UNALLOW                                                                           \
	"allow it if the deny list then drops the peer of your SSH connection, or a subnet or " \
	"the gateway of an interface"
#define CONFIRM_LIST                                 \
	"confirm", RF_KIND_TIME, "TIME", TO_CONFIRM, \
		.summary = "undoes the change unless 'ringfence confirm' runs within TIME"

static const struct rf_option by_words[] = {{"all", .summary = "of every owner", NAMES}, {}};

static const struct rf_option allow_options[] = {
	{LIST_FOR, .flags = RF_OPTION_SHOWN},
	{LIST_BY("manual"), .flags = RF_OPTION_NAMES | RF_OPTION_SHOWN},
	{},
};

static const struct rf_option deny_options[] = {
	{LIST_FOR, .flags = RF_OPTION_SHOWN},
	{LIST_BY("manual"), .flags = RF_OPTION_NAMES | RF_OPTION_SHOWN},
	{"fleet",
	 .summary = "on all hosts of the fleet that take bans, by way of its agent; TIME of 1h at "
		    "most, a prefix of /24 or longer, of IPv6 /48",
	 .flags = RF_OPTION_NAMES | RF_OPTION_SHOWN, INTO(struct rf_list_text, in_fleet)},
	{"force",
	 .summary = "also if the prefix covers the peer of your SSH connection, or a subnet or "
		    "the gateway of an interface",
	 .flags = RF_OPTION_NAMES | RF_OPTION_SHOWN, INTO(struct rf_list_text, force)},
	{CONFIRM_LIST, .flags = RF_OPTION_SHOWN, INTO(struct rf_list_text, confirm_ns)},
	{},
};

static int check_deny(void *arguments, uint64_t now_ns, struct rf_error *error)
{
	const struct rf_list_text *text = arguments;

	(void)now_ns;
	if (text->in_fleet && text->confirm_ns)
		return rf_error_usage(error, "'confirm': it undoes nothing on other hosts; leave "
					     "out 'confirm' or 'fleet'");
	return 0;
}

static const struct rf_option unallow_options[] = {
	{LIST_UNTIL_BY, .flags = RF_OPTION_NAMES | RF_OPTION_SHOWN},
	{"force", .summary = FORCE_UNALLOW, .flags = RF_OPTION_NAMES | RF_OPTION_SHOWN,
	 INTO(struct rf_list_text, force)},
	{},
};

static const struct rf_option undeny_options[] = {
	{LIST_UNTIL_BY, .flags = RF_OPTION_NAMES | RF_OPTION_SHOWN},
	{"fleet", .summary = "also on the hosts that took this host's ban",
	 .flags = RF_OPTION_NAMES | RF_OPTION_SHOWN, INTO(struct rf_list_text, in_fleet)},
	{},
};

static const struct rf_option load_options[] = {
	{"replace",
	 .summary = "replace the owner's entries with the entries of the file, atomically",
	 INTO(struct rf_list_text, replace)},
	{"skip-invalid",
	 .summary = "loads the other lines where some are wrong, names those, and exits with 3",
	 INTO(struct rf_list_text, skip_invalid)},
	{LIST_BY("load"), NAMES},
	{"force",
	 .summary = "also prefixes that cover the peer of your SSH connection, or a subnet or the "
		    "gateway of an interface; else 'deny load' skips and names those, and exits "
		    "with 3",
	 NAMES, INTO(struct rf_list_text, force)},
	{CONFIRM_LIST, INTO(struct rf_list_text, confirm_ns)},
	{},
};

static const struct rf_option allow_flush_options[] = {
	{LIST_OWNER, .summary = "only the entries of that owner",
	 .flags = RF_OPTION_NAMES | RF_OPTION_SHOWN},
	{"force", .summary = FORCE_UNALLOW, .flags = RF_OPTION_NAMES | RF_OPTION_SHOWN,
	 INTO(struct rf_list_text, force)},
	{},
};

static const struct rf_option flush_options[] = {
	{LIST_OWNER, .summary = "only the entries of that owner", NAMES},
	{},
};

#define CONFIRM_RULES                                                                             \
	"confirm", RF_KIND_TIME, "TIME", TO_CONFIRM,                                              \
		.summary =                                                                        \
			"unless 'ringfence confirm' runs within TIME, the old rules return. The " \
			"data path does this; no process has to run"

static const struct rf_option confirm_options[] = {
	{CONFIRM_RULES, INTO_ALL(uint64_t)},
	{},
};

static const struct rf_option enforce_options[] = {
	{CONFIRM_RULES, INTO(struct rf_enforce_text, confirm_ns)},
	{"force", .summary = RF_FORCE_LIMIT, INTO(struct rf_enforce_text, force)},
	{},
};

static const struct rf_option batch_options[] = {
	{"skip-refused",
	 .summary =
		 "leaves out changes of lists that are refused, such as a 'deny add' that covers "
		 "a subnet of an interface, names those, and exits with 3",
	 .flags = RF_OPTION_SHOWN, INTO(struct rf_batch_text, skip_refused)},
	{CONFIRM_LIST, .flags = RF_OPTION_SHOWN, INTO(struct rf_batch_text, confirm_ns)},
	{},
};

static const struct rf_option save_options[] = {
	{"confirmed",
	 .summary = "without unconfirmed rules: the rules that are restored without 'confirm'",
	 .flags = RF_OPTION_NAMES, INTO_ALL(bool)},
	{},
};

static const struct rf_option diff_options[] = {
	{"all", .summary = "print every prefix of a list that differs, not only ten",
	 .flags = RF_OPTION_NAMES, INTO_ALL(bool)},
	{},
};

/* The words of a limit that `limit try` can evaluate from the limit's cells. */
static const struct rf_option try_options[] = {
	{"rate", RF_KIND_RATE, "COUNT/TIME", .summary = "TIME no shorter than a cell of the limit",
	 NAMES},
	{"from", RF_KIND_PREFIX, "PREFIX,…",
	 .summary = "of the limit's sources, those in these networks", NAMES},
	{"per", RF_KIND_LENGTH, "/N", .summary = "larger networks as one source", NAMES},
	{"per6", RF_KIND_LENGTH, "/N", .summary = "of IPv6", NAMES},
	{"algorithm", RF_KIND_WORD, .words = rf_algorithm_words, NAMES},
	{"burst", RF_KIND_COUNT, "COUNT", .summary = "of token and leaky", NAMES},
	{"cells", RF_KIND_NUMBER, "N", .summary = "of sliding: 2-31", NAMES},
	{"edge", RF_KIND_WORD, .words = rf_edge_words, NAMES},
	{"since", RF_KIND_MOMENT, "TIME",
	 .summary = "from then on (default: -1h). TIME: 14:02, "
		    "2026-11-22T14:02, or a time back: -2h",
	 NAMES, INTO(struct rf_try, since_ns)},
	{"until", RF_KIND_UNTIL, "TIME", .summary = "no later than that (default: now)", NAMES,
	 INTO(struct rf_try, until)},
	{},
};

/* ---- commands ---- */

/* The size of the arguments of a command, if rf_parse_arguments() has room for it. */
#define FITS(type) (sizeof(type) + 0 * sizeof(char[sizeof(type) <= RF_ARGUMENTS_SIZE ? 1 : -1]))
#define FILLS(type) .size = FITS(type)
#define FILLED_BY(type, checked_by) .size = FITS(type), .check = checked_by
#define SYNTAX(...)         \
	{                   \
		__VA_ARGS__ \
	}
#define COMMAND(id, function, syntax, help) [RF_CMD_##id] = syntax,

const struct rf_syntax rf_syntax[RF_CMD_COUNT] = {
#include "schema/commands.def"
};
