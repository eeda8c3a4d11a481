#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Every example of the README and of both manuals runs, in the order of the document, and prints the
# output in the document, apart from numbers. examples.awk extracts them; docs/testing.md describes
# the conventions. Examples that cannot run are in examples.skip, with the reason; a new example in
# neither place fails the test.
#
#   outside                      inside
#   out0  ------- wire 0 ------  eth0, with four sources, two of them over 100 packets a second
#   out1  ------- wire 1 ------  eth1

# shellcheck disable=SC2016 # dollars for others
# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/../e2e/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../e2e/lib.sh"
# shellcheck source=tests/docs/examples.sh
source tests/docs/examples.sh

port=([0]=eth0 [1]=eth1)
tree=$PWD
work=$scratch/work
mkdir -p /etc/ringfence "$scratch/bin" "$work"
ln -s "$tree/build/ringfence" "$scratch/bin/ringfence"
ln -s "$tree/build" "$work/build"
make_network 2

# Sources that send all the time: 192.0.2.66 and 2001:db8:66::1 over the limit, the others under it.
start outside build/tests/traffic send dev out0 to 02:00:00:00:00:02 \
	flow src=192.0.2.66,count=4000000000,rate=800 flow src=2001:db8:66::1,count=4000000000,rate=800 \
	flow src=192.0.2.1,count=4000000000,rate=50 flow src=2001:db8:1::1,count=4000000000,rate=50 \
	>"$scratch/sent" 2>&1

# The reason for skipping an example; empty if it runs.
reason() { # TEXT
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
	why=$(reason "$command")
	if [ -n "$why" ]; then
		echo "# $name: left out: $why"
	else
		[[ $command =~ ^(ringfence attach|ip link set .*xdp) ]] && take_off
		[[ $command =~ ^ringfence\ (top|show|stats) ]] && sleep 1.5
		# A source over its limit briefly has room whenever a cell expires, and a busy
		# machine takes longer to send, and to start.
		for seconds in 4 4 4 4 4 4 4 4 30 120; do
			run_line "$command" "$seconds"
			[[ $command =~ ^ringfence\ (show|top|stats|.*\ watch) ]] || break
			is_as_shown "$command" && break
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
				check "$document:$line: a block that no test runs has a reason" test -n "$(reason "$first")"
			;;
		esac
	done 4<"$scratch/examples"
	settle "$document"
	settle_rules "$document"
	check "$document has examples that run" grep -q ^command "$scratch/examples"
}

for document in README.md docs/ringfence.8 docs/ringfence-rules.5 docs/guides/first-hour.md; do
	run_document "$document"
done

# Proves that the comparison can fail.
: >"$scratch/rules"
printf '```\nwhat nobody has seen\n```\n\n```\n# ringfence limit add any rate 1x/1s\n```\n' >"$scratch/new.md"
mkdir "$scratch/alone"
is "$(run_document "$scratch/new.md" | grep -c '^not ok')" 2 \
	'an unknown block fails the test, and so does a command that fails'
take_off
done_testing
