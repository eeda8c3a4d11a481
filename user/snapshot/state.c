// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>

#include "snapshot/state.h"

static int read_bypass(struct rf_fence_state *state, struct rf_error *error)
{
	const struct rf_fence *fence = state->fence;

	state->bypass = calloc(fence->interfaces + 1, sizeof(*state->bypass));
	if (!state->bypass)
		return rf_error_failed(error, -ENOMEM, "not enough memory");
	for (int i = 0; i < fence->interfaces; i++)
		rf_bypass_look(fence, &fence->interface[i], &state->bypass[i]);
	return 0;
}

int rf_fence_state_read(const struct rf_fence *fence, struct rf_fence_state *state,
			struct rf_error *error)
{
	int err = rf_fence_rules_read(fence, RF_RULES_IN_FORCE, &state->rules, error);

	state->fence = fence;
	if (!err)
		err = rf_totals_read(fence, false, &state->totals, error);
	if (!err)
		err = rf_fence_bans(fence, &state->bans, error);
	if (!err)
		err = read_bypass(state, error);
	if (!err)
		rf_fence_memory(fence, &state->memory);
	return err;
}

void rf_fence_state_free(struct rf_fence_state *state)
{
	free(state->bypass);
	rf_totals_free(&state->totals);
	rf_bans_free(&state->bans);
	rf_fence_rules_free(&state->rules);
}
