#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Rows marked `~` in `top`: the sources without a window, estimated from samples of packets.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

make_network 2
dev=${port[0]}
other=${port[1]}

# SOURCE REASON, of each row
rows() { # FILE
	jq -r '.unseen.sources[] | "\(.source) \(.reason)"' "$1" | sort
}

# Sends this many frames of each flow a second, for a while, while `top` samples.
sampled() { # FLOW… -- WORDS of top
	local flows=() sender before

	while [ "$1" != -- ]; do
		flows+=(flow "$1")
		shift
	done
	before=$(counted 0)
	start outside build/tests/traffic send dev out0 to 02:00:00:00:00:02 "${flows[@]}" >"$scratch/sent" 2>&1
	sender=$started_pid
	eventually has_counted 0 $((before + 1)) || bail 'nothing is sent'
	ringfence top "${@:2}" dev "$dev" >"$scratch/top" 2>"$scratch/said" ||
		bail "top failed: $(<"$scratch/said")"
	stop TERM "$sender" 2>/dev/null
}

ringfence attach "$dev" >"$scratch/log" || bail 'cannot attach'
ringfence apply - dev "$dev" >"$scratch/log" <<-'END'
	limit add dns rate 1k/1h match udp dport 53
	deny add 192.0.2.0/24
	allow add 198.51.100.7
END

# ---- without samples ----

deliver 0 src=192.0.2.1,count=900
is "$(ringfence top dev "$dev" | tail -n +2)" 'no source has a window' 'top as always, where few drops have no window'
is "$(ringfence top --json dev "$dev" | jq -c .unseen)" null 'top --json: no samples are null'
deliver 0 src=192.0.2.1,count=200
is "$(ringfence top dev "$dev" | unwrapped | tail -n 1)" "1100 packets of sources without a window were dropped; \
'ringfence top sample 2s' estimates which sources these are" 'top says which words show the sources of many drops'
ringfence stats reset dev "$dev" >"$scratch/log"
is "$(ringfence top dev "$dev" | tail -n +2)" 'no source has a window' 'after a reset it does not'

# ---- with samples ----

flows=('src=192.0.2.1,rate=200,count=1000000' 'src=192.0.2.2,rate=100,count=1000000'
	'src=198.51.100.7,rate=100,count=1000000' 'src=203.0.113.5,rate=100,count=1000000')
four='192.0.2.1 denied
192.0.2.2 denied
198.51.100.7 allowed
203.0.113.5 no_limit'
# A sender that is delayed for all of the time sends nothing in it, and then more than a sampler
# stores: retry.
samples_all() {
	sampled "${flows[@]}" -- sample 2s --json
	[ "$(rows "$scratch/top") $(jq .unseen.missed "$scratch/top")" = "$four 0" ]
}
eventually samples_all
is "$(rows "$scratch/top")" "$four" 'top sample: denied and allowed sources, and those that no limit matches'
is "$(jq -r '.unseen.sources[0].source, .unseen.one_in, .unseen.missed' "$scratch/top" | tr '\n' ' ')" '192.0.2.1 1 0 ' \
	'the source with most packets is the first; of few packets, each is a sample'
is "$(jq '[.unseen | .seconds as $s | .sources[] | .packets_per_s * $s - .samples | fabs] | max < 0.001' "$scratch/top")" \
	true 'a rate is the samples divided by the time'
samples_rows() { # ROWS WORDS of top
	sampled "${flows[@]}" -- "${@:2}"
	[ "$(grep -c '^~' "$scratch/top")" = "$1" ]
}
eventually samples_rows 2 2 sample 1s within 192.0.0.0/16
is "$(grep -c '^~ 192.0.2.[12]  *~[0-9]* .* dropped: on the deny list$' "$scratch/top")" 2 \
	'rows are marked ~, and so are their rates'
is "$(grep -c '^~' "$scratch/top")" 2 'within PREFIX'
shows_one_of_four() {
	samples_rows 1 1 sample 1s
	[ "$(grep -c '^~' "$scratch/top") $(tail -n 1 "$scratch/top")" = "1 … and 3 more; 'top N' shows N" ]
}
check 'top N' eventually shows_one_of_four
is "$(ringfence top sample 1s dev "$dev" | tail -n 1)" 'no source without a window in samples of each packet, over 1.0s' \
	'where nothing comes, top says so'

# ---- newcomers that are dropped ----

ringfence apply - dev "$dev" >"$scratch/log" <<-'END'
	limit add any rate 100/1h
	newcomers rate 1/1h then drop
END
deliver 0 src=192.0.2.9,count=1
samples_newcomers() {
	sampled src=2001:db8:7::1,rate=100,count=1000000 -- sample 1s --json
	[ -n "$(rows "$scratch/top")" ]
}
eventually samples_newcomers
is "$(rows "$scratch/top")" '2001:db8:7::/64 newcomer_drop' 'top sample: newcomers that are dropped, by /64'

# ---- refusals ----

matches "$(describe ringfence top sample 1ms)" $'exit 2\n\nstderr: .*1ms.*1s-60s.*' 'sample for too short a time'
matches "$(describe inside setpriv --reuid 65534 --regid 65534 --clear-groups build/ringfence top sample 1s dev "$dev")" \
	$'exit 1\n\nstderr: ringfence: .*' 'sampling takes the privilege to change the fence'

# ---- several fences; a sampler that is killed ----

ringfence attach "$other" >"$scratch/log" || bail 'cannot attach'
is "$(ringfence top sample 1s --json | jq -c '[.fences[].unseen.sources]')" '[[],[]]' 'top sample shows each fence'
start inside build/ringfence top sample 60s dev "$dev" >"$scratch/rows"
sampler=$started_pid
has_first_rows() { grep -q '^source ' "$scratch/rows" && kill -0 "$sampler"; }
check 'top sample prints the rows of windows before it samples' eventually has_first_rows
start outside build/tests/traffic send dev out0 to 02:00:00:00:00:02 flow src=203.0.113.77,rate=200,count=1000000 >"$scratch/sent" 2>&1
sender=$started_pid
is_unseen() {
	[ "$(ringfence top --json dev "$dev" | jq -r '.unseen.sources[0].source')" = 203.0.113.77 ]
}
check 'while somebody else samples, top has rows marked ~ without being told' eventually is_unseen
stop KILL "$sampler" 2>/dev/null
sleep 3.2
is "$(ringfence top --json dev "$dev" | jq -c .unseen)" null 'three seconds after the sampler was killed, nobody samples'
stop TERM "$sender" 2>/dev/null

done_testing
