// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/prefix.h"
#include "base/say.h"
#include "base/units.h"
#include "daemon/settings.h"
#include "daemon/sinks.h"

#define WORDS_MAX 64 /* in a line */

/* ---- values ---- */

static int rf_setting_sources(const struct rf_setting_row *row, const char *value, void *into,
			      struct rf_error *error)
{
	static const char *const words[] = RF_TOLD_WORDS;
	struct rf_settings *settings = into;
	unsigned int told;
	int err = rf_setting_word(row, value, words, ARRAY_SIZE(words), &told, error);

	if (!err)
		settings->sources = told;
	return err;
}

static int rf_setting_journal(const struct rf_setting_row *row, const char *value, void *into,
			      struct rf_error *error)
{
	static const char *const words[] = {RF_OFF, "on"};
	struct rf_settings *settings = into;
	unsigned int index;
	int err = rf_setting_word(row, value, words, ARRAY_SIZE(words), &index, error);

	if (!err)
		settings->journal = index;
	return err;
}

static int fail_listen(const char *value, struct rf_error *error)
{
	return rf_error_usage(error,
			      "'%s': 'listen' expects ADDRESS:PORT, like 127.0.0.1:9436 or "
			      "[::1]:9436, or off",
			      value);
}

bool rf_parse_listen(const char *text, struct rf_listen *listen)
{
	struct rf_host_port parts;
	struct rf_error ignored;
	char address[64];

	if (!rf_host_port_split(text, &parts) ||
	    !rf_host_port_copy(&parts, address, sizeof(address)) ||
	    rf_parse_address(address, &listen->address, &ignored))
		return false;
	listen->port = rf_port_of(parts.port);
	return listen->port && (listen->address.version == 6) == parts.in_brackets;
}

static int rf_setting_listen(const struct rf_setting_row *row, const char *value, void *into,
			     struct rf_error *error)
{
	struct rf_settings *settings = into;
	struct rf_listen listen = {};

	(void)row;
	if (strcmp(value, RF_OFF) != 0 && !rf_parse_listen(value, &listen))
		return fail_listen(value, error);
	settings->listen = listen;
	return 0;
}

static int rf_setting_exec(const struct rf_setting_row *row, const char *value, void *into,
			   struct rf_error *error)
{
	struct rf_settings *settings = into;

	if (strcmp(value, RF_EXEC_UNIT) != 0)
		return rf_setting_path(row, value, into, error);
	strcpy(settings->exec, RF_EXEC_UNIT);
	return 0;
}

/* NAME or NAME:PORT, with an IPv6 address in brackets. */
static bool is_host(const char *host, size_t length)
{
	const char *port = host + length;
	char text[8] = "";

	for (size_t i = 0; i < length; i++) {
		if (host[i] == ':' && (*host != '[' || host[i - 1] == ']')) {
			port = host + i;
			break;
		}
		if (!isalnum((unsigned char)host[i]) && !strchr("-._[]:", host[i]))
			return false;
	}
	if (port == host || length >= RF_HOST_SIZE)
		return false;
	if (port == host + length)
		return true;
	if (host + length - port > (ptrdiff_t)sizeof(text) - 2)
		return false;
	memcpy(text, port + 1, host + length - port - 1);
	return rf_port_of(text) != 0;
}

static int rf_setting_host(const struct rf_setting_row *row, const char *value, void *into,
			   struct rf_error *error)
{
	struct rf_settings *settings = into;
	int hosts = 0;

	(void)row;
	for (const char *at = value, *end; at; at = *end ? end + 1 : NULL) {
		end = strchrnul(at, ',');
		if (!is_host(at, end - at))
			return rf_error_usage(error,
					      "'%s': 'host' expects NAME[,NAME…], each with "
					      "':PORT' or without, like grafana.example",
					      value);
		if (hosts == RF_HOSTS_MAX)
			return rf_error_usage(error, "'host': %d names at most", RF_HOSTS_MAX);
		snprintf(settings->host[hosts++], RF_HOST_SIZE, "%.*s", (int)(end - at), at);
	}
	settings->hosts = hosts;
	return 0;
}

/* ---- settings ---- */

#define SETTING(id, ...) [RF_SET_##id] = RF_SETTING_ROW(struct rf_settings, __VA_ARGS__)
static const struct rf_setting_row rows[RF_SETTINGS] = {
#include "schema/watch_settings.def"
};

const struct rf_setting_table rf_watch_settings = {rows, RF_SETTINGS, "ringfence-watch"};

void rf_settings_default(struct rf_settings *settings)
{
	*settings = (struct rf_settings){};
	rf_setting_defaults(&rf_watch_settings, settings);
}

static int take(struct rf_settings *settings, struct rf_words *words, struct rf_error *error)
{
	const int row = rf_setting_take(&rf_watch_settings, words, settings, error);

	if (row >= 0)
		settings->given |= 1U << row;
	return row;
}

int rf_settings_words(struct rf_settings *settings, struct rf_words *words, struct rf_error *error)
{
	unsigned int given = 0;

	while (rf_words_peek(words)) {
		const int row = take(settings, words, error);

		if (row < 0)
			return row;
		if (given >> row & 1)
			return rf_error_usage(error, "'%s': given twice", rows[row].word);
		given |= 1U << row;
	}
	return 0;
}

bool rf_listen_is_loopback(const struct rf_listen *listen)
{
	const __be32 *word = listen->address.word;

	if (listen->address.version == 4)
		return ntohl(word[0]) >> 24 == 127;
	return !word[0] && !word[1] && !word[2] && word[3] == htonl(1);
}

bool rf_listen_is_wildcard(const struct rf_listen *listen)
{
	const __be32 *word = listen->address.word;

	return !word[0] && !word[1] && !word[2] && !word[3];
}

void rf_format_listen(const struct rf_listen *listen, char text[RF_LISTEN_TEXT_SIZE])
{
	const bool is_v6 = listen->address.version == 6;
	char address[INET6_ADDRSTRLEN] = "";

	inet_ntop(is_v6 ? AF_INET6 : AF_INET, listen->address.word, address, sizeof(address));
	snprintf(text, RF_LISTEN_TEXT_SIZE, is_v6 ? "[%s]:%d" : "%s:%d", address, listen->port);
}

int rf_settings_check(const struct rf_settings *settings, struct rf_error *error)
{
	char listen[RF_LISTEN_TEXT_SIZE];

	if (!settings->listen.port || rf_listen_is_loopback(&settings->listen) ||
	    *settings->token_file)
		return 0;
	rf_format_listen(&settings->listen, listen);
	return rf_error_usage(error,
			      "'listen %s': not a loopback address, so requests must show a token; "
			      "add 'token file PATH'",
			      listen);
}

/* ---- a file ---- */

/* A file that is being read. */
struct reading {
	struct rf_settings *settings;
	struct rf_mistakes *mistakes;
	size_t line;
	size_t given_in[RF_SETTINGS]; /* the line of each setting; 0: none */
};

/* A line has at most one setting. */
static int take_line(struct reading *reading, char *line, struct rf_error *error)
{
	const char *array[WORDS_MAX];
	struct rf_words words = {};
	int row = rf_split_line(line, array, WORDS_MAX, &words, error);

	if (row < 0 || !rf_words_peek(&words))
		return row;
	row = take(reading->settings, &words, error);
	if (row < 0)
		return row;
	if (reading->given_in[row])
		return rf_error_usage(error, "'%s': given twice, first in line %zu", rows[row].word,
				      reading->given_in[row]);
	reading->given_in[row] = reading->line;
	return rf_words_end(&words, error);
}

static int note(struct reading *reading, size_t line, const char *text, struct rf_error *error)
{
	return rf_mistakes_add(reading->mistakes, line, text, error);
}

int rf_settings_text(struct rf_settings *settings, char *text, struct rf_mistakes *mistakes,
		     struct rf_error *error)
{
	struct reading reading = {settings, mistakes, 0, {}};
	struct rf_error mistake;
	int err = 0;

	for (char *line = text, *next; line && !err; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		reading.line++;
		if (take_line(&reading, line, &mistake) < 0)
			err = note(&reading, reading.line, mistake.text, error);
	}
	if (!err && !mistakes->count && rf_settings_check(settings, &mistake))
		err = note(&reading, reading.given_in[RF_SET_LISTEN], mistake.text, error);
	return err;
}

/* ---- reading: embedded, file, environment of a unit, command line ---- */

static void warn_mistakes(const char *file, const struct rf_mistakes *mistakes)
{
	for (size_t i = 0; i < mistakes->count; i++) {
		const struct rf_mistake *mistake = &mistakes->mistake[i];

		if (mistake->line)
			rf_warn("%s:%zu: %s", file, mistake->line, mistake->text);
		else
			rf_warn("%s: %s", file, mistake->text);
	}
}

int rf_settings_load(struct rf_settings *settings, const char *path, struct rf_error *error)
{
	struct rf_mistakes mistakes = {};
	char *text;
	int err = rf_file_read(path, &text, error);

	if (err)
		return err;
	err = rf_settings_text(settings, text, &mistakes, error);
	free(text);
	warn_mistakes(rf_file_name(path), &mistakes);
	if (!err && mistakes.count)
		err = rf_error_failed(error, -EINVAL, "%s: %zu error%s", rf_file_name(path),
				      mistakes.count, mistakes.count == 1 ? "" : "s");
	rf_mistakes_free(&mistakes);
	return err;
}

/* The directories that systemd made for a unit are the place of its files. */
static void use_directories(struct rf_settings *settings)
{
	const char *run = getenv("RUNTIME_DIRECTORY"), *state = getenv("STATE_DIRECTORY");

	if (run && *run == '/' && strlen(run) < 64)
		snprintf(settings->socket, sizeof(settings->socket), "%.64s/http.sock", run);
	if (state && *state == '/' && strlen(state) < 64) {
		snprintf(settings->history, sizeof(settings->history), "%.64s", state);
		snprintf(settings->events_file, sizeof(settings->events_file), "%.64s/events.jsonl",
			 state);
	}
}

int rf_settings_make(struct rf_settings *settings, const struct rf_words *words,
		     struct rf_error *error)
{
	struct rf_settings made;
	struct rf_words rest = *words;
	const char *path = NULL;
	int err = 0;

	rf_settings_default(&made);
	use_directories(&made);
	if (rf_words_take(&rest, "config")) {
		path = rf_words_next(&rest);
		if (!path)
			return rf_error_usage(error, "'config': expects FILE");
	}
	if (path || !access(RF_SETTINGS_FILE, F_OK))
		err = rf_settings_load(&made, path ? path : RF_SETTINGS_FILE, error);
	if (!err)
		err = rf_settings_words(&made, &rest, error);
	if (!err)
		err = rf_settings_check(&made, error);
	if (!err)
		*settings = made;
	return err;
}
