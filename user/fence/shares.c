// SPDX-License-Identifier: GPL-2.0
/* A fence with shares: its program's state of the fleet, and the calls of the agent. */
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fence/private.h"
#include "fence/shares.h"
#include "kernel/info.h"

/* ---- the state of the fleet ---- */

static int64_t left_of(const struct rf_fence *fence, uint64_t deadline, uint64_t jiffies)
{
	if (!deadline)
		return INT64_MIN;
	return ((int64_t)deadline - (int64_t)jiffies) * fence->config->tick_ns;
}

struct rf_fleet_standing rf_fence_fleet(const struct rf_fence *fence)
{
	const struct rf_fleet *fleet = &fence->config->fleet;
	struct rf_fleet_standing standing = {.left_ns = INT64_MAX};
	uint64_t jiffies;

	rf_map_refresh(fence, RF_MAP_CONFIG);
	jiffies = fence->config->tick_ns ? rf_fence_jiffies(fence) : 0;
	for (int i = 0; i < RF_BUCKETS; i++) {
		const int64_t left_ns = left_of(fence, fleet->bucket[i].deadline, jiffies);

		standing.alone += left_ns <= 0;
		if (left_ns < standing.left_ns)
			standing.left_ns = left_ns;
	}
	standing.asks = fleet->asks;
	standing.asks_lost = fleet->asks_lost;
	return standing;
}

uint64_t rf_fence_hearing(const struct rf_fence *fence, struct rf_hearing bucket[RF_BUCKETS])
{
	rf_map_refresh(fence, RF_MAP_CONFIG);
	memcpy(bucket, fence->config->fleet.bucket, sizeof(fence->config->fleet.bucket));
	return rf_fence_jiffies(fence);
}

/* ---- calls of the agent ---- */

static int open_pin(const struct rf_pin_path *directory, enum rf_share_pin pin,
		    struct rf_error *error)
{
	const struct rf_pin_path path = rf_pins_entry(directory, rf_share_pins[pin]);
	const int fd = bpf_obj_get(path.text);

	if (fd >= 0)
		return fd;
	if (errno == ENOENT)
		return rf_error_failed(error, -ENOENT,
				       "%s: there is no such pin: the fence was attached without "
				       "'fleet'",
				       path.text);
	return rf_error_failed(error, -errno, "%s: %s; it takes root", path.text, strerror(errno));
}

/* A pin of another kind, or of another build, is not used. */
static int map_batch(struct rf_shares *shares, int fd, struct rf_error *error)
{
	const long page = sysconf(_SC_PAGESIZE);
	const size_t size = (sizeof(*shares->batch) + page - 1) / page * page;
	struct bpf_map_info info = {};
	void *memory;

	if (rf_map_info(fd, &info) || info.type != BPF_MAP_TYPE_ARRAY ||
	    info.value_size != sizeof(*shares->batch) || info.max_entries != 1)
		return rf_error_failed(error, -EPROTO,
				       "the pin '%s' is not as this ringfence makes it; attach the "
				       "fence again",
				       rf_share_pins[RF_SHARE_BATCH]);
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		return rf_error_failed(error, -errno, "cannot map the fence's '%s': %s",
				       rf_share_pins[RF_SHARE_BATCH], strerror(errno));
	shares->batch = memory;
	return 0;
}

int rf_shares_open(struct rf_shares *shares, const struct rf_pin_path *directory,
		   struct rf_error *error)
{
	int fd, err;

	shares->call_fd = open_pin(directory, RF_SHARE_CALL, error);
	if (shares->call_fd < 0)
		return shares->call_fd;
	shares->asks_fd = open_pin(directory, RF_SHARE_ASKS, error);
	if (shares->asks_fd < 0)
		return shares->asks_fd;
	fd = open_pin(directory, RF_SHARE_BATCH, error);
	if (fd < 0)
		return fd;
	err = map_batch(shares, fd, error);
	close(fd);
	return err;
}

void rf_shares_close(struct rf_shares *shares)
{
	if (shares->batch)
		munmap(shares->batch, sizeof(*shares->batch));
	if (shares->asks_fd >= 0)
		close(shares->asks_fd);
	if (shares->call_fd >= 0)
		close(shares->call_fd);
	*shares = RF_SHARES_NONE;
}

int rf_shares_call(struct rf_shares *shares, struct rf_error *error)
{
	struct bpf_test_run_opts run = {.sz = sizeof(run)};

	if (bpf_prog_test_run_opts(shares->call_fd, &run) || run.retval)
		return rf_error_failed(error, errno ? -errno : -EIO,
				       "cannot run the calls of the fleet: %s", strerror(errno));
	return 0;
}
