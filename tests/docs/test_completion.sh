#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The completions of bash, zsh and fish, with an attached fence: a row is the start of a line, and
# the words that can follow. A line that ends with a blank requests the next word.
#
#   outside                      inside
#   out0  ------- wire 0 ------  eth0, with a fence
#   out1  ------- wire 1 ------  eth1

# shellcheck disable=SC2016 # dollars that must not be expanded
# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/../e2e/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../e2e/lib.sh"

port=([0]=eth0 [1]=eth1)
make_network 2
mkdir "$scratch/bin" "$scratch/home"

# The command that the shells find: ringfence, inside.
printf '#!/bin/sh\nexec nsenter --net=/run/netns/rf-test-%s-inside %s/build/ringfence "$@"\n' $$ "$PWD" \
	>"$scratch/bin/ringfence"
chmod +x "$scratch/bin/ringfence"
export PATH=$scratch/bin:$PATH HOME=$scratch/home

for command in 'attach eth0' 'limit add any rate 20k/1s' 'limit add only rate 1/1h match udp ban 1h' \
	'allow add 203.0.113.0/24' 'allow add 2001:db8:a::/48' 'allow add 2001:db8:b::/48' \
	'deny add 192.0.2.66 for 1h by blocklist'; do
	# shellcheck disable=SC2086 # words
	ringfence $command >"$scratch/out" || bail "cannot $command"
done
deliver 0 src=198.51.100.7,proto=udp,count=3

# ---- the shells ----

eval "$(build/ringfence completion)"

# Bash passes pieces of words that it has split at colons.
bash_completes() { # LINE
	local piece

	COMP_LINE=$1 COMP_POINT=${#1}
	# shellcheck disable=SC2001 # a run of colons is one piece
	read -ra COMP_WORDS <<<"$(sed 's/:\+/ & /g' <<<"$1")"
	[[ $1 != *[[:blank:]] ]] || COMP_WORDS+=('')
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	COMPREPLY=(left over)
	_ringfence ringfence "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
	for piece in "${COMPREPLY[@]}"; do echo "$piece"; done
}

# Input of zsh's completion system, and the words that match, from the words passed to it.
cat >"$scratch/ask.zsh" <<'end'
compdef() { :; }
source <(ringfence completion zsh)
_describe() {
	local one
	for one in ${(P)@[-1]}; do
		one=${one//\\:/$'\n'} one=${one%%:*} one=${one//$'\n'/:}
		[[ $one != ${(Q)PREFIX}* ]] || print -r -- ${(q)one}
	done
}
_files() { print -rl -- ${~PREFIX}*(N) }
words=(${(z)1}) PREFIX=${1##* }
[[ $1 != *' ' ]] || words+=('')
CURRENT=$#words
_ringfence
end

zsh_completes() {
	zsh -f "$scratch/ask.zsh" "$1"
}

fish_completes() {
	fish -N -c 'ringfence completion fish | source; complete -C $argv[1]' "$1" | cut -f1
}

shells=(bash zsh fish)
for shell in "${shells[@]}"; do
	command -v "$shell" >"$scratch/out" || bail "there is no $shell; run 'make deps-test'"
done

# completes LINE WORDS: in any order, in each of the shells.
completes() {
	local shell want

	want=$(xargs -n 1 <<<"$2" | sort | xargs)
	for shell in "${shells[@]}"; do
		is "$("${shell}_completes" "$1" | sort | xargs -d '\n')" "$want" "$shell: '$1'"
	done
}

# offers LINE WORD…: these words, and others.
offers() {
	local shell word missing words

	for shell in "${shells[@]}"; do
		words=$("${shell}_completes" "$1" | xargs -d '\n') missing=''
		for word in "${@:2}"; do
			[[ " $words " == *" $word "* ]] || missing+=" $word"
		done
		is "$missing" '' "$shell: '$1': ${*:2}"
	done
}

common='dev --json --verbose'

# ---- the words of the table ----

mapfile -t firsts < <(build/ringfence completion table | sed 's/[ :].*//' | sort -u)
check 'the table lists more than 10 first words' test "${#firsts[@]}" -gt 10
offers 'ringfence ' "${firsts[@]}" dev --json --verbose --version
completes 'ringfence lim' 'limit'
completes 'ringfence limit ' 'add set change enforce shadow del list try'
completes 'ringfence help limit ' 'add set change enforce shadow del list try'
completes 'ringfence help limit add ' ''
completes 'ringfence deny l' 'list load'
completes 'ringfence completion ' "bash zsh fish $common"

# Values are entered by the user; next are the required words, then the optional ones.
completes 'ringfence limit add ' ''
completes 'ringfence limit add any ' 'rate'
completes 'ringfence limit set any ' 'rate'
offers 'ringfence limit change any ' rate from no confirm
completes 'ringfence limit change any no e' 'edge exact'
completes 'ringfence limit add any rate ' ''
offers 'ringfence limit add any rate 20k/1s ' match dport sport to length flags from per per6 packets bytes algorithm fleet initial offline \
	burst cells edge shadow count exact ban confirm dev --json
completes 'ringfence limit add any rate 20k/1s e' 'edge exact'
completes 'ringfence limit add any rate 20k/1s edge ' 'strict weighted coarse'
completes 'ringfence limit add any rate 20k/1s exact e' 'edge'
completes 'ringfence limit add any rate 20k/1s match ' 'any tcp udp icmp proto other'
completes 'ringfence limit add any rate 20k/1s match tcp s' 'syn sport shadow'
completes 'ringfence limit add any rate 20k/1s match udp s' 'sport shadow'
completes 'ringfence limit add any rate 20k/1s match tcp dport ' ''
completes 'ringfence limit set any rate 20k/1s algorithm ' 'sliding fixed log token leaky'
completes 'ringfence limit add any rate 20k/1s count ' 'rejected'
completes 'ringfence limit add any rate 20k/1s ban 1h a' 'all algorithm'
completes 'ringfence limit add any rate 20k/1s ban 1h all a' 'algorithm'
completes 'ringfence limit add any rate 20k/1s fleet offline ' 'initial'
completes 'ringfence fleet ' 'join leave run check status show top gone hosts bans'
completes 'ringfence fleet top by ' 'drops rate hosts'
completes 'ringfence fleet bans f' 'flush'
completes 'ringfence fleet join eth0 redis a:1 hosts 3 bans ' 'take'
completes 'ringfence deny add 192.0.2.0/24 f' 'for fleet force'
completes 'ringfence deny add 192.0.2.0/24 c' 'confirm'
completes 'ringfence deny load LICENSE f' 'force'
completes 'ringfence allow del 192.0.2.0/24 f' 'force'
completes 'ringfence allow flush f' 'force'
completes 'ringfence batch LICENSE s' 'skip-refused'
completes 'ringfence batch LICENSE c' 'confirm'
completes 'ringfence limit add any rate 0 match tcp f' 'flags from fleet force'
completes 'ringfence limit enforce any f' 'force'
completes 'ringfence allow add 192.0.2.0/24 f' 'for'
completes 'ringfence fleet join eth0 ' 'redis'
completes 'ringfence fleet join eth0 redis a:1 key ' 'file'
completes 'ringfence fleet join eth0 redis a:1 password ' 'file'
completes 'ringfence newcomers ' 'rate off'
completes 'ringfence newcomers rate 1k/1s ' 'then'
completes 'ringfence newcomers rate 1k/1s then ' 'pass drop aggregate challenge'
completes 'ringfence newcomers rate 1k/1s then drop e' 'except'
completes 'ringfence newcomers rate 1k/1s then drop except ' 'established'
completes 'ringfence newcomers rate 1k/1s then challenge ' "except answers dns $common"
completes 'ringfence newcomers rate 1k/1s then challenge dns n' 'none'
completes 'ringfence newcomers off ' ''
completes 'ringfence ban' 'bans'
offers 'ringfence bans ' list --json
completes 'ringfence allow add 192.0.2.1 ' "by for $common"
completes 'ringfence allow add 2001:db8::/32 ' "by for $common"
completes 'ringfence top ' "at by limit sample within $common"
completes 'ringfence events ' "watch since until of from $common"
completes 'ringfence events of f' 'flood_started flood_ended fleet_offline fleet_online'
completes 'ringfence events of ban_ended,f' 'ban_ended,flood_started ban_ended,flood_ended ban_ended,fleet_offline ban_ended,fleet_online'
completes 'ringfence events of flood_ended,ban_ended,f' 'flood_ended,ban_ended,flood_started flood_ended,ban_ended,fleet_offline flood_ended,ban_ended,fleet_online'
completes 'ringfence events of ban_ended, f' 'flood_started flood_ended fleet_offline fleet_online'
completes 'ringfence events watch of map_errors,w' 'map_errors,windows_full'
completes 'ringfence events of map_errors,zz' ''
completes 'ringfence events of ban_ended,flood_ended ' "watch since until from $common"
completes 'ringfence capture ' 'write'
completes 'ringfence capture write f one ' in
completes 'ringfence capture write f one in 5 reason no' 'no_limit non_ip no_window'
completes 'ringfence top 5 by ' 'drops rate used'
completes 'ringfence top by rate ' "at limit sample within $common"
completes 'ringfence top limit o' 'only'
completes 'ringfence stats ' "at reasons reset total watch $common"
completes 'ringfence apply README.md ' "confirm $common"
completes 'ringfence status --json ' 'dev --verbose'

# ---- names of existing objects ----

completes 'ringfence detach ' 'eth0 eth1 lo'
completes 'ringfence detach l' 'lo'
offers 'ringfence attach lo ' eth0 eth1 fence mode sources leases fleet confirm chain replace --json
completes 'ringfence attach dev ' 'eth0 eth1 lo'
completes 'ringfence attach lo mode ' 'native generic'
completes 'ringfence attach lo mode n' 'native'
completes 'ringfence attach lo fence ' 'eth0'
completes 'ringfence status dev ' 'eth0 eth1 lo'
completes 'ringfence dev ' 'eth0 eth1 lo'
completes 'ringfence dev lo sav' 'save'
completes 'ringfence dev lo limit add any ' 'rate'
completes 'ringfence limit del ' 'any only'
completes 'ringfence limit enforce ' 'all any only'
completes 'ringfence limit shadow ' 'all any only'
completes 'ringfence limit enforce a' 'all any'
completes 'ringfence limit enforce o' 'only'
completes 'ringfence limit enforce only c' 'confirm'
completes 'ringfence limit shadow o' 'only'
completes 'ringfence limit set o' 'only'
completes 'ringfence limit del dev eth0 ' 'any only'
completes 'ringfence limit del dev eth1 ' ''
completes 'ringfence allow del 20' '203.0.113.0/24 2001:db8:a::/48 2001:db8:b::/48'
completes 'ringfence deny del ' '192.0.2.66'
completes 'ringfence deny del 192.0.2.66 by b' 'blocklist'
completes 'ringfence unban ' 'all 198.51.100.7'

# Bash inserts a completion after the last colon of the word.
shells=(bash)
completes 'ringfence allow del 2001:db8:' 'a::/48 b::/48'
shells=(zsh fish)
completes 'ringfence allow del 2001:db8:' '2001:db8:a::/48 2001:db8:b::/48'
completes 'ringfence allow del 2001:db8:a' '2001:db8:a::/48'
shells=(bash zsh fish)

# Interfaces can have any name, including file patterns and words that a shell would execute.
inside ip link add FILE type veth peer name 'a$(reboot)' || bail 'cannot make interfaces'
inside ip link add IF type veth peer name 'o*' || bail 'cannot make interfaces'
shells=(bash zsh)
is "$(bash_completes 'ringfence detach a')" 'a\$\(reboot\)' 'bash quotes an interface name that has dollars and brackets'
is "$(zsh_completes 'ringfence detach a')" 'a\$\(reboot\)' 'zsh quotes an interface name that has dollars and brackets'
is "$(bash_completes 'ringfence detach o')" 'o\*' 'bash quotes an interface name that is a pattern'
is "$(zsh_completes 'ringfence detach o')" 'o\*' 'zsh quotes an interface name that is a pattern'
completes 'ringfence detach F' 'FILE'
completes 'ringfence detach I' 'IF'
inside ip link del FILE
inside ip link del IF
shells=(bash zsh fish)

# ---- files ----

completes 'ringfence apply READ' 'README.md'
completes 'ringfence check Makef' 'Makefile'
completes 'ringfence deny load LIC' 'LICENSE'
completes 'ringfence limit add any rate 20k/1s from ' 'file'
completes 'ringfence limit add any rate 20k/1s from file Makef' 'Makefile'

# Names chosen by other users are never executed.
tree=$PWD
mkdir "$scratch/files"
cd "$scratch/files" || exit 1
touch 'a$(touch made)' 'a b'
is "$(bash_completes 'ringfence check a$')" 'a$(touch made)' 'bash completes a file name that has dollars and brackets'
check 'completion runs no name of a file' test ! -e made
printf '#!/bin/sh\ntouch made\n' >ringfence && chmod +x ringfence
completes './ringfence limit ' 'add set change enforce shadow del list try'
check 'completion never runs the command that was typed' test ! -e made
cd "$tree" || exit 1

# ---- through the shells ----

# A terminal, and the key Tab: the executed line then contains the name.
cat >"$scratch/type.zsh" <<'end'
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'autoload -Uz compinit; compinit -D -u; source <(ringfence completion zsh); PS1=; unsetopt zle_bracketed_paste'
zpty -w -n shell $'echo found: ; ringfence limit set on\t rate 7/1s\n'
zpty -w shell 'echo done; exit'
while zpty -r shell line; do :; done
end
inside ip link show eth0 >"$scratch/out" && timeout 300 zsh -f "$scratch/type.zsh" >"$scratch/out" 2>&1
matches "$(ringfence limit list)" $'.*only rate 7/1s.*' 'zsh on a terminal completes the name of a limit at Tab'
is "$(complete -p ringfence)" 'complete -F _ringfence ringfence' 'the script registers its function with bash'

# ---- without a fence that can be read ----

ringfence detach eth0 >"$scratch/out" || bail 'cannot detach'
completes 'ringfence limit del ' ''
completes 'ringfence deny del ' ''
does 'without a fence, completion prints nothing' '' inside build/ringfence completion words -- limit del ''
does 'completion prints nothing for a user who cannot read the fence' '' inside setpriv --reuid 65534 --clear-groups \
	"$PWD/build/ringfence" completion words -- limit del ''

fails 'completion refuses the name of an unknown shell' 2 "ringfence: 'tcsh': unknown shell; use bash, zsh or fish" \
	build/ringfence completion tcsh
fails 'completion refuses a second word' 2 "ringfence: 'more': unexpected word; see 'ringfence help completion'" build/ringfence completion bash more
is "$(describe build/ringfence completion --json)" "exit 2
{\"schema\":2,\"error\":\"'--json': completion prints a script for a shell\"}
stderr: ringfence: '--json': completion prints a script for a shell" 'completion refuses --json'
is "$(build/ringfence completion)" "$(build/ringfence completion bash)" 'completion without a word prints the script of bash'
done_testing
