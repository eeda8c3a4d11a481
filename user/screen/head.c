// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "rules/policy.h"
#include "schema/reasons.h"
#include "screen/head.h"

/* A lease that is handed over between two scans is missing from one: a counter may step back. */
static double rate_of(uint64_t before, uint64_t now, uint64_t since_ns)
{
	return since_ns && now > before ? (now - before) * 1e9 / since_ns : 0;
}

/* A rate is of the time since the scan before, which may be several slots. */
static void note(struct rf_flow *flow, const struct rf_snapshot *snapshot, double rate)
{
	const uint64_t since_ns = snapshot->awake_ns - snapshot->since_ns;

	flow->rate = rate;
	rf_ring_fill(&flow->ring, since_ns / RF_SLOT_NS, snapshot->awake_ns / RF_SLOT_NS, rate);
}

static void take_flows(struct rf_head *head, const struct rf_snapshot *snapshot)
{
	double in = 0, dropped = 0;

	for (int i = 0; i < RF_REASON_COUNT; i++) {
		const double rate =
			rate_of(head->counters.reason[i].packets,
				snapshot->counters.reason[i].packets, snapshot->since_ns);

		note(&head->reason[i], snapshot, rate);
		in += rate;
		dropped += rf_reason_is_drop(i) ? rate : 0;
	}
	note(&head->in, snapshot, in);
	note(&head->dropped, snapshot, dropped);
}

static void take_limits(struct rf_head *head, const struct rf_bank *rules)
{
	int slots[RF_LIMITS_MAX];

	head->limits = rf_bank_slots(rules, slots);
	for (int i = 0; i < head->limits; i++) {
		const struct rf_limit *limit = &rules->limit[slots[i]];
		struct rf_limit_head *to = &head->limit[i];

		*to = (struct rf_limit_head){.is_shadow = limit->flags & RF_SHADOW};
		memcpy(to->name, limit->name, sizeof(to->name));
		rf_format_limit_rate(limit, to->rate);
	}
}

static void count_over(struct rf_head *head, const struct rf_source_rows *sources)
{
	head->over = 0;
	for (size_t i = 0; i < sources->count; i++) {
		const struct rf_source_row *row = &sources->row[i];

		if (!row->new_dropped && !row->new_would_drop)
			continue;
		head->over += row->new_dropped > 0;
		for (int k = 0; k < head->limits; k++)
			head->limit[k].over += !strcmp(head->limit[k].name, row->limit->name);
	}
}

void rf_head_take(struct rf_head *head, const struct rf_snapshot *snapshot)
{
	const struct rf_bank *rules = &snapshot->bans.rules;

	head->time_ns = snapshot->time_ns;
	head->awake_ns = snapshot->awake_ns;
	head->banned = snapshot->bans.count;
	head->then = rules->newcomers.then;
	head->standing = snapshot->standing;
	take_flows(head, snapshot);
	take_limits(head, rules);
	count_over(head, &snapshot->sources);
	head->counters = snapshot->counters;
	memcpy(head->identity, snapshot->identity, sizeof(head->identity));
}
