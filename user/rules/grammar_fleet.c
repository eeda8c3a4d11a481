// SPDX-License-Identifier: GPL-2.0
/* Parses the words after the commands of a fleet. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/prefix.h"
#include "ringfence/fleet.h"
#include "rules/grammar_option.h"
#include "rules/private.h"
#include "rules/settings.h"

#define ENGINE_LONGEST 255
#define USER_LONGEST 255

static int parse_hosts(const char *value, void *into, struct rf_error *error)
{
	struct rf_join *join = into;

	return rf_parse_number(value, "number of hosts", 1, RF_FLEET_HOSTS_MAX, &join->hosts,
			       error);
}

int rf_parse_hosts(struct rf_words *words, uint32_t *hosts, struct rf_error *error)
{
	const char *text = rf_words_next(words);
	struct rf_join join = {};
	int err = text ? parse_hosts(text, &join, error) : 0;

	*hosts = join.hosts;
	return err ? err : rf_words_end(words, error);
}

/* ---- join ---- */

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
	return parts.length && parts.length <= ENGINE_LONGEST &&
	       !rf_parse_number(parts.port, "port", 1, UINT16_MAX, &port, &ignored);
}

/* One, or nodes of a cluster with commas between. */
static int parse_engine(const char *value, void *into, struct rf_error *error)
{
	char server[ENGINE_LONGEST + sizeof(":65535")];
	struct rf_join *join = into;
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
					      "'redis': names more than %d nodes of a cluster; "
					      "those that it does not name are found",
					      RF_SERVERS_MOST);
		rest += length;
		if (!*rest++)
			break;
	}
	join->engine = value;
	return 0;
}

/* It is a word of a file, in which '#' begins a comment. */
static int parse_user(const char *value, void *into, struct rf_error *error)
{
	struct rf_join *join = into;
	size_t length = 0;

	while (isgraph((unsigned char)value[length]) && value[length] != '#')
		length++;
	if (!length || value[length] || length > USER_LONGEST)
		return rf_error_usage(error,
				      "'%s': invalid user: it may have 1-%d visible ASCII "
				      "characters, and no '#'",
				      value, USER_LONGEST);
	join->user = value;
	return 0;
}

/* The word after the option is `file`; the path follows. */
static int parse_secret(enum rf_join_option number, const char *value, struct rf_join *join,
			const char **file, struct rf_error *error)
{
	const struct rf_option *option = &rf_join_options[number];
	unsigned int row;
	const char *path;

	if (rf_parse_word(option, value, &row, error))
		return rf_error_usage(error,
				      "'%s': expects 'file PATH': a %s on a command line is seen "
				      "by every user",
				      option->word, option->word);
	path = rf_words_next(join->words);
	if (!path)
		return rf_fail_value(&option->words[row], NULL, error);
	if (*path != '/' || strpbrk(path, " \t\r\n#"))
		return rf_error_usage(error,
				      "'%s': '%s file' expects a path that begins with '/', "
				      "without blanks and '#'",
				      path, option->word);
	*file = path;
	return 0;
}

static int parse_password(const char *value, void *into, struct rf_error *error)
{
	struct rf_join *join = into;

	return parse_secret(RF_OPT_PASSWORD, value, join, &join->password_file, error);
}

static int parse_key(const char *value, void *into, struct rf_error *error)
{
	struct rf_join *join = into;

	return parse_secret(RF_OPT_KEY, value, join, &join->key_file, error);
}

static int parse_grace(const char *value, void *into, struct rf_error *error)
{
	struct rf_join *join = into;

	return rf_parse_time_in(value, "grace", RF_GRACE_LEAST_NS, RF_GRACE_MOST_NS, "200ms-60s",
				&join->grace_ns, error);
}

static int parse_asks(const char *value, void *into, struct rf_error *error)
{
	struct rf_join *join = into;
	struct rf_rate rate;

	if (rf_parse_rate(value, &rate, error) || rate.in_bits || rate.window_ns != RF_NS_PER_S ||
	    !rate.count || rate.count > RF_ASKS_MOST)
		return rf_error_usage(error, "'%s': 'asks' expects 1/s to %d/s", value,
				      RF_ASKS_MOST);
	join->asks = rate.count;
	return 0;
}

static int parse_bans(const char *value, void *into, struct rf_error *error)
{
	struct rf_join *join = into;
	unsigned int row;

	join->takes_bans = true;
	return rf_parse_word(&rf_join_options[RF_OPT_BANS], value, &row, error);
}

static int check_join(const struct rf_join *join, struct rf_error *error)
{
	const char *tls = rf_words_peek(join->words);

	if (tls && strcmp(tls, "tls") == 0)
		return rf_error_usage(error,
				      "'tls': the agent does not speak TLS; run stunnel beside it, "
				      "and name its address with 'redis'");
	if (tls)
		return rf_words_end(join->words, error);
	if (!join->engine)
		return rf_error_usage(error,
				      "the engine is missing; write fleet join %s redis HOST:PORT "
				      "hosts N",
				      join->fence);
	if (!join->hosts)
		return rf_error_usage(error,
				      "the number of hosts is missing; write fleet join %s redis "
				      "%s hosts N",
				      join->fence, join->engine);
	return 0;
}

int rf_parse_join(struct rf_words *words, struct rf_join *join, struct rf_error *error)
{
	static const rf_option_parser parsers[RF_JOIN_OPTIONS] = {
		[RF_OPT_REDIS] = parse_engine, [RF_OPT_HOSTS] = parse_hosts,
		[RF_OPT_USER] = parse_user,    [RF_OPT_PASSWORD] = parse_password,
		[RF_OPT_GRACE] = parse_grace,  [RF_OPT_ASKS] = parse_asks,
		[RF_OPT_BANS] = parse_bans,    [RF_OPT_KEY] = parse_key,
	};
	unsigned int given = 0;
	int err;

	*join = (struct rf_join){.words = words};
	join->fence = rf_take_operand(RF_CMD_FLEET_JOIN, words, error);
	if (!join->fence)
		return -EINVAL;
	err = rf_parse_options(rf_join_options, parsers, words, join, &given, error);
	return err ? err : check_join(join, error);
}

/* ---- bans ---- */

int rf_check_fleet_ban(const struct rf_prefix *prefix, uint64_t time_ns, struct rf_error *error)
{
	const unsigned int least = prefix->version == 6 ? RF_FLEET_BAN_LEAST6 : RF_FLEET_BAN_LEAST4;
	char text[RF_PREFIX_TEXT_SIZE];

	rf_format_prefix(prefix, text);
	if (!time_ns)
		return rf_error_usage(error,
				      "'fleet': a ban of the fleet ends; write deny add %s for "
				      "TIME fleet, with TIME of 1h at most",
				      text);
	if (time_ns > RF_FLEET_BAN_MOST_MS * RF_NS_PER_MS)
		return rf_error_usage(error,
				      "'fleet': hosts take bans of 1h at most; write a shorter "
				      "time, or leave out 'fleet'");
	if (prefix->length < least)
		return rf_error_usage(error,
				      "'%s': hosts take bans of a /%u or longer prefixes; write "
				      "such prefixes, or leave out 'fleet'",
				      text, least);
	return 0;
}

/* ---- top ---- */

static int parse_by(const char *value, void *into, struct rf_error *error)
{
	const struct rf_option *option = &rf_fleet_top_options[RF_OPT_FLEET_BY];
	struct rf_fleet_top *top = into;
	unsigned int row = 0;
	const int err = rf_parse_word(option, value, &row, error);

	top->by = option->words[row].word;
	return err;
}

int rf_parse_fleet_top(struct rf_words *words, struct rf_fleet_top *top, struct rf_error *error)
{
	static const rf_option_parser parsers[RF_FLEET_TOP_OPTIONS] = {
		[RF_OPT_FLEET_BY] = parse_by,
	};
	const char *next = rf_words_peek(words);
	unsigned int given = 0;
	int err = 0;

	*top = (struct rf_fleet_top){.rows = RF_TOP_DEFAULT, .by = "drops"};
	if (next && rf_option_find(rf_fleet_top_options, next) < 0)
		err = rf_fail_near(rf_fleet_top_options, words, error)
			      ?: rf_parse_number(rf_words_next(words), "number of rows", 1,
						 RF_FLEET_TOP_MOST, &top->rows, error);
	if (!err)
		err = rf_parse_options(rf_fleet_top_options, parsers, words, top, &given, error);
	return err ? err : rf_words_end(words, error);
}
