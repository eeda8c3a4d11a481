# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# The findings of `doctor`, and their fixes, run as printed. Source lib.sh before this file.

# shellcheck disable=SC2154 # scratch, build: of lib.sh
# shellcheck disable=SC2034 # the tests use them
looked=- # what $scratch/report is about

# Runs `doctor` for one interface, or for the machine if the interface is -.
look() { # IF
	local word=$1

	[ "$word" = - ] && word=
	# shellcheck disable=SC2086
	ringfence doctor $word --json >"$scratch/report" 2>"$scratch/stderr"
	looked="exit $? $(<"$scratch/stderr")"
}

# "LEVEL: TEXT; run 'COMMAND'" of the report.
finding() { # CHECK
	jq -r --arg check "$1" '.machine.checks + (.interfaces[0].checks // []) | last(.[] |
		select(.check == $check)) | "\(.level): \(.text)" + if .command then
		"; run \u0027\(.command)\u0027" else "" end' "$scratch/report"
}

one_problem() { # IF
	echo "exit 1 ringfence: $1: 1 problem prevents a fence; its line has the fix"
}

# Runs the command of a finding as it is printed.
take_remedy() { # CHECK
	local command

	command=$(jq -r --arg check "$1" '.interfaces[0].checks[] | select(.check == $check) |
		.command' "$scratch/report")
	inside env PATH="$PWD/${build%/*}:$PATH" sh -c "$command" >"$scratch/remedy" 2>&1
}

# remedied NAME IF CHECK WANT: checks the report's finding after its fix was run.
remedied() {
	check "$1: the remedy works" take_remedy "$3"
	look "$2"
	matches "$(finding "$3")" "$4" "$1: the finding is gone after the remedy"
}
