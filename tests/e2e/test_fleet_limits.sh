#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Limits of a fleet on one host without a connection: their words, the packets they pass, and how
# they are listed, saved, compared and tried. tests/prog/test_shares.c tests the effect of shares.
#
#   outside                      inside
#   out0  ------- wire 0 ------  a fence that was attached with 'fleet'

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

passes() { # NAME COUNT: of 300 packets of a new source
	source_number=$((${source_number:-0} + 1))
	deliver 0 "src=192.0.2.$source_number,count=300"
	is "$(passed)" "$2" "$1"
}

limit() { # of the list as JSON
	ringfence limit list --json | command jq -cS ".limits[] | select(.name == \"$1\") | .fleet"
}

make_network 1
here=${port[0]}

# ---- requirements of a fleet ----

ringfence attach "$here" >"$scratch/log"
fails 'a fence without shares has no limits of a fleet' 1 \
	"ringfence: limit 'any': 'fleet' takes a fence that was attached with the word 'fleet'; save the rules, detach, and attach again with it" \
	ringfence limit add any rate 100/1h fleet
is "$(ringfence limit list)" 'no limits' 'and nothing has changed'
ringfence detach "$here" >"$scratch/log"
ringfence attach "$here" fleet >"$scratch/log"
does 'no number of hosts is told at first' \
	"no fleet; 'ringfence fleet hosts N' sets how many hosts share limits" ringfence fleet hosts
is "$(ringfence fleet hosts --json | jq -c .hosts)" null 'so in JSON'
fails 'a limit of the fleet needs it' 1 \
	"ringfence: limit 'any': the fleet's number of hosts is missing; first run 'ringfence fleet hosts N'" \
	ringfence limit add any rate 100/1h fleet
does 'the number is set' '' ringfence fleet hosts 3
does 'and printed' 'the fleet has 3 hosts' ringfence fleet hosts
is "$(ringfence fleet hosts --json | jq -c .hosts)" 3 'so in JSON, once it is set'
fails 'a fleet holds sliding limits' 1 \
	"ringfence: limit 'any': 'fleet': only a sliding limit with a strict edge can be shared; leave out 'algorithm' and 'edge'" \
	ringfence limit add any rate 100/1h fleet algorithm token
fails 'what is refused is not shared' 1 \
	"ringfence: limit 'any': 'fleet': packets refused on one host are unknown to the others; leave out 'count rejected'" \
	ringfence limit add any rate 100/1h fleet count rejected

# ---- packets that pass without a connection ----

ringfence limit add any rate 100/1h fleet exact >"$scratch/log"
passes 'offline, COUNT passes' 100
ringfence limit change any ban 1h >"$scratch/log"
passes 'with a ban, COUNT passes offline as well' 100
is "$(ringfence bans --json | jq -r '.bans[].source')" "192.0.2.$source_number" 'and the source is banned'
ringfence limit set any rate 1k/1h fleet initial 7 offline initial ban 1h >"$scratch/log"
passes 'a source that is refused before it has sent COUNT' 7
is "$(ringfence bans --json | jq -r '.bans[].source' | grep -c "\.$source_number$")" 0 'is not banned'
check 'and show says what would ban it' \
	grep -qF '; more than 1k/1h over all hosts bans it for 1h' \
	<(ringfence show "192.0.2.$source_number" | unwrapped)
ringfence limit set any rate 100/1h fleet exact offline initial >"$scratch/log"
passes "with 'offline initial', what passes unasked" 1
ringfence limit set any rate 100/1h fleet exact initial 7 offline initial >"$scratch/log"
passes "that is 'initial'" 7
ringfence limit set any rate 100/1h fleet exact initial 0 offline initial >"$scratch/log"
passes "and nothing with 'initial 0'" 0
deliver 0 src=192.0.2.101,count=20
is "$(ringfence show 192.0.2.101 --json | jq -c '.limits[0] | [.remaining, .rate, .used, .retry_after_ms]')" \
	'[0,100,0,null]' 'show judges a source by what it may have here'
ringfence limit change any offline 40/1h >"$scratch/log"
passes "with 'offline COUNT', that" 40
ringfence limit change any no offline >"$scratch/log"
passes "and COUNT again with 'no offline'" 100
ringfence limit change any no fleet >"$scratch/log"
passes 'as without the fleet' 100
is "$(limit any)" null 'which the list says'
conserves 0 'sent = passed + dropped'

# ---- how it is written ----

ringfence limit set any rate 20k/1s fleet initial 5 offline initial >"$scratch/log"
is "$(ringfence limit list)" 'limit add any rate 20k/1s fleet initial 5 offline initial  # at most 20k over 3 hosts' \
	'the list has the words and the bound'
is "$(limit any)" '{"bound":20000,"hosts":3,"initial":5,"offline":5}' 'so in JSON'
does "'limit set' says what changed" \
	"limit 'any': initial 5 → default; offline initial → 5k/1s" \
	ringfence limit set any rate 20k/1s fleet offline 5k/1s
does "'no initial' does not take the word of 'offline initial'" \
	"limit 'any': initial default → 2; offline 5k/1s → initial" ringfence limit change any initial 2 offline initial
does 'so it stays' "limit 'any': initial 2 → default" ringfence limit change any no initial
is "$(limit any)" '{"bound":20000,"hosts":3,"initial":104,"offline":104}' 'initial is a 64th of COUNT over 3 hosts'
ringfence save | grep -v '^#' >"$scratch/saved"
is "$(cat "$scratch/saved")" $'fleet hosts 3\nlimit add any rate 20k/1s fleet offline initial\nnewcomers off' \
	'save prints the hosts and the limit'
does 'check takes what save prints' "$scratch/saved: fine: 1 limit, 0 allowed and 0 denied prefixes, newcomers off" \
	ringfence check "$scratch/saved"
does 'diff finds nothing' '' ringfence diff "$scratch/saved"
sed 's/hosts 3/hosts 10/' "$scratch/saved" >"$scratch/ten"
is "$(ringfence diff "$scratch/ten")" '~ fleet hosts 3 → 10' 'diff finds another number of hosts'
is "$(ringfence diff "$scratch/ten" --json | command jq -c .fleet_hosts)" '{"before":3,"after":10}' 'so in JSON'
ringfence apply "$scratch/ten" >"$scratch/log"
is "$(limit any)" '{"bound":20000,"hosts":10,"initial":31,"offline":31}' 'apply sets it, and with it what passes unasked'
sed /hosts/d "$scratch/saved" >"$scratch/without"
ringfence apply "$scratch/without" >"$scratch/log"
does 'a file without it leaves it as it is' 'the fleet has 10 hosts' ringfence fleet hosts
printf 'fleet hosts 4\nlimit add more rate 100/1h fleet match udp\n' >"$scratch/batch"
ringfence batch "$scratch/batch" >"$scratch/log"
is "$(limit more)" '{"bound":103,"hosts":4,"initial":1,"offline":100}' 'a batch may set it, for its limits as well'
fails 'a number that makes a limit loose is refused' 1 \
	"ringfence: limit 'more': 'fleet' would pass up to 111 of its 100 over 12 hosts; accept that by 'initial 1', or write 'initial 0'" \
	ringfence fleet hosts 12
does 'and nothing has changed then' 'the fleet has 4 hosts' ringfence fleet hosts
ringfence limit del more >"$scratch/log"

# ---- unconfirmed rules ----

sed 's/hosts 3/hosts 20/' "$scratch/saved" >"$scratch/twenty"
ringfence apply "$scratch/twenty" confirm 1h >"$scratch/log"
does 'a trial has its own number' 'the fleet has 20 hosts' ringfence fleet hosts
ringfence revert >"$scratch/log"
ringfence apply "$scratch/twenty" confirm 1s >"$scratch/log"
fallen_back() {
	[ "$(ringfence fleet hosts)" = 'the fleet has 4 hosts' ]
}
eventually fallen_back
check 'without confirm the old one is back' fallen_back
is "$(limit any)" '{"bound":20000,"hosts":4,"initial":78,"offline":78}' 'and the old limits'

ringfence detach "$here" >"$scratch/log"
done_testing
