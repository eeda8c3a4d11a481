// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <hiredis/hiredis.h>

#include "agent/engine_errors.h"
#include "agent/probe.h"
#include "base/json.h"
#include "base/say.h"
#include "base/units.h"

#include "build/fleet_functions.h"

#define PATIENCE_S 3
#define TEXT_SIZE 640

struct probe {
	struct rf_agent_settings *settings;
	redisContext *redis;
	char trouble[TEXT_SIZE]; /* "": none */
	json_t *facts;
};

static void note(struct probe *probe, const char *error)
{
	if (!*probe->trouble)
		rf_engine_explain(error, probe->trouble, sizeof(probe->trouble));
}

static void tell(struct probe *probe, const char *key, json_t *value)
{
	json_object_set_new(probe->facts, key, value);
}

/* ---- the connection ---- */

static bool connect_to(struct probe *probe)
{
	const struct rf_engine *engine = &probe->settings->engine;
	const struct timeval patience = {.tv_sec = PATIENCE_S};

	probe->redis = redisConnectWithTimeout(engine->server[0].address,
					       engine->server[0].port_number, patience);
	if (!probe->redis || probe->redis->err) {
		note(probe, probe->redis ? probe->redis->errstr : "no memory is left");
		return false;
	}
	redisSetTimeout(probe->redis, patience);
	return true;
}

/* NULL: no answer, or an error, which `*denied` says is a right that is missing. */
static redisReply *ask(struct probe *probe, int count, const char **words, bool *denied)
{
	redisReply *reply =
		probe->redis->err ? NULL : redisCommandArgv(probe->redis, count, words, NULL);

	*denied =
		reply && reply->type == REDIS_REPLY_ERROR && strncmp(reply->str, "NOPERM", 6) == 0;
	if (!reply)
		note(probe,
		     *probe->redis->errstr ? probe->redis->errstr : "it does not answer in time");
	else if (reply->type == REDIS_REPLY_ERROR && !*denied)
		note(probe, reply->str);
	if (reply && reply->type != REDIS_REPLY_ERROR)
		return reply;
	if (reply)
		freeReplyObject(reply);
	return NULL;
}

static bool log_in(struct probe *probe)
{
	const struct rf_engine *engine = &probe->settings->engine;
	const char *words[] = {"AUTH", engine->user, engine->password};
	bool denied;
	redisReply *reply;

	if (!*engine->password)
		return true;
	if (!*engine->user)
		words[1] = engine->password;
	reply = ask(probe, *engine->user ? 3 : 2, words, &denied);
	if (reply)
		freeReplyObject(reply);
	return reply;
}

/* ---- what it says of itself ---- */

/* The value of a line "KEY:VALUE"; NULL: there is none. */
static json_t *field(const char *info, const char *key)
{
	const size_t length = strlen(key);

	for (const char *line = info; line; line = strchr(line, '\n')) {
		char value[128];
		size_t end;

		line += *line == '\n';
		if (strncmp(line, key, length) != 0 || line[length] != ':')
			continue;
		end = strcspn(line + length + 1, "\r\n");
		if (end >= sizeof(value))
			return NULL;
		memcpy(value, line + length + 1, end);
		value[end] = '\0';
		return rf_json_text(value);
	}
	return NULL;
}

static void tell_field(struct probe *probe, const char *info, const char *as, const char *key)
{
	json_t *value = field(info, key);

	tell(probe, as, value ? value : json_null());
}

static void look_at_info(struct probe *probe)
{
	const char *words[] = {"INFO", "all"};
	bool denied;
	redisReply *reply = ask(probe, ARRAY_SIZE(words), words, &denied);
	const char *info = reply && reply->type == REDIS_REPLY_STRING ? reply->str : "";

	tell(probe, "info_denied", json_boolean(denied));
	tell_field(probe, info, "version", "redis_version");
	tell_field(probe, info, "role", "role");
	tell_field(probe, info, "master_host", "master_host");
	tell_field(probe, info, "master_port", "master_port");
	tell_field(probe, info, "loading", "loading");
	tell_field(probe, info, "policy", "maxmemory_policy");
	if (reply)
		freeReplyObject(reply);
}

/* ---- the library ---- */

static bool is_text(const redisReply *reply, const char *text)
{
	return (reply->type == REDIS_REPLY_STRING || reply->type == REDIS_REPLY_STATUS) &&
	       strcmp(reply->str, text) == 0;
}

/* Of one library: names and values, one after the other. */
static const char *compare_library(const redisReply *library)
{
	for (size_t i = 0; i + 1 < library->elements; i += 2)
		if (is_text(library->element[i], "library_code"))
			return is_text(library->element[i + 1], rf_fleet_functions) ? "same"
										    : "other";
	return "unknown";
}

static void look_at_library(struct probe *probe)
{
	const char *words[] = {"FUNCTION", "LIST", "LIBRARYNAME", "ringfence", "WITHCODE"};
	const char *library = "unknown";
	bool denied;
	redisReply *reply = ask(probe, ARRAY_SIZE(words), words, &denied);

	if (reply && reply->type == REDIS_REPLY_ARRAY && !reply->elements)
		library = "missing";
	else if (reply && reply->type == REDIS_REPLY_ARRAY &&
		 reply->element[0]->type == REDIS_REPLY_ARRAY)
		library = compare_library(reply->element[0]);
	tell(probe, "library", json_string(library));
	tell(probe, "list_denied", json_boolean(denied));
	if (reply)
		freeReplyObject(reply);
}

/* ---- all of it ---- */

static void look_at_engine(struct probe *probe)
{
	const struct rf_engine *engine = &probe->settings->engine;
	struct rf_error error = {};

	tell(probe, "host", rf_json_text(engine->server[0].host));
	tell(probe, "port", rf_json_text(engine->server[0].port));
	if (rf_engine_resolve(&probe->settings->engine, &error))
		memcpy(probe->trouble, error.text, sizeof(error.text));
	else if (connect_to(probe) && log_in(probe)) {
		look_at_info(probe);
		look_at_library(probe);
	}
	if (probe->redis)
		redisFree(probe->redis);
}

int rf_agent_probe(struct rf_agent_settings *settings, int settings_err,
		   const struct rf_error *settings_error, struct rf_error *error)
{
	struct probe probe = {.settings = settings, .facts = json_object()};
	char *text;

	tell(&probe, "settings", settings_err ? rf_json_text(settings_error->text) : json_null());
	tell(&probe, "grace_ms", json_integer(settings->grace_ns / RF_NS_PER_MS));
	if (!settings_err)
		look_at_engine(&probe);
	tell(&probe, "trouble", *probe.trouble ? rf_json_text(probe.trouble) : json_null());
	text = json_dumps(probe.facts, JSON_COMPACT);
	json_decref(probe.facts);
	if (!text)
		return rf_error_failed(error, -ENOMEM, "cannot look: %s", strerror(ENOMEM));
	rf_say_text(text);
	free(text);
	return 0;
}
