// SPDX-License-Identifier: GPL-2.0
/*
 * The counters of a fence: sums over all CPUs, by reason, by limit and by interface, since the last
 * reset. What leases hold is added, see windows.c.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/netlink.h"
#include "base/time.h"
#include "fence/by_interface.h"
#include "fence/pending.h"
#include "fence/private.h"
#include "rules/policy.h"

/* ---- which interface a packet counts for ---- */

#define DEPTH_MAX 8 /* masters above each other that the kernel allows */

/* Can interfaces of this kind hand their program to members? A bridge, for one, does not. */
static bool kind_has_members(const char *kind)
{
	static const char *const kinds[] = {"bond", "team", "" /* hardware: hv_netvsc */};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strcmp(kind, kinds[i]) == 0)
			return true;
	return false;
}

const struct rf_link *rf_links_find(const struct rf_links *links, unsigned int index)
{
	for (int i = 0; i < links->count; i++)
		if (links->link[i].index == index)
			return &links->link[i];
	return NULL;
}

unsigned int rf_link_counts_for(const struct rf_links *links, const struct rf_link *link)
{
	for (int depth = 0; link && depth < DEPTH_MAX; depth++) {
		if (link->is_attached)
			return link->index;
		link = rf_links_find(links, link->master);
		if (link && !kind_has_members(link->kind))
			return 0;
	}
	return 0;
}

int rf_links_add(struct rf_links *links, const struct rf_link *link)
{
	struct rf_link *grown;

	if (rf_links_find(links, link->index))
		return 0;
	grown = rf_grow(links->link, links->count, &links->size, sizeof(*grown), 16);
	if (!grown)
		return -ENOMEM;
	links->link = grown;
	links->link[links->count++] = *link;
	return 0;
}

void rf_links_free(struct rf_links *links)
{
	free(links->link);
	*links = (struct rf_links){};
}

/* ---- sums over all CPUs ---- */

/* Adds up the values of all CPUs. A per-CPU value consists of 64-bit counters only. */
static int sum_cpus(const struct rf_fence *fence, enum rf_map map, uint32_t key, size_t size,
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

/* ---- by interface ---- */

/*
 * Counters by interface. The places are distinguished by index and network namespace. The program
 * cannot distinguish namespaces: interfaces of the same index in two of them share a place, which
 * then counts for neither.
 *
 * A member of a bond has a place too, because the program gets the member's index. Readers add it
 * to the bond's.
 */

#define NO_PLACE (-1)

static uint32_t load_index(const struct rf_interface_place *place)
{
	return __atomic_load_n(&place->index, __ATOMIC_ACQUIRE);
}

/* ---- reading ---- */

/*
 * Of counters that consist of 64-bit words only. A sum can lag slightly behind the subtracted
 * value: then the difference is 0.
 */
static void subtract(const void *less, void *result, size_t size)
{
	const __u64 *before = less;
	__u64 *sum = result;

	for (size_t i = 0; i < size / sizeof(*sum); i++)
		sum[i] = sum[i] > before[i] ? sum[i] - before[i] : 0;
}

static int read_place(const struct rf_fence *fence, int place, struct rf_interface_counters *sum,
		      struct rf_error *error)
{
	return sum_cpus(fence, RF_MAP_INTERFACES, place, sizeof(*sum), sum, error);
}

/* A place's count for its interface. `before` can have wrapped: see hand_over(). */
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

/* The nth candidate place of an interface. */
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
			subtract(counters, &rest, sizeof(rest));
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
		if (kind_has_members(links->link[i].kind))
			err = rf_netlink_members(links->link[i].index, keep_member, links,
						 &ignored);
	return err;
}

/* An interface that is just being deleted has no members. */
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

/* A bond retains the counts of a member that loses its place: its counters never decrease. */
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
 * The counters continue from their values, because no other process can set those of a CPU. The
 * index is written last: if the command is killed before, the place remains free.
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

/* An interface keeps its place while it counts for the same one. */
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

/* ---- totals and limits ---- */

/* Typed access to the counters and the windows in a fence's maps. */

#define READS_MAX 4 /* attempts to read while a reset runs concurrently */

static int sum_reasons(const struct rf_fence *fence, struct rf_counters *sum,
		       struct rf_error *error)
{
	return sum_cpus(fence, RF_MAP_COUNTERS, 0, sizeof(*sum), sum, error);
}

static int sum_limits(const struct rf_fence *fence, const struct rf_bank *bank,
		      struct rf_limit_counters sum[RF_LIMITS_MAX], struct rf_error *error)
{
	int err = 0;

	memset(sum, 0, RF_LIMITS_MAX * sizeof(*sum));
	for (int slot = 0; slot < RF_LIMITS_MAX && !err; slot++)
		if (bank->policy[slot].id)
			err = sum_cpus(fence, RF_MAP_LIMIT_COUNTERS, bank->policy[slot].counters,
				       sizeof(*sum), &sum[slot], error);
	return err;
}

static int read_leases(const struct rf_fence *fence, struct rf_leases *leases,
		       struct rf_error *error)
{
	const int err = rf_leases_read(fence, leases);

	return err ? rf_fence_fail_map(error, RF_MAP_LEASES, err) : 0;
}

/* Counters are not read at one moment: evictions can exceed inserts. */
uint64_t rf_counters_windows(const struct rf_counters *sum, int family)
{
	const uint64_t made = sum->inserts[family], evicted = sum->evictions[family];

	return made > evicted ? made - evicted : 0;
}

int rf_fence_counters(const struct rf_fence *fence, struct rf_counters *sum, struct rf_error *error)
{
	struct rf_leases leases = {};
	int err = sum_reasons(fence, sum, error);

	if (!err)
		err = read_leases(fence, &leases, error);
	if (!err)
		rf_leases_add_counters(&leases, sum);
	rf_leases_free(&leases);
	return err;
}

int rf_fence_limits_counters(const struct rf_fence *fence, const struct rf_bank *bank,
			     struct rf_limit_counters sum[RF_LIMITS_MAX], struct rf_error *error)
{
	struct rf_leases leases = {};
	int err = sum_limits(fence, bank, sum, error);

	if (!err)
		err = read_leases(fence, &leases, error);
	if (!err)
		rf_leases_add_limits(&leases, bank, sum);
	rf_leases_free(&leases);
	return err;
}

int rf_fence_all_counters(const struct rf_fence *fence, const struct rf_bank *bank,
			  struct rf_counters *sum, struct rf_limit_counters limit[RF_LIMITS_MAX],
			  struct rf_leases *leases, struct rf_error *error)
{
	int err = sum_reasons(fence, sum, error);

	*leases = (struct rf_leases){};
	if (!err)
		err = sum_limits(fence, bank, limit, error);
	if (!err)
		err = read_leases(fence, leases, error);
	if (!err)
		rf_leases_add_counters(leases, sum);
	if (!err)
		rf_leases_add_limits(leases, bank, limit);
	return err;
}

int rf_fence_clear_limit_counters(struct rf_fence *fence, int index, struct rf_error *error)
{
	int cpus = libbpf_num_possible_cpus();
	void *zeros = cpus > 0 ? calloc(cpus, sizeof(struct rf_limit_counters)) : NULL;
	uint32_t key = index;
	int err = 0;

	if (!zeros)
		return rf_fence_fail_map(error, RF_MAP_LIMIT_COUNTERS, -ENOMEM);
	if (bpf_map_update_elem(fence->map_fd[RF_MAP_LIMIT_COUNTERS], &key, zeros, BPF_EXIST))
		err = rf_fence_fail_map(error, RF_MAP_LIMIT_COUNTERS, -errno);
	for (int i = 0; i < 2 && !err; i++)
		fence->config->baseline[i].limit[index] = (struct rf_limit_counters){};
	free(zeros);
	return err;
}

/* ---- reset ---- */

void rf_fence_baseline(const struct rf_fence *fence, struct rf_baseline *baseline)
{
	const struct rf_config *config = fence->config;
	uint64_t resets;

	/* The one in use is written only after another reset. */
	for (int i = 0; i < READS_MAX; i++) {
		rf_map_refresh(fence, RF_MAP_CONFIG);
		resets = __atomic_load_n(&config->resets, __ATOMIC_ACQUIRE);
		memcpy(baseline, &config->baseline[resets & 1], sizeof(*baseline));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (__atomic_load_n(&config->resets, __ATOMIC_RELAXED) == resets)
			return;
	}
}

void rf_baseline_subtract(const struct rf_baseline *baseline, struct rf_counters *sum)
{
	subtract(&baseline->counters, sum, sizeof(*sum));
}

void rf_baseline_subtract_limit(const struct rf_baseline *baseline, const struct rf_policy *policy,
				struct rf_limit_counters *sum)
{
	subtract(&baseline->limit[policy->counters % RF_LIMIT_COUNTERS_MAX], sum, sizeof(*sum));
}

void rf_baseline_subtract_interfaces(const struct rf_baseline *baseline,
				     struct rf_by_interface *sums)
{
	subtract(baseline->interface, sums->place, sizeof(sums->place));
}

/* The limits of a bank whose counters are not in the baseline yet. */
static int note_limits(const struct rf_fence *fence, const struct rf_bank *bank,
		       struct rf_baseline *baseline, uint64_t *noted, struct rf_error *error)
{
	struct rf_limit_counters sum[RF_LIMITS_MAX];
	const int err = rf_fence_limits_counters(fence, bank, sum, error);

	for (int slot = 0; slot < RF_LIMITS_MAX && !err; slot++) {
		const uint32_t index = bank->policy[slot].counters % RF_LIMIT_COUNTERS_MAX;

		if (!bank->policy[slot].id || *noted >> index & 1)
			continue;
		*noted |= 1ULL << index;
		baseline->limit[index] = sum[slot];
	}
	return err;
}

/*
 * Unconfirmed rules and the rules before them have separate counters: both are stored. The active
 * baseline remains intact if this command is killed.
 */
int rf_fence_reset(struct rf_fence *fence, struct rf_error *error)
{
	struct rf_config *config = fence->config;
	struct rf_baseline *baseline = &config->baseline[~config->resets & 1];
	struct rf_by_interface interfaces = {};
	struct rf_bank bank, other;
	uint64_t noted = 0;
	int err = rf_fence_bank(fence, &bank, error);

	if (err)
		return err;
	rf_fence_other_bank(fence, rf_fence_standing(fence).in_force, &other);
	*baseline = (struct rf_baseline){};
	err = rf_fence_counters(fence, &baseline->counters, error);
	if (!err)
		err = note_limits(fence, &bank, baseline, &noted, error);
	if (!err)
		err = note_limits(fence, &other, baseline, &noted, error);
	if (!err)
		err = rf_fence_by_interface(fence, &interfaces, error);
	if (err)
		return err;
	memcpy(baseline->interface, interfaces.place, sizeof(baseline->interface));
	baseline->time_ns = rf_time_wall();
	__atomic_store_n(&config->resets, config->resets + 1, __ATOMIC_RELEASE);
	return 0;
}
