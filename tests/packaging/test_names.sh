#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# docs/packages.md, the recipes in packaging/, the Makefile and `make deps` name the same packages.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../e2e/lib.sh"

table=docs/packages.md
declare -A column=([apt]=3 [dnf]=4 [zypper]=5 [pacman]=6) # of the first table

# One name per line, sorted.
names() {
	xargs -n 1 | LC_ALL=C sort -u
}

# A column of the table of build requirements; with LIBRARY…, of the rows of these pkg-config names.
building() { # COLUMN [LIBRARY…]
	awk -F ' *[|] *' -v column="$1" -v libraries="${*:2}" '
		BEGIN { count = split(libraries, list, " "); for (i in list) wanted[list[i]] }
		/^## / { on = $0 == "## To build" }
		on && /^[|]/ && !/^[|](-|[^|]*[|] pkg-config )/ && (!count || $3 in wanted) { print $(column + 1) }' \
		"$table" | names
}

# A cell of the table of test requirements.
testing() { # COMMAND COLUMN
	awk -F ' *[|] *' -v command="\`$1\`" -v column="$2" '$2 == command { print $(column) }' "$table" | names
}

listed() { # MANAGER KIND…
	tests/deps.sh list "$@" | names
}

# The build requirements of the spec file; an argument selects openSUSE.
spec_requires() { # [suse]
	awk -v suse="${1:+1}" '
		/^%if .*suse_version/ { on[++depth] = suse + 0; next }
		/^%if/ { on[++depth] = 1; next }
		/^%else/ { on[depth] = !on[depth]; next }
		/^%endif/ { depth--; next }
		{ for (i = 1; i <= depth; i++) if (!on[i]) next }
		$1 == "BuildRequires:" && $2 != "systemd-rpm-macros" { print $2 }' packaging/rpm/ringfence.spec
}

# The same, with the name in COLUMN for each pkgconfig(LIBRARY).
spec_names() { # COLUMN [suse]
	local name

	spec_requires "${@:2}" | while read -r name; do
		case $name in
		'pkgconfig('*) name=${name#pkgconfig(} && building "$1" "${name%)}" ;;
		*) echo "$name" ;;
		esac
	done | names
}

# The packages that a stage of the container's recipe installs.
container_installs() { # STAGE
	awk -v stage="$1" '/^FROM/ { count++ } count == stage' packaging/container/Containerfile |
		sed -n '/apt-get install/,/[^\\]$/p' | tr -d '\\\n' |
		sed 's/.*--no-install-recommends//; s/&&.*//' | names
}

array_of_pkgbuild() { # ARRAY
	bash -c "source packaging/arch/PKGBUILD && printf '%s\n' \"\${$1[@]}\"" | names
}

# ---- the tables and `make deps` ----

is "$(building 1 | wc -l)" "$(building 1 | xargs | wc -w)" 'the table of what building needs is read'
check 'the table of what building needs has rows' test "$(building 2 | wc -l)" -ge 7
for manager in apt dnf zypper pacman; do
	is "$(listed "$manager" build)" "$(building "${column[$manager]}")" \
		"$manager: the table names what 'make deps' installs"
	for kind in demo demo-fleet test lint fuzz bench ecosystem; do
		case $kind in
		test) command='make check' ;;
		ecosystem) command='make check-ecosystem' ;;
		*) command="make $kind" ;;
		esac
		is "$(listed "$manager" "$kind")" "$(testing "$command" "${column[$manager]}")" \
			"$manager: the table names what '$command' needs"
	done
done
is "$(listed apt arm64 | sed -n 's/:arm64$//p')" \
	"$(building "${column[apt]}" | grep -E -- '-dev$|^pkg-config$' | grep -vx linux-libc-dev)" \
	'the package for arm64 is built from the same libraries'

# ---- the libraries ----

linked=$(sed -nE 's/^(|DAEMON_|AGENT_)LIBS = .*--libs ([^)]*)\).*/\2/p' Makefile)
# Required by libbpf's own pkg-config file.
is "$(echo "$linked" libelf zlib | names)" "$(building 2)" 'the Makefile links the libraries of the table'
# shellcheck disable=SC2086 # several names
set -- $linked
needed=$(readelf -d build/ringfence build/ringfence-watch build/ringfence-fleet | sed -n 's/.*(NEEDED).*\[\(lib[a-z0-9]*\)\.so.*/\1/p' | grep -vxE 'libc|libtinfo' | names) # libtinfo is part of ncurses
is "$needed" "$(for name; do echo "lib${name#lib}"; done | sed 's/^libzlib$/libz/' | names)" 'the command, the daemon and the agent need the libraries that the Makefile links'

# ---- the recipes ----

# Debian assumes build-essential without listing it.
is "$(awk '/^Build-Depends:/ { on = 1; next } /^[^ ]/ { on = 0 } on { sub(/[:,].*/, "", $1); print $1 }' \
	packaging/debian/control | grep -vE '^(debhelper-compat|dh-sequence-.*)$' |
	cat - <(echo gcc make linux-libc-dev) | names)" "$(building "${column[apt]}")" \
	"Debian's package is built from the packages of the table"
is "$(spec_names "${column[dnf]}")" "$(building "${column[dnf]}")" "Fedora's package is built from the packages of the table"
is "$(spec_names "${column[zypper]}" suse)" "$(building "${column[zypper]}")" \
	"openSUSE's package is built from the packages of the table"
is "$({ array_of_pkgbuild depends | grep -vx glibc; array_of_pkgbuild makedepends; } | names)" \
	"$(building "${column[pacman]}")" "Arch Linux's package is built from the packages of the table"
is "$(array_of_pkgbuild depends)" "$({ echo glibc; building "${column[pacman]}" "$@"; } | names)" \
	"Arch Linux's package depends on the libraries that its programs need"
is "$(container_installs 1)" "$(building "${column[apt]}")" 'the container is built from the packages of the table'
# dpkg itself needs zlib.
is "$(container_installs 2 | sed 's/-\?[0-9.]*$//')" "$({ echo iproute; echo "$needed" | grep -vx libz; } | names)" \
	'the container has the libraries that its programs need, and ip'

version=$(sed -n 's/^VERSION := //p' Makefile)
is "$(array_of_pkgbuild pkgver)" "$version" "Arch Linux's package has the version of the Makefile"
is "$(sed -n '1s/.*(\(.*\)).*/\1/p' packaging/debian/changelog)" "$version" \
	"Debian's package has the version of the Makefile"
is "$(sed -n 's/^Version:.*!?ringfence_version:\(.*\)}$/\1/p' packaging/rpm/ringfence.spec)" "$version" \
	"the package for rpm has the version of the Makefile"

# ---- `make deps` where rpm knows the packages ----

# A Fedora without jq, where zlib-ng-compat-devel provides zlib-devel.
mkdir "$scratch/bin"
ln -s "$(command -v bash)" "$(command -v env)" "$scratch/bin"
cat >"$scratch/bin/rpm" <<'end'
#!/usr/bin/env bash
case $* in
'-q --whatprovides jq' | '-q jq' | '-q zlib-devel') exit 1 ;;
esac
end
cat >"$scratch/bin/dnf" <<'end'
#!/usr/bin/env bash
echo "dnf $*"
end
printf '#!/usr/bin/env bash\necho 0\n' >"$scratch/bin/id"
chmod +x "$scratch/bin/rpm" "$scratch/bin/dnf" "$scratch/bin/id"
is "$(PATH=$scratch/bin tests/deps.sh build demo)" 'dnf install -y jq' \
	"'make deps' installs only what no installed package provides"
done_testing
