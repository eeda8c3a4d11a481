#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Rules of this tree that no other linter checks: calls and includes only point to lower floors,
# functions fit a screen. The objects of user/ must be in build/.
set -u

FUNCTION_LINES_MAX=60
PRIVATE_LINES_MAX=130
status=0

complain() {
	echo "$1" >&2
	status=1
}

# The floor of a file of bpf/ or include/. A file can include its own header and files of lower
# floors. tests/lint/floors lists the floors of user/.
floor() {
	case $1 in
	include/ringfence/counters.h | include/ringfence/packet_class.h) echo 0 ;;
	include/ringfence/packet_sample.h | include/ringfence/source.h) echo 0 ;;
	include/ringfence/atomic.h | include/ringfence/window_record.h) echo 0 ;;
	include/ringfence/abi.h | include/ringfence/fleet.h | include/ringfence/siphash.h) echo 1 ;;
	include/ringfence/bits.h | include/ringfence/fleet_call.h | include/ringfence/grouping.h) echo 1 ;;
	include/ringfence/answers.h | include/ringfence/dns.h) echo 1 ;;
	include/ringfence/algorithm.h | include/ringfence/packet.h) echo 2 ;;
	include/ringfence/loan.h) echo 3 ;;
	include/ringfence/share.h) echo 4 ;;
	include/ringfence/ring.h | include/ringfence/log.h | include/ringfence/bucket.h) echo 5 ;;
	include/ringfence/ring_peek.h) echo 6 ;;
	include/ringfence/limiter.h) echo 7 ;;
	include/ringfence/ban_table.h | include/ringfence/known_filter.h) echo 2 ;;
	include/ringfence/lease_place.h | include/ringfence/slot.h) echo 2 ;;
	include/ringfence/window_read.h | include/ringfence/window_reopen.h) echo 8 ;;
	include/ringfence/lease.h | include/ringfence/share_ban.h | include/ringfence/share_write.h) echo 9 ;;
	include/ringfence/lease_read.h) echo 10 ;;
	bpf/maps.h) echo 11 ;;
	bpf/count.h | bpf/parsed.h | bpf/shape.h) echo 12 ;;
	bpf/windows.h | bpf/show_windows.h) echo 13 ;;
	bpf/ban_sets.h | bpf/fleet.h | bpf/show_leases.h) echo 14 ;;
	bpf/kin.h | bpf/lease_table.h | bpf/lists.h | bpf/take.h) echo 15 ;;
	bpf/answer.h | bpf/bans.h | bpf/kept.h | bpf/rate0.h | bpf/sample.h) echo 16 ;;
	bpf/charge.h | bpf/examine.h | bpf/new_window.h) echo 17 ;;
	bpf/limits_known.h | bpf/newcomers.h) echo 18 ;;
	bpf/limits.h) echo 19 ;;
	bpf/ringfence_fleet.bpf.c) echo 21 ;; # of the fleet program, including its main file
	bpf/*.bpf.c) echo 20 ;;
	*) echo none ;;
	esac
}

# The path of `name`, included by $1, in the tree; empty for system headers and generated ones.
locate() {
	local directory

	for directory in "$(dirname "$1")" include bpf; do
		[ -f "$directory/$2" ] && echo "$directory/$2" && return
	done
}

check_includes() {
	local file=$1 own mine name target theirs

	mine=$(floor "$file")
	[ "$mine" = none ] && complain "$file: it has no floor; give it one in tests/lint.sh" && return
	own=$(basename "${file%.*}")
	while read -r name; do
		target=$(locate "$file" "$name")
		[ -n "$target" ] || continue
		theirs=$(floor "$target")
		[ "$(basename "${target%.*}")" = "$own" ] || [ "$theirs" -lt "$mine" ] ||
			complain "$file: includes $target, which is not on a lower floor"
	done < <(sed -n 's/^#include "\(.*\)".*/\1/p' "$file")
}

# Checks the includes of all files, and the symbols that the objects of user/ define and use.
check_floors() {
	local file objects=()

	for file in "$@"; do
		case $file in user/schema/print.c | user/cli/print_keys.c) ;; user/*.c) objects+=("build/${file%.c}.o") ;; esac
	done
	awk -f tests/lint/floors.awk tests/lint/floors \
		from=includes <(grep -H '^#include ' "$@" | grep -E '^(user|tests)/') \
		from=objects <(nm -A -P -g "${objects[@]}") || status=1
}

# Only `out`, a tool of the build, and the logging of the daemon and the agent (`say`) print; `log`
# passes on messages of libbpf and libxdp, on request.
check_printing() {
	case $1 in
	user/cli/out.c | user/schema/print.c | user/cli/print_keys.c | user/base/say.c | user/daemon/main.c | user/kernel/log.c) ;;
	user/*) grep -HnE '\b(printf|fprintf|puts|putchar|perror)\(' "$1" &&
		complain "$1: only out prints" ;;
	esac
}

# An empty array can have a null pointer, which the C library does not allow.
check_sorting() {
	case $1 in
	user/base/sort.h) ;;
	user/*) grep -HnE '\b(qsort|bsearch)\(' "$1" &&
		complain "$1: rf_sort() and rf_search() of base/sort.h take arrays that are empty" ;;
	esac
}

check_private() {
	case $1 in
	user/*/private.h) [ "$(wc -l <"$1")" -le "$PRIVATE_LINES_MAX" ] ||
		complain "$1: a private header of over $PRIVATE_LINES_MAX lines" ;;
	esac
}

check_functions() {
	awk -v max="$FUNCTION_LINES_MAX" '
		/^{/ { start = FNR }
		/^}/ && start {
			if (FNR - start - 1 > max)
				printf "%s:%d: function of %d lines, over %d\n", FILENAME, start, FNR - start - 1, max
			start = 0
		}' "$1" | grep . >&2 && status=1
}

check_floors "$@"
for file in "$@"; do
	case $file in bpf/* | include/*) check_includes "$file" ;; esac
	check_printing "$file"
	check_sorting "$file"
	check_private "$file"
	check_functions "$file"
done
exit $status
