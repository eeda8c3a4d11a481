// SPDX-License-Identifier: GPL-2.0
/* Sums of the values that each CPU has in a map. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fence/private.h"

int rf_fence_fail_map(struct rf_error *error, enum rf_map map, int negative_errno)
{
	return rf_error_failed(error, negative_errno, "cannot read the map '%s': %s",
			       rf_map_names[map], strerror(-negative_errno));
}

int rf_fence_sum_cpus(const struct rf_fence *fence, enum rf_map map, uint32_t key, size_t size,
		      void *result, struct rf_error *error)
{
	size_t words = size / sizeof(__u64);
	int cpus = libbpf_num_possible_cpus();
	__u64 *sum = result, *values;

	if (cpus < 0)
		return rf_error_failed(error, cpus, "cannot count the CPUs: %s", strerror(-cpus));
	values = calloc(cpus, size);
	if (!values)
		return rf_fence_fail_map(error, map, -ENOMEM);
	if (bpf_map_lookup_elem(fence->map_fd[map], &key, values)) {
		int err = -errno;

		free(values);
		return rf_fence_fail_map(error, map, err);
	}
	memset(sum, 0, size);
	for (size_t i = 0; i < words * cpus; i++)
		sum[i % words] += values[i];
	free(values);
	return 0;
}
