#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Measures the cost of a flood's packet for the receiver, with ringfence and with the usual
# alternatives.
#
#   outside                                  a namespace for each variant
#   out0  <-- CPU A: generator ------------  rf…w0  CPU B: NAPI thread, bare XDP_DROP
#   out1  ---------------------------------  rf…w1         the same,    ringfence
#   …                                        …
#
# The generator sends more than the receiver can process, from random sources that are known before
# the flood. The result is the CPU time of the receiver's thread, divided by the frames that it
# processed. The variants take turns, because a change of the machine's speed then affects all; each
# turn is divided by the turn of a bare XDP_DROP in the same round. If packets pass, the turn without
# a limiter is also subtracted: the rest is the time that the limiter adds.
#
# In "paced" runs, there is no flood: every source sends one packet a second, under a limit of 1000
# in 10 s. A second's packets are sent in one batch. A receiver that cannot process 1,000,000 packets
# a second gets them in 2 s.
#
#   tests/bench/live.sh [--json] [--keep FILE.json] [--plot FILE.svg] [--only PATTERN]
#   --only PATTERN      the runs whose KIND/FAMILY/SOURCES/BYTES match: 'paced/*', 'under/6/*'
#   QUICK=1             fewer rounds, rows and numbers of sources: two minutes, and not fifty
#   ROUNDS=5            of 1,000,000 paced sources at most 3
#   GENERATOR_CPU=0 RECEIVER_CPU=1
#
# This is a tool, not a test: it fails only if a result is not valid.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../e2e/lib.sh"
# shellcheck source=tests/bench/wires.sh
source tests/bench/wires.sh

# gojq, which lib.sh prefers, does not pass --arg variables to the functions of a module.
jq() { command jq "$@"; }

rounds=${ROUNDS:-5} frames=1000000 # measured in a turn; about 0.1 s
turns=3			# of all rounds, at most, where others disturb them
everyone=4294967295	# sources: all addresses, of IPv6 as many /64

# Over the limit: one packet per hour, which never passes packets of known sources. Under the limit:
# the highest limit that each variant accepts. Paced: the same average and burst.
declare -A ringfence_rate=([over]=1/1h [under]=1000M/1s [new]=1000M/1s [paced]=1000/10s)
declare -A nftables_rate=([over]='1/hour burst 1 packets' [under]='100000000/second burst 1000000 packets'
	[new]='100000000/second burst 1000000 packets' [paced]='100/second burst 1000 packets')
declare -A hashlimit_rate=([over]='1/hour 1' [under]='1000000/second 1000000' [new]='1000000/second 1000000'
	[paced]='100/second 1000')
declare -A police_rate=([over]=1 [under]=100000000)

variants_over='bare_drop sketch ringfence nftables_netdev nftables_raw hashlimit police xdp_filter'
variants_new='bare_drop ringfence nftables_netdev nftables_raw hashlimit'
variants_under='bare_drop bare_pass nothing ringfence nftables_netdev nftables_raw hashlimit police'
variants_passing='bare_drop nothing ringfence nftables_netdev nftables_raw hashlimit' # of both families
# … which process the packets of 100,000 sources within a second:
variants_fewer='bare_drop nothing ringfence nftables_netdev hashlimit'
declare -A absent device # of the run's variants: the reason why one was not measured; its interface
filter_pid=''

# ---- the variants: each is attached to $dev in the namespace with its name ----
# The run sets the number of $sources and the $kind: over or under the limit, or new. A variant that
# cannot run here prints the reason.

attach_bare_pass() {
	attach_floor bare_pass live bare_pass
}

# With as many entries as ringfence has leases for the receiver's CPU.
attach_sketch() {
	local -A program=([65536]=sketch_64k [200000]=sketch_256k [2000000]=sketch_2M)

	attach_floor sketch sketch "${program[$room]}"
}

attach_nothing() {
	true
}

attach_fence() { # NAMESPACE
	within "$1" build/ringfence attach "$dev" sources "$room" leases "$room" &&
		within "$1" build/ringfence limit add any rate "${ringfence_rate[$kind]}" || return
	[ "$kind" != new ] || within "$1" build/ringfence newcomers rate 1k/1s 'then' drop
}

attach_ringfence() {
	attach_fence ringfence
}

nftables_table() { # FAMILY HOOK
	local -A key=([4]='ip saddr' [6]='ip6 saddr and ffff:ffff:ffff:ffff::')

	cat <<-END
		table $1 bench {
			set sources {
				type ipv${family}_addr
				size $room
				flags dynamic, timeout
				timeout 1h
			}
			chain ingress {
				type filter hook $2;
				add @sources { ${key[$family]} limit rate over ${nftables_rate[$kind]} } drop
			}
		}
	END
}

attach_nftables_netdev() {
	within nftables_netdev nft -f - < <(nftables_table netdev "ingress device \"$dev\" priority 0")
}

attach_nftables_raw() {
	within nftables_raw nft -f - < <(nftables_table inet 'prerouting priority raw')
}

# Its worker visits each entry, once a second by default.
attach_hashlimit() {
	local -A command=([4]=iptables [6]=ip6tables) mask=([4]=32 [6]=64)
	local rate burst

	read -r rate burst <<<"${hashlimit_rate[$kind]}"
	within hashlimit "${command[$family]}" -w -t raw -A PREROUTING -m hashlimit --hashlimit-name "$run" \
		--hashlimit-mode srcip --hashlimit-srcmask "${mask[$family]}" --hashlimit-above "$rate" --hashlimit-burst "$burst" \
		--hashlimit-htable-size "$room" --hashlimit-htable-max "$room" \
		--hashlimit-htable-expire 3600000 --hashlimit-htable-gcinterval 60000 -j DROP
}

# This variant does not distinguish sources: one rate applies to all.
attach_police() {
	within police tc qdisc add dev "$dev" clsact &&
		within police tc filter add dev "$dev" ingress protocol ip u32 match u32 0 0 \
			police pkts_rate "${police_rate[$kind]}" pkts_burst 1 conform-exceed drop/ok &&
		return
	echo 'not on this kernel' >&2
	return 1
}

# This variant drops the sources on a list. Its command adds one address per call, therefore bpftool
# fills the list. The namespace that has its pins must remain, because otherwise the dispatcher, if
# it was used, passes everything.
attach_xdp_filter() {
	if [ "$sources" -gt 10000 ]; then
		echo 'its list holds 10000 addresses' >&2
		return 1
	fi
	for ((i = 0; i < sources; i++)); do
		echo "map update pinned /sys/fs/bpf/xdp-filter/filter_ipv4 key" \
			"10 $((i >> 16)) $((i >> 8 & 255)) $((i & 255)) value 1 0 0 0 0 0 0 0"
	done >"$scratch/list"
	rm -f "$scratch/filled"
	start xdp_filter unshare --mount sh -c "mount -t bpf bpf /sys/fs/bpf &&
		xdp-filter load $dev -m native -f ipv4 -p allow >&2 &&
		bpftool batch file $scratch/list >$scratch/filled && exec sleep 1000"
	filter_pid=$started_pid
	until grep -qs '^processed' "$scratch/filled"; do
		kill -0 "$filter_pid" 2>/dev/null || return 1
		sleep 0.02
	done
}

# ---- a run: one number of sources, over or under their limit ----

remove_variant() { # NAMESPACE
	if [ "$1" = ringfence ]; then
		within ringfence build/ringfence detach "${device[ringfence]}" >"$scratch/log" 2>&1
	elif [ "$1" = xdp_filter ] && [ -n "$filter_pid" ]; then
		stop KILL "$filter_pid"
		filter_pid=''
	fi
	ip netns del "rf-test-$$-$1"
}

# Sets up each variant in a separate namespace. $words lists the variants of the run, $absent the
# others.
attach_variants() { # VARIANT…
	local variant

	words=() absent=()
	for variant; do
		add_wire_to "$variant"
		device[$variant]=$dev
		if "attach_$variant" >"$scratch/log" 2>"$scratch/why"; then
			pin_threads
			words+=(wire "$variant" "out$wires" "$threads")
		else
			absent[$variant]=$(tail -n 1 "$scratch/why")
			remove_variant "$variant"
		fi
	done
}

# What each variant received and let pass until now, as JSON: IPv6 counts frames to groups without
# members.
count_ipv6() {
	local i received passed

	for ((i = 0; i < ${#words[@]}; i += 4)); do
		received=$(outside cat /proc/net/dev | awk -v dev="${words[i + 2]}:" '$1 == dev { print $11 }')
		passed=$(within "${words[i + 1]}" cat /proc/net/snmp6 | awk '$1 == "Ip6InMcastPkts" { print $2 }')
		echo "{\"${words[i + 1]}\": {\"received\": $received, \"passed\": $passed}}"
	done | jq -s add
}

# Floods the wires in $words; the results go to $scratch/run.
take_turn() {
	local variant counted=null interval=0 most=$rounds

	if [ "$kind" = paced ] && [ "$sources" -ge 1000000 ]; then
		interval=2 most=$((rounds < 3 ? rounds : 3))
	elif [ "$kind" = paced ]; then
		interval=1
	fi
	# in the background: in the foreground it would delay signals to the script
	start outside build/tests/live cpu "$generator_cpu" second "$receiver_cpu" family "$family" sources "$sources" \
		bytes "$bytes" frames "$frames" rounds "$most" interval "$interval" "${words[@]}" >"$scratch/turns" 2>"$scratch/log"
	wait "$started_pid" || bail "$(<"$scratch/log")"
	unset "started[$started_pid]"
	[ "$family" = 4 ] || counted=$(count_ipv6)
	for variant in "${!absent[@]}"; do
		jq -n --arg variant "$variant" --arg why "${absent[$variant]}" \
			'{$variant, absent: $why}' >>"$scratch/turns"
	done
	jq -s -L tests/bench --arg kind "$kind" --argjson family "$family" \
		--argjson sources "$sources" --argjson bytes "$bytes" --argjson queues "$queues" --argjson counted "$counted" \
		'include "live"; summary' "$scratch/turns" >"$scratch/run" || bail 'cannot sum up'
}

disturbed_rows() { # RUN
	jq '[.variants[].doubt | select(. and startswith("disturbed"))] | length' "$1"
}

# A disturbed run is measured again, unless it takes minutes; the quietest one counts.
take_turns() {
	local turn most=$turns

	[ "$kind" != paced ] || most=1
	rm -f "$scratch/quietest"
	for ((turn = 1; turn <= most; turn++)); do
		take_turn
		if [ ! -e "$scratch/quietest" ] ||
			[ "$(disturbed_rows "$scratch/run")" -lt "$(disturbed_rows "$scratch/quietest")" ]; then
			cp "$scratch/run" "$scratch/quietest"
		fi
		[ "$(disturbed_rows "$scratch/quietest")" -gt 0 ] || break
	done
	cp "$scratch/quietest" "$scratch/run"
}

# measure KIND FAMILY SOURCES BYTES VARIANT…
measure() {
	local kind=$1 family=$2 sources=$3 bytes=$4 variant real_time=''

	# shellcheck disable=SC2053 # a pattern
	[[ $kind/$family/$sources/$bytes == $only ]] || return 0
	shift 4
	[ "$kind" != paced ] || real_time=1
	room=$((sources * 2 < 65536 || sources == everyone ? 65536 : sources * 2))
	attach_variants "$@"
	[ -z "${absent[bare_drop]-}" ] || bail "cannot attach a floor: ${absent[bare_drop]}"
	take_turns
	cat "$scratch/run" >>"$scratch/runs"
	for variant; do
		[ -n "${absent[$variant]-}" ] || remove_variant "$variant"
	done
	[ -n "$json" ] || jq -r -L tests/bench 'include "live"; table' "$scratch/run"
}

# ---- the report ----

describe_run() {
	jq -n --arg cpu "$(sed -n 's/^model name[^:]*: //p;T;q' /proc/cpuinfo)" \
		--argjson virtual "$(grep -qw '^flags.* hypervisor' /proc/cpuinfo && echo true || echo false)" \
		--arg kernel "$(uname -sr)" --argjson cpus "$(nproc)" \
		--argjson rounds "$rounds" --argjson frames "$frames" \
		--arg nftables "$(nft --version 2>/dev/null || echo no nftables)" \
		--arg iptables "$(iptables --version 2>/dev/null || echo no iptables)" \
		'{$kernel, $cpu, $cpus, $virtual, versions: {$nftables, $iptables}, $rounds, $frames,
		not_measured: ["a network card: a veth pair takes several times as long for a bare drop",
			"two receiving CPUs that are never short of frames: that takes four"]}'
}

usage() {
	echo 'usage: tests/bench/live.sh [--json] [--keep FILE.json] [--plot FILE.svg] [--only PATTERN]' >&2
	exit 2
}

json='' keep='' plot='' only='*'
while [ $# -gt 0 ]; do
	case $1 in
	--json) json=1 ;;
	--keep)
		keep=${2-}
		[ -n "$keep" ] || usage
		shift
		;;
	--plot)
		plot=${2-}
		[ -n "$plot" ] || usage
		shift
		;;
	--only)
		only=${2-}
		[ -n "$only" ] || usage
		shift
		;;
	*) usage ;;
	esac
	shift
done

draw() { # FILE
	mkdir -p "$(dirname "$1")"
	jq -s -r -L tests/bench 'include "live"; plot' "$scratch/runs" >"$scratch/plot"
	jq -s -r -L tests/bench 'include "live"; plot_tics' "$scratch/runs" >"$scratch/tics"
	gnuplot -e "bars='$scratch/plot'; blocks=$(grep -c '^"' "$scratch/plot"); picture='$1';
		tics='$(<"$scratch/tics")'; machine='$(jq -r '"\(.cpu), \(.kernel | capture("(?<x>[^.]*.[0-9]*)").x)"' "$scratch/head")'" \
		tests/bench/live.gnuplot || bail "cannot draw $1"
}

[ "$(id -u)" = 0 ] || bail 'it makes network namespaces and loads programs; run it as root'
[ "$(nproc)" -ge 2 ] || bail 'it needs two CPUs: one sends, one receives'
[ -z "$plot" ] || command -v gnuplot >/dev/null || bail 'gnuplot is not installed'
numbers='1 8 1000 100000 1000000' lengths='512 1500' numbers_under=$numbers numbers_ipv6='1 100000'
numbers_paced=1000 numbers_crowd='100000 1000000' # of both families
if [ -n "${QUICK-}" ]; then
	rounds=3 frames=300000 turns=1 numbers='1 100000' numbers_under=1 numbers_ipv6='' lengths=1500
	numbers_paced='' numbers_crowd=''
fi
describe_run >"$scratch/head"
[ -n "$json" ] || jq -r -L tests/bench 'include "live"; head' "$scratch/head"
add_namespace outside
# shellcheck disable=SC2086 # words
for number in $numbers; do
	measure over 4 "$number" 64 $variants_over
done
for number in $numbers_ipv6; do
	measure over 6 "$number" 64 bare_drop sketch ringfence
done
# shellcheck disable=SC2086 # words
for number in $numbers_under; do
	measure under 4 "$number" 64 $variants_under
done
# shellcheck disable=SC2086 # words
for number in $numbers_ipv6; do
	measure under 6 "$number" 64 $variants_passing
done
# shellcheck disable=SC2086 # words
for number in $numbers_paced; do
	measure paced 4 "$number" 64 $variants_passing
done
# shellcheck disable=SC2086 # words
for number in $numbers_crowd; do
	measure paced 4 "$number" 64 $variants_fewer
	measure paced 6 "$number" 64 $variants_fewer
done
for length in $lengths; do
	measure over 4 1000 "$length" bare_drop sketch ringfence nftables_netdev
	measure under 4 1000 "$length" bare_drop bare_pass nothing ringfence nftables_netdev
done
# shellcheck disable=SC2086 # words
measure new 4 "$everyone" 64 $variants_new
measure new 6 "$everyone" 64 bare_drop ringfence
# Each CPU sends and receives in turns, so both do not always receive in parallel.
if [ -z "${QUICK-}" ] && [ $((generator_cpu % 2)) != $((receiver_cpu % 2)) ]; then
	queues=2
	for number in 8 100000; do
		measure over 4 "$number" 64 bare_drop sketch ringfence nftables_netdev
	done
	measure under 4 100000 64 bare_drop nothing ringfence nftables_netdev
fi
[ -z "$plot" ] || draw "$plot"
jq -s '.[0] + {runs: .[1:]}' "$scratch/head" "$scratch/runs" >"$scratch/report"
[ -z "$json" ] || cat "$scratch/report"
[ -z "$keep" ] || { mkdir -p "$(dirname "$keep")" && cp "$scratch/report" "$keep"; } || bail "cannot write $keep"
