// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>

#include "cli/out.h"
#include "cli/shadow_pairs.h"

#define TEXT_SIZE 320

static void warn(const char *shadow, const char *limit, bool is_exempt, json_t *list)
{
	char text[TEXT_SIZE];

	if (is_exempt)
		snprintf(text, sizeof(text),
			 "limit '%s' is a shadow, and exempts its sources from '%s' already: "
			 "neither drops their packets until 'ringfence limit arm %s'",
			 shadow, limit, shadow);
	else
		snprintf(text, sizeof(text),
			 "limit '%s' is a shadow, and leaves its sources to '%s': until "
			 "'ringfence limit arm %s', '%s' may drop what '%s' would pass",
			 shadow, limit, shadow, limit, shadow);
	if (list)
		json_array_append_new(
			list, json_pack("{s:s, s:s, s:s, s:s}", "shadow", shadow, "limit", limit,
					"effect", is_exempt ? "exempts" : "leaves", "text", text));
	else
		rf_out_note(text);
}

void rf_shadow_pairs_warn(const struct rf_ruleset *rules, uint32_t slots, json_t *root)
{
	const struct rf_limit *limit = rules->bank.limit;
	json_t *list = root ? json_array() : NULL;
	struct rf_pairs pairs;

	rf_ruleset_find_pairs(rules, &pairs);
	for (int i = 0; i < RF_LIMITS_MAX * RF_LIMITS_MAX; i++) {
		const int shadow = i / RF_LIMITS_MAX, other = i % RF_LIMITS_MAX;

		if (!((slots >> shadow | slots >> other) & 1))
			continue;
		if (pairs.exempts[shadow] >> other & 1)
			warn(limit[shadow].name, limit[other].name, true, list);
		if (pairs.leaves[shadow] >> other & 1)
			warn(limit[shadow].name, limit[other].name, false, list);
	}
	if (root)
		json_object_set_new(root, "warnings", list);
}
