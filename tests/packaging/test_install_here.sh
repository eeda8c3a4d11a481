#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# 'make install' without DESTDIR creates the users of the units and has systemd read the units; if
# it cannot, it prints the commands. With DESTDIR it does neither. The commands of systemd are
# fakes; tests/vm/guest_systemd.sh uses the real ones.

# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/../e2e/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../e2e/lib.sh"

tree=$scratch/tree prefix=$scratch/usr
mkdir -p "$tree/build" "$scratch/bin"
# shellcheck disable=SC2046,SC2016 # words; a variable of make
cp -a --parents $(make -s --eval 'sources: ; @echo $(RELEASED)' sources) "$tree"
cp -a build/user build/lib build/schema build/ringfence build/ringfence-* build/*.[dho] build/ringfence.lua "$tree/build"

# Each fake logs its arguments, and fails if the file NAME.fails exists.
for command in systemd-sysusers systemctl; do
	cat >"$scratch/bin/$command" <<-end
		#!/bin/sh
		echo "$command \$*" >>"$scratch/called"
		[ ! -e "$scratch/$command.fails" ]
	end
	chmod 755 "$scratch/bin/$command"
done

# Runs make, and saves its status and output under the name of the run.
run_make() { # TARGET WORD…
	rm -f "$scratch/called"
	touch "$scratch/called"
	env -u MAKEFLAGS -u MAKELEVEL -u DESTDIR PATH="$scratch/bin:$PATH" make -C "$tree" --no-print-directory \
		"$@" PREFIX="$prefix" >"$scratch/make" 2>&1
	echo "exit $?"
	grep -v '^  [A-Z]\|^rm ' "$scratch/make"
	sed 's/^/called: /' "$scratch/called"
}

users="systemd-sysusers $prefix/lib/sysusers.d/ringfence.conf $prefix/lib/sysusers.d/ringfence-watch.conf"
reload='systemctl daemon-reload'
printed="exit 0
install: before you start a unit, run as root:
  $users && $reload"

rmdir -p /run/systemd/system 2>/dev/null
is "$(run_make install)" "$printed" 'without systemd, make install prints the commands'
for file in ringfence ringfence-watch; do
	check "make install has put $file.conf where the commands look" test -s "$prefix/lib/sysusers.d/$file.conf"
done
mkdir -p /run/systemd/system
is "$(run_make install)" "exit 0
called: $users
called: $reload" 'with systemd, make install makes the users, and has the units read'
touch "$scratch/systemd-sysusers.fails"
is "$(run_make install)" "$printed
called: $users" 'where the users cannot be made, make install prints the commands'
mv "$scratch/systemd-sysusers.fails" "$scratch/systemctl.fails"
is "$(run_make install)" "$printed
called: $users
called: $reload" 'if systemd does not reply, make install prints the commands'
rm "$scratch/systemctl.fails"
is "$(run_make install DESTDIR="$scratch/root")" 'exit 0' 'with DESTDIR, make install calls nothing'
is "$(run_make uninstall DESTDIR="$scratch/root")" 'exit 0' 'with DESTDIR, make uninstall calls nothing'
is "$(run_make uninstall)" "exit 0
called: $reload" 'make uninstall has systemd forget the units'
rmdir -p /run/systemd/system 2>/dev/null
is "$(run_make uninstall)" "exit 0
uninstall: for systemd to forget the units, run as root:
  $reload" 'without systemd, make uninstall prints the command'
done_testing
