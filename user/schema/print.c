// SPDX-License-Identifier: GPL-2.0
/*
 * Prints a table for files that are not C: the manuals, the page and the tests. A tool of the
 * build, and not installed: `print NAME` writes the contents of build/schema/NAME.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/units.h"
#include "schema/events.h"
#include "schema/reasons.h"
#include "schema/settings.h"

static void print_reason_rows(void)
{
	for (int i = 0; i < RF_REASON_COUNT; i++)
		printf("%s|%s|%s\n", rf_reasons[i].name, rf_reason_verdict(i), rf_reasons[i].help);
}

static void print_map_error_rows(void)
{
	for (int i = 0; i < RF_MAP_ERROR_COUNT; i++)
		printf("%s|%s\n", rf_map_errors[i].name, rf_map_errors[i].help);
}

/* A sentence, in lines that mandoc takes. */
static void print_wrapped(const char *text)
{
	int column = 0;

	while (*text) {
		const int length = strcspn(text, " ");

		if (column && column + 1 + length > 80) {
			putchar('\n');
			column = 0;
		}
		column += printf("%s%.*s", column ? " " : "", length, text);
		text += length + strspn(text + length, " ");
	}
	putchar('\n');
}

/* Items of the manual: a metric is named as in the text format. */
static void print_metric(const char *name, const char *type, const char *labels, const char *help,
			 const char *more)
{
	const char *suffix = strcmp(type, "COUNTER") == 0 ? "_total"
			     : strcmp(type, "INFO") == 0  ? "_info"
							  : "";

	printf(".It Li ringfence_%s%s Pq ", name, suffix);
	for (const char *at = strcmp(type, "INFO") == 0 ? "GAUGE" : type; *at; at++)
		putchar(tolower(*at));
	printf("%s%s\n", *labels ? ": " : "", labels);
	print_wrapped(help);
	printf("%s%s", more, *more ? "\n" : "");
}

static void print_metrics(const char *wanted)
{
#define METRIC(name, type, unit, scope, section, labels, help, more, samples) \
	if (strcasecmp(#section, wanted) == 0)                                \
		print_metric(#name, #type, labels, help, more);
#include "schema/metrics.def"
}

static void print_event_rows(void)
{
	for (int i = 0; i < RF_EVENT_TYPES; i++)
		printf("%s|%s\n", rf_event_rows[i].name, rf_event_rows[i].help);
}

static void print_event_names(const char *before)
{
	printf("%s[", before);
	for (int i = 0; i < RF_EVENT_TYPES; i++)
		printf("%s\"%s\"", i ? ", " : "", rf_event_rows[i].name);
	printf("]");
}

#define COUNT_SCHEMA "\"type\": \"integer\", \"minimum\": 0"

/* The permitted values. */
static void print_event_kind(enum rf_event_kind kind)
{
	switch (kind) {
	case RF_EVENT_IS_SCHEMA:
		printf("\"const\": %d", RF_EVENT_SCHEMA);
		break;
	case RF_EVENT_IS_TYPE:
		print_event_names("\"enum\": ");
		break;
	case RF_EVENT_IS_TEXT:
	case RF_EVENT_IS_LIMIT:
	case RF_EVENT_IS_FENCE:
	case RF_EVENT_IS_SOURCE:
		printf("\"type\": \"string\"");
		break;
	case RF_EVENT_IS_NUMBER:
	case RF_EVENT_IS_COUNT:
	case RF_EVENT_IS_SUM:
		printf(COUNT_SCHEMA);
		break;
	case RF_EVENT_IS_TIME:
		printf("\"type\": \"string\", \"format\": \"date-time\"");
		break;
	case RF_EVENT_IS_SECONDS:
		printf("\"type\": \"number\"");
		break;
	case RF_EVENT_IS_COUNTS:
		print_event_names("\"type\": \"object\", \"propertyNames\": {\"enum\": ");
		printf("}, \"additionalProperties\": {" COUNT_SCHEMA "}");
		break;
	case RF_EVENT_IS_WORST:
		printf("\"type\": \"array\", \"maxItems\": %d, \"items\": {\"type\": \"object\",\n"
		       "      \"required\": [\"dropped\"], \"additionalProperties\": false,\n"
		       "      \"properties\": {\"source\": {\"type\": \"string\", \"description\": "
		       "\"" RF_EVENT_SOURCE_HELP "\"},\n      \"limit\": {\"type\": \"string\"}, "
		       "\"dropped\": {" COUNT_SCHEMA "}}}",
		       RF_EVENT_WORST);
		break;
	}
}

static const struct {
	const char *key;
	enum rf_event_kind kind;
	enum rf_event_when when;
	const char *help;
} event_fields[] = {
#define EVENT_FIELD(key, kind, when, member, help) \
	{#key, RF_EVENT_IS_##kind, RF_EVENT_##when, help},
#define RECORDED_FIELD EVENT_FIELD
#include "schema/events.def"
};

/*
 * The keys that are present `when`: `before`, then each in the given `format`, separated by commas.
 */
static void print_event_keys(enum rf_event_when when, const char *before, const char *format,
			     const char *after)
{
	const char *comma = "";

	printf("%s", before);
	for (size_t i = 0; i < ARRAY_SIZE(event_fields); i++) {
		if (event_fields[i].when != when)
			continue;
		printf("%s", comma);
		printf(format, event_fields[i].key);
		comma = ", ";
	}
	printf("%s", after);
}

/* A JSON schema of a line of the events file. */
static void print_event_schema(void)
{
	printf("{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
	       "  \"title\": \"An event of ringfence-watch: one line of its events file\",\n"
	       "  \"type\": \"object\",\n  \"additionalProperties\": false,\n");
	print_event_keys(RF_EVENT_ALWAYS, "  \"required\": [", "\"%s\"", "],\n");
	printf("  \"properties\": {");
	for (size_t i = 0; i < ARRAY_SIZE(event_fields); i++) {
		printf("%s\n    \"%s\": {", i ? "," : "", event_fields[i].key);
		print_event_kind(event_fields[i].kind);
		if (*event_fields[i].help)
			printf(", \"description\": \"%s\"", event_fields[i].help);
		printf("}");
	}
	printf("\n  },\n  \"if\": {\"properties\": {\"type\": {\"const\": \"%s\"}}},\n",
	       rf_event_rows[RF_EVENT_SUPPRESSED].name);
	print_event_keys(RF_EVENT_SUPPRESSED_ONLY, "  \"then\": {\"required\": [", "\"%s\"",
			 "]},\n");
	print_event_keys(RF_EVENT_SUPPRESSED_ONLY, "  \"else\": {\"properties\": {",
			 "\"%s\": false", "}}\n}\n");
}

/* "-" if a setting has none. */
static void print_setting(const char *words, const char *initial, const char *least,
			  const char *most)
{
	printf("%s|%s|%s|%s\n", words, initial ? initial : "-", least ? least : "-",
	       most ? most : "-");
}

#define SETTING(id, words, value, kind, member, initial, least, most, help) \
	print_setting(words, initial, least, most);

static void print_watch_settings(void)
{
#include "schema/watch_settings.def"
}

static void print_fleet_settings(void)
{
#include "schema/fleet_settings.def"
}

/* The labels of the page, and colours of events. */
/* Two reasons can have one text, if one passes and the other drops. */
static bool shares_text(int reason)
{
	for (int i = 0; i < RF_REASON_COUNT; i++)
		if (i != reason && strcmp(rf_reasons[i].text, rf_reasons[reason].text) == 0)
			return true;
	return false;
}

static void print_page(void)
{
	printf("const REASONS = {\n");
	for (int i = 0; i < RF_REASON_COUNT; i++)
		printf("\t%s: '%s%s%s',\n", rf_reasons[i].name, rf_reasons[i].text,
		       shares_text(i) ? ", " : "", shares_text(i) ? rf_reason_verdict(i) : "");
	printf("};\nconst EVENT_TAGS = {\n");
	for (int i = 0; i < RF_EVENT_TYPES; i++)
		printf("\t%s: '%s',\n", rf_event_rows[i].name, rf_event_rows[i].colour);
	printf("};\n");
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name; /* a name with a trailing '_' has several parts */
		void (*print)(void);
		void (*print_part)(const char *part);
	} tables[] = {
		{"reasons", print_reason_rows, NULL},
		{"map_errors", print_map_error_rows, NULL},
		{"events", print_event_rows, NULL},
		{"ringfence-event.schema.json", print_event_schema, NULL},
		{"watch_settings", print_watch_settings, NULL},
		{"fleet_settings", print_fleet_settings, NULL},
		{"page.js", print_page, NULL},
		{"metrics_", NULL, print_metrics},
	};

	for (size_t i = 0; argc == 2 && i < ARRAY_SIZE(tables); i++) {
		const size_t length = strlen(tables[i].name);

		if (tables[i].print && strcmp(argv[1], tables[i].name) == 0)
			tables[i].print();
		else if (tables[i].print_part && strncmp(argv[1], tables[i].name, length) == 0)
			tables[i].print_part(argv[1] + length);
		else
			continue;
		return fflush(stdout) ? 1 : 0;
	}
	fprintf(stderr, "usage: print TABLE\n");
	return 2;
}
