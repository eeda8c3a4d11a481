// SPDX-License-Identifier: GPL-2.0
/* The fences of this network namespace, a scan of each, and their stored state. */
#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/say.h"
#include "base/time.h"
#include "daemon/fences.h"

/* ---- records ---- */

#define AGAIN_NS (60 * RF_NS_PER_S)
#define DIRECTORY_MODE 0750
#define STATE_METRICS "metrics"
/*
 * The state that continues counters is saved with each scan, while it is small; else now and then.
 */
#define SAVE_BYTES (16 << 10)
#define SAVE_NS (10 * RF_NS_PER_S)

static void make_directory(const struct rf_settings *settings)
{
	const bool is_there = *settings->history && !access(settings->history, F_OK);
	const struct group *group;

	if (!*settings->history)
		return;
	if (is_there ? access(settings->history, W_OK | X_OK)
		     : mkdir(settings->history, DIRECTORY_MODE)) {
		rf_warn("history %s: %s; nothing is recorded: 'history DIRECTORY' names another "
			"one, 'history off' none",
			settings->history, strerror(errno));
		return;
	}
	if (is_there)
		return;
	group = getgrnam("ringfence"); /* they read it */
	if (group && lchown(settings->history, -1, group->gr_gid) && errno != EPERM)
		rf_warn("history %s: %s", settings->history, strerror(errno));
}

/* Once: later saves are already known. */
static void restore(struct rf_record *record)
{
	char *text =
		record->is_restored ? NULL : rf_history_get_state(record->history, STATE_METRICS);

	if (text && rf_metrics_restore(record->metrics, text))
		rf_warn("history %s: the counters in it are damaged; those of metrics begin anew",
			rf_history_path(record->history));
	record->is_restored = true;
	free(text);
}

static int save(struct rf_record *record, struct rf_error *error)
{
	const uint64_t now = rf_time_awake();
	char *text = rf_metrics_save(record->metrics);
	int err = 0;

	if (text && (strlen(text) <= SAVE_BYTES || now - record->saved_ns >= SAVE_NS)) {
		err = rf_history_put_state(record->history, STATE_METRICS, text, error);
		record->saved_ns = now;
	}
	free(text);
	return err;
}

/* Retries each minute: a disk can be mounted late, or another daemon can exit. */
static void open_history(struct rf_record *record, const struct rf_settings *settings)
{
	const struct rf_history_settings wanted = {
		.directory = settings->history,
		.keep_ns = settings->keep_ns,
		.at_most = settings->most_bytes,
		.told = settings->sources,
	};
	const uint64_t now = rf_time_awake();
	struct rf_error error = {};

	if (now < record->open_at_ns || access(settings->history, F_OK))
		return;
	record->open_at_ns = now + AGAIN_NS;
	if (!rf_history_open(&record->history, &wanted, record->fence, &error)) {
		restore(record);
		return;
	}
	record->history = NULL;
	rf_say_once(&record->said, "", error.text, NULL);
}

static int put_rules(struct rf_history *history, const struct rf_settings *settings,
		     const struct rf_fence *fence, const struct rf_snapshot *snapshot,
		     struct rf_error *error)
{
	char *rules;
	int err;

	if (!rf_history_wants_rules(history, snapshot))
		return 0;
	rules = rf_history_rules(fence, settings->sources, error);
	if (!rules)
		return 0; /* they can change at this instant; the next scan checks again */
	err = rf_history_put_rules(history, rules, error);
	free(rules);
	return err;
}

static void say_notes(struct rf_history *history)
{
	char note[RF_HISTORY_NOTE_SIZE];

	while (rf_history_note(history, note))
		rf_say("%s", note);
}

/* ---- a scan ---- */

static void count_events(struct rf_record *record)
{
	for (size_t i = 0; i < record->telling.count; i++) {
		const struct rf_event *event = &record->telling.event[i];

		rf_metrics_count_event(record->metrics, event->type);
		for (int type = 0; type < RF_EVENT_TYPES; type++)
			if (event->left_out[type])
				rf_metrics_count_suppressed(record->metrics, type,
							    event->left_out[type]);
	}
}

static int write_events(struct rf_record *record, struct rf_error *error)
{
	int err = rf_telling_record(&record->telling, record->history, error);

	return err ? err : save(record, error);
}

/* One transaction. */
static int write_scan(struct rf_record *record, const struct rf_settings *settings,
		      const struct rf_fence *fence, const struct rf_snapshot *snapshot,
		      struct rf_error *error)
{
	struct rf_error ignored;
	int err = rf_history_begin(record->history, snapshot, error);

	if (!err)
		err = rf_history_add(record->history, snapshot, error);
	if (!err)
		err = rf_history_add_cells(record->history, snapshot->cells, snapshot->cells_count,
					   error);
	if (!err)
		err = put_rules(record->history, settings, fence, snapshot, error);
	if (!err)
		err = write_events(record, error);
	if (!err)
		return rf_history_commit(record->history, error);
	rf_history_commit(record->history, &ignored); /* aborts the scan */
	return err;
}

/* Returns whether all of it is in the history. */
static bool write_or_say(struct rf_record *record, const struct rf_settings *settings,
			 const struct rf_fence *fence, const struct rf_snapshot *snapshot)
{
	struct rf_error error = {};
	const int err = write_scan(record, settings, fence, snapshot, &error);

	if (err)
		rf_say_once(&record->said, "", error.text, NULL);
	else
		record->said = (struct rf_said){};
	rf_metrics_note_history(record->metrics, rf_history_bytes(record->history),
				rf_history_errors(record->history));
	say_notes(record->history);
	return !err;
}

/*
 * Takes a scan, and records it according to the settings. A failure is logged, and affects only
 * that scan.
 */
static void note_scan(struct rf_record *record, const struct rf_settings *settings,
		      const struct rf_fence *fence, const struct rf_snapshot *snapshot)
{
	bool is_recorded = false;

	if (!record)
		return;
	/* First: this scan's data is added to the data reported before. */
	if (!record->history && *settings->history)
		open_history(record, settings);
	rf_metrics_take(record->metrics, snapshot);
	rf_telling_take(&record->telling, settings, record->history, snapshot);
	count_events(record);
	if (record->history)
		is_recorded = write_or_say(record, settings, fence, snapshot);
	rf_telling_give(&record->telling, record->outlets, is_recorded);
}

static int write_end(struct rf_record *record, uint64_t time_ns, struct rf_error *error)
{
	struct rf_snapshot *none = calloc(1, sizeof(*none));
	struct rf_error ignored;
	int err;

	if (!none)
		return -ENOMEM;
	none->time_ns = time_ns;
	err = rf_history_begin(record->history, none, error);
	free(none);
	if (!err)
		err = write_events(record, error);
	if (!err)
		return rf_history_commit(record->history, error);
	rf_history_commit(record->history, &ignored);
	return err;
}

/* The fence was detached, which is an event. Any argument can be NULL, here and below. */
static void end_record(struct rf_record *record)
{
	const uint64_t now = rf_time_wall();
	struct rf_error error = {};
	bool is_recorded = false;

	if (!record)
		return;
	rf_telling_gone(&record->telling, now);
	record->saved_ns = 0; /* the state saved now is restored when it returns */
	count_events(record);
	if (record->history)
		is_recorded = !write_end(record, now, &error);
	if (*error.text)
		rf_say_once(&record->said, "", error.text, NULL);
	rf_telling_give(&record->telling, record->outlets, is_recorded);
}

/* ---- cells between scans ---- */

/* The key of the sample whose cells a history records; NULL: no history records cells. */
static const __u64 *cells_key(const struct rf_record *record, const struct rf_settings *settings)
{
	if (!record || !record->history || settings->sources == RF_TELL_NONE)
		return NULL;
	return rf_history_sample_key(record->history);
}

static int write_cells(struct rf_record *record, const struct rf_snapshot *now,
		       const struct rf_cells_row *cells, size_t count, struct rf_error *error)
{
	struct rf_error ignored;
	int err = rf_history_begin(record->history, now, error);

	if (!err)
		err = rf_history_add_cells(record->history, cells, count, error);
	if (!err)
		return rf_history_commit(record->history, error);
	rf_history_commit(record->history, &ignored); /* drops them */
	return err;
}

/* Records cells between two scans. */
static void note_cells(struct rf_record *record, const struct rf_snapshot *before,
		       const struct rf_cells_row *cells, size_t count)
{
	struct rf_snapshot *now = calloc(1, sizeof(*now));
	struct rf_error error = {};

	if (now && record && record->history) {
		now->time_ns = rf_time_wall();
		now->standing = before->standing;
		if (write_cells(record, now, cells, count, &error))
			rf_say_once(&record->said, "", error.text, NULL);
	}
	free(now);
}

/* The scan failed. */
static void note_miss(struct rf_record *record)
{
	if (record)
		rf_metrics_lose(record->metrics);
}

/* ---- all fences ---- */

static struct rf_record *find_record(const struct rf_records *records, const char *fence)
{
	for (int i = 0; i < records->count; i++)
		if (strcmp(records->of[i]->fence, fence) == 0)
			return records->of[i];
	return NULL;
}

static struct rf_record *add_record(struct rf_records *records, const char *fence)
{
	struct rf_record **of = reallocarray(records->of, records->count + 1, sizeof(*of));
	struct rf_record *record = calloc(1, sizeof(*record));

	if (of)
		records->of = of;
	if (record)
		record->metrics = rf_metrics_new(fence);
	if (!of || !record || !record->metrics) {
		free(record);
		return NULL;
	}
	snprintf(record->fence, sizeof(record->fence), "%s", fence);
	record->outlets = records->outlets;
	records->of[records->count++] = record;
	return record;
}

static void free_record(struct rf_record *record)
{
	rf_history_close(record->history);
	rf_metrics_free(record->metrics);
	rf_telling_end(&record->telling);
	free(record);
}

/* Who attaches under ever new names must not make the metrics grow. */
static void drop_oldest(struct rf_records *records)
{
	int gone = 0, oldest = -1;

	for (int i = 0; i < records->count; i++) {
		const struct rf_record *record = records->of[i];

		gone += !record->is_taken;
		if (!record->is_taken &&
		    (oldest < 0 || record->released_ns < records->of[oldest]->released_ns))
			oldest = i;
	}
	if (gone <= RF_RECORDS_GONE)
		return;
	free_record(records->of[oldest]);
	records->of[oldest] = records->of[--records->count];
}

struct rf_record *rf_records_take(struct rf_records *records, const char *fence)
{
	struct rf_record *record = find_record(records, fence) ?: add_record(records, fence);

	if (!record || record->is_taken || !record->outlets)
		return NULL;
	record->is_taken = true;
	drop_oldest(records);
	return record;
}

static void close_history(struct rf_record *record)
{
	rf_history_close(record->history);
	record->history = NULL;
	record->open_at_ns = 0;
	record->said = (struct rf_said){};
}

void rf_record_release(struct rf_record *record)
{
	if (!record)
		return;
	rf_metrics_lose(record->metrics);
	close_history(record);
	record->is_taken = false;
	record->released_ns = rf_time_awake();
}

static void close_all(struct rf_records *records)
{
	for (int i = 0; i < records->count; i++)
		close_history(records->of[i]);
}

void rf_records_prepare(struct rf_records *records, const struct rf_settings *settings)
{
	close_all(records);
	if (!records->outlets)
		records->outlets = calloc(1, sizeof(*records->outlets));
	if (records->outlets)
		rf_outlets_open(records->outlets, settings);
	make_directory(settings);
}

void rf_records_turn(struct rf_records *records)
{
	if (records->outlets)
		rf_outlets_turn(records->outlets);
}

void rf_records_free(struct rf_records *records)
{
	close_all(records);
	for (int i = 0; i < records->count; i++)
		free_record(records->of[i]);
	free(records->of);
	if (records->outlets)
		rf_outlets_close(records->outlets);
	free(records->outlets);
	*records = (struct rf_records){};
}

/* ---- fences ---- */

static void say_of(struct rf_watched *one, const struct rf_error *error)
{
	char before[RF_NAME_SIZE + 16];

	snprintf(before, sizeof(before), "fence '%s': ", one->found.name);
	rf_say_once(&one->said, before, error->text, NULL);
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

static struct rf_watched *add_watched(struct rf_watching *watching, const struct rf_found *found)
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

/* A fence can be found under another interface or name than before. */
static void note_found(struct rf_watching *watching, const struct rf_found *found)
{
	struct rf_watched *one = find_id(watching, found->config_id);

	if (!one)
		one = add_watched(watching, found);
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
	end_record(one->record);
	rf_record_release(one->record);
	free(one->recent);
	free(one);
	watching->of[i] = watching->of[--watching->count];
}

/* Removed fences free their names for new ones. */
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
	snprintf(watching->said.text, sizeof(watching->said.text), "%s", text);
}

void rf_watching_find(struct rf_watching *watching)
{
	struct rf_error error = {};
	struct rf_fences fences;
	const int err = rf_fences_find(&fences, &error);

	/* Fences that briefly cannot be listed are not removed. */
	if (!err || err == -ENOENT || err == -EPERM)
		take_found(watching, &fences);
	/* Where only some could be read, `error` has the sentence about the others. */
	if (err == -ENOENT)
		say_none(watching);
	else
		rf_say_once(&watching->said, "", err || fences.some_unknown ? error.text : "",
			    NULL);
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
		one->said = (struct rf_said){};
		return true;
	}
	rf_snapshot_free(&one->snapshot);
	if (err != -ENODEV)
		say_of(one, &error);
	/* Reopened by the next search: its maps can have changed. */
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
			note_scan(one->record, settings, rf_scanner_fence(one->scanner),
				  &one->snapshot);
		else
			note_miss(one->record);
		if (one->scanner)
			rf_scanner_follow(one->scanner, cells_key(one->record, settings));
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
			note_cells(one->record, &one->snapshot, cells, count);
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
