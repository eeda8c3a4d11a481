#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The output of commands fits into 80 columns, with aligned columns, with the longest names and
# addresses.
#
#   outside                      inside
#   out0  ------- wire 0 ------  enp129s0f0np001
#   out1  ------- wire 1 ------  enp129s0f1np001

# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

port=([0]=enp129s0f0np001 [1]=enp129s0f1np001)
fence='uplinks-of-the-northern-gateway'
answers='answers-of-the-resolver-to-them'
network='networks-of-our-other-customers'
full='2001:db8:1234:5678:9abc:def0:1234:5678'

# fits NAME CMD…: no line of a command's output is wider, and it prints something.
fits() {
	ringfence "${@:2}" >"$scratch/fits" 2>"$scratch/stderr"
	is "$? $(<"$scratch/stderr")" '0 ' "$1: works"
	is "$(LC_ALL=C.UTF-8 sed -nE '/^.{81}/p' "$scratch/fits")" '' "$1: fits into 80 columns"
	is "$(grep ' $' "$scratch/fits")" '' "$1: no line ends with a blank"
	check "$1: prints something" test -s "$scratch/fits"
}

make_network 2

fits 'attach' attach "${port[0]}" "${port[1]}" fence "$fence" confirm 1h
fits 'status of a fence unconfirmed' status
matches "$(sed -n '/^fence/,/memory/p' "$scratch/fits")" "fence $fence: .*
    [^ ].* of memory" 'a line that goes on is indented'
fits 'confirm' confirm
fits 'status without a limit' status

ringfence apply - >"$scratch/log" 2>&1 <<-END || bail "cannot apply: $(<"$scratch/log")"
	limit add $answers rate 3/1h match udp dport 53,853,1000-1999,3000-3999,5000-5999,7000-7999 from 2001:db8::/32,192.0.2.0/24 per6 /127 ban 1h all
	limit add $network rate 1234567/5270401s bytes per /24 per6 /48 shadow
	newcomers rate 123456789/1h then aggregate
	deny add $full for 8783h
	deny add 203.0.113.0/24
	allow add 2001:db8:ffff:ffff:ffff:ffff:ffff:fffe/127 for 8783h
END
deliver 0 "src=$full,proto=udp,dport=53,count=9" src=192.0.2.1,proto=udp,dport=53,count=9 \
	src=2001:db8:1234:5678:9abc:def0:1234:5679,proto=udp,dport=53,count=9
fits 'status' status
is "$(sed -n "/^limit $answers/,/^limit $network/p" "$scratch/fits" | sed '$d')" \
	"limit $answers: at most 3/1h of every /32 (IPv6: /127),
    match udp, dport 53,853,1000-1999,3000-3999,5000-5999,7000-7999, from 2
    prefixes, ban 1h of all its packets" 'status wraps a long line between words'
fits 'doctor' doctor
fits 'doctor of an interface' doctor "${port[0]}"
is "$(sed -nE '2,$p' "$scratch/fits" | grep -vcE '^enp|^  (ok|note|problem) +[a-z_-]+ +[^ ]|^ {27}[^ ]')" 0 \
	'doctor keeps its columns'
for words in 'deny list' 'allow list' bans stats top 'show 2001:db8:1234:5678:9abc:def0:1234:5679' 'show 192.0.2.1' \
	"show $full" 'show 192.0.2.0/24' 'show 2001:db8::/32'; do
	# shellcheck disable=SC2086 # words
	fits "$words" $words
done
fits 'limit set' limit set "$network" rate 7654321/1234h bytes per /23 per6 /47 algorithm token burst 100k dport 1,3,5,7
fits 'limit enforce' limit enforce all
fits 'limit shadow' limit shadow "$network"
inside sysctl -qw net.ipv4.tcp_syncookies=2
ringfence newcomers rate 123456789/1h 'then' challenge answers 123456788/5270401s dns 1053,2053,30053,40053
fits 'status with challenges' status
ringfence save >"$scratch/rules"
fits 'apply' apply "$scratch/rules" confirm 1h
fits 'check' check "$scratch/rules"
fits 'status of rules unconfirmed' status
fits 'detach' detach "${port[0]}"
done_testing
