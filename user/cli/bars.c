// SPDX-License-Identifier: GPL-2.0
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/bars.h"

#define LEVELS 8

static const char *const blocks[LEVELS + 1] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
static const char *const marks[LEVELS + 1] = {" ", ".", ".", ":", "-", "=", "+", "*", "#"};

/* By the environment, as setlocale() reads it: the first of these that is not empty counts. */
static bool is_utf8(void)
{
	static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++) {
		const char *value = getenv(variables[i]);
		const char *codeset = value ? strchr(value, '.') : NULL;

		if (value && *value)
			return codeset && (!strncasecmp(codeset, ".UTF-8", 6) ||
					   !strncasecmp(codeset, ".utf8", 5));
	}
	return false;
}

/* Rounded up, so that only 0 has no bar. */
static size_t level_of(uint64_t number, uint64_t most)
{
	return most ? (number * (double)LEVELS + most - 1) / most : 0;
}

void rf_bars(const uint64_t *number, size_t count, char *text)
{
	const char *const *level = is_utf8() ? blocks : marks;
	uint64_t most = 0;

	for (size_t i = 0; i < count; i++)
		most = number[i] > most ? number[i] : most;
	*text = '\0';
	for (size_t i = 0; i < count; i++)
		text = stpcpy(text, level[level_of(number[i], most)]);
}
