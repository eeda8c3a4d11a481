// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of a packet that takes from its window, in pairs: two programs in turns of a few
 * milliseconds, so disturbances of the machine affect both. Two ways of one program have the same
 * maps and instructions, two programs the same maps, because even their location in memory makes
 * some nanoseconds. Compare programs by several runs. Nothing is attached or pinned.
 *
 *   share_cost PAIRS OBJECT WAY OBJECT WAY
 *
 * OBJECT is a file such as build/ringfence_fleet.bpf.o; WAY is the state that its packets find, see
 * `ways`. With the suffix ":both", another CPU sends the same concurrently.
 *
 * Prints the first one's nanoseconds, and the median of the second's less the first's with the
 * interval that contains it in 95 % of such series.
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/load.h"
#include "fence/fence.h"
#include "ringfence/share.h"
#include "rules/ruleset.h"
#include "tests/limits.h"
#include "tool.h"

#define HOUR (3600 * RF_NS_PER_S)
#define FEW 20000    /* packets of a turn */
#define MANY 4000000 /* the same if the state changes with time */
#define PAIRS_MAX 10000
#define SOURCE 0x0a000001
#define LEASES 65536

#define FAR (RF_LIMIT_MAX / 2) /* no turn gets there */

/* What packets meet. */
struct way {
	const char *name;
	uint32_t limits;
	uint32_t first, share; /* 0, 0: a limit of this host only */
	bool has_leases;
	int verdict;
};

static const struct way ways[] = {
	{"local", 1, 0, 0, false, XDP_PASS},	     {"first", 1, FAR, 0, false, XDP_PASS},
	{"share", 1, 1, FAR, false, XDP_PASS},	     {"local-twice", 2, 0, 0, false, XDP_PASS},
	{"first-twice", 2, FAR, 0, false, XDP_PASS}, {"share-twice", 2, 1, FAR, false, XDP_PASS},
	{"leased", 1, 0, 0, true, XDP_PASS},	     {"leased-share", 1, 1, FAR, true, XDP_PASS},
	{"flood", 1, 1, 0, true, XDP_DROP},
};

/* A window in a fence with shares. */
struct shared_source {
	struct rf_source source;
	struct rf_share share;
};

struct subject {
	struct bpf_object *object;
	const struct way *way;
	struct rf_fence view;
	int program_fd;
	const char *path;
	bool has_company;
	atomic_bool ends; /* the company does */
};

static void check(int err, const char *what)
{
	if (err)
		die("%s: %s", what, strerror(-err));
}

static void check_error(int err, const struct rf_error *error)
{
	if (err)
		die("%s", error->text);
}

static const struct way *find_way(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (strlen(ways[i].name) == length && memcmp(ways[i].name, name, length) == 0)
			return &ways[i];
	die("'%s': expects a way that packets go", name);
}

static int map_fd(const struct subject *subject, enum rf_map map)
{
	return bpf_object__find_map_fd_by_name(subject->object, rf_map_in_object(map));
}

static void size_map(struct bpf_object *object, enum rf_map map, uint32_t entries)
{
	check(bpf_map__set_max_entries(bpf_object__find_map_by_name(object, rf_map_in_object(map)),
				       entries),
	      "cannot size a map");
}

/*
 * Do both have as many limits, and leases or none? Then they share maps. Not if the window is
 * seldom read, and retains the other program's data.
 */
static bool may_share(const struct subject *a, const struct subject *b)
{
	return a->way->limits == b->way->limits && a->way->has_leases == b->way->has_leases &&
	       b->way->verdict == XDP_PASS;
}

static uint32_t size_of_windows(const struct subject *subject)
{
	return bpf_map__value_size(
		bpf_object__find_map_by_name(subject->object, rf_map_in_object(RF_MAP_WINDOWS4)));
}

/* With the maps of `before`, unless that is NULL. */
static void load_program(struct subject *subject, const struct subject *before)
{
	const uint32_t leases = subject->way->has_leases ? LEASES : RF_LEASE_WAYS;

	subject->object = bpf_object__open_file(subject->path, NULL);
	if (!subject->object)
		die("%s: %s", subject->path, strerror(errno));
	size_map(subject->object, RF_MAP_LEASES, leases / RF_LEASE_WAYS);
	size_map(subject->object, RF_MAP_LEASE_TAGS, leases / RF_LEASE_WAYS);
	check(bpf_program__set_autoload(
		      bpf_object__find_program_by_name(subject->object, "ringfence_frags"), false),
	      "frags");
	if (before && size_of_windows(subject) == size_of_windows(before))
		check(rf_maps_reuse(subject->object, before->view.map_fd), "cannot share maps");
	check(bpf_object__load(subject->object), subject->path);
	subject->program_fd =
		bpf_program__fd(bpf_object__find_program_by_name(subject->object, "ringfence"));
}

/* Limits that no packet exceeds, and a fleet that is always connected. */
static void set_limits(struct subject *subject)
{
	struct rf_definition definition = {.limit = LIMIT(RF_LIMIT_MAX, HOUR, STRICT(16))};
	struct rf_ruleset rules = RF_RULESET_NONE;
	struct rf_error error = {};
	struct rf_config *config;
	uint32_t id = 1;

	check_error(rf_fence_measure_clock(&subject->view, &error), &error);
	check_error(rf_fence_make_leases(&subject->view, &error), &error);
	for (uint32_t slot = 0; slot < subject->way->limits; slot++) {
		snprintf(definition.limit.name, sizeof(definition.limit.name), "all%u", slot);
		check_error(rf_ruleset_put_limit(&rules, slot, &definition, NULL,
						 subject->view.config->tick_ns, &id, &error),
			    &error);
	}
	check_error(rf_fence_commit(&subject->view, &rules, NULL, NULL, &error), &error);
	rf_ruleset_free(&rules);
	config = subject->view.config;
	for (int i = 0; i < RF_BUCKETS; i++)
		config->fleet.bucket[i].deadline = RF_FOREVER;
}

/* The limits belong to this host or to a fleet, according to the way. */
static void begin_way(const struct subject *subject)
{
	const struct way *way = subject->way;
	struct rf_config *config = subject->view.config;

	for (uint32_t slot = 0; slot < way->limits; slot++) {
		struct rf_policy *policy = &config->bank[config->active & 1].policy[slot];

		policy->first = way->first;
		policy->alone = policy->limit;
		policy->tag = rf_tag_of(1);
		policy->flags = (policy->flags & ~RF_FLEET) | (way->first ? RF_FLEET : 0);
	}
}

static void open_view(struct subject *subject)
{
	struct rf_error error = {};

	subject->view = RF_FENCE_NONE;
	for (int i = 0; i < RF_MAP_COUNT; i++)
		subject->view.map_fd[i] = dup(map_fd(subject, i));
	check_error(rf_fence_map_memory(&subject->view, &error), &error);
}

/* CPU time of a packet. */
static double take_turn(const struct subject *subject, uint32_t packets)
{
	struct small_frame frame = small_frame(SOURCE);
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = &frame, .data_size_in = sizeof(frame),
		    .repeat = packets);
	const uint64_t before_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	check(bpf_prog_test_run_opts(subject->program_fd, &run), "cannot run the program");
	if (packets > 1 && (int)run.retval != subject->way->verdict)
		die("%s: packets get another verdict", subject->way->name);
	return (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns) / packets;
}

/* As an agent's call does it, while no packet comes. */
static void give_share(const struct subject *subject, uint32_t slot, uint32_t share)
{
	const struct rf_config *config = subject->view.config;
	const struct rf_policy *policy = &config->bank[config->active & 1].policy[slot];
	const struct rf_key4 key = {htonl(SOURCE), policy->id};
	const int fd = map_fd(subject, RF_MAP_WINDOWS4);
	struct shared_source shared;

	check(bpf_map_lookup_elem(fd, &key, &shared), "no window");
	shared.share.given = rf_given(rf_given_incarnation(shared.share.given), share);
	shared.share.whose = rf_whose(policy->tag, rf_limit_by(policy, share));
	check(bpf_map_update_elem(fd, &key, &shared, BPF_EXIST), "cannot give a share");
}

static void load_subject(struct subject *subject, const struct subject *before)
{
	load_program(subject, before);
	open_view(subject);
	if (!subject->view.config->tick_ns)
		set_limits(subject);
}

static void open_subject(struct subject *subject, const char *path, const char *name,
			 const struct subject *before)
{
	const size_t length = strcspn(name, ":");

	*subject = (struct subject){
		.path = path, .way = find_way(name, length), .has_company = name[length]};
	if (before && !may_share(subject, before))
		before = NULL;
	if (before && strcmp(path, before->path) == 0) {
		subject->object = before->object;
		subject->view = before->view;
		subject->program_fd = before->program_fd;
	} else {
		load_subject(subject, before);
	}
	begin_way(subject);
	take_turn(subject, 1);
	for (uint32_t slot = 0; subject->way->share && slot < subject->way->limits; slot++)
		give_share(subject, slot, subject->way->share);
	take_turn(subject, FEW);
}

/* ---- turns ---- */

static void run_on_cpu(int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	check(-pthread_setaffinity_np(pthread_self(), sizeof(cpus), &cpus), "CPU");
}

static void *keep_company(void *context)
{
	struct subject *subject = context;

	run_on_cpu(0);
	while (!subject->ends)
		take_turn(subject, FEW);
	return NULL;
}

static double measure(struct subject *subject)
{
	const uint32_t packets = subject->way->verdict == XDP_DROP ? MANY : FEW;
	pthread_t company;
	double ns;

	begin_way(subject);
	if (!subject->has_company)
		return take_turn(subject, packets);
	subject->ends = false;
	check(-pthread_create(&company, NULL, keep_company, subject), "a thread");
	ns = take_turn(subject, packets);
	subject->ends = true;
	pthread_join(company, NULL);
	return ns;
}

static int compare(const void *a, const void *b)
{
	const double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

int main(int argc, char **argv)
{
	static double first[PAIRS_MAX], more[PAIRS_MAX];
	struct subject subject[2] = {};
	uint32_t pairs, part;

	if (argc != 6)
		die("expects PAIRS OBJECT WAY OBJECT WAY");
	pairs = parse_count(argv[1], PAIRS_MAX);
	run_on_cpu(1);
	for (int i = 0; i < 2; i++)
		open_subject(&subject[i], argv[2 + 2 * i], argv[3 + 2 * i], i ? &subject[0] : NULL);
	for (uint32_t i = 0; i < pairs; i++) {
		double ns[2];

		for (uint32_t turn = 0; turn < 2; turn++)
			ns[(i + turn) & 1] = measure(&subject[(i + turn) & 1]);
		first[i] = ns[0];
		more[i] = ns[1] - ns[0];
	}
	qsort(first, pairs, sizeof(*first), compare);
	qsort(more, pairs, sizeof(*more), compare);
	part = 0.98 * sqrt(pairs); /* 1.96 deviations of a binomial distribution */
	printf("%.2f ns; %+.2f (%+.2f to %+.2f)\n", first[pairs / 2], more[pairs / 2],
	       more[pairs / 2 > part ? pairs / 2 - part : 0],
	       more[pairs / 2 + part < pairs ? pairs / 2 + part : pairs - 1]);
	return 0;
}
