// SPDX-License-Identifier: GPL-2.0
/*
 * The rules of a fence and its clock. There are two banks of rules and one word that says which is
 * in force; the other is free to be written once every program that may still read it is done.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "build/clock.skel.h"
#include "fence_internal.h"
#include "rules.h"

#define LOCK_PATH "/run/ringfence.lock"
#define NS_PER_S 1000000000ULL

int rf_fence_lock(struct rf_error *error)
{
	int fd = open(LOCK_PATH, O_CREAT | O_RDWR | O_CLOEXEC, 0600);

	/* Never closed: the lock is the process's until it ends, however it ends. */
	if (fd < 0 || flock(fd, LOCK_EX))
		return rf_error_failed(error, -errno, "%s: cannot lock: %s; run as root", LOCK_PATH,
				       strerror(errno));
	return 0;
}

/* ---- clock ---- */

static uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now); /* what bpf_ktime_get_ns() reads */
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

uint64_t rf_fence_time(const struct rf_fence *fence, const struct rf_policy *policy)
{
	const struct rf_config *config = fence->config;

	if (policy->clock == RF_KTIME || !config->tick_ns)
		return monotonic_ns();
	return config->base.jiffies + (monotonic_ns() - config->base.ktime_ns) / config->tick_ns;
}

uint64_t rf_fence_duration_ns(const struct rf_fence *fence, const struct rf_policy *policy,
			      uint64_t units)
{
	return policy->clock == RF_KTIME ? units : units * fence->config->tick_ns;
}

static int run_clock(int fd, struct rf_clock_reading *reading)
{
	LIBBPF_OPTS(bpf_test_run_opts, run, .ctx_in = reading, .ctx_size_in = sizeof(*reading));

	return bpf_prog_test_run_opts(fd, &run);
}

/* Both clocks at the start of a jiffy, so that the one can be told from the other. */
static int find_jiffy_edge(int fd, struct rf_clock_reading *edge)
{
	uint64_t deadline_ns = monotonic_ns() + NS_PER_S;
	struct rf_clock_reading first = {};
	int err = run_clock(fd, &first);

	*edge = first;
	while (!err && edge->jiffies == first.jiffies && edge->ktime_ns < deadline_ns)
		err = run_clock(fd, edge);
	if (!err && edge->jiffies == first.jiffies)
		return -ETIME;
	return err;
}

int rf_fence_measure_clock(struct rf_fence *fence, struct rf_error *error)
{
	struct rf_clock_reading edge = {};
	struct clock_bpf *program;
	struct timespec tick;
	int err = 0;

	if (fence->config->tick_ns)
		return 0;
	/* The coarse clocks advance with the tick, and their resolution is its exact length. */
	if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) || tick.tv_sec || tick.tv_nsec <= 0)
		return rf_error_failed(error, -EIO, "cannot learn the length of the kernel's tick");
	program = clock_bpf__open_and_load();
	if (program)
		err = find_jiffy_edge(bpf_program__fd(program->progs.read_clocks), &edge);
	else
		err = -errno;
	clock_bpf__destroy(program);
	if (err)
		return rf_error_failed(error, err, "cannot read the kernel's clock: %s",
				       strerror(-err));
	fence->config->base = edge;
	fence->config->tick_ns = tick.tv_nsec;
	return 0;
}

/* ---- rules ---- */

void rf_fence_rules(const struct rf_fence *fence, struct rf_bank *rules)
{
	const struct rf_config *config = fence->config;
	uint64_t before;

	/* A bank is written only after the other one was made active. */
	do {
		before = __atomic_load_n(&config->active, __ATOMIC_ACQUIRE);
		*rules = config->bank[before & 1];
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (__atomic_load_n(&config->active, __ATOMIC_RELAXED) != before);
}

/*
 * Waits until every program run that began before is over. The kernel does so after an update of a
 * map of maps, for this very purpose: the caller may then reuse what the old value led to.
 */
static int wait_for_programs(struct rf_error *error)
{
	int inner = bpf_map_create(BPF_MAP_TYPE_ARRAY, "rf_inner", 4, 4, 1, NULL);
	LIBBPF_OPTS(bpf_map_create_opts, options, .inner_map_fd = inner);
	int outer = inner < 0 ? -1
			      : bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "rf_outer", 4, 4, 1,
					       &options);
	__u32 key = 0;
	int err = 0;

	if (outer < 0 || bpf_map_update_elem(outer, &key, &inner, BPF_ANY))
		err = rf_error_failed(error, -errno, "cannot wait for the data path: %s",
				      strerror(errno));
	if (outer >= 0)
		close(outer);
	if (inner >= 0)
		close(inner);
	return err;
}

/* What is new in `rules`, which are to be the generation `next`. */
static void note_births(struct rf_bank *rules, uint32_t next)
{
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++) {
		if (!rules->policy[slot].id)
			continue;
		if (!rules->policy[slot].born)
			rules->policy[slot].born = next;
		if (!rules->limit[slot].born)
			rules->limit[slot].born = next;
	}
}

static int switch_bank(struct rf_fence *fence, const struct rf_bank *rules, struct rf_error *error)
{
	struct rf_config *config = fence->config;
	uint64_t next = config->active + 1;
	int err =
		wait_for_programs(error); /* the last command may have been killed before its own */

	if (err)
		return err;
	config->bank[next & 1] = *rules;
	note_births(&config->bank[next & 1], next);
	__atomic_store_n(&config->active, next, __ATOMIC_RELEASE);
	/* So that no packet is judged by the old rules any more when the command returns. */
	return wait_for_programs(error);
}

int rf_fence_commit(struct rf_fence *fence, const struct rf_bank *rules, struct rf_error *error)
{
	struct rf_bank present;
	int err;

	rf_fence_rules(fence, &present);
	if (rf_rules_raise_clips(&present, rules)) {
		err = switch_bank(fence, &present, error);
		if (err)
			return err;
	}
	return switch_bank(fence, rules, error);
}
