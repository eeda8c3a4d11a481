// SPDX-License-Identifier: GPL-2.0
/* The writer of history: transactions, events and rules. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "rules/policy.h"
#include "rules/rulefile.h"
#include "snapshot/rules.h"
#include "watch/reader.h"
#include "watch/recorder.h"

/* ---- the rules of a fence as text ---- */

#define LISTED_MAX 1000 /* prefixes of a list; of the others the number */

/* The start of the networks of a limit's `from`; terminates the text before it. NULL: no `from`. */
static char *find_from(const struct rf_limit *limit, char *text)
{
	static const char word[] = " from ";
	char *found = NULL; /* the last match: 'from' can also be a name */

	for (char *next = strstr(text, word); limit->has_from && next;
	     next = strstr(next + 1, word))
		found = next;
	if (!found)
		return NULL;
	*found = '\0';
	return found + strlen(word);
}

/* And the rest of the text; with a remark where the limit's networks are other ones. */
static void write_from(FILE *file, char *networks, enum rf_told told)
{
	char *const end = strchrnul(networks, ' '), *rest = *end ? end + 1 : NULL;
	char shown[RF_PREFIX_TEXT_SIZE], last[RF_PREFIX_TEXT_SIZE] = "";
	const char *before = " from ";
	struct rf_prefix prefix, allowed;
	struct rf_error unused;
	bool is_less = false;

	*end = '\0';
	for (char *word = strsep(&networks, ","); word; word = strsep(&networks, ",")) {
		if (rf_parse_prefix(word, &prefix, &unused) || !rf_tell(told, &prefix, &allowed)) {
			is_less = true;
			continue;
		}
		is_less |= allowed.length != prefix.length;
		rf_format_prefix(&allowed, shown);
		if (!strcmp(shown, last)) /* they are sorted */
			continue;
		fputs(before, file);
		fputs(shown, file);
		before = ",";
		snprintf(last, sizeof(last), "%s", shown);
	}
	if (rest) {
		fputs(" ", file);
		fputs(rest, file);
	}
	if (is_less)
		fputs(*last ? " # networks for addresses" : " # from: hidden", file);
}

static int write_limits(FILE *file, const struct rf_ruleset *rules, enum rf_told told)
{
	int slots[RF_LIMITS_MAX];
	const int count = rf_bank_slots(&rules->bank, slots);

	for (int i = 0; i < count; i++) {
		char *text = rf_ruleset_format_limit(rules, slots[i]), *networks;

		if (!text)
			return -ENOMEM;
		networks = find_from(&rules->bank.limit[slots[i]], text);
		fputs(text, file);
		if (networks)
			write_from(file, networks, told);
		fputc('\n', file);
		free(text);
	}
	return 0;
}

static const char *comment_of(const struct rf_listed *listed, enum rf_list list)
{
	const uint64_t until = rf_listed_local_until(listed, list);

	return !until ? " # by another host" : until == RF_FOREVER ? "" : " # for a time";
}

/* Entries expire, so their times would produce new rules each second: they are left out. */
static void write_list(FILE *file, const struct rf_ruleset *rules, enum rf_list list,
		       enum rf_told told)
{
	const char *command = list == RF_ALLOW ? "allow" : "deny";
	size_t count = 0, written = 0;
	char text[128];

	for (size_t i = 0; i < rules->listed_count; i++) {
		char prefix[RF_PREFIX_TEXT_SIZE];

		if (!rf_listed_until(&rules->listed[i], list))
			continue;
		if (++count > LISTED_MAX || told != RF_TELL_FULL)
			continue;
		rf_format_prefix(&rules->listed[i].prefix, prefix);
		snprintf(text, sizeof(text), "%s add %s%s\n", command, prefix,
			 comment_of(&rules->listed[i], list));
		fputs(text, file);
		written++;
	}
	if (count == written)
		return;
	snprintf(text, sizeof(text), "# the %s list has %zu prefixes%s\n", command, count,
		 written ? " in all" : "");
	fputs(text, file);
}

static int write_rules(FILE *file, const struct rf_ruleset *rules, enum rf_told told)
{
	char newcomers[RF_NEWCOMERS_TEXT_SIZE];
	int err;

	rf_format_newcomers(&rules->bank.newcomers, newcomers);
	fputs(RF_RULEFILE_LINE "\n", file);
	err = write_limits(file, rules, told);
	if (!err) {
		write_list(file, rules, RF_ALLOW, told);
		write_list(file, rules, RF_DENY, told);
		fputs(newcomers, file);
		fputc('\n', file);
	}
	return err;
}

char *rf_history_rules(const struct rf_fence *fence, enum rf_told told, struct rf_error *error)
{
	struct rf_fence_rules rules = RF_FENCE_RULES_NONE;
	char *text = NULL;
	size_t size;
	FILE *file;
	int err = rf_fence_rules_read(fence, RF_RULES_IN_FORCE, &rules, error);

	file = err ? NULL : open_memstream(&text, &size);
	if (file) {
		err = write_rules(file, &rules.set, told);
		if (fclose(file) || err) {
			free(text);
			text = NULL;
		}
	}
	if (!err && !text)
		rf_error_failed(error, -ENOMEM, "cannot record the rules: %s", strerror(ENOMEM));
	rf_fence_rules_free(&rules);
	return text;
}

#define RULES_AGAIN_NS (60 * RF_NS_PER_S) /* lists change without a new generation */
#define DISK_COMMITS 10			  /* between two checks of the free space */

/* ---- opening ---- */

/*
 * The last scan that wrote anything. The first scan of a process has no totals, because its
 * interval is unknown; yet it can have cells.
 */
static int64_t last_scan(struct rf_db *db, int64_t otherwise)
{
	return rf_db_int(db, otherwise,
			 "SELECT max(scan) FROM (SELECT max(scan) AS scan FROM totals UNION ALL "
			 "SELECT max(id) >> 16 FROM cells UNION ALL "
			 "SELECT max(id) >> 16 FROM sources)",
			 "");
}

static void read_last(struct rf_history *history)
{
	struct rf_db *db = &history->db;

	history->scan = last_scan(db, 0);
	history->minute = rf_db_int(db, 0, "SELECT max(minute) FROM minutes", "");
	history->next_seq = rf_db_int(db, 0, "SELECT max(seq) FROM events", "") + 1;
	history->counted = history->counted_before = (struct rf_counted){};
	history->series_count = history->names_count = 0;
	history->rules_ns = 0;
	free(history->rules);
	history->rules = NULL;
	rf_history_read_sample(history);
}

static int make_path(struct rf_history *history, const char *fence, struct rf_error *error)
{
	if (strlen(history->settings.directory) >= sizeof(history->directory))
		return rf_error_failed(error, -ENAMETOOLONG, "'%.64s…': the name is too long",
				       history->settings.directory);
	if (!*fence || strchr(fence, '/') || *fence == '.')
		return rf_error_failed(error, -EINVAL, "a file cannot have the name of this fence");
	strcpy(history->directory, history->settings.directory);
	history->settings.directory = history->directory;
	snprintf(history->fence, sizeof(history->fence), "%s", fence);
	snprintf(history->path, sizeof(history->path), "%s/%s.db", history->directory,
		 history->fence);
	return 0;
}

int rf_history_open(struct rf_history **result, const struct rf_history_settings *settings,
		    const char *fence, struct rf_error *error)
{
	struct rf_history *history = calloc(1, sizeof(*history));
	int err;

	*result = NULL;
	if (!history || rf_tally_open(&history->tally, settings->at_most) ||
	    getrandom(history->who_key, sizeof(history->who_key), 0) < 0) {
		if (history)
			rf_tally_close(&history->tally);
		free(history);
		return rf_error_failed(error, -ENOMEM, "cannot record: %s", strerror(ENOMEM));
	}
	history->settings = *settings;
	history->lock_fd = -1;
	if (history->settings.at_most < RF_HISTORY_AT_MOST_LEAST)
		history->settings.at_most = RF_HISTORY_AT_MOST_LEAST;
	err = make_path(history, fence, error);
	if (!err)
		err = rf_history_file_open(history, error);
	if (err) {
		rf_history_close(history);
		return err;
	}
	read_last(history);
	*result = history;
	return 0;
}

static void roll_back(struct rf_history *history)
{
	if (history->in_scan)
		sqlite3_exec(history->db.sqlite, "ROLLBACK", NULL, NULL, NULL);
	history->in_scan = false;
}

void rf_history_close(struct rf_history *history)
{
	if (!history)
		return;
	roll_back(history);
	rf_history_file_close(history);
	rf_tally_close(&history->tally);
	free(history->rules);
	free(history);
}

/* ---- a scan ---- */

static void say_stopped(struct rf_history *history, const char *before)
{
	if (!history->stopped)
		rf_history_say(history, "history of fence '%s' continues: %s", history->fence,
			       !strcmp(before, "disk") ? "the disk has room again"
						       : "the reader has finished");
	else if (!strcmp(history->stopped, "disk"))
		rf_history_say(history,
			       "history of fence '%s' stops: less than 5 %% of the disk of %.200s "
			       "is free; it continues when more is",
			       history->fence, history->directory);
	else
		rf_history_say(
			history,
			"history of fence '%s' stops: a reader of %.200s has not finished for "
			"a long time, and the log grows; 'fuser %.100s' lists the reader",
			history->fence, history->path, history->path);
}

/* Checks the free space periodically; reports changes. */
static void look_for_room(struct rf_history *history)
{
	const char *before = history->stopped;

	if (!before && history->commits % DISK_COMMITS)
		return;
	history->stopped = rf_history_disk_is_full(history)  ? "disk"
			   : rf_history_log_is_held(history) ? "reader"
							     : NULL;
	if (history->stopped != before)
		say_stopped(history, before);
}

static int begin_again(struct rf_history *history, struct rf_error *error)
{
	int err;

	roll_back(history);
	err = history->db.sqlite ? rf_history_put_aside(history, error)
				 : rf_history_file_open(history, error);
	if (!err)
		read_last(history);
	return err;
}

int rf_history_begin(struct rf_history *history, const struct rf_snapshot *snapshot,
		     struct rf_error *error)
{
	bool is_full;
	int code;

	roll_back(history);
	history->has_failed = false;
	history->now_ns = snapshot->time_ns;
	history->in_force = snapshot->standing.in_force;
	look_for_room(history);
	if (history->stopped) {
		history->missing_why = history->stopped;
		return 0;
	}
	if (rf_db_is_damage(history->db.failed) || !history->db.sqlite) {
		int err = begin_again(history, error);

		if (err)
			return err;
	}
	is_full = (history->db.failed & 0xff) == SQLITE_FULL;
	history->db.failed = SQLITE_OK;
	code = rf_db_exec(&history->db, "BEGIN IMMEDIATE");
	if (code)
		return rf_history_fail(history, code, error);
	history->in_scan = true;
	history->scan++;
	history->counted_before = history->counted;
	return is_full ? rf_history_fail(history, rf_history_trim(history), error) : 0;
}

int rf_history_add(struct rf_history *history, const struct rf_snapshot *snapshot,
		   struct rf_error *error)
{
	int code;

	if (rf_history_is_idle(history))
		return 0;
	code = rf_history_add_totals(history, snapshot);
	if (!code)
		code = rf_history_add_sources(history, snapshot);
	if (!code)
		code = rf_history_keep(history, snapshot->time_ns);
	return rf_history_fail(history, code, error);
}

static void count_failure(struct rf_history *history)
{
	history->errors++;
	history->scan = last_scan(&history->db, history->scan);
	/* Numbers that were assigned in this transaction are void. */
	history->series_count = history->names_count = 0;
	history->counted = history->counted_before;
	history->next_seq =
		rf_db_int(&history->db, history->next_seq - 1, "SELECT max(seq) FROM events", "") +
		1;
	history->missing_why = "errors";
}

int rf_history_commit(struct rf_history *history, struct rf_error *error)
{
	int code = SQLITE_OK, failed = history->db.failed;

	if (!history->in_scan && !history->has_failed)
		return 0;
	if (!history->has_failed)
		code = rf_db_exec(&history->db, "COMMIT");
	history->commits++;
	if (!history->has_failed && !code) {
		history->in_scan = false;
		history->missing_why = NULL;
		return 0;
	}
	if (code)
		failed = code;
	roll_back(history);
	count_failure(history);
	history->db.failed = failed;
	return rf_db_fail(&history->db, history->path, error);
}

/* ---- events, rules, state ---- */

#define RECORD_NUMBER(member) seq
#define RECORD_TYPE(member) rf_event_type_name(event->member)
#define RECORD_SOURCE(member) source
#define RECORD_TEXT(member) event->member
#define RECORD_LIMIT RECORD_TEXT
#define RECORD_FENCE RECORD_TEXT
#define RECORD_COUNT RECORD_TEXT
#define RECORD_TIME RECORD_TEXT
#define RECORDED_FIELD(key, kind, when, member, help) .member = RECORD_##kind(member),

static int insert_event(struct rf_history *history, const struct rf_event *event, int64_t seq,
			const char *source)
{
	const struct rf_recorded_event row = {
#include "schema/events.def"
	};

	return rf_db_insert(&history->db, &rf_tables[RF_TABLE_EVENTS], &row);
}

int rf_history_add_event(struct rf_history *history, const struct rf_event *event,
			 struct rf_error *error)
{
	char source[RF_PREFIX_TEXT_SIZE] = "";
	struct rf_prefix told;
	int64_t seq = event->seq;

	if (rf_history_is_idle(history))
		return 0;
	if (!seq || seq < history->next_seq)
		seq = history->next_seq;
	history->next_seq = seq + 1;
	if (event->has_source && rf_tell(history->settings.told, &event->source, &told))
		rf_format_prefix(&told, source);
	return rf_history_fail(history, insert_event(history, event, seq, source), error);
}

bool rf_history_wants_rules(const struct rf_history *history, const struct rf_snapshot *snapshot)
{
	return !history->rules_ns || snapshot->standing.in_force != history->rules_in_force ||
	       snapshot->time_ns - history->rules_ns >= RULES_AGAIN_NS;
}

static char *read_rules(struct rf_history *history)
{
	struct rf_db *db = &history->db;
	sqlite3_stmt *stmt = rf_db_begin(db, "SELECT text FROM rules ORDER BY id DESC LIMIT 1", "");
	char *text = NULL;

	if (rf_db_row(db, stmt)) {
		text = strdup(rf_db_text(stmt, 0));
		rf_db_end(stmt);
	}
	return text;
}

int rf_history_put_rules(struct rf_history *history, const char *text, struct rf_error *error)
{
	const struct rf_recorded_rules row = {history->now_ns, text};

	if (rf_history_is_idle(history))
		return 0;
	history->rules_in_force = history->in_force;
	history->rules_ns = history->now_ns;
	if (!history->rules)
		history->rules = read_rules(history);
	if (history->rules && !strcmp(history->rules, text))
		return 0;
	free(history->rules);
	/* Read from the file next time, whether or not this scan is committed. */
	history->rules = NULL;
	return rf_history_fail(history,
			       rf_db_insert(&history->db, &rf_tables[RF_TABLE_RULES], &row), error);
}

/* ---- figures ---- */

uint64_t rf_history_last_seq(const struct rf_history *history)
{
	return history->next_seq - 1;
}

const char *rf_history_path(const struct rf_history *history)
{
	return history->path;
}

uint64_t rf_history_bytes(const struct rf_history *history)
{
	struct rf_db *db = (struct rf_db *)&history->db;

	return rf_db_int(db, 0,
			 "SELECT page_count * page_size FROM pragma_page_count, "
			 "pragma_page_size",
			 "");
}

uint64_t rf_history_errors(const struct rf_history *history)
{
	return history->errors;
}
