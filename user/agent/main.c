// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/probe.h"
#include "agent/run.h"
#include "agent/settings.h"
#include "base/say.h"
#include "kernel/log.h"

static const char help[] =
	"Usage: ringfence-fleet run NAME [SETTING…]\n"
	"       ringfence-fleet check NAME [SETTING…]\n"
	"       ringfence-fleet probe NAME [SETTING…]\n"
	"       ringfence-fleet help | version\n\n"
	"Shares the limits of the fence NAME with the other hosts of a fleet, by way of a\n"
	"fleet server: Redis 7, or Valkey. It requires root, and drops all capabilities but\n"
	"CAP_BPF.\n\n"
	"  run NAME                      until a signal ends it\n"
	"  check NAME                    check the settings\n"
	"  probe NAME                    check the fleet server, for 'ringfence fleet check'\n\n"
	"Settings, in /etc/ringfence/NAME.fleet; those of the command line come first:\n";

static void say_help(void)
{
	char *settings = rf_setting_help(&rf_fleet_settings), *text;

	if (settings && asprintf(&text, "%s%s", help, settings) >= 0) {
		text[strlen(text) - 1] = '\0'; /* rf_say_text() adds the last newline */
		rf_say_text(text);
		free(text);
	}
	free(settings);
}

static bool is_asked(struct rf_words *words, const char *word, const char *longer,
		     const char *shorter)
{
	return rf_words_take(words, word) || rf_words_take(words, longer) ||
	       rf_words_take(words, shorter);
}

static int probe(struct rf_words *words, struct rf_error *error)
{
	struct rf_agent_settings settings;
	struct rf_error wrong = {};
	const int err = rf_agent_settings(&settings, words, &wrong);
	const int failed = rf_agent_probe(&settings, err, &wrong, error);

	rf_agent_settings_clear(&settings);
	return failed;
}

/* The agent starts if at least one name resolves; `checks` requires all. */
static int resolve(struct rf_engine *engine, bool checks, struct rf_error *error)
{
	const uint32_t known = rf_engine_resolve(engine);

	for (uint32_t i = 0; i < engine->servers; i++) {
		const struct rf_server *server = &engine->server[i];

		if (!server->unknown)
			continue;
		if (checks || !known)
			return rf_error_failed(error, -EHOSTUNREACH,
					       "fleet server %s: %s; " RF_NAME_REMEDY, server->host,
					       server->unknown);
		rf_warn("fleet server %s:%s: %s; the agent starts without it, and retries",
			server->host, server->port, server->unknown);
	}
	return 0;
}

static int run(struct rf_words *words, struct rf_error *error)
{
	struct rf_agent_settings settings;
	const bool checks = rf_words_take(words, "check");
	int err;

	if (!checks && rf_words_take(words, "probe"))
		return probe(words, error);
	if (!checks && !rf_words_take(words, "run"))
		return rf_error_usage(error, "expects 'run NAME', 'check NAME', 'probe NAME', "
					     "'help' or 'version'");
	err = rf_agent_settings(&settings, words, error);
	if (!err)
		err = resolve(&settings.engine, checks, error);
	if (!err && checks)
		rf_say("fence '%s': no errors", settings.name);
	else if (!err)
		err = rf_agent_run(&settings, error);
	rf_agent_settings_clear(&settings);
	return err;
}

static int start(struct rf_words *words, struct rf_error *error)
{
	int err;

	if (is_asked(words, "help", "--help", "-h")) {
		err = rf_words_end(words, error);
		if (!err)
			say_help();
		return err;
	}
	if (is_asked(words, "version", "--version", "-V")) {
		err = rf_words_end(words, error);
		if (!err)
			rf_say("ringfence-fleet %s", RINGFENCE_VERSION);
		return err;
	}
	return run(words, error);
}

int main(int argc, char **argv)
{
	struct rf_words words = {.word = (const char *const *)argv, .count = argc, .at = 1};
	struct rf_error error = {};
	int err;

	rf_say_as("ringfence-fleet");
	rf_log_set_verbose(false);
	err = start(&words, &error);
	if (err && *error.text)
		rf_warn("%s", error.text);
	if (err)
		return error.usage ? 2 : EXIT_FAILURE;
	return 0;
}
