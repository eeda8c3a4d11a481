// SPDX-License-Identifier: GPL-2.0
/*
 * Decides by the times of packets whether the bound holds in the W that ends now. Exempt is the
 * behaviour that docs/fleet-proof.md lists: offline hosts, lost windows, differing definitions.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents.h"

static struct {
	struct log admitted[HOSTS_MAX][SOURCES];
	struct log excused[SOURCES];
	uint64_t alone_until_ms[HOSTS_MAX][SOURCES]; /* it has passed while offline within W */
	uint64_t vanished_until_ms[HOSTS_MAX];
	uint64_t differs_until_ms;
	uint32_t window_ms; /* W by the fastest clock: it is longer by no other one */
} books;

uint32_t window_ms(int ppm)
{
	const uint64_t ms = 1000000 + ppm; /* of that clock, in millionths */

	return ((uint64_t)scene->window_ms * 1000000 + ms - 1) / ms;
}

void log_add(struct log *log, uint64_t at_ms)
{
	if (log->count == LOG) {
		puts("Bail out! more packets in W than the log has room for");
		exit(1);
	}
	log->at[(log->first + log->count++) % LOG] = at_ms;
}

uint32_t log_count(struct log *log, uint64_t at_ms, uint32_t window_ms)
{
	while (log->count && log->at[log->first] + window_ms <= at_ms) {
		log->first = (log->first + 1) % LOG;
		log->count--;
	}
	return log->count;
}

void judge_start(void)
{
	memset(&books, 0, sizeof(books));
	books.window_ms = window_ms(scene->drift_ppm);
}

static uint32_t limit_alone(void)
{
	return scene->alone_first ? scene->first : scene->limit;
}

static bool was_alone(int host, int source)
{
	return now_ms < books.alone_until_ms[host][source];
}

static void excuse(int source, uint32_t count)
{
	log_count(&books.excused[source], now_ms, books.window_ms);
	for (uint32_t i = 0; i < count; i++)
		log_add(&books.excused[source], now_ms);
}

void judge_admitted(int host, int source, bool was_alone)
{
	log_count(&books.admitted[host][source], now_ms, books.window_ms);
	log_add(&books.admitted[host][source], now_ms);
	if (now_ms < books.vanished_until_ms[host])
		excuse(source, 1);
	if (was_alone)
		books.alone_until_ms[host][source] = now_ms + books.window_ms;
}

void judge_lost(int host, int source)
{
	excuse(source, was_alone(host, source) ? limit_alone() : scene->first);
}

void judge_vanished(int host, uint64_t until_ms)
{
	books.vanished_until_ms[host] = until_ms;
	for (int i = 0; i < SOURCES; i++)
		excuse(i, log_count(&books.admitted[host][i], now_ms, books.window_ms));
}

void judge_differs(void)
{
	books.differs_until_ms = now_ms + books.window_ms;
}

static uint32_t excess_of(int source)
{
	const uint32_t pool = rf_fleet_pool(scene->limit, scene->slots, scene->first);
	uint32_t passed = 0, may = pool + scene->hosts * scene->first;

	if (now_ms < books.differs_until_ms)
		may *= 2;
	for (uint32_t i = 0; i < scene->hosts; i++) {
		passed += log_count(&books.admitted[i][source], now_ms, books.window_ms);
		if (was_alone(i, source))
			may += limit_alone() - scene->first;
	}
	may += log_count(&books.excused[source], now_ms, books.window_ms);
	return passed > may ? passed - may : 0;
}

uint32_t judge_excess(void)
{
	uint32_t worst = 0;

	for (int i = 0; i < SOURCES; i++) {
		const uint32_t excess = excess_of(i);

		worst = excess > worst ? excess : worst;
	}
	return worst;
}
