// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "snapshot/scanner.h"

#define BOOT_ID "/proc/sys/kernel/random/boot_id"

/* Ids of maps are given once until the next boot, so they tell a fence from the one that follows.
 */
static int read_identity(struct rf_scanner *scanner, struct rf_error *error)
{
	FILE *file = fopen(BOOT_ID, "re");
	char boot[40] = "";

	if (!file || !fgets(boot, sizeof(boot), file)) {
		if (file)
			fclose(file);
		return rf_error_failed(error, -EIO, "cannot read " BOOT_ID);
	}
	fclose(file);
	boot[strcspn(boot, "\n")] = '\0';
	snprintf(scanner->identity, sizeof(scanner->identity), "%s-%u", boot,
		 scanner->fence.map_id[RF_MAP_CONFIG]);
	return 0;
}

struct rf_scanner *rf_scanner_open(const char *interface, struct rf_error *error)
{
	struct rf_scanner *scanner = calloc(1, sizeof(*scanner));

	if (!scanner) {
		rf_error_failed(error, -ENOMEM, "cannot watch: %s", strerror(ENOMEM));
		return NULL;
	}
	scanner->fence = RF_FENCE_NONE;
	if (!rf_fence_open_on(&scanner->fence, interface, error) && !read_identity(scanner, error))
		return scanner;
	rf_scanner_close(scanner);
	return NULL;
}

void rf_scanner_close(struct rf_scanner *scanner)
{
	if (!scanner)
		return;
	rf_fence_close(&scanner->fence);
	rf_known_free(&scanner->known);
	rf_follow_free(&scanner->follow);
	free(scanner->aggregate);
	free(scanner);
}

const struct rf_fence *rf_scanner_fence(const struct rf_scanner *scanner)
{
	return &scanner->fence;
}

/* ---- the scan ---- */

static int scan_all(struct rf_scanner *scanner, struct rf_snapshot *snapshot,
		    struct rf_error *error)
{
	const struct rf_fence *fence = &scanner->fence;
	int err = rf_fence_find_interfaces(&scanner->fence, error);

	if (!err)
		return rf_error_failed(error, -ENODEV, "fence '%s': it was detached", fence->name);
	if (err < 0)
		return err;
	rf_scan_received(scanner);
	snapshot->standing = rf_fence_standing(fence);
	err = rf_fence_bans(fence, &snapshot->bans, error);
	if (err)
		return err;
	rf_fleet_look(&snapshot->fleet, fence, &snapshot->bans.rules, snapshot->awake_ns);
	err = rf_scan_sources(scanner, snapshot, error);
	if (!err)
		rf_scan_interfaces(scanner, snapshot);
	return err;
}

int rf_scan(struct rf_scanner *scanner, struct rf_snapshot *snapshot, struct rf_error *error)
{
	const struct rf_fence *fence = &scanner->fence;
	int err;

	*snapshot = (struct rf_snapshot){
		.time_ns = rf_time_wall(),
		.awake_ns = rf_time_awake(),
		.capacity = fence->sources,
	};
	memcpy(snapshot->fence, fence->name, sizeof(snapshot->fence));
	memcpy(snapshot->identity, scanner->identity, sizeof(snapshot->identity));
	for (int i = 0; i < 2; i++)
		snapshot->residents[i] = rf_fence_residents(fence, i);
	err = scan_all(scanner, snapshot, error);
	if (!err)
		scanner->scanned_ns = snapshot->awake_ns;
	return err;
}

void rf_snapshot_free(struct rf_snapshot *snapshot)
{
	free(snapshot->cells);
	rf_bans_free(&snapshot->bans);
	rf_source_rows_free(&snapshot->sources);
}

/* ---- cells ---- */

void rf_scanner_follow(struct rf_scanner *scanner, const __u64 *key)
{
	if (scanner->has_followers && !key)
		rf_follow_free(&scanner->follow);
	scanner->has_followers = key;
	if (key)
		memcpy(scanner->follow.key, key, sizeof(scanner->follow.key));
}

uint64_t rf_scanner_cells_due_ns(const struct rf_scanner *scanner)
{
	return scanner->has_followers ? rf_follow_due_ns(&scanner->follow) : UINT64_MAX;
}

bool rf_scanner_read_cells(struct rf_scanner *scanner, struct rf_cells_row **cells, size_t *count)
{
	/* Without memory the cells that were not read are missing, and the data says so. */
	rf_follow_read(&scanner->follow, &scanner->fence, rf_time_awake());
	if (!rf_follow_is_full(&scanner->follow))
		return false;
	*cells = rf_follow_take(&scanner->follow, count);
	return true;
}
