// SPDX-License-Identifier: GPL-2.0
/* capture: some of the packets, into a file */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <net/if.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/time.h"
#include "cli/command.h"
#include "cli/out.h"
#include "fence/sampler.h"
#include "rules/advice.h"
#include "rules/policy.h"
#include "schema/reasons.h"
#include "schema/settings.h"
#include "watch/pcapng.h"
#include "watch/reader.h"

struct capture_file {
	const char *path;
	FILE *file;
	struct rf_pcapng pcapng;
	bool is_made;	 /* by this command */
	bool has_reader; /* false: who read the pipe has gone */
	off_t whole;	 /* up to there it has whole packets */
};

/* ---- the file; it always stops after a complete packet ---- */

static int fail_file(struct capture_file *to, int err, struct rf_error *error)
{
	__fpurge(to->file);  /* half of a packet, which closing would write */
	if (err == -EPIPE) { /* as head does: no error */
		to->has_reader = false;
		return 0;
	}
	if (to->whole > 0 && !ftruncate(fileno(to->file), to->whole))
		return rf_error_failed(error, err,
				       "cannot write to %.300s: %s; the packets before are in it",
				       to->path, strerror(-err));
	return rf_error_failed(error, err, "cannot write to %.300s: %s", to->path, strerror(-err));
}

static int open_stream(struct capture_file *to, int fd, struct rf_error *error)
{
	to->file = fdopen(fd, "w");
	if (to->file)
		return 0;
	close(fd);
	return rf_error_failed(error, -ENOMEM, "cannot write to %.300s: %s", to->path,
			       strerror(ENOMEM));
}

/* Not the stream to which all commands print: here it is no error if the reader closes the pipe. */
static int open_output(struct capture_file *to, struct rf_error *error)
{
	int fd;

	to->path = "standard output";
	if (isatty(STDOUT_FILENO))
		return rf_error_usage(error,
				      "'write -': packets are no text for a terminal; name a "
				      "file, or write | tcpdump -r -");
	fd = dup(STDOUT_FILENO);
	if (fd < 0)
		return rf_error_failed(error, -errno, "%s: %s", to->path, strerror(errno));
	return open_stream(to, fd, error);
}

/* The file has addresses: only the user can read it. The path can be a device or a named pipe. */
static int open_file(struct capture_file *to, struct rf_error *error)
{
	int fd = open(to->path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	struct stat stat;

	to->is_made = fd >= 0;
	if (fd < 0 && errno == EEXIST && !lstat(to->path, &stat) && !S_ISREG(stat.st_mode))
		fd = open(to->path, O_WRONLY | O_CLOEXEC);
	else if (fd < 0 && errno == EEXIST)
		return rf_error_failed(
			error, -EEXIST,
			"%.300s: the file exists; remove it, or choose a different name", to->path);
	if (fd < 0)
		return rf_error_failed(error, -errno, "cannot make %.300s: %s", to->path,
				       strerror(errno));
	return open_stream(to, fd, error);
}

/* "-": standard output, which must not be a terminal. Close it even after an error. */
static int capture_file_open(struct capture_file *to, const char *path, struct rf_error *error)
{
	int err;

	*to = (struct capture_file){.path = path, .has_reader = true};
	err = strcmp(path, "-") == 0 ? open_output(to, error) : open_file(to, error);
	if (err)
		return err;
	err = rf_pcapng_begin(&to->pcapng, to->file);
	return err ? fail_file(to, err, error) : 0;
}

static int capture_file_interface(struct capture_file *to, uint32_t index, const char *name,
				  struct rf_error *error)
{
	int err = rf_pcapng_add_interface(&to->pcapng, index, name);

	return err ? fail_file(to, err, error) : 0;
}

/* Packets are in the file after the next flush; if it fails, none of them are. */
static int capture_file_add(struct capture_file *to, const struct rf_pcapng_packet *packet,
			    struct rf_error *error)
{
	int err = rf_pcapng_add(&to->pcapng, packet);

	return err ? fail_file(to, err, error) : 0;
}

static int capture_file_flush(struct capture_file *to, struct rf_error *error)
{
	if (fflush(to->file))
		return fail_file(to, -errno, error);
	if (to->is_made)
		to->whole = ftello(to->file);
	return 0;
}

/* `keeps`: do not remove the file. */
static void capture_file_close(struct capture_file *to, bool keeps)
{
	if (to->file)
		fclose(to->file);
	if (to->is_made && !keeps)
		unlink(to->path);
	to->file = NULL;
}

/* capture: some of the packets, into a file */

#define READ_EVERY_NS (20 * RF_NS_PER_MS)
#define COMMENT_SIZE 256

struct capture {
	const struct rf_capture *asked;
	struct rf_fence fence;
	struct rf_sampled sampled;
	struct rf_slices slices;
	struct rf_sample_reader reader;
	struct capture_file to;
	uint64_t began_ns, renewed_ns, second_ns, took_ns; /* of CLOCK_MONOTONIC */
	uint64_t slice_end_ns, read_ns;
	uint64_t written, left_out;
	uint32_t this_second; /* packets that were written since second_ns */
};

/* ---- may it be? ---- */

/* A user who configured the daemon to record no addresses does not expect them in a file. */
static int check_privacy(struct rf_error *error)
{
	char told[PATH_MAX] = "prefix";
	const int found = rf_watch_setting("sources", told);

	if (found == -ENOENT || (found >= 0 && strcmp(told, "full") == 0))
		return 0;
	if (found < 0)
		return rf_error_failed(error, found,
				       "cannot read " RF_SETTINGS_FILE
				       ", which sets whether addresses are recorded: %s",
				       strerror(-found));
	return rf_error_failed(error, -EPERM,
			       "packets have addresses, and 'sources %.16s' applies here; write "
			       "'sources full' into " RF_SETTINGS_FILE " to allow captures",
			       told);
}

static int check_limit(const struct capture *capture, struct rf_error *error)
{
	struct rf_bank rules;
	int err = capture->asked->limit ? rf_fence_bank(&capture->fence, &rules, error) : 0;

	if (err || !capture->asked->limit || rf_bank_find(&rules, capture->asked->limit) >= 0)
		return err;
	return rf_fail_no_limit(&rules, capture->asked->limit, "", error);
}

/* ---- one packet ---- */

static bool is_of_limit(const char *limit, char name[RF_LIMITS_MAX][RF_NAME_SIZE], int count)
{
	for (int i = 0; i < count && limit; i++)
		if (strcmp(name[i], limit) == 0)
			return true;
	return !limit;
}

static bool is_from(const struct capture *capture, const struct rf_sample *sample)
{
	struct rf_prefix source;

	return !capture->asked->from.version ||
	       (rf_sample_source(sample, &source) &&
		rf_prefix_contains(&capture->asked->from, &source));
}

/* "dropped: over_limit, limit 'any'" */
static void comment_on(const struct rf_sample *sample, char name[RF_LIMITS_MAX][RF_NAME_SIZE],
		       int count, char comment[COMMENT_SIZE])
{
	int length = snprintf(comment, COMMENT_SIZE, "%s: %s%s", rf_reason_verdict(sample->reason),
			      rf_reason_name(sample->reason),
			      count > 1 ? ", limits"
			      : count	? ", limit"
					: "");

	for (int i = 0; i < count && length < COMMENT_SIZE; i++)
		length += snprintf(comment + length, COMMENT_SIZE - length, "%s '%s'", i ? "," : "",
				   name[i]);
}

static const char *name_of(const struct capture *capture, uint32_t index, char name[IF_NAMESIZE])
{
	for (int i = 0; i < capture->fence.interfaces; i++)
		if ((uint32_t)capture->fence.interface[i].index == index)
			return capture->fence.interface[i].name;
	if (!if_indextoname(index, name))
		snprintf(name, IF_NAMESIZE, "if%u", index);
	return name;
}

/* Limits the number of packets a second. */
static bool is_too_many(struct capture *capture, const struct rf_sample *sample)
{
	if (sample->time_ns - capture->second_ns >= RF_NS_PER_S) {
		capture->second_ns = sample->time_ns;
		capture->this_second = 0;
	}
	return capture->this_second++ >= capture->asked->most;
}

static int add(struct capture *capture, const struct rf_sample *sample, uint64_t since_1970_ns,
	       struct rf_error *error)
{
	char limit[RF_LIMITS_MAX][RF_NAME_SIZE], name[IF_NAMESIZE], comment[COMMENT_SIZE];
	const int limits = rf_sample_limits(&capture->fence, sample, limit);
	const struct rf_pcapng_packet packet = {
		.interface = sample->interface,
		.name = name_of(capture, sample->interface, name),
		.time_ns = sample->time_ns + since_1970_ns,
		.len_bytes = sample->len_bytes,
		.captured = sample->captured,
		.frame = sample->frame,
		.comment = comment,
	};

	if (!is_of_limit(capture->asked->limit, limit, limits) || !is_from(capture, sample))
		return 0;
	if (is_too_many(capture, sample)) {
		capture->left_out++;
		return 0;
	}
	comment_on(sample, limit, limits, comment);
	capture->written++;
	return capture_file_add(&capture->to, &packet, error);
}

/* ---- the loop ---- */

/* Nothing more is to be written. */
static bool is_done(const struct capture *capture)
{
	return !capture->to.has_reader ||
	       (capture->asked->count && capture->written >= capture->asked->count);
}

/* The time has expired; packets taken until now are still written. */
static bool is_over(const struct capture *capture)
{
	return rf_out_is_interrupted() ||
	       (capture->asked->time_ns &&
		rf_time_awake() - capture->began_ns >= capture->asked->time_ns);
}

static int fail_detached(const struct capture *capture, struct rf_error *error)
{
	return rf_error_failed(error, -ENODEV,
			       "fence '%s': it was detached; the packets before are written",
			       capture->fence.name);
}

/* Sampling stops unless it is renewed, or when a different capture stops. */
static int renew(struct capture *capture, struct rf_error *error)
{
	const uint64_t now = rf_time_awake();
	int attached, err;

	if (now - capture->renewed_ns < RF_SAMPLING_RENEW_NS &&
	    rf_fence_is_sampling(&capture->fence))
		return 0;
	attached = rf_fence_is_attached(&capture->fence, error);
	if (attached < 0)
		return attached;
	err = attached ? rf_fence_sample(&capture->fence, &capture->sampled, error)
		       : fail_detached(capture, error);
	if (!err)
		capture->renewed_ns = now;
	return err;
}

static int write_new(struct capture *capture, struct rf_error *error)
{
	const uint64_t since_1970_ns = rf_time_offset();
	const int count = rf_sample_reader_read(&capture->reader, &capture->fence, error);
	int err = count < 0 ? count : 0;

	for (int i = 0; i < count && !err && !is_done(capture); i++)
		err = add(capture, &capture->reader.sample[i], since_1970_ns, error);
	return err || count <= 0 ? err : capture_file_flush(&capture->to, error);
}

static int go_on(struct capture *capture, struct rf_error *error)
{
	const int err = renew(capture, error);

	if (!err)
		rf_fence_next_slice(&capture->fence, &capture->sampled, &capture->slices);
	return err;
}

/* If it is late, the next slice starts immediately. */
static void wait_for_end_of_slice(struct capture *capture)
{
	const uint64_t now = rf_time_awake();
	struct timespec pause = {};

	capture->slice_end_ns += capture->sampled.slices ? RF_SLICE_NS : READ_EVERY_NS;
	if (capture->slice_end_ns <= now) {
		capture->slice_end_ns = now;
		return;
	}
	pause.tv_nsec = capture->slice_end_ns - now;
	nanosleep(&pause, NULL);
}

/* After a slice with sampling, and soon after a slice of another capture of the same packets. */
static bool must_read(struct capture *capture, bool was_on)
{
	const uint64_t now = rf_time_awake();

	if (!was_on && now - capture->read_ns < READ_EVERY_NS)
		return false;
	capture->read_ns = now;
	return true;
}

static int run(struct capture *capture, struct rf_error *error)
{
	struct rf_error unwritten;
	bool over = false, was_on;
	int err = go_on(capture, error), written;

	/*
	 * Sampling starts only now: a reader that waits for the header of the file then misses no
	 * packet.
	 */
	if (!err)
		err = capture_file_flush(&capture->to, error);
	capture->slice_end_ns = rf_time_awake();
	while (!err && !over && !is_done(capture)) {
		was_on = capture->slices.is_on;
		wait_for_end_of_slice(capture);
		over = is_over(capture);
		/* First, as no slice may last as long as writing takes. */
		err = over ? 0 : go_on(capture, error);
		written = 0;
		if (must_read(capture, was_on || over || err))
			written = write_new(capture, err ? &unwritten : error);
		err = err ? err : written;
	}
	return err;
}

/* ---- the command ---- */

static int open_all(struct capture *capture, const char *dev, struct rf_error *error)
{
	int err = check_privacy(error);

	if (!err)
		err = rf_fence_open(&capture->fence, dev, error);
	if (!err)
		err = rf_fence_check_may_change(&capture->fence, dev, error);
	if (!err)
		err = check_limit(capture, error);
	if (!err)
		err = rf_sample_reader_open(&capture->reader, &capture->fence, error);
	if (!err)
		err = capture_file_open(&capture->to, capture->asked->path, error);
	for (int i = 0; i < capture->fence.interfaces && !err; i++)
		err = capture_file_interface(&capture->to, capture->fence.interface[i].index,
					     capture->fence.interface[i].name, error);
	return err;
}

static const struct rf_field capture_fields[] = {
	RF_FIELD("fence", struct capture, fence.name, "its name"),
	RF_FIELD("file", struct capture, to.path, "where the packets are"),
	RF_FIELD("written", struct capture, written, "packets"),
	RF_FIELD("omitted", struct capture, left_out, "packets above the maximum per second"),
	RF_FIELD("lost", struct capture, reader.missed,
		 "samples overwritten before they were read"),
	RF_FIELD("one_in", struct capture, sampled.one_in, "one of this many packets was taken"),
	RF_FIELD_IN_SECONDS("seconds", struct capture, took_ns, "how long it took"),
	{},
};

RF_RECORD(capture, capture_fields);

/* To stderr where standard output has the packets. */
static void summary_text(const struct capture *capture)
{
	const bool has_file = strcmp(capture->asked->path, "-") != 0;
	char text[256], left_out[96] = "", missed[64] = "";

	if (capture->left_out)
		snprintf(left_out, sizeof(left_out), ", %" PRIu64 " beyond %u/s left out",
			 capture->left_out, capture->asked->most);
	if (capture->reader.missed)
		snprintf(missed, sizeof(missed), ", %" PRIu64 " missed", capture->reader.missed);
	snprintf(text, sizeof(text), "%" PRIu64 " packets written, one of every %u%s%s",
		 capture->written, capture->sampled.one_in, left_out, missed);
	if (has_file)
		rf_out_text("%s\n", text);
	else
		rf_out_note(text);
}

static int take(struct capture *capture, const struct rf_options *options, struct rf_error *error)
{
	int err;

	rf_out_until_interrupt(true);
	signal(SIGPIPE, SIG_IGN);
	capture->began_ns = rf_time_awake();
	if (isatty(STDERR_FILENO) && !capture->asked->count && !capture->asked->time_ns)
		rf_out_note("capturing; Ctrl-C stops it");
	err = run(capture, error);
	if (capture->renewed_ns && !capture->fence.read_only)
		rf_fence_stop_sampling(&capture->fence);
	if (err)
		return err;
	capture->took_ns = rf_time_awake() - capture->began_ns;
	if (options->json)
		return rf_out_record(capture_fields, capture, error);
	summary_text(capture);
	return 0;
}

int rf_cmd_capture(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	struct rf_capture asked;
	struct capture capture = {.asked = &asked, .fence = RF_FENCE_NONE};
	int err = rf_parse_arguments(RF_CMD_CAPTURE, words, &asked, error);

	if (!err && options->json && strcmp(asked.path, "-") == 0)
		err = rf_error_usage(error, "'write -' and --json both use standard output; name a "
					    "file");
	if (err)
		return err;
	capture.sampled = (struct rf_sampled){
		.one_in = asked.one_in,
		.verdicts = (asked.dropped ? RF_SAMPLE_DROPPED : 0) |
			    (asked.passed ? RF_SAMPLE_PASSED : 0),
		.reasons = asked.reasons,
		.slices = asked.one_in < RF_SLICED_FROM ? 0 : RF_SLICES,
	};
	err = open_all(&capture, options->dev, error);
	if (!err)
		err = take(&capture, options, error);
	capture_file_close(&capture.to, !err || capture.written);
	rf_sample_reader_close(&capture.reader);
	rf_fence_close(&capture.fence);
	return err;
}
