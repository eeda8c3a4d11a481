// SPDX-License-Identifier: GPL-2.0
/*
 * Prints a table for what is no C: the manuals, the page and the tests. A tool of the
 * build, and no part of the programs: `print NAME` writes what build/schema/NAME has.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/units.h"
#include "schema/reasons.h"

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
#define METRIC(name, type, scope, section, labels, help, more, samples) \
	if (strcasecmp(#section, wanted) == 0)                          \
		print_metric(#name, #type, labels, help, more);
#include "schema/metrics.def"
}

/* The labels of the page. */
static void print_page(void)
{
	printf("const REASONS = {\n");
	for (int i = 0; i < RF_REASON_COUNT; i++)
		printf("\t%s: '%s',\n", rf_reasons[i].name, rf_reasons[i].text);
	printf("};\n");
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name; /* one that ends with '_' has several parts */
		void (*print)(void);
		void (*print_part)(const char *part);
	} tables[] = {
		{"reasons", print_reason_rows, NULL},
		{"map_errors", print_map_error_rows, NULL},
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
