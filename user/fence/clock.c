// SPDX-License-Identifier: GPL-2.0
/* A fence's clock. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "base/time.h"
#include "base/units.h"
#include "build/clock.skel.h"
#include "fence/private.h"
#include "rules/ruleset.h"

#define EDGE_SHARP_NS (50 * 1000)
#define EDGES_MAX 8

/* Callers read the value once: the owner of the memory may set it to 0 at any moment. */
static uint32_t tick_of(const struct rf_fence *fence)
{
	return __atomic_load_n(&fence->config->tick_ns, __ATOMIC_RELAXED);
}

uint32_t rf_tick_or_kernels(const struct rf_fence *fence)
{
	const uint32_t known = tick_of(fence);
	struct timespec tick = {};

	if (known)
		return known;
	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	return tick.tv_nsec > 0 && !tick.tv_sec ? tick.tv_nsec : 10000000;
}

uint64_t rf_fence_time(const struct rf_fence *fence, const struct rf_policy *policy)
{
	const struct rf_config *config = fence->config;
	const uint32_t tick_ns = tick_of(fence);

	if (policy->clock == RF_KTIME || !tick_ns)
		return rf_time_awake();
	return config->base.jiffies + (rf_time_awake() - config->base.ktime_ns) / tick_ns;
}

uint64_t rf_fence_duration_ns(const struct rf_fence *fence, const struct rf_policy *policy,
			      uint64_t units)
{
	return policy->clock == RF_KTIME ? units : units * fence->config->tick_ns;
}

/*
 * Cells can last fractions of ticks: the products, in 2^-time_shift of a tick, therefore need 128
 * bits.
 */
static uint64_t tick_parts_ns(__int128 parts, const struct rf_policy *policy, uint32_t tick_ns)
{
	return parts * tick_ns >> (policy->time_shift & 31);
}

uint64_t rf_fence_cell_ns(const struct rf_fence *fence, const struct rf_policy *policy)
{
	return policy->clock == RF_KTIME ? policy->cell
					 : tick_parts_ns(policy->cell, policy, tick_of(fence));
}

uint64_t rf_fence_cell_start_ns(const struct rf_fence *fence, const struct rf_policy *policy,
				uint64_t epoch)
{
	const struct rf_clock_reading *base = &fence->config->base;
	const __int128 start = (__int128)epoch * policy->cell;

	if (policy->clock == RF_KTIME)
		return start;
	return base->ktime_ns +
	       tick_parts_ns(start - ((__int128)base->jiffies << (policy->time_shift & 31)), policy,
			     tick_of(fence));
}

/*
 * The program that reads the clocks: each process loads it once, in the thread that first needs it,
 * and never unloads it. A process without the capabilities is refused once, and does not retry: a
 * reader of samples needs it 50 times a second.
 */
static int load_program(int *fd)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct clock_bpf *program;
	static int refusal;
	int err;

	pthread_mutex_lock(&lock);
	err = refusal;
	if (!program && !err) {
		program = clock_bpf__open_and_load();
		err = program ? 0 : -errno;
		refusal = err == -EPERM ? err : 0;
	}
	if (!err)
		*fd = bpf_program__fd(program->progs.read_clocks);
	pthread_mutex_unlock(&lock);
	return err;
}

/* Reads both clocks of the data path. */
static int read_clocks(struct rf_clock_reading *reading)
{
	LIBBPF_OPTS(bpf_test_run_opts, run, .ctx_in = reading, .ctx_size_in = sizeof(*reading));
	int fd, err = load_program(&fd);

	return err ? err : bpf_prog_test_run_opts(fd, &run);
}

/*
 * Reads both clocks at the start of a jiffy, to compute one from the other. If this process was
 * delayed between two readings, it cannot determine when the jiffy started: it uses the edge
 * between the two closest readings, and takes more while they are not close.
 */
static int find_jiffy_edge(struct rf_clock_reading *edge)
{
	const uint64_t deadline_ns = rf_time_awake() + RF_NS_PER_S;
	struct rf_clock_reading before = {}, now = {};
	uint64_t least = UINT64_MAX;
	int edges = 0, err = read_clocks(&before);

	while (!err && least > EDGE_SHARP_NS && edges < EDGES_MAX &&
	       before.ktime_ns < deadline_ns) {
		err = read_clocks(&now);
		if (!err && now.jiffies != before.jiffies) {
			edges++;
			if (now.ktime_ns - before.ktime_ns < least) {
				least = now.ktime_ns - before.ktime_ns;
				*edge = now;
			}
		}
		before = now;
	}
	if (!err && !edges)
		return -ETIME;
	return err;
}

int rf_clock_measure(struct rf_clock_reading *base, uint32_t *tick_ns, struct rf_error *error)
{
	struct timespec tick;
	int err;

	/*
	 * The coarse clocks advance with the tick. Their resolution is the exact length of a tick.
	 */
	if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) || tick.tv_sec || tick.tv_nsec <= 0)
		return rf_error_failed(error, -EIO, "cannot learn the length of the kernel's tick");
	err = find_jiffy_edge(base);
	if (err)
		return rf_error_failed(error, err, "cannot read the kernel's clock: %s",
				       strerror(-err));
	*tick_ns = tick.tv_nsec;
	return 0;
}

int rf_fence_measure_clock(struct rf_fence *fence, struct rf_error *error)
{
	struct rf_clock_reading base = {};
	uint32_t tick_ns = 0;
	int err;

	if (fence->config->tick_ns)
		return 0;
	err = rf_clock_measure(&base, &tick_ns, error);
	if (err)
		return err;
	fence->config->base = base;
	fence->config->tick_ns = tick_ns;
	return 0;
}

uint64_t rf_fence_jiffies(const struct rf_fence *fence)
{
	const struct rf_policy ticks = {.clock = RF_JIFFIES};
	struct rf_clock_reading now = {};

	/* The data path's jiffies may lag behind the jiffies that are computed from the base. */
	return read_clocks(&now) ? rf_fence_time(fence, &ticks) : now.jiffies;
}

uint64_t rf_fence_deadline(const struct rf_fence *fence, uint64_t now, uint64_t time_ns)
{
	return rf_ticks_after(now, time_ns, fence->config->tick_ns);
}

uint64_t rf_fence_left_ns(const struct rf_fence *fence, uint64_t now, uint64_t deadline)
{
	return deadline > now ? (deadline - now) * fence->config->tick_ns : 0;
}
