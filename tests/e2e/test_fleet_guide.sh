#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The guide "Two front ends, one limit", typed literally: on each machine the commands of its text,
# in their order, with the output that it shows. Instead of systemd, the commands of the units are
# run. Each machine has a private name, /etc, /run and bpffs.
#
#   outside              web1                 engine, 192.0.2.10
#   out1 --- traffic --- eth0   eng0 -------- eng1
#   out2 --- traffic --- eth0   eng0 (web2) - eng2
#                               eng0 (node1, …) eng11, …

# shellcheck disable=SC2016,SC2317 # dollars for others; functions are called by check and the like
# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/docs/examples.sh
source tests/docs/examples.sh

client=$(command -v redis-cli || command -v valkey-cli) || bail "there is no redis-cli; run 'make deps-test'"
guide=docs/guides/two-front-ends.md
stunnel=$(command -v stunnel4 || command -v stunnel) || bail "there is no stunnel; run 'make deps-test'"
server=$(command -v redis-server || command -v valkey-server) || bail "there is no redis-server; run 'make deps-test'"
tree=$PWD
declare -A holds   # the process whose namespaces belong to a machine
declare -A service # "MACHINE UNIT": its process
both=(web1 web2)
nodes=(node1 node2 node3)

# ---- machines ----

# add_machine NAME: with mounts and a name that are its own.
add_machine() {
	add_namespace "$1"
	start "$1" unshare --mount --uts --propagation private bash -c "$(declare -f make_private)
		make_private && printf '%s' $1 >/proc/sys/kernel/hostname && touch $scratch/$1.is_up && exec sleep infinity"
	holds[$1]=$started_pid
	eventually test -e "$scratch/$1.is_up" || bail "cannot make the machine $1"
	at "$1" ip link set lo up
}

at() { # MACHINE CMD…
	nsenter --target "${holds[$1]}" --net --mount --uts "${@:2}"
}

# The way to the engine, and by it to all others.
connect_machine() { # NAME NUMBER
	ip link add "eng$2" netns "rf-test-$$-engine" type veth peer name eng0 netns "rf-test-$$-$1" ||
		bail "cannot make the way to the engine of $1"
	at "$1" ip addr add "192.0.2.$2/32" dev eng0
	at "$1" ip link set eng0 up
	at "$1" ip route add 192.0.2.0/24 via 192.0.2.10 dev eng0 onlink
	at engine ip link set "eng$2" up
	at engine ip route add "192.0.2.$2" dev "eng$2"
}

connect_front_end() { # NAME NUMBER
	connect_machine "$@"
	ip link add "out$2" netns "rf-test-$$-outside" type veth peer name eth0 netns "rf-test-$$-$1" \
		address "02:00:00:00:0$2:02" || bail "cannot make the wire of $1"
	within outside ip link set "out$2" up
	at "$1" ip link set eth0 up
}

run_service() { # MACHINE UNIT CMD…
	nsenter --target "${holds[$1]}" --net --mount --uts "${@:3}" >>"$scratch/$1.$2.log" 2>&1 &
	service[$1 $2]=$!
	started[$!]=1
}

end_service() { # MACHINE UNIT [SIGNAL]
	[ -z "${service[$1 $2]-}" ] || stop "${3-TERM}" "${service[$1 $2]}"
	unset "service[$1 $2]"
}

begin_service() { # MACHINE UNIT
	local unit=${2%@*} name=${2#*@}

	if [ "$unit" = redis-server ]; then
		mkdir -p "$scratch/$1"
		run_service "$1" "$2" "$server" /etc/redis/redis.conf --daemonize no --supervised no \
			--dir "$scratch/$1" --logfile '' --pidfile ''
	elif [ "$unit" = stunnel ]; then
		at "$1" sed '1i foreground = yes\npid =' "/etc/stunnel/$name.conf" >"$scratch/$1.stunnel"
		run_service "$1" "$2" "$stunnel" "$scratch/$1.stunnel"
	else
		# shellcheck disable=SC2046 # words
		run_service "$1" "$2" $(sed -n "s|^ExecStart=/usr/sbin|$tree/build|p" \
			"packaging/systemd/$unit@.service" | sed "s/%I/$name/")
	fi
}

systemctl() { # MACHINE WORD…
	case "${*:2}" in
	'restart redis-server' | 'restart '*@* | 'enable --now '*@*)
		end_service "$1" "${*: -1}"
		begin_service "$1" "${*: -1}"
		;;
	'disable --now ringfence-fleet@'*) end_service "$1" "${*: -1}" ;;
	'enable ringfence@eth0') true ;; # `reboot` runs it
	*) false ;;
	esac
}

# The fence, its rules and its agent as the units bring them back.
reboot() { # MACHINE
	end_service "$1" ringfence-fleet@edge KILL
	at "$1" ip link set eth0 xdp off 2>"$scratch/log"
	type_on "$1" 'ringfence detach eth0' && type_on "$1" "$(
		at "$1" sed -n 's/^ATTACH_OPTIONS=/ringfence attach eth0 /p' /etc/ringfence/eth0.options
	)" && type_on "$1" 'ringfence apply /etc/ringfence/eth0.rules dev eth0' &&
		begin_service "$1" ringfence-fleet@edge
}

# ---- the guide's text ----

# type_on MACHINE TEXT: its output is in $scratch/out and $scratch/err.
type_on() {
	if [[ $2 == 'systemctl '* ]]; then
		# shellcheck disable=SC2086 # words
		systemctl "$1" ${2#systemctl } >"$scratch/out" 2>"$scratch/err"
	elif [[ $2 == 'apt '* || $2 == 'chown redis '* ]]; then
		true # `make deps` has installed it; the server is root here
	elif [[ $2 =~ ^scp\ 192\.0\.2\.10:([^ ]+)\ ([^ ]+)$ ]]; then
		at engine cat "${BASH_REMATCH[1]}" | at "$1" tee "${BASH_REMATCH[2]}" >"$scratch/out" 2>"$scratch/err"
	else
		at "$1" env PATH="$tree/build:$PATH" bash -c "cd / && $2" >"$scratch/out" 2>"$scratch/err" </dev/null
	fi
}

# Agents that start at the same time can request the same number, and one then takes a different
# one. The number that it leaves is a silent host, until the command that fleet check prints is run.
forget_silent() { # MACHINE
	local remedy

	remedy=$(unwrapped <"$scratch/out" | grep -om1 'ringfence fleet gone [0-9]*') || return
	at "$1" env PATH="$tree/build:$PATH" bash -c "$remedy" >>"$scratch/forgotten" 2>&1
}

type_well() { # MACHINE TEXT
	type_on "$@" && is_as_shown "$2" && return
	[ "$2" != 'ringfence fleet check' ] || forget_silent "$1"
	return 1
}

# Hosts learn of each other, and of sources, some time after.
settle() { # MACHINE
	local name="$1, line $line: ${command%%$'\n'*}"

	if eventually type_well "$1" "$command"; then
		pass "$name"
	else
		fail "$name"
		explain got "$(cat "$scratch/out" "$scratch/err")"
		explain want "$(<"$scratch/shown")"
	fi
}

# follow HEADING MACHINE…: types the commands of a section, each on all these machines.
follow() {
	local what line at_line text command='' machine

	awk -v heading="## $1" '/^## / { on = $0 == heading } { print on ? $0 : "" }' "$guide" >"$scratch/section.md"
	: >"$scratch/shown"
	awk -f tests/docs/examples.awk "$scratch/section.md" >"$scratch/examples"
	check "the guide has commands under '$1'" grep -q ^command "$scratch/examples"
	echo $'end\t0\t' >>"$scratch/examples"
	while IFS=$'\t' read -r what at_line text <&4; do
		if [ "$what" = output ] && [[ $command == *"<<'END'"* ]]; then
			command+=$'\n'$text # its input
		elif [ "$what" = output ]; then
			echo "$text" >>"$scratch/shown"
		else
			for machine in "${@:2}"; do
				[ -z "$command" ] || settle "$machine"
			done
			: >"$scratch/shown"
			command=''
			[ "$what" != command ] || command=$text line=$at_line
		fi
	done 4<"$scratch/examples"
}

# ---- the guide, from its beginning ----

[ "$(id -u)" = 0 ] || bail 'it makes network namespaces and loads programs; run it as root'
add_namespace outside
for machine in engine "${both[@]}" "${nodes[@]}"; do
	add_machine "$machine"
done
at engine ip addr add 192.0.2.10/32 dev lo
at engine sysctl -qw net.ipv4.ip_forward=1
for number in 1 2; do
	connect_front_end "web$number" "$number"
done
for number in 1 2 3; do
	connect_machine "node$number" "1$number"
done

follow 'The fleet server' engine
follow 'On each front end' "${both[@]}"

# How often front ends were offline, as their agents count.
times_alone() {
	local machine

	for machine in "${both[@]}"; do
		at "$machine" "$tree/build/ringfence" --json fleet status | jq .offline_count
	done | xargs
}

# Follows the chapter during a flood above the limit by both together, not by one.
see_it_work() {
	local number pid receivers=() senders=()

	for number in 1 2; do
		start "web$number" "$tree/build/tests/traffic" recv dev eth0 for 5m keep "$scratch/kept$number" \
			>"$scratch/received$number" 2>"$scratch/ready$number"
		receivers+=("$started_pid")
		eventually grep -q ready "$scratch/ready$number" || bail 'cannot receive'
		start outside build/tests/traffic send dev "out$number" to "02:00:00:00:0$number:02" \
			flow src=198.51.100.7,count=4000000000,rate=11000 >"$scratch/sent$number" 2>&1
		senders+=("$started_pid")
	done
	follow 'See it work' web1
	for pid in "${senders[@]}" "${receivers[@]}"; do
		stop TERM "$pid"
	done
}

# A front end whose agent has no CPU for the grace time goes offline, and more passes.
for _ in 1 2 3 4 5; do
	before=$(times_alone)
	see_it_work
	[ "$(times_alone)" != "$before" ] || break
	echo '# a front end was alone for a while: once more'
done
cat "$scratch"/kept? >"$scratch/kept"
most=$(build/tests/traffic judge "$scratch/kept" from 198.51.100.7 max 1000000/1s 2>/dev/null | sed 's/.*: //')
check 'both together pass no more than the limit' test "${most:-999999}" -le 20000
echo "# $most of 20000"

end_service engine redis-server KILL
for machine in "${both[@]}"; do
	says_alone() {
		! type_on "$machine" 'ringfence fleet check' &&
			unwrapped <"$scratch/out" | grep -q 'offline for .*nothing listens there'
	}
	check "without the engine $machine is alone, and fleet check says why" eventually says_alone
done
begin_service engine redis-server
hears() {
	type_on "$machine" 'ringfence fleet check'
	grep -q 'connected to the fleet server' "$scratch/out"
}
for machine in "${both[@]}"; do
	check "$machine hears the engine again" eventually hears
done

follow 'Change a limit' "${both[@]}"

follow 'TLS: on the fleet server' engine
follow 'TLS: on each front end' "${both[@]}"
fails 'with TLS nobody reaches the engine without' 1 'Could not connect to Redis at 192.0.2.10:6379: Connection refused' \
	at web1 "$client" -h 192.0.2.10 ping

follow 'A cluster behind TLS: on each node' "${nodes[@]}"
follow 'A cluster behind TLS: on one of them' node1
follow 'A cluster behind TLS: on each front end' "${both[@]}"

machine=web2
reboot "$machine" || fail 'the units bring the fence back'
check 'a front end that was rebooted hears the engine, by its files alone' eventually hears

follow 'Add a machine' "${both[@]}"
follow 'Remove a machine' web2
follow 'Remove a failed machine' web1
done_testing
