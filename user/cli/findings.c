// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

#include "cli/findings.h"
#include "cli/out.h"

void rf_findings_print(const char *title, const struct rf_findings *findings)
{
	rf_out("%s\n", title);
	for (int i = 0; i < findings->count; i++) {
		const struct rf_finding *finding = &findings->finding[i];

		const int column = 2 + 7 + 2 + 14 + 2;
		char text[sizeof(finding->text) + sizeof(finding->command) + 16];

		snprintf(text, sizeof(text), "%s%s%s%s", finding->text,
			 *finding->command ? "; run '" : "", finding->command,
			 *finding->command ? "'" : "");
		rf_out("  %-7s  %-14s  ", rf_level_name(finding->level), finding->check);
		rf_out_wrapped(text, column, column);
	}
}

json_t *rf_findings_json(const struct rf_findings *findings)
{
	json_t *list = json_array();

	for (int i = 0; i < findings->count; i++) {
		const struct rf_finding *finding = &findings->finding[i];

		json_array_append_new(list,
				      json_pack("{s:s, s:s, s:o, s:o}", "check", finding->check,
						"level", rf_level_name(finding->level), "text",
						rf_json_text(finding->text), "command",
						*finding->command ? rf_json_text(finding->command)
								  : json_null()));
	}
	return list;
}
