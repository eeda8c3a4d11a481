#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The output of the command line: exit status and exact line for every refusal, and that a refusal
# changes nothing; help; the shape of JSON; `stats watch`; runs without privilege and without BTF.
#
#   outside                               inside
#   out0  ---------- wire 0 ----------->  ${port[0]}
#   out1  ---------- wire 1 ----------->  ${port[1]}

# shellcheck disable=SC2317 # functions are called by fails, does and the like
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

none=${run}none # no interface is called so

# usage MESSAGE WORD…: a usage error, whether or not anything is attached.
usage() {
	fails "wrong usage: ringfence ${*:2}" 2 "ringfence: $1" ringfence "${@:2}"
}

# refused MESSAGE WORD…: correct usage that fails in the situation that $with names.
refused() {
	fails "refused $with: ringfence ${*:2}" 1 "ringfence: $1" ringfence "${@:2}"
}

program_on_each() {
	inside ip -j link | jq -c '[.[] | .xdp.prog.id]'
}

make_network 2
use "$quick"

# ---- nothing attached ----

with='without a fence'

no_fence="no fence attached; run 'ringfence attach ${port[0]}' or 'ip link set dev ${port[0]} xdp obj …'"
no_fence_at_all="no fence attached to any interface; run 'ringfence attach IF' or \
'ip link set dev IF xdp obj …'"
no_interface="no such interface; 'ip link' lists the interfaces"
no_name="no such interface or fence; 'ip link' lists the interfaces, 'ringfence status' the fences"
for words in status stats 'stats watch' top 'show 192.0.2.1' 'limit list' 'limit add any rate 1/1s' \
	'limit set any rate 1/1s' 'limit del any'; do
	# shellcheck disable=SC2086
	{
		refused "$no_fence_at_all" $words
		refused "${port[0]}: $no_fence" $words dev "${port[0]}"
		refused "$none: $no_name" $words dev "$none"
	}
done
refused "$none: $no_interface" attach "$none"
refused "$none: $no_name" detach "$none"
refused "${port[0]}: $no_fence" detach "${port[0]}"
refused "lo: cannot attach in native mode: Operation not supported \
(Underlying driver does not support XDP in native mode); 'ringfence doctor lo' says \
why; 'ringfence attach lo mode generic' may work" attach lo fence "$run-lo"
check 'attach to an interface without native mode leaves no pins' test ! -e "$pins/$run-lo"
does 'attach mode generic works on an interface without native mode' \
	"lo: attached in generic mode, fence '$run-lo'
generic mode counts what the kernel has merged (GRO) as one packet" \
	ringfence attach lo fence "$run-lo" mode generic
ringfence detach lo >"$scratch/log"

# ---- somebody else's program ----

clang -target bpf -O2 -x c -c -o "$scratch/foreign.o" - <<-'END' || bail 'cannot compile a program'
	__attribute__((section("xdp"), used)) int foreign(void *context) { return 2; }
	__attribute__((section("license"), used)) char gpl[] = "GPL";
END
with='beside a foreign program'
inside ip link set dev "${port[0]}" xdpdrv obj "$scratch/foreign.o" sec xdp
id=$(program_on 0)
before=$(program_on_each)
foreign="no fence attached, but the XDP program 'foreign' (id $id), which is not ringfence; \
'bpftool prog show id $id' tells more"
ways_out="'ringfence attach ${port[0]} replace' takes it off, 'ringfence attach ${port[0]} chain' runs \
beside it once 'xdp-loader' has loaded it"
refused "${port[0]}: a foreign XDP program is in place: 'foreign' (id $id), attached by netlink, as \
'ip' does; $ways_out" attach "${port[0]}"
refused "${port[0]}: a foreign XDP program is in place: 'foreign' (id $id), attached by netlink, as \
'ip' does; $ways_out" attach "${port[1]}" "${port[0]}"
refused "${port[0]}: cannot attach in a chain: 'foreign' (id $id) is in place without libxdp's \
dispatcher; load it by 'xdp-loader' instead, or 'ringfence attach ${port[0]} replace' takes it off" \
	attach "${port[0]}" chain
refused "${port[0]}: $foreign" detach "${port[0]}"
refused "${port[0]}: $foreign" status dev "${port[0]}"
refused "${port[0]}: $foreign" limit add any rate 1/1s dev "${port[0]}"
refused "$no_fence_at_all" status
is "$(program_on_each)" "$before" "refused commands leave a foreign program in place"
check 'refused commands on a foreign program pin nothing' \
	test ! -e "$pins/${port[0]}" -a ! -e "$pins/${port[1]}"
use "$shipped"
does 'attach replace takes off a foreign program' "${port[0]}: attached in native mode, fence '${port[0]}'
${port[0]}: replaced 'foreign' (id $id)" ringfence attach "${port[0]}" replace

# ---- a fence, used ----

ringfence limit add any rate 100/1h
deliver 0 src=192.0.2.1,count=300 src=2001:db8::1,count=10
state() {
	ringfence status | unwrapped | sed 's/ of [a-z]* build,/,/; /program of another build/d'
	ringfence limit list
	ringfence stats --json
	ringfence top
	program_on_each
}
before=$(state)

# ---- wrong usage ----

usage "a command is missing; run 'ringfence help'"
usage "'frob': unknown command; run 'ringfence help'" frob
usage "'statu': unknown command; did you mean 'status'? 'ringfence help' lists the commands" statu
usage "'lmit': unknown command; did you mean 'limit'? 'ringfence help' lists the commands" lmit add
usage "'limit lst': unknown command; did you mean 'limit list'? 'limit' expects add, set, change, arm, shadow, \
del, list or try" limit lst
usage "'limit': expects add, set, change, arm, shadow, del, list or try" limit
usage "'limit foo': unknown command; 'limit' expects add, set, change, arm, shadow, del, list or try" limit foo
for list in allow deny; do
	usage "'$list': expects add, del, list, load or flush" $list
	usage "'$list foo': unknown command; '$list' expects add, del, list, load or flush" $list foo
done
usage "'fleet': expects join, leave, run, check, status, show, top, gone, hosts or bans" fleet
usage "'history': expects list, export, check or schema" history
# Words of nft, ufw, iptables and ipset.
usage "'rule': unknown command; did you mean 'limit'? 'ringfence help' lists the commands" rule add
usage "'reload': unknown command; did you mean 'apply'? 'ringfence help' lists the commands" reload
usage "'flush': unknown command; did you mean 'allow flush' or 'deny flush'? 'ringfence help' lists the commands" flush
usage "'arm': unknown command; did you mean 'limit arm'? 'ringfence help' lists the commands" arm dns
usage "'list': unknown command; did you mean 'limit list', 'allow list', 'deny list' or 'history list'? 'ringfence help' \
lists the commands" list
usage "'enable': unknown command; did you mean 'attach'? 'ringfence help' lists the commands" enable
usage "'disable': unknown command; did you mean 'detach'? 'ringfence help' lists the commands" disable
usage "'limit flush': unknown command; did you mean 'limit del'? 'limit' expects add, set, change, arm, shadow, \
del, list or try" limit flush
usage "'deny reload': unknown command; did you mean 'deny load'? 'deny' expects add, del, list, load or flush" deny reload
usage "'timeout': unknown word; did you mean 'for'?" deny add 192.0.2.1 timeout 10m
usage "'timeout': unknown word; did you mean 'ban'?" limit add ssh rate 5/1m timeout 10m
usage 'the interface is missing; write adopt IF' adopt
usage "'dev lo': doctor takes one interface, or none" doctor lo dev lo
usage "'--frob': unknown option; run 'ringfence help'" status --frob
usage "'dev': expects an interface or a fence" status dev
usage "'now': unexpected word; for a fence or an interface, write dev now" status now
usage "'frob': unknown command; run 'ringfence help'" help frob
usage "'now': unexpected word; see 'ringfence help help'" help status now

usage "the limit's name is missing; write NAME rate COUNT/TIME" limit add
usage "'any': the rate is missing; write any rate COUNT/TIME" limit add any
usage "'20k/1s': 'rate' is missing before it; write rate 20k/1s" limit add any 20k/1s
usage "'match': the rate comes before it; write m rate 5/s match …" limit add m match udp rate 5/s
usage "'dev': invalid name of a limit: it is a keyword; choose another name" limit add dev rate 5/s
usage "'any': the rate is missing; write any rate COUNT/TIME, or 'limit change any shadow …' to keep the \
rest" limit set any shadow
usage "'20k/1s': 'rate' is missing before it; write rate 20k/1s" limit change any 20k/1s
usage "'limit rm': unknown command; did you mean 'limit del'? 'limit' expects add, set, change, arm, shadow, \
del, list or try" limit rm all
usage "'block': unknown command; did you mean 'deny'? 'ringfence help' lists the commands" block 192.0.2.1
usage "'10m': 'for' is missing before it; write for 10m" deny add 192.0.2.1 10m
usage "'forse': unknown word; did you mean 'force'?" deny add 192.0.2.1 forse
usage "'skip-refuse': unknown word; did you mean 'skip-refused'?" batch - skip-refuse
usage "'60s': 'confirm' is missing before it; write confirm 60s" apply rules 60s
usage "'used': 'by' is missing before it; write by used" top used
usage "'${port[0]}': unexpected word; for a fence or an interface, write dev ${port[0]}" stats "${port[0]}"
usage "'rate': expects a rate, like 20k/1s" limit set any rate
rate_form='invalid rate; write COUNT/TIME, like 20k/1s or 100/10s, or 10mbit'
count_form='write it like 100, 20k, 1.5M or 10mbit, in whole packets or bytes'
usage "'20k': $rate_form" limit add any rate 20k
usage "'10tbit': $rate_form" limit add any rate 10tbit
for count in 20T -1 1.2345k 0.001kbit 10tbit; do
	usage "'$count/1s': invalid rate: '$count' is not a count; $count_form" \
		limit add any rate "$count/1s"
done
usage "'100/1': invalid rate: '1' is not a time; write it like 500ms, 10s, 5m or 1h" \
	limit add any rate 100/1
usage "'100/1d': invalid rate: '1d' is not a time; write it like 500ms, 10s, 5m or 1h" \
	limit add any rate 100/1d
usage "'0/1s': invalid rate: the count must be 1-2147483648" newcomers rate 0/1s 'then' open
usage "'ban': rate 0 drops all packets and bans nobody; leave out 'ban', or write a rate like 1/1h" \
	limit add any rate 0 ban 1m
usage "'3000M/1s': invalid rate: the count must be 1-2147483648" \
	limit add any rate 3000M/1s
usage "'1/0s': invalid rate: the time must be 1ms-8784h" limit add any rate 1/0s
usage "'1/8785h': invalid rate: the time must be 1ms-8784h" limit add any rate 1/8785h
name="invalid name of a limit: a letter, then letters, digits, '_' and '-', 31 at most"
usage "'1st': $name" limit add 1st rate 1/1s
usage "'a.b': $name" limit add a.b rate 1/1s
usage "'': $name" limit add '' rate 1/1s
usage "'a2345678901234567890123456789012': $name" \
	limit add a2345678901234567890123456789012 rate 1/1s
usage "'confirm': invalid name of a limit: it is a keyword; choose another name" \
	limit add confirm rate 1/1s
usage "'frob': unknown word; did you mean 'from'?" limit add any rate 1/1s frob
usage "'weird': unknown word in a limit; see 'ringfence help limit add'" limit add any rate 1/1s weird
usage "'shadwo': unknown word; did you mean 'shadow'?" limit add any rate 1/1s shadwo
usage "'raet': unknown word; did you mean 'rate'?" limit add any raet 1/1s
usage "'upd': not a word for 'match'; did you mean 'udp'?" limit add any rate 1/1s match upd
usage "'rejetced': not a word for 'count'; did you mean 'rejected'?" limit set any rate 1/1s count rejetced
usage "'cofnirm': unknown word; did you mean 'confirm'?" apply rules cofnirm 1m
usage "'fro': unknown word; did you mean 'for'?" deny add 192.0.2.1 fro 1h
usage "'opne': not a word for 'then'; did you mean 'open'?" newcomers rate 1/1s 'then' opne
usage "'tehn': unknown word; did you mean 'then'?" newcomers rate 1/1s tehn open
usage "'wacth': unknown word; did you mean 'watch'?" stats wacth
usage "'withni': unknown word; did you mean 'within'?" top withni 192.0.2.0/24
usage "'--jsno': unknown option; did you mean '--json'?" status --jsno
usage "'statsu': unknown command; did you mean 'status'? 'ringfence help' lists the commands" statsu
usage "'shadow': invalid port; write it like 53, 53,443 or 8000-8100" limit add any rate 1/1s dport 80, shadow
usage "'algorithm': expects sliding, fixed, log, token or leaky" limit add any rate 1/1s algorithm
usage "'gcra': 'algorithm' expects sliding, fixed, log, token or leaky" \
	limit add any rate 1/1s algorithm gcra
usage "'soft': 'edge' expects strict, coarse or weighted" limit add any rate 1/1s edge soft
usage "'sctp': 'match' expects any, tcp, tcp syn, udp, icmp, proto N or other" \
	limit add any rate 1/1s match sctp
usage "'syn': unknown word in a limit; see 'ringfence help limit add'" \
	limit add any rate 1/1s match udp syn
usage "'proto': expects a number" limit add any rate 1/1s match proto
usage "'gre': invalid protocol: it must be 0-254" limit add any rate 1/1s match proto gre
usage "'255': invalid protocol: it is reserved; it must be 0-254" \
	limit add any rate 1/1s match proto 255
usage "'dport': expects a port, like 53 or 8000-8100" limit add any rate 1/1s dport
for ports in '53,' http 53-; do
	usage "'${ports#*,}': invalid port; write it like 53, 53,443 or 8000-8100" \
		limit add any rate 1/1s dport $ports
done
usage "'65536': invalid port: it must be 0-65535" limit add any rate 1/1s dport 53,65536
usage "'90-80': invalid range of ports: it ends before it begins; write 80-90" \
	limit add any rate 1/1s dport 90-80
usage "'dport': 'match icmp' does not take it, since ICMP has no ports; leave out one of them" \
	limit add any rate 1/1s match icmp dport 53
usage "'dport': 'match proto 47' does not take it; only any, tcp, tcp syn, udp, proto 6 and proto 17 \
have ports" limit add any rate 1/1s match proto 47 dport 53
usage "'sport': 'match icmp' does not take it, since ICMP has no ports; leave out one of them" \
	limit add any rate 1/1s match icmp sport 53
usage "'sport': expects a port, like 53 or 8000-8100" limit add any rate 1/1s sport
usage "'length': expects a length, like 482 or 1000-1514" limit add any rate 1/1s length
usage "'1k': invalid length; write it like 482 or 1000-1514, in bytes of the frame with its Ethernet \
header" limit add any rate 1/1s length 1k
usage "'9': invalid length: it must be 14-65535, in bytes of the frame with its Ethernet header" \
	limit add any rate 1/1s length 9
usage "'90-80': invalid range of lengths: it ends before it begins; write 80-90" \
	limit add any rate 1/1s length 90-80
usage "'flags': expects TCP flags, like SYN/SYN,ACK" limit add any rate 1/1s flags
for flags in SIN SYN/ SYN/SYN/SYN 'SYN,/SYN'; do
	usage "'$flags': invalid flags; write them like SYN/SYN,ACK: of the flags behind the slash, those \
before it are set and no others; the flags are SYN, ACK, FIN, RST, PSH, URG, ECE, CWR, NONE and ALL" \
		limit add any rate 1/1s flags "$flags"
done
usage "'NONE': invalid flags: no flag is asked for; write NONE/ALL for packets without any flag" \
	limit add any rate 1/1s flags NONE
usage "'SYN/ACK': invalid flags: those before the slash must also stand behind it, or no packet would \
match" limit add any rate 1/1s flags SYN/ACK
usage "'flags': 'match tcp syn' names the flags already; write 'match tcp' or leave out 'flags'" \
	limit add any rate 1/1s match tcp syn flags ACK
usage "'flags': 'match udp' does not take it, since only TCP has these flags; write 'match tcp' or \
leave out 'flags'" limit add any rate 1/1s match udp flags ACK
usage "'length': 'match other' does not take it, since packets that are not IP have no source and no \
port; leave out one of them" limit add any rate 1/1s match other length 60
usage "'from': expects a prefix, like 192.0.2.0/24" limit add any rate 1/1s from
usage "'10.0.0.0/33': invalid prefix: its length must be 0-32" limit add any rate 1/1s from 10.0.0.0/33
usage "'file': expects a file" limit add any rate 1/1s from file
usage "'24': invalid prefix length; write it with a slash, like per /24" \
	limit add any rate 1/1s per 24
usage "'/33': invalid prefix length: it must be /0-/32" limit add any rate 1/1s per /33
usage "'/129': invalid prefix length: it must be /0-/128" limit add any rate 1/1s per6 /129
usage "'ban': expects a time, like 10m" limit add any rate 1/1s ban
usage "'ban': a shadow limit drops nothing, so it bans nobody; leave out 'ban' or 'shadow'" \
	limit add any rate 1/1s ban 1m shadow

for list in allow deny; do
	usage "the prefix is missing; write $list add PREFIX" $list add
	usage "the prefix is missing; write $list del PREFIX" $list del
	usage "the file is missing; write $list load FILE" $list load
	usage "'for': expects a time, like 10m" $list add 192.0.2.1 for
	usage "'now': unexpected word; see 'ringfence help $list add'" $list add 192.0.2.1 now
	usage "'now': unexpected word; for a fence or an interface, write dev now" $list list now
done
usage "the rate of newcomers is missing; write newcomers rate COUNT/TIME then \
open|closed|aggregate, or newcomers off" newcomers
usage "what happens to newcomers over the rate is missing; add 'then open', 'then closed' or 'then \
aggregate'" newcomers rate 10k/1s
usage "'off': 'then' expects open, closed or aggregate" \
	newcomers rate 10k/1s 'then' off
usage "the file is missing; write apply FILE" apply
usage "'confirm': expects a time, like 10m" apply rules confirm
usage "the file is missing; write check FILE" check
usage "'now': unexpected word; see 'ringfence help check'" check rules now
usage "the file is missing; write diff FILE" diff
usage "'now': unexpected word; see 'ringfence help diff'" diff rules all now
usage "'now': unexpected word; for a file, write save > now, and for a fence, save dev now" save now
no_json="'--json': save prints the rules as commands; for JSON use 'limit list', 'allow list' and 'deny list'"
is "$(describe ringfence save --json)" "exit 2
{\"schema\":1,\"error\":\"$no_json\"}
stderr: ringfence: $no_json" 'save refuses --json'
usage "'now': unexpected word; for a fence or an interface, write dev now" confirm now
for option in packets bytes shadow 'algorithm token' 'cells 4' 'edge coarse' 'burst 10' 'match any' \
	'match tcp syn' 'dport 53' 'from 192.0.2.0/24' 'per /32' 'per6 /64' 'count rejected' exact \
	'ban 1m'; do
	# shellcheck disable=SC2086
	usage "'${option%% *}': given twice" limit set any rate 20k/1s $option $option
done

# Each of these also applies to 'limit set', which would change the existing limit.
for verb in add set; do
	frame='with less, no Ethernet frame of full size would ever pass'
	usage "'1513/1s': invalid rate: the count must be 1514-137438953472 bytes; $frame" \
		limit $verb any rate 1513/1s bytes
	usage "'2000gbit': invalid rate: the count must be 1514-137438953472 bytes; $frame" \
		limit $verb any rate 2000gbit
	usage "'bytes': 'packets' and 'bytes' exclude each other" \
		limit $verb any rate 20k/1s packets bytes
	usage "'10mbit': invalid rate: bits are counted as bytes; leave out 'packets'" \
		limit $verb any rate 10mbit packets
	usage "'17/1m': invalid rate: the count must be 1-16, since 'algorithm log' keeps a time for \
each packet; use 'algorithm sliding'" limit $verb any rate 17/1m algorithm log
	usage "'algorithm log': it keeps the times of packets, and does not count bytes; use \
'algorithm sliding'" limit $verb any rate 20k/1m algorithm log bytes
	usage "'cells': 'algorithm token' does not take it; only sliding has cells and an edge" \
		limit $verb any rate 20k/1s algorithm token cells 4
	usage "'edge': 'algorithm fixed' does not take it; only sliding has cells and an edge" \
		limit $verb any rate 20k/1s algorithm fixed edge weighted
	usage "'burst': 'algorithm sliding' does not take it; only token and leaky have a burst" \
		limit $verb any rate 20k/1s burst 10
	usage "'burst': expects a count, like 100 or 20k" \
		limit $verb any rate 20k/1s algorithm token burst
	usage "'big': invalid burst; $count_form" limit $verb any rate 20k/1s algorithm token burst big
	usage "'0': invalid burst: the count must be 1-2147483648" \
		limit $verb any rate 20k/1s algorithm token burst 0
	usage "'1513': invalid burst: the count must be 1514-2147483648 bytes; $frame" \
		limit $verb any rate 20k/1s algorithm token burst 1513 bytes
	usage "'16kbit': invalid burst: bits are counted as bytes, and the limit is in packets; add \
'bytes', or write it like 100 or 20k" limit $verb any rate 20k/1s algorithm token burst 16kbit
	usage "'17569': invalid burst: at the rate '2/1h' the burst takes longer than 8784h; lower \
the burst, or raise the rate" limit $verb any rate 2/1h algorithm token burst 17569
	usage "'algorithm leaky': in bytes the burst must hold a frame of 1514 bytes; add 'burst \
COUNT'" limit $verb any rate 20k/1s algorithm leaky bytes
	usage "'burst': 'algorithm sliding' does not take it; only token and leaky have a burst" \
		limit $verb any rate 10mbit fleet burst 1M
	usage "'count': expects rejected" limit $verb any rate 20k/1s count
	usage "'accepted': 'count' expects rejected" \
		limit $verb any rate 20k/1s count accepted
done
usage "the limit's name is missing; write limit del NAME" limit del
usage "'more': unexpected word; see 'ringfence help limit del'" limit del any more
usage "'all': unexpected word; for a fence or an interface, write dev all" limit list all

usage "the address is missing; write show ADDRESS|PREFIX" show
usage "'192.0.2': invalid address; write it like 192.0.2.1 or 2001:db8::1" show 192.0.2
usage "'192.0.2.0/33': invalid prefix: its length must be 0-32" show 192.0.2.0/33
usage "'2001:db8::g': invalid address; write it like 192.0.2.1 or 2001:db8::1" show 2001:db8::g
usage "'more': unexpected word; see 'ringfence help show'" show 192.0.2.1 more
usage "'0': invalid number of rows: it must be 1-1000000" top 0
usage "'many': invalid number of rows: it must be 1-1000000" top many
usage "'by': expects drops, rate or used" top 5 by
usage "'name': 'by' expects drops, rate or used" top by name
usage "'0': invalid number of seconds: it must be 1-86400" stats watch 0
usage "'1.5': invalid number of seconds: it must be 1-86400" stats watch 1.5
usage "'5': unexpected word; see 'ringfence help stats'" stats 5

usage "the interface is missing; write attach IF" attach
usage "the interface is missing; write attach IF, or 'attach dev mode' if it is called so" attach mode native
usage "'mode': expects native or generic" attach "${port[1]}" mode
usage "'offload': 'mode' expects native or generic" attach "${port[1]}" mode offload
usage "'none': invalid number of sources: it must be 1-67108864" attach "${port[1]}" sources none
usage "'fence': expects the name of a fence" attach "${port[1]}" fence
usage "'../up': invalid name of a fence: a letter, then letters, digits, '_' and '-', 31 at most" \
	attach "${port[1]}" fence ../up
usage "'confirm': expects a time, like 10m" attach "${port[1]}" confirm
usage "'chain': given twice" attach "${port[1]}" chain chain
usage "'chain' and 'replace' exclude each other: 'chain' runs beside other programs, 'replace' removes \
them" attach "${port[1]}" chain replace
usage "'dev ${port[1]}': attach takes its interface without 'dev'" dev "${port[1]}" attach "${port[1]}"
usage "the interface is missing; write detach IF|FENCE…" detach
usage "'dev ${port[0]}': detach takes its interface without 'dev'" dev "${port[0]}" detach "${port[0]}"
is "$(state)" "$before" 'wrong usage changes nothing'
check 'wrong usage pins nothing' test ! -e "$pins/${port[1]}"

# ---- what a fence refuses ----

with='with a fence'
refused "limit 'any': it exists already; to replace it, use 'limit set any …'" \
	limit add any rate 1/1s
refused "limit 'nay': it does not exist; did you mean 'any'?" limit del nay
refused "limit 'nay': it does not exist; did you mean 'any'?" limit arm nay
refused "limit 'nay': it does not exist; did you mean 'any'?" top limit nay dev "${port[0]}"
refused "limit 'more': it does not exist; 'limit list' lists the limits, 'limit add' makes one" \
	limit set more rate 1/1s
refused "limit 'more': it does not exist; 'limit list' lists the limits, 'limit add' makes one" \
	limit del more
refused "'192.0.2.1': not on the allow list; 'allow list' shows its prefixes as they were added" \
	allow del 192.0.2.1
refused "$scratch/none: cannot read it: No such file or directory" deny load "$scratch/none"
refused "$scratch/none: cannot read it: No such file or directory" apply "$scratch/none"
refused "$scratch/none: cannot read it: No such file or directory" check "$scratch/none"
refused "$scratch/none: cannot read it: No such file or directory" \
	limit add more rate 1/1s from file "$scratch/none"
refused "nothing to confirm: no rules are on trial" confirm
refused "nothing to take back: no rules are on trial" revert
refused "${port[0]}: already attached in native mode; to change it, first run \
'ringfence detach ${port[0]}'" attach "${port[0]}" mode generic
refused "${port[0]}: already attached, to fence '${port[0]}'; first run 'ringfence detach ${port[0]}'" \
	attach "${port[0]}" fence "$run-other"
refused "${port[0]}: its fence has room for 65536 sources; for 70000, first run \
'ringfence detach ${port[0]}'" attach "${port[0]}" sources 70000
refused "$none: $no_interface" attach "${port[0]}" "$none"
is "$(state)" "$before" 'refused commands change nothing'

# ---- several fences ----

with='with two fences and no dev'
use "$quick"
ringfence attach "${port[1]}" >"$scratch/log"
several="several fences are attached: ${port[0]}, ${port[1]}; say which: dev ${port[0]}"
for words in 'show 192.0.2.1' 'limit list' 'limit set any rate 1/1s' 'limit del any'; do
	# shellcheck disable=SC2086
	refused "$several" $words
done
does 'of several fences, dev names one' 'no limits' ringfence limit list dev "${port[1]}"
does 'of several fences, dev names one before the command' 'no limits' ringfence dev "${port[1]}" limit list
does 'of several fences, a command without dev changes none' 'limit add any rate 100/1h' \
	ringfence limit list dev "${port[0]}"
ringfence detach "${port[1]}" >"$scratch/log"

# ---- other mount namespaces ----

# `ip netns exec` mounts its own /sys, and leaves its mount namespace when it ends.
in_ip_netns() {
	ip netns exec "rf-test-$$-inside" build/ringfence "$@"
}
fails 'attach is refused in the mount namespace of ip netns exec' \
	1 "ringfence: /sys/fs/bpf: no bpffs in this mount namespace, \
and pins in one mounted here would vanish with it; enter a network namespace by 'nsenter --net=…'" \
	in_ip_netns attach "${port[1]}"
is "$(state)" "$before" 'attach that is refused in the mount namespace of ip netns exec changes nothing'
is "$(in_ip_netns limit list)" "$(ringfence limit list)" \
	'limit list works in the mount namespace of ip netns exec'

# ---- without privilege ----

chmod 755 "$scratch"
install -m 755 build/ringfence "$scratch/ringfence" # wherever the tree is, nobody can run it
nobody() {
	inside setpriv --reuid=65534 --regid=65534 --clear-groups "$scratch/ringfence" "$@"
}
fails 'status needs root' 1 \
	"ringfence: not permitted; run it as root, or as a member of group 'ringfence' once root has run \
'ringfence adopt IF' (program id $(program_on 0): only CAP_SYS_ADMIN may open it by its id, and no pin that \
you may read belongs to it)" \
	nobody status
fails 'attach needs root' 1 \
	"ringfence: /run/ringfence-65534.lock: cannot lock: Permission denied; only root may change fences, or a user for whom root has made that file" \
	nobody attach "${port[1]}"
fails 'detach needs root' 1 \
	"ringfence: /run/ringfence-65534.lock: cannot lock: Permission denied; only root may change fences, or a user for whom root has made that file" \
	nobody detach "${port[0]}"
fails 'limit add needs root' 1 \
	"ringfence: /run/ringfence-65534.lock: cannot lock: Permission denied; only root may change fences, or a user for whom root has made that file" \
	nobody limit add more rate 1/1s
is "$(describe nobody help | head -n 1)" 'exit 0' 'help works without root'
is "$(state)" "$before" 'commands without privilege change nothing'

# ---- help ----

for words in '' attach detach limit 'limit add' 'limit set' 'limit del' 'limit list' allow 'allow add' \
	'allow del' 'allow list' 'allow load' deny 'deny add' 'deny del' 'deny list' 'deny load' newcomers \
	save apply confirm revert check diff status stats top show; do
	# shellcheck disable=SC2086
	matches "$(describe ringfence help $words)" $'exit 0\n.*ringfence.*\nstderr: ' \
		"help${words:+ $words} prints help"
done
is "$(ringfence --help)" "$(ringfence help)" '--help prints what help prints'
is "$(ringfence -h)" "$(ringfence help)" '-h prints what help prints'
is "$(ringfence limit add --help)" "$(ringfence help limit add)" 'limit add --help prints the help of limit add'
is "$(ringfence show 192.0.2.1 -h)" "$(ringfence help show)" 'show ADDRESS -h prints the help of show'
is "$(ringfence help stats watch)" "$(ringfence help stats)" 'help takes an option of the command'
is "$(ringfence -V), $(ringfence version)" "$(ringfence --version), $(ringfence --version)" \
	'-V and version print what --version prints'
is "$(ringfence help | grep '^  version ' | tr -s ' ')" ' version print the version' 'help lists version'
matches "$(ringfence --version)" 'ringfence [0-9.]+ \(map ABI [0-9]+\)' '--version prints version and map ABI'

# ---- the shape of JSON ----

# shape TYPE-OF-EACH-KEY WORD…: the shape of a command's JSON; the first entry stands for a list.
shape() {
	is "$(ringfence "${@:2}" --json | command jq -cS 'def shape:
		if type == "object" then del(.schema) | map_values(shape)
		elif type == "array" then [.[0] | shape]
		else type end; shape')" "$(command jq -cnS "$1")" "--json has the documented keys and types: ${*:2}"
}

interface='{name: "string", ethernet: "boolean", mode: "string", attached_by: "string", chain: "null",
	packets: "null", bytes: "null"}'
counts='{packets: "number", bytes: "number"}'
both='{passed: "number", dropped: "number", would_drop: "number"}'
of_limit='{passed: "number", dropped: "number", would_drop: "number", forfeited: "number"}'
in_use='{used: "number", resident: "number", inserts: "number", evictions: "number"}'
maps=$(jq -n '[$ARGS.positional[] | {(.): "number"}] | add' --args windows4 windows6 config leases \
	lease_tags ports prefixes4 prefixes6 presence aggregates counters limit_counters interfaces samples slots4 slots6 bans)
of_newcomers='{then: "string", rate: "number", window_ms: "number", admitted: "number", aggregated: "number",
	passed: "number", dropped: "number", unnoted: "number", known: "number"}'
shape '{fence: "string", version: "string", abi: "number", program_id: "number",
	this_build: "boolean", sources: "number", interfaces: ['"$interface"' + {this_build: "boolean", bypassed: "null", suits_mtu: "boolean"}], armed: "boolean", trial: "null",
	limits: [{name: "string", match: "string", dport: "null", sport: "null", to: "null",
	length: "null", flags: "null", from: "null", per: "number",
		per6: "number", shadow: "boolean"}], lists: {allow: "number", deny: "number", fleet: "number"},
	newcomers: '"$of_newcomers"',
	windows: {ipv4: '"$in_use"', ipv6: '"$in_use"'},
	memory: {bytes: "number", maps: '"$maps"'},
	bans: {standing: "number", room: "number", refused: "number"}, paused_ms: "number"}' status dev "${port[0]}"
shape '{fence: "string", interfaces: ['"$interface"'], packets: '"$both"', bytes: '"$both"',
	reset: "null", reasons: ([('"$(names_in reasons)"') | {(.): '"$counts"'}] | add),
	limits: [{name: "string"} + '"$of_limit"' + {bytes: '"$of_limit"'}],
	newcomers: '"$of_newcomers"', windows: {ipv4: '"$in_use"', ipv6: '"$in_use"'},
	map_errors: ([('"$(names_in map_errors)"') |
		{(.): "number"}] | add)}' stats dev "${port[0]}"
shape '{fence: "string", sources: [{source: "string", limit: "string", passed: "number", dropped: "number",
	would_drop: "number", used: "number", used_per_s: "number", rate: "number", burst: "null", window_ms: "number",
	unit: "string", banned_ms: "number", aggregate: "boolean", shadow: "boolean"}], unseen: "null"}' top dev "${port[0]}"
shape '{source: "string", verdict: "string", by: {kind: "string", limit: "string", prefix: "null"}, passes_again_ms: "number",
	summary: "string", allowed: "null", denied: "null",
	limits: [{limit: "string", source: "string", used: "number", rate: "number",
	burst: "null", window_ms: "number", unit: "string", cells: ["number"], passed: "number",
	dropped: "number", would_drop: "number", passes_again_ms: "number", recent: "null", room: "null",
	would_pass_again_ms: "null", newcomer: "boolean", shadow: "boolean", banned_ms: "number"}]}' show 192.0.2.1
shape '{limits: [{name: "string", rate: "number", window_ms: "number", unit: "string",
	algorithm: "string", edge: "string", cells: "number", burst: "null", match: "string",
	dport: "null", sport: "null", to: "null",
	length: "null", flags: "null", from: "null", per: "number", per6: "number", shadow: "boolean",
	count_rejected: "boolean", exact: "boolean", fleet: "null", ban_ms: "null", ban_all: "boolean"}]}' limit list
ringfence detach "${port[0]}" >"$scratch/log"
use "$shipped"
shape '{interfaces: [{name: "string", fence: "string", mode: "string", outcome: "string",
	replaced: "null", replaced_abi: "null", lost: ["null"], memory: "number", link_down_ms: "null"}]}' \
	attach "${port[0]}" "${port[1]}" fence "$run-both"
shape '{detached: ["string"], link_down_ms: {}, lost: ["null"]}' detach "${port[1]}"
is "$(ringfence attach "${port[0]}" --json | command jq -c '.interfaces[]')" \
	"{\"name\":\"${port[0]}\",\"fence\":\"$run-both\",\"mode\":\"native\",\"outcome\":\"unchanged\",\
\"replaced\":null,\"replaced_abi\":null,\"lost\":[],\"memory\":null,\"link_down_ms\":null}" \
	'attach --json says whether it attached'
ringfence limit add any rate 100/1h
forget_traffic
deliver 0 src=192.0.2.1,count=300 src=2001:db8::1,count=10
is "$(ringfence limit list --json | jq -r '.limits[] | "\(.unit) \(.algorithm)"')" 'packets sliding' \
	'limit list --json has the words of the grammar'

# ---- where output cannot go ----

full() {
	inside timeout 300 build/ringfence "$@" >/dev/full
}

echo 'newcomers off' >"$scratch/fine"
for words in help status 'limit list' stats top 'show 192.0.2.1' 'status --json' 'stats --json' \
	'stats watch' 'stats watch --json' save 'allow list' 'deny list --json' \
	"check $scratch/fine"; do
	# shellcheck disable=SC2086
	fails "a full disk makes the command fail: $words" 1 \
		'ringfence: standard output: No space left on device' full $words
done

# ---- stats watch ----

has_ended() { # PID
	! kill -0 "$1" 2>/dev/null
}

# Lines of interfaces, which the fence has had several of, are indented.
has_lines() { # COUNT
	[ "$(grep -vc '^ ' "$scratch/watched")" -ge "$1" ]
}

begin=${EPOCHREALTIME/./}
start inside build/ringfence stats watch >"$scratch/watched" 2>"$scratch/stderr"
check 'stats watch prints a third line' eventually has_lines 3
took_us=$((${EPOCHREALTIME/./} - begin))
stop INT "$started_pid"
is "exit $?, $(<"$scratch/stderr")" 'exit 0, ' 'stats watch ends by SIGINT without a failure'
check 'stats watch waits a second for each line' test "$took_us" -ge 2000000
matches "$(head -n 1 "$scratch/watched")" \
	'time +passed/s +dropped/s +would drop/s +passed bit/s +dropped bit/s +errors' \
		'stats watch prints a line of titles first'
matches "$(grep -v '^ ' "$scratch/watched" | tail -n 1)" '[0-9]{2}:[0-9]{2}:[0-9]{2}( +[0-9]+){6}' \
	'stats watch prints a line of numbers each second'
is "$(sed -nE '/^.{81}/p' "$scratch/watched")" '' 'stats watch fits into 80 columns'
start inside build/ringfence stats watch --json >"$scratch/watched"
eventually has_lines 2
stop TERM "$started_pid"
is "exit $?, $(head -n 2 "$scratch/watched" | jq -r '.packets | "\(.passed) \(.dropped)"')" \
	$'exit 0, 110 200\n110 200' 'stats watch --json prints one document a line'
start inside build/ringfence stats watch >"$scratch/watched" 2>"$scratch/stderr"
eventually has_lines 2
ringfence detach "${port[0]}" >"$scratch/log"
eventually has_ended "$started_pid"
stop KILL "$started_pid"
is "exit $?, $(<"$scratch/stderr")" "exit 1, ringfence: fence '$run-both': it was detached; 'ringfence attach IF' attaches one" \
	'stats watch ends with a message when its fence is detached'

done_testing
