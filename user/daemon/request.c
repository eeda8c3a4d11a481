// SPDX-License-Identifier: GPL-2.0
/* Parses a request, and selects its reply. Pure; it trusts no byte. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/units.h"
#include "daemon/query.h"
#include "daemon/request.h"

/* ---- queries ---- */

#define NUMBER_DIGITS 15 /* milliseconds until the year 33658; JavaScript has them exactly */

enum word { WORD_FENCE, WORD_FROM, WORD_TO, WORD_SOURCE, WORDS };

static const char *const words[WORDS] = {
	[WORD_FENCE] = "fence",
	[WORD_FROM] = "from",
	[WORD_TO] = "to",
	[WORD_SOURCE] = "source",
};
static const char *const kinds[RF_QUERY_KINDS] = {
	[RF_QUERY_LIVE] = "live",	[RF_QUERY_RECENT] = "recent", [RF_QUERY_RANGE] = "range",
	[RF_QUERY_SOURCES] = "sources", [RF_QUERY_EVENTS] = "events", [RF_QUERY_SOURCE] = "source",
};

/* ---- text ---- */

static int hex_digit(char c)
{
	static const char digits[] = "0123456789abcdef0123456789ABCDEF";
	const char *found = c ? strchr(digits, c) : NULL;

	return found ? (found - digits) % 16 : -1;
}

/* Copies `length` bytes and decodes %XX. False: too long, not decodable, or with a control. */
static bool decode(const char *text, size_t length, char *to, size_t size)
{
	size_t at = 0;

	for (size_t i = 0; i < length; i++) {
		unsigned char c = text[i];

		if (c == '%') {
			const int high = i + 2 < length ? hex_digit(text[i + 1]) : -1;
			const int low = i + 2 < length ? hex_digit(text[i + 2]) : -1;

			if (high < 0 || low < 0)
				return false;
			c = high << 4 | low;
			i += 2;
		}
		if (c < ' ' || c == 0x7f || at + 1 >= size)
			return false;
		to[at++] = c;
	}
	to[at] = '\0';
	return true;
}

static bool take_number(const char *text, uint64_t *number)
{
	const size_t digits = strspn(text, "0123456789");

	*number = 0;
	if (!digits || digits > NUMBER_DIGITS || text[digits])
		return false;
	for (size_t i = 0; i < digits; i++)
		*number = *number * 10 + (text[i] - '0');
	return *number != 0;
}

/* ---- words ---- */

static const char *take_source(struct rf_query *query, const char *value)
{
	struct rf_error ignored;
	struct rf_prefix prefix;
	char text[RF_PREFIX_TEXT_SIZE];

	if (rf_parse_prefix(value, &prefix, &ignored))
		return "'source' expects an address or a prefix\n";
	rf_format_prefix(&prefix, text);
	strcpy(query->source, text);
	query->has_source = 1;
	return NULL;
}

static const char no_fence[] = "'fence' expects the name of a fence\n";

static const char *take_value(struct rf_query *query, enum word word, const char *value)
{
	switch (word) {
	case WORD_FENCE:
		if (strlen(value) >= sizeof(query->fence))
			return no_fence;
		strcpy(query->fence, value);
		return NULL;
	case WORD_FROM:
		return take_number(value, &query->from_ms)
			       ? NULL
			       : "'from' expects milliseconds since 1970\n";
	case WORD_TO:
		return take_number(value, &query->to_ms) ? NULL
							 : "'to' expects milliseconds since 1970\n";
	default:
		return take_source(query, value);
	}
}

/* WORDS: invalid. */
static enum word find_word(const char *text, size_t length)
{
	int word = 0;

	while (word < WORDS &&
	       (strlen(words[word]) != length || strncmp(words[word], text, length) != 0))
		word++;
	return word;
}

static const char *take_args(struct rf_query *query, const char *args)
{
	unsigned int given = 0;

	while (*args) {
		const size_t length = strcspn(args, "&"), name = strcspn(args, "=&");
		const enum word word = find_word(args, name);
		char value[RF_QUERY_ARGS_SIZE];
		const char *wrong;

		if (word == WORDS || name == length)
			return "a query has fence=, from=, to= and source=\n";
		if (given >> word & 1)
			return "a word of the query is given twice\n";
		given |= 1U << word;
		if (!decode(args + name + 1, length - name - 1, value, sizeof(value)))
			return "the query is not encoded as a URL is\n";
		wrong = take_value(query, word, value);
		if (wrong)
			return wrong;
		args += length + (args[length] == '&');
	}
	return NULL;
}

/* ---- queries ---- */

static const char *judge(const struct rf_query *query)
{
	const bool has_range = query->from_ms || query->to_ms;

	if (strchr(query->fence, '/'))
		return no_fence;
	if (query->kind == RF_QUERY_LIVE || query->kind == RF_QUERY_RECENT)
		return has_range || query->has_source ? "'live' and 'recent' accept only fence=\n"
						      : NULL;
	if (!query->from_ms || query->from_ms >= query->to_ms ||
	    query->to_ms - query->from_ms > RF_QUERY_SPAN_MAX_MS)
		return "a range has from= and to=, in this order, and 400 days at most\n";
	if (query->has_source != (query->kind == RF_QUERY_SOURCE))
		return "'source' takes source=, and nothing else does\n";
	return NULL;
}

static bool find_kind(const char *path, uint32_t *kind)
{
	const size_t before = strlen(RF_QUERY_PATH);

	if (strncmp(path, RF_QUERY_PATH, before) != 0)
		return false;
	for (*kind = 0; *kind < RF_QUERY_KINDS; (*kind)++)
		if (strcmp(path + before, kinds[*kind]) == 0)
			return true;
	return false;
}

const char *rf_query_parse(const char *path, const char *args, struct rf_query *query)
{
	const char *wrong = NULL;

	memset(query, 0, sizeof(*query));
	if (!find_kind(path, &query->kind))
		return "there is live, recent, range, sources, events and source\n";
	if (args && strlen(args) >= RF_QUERY_ARGS_SIZE)
		return "the query is too long\n";
	if (args)
		wrong = take_args(query, args);
	return wrong ?: judge(query);
}

bool rf_query_is_sound(const struct rf_query *query)
{
	struct rf_query again = *query;

	if (query->kind >= RF_QUERY_KINDS || query->has_source > 1 ||
	    !memchr(query->fence, '\0', sizeof(query->fence)) ||
	    !memchr(query->source, '\0', sizeof(query->source)) || judge(query))
		return false;
	if (!query->has_source)
		return !*query->source;
	return !take_source(&again, query->source) && strcmp(again.source, query->source) == 0;
}

bool rf_query_equal(const struct rf_query *a, const struct rf_query *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

/* ---- requests ---- */

/* ---- the Host ---- */

/* Is `host` the name with the port? A name without a port has the port of the site. */
static bool is_name(const char *host, const char *name, uint16_t port)
{
	const char *colon = strrchr(name, ':');
	char full[RF_HOST_SIZE + 8];

	if (colon && colon[1] && !strchr(colon, ']'))
		return strcasecmp(host, name) == 0;
	snprintf(full, sizeof(full), "%s:%d", name, port);
	return strcasecmp(host, full) == 0 || (port == 80 && strcasecmp(host, name) == 0);
}

/* Is it an address with the port, whichever? Names are what DNS rebinding needs. */
static bool is_address(const char *host, uint16_t port)
{
	struct rf_listen listen;

	return rf_parse_listen(host, &listen) && listen.port == port;
}

static bool host_is_allowed(const struct rf_site *site, const char *host)
{
	const struct rf_listen *listen = &site->listen;
	char own[RF_LISTEN_TEXT_SIZE];

	for (int i = 0; i < site->hosts; i++)
		if (is_name(host, site->host[i], listen->port))
			return true;
	if (rf_listen_is_wildcard(listen) && is_address(host, listen->port))
		return true;
	rf_format_listen(listen, own);
	if (strcmp(host, own) == 0)
		return true;
	return rf_listen_is_loopback(listen) && is_name(host, "localhost", listen->port);
}

/* A page of another site sends requests in the name of its reader. */
static bool origin_is_host(const char *origin, const char *host)
{
	const char *authority = strstr(origin, "://");

	return authority && host && strcasecmp(authority + 3, host) == 0;
}

/* ---- the token ---- */

/* Takes as long for a token that differs in its last byte as for one that differs everywhere. */
static bool is_equal(const char *a, const char *b)
{
	const size_t length_a = strlen(a), length_b = strlen(b);
	unsigned char different = length_a != length_b;

	for (size_t i = 0; i < length_a; i++)
		different |= a[i] ^ b[length_b ? i % length_b : 0];
	return !different;
}

enum token { NO_TOKEN, RIGHT_TOKEN, WRONG_TOKEN };

static enum token token_of(const struct rf_site *site, const struct rf_request *request)
{
	const char scheme[] = "Bearer ";
	const char *given = request->authorization;

	if (!given || strncasecmp(given, scheme, strlen(scheme)) != 0)
		return NO_TOKEN;
	given += strlen(scheme);
	given += strspn(given, " ");
	return *site->token && is_equal(given, site->token) ? RIGHT_TOKEN : WRONG_TOKEN;
}

/* ---- the format ---- */

/* The value of "q=", in thousandths: 0 to 1000, for any text. */
static int thousandths(const char *text)
{
	const double weight = strtod(text, NULL);

	if (weight > 1)
		return 1000;
	return weight > 0 ? (int)(weight * 1000) : 0;
}

/* The weight of a type in Accept, in thousandths; -1: it is not named. */
static int weight_of(const char *accept, const char *type)
{
	const size_t length = strlen(type);

	for (const char *at = accept; at; at = strchr(at, ',')) {
		const char *end, *q;

		at += strspn(at, ", \t");
		end = strchrnul(at, ',');
		if (strncasecmp(at, type, length) != 0 || !strchr(";, \t", at[length]))
			continue;
		q = strcasestr(at, "q=");
		return q && q < end ? thousandths(q + 2) : 1000;
	}
	return -1;
}

static bool wants_openmetrics(const char *accept)
{
	const int open = accept ? weight_of(accept, "application/openmetrics-text") : 0;

	return open > 0 && open >= weight_of(accept, "text/plain");
}

/* ---- the reply ---- */

#define NEEDS_TOKEN "it takes the token: Authorization: Bearer TOKEN\n"

static struct rf_response say(unsigned int status, const char *text)
{
	return (struct rf_response){.status = status, .text = text};
}

static struct rf_response answer_metrics(const struct rf_request *request, enum token token)
{
	struct rf_response answer = {
		.status = 200, .kind = RF_ANSWER_DOCUMENT, .document = RF_DOC_TEXT};

	if (wants_openmetrics(request->accept))
		answer.document = token == RIGHT_TOKEN ? RF_DOC_WITH_EXEMPLARS : RF_DOC_OPENMETRICS;
	return answer;
}

static struct rf_response answer_query(const struct rf_request *request, enum token token)
{
	struct rf_response answer = {.status = 200, .kind = RF_ANSWER_QUERY};
	const char *wrong;

	if (token != RIGHT_TOKEN)
		return say(401, NEEDS_TOKEN);
	wrong = rf_query_parse(request->path, request->args, &answer.query);
	return wrong ? say(400, wrong) : answer;
}

/* The page without its data: a browser that opens it cannot present the token yet. */
static bool is_asset(const char *path)
{
	static const char *const paths[] = {"/", "/page.css", "/page.js", "/plots.js", "/icon.svg"};

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		if (strcmp(path, paths[i]) == 0)
			return true;
	return false;
}

/* Refusals that apply to any request. `status` 0: no error. */
static struct rf_response refuse(const struct rf_site *site, const struct rf_request *request)
{
	if (strcmp(request->method, "GET") != 0 && strcmp(request->method, "HEAD") != 0)
		return say(405, "only GET and HEAD are answered here\n");
	if (request->has_header_twice)
		return say(400, "the request has a header twice that may be there once\n");
	if (request->has_body)
		return say(400, "a request has no body here\n");
	if (!request->on_socket && !request->host)
		return say(400, "the request has no Host\n");
	if (!request->on_socket && !host_is_allowed(site, request->host))
		return say(421,
			   "this Host is not answered here; the setting 'host NAME' adds one\n");
	if (request->fetch_site && strcasecmp(request->fetch_site, "cross-site") == 0)
		return say(403, "requests from another site are refused\n");
	if (request->origin && !origin_is_host(request->origin, request->host))
		return say(403, "requests from another origin are refused\n");
	return say(0, NULL);
}

struct rf_response rf_request_judge(const struct rf_site *site, const struct rf_request *request)
{
	const enum token token = token_of(site, request);
	const bool is_open = !request->on_socket && !rf_listen_is_loopback(&site->listen);
	const struct rf_response refusal = refuse(site, request);

	if (refusal.status)
		return refusal;
	if (is_asset(request->path))
		return (struct rf_response){
			.status = 200, .kind = RF_ANSWER_ASSET, .text = request->path};
	if (token == WRONG_TOKEN || (is_open && token == NO_TOKEN))
		return say(401, NEEDS_TOKEN);
	if (strcmp(request->path, "/metrics") == 0)
		return answer_metrics(request, token);
	if (strncmp(request->path, RF_QUERY_PATH, strlen(RF_QUERY_PATH)) == 0)
		return answer_query(request, token);
	return say(404, "there is / and /metrics\n");
}

/* ---- ages ---- */

#define AGE_METRIC "ringfence_scan_age_seconds{"

/* Copies a line, with `more_ns` added to its value. */
static void age_line(FILE *out, const char *line, size_t length, uint64_t more_ns)
{
	const char *value = memrchr(line, ' ', length);
	char number[32] = "";

	if (value)
		snprintf(number, sizeof(number), " %.3f",
			 strtod(value, NULL) + (double)more_ns / RF_NS_PER_S);
	fwrite(line, 1, value ? (size_t)(value - line) : length, out);
	fwrite(number, 1, strlen(number), out);
}

char *rf_document_age(const char *text, uint64_t more_ns, size_t *length)
{
	char *aged = NULL;
	FILE *out = open_memstream(&aged, length);

	if (!out)
		return NULL;
	while (*text) {
		const size_t line = strcspn(text, "\n");

		if (strncmp(text, AGE_METRIC, strlen(AGE_METRIC)) == 0)
			age_line(out, text, line, more_ns);
		else
			fwrite(text, 1, line, out);
		text += line;
		if (*text)
			fputc(*text++, out);
	}
	if (fclose(out)) {
		free(aged);
		return NULL;
	}
	return aged;
}
