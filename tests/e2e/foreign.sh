#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# foreign.sh DIRECTORY: compiles the foreign programs that test_chain.sh uses: foreign.o, which
# passes every packet, last.o, which drops every packet, and the command `holder`; and for guests
# with network cards frags.o, which passes every packet, also in several buffers. A guest has no
# compiler, so the host compiles them for it.
set -eu
cd "$1"

# program NAME VERDICT [SECTION]
program() {
	"${CLANG:-clang}" -target bpf -O2 -g -x c -c -o "$1.o" - <<-END
		struct xdp_md { int unused; };
		__attribute__((section("${3-xdp}"), used)) int $1(struct xdp_md *context) { return $2; }
		__attribute__((section("license"), used)) char gpl[] = "GPL";
	END
}

program foreign 2 # XDP_PASS
program last 1	  # XDP_DROP
program frags 2 xdp.frags

# Holds a pinned program on an interface by a bpf_link, until it exits.
cc -x c -o holder - -lbpf <<-'END'
	#include <bpf/bpf.h>
	#include <net/if.h>
	#include <stdio.h>
	#include <unistd.h>
	int main(int argc, char **argv)
	{
		int fd = bpf_obj_get(argv[1]);
		int link = bpf_link_create(fd, if_nametoindex(argv[2]), BPF_XDP, NULL);

		if (argc != 3 || link < 0)
			return 1;
		puts("held");
		fflush(stdout);
		pause();
	}
END
