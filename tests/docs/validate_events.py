# SPDX-License-Identifier: GPL-2.0
# Validates events, a line of JSON each, against the schema: `validate_events.py SCHEMA < LINES`. Of
# events with the same type and keys, only the first 50. Prints the types that it found, and exits
# with 1 on a failure.
import json
import sys

import jsonschema

schema = json.load(open(sys.argv[1], encoding="utf-8"))
validator = jsonschema.Draft202012Validator(schema)
jsonschema.Draft202012Validator.check_schema(schema)
seen = {}
failures = 0
for line in sys.stdin:
    event = json.loads(line)
    kind = (event["type"], tuple(sorted(event)))
    seen[kind] = seen.get(kind, 0) + 1
    if seen[kind] > 50:
        continue
    for error in validator.iter_errors(event):
        failures += 1
        print(f"{error.message}: {line.strip()}", file=sys.stderr)
print(*sorted({kind[0] for kind in seen}), sep="\n")
sys.exit(failures > 0)
