// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/recorded_rules.h"
#include "rules/policy.h"
#include "rules/rulefile.h"

#define ANY_TICK_NS 1000000 /* the policies are not used */

/* Lists are of no use here. */
static int read_nothing(const char *path, struct rf_prefixes *prefixes,
			struct rf_mistakes *mistakes, struct rf_error *error)
{
	(void)path, (void)prefixes, (void)mistakes, (void)error;
	return 0;
}

static int put(struct rf_ruleset *rules, int slot, const struct rf_definition *definition,
	       struct rf_error *error)
{
	uint32_t next_id = slot + 1;

	return rf_ruleset_put_limit(rules, slot, definition, NULL, ANY_TICK_NS, &next_id, error);
}

int rf_recorded_limits(struct rf_reader *reader, uint64_t time_ns, struct rf_ruleset *rules,
		       uint64_t *since_ns, struct rf_error *error)
{
	char *text = rf_reader_rules(reader, time_ns, since_ns);
	struct rf_rulefile file = {};
	int err = 0;

	*rules = RF_RULESET_NONE;
	if (!text)
		return rf_error_failed(error, -ENODATA,
				       "the history has no rules of that time; 'ringfence history "
				       "list' shows how far it reaches back");
	err = rf_rulefile_parse(text, read_nothing, &file, error);
	if (!err)
		err = rf_rulefile_check_format(file.format, error);
	for (int i = 0; i < file.limits && i < RF_LIMITS_MAX && !err; i++)
		err = put(rules, i, &file.limit[i], error);
	rf_rulefile_free(&file);
	free(text);
	return err;
}

static void choose_name(const struct rf_ruleset *rules, const char *name, char chosen[RF_NAME_SIZE])
{
	snprintf(chosen, RF_NAME_SIZE, "%s", name);
	for (unsigned int i = 2; rf_bank_find(&rules->bank, chosen) >= 0; i++)
		snprintf(chosen, RF_NAME_SIZE, "%.28s-%u", name, i % 100);
}

char *rf_shadow_command(const struct rf_ruleset *rules, const struct rf_definition *definition,
			const char *name)
{
	struct rf_definition shadow = *definition;
	struct rf_ruleset alone = RF_RULESET_NONE;
	struct rf_error unused;
	char *text = NULL;

	choose_name(rules, name, shadow.limit.name);
	shadow.limit.flags |= RF_SHADOW;
	shadow.limit.ban_ns = 0;
	if (!put(&alone, 0, &shadow, &unused))
		text = rf_ruleset_format_limit(&alone, 0);
	rf_ruleset_free(&alone);
	return text;
}

int rf_limit_definition(const struct rf_ruleset *rules, int slot, struct rf_definition *definition,
			struct rf_error *error)
{
	char *text = rf_ruleset_format_limit(rules, slot), *line = text;
	const char **word = text ? calloc(strlen(text) + 1, sizeof(*word)) : NULL;
	struct rf_words words = {.word = word};
	int err = 0;

	*definition = (struct rf_definition){};
	if (!word)
		err = rf_error_failed(error, -ENOMEM, "%s", strerror(ENOMEM));
	for (char *next = strsep(&line, " "); word && next; next = strsep(&line, " "))
		word[words.count++] = next;
	words.at = 2; /* limit add */
	if (!err)
		err = rf_parse_limit(&words, definition, error);
	free(word);
	free(text);
	return err;
}
