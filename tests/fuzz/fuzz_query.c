// SPDX-License-Identifier: GPL-2.0
/*
 * The path and arguments of a URL, separated by '?': for any bytes, a query that was read is sound,
 * and written again it is read as the same one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/query.h"
#include "require.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every byte as %XX. */
static void append(char *text, const char *word, const char *value)
{
	sprintf(text + strlen(text), "%s%s=", *text ? "&" : "", word);
	for (; *value; value++)
		sprintf(text + strlen(text), "%%%02X", (unsigned char)*value);
}

static void read_again(const char *path, const struct rf_query *query)
{
	char args[4 * RF_QUERY_ARGS_SIZE] = "", number[32];
	struct rf_query again;

	if (*query->fence)
		append(args, "fence", query->fence);
	if (query->has_source)
		append(args, "source", query->source);
	snprintf(number, sizeof(number), "%llu", (unsigned long long)query->from_ms);
	if (query->from_ms)
		append(args, "from", number);
	snprintf(number, sizeof(number), "%llu", (unsigned long long)query->to_ms);
	if (query->to_ms)
		append(args, "to", number);
	REQUIRE(strlen(args) < RF_QUERY_ARGS_SIZE);
	REQUIRE(!rf_query_parse(path, args, &again));
	REQUIRE(rf_query_equal(query, &again));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *path = calloc(1, size + 1), *args;
	struct rf_query query;

	memcpy(path, data, size);
	args = strchr(path, '?');
	if (args)
		*args++ = '\0';
	if (!rf_query_parse(path, args, &query)) {
		REQUIRE(rf_query_is_sound(&query));
		read_again(path, &query);
	}
	free(path);
	return 0;
}
