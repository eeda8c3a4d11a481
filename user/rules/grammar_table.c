// SPDX-License-Identifier: GPL-2.0
/* The table of commands and options, and the words that are values: data, and what finds a row. */
#include <stddef.h>
#include <string.h>

#include "rules/grammar.h"
#include "rules/grammar_table.h"
#include "rules/private.h"
#include "schema/reasons.h"

/* What a row leaves out is zero on purpose; clang minds that of plain rows, gcc does not. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#define NAMES .flags = RF_OPTION_NAMES

#define DAY_S (24 * 3600)
#define TO_CONFIRM .min = 1, .max = DAY_S, .what = "time to confirm", .range = "1s-24h"

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

const struct rf_option rf_match_words[] = {
	[RF_MATCH_ANY] = {"any", .summary = "every packet (default)", NAMES},
	[RF_MATCH_TCP] = {"tcp", .summary = "TCP", NAMES},
	[RF_MATCH_SYN] = {"tcp syn", .summary = "SYNs without ACK: attempts to connect", NAMES},
	[RF_MATCH_UDP] = {"udp", .summary = "UDP", NAMES},
	[RF_MATCH_ICMP] = {"icmp", .summary = "ICMP and ICMPv6", NAMES},
	[RF_MATCH_PROTOCOL] = {"proto", RF_KIND_NUMBER, "N",
			       .summary = "an IP protocol by its number"},
	[RF_MATCH_OTHER] = {"other",
			    .summary = "packets that are not IP, and IPv6 neighbour discovery. No "
				       "other limit drops these packets. They share one window, "
				       "and only one limit may match them",
			    NAMES},
	{},
};

/* sparse: attach cannot offload. */
const struct rf_option rf_mode_words[] = {
	[RF_NATIVE] = {"native", .summary = "in the driver (default)"},
	[RF_GENERIC] = {"generic", .summary = "in the network stack: slow, and packets that the "
					      "kernel has merged (GRO) count as one"},
	{},
};

const struct rf_option rf_then_words[] = {
	{"open", .summary = "they pass, and are charged to nothing"},
	{"closed", .summary = "they are dropped"},
	{"aggregate", .summary = "they are charged to a window that their /24 or /48 shares"},
	{},
};

/* ---- capture ---- */

#define REASON(reason, verdict, name, text, help) \
	[reason] = {name, .summary = RF_VERDICT_##verdict ": " help, NAMES},

const struct rf_option rf_reason_words[] = {RF_REASONS(REASON){}};

static const struct rf_option one_words[] = {
	{"in", RF_KIND_NUMBER, "N",
	 .summary = "take one of every N packets, on each CPU (default: 1024); what it costs, only "
		    "the packets that are taken pay",
	 NAMES},
	{},
};

#define PACKETS_MAX 1000000000

const struct rf_option rf_capture_options[] = {
	[RF_OPT_DROPPED] = {"dropped", .summary = "packets that are dropped (default)", NAMES,
			    INTO(struct rf_capture, dropped)},
	[RF_OPT_PASSED] = {"passed", .summary = "packets that pass; with 'dropped': both", NAMES,
			   INTO(struct rf_capture, passed)},
	[RF_OPT_REASON] = {"reason", RF_KIND_REASON, .words = rf_reason_words,
			   .flags = RF_OPTION_NAMES | RF_OPTION_MANY},
	[RF_OPT_CAPTURE_LIMIT] =
		{"limit", RF_KIND_LIMIT, "NAME",
		 .summary = "only packets that this limit refused, or was charged for", NAMES,
		 INTO(struct rf_capture, limit)},
	[RF_OPT_CAPTURE_FROM] = {"from", RF_KIND_PREFIX, "PREFIX",
				 .summary = "only packets from this network", NAMES},
	[RF_OPT_ONE] = {"one", RF_KIND_WORD, .words = one_words, NAMES},
	[RF_OPT_MOST] = {"most", RF_KIND_NUMBER, "N",
			 .summary = "write N packets a second at most (default: 1000)", NAMES,
			 INTO(struct rf_capture, most), .min = 1, .max = PACKETS_MAX,
			 .what = "number of packets a second"},
	[RF_OPT_PACKETS_COUNT] = {"count", RF_KIND_NUMBER, "N", .summary = "end after N packets",
				  NAMES, INTO(struct rf_capture, count), .min = 1,
				  .max = PACKETS_MAX, .what = "number of packets"},
	[RF_OPT_CAPTURE_FOR] = {"for", RF_KIND_TIME, "TIME",
				.summary = "end after TIME (default: when interrupted)", NAMES,
				INTO(struct rf_capture, time_ns), .min = 1, .max = DAY_S,
				.what = "time to capture", .range = "1s-24h"},
	[RF_OPT_WRITE] = {"write", RF_KIND_FILE, "FILE|-",
			  .summary = "the file, which must not exist yet; -: standard output",
			  .flags = RF_OPTION_NAMES | RF_OPTION_MUST, INTO(struct rf_capture, path)},
	{},
};

/* ---- events ---- */

#define EVENT(type, name, part, priority, colour, message_id, help) {name, .summary = help},

const struct rf_option rf_event_words[] = {
#include "schema/events.def"
	{},
};

const struct rf_option rf_events_options[] = {
	[RF_OPT_EVENTS_WATCH] =
		{"watch",
		 .summary = "print the last events, or those since TIME, and then each "
			    "one as it happens, until interrupted",
		 INTO(struct rf_events_asked, is_watch)},
	[RF_OPT_SINCE] = {"since", RF_KIND_MOMENT, "TIME",
			  .summary = "no earlier than that (default: all). TIME: 14:02, "
				     "2026-11-22T14:02, or a time back: -2h",
			  INTO(struct rf_events_asked, since_ns)},
	[RF_OPT_UNTIL] = {"until", RF_KIND_UNTIL, "TIME", .summary = "no later than that",
			  INTO(struct rf_events_asked, until)},
	[RF_OPT_OF] = {"of", RF_KIND_TYPES, "TYPE,…",
		       .summary = "only events of these types:", .words = rf_event_words},
	[RF_OPT_EVENTS_FROM] =
		{"from", RF_KIND_PREFIX, "PREFIX",
		 .summary = "only events of sources in this network; where the history has "
			    "networks instead of addresses, of those that overlap it"},
	{},
};

/* ---- the fleet ---- */

static const struct rf_option password_words[] = {
	{"file", RF_KIND_FILE, "PATH", .summary = "whose first line is the password"},
	{},
};

static const struct rf_option key_words[] = {
	{"file", RF_KIND_FILE, "PATH", .summary = "whose first line is the fleet's bucket key"},
	{},
};

static const struct rf_option bans_words[] = {
	{"take", .summary = "the bans that other hosts tell the fleet: 1h and 1024 at most"},
	{},
};

const struct rf_option rf_fleet_bans_words[] = {
	{"list", .summary = "print them (default)"},
	{"flush", .summary = "end them all on this host"},
	{},
};

const struct rf_option rf_join_options[] = {
	[RF_OPT_REDIS] = {"redis", RF_KIND_ENGINE, "HOST:PORT",
			  .summary = "where Redis 7 or Valkey listens; of a cluster several, with "
				     "commas between",
			  .flags = RF_OPTION_MUST},
	[RF_OPT_HOSTS] = {"hosts", RF_KIND_NUMBER, "N",
			  .summary = "all hosts that may be in the fleet, and one more for reboots",
			  .flags = RF_OPTION_MUST},
	[RF_OPT_USER] = {"user", RF_KIND_USER, "USER", .summary = "of the engine"},
	[RF_OPT_PASSWORD] = {"password", RF_KIND_WORD, .words = password_words},
	[RF_OPT_GRACE] = {"grace", RF_KIND_TIME, "TIME",
			  .summary = "after which a host that does not hear the engine is alone, "
				     "200ms to 60s (default: 2s)"},
	[RF_OPT_ASKS] = {"asks", RF_KIND_RATE, "N/s",
			 .summary = "asks that are sent to the engine, at most (default: 5000/s)"},
	[RF_OPT_BANS] = {"bans", RF_KIND_WORD, .words = bans_words},
	[RF_OPT_KEY] = {"key", RF_KIND_WORD, .words = key_words},
	{},
};

static const struct rf_option fleet_by_words[] = {
	{"drops", .summary = "the packets that the hosts dropped"},
	{"rate", .summary = "the packets a second that come now, on all hosts together"},
	{"hosts", .summary = "how many hosts tell of the source"},
	{},
};

const struct rf_option rf_fleet_top_options[] = {
	[RF_OPT_FLEET_BY] = {"by", RF_KIND_WORD, .words = fleet_by_words},
	{},
};

/* ---- what a fence counts, or counted ---- */

const struct rf_option rf_order_words[] = {
	{"drops", .summary = "the sources with the most drops (default)"},
	{"rate", .summary = "the sources with the highest rate over the limit's present window"},
	{"used", .summary = "the sources that have used up most of their limit"},
	{},
};

#define AT_SUMMARY                                                                        \
	"from the history: what was then. TIME: 14:02, 14:02:11, 2026-11-22T14:02, or a " \
	"time back: -2h"

const struct rf_option rf_stats_options[] = {
	[RF_OPT_WATCH] =
		{"watch", RF_KIND_NUMBER, "SECONDS",
		 .summary = "print a line of rates every SECONDS (default: 1) until interrupted",
		 .flags = RF_OPTION_MAY},
	[RF_OPT_REASONS] = {"reasons", .summary = "with watch: the rate of each reason as well",
			    INTO(struct rf_stats, reasons)},
	[RF_OPT_TOTAL] = {"total", .summary = "count since the attach, whatever was reset",
			  INTO(struct rf_stats, total)},
	[RF_OPT_RESET] = {"reset", .summary = "begin the counters of the fence and its limits at 0",
			  INTO(struct rf_stats, reset)},
	[RF_OPT_STATS_AT] = {"at", RF_KIND_MOMENT, "TIME", .summary = AT_SUMMARY, NAMES,
			     INTO(struct rf_stats, at_ns)},
	{},
};

const struct rf_option rf_metrics_options[] = {
	{"file", RF_KIND_FILE, "PATH",
	 .summary = "write them into this file, all at once, for node_exporter's textfile "
		    "collector, which reads files named *.prom. Counters go on from what the file "
		    "had, also where a fence was replaced meanwhile",
	 NAMES, INTO_ALL(const char *)},
	{},
};

const struct rf_option rf_top_options[] = {
	[RF_OPT_BY] = {"by", RF_KIND_WORD, .words = rf_order_words, INTO(struct rf_top, order)},
	[RF_OPT_TOP_LIMIT] = {"limit", RF_KIND_LIMIT, "NAME",
			      .summary = "only the sources of this limit",
			      INTO(struct rf_top, limit)},
	[RF_OPT_WITHIN] = {"within", RF_KIND_PREFIX, "PREFIX",
			   .summary = "only the sources in this network"},
	[RF_OPT_SAMPLE] =
		{"sample", RF_KIND_TIME, "TIME",
		 .summary =
			 "also the sources without a window: listed, new, or matched by no limit. "
			 "Takes samples of packets for TIME, 1s-60s, and estimates their rates. "
			 "Needs the right to change the fence",
		 NAMES, INTO(struct rf_top, sample_ns), .min = 1, .max = 60,
		 .what = "time to take samples", .range = "1s-60s"},
	[RF_OPT_TOP_AT] = {"at", RF_KIND_MOMENT, "TIME", .summary = AT_SUMMARY, NAMES,
			   INTO(struct rf_top, at_ns)},
	{},
};

const struct rf_option rf_show_options[] = {
	{"at", RF_KIND_MOMENT, "TIME", .summary = AT_SUMMARY, NAMES, INTO_ALL(uint64_t)},
	{},
};

const struct rf_option rf_suggest_options[] = {
	[RF_OPT_SUGGEST_LIMIT] = {"limit", RF_KIND_LIMIT, "NAME",
				  .summary =
					  "for the sources of this limit (default: the first one "
					  "that sees every packet)",
				  NAMES, INTO(struct rf_suggest_asked, limit)},
	[RF_OPT_SUGGEST_PER] = {"per", RF_KIND_TIME, "TIME",
				.summary = "COUNT in this TIME, that of a limit (default: that of "
					   "the limit)",
				NAMES},
	[RF_OPT_SUGGEST_SINCE] = {"since", RF_KIND_MOMENT, "TIME",
				  .summary =
					  "from the history, from then on (default: -24h). TIME: "
					  "14:02, 2026-11-22T14:02, or a time back: -2h",
				  NAMES, INTO(struct rf_suggest_asked, since_ns)},
	[RF_OPT_SUGGEST_FOR] = {"for", RF_KIND_TIME, "TIME",
				.summary = "from what comes in now, for so long; without a history",
				NAMES, INTO(struct rf_suggest_asked, for_ns), .min = 2,
				.max = DAY_S, .what = "time to watch", .range = "2s-24h"},
	{},
};

const struct rf_option rf_report_options[] = {
	{"since", RF_KIND_MOMENT, "TIME",
	 .summary = "all that happened since then. TIME: 14:02, 2026-11-22T14:02, or a time back: "
		    "-2h",
	 NAMES, INTO(struct rf_report, since_ns)},
	{"until", RF_KIND_UNTIL, "TIME", .summary = "no later than that (default: now)", NAMES,
	 INTO(struct rf_report, until)},
	{},
};

/* ---- words that are values of the other options ---- */

static const struct rf_option from_words[] = {
	{"file", RF_KIND_FILE, "PATH",
	 .summary = "packets from the networks in a file, one prefix a line"},
	{},
};

static const struct rf_option count_words[] = {
	{"rejected", .summary = "dropped packets use up the limit as well"},
	{},
};

static const struct rf_option alone_words[] = {
	{"first", .summary = "what passes unasked", NAMES},
	{},
};

static const struct rf_option ban_then[] = {
	{"all",
	 .summary = "a source over the limit is dropped for TIME, whatever its packets match",
	 NAMES},
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
	{"--verbose", .summary = "print what libbpf and the verifier say"},
	{},
};

#define NO(meaning) meaning
#define PART(id, word, option, store, no, ...) {word, .summary = no},
#define HEAD(...)
#define WORD(...)

static const struct rf_option no_words[] = {
#include "rules/limit.def"
	{},
};

#undef PART
#undef HEAD
#undef WORD

#define OPTION(...) __VA_ARGS__
#define PARSED(by) .size = 0
#define STORED(member) INTO(struct rf_draft, member)
#define PART(id, word, option, store, ...) [RF_OPT_##id] = {word, option, store},
#define HEAD(id, word, option, store, ...) [RF_OPT_##id] = {word, option, store},
#define WORD(id, word, option, store) [RF_OPT_##id] = {word, option, store},

const struct rf_option rf_limit_options[RF_LIMIT_OPTIONS + 1] = {
#include "rules/limit.def"
	{},
};

#define CONFIRM_ATTACH                                                                       \
	"puts a new fence on trial: unless 'ringfence confirm' runs within TIME, the fence " \
	"stops dropping packets, whatever its rules are"

const struct rf_option rf_attach_options[] = {
	[RF_OPT_DEV] = {"dev", RF_KIND_INTERFACE, "IF",
			.summary =
				"an interface whose name is a word of this command, such as 'mode'",
			.flags = RF_OPTION_MANY},
	[RF_OPT_FENCE] = {"fence", RF_KIND_FENCE, "NAME",
			  .summary = "one fence for all these interfaces (default: one for each)",
			  .flags = RF_OPTION_SHOWN},
	[RF_OPT_MODE] = {"mode", RF_KIND_WORD, .words = rf_mode_words, .flags = RF_OPTION_SHOWN},
	[RF_OPT_SOURCES] = {"sources", RF_KIND_NUMBER, "N",
			    .summary = "windows for each address family (default: 65536)",
			    INTO(struct rf_attach, sources), .min = 1, .max = 1U << 26,
			    .what = "number of sources"},
	[RF_OPT_LEASES] =
		{"leases", RF_KIND_NUMBER, "N",
		 .summary = "verdicts that each CPU may keep, 32 bytes each; 0: none. By default "
			    "the CPUs share 131072; twice the number of sources that a CPU sees at "
			    "a time is enough",
		 INTO(struct rf_attach, leases), .max = 1U << 24, .what = "number of leases"},
	[RF_OPT_FLEET] = {"fleet",
			  .summary = "a new fence may share limits with other hosts: its windows "
				     "have room for shares, 32 bytes each. Not in a chain",
			  INTO(struct rf_attach, fleet)},
	[RF_OPT_CONFIRM] = {"confirm", RF_KIND_TIME, "TIME", .summary = CONFIRM_ATTACH,
			    INTO(struct rf_attach, confirm_ns), TO_CONFIRM},
	[RF_OPT_CHAIN] = {"chain",
			  .summary = "run beside other programs, through libxdp's dispatcher: "
				     "behind programs of a priority below 20, such as xdp-filter, "
				     "before the others. Packets that an earlier program drops are "
				     "neither counted nor charged. During an upgrade in place, the "
				     "new program is beside the old one for a moment: packets are "
				     "charged twice, and none passes without a fence",
			  .heading = "Another XDP program on the interface stays there, unless one "
				     "of these is given:",
			  INTO(struct rf_attach, chain)},
	[RF_OPT_REPLACE] = {"replace",
			    .summary = "remove the other program first, or a fence of another map "
				       "ABI; between the two programs a packet may pass. A program "
				       "that a bpf_link holds is not removed",
			    INTO(struct rf_attach, replace)},
	{},
};

const struct rf_option rf_newcomers_options[] = {
	[RF_OPT_NEW_RATE] =
		{"rate", RF_KIND_RATE, "COUNT/TIME",
		 .summary = "that many packets of newcomers get a window. A COUNT of more than a "
			    "quarter of the fence's 'sources' is spread over TIME",
		 .flags = RF_OPTION_MUST},
	[RF_OPT_NEW_THEN] = {"then", RF_KIND_WORD, .words = rf_then_words,
			     .heading = "What happens to packets of newcomers over the rate:",
			     .flags = RF_OPTION_MUST},
	[RF_OPT_NEW_OFF] = {"off", .summary = "every newcomer gets a window", .heading = "Or",
			    .flags = RF_OPTION_INSTEAD},
	{},
};

const struct rf_option rf_pause_options[] = {
	{"for", RF_KIND_TIME, "TIME",
	 .summary = "the pause ends after TIME, 1s to 24h (default: 10m)", NAMES,
	 INTO_ALL(uint64_t), .min = 1, .max = DAY_S, .what = "time of a pause", .range = "1s-24h"},
	{},
};

#define LIST_FOR                                                                                 \
	"for", RF_KIND_TIME, "TIME", .summary = "the entry ends after TIME (default: it stays)", \
				     INTO(struct rf_list_text, time_ns), .min = 1,               \
				     .max = 8784 * 3600, .what = "time on a list",               \
				     .range = "1s-8784h"
#define LIST_BY(default)                                                                     \
	"by", RF_KIND_OWNER, "NAME",                                                         \
		.summary = "the owner of the entry; an entry of several ends with the last " \
			   "(default: " default ")"
#define LIST_UNTIL_BY                \
	"by", RF_KIND_OWNER, "NAME", \
		.words = by_words,   \
		.summary = "removes only the entry of that owner (default: of the only one)"

#define FORCE_UNALLOW                                                                           \
	"also if the deny list then drops the peer of your SSH connection, or a subnet or the " \
	"gateway of an interface"
#define CONFIRM_LIST                                 \
	"confirm", RF_KIND_TIME, "TIME", TO_CONFIRM, \
		.summary = "undoes the change unless 'ringfence confirm' runs within TIME"

static const struct rf_option by_words[] = {{"all", .summary = "of every owner", NAMES}, {}};

const struct rf_option rf_allow_options[] = {
	{LIST_FOR, .flags = RF_OPTION_SHOWN},
	{LIST_BY("manual"), .flags = RF_OPTION_NAMES | RF_OPTION_SHOWN},
	{},
};

const struct rf_option rf_deny_options[] = {
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
	{CONFIRM_LIST, .flags = RF_OPTION_SHOWN, INTO(struct rf_list_text, trial_ns)},
	{},
};

const struct rf_option rf_unallow_options[] = {
	{LIST_UNTIL_BY, .flags = RF_OPTION_NAMES | RF_OPTION_SHOWN},
	{"force", .summary = FORCE_UNALLOW, .flags = RF_OPTION_NAMES | RF_OPTION_SHOWN,
	 INTO(struct rf_list_text, force)},
	{},
};

const struct rf_option rf_undeny_options[] = {
	{LIST_UNTIL_BY, .flags = RF_OPTION_NAMES | RF_OPTION_SHOWN},
	{"fleet", .summary = "also on the hosts that took this host's ban",
	 .flags = RF_OPTION_NAMES | RF_OPTION_SHOWN, INTO(struct rf_list_text, in_fleet)},
	{},
};

const struct rf_option rf_load_options[] = {
	{"replace", .summary = "afterwards the owner's entries are those of the file, all at once",
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
	{CONFIRM_LIST, INTO(struct rf_list_text, trial_ns)},
	{},
};

const struct rf_option rf_allow_flush_options[] = {
	{"by", RF_KIND_OWNER, "NAME", .summary = "only the entries of that owner",
	 .flags = RF_OPTION_NAMES | RF_OPTION_SHOWN},
	{"force", .summary = FORCE_UNALLOW, .flags = RF_OPTION_NAMES | RF_OPTION_SHOWN,
	 INTO(struct rf_list_text, force)},
	{},
};

const struct rf_option rf_flush_options[] = {
	{"by", RF_KIND_OWNER, "NAME", .summary = "only the entries of that owner", NAMES},
	{},
};

#define CONFIRM_RULES                                                                            \
	"confirm", RF_KIND_TIME, "TIME", TO_CONFIRM,                                             \
		.summary =                                                                       \
			"puts the rules on trial: unless 'ringfence confirm' runs within TIME, " \
			"the old "                                                               \
			"rules are back. The data path does this; no process has to run meanwhile"

const struct rf_option rf_trial_options[] = {
	{CONFIRM_RULES, INTO_ALL(uint64_t)},
	{},
};

const struct rf_option rf_arm_options[] = {
	{CONFIRM_RULES, INTO(struct rf_arm_text, trial_ns)},
	{"force", .summary = RF_FORCE_LIMIT, INTO(struct rf_arm_text, force)},
	{},
};

const struct rf_option rf_batch_options[] = {
	{"skip-refused",
	 .summary =
		 "leaves out changes of lists that are refused, such as a 'deny add' that covers "
		 "a subnet of an interface, names those, and exits with 3",
	 .flags = RF_OPTION_SHOWN, INTO(struct rf_batch_text, skip_refused)},
	{CONFIRM_LIST, .flags = RF_OPTION_SHOWN, INTO(struct rf_batch_text, trial_ns)},
	{},
};

const struct rf_option rf_save_options[] = {
	{"confirmed", .summary = "without rules on trial: those that return without 'confirm'",
	 .flags = RF_OPTION_NAMES, INTO_ALL(bool)},
	{},
};

const struct rf_option rf_diff_options[] = {
	{"all", .summary = "print every prefix of a list that differs, not only ten",
	 .flags = RF_OPTION_NAMES, INTO_ALL(bool)},
	{},
};

/* The words of a limit, as far as its cells tell what another limit would have done. */
const struct rf_option rf_try_options[] = {
	[RF_OPT_TRY_RATE] = {"rate", RF_KIND_RATE, "COUNT/TIME",
			     .summary = "TIME no shorter than a cell of the limit", NAMES},
	[RF_OPT_TRY_FROM] = {"from", RF_KIND_PREFIX, "PREFIX,…",
			     .summary = "of the limit's sources, those in these networks", NAMES},
	[RF_OPT_TRY_PER] = {"per", RF_KIND_LENGTH, "/N", .summary = "larger networks as one source",
			    NAMES},
	[RF_OPT_TRY_PER6] = {"per6", RF_KIND_LENGTH, "/N", .summary = "of IPv6", NAMES},
	[RF_OPT_TRY_ALGORITHM] = {"algorithm", RF_KIND_WORD, .words = rf_algorithm_words, NAMES},
	[RF_OPT_TRY_BURST] = {"burst", RF_KIND_COUNT, "COUNT", .summary = "of token and leaky",
			      NAMES},
	[RF_OPT_TRY_CELLS] = {"cells", RF_KIND_NUMBER, "N", .summary = "of sliding: 2-31", NAMES},
	[RF_OPT_TRY_EDGE] = {"edge", RF_KIND_WORD, .words = rf_edge_words, NAMES},
	[RF_OPT_TRY_SINCE] = {"since", RF_KIND_MOMENT, "TIME",
			      .summary = "from then on (default: -1h). TIME: 14:02, "
					 "2026-11-22T14:02, or a time back: -2h",
			      NAMES},
	[RF_OPT_TRY_UNTIL] = {"until", RF_KIND_UNTIL, "TIME",
			      .summary = "no later than that (default: now)", NAMES},
	{},
};

/* ---- commands ---- */

#define SYNTAX(...)         \
	{                   \
		__VA_ARGS__ \
	}
#define COMMAND(id, function, syntax, help) [RF_CMD_##id] = syntax,

const struct rf_syntax rf_syntax[RF_CMD_COUNT] = {
#include "rules/commands.def"
};

/* ---- looking up ---- */

int rf_option_find(const struct rf_option *table, const char *word)
{
	for (int i = 0; table && table[i].word; i++)
		if (strcmp(table[i].word, word) == 0 && !strchr(word, ' '))
			return i;
	return -1;
}

bool rf_is_interface(const struct rf_option *option)
{
	return option->kind == RF_KIND_INTERFACE || option->kind == RF_KIND_DEV;
}

bool rf_option_is_list(const struct rf_option *option)
{
	return option->kind == RF_KIND_PORTS || option->kind == RF_KIND_PREFIX ||
	       option->kind == RF_KIND_TYPES;
}

bool rf_option_is_of(const struct rf_syntax *command, const struct rf_option *option)
{
	return !(option->flags & RF_OPTION_CHANGE) || command->flags & RF_OPTION_CHANGE;
}

bool rf_option_is_must(const struct rf_syntax *command, const struct rf_option *option)
{
	return option->flags & RF_OPTION_MUST && !(command->flags & RF_OPTION_CHANGE);
}

/* Is it a word of the table, at any depth, that a name may not be? */
static bool reserves(const struct rf_option *table, const char *word)
{
	for (int i = 0; table && table[i].word; i++)
		if ((!(table[i].flags & RF_OPTION_NAMES) && strcmp(table[i].word, word) == 0) ||
		    reserves(table[i].words, word) || reserves(table[i].then, word))
			return true;
	return false;
}

/* Is it one of the one or two words of a command? */
static bool has_word(const char *words, const char *word)
{
	const size_t length = strlen(word), first = strcspn(words, " ");

	if (length == first && strncmp(words, word, length) == 0)
		return true;
	return words[first] && strcmp(words + first + 1, word) == 0;
}

bool rf_word_is_reserved(const char *word)
{
	if (reserves(rf_common_options, word))
		return true;
	for (int i = 0; i < RF_CMD_COUNT; i++) {
		const struct rf_syntax *command = &rf_syntax[i];

		if (command->flags & RF_OPTION_NAMES)
			continue;
		if (has_word(command->words, word) || reserves(command->options, word) ||
		    reserves(command->operand.words, word))
			return true;
	}
	return false;
}

/* Takes the one or two words of `command`, if they come next. */
static bool take_command(struct rf_words *words, const char *command)
{
	const size_t length = strcspn(command, " ");
	struct rf_words rest = *words;
	const char *first = rf_words_next(&rest);

	if (!first || strlen(first) != length || memcmp(first, command, length) != 0)
		return false;
	if (command[length] && !rf_words_take(&rest, command + length + 1))
		return false;
	*words = rest;
	return true;
}

int rf_command_find(struct rf_words *words)
{
	for (int i = 0; i < RF_CMD_COUNT; i++)
		if (take_command(words, rf_syntax[i].words))
			return i;
	return -1;
}
