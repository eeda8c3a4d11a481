#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# `limit enforce` and `limit shadow`: what they change and what they preserve, also unconfirmed, and
# their output for a shadow whose sources an enforced limit has. `limit set`: its output.
#
#   outside                               inside
#   out0  ---------- wire 0 ----------->  ${port[0]}
#
# Limits have windows of an hour, so no test depends on speed.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

# "NAME shadow" or "NAME force" of each limit, on one line.
standing() {
	ringfence limit list --json |
		jq -r '[.limits[] | "\(.name) \(if .shadow then "shadow" else "force" end)"] | sort | join(", ")'
}

make_network 1
ringfence attach "${port[0]}" >"$scratch/log" || bail "cannot make a fence"

# ---- what changes ----

rules <<-'END'
	limit add dns rate 10/1h exact match udp dport 53 shadow
	limit add syn rate 5/1h exact match tcp syn shadow
	limit add net rate 100/1h per /24
END
deliver 0 src=192.0.2.1,dport=53,count=8
does 'limit enforce puts a shadow limit in force' "limit 'dns': shadow → enforced" ringfence limit enforce dns
is "$(standing)" 'dns force, net force, syn shadow' 'limit enforce changes no other limit'
deliver 0 src=192.0.2.1,dport=53,count=8
is "$(came)" '192.0.2.1 2' 'a limit that is enforced goes on with the windows of its shadow'
is "$(stats 0 '.limits[] | select(.name == "dns") | .passed')" 10 'a limit that is enforced goes on with its counters'
does 'limit enforce of a limit in force changes nothing' "limit 'dns': enforced already" ringfence limit enforce dns
does 'limit shadow lets a limit only count' "limit 'dns': enforced → shadow" ringfence limit shadow dns
deliver 0 src=192.0.2.1,dport=53,count=8
is "$(came)" '192.0.2.1 8' 'a limit that was made a shadow drops nothing'
does 'limit shadow takes several names' "limit 'syn': a shadow already
limit 'net': enforced → shadow" ringfence limit shadow syn net
is "$(standing)" 'dns shadow, net shadow, syn shadow' 'limit shadow of two limits changes both'
does 'limit enforce all enforces every limit' "limit 'dns': shadow → enforced
limit 'syn': shadow → enforced
limit 'net': shadow → enforced" ringfence limit enforce all
is "$(ringfence limit shadow net net dns --json | command jq -c 'del(.schema)')" '{"limits":[{"name":"dns","shadow":true,'\
'"changed":true},{"name":"net","shadow":true,"changed":true}],"warnings":[]}' 'limit shadow --json says what changed'

# ---- unconfirmed ----

is "$(standing)" 'dns shadow, net shadow, syn force' 'before that two limits are shadows'
does 'limit enforce … confirm puts limits unconfirmed' "limit 'dns': shadow → enforced
limit 'net': shadow → enforced
unconfirmed: reverted in 1h unless 'ringfence confirm' runs" ringfence limit enforce dns net confirm 1h
is "$(standing)" 'dns force, net force, syn force' 'limits unconfirmed are in force'
is "$(ringfence limit enforce syn 2>&1 | sed 's/another [0-9a-z ]*;/another TIME;/')" "ringfence: rules are unconfirmed for \
another TIME; 'ringfence confirm' confirms them, 'ringfence revert' restores the old ones" 'limits unconfirmed are not changed'
ringfence revert >"$scratch/log"
stand_as_before() {
	[ "$(standing)" = 'dns shadow, net shadow, syn force' ]
}
ringfence limit enforce dns net confirm 1s >"$scratch/log"
check 'after a revert without confirm the limits are shadows again' eventually stand_as_before
is "$(ringfence limit enforce dns confirm 1h --json | command jq -c 'del(.schema)')" \
	'{"limits":[{"name":"dns","shadow":false,"changed":true}],"unconfirmed_ms":3600000,"warnings":[]}' \
	'limit enforce … confirm --json has the trial'
ringfence confirm >"$scratch/log"
is "$(standing)" 'dns force, net shadow, syn force' 'a confirmed limit stays in force'

# ---- a limit and its exception ----

# warns NAME WARNING CMD…: the command succeeds, and writes exactly WARNING to stderr.
warns() {
	is "$(describe "${@:3}" | sed '1,/^stderr: /{/^stderr: /!d}')" "stderr: ringfence: $2" "$1"
}

exempts() { # SHADOW LIMIT
	echo "limit '$1' is a shadow, and exempts its sources from '$2' already: neither \
drops their packets until 'ringfence limit enforce $1'"
}

leaves() { # SHADOW LIMIT
	echo "limit '$1' is a shadow, and leaves its sources to '$2': until 'ringfence \
limit enforce $1', '$2' may drop what '$1' would pass"
}

# Sends the packets of a partner and of others; 20 packets of the partner's are more than 'dns'
# allows.
send_both() {
	deliver 0 src=192.0.2.9,dport=53,count=20 src=203.0.113.9,dport=53,count=20
}

would_drop() { # LIMIT
	stats 0 ".limits[] | select(.name == \"$1\") | .would_drop"
}

rules <<<'newcomers off' # removes the counters of limits of these names
rules <<-'END'
	limit add dns rate 10/1h exact match udp dport 53 shadow
	limit add partner rate 30/1h exact match udp dport 53 from 192.0.2.0/24 shadow
END
send_both
is "$(would_drop dns) $(would_drop partner)" '10 0' 'the shadow run of a pair counts the partner under its own limit'
warns 'limit enforce says that the exception is a shadow' "$(exempts partner dns)" ringfence limit enforce dns
send_both
is "$(came)" '192.0.2.9 20' 'a limit enforced before its exception drops nothing of the partner'
is "$(would_drop partner)" 10 'the exception counts what it would drop'
does 'limit enforce of the exception says nothing more' "limit 'partner': shadow → enforced" \
	ringfence limit enforce partner
send_both
is "$(came)" '' 'an exception that is enforced drops what its shadow run said, as the limit does'
rules <<-'END'
	limit add dns rate 10/1h exact match udp dport 53
	limit add partner rate 1k/1h exact match udp dport 53 from 192.0.2.0/24
END
send_both
warns 'limit shadow of an exception says what that means' "$(exempts partner dns)" \
	ringfence limit shadow partner
send_both
is "$(came)" '192.0.2.9 20' 'limit shadow of an exception leaves none of its sources to the wider limit'
is "$(ringfence limit shadow partner --json | command jq -c .warnings)" "[{\"shadow\":\"partner\",\"limit\":\"dns\",\
\"effect\":\"exempts\",\"text\":\"$(exempts partner dns)\"}]" 'limit shadow --json has the warning'
warns 'limit set says that a shadow leaves its sources to the wider limit' "$(leaves partner dns)" \
	ringfence limit set partner rate 1M/1h bytes exact match udp dport 53 from 192.0.2.0/24 shadow
send_both
is "$(came)" '192.0.2.9 10' 'a shadow in another unit takes no source from a limit in force'
warns 'limit add says it as well' "$(leaves desk dns)" ringfence limit add desk rate 100/100h exact \
	match udp dport 53 from 198.51.100.1 shadow
does 'limit add says nothing of a stricter shadow' '' ringfence limit add few rate 9/1h exact \
	match udp dport 53 from 198.51.100.2 shadow
rules <<-'END'
	limit add one rate 10/1h exact from 192.0.2.0/24 shadow
	limit add two rate 10/1h exact from 192.0.2.0/24 shadow
END
does 'limit enforce says nothing of a shadow with the same prefix' "limit 'one': shadow → enforced" \
	ringfence limit enforce one
rules <<-'END'
	limit add east rate 10/1h exact from 192.0.2.0/25,198.51.100.0/24 shadow
	limit add west rate 10/1h exact from 192.0.2.128/25,203.0.113.0/24 shadow
	limit add desk rate 10/1h exact from 192.0.2.200 shadow
END
does 'limit enforce says nothing of shadows whose sources are others' "limit 'east': shadow → enforced" \
	ringfence limit enforce east
warns 'limit enforce says which shadow has sources within those of the limit' "$(exempts desk west)" \
	ringfence limit enforce west
pair="limit add dns rate 10/1h
limit add partner rate 1k/1h from 192.0.2.0/24 shadow"
echo "$pair" >"$scratch/pair"
warns 'check of a file warns' "$(exempts partner dns)" ringfence check "$scratch/pair"
warns 'apply of a file warns' "$(exempts partner dns)" ringfence apply "$scratch/pair"
is "$(ringfence check "$scratch/pair" --json | jq -c '[.warnings[].effect]')" '["exempts"]' \
	'check --json has the warning'
is "$(ringfence apply "$scratch/pair" --json | jq -c '[.warnings[].effect]')" '["exempts"]' \
	'apply --json has the warning'

# ---- refusals ----

rules <<-'END'
	limit add login rate 5/1h ban 1h
	limit add any rate 5k/1h shadow
END
before=$(ringfence save | grep -v "^#")
fails 'limit shadow … confirm is wrong usage' 2 "ringfence: 'confirm': unexpected word; names of limits come \
here" ringfence limit shadow any confirm 5s
fails 'limit enforce of a missing limit is refused' 1 \
	"ringfence: limit 'dns': it does not exist; 'limit list' lists the limits" ringfence limit enforce any dns
fails 'limit shadow of a limit that bans is refused' 1 "ringfence: limit 'login': it bans, and a shadow \
limit bans no source; first run 'ringfence limit change login no ban'" ringfence limit shadow login
fails "'all' is refused beside names" 2 "ringfence: 'all': it means every limit; write it without names" \
	ringfence limit enforce all any
fails 'nor in a file of rules' 1 "ringfence: standard input:2: 'all': invalid name of a limit: it means every limit; \
choose another name, such as 'any'
ringfence: standard input: 1 error; no changes were made" bash -c "printf 'limit add any rate 5k/1h\nlimit add all rate \
5k/1h\n' | nsenter --net=/run/netns/rf-test-$$-inside build/ringfence apply -"
is "$(ringfence save | grep -v "^#")" "$before" 'a refused limit enforce or limit shadow changes nothing'
does "'all' enforces every limit, whatever their names" "limit 'login': enforced already
limit 'any': shadow → enforced" ringfence limit enforce all
fails 'a rule file has no limit enforce' 1 "ringfence: standard input:1: 'limit enforce': not a command of \
a rule file, which can have 'limit add', 'allow' and 'deny' with 'add' or 'load', 'newcomers' and 'fleet hosts'
ringfence: standard input: 1 error; no changes were made" \
	bash -c "echo 'limit enforce dns' | nsenter --net=/run/netns/rf-test-$$-inside build/ringfence apply -"
fails 'an old word in a rule file is named with its line' 1 "ringfence: standard input:2: 'limit arm': this command is \
now 'limit enforce'
ringfence: standard input: 1 error; no changes were made" bash -c "printf 'newcomers off\nlimit arm dns\n' | \
nsenter --net=/run/netns/rf-test-$$-inside build/ringfence apply -"
fails 'and in a batch' 1 "ringfence: standard input:2: 'limit arm': this command is now 'limit enforce'
ringfence: standard input: 1 error; no changes were made" bash -c "printf 'newcomers off\nlimit arm dns\n' | \
nsenter --net=/run/netns/rf-test-$$-inside build/ringfence batch -"
ringfence limit del any
ringfence limit del login
fails 'limit enforce all without a limit is refused' 1 "ringfence: no limits; 'limit add' makes one" \
	ringfence limit enforce all

# ---- output of limit set ----

rules <<-'END'
	limit add dns rate 500/1s match udp dport 53 from 198.51.100.0/24 shadow
END
does 'limit set names each part that a new definition changes, and the windows' "limit 'dns': rate \
500/1s → 1k/1m; dport 53 → any; from 198.51.100.0/24 → any; shadow → enforced; its windows start afresh" \
	ringfence limit set dns rate 1k/1m match udp
does 'limit set of the same definition says that nothing changed' "limit 'dns': nothing changed" \
	ringfence limit set dns rate 1k/1m match udp
does 'limit set says what another algorithm is' \
	"limit 'dns': algorithm sliding → token; ban none → 10m; its windows start afresh" \
	ringfence limit set dns rate 1k/1m match udp algorithm token ban 10m
is "$(ringfence limit set dns rate 1k/1m match udp per /24 algorithm token burst 7 --json | command jq -c 'del(.schema)')" \
	'{"limit":"dns","changes":[{"option":"per","before":"/32","after":"/24"},{"option":"burst",'\
'"before":"1k","after":"7"},{"option":"ban","before":"10m","after":"none"}],"windows_kept":false,'\
'"warnings":[]}' \
	'limit set --json names each part that changed'
ringfence limit set dns rate 1k/1m match udp from 192.0.2.1,192.0.2.2,192.0.2.3 >"$scratch/log"
does 'limit set says that other prefixes are named' "limit 'dns': from 3 prefixes → others" \
	ringfence limit set dns rate 1k/1m match udp from 192.0.2.1,192.0.2.2,192.0.2.4
ports=1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31,33,35,37,39,41,43,45
ringfence limit set dns rate 1k/1m match udp dport $ports,47 >"$scratch/log"
matches "$(ringfence limit set dns rate 1k/1m match udp dport $ports,49 | unwrapped)" \
	"limit 'dns': dport 1,3,5.*… → others" 'limit set says that other ports are named'
ringfence limit set dns rate 1k/1m match udp per /24 algorithm token burst 7 >"$scratch/log"

does 'limit set names a burst that another algorithm was given' \
	"limit 'dns': rate 1k/1m → 500/1m; algorithm token → leaky; burst 7 → 5; its windows start afresh" \
	ringfence limit set dns rate 500/1m match udp per /24 algorithm leaky burst 5
does 'limit set does not name the default burst of another algorithm' \
	"limit 'dns': algorithm leaky → sliding; burst 5 → none; its windows start afresh" \
	ringfence limit set dns rate 500/1m match udp per /24

# ---- what limit change preserves ----

# keeps NAME LINE WORD…: limit change dns WORD… succeeds, and LINE is then the limit.
keeps() {
	ringfence limit change dns "${@:3}" >"$scratch/log" || fail "limit change dns ${*:3}"
	is "$(ringfence limit list | grep '^limit add dns')" "limit add dns $2" "$1"
}

ringfence limit set dns rate 500/1m match udp dport 53 per /24 from 198.51.100.0/24,2001:db8::/32 cells 4 \
	edge coarse count rejected exact shadow >"$scratch/log"
does 'limit change says what it changed, and that the windows go on' "limit 'dns': rate 500/1m → 200/1m" \
	ringfence limit change dns rate 200/1m
keeps 'limit change keeps all that it does not name' "$(printf '%s' 'rate 200/1m cells 4 edge coarse match ' \
	'udp dport 53 from 198.51.100.0/24,2001:db8::/32 per /24 count rejected exact')" no shadow
keeps 'no takes parts away, each in its place' 'rate 200/1m match udp dport 53 per /24' \
	no cells no edge no count no exact no from
does 'limit change says that windows start afresh' \
	"limit 'dns': per /24 → /32; its windows start afresh" ringfence limit change dns no per
ringfence limit change dns rate 65534/1m >"$scratch/log"
does 'limit change says that windows start afresh at a step of COUNT' \
	"limit 'dns': rate 65534/1m → 65535/1m; its windows start afresh" ringfence limit change dns rate 65535/1m
does 'limit change between two steps keeps the windows' "limit 'dns': rate 65535/1m → 262139/1m" \
	ringfence limit change dns rate 262139/1m
is "$(ringfence save | sed 's/262139/262140/' | ringfence diff -)" \
	"~ limit 'dns': rate 262139/1m → 262140/1m; its windows start afresh" 'diff says it as well'
does 'limit set says it as well' "limit 'dns': rate 262139/1m → 262140/1m; its windows start afresh" \
	ringfence limit set dns rate 262140/1m match udp dport 53
is "$(ringfence save | grep -c '^limit add dns rate 262140/1m ')" 1 'save has COUNT as it was given'
keeps 'limit change takes many parts at once' 'rate 10mbit burst 8k' no match no dport \
	algorithm token rate 10mbit burst 8k
keeps 'limit change keeps the unit of a rate in bits' 'rate 200k/1s bytes burst 8k' rate 200k/1s
is "$(ringfence limit change dns rate 100k/1s confirm 1s --json | command jq -c .)" '{"schema":2,"limit":"dns","changes":'\
'[{"option":"rate","before":"200k/1s bytes","after":"100k/1s bytes"}],"windows_kept":true,'\
'"unconfirmed_ms":1000,"warnings":[]}' \
	'limit change … confirm --json has the change and the trial'
old_rate() {
	ringfence limit list | grep -q 'rate 200k/1s'
}
check 'once reverted a changed limit is as before' eventually old_rate
fails 'limit change of a part that the rest of the limit excludes is refused' 2 "ringfence: 'burst': \
'algorithm sliding' does not accept it; only token and leaky have a burst; \
unnamed parts remain unchanged, 'no PART' removes one" ringfence limit change dns algorithm sliding
fails 'limit change of a missing limit is refused' 1 "ringfence: limit 'none': it does not exist; 'limit list' \
lists the limits, 'limit add' makes one" ringfence limit change none rate 1/1s
ringfence limit set dns rate 1k/1m match udp per /24 algorithm token burst 7 >"$scratch/log"

# ---- unconfirmed changes ----

before=$(standing)
does 'limit add … confirm puts the new limit unconfirmed' "unconfirmed: reverted in 1h unless 'ringfence confirm' runs" \
	ringfence limit add new rate 3/1h exact confirm 1h
is "$(standing)" 'dns force, new force' 'a limit unconfirmed is in force'
ringfence revert >"$scratch/log"
stand_as_before() {
	[ "$(standing)" = "$before" ]
}
ringfence limit add new rate 3/1h exact confirm 1s >"$scratch/log"
check 'once reverted a new limit is gone' eventually stand_as_before
is "$(ringfence limit set dns rate 9/1h match udp per /24 algorithm token burst 7 confirm 2s --json |
	command jq -c 'del(.schema)')" '{"limit":"dns","changes":[{"option":"rate","before":"1k/1m","after":"9/1h"}],'\
'"windows_kept":false,"unconfirmed_ms":2000,"warnings":[]}' 'limit set … confirm --json has the trial'
old_rate() {
	ringfence limit list | grep -q 'rate 1k/1m'
}
check 'once reverted a limit has its old definition' eventually old_rate
does 'limit del … confirm puts the deletion unconfirmed' "unconfirmed: reverted in 1h unless 'ringfence confirm' runs" \
	ringfence limit del dns confirm 1h
is "$(standing)" '' 'a limit whose deletion is unconfirmed is gone'
ringfence revert >"$scratch/log"
ringfence limit del dns confirm 1s >"$scratch/log"
check 'once reverted a deleted limit is back' eventually stand_as_before
ringfence limit del dns confirm 1h >"$scratch/log"
does 'revert takes back unconfirmed rules' 'reverted: the previous rules are active' ringfence revert
is "$(standing)" "$before" 'the unconfirmed limit is gone at once'
fails 'a trial is taken back once' 1 'ringfence: nothing to revert: no rules are unconfirmed' ringfence revert
fails 'a rule file has no limit add … confirm' 1 "ringfence: standard input:1: 'confirm': it is not for a \
rule file; write 'ringfence apply FILE confirm TIME'
ringfence: standard input: 1 error; no changes were made" \
	bash -c "echo 'limit add a rate 1/1s confirm 2s' | nsenter --net=/run/netns/rf-test-$$-inside \
		build/ringfence apply -"

# ---- the order of limits ----

# A new limit takes the place of a deleted one, and is still the last.
rules <<-'END'
	limit add gone rate 10/1h shadow
	limit add second rate 20/1h shadow
	limit add third rate 30/1h shadow
END
{ ringfence limit del gone && ringfence limit add last rate 40/1h shadow; } >"$scratch/log"
deliver 0 src=192.0.2.1,count=1
named() { # COMMAND…: the limits in the order in which they are printed
	ringfence "$@" | grep -oE "\\<(second|third|last)\\>" | uniq | xargs
}
for words in save 'limit list' status 'status --json' stats 'stats --json' 'limit enforce all' \
	'limit shadow last third second' 'limit enforce all --json'; do
	# shellcheck disable=SC2086 # words
	is "$(named $words)" 'second third last' "$words has the limits in the order in which they were given"
done
is "$(ringfence show 192.0.2.1 --json | jq -c '[.limits[].limit]')" '["second","third","last"]' \
	'show has the limits in the order in which they were given'

done_testing
