// SPDX-License-Identifier: GPL-2.0
/* The steps of a CPU of bans.c. Mutants change ban_table.h, which only this file uses. */
#include "bans.h"

struct rf_ban ban_of(int source, __u64 since)
{
	static const __u64 words[SOURCES][2] = {{1, 2}, {3, 4}, {1, 4}};

	return (struct rf_ban){
		.source = {words[source][0], words[source][1]},
		.whose = rf_ban_whose(5, 0),
		.since = since,
	};
}

bool tags_differ;

__u32 tag_of(int source)
{
	return tags_differ ? TAG + source : TAG;
}

/* As the command line lifts the bans that it finds. */
static void lift(struct rf_ban_set *set, const struct rf_ban *whom, __u64 time)
{
	for (int i = 0; i < RF_BAN_WAYS; i++) {
		const __u64 word = rf_load(&set->word[i]);

		if (rf_ban_until(word) > time && rf_ban_is_of(&set->ban[i], whom) &&
		    rf_load(&set->word[i]) == word)
			rf_ban_lift(set, i, word);
	}
}

void run_call(struct memory *memory, struct local *local, int index)
{
	const struct rf_ban whom = ban_of(local->source, local->now);

	(void)index;
	if (local->errand == BANS)
		local->answer = rf_ban_start(&memory->set, &whom, tag_of(local->source),
					     local->now + LASTS);
	else if (local->errand == ASKS)
		local->answer = rf_ban_find(&memory->set, &whom, tag_of(local->source), local->now);
	else
		lift(&memory->set, &whom, local->now);
}
