// SPDX-License-Identifier: GPL-2.0
/*
 * Runs every interleaving of two CPUs through two limits that a packet must both pass, as in
 * bpf/limits_known.h and limits.h: peek at both, and then charge one after the other, or charge
 * immediately if both heads have room. In some rows each CPU has a lease whose credits are from
 * both windows.
 *
 * Invariants, for each limit: no more than L is charged in its N cells; a reader sees the charges
 * of packets that passed, of packets that the other limit refused (which are counted as forfeited),
 * and of credits. No packet is charged to one limit and refused by the other while no other CPU
 * writes, nor refused then if both have room. Credits are spent in the cells in which they were
 * charged.
 *
 * Prints TAP. A failure prints the schedule that leads to it.
 */
#include <stdio.h>
#include <string.h>

#include "rows.h"
#include "seen.h"
#include "several.h"

#define LEDGER_SIZE 16
#define STEPS_MAX 4096

static const struct row rows[] = {
	{"one cell each", {1, 1}, {1, 1}, 1, 2, 2, {2, 2}, false, {0, 1, -1}},
	{"two cells each", {1, 1}, {2, 2}, 2, 2, 2, {2, 2}, false, {0, 1, 2, -1}},
	{"cells of two lengths", {1, 2}, {2, 1}, 1, 2, 2, {2, 2}, false, {0, 1, 2, -1}},
	{"three packets on one CPU", {2, 1}, {1, 2}, 2, 2, 1, {3, 1}, false, {0, 1, 2, -1}},
	{"credits, both CPUs", {1, 1}, {1, 1}, 4, 4, 3, {2, 2}, true, {0, -1}},
	{"credits, cells of two lengths", {1, 2}, {2, 1}, 3, 3, 4, {2, 1}, true, {1, 2, -1}},
	{"credits, three packets on one CPU", {1, 2}, {1, 1}, 3, 3, 4, {3, 1}, true, {0, 1, -1}},
};

#define ROWS ((int)(sizeof(rows) / sizeof(rows[0])))

const struct row *row;
struct rf_policy policy[LIMITS];
static const char *failure;
static int forfeits, answers; /* in all schedules: there must be some */

/* The charges, and state outside of the windows. */
static struct books {
	__u8 charged[LIMITS][LEDGER_SIZE]; /* by epoch */
	struct {
		struct rf_lease lease;
		int credits[LIMITS],
			epoch[LIMITS]; /* charged and not spent, derived from the heads */
		bool disturbed; /* another CPU has written, since its packet's first operation */
	} cpu[CPUS_MAX];
} books;

static struct {
	int cpu;
	struct local local;
	struct memory memory;
} path[STEPS_MAX];
static int path_length;

static void fail(const char *what)
{
	if (!failure)
		failure = what;
}

/* ---- what must hold ---- */

static int epoch_of(int limit, int time)
{
	return time / (int)policy[limit].cell;
}

static int head_epoch(int limit)
{
	return (__s32)(rf_word_epoch(shared.window[limit].head) -
		       (__u32)(ORIGIN / policy[limit].cell));
}

static int later_epoch(int limit, int time)
{
	const int head = head_epoch(limit), epoch = epoch_of(limit, time);

	return head > epoch ? head : epoch;
}

static int charged_up_to(int limit, int epoch)
{
	int sum = 0;

	for (int i = epoch - policy[limit].cells + 1; i <= epoch; i++)
		sum += i >= 0 && i < LEDGER_SIZE ? books.charged[limit][i] : 0;
	return sum;
}

static void charge(int limit, int epoch, int units)
{
	books.charged[limit][epoch] += units;
	if (charged_up_to(limit, epoch) > (int)policy[limit].limit)
		fail("more than L charged in N consecutive epochs");
}

/* The credits that a CPU's operation charged. */
static void note_credits(int index, const struct memory *before)
{
	for (int i = 0; i < LIMITS; i++) {
		const int units =
			rf_word_used(shared.window[i].head) - rf_word_used(before->window[i].head);

		if (units <= 0)
			continue;
		charge(i, head_epoch(i), units);
		if (books.cpu[index].epoch[i] != head_epoch(i))
			books.cpu[index].credits[i] = 0;
		books.cpu[index].epoch[i] = head_epoch(i);
		books.cpu[index].credits[i] += units;
	}
}

static void note_operation(int index, const struct memory *before, const struct local *so_far)
{
	const struct local *local = &hands[index].local;

	for (int i = 0; i < LIMITS; i++)
		if (local->charged[i] && !so_far->charged[i])
			charge(i, later_epoch(i, local->time), 1);
	if (so_far->stage == RENEWS)
		note_credits(index, before);
	for (int i = 0; i < CPUS_MAX; i++)
		if (i != index && memcmp(before, &shared, sizeof(shared)) != 0)
			books.cpu[i].disturbed = true;
}

/* Its last operation has been done. */
static void judge(int index)
{
	const struct local *local = &hands[index].local;
	const int limit = local->refused;

	if (limit == LIMITS) {
		books.cpu[index].lease = local->lease;
		return;
	}
	rf_lease_end(&books.cpu[index].lease);
	forfeits += local->charged[0];
	if (books.cpu[index].disturbed)
		return;
	if (local->charged[0])
		fail("charged to one limit and refused by the other, and nobody else wrote");
	if (charged_up_to(limit, later_epoch(limit, local->time)) < (int)policy[limit].limit)
		fail("refused, and there was room");
}

static void check_rest(void)
{
	for (int i = 0; i < LIMITS; i++) {
		for (int time = 0; time < LEDGER_SIZE; time++) {
			const int used = rf_used(&shared.window[i], &policy[i], ORIGIN + time);
			const int expected = charged_up_to(i, later_epoch(i, time));

			if (used < expected)
				fail("charged, and not counted");
			if (used > expected)
				fail("counted, and not charged");
		}
	}
}

/* As the data path does. If true, it has handled the packet without an atomic operation. */
static bool lease_answers(int index, int time)
{
	struct rf_lease *lease = &books.cpu[index].lease;

	if (!row->leases || !rf_lease_is_live(lease, ORIGIN + time, lease->ends - 1U) ||
	    !rf_lease_answers(lease, 1, 1))
		return false;
	lease->packets = 0;
	lease->bytes = 0;
	answers++;
	for (int i = 0; i < LIMITS; i++) {
		if (books.cpu[index].credits[i]-- <= 0)
			fail("more than was charged is admitted by credits");
		if (epoch_of(i, time) > books.cpu[index].epoch[i])
			fail("more than its cell: a credit is spent after that has ended");
	}
	return true;
}

/* ---- the search ---- */

static void hash_state(__u64 hash[2])
{
	hash[0] = 1;
	hash[1] = 2;
	for (int i = 0; i < LIMITS; i++)
		hash_words(hash, &shared.window[i], offsetof(struct rf_window, cell[RING]));
	hash_words(hash, books.charged, sizeof(books.charged));
	for (int i = 0; i < CPUS_MAX; i++) {
		const struct hand *hand = &hands[i];
		const __u64 words[] = {
			(__u64)hand->packet << 32 | hand->operations << 16 | hand->local.time << 8 |
				books.cpu[i].disturbed,
			hand->history,
			(__u64)books.cpu[i].credits[0] << 32 | books.cpu[i].credits[1],
			(__u64)books.cpu[i].epoch[0] << 32 | books.cpu[i].epoch[1],
		};

		hash_words(hash, words, sizeof(words));
		hash_words(hash, &books.cpu[i].lease, sizeof(books.cpu[i].lease));
	}
	hash[0] |= 1;
}

static double explore(void);

static double explore_operation(int index)
{
	const struct local before = hands[index].local;
	const struct memory memory = shared;
	double schedules = 0;
	bool ends;

	if (!hands[index].operations)
		books.cpu[index].disturbed = false;
	ends = operate(index);
	path[path_length].cpu = index;
	path[path_length].local = hands[index].local;
	path[path_length++].memory = shared;
	note_operation(index, &memory, &before);
	if (ends) {
		judge(index);
		put_down(index);
	}
	if (!failure)
		schedules = explore();
	if (!failure)
		path_length--;
	return schedules;
}

/* A packet at every time. */
static double explore_packet(int index)
{
	const struct books here = books;
	const struct memory memory = shared;
	const struct hand hand = hands[index];
	double schedules = 0;

	for (const int *time = row->times; *time >= 0 && !failure; time++) {
		const struct local begun = {.time = *time, .lease = books.cpu[index].lease};

		if (lease_answers(index, *time)) {
			put_down(index);
			if (!failure)
				schedules += explore();
		} else {
			pick_up(index, &begun);
			schedules += explore_operation(index);
		}
		if (failure)
			break;
		books = here;
		shared = memory;
		hands[index] = hand;
	}
	return schedules;
}

static bool at_rest(void)
{
	for (int i = 0; i < CPUS_MAX; i++)
		if (hands[i].operations)
			return false;
	return true;
}

static double explore(void)
{
	const struct books here = books;
	const struct memory memory = shared;
	double schedules = 0;
	bool end = true;
	struct seen *slot;
	__u64 hash[2];

	hash_state(hash);
	slot = seen_slot(hash);
	if (slot->hash[0])
		return slot->schedules;
	if (seen_enough())
		return 0;
	if (at_rest())
		check_rest();
	for (int i = 0; i < CPUS_MAX && !failure; i++) {
		const struct hand hand = hands[i];

		if (hand.packet == row->packets[i])
			continue;
		end = false;
		schedules += hand.operations ? explore_operation(i) : explore_packet(i);
		if (failure)
			break;
		books = here;
		shared = memory;
		hands[i] = hand;
	}
	schedules = end ? 1 : schedules;
	seen_add(hash, schedules);
	return schedules;
}

/* ---- rows ---- */

static void print_path(void)
{
	static const char *const stages[] = {"peeks", "charges", "renews its lease"};

	for (int i = 0; i < path_length; i++) {
		const struct local *local = &path[i].local;

		printf("#   cpu %d, packet of +%d, %s:", path[i].cpu, local->time,
		       stages[local->stage]);
		for (int j = 0; j < LIMITS; j++) {
			const __u64 head = path[i].memory.window[j].head;

			printf(" {%u, %u}%s", rf_word_epoch(head), rf_word_used(head),
			       local->charged[j] ? " charged" : "");
		}
		puts("");
	}
}

static void start(int limit)
{
	const int limits[] = {limit, row->other_limit};

	path_length = 0;
	memset(hands, 0, sizeof(hands));
	memset(&books, 0, sizeof(books));
	for (int i = 0; i < LIMITS; i++) {
		policy[i] = (struct rf_policy){
			.id = 1 + i,
			.limit = limits[i],
			.clip = limits[i],
			.cell = row->cell[i],
			.cells = row->cells[i],
			.clock = RF_JIFFIES,
		};
		rf_window_start(&shared.window[i], &policy[i], ORIGIN);
	}
	for (int i = 0; i < CPUS_MAX; i++)
		rf_lease_set_slots(&books.cpu[i].lease, (const __u8[RF_CHARGED_MAX]){1, 2}, LIMITS);
	seen_clear();
}

static struct found explore_row(void)
{
	double schedules = 0;
	__u64 states = 0;
	bool whole = true;

	failure = NULL;
	forfeits = answers = 0;
	for (int limit = row->limit_from; limit <= row->limit_to && !failure; limit++) {
		start(limit);
		schedules += explore();
		states += seen_count;
		whole = whole && !seen_enough();
	}
	if (!failure && whole && !forfeits && !row->leases)
		failure = "no schedule forfeits anything";
	if (!failure && whole && row->leases && !answers)
		failure = "no schedule spends a credit";
	if (whole)
		printf("# forfeited %d, answered by leases %d\n", forfeits, answers);
	return (struct found){failure, schedules, states, whole};
}

static const char *begin_row(int i)
{
	row = &rows[i];
	return row->title;
}

struct rows rows_of_program(void)
{
	return (struct rows){
		.name = "several",
		.count = ROWS,
		.begin = begin_row,
		.explore = explore_row,
		.print_path = print_path,
	};
}
