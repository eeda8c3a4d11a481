/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A fleet: several CPUs, each with its own leases, in front of the windows of one limit, or of
 * several that every packet must pass, simulated one after the other. Books, one for each window,
 * record how much of the charged credits is not spent.
 */
#ifndef RINGFENCE_UNIT_FLEET_H
#define RINGFENCE_UNIT_FLEET_H

/* Another CPU intervenes between the operations that take credits, if a row requests it. */
static void fleet_disturb(void);
#define RF_ATOMIC_YIELD() fleet_disturb()

#define ORACLE_CHARGES (1 << 17)

#include "lease.h"

#define CPUS_MAX 64
#define FLEET_SOURCES_MAX 4
#define BOOKS 32 /* more than a window has cells */

enum order {
	ROUND_ROBIN,
	AT_RANDOM,
	MIGRATING, /* to another CPU about twice in a cell */
};

/* One window, and its passed packets. */
struct charged_window {
	struct rf_window window;
	struct {
		uint64_t epoch, credits; /* charged in it and not spent */
	} book[BOOKS];
	struct oracle passed;
	uint64_t passed_units;
};

struct fleet_row {
	struct rf_limit limit[RF_CHARGED_MAX]; /* up to the first without a rate */
	uint32_t tick_ns;
	int cpus;
	int sources; /* 0: 1 */
	bool shared; /* the last limit's window counts all sources */
	enum order order;
	uint32_t cost_max; /* 0: 1 */
	uint32_t percent;  /* of a burst's amount is sent; 0: 200 */
	bool displaced;	   /* at times a lease is another source's */
	bool disturbed;	   /* at times a race for credits is lost */
	uint32_t span;	   /* leases expire at its multiples, in jiffies */
	bool no_credits;   /* so few packets pass on each CPU */
};

static struct {
	struct fleet_row row;
	int limits;
	struct rf_policy policy[RF_CHARGED_MAX];
	uint64_t random, unit_ns, cell_ns;
	uint64_t time_ns; /* of the packet in hand */
	int cpu;
	struct charged_window window[FLEET_SOURCES_MAX][RF_CHARGED_MAX];
	struct rf_lease lease[CPUS_MAX][FLEET_SOURCES_MAX];
	uint64_t spent; /* credits */
	struct rf_charged *taking;
	int source; /* of the packet in hand */
	uint64_t disturbances;
	uint64_t others[RF_CHARGED_MAX]; /* that passed while credits are taken */
} fleet;

static inline struct charged_window *window_of(int source, int limit)
{
	return &fleet.window[fleet.row.shared && limit == fleet.limits - 1 ? 0 : source][limit];
}

static inline void fleet_start(const struct fleet_row *row, uint64_t start_ns)
{
	memset(&fleet, 0, sizeof(fleet));
	fleet.row = *row;
	lease_span = row->span;
	fleet.row.sources += !row->sources;
	fleet.random = unit_seed() + start_ns;
	for (int i = 0; i < RF_CHARGED_MAX && row->limit[i].rate; i++) {
		fleet.policy[i] = policy_compiled(&row->limit[i], row->tick_ns);
		fleet.limits++;
		for (int j = 0; j < fleet.row.sources; j++)
			rf_window_start(&fleet.window[j][i].window, &fleet.policy[i],
					start_ns / policy_unit_ns(&fleet.policy[i], row->tick_ns));
	}
	fleet.unit_ns = policy_unit_ns(&fleet.policy[0], row->tick_ns);
	fleet.cell_ns = policy_cells_ns(&fleet.policy[0], 1, row->tick_ns);
}

static inline int next_cpu(void)
{
	const uint64_t packets_in_cell = fleet.policy[0].limit / fleet.policy[0].cells + 1;

	if (fleet.row.order == ROUND_ROBIN)
		fleet.cpu = (fleet.cpu + 1) % fleet.row.cpus;
	else if (fleet.row.order == AT_RANDOM || unit_below(&fleet.random, packets_in_cell) < 2)
		fleet.cpu = unit_below(&fleet.random, fleet.row.cpus);
	return fleet.cpu;
}

/* ---- books ---- */

/* Checks that no more than L passed in the last W, both ends included, if the limit is strict. */
static inline void note_passed(int source, int limit, uint32_t cost)
{
	struct charged_window *of = window_of(source, limit);
	const struct rf_limit *rule = &fleet.row.limit[limit];

	oracle_add(&of->passed, fleet.time_ns, cost);
	of->passed_units += cost;
	for (; oracle_charge(&of->passed, of->passed.first)->when < fleet.time_ns - rule->window_ns;
	     of->passed.first++)
		of->passed_units -= oracle_charge(&of->passed, of->passed.first)->cost;
	if (of->passed_units > rule->rate && rule->edge == RF_EDGE_STRICT &&
	    rule->algorithm == RF_SLIDING)
		fail_msg("RF_TEST_SEED=%" PRIu64 ", limit %d: more than L in W", unit_seed(),
			 limit);
}

static inline uint64_t *book_of(int source, int limit, uint64_t epoch)
{
	struct charged_window *of = window_of(source, limit);

	if (of->book[epoch % BOOKS].epoch != epoch) {
		of->book[epoch % BOOKS].epoch = epoch;
		of->book[epoch % BOOKS].credits = 0;
	}
	return &of->book[epoch % BOOKS].credits;
}

static inline uint64_t epoch_of(int limit)
{
	return rf_epoch(&fleet.policy[limit],
			fleet.time_ns / policy_unit_ns(&fleet.policy[limit], fleet.row.tick_ns));
}

/* Checks that unspent credits, charged in the N cells up to this one, are at most 1/32 of L. */
static inline void check_stranded(int source, int limit)
{
	const struct charged_window *of = window_of(source, limit);
	const uint64_t epoch = epoch_of(limit);
	uint64_t stranded = 0;

	for (uint64_t cell = epoch - fleet.policy[limit].cells + 1; cell <= epoch; cell++)
		if (of->book[cell % BOOKS].epoch == cell)
			stranded += of->book[cell % BOOKS].credits;
	if (stranded * 32 > fleet.policy[limit].limit)
		fail_msg("RF_TEST_SEED=%" PRIu64 ", limit %d, cell %" PRIu64 ": %" PRIu64
			 " of %u stranded",
			 unit_seed(), limit, epoch, stranded, fleet.policy[limit].limit);
}

static inline void spend(uint32_t cost)
{
	for (int i = 0; i < fleet.limits; i++) {
		uint64_t *credits = book_of(fleet.source, i, epoch_of(i));

		assert_true(*credits >= cost);
		*credits -= cost;
		note_passed(fleet.source, i, cost);
	}
	fleet.spent += cost;
}

/* ---- one packet ---- */

/* A packet of another CPU, which is charged to one of the windows only. */
static void fleet_disturb(void)
{
	struct rf_charged *taking = fleet.taking;
	int limit;

	if (!taking || !fleet.row.disturbed || unit_below(&fleet.random, 8))
		return;
	limit = unit_below(&fleet.random, fleet.limits);
	fleet.taking = NULL;
	if (rf_take(taking->window[limit], taking->policy[limit], fleet.time_ns / fleet.unit_ns,
		    1) == RF_UNDER) {
		note_passed(fleet.source, limit, 1);
		fleet.others[limit]++;
		fleet.disturbances++;
	}
	fleet.taking = taking;
}

/* Tries the lease, then the window, for the packet of a single limit. */
static inline enum rf_verdict ask_one(struct rf_lease *lease, const struct rf_who *who,
				      const struct rf_ask *ask)
{
	return ask_window(lease, who, &window_of(fleet.source, 0)->window, &fleet.policy[0], ask);
}

/* Charges all windows or none, like the data path with several limits; then renews the lease. */
static inline enum rf_verdict ask_all(struct rf_lease *lease, const struct rf_who *who,
				      const struct rf_ask *ask)
{
	static const __u8 slots[RF_CHARGED_MAX] = {3, 1, 2, 0};
	struct rf_charged charged = {0};

	if (!rf_lease_is_for(lease, who))
		*lease =
			(struct rf_lease){.source = who->source[0], .rules = who->rules, .ends = 1};
	for (int i = 0; i < fleet.limits; i++) {
		charged.window[i] = &window_of(fleet.source, i)->window;
		charged.policy[i] = &fleet.policy[i];
		if (rf_peek(charged.window[i], charged.policy[i], ask->time, ask->cost))
			continue;
		rf_lease_renew(lease, charged.window[i], charged.policy[i], ask, RF_OVER,
			       lease_span);
		return RF_OVER;
	}
	for (int i = 0; i < fleet.limits; i++)
		assert_int_equal(
			rf_take(charged.window[i], charged.policy[i], ask->time, ask->cost),
			RF_UNDER);
	fleet.taking = &charged;
	rf_lease_set_slots(lease, slots, fleet.limits);
	lease->reason = RF_UNDER_LIMIT;
	rf_lease_take_credits(lease, &charged, ask->jiffies, ask->cost,
			      rf_lease_end_by(ask->jiffies, lease_span), lease_span);
	fleet.taking = NULL;
	return RF_UNDER;
}

static inline void note_used(uint64_t used[RF_CHARGED_MAX])
{
	for (int i = 0; i < fleet.limits; i++)
		used[i] = rf_window_used(&window_of(fleet.source, i)->window, &fleet.policy[i],
					 epoch_of(i));
}

/* The charges beyond the packet itself are credits. */
static inline void note_credits(const uint64_t before[RF_CHARGED_MAX], uint32_t passed)
{
	uint64_t used[RF_CHARGED_MAX];

	note_used(used);
	for (int i = 0; i < fleet.limits; i++) {
		*book_of(fleet.source, i, epoch_of(i)) +=
			used[i] - before[i] - passed - fleet.others[i];
		check_stranded(fleet.source, i);
	}
}

/* Sends one packet from the next CPU, and returns whether it passes. */
static inline bool fleet_take(uint64_t time_ns, uint32_t cost)
{
	const struct rf_ask ask = {
		.time = time_ns / fleet.unit_ns,
		.jiffies = time_ns / fleet.row.tick_ns,
		.tick_ns = fleet.row.tick_ns,
		.cost = cost,
	};
	const struct rf_who who = who_of(GENERATION);
	uint64_t used[RF_CHARGED_MAX];
	enum rf_verdict verdict;
	struct rf_lease *lease;

	fleet.time_ns = time_ns;
	fleet.source = unit_below(&fleet.random, fleet.row.sources);
	lease = &fleet.lease[next_cpu()][fleet.source];
	if (fleet.row.displaced && unit_below(&fleet.random, 50) == 0)
		*lease = (struct rf_lease){0};
	if (lease_answers(lease, &who, &ask)) {
		if (lease->has_credits)
			spend(cost);
		return lease->has_credits;
	}
	memset(fleet.others, 0, sizeof(fleet.others));
	note_used(used);
	verdict = fleet.limits == 1 ? ask_one(lease, &who, &ask) : ask_all(lease, &who, &ask);
	for (int i = 0; i < fleet.limits && verdict == RF_UNDER; i++)
		note_passed(fleet.source, i, cost);
	note_credits(used, verdict == RF_UNDER ? cost : 0);
	return verdict == RF_UNDER;
}

/* ---- rows ---- */

#define FLEET(title, function, number, how, tick, ...) \
	UNIT_ROW_OF(                                   \
		title, function,                       \
		(&(struct fleet_row){.cpus = number, .order = how, .tick_ns = tick, __VA_ARGS__}))
#define ORDERS(title, function, number, tick, ...)                                          \
	FLEET(title ", in turn", function, number, ROUND_ROBIN, tick, __VA_ARGS__),         \
		FLEET(title ", at random", function, number, AT_RANDOM, tick, __VA_ARGS__), \
		FLEET(title ", migrating", function, number, MIGRATING, tick, __VA_ARGS__)

#endif /* RINGFENCE_UNIT_FLEET_H */
