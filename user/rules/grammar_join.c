// SPDX-License-Identifier: GPL-2.0
/* The options of `fleet join`: the settings of the agent's file, from their rows in the schema. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/prefix.h"
#include "ringfence/fleet.h"
#include "rules/grammar_option.h"
#include "rules/private.h"
#include "rules/settings.h"

/*
 * Fields omitted from a row are intentionally zero; clang warns about that in plain rows, gcc does
 * not.
 */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#define SERVER_SIZE 256
#define USER_LONGEST 255

int rf_store_setting(const struct rf_option *option, const char *value, void *into,
		     struct rf_error *error)
{
	(void)error;
	*(const char **)((char *)into + option->at) = value;
	return 0;
}

/* A name or an address; one of IPv6 is in brackets. */
static bool is_server(const char *text)
{
	struct rf_host_port parts;
	struct rf_error ignored;
	uint32_t port;

	if (!rf_host_port_split(text, &parts))
		return false;
	for (size_t i = 0; i < parts.length; i++)
		if (!isalnum((unsigned char)parts.host[i]) && !strchr("-._", parts.host[i]) &&
		    !(parts.in_brackets && strchr(":%", parts.host[i])))
			return false;
	return parts.length && parts.length < SERVER_SIZE &&
	       !rf_parse_number(parts.port, "port", 1, UINT16_MAX, &port, &ignored);
}

/* One, or nodes of a cluster with commas between. */
static int parse_engine(const struct rf_option *option, const char *value, void *into,
			struct rf_error *error)
{
	char server[SERVER_SIZE + sizeof(":65535")];
	const char *rest = value;

	for (int count = 1;; count++) {
		const size_t length = strcspn(rest, ",");

		snprintf(server, sizeof(server), "%.*s", (int)length, rest);
		if (length >= sizeof(server) || !is_server(server))
			return rf_error_usage(error,
					      "'%s': 'redis' expects HOST:PORT, like "
					      "192.0.2.10:6379 or [2001:db8::10]:6379",
					      server);
		if (count > RF_SERVERS_MOST)
			return rf_error_usage(error,
					      "'redis': names more than %d nodes of a cluster; the "
					      "others are discovered automatically",
					      RF_SERVERS_MOST);
		rest += length;
		if (!*rest++)
			return rf_store_setting(option, value, into, error);
	}
}

/* It is written to a file, in which '#' starts a comment. */
static int parse_user(const struct rf_option *option, const char *value, void *into,
		      struct rf_error *error)
{
	size_t length = 0;

	while (isgraph((unsigned char)value[length]) && value[length] != '#')
		length++;
	if (!length || value[length] || length > USER_LONGEST)
		return rf_error_usage(
			error,
			"'%s': invalid user: expects 1-%d visible ASCII characters without '#'",
			value, USER_LONGEST);
	return rf_store_setting(option, value, into, error);
}

/* `what` is the option before the word `file`. */
static int parse_path(const struct rf_option *option, const char *value, void *into,
		      struct rf_error *error)
{
	if (*value != '/' || strpbrk(value, " \t\r\n#"))
		return rf_error_usage(
			error, "'%s': '%s file' expects an absolute path without blanks and '#'",
			value, option->what);
	return rf_store_setting(option, value, into, error);
}

/* The word after the option is not `file`. */
static int refuse_secret(const struct rf_option *option, const char *value, void *into,
			 struct rf_error *error)
{
	(void)value;
	(void)into;
	return rf_error_usage(error,
			      "'%s': expects 'file PATH': a %s on a command line is seen "
			      "by every user",
			      option->word, option->word);
}

static int parse_hosts(const struct rf_option *option, const char *value, void *into,
		       struct rf_error *error)
{
	struct rf_join *join = into;
	int err = rf_parse_number(value, "number of hosts", 1, RF_FLEET_HOSTS_MAX, &join->hosts,
				  error);

	return err ? err : rf_store_setting(option, value, into, error);
}

static int parse_grace(const struct rf_option *option, const char *value, void *into,
		       struct rf_error *error)
{
	uint64_t unused_ns;
	int err = rf_parse_time_in(option, value, &unused_ns, error);

	return err ? err : rf_store_setting(option, value, into, error);
}

static int parse_asks(const struct rf_option *option, const char *value, void *into,
		      struct rf_error *error)
{
	uint32_t each_s;
	int err = rf_parse_asks(value, &each_s, error);

	return err ? err : rf_store_setting(option, value, into, error);
}

#define SET(id) INTO(struct rf_join, value[RF_SET_##id])
#define WORDS(...)                 \
	(const struct rf_option[]) \
	{                          \
		__VA_ARGS__,       \
		{                  \
		}                  \
	}
#define ONE(word) word
#define TWO(first, second) (first, second)
#define UNPACK(first, second) first, second
#define SECRET_ROW(id, first, second, hint, help)                                                  \
	{                                                                                          \
		first, RF_KIND_WORD, .parse = refuse_secret,                                       \
				     .words = WORDS({second, RF_KIND_FILE, hint, .summary = help,  \
						     SET(id), .what = first, .parse = parse_path}) \
	}
#define SECRET(...) SECRET_ROW(__VA_ARGS__)

/* By the kind of a setting. */
#define JOIN_engine(id, name, hint, initial, shortest, longest, help)                          \
	{                                                                                      \
		name, RF_KIND_ENGINE, hint, .summary = help, .flags = RF_OPTION_MUST, SET(id), \
					    .parse = parse_engine                              \
	}
#define JOIN_hosts(id, name, hint, initial, shortest, longest, help)                           \
	{                                                                                      \
		name, RF_KIND_NUMBER, hint, .summary = help, .flags = RF_OPTION_MUST, SET(id), \
					    .parse = parse_hosts                               \
	}
#define JOIN_text(id, name, hint, initial, shortest, longest, help)                     \
	{                                                                               \
		name, RF_KIND_USER, hint, .summary = help, SET(id), .parse = parse_user \
	}
#define JOIN_password(id, name, hint, initial, shortest, longest, help) \
	SECRET(id, UNPACK name, hint, help)
#define JOIN_key(id, name, hint, initial, shortest, longest, help) \
	SECRET(id, UNPACK name, hint, help)
#define JOIN_time(id, name, hint, initial, shortest, longest, help)                              \
	{                                                                                        \
		name, RF_KIND_TIME, hint,                                                        \
			.summary = help ", " shortest " to " longest " (default: " initial ")",  \
			SET(id), TIMES(shortest, longest), .what = "grace", .parse = parse_grace \
	}
#define JOIN_asks(id, name, hint, initial, shortest, longest, help)                           \
	{                                                                                     \
		name, RF_KIND_RATE, hint, .summary = help " (default: " initial ")", SET(id), \
					  .parse = parse_asks                                 \
	}
#define JOIN_bans(id, name, hint, initial, shortest, longest, help)                                \
	{                                                                                          \
		name, RF_KIND_WORD,                                                                \
			.words =                                                                   \
				WORDS({hint, .summary = help, SET(id), .parse = rf_store_setting}) \
	}
#define SETTING(id, name, hint, kind, member, ...) JOIN_##kind(id, name, hint, __VA_ARGS__),

/* The settings of the agent's file. */
const struct rf_option rf_join_options[] = {
#include "schema/fleet_settings.def"
	{},
};

int rf_check_join(void *arguments, uint64_t now_ns, struct rf_error *error)
{
	const struct rf_join *join = arguments;

	(void)now_ns;
	if (!join->value[RF_SET_REDIS])
		return rf_error_usage(
			error,
			"the fleet server is missing; write fleet join %s redis HOST:PORT "
			"hosts N",
			join->fence);
	if (!join->hosts)
		return rf_error_usage(error,
				      "the number of hosts is missing; write fleet join %s redis "
				      "%s hosts N",
				      join->fence, join->value[RF_SET_REDIS]);
	return 0;
}
