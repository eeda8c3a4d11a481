// SPDX-License-Identifier: GPL-2.0
/*
 * An even sender behind leases, of one limit or of several. Up to 31/32 of the rate that the
 * tightest limit passes without leases, the sender loses nothing; at that full rate it loses no
 * more than the stranded credits, and these only in its first windows.
 */
#include "fleet.h"

#define EVEN_WINDOWS 6
#define STARTS 3

/*
 * How many packets are lost if `packets` come in each N cells of the first limit, evenly spaced; of
 * these `late`, after the first two windows.
 */
static uint64_t lost_packets(const struct fleet_row *row, uint64_t packets, uint64_t *spent,
			     uint64_t *late)
{
	uint64_t lost = 0;

	for (int start = 0; start < STARTS; start++) {
		uint64_t start_ns = 10000 * SECOND, over_ns;

		fleet_start(row, start_ns);
		start_ns += unit_below(&fleet.random, SECOND);
		over_ns = policy_cells_ns(&fleet.policy[0], fleet.policy[0].cells, row->tick_ns);
		for (uint64_t i = 0; i < EVEN_WINDOWS * packets; i++) {
			if (!fleet_take(start_ns + (unsigned __int128)i * over_ns / packets, 1)) {
				lost++;
				*late += i >= 2 * packets;
			}
		}
		*spent += fleet.spent;
	}
	return lost;
}

/* How many packets a window may count too many. */
static uint64_t rounding_of(const struct rf_limit *limit, uint32_t tick_ns)
{
	const struct rf_policy policy = policy_compiled(limit, tick_ns);

	return policy.cells * ((1ULL << policy.used_shift) - 1) + 2 * rf_is_weighted(&policy);
}

/* Does an even sender at the full rate always use more than 7/8 of L? Then it takes no credits. */
static bool stays_near_limit(const struct rf_limit *limit)
{
	return limit->edge != RF_EDGE_WEIGHTED && limit->cells > RF_CREDITS_EDGE;
}

static void even_sender(void **state)
{
	const struct fleet_row *row = *state;
	const uint64_t all = row->limit[0].rate, most = all - (all + 31) / 32;
	const uint64_t rounding = rounding_of(&row->limit[0], row->tick_ns);
	uint64_t spent = 0, late = 0;

	assert_int_equal(lost_packets(row, most - rounding, &spent, &late), 0);
	assert_int_equal(spent > 0, !row->no_credits);
	assert_in_range(lost_packets(row, all - rounding, &spent, &late), 0,
			row->no_credits ? 0 : STARTS * EVEN_WINDOWS * all / 32);
	if (stays_near_limit(&row->limit[0]))
		assert_int_equal(late, 0);
}

/* ---- rows: the first limit is the tightest ---- */

#define EVEN(title, tick, ...)                                                            \
	FLEET("an even sender with leases loses nothing below 31/32 of L, 1 CPU: " title, \
	      even_sender, 1, ROUND_ROBIN, tick, __VA_ARGS__),                            \
		ORDERS("an even sender with leases loses nothing below 31/32 of L, 2 "    \
		       "CPUs: " title,                                                    \
		       even_sender, 2, tick, __VA_ARGS__),                                \
		ORDERS("an even sender with leases loses nothing below 31/32 of L, 8 "    \
		       "CPUs: " title,                                                    \
		       even_sender, 8, tick, __VA_ARGS__)

static const struct CMUnitTest tests[] = {
	EVEN("strict, 20k/10s", HZ250, .limit = {LIMIT(20000, 10 * SECOND, STRICT(16))}),
	EVEN("strict, 5000/1s", HZ250, .limit = {LIMIT(5000, SECOND, STRICT(16))}),
	EVEN("strict, 2 cells, 1000/1s", HZ1000, .limit = {LIMIT(1000, SECOND, STRICT(2))}),
	EVEN("coarse, 5000/1s", HZ300, .limit = {LIMIT(5000, SECOND, COARSE(10))}),
	EVEN("weighted, 5000/1s", HZ250, .limit = {LIMIT(5000, SECOND, WEIGHTED(16))}),
	EVEN("fixed, 2000/1s", HZ100, .limit = {LIMIT(2000, SECOND, FIXED)}),
	EVEN("strict, 400/1s, too few for credits: all of L", HZ250,
	     .limit = {LIMIT(400, SECOND, STRICT(16))}, .no_credits = true),

	EVEN("16k/1s and 80k/4s", HZ250,
	     .limit = {LIMIT(16000, SECOND, STRICT(16)), LIMIT(80000, 4 * SECOND, STRICT(16))}),
	EVEN("72k/4s and 20k/1s", HZ250,
	     .limit = {LIMIT(72000, 4 * SECOND, STRICT(16)), LIMIT(20000, SECOND, STRICT(16))}),
	EVEN("16k/1s twice", HZ250,
	     .limit = {LIMIT(16000, SECOND, STRICT(16)), LIMIT(16000, SECOND, STRICT(16))}),
	EVEN("16k/1s, 36k/2s and 20k/1s fixed", HZ1000,
	     .limit = {LIMIT(16000, SECOND, STRICT(16)), LIMIT(36000, 2 * SECOND, COARSE(10)),
		       LIMIT(20000, SECOND, FIXED)}),
	EVEN("16k/1s and three more", HZ250,
	     .limit = {LIMIT(16000, SECOND, STRICT(16)), LIMIT(54000, 3 * SECOND, WEIGHTED(16)),
		       LIMIT(80000, 4 * SECOND, STRICT(8)), LIMIT(20000, SECOND, FIXED)}),
};

int main(void)
{
	return cmocka_run_group_tests_name("even senders", tests, NULL, NULL);
}
