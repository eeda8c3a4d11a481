// SPDX-License-Identifier: GPL-2.0
/* fleet run: the agent of a fence */
#include <errno.h>

#include "cli/fleet_agent.h"
#include "rules/grammar_option.h"

int rf_cmd_fleet_run(const struct rf_options *options, struct rf_words *words,
		     struct rf_error *error)
{
	const char *fence = rf_take_operand(RF_CMD_FLEET_RUN, words, error);
	char name[RF_NAME_SIZE];
	int err = fence ? rf_words_end(words, error) : -EINVAL;

	if (!err)
		err = rf_fleet_fence(options, fence, name, error);
	if (err)
		return err;
	return rf_fleet_exec((const char *const[]){"run", name, NULL}, error);
}
