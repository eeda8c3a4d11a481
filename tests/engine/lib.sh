# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# Engines for tests, beside tests/e2e/lib.sh: each on a socket of its own, in memory, and ended with
# the test.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"

server=$(command -v redis-server || command -v valkey-server) || bail "there is no redis-server; run 'make deps'"
client=$(command -v redis-cli || command -v valkey-cli) || bail "there is no redis-cli; run 'make deps'"
library=user/fleet/ringfence.lua

# start_engine NAME [OPTION…]: its socket is $scratch/NAME.
start_engine() {
	mkdir -p "$scratch/$1.d"
	"$server" --port 0 --unixsocket "$scratch/$1" --dir "$scratch/$1.d" --save '' --appendonly no \
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
