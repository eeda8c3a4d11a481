#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A real Prometheus scrapes the daemon during a flood, while the fence is replaced and the daemon
# killed: no counter decreases, and no series is added. Every expression of the dashboard and each
# alert rule is evaluated there. The textfile collector of node_exporter reads the output of the
# command.

# shellcheck disable=SC2016 # dollars are Grafana's
# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/../e2e/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../e2e/lib.sh"

for program in prometheus promtool prometheus-node-exporter; do
	command -v $program >/dev/null || bail "$program is not installed; run 'make deps-ecosystem'"
done

dashboard=packaging/grafana/ringfence.json
rules=packaging/prometheus/ringfence.rules.yml
check 'promtool accepts the alert rules' promtool check rules $rules
# Of one fence, newcomers prove their addresses; of the other one, none does.
challenged='ringfence_newcomers_total{instance="a",outcome="challenged"'
proven='ringfence_newcomers_total{instance="a",outcome="proven"'
cat >"$scratch/no_proofs.yml" <<-end
	rule_files: [$PWD/$rules]
	tests:
	  - interval: 1m
	    input_series:
	      - {series: '$challenged,fence="eth0"}', values: '0+12000x30'}
	      - {series: '$proven,fence="eth0"}', values: '7+0x30'}
	      - {series: '$challenged,fence="eth1"}', values: '0+12000x30'}
	      - {series: '$proven,fence="eth1"}', values: '0+60x30'}
	    alert_rule_test:
	      - {alertname: RingfenceNoProofs, eval_time: 4m}
	      - alertname: RingfenceNoProofs
	        eval_time: 20m
	        exp_alerts:
	          - exp_labels: {severity: warning, instance: a, fence: eth0}
	            exp_annotations:
	              summary: 'Fence eth0 challenges 200 newcomers per second, and none proves its address'
	              description: "No new client has connected for 10 minutes: answers to clients can be lost. 'ringfence doctor' checks the driver."
end
check 'challenges without any proof raise an alert' promtool test rules "$scratch/no_proofs.yml"

make_network 1
eth=${port[0]}
inside ip link set lo up
attach() {
	ringfence attach "$eth" fleet >"$scratch/attached" || bail "attach: $(<"$scratch/attached")"
	ringfence fleet hosts 2 >"$scratch/attached"
	ringfence limit add any rate 100/1s fleet >"$scratch/attached"
	ringfence limit add half rate 50/1s shadow >"$scratch/attached"
}
attach
mkdir "$scratch/history" "$scratch/text" "$scratch/data"
daemon() {
	start inside build/ringfence-watch history "$scratch/history" >"$scratch/log" 2>&1
	daemon_pid=$started_pid
}
daemon
# A fleet with only this host, which exports the fleet's metrics.
start inside "$(command -v redis-server || command -v valkey-server)" --port 6379 --save '' --dir "$scratch" \
	>"$scratch/engine" 2>&1
engine_pid=$started_pid
start inside build/ringfence-fleet run "$eth" redis 127.0.0.1:6379 >"$scratch/agent" 2>&1
agent_pid=$started_pid

cat >"$scratch/prometheus.yml" <<-end
	global: {scrape_interval: 1s, evaluation_interval: 1s}
	rule_files: [$PWD/$rules]
	scrape_configs:
	  - job_name: ringfence
	    static_configs: [{targets: ['127.0.0.1:9436']}]
end
start inside prometheus --config.file="$scratch/prometheus.yml" --storage.tsdb.path="$scratch/data" \
	--web.listen-address=127.0.0.1:9090 >"$scratch/prometheus.log" 2>&1
prometheus_pid=$started_pid

# query EXPR: the result, as JSON; empty if the expression is wrong.
query() {
	inside curl -m 180 -s -G --data-urlencode "query=$1" http://127.0.0.1:9090/api/v1/query |
		jq -c 'select(.status == "success").data.result'
}
value() {
	query "$1" | jq -r '.[0].value[1] // "none"'
}
is_value() { # EXPR VALUE
	[ "$(value "$1")" = "$2" ]
}
send() {
	deliver 0 src=192.0.2.66,count=3000,rate=1500 src=198.51.100.1,sources=50,count=200,rate=100 >"$scratch/sent"
}

check 'Prometheus scrapes the daemon' eventually is_value 'up{job="ringfence"}' 1
check 'it has the fence' eventually is_value ringfence_up 1
check 'the metrics of the fleet are exported' eventually is_value ringfence_fleet_offline 0
check 'and its members, which the agent reads later' eventually is_value ringfence_fleet_members 1
series=$(value 'scrape_samples_post_metric_relabeling')
send
send
check 'the flood is seen' eventually eval '[ "$(value "sum(ringfence_packets_total{verdict=\"dropped\"})")" -gt 1000 ]'
is "$(value 'max_over_time(scrape_samples_post_metric_relabeling[30s])')" "$series" "a flood adds no series to $series"

# ---- another parser of OpenMetrics, which is stricter ----

has_exemplars() { # it is served with the token
	inside curl -m 180 -s -H 'Accept: application/openmetrics-text' \
		-H "Authorization: Bearer $(sed 1q /run/ringfence-watch/token)" http://127.0.0.1:9436/metrics >"$scratch/open"
	grep -q ' # {source=' "$scratch/open"
}
check 'OpenMetrics has exemplars' eventually has_exemplars
is "$(/usr/bin/python3 tests/ecosystem/parse_openmetrics.py <"$scratch/open" 2>&1 | tail -n 1)" \
	"$(grep -vc '^#' "$scratch/open") $(grep -c ' # {source=' "$scratch/open")" \
	'a strict parser of OpenMetrics reads each sample, and each exemplar'

# ---- dashboard and alerts ----

mapfile -t expressions < <(jq -r '.panels[].targets[].expr' $dashboard)
check 'the dashboard has more than ten expressions' test "${#expressions[@]}" -gt 10
for expression in "${expressions[@]}"; do
	filled=${expression//'$__rate_interval'/30s}
	filled=${filled//'$instance'/.*}
	filled=${filled//'$fence'/.*}
	check "it has a result: $expression" test "$(query "$filled" | jq length)" -gt 0
done
is "$(jq -r '[.templating.list[].name] | join(" ")' $dashboard)" 'datasource instance fence' 'the dashboard has its variables'
is "$(inside curl -s http://127.0.0.1:9090/api/v1/rules |
	jq -r '[.data.groups[].rules[] | select(.health != "ok" or .lastError != null) | .name] | join(" ")')" '' \
	'each alert rule runs'
is_raised() {
	inside curl -s http://127.0.0.1:9090/api/v1/alerts | jq -e --arg name "$1" \
		'.data.alerts | map(select(.labels.alertname == $name)) | length > 0' >/dev/null
}
check 'the alert on drops comes' eventually is_raised RingfenceDropsBegin
ringfence limit add more rate 10/1s confirm 5m >"$scratch/added"
check 'so does that of unconfirmed rules' eventually is_raised RingfenceAwaitsConfirmation
ringfence confirm >"$scratch/added"

# ---- continuous counters ----

stop TERM "$agent_pid"
check 'the alert for an offline host fires' eventually is_raised RingfenceFleetOffline
ringfence detach "$eth" >"$scratch/attached"
check 'the alert on a fence that is not watched comes' eventually is_raised RingfenceScanStale
attach
send
stop KILL "$daemon_pid"
ringfence detach "$eth" >"$scratch/attached"
attach
daemon
send
check 'the counters went on' eventually eval '[ "$(value "sum(ringfence_packets_total{verdict=\"dropped\"})")" -gt 4000 ]'
mapfile -t counters < <(query 'group by (__name__) ({__name__=~"ringfence_.*_(total|bucket|count|sum)"})' |
	jq -r '.[].metric.__name__')
check 'there are more than ten counters' test "${#counters[@]}" -gt 10
reset=
for counter in "${counters[@]}"; do
	resets=$(value "sum(resets(${counter}[5m]))")
	[ "$resets" = 0 ] || reset+=" $counter: $resets"
done
is "$reset" '' 'no counter was reset'

# ---- the textfile collector ----

ringfence metrics file "$scratch/text/ringfence.prom"
start inside prometheus-node-exporter --collector.disable-defaults --collector.textfile \
	--collector.textfile.directory="$scratch/text" --web.listen-address=127.0.0.1:9100 >"$scratch/exporter.log" 2>&1
exporter_pid=$started_pid
exported() {
	inside curl -m 180 -s http://127.0.0.1:9100/metrics
}
check 'node_exporter reads the file' eventually eval \
	'exported | grep -q "^ringfence_packets_total{fence=\"$eth\",reason=\"over_limit\",verdict=\"dropped\"} [1-9]"'
is "$(exported | sed -n 's/^node_textfile_scrape_error //p')" 0 'and finds no error in it'

for pid in $exporter_pid $prometheus_pid $daemon_pid $engine_pid; do
	stop TERM "$pid"
done
done_testing
