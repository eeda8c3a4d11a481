#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# docs/ringfence-event.schema.json has the types and keys of user/watch/event.c, and no others.
set -u
cd "$(dirname "$0")/../.." || exit 1

schema=docs/ringfence-event.schema.json
code=user/watch/event.c
echo 1..2
is() {
	if [ "$1" = "$2" ]; then echo "ok $3"; else echo "not ok $3"; diff <(echo "$1") <(echo "$2") | sed 's/^/# /'; status=1; fi
}
status=0
is "$(jq -r '.properties.type.enum[]' $schema | sort)" \
	"$(sed -n 's/^\t\[RF_EVENT_.*\] = "\(.*\)",$/\1/p' $code | sort)" '1 - the types are those of the code'
is "$(jq -r '.properties | keys[]' $schema | sort)" \
	"$(tr -d '\n\t' <$code | grep -oE '(json_object_set_new|set_time|set_text)\((json|one), *"[a-z_]+"' | sed 's/.*"\(.*\)"/\1/' | sort -u)" \
	'2 - the keys are those of the code'
exit $status
