#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The allow and deny lists: what they do to frames, beside limits and each other; entries that end
# by themselves; a hundred thousand of them.
#
#   outside                               inside
#   out0  ---------- wire 0 ----------->  ${port[0]}
#
# What must stay over its limit has a window of an hour, so that no speed is asked for.

# shellcheck disable=SC2317 # functions are called by fails, does and the like
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

# "SOURCE PACKETS" of what came out.
came() {
	cut -d' ' -f1,2 <<<"$received"
}

rules() {
	ringfence apply - >"$scratch/log" 2>&1 || bail "cannot apply: $(<"$scratch/log")"
}

reason() {
	stats 0 ".reasons.$1.packets"
}

make_network 1
ringfence attach "${port[0]}" >"$scratch/log" || bail "cannot make a fence"

# ---- what they do ----

does 'nothing is allowed' 'the allow list is empty' ringfence allow list
does 'and nothing denied' 'the deny list is empty' ringfence deny list
does 'a network is denied, without any limit' '' ringfence deny add 203.0.113.0/24
deliver 0 src=203.0.113.1,count=60 src=192.0.2.1,count=60
is "$(came)" '192.0.2.1 60' 'and dropped, and no other'
ringfence limit add all rate 10/1h exact
does 'a network is allowed' '' ringfence allow add 192.0.2.0/24
does 'one source of it is denied' '' ringfence deny add 192.0.2.66
does 'a /48 of IPv6 is denied' '' ringfence deny add 2001:db8:bad::/48
does 'a /64 of it is allowed' '' ringfence allow add 2001:db8:bad:1::/64
does 'one address in a /64 is denied' '' ringfence deny add 2001:db8:0:9::66
deliver 0 src=192.0.2.1,count=60 src=192.0.2.66,count=60 src=203.0.113.5,count=60 \
	src=198.51.100.1,count=60 src=2001:db8:bad:2::1,count=60 src=2001:db8:bad:1::1,count=60 \
	src=2001:db8:0:9::66,count=60 src=2001:db8:0:9::67,count=60
is "$(came)" '192.0.2.1 60
192.0.2.66 60
198.51.100.1 10
2001:db8:0:9::67 10
2001:db8:bad:1::1 60' 'allow goes before deny, and both before limits'
is "$(reason allowed) $(reason denied)" '180 240' 'each is counted by its reason'
conserves 0 'sent = passed + dropped'
is "$(ringfence show 192.0.2.1 --json | jq -c '[.allowed, .denied, .limits[0].used]')" \
	'[{"left_ms":null},null,0]' 'what is allowed is charged to no limit'
does 'the list is in order' '192.0.2.66
203.0.113.0/24
2001:db8:0:9::66
2001:db8:bad::/48' ringfence deny list
is "$(ringfence allow list --json | jq -c .)" '{"list":"allow","prefixes":[{"prefix":"192.0.2.0/24",'\
'"left_ms":null},{"prefix":"2001:db8:bad:1::/64","left_ms":null}]}' 'allow list --json'
is "$(ringfence status | grep '^lists')" 'lists: 2 prefixes allowed, 4 denied' 'status counts them'
does 'adding one twice is no error' '' ringfence deny add 203.0.113.0/24
is "$(ringfence deny list | wc -l)" 4 'and does not add it twice'

fails 'what was not added cannot be taken off' 1 "ringfence: '203.0.113.5': not on the deny list; \
'deny list' shows its prefixes as they were added" ringfence deny del 203.0.113.5
does 'one is taken off the deny list' '' ringfence deny del 203.0.113.0/24
does 'and one off the other' '' ringfence allow del 192.0.2.0/24
deliver 0 src=203.0.113.5,count=60 src=192.0.2.1,count=60 src=192.0.2.66,count=60
is "$(came)" $'192.0.2.1 10\n203.0.113.5 10' 'then they are limited, and what is denied in there is dropped'

rules <<-'END'
	deny add 10.0.0.0/8
	allow add 10.1.0.0/16
	deny add 10.1.1.0/24
	deny add 0.0.0.0/1
	deny add ::/0
END
deliver 0 src=10.0.0.1,count=9 src=10.1.0.1,count=9 src=10.1.1.1,count=9 src=11.0.0.1,count=9 \
	src=192.0.2.1,count=9 src=2001:db8::1,count=9
is "$(came)" $'10.1.0.1 9\n10.1.1.1 9\n192.0.2.1 9' 'networks within each other: an allowed one wins at any length'

# ---- sources that hold leases ----

rules <<-'END'
	limit add busy rate 100k/1h
END
deliver 0 src=192.0.2.1,count=5000
is "$(came)" '192.0.2.1 5000' 'a source is busy, on credits'
ringfence deny add 192.0.2.1
deliver 0 src=192.0.2.1,count=100
is "$(came)" '' 'denied, not one of its packets passes any more'
ringfence deny del 192.0.2.1
deliver 0 src=192.0.2.1,count=100
is "$(came)" '192.0.2.1 100' 'taken off, each of them does'
ringfence limit set busy rate 10/1h
deliver 0 src=192.0.2.1,count=100
is "$(came)" '' 'over a limit it is refused'
ringfence allow add 192.0.2.1
deliver 0 src=192.0.2.1,count=100
is "$(came)" '192.0.2.1 100' 'allowed, each passes'
ringfence allow del 192.0.2.1
deliver 0 src=192.0.2.1,count=100
is "$(came)" '' 'and no more, taken off'

# ---- entries that end ----

# within COUNT LEAST MOST NAME
between() {
	check "$4" test "${1:-0}" -ge "$2" -a "${1:-0}" -le "$3"
	echo "# $1 packets, of which $2-$3 are expected"
}

rules <<-'END'
	limit add busy rate 100k/1h
END
before=$(reason denied)
does 'a source is denied for 2 s' '' ringfence deny add 192.0.2.7 for 2s
matches "$(ringfence deny list)" '192.0.2.7 for another [12]s' 'the list says for how long'
deliver 0 src=192.0.2.7,count=4000,rate=1000
between "$(sum "$received" | cut -d' ' -f1)" 1500 2600 'it passes again when they are over, in mid-flight'
is "$(($(reason denied) - before + $(sum "$received" | cut -d' ' -f1)))" 4000 'all others were denied'
does 'and it is on no list any more' 'the deny list is empty' ringfence deny list
ringfence limit set busy rate 10/1h
does 'a source is allowed for 2 s' '' ringfence allow add 192.0.2.7 for 2s
deliver 0 src=192.0.2.7,count=4000,rate=1000
between "$(sum "$received" | cut -d' ' -f1)" 1200 2010 'when they are over, its limit holds again'
does 'nor is it on that list' 'the allow list is empty' ringfence allow list
conserves 0 'of all that was ever sent: sent = passed + dropped'
ringfence deny add 192.0.2.8 for 1h
ringfence deny add 192.0.2.8 for 2h
is "$(ringfence deny list --json | jq -c '[.prefixes[] | .left_ms > 7190000 and .left_ms <= 7200000]')" \
	'[true]' 'added again, it has the new time'
ringfence deny add 192.0.2.8
does 'or none' '192.0.2.8' ringfence deny list

# ---- many ----

rules <<<'limit add all rate 10/1h exact'
awk 'BEGIN { for (i = 0; i < 99999; i++) printf "10.%d.%d.%d\n", i / 40000, i / 200 % 200, i % 200
	print "2001:db8:66::/48" }' >"$scratch/many"
out=$(ringfence deny load "$scratch/many" 2>"$scratch/stderr")
matches "$out" 'deny: 100000 prefixes loaded in [0-9.]+ s; 100000 are on the list' '100,000 prefixes are loaded'
echo "# $out"
is "$(<"$scratch/stderr")" '' 'without a bar of progress, where no terminal is'
is "$(ringfence deny list | wc -l) $(ringfence deny list --json | jq '.prefixes | length')" \
	'100000 100000' 'and listed'
deliver 0 src=10.0.0.0,count=20 src=10.1.199.199,count=20 src=10.2.99.198,count=20 \
	src=10.2.99.199,count=20 src=10.0.0.200,count=20 src=2001:db8:66:1::1,count=20 \
	src=2001:db8:67::1,count=20
is "$(came)" $'10.0.0.200 10\n10.2.99.199 10\n2001:db8:67::1 10' \
	'each of them is denied, and none beside them'
does 'one is taken off' '' ringfence deny del 10.1.199.199
deliver 0 src=10.1.199.199,count=20 src=10.1.199.198,count=20
is "$(came)" '10.1.199.199 10' 'and passes again, that one'
is "$(ringfence deny load --json "$scratch/many" | jq -c '[.list, .loaded, .prefixes]')" \
	'["deny",100000,100000]' 'deny load --json, over those that are there'
echo '192.0.2.0/28 # from standard input' | ringfence deny load - >"$scratch/stdout"
is "$(ringfence deny list | tail -n 2)" $'192.0.2.0/28\n2001:db8:66::/48' 'a file may be standard input'
if command -v script >/dev/null; then
	script -qec "nsenter --net=/run/netns/rf-test-$$-inside build/ringfence allow load $scratch/many" \
		/dev/null >"$scratch/typescript" </dev/null
	check 'on a terminal there is a bar of progress' grep -q $'\r\\[#* *\\] [0-9]* of 100000 prefixes' "$scratch/typescript"
else
	pass 'on a terminal there is a bar of progress # SKIP script(1) is not installed'
fi

before=$(ringfence save | sed 1d | cksum)
printf '192.0.2.1\n\n# a comment\n192.0.2.300\n' >"$scratch/bad"
fails 'a wrong prefix is told by its line' 1 "ringfence: $scratch/bad:4: '192.0.2.300': invalid \
prefix; write it like 192.0.2.0/24 or 2001:db8::/32" ringfence deny load "$scratch/bad"
echo '192.0.2.1 for 5m' >"$scratch/bad"
fails 'a file of prefixes has nothing else' 1 "ringfence: $scratch/bad:1: 'for': unexpected word" \
	ringfence allow load "$scratch/bad"
echo '# none' >"$scratch/bad"
fails 'an empty file is a slip' 1 "ringfence: $scratch/bad: no prefix is in the file" \
	ringfence deny load "$scratch/bad"
head -c 100 /dev/zero >"$scratch/bad"
fails 'so is one that is no text' 1 "ringfence: $scratch/bad: not a text file: it has a zero byte" \
	ringfence deny load "$scratch/bad"
is "$(ringfence save | sed 1d | cksum)" "$before" 'none of that has changed anything'

done_testing
