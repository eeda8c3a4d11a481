#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Chains of XDP programs, in a guest, since not every kernel that tests run on lets them be made: the
# end-to-end test itself, where nothing may be skipped.
set -u

tests/e2e/test_chain.sh | sed -u 's/^ok \([0-9]* - .*\) # SKIP/not ok \1, which is skipped:/'
exit "${PIPESTATUS[0]}"
