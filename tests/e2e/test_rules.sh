#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Many limits on one fence: which of them a packet is charged to, by its protocol, port and source;
# groups of sources; that changes of one leave the others alone; bans. Real frames; every counter is
# compared with what was sent, to the packet.
#
#   outside                               inside
#   out0  ---------- wire 0 ----------->  ${port[0]}  attached by ringfence
#   out1  ---------- wire 1 ----------->  ${port[1]}  attached by ip
#
# What must stay over its limit has a window of an hour, so that no speed is asked for.

# shellcheck disable=SC2317 # functions are called by fails, does and the like
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

# "SOURCE PACKETS" of what came out.
came() {
	cut -d' ' -f1,2 <<<"$received"
}

# "NAME PASSED DROPPED" of each limit.
limits() {
	stats $wire '.limits | sort_by(.name)[] | "\(.name) \(.passed) \(.dropped)"'
}

# Of one source: "LIMIT USED" of each that is for it.
used() {
	fence show "$1" --json | jq -r '.limits | sort_by(.limit)[] | "\(.limit) \(.used)"'
}

make_network 2
ringfence attach "${port[0]}" >"$scratch/log" || bail "cannot make a fence"
inside ip link set dev "${port[1]}" xdpdrv obj build/ringfence.bpf.o sec xdp ||
	bail "ip cannot make a fence"

# ---- how many there may be ----

wrong=''
for i in {1..32}; do
	fence limit add "port$i" rate "$i/1h" match udp dport $((1000 + i)) exact || wrong+=" $i"
done
is "$wrong" '' '32 limits can be added, one by one'
before=$(fence limit list)
is "$(wc -l <<<"$before")" 32 'and are there'
fails 'the 33rd is refused' 1 "ringfence: limit 'more': a fence has 32 limits at most; 'limit del \
NAME' makes room" fence limit add more rate 1/1h dport 9
is "$(fence limit list)" "$before" 'which changes nothing'
flows=()
for i in {1..32}; do
	flows+=("src=192.0.2.1,count=40,dport=$((1000 + i))")
done
deliver 0 "${flows[@]}" src=192.0.2.1,count=40,dport=1000 src=192.0.2.1,count=40,dport=1033
is "$(limits)" "$(for i in {1..32}; do echo "port$i $i $((40 - i))"; done | sort)" \
	'each of 32 limits counts its own packets, to the packet'
is "$(stats 0 .reasons.no_limit.packets)" 80 'and others are not charged'
conserves 0 'sent = passed + dropped'

# ---- how many a packet may be charged to ----

rules <<-'END'
	limit add one rate 100/1h
	limit add two rate 100/1h match udp
	limit add three rate 100/1h dport 53
	limit add four rate 100/1h per /24
	limit add other rate 100/1h match tcp syn dport 22
END
before=$(fence save | sed 1d)
fails 'the fifth limit on one packet is refused, by names' 1 \
	"ringfence: limits 'one', 'two', 'three', 'four' and 'five': a packet may be charged to 4 limits \
at most, and some would be to all of these; delete one, or narrow it by 'match', 'dport' or 'from'" \
	fence limit add five rate 1/1h match udp dport 50-60
fails 'also where a limit is widened' 1 \
	"ringfence: limits 'one', 'two', 'three', 'four' and 'other': a packet may be charged to 4 limits \
at most, and some would be to all of these; delete one, or narrow it by 'match', 'dport' or 'from'" \
	fence limit set other rate 100/1h match udp
is "$(fence save | sed 1d)" "$before" 'which changes nothing'
does 'one that no packet has in common with them all is not' '' \
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
2001:db8:0:7::1 60' 'match: each protocol has its own limit, and SYNs have two'
is "$(limits)" 'gre 80 40
icmp 60 60
syn 10 110
tcp 40 150
udp 40 80' 'the counters of all of them'
is "$(used 192.0.2.1 | grep -E 'syn|tcp')" $'syn 5\ntcp 5' 'a SYN that one limit refused is not charged to the other'
deliver 0 src=192.0.2.1,count=60,proto=tcp src=192.0.2.1,count=15,proto=udp src=192.0.2.1,count=25,proto=icmp
is "$(came)" '192.0.2.1 45' 'a source over its limit of SYNs keeps its other packets'

rules <<-'END'
	limit add syn rate 50/1h match tcp syn
END
deliver 0 src=192.0.2.8,count=500,proto=syn src=192.0.2.8,count=500,proto=tcp \
	src=192.0.2.8,count=500,proto=udp src=192.0.2.8,count=500,proto=icmp
is "$(came)" '192.0.2.8 1550' 'also while its SYNs keep coming in between them'

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
	'10 40 40 40 20 20 30 20 20 20 40 40 30 30 30 40 5 40 20 10 ' 'dport: single ports, lists and ranges'
is "$(limits)" 'dns 20 60
games 120 40
ssh 5 35
web 120 120' 'the counters of all of them'
deliver 0 src=192.0.2.99,count=15,dport=53,frag=first src=192.0.2.99,count=40,dport=53,frag=later
is "$(came)" '192.0.2.99 50' 'a later fragment has no port, a first one has'
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
2001:db8:0:98::1 10' 'it has a protocol, and no flags'
deliver 0 src=192.0.2.95,count=40,vlan=5 src=192.0.2.94,count=40,vlan=5,vlan=6,proto=syn
is "$(came)" $'192.0.2.94 5\n192.0.2.95 10' 'tags hide neither'

# ---- from ----

rules <<-'END'
	limit add all rate 10/1h exact
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
2001:db8:5:7::1 30' 'from: of limits that differ in nothing else the longest prefix is for a packet'
is "$(limits)" $'all 20 100\nhost 60 60\nnet 60 120\nudp 0 0' 'and only that is charged'
deliver 0 src=198.51.100.7,count=60 src=198.51.1.1,count=60 src=198.51.100.9,count=60
is "$(came)" '198.51.1.1 10
198.51.100.9 20' 'one with another match is charged beside it'
is "$(used 198.51.100.9)" $'net 20\nudp 20' 'so it is, for each packet that both had room for'

for ((i = 0; i < 10000; i++)); do
	echo "10.$((i / 250)).$((i % 250)).0/24"
done >"$scratch/networks"
printf '# one a line\n\n  2001:db8:77::/48 # and IPv6\n' >>"$scratch/networks"
does 'from file: 10,000 prefixes' '' fence limit set host rate 40/1h from file "$scratch/networks" exact
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
2001:db8:78:1::1 10' 'the first, the last and some between, and none beside them'
is "$(fence limit list --json | jq -c '[.limits | sort_by(.name)[] | .from | length]')" '[0,10001,2,1]' \
	'limit list --json has them all'
before=$(fence save | sed 1d)
does 'they are taken back in, as they were saved' \
	'in force: 4 limits, 0 allowed and 0 denied prefixes, newcomers off' \
	fence apply - <<<"$before"
is "$(fence save | sed 1d)" "$before" 'to the letter'
deliver 0 src=10.21.77.5,count=20,proto=tcp
is "$(came)" '' 'and the windows are kept'

rules <<-'END'
	limit add only rate 10/1h from 192.0.2.0/25 exact
END
deliver 0 src=192.0.2.127,count=30 src=192.0.2.128,count=30
is "$(came)" $'192.0.2.127 10\n192.0.2.128 30' 'where no limit is for a source, it passes'

rules <<-'END'
	limit add all rate 10/1h exact
	limit add one rate 20/1h from 2001:db8:0:9::66,2001:db8:0:8::/65 exact
END
deliver 0 src=2001:db8:0:9::66,count=40 src=2001:db8:0:9::67,count=40 src=2001:db8:0:8::1,count=40 \
	src=2001:db8:0:8:8000::1,count=40
is "$(came)" '2001:db8:0:8:8000::1 10
2001:db8:0:8::1 20
2001:db8:0:9::66 20
2001:db8:0:9::67 10' 'prefixes within a /64'

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
2001:db8:2:1::1 20' 'per /24, /48 and /0: a network has a budget beside those of its sources'
is "$(used 192.0.2.3)" $'each 10\nnet 50\nworld 120' 'show has what its network has used'
is "$(used 203.0.113.2)" $'each 0\nnet 20\nworld 120' 'what one refuses is not charged to the others'
is "$(stats 0 '.limits[] | "\(.name) \(.passed)"')" $'each 190\nnet 190\nworld 190' \
	'what passes is charged to all three'

rules <<-'END'
	limit add host rate 15/1h per6 /128 exact
	limit add size rate 20k/1h bytes exact
END
deliver 0 src=2001:db8:0:1::1,count=40,len=200 src=2001:db8:0:1::2,count=40,len=200
is "$(came)" $'2001:db8:0:1::1 15\n2001:db8:0:1::2 15' 'per6 /128: each address of a /64 has its own'
deliver 0 src=192.0.2.21,count=40,len=100 src=192.0.2.22,count=40,len=1500
is "$(came)" $'192.0.2.21 15\n192.0.2.22 13' 'of packets and bytes, each has to have room'

# ---- shadows ----

rules <<-'END'
	limit add all rate 20/1h exact
	limit add try rate 5/1h from 192.0.2.0/24 exact shadow
END
deliver 0 src=192.0.2.1,count=60 src=198.51.100.1,count=60
is "$(came)" $'192.0.2.1 20\n198.51.100.1 20' 'a shadow with a longer prefix takes no source from a limit'
is "$(stats 0 '.limits[] | "\(.name) \(.passed) \(.dropped) \(.would_drop)"')" \
	$'all 40 80 0\ntry 5 0 15' 'and counts, of what passes, what it would drop'

# ---- changes ----

rules <<-'END'
	limit add udp rate 10/1h match udp exact
	limit add tcp rate 20/1h match tcp exact
	limit add net rate 100/1h per /24 exact
END
deliver 0 src=192.0.2.1,count=30,proto=udp src=192.0.2.1,count=30,proto=tcp
is "$(came)" '192.0.2.1 30' 'a source is at two limits'
fence limit set tcp rate 25/1h match tcp exact
deliver 0 src=192.0.2.1,count=30,proto=udp src=192.0.2.1,count=30,proto=tcp
is "$(came)" '192.0.2.1 5' 'limit set keeps its own windows, and those of others'
fence limit add icmp rate 3/1h match icmp exact
fence limit del tcp
deliver 0 src=192.0.2.1,count=30,proto=udp src=192.0.2.1,count=10,proto=tcp src=192.0.2.1,count=9,proto=icmp
is "$(came)" '192.0.2.1 13' 'so do add and del'
fence limit set udp rate 10/2h match udp exact
deliver 0 src=192.0.2.1,count=30,proto=udp src=192.0.2.1,count=9,proto=icmp
is "$(came)" '192.0.2.1 10' 'another time begins new windows, of that limit alone'
is "$(limits)" $'icmp 3 15\nnet 58 0\nudp 20 100' 'counters go on through all of that'
is "$(used 192.0.2.1 | grep net)" 'net 58' 'the window of the network has them all'

# ---- credits ----

rules <<-'END'
	limit add busy rate 100k/1h
	limit add busynet rate 100k/1h per /24
	limit add busyudp rate 100k/1h match udp
END
deliver 0 src=192.0.2.1,count=40000 src=192.0.2.2,count=40000,proto=tcp src=198.51.100.1,count=20000,proto=syn
is "$(came)" $'192.0.2.1 40000\n192.0.2.2 40000\n198.51.100.1 20000' \
	'with credits, too, nobody under his limits loses a packet'
is "$(limits)" $'busy 100000 0\nbusynet 100000 0\nbusyudp 40000 0' 'and all are counted, by each limit'

# ---- changes under traffic ----

has_ended() { # PID
	! kill -0 "$1" 2>/dev/null
}

# Changes that leave the limit 'stays' what it is to three sources that send meanwhile.
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
is "$wrong" '' 'rules are changed while three sources send'
echo "# $changes times"
is "$(stats 0 '.limits[] | select(.name == "stays") | "\(.passed) \(.dropped) \(.forfeited)"')" \
	'60000 0 0' 'the limit that stays has counted each of their packets, and passed it'
for source in 192.0.2.1 192.0.2.2 2001:db8:0:3::1; do
	is "$(fence show $source --json |
		jq -r '.limits[] | select(.limit == "stays") | "\(.passed) \(.dropped)"')" '20000 0' \
		"so has the window of $source"
done

# ---- bans ----

rules <<-'END'
	limit add flood rate 10/1s match udp ban 3s exact
END
begin=$SECONDS
deliver 0 src=192.0.2.1,count=30
is "$(came)" '192.0.2.1 10' 'ban: a source gets over its limit'
sleep 1.2
deliver 0 src=192.0.2.1,count=5 src=192.0.2.2,count=5
if [ $((SECONDS - begin)) -lt 3 ]; then
	is "$(came)" '192.0.2.2 5' 'and stays out when its window is empty again; others do not'
	is "$(stats 0 '.reasons.banned.packets >= 5')" true 'what it sent then is counted as banned'
	check 'show says for how long' test "$(fence show 192.0.2.1 --json | jq '.limits[0].banned_ms')" -gt 0
else
	pass 'and stays out # SKIP too slow a machine to tell'
fi
deliver 0 src=192.0.2.1,count=5,proto=tcp
is "$(came)" '192.0.2.1 5' 'what is not for that limit passes'
rules <<-'END'
	limit add flood rate 10/1s match udp ban 1h per /24 exact
	limit add all rate 100/1h exact
END
deliver 0 src=198.51.100.1,count=30
deliver 0 src=198.51.100.2,count=5 src=198.51.100.3,count=5,proto=tcp src=198.51.101.1,count=5
is "$(came)" $'198.51.100.3 5\n198.51.101.1 5' 'with per /24, a whole network is banned'
fence allow add 198.51.100.2
deliver 0 src=198.51.100.2,count=5 src=198.51.100.4,count=5
is "$(came)" '198.51.100.2 5' 'an allowed source of it passes'
fence limit set all rate 200/1h exact
deliver 0 src=198.51.100.1,count=5
is "$(came)" '' 'changes of other rules do not end the ban'
fence limit set flood rate 10/1s match udp per /24 exact
deliver 0 src=198.51.100.1,count=5
is "$(came)" '198.51.100.1 5' 'a limit that bans no more does'
rules <<<'limit add flood rate 10/1s match udp ban 3s exact'
begin=$SECONDS
deliver 0 src=192.0.2.1,count=30
sleep $((begin + 4 - SECONDS > 0 ? begin + 4 - SECONDS : 0))
deliver 0 src=192.0.2.1,count=8
is "$(came)" '192.0.2.1 8' 'then it passes again'
conserves 0 'of all that was ever sent: sent = passed + dropped'

# ---- a fence that ip attached ----

wire=1
rules <<-'END'
	limit add all rate 10/1h exact
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
203.0.113.7 40' 'attached by ip, it has limits and lists as well'
deliver 1 src=198.51.100.8,count=40
is "$(came)" '198.51.100.8 2' 'and networks'
is "$(limits)" 'all 7 0
dns 5 35
host 20 20
net 27 38' 'the counters of all of them'
conserves 1 'sent = passed + dropped'
is "$(stats 1 '.reasons | "\(.allowed.packets) \(.denied.packets)"')" '40 40' 'and the reasons'
check 'nothing is pinned' test ! -e "$pins/${port[1]}"

done_testing
