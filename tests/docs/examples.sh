# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2154 # lib.sh sets them
# Runs the examples of a document on eth0 and compares their output, in $scratch/out, with the output
# in the document, in $scratch/shown. For tests that source this file after lib.sh; docs/testing.md
# describes the conventions.

# Numbers, and the number of blanks, differ between runs.
masked() {
	unwrapped | sed -E 's/[0-9]+(\.[0-9]+)?/N/g; s/N(ms|s|m|h|M|k)\>/N/g; s/[[:blank:]]+/ /g; s/ $//'
}

# Whether the output has the lines that the document shows. "…" stands for the rest of a line, and
# in a line without other text, at the end, for all further lines; a command that watches can print
# more.
is_as_shown() { # COMMAND
	local got shown

	[ -s "$scratch/shown" ] || return 0
	masked <"$scratch/shown" >"$scratch/want"
	masked <"$scratch/out" >"$scratch/got"
	if [ "$(tail -n 1 "$scratch/want")" = … ]; then
		sed -i '$d' "$scratch/want"
		sed -i "$(($(wc -l <"$scratch/want") + 1)),\$d" "$scratch/got"
	fi
	[[ $1 == *' watch'* ]] && head -n "$(wc -l <"$scratch/want")" "$scratch/got" >"$scratch/first" &&
		mv "$scratch/first" "$scratch/got"
	# Sources are listed in the order of their numbers, which are masked.
	[[ $1 == *' top'* ]] && sort -o "$scratch/got" "$scratch/got" && sort -o "$scratch/want" "$scratch/want"
	[ "$(wc -l <"$scratch/want")" = "$(wc -l <"$scratch/got")" ] || return
	while IFS= read -r got && IFS= read -r shown <&3; do
		[[ $shown == *… ]] && [[ $got == "${shown%…}"* ]] && continue
		[ "$got" = "$shown" ] || return
	done <"$scratch/got" 3<"$scratch/want"
}

# ---- running ----

# The test must set tree, and work to the directory in which the commands run. If it has a function
# after_example, that is called with each command that has run.

# The reason for skipping an example; empty if it runs.
why_skipped() { # TEXT
	local regex why

	while IFS=$'\t' read -r regex why; do
		[[ $regex != '#'* && $1 =~ $regex ]] && echo "$why" && return
	done <tests/docs/examples.skip
}

take_off() {
	local wire

	for wire in 0 1; do
		inside ip link set dev "eth$wire" xdp off 2>"$scratch/log"
		ringfence detach "eth$wire" >"$scratch/log" 2>&1
	done
}

fresh() {
	take_off
	ringfence attach eth0 >"$scratch/log" || bail "cannot attach: $(<"$scratch/log")"
}

# Runs a command line, without the trailing remark. A command that watches is stopped after some
# lines.
run_line() { # TEXT SECONDS
	local line=${1//\/usr\/lib\/bpf\//$tree/build/} limit=''

	[[ $line == *' watch'* ]] && limit="timeout --signal=INT $2"
	# shellcheck disable=SC2086 # two words
	(cd "$work" && inside env PATH="$scratch/bin:$PATH" $limit bash -c "$line") \
		>"$scratch/out" 2>"$scratch/err" </dev/null
	status=$?
	[ -z "$limit" ] || [ "$status" != 124 ] || status=0
}

command='' at=''

# Runs the previous command, because its documented output is now complete.
settle() { # DOCUMENT
	local why name seconds

	[ -n "$command" ] || return
	name="$1:$at: $command"
	why=$(why_skipped "$command")
	if [ -n "$why" ]; then
		echo "# $name: left out: $why"
	else
		[[ $command =~ ^(ringfence attach|ip link set .*xdp) ]] && take_off
		[[ $command =~ ^ringfence\ (top|show|stats) ]] && sleep 1.5
		# A source over its limit briefly has room whenever a cell expires, and a busy
		# machine takes longer to send, and to start.
		for seconds in 4 4 4 4 4 4 4 4 30 120; do
			run_line "$command" "$seconds"
			[[ $command =~ ^ringfence\ (show|top|status|stats|events|.*\ watch) ]] || break
			is_as_shown "$command" && break
			pause 0.5
		done
		if [ "$status" != 0 ]; then
			fail "$name"
			explain "exit $status" "$(<"$scratch/err")"
		elif is_as_shown "$command"; then
			pass "$name"
		else
			fail "$name"
			explain got "$(<"$scratch/got")"
			explain want "$(<"$scratch/want")"
		fi
		[ "$(type -t after_example)" != function ] || after_example "$command"
	fi
	command=''
	: >"$scratch/shown"
}

# A block of rules is a file that `check` accepts, and that later commands find as `rules`.
settle_rules() { # DOCUMENT
	[ -s "$scratch/rules" ] || return
	cp "$scratch/rules" "$work/rules"
	: >"$scratch/rules"
	run_line 'ringfence check rules' 4
	check "$1:$at: a file of rules" test "$status" = 0
	[ "$status" = 0 ] || explain stderr "$(<"$scratch/err")"
}

run_document() { # DOCUMENT
	local document=$1 what line text first

	: >"$scratch/shown"
	: >"$scratch/rules"
	awk -f tests/docs/examples.awk "$document" >"$scratch/examples"
	echo 'limit add any rate 20k/1s' >"$work/rules"
	echo 192.0.2.128/25 >"$work/blocklist.txt"
	fresh
	while IFS=$'\t' read -r what line text first <&4; do
		[ "$what" = output ] || settle "$document"
		[ "$what" = rule ] || settle_rules "$document"
		case $what in
		fresh) fresh ;;
		command) command=${text%% \# *} && command=${command%"${command##*[! ]}"} at=$line ;;
		output) echo "$text" >>"$scratch/shown" ;;
		rule) echo "$text${first:+ $first}" >>"$scratch/rules" && at=$line ;;
		block)
			[ "$text" != other ] ||
				check "$document:$line: a block that no test runs has a reason" test -n "$(why_skipped "$first")"
			;;
		esac
	done 4<"$scratch/examples"
	settle "$document"
	settle_rules "$document"
	check "$document has examples that run" grep -q ^command "$scratch/examples"
}
