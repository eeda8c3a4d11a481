# shellcheck shell=bash
# The common part of the tests in this folder: the files CORE are compiled into BUILD, and linked
# with the objects of REST into each of PROGRAMS. A mutant is a program with one changed function;
# the test's run_mutant runs it, and prints something if it is detected. A mutant that is not
# detected is a failure, and so is a mutant that no longer applies because the code has changed.
# FLAGS are compiler flags.
# shellcheck disable=SC2154 # the variables in capitals are the test's

tried=0

compile() { # FILE OBJECT
	"${CC:-cc}" -std=gnu11 -O2 "${FLAGS[@]}" -Iuser -Itests/fleet -Iinclude -Itests -I. -c "$1" -o "$2"
}

# link DIRECTORY PROGRAM…: with its objects, or the objects of the unchanged code if it has none.
link() {
	local directory=$1 program file objects=()

	shift
	for file in "${CORE[@]}"; do
		file=${file##*/} file=${file%.c}.o
		[ -e "$directory/$file" ] && objects+=("$directory/$file") || objects+=("$BUILD/$file")
	done
	for file in "${REST[@]}"; do
		file=${file##*/}
		objects+=("$BUILD/${file%.c}.o")
	done
	for program; do
		"${CC:-cc}" "${objects[@]}" "$BUILD/$program.o" -o "$directory/$program" || return 1
	done
}

# The code as it is.
build() {
	local file

	mkdir -p "$BUILD"
	for file in "${CORE[@]}" "${REST[@]}" "${PROGRAMS[@]/#/tests/fleet/}"; do
		file=${file%.c}
		if ! compile "$file.c" "$BUILD/${file##*/}.o"; then
			echo "1..1"
			echo "not ok 1 - the rules compile"
			exit 1
		fi
	done
	link "$BUILD" "${PROGRAMS[@]}"
}

# try_mutant NAME FILE FUNCTION COMMAND PROGRAM ARGUMENT…: changes that function by a sed -E command,
# and runs it in that program.
try_mutant() {
	local directory=$BUILD/mutant-$((++tried)) name=$1 source=$2 function=$3 command=$4 file output

	shift 4
	file=${source##*/} file=${file%.c}
	mkdir -p "$directory"
	sed -E "/^[a-z].*\\<$function\\(/,/^}/ { $command
	}" "$source" >"$directory/$file.c"
	if cmp -s "$source" "$directory/$file.c"; then
		echo "not ok $tried - mutant: $name: cannot be made, $function reads otherwise now"
		return 1
	fi
	if ! { compile "$directory/$file.c" "$directory/$file.o" && link "$directory" "$1"; } 2>"$directory.log"; then
		echo "not ok $tried - mutant: $name: does not compile"
		return 1
	fi
	output=$(run_mutant "$directory" "$@")
	if [ -z "$output" ]; then
		echo "not ok $tried - mutant survives: $name"
		return 1
	fi
	echo "ok $tried - mutant is caught: $name"
	echo "# $(sed -n 's/^not ok [0-9]* - //p' <<<"$output")"
}

# print_rows OUTPUT: what programs said, behind the mutants, and the plan.
print_rows() {
	grep -v '^1\.\.' <<<"$1" | awk -v from="$tried" '
		/^(not )?ok / { sub(/ok [0-9]+/, "ok " ++from) }
		{ print }'
	echo "1..$((tried + $(grep -c '^\(not \)\?ok' <<<"$1")))"
}
