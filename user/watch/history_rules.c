// SPDX-License-Identifier: GPL-2.0
/* The rules of a fence as text, for history. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/policy.h"
#include "rules/rulefile.h"
#include "watch/history.h"

#define LISTED_MAX 1000 /* prefixes of a list; of the others the number */

/* Where the networks of a limit's `from` begin, and the text before ends; NULL: it has none. */
static char *find_from(const struct rf_limit *limit, char *text)
{
	static const char word[] = " from ";
	char *found = NULL; /* the last one: 'from' may be a name as well */

	for (char *next = strstr(text, word); limit->has_from && next;
	     next = strstr(next + 1, word))
		found = next;
	if (!found)
		return NULL;
	*found = '\0';
	return found + strlen(word);
}

/* And the rest of the text; with a remark where the limit's networks are other ones. */
static void write_from(FILE *file, char *networks, enum rf_told told)
{
	char *const end = strchrnul(networks, ' '), *rest = *end ? end + 1 : NULL;
	char shown[RF_PREFIX_TEXT_SIZE], last[RF_PREFIX_TEXT_SIZE] = "";
	const char *before = " from ";
	struct rf_prefix prefix, allowed;
	struct rf_error unused;
	bool is_less = false;

	*end = '\0';
	for (char *word = strsep(&networks, ","); word; word = strsep(&networks, ",")) {
		if (rf_parse_prefix(word, &prefix, &unused) || !rf_tell(told, &prefix, &allowed)) {
			is_less = true;
			continue;
		}
		is_less |= allowed.length != prefix.length;
		rf_format_prefix(&allowed, shown);
		if (!strcmp(shown, last)) /* they are sorted */
			continue;
		fputs(before, file);
		fputs(shown, file);
		before = ",";
		snprintf(last, sizeof(last), "%s", shown);
	}
	if (rest) {
		fputs(" ", file);
		fputs(rest, file);
	}
	if (is_less)
		fputs(*last ? " # networks for addresses" : " # from: not told", file);
}

static int write_limits(FILE *file, const struct rf_ruleset *rules, enum rf_told told)
{
	int slots[RF_LIMITS_MAX];
	const int count = rf_bank_slots(&rules->bank, slots);

	for (int i = 0; i < count; i++) {
		char *text = rf_ruleset_format_limit(rules, slots[i]), *networks;

		if (!text)
			return -ENOMEM;
		networks = find_from(&rules->bank.limit[slots[i]], text);
		fputs(text, file);
		if (networks)
			write_from(file, networks, told);
		fputc('\n', file);
		free(text);
	}
	return 0;
}

static const char *comment_of(const struct rf_listed *listed, enum rf_list list)
{
	const uint64_t until = rf_listed_local_until(listed, list);

	return !until ? " # by another host" : until == RF_FOREVER ? "" : " # for a time";
}

/* Entries end, so their times would make new rules each second: they are left out. */
static void write_list(FILE *file, const struct rf_ruleset *rules, enum rf_list list,
		       enum rf_told told)
{
	const char *command = list == RF_ALLOW ? "allow" : "deny";
	size_t count = 0, written = 0;
	char text[128];

	for (size_t i = 0; i < rules->listed_count; i++) {
		char prefix[RF_PREFIX_TEXT_SIZE];

		if (!rf_listed_until(&rules->listed[i], list))
			continue;
		if (++count > LISTED_MAX || told != RF_TELL_FULL)
			continue;
		rf_format_prefix(&rules->listed[i].prefix, prefix);
		snprintf(text, sizeof(text), "%s add %s%s\n", command, prefix,
			 comment_of(&rules->listed[i], list));
		fputs(text, file);
		written++;
	}
	if (count == written)
		return;
	snprintf(text, sizeof(text), "# the %s list has %zu prefixes%s\n", command, count,
		 written ? " in all" : "");
	fputs(text, file);
}

static int write_rules(FILE *file, const struct rf_ruleset *rules, enum rf_told told)
{
	char *newcomers = rf_ruleset_format_newcomers(rules);
	int err = newcomers ? 0 : -ENOMEM;

	fputs(RF_RULEFILE_LINE "\n", file);
	if (!err)
		err = write_limits(file, rules, told);
	if (!err) {
		write_list(file, rules, RF_ALLOW, told);
		write_list(file, rules, RF_DENY, told);
		fputs(newcomers, file);
		fputc('\n', file);
	}
	free(newcomers);
	return err;
}

char *rf_history_rules(const struct rf_fence *fence, enum rf_told told, struct rf_error *error)
{
	struct rf_ruleset rules = RF_RULESET_NONE;
	char *text = NULL;
	size_t size;
	FILE *file;
	int err = rf_fence_ruleset(fence, &rules, error);

	if (!err && rules.listed_count)
		rf_ruleset_expire(&rules, rf_fence_jiffies(fence));
	file = err ? NULL : open_memstream(&text, &size);
	if (file) {
		err = write_rules(file, &rules, told);
		if (fclose(file) || err) {
			free(text);
			text = NULL;
		}
	}
	if (!err && !text)
		rf_error_failed(error, -ENOMEM, "cannot record the rules: %s", strerror(ENOMEM));
	rf_ruleset_free(&rules);
	return text;
}
