/* SPDX-License-Identifier: GPL-2.0 */
/* A loaded program with an injected clock, for tests that run it by BPF_PROG_TEST_RUN. */
#ifndef RINGFENCE_TESTS_PROGRAM_H
#define RINGFENCE_TESTS_PROGRAM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above to come first. */
#include <cmocka.h>

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/load.h"
#include "fence/fence.h"
#include "ringfence/limiter.h"
#include "rules/policy.h"
#include "rules/rulefile.h"
#include "spare.h"

#ifdef TEST_SHARES /* the program with shares, in place of the other one */
#include "build/ringfence_fleet.skel.h"
#define ringfence_bpf ringfence_fleet_bpf
#define ringfence_bpf__open ringfence_fleet_bpf__open
#define ringfence_bpf__load ringfence_fleet_bpf__load
#define ringfence_bpf__destroy ringfence_fleet_bpf__destroy
#else
#include "build/ringfence.skel.h"
#endif

#define NS_PER_S 1000000000ULL
#define NS_PER_MS 1000000ULL
#define START_NS (1000 * NS_PER_S) /* of most tests */
#define TICK_NS 4000000U	   /* HZ 250 */
#define SOURCES 4096
#define KNOWN_FILTER_LINES (2 * SOURCES / RF_KNOWN_FILTER_SHARE)

struct program {
	struct ringfence_bpf *object;
	struct rf_fence fence;	  /* the view of the command line */
	struct rf_config *config; /* the fence's */
};

/* ---- loading ---- */

static inline void assert_done(int err, const struct rf_error *error)
{
	if (err)
		fail_msg("%d: %s", err, error->text);
}

static inline void program_set_time(struct program *program, uint64_t now_ns)
{
	__atomic_store_n(&program->config->injected_ns, now_ns, __ATOMIC_RELAXED);
}

/* Before the load: room for that many windows of each family. */
static inline void program_set_room(const struct ringfence_bpf *object, __u32 sources4,
				    __u32 sources6)
{
	assert_int_equal(
		bpf_map__set_max_entries(object->maps.windows4, RF_WINDOWS_ENTRIES(sources4)), 0);
	assert_int_equal(
		bpf_map__set_max_entries(object->maps.windows6, RF_WINDOWS_ENTRIES(sources6)), 0);
	assert_int_equal(bpf_map__set_max_entries(object->maps.slots4, sources4), 0);
	assert_int_equal(bpf_map__set_max_entries(object->maps.slots6, sources6), 0);
}

/* Opens the object without loading it, to let a test change a map first. With both entries. */
static inline void program_open_both(struct program *program)
{
	*program = (struct program){.object = ringfence_bpf__open(), .fence = RF_FENCE_NONE};
	assert_non_null(program->object);
	program->object->rodata->rf_rodata.injected_clock = 1;
	program_set_room(program->object, SOURCES, SOURCES);
	assert_int_equal(
		bpf_map__set_max_entries(program->object->maps.known_filter, KNOWN_FILTER_LINES),
		0);
}

/*
 * The same without `ringfence_frags`, since the verifier takes as long for it as for the other
 * entry.
 */
static inline void program_open(struct program *program)
{
	program_open_both(program);
	assert_int_equal(bpf_program__set_autoload(program->object->progs.ringfence_frags, false),
			 0);
}

/* Opens the fence of the loaded program, as the command line does. */
static inline void program_adopt(struct program *program)
{
	struct rf_program loaded = RF_PROGRAM_NONE;
	struct bpf_prog_info info = {};
	struct rf_error error = {};
	__u32 length = sizeof(info);

	assert_int_equal(bpf_obj_get_info_by_fd(bpf_program__fd(program->object->progs.ringfence),
						&info, &length),
			 0);
	assert_done(rf_program_open(&loaded, info.id, &error), &error);
	assert_done(rf_fence_from_program(&program->fence, &loaded, &error), &error);
	rf_program_close(&loaded);
	program->config = program->fence.config;
}

/* Loads the program, or reuses one from an earlier test, and opens its fence. */
static inline void program_load_only(struct program *program)
{
	struct ringfence_bpf *spare = spare_take(program->object->obj);

	if (spare) {
		ringfence_bpf__destroy(program->object);
		program->object = spare;
	} else {
		assert_int_equal(ringfence_bpf__load(program->object), 0);
	}
	program_adopt(program);
}

/* The same, in the state of an enforced fence whose clock is at one second. */
static inline void program_load(struct program *program)
{
	struct rf_error error = {};

	program_load_only(program);
	program->config->tick_ns = TICK_NS;
	if (program->object->rodata->rf_rodata.injected_clock)
		program_set_time(program, NS_PER_S);
	assert_done(rf_fence_make_leases(&program->fence, &error), &error);
}

static inline void program_destroy(void *object)
{
	ringfence_bpf__destroy(object);
}

/* The next test may use it again. */
static inline void program_close(struct program *program)
{
	rf_fence_close(&program->fence);
	spare_put(program->object, program->object->obj, program_destroy);
}

static inline struct program *program_new(void (*open)(struct program *))
{
	struct program *program = calloc(1, sizeof(*program));

	assert_non_null(program);
	open(program);
	program_load(program);
	return program;
}

/* For a test whose state is a separate program. */
static inline int program_setup(void **state)
{
	*state = program_new(program_open);
	return 0;
}

static inline int program_setup_both(void **state)
{
	*state = program_new(program_open_both);
	return 0;
}

static inline int program_teardown(void **state)
{
	program_close(*state);
	free(*state);
	return 0;
}

/* Pins the process to one CPU, which fixes the place of a source's lease. */
static inline void program_run_on(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
}

/* The same on one CPU, and not at the very beginning of time. */
static inline int program_setup_at_start(void **state)
{
	program_run_on(0);
	program_setup(state);
	program_set_time(*state, START_NS);
	return 0;
}

/* As attached with that many leases for each CPU; before it is loaded. */
static inline void program_set_leases(struct program *program, uint32_t leases)
{
	const struct rf_attach attach = {.leases = leases};
	const uint32_t places = rf_leases_wanted(&attach) / RF_LEASE_WAYS;

	assert_int_equal(bpf_map__set_max_entries(program->object->maps.leases, places), 0);
	assert_int_equal(bpf_map__set_max_entries(program->object->maps.lease_tags, places), 0);
}

/* Always the same key: the same sources always share a place. */
static inline void program_fix_key(struct program *program)
{
	static const uint64_t key[] = {0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, 0x94d049bb133111eb};

	for (int i = 0; i < 3; i++)
		program->config->lease_key[i] = key[i];
}

/* ---- rules ---- */

static inline void program_commit(struct program *program, struct rf_ruleset *rules,
				  uint32_t next_id, const struct rf_confirm *confirm)
{
	struct rf_error error = {};

	program->config->next_limit_id = next_id;
	assert_done(rf_fence_commit(&program->fence, rules, confirm, NULL, &error), &error);
	rf_ruleset_free(rules);
}

static inline uint32_t program_next_id(const struct program *program)
{
	return program->config->next_limit_id ? program->config->next_limit_id : 1;
}

/* The active rules, as read back. */
static inline struct rf_ruleset program_rules(const struct program *program)
{
	struct rf_ruleset rules = RF_RULESET_NONE;
	struct rf_error error = {};

	assert_done(rf_fence_ruleset(&program->fence, &rules, &error), &error);
	return rules;
}

/*
 * Puts a limit into slot 0, in addition to the existing ones. A test that needs a tick other than
 * TICK_NS writes it into the configuration before.
 */
static inline void program_set_limit(struct program *program, const struct rf_limit *limit)
{
	const struct rf_config *config = program->config;
	const struct rf_definition definition = {.limit = *limit};
	struct rf_ruleset rules = program_rules(program);
	uint32_t next_id = program_next_id(program);
	struct rf_error error = {};

	assert_done(rf_ruleset_put_limit(&rules, 0, &definition, &config->bank[~config->active & 1],
					 config->tick_ns, &next_id, &error),
		    &error);
	program_commit(program, &rules, next_id, NULL);
}

static inline int program_read_no_file(const char *path, struct rf_prefixes *prefixes,
				       struct rf_mistakes *mistakes, struct rf_error *error)
{
	(void)prefixes;
	(void)mistakes;
	return rf_error_failed(error, -EINVAL, "%s: a test reads no file", path);
}

/* The contents of a rules file, in place of all rules; the caller commits or frees it. */
static inline struct rf_ruleset program_rules_of(const struct program *program, const char *text,
						 bool unconfirmed, uint32_t *next_id)
{
	const struct rf_config *config = program->config;
	struct rf_bank present = config->bank[config->active & 1];
	struct rf_rulefile_place place = {
		.present = &present,
		.other = &config->bank[~config->active & 1],
		.unconfirmed = unconfirmed,
		.now = rf_fence_jiffies(&program->fence),
		.tick_ns = config->tick_ns,
		.next_id = program_next_id(program),
	};
	struct rf_ruleset rules = RF_RULESET_NONE;
	struct rf_rulefile file = {};
	struct rf_error error = {};
	char *copy = strdup(*text ? text : "newcomers off"); /* an empty file is an error */

	assert_non_null(copy);
	assert_done(rf_fence_bank(&program->fence, &present, &error), &error);
	assert_done(rf_rulefile_parse(copy, program_read_no_file, &file, &error), &error);
	assert_int_equal(file.mistakes.count, 0);
	assert_done(rf_rulefile_rules(&file, &place, &rules, &error), &error);
	rf_rulefile_free(&file);
	free(copy);
	*next_id = place.next_id;
	return rules;
}

/* Replaces all rules by these, like 'ringfence apply'. */
static inline void program_apply(struct program *program, const char *text)
{
	uint32_t next_id;
	struct rf_ruleset rules = program_rules_of(program, text, false, &next_id);

	program_commit(program, &rules, next_id, NULL);
}

static inline void program_apply_unconfirmed(struct program *program, const char *text,
					     uint64_t time_ns)
{
	const struct rf_confirm confirm = {time_ns};
	uint32_t next_id;
	struct rf_ruleset rules = program_rules_of(program, text, true, &next_id);

	program_commit(program, &rules, next_id, &confirm);
}

static inline struct rf_limit limit_of(uint64_t rate, uint64_t window_ns)
{
	return (struct rf_limit){.name = "any",
				 .rate = rate,
				 .window_ns = window_ns,
				 .cells = RF_CELLS,
				 .per4 = 32,
				 .per6 = 64};
}

/* The cell of a policy in jiffies at that time, and when a cell starts. */
static inline uint64_t program_epoch_at(const struct rf_policy *policy, uint64_t time_ns)
{
	return rf_epoch(policy, time_ns / TICK_NS);
}

static inline uint64_t program_epoch_ns(const struct rf_policy *policy, uint64_t epoch)
{
	return rf_epoch_start(policy, epoch) * TICK_NS;
}

/* The active bank, by the injected clock. */
static inline const struct rf_bank *program_bank(const struct program *program)
{
	return &program->config->bank[rf_fence_standing(&program->fence).in_force & 1];
}

static inline int program_slot(const struct program *program, const char *name)
{
	int slot = rf_bank_find(program_bank(program), name);

	if (slot < 0)
		fail_msg("no limit '%s'", name);
	return slot;
}

static inline const struct rf_policy *program_policy_of(const struct program *program,
							const char *name)
{
	return &program_bank(program)->policy[program_slot(program, name)];
}

/* The policy of the limit in slot 0. */
static inline const struct rf_policy *program_policy(const struct program *program)
{
	return &program_bank(program)->policy[0];
}

/* ---- packets ---- */

/* The shortest IPv4 packet from `source`. */
struct frame4 {
	struct ethhdr eth;
	struct iphdr ip;
	unsigned char payload[30];
} __attribute__((packed));

static inline struct frame4 frame4_from(__be32 source)
{
	return (struct frame4){
		.eth.h_proto = htons(ETH_P_IP),
		.ip = {.version = 4, .ihl = 5, .protocol = 17, .ttl = 64, .saddr = source},
	};
}

struct frame6 {
	struct ethhdr eth;
	struct ipv6hdr ip;
	unsigned char payload[30];
} __attribute__((packed));

static inline struct frame6 frame6_from(const char *source)
{
	struct frame6 frame = {.eth.h_proto = htons(ETH_P_IPV6),
			       .ip = {.version = 6, .nexthdr = 17, .hop_limit = 64}};

	assert_int_equal(inet_pton(AF_INET6, source, &frame.ip.saddr), 1);
	return frame;
}

/* Runs one frame through an entry; returns the XDP verdict, or an error. */
static inline int program_try(const struct bpf_program *entry, const void *frame, size_t length)
{
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = frame, .data_size_in = length, .repeat = 1);
	int err = bpf_prog_test_run_opts(bpf_program__fd(entry), &run);

	return err ? err : (int)run.retval;
}

static inline unsigned int program_run(const struct bpf_program *entry, const void *frame,
				       size_t length)
{
	int verdict = program_try(entry, frame, length);

	assert_true(verdict >= 0);
	return verdict;
}

/* ---- counters ---- */

static inline struct rf_counters program_counters(const struct program *program)
{
	struct rf_counters counters = {};
	struct rf_error error = {};

	assert_done(rf_fence_counters(&program->fence, &counters, &error), &error);
	return counters;
}

static inline struct rf_limit_counters program_slot_counters(const struct program *program,
							     int slot)
{
	struct rf_limit_counters counters[RF_LIMITS_MAX];
	struct rf_bank bank;
	struct rf_error error = {};

	assert_done(rf_fence_bank(&program->fence, &bank, &error), &error);
	assert_done(rf_fence_limits_counters(&program->fence, &bank, counters, &error), &error);
	return counters[slot];
}

static inline struct rf_limit_counters program_limit_counters_of(const struct program *program,
								 const char *name)
{
	return program_slot_counters(program, program_slot(program, name));
}

/* The counters of the limit in slot 0. */
static inline struct rf_limit_counters program_limit_counters(const struct program *program)
{
	return program_slot_counters(program, 0);
}

/* The sum over all reasons: every packet has exactly one reason. */
static inline uint64_t program_packets(const struct program *program)
{
	const struct rf_counters counters = program_counters(program);
	uint64_t packets = 0;

	for (int i = 0; i < RF_REASON_COUNT; i++)
		packets += counters.reason[i].packets;
	return packets;
}

/*
 * The state of a source under a limit, with the amounts that its leases hold; all 0 for a newcomer.
 */
static inline struct rf_source program_source(const struct program *program, const char *name,
					      const char *address)
{
	struct rf_address source;
	struct rf_source state = {};
	struct rf_error error = {};
	int err;

	assert_done(rf_parse_address(address, &source, &error), &error);
	err = rf_fence_source(&program->fence, program_policy_of(program, name), &source, &state,
			      &error);
	if (err == -ENOENT)
		return (struct rf_source){};
	assert_done(err, &error);
	return state;
}

#endif /* RINGFENCE_TESTS_PROGRAM_H */
