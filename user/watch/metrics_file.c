// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "rules/file.h"
#include "watch/metrics_file.h"

#define BEGINNING "# HELP ringfence_"
#define STATE "# ringfence state "
#define KEPT_MAX 64 /* states of fences that are gone */
#define FILE_MODE 0644

int rf_metrics_file_read(struct rf_metrics_file *file, const char *path, struct rf_error *error)
{
	struct stat status;
	int err;

	*file = (struct rf_metrics_file){.path = path};
	if (stat(path, &status) && errno == ENOENT)
		return 0;
	err = rf_file_read(path, &file->before, error);
	if (err)
		return err;
	if (S_ISREG(status.st_mode) &&
	    (!*file->before || strncmp(file->before, BEGINNING, strlen(BEGINNING)) == 0))
		return 0;
	rf_metrics_file_free(file);
	return rf_error_failed(error, -EEXIST,
			       "%s: 'metrics file' did not write this file, so it does not replace "
			       "it; remove it, or name another one",
			       path);
}

void rf_metrics_file_free(struct rf_metrics_file *file)
{
	free(file->before);
	file->before = NULL;
}

/* ---- states ---- */

/* The next line with a state at `*at`, or after; NULL: none follows. It has `*length` bytes. */
static const char *next_state(const char **at, size_t *length)
{
	const char *line = *at;

	while (line && *line && strncmp(line, STATE, strlen(STATE)) != 0) {
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	if (!line || !*line)
		return NULL;
	*length = strcspn(line, "\n");
	*at = line + *length + (line[*length] == '\n');
	return line;
}

/* The object of a line with a state; NULL: it is damaged. */
static json_t *read_state(const char *line, size_t length)
{
	json_t *all = json_loadb(line + strlen(STATE), length - strlen(STATE), 0, NULL);

	if (json_is_string(json_object_get(all, "fence")) &&
	    json_is_object(json_object_get(all, "state")))
		return all;
	json_decref(all);
	return NULL;
}

static bool is_of(const json_t *all, const char *fence)
{
	return strcmp(json_string_value(json_object_get(all, "fence")), fence) == 0;
}

/* The name of a fence as JSON has it. */
static bool names(const json_t *all, const struct rf_metrics *metrics)
{
	json_t *name = rf_json_text(rf_metrics_fence(metrics));
	const bool is_same = name && is_of(all, json_string_value(name));

	json_decref(name);
	return is_same;
}

void rf_metrics_file_restore(struct rf_metrics_file *file, struct rf_metrics *metrics)
{
	const char *at = file->before, *line;
	size_t length;

	while ((line = next_state(&at, &length))) {
		json_t *all = read_state(line, length);
		char *text = NULL;

		if (!all)
			file->is_damaged = true;
		else if (names(all, metrics))
			text = rf_json_line(json_object_get(all, "state"));
		if (text && rf_metrics_restore(metrics, text))
			file->is_damaged = true;
		free(text);
		json_decref(all);
	}
}

static bool is_written(const struct rf_metrics_page *page, const json_t *all)
{
	for (int i = 0; i < page->fences; i++)
		if (names(all, page->fence[i]))
			return true;
	return false;
}

static int write_state(FILE *out, const struct rf_metrics *metrics)
{
	char *state = rf_metrics_save(metrics), *line;
	json_t *object = state ? json_loads(state, 0, NULL) : NULL;
	json_t *all = json_pack("{s:o, s:o}", "fence", rf_json_text(rf_metrics_fence(metrics)),
				"state", object);

	line = rf_json_line(all);
	if (line) {
		fputs(STATE, out);
		fputs(line, out);
		fputc('\n', out);
	}
	free(line);
	free(state);
	json_decref(all);
	return line ? 0 : -ENOMEM;
}

static int write_states(FILE *out, const struct rf_metrics_file *file,
			const struct rf_metrics_page *page)
{
	const char *at = file->before, *line;
	size_t length;
	int err = 0;

	for (int i = 0; i < page->fences && !err; i++)
		err = write_state(out, page->fence[i]);
	for (int kept = 0; !err && kept < KEPT_MAX && (line = next_state(&at, &length)); kept++) {
		json_t *all = read_state(line, length);

		if (all && !is_written(page, all)) {
			fwrite(line, 1, length, out);
			fputc('\n', out);
		}
		json_decref(all);
	}
	return err;
}

/* ---- writing ---- */

static int write_all(FILE *out, const struct rf_metrics_file *file,
		     const struct rf_metrics_page *page)
{
	size_t length;
	char *text = rf_metrics_write(page, &length);
	int err;

	if (!text)
		return -ENOMEM;
	fwrite(text, 1, length, out);
	free(text);
	err = write_states(out, file, page);
	errno = 0;
	if (!err && (fflush(out) || ferror(out) || fsync(fileno(out))))
		err = errno ? -errno : -EIO;
	return err;
}

static int write_new(const char *path, int fd, const struct rf_metrics_file *file,
		     const struct rf_metrics_page *page)
{
	FILE *out = fdopen(fd, "w");
	int err;

	if (!out) {
		close(fd);
		return -errno;
	}
	err = write_all(out, file, page);
	if (!err && fchmod(fd, FILE_MODE))
		err = -errno;
	if (fclose(out) && !err)
		err = -errno;
	if (!err && rename(path, file->path))
		err = -errno;
	return err;
}

int rf_metrics_file_write(const struct rf_metrics_file *file, const struct rf_metrics_page *page,
			  struct rf_error *error)
{
	char path[PATH_MAX];
	int fd, err;

	/* No `.prom` at its end: the collector does not read it. */
	if (snprintf(path, sizeof(path), "%s.XXXXXX", file->path) >= (int)sizeof(path))
		return rf_error_failed(error, -ENAMETOOLONG, "%.256s…: the name is too long",
				       file->path);
	fd = mkstemp(path);
	err = fd < 0 ? -errno : write_new(path, fd, file, page);
	if (err && fd >= 0)
		unlink(path);
	if (err)
		return rf_error_failed(error, err, "%s: cannot write it: %s", file->path,
				       strerror(-err));
	return 0;
}
