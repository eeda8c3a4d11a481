#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The rights of a member, as in docs/fleet.md: everything that the functions need, and no access to
# another slot. Needs no privilege.

# shellcheck source=tests/engine/lib.sh
source "$(dirname "$0")/lib.sh"

# as_member COMMAND…: the server's reply to the user of slot 3.
as_member() {
	to_engine engine --user edge3 --pass SECRET --no-auth-warning "$@" 2>&1
}

# refused NAME COMMAND…
refused() {
	matches "$(as_member "${@:2}")" 'NOPERM .*' "a member's user cannot $1"
}

start_engine engine
load_timed_library engine >/dev/null
rules=$(sed -n 's/^ACL SETUSER edge3 //p' docs/fleet.md)
check 'the manual has the rules of a user' test -n "$rules"
# shellcheck disable=SC2086 # several rules
is "$(to_engine engine acl setuser edge3 $rules)" OK 'the server accepts the rules'
export ENGINE_USER=edge3 ENGINE_PASSWORD=SECRET

check 'the user of slot 3 can send heartbeats, until the server grants' until_it_gives
is "$(reports 3 192.0.2.1/32 1 0 0 60 2001:db8::1/128 2 0 0 90)" $'done 60\ndone 90' 'its reports are accepted'
matches "$(beats 4)" 'error: NOPERM .*' "it cannot call as another slot"
matches "$(ENGINE_KEY_SLOT=3 call beat 0 4 1 0)" 'error: RINGFENCE .*' "it cannot call as another slot with its own key"
matches "$(reports 4 192.0.2.1/32 1 0 0 60)" 'error: NOPERM .*' 'it cannot report as another slot'
# told SLOT: a ban of 192.0.2.1 for 1 s by that slot, sent to the server as the user of slot 3.
told() {
	printf '%b' "\\x0$1\\0\\0\\0\\xe8\\x03\\0\\0\\x04\\x20\\xc0\\0\\x02\\x01" |
		as_member -x fcall rf_ban 2 "rf:{m}:h:$1" 'rf:{m}:bans'
}
is "$(told 3 | od -An -tx1)" ' 00 0a' 'it can add a ban'
matches "$(told 4)" 'NOPERM .*' 'but not as another slot'
is "$(printf '%b' '\0\0\0\0\0\0\0\0' | as_member -x fcall rf_bans 1 'rf:{m}:bans' | wc -c)" 29 'and read the bans of all hosts'
is "$(as_member set 'rf:{m}:host:3' '{}')" OK "it can write its host's description"
is "$(as_member getrange 'rf:{m}:host:4' 0 9)" '' 'and read the descriptions of others'
refused 'write the description of another host' set 'rf:{m}:host:4' '{}'
refused 'write sources of another host' set 'rf:{m}:top:4' '{}'
matches "$(as_member info server | head -1)" '# Server.*' 'it can query the server'
matches "$(as_member hello | xargs)" '.* mode standalone .*' 'and whether it is a cluster'
matches "$(as_member function list | head -1)" 'library_name' 'and its functions'
refused 'flush all' flushall
refused 'remove keys' del 'rf:{0}:hosts'
refused 'use other keys' set other rubbish
refused 'list keys' keys '*'
refused 'change the configuration' config set maxmemory 1
refused 'read the configuration' config get maxmemory
refused 'remove the functions' function flush
refused 'replace the functions' function load replace '#!lua name=ringfence'
refused 'run scripts' eval 'return 1' 0
refused 'change users' acl setuser edge3 +@all
refused 'stop the server' shutdown nosave
ENGINE_PASSWORD=wrong
matches "$(call beat 0 3 10 0)" 'error: WRONGPASS .*' 'a wrong password is refused'
done_testing
