// SPDX-License-Identifier: GPL-2.0
/*
 * Counters by interface. The places are told apart by index and network namespace. The program
 * cannot tell namespaces apart: interfaces of the same index in two of them share a place, which
 * then counts for neither.
 *
 * A member of a bond has a place too, since the program gets the member's index. Readers add it to
 * the bond's.
 */
#include <linux/rtnetlink.h>
#include <string.h>

#include "base/netlink.h"
#include "fence/by_interface.h"
#include "fence/members.h"
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

/* What a place counted for its interface. `before` may have wrapped: see hand_over(). */
static int read_counted(const struct rf_fence *fence, int number, struct rf_interface_counters *sum,
			struct rf_error *error)
{
	const struct rf_interface_counters *before = &fence->config->interface[number].before;
	const int err = read_place(fence, number, sum, error);

	sum->passed.packets -= before->passed.packets;
	sum->passed.bytes -= before->passed.bytes;
	sum->dropped.packets -= before->dropped.packets;
	sum->dropped.bytes -= before->dropped.bytes;
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

/* The place of the interface that a member counts for; NO_PLACE for any other interface. */
static int find_master(const struct rf_config *config, int member)
{
	const struct rf_interface_place *place = &config->interface[member];
	const int master = place->counts_for == place->index
				   ? NO_PLACE
				   : find_place(config, place->counts_for);

	if (master == NO_PLACE || config->interface[master].namespace != place->namespace)
		return NO_PLACE;
	return master;
}

static void add_counters(struct rf_interface_counters *sum,
			 const struct rf_interface_counters *counters)
{
	sum->passed.packets += counters->passed.packets;
	sum->passed.bytes += counters->passed.bytes;
	sum->dropped.packets += counters->dropped.packets;
	sum->dropped.bytes += counters->dropped.bytes;
}

static void add_members(const struct rf_config *config, struct rf_by_interface *sums)
{
	for (int i = 0; i < RF_INTERFACE_PLACES; i++) {
		const int master =
			load_index(&config->interface[i]) ? find_master(config, i) : NO_PLACE;

		if (master != NO_PLACE)
			add_counters(&sums->place[master], &sums->place[i]);
	}
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
		err = read_counted(fence, i, &sums->place[i], error);
	}
	add_members(config, sums);
	return err;
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

/* ---- members ---- */

static int keep_member(const struct nlmsghdr *message, void *context)
{
	const struct ifinfomsg *header = mnl_nlmsg_get_payload(message);
	struct rf_link link = {.index = header->ifi_index};
	struct rf_link_state state;

	rf_netlink_parse_state(message, &state);
	link.master = state.master;
	memcpy(link.kind, state.kind, sizeof(link.kind));
	return rf_links_add(context, &link) ? MNL_CB_ERROR : MNL_CB_OK;
}

/* Adds the members of all links of the list from number `i` on, and theirs. */
static int add_all_members(struct rf_links *links)
{
	int err = 0, ignored;

	for (int i = 0; i < links->count && !err; i++)
		if (rf_kind_has_members(links->link[i].kind))
			err = rf_netlink_members(links->link[i].index, keep_member, links,
						 &ignored);
	return err;
}

/* An interface that is just deleted has no members. */
static int add_attached(struct rf_links *links, unsigned int index)
{
	struct rf_link link = {.index = index, .is_attached = true};
	struct rf_link_state state;

	if (!index)
		return 0;
	if (!rf_netlink_state(index, &state))
		memcpy(link.kind, state.kind, sizeof(link.kind));
	return rf_links_add(links, &link);
}

static int list_links(const struct rf_fence *fence, unsigned int joining, struct rf_links *links)
{
	int err = joining ? add_attached(links, joining) : 0;

	for (int i = 0; i < fence->interfaces && !err; i++)
		err = add_attached(links, fence->interface[i].index);
	return err ? err : add_all_members(links);
}

static bool has_place(const struct rf_config *config, unsigned int index, unsigned int counts_for)
{
	const int place = find_place(config, index);

	return place != NO_PLACE && config->interface[place].namespace == rf_net_namespace() &&
	       config->interface[place].counts_for == counts_for;
}

bool rf_by_interface_is_whole(const struct rf_fence *fence, unsigned int index)
{
	struct rf_links links = {};
	bool is_whole = !add_attached(&links, index) && !add_all_members(&links);

	for (int i = 0; i < links.count && is_whole; i++)
		is_whole = !rf_link_counts_for(&links, &links.link[i]) ||
			   has_place(fence->config, links.link[i].index, index);
	rf_links_free(&links);
	return is_whole;
}

/* ---- giving places ---- */

/* Has the fence left the place's interface? Of other namespaces, that is not known here. */
static bool is_left(const struct rf_interface_place *place, const struct rf_links *links)
{
	const struct rf_link *link = rf_links_find(links, place->index);

	return place->namespace == rf_net_namespace() &&
	       (!link || !rf_link_counts_for(links, link));
}

/* A free place, or else one of an interface that the fence has left. */
static int choose_place(const struct rf_config *config, unsigned int index,
			const struct rf_links *links)
{
	int left = NO_PLACE;

	for (int n = 0; n < RF_INTERFACE_PROBES; n++) {
		const int place = nth_place(index, n);

		if (!load_index(&config->interface[place]))
			return place;
		if (left == NO_PLACE && is_left(&config->interface[place], links))
			left = place;
	}
	return left;
}

/* A bond keeps what a member counted that loses its place: its counters never go back. */
static int hand_over(struct rf_fence *fence, int number, struct rf_error *error)
{
	struct rf_config *config = fence->config;
	const int master =
		load_index(&config->interface[number]) ? find_master(config, number) : NO_PLACE;
	struct rf_interface_counters counted, *before;
	const int err = master == NO_PLACE ? 0 : read_counted(fence, number, &counted, error);

	__atomic_store_n(&config->interface[number].index, 0, __ATOMIC_RELEASE);
	if (err || master == NO_PLACE)
		return err;
	before = &config->interface[master].before;
	before->passed.packets -= counted.passed.packets;
	before->passed.bytes -= counted.passed.bytes;
	before->dropped.packets -= counted.dropped.packets;
	before->dropped.bytes -= counted.dropped.bytes;
	return 0;
}

/*
 * The counters go on from what they are, since no other process can set those of a CPU. The index
 * is written last: a command that is killed before leaves a place that is free.
 */
static int take_place(struct rf_fence *fence, int number, unsigned int index,
		      unsigned int counts_for, struct rf_error *error)
{
	struct rf_config *config = fence->config;
	struct rf_interface_place *place = &config->interface[number];
	struct rf_interface_counters before;
	int err = hand_over(fence, number, error);

	if (!err)
		err = read_place(fence, number, &before, error);
	if (err)
		return err;
	place->before = before;
	place->namespace = rf_net_namespace();
	place->counts_for = counts_for;
	for (int i = 0; i < 2; i++)
		config->baseline[i].interface[number] = (struct rf_interface_counters){};
	__atomic_store_n(&place->index, index, __ATOMIC_RELEASE);
	return 0;
}

/* An interface stays in its place while it counts for the same one. */
static int give_place(struct rf_fence *fence, const struct rf_links *links, unsigned int index,
		      unsigned int counts_for, struct rf_error *error)
{
	struct rf_config *config = fence->config;
	int place = find_place(config, index);

	if (place != NO_PLACE && config->interface[place].namespace != rf_net_namespace()) {
		config->interface[place].namespace = 0;
		return 0;
	}
	if (place != NO_PLACE && config->interface[place].counts_for == counts_for)
		return 0;
	if (place == NO_PLACE)
		place = choose_place(config, index, links);
	return place == NO_PLACE ? 0 : take_place(fence, place, index, counts_for, error);
}

int rf_fence_count_interfaces(struct rf_fence *fence, unsigned int joining, struct rf_error *error)
{
	struct rf_links links = {};
	int err = list_links(fence, joining, &links);

	if (err)
		rf_error_failed(error, err, "cannot list the members of interfaces: %s",
				strerror(-err));
	for (int i = 0; i < links.count && !err; i++) {
		const unsigned int counts_for = rf_link_counts_for(&links, &links.link[i]);

		if (counts_for)
			err = give_place(fence, &links, links.link[i].index, counts_for, error);
	}
	if (!err)
		__atomic_store_n(&fence->config->by_interface, 1, __ATOMIC_RELEASE);
	rf_links_free(&links);
	return err;
}
