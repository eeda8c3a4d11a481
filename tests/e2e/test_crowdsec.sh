#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# ringfence-crowdsec against hostile decisions: invalid addresses and prefixes that are too short
# are skipped, and the rest of the same reply applies. tests/ecosystem has CrowdSec's own API.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

make_network 1
inside ip link set lo up
ringfence attach "${port[0]}" >/dev/null || bail 'cannot attach'

cat >"$scratch/api.py" <<'end'
import http.server, sys

class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        with open(sys.argv[1], "rb") as file:
            self.wfile.write(file.read())

http.server.HTTPServer(("127.0.0.1", 8080), Answer).serve_forever()
end
start inside python3 "$scratch/api.py" "$scratch/answer" 2>/dev/null
api_listens() {
	inside bash -c '</dev/tcp/127.0.0.1/8080' 2>/dev/null
}
eventually api_listens || bail 'the API does not start'

configure() { # LINES
	rm -f "$scratch/conf"
	install -m 600 /dev/null "$scratch/conf"
	printf '%s\n' "dev = ${port[0]}" "ringfence = $PWD/build/ringfence" "$@" >"$scratch/conf"
}

bouncer() { # [COMMAND]
	inside packaging/crowdsec/ringfence-crowdsec --config "$scratch/conf" "${1:-once}" 2>"$scratch/log"
}

denied() {
	ringfence deny list --json | jq -r '[.prefixes[].prefix] | join(" ")'
}

# decisions VALUE…: each as JSON, after a valid one; then another valid one
decisions() {
	local value id=1

	printf '{"deleted":null,"new":[{"id":1,"type":"ban","scope":"Ip","value":"192.0.2.1","duration":"1h"},'
	for value; do
		printf '{"id":%d,"type":"ban","scope":"Ip","duration":"1h","value":%s},' $((++id)) "$value"
	done
	printf '{"id":99,"type":"ban","scope":"Range","value":"198.51.100.0/24","duration":"1h"}]}'
}

configure 'key = secret'
while read -r value; do
	decisions "$value" >"$scratch/answer"
	check "with a value of $value the rest applies" bouncer
	is "$(denied)" '192.0.2.1 198.51.100.0/24' "a value of $value is denied nothing"
	is "$(grep -c '^decision 2 is left out: ' "$scratch/log") $(grep -c '^decision' "$scratch/log")" '1 1' "a value of $value is logged"
done <<-'end'
	"fe80::1%eth0"
	"0.0.0.0/0"
	"::/0"
	"10.0.0.0/7"
	"::ffff:0.0.0.0/96"
	"2000::/18"
	"192.0.2.7 for 1s"
	"192.0.2.7\ndeny flush"
	"192.0.2.7\r"
	"fe80::1%\ndeny flush"
	" 192.0.2.7"
	"192.0.2.7/255.255.255.0"
	"192.0.2.7/33"
	"１９２.0.2.7"
	""
	null
	3232235777
	true
	["192.0.2.7"]
	{"192.0.2.7":1}
end

# An earlier entry is added again if its expiry has moved by more than a few seconds; therefore none
# remains.
bouncer remove
is "$(denied) $(<"$scratch/log")" ' 2 entries deleted' 'remove deletes its entries'
decisions '"::ffff:192.0.2.9"' '"10.0.0.0/8"' '"2000::/19"' '"2001:DB8::1/128"' >"$scratch/answer"
check 'ranges as wide as the setting apply' bouncer
is "$(denied)" '10.0.0.0/8 192.0.2.1 192.0.2.9 198.51.100.0/24 2000::/19 2001:db8::1' 'they are denied'
is "$(<"$scratch/log")" '6 entries added, 0 deleted; 6 are of CrowdSec' 'nothing of them is left out'

configure 'key = secret' 'widest4 = 24' 'widest6 = 64'
decisions '"10.0.0.0/23"' '"2001:db8::/63"' >"$scratch/answer"
check 'the settings narrow it' bouncer
is "$(denied)" '192.0.2.1 198.51.100.0/24' 'what is wider is deleted as well'
matches "$(<"$scratch/log")" $'decision 2 is left out: 10\\.0\\.0\\.0/23 is wider than /24, see \'widest4\'\ndecision 3 is left out: 2001:db8::/63 is wider than /64, see \'widest6\'\n.*' 'the log names the setting'

# ---- refused by the fence ----

configure 'key = secret'
bouncer remove # for the same reason
for i in 1 2 3 4 5 6; do ringfence deny add 192.0.2.9 by "owner$i"; done
decisions '"192.0.2.9"' '"192.0.2.10"' >"$scratch/answer"
check 'an entry that the fence refuses is no failure' bouncer
is "$(ringfence deny list --json | jq -r '[.prefixes[] | select(.owners[].by == "crowdsec") | .prefix] | join(" ")')" \
	'192.0.2.1 192.0.2.10 198.51.100.0/24' 'the others apply'
is "$(<"$scratch/log")" "the fence refuses '192.0.2.9': it has 6 entries on both lists together, by owner1, owner2, owner3, \
owner4, owner5 and owner6, the most there can be; 'allow del' or 'deny del' with 'by NAME' removes one
3 entries added, 0 deleted; 4 are of CrowdSec" 'and it is logged'
ringfence deny del 192.0.2.9 by all

one() { # FIELDS
	printf '{"deleted":null,"new":[{"id":1,"type":"ban","scope":"Ip","value":"192.0.2.1","duration":"1h"},{"id":2,%s}]}' "$1" >"$scratch/answer"
}

while read -r fields; do
	one "$fields"
	check "$fields is no failure" bouncer
	is "$(denied)" 192.0.2.1 "$fields is denied nothing"
done <<-'end'
	"type":"ban","scope":"Ip","value":"192.0.2.7","duration":"1h for 2h"
	"type":"ban","scope":"Ip","value":"192.0.2.7","duration":"1h\ndeny flush"
	"type":"ban","scope":"Ip","value":"192.0.2.7","duration":"1..5h"
	"type":"ban","scope":"Ip","value":"192.0.2.7","duration":7
	"type":"ban","scope":"Ip","value":"192.0.2.7","duration":null
	"type":"ban","scope":"Ip","value":"192.0.2.7","duration":"-1h"
	"type":["ban"],"scope":"Ip","value":"192.0.2.7","duration":"1h"
	"type":"ban","scope":["Ip"],"value":"192.0.2.7","duration":"1h"
	"type":"ban","scope":"country","value":"192.0.2.7","duration":"1h"
	"type":"ban","scope":"Ip"
end

# ---- own networks ----

inside ip address add 192.0.2.10/24 dev "${port[0]}"
configure 'key = secret' 'widest4 = 8'
bouncer remove
decisions '"192.0.0.0/16"' '"198.51.100.0/25"' >"$scratch/answer"
check 'a decision that covers a subnet of the interface is no failure' bouncer
is "$(denied)" '192.0.2.1 198.51.100.0/24 198.51.100.0/25' 'it is left out, and the rest applies'
is "$(<"$scratch/log")" "the fence refuses '192.0.0.0/16': it covers 192.0.2.0/24, a subnet of ${port[0]}; add 'force' to deny it nevertheless
3 entries added, 0 deleted; 4 are of CrowdSec" 'the log names it'
bouncer
is "$(denied)" '192.0.2.1 198.51.100.0/24 198.51.100.0/25' 'the next run leaves it out as well'

fails_to() { # MESSAGE NAME
	bouncer
	is "$? $(<"$scratch/log")" "1 ringfence-crowdsec: $1" "$2"
}

python3 -c 'print("[" * 200000)' >"$scratch/answer"
check 'an answer that nests deeply is a failure' eval '! bouncer'
matches "$(<"$scratch/log")" 'ringfence-crowdsec: .*the answer is not what CrowdSec sends.*' 'and is said so'

for mode in 640 604 660; do
	chmod $mode "$scratch/conf"
	fails_to "$scratch/conf: other users can access it, and it holds the key; type 'chmod 600 $scratch/conf'" \
		"a key in a file of mode $mode is refused"
done
configure 'key = secret' 'widest4 = 0'
fails_to "$scratch/conf: widest4 '0': expects a prefix length, 1 to 32" 'not everything can be let in'
configure 'key = secret' 'widest6 = 129'
fails_to "$scratch/conf: widest6 '129': expects a prefix length, 1 to 128" 'a length has its bounds'

done_testing
