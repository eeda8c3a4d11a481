// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "cli/agent.h"
#include "cli/fleet_agent.h"
#include "fleet/socket.h"
#include "rules/fleet_settings.h"

/* ---- which fence ---- */

struct found {
	char name[RF_NAME_SIZE], other[RF_NAME_SIZE];
	int count;
};

static void add_found(struct found *found, const char *name)
{
	if (found->count && strcmp(found->name, name) == 0)
		return;
	if (found->count < 2)
		snprintf(found->count ? found->other : found->name, RF_NAME_SIZE, "%.*s",
			 RF_NAME_SIZE - 1, name);
	found->count++;
}

/* Files of that directory, in order, whose names end so. */
static void look_into(struct found *found, const char *directory, const char *ending)
{
	struct dirent **file;
	const int count = scandir(directory, &file, NULL, alphasort);

	for (int i = 0; i < count; i++) {
		char *name = file[i]->d_name;
		const size_t length = strlen(name), tail = strlen(ending);

		if (length > tail && length - tail < RF_NAME_SIZE &&
		    strcmp(name + length - tail, ending) == 0) {
			name[length - tail] = '\0';
			add_found(found, name);
		}
		free(file[i]);
	}
	if (count >= 0)
		free(file);
}

static int find_only(char name[RF_NAME_SIZE], struct rf_error *error)
{
	struct found found = {};

	look_into(&found, RF_FLEET_DIRECTORY, ".fleet");
	if (!found.count) /* an agent may have been told all by its command line */
		look_into(&found, RF_AGENT_DIRECTORY, ".sock");
	if (!found.count)
		return rf_error_failed(error, -ENOENT,
				       "no fence of this host is in a fleet; 'ringfence fleet join "
				       "FENCE redis HOST:PORT hosts N' makes it a member");
	rf_hide_controls(found.name, false);
	rf_hide_controls(found.other, false);
	if (found.count > 1)
		return rf_error_usage(error,
				      "several fences are in a fleet, as '%s' and '%s'; add 'dev "
				      "FENCE'",
				      found.name, found.other);
	memcpy(name, found.name, RF_NAME_SIZE);
	return 0;
}

int rf_fleet_fence(const struct rf_options *options, const char *given, char name[RF_NAME_SIZE],
		   struct rf_error *error)
{
	const char *word = given ? given : options->dev;

	if (given && options->dev && strcmp(given, options->dev) != 0)
		return rf_error_usage(error, "'dev': the fence is '%s'; leave 'dev' out", given);
	if (!word)
		return find_only(name, error);
	if (!*word || word[0] == '.' || strchr(word, '/') || strlen(word) >= RF_NAME_SIZE)
		return rf_error_usage(error, "'%s': no fence has such a name", word);
	snprintf(name, RF_NAME_SIZE, "%s", word);
	return 0;
}

/* ---- asking ---- */

/* An answer may be a refusal. */
static int check_answer(const char *fence, json_t **answer, struct rf_error *error)
{
	char text[400];

	rf_fleet_text(*answer, "error", text, sizeof(text));
	if (!*text)
		return 0;
	json_decref(*answer);
	*answer = NULL;
	if (strcmp(text, "no such question") == 0)
		return rf_error_failed(error, -EPROTO,
				       "fence '%s': its agent is of another version; 'systemctl "
				       "restart ringfence-fleet@%s' starts this one",
				       fence, fence);
	return rf_error_failed(error, -EIO, "fence '%s': %s", fence, text);
}

int rf_fleet_ask(const char *fence, const char *question, json_t **answer, struct rf_error *error)
{
	const int err = rf_agent_ask(fence, question, answer, error);

	return err ? err : check_answer(fence, answer, error);
}
