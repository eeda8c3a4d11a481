#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Sources without a window on the screen of `top`: the key that takes samples, the rows marked `~`,
# their actions, and that nothing is sampled once the screen has ended.

# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/screen.sh
source tests/e2e/screen.sh

mkdir -p /run/ringfence
mount -t bpf -o mode=0700 bpf /run/ringfence || bail 'cannot mount a bpffs for the group'
chmod 777 "$scratch"
install -m 755 build/ringfence "$scratch/ringfence" # another user cannot reach the tree
make_network 1
dev=${port[0]}
ringfence attach "$dev" >"$scratch/log" || bail 'cannot attach'
ringfence limit add any rate 50/1s match udp >"$scratch/log"
ringfence deny add 198.51.100.0/24 >"$scratch/log"
start outside build/tests/traffic send dev out0 to 02:00:00:00:00:02 flow src=192.0.2.66,count=100000000,rate=2000 \
	flow src=198.51.100.7,count=100000000,rate=5000 flow src=198.51.100.8,count=100000000,rate=300 >/dev/null

is_sampled() {
	[ "$(ringfence top --json dev "$dev" | jq '.unseen != null')" = true ]
}

is_not_sampled() {
	! is_sampled
}

# ---- the key ----

open_screen 80x24 "${utf8[@]}" -- top dev "$dev"
sees '^> 192\.0\.2\.66 +any ' 'a source with a window is shown'
sees '^ +5\.[0-9]+k/s dropped of sources without a window; ~ shows them$' 'many drops of others: the screen says which key shows them'
check 'no sample is taken until then' is_not_sampled
press '~'
sees '^[> ]~198\.51\.100\.7 +denied +~[45]\.[0-9]+k +0 ' '~ shows a denied source, with an estimate'
sees '^[> ]~198\.51\.100\.8 +denied +~[23][0-9]{2} ' 'and another one'
sees '^[> ] 192\.0\.2\.66 +any +██████ 100% ' 'a source with a window has no mark'
sees '^ +~: by one in [0-9]+ packets' 'the screen says how many packets are sampled'
check 'samples are taken now' eventually is_sampled

# ---- one row ----

press / 198.51.100.8 Enter
sees '^[> ]~198\.51\.100\.8 ' 'a filter finds it'
press Enter
sees '^next packet: dropped, by deny 198\.51\.100\.0/24' 'Enter shows what becomes of its next packet'
sees '^~[0-9]+ packets/s dropped \(denied\), estimated: in the last second,' 'and what the samples say'
sees 'how much of a limit it uses, is not known' 'and what is not known'
press Escape
press r
sees '^this source has no window \(denied\), so no limit applies to it' 'r says that there is no limit to raise'
press d
sees 'ringfence deny add 198\.51\.100\.8 for 1h dev' 'd is about its address'
press Escape
press a
sees 'ringfence allow add 198\.51\.100\.8 for 1h dev' 'a is about its address'
press Enter
sees '^done: ringfence allow add 198\.51\.100\.8 for 1h' 'it is allowed'
sees '^[> ]~198\.51\.100\.8 +allowed +0 +~[23][0-9]{2}' 'its packets are estimated to pass, for another reason'
press u Enter
sees '^done: ringfence allow del 198\.51\.100\.8' 'that is taken back'
press e
for ((i = 0; i < 40; i++)); do press BSpace; done
press "$scratch/out.json" Enter
sees "^exported [12] rows to '" 'e writes it'
is "$(jq -c '.sources[] | select(.reason == "denied") | [.source, .limit]' "$scratch/out.json")" \
	'["198.51.100.8",null]' 'the file has a reason in place of a limit'
press '~'
eventually has_not '^[> ]~'
is "$(screen | grep -c '^[> ]~')" 0 '~ again: the rows are gone'
check '~ again: no more samples are taken' eventually is_not_sampled
press '~'
sees '^[> ]~198\.51\.100\.8 ' 'and again, there they are'
press q
leaves_terminal 0 'q quits'
check 'q ends the sampling' is_not_sampled
close_screen

# ---- other ways to exit ----

for signal in TERM KILL; do
	open_screen 80x24 "${utf8[@]}" -- top dev "$dev"
	sees '^> 192' "SIG$signal: top runs"
	press '~'
	sees '^[> ]~198' "SIG$signal: samples are taken"
	kill "-$signal" "$(process)"
	check "SIG$signal ends the sampling" eventually is_not_sampled
	close_screen
done
open_screen 80x24 "${utf8[@]}" -- top limit any dev "$dev"
sees '^> 192' 'of one limit, top shows its sources'
press '~'
sees "^a source without a window is of no limit; 'ringfence top' without" 'of one limit, ~ says what to type'
close_screen

# ---- what others sample ----

build=$scratch/ringfence
open_screen 80x24 "${utf8[@]}" setpriv --reuid 60712 --regid 60712 --groups "$(getent group ringfence | cut -d: -f3)" \
	--bounding-set=-all --inh-caps=-all -- top dev "$dev"
build=$shipped
sees '^> 192' 'a member of the group sees the sources'
press '~'
sees "^to take samples takes CAP_BPF and CAP_NET_ADMIN: 'sudo ringfence top'" 'a member of the group may take no samples'
start inside "$build" top sample 30s dev "$dev" >/dev/null
sampler=$started_pid
sees '^[> ]~198\.51\.100\.7 +denied ' 'what somebody else samples is shown to a member without a key'
stop TERM "$sampler"
eventually has_not '^[> ]~'
is "$(screen | grep -c '^[> ]~')" 0 'the rows go when the sampling ends'
press q
leaves_terminal 0 'a member of the group quits'
close_screen
done_testing
