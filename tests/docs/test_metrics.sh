#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Every metric that ringfence exports is in ringfence-metrics(5) with its type and its labels, and
# every metric of the manual is exported; the dashboard, the alert rules and the guides name no
# other metric.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../e2e/lib.sh"

manual=build/docs/ringfence-metrics.5

# "NAME TYPE LABEL…", one line per metric.
sed -n 's/^\.It Li \(ringfence_[a-z_]*\) Pq \([a-z]*\):\{0,1\}/\1 \2/p' "$manual" | sort >"$scratch/documented"
check 'the manual has more than 20 metrics' test "$(wc -l <"$scratch/documented")" -gt 20

make_network 1
use "$quick"
ringfence attach "${port[0]}" >"$scratch/attached" || bail "attach: $(<"$scratch/attached")"
ringfence limit add any rate 10/1h >"$scratch/added"
ringfence metrics file "$scratch/told.prom"
is "$(sed -n 's/^# TYPE //p' "$scratch/told.prom" | sort)" "$(cut -d' ' -f1,2 "$scratch/documented")" \
	'the manual has exactly the exported metrics, with their types'
is "$(sed -n 's/^# HELP \([a-z_]*\) ..*/\1/p' "$scratch/told.prom" | sort)" "$(cut -d' ' -f1 "$scratch/documented")" \
	'each metric has a help'
labels() { # labels of samples, without the label of buckets
	sed -n 's/^\(ringfence_[a-z_]*\){\([^}]*\)} .*/\1 \2/p' "$scratch/told.prom" |
		sed -E 's/_(bucket|sum|count) / /; s/,?le="[^"]*"//; s/="[^"]*"//g; s/,/ /g' | sort -u
}
is "$(labels)" "$(grep -E "^($(labels | cut -d' ' -f1 | paste -sd '|')) " "$scratch/documented" | sed -E 's/^([a-z_]*) [a-z]*/\1/')" \
	'the manual has the labels of each'

for file in packaging/grafana/ringfence.json packaging/prometheus/ringfence.rules.yml docs/guides/*.md; do
	[ -e "$file" ] || continue
	unknown=
	while read -r name; do
		grep -qE "^${name%_bucket} " "$scratch/documented" || unknown+=" $name"
	done < <(grep -oE '\bringfence_[a-z_]+' "$file" | grep -vxE 'ringfence_(fence|instance)' | sort -u)
	is "$unknown" '' "$file names no other metric"
done

done_testing
