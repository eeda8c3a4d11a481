/* SPDX-License-Identifier: GPL-2.0 */
/*
 * `judge`: reads the records of `recv` for a `flood`, for one source that exceeded its limit. It
 * also knows the missing frames: between two received frames of a CPU, the sequence number shows
 * how many were refused, and the two frames show when. It therefore also detects whether too little
 * passed, and when a window was used up, independently of any speed.
 *
 * Every check prints "WORD L/W: observation", and is a violation if L does not allow that.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traffic.h"

#define LATE (UINT64_MAX / 2) /* no one knows how late */

/* Frames of one CPU that did not come. The program decided about them between these times. */
struct refusal {
	uint64_t after, by;
};

struct evidence {
	struct address source;
	struct record *records; /* of all sources */
	size_t n;
	struct times times; /* of the source */
	struct refusal *refusals;
	size_t refusals_n;
	bool kept;
	/* set by the words before */
	uint64_t lost, passed, since_ns, until_ns;
	uint64_t tick_ns; /* all times are in units of it */
	enum unit unit;
};

/* ---- gathering ---- */

static int compare_order(const void *a, const void *b)
{
	const struct stamp *x = &((const struct record *)a)->stamp,
			   *y = &((const struct record *)b)->stamp;

	if (x->flow != y->flow)
		return x->flow < y->flow ? -1 : 1;
	return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

static int compare_refusals(const void *a, const void *b)
{
	const struct refusal *x = a, *y = b;

	return x->after < y->after ? -1 : x->after > y->after;
}

static int compare_sent(const void *a, const void *b)
{
	uint64_t x = ((const struct record *)a)->stamp.sent_ns,
		 y = ((const struct record *)b)->stamp.sent_ns;

	return x < y ? -1 : x > y;
}

/*
 * A queue is ordered, so a frame was decided about after the one before it was sent, and before the
 * one behind it was received. Gaps of up to `lost` frames prove nothing: this many can be missing
 * for a reason other than the limit.
 */
static void find_refusals(struct evidence *evidence)
{
	struct record *records = evidence->records;

	qsort(records, evidence->n, sizeof(*records), compare_order);
	evidence->refusals =
		allocate(evidence->refusals, evidence->n + 1, sizeof(*evidence->refusals));
	evidence->refusals_n = 0;
	for (size_t i = 1; i < evidence->n; i++) {
		const struct record *before = &records[i - 1], *behind = &records[i];

		if (before->stamp.flow == behind->stamp.flow &&
		    behind->stamp.sequence - before->stamp.sequence - 1 > evidence->lost)
			evidence->refusals[evidence->refusals_n++] =
				(struct refusal){before->stamp.sent_ns, behind->received_ns};
	}
	qsort(evidence->refusals, evidence->refusals_n, sizeof(*evidence->refusals),
	      compare_refusals);
}

static void gather(struct evidence *evidence)
{
	struct record *own = allocate(NULL, evidence->n + 1, sizeof(*own));
	size_t n = 0;

	for (size_t i = 0; i < evidence->n; i++)
		if (!memcmp(&evidence->records[i].source, &evidence->source,
			    sizeof(evidence->source)))
			own[n++] = evidence->records[i];
	times_free(&evidence->times);
	evidence->times = times_of(own, n, evidence->unit);
	free(own);
	find_refusals(evidence);
}

/*
 * From here on, times are in ticks. A frame's stamp has the tick in which it was sent. The tick in
 * which it was received is at most the tick of the first frame that was sent later.
 */
static void use_ticks(struct evidence *evidence)
{
	struct record *records = evidence->records;
	size_t n = evidence->n;
	struct timespec tick;

	if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick))
		die(1, "clock: cannot learn the length of a tick: %s", strerror(errno));
	evidence->tick_ns = tick.tv_nsec;
	qsort(records, n, sizeof(*records), compare_sent);
	for (size_t i = 0, later; i < n; i++) {
		for (later = i + 1; later < n; later++)
			if (records[later].stamp.sent_ns > records[i].received_ns)
				break;
		records[i].received_ns = later < n ? records[later].ticks.jiffies : LATE;
	}
	for (size_t i = 0; i < n; i++)
		records[i].stamp.sent_ns = records[i].ticks.jiffies;
}

/* Reads whole records only: the receiver can be writing a further one. */
static void load_records(struct evidence *evidence, const char *path)
{
	FILE *file = fopen(path, "re");
	size_t room = 0, got = 0;

	if (!file)
		die(1, "%s: cannot read: %s", path, strerror(errno));
	do {
		evidence->n += got;
		if (evidence->n == room) {
			room = room ? room * 2 : 1024;
			evidence->records =
				allocate(evidence->records, room, sizeof(*evidence->records));
		}
		got = fread(evidence->records + evidence->n, sizeof(*evidence->records),
			    room - evidence->n, file);
	} while (got);
	if (ferror(file))
		die(1, "%s: cannot read: %s", path, strerror(errno));
	fclose(file);
}

/* ---- counting ---- */

/* How many of the sorted times are before @time. */
static size_t count_before(const uint64_t *times, size_t n, uint64_t time)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (times[middle] < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The maximum possible admissions from @begin to @end, both included. */
static uint64_t possibly_within(const struct times *times, uint64_t begin, uint64_t end)
{
	return count_before(times->sent, times->n, end + 1) -
	       count_before(times->received, times->n, begin);
}

/* The amount that was certainly admitted after @begin and before @end. */
static uint64_t certainly_within(const struct times *times, uint64_t begin, uint64_t end)
{
	size_t came = count_before(times->received, times->n, end);
	size_t sent = count_before(times->sent, times->n, begin + 1);

	return came > sent ? came - sent : 0;
}

/* ---- judging ---- */

/*
 * At most L in any interval of length W. With `since`, it also prints the amount in the W before.
 */
static uint64_t judge_max(const struct evidence *evidence, const struct max *max)
{
	uint64_t since_ns = evidence->since_ns;

	if (since_ns)
		printf("(%" PRIu64 " before) ",
		       certainly_within(&evidence->times, since_ns - max->window_ns, since_ns));
	return most_within(&evidence->times, max, since_ns, evidence->until_ns);
}

/*
 * At most L in each window that starts at a multiple of W. It is unknown whether a frame that was
 * sent before an edge was decided about after the edge. But after a refusal nothing more passes in
 * that window, so frames that pass from then to the end of the next window belong to the next one.
 */
static uint64_t judge_aligned(const struct evidence *evidence, const struct max *max)
{
	uint64_t most = 0;

	for (size_t i = 0; i < evidence->refusals_n && max->window_ns; i++) {
		const struct refusal *refusal = &evidence->refusals[i];
		uint64_t window = refusal->by / max->window_ns, passed;

		if (refusal->after / max->window_ns != window)
			continue;
		passed = certainly_within(&evidence->times, refusal->by,
					  (window + 2) * max->window_ns);
		most = passed > most ? passed : most;
	}
	return most;
}

/*
 * At most L in any interval of length W in the life of one window. At some time between `since` and
 * `until` the source's own counter had `passed`: that many frames before, the last ones, belong to
 * that life, as does the time in which no more can have passed.
 */
static uint64_t judge_life(const struct evidence *evidence, const struct max *max)
{
	const struct times *times = &evidence->times;
	uint64_t end = evidence->since_ns, begin = 0, most = 0;
	uint64_t unsure = possibly_within(times, end, evidence->until_ns);
	uint64_t known = evidence->passed > unsure ? evidence->passed - unsure : 0;
	size_t sent = count_before(times->sent, times->n, end + 1);

	if (sent > known)
		begin = times->received[sent - known - 1] + 1;
	for (size_t i = count_before(times->sent, times->n, begin); i < times->n; i++) {
		uint64_t stop = times->sent[i] + max->window_ns;
		size_t came = count_before(times->received, times->n, stop < end ? stop : end);

		if (came > i + most)
			most = came - i;
	}
	return most;
}

/*
 * A refusal is right only if L was admitted within W before it. Windows are non-overlapping
 * stretches of W, each of which ends in a refusal: stretches in which enough was offered.
 */
static uint64_t judge_least(const struct evidence *evidence, const struct max *max)
{
	uint64_t least = UINT64_MAX, windows = 0, end = 0;

	for (size_t i = 0; i < evidence->refusals_n; i++) {
		const struct refusal *refusal = &evidence->refusals[i];
		uint64_t passed = possibly_within(&evidence->times, refusal->after - max->window_ns,
						  refusal->by);

		least = passed < least ? passed : least;
		if (refusal->after >= end + max->window_ns) {
			end = refusal->by;
			windows++;
		}
	}
	printf("(%" PRIu64 " windows) ", windows);
	return windows ? least : 0;
}

static void judge(struct evidence *evidence, const char *word, char *text)
{
	static const struct {
		const char *word;
		uint64_t (*count)(const struct evidence *evidence, const struct max *max);
	} judgements[] = {
		{"max", judge_max},
		{"aligned", judge_aligned},
		{"life", judge_life},
		{"least", judge_least},
	};
	struct max max = parse_max(word, text);
	uint64_t seen;

	max.window_ns = (max.window_ns + evidence->tick_ns - 1) / evidence->tick_ns;
	for (size_t i = 0; i < ARRAY_SIZE(judgements); i++) {
		if (strcmp(word, judgements[i].word) != 0)
			continue;
		seen = judgements[i].count(evidence, &max);
		printf("%s %" PRIu64 "/%s: %" PRIu64 "\n", word, max.count, max.window_text, seen);
		evidence->kept &=
			judgements[i].count == judge_least ? seen >= max.count : seen <= max.count;
		return;
	}
	die_of_usage();
}

static void do_word(struct evidence *evidence, const char *word, char *text)
{
	if (!strcmp(word, "lost"))
		evidence->lost = parse_number(word, text, 0, UINT64_MAX);
	else if (!strcmp(word, "clock") && !strcmp(text, "ticks"))
		use_ticks(evidence);
	else if (!strcmp(word, "unit") && !strcmp(text, "bytes"))
		evidence->unit = UNIT_BYTES;
	else if (!strcmp(word, "passed"))
		evidence->passed = parse_number(word, text, 0, UINT64_MAX);
	else if (!strcmp(word, "since"))
		evidence->since_ns = parse_number(word, text, 0, UINT64_MAX);
	else if (!strcmp(word, "until"))
		evidence->until_ns = parse_number(word, text, 0, UINT64_MAX);
	else
		judge(evidence, word, text);
}

/* The words apply in order: a word that sets something does so for the words after it. */
int command_judge(char **words)
{
	struct evidence evidence = {.until_ns = UINT64_MAX, .tick_ns = 1, .kept = true};

	if (!words[1] || !words[2] || strcmp(words[1], "from") != 0)
		die_of_usage();
	load_records(&evidence, words[0]);
	evidence.source = parse_address("from", words[2]);
	gather(&evidence);
	for (words += 3; words[0] && words[1]; words += 2) {
		do_word(&evidence, words[0], words[1]);
		if (!strcmp(words[0], "lost") || !strcmp(words[0], "clock") ||
		    !strcmp(words[0], "unit"))
			gather(&evidence);
	}
	if (words[0])
		die_of_usage();
	return evidence.kept ? 0 : 1;
}
