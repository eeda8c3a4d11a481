// SPDX-License-Identifier: GPL-2.0
/*
 * Runs every interleaving of a few CPUs through one set of the ban table: each CPU bans a source,
 * looks it up, or lifts its ban as the command line does, operation by operation; the clock can
 * tick at any time. In all rows but one, all sources have the same tag. The last source combines
 * the first half of source 1 with the second half of source 2, and no CPU bans it.
 *
 * Invariants:
 *
 *   a source is banned only if a CPU banned it, until the expiry, and not after it was lifted;
 *   a ban is active until its expiry, or until it is lifted;
 *   CPUs that only ban a source ban it in one place;
 *   a set is full only if each place was used, though not necessarily all the time.
 *
 * Prints TAP. A failure prints the schedule that leads to it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bans.h"
#include "rows.h"
#include "seen.h"

#define PATH_MAX_STEPS 4096

struct row {
	const char *title;
	int ticks;
	int errands[CPUS_MAX];
	int sources; /* that are looked up */
	int banned;  /* places that are taken at first, by the first source and by the second */
	bool roles;  /* the first CPU only bans, the second bans and lifts, the third only looks up
		      */
	bool bans;   /* all CPUs only ban */
	bool tags;   /* each source has a different tag */
};

static const struct row rows[] = {
	{"2 CPUs, an empty set", 2, {2, 1}, 3, 0},
	{"2 CPUs, the same source, one after the other", 2, {2, 2}, 1, 0},
	{"2 CPUs, a place is taken", 2, {2, 1}, 3, 1},
	{"2 CPUs, a place is taken, other tags", 2, {2, 1}, 3, 1, .tags = true},
	{"2 CPUs, a full set", 2, {2, 1}, 3, 2},
	{"2 CPUs, a full set, three errands", 0, {3, 1}, 2, 2},
	{"3 CPUs, a place is taken", 0, {1, 2, 1}, 3, 1, .roles = true},
	{"3 CPUs, a full set whose bans end", 1, {1, 1, 1}, 3, 2, .roles = true},
	{"3 CPUs ban the same source", 0, {1, 1, 1}, 1, 0, .bans = true},
};

#define ROWS ((int)(sizeof(rows) / sizeof(rows[0])))

/* The history of a source, by completed errands, except for `begun`. */
struct facts {
	__u64 until;  /* of the last ban that no CPU has started to lift; 0: none */
	__u32 made;   /* how many times `until` was set */
	__u32 begun;  /* bans started */
	__u32 lifted; /* `begun` at the time it was lifted, if no CPU banned it concurrently, plus 1
		       */
};

static const struct row *row;
static __u64 now;
static struct facts facts[SOURCES];
static const char *failure;

static struct {
	int cpu; /* -1: the clock */
	struct local local;
	struct rf_ban_set set;
} path[PATH_MAX_STEPS];
static int path_length;

static bool is_busy(int index)
{
	return hands[index].operations > 0;
}

/* Is no CPU at such an errand for a source? */
static bool is_free_of(int source, enum errand errand)
{
	for (int i = 0; i < CPUS_MAX; i++)
		if (is_busy(i) && hands[i].local.errand == errand &&
		    hands[i].local.source == source)
			return false;
	return true;
}

/* ---- what must hold ---- */

static void judge_ban(const struct local *local)
{
	struct facts *of = &facts[local->source];

	if (local->answer == RF_BAN_FULL && local->places)
		failure = "no room, and a place was free all the while";
	if (local->answer <= RF_BAN_LOST_RACE)
		return;
	if (local->answer <= local->now || local->answer > now + LASTS)
		failure = "banned, and not for as long as was asked for";
	/* A CPU that is ending bans of the source may yet find this one. */
	of->until = is_free_of(local->source, LIFTS) ? local->answer : 0;
	of->made++;
}

static void judge_answer(const struct local *local)
{
	const struct facts *of = &facts[local->source];

	if (local->answer && !of->begun)
		failure = "banned, and nobody banned it";
	else if (local->answer && local->answer <= local->now)
		failure = "banned, and its ban is over";
	else if (local->answer && local->lifted && local->lifted == of->begun + 1)
		failure = "banned, and its ban was lifted";
	else if (!local->answer && of->until > now && of->made == local->made && local->made)
		failure = "not banned, and it was banned before";
}

static void judge(const struct local *local)
{
	struct facts *of = &facts[local->source];

	if (local->errand == BANS) {
		judge_ban(local);
	} else if (local->errand == ASKS) {
		judge_answer(local);
	} else {
		of->until = 0;
		of->made++;
		if (local->alone && local->begun == of->begun)
			of->lifted = of->begun + 1;
	}
}

/* Once no errand is left. */
static void judge_places(void)
{
	int places = 0;

	for (int i = 0; i < RF_BAN_WAYS; i++)
		places += rf_ban_until(shared.set.word[i]) > now;
	if (row->bans && places != 1)
		failure = "banned, and not in one place";
}

/* ---- the search ---- */

static bool may_do(int index, enum errand errand)
{
	if (row->bans)
		return errand == BANS;
	return !row->roles || errand == (index == CPUS_MAX - 1 ? ASKS : BANS) ||
	       (index == 1 && errand == LIFTS);
}

static __u32 free_places(__u64 time)
{
	__u32 places = 0;

	for (int i = 0; i < RF_BAN_WAYS; i++)
		if (rf_ban_until(shared.set.word[i]) <= time &&
		    !(shared.set.word[i] & RF_BAN_WRITTEN))
			places |= 1U << i;
	return places;
}

/* After each operation: of CPUs that ban. */
static void note_places(void)
{
	for (int i = 0; i < CPUS_MAX; i++) {
		const __u32 places = free_places(hands[i].begun.now);

		hands[i].begun.places &= places;
		hands[i].local.places &= places;
	}
}

static void hash_state(__u64 hash[2])
{
	hash[0] = 1;
	hash[1] = 2;
	hash_words(hash, &shared, sizeof(shared));
	for (int i = 0; i < CPUS_MAX; i++) {
		const struct hand *hand = &hands[i];
		const struct local *local = &hand->local;
		const __u64 words[] = {
			(__u64)hand->packet << 32 | hand->operations << 8 | local->errand << 4 |
				local->source,
			local->now << 32 | local->alone << 8 | local->places,
			(__u64)local->made << 32 | local->lifted,
			local->begun,
			hand->history,
		};

		hash_words(hash, words, sizeof(words));
	}
	for (int i = 0; i < SOURCES; i++) {
		const __u64 words[] = {facts[i].until, (__u64)facts[i].made << 32 | facts[i].begun,
				       facts[i].lifted};

		hash_words(hash, words, sizeof(words));
	}
	hash[1] = mix(hash[1], now);
	hash[0] |= 1;
}

static double explore(void);

static void note(int index)
{
	path[path_length].cpu = index;
	if (index >= 0)
		path[path_length].local = hands[index].local;
	path[path_length++].set = shared.set;
}

static void note_begun(const struct local *local)
{
	struct facts *of = &facts[local->source];

	if (local->errand == BANS)
		of->begun++;
	if (local->errand == LIFTS) {
		of->until = 0;
		of->made++;
	}
}

static double explore_operation(int index)
{
	const struct memory memory = shared;
	struct hand before[CPUS_MAX];
	struct facts known[SOURCES];
	double schedules = 0;
	bool ends;

	memcpy(before, hands, sizeof(before));
	memcpy(known, facts, sizeof(known));
	if (!is_busy(index))
		note_begun(&hands[index].begun);
	ends = operate(index);
	note_places();
	note(index);
	if (ends) {
		judge(&hands[index].local);
		put_down(index);
	}
	if (!failure)
		schedules = explore();
	if (failure)
		return schedules;
	path_length--;
	shared = memory;
	memcpy(hands, before, sizeof(before));
	memcpy(facts, known, sizeof(known));
	return schedules;
}

/* A new errand, of any kind. */
static double explore_errand(int index)
{
	double schedules = 0;

	for (int i = 0; i < ERRANDS * row->sources && !failure; i++) {
		const int source = i / ERRANDS;
		const struct facts *of = &facts[source];
		const struct local begun = {
			.errand = i % ERRANDS,
			.source = source,
			.now = now,
			.made = of->made,
			.lifted = of->lifted,
			.begun = of->begun,
			.places = free_places(now),
			.alone = is_free_of(source, BANS),
		};

		/* No CPU bans the last source. */
		if (!may_do(index, begun.errand) || (source == SOURCES - 1 && begun.errand != ASKS))
			continue;
		pick_up(index, &begun);
		schedules += explore_operation(index);
		hands[index] = (struct hand){.packet = hands[index].packet};
	}
	return schedules;
}

static double explore_tick(void)
{
	double schedules;

	now++;
	note(-1);
	schedules = explore();
	if (failure)
		return schedules;
	path_length--;
	now--;
	return schedules;
}

static double explore(void)
{
	double schedules = 0;
	bool end = true;
	__u64 hash[2];
	struct seen *slot;

	hash_state(hash);
	slot = seen_slot(hash);
	if (slot->hash[0])
		return slot->schedules;
	if (seen_enough())
		return 0;
	for (int i = 0; i < CPUS_MAX && !failure; i++) {
		if (hands[i].packet == row->errands[i])
			continue;
		end = false;
		if (is_busy(i))
			schedules += explore_operation(i);
		else
			schedules += explore_errand(i);
	}
	if (!end && !failure && now < (__u64)START + row->ticks)
		schedules += explore_tick();
	if (end)
		judge_places();
	schedules = end ? 1 : schedules;
	seen_add(hash, schedules);
	return schedules;
}

/* ---- rows ---- */

static void print_path(void)
{
	static const char *const errands[] = {"bans", "asks for", "lifts"};

	for (int i = 0; i < path_length; i++) {
		const struct rf_ban_set *set = &path[i].set;
		const struct local *local = &path[i].local;

		if (path[i].cpu < 0)
			printf("#   the clock ticks on:");
		else
			printf("#   cpu %d, at %llu, %s %d:", path[i].cpu, local->now,
			       errands[local->errand], local->source);
		for (int j = 0; j < RF_BAN_WAYS; j++)
			printf(" {%llu, version %llu%s: %llu, %llu}", rf_ban_until(set->word[j]),
			       set->word[j] >> 1 & RF_BAN_VERSIONS,
			       set->word[j] & RF_BAN_WRITTEN ? ", written" : "",
			       set->ban[j].source[0], set->ban[j].source[1]);
		puts("");
	}
}

static void start_row(void)
{
	/* The time of the clock, for all later bans: they differ only in their source. */
	const __u64 until = START + (row->ticks ? 1 : LASTS);

	failure = NULL;
	tags_differ = row->tags;
	path_length = 0;
	now = START;
	shared = (struct memory){};
	memset(hands, 0, sizeof(hands));
	memset(facts, 0, sizeof(facts));
	for (int i = 0; i < row->banned; i++) {
		shared.set.word[i] = rf_ban_word(until, tag_of(i), 1);
		shared.set.ban[i] = ban_of(i, START - 1);
		facts[i] = (struct facts){.until = until, .made = 1, .begun = 1};
	}
}

static struct found explore_row(void)
{
	double schedules;

	start_row();
	seen_clear();
	schedules = explore();
	return (struct found){failure, schedules, seen_count, !seen_enough()};
}

static const char *begin_row(int i)
{
	row = &rows[i];
	return row->title;
}

struct rows rows_of_program(void)
{
	return (struct rows){
		.name = "bans",
		.count = ROWS,
		.begin = begin_row,
		.explore = explore_row,
		.print_path = print_path,
	};
}
