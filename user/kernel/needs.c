// SPDX-License-Identifier: GPL-2.0
/* The required kernel features, and whether they are available. */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/btf.h>
#include <linux/capability.h>
#include <linux/if_link.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/units.h"
#include "kernel/info.h"
#include "kernel/needs.h"

/* ---- features ---- */

const struct rf_feature_row rf_feature_rows[RF_FEATURE_COUNT] = {
	[RF_FEATURE_XDP] = {"xdp", "XDP programs", "4.8", RF_TO_LOAD, NULL},
	[RF_FEATURE_ATOMICS] =
		{"atomics", "atomic operations that return a value (fetch-add, compare-and-swap)",
		 "5.12", RF_TO_LOAD, NULL},
	[RF_FEATURE_FUNCTIONS] = {"functions", "global functions in programs", "5.6", RF_TO_LOAD,
				  NULL},
	[RF_FEATURE_JIFFIES] = {"jiffies", "the helper bpf_jiffies64", "5.5", RF_TO_LOAD, NULL},
	[RF_FEATURE_KTIME] = {"ktime", "the helper bpf_ktime_get_ns", "4.1", RF_TO_LOAD, NULL},
	[RF_FEATURE_PERCPU_ARRAY] = {"percpu_array", "arrays for each CPU", "4.6", RF_TO_LOAD,
				     NULL},
	[RF_FEATURE_MMAPABLE] = {"mmapable", "arrays in shared memory", "5.5", RF_TO_LOAD, NULL},
	[RF_FEATURE_LPM_TRIE] = {"lpm_trie", "maps of prefixes (LPM tries)", "4.11", RF_TO_LOAD,
				 NULL},
	[RF_FEATURE_MAP_OF_MAPS] = {"map_of_maps", "arrays of maps", "4.12", RF_TO_LOAD, NULL},
	[RF_FEATURE_BATCH] = {"batch", "reading of maps in batches", "5.6", RF_FOR_RULES, NULL},
	[RF_FEATURE_SYSCALL] = {"syscall",
				"programs run by a system call (the command line's "
				"clock)",
				"5.14", RF_FOR_RULES, NULL},
	[RF_FEATURE_LINK] = {"link", "bpf_links for XDP", "5.9", RF_TO_ATTACH, NULL},
	[RF_FEATURE_FRAGS] = {"frags", "frames in several buffers (xdp.frags)", "5.18", RF_OPTIONAL,
			      "no native mode with a jumbo MTU"},
	[RF_FEATURE_ITERATORS] = {"iterators", "BPF iterators over maps", "5.9", RF_OPTIONAL,
				  "no counters to 'cat' in the BPF file system"},
	[RF_FEATURE_READERS] = {"readers", "reading of pinned maps without capabilities", "5.19",
				RF_OPTIONAL, "only processes with CAP_BPF can read"},
	[RF_FEATURE_JIT] = {"jit", "the BPF JIT", "4.8", RF_OPTIONAL, "it works, but is slow"},
};

/* Does this errno mean that the process or the machine has no files or no memory left? */
static bool has_run_out(int negative_errno)
{
	return negative_errno == -EMFILE || negative_errno == -ENFILE ||
	       negative_errno == -ENOMEM || negative_errno == -EAGAIN;
}

bool rf_features_missing(const struct rf_features *has, char text[RF_MISSING_TEXT_SIZE])
{
	size_t length = 0;

	*text = '\0';
	for (int i = 0; i < RF_FEATURE_COUNT; i++) {
		if (has->has[i] != RF_NO || rf_feature_rows[i].need != RF_TO_LOAD)
			continue;
		length += snprintf(text + length, RF_MISSING_TEXT_SIZE - length,
				   "%s%s, which came with Linux %s", length ? ", and " : "",
				   rf_feature_rows[i].text, rf_feature_rows[i].since);
		if (length >= RF_MISSING_TEXT_SIZE)
			break;
	}
	return length > 0;
}

/* ---- the probe ---- */

/*
 * Tries each kernel feature with the smallest program or map that needs it. The version of the
 * kernel is not conclusive: distributions backport features into older kernels, and configurations
 * disable them. Nothing is attached, pinned or left behind.
 */

#define LOOPBACK_INDEX 1 /* in every network namespace */

/* Instructions, like the macros in the kernel's linux/filter.h. */
#define INSN(operation, to, from, offset, value) \
	((struct bpf_insn){.code = (operation),  \
			   .dst_reg = (to),      \
			   .src_reg = (from),    \
			   .off = (offset),      \
			   .imm = (value)})
#define MOVE(to, value) INSN(BPF_ALU64 | BPF_MOV | BPF_K, to, 0, 0, value)
#define STORE(offset, value) INSN(BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, offset, value)
#define ATOMIC(operation, offset, from) \
	INSN(BPF_STX | BPF_ATOMIC | BPF_DW, BPF_REG_10, from, offset, operation)
#define HELPER(number) INSN(BPF_JMP | BPF_CALL, 0, 0, 0, number)
#define FUNCTION(distance) INSN(BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_CALL, 0, distance)
#define EXIT INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

#define PASS MOVE(BPF_REG_0, XDP_PASS), EXIT

static const struct bpf_insn pass[] = {PASS};

static const struct bpf_insn atomics[] = {
	STORE(-8, 0),
	MOVE(BPF_REG_0, 0),
	MOVE(BPF_REG_1, 1),
	ATOMIC(BPF_ADD | BPF_FETCH, -8, BPF_REG_1),
	ATOMIC(BPF_CMPXCHG, -8, BPF_REG_1),
	PASS,
};

static const struct bpf_insn jiffies[] = {HELPER(BPF_FUNC_jiffies64), PASS};
static const struct bpf_insn ktime[] = {HELPER(BPF_FUNC_ktime_get_ns), PASS};
static const struct bpf_insn functions[] = {FUNCTION(1), EXIT, PASS};

static int load(enum bpf_prog_type type, const struct bpf_insn *insn, size_t count,
		const struct bpf_prog_load_opts *options)
{
	int fd = bpf_prog_load(type, NULL, "GPL", insn, count, options);

	return fd < 0 ? -errno : fd;
}

static int ran_out; /* errno of the latest try that failed for want of files or memory */

/*
 * A refusal for lack of rights, files or memory does not show whether the kernel has the feature.
 */
static enum rf_answer refusal(int err)
{
	if (has_run_out(err))
		ran_out = -err;
	return err == -EPERM || has_run_out(err) ? RF_NOT_KNOWN : RF_NO;
}

/*
 * The result of a system call as a feature's state: a file descriptor, which it closes, or a
 * negative errno.
 */
static enum rf_answer answer(int fd)
{
	if (fd < 0)
		return refusal(fd);
	close(fd);
	return RF_YES;
}

static enum rf_answer try_program(const struct bpf_insn *insn, size_t count)
{
	return answer(load(BPF_PROG_TYPE_XDP, insn, count, NULL));
}

/* ---- functions ---- */

/* The BTF of `functions`: the type int (*)(void), and two global functions of that type. */
static const struct {
	struct btf_header header;
	struct {
		struct btf_type type;
		__u32 encoding;
	} integer;
	struct btf_type prototype, first, second;
	char names[16];
} function_types = {
	.header = {.magic = BTF_MAGIC,
		   .version = BTF_VERSION,
		   .hdr_len = sizeof(struct btf_header),
		   .type_len = 16 + 3 * sizeof(struct btf_type),
		   .str_off = 16 + 3 * sizeof(struct btf_type),
		   .str_len = 16},
	.integer = {{.name_off = 1, .info = BTF_KIND_INT << 24, .size = 4},
		    BTF_INT_SIGNED << 24 | 32},
	.prototype = {.info = BTF_KIND_FUNC_PROTO << 24, .type = 1},
	.first = {.name_off = 5, .info = BTF_KIND_FUNC << 24 | BTF_FUNC_GLOBAL, .type = 2},
	.second = {.name_off = 11, .info = BTF_KIND_FUNC << 24 | BTF_FUNC_GLOBAL, .type = 2},
	.names = "\0int\0first\0last",
};

static enum rf_answer try_functions(void)
{
	static const struct bpf_func_info places[] = {{.insn_off = 0, .type_id = 3},
						      {.insn_off = 2, .type_id = 4}};
	int types = bpf_btf_load(&function_types, sizeof(function_types), NULL);
	LIBBPF_OPTS(bpf_prog_load_opts, options, .prog_btf_fd = types, .func_info = places,
		    .func_info_cnt = ARRAY_SIZE(places), .func_info_rec_size = sizeof(places[0]));
	enum rf_answer can;

	if (types < 0)
		return refusal(types);
	can = answer(load(BPF_PROG_TYPE_XDP, functions, ARRAY_SIZE(functions), &options));
	close(types);
	return can;
}

/* ---- other kinds of programs ---- */

static enum rf_answer try_frags(void)
{
	LIBBPF_OPTS(bpf_prog_load_opts, options, .prog_flags = BPF_F_XDP_HAS_FRAGS);

	return answer(load(BPF_PROG_TYPE_XDP, pass, ARRAY_SIZE(pass), &options));
}

/* Loads and runs a program, as the command line does to read the clocks of the data path. */
static enum rf_answer try_syscall(void)
{
	LIBBPF_OPTS(bpf_prog_load_opts, options, .prog_flags = BPF_F_SLEEPABLE);
	LIBBPF_OPTS(bpf_test_run_opts, run);
	int fd = load(BPF_PROG_TYPE_SYSCALL, pass, ARRAY_SIZE(pass), &options);
	int err;

	if (fd < 0)
		return refusal(fd);
	err = bpf_prog_test_run_opts(fd, &run);
	close(fd);
	return err ? RF_NO : RF_YES;
}

static enum rf_answer try_iterators(void)
{
	static const struct bpf_insn nothing[] = {MOVE(BPF_REG_0, 0), EXIT};
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = BPF_TRACE_ITER);
	int type = libbpf_find_vmlinux_btf_id("bpf_map_elem", BPF_TRACE_ITER);

	if (type < 0) { /* libbpf returns ESRCH, even if it could open no file */
		int fd = dup(STDERR_FILENO);

		return fd < 0 ? refusal(-errno) : (close(fd), RF_NO);
	}
	options.attach_btf_id = type;
	return answer(load(BPF_PROG_TYPE_TRACING, nothing, ARRAY_SIZE(nothing), &options));
}

/*
 * The loopback interface cannot offload a program, and returns EOPNOTSUPP. A kernel without links
 * for XDP returns a different error.
 */
static enum rf_answer try_link(int program)
{
	LIBBPF_OPTS(bpf_link_create_opts, options, .flags = XDP_FLAGS_HW_MODE);
	int fd = bpf_link_create(program, LOOPBACK_INDEX, BPF_XDP, &options);

	if (fd >= 0)
		return answer(fd);
	return fd == -EOPNOTSUPP ? RF_YES : refusal(fd);
}

static enum rf_answer try_jit(int program)
{
	struct bpf_prog_info info = {};

	if (rf_program_info(program, &info))
		return RF_NOT_KNOWN;
	return info.jited_prog_len ? RF_YES : RF_NO;
}

/* ---- maps ---- */

static int make_map(enum bpf_map_type type, size_t key_size, __u32 flags)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = flags);

	return bpf_map_create(type, NULL, key_size, sizeof(__u64), 1, &options);
}

static enum rf_answer try_map(enum bpf_map_type type, __u32 flags)
{
	return answer(make_map(type, sizeof(__u32), flags));
}

/* Makes a trie. Its keys are a length and an IPv4 address. */
static int make_trie(void)
{
	return make_map(BPF_MAP_TYPE_LPM_TRIE, 2 * sizeof(__u32), BPF_F_NO_PREALLOC);
}

static enum rf_answer try_map_of_maps(void)
{
	int trie = make_trie();
	LIBBPF_OPTS(bpf_map_create_opts, options, .inner_map_fd = trie);
	int fd;

	if (trie < 0)
		return refusal(trie);
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, NULL, sizeof(__u32), sizeof(__u32), 1,
			    &options);
	close(trie);
	return answer(fd);
}

/* For an empty map, a kernel that has batches returns ENOENT. */
static enum rf_answer try_batch(void)
{
	int fd = make_map(BPF_MAP_TYPE_HASH, sizeof(__u32), 0);
	__u32 next, key, count = 1;
	__u64 value;
	int err;

	if (fd < 0)
		return refusal(fd);
	err = bpf_map_lookup_batch(fd, NULL, &next, &key, &value, &count, NULL) ? errno : 0;
	close(fd);
	return !err || err == ENOENT ? RF_YES : RF_NO;
}

/* ---- without capabilities ---- */

/*
 * A kernel that lets any process read an open map refuses the descriptor (EBADF). Other kernels
 * refuse the process.
 */
static int read_without_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {};
	__u64 key = 0, value;

	if (syscall(SYS_capset, &header, none))
		return 2;
	return bpf_map_lookup_elem(-1, &key, &value) && errno == EBADF ? 0 : 1;
}

static enum rf_answer try_readers(void)
{
	int status;
	pid_t child = fork();

	if (child == 0)
		_exit(read_without_capabilities());
	if (child < 0 || waitpid(child, &status, 0) < 0 || !WIFEXITED(status))
		return RF_NOT_KNOWN;
	switch (WEXITSTATUS(status)) {
	case 0:
		return RF_YES;
	case 1:
		return RF_NO;
	default:
		return RF_NOT_KNOWN;
	}
}

/* ---- all features ---- */

static void try_programs(struct rf_features *features, int program)
{
	enum rf_answer *has = features->has;

	has[RF_FEATURE_ATOMICS] = try_program(atomics, ARRAY_SIZE(atomics));
	has[RF_FEATURE_FUNCTIONS] = try_functions();
	has[RF_FEATURE_JIFFIES] = try_program(jiffies, ARRAY_SIZE(jiffies));
	has[RF_FEATURE_KTIME] = try_program(ktime, ARRAY_SIZE(ktime));
	has[RF_FEATURE_FRAGS] = try_frags();
	has[RF_FEATURE_SYSCALL] = try_syscall();
	has[RF_FEATURE_ITERATORS] = try_iterators();
	has[RF_FEATURE_LINK] = try_link(program);
	has[RF_FEATURE_JIT] = try_jit(program);
}

static void try_maps(struct rf_features *features)
{
	enum rf_answer *has = features->has;

	has[RF_FEATURE_PERCPU_ARRAY] = try_map(BPF_MAP_TYPE_PERCPU_ARRAY, 0);
	has[RF_FEATURE_MMAPABLE] = try_map(BPF_MAP_TYPE_ARRAY, BPF_F_MMAPABLE);
	has[RF_FEATURE_LPM_TRIE] = answer(make_trie());
	has[RF_FEATURE_MAP_OF_MAPS] = try_map_of_maps();
	has[RF_FEATURE_BATCH] = try_batch();
}

void rf_features_probe(struct rf_features *features)
{
	int program = load(BPF_PROG_TYPE_XDP, pass, ARRAY_SIZE(pass), NULL);

	ran_out = 0;
	*features = (struct rf_features){};
	features->has[RF_FEATURE_READERS] = try_readers();
	if (program == -EACCES)
		return;
	features->has[RF_FEATURE_XDP] = program < 0 ? refusal(program) : RF_YES;
	if (program >= 0) {
		try_programs(features, program);
		try_maps(features);
		close(program);
	}
	features->ran_out = ran_out;
}
