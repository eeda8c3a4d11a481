#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The recipes for rpm and Arch Linux build, and the resulting packages are complete. This is Debian,
# so rpm and pacman get separate databases, where each package in docs/packages.md is registered as
# installed. With these they check the requirements of the recipes.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../e2e/lib.sh"

table=docs/packages.md
chmod 755 "$scratch" # makepkg runs as the user nobody

make_quietly() {
	env -u MAKEFLAGS -u MAKELEVEL -u DESTDIR -u PREFIX make "$@" >"$scratch/log" 2>&1
}

# The rows of the table of build requirements, as NAME LIBRARY: the name in COLUMN, and its name in
# pkg-config, if any.
building() { # COLUMN
	awk -F ' *[|] *' -v column="$1" '
		/^## / { on = $0 == "## To build" }
		on && $(column + 1) && /^[|]/ && !/^[|](-|[^|]*[|] pkg-config )/ { print $(column + 1), $3 }' "$table"
}

# A spec file of empty packages that provide the same names as the packages of a distribution.
stand_ins() { # COLUMN
	local name library

	printf '%s\n' 'Name: stand-ins' 'Version: 99' 'Release: 1' 'Summary: x' 'License: x' \
		'BuildArch: noarch' '%description' '%package -n systemd-rpm-macros' 'Summary: x' \
		'%description -n systemd-rpm-macros' '%files -n systemd-rpm-macros'
	building "$1" | while read -r name library; do
		printf '%s\n' "%package -n $name" 'Summary: x'
		[ -z "$library" ] || echo "Provides: pkgconfig($library) = %{version}"
		printf '%s\n' "%description -n $name" "%files -n $name"
	done
}

# Creates the database of rpm for a distribution.
make_rpm_database() { # DIRECTORY COLUMN
	stand_ins "$2" >"$1.spec"
	mkdir -p "$1"
	rpmbuild -bb --nodeps --define "_topdir $1.build" "$1.spec" >"$scratch/log" 2>&1 ||
		bail "cannot make stand-ins: $(tail -n 3 "$scratch/log")"
	rpm --dbpath "$1" --install --justdb --nodeps "$1".build/RPMS/noarch/*.rpm >"$scratch/log" 2>&1 ||
		bail "cannot make a database of rpm: $(tail -n 3 "$scratch/log")"
}

make_rpm() { # DATABASE MACRO…
	local flags="--dbpath $1" macro

	for macro in "${@:2}"; do
		flags+=" --define '$macro'"
	done
	rm -rf build/rpm
	make_quietly rpm RPM_FLAGS="$flags"
}

# unpack FILE: into $scratch/root
unpack() { # PACKAGE…
	local package

	rm -rf "$scratch/root"
	mkdir "$scratch/root"
	for package; do
		bsdtar -xf "$package" -C "$scratch/root"
	done
}

# Checks that the package is complete, and that its files work.
is_whole() { # NAME SBINDIR
	local root=$scratch/root

	is "$("$root/usr/$2/ringfence" --version)" "$(build/ringfence --version)" "$1: the command of the package runs"
	is "$(bpftool btf dump file "$root/usr/lib/bpf/ringfence.bpf.o" 2>&1 | sha256sum)" \
		"$(bpftool btf dump file build/ringfence.bpf.o | sha256sum)" "$1: the object of the package has its BTF"
	is "$(cat "$root"/usr/lib/systemd/system/ringfence* | grep -o '/usr/[a-z]*bin/ringfence' | sort -u)" \
		"/usr/$2/ringfence" "$1: the units run the command where the package has it"
	is "$(find "$root/etc" -type f -printf '/%P\n')" /fail2ban/action.d/ringfence.conf \
		"$1: the package has the action for fail2ban"
	is "$(find "$root" -path '*/man/man?/ringfence*' | wc -l)" "$(printf '%s\n' docs/*.[1-8] | wc -l)" \
		"$1: the package has every manual"
	check "$1: the page of the daemon has its plots" has_plots "$2"
	is "$(readelf -SW "$root/usr/$2/ringfence" "$root/usr/$2/ringfence-watch" "$root/usr/$2/ringfence-fleet" 2>&1 | grep -E '\.debug_info|Error')" '' \
		"$1: the programs of the package have no debug information"
	is "$(grep -rlF --exclude=.BUILDINFO "$PWD" "$root")" '' "$1: the package names no directory of its build"
}

# The first bytes of dygraphs as embedded in the daemon, and of a file, in hexadecimal.
has_plots() { # SBINDIR
	local first

	first=$(sed '/^\/\/# sourceMappingURL/d' /usr/share/javascript/dygraphs/dygraph.min.js | gzip -9n | head -c 400 | od -An -v -tx1 | tr -d ' \n')
	[ "${#first}" = 800 ] && od -An -v -tx1 "$scratch/root/usr/$1/ringfence-watch" | tr -d ' \n' | grep -qF "$first"
}

linked=$(sed -nE 's/^(|DAEMON_|AGENT_)LIBS = .*--libs ([^)]*)\).*/\2/p' Makefile)

# ---- rpm ----

rpm_is_whole() { # NAME SBINDIR RECOMMENDED SUGGESTED
	local package watch fleet both name file

	package=$(echo build/rpm/RPMS/*/ringfence-[0-9]*.rpm)
	watch=$(echo build/rpm/RPMS/*/ringfence-watch-*.rpm)
	fleet=$(echo build/rpm/RPMS/*/ringfence-fleet-*.rpm)
	both=("$package" "$watch" "$fleet")
	is "$(rpm -qpl "$package" | grep -E 'ringfence-fleet|libhiredis')" '' "$1: the agent is not in the package of the command"
	is "$(rpm -qpl "$package" | grep -E 'ringfence-watch|libmicrohttpd')" '' "$1: the daemon is not in the package of the command"
	matches "$(rpm -qp --requires "$watch" | grep '^ringfence ')" 'ringfence = .*' "$1: the package of the daemon requires the command"
	unpack "${both[@]}"
	is_whole "$1" "$2"
	for name in $linked; do
		file=lib${name#lib}.so
		[ "$name" = zlib ] && file=libz.so
		matches "$(rpm -qp --requires "${both[@]}" | grep -F "$file" | head -n 1)" \
			"${file//./\\.}\..*" "$1: the packages require $name"
	done
	is "$(rpm -qp --requires "$package" | grep -E 'python|/env$')" '' "$1: the package does not require Python"
	is "$(rpm -qp --recommends --suggests "$package" | xargs)" "$3 $4 python3" "$1: the package recommends ip"
	is "$(rpm -qp --conflicts --obsoletes "${both[@]}")" '' "$1: the package is in nobody's way"
}

make_rpm_database "$scratch/fedora" 4
make_rpm_database "$scratch/suse" 5
check "Fedora: 'make rpm' builds with what the table names" \
	make_rpm "$scratch/fedora" 'fedora 44' '_sbindir %{_bindir}'
rpm_is_whole Fedora bin iproute fail2ban-server
check "openSUSE: 'make rpm' builds with what the table names" make_rpm "$scratch/suse" 'suse_version 1699'
rpm_is_whole openSUSE sbin iproute2 fail2ban
rpm --dbpath "$scratch/fedora" --erase --justdb --nodeps libxdp-devel 2>"$scratch/log"
make_rpm "$scratch/fedora" 'fedora 44' && fail "Fedora: 'make rpm' builds without libxdp-devel"
matches "$(grep -F 'pkgconfig(libxdp)' "$scratch/log")" '.*pkgconfig\(libxdp\) >= 1\.3 is needed by ringfence.*' \
	'rpm names the library that is missing'

# ---- Arch Linux ----

# A package counts as installed if it is in pacman's local database.
installed() { # NAME
	mkdir -p "$scratch/pacman/local/$1-99-1"
	printf '%%NAME%%\n%s\n\n%%VERSION%%\n99-1\n\n' "$1" >"$scratch/pacman/local/$1-99-1/desc"
	: >"$scratch/pacman/local/$1-99-1/files"
}

mkdir -p "$scratch/pacman/local"
echo 9 >"$scratch/pacman/local/ALPM_DB_VERSION"
installed glibc
while read -r name _; do
	installed "$name"
done < <(building 6)
printf '#!/bin/sh\nexec pacman --dbpath %s "$@"\n' "$scratch/pacman" >"$scratch/with-database"
chmod +x "$scratch/with-database"
export PACMAN=$scratch/with-database

check "Arch Linux: 'make arch' builds with what the table names" make_quietly arch MAKEPKG_FLAGS=
is "$(grep -E 'WARNING|ERROR' "$scratch/log")" '' 'makepkg complains of nothing in the package'
unpack build/arch/ringfence-*.pkg.tar.*
is_whole 'Arch Linux' bin
check 'Arch Linux: the package has no other directory of programs' test ! -e "$scratch/root/usr/sbin"
rm -r "$scratch/pacman/local/libxdp-99-1"
make_quietly arch MAKEPKG_FLAGS= && fail "Arch Linux: 'make arch' builds without libxdp"
matches "$(grep -A 1 -F 'Missing dependencies' "$scratch/log" | xargs)" '.*Missing dependencies: -> libxdp' \
	'makepkg names the package that is missing'
done_testing
