#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# What no other linter knows of this tree: includes point down only, functions fit a screen.
set -u

FUNCTION_LINES_MAX=60
status=0

complain() {
	echo "$1" >&2
	status=1
}

# The floor of a file; a file may include what is on a lower one, and its own header.
floor() {
	case $1 in
	include/ringfence/counters.h | include/ringfence/atomic.h) echo 0 ;;
	include/ringfence/abi.h) echo 1 ;;
	include/ringfence/algorithm.h | include/ringfence/packet.h) echo 2 ;;
	include/ringfence/ring.h | include/ringfence/log.h | include/ringfence/bucket.h) echo 3 ;;
	include/ringfence/limiter.h) echo 4 ;;
	include/ringfence/ban_table.h | include/ringfence/known_filter.h) echo 2 ;;
	include/ringfence/lease_place.h | include/ringfence/slot.h) echo 2 ;;
	include/ringfence/window_read.h | include/ringfence/window_reopen.h) echo 5 ;;
	include/ringfence/lease.h) echo 6 ;;
	bpf/maps.h) echo 10 ;;
	bpf/count.h) echo 11 ;;
	bpf/windows.h) echo 12 ;;
	bpf/kin.h | bpf/lease_table.h | bpf/take.h) echo 13 ;;
	bpf/bans.h | bpf/newcomers.h) echo 14 ;;
	bpf/limits.h) echo 15 ;;
	bpf/limits_known.h) echo 16 ;;
	bpf/*.bpf.c) echo 18 ;;
	user/printable.[ch]) echo 19 ;;
	user/error.[ch] | user/info.[ch] | user/log.[ch] | user/hardware.[ch] | user/mode.h) echo 20 ;;
	user/needs.[ch] | user/sizes.[ch] | user/ticks.h) echo 20 ;;
	user/prefix.[ch] | user/names.[ch]) echo 21 ;;
	user/privileges.[ch] | user/program.h | user/pins.h) echo 22 ;;
	user/interfaces.h) echo 23 ;;
	user/program.c | user/pins*.c) echo 23 ;;
	user/interfaces.c | user/chains.c) echo 24 ;;
	user/grammar.h | user/rules.[ch]) echo 22 ;;
	user/grammar_table.h) echo 21 ;;
	user/grammar_option.h | user/grammar_internal.h) echo 23 ;;
	user/grammar*.c) echo 24 ;;
	user/ruleset.h) echo 25 ;;
	user/ruleset*.c) echo 26 ;;
	user/rulefile.[ch] | user/file.[ch] | user/out.[ch]) echo 27 ;;
	user/diagnose.h) echo 28 ;;
	user/diagnose*.c | user/facts.h) echo 29 ;;
	user/fence.h) echo 30 ;;
	user/facts*.c) echo 30 ;;
	user/fence_private.h | user/tries.h | user/pending.h | user/newcomers.h | user/attach.h) echo 31 ;;
	user/load.h) echo 31 ;;
	user/attach_private.h) echo 32 ;;
	user/fence*.c) echo 33 ;;
	user/view.[ch] | user/command.h) echo 40 ;;
	user/transaction.[ch]) echo 41 ;;
	user/cmd_*.c) echo 42 ;;
	user/commands.[ch]) echo 50 ;;
	user/completion.c) echo 51 ;;
	user/main.c) echo 51 ;;
	tests/*) echo 60 ;;
	*) echo none ;;
	esac
}

# Where `name`, included by $1, is in the tree; nothing for a system header or a built one.
locate() {
	local directory

	for directory in "$(dirname "$1")" include user bpf tests; do
		[ -f "$directory/$2" ] && echo "$directory/$2" && return
	done
	case $2 in bpf/*) echo "$2" ;; esac
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
			[ "$mine" = 60 ] ||
			complain "$file: includes $target, which is not on a lower floor"
	done < <(sed -n 's/^#include "\(.*\)".*/\1/p' "$file")
}

# libbpf is used by `fence` alone, and only `out` and its caller print.
check_walls() {
	case $1 in
	user/fence* | user/info.c | user/log.c | user/program.c | user/interfaces.c | user/chains.c | \
		user/pins*.c | tests/*) ;;
	user/*) grep -Hn '#include <bpf/' "$1" && complain "$1: only fence uses libbpf" ;;
	esac
	case $1 in
	user/out.c | user/log.c | tests/*) ;; # log.c passes on libbpf's own log, when asked
	user/*) grep -HnE '\b(printf|fprintf|puts|putchar|perror)\(' "$1" &&
		complain "$1: only out prints" ;;
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

for file in "$@"; do
	check_includes "$file"
	check_walls "$file"
	check_functions "$file"
done
exit $status
