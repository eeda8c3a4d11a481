// SPDX-License-Identifier: GPL-2.0
/* Where histories are. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "watch/history.h"
#include "watch/reader.h"

#define CONFIGURATION "/etc/ringfence/watch.conf"
#define SUFFIX ".db"

/* Reads `history DIRECTORY` of the daemon's settings. The last one counts. */
static bool read_setting(char path[PATH_MAX])
{
	FILE *file = fopen(CONFIGURATION, "re");
	char line[PATH_MAX + 64], word[PATH_MAX];
	bool found = false;

	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "#\n")] = '\0';
		if (sscanf(line, " history %4095s", word) == 1 && strcmp(word, "off") != 0) {
			strcpy(path, word);
			found = true;
		}
	}
	if (file)
		fclose(file);
	return found;
}

void rf_history_directory(char path[PATH_MAX])
{
	const char *given = getenv("RINGFENCE_HISTORY");

	if (given && *given)
		snprintf(path, PATH_MAX, "%s", given);
	else if (!read_setting(path))
		strcpy(path, RF_HISTORY_DIRECTORY);
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
	qsort(fences->name, fences->count, sizeof(fences->name[0]), compare_names);
	return fences->count ? 0 : fail_none(fences->directory, error);
}
