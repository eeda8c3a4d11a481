#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A fence that `ip` attached: it observes, is armed, limits, and goes, with no pin anywhere.
#
#   outside                               inside
#   out0  ---------- wire 0 ----------->  ${port[0]}  xdpdrv, sec xdp
#   out1  ---------- wire 1 ----------->  ${port[1]}  xdpgeneric, sec xdp
#   out2  ----- wire 2, MTU 9000 ------>  ${port[2]}  xdpdrv, sec xdp.frags
#
# What must stay over its limit has a window of an hour, so that no speed is asked for.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

OBJECT=build/ringfence.bpf.o

# Of one source under the only limit: used, passed, dropped, would drop, and the sum of its cells.
shown() { # WIRE ADDRESS
	ringfence show "$2" --json dev "${port[$1]}" |
		jq -r '.limits[0] | "\(.used) \(.passed) \(.dropped) \(.would_drop) \(.cells | add)"'
}

make_network 2
add_wire 2 mtu 9000

# ---- it observes ----

does 'ip attaches the object in native mode' '' \
	inside ip link set dev "${port[0]}" xdpdrv obj $OBJECT sec xdp
is "$(ringfence status | sed 1d)" \
	"  ${port[0]}: native mode, attached by ip
no limit is set: the fence observes, and drops nothing; 'ringfence limit add all rate 20k/1s' arms it" \
	'status says that it observes, and drops nothing'
is "$(ringfence status --json | jq -c '[.fence, .program_id, .limits, .armed, .sources]')" \
	"[\"${port[0]}\",$(program_on 0),0,false,65536]" \
	'status names the program that is on the interface'
check 'nothing is pinned' test ! -e "$pins/${port[0]}"

deliver 0 src=192.0.2.1,count=300,len=70 src=2001:db8:0:1::1,count=50,len=1400
is "$received" "$sent" 'without a limit everything passes'
is "$(stats 0 '.reasons.no_limit | "\(.packets) \(.bytes)"')" "350 $((300 * 70 + 50 * 1400))" \
	'what no limit was asked about is counted as no_limit'
conserves 0 'nothing else is counted'

# ---- a limit ----

does 'a limit is added' '' ringfence limit add all rate 100/1h exact
deliver 0 src=192.0.2.1,count=300,len=100 src=192.0.2.2,count=60,len=66 \
	src=2001:db8:0:1::1,count=250,len=1000 src=2001:db8:0:2::1,count=40,len=1514
is "$received" "192.0.2.1 100 10000
192.0.2.2 60 3960
2001:db8:0:1::1 100 100000
2001:db8:0:2::1 40 60560" 'each source passes up to the limit, whatever others do'
conserves 0 'sent = passed + dropped'
is "$(stats 0 '.limits[0] | [.name, .passed, .dropped, .would_drop,
		.bytes.passed, .bytes.dropped, .bytes.would_drop] | join(" ")')" \
	"all 300 350 0 174520 170000 0" 'the limit has counted what it passed and dropped'
is "$(stats 0 '.reasons | "\(.under_limit.packets) \(.over_limit.packets) \(.no_limit.packets)"')" \
	"300 350 350" 'the reasons tell the limit from what came before it'
is "$(shown 0 192.0.2.1)" '100 100 200 0 100' 'show: a source that is over the limit'
is "$(shown 0 192.0.2.2)" '60 60 0 0 60' 'show: a source that is under the limit'
is "$(shown 0 2001:db8:0:1::1)" '100 100 150 0 100' 'show: an IPv6 source'
is "$(ringfence show 192.0.2.2 --json | jq '.limits[0].passes_again_ms')" 0 \
	'show: under the limit the next packet passes now'
wait_ms=$(ringfence show 192.0.2.1 --json | jq '.limits[0].passes_again_ms')
check 'show: over the limit it passes when the window is over' \
	test "$wait_ms" -gt 0 -a "$wait_ms" -le 3841000
is "$(ringfence top --json | jq -r '.sources[] |
		[.source, .limit, .passed, .dropped, .would_drop, .used, .rate, .window_ms] | join(" ")')" \
	"192.0.2.1 all 100 200 0 100 100 3600000
2001:db8:0:1::/64 all 100 150 0 100 100 3600000
192.0.2.2 all 60 0 0 60 100 3600000
2001:db8:0:2::/64 all 40 0 0 40 100 3600000" 'top: sources by drops, then by rate'
is "$(ringfence top 1 --json | jq -r '.sources[].source')" 192.0.2.1 'top 1 has one row'

deliver 0 src=2001:db8:0:3::1,count=70 src=2001:db8:0:3:ffff::2,count=70
is "$(sum "$received")" "100 $((100 * 86))" 'two addresses of one /64 share one window'
is "$(ringfence show 2001:db8:0:3::beef --json | jq -r '.limits[0] | "\(.source) \(.used)"')" \
	'2001:db8:0:3::/64 100' 'show finds it by a third address'
is "$(shown 0 203.0.113.1)" '0 0 0 0 0' 'show: a newcomer has used nothing'

# ---- changes ----

does 'the limit is raised' '' ringfence limit set all rate 150/1h exact
deliver 0 src=192.0.2.1,count=300
is "$(sum "$received" | cut -d' ' -f1)" 50 'a raised limit keeps the windows: only the rest passes'
does 'the limit is lowered' '' ringfence limit set all rate 80/1h exact
deliver 0 src=192.0.2.1,count=20 src=192.0.2.2,count=100
is "$received" '192.0.2.2 20 1320' 'a lowered limit keeps the windows'
does 'the limit gets another window' '' ringfence limit set all rate 80/2h exact
deliver 0 src=192.0.2.1,count=100
is "$received" '192.0.2.1 80 5280' 'another window starts afresh'
conserves 0 'still sent = passed + dropped'

does 'the limit becomes a shadow' '' ringfence limit set all rate 80/2h exact shadow
before=$(stats 0 '.limits[0] | "\(.passed) \(.dropped)"')
deliver 0 src=192.0.2.1,count=30,len=100 src=192.0.2.5,count=90,len=100
is "$received" "$sent" 'a shadow passes everything'
is "$(stats 0 '.limits[0] | "\(.would_drop) \(.bytes.would_drop)"') \
$(stats 0 '.reasons.shadow_over | "\(.packets) \(.bytes)"')" '40 4000 40 4000' \
	'a shadow counts what it would drop'
is "$(stats 0 '.limits[0] | "\(.passed) \(.dropped)"')" \
	"$((${before% *} + 80)) ${before#* }" 'a shadow drops nothing'
is "$(shown 0 192.0.2.5)" '80 80 0 10 80' 'show: what a shadow would have dropped'
is "$(ringfence top 3 --json | jq -r '.sources[0] | "\(.source) \(.dropped) \(.would_drop)"')" \
	'192.0.2.1 20 30' 'top: sources by what a shadow would have dropped, too'
is "$(ringfence status | grep '^limit')" \
	'limit all: at most 80/2h of every source (shadow: only counts what it would drop)' \
	'status calls the limit a shadow'

does 'the limit is deleted' '' ringfence limit del all
does 'no limit is left' 'no limits' ringfence limit list
deliver 0 src=192.0.2.1,count=200
is "$received" "$sent" 'it observes again'
conserves 0 'the totals have gone on through all changes'

# ---- a short window, at no particular speed ----

does 'a limit with a short window is added' '' ringfence limit add all rate 50/1s
deliver 0 max 50/1s src=192.0.2.1,count=3000,rate=1000 src=2001:db8:0:1::1,count=3000,rate=1000 \
	src=192.0.2.9,count=30,rate=10
stays_within 'no second admits more than the limit'
is "$(grep '^192.0.2.9 ' <<<"$received")" "$(grep '^192.0.2.9 ' <<<"$sent")" \
	'an even sender below the limit loses nothing beside a flood'
check 'windows open again' \
	test "$(grep '^192.0.2.1 ' <<<"$received" | cut -d' ' -f2)" -gt 50
conserves 0 'sent = passed + dropped under a flood'
sleep 1.2 # 16 cells of a fifteenth of the window
deliver 0 src=192.0.2.1,count=50
is "$(sum "$received" | cut -d' ' -f1)" 50 'after silence the whole limit is there again'

id=$(program_on 0)
does 'ip takes it off' '' inside ip link set dev "${port[0]}" xdp off
check 'the program is gone with it' eventually program_is_gone "$id"

# ---- generic mode ----

forget_traffic
does 'ip attaches it in generic mode' '' \
	inside ip link set dev "${port[1]}" xdpgeneric obj $OBJECT sec xdp
is "$(ringfence status | sed -n 2,3p)" \
	"  ${port[1]}: generic mode, attached by ip
  generic mode counts what the kernel has merged (GRO) as one packet, and is slow" \
	'status says generic, and what that means'
is "$(interfaces 1)" "${port[1]}: generic, ip" 'and says so in JSON'
does 'a limit is added in generic mode' '' ringfence limit add all rate 100/1h exact
deliver 1 src=192.0.2.1,count=300 src=2001:db8::1,count=20
is "$(cut -d' ' -f1,2 <<<"$received")" $'192.0.2.1 100\n2001:db8::1 20' 'it limits in generic mode'
conserves 1 'sent = passed + dropped in generic mode'

# ---- jumbo frames ----

forget_traffic
does 'ip attaches the entry for frames in several buffers' '' \
	inside ip link set dev "${port[2]}" xdpdrv obj $OBJECT sec xdp.frags
is "$(ringfence status dev "${port[2]}" --json | jq -r '"\(.fence) \(.interfaces | length)"')" \
	"${port[2]} 1" 'each attachment by ip is a fence of its own'
does 'a limit is added on one of two fences' '' \
	ringfence limit add jumbo rate 100/1h exact dev "${port[2]}"
deliver 2 src=192.0.2.1,count=300,len=9000 src=2001:db8::1,count=90,len=9000 src=192.0.2.2,count=9
is "$received" "192.0.2.1 100 900000
192.0.2.2 9 594
2001:db8::1 90 810000" 'a frame in several buffers is charged once'
conserves 2 'jumbo frames are counted with all their bytes'
is "$(ringfence limit list dev "${port[1]}")" 'limit add all rate 100/1h exact' \
	'the other fence keeps its own limit'

does 'detach takes off what ip attached' "${port[2]}: detached" ringfence detach "${port[2]}"
is "$(program_on 2)" none 'no program is left there'
is "$(interfaces 1)" "${port[1]}: generic, ip" 'the other interface is left alone'
does 'detach takes off what ip attached in generic mode' "${port[1]}: detached" \
	ringfence detach "${port[1]}"
is "$(program_on 1)" none 'no program is left there, either'

# ---- two fences of one name ----

pass_group() { # what adopt says of the group is another test's
	"$@" >"$scratch/adopted" && head -n 1 "$scratch/adopted"
}
eth=${port[0]} other=${port[1]}
inside ip link set dev "$eth" xdpdrv obj $OBJECT sec xdp || bail 'ip does not attach'
before=$(program_on 0)
fails "a fence is not called as the one that ip attached" 1 "ringfence: fence '$eth': interface $eth has \
one of that name, which 'ip' attached; first run 'ringfence adopt $eth' to have that one, or \
choose another name" ringfence attach "$other" fence "$eth"
is "$(program_on 0) $(program_on 1)" "$before none" 'and nothing has changed'
check 'nor been pinned' test ! -e "$pins/$eth"
does 'a remedy works: another name' "$other: attached in native mode, fence '$run-b'" \
	ringfence attach "$other" fence "$run-b"
ringfence detach "$other" >"$scratch/stdout"
does 'the other one works: adopt' "$eth: adopted, fence '$eth'" pass_group ringfence adopt "$eth"
does 'and join that fence' "$other: attached in native mode, fence '$eth'" \
	ringfence attach "$other" fence "$eth"
is "$(interfaces 0)" "$(interfaces 1)" 'which is one fence'
ringfence detach "$other" >"$scratch/stdout"
ringfence detach "$eth" >"$scratch/stdout"

ringfence attach "$other" fence "$eth" >"$scratch/stdout"
inside ip link set dev "$eth" xdpdrv obj $OBJECT sec xdp || bail 'ip does not attach'
before=$(program_on 0)
fails 'adopt names the interface of the fence that has the name' 1 "ringfence: $pins/$eth: this \
directory has the pins of another fence '$eth', on $other; first run 'ringfence detach $other', \
then attach that interface under another fence name" ringfence adopt "$eth"
does 'its remedy works' "$other: detached" ringfence detach "$other"
is "$(program_on 0)" "$before" 'and leaves the one that is to be adopted alone'
does 'which is adopted then' "$eth: adopted, fence '$eth'" pass_group ringfence adopt "$eth"
does 'and the other one has another name' "$other: attached in native mode, fence '$run-b'" \
	ringfence attach "$other" fence "$run-b"
ringfence detach "$other" >"$scratch/stdout"
ringfence detach "$eth" >"$scratch/stdout"

done_testing
