#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Every example of the README and of both manuals runs, in the order of the document, and prints the
# output in the document, apart from numbers. examples.awk extracts them; docs/testing.md describes
# the conventions. Examples that cannot run are in examples.skip, with the reason; a new example in
# neither place fails the test.
#
#   outside                      inside
#   out0  ------- wire 0 ------  eth0, with four sources, two of them over 100 packets a second
#   out1  ------- wire 1 ------  eth1

# shellcheck disable=SC2016 # dollars for others
# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/../e2e/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../e2e/lib.sh"
# shellcheck source=tests/docs/examples.sh
source tests/docs/examples.sh

port=([0]=eth0 [1]=eth1)
tree=$PWD
work=$scratch/work
mkdir -p /etc/ringfence "$scratch/bin" "$work"
ln -s "$tree/build/ringfence" "$scratch/bin/ringfence"
ln -s "$tree/build" "$work/build"
make_network 2

# Sources that send all the time: 192.0.2.66 and 2001:db8:66::1 over the limit, the others under it.
start outside build/tests/traffic send dev out0 to 02:00:00:00:00:02 \
	flow src=192.0.2.66,count=4000000000,rate=800 flow src=2001:db8:66::1,count=4000000000,rate=800 \
	flow src=192.0.2.1,count=4000000000,rate=50 flow src=2001:db8:1::1,count=4000000000,rate=50 \
	>"$scratch/sent" 2>&1

for document in README.md docs/ringfence.8 docs/ringfence-rules.5 docs/guides/first-hour.md; do
	run_document "$document"
done

# Proves that the comparison can fail.
: >"$scratch/rules"
printf '```\nwhat nobody has seen\n```\n\n```\n# ringfence limit add any rate 1x/1s\n```\n' >"$scratch/new.md"
mkdir "$scratch/alone"
is "$(run_document "$scratch/new.md" | grep -c '^not ok')" 2 \
	'an unknown block fails the test, and so does a command that fails'
take_off
done_testing
