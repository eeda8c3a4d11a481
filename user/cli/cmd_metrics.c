// SPDX-License-Identifier: GPL-2.0
/* metrics, metrics file; page */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/out.h"
#include "fence/find.h"
#include "watch/metrics.h"
#include "watch/page_files.h"

/* metrics, metrics file */

/* The fences that are shown. */
struct exported {
	const struct rf_metrics **of;
	int count;
	struct rf_metrics_file file; /* `path` is NULL: standard output */
};

static int scan(const char *interface, struct rf_metrics *metrics, struct rf_error *error)
{
	struct rf_scanner *scanner = rf_scanner_open(interface, error);
	struct rf_snapshot snapshot;
	int err;

	if (!scanner)
		return -EIO;
	err = rf_scan(scanner, &snapshot, error);
	if (!err) {
		rf_metrics_take(metrics, &snapshot);
		rf_metrics_observe(metrics);
	}
	rf_snapshot_free(&snapshot);
	rf_scanner_close(scanner);
	return err;
}

/* A fence that cannot be read is exported as unreadable, with its error. */
static int add(struct exported *exported, const char *fence, const char *interface,
	       struct rf_error *error)
{
	struct rf_metrics *metrics = rf_metrics_new(fence);

	if (!metrics)
		return rf_error_failed(error, -ENOMEM, "cannot make metrics: %s", strerror(ENOMEM));
	exported->of[exported->count++] = metrics;
	if (exported->file.path)
		rf_metrics_file_restore(&exported->file, metrics);
	return scan(interface, metrics, error);
}

static bool make_room(struct exported *exported, int fences, struct rf_error *error)
{
	exported->of = calloc(fences + 1, sizeof(*exported->of));
	if (!exported->of)
		rf_error_failed(error, -ENOMEM, "cannot make metrics: %s", strerror(ENOMEM));
	return exported->of;
}

static int export_one(struct exported *exported, const char *dev, struct rf_error *error)
{
	struct rf_fence fence = RF_FENCE_NONE;
	int err = rf_fence_open(&fence, dev, error);

	if (!err && !make_room(exported, 1, error))
		err = -ENOMEM;
	if (!err)
		err = add(exported, fence.name, fence.interface[0].name, error);
	rf_fence_close(&fence);
	return err;
}

/* The last error is left in `error`; those before are printed here. */
static int export_found(struct exported *exported, const struct rf_fences *fences,
			struct rf_error *error)
{
	int result = 0;

	for (int i = 0; i < fences->count; i++) {
		const struct rf_found *found = &fences->fence[i];
		struct rf_error failure = {};
		const int err = add(exported, found->name, found->interface, &failure);

		if (err && result)
			rf_out_error(error);
		if (err)
			result = rf_error_failed(error, err, "fence '%s': %.440s", found->name,
						 failure.text);
	}
	return result;
}

static int export_all(struct exported *exported, struct rf_error *error)
{
	struct rf_fences fences;
	int err = rf_fences_find(&fences, error);

	/* After a fence was detached, a file must not show its old values forever. */
	if (err == -ENOENT && exported->file.path)
		err = 0;
	if (!err && !make_room(exported, fences.count, error))
		err = -ENOMEM;
	if (!err)
		err = export_found(exported, &fences, error);
	rf_fences_free(&fences);
	return err;
}

static int write_page(const struct exported *exported, struct rf_error *error)
{
	const struct rf_metrics_page page = {
		.fence = exported->of,
		.fences = exported->count,
		.is_once = true,
		.has_no_use = !exported->file.path,
	};
	size_t length;
	char *text;

	if (exported->file.path)
		return rf_metrics_file_write(&exported->file, &page, error);
	text = rf_metrics_write(&page, &length);
	if (!text)
		return rf_error_failed(error, -ENOMEM, "cannot make metrics: %s", strerror(ENOMEM));
	rf_out("%s", text);
	free(text);
	return 0;
}

static void end(struct exported *exported)
{
	for (int i = 0; i < exported->count; i++)
		rf_metrics_free((struct rf_metrics *)exported->of[i]);
	free(exported->of);
	rf_metrics_file_free(&exported->file);
}

static int export(const struct rf_options *options, const char *path, struct rf_error *error)
{
	struct exported exported = {};
	struct rf_error unwritten;
	int err = path ? rf_metrics_file_read(&exported.file, path, error) : 0, written;

	if (!err)
		err = options->dev ? export_one(&exported, options->dev, error)
				   : export_all(&exported, error);
	if (exported.file.is_damaged)
		rf_out_note("the state in the file is damaged; counters might restart");
	if (exported.of) {
		written = write_page(&exported, err ? &unwritten : error);
		err = err ? err : written;
	}
	end(&exported);
	return err;
}

int rf_cmd_metrics(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	const char *path = NULL;
	int err = rf_parse_arguments(RF_CMD_METRICS, words, &path, error);

	return err ? err : export(options, path, error);
}

/* ---- page: where the daemon serves it ---- */

static const struct rf_field page_fields[] = {
	RF_FIELD("url", struct rf_page_address, address, "where the page is"),
	RF_FIELD("token", struct rf_page_address, token, "that the page takes"),
	{},
};

RF_RECORD(page, page_fields);

static int print_page(const struct rf_options *options, const struct rf_page_address *page,
		      struct rf_error *error)
{
	if (strncmp(page->address, "http", 4) != 0)
		return rf_error_failed(error, -EINVAL,
				       "ringfence-watch serves only on a %s, for a reverse proxy; "
				       "the setting 'listen 127.0.0.1:9436' opens a port",
				       page->address);
	if (options->json)
		return rf_out_record(page_fields, page, error);
	rf_out("%s#token=%s\n", page->address, page->token);
	return 0;
}

int rf_cmd_page(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	struct rf_page_address page = {};
	int err = rf_words_end(words, error);

	if (!err && options->dev)
		err = rf_error_usage(
			error,
			"'dev': the page shows every fence; 'ringfence page' prints its address");
	if (!err)
		err = rf_page_find(&page, error);
	if (!err)
		err = print_page(options, &page, error);
	explicit_bzero(&page, sizeof(page));
	return err;
}
