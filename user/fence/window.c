// SPDX-License-Identifier: GPL-2.0
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

#include "fence/private.h"
#include "ringfence/share.h"

/* A window, with what only those of a fence with shares have. */
union window {
	struct rf_source state;
	struct {
		unsigned char before[RF_SOURCE_SIZE];
		struct rf_share share;
	};
};

int rf_fence_look_up(const struct rf_fence *fence, enum rf_map map, const void *key,
		     struct rf_source *state)
{
	union window window;

	if (bpf_map_lookup_elem(fence->map_fd[map], key, &window))
		return -errno;
	*state = window.state;
	return 0;
}

/* As rf_shared_limit() has it in the program. */
static uint32_t room_of(const struct rf_policy *policy, const struct rf_share *share,
			const struct rf_fleet *fleet, uint64_t jiffies)
{
	const uint32_t incarnation = rf_given_incarnation(share->given);
	const struct rf_hearing *hearing = &fleet->bucket[incarnation % RF_BUCKETS];

	if (!incarnation)
		return policy->limit;
	if (jiffies >= hearing->deadline)
		return policy->alone;
	if (rf_whose_tag(share->whose) != rf_tag_in(policy->tag, hearing->generation))
		return policy->first;
	return rf_limit_by(policy, rf_given_share(share->given));
}

uint32_t rf_fence_room(const struct rf_fence *fence, const struct rf_policy *policy,
		       const struct rf_address *source, uint64_t jiffies)
{
	struct rf_key4 key4 = {.source = source->word[0], .limit_id = policy->id};
	struct rf_key6 key6 = {.limit_id = policy->id};
	union window window;

	if (!(policy->flags & RF_FLEET) || !rf_fence_has_shares(fence))
		return policy->limit;
	memcpy(key6.source, source->word, sizeof(key6.source));
	if (source->version == 4
		    ? bpf_map_lookup_elem(fence->map_fd[RF_MAP_WINDOWS4], &key4, &window)
		    : bpf_map_lookup_elem(fence->map_fd[RF_MAP_WINDOWS6], &key6, &window))
		return policy->limit;
	return room_of(policy, &window.share, &fence->config->fleet, jiffies);
}
