// SPDX-License-Identifier: GPL-2.0
/* What history says, remembers, and does about a failure. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "watch/recorder.h"

/* ---- notes ---- */

void rf_history_say(struct rf_history *history, const char *format, ...)
{
	va_list args;

	if (history->notes == RF_NOTES_MAX)
		return;
	va_start(args, format);
	vsnprintf(history->note[history->notes++], RF_HISTORY_NOTE_SIZE, format, args);
	va_end(args);
}

bool rf_history_note(struct rf_history *history, char text[RF_HISTORY_NOTE_SIZE])
{
	if (!history->notes)
		return false;
	memcpy(text, history->note[0], RF_HISTORY_NOTE_SIZE);
	memmove(history->note[0], history->note[1], --history->notes * sizeof(history->note[0]));
	return true;
}

/* ---- failures ---- */

int rf_history_fail(struct rf_history *history, int code, struct rf_error *error)
{
	if (!code)
		return 0;
	history->has_failed = true;
	return rf_db_fail(&history->db, history->path, error);
}

bool rf_history_is_idle(const struct rf_history *history)
{
	return !history->in_scan || history->has_failed;
}

/* ---- state ---- */

int rf_history_put_state(struct rf_history *history, const char *key, const char *text,
			 struct rf_error *error)
{
	if (rf_history_is_idle(history))
		return 0;
	return rf_history_fail(
		history,
		rf_db_run(&history->db,
			  "INSERT INTO state VALUES(?, ?) ON CONFLICT(key) DO UPDATE SET "
			  "text = excluded.text WHERE text != excluded.text",
			  "tt", key, text),
		error);
}

char *rf_history_get_state(struct rf_history *history, const char *key)
{
	struct rf_db *db = &history->db;
	sqlite3_stmt *stmt = rf_db_begin(db, "SELECT text FROM state WHERE key = ?", "t", key);
	char *text = NULL;

	if (rf_db_row(db, stmt)) {
		text = strdup(rf_db_text(stmt, 0));
		rf_db_end(stmt);
	}
	return text;
}
