#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The output of the command line: exit status and exact line for every refusal, and that a refusal
# changes nothing; help; the shape of JSON; `stats watch`; runs without privilege and without BTF.
#
#   outside                               inside
#   out0  ---------- wire 0 ----------->  ${port[0]}
#   out1  ---------- wire 1 ----------->  ${port[1]}

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

none=${run}none # no interface is called so

# usage MESSAGE WORD…: a usage error, whether or not anything is attached.
usage() {
	fails "wrong usage: ringfence ${*:2}" 2 "ringfence: $1" ringfence "${@:2}"
}

# refused MESSAGE WORD…: correct usage that fails in the situation that $with names.
refused() {
	fails "refused $with: ringfence ${*:2}" 1 "ringfence: $1" ringfence "${@:2}"
}

program_on_each() {
	inside ip -j link | jq -c '[.[] | .xdp.prog.id]'
}

make_network 2
use "$quick"

# ---- nothing attached ----

with='without a fence'

no_fence="no fence attached; run 'ringfence attach ${port[0]}' or 'ip link set dev ${port[0]} xdp obj …'"
no_fence_at_all="no fence attached to any interface; run 'ringfence attach IF' or \
'ip link set dev IF xdp obj …'"
no_interface="no such interface; 'ip link' lists the interfaces"
no_name="no such interface or fence; 'ip link' lists the interfaces, 'ringfence status' the fences"
for words in status stats 'stats watch' top 'show 192.0.2.1' 'limit list' 'limit add any rate 1/1s' \
	'limit set any rate 1/1s' 'limit del any'; do
	# shellcheck disable=SC2086
	{
		refused "$no_fence_at_all" $words
		refused "${port[0]}: $no_fence" $words dev "${port[0]}"
		refused "$none: $no_name" $words dev "$none"
	}
done
refused "$none: $no_interface" attach "$none"
refused "$none: $no_name" detach "$none"
refused "${port[0]}: $no_fence" detach "${port[0]}"
refused "lo: cannot attach in native mode: Operation not supported \
(Underlying driver does not support XDP in native mode); 'ringfence doctor lo' prints \
the reason; 'ringfence attach lo mode generic' may work" attach lo fence "$run-lo"
check 'attach to an interface without native mode leaves no pins' test ! -e "$pins/$run-lo"
does 'attach mode generic works on an interface without native mode' \
	"lo: attached in generic mode, fence '$run-lo'
generic mode counts packets merged by the kernel (GRO) as one packet" \
	ringfence attach lo fence "$run-lo" mode generic
ringfence detach lo >"$scratch/log"

# ---- a foreign program ----

clang -target bpf -O2 -x c -c -o "$scratch/foreign.o" - <<-'END' || bail 'cannot compile a program'
	__attribute__((section("xdp"), used)) int foreign(void *context) { return 2; }
	__attribute__((section("license"), used)) char gpl[] = "GPL";
END
with='beside a foreign program'
inside ip link set dev "${port[0]}" xdpdrv obj "$scratch/foreign.o" sec xdp
id=$(program_on 0)
before=$(program_on_each)
foreign="no fence attached, but the XDP program 'foreign' (id $id), which is not ringfence; \
'bpftool prog show id $id' prints details"
ways_out="'ringfence attach ${port[0]} replace' detaches it, 'ringfence attach ${port[0]} chain' runs \
alongside it once 'xdp-loader' has loaded it"
refused "${port[0]}: a foreign XDP program is in place: 'foreign' (id $id), attached by netlink, as \
'ip' does; $ways_out" attach "${port[0]}"
refused "${port[0]}: a foreign XDP program is in place: 'foreign' (id $id), attached by netlink, as \
'ip' does; $ways_out" attach "${port[1]}" "${port[0]}"
refused "${port[0]}: cannot attach in a chain: 'foreign' (id $id) is in place without libxdp's \
dispatcher; load it by 'xdp-loader' instead, or 'ringfence attach ${port[0]} replace' detaches it" \
	attach "${port[0]}" chain
refused "${port[0]}: $foreign" detach "${port[0]}"
refused "${port[0]}: $foreign" status dev "${port[0]}"
refused "${port[0]}: $foreign" limit add any rate 1/1s dev "${port[0]}"
refused "$no_fence_at_all" status
is "$(program_on_each)" "$before" "refused commands leave a foreign program in place"
check 'refused commands on a foreign program pin nothing' \
	test ! -e "$pins/${port[0]}" -a ! -e "$pins/${port[1]}"
use "$shipped"
does 'attach replace takes off a foreign program' "${port[0]}: attached in native mode, fence '${port[0]}'
${port[0]}: replaced 'foreign' (id $id)" ringfence attach "${port[0]}" replace

# ---- a fence, used ----

ringfence limit add any rate 100/1h
deliver 0 src=192.0.2.1,count=300 src=2001:db8::1,count=10
state() {
	ringfence status | unwrapped | sed 's/ of [a-z]* build,/,/; /program of another build/d'
	ringfence limit list
	ringfence stats --json
	ringfence top
	program_on_each
}
before=$(state)

# ---- wrong usage ----

usage "a command is missing; run 'ringfence help'"
usage "'frob': unknown command; run 'ringfence help'" frob
usage "'statu': unknown command; did you mean 'status'? 'ringfence help' lists the commands" statu
usage "'lmit': unknown command; did you mean 'limit'? 'ringfence help' lists the commands" lmit add
usage "'limit lst': unknown command; did you mean 'limit list'? 'limit' expects add, set, change, enforce, shadow, \
del, list or try" limit lst
usage "'limit': expects add, set, change, enforce, shadow, del, list or try" limit
usage "'limit foo': unknown command; 'limit' expects add, set, change, enforce, shadow, del, list or try" limit foo
for list in allow deny; do
	usage "'$list': expects add, del, list, load or flush" $list
	usage "'$list foo': unknown command; '$list' expects add, del, list, load or flush" $list foo
done
usage "'fleet': expects join, leave, run, check, status, show, top, gone, hosts or bans" fleet
usage "'history': expects list, export, check or schema" history
# Words of nft, ufw, iptables and ipset.
usage "'rule': unknown command; did you mean 'limit'? 'ringfence help' lists the commands" rule add
usage "'reload': unknown command; did you mean 'apply'? 'ringfence help' lists the commands" reload
usage "'flush': unknown command; did you mean 'allow flush' or 'deny flush'? 'ringfence help' lists the commands" flush
usage "'enforce': unknown command; did you mean 'limit enforce'? 'ringfence help' lists the commands" enforce dns
usage "'limit arm': this command is now 'limit enforce'" limit arm dns
usage "'list': unknown command; did you mean 'limit list', 'allow list', 'deny list' or 'history list'? 'ringfence help' \
lists the commands" list
usage "'enable': unknown command; did you mean 'attach'? 'ringfence help' lists the commands" enable
usage "'disable': unknown command; did you mean 'detach'? 'ringfence help' lists the commands" disable
usage "'limit flush': unknown command; did you mean 'limit del'? 'limit' expects add, set, change, enforce, shadow, \
del, list or try" limit flush
usage "'deny reload': unknown command; did you mean 'deny load'? 'deny' expects add, del, list, load or flush" deny reload
usage "'dev lo': doctor takes one interface, or none" doctor lo dev lo
usage "'--frob': unknown option; run 'ringfence help'" status --frob
usage "'dev': expects an interface or a fence" status dev
usage "'frob': unknown command; run 'ringfence help'" help frob
usage "'now': unexpected word; see 'ringfence help help'" help status now

usage "'limit rm': unknown command; did you mean 'limit del'? 'limit' expects add, set, change, enforce, shadow, \
del, list or try" limit rm all
usage "'block': unknown command; did you mean 'deny'? 'ringfence help' lists the commands" block 192.0.2.1
usage "'--jsno': unknown option; did you mean '--json'?" status --jsno
usage "'statsu': unknown command; did you mean 'status'? 'ringfence help' lists the commands" statsu
no_json="'--json': save prints the rules as commands; for JSON use 'limit list', 'allow list' and 'deny list'"
is "$(describe ringfence save --json)" "exit 2
{\"schema\":2,\"error\":\"$no_json\"}
stderr: ringfence: $no_json" 'save refuses --json'
# The refusals of the grammar are in tests/unit/refusals; here, that they change nothing.
usage "'shadow': given twice" limit set any rate 20k/1s shadow shadow
usage "'cells': 'algorithm token' does not accept it; only sliding has cells and an edge" \
	limit set any rate 20k/1s algorithm token cells 4
usage "'now': unexpected word; see 'ringfence help deny add'" deny add 192.0.2.1 now

usage "'192.0.2': invalid address; write it like 192.0.2.1 or 2001:db8::1" show 192.0.2
usage "'192.0.2.0/33': invalid prefix: its length must be 0-32" show 192.0.2.0/33
usage "'2001:db8::g': invalid address; write it like 192.0.2.1 or 2001:db8::1" show 2001:db8::g

usage "'chain' and 'replace' exclude each other: 'chain' runs alongside other programs, 'replace' removes \
them" attach "${port[1]}" chain replace
usage "'dev ${port[1]}': attach takes its interface without 'dev'" dev "${port[1]}" attach "${port[1]}"
usage "'dev ${port[0]}': detach takes its interface without 'dev'" dev "${port[0]}" detach "${port[0]}"
is "$(state)" "$before" 'wrong usage changes nothing'
check 'wrong usage pins nothing' test ! -e "$pins/${port[1]}"

# ---- refused by a fence ----

with='with a fence'
refused "limit 'any': it exists already; to replace it, use 'limit set any …'" \
	limit add any rate 1/1s
refused "limit 'nay': it does not exist; did you mean 'any'?" limit del nay
refused "limit 'nay': it does not exist; did you mean 'any'?" limit enforce nay
refused "limit 'nay': it does not exist; did you mean 'any'?" top limit nay dev "${port[0]}"
refused "limit 'more': it does not exist; 'limit list' lists the limits, 'limit add' makes one" \
	limit set more rate 1/1s
refused "limit 'more': it does not exist; 'limit list' lists the limits, 'limit add' makes one" \
	limit del more
refused "'192.0.2.1': not on the allow list; 'allow list' shows its prefixes as they were added" \
	allow del 192.0.2.1
refused "$scratch/none: cannot read it: No such file or directory" deny load "$scratch/none"
refused "$scratch/none: cannot read it: No such file or directory" apply "$scratch/none"
refused "$scratch/none: cannot read it: No such file or directory" check "$scratch/none"
refused "$scratch/none: cannot read it: No such file or directory" \
	limit add more rate 1/1s from file "$scratch/none"
refused "nothing to confirm: no rules are unconfirmed" confirm
refused "nothing to revert: no rules are unconfirmed" revert
refused "${port[0]}: already attached in native mode; to change it, first run \
'ringfence detach ${port[0]}'" attach "${port[0]}" mode generic
refused "${port[0]}: already attached, to fence '${port[0]}'; first run 'ringfence detach ${port[0]}'" \
	attach "${port[0]}" fence "$run-other"
refused "${port[0]}: its fence has room for 65536 sources; for 70000, first run \
'ringfence detach ${port[0]}'" attach "${port[0]}" sources 70000
refused "$none: $no_interface" attach "${port[0]}" "$none"
is "$(state)" "$before" 'refused commands change nothing'

# ---- several fences ----

with='with two fences and no dev'
use "$quick"
ringfence attach "${port[1]}" >"$scratch/log"
several="several fences are attached: ${port[0]}, ${port[1]}; choose one: dev ${port[0]}"
for words in 'show 192.0.2.1' 'limit list' 'limit set any rate 1/1s' 'limit del any'; do
	# shellcheck disable=SC2086
	refused "$several" $words
done
does 'of several fences, dev names one' 'no limits' ringfence limit list dev "${port[1]}"
does 'of several fences, dev names one before the command' 'no limits' ringfence dev "${port[1]}" limit list
does 'of several fences, a command without dev changes none' 'limit add any rate 100/1h' \
	ringfence limit list dev "${port[0]}"
ringfence detach "${port[1]}" >"$scratch/log"

# ---- other mount namespaces ----

# `ip netns exec` mounts a private /sys, and leaves its mount namespace when it exits.
in_ip_netns() {
	ip netns exec "rf-test-$$-inside" build/ringfence "$@"
}
fails 'attach is refused in the mount namespace of ip netns exec' \
	1 "ringfence: /sys/fs/bpf: no bpffs in this mount namespace, \
and pins in one mounted here would vanish with it; enter a network namespace by 'nsenter --net=…'" \
	in_ip_netns attach "${port[1]}"
is "$(state)" "$before" 'attach that is refused in the mount namespace of ip netns exec changes nothing'
is "$(in_ip_netns limit list)" "$(ringfence limit list)" \
	'limit list works in the mount namespace of ip netns exec'

# ---- without privilege ----

chmod 755 "$scratch"
install -m 755 build/ringfence "$scratch/ringfence" # no user can run it, wherever the tree is
nobody() {
	inside setpriv --reuid=65534 --regid=65534 --clear-groups "$scratch/ringfence" "$@"
}
fails 'status needs root' 1 \
	"ringfence: not permitted; run it as root, or as a member of group 'ringfence' once root has run \
'ringfence adopt IF' (program id $(program_on 0): only CAP_SYS_ADMIN may open it by its id, and no pin that \
you may read belongs to it)" \
	nobody status
fails 'attach needs root' 1 \
	"ringfence: /run/ringfence-65534.lock: cannot lock: Permission denied; only root may change fences, or a user for whom root has made that file" \
	nobody attach "${port[1]}"
fails 'detach needs root' 1 \
	"ringfence: /run/ringfence-65534.lock: cannot lock: Permission denied; only root may change fences, or a user for whom root has made that file" \
	nobody detach "${port[0]}"
fails 'limit add needs root' 1 \
	"ringfence: /run/ringfence-65534.lock: cannot lock: Permission denied; only root may change fences, or a user for whom root has made that file" \
	nobody limit add more rate 1/1s
is "$(describe nobody help | head -n 1)" 'exit 0' 'help works without root'
is "$(state)" "$before" 'commands without privilege change nothing'

# ---- help ----

for words in '' attach detach limit 'limit add' 'limit set' 'limit del' 'limit list' allow 'allow add' \
	'allow del' 'allow list' 'allow load' deny 'deny add' 'deny del' 'deny list' 'deny load' newcomers \
	save apply confirm revert check diff status stats top show; do
	# shellcheck disable=SC2086
	matches "$(describe ringfence help $words)" $'exit 0\n.*ringfence.*\nstderr: ' \
		"help${words:+ $words} prints help"
done
is "$(ringfence --help)" "$(ringfence help)" '--help prints what help prints'
is "$(ringfence -h)" "$(ringfence help)" '-h prints what help prints'
is "$(ringfence limit add --help)" "$(ringfence help limit add)" 'limit add --help prints the help of limit add'
is "$(ringfence show 192.0.2.1 -h)" "$(ringfence help show)" 'show ADDRESS -h prints the help of show'
is "$(ringfence help stats watch)" "$(ringfence help stats)" 'help takes an option of the command'
is "$(ringfence -V), $(ringfence version)" "$(ringfence --version), $(ringfence --version)" \
	'-V and version print what --version prints'
is "$(ringfence help | grep '^  version ' | tr -s ' ')" ' version print the version' 'help lists version'
matches "$(ringfence --version)" 'ringfence [0-9.]+ \(map ABI [0-9]+\)' '--version prints version and map ABI'

# ---- the shape of JSON ----

# shape TYPE-OF-EACH-KEY WORD…: the shape of a command's JSON; the first entry represents a list.
shape() {
	is "$(ringfence "${@:2}" --json | command jq -cS 'def shape:
		if type == "object" then del(.schema) | map_values(shape)
		elif type == "array" then [.[0] | shape]
		else type end; shape')" "$(command jq -cnS "$1")" "--json has the documented keys and types: ${*:2}"
}

interface='{name: "string", ethernet: "boolean", mode: "string", attached_by: "string", chain: "null",
	packets: "null", bytes: "null"}'
counts='{packets: "number", bytes: "number"}'
both='{passed: "number", dropped: "number", would_drop: "number"}'
of_limit='{passed: "number", dropped: "number", would_drop: "number", forfeited: "number",
	truncated: "number"}'
in_use='{used: "number", resident: "number", inserts: "number", evictions: "number"}'
maps=$(jq -n '[$ARGS.positional[] | {(.): "number"}] | add' --args windows4 windows6 config leases \
	lease_tags ports prefixes4 prefixes6 known_filter aggregates answers counters limit_counters interfaces samples slots4 slots6 bans)
of_newcomers='{then: "string", rate: "number", window_ms: "number", admitted: "number", aggregated: "number",
	passed: "number", dropped: "number", shadow_only: "number", known: "number", established: "number",
	challenged: "number", proven: "number", except_established: "boolean", answers: "null", answers_ms: "null",
	dns: "null"}'
shape '{fence: "string", version: "string", abi: "number", program_id: "number",
	this_build: "boolean", sources: "number", interfaces: ['"$interface"' + {this_build: "boolean", bypassed: "null", mtu_ok: "boolean"}], enforced: "boolean", unconfirmed: "null",
	limits: [{name: "string", match: "string", dport: "null", sport: "null", to: "null",
	length: "null", flags: "null", from: "null", per: "number",
		per6: "number", shadow: "boolean"}], lists: {allow: "number", deny: "number", fleet: "number"},
	newcomers: '"$of_newcomers"', syncookies_ok: "null",
	windows: {ipv4: '"$in_use"', ipv6: '"$in_use"'},
	memory: {bytes: "number", maps: '"$maps"'},
	bans: {active: "number", capacity: "number", refused: "number"}, paused_ms: "number"}' status dev "${port[0]}"
shape '{fence: "string", interfaces: ['"$interface"'], packets: '"$both"', bytes: '"$both"',
	reset: "null", reasons: ([('"$(names_in reasons)"') | {(.): '"$counts"'}] | add),
	limits: [{name: "string"} + '"$of_limit"' + {bytes: '"$of_limit"'}],
	newcomers: '"$of_newcomers"', windows: {ipv4: '"$in_use"', ipv6: '"$in_use"'},
	map_errors: ([('"$(names_in map_errors)"') |
		{(.): "number"}] | add)}' stats dev "${port[0]}"
shape '{fence: "string", sources: [{source: "string", limit: "string", passed: "number", dropped: "number", lent: "number",
	would_drop: "number", used: "number", used_per_s: "number", rate: "number", burst: "null", window_ms: "number",
	unit: "string", banned_ms: "number", aggregate: "boolean", shadow: "boolean"}], unseen: "null"}' top dev "${port[0]}"
shape '{source: "string", verdict: "string", by: {kind: "string", limit: "string", prefix: "null"}, retry_after_ms: "number",
	summary: "string", allowed: "null", denied: "null",
	limits: [{limit: "string", source: "string", used: "number", rate: "number",
	burst: "null", window_ms: "number", unit: "string", cells: ["number"], passed: "number",
	dropped: "number", would_drop: "number", lent: "number", retry_after_ms: "number", recent: "null", remaining: "null",
	shadow_retry_after_ms: "null", newcomer: "boolean", shadow: "boolean", banned_ms: "number"}]}' show 192.0.2.1
shape '{limits: [{name: "string", rate: "number", window_ms: "number", unit: "string",
	algorithm: "string", edge: "string", cells: "number", burst: "null", match: "string",
	dport: "null", sport: "null", to: "null",
	length: "null", flags: "null", from: "null", per: "number", per6: "number", shadow: "boolean",
	count_rejected: "boolean", exact: "boolean", over: "null", fleet: "null", ban_ms: "null", ban_all: "boolean"}]}' limit list
ringfence detach "${port[0]}" >"$scratch/log"
use "$shipped"
shape '{interfaces: [{name: "string", fence: "string", mode: "string", outcome: "string",
	replaced: "null", replaced_abi: "null", lost: ["null"], memory: "number", link_down_ms: "null"}]}' \
	attach "${port[0]}" "${port[1]}" fence "$run-both"
shape '{detached: ["string"], link_down_ms: {}, lost: ["null"]}' detach "${port[1]}"
is "$(ringfence attach "${port[0]}" --json | command jq -c '.interfaces[]')" \
	"{\"name\":\"${port[0]}\",\"fence\":\"$run-both\",\"mode\":\"native\",\"outcome\":\"unchanged\",\
\"replaced\":null,\"replaced_abi\":null,\"lost\":[],\"memory\":null,\"link_down_ms\":null}" \
	'attach --json says whether it attached'
ringfence limit add any rate 100/1h
forget_traffic
deliver 0 src=192.0.2.1,count=300 src=2001:db8::1,count=10
is "$(ringfence limit list --json | jq -r '.limits[] | "\(.unit) \(.algorithm)"')" 'packets sliding' \
	'limit list --json has the words of the grammar'

# ---- where output cannot go ----

full() {
	inside timeout 300 build/ringfence "$@" >/dev/full
}

echo 'newcomers off' >"$scratch/fine"
for words in help status 'limit list' stats top 'show 192.0.2.1' 'status --json' 'stats --json' \
	'stats watch' 'stats watch --json' save 'allow list' 'deny list --json' \
	"check $scratch/fine"; do
	# shellcheck disable=SC2086
	fails "a full disk makes the command fail: $words" 1 \
		'ringfence: standard output: No space left on device' full $words
done

# ---- stats watch ----

has_ended() { # PID
	! kill -0 "$1" 2>/dev/null
}

# Lines of interfaces, which the fence has had several of, are indented.
has_lines() { # COUNT
	[ "$(grep -vc '^ ' "$scratch/watched")" -ge "$1" ]
}

begin=${EPOCHREALTIME/./}
start inside build/ringfence stats watch >"$scratch/watched" 2>"$scratch/stderr"
check 'stats watch prints a third line' eventually has_lines 3
took_us=$((${EPOCHREALTIME/./} - begin))
stop INT "$started_pid"
is "exit $?, $(<"$scratch/stderr")" 'exit 0, ' 'stats watch ends by SIGINT without a failure'
check 'stats watch waits a second for each line' test "$took_us" -ge 2000000
matches "$(head -n 1 "$scratch/watched")" \
	'time +passed/s +dropped/s +would drop/s +passed bit/s +dropped bit/s +errors' \
		'stats watch prints a line of titles first'
matches "$(grep -v '^ ' "$scratch/watched" | tail -n 1)" '[0-9]{2}:[0-9]{2}:[0-9]{2}( +[0-9]+){6}' \
	'stats watch prints a line of numbers each second'
is "$(sed -nE '/^.{81}/p' "$scratch/watched")" '' 'stats watch fits into 80 columns'
start inside build/ringfence stats watch --json >"$scratch/watched"
eventually has_lines 2
stop TERM "$started_pid"
is "exit $?, $(head -n 2 "$scratch/watched" | jq -r '.packets | "\(.passed) \(.dropped)"')" \
	$'exit 0, 110 200\n110 200' 'stats watch --json prints one document a line'
start inside build/ringfence stats watch >"$scratch/watched" 2>"$scratch/stderr"
eventually has_lines 2
ringfence detach "${port[0]}" >"$scratch/log"
eventually has_ended "$started_pid"
stop KILL "$started_pid"
is "exit $?, $(<"$scratch/stderr")" "exit 1, ringfence: fence '$run-both': it was detached; 'ringfence attach IF' attaches one" \
	'stats watch ends with a message when its fence is detached'

done_testing
