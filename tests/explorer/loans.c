// SPDX-License-Identifier: GPL-2.0
/*
 * Runs every interleaving of a few CPUs through windows that lend: a packet tries its CPU's lease,
 * then the window or both windows, and then gets a loan or credits, as in bpf/limits.h.
 *
 * One clock advances at any time. A CPU reads it before its packet's first operation, and can stall
 * anywhere, so a grant, an admission and the end of a cell can be of readings that are frames or
 * periods old. Between packets the window can be evicted and created again.
 *
 * Invariants, for each limit: no more than L pass in its N cells, by admissions, credits and loans.
 * An admission counts at the window's cell or the caller's, whichever is later; a packet that a
 * loan passes counts at its CPU's reading. Without other CPUs, a packet is refused only if L are
 * used and lent. A window lends no more in a period than its share of L, and only while there is
 * the room that the row says.
 *
 * Prints TAP. A failure prints the schedule that leads to it.
 */
#include <stdio.h>
#include <string.h>

#include "loans.h"
#include "rows.h"
#include "seen.h"

#define LEDGER_SIZE 32
#define STEPS_MAX 4096

const struct row *row;
static const char *failure;
static int answered, refused; /* by loans and by refusals, in all schedules */

/* State outside of the windows. */
static struct books {
	__u8 passed[LIMITS][LEDGER_SIZE]; /* by epoch */
	__u8 passed_low[LEDGER_SIZE];	  /* of the first limit, under the lower L */
	__u8 lent[LIMITS][LEDGER_SIZE];	  /* by period */
	int now;			  /* index in row->times */
	bool evicted;
	bool left; /* refused packets have left their costs in a head */
	struct {
		struct rf_lease lease;
		int limit;	   /* of its lease */
		int earliest;	   /* reading of its next packet */
		int epoch[LIMITS]; /* of the head that its packet was added to */
		bool added[LIMITS];
		bool disturbed; /* by another CPU, since its packet's first operation */
	} cpu[CPUS_MAX];
} books;

static struct {
	int cpu; /* -1: the clock; -2: the window is evicted */
	bool leased;
	struct local local;
	struct memory memory;
} path[STEPS_MAX];
static int path_length;

static void fail(const char *what)
{
	if (!failure)
		failure = what;
}

static int most(int a, int b)
{
	return a > b ? a : b;
}

static int limit_most(void)
{
	return most(path[0].local.limit, row->other_limit);
}

/* ---- what must hold ---- */

/* The window of a limit that new packets find. */
static int window_of(int limit)
{
	return limit + books.evicted;
}

static int epoch_of(int limit, int time)
{
	return time / (int)policy[limit].cell;
}

static int head_epoch(const struct memory *memory, int limit, int window)
{
	return (__s32)(rf_word_epoch(memory->window[window].head) -
		       (__u32)(ORIGIN / policy[limit].cell));
}

static int sum_up_to(const __u8 *ledger, int epoch)
{
	int sum = 0;

	for (int i = epoch - policy[0].cells + 1; i <= epoch; i++)
		sum += i >= 0 && i < LEDGER_SIZE ? ledger[i] : 0;
	return sum;
}

static void pass(int limit, int epoch, int of_limit)
{
	const int low = row->other_limit ? row->other_limit : 0;

	books.passed[limit][epoch]++;
	if (of_limit == low && !limit)
		books.passed_low[epoch]++;
	for (int end = epoch; end < epoch + policy[0].cells; end++) {
		if (sum_up_to(books.passed[limit], end) > limit_most())
			fail("more than L passed in N consecutive epochs");
		if (low && sum_up_to(books.passed_low, end) > low)
			fail("more than the lower L passed in N consecutive epochs");
	}
}

static int period_of(int time)
{
	return time >> row->period;
}

/* The units that the window may count as lent at that time, by the grants. */
static int lent_at(int limit, int time)
{
	const int period = period_of(time), frame = 1 << row->frame[limit];
	int sum = books.lent[limit][period];

	if (period && time % (1 << row->period) < frame)
		sum += books.lent[limit][period - 1];
	return sum;
}

/* A CPU's operation has raised the word of loans. */
static void note_grant(int index, int limit, const struct memory *before)
{
	const __u64 word = shared.window[window_of(limit)].loans,
		    old = before->window[window_of(limit)].loans;
	const int time = hands[index].local.time;
	const int same = word >> 40 == old >> 40;
	const int units = (int)rf_loans_now(word) - (same ? (int)rf_loans_now(old) : 0);
	const int used = rf_word_used(shared.window[window_of(limit)].head);

	books.lent[limit][period_of(time)] += units;
	if (row->share > 2 && books.lent[limit][period_of(time)] > limit_most() / row->share)
		fail("lent: more than its share in a period");
	if (row->room > 1 && !books.cpu[index].disturbed &&
	    used + lent_at(limit, time) > limit_most() / row->room)
		fail("lent: more than there is room for");
}

static void note_head(int index, int limit, const struct memory *before, enum stage stage)
{
	const int window = hands[index].local.first + limit;
	const __u64 head = shared.window[window].head, old = before->window[window].head;
	const int epoch = head_epoch(&shared, limit, window);

	if (head == old)
		return;
	if (stage == TAKES) {
		books.cpu[index].added[limit] = true;
		books.cpu[index].epoch[limit] = epoch;
		return;
	}
	for (int i = rf_word_used(head) - rf_word_used(old); i > 0 && window == window_of(limit);
	     i--)
		pass(limit, epoch, hands[index].local.limit);
}

static void note_operation(int index, const struct memory *before, const struct local *so_far)
{
	const struct local *local = &hands[index].local;

	for (int i = 0; i < row->limits; i++) {
		note_head(index, i, before, so_far->stage);
		if (shared.window[window_of(i)].loans != before->window[window_of(i)].loans)
			note_grant(index, i, before);
		if (local->charged[i] && !so_far->charged[i] && local->first + i == window_of(i))
			pass(i, most(epoch_of(i, local->time), books.cpu[index].epoch[i]),
			     local->limit);
	}
	for (int i = 0; i < CPUS_MAX; i++)
		if (i != index)
			books.cpu[i].disturbed = true;
}

/* Is the word of a later period than the packet's reading? Then all that can be lent counts. */
static bool is_ahead(int limit, int time)
{
	return shared.window[window_of(limit)].loans >> 40 > (__u64)(ORIGIN + time) >> row->period;
}

static bool is_full(int limit, int time)
{
	const int epoch = most(epoch_of(limit, time), head_epoch(&shared, limit, window_of(limit)));

	return sum_up_to(books.passed[limit], epoch) + lent_at(limit, time) >=
	       (int)policy[limit].limit;
}

/* Its last operation has been done. */
static void judge(int index)
{
	const struct local *local = &hands[index].local;
	bool is_refused = false, can_be = false;

	for (int i = 0; i < row->limits; i++) {
		is_refused |= !local->charged[i];
		can_be |= is_full(i, local->time) || is_ahead(i, local->time);
		books.left |= books.cpu[index].added[i] && !local->charged[i];
		books.cpu[index].added[i] = false;
	}
	books.cpu[index].lease = local->lease;
	books.cpu[index].limit = local->limit;
	if (is_refused && !can_be && !books.cpu[index].disturbed && !books.left && !books.evicted &&
	    !row->other_limit)
		fail("refused, and there was room");
}

static bool others_are_busy(int index)
{
	for (int i = 0; i < CPUS_MAX; i++)
		if (i != index && hands[i].operations)
			return true;
	return false;
}

/* The lease has handled the packet. */
static void judge_answer(int index, int time)
{
	const struct rf_lease *lease = &books.cpu[index].lease;

	if (lease->has_credits && !lease->is_loan)
		return; /* the head counted it when the credits were charged */
	if (lease->has_credits) {
		answered++;
		for (int i = 0; i < row->limits; i++)
			pass(i, epoch_of(i, time), books.cpu[index].limit);
		return;
	}
	refused++;
	if (!is_full(0, time) && !books.left && !is_ahead(0, time) && !others_are_busy(index))
		fail("refused, and there was room: by a lease");
}

/* ---- the search ---- */

static void hash_state(__u64 hash[2])
{
	hash[0] = 1;
	hash[1] = 2;
	for (int i = 0; i < row->limits + row->evicts; i++)
		hash_words(hash, &shared.window[i], offsetof(struct rf_window, cell[RING]));
	hash_words(hash, &books, offsetof(struct books, cpu));
	for (int i = 0; i < CPUS_MAX; i++) {
		const struct hand *hand = &hands[i];
		const __u64 words[] = {
			(__u64)hand->packet << 32 | hand->operations << 16 | hand->local.time << 8 |
				hand->local.first << 1 | books.cpu[i].disturbed,
			hand->history,
			(__u64)books.cpu[i].limit << 32 | hand->local.limit,
			books.cpu[i].earliest,
			(__u64)books.cpu[i].added[0] << 32 | books.cpu[i].epoch[0],
			(__u64)books.cpu[i].added[1] << 32 | books.cpu[i].epoch[1],
		};

		hash_words(hash, words, sizeof(words));
		if (hand->packet < row->packets[i])
			hash_words(hash, &books.cpu[i].lease, sizeof(books.cpu[i].lease));
	}
	hash[0] |= 1;
}

static double explore(void);

static void add_step(int cpu, const struct local *local, bool leased)
{
	path[path_length].cpu = cpu;
	path[path_length].leased = leased;
	path[path_length].local = *local;
	path[path_length++].memory = shared;
}

/* Removes the step, unless it is of the path that leads to a failure. */
static double after_step(void)
{
	double schedules = 0;

	if (!failure)
		schedules = explore();
	if (!failure)
		path_length--;
	return schedules;
}

static void end_packet(int index)
{
	books.cpu[index].earliest = row->times[books.now];
	books.cpu[index].epoch[0] = books.cpu[index].epoch[1] = 0;
	books.cpu[index].disturbed = false;
	put_down(index);
}

static double explore_operation(int index)
{
	const struct local before = hands[index].local;
	const struct memory memory = shared;
	bool ends;

	if (!hands[index].operations)
		books.cpu[index].disturbed = others_are_busy(index);
	ends = operate(index);
	add_step(index, &hands[index].local, false);
	note_operation(index, &memory, &before);
	if (ends) {
		judge(index);
		end_packet(index);
	}
	return after_step();
}

/* A packet whose CPU read the clock at `time`. */
static double explore_reading(int index, int time, int limit)
{
	struct rf_lease lease = books.cpu[index].lease;
	struct local begun = {.time = time, .limit = limit, .first = books.evicted};

	if (books.cpu[index].limit != limit)
		lease = (struct rf_lease){0}; /* of other rules */
	if (!lease_answers(&lease, ORIGIN + time)) {
		begun.lease = lease;
		pick_up(index, &begun);
		return explore_operation(index);
	}
	if (time != row->times[books.now])
		return 0; /* as if it had been read now */
	lease.packets = lease.bytes = 0;
	books.cpu[index].lease = lease;
	add_step(index, &begun, true);
	judge_answer(index, time);
	end_packet(index);
	return after_step();
}

/* A packet, of every reading of the clock since the CPU's last one, and of each L. */
static double explore_packet(int index)
{
	const struct books here = books;
	const struct memory memory = shared;
	const struct hand hand = hands[index];
	const int limits[] = {path[0].local.limit, row->other_limit};
	double schedules = 0;

	for (int i = 0; i < 2 && limits[i]; i++) {
		for (int j = 0; j <= here.now && !failure; j++) {
			if (row->times[j] < here.cpu[index].earliest)
				continue;
			schedules += explore_reading(index, row->times[j], limits[i]);
			if (failure)
				return schedules;
			books = here;
			shared = memory;
			hands[index] = hand;
		}
	}
	return schedules;
}

static double explore_tick(void)
{
	books.now++;
	add_step(-1, &path[0].local, false);
	return after_step();
}

/* The window is created again now; earlier packets are forgotten, as in any window. */
static double explore_eviction(void)
{
	books.evicted = true;
	memset(books.passed, 0, sizeof(books.passed));
	memset(books.lent, 0, sizeof(books.lent));
	set_limits(path[0].local.limit);
	create_again(&shared.window[1], ORIGIN + row->times[books.now]);
	add_step(-2, &path[0].local, false);
	return after_step();
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
	if (!end && !failure && row->times[here.now + 1] >= 0) {
		schedules += explore_tick();
		if (!failure)
			books = here;
	}
	if (!end && !failure && row->evicts && !here.evicted) {
		schedules += explore_eviction();
		if (!failure) {
			books = here;
			shared = memory;
		}
	}
	schedules = end ? 1 : schedules;
	seen_add(hash, schedules);
	return schedules;
}

/* ---- rows ---- */

static void print_path(void)
{
	for (int i = 1; i < path_length; i++) {
		const struct local *local = &path[i].local;

		if (path[i].cpu == -1)
			printf("#   the clock advances");
		else if (path[i].cpu == -2)
			printf("#   evicted, and created again:");
		else
			printf("#   cpu %d, packet of +%d%s:", path[i].cpu, local->time,
			       path[i].leased ? ", its lease"
			       : local->stage ? ", lends"
					      : "");
		for (int j = 0; j < row->limits + row->evicts && path[i].cpu != -1; j++) {
			const struct rf_window *window = &path[i].memory.window[j];

			printf(" {%u, %u} lent {%lld, %u, %u}%s", rf_word_epoch(window->head),
			       rf_word_used(window->head),
			       (long long)((window->loans >> 40) - (ORIGIN >> row->period)),
			       rf_loans_before(window->loans), rf_loans_now(window->loans),
			       local->charged[j] ? " passed" : "");
		}
		puts("");
	}
}

static void start(int limit)
{
	const bool is_fixed = !row->cells;

	path_length = 0;
	memset(hands, 0, sizeof(hands));
	memset(&books, 0, sizeof(books));
	loan_share = row->share;
	loan_room = row->room;
	for (int i = 0; i < LIMITS; i++) {
		policy[i] = (struct rf_policy){
			.id = 1 + i,
			.flags = RF_LENDS,
			.algorithm = is_fixed ? RF_FIXED : RF_SLIDING,
			.edge = RF_EDGE_STRICT,
			.limit = limit,
			.clip = most(limit, row->other_limit),
			.cell = row->ticks[i] ? row->ticks[i] : 1 + is_fixed,
			.cells = is_fixed ? 1 : row->cells,
			.clock = RF_JIFFIES,
			.loan_frame = row->frame[i],
			.loan_period = row->period,
		};
		rf_window_start(&shared.window[i], &policy[i], ORIGIN);
	}
	add_step(-1, &(struct local){.limit = limit}, false);
	for (int i = 0; i < CPUS_MAX; i++) {
		books.cpu[i].limit = limit;
		books.cpu[i].earliest = row->from[i];
	}
	seen_clear();
}

static struct found explore_row(void)
{
	double schedules = 0;
	__u64 states = 0;
	bool whole = true;

	failure = NULL;
	answered = refused = 0;
	for (int limit = row->limit_from; limit <= row->limit_to && !failure; limit++) {
		start(limit);
		schedules += explore();
		states += seen_count;
		whole = whole && !seen_enough();
	}
	if (!failure && whole && !answered)
		failure = "no schedule passes a packet by a loan";
	if (!failure && whole && row->refusals && !refused)
		failure = "no lease refuses a packet";
	if (whole)
		printf("# passed by loans %d, refused by leases %d\n", answered, refused);
	return (struct found){failure, schedules, states, whole};
}

static const char *begin_row(int i)
{
	row = &loans_rows[i];
	return row->title;
}

struct rows rows_of_program(void)
{
	return (struct rows){
		.name = "loans",
		.count = loans_rows_count,
		.begin = begin_row,
		.explore = explore_row,
		.print_path = print_path,
	};
}
