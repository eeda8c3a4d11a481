// SPDX-License-Identifier: GPL-2.0
/*
 * Runs every interleaving of two CPUs that take from one window, and take credits, with the agent
 * of a fleet: it writes shares, waits for programs, reads the usage, changes the definition, and
 * receives heartbeats.
 *
 * Invariants: no more is charged in N cells than `first` and the largest share that was enforced
 * during the packet's call, under the packet's own definition; or `alone`, past a deadline. After
 * the wait, no packet is charged by an older share, and the usage that the agent reads is no less
 * than the charged amount. Admissions under a share that has been lowered since are not lost.
 *
 * A limit that bans does so only if more than the limit was sent, to this host or, in rows with
 * `sums`, to all hosts. Such a source is banned from then on.
 *
 * A packet can arrive at any of the row's times. The agent's clock is never behind a packet's.
 *
 * Prints TAP. A failure prints the schedule that leads to it.
 */
#include <stdio.h>
#include <string.h>

#include "rows.h"
#include "seen.h"
#include "shares.h"

#define LEDGER_SIZE 32
#define STEPS_MAX 4096
const struct row *row;
struct rf_policy policy[DEFINITIONS];
static const char *failure;
static int refusals, reads, bans; /* in all schedules: there must be some */

/* Charges, and other records besides the window. */
static struct books {
	__u8 charged[LEDGER_SIZE]; /* by epoch */
	__u8 sent[LEDGER_SIZE];	   /* by epoch as well: packets, with any verdict */
	int share[DEFINITIONS];	   /* enforced, as written by the agent or about to be */
	int least[DEFINITIONS];	   /* the smallest share that can be enforced */
	int deadline;		   /* the latest one that was written or is being written */
	bool hears;		   /* the agent is writing a new deadline */
	int forfeited;		   /* additions that were refused */
	__u8 before[LEDGER_SIZE];  /* charges when the agent started to read */
	bool waits_for[TAKERS];
	int answered;	     /* packets for which the window was used */
	int answered_before; /* when the agent started to add up */
	bool is_over;	/* all hosts received more than the limit, and the agent bans the source */
	bool is_banned; /* it has banned the source */
	struct {
		struct rf_lease lease;
		int most;  /* to which the window can have been filled during the packet's call */
		int epoch; /* of the head when the packet changed it */
		/* During its call: whether it has added, the least that was allowed, the most used.
		 */
		bool has_added;
		int least, used;
		bool is_late; /* it arrived when the source was banned */
	} cpu[TAKERS];
} books;

static struct {
	int cpu;
	struct local local;
	struct rf_window window;
} path[STEPS_MAX];
static int path_length;

static void fail(const char *what)
{
	if (!failure)
		failure = what;
}

/* ---- invariants ---- */

static int head_epoch(void)
{
	return (__s32)(rf_word_epoch(shared.window.head) - ORIGIN);
}

static int later_epoch(int time)
{
	return head_epoch() > time ? head_epoch() : time;
}

static int up_to(const __u8 ledger[LEDGER_SIZE], int epoch)
{
	int sum = 0;

	for (int i = epoch - row->cells + 1; i <= epoch; i++)
		sum += i >= 0 && i < LEDGER_SIZE ? ledger[i] : 0;
	return sum;
}

static int at_most(int a, int b)
{
	return a < b ? a : b;
}

static int by_share(const struct local *local, const int share[DEFINITIONS])
{
	return at_most(row->first[local->definition] + share[local->definition], row->limit);
}

/* The limit to which a packet can fill its window, by the share that is enforced now. */
static int allowed_now(const struct local *local)
{
	const int time = row->reads_clock ? (int)shared.clock - ORIGIN : local->time;

	return time >= books.deadline ? row->limit : by_share(local, books.share);
}

/*
 * The smallest such limit, because the agent can be about to write a different share or deadline.
 */
static int least_now(const struct local *local)
{
	const bool is_alone = local->time >= books.deadline && !books.hears;

	return is_alone ? row->limit : by_share(local, books.least);
}

/* The window's charges for all other packets at this time. */
static int used_by_others(int index)
{
	int used = up_to(books.charged, later_epoch(hands[index].local.time)) + books.forfeited;

	for (int i = 0; i < TAKERS; i++)
		used += i != index && books.cpu[i].has_added && !hands[i].local.charged;
	return used;
}

static int at_least(int a, int b)
{
	return a > b ? a : b;
}

static void note_allowed(void)
{
	for (int i = 0; i < TAKERS; i++) {
		const struct hand *hand = &hands[i];

		if (!hand->operations || !hand->local.has_begun)
			continue;
		books.cpu[i].most = at_least(books.cpu[i].most, allowed_now(&hand->local));
		books.cpu[i].least = at_most(books.cpu[i].least, least_now(&hand->local));
		books.cpu[i].used = at_least(books.cpu[i].used, used_by_others(i));
	}
}

static void charge(int index, int epoch, int units)
{
	books.charged[epoch] += units;
	if (up_to(books.charged, epoch) > books.cpu[index].most)
		fail("more than was allowed during its call charged in N consecutive epochs");
}

static void note_charges(int index, const struct local *so_far, __u64 head)
{
	const struct local *local = &hands[index].local;
	const int credits = rf_word_used(shared.window.head) - rf_word_used(head);

	if (shared.window.head != head) {
		books.cpu[index].epoch = later_epoch(local->time);
		books.sent[local->time]--; /* counted in the head's epoch, if later */
		books.sent[books.cpu[index].epoch]++;
		books.cpu[index].has_added = true;
	}
	if (local->charged && !so_far->charged)
		charge(index, books.cpu[index].epoch, 1);
	else if (so_far->charged && credits > 0)
		charge(index, head_epoch(), credits);
}

/* ---- the agent ---- */

static const struct action *next_action(void)
{
	return &row->action[hands[AGENT].packet];
}

/* Starts an action: a larger share can be enforced at any time from here on. */
static void begin_action(const struct local *local)
{
	const int definition = local->tag - 1;

	if (local->kind == WRITES && local->share > books.share[definition])
		books.share[definition] = local->share;
	if (local->kind == WRITES)
		books.least[definition] = at_most(books.least[definition], local->share);
	if (local->kind == HEARS)
		books.hears = true;
	books.answered_before = books.answered;
	if (local->kind == READS) {
		memcpy(books.before, books.charged, sizeof(books.before));
		for (int i = 0; i < TAKERS; i++)
			books.cpu[i].most = 0;
	}
	note_allowed();
}

static void end_write(const struct local *local)
{
	const int definition = local->tag - 1;

	if (local->result == RF_SHARE_RETAGGED) {
		books.share[0] = 0;
		books.share[definition] = 0;
	} else if (local->result == RF_SHARE_DONE) {
		books.share[definition] = local->share;
	} else {
		fail("the agent's call failed");
	}
	memcpy(books.least, books.share, sizeof(books.least));
}

static int all_sent(void)
{
	int sum = 0;

	for (int epoch = 0; epoch < LEDGER_SIZE; epoch++)
		sum += books.sent[epoch];
	return sum;
}

/* Each packet is in the sum once, at the latest when its call has finished. */
static void end_sum(const struct local *local)
{
	const int room = row->limit - row->elsewhere;

	reads++;
	bans += local->bans;
	books.is_over |= local->is_over;
	books.is_banned |= local->bans;
	if (local->is_over && all_sent() <= room)
		fail("banned, and no more than the limit was received by all hosts");
	if (!local->is_over && row->used + books.answered_before > room)
		fail("not banned, and more than the limit was received by all hosts");
}

static void end_action(const struct local *local)
{
	if (local->kind == SUMS)
		end_sum(local);
	if (local->kind == WRITES)
		end_write(local);
	if (local->kind == HEARS) {
		books.deadline = local->share;
		books.hears = false;
	}
	for (int i = 0; i < TAKERS; i++)
		books.waits_for[i] = hands[i].operations > 0;
	if (local->kind != READS)
		return;
	reads++;
	/* Until then, a part of it can have left the window. */
	if (local->used < up_to(books.before, later_epoch(local->time)))
		fail("more than was read is charged");
}

/* ---- the search ---- */

static bool is_done(int index)
{
	return hands[index].packet == (index == AGENT ? row->actions : row->packets[index]);
}

/* The records that can still matter, without each CPU's part. */
static struct books books_ahead(void)
{
	const struct hand *agent = &hands[AGENT];
	struct books ahead = books;

	if (!row->bans)
		memset(ahead.sent, 0, sizeof(ahead.sent));
	if (!row->sums)
		ahead.answered = 0;
	if (!row->sums || !agent->operations)
		ahead.answered_before = 0;
	if (!agent->operations || agent->begun.kind != READS)
		memset(ahead.before, 0, sizeof(ahead.before));
	memset(ahead.waits_for, 0, sizeof(ahead.waits_for));
	memset(ahead.cpu, 0, sizeof(ahead.cpu));
	return ahead;
}

static void hash_hand(__u64 hash[2], const struct hand *hand)
{
	hash_pair(hash, (__u64)hand->packet << 32 | hand->operations << 16 | hand->local.time,
		  hand->history);
}

/* CPUs with the same number of packets are equivalent. */
static void hash_cpus(__u64 hash[2])
{
	__u64 cpu[TAKERS][2];

	for (int i = 0; i < TAKERS; i++) {
		cpu[i][0] = row->packets[i];
		cpu[i][1] = books.waits_for[i] && !is_done(AGENT);
		hash_hand(cpu[i], &hands[i]);
		if (!is_done(i))
			hash_words(cpu[i], &books.cpu[i], sizeof(books.cpu[i]));
	}
	for (int i = 0; i < TAKERS; i++) {
		const int next = (cpu[0][0] > cpu[1][0]) ^ i;

		hash_words(hash, cpu[next], sizeof(cpu[next]));
	}
}

static void hash_state(__u64 hash[2])
{
	const struct rf_window *window = &shared.window;
	const struct books ahead = books_ahead();

	hash[0] = 1;
	hash[1] = 2;
	hash_words(hash, window, offsetof(struct rf_window, cell[RING]));
	hash_words(hash, &window->share, sizeof(window->share));
	hash_words(hash, &shared.hearing, sizeof(shared.hearing));
	hash_pair(hash, shared.definition, shared.received);
	if (row->sums)
		hash_words(hash, &shared.bans, sizeof(shared.bans));
	if (!is_done(AGENT) || row->reads_clock)
		hash_pair(hash, shared.clock, 0);
	hash_words(hash, &ahead, sizeof(ahead));
	hash_hand(hash, &hands[AGENT]);
	hash_cpus(hash);
	hash[0] |= 1;
}

static double explore(void);

/* A source is banned only if it sent more than L within N cells. */
static void check_ban(void)
{
	int most = 0;

	bans++;
	for (int epoch = 0; epoch < LEDGER_SIZE; epoch++)
		most = at_least(most, up_to(books.sent, epoch));
	if (most <= row->limit)
		fail("banned, and no more than the limit was sent in N consecutive epochs");
}

/* Called when no CPU is in a call. */
static void check_bans(void)
{
	int places = 0;

	for (int i = 0; i < RF_BAN_WAYS; i++)
		places += rf_ban_until(shared.bans.word[i]) > 0;
	if (books.is_over && !places)
		fail("not banned, and all hosts together received more than the limit");
}

static void finish_packet(int index, const struct local *local)
{
	books.answered += !local->is_banned;
	if (books.cpu[index].is_late && !local->is_banned)
		fail("not banned, and it came when its source was");
	if (local->result == RF_OVER) {
		refusals++;
		books.forfeited += books.cpu[index].has_added;
		if (books.cpu[index].used < books.cpu[index].least)
			fail("refused, and there was room");
	}
	if (row->bans && local->result == RF_LOST_RACES)
		books.forfeited += books.cpu[index].has_added;
	if (local->bans)
		check_ban();
	books.cpu[index].lease = local->lease;
	if (local->result != RF_UNDER)
		rf_lease_end(&books.cpu[index].lease);
	books.cpu[index].most = 0;
	books.cpu[index].epoch = 0;
	books.cpu[index].is_late = false;
	books.cpu[index].has_added = false;
	books.cpu[index].used = 0;
	books.cpu[index].least = row->limit;
	books.waits_for[index] = false;
}

static void finish(int index)
{
	const struct local *local = &hands[index].local;

	if (index == AGENT) {
		end_action(local);
	} else {
		finish_packet(index, local);
	}
	put_down(index);
}

static double explore_operation(int index)
{
	const struct local before = hands[index].local;
	const __u64 head = shared.window.head;
	double schedules = 0;
	bool ends;

	if (index == AGENT && !hands[index].operations)
		begin_action(&before);
	ends = operate(index);
	path[path_length].cpu = index;
	path[path_length].local = hands[index].local;
	path[path_length++].window = shared.window;
	note_allowed();
	if (index != AGENT)
		note_charges(index, &before, head);
	if (ends)
		finish(index);
	if (!failure)
		schedules = explore();
	if (!failure)
		path_length--;
	return schedules;
}

/* Whether the lease answers, as the data path does, without an operation. */
static bool lease_answers(int index, int time)
{
	struct rf_lease *lease = &books.cpu[index].lease;

	if (!row->leases || !rf_lease_is_live(lease, ORIGIN + time, lease->ends - 1U) ||
	    !rf_lease_answers(lease, 1, 1))
		return false;
	lease->packets = 0;
	lease->bytes = 0;
	return true;
}

static double explore_packet(int index, int time)
{
	const struct local begun = {.kind = TAKES, .time = time, .lease = books.cpu[index].lease};

	if (ORIGIN + time > (int)shared.clock)
		shared.clock = ORIGIN + time;
	if (lease_answers(index, time)) {
		put_down(index);
		return failure ? 0 : explore();
	}
	books.sent[time]++;
	books.cpu[index].is_late = books.is_banned;
	pick_up(index, &begun);
	return explore_operation(index);
}

static double explore_action(int time)
{
	const struct action *action = next_action();
	const struct local begun = {
		.kind = action->kind, .time = time, .tag = action->tag, .share = action->share};

	if (ORIGIN + time < (int)shared.clock)
		return 0;
	shared.clock = ORIGIN + time;
	pick_up(AGENT, &begun);
	return explore_operation(AGENT);
}

/*
 * Whether that action can start. A read waits for all programs that ran at the end of the last
 * write.
 */
static bool may_begin(void)
{
	const enum kind kind = next_action()->kind;

	if (!waits_before_reading() || (kind != READS && kind != WRITES))
		return true;
	for (int i = 0; i < TAKERS; i++)
		if (books.waits_for[i])
			return false;
	return true;
}

/* Explores the next packet or action of an actor, at all times. */
static double explore_beginning(int index)
{
	const struct books here = books;
	const struct memory memory = shared;
	const struct hand hand = hands[index];
	double schedules = 0;

	for (const int *time = row->times; *time >= 0 && !failure; time++) {
		schedules += index == AGENT ? explore_action(*time) : explore_packet(index, *time);
		if (failure)
			break;
		books = here;
		shared = memory;
		hands[index] = hand;
	}
	return schedules;
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

		if (is_done(i))
			continue;
		end = false;
		if (hand.operations)
			schedules += explore_operation(i);
		else if (i != AGENT || may_begin())
			schedules += explore_beginning(i);
		if (failure)
			break;
		books = here;
		shared = memory;
		hands[i] = hand;
	}
	if (end)
		check_bans();
	schedules = end ? 1 : schedules;
	seen_add(hash, schedules);
	return schedules;
}

/* ---- rows ---- */

static void print_path(void)
{
	static const char *const kinds[] = {"takes",	"writes", "reads",
					    "switches", "hears",  "sums"};

	for (int i = 0; i < path_length; i++) {
		const struct local *local = &path[i].local;
		const struct rf_window *window = &path[i].window;

		printf("#   %s %d at +%d, %s:", path[i].cpu == AGENT ? "agent" : "cpu", path[i].cpu,
		       local->time, kinds[local->kind]);
		printf(" head {%u, %u} ring %llx %llx share %u tag %u clip %u%s\n",
		       rf_word_epoch(window->head), rf_word_used(window->head), window->cell[0],
		       window->cell[1], rf_given_share(window->share.given),
		       rf_whose_tag(window->share.whose), rf_whose_clip(window->share.whose),
		       local->charged ? " charged" : "");
	}
}

static void start(void)
{
	path_length = 0;
	memset(hands, 0, sizeof(hands));
	memset(&books, 0, sizeof(books));
	memset(&shared, 0, sizeof(shared));
	for (int i = 0; i < DEFINITIONS; i++) {
		policy[i] = (struct rf_policy){
			.id = 1,
			.limit = row->limit,
			.clip = row->limit,
			.flags = RF_FLEET |
				 (row->first[0] != row->first[1] ? RF_FLEET_CHANGED : 0) |
				 (row->bans ? RF_BANS_BY_SUM : 0),
			.first = row->first[i],
			.alone = row->limit,
			.tag = 1 + i,
			.cell = 1,
			.cells = row->cells,
			.clock = RF_JIFFIES,
		};
	}
	rf_window_start(&shared.window, &policy[0], ORIGIN);
	shared.window.head += row->used;
	shared.received = row->used;
	books.charged[0] = books.sent[0] = row->used;
	shared.window.share.given = rf_given(INCARNATION, row->share);
	shared.window.share.whose = rf_whose(1, rf_limit_by(&policy[0], row->share));
	shared.hearing.deadline = ORIGIN + row->deadline;
	books.share[0] = books.least[0] = row->share;
	books.deadline = row->deadline;
	for (int i = 0; i < TAKERS; i++) {
		books.cpu[i].least = row->limit;
		rf_lease_set_slots(&books.cpu[i].lease, (const __u8[RF_CHARGED_MAX]){1}, 1);
	}
	seen_clear();
}

static struct found explore_row(void)
{
	struct found found;

	failure = NULL;
	refusals = reads = bans = 0;
	start();
	found.schedules = explore();
	found.whole = !seen_enough();
	if (!failure && found.whole && (!refusals || !reads))
		failure = "no schedule refuses anything, or none reads what was used";
	if (!failure && found.whole && row->bans && !bans)
		failure = "no schedule bans";
	found.failure = failure;
	found.states = seen_count;
	return found;
}

static const char *begin_row(int i)
{
	row = &share_rows[i];
	return row->title;
}

struct rows rows_of_program(void)
{
	return (struct rows){
		.name = "shares",
		.count = share_rows_count,
		.hunts_backwards = true, /* rows of bans are last */
		.begin = begin_row,
		.explore = explore_row,
		.print_path = print_path,
	};
}
