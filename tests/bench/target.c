// SPDX-License-Identifier: GPL-2.0
/* Loads the programs to measure, with the walk in front of them. Nothing is attached or pinned. */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/load.h"
#include "bench.h"
#include "fence/fence.h"
#include "fence/lists.h"
#include "rules/list_change.h"
#include "schema/reasons.h"

#include "build/ringfence.skel.h"
#include "build/tests/walk.skel.h"

#define TICK_NS 4000000 /* HZ 250; with another, windows in jiffies are shorter or longer */
#define NET6 0x20010db8U
#define START_NS (64 * 4096ULL * TICK_NS) /* of the injected clock: a period of loans starts */
#define OTHER_SOURCE 0xcb007107U	  /* of no walk: as an IPv4 address, and in a /64 */

static void check(int err, const char *what)
{
	if (err)
		die("%s: %s", what, strerror(-err));
}

void target_open(struct target *target, int fd)
{
	struct walk_bpf *walk = walk_bpf__open_and_load();
	__u32 first = 0;

	if (!walk)
		die("cannot load the walk: %s", strerror(errno));
	check(bpf_map__update_elem(walk->maps.measured, &first, sizeof(first), &fd, sizeof(fd),
				   BPF_ANY),
	      "cannot put a program behind the walk");
	target->walk = walk;
	target->fd[IPV4] = bpf_program__fd(walk->progs.walk4);
	target->fd[IPV6] = bpf_program__fd(walk->progs.walk6);
}

void target_restore(struct target *target, const struct frame *frame)
{
	struct walk_bpf *walk = target->walk;

	if (frame->family == IPV4)
		memcpy(&walk->bss->whole4, &frame->v4.ip, sizeof(walk->bss->whole4));
	else
		memcpy(&walk->bss->whole6, &frame->v6.ip, sizeof(walk->bss->whole6));
	target->fd[IPV4] = bpf_program__fd(walk->progs.walk4_restoring);
	target->fd[IPV6] = bpf_program__fd(walk->progs.walk6_restoring);
}

static void check_error(int err, const struct rf_error *error)
{
	if (err)
		die("%s", error->text);
}

/* Makes that many prefixes, spread over all addresses except those at the start of the walk. */
static void add_prefixes(struct rf_prefixes *prefixes, enum family family, uint32_t count)
{
	struct rf_error error = {};

	for (uint32_t i = 0; i < count; i++) {
		struct rf_prefix prefix = {.version = family == IPV4 ? 4 : 6};
		uint32_t spread = (i + 1) * 2654435761U;

		prefix.length = family == IPV4 ? 24 : 48;
		prefix.word[0] = htonl(family == IPV4 ? (spread | 0x80000000U) & ~0xffU : NET6);
		if (family == IPV6)
			prefix.word[1] = htonl((spread | 0x80000000U) & ~0xffffU);
		check_error(rf_prefixes_add(prefixes, &prefix, &error), &error);
	}
}

static void put_limit(struct rf_ruleset *rules, int slot, struct rf_definition *definition,
		      const char *name, uint32_t *id)
{
	struct rf_error error = {};

	snprintf(definition->limit.name, sizeof(definition->limit.name), "%s-%d", name, slot);
	check_error(rf_ruleset_put_limit(rules, slot, definition, NULL, TICK_NS, id, &error),
		    &error);
}

/* Parses the words of a limit that "limit add" would have. */
static void parse_words(const char *text, struct rf_definition *definition)
{
	const char *array[32];
	struct rf_error error = {};
	struct rf_words words;
	char line[512];

	snprintf(line, sizeof(line), "%s", text);
	check_error(rf_split_line(line, array, 32, &words, &error), &error);
	check_error(rf_parse_limit(&words, definition, &error), &error);
}

static void allow(struct rf_ruleset *rules, const struct rf_prefixes *prefixes)
{
	struct rf_list_changes changes = {};
	struct rf_list_refused refused;
	struct rf_error error = {};
	size_t first;

	for (size_t i = 0; i < prefixes->count; i++) {
		const struct rf_list_change change = {
			.prefix = prefixes->prefix[i], .list = RF_ALLOW, .until = RF_FOREVER};

		check_error(rf_list_changes_add(&changes, &change, &error), &error);
	}
	check_error(rf_ruleset_change(rules, &changes, &first, &refused, &error), &error);
	rf_list_changes_free(&changes);
}

static void set_rules(struct rf_ruleset *rules, enum family family, const struct load *load)
{
	struct rf_definition definition = {.limit = load->limit};
	struct rf_prefixes allowed = {};
	uint32_t limits = load->limits ? load->limits : 1, id = 1;

	if (load->words)
		parse_words(load->words, &definition);
	for (uint32_t slot = 0; definition.limit.rate && slot < limits; slot++)
		put_limit(rules, slot, &definition, "any", &id);
	if (load->from) {
		definition.limit.has_from = 1;
		add_prefixes(&definition.from, family, load->from);
		put_limit(rules, limits, &definition, "from", &id);
	}
	if (load->allowed) {
		add_prefixes(&allowed, family, load->allowed);
		allow(rules, &allowed);
	}
	rules->bank.newcomers.then = load->then;
	if (load->then == RF_NEWCOMERS_CHALLENGE) {
		rules->bank.newcomers.except_established = 1;
		rules->bank.newcomers.answers = RF_LIMIT_MAX;
		rules->bank.newcomers.answers_ns = SECOND;
	}
	rules->bank.newcomers.rate = load->newcomers ? load->newcomers : 1;
	rules->bank.newcomers.window_ns = load->newcomers ? SECOND : HOUR;
	rf_prefixes_free(&allowed);
	rf_definition_free(&definition);
}

/* Activates the rules as the command line would. */
static void arm(struct target *target, enum family family, const struct load *load)
{
	struct rf_fence *view = calloc(1, sizeof(*view));
	struct rf_ruleset rules = RF_RULESET_NONE;
	struct rf_error error = {};

	if (!view)
		die("out of memory");
	*view = RF_FENCE_NONE;
	for (int i = 0; i < RF_MAP_COUNT; i++)
		view->map_fd[i] = dup(
			bpf_object__find_map_fd_by_name(target->fence->obj, rf_map_in_object(i)));
	check_error(rf_fence_map_memory(view, &error), &error);
	check_error(rf_fence_measure_clock(view, &error), &error);
	view->config->tick_ns = TICK_NS;
	view->config->injected_ns = START_NS;
	check_error(rf_fence_make_leases(view, &error), &error);
	set_rules(&rules, family, load);
	view->config->own_macs = 1; /* all zeros, as of lo */
	check_error(rf_fence_commit(view, &rules, NULL, NULL, &error), &error);
	rf_ruleset_free(&rules);
	target->view = view;
}

/* Both families have the same number of slots. */
static void set_sources(struct ringfence_bpf *fence, uint32_t sources)
{
	struct bpf_map *const windows[] = {fence->maps.windows4, fence->maps.windows6};
	struct bpf_map *const slots[] = {fence->maps.slots4, fence->maps.slots6};

	for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]); i++) {
		check(bpf_map__set_max_entries(windows[i], RF_WINDOWS_ENTRIES(sources)),
		      "cannot size the windows");
		check(bpf_map__set_max_entries(slots[i], sources), "cannot size the slots");
	}
}

void target_open_fence(struct target *target, enum family family, uint32_t sources, uint32_t leases,
		       const struct load *load)
{
	struct ringfence_bpf *fence = ringfence_bpf__open();

	if (!fence)
		die("cannot open the program: %s", strerror(errno));
	fence->rodata->rf_rodata.injected_clock = load->injects_clock;
	set_sources(fence, sources);
	check(bpf_map__set_max_entries(fence->maps.known_filter, rf_known_filter_wanted(sources)),
	      "cannot size the filter");
	if (load->no_leases)
		leases = RF_LEASE_WAYS;
	check(bpf_map__set_max_entries(fence->maps.leases, leases / RF_LEASE_WAYS), "leases");
	check(bpf_map__set_max_entries(fence->maps.lease_tags, leases / RF_LEASE_WAYS), "tags");
	check(bpf_program__set_autoload(fence->progs.ringfence_frags, false), "frags");
	check(ringfence_bpf__load(fence), "cannot load the program; run as root");
	target->fence = fence;
	arm(target, family, load);
	target_open(target, bpf_program__fd(fence->progs.ringfence));
}

void target_close(struct target *target)
{
	walk_bpf__destroy(target->walk);
	if (target->view)
		rf_fence_close(target->view);
	free(target->view);
	ringfence_bpf__destroy(target->fence);
	*target = (struct target){};
}

void target_pass_time(struct target *target, uint64_t ns)
{
	__atomic_fetch_add(&target->view->config->injected_ns, ns, __ATOMIC_RELAXED);
}

void target_change_list(struct target *target, enum family family)
{
	struct rf_list_change change = {
		.prefix = {.version = family == IPV4 ? 4 : 6,
			   .length = family == IPV4 ? 32 : 64,
			   .word = {htonl(family == IPV4 ? OTHER_SOURCE : NET6)}},
		.list = RF_DENY,
		.owner = RF_OWNER_MANUAL,
		.until = target->denies ? 0 : RF_FOREVER,
	};
	struct rf_list_changes changes = {};
	struct rf_lists_outcome outcome;
	struct rf_error error = {};

	if (family == IPV6)
		change.prefix.word[1] = htonl(OTHER_SOURCE);
	check_error(rf_list_changes_add(&changes, &change, &error), &error);
	check_error(rf_fence_change_lists(target->view, &changes, NULL, &outcome, &error), &error);
	rf_list_changes_free(&changes);
	target->denies = !target->denies;
}

bool target_count(const struct target *target, uint64_t *passed, uint64_t *dropped)
{
	struct rf_counters counters = {};
	struct rf_error error = {};

	*passed = *dropped = 0;
	if (!target->fence)
		return false;
	if (rf_fence_counters(target->view, &counters, &error))
		die("%s", error.text);
	for (int reason = 0; reason < RF_REASON_COUNT; reason++)
		*(rf_reason_is_drop(reason) ? dropped : passed) += counters.reason[reason].packets;
	return true;
}

uint32_t target_limit_id(const struct target *target)
{
	const struct rf_config *config = target->view->config;

	return config->bank[config->active & 1].policy[0].id;
}

bool target_window(const struct target *target, enum family family, uint32_t number,
		   struct rf_source *source)
{
	const struct rf_key4 key4 = {htonl(number), target_limit_id(target)};
	const struct rf_key6 key6 = {{htonl(NET6), htonl(number)}, key4.limit_id};

	if (family == IPV4)
		return !bpf_map__lookup_elem(target->fence->maps.windows4, &key4, sizeof(key4),
					     source, sizeof(*source), 0);
	return !bpf_map__lookup_elem(target->fence->maps.windows6, &key6, sizeof(key6), source,
				     sizeof(*source), 0);
}

/* ---- frames ---- */

struct walk *frame_walk(struct frame *frame)
{
	return frame->family == IPV4 ? &frame->v4.walk : &frame->v6.walk;
}

void *frame_bytes(struct frame *frame, uint32_t *size)
{
	*size = (frame->family == IPV4 ? sizeof(frame->v4) : sizeof(frame->v6)) - FRAME_PAD;
	return frame->family == IPV4 ? (void *)&frame->v4.eth : (void *)&frame->v6.eth;
}

void frame_set(struct frame *frame, enum family family, uint32_t first, uint64_t sources,
	       uint32_t hold)
{
	const struct frame4 v4 = {
		.eth.h_proto = htons(ETH_P_IP),
		.ip = {.version = 4, .ihl = 5, .ttl = 64, .protocol = IPPROTO_UDP},
		.transport.udp = {.source = htons(53), .dest = htons(53)},
	};
	const struct frame6 v6 = {
		.eth.h_proto = htons(ETH_P_IPV6),
		.ip = {.version = 6, .hop_limit = 64, .nexthdr = IPPROTO_UDP},
		.transport.udp = {.source = htons(53), .dest = htons(53)},
	};

	*frame = (struct frame){.family = family};
	if (family == IPV4)
		frame->v4 = v4;
	else
		frame->v6 = v6;
	if (family == IPV6)
		frame->v6.ip.saddr.s6_addr32[0] = htonl(NET6);
	*frame_walk(frame) = (struct walk){
		.hold = hold - 1,
		.factor = WALK_RANDOM,
		.mask = sources - 1,
		.first = first,
	};
}

void frame_make_tcp(struct frame *frame)
{
	const union transport transport = {
		.tcp = {.source = htons(53), .dest = htons(53), .doff = 5, .ack = 1}};

	if (frame->family == IPV4) {
		frame->v4.transport = transport;
		frame->v4.ip.protocol = IPPROTO_TCP;
		frame->v4.ip.daddr = htonl(0xcb007101);
	} else {
		frame->v6.transport = transport;
		frame->v6.ip.nexthdr = IPPROTO_TCP;
		frame->v6.ip.daddr.s6_addr32[0] = htonl(NET6);
		frame->v6.ip.daddr.s6_addr32[1] = htonl(0x10000);
		frame->v6.ip.daddr.s6_addr32[3] = htonl(1);
	}
}
