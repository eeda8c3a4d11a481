# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# For tests whose result follows from the sources alone: `cached FILE…` runs the calling script, and keeps
# what it printed in build/cache/ if all held. Another run over the same files prints that, and ends. The
# script itself, what compiles and what the script takes from the environment count as well. `make clean`
# forgets it.

# The key of a result; files that changed while the script ran have another one.
key_of() { # FILE…
	(
		set -o pipefail
		{
			"${CC:-cc}" --version && "${CC:-cc}" -dumpmachine &&
				printf '%s\n' "$0" "${CC-}" "${STEPS-}" "${ROWS-}" &&
				sha256sum "$0" tests/cached.sh "$@"
		} | sha256sum
	)
}

cached() { # FILE…
	local key kept status

	[ -z "${RF_CACHED-}" ] || return 0
	key=$(key_of "$@") || exit 1
	kept=build/cache/${key%% *}
	if [ -e "$kept" ]; then
		cat "$kept"
		echo "# printed by a run before, of the same files"
		exit 0
	fi
	mkdir -p build/cache
	RF_CACHED=1 "$0" | tee "$kept.new$$"
	status=("${PIPESTATUS[@]}")
	if [ "${status[*]}" = '0 0' ] && [ "$(key_of "$@")" = "$key" ]; then
		mv "$kept.new$$" "$kept"
	else
		rm -f "$kept.new$$"
	fi
	exit "${status[0]}"
}
