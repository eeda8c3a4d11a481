#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The page in Chromium in unusual situations: no fence, a fence that is removed or replaced, no
# daemon, no history, a clock that is set back, forged URLs. It describes the situation and how to
# fix it.
#
#   outside                            inside
#   out0  ---------- wire 0 -------->  ${port[0]}  a fence that is attached and removed
#                                      ${port[1]}  a fence whose name a shell would execute

# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/../e2e/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../e2e/lib.sh"
# shellcheck source=tests/ecosystem/page_fence.sh
source "$(dirname "$0")/page_fence.sh"

need_browser

# shellcheck disable=SC2016 # it is a name
port[1]='a;$(id)'
make_network 2
inside ip link set lo up
mkdir -p "$scratch/history"

quietly() { # WORD…
	ringfence "$@" >"$scratch/said" 2>&1 || echo "# ringfence $*: $(<"$scratch/said")"
}

# The requests of the browser's script, by name.
do_attach() { quietly attach "${port[0]}"; }
do_detach() { quietly detach "${port[0]}"; }
do_limit() { quietly limit add any rate 50/1s dev "${port[0]}"; }
do_unlimit() { quietly limit del any dev "${port[0]}"; }
do_attach_other() {
	quietly attach "${port[1]}"
	quietly limit add other rate 50/1s dev "${port[1]}"
}
do_send() {
	outside build/tests/traffic send dev out0 to 02:00:00:00:00:02 flow src=192.0.2.66,count=500,rate=1000 \
		flow src=2001:db8:66::1,count=500,rate=1000 flow src=198.51.100.1,sources=60,count=120,rate=240 >"$scratch/sent"
}
held=() # environment of the daemon
do_watch() {
	start inside env "${held[@]}" build/ringfence-watch sources full history "$scratch/history" events file off journal off \
		>"$scratch/log" 2>&1
	daemon_pid=$started_pid
	eventually grep -q '^serving' "$scratch/log" || bail "the daemon does not start: $(<"$scratch/log")"
	token=$(sed 1q /run/ringfence-watch/token)
}
do_watch_held() {
	"${CC:-cc}" -D_GNU_SOURCE -shared -fPIC -o "$scratch/hold.so" tests/e2e/hold_threads.c -ldl || bail 'cannot compile'
	held=("LD_PRELOAD=$scratch/hold.so" "HOLD_BATCH=$scratch/hold")
	touch "$scratch/hold"
	do_watch
	held=()
}
do_release() { rm "$scratch/hold"; }
do_watch_without() {
	start inside build/ringfence-watch sources none history off events file off journal off >"$scratch/log" 2>&1
	daemon_pid=$started_pid
	eventually grep -q '^serving' "$scratch/log" || bail "the daemon does not start: $(<"$scratch/log")"
}
do_end() { stop TERM "$daemon_pid"; }

do_watch
start_driver
judge 900 page_odd.mjs "$url/#token=$token" "$scratch" "${port[0]}" "${port[1]}"
check 'the checks ran to their end' test -e "$scratch/ended"
is "$(grep -c 'page process ended' "$scratch/log")" 0 'the page process lives'
stop TERM "$driver_pid"
stop TERM "$daemon_pid"
done_testing
