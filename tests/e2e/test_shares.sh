#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A fence that was attached with `fleet`: its pins, upgrades in place, and that all else of it is as
# of any other fence. What shares do is in tests/prog/test_shares.c.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

# A guest has only the shipped build and `newer`, which were built elsewhere.
if [ -x newer/build/ringfence ]; then
	newer=newer/build/ringfence
fi

map_field() { # FIELD PIN
	bpftool -j map show pinned "$pins/${port[0]}/$2" | jq -r ".$1"
}

share_pins() {
	(cd "$pins/${port[0]}" && compgen -G 'fleet_*' && compgen -G asks) | sort | xargs
}

make_network 2
require "$newer"

# ---- the shipped build ----

does "attach takes 'fleet'" "${port[0]}: attached in native mode, fence '${port[0]}'" \
	ringfence attach "${port[0]}" fleet
is "$(share_pins)" 'asks fleet_batch fleet_call' 'what the agent of a fleet needs is pinned'
is "$(map_field bytes_value windows4)" 232 'a window has 48 bytes more than without shares'
ringfence limit add any rate 100/1h exact >"$scratch/log"
deliver 0 src=192.0.2.1,count=300
is "$(passed)" 100 'a limit of this host alone passes its COUNT'
is "$(ringfence show 192.0.2.1 --json | jq -r '.limits[0].used')" 100 'show finds the window'
check "top finds the window" grep -q 192.0.2.1 <(ringfence top)
deliver 0 src=2001:db8::1,count=300
is "$(passed)" 100 'so with IPv6'
conserves 0 'sent = passed + dropped'
ringfence newcomers rate 1/1h "then" aggregate >"$scratch/log"
deliver 0 src=198.51.100.1,count=1 src=198.51.100.2,count=150 src=198.51.100.3,count=150
check 'newcomers past the guard share the window of their network' test "$(passed)" -le 201
is "$(ringfence status --json dev "${port[0]}" | jq .this_build)" true 'status says that the program is of this build'
does 'a second attach has nothing to do' \
	"${port[0]}: already attached, fence '${port[0]}'; nothing to do" ringfence attach "${port[0]}"
does 'detach prints the interface' "${port[0]}: detached" ringfence detach "${port[0]}"
check 'detach removes the pins' test ! -e "$pins/${port[0]}"

# ---- upgrades ----

ringfence attach "${port[0]}" fleet >"$scratch/log"
ringfence limit add any rate 100/1h exact >"$scratch/log"
deliver 0 src=192.0.2.1,count=300
asks=$(map_field id asks)
does 'an upgrade swaps the program' \
	"${port[0]}: upgraded in place, fence '${port[0]}'; windows and counters are preserved" \
	newer attach "${port[0]}"
for pin in fleet_call fleet_batch asks; do
	rm "$pins/${port[0]}/$pin"
	newer adopt "${port[0]}" >"$scratch/log" 2>&1
	is "$(share_pins)" 'asks fleet_batch fleet_call' "adopt pins $pin again, which was lost"
done
is "$(map_field id asks)" "$asks" 'adopt finds the ring buffer that the program writes'
kept=$(map_field id fleet_batch)
newer adopt "${port[0]}" >"$scratch/log" 2>&1
is "$(map_field id fleet_batch)" "$kept" 'adopt leaves pins that are there'
is "$(map_field id asks)" "$asks" 'an upgrade keeps the ring buffer that the agent reads'
is "$(share_pins)" 'asks fleet_batch fleet_call' 'an upgrade keeps the pins of the fleet'
deliver 0 src=192.0.2.1,count=50
is "$(passed)" 0 'an upgrade keeps the windows'
ringfence detach "${port[0]}" >"$scratch/log"

# ---- errors ----

ringfence attach "${port[0]}" >"$scratch/log"
fails 'a fence without shares gets none' 1 \
	"ringfence: ${port[0]}: its fence was attached without 'fleet'; to attach it with, first run 'ringfence detach ${port[0]}', which loses its windows" \
	ringfence attach "${port[0]}" fleet
is "$(share_pins)" '' 'and nothing is pinned'
fails 'nor does it join another interface so' 1 \
	"ringfence: fence '${port[0]}': it was attached without 'fleet'; leave 'fleet' out" \
	ringfence attach "${port[1]}" fence "${port[0]}" fleet
ringfence detach "${port[0]}" >"$scratch/log"
fails "'chain' and 'fleet' exclude each other" 2 \
	"ringfence: 'chain' and 'fleet' exclude each other: a fence that shares limits cannot run alongside other programs" \
	ringfence attach "${port[0]}" fleet chain

done_testing
