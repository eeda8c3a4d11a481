#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Batches: many commands of a file or of standard input, run as one change, all or nothing; and
# changes of the lists while packets come.
#
#   outside                               inside
#   out0  ---------- wire 0 ----------->  ${port[0]}

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

saved() {
	ringfence save | sed '/^#/d'
}

# refuses NAME TEXT: a batch is refused, with one error ("LINE: …") or more, and changes nothing.
refuses() {
	local before after count text

	before=$(saved)
	cat >"$scratch/batch"
	count=$(wc -l <<<"$2")
	text="ringfence: $scratch/batch:${2//$'\n'/$'\n'ringfence: $scratch/batch:}"
	fails "$1" 1 "$text
ringfence: $scratch/batch: $count error$([ "$count" = 1 ] || echo s); no changes were made" \
		ringfence batch "$scratch/batch"
	after=$(saved)
	is "$after" "$before" "$1: nothing is changed"
}

make_network 1
ringfence attach "${port[0]}" >"$scratch/log" || bail "cannot make a fence"
ringfence apply - >"$scratch/log" <<-'END'
	limit add any rate 10/1h exact
	deny add 10.0.0.0/8
	deny add 192.0.2.1
	allow add 10.1.0.0/16 for 1h
END

# ---- only lists ----

cat >"$scratch/batch" <<-'END'
	# a comment
	deny add 198.51.100.0/24

	deny del 192.0.2.1   # it was removed
	deny add 203.0.113.7 for 1h
	deny del 203.0.113.7
	allow add 10.2.0.0/16
END
matches "$(ringfence batch "$scratch/batch")" "$scratch/batch: 5 commands done in [0-9.]+m?s" \
	'batch runs the commands of a file'
is "$(ringfence deny list | tr '\n' ' ')" '10.0.0.0/8 198.51.100.0/24 ' 'a batch changes the deny list'
is "$(ringfence allow list | sed 's/ for.*//' | tr '\n' ' ')" '10.1.0.0/16 10.2.0.0/16 ' \
	'a batch changes the allow list'
deliver 0 src=10.2.0.1,count=20 src=10.3.0.1,count=20 src=198.51.100.1,count=20 src=192.0.2.1,count=20
is "$(came)" $'10.2.0.1 20\n192.0.2.1 10' 'the lists of a batch are in force'
matches "$(printf 'deny add 192.0.2.9\ndeny add 2001:db8::/32 for 2h' | ringfence batch - --json | command jq -c "del(.schema)")" \
	'\{"commands":2,"skipped":0,"refused":0,"seconds":[0-9.e-]+\}' 'batch reads standard input, and --json counts'
matches "$(ringfence deny list | tail -n 1)" '2001:db8::/32 for another (2h|1h 5[0-9]m.*)' \
	'the last line of a batch needs no newline'
echo 192.0.2.40 >"$scratch/few"
printf 'deny add 192.0.2.41\ndeny flush\ndeny load %s replace\nallow flush\nallow add 192.0.2.42\n' "$scratch/few" |
	ringfence batch - >"$scratch/log"
is "$(ringfence deny list; ringfence allow list)" $'192.0.2.40 by load\n192.0.2.42' \
	'a batch replaces one list and empties another, in the order of its lines'
matches "$(ringfence batch - </dev/null)" 'standard input: 0 commands done in [0-9.]+m?s' \
	'an empty batch changes nothing'

# ---- limits ----

ringfence batch - >"$scratch/log" <<-'END'
	limit set any rate 20/1h exact
	limit add dns rate 5/1h match udp dport 53 from 192.0.2.0/24
	deny del 192.0.2.40
	newcomers rate 10k/1s then pass
	limit add gone rate 1/1h match icmp
	limit del gone
END
is "$(saved)" 'limit add any rate 20/1h exact
limit add dns rate 5/1h match udp dport 53 from 192.0.2.0/24
allow add 192.0.2.42
newcomers rate 10k/1s then pass' 'a batch changes limits, lists and newcomers at once'

ringfence apply - >"$scratch/log" <<-'END'
	limit add host rate 20/1h exact
	limit add dns rate 5/1h match udp dport 53 shadow
	limit add web rate 5/1h match tcp dport 443 shadow
	limit add ssh rate 5/1h match tcp dport 22
	allow add 192.0.2.42
	newcomers rate 10k/1s then pass
END
ringfence batch - >"$scratch/log" <<-'END'
	limit enforce dns web
	limit shadow ssh
	limit change host rate 30/1h no exact
	limit add icmp rate 1/1h match icmp shadow
	limit change icmp rate 2/1h
	limit enforce icmp
	limit del web
END
is "$(saved)" 'limit add host rate 30/1h
limit add dns rate 5/1h match udp dport 53
limit add ssh rate 5/1h match tcp dport 22 shadow
limit add icmp rate 2/1h match icmp
allow add 192.0.2.42
newcomers rate 10k/1s then pass' 'a batch enforces limits, makes shadows, and changes limits, each line after those before'
echo 'limit shadow all' | ringfence batch - >"$scratch/log"
is "$(saved | grep -c ' shadow')" 4 'a batch may name all limits'
echo 'limit enforce all' | ringfence batch - >"$scratch/log"
is "$(saved | grep -c ' shadow')" 0 'a batch may enforce all limits'
ringfence apply - >"$scratch/log" <<-'END'
	limit add dns rate 5/1s match udp dport 53 shadow
	limit add partner rate 50/1s match udp dport 53 from 192.0.2.0/24 shadow
END
matches "$(echo 'limit enforce dns' | ringfence batch - 2>&1 >"$scratch/log")" \
	"ringfence: limit 'partner' .*" 'a batch warns of a shadow beside the limit that it enforces'
is "$(echo 'limit enforce dns' | ringfence batch - --json 2>&1 | jq -r '.warnings[].shadow')" \
	partner 'a batch --json has that warning'

# ---- bans ----

ringfence apply - >"$scratch/log" <<<'limit add any rate 10/1h exact ban 1h'
deliver 0 src=192.0.2.1,count=20 src=192.0.2.2,count=20 src=198.51.100.1,count=20 src=198.51.100.2,count=20
banned() {
	ringfence bans --json | jq -r '[.bans[].source] | join(" ")'
}
is "$(banned)" '192.0.2.1 192.0.2.2 198.51.100.1 198.51.100.2' 'four sources are banned'
refuses 'batch: a source that is not banned' "2: 192.0.2.3: not banned; 'ringfence bans' lists the banned sources
4: '192.0.2.300': invalid prefix; write it like 192.0.2.0/24 or 2001:db8::/32" <<-'END'
	unban 192.0.2.1
	unban 192.0.2.3
	deny add 192.0.2.50
	unban 192.0.2.300
END
is "$(banned)" '192.0.2.1 192.0.2.2 198.51.100.1 198.51.100.2' 'a batch that is refused ends no ban'
is "$(printf 'unban 192.0.2.1\ndeny add 203.0.113.1\n' | ringfence batch - | sed 1d)" '1 ban ended' \
	'a batch ends a ban beside a change of a list'
is "$(printf 'unban 198.51.100.0/24\nlimit change any rate 20/1h\n' | ringfence batch - --json | jq .lifted)" 2 \
	'a batch ends bans beside a change of a limit, and counts them'
is "$(banned)" 192.0.2.2 'a batch ends no other ban'
is "$(echo 'unban all' | ringfence batch - | sed 1d)" '1 ban ended' 'a batch ends all bans'
is "$(echo 'unban all' | ringfence batch - | sed 1d)" '0 bans ended' 'unban all is right where no source is banned'

# ---- errors ----

ringfence apply - >"$scratch/log" <<-'END'
	limit add any rate 20/1h exact
	limit add dns rate 5/1h match udp dport 53
	allow add 192.0.2.42
	newcomers rate 10k/1s then pass
END
commands="a batch, which can have 'limit' with 'add', 'set', 'change', 'enforce', 'shadow' or 'del', 'allow' \
and 'deny' with 'add', 'del', 'load' or 'flush', 'newcomers', 'unban' and 'fleet hosts'"
confirm="'confirm': it is not for a line of a file; write 'ringfence batch FILE confirm TIME'"
together='at most 4 limits can apply to a packet, but all of these apply to some packets; delete one, or make '\
'it match fewer packets'
there="it does not exist; 'limit list' lists the limits, 'limit add' makes one"
refuses 'batch: commands that it has not' "2: 'status': not a command of $commands
3: 'deny ad': not a command of $commands" <<-'END'
	deny add 192.0.2.50
	status
	deny ad 192.0.2.51
END
printf '192.0.2.1\n10.0.0.0/33\nx\n' >"$scratch/few"
refuses 'batch: every error of the lines, of files and of what the fence has' "1: '192.0.2.300': invalid \
prefix; write it like 192.0.2.0/24 or 2001:db8::/32
3: '192.0.2.51': not on the deny list; 'deny list' shows its prefixes as they were added
4: limit 'nix': $there
5: $confirm
6: limit 'new': $there
7: $scratch/few:2: '10.0.0.0/33': invalid prefix: its length must be 0-32
7: $scratch/few:3: 'x': invalid prefix; write it like 192.0.2.0/24 or 2001:db8::/32
8: '192.0.2.52': not on the allow list; 'allow list' shows its prefixes as they were added
9: 'then': expects pass, drop, aggregate or challenge" <<-END
	deny add 192.0.2.300
	deny add 192.0.2.50
	deny del 192.0.2.51
	limit del nix
	limit enforce all confirm 10s
	limit change new rate 1/1s
	deny load $scratch/few
	allow del 192.0.2.52
	newcomers rate 1/1s then
	limit add other rate 1/1s match icmp
END
refuses 'batch: lists alone, every prefix that is not there' "2: '192.0.2.51': not on the deny list; 'deny \
list' shows its prefixes as they were added
3: '192.0.2.52': not on the deny list; 'deny list' shows its prefixes as they were added" <<-'END'
	deny add 192.0.2.50
	deny del 192.0.2.51
	deny del 192.0.2.52
END
refuses 'batch: an error is not said again where it makes another' "1: '5': invalid rate; write COUNT/TIME, \
like 20k/1s or 100/10s, or 10mbit
5: limit 'nix': it does not exist; 'limit list' lists the limits
9: $scratch/few:2: '10.0.0.0/33': invalid prefix: its length must be 0-32
9: $scratch/few:3: 'x': invalid prefix; write it like 192.0.2.0/24 or 2001:db8::/32" <<-END
	limit add new rate 5
	limit change new rate 2/1s
	limit enforce new
	limit del new
	limit enforce nix
	limit enforce dns nix
	limit add rest rate 1/1s match icmp
	limit del rest
	deny load $scratch/few
	deny del 192.0.2.7
END
refuses 'batch: limits that do not go together, and a prefix' "4: '192.0.2.51': not on the deny list; 'deny list' shows its prefixes as they were added
5: limits 'one', 'any', 'two', 'four' and 'three': $together" <<-'END'
	limit add one rate 1/1s match tcp
	limit add two rate 1/1s match tcp dport 80
	limit add four rate 1/1s match tcp dport 1-100
	deny del 192.0.2.51
	limit add three rate 1/1s match tcp dport 80-90
END
refuses 'batch: a limit too many' "4: limits 'one', 'any', 'two', 'three' and 'four': $together" <<-'END'
	limit add one rate 1/1s match tcp
	limit add two rate 1/1s match tcp dport 80
	limit add three rate 1/1s match tcp dport 80-90
	limit add four rate 1/1s match tcp dport 1-100
END
refuses 'batch: a ban stands against a shadow' "2: limit 'dns': it bans, and a shadow limit bans no source; \
first run 'ringfence limit change dns no ban'" <<-'END'
	limit change dns ban 10s
	limit shadow dns
END
is "$(printf 'limit del nix\n\ndeny add x\n' | ringfence batch - --json 2>"$scratch/log" |
	jq -c '[.file, .error, [.errors[].line]]')" \
	'["standard input","standard input: 2 errors; no changes were made",[1,3]]' \
	'batch --json lists the errors with their lines'
fails 'batch: standard input has the commands' 1 "ringfence: standard input:1: '-': standard input \
has the commands; name a file
ringfence: standard input:2: '-': standard input has the commands; name a file
ringfence: standard input: 2 errors; no changes were made" \
	ringfence batch - <<<$'deny load -\nlimit set any rate 1/1s from file -'
fails 'batch: the errors are said also where there is no such fence' 1 "ringfence: standard input:1: 'x': \
invalid prefix; write it like 192.0.2.0/24 or 2001:db8::/32
ringfence: standard input: 1 error; no changes were made" ringfence batch - dev nosuch <<<'deny add x'

# ---- unconfirmed ----

ringfence apply - confirm 1h >"$scratch/log" <<<'limit add any rate 7/1h exact'
of_lists() {
	ringfence batch - >"$scratch/log" <<-'END'
		deny add 192.0.2.60
		deny add 192.0.2.61
	END
}
check 'unconfirmed a batch of lists works' of_lists
is "$(ringfence deny list | tr '\n' ' ')" '192.0.2.60 192.0.2.61 ' 'unconfirmed a batch changes the list'
is "$(ringfence batch - <<<'unban all' | sed 1d)" '0 bans ended' 'unconfirmed a batch may end bans'
ringfence batch - <<<'limit set any rate 8/1h' 2>"$scratch/log"
matches "$(<"$scratch/log")" "ringfence: rules are unconfirmed for another [0-9a-z ]+; .*" \
	'unconfirmed a batch of limits is refused'
ringfence confirm >"$scratch/log"

# ---- rules that a newer version saved ----

printf '%s\n' "# rules (format 2) of the fence 'eth0'" 'limit add bulk rate 10mbit' >"$scratch/newer"
matches "$(describe ringfence batch "$scratch/newer")" $'exit 1\n\n'"stderr: ringfence: $scratch/newer:1: the rules \
have format 2, and this version reads formats up to 1; .*" 'a batch refuses rules of a newer format'
is "$(ringfence limit list | grep -c bulk)" 0 'and changes nothing'

# ---- under traffic ----

# One source is permanently denied by a network, and its own entries come and go; a second one is
# never denied, and its neighbours' entries come and go.
ringfence apply - >"$scratch/log" <<-'END'
	limit add any rate 1G/1h
	deny add 10.0.0.0/8
	allow add 203.0.113.1
END
changes=0
all=$(stats 0 '[.reasons[].packets] | add')
before=$(stats 0 '[.reasons.denied.packets, .reasons.under_limit.packets] | @csv')
start outside build/tests/traffic send dev out0 to 02:00:00:00:00:02 \
	flow src=10.0.0.1,count=6000,rate=3000 flow src=192.0.2.1,count=6000,rate=3000 >"$scratch/sent"
sender=$started_pid
while kill -0 "$sender" 2>/dev/null; do
	ringfence batch - >"$scratch/log" <<-'END'
		deny add 10.0.0.1
		deny add 10.0.0.0/24
		deny add 192.0.2.0
		deny add 192.0.2.2/31
	END
	ringfence batch - >"$scratch/log" <<-'END'
		deny del 10.0.0.0/24
		deny del 192.0.2.2/31
		deny del 192.0.2.0
		deny del 10.0.0.1
	END
	changes=$((changes + 1))
done
wait "$sender"
unset "started[$sender]"
all_seen() {
	[ "$(stats 0 '[.reasons[].packets] | add')" = $((all + 12000)) ]
}
eventually all_seen
after=$(stats 0 '[.reasons.denied.packets, .reasons.under_limit.packets] | @csv')
echo "# $changes times"
is "$((${after%,*} - ${before%,*})) $((${after#*,} - ${before#*,}))" '6000 6000' \
	'while lists change, a denied source is always denied, and another one never'

done_testing
