// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/printable.h"
#include "base/units.h"
#include "cli/agent.h"
#include "cli/fleet_ban.h"

#define QUESTION_SIZE 128
#define TROUBLE_SIZE 320
#define PAUSE_NS 20000000
#define PAUSES_MAX 250 /* 5 s */

static void pause_a_moment(void)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};

	nanosleep(&pause, NULL);
}

static int fail_to_tell(const char *fence, const json_t *answer, struct rf_error *error)
{
	const char *why = json_string_value(json_object_get(answer, "error"));
	const char *trouble = json_string_value(json_object_get(answer, "trouble"));
	char text[TROUBLE_SIZE];

	snprintf(text, sizeof(text), "%s%s%s", why ? why : "", why && trouble ? ": " : "",
		 trouble ? trouble : "");
	rf_hide_controls(text, false);
	return rf_error_failed(error, -EIO,
			       "fence '%s': its agent cannot tell the fleet, so nothing is "
			       "changed: %s",
			       fence, text);
}

/* Asks until the answer no longer says `key`: `value`, which NULL is for true. */
static int ask_until(const char *fence, const char *question, const char *key, const char *value,
		     json_t **answer, struct rf_error *error)
{
	for (int i = 0; i < PAUSES_MAX; i++) {
		int err = rf_agent_ask(fence, question, answer, error);
		const json_t *said = err ? NULL : json_object_get(*answer, key);

		if (err)
			return err;
		if (!(value ? json_is_string(said) && !strcmp(json_string_value(said), value)
			    : json_is_true(said)))
			return 0;
		json_decref(*answer);
		*answer = NULL;
		pause_a_moment();
	}
	return rf_error_failed(error, -EBUSY,
			       "fence '%s': its agent is busy with bans; try again in a moment",
			       fence);
}

int rf_fleet_ban_tell(const char *fence, const struct rf_prefix *prefix, uint64_t time_ns,
		      struct rf_error *error)
{
	char text[RF_PREFIX_TEXT_SIZE], question[QUESTION_SIZE];
	json_t *answer = NULL, *number;
	const char *state;
	int err;

	rf_format_prefix(prefix, text);
	snprintf(question, sizeof(question), "ban %llu %s",
		 (unsigned long long)(time_ns / RF_NS_PER_MS), text);
	err = ask_until(fence, question, "busy", NULL, &answer, error);
	number = err ? NULL : json_object_get(answer, "number");
	if (!err && !json_is_integer(number))
		err = fail_to_tell(fence, answer, error);
	snprintf(question, sizeof(question), "told %lld", (long long)json_integer_value(number));
	json_decref(answer);
	answer = NULL;
	if (!err)
		err = ask_until(fence, question, "state", "telling", &answer, error);
	state = err ? NULL : json_string_value(json_object_get(answer, "state"));
	if (!err && (!state || strcmp(state, "told") != 0))
		err = fail_to_tell(fence, answer, error);
	json_decref(answer);
	return err;
}

json_int_t rf_fleet_ban_host(const json_t *answer, const char *prefix)
{
	const json_t *bans = json_object_get(answer, "bans");
	const json_t *ban;
	size_t i;

	json_array_foreach (bans, i, ban) {
		const char *of = json_string_value(json_array_get(ban, 0));

		if (of && strcmp(of, prefix) == 0)
			return json_integer_value(json_array_get(ban, 1));
	}
	return -1;
}

int rf_fleet_ban_flush(const char *fence, struct rf_error *error)
{
	json_t *answer = NULL;
	const int err = ask_until(fence, "flush", "busy", NULL, &answer, error);

	json_decref(answer);
	return err;
}
