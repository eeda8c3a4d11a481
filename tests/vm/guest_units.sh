#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The unit tests, built for the guest's architecture and run there.

# shellcheck source=tests/vm/programs.sh
source "$(dirname "$0")/programs.sh"

for test in build/tests/unit/test_*; do
	program "$test"
done
end_programs
