# SPDX-License-Identifier: GPL-2.0
# Processes the turns of live.sh: the summary of a run, its table, the data of the plot.

def title:
	{
		bare_drop: "bare XDP_DROP",
		bare_pass: "bare XDP_PASS",
		nothing: "nothing attached",
		sketch: "one line of an array for each source",
		ringfence: "ringfence",
		nftables_netdev: "nftables meter, netdev ingress",
		nftables_raw: "nftables meter, inet raw prerouting",
		hashlimit: "iptables hashlimit, raw PREROUTING",
		police: "tc police, one rate for all",
		xdp_filter: "xdp-filter, a deny list"
	}[.];

def median: sort | .[length / 2 | floor];
def spread: {median: median, min: min, max: max};
def percent: . * 1000 | round / 10;
# In the order of their first occurrence.
def distinct(key):
	reduce .[] as $one ([]; ($one | key) as $key | if index([$key]) then . else . + [$key] end)
	| .[];

def ns: .cpu_ns / .handled;

# By counters of all frames until now. Over the limit, without the first packet of each source.
def dropped:
	(if $kind == "over" and $sources < .received then $sources else 0 end) as $known
	| [(.received - .passed) / (.received - $known), 1] | min;

# Results of one variant's turns; $floor: the ns of a bare XDP_DROP in each round, $nothing: the ns
# without a limiter, if measured.
def figures($floor; $nothing):
	(map(.took_ns) | add) as $took
	| {
		variant: .[0].variant,
		ns: (map(ns) | spread),
		ratio: (map(ns / $floor[.round]) | spread),
		added: (if $nothing == [] then null else map(ns - $nothing[.round]) | spread end),
		mpps: (map(.handled * 1000 / .took_ns) | median),
		dropped_percent: (if $family == 4 then 1 - (map(.sunk) | add) / (map(.handled) | add)
			else $counted[.[0].variant] | dropped end | percent),
		lost_percent: ((map(.lost) | add) / (map(.sent) | add) | percent),
		late: (map(.late) | add), expiries: (map(.expiries) | add),
		# of the duration of the flood
		busy_percent: ((map(.cpu_ns + .waited_ns) | add) / $took | percent),
		waited_percent: ((map(.waited_ns) | add) / $took | percent)
	};

# The most important reason why a result can be invalid.
def doubt($kind):
	(.ns | (.max - .min) / .median | percent) as $moved
	| if $kind == "over" and .dropped_percent < 95 then "dropped too few"
	elif ($kind == "under" or $kind == "paced") and .variant != "bare_drop" and .dropped_percent > 0.1 then
		"dropped some"
	elif $kind == "paced" and .lost_percent > 10 then "lost \(.lost_percent) % in its ring"
	elif $kind == "paced" and .late > 0 then "late by \(.late) times"
	elif $queues == 1 and .waited_percent > 5 then
		"disturbed: others had its CPU for \(.waited_percent) % of the time"
	elif $moved > 40 or (.variant == "bare_drop" and $moved > 25) then
		"disturbed: from \(.ns.min | round) to \(.ns.max | round) ns"
	elif $queues == 1 and $kind != "paced" and .busy_percent < 90 then
		"idle for \(100 - .busy_percent | round) % of the time: includes wake-ups"
	else null end;

# A bare XDP_DROP is the first.
def summary:
	map(select(.absent)) as $absent
	| map(select(.absent | not))
	| (map(select(.variant == "bare_drop")) | sort_by(.round) | map(ns)) as $floor
	| (map(select(.variant == "nothing")) | sort_by(.round) | map(ns)) as $nothing
	| . as $turns
	| [distinct(.variant) as $variant | $turns | map(select(.variant == $variant)) | figures($floor; $nothing)]
	| {kind: $kind, family: $family, sources: $sources, bytes: $bytes, $queues,
		variants: map(.doubt = doubt($kind)),
		absent: ($absent | map({(.variant): .absent}) | add // {})};

# ---- text ----

def fixed($places):
	pow(10; $places) as $unit
	| (. * $unit | round | tostring | (("0" * ([$places + 1 - length, 0] | max)) // "") + .)
	| if $places == 0 then . else .[:-$places] + "." + .[-$places:] end;
def right($width): (" " * ([$width - length, 0] | max) // "") + .;
def left($width): . + (" " * ([$width - length, 0] | max) // "");

def table:
	"",
	(("\(.sources | if . > 16777216 then "random" else tostring end) source\(if .sources == 1 then "" else "s" end), IPv\(.family), "
		+ {over: "over the limit", under: "under the limit", new: "newcomers",
			paced: "one packet every \(if .sources < 1000000 then "" else "2 " end)s"}[.kind]
		+ (if .bytes == 64 then "" else ", \(.bytes) bytes" end)
		+ (if .queues == 1 then "" else ", two CPUs" end) | left(50))
		+ "   ns/packet    min    max   ratio    min    max   added    min    max   Mpps  dropped"),
	(.variants[]
		| (.variant | title | left(50))
			+ (.ns.median | fixed(0) | right(12)) + (.ns.min | fixed(0) | right(7))
			+ (.ns.max | fixed(0) | right(7))
			+ (.ratio.median | fixed(2) | right(8)) + (.ratio.min | fixed(2) | right(7))
			+ (.ratio.max | fixed(2) | right(7))
			+ (.added | if . then (.median | fixed(0) | right(8)) + (.min | fixed(0) | right(7))
				+ (.max | fixed(0) | right(7)) else "" | right(22) end)
			+ (.mpps | fixed(2) | right(7))
			+ (.dropped_percent | fixed(1) + " %" | right(9))
			+ if .expiries > 0 then "  \(.expiries) expiries" else "" end
			+ if .doubt then "  ! " + .doubt else "" end),
	(.absent | to_entries[] | (.key | title | left(50)) + "   not measured: " + .value);

def head:
	"\(.kernel), \(.cpu), \(.cpus) CPUs\(if .virtual then " of a virtual machine" else "" end); \(.versions.nftables), \(.versions.iptables)",
	"CPU time of the receiver for a UDP packet over a veth pair, of 64 bytes unless another length is stated:",
	"median, min and max of \(.rounds) interleaved rounds, as a ratio to a bare XDP_DROP in the same round, and",
	"what it adds to a packet with nothing attached.",
	"Passed packets continue to where the kernel drops them: IPv4 refuses their address, before any routing; IPv6 finds no",
	"member of their multicast group.",
	(.not_measured[] | "Not measured: \(.)");

# ---- plot ----

def over: map(select(.kind == "over" and .family == 4 and .bytes == 64 and .queues == 1));
def order: [map(.variants[]) | distinct(.variant)];
def with_unit:
	if . >= 1000000 then "\(. / 1000000)M" elif . >= 1000 then "\(. / 1000)k" else tostring end;

# A block of lines per variant, with its name: place, ratio, and the ratio as a text.
def plot:
	over as $runs
	| ($runs | order) as $order
	| range($order | length) as $i
	| "\"\($order[$i] | title)\"",
		(range($runs | length) as $group
			| $runs[$group].variants[]
			| select(.variant == $order[$i])
			| .ratio.median
			| "\($group * ($order | length + 1.5) + $i) \(.) \(fixed(if . < 9.95 then 1 else 0 end))"),
		"", "";

# A group of bars per number of sources.
def plot_tics:
	over as $runs
	| ($runs | order | length) as $bars
	| [range($runs | length)
		| "\"\($runs[.].sources | with_unit)\" \(. * ($bars + 1.5) + ($bars - 1) / 2)"]
	| join(", ");
