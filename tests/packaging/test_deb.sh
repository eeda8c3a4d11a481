#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The Debian package in a separate root, created by debootstrap: it installs, works there, is
# upgraded under a fence without losing a packet, is removed, and leaves nothing. systemd does not
# run in there: a fake systemctl replies to the maintainer scripts and logs its arguments.
#
#   outside                      inside
#   out0  ------- wire 0 ------  eth0, whose fence is a unit's
#   out1  ------- wire 1 ------  eth1, attached by hand

# shellcheck disable=SC2016 # dollars for others
# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/../e2e/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../e2e/lib.sh"

port=([0]=eth0 [1]=eth1)
deb=$(echo build/deb/ringfence_*.deb)
root=/run/private/root
kept=build/chroot # shared by all runs; read-only

[ -f "$deb" ] || bail "there is no package; run 'make deb'"
watch=$(echo build/deb/ringfence-watch_*.deb)
[ -f "$watch" ] || bail "there is no package of the daemon; run 'make deb'"
fleet=$(echo build/deb/ringfence-fleet_*.deb)
[ -f "$fleet" ] || bail "there is no package of the agent; run 'make deb'"
tests/packaging/chroot.sh "$kept" "$deb" "$watch" "$fleet" >"$scratch/chroot" 2>&1 ||
	bail "cannot make the root: $(tail -n 5 "$scratch/chroot")"
make_network 2

prepare_root() {
	mkdir "$root" /run/private/changes /run/private/changes.work || return
	mount -t overlay root -o \
		"lowerdir=$kept,upperdir=/run/private/changes,workdir=/run/private/changes.work" "$root" ||
		return
	mkdir -p "$root/run"
	mount -t proc proc "$root/proc" && mount --rbind /sys "$root/sys" &&
		mount --bind /dev "$root/dev" 
}

# With its output in $scratch/log.
logged() {
	"$@" >"$scratch/log" 2>&1
}

in_root() {
	inside chroot "$root" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		DEBIAN_FRONTEND=noninteractive LC_ALL=C HOME=/ "$@"
}

# All files, except for the records of dpkg and similar programs.
tree() {
	(cd "$root" && find . -xdev \( -path ./var/lib/dpkg -o -path ./var/log -o -path ./var/cache \
		-o -path ./run -o -path ./tmp -o -path ./usr/local/bin/systemctl \) -prune -o \
		-type f -printf '%m %U:%G %p ' -exec sh -c 'sha256sum <"$1"' sh {} \; -o \
		-printf '%y %m %U:%G %p %l\n' | sort)
}

# A systemctl with one instance, which detaches the fence when it is stopped.
fake_systemctl() { # INTERFACE
	mkdir -p "$root/run/systemd/system"
	cat >"$root/usr/local/bin/systemctl" <<-end
		#!/bin/sh
		echo "\$*" >>/run/systemctl
		case "\$1 \$2" in
		'list-units '*) echo 'ringfence@$1.service loaded active exited ringfence on $1' ;;
		'stop ringfence@*.service') ringfence detach $1 ;;
		esac
	end
	chmod +x "$root/usr/local/bin/systemctl"
	: >"$root/run/systemctl"
}

asked() { # REGEX
	grep -qE -- "$1" "$root/run/systemctl"
}

matches "$(build/ringfence --version)" "ringfence $(dpkg-deb -f "$deb" Version) .*" \
	'the package has the version of the command'
prepare_root || bail 'cannot prepare the root'
tree >"$scratch/before"
cp "$deb" "$root/ringfence.deb"

# ---- installing ----

check 'dpkg -i installs the package' logged in_root dpkg -i /ringfence.deb
is "$(in_root dpkg-query -W -f '${Status}' ringfence)" 'install ok installed' \
	'dpkg-query shows the package as installed'
is "$(in_root ringfence --version)" "$(build/ringfence --version)" 'the installed command prints its version'
matches "$(describe in_root ringfence help)" 'exit 0'$'\n''usage: ringfence COMMAND .*stderr: ' \
	'the installed command prints help'
echo 'limit add any rate 5/1h exact' >"$root/etc/ringfence/eth0.rules"
does 'the installed command checks a file of rules' \
	"/etc/ringfence/eth0.rules: fine: 1 limit, 0 allowed and 0 denied prefixes, newcomers off" \
	in_root ringfence check /etc/ringfence/eth0.rules
check 'the package makes the group ringfence' logged in_root getent group ringfence
for page in man5/ringfence-json.5.gz man5/ringfence-rules.5.gz man8/ringfence.8.gz; do
	check "the package has the manual $page" test -s "$root/usr/share/man/$page"
done
check 'the package enables ringfence.service' \
	test -L "$root/etc/systemd/system/multi-user.target.wants/ringfence.service"

does 'the installed command attaches a fence' \
	"eth0: attached in native mode, fence 'eth0'" in_root ringfence attach eth0
check 'the installed command applies rules' logged in_root ringfence apply /etc/ringfence/eth0.rules dev eth0
deliver 0 src=198.51.100.1,count=20,proto=udp
is "$(sum "$received" | cut -d ' ' -f 1)" 5 'a limit of the installed command passes five of twenty packets'
check "ip attaches the installed object" inside ip link set dev eth1 xdpdrv obj \
	"$root/usr/lib/bpf/ringfence.bpf.o" sec xdp
matches "$(in_root ringfence status dev eth1)" 'fence eth1: .*native mode, attached by ip.*' \
	'the installed command finds a fence that ip attached'
check 'the installed command detaches a fence' logged in_root ringfence detach eth1

# ---- upgrading ----

fake_systemctl eth0
program=$(program_on 0)
check 'dpkg -i installs the package over itself' logged in_root dpkg -i /ringfence.deb
is "$(program_on 0)" "$program" 'installing the package over itself does not change the fence and its program'
check 'installing the package over itself tries to upgrade the fence' \
	grep -qF "eth0: already attached, fence 'eth0'; nothing to do" "$scratch/log"
check 'installing the package over itself stops or starts no fence' \
	eval '! asked "(stop|start|restart|reload).*ringfence@"'
check 'installing the package over itself does not unmount the bpffs' eval '! asked "(stop|restart).*ringfence\.service"'

# A fence attached by a different build: the same program with a different tag.
mkdir "$scratch/older"
cp -r Makefile bpf include user "$scratch/older"
sed -i '/^int ringfence.*(struct xdp_md \*ctx)$/ { n
s/{/{\n\tif (ctx->ingress_ifindex == ~0U)\n\t\treturn XDP_PASS;/ }' "$scratch/older/bpf/ringfence.bpf.c"
cmp -s bpf/ringfence.bpf.c "$scratch/older/bpf/ringfence.bpf.c" && bail 'nothing to change in the program'
env -u MAKEFLAGS -u MAKELEVEL make -C "$scratch/older" -j2 build/ringfence >"$scratch/log" 2>&1 ||
	bail "cannot build another program: $(tail -n 3 "$scratch/log")"
inside "$scratch/older/build/ringfence" attach eth0 >"$scratch/log" || bail 'cannot attach another program'
program=$(program_on 0)
check 'dpkg -i upgrades the package under a fence of another build' logged in_root dpkg -i /ringfence.deb
check 'upgrading the package upgrades a fence in place' \
	test "$(program_on 0)" != "$program" -a "$(program_on 0)" != none
check 'upgrading the package prints that the fence is upgraded in place' \
	grep -qF "eth0: upgraded in place, fence 'eth0'; windows and counters are preserved" "$scratch/log"
deliver 0 src=198.51.100.1,count=20,proto=udp
is "$(sum "$received" | cut -d ' ' -f 1)" 0 \
	'upgrading the package retains windows: a used-up window passes no packet'

fake_systemctl eth9
check 'upgrading the package succeeds if a fence cannot be upgraded' logged in_root dpkg -i /ringfence.deb
check 'upgrading the package names a fence that cannot be upgraded' \
	grep -qx 'ringfence: eth9: the fence keeps its old program' \
	"$scratch/log"

# ---- the daemon ----

cp "$watch" "$root/watch.deb"
check 'the daemon is not in the package of the command' test ! -e "$root/usr/sbin/ringfence-watch"
check 'dpkg -i installs the package of the daemon' logged in_root dpkg -i /watch.deb
is "$(in_root ringfence-watch version)" "$(build/ringfence-watch version)" 'the installed daemon prints its version'
check 'it has a dedicated user' logged in_root getent passwd ringfence-watch
check 'the package of the daemon enables its unit' asked 'preset ringfence-watch\.service'
install -d -m 750 "$root/var/lib/ringfence"
touch "$root/var/lib/ringfence/"{eth0.db,eth0.db-wal,eth0.db.damaged-20261129T120000Z,eth0.db.other-20261129T120000Z,events.jsonl}
check 'dpkg -P purges the package of the daemon' logged in_root dpkg -P ringfence-watch
check 'purging it removes its history' test ! -e "$root/var/lib/ringfence"
in_root userdel ringfence-watch >"$scratch/log" 2>&1
in_root groupdel ringfence-watch >"$scratch/log" 2>&1
rm -f "$root/etc/"{passwd,shadow}- "$root/watch.deb"
cp -a "$kept/etc/"{passwd,shadow}- "$root/etc/" 2>"$scratch/log"

# ---- the agent of a fleet ----

cp "$fleet" "$root/fleet.deb"
check 'the agent is not in the package of the command' test ! -e "$root/usr/sbin/ringfence-fleet"
check 'dpkg -i installs the package of the agent' logged in_root dpkg -i /fleet.deb
is "$(in_root ringfence-fleet version)" "$(build/ringfence-fleet version)" 'the installed agent prints its version'
check 'its unit is where systemd looks' test -e "$root/lib/systemd/system/ringfence-fleet@.service"
install -d -m 700 "$root/var/lib/ringfence-fleet"
touch "$root/var/lib/ringfence-fleet/edge.bans"
check 'dpkg -P purges it' logged in_root dpkg -P ringfence-fleet
check 'purging it removes the state of agents' test ! -e "$root/var/lib/ringfence-fleet"
rm "$root/fleet.deb"

# ---- removing ----

fake_systemctl eth0
in_root ringfence attach eth1 fence "$run-hand" >"$scratch/log" || bail 'cannot attach by hand'
check 'dpkg -r removes the package' logged in_root dpkg -r ringfence
is "$(program_on 0)" none "removing the package detaches the fence of a unit"
check 'removing the package leaves a fence that was attached by hand' test "$(program_on 1)" != none
matches "$(grep 'stays attached' "$scratch/log")" "ringfence: the fence of (.*) stays attached, with \
its rules; 'rm -r /sys/fs/bpf/ringfence/$run-hand/' detaches it" \
	'removing the package names the remaining fence, and the command to detach it'
check 'the command that detaches the remaining fence works' \
	eval "$(sed -n "s/.*; '\(rm -r .*\)' detaches it/\1/p" "$scratch/log")"
is "$(program_on 1)" none 'the remaining fence is detached after that command'
check 'removing the package does not remove the rules' test -s "$root/etc/ringfence/eth0.rules"
check 'removing the package removes the command' test ! -e "$root/usr/sbin/ringfence"

echo other >"$root/etc/ringfence/other"
check 'dpkg -P purges the package' logged in_root dpkg -P ringfence
check 'purging the package removes its rules' test ! -e "$root/etc/ringfence/eth0.rules"
check 'purging the package does not remove other files' test -s "$root/etc/ringfence/other"
rm -r "$root/etc/ringfence" "$root/ringfence.deb"
check 'purging the package does not remove the group' grep -q ^ringfence: "$root/etc/group"
in_root groupdel ringfence >"$scratch/log" 2>&1
rm -f "$root/etc/group-" "$root/etc/gshadow-"
cp -a "$kept/etc/"{group-,gshadow-} "$root/etc/" 2>"$scratch/log"
is "$(tree | diff "$scratch/before" -)" '' 'purging the package leaves no other file'
done_testing
