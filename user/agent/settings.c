// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/settings.h"
#include "base/host_port.h"
#include "ringfence/fleet.h"
#include "rules/file.h"
#include "rules/fleet_settings.h"

#define WORDS_MOST 64

static int too_long(const char *word, size_t most, struct rf_error *error)
{
	return rf_error_usage(error, "'%s': too long; it may have %zu characters", word, most);
}

static int copy_text(char *to, size_t size, const char *word, struct rf_error *error)
{
	if (strlen(word) >= size)
		return too_long(word, size - 1, error);
	memcpy(to, word, strlen(word) + 1);
	return 0;
}

/* HOST:PORT, or [HOST]:PORT where the host has colons. */
static int take_server(struct rf_server *server, const char *word, struct rf_error *error)
{
	struct rf_host_port parts;
	uint32_t port;
	int err;

	if (!rf_host_port_split(word, &parts) || !parts.length)
		return rf_error_usage(error,
				      "redis '%s': expects HOST:PORT, such as "
				      "192.0.2.1:6379",
				      word);
	err = rf_parse_number(parts.port, "port", 1, 65535, &port, error);
	if (err)
		return err;
	if (!rf_host_port_copy(&parts, server->host, sizeof(server->host)))
		return too_long(word, sizeof(server->host) - 1, error);
	snprintf(server->port, sizeof(server->port), "%u", port);
	return 0;
}

/* One, or several with commas between. */
static int take_engine(struct rf_agent_settings *settings, const char *word, struct rf_error *error)
{
	struct rf_engine *engine = &settings->engine;
	char *words = strdup(word), *left = words, *each;
	int err = words ? 0 : rf_error_failed(error, -ENOMEM, "%s", strerror(ENOMEM));

	engine->servers = 0;
	while (!err && (each = strsep(&left, ","))) {
		if (engine->servers == RF_SERVERS_MOST)
			err = rf_error_usage(error, "redis '%s': names more than %d servers", word,
					     RF_SERVERS_MOST);
		else
			err = take_server(&engine->server[engine->servers++], each, error);
	}
	free(words);
	return err;
}

static int take_user(struct rf_agent_settings *settings, const char *word, struct rf_error *error)
{
	return copy_text(settings->engine.user, sizeof(settings->engine.user), word, error);
}

static int take_password(struct rf_agent_settings *settings, const char *path,
			 struct rf_error *error)
{
	return rf_secret_read(RF_PASSWORD, path, settings->engine.password, error);
}

static int take_key(struct rf_agent_settings *settings, const char *path, struct rf_error *error)
{
	char text[RF_SECRET_SIZE] = "";
	const int err = rf_secret_read(RF_BUCKET_KEY, path, text, error);

	if (!err)
		settings->key = rf_fleet_key_of(text);
	explicit_bzero(text, sizeof(text));
	return err;
}

static int take_hosts(struct rf_agent_settings *settings, const char *word, struct rf_error *error)
{
	return rf_parse_number(word, "hosts", 1, RF_FLEET_HOSTS_MAX, &settings->hosts, error);
}

static int take_grace(struct rf_agent_settings *settings, const char *word, struct rf_error *error)
{
	const int err = rf_parse_time(word, &settings->grace_ns, error);

	if (!err &&
	    (settings->grace_ns < RF_GRACE_LEAST_NS || settings->grace_ns > RF_GRACE_MOST_NS))
		return rf_error_usage(error, "grace '%s': must be 200ms to 60s", word);
	return err;
}

static int take_asks(struct rf_agent_settings *settings, const char *word, struct rf_error *error)
{
	char number[16] = "";
	const size_t length = strcspn(word, "/");

	if (strcmp(word + length, "/s") != 0 || length >= sizeof(number))
		return rf_error_usage(error, "asks '%s': expects N/s, such as 5000/s", word);
	memcpy(number, word, length);
	return rf_parse_number(number, "asks", 1, RF_ASKS_MOST, &settings->asks_each_s, error);
}

static int take_bans(struct rf_agent_settings *settings, const char *word, struct rf_error *error)
{
	if (strcmp(word, "take") != 0)
		return rf_error_usage(error, "'%s': 'bans' expects 'take'", word);
	settings->takes_bans = true;
	return 0;
}

static const struct {
	const char *word, *second; /* `second` follows it; NULL: nothing does */
	const char *value;
	int (*take)(struct rf_agent_settings *settings, const char *word, struct rf_error *error);
} rows[] = {
	{"redis", NULL, "HOST:PORT", take_engine},   {"user", NULL, "USER", take_user},
	{"password", "file", "PATH", take_password}, {"hosts", NULL, "N", take_hosts},
	{"grace", NULL, "TIME", take_grace},	     {"asks", NULL, "N/s", take_asks},
	{"bans", NULL, "'take'", take_bans},	     {"key", "file", "PATH", take_key},
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static int take_words(struct rf_agent_settings *settings, struct rf_words *words,
		      struct rf_error *error)
{
	const char *word, *value;
	int err = 0;

	while (!err && (word = rf_words_next(words))) {
		size_t i = 0;

		while (i < ROWS && strcmp(word, rows[i].word) != 0)
			i++;
		if (i == ROWS)
			return rf_error_usage(error,
					      "'%s': no such setting; there are: redis, user, "
					      "password file, hosts, grace, asks, bans, key file",
					      word);
		if (rows[i].second && !rf_words_take(words, rows[i].second))
			return rf_error_usage(error, "'%s': expects '%s'", word, rows[i].second);
		value = rf_words_next(words);
		if (!value)
			return rf_error_usage(error, "'%s': expects %s", word, rows[i].value);
		err = rows[i].take(settings, value, error);
	}
	return err;
}

/* Splits it at blanks; what follows a '#' is a comment. */
static int take_text(struct rf_agent_settings *settings, char *text, const char *path,
		     struct rf_error *error)
{
	const char *word[WORDS_MOST];
	struct rf_words words = {.word = word};
	char *line, *part;
	int err;

	while ((line = strsep(&text, "\n"))) {
		line[strcspn(line, "#")] = '\0';
		while ((part = strsep(&line, " \t\r"))) {
			if (!*part)
				continue;
			if (words.count == WORDS_MOST)
				return rf_error_failed(error, -EINVAL, "%s: it has too many words",
						       path);
			word[words.count++] = part;
		}
	}
	err = take_words(settings, &words, error);
	if (err) {
		struct rf_error inner = *error;

		return rf_error_failed(error, err, "%s: %.400s", path, inner.text);
	}
	return 0;
}

static int take_file(struct rf_agent_settings *settings, struct rf_error *error)
{
	char path[RF_NAME_SIZE + 32], *text;
	int err;

	snprintf(path, sizeof(path), RF_FLEET_FILE, settings->name);
	if (access(path, F_OK))
		return 0;
	err = rf_file_read(path, &text, error);
	if (err)
		return err;
	err = take_text(settings, text, path, error);
	free(text);
	return err;
}

int rf_agent_settings(struct rf_agent_settings *settings, struct rf_words *words,
		      struct rf_error *error)
{
	const char *name = rf_words_next(words);
	int err;

	*settings = (struct rf_agent_settings){.grace_ns = RF_AGENT_GRACE_NS,
					       .asks_each_s = RF_AGENT_ASKS};
	if (!name)
		return rf_error_usage(error, "'run': expects the NAME of a fence");
	if (!*name || strchr(name, '/') || name[0] == '.')
		return rf_error_usage(error, "'%s': no fence has such a name", name);
	err = copy_text(settings->name, sizeof(settings->name), name, error);
	if (!err)
		err = take_file(settings, error);
	if (!err)
		err = take_words(settings, words, error);
	if (!err && !settings->engine.servers)
		err = rf_error_failed(error, -ENOENT,
				      "fence '%s': no engine is named; write 'redis HOST:PORT' "
				      "into " RF_FLEET_FILE,
				      name, name);
	return err;
}

void rf_agent_settings_clear(struct rf_agent_settings *settings)
{
	explicit_bzero(settings->engine.password, sizeof(settings->engine.password));
	explicit_bzero(&settings->key, sizeof(settings->key));
}
