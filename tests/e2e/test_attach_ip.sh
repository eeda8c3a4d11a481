#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A fence that `ip` attached: it observes, limits, and is removed, without any pin.
#
#   outside                               inside
#   out0  ---------- wire 0 ----------->  ${port[0]}  xdpdrv, sec xdp
#   out1  ---------- wire 1 ----------->  ${port[1]}  xdpgeneric, sec xdp
#   out2  ----- wire 2, MTU 9000 ------>  ${port[2]}  xdpdrv, sec xdp.frags
#
# Limits that must remain exceeded have a window of an hour, so no test depends on speed.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

OBJECT=build/ringfence.bpf.o

# State of one source under the only limit: used, passed, dropped, would drop, and the sum of its
# cells.
shown() { # WIRE ADDRESS
	ringfence show "$2" --json dev "${port[$1]}" |
		jq -r '.limits[0] | "\(.used) \(.passed) \(.dropped) \(.would_drop) \(.cells | add)"'
}

make_network 2
add_wire 2 mtu 9000

# ---- it observes ----

does 'ip attaches the object in native mode' '' \
	inside ip link set dev "${port[0]}" xdpdrv obj $OBJECT sec xdp
is "$(ringfence status | unwrapped | sed 1d)" \
	"  ${port[0]}: native mode, attached by ip
no limit is set: the fence observes, and drops nothing; 'ringfence limit add any rate 20k/1s' adds one" \
	'status says that it observes, and drops nothing'
is "$(ringfence status --json dev "${port[0]}" | jq -c '[.fence, .program_id, (.limits | length), .enforced, .sources]')" \
	"[\"${port[0]}\",$(program_on 0),0,false,65536]" \
	'status names the program that is on the interface'
check 'ip pins nothing when it attaches the object' test ! -e "$pins/${port[0]}"

deliver 0 src=192.0.2.1,count=300,len=70 src=2001:db8:0:1::1,count=50,len=1400
is "$received" "$sent" 'every packet passes a fence without a limit'
is "$(stats 0 '.reasons.no_limit | "\(.packets) \(.bytes)"')" "350 $((300 * 70 + 50 * 1400))" \
	'packets are counted as no_limit on a fence without a limit'
conserves 0 'packets are counted for no other reason on a fence without a limit'

# ---- a limit ----

does 'limit add works on a fence that ip attached' "$(steady any)" \
	ringfence limit add any rate 100/1h exact
deliver 0 src=192.0.2.1,count=300,len=100 src=192.0.2.2,count=60,len=66 \
	src=2001:db8:0:1::1,count=250,len=1000 src=2001:db8:0:2::1,count=40,len=1514
is "$received" "192.0.2.1 100 10000
192.0.2.2 60 3960
2001:db8:0:1::1 100 100000
2001:db8:0:2::1 40 60560" 'each source passes up to the limit, whatever other sources do'
conserves 0 'sent = passed + dropped with a first limit'
is "$(stats 0 '.limits[0] | [.name, .passed, .dropped, .would_drop,
		.bytes.passed, .bytes.dropped, .bytes.would_drop] | join(" ")')" \
	"any 300 350 0 174520 170000 0" 'a limit counts what it passes and drops'
is "$(stats 0 '.reasons | "\(.under_limit.packets) \(.over_limit.packets) \(.no_limit.packets)"')" \
	"300 350 350" 'reasons tell packets under a limit from packets before it was added'
is "$(shown 0 192.0.2.1)" '100 100 200 0 100' 'show prints a source that is over its limit'
is "$(shown 0 192.0.2.2)" '60 60 0 0 60' 'show prints a source that is under its limit'
is "$(shown 0 2001:db8:0:1::1)" '100 100 150 0 100' 'show prints an IPv6 source'
is "$(ringfence show 192.0.2.2 --json | jq '.limits[0].retry_after_ms')" 0 \
	'show says that a packet of a source under its limit passes now'
wait_ms=$(ringfence show 192.0.2.1 --json | jq '.limits[0].retry_after_ms')
check 'show says when a packet of a source over its limit passes again' \
	test "$wait_ms" -gt 0 -a "$wait_ms" -le 3841000
is "$(ringfence top --json dev "${port[0]}" | jq -r '.sources[] |
		[.source, .limit, .passed, .dropped, .would_drop, .used, .rate, .window_ms] | join(" ")')" \
	"192.0.2.1 any 100 200 0 100 100 3600000
2001:db8:0:1::/64 any 100 150 0 100 100 3600000
192.0.2.2 any 60 0 0 60 100 3600000
2001:db8:0:2::/64 any 40 0 0 40 100 3600000" 'top lists sources by drops, then by rate'
is "$(ringfence top 1 --json dev "${port[0]}" | jq -r '.sources[].source')" 192.0.2.1 'top 1 prints one row'

deliver 0 src=2001:db8:0:3::1,count=70 src=2001:db8:0:3:ffff::2,count=70
is "$(sum "$received")" "100 $((100 * 86))" 'two addresses of one /64 share one window'
is "$(ringfence show 2001:db8:0:3::beef --json | jq -r '.limits[0] | "\(.source) \(.used)"')" \
	'2001:db8:0:3::/64 100' 'show finds the window of a /64 by a third address'
is "$(shown 0 203.0.113.1)" '0 0 0 0 0' 'show says that a newcomer has used nothing'

# ---- changes ----

does 'limit set raises a limit' "limit 'any': rate 100/1h → 150/1h" ringfence limit set any rate 150/1h exact
deliver 0 src=192.0.2.1,count=300
is "$(sum "$received" | cut -d' ' -f1)" 50 'a raised limit keeps the windows: only the rest passes'
does 'limit set lowers a limit' "limit 'any': rate 150/1h → 80/1h" ringfence limit set any rate 80/1h exact
deliver 0 src=192.0.2.1,count=20 src=192.0.2.2,count=100
is "$received" '192.0.2.2 20 1320' 'a lowered limit keeps the windows'
does 'limit set changes the TIME of a limit' "limit 'any': rate 80/1h → 80/2h; its windows start \
afresh" ringfence limit set any rate 80/2h exact
deliver 0 src=192.0.2.1,count=100
is "$received" '192.0.2.1 80 5280' 'a limit of another TIME starts with empty windows'
conserves 0 'sent = passed + dropped over changes of a limit'

does 'limit set makes a limit a shadow' "limit 'any': enforced → shadow" ringfence limit set any rate 80/2h exact shadow
before=$(stats 0 '.limits[0] | "\(.passed) \(.dropped)"')
deliver 0 src=192.0.2.1,count=30,len=100 src=192.0.2.5,count=90,len=100
is "$received" "$sent" 'a shadow passes everything'
is "$(stats 0 '.limits[0] | "\(.would_drop) \(.bytes.would_drop)"') \
$(stats 0 '.reasons.shadow_over | "\(.packets) \(.bytes)"')" '40 4000 40 4000' \
	'a shadow counts what it would drop'
is "$(stats 0 '.limits[0] | "\(.passed) \(.dropped)"')" \
	"$((${before% *} + 80)) ${before#* }" 'a shadow drops nothing'
is "$(shown 0 192.0.2.5)" '80 80 0 10 80' 'show prints what a shadow would have dropped'
is "$(ringfence top 3 --json dev "${port[0]}" | jq -r '.sources[0] | "\(.source) \(.dropped) \(.would_drop)"')" \
	'192.0.2.1 20 30' 'top lists sources by what a shadow would have dropped'
is "$(ringfence status | unwrapped | grep '^limit')" \
	'limit any: at most 80/2h of every source (shadow: only counts packets that it would drop)' \
	'status says that a limit is a shadow'

does 'limit del works on a fence that ip attached' '' ringfence limit del any
does 'limit list is empty after limit del' 'no limits' ringfence limit list
deliver 0 src=192.0.2.1,count=200
is "$received" "$sent" 'status says that a fence only observes after limit del'
conserves 0 'totals of a fence go on over all changes of a limit'

# ---- a short window, at no particular speed ----

does 'limit add works with a short TIME' "$(steady any)" \
	ringfence limit add any rate 50/1s
deliver 0 max 50/1s src=192.0.2.1,count=3000,rate=1000 src=2001:db8:0:1::1,count=3000,rate=1000 \
	src=192.0.2.9,count=30,rate=10
stays_within 'no second admits more than the limit'
is "$(grep '^192.0.2.9 ' <<<"$received")" "$(grep '^192.0.2.9 ' <<<"$sent")" \
	'an even sender below the limit loses nothing beside a flood'
check 'windows of a short TIME open again' \
	test "$(grep '^192.0.2.1 ' <<<"$received" | cut -d' ' -f2)" -gt 50
conserves 0 'sent = passed + dropped under a flood'
sleep 1.2 # 16 cells of a fifteenth of the window
deliver 0 src=192.0.2.1,count=50
is "$(sum "$received" | cut -d' ' -f1)" 50 'after silence a source passes the whole limit again'

id=$(program_on 0)
does 'ip takes the program off' '' inside ip link set dev "${port[0]}" xdp off
check 'the program is unloaded when ip takes it off' eventually program_is_gone "$id"

# ---- generic mode ----

forget_traffic
does 'ip attaches the object in generic mode' '' \
	inside ip link set dev "${port[1]}" xdpgeneric obj $OBJECT sec xdp
is "$(ringfence status | unwrapped | sed -n 2,3p)" \
	"  ${port[1]}: generic mode, attached by ip
  generic mode counts packets merged by the kernel (GRO) as one packet, and is slow" \
	'status says generic mode, and warns about merged packets'
is "$(interfaces 1)" "${port[1]}: generic, ip" 'status --json says generic mode'
does 'limit add works in generic mode' "$(steady any)" \
	ringfence limit add any rate 100/1h exact
deliver 1 src=192.0.2.1,count=300 src=2001:db8::1,count=20
is "$(cut -d' ' -f1,2 <<<"$received")" $'192.0.2.1 100\n2001:db8::1 20' 'a limit holds in generic mode'
conserves 1 'sent = passed + dropped in generic mode'

# ---- jumbo frames ----

forget_traffic
does 'ip attaches the entry for frames in several buffers' '' \
	inside ip link set dev "${port[2]}" xdpdrv obj $OBJECT sec xdp.frags
is "$(ringfence status dev "${port[2]}" --json | jq -r '"\(.fence) \(.interfaces | length)"')" \
	"${port[2]} 1" 'each attachment by ip is a fence of its own'
does 'limit add with dev works on one of two fences' "$(steady jumbo)" \
	ringfence limit add jumbo rate 100/1h exact dev "${port[2]}"
deliver 2 src=192.0.2.1,count=300,len=9000 src=2001:db8::1,count=90,len=9000 src=192.0.2.2,count=9
is "$received" "192.0.2.1 100 900000
192.0.2.2 9 594
2001:db8::1 90 810000" 'a frame in several buffers is charged once'
conserves 2 'jumbo frames are counted with all their bytes'
is "$(ringfence limit list dev "${port[1]}")" 'limit add any rate 100/1h exact' \
	'limit add on one of two fences leaves the limit of the other'

does 'detach takes off what ip attached' "${port[2]}: detached" ringfence detach "${port[2]}"
is "$(program_on 2)" none 'detach leaves no program on an interface that ip attached'
is "$(interfaces 1)" "${port[1]}: generic, ip" 'detach of one fence leaves the other fence attached'
does 'detach takes off what ip attached in generic mode' "${port[1]}: detached" \
	ringfence detach "${port[1]}"
is "$(program_on 1)" none 'detach leaves no program on an interface that ip attached in generic mode'

# ---- two fences of one name ----

pass_group() { # a different test covers adopt's output about the group
	"$@" >"$scratch/adopted" && head -n 1 "$scratch/adopted"
}
eth=${port[0]} other=${port[1]}
use "$quick"
inside ip link set dev "$eth" xdpdrv obj $OBJECT sec xdp || bail 'ip does not attach'
before=$(program_on 0)
fails "attach with the name of a fence that ip attached is refused" \
	1 "ringfence: fence '$eth': interface $eth has \
a fence of that name, which 'ip' attached; to use that fence, first run 'ringfence adopt $eth'; \
otherwise choose another name" ringfence attach "$other" fence "$eth"
is "$(program_on 0) $(program_on 1)" "$before none" \
	'attach that is refused for a name leaves programs as they are'
check 'attach that is refused for a name pins nothing' test ! -e "$pins/$eth"
does 'the remedy for a taken name works: another name' "$other: attached in native mode, fence '$run-b'" \
	ringfence attach "$other" fence "$run-b"
ringfence detach "$other" >"$scratch/stdout"
does 'the remedy for a taken name works: adopt' "$eth: adopted, fence '$eth'" pass_group ringfence adopt "$eth"
use "$shipped"
does 'attach joins a fence that was adopted' "$other: attached in native mode, fence '$eth'" \
	ringfence attach "$other" fence "$eth"
is "$(interfaces 0)" "$(interfaces 1)" 'an adopted fence and what joins it are one fence'
ringfence detach "$other" >"$scratch/stdout"
ringfence detach "$eth" >"$scratch/stdout"

use "$quick"
ringfence attach "$other" fence "$eth" >"$scratch/stdout"
inside ip link set dev "$eth" xdpdrv obj $OBJECT sec xdp || bail 'ip does not attach'
before=$(program_on 0)
fails 'adopt over a fence of the same name is refused, and names its interface' \
	1 "ringfence: $pins/$eth: this \
directory has the pins of another fence '$eth', on $other; first run 'ringfence detach $other', \
then attach that interface under another fence name" ringfence adopt "$eth"
does 'the remedy for an adopt that is refused works: detach of the other interface' \
	"$other: detached" ringfence detach "$other"
is "$(program_on 0)" "$before" 'detach of the other interface leaves the program that is to be adopted'
does 'adopt works when no other fence has the name' \
	"$eth: adopted, fence '$eth'" pass_group ringfence adopt "$eth"
does 'attach of the other interface works with another name' "$other: attached in native mode, fence '$run-b'" \
	ringfence attach "$other" fence "$run-b"
ringfence detach "$other" >"$scratch/stdout"
ringfence detach "$eth" >"$scratch/stdout"

done_testing
