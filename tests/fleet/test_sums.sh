#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Sums of the packets that all hosts received, in seeded random walks: no sum can exceed the packets
# received within W, because otherwise sources within COUNT would be banned; and each mutant must
# produce one that does. Needs no privilege.
#
# STEPS is the number of steps in a walk; a mutant's has four times as many, up to the first sum
# that is too large.
set -u

cd "$(dirname "$0")/../.." || exit 1
. tests/cached.sh
cached include/ringfence/*.h user/{base,fleet,schema}/*.[ch] tests/{fleet,fleet/model,explorer}/*.[ch] tests/fleet/*.sh
STEPS=${STEPS:-1000000}
BUILD=build/fleet-sums
CORE=(tests/fleet/model/{ledger,sums}.c user/fleet/member.c)
REST=()
PROGRAMS=(sums_walk)
FLAGS=(-DRF_LEDGER_SLOTS=4)
. tests/fleet/mutants.sh

# run_mutant DIRECTORY sums_walk
run_mutant() {
	"$1/sums_walk" $((STEPS * 4)) | sed -n '/^not ok 1/p'
}

rm -rf "$BUILD"
build
failed=0
sums=tests/fleet/model/sums.c member=user/fleet/member.c

try_mutant "what came before W counts" $sums sum_of \
	's/window_ms > now/window_ms + 200 > now/' sums_walk || failed=1
try_mutant "what came counts from when it is told" $sums rf_sum_add \
	's/report->from_ms < ledger->newest \?.*/0;/' sums_walk || failed=1
try_mutant "cells do not move on" $sums move_on \
	's/sum->units\[i - moved\]/sum->units[i]/' sums_walk || failed=1
try_mutant "cells of another engine count" $sums is_of_this_time \
	's/sum->run == ledger->run/1/; s/sum->learns_from == ledger->learns_from/1/' sums_walk || failed=1
try_mutant "cells count after the clock was set" $sums is_of_this_time \
	's/sum->learns_from == ledger->learns_from/1/' sums_walk || failed=1
try_mutant "a report of another membership counts" $sums rf_sum_add \
	's/!rf_ledger_is_member\(ledger, call\)/0/' sums_walk || failed=1
try_mutant "the clock of another membership is used" $member rf_sum_clock_ms \
	's/ \|\| clock->joined != joined//' sums_walk || failed=1
try_mutant "the host's clock is taken for the ledger's" $member rf_sum_clock_ms \
	's/\(apart_ns - drift_ns\)/(apart_ns + drift_ns)/; s/\(apart_ns \+ drift_ns\) \/ RF_NS_PER_MS \+ 1/(apart_ns - drift_ns) \/ RF_NS_PER_MS/' sums_walk || failed=1
try_mutant "a reading is as late as the answer" $member rf_sum_clock_ms \
	's/back_ms < clock->ledger_ms \?.*/clock->ledger_ms;/' sums_walk || failed=1
"$BUILD/sums_walk" "$STEPS" >"$BUILD/rows.tap" || failed=1
print_rows "$(<"$BUILD/rows.tap")"
[ "$failed" = 0 ]
