# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# The common part of the end-to-end tests: results in TAP, two network namespaces joined by wires,
# traffic over them, and the removal of everything that a run created, however it ends. A script
# that sources this file is then at the top of the tree, and calls done_testing last.
#
#   outside                      inside
#   out0  ------- wire 0 ------  ${port[0]}  where fences are attached
#   out1  ------- wire 1 ------  ${port[1]}
#
# IPv6 is off in both namespaces. The wires therefore carry only the frames that a test sends, and
# counters can be compared to the packet.
#
# Runs can work in parallel. The names of the network namespaces contain the process id. As root,
# each run also has a mount namespace with its own bpffs and lock, unless private.sh has created
# one. All commands enter a namespace through nsenter: 'ip netns exec' creates a mount namespace,
# where pins vanish.

if [ "$(id -u)" = 0 ] && [ -z "${RF_PRIVATE_MOUNTS-}" ]; then
	RF_PRIVATE_MOUNTS=none exec unshare --mount --propagation private "$0" "$@"
fi

set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
PATH=$PATH:/usr/sbin:/sbin
export LC_ALL=C

run=rf$$ # the prefix of this run's names
pins=/sys/fs/bpf/ringfence
scratch=$(mktemp -d)
declare -A started # processes in the background that are not yet waited for
declare -a port	   # of each wire, its interface inside
exec {never}<> <(:) # a pipe that is never written to, for pause
# jq 1.6 needs 30 ms to start, gojq 2 ms. But gojq sorts the keys of an object, and has no -S: a row
# that depends on their order calls `command jq`.
! type -P gojq >/dev/null || jq() { gojq "$@"; }
results=0 failures=0

# ---- results ----

# Prints, as diagnostics, the value that a test got and the value that it wanted.
explain() {
	printf '# %s:\n' "$1"
	printf '%s\n' "$2" | sed 's/^/#   /'
}

# Makes a test's name the same in every run: SCRATCH and rf replace what contains the process id.
print_result() { # RESULT NAME
	local name=${2//"$scratch"/SCRATCH}

	results=$((results + 1))
	echo "$1 $results - ${name//"$run"/rf}"
}

pass() { # NAME
	print_result ok "$1"
}

fail() { # NAME
	failures=$((failures + 1))
	print_result 'not ok' "$1"
}

# is GOT WANT NAME
is() {
	if [ "$1" = "$2" ]; then
		pass "$3"
		return
	fi
	fail "$3"
	explain got "$1"
	explain want "$2"
}

# matches GOT REGEX NAME: REGEX must match all of GOT.
matches() {
	if [[ $1 =~ ^$2$ ]]; then
		pass "$3"
		return
	fi
	fail "$3"
	explain got "$1"
	explain 'want, a regular expression' "$2"
}

# check NAME CMD…: decided only by the exit status.
check() {
	if "${@:2}"; then pass "$1"; else fail "$1"; fi
}

# Most of the cost of a test is the processes that the shell starts, so the functions that every row
# calls use shell built-ins, and store their results in a variable: $(…) is a process as well.

# Stores standard input in $text, without trailing newlines.
read_text() {
	IFS= read -rd '' text
	while [[ $text = *$'\n' ]]; do
		text=${text%$'\n'}
	done
}

# Joins the lines of $text that were wrapped to 80 columns, but none of JSON. Line breaks depend on
# the names in the line; test_width.sh checks them.
join_lines() {
	[[ $text != ["{["]* && $text = *$'\n    '* ]] || return 0
	text=${text//$'\n    '/$'\001'}
	while [[ $text = *$'\001 '* ]]; do
		text=${text//$'\001 '/$'\001'}
	done
	text=${text//$'\001'/ }
}

# The same for a pipeline.
unwrapped() {
	local text

	read_text
	join_lines
	printf '%s\n' "$text"
}

# Stores the exit status and the output of a command in $described, without the memory that a new fence takes,
# which depends on the kernel and the number of CPUs, and without the summary of a removed fence;
# test_memory.sh and test_fences.sh check these.
run_described() { # CMD…
	local status text

	"$@" >"$scratch/stdout" 2>"$scratch/stderr"
	status=$?
	read_text <"$scratch/stdout"
	join_lines
	[[ $text != *"fence '"*"' "@(uses|was removed)' '* ]] ||
		text=$(sed -E "/^fence '[^']+' (uses [0-9.]+ MiB of memory$|was removed with )/d" <<<"$text")
	described="exit $status"$'\n'"$text"$'\nstderr: '
	read_text <"$scratch/stderr"
	described+=$text
}

describe() { # CMD…
	run_described "$@"
	printf '%s' "$described"
}

# does NAME OUTPUT CMD…: the command succeeds, prints exactly OUTPUT, and writes nothing to stderr.
does() {
	run_described "${@:3}"
	is "$described" "exit 0"$'\n'"$2"$'\n'"stderr: " "$1"
}

# The additional output of limit add for the first limit of a fence, which has a sliding window.
steady() { # NAME
	echo "limit '$1': a source that sends evenly loses nothing up to 96 % of COUNT"
}

# fails NAME STATUS MESSAGE CMD…: the command exits with STATUS and MESSAGE, and prints nothing
# more.
fails() {
	run_described "${@:4}"
	is "$described" "exit $2"$'\n\n'"stderr: $3" "$1"
}

done_testing() {
	echo "1..$results"
	[ "$failures" = 0 ]
	exit
}

bail() {
	echo "Bail out! $*"
	exit 1
}

# ---- exit ----

stop() { # SIGNAL PID; its status is the process's
	local status

	kill "-$1" "$2" 2>/dev/null
	wait "$2" 2>/dev/null
	status=$?
	unset "started[$2]"
	return "$status"
}

cleanup() {
	local pid path

	trap '' INT TERM
	for pid in "${!started[@]}"; do
		stop KILL "$pid"
	done
	for path in "$pins/$run"[!0-9]*; do
		[ -d "$path" ] && rm -r "$path"
	done
	[ -d "$pins" ] && rmdir --ignore-fail-on-non-empty "$pins"
	for path in "/run/netns/rf-test-$$-"*; do
		[ -e "$path" ] && ip netns del "${path##*/}"
	done
	rm -rf "$scratch"
}

trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

own_bpffs() {
	(umask 077 && : >>/run/ringfence.lock)
	: >"$scratch/lock"
	mount --bind "$scratch/lock" /run/ringfence.lock || bail 'cannot mount a lock'
	while mountpoint -q /sys/fs/bpf; do
		umount --lazy /sys/fs/bpf
	done
	mount -t bpf bpf /sys/fs/bpf || bail 'cannot mount a bpffs'
	# Recordings of this machine do not belong to a test.
	[ ! -d /var/lib/ringfence ] || mount -t tmpfs -o mode=750 private /var/lib/ringfence ||
		bail 'cannot hide the history of this machine'
}

[ "${RF_PRIVATE_MOUNTS-}" != none ] || own_bpffs
RF_PRIVATE_MOUNTS=made

# ---- the network ----

add_namespace() {
	ip netns add "rf-test-$$-$1" || bail "cannot make the namespace $1"
	within "$1" sh -c 'cd /proc/sys/net/ipv6/conf && echo 1 >default/disable_ipv6 &&
		echo 1 >all/disable_ipv6' || bail "cannot switch IPv6 off"
}

within() { # NAMESPACE CMD…
	nsenter --net="/run/netns/rf-test-$$-$1" "${@:2}"
}

inside() {
	within inside "$@"
}

outside() {
	within outside "$@"
}

build=build/ringfence # what `use` changes

ringfence() {
	inside "$build" "$@"
}

# add_wire WIRE [OPTION…]: adds a wire and brings it up. The options, like mtu 9000, are options of
# `ip link`, for both ends.
add_wire() {
	port[$1]=${port[$1]-${run}p$1}
	ip link add "out$1" netns "rf-test-$$-outside" address "02:00:00:00:0$1:01" "${@:2}" \
		type veth \
		peer name "${port[$1]}" netns "rf-test-$$-inside" address "02:00:00:00:0$1:02" "${@:2}" ||
		bail "cannot make wire $1"
	outside ip link set "out$1" up
	inside ip link set "${port[$1]}" up
}

make_network() { # WIRES
	local wire

	[ "$(id -u)" = 0 ] || bail "it makes network namespaces and loads programs; run it as root"
	add_namespace outside
	add_namespace inside
	for ((wire = 0; wire < $1; wire++)); do
		add_wire "$wire"
	done
}

# start NAMESPACE CMD…: runs a command in the background; its process id is in $started_pid.
start() {
	nsenter --net="/run/netns/rf-test-$$-$1" "${@:2}" &
	started_pid=$!
	started[$started_pid]=1
}

# A sleep without a process.
pause() { # SECONDS
	read -rt "$1" -u "$never" || :
}

# Repeats a command until it succeeds; less often when it takes long, because polling takes CPU time
# from the awaited event. It stops after three minutes: on a busy machine a single attach can take
# one.
eventually() {
	local end=$((SECONDS + 180)) pause=0.02 tries=0

	until "$@"; do
		[ "$SECONDS" -lt "$end" ] || return 1
		[ $((++tries)) -lt 10 ] || pause=0.1
		pause "$pause"
	done
}

# ---- other builds ----

# The build under test, and variants that load in less time, which variant.sh describes.
# shellcheck disable=SC2034 # the tests use them
{
	shipped=build/ringfence
	quick=build/variants/quick/build/ringfence
	newer=build/variants/newer/build/ringfence
	alien=build/variants/alien/build/ringfence
	drifted=build/variants/drifted/build/ringfence
	early=build/variants/early/build/ringfence
}

# require BUILD…: ends the test if one of these builds is missing, or older than the shipped one.
require() {
	local path

	for path; do
		if [ ! -x "$path" ] || [ "$path" -ot "$shipped" ]; then
			bail "$path is not up to date; run 'make tools'"
		fi
	done
}

# use BUILD: what `ringfence` runs from here on.
use() {
	require "$1"
	build=$1
}

# The program as shipped, with another tag.
newer() {
	inside "$newer" "$@"
}

# Some kernels forbid iterators over maps, also to root; the others must have them.
has_iterators() {
	! "$shipped" doctor --json |
		jq -e 'any(.machine.checks[]; .text | test("forbids BPF iterators"))' >/dev/null
}

# ---- attached programs ----

# The id of the program on a wire's inner end, or none.
program_on() { # WIRE
	local shown

	shown=$(inside ip -o link show dev "${port[$1]}") || return
	if [[ $shown =~ prog/xdp\ id\ ([0-9]+) ]]; then
		echo "${BASH_REMATCH[1]}"
	else
		echo none
	fi
}

program_is_gone() { # ID
	! bpftool prog show id "$1" >/dev/null 2>&1
}

# "NAME: MODE, ATTACHED_BY" of each interface of a fence.
interfaces() { # WIRE
	ringfence status --json dev "${port[$1]}" |
		jq -r '.interfaces[] | "\(.name): \(.mode), \(.attached_by)"'
}

# Replaces the rules of the only fence by those on standard input.
rules() {
	ringfence apply - >"$scratch/log" 2>&1 || bail "cannot apply: $(<"$scratch/log")"
}

# ---- traffic ----

# The packets of the last delivery: "SOURCE PACKETS BYTES", a line for each source.
sent='' received=''
verdict=0 # of its receiver: 1 if more than `max` came out
# Sums of all deliveries since forget_traffic.
sent_packets=0 sent_bytes=0 received_packets=0 received_bytes=0

forget_traffic() {
	sent_packets=0 sent_bytes=0 received_packets=0 received_bytes=0
}

# stats WIRE FILTER: prints a value of `stats`.
stats() {
	ringfence stats --json dev "${port[$1]}" | jq -r "$2"
}

# Stores the packets that a fence has counted in all in $packets.
count_packets() { # WIRE
	local line

	packets=0
	ringfence stats dev "${port[$1]}" >"$scratch/counts.$BASHPID"
	while IFS= read -r line; do
		[[ ! $line =~ ^(passed|dropped)\ +([0-9]+) ]] || packets=$((packets + BASH_REMATCH[2]))
	done <"$scratch/counts.$BASHPID"
}

counted() { # WIRE
	local packets

	count_packets "$1"
	echo "$packets"
}

has_counted() { # WIRE PACKETS
	local packets

	count_packets "$1"
	[ "$packets" -ge "$2" ]
}

# Stores the sums over lines "SOURCE PACKETS BYTES" in $packets and $bytes.
add_up() { # LINES
	local more_packets more_bytes _

	packets=0 bytes=0
	while read -r _ more_packets more_bytes _; do
		packets=$((packets + more_packets)) bytes=$((bytes + more_bytes))
	done <<<"$1"
}

sum() { # LINES
	local packets bytes

	add_up "$1"
	printf '%s %s' "$packets" "$bytes"
}

# Stores the lines of `traffic` in $text: sorted, without the first word of each.
read_sources() { # FILE WORD
	read_text <"$1"
	text=${text#"$2 "}
	text=${text//$'\n'"$2 "/$'\n'}
	[[ $text != *$'\n'* ]] || text=$(sort <<<"$text")
}

# observe WIRE MAX CMD…: runs a sender, waits until the fence has counted each of its frames, and
# records the frames that came out behind the program. MAX is L/W, or empty.
observe() {
	local wire=$1 max=$2 before packets bytes text

	count_packets "$wire"
	before=$packets
	start inside build/tests/traffic recv dev "${port[$wire]}" for 5m ${max:+max "$max"} \
		>"$scratch/received" 2>"$scratch/receiver"
	eventually test -s "$scratch/receiver"
	read_text <"$scratch/receiver"
	[ "$text" = ready ] || bail "cannot receive: $text"
	"${@:3}" >"$scratch/sender"
	read_sources "$scratch/sender" sent
	sent=$text
	add_up "$sent"
	[ "$packets" != 0 ] || bail "nothing was sent on wire $wire"
	sent_packets=$((sent_packets + packets)) sent_bytes=$((sent_bytes + bytes))
	eventually has_counted "$wire" $((before + packets)) ||
		fail "all $packets frames on wire $wire were counted"
	pause 0.05 # from the program to the socket
	stop TERM "$started_pid"
	verdict=$?
	read_sources "$scratch/received" received
	received=$text
	add_up "$received"
	received_packets=$((received_packets + packets))
	received_bytes=$((received_bytes + bytes))
}

# deliver WIRE [max L/W] FLOW…: sends each FLOW, in the syntax of `traffic send`.
deliver() {
	local wire=$1 max='' flows=() flow

	shift
	if [ "$1" = max ]; then
		max=$2
		shift 2
	fi
	for flow; do
		flows+=(flow "$flow")
	done
	observe "$wire" "$max" outside build/tests/traffic send dev "out$wire" \
		to "02:00:00:00:0$wire:02" "${flows[@]}"
}

# "SOURCE PACKETS" of what came out in the last delivery, a line for each source.
came() {
	cut -d' ' -f1,2 <<<"$received"
}

# The sum of these packets.
passed() {
	local packets bytes

	add_up "$received"
	echo "$packets"
}

# stays_within NAME: in the last delivery, no interval received more frames than `max` allows.
stays_within() {
	if [ "$verdict" = 0 ]; then
		pass "$1"
		return
	fi
	fail "$1"
	explain receiver "$(<"$scratch/receiver")"
}

# names_in TABLE [VERDICT]: the names of a table of user/schema/, as jq has a list of them
names_in() {
	awk -F '|' -v verdict="${2:-}" '!verdict || $2 == verdict { printf "%s\"%s\"", separator, $1; separator = ", " }' \
		"build/schema/$1"
}

# conserves WIRE NAME: the fence passed the packets that the receiver received, and dropped the rest
# of those sent since forget_traffic, to the packet and byte; and the sum of the reasons equals the
# sent packets.
conserves() {
	is "$(stats "$1" '[.packets.passed, .packets.dropped, .bytes.passed, .bytes.dropped,
		([.reasons[].packets] | add), ([.reasons[].bytes] | add),
		([.reasons['"$(names_in reasons dropped)"'].packets] | add)] | join(" ")')" \
		"$received_packets $((sent_packets - received_packets)) \
$received_bytes $((sent_bytes - received_bytes)) \
$sent_packets $sent_bytes $((sent_packets - received_packets))" \
		"$2"
}
