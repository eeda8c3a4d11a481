#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The agents' unchanged claims, with two and three hosts and the ledger's rules, in seeded random
# walks in which messages, server, hosts and windows fail. The bound must hold, and each mutant must
# violate it. Needs no privilege.
#
# STEPS is the number of steps in each scene; a mutant has 16 times as many, up to the first
# violation of the bound.
set -u

cd "$(dirname "$0")/../.." || exit 1
. tests/cached.sh
cached include/ringfence/*.h user/{base,fleet,schema}/*.[ch] tests/{fleet,fleet/model,explorer}/*.[ch] tests/fleet/*.sh
STEPS=${STEPS:-100000}
BUILD=build/fleet-claims
CORE=(tests/fleet/model/ledger.c user/fleet/{member,claim_table,claims,reports}.c)
REST=(user/base/siphash.c tests/fleet/agents_{engine,fence,host,judge,scenes}.c)
PROGRAMS=(agents_walk)
FLAGS=(-DRF_LEDGER_SLOTS=4)
. tests/fleet/mutants.sh

# run_mutant DIRECTORY agents_walk SCENE
run_mutant() {
	"$1/agents_walk" $((STEPS * 16)) "$3" | sed -n '/ too many /p; /^not ok/p'
}

rm -rf "$BUILD"
build
failed=0
claims=user/fleet/claims.c reports=user/fleet/reports.c member=user/fleet/member.c ledger=tests/fleet/model/ledger.c

try_mutant "what was used is read before the lower share is in force" $reports begin_settling \
	's/claims->is_settling = claims->ports.settle.*/rf_claims_settled(claims, true, now); return;/' agents_walk 4 || failed=1
try_mutant "nobody knows whether programs have ended, and that is taken for yes" $reports rf_claims_settled \
	's/is_known \? 0 : -1/is_known * 0/' agents_walk 4 || failed=1
try_mutant "a share that could not be lowered is told as lowered" $reports lower_batch \
	's/err \|\| visit.result\[i\] == RF_SHARE_BUSY/0/' agents_walk 4 || failed=1
try_mutant "a share is lowered in the report only" $reports lower_batch \
	's/VISIT_WRITES/VISIT_READS/' agents_walk 1 || failed=1
try_mutant "windows that could not be read have used nothing" $reports report_settled \
	's/ \&\& !err//; s/const int err/int err/; s/return err/return 0 * err/' agents_walk 4 || failed=1
try_mutant "what was used is not told" $reports report \
	's/\.first, used,/.first, 0 * used,/' agents_walk 1 || failed=1
try_mutant "a window that is gone is not missed" $reports take_record \
	's/rf_claims_lose\(.*/(void)now;/' agents_walk 12 || failed=1
try_mutant "what a lost window had is given back at once" $member rf_claim_lost \
	's/claim->held \+= claim->covers/claim->held = 0/' agents_walk 12 || failed=1
try_mutant "an answer of another report is taken" $member rf_claim_answered \
	's/answer->seq != claim->seq/0/' agents_walk 3 || failed=1
try_mutant "a host is complete before it has told its claims" $claims all_are_known \
	's/if \(member->is_complete\)/if (1)/' agents_walk 6 || failed=1
try_mutant "the deadline moves by the time of the answer" $claims rf_claims_heard \
	's/beat, sent, heard/beat, now + 0 * sent, heard/' agents_walk 5 || failed=1
try_mutant "a share is kept though its claim may have ended" $reports gives_back \
	's/share \&\& is_forgotten_soon\(.*\)\)/0)/' agents_walk 14 || failed=1
try_mutant "an ask of another window does not tell that the one before is gone" $claims note_incarnation \
	's/rf_claims_lose\(.*/(void)now;/' agents_walk 12 || failed=1
try_mutant "a window gets what is wanted, not what was given" $reports fill_record \
	's/\.share = claimant->claim.share/.share = claimant->wants/' agents_walk 1 || failed=1
try_mutant "the rules move the deadline by the time of the answer" $member rf_member_heard \
	's/deadline_of\(member, sent\)/deadline_of(member, now + 0 * sent)/g' agents_walk 5 || failed=1
try_mutant "a replica that lost writes is not noticed" $ledger has_missed \
	's/ \|\| ledger->run != call->run//' agents_walk 8 || failed=1
try_mutant "a report tells no share" $member rf_claim_report \
	's/\.has = claim->has \+/.has =/' agents_walk 6 || failed=1
try_mutant "an engine that forgets twice makes hosts forget each other" $member note_members \
	's/heard->is_learning \?/heard->is_learning \&\& 0 ?/' agents_walk 16 || failed=1
try_mutant "a claim is forgotten while its use counts" $reports place_after \
	's/ \&\& !claim->covers//' agents_walk 17 || failed=1
try_mutant "what was used is not told again, only shares" $member rf_claim_is_known \
	's/claim->covers \|\| //' agents_walk 17 || failed=1
try_mutant "an answer of another membership is taken" $member rf_claim_answered \
	's/ \|\| claim->asked_in != member->joined//' agents_walk 18 || failed=1
try_mutant "an answer to an older report is taken" $member rf_claim_answered \
	's/answer->seq != claim->seq/(int32_t)(answer->seq - claim->seq) > 0/' agents_walk 19 || failed=1
try_mutant "a share ends no earlier than its claim by another clock" $member deadline_of \
	's/ - member->grace.*/;/' agents_walk 20 || failed=1
"$BUILD/agents_walk" "$STEPS" >"$BUILD/rows.tap" || failed=1
print_rows "$(<"$BUILD/rows.tap")"
[ "$failed" = 0 ]
