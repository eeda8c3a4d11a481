// SPDX-License-Identifier: GPL-2.0
#include "tests/fleet/model/sums.h"

#include <string.h>

static uint64_t cell_ms(const struct rf_sum *sum)
{
	return (sum->window_ms + RF_SUM_CELLS - 1) / RF_SUM_CELLS;
}

static bool is_of_this_time(const struct rf_sum *sum, const struct rf_ledger *ledger,
			    uint32_t window_ms)
{
	return sum->run == ledger->run && sum->learns_from == ledger->learns_from &&
	       sum->window_ms == window_ms && sum->cell <= ledger->newest / cell_ms(sum);
}

/* Makes the present cell the latest. */
static void move_on(struct rf_sum *sum, uint64_t cell)
{
	const uint64_t moved = cell - sum->cell;
	uint32_t units[RF_SUM_CELLS + 1] = {0};

	for (uint64_t i = moved; i <= RF_SUM_CELLS; i++)
		units[i] = sum->units[i - moved];
	memcpy(sum->units, units, sizeof(units));
	sum->cell = cell;
}

static uint32_t added(uint64_t units, uint64_t more)
{
	return units + more < UINT32_MAX ? units + more : UINT32_MAX;
}

/* Of the cells that started within W. */
static uint32_t sum_of(const struct rf_sum *sum, uint64_t now)
{
	uint32_t units = 0;

	for (uint64_t i = 0; i <= RF_SUM_CELLS && i <= sum->cell; i++)
		if ((sum->cell - i) * cell_ms(sum) + sum->window_ms > now)
			units = added(units, sum->units[i]);
	return units;
}

struct rf_sum_answer rf_sum_add(struct rf_sum *sum, struct rf_ledger *ledger,
				const struct rf_ledger_call *call,
				const struct rf_sum_report *report)
{
	struct rf_sum_answer answer = {.status = RF_LEDGER_STRANGER};
	uint64_t back;

	rf_ledger_open(ledger, call);
	answer.now_ms = ledger->newest;
	if (!rf_ledger_is_member(ledger, call))
		return answer;
	if (!is_of_this_time(sum, ledger, report->window_ms))
		*sum = (struct rf_sum){
			.run = ledger->run,
			.learns_from = ledger->learns_from,
			.window_ms = report->window_ms,
		};
	move_on(sum, ledger->newest / cell_ms(sum));
	/* A time that has not come yet is now: the host's clock runs faster. */
	back = report->from_ms < ledger->newest ? sum->cell - report->from_ms / cell_ms(sum) : 0;
	if (back <= RF_SUM_CELLS)
		sum->units[back] = added(sum->units[back], report->units);
	answer.status = RF_LEDGER_DONE;
	answer.sum = sum_of(sum, ledger->newest);
	return answer;
}
