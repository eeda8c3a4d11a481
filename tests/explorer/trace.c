// SPDX-License-Identifier: GPL-2.0
#include "trace.h"

#include <stdio.h>

#include "bounds.h"

#define HEAD ((long)(offsetof(struct rf_window, head) / sizeof(__u64)))
#define NEWEST ((long)(offsetof(struct rf_window, newest) / sizeof(__u64)))
#define CELL ((long)(offsetof(struct rf_window, cell) / sizeof(__u64)))

/* Prints a word of the window, by the algorithm. */
static void print_word(__u64 word)
{
	if (rf_is_log(&policy) && !word)
		printf("none");
	else if (rf_is_log(&policy))
		printf("%+lld", word - row->origin);
	else if (rf_is_bucket(&policy) && !word)
		printf("full");
	else if (rf_is_bucket(&policy))
		printf("empty at %+lld/%d", word - rf_bucket_time(row->origin), SIXTEENTHS);
	else
		printf("{%u, %u}", rf_word_epoch(word), rf_word_used(word));
}

void print_path(void)
{
	static const char *const names[] = {": under", ": over", ": lost races"};
	static const char *const calls[] = {"", "renews its lease: "};

	for (int i = 0; i < path_length; i++) {
		const struct step *step = &path[i];

		printf("#   cpu %d, packet of +%d: ", step->cpu, step->time);
		if (row->other_limit)
			printf("L %d: ", step->limit);
		if (step->leased) {
			printf("its lease%s\n", names[step->verdict]);
			continue;
		}
		printf("%s", calls[step->call]);
		if (step->word == HEAD)
			printf("head ");
		else if (step->word == NEWEST)
			printf("newest ");
		else
			printf("cell[%ld] ", step->word - CELL);
		if (step->word == NEWEST)
			printf("%llu", step->before);
		else
			print_word(step->before);
		if (step->before != step->after) {
			printf(" -> ");
			if (step->word == NEWEST)
				printf("%llu", step->after);
			else
				print_word(step->after);
		}
		puts(step->verdict < 0 ? "" : names[step->verdict]);
	}
}
