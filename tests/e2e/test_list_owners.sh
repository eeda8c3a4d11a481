#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Several owners of one deny list: a blocklist that is loaded again and again, a program that bans, and
# an operator. Each changes only its own entries, and an entry drops packets until its last owner lets go.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

make_network 1
ringfence attach "${port[0]}" >/dev/null || bail 'cannot attach'

listed() {
	ringfence deny list | sed 's/ for another [^ ,]*\( [0-9]*[ms]\)*/ for T/g'
}

printf '%s\n' 192.0.2.66 198.51.100.0/24 >"$scratch/blocklist"
load() {
	ringfence deny load "$scratch/blocklist" replace by blocklist >/dev/null
}

# ---- two programs ----

load
ringfence deny add 192.0.2.66 for 10m by fail2ban-sshd
ringfence deny add 192.0.2.67 for 10m by fail2ban-sshd
ringfence deny add 203.0.113.9
is "$(listed)" '192.0.2.66 by blocklist, for T by fail2ban-sshd
192.0.2.67 for T by fail2ban-sshd
198.51.100.0/24 by blocklist
203.0.113.9' 'deny list shows the owners'
is "$(ringfence deny list --json | jq -c '.prefixes[] | select(.prefix == "192.0.2.66") | .left_ms, [.owners[] | .by, .left_ms == null]' | xargs)" \
	'null [blocklist,true,fail2ban-sshd,false]' 'deny list --json as well; the longest end counts'
echo 198.51.100.0/24 >"$scratch/blocklist"
load
is "$(listed)" '192.0.2.66 for T by fail2ban-sshd
192.0.2.67 for T by fail2ban-sshd
198.51.100.0/24 by blocklist
203.0.113.9' "load replace replaces only its owner's entries"
deliver 0 src=192.0.2.66,count=3 src=192.0.2.67,count=3 src=203.0.113.9,count=3 src=198.51.100.1,count=3 \
	src=192.0.2.1,count=3
is "$(came)" '192.0.2.1 3' 'all of them are dropped'
printf '%s\n' 192.0.2.66 198.51.100.0/24 >"$scratch/blocklist"
load
ringfence deny del 192.0.2.66 by fail2ban-sshd
is "$(ringfence deny list | head -n 1)" '192.0.2.66 by blocklist' "del by NAME removes that owner's entry"
deliver 0 src=192.0.2.66,count=3
is "$(came)" '' 'and the source is dropped on'

# ---- del ----

ringfence deny add 192.0.2.66 by fail2ban-sshd
fails 'del without an owner of an entry of several changes nothing' 1 \
	"ringfence: '192.0.2.66': on the deny list by blocklist and fail2ban-sshd; add 'by NAME' to remove the entry of one, or 'by all'" \
	ringfence deny del 192.0.2.66
fails 'del of an owner without an entry names those that have one' 1 \
	"ringfence: '192.0.2.66': not on the deny list by manual, but by blocklist and fail2ban-sshd" \
	ringfence deny del 192.0.2.66 by manual
is "$(ringfence deny list | head -n 1)" '192.0.2.66 by blocklist, by fail2ban-sshd' 'both are still there'
check 'del by all removes every one' ringfence deny del 192.0.2.66 by all
check 'del without an owner removes the only one, whoever that is' ringfence deny del 192.0.2.67
is "$(listed)" '198.51.100.0/24 by blocklist
203.0.113.9' 'then they are gone'
deliver 0 src=192.0.2.66,count=3
is "$(came)" '192.0.2.66 3' 'and the source passes'
printf '%s\n' 'deny add 192.0.2.66 by one' 'deny add 192.0.2.66 by two' 'deny del 192.0.2.66' \
	'deny del 192.0.2.66 by three' >"$scratch/batch"
fails 'batch reports such lines, and changes nothing' 1 "ringfence: $scratch/batch:3: '192.0.2.66': on the \
deny list by one and two; add 'by NAME' to remove the entry of one, or 'by all'
ringfence: $scratch/batch:4: '192.0.2.66': not on the deny list by three, but by one and two
ringfence: $scratch/batch: 2 errors; no changes were made" ringfence batch "$scratch/batch"
is "$(ringfence deny list | wc -l)" 2 'the list is as it was'
printf '%s\n' 'deny add 192.0.2.66 by one' 'deny flush by one' 'deny add 192.0.2.67 by one' \
	'deny del 203.0.113.9' "deny load $scratch/blocklist replace by blocklist" >"$scratch/batch"
ringfence batch "$scratch/batch" >/dev/null
is "$(listed)" '192.0.2.66 by blocklist
192.0.2.67 by one
198.51.100.0/24 by blocklist' 'the lines of a batch apply in their order'
ringfence deny flush by blocklist
is "$(listed)" '192.0.2.67 by one' "flush by NAME removes that owner's entries"

# ---- save, apply, diff ----

ringfence deny add 192.0.2.67 for 1h by two
ringfence deny add 192.0.2.67
ringfence allow add 192.0.2.67 by one
is "$(ringfence save | grep ' add ' | sed 's/ for [^ ]*/ for T/')" 'allow add 192.0.2.67 by one
deny add 192.0.2.67 by one
deny add 192.0.2.67 for T by two
deny add 192.0.2.67' 'save has a line for each owner'
ringfence save >"$scratch/rules"
check 'what was saved does not differ' ringfence diff "$scratch/rules"
sed -i 's/^deny add 192.0.2.67 by one/deny add 192.0.2.67 by three/' "$scratch/rules"
is "$(ringfence diff "$scratch/rules")" 'deny: 1 added, 1 deleted
- deny add 192.0.2.67 by one
+ deny add 192.0.2.67 by three' 'diff shows owners that differ'
ringfence apply "$scratch/rules" >/dev/null
is "$(listed)" '192.0.2.67 by three, for T by two, by manual' 'apply keeps the owners of the file'
ringfence apply "$scratch/rules" confirm 60s >/dev/null
ringfence deny add 192.0.2.67 by four
ringfence revert >/dev/null
is "$(listed)" '192.0.2.67 by three, for T by two, by manual, by four' \
	'a new owner is known to the old rules as well, when they come back'
ringfence deny flush

# ---- limits ----

for i in 1 2 3 4 5 6; do ringfence deny add 192.0.2.66 by "owner$i"; done
fails 'a seventh owner is refused' 1 "ringfence: '192.0.2.66': it has 6 entries on both lists together, \
by owner1, owner2, owner3, owner4, owner5 and owner6, the most there can be; 'allow del' or 'deny del' with 'by NAME' removes one" \
	ringfence deny add 192.0.2.66 by owner7
fails 'also on the other list' 1 "ringfence: '192.0.2.66': it has 6 entries on both lists together, by owner1, owner2, \
owner3, owner4, owner5 and owner6, the most there can be; 'allow del' or 'deny del' with 'by NAME' removes one" \
	ringfence allow add 192.0.2.66
ringfence deny del 192.0.2.66 by all
use_names() { # in three batches, each of which adds and deletes
	local i

	for i in 0 1 2; do
		seq -f 'deny add 192.0.2.70 by name%.0f' $((i * 100)) $((i * 100 + 99)) | sed 'p; s/add/del/' |
			ringfence batch - >"$scratch/log" || return
	done
}
check 'names without an entry make room for others' use_names
fill() { # TIME: each name that is free gets an entry
	seq 1 125 | sed "s/.*/deny add 203.0.113.& for $1 by name&/" | ringfence batch - >"$scratch/log"
}
is_empty() { [ "$(ringfence deny list)" = 'the deny list is empty' ]; }
ringfence allow flush
check 'as many owners as there are names' fill 1h
fails 'one more owner is refused' 1 "ringfence: 'by more': the lists have 128 owners already, the most there can be; \
'deny flush by NAME' removes one" ringfence deny add 192.0.2.70 by more
ringfence deny flush
check 'after a flush the names are free' fill 1s
check 'entries expire' eventually is_empty
check 'owners whose entries have all expired make room' ringfence deny add 192.0.2.70 by more
ringfence deny flush
check 'names are taken again' fill 1s
check 'and expire' eventually is_empty
printf '%s\n' 'limit add any rate 1M/1s' 'deny add 192.0.2.71 by another' >"$scratch/batch"
ringfence batch "$scratch/batch" >"$scratch/log"
is "$(listed)" '192.0.2.71 by another' 'also for a batch that holds limits'
ringfence deny flush
fill 1s
check 'and expire once more' eventually is_empty
ringfence apply - <<<'deny add 192.0.2.72 by applied' >"$scratch/log"
is "$(listed)" '192.0.2.72 by applied' 'and for rules that are applied'
ringfence deny flush

done_testing
