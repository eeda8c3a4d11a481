/* SPDX-License-Identifier: GPL-2.0 */
/* What the records say: how much came from each source, and whether that was ever too much. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traffic.h"

/* Of struct address: all, or what a limit counts as one, an IPv4 address or the /64 of an IPv6. */
#define SOURCE_BYTES sizeof(struct address)
#define GROUP_BYTES offsetof(struct address, bytes[8])

static int compare_sources(const void *a, const void *b)
{
	return memcmp(&((const struct record *)a)->source, &((const struct record *)b)->source,
		      SOURCE_BYTES);
}

static int compare_times(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* How many of the sorted records, from the first, share @bytes of its source. */
static size_t run_of(const struct record *records, size_t n, size_t bytes)
{
	size_t run = 1;

	while (run < n && !memcmp(&records[run].source, &records->source, bytes))
		run++;
	return run;
}

/* Sorts the records by source, and prints what came from each. */
void records_report(struct record *records, size_t n)
{
	if (n)
		qsort(records, n, sizeof(*records), compare_sources);
	for (size_t i = 0, run; i < n; i += run) {
		uint64_t bytes = 0;

		run = run_of(records + i, n - i, SOURCE_BYTES);
		for (size_t j = i; j < i + run; j++)
			bytes += records[j].len_bytes;
		printf("received %s %zu %" PRIu64 "\n", address_text(&records[i].source), run,
		       bytes);
	}
}

/*
 * The most frames that were sent at or after some a and received by a + W: those that came by then,
 * less those sent before a. Both arrays are sorted. Where one sent before a came after a + W, that
 * is too few, never too many; and where frames keep their order, none sent after it came in time.
 */
static uint64_t most_within(const uint64_t *sent, const uint64_t *received, size_t n,
			    uint64_t window_ns)
{
	size_t came = 0, most = 0;

	for (size_t before = 0; before < n; before++) {
		while (came < n && received[came] <= sent[before] + window_ns)
			came++;
		if (came > before + most)
			most = came - before;
	}
	return most;
}

static bool judge_group(const struct record *records, size_t n, const struct max *max)
{
	uint64_t *sent = allocate(NULL, 2 * n, sizeof(*sent)), *received = sent + n, most;
	struct address group = {0};

	for (size_t i = 0; i < n; i++) {
		sent[i] = records[i].sent_ns;
		received[i] = records[i].received_ns;
	}
	qsort(sent, n, sizeof(*sent), compare_times);
	qsort(received, n, sizeof(*received), compare_times);
	most = most_within(sent, received, n, max->window_ns);
	free(sent);
	if (most <= max->count)
		return true;
	memcpy(&group, &records->source, GROUP_BYTES);
	fprintf(stderr, "violation %s %" PRIu64 " in %s\n", address_text(&group), most,
		max->window_text);
	return false;
}

/* False: more than L came within W. The records are sorted by source. */
bool records_judge(const struct record *records, size_t n, const struct max *max)
{
	bool kept = true;

	for (size_t i = 0, run; i < n; i += run) {
		run = run_of(records + i, n - i, GROUP_BYTES);
		kept &= judge_group(records + i, run, max);
	}
	return kept;
}
