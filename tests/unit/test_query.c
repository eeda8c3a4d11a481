// SPDX-License-Identifier: GPL-2.0
/* A page's permitted requests, their URLs, and their replies. */
#include "unit.h"

#include <arpa/inet.h>

#include "daemon/request.h"

#define TOKEN "0123456789abcdef"
#define RANGE "from=1795453000000&to=1795453300000"

struct row {
	const char *path, *args;
	const char *wrong; /* a part of the sentence; NULL: it is right */
	struct rf_query query;
};

static void parse(void **state)
{
	const struct row *row = *state;
	struct rf_query query;
	const char *wrong = rf_query_parse(row->path, row->args, &query);

	if (row->wrong) {
		assert_non_null(wrong);
		assert_non_null(strstr(wrong, row->wrong));
		return;
	}
	assert_null(wrong);
	assert_true(rf_query_is_sound(&query));
	assert_true(rf_query_equal(&query, &row->query));
}

#define READS(title, path, args, ...) \
	UNIT_ROW_OF("reads " title, parse, (&(struct row){path, args, NULL, {__VA_ARGS__}}))
#define REFUSES(title, path, args, wrong) \
	UNIT_ROW_OF("refuses " title, parse, (&(struct row){path, args, wrong, {}}))
#define FROM_TO .from_ms = 1795453000000, .to_ms = 1795453300000

static void what_another_process_sends_is_judged_again(void **state)
{
	struct rf_query sound = {.kind = RF_QUERY_SOURCE, .has_source = 1, FROM_TO};
	struct rf_query wrong;

	(void)state;
	strcpy(sound.source, "192.0.2.66");
	assert_true(rf_query_is_sound(&sound));
	wrong = sound;
	wrong.kind = RF_QUERY_KINDS;
	assert_false(rf_query_is_sound(&wrong));
	wrong = sound;
	memset(wrong.fence, 'x', sizeof(wrong.fence));
	assert_false(rf_query_is_sound(&wrong));
	wrong = sound;
	strcpy(wrong.fence, "../x");
	assert_false(rf_query_is_sound(&wrong));
	wrong = sound;
	memset(wrong.source, '1', sizeof(wrong.source));
	assert_false(rf_query_is_sound(&wrong));
	wrong = sound;
	strcpy(wrong.source, "192.0.2.066");
	assert_false(rf_query_is_sound(&wrong));
	wrong = sound;
	wrong.to_ms = wrong.from_ms;
	assert_false(rf_query_is_sound(&wrong));
	wrong = sound;
	wrong.has_source = 2;
	assert_false(rf_query_is_sound(&wrong));
}

/* ---- who gets it ---- */

struct asked {
	const char *path, *authorization;
	const char *token; /* of the site; NULL: TOKEN */
	uint32_t address;  /* 0: the loopback address */
	bool on_socket;
	unsigned int status;
	enum rf_answer_kind kind;
};

static void judge(void **state)
{
	const struct asked *asked = *state;
	struct rf_site site = {.listen = {{.version = 4}, 9436}};
	const struct rf_request request = {
		.method = "GET",
		.path = asked->path,
		.host = asked->address ? "192.0.2.1:9436" : "127.0.0.1:9436",
		.authorization = asked->authorization,
		.on_socket = asked->on_socket,
	};
	struct rf_response answer;

	strcpy(site.token, asked->token ?: TOKEN);
	site.listen.address.word[0] = htonl(asked->address ?: INADDR_LOOPBACK);
	answer = rf_request_judge(&site, &request);
	assert_int_equal(answer.status, asked->status);
	assert_int_equal(answer.kind, asked->kind);
}

#define GETS(title, code, what, ...)                    \
	UNIT_ROW_OF("answers " title ": " #code, judge, \
		    (&(struct asked){__VA_ARGS__, .status = code, .kind = what}))
#define LIVE .path = "/api/live"
#define RIGHT .authorization = "Bearer " TOKEN

static const struct CMUnitTest tests[] = {
	READS("the last scan", "/api/live", NULL, .kind = RF_QUERY_LIVE),
	READS("no words", "/api/live", "", .kind = RF_QUERY_LIVE),
	READS("a fence", "/api/live", "fence=eth0", .kind = RF_QUERY_LIVE, .fence = "eth0"),
	READS("a fence with an odd name", "/api/live", "fence=a%26b%3d%25", .kind = RF_QUERY_LIVE,
	      .fence = "a&b=%"),
	READS("the last minute", "/api/recent", "fence=eth0", .kind = RF_QUERY_RECENT,
	      .fence = "eth0"),
	READS("a range", "/api/range", RANGE, .kind = RF_QUERY_RANGE, FROM_TO),
	READS("the words in any order", "/api/events",
	      "to=1795453300000&fence=eth0&from=1795453000000", .kind = RF_QUERY_EVENTS,
	      .fence = "eth0", FROM_TO),
	READS("a source", "/api/source", RANGE "&source=192.0.2.66", .kind = RF_QUERY_SOURCE,
	      .has_source = 1, .source = "192.0.2.66", FROM_TO),
	READS("a network in its usual form", "/api/source",
	      RANGE "&source=2001%3ADB8%3A0%3A%3A%2F48", .kind = RF_QUERY_SOURCE, .has_source = 1,
	      .source = "2001:db8::/48", FROM_TO),
	REFUSES("another path", "/api/", NULL, "there is live"),
	REFUSES("a path that goes on", "/api/live/x", NULL, "there is live"),
	REFUSES("another word", "/api/live", "table=x", "fence="),
	REFUSES("a word without a value", "/api/live", "fence", "fence="),
	REFUSES("an empty word", "/api/live", "&", "fence="),
	REFUSES("a word given twice", "/api/live", "fence=a&fence=b", "twice"),
	REFUSES("half an escape", "/api/live", "fence=%2", "not encoded"),
	REFUSES("a wrong escape", "/api/live", "fence=%zz", "not encoded"),
	REFUSES("a NUL", "/api/live", "fence=a%00b", "not encoded"),
	REFUSES("a line break", "/api/live", "fence=a%0ab", "not encoded"),
	REFUSES("a fence too long", "/api/live", "fence=0123456789012345678901234567890123456789",
		"the name of a fence"),
	REFUSES("a range of the last scan", "/api/live", RANGE, "accept only fence="),
	REFUSES("a range of the last minute", "/api/recent", RANGE, "accept only fence="),
	REFUSES("a range without an end", "/api/range", "from=5", "from= and to="),
	REFUSES("a range without a beginning", "/api/range", "to=5", "from= and to="),
	REFUSES("a range backwards", "/api/range", "from=9&to=5", "from= and to="),
	REFUSES("a range of years", "/api/range", "from=1&to=99999999999999", "400 days"),
	REFUSES("a time with a sign", "/api/range", "from=-5&to=9", "'from' expects"),
	REFUSES("a time that overflows", "/api/range", "from=1&to=18446744073709551617",
		"'to' expects"),
	REFUSES("a source in a range", "/api/range", RANGE "&source=192.0.2.1", "takes source="),
	REFUSES("a source without one", "/api/source", RANGE, "takes source="),
	REFUSES("a source that is none", "/api/source", RANGE "&source=x", "'source' expects"),
	UNIT_ROW("judges again what another process sends",
		 what_another_process_sends_is_judged_again),
	GETS("a query with the token", 200, RF_ANSWER_QUERY, LIVE, RIGHT),
	GETS("a query without it", 401, RF_ANSWER_TEXT, LIVE),
	GETS("a query with another token", 401, RF_ANSWER_TEXT, LIVE,
	     .authorization = "Bearer 0123456789abcdee"),
	GETS("a query where there is no token", 401, RF_ANSWER_TEXT, LIVE, .token = "",
	     .authorization = "Bearer "),
	GETS("a query without it on a socket", 401, RF_ANSWER_TEXT, LIVE, .on_socket = true),
	GETS("a query with it on a socket", 200, RF_ANSWER_QUERY, LIVE, RIGHT, .on_socket = true),
	GETS("a wrong query with the token", 400, RF_ANSWER_TEXT, .path = "/api/x", RIGHT),
	GETS("a wrong query without it", 401, RF_ANSWER_TEXT, .path = "/api/x"),
	GETS("the page without a token", 200, RF_ANSWER_ASSET, .path = "/"),
	GETS("the page on an open address", 200, RF_ANSWER_ASSET, .path = "/",
	     .address = 0xc0000201),
	GETS("a query on an open address", 401, RF_ANSWER_TEXT, LIVE, .address = 0xc0000201),
	GETS("a file that is none of the page", 404, RF_ANSWER_TEXT, .path = "/page.js/"),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
