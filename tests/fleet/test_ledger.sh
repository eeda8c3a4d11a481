#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The rules of the fleet's ledger and of its hosts, in worlds of two and of three hosts: all
# possible sequences in small rows, and seeded random walks through larger ones. The bound must hold
# with the unchanged rules, and each mutant must violate it, see mutants.sh. Needs no privilege.
#
# STEPS is the number of actions in the walk of each row. A mutant has 16 times as many, up to the
# first violation of the bound. ROWS selects the rows that are searched exhaustively, quick or all;
# with all, also the mutants that violate the bound only after many steps, as in `make
# explore-fleet`.
set -u

cd "$(dirname "$0")/../.." || exit 1
. tests/cached.sh
cached include/ringfence/*.h user/{base,fleet,schema}/*.[ch] tests/{fleet,fleet/model,explorer}/*.[ch] tests/fleet/*.sh
STEPS=${STEPS:-2000000}
ROWS=${ROWS:-quick}
BUILD=build/fleet
CORE=(tests/fleet/model/ledger.c user/fleet/member.c tests/fleet/{world,start,judge,normal,unread,names,order}.c)
REST=(tests/explorer/seen.c)
PROGRAMS=(search walk)
. tests/fleet/mutants.sh

# set_hosts N: the number of hosts for which code is compiled from here on.
set_hosts() {
	FLAGS=("-DHOSTS=$1" "-DRF_LEDGER_SLOTS=$1")
}

# run_mutant DIRECTORY search ROW, or DIRECTORY walk ROW [bound]: the report of the first world that
# is wrong, or differs from its normal form.
run_mutant() {
	local directory=$1 program=$2

	shift 2
	[ "$program" = search ] || set -- $((STEPS * 16)) "$@"
	"$directory/$program" "$@" | grep -m1 -A1 "$expected"
}

rm -rf "$BUILD"
set_hosts 2
build
failed=0
expected='^# .* too many'
ledger=tests/fleet/model/ledger.c member=user/fleet/member.c world=tests/fleet/world.c

try_mutant "no learning" $ledger give \
	's/ledger->is_learning \|\| !.*is_complete/0/' search 21 || failed=1
try_mutant "the ledger adds what a report adds, in place of its state" $ledger claim_at_least \
	's/return .*/return (void)limit, report->wants > report->has ? report->wants - report->has : 0;/' search 1 || failed=1
try_mutant "a share raised beyond the pool" $ledger give \
	's/free = .*/free = limit->pool + 0 * others;/' search 2 || failed=1
try_mutant "sequence numbers are ignored" $ledger rf_ledger_report \
	's/claim \&\& \(int32_t.*\)/0)/' search 1 || failed=1
try_mutant "used does not count, only the share" $ledger claim_at_least \
	's/return .*/return (void)limit, report->has;/' search 1 || failed=1
try_mutant "a claim falls before the old share has ended" $world report \
	's/host->reports\+\+/host->claim.has = host->claim.share;\n\t&/' search 5 || failed=1
try_mutant "used was read before the lower share was in force" $world wait_for_programs \
	's/ \|\| host->window.is_old//' search 5 || failed=1
try_mutant "an answer after its time-out is taken" $member rf_claim_answered \
	's/!claim->seq \|\| answer->seq != claim->seq \|\| //' walk 1 bound || failed=1
try_mutant "an answer of another membership is taken" $member rf_claim_answered \
	's/ \|\| claim->asked_in != member->joined//' walk 11 bound || failed=1
try_mutant "a share counts under another definition" $world limit_of \
	's/ \&\& window->tag == host->tag//' walk 10 bound || failed=1
try_mutant "what a lost window had is given back at once" $member rf_claim_lost \
	's/claim->held \+= claim->covers/claim->held = 0/' search 3 || failed=1
try_mutant "a report lowers the claim of another incarnation" $world report \
	's/host->incarnation != host->window.incarnation/0/' search 3 || failed=1
try_mutant "a share is written to another incarnation" $world take_answer \
	's/host->incarnation != host->window.incarnation/0/' search 3 || failed=1
try_mutant "learning is cut short" $ledger end_learning \
	's/learned < call->grace \+ ledger->window \&\& .*/0)/; s/learned < call->grace/learned < 1/' search 21 || failed=1
try_mutant "learning ends before G is over" $ledger end_learning \
	's/ \|\| learned < call->grace\)/)/' search 25 || failed=1
try_mutant "a heartbeat of another membership says complete" $ledger rf_ledger_beat \
	's/ \&\& call->joined == host->joined//' walk 4 bound || failed=1
try_mutant "claims are void after G" $ledger is_silent \
	's/grace \+ window/(void)window, grace/; s/>= \(void\)window, grace/>= grace + 0 * window/' search 17 || failed=1
try_mutant "a slot is taken while its host may live" $ledger join \
	'/nonce != call->nonce/ { n; s/return false/host->nonce = 0/ }' search 19 || failed=1
try_mutant "the clip is not kept for W" $world clip_of \
	's/i <= row->window/i < 1/' walk 3 bound || failed=1
try_mutant "in a contest an even part is given, be it free or not" $ledger give \
	's/if \(share > most\)/if (share > most || (most < limit->pool \&\& report->wants > most))/' search 31 || failed=1
try_mutant "in a contest others count with even parts, whatever they have" $ledger rf_ledger_report \
	's/sum_of\(source\) - claim->claim,/is_contested(ledger, source) ? limit->pool - even : sum_of(source) - claim->claim,/' search 31 || failed=1
try_mutant "in a contest a claim is cut to an even part before its host has lowered its share" $ledger rf_ledger_report \
	's/claim->claim = larger.*/&\n\tif (is_contested(ledger, source) \&\& claim->claim > even) claim->claim = even;/' search 31 || failed=1
if [ "$ROWS" = all ]; then
	try_mutant "the deadline moves before the host is complete" $member rf_member_heard \
		's/heard->is_complete \&\& //' search 21 || failed=1
	try_mutant "the deadline moves by the time of the answer" $member rf_member_heard \
		's/deadline_of\(member, sent\)/deadline_of(member, now + 0 * sent)/g' search 26 || failed=1
	try_mutant "an answer gives back a share that has ended" $member rf_claim_waited \
		's/claim->share < claim->has/0/' search 20 || failed=1
	try_mutant "claims are told too late" $member is_too_late \
		's/return .*/return member->is_empty \&\& now == 0;/' search 21 || failed=1
	try_mutant "shares are kept at a rejoining" $member rejoin \
		's/stays = .*/stays = heard || now;/' search 20 || failed=1
	try_mutant "an engine that forgets twice makes hosts forget each other" $member note_members \
		's/heard->is_learning \?/heard->is_learning \&\& 0 ?/' search 32 || failed=1
fi
expected='^# another world'
try_mutant "what makes a state another one: the order of reports is lost" tests/fleet/names.c normal_reports \
	's/renumber\(\&numbers\)/(*numbers.at[0] = 1)/' walk 1 || failed=1
try_mutant "what makes a state another one: a clip that still counts is lost" tests/fleet/normal.c is_for_packet \
	's/return tick == 0 \|\|/return tick == 0 \&\&/' walk 3 || failed=1
try_mutant "what makes a state another one: how long a contest lasts is lost" tests/fleet/normal.c normal_contest \
	's/until\(world/0 * until(world/' walk 15 || failed=1
try_mutant "what makes a state another one: who wants in vain is lost" tests/fleet/normal.c normal_source \
	's/ \&\& row->contests/ \&\& 0/' walk 15 || failed=1
try_mutant "what makes a state another one: how late a deadline is that is over is lost" tests/fleet/normal.c past_rank \
	's/return rank/return 0 * rank/' walk 7 || failed=1
try_mutant "what makes a state another one: who was alone is lost" tests/fleet/normal.c normal_books \
	's/row->strict \&\& //' walk 4 || failed=1
try_mutant "what makes a state another one: a claim that has to be told is lost" tests/fleet/unread.c has_nothing \
	's/used <= row->first/1/; s/\(row->strict \|\| row->steady\)/1/' walk 4 || failed=1
try_mutant "what makes a state another one: whom hosts know is lost, though the engine may forget" tests/fleet/unread.c world_unread \
	's/if \(!forgets\)//' walk 4 || failed=1
try_mutant "what makes a state another one: that claims were told is lost" tests/fleet/unread.c awaits \
	's/return is_open/return false \&\& is_open/' walk 4 || failed=1
try_mutant "what makes a state another one: a membership that is known is lost" tests/fleet/unread.c is_named \
	's/return true/continue/' walk 4 || failed=1
BUILD=build/fleet/three
set_hosts 3
build
expected='^# .* too many'
try_mutant "no learning, three hosts" $ledger give \
	's/ledger->is_learning \|\| !.*is_complete/0/' walk 11 bound || failed=1
try_mutant "a share raised beyond the pool, three hosts" $ledger give \
	's/free = .*/free = limit->pool + 0 * others;/' search 1 || failed=1
try_mutant "the claims of two hosts count, that of the third does not" $ledger sum_of \
	's/i < source->count/i < source->count \&\& i < 2/' walk 1 bound || failed=1
try_mutant "a slot is taken in the first G of learning" $ledger may_take \
	's/ \&\& ledger->newest - ledger->learns_from >= call->grace//' search 14 || failed=1
try_mutant "a slot is taken while its host may live, three hosts" $ledger join \
	'/nonce != call->nonce/ { n; s/return false/host->nonce = 0/ }' search 13 || failed=1
expected='^# another world'
try_mutant "what makes a state another one: claims under a definition that may come back are lost" tests/fleet/unread.c is_asked_for \
	's/world->changes < row->changes/0/' walk 10 || failed=1
try_mutant "what makes a state another one: which of two hosts has the slot is lost" tests/fleet/order.c swap_rivals \
	's/swap_nonce\(\&world->ledger.*//' walk 20 || failed=1
try_mutant "what makes a state another one: whose reports those of one slot are is lost" tests/fleet/names.c is_of_rival \
	's/return true/return false/' walk 20 || failed=1
BUILD=build/fleet
# Into a file, to be able to follow a long run.
{
	"$BUILD/search" "$ROWS" || failed=1
	"$BUILD/three/search" "$ROWS" || failed=1
	"$BUILD/walk" "$STEPS" || failed=1
	"$BUILD/three/walk" $((STEPS / 4)) || failed=1
} >"$BUILD/rows.tap"
print_rows "$(<"$BUILD/rows.tap")"
[ "$failed" = 0 ]
