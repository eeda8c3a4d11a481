#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Runs TAP test programs in parallel, in the order given, and finishes with the line `N passed, N
# failed, N skipped`. The output of a program is printed as a whole when the program exits. A
# program that crashes, or that runs fewer tests than it planned, counts as failed, whatever it
# printed before. After a failure, the last lines show the failed tests and the command that runs
# each failed program again.
#
# A program that cannot share the machine has a line in its source that starts with
# "Runs exclusively: " and the reason. Such programs run last, one after the other. A lock also
# separates them from the programs of other runs on this machine.
#
# JOBS is the number of programs that run in parallel, by default twice the number of CPUs plus two,
# because many programs wait. With the number of CPUs plus two, a quarter of the CPU time was idle.
set -u

jobs=${JOBS:-$((2 * $(nproc) + 2))}
scratch=$(mktemp -d)
lock=$scratch/lock
[ -w /run ] && lock=/run/ringfence-tests.lock
passed=0 failed=0 skipped=0
declare -A failures=() # by program, what failed
declare -A program_of=() output_of=() begin_of=() # by process id
started=0

# Stops the running programs, each in its own process group, and waits for their cleanup.
end() {
	local pid

	trap '' INT TERM
	for pid in "${!program_of[@]}"; do
		kill -TERM -- "-$pid" 2>/dev/null
	done
	wait
	rm -rf "$scratch"
}

trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
set -m # a process group for each program
TIMEFORMAT='%1U + %1S' # seconds of a program and its children, and of the kernel for them

# The source of a program; a script is its own source.
source_of() { # PROGRAM
	case $1 in
	build/*) echo "${1#build/}.c" ;;
	*) echo "$1" ;;
	esac
}

runs_exclusively() { # PROGRAM
	grep -qs '^\(#\| \*\|//\) Runs exclusively: ' "$(source_of "$1")"
}

# The command that runs one program again.
again() { # PROGRAM
	case $1 in
	build/*) echo "make $1 && $1" ;;
	tests/e2e/*) echo "make tools && $1" ;;
	*) echo "make all && $1" ;;
	esac
}

start() { # PROGRAM FLOCK-OPTION
	local output=$scratch/$((++started)) pid

	{ time CMOCKA_MESSAGE_OUTPUT=TAP flock -o "$2" "$lock" "$1" >"$output" 2>&1 </dev/null; } \
		2>"$output.cpu" &
	pid=$!
	program_of[$pid]=$1 output_of[$pid]=$output begin_of[$pid]=$SECONDS
}

# The failed tests of an output, each with the first lines of its diagnostics.
failed_tests() { # OUTPUT
	awk '/^(not )?ok/ { left = /^not/ ? 12 : 0 } /^Bail out!/ { left = 1 } left-- > 0 { print "#   " $0 }' "$1"
}

# Prints the output of a program and adds its results to the totals.
tally() { # PROGRAM STATUS OUTPUT
	local program=$1 status=$2 output=$3 ok not_ok skips planned

	# cmocka also prints "not ok" for a skipped test.
	sed -i 's/^not ok \([0-9]* # SKIP\)/ok \1/' "$output"
	cat "$output"
	not_ok=$(grep -c '^not ok' "$output")
	skips=$(grep -ciE '^ok .*# skip' "$output")
	ok=$(($(grep -c '^ok' "$output") - skips))
	planned=$(sed -n 's/^1\.\.\([0-9]*\).*/\1/p' "$output" | tail -n 1)
	if [ "$((ok + not_ok + skips))" != "${planned:-none}" ]; then
		echo "not ok - $program: ran $((ok + not_ok + skips)) tests of ${planned:-no plan}" | tee -a "$output"
		not_ok=$((not_ok + 1))
	elif [ "$status" != 0 ] && [ "$not_ok" = 0 ]; then
		echo "not ok - $program: exit status $status" | tee -a "$output"
		not_ok=1
	fi
	[ "$not_ok" = 0 ] || failures[$program]=$(failed_tests "$output")
	passed=$((passed + ok)) failed=$((failed + not_ok)) skipped=$((skipped + skips))
}

# Waits for the next program to exit.
finish_one() {
	local pid status

	wait -n -p pid
	status=$?
	echo "# ${program_of[$pid]}"
	tally "${program_of[$pid]}" "$status" "${output_of[$pid]}"
	echo "# took $((SECONDS - begin_of[$pid])) s, $(<"${output_of[$pid]}.cpu") s of a CPU"
	unset "program_of[$pid]"
}

together=() exclusive=()
for program in "$@"; do
	if runs_exclusively "$program"; then exclusive+=("$program"); else together+=("$program"); fi
done
for program in "${together[@]}"; do
	[ "${#program_of[@]}" -lt "$jobs" ] || finish_one
	start "$program" --shared
done
while [ "${#program_of[@]}" -gt 0 ]; do
	finish_one
done
for program in "${exclusive[@]}"; do
	start "$program" --exclusive
	finish_one
done

for program in "${!failures[@]}"; do
	echo "# $program failed; to run it again: $(again "$program")"
	echo "${failures[$program]}"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
