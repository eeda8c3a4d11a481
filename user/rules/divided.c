// SPDX-License-Identifier: GPL-2.0
/* IPv6 /64s of which rules name only a part. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rules/private.h"

/* Are both IPv6, at least 64 bits long, and in the same /64? */
static bool in_same_64(const struct rf_prefix *a, const struct rf_prefix *b)
{
	return a->version == 6 && b->version == 6 && a->length >= 64 && b->length >= 64 &&
	       a->word[0] == b->word[0] && a->word[1] == b->word[1];
}

/* Must an entry for the /64 be added before entry `i`? The first entry in a /64 is the shortest. */
static bool lacks_64(const struct rf_listed *listed, size_t i)
{
	const struct rf_prefix *prefix = &listed[i].prefix;

	return prefix->version == 6 && prefix->length > 64 &&
	       (!i || !in_same_64(&listed[i - 1].prefix, prefix));
}

static struct rf_listed entry_of_64(const struct rf_prefix *prefix)
{
	struct rf_listed entry = {.prefix = {.version = 6, .length = 64}};

	memcpy(entry.prefix.word, prefix->word, 2 * sizeof(prefix->word[0]));
	return entry;
}

/*
 * A lease answers for a whole /64, so a /64 that contains a longer prefix must get no lease.
 * Sources in the rest of the /64 must find the mark, too: each such /64 has an entry, an empty one
 * where no rule names it. Empty entries of earlier rules are dropped first.
 */
int rf_ruleset_add_divided(struct rf_ruleset *ruleset, struct rf_error *error)
{
	size_t count, lacking = 0;
	struct rf_listed *listed;

	rf_ruleset_expire(ruleset, 0); /* drops empty entries */
	count = ruleset->listed_count;
	for (size_t i = 0; i < count; i++)
		lacking += lacks_64(ruleset->listed, i);
	if (!lacking)
		return 0;
	listed = reallocarray(NULL, count + lacking, sizeof(*listed));
	if (!listed)
		return rf_error_failed(error, -ENOMEM, "out of memory for %zu prefixes", count);
	ruleset->listed_count = 0;
	for (size_t i = 0; i < count; i++) {
		if (lacks_64(ruleset->listed, i))
			listed[ruleset->listed_count++] = entry_of_64(&ruleset->listed[i].prefix);
		listed[ruleset->listed_count++] = ruleset->listed[i];
	}
	free(ruleset->listed);
	ruleset->listed = listed;
	return 0;
}

/*
 * Is it a /64 that contains a longer prefix, or such a longer prefix? After
 * rf_ruleset_add_divided() each such /64 has an entry, and its longer prefixes follow.
 */
bool rf_ruleset_is_divided(const struct rf_ruleset *ruleset, size_t i)
{
	const struct rf_prefix *prefix = &ruleset->listed[i].prefix;

	if (prefix->version == 4 || prefix->length < 64)
		return false;
	return prefix->length > 64 || (i + 1 < ruleset->listed_count &&
				       in_same_64(prefix, &ruleset->listed[i + 1].prefix));
}
