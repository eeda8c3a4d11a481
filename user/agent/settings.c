// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/settings.h"
#include "base/prefix.h"
#include "base/units.h"
#include "ringfence/fleet.h"
#include "rules/file.h"
#include "rules/settings.h"

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

/* One, or several separated by commas. */
static int rf_setting_engine(const struct rf_setting_row *row, const char *word, void *into,
			     struct rf_error *error)
{
	struct rf_agent_settings *settings = into;
	struct rf_engine *engine = &settings->engine;
	char *words = strdup(word), *left = words, *each;
	int err = words ? 0 : rf_error_failed(error, -ENOMEM, "%s", strerror(ENOMEM));

	engine->servers = 0;
	while (!err && (each = strsep(&left, ","))) {
		if (engine->servers == RF_SERVERS_MOST)
			err = rf_error_usage(error, "%s '%s': names more than %d servers",
					     row->word, word, RF_SERVERS_MOST);
		else
			err = take_server(&engine->server[engine->servers++], each, error);
	}
	free(words);
	return err;
}

static int rf_setting_password(const struct rf_setting_row *row, const char *path, void *into,
			       struct rf_error *error)
{
	struct rf_agent_settings *settings = into;

	(void)row;
	return rf_secret_read(RF_PASSWORD, path, settings->engine.password, error);
}

static int rf_setting_key(const struct rf_setting_row *row, const char *path, void *into,
			  struct rf_error *error)
{
	struct rf_agent_settings *settings = into;
	char text[RF_SECRET_SIZE] = "";
	const int err = rf_secret_read(RF_BUCKET_KEY, path, text, error);

	(void)row;
	if (!err)
		settings->key = rf_fleet_key_of(text);
	explicit_bzero(text, sizeof(text));
	return err;
}

static int rf_setting_hosts(const struct rf_setting_row *row, const char *word, void *into,
			    struct rf_error *error)
{
	struct rf_agent_settings *settings = into;

	return rf_parse_number(word, row->word, 1, RF_FLEET_HOSTS_MAX, &settings->hosts, error);
}

static int rf_setting_asks(const struct rf_setting_row *row, const char *word, void *into,
			   struct rf_error *error)
{
	struct rf_agent_settings *settings = into;

	(void)row;
	return rf_parse_asks(word, &settings->asks_each_s, error);
}

static int rf_setting_bans(const struct rf_setting_row *row, const char *word, void *into,
			   struct rf_error *error)
{
	struct rf_agent_settings *settings = into;

	if (strcmp(word, row->value) != 0)
		return rf_error_usage(error, "'%s': '%s' expects '%s'", word, row->word,
				      row->value);
	settings->takes_bans = true;
	return 0;
}

#define SETTING(id, ...) RF_SETTING_ROW(struct rf_agent_settings, __VA_ARGS__)
static const struct rf_setting_row rows[] = {
#include "schema/fleet_settings.def"
};

const struct rf_setting_table rf_fleet_settings = {rows, ARRAY_SIZE(rows), "ringfence-fleet"};

static int take_words(struct rf_agent_settings *settings, struct rf_words *words,
		      struct rf_error *error)
{
	int taken = 0;

	while (taken >= 0 && rf_words_peek(words))
		taken = rf_setting_take(&rf_fleet_settings, words, settings, error);
	return taken < 0 ? taken : 0;
}

/* Words of all lines: a setting can continue on the next line. */
static int split_text(char *text, const char *array[WORDS_MOST], struct rf_words *words,
		      struct rf_error *error)
{
	char *line;
	int count = 0;

	while ((line = strsep(&text, "\n"))) {
		struct rf_words more;
		const int err =
			rf_split_line(line, array + count, WORDS_MOST - count, &more, error);

		if (err)
			return rf_error_failed(error, -EINVAL, "too many words; %d at most",
					       WORDS_MOST);
		count += more.count;
	}
	*words = (struct rf_words){.word = array, .count = count};
	return 0;
}

static int take_text(struct rf_agent_settings *settings, char *text, const char *path,
		     struct rf_error *error)
{
	const char *array[WORDS_MOST];
	struct rf_words words;
	struct rf_error inner;
	int err = split_text(text, array, &words, &inner);

	if (!err)
		err = take_words(settings, &words, &inner);
	return err ? rf_error_failed(error, err, "%s: %.400s", path, inner.text) : 0;
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

	*settings = (struct rf_agent_settings){};
	rf_setting_defaults(&rf_fleet_settings, settings);
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
		err = rf_error_failed(
			error, -ENOENT,
			"fence '%s': no fleet server is configured; write 'redis HOST:PORT' "
			"into " RF_FLEET_FILE,
			name, name);
	return err;
}

void rf_agent_settings_clear(struct rf_agent_settings *settings)
{
	explicit_bzero(settings->engine.password, sizeof(settings->engine.password));
	explicit_bzero(&settings->key, sizeof(settings->key));
}
