// SPDX-License-Identifier: GPL-2.0
/*
 * Settings: of the daemon if the first byte is even, of a fleet's agent if it is odd. For any text,
 * accepted values are within the bounds of the manual, and the daemon's settings are the same after
 * they are written and read again. The agent's second file, with the password, follows a 0x01.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/settings.h"
#include "base/units.h"
#include "daemon/settings.h"
#include "daemon/sinks.h"
#include "require.h"
#include "ringfence/fleet.h"
#include "rules/file.h"

/* ---- the daemon ---- */

static void check_paths(const struct rf_settings *settings)
{
	const char *const paths[] = {settings->socket, settings->token_file, settings->history,
				     settings->events_file};

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		REQUIRE(!*paths[i] || *paths[i] == '/');
	REQUIRE(!*settings->exec || *settings->exec == '/' ||
		!strcmp(settings->exec, RF_EXEC_UNIT));
	REQUIRE(strnlen(settings->socket, RF_SOCKET_PATH_SIZE) < RF_SOCKET_PATH_SIZE);
	for (size_t i = 1; i < ARRAY_SIZE(paths); i++)
		REQUIRE(strnlen(paths[i], RF_SETTING_PATH_SIZE) < RF_SETTING_PATH_SIZE);
}

static void check_bounds(const struct rf_settings *settings)
{
	REQUIRE(settings->interval_ns >= RF_NS_PER_S && settings->interval_ns <= 60 * RF_NS_PER_S);
	REQUIRE(settings->keep_ns >= 3600 * RF_NS_PER_S &&
		settings->keep_ns <= 3660 * 24 * 3600 * RF_NS_PER_S);
	REQUIRE(settings->most_bytes >= 16ULL << 20 && settings->most_bytes <= 1ULL << 40);
	REQUIRE(settings->hosts >= 0 && settings->hosts <= RF_HOSTS_MAX);
	for (int i = 0; i < settings->hosts; i++)
		REQUIRE(*settings->host[i] && strlen(settings->host[i]) < RF_HOST_SIZE);
	REQUIRE(!settings->listen.port || *settings->token_file ||
		rf_listen_is_loopback(&settings->listen));
	check_paths(settings);
}

/* Without values of another form: a blank in a path cannot be written. */
static char *write_settings(const struct rf_settings *settings)
{
	char listen[RF_LISTEN_TEXT_SIZE], *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	static const char *const told[] = RF_TOLD_WORDS;

	rf_format_listen(&settings->listen, listen);
	fprintf(out, "interval %" PRIu64 "ms\nsources %s\nlisten %s\n",
		(uint64_t)(settings->interval_ns / RF_NS_PER_MS), told[settings->sources],
		settings->listen.port ? listen : RF_OFF);
	for (int i = 0; i < settings->hosts; i++)
		fprintf(out, "%s%s", i ? "," : "host ", settings->host[i]);
	fprintf(out, "\nat most %" PRIu64 "\njournal %s\n", settings->most_bytes,
		settings->journal ? "on" : RF_OFF);
	fprintf(out, "token file %s\nsocket %s\nhistory %s\nevents file %s\nexec %s\n",
		*settings->token_file ? settings->token_file : RF_OFF,
		*settings->socket ? settings->socket : RF_OFF,
		*settings->history ? settings->history : RF_OFF,
		*settings->events_file ? settings->events_file : RF_OFF,
		*settings->exec ? settings->exec : RF_OFF);
	fclose(out);
	return text;
}

static void check_same(const struct rf_settings *one, const struct rf_settings *other)
{
	REQUIRE(one->interval_ns == other->interval_ns && one->sources == other->sources);
	REQUIRE(one->listen.port == other->listen.port);
	REQUIRE(!memcmp(&one->listen.address, &other->listen.address, sizeof(one->listen.address)));
	REQUIRE(one->hosts == other->hosts && !memcmp(one->host, other->host, sizeof(one->host)));
	REQUIRE(one->most_bytes == other->most_bytes && one->journal == other->journal);
	REQUIRE(!strcmp(one->token_file, other->token_file) && !strcmp(one->exec, other->exec));
	REQUIRE(!strcmp(one->history, other->history) && !strcmp(one->socket, other->socket));
	REQUIRE(!strcmp(one->events_file, other->events_file));
}

static void fuzz_daemon(char *text)
{
	struct rf_settings settings, again;
	struct rf_mistakes mistakes = {};
	struct rf_error error = {};
	char *written;

	rf_settings_default(&settings);
	again = settings;
	REQUIRE(!rf_settings_text(&settings, text, &mistakes, &error));
	for (size_t i = 0; i < mistakes.count; i++)
		REQUIRE(*mistakes.mistake[i].text && !strchr(mistakes.mistake[i].text, '\n'));
	if (!mistakes.count) {
		check_bounds(&settings);
		written = write_settings(&settings);
		REQUIRE(!rf_settings_text(&again, written, &mistakes, &error));
		REQUIRE(!mistakes.count);
		check_same(&settings, &again);
		free(written);
	}
	rf_mistakes_free(&mistakes);
}

/* ---- the agent ---- */

static const char *agent_text, *password_text;

/* The linker puts them in the place of the files. */
int __wrap_access(const char *path, int mode);
int __wrap_access(const char *path, int mode)
{
	(void)path, (void)mode;
	return 0;
}

int __wrap_rf_file_read(const char *path, char **text, struct rf_error *error);
int __wrap_rf_file_read(const char *path, char **text, struct rf_error *error)
{
	const char *from = strcmp(path, "/etc/ringfence/f.fleet") == 0 ? agent_text : password_text;

	*text = from ? strdup(from) : NULL;
	return from ? 0 : rf_error_failed(error, -ENOENT, "%.64s: cannot read it", path);
}

/* Each file may hold a secret, except for the fuzzer's own. */
int __real_stat(const char *path, struct stat *status);
int __wrap_stat(const char *path, struct stat *status);
int __wrap_stat(const char *path, struct stat *status)
{
	if (!agent_text)
		return __real_stat(path, status);
	*status = (struct stat){.st_mode = S_IFREG | 0600, .st_size = 1};
	return 0;
}

static void check_server(const struct rf_server *server)
{
	REQUIRE(*server->host && strlen(server->host) < sizeof(server->host));
	REQUIRE(atoi(server->port) >= 1 && atoi(server->port) <= 65535);
	REQUIRE(*server->host != '[' || server->host[strlen(server->host) - 1] != ']' ||
		strlen(server->host) <= 2);
}

static void fuzz_agent(char *text)
{
	const char *const name = "f";
	struct rf_words words = {.word = (const char **)&name, .count = 1};
	struct rf_agent_settings settings;
	struct rf_error error = {};
	char *end = strchr(text, 1);

	password_text = end ? end + 1 : NULL;
	if (end)
		*end = '\0';
	agent_text = text;
	if (rf_agent_settings(&settings, &words, &error)) {
		REQUIRE(*error.text && !strchr(error.text, '\n'));
		return;
	}
	REQUIRE(settings.engine.servers && settings.engine.servers <= RF_SERVERS_MOST);
	for (uint32_t i = 0; i < settings.engine.servers; i++)
		check_server(&settings.engine.server[i]);
	REQUIRE(settings.hosts <= RF_FLEET_HOSTS_MAX);
	REQUIRE(settings.grace_ns >= 200 * RF_NS_PER_MS && settings.grace_ns <= 60 * RF_NS_PER_S);
	REQUIRE(settings.asks_each_s >= 1 && settings.asks_each_s <= RF_ASKS_MOST);
	REQUIRE(!strpbrk(settings.engine.password, "\r\n"));
	REQUIRE(!settings.key.fingerprint == !(settings.key.word[0] | settings.key.word[1]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = size ? strndup((const char *)data + 1, size - 1) : NULL;

	if (text && data[0] & 1) {
		fuzz_agent(text);
		agent_text = NULL;
	} else if (text) {
		fuzz_daemon(text);
	}
	free(text);
	return 0;
}
