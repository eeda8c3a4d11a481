// SPDX-License-Identifier: GPL-2.0
/* Where histories are. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "watch/event_file.h"
#include "watch/history.h"
#include "watch/reader.h"

#define CONFIGURATION "/etc/ringfence/watch.conf"
#define SUFFIX ".db"

int rf_watch_setting(const char *words, char value[PATH_MAX])
{
	FILE *file = fopen(CONFIGURATION, "re");
	char line[PATH_MAX + 64], format[64];
	int found = 0;

	if (!file)
		return -errno;
	snprintf(format, sizeof(format), " %s %%4095s", words);
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "#\n")] = '\0';
		if (sscanf(line, format, value) == 1)
			found = 1; /* the last one counts */
	}
	fclose(file);
	return found;
}

static bool is_given(const char *variable, char path[PATH_MAX])
{
	const char *given = getenv(variable);

	snprintf(path, PATH_MAX, "%s", given ?: "");
	return *path;
}

void rf_history_directory(char path[PATH_MAX])
{
	if (!is_given("RINGFENCE_HISTORY", path) &&
	    (rf_watch_setting("history", path) != 1 || !strcmp(path, "off")))
		strcpy(path, RF_HISTORY_DIRECTORY);
}

bool rf_history_is_off(void)
{
	char path[PATH_MAX];

	return !is_given("RINGFENCE_HISTORY", path) && rf_watch_setting("history", path) == 1 &&
	       !strcmp(path, "off");
}

void rf_event_file_path(char path[PATH_MAX])
{
	if (!is_given("RINGFENCE_EVENTS", path) && rf_watch_setting("events file", path) != 1)
		strcpy(path, RF_HISTORY_DIRECTORY "/events.jsonl");
	else if (!strcmp(path, "off"))
		*path = '\0';
}

/* Takes the name of a fence from that of its file. */
static bool take_name(const char *file, char name[RF_NAME_SIZE])
{
	const size_t length = strlen(file);

	if (*file == '.' || length <= strlen(SUFFIX) || length - strlen(SUFFIX) >= RF_NAME_SIZE ||
	    strcmp(file + length - strlen(SUFFIX), SUFFIX) != 0)
		return false;
	snprintf(name, RF_NAME_SIZE, "%.*s", (int)(length - strlen(SUFFIX)), file);
	return true;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(a, b);
}

static int fail_none(const char *directory, struct rf_error *error)
{
	return rf_error_failed(error, -ENOENT,
			       "no history in %.300s; ringfence-watch records one: 'systemctl "
			       "enable --now ringfence-watch'",
			       directory);
}

int rf_recorded_fences(struct rf_recorded_fences *fences, struct rf_error *error)
{
	struct dirent *entry;
	DIR *directory;

	fences->count = 0;
	rf_history_directory(fences->directory);
	directory = opendir(fences->directory);
	if (!directory && errno == ENOENT)
		return fail_none(fences->directory, error);
	if (!directory)
		return rf_error_failed(error, -errno,
				       "cannot read the histories in %.300s: %s; root and members "
				       "of the directory's group may",
				       fences->directory, strerror(errno));
	while ((entry = readdir(directory)) && fences->count < RF_FENCES_RECORDED_MAX)
		fences->count += take_name(entry->d_name, fences->name[fences->count]);
	closedir(directory);
	rf_sort(fences->name, fences->count, sizeof(fences->name[0]), compare_names);
	return fences->count ? 0 : fail_none(fences->directory, error);
}
