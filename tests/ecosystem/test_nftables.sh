#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Sets of nftables are loaded into the deny list and into a limit, and the deny list into a set, by
# the commands of docs/guides/nftables.md with the real nft.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../e2e/lib.sh"

command -v nft >/dev/null || bail "nft is not installed; run 'make deps-ecosystem'"

make_network 1
ringfence attach "${port[0]}" >/dev/null || bail 'cannot attach'
ringfence limit add any rate 1M/1s

inside nft -f - <<-'end' || bail 'cannot make sets'
	table inet filter {
		set blocklist {
			type ipv4_addr; flags interval
			elements = { 192.0.2.1, 192.0.2.16-192.0.2.23, 198.51.100.0/24, 203.0.113.5-203.0.113.7 }
		}
		set blocklist6 {
			type ipv6_addr; flags interval
			elements = { 2001:db8:bad::/48, 2001:db8::66 }
		}
		set bans { type ipv4_addr; flags timeout; elements = { 192.0.2.99 timeout 10m, 192.0.2.98 timeout 1h } }
		set partners { type ipv4_addr; flags interval; elements = { 198.51.100.0/25, 10.1.0.0/16 } }
		set denied { type ipv4_addr; flags interval, timeout; }
	}
end

# The command of the guide that contains WORDS, with this test's ringfence, and files in SCRATCH.
guide() { # WORDS
	local line

	line=$(grep -F "$1" docs/guides/nftables.md | sed -n 's/^# //p')
	[ -n "$line" ] || { explain 'not in the guide' "$1" && return 1; }
	line=${line//ringfence /"$PWD/$build" }
	inside bash -c "set -o pipefail; ${line//\/etc\/ringfence/"$scratch"}"
}

denied() {
	ringfence deny list --json | jq -r '[.prefixes[].prefix] | join(" ")'
}

ringfence deny add 192.0.2.200 by load
guide 'set inet filter blocklist |' >/dev/null
is "$(denied)" '192.0.2.1 192.0.2.16/29 198.51.100.0/24 203.0.113.5 203.0.113.6/31' \
	'a set with prefixes and ranges replaces the deny list'
inside nft -j list set inet filter blocklist6 | ringfence deny load - >/dev/null
is "$(denied)" '192.0.2.1 192.0.2.16/29 198.51.100.0/24 203.0.113.5 203.0.113.6/31 2001:db8::66 2001:db8:bad::/48' \
	'a set of IPv6 is added to it'
inside nft -j list set inet filter bans >"$scratch/bans.json"
fails 'an element with a timeout is refused' 1 \
	"ringfence: $scratch/bans.json: an element has a timeout, which a list file does not support; convert the set into \
'deny add PREFIX for TIME' and run 'ringfence batch'" ringfence deny load "$scratch/bans.json"

guide 'set inet filter bans' >/dev/null
left_s() { # PREFIX
	ringfence deny list --json | jq --arg p "$1" '.prefixes[] | select(.prefix == $p).left_ms / 1000 | floor'
}
soon=$(left_s 192.0.2.99) later=$(left_s 192.0.2.98)
check 'by batch, an element is denied for the rest of its time' \
	test "$soon" -gt 500 -a "$soon" -le 600 -a "$later" -gt 3500 -a "$later" -le 3600

guide 'set inet filter partners'
guide 'from file /etc/ringfence/partners.json' >/dev/null
is "$(ringfence limit list --json | jq -r '.. | objects | select(.name? == "partner").from | join(" ")')" \
	'10.1.0.0/16 198.51.100.0/25' 'from file reads a set'

guide 'nft -f -'
is "$(inside nft -j list set inet filter denied | jq -r '[.nftables[].set.elem[]? |
	if type == "string" then . else (.elem.val? // .) end | tostring] | sort | join(" ")' | tr -d '"')" \
	'192.0.2.1 192.0.2.98 192.0.2.99 203.0.113.5 {prefix:{addr:192.0.2.16,len:29}} {prefix:{addr:198.51.100.0,len:24}} {prefix:{addr:203.0.113.6,len:31}}' \
	'the deny list becomes a set'

ringfence detach "${port[0]}" >/dev/null
done_testing
