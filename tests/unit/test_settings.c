// SPDX-License-Identifier: GPL-2.0
/* The settings of the daemon: words to values, and the messages for errors. */
#include "unit.h"

#include <errno.h>

#include "daemon/settings.h"

#define HOUR (3600 * SECOND)
#define WORDS_MAX 64

/* Splits a line in place, and takes its words as a command line. */
static int take(struct rf_settings *settings, const char *line, struct rf_error *error)
{
	static char text[256];
	static const char *array[WORDS_MAX];
	struct rf_words words;

	strcpy(text, line);
	assert_int_equal(rf_split_line(text, array, WORDS_MAX, &words, error), 0);
	rf_settings_default(settings);
	return rf_settings_words(settings, &words, error);
}

static struct rf_settings taken(const char *line)
{
	struct rf_settings settings;
	struct rf_error error = {};

	if (take(&settings, line, &error))
		fail_msg("'%s': %s", line, error.text);
	return settings;
}

static void embedded_settings(void **state)
{
	const struct rf_settings settings = taken("");
	char listen[RF_LISTEN_TEXT_SIZE];
	struct rf_error error;

	(void)state;
	rf_format_listen(&settings.listen, listen);
	assert_string_equal(listen, "127.0.0.1:9436");
	assert_int_equal(settings.interval_ns, SECOND);
	assert_int_equal(settings.sources, 1);
	assert_int_equal(settings.keep_ns, 30 * 24 * HOUR);
	assert_int_equal(settings.most_bytes, 256 << 20);
	assert_string_equal(settings.history, "/var/lib/ringfence");
	assert_string_equal(settings.socket, "");
	assert_int_equal(settings.given, 0);
	assert_int_equal(rf_settings_check(&settings, &error), 0);
}

static void words_become_values(void **state)
{
	const struct rf_settings settings =
		taken("interval 2500ms sources full listen [::1]:80 socket /run/w.sock host "
		      "a.example,[::1]:8080,b:99 token file /t history off keep 48h at most 1G "
		      "events file off journal off exec /bin/notify");
	char listen[RF_LISTEN_TEXT_SIZE];

	(void)state;
	rf_format_listen(&settings.listen, listen);
	assert_string_equal(listen, "[::1]:80");
	assert_int_equal(settings.interval_ns, 2500 * MS);
	assert_int_equal(settings.sources, 2);
	assert_string_equal(settings.socket, "/run/w.sock");
	assert_int_equal(settings.hosts, 3);
	assert_string_equal(settings.host[1], "[::1]:8080");
	assert_string_equal(settings.token_file, "/t");
	assert_string_equal(settings.history, "");
	assert_int_equal(settings.keep_ns, 48 * HOUR);
	assert_int_equal(settings.most_bytes, 1 << 30);
	assert_string_equal(settings.events_file, "");
	assert_false(settings.journal);
	assert_string_equal(settings.exec, "/bin/notify");
	assert_int_equal(settings.given, (1U << RF_SETTINGS) - 1);
}

struct refusal {
	const char *line, *sentence;
};

static void refuse(void **state)
{
	const struct refusal *row = *state;
	struct rf_settings settings;
	struct rf_error error = {};
	int err = take(&settings, row->line, &error);

	if (!err)
		err = rf_settings_check(&settings, &error);
	assert_int_equal(err, -EINVAL);
	assert_true(error.usage);
	assert_string_equal(error.text, row->sentence);
}

#define REFUSES(title, line, sentence) \
	UNIT_ROW_OF("refuses " title, refuse, (&(struct refusal){line, sentence}))
#define EXPECTS_LISTEN "'listen' expects ADDRESS:PORT, like 127.0.0.1:9436 or [::1]:9436, or off"
#define NO_TOKEN "not a loopback address, so requests must show a token; add 'token file PATH'"

/* A file with each kind of line, and two errors among correct lines. */
static void a_file_has_all_mistakes_with_their_lines(void **state)
{
	char text[] = "# watch\n\nsources none # of nobody\nintervall 2s\nkeep 7d\n"
		      "keep 8d\njournal off now\n";
	struct rf_mistakes mistakes = {};
	struct rf_settings settings;
	struct rf_error error = {};

	(void)state;
	rf_settings_default(&settings);
	assert_int_equal(rf_settings_text(&settings, text, &mistakes, &error), 0);
	assert_int_equal(mistakes.count, 3);
	assert_int_equal(mistakes.mistake[0].line, 4);
	assert_string_equal(mistakes.mistake[0].text,
			    "'intervall': unknown setting; did you mean 'interval'?");
	assert_int_equal(mistakes.mistake[1].line, 6);
	assert_string_equal(mistakes.mistake[1].text, "'keep': given twice, first in line 5");
	assert_int_equal(mistakes.mistake[2].line, 7);
	assert_string_equal(mistakes.mistake[2].text, "'now': unexpected word");
	rf_mistakes_free(&mistakes);
	assert_int_equal(settings.sources, 0);
}

static void a_file_that_contradicts_itself_names_the_line(void **state)
{
	char text[] = "journal off\nlisten 0.0.0.0:9436\n";
	struct rf_mistakes mistakes = {};
	struct rf_settings settings;
	struct rf_error error = {};

	(void)state;
	rf_settings_default(&settings);
	assert_int_equal(rf_settings_text(&settings, text, &mistakes, &error), 0);
	assert_int_equal(mistakes.count, 1);
	assert_int_equal(mistakes.mistake[0].line, 2);
	assert_string_equal(mistakes.mistake[0].text, "'listen 0.0.0.0:9436': " NO_TOKEN);
	rf_mistakes_free(&mistakes);
}

static void a_renamed_setting_is_refused(void **state)
{
	static const struct rf_setting_row row[] = {{.word = "initial"}};
	static const struct rf_setting_table table = {row, 1, "test"};
	static const char *const word[] = {"first", "5"};
	struct rf_words words = {.word = word, .count = 2};
	struct rf_error error = {};

	(void)state;
	assert_int_equal(rf_setting_take(&table, &words, NULL, &error), -EINVAL);
	assert_string_equal(error.text, "'first': this setting is now 'initial'");
}

static const struct CMUnitTest tests[] = {
	UNIT_ROW("has embedded settings that contradict nothing", embedded_settings),
	UNIT_ROW("takes each setting", words_become_values),
	UNIT_ROW("names the new word of a renamed setting", a_renamed_setting_is_refused),
	UNIT_ROW("notes all mistakes of a file", a_file_has_all_mistakes_with_their_lines),
	UNIT_ROW("names the line of a contradiction",
		 a_file_that_contradicts_itself_names_the_line),
	REFUSES("a word that is none", "ports 80",
		"'ports': unknown setting; 'ringfence-watch help' lists the settings"),
	REFUSES("a word that is nearly one", "exce /x",
		"'exce': unknown setting; did you mean 'exec'?"),
	REFUSES("half of two words", "token /t",
		"'token': unknown setting; did you mean 'token file'?"),
	REFUSES("a setting without its value", "at most", "'at most': expects SIZE"),
	REFUSES("a setting given twice", "keep 2d keep 3d", "'keep': given twice"),
	REFUSES("an interval under a second", "interval 999ms",
		"'999ms': 'interval' expects a time from 1s to 60s, like 1s"),
	REFUSES("a word of sources that is nearly one", "sources prefx",
		"'prefx': 'sources' expects none, prefix or full; did you mean 'prefix'?"),
	REFUSES("a word that is neither on nor off", "journal yes",
		"'yes': 'journal' expects off or on"),
	REFUSES("a port alone", "listen 9436", "'9436': " EXPECTS_LISTEN),
	REFUSES("a port of 0", "listen 127.0.0.1:0", "'127.0.0.1:0': " EXPECTS_LISTEN),
	REFUSES("a port of six digits", "listen 127.0.0.1:655350",
		"'127.0.0.1:655350': " EXPECTS_LISTEN),
	REFUSES("a name to listen on", "listen localhost:80", "'localhost:80': " EXPECTS_LISTEN),
	REFUSES("IPv6 without brackets", "listen ::1:80", "'::1:80': " EXPECTS_LISTEN),
	REFUSES("IPv4 in brackets", "listen [127.0.0.1]:80", "'[127.0.0.1]:80': " EXPECTS_LISTEN),
	REFUSES("an open address without a token", "listen 192.0.2.1:80",
		"'listen 192.0.2.1:80': " NO_TOKEN),
	REFUSES("an open address of IPv6 without a token", "listen [::]:80",
		"'listen [::]:80': " NO_TOKEN),
	REFUSES("a relative path", "history here",
		"'here': 'history' expects an absolute path, or off"),
	REFUSES("an empty name of a host", "host a,,b",
		"'a,,b': 'host' expects NAME[,NAME…], each with ':PORT' or without, like "
		"grafana.example"),
	REFUSES("a host with a path", "host a/b",
		"'a/b': 'host' expects NAME[,NAME…], each with ':PORT' or without, like "
		"grafana.example"),
	REFUSES("a history of half an hour", "keep 30m",
		"'30m': 'keep' expects a time from 1h to 3660d, like 30d"),
	REFUSES("a history of 15 MiB", "at most 15M",
		"'15M': 'at most' expects a size from 16M to 1T, like 256M"),
	REFUSES("a size that overflows", "at most 99999999999T",
		"'99999999999T': 'at most' expects a size from 16M to 1T, like 256M"),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
