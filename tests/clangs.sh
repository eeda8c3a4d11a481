#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# clangs.sh [CLANG]: prints each installed clang that is not the same as CLANG: clang-N for N of 14
# and later, in ascending order, and 'clang' if it is a different one.
set -u

# The path of the compiler itself: if a cache wraps all compilers, they share one file.
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
