#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The events of random scans are valid by the JSON schema generated from schema/events.def, and
# include each type and each key of it.
set -u
cd "$(dirname "$0")/../.." || exit 1

schema=build/schema/ringfence-event.schema.json
echo 1..3
is() {
	if [ "$1" = "$2" ]; then echo "ok $3"; else echo "not ok $3"; diff <(echo "$1") <(echo "$2") | sed 's/^/# /'; status=1; fi
}
status=0
lines=$(mktemp)
trap 'rm -f "$lines"' EXIT
make -s build/tests/unit/test_events_random >/dev/null
RF_EVENTS_JSON=$lines build/tests/unit/test_events_random >/dev/null 2>&1
is "$(jq -r 'keys[]' "$lines" | LC_ALL=C sort -u | paste -sd' ')" "$(jq -r '.properties | keys[]' $schema | LC_ALL=C sort | paste -sd' ')" \
	'1 - events have each key of the schema, and no other'
types=$(python3 tests/docs/validate_events.py $schema <"$lines" 2>&1)
is "$? $types" "0 $(jq -r '.properties.type.enum[]' $schema | LC_ALL=C sort)" '2 - events of each type are valid'
is "$(head -n 1 "$lines" | jq -c '.other = 1' | python3 tests/docs/validate_events.py $schema 2>&1 | grep -c "'other' was unexpected")" 1 \
	'3 - an event with another key is not'
exit $status
