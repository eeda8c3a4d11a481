#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Permissions: root without most of its capabilities, another user who owns a bpffs, members of the
# group with read permission, and all others. Also the output of `cat` on a fence's pins.
#
#   outside                            inside
#   out0  ---------- wire 0 -------->  ${port[0]}
#
# /run/ringfence is a bpffs of this test, and its group is created later. Limits that must remain
# exceeded have a window of an hour, so no test depends on speed.

# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

share=/run/ringfence
gid=60711
nobody=65534
abi=$(sed -n 's/^#define RF_ABI_VERSION //p' include/ringfence/abi.h)

# Commands of other users run from here, because the tree can be closed to these users.
chmod 755 "$scratch"
install -m 755 build/ringfence "$scratch/ringfence"

# with CAPABILITIES CMD…: runs as root with only these capabilities: +bpf,+net_admin
with() {
	inside setpriv --bounding-set="-all,$1" --inh-caps=-all "${@:2}"
}

as_member() {
	inside setpriv --reuid=60712 --regid=60712 --groups="$gid" --bounding-set=-all \
		--inh-caps=-all "$@"
}

as_stranger() {
	inside setpriv --reuid="$nobody" --regid="$nobody" --clear-groups --bounding-set=-all \
		--inh-caps=-all "$@"
}

# Another user, who has the capabilities and owns the group's bpffs.
as_owner() {
	inside setpriv --reuid="$nobody" --regid="$nobody" --clear-groups --no-new-privs \
		--bounding-set=-all,+bpf,+net_admin,+perfmon --inh-caps=-all,+bpf,+net_admin,+perfmon \
		--ambient-caps=-all,+bpf,+net_admin,+perfmon "$@"
}

make_network 1
eth=${port[0]}
sed -i '/^ringfence:/d' /etc/group
mkdir -p $share
mount -t bpf -o mode=0700 bpf $share || bail "cannot mount a bpffs at $share"

# ---- root without other capabilities ----

few=+bpf,+net_admin
load=+bpf,+net_admin,+perfmon
need='it takes CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON, or root'
for missing in bpf net_admin perfmon; do
	fails "attach without CAP_${missing^^} is refused" 1 \
		"ringfence: cannot load the program: CAP_${missing^^} is missing; $need" \
		with "${load/+$missing/-$missing}" build/ringfence attach "$eth"
done
check 'attach without a capability leaves no pins' test ! -e "$pins/$eth"
is "$(program_on 0)" none 'attach without a capability leaves no program'
does 'attach works with CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON' \
	"$eth: attached in native mode, fence '$eth'" with $load build/ringfence attach "$eth"
does 'limit add works with CAP_BPF and CAP_NET_ADMIN' \
	"$(steady any)" with $few build/ringfence limit add any rate 100/1h exact
does 'limit add … from works with CAP_BPF and CAP_NET_ADMIN' '' \
	with $few build/ringfence limit add some rate 50/1h exact from 198.51.100.0/24,2001:db8:1::/48
does 'deny add works with CAP_BPF and CAP_NET_ADMIN' '' with $few build/ringfence deny add 203.0.113.0/24
deliver 0 src=192.0.2.1,count=300 src=203.0.113.1,count=40 src=198.51.100.1,count=60 \
	src=2001:db8:1::1,count=60
is "$(cut -d' ' -f1,2 <<<"$received")" '192.0.2.1 100
198.51.100.1 50
2001:db8:1::1 50' 'limits and lists set with CAP_BPF and CAP_NET_ADMIN hold'
conserves 0 'sent = passed + dropped with rules set with CAP_BPF and CAP_NET_ADMIN'
for words in 'status' 'stats' 'stats --json' 'top' 'show 203.0.113.1' 'limit list' 'deny list'; do
	# shellcheck disable=SC2086
	is "$(describe with $few build/ringfence $words)" "$(describe ringfence $words)" \
		"with CAP_BPF and CAP_NET_ADMIN '$words' prints what root reads"
done
with $few build/ringfence save >"$scratch/rules"
matches "$(describe with $few build/ringfence apply "$scratch/rules" confirm 60s)" \
	$'exit 0\napplied: .*\nstderr: ' 'save and apply … confirm work with CAP_BPF and CAP_NET_ADMIN'
does 'confirm works with CAP_BPF and CAP_NET_ADMIN' \
	'confirmed: the rules remain active' with $few build/ringfence confirm
is "$(with $few build/ringfence save | tail -n +2)" "$(tail -n +2 "$scratch/rules")" \
	'saved rules are the same after apply and confirm with CAP_BPF and CAP_NET_ADMIN'
does 'a second attach with three capabilities has nothing to do' \
	"$eth: already attached, fence '$eth'; nothing to do" \
	with $load build/ringfence attach "$eth"
does 'detach works with CAP_BPF and CAP_NET_ADMIN' "$eth: detached" with $few build/ringfence detach "$eth"
check 'detach with CAP_BPF and CAP_NET_ADMIN removes the pins' test ! -e "$pins/$eth"
fails 'attach chain without CAP_SYS_ADMIN is refused and names it' \
	1 "ringfence: $eth: cannot attach in a chain: it takes \
CAP_SYS_ADMIN" with $load build/ringfence attach "$eth" chain
is "$(program_on 0)" none 'attach chain without CAP_SYS_ADMIN leaves no program'

# ---- adopting what ip attached ----

not_permitted() { # REMEDY
	echo "ringfence: not permitted; $1 (program id $(program_on 0): only CAP_SYS_ADMIN may open it by its \
id, and no pin that you may read belongs to it)"
}

inside ip link set dev "$eth" xdpdrv obj build/ringfence.bpf.o sec xdp || bail 'ip does not attach'
ringfence limit add any rate 100/1h exact
ringfence allow add 198.51.100.0/24
ringfence apply - confirm 1h <<<'limit add any rate 90/1h exact
deny add 198.51.100.0/24' >"$scratch/log"
id=$(program_on 0)
for words in status 'limit add more rate 1/1s' "adopt $eth"; do
	# shellcheck disable=SC2086
	fails "'$words' without CAP_SYS_ADMIN does not find what ip attached" 1 \
		"$(not_permitted "as root run 'ringfence adopt IF' once")" \
		with $load build/ringfence $words
done
does 'adopt pins a fence that ip attached' "$eth: adopted, fence '$eth'
group 'ringfence' cannot read it: there is no such group" \
	ringfence adopt "$eth"
without_seconds() { # time passes between two calls, and its text can wrap elsewhere
	unwrapped | sed -E 's/in (1h|[0-9]+m( [0-9]+s)?)/in an hour/'
}
is "$(with $few build/ringfence status | without_seconds)" "$(ringfence status | without_seconds)" \
	'status without CAP_SYS_ADMIN finds an adopted fence'
is "$(with $few build/ringfence save | grep -v '^#')" 'limit add any rate 90/1h exact
deny add 198.51.100.0/24
newcomers off' 'save without CAP_SYS_ADMIN prints the rules of an adopted fence'
is "$(program_on 0)" "$id" 'adopt keeps the program'
does 'confirm without CAP_SYS_ADMIN works for an adopted fence' 'confirmed: the rules remain active' \
	with $few build/ringfence confirm
does 'a second adopt has nothing to do' "$eth: has pins already, fence '$eth'
group 'ringfence' cannot read it: there is no such group" \
	ringfence adopt "$eth"
fails 'adopt without CAP_SYS_ADMIN is refused' 1 \
	"ringfence: $eth: cannot adopt its fence: Operation not permitted; it takes CAP_SYS_ADMIN" \
	with $load build/ringfence adopt "$eth"

# The state after an adopt that was killed, or after prefixes that were activated where the pins are
# out of sight.
before=$(ringfence save | tail -n +2)
rm "$pins/$eth"/prefixes4_?
for words in save 'limit add more rate 1/1s'; do
	# shellcheck disable=SC2086
	fails "'$words' is refused where the pin of a list is missing" 1 "ringfence: $eth: \
its pinned prefixes are not the active ones; as root run 'ringfence adopt IF'" \
		with $few build/ringfence $words
done
rm "$pins/$eth/xdp"
ringfence adopt "$eth" >"$scratch/log"
is "$(with $few build/ringfence save | tail -n +2)" "$before" 'adopt pins a list that was not pinned'
check 'adopt pins a program that was not pinned' test -e "$pins/$eth/xdp"
inside ip link set dev "$eth" xdp off
inside ip link set dev "$eth" xdpdrv obj build/ringfence.bpf.o sec xdp
fails 'adopt over pins of another fence is refused' 1 "ringfence: $pins/$eth: this directory has \
the pins of another fence '$eth', which is no longer on any interface here; 'rm -r $pins/$eth' \
removes the pins" \
	ringfence adopt "$eth"
inside ip link set dev "$eth" xdp off
does 'detach removes pins of a fence that is on no interface' \
	"$eth: was no longer attached; the pins of its fence are removed" ringfence detach "$eth"
inside ip link set dev "$eth" xdpdrv obj build/ringfence.bpf.o sec xdp.frags
does 'adopt works for the entry for frames in several buffers' "$eth: adopted, fence '$eth'
group 'ringfence' cannot read it: there is no such group" ringfence adopt "$eth"
check 'adopt pins the entry for frames in several buffers under its own name' \
	test -e "$pins/$eth/frags" -a ! -e "$pins/$eth/xdp"
check 'limit add finds an adopted entry for frames in several buffers' \
	with $few build/ringfence limit add any rate 100/1h exact
does 'attach of an adopted fence changes to the entry that the MTU needs' "$eth: changed in place to the program \
for frames in one buffer (xdp), as its MTU requires, fence '$eth'; rules, windows and counters are preserved" ringfence attach "$eth"
does 'attach of an adopted fence then has nothing to do' \
	"$eth: already attached, fence '$eth'; nothing to do" ringfence attach "$eth"
does 'detach of an adopted fence works' "$eth: detached" with $few build/ringfence detach "$eth"
is "$(program_on 0)" none 'detach of an adopted fence leaves no program'
check 'detach of an adopted fence leaves no pins' test ! -e "$pins/$eth"
fails 'adopt without a fence is refused' 1 "ringfence: $eth: no fence attached; run 'ringfence attach \
$eth' or 'ip link set dev $eth xdp obj …'" ringfence adopt "$eth"

# ---- a group that reads ----

join="run it as root, or as a member of group 'ringfence' once root has run 'ringfence adopt IF'"
echo "ringfence:x:$gid:" >>/etc/group
chmod 1777 /sys/fs/bpf
with $load "$build" attach "$eth" >"$scratch/log"
does 'adopt gives the group nothing where everybody may write to bpffs' "$eth: has pins already, fence '$eth'
group 'ringfence' cannot read it: everybody may write to /sys/fs/bpf, so readers could write to \
the maps; 'chmod 700 /sys/fs/bpf' prevents that" ringfence adopt "$eth"
ringfence detach "$eth" >"$scratch/log"
does 'the remedy for a bpffs that everybody may write to works' '' chmod 700 /sys/fs/bpf
ringfence attach "$eth" >"$scratch/log" # gives the group its place, which requires CAP_CHOWN
ringfence detach "$eth" >"$scratch/log"
for _ in 1 2 3 4; do
	with $load "$build" attach "$eth" >"$scratch/log" || fail "attach: $(<"$scratch/log")"
done
ringfence limit add any rate 100/1h
ringfence limit add dns rate 10/1h match udp dport 53 shadow
ringfence allow add 198.51.100.0/24
deliver 0 src=192.0.2.1,count=3000 src=198.51.100.1,count=40 src=2001:db8::1,count=300
# Only users with permission to open programs can determine their build.
without_build() {
	sed 's/ of this build,/,/; s/"this_build": true/"this_build": null/'
}
for words in status 'status --json' stats 'stats --json' top 'top --json' 'show 192.0.2.1' \
	'show 198.51.100.1 --json' 'limit list' 'allow list' 'deny list'; do
	# shellcheck disable=SC2086
	is "$(describe as_member "$scratch/ringfence" $words)" "$(describe ringfence $words | without_build)" \
		"a member of the group reads what root reads: $words"
done
is "$(as_member "$scratch/ringfence" save | tail -n +2)" "$(ringfence save | tail -n +2)" \
	'a member of the group saves the rules'
locked() { # USER
	echo "ringfence: /run/ringfence-$1.lock: cannot lock: Permission denied; only root may change \
fences, or a user for whom root has made that file"
}
echo 'deny add 192.0.2.0/24' >"$scratch/changes"
chmod 644 "$scratch/changes"
counters() {
	ringfence stats --json dev "$eth" | jq -c '[.reset, .packets, .reasons.under_limit, [.limits[].passed]]'
}
counted=$(counters)
for words in 'limit set any rate 1/1h' 'limit del any' 'deny add 192.0.2.0/24' 'newcomers off' \
	confirm 'stats reset' "batch $scratch/changes" "detach $eth" "attach $eth" "adopt $eth"; do
	# shellcheck disable=SC2086
	fails "a member of the group cannot change anything: $words" \
		1 "$(locked 60712)" as_member "$scratch/ringfence" $words
done
matches "$counted" '\[null,.*"passed":[1-9].*' 'there are counters that a member of the group may not reset'
is "$(counters)" "$counted" 'stats reset of a member of the group resets no counter'
before=$(ringfence save | tail -n +2)
member_writes() { # MAP
	as_member bpftool map update pinned "$share/$eth/$1" key 0 0 0 0 value 0 0 0 0
}
wrong=''
for map in "$share/$eth"/*; do
	[ -L "$map" ] && continue
	as_member test -w "$map" && wrong+=" $map"
	as_member rm -f "$map" 2>"$scratch/log" && wrong+=" rm $map"
done
is "$wrong" '' 'a member of the group can write or remove no pin'
check 'a member of the group cannot write a map by bpftool' \
	test "$(member_writes config 2>&1 >"$scratch/stdout" | wc -l)" != 0
is "$(ringfence save | tail -n +2)" "$before" 'attempts of a member of the group change no rule'
fails 'a user outside the group is told how to get access' 1 \
	"$(not_permitted "$join")" as_stranger "$scratch/ringfence" stats
fails 'a member of the group on an older kernel is told to run it as root' \
	1 "$(not_permitted "this kernel (before 5.19, with kernel.unprivileged_bpf_disabled set) does not \
allow reading maps without CAP_BPF; run it as root")" as_member strace -qq -o /dev/null -e inject=bpf:error=EPERM \
"$scratch/ringfence" stats
does 'a second attach with a group has nothing to do' "$eth: already attached, fence '$eth'; nothing to do" \
	ringfence attach "$eth"
is "$(as_member "$scratch/ringfence" status | unwrapped)" "$(ringfence status | unwrapped | without_build)" \
	'a member of the group reads after a second attach'

# ---- cat ----

pinned() { # FILTER OF stats --json
	ringfence stats --json dev "$eth" | command jq -r "$1"
}
cats() {
	# shellcheck disable=SC2016 # $l is jq's
	is "$(cat "$pins/$eth/stats")" \
		"$(pinned '(.reasons | to_entries[] | "reason \(.key) \(.value.packets) \(.value.bytes)"),
			(.limits[] | . as $l | "passed", "dropped", "would_drop" |
				"limit \($l.name) \(.) \($l[.]) \($l.bytes[.])")')" \
		'cat of the stats iterator prints what stats prints, leases included'
	cat "$pins/$eth/stats" >"$scratch/once"
	for reader in 1 2 3 4; do
		for ((i = 0; i < 150; i++)); do
			cat "$pins/$eth/stats" || break
		done >"$scratch/reader-$reader" 2>&1 &
	done
	wait
	is "$(sort "$scratch"/reader-? | uniq -c | sed 's/^ *//')" "$(sort "$scratch/once" | sed 's/^/600 /')" \
		'readers of the stats iterator at the same time get the same sums'
	is "$(cut -d' ' -f1-5 "$pins/$eth/sources")" '192.0.2.1 limit any passed 100' \
		'cat of the sources iterator prints the windows of IPv4 sources'
	is "$(cut -d' ' -f1-5 "$pins/$eth/sources6")" \
		'2001:0db8:0000:0000:0000:0000:0000:0000 limit any passed 100' \
			'cat of the sources6 iterator prints the windows of IPv6 sources'
	is "$(as_member cat "$share/$eth/stats")" "$(cat "$pins/$eth/stats")" \
		'a member of the group reads the stats iterator'
	for iterator in active active_v6 active64 active64_v6 windows windows_v6; do
		deliver 0 src=192.0.2.1,count=1 src=2001:db8::1,count=1 # `active` is the last 4 s
		is "$(as_member cat "$share/$eth/$iterator" | wc -c)" 44 \
			"a member of the group reads a record of 44 bytes from the iterator '$iterator'"
		fails "a stranger cannot read the iterator '$iterator'" 1 \
			"cat: $share/$eth/$iterator: Permission denied" \
			as_stranger cat "$share/$eth/$iterator"
	done
	is "$(as_member cat "$share/$eth/pending" | wc -c)" "$(wc -c <"$pins/$eth/pending")" \
		'a member of the group reads the leases that hold packets'
	check 'there are such leases, of 32 bytes each' \
		test $(($(wc -c <"$pins/$eth/pending") / 32)) -gt 0
}

without_pending() {
	mv "$share/$eth/pending" "$share/$eth/not-pending"
	is "$(as_member "$scratch/ringfence" stats --json)" "$sums" \
		'a member of the group gets the same sums without that iterator'
	mv "$share/$eth/not-pending" "$share/$eth/pending"
}

if has_iterators; then
	cats
else
	pass 'iterators print what the maps have # SKIP this kernel forbids iterators over maps'
fi
sums=$(ringfence stats --json)
is "$(as_member "$scratch/ringfence" stats --json)" "$sums" \
	'a member of the group gets the sums that root gets, leases included'
! has_iterators || without_pending
ringfence detach "$eth" >"$scratch/log"
check 'detach removes the pins of the group' test ! -e "$share/$eth"
inside ip link set dev "$eth" xdpdrv obj build/ringfence.bpf.o sec xdp
does 'adopt gives the group access to what ip attached' "$eth: adopted, fence '$eth'
members of group 'ringfence' can read it" ringfence adopt "$eth"
ringfence deny add 2001:db8:5::/48 # a trie after the pins
is "$(as_member "$scratch/ringfence" save | tail -n +2)" "deny add 2001:db8:5::/48
newcomers off" 'a member of the group reads a list that changed after adopt'
if has_iterators; then
	is "$(as_member cat "$share/$eth/stats" | wc -l)" "$(wc -l <build/schema/reasons)" \
		'a member of the group reads the stats iterator of an adopted fence'
	check 'a member of the group reads the windows of an adopted fence' \
		as_member cat "$share/$eth/windows"
fi
does 'detach of an adopted fence with a group works' "$eth: detached" ringfence detach "$eth"
check 'detach of an adopted fence removes the pins of the group' test ! -e "$share/$eth"

# ---- another user ----

fails 'attach by another user without a lock is refused' 1 "$(locked $nobody)" \
	as_owner "$scratch/ringfence" attach "$eth"
chown $nobody $share
install -o $nobody -m 600 /dev/null /run/ringfence-$nobody.lock
does 'attach by another user works with a lock and a directory for pins' \
	"$eth: attached in native mode, fence '$eth'" \
	as_owner "$scratch/ringfence" attach "$eth"
check 'attach by another user pins in that directory' test -e "$share/$eth/xdp"
for words in 'limit add any rate 1/1s' 'newcomers off' "attach $eth" "detach $eth" "adopt $eth"; do
	# shellcheck disable=SC2086
	fails "root does not touch a fence of another user: $words" 1 "ringfence: $share/$eth: this \
fence belongs to user $nobody; run the command as that user" ringfence $words
done
does 'limit add by another user works' "$(steady any)" as_owner "$scratch/ringfence" limit add any rate 100/1h exact
does 'deny add by another user works' '' as_owner "$scratch/ringfence" deny add 203.0.113.0/24
forget_traffic
deliver 0 src=192.0.2.1,count=300 src=203.0.113.1,count=40
is "$received" '192.0.2.1 100 6600' 'rules set by another user hold'
is "$(as_owner "$scratch/ringfence" status | unwrapped | sed -E 's/, [0-9.]+ MiB of memory$//')" "fence $eth: program id $(program_on 0) of this build, map ABI $abi, \
room for 65536 sources of each family
  $eth: native mode, attached by ringfence
limit any: at most 100/1h of every source
lists: 0 prefixes allowed, 1 denied
windows of IPv4: 1 of 65536 in use, 0 of residents" 'status by another user prints the fence'
is "$(ringfence status)" "$(as_owner "$scratch/ringfence" status)" 'root reads the fence of another user'
is "$(as_member "$scratch/ringfence" stats --json)" "$(ringfence stats --json)" \
	'a member of the group reads the fence of another user'
does 'detach by another user works' "$eth: detached" as_owner "$scratch/ringfence" detach "$eth"
check 'detach by another user leaves no pins' test ! -e "$share/$eth"
mkdir "$scratch/victim" && touch "$scratch/victim/file" && chmod 711 "$scratch/victim"
as_owner ln -s "$scratch/victim" "$share/$eth"
use "$quick"
ringfence attach "$eth" >"$scratch/log"
ringfence adopt "$eth" >"$scratch/adopted"
ringfence detach "$eth" >"$scratch/log"
is "$(stat -c %a "$scratch/victim") $(ls "$scratch/victim")" '711 file' \
	'root follows no symbolic link of another user'
is "$(tail -n 1 "$scratch/adopted")" \
	"group 'ringfence' cannot read it: $share belongs to another user" \
		'adopt says that the directory belongs to another user'

# ---- to read with all capabilities is not to change ----

rm "$share/$eth" && chown root $share
use "$shipped" # as the reader's
ringfence attach "$eth" >"$scratch/log"
ringfence limit add any rate 100/1h
as_reader() { # of the group, with the lock and the capabilities
	inside setpriv --reuid="$nobody" --regid="$nobody" --groups="$gid" \
		--bounding-set=-all,+bpf,+net_admin,+perfmon --inh-caps=-all,+bpf,+net_admin,+perfmon \
		--ambient-caps=-all,+bpf,+net_admin,+perfmon "$scratch/ringfence" "$@"
}
for words in 'limit set any rate 7/1h' 'limit del any' 'newcomers rate 100/1s then aggregate' confirm \
	"attach $eth"; do
	# shellcheck disable=SC2086
	fails "a reader with all capabilities cannot change the fence: $words" 1 \
		"ringfence: $eth: you may read this fence but not change it; run the command as root" \
		as_reader $words
done
is "$(ringfence limit list)" 'limit add any rate 100/1h' \
	'attempts of a reader with all capabilities change nothing'

# ---- several ----

add_wire 1
use "$quick"
ringfence detach "$eth" >"$scratch/log"
ringfence attach "$eth" fence "$run-both" >"$scratch/log"
ringfence attach "${port[1]}" fence "$run-both" >"$scratch/log"
is "$(program_on 0)" "$(program_on 1)" 'two interfaces of a fence have the same program'
is "$(with $few "$build" status)" "$(ringfence status)" \
	'status without CAP_SYS_ADMIN shows a fence on two interfaces'
ringfence detach "${port[1]}" >"$scratch/log"
inside ip link set dev "${port[1]}" xdpdrv obj build/ringfence.bpf.o sec xdp
fails 'a change without CAP_SYS_ADMIN and dev is refused beside a program of ip' \
	1 "ringfence: some XDP \
programs can be read only with CAP_SYS_ADMIN; choose the fence: dev $eth" \
	with $few build/ringfence limit add any rate 1/1s
does 'a change without CAP_SYS_ADMIN works with dev beside a program of ip' \
	"$(steady any)" with $few build/ringfence limit add any rate 1/1s dev "$eth"
ringfence detach "$eth" >"$scratch/log"
inside ip link set dev "${port[1]}" xdp off

done_testing
