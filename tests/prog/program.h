/* SPDX-License-Identifier: GPL-2.0 */
/* A loaded program with an injected clock, for tests that run it by BPF_PROG_TEST_RUN. */
#ifndef RINGFENCE_TESTS_PROGRAM_H
#define RINGFENCE_TESTS_PROGRAM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above before it. */
#include <cmocka.h>

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fence_internal.h"
#include "ringfence/abi.h"
#include "rules.h"

#include "build/ringfence.skel.h"

#define NS_PER_S 1000000000ULL
#define NS_PER_MS 1000000ULL
#define TICK_NS 4000000U /* HZ 250 */
#define SOURCES 4096

struct program {
	struct ringfence_bpf *object;
	struct rf_fence fence;	  /* what the command line would have of it */
	struct rf_config *config; /* its own */
	size_t config_size;
	uint32_t next_id;
};

/* Opens without loading, so that a test may change a map first. */
static inline void program_open(struct program *program)
{
	*program = (struct program){
		.object = ringfence_bpf__open(), .fence = RF_FENCE_NONE, .next_id = 1};
	assert_non_null(program->object);
	program->object->rodata->rf_rodata.injected_clock = 1;
	assert_int_equal(bpf_map__set_max_entries(program->object->maps.windows4, SOURCES), 0);
	assert_int_equal(bpf_map__set_max_entries(program->object->maps.windows6, SOURCES), 0);
}

/* As for a fence that is armed. */
static inline void program_make_leases(struct program *program)
{
	struct rf_fence *fence = &program->fence;
	struct rf_error error = {};

	for (int i = 0; i < RF_MAP_COUNT; i++)
		fence->map_fd[i] =
			bpf_object__find_map_fd_by_name(program->object->obj, rf_map_in_object(i));
	fence->config = program->config;
	fence->sources = SOURCES;
	assert_int_equal(rf_leases_map(fence, &error), 0);
	assert_int_equal(rf_fence_make_leases(fence, &error), 0);
}

static inline void program_load(struct program *program)
{
	size_t page = sysconf(_SC_PAGESIZE);

	assert_int_equal(ringfence_bpf__load(program->object), 0);
	program->config_size = (sizeof(*program->config) + page - 1) / page * page;
	program->config = mmap(NULL, program->config_size, PROT_READ | PROT_WRITE, MAP_SHARED,
			       bpf_map__fd(program->object->maps.bss), 0);
	assert_true(program->config != MAP_FAILED);
	program->config->tick_ns = TICK_NS;
	program_make_leases(program);
}

static inline void program_close(struct program *program)
{
	rf_leases_unmap(&program->fence);
	if (program->config)
		munmap(program->config, program->config_size);
	ringfence_bpf__destroy(program->object);
}

/* For a test that has a program of its own as its state. */
static inline int program_setup(void **state)
{
	struct program *program = calloc(1, sizeof(*program));

	assert_non_null(program);
	program_open(program);
	program_load(program);
	*state = program;
	return 0;
}

static inline int program_teardown(void **state)
{
	program_close(*state);
	free(*state);
	return 0;
}

/*
 * Puts one limit in force, as the command line would, but without waiting for other CPUs. A test
 * that wants another tick than TICK_NS writes it into the configuration before.
 */
static inline void program_set_limit(struct program *program, const struct rf_limit *limit)
{
	uint64_t next = program->config->active + 1;
	struct rf_bank rules = program->config->bank[program->config->active & 1];

	rf_rules_put(&rules, 0, limit, program->config->tick_ns, &program->next_id);
	program->config->bank[next & 1] = rules;
	__atomic_store_n(&program->config->active, next, __ATOMIC_RELEASE);
}

static inline struct rf_limit limit_of(uint64_t rate, uint64_t window_ns)
{
	return (struct rf_limit){.name = "all",
				 .rate = rate,
				 .window_ns = window_ns,
				 .cells = RF_CELLS,
				 .per4 = 32,
				 .per6 = 64};
}

static inline const struct rf_policy *program_policy(const struct program *program)
{
	return &program->config->bank[program->config->active & 1].policy[0];
}

static inline void program_set_time(struct program *program, uint64_t now_ns)
{
	__atomic_store_n(&program->config->injected_ns, now_ns, __ATOMIC_RELAXED);
}

/* The least of an IPv4 packet from `source`. */
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

static inline struct rf_counters program_counters(const struct program *program)
{
	struct rf_counters counters = {};
	struct rf_error error = {};

	assert_int_equal(rf_fence_counters(&program->fence, &counters, &error), 0);
	return counters;
}

static inline struct rf_limit_counters program_limit_counters(const struct program *program)
{
	struct rf_limit_counters counters = {};
	struct rf_error error = {};

	assert_int_equal(rf_fence_limit_counters(&program->fence, 0, &counters, &error), 0);
	return counters;
}

#endif /* RINGFENCE_TESTS_PROGRAM_H */
