// SPDX-License-Identifier: GPL-2.0
/*
 * bypass FROM TO: packets that arrive at the interface FROM are received by the peer of TO, a veth
 * whose peer is in another network namespace, without reaching its XDP program: as if the peer's
 * driver had lost the program. Remains active after it exits, until 'tc qdisc del dev FROM clsact'.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <net/if.h>
#include <stdio.h>

static int load(unsigned int to)
{
	const struct bpf_insn program[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_1, .imm = to},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2},
		{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_redirect_peer},
		{.code = BPF_JMP | BPF_EXIT},
	};

	return bpf_prog_load(BPF_PROG_TYPE_SCHED_CLS, "bypass", "GPL", program,
			     sizeof(program) / sizeof(*program), NULL);
}

int main(int argc, char **argv)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .attach_point = BPF_TC_INGRESS);
	LIBBPF_OPTS(bpf_tc_opts, options);
	int err;

	if (argc != 3)
		return 2;
	hook.ifindex = if_nametoindex(argv[1]);
	options.prog_fd = load(if_nametoindex(argv[2]));
	err = bpf_tc_hook_create(&hook);
	if (!err || err == -EEXIST)
		err = bpf_tc_attach(&hook, &options);
	if (err)
		fprintf(stderr, "bypass: %s: %d\n", argv[1], err);
	return err != 0;
}
