# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# A web server and a DNS server behind a wire, clients with many addresses, and forged sources, over
# IPv4 and IPv6. Source lib.sh before this file.
#
#   outside                                 inside
#   out0  -- wire 0, or $servers_wire ----  ${port[0]}
#   192.0.2.1, fd00::1                      192.0.2.2, fd00::2: nginx, NSD
#   10.64.0.0/10, fd08::/32: clients
#   11.0.0.0 and following, 2400::/32: forged sources; responses to them are dropped on out0
#
# Neighbours are permanent: the wire carries no ARP.

# shellcheck disable=SC2154 # port, scratch, started_pid: of lib.sh
# shellcheck disable=SC2034 # the tests use them
declare -A server=([4]=192.0.2.2 [6]=fd00::2)
declare -A client=([4]=10.64.0.0 [6]=fd08::)
declare -A forged=([4]="src=11.0.0.0,sources=1677721600" [6]="src=2400::,sources=4294967295")
servers_wire=0
servers_mac=02:00:00:00:00:02 # of that wire
frames_each=1000 # that forge sends

# Drops the packets that the kernel outside sends on its own initiative, for tests that compare counts
# to the packet. Call it before connect_servers.
silence_outside() {
	outside nft -f - <<-'END' || bail 'cannot filter multicast reports'
		table ip6 silence {
			chain output {
				type filter hook output priority filter
				icmpv6 type { mld-listener-report, mld2-listener-report, nd-router-solicit } drop
			}
		}
	END
}

# The addresses of one side, and its route to the other.
add_addresses() { # NAMESPACE IF HOST PEER PEER_MAC
	within "$1" sh -ec "
		for setting in all lo $2; do echo 0 >/proc/sys/net/ipv6/conf/\$setting/disable_ipv6; done
		ip link set lo up
		ip address add 192.0.2.$3/24 dev $2
		ip address add fd00::$3/64 dev $2 nodad
		ip neighbour replace 192.0.2.$4 lladdr $5 dev $2 nud permanent
		ip neighbour replace fd00::$4 lladdr $5 dev $2 nud permanent
		ip route replace default via 192.0.2.$4 dev $2
		ip -6 route replace default via fd00::$4 dev $2" || bail "$1: cannot add addresses"
}

# On the wire itself, or on an existing VLAN device on each of its ends.
connect_servers() { # [WIRE [VLAN]]
	servers_wire=${1-0}
	servers_mac=02:00:00:00:0$servers_wire:02
	add_addresses outside "out$servers_wire${2:+.$2}" 1 2 "$servers_mac"
	add_addresses inside "${port[$servers_wire]}${2:+.$2}" 2 1 "02:00:00:00:0$servers_wire:01"
	# A veth without a program accepts no redirected frames otherwise.
	inside ethtool -K "${port[$servers_wire]}" gro on || bail 'cannot enable GRO'
	within outside sh -ec "ip route replace local 10.64.0.0/10 dev lo
		ip -6 route replace local fd08::/32 dev lo" || bail 'cannot add the addresses of clients'
}

disconnect_servers() { # [VLAN]
	outside ip address flush dev "out$servers_wire${1:+.$1}"
	inside ip address flush dev "${port[$servers_wire]}${1:+.$1}"
}

# Counts and drops responses to forged sources on out0, whose program XDP_TX inside requires.
catch_responses() {
	start outside build/tests/traffic catch dev "out$servers_wire" for 60m flow "${forged[4]}" flow "${forged[6]}" \
		>"$scratch/caught" 2>"$scratch/catcher"
	catcher=$started_pid
	eventually test -s "$scratch/catcher"
	[ "$(<"$scratch/catcher")" = ready ] || bail "cannot catch: $(<"$scratch/catcher")"
}

# Stores the number of caught responses in $frames, and the length of the longest in $longest.
read_caught() { # synack|reset|truncated|other
	local kind

	: >"$scratch/caught"
	kill -USR1 "$catcher"
	eventually grep -q '^other' "$scratch/caught"
	while read -r kind frames longest; do
		[ "$kind" != "$1" ] || break
	done <"$scratch/caught"
}

# Sends forged frames, for a time or until the flow's count was sent.
send_forged() { # TIME FLOW
	outside build/tests/traffic forge dev "out$servers_wire" to "$servers_mac" for "$1" cpu 0 flow "$2" \
		>"$scratch/sent" 2>"$scratch/log" || bail "cannot forge: $(<"$scratch/log")"
}

# Forges frames of a kind, and waits until they were counted under the reason.
forge() { # FAMILY PROTO DPORT REASON
	local before

	before=$(reason "$4")
	send_forged 3m "${forged[$1]},dst=${server[$1]},proto=$2,dport=$3,count=$frames_each"
	eventually counts_more "$4" "$frames_each" "$before"
}

# Waits until all frames that out0 has sent were counted: the wire is a queue.
settle() {
	local before

	before=$(reason non_ip)
	outside build/tests/traffic compose dev "out$servers_wire" to "$servers_mac" count 1 type=0x88b5 zeros=46 >"$scratch/sent"
	eventually counts_more non_ip 1 "$before"
}

can_connect() { # ADDRESS PORT
	inside bash -c "exec 3<>/dev/tcp/$1/$2" 2>/dev/null
}

start_web_server() { # [reuseport]
	mkdir -p "$scratch/web/files"
	truncate -s 1G "$scratch/web/files/large"
	echo 'a page' >"$scratch/web/files/index.html"
	cat >"$scratch/web/conf" <<-END
		daemon off;
		master_process off; # a worker would outlive a master that is killed
		user root;
		pid $scratch/web/pid;
		error_log $scratch/web/errors;
		events { worker_connections 16384; }
		worker_rlimit_nofile 32768;
		http {
			access_log off;
			client_header_timeout 1h;
			client_body_temp_path $scratch/web/body;
			proxy_temp_path $scratch/web/proxy;
			fastcgi_temp_path $scratch/web/fastcgi;
			uwsgi_temp_path $scratch/web/uwsgi;
			scgi_temp_path $scratch/web/scgi;
			server {
				listen 80 ${1-} backlog=4096;
				listen [::]:80 ${1-} backlog=4096;
				root $scratch/web/files;
				location /large { limit_rate 1m; }
			}
		}
	END
	start inside nginx -c "$scratch/web/conf" -e "$scratch/web/errors"
	web_server=$started_pid
	eventually can_connect 127.0.0.1 80 || bail "cannot start nginx: $(<"$scratch/web/errors")"
}

start_dns_server() {
	mkdir -p "$scratch/dns"
	cat >"$scratch/dns/zone" <<-'END'
		$ORIGIN example.
		@ 3600 SOA ns hostmaster 1 3600 600 86400 60
		@ 3600 NS ns
		ns 3600 A 192.0.2.2
		www 3600 A 192.0.2.80
		www 3600 AAAA fd00::80
	END
	cat >"$scratch/dns/conf" <<-END
		server:
			ip-address: 192.0.2.2
			ip-address: fd00::2
			username: ""
			chroot: ""
			zonesdir: "$scratch/dns"
			database: ""
			pidfile: "$scratch/dns/pid"
			logfile: "$scratch/dns/log"
			zonelistfile: "$scratch/dns/zones"
			xfrdfile: "$scratch/dns/xfrd"
			xfrdir: "$scratch/dns"
			server-count: 1
			tcp-count: 1000
			rrl-ratelimit: 0
		remote-control:
			control-enable: no
		zone:
			name: example
			zonefile: zone
	END
	start inside nsd -d -c "$scratch/dns/conf"
	dns_server=$started_pid
	eventually can_connect 192.0.2.2 53 || bail "cannot start nsd: $(<"$scratch/dns/log")"
}

# ---- new clients ----

clients=20 # of a visit

# exhaust_guard THEN…: sets rules whose guard admits 100 newcomers in an hour, and forges that many.
# As many sources can prove their address.
exhaust_guard() {
	local before

	before=$(reason newcomer_drop)
	rules <<-END
		limit add any rate 100k/1s
		newcomers rate ${guard_rate-100/1h} then $*
	END
	exhausted=$((${exhausted-0} + 1))
	outside build/tests/traffic send dev "out$servers_wire" to "$servers_mac" \
		flow "src=11.0.$exhausted.0,sources=120,count=120" >"$scratch/log"
	eventually counts_more newcomer_drop 20 "$before" || bail 'cannot exhaust the guard'
}

visits=0 # each with clients that were not seen before

# Stores the result in $visited; in a subshell, the clients would be the same ones again.
visit() { # FAMILY PORT page|query [PATIENCE]
	visits=$((visits + 1))
	outside build/tests/tcp/newcomers "${server[$1]}" "$2" "$(nth_client "$1" $((visits * 100)))" "$clients" 1000 \
		"$3" "${4-1}" >"$scratch/visited"
	visited=$(<"$scratch/visited")
}

# newcomers steps by a /24 plus 1, or a /48.
nth_client() { # FAMILY N
	if [ "$1" = 4 ]; then
		echo "10.$((64 + ($2 >> 8))).$(($2 & 255)).0"
	else
		printf 'fd08:0:%x::\n' "$2"
	fi
}

reason() { # NAME
	stats "$servers_wire" ".reasons.$1.packets"
}

# How often the reason was counted.
since() { # NAME BEFORE
	echo $(($(reason "$1") - $2))
}

counts_more() { # NAME BY BEFORE
	[ "$(reason "$1")" -ge $(($2 + $3)) ]
}

# gets FAMILY PORT page|query WANT NAME [PATIENCE]: new clients, of whom WANT succeed.
gets() {
	visit "$1" "$2" "$3" "${6-1}"
	is "$(jq .succeeded <<<"$visited") of $clients" "$4" "$5: IPv$1"
}
