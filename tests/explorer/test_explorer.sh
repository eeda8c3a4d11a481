#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Builds the explorer and runs it: over the limiter as it is, where every row must hold, and over
# each mutant of it, where one must not. A mutant that survives is a failure, and so is one that
# cannot be made since the limiter reads otherwise now. Needs no privilege.
#
# CC and LIMITER (a limiter.h in place of the tree's) are taken from the environment.
set -u

cd "$(dirname "$0")/../.." || exit 1
. tests/explorer/mutants.sh

LIMITER=${LIMITER:-include/ringfence/limiter.h}
BUILD=build/explorer
MUTANT_SECONDS=100 # far beyond what any takes
count=0 killed=0

result() {
	count=$((count + 1))
	echo "$1 $count - $2"
}

# Makes $2 from a limiter.h that is in directory $1/ringfence.
build() {
	# The ring's size is a variable here, so comparisons with it are of other signs.
	"${CC:-cc}" -std=gnu11 -Wall -Wextra -Wno-sign-compare -O2 -g -I"$1" -Iinclude \
		-Iinclude/ringfence tests/explorer/explorer.c -o "$2" 2>"$2.log" && return
	sed 's/^/# /' "$2.log"
	return 1
}

# What a mutant must be caught at: a loose one admits too much, not merely counts otherwise.
declare -A options=([loose]="-x -b" [strict]=-x [endless]=-x)
declare -A reasons=(
	[loose]="more than L admitted|admitted, and not counted"
	[strict]="counted, and not admitted"
	[endless]="no schedule loses|more operations than its bound"
)

try_mutant() {
	local expected=$1 name="mutant: $2" command=$3 directory output status caught

	directory=$BUILD/mutant-$((count + 1))
	mkdir -p "$directory/ringfence"
	sed -zE "$command" "$LIMITER" >"$directory/ringfence/limiter.h"
	if cmp -s "$LIMITER" "$directory/ringfence/limiter.h"; then
		result "not ok" "$name: cannot be made, limiter.h reads otherwise now"
		return
	fi
	if ! build "$directory" "$directory/explorer"; then
		result "not ok" "$name: does not compile"
		return
	fi
	# shellcheck disable=SC2086 # options are words
	output=$(timeout "$MUTANT_SECONDS" "$directory/explorer" ${options[$expected]} 2>&1)
	status=$?
	caught=$(sed -nE 's/.*operations at most; //p' <<<"$output")
	if [ "$status" = 1 ] && grep -qE "${reasons[$expected]}" <<<"$caught"; then
		killed=$((killed + 1))
		result ok "$name"
		echo "# caught: $caught ($(sed -n 's/^not ok [0-9]* - [^:]*: //p' <<<"$output"))"
	else
		result "not ok" "$name: survives (exit status $status${caught:+, $caught})"
	fi
}

mkdir -p "$BUILD/as-is/ringfence"
cp "$LIMITER" "$BUILD/as-is/ringfence/limiter.h"
if ! build "$BUILD/as-is" "$BUILD/explorer"; then
	echo "1..1"
	result "not ok" "the explorer compiles"
	exit 1
fi
"$BUILD/explorer" >"$BUILD/output" 2>&1 &
each_mutant
tried=$count
wait $!
status=$?

# Its results follow, numbered on.
grep -v '^1\.\.' "$BUILD/output" | awk -v count="$count" '
	/^(not )?ok [0-9]+ / { sub(/ok [0-9]+/, "ok " ++count) }
	{ print }'
count=$((count + $(grep -cE '^(not )?ok ' "$BUILD/output")))
rows=$(sed -n 's/^1\.\.//p' "$BUILD/output")
awk '/^# .* schedules, / { schedules += $2; states += $4 }
	END { printf "# all rows: %.3g schedules, %d states\n", schedules, states }' "$BUILD/output"
echo "# $killed of $tried mutants killed"
echo "1..$((tried + rows))"
[ "$status" = 0 ] && [ "$killed" = "$tried" ] && [ "$count" = "$((tried + rows))" ]
