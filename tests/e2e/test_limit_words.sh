#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Limits of every kind, in words and in JSON: what each command prints about them, and that the
# examples in the help are commands that work.
#
#   outside                               inside
#   out0  ---------- wire 0 ----------->  ${port[0]}

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

make_network 1

# Prints a limit that 'limit set any WORD…' makes, as status, limit list and limit list --json show
# it.
reads() { # STATUS LIST JSON WORD…
	matches "$(describe ringfence limit set any "${@:4}")" \
		$'exit 0\nlimit \'any\': .+ → .+\nstderr: ' "limit set works: ${*:4}"
	is "$(ringfence status | unwrapped | grep '^limit')" "limit any: at most $1" "status prints the limit: ${*:4}"
	does "limit list prints the limit: ${*:4}" "limit add any $2" ringfence limit list
	is "$(ringfence limit list --json | jq -r '.limits[] | [.rate, .window_ms, .unit, .algorithm,
		.edge, .cells, .burst, .shadow, .count_rejected] | map(tostring) | join(" ")')" \
		"$3" "limit list --json has the limit: ${*:4}"
}

# What show prints about 192.0.2.1, without its verdict and the name of the limit; numbers that
# depend on the moment become N.
shown() {
	ringfence show 192.0.2.1 | unwrapped | sed '1,2d
		/^  cells/s/[0-9]*[1-9][0-9]*/N/g
		s/in [0-9.]*\(ms\|[smhd]\)\( [0-9]*[smh]\)\{0,1\}/in N/'
}

# The last columns of top, and its JSON.
used() {
	ringfence top | unwrapped | tail -n 1 | awk '{ $1 = $2 = $3 = $4 = $5 = ""; sub(/^ */, ""); print }'
	ringfence top --json dev "${port[0]}" | jq -r '.sources[] | "\(.used) \(.rate) \(.burst) \(.unit)"'
}

ringfence attach "${port[0]}" >"$scratch/log"
ringfence limit add any rate 1/1s
reads '20k/1s of every source' 'rate 20k/1s' '20000 1000 packets sliding strict 31 null false false' \
	rate 20k/1s packets algorithm sliding cells 31 edge strict
reads '10mbit of every source (shadow: only counts packets that it would drop)' \
	'rate 10mbit algorithm sliding cells 4 edge coarse shadow' \
	'1250000 1000 bytes sliding coarse 4 null true false' \
	rate 10mbit shadow edge coarse cells 4
reads '10mbit of every source, with a burst of 10mbit' 'rate 10mbit' \
	'1250000 1000 bytes token strict 1 1250000 false false' \
	rate 10mbit/1s bytes burst 1250k algorithm token
reads '10mbit of every source' 'rate 10mbit algorithm sliding' \
	'1250000 1000 bytes sliding strict 31 null false false' rate 10mbit algorithm sliding
reads '10mbit of every source, with a burst of 10mbit' 'rate 10mbit' \
	'1250000 1000 bytes token strict 1 1250000 false false' rate 10mbit

ringfence limit set any rate 1/1s >"$scratch/log" 2>&1
is "$(ringfence limit change any rate 0)" "limit 'any': rate 1/1s → 0; its windows start afresh" \
	'limit change: a rate becomes 0'
is "$(ringfence status | grep '^limit'; ringfence limit list)" $'limit any: drops all\nlimit add any rate 0' \
	'status and limit list print rate 0'
does 'limit list --json has rate 0' '[0,1000,"packets"]' \
	eval 'ringfence limit list --json | jq -c ".limits[] | [.rate, .window_ms, .unit]"'
ringfence save >"$scratch/saved"
is "$(ringfence apply "$scratch/saved" >"$scratch/log" && ringfence save | sed 1d)" "$(sed 1d "$scratch/saved")" \
	'save prints rate 0, and apply reads it'
deliver 0 src=192.0.2.1,count=3
is "$received $(ringfence show 192.0.2.1)" ' 192.0.2.1: dropped by limit '"'any'"'; its rate is 0
limit any (0): drops all that it matches' 'show: the rate is 0'
is "$(ringfence top --json dev "${port[0]}" | jq '.sources | length') $(ringfence stats --json dev "${port[0]}" | jq -c '.limits[] |
	[.name, .dropped]')" '0 ["any",3]' 'rate 0: the limit has counted its drops, and top has no source'
fails 'suggest: a limit of rate 0 has no peaks' 1 "ringfence: no limit records peaks: limits of rate 0 and buckets do not; \
add a sliding window as a shadow: ringfence limit add probe rate 50k/1s shadow" ringfence suggest for 2s
is "$(ringfence limit change any rate 10/1m)" "limit 'any': rate 0 → 10/1m; its windows start afresh" \
	'limit change: rate 0 becomes another one'

reads '10/1m of every source' 'rate 10/1m algorithm log count rejected' \
	'10 60000 packets log strict 1 null false true' rate 10/1m count rejected algorithm log
deliver 0 src=192.0.2.1,count=3
is "$(shown)" '  used          3 of 10
  passed        3
  dropped       0
  passes again  now' 'show of a log prints used, passed and dropped'
is "$(used)" $'3 10/1m\n3 10 null packets' 'top of a log prints used and rate'
is "$(ringfence show 192.0.2.1 --json | jq -c '.limits[] | [.used, .burst, .unit, .cells]')" \
	'[3,null,"packets",[]]' 'show --json of a log has no burst and no cells'

reads '5/1h of every source, with a burst of 7' 'rate 5/1h algorithm token burst 7' \
	'5 3600000 packets token strict 1 7 false false' rate 5/1h burst 7 algorithm token
deliver 0 src=192.0.2.1,count=9
is "$(shown)" '  used          7 of burst 7
  passed        7
  dropped       2
  passes again  in N' 'show of a token bucket prints used of its burst'
is "$(used)" $'7 burst 7, 5/1h\n7 5 7 packets' 'top of a token bucket prints burst and rate'
is "$(ringfence show 192.0.2.1 --json | jq -c '.limits[] | [.used, .burst, .unit, .cells]')" \
	'[7,7,"packets",[]]' 'show --json of a token bucket has its burst'

reads '80kbit/8784h of every source, with a burst of 24kbit' \
	'rate 80kbit/8784h algorithm leaky burst 24kbit' \
	'10000 31622400000 bytes leaky strict 1 3000 false false' \
	rate 80kbit/8784h burst 24kbit algorithm leaky
deliver 0 src=192.0.2.1,count=4,len=1000
is "$(shown)" '  used          3000 of burst 3000 bytes
  passed        3
  dropped       1
  passes again  in N, a frame of 1514 bytes' 'show of a leaky bucket in bytes prints when a full frame passes'
is "$(used)" $'3000 burst 24kbit, 80kbit/8784h\n3000 10000 3000 bytes' \
	'top of a leaky bucket in bytes prints burst and rate'

reads '10k/1h bytes of every source' 'rate 10k/1h bytes algorithm sliding cells 4 edge weighted' \
	'10000 3600000 bytes sliding weighted 4 null false false' \
	rate 10k/1h bytes cells 4 edge weighted
deliver 0 src=192.0.2.1,count=12,len=1000
matches "$(shown)" '  used          10000 of 10000 bytes
  cells         (0 0 0 N|0 0 N 0|0 0 N N) \(oldest first\)
  passed        10
  dropped       2
  passes again  in N, a frame of 1514 bytes' 'show of a weighted limit in bytes prints every cell'
is "$(ringfence show 192.0.2.1 --json | jq -c '.limits[] | [.used, .unit, (.cells | length, add)]')" \
	'[10000,"bytes",4,10000]' 'show --json of a weighted limit in bytes has every cell'

reads '137438953472/8784h bytes of every source' \
	'rate 137438953472/8784h bytes algorithm fixed count rejected' \
	'137438953472 31622400000 bytes fixed strict 1 null false true' \
	rate 137438953472/8784h bytes algorithm fixed count rejected
deliver 0 src=192.0.2.1,count=3,len=1000
is "$(shown | sed 's/N/3072/')" '  used          3072 of 137438953472 bytes
  cells         3072 (oldest first)
  passed        3
  dropped       0
  passes again  now, a frame of 1514 bytes' 'show of a limit in large units prints bytes, each frame rounded up'
is "$(used)" $'3072 137438953472/8784h bytes\n3072 137438953472 null bytes' \
	'top of a limit in large units prints bytes'
does 'show of a newcomer prints the unit of the limit' \
	'192.0.2.99: new; passes at this moment
source 192.0.2.99, limit any (137438953472/8784h bytes): no window' \
	ringfence show 192.0.2.99

# For the first limit only, a line shows how much of COUNT is safe for an even sender.
without_steady() {
	local printed

	printed=$("$@") || return
	sed '/a source that sends evenly loses nothing up to/d' <<<"$printed"
}

ringfence limit del any
does 'the first limit says how much of COUNT is safe' \
	"limit 'first': a source that sends evenly loses nothing up to 96 % of COUNT" \
	ringfence limit add first rate 100/1h
does 'a second limit does not' '' ringfence limit add second rate 100/1h match udp
ringfence limit del first
ringfence limit del second
does 'nor does a first limit under which all of COUNT is safe' '' \
	ringfence limit add first rate 100/1h algorithm token
ringfence limit del first

ringfence limit add short rate 5/1s match udp ban 1200ms >"$scratch/log"
does 'a change of a part of a second is a change' "limit 'short': ban 1200ms → 1500ms" \
	ringfence limit change short ban 1500ms
ringfence limit del short

# Each packet matches four of these at most.
while read -ra words; do
	does "the usual limits on TCP flags fit together: ${words[*]}" '' \
		without_steady ringfence limit add "${words[@]}"
done <<-'END'
	any rate 20k/1s
	syn rate 100/10s match tcp syn
	rst rate 100/10s match tcp flags RST/RST
	null rate 10/10s match tcp flags NONE/ALL
	xmas rate 10/10s match tcp flags FIN,PSH,URG/ALL
END
for name in any syn rst null xmas; do
	ringfence limit del "$name"
done

# The examples of the help are commands that work.
examples=0
while read -ra example; do
	does "example of help limit add works: ${example[*]}" '' without_steady "${example[@]}"
	ringfence limit del "${example[3]}"
	examples=$((examples + 1))
done < <(ringfence help limit add | sed -n 's/^Example: //p')
is "$examples" 10 'help limit add has 10 examples'
ringfence detach "${port[0]}" >"$scratch/log"

done_testing
