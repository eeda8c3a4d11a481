// SPDX-License-Identifier: GPL-2.0
/*
 * What the verifier makes of each program: instructions that it walked and stack, held against
 * tests/prog/budget; sizes and time, printed only. The budget is about a tenth over what a change
 * found; whoever needs more raises it there, and says so in the commit.
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
	uint32_t xlated_bytes;
	uint32_t jited_bytes;
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

static void read_cost(const struct bpf_program *program, const char *log, struct cost *cost)
{
	struct bpf_prog_info info = {};
	uint32_t size = sizeof(info);

	assert_int_equal(bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size), 0);
	*cost = (struct cost){.insns = number_behind(log, "processed "),
			      .stack = deepest_stack(log),
			      .xlated_bytes = info.xlated_prog_len,
			      .jited_bytes = info.jited_prog_len,
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

/* The line `NAME insns N stack N`; false: there is none. */
static bool find_budget(const char *name, uint32_t *insns, uint32_t *stack)
{
	FILE *file = fopen(BUDGET_FILE, "r");
	char line[256], of[BPF_OBJ_NAME_LEN];
	bool found = false;

	assert_non_null(file);
	while (!found && fgets(line, sizeof(line), file))
		found = sscanf(line, "%15s insns %" SCNu32 " stack %" SCNu32, of, insns, stack) ==
				3 &&
			strcmp(of, name) == 0;
	fclose(file);
	return found;
}

static void print_costs(void)
{
	struct utsname kernel;

	assert_int_equal(uname(&kernel), 0);
	for (size_t i = 0; i < cost_count; i++)
		printf("# %s insns %" PRIu32 " stack %" PRIu32 " xlated %" PRIu32
		       " bytes jited %" PRIu32 " bytes verified in %" PRIu32 " us, Linux %s\n",
		       costs[i].name, costs[i].insns, costs[i].stack, costs[i].xlated_bytes,
		       costs[i].jited_bytes, costs[i].verify_us, kernel.release);
}

static void every_program_keeps_to_its_budget(void **state)
{
	bool kept = true;

	(void)state;
	print_costs();
	assert_true(cost_count > 0);
	for (size_t i = 0; i < cost_count; i++) {
		uint32_t insns = 0, stack = 0;

		if (find_budget(costs[i].name, &insns, &stack) && costs[i].insns <= insns &&
		    costs[i].stack <= stack)
			continue;
		printf("# %s: over its line in %s: insns %" PRIu32 " stack %" PRIu32 "\n",
		       costs[i].name, BUDGET_FILE, insns, stack);
		kept = false;
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
