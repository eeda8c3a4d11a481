#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Kernels without BTF: nothing needs it.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

make_network 1

# Hides the kernel's BTF in a private mount namespace.
without_btf() {
	# shellcheck disable=SC2016
	inside unshare -m sh -c 'mount -t tmpfs none /sys/kernel/btf && exec "$@"' sh "$@"
}

if [ -d /sys/kernel/btf ]; then
	does 'attach works without BTF of the kernel' \
		"${port[0]}: attached in native mode, fence '${port[0]}'" \
		without_btf build/ringfence attach "${port[0]}"
	does 'limit add works without BTF of the kernel' \
		"limit 'any': a source that sends evenly loses nothing up to 96 % of COUNT" \
		without_btf build/ringfence limit add any rate 100/1h
	deliver 0 src=192.0.2.1,count=300
	is "$(sum "$received" | cut -d' ' -f1)" 100 \
		'a limit of 100 passes 100 of 300 packets without BTF of the kernel'
	does 'detach works without BTF of the kernel' "${port[0]}: detached" \
		without_btf build/ringfence detach "${port[0]}"
else
	pass 'attach works without BTF of the kernel # SKIP this kernel has none, as all other tests show'
fi

done_testing
