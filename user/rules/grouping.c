// SPDX-License-Identifier: GPL-2.0
#include "rules/grouping.h"

#include <string.h>

#include "ringfence/grouping.h"

unsigned int rf_group_length(unsigned int per4, unsigned int per6, const struct rf_address *source)
{
	if (source->version == 4)
		return per4;
	return per6 && rf_is_link_local(source->word[0]) ? 128 : per6;
}

unsigned int rf_limit_length(const struct rf_limit *limit, const struct rf_prefix *source)
{
	struct rf_address address = {.version = source->version};

	memcpy(address.word, source->word, sizeof(address.word));
	return rf_group_length(limit->per4, limit->per6, &address);
}

struct rf_prefix rf_limit_source(const struct rf_limit *limit, const struct rf_address *masked)
{
	struct rf_prefix prefix = {
		.version = masked->version,
		.length = rf_group_length(limit->per4, limit->per6, masked),
	};

	memcpy(prefix.word, masked->word, sizeof(prefix.word));
	return prefix;
}

void rf_policy_mask(const struct rf_policy *policy, struct rf_address *address)
{
	const __be32 whole = rf_whole_address(address->word[0], policy->mask6[0]);

	if (address->version == 4)
		address->word[0] &= policy->mask4;
	for (int i = 0; address->version == 6 && i < 4; i++)
		address->word[i] &= policy->mask6[i] | whole;
}
