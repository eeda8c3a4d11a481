// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "agent/bans_status.h"
#include "base/json.h"
#include "base/time.h"

static const char *const states[] = {
	[RF_TELLING_NOTHING] = "nothing",
	[RF_TELLING] = "telling",
	[RF_TOLD] = "told",
	[RF_NOT_TOLD] = "failed",
};

static const char *const refusals[RF_BAN_REFUSALS] = {
	[RF_BAN_IS_LONG] = "too_long",	 [RF_BAN_IS_WIDE] = "too_wide",
	[RF_BAN_IS_GARBAGE] = "garbage", [RF_BAN_OF_ENGINE] = "of_engine",
	[RF_BAN_TOO_MANY] = "too_many",
};

static uint32_t standing(const struct rf_fleet_bans *bans)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < bans->count; i++)
		count += bans->taken[i].until_ns != 0;
	return count;
}

static json_t *text_or_null(const char *text)
{
	return *text ? rf_json_text(text) : json_null();
}

/* Whoever takes none calls the engine seldom: what went wrong then may be mended since. */
json_t *rf_fleet_bans_status(const struct rf_fleet_bans *bans)
{
	json_t *refused = json_object();

	for (int i = 0; i < RF_BAN_REFUSALS; i++)
		if (refusals[i])
			json_object_set_new(refused, refusals[i], json_integer(bans->refused[i]));
	return json_pack(
		"{s:b, s:I, s:I, s:o, s:o, s:o}", "takes", bans->settings->takes_bans, "taken",
		(json_int_t)standing(bans), "told", (json_int_t)bans->told, "refused", refused,
		"trouble", text_or_null(bans->trouble), "engine_trouble",
		text_or_null(bans->settings->takes_bans ? rf_line_trouble(bans->line) : ""));
}

static json_t *list_json(const struct rf_fleet_bans *bans)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < bans->count; i++) {
		char text[RF_PREFIX_TEXT_SIZE];

		if (!bans->taken[i].until_ns)
			continue;
		rf_format_prefix(&bans->taken[i].prefix, text);
		json_array_append_new(list,
				      json_pack("[s, I]", text, (json_int_t)bans->taken[i].slot));
	}
	return json_pack("{s:b, s:o}", "takes", bans->settings->takes_bans, "bans", list);
}

/* MS PREFIX */
static json_t *tell_json(struct rf_fleet_bans *bans, uint32_t slot, const char *words)
{
	char *prefix_word;
	const unsigned long time_ms = strtoul(words, &prefix_word, 10);
	struct rf_told_ban ban = {.slot = slot, .left_ms = time_ms};
	struct rf_error error = {};

	if (*prefix_word != ' ' || time_ms > RF_FLEET_BAN_MOST_MS ||
	    rf_parse_prefix(prefix_word + 1, &ban.prefix, &error) || rf_fleet_bans_judge(&ban))
		return json_pack("{s:s}", "error", "the fleet takes no such ban");
	if (!rf_line_is_ready(bans->line, RF_TAG_OF_ALL, rf_time_awake()))
		return json_pack("{s:s, s:o}", "error", "it does not hear the engine", "trouble",
				 rf_json_text(rf_line_trouble(bans->line)));
	if (!rf_fleet_bans_tell(bans, slot, &ban.prefix, time_ms))
		return json_pack("{s:b}", "busy", 1);
	return json_pack("{s:I}", "number", (json_int_t)bans->telling.id);
}

static json_t *told_json(const struct rf_fleet_bans *bans, const char *word)
{
	const char *trouble = bans->telling.trouble;

	if (strtoul(word, NULL, 10) != bans->telling.id)
		return json_pack("{s:s}", "error", "another command came between");
	if (bans->telling.state == RF_NOT_TOLD && !trouble)
		trouble = *rf_line_trouble(bans->line) ? rf_line_trouble(bans->line)
						       : "the engine does not answer in time";
	return json_pack("{s:s, s:o}", "state", states[bans->telling.state], "trouble",
			 trouble ? rf_json_text(trouble) : json_null());
}

json_t *rf_fleet_bans_answer(struct rf_fleet_bans *bans, uint32_t slot, const char *question)
{
	if (strcmp(question, "bans") == 0)
		return list_json(bans);
	if (strcmp(question, "flush") == 0)
		return json_pack("{s:b}", "busy", !rf_fleet_bans_flush(bans));
	if (strncmp(question, "ban ", 4) == 0)
		return tell_json(bans, slot, question + 4);
	if (strncmp(question, "told ", 5) == 0)
		return told_json(bans, question + 5);
	return NULL;
}
