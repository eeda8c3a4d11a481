#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Which limits and which source each kind of frame is charged to. Real frames of every kind are sent
# over a wire, and the fence's counters are compared to the packet. The table of ringfence-rules(5),
# section "What is charged to whom", describes the same in words.
#
#   outside                          inside
#   out0  --------- wire 0 ------->  ${port[0]}
#
# Every row sends five frames of one kind. The more specific a limit is, the fewer frames it passes:
# of five, `all` passes 4, limits that match a protocol 3, limits that match ports or flags 2. The
# verdicts are therefore sufficient to determine which limits applied; and the row names each window
# that is created. The driver counts the frames that arrived behind the program.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

frames=5
# NAME, a tab, the definition.
limits='any	rate 4/1h
tcp	rate 3/1h match tcp
syn	rate 2/1h match tcp syn
udp	rate 3/1h match udp
dns	rate 2/1h match udp dport 53
web	rate 2/1h match tcp dport 443
icmp	rate 3/1h match icmp
ipip	rate 3/1h match proto 4
sixin4	rate 3/1h match proto 41
gre	rate 3/1h match proto 47
esp	rate 3/1h match proto 50
ah	rate 3/1h match proto 51
other	rate 3/1h match proto 132'

inner4=203.0.113.9 inner6=2001:db8:9:9::9
row=0

# Each row has different sources.
next_row() {
	row=$((row + 1))
	v4=192.0.2.$row v6=2001:db8:1:$row::7
}

# "NAME PASSED DROPPED" of each limit that has a window for that source.
charged() { # SOURCE
	ringfence show "$1" --json |
		jq -r '.limits[] | select(.newcomer | not) | "\(.limit) \(.passed) \(.dropped)"'
}

# The fence's totals and, as `xdp`, the driver's count of the verdicts.
count_all() {
	ringfence stats --json dev "${port[0]}"
	inside ethtool -S "${port[0]}" | awk '/xdp_packets:/ { all += $2 } /xdp_drops:/ { drops += $2 }
		END { printf "{\"xdp\": %d}", all - drops }'
}

# The additions since then: reasons, limits, windows of either family, a line for each.
difference() {
	command jq -rn --slurpfile before "$scratch/before" --slurpfile after "$scratch/after" '
		$before[0] as $old | $after[0] |
		"came out \($after[1].xdp - $before[1].xdp)",
		(.reasons | to_entries[] | .value.packets -= $old.reasons[.key].packets |
			.value.bytes -= $old.reasons[.key].bytes | select(.value.packets > 0) |
			"\(.key) \(.value.packets) packets, \(.value.bytes) bytes"),
		([.limits, $old.limits] | transpose[] |
			"\(.[0].name) \(.[0].passed - .[1].passed) \(.[0].dropped - .[1].dropped)" |
			select(endswith(" 0 0") | not) | "limit \(.)"),
		"windows \(.windows.ipv4.inserts - $old.windows.ipv4.inserts) \(
			.windows.ipv6.inserts - $old.windows.ipv6.inserts)"'
}

# send PART…: sends the frames; the additions are in $added, the length of a frame in $frame_bytes.
# Nothing was added since the previous frames, unless other limits exist: forget_counts marks that.
send() {
	local bytes

	[ -s "$scratch/after" ] || count_all >"$scratch/after"
	mv "$scratch/after" "$scratch/before"
	bytes=$(outside build/tests/traffic compose dev out0 to 02:00:00:00:00:02 \
		count $frames "$@") || bail "cannot send $*"
	frame_bytes=$((${bytes##* } / frames))
	eventually has_counted 0 $((row * frames)) || bail "not all were counted: $*"
	count_all >"$scratch/after"
	added=$(difference)
}

forget_counts() {
	rm -f "$scratch/after"
}

# How many of five frames pass where these limits apply.
room_of() { # LIMIT…
	local name least=$frames rate

	for name; do
		rate=$(sed -n "s,^$name	rate \([0-9]*\)/.*,\1,p" <<<"$limits")
		[ "$rate" -ge "$least" ] || least=$rate
	done
	echo "$least"
}

# "NAME PASSED DROPPED" of these limits: the first limit without room drops the packet.
expect_limits() { # LIMIT…
	local name room tight='' rate

	room=$(room_of "$@")
	while IFS=$'\t' read -r name rate; do
		[[ " $* " = *" $name "* ]] || continue
		rate=${rate#rate } rate=${rate%%/*}
		if [ -z "$tight" ] && [ "$rate" = "$room" ]; then
			tight=$name
			echo "$name $room $((frames - room))"
		else
			echo "$name $room 0"
		fi
	done <<<"$limits"
}

# charges NAME SOURCE 'LIMIT…' PART…: the frames are charged to that source and those limits only.
charges() {
	local limits_asked room windows

	read -ra limits_asked <<<"$3"
	room=$(room_of "${limits_asked[@]}")
	windows="${#limits_asked[@]} 0"
	[[ $2 != *:* ]] || windows="0 ${#limits_asked[@]}"
	send "${@:4}"
	is "$(charged "$2")
$added" "$(expect_limits "${limits_asked[@]}")
came out $room
under_limit $room packets, $((room * frame_bytes)) bytes
over_limit $((frames - room)) packets, $(((frames - room) * frame_bytes)) bytes
$(expect_limits "${limits_asked[@]}" | sed 's/^/limit /')
windows $windows" "frame '$1' is charged to: $3"
	next_row
}

# passes NAME REASON PART…: all frames pass, and no source is charged.
passes() {
	send "${@:3}"
	is "$added" "came out $frames
$2 $frames packets, $((frames * frame_bytes)) bytes
windows 0 0" "frame '$1' passes uncharged as $2"
	next_row
}

# drops NAME REASON PART…: all frames are dropped, and no source is charged.
drops() {
	send "${@:3}"
	is "$added" "came out 0
$2 $frames packets, $((frames * frame_bytes)) bytes
windows 0 0" "frame '$1' is dropped uncharged as $2"
	next_row
}

make_network 1
echo "limit add ${limits//$'\n'/$'\n'limit add }" >"$scratch/rules"
{ ringfence attach "${port[0]}" && ringfence apply "$scratch/rules"; } >"$scratch/log" 2>&1 ||
	bail "cannot make a fence: $(<"$scratch/log")"
next_row

# ---- plain ----

charges 'UDP to a port with a limit' $v4 'any udp dns' ip4=$v4 udp=53
charges 'UDP to another port' $v4 'any udp' ip4=$v4 udp=54
charges 'SYN' $v4 'any tcp syn' ip4=$v4 tcp=80,flags=2
charges 'SYN to a port with a limit' $v4 'any tcp syn web' ip4=$v4 tcp=443,flags=2
charges 'SYN+ACK' $v4 'any tcp' ip4=$v4 tcp=80,flags=0x12
charges 'ICMP echo' $v4 'any icmp' ip4=$v4 icmp=8
charges 'SCTP' $v4 'any other' ip4=$v4 proto=132 zeros=12
charges 'IPv6, UDP' $v6 'any udp dns' ip6=$v6 udp=53
charges 'IPv6, SYN' $v6 'any tcp syn web' ip6=$v6 tcp=443,flags=2
charges 'IPv6, ICMPv6 echo' $v6 'any icmp' ip6=$v6 icmp6=128

# ---- VLAN tags ----

charges '802.1Q' $v4 'any udp dns' q ip4=$v4 udp=53
charges '802.1Q, priority alone' $v4 'any tcp syn' q ip4=$v4 tcp=80,flags=2
charges '802.1ad' $v6 'any udp dns' ad ip6=$v6 udp=53
charges '802.1ad and 802.1Q' $v4 'any tcp syn web' ad q ip4=$v4 tcp=443,flags=2
charges '802.1Q twice' $v6 'any udp dns' q q ip6=$v6 udp=53
charges 'three tags' $v4 'any udp dns' q q q ip4=$v4 udp=53
charges 'three tags, the first 802.1ad' $v6 'any tcp syn web' ad q q ip6=$v6 tcp=443,flags=2
charges 'eight tags' $v4 'any tcp syn web' q q q q q q q q ip4=$v4 tcp=443,flags=2
drops 'nine tags' deep_vlan q q q q q q q q q ip4=$v4 udp=53
drops 'nine tags, the last 802.1ad' deep_vlan q q q q q q q q ad ip6=$v6 udp=53
passes '802.1Q, ARP' non_ip q type=0x0806 zeros=28
passes 'a tag of 0x9100' non_ip type=0x9100 zeros=46

# ---- IPv4 options and fragments ----

charges 'IPv4 options' $v4 'any udp dns' ip4=$v4,ihl=6 udp=53
charges 'IPv4 options, 40 bytes' $v4 'any tcp syn web' ip4=$v4,ihl=15 tcp=443,flags=2
charges 'first fragment' $v4 'any udp dns' ip4=$v4,frag=0x2000 udp=53 zeros=64
charges 'first fragment, SYN' $v4 'any tcp syn web' ip4=$v4,frag=0x2000 tcp=443,flags=2
charges 'later fragment' $v4 'any udp' ip4=$v4,frag=0x20b9 udp=53 zeros=64
charges 'last fragment' $v4 'any tcp' ip4=$v4,frag=0x00b9 tcp=443,flags=2
drops 'TCP fragment where the flags are' unclassified ip4=$v4,frag=0x2001 tcp=443,flags=2
drops 'IPv6, TCP fragment where the flags are' unclassified ip6=$v6 frag=9 tcp=443,flags=2
charges 'tiny first fragment, flags cut off' $v4 'any tcp syn web' \
	ip4=$v4,frag=0x2000 tcp=443,flags=0x10 trim=12
# Ethernet pads the first fragment to 60 bytes; the zeros are in place of the flags.
charges 'SYN in two fragments, the first of 8 bytes' $v4 'any tcp syn web' \
	ip4=$v4,frag=0x2000 tcp=443,flags=2 short=12 pad=60
charges 'SYN in two fragments, IPv6, padded' $v6 'any tcp syn web' \
	ip6=$v6 frag=1 tcp=443,flags=2 short=12 pad=128
charges 'SYN in a padded frame' $v4 'any tcp syn web' ip4=$v4 tcp=443,flags=2 pad=1514
charges 'UDP in a padded frame' $v6 'any udp dns' ip6=$v6 udp=53 pad=1514
charges 'AH hides what is behind it' $v4 'any ah' ip4=$v4 auth udp=53
charges 'ESP' $v4 'any esp' ip4=$v4 proto=50 zeros=32

# ---- IPv6 extension headers ----

charges 'hop-by-hop options' $v6 'any udp dns' ip6=$v6 hop udp=53
charges 'routing header' $v6 'any udp dns' ip6=$v6 route udp=53
charges 'destination options' $v6 'any tcp syn web' ip6=$v6 dest tcp=443,flags=2
charges 'IPv6, AH is stepped over' $v6 'any udp dns' ip6=$v6 auth udp=53
charges 'a chain of five' $v6 'any tcp syn web' ip6=$v6 hop dest route auth dest tcp=443,flags=2
charges 'a chain of eight' $v6 'any udp dns' \
	ip6=$v6 dest dest dest dest dest dest dest dest udp=53
drops 'a chain of nine' unclassified ip6=$v6 dest dest dest dest dest dest dest dest dest udp=53
charges 'IPv6 ESP' $v6 'any esp' ip6=$v6 proto=50 zeros=32
charges 'IPv6 atomic fragment' $v6 'any udp dns' ip6=$v6 frag=0 udp=53
charges 'IPv6 first fragment' $v6 'any tcp syn web' ip6=$v6 frag=1 tcp=443,flags=2 zeros=64
charges 'IPv6 later fragment' $v6 'any udp' ip6=$v6 frag=0x05a9 udp=53
charges 'IPv6 later fragment behind options' $v6 'any tcp' ip6=$v6 hop frag=0x05a8 tcp=443,flags=2
drops 'IPv6 later fragment of options' unclassified ip6=$v6 frag=0x05a9 dest udp=53

# ---- messages about others' packets ----

charges 'ICMP error' $v4 'any icmp' ip4=$v4 icmp=3 ip4=$inner4 udp=53
charges 'ICMP error about a SYN' $v4 'any icmp' ip4=$v4 icmp=11 ip4=$inner4 tcp=443,flags=2
charges 'ICMPv6 error' $v6 'any icmp' ip6=$v6 icmp6=1 ip6=$inner6 udp=53
charges 'packet too big' $v6 'any icmp' ip6=$v6 icmp6=2 ip6=$inner6 tcp=443,flags=2

# ---- tunnels ----

charges 'IP in IP' $v4 'any ipip' ip4=$v4 ip4=$inner4 udp=53
charges '6in4' $v4 'any sixin4' ip4=$v4 ip6=$inner6 tcp=443,flags=2
charges '4in6' $v6 'any ipip' ip6=$v6 ip4=$inner4 udp=53
charges '6in6' $v6 'any sixin4' ip6=$v6 ip6=$inner6 udp=53
charges '6in6, neighbour discovery inside' $v6 'any sixin4' ip6=$v6 ip6=$inner6,hops=255 icmp6=135
charges 'GRE' $v4 'any gre' ip4=$v4 gre ip4=$inner4 udp=53
charges 'GRE over IPv6' $v6 'any gre' ip6=$v6 gre ip6=$inner6 tcp=443,flags=2
charges 'VXLAN' $v4 'any udp' ip4=$v4 udp=4789 zeros=64

# ---- neighbour discovery ----

for type in 133 134 135 136 137; do
	passes "ICMPv6 $type, hop limit 255" neighbour ip6=$v6,hops=255 icmp6=$type
	charges "ICMPv6 $type, hop limit 64" $v6 'any icmp' ip6=$v6 icmp6=$type
done
charges 'ICMPv6 135, hop limit 254' $v6 'any icmp' ip6=$v6,hops=254 icmp6=135
charges 'ICMPv6 135 in a fragment' $v6 'any icmp' ip6=$v6,hops=255 frag=0 icmp6=135
passes 'ICMPv6 135, tagged' neighbour q ip6=$v6,hops=255 icmp6=135
passes 'ICMPv6 135 behind options' neighbour ip6=$v6,hops=255 hop icmp6=135
charges 'ICMPv6 echo, hop limit 255' $v6 'any icmp' ip6=$v6,hops=255 icmp6=128
charges 'multicast listener report' $v6 'any icmp' ip6=$v6,hops=1 hop icmp6=143
charges 'ICMPv6 over IPv4' $v4 'any icmp' ip4=$v4 icmp6=135

# ---- frames without IP ----

passes 'ARP' non_ip type=0x0806 zeros=28
passes 'LLDP' non_ip type=0x88cc zeros=46
passes 'LACP' non_ip type=0x8809 zeros=110
passes 'a length for an ethertype' non_ip type=46 zeros=46
passes 'MPLS' non_ip type=0x8847 zeros=64
passes 'PPPoE' non_ip type=0x8864 zeros=64

# ---- cut off ----

drops 'Ethernet header alone' malformed type=0x0800
drops 'IPv4 header cut' malformed ip4=$v4 trim=1
drops 'IPv4 header of 16 bytes, it says' malformed ip4=$v4,ihl=4 udp=53
drops 'IPv6 header cut' malformed ip6=$v6 trim=1
drops 'VLAN tag cut' malformed q trim=1
drops 'nothing behind the tag' malformed q type=0x0800
drops 'IPv4 header alone' unclassified ip4=$v4 udp=53 trim=8
drops 'options cut' unclassified ip4=$v4,ihl=15 udp=53 trim=28
drops 'UDP cut in the ports' unclassified ip4=$v4 udp=53 trim=5
charges 'UDP cut behind the ports' $v4 'any udp dns' ip4=$v4 udp=53 trim=4
drops 'TCP cut in the ports' unclassified ip4=$v4 tcp=443 trim=17
drops 'IPv6 header alone' unclassified ip6=$v6 udp=53 trim=8
drops 'extension header cut' unclassified ip6=$v6 hop trim=1
charges 'neighbour discovery cut' $v6 'any icmp' ip6=$v6,hops=255 icmp6=135 trim=1

# ---- frames without a source, if a limit matches them ----

# limits_other NAME PART…: three of five frames pass, from any sender.
limits_other() {
	ringfence limit del link >"$scratch/log" 2>&1
	ringfence limit add link rate 3/1h match other >"$scratch/log" || bail "$(<"$scratch/log")"
	forget_counts
	send "${@:2}"
	is "$(grep -v "^$reason_passed" <<<"$added")" "came out 3
over_limit 2 packets, $((2 * frame_bytes)) bytes
limit link 3 2
windows 0 0" "frame '$1' is charged to a limit with match other"
	next_row
}

reason_passed=non_ip
limits_other ARP type=0x0806 zeros=28
limits_other 'ARP, tagged' q q q type=0x0806 zeros=28
limits_other LLDP type=0x88cc zeros=46
reason_passed=neighbour
limits_other 'neighbour discovery' ip6=$v6,hops=255 icmp6=135
is "$(ringfence show "$v6" --json | jq '[.limits[] | select(.limit == "link")] | length')" 0 \
	'a limit with match other applies to no source'
is "$(ringfence status | unwrapped | grep -o 'limit link.*')" 'limit link: at most 3/1h in all, match other' \
	'status prints a limit with match other'
is "$(ringfence save | grep match.other)" 'limit add link rate 3/1h match other' 'save prints a limit with match other'
ringfence save >"$scratch/saved" && ringfence apply "$scratch/saved" >"$scratch/log" 2>&1
forget_counts
send ip6=$v6,hops=255 icmp6=135
is "$added" "came out 0
over_limit 5 packets, $((5 * frame_bytes)) bytes
limit link 0 5
windows 0 0" 'a limit with match other keeps its window over save and apply'
next_row
ringfence limit del link >"$scratch/log"
forget_counts
passes 'ARP, without a limit with match other' non_ip type=0x0806 zeros=28

# ---- the source is certain: lists come first ----

ringfence allow add 2001:db8:1::/48 >"$scratch/log" || bail "cannot allow: $(<"$scratch/log")"
passes 'a chain of nine from an allowed source' allowed \
	ip6=$v6 dest dest dest dest dest dest dest dest dest udp=53

done_testing
