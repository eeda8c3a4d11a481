#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# 'make install' installs everything in the right place, the installed files work there, and 'make
# uninstall' removes them and nothing else.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../e2e/lib.sh"

# In a copy of the tree, because files with paths of the installation are built again for each
# PREFIX.
root=$scratch/root tree=$scratch/tree
mkdir -p "$tree/build"
# shellcheck disable=SC2046,SC2016 # words; a variable of make
cp -a --parents $(make -s --eval 'sources: ; @echo $(RELEASED)' sources) "$tree"
cp -a build/user build/lib build/schema build/ringfence build/ringfence-* build/*.[dho] build/ringfence.lua "$tree/build"

make_quietly() {
	env -u MAKEFLAGS -u MAKELEVEL -u DESTDIR -u PREFIX make -C "$tree" "$@" >"$scratch/make" 2>&1 ||
		{ explain "make $*" "$(<"$scratch/make")" && return 1; }
}

# Type, mode, content and name of all files.
tree() {
	(cd "$root" && find . -type d -printf 'd %m %p\n' -o -type f -printf 'f %m %p ' -exec sh -c \
		'sha256sum <"$1"' sh {} \; | sort -k 3)
}

files() { # PREFIX SBINDIR: the expected list
	cat <<-end
		755 $1/$2/ringfence
		755 $1/$2/ringfence-crowdsec
		755 $1/$2/ringfence-fleet
		755 $1/$2/ringfence-watch
		644 $1/lib/bpf/ringfence.bpf.o
		755 $1/lib/ringfence/upgrade-fences
		644 $1/lib/systemd/system/ringfence-crowdsec.service
		644 $1/lib/systemd/system/ringfence-fleet@.service
		644 $1/lib/systemd/system/ringfence-notify.socket
		644 $1/lib/systemd/system/ringfence-notify@.service
		644 $1/lib/systemd/system/ringfence-repair@.service
		644 $1/lib/systemd/system/ringfence-watch.service
		644 $1/lib/systemd/system/ringfence.service
		644 $1/lib/systemd/system/ringfence@.service
		644 $1/lib/sysusers.d/ringfence-watch.conf
		644 $1/lib/sysusers.d/ringfence.conf
		644 $1/share/bash-completion/completions/ringfence
		644 $1/share/doc/ringfence/README.md
		644 $1/share/fish/vendor_completions.d/ringfence.fish
		644 $1/share/doc/ringfence/guides/attaching.md
		644 $1/share/doc/ringfence/guides/crowdsec.md
		644 $1/share/doc/ringfence/guides/defaults.md
		644 $1/share/doc/ringfence/guides/dns.md
		644 $1/share/doc/ringfence/guides/fail2ban.md
		644 $1/share/doc/ringfence/guides/first-hour.md
		644 $1/share/doc/ringfence/guides/forged-floods.md
		644 $1/share/doc/ringfence/guides/nftables.md
		644 $1/share/doc/ringfence/guides/prometheus.md
		644 $1/share/doc/ringfence/guides/two-front-ends.md
		644 $1/share/doc/ringfence/guides/users.md
		644 $1/share/ringfence/fail2ban/ringfence.conf
		644 $1/share/ringfence/grafana/ringfence.json
		644 $1/share/ringfence/prometheus/ringfence.rules.yml
		644 $1/share/ringfence/ringfence-event.schema.json
		644 $1/share/ringfence/ringfence.lua
		644 $1/share/man/man5/ringfence-json.5
		644 $1/share/man/man5/ringfence-metrics.5
		644 $1/share/man/man5/ringfence-rules.5
		644 $1/share/man/man8/ringfence-crowdsec.8
		644 $1/share/man/man8/ringfence-fleet.8
		644 $1/share/man/man8/ringfence-watch.8
		644 $1/share/man/man8/ringfence.8
		644 $1/share/zsh/site-functions/_ringfence
	end
}

installs() { # PREFIX SBINDIR
	rm -rf "$root"
	# Files of other packages.
	mkdir -p "$root$1"/{"$2",lib/bpf,share/man/man8,share/doc} "$root$1/lib/systemd/system" \
		"$root$1"/{lib/sysusers.d,share/bash-completion/completions,share/man/man5} "$root/etc" \
		"$root$1"/share/{zsh/site-functions,fish/vendor_completions.d}
	echo other >"$root$1/$2/other"
	echo other >"$root$1/lib/systemd/system/other.service"
	tree >"$scratch/before"

	check "$1, $2: make install works" make_quietly install DESTDIR="$root" PREFIX="$1" SBINDIR="$2"
	is "$(cd "$root" && find . -type f ! -name 'other*' -printf '%m /%P\n' | sort -k 2)" \
		"$(files "$1" "$2" | sort -k 2)" "$1, $2: make install puts every file in its place"
	check "$1, $2: make install makes a directory for rules" test -d "$root/etc/ringfence"
	is "$("$root$1/$2/ringfence" --version)" "$(build/ringfence --version)" "$1, $2: the installed command runs"
	is "$(grep -h '^Exec.*bin/ringfence ' "$root$1/lib/systemd/system/"ringfence* |
		grep -o '/[a-z/]*bin/ringfence ' | sort -u)" "$1/$2/ringfence " "$1, $2: the installed units run the installed command"
	is "$(grep -hoE '/[a-z/]*/(s?bin/ringfence|lib/bpf/ringfence.bpf.o)' "$root$1"/share/man/man*/ringfence* | sort -u)" \
		"$1/lib/bpf/ringfence.bpf.o" "$1, $2: the installed manuals name the installed files"
	for program in ringfence ringfence-fleet; do
		is "$(grep -aoE '[a-z/]+/ringfence\.lua' "$root$1/$2/$program" | sort -u)" "$1/share/ringfence/ringfence.lua" \
			"$1, $2: messages of $program name the installed functions"
	done
	check "$1, $2: the installed object is the built one" cmp -s build/ringfence.bpf.o \
		"$root$1/lib/bpf/ringfence.bpf.o"
	is "$(bash -c "source '$root$1/share/bash-completion/completions/ringfence' &&
		complete -p ringfence")" 'complete -F _ringfence ringfence' "$1, $2: bash reads the installed completion"

	# zsh finds the function in its directory, and it calls the installed command.
	is "$(PATH=$root$1/$2:$PATH zsh -fc "
		fpath=('$root$1/share/zsh/site-functions' \$fpath)
		_describe() { print -l \${(P)@[-1]} }
		autoload -Uz compinit && compinit -D -u && words=(ringfence limit '') CURRENT=3 PREFIX='' &&
		print \$_comps[ringfence] && _ringfence" | cut -d: -f1 | xargs)" '_ringfence add set change enforce shadow del list try' \
		"$1, $2: zsh reads the installed completion"
	is "$(PATH=$root$1/$2:$PATH HOME=$scratch fish -N -c "source '$root$1/share/fish/vendor_completions.d/ringfence.fish'
		complete -C 'ringfence limit '" | cut -f1 | xargs)" 'add set change enforce shadow del list try' "$1, $2: fish reads the installed completion"

	check "$1, $2: make uninstall works" make_quietly uninstall DESTDIR="$root" PREFIX="$1" SBINDIR="$2"
	is "$(tree)" "$(<"$scratch/before")" "$1, $2: make uninstall removes only the files of make install"
}

installs /usr sbin
installs /usr bin
installs /usr/local sbin
make_quietly install DESTDIR="$root" PREFIX=/opt/ringfence
echo 'limit add any rate 20k/1s' >"$root/etc/ringfence/eth0.rules"
make_quietly uninstall DESTDIR="$root" PREFIX=/opt/ringfence
check 'make uninstall leaves rules in place' test -s "$root/etc/ringfence/eth0.rules"
done_testing
