# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# The network cards of a guest. Source tests/e2e/lib.sh before this file.

# The interface of this guest that has that MAC address.
nic() { # MAC
	local path

	for path in /sys/class/net/*; do
		[ -d "$path" ] || continue # the module of bonds has a file there
		[ "$(<"$path/address")" = "$1" ] && basename "$path" && return
	done
	return 1
}

# move_nic MAC NAMESPACE NAME: waits for the interface, which the driver might not have created yet.
move_nic() {
	local name

	eventually nic "$1" >/dev/null || bail "no interface has the address $1"
	name=$(nic "$1")
	[ "$name" = "$3" ] || ip link set dev "$name" name "$3"
	ip link set dev "$3" netns "rf-test-$$-$2"
	within "$2" ip link set dev "$3" up
}
