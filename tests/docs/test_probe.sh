#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The limit recommended for a fence without limits is the same in all places.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../e2e/lib.sh"

advised=$(sed -n 's/^#define RF_PROBE_COMMAND "\(.*\)"$/\1/p' user/rules/grammar.h)
matches "$advised" 'limit add probe rate [0-9]+k/1s shadow' 'the advice is a shadow limit'
is "$(LC_ALL=C grep -rhoE 'limit add probe rate [^ ]+ shadow' README.md docs/*.[58] docs/guides user |
	grep -vxF "$advised")" '' 'nothing advises another probe'
for file in docs/guides/first-hour.md docs/ringfence.8 user/daemon/www/plots.js; do
	check "$file has the advice" grep -qF "$advised" "$file"
done
sed -n 's/^#define RF_PROBE_ADVICE.*\( drops nothing.*\)"$/\1/p' user/rules/grammar.h >"$scratch/words"
check 'the page recommends the same limit' grep -qF "'ringfence $advised'$(<"$scratch/words")" user/daemon/www/plots.js
done_testing
