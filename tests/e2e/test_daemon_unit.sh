#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The daemon's unit, without systemd running it: systemd accepts it, and the daemon watches, records
# and serves as its user, without a capability, within the files, system calls and socket families
# that the unit allows. Also its manual, which has the settings of its help.
#
#   outside                      inside
#   out0  ------- wire 0 ------  eth0

# shellcheck disable=SC2016,SC2317 # dollars for later; functions are called by check and the like
# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/unit_files.sh
source "$(dirname "$0")/unit_files.sh"

unit=packaging/systemd/ringfence-watch.service
port=([0]=eth0)
gid=$(getent group ringfence | cut -d: -f3)
sbin=/run/private/sbin # not hidden by a unit
mkdir "$sbin"
install -m 755 build/ringfence-watch "$sbin"
echo "ringfence-watch:x:60713:60713::/:/usr/sbin/nologin" >>/etc/passwd
rm -rf /etc/ringfence

# ---- checks by systemd ----

mkdir "$scratch/units"
for one in packaging/systemd/*.service; do
	sed "s|/usr/sbin/ringfence-watch|$sbin/ringfence-watch|; s|/usr/sbin/ringfence|/bin/true|" "$one" >"$scratch/units/${one##*/}"
done
is "$(verify "$scratch/units" ringfence-watch.service)" '' 'systemd-analyze verify accepts the unit'
check 'its exposure is 2.0 at most' no_more_than "$(exposure "$scratch/units/ringfence-watch.service")" 2.0
is "$(setting "$unit" CapabilityBoundingSet)" '' 'it has no capability'
is "$(setting "$unit" User) $(setting "$unit" Group)" 'ringfence-watch ringfence' 'it has a user of its own, in the group'
is "$(systemd-sysusers --dry-run "$PWD/packaging/sysusers/ringfence-watch.conf" 2>&1 | grep -ciE 'fail|invalid|unknown')" 0 \
	'systemd-sysusers reads its user'

# ---- what systemd does ----

make_network 1
inside ip link set lo up
mkdir -p /run/ringfence
mount -t bpf -o nosuid,nodev,noexec,mode=0700 bpf /run/ringfence || bail 'cannot mount a bpffs'
chgrp "$gid" /run/ringfence
chmod 2750 /run/ringfence
use "$quick"
ringfence attach eth0 >"$scratch/attached" || bail "attach: $(<"$scratch/attached")"
mount -t tmpfs -o mode=755 private /var/lib || bail 'cannot mount a /var/lib'
for directory in "/var/lib/$(setting "$unit" StateDirectory)" "/run/$(setting "$unit" RuntimeDirectory)"; do
	install -d -o 60713 -g "$gid" -m "$(setting "$unit" StateDirectoryMode)" "$directory"
done

# as_unit CMD…: what systemd sets for the unit's process.
as_unit() {
	inside unshare --mount --propagation slave bash -c "$confine" bash "$PWD/$unit" \
		setpriv --reuid=60713 --regid="$gid" --clear-groups --bounding-set="$(capabilities "$unit")" \
		--inh-caps=-all --no-new-privs env STATE_DIRECTORY=/var/lib/ringfence \
		RUNTIME_DIRECTORY=/run/ringfence-watch bash -c "umask $(setting "$unit" UMask)"' && exec "$@"' bash "$@"
}

get() {
	inside curl -m 5 -s "$@"
}

is_up() {
	get "$@" | grep -q '^ringfence_up{fence="eth0"} 1'
}

written() {
	[ "$(stat -c %s /var/lib/ringfence/eth0.db-wal 2>/dev/null || echo 0)" -gt 30000 ]
}

scanner_pid() { # of the scanner, in this test's network namespace
	ip netns pids "rf-test-$$-inside" | while read -r pid; do
		[ "$(tr '\0' ' ' <"/proc/$pid/cmdline")" != "$sbin/ringfence-watch " ] || echo "$pid"
	done
}

ends() { # what runs it is its parent
	kill -TERM "$(scanner_pid)" && wait "$daemon_pid"
	[ -z "$(scanner_pid)" ]
}

as_unit "$sbin/ringfence-watch" >"$scratch/log" 2>&1 &
started[$!]=1
daemon_pid=$!
check 'as its unit runs it, the daemon serves on loopback' eventually is_up http://127.0.0.1:9436/metrics
check 'it serves on the socket of its runtime directory' is_up --unix-socket /run/ringfence-watch/http.sock http://localhost/metrics
check 'it records in its state directory' eventually written
is "$(stat -c '%a %g' /run/ringfence-watch/http.sock /var/lib/ringfence/eth0.db | xargs)" "660 $gid 640 $gid" \
	'the group may connect to the socket and read the history'
is "$(grep -c 'ringfence-watch:' "$scratch/log")" 0 "it has nothing to warn of"
sed 's/^/# /' "$scratch/log"
check 'SIGTERM ends it' ends

as_unit strace -f -qq -o /run/ringfence-watch/trace "$sbin/ringfence-watch" >"$scratch/log" 2>&1 &
started[$!]=1
daemon_pid=$!
check 'it serves under strace' eventually is_up http://127.0.0.1:9436/metrics
check 'and records' eventually written
check 'it ends under strace' ends
# What comes before the daemon's own execve is of setpriv and the shells.
mv /run/ringfence-watch/trace "$scratch/trace"
check 'the trace shows system calls' test "$(used_calls | wc -l)" -gt 30
check 'the trace shows that a scan reads maps' grep -q 'bpf(BPF_MAP_LOOKUP_BATCH' "$scratch/trace"
is "$(used_calls | grep -vxFf <(allowed_calls "$unit"))" '' 'the unit allows the system calls that the daemon makes'
is "$(used_sockets | grep -vxFf <(setting "$unit" RestrictAddressFamilies | tr ' ' '\n'))" '' \
	'the unit allows the sockets that the daemon opens'

# ---- the program for events ----

# systemd-socket-activate replaces the socket's unit: it starts a program for each connection, with
# the permissions of the unit's settings.
notify='packaging/systemd/ringfence-notify@.service' socket=packaging/systemd/ringfence-notify.socket
listen=$(setting "$socket" ListenStream)
mkdir -p /etc/ringfence
printf '#!/bin/sh\nexec cat >>%s/told\n' "$scratch" >/etc/ringfence/notify
chmod 755 /etc/ringfence/notify "$scratch"
install -m 666 /dev/null "$scratch/told"
printf 'exec unit\njournal off\n' >/etc/ringfence/watch.conf
cp packaging/systemd/ringfence-notify* "$scratch/units"
is "$(verify "$scratch/units" ringfence-notify.socket 'ringfence-notify@1.service')" '' 'systemd-analyze verify accepts the units of the program'
check 'its exposure is 2.0 at most' no_more_than "$(exposure "$scratch/units/ringfence-notify@.service")" 2.0
is "$(setting "$notify" CapabilityBoundingSet) $(setting "$notify" DynamicUser) $(setting "$notify" RuntimeMaxSec) $(setting "$socket" SocketUser)" \
	' yes 10s ringfence-watch' 'it has no capability, a user of its own and 10 s, and only the daemon may connect'
is "$(sed -n 's/^#define RF_NOTIFY_SOCKET "\(.*\)"/\1/p' user/daemon/sinks.h)" "$listen" 'the daemon connects to where the unit listens'
as_notify() { # the unit's settings for the program's process
	echo setpriv --reuid=60714 --regid=60714 --clear-groups --bounding-set="$(capabilities "$notify")" \
		--inh-caps=-all --no-new-privs "$(setting "$notify" ExecStart)"
}
heard() { # FILTER
	jq -e "select($1)" "$scratch/told" >/dev/null 2>&1
}
said() { # TEXT
	[ "$(grep -c -- "$1" "$scratch/log")" = 1 ]
}
as_unit "$sbin/ringfence-watch" >"$scratch/log" 2>&1 &
started[$!]=1
daemon_pid=$!
ringfence limit add other rate 1/1s match proto 132 >"$scratch/out"
check 'it says how to listen where nothing does' eventually said "ringfence-notify.sock: No such file or directory; 'systemctl enable --now ringfence-notify.socket'"
# shellcheck disable=SC2046 # words
start inside systemd-socket-activate --accept --inetd -l "$listen" $(as_notify) >"$scratch/activated" 2>&1
activator=$started_pid
eventually test -S "$listen"
chown 60713 "$listen" && chmod "$(setting "$socket" SocketMode)" "$listen"
ringfence limit add more rate 1/1s match proto 133 >"$scratch/out"
check 'as its unit runs it, the daemon hands events over to the program' eventually heard '.type == "rules_changed" and (.detail | test("more"))'
rm /etc/ringfence/notify
ringfence limit del more >"$scratch/out"
check 'a program that is missing is said, once' eventually said 'no program behind'
printf '#!/bin/sh\nsleep 100 & echo $! >>%s/pids; wait\n' "$scratch" >/etc/ringfence/notify
chmod 755 /etc/ringfence/notify
install -m 666 /dev/null "$scratch/pids"
before=$(stat -c %s /var/lib/ringfence/events.jsonl)
ringfence limit del other >"$scratch/out"
check 'a program is stuck' eventually test -s "$scratch/pids"
ringfence limit add last rate 1/1s match proto 134 >"$scratch/out"
wrote() {
	tail -c "+$((before + 1))" /var/lib/ringfence/events.jsonl | grep -q 'last'
}
check 'and does not hold up the scan' eventually wrote
check 'it is said that it is late' eventually said 'took more than 10 s'
stop TERM "$activator"
while read -r pid; do kill "$pid"; done <"$scratch/pids"
check 'the daemon ends' ends

# ---- the manual ----

items() { # of a section: the words of its items
	awk -v section=".Sh $1" '/^\.Sh/ { on = $0 == section } on && /^\.It Cm/ { sub(/^\.It Cm /, ""); sub(/ (Ar|Op) .*/, ""); print }' \
		docs/ringfence-watch.8
}
settings() { # of the help
	"$sbin/ringfence-watch" help | sed -n '/^Settings/,$s/^  \([a-z]\+\( file\| most\)\?\) .*/\1/p'
}
check 'the help has settings' test "$(settings | wc -l)" -ge 12
is "$(items SETTINGS | sed -E 's/ (none|on) .*//' | sort)" "$(settings | sort)" 'the manual has the settings of the help'
is "$(items COMMANDS | sort)" "$(printf '%s\n' check help version)" 'the manual has the commands'

done_testing
