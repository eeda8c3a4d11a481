#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Ten minutes of floods next to known sources, with every attack, number of limits, policy and
# family. First all combinations run in simulated time; then real frames run on two CPUs, in all
# combinations of number of limits and policy. The tables are printed at the end; a row fails if
# known sources lost packets. FLOOD_SECONDS is the duration of each flood of real frames (20).
set -u
cd "$(dirname "$0")/.." || exit 1

[ "$(id -u)" = 0 ] || {
	echo "soak: it makes network namespaces and loads programs; run it as root" >&2
	exit 1
}

output=$(mktemp)
trap 'rm -f "$output"' EXIT
status=0

# For each simulated row: ATTACK LIMITS POLICY FAMILY, the loss of the known sources, and the
# newcomers' success.
print_simulated() {
	awk '
		/^#   newcomers:/ { sub(/^#   newcomers: /, ""); newcomers = $0 }
		/^#   known:/ { sub(/^#   known: /, ""); known = $0 }
		/^(ok|not ok) [0-9]+ - known lose nothing: / {
			result = /^ok/ ? "ok" : "NOT OK"
			sub(/^.*known lose nothing: /, "")
			printf "# %-6s %-46s %s; %s\n", result, $0, known, newcomers
		}' "$output"
}

echo '# simulated'
RF_SOAK=1 CMOCKA_MESSAGE_OUTPUT=TAP build/tests/prog/test_residents >"$output" 2>&1 || status=1
print_simulated
grep '^not ok' "$output"
printf '# %d of %d rows lost nothing, in %d s\n' "$(grep -c '^ok' "$output")" \
	"$(grep -cE '^(not )?ok' "$output")" "$SECONDS"

echo '# real frames'
FLOOD_SOAK=1 FLOOD_SECONDS=${FLOOD_SECONDS:-20} tests/e2e/test_floods.sh >"$output" 2>&1 || status=1
grep -E '^(# |not ok|Bail out)' "$output"
printf '# %d of %d checks held, in %d s in all\n' "$(grep -c '^ok' "$output")" \
	"$(grep -cE '^(not )?ok' "$output")" "$SECONDS"
exit $status
