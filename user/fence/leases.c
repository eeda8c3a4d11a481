// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the leases that hold packets: from the memory that is shared with the program, or, where
 * the fence may only be read, by the pinned iterator, or else in batches of all leases.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>

#include "fence/pending.h"
#include "fence/private.h"
#include "ringfence/lease_read.h"

#define BATCH 1024 /* sets, 256 KiB */

/* Keeps a lease if it holds packets. */
static int keep(struct rf_leases *leases, const struct rf_lease *shared)
{
	struct rf_lease lease;

	if (!rf_lease_read(&lease, shared))
		return 0;
	if (leases->count == leases->capacity) {
		const size_t capacity = leases->capacity ? leases->capacity * 2 : 256;
		struct rf_lease *of = reallocarray(leases->of, capacity, sizeof(*of));

		if (!of)
			return -ENOMEM;
		leases->of = of;
		leases->capacity = capacity;
	}
	leases->of[leases->count++] = lease;
	return 0;
}

static int keep_all(struct rf_leases *leases, const struct rf_lease *lease, size_t count)
{
	int err = 0;

	for (size_t i = 0; i < count && !err; i++)
		err = keep(leases, &lease[i]);
	return err;
}

static int keep_record(const void *record, void *context)
{
	return keep(context, record);
}

/* In order, as they lie in the map. */
static int read_batches(const struct rf_fence *fence, struct rf_leases *leases)
{
	const uint32_t sets = fence->leases / RF_LEASE_WAYS;
	struct rf_lease_set *set = calloc(BATCH, sizeof(*set));
	__u32 keys[BATCH], position, done = 0;
	int err = set ? 0 : -ENOMEM;

	while (done < sets && !err) {
		__u32 count = sets - done < BATCH ? sets - done : BATCH;

		/* ENOENT comes with the last values. */
		if (bpf_map_lookup_batch(fence->map_fd[RF_MAP_LEASES], done ? &position : NULL,
					 &position, keys, set, &count, NULL) &&
		    (errno != ENOENT || !count))
			err = -errno;
		else
			err = keep_all(leases, set->way, (size_t)count * RF_LEASE_WAYS);
		done += count;
	}
	free(set);
	return err;
}

int rf_leases_read(const struct rf_fence *fence, struct rf_leases *leases)
{
	int err;

	*leases = (struct rf_leases){};
	if (fence->lease)
		return keep_all(leases, fence->lease, fence->leases);
	err = rf_iterator_each(fence, RF_SHOW_PENDING, sizeof(struct rf_lease), keep_record,
			       leases);
	return err == -ENOENT ? read_batches(fence, leases) : err;
}

void rf_leases_free(struct rf_leases *leases)
{
	free(leases->of);
	*leases = (struct rf_leases){};
}
