#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Clients whose SYNs are challenged, with other features of TCP: Fast Open, ECN, timestamps, window
# scaling, servers with several listeners, NAT, and a first SYN that gets no response.
#
#   home                     outside              inside
#   10.1.0.2-9  ---------->  NAT  --- wire 0 ---  server

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/servers.sh
source tests/e2e/servers.sh

megabyte=1048576
home_clients=8
declare -A home=([4]=10.1.0. [6]=fd01::)
declare -A fast_source late

# set_sysctl NAMESPACE NAME VALUE
set_sysctl() {
	within "$1" sh -c "echo $3 >/proc/sys/net/ipv4/$2" || bail "cannot set $2"
}

client() { # FAMILY SOURCE get|put|fast|… [N]
	outside tests/e2e/clients.py "$3" "${server[$1]}" 8080 "$2" "${@:4}"
}

# The next source, to be a newcomer.
next_source() { # FAMILY
	sources=$((${sources-0} + 1))
	source=$(nth_client "$1" "$sources")
}

# is_challenged NAME FAMILY SOURCE WAY [N]: this client succeeds, and its SYN was challenged.
is_challenged() {
	local challenged proven

	challenged=$(reason challenged) proven=$(reason proven)
	matches "$(client "${@:2}"), $(since challenged "$challenged") $(since proven "$proven")" 'ok, [1-9] 1' "$1: IPv$2"
}

# Both ways over challenged connections.
transfers() { # NAME
	local family source

	for family in 4 6; do
		next_source "$family"
		is_challenged "$1: a download of 1 MiB is whole" "$family" "$source" get "$megabyte"
		next_source "$family"
		is_challenged "$1: an upload of 1 MiB is whole" "$family" "$source" put "$megabyte"
	done
}

make_network 1
silence_outside
connect_servers 0
catch_responses
start_web_server reuseport
start inside tests/e2e/clients.py serve 8080 4
eventually can_connect 127.0.0.1 8080 || bail 'cannot start the server'
ringfence attach "${port[0]}" >"$scratch/log" || bail "cannot attach: $(<"$scratch/log")"

# Fast Open works until SYN cookies are always used; the client then still has its cookie.
set_sysctl inside tcp_fastopen 2
set_sysctl outside tcp_fastopen 1
for family in 4 6; do
	next_source "$family"
	fast_source[$family]=$source
	client "$family" "$source" fast >"$scratch/log"
	is "$(client "$family" "$source" fast)" 'ok in the SYN' "without rules, data in a SYN is accepted: IPv$family"
done
set_sysctl inside tcp_syncookies 2
exhaust_guard challenge
for family in 4 6; do
	is_challenged 'a client that sends data in its SYN sends them again' "$family" "${fast_source[$family]}" fast
done

# ---- features of TCP ----

transfers 'window scaling and timestamps'
set_sysctl outside tcp_ecn 1
transfers 'a client with ECN'
set_sysctl outside tcp_ecn 2
for value in 2 0; do
	set_sysctl inside tcp_timestamps "$value"
	transfers "a server with tcp_timestamps=$value"
done

proven=$(reason proven)
for family in 4 6; do
	gets "$family" 80 page "$clients of $clients" 'new clients of nginx with reuseport get their page' 180
done
is "$(since proven "$proven")" $((2 * clients)) 'and each has proved its address'

# ---- a first SYN without a response ----

exhaust_guard 'challenge answers 1/2s'
before=$(reason newcomer_drop)
start outside build/tests/traffic forge dev out0 to "$servers_mac" for 3m cpu 0 \
	flow "${forged[4]},dst=${server[4]},proto=syn,dport=80,rate=1000" >"$scratch/sent" 2>"$scratch/log"
flood=$started_pid
eventually counts_more newcomer_drop 100 "$before"

is_connecting() { # FAMILY
	[ -n "$(outside ss "-Htn$1" state syn-sent)" ]
}

for family in 4 6; do
	next_source "$family"
	start outside tests/e2e/clients.py get "${server[$family]}" 8080 "$source" "$megabyte" >"$scratch/client$family"
	late[$family]=$started_pid
	eventually is_connecting "$family"
	pause 0.3
	check "a SYN over the rate of answers gets no response: IPv$family" is_connecting "$family"
done
stop TERM "$flood"
for family in 4 6; do
	wait "${late[$family]}"
	is "$(<"$scratch/client$family")" ok "its client succeeds by a retransmission: IPv$family"
done

# ---- NAT ----

add_namespace home
ip link add home0 netns "rf-test-$$-home" type veth peer name home1 netns "rf-test-$$-outside" || bail 'cannot add a wire'
within home sh -ec "for setting in all lo home0; do echo 0 >/proc/sys/net/ipv6/conf/\$setting/disable_ipv6; done
	ip link set lo up
	ip link set home0 up
	for n in 2 3 4 5 6 7 8 9; do ip address add 10.1.0.\$n/24 dev home0; ip address add fd01::\$n/64 dev home0 nodad; done
	ip route add default via 10.1.0.1; ip -6 route add default via fd01::1"
outside sh -ec "echo 0 >/proc/sys/net/ipv6/conf/home1/disable_ipv6
	ip link set home1 up
	ip address add 10.1.0.1/24 dev home1; ip address add fd01::1/64 dev home1 nodad
	echo 1 >/proc/sys/net/ipv4/ip_forward
	echo 1 >/proc/sys/net/ipv6/conf/all/forwarding"
outside nft -f - <<-'END' || bail 'cannot add NAT'
	table inet nat {
		counter invalid { }
		chain forward {
			type filter hook forward priority filter
			ct state invalid counter name invalid drop
		}
		chain postrouting {
			type nat hook postrouting priority srcnat
			iifname home1 masquerade
		}
	}
END
exhaust_guard challenge
for family in 4 6; do
	challenged=$(reason challenged)
	behind=()
	for ((n = 2; n < 2 + home_clients; n++)); do
		start home tests/e2e/clients.py get "${server[$family]}" 8080 "${home[$family]}$n" "$megabyte" >"$scratch/home$n"
		behind+=("$started_pid")
	done
	wait "${behind[@]}"
	is "$(cat "$scratch"/home* | sort | uniq -c | xargs)" "$home_clients ok" "clients behind NAT, all new: IPv$family"
	check "their address is challenged: IPv$family" counts_more challenged 1 "$challenged"
done
is "$(outside nft list counter inet nat invalid | grep -o 'packets [0-9]*')" 'packets 0' 'NAT finds all packets valid'

done_testing
