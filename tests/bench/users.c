// SPDX-License-Identifier: GPL-2.0
/*
 * The rows of many sources that pass, as users have them: each sends a few packets a second, far
 * below a limit that users set. Each row prints the share of the packets that leases answered; its
 * base is a look-up of the same windows with their rings read.
 *
 * Time is injected, since no CPU receives these packets in real time for a dozen rows. It advances
 * 8 times a second, in which the packets come one after the other; a program that reads jiffies
 * saves the 3 to 5 ns of a division. A round of 16 s contains one expiry of all loans.
 */
#include <stdio.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "bench.h"

#define STEPS 8 /* of the clock in a second; each costs a grace period of some ms */
#define ROUND_S 16
#define ROUNDS 3
#define TURNS 2
#define FLOOR_PART 8 /* of the sources: these rows need no complete walk */
#define ROOM_PART 8  /* of the slots: newcomers in a second, which no row uses up */
#define LISTED 1000  /* prefixes, of a list that changes */

struct user {
	const char *limit;
	uint32_t pace; /* packets/s of each source */
	bool exact, guard, changes_list;
};

/* Each dimension once, and the worst case: a limit of few packets, at a rate near its share. */
static const struct user varied[] = {
	{.limit = "1000/10s", .pace = 1},
	{.limit = "1000/10s", .pace = 1, .exact = true},
	{.limit = "1000/10s", .pace = 2},
	{.limit = "1000/10s", .pace = 4},
	{.limit = "1000/10s", .pace = 1, .guard = true},
	{.limit = "1000/10s", .pace = 1, .changes_list = true},
	{.limit = "100/1s", .pace = 1},
	{.limit = "100/1s", .pace = 4},
	{.limit = "2000/1m", .pace = 1},
};

#define VARIED (sizeof(varied) / sizeof(varied[0]))
#define FEWER 2	 /* the first of them, for IPv6 */
#define FEWEST 1 /* … and for a million sources */

static const char *const limits[] = {"100/1s", "1000/10s", "2000/1m"};

#define LIMITS (sizeof(limits) / sizeof(limits[0]))

/* 1000-10s, 1000-10s-2pps-guard */
static void name_user(const struct user *user, char name[NAME_SIZE])
{
	char pace[16] = "", *slash;

	if (user->pace > 1)
		snprintf(pace, sizeof(pace), "-%upps", user->pace);
	snprintf(name, NAME_SIZE, "%s%s%s%s%s", user->limit, pace, user->exact ? "-exact" : "",
		 user->guard ? "-guard" : "", user->changes_list ? "-lists" : "");
	slash = strchr(name, '/');
	if (slash)
		*slash = '-';
}

static struct target *open_user(struct group *group, const struct user *user, enum family family,
				uint32_t sources)
{
	const uint32_t room = group_room(sources);
	char words[64];
	const struct load load = {
		.words = words,
		.allowed = user->changes_list ? LISTED : 0,
		.then = user->guard ? RF_NEWCOMERS_DROP : RF_NEWCOMERS_OFF,
		.newcomers = room / ROOM_PART,
		.injects_clock = true,
	};
	struct target *target = group_add_target(group);

	snprintf(words, sizeof(words), "any rate %s%s", user->limit, user->exact ? " exact" : "");
	target_open_fence(target, family, room, group_leases(sources) * libbpf_num_possible_cpus(),
			  &load);
	return target;
}

static void add_user(struct group *group, const struct user *user, struct target *target,
		     enum family family, uint32_t sources, int base)
{
	char name[NAME_SIZE];
	struct row *row;

	name_user(user, name);
	row = group_add_row(group, name, "16 s of every source", target, XDP_PASS);
	frame_set(&row->frame, family, 0, sources, 1);
	row->warm = sources;
	row->pace = user->pace;
	row->repeat = user->pace * sources;
	row->slices = STEPS / user->pace;
	row->changes_list = user->changes_list;
	row->meets = MEETS_LEASE;
	row->base = base;
}

static void walk_part(struct row *row, enum family family, uint32_t sources)
{
	frame_set(&row->frame, family, 0, sources, 1);
	row->repeat = sources / FLOOR_PART;
}

static void add_users(struct group *group, const struct user *users, size_t count,
		      enum family family, uint32_t sources)
{
	struct target *target[ROWS_MAX];
	int base;

	for (size_t i = 0; i < count; i++)
		target[i] = open_user(group, &users[i], family, sources);
	walk_part(group_add_floor(group, family), family, sources);
	walk_part(group_add_sketch(group, family, sources), family, sources);
	base = group->rows;
	walk_part(crowd_add_ring(group, target[0], family), family, sources);
	for (size_t i = 0; i < count; i++)
		add_user(group, &users[i], target[i], family, sources, base);
	group->seconds = ROUND_S;
	group->rounds_most = ROUNDS;
	group->turns_most = TURNS;
}

static void measure_group(struct report *report, const struct bench_options *options,
			  enum family family, const char *name, const struct user *users,
			  size_t count, uint32_t sources)
{
	struct group *group = group_begin(report, options, family, name);

	if (!group)
		return;
	if (group_has_memory(group, count * (uint64_t)group_room(sources)))
		add_users(group, users, count, family, sources);
	group_end(group, options);
}

/* A group for each limit, with and without a list that changes. */
static void measure_all_users(struct report *report, const struct bench_options *options,
			      enum family family, const char *name, uint32_t sources)
{
	for (size_t i = 0; i < 2 * LIMITS; i++) {
		struct user users[6];
		char group[2 * NAME_SIZE], limit[NAME_SIZE];

		for (size_t n = 0; n < 6; n++)
			users[n] = (struct user){.limit = limits[i / 2],
						 .pace = 1 << n / 2,
						 .guard = n % 2,
						 .changes_list = i % 2};
		name_user(&users[0], limit);
		snprintf(group, sizeof(group), "%s-%s", name, limit);
		measure_group(report, options, family, group, users, 6, sources);
	}
}

void measure_users(struct report *report, const struct bench_options *options, enum family family)
{
	const size_t count = family == IPV4 && !options->quick ? VARIED : FEWER;

	if (options->all_users) {
		measure_all_users(report, options, family, "users-128k", 1 << 17);
		measure_all_users(report, options, family, "users-1M", 1 << 20);
		return;
	}
	if (!options->quick || family == IPV4)
		measure_group(report, options, family, "users-128k", varied, count, 1 << 17);
	if (!options->quick)
		measure_group(report, options, family, "users-1M", varied, FEWEST, 1 << 20);
}
