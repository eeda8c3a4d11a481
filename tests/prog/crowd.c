// SPDX-License-Identifier: GPL-2.0
#include "crowd.h"

#include <linux/bpf.h>
#include <netinet/in.h>
#include <stdio.h>

#define CROWD_BETWEEN_NS (3600 * NS_PER_S) /* two tests */
#define CROWD_BLOCKS 32			   /* tests with a program, before the next is loaded */
#define CROWD_NETS6 (1 << 17)		   /* /64s in a /47 */

struct scene scene;

/* ---- the program ---- */

void crowd_run_on(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one); /* if such a CPU exists */
}

/* The program that the tests share; NULL before it is loaded. */
static struct scene crowd_last;

static void crowd_load(void)
{
	void *program = crowd_last.program;

	if (program)
		program_teardown(&program);
	crowd_last = (struct scene){};
	program_setup(&program);
	crowd_last = (struct scene){.program = program, .start_ns = START_NS};
	program_fix_key(crowd_last.program);
}

void scene_open(struct scene *scene, const char *rules)
{
	crowd_run_on(0);
	if (!crowd_last.program || crowd_last.block == CROWD_BLOCKS)
		crowd_load();
	*scene = crowd_last;
	program_set_time(scene->program, scene->start_ns);
	program_apply(scene->program, rules);
}

void scene_open_empty(struct scene *scene, const char *rules)
{
	crowd_last.block = CROWD_BLOCKS;
	scene_open(scene, rules);
}

/* Also runs after a failure, which leaves a test wherever it is. */
static void scene_close(struct scene *scene)
{
	for (size_t i = 0; i < scene->crowds; i++)
		free(scene->crowd[i].member);
	if (scene->program) {
		crowd_last.start_ns += scene->now_ns + CROWD_BETWEEN_NS;
		crowd_last.block++;
	}
	*scene = (struct scene){};
}

int crowd_close(void **state)
{
	(void)state;
	scene_close(&scene);
	return 0;
}

int crowd_unload(void **state)
{
	void *program = crowd_last.program;

	(void)state;
	if (program)
		program_teardown(&program);
	return 0;
}

/* All packets so far that were refused because their sources were newcomers beyond the guard. */
static uint64_t count_refused(const struct program *program)
{
	static struct rf_counters sums[512];
	uint64_t refused = 0;
	__u32 first = 0;
	int cpus = libbpf_num_possible_cpus();

	assert_in_range(cpus, 1, 512);
	assert_int_equal(
		bpf_map_lookup_elem(bpf_map__fd(program->object->maps.counters), &first, sums), 0);
	for (int i = 0; i < cpus; i++)
		refused += sums[i].reason[RF_NEWCOMER_PASS].packets +
			   sums[i].reason[RF_NEWCOMER_DROP].packets + sums[i].newcomers_aggregated;
	return refused;
}

/* ---- frames ---- */

static bool crowd_is_ipv6(const struct crowd *crowd, uint32_t number)
{
	return crowd->family == CROWD_IPV6 || (crowd->family == CROWD_MIXED && number % 2);
}

static __be32 crowd_word4(const struct scene *scene, uint32_t number)
{
	return htonl(number + (number >> 31 ? scene->block * 0x20000 : scene->block << 24));
}

/*
 * The lower half of a /64 prefix. Sources below 128.0.0.0 share one /47, the others a second one.
 */
static __be32 crowd_word6(const struct scene *scene, uint32_t number)
{
	return htonl(0x0db80000 + (scene->block * 2 + (number >> 31)) * CROWD_NETS6 +
		     number % CROWD_NETS6);
}

static void put_tcp(unsigned char *header, const struct crowd *crowd)
{
	header[12] = 5 << 4;
	header[13] = crowd->tcp_flags;
}

static unsigned int send4(const struct scene *scene, const struct crowd *crowd, uint32_t number)
{
	struct frame4 frame = frame4_from(crowd_word4(scene, number));

	frame.ip.tot_len = htons(sizeof(frame) - sizeof(frame.eth));
	if (crowd->tcp_flags) {
		frame.ip.protocol = IPPROTO_TCP;
		put_tcp(frame.payload, crowd);
	}
	memcpy(frame.payload + 2, &(__be16){htons(crowd->port)}, sizeof(__be16));
	return program_run(scene->program->object->progs.ringfence, &frame, sizeof(frame));
}

static unsigned int send6(const struct scene *scene, const struct crowd *crowd, uint32_t number)
{
	struct frame6 frame = {.eth.h_proto = htons(ETH_P_IPV6),
			       .ip = {.version = 6, .nexthdr = IPPROTO_UDP, .hop_limit = 64}};

	frame.ip.payload_len = htons(sizeof(frame.payload));
	frame.ip.saddr.s6_addr32[0] = htonl(0x20010000);
	frame.ip.saddr.s6_addr32[1] = crowd_word6(scene, number);
	if (crowd->tcp_flags) {
		frame.ip.nexthdr = IPPROTO_TCP;
		put_tcp(frame.payload, crowd);
	}
	memcpy(frame.payload + 2, &(__be16){htons(crowd->port)}, sizeof(__be16));
	return program_run(scene->program->object->progs.ringfence, &frame, sizeof(frame));
}

bool crowd_send(const struct scene *scene, const struct crowd *crowd, uint32_t number)
{
	return (crowd_is_ipv6(crowd, number) ? send6(scene, crowd, number)
					     : send4(scene, crowd, number)) != XDP_PASS;
}

/* ---- pace ---- */

/* How many of the crowd's sources exist by now. */
static uint64_t crowd_size(const struct crowd *crowd)
{
	uint64_t size = crowd->sources;

	if (crowd->ramp_per_s)
		size = (crowd->due_ns - crowd->from_ns) * crowd->ramp_per_s / NS_PER_S + 1;
	return size < crowd->sources ? size : crowd->sources;
}

/* Sources of a random crowd: each sends `times` packets, apart_ns from one to the next. */
static uint32_t random_source(const struct crowd *crowd, uint64_t n)
{
	uint64_t block = crowd->apart_ns * crowd->rate / NS_PER_S, times = crowd->times;

	if (times > 1)
		n = n / (block * times) * block + n % block;
	/* An odd factor: none of 2^24 results repeats. */
	return crowd->first + (uint32_t)(n * 0x9e3779b1 & 0xffffff);
}

/* The number of the next packet's source, in the crowd's order; the time of the next but one. */
static uint32_t crowd_turn(struct crowd *crowd)
{
	uint64_t size = crowd_size(crowd), n = crowd->n++;

	if (!crowd->sources) {
		crowd->due_ns = crowd->from_ns + crowd->n * NS_PER_S / crowd->rate;
		return random_source(crowd, n);
	}
	if (!crowd->ramp_per_s) {
		crowd->due_ns = crowd->from_ns + crowd->n * crowd->apart_ns / size;
		return crowd->first + n % size;
	}
	if (crowd->n >= size)
		crowd->n = 0;
	crowd->due_ns += crowd->apart_ns / size;
	return crowd->first + n % size;
}

static struct crowd *next_crowd(struct scene *scene)
{
	struct crowd *next = NULL;

	for (struct crowd *crowd = scene->crowd; crowd < scene->crowd + scene->crowds; crowd++)
		if (crowd->due_ns < crowd->until_ns && (!next || crowd->due_ns < next->due_ns))
			next = crowd;
	return next;
}

/* ---- watched sources ---- */

static void watch_packet(struct scene *scene, struct crowd *crowd, uint32_t number)
{
	struct member *member = &crowd->member[number - crowd->first];
	uint64_t refused = scene->is_shared ? 0 : count_refused(scene->program);
	bool dropped = crowd_send(scene, crowd, number);

	if (!scene->is_shared)
		dropped = dropped || count_refused(scene->program) > refused;
	__atomic_add_fetch(&member->sent, 1, __ATOMIC_RELAXED);
	if (!member->is_in && dropped) {
		member->tries++;
		return;
	}
	member->is_in = true;
	if (dropped)
		__atomic_add_fetch(&member->lost, 1, __ATOMIC_RELAXED);
}

static void scene_set_time(struct scene *scene, uint64_t now_ns)
{
	scene->now_ns = now_ns;
	if (!scene->follows)
		program_set_time(scene->program, scene->start_ns + now_ns);
}

void scene_run(struct scene *scene, uint64_t until_ns)
{
	struct crowd *crowd;

	while ((crowd = next_crowd(scene)) && crowd->due_ns < until_ns) {
		uint32_t number;

		scene_set_time(scene, crowd->due_ns);
		number = crowd_turn(crowd);
		if (crowd->is_watched)
			watch_packet(scene, crowd, number);
		else
			crowd->passed += !crowd_send(scene, crowd, number);
	}
	scene_set_time(scene, until_ns);
}

struct crowd *scene_add(struct scene *scene, struct crowd added, uint64_t for_ns)
{
	struct crowd *crowd = &scene->crowd[scene->crowds++];

	assert_true(scene->crowds <= CROWDS_MAX);
	*crowd = added;
	crowd->from_ns = crowd->due_ns = scene->now_ns;
	crowd->until_ns = scene->now_ns + for_ns;
	if (crowd->is_watched)
		crowd->member = calloc(crowd->sources, sizeof(*crowd->member));
	assert_true(!crowd->is_watched || crowd->member);
	return crowd;
}

/* ---- counts in windows ---- */

struct member *find_member(struct scene *scene, const struct rf_address *address)
{
	const bool is_ipv6 = address->version == 6;

	for (struct crowd *crowd = scene->crowd; crowd < scene->crowd + scene->crowds; crowd++) {
		uint32_t first = is_ipv6 ? crowd_word6(scene, crowd->first)
					 : crowd_word4(scene, crowd->first);
		uint32_t nth = ntohl(address->word[is_ipv6]) - ntohl(first);

		if (crowd->is_watched && nth < crowd->sources &&
		    crowd_is_ipv6(crowd, crowd->first + nth) == is_ipv6)
			return &crowd->member[nth];
	}
	return NULL;
}

static bool groups_by_source(const struct rf_policy *policy)
{
	return policy->id && policy->mask4 == 0xffffffff;
}

static int compare_window(const struct rf_address *source, uint32_t limit_id,
			  const struct rf_source *state, void *context)
{
	struct scene *scene = context;
	const struct rf_bank *bank = program_bank(scene->program);
	struct member *member = NULL;

	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		if (bank->policy[slot].id == limit_id && groups_by_source(&bank->policy[slot]))
			member = find_member(scene, source);
	if (!member)
		return 0;
	member->windows++;
	member->unlike += state->passed != member->sent - member->tries || state->dropped;
	return 0;
}

/*
 * How many sources of a crowd lack a window, or have a window that did not count all their packets,
 * which means that it is not their first window.
 */
static uint32_t count_evicted(struct scene *scene, struct crowd *crowd)
{
	const struct rf_bank *bank = program_bank(scene->program);
	struct rf_error error = {};
	uint32_t limits = 0, evicted = 0;

	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		limits += groups_by_source(&bank->policy[slot]);
	for (uint32_t i = 0; i < crowd->sources; i++)
		crowd->member[i].windows = crowd->member[i].unlike = 0;
	assert_done(rf_fence_each_source(&scene->program->fence, compare_window, scene, &error),
		    &error);
	for (uint32_t i = 0; i < crowd->sources; i++)
		evicted += crowd->member[i].windows != limits || crowd->member[i].unlike;
	return evicted;
}

/* ---- known sources ---- */

struct known add_known(struct scene *scene, enum crowd_family family, uint64_t for_ns)
{
	static const struct {
		uint32_t first, sources;
		uint64_t apart_ns;
	} of[] = {
		{KNOWN_FIRST, 300, 2 * NS_PER_S},
		{KNOWN_FIRST + 0x1000, 80, 9 * NS_PER_S},
		{KNOWN_FIRST + 0x2000, 20, NS_PER_S / 10},
	};
	struct known known;

	for (int i = 0; i < KNOWN_CROWDS; i++)
		known.crowd[i] = scene_add(scene,
					   (struct crowd){.family = family,
							  .first = of[i].first,
							  .sources = of[i].sources,
							  .apart_ns = of[i].apart_ns,
							  .is_watched = true},
					   for_ns);
	return known;
}

void add_losses(struct scene *scene, struct crowd *crowd, struct losses *losses)
{
	losses->evicted += count_evicted(scene, crowd);
	losses->sources += crowd->sources;
	for (uint32_t i = 0; i < crowd->sources; i++) {
		const struct member *member = &crowd->member[i];

		losses->sent += member->sent - member->tries;
		losses->lost += member->lost;
		losses->lossy += member->lost || !member->is_in;
	}
}

struct losses losses_of(struct scene *scene, const struct known *known)
{
	struct losses losses = {};

	for (int i = 0; i < KNOWN_CROWDS; i++)
		add_losses(scene, known->crowd[i], &losses);
	return losses;
}

void assert_nothing_lost(const struct losses *losses, const char *who)
{
	print_message("#   %s: %u of %u lost %ju of %ju packets, %u were evicted\n", who,
		      losses->lossy, losses->sources, (uintmax_t)losses->lost,
		      (uintmax_t)losses->sent, losses->evicted);
	assert_int_equal(losses->lost, 0);
	assert_int_equal(losses->lossy, 0);
}

uint32_t count_in(const struct crowd *crowd)
{
	uint32_t in = 0;

	for (uint32_t i = 0; i < crowd->sources; i++)
		in += crowd->member[i].is_in;
	return in;
}
