#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Measures `newcomers … then challenge` in floods from forged sources, compared with `then drop` and
# with the SYN cookies of the kernel, over IPv4 and IPv6.
#
#   outside                                  inside
#   out0  <-- CPU A: forger, clients ------  ${port[0]}  CPU B: NAPI thread, ringfence; nginx, NSD
#   out1  ---------------------------------  ${port[1]}         the same,    nothing attached
#   out2  ---------------------------------  ${port[2]}         the same,    bare XDP_DROP
#
# cost: the CPU time of the receiver's thread for a frame of a flood, including the response. The
# variants take turns. The forger runs on the other CPU, which leaves the frames in a cache that the
# receiver does not share, or on the receiver's CPU. The guard on newcomers is used up.
#
# clients: the share of new clients, 200 per second, that connect within a second, and that get a
# page or a DNS answer within that second, during a flood; and the throughput of downloads that
# started before the flood, from a source that the fence does not know. Ten more DNS clients are dig,
# over IPv4. Speeds of the flood:
#
#   full    as fast as CPU A can send: the queue of the wire overflows in front of CPU B
#   NUMBER  of frames per second
#
# Clients on CPU A, and the threads that receive responses there, have priority over the forger.
#
#   tests/bench/challenge.sh [--keep FILE.json] [--only PATTERN]
#   --only PATTERN      the runs whose name matches: 'cost/other/4', 'clients/web/6/full', 'clients/*'
#   ROUNDS=5 FRAMES=1000000
#   SPEEDS='full 500000' LASTING=20 (s)
#   GENERATOR_CPU=0 RECEIVER_CPU=1
#
# This is a tool, not a test: it fails only if a result is not valid.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../e2e/lib.sh"
# shellcheck source=tests/e2e/servers.sh
source tests/e2e/servers.sh
# shellcheck source=tests/bench/wires.sh
source tests/bench/wires.sh

# gojq, which lib.sh prefers, does not pass --arg variables to the functions of a module.
jq() { command jq "$@"; }

rounds=${ROUNDS:-5} frames=${FRAMES:-1000000} speeds=${SPEEDS:-full 500000} lasting=${LASTING:-20}
rate=200    # new clients per second
downloads=4 # of 1 MiB/s each: servers.sh
wires_n=3
limit='limit add any rate 100k/1s'
answers='answers 100M/1s' # of a flood at full speed, each SYN
attached=''
visits=0
declare -a receiver=() # the NAPI threads of the wires inside
declare -A dport=([syn]=80 [tcp]=80 [udp]=53)

# ---- the network ----

# Runs the NAPI of an interface in a thread on this CPU, and stores its process id in $thread.
pin_napi() { # NAMESPACE DEV CPU
	local before

	before=$(napi_threads "$2")
	run_napi_in_threads "$1" "$2"
	thread=$(comm -13 <(echo "$before") <(napi_threads "$2"))
	taskset -pc "$3" "$thread" >"$scratch/log" 2>&1 || bail "$2: cannot pin its thread: $(<"$scratch/log")"
}

napi_threads() { # DEV, which exists in other namespaces as well
	grep -sHx "napi/$1-.*" /proc/[0-9]*/comm | cut -d/ -f3 | sort
}

connect_wires() {
	local wire

	make_network "$wires_n"
	connect_servers 0
	for ((wire = 0; wire < wires_n; wire++)); do
		servers_wire=$wire # whose responses to catch
		catch_responses
		inside ethtool -K "${port[wire]}" gro on
		within inside sh -c "echo 0 >/proc/sys/net/ipv6/conf/${port[wire]}/disable_ipv6"
	done
	with_bpffs inside "bpftool prog loadall build/tests/floor.bpf.o /sys/fs/bpf/floor &&
		ip link set ${port[2]} xdpdrv pinned /sys/fs/bpf/floor/bare_drop" >"$scratch/log" 2>&1 ||
		bail "cannot attach a floor: $(<"$scratch/log")"
}

pin_wires() {
	local wire

	for ((wire = 0; wire < wires_n; wire++)); do
		pin_napi inside "${port[wire]}" "$receiver_cpu"
		renice -n -20 -p "$thread" >"$scratch/log" 2>&1 || bail "cannot set a priority: $(<"$scratch/log")"
		receiver[wire]=$thread
		pin_napi outside "out$wire" "$generator_cpu"
		chrt -f -p 1 "$thread" || bail "out$wire: its thread cannot run in real time"
	done
}

start_servers() {
	set_cookies 2
	start_web_server ''
	start_dns_server
	taskset -pc "$receiver_cpu" "$web_server" >"$scratch/log"
	taskset -pc "$receiver_cpu" "$dns_server" >"$scratch/log"
}

set_cookies() { # 1|2
	within inside sh -c "echo $1 >/proc/sys/net/ipv4/tcp_syncookies" || bail 'cannot set tcp_syncookies'
}

attach() {
	[ -n "$attached" ] || ringfence attach "${port[0]}" >"$scratch/log" || bail "cannot attach: $(<"$scratch/log")"
	attached=1
}

detach() {
	[ -z "$attached" ] || ringfence detach "${port[0]}" >"$scratch/log" || bail "cannot detach: $(<"$scratch/log")"
	attached=''
}

set_guard() { # RATE THEN…; without words: no rules
	if [ $# -gt 0 ]; then
		rules <<<"$limit"$'\n'"newcomers rate $1 then ${*:2}"
	else
		ringfence batch - <<<$'newcomers off\nlimit del any' >"$scratch/log" || bail "cannot remove the rules: $(<"$scratch/log")"
	fi
}

# Stores the frames of a wire, and the CPU time of its receiver, in $handled $lost $cpu_ns $waited_ns.
read_wire() { # WIRE
	read -r handled lost < <(outside cat /proc/net/dev | awk -v dev="out$1:" '$1 == dev { print $11, $13 }')
	read -r cpu_ns waited_ns _ <"/proc/${receiver[$1]}/schedstat"
}

flow() { # FAMILY PROTO
	echo "${forged[$1]},dst=${server[$1]},proto=$2,dport=${dport[$2]}"
}

# Becomes the forger.
exec_forger() { # WIRE CPU FLOW
	exec nsenter --net="/run/netns/rf-test-$$-outside" build/tests/traffic forge dev "out$1" to "02:00:00:00:0$1:02" for 3m \
		cpu "$2" flow "$3" 2>"$scratch/log"
}

# ---- cost ----

is_at_rest() { # WIRE FRAMES
	read_wire "$1"
	[ $((handled + lost)) -ge "$2" ] && grep -q '^State:.S' "/proc/${receiver[$1]}/status"
}

# Stores the same as read_wire, after the frames.
send_frames() { # WIRE CPU FLOW FRAMES
	local before

	read_wire "$1"
	before=$((handled + lost))
	(exec_forger "$1" "$2" "$3,count=$4") >"$scratch/sent" || bail "cannot forge: $(<"$scratch/log")"
	eventually is_at_rest "$1" $((before + $4)) || bail "wire $1: not all frames came through"
	pause 0.002 # it reports that slightly early
	read_wire "$1"
}

# One turn of a variant. At least 95 % of its frames must have the reason; '-': there is no fence.
take_turn() { # VARIANT WIRE PROTO REASON
	local cpu=$generator_cpu before=0 reasons=0 was=()

	[ "$placement" = other ] || cpu=$receiver_cpu
	send_frames "$2" "$cpu" "$(flow "$family" "$3")" $((frames / 4))
	was=("$handled" "$lost" "$cpu_ns" "$waited_ns")
	[ "$4" = - ] || before=$(stats 0 ".reasons.$4.packets")
	send_frames "$2" "$cpu" "$(flow "$family" "$3")" "$frames"
	handled=$((handled - was[0])) lost=$((lost - was[1])) cpu_ns=$((cpu_ns - was[2])) waited_ns=$((waited_ns - was[3]))
	[ "$4" = - ] || reasons=$(($(stats 0 ".reasons.$4.packets") - before))
	[ "$4" = - ] || [ "$reasons" -ge $((handled * 95 / 100)) ] ||
		bail "$1: $reasons of $handled frames were counted as $4"
	jq -n -c --arg variant "$1" --argjson round "$round" --argjson handled "$handled" --argjson lost "$lost" \
		--argjson cpu_ns "$cpu_ns" --argjson waited_ns "$waited_ns" \
		'{$variant, $round, $handled, $lost, $cpu_ns, $waited_ns}' >>"$scratch/turns"
}

measure_cost() { # other|same FAMILY
	local placement=$1 family=$2 round

	is_wanted "cost/$1/$2" || return 0
	set_cookies 2
	attach
	: >"$scratch/turns"
	for ((round = 0; round < rounds; round++)); do
		take_turn bare_drop 2 syn -
		set_guard 1/1h drop
		take_turn drop 0 syn newcomer_drop
		set_guard 1/1h challenge "$answers"
		take_turn challenged_syn 0 syn challenged
		take_turn forged_ack 0 tcp newcomer_drop
		take_turn challenged_query 0 udp challenged
		set_guard
		take_turn kernel_syn 1 syn -
		take_turn kernel_syn_fence 0 syn no_limit
		take_turn kernel_ack 1 tcp -
	done
	jq -s -c -L tests/bench --arg placement "$placement" --argjson family "$family" \
		'include "challenge"; cost_of_turns' "$scratch/turns" >"$scratch/run" || bail 'cannot sum up'
	report_run
}

# ---- clients ----

start_downloads() { # FAMILY
	local i url="http://${server[4]}/large"

	[ "$1" = 4 ] || url="http://[${server[6]}]/large"
	loading=()
	for ((i = 0; i < downloads; i++)); do
		start outside taskset -c "$generator_cpu" nice -n -5 curl -g -s -o "/dev/null" --max-time $((lasting + 3)) \
			-w '%{size_download} %{time_total}\n' "$url" >"$scratch/download$i"
		loading+=("$started_pid")
	done
}

# Prints the sum of bytes, the seconds, and how many downloads were interrupted: curl's status is 28
# after its time limit.
end_downloads() {
	local pid broken=0

	for pid in "${loading[@]}"; do
		wait "$pid"
		[ $? = 28 ] || broken=$((broken + 1))
		unset "started[$pid]"
	done
	cat "$scratch"/download[0-9]* | awk -v broken="$broken" \
		'{ bytes += $1; s += $2 } END { printf "{\"bytes\": %d, \"seconds\": %.3f, \"broken\": %d}\n", bytes, s / NR, broken }'
}

send_clients() { # FAMILY page|query
	local first

	visits=$((visits + 1))
	# other sources than before, each in another /24 or /48
	printf -v first 'fd08:%x:%x::' $((visits >> 4)) $((visits % 16 * 4096))
	[ "$1" = 6 ] || first=10.$((64 + visits % 4 * 16)).0.0
	outside taskset -c "$generator_cpu" nice -n -10 build/tests/tcp/newcomers "${server[$1]}" "$port_wanted" "$first" \
		$((rate * lasting)) "$rate" "$2" >"$scratch/visit" || bail 'clients: failed'
}

# Prints how many of ten clients got an answer by dig, which cannot use such addresses of IPv6.
ask_by_dig() { # SERVICE FAMILY
	local i answered=0

	[ "$1$2" = dns4 ] || { echo null && return; }
	for ((i = 0; i < 10; i++)); do
		outside taskset -c "$generator_cpu" nice -n -10 dig +tries=1 +time=1 +short -b "10.127.$i.$visits" \
			"@${server[4]}" www.example >"$scratch/dig" 2>&1
		[ "$(<"$scratch/dig")" != 192.0.2.80 ] || answered=$((answered + 1))
	done
	echo "$answered"
}

# setup: newcomers' THEN…, or the value of tcp_syncookies for a fence without rules, which makes the
# packets of clients take the same queue as the flood's.
measure_setup() { # web|dns FAMILY SPEED SETUP
	local service=$1 family=$2 speed=$3 setup=$4 proto=syn port_wanted=80 what=page flood='' was=() began took_us digs

	[ "$service" = web ] || proto=udp port_wanted=53 what=query
	detach
	attach
	set_cookies 2
	[ "${setup//[12]/}" ] || set_cookies "$setup"
	start_downloads "$family"
	pause 0.5
	if [ "$speed" != none ]; then
		exec_forger 0 "$generator_cpu" "$(flow "$family" "$proto")$([[ $speed = [a-z]* ]] || echo ",rate=$speed")" >"$scratch/sent" &
		flood=$!
		started[$flood]=1
	fi
	case $setup in
	[12]) ;;
	challenge) set_guard 1k/1s challenge "$answers" ;;
	default) set_guard 1k/1s challenge ;;
	*) set_guard 1k/1s "$setup" ;;
	esac
	pause 1
	read_wire 0
	was=("$handled" "$lost" "$cpu_ns") began=${EPOCHREALTIME/./}
	send_clients "$family" "$what"
	read_wire 0
	took_us=$((${EPOCHREALTIME/./} - began))
	digs=$(ask_by_dig "$service" "$family")
	[ -z "$flood" ] || stop TERM "$flood"
	end_downloads >"$scratch/downloads"
	jq -s -c --arg setup "$setup" --argjson digs "$digs" --argjson us "$took_us" --argjson handled $((handled - was[0])) \
		--argjson lost $((lost - was[1])) --argjson cpu_ns $((cpu_ns - was[2])) \
		'.[0] + {$setup, $digs, downloads: .[1], handled: ($handled / $us * 1e6), lost: ($lost / $us * 1e6), busy: ($cpu_ns / $us / 1e3)}' \
		"$scratch/visit" "$scratch/downloads" >>"$scratch/setups"
}

measure_clients() { # web|dns FAMILY SPEED
	local setup setups='challenge drop 2 1'

	is_wanted "clients/$1/$2/$3" || return 0
	[ "$1" = web ] || setups='challenge drop 2'
	[[ $3 = [0-9]* ]] || setups+=' default'
	[ "$3" != none ] || setups='challenge 2'
	: >"$scratch/setups"
	for setup in $setups; do
		measure_setup "$1" "$2" "$3" "$setup"
	done
	jq -s -c --arg service "$1" --argjson family "$2" --arg speed "$3" \
		'{part: "clients", $service, $family, $speed, setups: .}' "$scratch/setups" >"$scratch/run"
	report_run
}

# ---- the report ----

is_wanted() { # NAME
	# shellcheck disable=SC2053 # a pattern
	[[ $1 == $only ]]
}

report_run() {
	cat "$scratch/run" >>"$scratch/runs"
	jq -r -L tests/bench 'include "challenge"; table' "$scratch/run"
}

describe_run() {
	jq -n --arg cpu "$(sed -n 's/^model name[^:]*: //p;T;q' /proc/cpuinfo)" --arg kernel "$(uname -sr)" \
		--argjson cpus "$(nproc)" --argjson rounds "$rounds" --argjson frames "$frames" --argjson lasting "$lasting" \
		'{$kernel, $cpu, $cpus, $rounds, $frames, $lasting}'
}

usage() {
	echo 'usage: tests/bench/challenge.sh [--keep FILE.json] [--only PATTERN]' >&2
	exit 2
}

keep='' only='*'
while [ $# -gt 0 ]; do
	[ -n "${2-}" ] || usage
	case $1 in
	--keep) keep=$2 ;;
	--only) only=$2 ;;
	*) usage ;;
	esac
	shift 2
done
[ "$(nproc)" -ge 2 ] || bail 'it needs two CPUs: one sends, one receives'
connect_wires
pin_wires
start_servers
describe_run >"$scratch/head"
jq -r -L tests/bench 'include "challenge"; head' "$scratch/head"
: >"$scratch/runs"
for placement in other same; do
	for family in 4 6; do
		measure_cost "$placement" "$family"
	done
done
for service in web dns; do
	for family in 4 6; do
		for speed in none $speeds; do
			measure_clients "$service" "$family" "$speed"
		done
	done
done
[ -z "$keep" ] || { mkdir -p "$(dirname "$keep")" &&
	jq -s '.[0] + {runs: .[1:]}' "$scratch/head" "$scratch/runs" >"$keep"; } || bail "cannot write $keep"
