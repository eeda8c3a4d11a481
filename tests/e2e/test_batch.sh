#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Batches: many commands of a file or of standard input, run as one change, all or nothing; and
# changes of the lists while packets come.
#
#   outside                               inside
#   out0  ---------- wire 0 ----------->  ${port[0]}

# shellcheck disable=SC2317 # functions are called by fails, does and the like
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

# "SOURCE PACKETS" of the frames that came out.
came() {
	cut -d' ' -f1,2 <<<"$received"
}

saved() {
	ringfence save | sed '/^#/d'
}

# refuses NAME LINE MESSAGE: a batch of standard input is refused, and changes nothing.
refuses() {
	local before after

	before=$(saved)
	cat >"$scratch/batch"
	fails "$1" 1 "ringfence: $scratch/batch:$2: $3; nothing was changed" \
		ringfence batch "$scratch/batch"
	after=$(saved)
	is "$after" "$before" "$1: nothing is changed"
}

make_network 1
ringfence attach "${port[0]}" >"$scratch/log" || bail "cannot make a fence"
ringfence apply - >"$scratch/log" <<-'END'
	limit add all rate 10/1h exact
	deny add 10.0.0.0/8
	deny add 192.0.2.1
	allow add 10.1.0.0/16 for 1h
END

# ---- lists alone ----

cat >"$scratch/batch" <<-'END'
	# a comment
	deny add 198.51.100.0/24

	deny del 192.0.2.1   # it is gone
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
matches "$(printf 'deny add 192.0.2.9\ndeny add 2001:db8::/32 for 2h' | ringfence batch - --json | jq -c "del(.schema)")" \
	'\{"commands":2,"seconds":[0-9.e-]+\}' 'batch reads standard input, and --json counts'
is "$(ringfence deny list | tail -n 1)" '2001:db8::/32 for another 2h' \
	'the last line of a batch needs no newline'
echo 192.0.2.40 >"$scratch/few"
printf 'deny add 192.0.2.41\ndeny load %s replace\nallow flush\nallow add 192.0.2.42\n' "$scratch/few" |
	ringfence batch - >"$scratch/log"
is "$(ringfence deny list; ringfence allow list)" $'192.0.2.40\n192.0.2.42' \
	'a batch replaces one list and empties another, in the order of its lines'
matches "$(ringfence batch - </dev/null)" 'standard input: 0 commands done in [0-9.]+m?s' \
	'an empty batch changes nothing'

# ---- limits ----

ringfence batch - >"$scratch/log" <<-'END'
	limit set all rate 20/1h exact
	limit add dns rate 5/1h match udp dport 53 from 192.0.2.0/24
	deny del 192.0.2.40
	newcomers rate 10k/1s then open
	limit add gone rate 1/1h match icmp
	limit del gone
END
is "$(saved)" 'limit add all rate 20/1h exact
limit add dns rate 5/1h match udp dport 53 from 192.0.2.0/24
allow add 192.0.2.42
newcomers rate 10k/1s then open' 'a batch changes limits, lists and newcomers at once'

# ---- mistakes ----

commands="which may have 'allow' and 'deny' with 'add', 'del', 'load' or 'flush', 'limit add', \
'limit set', 'limit del' and 'newcomers'"
refuses 'batch: an unknown command' 2 "'status': not a command of a batch, $commands" <<-'END'
	deny add 192.0.2.50
	status
END
refuses 'batch: an unknown second word' 2 "'deny ad': not a command of a batch, $commands" <<-'END'
	deny add 192.0.2.50
	deny ad 192.0.2.51
END
refuses 'batch: a wrong prefix' 3 "'192.0.2.300': invalid prefix; write it like 192.0.2.0/24 or \
2001:db8::/32" <<-'END'
	deny add 192.0.2.50

	deny add 192.0.2.300
END
refuses 'batch: a prefix that is not on the list' 2 "'192.0.2.51': not on the deny list" <<-'END'
	deny add 192.0.2.50
	deny del 192.0.2.51
	deny del 192.0.2.52
END
refuses 'batch: a prefix that is not on the list, beside limits' 2 \
	"'192.0.2.51': not on the deny list" <<-'END'
	limit set all rate 30/1h
	deny del 192.0.2.51
END
refuses 'batch: a limit that does not exist' 2 "limit 'nix': it does not exist; 'limit list' lists \
the limits, 'limit add' makes one" <<-'END'
	deny add 192.0.2.50
	limit del nix
END
refuses 'batch: a trial' 1 "'confirm': it is not for a batch; use it with the command itself" <<-'END'
	limit set all rate 30/1h confirm 10s
END
fails 'batch: standard input has the commands' 1 "ringfence: standard input:1: '-': standard input \
has the commands; name a file; nothing was changed" ringfence batch - <<<'deny load -'

# ---- on trial ----

ringfence apply - confirm 1h >"$scratch/log" <<<'limit add all rate 7/1h exact'
of_lists() {
	ringfence batch - >"$scratch/log" <<-'END'
		deny add 192.0.2.60
		deny add 192.0.2.61
	END
}
check 'on trial a batch of lists works' of_lists
is "$(ringfence deny list | tr '\n' ' ')" '192.0.2.60 192.0.2.61 ' 'on trial a batch changes the list'
ringfence batch - <<<'limit set all rate 8/1h' 2>"$scratch/log"
matches "$(<"$scratch/log")" "ringfence: rules are on trial for another [0-9]+[a-z]; .*" \
	'on trial a batch of limits is refused'
ringfence confirm >"$scratch/log"

# ---- under traffic ----

# One source is denied by a network all the time, and its own entries come and go; another one is
# never denied, and its neighbours' entries come and go.
ringfence apply - >"$scratch/log" <<-'END'
	limit add all rate 1G/1h
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
