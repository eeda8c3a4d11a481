#compdef ringfence
# zsh completion for ringfence, printed by 'ringfence completion zsh'
#
# ringfence itself prints the words that can come next. The script runs the installed ringfence,
# never the command as typed: a file called ringfence can belong to any user.

_ringfence_ask() { # WORD… CURRENT
	PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin command ringfence completion words -- "$@" 2>/dev/null
}

_ringfence() {
	local line word summary files
	local -a before offered

	before=("${(@Q)words[2,CURRENT-1]}")
	for line in "${(@f)$(_ringfence_ask "${before[@]}" "${(Q)PREFIX}")}"; do
		word=${line%%$'\t'*} summary=${line#*$'\t'}
		[[ -n $word ]] || continue
		if [[ $word == :files ]]; then
			files=1
		elif [[ $line == *$'\t'?* ]]; then
			offered+=("${word//:/\\:}:$summary")
		else
			offered+=("${word//:/\\:}")
		fi
	done
	[[ -z $files ]] || _files
	(( ! $#offered )) || _describe -V 'ringfence' offered
}

# Found in fpath, this file is the body of the function. Sourced, it calls compdef itself.
if [[ ${funcstack[1]-} == _ringfence ]]; then
	_ringfence "$@"
else
	compdef _ringfence ringfence
fi
