// SPDX-License-Identifier: GPL-2.0
/* The reply to each request to the daemon, and how documents reach the page process. */
#include "unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "daemon/request.h"

#define TOKEN "0123456789abcdef"

static const struct rf_site site_of_all = {
	.listen = {{.version = 4}, 9436},
	.host = {"grafana.example", "proxy.example:80"},
	.hosts = 2,
	.token = TOKEN,
};

static struct rf_site site_on(uint32_t address)
{
	struct rf_site site = site_of_all;

	site.listen.address.word[0] = htonl(address);
	return site;
}

struct row {
	struct rf_request request; /* method and path, where NULL: GET /metrics */
	uint32_t address;	   /* 0: the loopback address */
	bool everywhere;	   /* listens on 0.0.0.0 */
	unsigned int status;
	enum rf_document document;
};

static void judge(void **state)
{
	const struct row *row = *state;
	const struct rf_site site =
		site_on(row->address || row->everywhere ? row->address : INADDR_LOOPBACK);
	struct rf_request request = row->request;
	struct rf_response answer;

	request.method = request.method ?: "GET";
	request.path = request.path ?: "/metrics";
	answer = rf_request_judge(&site, &request);
	assert_int_equal(answer.status, row->status);
	if (row->document)
		assert_int_equal(answer.document, row->document);
	else
		assert_non_null(answer.text);
}

#define HERE .host = "127.0.0.1:9436"
#define ANSWERS(title, status, document, ...)             \
	UNIT_ROW_OF("answers " title ": " #status, judge, \
		    (&(struct row){{__VA_ARGS__}, 0, false, status, document}))
#define ANSWERS_AT(title, address, status, document, ...) \
	UNIT_ROW_OF("answers " title ": " #status, judge, \
		    (&(struct row){{__VA_ARGS__}, address, true, status, document}))
#define PROMETHEUS                                                                           \
	"application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.2,*/" \
	"*;q=0.1"

static void ages_grow(void **state)
{
	size_t length;
	char *aged = rf_document_age("# TYPE ringfence_scan_age_seconds gauge\n"
				     "ringfence_scan_age_seconds{fence=\"a b\"} 0.25\n"
				     "ringfence_scan_age_secondsx{fence=\"a\"} 1\nlast 7",
				     1500 * MS, &length);

	(void)state;
	assert_string_equal(aged, "# TYPE ringfence_scan_age_seconds gauge\n"
				  "ringfence_scan_age_seconds{fence=\"a b\"} 1.750\n"
				  "ringfence_scan_age_secondsx{fence=\"a\"} 1\nlast 7");
	assert_int_equal(length, strlen(aged));
	free(aged);
}

/* ---- the feed ---- */

struct pipe_ends {
	struct rf_feed feed;
	struct rf_feed_reader reader;
};

static struct pipe_ends make_pipe(void)
{
	struct pipe_ends ends = {};
	int fd[2];

	assert_int_equal(pipe2(fd, O_NONBLOCK), 0);
	ends.reader.fd = fd[0];
	ends.feed.fd = fd[1];
	return ends;
}

static void put(struct rf_feed *feed, enum rf_document kind, char letter, size_t length)
{
	char *bytes = malloc(length + 1);

	memset(bytes, letter, length);
	assert_int_equal(rf_feed_put(feed, kind, bytes, length, letter), 0);
	free(bytes);
}

/* Takes the next document, and checks that it is all of that letter. */
static void take(struct pipe_ends *ends, enum rf_document kind, char letter, size_t length)
{
	struct rf_feed_message message;
	int got;

	while (!(got = rf_feed_read(&ends->reader, &message)))
		assert_in_range(rf_feed_write(&ends->feed), 0, 1);
	assert_int_equal(got, 1);
	assert_int_equal(message.header.kind, kind);
	assert_int_equal(message.header.length, length);
	assert_int_equal(message.header.made_ns, letter);
	for (size_t i = 0; i < length; i++)
		assert_int_equal(message.bytes[i], letter);
	free(message.bytes);
}

/* A reader that does not read blocks no other reader, and then gets the latest document. */
static void the_newest_wins(void **state)
{
	struct pipe_ends ends = make_pipe();
	struct rf_feed_message none;

	(void)state;
	for (char letter = 'a'; letter <= 'z'; letter++) {
		put(&ends.feed, RF_DOC_TEXT, letter, 300000);
		put(&ends.feed, RF_DOC_OPENMETRICS, letter, 10);
		assert_int_equal(rf_feed_write(&ends.feed), 1);
	}
	take(&ends, RF_DOC_TEXT, 'a', 300000); /* it was on its way */
	take(&ends, RF_DOC_TEXT, 'z', 300000);
	take(&ends, RF_DOC_OPENMETRICS, 'z', 10);
	assert_int_equal(rf_feed_write(&ends.feed), 0);
	assert_int_equal(rf_feed_read(&ends.reader, &none), 0);
	close(ends.feed.fd);
	assert_int_equal(rf_feed_read(&ends.reader, &none), -EPIPE);
	close(ends.reader.fd);
	rf_feed_clear(&ends.feed);
}

static void what_is_no_document_is_refused(void **state)
{
	static const struct rf_feed_header wrong[] = {{RF_DOCUMENTS, 1, 0},
						      {RF_DOC_TEXT, RF_DOCUMENT_MAX + 1, 0}};

	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(wrong); i++) {
		struct pipe_ends ends = make_pipe();
		struct rf_feed_message none;

		assert_int_equal(write(ends.feed.fd, &wrong[i], sizeof(wrong[i])),
				 sizeof(wrong[i]));
		assert_int_equal(rf_feed_read(&ends.reader, &none), -EPROTO);
		close(ends.feed.fd);
		close(ends.reader.fd);
	}
}

static const struct CMUnitTest tests[] = {
	ANSWERS("metrics", 200, RF_DOC_TEXT, HERE),
	ANSWERS("HEAD", 200, RF_DOC_TEXT, HERE, .method = "HEAD"),
	ANSWERS("/", 200, 0, HERE, .path = "/"),
	ANSWERS("another path", 404, 0, HERE, .path = "/../metrics"),
	ANSWERS("POST", 405, 0, HERE, .method = "POST"),
	ANSWERS("OPTIONS", 405, 0, HERE, .method = "OPTIONS"),
	ANSWERS("a header twice", 400, 0, HERE, .has_header_twice = true),
	ANSWERS("a body", 400, 0, HERE, .has_body = true),
	ANSWERS("a request without Host", 400, 0, .path = "/metrics"),
	ANSWERS("localhost", 200, RF_DOC_TEXT, .host = "LocalHost:9436"),
	ANSWERS("localhost without the port", 421, 0, .host = "localhost"),
	ANSWERS("localhost with another port", 421, 0, .host = "localhost:80"),
	ANSWERS("another name", 421, 0, .host = "evil.example:9436"),
	ANSWERS("a name that ends alike", 421, 0, .host = "xgrafana.example:9436"),
	ANSWERS("another address", 421, 0, .host = "192.0.2.1:9436"),
	ANSWERS("a name of the settings", 200, RF_DOC_TEXT, .host = "grafana.example:9436"),
	ANSWERS("a name of the settings, without the port", 421, 0, .host = "grafana.example"),
	ANSWERS("a name with a port of its own", 200, RF_DOC_TEXT, .host = "proxy.example:80"),
	ANSWERS("any Host on a Unix socket", 200, RF_DOC_TEXT, .host = "x", .on_socket = true),
	ANSWERS("no Host on a Unix socket", 200, RF_DOC_TEXT, .on_socket = true),
	ANSWERS("another site", 403, 0, HERE, .fetch_site = "cross-site"),
	ANSWERS("the same site", 200, RF_DOC_TEXT, HERE, .fetch_site = "same-origin"),
	ANSWERS("another origin", 403, 0, HERE, .origin = "http://evil.example"),
	ANSWERS("the origin null", 403, 0, HERE, .origin = "null"),
	ANSWERS("its own origin", 200, RF_DOC_TEXT, HERE, .origin = "http://127.0.0.1:9436"),
	ANSWERS("Prometheus", 200, RF_DOC_OPENMETRICS, HERE, .accept = PROMETHEUS),
	ANSWERS("who prefers text", 200, RF_DOC_TEXT, HERE,
		.accept = "application/openmetrics-text;q=0.3, text/plain"),
	ANSWERS("who refuses OpenMetrics", 200, RF_DOC_TEXT, HERE,
		.accept = "application/openmetrics-text;q=0"),
	ANSWERS("more weight than there is", 200, RF_DOC_OPENMETRICS, HERE,
		.accept = "application/openmetrics-text;q=9e9, text/plain;q=0.5"),
	ANSWERS("a weight that is no number", 200, RF_DOC_TEXT, HERE,
		.accept = "application/openmetrics-text;q=nan, text/plain;q=0.5"),
	ANSWERS("the token with exemplars", 200, RF_DOC_WITH_EXEMPLARS, HERE, .accept = PROMETHEUS,
		.authorization = "bearer " TOKEN),
	ANSWERS("a wrong token", 401, 0, HERE, .authorization = "Bearer 0123456789abcdee"),
	ANSWERS("the beginning of the token", 401, 0, HERE, .authorization = "Bearer 0123456789"),
	ANSWERS("the token and more", 401, 0, HERE, .authorization = "Bearer " TOKEN TOKEN),
	ANSWERS("an empty token", 401, 0, HERE, .authorization = "Bearer "),
	ANSWERS("another scheme like no token", 200, RF_DOC_TEXT, HERE,
		.authorization = "Basic " TOKEN),
	ANSWERS_AT("an open address without a token", 0xc0000201, 401, 0, .host = "192.0.2.1:9436"),
	ANSWERS_AT("an open address with another scheme", 0xc0000201, 401, 0,
		   .host = "192.0.2.1:9436", .authorization = "Basic " TOKEN),
	ANSWERS_AT("an open address with the token", 0xc0000201, 200, RF_DOC_TEXT,
		   .host = "192.0.2.1:9436", .authorization = "Bearer " TOKEN),
	ANSWERS_AT("localhost on an open address", 0xc0000201, 421, 0, .host = "localhost:9436"),
	ANSWERS_AT("any address on all addresses", 0, 200, RF_DOC_TEXT, .host = "198.51.100.1:9436",
		   .authorization = "Bearer " TOKEN),
	ANSWERS_AT("any name on all addresses", 0, 421, 0, .host = "evil.example:9436",
		   .authorization = "Bearer " TOKEN),
	UNIT_ROW("adds to the age of a scan", ages_grow),
	UNIT_ROW("gives a late reader the newest documents", the_newest_wins),
	UNIT_ROW("refuses what is no document", what_is_no_document_is_refused),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
