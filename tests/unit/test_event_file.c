// SPDX-License-Identifier: GPL-2.0
/* The file of events as its readers see it: appended, rotated, removed, truncated or damaged. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

#include "daemon/sinks.h"

struct place {
	char directory[64], path[128];
	struct rf_event_file *file;
	char seen[4096]; /* the numbers of the events */
};

static int set_up(void **state)
{
	struct place *place = calloc(1, sizeof(*place));
	struct rf_error error;

	strcpy(place->directory, "/tmp/rf-events-XXXXXX");
	assert_non_null(mkdtemp(place->directory));
	snprintf(place->path, sizeof(place->path), "%s/events", place->directory);
	assert_int_equal(rf_event_file_open(&place->file, place->path, &error), 0);
	*state = place;
	return 0;
}

static int tear_down(void **state)
{
	struct place *place = *state;
	char command[128];

	rf_event_file_close(place->file);
	snprintf(command, sizeof(command), "rm -r '%s'", place->directory);
	assert_int_equal(system(command), 0);
	free(place);
	return 0;
}

static void append(const struct place *place, const char *text)
{
	FILE *file = fopen(place->path, "a");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static void put(const struct place *place, int seq)
{
	char line[256];

	snprintf(line, sizeof(line),
		 "{\"seq\":%d,\"time\":\"2026-11-22T14:01:38.204Z\",\"type\":\"source_limited\","
		 "\"fence\":\"eth0\",\"source\":\"192.0.2.66/32\",\"dropped\":5}\n",
		 seq);
	append(place, line);
}

static void rotate(const struct place *place)
{
	char from[160], to[160];

	for (int i = RF_EVENT_FILES - 1; i > 0; i--) {
		snprintf(from, sizeof(from), i > 1 ? "%s.%d" : "%s", place->path, i - 1);
		snprintf(to, sizeof(to), "%s.%d", place->path, i);
		rename(from, to);
	}
}

static int see(void *context, const char *fence, const struct rf_recorded_event *event)
{
	struct place *place = context;
	const size_t length = strlen(place->seen);

	assert_string_equal(fence, "eth0");
	assert_string_equal(event->type, "source_limited");
	assert_string_equal(event->source, "192.0.2.66");
	assert_int_equal(event->dropped, 5);
	assert_int_equal(event->time_ns, 1795356098204 * (SECOND / 1000));
	snprintf(place->seen + length, sizeof(place->seen) - length, "%d ", (int)event->seq);
	return 0;
}

static const char *read_now(struct place *place)
{
	struct rf_error error = {};

	*place->seen = '\0';
	if (rf_event_file_read(place->file, see, place, &error))
		fail_msg("%s", error.text);
	return place->seen;
}

static void assert_last(const struct place *place, const char *fence, uint64_t number)
{
	assert_int_equal(rf_event_file_last(place->path, fence), number);
}

static void the_last_number_is_found(void **state)
{
	struct place *place = *state;

	assert_last(place, "eth0", 0);
	put(place, 4);
	put(place, 17);
	assert_last(place, "eth0", 17);
	append(place, "{\"seq\":90,\"fence\":\"eth1\"}\n{\"seq\":91,\"fence\":\"eth0 \"}\n");
	append(place, "\neth0 is no event\n{\"seq\":-5,\"fence\":\"eth0\"}\n"
		      "{\"seq\":9007199254740992,\"fence\":\"eth0\"}\n{\"seq\":99,\"fence\":\"et");
	assert_last(place, "eth0", 17);
	assert_last(place, "eth1", 90);
	assert_last(place, "eth0 ", 91);
	assert_last(place, "eth", 0);
	rotate(place);
	put(place, 20);
	assert_last(place, "eth0", 20);
	assert_last(place, "eth1", 90);
}

static void what_is_added_is_read_once(void **state)
{
	struct place *place = *state;

	assert_string_equal(read_now(place), "");
	put(place, 1);
	put(place, 2);
	assert_string_equal(read_now(place), "1 2 ");
	assert_string_equal(read_now(place), "");
	put(place, 3);
	assert_string_equal(read_now(place), "3 ");
}

static void it_begins_with_the_oldest_file(void **state)
{
	struct place *place = *state;

	for (int i = 1; i <= 4; i++) {
		rotate(place);
		put(place, i);
	}
	assert_string_equal(read_now(place), "1 2 3 4 ");
}

static void a_rotation_loses_nothing(void **state)
{
	struct place *place = *state;

	put(place, 1);
	assert_string_equal(read_now(place), "1 ");
	put(place, 2);
	rotate(place);
	put(place, 3);
	assert_string_equal(read_now(place), "2 3 ");
	for (int i = 4; i <= 5; i++) {
		rotate(place);
		put(place, i);
	}
	assert_string_equal(read_now(place), "4 5 ");
	rotate(place);
	assert_string_equal(read_now(place), "");
	put(place, 6);
	assert_string_equal(read_now(place), "6 ");
}

static void a_file_that_is_removed_or_emptied_begins_anew(void **state)
{
	struct place *place = *state;

	put(place, 1);
	rotate(place);
	put(place, 2);
	assert_string_equal(read_now(place), "1 2 ");
	unlink(place->path);
	assert_string_equal(read_now(place), "");
	usleep(20000); /* times of files have the steps of the kernel's clock */
	put(place, 3);
	assert_string_equal(read_now(place), "3 ");
	assert_int_equal(truncate(place->path, 0), 0);
	assert_string_equal(read_now(place), "");
	put(place, 4);
	assert_string_equal(read_now(place), "4 ");
}

static void a_line_is_read_when_it_is_whole(void **state)
{
	struct place *place = *state;
	char *much = malloc(200000);

	append(place, "{\"seq\":1,\"time\":\"2026-11-22T14:01:38.204Z\",\"type\":");
	assert_string_equal(read_now(place), "");
	append(place, "\"source_limited\",\"fence\":\"eth0\",\"source\":\"192.0.2.66/32\","
		      "\"dropped\":5}\n");
	assert_string_equal(read_now(place), "1 ");
	append(place, "{\"no\": \"event\"}\n\n\xff\xfe{[\n");
	memset(much, '[', 199999);
	much[199999] = '\0';
	append(place, much);
	append(place, "\n");
	put(place, 2);
	assert_string_equal(read_now(place), "2 ");
	assert_int_equal(rf_event_file_strange(place->file), 3);
	free(much);
}

static void what_is_no_file_is_an_error(void **state)
{
	struct place *place = *state;
	struct rf_error error = {};

	assert_int_equal(mkfifo(place->path, 0600), 0);
	assert_true(rf_event_file_read(place->file, see, place, &error) < 0);
	assert_non_null(strstr(error.text, "it is no regular file"));
}

static void it_is_known_whether_a_daemon_writes_it(void **state)
{
	struct place *place = *state;
	struct rf_sink_file sink = RF_SINK_FILE_NONE;

	strcpy(sink.path, place->path);
	assert_false(rf_event_file_is_written(place->path));
	rf_sink_file_open(&sink);
	assert_true(rf_event_file_is_written(place->path));
	rf_sink_file_close(&sink);
	assert_false(rf_event_file_is_written(place->path));
}

#define ROW(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROW(the_last_number_is_found),
		ROW(what_is_added_is_read_once),
		ROW(it_begins_with_the_oldest_file),
		ROW(a_rotation_loses_nothing),
		ROW(a_file_that_is_removed_or_emptied_begins_anew),
		ROW(a_line_is_read_when_it_is_whole),
		ROW(what_is_no_file_is_an_error),
		ROW(it_is_known_whether_a_daemon_writes_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
