#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Every example in every command's help works as printed, on a machine that it is meant for.
#
#   outside                      inside
#   out0  ------- wire 0 ------  eth0
#   out1  ------- wire 1 ------  eth1

# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

port=([0]=eth0 [1]=eth1)
work=$scratch/work
mkdir "$work" "$scratch/bin"
cp build/ringfence build/ringfence-fleet "$scratch/bin"
engine=$(command -v redis-server || command -v valkey-server) || bail "there is no redis-server; run 'make deps-test'"
PATH=$scratch/bin:$PATH
use "$quick" # of the preparations; the examples run the shipped build
make_network 2

quietly() {
	"$@" >"$scratch/quiet" 2>&1 || bail "cannot prepare: $*: $(<"$scratch/quiet")"
}

detach_all() {
	local wire

	for wire in 0 1; do
		[ "$(program_on $wire)" = none ] || quietly ringfence detach "${port[$wire]}"
	done
}

# A fence on eth0 without any rule; an existing one is quicker.
attach_one() {
	[ "$(program_on 1)" = none ] || detach_all
	[ "$(program_on 0)" != none ] || quietly ringfence attach eth0
	ringfence confirm >"$scratch/quiet" 2>&1 # rules can be unconfirmed
	echo 'newcomers off' | quietly ringfence apply -
}

# A fence of a fleet with a server, for the examples that need one.
banning=() # the server and the agent of the last one
attach_to_fleet() {
	detach_all
	for pid in "${banning[@]}"; do
		stop KILL "$pid"
	done
	quietly ringfence attach eth0 fleet
	inside ip link set lo up
	start inside redis-server --port 7000 --save '' --dir "$work" >"$work/engine"
	banning=("$started_pid")
	start inside build/ringfence-fleet run eth0 redis 127.0.0.1:7000 hosts 3 >"$work/agent" 2>&1
	banning+=("$started_pid")
	eventually grep -q 'connected (bans)' "$work/agent"
	[ "$2" != del ] || quietly ringfence deny add "$3" for 1h fleet
}

# Agents of the fences 'edge' and 'other'; that one's host is named web3, and has gone.
agents=()
start_agent() { # HOST FENCE [SETTING…]
	# shellcheck disable=SC2016 # the inner shell's
	start inside unshare --uts sh -c 'printf %s "$1" >/proc/sys/kernel/hostname; shift; exec build/ringfence-fleet run "$@"' \
		sh "$@" >"$work/agent.$1" 2>&1
	agents+=("$started_pid")
}

fleet_has() { # FILTER: of the status of 'edge'
	ringfence fleet status edge --json 2>"$scratch/quiet" | jq -e "$1" >"$work/status"
}

# prepare_fleet COMMAND: a server, a fence, and its agent if the example needs it.
prepare_fleet() {
	quietly ringfence attach eth1 fence edge fleet
	for pid in "${agents[@]}"; do
		stop KILL "$pid"
	done
	agents=()
	[ "$1" != join ] || return 0
	inside ip link set lo up
	[ -n "${engine_pid-}" ] || start inside "$engine" --port 6379 --save '' --logfile "$work/redis.log"
	engine_pid=${engine_pid-$started_pid}
	quietly ringfence fleet join edge redis 127.0.0.1:6379 hosts 4
	quietly ringfence limit add any rate 20k/1s fleet
	case $1 in leave | run | hosts) return ;; esac
	start_agent web1 edge
	[ "$1" != gone ] || start_agent web3 other redis 127.0.0.1:6379 hosts 4
	eventually fleet_has '.offline_ms == null' || bail "the agent is alone: $(<"$work/agent.web1")"
	[ "$1" != check ] || eventually inside "$shipped" fleet check edge >"$scratch/quiet" 2>&1 ||
		bail "the fleet has a problem: $(<"$scratch/quiet")"
	[ "$1" = gone ] || return 0
	eventually fleet_has 'any(.others[]; .name == "web3")' || bail 'web3 is no member'
	stop KILL "${agents[1]}"
	unset 'agents[1]'
	eventually fleet_has 'any(.others[]; .name == "web3" and .silent_ms > 4000)' || bail 'web3 is not silent'
}

# prepare EXAMPLE: makes the fence and the files that the example needs.
prepare() {
	local verb=$2 second=${3-}

	echo 'limit add any rate 20k/1s' >"$work/rules"
	echo '203.0.113.0/24 # a partner' >"$work/partners.txt"
	echo '192.0.2.66' >"$work/blocklist.txt"
	echo 'deny add 192.0.2.66 for 1h' >"$work/changes"
	case $verb in
	attach)
		detach_all
		return
		;;
	adopt)
		detach_all
		quietly inside ip link set dev eth0 xdpdrv obj build/ringfence.bpf.o sec xdp
		return
		;;
	fleet)
		detach_all
		prepare_fleet "$second"
		return
		;;
	esac
	case "$*" in
	*'deny '*fleet)
		attach_to_fleet "${@:2}"
		return
		;;
	esac
	attach_one
	case "$verb $second" in
	'limit enforce' | 'limit shadow')
		quietly ringfence limit add dns rate 1/1s
		quietly ringfence limit add syn rate 1/1s match tcp syn
		;;
	'limit set' | 'limit change' | 'limit del') quietly ringfence limit add "$4" rate 1/1s ;;
	'allow del' | 'deny del') quietly ringfence "$verb" add "$4" ;;
	unban*)
		detach_all
		quietly inside "$shipped" attach eth0 # which bans
		quietly ringfence limit add any rate 1/1h ban 1h
		deliver 0 src=192.0.2.1,count=5
		;;
	confirm* | revert*) quietly ringfence apply "$work/rules" confirm 1h ;;
	*) ;;
	esac
}

# Runs an example in the directory of the files; interrupts a command that does not exit on its own.
run_example() {
	local seconds

	case $1 in
	*'events watch'*) build/tests/recorder "$RINGFENCE_HISTORY" eth0 20 20 full 20 || return ;; # as a daemon does
	esac
	case $1 in
	*watch* | *'fleet run'* | *'ringfence repair'*)
		for seconds in 3 30 120; do # on a busy machine it might not have started when it is interrupted
			run_command "timeout --preserve-status -s INT $seconds $1" && return
		done
		false
		;;
	*) run_command "$1" ;;
	esac
}

run_command() {
	inside env -C "$work" bash -c "$1" >"$scratch/stdout" 2>"$scratch/stderr"
}

# record DIRECTORY SECONDS: a history of the last SECONDS, which the examples read.
record() {
	export RINGFENCE_HISTORY=$1
	rm -rf "$1"
	mkdir "$1"
	build/tests/recorder "$1" eth0 "$2" "$2" full 60 || bail 'cannot record a history'
}
record "$scratch/history" 172800

# The daemon's files, for the example that prints the URL of its page.
mkdir /run/ringfence-watch
printf '%s\n' http://127.0.0.1:9436/ /run/ringfence-watch/token >/run/ringfence-watch/page
echo 0123456789abcdef >/run/ringfence-watch/token

try_example() { # WORDS OF THE EXAMPLE
	local status

	# shellcheck disable=SC2086 # words
	prepare $1
	RINGFENCE_HISTORY=$scratch/history
	[[ $1 = *' at -'* ]] && record "$scratch/recent" 10800 # up to now, however long the examples before it took
	run_example "$1"
	status=$?
	[[ $status = 1 && $1 = 'ringfence diff '* ]] && status=0 # there are differences
	is "$status $(<"$scratch/stderr")" '0 ' "example of help works: $1"
}

mapfile -t commands < <(build/ringfence completion table | cut -d: -f1)
check 'the completion lists more than 20 commands' test "${#commands[@]}" -gt 20
for command in "${commands[@]}"; do
	# shellcheck disable=SC2086 # words
	mapfile -t examples < <(build/ringfence help $command | sed -n 's/^Example: //p')
	check "help $command has an example" test "${#examples[@]}" -gt 0
	for example in "${examples[@]}"; do
		try_example "$example"
	done
done

# Lines of a text with more than 80 columns.
too_wide() {
	LC_ALL=C.UTF-8 sed -nE '/^.{81}/p'
}
is "$(build/ringfence help | too_wide)" '' 'the list of commands fits into 80 columns'
for command in "${commands[@]}"; do
	# shellcheck disable=SC2086 # words
	build/ringfence help $command
done >"$scratch/help"
is "$(too_wide <"$scratch/help")" '' 'the help of each command fits into 80 columns'
# Bytes from behind the table of examples would be neither.
is "$(grep '^Example: ' "$scratch/help" | LC_ALL=C.UTF-8 grep -nvE '^Example: ringfence [a-z][[:print:]]*$')" '' \
	'each example is a command'

is "$(<"$work/ringfence.bash")" "$(build/ringfence completion)" 'the example of completion writes its file'
done_testing
