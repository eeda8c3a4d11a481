// SPDX-License-Identifier: GPL-2.0
/*
 * State that survives a restart of the agent, to ignore flushed bans and bans that this host
 * reported itself, under any slot. One line each: "flushed STAMP", and for each slot of this host
 * "own NUMBER STAMP" with the newest stamp.
 *
 * The file is in the directory of the socket, on a tmpfs that never waits for a disk. On shutdown
 * the agent copies it to a place that survives a reboot.
 */
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "agent/bans.h"
#include "base/say.h"
#include "fleet/socket.h"

#define PATH_SIZE (sizeof(RF_AGENT_KEPT "/.bans") + RF_NAME_SIZE)

static void read_line(struct rf_kept_bans *kept, const char *line)
{
	struct rf_own_bans own;
	uint64_t stamp;

	if (sscanf(line, "flushed %" SCNu64, &stamp) == 1)
		kept->flushed = stamp;
	else if (sscanf(line, "own %" SCNu32 " %" SCNu64, &own.slot, &own.newest) == 2)
		rf_kept_bans_note(kept, own.slot, own.newest);
}

/* False: no such file. */
static bool read_file(struct rf_kept_bans *kept, const char *directory, const char *fence)
{
	char path[PATH_SIZE], line[64];
	FILE *file;

	snprintf(path, sizeof(path), RF_AGENT_BANS, directory, fence);
	file = fopen(path, "re");
	if (!file)
		return false;
	while (fgets(line, sizeof(line), file))
		read_line(kept, line);
	fclose(file);
	return true;
}

void rf_kept_bans_read(struct rf_kept_bans *kept, const char *fence)
{
	*kept = (struct rf_kept_bans){};
	if (!read_file(kept, RF_AGENT_DIRECTORY, fence))
		read_file(kept, RF_AGENT_KEPT, fence);
}

static bool write_lines(const struct rf_kept_bans *kept, FILE *file)
{
	char line[64];
	bool is_written;

	snprintf(line, sizeof(line), "flushed %" PRIu64 "\n", kept->flushed);
	is_written = fputs(line, file) >= 0;
	/* From the oldest, as they are noted when they are read. */
	for (int i = RF_OWN_NUMBERS - 1; i >= 0 && is_written; i--) {
		if (!kept->own[i].newest)
			continue;
		snprintf(line, sizeof(line), "own %" PRIu32 " %" PRIu64 "\n", kept->own[i].slot,
			 kept->own[i].newest);
		is_written = fputs(line, file) >= 0;
	}
	return is_written;
}

static void write_file(const struct rf_kept_bans *kept, const char *directory, const char *fence,
		       const char *after)
{
	char path[PATH_SIZE];
	FILE *file;
	bool failed;

	snprintf(path, sizeof(path), RF_AGENT_BANS, directory, fence);
	file = fopen(path, "we");
	failed = !file || !write_lines(kept, file);
	if (file)
		failed = fclose(file) || failed;
	if (failed)
		rf_warn("%s: cannot write it; after a %s, bans that were flushed, and those of "
			"this host, are taken again",
			path, after);
}

void rf_kept_bans_write(const struct rf_kept_bans *kept, const char *fence)
{
	write_file(kept, RF_AGENT_DIRECTORY, fence, "restart");
}

void rf_kept_bans_store(const struct rf_kept_bans *kept, const char *fence)
{
	mkdir(RF_AGENT_KEPT, 0700);
	write_file(kept, RF_AGENT_KEPT, fence, "reboot");
}
