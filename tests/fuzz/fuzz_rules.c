// SPDX-License-Identifier: GPL-2.0
/*
 * Rules files. For any text, a file without an error is a ruleset that compiles, and the output of
 * `save` for it is read again as the same rules. A file named in a line has a name that yields its
 * prefixes.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "require.h"
#include "rules/policy.h"
#include "rules/rulefile.h"

static int read_named(const char *path, struct rf_prefixes *prefixes, struct rf_mistakes *mistakes,
		      struct rf_error *error)
{
	struct rf_error reason = {};

	if (strcmp(path, "none") == 0)
		return rf_error_failed(error, -ENOENT, "%s: cannot read it", path);
	if (rf_parse_prefixes(path, prefixes, &reason))
		return rf_mistakes_add(mistakes, 1, reason.text, error);
	return 0;
}

static void check_mistakes(const struct rf_rulefile *file)
{
	size_t before = 0;

	for (size_t i = 0; i < file->mistakes.count; i++) {
		const struct rf_mistake *mistake = &file->mistakes.mistake[i];

		REQUIRE(*mistake->text && !strchr(mistake->text, '\n'));
		REQUIRE(!mistake->line || mistake->line >= before);
		before = mistake->line ? mistake->line : SIZE_MAX;
	}
}

static void print_list(FILE *out, const struct rf_ruleset *rules, enum rf_list list)
{
	char prefix[RF_PREFIX_TEXT_SIZE], by[RF_BY_TEXT_SIZE];
	uint8_t owner[RF_LIST_CLAIMS];

	for (size_t i = 0; i < rules->listed_count; i++) {
		const struct rf_listed *listed = &rules->listed[i];
		const int owners = rf_listed_owners(listed, list, &RF_OWNERS_ALL, owner);

		rf_format_prefix(&listed->prefix, prefix);
		for (int j = 0; j < owners; j++) {
			const uint64_t until = rf_listed_until_by(listed, list, owner[j]);

			rf_format_by(&rules->owners, owner[j], by);
			fprintf(out, "%s add %s%s%s\n", list == RF_ALLOW ? "allow" : "deny", prefix,
				until == RF_FOREVER ? "" : " for 1h", by);
		}
	}
}

/* As `ringfence save` does, but for the times, which run. */
static char *print(const struct rf_ruleset *rules)
{
	char *text = NULL, newcomers[RF_NEWCOMERS_TEXT_SIZE];
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int slots[RF_LIMITS_MAX];
	const int count = rf_bank_slots(&rules->bank, slots);

	fprintf(out, RF_RULEFILE_SAVED "f'\n");
	if (rules->bank.hosts)
		fprintf(out, "fleet hosts %" PRIu32 "\n", rules->bank.hosts);
	for (int i = 0; i < count; i++) {
		char *limit = rf_ruleset_format_limit(rules, slots[i]);

		fprintf(out, "%s\n", limit);
		free(limit);
	}
	print_list(out, rules, RF_ALLOW);
	print_list(out, rules, RF_DENY);
	rf_format_newcomers(&rules->bank.newcomers, newcomers);
	fprintf(out, "%s\n", newcomers);
	fclose(out);
	return text;
}

static void make_rules(const struct rf_rulefile *file, struct rf_ruleset *rules)
{
	const struct rf_bank nothing = {};
	struct rf_rulefile_place place = RF_RULEFILE_NOWHERE(&nothing);
	struct rf_error error = {};

	REQUIRE(!rf_rulefile_rules(file, &place, rules, &error));
}

static void check_same(const struct rf_rulefile *file, const struct rf_rulefile *again)
{
	REQUIRE(again->limits == file->limits && again->hosts == file->hosts);
	for (int i = 0; i < file->limits; i++) {
		const struct rf_limit *one = &file->limit[i].limit, *other = NULL;

		for (int j = 0; j < again->limits; j++)
			if (strcmp(again->limit[j].limit.name, one->name) == 0)
				other = &again->limit[j].limit;
		REQUIRE(other && other->rate == one->rate && other->window_ns == one->window_ns);
		REQUIRE(other->flags == one->flags && other->ban_ns == one->ban_ns);
	}
}

static void read_again(const struct rf_rulefile *file)
{
	struct rf_ruleset rules = RF_RULESET_NONE, rules_again = RF_RULESET_NONE;
	struct rf_rulefile again;
	struct rf_error error = {};
	char *text, *second;

	make_rules(file, &rules);
	text = print(&rules);
	second = strdup(text);
	REQUIRE(!rf_rulefile_parse(second, read_named, &again, &error));
	REQUIRE(!rf_rulefile_check(&again, &error) && !again.mistakes.count);
	check_same(file, &again);
	free(second);
	make_rules(&again, &rules_again);
	second = print(&rules_again);
	REQUIRE(!strcmp(text, second));
	free(second);
	free(text);
	rf_rulefile_free(&again);
	rf_ruleset_free(&rules_again);
	rf_ruleset_free(&rules);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size);
	struct rf_rulefile file;
	struct rf_error error = {};

	REQUIRE(!rf_rulefile_parse(text, read_named, &file, &error));
	check_mistakes(&file);
	REQUIRE(file.limits <= RF_LIMITS_MAX && file.entries <= size);
	if (!file.mistakes.count) {
		REQUIRE(!rf_rulefile_check(&file, &error));
		check_mistakes(&file);
	}
	if (!file.mistakes.count)
		read_again(&file);
	rf_rulefile_free(&file);
	free(text);
	return 0;
}
