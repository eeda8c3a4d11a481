// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "watch/snapshot.h"

struct rf_scanner {
	struct rf_fence fence;
	char identity[RF_IDENTITY_SIZE];
	uint64_t scanned_ns; /* by rf_time_awake(); 0: never */
	struct rf_source_rows before;
};

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
	rf_source_rows_free(&scanner->before);
	free(scanner);
}

const struct rf_fence *rf_scanner_fence(const struct rf_scanner *scanner)
{
	return &scanner->fence;
}

/* ---- rows ---- */

/* A count that a lease is about to hand over may be missing in the later reading. */
static uint64_t growth(uint64_t before, uint64_t now)
{
	return now > before ? now - before : 0;
}

/* Both lists are sorted. A source that was not there before has a new window. */
static void note_growth(struct rf_source_rows *now, const struct rf_source_rows *before)
{
	static const struct rf_source_row none;
	size_t at = 0;

	for (size_t i = 0; i < now->count; i++) {
		struct rf_source_row *row = &now->row[i];
		const struct rf_source_row *old = &none;

		while (at < before->count && rf_source_row_compare(&before->row[at], row) < 0)
			at++;
		if (at < before->count && !rf_source_row_compare(&before->row[at], row))
			old = &before->row[at];
		row->new_passed = growth(old->passed, row->passed);
		row->new_dropped = growth(old->dropped, row->dropped);
		row->new_would_drop = growth(old->would_drop, row->would_drop);
	}
}

/* The rows of the next scan are compared with a copy of these. */
static int keep_rows(struct rf_scanner *scanner, const struct rf_source_rows *rows)
{
	struct rf_source_rows *before = &scanner->before;

	rf_source_rows_free(before);
	before->row = calloc(rows->count + 1, sizeof(*before->row));
	if (!before->row)
		return -ENOMEM;
	if (rows->count)
		memcpy(before->row, rows->row, rows->count * sizeof(*rows->row));
	before->count = before->capacity = rows->count;
	return 0;
}

static int scan_sources(struct rf_scanner *scanner, struct rf_snapshot *snapshot,
			struct rf_error *error)
{
	const struct rf_source_filter all = {.or_windowless = true};
	struct rf_source_rows *rows = &snapshot->sources;
	int err = rf_fence_bans(&scanner->fence, &snapshot->bans, error);

	if (!err)
		err = rf_source_rows_read(&scanner->fence, &snapshot->bans, &all, rows, error);
	if (err)
		return err;
	if (rows->count)
		qsort(rows->row, rows->count, sizeof(*rows->row), rf_source_row_compare);
	if (scanner->scanned_ns)
		note_growth(rows, &scanner->before);
	if (keep_rows(scanner, rows))
		return rf_error_failed(error, -ENOMEM, "cannot watch: %s", strerror(ENOMEM));
	return 0;
}

/* ---- the scan ---- */

static int scan_limits(const struct rf_fence *fence, struct rf_snapshot *snapshot,
		       struct rf_error *error)
{
	int err = 0;

	for (int slot = 0; slot < RF_LIMITS_MAX && !err; slot++)
		if (snapshot->bans.rules.policy[slot].id)
			err = rf_fence_limit_counters(fence, slot, &snapshot->limit[slot], error);
	return err;
}

static int scan_all(struct rf_scanner *scanner, struct rf_snapshot *snapshot,
		    struct rf_error *error)
{
	const struct rf_fence *fence = &scanner->fence;
	int err = rf_fence_is_attached(fence, error);

	if (!err)
		return rf_error_failed(error, -ENODEV, "fence '%s': it was detached", fence->name);
	if (err < 0)
		return err;
	err = rf_fence_counters(fence, &snapshot->counters, error);
	snapshot->standing = rf_fence_standing(fence);
	if (!err)
		err = scan_sources(scanner, snapshot, error);
	if (!err)
		err = scan_limits(fence, snapshot, error);
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
	if (scanner->scanned_ns)
		snapshot->since_ns = snapshot->awake_ns - scanner->scanned_ns;
	snapshot->took_ns = rf_time_awake() - snapshot->awake_ns;
	if (!err)
		scanner->scanned_ns = snapshot->awake_ns;
	return err;
}

void rf_snapshot_free(struct rf_snapshot *snapshot)
{
	rf_bans_free(&snapshot->bans);
	rf_source_rows_free(&snapshot->sources);
}
