#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Many limits on one fence: which limits a packet is charged to, by its protocol, port and source;
# groups of sources; a change of one limit does not affect the others; bans. The frames are real,
# and every counter is compared to the packet with the frames sent.
#
#   outside                               inside
#   out0  ---------- wire 0 ----------->  ${port[0]}  attached by ringfence
#   out1  ---------- wire 1 ----------->  ${port[1]}  attached by ip
#
# Limits that must remain exceeded have a window of an hour, so no test depends on speed.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

wire=0

fence() {
	ringfence "$@" dev "${port[$wire]}"
}

# rules: replaces all rules by those on standard input.
rules() {
	fence apply - >"$scratch/log" 2>&1 || bail "cannot apply: $(<"$scratch/log")"
}

# "NAME PASSED DROPPED" of each limit.
limits() {
	stats $wire '.limits | sort_by(.name)[] | "\(.name) \(.passed) \(.dropped)"'
}

# For one source: "LIMIT USED" of each limit that applies to it.
used() {
	fence show "$1" --json | jq -r '.limits | sort_by(.limit)[] | "\(.limit) \(.used)"'
}

make_network 2
ringfence attach "${port[0]}" >"$scratch/log" || bail "cannot make a fence"
inside ip link set dev "${port[1]}" xdpdrv obj build/ringfence.bpf.o sec xdp ||
	bail "ip cannot make a fence"

# ---- the maximum number ----

wrong=''
for i in {1..32}; do
	fence limit add "port$i" rate "$i/1h" match udp dport $((1000 + i)) exact || wrong+=" $i"
done
is "$wrong" '' 'limit add works 32 times'
before=$(fence limit list)
is "$(wc -l <<<"$before")" 32 'limit list prints 32 limits'
fails 'limit add of a 33rd limit is refused' \
	1 "ringfence: limit 'more': a fence has 32 limits at most; 'limit del \
NAME' makes room" fence limit add more rate 1/1h dport 9
is "$(fence limit list)" "$before" 'limit add of a 33rd limit that is refused changes nothing'
flows=()
for i in {1..32}; do
	flows+=("src=192.0.2.1,count=40,dport=$((1000 + i))")
done
deliver 0 "${flows[@]}" src=192.0.2.1,count=40,dport=1000 src=192.0.2.1,count=40,dport=1033
is "$(limits)" "$(for i in {1..32}; do echo "port$i $i $((40 - i))"; done | sort)" \
	'each of 32 limits counts exactly its own packets'
is "$(stats 0 .reasons.no_limit.packets)" 80 'packets that match none of 32 limits count as no_limit'
conserves 0 'sent = passed + dropped with 32 limits'

# ---- the maximum number for one packet ----

rules <<-'END'
	limit add one rate 100/1h
	limit add two rate 100/1h match udp
	limit add three rate 100/1h dport 53
	limit add four rate 100/1h per /24
	limit add other rate 100/1h match tcp syn dport 22
END
before=$(fence save | sed 1d)
fails 'limit add of a fifth limit on one packet is refused, and names all five' 1 \
	"ringfence: limits 'one', 'two', 'three', 'four' and 'five': at most 4 limits can apply to a packet, but all of these apply to some packets; delete one, or \
make it match fewer packets" \
	fence limit add five rate 1/1h match udp dport 50-60
fails 'limit set that makes a fifth limit match one packet is refused' 1 \
	"ringfence: limits 'one', 'two', 'three', 'four' and 'other': at most 4 limits can apply to a packet, but all of these apply to some packets; delete one, or \
make it match fewer packets" \
	fence limit set other rate 100/1h match udp
is "$(fence save | sed 1d)" "$before" 'a fifth limit on one packet that is refused changes nothing'
does 'limit add of a fifth limit works if no packet matches all five' '' \
	fence limit add five rate 1/1h match icmp

# ---- match ----

rules <<-'END'
	limit add tcp rate 10/1h match tcp exact
	limit add syn rate 5/1h match tcp syn exact
	limit add udp rate 20/1h match udp exact
	limit add icmp rate 30/1h match icmp exact
	limit add gre rate 40/1h match proto 47 exact
END
deliver 0 src=192.0.2.1,count=60,proto=syn src=192.0.2.2,count=60,proto=synack \
	src=192.0.2.3,count=60,proto=tcp src=192.0.2.4,count=60,proto=udp \
	src=192.0.2.5,count=60,proto=icmp src=192.0.2.6,count=60,proto=47 \
	src=192.0.2.7,count=60,proto=132 src=2001:db8:0:1::1,count=60,proto=syn \
	src=2001:db8:0:2::1,count=60,proto=synack src=2001:db8:0:4::1,count=60,proto=udp \
	src=2001:db8:0:5::1,count=60,proto=icmp src=2001:db8:0:6::1,count=60,proto=47 \
	src=2001:db8:0:7::1,count=60,proto=132
is "$(came)" '192.0.2.1 5
192.0.2.2 10
192.0.2.3 10
192.0.2.4 20
192.0.2.5 30
192.0.2.6 40
192.0.2.7 60
2001:db8:0:1::1 5
2001:db8:0:2::1 10
2001:db8:0:4::1 20
2001:db8:0:5::1 30
2001:db8:0:6::1 40
2001:db8:0:7::1 60' 'match: each protocol is held to its limit, and SYNs to two'
is "$(limits)" 'gre 80 40
icmp 60 60
syn 10 110
tcp 40 150
udp 40 80' 'match: each limit counts its packets'
is "$(used 192.0.2.1 | grep -E 'syn|tcp')" $'syn 5\ntcp 5' \
	'match: a SYN that one limit refuses is not charged to the other'
deliver 0 src=192.0.2.1,count=60,proto=tcp src=192.0.2.1,count=15,proto=udp src=192.0.2.1,count=25,proto=icmp
is "$(came)" '192.0.2.1 45' 'match: a source over its limit of SYNs passes its other packets'

rules <<-'END'
	limit add syn rate 50/1h match tcp syn
END
deliver 0 src=192.0.2.8,count=500,proto=syn src=192.0.2.8,count=500,proto=tcp \
	src=192.0.2.8,count=500,proto=udp src=192.0.2.8,count=500,proto=icmp
is "$(came)" '192.0.2.8 1550' 'match: a source over its limit of SYNs passes other packets between its SYNs'

# ---- ports ----

rules <<-'END'
	limit add dns rate 10/1h match udp dport 53 exact
	limit add web rate 20/1h match tcp dport 80,443,8000-8010 exact
	limit add games rate 30/1h dport 7000-7999,27015 exact
	limit add ssh rate 5/1h match tcp syn dport 22 exact
END
flows=()
i=0
for place in udp:53 udp:54 tcp:53 tcp:79 tcp:80 tcp:443 tcp:7999 tcp:8000 tcp:8005 tcp:8010 tcp:8011 \
	udp:80 udp:7000 syn:7000 udp:27015 udp:6999 syn:22 tcp:22 syn:80; do
	i=$((i + 1))
	flows+=("src=192.0.2.$((100 + i)),count=40,proto=${place%:*},dport=${place#*:}")
done
deliver 0 "${flows[@]}" src=2001:db8:0:53::1,count=40,dport=53
is "$(came | cut -d' ' -f2 | tr '\n' ' ')" \
	'10 40 40 40 20 20 30 20 20 20 40 40 30 30 30 40 5 40 20 10 ' \
		'dport: single ports, lists and ranges are matched'
is "$(limits)" 'dns 20 60
games 120 40
ssh 5 35
web 120 120' 'dport: each limit counts its packets'
deliver 0 src=192.0.2.99,count=15,dport=53,frag=first src=192.0.2.99,count=40,dport=53,frag=later
is "$(came)" '192.0.2.99 50' 'dport: a first fragment has a port, a later one has none'

# ---- what floods are made of ----

rules <<-'END'
	limit add reflected rate 10/1h match udp sport 53,123,11211 exact
	limit add large rate 20/1h match udp sport 5000 length 500-1514 exact
	limit add server rate 30/1h match icmp to 192.0.2.254,2001:db8::/32 exact
	limit add synack rate 5/1h flags SYN,ACK/SYN,ACK exact
END
deliver 0 src=192.0.2.1,count=40,sport=53 src=192.0.2.2,count=40,sport=54 \
	src=192.0.2.3,count=40,sport=11211 src=192.0.2.4,count=40,sport=5000,len=600 \
	src=192.0.2.5,count=40,sport=5000,len=400 src=192.0.2.6,count=40,proto=icmp,dst=192.0.2.254 \
	src=192.0.2.7,count=40,proto=icmp,dst=192.0.2.253 src=192.0.2.8,count=40,proto=synack \
	src=192.0.2.9,count=40,proto=syn src=192.0.2.10,count=40,sport=53,frag=later
is "$(came | sort -t. -k4n | cut -d' ' -f2 | tr '\n' ' ')" '10 40 10 20 40 30 40 5 40 40 ' \
	'sport, length, to and flags: the packets that match are limited, the others pass'
is "$(limits)" 'large 20 20
reflected 20 60
server 30 10
synack 5 35' 'sport, length, to and flags: each limit counts its packets'
is "$(fence save | grep ^limit | sort)" 'limit add large rate 20/1h match udp sport 5000 length 500-1514 exact
limit add reflected rate 10/1h match udp sport 53,123,11211 exact
limit add server rate 30/1h match icmp to 192.0.2.254,2001:db8::/32 exact
limit add synack rate 5/1h flags SYN,ACK/SYN,ACK exact' 'save prints sport, length, to and flags'
for i in {1..9}; do echo "limit add to$i rate 1/1s match proto $i to 192.0.2.$i"; done >"$scratch/many"
fails 'a ninth destination is refused' 1 "ringfence: limit 'to9': all limits together may name 8 IPv4 prefixes by 'to'; \
name fewer, or a prefix that contains several" ringfence check "$scratch/many"
rules <<-'END'
	limit add alludp rate 10/1h match udp exact
	limit add alltcp rate 20/1h match tcp exact
	limit add allsyn rate 5/1h match tcp syn exact
END
deliver 0 src=192.0.2.98,count=40,frag=later src=192.0.2.97,count=40,proto=syn,frag=later \
	src=192.0.2.96,count=40,proto=syn,frag=first src=2001:db8:0:98::1,count=40,frag=later \
	src=2001:db8:0:97::1,count=40,proto=syn,frag=later
is "$(came)" '192.0.2.96 5
192.0.2.97 20
192.0.2.98 10
2001:db8:0:97::1 20
2001:db8:0:98::1 10' 'match: a later fragment has a protocol, and no flags'
deliver 0 src=192.0.2.95,count=40,vlan=5 src=192.0.2.94,count=40,vlan=5,vlan=6,proto=syn
is "$(came)" $'192.0.2.94 5\n192.0.2.95 10' 'match: VLAN tags hide neither protocol nor flags'

# ---- from ----

rules <<-'END'
	limit add any rate 10/1h exact
	limit add net rate 20/1h from 198.51.100.0/24,2001:db8:5::/48 exact
	limit add host rate 30/1h from 198.51.100.7,2001:db8:5:7::/64 exact
	limit add udp rate 25/1h match udp from 198.51.0.0/16 exact
END
deliver 0 src=192.0.2.1,count=60,proto=tcp src=198.51.100.1,count=60,proto=tcp \
	src=198.51.100.7,count=60,proto=tcp src=198.51.100.8,count=60,proto=tcp \
	src=2001:db8:4:1::1,count=60,proto=tcp src=2001:db8:5:1::1,count=60,proto=tcp \
	src=2001:db8:5:7::1,count=60,proto=tcp
is "$(came)" '192.0.2.1 10
198.51.100.1 20
198.51.100.7 30
198.51.100.8 20
2001:db8:4:1::1 10
2001:db8:5:1::1 20
2001:db8:5:7::1 30' 'from: of limits that differ in nothing else the longest prefix applies'
is "$(limits)" $'any 20 100\nhost 60 60\nnet 60 120\nudp 0 0' \
	'from: only the limit with the longest prefix is charged'
deliver 0 src=198.51.100.7,count=60 src=198.51.1.1,count=60 src=198.51.100.9,count=60
is "$(came)" '198.51.1.1 10
198.51.100.9 20' 'from: a limit with another match applies beside the longest prefix'
is "$(used 198.51.100.9)" $'net 20\nudp 20' \
	'from: two limits are charged for each packet that both have room for'

for ((i = 0; i < 10000; i++)); do
	echo "10.$((i / 250)).$((i % 250)).0/24"
done >"$scratch/networks"
printf '# one a line\n\n  2001:db8:77::/48 # and IPv6\n' >>"$scratch/networks"
does 'from file: limit set reads 10,000 prefixes' "limit 'host': rate 30/1h → 40/1h; from \
198.51.100.7,2001:db8:5:7::/64 → 10001 prefixes" fence limit set host rate 40/1h from file "$scratch/networks" exact
deliver 0 src=10.0.0.1,count=60,proto=tcp src=10.0.249.255,count=60,proto=tcp \
	src=10.0.250.1,count=60,proto=tcp src=10.21.77.5,count=60,proto=tcp \
	src=10.39.249.1,count=60,proto=tcp src=10.40.0.1,count=60,proto=tcp \
	src=2001:db8:77:1::1,count=60,proto=tcp src=2001:db8:78:1::1,count=60,proto=tcp
is "$(came)" '10.0.0.1 40
10.0.249.255 40
10.0.250.1 10
10.21.77.5 40
10.39.249.1 40
10.40.0.1 10
2001:db8:77:1::1 40
2001:db8:78:1::1 10' 'from file: the first, the last and other prefixes match, and no other source'
is "$(fence limit list --json | jq -c '[.limits | sort_by(.name)[] | .from | length]')" '[0,10001,2,1]' \
	'from file: limit list --json has all prefixes'
before=$(fence save | sed 1d)
does 'from file: apply accepts the saved prefixes' \
	'applied: 4 limits, 0 allowed and 0 denied prefixes, newcomers off' \
	fence apply - <<<"$before"
is "$(fence save | sed 1d)" "$before" 'from file: prefixes that were saved and applied are saved unchanged'
deliver 0 src=10.21.77.5,count=20,proto=tcp
is "$(came)" '' 'from file: windows are kept when saved prefixes are applied'

rules <<-'END'
	limit add only rate 10/1h from 192.0.2.0/25 exact
END
deliver 0 src=192.0.2.127,count=30 src=192.0.2.128,count=30
is "$(came)" $'192.0.2.127 10\n192.0.2.128 30' 'from: a source that no limit applies to passes'

rules <<-'END'
	limit add any rate 10/1h exact
	limit add one rate 20/1h from 2001:db8:0:9::66,2001:db8:0:8::/65 exact
END
deliver 0 src=2001:db8:0:9::66,count=40 src=2001:db8:0:9::67,count=40 src=2001:db8:0:8::1,count=40 \
	src=2001:db8:0:8:8000::1,count=40
is "$(came)" '2001:db8:0:8:8000::1 10
2001:db8:0:8::1 20
2001:db8:0:9::66 20
2001:db8:0:9::67 10' 'from: prefixes within a /64 are told apart'

# ---- per ----

rules <<-'END'
	limit add each rate 20/1h exact
	limit add net rate 50/1h per /24 per6 /48 exact
	limit add world rate 120/1h per /0 per6 /0 exact
END
all=''
for source in 192.0.2.{1..4} 198.51.100.{1..3} 203.0.113.{1..3} 2001:db8:1:{1..4}::1 2001:db8:2:1::1; do
	deliver 0 "src=$source,count=30"
	all+="$(came)"$'\n'
done
is "$(grep . <<<"$all")" '192.0.2.1 20
192.0.2.2 20
192.0.2.3 10
198.51.100.1 20
198.51.100.2 20
198.51.100.3 10
203.0.113.1 20
2001:db8:1:1::1 20
2001:db8:1:2::1 20
2001:db8:1:3::1 10
2001:db8:2:1::1 20' 'per: a network has a limit beside those of its sources'
is "$(used 192.0.2.3)" $'each 10\nnet 50\nworld 120' 'per: show of a source prints what its network used'
is "$(used 203.0.113.2)" $'each 0\nnet 20\nworld 120' \
	'per: a packet that one limit refuses is not charged to the others'
is "$(stats 0 '.limits[] | "\(.name) \(.passed)"')" $'each 190\nnet 190\nworld 190' \
	'per: a packet that passes is charged to all three limits'

rules <<-'END'
	limit add host rate 15/1h per6 /128 exact
	limit add size rate 20k/1h bytes algorithm sliding exact
END
deliver 0 src=2001:db8:0:1::1,count=40,len=200 src=2001:db8:0:1::2,count=40,len=200
is "$(came)" $'2001:db8:0:1::1 15\n2001:db8:0:1::2 15' 'per6 /128: each address of a /64 has its own window'
deliver 0 src=192.0.2.21,count=40,len=100 src=192.0.2.22,count=40,len=1500
is "$(came)" $'192.0.2.21 15\n192.0.2.22 13' \
	'a packet passes only with room in a limit of packets and a limit of bytes'

# ---- shadows ----

rules <<-'END'
	limit add any rate 20/1h exact
	limit add try rate 5/1h from 192.0.2.0/24 exact shadow
END
deliver 0 src=192.0.2.1,count=60 src=198.51.100.1,count=60
is "$(came)" $'192.0.2.1 20\n198.51.100.1 20' 'shadow: a longer prefix takes no source from a limit in force'
is "$(stats 0 '.limits[] | "\(.name) \(.passed) \(.dropped) \(.would_drop)"')" \
	$'any 40 80 0\ntry 5 0 15' 'shadow: of packets that pass it counts those that it would drop'

# ---- changes ----

rules <<-'END'
	limit add udp rate 10/1h match udp exact
	limit add tcp rate 20/1h match tcp exact
	limit add net rate 100/1h per /24 exact
END
deliver 0 src=192.0.2.1,count=30,proto=udp src=192.0.2.1,count=30,proto=tcp
is "$(came)" '192.0.2.1 30' 'changes: a source passes up to each of two limits'
fence limit set tcp rate 25/1h match tcp exact
deliver 0 src=192.0.2.1,count=30,proto=udp src=192.0.2.1,count=30,proto=tcp
is "$(came)" '192.0.2.1 5' 'changes: limit set of another COUNT keeps all windows'
fence limit add icmp rate 3/1h match icmp exact
fence limit del tcp
deliver 0 src=192.0.2.1,count=30,proto=udp src=192.0.2.1,count=10,proto=tcp src=192.0.2.1,count=9,proto=icmp
is "$(came)" '192.0.2.1 13' 'changes: limit add and limit del keep the windows of other limits'
fence limit set udp rate 10/2h match udp exact
deliver 0 src=192.0.2.1,count=30,proto=udp src=192.0.2.1,count=9,proto=icmp
is "$(came)" '192.0.2.1 10' 'changes: limit set of another TIME gives new windows to that limit alone'
is "$(limits)" $'icmp 3 15\nnet 58 0\nudp 20 100' \
	'changes: counters of limits go on over limit set, add and del'
is "$(used 192.0.2.1 | grep net)" 'net 58' \
	'changes: the window of a network is kept over limit set, add and del'

# ---- credits ----

rules <<-'END'
	limit add busy rate 100k/1h
	limit add busynet rate 100k/1h per /24
	limit add busyudp rate 100k/1h match udp
END
deliver 0 src=192.0.2.1,count=40000 src=192.0.2.2,count=40000,proto=tcp src=198.51.100.1,count=20000,proto=syn
is "$(came)" $'192.0.2.1 40000\n192.0.2.2 40000\n198.51.100.1 20000' \
	'credits: a source under three limits loses no packet'
is "$(limits)" $'busy 100000 0\nbusynet 100000 0\nbusyudp 40000 0' \
	'credits: each of three limits counts every packet'

# ---- changes under traffic ----

has_ended() { # PID
	! kill -0 "$1" 2>/dev/null
}

# Makes changes that do not alter the limit 'stays', while three sources under it send.
change() { # ROUND
	case $(($1 % 8)) in
	0) fence limit add comes rate 1M/1s match tcp per /24 ;;
	1) fence limit set stays rate 900k/1h ;;
	2) fence deny add 203.0.113.0/24 ;;
	3) fence limit set comes rate 1M/1s match udp dport 9 from 192.0.2.2 ;;
	4) fence limit set stays rate 1M/1h ;;
	5) fence allow add 203.0.113.7 for 1s ;;
	6) fence limit del comes ;;
	7) fence deny del 203.0.113.0/24 ;;
	esac
}

rules <<<'limit add stays rate 1M/1h'
before=$(stats 0 '.packets.passed + .packets.dropped')
start outside build/tests/traffic send dev out0 to 02:00:00:00:00:02 \
	flow src=192.0.2.1,count=20000,rate=5000,proto=tcp flow src=192.0.2.2,count=20000,rate=5000 \
	flow src=2001:db8:0:3::1,count=20000,rate=5000,proto=icmp >"$scratch/sent"
sender=$started_pid
wrong='' changes=0
until has_ended "$sender"; do
	change $changes || wrong+=" $changes"
	changes=$((changes + 1))
done
wait "$sender"
unset "started[$sender]"
eventually has_counted 0 $((before + 60000))
read -r packets bytes <<<"$(sum "$(sed 's/^sent //' "$scratch/sent")")"
sent_packets=$((sent_packets + packets)) sent_bytes=$((sent_bytes + bytes))
received_packets=$((received_packets + packets)) received_bytes=$((received_bytes + bytes))
is "$wrong" '' 'changes under traffic: every command succeeds'
echo "# $changes times"
is "$(stats 0 '.limits[] | select(.name == "stays") | "\(.passed) \(.dropped) \(.forfeited)"')" \
	'60000 0 0' 'changes under traffic: a limit that stays counts and passes every packet'
for source in 192.0.2.1 192.0.2.2 2001:db8:0:3::1; do
	is "$(fence show $source --json |
		jq -r '.limits[] | select(.limit == "stays") | "\(.passed) \(.dropped)"')" '20000 0' \
		"changes under traffic: the window of $source counts every packet"
done

# ---- bans ----

rules <<-'END'
	limit add flood rate 10/1h match udp ban 1h exact
END
deliver 0 src=192.0.2.1,count=30
is "$(came)" '192.0.2.1 10' 'ban: a source over its limit passes up to the limit'
fence limit set flood rate 10/1s match udp ban 1h exact
deliver 0 src=192.0.2.3,count=3000 # over the limit, however slowly they come
sleep 1.2
deliver 0 src=192.0.2.3,count=5 src=192.0.2.2,count=5
is "$(came)" '192.0.2.2 5' \
	'ban: a banned source passes no packet when its window is empty again, and others pass'
is "$(stats 0 '.reasons.banned.packets >= 5')" true \
	'ban: packets of a banned source are counted as banned'
check 'ban: show --json has the time that a ban has left' \
	test "$(fence show 192.0.2.3 --json | jq '.limits[0].banned_ms')" -gt 0
deliver 0 src=192.0.2.1,count=5,proto=tcp
is "$(came)" '192.0.2.1 5' 'ban: packets that the limit does not match pass'
rules <<-'END'
	limit add flood rate 10/1s match udp ban 1h per /24 exact
	limit add any rate 100/1h exact
END
deliver 0 src=198.51.100.1,count=30
deliver 0 src=198.51.100.2,count=5 src=198.51.100.3,count=5,proto=tcp src=198.51.101.1,count=5
is "$(came)" $'198.51.100.3 5\n198.51.101.1 5' 'ban: with per /24 a whole network is banned'
fence allow add 198.51.100.2
deliver 0 src=198.51.100.2,count=5 src=198.51.100.4,count=5
is "$(came)" '198.51.100.2 5' 'ban: an allowed source of a banned network passes'
fence limit set any rate 200/1h exact
deliver 0 src=198.51.100.1,count=5
is "$(came)" '' 'ban: changes of other rules do not end a ban'
fence limit set flood rate 10/1s match udp per /24 exact
deliver 0 src=198.51.100.1,count=5
is "$(came)" '198.51.100.1 5' 'ban: a limit that bans no more ends its bans'
rules <<<'limit add flood rate 10/1s match udp ban 3s exact'
deliver 0 src=192.0.2.1,count=3000
sleep 4
deliver 0 src=192.0.2.1,count=8
is "$(came)" '192.0.2.1 8' 'ban: a source passes again when its ban is over'
conserves 0 'sent = passed + dropped over all rules of an attached fence'

# ---- a fence that ip attached ----

wire=1
rules <<-'END'
	limit add any rate 10/1h exact
	limit add host rate 20/1h from 198.51.100.7 exact
	limit add dns rate 5/1h match udp dport 53 exact
	limit add net rate 22/1h per /24 exact
	deny add 203.0.113.0/24
	allow add 203.0.113.7
END
forget_traffic
deliver 1 src=192.0.2.1,count=40,dport=53 src=198.51.100.7,count=40 src=203.0.113.1,count=40 \
	src=203.0.113.7,count=40
is "$(came)" '192.0.2.1 5
198.51.100.7 20
203.0.113.7 40' 'a fence that ip attached enforces limits and lists'
deliver 1 src=198.51.100.8,count=40
is "$(came)" '198.51.100.8 2' 'a fence that ip attached enforces a limit of a network'
is "$(limits)" 'any 7 0
dns 5 35
host 20 20
net 27 38' 'a fence that ip attached counts by limit'
conserves 1 'sent = passed + dropped on a fence that ip attached'
is "$(stats 1 '.reasons | "\(.allowed.packets) \(.denied.packets)"')" '40 40' \
	'a fence that ip attached counts by reason'
check 'changes of rules of a fence that ip attached pin nothing' test ! -e "$pins/${port[1]}"

done_testing
