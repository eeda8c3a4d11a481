#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Fetches dygraphs, which draws the plots of the daemon's page, into a directory: the pinned package
# of npm, after its checksum was verified. Only if the distribution does not provide it. Without
# dygraphs the daemon is still built, and the page reports that plots are missing.
set -eu

directory=$1
version=2.2.1
sum=c67bafb2f8761ff14abc98d34a55e0269c023a12ce8b7bb4b07c3582c260fc199fdbdcba6e73b5e0f6d3cfc3301ce6b71886caaaa80a5413123a2f99d602361a

for file in /usr/share/javascript/dygraphs /usr/share/nodejs/dygraphs/dist "$directory"; do
	[ -e "$file/dygraph.min.js" ] && exit
done
download=$(mktemp -d)
trap 'rm -rf "$download"' EXIT
if ! curl -fsSL -o "$download/tgz" "https://registry.npmjs.org/dygraphs/-/dygraphs-$version.tgz"; then
	echo "make deps: dygraphs could not be fetched: the page of ringfence-watch will be without plots" >&2
	exit 0
fi
got=$(sha512sum "$download/tgz" | cut -d" " -f1)
if [ "$got" != "$sum" ]; then
	echo "make deps: dygraphs-$version.tgz has the sum $got, not $sum; it is not used" >&2
	exit 1
fi
mkdir -p "$directory"
tar -C "$download" -xzf "$download/tgz" package/dist/dygraph.min.js
mv "$download/package/dist/dygraph.min.js" "$directory/"
