// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "agent/news.h"
#include "base/json.h"
#include "base/units.h"

void rf_news_clean_name(const char *name, char clean[RF_HOST_NAME_SIZE])
{
	size_t i;

	for (i = 0; name[i] && i < RF_HOST_NAME_SIZE - 1; i++)
		clean[i] = isascii(name[i]) && (isalnum(name[i]) || strchr("-._", name[i]))
				   ? name[i]
				   : '_';
	clean[i] = '\0';
}

static json_t *definitions(const struct rf_claims *claims)
{
	json_t *limits = json_object();

	for (int i = 0; i < RF_FLEET_LIMITS_MAX; i++) {
		const struct rf_fleet_limit *limit = &claims->limit[i];
		char definition[20];

		if (!limit->in_force)
			continue;
		snprintf(definition, sizeof(definition), "%016llx",
			 (unsigned long long)limit->definition);
		json_object_set_new(limits, limit->name, json_string(definition));
	}
	return limits;
}

char *rf_news_host_text(const struct rf_news *news)
{
	json_t *host = json_pack("{s:s, s:s, s:I, s:I, s:o}", "name", news->name, "version",
				 RINGFENCE_VERSION, "grace_ms",
				 (json_int_t)(news->settings->grace_ns / RF_NS_PER_MS), "hosts",
				 (json_int_t)news->hosts, "limits", definitions(news->claims));
	char *text = host ? json_dumps(host, JSON_COMPACT) : NULL;

	json_decref(host);
	return text;
}

json_t *rf_news_read(const char *text, size_t size)
{
	json_t *read = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);

	if (json_is_object(read))
		return read;
	json_decref(read);
	return NULL;
}

const char *rf_news_definition(const json_t *host, const char *limit)
{
	return json_string_value(json_object_get(json_object_get(host, "limits"), limit));
}
