// SPDX-License-Identifier: GPL-2.0
#include "cli/left_out.h"
#include "cli/out.h"

#define SHOWN 10

void rf_left_out_add(struct rf_left_out *left_out, size_t line, const struct rf_error *reason)
{
	struct rf_error note;

	if (left_out->count++ >= SHOWN)
		return;
	if (line)
		rf_error_failed(&note, 0, "%s:%zu: skipped: %s", left_out->name, line,
				reason->text);
	else
		rf_error_failed(&note, 0, "%s: skipped: %s", left_out->name, reason->text);
	rf_out_note(note.text);
}

void rf_left_out_end(const struct rf_left_out *left_out)
{
	struct rf_error note;

	if (left_out->count <= SHOWN)
		return;
	rf_error_failed(&note, 0, "%s: skipped: %zu more, for such reasons", left_out->name,
			left_out->count - SHOWN);
	rf_out_note(note.text);
}
