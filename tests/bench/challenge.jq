# SPDX-License-Identifier: GPL-2.0
# Processes the turns of challenge.sh: the summary of a run, and its table.
include "live";

def variants: {
	bare_drop: "bare XDP_DROP",
	drop: "then drop: a SYN",
	challenged_syn: "then challenge: a SYN, answered",
	forged_ack: "then challenge: an ACK with a wrong cookie",
	challenged_query: "then challenge: a DNS query, answered",
	kernel_syn: "nothing attached: a SYN, the kernel's cookie",
	kernel_syn_fence: "ringfence without rules: a SYN, the kernel's cookie",
	kernel_ack: "nothing attached: an ACK with a wrong cookie"
};

def setups: {
	challenge: "then challenge answers 100M/1s",
	default: "then challenge, 1M answers/s",
	drop: "then drop",
	"1": "no rules, tcp_syncookies=1",
	"2": "no rules, tcp_syncookies=2"
};

# Ratios are computed within a round. "kernel": how often a packet of the kernel's could be handled.
def cost_of_turns:
	. as $turns
	| (map(select(.variant == "bare_drop")) | map({(.round | tostring): ns}) | add) as $floor
	| (map(select(.variant == "kernel_syn")) | map({(.round | tostring): ns}) | add) as $kernel
	| {part: "cost", $placement, $family,
		variants: [distinct(.variant) as $variant
			| map(select(.variant == $variant))
			| {variant: $variant,
				ns: (map(ns) | spread),
				floor: (map(ns / $floor[.round | tostring]) | spread),
				kernel: (map($kernel[.round | tostring] / ns) | spread),
				lost_percent: ((map(.lost) | add) / ((map(.lost) | add) + (map(.handled) | add)) | percent),
				waited_percent: ((map(.waited_ns) | add) / (map(.cpu_ns + .waited_ns) | add) | percent)}]};

def share(of): of / .clients | percent | fixed(1) + " %";

def cost_table:
	"",
	("cost, IPv\(.family), the forger on the \(if .placement == "other" then "other CPU" else "receiver's CPU" end)" | left(52))
		+ "ns/packet    min    max  of bare  kernel's SYN / it    min    max   Mpps a CPU",
	(.placement as $placement
		| .variants[]
		| (variants[.variant] | left(52))
			+ (.ns.median | fixed(0) | right(9)) + (.ns.min | fixed(0) | right(7)) + (.ns.max | fixed(0) | right(7))
			+ (.floor.median | fixed(1) | right(9))
			+ (.kernel.median | fixed(2) | right(19)) + (.kernel.min | fixed(2) | right(7)) + (.kernel.max | fixed(2) | right(7))
			+ (1000 / .ns.median | fixed(2) | right(13))
			+ if $placement == "other" and .waited_percent > 5 then "  ! disturbed: others had its CPU for \(.waited_percent) % of the time" else "" end);

def clients_table:
	"",
	("clients, \(.service), IPv\(.family), flood: \(if .speed | test("^[a-z]") then .speed else .speed + "/s" end)" | left(45))
		+ "connected   served   half   99 %  flood k/s  handled  NAPI CPU   downloads",
	(.setups[]
		| (setups[.setup] | left(45))
			+ (share(.connected) | right(9)) + (share(.succeeded) | right(9))
			+ (.half_ms | fixed(1) | right(7)) + (.most_ms | fixed(1) | right(7))
			+ ((.handled + .lost) / 1000 | fixed(0) | right(11)) + (.handled / 1000 | fixed(0) | right(9))
			+ (.busy | percent | fixed(0) + " %" | right(10))
			+ (.downloads | "\(.bytes / .seconds / 1048576 | fixed(2)) MiB/s, \(.broken) broken" | right(25))
			+ if .digs then "  dig: \(.digs) of 10" else "" end);

def table: if .part == "cost" then cost_table else clients_table end;

def head: "\(.kernel), \(.cpu), \(.cpus) CPUs";
