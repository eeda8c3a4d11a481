# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# For tests whose result depends only on the sources: `cached FILE…` runs the calling script, and
# saves its output in build/cache/ if all tests passed. A later run over the same files prints that
# output and exits. The script, the compiler and the script's environment variables are part of the
# key. `make clean` removes the results.

# The key of a result; it changes if files changed while the script ran.
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
