// SPDX-License-Identifier: GPL-2.0
/*
 * Prints a table for what is no C: the manuals, the page and the tests. A tool of the
 * build, and no part of the programs: `print NAME` writes what build/schema/NAME has.
 */
#include <stdio.h>
#include <string.h>

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
		const char *name;
		void (*print)(void);
	} tables[] = {
		{"reasons", print_reason_rows},
		{"map_errors", print_map_error_rows},
		{"page.js", print_page},
	};

	for (size_t i = 0; argc == 2 && i < ARRAY_SIZE(tables); i++)
		if (strcmp(argv[1], tables[i].name) == 0) {
			tables[i].print();
			return fflush(stdout) ? 1 : 0;
		}
	fprintf(stderr, "usage: print reasons|map_errors|page.js\n");
	return 2;
}
