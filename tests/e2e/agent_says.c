// SPDX-License-Identifier: GPL-2.0
/* agent_says FENCE QUESTION: prints the reply of the fleet's agent of a fence. */
#include <stdio.h>

#include "cli/fleet_agent.h"

int main(int argc, char **argv)
{
	struct rf_error error = {};
	json_t *answer = NULL;

	if (argc != 3)
		return 2;
	if (rf_agent_ask(argv[1], argv[2], &answer, &error)) {
		fprintf(stderr, "agent_says: %s\n", error.text);
		return 1;
	}
	json_dumpf(answer, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(answer);
	return 0;
}
