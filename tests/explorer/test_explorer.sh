#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Builds the explorer and runs it: with the unchanged limiter, where every row must pass, and with
# each mutant of it, where one row must fail. A mutant that is not detected is a failure, and so is
# a mutant that no longer applies because the limiter has changed. Needs no privilege.
#
# Most mutants of a program are compiled into it, as variants of functions, see mutants.py. Only a
# mutant that changes more than functions is compiled separately.
#
# CC is taken from the environment.
set -u

cd "$(dirname "$0")/../.." || exit 1
. tests/cached.sh
cached include/ringfence/*.h tests/explorer/*.[ch] tests/explorer/*.sh tests/explorer/*.py tests/*.h
. tests/explorer/mutants.sh

# The explored sources, which mutants can change; slots_actors.c has the order in which the program
# uses slots and filter.
CORE=(include/ringfence/{algorithm,share,ring,log,bucket,limiter,window_read,window_reopen,lease}.h
	include/ringfence/{ring_peek,share_ban,share_write,loan}.h
	include/ringfence/{slot,known_filter,ban_table,answers}.h tests/{peek.h,explorer/{slots,shares,loans}_actors.c})
BUILD=build/explorer
# The longest first; slots, shares, loans, several, bans and answers are separate programs.
ALGORITHMS="sliding weighted leases loans slots shares several bans answers log token fixed leaky"
MUTANT_SECONDS=100 # of a CPU: far beyond what any takes, however busy the machine is
CPUS=$(getconf _NPROCESSORS_ONLN)
tried=0

# Runs a command once a CPU is free.
job() {
	while [ "$(jobs -rp | wc -l)" -ge "$CPUS" ]; do
		wait -n
	done
	"$@" &
}

# A copy of the sources, each in the directory that its includes expect.
copy_core() { # DIRECTORY
	local file

	for file in "${CORE[@]}"; do
		install -Dm 644 "$file" "$1/$file"
	done
}

# A copy, as links, of that copy, in which a sed command changes the functions of a name.
change_core() { # DIRECTORY FUNCTION COMMAND
	local start="^(RF_INLINE|static|#define) .*\\<$2\\("

	cp -al "$BUILD/as-is" "$1"
	grep -rlZE "$start" "$1" | xargs -0r sed -i -E "/$start/,/^}/ { $3 }"
}

# The program that explores algorithm $1.
program_of() {
	case $1 in
	slots | shares | loans | several | bans | answers) echo "$1" ;;
	*) echo explorer ;;
	esac
}

# The parts of program $1 that no mutant changes, and the part that calls code that mutants change.
fixed_parts_of() {
	case $1 in
	explorer) echo explorer machine bounds leases hash trace seen \
		rows_{sliding,fixed,weighted,log,bucket,leases} ;;
	slots) echo slots slots_rows slots_checks rows replay seen ;;
	shares) echo shares shares_rows rows replay seen ;;
	loans) echo loans loans_rows rows replay seen ;;
	*) echo "$1" rows replay seen ;;
	esac
}

changed_part_of() {
	case $1 in
	explorer) echo explored ;;
	*) echo "$1_actors" ;;
	esac
}

# compile SOURCE OBJECT OPTIONS DIRECTORY PROGRAM: with the explored sources in that directory.
compile() {
	# The ring's size is a variable here, so comparisons with it are of other signs.
	# shellcheck disable=SC2086 # options are words
	"${CC:-cc}" -std=gnu11 -Wall -Wextra -Wno-sign-compare $3 -DSCENE="\"$5.h\"" -I"$4" \
		-I"$4/include" -Iinclude -Iinclude/ringfence -Itests/explorer -c "$1" -o "$2" \
		2>"$2.log" && return
	sed 's/^/# /' "$2.log"
	return 1
}

# The fixed parts of a program, once for all mutants.
compile_fixed_parts() { # PROGRAM
	local part

	mkdir -p "$BUILD/objects/$1"
	for part in $(fixed_parts_of "$1"); do
		compile "tests/explorer/$part.c" "$BUILD/objects/$1/$part.o" -O2 "$BUILD/as-is" "$1" ||
			return
	done
}

# Makes program $4 as $2: its fixed parts, and the other one from the copy in directory $1, compiled
# with the options $3.
build() {
	local part source

	part=$(changed_part_of "$4")
	source=tests/explorer/$part.c
	[ -e "$1/$source" ] && source=$1/$source
	compile "$source" "$2.o" "$3" "$1" "$4" &&
		"${CC:-cc}" "$BUILD/objects/$4"/*.o "$2.o" -o "$2"
}

# The failure by which a mutant must be detected: a loose one admits too much; a different count is
# not enough.
declare -A options=([loose]="-x -b" [uncounted]=-x [full]=-x [strict]=-x [endless]=-x)
declare -A reasons=(
	[loose]="^more than |^charged to one limit and refused by the other, and nobody"
	[uncounted]="^admitted, and not counted"
	[full]="^admitted, and there was no room"
	[lent]="^lent: " # more than there is room for
	[lends]="^more than |^lent: "
	[strict]="^counted, and not admitted|^refused, and there was room"
	[absent]="^absent, and it had a window"
	[ban]="^banned, and|^not banned, and|^no room, and"
	[crowded]="^crowded: " # more windows than slots
	[leaked]="^(leaked|stuck): " # windows without slots, or the other way round
	[miscounted]="^miscounted: " # residents, or the counts of the filter
	[evicted]="^evicted: "
	[stolen]="^stolen: " # a slot from the CPU that claimed it
	[touched]="^touched: " # another's slot
	[untouched]="^untouched: "
	[settled]="^settled: "
	[rested]="^rested: "
	[endless]="^no schedule loses|^a packet takes more operations than its bound"
)

# Prints one result, without its number: of mutant $1 of algorithm $2, which program $4 has.
run_mutant() {
	local number=$1 algorithm=$2 expected=$3 name="mutant, $2: $5" output status caught
	local arguments="-a $2 ${options[$3]-}"

	[ "$(program_of "$algorithm")" = explorer ] || arguments=-x
	# shellcheck disable=SC2086 # options are words
	output=$(ulimit -t "$MUTANT_SECONDS" && RF_MUTANT=$number "$4" $arguments 2>&1)
	status=$?
	caught=$(sed -nE 's/.* (operations at most|states); //p' <<<"$output")
	if [ "$status" = 1 ] && grep -qE "${reasons[$expected]}" <<<"$caught"; then
		echo "ok - $name"
		echo "# caught: $caught ($(sed -n 's/^not ok [0-9]* - [^:]*: //p' <<<"$output"))"
	else
		echo "not ok - $name: survives (exit status $status${caught:+, $caught})"
	fi
}

# The same of a mutant that is compiled separately.
run_separate_mutant() {
	local directory=$BUILD/mutant-$1 name="mutant, $2: $4"

	change_core "$directory" "$5" "$6"
	if diff -rq "$BUILD/as-is" "$directory" >"$directory.log"; then
		echo "not ok - $name: cannot be made, $5 reads otherwise now"
	elif ! build "$directory" "$directory/explorer" -Og "$(program_of "$2")"; then
		echo "not ok - $name: does not compile"
	else
		run_mutant "$1" "$2" "$3" "$directory/explorer" "$4"
	fi
}

algorithm_of=() expected_of=() name_of=() function_of=() command_of=()

try_mutant() {
	tried=$((tried + 1))
	algorithm_of[tried]=$1 expected_of[tried]=$2 name_of[tried]=$3 function_of[tried]=$4 command_of[tried]=$5
	printf '%s\t%s\t%s\n' "$tried" "$4" "${5//$'\n'/\\n}" >>"$BUILD/mutants-of-$(program_of "$1")"
}

# Compiles the mutants of a program, and lists its mutants.
build_mutants() { # PROGRAM
	local directory=$BUILD/mutants-$1

	tests/explorer/mutants.py "$BUILD/as-is" "$directory" <"$BUILD/mutants-of-$1" >"$directory.list" &&
		build "$directory" "$directory/explorer" "-Og -w -include tests/explorer/mutants.h" "$1" &&
		mv "$directory.list" "$directory/list"
}

run_mutants() {
	local i program result

	for ((i = 1; i <= tried; i++)); do
		program=$(program_of "${algorithm_of[i]}") result=$BUILD/result-$i
		if grep -qsx "$i" "$BUILD/mutants-$program/list"; then
			job run_mutant "$i" "${algorithm_of[i]}" "${expected_of[i]}" "$BUILD/mutants-$program/explorer" \
				"${name_of[i]}" >"$result"
		else
			job run_separate_mutant "$i" "${algorithm_of[i]}" "${expected_of[i]}" "${name_of[i]}" \
				"${function_of[i]}" "${command_of[i]}" >"$result"
		fi
	done
}

rm -rf "$BUILD"
copy_core "$BUILD/as-is"
for program in explorer slots shares loans several bans answers; do
	if ! compile_fixed_parts "$program" ||
		! build "$BUILD/as-is" "$BUILD/$program" -O2 "$program"; then
		echo "1..1"
		echo "not ok 1 - the $program compiles"
		exit 1
	fi
done
for algorithm in $ALGORITHMS; do
	program=$(program_of "$algorithm")
	if [ "$program" = explorer ]; then
		job "$BUILD/explorer" -a "$algorithm" >"$BUILD/output-$algorithm" 2>&1
	else
		job "$BUILD/$program" >"$BUILD/output-$algorithm" 2>&1
	fi
done
each_mutant
for program in explorer slots shares loans several bans answers; do
	job build_mutants "$program"
done
wait
run_mutants
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
