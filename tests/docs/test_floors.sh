#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The lint of floors detects violations: each rule is broken once, in a copy of the tree.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../e2e/lib.sh"

tree=$scratch/tree
mkdir -p "$tree/build/user" "$tree/tests"
cp -r bpf include user "$tree"
cp -r tests/lint tests/lint.sh "$tree/tests"
for folder in user/*/; do
	mkdir "$tree/build/$folder"
	cp "build/$folder"*.o "$tree/build/$folder"
done

complaints() {
	(cd "$tree" && tests/lint.sh user/*/*.[ch] 2>&1 | sort)
}

# append FILE LINE…: to a source, and the compiled lines to its object.
append() {
	printf '%s\n' "${@:2}" >>"$tree/$1"
	printf '%s\n' "${@:2}" | "${CC:-cc}" -x c -c - -o "$scratch/more.o" &&
		ld -r "$tree/build/${1%.c}.o" "$scratch/more.o" -o "$scratch/both.o" &&
		mv "$scratch/both.o" "$tree/build/${1%.c}.o"
}

# complained TEXT NAME
complained() {
	check "$2" grep -qF -- "$1" "$scratch/complaints"
}

is "$(complaints)" '' 'the unchanged tree has no violation'

append user/base/text.c 'int rf_fence_lock(void *error);' \
	'int rf_call_up(void) { return rf_fence_lock(0); }'
append user/rules/policy.c 'int rf_map_id(int fd);' 'int rf_call_beside(void) { return rf_map_id(0); }'
append user/cli/out.c 'int rf_view_turn(void);' 'int rf_out_turn(void) { return rf_view_turn(); }'
append user/cli/view.c 'int rf_out_turn(void);' 'int rf_view_turn(void) { return rf_out_turn(); }'
echo '#include "attach/attach.h"' >>"$tree/user/fence/lock.c"
echo '#include "attach/attach.h"' >>"$tree/user/doctor/facts.h"
echo '#include "fence/private.h"' >>"$tree/user/attach/load.c"
echo '#include "kernel/log.h"' >>"$tree/user/kernel/names.h"
echo '#include "kernel/names.h"' >>"$tree/user/kernel/log.h"
echo '#include <bpf/bpf.h>' >>"$tree/user/cli/main.c"
echo '#include "bpf/bans.h"' >>"$tree/user/base/prefix.h"
mkdir -p "$tree/user/cellar" "$tree/build/user/cellar"
echo '#include <errno.h>' >"$tree/user/cellar/wine.c"
cp "$tree/build/user/base/json.o" "$tree/build/user/cellar/wine.o"
yes '' | head -n 130 >>"$tree/user/attach/private.h"
complaints >"$scratch/complaints"

complained 'user/base/text.c: calls rf_fence_lock of user/fence/lock.c' 'an upward call is found'
complained 'user/rules/policy.c: calls rf_map_id of user/kernel/pins.c' 'a call to a folder that is not below is found'
complained 'user/fence/lock.c: includes user/attach/attach.h' 'an upward include is found'
complained 'user/doctor/facts.h: includes user/attach/attach.h' 'an include from a folder that is not below is found'
complained 'user/attach/load.c: includes user/fence/private.h, which is private to fence' \
	'a private header of another folder is found'
complained 'user/cli/main.c: includes libbpf' 'a library that is not for a folder is found'
complained 'user/base/prefix.h: includes bpf/bans.h' 'what base must not know is found'
check 'a circle of calls is found' grep -qE \
	'^a circle of objects: user/cli/(out|view).c -> user/cli/(view|out).c' "$scratch/complaints"
check 'a circle of includes is found' grep -qE \
	'^a circle of includes: user/kernel/(log|names).h -> ' "$scratch/complaints"
complained 'user/cellar/wine.c: it has no floor' 'a folder without a floor is found'
complained 'user/attach/private.h: a private header of over 130 lines' 'a long private header is found'
done_testing
