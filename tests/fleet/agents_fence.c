// SPDX-License-Identifier: GPL-2.0
/*
 * The fence of a host: windows that count exactly, and packets that read their limit and charge
 * later. Shares, tags, generations and deadlines are as in include/ringfence/share.h.
 */
#include <errno.h>
#include <string.h>

#include "agents.h"
#include "ringfence/share.h"

#define LIMIT_ID 5
#define ASKS 16
#define SLOWEST_MS 15 /* no packet takes longer */
#define ASK_MS 50
#define ASK_GROWING_MS 2

/* Packets that have read their limit and have not charged yet, as many as there are CPUs. */
#define CPUS 4
struct under_way {
	bool is_there, was_alone, is_marked;
	uint32_t limit;
	uint64_t since_ms;
};

struct window {
	uint32_t incarnation; /* 0: none */
	uint32_t share, tag;
	struct log admitted;
	struct under_way packet[CPUS];
	uint64_t asked_ms;
	bool has_grown;
	uint32_t passed, dropped;
	uint32_t traffic; /* of 1,000 steps, this many bring packets */
};

static struct fence {
	uint32_t definition, incarnations;
	uint64_t deadline_ms[RF_BUCKETS];
	uint32_t generation[RF_BUCKETS];
	struct window window[SOURCES];
	struct rf_fleet_ask ask[ASKS];
	uint32_t asks;
} fences[HOSTS_MAX];

/* ---- admissions of a window ---- */

bool fence_is_alone(int host, uint32_t bucket)
{
	return now_ms >= fences[host].deadline_ms[bucket];
}

static uint32_t tag_of(const struct fence *fence, int source)
{
	return rf_tag_in(rf_tag_of(fence->definition), fence->generation[bucket_of(source)]);
}

static uint32_t limit_of(int host, int source)
{
	const struct fence *fence = &fences[host];
	const struct window *window = &fence->window[source];
	const bool counts = window->tag == tag_of(fence, source);

	if (fence_is_alone(host, bucket_of(source)))
		return scene->alone_first ? scene->first : scene->limit;
	return rf_fleet_room(scene->limit, scene->first, counts ? window->share : 0);
}

/* In W by the clock of the host. */
static uint32_t used_of(int host, struct window *window)
{
	return log_count(&window->admitted, now_ms, host_window_ms(host));
}

static void note_ask(int host, int source)
{
	struct fence *fence = &fences[host];
	struct window *window = &fence->window[source];
	const uint32_t wait_ms = window->has_grown ? ASK_GROWING_MS : ASK_MS;

	if (now_ms < window->asked_ms + wait_ms || fence->asks == ASKS)
		return;
	window->asked_ms = now_ms;
	window->has_grown = false;
	fence->ask[fence->asks++] = (struct rf_fleet_ask){
		.source = {source_key(source)},
		.limit_id = LIMIT_ID,
		.tag = rf_tag_of(fence->definition),
		.incarnation = window->incarnation,
		.used = used_of(host, window),
		.share = window->share,
		.passed = window->passed,
		.dropped = window->dropped,
		.time_ns = host_ns(host),
	};
}

static void charge(int host, int source, struct under_way *packet)
{
	struct window *window = &fences[host].window[source];
	uint32_t used = used_of(host, window);
	const bool passes = used < packet->limit;
	const uint32_t enough =
		window->share ? scene->first + window->share - window->share / 4 : scene->first / 2;

	packet->is_there = false;
	if (passes) {
		log_add(&window->admitted, now_ms);
		window->passed++;
		used++;
		judge_admitted(host, source, packet->was_alone);
		tell("%c admits of %d, %u of %u%s", 'A' + host, source, used, packet->limit,
		     packet->was_alone ? ", alone" : "");
	} else {
		window->dropped++;
	}
	if ((!passes || used > enough) && scene->first + window->share < scene->limit)
		note_ask(host, source);
}

/*
 * Slow packets test shares that are taken back: none outlasts the time that the host is connected.
 */
static bool is_nearly_alone(int host, uint32_t bucket)
{
	return now_ms + SLOWEST_MS + scene->step_ms >= fences[host].deadline_ms[bucket];
}

static void packet(int host, int source, int cpu)
{
	struct fence *fence = &fences[host];
	struct window *window = &fence->window[source];
	struct under_way *packet = &window->packet[cpu];

	if (!window->incarnation) {
		window->incarnation = rf_incarnation(fence->incarnations++, bucket_of(source));
		window->tag = rf_tag_of(fence->definition);
	}
	if (packet->is_there && dice(2))
		return;
	if (packet->is_there)
		charge(host, source, packet);
	*packet = (struct under_way){
		.is_there = true,
		.was_alone = fence_is_alone(host, bucket_of(source)),
		.limit = limit_of(host, source),
		.since_ms = now_ms,
	};
	if (dice(4) || is_nearly_alone(host, bucket_of(source)))
		charge(host, source, packet);
}

static void finish_slow(int host, int source)
{
	for (int cpu = 0; cpu < CPUS; cpu++) {
		struct under_way *packet = &fences[host].window[source].packet[cpu];

		if (packet->is_there && now_ms >= packet->since_ms + SLOWEST_MS)
			charge(host, source, packet);
	}
}

/* A source is away, comes now and then, or floods; and changes that each 100 steps or so. */
static void traffic(int host, int source)
{
	static const uint32_t kinds[] = {0, 0, 100, 1000, 1000};
	struct window *window = &fences[host].window[source];

	finish_slow(host, source);
	if (scene->script)
		window->traffic = source ? 0 : scripted(SENDS, host);
	else if (dice(100) == 0)
		window->traffic = kinds[dice(sizeof(kinds) / sizeof(kinds[0]))];
	if (dice(1000) >= window->traffic)
		return;
	for (uint32_t i = dice(scene->limit); i < scene->limit; i++)
		packet(host, source, dice(CPUS));
}

void fence_step(int host)
{
	for (int i = 0; i < SOURCES; i++)
		traffic(host, i);
}

/* ---- what becomes of windows ---- */

void fence_evict(int host, int source)
{
	struct window *window = &fences[host].window[source];

	if (!window->incarnation)
		return;
	for (int cpu = 0; cpu < CPUS; cpu++)
		if (window->packet[cpu].is_there)
			charge(host, source, &window->packet[cpu]);
	tell("%c loses its window of %d", 'A' + host, source);
	judge_lost(host, source);
	*window = (struct window){.traffic = window->traffic};
}

void fence_make(int host)
{
	memset(&fences[host], 0, sizeof(fences[host]));
}

void fence_start(int host)
{
	struct fence *fence = &fences[host];

	for (int i = 0; i < SOURCES; i++)
		fence_evict(host, i);
	memset(fence->deadline_ms, 0, sizeof(fence->deadline_ms));
	memset(fence->generation, 0, sizeof(fence->generation));
	fence->asks = 0;
	fence->incarnations = 0;
}

uint32_t fence_definition(int host)
{
	return fences[host].definition;
}

/* ---- calls of the agent ---- */

static void note_heard(int host, struct rf_claims *claims)
{
	struct fence *fence = &fences[host];

	for (int i = 0; i < RF_BUCKETS; i++) {
		const uint64_t until_ms = host_ms(host, claims->member[i].deadline);

		if (claims->ended >> i & 1)
			fence->generation[i]++;
		if (until_ms > now_ms)
			fence->deadline_ms[i] = until_ms;
	}
	claims->ended = 0;
}

static int source_of(const struct rf_fleet_record *record)
{
	int source = 0;

	while (source < SOURCES && source_key(source) != record->source[0])
		source++;
	return source;
}

/* As rf_share_write() does it. */
static enum rf_share_result write_share(int host, int source, const struct rf_fleet_record *record)
{
	struct fence *fence = &fences[host];
	struct window *window = &fence->window[source];
	const uint32_t tag = rf_tag_in(record->tag, fence->generation[bucket_of(source)]);

	if (happens(BUSY))
		return RF_SHARE_BUSY;
	if (window->tag != tag && window->share) {
		window->share = 0;
		return RF_SHARE_RETAGGED;
	}
	if (window->share != record->share)
		tell("%c has a share of %u of %d", 'A' + host, record->share, source);
	window->has_grown = window->has_grown || record->share > window->share;
	window->tag = tag;
	window->share = record->share;
	return RF_SHARE_DONE;
}

static void serve(int host, struct rf_fleet_record *record)
{
	const int source = source_of(record);
	struct window *window = &fences[host].window[source];

	record->result = RF_SHARE_DONE;
	if (!window->incarnation)
		record->result = RF_SHARE_GONE;
	else if (record->incarnation && record->incarnation != window->incarnation)
		record->result = RF_SHARE_OTHER;
	else if (record->writes)
		record->result = write_share(host, source, record);
	if (record->result == RF_SHARE_GONE || record->result == RF_SHARE_OTHER)
		return;
	record->used = used_of(host, window);
	record->given = rf_given(window->incarnation, window->share);
	record->passed = window->passed;
	record->dropped = window->dropped;
}

int fence_call(int host, struct rf_claims *claims, struct rf_fleet_record *record, uint32_t count)
{
	if (happens(UNWRITTEN))
		return -EIO;
	note_heard(host, claims);
	for (uint32_t i = 0; i < count; i++)
		serve(host, &record[i]);
	return 0;
}

bool fence_ask(int host, struct rf_fleet_ask *ask)
{
	struct fence *fence = &fences[host];

	if (!fence->asks)
		return false;
	*ask = fence->ask[0];
	memmove(&fence->ask[0], &fence->ask[1], --fence->asks * sizeof(fence->ask[0]));
	return true;
}

/* ---- completion of running programs ---- */

void fence_mark(int host)
{
	for (int i = 0; i < SOURCES; i++)
		for (int cpu = 0; cpu < CPUS; cpu++)
			fences[host].window[i].packet[cpu].is_marked = true;
}

void fence_wait(int host)
{
	for (int i = 0; i < SOURCES; i++) {
		for (int cpu = 0; cpu < CPUS; cpu++) {
			struct under_way *packet = &fences[host].window[i].packet[cpu];

			if (packet->is_there && packet->is_marked)
				charge(host, i, packet);
		}
	}
}

/* No packet outlasts the definition that it was limited by. */
void fence_redefine(int host)
{
	fence_mark(host);
	fence_wait(host);
	fences[host].definition++;
	tell("%c has another definition", 'A' + host);
}
