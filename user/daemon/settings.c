// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/host_port.h"
#include "base/units.h"
#include "daemon/settings.h"
#include "daemon/sinks.h"
#include "rules/near.h"

#define PORT_DEFAULT 9436
#define HOUR_NS (3600 * RF_NS_PER_S)
#define DAY_NS (24 * HOUR_NS)
#define MIB (1ULL << 20)

void rf_settings_default(struct rf_settings *settings)
{
	*settings = (struct rf_settings){
		.interval_ns = RF_NS_PER_S,
		.sources = RF_TELL_PREFIX,
		.listen = {.address = {.version = 4, .word = {htonl(INADDR_LOOPBACK)}},
			   .port = PORT_DEFAULT},
		.history = "/var/lib/ringfence",
		.keep_ns = 30 * DAY_NS,
		.most_bytes = 256 * MIB,
		.events_file = "/var/lib/ringfence/events.jsonl",
		.journal = true,
	};
}

/* ---- values ---- */

typedef int (*setting_parser)(const char *value, struct rf_settings *settings,
			      struct rf_error *error);

static int parse_interval(const char *value, struct rf_settings *settings, struct rf_error *error)
{
	uint64_t time_ns;

	if (rf_parse_time(value, &time_ns, error) || time_ns < RF_NS_PER_S ||
	    time_ns > 60 * RF_NS_PER_S)
		return rf_error_usage(error, "'%s': 'interval' expects a time from 1s to 60s",
				      value);
	settings->interval_ns = time_ns;
	return 0;
}

/* The index of `value` among `count` words, or an error that lists them. */
static int parse_word(const char *setting, const char *value, const char *const *word, int count,
		      unsigned int *index, struct rf_error *error)
{
	struct rf_near near = rf_near_begin(value);
	char all[64] = "";

	for (int i = 0; i < count; i++) {
		if (strcmp(value, word[i]) == 0) {
			*index = i;
			return 0;
		}
		rf_near_consider(&near, word[i], strlen(word[i]));
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s",
			 i == 0		  ? ""
			 : i == count - 1 ? " or "
					  : ", ",
			 word[i]);
	}
	if (*near.word)
		return rf_error_usage(error, "'%s': '%s' expects %s; did you mean '%s'?", value,
				      setting, all, near.word);
	return rf_error_usage(error, "'%s': '%s' expects %s", value, setting, all);
}

static int parse_sources(const char *value, struct rf_settings *settings, struct rf_error *error)
{
	static const char *const words[] = RF_TOLD_WORDS;
	unsigned int told;
	int err = parse_word("sources", value, words, ARRAY_SIZE(words), &told, error);

	if (!err)
		settings->sources = told;
	return err;
}

static int parse_journal(const char *value, struct rf_settings *settings, struct rf_error *error)
{
	static const char *const words[] = {RF_OFF, "on"};
	unsigned int index;
	int err = parse_word("journal", value, words, ARRAY_SIZE(words), &index, error);

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

static int parse_listen(const char *value, struct rf_settings *settings, struct rf_error *error)
{
	struct rf_listen listen = {};

	if (strcmp(value, RF_OFF) != 0 && !rf_parse_listen(value, &listen))
		return fail_listen(value, error);
	settings->listen = listen;
	return 0;
}

/* "": off. A relative path would mean another file under systemd. */
static int parse_path(const char *setting, const char *value, char *path, size_t size,
		      struct rf_error *error)
{
	if (strcmp(value, RF_OFF) == 0) {
		*path = '\0';
		return 0;
	}
	if (*value != '/')
		return rf_error_usage(error,
				      "'%s': '%s' expects a path that begins with '/', or off",
				      value, setting);
	if (strlen(value) >= size)
		return rf_error_usage(error, "'%s': '%s' expects a path of %zu bytes at most",
				      value, setting, size - 1);
	strcpy(path, value);
	return 0;
}

static int parse_socket(const char *value, struct rf_settings *settings, struct rf_error *error)
{
	return parse_path("socket", value, settings->socket, sizeof(settings->socket), error);
}

static int parse_token_file(const char *value, struct rf_settings *settings, struct rf_error *error)
{
	return parse_path("token file", value, settings->token_file, sizeof(settings->token_file),
			  error);
}

static int parse_history(const char *value, struct rf_settings *settings, struct rf_error *error)
{
	return parse_path("history", value, settings->history, sizeof(settings->history), error);
}

static int parse_events_file(const char *value, struct rf_settings *settings,
			     struct rf_error *error)
{
	return parse_path("events file", value, settings->events_file,
			  sizeof(settings->events_file), error);
}

static int parse_exec(const char *value, struct rf_settings *settings, struct rf_error *error)
{
	if (strcmp(value, RF_EXEC_UNIT) == 0) {
		strcpy(settings->exec, RF_EXEC_UNIT);
		return 0;
	}
	return parse_path("exec", value, settings->exec, sizeof(settings->exec), error);
}

/* NAME or NAME:PORT, where an IPv6 address is in brackets. */
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

static int parse_host(const char *value, struct rf_settings *settings, struct rf_error *error)
{
	int hosts = 0;

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

/* TIME, or days. */
static int parse_keep(const char *value, struct rf_settings *settings, struct rf_error *error)
{
	const size_t digits = strspn(value, "0123456789");
	const bool in_days = digits && digits <= 5 && strcmp(value + digits, "d") == 0;
	uint64_t time_ns = 0;

	if (in_days)
		time_ns = strtoull(value, NULL, 10) * DAY_NS;
	if ((!in_days && rf_parse_time(value, &time_ns, error)) || time_ns < HOUR_NS ||
	    time_ns > 3660 * DAY_NS)
		return rf_error_usage(
			error, "'%s': 'keep' expects a time from 1h to 3660d, like 30d", value);
	settings->keep_ns = time_ns;
	return 0;
}

/* A number with K, M, G or T: powers of 1024, as in other tools' settings of files. 0: it is none.
 */
static uint64_t bytes_of(const char *value)
{
	const size_t digits = strspn(value, "0123456789");
	const char *suffix = value + digits, *units = "KMGT", *unit;
	const uint64_t number = digits && digits <= 12 ? strtoull(value, NULL, 10) : 0;

	if (!*suffix)
		return number;
	unit = strchr(units, toupper((unsigned char)*suffix));
	if (!unit || (suffix[1] && strcmp(suffix + 1, "iB") != 0))
		return 0;
	return number > UINT64_MAX >> 40 ? 0 : number << 10 * (unit - units + 1);
}

static int parse_at_most(const char *value, struct rf_settings *settings, struct rf_error *error)
{
	const uint64_t bytes = bytes_of(value);

	if (bytes < 16 * MIB || bytes > MIB << 20)
		return rf_error_usage(
			error, "'%s': 'at most' expects a size from 16M to 1T, like 256M", value);
	settings->most_bytes = bytes;
	return 0;
}

/* ---- settings ---- */

const struct rf_setting_row rf_setting_rows[RF_SETTINGS] = {
	[RF_SET_INTERVAL] = {"interval", "TIME",
			     "between two scans, 1s; longer where a scan costs over 3 % of a CPU"},
	[RF_SET_SOURCES] = {"sources", "none|prefix|full",
			    "record and serve no sources, their networks (/24, /48), or addresses; "
			    "prefix"},
	[RF_SET_LISTEN] =
		{"listen", "ADDRESS:PORT|off",
		 "serve over HTTP, 127.0.0.1:9436; other than loopback takes a token file"},
	[RF_SET_SOCKET] = {"socket", "PATH|off",
			   "serve on a Unix socket, for a reverse proxy; off"},
	[RF_SET_HOST] = {"host", "NAME[,NAME…]",
			 "answer requests for these names as well, each NAME or NAME:PORT"},
	[RF_SET_TOKEN_FILE] = {"token file", "PATH|off",
			       "the file with the token that requests show; off: one is made"},
	[RF_SET_HISTORY] = {"history", "DIRECTORY|off",
			    "where to keep the history, /var/lib/ringfence"},
	[RF_SET_KEEP] = {"keep", "TIME", "how far the history goes back, 30d"},
	[RF_SET_AT_MOST] = {"at most", "SIZE", "the most that the history of a fence takes, 256M"},
	[RF_SET_EVENTS_FILE] = {"events file", "PATH|off",
				"write events as lines of JSON, "
				"/var/lib/ringfence/events.jsonl"},
	[RF_SET_JOURNAL] = {"journal", "on|off", "write events to the system's journal; on"},
	[RF_SET_EXEC] = {"exec", "PROGRAM|unit|off",
			 "run a program for each event, or that of ringfence-notify.socket; off"},
};

static const setting_parser parsers[RF_SETTINGS] = {
	[RF_SET_INTERVAL] = parse_interval, [RF_SET_SOURCES] = parse_sources,
	[RF_SET_LISTEN] = parse_listen,	    [RF_SET_SOCKET] = parse_socket,
	[RF_SET_HOST] = parse_host,	    [RF_SET_TOKEN_FILE] = parse_token_file,
	[RF_SET_HISTORY] = parse_history,   [RF_SET_KEEP] = parse_keep,
	[RF_SET_AT_MOST] = parse_at_most,   [RF_SET_EVENTS_FILE] = parse_events_file,
	[RF_SET_JOURNAL] = parse_journal,   [RF_SET_EXEC] = parse_exec,
};

/* How many of the next words are the setting's name, of one or two words. 0: they are another. */
static int matches(const char *name, const struct rf_words *words)
{
	const char *first = rf_words_peek(words), *blank = strchr(name, ' ');

	if (!blank)
		return strcmp(first, name) == 0;
	if (strncmp(first, name, blank - name) != 0 || first[blank - name])
		return 0;
	return words->at + 1 < words->count && strcmp(words->word[words->at + 1], blank + 1) == 0
		       ? 2
		       : 0;
}

/* The word is no setting: it may be near to the first word of one. */
static int fail_unknown(const struct rf_words *words, struct rf_error *error)
{
	const char *word = rf_words_peek(words);
	struct rf_near near = rf_near_begin(word);

	for (int i = 0; i < RF_SETTINGS; i++) {
		const char *name = rf_setting_rows[i].word;
		const size_t length = strcspn(name, " ");

		if (strncmp(word, name, length) == 0 && !word[length])
			return rf_error_usage(error, "'%s': unknown setting; did you mean '%s'?",
					      word, name);
		rf_near_consider(&near, name, length);
	}
	if (*near.word)
		return rf_error_usage(error, "'%s': unknown setting; did you mean '%s'?", word,
				      near.word);
	return rf_error_usage(
		error, "'%s': unknown setting; 'ringfence-watch help' lists the settings", word);
}

int rf_settings_take(struct rf_settings *settings, struct rf_words *words, struct rf_error *error)
{
	const char *value;
	int taken = 0, row, err;

	for (row = 0; row < RF_SETTINGS; row++) {
		taken = matches(rf_setting_rows[row].word, words);
		if (taken)
			break;
	}
	if (!taken)
		return fail_unknown(words, error);
	words->at += taken;
	value = rf_words_next(words);
	if (!value)
		return rf_error_usage(error, "'%s': expects %s", rf_setting_rows[row].word,
				      rf_setting_rows[row].value);
	err = parsers[row](value, settings, error);
	if (err)
		return err;
	settings->given |= 1U << row;
	return row;
}

int rf_settings_words(struct rf_settings *settings, struct rf_words *words, struct rf_error *error)
{
	unsigned int given = 0;

	while (rf_words_peek(words)) {
		const int row = rf_settings_take(settings, words, error);

		if (row < 0)
			return row;
		if (given >> row & 1)
			return rf_error_usage(error, "'%s': given twice",
					      rf_setting_rows[row].word);
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
