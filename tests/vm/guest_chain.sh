#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Chains of XDP programs, in a guest, because some kernels that run the tests do not support chains.
# It runs the end-to-end test itself, and no test may be skipped.
set -u

RF_PRIVATE_MOUNTS=made tests/e2e/test_chain.sh | sed -u 's/^ok \([0-9]* - .*\) # SKIP/not ok \1, which is skipped:/'
exit "${PIPESTATUS[0]}"
