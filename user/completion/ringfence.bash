# shellcheck shell=bash
# bash completion for ringfence, printed by 'ringfence completion bash'
#
# ringfence itself prints the words that can come next. The script runs the installed ringfence,
# never the command as typed: a file called ringfence can belong to any user.

_ringfence_ask() { # WORD… CURRENT
	PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin command ringfence completion words -- "$@" 2>/dev/null
}

# The words up to the cursor, into `words`. bash cuts an IPv6 address at its colons; pieces without
# a blank between them are one word.
_ringfence_words() {
	local line=$COMP_LINE piece blanks i

	words=()
	for ((i = 0; i <= COMP_CWORD; i++)); do
		piece=${COMP_WORDS[i]}
		blanks=${line%%[![:blank:]]*}
		line=${line#"$blanks"}
		if [[ $i == 0 || $blanks ]]; then
			words+=("$piece")
		else
			words[${#words[@]} - 1]+=$piece
		fi
		line=${line#"$piece"}
	done
}

# Offers a word if it matches. The word is quoted, because any user can choose the name of an
# interface.
_ringfence_offer() { # WORD CURRENT
	local quoted kept=${2%"${2##*:}"}

	printf -v quoted %q "$1"
	quoted=${quoted//\\,/,} # which bash quotes only because of braces
	[[ $1 == "$2"* || $quoted == "$2"* ]] || return
	# The part before a colon is on the line already.
	[[ $COMP_WORDBREAKS == *:* ]] && quoted=${quoted#"$kept"}
	COMPREPLY+=("$quoted")
}

_ringfence() {
	local words current word path

	COMPREPLY=()
	_ringfence_words
	current=${words[${#words[@]} - 1]}
	while IFS=$'\t' read -r word _; do
		if [[ $word == :files ]]; then
			compopt -o filenames 2>/dev/null
			while read -r path; do COMPREPLY+=("$path"); done < <(compgen -f -- "$current")
		else
			_ringfence_offer "$word" "$current"
		fi
	done < <(_ringfence_ask "${words[@]:1}")
}

complete -F _ringfence ringfence
