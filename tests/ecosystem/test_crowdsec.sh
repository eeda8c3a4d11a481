#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# ringfence-crowdsec with CrowdSec's own local API: the deny list follows the decisions, entries
# from other origins are not changed, and an unavailable API or an invalid reply neither opens nor
# closes anything.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../e2e/lib.sh"

PATH=$PATH:$PWD/build/crowdsec/usr/bin
command -v crowdsec >/dev/null || bail "CrowdSec is not there; run 'make deps-ecosystem'"

make_network 1
inside ip link set lo up
ringfence attach "${port[0]}" >/dev/null || bail 'cannot attach'
ringfence limit add any rate 1M/1s

# ---- CrowdSec ----

home=$scratch/crowdsec
mkdir -p "$home"/{data,hub,plugins}
echo 'simulation: false' >"$home/simulation.yaml"
: >"$home/local_api_credentials.yaml"
cat >"$home/profiles.yaml" <<-'end'
	name: default
	filters:
	 - Alert.Remediation == true
	decisions:
	 - type: ban
	   duration: 4h
	on_success: break
end
cat >"$home/config.yaml" <<-end
	common: {daemonize: false, log_media: stdout, log_level: info, working_dir: .}
	config_paths:
	  config_dir: $home/
	  data_dir: $home/data/
	  simulation_path: $home/simulation.yaml
	  hub_dir: $home/hub/
	  index_path: $home/hub/.index.json
	  notification_dir: $home/notifications/
	  plugin_dir: $home/plugins/
	cscli: {output: human}
	db_config: {type: sqlite, db_path: $home/data/crowdsec.db, use_wal: true}
	api:
	  client: {credentials_path: $home/local_api_credentials.yaml}
	  server: {listen_uri: "127.0.0.1:8080", profiles_path: $home/profiles.yaml}
	prometheus: {enabled: false}
end

cscli() {
	inside cscli -c "$home/config.yaml" "$@" >>"$scratch/cscli.log" 2>&1
}

server_listens() {
	inside bash -c '</dev/tcp/127.0.0.1/8080' 2>/dev/null
}

start_api() {
	start inside crowdsec -c "$home/config.yaml" -no-cs >>"$scratch/crowdsec.log" 2>&1
	api=$started_pid
	eventually server_listens || bail "CrowdSec does not start: $(tail -n 5 "$scratch/crowdsec.log")"
}

cscli machines add tester --password tester --url http://127.0.0.1:8080 --force ||
	bail "cscli: $(tail -n 3 "$scratch/cscli.log")"
key=$(inside cscli -c "$home/config.yaml" bouncers add ringfence -o raw 2>/dev/null)
start_api

# ---- the bouncer ----

install -m 600 /dev/null "$scratch/conf"
cat >"$scratch/conf" <<-end
	# as in /etc/ringfence/crowdsec.conf
	url = http://127.0.0.1:8080
	key = $key
	dev = ${port[0]}
	interval = 1
	resync = 2
	ringfence = $PWD/build/ringfence
end

bouncer() { # COMMAND
	inside packaging/crowdsec/ringfence-crowdsec --config "$scratch/conf" "$1"
}

bouncer_fails() {
	! bouncer once 2>"$scratch/once"
}

start_bouncer() {
	start inside packaging/crowdsec/ringfence-crowdsec --config "$scratch/conf" \
		>>"$scratch/bouncer.log" 2>&1
	runner=$started_pid
}

denied() { # the list in one line, and entries without expiry
	ringfence deny list --json |
		jq -r '[.prefixes[] | .prefix + if .left_ms == null then "!" else "" end] | join(" ")'
}

left_s() { # PREFIX
	ringfence deny list --json | jq --arg p "$1" '.prefixes[] | select(.prefix == $p).left_ms / 1000 | floor'
}

list_is() { # PREFIXES
	[ "$(denied)" = "$1" ]
}

denies() { # PREFIXES: waits until the list has exactly these
	eventually list_is "$1" || { explain 'the list' "$(denied)" && return 1; }
}

decide() { # a decision's words
	cscli decisions add "$@" || bail "cscli decisions add $*: $(tail -n 3 "$scratch/cscli.log")"
}

# ---- in step ----

ringfence deny add 203.0.113.7
ringfence deny add 203.0.113.8
decide --ip 192.0.2.66 --duration 1h
decide --ip 2001:db8::66 --duration 1h
decide --range 198.51.100.0/24 --duration 10m
decide --ip 203.0.113.7 --duration 1h
decide --ip 192.0.2.77 --duration 1h --type captcha
decide --scope country --value XX --duration 1h
bouncer once 2>"$scratch/once"
is "$(denied)" '192.0.2.66 198.51.100.0/24 203.0.113.7! 203.0.113.8! 2001:db8::66' \
	'bans of addresses and ranges are denied, other decisions are not, and other entries remain'
is "$(<"$scratch/once")" '4 entries added, 0 deleted; 4 are of CrowdSec' 'it prints its changes, also for an address with another entry'
left=$(left_s 198.51.100.0/24)
check 'an entry expires with its decision' test "$left" -gt 550 -a "$left" -le 600

start_bouncer
decide --ip 192.0.2.99 --duration 1h
check 'a new decision is denied' denies \
	'192.0.2.66 192.0.2.99 198.51.100.0/24 203.0.113.7! 203.0.113.8! 2001:db8::66'
decide --ip 192.0.2.99 --duration 4h
lasts_longer() {
	[ "$(left_s 192.0.2.99)" -gt 14000 ]
}
check 'of two decisions for one address the longer one counts' eventually lasts_longer
longest=$(inside cscli -c "$home/config.yaml" decisions list -o json 2>/dev/null |
	jq '[.[].decisions[] | select(.value == "192.0.2.99")] | max_by(.id).id')
cscli decisions delete --id "$longest"
lasts_an_hour() {
	local left

	left=$(left_s 192.0.2.99)
	[ "$left" -gt 3500 ] && [ "$left" -le 3600 ]
}
check 'once the longer one is deleted, the shorter one counts' eventually lasts_an_hour
cscli decisions delete --ip 192.0.2.66
cscli decisions delete --ip 203.0.113.7
check 'a deleted decision opens its address, and no entry of others' denies \
	'192.0.2.99 198.51.100.0/24 203.0.113.7! 203.0.113.8! 2001:db8::66'
echo 'limit add any rate 1M/1s' | ringfence apply - >/dev/null
check 'after rules were applied, its entries come back' denies '192.0.2.99 198.51.100.0/24 2001:db8::66'

# ---- the API goes away, and comes back ----

decide --ip 192.0.2.200 --duration 10s
check 'a short decision is denied' denies '192.0.2.99 192.0.2.200 198.51.100.0/24 2001:db8::66'
stop KILL "$api"
sleep 3
check 'while the API is unavailable, the only change is that entries expire' denies \
	'192.0.2.99 198.51.100.0/24 2001:db8::66'
sleep 2
is "$(denied)" '192.0.2.99 198.51.100.0/24 2001:db8::66' 'and nothing else changes'
is "$(grep -c refused "$scratch/bouncer.log")" 1 'the log reports the unavailable API once'
start_api
decide --ip 192.0.2.201 --duration 1h
check 'once the API is back, the list is in step' denies \
	'192.0.2.99 192.0.2.201 198.51.100.0/24 2001:db8::66'

stop KILL "$runner"
cscli decisions delete --ip 192.0.2.201
bouncer once 2>/dev/null
is "$(denied)" '192.0.2.99 198.51.100.0/24 2001:db8::66' \
	'after it was killed, it still knows its entries, and deletes expired ones'

# ---- invalid replies ----

stop KILL "$api"
cat >"$scratch/nonsense.py" <<'end'
import http.server, sys

class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(int(sys.argv[1]))
        self.end_headers()
        self.wfile.write(sys.argv[2].encode())

http.server.HTTPServer(("127.0.0.1", 8080), Answer).serve_forever()
end
before=$(denied)
while read -r status body; do
	start inside python3 "$scratch/nonsense.py" "$status" "$body" 2>/dev/null
	nonsense=$started_pid
	eventually server_listens || bail 'cannot serve nonsense'
	check "a reply of $status '$body' is a failure" bouncer_fails
	is "$(denied)" "$before" "a reply of $status '$body' changes nothing"
	stop KILL "$nonsense"
done <<-'end'
	403 {"message":"access forbidden"}
	500 {"new":null,"deleted":null}
	200 <html>hello</html>
	200 {"new":[{"id":1,"type":"ban","sco
	200 {}
	200 {"new":7,"deleted":null}
	200 {"new":[["192.0.2.1"]],"deleted":null}
end
start inside python3 "$scratch/nonsense.py" 200 \
	'{"deleted":null,"new":[{"id":1,"type":"ban","scope":"Ip","value":"nobody","duration":"1h"},
	{"id":2,"type":"ban","scope":"Ip","value":"192.0.2.31","duration":"soon"},
	{"id":3,"type":"ban","scope":"Range","value":"192.0.2.99/32","duration":"1h0m0.5s"}]}' 2>/dev/null
nonsense=$started_pid
eventually server_listens
bouncer once 2>"$scratch/once"
matches "$(<"$scratch/once")" $'decision 1 is left out: [^\n]*nobody[^\n]*\ndecision 2 is left out: [^\n]*soon\n.*' \
	'a decision that is not understood is named, and left out'
is "$(denied)" 192.0.2.99 'the others are followed'
stop KILL "$nonsense"

# ---- shutdown ----

ringfence deny add 203.0.113.9
bouncer remove 2>"$scratch/once"
is "$(denied) $(<"$scratch/once")" '203.0.113.9! 1 entries deleted' 'remove deletes its entries, and no other'
ringfence detach "${port[0]}" >/dev/null
start_api
check 'without a fence it fails' bouncer_fails
matches "$(<"$scratch/once")" "ringfence-crowdsec: .*${port[0]}.*" 'and prints the reason'

# ---- its configuration ----

refuses() { # CONFIG MESSAGE NAME
	printf '%s\n' "$1" >"$scratch/conf"
	bouncer once 2>"$scratch/once"
	is "$? $(<"$scratch/once")" "1 ringfence-crowdsec: $scratch/conf$2" "$3"
}

refuses 'url = http://127.0.0.1:8080' \
	": the key is missing: 'cscli bouncers add ringfence' prints one; write 'key = KEY'" 'a key must be given'
refuses 'kee = 1' ":1: 'kee = 1': expects one of url, key, dev, interval, resync, widest4, widest6, ringfence, '=', and its value" \
	'an unknown word is refused by its line'
refuses $'key = a\ninterval = soon' ": interval 'soon': expects whole seconds, 1 to 1000000" 'an interval is a number'

done_testing
