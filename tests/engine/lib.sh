# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# Fleet servers for tests, to use with tests/e2e/lib.sh: each on a separate socket, in memory, and
# stopped with the test.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"

server=$(command -v redis-server || command -v valkey-server) || bail "there is no redis-server; run 'make deps-test'"
client=$(command -v redis-cli || command -v valkey-cli) || bail "there is no redis-cli; run 'make deps-test'"
library=build/ringfence.lua

where=() # command that runs a server in a namespace

# start_engine NAME [OPTION…]: its socket is $scratch/NAME, its process id $started_pid.
start_engine() {
	mkdir -p "$scratch/$1.d"
	"${where[@]}" "$server" --port 0 --unixsocket "$scratch/$1" --dir "$scratch/$1.d" --save '' --appendonly no \
		"${@:2}" >"$scratch/$1.log" 2>&1 &
	started[$!]=1
	started_pid=$!
	eventually answers "$1" || bail "the engine does not start: $(tail -n 3 "$scratch/$1.log")"
}

answers() { # NAME
	[ "$(to_engine "$1" ping 2>/dev/null)" = PONG ]
}

to_engine() { # NAME COMMAND…
	"$client" -s "$scratch/$1" "${@:2}"
}

load_library() { # NAME [FILE]
	to_engine "$1" -x function load replace <"${2-$library}"
}

# ---- a stopped clock, which makes tests independent of the speed of the machine ----

clock_ms=$(date +%s%3N)

# load_timed_library NAME: the library, with the test's clock in place of the server's.
load_timed_library() {
	{
		sed "1a local clock
			s/redis\.call('TIME')/(clock or redis.call('TIME'))/" "$library"
		cat <<-'end'
			redis.register_function{function_name = 'test_clock', flags = {'no-writes', 'allow-oom'},
				callback = function(_, args) clock = {args[1], args[2]} return 'OK' end}
		end
	} >"$scratch/timed.lua"
	load_library "$1" "$scratch/timed.lua"
}

# Before each call, because a server that has lost its functions has also lost the clock.
set_clock() {
	to_engine "$engine" fcall test_clock 0 $((clock_ms / 1000)) $((clock_ms % 1000 * 1000)) >/dev/null 2>&1
}

later() { # MS
	clock_ms=$((clock_ms + $1))
}

# ---- members, of bucket 0 ----

engine=engine # whom they call

call() { # WORDS…
	set_clock
	build/tests/engine/call "$scratch/$engine" "$@"
}

# The membership known to the host of a slot.
joined() { # SLOT
	cat "$scratch/joined.$1" 2>/dev/null || echo 0
}

# beats SLOT: a heartbeat of that slot's host, which reports that it is complete.
beats() {
	local heard

	heard=$(call beat 0 "$1" "$(($1 + 7))" "$(joined "$1")" complete)
	case $heard in 'done'*) cut -d' ' -f2 <<<"$heard" >"$scratch/joined.$1" ;; esac
	sed -E 's/^(done|refused) [0-9]+/\1/' <<<"$heard"
}

reports() { # SLOT SOURCE SEQ USED HAS WANTS…
	call report 0 "$1" "$(($1 + 7))" "$(joined "$1")" "${@:2}"
}

# Sends heartbeats of slot 3 until the server grants; for a minute at most.
until_it_gives() {
	local from=$clock_ms

	until [ "$(beats 3)" = 'done complete' ]; do
		[ $((clock_ms - from)) -lt 60000 ] || return 1
		later 100
	done
}

is_learning() {
	[[ $(beats 3) = *learning || $(beats 3) = 'refused' ]]
}
