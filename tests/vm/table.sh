#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# table.sh CELL…: what came out in each kernel with each compiler, as a page for docs/.

# shellcheck source=tests/vm/kernels.sh
source "$(dirname "$0")/kernels.sh"

results=build/vm/results

tap() { # CELL
	cat "$results/$1.tap" 2>/dev/null
}

# of CELL [WHAT]: how the tests went whose names begin with that.
of() {
	local ok not_ok

	ok=$(tap "$1" | grep -cE "^ok [0-9]+ - ${2-}")
	not_ok=$(tap "$1" | grep -cE "^not ok [0-9]+ - ${2-}")
	if [ "$not_ok" != 0 ]; then
		echo "**$not_ok of $((ok + not_ok)) failed**"
	elif ! tap "$1" | grep -q '^# the guest ends'; then
		echo '**the guest did not end**'
	elif [ "$ok" = 0 ]; then
		echo '**not run**'
	else
		echo "$ok passed"
	fi
}

release_of() { # CELL
	tap "$1" | sed -n 's/^# Linux //p' | head -n 1
}

row() { # CELL WHAT…
	local cell=$1 clang=$1 what

	clang=${clang#*+} clang=${clang%+*}
	printf '| %s | %s |' "$(release_of "$cell")" "$("$clang" -dumpversion)"
	for what in "${@:2}"; do
		printf ' %s |' "$(of "$cell" "$what")"
	done
	echo
}

# rows SUITE CELL…: the suite's table, where it was run.
rows() {
	local suite=$1 cell

	printf '%s\n' "${@:2}" | grep -q "+$suite\$" || return 0
	echo
	case $suite in
	fence)
		cat <<-'END'
			| Linux | clang | `doctor` | veth, `ip` | veth, `attach` | jumbo, `ip` | jumbo, `attach` | virtio, `ip` | virtio, `attach` | no offload control |
			|---|---|---|---|---|---|---|---|---|---|
		END
		;;
	chain) printf "| Linux | clang | \`attach … chain\` |\n|---|---|---|\n" ;;
	refuses) printf '| Linux | clang | refused, and nothing left behind |\n|---|---|---|\n' ;;
	units) printf '| Linux | clang | unit tests, a program each |\n|---|---|---|\n' ;;
	esac
	for cell in "${@:2}"; do
		case $cell in
		*+fence) [ "$suite" = fence ] && row "$cell" doctor: 'veth, ip:' 'veth, ringfence:' \
			'veth with jumbo frames, ip:' 'veth with jumbo frames, ringfence:' 'virtio, ip:' \
			'virtio(, ringfence)?:' 'virtio that keeps' ;;
		*+"$suite") row "$cell" '' ;;
		esac
	done
	return 0
}

cat <<'END'
# Kernels that ringfence was run on

`make check-kernels` boots them under QEMU (emulated, two CPUs) and makes this page; `make
check-kernels KERNELS="6.1 6.12"` takes some of them. They are Debian's, each the present one of its
release. The program is compiled by the oldest and by the newest clang at hand; what has no row was not run.

**Linux 6.1 is the oldest that is claimed**, because it is the oldest that passed: of what lies
between 5.10, which has to refuse, and 6.1, Debian's mirrors keep no kernel. The program needs atomic
operations that return a value (5.12); on 5.12 to 6.0 it was never run.

In each: the object is attached natively by `ip link … xdpdrv` and by `ringfence attach`, to veth, to
veth with a jumbo MTU (the entry for frames in several buffers), and to virtio_net with four queues.
Frames of eleven sources (IPv4, IPv6, TCP, UDP, a VLAN tag) are sent against two limits, one of them
of a port, and entries to allow and to deny; what comes out, the reasons, the limits' counters and
`show` are compared to the packet and byte. A build with another program takes over in place, and
rules, windows and counters stay. `cat` of the pinned iterator prints what `stats` does, and a member of
the group `ringfence` without capabilities reads the same (on veth). `ringfence doctor` finds nothing in
the way. A virtio_net whose offloads cannot be turned off (`ctrl_guest_offloads=off`) has no native XDP:
`attach` must say so.

`attach … chain`: the whole of `tests/e2e/test_chain.sh`, beside xdp-filter and others, in both orders,
with upgrades in place, some of them killed.
END
rows fence "$@"
rows chain "$@"
rows refuses "$@"
rows units "$@"
retries=0
for cell; do
	[ ! -e "$results/$cell.retries" ] || retries=$((retries + 1))
done
cat <<-END

	Boots repeated because the kernel died of \`Oops: int3\`, which newer ones do at random under this
	emulator: $retries of $#.

	arm64 and s390x (big-endian; the program compiled for \`bpfeb\`) are built by a cross compiler against
	Debian 12's libraries, with the same tests; \`make BPF_TARGET=bpfeb\` makes the object elsewhere. Debian's
	kernel for s390x has no BPF JIT: the program runs by the kernel's interpreter there, and there are no
	pins for \`cat\`, whose iterators take the JIT.
END
