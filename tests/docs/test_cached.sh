#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Tests of tests/cached.sh, with a script that records each of its runs.
set -u

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir "$tree/tests" && cp "$(dirname "$0")/../cached.sh" "$tree/tests" && cd "$tree" || exit 1
cat >script <<'end'
#!/usr/bin/env bash
. tests/cached.sh
cached source
echo ran >>runs
cat source
grep -q good source
end
chmod +x script
echo good >source
tests=0 failed=0

runs() { # TIMES STATUS NAME COMMAND…: after the command, the script has run TIMES times
	local times=$1 status=$2 name=$3 result='not ok' said

	shift 3
	said=$("$@")
	if [ "$?" = "$status" ] && [ "$(wc -l <runs)" = "$times" ] && grep -q "$(<source)" <<<"$said"; then
		result=ok
	fi
	[ "$result" = ok ] || failed=$((failed + 1))
	echo "$result $((++tests)) - $name"
}

runs 1 0 'the first run runs the script' ./script
runs 1 0 'the same files: the saved output is printed, and the script does not run' ./script
runs 2 0 'other numbers of steps are another result' env STEPS=7 ./script
echo good, too >source
runs 3 0 'another file: it is run' ./script
echo bad >source
runs 4 1 'what fails fails' ./script
runs 5 1 'and is run again' ./script
echo good >source
runs 5 0 'a previous result remains' ./script
echo '# changed' >>script
runs 6 0 'another script: it is run' ./script
echo "1..$tests"
[ "$failed" = 0 ]
