// SPDX-License-Identifier: GPL-2.0
/*
 * The verifier's result for each program, compared with tests/prog/budget: walked instructions,
 * stack, size, and the calls of helpers that remain in the whole program, because those cost time.
 * The verifier's time is only printed. The budget is about a tenth above the values at the last
 * change, and exact for the calls. A commit that needs more raises the budget and says so in its
 * message. The test also checks whether the oldest supported kernel accepts the loops.
 *
 * The budget applies to the program that $(CLANG) builds. Other compilers turn a condition into a
 * branch where $(CLANG) creates a mask, or the other way round, and the verifier walks twice as
 * much, or ten times as much. For the programs of each other clang, in build/compilers/, there are
 * these bounds: the program without shares leaves room for changes, in the stack and to the
 * verifier, with every compiler and kernel; for the program with shares the test only requires the
 * kernels' limits.
 */
#include "program.h"

#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <sys/utsname.h>

#include "kernel/needs.h"

#include "flow.h"

#include "build/fleet_calls.skel.h"
#include "build/ringfence_fleet.skel.h"
#include "build/show.skel.h"

#define BUDGET_FILE "tests/prog/budget"
#define OTHERS "build/compilers/*/*.bpf.o"
#define INSNS_MOST 300000	 /* walked, of the 1,000,000 that kernels allow */
#define INSNS_WITH_SHARES 700000 /* the same */
#define LOG_STATS 4		 /* BPF_LOG_STATS of the kernel: the closing lines only */
#define LOG_SIZE 65536		 /* includes paths that the verifier abandons */
#define PROGRAMS_MAX 20
#define FUNCTIONS_MAX 256
#define FRAME_ALIGN 32 /* of kernels before 6.8 */
#define FRAME_ALIGN_6_8 16
#define STACK_MAX 512  /* MAX_BPF_STACK of the kernel, for a chain of calls */
#define STACK_MOST 448 /* so 64 bytes are free */
#define FRAMES_MAX 8   /* MAX_CALL_FRAMES of the kernel */

struct cost {
	char name[BPF_OBJ_NAME_LEN];
	uint32_t insns;	       /* that the verifier walked, a path at a time */
	uint32_t stack;	       /* of the chain of calls that takes most */
	uint32_t stack_6_8;    /* the same since Linux 6.8 */
	uint32_t xlated_bytes; /* the verifier's figures */
	uint32_t jited_bytes;  /* the JIT's figures, on x86-64; otherwise not checked */
	uint32_t calls;	       /* places that call a helper; inlined ones are none any more */
	uint32_t verify_us;
	long back_edge; /* -1: none */
};

static struct cost costs[PROGRAMS_MAX];
static char logs[PROGRAMS_MAX][LOG_SIZE];
static size_t cost_count;

/* ---- reading ---- */

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

static bool is_own_call(const struct bpf_insn *insn)
{
	return insn->code == (BPF_JMP | BPF_CALL) && insn->src_reg == BPF_PSEUDO_CALL;
}

/* The instruction that passes a callback to a helper. */
static bool is_callback(const struct bpf_insn *insn)
{
	return insn->code == (BPF_LD | BPF_IMM | BPF_DW) && insn->src_reg == BPF_PSEUDO_FUNC;
}

static bool leads_to_own(const struct bpf_insn *insn)
{
	return is_own_call(insn) || is_callback(insn);
}

/* The program after the verifier's changes, and the offsets of its functions. */
struct code {
	struct bpf_insn *insn;
	size_t count;
	size_t start[FUNCTIONS_MAX + 1]; /* of each function, the entry first, then the total */
	uint32_t stack[FUNCTIONS_MAX];
	size_t functions;
};

static void read_code(const struct bpf_program *program, uint32_t xlated_bytes, struct code *code)
{
	struct bpf_prog_info info = {.xlated_prog_len = xlated_bytes};
	uint32_t size = sizeof(info);

	*code = (struct code){.insn = calloc(1, xlated_bytes),
			      .count = xlated_bytes / sizeof(*code->insn)};
	assert_non_null(code->insn);
	info.xlated_prog_insns = (uintptr_t)code->insn;
	assert_int_equal(bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size), 0);
	assert_true(info.xlated_prog_insns); /* 0: this kernel does not show them */
}

static uint32_t count_calls(const struct code *code)
{
	uint32_t calls = 0;

	for (size_t i = 0; i < code->count; i++)
		calls += is_helper_call(&code->insn[i]);
	return calls;
}

/* ---- stack ---- */

static int compare_starts(const void *a, const void *b)
{
	const size_t *one = a, *other = b;

	return *one < *other ? -1 : *one > *other;
}

/*
 * The target of a call: in the code that the kernel shows, `off` leads to it and `imm` is the
 * function's number; for a callback `imm` leads to it. `off` has 16 bits, so it is only known
 * modulo 2^16: one target of these is in the program.
 */
static size_t called_at(const struct code *code, size_t i)
{
	const struct bpf_insn *insn = &code->insn[i];

	if (is_callback(insn))
		return i + 1 + insn->imm;
	assert_true(code->count <= UINT16_MAX + 1);
	return (uint16_t)(i + 1 + insn->off);
}

/* A function starts at the target of a call. */
static void find_functions(struct code *code)
{
	size_t *target = calloc(code->count + 1, sizeof(*target)), targets = 1;

	assert_non_null(target);
	for (size_t i = 0; i < code->count; i++)
		if (leads_to_own(&code->insn[i]))
			target[targets++] = called_at(code, i);
	qsort(target, targets, sizeof(*target), compare_starts);
	for (size_t i = 0; i < targets; i++) {
		if (i && target[i] == target[i - 1])
			continue;
		assert_true(code->functions < FUNCTIONS_MAX);
		code->start[code->functions++] = target[i];
	}
	code->start[code->functions] = code->count;
	free(target);
}

/* Parses "stack depth 96+0+248": one number for each function, in the order of the functions. */
static void read_stacks(const char *log, struct code *code)
{
	const char *at = strstr(log, "stack depth ");
	size_t count = 0;
	char *end;

	assert_non_null(at);
	at += strlen("stack depth ");
	do {
		assert_true(count < FUNCTIONS_MAX);
		code->stack[count++] = strtoul(at, &end, 10);
		assert_true(end > at);
		at = end + 1;
	} while (*end == '+');
	assert_int_equal(count, code->functions);
}

static size_t function_at(const struct code *code, size_t start)
{
	size_t function = 0;

	while (code->start[function] != start)
		assert_true(++function < code->functions);
	return function;
}

/* The stack of a function and its callees, as kernels compute it: each frame is rounded up. */
static uint32_t deepest_stack(const struct code *code, size_t function, int frames, uint32_t align)
{
	const uint32_t own = code->stack[function] ? code->stack[function] : 1;
	uint32_t deepest = 0;

	assert_in_range(frames, 1, FRAMES_MAX);
	for (size_t i = code->start[function]; i < code->start[function + 1]; i++) {
		uint32_t depth;

		if (!leads_to_own(&code->insn[i]))
			continue;
		depth = deepest_stack(code, function_at(code, called_at(code, i)), frames + 1,
				      align);
		if (depth > deepest)
			deepest = depth;
	}
	return (own + align - 1) / align * align + deepest;
}

static void read_cost(const struct bpf_program *program, const char *log, struct cost *cost)
{
	struct bpf_prog_info info = {};
	uint32_t size = sizeof(info);
	struct code code;

	assert_int_equal(bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size), 0);
	read_code(program, info.xlated_prog_len, &code);
	find_functions(&code);
	read_stacks(log, &code);
	*cost = (struct cost){.insns = number_behind(log, "processed "),
			      .stack = deepest_stack(&code, 0, 1, FRAME_ALIGN),
			      .stack_6_8 = deepest_stack(&code, 0, 1, FRAME_ALIGN_6_8),
			      .xlated_bytes = info.xlated_prog_len,
			      .jited_bytes = info.jited_prog_len,
			      .calls = count_calls(&code),
			      .verify_us = number_behind(log, "verification time "),
			      .back_edge = flow_back_edge(bpf_program__insns(program),
							  bpf_program__insn_cnt(program))};
	snprintf(cost->name, sizeof(cost->name), "%s", bpf_program__name(program));
	/* The same number in another way; kernels before 5.16 do not have it. */
	if (info.verified_insns)
		assert_int_equal(info.verified_insns, cost->insns);
	free(code.insn);
}

static void keep_logs(struct bpf_object *object)
{
	struct bpf_program *program;
	size_t i = cost_count;

	bpf_object__for_each_program (program, object) {
		assert_true(i < PROGRAMS_MAX);
		assert_int_equal(bpf_program__set_log_buf(program, logs[i++], LOG_SIZE), 0);
		assert_int_equal(bpf_program__set_log_level(program, LOG_STATS), 0);
	}
}

static void read_costs(struct bpf_object *object)
{
	struct bpf_program *program;

	bpf_object__for_each_program (program, object) {
		read_cost(program, logs[cost_count], &costs[cost_count]);
		cost_count++;
	}
}

/* What `cat` runs has the maps of a fence. */
static void load_show(struct bpf_object *fence)
{
	struct show_bpf *object = show_bpf__open();
	int map_fd[RF_MAP_COUNT];

	assert_non_null(object);
	for (int i = 0; i < RF_MAP_COUNT; i++)
		map_fd[i] = bpf_object__find_map_fd_by_name(fence, rf_map_in_object(i));
	assert_int_equal(rf_maps_reuse(object->obj, map_fd), 0);
	assert_int_equal(bpf_map__set_autocreate(object->maps.fresh_source, false), 0);
	object->rodata->possible_cpus = libbpf_num_possible_cpus();
	keep_logs(object->obj);
	assert_int_equal(show_bpf__load(object), 0);
	read_costs(object->obj);
	show_bpf__destroy(object);
}

/* The entries have the names of the other program's, so here they are called `fleet`. */
static void load_fleet(void)
{
	struct ringfence_fleet_bpf *object = ringfence_fleet_bpf__open();
	const size_t first = cost_count;

	assert_non_null(object);
	keep_logs(object->obj);
	assert_int_equal(ringfence_fleet_bpf__load(object), 0);
	read_costs(object->obj);
	ringfence_fleet_bpf__destroy(object);
	for (size_t i = first; i < cost_count; i++) {
		char name[BPF_OBJ_NAME_LEN];

		snprintf(name, sizeof(name), "fleet%s", costs[i].name + strlen("ringfence"));
		memcpy(costs[i].name, name, sizeof(name));
	}
}

static void load_calls(void)
{
	struct fleet_calls_bpf *object = fleet_calls_bpf__open();

	assert_non_null(object);
	keep_logs(object->obj);
	assert_int_equal(fleet_calls_bpf__load(object), 0);
	read_costs(object->obj);
	fleet_calls_bpf__destroy(object);
}

static int setup(void **state)
{
	struct ringfence_bpf *object = ringfence_bpf__open();
	struct rf_features features;

	(void)state;
	assert_non_null(object);
	keep_logs(object->obj);
	assert_int_equal(ringfence_bpf__load(object), 0);
	read_costs(object->obj);
	rf_features_probe(&features);
	if (features.has[RF_FEATURE_ITERATORS] == RF_YES)
		load_show(object->obj);
	else
		printf("# this kernel has no iterators, so show.bpf.o is not judged\n");
	ringfence_bpf__destroy(object);
	load_fleet();
	load_calls();
	return 0;
}

/* ---- judging ---- */

/* Finds the program's line; false if not found. */
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

static bool has_no_back_edge(const struct cost *cost)
{
	if (cost->back_edge >= 0)
		printf("# %s: Linux 6.1 would refuse it: back-edge from insn %ld to %ld\n",
		       cost->name, cost->back_edge, cost->back_edge + 1);
	return cost->back_edge < 0;
}

static void no_loop_has_a_conditional_back_edge(void **state)
{
	bool takes = true;

	(void)state;
	for (size_t i = 0; i < cost_count; i++)
		takes &= has_no_back_edge(&costs[i]);
	assert_true(takes);
}

/* Frames are measured as by kernels before 6.8, which need more. */
static bool fits_kernels(const struct cost *cost, const char *path)
{
	const bool has_room = strstr(path, "/ringfence.") != NULL;
	const uint32_t insns = has_room ? INSNS_MOST : INSNS_WITH_SHARES;
	const uint32_t stack = has_room ? STACK_MOST : STACK_MAX;

	printf("# %s: %s insns %" PRIu32 " of %" PRIu32 ", stack %" PRIu32 " of %" PRIu32
	       ", %" PRIu32 " since Linux 6.8\n",
	       path, cost->name, cost->insns, insns, cost->stack, stack, cost->stack_6_8);
	return cost->insns <= insns && cost->stack <= stack;
}

/* The program of this build has the same bounds, regardless of its budget. */
static void the_program_leaves_room_for_changes(void **state)
{
	bool fits = true;
	int entries = 0;

	(void)state;
	for (size_t i = 0; i < cost_count; i++)
		if (strncmp(costs[i].name, "ringfence", strlen("ringfence")) == 0) {
			fits &= fits_kernels(&costs[i], "build/ringfence.bpf.o");
			entries++;
		}
	assert_int_equal(entries, 2);
	assert_true(fits);
}

/* Checks only existing objects: the Makefile builds them. */
static bool other_keeps_to_budget(const char *path)
{
	const size_t first = cost_count;
	struct bpf_object *object = bpf_object__open_file(path, NULL);
	bool kept = true;
	int err;

	assert_non_null(object);
	keep_logs(object);
	err = bpf_object__load(object);
	if (!err)
		read_costs(object);
	else
		printf("# %s: it does not load: %s: %s\n", path, strerror(-err), logs[first]);
	for (size_t i = first; i < cost_count; i++) {
		kept &= fits_kernels(&costs[i], path);
		kept &= has_no_back_edge(&costs[i]);
	}
	cost_count = first;
	bpf_object__close(object);
	return !err && kept;
}

static void programs_of_other_compilers_keep_to_their_budget(void **state)
{
	glob_t paths = {};
	bool kept = true;

	(void)state;
	if (glob(OTHERS, 0, NULL, &paths))
		printf("# no other clang has made a program here\n");
	for (size_t i = 0; i < paths.gl_pathc; i++)
		kept &= other_keeps_to_budget(paths.gl_pathv[i]);
	globfree(&paths);
	assert_true(kept);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_program_keeps_to_its_budget),
		cmocka_unit_test(the_program_leaves_room_for_changes),
		cmocka_unit_test(no_loop_has_a_conditional_back_edge),
		cmocka_unit_test(programs_of_other_compilers_keep_to_their_budget),
	};

	return cmocka_run_group_tests_name("budget", tests, setup, NULL);
}
