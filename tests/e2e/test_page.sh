#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The page of the daemon, as seen by curl: the files of the page, its requests and who gets a reply,
# the token and where it is, and its information about sources. test_page_browser.sh has a browser.
#
#   outside                            inside
#   out0  ---------- wire 0 -------->  ${port[0]}  two limits, one of them a shadow

# shellcheck disable=SC2016 # dollars are for eval, later
# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

gid=$(getent group ringfence | cut -d: -f3)
url=http://127.0.0.1:9436
log=$scratch/log
chmod 755 "$scratch"
install -m 755 build/ringfence build/ringfence-watch "$scratch/"
mkdir -p /etc/ringfence && rm -f /etc/ringfence/*
make_network 1
mkdir -p /run/ringfence
mount -t bpf -o mode=0700 bpf /run/ringfence || bail 'cannot mount a bpffs at /run/ringfence'
inside ip link set lo up
eth=${port[0]}

fails 'without a daemon there is no page' 1 "ringfence: there is no page: ringfence-watch does not run, or \
serves nothing; 'systemctl enable --now ringfence-watch' starts it" ringfence page

ringfence attach "$eth" >"$scratch/attached" || bail "attach: $(<"$scratch/attached")"
ringfence limit add any rate 5/1h exact >"$scratch/attached"
ringfence limit add dns rate 5/1h match udp dport 53 shadow >"$scratch/attached"

history=$scratch/history
held=() # the daemon's settings
daemon() { # WORDS
	start inside env "${held[@]}" build/ringfence-watch events file off journal off history "$history" "$@" >"$log" 2>&1
	daemon_pid=$started_pid
	eventually grep -q '^serving' "$log" || bail "the daemon does not start: $(<"$log")"
	token=$(sed 1q /run/ringfence-watch/token 2>/dev/null)
	right=(-H "Authorization: Bearer $token")
}

get() { # CURL'S WORDS
	inside curl -m 180 -s "$@"
}

status() { # CURL'S WORDS
	get -o "$scratch/body" -w '%{http_code}' "$@"
}

header() { # NAME CURL'S WORDS
	get -D - -o "$scratch/body" "${@:2}" | tr -d '\r' | sed -n "s/^$1: //p"
}

# live FILTER: of the last scan, as jq reads it.
live() {
	get "${right[@]}" "$url/api/live" | jq -r "$1"
}

# ask KIND FILTER [WORDS]: of the last hour.
ask() {
	local now
	now=$(date +%s)000
	get "${right[@]}" "$url/api/$1?from=$((now - 3600000))&to=$((now + 5000))${3-}" | jq -r "$2"
}

is_seen() { # FILTER VALUE
	[ "$(live "$1")" = "$2" ]
}

daemon sources full
eventually is_seen .up true || bail "no scan: $(<"$log")"

# ---- the files ----

for file in '/ text/html' '/page.css text/css' '/page.js text/javascript' '/plots.js text/javascript' '/icon.svg image/svg+xml'; do
	read -r -a parts <<<"$file"
	is "$(status "$url${parts[0]}") $(header Content-Type "$url${parts[0]}" | cut -d';' -f1)" "200 ${parts[1]}" "${parts[0]} is there, without a token"
done
is "$(header Content-Encoding --compressed "$url/page.js") $(header Content-Encoding "$url/page.js")" 'gzip ' \
	'files are compressed for who takes that alone'
is "$(get --compressed "$url/page.js" | sha256sum)" "$(get "$url/page.js" | sha256sum)" 'and are the same'
bytes=0
for file in / /page.css /page.js /plots.js /icon.svg; do
	bytes=$((bytes + $(get --compressed -o "$scratch/body" -w '%{size_download}' "$url$file")))
done
check "the files have $bytes bytes: under 80,000" test $bytes -lt 80000
is "$(get $url/ | grep -ciE 'style=|<style|<script>|onclick|//[a-z]+\.[a-z]')" 0 'the page has no inline style or script, and no foreign address'
policy="default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; \
form-action 'none'; frame-ancestors 'none'"
for path in / /api/live /metrics; do
	is "$(header Content-Security-Policy "${right[@]}" $url$path)" "$policy" "$path forbids all but itself"
	is "$(header X-Content-Type-Options "${right[@]}" $url$path) $(header Cache-Control "${right[@]}" $url$path) \
$(header Referrer-Policy "${right[@]}" $url$path)" 'nosniff no-store no-referrer' "$path is not kept, guessed or told"
	is "$(header Access-Control-Allow-Origin "${right[@]}" -H "Origin: $url" $url$path)" '' "$path is for no other origin"
done

# ---- who gets a reply ----

is "$(status "${right[@]}" $url/api/live)" 200 'with the token, a question is answered'
is "$(status $url/api/live) $(status -H "Authorization: Bearer ${token%?}" $url/api/live) \
$(status -H "Authorization: Bearer ${token}0" $url/api/live) $(status -H "Authorization: Basic $token" $url/api/live) \
$(status "$url/api/live?token=$token")" '401 401 401 401 401' 'without it, or with nearly it, none is'
is "$(header WWW-Authenticate $url/api/live)" Bearer 'the refusal says how'
is "$(status "${right[@]}" -X POST $url/api/live) $(status "${right[@]}" -d x=1 $url/api/live) \
$(status "${right[@]}" -X DELETE $url/api/live) $(status "${right[@]}" -X OPTIONS $url/api/live)" '405 405 405 405' \
	'nothing but GET and HEAD is answered'
is "$(status "${right[@]}" -I $url/api/live) $(get "${right[@]}" -I $url/api/live | grep -c '"')" '200 0' 'HEAD has no body'
is "$(status "${right[@]}" -H 'Host: evil.example:9436' $url/api/live) $(status -H 'Host: evil.example:9436' $url/) \
$(status "${right[@]}" -H 'Host: 127.0.0.1' $url/api/live)" '421 421 421' 'another Host is refused, with the token too'
is "$(status "${right[@]}" -H 'Sec-Fetch-Site: cross-site' $url/api/live) $(status -H 'Sec-Fetch-Site: cross-site' $url/) \
$(status "${right[@]}" -H 'Origin: http://evil.example' $url/api/live)" '403 403 403' 'another site is refused'
is "$(status --path-as-is "${right[@]}" "$url/api/../etc/passwd") $(status "${right[@]}" $url/api/) \
$(status "${right[@]}" $url/page.html) $(status "${right[@]}" "$url/api/live?fence=none")" '400 400 404 404' 'other paths are nothing'
is "$(status "${right[@]}" "$url/api/range?from=9&to=5") $(status "${right[@]}" "$url/api/live?x=1") \
$(status "${right[@]}" "$url/api/source?from=1&to=5&source=..%2F") \
$(status "${right[@]}" "$url/api/live?fence=$(printf '%0600d' 0)")" '400 400 400 400' 'wrong questions get a sentence'

# ---- the token ----

is "$(stat -c '%a %G' /run/ringfence-watch /run/ringfence-watch/token /run/ringfence-watch/page)" \
	$'750 ringfence\n640 ringfence\n640 ringfence' 'the token is for root and the group'
does 'page prints the URL with the token' "$url/#token=$token" ringfence page
is "$(ringfence page --json | jq -r '.schema, .url, .token')" $'2\n'"$url/"$'\n'"$token" 'and as JSON'
is "$(inside setpriv --reuid=60712 --regid=60712 --groups="$gid" "$scratch/ringfence" page)" "$url/#token=$token" 'a member of the group may ask'
is "$(inside setpriv --reuid=60713 --regid=60713 --clear-groups "$scratch/ringfence" page 2>&1)" \
	"ringfence: cannot read /run/ringfence-watch/page: only root and members of the group 'ringfence' may" 'others may not'
fails 'it is the page of all fences' 2 "ringfence: 'dev': the page shows every fence; 'ringfence page' prints its address" \
	ringfence page dev "$eth"
check 'the token is in no log' eval '! grep -q "$token" "$log"'
kill -HUP "$daemon_pid"
eventually grep -q 'read again' "$log"
eventually is_seen .up true
is "$(status "${right[@]}" $url/api/live)" 200 'after SIGHUP the token is the same'
is_recorded() { # a scan since then: what comes now is no gap
	[ "$(ask range '.last // 0')" -gt "$read_ms" ]
}
read_ms=$(date +%s%3N)
eventually is_recorded || bail 'nothing is recorded'

# ---- its contents ----

deliver 0 src=192.0.2.66,count=20,proto=udp,dport=53
# A source is in the last scan for 4 s after its last packet, which a busy machine can take to
# query.
packets=20
has_drops_of() { # a scan with the drops, and the source
	get "${right[@]}" "$url/api/live" >"$scratch/live" &&
		[ "$(jq ".dropped.over_limit == $packets - 5" "$scratch/live")" = true ] || return
	[ "$(jq '.sources != []' "$scratch/live")" = true ] && return
	deliver 0 src=192.0.2.66,count=1,proto=udp,dport=53
	packets=$((packets + 1))
	return 1
}
check 'drops are in the next scan' eventually has_drops_of
is "$(jq -r '.fence, .fences[], .source_detail, .confirmation, .history' "$scratch/live")" "$eth"$'\n'"$eth"$'\nfull\nconfirmed\ntrue' 'it says which fence it is'
is "$(jq -r '.limits[] | "\(.name) \(.rate_text) \(.shadow) \(.passed) \(.dropped) \(.would_drop)"' "$scratch/live")" \
	"any 5/1h false 5 $((packets - 5)) 0"$'\ndns 5/1h true 5 0 0' 'it has each limit'
is "$(jq '[.limits[].use | length] | unique[]' "$scratch/live")" 11 'with the use of it, in elevenths'
is "$(jq -r '[.sources[] | .[0]] | unique[]' "$scratch/live")" 192.0.2.66 'and each source'
has_both_limits() {
	get "${right[@]}" "$url/api/recent" >"$scratch/recent" && [ "$(jq '.sources | length' "$scratch/recent")" = 2 ] && return
	deliver 0 src=192.0.2.66,count=1,proto=udp,dport=53
	packets=$((packets + 1))
	return 1
}
eventually has_both_limits
is "$(jq -c '[(.times | length > 1), (.times == (.times | sort))], [.sources[] | .[0], .[1]]' "$scratch/recent")" \
	$'[true,true]\n["192.0.2.66","any","192.0.2.66","dns"]' 'the last scans are there for who comes later'
is "$(jq -c '.times as $t | [.sources[] | (.[2] | length) == ($t | length)], (.sources[0][2] | add > 0)' "$scratch/recent")" \
	$'[true,true]\ntrue' 'with what each source sent in each'
has_rows() { # KIND
	[ "$(ask "$1" '.rows | length')" -gt 0 ]
}
has_drops() {
	[ "$(ask range '[.lines[] | select(.name == "over_limit").rate[] | numbers] | max > 0')" = true ]
}
check 'the range of the history has the drops' eventually has_drops
check 'a range has a thousand points at most' test "$(ask range .points)" -le 1002
check 'events are told' eventually has_rows events
is "$(ask events '[.rows[] | select(.type == "source_limited") | .source, .limit][0:2] | join(" ")')" '192.0.2.66 any' 'with their source'
check 'sources are told of the range' eventually has_rows sources
is "$(ask sources '.rows[0] | "\(.source) \(.limit) \(.dropped) \([.bars[]] | add) \(.bars | length)"')" \
	"192.0.2.66 any $((packets - 5)) $packets 30" 'with what they sent over time'
is "$(ask source '.now.limits[0] | "\(.limit) \(.used) \(.rate) \(.cells | add)"' '&source=192.0.2.66')" 'any 5 5 5' 'a source has its cells'
check 'an answer says how old it is' eventually eval '[ "$(header X-Age-Ms "${right[@]}" $url/api/live)" -lt 1500 ]'
small=$(get --compressed "${right[@]}" -o "$scratch/body" -w '%{size_download}' $url/api/live)
check "a second of it has $small bytes: under 3,072" test "$small" -lt 3072
is "$(live '"\(.newcomers) \(.except_established)"')" 'off false' 'a scan has the rule for newcomers'
ringfence newcomers rate 10k/1s 'then' drop except established
check 'and its changes' eventually is_seen '"\(.newcomers) \(.except_established)"' 'drop true'
ringfence newcomers off
page_pid=$(pgrep -P "$daemon_pid")
is "$(sed -n 's/^\(Seccomp\|NoNewPrivs\):\t//p' "/proc/$page_pid/status" | xargs) $(find "/proc/$page_pid/fd" -lname '*.db*' | wc -l)" \
	'1 2 0' 'who serves it is confined, and has no history open'

# ---- many concurrent connections ----

for i in {1..40}; do
	get "${right[@]}" -o /dev/null --interface "127.0.1.$i" -w '%{http_code}\n' \
		"$url/api/range?from=$((i % 4 + 1))000000&to=9000000" >"$scratch/many.$i" &
	many[i]=$!
done
wait "${many[@]}"
is "$(cat "$scratch"/many.* | sort | uniq -c | xargs)" '40 200' 'forty who ask the same at once all get it'
cat >"$scratch/hold.py" <<'end'
import select, socket, sys, time

def begin(host):
    one = socket.socket()
    one.bind((host, 0))
    one.connect(("127.0.0.1", 9436))
    one.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1:9436\r\nX: ")
    return one

if sys.argv[1] == "drip":  # a byte each 100 ms; how long is it served?
    started, one = time.monotonic(), begin("127.0.0.2")
    try:
        while time.monotonic() - started < 60 and not select.select([one], [], [], 0.1)[0]:
            one.sendall(b"x")
    except OSError:
        pass
    print(int(time.monotonic() - started))
elif sys.argv[1] == "twice":
    one = begin("127.0.0.2")
    one.sendall(b"1\r\n" + sys.argv[2].encode().decode("unicode_escape").encode() + b"\r\n")
    print(one.recv(64).split()[1].decode())
else:  # all permitted connections, repeatedly
    held = []
    while True:
        for host in range(2, 10):
            held += [begin(f"127.0.0.{host}") for _ in range(8)]
        held = held[-256:]
        if len(held) == 256:
            open(sys.argv[2], "w").close()
        time.sleep(0.1)
end
for twice in 'Host: evil.example' 'Content-Length: 0\r\nContent-Length: 0' 'Origin: http://a\r\nOrigin: http://b' \
	'Authorization: Bearer a\r\nAuthorization: Bearer b'; do
	is "$(inside python3 "$scratch/hold.py" twice "$twice\r\n")" 400 "a request with a header twice is refused: $twice"
done
is_ended_soon() { # on a busy machine not each time
	heard=$(inside python3 "$scratch/hold.py" drip)
	[ "$heard" -lt 10 ]
}
eventually is_ended_soon
check "a request that never ends is ended in $heard s, before 10" test "$heard" -lt 10
start inside python3 "$scratch/hold.py" flood "$scratch/held"
holder=$started_pid
check 'eight addresses hold all that they may' eventually test -e "$scratch/held"
whole_ones_pass() { # nine of them, one after the other
	local i

	for i in 1 2 3; do
		[ "$(status -m 8 "$url/") $(status -m 8 "$url/metrics") $(status -m 8 "${right[@]}" "$url/api/live")" = '200 200 200' ] || return
	done
}
check 'half-open requests hold up no whole request' eventually whole_ones_pass
stop KILL "$holder"
kill -STOP "$daemon_pid"
is "$(status "${right[@]}" "$url/api/range?from=1000&to=99000")" 504 'while the scanner is stuck, a question is given up'
is "$(status "${right[@]}" $url/api/live)" 200 'and the last scan is still told'
check 'with its age' test "$(header X-Age-Ms "${right[@]}" $url/api/live)" -gt 5000
kill -CONT "$daemon_pid"
check 'it goes on' eventually eval '[ "$(status "${right[@]}" "$url/api/range?from=1000&to=99000")" = 200 ]'
# ---- it dies ----

is_new() {
	[ -n "$(pgrep -P "$daemon_pid")" ] && [ "$(pgrep -P "$daemon_pid")" != "$page_pid" ]
}
kill -KILL "$page_pid"
check 'a page process that was killed is started again' eventually is_new
check 'and answers' eventually eval '[ "$(status "${right[@]}" $url/api/live)" = 200 ]'
stop TERM "$daemon_pid"
check 'the address goes with the daemon' test ! -e /run/ringfence-watch/page

# ---- reduced information ----

for told in prefix none; do
	daemon sources $told
	eventually is_seen .source_detail $told
	check "sources $told: a scan is told" eventually is_seen .up true
	deliver 0 src=192.0.2.66,count=4,proto=udp,dport=53
	check "sources $told: drops are counted" eventually eval '[ "$(live .dropped.over_limit)" -gt 15 ]'
	{ live .; ask events .; ask sources .; ask source . '&source=192.0.2.66'; get "${right[@]}" "$url/api/recent"; } >"$scratch/told"
	is "$(grep -c '192\.0\.2\.66' "$scratch/told")" 0 "sources $told: no address is told, of the past as well"
	is "$(grep -c '192\.0\.2\.0/24' "$scratch/told" | awk '{ print ($1 > 0) }')" "$([ $told = prefix ] && echo 1 || echo 0)" "sources $told: $told"
	stop TERM "$daemon_pid"
done

# ---- the first scan takes long ----

"${CC:-cc}" -D_GNU_SOURCE -shared -fPIC -o "$scratch/hold.so" tests/e2e/hold_threads.c -ldl || bail 'cannot compile'
held=("LD_PRELOAD=$scratch/hold.so" "HOLD_BATCH=$scratch/hold")
touch "$scratch/hold"
daemon
held=()
check 'the page answers while the first scan is under way' eventually is_seen .scanning true
is "$(live '"\(.fence) \(.up)"') $(status $url/)" "$eth false 200" 'it names the fence, and has no scan of it'
is "$(status $url/metrics) $(get $url/metrics | grep -c '^ringfence_build_info')" '200 1' 'metrics answer as well'
past='from=1000&to=99000'
for question in recent "range?$past" "sources?$past" "events?$past" "source?$past&source=192.0.2.66"; do
	is "$(status "${right[@]}" "$url/api/$question") $(<"$scratch/body")" '503 the first scan is under way' "${question%%\?*} says so"
done
is "$(get $url/metrics | grep -c "fence=\"$eth\"")" 0 'and tell nothing of the fence, not even that it is down'
rm "$scratch/hold"
check 'then the scan is shown' eventually is_seen .up true
is "$(live .scanning) $(get $url/metrics | grep "^ringfence_up")" "false ringfence_up{fence=\"$eth\"} 1" 'and metrics tell of the fence'
stop TERM "$daemon_pid"

# ---- other places ----

history=off
daemon
check 'without a history there is the present' eventually is_seen .history false
is "$(ask range .recorded) $(ask events .recorded)" 'false false' 'and the page is told so'
stop TERM "$daemon_pid"
echo 0123456789abcdef >"$scratch/token"
daemon token file "$scratch/token" listen 0.0.0.0:9436
right=(-H 'Authorization: Bearer 0123456789abcdef')
check 'the token of the settings counts' eventually is_seen .up true
is "$(ringfence page)" "$url/#token=0123456789abcdef" 'and is what page prints'
is "$(status $url/) $(status $url/metrics) $(status $url/api/live)" '200 401 401' 'on an open address the files alone are for all'
stop TERM "$daemon_pid"
daemon listen off socket "$scratch/socket"
right=(-H "Authorization: Bearer $token")
is "$(status --unix-socket "$scratch/socket" http://any/api/live) $(status --unix-socket "$scratch/socket" "${right[@]}" http://any/api/live |
	sed 's/404/200/')" '401 200' 'on the socket it takes the token as well'
matches "$(ringfence page 2>&1)" 'ringfence: ringfence-watch serves only on a socket .*, for a reverse proxy; .*' 'page says that there is a socket alone'
stop TERM "$daemon_pid"
for seconds in 3 30 120; do # a busy machine can take long to start
	script -qec "nsenter --net=/run/netns/rf-test-$$-inside timeout $seconds build/ringfence-watch history off events file off journal off" \
		"$scratch/typescript" >/dev/null
	! grep -q 'the page is at' "$scratch/typescript" || break
done
matches "$(grep -o 'the page is at [^[:space:]]*' "$scratch/typescript")" "the page is at $url/#token=[0-9a-f]{48}" 'on a terminal, the daemon prints the URL'

done_testing
