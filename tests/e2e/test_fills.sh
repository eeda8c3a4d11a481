#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Slow floods that fill the room with sources that are all in use; see test_floods.sh. They mostly
# wait, so they run in parallel with other tests.
FLOOD_FILLS=1 exec "$(dirname "$0")/test_floods.sh"
