#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The completion of bash, as bash calls it: a row is a line so far, and the words that may come. A
# line that ends with a blank asks for the next word.

# shellcheck disable=SC2016 # dollars that nobody shall expand
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../e2e/lib.sh"

eval "$(build/ringfence completion)"

# completes LINE WORDS: in any order.
completes() {
	local words

	read -ra COMP_WORDS <<<"$1"
	[ "${1% }" = "$1" ] || COMP_WORDS+=('')
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	COMPREPLY=(left over)
	_ringfence ringfence "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
	words=$(printf '%s\n' "${COMPREPLY[@]}" | sort | xargs)
	is "$words" "$(xargs -n 1 <<<"$2" | sort | xargs)" "'$1'"
}

# offers LINE WORD…: these among others.
offers() {
	local word missing=''

	read -ra COMP_WORDS <<<"$1"
	[ "${1% }" = "$1" ] || COMP_WORDS+=('')
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	_ringfence
	for word in "${@:2}"; do
		[[ " ${COMPREPLY[*]} " == *" $word "* ]] || missing+=" $word"
	done
	is "$missing" '' "'$1': ${*:2}"
}

common='dev --json --verbose'
mapfile -t links < <(ls /sys/class/net)

# What `ringfence help` lists.
mapfile -t firsts < <(build/ringfence help | sed -n 's/^  \([a-z]*\).*/\1/p' | sort -u)
check 'there are commands' test "${#firsts[@]}" -gt 10
offers 'ringfence ' "${firsts[@]}" dev --json --verbose --version
completes 'ringfence lim' 'limit'
completes 'ringfence limit ' 'add set del list'
completes 'ringfence help limit ' 'add set del list'
completes 'ringfence help limit add ' ''
completes 'ringfence deny l' 'list load'

# Values are the user's; then comes what has to be there, then what may be.
completes 'ringfence limit add ' ''
completes 'ringfence limit add all ' 'rate'
completes 'ringfence limit set all ' 'rate'
completes 'ringfence limit add all rate ' ''
offers 'ringfence limit add all rate 20k/1s ' match dport from per per6 packets bytes algorithm \
	burst cells edge shadow count exact ban dev --json
completes 'ringfence limit add all rate 20k/1s e' 'edge exact'
completes 'ringfence limit add all rate 20k/1s edge ' 'strict weighted coarse'
completes 'ringfence limit add all rate 20k/1s exact e' 'edge'
completes 'ringfence limit add all rate 20k/1s match ' 'any tcp udp icmp proto other'
completes 'ringfence limit add all rate 20k/1s match tcp s' 'syn shadow'
completes 'ringfence limit add all rate 20k/1s match tcp dport ' ''
completes 'ringfence limit set all rate 20k/1s algorithm ' 'sliding fixed log token leaky'
completes 'ringfence limit add all rate 20k/1s count ' 'rejected'
completes 'ringfence newcomers ' 'rate off'
completes 'ringfence ban' 'bans'
offers 'ringfence bans ' list --json
completes 'ringfence unban a' 'all'
completes 'ringfence newcomers rate 1k/1s ' 'then'
completes 'ringfence newcomers rate 1k/1s then ' 'open closed aggregate'
completes 'ringfence newcomers off ' ''
completes 'ringfence allow add 192.0.2.1 ' "for $common"
completes 'ringfence allow add 2001 : db8 :: /32 ' "for $common" # as bash cuts it
completes 'ringfence top ' "by $common"
completes 'ringfence top 5 by ' 'drops rate'
completes 'ringfence top by rate ' "$common"
completes 'ringfence stats ' "watch $common"
completes 'ringfence apply README.md ' "confirm $common"
completes 'ringfence status --json ' 'dev --verbose'

# Interfaces.
completes 'ringfence detach ' "${links[*]}"
completes 'ringfence detach l' "$(printf '%s\n' "${links[@]}" | grep ^l)"
offers 'ringfence attach lo ' "${links[@]}" fence mode sources leases confirm --json
completes 'ringfence attach lo mode ' 'native generic'
completes 'ringfence attach lo mode n' 'native'
completes 'ringfence attach lo fence ' ''
completes 'ringfence status dev ' "${links[*]}"
completes 'ringfence dev ' "${links[*]}"
completes 'ringfence dev lo sav' 'save'
completes 'ringfence dev lo limit add all ' 'rate'

completes 'ringfence attach dev ' "${links[*]}"

# Interfaces may be called anything, also what stands for them, and what a shell would run.
named() { # NAME NAME: completes what there is of these
	unshare --net --mount bash -c 'mount -t sysfs none /sys && ip link add "$1" type veth peer name "$2" &&
		eval "$(build/ringfence completion)" && COMP_WORDS=(ringfence detach "") COMP_CWORD=2 &&
		FUNCNEST=50 && _ringfence && printf "%s\n" "${COMPREPLY[@]}"' bash "$@" 2>&1 | sort | xargs -d '\n'
}
is "$(named IF FILE)" 'FILE IF lo' 'an interface called IF'
is "$(named 'a$(reboot)' 'o*')" 'a\$\(reboot\) lo o\*' 'and one that must be quoted'

# Files.
completes 'ringfence apply READ' 'README.md'
completes 'ringfence check Makef' 'Makefile'
completes 'ringfence deny load LIC' 'LICENSE'
completes 'ringfence limit add all rate 20k/1s from ' 'file'
completes 'ringfence limit add all rate 20k/1s from file Makef' 'Makefile'

# A name that another could choose is never run.
mkdir "$scratch/files"
cd "$scratch/files" || exit 1
touch 'a$(touch made)' 'a b'
completes 'ringfence check a$' 'a$(touch made)'
check 'nothing was run' test ! -e made
cd "$OLDPWD" || exit 1

fails 'it takes no words' 2 "ringfence: 'more': unexpected word" build/ringfence completion more
fails 'nor --json' 2 "ringfence: '--json': completion prints a script for bash" \
	build/ringfence completion --json
is "$(complete -p ringfence)" 'complete -F _ringfence ringfence' 'bash knows whom to ask'
done_testing
