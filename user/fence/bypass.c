// SPDX-License-Identifier: GPL-2.0
/*
 * Does an interface receive packets that the program does not see? Reads the counters of an
 * interface and of its fence, and stores the last reading in the fence.
 */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "base/netlink.h"
#include "base/time.h"
#include "fence/by_interface.h"
#include "fence/bypass.h"
#include "fence/private.h"

/* ---- what two looks show ---- */

void rf_bypass_begin(struct rf_interface_look *look, const struct rf_bypass_sample *sample,
		     bool is_settled)
{
	look->time_ns = sample->time_ns;
	look->rx_packets = sample->rx_packets;
	look->counted = sample->counted_before;
	look->is_settled = is_settled;
}

/* The program's counters decrease if the fence was created again. */
static bool is_usable(const struct rf_interface_look *look, const struct rf_bypass_sample *sample)
{
	return look->time_ns && look->time_ns <= sample->time_ns &&
	       look->counted <= sample->counted_before;
}

/*
 * Since the reading. A driver that resets the card sets its counters to 0, as vmxnet3 does when it
 * loses the program: then at least their present value was received.
 */
static uint64_t received_since(const struct rf_interface_look *look,
			       const struct rf_bypass_sample *sample)
{
	if (sample->rx_packets < look->rx_packets)
		return sample->rx_packets;
	return sample->rx_packets - look->rx_packets;
}

/*
 * The program has counted since the previous reading, but fewer packets than were received: it
 * might have stopped.
 */
static void judge_counting(struct rf_interface_look *look, const struct rf_bypass_sample *sample,
			   struct rf_bypass *bypass)
{
	const uint64_t received = received_since(look, sample);
	const uint64_t counted = sample->counted_after - look->counted;

	bypass->met = RF_MET;
	bypass->is_doubtful = !sample->is_shared &&
			      sample->counted_before == sample->counted_after &&
			      received >= counted + RF_BYPASS_LEAST;
	rf_bypass_begin(look, sample, false);
}

static void judge_silent(struct rf_interface_look *look, const struct rf_bypass_sample *sample,
			 struct rf_bypass *bypass)
{
	const uint64_t received = received_since(look, sample);
	const uint64_t for_ns = sample->time_ns - look->time_ns;

	if (received < RF_BYPASS_LEAST) {
		if (!look->is_settled && for_ns >= RF_BYPASS_LATE_NS)
			rf_bypass_begin(look, sample, true);
		return;
	}
	if (look->is_settled) {
		*bypass = (struct rf_bypass){
			.met = RF_BYPASSED, .packets = received, .for_ns = for_ns};
		return;
	}
	bypass->is_doubtful = true;
	if (for_ns >= RF_BYPASS_LATE_NS)
		rf_bypass_begin(look, sample, true);
}

void rf_bypass_judge(struct rf_interface_look *look, const struct rf_bypass_sample *sample,
		     struct rf_bypass *bypass)
{
	*bypass = (struct rf_bypass){};
	if (!is_usable(look, sample))
		rf_bypass_begin(look, sample, false);
	else if (sample->counted_after != look->counted)
		judge_counting(look, sample, bypass);
	else
		judge_silent(look, sample, bypass);
}

void rf_bypass_format(const struct rf_bypass *bypass, char text[RF_BYPASS_TEXT_SIZE])
{
	char time[RF_DURATION_TEXT_SIZE];

	rf_format_left(bypass->for_ns, time);
	snprintf(text, RF_BYPASS_TEXT_SIZE,
		 "received %" PRIu64 " packets in the last %s, and the program has seen none",
		 bypass->packets, time);
}

#define PAUSE_NS (20 * RF_NS_PER_MS)
#define RISES 4 /* a driver that counts late does so once a second */

/* ---- the reading that the fence stores ---- */

static uint32_t check_of(const struct rf_interface_look *look)
{
	uint32_t hash = 2166136261U; /* FNV-1a */
	const unsigned char *byte = (const unsigned char *)look;

	for (size_t i = 0; i < offsetof(struct rf_interface_look, check); i++)
		hash = (hash ^ byte[i]) * 16777619U;
	return hash;
}

/* The place of an interface: its own, or a free one, or else its first candidate. */
static struct rf_interface_look *find_place(const struct rf_fence *fence, unsigned int index)
{
	struct rf_interface_look *look = fence->config->look, *free_place = NULL;

	for (int n = 0; n < RF_INTERFACE_PLACES; n++) {
		struct rf_interface_look *place = &look[(index + n) % RF_INTERFACE_PLACES];

		if (place->index == index && place->namespace == rf_net_namespace())
			return place;
		if (!place->index && !free_place)
			free_place = place;
	}
	return free_place ? free_place : &look[index % RF_INTERFACE_PLACES];
}

void rf_bypass_load(const struct rf_fence *fence, unsigned int index,
		    struct rf_interface_look *look)
{
	struct rf_interface_look kept;

	rf_map_refresh(fence, RF_MAP_CONFIG);
	kept = *find_place(fence, index);
	if (kept.index == index && kept.namespace == rf_net_namespace() &&
	    kept.check == check_of(&kept))
		*look = kept;
	else
		*look = (struct rf_interface_look){.index = index, .namespace = rf_net_namespace()};
}

static void keep(const struct rf_fence *fence, struct rf_interface_look *look)
{
	if (fence->read_only)
		return;
	look->check = check_of(look);
	*find_place(fence, look->index) = *look;
}

/* ---- counters ---- */

bool rf_bypass_applies(const struct rf_fence *fence, const struct rf_interface *interface)
{
	const struct rf_chain *chain = &interface->chain;

	if (interface->mode == RF_OFFLOAD)
		return false;
	return !chain->dispatcher_id ||
	       (chain->count && chain->component[0].config_id == fence->map_id[RF_MAP_CONFIG]);
}

static uint64_t count_all(const struct rf_counters *counters)
{
	uint64_t sum = 0;

	for (int i = 0; i < RF_REASON_COUNT; i++)
		sum += counters->reason[i].packets;
	return sum;
}

uint64_t rf_bypass_count(const struct rf_fence *fence, const struct rf_interface *interface,
			 const struct rf_counters *counters, const struct rf_by_interface *sums,
			 bool *is_shared)
{
	const struct rf_interface_counters *own = rf_by_interface_of(fence, sums, interface->index);

	if (own && !rf_by_interface_is_whole(fence, interface->index))
		own = NULL;
	*is_shared = !own && fence->interfaces > 1;
	return own ? own->passed.packets + own->dropped.packets : count_all(counters);
}

static int count_packets(const struct rf_fence *fence, const struct rf_interface *interface,
			 uint64_t *packets, bool *is_shared)
{
	struct rf_by_interface sums;
	struct rf_counters counters;
	struct rf_error ignored;
	int err = rf_fence_counters(fence, &counters, &ignored);

	if (!err)
		err = rf_fence_by_interface(fence, &sums, &ignored);
	if (!err)
		*packets = rf_bypass_count(fence, interface, &counters, &sums, is_shared);
	return err;
}

int rf_bypass_sample(const struct rf_fence *fence, const struct rf_interface *interface,
		     struct rf_bypass_sample *sample)
{
	struct rf_link_state state;
	int err;

	*sample = (struct rf_bypass_sample){.time_ns = rf_time_awake()};
	err = count_packets(fence, interface, &sample->counted_before, &sample->is_shared);
	if (!err)
		err = rf_netlink_state(interface->index, &state);
	sample->rx_packets = state.rx_packets;
	if (!err)
		err = count_packets(fence, interface, &sample->counted_after, &sample->is_shared);
	return err;
}

/* ---- a look ---- */

/* The counters after the first sample. */
struct watch {
	struct rf_bypass_sample first, last;
	int rises;
	uint64_t rose_ns; /* of the last rise of received packets */
};

static bool is_over(const struct watch *watch)
{
	return watch->last.counted_after != watch->first.counted_before ||
	       watch->last.time_ns - watch->first.time_ns >= RF_BYPASS_WATCH_NS ||
	       (watch->rises >= RISES &&
		watch->last.rx_packets - watch->first.rx_packets >= RF_BYPASS_LEAST);
}

static int watch_counters(const struct rf_fence *fence, const struct rf_interface *interface,
			  struct watch *watch)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	int err = rf_bypass_sample(fence, interface, &watch->first);

	watch->last = watch->first;
	while (!err && !is_over(watch)) {
		const uint64_t before = watch->last.rx_packets;

		nanosleep(&pause, NULL);
		err = rf_bypass_sample(fence, interface, &watch->last);
		watch->rises += watch->last.rx_packets != before;
	}
	return err;
}

/* The second look, while packets arrive. */
static void watch_interface(const struct rf_fence *fence, const struct rf_interface *interface,
			    struct rf_interface_look *look, struct rf_bypass *bypass)
{
	struct watch watch = {};
	const int err = watch_counters(fence, interface, &watch);
	const uint64_t received = watch.last.rx_packets - watch.first.rx_packets;

	if (err)
		return;
	if (watch.last.counted_after != watch.first.counted_before) {
		bypass->met = RF_MET;
		rf_bypass_begin(look, &watch.last, false);
	} else if (watch.rises >= RISES && received >= RF_BYPASS_LEAST) {
		*bypass = (struct rf_bypass){
			.met = RF_BYPASSED,
			.packets = received,
			.for_ns = watch.last.time_ns - watch.first.time_ns,
		};
		rf_bypass_begin(look, &watch.first, true);
	} else if (!watch.rises) { /* for as long as a driver can be late */
		bypass->met = RF_MET_UNKNOWN;
		rf_bypass_begin(look, &watch.last, true);
	} else {
		bypass->met = RF_MET_UNKNOWN;
	}
}

void rf_bypass_look(const struct rf_fence *fence, const struct rf_interface *interface,
		    struct rf_bypass *bypass)
{
	struct rf_interface_look look;
	struct rf_bypass_sample sample;

	*bypass = (struct rf_bypass){};
	if (!rf_bypass_applies(fence, interface) || rf_bypass_sample(fence, interface, &sample))
		return;
	rf_bypass_load(fence, interface->index, &look);
	rf_bypass_judge(&look, &sample, bypass);
	if (bypass->is_doubtful)
		watch_interface(fence, interface, &look, bypass);
	keep(fence, &look);
}

void rf_bypass_start(const struct rf_fence *fence, const struct rf_interface *interface)
{
	struct rf_interface_look look;
	struct rf_bypass_sample sample;

	if (rf_bypass_sample(fence, interface, &sample))
		return;
	rf_bypass_load(fence, interface->index, &look);
	rf_bypass_begin(&look, &sample, true);
	keep(fence, &look);
}
