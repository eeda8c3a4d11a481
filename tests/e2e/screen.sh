# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2154 # lib.sh sets them
# Sourced after lib.sh: `top` in a terminal of tmux, whose screen and whose settings a test reads.

command -v tmux >/dev/null || bail "tmux is missing; run 'make deps-test'"
sessions=0
# shellcheck disable=SC2034 # read by a shell under test
utf8=(LC_ALL=C.UTF-8 TERM=screen-256color)

unset TMUX
tmux=(tmux -u -f /dev/null -S "$scratch/tmux")

terminal() { # WORDS of tmux
	LC_ALL=C.UTF-8 "${tmux[@]}" "$@"
}

# The tmux server, and everything that it starts, is in the namespace. It exits with its last
# terminal: this one keeps it running between two others.
keep_server() {
	LC_ALL=C.UTF-8 inside "${tmux[@]}" new-session -d -s keep 'sleep 3600' || bail 'cannot start tmux'
}

# open_screen COLUMNSxROWS [NAME=VALUE…] [WRAPPER…] -- WORDS: a shell that runs `ringfence WORDS` in a
# terminal.
# Its settings before and after, and its exit status, are in $scratch/before, after and status.
open_screen() {
	local size=$1 settings=() command

	shift
	while [ "$1" != -- ]; do
		settings+=("$1")
		shift
	done
	shift
	rm -f "$scratch"/{before,after,status}
	printf -v command '%q ' env "${settings[@]}" "$(realpath "$build")" "$@"
	printf '%s\n' "stty -g >'$scratch/before'" "$command" "echo \$? >'$scratch/status'" \
		"stty -g >'$scratch/after'" 'echo THE END' 'sleep 300' >"$scratch/shell"
	[ "$sessions" -gt 0 ] || keep_server
	sessions=$((sessions + 1))
	terminal new-session -d -s "s$sessions" -x "${size%x*}" -y "${size#*x}" "bash '$scratch/shell'" ||
		bail 'cannot start tmux'
}

close_screen() {
	terminal kill-session -t "s$sessions"
}

press() { # KEY…, as tmux names them
	terminal send-keys -t "s$sessions" "$@"
}

screen() {
	terminal capture-pane -p -t "s$sessions"
}

has() { # REGEX of grep
	screen >"$scratch/screen"
	LC_ALL=C.UTF-8 grep -qE -- "$1" "$scratch/screen"
}

has_not() { # REGEX
	! has "$1"
}

# sees REGEX NAME: sooner or later the screen has a line like that.
sees() {
	if eventually has "$1"; then
		pass "$2"
		return
	fi
	fail "$2"
	explain 'the screen' "$(screen)"
	explain 'want a line' "$1"
}

# The process of `ringfence top` in the terminal.
process() {
	local shell

	shell=$(terminal list-panes -t "s$sessions" -F '#{pane_pid}')
	pgrep -P "$shell" -x ringfence
}

has_ended() {
	[ -s "$scratch/after" ]
}

# leaves_terminal STATUS NAME: `top` ended with that status; the terminal is as it was before.
leaves_terminal() {
	eventually has_ended
	is "$(cat "$scratch/status") $(cmp "$scratch/before" "$scratch/after" && echo same) \
$(terminal display-message -p -t "s$sessions" '#{alternate_on} #{cursor_flag}')" "$1 same 0 1" "$2"
}

end_of_screens() {
	terminal kill-server 2>/dev/null
	cleanup
}
trap end_of_screens EXIT
