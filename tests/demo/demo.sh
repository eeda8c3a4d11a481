#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# The main use case, on two separate network namespaces:
#
#   namespace "outside"                        namespace "server"
#   four senders ── veth  out0 ═══════════════ in0  veth ── XDP: ringfence ── a receiver
#   192.0.2.1     IPv4,  50 packets/s: under the limit of 100/1s
#   192.0.2.66    IPv4, 400 packets/s: over it
#   2001:db8:1::1 IPv6,  50 packets/s: under
#   2001:db8:66::1 IPv6, 400 packets/s: over
#
# ringfence-watch runs in "server", and reports the sources over the limit.
#
# It removes everything it created, also when it is interrupted.
set -eu
cd "$(dirname "$0")/../.."

SECONDS_OF_TRAFFIC=6
RATE=100/1s
UNDER=50 OVER=400
sources=(192.0.2.1 192.0.2.66 2001:db8:1::1 2001:db8:66::1)
rates=("$UNDER" "$OVER" "$UNDER" "$OVER")

outside=rf-demo-outside-$$ server=rf-demo-server-$$
ringfence=build/ringfence traffic=build/tests/traffic
work=$(mktemp -d)
children=()

cleanup() {
	trap - EXIT INT TERM
	for pid in "${children[@]}"; do kill "$pid" 2>/dev/null || true; done
	wait 2>/dev/null || true
	ip netns del "$outside" 2>/dev/null || true
	ip netns del "$server" 2>/dev/null || true
	rm -rf "$work"
}
trap cleanup EXIT
trap 'echo; echo "interrupted"; exit 130' INT TERM

if [ "$(id -u)" != 0 ]; then
	echo "make demo: it makes network namespaces and loads a program; run 'sudo make demo'" >&2
	exit 1
fi

# Not `ip netns exec`: its private mount namespace would hide pins.
in_outside() { nsenter --net="/run/netns/$outside" "$@"; }
in_server() { nsenter --net="/run/netns/$server" "$@"; }
show() {
	printf '\n$ %s\n' "$*"
	in_server "$@"
}

make_network() {
	ip netns add "$outside"
	ip netns add "$server"
	in_outside ip link add name out0 type veth peer name in0 netns "$server"
	in_outside sysctl -qw net.ipv6.conf.out0.disable_ipv6=1
	in_server sysctl -qw net.ipv6.conf.in0.disable_ipv6=1
	in_outside ip link set dev out0 up
	in_server ip link set dev in0 up
}

start_receiver() {
	# Not the function: $! would be a shell around it, which does not forward signals.
	nsenter --net="/run/netns/$server" "$traffic" recv dev in0 for 60s max "$RATE" \
		>"$work/received" 2>"$work/receiver" &
	receiver=$!
	children+=("$receiver")
	for _ in $(seq 100); do
		grep -q ready "$work/receiver" && return
		sleep 0.05
	done
	cat "$work/receiver" >&2
	return 1
}

start_senders() {
	local mac flows=() i

	mac=$(in_server ip -j link show dev in0 | jq -r '.[0].address')
	for i in "${!sources[@]}"; do
		flows+=(flow "src=${sources[i]},count=$((rates[i] * SECONDS_OF_TRAFFIC)),rate=${rates[i]},len=128")
	done
	nsenter --net="/run/netns/$outside" "$traffic" send dev out0 to "$mac" "${flows[@]}" \
		>"$work/sent" &
	senders=$!
	children+=("$senders")
}

# A daemon that watches the fence, with a separate history.
start_daemon() {
	export RINGFENCE_HISTORY=$work/history
	nsenter --net="/run/netns/$server" build/ringfence-watch history "$work/history" events file off \
		journal off listen off sources full >"$work/daemon" 2>&1 &
	daemon=$!
	children+=("$daemon")
	for _ in $(seq 100); do
		grep -q '^fence' "$work/daemon" && return
		sleep 0.05
	done
	cat "$work/daemon" >&2
	return 1
}

# The daemon has reported each source over the limit, and no other source.
told() {
	local limited

	limited=$(in_server "$ringfence" events of source_limited --json |
		jq -r '[.fences[].events[].source] | sort | join(" ")')
	[ "$limited" = '192.0.2.66 2001:db8:66::/64' ] && return
	echo "WRONG: events tell of: $limited" >&2
	return 1
}

# Packets that the sender sent, that arrived after the program, and that ringfence counted.
summary() {
	local status=0 verdict i sent received passed dropped

	printf '\n%-16s %8s %8s %8s %10s   %s\n' source sent passed dropped received ''
	for i in "${!sources[@]}"; do
		sent=$(awk -v s="${sources[i]}" '$2 == s { print $3 }' "$work/sent")
		received=$(awk -v s="${sources[i]}" '$2 == s { print $3 }' "$work/received")
		read -r passed dropped < <(in_server "$ringfence" show "${sources[i]}" --json |
			jq -r '.limits[0] | "\(.passed) \(.dropped)"')
		verdict="sent = passed + dropped, passed = received"
		if [ "$sent" != $((passed + dropped)) ] || [ "$passed" != "${received:-0}" ]; then
			verdict="WRONG: these do not add up" status=1
		elif [ "${rates[i]}" = "$UNDER" ] && [ "$dropped" != 0 ]; then
			verdict="WRONG: it was under the limit" status=1
		elif [ "${rates[i]}" = "$OVER" ] && [ "$dropped" = 0 ]; then
			verdict="WRONG: it was over the limit" status=1
		fi
		printf '%-16s %8s %8s %8s %10s   %s\n' "${sources[i]}" "$sent" "$passed" "$dropped" \
			"${received:-0}" "$verdict"
	done
	return $status
}

make_network
echo "Two namespaces, joined by a veth pair; ringfence goes on the receiving end."
show ip link set dev in0 xdpdrv obj build/ringfence.bpf.o sec xdp
show "$ringfence" status
show "$ringfence" limit add any rate "$RATE"
start_daemon
start_receiver
echo
echo "Sending for $SECONDS_OF_TRAFFIC seconds: two sources at $UNDER packets/s, two at $OVER packets/s."
start_senders
printf '\n$ %s stats watch\n' "$ringfence"
in_server timeout --foreground -s INT "$((SECONDS_OF_TRAFFIC - 1)).5" "$ringfence" stats watch || true
wait "$senders"
show "$ringfence" stats
show "$ringfence" top 10
show "$ringfence" show 192.0.2.66
show "$ringfence" events
printf '\n$ %s metrics | grep limit_packets_total\n' "$ringfence"
in_server "$ringfence" metrics | grep '^ringfence_limit_packets_total'
told && told=0 || told=1
sleep 0.2
kill -INT "$receiver"
wait "$receiver" && within="never more than $RATE in any interval of that length" ||
	within="WRONG: more than $RATE: $(cat "$work/receiver")"
kill "$daemon"
wait "$daemon" || true
children=()
summary && result=$told || result=1
echo "what arrived from each source: $within"
[ "${within#WRONG}" = "$within" ] || result=1
[ "$result" = 0 ] && echo "demo: all of it adds up" || echo "demo: FAILED" >&2
exit "$result"
