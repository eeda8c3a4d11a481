#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A host does not lock itself out: entries that cover the peer of the present SSH connection, a
# subnet or the gateway of an interface are refused without `force`, or skipped when loading a file.
#
#   outside                               inside
#   out0  ---------- wire 0 ----------->  ${port[0]}  192.0.2.10/24, 2001:db8:1::10/64
#         192.0.2.1, 2001:db8:1::1: the gateways
#
# The SSH connection is simulated: from 203.0.113.7, port 51432, to 192.0.2.10, port 22.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

make_network 1
dev=${port[0]}
inside sysctl -qw "net.ipv6.conf.$dev.disable_ipv6=0" "net.ipv6.conf.$dev.accept_dad=0" || bail 'cannot switch IPv6 on'
inside ip address add 192.0.2.10/24 dev "$dev"
inside ip address add 198.51.100.5/32 dev "$dev"
inside ip address add 2001:db8:1::10/64 dev "$dev" nodad
inside ip route add default via 192.0.2.1
inside ip -6 route add default via 2001:db8:1::1
use "$quick"
ringfence attach "$dev" >"$scratch/log" || bail 'cannot attach'

connection='203.0.113.7 51432 192.0.2.10 22'
over_ssh() {
	SSH_CONNECTION=$connection ringfence "$@"
}

# As sudo does: only an ancestor has the variable.
over_sudo() {
	# shellcheck disable=SC2016 # that shell expands it
	SSH_CONNECTION=$connection sh -c 'env -u SSH_CONNECTION "$@"; exit "$?"' sh \
		nsenter --net="/run/netns/rf-test-$$-inside" "$build" "$@"
}

quietly() {
	"$@" >"$scratch/stdout"
}

denied() {
	ringfence deny list --json | jq -r '[.prefixes[].prefix] | join(" ")'
}

allowed() {
	ringfence allow list --json | jq -r '[.prefixes[].prefix] | join(" ")'
}

subnet="192.0.2.0/24, a subnet of $dev"
subnet6="2001:db8:1::/64, a subnet of $dev"
gateway="192.0.2.1, the gateway of $dev"
gateway6="2001:db8:1::1, the gateway of $dev"
peer='203.0.113.7, the peer of your SSH connection'

# refuses PREFIX NETWORK COMMAND…
refuses() {
	fails "deny add $1 is refused" 1 "ringfence: '$1': it covers $2; add 'force' to deny it nevertheless" "${@:3}" deny add "$1"
}

# ---- deny add ----

refuses 192.0.2.0/24 "$subnet" ringfence
refuses 192.0.0.0/16 "$subnet" ringfence
refuses 0.0.0.0/0 "$subnet" ringfence
refuses 192.0.2.1 "$gateway" ringfence
refuses 192.0.2.0/28 "$gateway" ringfence
refuses 2001:db8::/32 "$subnet6" ringfence
refuses 2001:db8:1::1 "$gateway6" ringfence
refuses fe80::/10 "fe80::/64, a subnet of $dev" ringfence
refuses 203.0.113.7 "$peer" over_ssh
refuses 203.0.113.0/24 "$peer" over_ssh
refuses 0.0.0.0/0 "$peer" over_ssh
refuses 203.0.113.0/24 "$peer" over_sudo
connection='2001:db8:7::7 51432 2001:db8:1::10 22' refuses 2001:db8:7::/48 '2001:db8:7::7, the peer of your SSH connection' over_ssh
connection='::ffff:203.0.113.7 51432 ::ffff:192.0.2.10 22' refuses 203.0.113.7 "$peer" over_ssh
connection='fe80::7%eth0 51432 fe80::1%eth0 22' refuses fe80::7 'fe80::7, the peer of your SSH connection' over_ssh
is "$(denied)" '' 'what was refused is not denied'
is "$(ringfence deny add 192.0.2.0/24 for 1h --json 2>/dev/null | command jq -c 'del(.schema, .error)')" \
	"{\"own_network\":{\"prefix\":\"192.0.2.0/24\",\"kind\":\"subnet\",\"interface\":\"$dev\"},\"override\":\"force\"}" \
	'--json names the network'
for prefix in 203.0.113.7 192.0.2.77 192.0.2.128/25 198.51.100.0/24 198.51.100.5 2001:db8:1::77 2001:db8:2::/48; do
	does "deny add $prefix cuts nothing off" '' ringfence deny add "$prefix"
done
connection=nonsense does 'an SSH_CONNECTION that is none protects nothing' '' over_ssh deny add 203.0.113.0/24
ringfence deny flush

does 'force denies a subnet' '' ringfence deny add 192.0.2.0/24 force
does 'force denies the peer' '' over_ssh deny add 203.0.113.7 for 1h by jail force
is "$(denied)" '192.0.2.0/24 203.0.113.7' 'what was forced is denied'
ringfence deny flush

# ---- other interfaces and routes ----

inside ip address add 10.1.0.1 peer 10.2.0.2/32 dev "$dev"
refuses 10.2.0.2 "10.2.0.2, a subnet of $dev" ringfence
does 'the own end of a point-to-point link is no subnet' '' ringfence deny add 10.1.0.1
inside ip link add br0 type bridge
inside ip link set "$dev" master br0
inside ip address add 10.11.0.1/24 dev br0
refuses 10.11.0.0/24 '10.11.0.0/24, a subnet of br0' ringfence
inside ip link del br0
# Not every kernel has both.
for kind in vlan macvlan; do
	id=
	[ $kind = macvlan ] || id='id 10'
	# shellcheck disable=SC2086 # two words
	inside ip link add upper0 link "$dev" type $kind $id 2>"$scratch/log" || continue
	inside ip address add 10.10.0.1/24 dev upper0
	refuses 10.10.0.0/16 '10.10.0.0/24, a subnet of upper0' ringfence
	inside ip link del upper0
done
inside ip link add other0 type veth peer name other1
inside ip address add 10.12.0.1/24 dev other0
inside ip link set other0 up
inside ip route add default via 10.12.0.2 dev other0 metric 9
does 'a subnet of another interface may be denied' '' ringfence deny add 10.12.0.0/24
inside ip route replace default nexthop via 192.0.2.1 dev "$dev" nexthop via 192.0.2.2 dev "$dev"
refuses 192.0.2.2 "192.0.2.2, the gateway of $dev" ringfence
inside ip address add 10.13.0.1/32 dev "$dev"
inside ip route replace default via 10.13.0.254 dev "$dev" onlink
refuses 10.13.0.254 "10.13.0.254, the gateway of $dev" ringfence
inside ip route replace default via inet6 2001:db8:1::2 dev "$dev"
refuses 2001:db8:1::2 "2001:db8:1::2, the gateway of $dev" ringfence
inside ip route replace default via 192.0.2.1
inside ip address del 10.1.0.1 peer 10.2.0.2/32 dev "$dev"
ringfence deny flush

# ---- the allow list ----

ringfence allow add 203.0.113.0/28
does 'an allow entry around the peer lets a deny pass' '' over_ssh deny add 203.0.113.0/24
ringfence deny flush
fails 'an allow entry that ends before the deny protects nothing' 1 \
	"ringfence: '203.0.113.0/24': it covers $peer; add 'force' to deny it nevertheless" \
	sh -c "SSH_CONNECTION='$connection' nsenter --net='/run/netns/rf-test-$$-inside' sh -c '$build allow add 203.0.113.0/28 for 1m && $build deny add 203.0.113.0/24'"
ringfence allow add 203.0.113.0/28
over_ssh deny add 203.0.113.0/24
fails 'allow del does not remove the protection of the peer' 1 \
	"ringfence: '203.0.113.0/28': without this entry of the allow list, the deny list drops $peer; add 'force' to remove it nevertheless" \
	over_ssh allow del 203.0.113.0/28
fails 'allow flush does not remove it' 1 \
	"ringfence: without these entries of the allow list, the deny list drops $peer; add 'force' to remove them nevertheless" \
	over_ssh allow flush
echo 198.51.100.0/24 >"$scratch/allow"
ringfence allow add 203.0.113.0/28 by load
ringfence allow del 203.0.113.0/28 by manual
fails 'allow load replace does not remove it' 1 \
	"ringfence: without these entries of the allow list, the deny list drops $peer; add 'force' to remove them nevertheless" \
	over_ssh allow load "$scratch/allow" replace
is "$(allowed)" 203.0.113.0/28 'it is still there'
ringfence allow add 203.0.113.7
does 'allow del of one of two that protect the peer' '' over_ssh allow del 203.0.113.7
does 'allow del force removes the protection' '' over_ssh allow del 203.0.113.0/28 force
ringfence allow add 203.0.113.0/28
does 'allow flush force does' '' over_ssh allow flush force
is "$(allowed)" '' 'it is gone'
ringfence deny flush
ringfence allow add 203.0.113.0/28
does 'allow del of what no deny covers' '' over_ssh allow del 203.0.113.0/28

# ---- deny load ----

printf '%s\n' 10.0.0.0/8 192.0.2.0/24 198.51.100.0/24 203.0.113.0/24 >"$scratch/list"
is "$(over_ssh deny load "$scratch/list" 2>&1 >"$scratch/stdout"; echo "exit $?")" \
	"ringfence: $scratch/list: skipped: '192.0.2.0/24': it covers $subnet; add 'force' to deny it nevertheless
ringfence: $scratch/list: skipped: '203.0.113.0/24': it covers $peer; add 'force' to deny it nevertheless
exit 3" 'deny load names what it skips, and exits with 3'
is "$(denied)" '10.0.0.0/8 198.51.100.0/24' 'deny load loads the rest'
is "$(over_ssh deny load "$scratch/list" --json 2>/dev/null | jq -c '[.loaded, .refused, .prefixes]')" '[2,2,2]' 'deny load --json counts them'
is "$(over_ssh deny load "$scratch/list" force >"$scratch/log" 2>&1; echo "exit $?")" 'exit 0' 'deny load force loads everything'
is "$(denied)" '10.0.0.0/8 192.0.2.0/24 198.51.100.0/24 203.0.113.0/24' 'all of it is denied'
ringfence deny flush
for i in {0..11}; do
	echo "192.0.0.0/$((8 + i))"
done | ringfence deny load - 2>"$scratch/log" >/dev/null
is "$(tail -n 1 "$scratch/log")" "ringfence: standard input: skipped: 2 more, for such reasons" 'of many the first ones are named'
is "$(wc -l <"$scratch/log")" 11 'and no more'
is "$(denied)" '' 'none of these is denied'

# ---- confirm ----

does 'deny add confirm' "unconfirmed: reverted in 1h unless 'ringfence confirm' runs" ringfence deny add 198.51.100.7 confirm 1h
is "$(denied)" 198.51.100.7 'it is denied'
ringfence revert >"$scratch/log"
is "$(denied)" '' 'it is undone'
is "$(ringfence deny add 198.51.100.7 confirm 1h --json | command jq -c 'del(.schema)')" '{"list":"deny","unconfirmed_ms":3600000}' 'deny add confirm --json'
ringfence confirm >"$scratch/log"
is "$(denied)" 198.51.100.7 'a confirmed deny stays'
ringfence deny add 198.51.100.8 confirm 1s >"$scratch/log"
stands_as_before() {
	[ "$(denied)" = 198.51.100.7 ]
}
check 'without confirm the deny is undone in time' eventually stands_as_before
printf '%s\n' 198.51.100.0/24 >"$scratch/list"
matches "$(ringfence deny load "$scratch/list" confirm 1h)" "deny: 1 prefixes loaded in [0-9.]+ s; 2 are on the list
unconfirmed: reverted in 1h unless 'ringfence confirm' runs" 'deny load confirm'
ringfence revert >"$scratch/log"
is "$(denied)" 198.51.100.7 'the load is undone'
printf '%s\n' 'deny add 198.51.100.0/24' 'limit add a rate 10/1s' >"$scratch/batch"
matches "$(ringfence batch "$scratch/batch" confirm 1h)" ".*: 2 commands done in [^ ]+
unconfirmed: reverted in 1h unless 'ringfence confirm' runs" 'batch confirm'
is "$(denied) $(ringfence limit list --json | jq '.limits | length')" '198.51.100.0/24 198.51.100.7 1' 'the batch is made'
ringfence revert >"$scratch/log"
is "$(denied) $(ringfence limit list --json | jq '.limits | length')" '198.51.100.7 0' 'the batch is undone'
ringfence deny flush

# ---- batch ----

printf '%s\n' 'deny add 198.51.100.0/24' 'deny add 192.0.2.0/24' 'deny del 198.51.100.77' 'deny add 203.0.113.7' >"$scratch/batch"
fails 'a batch with refused lines is refused' 1 \
	"ringfence: $scratch/batch:2: '192.0.2.0/24': it covers $subnet; add 'force' to deny it nevertheless
ringfence: $scratch/batch:3: '198.51.100.77': not on the deny list; 'deny list' shows its prefixes as they were added
ringfence: $scratch/batch:4: '203.0.113.7': it covers $peer; add 'force' to deny it nevertheless
ringfence: $scratch/batch: 3 errors; no changes were made" over_ssh batch "$scratch/batch"
is "$(denied)" '' 'nothing of it is made'
is "$(over_ssh batch "$scratch/batch" skip-refused 2>&1 >"$scratch/stdout"; echo "exit $?")" \
	"ringfence: $scratch/batch:2: skipped: '192.0.2.0/24': it covers $subnet; add 'force' to deny it nevertheless
ringfence: $scratch/batch:4: skipped: '203.0.113.7': it covers $peer; add 'force' to deny it nevertheless
ringfence: $scratch/batch:3: skipped: '198.51.100.77': not on the deny list; 'deny list' shows its prefixes as they were added
exit 3" 'batch skip-refused names what it skips, and exits with 3'
is "$(sed 's/in .*/in TIME/' "$scratch/stdout")" "$scratch/batch: 4 commands done in TIME
3 refused changes were skipped" 'batch skip-refused counts them'
is "$(denied)" 198.51.100.0/24 'batch skip-refused makes the rest'
is "$(over_ssh batch "$scratch/batch" skip-refused --json 2>/dev/null | jq -c '[.commands, .refused]')" '[4,3]' 'its --json counts them'
echo 'limit add b rate 10/1s' >>"$scratch/batch"
is "$(over_ssh batch "$scratch/batch" skip-refused >"$scratch/stdout" 2>/dev/null; echo "exit $?") $(ringfence limit list --json | jq '.limits | length')" \
	'exit 3 1' 'batch skip-refused makes limits as well'
printf '%s\n' 'deny add 192.0.2.0/24 force' 'deny add 0.0.0.0/0 force by jail' >"$scratch/batch"
check 'a line of a batch has force' quietly over_ssh batch "$scratch/batch"
is "$(denied)" '0.0.0.0/0 192.0.2.0/24 198.51.100.0/24' 'it is made'
ringfence deny flush
printf '%s\n' 'allow add 203.0.113.7' 'deny add 203.0.113.0/24' >"$scratch/batch"
check 'a batch that allows the peer as well is made' quietly over_ssh batch "$scratch/batch"
printf '%s\n' 'allow flush' 'deny add 198.51.100.0/24' >"$scratch/batch"
fails 'a batch does not flush the protection' 1 \
	"ringfence: $scratch/batch:1: without these entries of the allow list, the deny list drops $peer; add 'force' to remove them nevertheless
ringfence: $scratch/batch: 1 error; no changes were made" over_ssh batch "$scratch/batch"
printf '%s\n' 192.0.2.0/24 100.64.0.0/10 >"$scratch/list"
echo "deny load $scratch/list" >"$scratch/batch"
is "$(ringfence batch "$scratch/batch" 2>&1 >"$scratch/stdout"; echo "exit $?")" \
	"ringfence: $scratch/batch:1: skipped: '192.0.2.0/24': it covers $subnet; add 'force' to deny it nevertheless
exit 3" 'deny load in a batch skips as well'
is "$(denied)" '100.64.0.0/10 203.0.113.0/24' 'the rest of the file is denied'
echo "deny add 198.51.100.1 confirm 1m" >"$scratch/batch"
fails 'confirm is not for a line of a batch' 1 \
	"ringfence: $scratch/batch:1: 'confirm': it is not for a line of a file; write 'ringfence batch FILE confirm TIME'
ringfence: $scratch/batch: 1 error; no changes were made" ringfence batch "$scratch/batch"

ringfence deny flush
ringfence allow flush

# ---- limits ----

limits() {
	ringfence limit list --json | jq -r '[.limits[].name] | join(" ")'
}
refuses_limit() { # FROM NETWORK WORD…: after `limit`
	fails "limit ${*:3} is refused" 1 "ringfence: limit '$4': rate 0 from $1 covers $2; add 'force' to drop it nevertheless" over_ssh limit "${@:3}"
}

# limit_as NAME STDERR WORD…: accepted, with that on standard error
accepts() {
	is "$(over_ssh limit "${@:3}" 2>&1 >"$scratch/stdout"; echo "exit $?")" "$2exit 0" "$1"
}
note() { # LIMIT
	echo "ringfence: limit '$1': it applies to your SSH connection from 203.0.113.7; with 'confirm 60s' such a change \
is undone unless 'ringfence confirm' runs in time"
}

for name in $(limits); do
	ringfence limit del "$name"
done
refuses_limit 'any source' "$peer" add x rate 0
refuses_limit 'any source' "$peer" add x rate 0 match tcp dport 22
refuses_limit 203.0.113.0/24 "$peer" add x rate 0 match tcp from 203.0.113.0/24
refuses_limit 192.0.2.0/24 "$subnet" add x rate 0 from 192.0.2.0/24
fails 'without SSH a limit of rate 0 that drops everything is refused' 1 \
	"ringfence: limit 'x': rate 0 from any source covers $subnet; add 'force' to drop it nevertheless" ringfence limit add x rate 0
is "$(limits)" '' 'a limit that was refused is not there'
accepts 'a limit of rate 0 to other ports passes' '' add telnet rate 0 match tcp dport 23
accepts 'a limit of rate 0 from others passes' '' add other rate 0 from 198.51.100.0/24
accepts 'a shadow of rate 0 passes' '' add dark rate 0 shadow
fails 'limit enforce puts no such shadow in force' 1 \
	"ringfence: limit 'dark': rate 0 from any source covers $peer; add 'force' to drop it nevertheless" over_ssh limit enforce dark
is "$(ringfence limit list --json | jq '.limits[] | select(.name == "dark") | .shadow')" true 'it is a shadow still'
accepts 'limit enforce force does' '' enforce dark force
accepts 'a limit that was so already may change' "$(note dark)"$'\n' change dark count rejected
ringfence limit del dark
accepts 'force makes a limit of rate 0' '' add x rate 0 match tcp syn force
ringfence limit del x
accepts 'a limit that applies to the SSH connection is accepted, with a note' "$(note ssh)"$'\n' add ssh rate 6/1m match tcp syn dport 22
accepts 'with confirm there is no note' '' change ssh rate 7/1m confirm 1h
ringfence confirm >"$scratch/log"
accepts 'a shadow needs no note' '' change ssh rate 8/1m shadow
accepts 'limit enforce has the note' "$(note ssh)"$'\n' enforce ssh
accepts 'a limit of other ports needs no note' '' add web rate 8/1m match tcp dport 80
refuses_limit 'any source' "$peer" change ssh rate 0
refuses_limit 'any source' "$peer" set ssh rate 0 match tcp syn
printf '%s\n' 'limit add a rate 0 match tcp' 'limit add b rate 0 match udp' 'limit change ssh rate 0' >"$scratch/batch"
fails 'a batch with such limits is refused' 1 \
	"ringfence: $scratch/batch:1: limit 'a': rate 0 from any source covers $peer; add 'force' to drop it nevertheless
ringfence: $scratch/batch:3: limit 'ssh': rate 0 from any source covers $peer; add 'force' to drop it nevertheless
ringfence: $scratch/batch: 2 errors; no changes were made" over_ssh batch "$scratch/batch"
sed -i '1s/$/ force/; 3d' "$scratch/batch"
check 'a line of it has force' quietly over_ssh batch "$scratch/batch"
echo 'limit add c rate 9/1s' >"$scratch/batch"
is "$(over_ssh batch "$scratch/batch" 2>&1 >"$scratch/stdout")" "$(note c)" 'a batch has the note'
ringfence allow add 203.0.113.7
accepts 'with an allow entry a limit of rate 0 passes' '' add y rate 0 match tcp syn

# ---- apply ----

# applies FILE WORD…: what apply writes to standard error
applies() {
	{ over_ssh apply "$@" >"$scratch/stdout"; } 2>&1
	echo "exit $?"
}
undone="with 'confirm 60s' such a change is undone unless 'ringfence confirm' runs in time"
echo 'limit add x rate 0 match tcp' >"$scratch/rules"
is "$(applies "$scratch/rules")" "ringfence: limit 'x' drops $peer; $undone
exit 0" 'apply refuses nothing, but has a note on a limit of rate 0'
printf '%s\n' 'limit add x rate 0 match udp' 'deny add 192.0.2.0/24' 'allow add 203.0.113.0/24' >"$scratch/rules"
is "$(applies "$scratch/rules")" "ringfence: the deny list drops $subnet; $undone
exit 0" 'and on a deny that covers an own network'
is "$(applies "$scratch/rules" confirm 1h)" 'exit 0' 'but not with confirm'
ringfence confirm >"$scratch/log"
echo 'limit add ssh rate 9/1s' >"$scratch/rules"
is "$(applies "$scratch/rules")" "$(note ssh)
exit 0" 'a limit that applies to the SSH connection has its note'
echo 'limit add dns rate 9/1s match udp' >"$scratch/rules"
is "$(applies "$scratch/rules")" 'exit 0' 'other rules have none'
echo 'limit add a rate 0 force' >"$scratch/rules"
fails 'force is not for a rule file' 1 "ringfence: $scratch/rules:1: 'force': 'apply' does not check for own networks; leave it out here
ringfence: $scratch/rules: 1 error; no changes were made" ringfence apply "$scratch/rules"
echo 'deny add 192.0.2.0/24 force' >"$scratch/rules"
fails 'nor in an entry' 1 "ringfence: $scratch/rules:1: 'force': 'apply' does not check for own networks; leave it out here
ringfence: $scratch/rules: 1 error; no changes were made" ringfence apply "$scratch/rules"

done_testing
