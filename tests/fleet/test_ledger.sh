#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The rules of the fleet's ledger and of its hosts, in a world of two hosts: random walks, seeded,
# over the rules as they are, where the bound must hold, and over mutants, each of which must break
# it. A mutant that survives is a failure, and so is one that cannot be made since the rules read
# otherwise now. Needs no privilege.
#
# STEPS is how many actions a walk of each row takes; `make explore-fleet` takes more.
set -u

cd "$(dirname "$0")/../.." || exit 1
STEPS=${STEPS:-8000000}
BUILD=build/fleet
CORE=(user/fleet/{ledger,member}.{h,c} tests/fleet/world.{h,c})
tried=0

build() { # DIRECTORY OPTIMIZATION
	"${CC:-cc}" -std=gnu11 "$2" -DRF_LEDGER_SLOTS=2 -I"$1/user" -I"$1/tests/fleet" -Iinclude -Itests \
		"$1"/user/fleet/{ledger,member}.c "$1/tests/fleet/world.c" tests/fleet/walk.c \
		-o "$1/search"
}

copy() { # DIRECTORY
	local file

	for file in "${CORE[@]}"; do
		install -Dm 644 "$file" "$1/$file"
	done
}

# try_mutant NAME FILE FUNCTION COMMAND: changes that function by a sed -E command.
try_mutant() {
	local directory=$BUILD/mutant-$((++tried)) output

	copy "$directory"
	sed -i -E "/^[a-z].*\\<$3\\(/,/^}/ { $4 }" "$directory/$2"
	if cmp -s "$2" "$directory/$2"; then
		echo "not ok $tried - mutant: $1: cannot be made, $3 reads otherwise now"
		return 1
	fi
	if ! build "$directory" -O1 2>"$directory.log"; then
		echo "not ok $tried - mutant: $1: does not compile"
		return 1
	fi
	output=$(timeout 60 "$directory/search" "$STEPS")
	if grep -q '^# .* too many' <<<"$output"; then
		echo "ok $tried - mutant is caught: $1"
		echo "# $(sed -n 's/^not ok [0-9]* - //p' <<<"$output" | head -n 1)"
	else
		echo "not ok $tried - mutant survives: $1"
		return 1
	fi
}

rm -rf "$BUILD"
copy "$BUILD/as-is"
if ! build "$BUILD/as-is" -O2; then
	echo "1..1"
	echo "not ok 1 - the rules compile"
	exit 1
fi
failed=0
ledger=user/fleet/ledger.c member=user/fleet/member.c world=tests/fleet/world.c

try_mutant "no learning" $ledger give 's/ledger->is_learning \|\| !.*is_complete/0/' || failed=1
try_mutant "learning is cut short" $ledger end_learning 's/learned < call->grace \+ ledger->window \&\& .*/0)/; s/learned < call->grace/learned < 1/' || failed=1
try_mutant "learning ends before G once all are complete" $ledger end_learning 's/ \|\| learned < call->grace\)/)/' || failed=1
try_mutant "the ledger adds what a report adds, in place of its state" $ledger claim_at_least \
	's/return .*/return (void)limit, report->wants > report->has ? report->wants - report->has : 0;/' || failed=1
try_mutant "a share raised beyond the pool" $ledger give 's/limit->pool - others : 0/limit->pool : 0/' || failed=1
try_mutant "sequence numbers are ignored" $ledger rf_ledger_report 's/claim \&\& \(int32_t.*\)/0)/' || failed=1
try_mutant "claims are void after G" $ledger is_silent 's/grace \+ window/(void)window, grace/; s/>= \(void\)window, grace/>= grace + 0 * window/' || failed=1
try_mutant "used does not count, only the share" $ledger claim_at_least 's/return .*/return (void)limit, report->has;/' || failed=1
try_mutant "a claim falls before the old share has ended" $world report 's/wants = more/host->claim.has = host->claim.share;\n\twants = more/' || failed=1
try_mutant "used was read before the lower share was in force" $world wait_for_programs 's/ \|\| host->window.is_old//' || failed=1
try_mutant "an answer after its time-out is taken" $member rf_claim_answered 's/!claim->seq \|\| answer->seq != claim->seq \|\| //' || failed=1
try_mutant "an answer of another membership is taken" $member rf_claim_answered 's/ \|\| claim->asked_in != member->joined//' || failed=1
try_mutant "the deadline moves before the host is complete" $member rf_member_heard 's/heard->is_complete \&\& //' || failed=1
try_mutant "a share counts under another definition" $world limit_of 's/ \&\& window->tag == host->tag//' || failed=1
try_mutant "what a lost window had is given back at once" $member rf_claim_lost 's/claim->held \+= claim->covers/claim->held = 0/' || failed=1
try_mutant "the clip is not kept for W" $world clip_of 's/i < row->window/i < 1/' || failed=1
mutants=$tried
output=$("$BUILD/as-is/search" "$STEPS") || failed=1
rows=$(grep -c '^\(not \)\?ok' <<<"$output")
grep -v '^1\.\.' <<<"$output" | awk -v from="$mutants" '
	/^(not )?ok / { sub(/ok [0-9]+/, "ok " ++from) }
	{ print }'
echo "1..$((mutants + rows))"
[ "$rows" -gt 0 ] && [ "$failed" = 0 ]
