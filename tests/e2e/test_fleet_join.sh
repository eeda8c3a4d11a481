#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# fleet join and fleet leave: the settings that they write for the agent, and their refusals.
#
#   outside                      inside
#   out0  ------- wire 0 ------  eth0, with a fence
#   out1  ------- wire 1 ------  eth1

# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

port=([0]=eth0 [1]=eth1)
settings=/etc/ringfence/eth0.fleet

refuses() { # NAME SENTENCE WORD…: no file is written
	fails "$1" "${status:-1}" "ringfence: $2" ringfence fleet join "${@:3}"
	check "$1: nothing is written" test ! -e "$settings"
}

make_network 2
ringfence attach eth0 fleet >"$scratch/log"

# ---- refusals ----

status=2 refuses 'an engine has a port' \
	"'192.0.2.10': 'redis' expects HOST:PORT, like 192.0.2.10:6379 or [2001:db8::10]:6379" \
	eth0 redis 192.0.2.10 hosts 3
refuses 'the file of a password must be there' \
	'/etc/none: cannot read the password: No such file or directory' eth0 redis a:1 hosts 3 password file /etc/none
echo secret >/etc/secret
chmod 640 /etc/secret
refuses 'others must not read it' "/etc/secret: others may read the password; run 'chmod 600 /etc/secret'" \
	eth0 redis a:1 hosts 3 password file /etc/secret
refuses 'nor a key' "/etc/secret: others may read the key; run 'chmod 600 /etc/secret'" \
	eth0 redis a:1 hosts 3 key file /etc/secret
chmod 600 /etc/secret
: >/etc/empty
chmod 600 /etc/empty
refuses 'it has a password' '/etc/empty: it is no file with a password; write one into its first line' \
	eth0 redis a:1 hosts 3 password file /etc/empty
refuses 'the file of a key must be there' '/etc/none: cannot read the key: No such file or directory' \
	eth0 redis a:1 hosts 3 key file /etc/none
refuses 'it has a key' '/etc/empty: it is no file with a key; write one into its first line' \
	eth0 redis a:1 hosts 3 key file /etc/empty
echo 0123456789abcde >/etc/empty
refuses 'of 16 characters' \
	"/etc/empty: the key is too short: it must have 16 characters; 'openssl rand -hex 16' makes one" \
	eth0 redis a:1 hosts 3 key file /etc/empty
echo >/etc/empty
refuses 'a password has a character' '/etc/empty: no password is in its first line; write one there' \
	eth0 redis a:1 hosts 3 password file /etc/empty
does 'so far no number of hosts is set' \
	"no fleet; 'ringfence fleet hosts N' sets how many hosts share limits" ringfence fleet hosts

# ---- join ----

does 'join says what comes next' \
	"$settings: written; 'systemctl enable --now ringfence-fleet@eth0' starts the agent, 'systemctl restart ringfence-fleet@eth0' makes it reread the settings" \
	ringfence fleet join eth0 redis 192.0.2.10:6379 hosts 3
is "$(grep -v '^#' "$settings")" $'redis 192.0.2.10:6379\nhosts 3' 'the settings are in a file'
is "$(stat -c '%a %U' "$settings")" '644 root' 'which everybody may read'
does 'the number of hosts is set' 'the fleet has 3 hosts' ringfence fleet hosts
install -m 600 /dev/null /etc/key
echo secret-of-all-hosts >/etc/key
ringfence fleet join eth0 redis '[2001:db8::10]:6380' hosts 10 user edge password file /etc/secret \
	grace 5s asks 2k/s key file /etc/key >"$scratch/log"
is "$(grep -v '^#' "$settings")" \
	$'redis [2001:db8::10]:6380\nhosts 10\nuser edge\npassword file /etc/secret\ngrace 5s\nasks 2k/s\nkey file /etc/key' \
	'to join again replaces them'
does 'the agent takes what join has written' "fence 'eth0': no errors" build/ringfence-fleet check eth0
is "$(grep -c '^secret' "$settings")" 0 'no secret is in them'
does 'and the number of hosts' 'the fleet has 10 hosts' ringfence fleet hosts
is "$(ls /etc/ringfence)" eth0.fleet 'no other file is left there'

ringfence limit add few rate 100/1h fleet >"$scratch/log"
cp "$settings" "$scratch/before"
fails 'a number of hosts that a limit cannot have is refused' 1 \
	"ringfence: limit 'few': 'fleet' would pass up to 111 of its 100 over 12 hosts; accept that by 'initial 1', or write 'initial 0'" \
	ringfence fleet join eth0 redis a:1 hosts 12
check 'and the settings are as before' cmp "$settings" "$scratch/before"
mount -t tmpfs -o size=4k,nr_inodes=2 full /etc/ringfence
dd if=/dev/zero of=/etc/ringfence/fill bs=4k count=1 status=none
fails 'a full disk is told' 1 "ringfence: $settings: cannot write the settings: No space left on device" \
	ringfence fleet join eth0 redis a:1 hosts 10
is "$(ls /etc/ringfence)" fill 'and leaves nothing'
umount /etc/ringfence
check 'the settings before it are there' cmp "$settings" "$scratch/before"

# ---- fences ----

ringfence attach eth1 >"$scratch/log"
fails 'a fence without shares joins no fleet' 1 \
	"ringfence: fence 'eth1': it was attached without 'fleet'; save its rules, detach, and attach again with the word 'fleet'" \
	ringfence fleet join eth1 redis a:1 hosts 3
check 'and has no settings' test ! -e /etc/ringfence/eth1.fleet
fails 'the fence is named once' 2 "ringfence: 'dev': the fence is 'eth1' already; leave 'dev' out" \
	ringfence fleet join eth1 redis a:1 hosts 3 dev eth0

# ---- leave ----

does 'leave says what comes next' \
	"$settings: removed; 'systemctl disable --now ringfence-fleet@eth0' stops the agent; each host then enforces its own limits" \
	ringfence fleet leave eth0
check 'the settings are gone' test ! -e "$settings"
check 'the limits stay' grep -q 'few.*fleet' <(ringfence limit list dev eth0)
fails 'who is in no fleet cannot leave it' 1 \
	"ringfence: fence 'eth0': it is in no fleet: there is no $settings" ringfence fleet leave eth0
fails 'no path is a fence' 2 "ringfence: '../passwd': no fence has such a name" ringfence fleet leave ../passwd

# ---- nodes of a cluster ----

check 'eight are taken' ringfence fleet join eth0 redis 'a:1,a:2,[2001:db8::1]:3,a:4,a:5,a:6,a:7,a:8' hosts 3
check 'and written' grep -qx 'redis a:1,a:2,\[2001:db8::1\]:3,a:4,a:5,a:6,a:7,a:8' /etc/ringfence/eth0.fleet
done_testing
