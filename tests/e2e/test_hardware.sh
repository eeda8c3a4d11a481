#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Interfaces whose frames have no Ethernet header. The program passes every such frame, so attach
# refuses these interfaces, doctor reports a problem, and status warns if `ip` has attached the
# program.
#
# The tests use the kernel's own tunnels if the kernel has them, and otherwise a tun that claims
# another hardware type, which its owner may set.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

make_network 1
use "$quick"
dev=${port[0]}

cc -O2 -Wall -o "$scratch/tun" -x c - <<'END' || bail 'cannot compile a helper'
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* NAME TYPE: makes a tun of that hardware type. NAME TYPE COUNT: receives so many packets by it. */
int main(int count, char **word)
{
	unsigned char packet[48] = {0x45, 0, 0, 48, 0, 0, 0, 0, 64, 17, 0, 0,
				    192,  0, 2, 1,  192, 0, 2, 2};
	struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI};
	int fd = open("/dev/net/tun", O_RDWR);

	strncpy(request.ifr_name, word[1], IFNAMSIZ - 1);
	if (fd < 0 || ioctl(fd, TUNSETIFF, &request) || ioctl(fd, TUNSETPERSIST, 1))
		return perror(word[1]), 1;
	if (count == 3)
		return ioctl(fd, TUNSETLINK, atoi(word[2])) ? perror("TUNSETLINK"), 1 : 0;
	for (int i = 0; i < atoi(word[3]); i++)
		if (write(fd, packet, sizeof(packet)) != sizeof(packet))
			return perror("write"), 1;
	return 0;
}
END

refusal() { # IF TYPE NAME
	echo "ringfence: $1: cannot attach: its frames have no Ethernet header (hardware type $2: $3), so \
nothing would be limited; attach to the Ethernet interface that carries its traffic"
}

frames() { # IF: doctor's finding about its frames, and its number of problems
	ringfence doctor "$1" --json 2>"$scratch/stderr" | jq -r '.interfaces[0] | "\(.problems) " +
		(.checks[] | select(.check == "frames") | "\(.level): \(.text); \(.command)")'
}

# refuses IF TYPE NAME KIND
refuses() {
	local mode report

	for mode in '' 'mode generic' 'chain mode generic' replace; do
		# shellcheck disable=SC2086
		is "$(describe ringfence attach "$1" $mode)" $'exit 1\n\nstderr: '"$(refusal "$1" "$2" "$3")" \
			"$4: attach refuses${mode:+, with $mode}"
	done
	is "$(frames "$1")" "1 problem: they have no Ethernet header (hardware type $2: $3): a fence here \
limits nothing; attach to the Ethernet interface that carries its traffic; null" \
	"$4: doctor says that its frames have no Ethernet header"
	report=$(ringfence doctor | unwrapped)
	is "$(grep -c "^  $1 .*attach" <<<"$report")" 0 \
		"$4: doctor without an interface recommends no attach"
	matches "$(grep "^  $1 " <<<"$report")" "  $1 +cannot have a fence, since its frames \
have no Ethernet header; 'ringfence doctor $1' prints details" \
	"$4: doctor without an interface says that it is not for a fence"
	is "$(inside ip -j link show dev "$1" | jq -c '[.[] | .xdp.prog.id // empty]')" '[]' \
		"$4: attach leaves no program"
}

claims=(65534:tun:'none, as of tun and wireguard' 768:ipip:ipip 769:ip6tnl:ip6tnl 776:sit:sit
	778:gre:gre 823:ip6gre:ip6gre 512:ppp:ppp 519:rawip:'raw IP' 280:can:'see linux/if_arp.h')
for claim in "${claims[@]}"; do
	IFS=: read -r type kind name <<<"$claim"
	inside "$scratch/tun" "${run}t$type" "$type" || bail "cannot make a tun of type $type"
	refuses "${run}t$type" "$type" "$name" "a tun as $kind"
	inside ip link del "${run}t$type"
done
for kind in ipip:768 sit:776 gre:778 wireguard:65534; do
	type=${kind#*:} kind=${kind%:*}
	if inside ip link add "${run}k" type "$kind" 2>/dev/null; then
		name=$kind
		[ "$kind" = wireguard ] && name='none, as of tun and wireguard'
		refuses "${run}k" "$type" "$name" "$kind"
		inside ip link del "${run}k"
	else
		pass "attach to $kind # SKIP this kernel has no $kind"
	fi
done

# ---- among others ----

tun=${run}t
inside ip tuntap add dev "$tun" mode tun
is "$(describe ringfence attach "$dev" "$tun" fence "$run-both")" $'exit 1\n\nstderr: '"$(refusal \
	"$tun" 65534 'none, as of tun and wireguard')" 'attach of a veth and a tun refuses both'
is "$(program_on 0)" none 'attach that refuses a tun leaves no program on the veth'
does 'attach to a tap succeeds' "$tun-tap: attached in native mode, fence '$tun-tap'" \
	sh -c "nsenter --net=/run/netns/rf-test-$$-inside ip tuntap add dev $tun-tap mode tap &&
		nsenter --net=/run/netns/rf-test-$$-inside build/ringfence attach $tun-tap"
ringfence detach "$tun-tap" >/dev/null

# ---- what ip attaches ----

use "$shipped"
inside ip link set dev "$tun" up
inside ip link set dev "$tun" xdpgeneric obj build/ringfence.bpf.o sec xdp || bail 'ip does not attach'
ringfence deny add 192.0.2.0/24
ringfence limit add any rate 3/1h exact
inside "$scratch/tun" "$tun" 0 20
is "$(ringfence stats --json dev "$tun" | command jq -c '.packets')" '{"passed":20,"dropped":0,"would_drop":0}' \
	'a fence that ip attached to a tun drops nothing'
is "$(ringfence status | unwrapped | grep "^  $tun")" "  $tun: generic mode, attached by ip
  $tun: no limit applies here: its frames have no Ethernet header (hardware type 65534: none, as of \
tun and wireguard); attach to the Ethernet interface that carries its traffic" \
	'status says that a fence on a tun limits nothing'
is "$(ringfence status --json dev "$tun" | jq -c '.interfaces | map(.ethernet)')" '[false]' \
	'status --json says that a tun is not Ethernet'
is "$(frames "$tun" | sed 's/.*; //')" "ringfence detach $tun" 'doctor of a fence on a tun recommends detach'
matches "$(ringfence doctor 2>/dev/null | unwrapped | grep "^  $tun ")" "  $tun +has a fence that limits nothing, \
since its frames have no Ethernet header; 'ringfence doctor $tun' prints details" \
	'doctor without an interface says that a fence on a tun limits nothing'
does 'detach of a fence on a tun works' "$tun: detached" ringfence detach "$tun"
ringfence attach "$dev" >/dev/null
is "$(ringfence status | unwrapped | grep -c 'nothing is limited') $(ringfence status --json dev "$dev" |
	jq -c '.interfaces | map(.ethernet)')" '0 [true]' \
		'status of a fence on a veth has no warning about Ethernet headers'
ringfence detach "$dev" >/dev/null

done_testing
