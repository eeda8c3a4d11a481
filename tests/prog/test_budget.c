// SPDX-License-Identifier: GPL-2.0
/*
 * What the verifier makes of each program, held against tests/prog/budget: instructions that it
 * walked, stack, size, and calls of helpers that it left, which are those that cost something, in
 * the whole of the program. The time it took is printed only. The budget is about a tenth over what
 * a change found, of the calls none over; whoever needs more raises it there, and says so in the
 * commit.
 */
#include "program.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <sys/utsname.h>

#define BUDGET_FILE "tests/prog/budget"
#define LOG_STATS 4 /* BPF_LOG_STATS of the kernel: the closing lines only */
#define LOG_SIZE 4096
#define PROGRAMS_MAX 16

struct cost {
	char name[BPF_OBJ_NAME_LEN];
	uint32_t insns; /* that the verifier walked, a path at a time */
	uint32_t
		stack; /* of the entry and the largest function that it calls; none calls another */
	uint32_t xlated_bytes; /* what the verifier made of it */
	uint32_t jited_bytes;  /* what the JIT made of that, on x86-64; else it is not judged */
	uint32_t calls;	       /* places that call a helper; inlined ones are none any more */
	uint32_t verify_us;
};

static struct cost costs[PROGRAMS_MAX];
static char logs[PROGRAMS_MAX][LOG_SIZE];
static size_t cost_count;

/* ---- reading ---- */

/* Of "stack depth 96+0+248" the first number, the entry's, and the largest of the others. */
static uint32_t deepest_stack(const char *log)
{
	const char *at = strstr(log, "stack depth ");
	uint32_t entry, callee = 0;
	char *end;

	assert_non_null(at);
	at += strlen("stack depth ");
	entry = strtoul(at, &end, 10);
	assert_true(end > at);
	while (*end == '+') {
		uint32_t depth = strtoul(end + 1, &end, 10);

		callee = depth > callee ? depth : callee;
	}
	return entry + callee;
}

static uint32_t number_behind(const char *log, const char *words)
{
	const char *at = strstr(log, words);

	assert_non_null(at);
	return strtoul(at + strlen(words), NULL, 10);
}

static bool is_helper_call(const struct bpf_insn *insn)
{
	return insn->code == (BPF_JMP | BPF_CALL) && insn->src_reg == 0;
}

static uint32_t count_calls(const struct bpf_program *program, uint32_t xlated_bytes)
{
	struct bpf_insn *insns = calloc(1, xlated_bytes);
	struct bpf_prog_info info = {.xlated_prog_insns = (uintptr_t)insns,
				     .xlated_prog_len = xlated_bytes};
	uint32_t size = sizeof(info), calls = 0;

	assert_non_null(insns);
	assert_int_equal(bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size), 0);
	assert_true(info.xlated_prog_insns); /* 0: this kernel does not show them */
	for (size_t i = 0; i < xlated_bytes / sizeof(*insns); i++)
		calls += is_helper_call(&insns[i]);
	free(insns);
	return calls;
}

static void read_cost(const struct bpf_program *program, const char *log, struct cost *cost)
{
	struct bpf_prog_info info = {};
	uint32_t size = sizeof(info);

	assert_int_equal(bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size), 0);
	*cost = (struct cost){.insns = number_behind(log, "processed "),
			      .stack = deepest_stack(log),
			      .xlated_bytes = info.xlated_prog_len,
			      .jited_bytes = info.jited_prog_len,
			      .calls = count_calls(program, info.xlated_prog_len),
			      .verify_us = number_behind(log, "verification time ")};
	snprintf(cost->name, sizeof(cost->name), "%s", bpf_program__name(program));
	/* The same number by another way; kernels before 5.16 do not have it. */
	if (info.verified_insns)
		assert_int_equal(info.verified_insns, cost->insns);
}

static int setup(void **state)
{
	struct ringfence_bpf *object = ringfence_bpf__open();
	struct bpf_program *program;
	size_t i = 0;

	(void)state;
	assert_non_null(object);
	bpf_object__for_each_program (program, object->obj) {
		assert_true(i < PROGRAMS_MAX);
		assert_int_equal(bpf_program__set_log_buf(program, logs[i++], LOG_SIZE), 0);
		assert_int_equal(bpf_program__set_log_level(program, LOG_STATS), 0);
	}
	assert_int_equal(ringfence_bpf__load(object), 0);
	bpf_object__for_each_program (program, object->obj) {
		read_cost(program, logs[cost_count], &costs[cost_count]);
		cost_count++;
	}
	ringfence_bpf__destroy(object);
	return 0;
}

/* ---- judging ---- */

/* The program's line; false: there is none. */
static bool find_budget(const char *name, struct cost *budget)
{
	FILE *file = fopen(BUDGET_FILE, "r");
	char line[256];
	bool found = false;

	assert_non_null(file);
	while (!found && fgets(line, sizeof(line), file))
		found = sscanf(line,
			       "%15s insns %" SCNu32 " stack %" SCNu32 " xlated %" SCNu32
			       " jited %" SCNu32 " calls %" SCNu32,
			       budget->name, &budget->insns, &budget->stack, &budget->xlated_bytes,
			       &budget->jited_bytes, &budget->calls) == 6 &&
			strcmp(budget->name, name) == 0;
	fclose(file);
	return found;
}

static void print_cost(const struct cost *cost)
{
	struct utsname kernel;

	assert_int_equal(uname(&kernel), 0);
	printf("# %s insns %" PRIu32 " stack %" PRIu32 " xlated %" PRIu32 " jited %" PRIu32
	       " calls %" PRIu32 " verified in %" PRIu32 " us, Linux %s\n",
	       cost->name, cost->insns, cost->stack, cost->xlated_bytes, cost->jited_bytes,
	       cost->calls, cost->verify_us, kernel.release);
}

/* Linux 6.10 and newer do; older ones leave more calls. */
static bool inlines_per_cpu_look_ups(void)
{
	struct utsname kernel;
	int major = 0, minor = 0;

	assert_int_equal(uname(&kernel), 0);
	assert_int_equal(sscanf(kernel.release, "%d.%d", &major, &minor), 2);
	return major > 6 || (major == 6 && minor >= 10);
}

static bool keeps_to(const struct cost *cost, const char *what, uint32_t found, uint32_t most)
{
	if (found > most)
		printf("# %s: %s %" PRIu32 ", over the %" PRIu32 " in %s\n", cost->name, what,
		       found, most, BUDGET_FILE);
	return found <= most;
}

static bool keeps_to_budget(const struct cost *cost)
{
	struct cost budget = {};
	bool kept;

	if (!find_budget(cost->name, &budget)) {
		printf("# %s: no line in %s\n", cost->name, BUDGET_FILE);
		return false;
	}
	kept = keeps_to(cost, "insns", cost->insns, budget.insns);
	kept &= keeps_to(cost, "stack", cost->stack, budget.stack);
	kept &= keeps_to(cost, "xlated", cost->xlated_bytes, budget.xlated_bytes);
#ifdef __x86_64__
	kept &= keeps_to(cost, "jited", cost->jited_bytes, budget.jited_bytes);
#endif
	if (inlines_per_cpu_look_ups())
		kept &= keeps_to(cost, "calls", cost->calls, budget.calls);
	return kept;
}

static void every_program_keeps_to_its_budget(void **state)
{
	bool kept = true;

	(void)state;
	assert_true(cost_count > 0);
	for (size_t i = 0; i < cost_count; i++) {
		print_cost(&costs[i]);
		kept &= keeps_to_budget(&costs[i]);
	}
	assert_true(kept);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_program_keeps_to_its_budget),
	};

	return cmocka_run_group_tests_name("budget", tests, setup, NULL);
}
