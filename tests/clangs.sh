#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# clangs.sh [CLANG]: prints each installed clang that is not CLANG under another name: clang-N from
# 14 on, the oldest first, and 'clang' if it is none of these.
set -u

# The compiler itself: a cache in front of all of them has one file for all.
where() {
	local path

	path=$("$1" -print-prog-name=clang 2>/dev/null) && readlink -f "$path"
}

numbered() {
	compgen -c clang- | sed -nE 's/^clang-([0-9]+)$/\1/p' | sort -nu |
		awk '$1 >= 14 { print "clang-" $1 }'
}

seen=" ${1:+$(where "$1")} "
for name in $(numbered) clang; do
	path=$(where "$name") || continue
	[[ $seen == *" $path "* ]] || echo "$name"
	seen+="$path "
done
