#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# table.sh CELL…: prints the results of each kernel with each compiler, as a page for docs/.

# shellcheck source=tests/vm/kernels.sh
source "$(dirname "$0")/kernels.sh"

results=build/vm/results

tap() { # CELL
	cat "$results/$1.tap" 2>/dev/null
}

# of CELL [PREFIX]: prints the number of passed or failed tests whose names start with PREFIX.
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

# card_facts CELL: "CARD | COLUMN | TEXT", a line each.
card_facts() {
	tap "$1" | sed -n 's/^# card //p'
}

# cards COLUMNS CELL…: prints a row per card, with the results of its guest.
cards() {
	local cell card column said

	for cell in "${@:2}"; do
		card_facts "$cell" | cut -d'|' -f1 | awk '!seen[$0]++' | while read -r card; do
			printf '| %s | %s | %s |' "$(release_of "$cell")" "$card" "$(of "$cell")"
			while read -r column; do
				said=$(card_facts "$cell" | awk -F ' [|] ' -v card="$card" -v column="$column" '
					$1 == card && $2 == column { text = text separator $3; separator = ", " }
					END { print text }')
				printf ' %s |' "${said:-–}"
			done <<<"$1"
			echo
		done
	done
}

# rows SUITE CELL…: prints the suite's table, unless it was not run.
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
	lists) printf '| Linux | clang | lists, changed in place |\n|---|---|---|\n' ;;
	shares) printf '| Linux | clang | shares of a fleet, a program each |\n|---|---|---|\n' ;;
	bond) printf '| Linux | clang | a bond in a fence of several interfaces |\n|---|---|---|\n' ;;
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

# network_cards CELL…
network_cards() {
	local cell found=()

	for cell; do
		! is_card "${cell##*+}" || found+=("$cell")
	done
	[ ${#found[@]} -gt 0 ] || return 0
	cat <<-'END'

		| Linux | card | tests | `xdp` up to MTU | `xdp.frags` up to MTU (of 9000) | the driver's reason above it | carrier changes at attach | drops in `ethtool -S` |
		|---|---|---|---|---|---|---|---|
	END
	cards $'xdp\nxdp.frags\nreason\ncarrier\ndrops' "${found[@]}"
	cat <<-'END'

		| Linux | card | tests | link down and up | MTU 1400 | MTU 1500 | `ethtool -G` | `ethtool -L` | rename | MTU 4500 | unplug, plug in |
		|---|---|---|---|---|---|---|---|---|---|---|
	END
	cards $'down and up\nMTU 1400\nMTU 1500\nethtool -G\nethtool -L\nrename\nMTU 4500\nunplug' "${found[@]}"
}

# challenges CELL…
challenges() {
	local cells

	mapfile -t cells < <(printf '%s\n' "$@" | grep '+challenge$')
	[ ${#cells[@]} -gt 0 ] || return 0
	cat <<-'END'

		| Linux | card | tests of all cards | challenges, in mode | in a VLAN |
		|---|---|---|---|---|
	END
	cards $'mode\nVLAN' "${cells[@]}"
}

cat <<'END'
# Tested kernels and drivers

`make check-kernels` boots these kernels under QEMU (emulated, two CPUs), runs the tests in them and generates this page;
`make check-kernels KERNELS="6.1 6.12"` boots only the named ones. The kernels are the current Debian kernels of each
release. Both the oldest and the latest clang of the machine compile the program. A kernel without a row was not tested.

**Linux 6.1 is the oldest supported kernel**, because it is the oldest one that passed. Linux 5.10 must refuse the
program. Debian's mirrors have no kernel between 5.10 and 6.1. The program needs atomic operations that return a value
(Linux 5.12); it was never run on 5.12 to 6.0.

In each kernel, `ip link … xdpdrv` and `ringfence attach` attach the object natively to veth, to veth with a jumbo MTU
(the entry point for frames in several buffers), and to virtio_net with four queues. Eleven sources send frames (IPv4,
IPv6, TCP, UDP, a VLAN tag) against two limits, one of them on a port, and against entries of the allow and deny lists.
The passed frames, the reasons, the counters of the limits and `show` must be exact to the packet and byte. An in-place
upgrade to a different build must preserve rules, windows and counters. `cat` of the pinned iterator must print the same
as `stats`, also for a member of the group `ringfence` without capabilities (on veth). `ringfence doctor` must find no
problem. A virtio_net whose offloads cannot be turned off (`ctrl_guest_offloads=off`) does not support native XDP, and
`attach` must report that.

The row `attach … chain` runs `tests/e2e/test_chain.sh`: together with xdp-filter and other programs, in both orders,
with in-place upgrades, some of which are killed, and with challenges. The row for lists runs
`tests/prog/test_lists.c`, `test_lists_in_place.c`, `test_lists_unconfirmed.c` and `tests/e2e/test_batch.sh`, and
`deny add`, `deny del` and a batch of 10,000 changes in place, in a list of 100,000 prefixes.

For fences with `fleet`, the program and the BPF programs of the agent are tested: `tests/prog/test_shares.c` (the effect
of shares and their deadlines on packets), `test_shares_race.c` (shares that are revoked while two CPUs use them) and
`tests/e2e/test_shares.sh` (pins and in-place upgrades). Agents and a fleet server were not run there.

Drivers of network cards are tested with Debian's generic kernels. QEMU emulates an igb, a vmxnet3, an e1000e and a
virtio_net with four queues; a second virtio_net sends frames to each. After each change to the interface, either the
program still receives every frame ("enforced"), or the driver has dropped the program ("bypassed"). In the second case
`status` and `doctor` must report it, and `attach` must repair it in place, with exact limits and the same rules, windows
and lists. "refused" means that the driver refused the change.

Challenges to newcomers (`newcomers … then challenge`) need no newer kernel than the fence. The guests run nginx and
NSD behind these cards. The driver sends the answers (`XDP_TX`). New clients over the rate must get their page, and their
DNS answer over TCP, over IPv4 and IPv6; with `then drop`, none may. The same in a VLAN. A card that removes VLAN tags
hides them from the program in native mode, which then answers without the tag: the answer is lost, and such newcomers
are dropped. After `ethtool -K IF rxvlan off` they must be answered.

A bond of an igb and a virtio_net, later with a veth, shares a fence with another veth. The packets of all members must
be counted for the bond, exact to the packet, also after a member joins or leaves.

**Detach before unplugging a virtio_net that has as many unused queues as CPUs** (`ethtool -l`). Native XDP uses them for
transmission, and Linux 6.12 then never finishes removing the interface: the kernel logs "unregister_netdevice: waiting
for … to become free" until it is rebooted. The guests use all four queues.
END
rows fence "$@"
rows chain "$@"
rows lists "$@"
rows shares "$@"
network_cards "$@"
challenges "$@"
rows bond "$@"
rows refuses "$@"
rows units "$@"
retries=0
for cell; do
	[ ! -e "$results/$cell.retries" ] || retries=$((retries + 1))
done
cat <<-END

	Boots repeated: $retries of $#. A boot is repeated if the kernel died of \`Oops: int3\`; newer kernels do so at
	random under this emulator.

	A cross compiler builds for arm64 and s390x (big-endian, the program compiled for \`bpfeb\`), against
	Debian 12's libraries; the tests are the same. \`make BPF_TARGET=bpfeb\` builds the object on another
	machine. Debian's kernel for s390x lacks the BPF JIT: the kernel's interpreter runs the program, and there
	are no pins for \`cat\`, since their iterators need the JIT.
END
