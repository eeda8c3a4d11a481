// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "screen/scanning.h"

/* What a thread works on. */
struct scan {
	struct rf_scanner *scanner;
	struct rf_model model; /* a copy, which gets the scan */
	uint64_t cost_ns;
	int err;
	struct rf_error error;
};

static int fail_memory(struct rf_error *error)
{
	return rf_error_failed(error, -ENOMEM, "cannot scan: %s", strerror(ENOMEM));
}

static void work(void *context)
{
	const uint64_t before = rf_time_used();
	struct scan *scan = context;
	struct rf_snapshot snapshot;

	scan->err = rf_scan(scan->scanner, &snapshot, &scan->error);
	if (!scan->err && rf_model_take(&scan->model, &snapshot))
		scan->err = fail_memory(&scan->error);
	rf_snapshot_free(&snapshot);
	scan->cost_ns = rf_time_used() - before;
}

static void free_scan(void *context)
{
	struct scan *scan = context;

	rf_scanner_close(scan->scanner);
	rf_model_free(&scan->model);
	free(scan);
}

static const struct rf_job_kind kind = {work, free_scan};

int rf_scanning_open(struct rf_scanning *scanning, const char *interface, struct rf_error *error)
{
	*scanning = (struct rf_scanning){.scanner = rf_scanner_open(interface, error)};
	return scanning->scanner ? 0 : -ENODEV;
}

void rf_scanning_close(struct rf_scanning *scanning)
{
	rf_scanner_close(scanning->scanner);
	rf_job_leave(scanning->job);
	*scanning = (struct rf_scanning){};
}

int rf_scanning_begin(struct rf_scanning *scanning, const struct rf_model *model,
		      struct rf_error *error)
{
	struct scan *scan = calloc(1, sizeof(*scan));

	if (!scan || rf_model_copy(&scan->model, model)) {
		free(scan);
		return fail_memory(error);
	}
	scan->scanner = scanning->scanner;
	scanning->job = rf_job_start(&kind, scan);
	if (!scanning->job) {
		rf_model_free(&scan->model);
		free(scan);
		return fail_memory(error);
	}
	scanning->scanner = NULL;
	return 0;
}

bool rf_scanning_is_done(const struct rf_scanning *scanning)
{
	return scanning->job && rf_job_is_done(scanning->job);
}

int rf_scanning_take(struct rf_scanning *scanning, struct rf_model *model, uint64_t *cost_ns,
		     struct rf_error *error)
{
	struct scan *scan = rf_job_end(scanning->job);
	const int err = scan->err;

	scanning->job = NULL;
	scanning->scanner = scan->scanner;
	scan->scanner = NULL;
	*cost_ns = scan->cost_ns;
	if (err)
		*error = scan->error;
	else
		rf_model_adopt(model, &scan->model);
	free_scan(scan);
	return err;
}
