#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# fail2ban bans and unbans through the action file: by its command and by a log, for both families,
# temporarily and permanently, without changing entries from other origins, and after the list was
# replaced.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../e2e/lib.sh"

command -v fail2ban-server >/dev/null || bail "fail2ban is not installed; run 'make deps-ecosystem'"

make_network 1
ringfence attach "${port[0]}" >/dev/null || bail 'cannot attach'
ringfence limit add any rate 1M/1s

home=$scratch/fail2ban
mkdir -p "$home"/{action.d,filter.d,fail2ban.d,jail.d}
cp packaging/fail2ban/ringfence.conf "$home/action.d/"
cat >"$home/fail2ban.conf" <<-end
	[Definition]
	loglevel = INFO
	logtarget = $scratch/fail2ban.log
	socket = $scratch/f2b.sock
	pidfile = $scratch/f2b.pid
	dbfile = $scratch/f2b.sqlite3
	dbpurgeage = 1d
	syslogsocket = auto
	dbmaxmatches = 10
end
cat >"$home/filter.d/probe.conf" <<-'end'
	[Definition]
	failregex = ^probe: refused <ADDR>$
	datepattern = {NONE}
end
cat >"$home/jail.conf" <<-end
	[DEFAULT]
	backend = polling
	action = ringfence[ringfence="$PWD/build/ringfence", dev="dev ${port[0]}"]
	usedns = no
	maxretry = 2
	findtime = 1h
	[probe]
	enabled = true
	filter = probe
	logpath = $scratch/probe.log
	bantime = 1h
	[always]
	enabled = true
	filter = probe
	logpath = $scratch/always.log
	bantime = -1
end
: >"$scratch/probe.log"
: >"$scratch/always.log"

client() {
	inside fail2ban-client -c "$home" -s "$scratch/f2b.sock" "$@"
}

answers() {
	client ping >/dev/null 2>&1
}

start_server() {
	inside fail2ban-server -c "$home" -s "$scratch/f2b.sock" -p "$scratch/f2b.pid" -xf start \
		>"$scratch/server.log" 2>&1 &
	server=$!
	started[$server]=1
	eventually answers || bail "fail2ban does not start: $(tail -n 5 "$scratch/server.log")"
}

stop_server() {
	client stop >/dev/null
	wait "$server"
	unset "started[$server]"
}

denied() { # the prefixes on the list, in one line
	ringfence deny list --json | jq -r '[.prefixes[].prefix] | join(" ")'
}

list_is() { # PREFIXES
	[ "$(denied)" = "$1" ]
}

denies() { # PREFIXES: waits until the list has exactly these
	eventually list_is "$1" || { explain 'the list' "$(denied)" && return 1; }
}

left_s() { # PREFIX
	ringfence deny list --json | jq --arg p "$1" '.prefixes[] | select(.prefix == $p).left_ms / 1000 | floor'
}

start_server
is "$(denied)" '' 'starting fail2ban denies no address'
client set probe banip 192.0.2.66 2001:db8::66 >/dev/null
check 'banip denies sources of both families' denies '192.0.2.66 2001:db8::66'
left=$(left_s 192.0.2.66)
check 'the entry expires automatically a minute after the ban' test "$left" -ge 3600 -a "$left" -le 3660
client set always banip 192.0.2.67 >/dev/null
check 'a permanent ban is an entry without expiry' denies '192.0.2.66 192.0.2.67 2001:db8::66'
is "$(ringfence deny list --json | jq -c '.prefixes[] | select(.prefix == "192.0.2.67").left_ms')" null \
	'the list shows it without expiry'

printf 'probe: refused 198.51.100.%d\n' 7 8 7 >>"$scratch/probe.log"
check 'a source that the log names often enough is denied' \
	denies '192.0.2.66 192.0.2.67 198.51.100.7 2001:db8::66'

ringfence deny add 203.0.113.0/24
printf '%s\n' 192.0.2.66 192.0.2.68 >"$scratch/blocklist"
ringfence deny load "$scratch/blocklist" replace by blocklist >/dev/null
client set probe unbanip 192.0.2.66 >/dev/null
check 'unbanip leaves an entry of a blocklist' \
	denies '192.0.2.66 192.0.2.67 192.0.2.68 198.51.100.7 203.0.113.0/24 2001:db8::66'
echo 203.0.113.0/24 >"$scratch/blocklist"
ringfence deny load "$scratch/blocklist" replace by blocklist >/dev/null
check 'unbanip deletes its entry, and no other; a blocklist that is loaded again deletes none of them' \
	denies '192.0.2.67 198.51.100.7 203.0.113.0/24 2001:db8::66'

stop_server
check "stopping deletes only fail2ban's entries" denies '203.0.113.0/24'
start_server
check 'a start denies again who is still banned' denies \
	'192.0.2.67 198.51.100.7 203.0.113.0/24 2001:db8::66'

echo 'limit add any rate 1M/1s' | ringfence apply - >/dev/null
client set probe unbanip 2001:db8::66 >/dev/null
is "$(grep ERROR "$scratch/fail2ban.log")" '' 'fail2ban reports no error, even if the entry was already removed'
client reload --restart >/dev/null
check 'after the list was replaced, a restart of the jails denies them again' \
	denies '192.0.2.67 198.51.100.7'

ringfence detach "${port[0]}" >/dev/null
client set probe banip 192.0.2.99 >/dev/null
check 'fail2ban reports an error without a fence' \
	eventually grep -q 'ERROR.*192.0.2.99' "$scratch/fail2ban.log"
stop_server

done_testing
