// SPDX-License-Identifier: GPL-2.0
/*
 * All possible behaviours in a world of two hosts, or of three: every action in every state,
 * breadth first, until no new state appears or the row's number of steps from the start, for any
 * number of reports and any time. Prints TAP, and for a broken bound the shortest path to it.
 *
 * States that were seen are distinguished by 128 bits of hash.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explorer/seen.h"
#include "world.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#define ALWAYS .grace = 2, .ticks = ANY, .reports = ANY
#define STEADY ALWAYS, .net = 2, .steady = true
#define SINGLE ALWAYS, .net = 1, .steady = true
#define SHAKY ALWAYS, .net = 1
/*
 * All hosts that pass L must exceed the bound, or no row could fail. Two hosts therefore have L = 3
 * if each passes one packet without a share, and as little as 1 if they pass nothing. A contest
 * needs an even part, so a pool of a packet for each host.
 */
#define LOOSE .limit = 3, .first = 1
#define PARTS .limit = HOSTS, .first = 0
#define STRICT .limit = 1, .first = 0
/* The last host wants the slot of the first one, and joins later. */
#define RIVAL .limit = 2, .first = 1, .rival = true, .stranger = true

/* Those that are not quick take minutes and gigabytes. */
static const struct row rows[] = {
#if HOSTS == 2
	{"reports late, lost and out of order", STEADY, PARTS, .window = 2, .is_quick = true},
	{"reports lost or twice", STEADY, STRICT, .window = 2, .twice = ANY, .is_quick = true},
	{"a window is evicted", STEADY, STRICT, .window = 2, .evictions = 1, .is_quick = true},
	{"a limit is defined anew", STEADY, STRICT, .window = 1, .changes = 2, .is_quick = true},
	{"packets between limit and charge", STEADY, STRICT, .window = 2, .packets = true,
	 .is_quick = true},
	{"reports lost or twice, some pass unasked", STEADY, LOOSE, .window = 1, .twice = ANY},
	{"reports late and out of order, some pass unasked", STEADY, LOOSE, .window = 2},
	{"packets between limit and charge, some pass unasked", ALWAYS, LOOSE, .steady = true,
	 .net = 1, .window = 2, .packets = true},
	{"a window is evicted, some pass unasked", STEADY, LOOSE, .window = 1, .evictions = 1},
	{"a limit is defined anew, longer", STEADY, STRICT, .window = 2, .changes = 2,
	 .is_quick = true},
	{"heartbeats lost", SHAKY, STRICT, .window = 1},
	{"the engine forgets all", SHAKY, STRICT, .window = 1, .forgets = 1},
	{"the engine forgets all, and a host is new", SHAKY, STRICT, .window = 1, .forgets = 1,
	 .stranger = true},
	{"the engine's clock steps", SHAKY, STRICT, .window = 1, .steps = 1},
	{"a host reboots", SHAKY, STRICT, .window = 1, .reboots = 1},
	{"heartbeats late", SHAKY, STRICT, .window = 1, .beats = ANY},
	{"heartbeats lost, offline initial", SHAKY, STRICT, .window = 2, .holds = 1, .strict = true,
	 .is_quick = true},
	{"the engine has forgotten a share, offline initial", SHAKY, STRICT, .window = 2,
	 .holds = 1, .forgot = true, .strict = true},
	{"a host with a share reboots, offline initial", SHAKY, STRICT, .window = 2, .holds = 1,
	 .reboots = 1, .strict = true},
	{"heartbeats lost, by a host with a share", SHAKY, STRICT, .window = 1, .holds = 1,
	 .is_part = true},
	{"the engine has forgotten a share", SHAKY, STRICT, .window = 1, .holds = 1, .forgot = true,
	 .is_part = true},
	{"the engine has forgotten a share, and a host is new", SHAKY, STRICT, .window = 1,
	 .holds = 1, .forgot = true, .stranger = true, .is_part = true},
	{"a host with a share reboots", SHAKY, STRICT, .window = 1, .holds = 1, .reboots = 1,
	 .is_part = true},
	{"heartbeats late, of a host with a share", SHAKY, STRICT, .window = 1, .holds = 1,
	 .beats = ANY, .is_part = true},
	{"the engine has forgotten a newcomer and its share", SHAKY, STRICT, .window = 1,
	 .stranger = true, .holds = 1, .late = true, .forgot = true, .is_part = true},
	{"answers to heartbeats late, to a host with a share", SHAKY, STRICT, .window = 1,
	 .holds = 1, .slow = true},
	{"a replica that lost writes takes over, offline initial", SHAKY, STRICT, .window = 1,
	 .holds = 1, .losses = 1, .strict = true},
	{"the engine has forgotten a share, two messages, offline initial", ALWAYS, STRICT,
	 .net = 2, .window = 1, .holds = 1, .forgot = true, .strict = true},
	{"heartbeats lost, two messages, offline initial", ALWAYS, STRICT, .net = 2, .window = 1,
	 .holds = 1, .strict = true},
	{"what is kept of a source without claims ends", STEADY, STRICT, .window = 2, .twice = ANY,
	 .expires = true, .is_quick = true},
	{"hosts contest the source", SINGLE, PARTS, .window = 2, .contests = true,
	 .is_quick = true},
	{"the engine forgets a share twice, offline initial", SHAKY, STRICT, .window = 2,
	 .holds = 1, .forgot = true, .forgets = 1, .strict = true},
	{"hosts contest the source, reports out of order", STEADY, PARTS, .window = 2,
	 .contests = true},
	{"hosts contest the source, reports twice", STEADY, PARTS, .window = 1, .contests = true,
	 .twice = ANY, .is_quick = true},
	{"hosts contest the source, packets between limit and charge", SINGLE, PARTS, .window = 2,
	 .contests = true, .packets = true},
	{"hosts contest the source, a window is evicted", SINGLE, PARTS, .window = 2,
	 .contests = true, .evictions = 1, .is_quick = true},
	{"hosts contest the source, heartbeats lost, offline initial", SHAKY, PARTS, .window = 1,
	 .contests = true, .strict = true},
	{"heartbeats lost, longer", SHAKY, STRICT, .window = 2},
	{"hosts contest the source, a limit is defined anew", SINGLE, PARTS, .window = 2,
	 .contests = true, .changes = 2},
	{"hosts contest the source, heartbeats lost", SHAKY, PARTS, .window = 1, .contests = true},
	{"hosts contest the source, a host reboots, offline initial", SHAKY, PARTS, .window = 1,
	 .contests = true, .reboots = 1, .strict = true},
	{"hosts contest the source, the engine forgets all, offline initial", SHAKY, PARTS,
	 .window = 1, .contests = true, .forgets = 1, .strict = true},
	{"both want the only slot", SHAKY, RIVAL, .window = 2, .holds = 1},
	{"both want the only slot, the engine forgets all", SHAKY, RIVAL, .window = 1,
	 .forgets = 1},
#else
	{"reports late, lost or twice", STEADY, STRICT, .window = 2, .twice = ANY,
	 .is_quick = true},
	{"hosts contest the source", SINGLE, PARTS, .window = 1, .contests = true},
	{"hosts contest the source, longer", SINGLE, PARTS, .window = 2, .contests = true},
	{"reports late and out of order, and two packets", STEADY, .limit = 2, .first = 0,
	 .window = 2, .is_quick = true},
	{"a window is evicted", STEADY, STRICT, .window = 2, .evictions = 1, .is_quick = true},
	{"packets between limit and charge", STEADY, STRICT, .window = 2, .packets = true,
	 .is_quick = true},
	{"a limit is defined anew", STEADY, STRICT, .window = 1, .changes = 2, .is_quick = true},
	{"heartbeats lost, offline initial", SHAKY, STRICT, .window = 1, .strict = true},
	{"heartbeats lost", SHAKY, STRICT, .window = 1},
	{"heartbeats lost, longer, offline initial", SHAKY, STRICT, .window = 2, .holds = 1,
	 .strict = true},
	{"the engine has forgotten a share, offline initial", SHAKY, STRICT, .window = 1,
	 .holds = 1, .forgot = true, .strict = true},
	{"a host with a share reboots, offline initial", SHAKY, STRICT, .window = 1, .holds = 1,
	 .reboots = 1, .strict = true},
	{"one wants the slot of another, offline initial", SHAKY, STRICT, .window = 1,
	 .rival = true, .stranger = true, .strict = true},
	{"one wants a slot that was forgotten, offline initial", SHAKY, RIVAL, .window = 1,
	 .holds = 2, .forgot = true, .strict = true},
	{"the engine has forgotten a share, longer, offline initial", SHAKY, STRICT, .window = 2,
	 .holds = 1, .forgot = true, .strict = true},
	{"a host with a share reboots, longer, offline initial", SHAKY, STRICT, .window = 2,
	 .holds = 1, .reboots = 1, .strict = true},
	{"one wants the slot of another", SHAKY, STRICT, .window = 1, .rival = true,
	 .stranger = true},
	{"the engine forgets all, offline initial", SHAKY, STRICT, .window = 1, .forgets = 1,
	 .strict = true},
	{"hosts contest the source, heartbeats lost, offline initial", SHAKY, PARTS, .window = 1,
	 .contests = true, .strict = true, .within = 22},
	{"hosts contest the source, a limit is defined anew", SINGLE, PARTS, .window = 1,
	 .contests = true, .changes = 2},
	{"one wants a slot that was forgotten", SHAKY, RIVAL, .window = 1, .holds = 2,
	 .forgot = true, .within = 17},
#endif
};

/* ---- states in little room: most of their words are 0, and most bytes of the others ---- */

#define WORDS (sizeof(struct world) / 8)
#define MASKS ((WORDS + 63) / 64)
#define SHORT_MOST (MASKS + WORDS)

_Static_assert(sizeof(struct world) % 8 == 0, "a world is made of words");

/* A bit for each word that is not 0, and these words. Returns how many words that are. */
static size_t shorten(const struct world *world, uint64_t shortened[SHORT_MOST])
{
	const uint64_t *words = (const void *)world;
	uint64_t *end = shortened + MASKS;

	memset(shortened, 0, MASKS * 8);
	for (size_t i = 0; i < WORDS; i++) {
		shortened[i / 64] |= (uint64_t)(words[i] != 0) << i % 64;
		*end = words[i];
		end += words[i] != 0;
	}
	return end - shortened;
}

/* Of each word a bit for each byte that is not 0, and these bytes. Returns how many bytes that are.
 */
static size_t pack(const uint64_t *words, size_t count, uint8_t *packed)
{
	uint8_t *end = packed;

	for (size_t i = 0; i < count; i++) {
		uint8_t *mask = end++;

		*mask = 0;
		for (uint64_t left = words[i]; left;) {
			const int byte = __builtin_ctzll(left) / 8;

			*mask |= 1 << byte;
			*end++ = left >> 8 * byte;
			left &= ~(0xffULL << 8 * byte);
		}
	}
	return end - packed;
}

static uint64_t unpack_word(const uint8_t **packed)
{
	uint64_t word = 0;

	for (uint32_t left = *(*packed)++; left; left &= left - 1)
		word |= (uint64_t) * (*packed)++ << 8 * __builtin_ctz(left);
	return word;
}

/* Returns how many bytes it was. */
static size_t unpack(struct world *world, const uint8_t *packed)
{
	const uint8_t *from = packed;
	uint64_t *words = (void *)world, masks[MASKS];

	for (size_t i = 0; i < MASKS; i++)
		masks[i] = unpack_word(&from);
	for (size_t i = 0; i < WORDS; i++)
		words[i] = masks[i / 64] >> i % 64 & 1 ? unpack_word(&from) : 0;
	return from - packed;
}

/* ---- states that wait ---- */

static struct {
	uint8_t *bytes;
	size_t head, used, room;
} waiting;

static void *need(void *memory)
{
	if (memory)
		return memory;
	puts("Bail out! out of memory");
	exit(1);
}

static void make_room(size_t size)
{
	if (waiting.used + size <= waiting.room)
		return;
	memmove(waiting.bytes, waiting.bytes + waiting.head, waiting.used - waiting.head);
	waiting.used -= waiting.head;
	waiting.head = 0;
	if (waiting.used * 2 + size <= waiting.room)
		return;
	waiting.room = waiting.room * 2 + size;
	waiting.bytes = need(realloc(waiting.bytes, waiting.room));
}

static void push(const uint64_t *words, size_t count)
{
	make_room(count * 9);
	waiting.used += pack(words, count, waiting.bytes + waiting.used);
}

static void pop(struct world *world)
{
	waiting.head += unpack(world, waiting.bytes + waiting.head);
}

/* ---- the way to a state ---- */

/* By the number of the state: in the order in which they were seen, the start is 0. */
static struct {
	uint32_t *from;
	uint8_t *step;
	size_t room;
} ways;

static void note_way(size_t state, size_t from, int step)
{
	if (state >= ways.room) {
		ways.room = state * 2 + 1024;
		ways.from = need(realloc(ways.from, ways.room * sizeof(ways.from[0])));
		ways.step = need(realloc(ways.step, ways.room));
	}
	ways.from[state] = from;
	ways.step[state] = step;
}

/*
 * One step in a world that retains its names: the one that leads to the same result as the other's
 * step.
 */
static bool follow(struct world *world, struct world *normal, int step)
{
	bool is_found = false;

	world_act(normal, step / NET, step % NET);
	world_normal(normal);
	for (int which = 0; which < NET && !is_found; which++) {
		struct world after = *world, form;

		if (!world_act(&after, step / NET, which))
			continue;
		form = after;
		world_normal(&form);
		is_found = memcmp(&form, normal, sizeof(form)) == 0;
		if (!is_found)
			continue;
		*world = after;
		world_print_act(step / NET, which);
	}
	return is_found;
}

/*
 * The path to a state and one step more, in a world that retains the names of hosts and messages.
 */
static void print_way(size_t state, int last)
{
	struct world world, normal;
	uint8_t steps[256];
	size_t count = 0;
	bool is_found = true;

	steps[count++] = last;
	for (; state && count < sizeof(steps); state = ways.from[state])
		steps[count++] = ways.step[state];
	world_start(&world);
	normal = world;
	world_normal(&normal);
	while (count && is_found)
		is_found = follow(&world, &normal, steps[--count]);
	if (!is_found || !world_excess(&world))
		printf(" (no such way: two worlds were taken for one)");
}

/* ---- the search ---- */

/* True: it was not seen before, and waits now. */
static bool is_new(const struct world *world)
{
	uint64_t words[SHORT_MOST];
	const size_t count = shorten(world, words);
	__u64 hash[2] = {1, 2};

	hash_words(hash, words, count * 8);
	hash[0] |= 1;
	if (seen_slot(hash)->hash[0])
		return false;
	seen_add(hash, 0);
	push(words, count);
	return true;
}

/* All that can happen in that state. False: the bound is broken. */
static bool expand(const struct world *world, size_t state)
{
	struct world after = *world;

	for (int step = 0; step < ACTS * NET; step++) {
		if (!world_act(&after, step / NET, step % NET))
			continue;
		if (world_excess(&after)) {
			printf("# %d too many:", world_excess(&after));
			print_way(state, step);
			puts("");
			return false;
		}
		world_normal(&after);
		if (is_new(&after))
			note_way(seen_count - 1, state, step);
		after = *world;
	}
	return true;
}

static bool search(uint64_t states)
{
	struct world world;
	size_t state = 0, further = 1; /* the first one that is further from the start */
	int steps = 0;

	seen_clear();
	waiting.head = waiting.used = 0;
	world_start(&world);
	world_normal(&world);
	is_new(&world);
	for (; waiting.head < waiting.used; state++) {
		if (state == further) {
			further = seen_count;
			steps++;
		}
		if (row->within && steps == row->within)
			break;
		pop(&world);
		if (!expand(&world, state))
			return false;
		if (seen_count > states) {
			printf("# %llu states, all within %d steps, and no end\n", seen_count,
			       steps);
			return false;
		}
	}
	printf("# %llu states\n", seen_count);
	return true;
}

static bool run(int number, const struct row *of, uint64_t states)
{
	char within[32] = "";
	bool holds;

	row = of;
	holds = search(states);
	if (row->within)
		snprintf(within, sizeof(within), " within %d steps", row->within);
	printf("%sok %d - all that can happen%s, %s hosts: %s\n", holds ? "" : "not ", number,
	       within, HOSTS == 2 ? "two" : "three", row->title);
	fflush(stdout);
	return holds;
}

/* quick, all or the number of a row, counted from 1. */
static bool is_wanted(size_t number, const char *which)
{
	if (strcmp(which, "quick") == 0)
		return rows[number - 1].is_quick;
	if (strcmp(which, "all") == 0)
		return !rows[number - 1].is_part;
	return number == (size_t)atoi(which);
}

/* quick|all|ROW [STATES]: more states than STATES, 400 million, is failure. */
int main(int argc, char **argv)
{
	const uint64_t states = argc > 2 ? strtoull(argv[2], NULL, 10) : 400000000;
	int count = 0, failed = 0;

	if (argc < 2)
		return 2;
	for (size_t i = 1; i <= ARRAY_SIZE(rows); i++)
		if (is_wanted(i, argv[1]))
			failed += !run(++count, &rows[i - 1], states);
	printf("1..%d\n", count);
	return !count || failed;
}
