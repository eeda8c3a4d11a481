// SPDX-License-Identifier: GPL-2.0
/* It outlives the agent, so that one that is started again does not take what was flushed. */
#include <inttypes.h>
#include <stdio.h>

#include "agent/bans_private.h"
#include "base/say.h"
#include "fleet/socket.h"

#define PATH_SIZE (sizeof(RF_AGENT_FLUSHED) + RF_NAME_SIZE)

uint64_t rf_fleet_bans_read_flushed(const char *fence)
{
	char path[PATH_SIZE];
	uint64_t stamp = 0;
	FILE *file;

	snprintf(path, sizeof(path), RF_AGENT_FLUSHED, fence);
	file = fopen(path, "re");
	if (file && fscanf(file, "%" SCNu64, &stamp) != 1)
		stamp = 0;
	if (file)
		fclose(file);
	return stamp;
}

void rf_fleet_bans_keep_flushed(const char *fence, uint64_t stamp)
{
	char path[PATH_SIZE], text[24];
	FILE *file;
	bool failed;

	snprintf(path, sizeof(path), RF_AGENT_FLUSHED, fence);
	snprintf(text, sizeof(text), "%" PRIu64 "\n", stamp);
	file = fopen(path, "we");
	failed = !file || fputs(text, file) < 0;
	if (file)
		failed = fclose(file) || failed;
	if (failed)
		rf_warn("%s: cannot write it; after a restart, bans that were flushed are taken "
			"again",
			path);
}
