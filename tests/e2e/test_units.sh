#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The systemd units, without systemd running them: systemd accepts them as they are, and their own
# commands work within the capabilities, read-only file system, groups, system calls and socket
# families that the units allow.
#
#   outside                      inside
#   out0  ------- wire 0 ------  eth0
#   out1  ------- wire 1 ------  eth1

# shellcheck disable=SC2016 # dollars of commands for later
# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/unit_files.sh
source "$(dirname "$0")/unit_files.sh"

port=([0]=eth0 [1]=eth1)
prepares=packaging/systemd/ringfence.service
fences=packaging/systemd/ringfence@.service
repairs=packaging/systemd/ringfence-repair@.service
sbin=/run/private/sbin # not hidden by a unit
rules=/etc/ringfence/eth0.rules
mkdir "$sbin" /etc/ringfence
cp build/ringfence "$sbin"
rm -f /etc/ringfence/*
make_network 2

# ---- checks by systemd ----

units=$scratch/units
mkdir "$units"
for unit in "$prepares" "$fences" "$repairs"; do
	sed "s|/usr/sbin/ringfence|$sbin/ringfence|" "$unit" >"$units/${unit##*/}"
done
is "$(verify "$units" ringfence.service ringfence@eth0.service 'ringfence@br\x2dlan.service' \
	ringfence-repair@eth0.service)" '' \
	'systemd-analyze verify accepts the units'
mkdir "$scratch/broken"
sed 's/^ProtectSystem=/ProtectSytsem=/' "$units/ringfence@.service" >"$scratch/broken/ringfence@.service"
cp "$units/ringfence.service" "$scratch/broken"
matches "$(verify "$scratch/broken" ringfence@eth0.service)" ".*ProtectSytsem.*" \
	'systemd-analyze verify finds a misspelt key'
check "exposure of ringfence@.service is 2.5 at most" \
	no_more_than "$(exposure "$units/ringfence@.service")" 2.5
check "exposure of ringfence-repair@.service is 2.5 at most" \
	no_more_than "$(exposure "$units/ringfence-repair@.service")" 2.5
check "exposure of ringfence.service, which mounts, is 4.5 at most" \
	no_more_than "$(exposure "$units/ringfence.service")" 4.5

# ---- what systemd does ----

# commands UNIT KEY INTERFACE: prints the commands as a shell takes them.
commands() {
	setting "$1" "$2" | sed "s/%[iI]/$3/g; s/\\\$\\\$/\$/g; s|/usr/sbin/ringfence|$sbin/ringfence|g"
}

# Sets the permissions of a unit's process: private mounts if needed, its groups, its capabilities.
confined() { # UNIT CMD…
	local propagation=slave groups=--clear-groups

	# A unit without ProtectSystem= and the like has the mounts of the machine.
	grep -qE '^(ProtectSystem|PrivateTmp|ReadOnlyPaths)=' "$1" || propagation=''
	[ -z "$(setting "$1" SupplementaryGroups)" ] ||
		groups=--groups=$(getent group "$(setting "$1" SupplementaryGroups)" | cut -d : -f 3)
	set -- "$PWD/$1" setpriv --bounding-set="$(capabilities "$1")" --inh-caps=-all --no-new-privs \
		"$groups" "${@:2}"
	if [ -n "$propagation" ]; then
		inside unshare --mount --propagation "$propagation" bash -c "$confine" bash "$@"
	else
		inside "${@:2}"
	fi
}

# run_unit UNIT KEY INTERFACE: runs the commands until one fails; their output is in $printed.
run_unit() {
	local command status=0 options=''

	printed=''
	[ ! -e "/etc/ringfence/$3.options" ] ||
		options=$(sed -n 's/^ATTACH_OPTIONS=//p' "/etc/ringfence/$3.options")
	while [ "$status" = 0 ] && read -r command; do
		command=${command/ \$ATTACH_OPTIONS/ $options}
		eval "set -- $1 '' '' $command"
		# shellcheck disable=SC2154 # umask is the unit's
		printed+=$(umask "$(setting "$1" UMask)" && confined "$1" "${@:4}" 2>&1)$'\n'
		status=$?
	done < <(commands "$1" "$2" "$3")
	return "$status"
}

succeeds() { # NAME UNIT KEY INTERFACE
	local status

	run_unit "${@:2}"
	status=$?
	is "$status" 0 "$1"
	[ "$status" = 0 ] || explain 'what it said' "$printed"
}

# ---- ringfence.service ----

succeeds 'ringfence.service starts' "$prepares" ExecStart ''
is "$(stat -f -c %T /run/ringfence)" bpf_fs 'ringfence.service mounts a bpffs at /run/ringfence'
is "$(stat -c '%a %U %G' /run/ringfence)" '2750 root ringfence' \
	'ringfence.service gives /run/ringfence to the group'
is "$(stat -c '%a %U' /run/ringfence.lock)" '600 root' 'ringfence.service makes a lock that only root may take'
succeeds 'ringfence.service starts a second time' "$prepares" ExecStart ''
is "$(grep -c ' /run/ringfence ' /proc/self/mountinfo)" 1 'ringfence.service mounts nothing twice'

# ---- ringfence@.service ----

limits() { # WIRE
	ringfence limit list dev "${port[$1]}"
}

echo 'limit add any rate 5/1h exact' >"$rules"
succeeds 'ringfence@eth0 starts' "$fences" ExecStart eth0
is "$(interfaces 0)" 'eth0: native, ringfence' 'ringfence@eth0 attaches a fence'
matches "$(limits 0)" '.*limit add any rate 5/1h .*exact.*' 'ringfence@eth0 applies the rules of its file'
deliver 0 src=198.51.100.1,count=3,proto=udp
is "$(sum "$received" | cut -d ' ' -f 1)" 3 'a limit of ringfence@eth0 passes three packets of five'
succeeds 'ringfence@eth0 starts a second time' "$fences" ExecStart eth0

echo 'limit add any rate 7/1h exact' >"$rules"
succeeds 'reload of ringfence@eth0 works' "$fences" ExecReload eth0
matches "$(limits 0)" '.*limit add any rate 7/1h .*' 'reload applies the rules of the file'
deliver 0 src=198.51.100.1,count=10,proto=udp
is "$(sum "$received" | cut -d ' ' -f 1)" 4 'reload keeps the windows: four more packets pass, seven in all'

inside sysctl -qw net.ipv4.tcp_syncookies=2
printf '%s\n' 'limit add any rate 7/1h exact' 'newcomers rate 10k/1s then challenge' >"$rules"
succeeds 'reload of rules that challenge newcomers works' "$fences" ExecReload eth0
matches "$(ringfence save dev eth0)" '.*newcomers rate 10k/1s then challenge' 'reload applies a challenge'
echo 'limit add any rate 7/1h exact' >"$rules"
succeeds 'reload of rules without a challenge works' "$fences" ExecReload eth0

# The command of ringfence-repair@eth0, which does not exit on its own.
(
	umask "$(setting "$repairs" UMask)"
	eval "confined '$repairs' $(commands "$repairs" ExecStart eth0)" >"$scratch/repaired" 2>&1
) &
repairing=$!
set_mtu() {
	outside ip link set out0 mtu "$1"
	inside ip link set eth0 mtu "$1"
}
set_mtu 3500
check 'ringfence-repair@eth0 repairs the fence within what the unit allows' \
	eventually grep -q 'eth0: changed in place' "$scratch/repaired"
set_mtu 1500
matches "$(limits 0)" '.*limit add any rate 7/1h .*' 'a repair leaves the rules'
ringfence attach eth0 >"$scratch/attached"
pkill -TERM -P "$repairing" # the shell's child has become the command
wait "$repairing"

printf 'limit add any rate 9/1h\nlimit add other rate lots\n' >"$rules"
run_unit "$fences" ExecReload eth0
is "$?" 1 'reload of a broken file fails'
matches "$printed" "ringfence: $rules:2: 'lots': .*"$'\n*' \
	'reload of a broken file prints the line that is wrong'
matches "$(limits 0)" '.*limit add any rate 7/1h .*' 'reload of a broken file leaves the rules'

run_unit "$fences" ExecStart eth0
is "$?" 1 'a second start with a broken file fails'
matches "$(limits 0)" '.*limit add any rate 7/1h .*' 'a second start with a broken file leaves the rules'
succeeds 'stop of ringfence@eth0 works' "$fences" ExecStop eth0
is "$(program_on 0)" none 'stop takes the fence off'
check 'stop removes the pins' test ! -e "$pins/eth0"

run_unit "$fences" ExecStart eth0
is "$?" 1 'a first start with a broken file fails'
is "$(interfaces 0)" 'eth0: native, ringfence' \
	'ringfence@eth0 with a broken file attaches a fence at its first start'
matches "$(ringfence status dev eth0 | unwrapped)" '.*no limit is set: the fence observes, and drops nothing.*' \
	'ringfence@eth0 with a broken file only observes after its first start'
deliver 0 src=198.51.100.1,count=10,proto=udp
is "$(sum "$received" | cut -d ' ' -f 1)" 10 \
	'ringfence@eth0 with a broken file drops no packet after its first start'
echo 'limit add any rate 5/1h' >"$rules"
succeeds 'a start with a corrected file works' "$fences" ExecStart eth0
matches "$(limits 0)" '.*limit add any rate 5/1h.*' 'a start with a corrected file applies its rules'

echo 192.0.2.66 >/etc/ringfence/bad.txt
echo 'deny load bad.txt' >"$rules"
succeeds 'reload of a file with a relative path works' "$fences" ExecReload eth0
matches "$(ringfence deny list dev eth0)" '.*192.0.2.66.*' \
	'a relative path in a file of rules starts at /etc/ringfence'

# One fence on two interfaces, as in the manual.
succeeds 'stop of ringfence@eth0 works again' "$fences" ExecStop eth0
rm "$rules"
echo 'limit add any rate 5/1h exact' >/etc/ringfence/uplinks.rules
for wire in 0 1; do
	echo 'ATTACH_OPTIONS=fence uplinks' >"/etc/ringfence/eth$wire.options"
	ln -s uplinks.rules "/etc/ringfence/eth$wire.rules"
	succeeds "ringfence@eth$wire starts with the fence uplinks" "$fences" ExecStart "eth$wire"
done
is "$(ringfence status --json dev uplinks | jq -r '[.interfaces[].name] | sort | join(" ")')" 'eth0 eth1' \
	'two units attach one fence'
deliver 0 src=198.51.100.9,count=3,proto=udp
deliver 1 src=198.51.100.9,count=9,proto=udp
is "$(sum "$received" | cut -d ' ' -f 1)" 2 'a source has one budget on the interfaces of two units'
echo 'limit add any rate 6/1h exact' >/etc/ringfence/uplinks.rules
succeeds 'reload of one of the two units works' "$fences" ExecReload eth1
matches "$(limits 0)" '.*limit add any rate 6/1h .*' 'reload of one unit applies the rules to both interfaces'
# The unit of eth1 would see no eth1: /sys belongs to a different namespace here.
check 'the command that stops one of the two units works' inside "$sbin/ringfence" detach eth1
is "$(program_on 1)" none 'stop of one unit takes the fence off its interface'
matches "$(limits 0)" '.*limit add any rate 6/1h .*' 'stop of one unit leaves the other interface its rules'
succeeds 'stop of the other unit works' "$fences" ExecStop eth0
check 'stop of both units removes the fence' test ! -e "$pins/uplinks"
rm /etc/ringfence/eth[01].* /etc/ringfence/uplinks.rules
echo 'limit add any rate 5/1h' >"$rules"
succeeds 'ringfence@eth0 starts alone again' "$fences" ExecStart eth0

# An interface without rules, with options.
echo 'ATTACH_OPTIONS=mode generic sources 2048' >/etc/ringfence/eth1.options
succeeds 'ringfence@eth1 starts without rules' "$fences" ExecStart eth1
is "$(interfaces 1)" 'eth1: generic, ringfence' 'ringfence@eth1 attaches with the options of its file'
run_unit "$fences" ExecReload eth1
is "$?" 1 'reload without a file of rules fails'
matches "$printed" 'ringfence: /etc/ringfence/eth1.rules: .*No such file.*'$'\n*' \
	'reload without a file names the missing file'
outside ip link del out1
succeeds 'stop works when the interface is gone' "$fences" ExecStop eth1
rm -rf "$pins/eth1" /run/ringfence/eth1 # which wait for it to come back

# ---- permissions of the sandbox ----

# traced UNIT KEY INTERFACE: runs the commands under strace, which appends to $scratch/trace.
traced() {
	local command

	while read -r command; do
		eval "set -- $1 $2 '$3' ${command/ \$ATTACH_OPTIONS/}"
		inside strace -f -qq -o "$scratch/one" "${@:4}" >"$scratch/traced" 2>&1 ||
			fail "traced: ${*:4}: $(<"$scratch/traced")"
		cat "$scratch/one" >>"$scratch/trace"
	done < <(commands "$1" "$2" "$3")
}

succeeds 'stop of ringfence@eth0 works once more, after a later start' "$fences" ExecStop eth0
echo 'limit add any rate 5/1h' >"$rules"
: >"$scratch/trace"
for key in ExecStart ExecReload ExecStop; do
	traced "$fences" "$key" eth0
done
check 'the trace of ringfence@eth0 shows that the program is loaded' grep -q '(BPF_PROG_LOAD' "$scratch/trace"
allows_all "$fences"
run_unit "$fences" ExecStart eth0
set_mtu 3500
start inside strace -f -qq -o "$scratch/trace" "$sbin/ringfence" repair eth0 >"$scratch/traced" 2>&1
check 'the trace of ringfence-repair@eth0 shows a repair' eventually grep -q '(BPF_LINK_UPDATE' "$scratch/trace"
pkill -TERM -P "$started_pid" # strace exits with it
wait "$started_pid"
unset "started[$started_pid]"
allows_all "$repairs"
succeeds 'stop of ringfence@eth0 works after a repair' "$fences" ExecStop eth0
: >"$scratch/trace"
traced "$prepares" ExecStart ''
allows_all "$prepares"

# ---- stopping ringfence.service ----

mkdir /run/ringfence/kept
bpftool map create /run/ringfence/kept/map type array key 4 value 4 entries 1 name kept ||
	fail 'a map can be pinned there'
succeeds 'stop of ringfence.service works with a map pinned' "$prepares" ExecStop ''
check 'stop of ringfence.service leaves what is pinned' test -e /run/ringfence/kept/map
rm /run/ringfence/kept/map
mkdir /run/ringfence/empty
succeeds 'stop of ringfence.service works when nothing is pinned' "$prepares" ExecStop ''
is "$(stat -f -c %T /run/ringfence)" tmpfs 'stop of ringfence.service unmounts the bpffs when nothing is pinned'
succeeds 'stop of ringfence.service works without a bpffs' "$prepares" ExecStop ''
done_testing
