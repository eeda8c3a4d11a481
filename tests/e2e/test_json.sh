#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Every key that a command prints with --json is documented in ringfence-json(5), and every
# documented key is printed by some run: all commands run on fences in many states. The same for
# the reasons of the program.
#
#   outside                               inside
#   out0  ---------- wire 0 ----------->  ${port[0]}
#   out1  ---------- wire 1 ----------->  ${port[1]}

# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

manual=build/docs/ringfence-json.5

# Paths of all keys, like limits[].name, each with its type. Names that depend on the fence become
# NAME. With several fences, the keys of one are used.
# shellcheck disable=SC2016
keys='[paths as $path | select($path[-1] | type == "string") | {
	path: ($path | map(if type == "number" then "[]" else "." + . end) | join("") | .[1:]),
	type: (getpath($path) | type)}] | unique | .[] | "\(.path) \(.type)"'
note_keys() { # COMMAND: of its output
	jq -r "$keys" "$scratch/json" | sed -E "/^(fences|schema) /d; s/^fences\[\]\.//
		s/^(reasons|rates\.reasons|map_errors|memory\.maps)\.[a-z_0-9]+/\1.NAME/
		s/^link_down_ms\.[^ ]+/link_down_ms.NAME/
		s/ array/ list/; s/ string/ text/; s/^/$1: /" >>"$scratch/seen"
	[ "$(jq -s 'map(.schema) | unique[]' "$scratch/json")" = "$schema" ] || without_schema+=" $1"
}

# The schema that the manual says every object has.
schema=$(sed -n 's/^the version of the format, which is \([0-9]*\)\.$/\1/p' "$manual")

without_schema='' failed=''
seen() { # COMMAND WORD…: records the keys that these words print, as keys of COMMAND
	local -a words=("${@:2}")

	[ ${#words[@]} -gt 0 ] || read -ra words <<<"$1"
	ringfence "${words[@]}" --json 2>"$scratch/stderr" >"$scratch/json"
	[ $? -le 1 ] && [ -s "$scratch/json" ] || failed+="${words[*]}: $(<"$scratch/stderr")"$'\n'
	[ "$1" = error ] || ! grep -q '"error"' "$scratch/json" || failed+="${words[*]}: $(<"$scratch/stderr")"$'\n'
	note_keys "$1"
}

applied() { # standard input
	ringfence apply - >"$scratch/log" 2>&1 || failed+="apply: $(<"$scratch/log")"$'\n'
}

# "COMMAND: KEY TYPES" of the tables of the manual.
documented() {
	awk -F '|' '/^\.Ss / { sub(/^\.Ss /, ""); sub(/, (stats watch|with confirm)$/, ""); command = tolower($0)
			sub(/errors/, "error", command) }
		/^\.TE/ { inside = 0 }
		inside && command != "" { print command ": " $1 "|" $2 }
		/^key\|/ { inside = 1 }' "$manual"
}

make_network 2
seen doctor
seen version
seen doctor doctor "${port[0]}"
seen attach attach "${port[0]}" "${port[1]}" fence pair
seen status
seen stats
seen 'limit list'
seen top
seen bans
seen show show 192.0.2.1
applied <<-'END'
	limit add udp rate 5/1h match udp exact ban 1h
	limit add tcp rate 5/1h match tcp dport 80 from 0.0.0.0/0 exact
	limit add more rate 5/1h match tcp shadow exact
	limit add bucket rate 5/1h match icmp algorithm token exact
	allow add 198.51.100.0/24 for 1h
	deny add 203.0.113.0/24 for 1h
	deny add 203.0.112.1
	newcomers rate 100k/1s then drop
END
deliver 0 src=192.0.2.1,count=30,proto=udp src=192.0.2.2,count=30,proto=tcp,dport=80 src=203.0.113.1,count=9
seen status
seen stats
has_line() {
	[ -s "$scratch/watched" ]
}
start inside build/ringfence stats watch --json >"$scratch/watched"
eventually has_line
stop INT "$started_pid"
head -n 1 "$scratch/watched" >"$scratch/json"
note_keys stats
cp "$scratch/json" "$scratch/stats"
seen stats stats total
seen 'stats reset'
seen stats
seen 'limit list'
seen 'fleet hosts'
seen 'allow list, deny list' allow list
seen 'allow list, deny list' deny list
seen top
# A source without a window, while samples are taken.
start outside build/tests/traffic send dev out0 to 02:00:00:00:00:02 flow src=203.0.113.1,count=4000000000,rate=100 >"$scratch/sent"
sender=$started_pid
samples_it() {
	seen top top sample 1s
	jq -e '[.. | objects | .unseen // empty | .sources[]] | length > 0' "$scratch/json" >"$scratch/sampled"
}
eventually samples_it || failed+='top sample '
seen capture capture write "$scratch/packets" for 1s
stop TERM "$sender"
seen bans
for source in 192.0.2.1 192.0.2.2 192.0.2.9 203.0.113.1 198.51.100.1 2001:db8::1; do
	seen show show "$source"
done
seen show show 192.0.2.0/24
seen show show 203.0.113.0/24
seen show show 198.51.100.0/24
echo 192.0.2.77 >"$scratch/list"
seen 'allow load, deny load' deny load "$scratch/list"
seen 'allow load, deny load' deny load "$scratch/list" confirm 1h
ringfence confirm >>"$scratch/log"
seen 'deny add' deny add 192.0.2.78 confirm 1h
ringfence confirm >>"$scratch/log"
seen 'limit set' limit set udp rate 6/1h match udp exact
seen 'limit set' limit set udp rate 7/1h match udp exact confirm 1h
ringfence confirm >>"$scratch/log"
ringfence limit set udp rate 7/1h match udp exact confirm 1s >>"$scratch/log"
fell_back() {
	[ "$(ringfence status --json dev "${port[0]}" | jq -r .unconfirmed.state)" = reverted ]
}
check 'a trial runs out' eventually fell_back
seen status
ringfence limit set udp rate 7/1h match udp exact >>"$scratch/log"
seen 'limit add' limit add fresh rate 5/1s match proto 200 confirm 1h
seen status
seen confirm
seen 'pause, resume' pause for 1h
seen 'pause, resume' resume
seen 'limit enforce, limit shadow' limit enforce more confirm 1h
ringfence confirm >>"$scratch/log"
seen 'limit enforce, limit shadow' limit shadow more
seen 'limit del' limit del fresh confirm 1h
seen revert
seen 'limit del' limit del fresh confirm 1h
ringfence confirm >>"$scratch/log"
seen unban unban all
printf 'limit shadow more\nunban all\n' >"$scratch/batch"
seen batch batch "$scratch/batch"
seen batch batch "$scratch/batch" confirm 1h
ringfence confirm >>"$scratch/log"
echo 'limit enforce nosuch' >"$scratch/batch"
seen error batch "$scratch/batch"
SSH_CONNECTION='203.0.113.7 51432 192.0.2.10 22' seen error deny add 203.0.113.0/24
ringfence save >"$scratch/saved"
seen check check "$scratch/saved"
echo 'limit add a rate 1' >"$scratch/bad"
seen error check "$scratch/bad"
printf 'limit add tcp rate 5/2h match tcp\nlimit add z rate 5/1h match udp\nlimit add udp rate 5/1h match udp\nallow add 198.51.100.0/24 for 9h\ndeny add 192.0.2.99\n' >"$scratch/other"
seen diff diff "$scratch/other"
seen diff diff "$scratch/saved"
seen apply apply "$scratch/saved" confirm 1h
ringfence confirm >>"$scratch/log"
mkdir "$scratch/history"
build/tests/recorder "$scratch/history" eth0 600 500 full || failed+='recorder '
export RINGFENCE_HISTORY=$scratch/history
seen 'stats at' stats at -5m
seen 'top at' top at -5m
seen 'show at' show 10.0.0.0 at -400s
seen events
: >"$scratch/watched"
start inside build/ringfence events watch --json >"$scratch/watched" 2>"$scratch/stderr"
eventually has_line || failed+='events watch '
stop TERM "$started_pid"
cp "$scratch/watched" "$scratch/json"
note_keys 'events watch'
seen report
seen report report since -9m
sqlite3 "$scratch/history/eth0.db" "INSERT INTO events SELECT 90, max(time), 'source_released', 'eth0-own', 'any',
	'10.0.0.0', 'over_limit', '20k/1s', 300, 700, min(first_seen), '' FROM events" || failed+='sqlite3 '
seen report report eth0-own
build/tests/recorder "$scratch/history" eth0 30 20 full || failed+='recorder '
seen report report since -9m
seen 'limit try' limit try any rate 100/1s since -9m
seen suggest suggest since -9m
seen 'history list'
seen 'history check'
seen 'history export' history export "$scratch/export.db"
mkdir /run/ringfence-watch
echo 0123456789abcdef >/run/ringfence-watch/token
printf '%s\n' http://127.0.0.1:9436/ /run/ringfence-watch/token >/run/ringfence-watch/page
seen page
seen adopt adopt "${port[0]}"

# Packets that bypass the program, a fence without its interface, a link that restarts.
outside ip link add far type veth peer name near
outside ip link set far up
outside ip link set near up
outside build/tests/bypass near out0 || bail 'packets cannot bypass a program here'
reports_a_bypass() {
	outside build/tests/traffic send dev far to 02:00:00:00:00:02 flow src=192.0.2.66,count=20,proto=udp \
		>"$scratch/around" 2>&1 || failed+="around: $(<"$scratch/around")"
	seen status
	jq -e '[.. | objects | .bypassed // empty] | length > 0' "$scratch/json" >"$scratch/log"
}
eventually reports_a_bypass || failed+='bypass '
outside tc qdisc del dev near clsact
inside ip link add gone0 type veth peer name gone1
ringfence attach gone0 >"$scratch/log"
inside ip link del gone0
seen status
ringfence detach gone0 >"$scratch/log"
# shellcheck disable=SC2016 # of the shell that takes the link down
inside env LD_PRELOAD="$PWD/build/tests/flap.so" FLAP="nsenter --net=/run/netns/rf-test-$$-outside sh -c \
	'ip link set out0 down; sleep 0.3; ip link set out0 up'" "$build" detach "${port[0]}" "${port[1]}" --json \
	>"$scratch/json" 2>"$scratch/stderr" || failed+="detach: $(<"$scratch/stderr")"
note_keys detach
seen attach attach "${port[0]}" fleet
seen 'fleet join' fleet join "${port[0]}" redis 192.0.2.10:6379 hosts 3
seen 'fleet hosts'
seen 'limit add' limit add any rate 20k/1s fleet confirm 1h
ringfence confirm >"$scratch/log"
seen 'limit list'
deliver 0 src=192.0.2.1,count=3
seen show show 192.0.2.1
# A source whose packets pass again.
ringfence limit add few rate 2/1h exact >"$scratch/log"
deliver 0 src=192.0.2.3,count=5
ringfence limit change few rate 200/1h >"$scratch/log"
seen show show 192.0.2.3
ringfence limit del few >"$scratch/log"
printf 'fleet hosts 4\nlimit add any rate 20k/1s fleet\n' >"$scratch/fleet"
seen diff diff "$scratch/fleet"
inside ip link set lo up
start inside redis-server --port 7000 --save '' --dir "$scratch" >"$scratch/engine"
start inside build/ringfence-fleet run "${port[0]}" redis 127.0.0.1:7000 bans take >"$scratch/agent" 2>&1
eventually test -S "/run/ringfence-fleet/${port[0]}.sock"
eventually grep -q limits "$scratch/agent"
seen 'fleet status' fleet status "${port[0]}"
eventually grep -q 'connected (bans)' "$scratch/agent"
printf '\x09\0\0\0\xc0\x27\x09\0\x04\x20\xc0\0\x02\x42' |
	inside redis-cli -p 7000 -x fcall rf_ban 2 'rf:{m}:h:9' 'rf:{m}:bans' >"$scratch/log"
ban_is_taken() { ringfence fleet bans | grep -q 192.0.2.66; }
eventually ban_is_taken
seen 'allow list, deny list' deny list
seen 'fleet bans' fleet bans
seen 'fleet show' fleet show 192.0.2.66 dev "${port[0]}"
seen 'fleet bans flush' fleet bans flush
stop TERM "$started_pid"

# Two hosts of a fleet, as far as an agent can see: one on each wire, with other limits.
engine=$(command -v redis-server || command -v valkey-server) || bail "there is no redis-server; run 'make deps-test'"
inside ip link set lo up
start inside "$engine" --port 6379 --save '' --logfile "$scratch/redis.log"
for wire in 0 1; do
	[ $wire = 0 ] || ringfence attach "${port[1]}" fleet >"$scratch/log"
	ringfence fleet hosts 3 dev "${port[$wire]}" >"$scratch/log"
	start inside build/ringfence-fleet run "${port[$wire]}" redis 127.0.0.1:6379 grace 400ms >"$scratch/agent$wire" 2>&1
done
other=$started_pid
ringfence limit add even rate 20k/1s fleet dev "${port[0]}" >"$scratch/log"
ringfence limit add even rate 10k/1s fleet dev "${port[1]}" >"$scratch/log"
fleet_has() { # FILTER WORD…
	ringfence fleet "${@:2}" dev "${port[0]}" --json 2>"$scratch/stderr" | jq -e "$1" >"$scratch/log"
}
eventually fleet_has 'any(.others[]; .differences[0] and .name) and .offline_ms == null' status || failed+='fleet status '
seen 'fleet status' fleet status "${port[0]}"
seen 'fleet check' fleet check "${port[0]}"
cp "/run/ringfence-fleet/${port[0]}.json" "$scratch/json"
note_keys name.json
# It continues to send, so it counts as recently used however long a query takes.
start outside build/tests/traffic send dev out0 to 02:00:00:00:00:02 flow src=192.0.2.1,count=4000000000,rate=300 >"$scratch/log"
sender=$started_pid
claims() {
	fleet_has '.limits[0].ledger.hosts[0]' show 192.0.2.1
}
eventually claims || failed+='fleet show '
seen 'fleet show' fleet show 192.0.2.1 dev "${port[0]}"
is_in_top() {
	fleet_has '.sources[0]' top
}
eventually is_in_top || failed+='fleet top '
seen 'fleet top' fleet top dev "${port[0]}"
stop TERM "$sender"
stop KILL "$other"
slot=$(ringfence fleet status "${port[0]}" --json | jq '.others[] | select(.self | not) | .slot')
gone() {
	ringfence fleet gone "$slot" dev "${port[0]}" --json >"$scratch/json" 2>"$scratch/stderr"
}
eventually gone || failed+='fleet gone '
note_keys 'fleet gone'
seen 'fleet leave' fleet leave "${port[0]}"
is "$failed" '' 'every command prints its JSON'
is "$without_schema" '' 'every object has the schema that the manual says'

documented >"$scratch/documented"
check 'the manual documents more than 150 keys' test "$(wc -l <"$scratch/documented")" -gt 150
sort -u "$scratch/seen" >"$scratch/sorted"
is "$(comm -13 <(cut -d'|' -f1 "$scratch/documented" | sort -u) <(cut -d' ' -f1- "$scratch/sorted" |
	sed 's/ [a-z]*$//' | sort -u))" '' 'every key that a command prints is documented'
is "$(comm -23 <(cut -d'|' -f1 "$scratch/documented" | sort -u) <(sed 's/ [a-z]*$//' "$scratch/sorted" |
	sort -u))" '' 'every documented key is printed by some command'
strange=''
while read -r line; do
	types=$(grep -F -- "${line% *}|" "$scratch/documented" | grep "^${line%%:*}: " | cut -d'|' -f2)
	[[ ", $types," == *", ${line##* },"* ]] || strange+="$line, not $types"$'\n'
done <"$scratch/sorted"
is "$strange" '' 'every key has a documented type'

# ---- reasons ----

table() { # TITLE: the rows of the table whose first title that is
	awk -F '|' -v title="$1" '/^\.TE/ { inside = 0 } inside { print $1, $2 } $1 == title && before ~ /^l.*\.$/ { inside = 1 }
		{ before = $0 }' "$manual" | sort
}

is "$(table reason | cut -d' ' -f1)" "$(jq -r '.reasons | keys[]' "$scratch/stats" | sort)" \
	'the documented reasons are those that stats prints'
is "$(table failure | cut -d' ' -f1)" "$(jq -r '.map_errors | keys[]' "$scratch/stats" | sort)" \
	'the documented failures of maps are those that stats prints'
done_testing
