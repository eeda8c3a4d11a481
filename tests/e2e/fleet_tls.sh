# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2154 # lib.sh sets them
# Certificates, and stunnels with the settings that ringfence-fleet(8) has, for the tests that source
# this file after fleet.sh. The engine's name there is `engine`.

stunnel=$(command -v stunnel4 || command -v stunnel) || bail "there is no stunnel; run 'make deps-test'"

# certificate NAME: a certification authority, and its certificate for NAME.
certificate() {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=$1 authority" \
		-keyout "$scratch/$1.ca.key" -out "$scratch/$1.ca" &&
		openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$1" \
			-keyout "$scratch/$1.key" -out "$scratch/$1.request" &&
		openssl x509 -req -days 2 -in "$scratch/$1.request" -CA "$scratch/$1.ca" -CAkey "$scratch/$1.ca.key" \
			-CAcreateserial -out "$scratch/$1.certificate"
} >>"$scratch/openssl" 2>&1

# settings FIRST [N]: of the manual's literal blocks that start with this line, the first or the
# Nth.
settings() {
	awk -v first="$1" -v wanted="${2-1}" '/^\.Bd -literal/ { getline; inside = $0 == first && ++n == wanted }
		/^\.Ed/ { inside = 0 } inside { gsub(/SERVER/, "engine"); print }' docs/ringfence-fleet.8
}

# tunnel NAMESPACE NAME FIRST [N]: a stunnel with these settings; its process id is $started_pid.
tunnel() {
	{
		printf '%s\n' 'foreground = yes' 'pid ='
		settings "${@:3}"
	} >"$scratch/$2.conf"
	start "$1" "$stunnel" "$scratch/$2.conf" >"$scratch/$2.log" 2>&1
}
