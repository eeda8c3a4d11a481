// SPDX-License-Identifier: GPL-2.0
/*
 * Counters by interface. The places are told apart by index and network namespace. The program
 * cannot tell namespaces apart: interfaces of the same index in two of them share a place, which
 * then counts for neither.
 */
#include <string.h>

#include "fence/by_interface.h"
#include "fence/private.h"

#define NO_PLACE (-1)

static uint32_t load_index(const struct rf_interface_place *place)
{
	return __atomic_load_n(&place->index, __ATOMIC_ACQUIRE);
}

/* ---- reading ---- */

static void subtract_count(struct rf_count *sum, const struct rf_count *count)
{
	sum->packets -= sum->packets < count->packets ? sum->packets : count->packets;
	sum->bytes -= sum->bytes < count->bytes ? sum->bytes : count->bytes;
}

static void subtract(struct rf_interface_counters *sum,
		     const struct rf_interface_counters *counters)
{
	subtract_count(&sum->passed, &counters->passed);
	subtract_count(&sum->dropped, &counters->dropped);
}

static int read_place(const struct rf_fence *fence, int place, struct rf_interface_counters *sum,
		      struct rf_error *error)
{
	return rf_fence_sum_cpus(fence, RF_MAP_INTERFACES, place, sizeof(*sum), sum, error);
}

int rf_fence_by_interface(const struct rf_fence *fence, struct rf_by_interface *sums,
			  struct rf_error *error)
{
	const struct rf_config *config = fence->config;
	int err = 0;

	*sums = (struct rf_by_interface){};
	rf_map_refresh(fence, RF_MAP_CONFIG);
	sums->is_counted = __atomic_load_n(&config->by_interface, __ATOMIC_ACQUIRE);
	for (int i = 0; i < RF_INTERFACE_PLACES && sums->is_counted && !err; i++) {
		if (!load_index(&config->interface[i]))
			continue;
		err = read_place(fence, i, &sums->place[i], error);
		subtract(&sums->place[i], &config->interface[i].before);
	}
	return err;
}

/* The nth place that an interface may have. */
static int nth_place(unsigned int index, int n)
{
	return (index + n) % RF_INTERFACE_PLACES;
}

static int find_place(const struct rf_config *config, unsigned int index)
{
	for (int n = 0; n < RF_INTERFACE_PROBES; n++) {
		const int place = nth_place(index, n);

		if (load_index(&config->interface[place]) == index)
			return place;
	}
	return NO_PLACE;
}

const struct rf_interface_counters *rf_by_interface_of(const struct rf_fence *fence,
						       const struct rf_by_interface *sums,
						       unsigned int index)
{
	const int place = sums->is_counted ? find_place(fence->config, index) : NO_PLACE;

	if (place == NO_PLACE || fence->config->interface[place].namespace != rf_net_namespace())
		return NULL;
	return &sums->place[place];
}

struct rf_interface_counters rf_by_interface_rest(const struct rf_fence *fence,
						  const struct rf_by_interface *sums,
						  const struct rf_interface_counters *totals)
{
	struct rf_interface_counters rest = *totals;

	for (int i = 0; i < fence->interfaces; i++) {
		const struct rf_interface_counters *counters =
			rf_by_interface_of(fence, sums, fence->interface[i].index);

		if (counters)
			subtract(&rest, counters);
	}
	return rest;
}

/* ---- giving places ---- */

/* Has the place an interface that the fence has left? Of other namespaces, nobody here can tell. */
static bool is_left(const struct rf_fence *fence, const struct rf_interface_place *place)
{
	if (place->namespace != rf_net_namespace())
		return false;
	for (int i = 0; i < fence->interfaces; i++)
		if (fence->interface[i].index == place->index)
			return false;
	return true;
}

/* A free place, or else one of an interface that has left. */
static int choose_place(const struct rf_fence *fence, unsigned int index)
{
	int left = NO_PLACE;

	for (int n = 0; n < RF_INTERFACE_PROBES; n++) {
		const int place = nth_place(index, n);

		if (!load_index(&fence->config->interface[place]))
			return place;
		if (left == NO_PLACE && is_left(fence, &fence->config->interface[place]))
			left = place;
	}
	return left;
}

/*
 * The counters go on from what they are, since no other process can set those of a CPU. The index
 * is written last: a command that is killed before leaves a place that is free.
 */
static int take_place(struct rf_fence *fence, int number, unsigned int index,
		      struct rf_error *error)
{
	struct rf_config *config = fence->config;
	struct rf_interface_place *place = &config->interface[number];
	struct rf_interface_counters before;
	int err = read_place(fence, number, &before, error);

	if (err)
		return err;
	__atomic_store_n(&place->index, 0, __ATOMIC_RELEASE);
	place->before = before;
	place->namespace = rf_net_namespace();
	for (int i = 0; i < 2; i++)
		config->baseline[i].interface[number] = (struct rf_interface_counters){};
	__atomic_store_n(&place->index, index, __ATOMIC_RELEASE);
	return 0;
}

int rf_fence_count_interface(struct rf_fence *fence, unsigned int index, struct rf_error *error)
{
	struct rf_config *config = fence->config;
	int place = find_place(config, index), err = 0;

	if (place != NO_PLACE && config->interface[place].namespace != rf_net_namespace()) {
		config->interface[place].namespace = 0;
	} else if (place == NO_PLACE) {
		place = choose_place(fence, index);
		err = place == NO_PLACE ? 0 : take_place(fence, place, index, error);
	}
	if (!err)
		__atomic_store_n(&config->by_interface, 1, __ATOMIC_RELEASE);
	return err;
}

int rf_fence_count_interfaces(struct rf_fence *fence, unsigned int joining, struct rf_error *error)
{
	int err = 0;

	for (int i = 0; i < fence->interfaces && !err; i++)
		err = rf_fence_count_interface(fence, fence->interface[i].index, error);
	return err || !joining ? err : rf_fence_count_interface(fence, joining, error);
}
