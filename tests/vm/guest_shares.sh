#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A fence that was attached with `fleet`, in a guest: the effect of shares, also while two CPUs use
# them, the calls of the fleet's agent, and upgrades in place.

# shellcheck source=tests/vm/programs.sh
source "$(dirname "$0")/programs.sh"

for test in build/tests/prog/test_shares{,_race}; do
	program "$test"
done
RF_PRIVATE_MOUNTS=made program tests/e2e/test_shares.sh
end_programs
