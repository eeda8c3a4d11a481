#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# `pause` and `resume`: no packet is dropped in between, for any rules and concurrent commands, and
# packets that would be dropped are counted. The pause expires automatically.
#
#   outside                               inside
#   out0  ---------- wire 0 ----------->  ${port[0]}
#   out1  ---------- wire 1 ----------->  ${port[1]}
#
# Limits have windows of an hour, so no test depends on speed.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

rules() {
	ringfence apply - dev "${port[0]}" >"$scratch/log" 2>&1 || bail "cannot apply: $(<"$scratch/log")"
}

# One of a denied source, one over a limit that bans.
send_all() {
	deliver 0 src=192.0.2.1,dport=53,count=20 src=192.0.2.9,dport=53,count=20
}

# "SOURCE PACKETS" of the frames that came out, on one line.
came() {
	cut -d' ' -f1,2 <<<"$received" | paste -sd ' '
}

paused() {
	ringfence status dev "${port[0]}" --json | jq -r '.paused_ms > 0'
}

is_over() {
	[ "$(paused)" = false ]
}

all='192.0.2.1 20 192.0.2.9 20'
says_paused() { # WIRE [TIME]
	echo "fence ${port[$1]}: paused: drops nothing for ${2-10m}; 'ringfence resume' resumes it now"
}

make_network 2
ringfence attach "${port[0]}" >"$scratch/log" || bail "cannot make a fence"
does 'resume without a pause says so' "fence ${port[0]}: it is not paused" ringfence resume "${port[0]}"
does 'a fence that never had rules is paused' "$(says_paused 0)" ringfence pause
does 'and resumed' "fence ${port[0]}: resumed: the rules drop again" ringfence resume
rules <<-'END'
	limit add any rate 5/1h exact ban 1h
	limit add dns rate 100/1h exact match udp dport 53
	deny add 192.0.2.9
END

# ---- no packet is dropped ----

send_all
is "$(came)" '192.0.2.1 5' 'before the pause the rules drop'
is "$(paused)" false 'status --json says that it is not paused'
before=$(ringfence save dev "${port[0]}" | sed 's/^#.*//; s/ for [0-9].*//')
does 'pause says for how long' "$(says_paused 0 1h)" ringfence pause "${port[0]}" for 1h
send_all
is "$(came)" "$all" 'a banned source and a denied one pass'
deliver 0 src=192.0.2.2,dport=53,count=20
is "$(came)" '192.0.2.2 20' 'a source over a limit passes'
is "$(ringfence bans dev "${port[0]}" --json | jq -r '[.bans[].source] | join(" ")')" 192.0.2.1 'no ban begins'
conserves 0 'passed and dropped are all'
is "$(stats 0 '[.reasons.paused.packets, .reasons.denied.packets, .reasons.under_limit.packets,
	(.limits[] | select(.name == "any") | .passed, .dropped, .would_drop)] | join(" ")')" '55 20 10 10 15 35' \
	'what would be dropped is counted as that'
is "$(ringfence save dev "${port[0]}" | sed 's/^#.*//; s/ for [0-9].*//')" "$before" 'save has no pause'

# ---- who reports it ----

is "$(ringfence status dev "${port[0]}" | unwrapped | grep -E 'PAUSED|in a pause' | sed 's/another [0-9a-z ]*:/another TIME:/')" \
	"PAUSED for another TIME: no packets are dropped; 'ringfence resume' resumes it now
55 packets passed in a pause that would have been dropped" 'status says so'
is "$(paused)" true 'and status --json'
matches "$(ringfence show 192.0.2.9 dev "${port[0]}" | head -n 1)" \
	'192.0.2.9: passes, as everything does: the fence is paused for another .*' 'and show'
is "$(ringfence show 192.0.2.1 dev "${port[0]}" --json | jq -c '[.verdict, .by.kind]')" '["passes","pause"]' 'and show --json'
matches "$(ringfence doctor "${port[0]}" | unwrapped | grep paused)" \
	".*note .*paused.*for another .*: until then no packets are dropped.*ringfence resume ${port[0]}.*" 'and doctor'
is "$(ringfence doctor | grep -o "${port[0]} .*a fence, .*paused" | tr -s ' ')" "${port[0]} has a fence, which is paused" \
	'and doctor in its summary'

# ---- what preserves it ----

rules <<-'END'
	limit add any rate 1/1h exact
	deny add 192.0.2.9
END
send_all
is "$(came)" "$all" 'a change of the rules keeps the pause'
ringfence apply - dev "${port[0]}" confirm 1h <<<'deny add 192.0.2.1' >"$scratch/log"
does 'rules unconfirmed are paused' "$(says_paused 0)" ringfence pause "${port[0]}"
send_all
is "$(came)" "$all" 'rules unconfirmed drop nothing'
ringfence revert dev "${port[0]}" >"$scratch/log"
send_all
is "$(came)" "$all" 'nor do the rules before them'
use "$newer"
matches "$(ringfence attach "${port[0]}")" '.*upgraded.*' 'an upgrade in place'
is "$(paused)" true 'keeps the pause'
send_all
is "$(came)" "$all" 'and drops nothing'
use "$shipped"

# The lock of another command, in a mount namespace in which no other test is.
while_locked() {
	# shellcheck disable=SC2016 # the inner shell expands them
	inside unshare --mount bash -c 'touch "$0/lock" /run/ringfence.lock
		mount --bind "$0/lock" /run/ringfence.lock && RINGFENCE_LOCK_SECONDS=1 flock "$0/lock" "$@"' \
		"$scratch" "$build" "$@"
}
matches "$(while_locked deny add 192.0.2.3 dev "${port[0]}" 2>&1)" '.*it is still held by.*' 'while a command holds the lock, rules wait'
does 'pause does not' "$(says_paused 0 2h)" while_locked pause "${port[0]}" for 2h
does 'nor does resume' "fence ${port[0]}: resumed: the rules drop again" while_locked resume "${port[0]}"

# ---- its end ----

send_all
is "$(came)" '' 'after resume the rules drop, and what passed has been charged'
is "$(ringfence resume "${port[0]}" --json | command jq -c 'del(.schema)')" \
	"{\"fences\":[{\"fence\":\"${port[0]}\",\"paused_ms\":0,\"before_ms\":0}]}" 'a second resume is no error'
does 'a pause may be short' "$(says_paused 0 1s)" ringfence pause "${port[0]}" for 1s
check 'and ends by itself' eventually is_over
send_all
is "$(came)" '' 'then the rules drop again'
ringfence pause "${port[0]}" for 24h >"$scratch/log"
does 'another pause replaces it' "$(says_paused 0 1s)" ringfence pause "${port[0]}" for 1s
check 'whatever was left' eventually is_over

# ---- several fences ----

ringfence attach "${port[1]}" >"$scratch/log" || bail "cannot make a fence"
ringfence deny add 192.0.2.9 dev "${port[1]}" >"$scratch/log"
fails 'a wrong name is refused' 1 "ringfence: none0: no such interface or fence; 'ip link' lists the interfaces, 'ringfence \
status' the fences" \
	ringfence pause "${port[0]}" none0
is "$(paused)" false 'and nothing is paused'
is "$(ringfence pause "${port[0]}" lo >"$scratch/log" 2>&1; echo $?) $(paused)" '1 false' 'nor with an interface without a fence'
does 'fences are paused by name' "$(says_paused 1 5m)" ringfence pause dev "${port[1]}" for 5m
is "$(paused)" false 'and no other one'
is "$(ringfence pause for 2h | sort)" "$(says_paused 0 2h; says_paused 1 2h)" 'without names, every fence is paused'
deliver 1 src=192.0.2.9,count=20
is "$(came)" '192.0.2.9 20' 'each drops nothing'
is "$(ringfence resume --json | jq -c '[.fences | sort_by(.fence)[] | .paused_ms, (.before_ms > 0)]')" '[0,true,0,true]' \
	'and resumed'
deliver 1 src=192.0.2.9,count=20
is "$(came)" '' 'each drops again'

# ---- refusals ----

fails 'resume takes no time' 1 "ringfence: for: no such interface or fence; 'ip link' lists the interfaces, 'ringfence \
status' the fences" ringfence resume for 1s
is "$(paused)" false 'and nothing is paused'
done_testing
