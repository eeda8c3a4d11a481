#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Events in the journal of a real systemd-journald, which runs only for this test: with the fields
# of the events file, and found by the MESSAGE_ID of their type.
#
#   outside                            inside
#   out0  ---------- wire 0 -------->  ${port[0]}  a fence, watched

# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

gid=$(getent group ringfence | cut -d: -f3)
log=$scratch/log events=$scratch/own/events.jsonl journal=/run/log/journal
for journald in /usr/lib/systemd/systemd-journald /lib/systemd/systemd-journald none; do
	[ ! -x "$journald" ] || break
done
[ "$journald" != none ] || bail "there is no systemd-journald; run 'make deps-test'"

make_network 1
mkdir -p /run/systemd/journal "$journal"
start inside "$journald" >"$scratch/journald" 2>&1
eventually test -S /run/systemd/journal/socket || bail "journald does not start: $(<"$scratch/journald")"

chmod 755 "$scratch"
install -m 755 build/ringfence-watch "$scratch/watch"
install -d -o 60712 "$scratch/own"
mkdir -p /run/ringfence
mount -t bpf -o mode=0700 bpf /run/ringfence || bail 'cannot mount a bpffs at /run/ringfence'
ringfence attach "${port[0]}" >"$scratch/attached" || bail "attach: $(<"$scratch/attached")"
ringfence limit add any rate 100/1s >"$scratch/out"
start inside setpriv --reuid=60712 --regid=60712 --groups="$gid" --bounding-set=-all --inh-caps=-all \
	"$scratch/watch" listen off history off sources full events file "$events" >"$log" 2>&1
daemon_pid=$started_pid
has() {
	grep -qs "\"$1\"" "$events"
}
# Reported by its first scan: later losses are new to the next one.
eventually has attached || bail "the daemon does not start: $(<"$log")"
outside build/tests/traffic send dev out0 to 02:00:00:00:00:02 flow src=192.0.2.66,count=3000,proto=tcp >/dev/null
check 'a source is limited' eventually has source_limited
ringfence limit change any rate 200/1s >"$scratch/out"
check 'rules change' eventually has rules_changed
ringfence detach "${port[0]}" >"$scratch/out"
check 'the fence goes' eventually has detached

# "TYPE SEQ FENCE LIMIT SOURCE DROPPED ID" of each event, without the length of a whole address.
told() {
	jq -r '[.type, .seq, .fence, .limit, (.source // null | if . then sub("/32$"; "") else . end), .dropped, .id] | map(. // "-") | join(" ")' "$events" | sort
}
entries() { # MATCH
	journalctl -q -D "$journal" -o json "$@"
}
journalled() {
	entries SYSLOG_IDENTIFIER=ringfence-watch | jq -r 'select(.RINGFENCE_EVENT) | [.RINGFENCE_EVENT, .RINGFENCE_SEQ, .RINGFENCE_FENCE, .RINGFENCE_LIMIT,
		.RINGFENCE_SOURCE, .RINGFENCE_DROPPED, .RINGFENCE_ID] | map(. // "-") | join(" ")' | sort
}
all_are_there() {
	[ "$(journalled)" = "$(told)" ]
}
eventually all_are_there
is "$(journalled)" "$(told)" 'the journal has the events of the file, with the same fields'
check 'there are some' test "$(told | wc -l)" -ge 4
is "$(entries | jq -r 'select(.RINGFENCE_EVENT and ._UID != "60712")')" '' 'journald knows who sent them'
types=$(sed -n '/^EVENT(/ { N; s/^EVENT([A-Z_]*, "\([a-z_]*\)",.*"\([0-9a-f]\{32\}\)",.*/\1 \2/p }' user/schema/events.def)
is "$(wc -l <<<"$types")" "$(grep -c '^EVENT(' user/schema/events.def)" 'each type has a MESSAGE_ID'
while read -r type id; do
	wanted=$(jq -r --arg type "$type" 'select(.type == $type) | .seq' "$events" | sort)
	[ -z "$wanted" ] || is "$(entries "MESSAGE_ID=$id" | jq -r .RINGFENCE_SEQ | sort)" "$wanted" "MESSAGE_ID finds $type, and nothing else"
done <<<"$types"
matches "$(journalctl -q -D "$journal" -o cat RINGFENCE_EVENT=source_limited)" \
	"fence '${port[0]}': source_limited 192.0.2.66, limit any 100/1s, [0-9]+ packets dropped" 'its message is a sentence'
stop TERM "$daemon_pid"

done_testing
