#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Writes the seeds of the fuzzers of packets, DNS messages and the limiter into the tree: from the
# seeds that build/fuzz/seeds creates; of packets, only the ones that reach code which no smaller
# seed reaches. The seeds of the grammar are text, written by hand. Run this when the parser, its
# table of frames, the table of DNS messages, or a struct of the limiter's input has changed.
set -eu
cd "$(dirname "$0")/../.."

all=$(mktemp -d)
trap 'rm -rf "$all"' EXIT
mkdir "$all/packet" "$all/dns" "$all/limiter" "$all/chosen"
build/fuzz/seeds "$all"

build/fuzz/fuzz_packet -set_cover_merge=1 -use_counters=0 "$all/chosen" "$all/packet" 2>"$all/log"
rm -f tests/fuzz/corpus/{packet,dns,limiter}/*
for seed in "$all"/packet/*; do
	[ -e "$all/chosen/$(sha1sum <"$seed" | cut -d' ' -f1)" ] && cp "$seed" tests/fuzz/corpus/packet/
done
cp "$all"/dns/* tests/fuzz/corpus/dns/
cp "$all"/limiter/* tests/fuzz/corpus/limiter/
find tests/fuzz/corpus -type f -printf '%s\n' |
	awk '{ bytes += $1 } END { print NR " seeds, " bytes " bytes" }'
