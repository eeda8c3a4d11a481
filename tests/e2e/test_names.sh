#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Objects that an attach or a detach must not touch: other fences, for any names of their
# interfaces; foreign programs, when an attach fails; and files, when standard output is closed.

# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

space=rf-test-$$-names
in_space() { nsenter --net="/run/netns/$space" "$@"; }
ringfence() { in_space "$build" "$@"; }
program() { in_space ip -d link show dev "$1" | sed -n 's/.*prog\/xdp id \([0-9]*\) name \([^ ]*\).*/\2/p'; }
program_id() { in_space ip -d link show dev "$1" | sed -n 's/.*prog\/xdp id \([0-9]*\) .*/\1/p'; }

foreign() { # NAME: an object with an XDP program of that name
	"${CLANG:-clang}" -target bpf -O2 -idirafter "/usr/include/$(cc -dumpmachine)" -xc -c -o "$scratch/$1.o" - <<-end
		#include <linux/bpf.h>
		__attribute__((section("xdp"), used)) int $1(struct xdp_md *packet) { return XDP_PASS; }
	end
}

mkdir -p /run/netns
ip netns add "$space" || bail 'no network namespace'
in_space ip link add one type veth peer name two
in_space ip link add 'o*' type veth peer name 't[1]'
if ! foreign foreign || ! foreign xdp_dispatcher; then bail 'clang fails'; fi

# ---- names ----

for name in one 'o*' 't[1]'; do
	does "attach $name" "$name: attached in native mode, fence '$name'" ringfence attach "$name"
	use "$quick"
done
does 'detach o*' 'o*: detached' ringfence detach 'o*'
is "$(program one)" ringfence "detach of 'o*' leaves an interface that the pattern would match"
does 'detach t[1]' 't[1]: detached' ringfence detach 't[1]'
is "$(ls "$pins")" one "detach of 'o*' and 't[1]' removes their own pins only"
ringfence detach one >"$scratch/log"

in_space ip link add name mode type veth peer name fence
for name in mode fence; do
	does "attach dev $name" "$name: attached in native mode, fence '$name'" ringfence attach dev "$name"
done
matches "$(describe ringfence status dev mode)" "exit 0
fence mode: .*
  mode: native mode, attached by ringfence
.*" 'status finds a fence on an interface called mode'
does 'detach mode' 'mode: detached' ringfence detach mode
does 'detach dev fence' 'fence: detached' ringfence detach dev fence
in_space ip link del dev mode

# A terminal obeys these characters, so no output contains them: ESC, and U+009B, which also starts
# a sequence.
obeyed=$'[\001-\010\013-\037\177]|\302[\200-\237]'
escape=$'e\033[2J' c1=$'c\302\2332J'
in_space ip link add "$escape" type veth peer name "$c1"
shown=$(
	ringfence attach "$escape" "$c1" fence web
	for words in status 'status --json' stats 'stats --json' save doctor; do
		# shellcheck disable=SC2086
		ringfence $words 2>&1
	done
	ringfence detach "$escape" --json | tee "$scratch/detached"
	ringfence detach "$c1"
)
is "$(grep -aP "$obeyed" <<<"$shown")" '' 'control characters in names are not printed'
matches "$(grep -a '^c' <<<"$shown" | tail -n 1)" 'c[?]2J: detached' \
	'a name with control characters is printed with a replacement'
is "$(jq -r ".detached[]" "$scratch/detached")" "$escape" 'JSON has a name with control characters unchanged'
in_space ip link del "$escape"

# ---- an attach that fails ----

in_space ip link set dev one xdpdrv obj "$scratch/foreign.o" sec xdp
mkdir -p "$pins"
bpftool prog load "$scratch/foreign.o" "$pins/two" type xdp 2>"$scratch/log"
fails 'attach replace of two interfaces fails if one of them fails' \
	1 "ringfence: $pins/two: this is in the way, and \
not ringfence's; remove it, or choose another fence name: 'ringfence attach IF fence NAME'" \
	ringfence attach one two replace
is "$(program one)" foreign 'attach replace that fails puts back the program that it replaced'
rm "$pins/two"
ringfence attach two fence web >"$scratch/log"
link=$pins/web/link_$(in_space ip -o link show dev one | cut -d: -f1)
link+=_$(in_space stat -Lc %i /proc/self/ns/net)
mkdir "$link"
fails 'attach replace fails if its link cannot be pinned' \
	1 "ringfence: $link: cannot pin the link: File exists" \
	ringfence attach one fence web replace
is "$(program one)" foreign 'attach replace whose link cannot be pinned puts back the program'
rmdir "$link"
ringfence detach two >"$scratch/log"
in_space ip link set dev one xdp off

# ---- a dispatcher ----

in_space ip link set dev one xdpdrv obj "$scratch/xdp_dispatcher.o" sec xdp
dispatch=/sys/fs/bpf/xdp/dispatch-$(in_space ip -o link show dev one | cut -d: -f1)-$(program_id one)
mkdir -p "$dispatch"
bpftool prog load "$scratch/foreign.o" "$dispatch/prog0-prog" type xdp 2>"$scratch/log"
check 'bpftool pins a program of a dispatcher' test -e "$dispatch/prog0-prog"
ringfence attach one replace >"$scratch/log"
is "$(program one)" ringfence 'attach replace takes off a dispatcher'
check 'attach replace removes the pins of a dispatcher' test ! -e "$dispatch"
ringfence detach one >"$scratch/log"

# ---- an interface by another name ----

in_space ip link set dev one xdpdrv obj build/ringfence.bpf.o sec xdp
ringfence adopt one >"$scratch/log"
in_space ip link set dev one name wan
in_space ip link set dev two name one
fails 'attach of an interface with the former name of another is refused' 1 "ringfence: one: fence 'one' is on \
another interface, renamed or of another network namespace; choose the fence: 'ringfence attach one \
fence NAME'" ringfence attach one
fails 'detach of an interface with the former name of another asks which of the two is meant' 1 "ringfence: \
one: an interface, and another fence, on wan, has this name; write interface:one or fence:one" ringfence detach one
fails 'detach of an interface with the former name of another finds no fence on it' \
	1 "ringfence: one: no fence attached; run 'ringfence attach \
one' or 'ip link set dev one xdp obj …'" ringfence detach interface:one
check 'a renamed interface keeps its pins' test -e "$pins/one/config"
does 'detach of a renamed interface works' 'wan: detached' ringfence detach wan
check 'detach of a renamed interface removes its pins' test ! -e "$pins/one"

# ---- modes ----

ringfence attach one mode generic >"$scratch/log"
does 'attach without a mode accepts a fence in generic mode' \
	"one: already attached, fence 'one'; nothing to do" \
	ringfence attach one
fails 'attach mode native refuses a fence in generic mode' \
	1 "ringfence: one: already attached in generic mode; to change \
it, first run 'ringfence detach one'" ringfence attach one mode native
ringfence detach one >"$scratch/log"

# ---- closed standard output ----

: >/run/ringfence.lock
message=$(ringfence attach one 2>&1 >&-)
is "$? $message" '1 ringfence: standard output: Bad file descriptor' 'attach with standard output closed fails'
is "$(</run/ringfence.lock)" '' 'attach with standard output closed writes nothing to the lock'

done_testing
