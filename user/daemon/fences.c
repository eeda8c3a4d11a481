// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "base/time.h"
#include "daemon/fences.h"

/* Says an error, unless it is the one that was said last. "": there is none now. */
static void say_once(struct rf_error *said, const char *before, const char *text)
{
	if (strcmp(said->text, text) != 0 && *text)
		rf_warn("%s%s", before, text);
	rf_error_failed(said, 0, "%s", text);
}

static void say_of(struct rf_watched *one, const struct rf_error *error)
{
	char before[RF_NAME_SIZE + 16];

	snprintf(before, sizeof(before), "fence '%s': ", one->found.name);
	say_once(&one->said, before, error->text);
}

/* ---- one fence ---- */

static void drop_snapshot(struct rf_watched *one)
{
	if (one->has_snapshot)
		rf_snapshot_free(&one->snapshot);
	one->has_snapshot = false;
}

static void close_one(struct rf_watched *one)
{
	drop_snapshot(one);
	rf_scanner_close(one->scanner);
	one->scanner = NULL;
}

static void open_one(struct rf_watching *watching, struct rf_watched *one)
{
	struct rf_error error = {};

	one->scanner = rf_scanner_open(one->found.interface, &error);
	say_of(one, &error);
	if (!one->scanner)
		return;
	rf_say("fence '%s': watching it, on %s", one->found.name, one->found.interface);
	if (rf_fence_lacks_iterators(rf_scanner_fence(one->scanner)))
		rf_warn("fence '%s': an older version of ringfence attached it, so a scan of it "
			"takes longer; 'ringfence adopt %s' mends that",
			one->found.name, one->found.interface);
	if (!one->record)
		one->record = rf_records_take(&watching->records, one->found.name);
	if (!one->record)
		rf_warn("fence '%s': nothing of it is recorded or served, since another fence has "
			"the same name",
			one->found.name);
}

/* ---- finding ---- */

static struct rf_watched *find_id(const struct rf_watching *watching, uint32_t config_id)
{
	for (int i = 0; i < watching->count; i++)
		if (watching->of[i]->found.config_id == config_id)
			return watching->of[i];
	return NULL;
}

static struct rf_watched *add(struct rf_watching *watching, const struct rf_found *found)
{
	struct rf_watched **of =
		reallocarray(watching->of, watching->count + 1, sizeof(*watching->of));
	struct rf_watched *one = calloc(1, sizeof(*one));

	if (of)
		watching->of = of;
	if (!of || !one) {
		free(one);
		return NULL;
	}
	one->found = *found;
	watching->of[watching->count++] = one;
	return one;
}

/* A fence may be found under another interface or name than before. */
static void note_found(struct rf_watching *watching, const struct rf_found *found)
{
	struct rf_watched *one = find_id(watching, found->config_id);

	if (!one)
		one = add(watching, found);
	if (!one)
		return; /* the next search tries again */
	one->found = *found;
	one->is_found = true;
}

static void forget(struct rf_watching *watching, int i)
{
	struct rf_watched *one = watching->of[i];

	rf_say("fence '%s': it is gone", one->found.name);
	close_one(one);
	rf_record_end(one->record);
	rf_record_release(one->record);
	free(one->recent);
	free(one);
	watching->of[i] = watching->of[--watching->count];
}

/* Those that are gone leave their names to new ones. */
static void take_found(struct rf_watching *watching, const struct rf_fences *fences)
{
	for (int i = 0; i < watching->count; i++)
		watching->of[i]->is_found = false;
	for (int i = 0; i < fences->count; i++)
		note_found(watching, &fences->fence[i]);
	for (int i = watching->count - 1; i >= 0; i--)
		if (!watching->of[i]->is_found)
			forget(watching, i);
	for (int i = 0; i < watching->count; i++)
		if (!watching->of[i]->scanner)
			open_one(watching, watching->of[i]);
}

/* That is no error: fences come later. */
static void say_none(struct rf_watching *watching)
{
	const char *text = "no fence is attached to any interface here; waiting for one";

	if (strcmp(watching->said.text, text) != 0)
		rf_say("%s", text);
	rf_error_failed(&watching->said, 0, "%s", text);
}

void rf_watching_find(struct rf_watching *watching)
{
	struct rf_error error = {};
	struct rf_fences fences;
	const int err = rf_fences_find(&fences, &error);

	/* What cannot be listed for a moment is not gone. */
	if (!err || err == -ENOENT || err == -EPERM)
		take_found(watching, &fences);
	/* Where only some could be read, `error` has the sentence about the others. */
	if (err == -ENOENT)
		say_none(watching);
	else
		say_once(&watching->said, "", err || fences.some_unknown ? error.text : "");
	rf_fences_free(&fences);
}

/* ---- scanning ---- */

static bool scan_one(struct rf_watched *one)
{
	struct rf_error error = {};
	int err;

	drop_snapshot(one);
	err = rf_scan(one->scanner, &one->snapshot, &error);
	one->has_snapshot = !err;
	one->was_scanned = true;
	if (!err) {
		one->said = (struct rf_error){};
		return true;
	}
	rf_snapshot_free(&one->snapshot);
	if (err != -ENODEV)
		say_of(one, &error);
	/* Opened anew by the next search: its maps may be other ones now. */
	rf_scanner_close(one->scanner);
	one->scanner = NULL;
	return false;
}

bool rf_watching_scan(struct rf_watching *watching)
{
	bool all = true;

	for (int i = 0; i < watching->count; i++)
		if (watching->of[i]->scanner)
			all = scan_one(watching->of[i]) && all;
	return !all;
}

void rf_watching_record(struct rf_watching *watching, const struct rf_settings *settings)
{
	for (int i = 0; i < watching->count; i++) {
		struct rf_watched *one = watching->of[i];

		if (one->has_snapshot)
			rf_record_scan(one->record, settings, rf_scanner_fence(one->scanner),
				       &one->snapshot);
		else
			rf_record_miss(one->record);
		if (one->scanner)
			rf_scanner_follow(one->scanner, rf_record_cells_key(one->record, settings));
	}
}

uint64_t rf_watching_cells_due_ns(const struct rf_watching *watching)
{
	uint64_t due_ns = UINT64_MAX;

	for (int i = 0; i < watching->count; i++) {
		const struct rf_watched *one = watching->of[i];
		const uint64_t its_ns =
			one->scanner ? rf_scanner_cells_due_ns(one->scanner) : UINT64_MAX;

		if (its_ns < due_ns)
			due_ns = its_ns;
	}
	return due_ns;
}

void rf_watching_read_cells(struct rf_watching *watching)
{
	for (int i = 0; i < watching->count; i++) {
		struct rf_watched *one = watching->of[i];
		struct rf_cells_row *cells;
		size_t count;

		if (!one->scanner || rf_scanner_cells_due_ns(one->scanner) > rf_time_awake() ||
		    !rf_scanner_read_cells(one->scanner, &cells, &count))
			continue;
		if (one->has_snapshot)
			rf_record_cells(one->record, &one->snapshot, cells, count);
		free(cells);
	}
}

void rf_watching_end(struct rf_watching *watching)
{
	for (int i = 0; i < watching->count; i++) {
		close_one(watching->of[i]);
		rf_record_release(watching->of[i]->record);
		free(watching->of[i]->recent);
		free(watching->of[i]);
	}
	free(watching->of);
	rf_records_free(&watching->records);
	*watching = (struct rf_watching){};
}
