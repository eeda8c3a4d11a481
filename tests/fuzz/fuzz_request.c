// SPDX-License-Identifier: GPL-2.0
/*
 * Requests to the page: a byte of options, then a raw request, for which this file replaces
 * libmicrohttpd. For any request: a reply implies an allowed name, everything that needs the token
 * is refused without it, and only ages change in a document.
 */
#include <stdbool.h>
#include <string.h>

#include "base/units.h"
#include "daemon/request.h"
#include "require.h"

#define TOKEN "0123456789abcdef"

static const struct rf_listen listens[] = {
	{{.version = 4, .word = {__builtin_bswap32(0x7f000001)}}, 9436},
	{{.version = 4}, 9436}, /* 0.0.0.0 */
	{{.version = 6}, 80},	/* [::] */
	{{.version = 4, .word = {__builtin_bswap32(0xc0000201)}}, 80},
};

/* The value of a header, of which the first counts; NULL if not found. */
static const char *value_of(char *const *line, size_t lines, const char *name)
{
	const size_t length = strlen(name);

	for (size_t i = 0; i < lines; i++)
		if (strncasecmp(line[i], name, length) == 0 && line[i][length] == ':')
			return line[i] + length + 1 + strspn(line[i] + length + 1, " ");
	return NULL;
}

static size_t split(char *text, char **line, size_t most)
{
	size_t lines = 0;

	for (char *at; lines < most && (at = strsep(&text, "\n"));) {
		at[strcspn(at, "\r")] = '\0';
		line[lines++] = at;
	}
	return lines;
}

static bool is_an_address(const char *host, const struct rf_listen *listen)
{
	char end[8];
	const char *const colon = strrchr(host, ':');

	snprintf(end, sizeof(end), ":%d", listen->port);
	return colon && !strcmp(colon, end) && !strpbrk(host, "ghijklmnopqrstuvwxyz%/ ");
}

static bool may_be_allowed(const struct rf_site *site, const char *host)
{
	static const char *const names[] = {
		"127.0.0.1:9436", "localhost:9436", "a.example:9436", "b.example:81",
		"a.example:80",	  "a.example",	    "192.0.2.1:80",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcasecmp(host, names[i]))
			return true;
	return rf_listen_is_wildcard(&site->listen) && is_an_address(host, &site->listen);
}

static bool shows_token(const struct rf_request *request)
{
	const char *given = request->authorization;

	if (!given || strncasecmp(given, "Bearer ", 7) != 0)
		return false;
	return !strcmp(given + 6 + strspn(given + 6, " "), TOKEN);
}

static void check(const struct rf_site *site, const struct rf_request *request)
{
	const struct rf_response answer = rf_request_judge(site, request);
	const bool is_open = !request->on_socket && !rf_listen_is_loopback(&site->listen);

	if (answer.status != 200) {
		REQUIRE(answer.status >= 400 && answer.status <= 421);
		REQUIRE(answer.kind == RF_ANSWER_TEXT && *answer.text);
		return;
	}
	REQUIRE(!strcmp(request->method, "GET") || !strcmp(request->method, "HEAD"));
	REQUIRE(request->on_socket || (request->host && may_be_allowed(site, request->host)));
	REQUIRE(answer.kind == RF_ANSWER_ASSET || !is_open || shows_token(request));
	if (answer.kind == RF_ANSWER_QUERY)
		REQUIRE(shows_token(request) && rf_query_is_sound(&answer.query));
	if (answer.kind == RF_ANSWER_DOCUMENT && answer.document == RF_DOC_WITH_EXEMPLARS)
		REQUIRE(shows_token(request));
}

/* The lines, the same except for the ages of scans; their length can be written differently. */
static void check_age(const char *text)
{
	size_t length = 0;
	char *aged = rf_document_age(text, 1500000000, &length), *at = aged;

	REQUIRE(aged && strlen(aged) == length);
	while (*text && *at) {
		const size_t line = strcspn(text, "\n"), aged_line = strcspn(at, "\n");

		if (strncmp(text, "ringfence_scan_age_seconds{", 27) != 0)
			REQUIRE(line == aged_line && !memcmp(text, at, line));
		text += line + (text[line] == '\n');
		at += aged_line + (at[aged_line] == '\n');
	}
	REQUIRE(!*text && !*at);
	free(aged);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rf_site site = {.host = {"a.example", "b.example:81"}, .hosts = 2, .token = TOKEN};
	char *text = size ? strndup((const char *)data + 1, size - 1) : NULL, *line[16], *rest;
	struct rf_request request = {};
	size_t lines;

	if (!text)
		return 0;
	check_age(text);
	site.listen = listens[data[0] % 4];
	lines = split(text, line, ARRAY_SIZE(line));
	rest = lines ? line[0] : text;
	request.method = strsep(&rest, " ");
	if (rest)
		rest[strcspn(rest, " ")] = '\0';
	request.path = rest ? strsep(&rest, "?") : "";
	request.args = rest;
	request.host = value_of(line, lines, "Host");
	request.origin = value_of(line, lines, "Origin");
	request.fetch_site = value_of(line, lines, "Sec-Fetch-Site");
	request.authorization = value_of(line, lines, "Authorization");
	request.accept = value_of(line, lines, "Accept");
	request.has_body = value_of(line, lines, "Content-Length");
	request.on_socket = data[0] & 4;
	check(&site, &request);
	free(text);
	return 0;
}
