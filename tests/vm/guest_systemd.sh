#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Runs in a guest whose first process is systemd: 'make install', after which the units start without
# a reboot; then the packages, the units of the daemon and of notifications, a flood, a daemon that is
# killed. Results are TAP on standard output.
#
#   namespace `far`                 here
#   near0 10.9.0.2  -------------  far0 10.9.0.1, with a fence

results=0
exec 2>&1

check() { # NAME CMD…
	local verdict='not ok'

	"${@:2}" >/run/output 2>&1 && verdict=ok
	results=$((results + 1))
	echo "$verdict $results - $1"
	[ "$verdict" = ok ] || sed 's/^/#   /' /run/output
}

eventually() { # CMD…, for 5 minutes: the machine is emulated, and can have little CPU time
	local end=$((SECONDS + 300))

	until "$@"; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.5
	done
}

property() { # UNIT PROPERTY
	systemctl show -P "$2" "$1"
}

is() { # UNIT PROPERTY VALUE
	echo "$2 is '$(property "$1" "$2")', not '$3'"
	[ "$(property "$1" "$2")" = "$3" ]
}

flood() {
	ip netns exec far ping -q -f -c 300 -W 1 10.9.0.1 >/dev/null
	true
}

told() { # TYPE: the event arrived in /etc/ringfence/notify, which prints its input
	journalctl -o cat -u 'ringfence-notify@*' | grep -q "\"type\":\"$1\""
}

in_journal() { # TYPE
	journalctl -o json -u ringfence-watch "RINGFENCE_EVENT=$1" 2>/dev/null | grep -q MESSAGE_ID
}

restarted() {
	[ "$(property ringfence-watch NRestarts)" = 1 ] && systemctl -q is-active ringfence-watch
}

no_process() {
	! pgrep -x ringfence-watch
}

make_of() { # TARGET: with files built outside, because the guest has no compiler
	make -C /root/tree -o all --no-print-directory "$1"
}

# The units of 'make install', on a machine that never had a package of ringfence.
installs_from_make() {
	check 'no user of the daemon is there' sh -c '! getent passwd ringfence-watch && ! getent group ringfence'
	check 'make install works' make_of install
	check 'it prints no command that is left to run' sh -c '! grep "run as root" /run/output'
	check 'the user of the daemon is there after make install' getent passwd ringfence-watch
	check 'systemctl starts the fence after make install, without a reboot' systemctl start ringfence@far0
	check 'its program is the installed one' /usr/local/sbin/ringfence status dev far0
	check 'systemctl starts the daemon after make install, without a reboot' systemctl start ringfence-watch
	check 'the daemon stays active' eventually sh -c \
		"curl -s http://127.0.0.1:9436/metrics | grep -qx 'ringfence_up{fence=\"far0\"} 1'"
	check 'systemctl stops both' systemctl stop ringfence-watch ringfence@far0 ringfence.service
	check 'make uninstall works' make_of uninstall
	check 'systemd knows the unit no more' is ringfence-watch.service LoadState not-found
	userdel ringfence-watch
	groupdel ringfence
	rm -rf /etc/ringfence /var/lib/ringfence
}

check 'the first process is systemd' grep -qx systemd /proc/1/comm
ip netns add far
ip link add far0 type veth peer name near0 netns far
ip addr add 10.9.0.1/24 dev far0
ip link set far0 up
ip -n far addr add 10.9.0.2/24 dev near0
ip -n far link set near0 up
installs_from_make
check 'the packages install' dpkg -i /root/ringfence_*.deb /root/ringfence-watch_*.deb
check 'the user of the daemon is there' getent passwd ringfence-watch
mkdir -p /etc/ringfence
printf '%s\n' 'exec unit' 'sources full' >/etc/ringfence/watch.conf
printf '%s\n' '#!/bin/sh' 'cat' >/etc/ringfence/notify
chmod 755 /etc/ringfence/notify
echo 'limit add any rate 20/10s' >/etc/ringfence/far0.rules

for unit in ringfence.service ringfence-watch.service \
	ringfence-notify.socket ringfence-notify@.service ringfence@.service; do
	check "systemd finds no mistake in $unit" sh -c "! systemd-analyze verify --man=no /lib/systemd/system/$unit 2>&1 | grep -i ringfence"
done

check 'systemctl starts the fence' systemctl start ringfence@far0
check 'the fence is attached' ringfence status dev far0
check 'systemctl starts the socket of notifications' systemctl enable --now ringfence-notify.socket
check 'systemctl starts the daemon' systemctl restart ringfence-watch
check 'the daemon is active' systemctl is-active ringfence-watch
check 'it runs as its user, without capabilities' sh -c \
	"grep -qx 'CapEff:	0000000000000000' /proc/\$(systemctl show -P MainPID ringfence-watch)/status"
check 'it serves the metrics of the fence' eventually sh -c \
	"curl -s http://127.0.0.1:9436/metrics | grep -qx 'ringfence_up{fence=\"far0\"} 1'"
flood
check 'an event of a flood comes to the program of ringfence-notify@' eventually told source_limited
check 'and to the journal, with its fields' eventually in_journal source_limited
check 'ringfence events shows it' sh -c "ringfence events | grep -q 10.9.0.2"
check 'systemctl reloads the daemon' systemctl reload ringfence-watch
check 'the daemon is active after it' systemctl is-active ringfence-watch

kill -KILL "$(property ringfence-watch MainPID)"
check 'a daemon that is killed comes back' eventually restarted
sleep 2
flood
check 'and it goes on watching' eventually sh -c \
	"curl -s http://127.0.0.1:9436/metrics | grep -qx 'ringfence_up{fence=\"far0\"} 1'"
check 'systemctl stops the daemon' systemctl stop ringfence-watch
check 'it ended well' is ringfence-watch Result success
check 'none of its processes is left' no_process
check 'nor a unit that failed' sh -c '! systemctl --failed --no-legend | grep ringfence'
check 'systemctl starts it again' systemctl start ringfence-watch
check 'the fence is still there' ringfence status dev far0
for unit in ringfence-watch ringfence-notify@ ringfence@far0; do
	echo "# $unit: $(systemd-analyze security --no-pager "$unit.service" 2>&1 | tail -n 1)"
done
journalctl --no-pager -u ringfence-watch -o cat | sed 's/^/# daemon: /'
journalctl --no-pager -u 'ringfence-notify@*' | sed 's/^/# notify: /' | tail -n 12
check 'apt removes the daemon' dpkg -r ringfence-watch
check 'which then does not run' no_process
echo "1..$results"
echo '# the guest ends'
