// SPDX-License-Identifier: GPL-2.0
/* Where events go: a file that is rotated, the journal's protocol, and a program. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "unit.h"

#include "daemon/sinks.h"

struct place {
	char directory[64], path[128], other[128];
};

static int set_up(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	strcpy(place->directory, "/tmp/rf-sinks-XXXXXX");
	assert_non_null(mkdtemp(place->directory));
	snprintf(place->path, sizeof(place->path), "%s/events", place->directory);
	snprintf(place->other, sizeof(place->other), "%s/other", place->directory);
	*state = place;
	return 0;
}

static int tear_down(void **state)
{
	struct place *place = *state;
	char command[128];

	snprintf(command, sizeof(command), "rm -r '%s'", place->directory);
	assert_int_equal(system(command), 0);
	free(place);
	return 0;
}

static void read_all(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "r");
	size_t got = file ? fread(text, 1, size - 1, file) : 0;

	text[got] = '\0';
	if (file)
		fclose(file);
}

/* ---- the file ---- */

static struct rf_sink_file file_at(const struct place *place, uint64_t most)
{
	struct rf_sink_file file = RF_SINK_FILE_NONE;

	strcpy(file.path, place->path);
	file.most = most;
	return file;
}

static void put(struct rf_sink_file *file, const char *line)
{
	struct rf_error error = {};

	if (rf_sink_file_write(file, line, &error))
		fail_msg("%s", error.text);
}

static void a_file_has_each_line_and_is_for_its_group(void **state)
{
	struct place *place = *state;
	struct rf_sink_file file = file_at(place, 1000);
	struct stat status;
	char text[256];

	umask(0);
	put(&file, "one\n");
	rf_sink_file_close(&file);
	put(&file, "two\n");
	read_all(place->path, text, sizeof(text));
	assert_string_equal(text, "one\ntwo\n");
	assert_int_equal(stat(place->path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0640);
	rf_sink_file_close(&file);
}

static void write_private(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fchmod(fileno(file), 0600), 0);
	fclose(file);
}

static void is_untouched(const char *path, const char *expected)
{
	struct stat status;
	char text[64];

	read_all(path, text, sizeof(text));
	assert_string_equal(text, expected);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0600);
	assert_int_equal(status.st_gid, getegid());
}

/* `other` is private; its directory belongs to a group without read permission. */
static void refuses_the_file(const struct place *place, const char *why)
{
	struct rf_sink_file file = file_at(place, 1000);
	struct rf_error error = {};

	rf_sink_file_open(&file);
	assert_int_equal(file.fd, -1);
	assert_true(rf_sink_file_write(&file, "event\n", &error) < 0);
	if (!strstr(error.text, why))
		fail_msg("'%s' does not have '%s'", error.text, why);
	assert_int_equal(file.fd, -1);
	is_untouched(place->other, "secret");
}

static void a_link_leads_to_no_other_file(void **state)
{
	struct place *place = *state;

	if (!geteuid())
		assert_int_equal(chown(place->directory, -1, 12), 0);
	write_private(place->other, "secret");
	assert_int_equal(symlink(place->other, place->path), 0);
	refuses_the_file(place, "it is a symbolic link");
	assert_int_equal(unlink(place->path), 0);
	assert_int_equal(link(place->other, place->path), 0);
	refuses_the_file(place, "it is a hard link");
	assert_int_equal(unlink(place->path), 0);
	assert_int_equal(symlink("nowhere", place->path), 0);
	refuses_the_file(place, "it is a symbolic link");
}

static void a_file_of_others_stays_as_it_is(void **state)
{
	struct place *place = *state;
	struct rf_sink_file file = file_at(place, 1000);
	struct rf_error error = {};

	write_private(place->path, "one\n");
	if (!geteuid())
		assert_int_equal(chown(place->directory, -1, 12), 0);
	put(&file, "two\n");
	rf_sink_file_close(&file);
	is_untouched(place->path, "one\ntwo\n");
	if (geteuid())
		return;
	assert_int_equal(chown(place->path, 12, -1), 0);
	assert_true(rf_sink_file_write(&file, "three\n", &error) < 0);
	assert_non_null(strstr(error.text, "belongs to another user"));
	is_untouched(place->path, "one\ntwo\n");
}

static void a_file_is_rotated(void **state)
{
	struct place *place = *state;
	struct rf_sink_file file = file_at(place, 20);
	char line[24], path[160], text[256];

	for (int i = 0; i < 60; i++) {
		snprintf(line, sizeof(line), "line %d\n", i + 10);
		put(&file, line);
	}
	rf_sink_file_close(&file);
	read_all(place->path, text, sizeof(text));
	assert_string_equal(text, "line 68\nline 69\n");
	snprintf(path, sizeof(path), "%s.3", place->path);
	read_all(path, text, sizeof(text));
	assert_string_equal(text, "line 62\nline 63\n");
	snprintf(path, sizeof(path), "%s.4", place->path);
	assert_int_not_equal(access(path, F_OK), 0);
}

static void a_file_that_was_moved_is_made_anew(void **state)
{
	struct place *place = *state;
	struct rf_sink_file file = file_at(place, 1000);
	char text[64];

	put(&file, "one\n");
	assert_int_equal(rename(place->path, place->other), 0);
	put(&file, "two\n");
	read_all(place->path, text, sizeof(text));
	assert_string_equal(text, "two\n");
	rf_sink_file_close(&file);
}

static void a_line_that_was_cut_is_ended(void **state)
{
	struct place *place = *state;
	struct rf_sink_file file = file_at(place, 1000);
	int fd = open(place->path, O_WRONLY | O_CREAT, 0600);
	char text[64];

	assert_int_equal(write(fd, "{\"cut", 5), 5);
	close(fd);
	put(&file, "two\n");
	read_all(place->path, text, sizeof(text));
	assert_string_equal(text, "{\"cut\ntwo\n");
	rf_sink_file_close(&file);
}

static void a_pipe_is_no_file(void **state)
{
	struct place *place = *state;
	struct rf_sink_file file = file_at(place, 1000);
	struct rf_error error = {};

	assert_int_equal(mkfifo(place->path, 0600), 0);
	assert_true(rf_sink_file_write(&file, "one\n", &error) < 0);
	assert_non_null(strstr(error.text, "it is no regular file"));
}

/* ---- the journal ---- */

static int listen_at(const char *path, int type)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, type | SOCK_NONBLOCK, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	if (type == SOCK_STREAM)
		assert_int_equal(listen(fd, 8), 0);
	return fd;
}

static struct rf_event made(void)
{
	struct rf_event event = {
		.seq = 4711,
		.time_ns = 1700000000 * SECOND,
		.type = RF_EVENT_SOURCE_LIMITED,
		.id = "eth0-6561f-17",
		.fence = "eth0",
		.limit = "any",
		.has_source = true,
		.reason = "over_limit",
		.rate = "20k/1s",
		.dropped = 5120,
		.passed = 20000,
		.first_seen_ns = 1700000000 * SECOND,
	};
	struct rf_error unused;

	rf_parse_prefix("192.0.2.66", &event.source, &unused);
	return event;
}

static void the_journal_gets_fields(void **state)
{
	static const char *const fields[] = {
		"MESSAGE=fence 'eth0': source_limited 192.0.2.66, limit any 20k/1s, 5120 packets "
		"dropped: two?lines\n",
		"\nPRIORITY=5\n",
		"\nSYSLOG_IDENTIFIER=ringfence-watch\n",
		"\nRINGFENCE_EVENT=source_limited\n",
		"\nRINGFENCE_SEQ=4711\n",
		"\nRINGFENCE_ID=eth0-6561f-17\n",
		"\nRINGFENCE_FENCE=eth0\n",
		"\nRINGFENCE_LIMIT=any\n",
		"\nRINGFENCE_SOURCE=192.0.2.66\n",
		"\nRINGFENCE_REASON=over_limit\n",
		"\nRINGFENCE_RATE=20k/1s\n",
		"\nRINGFENCE_DROPPED=5120\n",
		"\nRINGFENCE_PASSED=20000\n",
		"\nRINGFENCE_FIRST_SEEN=2023-11-14T22:13:20.000Z\n",
		"\nRINGFENCE_DETAIL=two?lines\n",
	};
	struct place *place = *state;
	struct rf_event event = made();
	struct rf_error error = {};
	char text[4096], id[64];
	int fd = listen_at(place->path, SOCK_DGRAM);
	ssize_t got;

	strcpy(event.detail, "two\nlines");
	assert_int_equal(rf_sink_journal_write(place->path, &event, &error), 0);
	got = recv(fd, text, sizeof(text) - 1, 0);
	assert_true(got > 0);
	text[got] = '\0';
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(fields); i++)
		if (!strstr(text, fields[i]))
			fail_msg("%s is not in\n%s", fields[i], text);
	snprintf(id, sizeof(id), "\nMESSAGE_ID=%s\n", rf_event_rows[event.type].message_id);
	assert_non_null(strstr(text, id));
	close(fd);
}

static void each_type_has_its_own_id(void **state)
{
	(void)state;
	for (int i = 0; i < RF_EVENT_TYPES; i++) {
		assert_int_equal(strspn(rf_event_rows[i].message_id, "0123456789abcdef"), 32);
		for (int j = 0; j < i; j++)
			assert_string_not_equal(rf_event_rows[i].message_id,
						rf_event_rows[j].message_id);
	}
}

static void a_journal_that_does_not_read_holds_up_nobody(void **state)
{
	struct place *place = *state;
	const struct rf_event event = made();
	struct rf_error error = {};
	int fd, err = 0;

	assert_int_equal(rf_sink_journal_write(place->path, &event, &error), -ENOENT);
	fd = listen_at(place->path, SOCK_DGRAM);
	for (int i = 0; i < 100000 && !err; i++)
		err = rf_sink_journal_write(place->path, &event, &error);
	assert_int_equal(err, -EAGAIN);
	close(fd);
}

/* ---- the program ---- */

static void write_program(const struct place *place, const char *text)
{
	FILE *file = fopen(place->path, "w");

	assert_non_null(file);
	fprintf(file, "#!/bin/sh\ncd %s || exit\n%s\n", place->directory, text);
	fclose(file);
	assert_int_equal(chmod(place->path, 0700), 0);
}

static struct rf_sink_exec exec_at(const struct place *place)
{
	struct rf_sink_exec exec = RF_SINK_EXEC_NONE;

	exec.program = place->path;
	exec.socket = place->other;
	return exec;
}

static bool is_idle(const struct rf_sink_exec *exec)
{
	return !exec->count && !exec->pid && exec->fd < 0;
}

/* Until nothing runs; the last error, if there was one. */
static int finish(struct rf_sink_exec *exec, struct rf_error *error)
{
	int err = 0;

	for (int i = 0; i < 1000; i++) {
		const int now = rf_sink_exec_turn(exec, error);

		err = now ? now : err;
		if (is_idle(exec))
			return err;
		poll(NULL, 0, 10);
	}
	fail_msg("the program does not end");
	return 0;
}

static void a_program_gets_each_event_one_at_a_time(void **state)
{
	struct place *place = *state;
	struct rf_sink_exec exec = exec_at(place);
	struct rf_error error = {};
	char text[256];

	write_program(place, "mkdir busy || echo two at a time >>out\n"
			     "sed s/^/got:/ >>out; rmdir busy");
	rf_sink_exec_put(&exec, "one\n");
	rf_sink_exec_put(&exec, "two\n");
	rf_sink_exec_put(&exec, "three\n");
	assert_int_equal(finish(&exec, &error), 0);
	snprintf(text, sizeof(text), "%s/out", place->directory);
	read_all(text, text, sizeof(text));
	assert_string_equal(text, "got:one\ngot:two\ngot:three\n");
}

static void a_program_that_fails_is_said(void **state)
{
	struct place *place = *state;
	struct rf_sink_exec exec = exec_at(place);
	struct rf_error error = {};

	write_program(place, "exit 3");
	rf_sink_exec_put(&exec, "one\n");
	assert_true(finish(&exec, &error) < 0);
	assert_non_null(strstr(error.text, "ended with status 3"));
	unlink(place->path);
	rf_sink_exec_put(&exec, "one\n");
	assert_true(finish(&exec, &error) < 0);
	assert_non_null(strstr(error.text, "status 127"));
}

static void a_program_that_is_late_is_ended(void **state)
{
	struct place *place = *state;
	struct rf_sink_exec exec = exec_at(place);
	struct rf_error error = {};

	write_program(place, "sleep 100");
	rf_sink_exec_put(&exec, "one\n");
	for (int i = 0; i < RF_EXEC_QUEUE + 10; i++)
		rf_sink_exec_put(&exec, "another\n");
	assert_int_equal(exec.dropped, 11);
	assert_int_equal(rf_sink_exec_turn(&exec, &error), 0);
	assert_int_equal(rf_sink_exec_turn(&exec, &error), 0);
	assert_int_equal(exec.count, RF_EXEC_QUEUE - 1);
	exec.started_ns -= RF_EXEC_SECONDS * SECOND;
	assert_int_equal(rf_sink_exec_turn(&exec, &error), -ETIMEDOUT);
	assert_int_equal(exec.pid, 0);
	rf_sink_exec_close(&exec);
}

static void a_program_that_reads_nothing_is_said(void **state)
{
	struct place *place = *state;
	struct rf_sink_exec exec = exec_at(place);
	struct rf_error error = {};
	int listening;

	exec.program = RF_EXEC_UNIT;
	rf_sink_exec_put(&exec, "one\n");
	assert_int_equal(finish(&exec, &error), -ENOENT);
	assert_non_null(strstr(error.text, "'systemctl enable --now ringfence-notify.socket'"));
	listening = listen_at(place->other, SOCK_STREAM);
	rf_sink_exec_put(&exec, "two\n");
	assert_int_equal(rf_sink_exec_turn(&exec, &error), 0);
	close(accept(listening, NULL, NULL)); /* as systemd does, where the program is missing */
	assert_int_equal(finish(&exec, &error), -ECONNRESET);
	assert_non_null(strstr(error.text, "no program behind"));
	close(listening);
}

static void a_unit_gets_events_by_its_socket(void **state)
{
	struct place *place = *state;
	struct rf_sink_exec exec = exec_at(place);
	struct rf_error error = {};
	int listening = listen_at(place->other, SOCK_STREAM), fd;
	char text[64] = "";

	exec.program = RF_EXEC_UNIT;
	rf_sink_exec_put(&exec, "one\n");
	rf_sink_exec_put(&exec, "two\n");
	assert_int_equal(rf_sink_exec_turn(&exec, &error), 0);
	fd = accept(listening, NULL, NULL);
	assert_int_equal(read(fd, text, sizeof(text)), 4);
	assert_int_equal(read(fd, text, sizeof(text)), 0);
	assert_string_equal(text, "one\n");
	assert_int_equal(rf_sink_exec_turn(&exec, &error), 0);
	assert_int_equal(exec.count, 1); /* as long as the first one runs */
	close(fd);
	assert_int_equal(rf_sink_exec_turn(&exec, &error), 0);
	fd = accept(listening, NULL, NULL);
	assert_int_equal(read(fd, text, sizeof(text)), 4);
	exec.started_ns -= RF_EXEC_SECONDS * SECOND;
	assert_int_equal(rf_sink_exec_turn(&exec, &error), -ETIMEDOUT);
	assert_true(is_idle(&exec));
	close(fd);
	close(listening);
}

#define ROW(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROW(a_file_has_each_line_and_is_for_its_group),
		ROW(a_link_leads_to_no_other_file),
		ROW(a_file_of_others_stays_as_it_is),
		ROW(a_file_is_rotated),
		ROW(a_file_that_was_moved_is_made_anew),
		ROW(a_line_that_was_cut_is_ended),
		ROW(a_pipe_is_no_file),
		ROW(the_journal_gets_fields),
		ROW(each_type_has_its_own_id),
		ROW(a_journal_that_does_not_read_holds_up_nobody),
		ROW(a_program_gets_each_event_one_at_a_time),
		ROW(a_program_that_fails_is_said),
		ROW(a_program_that_is_late_is_ended),
		ROW(a_program_that_reads_nothing_is_said),
		ROW(a_unit_gets_events_by_its_socket),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
