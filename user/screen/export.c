// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/time.h"
#include "base/units.h"
#include "screen/export.h"

#define SCHEMA 1
#define LINE_SIZE 512

/* NULL: the source has no window. */
static const char *limit_of(const struct rf_row *row)
{
	return row->key.is_estimate ? NULL : row->limit;
}

/* Of a source without a window. */
static const char *reason_of(const struct rf_row *row)
{
	return row->key.is_estimate ? row->limit : NULL;
}

static json_t *row_json(const struct rf_row *row, const char *source)
{
	return json_pack("{s:s, s:s?, s:s?, s:f, s:f, s:f, s:f, s:b}", "source", source, "limit",
			 limit_of(row), "reason", reason_of(row), "used_ratio", row->share,
			 "passed_per_s", row->pass, "dropped_per_s", row->drop, "would_drop_per_s",
			 row->would_drop, "banned", row->banned_ns > 0);
}

static int write_json(const struct rf_model *model, const char *fence, FILE *file)
{
	char time[RF_TIME_TEXT_SIZE], source[RF_PREFIX_TEXT_SIZE];
	json_t *list = json_array(), *root;
	int err;

	rf_format_utc(model->head.time_ns, time);
	for (int i = 0; i < model->shown; i++) {
		const struct rf_row *row = rf_model_shown(model, i);

		rf_format_prefix(&row->key.source, source);
		json_array_append_new(list, row_json(row, source));
	}
	root = json_pack("{s:i, s:o, s:s, s:o}", "schema", SCHEMA, "fence", rf_json_text(fence),
			 "time", time, "sources", list);
	err = !root || json_dumpf(root, file, JSON_ENSURE_ASCII | RF_JSON_REALS | JSON_INDENT(2));
	json_decref(root);
	return err;
}

static int write_csv(const struct rf_model *model, FILE *file)
{
	char time[RF_TIME_TEXT_SIZE], source[RF_PREFIX_TEXT_SIZE], line[LINE_SIZE];
	int err = fputs("time,source,limit,used_ratio,passed_per_s,dropped_per_s,would_drop_per_s,"
			"banned,reason\n",
			file) < 0;

	rf_format_utc(model->head.time_ns, time);
	for (int i = 0; i < model->shown && !err; i++) {
		const struct rf_row *row = rf_model_shown(model, i);

		rf_format_prefix(&row->key.source, source);
		snprintf(line, sizeof(line), "%s,%s,%s,%.4f,%.1f,%.1f,%.1f,%d,%s\n", time, source,
			 limit_of(row) ?: "", row->share, row->pass, row->drop, row->would_drop,
			 row->banned_ns > 0, reason_of(row) ?: "");
		err = fputs(line, file) < 0;
	}
	return err;
}

static bool is_json(const char *path)
{
	const size_t length = strlen(path);

	return length > 5 && !strcmp(path + length - 5, ".json");
}

int rf_export(const struct rf_model *model, const char *fence, const char *path,
	      struct rf_error *error)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
	int err = file ? 0 : errno;

	if (!file) {
		if (fd >= 0)
			close(fd);
		return rf_error_failed(error, -err, "'%s': %s", path,
				       err == EEXIST ? "there is such a file already; give "
						       "another name"
						     : strerror(err));
	}
	if (is_json(path) ? write_json(model, fence, file) : write_csv(model, file))
		err = errno ? errno : EIO;
	if (fclose(file) && !err)
		err = errno;
	if (!err)
		return model->shown;
	unlink(path);
	return rf_error_failed(error, -err, "'%s': %s", path, strerror(err));
}
