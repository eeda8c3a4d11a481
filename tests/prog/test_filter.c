// SPDX-License-Identifier: GPL-2.0
/*
 * The known filter of a loaded program. During any floods, it counts exactly the present windows,
 * so it mistakes only a few percent of strangers for known. tests/unit/test_known_filter.c tests
 * the filter separately.
 */
#include "crowd.h"

#include "ringfence/known_filter.h"
#include "tests/unit/unit.h"

#define LINES KNOWN_FILTER_LINES
#define COUNTERS (LINES * 64)
#define ASKED 100000
#define OTHERS_FIRST 0x50000000U /* 80.0.0.0 */
#define STRANGERS_FIRST 0x60000000U

/* ---- the filter as it must be ---- */

static struct rf_known_filter wanted[LINES], found[LINES];
static uint32_t windows[2]; /* of IPv4 and IPv6 */
static uint32_t attackers;  /* the IPv4 part of the first flood */

static struct rf_known_filter *line_of(struct rf_known_filter *lines, uint64_t hash, int is_ipv6)
{
	return &lines[rf_known_filter_place(hash, scene.program->config->known_filter_shift,
					    is_ipv6)];
}

static uint64_t hash_of(const __be32 word[4], int is_ipv6)
{
	__u64 source[2] = {};

	for (int i = 0; i < (is_ipv6 ? 4 : 1); i++)
		source[i / 2] |= (__u64)word[i] << i % 2 * 32;
	return rf_known_filter_hash(source, is_ipv6, scene.program->config->lease_key);
}

/* Counts each window once; a key starts with its source, as the limit groups it. */
static void count_windows(const struct bpf_map *map, int is_ipv6)
{
	const int fd = bpf_map__fd(map);
	struct rf_key6 key, *last = NULL;

	windows[is_ipv6] = 0;
	for (; !bpf_map_get_next_key(fd, last, &key); last = &key, windows[is_ipv6]++) {
		const uint64_t hash = hash_of(key.source, is_ipv6);

		rf_known_filter_add(line_of(wanted, hash, is_ipv6), hash);
		attackers += !is_ipv6 && ntohl(key.source[0]) >> 24 == ATTACK_FIRST >> 24;
	}
}

static void read_filter(void)
{
	const int fd = bpf_map__fd(scene.program->object->maps.known_filter);

	for (__u32 i = 0; i < LINES; i++)
		assert_int_equal(bpf_map_lookup_elem(fd, &i, &found[i]), 0);
	memset(wanted, 0, sizeof(wanted));
	attackers = 0;
	count_windows(scene.program->object->maps.windows4, 0);
	count_windows(scene.program->object->maps.windows6, 1);
}

/* ---- the filter as it is ---- */

struct share {		    /* in hundredths of a percent */
	uint32_t in_use;    /* counters of one family's half */
	uint32_t mistaken;  /* strangers that it takes for known */
	uint32_t different; /* number of counters that do not match the windows */
};

static uint32_t counters_in_use(int is_ipv6)
{
	const unsigned char *half = (unsigned char *)&found[is_ipv6 * LINES / 2];
	uint32_t in_use = 0;

	for (int i = 0; i < COUNTERS / 2; i++)
		in_use += half[i] != 0;
	return in_use;
}

static uint32_t counters_that_differ(void)
{
	const unsigned char *one = (unsigned char *)found, *two = (unsigned char *)wanted;
	uint32_t different = 0;

	for (int i = 0; i < COUNTERS; i++)
		different += one[i] != two[i];
	return different;
}

/* Sources that were never seen, as one limit groups them. */
static uint32_t mistaken_of(const struct rf_policy *policy, int is_ipv6)
{
	uint32_t mistaken = 0;

	for (uint32_t i = 0; i < ASKED; i++) {
		/* Addresses that a limit groups separately. */
		const uint32_t number = STRANGERS_FIRST + (i * 0x9e3779b1 & 0xfffffff);
		const __be32 source4[4] = {htonl(number) & policy->mask4};
		const __be32 source6[4] = {htonl(0x20020000) & policy->mask6[0],
					   htonl(number) & policy->mask6[1]};
		const uint64_t hash = hash_of(is_ipv6 ? source6 : source4, is_ipv6);

		mistaken += rf_known_filter_has(line_of(found, hash, is_ipv6), hash);
	}
	return mistaken;
}

/* The worst shares of the family and the limit. */
static struct share measure(const char *when)
{
	const struct rf_bank *bank = program_bank(scene.program);
	struct share share = {};

	read_filter();
	share.different = counters_that_differ();
	for (int is_ipv6 = 0; is_ipv6 < 2; is_ipv6++) {
		uint32_t in_use = counters_in_use(is_ipv6) * 10000ULL / (COUNTERS / 2);

		share.in_use = in_use > share.in_use ? in_use : share.in_use;
		for (int slot = 0; slot < RF_LIMITS_MAX; slot++) {
			uint32_t mistaken = 0;

			if (bank->policy[slot].id)
				mistaken = mistaken_of(&bank->policy[slot], is_ipv6) * 10000ULL /
					   ASKED;
			share.mistaken = mistaken > share.mistaken ? mistaken : share.mistaken;
		}
	}
	print_message("#   %s: %u + %u windows, %.1f %% of the counters in use, %.2f %% of "
		      "strangers taken for known, %u counters wrong\n",
		      when, windows[0], windows[1], share.in_use / 100.0, share.mistaken / 100.0,
		      share.different);
	return share;
}

/* ---- floods ---- */

struct row {
	const char *rules;
	enum crowd_family family;
	uint32_t in_use, mistaken; /* at most, in percent: by how many sources share the room */
};

static void flood(const struct row *row, uint32_t first, uint64_t rate, uint64_t for_s)
{
	const struct crowd random = {.family = row->family, .first = first, .rate = rate};

	scene.crowds = 0;
	scene_add(&scene, random, for_s * NS_PER_S);
	scene_run(&scene, scene.now_ns + for_s * NS_PER_S);
}

static void assert_few(const struct row *row, const struct share *share)
{
	assert_int_equal(share->different, 0);
	assert_in_range(share->in_use, 1, row->in_use * 100 - 1);
	assert_in_range(share->mistaken, 0, row->mistaken * 100 - 1);
}

static uint64_t inserts(void)
{
	const struct rf_counters counters = program_counters(scene.program);

	return counters.inserts[0] + counters.inserts[1];
}

/*
 * Far more strangers than there is room for: most of them are beyond the guard, while the admitted
 * ones fill the room and evict each other. Then other strangers come, for as long, until no window
 * of the first ones is left.
 */
static void strangers_are_not_taken_for_known(void **state)
{
	const struct row *row = *state;
	struct share first, later;
	uint64_t inserted;

	scene_open_empty(&scene, row->rules);
	assert_int_equal(scene.program->config->known_filter_shift, 64 - __builtin_ctz(LINES));
	flood(row, ATTACK_FIRST, 2500, 120);
	first = measure("a flood of 300,000");
	assert_true(windows[0] + windows[1] >= SOURCES - SOURCES / 100);
	inserted = inserts();
	assert_true(inserted > 3 * SOURCES);
	flood(row, OTHERS_FIRST, 2500, 240);
	later = measure("another of 600,000");
	assert_true(inserts() - inserted > 3 * (windows[0] + windows[1]));
	assert_int_equal(attackers, 0);
	assert_few(row, &first);
	assert_few(row, &later);
	assert_in_range(later.in_use, 0, first.in_use + first.in_use / 20);
	assert_in_range(later.mistaken, 0, first.mistaken + first.mistaken / 4 + 30);
}

/* ---- rows ---- */

/* Rules with one to four limits. In `four_nets` each limit groups by another prefix length. */
#define ALL "limit add any rate 20k/10s\n"
#define UDP "limit add udp rate 200/10s match udp\n"
#define NET "limit add net rate 1M/10s per /24 per6 /48\n"
#define QUIET "limit add quiet rate 300/10s shadow\n"
#define FOUR_NETS                                        \
	ALL "limit add a rate 1M/10s per /31 per6 /63\n" \
	    "limit add b rate 1M/10s per /30 per6 /62\n" \
	    "limit add c rate 1M/10s per /29 per6 /61\n"

static const struct row one = {ALL GUARDED, CROWD_IPV4, 33, 5};
static const struct row two = {ALL UDP GUARDED, CROWD_IPV4, 19, 2};
static const struct row two_open = {ALL UDP "newcomers rate 125/1s then pass\n", CROWD_IPV4, 19, 2};
static const struct row two_of_both = {ALL UDP GUARDED, CROWD_MIXED, 19, 2};
static const struct row four = {ALL UDP NET QUIET GUARDED, CROWD_IPV4, 19, 2};
static const struct row four_nets = {FOUR_NETS GUARDED, CROWD_IPV4, 23, 2};

#define ROW(title, row)                                                        \
	{                                                                      \
		.name = title, .test_func = strangers_are_not_taken_for_known, \
		.teardown_func = crowd_close, .initial_state = (void *)&(row)  \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROW("one limit: few strangers are taken for known", one),
		ROW("two limits: few strangers are taken for known", two),
		ROW("two limits, newcomers open: few strangers are taken for known", two_open),
		ROW("two limits, both families: few strangers are taken for known", two_of_both),
		ROW("four limits: few strangers are taken for known", four),
		ROW("four groupings: few strangers are taken for known", four_nets),
	};

	return cmocka_run_group_tests_name("filter", tests, NULL, crowd_unload);
}
