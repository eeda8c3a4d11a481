// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>

#include "base/json.h"

json_t *rf_json_text(const char *text)
{
	json_t *string = json_string(text);
	char copy[256];

	if (string)
		return string;
	snprintf(copy, sizeof(copy), "%s", text);
	for (char *p = copy; *p; p++)
		if ((unsigned char)*p > 0x7e)
			*p = '?';
	return json_string(copy);
}

char *rf_json_line(const json_t *json)
{
	return json ? json_dumps(json, JSON_COMPACT | RF_JSON_REALS) : NULL;
}
