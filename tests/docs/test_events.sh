#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# docs/ringfence-event.schema.json has the types and keys of user/watch/event.c, and no others, and the
# events of random scans are valid by it.
set -u
cd "$(dirname "$0")/../.." || exit 1

schema=docs/ringfence-event.schema.json
code=user/watch/event.c
echo 1..4
is() {
	if [ "$1" = "$2" ]; then echo "ok $3"; else echo "not ok $3"; diff <(echo "$1") <(echo "$2") | sed 's/^/# /'; status=1; fi
}
status=0
is "$(jq -r '.properties.type.enum[]' $schema | sort)" \
	"$(sed -n 's/^\t\[RF_EVENT_.*\] = "\(.*\)",$/\1/p' $code | sort)" '1 - the types are those of the code'
is "$(jq -r '.properties | keys[]' $schema | sort)" \
	"$(tr -d '\n\t' <$code | grep -oE '(json_object_set_new|set_time|set_text)\((json|one), *"[a-z_]+"' | sed 's/.*"\(.*\)"/\1/' | sort -u)" \
	'2 - the keys are those of the code'
lines=$(mktemp)
trap 'rm -f "$lines"' EXIT
make -s build/tests/unit/test_events_random >/dev/null
RF_EVENTS_JSON=$lines build/tests/unit/test_events_random >/dev/null 2>&1
types=$(python3 tests/docs/validate_events.py $schema <"$lines" 2>&1)
is "$? $types" "0 $(jq -r '.properties.type.enum[]' $schema | LC_ALL=C sort)" '3 - events of each type are valid'
is "$(head -n 1 "$lines" | jq -c '.other = 1' | python3 tests/docs/validate_events.py $schema 2>&1 | grep -c "'other' was unexpected")" 1 \
	'4 - an event with another key is not'
exit $status
