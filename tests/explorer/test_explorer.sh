#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Builds the explorer and runs it: over the limiter as it is, where every row must hold, and over
# each mutant of it, where one must not. A mutant that survives is a failure, and so is one that
# cannot be made since the limiter reads otherwise now. Needs no privilege.
#
# CC, LIMITER and LEASE (a limiter.h and a lease.h in place of the tree's) are taken from the
# environment.
set -u

cd "$(dirname "$0")/../.." || exit 1
. tests/explorer/mutants.sh

LIMITER=${LIMITER:-include/ringfence/limiter.h}
LEASE=${LEASE:-bpf/lease.h}
BUILD=build/explorer
ALGORITHMS="sliding weighted leases log token fixed leaky" # the longest first
MUTANT_SECONDS=100					   # far beyond what any takes
CPUS=$(getconf _NPROCESSORS_ONLN)
tried=0

# Runs a command once a CPU is free.
job() {
	while [ "$(jobs -rp | wc -l)" -ge "$CPUS" ]; do
		wait -n
	done
	"$@" &
}

# A copy of what is explored, in directory $1: limiter.h and lease.h, changed by $2.
copy_core() {
	mkdir -p "$1/ringfence" "$1/bpf"
	sed -E "$2" "$LIMITER" >"$1/ringfence/limiter.h"
	sed -E "$2" "$LEASE" >"$1/bpf/lease.h"
}

# Makes $2, optimized by $3, from the copy in directory $1.
build() {
	# The ring's size is a variable here, so comparisons with it are of other signs.
	"${CC:-cc}" -std=gnu11 -Wall -Wextra -Wno-sign-compare "$3" -I"$1" -Iinclude \
		-Iinclude/ringfence tests/explorer/explorer.c -o "$2" 2>"$2.log" && return
	sed 's/^/# /' "$2.log"
	return 1
}

# What a mutant must be caught at: a loose one admits too much, not merely counts otherwise.
declare -A options=([loose]="-x -b" [uncounted]=-x [strict]=-x [endless]=-x)
declare -A reasons=(
	[loose]="^more than "
	[uncounted]="^admitted, and not counted"
	[strict]="^counted, and not admitted|^refused, and there was room"
	[endless]="^no schedule loses|^a packet takes more operations than its bound"
)

# Prints one result, without its number.
run_mutant() {
	local directory=$1 algorithm=$2 expected=$3 name="mutant, $2: $5" output status caught

	if cmp -s "$LIMITER" "$directory/ringfence/limiter.h" &&
		cmp -s "$LEASE" "$directory/bpf/lease.h"; then
		echo "not ok - $name: cannot be made, $4 reads otherwise now"
		return
	fi
	if ! build "$directory" "$directory/explorer" -O1; then
		echo "not ok - $name: does not compile"
		return
	fi
	# shellcheck disable=SC2086 # options are words
	output=$(timeout "$MUTANT_SECONDS" "$directory/explorer" -a "$algorithm" \
		${options[$expected]} 2>&1)
	status=$?
	caught=$(sed -nE 's/.*operations at most; //p' <<<"$output")
	if [ "$status" = 1 ] && grep -qE "${reasons[$expected]}" <<<"$caught"; then
		echo "ok - $name"
		echo "# caught: $caught ($(sed -n 's/^not ok [0-9]* - [^:]*: //p' <<<"$output"))"
	else
		echo "not ok - $name: survives (exit status $status${caught:+, $caught})"
	fi
}

try_mutant() {
	local directory

	tried=$((tried + 1))
	directory=$BUILD/mutant-$tried
	copy_core "$directory" "/^RF_INLINE .*\<$4\(/,/^}/ { $5 }"
	job run_mutant "$directory" "$1" "$2" "$4" "$3" >"$BUILD/result-$tried"
}

rm -rf "$BUILD"
copy_core "$BUILD/as-is" ""
if ! build "$BUILD/as-is" "$BUILD/explorer" -O2; then
	echo "1..1"
	echo "not ok 1 - the explorer compiles"
	exit 1
fi
for algorithm in $ALGORITHMS; do
	job "$BUILD/explorer" -a "$algorithm" >"$BUILD/output-$algorithm" 2>&1
done
each_mutant
wait

for ((i = 1; i <= tried; i++)); do
	cat "$BUILD/result-$i"
done >"$BUILD/results"
killed=$(grep -c '^ok' "$BUILD/results")
for algorithm in $ALGORITHMS; do
	cat "$BUILD/output-$algorithm"
done >"$BUILD/output"
rows=$(awk -F '\\.\\.' '/^1\.\./ { sum += $2 } END { print sum + 0 }' "$BUILD/output")
held=$(grep -c '^ok' "$BUILD/output")

# The results of both, numbered on.
grep -hv '^1\.\.' "$BUILD/results" "$BUILD/output" | awk '
	/^(not )?ok / { sub(/ok( [0-9]+)?/, "ok " ++count) }
	{ print }'
awk '/^# .* schedules, .*;/ { schedules += $2; states += $4 }
	END { printf "# all rows: %.3g schedules, %d states\n", schedules, states }' "$BUILD/output"
echo "# $killed of $tried mutants killed"
echo "1..$((tried + rows))"
[ "$killed" = "$tried" ] && [ "$held" = "$rows" ] && [ "$rows" -gt 0 ]
