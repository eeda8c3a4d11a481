#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The allow and deny lists: their effect on frames, together with limits and on each other; entries
# that expire automatically; a hundred thousand entries.
#
#   outside                               inside
#   out0  ---------- wire 0 ----------->  ${port[0]}
#
# Limits that must remain exceeded have a window of an hour, so no test depends on speed.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

reason() {
	stats 0 ".reasons.$1.packets"
}

loads() { # LIST FILE
	ringfence "$1" load "$2" >"$scratch/log"
}

make_network 1
ringfence attach "${port[0]}" >"$scratch/log" || bail "cannot make a fence"

# ---- effects ----

does 'allow list of a new fence is empty' 'the allow list is empty' ringfence allow list
does 'deny list of a new fence is empty' 'the deny list is empty' ringfence deny list
does 'deny add of a network works without any limit' '' ringfence deny add 203.0.113.0/24
deliver 0 src=203.0.113.1,count=60 src=192.0.2.1,count=60
is "$(came)" '192.0.2.1 60' 'a denied source is dropped, and no other'
ringfence limit add any rate 10/1h exact
does 'allow add of a network works' '' ringfence allow add 192.0.2.0/24
does 'deny add of an address in an allowed network works' '' ringfence deny add 192.0.2.66
does 'deny add of an IPv6 /48 works' '' ringfence deny add 2001:db8:bad::/48
does 'allow add of a /64 in a denied /48 works' '' ringfence allow add 2001:db8:bad:1::/64
does 'deny add of one address in a /64 works' '' ringfence deny add 2001:db8:0:9::66
deliver 0 src=192.0.2.1,count=60 src=192.0.2.66,count=60 src=203.0.113.5,count=60 \
	src=198.51.100.1,count=60 src=2001:db8:bad:2::1,count=60 src=2001:db8:bad:1::1,count=60 \
	src=2001:db8:0:9::66,count=60 src=2001:db8:0:9::67,count=60
is "$(came)" '192.0.2.1 60
192.0.2.66 60
198.51.100.1 10
2001:db8:0:9::67 10
2001:db8:bad:1::1 60' 'allow goes before deny, and both go before limits'
is "$(reason allowed) $(reason denied)" '180 240' 'packets are counted as allowed and as denied'
conserves 0 'sent = passed + dropped with lists and a limit'
is "$(ringfence show 192.0.2.1 --json | command jq -c '[.allowed, .denied, .limits[0].used]')" \
	'[{"prefix":"192.0.2.0/24","left_ms":null},null,0]' 'an allowed source is charged to no limit'
does 'deny list prints prefixes in order' '192.0.2.66
203.0.113.0/24
2001:db8:0:9::66
2001:db8:bad::/48' ringfence deny list
by='"left_ms":null,"owners":[{"by":"manual","left_ms":null}]'
is "$(ringfence allow list --json | command jq -c 'del(.schema)')" \
	"{\"list\":\"allow\",\"prefixes\":[{\"prefix\":\"192.0.2.0/24\",$by},{\"prefix\":\"2001:db8:bad:1::/64\",$by}]}" \
	'allow list --json has each prefix and its time'
is "$(ringfence status | unwrapped | grep '^lists')" 'lists: 2 prefixes allowed, 4 denied' \
	'status counts allowed and denied prefixes'
does 'deny add of a prefix on the list succeeds' '' ringfence deny add 203.0.113.0/24
is "$(ringfence deny list | wc -l)" 4 'deny add of a prefix on the list does not add it twice'

fails 'deny del of a prefix that is not on the list is refused' \
	1 "ringfence: '203.0.113.5': not on the deny list; \
'deny list' shows its prefixes as they were added" ringfence deny del 203.0.113.5
does 'deny del of a network works' '' ringfence deny del 203.0.113.0/24
does 'allow del of a network works' '' ringfence allow del 192.0.2.0/24
deliver 0 src=203.0.113.5,count=60 src=192.0.2.1,count=60 src=192.0.2.66,count=60
is "$(came)" $'192.0.2.1 10\n203.0.113.5 10' \
	'sources taken off the lists are limited, and a denied address among them is dropped'

rules <<-'END'
	deny add 10.0.0.0/8
	allow add 10.1.0.0/16
	deny add 10.1.1.0/24
	deny add 0.0.0.0/1
	deny add ::/0
END
deliver 0 src=10.0.0.1,count=9 src=10.1.0.1,count=9 src=10.1.1.1,count=9 src=11.0.0.1,count=9 \
	src=192.0.2.1,count=9 src=2001:db8::1,count=9
is "$(came)" $'10.1.0.1 9\n10.1.1.1 9\n192.0.2.1 9' 'of nested networks an allowed one wins at any length'

# ---- sources that hold leases ----

rules <<-'END'
	limit add busy rate 60k/1h
END
deliver 0 src=192.0.2.1,count=5000
is "$(came)" '192.0.2.1 5000' 'a source under its limit passes every packet before it is denied'
ringfence deny add 192.0.2.1
deliver 0 src=192.0.2.1,count=100
is "$(came)" '' 'a busy source that is denied passes no packet'
ringfence deny del 192.0.2.1
deliver 0 src=192.0.2.1,count=100
is "$(came)" '192.0.2.1 100' 'a busy source that is taken off the deny list passes every packet'
ringfence limit set busy rate 10/1h
deliver 0 src=192.0.2.1,count=100
is "$(came)" '' 'a busy source over a lowered limit passes no packet'
ringfence allow add 192.0.2.1
deliver 0 src=192.0.2.1,count=100
is "$(came)" '192.0.2.1 100' 'a source over its limit that is allowed passes every packet'
ringfence allow del 192.0.2.1
deliver 0 src=192.0.2.1,count=100
is "$(came)" '' 'a source over its limit that is taken off the allow list passes no packet'

# ---- expiring entries ----

# Sends frames while an entry for 2 s exists, and 100 when it has expired. Prints the number sent.
send_beyond() { # LIST
	local frames=(outside build/tests/traffic send dev out0 to 02:00:00:00:00:02 flow "src=192.0.2.7,count=100")

	ringfence "$1" add 192.0.2.7 for 2s >"$scratch/log"
	until [ "$(ringfence "$1" list)" = "the $1 list is empty" ]; do
		"${frames[@]}"
	done
	"${frames[@]}"
}

under=0 # the frames that were counted under the entry
deliver_beyond() { # LIST REASON: again, where the machine was so slow that no frame came in time
	local before

	for _ in {1..5}; do
		before=$(reason "$2")
		observe 0 '' send_beyond "$1"
		under=$(($(reason "$2") - before))
		[ $under = 0 ] || break
	done
	check "$1 add for 2s works on frames" test $under -gt 0
}

rules <<-'END'
	limit add busy rate 60k/1h
END
does 'deny add for a time works' '' ringfence deny add 192.0.2.9 for 1h
matches "$(ringfence deny list)" '192.0.2.9 for another (1h|[1-5]?[0-9]m( [0-9]+s)?)' \
	'deny list prints the time that an entry has left'
ringfence deny del 192.0.2.9
deliver_beyond deny denied
is "$(sum "$received" | cut -d' ' -f1)" $(($(sum "$sent" | cut -d' ' -f1) - under)) \
	'a source denied for 2 s has each dropped packet counted as denied, and passes all others'
check 'a source denied for 2 s passes once the list is empty, under traffic' \
	test "$(sum "$received" | cut -d' ' -f1)" -ge 100
ringfence limit set busy rate 10/1h
deliver_beyond allow allowed
is "$(sum "$received" | cut -d' ' -f1)" "$under" \
	'a source allowed for 2 s is limited once the list is empty, under traffic'
conserves 0 'sent = passed + dropped over all entries that ended'
ringfence deny add 192.0.2.8 for 1h
ringfence deny add 192.0.2.8 for 2h
is "$(ringfence deny list --json | jq -c '[.prefixes[] | .left_ms > 3600000 and .left_ms <= 7200000]')" \
	'[true]' 'deny add of an entry with another time replaces its time'
ringfence deny add 192.0.2.8
does 'deny add of an entry without a time removes its time' '192.0.2.8' ringfence deny list

# ---- many ----

rules <<<'limit add any rate 10/1h exact'
awk 'BEGIN { for (i = 0; i < 99999; i++) printf "10.%d.%d.%d\n", i / 40000, i / 200 % 200, i % 200
	print "2001:db8:66::/48" }' >"$scratch/many"
out=$(ringfence deny load "$scratch/many" 2>"$scratch/stderr")
matches "$out" 'deny: 100000 prefixes loaded in [0-9.]+ s; 100000 are on the list' \
	'deny load of 100,000 prefixes works'
echo "# $out"
is "$(<"$scratch/stderr")" '' 'deny load prints no progress bar without a terminal'
is "$(ringfence deny list | wc -l) $(ringfence deny list --json | jq '.prefixes | length')" \
	'100000 100000' 'deny list prints 100,000 prefixes'
deliver 0 src=10.0.0.0,count=20 src=10.1.199.199,count=20 src=10.2.99.198,count=20 \
	src=10.2.99.199,count=20 src=10.0.0.200,count=20 src=2001:db8:66:1::1,count=20 \
	src=2001:db8:67::1,count=20
is "$(came)" $'10.0.0.200 10\n10.2.99.199 10\n2001:db8:67::1 10' \
	'100,000 loaded prefixes are denied, and no other source'
does 'deny del of one of 100,000 prefixes works' '' ringfence deny del 10.1.199.199
deliver 0 src=10.1.199.199,count=20 src=10.1.199.198,count=20
is "$(came)" '10.1.199.199 10' 'one of 100,000 prefixes that is taken off passes again, and no other'
is "$(ringfence deny load --json "$scratch/many" | jq -c '[.list, .loaded, .prefixes]')" \
	'["deny",100000,100000]' 'deny load --json of prefixes on the list counts them'
echo '192.0.2.0/28 # from standard input' | ringfence deny load - >"$scratch/stdout"
is "$(ringfence deny list | tail -n 2)" $'192.0.2.0/28 by load\n2001:db8:66::/48 by load' 'deny load reads standard input'
if command -v script >/dev/null; then
	script -qec "nsenter --net=/run/netns/rf-test-$$-inside build/ringfence allow load $scratch/many" \
		/dev/null >"$scratch/typescript" </dev/null
	check 'allow load prints a progress bar on a terminal' \
		grep -q $'\r\\[#* *\\] [0-9]* of 100000 prefixes' "$scratch/typescript"
else
	pass 'allow load prints a progress bar on a terminal # SKIP script(1) is not installed'
fi

# ---- a list as a whole ----

printf '192.0.2.1\n192.0.2.0/28\n2001:db8::/32\n192.0.2.1\n' >"$scratch/few"
matches "$(ringfence deny load "$scratch/few" replace)" \
	'deny: 4 prefixes loaded in [0-9.]+ s; 3 are on the list' 'deny load replace works'
is "$(ringfence deny list | tr '\n' ' ')" '192.0.2.0/28 by load 192.0.2.1 by load 2001:db8::/32 by load ' \
	'after deny load replace the list is the file'
is "$(ringfence deny load --json "$scratch/few" replace | jq -c '[.loaded, .prefixes]')" '[4,3]' \
	'deny load replace --json counts what is on the list'
before=$(ringfence deny list)
printf '192.0.2.7\n192.0.2.300\n' >"$scratch/bad"
ringfence deny load "$scratch/bad" replace 2>"$scratch/log"
is "$(ringfence deny list)" "$before" 'deny load replace of a file with an error changes nothing'
ringfence deny load - replace </dev/null 2>"$scratch/log"
is "$(ringfence deny list)" "$before" 'deny load replace of nothing changes nothing'
allowed=$(ringfence allow list | cksum)
does 'deny flush works' '' ringfence deny flush
does 'deny flush empties the list' 'the deny list is empty' ringfence deny list
does 'deny flush of an empty list works' '' ringfence deny flush
is "$(ringfence allow list | cksum)" "$allowed" 'deny flush leaves the allow list'
deliver 0 src=192.0.2.2,count=20
is "$(came)" '192.0.2.2 10' 'a source passes after deny flush'
does 'allow flush works' '' ringfence allow flush
does 'allow flush empties the list' 'the allow list is empty' ringfence allow list

# ---- unconfirmed ----

# Lists belong to both sides: entries added to the unconfirmed rules are also in the previous ones.
came_back() {
	ringfence status | grep -q 'were not confirmed'
}

lasts=1h
for end in confirm fallback; do
	began=$SECONDS
	rules <<-'END'
		limit add any rate 10/1h exact
		deny add 10.1.0.0/16
		allow add 10.1.1.0/24
	END
	ringfence apply - confirm "$lasts" >"$scratch/log" <<-'END'
		limit add any rate 500/1h exact
		deny add 10.2.0.0/16
	END
	does "unconfirmed deny add works ($end)" '' ringfence deny add 10.3.0.1
	does "unconfirmed deny add for a time works ($end)" '' ringfence deny add 10.3.0.2 for 1h
	does "unconfirmed deny del works ($end)" '' ringfence deny del 10.2.0.0/16
	does "unconfirmed allow flush works ($end)" '' ringfence allow flush
	echo 10.3.1.0/24 >"$scratch/few"
	check "unconfirmed deny load works ($end)" loads deny "$scratch/few"
	is "$(ringfence deny list | sed 's/ [0-9hms ]*$//' | tr '\n' ' ')" \
		'10.3.0.1 10.3.0.2 for another 10.3.1.0/24 by load ' "unconfirmed deny list is true ($end)"
	is "$(ringfence save | grep -c '^deny')" 3 "unconfirmed save is true ($end)"
	if [ $end = confirm ]; then
		ringfence confirm >"$scratch/log"
		wanted='10.3.0.1 10.3.0.2 10.3.1.0/24 by load '
	else
		eventually came_back
		wanted='10.1.0.0/16 10.3.0.1 10.3.0.2 10.3.1.0/24 by load '
	fi
	is "$(ringfence deny list | sed 's/ for.*//' | tr '\n' ' ')" "$wanted" \
		"after a revert the list has what was changed meanwhile ($end)"
	is "$(ringfence allow list)" 'the allow list is empty' \
		"after a revert the list lacks what was taken off ($end)"
	deliver 0 src=10.3.0.1,count=20 src=10.3.0.2,count=20 src=10.3.1.9,count=20
	is "$(came)" '' "after a revert the changed list is in force ($end)"
	ringfence deny del 10.3.0.2
	lasts=$((10 + 5 * (SECONDS - began)))s # longer than the second round takes
done
rules <<-'END'
	limit add any rate 10/1h exact
	deny add 192.0.2.0/28
END

# ---- files as they are published ----

printf '%s\n' '; Example DROP List' '203.0.113.0/24 ; SBL000001' $'203.0.114.7\t12' '::ffff:203.0.115.9' \
	'203.0.116.5/24' >"$scratch/published"
notes="ringfence: $scratch/published: 1 prefix with host bits set; read as the network
ringfence: $scratch/published: 1 prefix in IPv4-mapped form; read as IPv4"
ringfence deny flush
check 'deny load reads a list as it is published' loads deny "$scratch/published"
is "$(ringfence deny load "$scratch/published" replace 2>&1 >"$scratch/log")" "$notes" \
	'and says what is not as it is written'
is "$(ringfence deny list | sed 's/ by load//' | xargs)" '203.0.113.0/24 203.0.114.7 203.0.115.9 203.0.116.0/24' \
	'the list has what was meant'
deliver 0 src=203.0.113.5,count=5 src=203.0.114.7,count=5 src=203.0.115.9,count=5 src=203.0.116.200,count=5
is "$(came)" '' 'and all of it is in force'
is "$(ringfence allow add ::ffff:203.0.113.5 2>&1)" \
	"ringfence: '::ffff:203.0.113.5': IPv4-mapped; read as 203.0.113.5" \
	'allow add reads an IPv4-mapped address as IPv4, and says so'
deliver 0 src=203.0.113.5,count=5
is "$(came)" '203.0.113.5 5' 'and it matches'
is "$(ringfence limit add mapped rate 5/1h from ::ffff:203.0.117.0/120 2>&1)" \
	'ringfence: from: 1 prefix in IPv4-mapped form; read as IPv4' 'limit add says so as well'
matches "$(ringfence limit list | unwrapped)" '.*mapped.*from 203\.0\.117\.0/24.*' 'and has it as IPv4'

echo 203.0.118.0/33 >>"$scratch/published"
echo 203.0.119.0/24 >>"$scratch/published"
is "$(ringfence deny load "$scratch/published" replace skip-invalid 2>&1 >"$scratch/log" || echo "exit $?")" \
	"ringfence: $scratch/published:6: '203.0.118.0/33': invalid prefix: its length must be 0-32
$notes
exit 3" 'deny load skip-invalid names the bad line, and has an exit status of its own'
matches "$(ringfence deny load "$scratch/published" skip-invalid 2>/dev/null)" \
	'deny: 5 prefixes loaded in [0-9.]+ s; 5 are on the list; 1 invalid line was skipped' 'it counts them'
is "$(ringfence --json deny load "$scratch/published" skip-invalid 2>/dev/null | jq .skipped)" 1 'also in JSON'
echo ::ffff:203.0.120.1 >"$scratch/mapped"
printf '%s\n' "deny load $scratch/published replace skip-invalid" \
	'limit add other rate 5/1h from ::ffff:203.0.117.1' "deny load $scratch/mapped" \
	'deny del 203.0.120.1' >"$scratch/batch"
ringfence batch "$scratch/batch" >"$scratch/log" 2>"$scratch/said"
is "$?" 3 'batch has that status as well'
is "$(tail -n +2 "$scratch/said")" "$notes
ringfence: from: 1 prefix in IPv4-mapped form; read as IPv4
ringfence: $scratch/mapped: 1 prefix in IPv4-mapped form; read as IPv4" 'and says all that the commands say'
is "$(ringfence deny list | wc -l)" 5 'and loads the rest'
printf '%s\n' 203.0.118.0/33 >"$scratch/published"
fails 'a file without a valid line changes nothing' 1 "ringfence: \
$scratch/published:1: '203.0.118.0/33': invalid prefix: its length must be 0-32
ringfence: $scratch/published: the file has no prefix; 'deny flush' empties the list" \
	ringfence deny load "$scratch/published" replace skip-invalid
is "$(ringfence deny list | wc -l)" 5 'so the list is as it was'
echo '<!DOCTYPE html>' >"$scratch/published"
fails 'a page of HTML is refused as such' 1 "ringfence: $scratch/published: HTML or XML, not a list; check \
the URL that it was downloaded from" ringfence deny load "$scratch/published"
printf '%s\n' '{' ' "prefixes": [' >"$scratch/published"
fails 'a document of JSON is refused as such' 1 "ringfence: $scratch/published: JSON other than one object per \
line; extract the prefixes with 'jq', one per line" ringfence deny load "$scratch/published"
rules <<-'END'
	limit add any rate 10/1h exact
	deny add 192.0.2.0/28
END

# ---- errors ----

before=$(ringfence save | sed 1d | cksum)
printf '%s\n' 192.0.2.1 '' '# a comment' 192.0.2.300 10.0.0.0/33 192.0.2.2 '192.0.2.1 for 5m' >"$scratch/bad"
of_prefixes=":4: '192.0.2.300': invalid prefix; write it like 192.0.2.0/24 or 2001:db8::/32
:5: '10.0.0.0/33': invalid prefix: its length must be 0-32
:7: 'for': entries in a file do not expire; 'ringfence batch' takes lines such as 'deny add 192.0.2.1 for 1h'
: 3 errors; no changes were made"
# errors NAME: each with the program and the file.
errors() {
	echo "ringfence: $1${of_prefixes//$'\n'/$'\n'ringfence: $1}"
}
for replace in '' replace; do
	# shellcheck disable=SC2086 # a word or none
	fails "deny load $replace reports every error of a file" 1 "$(errors "$scratch/bad")" \
		ringfence deny load "$scratch/bad" $replace
done
load_stdin() {
	ringfence allow load - <"$scratch/bad"
}
fails 'allow load reports every error of standard input' 1 "$(errors 'standard input')" load_stdin
fails 'limit add … from file reports every error of the file' 1 "$(errors "$scratch/bad")" \
	ringfence limit add few rate 1/1s from file "$scratch/bad"
fails 'limit change … from file reports every error of the file' 1 "$(errors "$scratch/bad")" \
	ringfence limit change any from file "$scratch/bad"
is "$(ringfence deny load --json "$scratch/bad" 2>"$scratch/log" | jq -r '"\(.file) \(.error)",
	(.errors[] | ":\(.line): \(.message)"), .errors_omitted')" \
	"$scratch/bad $scratch/bad$(tail -n 1 <<<"$of_prefixes")
$(sed '$d' <<<"$of_prefixes")
0" 'deny load --json lists the errors with their lines'
awk 'BEGIN { for (i = 0; i < 200000; i++) print "not a prefix" }' >"$scratch/bad"
is "$(ringfence deny load "$scratch/bad" 2>&1 | sed -n '1p;$p;$=')" \
	"ringfence: $scratch/bad:1: 'not': invalid prefix; write it like 192.0.2.0/24 or 2001:db8::/32
ringfence: $scratch/bad: 200000 errors, 100 of them shown; no changes were made
101" 'deny load of a file that is no list counts its errors, and shows the first ones'
is "$(echo "deny load $scratch/bad" | ringfence check - 2>&1 | tail -n 1)" \
	"ringfence: standard input: 200000 errors, 100 of them shown; 'apply' would change nothing" \
	'so does check of a rule file that loads it'
is "$(ringfence deny load --json "$scratch/bad" 2>"$scratch/log" | jq -c '[(.errors | length), .errors_omitted]')" \
	'[100,199900]' 'deny load --json counts the errors that it leaves out'
echo '# none' >"$scratch/bad"
fails 'deny load of a file without a prefix is refused' \
	1 "ringfence: $scratch/bad: the file has no prefix; 'deny flush' empties the list" \
	ringfence deny load "$scratch/bad"
head -c 100 /dev/zero >"$scratch/bad"
fails 'deny load of a file with a zero byte is refused' \
	1 "ringfence: $scratch/bad: not a text file: it has a zero byte" \
	ringfence deny load "$scratch/bad"
is "$(ringfence save | sed 1d | cksum)" "$before" 'deny load and allow load that are refused change no rule'

done_testing
