#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Requirements for a kernel older than the supported ones, tested in a guest with that kernel:
# attach refuses, with a message that names the missing feature, and leaves nothing behind; `doctor`
# also names it.

RF_PRIVATE_MOUNTS=made # the guest needs no private mounts
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../e2e/lib.sh"

programs() {
	bpftool -j prog show | jq '[.[] | select(.name // "" | startswith("ringfence"))] | length'
}

make_network 1
output=$(describe ringfence attach "${port[0]}")
matches "$output" $'exit 1\n\nstderr: ringfence: [^\n]*' 'attach refuses, in one line'
check 'it names what the kernel lacks: atomic operations' grep -qi 'stderr:.*atomic' <<<"$output"
echo "# $(tail -n 1 <<<"$output")"
is "$(program_on 0)" none 'no program is left on the interface'
is "$(programs)" 0 'nor in the kernel'
check 'nor any pin' test ! -e "$pins/${port[0]}"

output=$(describe inside ip link set dev "${port[0]}" xdpdrv obj build/ringfence.bpf.o sec xdp)
check 'ip cannot load the object, either' test "$(head -n 1 <<<"$output")" != 'exit 0'
echo "# ip says, at the end: $(tail -n 3 <<<"$output" | tr '\n' ' ' | cut -c1-300)"
is "$(program_on 0), $(programs)" 'none, 0' 'and leaves no program, either'

output=$(describe ringfence doctor "${port[0]}")
matches "$output" "exit 1
machine
.*
stderr: ringfence: ${port[0]}: [1-9][0-9]* problems? prevents? a fence; .*" 'doctor says that it cannot'
check 'and names what the kernel lacks, too' grep -qi '^  problem.*atomic' <<<"$output"

done_testing
