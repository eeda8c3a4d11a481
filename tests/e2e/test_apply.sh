#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Rules in files: save, apply and check. Rules are replaced atomically, under traffic and by a
# command that is killed; unconfirmed rules are rolled back without any process; and who can check a
# file.
#
#   outside                               inside
#   out0  ---------- wire 0 ----------->  ${port[0]}
#   out1  ---------- wire 1 ----------->  ${port[1]}
#
# Limits that must remain exceeded have a window of an hour, so no test depends on speed.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

# All rules, without the line that contains the time.
saved() {
	ringfence save dev "${port[0]}" | sed '/^#/d'
}

file() { # NAME: standard input, under that name
	cat >"$scratch/$1"
}

apply() { # WORD…: quietly
	ringfence apply "$@" dev "${port[0]}" >"$scratch/log" 2>&1
}

make_network 2
ringfence attach "${port[0]}" >"$scratch/log" || bail "cannot make a fence"

# ---- there and back ----

is "$(saved)" 'newcomers off' 'a fresh fence has no rules'
printf '%s\n' 192.0.2.0/24 2001:db8:1::/48 >"$scratch/partners"
file rules <<END
# A rule of every kind.
limit add any     rate 20k/1s
limit add syn     rate 100/10s   match tcp syn	# tabs, and comments behind
limit add dns     rate 500/1s match udp dport 53,853,5000-5003 shadow
   limit add big    rate 200k/1s   from 198.51.100.0/24,2001:db8::/32
limit add subnet rate 100k/1s per /24 per6 /48 match icmp
limit add even   rate 100/1s match proto 47 algorithm leaky burst 5
limit add login  rate 5/1m match tcp syn dport 22 algorithm log ban 10m
limit add heavy  rate 10mbit match udp dport 443 algorithm token burst 1M count rejected exact

limit add esp    rate 10/1s match proto 50 from file $scratch/partners
allow add 203.0.113.0/24
allow load $scratch/partners
deny  add 203.0.113.66
deny  add 2001:db8:bad::/48 for 10h
newcomers rate 10k/1s then aggregate
END
does 'check accepts a file with a rule of every kind' \
	"$scratch/rules: fine: 9 limits, 3 allowed and 2 denied prefixes, newcomers \
aggregate" ringfence check "$scratch/rules"
is "$(saved)" 'newcomers off' 'check changes no rule'
does 'apply puts a file with a rule of every kind in force' \
	'applied: 9 limits, 3 allowed and 2 denied prefixes, newcomers aggregate' \
	ringfence apply "$scratch/rules"
is "$(saved | sed 's/ for .*//')" 'limit add any rate 20k/1s
limit add syn rate 100/10s match tcp syn
limit add dns rate 500/1s match udp dport 53,853,5000-5003 shadow
limit add big rate 200k/1s from 198.51.100.0/24,2001:db8::/32
limit add subnet rate 100k/1s match icmp per /24 per6 /48
limit add even rate 100/1s algorithm leaky burst 5 match proto 47
limit add login rate 5/1m algorithm log match tcp syn dport 22 ban 10m
limit add heavy rate 10mbit burst 1M match udp dport 443 count rejected exact
limit add esp rate 10/1s match proto 50 from 192.0.2.0/24,2001:db8:1::/48
allow add 192.0.2.0/24 by load
allow add 203.0.113.0/24
allow add 2001:db8:1::/48 by load
deny add 203.0.113.66
deny add 2001:db8:bad::/48
newcomers rate 10k/1s then aggregate' 'save prints every rule that was applied'
matches "$(saved | sed -n 's/.* for //p')" '(10h|35999s|3599[0-9]s)' \
	'save prints how long an entry of a list stays'
matches "$(ringfence save | head -n 1)" "# rules \(format 1\) of the fence '${port[0]}' on [-0-9]+ [:0-9]+; \
'ringfence apply FILE' activates them" 'the first line of save names the format, the fence and the time'
before=$(saved | sed 's/ for .*//')
saved >"$scratch/saved"
does 'what was saved can be applied' \
	'applied: 9 limits, 3 allowed and 2 denied prefixes, newcomers aggregate' \
	ringfence apply "$scratch/saved"
is "$(saved | sed 's/ for .*//')" "$before" 'rules that were saved and applied are saved unchanged'
use "$quick"
ringfence attach "${port[1]}" >"$scratch/log"
saved | inside build/ringfence apply - dev "${port[1]}" >"$scratch/log"
is "$(ringfence save dev "${port[1]}" | sed '1d; s/ for .*//')" "$before" \
	'rules that were saved and applied to another fence are saved unchanged'
ringfence detach "${port[1]}" >"$scratch/log"
does 'apply - reads the rules from standard input' \
	'applied: 1 limit, 0 allowed and 0 denied prefixes, newcomers off' \
	ringfence apply - <<<'limit add any rate 10/1h exact'
is "$(saved)" $'limit add any rate 10/1h exact\nnewcomers off' 'apply - removes the rules that its input lacks'
is "$(ringfence apply --json - <<<'limit add any rate 10/1h exact' | command jq -c 'del(.schema)')" \
	'{"limits":1,"allow":0,"deny":0,"newcomers":"off","warnings":[]}' 'apply --json prints what is in force'
is "$(ringfence check --json "$scratch/rules" | command jq -c 'del(.schema)')" \
	'{"limits":9,"allow":3,"deny":2,"newcomers":"aggregate","on_both_lists":0,"warnings":[]}' 'check --json prints what the file has'

# ---- rules that were written by hand, or that a newer version saved ----

bulk=$'limit add bulk rate 10mbit\nlimit add cells rate 10mbit cells 8\nlimit add any rate 20k/1s\nnewcomers off'
ringfence apply - <<<"$bulk" >"$scratch/log"
is "$(saved)" $'limit add bulk rate 10mbit\nlimit add cells rate 10mbit algorithm sliding cells 8
limit add any rate 20k/1s\nnewcomers off' 'apply reads rules that were written by hand by the defaults of today'
ringfence save >"$scratch/saved"
does 'what is saved of them has the same meaning' '' ringfence diff "$scratch/saved"
for command in apply check; do
	matches "$(describe ringfence $command - <<<"# rules (format 2) of the fence 'eth0'"$'\nunknown words')" \
		$'exit 1\n\nstderr: ringfence: standard input:1: the rules have format 2, and this version reads formats up to 1; '\
$'upgrade ringfence, or save them with this version\nringfence: standard input: 1 error; .*' \
		"$command refuses rules of a newer format"
done
ringfence apply - <<<'limit add any rate 10/1h exact' >"$scratch/log"

# ---- errors ----

before=$(saved)
# refused NAME MESSAGE: both commands refuse the file 'bad' for one error, and change nothing.
refused() {
	local command
	local -A end=([apply]='no changes were made' [check]="'apply' would change nothing")

	for command in apply check; do
		fails "$command refuses $1" 1 "ringfence: $scratch/bad$2
ringfence: $scratch/bad: 1 error; ${end[$command]}" ringfence $command "$scratch/bad"
	done
}

# wrong MESSAGE LINE: a file whose third line is LINE is refused.
wrong() {
	file bad <<<$'limit add fine rate 1/1s\n\n'"$2"$'\nlimit add more rate 1/1s'
	refused "the line '$2' and gives its number" ":3: $1"
}

commands="which can have 'limit add', 'allow' and 'deny' with 'add' or 'load', 'newcomers' and 'fleet hosts'"
wrong "'limits': not a command of a rule file, $commands" 'limits add any rate 1/1s'
wrong "'limit set': not a command of a rule file, $commands" 'limit set any rate 1/1s'
wrong "'100/1d': invalid rate: '1d' is not a time; write it like 500ms, 10s, 5m or 1h" \
	'limit add any rate 100/1d'
wrong "'frob': unknown word; did you mean 'from'?" 'limit add any rate 100/1s frob'
wrong "limit 'fine': given twice, first in line 1" 'limit add fine rate 2/1s'
wrong "'10.0.0.0/40': invalid prefix: its length must be 0-32" 'deny add 10.0.0.0/40'
wrong "'ever': unexpected word; see 'ringfence help deny add'" 'deny add 10.0.0.0/8 ever'
wrong "'deny del': not a command of a rule file, $commands" 'deny del 10.0.0.0/8'
wrong "'deny ad': not a command of a rule file, $commands" 'deny ad 10.0.0.0/8'
wrong "'allow': not a command of a rule file, $commands" 'allow'
wrong "the prefix is missing; write deny add PREFIX" 'deny add'
wrong "the file is missing; write allow load FILE" 'allow load'
wrong "'-': a rule file cannot read from standard input; name a file" 'allow load -'
wrong "$scratch/none: cannot read it: No such file or directory" "allow load $scratch/none"
wrong "$scratch/none: cannot read it: No such file or directory" \
	"limit add one rate 1/1s from file $scratch/none"
echo 192.0.2.0/33 >"$scratch/prefixes"
wrong "$scratch/prefixes:1: '192.0.2.0/33': invalid prefix: its length must be 0-32" \
	"deny load $scratch/prefixes"
wrong "'sometimes': 'then' expects pass, drop, aggregate or challenge" \
	'newcomers rate 1/1s then sometimes'
file bad < <(for i in {1..33}; do echo "limit add l$i rate 1/1s match udp dport $i"; done)
refused 'a file of more than 32 limits' ':33: there are more than 32 limits'
file bad < <(for i in {1..5}; do echo "limit add l$i rate 1/1s"; done)
refused 'a file whose limits charge one packet to more than 4' ": limits 'l1', 'l2', 'l3', 'l4' \
and 'l5': at most 4 limits can apply to a packet, but all of these apply to some packets; delete one, or \
make it match fewer packets"
printf '# none\n\n' | file bad
refused 'a file without any rule' ": the file contains no rule; write 'newcomers off' to delete all rules"
fails "an error in a line of standard input names 'standard input' and the line" 1 \
	"ringfence: standard input:1: '1': invalid rate; write COUNT/TIME, like 20k/1s or 100/10s, or 10mbit
ringfence: standard input: 1 error; no changes were made" \
	ringfence apply - <<<'limit add any rate 1'
is "$(saved)" "$before" 'no refused file changes a rule'

chmod 755 "$scratch"
install -m 755 build/ringfence "$scratch/ringfence" # no user can run it, wherever the tree is
nobody() {
	inside setpriv --reuid 65534 --regid 65534 --clear-groups "$scratch/ringfence" "$@"
}
does 'check works without root' "$scratch/rules: fine: 9 limits, 3 allowed and 2 denied prefixes, newcomers \
aggregate" nobody check "$scratch/rules"
fails 'apply needs root, or a lock that root made' \
	1 'ringfence: /run/ringfence-65534.lock: cannot lock: Permission denied; only root may change fences, or a user for whom root has made that file' \
	nobody apply "$scratch/rules"
without_network() {
	unshare -n "$scratch/ringfence" "$@"
}
does 'check works without a fence' "$scratch/rules: fine: 9 limits, 3 allowed and 2 denied prefixes, \
newcomers aggregate" without_network check "$scratch/rules"

# The examples of rule files in the manual and the README.
awk '/^A file:/ { found = 1 } found && /^.Ed/ { exit } found && lines++ > 1' docs/ringfence-rules.5 |
	file manual
readme_block() { # N: the Nth block of rules in the README
	awk -v n="$1" '/^```/ { is_inside = /^```rules/; count += is_inside; next } is_inside && count == n' README.md
}
is "$(ringfence check "$scratch/manual" | unwrapped)" "$scratch/manual: fine: 4 limits, 1 allowed and 1 denied \
prefixes, newcomers aggregate" 'check accepts the example of the manual'
readme_block 1 | file readme
is "$(ringfence check "$scratch/readme" | unwrapped)" "$scratch/readme: fine: 8 limits, 1 allowed and 0 denied \
prefixes, newcomers aggregate" 'check accepts the rules of the README'
is "$(readme_block 2)" '' 'the README has no other block of rules'

does "apply accepts 'newcomers off' alone" \
	'applied: 0 limits, 0 allowed and 0 denied prefixes, newcomers off' \
	ringfence apply - <<<'newcomers off'
is "$(saved)" 'newcomers off' "apply of 'newcomers off' alone removes all rules"

# ---- windows ----

apply - <<-'END'
	limit add udp rate 10/1h match udp exact
	limit add tcp rate 20/1h match tcp exact
	limit add icmp rate 30/1h match icmp exact
END
deliver 0 src=192.0.2.1,count=60,proto=udp src=192.0.2.1,count=60,proto=tcp src=192.0.2.1,count=60,proto=icmp
is "$(came)" '192.0.2.1 60' 'a source passes up to each of three limits'
apply - <<-'END'
	limit add icmp rate 35/1h match icmp exact
	limit add gre rate 5/1h match proto 47 exact
	limit add tcp rate 20/2h match tcp exact
	deny add 203.0.113.0/24
	limit add udp rate 10/1h match udp exact
END
deliver 0 src=192.0.2.1,count=60,proto=udp
is "$(came)" '' 'a limit that stays keeps its windows over apply, whatever its line number'
deliver 0 src=192.0.2.1,count=60,proto=icmp
is "$(came)" '192.0.2.1 5' 'a limit whose COUNT changes keeps its windows over apply'
deliver 0 src=192.0.2.1,count=60,proto=tcp
is "$(came)" '192.0.2.1 20' 'a limit whose TIME changes gets new windows at apply'
is "$(stats 0 '.limits | sort_by(.name)[] | "\(.name) \(.passed) \(.dropped)"')" \
	$'gre 0 0\nicmp 35 85\ntcp 40 80\nudp 10 110' 'limits of the same name keep their counters over apply'

# ---- atomically, under traffic ----
#
# At any time one of two networks passes, and every packet is charged to one of two limits: in the
# rules a to the limit of its network, in the rules b to the other one. The two rulesets differ in
# lists, ports and `from`. The received frames therefore show how often the rules changed: a frame
# that was evaluated by a mixture of a and b would add two changes, or be charged to no limit or to
# both.

file a <<-'END'
	limit add first  rate 1M/1s match udp dport 1000 from 192.0.2.0/24
	limit add second rate 1M/1s match udp dport 2000 from 198.51.100.0/24
	limit add other  rate 1M/1s match udp dport 3000-3999
	allow add 10.0.0.0/24
	deny  add 10.0.1.0/24
END
file b <<-'END'
	limit add second rate 1M/1s match udp dport 1000 from 192.0.2.0/24
	limit add first  rate 1M/1s match udp dport 2000 from 198.51.100.0/24
	deny  add 10.0.0.0/24
	allow add 10.0.1.0/24
	allow add 10.1.0.0/16
END

has_ended() { # PID
	! kill -0 "$1" 2>/dev/null
}

frames=16000 # of each flow, in a round of 2.7 s
# switching FLOW FLOW: applies b and a in turn while these flows are sent, and adds up the results.
switching() {
	local sender receiver before turned one other

	rm -f "$scratch/receiver"
	start inside build/tests/traffic recv dev "${port[0]}" for 5m keep "$scratch/kept" \
		>"$scratch/received" 2>"$scratch/receiver"
	receiver=$started_pid
	eventually test -s "$scratch/receiver"
	before=$(counted 0)
	start outside taskset -c 0 build/tests/traffic send dev out0 to 02:00:00:00:00:02 \
		flow "$1,count=$frames,rate=6000" flow "$2,count=$frames,rate=6000" >"$scratch/sent"
	sender=$started_pid
	until has_ended "$sender"; do
		apply "$scratch/b" || fail "apply under traffic: $(<"$scratch/log")"
		apply "$scratch/a" || fail "apply under traffic: $(<"$scratch/log")"
		applied=$((applied + 2))
	done
	wait "$sender"
	unset "started[$sender]"
	eventually has_counted 0 $((before + 2 * frames))
	sleep 0.05
	stop TERM "$receiver"
	read -r _ turned _ one other _ < <(build/tests/traffic turns "$scratch/kept" frames $frames)
	turns=$((turns + turned)) sent_all=$((sent_all + 2 * frames))
	came_all=$((came_all + one + other))
}

# often FLOW FLOW: repeats until the rules have changed at least 50 times, and the frames have seen
# 50 changes. That takes a while where the kernel waits long for the programs to finish, or where the
# sender rarely runs.
often() {
	applied=0 turns=0 sent_all=0 came_all=0
	for _ in {1..20}; do
		switching "$@"
		[ "$applied" -lt 60 ] || [ "$turns" -lt 50 ] || break
	done
	check "rules were changed 50 times under traffic: $*" test "$applied" -ge 50
	echo "# rules were applied $applied times to $sent_all frames, of which $came_all passed"
}

apply "$scratch/a"
often src=10.0.0.1,dport=53 src=10.0.1.1,dport=53
check 'apply replaces all rules at once: no frame meets a mixture of two sets' \
	test "$turns" -le "$applied" -a "$turns" -ge 50
echo "# that is $turns turns"
is "$(stats 0 '.reasons | "\(.allowed.packets) \(.denied.packets) \(.no_limit.packets)"')" \
	"$came_all $((sent_all - came_all)) 0" 'each frame under changing lists is counted as allowed or denied'

sum_of_limits() {
	stats 0 '[.limits[] | select(.name == "first" or .name == "second") | .passed] | add'
}
before=$(sum_of_limits)
often src=192.0.2.1,dport=1000 src=198.51.100.1,dport=2000
is "$came_all" "$sent_all" 'no frame is dropped while two limits change places'
is "$(($(sum_of_limits) - before)) $(stats 0 .reasons.no_limit.packets)" "$sent_all 0" \
	'each frame is charged to exactly one of two limits that change places'

# ---- a command that is killed ----

for ((i = 0; i < 20000; i++)); do
	echo "10.$((i / 250)).$((i % 250)).0/24"
done >"$scratch/networks"
echo "deny load $scratch/networks" >>"$scratch/b"
cp "$scratch/b" "$scratch/networks-b"
apply "$scratch/a"
saved_a=$(saved | sort | cksum)
apply "$scratch/b"
saved_b=$(saved | sort | cksum)
begin=${EPOCHREALTIME/./}
apply "$scratch/b"
apply "$scratch/a"
apply "$scratch/b"
took_us=$(((${EPOCHREALTIME/./} - begin) / 2))
is_a=0 is_b=0 mixtures='' broken=''
for ((i = 1; i <= 30; i++)); do
	next=a wanted=$saved_a
	if [ $((i % 2)) = 0 ]; then
		next=b wanted=$saved_b
	fi
	start inside build/ringfence apply "$scratch/$next" >"$scratch/stdout" 2>&1
	sleep "$(printf '0.%06d' $((RANDOM % 32 * took_us / 32)))"
	stop KILL "$started_pid" 2>/dev/null
	case $(saved | sort | cksum) in
	"$saved_a") is_a=$((is_a + 1)) ;;
	"$saved_b") is_b=$((is_b + 1)) ;;
	*) mixtures+=" $i" ;;
	esac
	[ "$i" -gt 20 ] && continue # a few in a row without one that exits normally
	apply "$scratch/$next" || broken+=" $i: $(<"$scratch/log")"
	[ "$(saved | sort | cksum)" = "$wanted" ] || broken+=" $i: other rules"
done
is "$mixtures" '' 'an apply that was killed leaves the old rules or the new rules'
is "$broken" '' 'an apply after a killed apply succeeds'
echo "# after 30 of them, killed within ${took_us} us: a $is_a times, b $is_b times"
apply "$scratch/a"
deliver 0 src=10.0.0.1,count=50 src=10.0.1.1,count=50 src=10.0.2.1,count=50
is "$(came)" $'10.0.0.1 50\n10.0.2.1 50' 'the rules applied after killed applies hold'

# ---- unconfirmed rules ----

in_force() { # "PASSED": who of two passes
	deliver 0 src=10.0.0.1,count=20 src=10.0.1.1,count=20 src=10.9.0.1,count=20
	came | cut -d' ' -f1 | tr '\n' ' '
}

file a <<-'END'
	limit add any rate 1M/1s
	deny add 10.0.1.0/24
END
file b <<-'END'
	limit add any rate 1k/1s
	limit add new rate 10/1h match udp from 10.9.0.0/16 exact
	deny add 10.0.0.0/24
END
came_back() { # after unconfirmed rules: only by reading
	ringfence status | unwrapped | grep -q 'were not confirmed: the old rules returned'
}

apply "$scratch/a"
before=$(saved)
does 'apply … confirm says that the rules are unconfirmed' \
	"applied: 2 limits, 0 allowed and 1 denied prefixes, newcomers off; unconfirmed: reverted in \
1h unless 'ringfence confirm' runs" ringfence apply "$scratch/b" confirm 1h
left='(1h|[0-9]+m( [0-9]+s)?)' # of an hour: however busy the machine is, the trial lasts
matches "$(ringfence status | unwrapped | grep '^unconfirmed')" "unconfirmed: the old rules return in $left unless 'ringfence confirm' \
runs" 'apply … confirm returns early, and status shows that the rules are unconfirmed, and for how long'
is "$(in_force)" '10.0.1.1 10.9.0.1 ' 'while rules are unconfirmed the new rules hold'
unconfirmed_saved=$(saved)
busy="ringfence: rules are unconfirmed for another $left; 'ringfence confirm' confirms them, \
'ringfence revert' restores the old ones"
refusals=''
for words in 'limit add more rate 1/1s' 'limit set any rate 1/1s' 'limit del any' \
	'newcomers off' "apply $scratch/a" "apply $scratch/a confirm 5s"; do
	# shellcheck disable=SC2086
	out=$(ringfence $words 2>&1)
	[[ "$? $out" =~ ^1\ $busy$ ]] || refusals+="$words: $out"$'\n'
done
is "$refusals" '' 'while rules are unconfirmed every change of limits is refused'
is "$(saved)" "$unconfirmed_saved" 'a change that a trial refuses changes no rule'
confirmed=$(ringfence save confirmed | sed 1d)
is "$(sed 1d <<<"$confirmed")" "$before" 'while rules are unconfirmed save confirmed prints the rules that return'
matches "$(head -n 1 <<<"$confirmed")" \
	"# unconfirmed for another $left: these are the previous rules, which return without 'confirm'" \
	'while rules are unconfirmed save confirmed says which rules it prints'
ringfence revert >"$scratch/log"
is "$(saved)" "$before" 'revert ends a trial'

apply "$scratch/b" confirm 1s
check 'a trial ends without any process' eventually came_back
is "$(in_force)" '10.0.0.1 10.9.0.1 ' 'after a revert the old rules hold again, without any process'
is "$(saved)" "$before" 'after a revert save prints all the old rules'
is "$(ringfence save confirmed | sed '/^#/d')" "$before" 'after a revert save confirmed prints them, too'
is "$(ringfence status | unwrapped | grep -c 'were not confirmed: the old rules returned')" 1 \
	'status says that the rules unconfirmed were not confirmed'
matches "$(describe ringfence confirm)" $'exit 1\n\nstderr: ringfence: too late: the old rules returned '\
'[0-9]+ s ago; apply again' 'confirm after a revert is refused as too late'
does 'after a revert a rule can be added' '' ringfence deny add 10.9.0.0/16
is "$(in_force)" '10.0.0.1 ' 'a rule added after a revert holds beside the old rules'
apply "$scratch/a"

# confirmed_in_time SECONDS: unconfirmed rules with this deadline, a confirmation, and the wait
# until the deadline. On a busy machine the confirmation can be too late for a short one.
confirmed_in_time() {
	local ended=$((SECONDS + $1 + 1))

	apply "$scratch/b" confirm "$1s"
	describe ringfence confirm >"$scratch/confirmed"
	while [ "$SECONDS" -le "$ended" ]; do sleep 0.1; done
	! grep -q 'too late' "$scratch/confirmed"
}

confirmed_in_time 2 || confirmed_in_time 30 || confirmed_in_time 120
is "$(<"$scratch/confirmed")" $'exit 0\nconfirmed: the rules remain active\nstderr: ' 'confirm reports that the rules unconfirmed stay'
is "$(in_force)" '10.0.1.1 10.9.0.1 ' 'confirmed rules hold when the time of their trial is over'
is "$(saved | sort)" "$(sort <<<"$unconfirmed_saved")" 'after confirm save prints all the new rules'
fails 'a second confirm is refused: no rules are unconfirmed' \
	1 'ringfence: nothing to confirm: no rules are unconfirmed' ringfence confirm
apply "$scratch/a"
apply "$scratch/b" confirm 1h
is "$(ringfence confirm --json | command jq -c 'del(.schema)')" '{"confirmed":true,"was_late":false}' \
	'confirm --json reports a confirmation in time'

for set in old new; do
	for i in {1..20}; do
		echo "limit add $set$i rate 1k/1s match udp dport $i"
	done | file "$set"
done
apply "$scratch/old"
before=$(saved)
fails 'a trial whose old and new limits together exceed 32 is refused' \
	1 "ringfence: limit 'new13': no room for 'confirm': \
the old and the new limits together are more than 32; apply without it" \
	ringfence apply "$scratch/new" confirm 10s
is "$(saved)" "$before" 'an apply with confirm that is refused changes no rule'
does 'apply without confirm accepts the limits that did not fit unconfirmed' \
	'applied: 20 limits, 0 allowed and 0 denied prefixes, newcomers off' \
	ringfence apply "$scratch/new"

# In mid-flight: two sources are busy and hold credits; the old rules deny one, the new rules the
# other.
apply "$scratch/a"
start inside build/tests/traffic recv dev "${port[0]}" for 5m keep "$scratch/kept" \
	>"$scratch/received" 2>"$scratch/receiver"
receiver=$started_pid
eventually test -s "$scratch/receiver"
start outside taskset -c 0 build/tests/traffic send dev out0 to 02:00:00:00:00:02 \
	flow src=10.0.0.1,count=1000000,rate=2000 flow src=10.0.1.1,count=1000000,rate=2000 >"$scratch/sent"
eventually test -s "$scratch/kept"
sed 's/1k/1M/' "$scratch/b" >"$scratch/fast"
before_ns=$(build/tests/traffic clock)
apply "$scratch/fast" confirm 4s
after_ns=$(build/tests/traffic clock)
check 'a trial ends under traffic' eventually came_back
check 'the traffic goes on' eventually has_counted 0 $(($(counted 0) + 1000))
stop TERM "$started_pid"
stop TERM "$receiver"
read -r _ turns _ first second _ last_ns _ next_ns < <(build/tests/traffic turns "$scratch/kept")
echo "# $first and $second passed"
is "$turns" 2 'under traffic the rules change twice: when a trial begins and when it ends'
check 'under traffic a trial is over when its time is' test $((last_ns - after_ns)) -le 4000000000
check 'and not before' test $((next_ns - before_ns)) -ge 4000000000

# Windows and counters are as before when the old rules are back.
apply - <<<'limit add any rate 10/1h exact'
deliver 0 src=192.0.2.1,count=20
apply - confirm 1h <<<'limit add any rate 5/2h exact'
deliver 0 src=192.0.2.1,count=20
trial=$(came)
ringfence revert >"$scratch/log"
apply - confirm 1s <<<'limit add any rate 5/2h exact'
eventually came_back
deliver 0 src=192.0.2.1,count=20 src=192.0.2.2,count=20
is "$trial; $(came)" '192.0.2.1 5; 192.0.2.2 10' 'the old rules keep their windows over a trial'

# Unconfirmed rules whose command was killed while it activated them expire like any other.
apply "$scratch/a"
before=$(saved | sort)
wrong=''
for i in {1..6}; do
	start inside build/ringfence apply "$scratch/networks-b" confirm 1s >"$scratch/stdout" 2>&1
	sleep "$(printf '0.%06d' $((RANDOM % 32 * took_us / 32)))"
	stop KILL "$started_pid" 2>/dev/null
	sleep 1.1
	[ "$(saved | sort)" = "$before" ] || wrong+=" $i"
	ringfence allow add 203.0.113.1 2>"$scratch/log" || wrong+=" $i: $(<"$scratch/log")"
	ringfence allow del 203.0.113.1
done
is "$wrong" '' 'a trial whose apply was killed ends in time, and the next command works'
ringfence detach "${port[0]}" >"$scratch/log"

# ---- an unconfirmed attach ----

use "$shipped"

does 'attach … confirm says that the fence is unconfirmed' "${port[0]}: attached in native mode, fence '${port[0]}'
unconfirmed: everything passes in 1h unless 'ringfence confirm' runs" \
	ringfence attach "${port[0]}" confirm 1h
does 'a fence unconfirmed accepts an entry of a list' '' ringfence deny add 10.0.0.0/24
does 'a fence unconfirmed accepts a limit' "$(steady any)" \
	ringfence limit add any rate 5/1h ban 1h exact
deliver 0 src=10.0.0.1,count=20 src=10.0.1.1,count=20
is "$(came)" '10.0.1.1 5' 'a fence unconfirmed enforces its rules'
is "$(ringfence save confirmed | sed '/^#/d')" 'newcomers off' 'save confirmed prints no rule of a fence unconfirmed'
ringfence detach "${port[0]}" >"$scratch/log"

was_not_confirmed() {
	ringfence status | unwrapped | grep -q 'the attach was not confirmed'
}

ringfence attach "${port[0]}" confirm 1s >"$scratch/log"
eventually was_not_confirmed
ringfence deny add 10.0.0.0/24 2>"$scratch/log"
ringfence limit add any rate 5/1h ban 1h exact >"$scratch/log" 2>&1
forget_traffic
deliver 0 src=10.0.0.1,count=20 src=10.0.1.1,count=20
is "$(came) $(stats 0 .reasons.unconfirmed.packets)" $'10.0.0.1 20\n10.0.1.1 20 40' \
	'a fence whose trial ended passes everything and counts it as unconfirmed'
is "$(describe ringfence deny add 10.0.1.0/24)" "exit 0

stderr: ringfence: the attach was not confirmed, so everything passes; 'ringfence confirm' activates \
the rules" 'a change of a fence whose trial ended warns that everything passes'
does 'a late confirm of a fence reports that its rules are in force from now on' \
	'confirmed late: until now everything passed; from now on the rules are active' ringfence confirm
deliver 0 src=10.0.0.1,count=20 src=10.0.1.1,count=20 src=10.0.2.1,count=20
is "$(came)" '10.0.2.1 5' 'a fence that is confirmed late enforces its rules'
conserves 0 'sent = passed + dropped over a trial of a fence'
ringfence detach "${port[0]}" >"$scratch/log"
# As above, on a busy machine a short deadline can pass before the confirmation.
for seconds in 3 30 120; do
	ringfence attach "${port[0]}" confirm "${seconds}s" >"$scratch/log"
	ended=$((SECONDS + seconds + 1))
	describe ringfence confirm >"$scratch/confirmed"
	while [ "$SECONDS" -le "$ended" ]; do sleep 0.1; done
	grep -q late "$scratch/confirmed" || break
	ringfence detach "${port[0]}" >"$scratch/log"
done
is "$(<"$scratch/confirmed")" $'exit 0\nconfirmed: the rules remain active\nstderr: ' 'confirm in time keeps a fence unconfirmed'
ringfence deny add 10.0.0.0/24
deliver 0 src=10.0.0.1,count=20 src=10.0.1.1,count=20
is "$(came)" '10.0.1.1 20' 'a fence that was confirmed in time enforces its rules afterwards'

done_testing
