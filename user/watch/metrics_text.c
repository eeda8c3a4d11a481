// SPDX-License-Identifier: GPL-2.0
/* How metrics are written: the table is schema/metrics.def. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/text.h"
#include "base/units.h"
#include "rules/file.h"
#include "schema/reasons.h"
#include "watch/metrics_of.h"

enum type { COUNTER, GAUGE, HISTOGRAM, INFO };

enum unit { NONE, SECONDS, BYTES, RATIO };

/* When a metric has samples, and how often. */
enum scope {
	BUILD,	 /* once, without a fence */
	DAEMON,	 /* the same, where scans follow each other */
	KNOWN,	 /* for each fence, including fences that are down */
	SCANNED, /* the same, once a scan was made, and if scans are repeated */
	FENCE,	 /* for each fence that is up */
	LIMIT,	 /* for each limit of it */
	WATCHED, /* for each fence, where scans follow each other */
	HISTORY, /* for each fence with a history */
	FLEET,	 /* for each fence in a fleet */
	AGENT,	 /* for each fence in a fleet whose agent runs */
};

struct family;

/* Where samples are written, and of what. */
struct writer {
	const struct rf_metrics_page *page;
	FILE *out;
	const struct family *family;
	const struct rf_metrics *metrics; /* NULL: of the daemon */
	const struct rf_limit_metrics *limit;
	const char *labels; /* of the family; those without a value yet */
};

struct family {
	const char *name; /* without the _total or _info of its samples */
	enum type type;
	enum unit unit;
	enum scope scope;
	const char *labels; /* blanks between them */
	const char *help;
	/* `limit` is NULL unless the scope is LIMIT, `metrics` if it is the daemon. */
	void (*write)(struct writer *writer, const struct rf_metrics *metrics,
		      const struct rf_limit_metrics *limit);
};

/* ---- a sample ---- */

/* A label's value. Names of fences can contain any character except '/' and blanks. */
static void put_value(FILE *out, const char *value)
{
	char text[RF_PREFIX_TEXT_SIZE];

	snprintf(text, sizeof(text), "%s", value);
	rf_hide_controls(text, false);
	for (const char *at = text; *at; at++) {
		if (*at == '"' || *at == '\\')
			fputc('\\', out);
		fputc(*at, out);
	}
}

/* The value of the next label of the family. */
static void label(struct writer *writer, const char *value)
{
	const int length = strcspn(writer->labels, " ");

	rf_put(writer->out, "%c%.*s=\"", writer->labels == writer->family->labels ? '{' : ',',
	       length, writer->labels);
	put_value(writer->out, value);
	fputc('"', writer->out);
	writer->labels += length + strspn(writer->labels + length, " ");
}

/* Starts a sample: its name, its fence and its limit. */
static void begin(struct writer *writer, const char *suffix)
{
	rf_put(writer->out, "%s%s", writer->family->name, suffix);
	writer->labels = writer->family->labels;
	if (writer->metrics)
		label(writer, writer->metrics->fence);
	if (writer->limit)
		label(writer, writer->limit->name);
}

static const char *suffix_of(enum type type)
{
	return type == COUNTER ? "_total" : type == INFO ? "_info" : "";
}

/* `text` has the labels behind fence and limit: NULL, or one value. */
static void begin_of(struct writer *writer, const char *text)
{
	begin(writer, suffix_of(writer->family->type));
	if (text)
		label(writer, text);
}

static void end(struct writer *writer)
{
	rf_put(writer->out, *writer->family->labels ? "} " : " ");
}

static void end_with(struct writer *writer, uint64_t value)
{
	end(writer);
	rf_put(writer->out, "%" PRIu64 "\n", value);
}

/* Completes a sample with the worst source, if disclosure is permitted. */
static void end_with_worst(struct writer *writer, uint64_t value, const struct rf_worst *worst)
{
	const struct rf_metrics_page *page = writer->page;
	char text[RF_PREFIX_TEXT_SIZE];
	struct rf_prefix source;

	end(writer);
	rf_put(writer->out, "%" PRIu64, value);
	if (page->is_open && page->has_exemplars && worst && worst->packets &&
	    rf_tell(page->told, &worst->source, &source)) {
		rf_format_prefix(&source, text);
		rf_put(writer->out, " # {source=\"");
		put_value(writer->out, text);
		rf_put(writer->out, "\"} %" PRIu64 " %.3f", worst->packets,
		       (double)worst->time_ns / RF_NS_PER_S);
	}
	fputc('\n', writer->out);
}

/* ---- what rows write ---- */

static void value_of(struct writer *writer, const char *text, uint64_t value)
{
	begin_of(writer, text);
	end_with(writer, value);
}

static void value(struct writer *writer, uint64_t value)
{
	value_of(writer, NULL, value);
}

static void seconds(struct writer *writer, uint64_t value_ns)
{
	begin_of(writer, NULL);
	end(writer);
	rf_put(writer->out, "%.9g\n", (double)value_ns / RF_NS_PER_S);
}

static void families(struct writer *writer, uint64_t ipv4, uint64_t ipv6)
{
	value_of(writer, "ipv4", ipv4);
	value_of(writer, "ipv6", ipv6);
}

static void reasons(struct writer *writer, const struct rf_metrics *metrics, bool bytes)
{
	for (int i = 0; i < RF_REASON_COUNT; i++) {
		const struct rf_count *count = &metrics->counters.reason[i];

		begin_of(writer, rf_reason_verdict(i));
		label(writer, rf_reason_name(i));
		end_with(writer, bytes ? count->bytes : count->packets);
	}
}

static void newcomers(struct writer *writer, const struct rf_metrics *metrics)
{
	const struct rf_counters *counters = &metrics->counters;

	value_of(writer, "admitted", counters->newcomers_admitted);
	value_of(writer, "aggregated", counters->newcomers_aggregated);
	value_of(writer, "passed", counters->reason[RF_NEWCOMER_PASS].packets);
	value_of(writer, "dropped", counters->reason[RF_NEWCOMER_DROP].packets);
	value_of(writer, "challenged", counters->reason[RF_CHALLENGED].packets);
	value_of(writer, "proven", counters->reason[RF_PROVEN].packets);
	value_of(writer, "established", counters->reason[RF_ESTABLISHED].packets);
	value_of(writer, "known", counters->newcomers_known);
	value_of(writer, "shadow_only", counters->shadow_newcomers);
}

static void map_errors(struct writer *writer, const struct rf_metrics *metrics)
{
	for (int i = 0; i < RF_MAP_ERROR_COUNT; i++)
		value_of(writer, rf_map_error_name(i), metrics->counters.map_error[i]);
}

static void lists(struct writer *writer, const struct rf_metrics *metrics)
{
	value_of(writer, "allow", metrics->listed[RF_ALLOW]);
	value_of(writer, "deny", metrics->listed[RF_DENY]);
}

static void bypassed(struct writer *writer, const struct rf_metrics *metrics)
{
	for (int i = 0; i < metrics->interfaces; i++)
		value_of(writer, metrics->interface[i].name,
			 metrics->interface[i].bypass.met == RF_BYPASSED);
}

static void outcome(struct writer *writer, const char *name, bool bytes,
		    const struct rf_count *count, const struct rf_worst *worst)
{
	begin_of(writer, name);
	end_with_worst(writer, bytes ? count->bytes : count->packets, bytes ? NULL : worst);
}

static void outcomes(struct writer *writer, const struct rf_limit_metrics *limit, bool bytes)
{
	const struct rf_limit_counters *counters = &limit->counters;

	outcome(writer, "passed", bytes, &counters->passed, NULL);
	outcome(writer, "dropped", bytes, &counters->dropped, &limit->dropped);
	outcome(writer, "would_drop", bytes, &counters->would_drop, &limit->would_drop);
	outcome(writer, "forfeited", bytes, &counters->forfeited, NULL);
	outcome(writer, "truncated", bytes, &counters->truncated, NULL);
}

static void states(struct writer *writer, const struct rf_limit_metrics *limit)
{
	value_of(writer, "active", limit->active);
	value_of(writer, "over", limit->over);
	value_of(writer, "banned", limit->banned);
}

static void use(struct writer *writer, const struct rf_limit_metrics *limit)
{
	uint64_t sum = 0;

	if (writer->page->has_no_use)
		return;
	for (int i = 0; i < RF_USE_BUCKETS; i++) {
		sum += limit->use[i];
		begin(writer, "_bucket");
		rf_put(writer->out, ",le=\"%s\"",
		       i < RF_USE_BOUNDS ? rf_use_bounds[i].label : "+Inf");
		end_with(writer, sum);
	}
	begin(writer, "_sum");
	end(writer);
	rf_put(writer->out, "%.15g\n", (double)limit->use_sum / 1000);
	begin(writer, "_count");
	end_with(writer, sum);
}

static void types(struct writer *writer, const uint64_t count[RF_EVENT_TYPES])
{
	for (int i = 0; i < RF_EVENT_TYPES; i++)
		value_of(writer, rf_event_type_name(i), count[i]);
}

/* By the clock of the fence: its deadline is a grace after the last heartbeat that was answered. */
static void heard(struct writer *writer, const struct rf_fleet_seen *seen)
{
	const int64_t left_ns = seen->standing.left_ns;
	const int64_t grace_ns = seen->agent.grace_ns;

	if (grace_ns && left_ns != INT64_MIN)
		seconds(writer, left_ns < grace_ns ? grace_ns - left_ns : 0);
}

static void members(struct writer *writer, const struct rf_agent_seen *agent)
{
	const uint32_t count = rf_agent_members(agent);

	if (count) /* this host is one; otherwise unknown */
		value(writer, count);
}

static void asks(struct writer *writer, const struct rf_fleet_metrics *fleet)
{
	value_of(writer, "sent", fleet->asks_sent);
	value_of(writer, "deferred", fleet->asks_put_off);
	value_of(writer, "lost", fleet->asks_lost);
}

static void build(struct writer *writer)
{
	begin_of(writer, RINGFENCE_VERSION);
	rf_put(writer->out, ",abi=\"%d\"", RF_ABI_VERSION);
	end_with(writer, 1);
}

/* ---- the table ---- */

#define METRIC(name, type, unit, scope, section, labels, help, more, samples)             \
	static void write_##name(struct writer *writer, const struct rf_metrics *metrics, \
				 const struct rf_limit_metrics *limit)                    \
	{                                                                                 \
		(void)metrics, (void)limit;                                               \
		(samples);                                                                \
	}
#include "schema/metrics.def"
#undef METRIC

#define METRIC(name, type, unit, scope, section, labels, help, more, samples) \
	{"ringfence_" #name, type, unit, scope, labels, help, write_##name},
static const struct family table[] = {
#include "schema/metrics.def"
};

static const char *type_name(const struct rf_metrics_page *page, enum type type)
{
	static const char *const names[] = {"counter", "gauge", "histogram", "info"};

	return names[type == INFO && !page->is_open ? GAUGE : type];
}

/* The text format does not have a line for a unit. */
static void write_unit(struct writer *writer, const struct family *family)
{
	static const char *const names[] = {"", "seconds", "bytes", "ratio"};

	if (writer->page->is_open && family->unit)
		rf_put(writer->out, "# UNIT %s %s\n", family->name, names[family->unit]);
}

/* Has a fence before this one the same name? Prometheus would reject the whole page. */
static bool is_repeated(const struct rf_metrics_page *page, int i)
{
	for (int before = 0; before < i; before++)
		if (strcmp(page->fence[before]->fence, page->fence[i]->fence) == 0)
			return true;
	return false;
}

static bool is_told(const struct rf_metrics_page *page, const struct rf_metrics *metrics,
		    enum scope scope)
{
	switch (scope) {
	case BUILD:
	case DAEMON:
		return false;
	case KNOWN:
		return metrics->is_up || metrics->is_known;
	case SCANNED:
		return (metrics->is_up || metrics->is_known) && !page->is_once && metrics->awake_ns;
	case FENCE:
	case LIMIT:
		return metrics->is_up;
	case WATCHED:
		return metrics->is_up && !page->is_once;
	case HISTORY:
		return metrics->is_up && metrics->has_history;
	case FLEET:
		return metrics->is_up && metrics->fleet.is_told;
	case AGENT:
		return metrics->is_up && metrics->fleet.is_told && metrics->fleet.seen.agent.is_up;
	}
	return false;
}

static void write_fence(struct writer *writer, const struct family *family,
			const struct rf_metrics *metrics)
{
	writer->metrics = metrics;
	if (family->scope != LIMIT) {
		family->write(writer, metrics, NULL);
		return;
	}
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++) {
		writer->limit = &metrics->limit[slot];
		if (*writer->limit->name)
			family->write(writer, metrics, writer->limit);
	}
	writer->limit = NULL;
}

static void write_one_family(struct writer *writer, const struct family *family)
{
	const struct rf_metrics_page *page = writer->page;
	/* In the text format, the name has what OpenMetrics leaves to the samples. */
	const char *suffix = page->is_open ? "" : suffix_of(family->type);

	writer->family = family;
	writer->metrics = NULL;
	rf_put(writer->out, "# HELP %s%s %s\n# TYPE %s%s %s\n", family->name, suffix, family->help,
	       family->name, suffix, type_name(page, family->type));
	write_unit(writer, family);
	if (family->scope == BUILD || (family->scope == DAEMON && !page->is_once))
		family->write(writer, NULL, NULL);
	for (int i = 0; i < page->fences; i++)
		if (is_told(page, page->fence[i], family->scope) && !is_repeated(page, i))
			write_fence(writer, family, page->fence[i]);
}

char *rf_metrics_write(const struct rf_metrics_page *page, size_t *length)
{
	char *text = NULL;
	struct writer writer = {.page = page, .out = open_memstream(&text, length)};

	if (!writer.out)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		write_one_family(&writer, &table[i]);
	if (page->is_open)
		rf_put(writer.out, "# EOF\n");
	if (!fclose(writer.out))
		return text;
	free(text);
	return NULL;
}

/* ---- a file of metrics ---- */

#define BEGINNING "# HELP ringfence_"
#define STATE "# ringfence state "
#define KEPT_MAX 64 /* states of removed fences */
#define FILE_MODE 0644

int rf_metrics_file_read(struct rf_metrics_file *file, const char *path, struct rf_error *error)
{
	struct stat status;
	int err;

	*file = (struct rf_metrics_file){.path = path};
	if (stat(path, &status) && errno == ENOENT)
		return 0;
	err = rf_file_read(path, &file->before, error);
	if (err)
		return err;
	if (S_ISREG(status.st_mode) &&
	    (!*file->before || strncmp(file->before, BEGINNING, strlen(BEGINNING)) == 0))
		return 0;
	rf_metrics_file_free(file);
	return rf_error_failed(error, -EEXIST,
			       "%s: 'metrics file' did not write this file, so it does not replace "
			       "it; remove it, or choose a different file",
			       path);
}

void rf_metrics_file_free(struct rf_metrics_file *file)
{
	free(file->before);
	file->before = NULL;
}

/* ---- the states in it ---- */

/* The next line with a state at `*at`, or after; NULL: none follows. It has `*length` bytes. */
static const char *next_state(const char **at, size_t *length)
{
	const char *line = *at;

	while (line && *line && strncmp(line, STATE, strlen(STATE)) != 0) {
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	if (!line || !*line)
		return NULL;
	*length = strcspn(line, "\n");
	*at = line + *length + (line[*length] == '\n');
	return line;
}

/* The object of a line with a state; NULL: it is damaged. */
static json_t *read_state(const char *line, size_t length)
{
	json_t *all = json_loadb(line + strlen(STATE), length - strlen(STATE), 0, NULL);

	if (json_is_string(json_object_get(all, "fence")) &&
	    json_is_object(json_object_get(all, "state")))
		return all;
	json_decref(all);
	return NULL;
}

static bool is_of(const json_t *all, const char *fence)
{
	return strcmp(json_string_value(json_object_get(all, "fence")), fence) == 0;
}

/* The name of a fence as JSON has it. */
static bool names(const json_t *all, const struct rf_metrics *metrics)
{
	json_t *name = rf_json_text(metrics->fence);
	const bool is_same = name && is_of(all, json_string_value(name));

	json_decref(name);
	return is_same;
}

void rf_metrics_file_restore(struct rf_metrics_file *file, struct rf_metrics *metrics)
{
	const char *at = file->before, *line;
	size_t length;

	while ((line = next_state(&at, &length))) {
		json_t *all = read_state(line, length);
		char *text = NULL;

		if (!all)
			file->is_damaged = true;
		else if (names(all, metrics))
			text = rf_json_line(json_object_get(all, "state"));
		if (text && rf_metrics_restore(metrics, text))
			file->is_damaged = true;
		free(text);
		json_decref(all);
	}
}

static bool is_written(const struct rf_metrics_page *page, const json_t *all)
{
	for (int i = 0; i < page->fences; i++)
		if (names(all, page->fence[i]))
			return true;
	return false;
}

static int write_state(FILE *out, const struct rf_metrics *metrics)
{
	char *state = rf_metrics_save(metrics), *line;
	json_t *object = state ? json_loads(state, 0, NULL) : NULL;
	json_t *all =
		json_pack("{s:o, s:o}", "fence", rf_json_text(metrics->fence), "state", object);

	line = rf_json_line(all);
	if (line) {
		fputs(STATE, out);
		fputs(line, out);
		fputc('\n', out);
	}
	free(line);
	free(state);
	json_decref(all);
	return line ? 0 : -ENOMEM;
}

static int write_states(FILE *out, const struct rf_metrics_file *file,
			const struct rf_metrics_page *page)
{
	const char *at = file->before, *line;
	size_t length;
	int err = 0;

	for (int i = 0; i < page->fences && !err; i++)
		err = write_state(out, page->fence[i]);
	for (int kept = 0; !err && kept < KEPT_MAX && (line = next_state(&at, &length)); kept++) {
		json_t *all = read_state(line, length);

		if (all && !is_written(page, all)) {
			fwrite(line, 1, length, out);
			fputc('\n', out);
		}
		json_decref(all);
	}
	return err;
}

/* ---- writing it ---- */

static int write_all(FILE *out, const struct rf_metrics_file *file,
		     const struct rf_metrics_page *page)
{
	size_t length;
	char *text = rf_metrics_write(page, &length);
	int err;

	if (!text)
		return -ENOMEM;
	fwrite(text, 1, length, out);
	free(text);
	err = write_states(out, file, page);
	errno = 0;
	if (!err && (fflush(out) || ferror(out) || fsync(fileno(out))))
		err = errno ? -errno : -EIO;
	return err;
}

static int write_new(const char *path, int fd, const struct rf_metrics_file *file,
		     const struct rf_metrics_page *page)
{
	FILE *out = fdopen(fd, "w");
	int err;

	if (!out) {
		close(fd);
		return -errno;
	}
	err = write_all(out, file, page);
	if (!err && fchmod(fd, FILE_MODE))
		err = -errno;
	if (fclose(out) && !err)
		err = -errno;
	if (!err && rename(path, file->path))
		err = -errno;
	return err;
}

int rf_metrics_file_write(const struct rf_metrics_file *file, const struct rf_metrics_page *page,
			  struct rf_error *error)
{
	char path[PATH_MAX];
	int fd, err;

	/* The name must not have the suffix `.prom`: the collector would read it. */
	if (snprintf(path, sizeof(path), "%s.XXXXXX", file->path) >= (int)sizeof(path))
		return rf_error_failed(error, -ENAMETOOLONG, "%.256s…: the name is too long",
				       file->path);
	fd = mkstemp(path);
	err = fd < 0 ? -errno : write_new(path, fd, file, page);
	if (err && fd >= 0)
		unlink(path);
	if (err)
		return rf_error_failed(error, err, "%s: cannot write it: %s", file->path,
				       strerror(-err));
	return 0;
}
