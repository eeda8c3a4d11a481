// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/record/made.h"

#define FRAME 60

/* splitmix64 */
static uint64_t draw(struct made *made)
{
	uint64_t z = made->random += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static void name_identity(struct rf_snapshot *snapshot, int number)
{
	snprintf(snapshot->identity, sizeof(snapshot->identity),
		 "6b1ee7b1-6c2a-4ed4-a7a2-6ff5f2ed6f5c-%d", number);
}

static void make_limits(struct made *made)
{
	struct rf_bank *rules = &made->snapshot.bans.rules;

	for (int i = 0; i < made->limits; i++) {
		struct rf_limit *limit = &rules->limit[i];

		snprintf(limit->name, sizeof(limit->name), i ? "limit%d" : "any", i);
		limit->rate = 20000;
		limit->window_ns = RF_NS_PER_S;
		limit->per4 = 32;
		limit->per6 = 64;
		rules->policy[i].id = i + 1;
	}
}

void made_begin(struct made *made, int limits, size_t sources)
{
	struct rf_snapshot *snapshot = &made->snapshot;

	*made = (struct made){.limits = limits, .sources = sources, .random = 7};
	snprintf(snapshot->fence, sizeof(snapshot->fence), "eth0");
	name_identity(snapshot, 1);
	snapshot->time_ns = MADE_START_NS;
	snapshot->awake_ns = 1000 * RF_NS_PER_S;
	snapshot->capacity = 65536;
	snapshot->standing.in_force = 1;
	make_limits(made);
	snapshot->sources.row = calloc(sources + 1, sizeof(*snapshot->sources.row));
	snapshot->sources.count = snapshot->sources.row ? sources : 0;
	for (size_t i = 0; i < snapshot->sources.count; i++) {
		struct rf_source_row *row = &snapshot->sources.row[i];

		row->source = (struct rf_prefix){
			.version = 4, .length = 32, .word = {htonl(0x0a000000 + i * 37)}};
		row->limit = &snapshot->bans.rules.limit[0];
		row->limit_id = 1;
	}
}

static void add(struct rf_count *count, uint64_t packets)
{
	count->packets += packets;
	count->bytes += packets * FRAME;
}

static void send_packets(struct made *made, struct rf_source_row *row, uint64_t packets,
			 bool is_over)
{
	const uint64_t limit = packets < 20000 ? packets / 2 : 20000;

	row->new_passed = is_over ? limit : packets;
	row->new_dropped = packets - row->new_passed;
	row->passed += row->new_passed;
	row->dropped += row->new_dropped;
	row->used = row->new_passed;
	made->passed += row->new_passed;
	made->dropped += row->new_dropped;
	add(&made->snapshot.sums.counters.reason[RF_UNDER_LIMIT], row->new_passed);
	add(&made->snapshot.sums.counters.reason[RF_OVER_LIMIT], row->new_dropped);
}

void made_step(struct made *made, uint64_t interval_ns, uint64_t packets)
{
	struct rf_snapshot *snapshot = &made->snapshot;
	uint64_t passed = made->passed, dropped = made->dropped;

	snapshot->time_ns += interval_ns;
	snapshot->awake_ns += interval_ns;
	snapshot->since_ns = interval_ns;
	snapshot->sums.residents[0] = made->sources;
	for (size_t i = 0; i < snapshot->sources.count; i++)
		send_packets(made, &snapshot->sources.row[i],
			     packets ? draw(made) % (2 * packets) : 0, i % 10 == 0);
	passed = made->passed - passed;
	dropped = made->dropped - dropped;
	add(&snapshot->sums.counters.reason[RF_NO_LIMIT], 3);
	made->passed += 3;
	for (int i = 0; i < made->limits; i++) {
		add(&snapshot->sums.limit[i].passed, passed);
		add(&snapshot->sums.limit[i].dropped, i ? 0 : dropped);
	}
}

void made_anew(struct made *made)
{
	struct rf_snapshot *snapshot = &made->snapshot;

	snapshot->sums.counters = (struct rf_counters){};
	memset(snapshot->sums.limit, 0, sizeof(snapshot->sums.limit));
	name_identity(snapshot, 2);
}

void made_cells(struct made *made, struct rf_cells_row *row, size_t count)
{
	const struct rf_snapshot *snapshot = &made->snapshot;

	for (size_t i = 0; i < count; i++) {
		const struct rf_source_row *source = &snapshot->sources.row[i];

		row[i] = (struct rf_cells_row){
			.source = source->source,
			.limit = "any",
			.first_ns = snapshot->time_ns - RF_NS_PER_S,
			.cell_ns = RF_NS_PER_S / 16,
			.weight = source->new_passed + source->new_dropped,
			.count = 16,
		};
		for (int k = 0; k < 16; k++)
			row[i].cell[k] = source->new_dropped
						 ? (k ? 0 : source->new_passed)
						 : source->new_passed / 16 + draw(made) % 3;
	}
}

void made_end(struct made *made)
{
	free(made->snapshot.sources.row);
}

static int add_cells(struct made *made, struct rf_history *history, size_t count,
		     struct rf_error *error)
{
	struct rf_cells_row *row = calloc(count, sizeof(*row));
	int err = -1;

	if (row) {
		made_cells(made, row, count);
		err = rf_history_add_cells(history, row, count, error);
	}
	free(row);
	return err;
}

int made_record(struct made *made, struct rf_history *history, size_t cells, struct rf_error *error)
{
	const struct rf_snapshot *snapshot = &made->snapshot;
	struct rf_error unused;
	int err = rf_history_begin(history, snapshot, error);

	if (!err)
		err = rf_history_add(history, snapshot, error);
	if (!err && cells)
		err = add_cells(made, history, cells, error);
	return rf_history_commit(history, err ? &unused : error) ?: err;
}
