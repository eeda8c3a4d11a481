# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# Sourced after lib.sh, for tests of systemd units without systemd running them: systemd's checks of
# a unit, the unit's permissions, and the calls in a trace of its commands.

# shellcheck disable=SC2016,SC2034,SC2154 # dollars for later; the tests use it; lib.sh has it

# ---- checks by systemd ----

verify() { # DIRECTORY UNIT…: with the other units of that directory
	(cd "$1" && SYSTEMD_UNIT_PATH=$1: systemd-analyze verify --man=no "${@:2}") 2>&1
}

exposure() { # UNIT
	systemd-analyze security --offline=true --no-pager "$1" 2>/dev/null |
		sed -n 's/.*Overall exposure level for [^:]*: \([0-9.]*\).*/\1/p'
}

no_more_than() { # NUMBER BOUND
	awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && a + 0 <= b + 0) }'
}

# ---- permissions of a unit ----

setting() { # UNIT KEY: its values, a line each
	sed -n "s/^$2=//p" "$1"
}

# The capabilities as setpriv expects them: all removed, except these.
capabilities() { # UNIT
	printf -- '-all'
	setting "$1" CapabilityBoundingSet | tr ' ' '\n' | sed 's/^CAP_/,+/' | tr 'A-Z\n' 'a-z\0' |
		tr -d '\0'
}

# Makes everything read-only except the unit's paths, if it has ProtectSystem=strict; as $1 does
# $2….
confine='
	unit=$1
	shift
	read_write=$(sed -n "s/^ReadWritePaths=//p; s|^StateDirectory=|/var/lib/|p; s|^RuntimeDirectory=|/run/|p" "$unit" | tr "\n" " ")
	for path in $read_write; do
		mount --bind "$path" "$path" || exit 99
	done
	! grep -qx ProtectSystem=strict "$unit" || while read -r path; do
		case " $read_write " in *" $path "*) continue ;; esac
		case $path in
		/proc | /proc/* | /dev | /dev/* | /run/netns/*) ;;
		*) mount -o remount,bind,ro "$path" || exit 99 ;;
		esac
	done <<-end
		$(cut -d " " -f 5 /proc/self/mountinfo | sort -ur)
	end
	! grep -qx ProtectHome=yes "$unit" || mount -t tmpfs -o ro,mode=0 none /root || exit 99
	! grep -qx PrivateTmp=yes "$unit" || mount -t tmpfs none /tmp || exit 99
	! grep -qx ProcSubset=pid "$unit" || mount -t proc -o subset=pid proc /proc || exit 99
	cd /etc/ringfence 2>/dev/null || cd /
	exec "$@"'

# The system calls of a set, and of the sets inside it.
calls() { # SET
	systemd-analyze syscall-filter "$1" 2>/dev/null | sed -n 's/^    \([@a-z0-9_-]*\)$/\1/p' |
		while read -r name; do
			case $name in @*) calls "$name" ;; *) echo "$name" ;; esac
		done
}

# The system calls that the unit allows; a list that starts with ~ removes calls.
allowed_calls() { # UNIT
	local line name

	: >"$scratch/allowed"
	while read -r line; do
		for name in ${line#\~}; do
			case $name in @*) calls "$name" ;; *) echo "$name" ;; esac
		done >"$scratch/listed"
		if [ "${line#\~}" = "$line" ]; then
			cat "$scratch/listed" >>"$scratch/allowed"
		else
			grep -vxFf "$scratch/listed" "$scratch/allowed" >"$scratch/left"
			mv "$scratch/left" "$scratch/allowed"
		fi
	done < <(setting "$1" SystemCallFilter)
	sort -u "$scratch/allowed"
}

# The calls in a trace that a unit does not allow, except strace's own execve.
used_calls() {
	sed -n 's/^[0-9]* *\([a-z0-9_]*\)(.*/\1/p' "$scratch/trace" | sort -u
}

used_sockets() {
	grep -o 'socket(AF_[A-Z0-9]*' "$scratch/trace" | sed 's/socket(//' | sort -u
}

allows_all() { # UNIT
	check "traces of ${1##*/} show system calls" test "$(used_calls | wc -l)" -gt 20
	is "$(used_calls | grep -vxFf <(allowed_calls "$1"))" '' "${1##*/} allows the system calls it makes"
	is "$(used_sockets | grep -vxFf <(setting "$1" RestrictAddressFamilies | tr ' ' '\n'))" '' \
		"${1##*/} allows the sockets it opens"
}
