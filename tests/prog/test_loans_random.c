// SPDX-License-Identifier: GPL-2.0
/*
 * Loans under random traffic through the loaded program, against a list of all packets that passed:
 * several limits, sources and CPUs, quiet times and bursts around the ends of periods, clocks that
 * lag, changes of the lists, lowered limits and evictions.
 *
 * Lent units count as used, so verdicts do not equal those of an exact limiter. Instead, bounds are
 * checked for each limit: no interval of TIME passes more than COUNT; a packet is dropped only if
 * the packets that passed in the counted cells, and the lent units, leave no room; and no more than
 * L/8 are lent. A source below 7/8 of L therefore loses nothing.
 */
#include "in_place.h"

#include <stdio.h>

#include "ringfence/loan.h"

#define HOSTS 4
#define LIMITS_MAX 3
#define PASSED_MAX 4096 /* in two windows */
#define PERIOD 4096	/* ticks */
#define EVICTING_WINDOWS 256
#define CROWD (EVICTING_WINDOWS - HOSTS) /* sources that fill them */

static const char *const hosts[HOSTS] = {"10.0.0.1", "10.0.0.2", "10.0.1.1", "10.0.1.2"};

struct row {
	struct {
		uint32_t rate, lowered; /* small enough that leases take no credits */
		uint32_t seconds;
		uint8_t per; /* 0: 32 */
	} limit[LIMITS_MAX];
	uint32_t behind; /* ticks that a CPU's clock can lag */
	bool changes;	 /* to the lowered rates and back */
	bool evicts;
	int rounds;
};

/* The packets of a window that have passed, by their ticks. */
struct ledger {
	uint64_t passed[PASSED_MAX];
	uint64_t end;
	bool is_evicted;
	uint64_t evicted; /* tick, of the last time; 0: never */
};

static struct run {
	struct program *program;
	const struct row *row;
	uint64_t random;
	int cpus;
	uint64_t now;	  /* ticks */
	uint64_t reading; /* of the CPU, at most `now` */
	bool is_lowered;
	struct {
		uint32_t most; /* L before the last change */
		uint64_t changed;
		struct ledger ledger[HOSTS]; /* of the first host with that key */
	} limit[LIMITS_MAX];
	uint64_t passed, by_loans, dropped, evicted;
} run;

#define RUN_FAIL(format, ...)                                                                 \
	fail_msg("RF_TEST_SEED=%" PRIu64 ", tick %" PRIu64 ": " format, unit_seed(), run.now, \
		 __VA_ARGS__)

/* ---- limits and windows ---- */

static int limits_count(void)
{
	int count = 0;

	while (count < LIMITS_MAX && run.row->limit[count].rate)
		count++;
	return count;
}

static const struct rf_policy *policy_at(int limit)
{
	char name[8];

	snprintf(name, sizeof(name), "l%d", limit);
	return program_policy_of(run.program, name);
}

static uint32_t limit_of_row(int limit)
{
	return run.is_lowered ? run.row->limit[limit].lowered : run.row->limit[limit].rate;
}

static uint64_t window_ticks(int limit)
{
	return run.row->limit[limit].seconds * NS_PER_S / TICK_NS;
}

static void apply_limits(void)
{
	char text[256] = "deny add 192.0.2.1\n", *end = text + strlen(text);

	for (int i = 0; i < limits_count(); i++)
		end += sprintf(end, "limit add l%d rate %u/%us per /%u\n", i, limit_of_row(i),
			       run.row->limit[i].seconds,
			       run.row->limit[i].per ? run.row->limit[i].per : 32);
	program_apply(run.program, text);
}

static void change_limits(void)
{
	for (int i = 0; i < limits_count(); i++) {
		const bool is_recent = run.now - run.limit[i].changed <= 2 * window_ticks(i);

		run.limit[i].most =
			is_recent ? rf_most(run.limit[i].most, limit_of_row(i)) : limit_of_row(i);
		run.limit[i].changed = run.now;
	}
	run.is_lowered = !run.is_lowered;
	apply_limits();
}

static struct ledger *ledger_of(int limit, int host)
{
	const uint32_t mask = policy_at(limit)->mask4;
	int first = 0;

	while ((inet_addr(hosts[first]) ^ inet_addr(hosts[host])) & mask)
		first++;
	return &run.limit[limit].ledger[first];
}

static bool find_window(int limit, int host, struct rf_source *source)
{
	const struct rf_policy *policy = policy_at(limit);
	const struct rf_key4 key = {inet_addr(hosts[host]) & policy->mask4, policy->id};

	return bpf_map_lookup_elem(bpf_map__fd(run.program->object->maps.windows4), &key, source) ==
	       0;
}

/* ---- what must hold ---- */

static uint64_t passed_since(const struct ledger *ledger, uint64_t tick)
{
	uint64_t i = ledger->end;

	while (i && ledger->passed[(i - 1) % PASSED_MAX] >= tick)
		i--;
	return ledger->end - i;
}

static void check_passed(int limit, int host)
{
	struct ledger *ledger = ledger_of(limit, host);
	const uint64_t from = run.now - window_ticks(limit) + run.row->behind;
	uint32_t most = limit_of_row(limit);

	ledger->passed[ledger->end++ % PASSED_MAX] = run.now;
	if (from <= run.limit[limit].changed)
		most = rf_most(most, run.limit[limit].most);
	if (passed_since(ledger, from) > most)
		RUN_FAIL("limit %d, host %d: %" PRIu64 " passed in TIME, of %u", limit, host,
			 passed_since(ledger, from), most);
}

/* Could this limit refuse the packet? */
static bool is_full(int limit, int host, const struct rf_window *window)
{
	const struct rf_policy *policy = policy_at(limit);
	const uint64_t cell = rf_epoch(policy, run.reading);
	const uint64_t from = rf_epoch_start(policy, cell - policy->cells + 1);
	const uint32_t lent = rf_lent(window, policy, run.reading);
	const struct ledger *ledger = ledger_of(limit, host);

	assert_true(lent <= policy->limit / 8);
	/* Until then, a lease can repeat a refusal of the evicted window. */
	if (ledger->evicted && run.now - ledger->evicted <= PERIOD)
		return true;
	return passed_since(ledger, from) + lent + 1 > policy->limit;
}

static void check_dropped(int host, const struct rf_source source[LIMITS_MAX])
{
	bool can_be = false;

	for (int i = 0; i < limits_count(); i++)
		can_be |= is_full(i, host, &source[i].window);
	if (!can_be)
		RUN_FAIL("host %d: dropped, and there was room", host);
}

/* ---- packets ---- */

/* An evicted window has forgotten its packets, but loans can continue. */
static void note_eviction(struct ledger *ledger, bool exists)
{
	if (!exists && !ledger->is_evicted && ledger->end) {
		ledger->end = 0;
		ledger->evicted = run.now;
		run.evicted++;
	}
	ledger->is_evicted = !exists;
}

static void read_clock_of_cpu(void)
{
	run.reading = run.now;
	if (run.row->behind && unit_below(&run.random, 4) == 0)
		run.reading -= unit_below(&run.random, run.row->behind + 1);
	program_set_time(run.program, run.reading * TICK_NS);
}

/* Finds the windows after a packet. */
static bool find_windows(int host, struct rf_source source[LIMITS_MAX])
{
	bool all = true;

	for (int i = 0; i < limits_count(); i++) {
		const bool exists = find_window(i, host, &source[i]);

		ledger_of(i, host)->is_evicted = !exists;
		all &= exists;
	}
	return all;
}

static void send_from(int host)
{
	struct rf_source before[LIMITS_MAX] = {}, after[LIMITS_MAX] = {};
	bool passed, all, charged = false;

	for (int i = 0; i < limits_count(); i++)
		note_eviction(ledger_of(i, host), find_window(i, host, &before[i]));
	read_clock_of_cpu();
	passed = passes(run.program, hosts[host]);
	all = find_windows(host, after);
	if (!passed) {
		run.dropped++;
		if (all) /* else there was no slot for one */
			check_dropped(host, after);
		return;
	}
	run.passed++;
	for (int i = 0; i < limits_count(); i++) {
		check_passed(i, host);
		charged |= before[i].window.head != after[i].window.head;
	}
	run.by_loans += all && !charged;
}

static void run_on_any_cpu(uint64_t one_in)
{
	if (unit_below(&run.random, one_in) == 0)
		program_run_on(unit_below(&run.random, run.cpus));
}

static void change_lists(void)
{
	const char *prefix = UNIT_PICK(&run.random, "192.0.2.2", "192.0.2.3");
	struct rf_list_change one =
		change_of(RF_DENY, prefix, unit_below(&run.random, 2) ? RF_FOREVER : 0);
	struct rf_list_changes changes = {.change = &one, .count = 1};
	struct rf_lists_outcome outcome = {};
	struct rf_error error = {};

	one.must_be_there = false;
	assert_done(rf_fence_change_lists(&run.program->fence, &changes, NULL, &outcome, &error),
		    &error);
}

/* Sources that fill the table. */
static void send_from_crowd(uint32_t network, int count)
{
	for (int i = 0; i < count; i++) {
		struct frame4 frame = frame4_from(htonl(network << 24 | i));

		program_run(run.program->object->progs.ringfence, &frame, sizeof(frame));
	}
}

static void send_quietly(uint64_t until)
{
	uint64_t crowd = run.now;

	while (run.now < until) {
		run_on_any_cpu(8);
		send_from(unit_below(&run.random, HOSTS));
		if (unit_below(&run.random, 64) == 0)
			change_lists();
		run.now += unit_below(&run.random, 50);
		if (run.row->evicts && run.now >= crowd) {
			program_set_time(run.program, run.now * TICK_NS);
			send_from_crowd(11, CROWD);
			crowd = run.now + NS_PER_S / TICK_NS;
		}
	}
	run.now = rf_most(run.now, until);
}

/* Spends the loans of both CPUs. */
static void spend_loans(int host)
{
	for (int cpu = 0; cpu < run.cpus; cpu++) {
		program_run_on(cpu);
		for (uint32_t i = 0; i < limit_of_row(0) / RF_LOAN_SHARE; i++)
			send_from(host);
	}
}

static void send_burst(int host, uint32_t packets)
{
	for (uint32_t i = 0; i < packets; i++) {
		run_on_any_cpu(32);
		send_from(unit_below(&run.random, 8) ? host : (int)unit_below(&run.random, HOSTS));
		run.now += unit_below(&run.random, 16) == 0;
	}
}

static void run_round(void)
{
	const uint64_t wait = PERIOD + unit_below(&run.random, PERIOD);
	const int host = unit_below(&run.random, HOSTS);
	uint64_t until = run.now + wait;

	if (unit_below(&run.random, 2))
		until += PERIOD - until % PERIOD; /* the start of a period */
	send_quietly(until - 3);
	if (run.row->evicts && unit_below(&run.random, 2))
		send_from_crowd(12 + unit_below(&run.random, 100), 3 * EVICTING_WINDOWS);
	if (unit_below(&run.random, 2))
		spend_loans(host);
	if (run.row->changes && unit_below(&run.random, 2))
		change_limits();
	run.now = rf_most(run.now, until + unit_below(&run.random, 4));
	send_burst(host, 2 * limit_of_row(0));
}

static void open_small(struct program *program)
{
	program_open(program);
	assert_int_equal(bpf_map__set_max_entries(program->object->maps.windows4, EVICTING_WINDOWS),
			 0);
	assert_int_equal(bpf_map__set_max_entries(program->object->maps.slots4, EVICTING_WINDOWS),
			 0);
}

static void random_traffic(void **state)
{
	const struct row *row = *state;
	void *program = program_new(row->evicts ? open_small : program_open);

	run = (struct run){.program = program, .row = row, .random = unit_seed()};
	run.cpus = sysconf(_SC_NPROCESSORS_ONLN) > 1 ? 2 : 1;
	run.now = START_NS / TICK_NS;
	program_set_time(run.program, START_NS);
	if (row->evicts)
		run.program->config->times.residents_max = EVICTING_WINDOWS;
	apply_limits();
	for (int i = 0; i < row->rounds; i++)
		run_round();
	print_message("# passed %" PRIu64 ", by loans %" PRIu64 ", dropped %" PRIu64
		      ", evicted %" PRIu64 "\n",
		      run.passed, run.by_loans, run.dropped, run.evicted);
	assert_true(run.by_loans > run.passed / 20);
	assert_true(run.dropped > run.passed / 20);
	assert_true(!row->evicts || run.evicted > 0);
	program_teardown(&program);
}

#define TRAFFIC(title, ...) UNIT_ROW_OF(title, random_traffic, (&(struct row){__VA_ARGS__}))

static const struct CMUnitTest tests[] = {
	TRAFFIC("a period of one frame", .limit = {{320, 0, 10, 0}}, .rounds = 60),
	TRAFFIC("a period of many frames", .limit = {{100, 0, 1, 0}}, .rounds = 100),
	TRAFFIC("clocks lag", .limit = {{100, 0, 1, 0}}, .behind = 3, .rounds = 100),
	TRAFFIC("three limits", .limit = {{320, 0, 10, 0}, {100, 0, 1, 0}, {400, 0, 5, 24}},
		.behind = 1, .rounds = 60),
	TRAFFIC("two limits are lowered and raised", .limit = {{320, 50, 10, 0}, {200, 40, 2, 0}},
		.changes = true, .rounds = 60),
	TRAFFIC("evictions", .limit = {{160, 0, 10, 0}}, .evicts = true, .rounds = 40),
};

int main(void)
{
	return cmocka_run_group_tests_name("loans, random", tests, NULL, NULL);
}
