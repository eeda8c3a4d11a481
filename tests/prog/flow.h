/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Determines on any kernel whether Linux 6.1 accepts a program's loops. The verifier of Linux 6.1
 * walks the code depth first; only a jump can lead back to an instruction that it has not finished.
 * If the compiler lays out a loop such that its last instruction falls through to an instruction
 * that was reached by a jump, it rejects the program for a "back-edge". Newer kernels accept that.
 */
#ifndef RINGFENCE_TESTS_FLOW_H
#define RINGFENCE_TESTS_FLOW_H

#include <assert.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdlib.h>

#define FLOW_EDGES_MAX 2

struct flow_edge {
	long to;
	bool may_loop;
};

/*
 * As check_cfg() in kernel/bpf/verifier.c of that kernel: the successors of each instruction, in
 * order.
 */
static inline int flow_edges(const struct bpf_insn *insn, long at,
			     struct flow_edge edge[FLOW_EDGES_MAX])
{
	const struct bpf_insn *this = &insn[at];
	const int class = BPF_CLASS(this->code);
	const bool is_callback =
		this->code == (BPF_LD | BPF_IMM | BPF_DW) && this->src_reg == BPF_PSEUDO_FUNC;
	const bool is_jump = class == BPF_JMP || class == BPF_JMP32;

	edge[0] = (struct flow_edge){at + 1, false};
	edge[1] = (struct flow_edge){at + 1 + this->imm, is_callback};
	if (is_callback)
		return 2;
	if (!is_jump)
		return 1;
	switch (BPF_OP(this->code)) {
	case BPF_EXIT:
		return 0;
	case BPF_CALL:
		return this->src_reg == BPF_PSEUDO_CALL ? 2 : 1;
	case BPF_JA:
		edge[0] = (struct flow_edge){at + 1 + this->off, true};
		return 1;
	default:
		edge[0].may_loop = true;
		edge[1] = (struct flow_edge){at + 1 + this->off, true};
		return 2;
	}
}

enum flow_state {
	FLOW_UNSEEN,
	FLOW_ENTERED,
	FLOW_DONE,
};

/* The first instruction for which that kernel would refuse the program; -1: none. */
static inline long flow_back_edge(const struct bpf_insn *insn, size_t count)
{
	enum flow_state *state = calloc(count, sizeof(*state));
	int *taken = calloc(count, sizeof(*taken)); /* of its edges */
	long *stack = calloc(count, sizeof(*stack)), depth = 0, refused = -1;

	assert(state && taken && stack);
	state[0] = FLOW_ENTERED;
	while (depth >= 0 && refused < 0) {
		struct flow_edge edge[FLOW_EDGES_MAX];
		const long at = stack[depth];
		const struct flow_edge *next;

		if (taken[at] == flow_edges(insn, at, edge)) {
			state[at] = FLOW_DONE;
			depth--;
			continue;
		}
		next = &edge[taken[at]++];
		assert(next->to >= 0 && next->to < (long)count);
		if (state[next->to] == FLOW_ENTERED && !next->may_loop)
			refused = at;
		if (state[next->to] != FLOW_UNSEEN)
			continue;
		state[next->to] = FLOW_ENTERED;
		stack[++depth] = next->to;
	}
	free(state);
	free(taken);
	free(stack);
	return refused;
}

#endif /* RINGFENCE_TESTS_FLOW_H */
