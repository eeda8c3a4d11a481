#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# fleet check: each possible problem of a fleet, and its printed fix. And fleet run.

# shellcheck disable=SC2119,SC2317 # functions are called by check, fails and the like
# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/fleet.sh
source tests/e2e/fleet.sh

# has LEVEL CHECK TEXT [COMMAND]: fleet check on host 1 finds exactly that; of ~REGEX, what matches it.
has() {
	on 1 fleet check edge1 --json 2>/dev/null |
		jq -e --arg level "$1" --arg check "$2" --arg text "$3" --arg command "${4-}" '
			def is($wanted): . == $wanted or ($wanted[:1] == "~" and test("^(" + $wanted[1:] + ")$"));
			.checks | any(.level == $level and .check == $check and (.text | is($text)) and
			((.command // "") | is($command)))' >"$scratch/found"
}

finds() { # NAME LEVEL CHECK TEXT [COMMAND]
	if eventually has "${@:2}"; then
		pass "$1"
	else
		fail "$1"
		explain got "$(on 1 fleet check edge1 --json)"
	fi
}

cli='redis-cli -h 10.77.1.1 -p 6379'
library=${PREFIX:-/usr/local}/share/ringfence/ringfence.lua

settings() { # WORD…
	echo "redis 10.77.1.1:6379" "$@" >/etc/ringfence/edge1.fleet
}

end_engine() {
	stop KILL "$engine_pid"
	rm -f "$scratch/redis.log"
}

make_fleet 2
mkdir -p /etc/ringfence

# ---- this host ----

fails 'no fence is in a fleet' 1 \
	"ringfence: no fence of this host is in a fleet; 'ringfence fleet join FENCE redis HOST:PORT hosts N' makes it a member" \
	on 1 fleet check
finds 'no settings' problem settings 'this host is in no fleet' \
	'ringfence fleet join edge1 redis HOST:PORT hosts N'
finds 'no fence' problem fence "~edge1: .*|fence 'edge1': .*|.*edge1.*" 'ringfence attach IF fence edge1 fleet'
echo 'redis nothing' >/etc/ringfence/edge1.fleet
finds 'an error in the settings' problem settings \
	"/etc/ringfence/edge1.fleet: redis 'nothing': expects HOST:PORT, such as 192.0.2.1:6379"
settings
finds 'good settings' ok settings /etc/ringfence/edge1.fleet
on 1 attach edge1 >"$scratch/log"
finds 'a fence without shares' problem fence \
	"it was attached without the word 'fleet'; save its rules, detach it, and attach it with 'fleet'" \
	'ringfence save dev edge1 > rules'
on 1 detach edge1 >"$scratch/log"
on 1 attach edge1 fleet >"$scratch/log"
finds 'no number of hosts' problem fence 'it does not know how many hosts share its limits' \
	'ringfence fleet hosts N dev edge1'
on 1 fleet hosts 2 >"$scratch/log"
finds 'no limit of the fleet' problem limits "no limit has the word 'fleet'" \
	'ringfence limit add any rate 20k/1s fleet'
on 1 limit add any rate 600/1s fleet >"$scratch/log"
on 1 limit add own rate 50/1s match udp >"$scratch/log"
on 1 limit add odd rate 50/1s match icmp algorithm token >"$scratch/log"
on 1 limit add loose rate 20/1s match tcp fleet initial 4 >"$scratch/log"
finds 'shared limits' ok limits '2 of 4 shared'
finds "a limit without the word 'fleet'" note limits "'own' is local to this host" 'ringfence limit change own fleet'
finds 'one that cannot be shared' note limits "~'odd' is local to this host, and has to be: .*"
finds 'a loose bound' note limits "'loose': all hosts together pass up to 28 of its 20, by its 'initial'" \
	'ringfence limit change loose initial 0'
on 1 limit del odd >"$scratch/log"
finds 'no agent' problem agent \
	"fence 'edge1': no agent serves it; 'systemctl enable --now ringfence-fleet@edge1' starts one"

# ---- the engine, without an agent ----

finds 'nobody listens' problem server \
	"10.77.1.1:6379: nothing listens there; start it or its tunnel, or see its 'bind' and 'port'"
start_engine --requirepass secret
finds 'no password' problem server \
	"10.77.1.1:6379: it wants a password; name a file with it by 'password file PATH'"
install -m 600 /dev/null "$scratch/password"
echo wrong >"$scratch/password"
settings password file "$scratch/password"
finds 'a wrong password' problem server \
	"10.77.1.1:6379: it refuses this user and password; see 'user' and 'password file'"
echo secret >"$scratch/password"
finds 'no functions' problem server \
	'its functions are missing; a running agent loads them, if its user has the right; otherwise load them' \
	"$cli -x FUNCTION LOAD <$library"
engine --no-auth-warning -a secret acl setuser alice on '>secret' '~rf:*' +fcall >"$scratch/log"
settings user alice password file "$scratch/password"
finds "a user who may not ask" note server "its role, memory and replicas are not checked: this user needs the right '+info'"
finds "a user who may not list functions" note server \
	"its functions are not checked: this user needs the right '+function|list'"
settings
end_engine
start_engine --maxmemory 100mb --maxmemory-policy allkeys-lru
finds 'an engine that evicts' problem server "its maxmemory-policy is allkeys-lru, so it may forget claims" \
	"$cli CONFIG SET maxmemory-policy noeviction"
sed 's/local KEPT = 600000/local KEPT = 600001/' build/ringfence.lua | engine -x function load >"$scratch/log"
finds 'functions of another version' note server \
	'it has functions of another version of ringfence; once all hosts have this one, replace them; the fleet then learns its claims again' \
	"$cli -x FUNCTION LOAD REPLACE <$library"
engine replicaof 192.0.2.77 6380 >"$scratch/log"
finds 'a replica' problem server 'it is a replica; name its master' \
	'ringfence fleet join edge1 redis 192.0.2.77:6380 hosts N'
engine replicaof no one >"$scratch/log"
engine config set maxmemory-policy noeviction >"$scratch/log"
engine -x function load replace <build/ringfence.lua >"$scratch/log"
finds 'an engine as it should be' ok server '~10.77.1.1:6379, version [0-9.]+'
for ((i = 0; i < 200; i++)); do
	echo "set key$i value"
done | engine >"$scratch/log"
engine save >"$scratch/log"
end_engine
start engine "$server" --port 6379 --bind 0.0.0.0 --protected-mode no --dir "$scratch" \
	--logfile "$scratch/redis.log" --key-load-delay 200000 --loading-process-events-interval-bytes 1024
engine_pid=$started_pid
finds 'an engine that loads its data' problem server \
	"it is still loading its data; wait, or start it without any, by 'save \"\"': the fleet needs none"
end_engine
rm -f "$scratch/dump.rdb"

# ---- with an agent ----

on 1 fleet check edge1 >"$scratch/stdout" 2>"$scratch/stderr"
is "$? $(<"$scratch/stderr")" "1 ringfence: fence 'edge1': 2 problems; see the fixes in their lines" \
	'problems are counted'
is "$(head -2 "$scratch/stdout" | xargs)" 'fence edge1 ok settings /etc/ringfence/edge1.fleet' 'and in a table'
is "$(on 1 fleet run edge1 --json 2>&1 >"$scratch/log")" \
	"ringfence: '--json': the agent prints what happens as text; leave it out" 'run has no JSON'
start h1 "$build" fleet run edge1 >>"$scratch/agent1" 2>&1
agent[1]=$started_pid
check "fleet run is the agent" eventually grep -q "fence 'edge1': 2 limits of the fleet" "$scratch/agent1"
finds 'alone, since when and why' problem agent \
	"~offline for [0-9.a-z ]+: fleet server 10.77.1.1:6379: nothing listens there; start it or its tunnel, or see its 'bind' and 'port'"
start_engine
finds 'a host that hears the engine' ok agent 'connected to the fleet server'
on 1 limit del own >"$scratch/log"
on 1 limit change loose initial 0 >"$scratch/log"
finds 'all other hosts' ok hosts '1, with the same limits'
finds_nothing() {
	on 1 fleet check edge1 >"$scratch/log" 2>&1
}
check 'where nothing is wrong, the exit status is 0' eventually finds_nothing

# ---- other hosts ----

echo 'redis 10.77.2.1:6379 grace 3s' >/etc/ringfence/edge2.fleet
on 2 attach edge2 fleet >"$scratch/log"
on 2 fleet hosts 3 >"$scratch/log"
on 2 limit add any rate 700/1s fleet >"$scratch/log"
on 2 limit add more rate 70/1s match udp fleet initial 0 >"$scratch/log"
start_web2() {
	start h2 unshare --uts sh -c 'printf web2 >/proc/sys/kernel/hostname; exec build/ringfence-fleet run edge2' \
		>>"$scratch/agent2" 2>&1
	agent[2]=$started_pid
}
start_web2
finds 'a limit that is another one there' problem hosts \
	"limit 'any' differs on web2: the hosts do not share it, and pass the sum" 'ringfence limit list'
finds 'one that is missing there' problem hosts "limit 'loose' is missing on web2" 'ringfence limit list'
finds 'one that is missing here' problem hosts "limit 'more' is missing here, and there on web2" 'ringfence limit list'
finds 'another number of hosts' problem hosts \
	'a different number of hosts than here, 2, on web2: their limits are not shared with this host' 'ringfence fleet hosts 2'
finds 'another grace' problem hosts \
	"a different grace than here, 2.0s, on web2: it must be the same; 'fleet join' sets it"
finds 'no number to spare' note hosts \
	'all 2 slots are in use: a host that reboots is offline until its old claims have expired; configure a spare slot' \
	'ringfence fleet hosts 3'
stop KILL "${agent[2]}"
forget='~web2 is silent for [0-9.a-z ]+; if it will not come back, remove it'
# They count for some seconds, which a busy machine can take to query; then it returns, and leaves
# again.
has_silent_web2() {
	has note hosts '~web2 is silent for [0-9.a-z ]+: its claims still count' && return
	has note hosts "$forget" '~ringfence fleet gone [012]' || return
	start_web2
	eventually has problem hosts "limit 'loose' is missing on web2" 'ringfence limit list'
	stop KILL "${agent[2]}"
	return 1
}
check 'a silent host' eventually has_silent_web2
finds 'one that may not come back' note hosts "$forget" '~ringfence fleet gone [012]'

# ---- more hosts than numbers ----

start h2 build/ringfence-fleet run edge2 >>"$scratch/agent2" 2>&1
for host in 1 2; do
	on $host fleet hosts 1 >"$scratch/log"
done
finds_both() {
	has problem agent "~$1" "$2" || [ "$(on 2 fleet check edge2 --json 2>/dev/null | jq -r --arg text "^($1)\$" \
		'[.checks[] | select(.check == "agent" and (.text | test($text)))] | length')" = 1 ]
}
check 'the host that finds no number' eventually finds_both \
	"offline for [0-9.a-z ]+: all 1 slots of the fleet are in use; raise 'hosts' on each host" 'ringfence fleet hosts 2'
done_testing
